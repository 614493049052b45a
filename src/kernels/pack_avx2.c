/* The packing kernels for BMI2 and AVX2: eight bytes of containers at a time by pext and pdep, and nibbles by
 * vectors. */
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/pack_bmi2.inc"

#define X(container)                                                                                                   \
    TARGET TD_PACK_KERNEL(container, avx2)                                                                             \
    {                                                                                                                  \
        pack(memory, at, elems, n, bits, (container) / 8);                                                             \
    }                                                                                                                  \
    TARGET TD_UNPACK_KERNEL(container, avx2)                                                                           \
    {                                                                                                                  \
        unpack(elems, memory, at, n, bits, sign, (container) / 8);                                                     \
    }
X(16)
X(32)
X(64)
#undef X

/* Two nibbles to a byte, 64 at a time, and single bits by the sign of bytes. */
TARGET TD_PACK_KERNEL(8, avx2)
{
    size_t i = 0;
    if (bits == 4 && at == 0) {
        const __m256i low = _mm256_set1_epi8(15), weight = _mm256_set1_epi16(0x1001);
        for (; i + 64 <= n; i += 64) {
            const __m256i *in = (const __m256i *)(const void *)(elems + i);
            const __m256i a = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_loadu_si256(in), low), weight);
            const __m256i b = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_loadu_si256(in + 1), low), weight);
            const __m256i z = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
            _mm256_storeu_si256((__m256i *)(void *)(memory + i / 2), z);
        }
    }
    if (bits == 1 && at == 0)
        for (; i + 32 <= n; i += 32) {
            const __m256i z = _mm256_loadu_si256((const __m256i *)(const void *)(elems + i));
            const uint32_t line = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(z, 7));
            memcpy(memory + i / 8, &line, 4);
        }
    if (i < n)
        pack(memory + i * bits / 8, at, elems + i, n - i, bits, 1);
}

TARGET TD_UNPACK_KERNEL(8, avx2)
{
    size_t i = 0;
    if (bits == 4 && at == 0) {
        const __m256i low = _mm256_set1_epi8(15), top = _mm256_set1_epi8(sign ? 8 : 0);
        for (; i + 32 <= n; i += 32) {
            const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(memory + i / 2)));
            const __m256i z = _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)), low);
            _mm256_storeu_si256((__m256i *)(void *)(elems + i), _mm256_sub_epi8(_mm256_xor_si256(z, top), top));
        }
    }
    if (i < n)
        unpack(elems + i, memory + i / 2, at, n - i, bits, sign, 1);
}

void td_pack_init_avx2(td_pack_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_x##size = td_pack_x##size##_avx2;                                                                    \
    kernels->unpack_x##size = td_unpack_x##size##_avx2;
    TD_PACK_KERNELS(X)
#undef X
}
