/* The kernels of kernels/agree.h for AVX2: whole vectors, and the end of a row by plain C. */
#include "kernels/agree.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define KERNEL(name) TARGET TD_AGREE_KERNEL(name, avx2)

INLINE __m256i load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE __m256i load_bits(const unsigned char *p, __m128i down, __m128i up)
{
    return _mm256_or_si256(_mm256_srl_epi64(load(p), down), _mm256_sll_epi64(load(p + 1), up));
}

INLINE bool rows(const td_agree_rows *t, const bool shifts)
{
    const __m128i a_down = _mm_cvtsi32_si128((int)t->a_shift), a_up = _mm_cvtsi32_si128(8 - (int)t->a_shift),
                  b_down = _mm_cvtsi32_si128((int)t->b_shift), b_up = _mm_cvtsi32_si128(8 - (int)t->b_shift);
    const unsigned char *a = t->a, *b = t->b;
    for (size_t r = 0; r < t->rows; r++, a += t->stride, b += t->stride) {
        __m256i d = _mm256_setzero_si256();
        size_t i = 0;
        for (; i + 32 + (shifts ? 1 : 0) <= t->bytes; i += 32) {
            const __m256i x = shifts ? load_bits(a + i, a_down, a_up) : load(a + i),
                          y = shifts ? load_bits(b + i, b_down, b_up) : load(b + i);
            d = _mm256_or_si256(d, _mm256_and_si256(_mm256_xor_si256(x, y), load(t->mask + i)));
        }
        if (!_mm256_testz_si256(d, d) || (i < t->bytes && !td_agree_rest(t, a, b, i, shifts)))
            return false;
    }
    return true;
}

KERNEL(bytes)
{
    return rows(t, false);
}

KERNEL(bits)
{
    return rows(t, true);
}

void td_agree_init_avx2(td_agree_kernels *kernels)
{
#define X(name, shifts) kernels->name = td_agree_##name##_avx2;
    TD_AGREE_KERNELS(X)
#undef X
}
