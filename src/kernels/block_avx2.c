/* The kernels of block-scaled tensors for AVX2: the largest magnitudes of eight blocks at a time, found side by side;
 * the compiler's vectors for the rest. */
#include "kernels/block.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#include "kernels/block.inc"

INLINE __m256i magnitudes(const float *row)
{
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)row);
    return _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
}

/* Two vectors' largest of neighbours in one: those of a in the places 0 1 of every four, those of b in 2 3. */
INLINE __m256i fold_pairs(__m256i a, __m256i b)
{
    return _mm256_max_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

INLINE __m256i fold_singles(__m256i a, __m256i b)
{
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    return _mm256_max_epi32(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)),
                            _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd)));
}

INLINE __m256i amax_of_block(const float *row, const size_t block)
{
    __m256i most = magnitudes(row);
    for (size_t i = 8; i < block; i += 8)
        most = _mm256_max_epi32(most, magnitudes(row + i)); /* without their signs all are positive */
    return most;
}

/* Eight blocks, of a multiple of eight elements. */
INLINE void amax_eight(uint32_t *amax, const float *row, const size_t block)
{
    __m256i four[2];
    for (size_t k = 0; k < 2; k++, row += 4 * block)
        four[k] =
            fold_singles(fold_pairs(amax_of_block(row, block), amax_of_block(row + block, block)),
                         fold_pairs(amax_of_block(row + 2 * block, block), amax_of_block(row + 3 * block, block)));
    const __m256i all = _mm256_max_epi32(_mm256_permute2x128_si256(four[0], four[1], 0x20),
                                         _mm256_permute2x128_si256(four[0], four[1], 0x31));
    __m256i *const dst = (__m256i *)(void *)amax;
    _mm256_storeu_si256(dst, _mm256_max_epu32(all, _mm256_loadu_si256(dst)));
}

TARGET static void amax_avx2(uint32_t *amax, const float *row, size_t blocks, size_t block)
{
    size_t j = 0;
    for (; block == 16 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 16, 16);
    for (; block == 32 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 32, 32);
    for (; block == 128 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 128, 128);
    if (j < blocks)
        amax_rows(amax + j, row + j * block, blocks - j, block);
}

void td_block_init_avx2(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
    kernels->amax = amax_avx2;
}
