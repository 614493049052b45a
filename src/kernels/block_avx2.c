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

/* As range_of of block.inc, in its order of comparisons, which decides between the two zeros: 16 of each, then the
 * upper half against the lower one until one is left; of eight blocks side by side. */
INLINE __m256 better(__m256 a, __m256 b, const bool largest)
{
    return largest ? _mm256_max_ps(a, b) : _mm256_min_ps(a, b); /* b where a is NaN */
}

INLINE __m256 fold_block(const float *row, float first, const size_t block, const bool largest)
{
    __m256 low = _mm256_set1_ps(first), high = low;
    for (size_t i = 0; i < block; i += 16) {
        low = better(_mm256_loadu_ps(row + i), low, largest);
        high = better(_mm256_loadu_ps(row + i + 8), high, largest);
    }
    return better(high, low, largest);
}

INLINE __m256 fold_four(const float *row, const float *first, const size_t block, const bool largest)
{
    __m256 pair[2];
    for (size_t k = 0; k < 2; k++) {
        const __m256 a = fold_block(row + 2 * k * block, first[2 * k], block, largest),
                     b = fold_block(row + (2 * k + 1) * block, first[2 * k + 1], block, largest);
        pair[k] = better(_mm256_permute2f128_ps(a, b, 0x31), _mm256_permute2f128_ps(a, b, 0x20), largest);
    }
    return better(_mm256_shuffle_ps(pair[0], pair[1], 0xee), _mm256_shuffle_ps(pair[0], pair[1], 0x44), largest);
}

INLINE void range_eight(float *dst, const float *row, const size_t block, const bool largest)
{
    const __m256 a = fold_four(row, dst, block, largest), b = fold_four(row + 4 * block, dst + 4, block, largest);
    const __m256 all = better(_mm256_shuffle_ps(a, b, 0xdd), _mm256_shuffle_ps(a, b, 0x88), largest);
    _mm256_storeu_ps(dst, _mm256_permutevar8x32_ps(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

INLINE size_t range_eights(float *min, float *max, const float *row, size_t blocks, const size_t block)
{
    size_t j = 0;
    for (; j + 8 <= blocks; j += 8) {
        range_eight(min + j, row + j * block, block, false);
        range_eight(max + j, row + j * block, block, true);
    }
    return j;
}

TARGET static void range_avx2(float *min, float *max, const float *row, size_t blocks, size_t block)
{
    const size_t done = block == 16    ? range_eights(min, max, row, blocks, 16)
                        : block == 32  ? range_eights(min, max, row, blocks, 32)
                        : block == 128 ? range_eights(min, max, row, blocks, 128)
                                       : 0;
    if (done < blocks)
        range_rows(min + done, max + done, row + done * block, blocks - done, block);
}

void td_block_init_avx2(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
    kernels->amax = amax_avx2;
    kernels->range = range_avx2;
}
