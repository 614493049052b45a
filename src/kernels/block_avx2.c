/* The kernels of block-scaled tensors for AVX2: the largest magnitudes of eight blocks at a time, found side by side,
 * and their powers of two; the compiler's vectors for the rest. */
#include "kernels/block.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,f16c")))
#define OWN_POWERS
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

#define LARGE 256 /* elements of a block that is worth four vectors of its own */

/* One block, whose last elements are left over; how many are not. */
INLINE size_t amax_large(uint32_t *amax, const float *row, size_t block)
{
    __m256i most[4] = {_mm256_set1_epi32((int)*amax)};
    most[1] = most[2] = most[3] = most[0];
    size_t i = 0;
    for (; i + 32 <= block; i += 32)
        for (size_t k = 0; k < 4; k++)
            most[k] = _mm256_max_epi32(most[k], magnitudes(row + i + 8 * k));
    uint32_t eight[8];
    _mm256_storeu_si256((__m256i *)(void *)eight,
                        _mm256_max_epi32(_mm256_max_epi32(most[0], most[1]), _mm256_max_epi32(most[2], most[3])));
    for (size_t k = 0; k < 8; k++)
        *amax = eight[k] > *amax ? eight[k] : *amax;
    return i;
}

TARGET static void amax_avx2(uint32_t *amax, const float *row, size_t blocks, size_t block)
{
    size_t j = 0;
    for (; block >= LARGE && j < blocks; j++) {
        const size_t done = amax_large(amax + j, row + j * block, block);
        amax_rows(amax + j, row + j * block + done, 1, block - done);
    }
    for (; block == 16 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 16, 16);
    for (; block == 32 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 32, 32);
    for (; block == 128 && j + 8 <= blocks; j += 8)
        amax_eight(amax + j, row + j * 128, 128);
    if (j < blocks)
        amax_rows(amax + j, row + j * block, blocks - j, block);
}

/* From the last to the first, as for AVX-512. */
TARGET static void most_avx2(uint32_t *most, const float *row, size_t n)
{
    __m256i own[8];
    for (size_t k = 0; k < 8; k++)
        own[k] = _mm256_set1_epi32((int)*most);
    for (; n >= 64; n -= 64)
        for (size_t k = 0; k < 8; k++)
            own[k] = _mm256_max_epi32(own[k], magnitudes(row + n - 8 * (k + 1)));
    for (size_t k = 4; k; k /= 2)
        for (size_t i = 0; i < k; i++)
            own[i] = _mm256_max_epi32(own[i], own[i + k]);
    uint32_t eight[8];
    _mm256_storeu_si256((__m256i *)(void *)eight, own[0]);
    for (size_t k = 0; k < 8; k++)
        *most = eight[k] > *most ? eight[k] : *most;
    amax_of(most, row, 1, n);
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

TARGET static void range_avx2(uint32_t *amax, float *min, float *max, const float *row, size_t blocks, size_t block)
{
    const size_t done = block == 16    ? range_eights(min, max, row, blocks, 16)
                        : block == 32  ? range_eights(min, max, row, blocks, 32)
                        : block == 128 ? range_eights(min, max, row, blocks, 128)
                                       : 0;
    amax_avx2(amax, row, done, block);
    if (done < blocks)
        range_rows(amax + done, min + done, max + done, row + done * block, blocks - done, block);
}

/* -- powers of two, of eight blocks at a time, as power_of of block.inc -- */

INLINE __m256i splat(int32_t value)
{
    return _mm256_set1_epi32(value);
}

INLINE __m256i pick(__m256i no, __m256i yes, __m256i which)
{
    return _mm256_blendv_epi8(no, yes, which);
}

/* A comparison is -1 where it is true, so that less of it is one more. */
INLINE __m256i eight_codes(__m256i amax, const td_power *p, const td_power_rule rule)
{
    const __m256i emax = splat(p->emax), zero = _mm256_setzero_si256(), man_mask = splat((int32_t)MAN_MASK);
    if (rule == TD_POWER_FLOOR)
        return _mm256_sub_epi32(_mm256_srli_epi32(amax, 23), emax);
    if (rule == TD_POWER_EVEN) {
        const __m256i up = _mm256_add_epi32(amax, splat((int32_t)(1U << (22 - p->man_bits))));
        return _mm256_sub_epi32(_mm256_srli_epi32(up, 23), emax);
    }
    if (rule == TD_POWER_CEIL) {
        const __m256i more = _mm256_cmpgt_epi32(_mm256_and_si256(amax, man_mask), zero);
        return _mm256_sub_epi32(_mm256_sub_epi32(_mm256_srli_epi32(amax, 23), more), emax);
    }
    const bool rceil = rule == TD_POWER_RCEIL;
    const __m256i share = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(amax), _mm256_set1_ps(p->inverse)));
    const __m256i man = _mm256_and_si256(share, man_mask), exponent = _mm256_srli_epi32(share, 23);
    const int32_t half = (int32_t)HALF_OF_MAN;
    const __m256i above = splat(rceil ? 0 : half - 1), small_above = splat(rceil ? half : half + half / 2 - 1);
    const __m256i more =
        pick(_mm256_cmpgt_epi32(man, above), _mm256_cmpgt_epi32(man, small_above), _mm256_cmpeq_epi32(exponent, zero));
    return _mm256_sub_epi32(exponent, more);
}

INLINE void eight_powers(uint8_t *code, float *by, const uint32_t *amax, const td_power *p, const td_power_rule rule)
{
    const __m256i found = _mm256_loadu_si256((const __m256i *)(const void *)amax), inf = splat((int32_t)INF_BITS),
                  zero = _mm256_setzero_si256(), most = splat(CODE_MAX), none = splat(CODE_NAN);
    const __m256i finite =
        p->inf_is_max ? pick(found, splat((int32_t)MAX_BITS), _mm256_cmpeq_epi32(found, inf)) : found;
    __m256i c = _mm256_max_epi32(eight_codes(finite, p, rule), zero);
    c = _mm256_andnot_si256(_mm256_cmpeq_epi32(finite, zero), c);
    c = pick(c, p->inf_is_max ? most : none, _mm256_cmpgt_epi32(c, most));
    c = pick(none, c, _mm256_cmpgt_epi32(inf, finite));
    __m256i bits = _mm256_slli_epi32(_mm256_sub_epi32(most, c), 23);
    bits = pick(bits, splat((int32_t)HALF_OF_MAN), _mm256_cmpeq_epi32(c, most));
    bits = pick(bits, splat(0x7fc00000), _mm256_cmpeq_epi32(c, none));
    _mm256_storeu_si256((__m256i *)(void *)by, bits);
    const __m256i words = _mm256_packus_epi32(c, c), bytes = _mm256_packus_epi16(words, words);
    const int32_t low = _mm256_extract_epi32(bytes, 0), high = _mm256_extract_epi32(bytes, 4);
    memcpy(code, &low, sizeof low);
    memcpy(code + 4, &high, sizeof high);
}

#define POWERS(name, rule)                                                                                             \
    TARGET static void name(uint8_t *code, float *by, const uint32_t *amax, size_t blocks, const td_power *p)          \
    {                                                                                                                  \
        size_t j = 0;                                                                                                  \
        for (; j + 8 <= blocks; j += 8)                                                                                \
            eight_powers(code + j, by + j, amax + j, p, rule);                                                         \
        power_of(code + j, by + j, amax + j, blocks - j, p, rule);                                                     \
    }
POWERS(floor_powers, TD_POWER_FLOOR)
POWERS(even_powers, TD_POWER_EVEN)
POWERS(ceil_powers, TD_POWER_CEIL)
POWERS(rceil_powers, TD_POWER_RCEIL)
POWERS(nearest_powers, TD_POWER_NEAREST)

TARGET static void power_avx2(uint8_t *code, float *by, const uint32_t *amax, size_t blocks, const td_power *p)
{
    static void (*const powers[])(uint8_t *, float *, const uint32_t *, size_t,
                                  const td_power *) = {[TD_POWER_FLOOR] = floor_powers,
                                                       [TD_POWER_EVEN] = even_powers,
                                                       [TD_POWER_CEIL] = ceil_powers,
                                                       [TD_POWER_RCEIL] = rceil_powers,
                                                       [TD_POWER_NEAREST] = nearest_powers};
    powers[p->rule](code, by, amax, blocks, p);
}

BOTH_STEPS(powers_avx2, amax_avx2, power_avx2)

TARGET static void half_avx2(uint16_t *code, float *by, const float *share, size_t blocks, bool exact)
{
    const __m256 zero = _mm256_setzero_ps(), inf = _mm256_set1_ps(INFINITY);
    size_t j = 0;
    for (; j + 8 <= blocks; j += 8) {
        const __m256 in = _mm256_loadu_ps(share + j);
        const __m128i halves = _mm256_cvtps_ph(in, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m256 value = _mm256_cvtph_ps(halves), none = _mm256_cmp_ps(value, zero, _CMP_EQ_OQ);
        _mm_storeu_si128((__m128i *)(void *)(code + j), halves);
        _mm256_storeu_ps(by + j, _mm256_blendv_ps(exact ? in : value, inf, none));
    }
    half_scales(code + j, by + j, share + j, blocks - j, exact);
}

void td_block_init_avx2(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
    kernels->amax = amax_avx2;
    kernels->most = most_avx2;
    kernels->range = range_avx2;
    kernels->power = power_avx2;
    kernels->powers = powers_avx2;
    kernels->half = half_avx2;
}
