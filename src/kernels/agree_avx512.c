/* The kernels of kernels/agree.h for AVX-512. The end of a row is a masked load; of shifted rows, the last byte is left
 * to plain C, which knows whether the byte behind it may be read. */
#include "kernels/agree.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define KERNEL(name) TARGET TD_AGREE_KERNEL(name, avx512)

INLINE __m512i or_differing(__m512i d, __m512i x, __m512i y, __m512i mask)
{
    return _mm512_ternarylogic_epi64(d, _mm512_xor_si512(x, y), mask, 0xf8); /* d | (x ^ y) & mask */
}

INLINE bool is_zero(__m512i d)
{
    return _mm512_test_epi64_mask(d, d) == 0;
}

KERNEL(bytes)
{
    const size_t lines = t->bytes / 64, left = t->bytes % 64;
    const __mmask64 in = ((__mmask64)1 << left) - 1;
    const __m512i last = _mm512_maskz_loadu_epi8(in, t->mask + 64 * lines);
    const unsigned char *a = t->a, *b = t->b;
    __m512i d = _mm512_setzero_si512();
    for (size_t r = 0, held = 0; r < t->rows; r++, a += t->stride, b += t->stride) {
        for (size_t i = 0; i < 64 * lines; i += 64)
            d = or_differing(d, _mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), _mm512_loadu_si512(t->mask + i));
        if (left)
            d = or_differing(d, _mm512_maskz_loadu_epi8(in, a + 64 * lines),
                             _mm512_maskz_loadu_epi8(in, b + 64 * lines), last);
        held += lines + 1;
        if (held >= 16) {
            if (!is_zero(d))
                return false;
            held = 0;
        }
    }
    return is_zero(d);
}

INLINE __m512i load_bits(const unsigned char *p, __mmask64 in, __m128i down, __m128i up)
{
    return _mm512_or_si512(_mm512_srl_epi64(_mm512_maskz_loadu_epi8(in, p), down),
                           _mm512_sll_epi64(_mm512_maskz_loadu_epi8(in, p + 1), up));
}

KERNEL(bits)
{
    const __m128i a_down = _mm_cvtsi32_si128((int)t->a_shift), a_up = _mm_cvtsi32_si128(8 - (int)t->a_shift),
                  b_down = _mm_cvtsi32_si128((int)t->b_shift), b_up = _mm_cvtsi32_si128(8 - (int)t->b_shift);
    const size_t inner = t->bytes - 1;
    const unsigned char *a = t->a, *b = t->b;
    for (size_t r = 0; r < t->rows; r++, a += t->stride, b += t->stride) {
        __m512i d = _mm512_setzero_si512();
        for (size_t i = 0; i < inner; i += 64) {
            const __mmask64 in = inner - i < 64 ? ((__mmask64)1 << (inner - i)) - 1 : ~(__mmask64)0;
            d = or_differing(d, load_bits(a + i, in, a_down, a_up), load_bits(b + i, in, b_down, b_up),
                             _mm512_maskz_loadu_epi8(in, t->mask + i));
        }
        if (!is_zero(d) || !td_agree_rest(t, a, b, inner, true))
            return false;
    }
    return true;
}

void td_agree_init_avx512(td_agree_kernels *kernels)
{
#define X(name, shifts) kernels->name = td_agree_##name##_avx512;
    TD_AGREE_KERNELS(X)
#undef X
}
