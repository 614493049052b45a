/* The kernels of block-scaled tensors for AVX-512: what blocks hold, powers of two and the look at both by vectors of
 * 16, the rest by the compiler. */
#include "kernels/block.h"

#include <immintrin.h>

/* clang has no word for the width that it should prefer. */
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#include "kernels/block.inc"

#include "kernels/block_avx512.inc"

INLINE void amax_wide(uint32_t *amax, const float *row, size_t blocks, const size_t block)
{
    size_t j = 0;
    for (; j + 16 <= blocks; j += 16) {
        __m512i v[16];
        for (size_t k = 0; k < 16; k++, row += block)
            v[k] = most_of_block(row, block);
        _mm512_storeu_si512(amax + j, more_of(_mm512_loadu_si512(amax + j), most_of_16(v)));
    }
    for (; j < blocks; j++, row += block) {
        const uint32_t most = _mm512_reduce_max_epu32(most_of_block(row, block));
        amax[j] = most > amax[j] ? most : amax[j];
    }
}

TARGET static void amax_avx512(uint32_t *amax, const float *row, size_t blocks, size_t block)
{
    if (block == 32)
        amax_wide(amax, row, blocks, 32);
    else if (block == 16)
        amax_wide(amax, row, blocks, 16);
    else if (block % 16 == 0)
        amax_wide(amax, row, blocks, block);
    else
        amax_rows(amax, row, blocks, block);
}

/* From the last to the first: who reads the row from its beginning next finds that in the caches. One line after the
 * other, as the processor's own prefetching then has nothing to guess. */
TARGET static void most_avx512(uint32_t *most, const float *row, size_t n)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i own[4];
    for (size_t k = 0; k < 4; k++)
        own[k] = _mm512_set1_epi32((int)*most);
    for (; n >= 64; n -= 64)
        for (size_t k = 0; k < 4; k++)
            own[k] = more_of(own[k], _mm512_and_si512(_mm512_loadu_si512(row + n - 16 * (k + 1)), magnitude));
    *most = _mm512_reduce_max_epu32(more_of(more_of(own[0], own[1]), more_of(own[2], own[3])));
    amax_of(most, row, 1, n);
}

/* -- ranges: in the order of range_of, which decides between the two zeros -- */

INLINE __m512 better(__m512 a, __m512 b, const bool largest)
{
    return largest ? _mm512_max_ps(a, b) : _mm512_min_ps(a, b); /* the second where one is a NaN */
}

/* One vector of each of 16 blocks to the least or largest of each: upper halves against lower ones, of two blocks in
 * one, until a vector has one of each. */
INLINE __m512 best_of_16(const __m512 *v, const bool largest)
{
    __m512 eight[8], four[4], two[2];
    for (size_t i = 0; i < 8; i++) {
        const __m512 a = v[i / 2 + i % 2 * 8], b = v[i / 2 + i % 2 * 8 + 4];
        eight[i] = better(_mm512_shuffle_f32x4(a, b, 0xee), _mm512_shuffle_f32x4(a, b, 0x44), largest);
    }
    for (size_t i = 0; i < 4; i++)
        four[i] = better(_mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0xdd),
                         _mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0x88), largest);
    for (size_t i = 0; i < 2; i++)
        two[i] = better(_mm512_shuffle_ps(four[2 * i], four[2 * i + 1], 0xee),
                        _mm512_shuffle_ps(four[2 * i], four[2 * i + 1], 0x44), largest);
    return better(_mm512_shuffle_ps(two[0], two[1], 0xdd), _mm512_shuffle_ps(two[0], two[1], 0x88), largest);
}

/* `count` blocks, 16 at most, of a multiple of 16 elements; what is in the places of the others is not looked at. */
INLINE void range_16(uint32_t *amax, float *min, float *max, const float *row, const size_t block, size_t count)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const __mmask16 own = (__mmask16)((1U << count) - 1);
    __m512 low[16], high[16];
    __m512i most[16];
    for (size_t k = 0; k < 16; k++) {
        low[k] = _mm512_set1_ps(min[k < count ? k : 0]);
        high[k] = _mm512_set1_ps(max[k < count ? k : 0]);
        most[k] = _mm512_setzero_si512();
        for (size_t i = 0; i < block && k < count; i += 16, row += 16) {
            const __m512 x = _mm512_loadu_ps(row);
            low[k] = better(x, low[k], false);
            high[k] = better(x, high[k], true);
            most[k] = more_of(most[k], _mm512_and_si512(_mm512_castps_si512(x), magnitude));
        }
    }
    _mm512_mask_storeu_ps(min, own, best_of_16(low, false));
    _mm512_mask_storeu_ps(max, own, best_of_16(high, true));
    _mm512_mask_storeu_epi32(amax, own, more_of(_mm512_maskz_loadu_epi32(own, amax), most_of_16(most)));
}

INLINE void range_wide(uint32_t *amax, float *min, float *max, const float *row, size_t blocks, const size_t block)
{
    size_t j = 0;
    for (; j + 16 <= blocks; j += 16)
        range_16(amax + j, min + j, max + j, row + j * block, block, 16);
    if (j < blocks)
        range_16(amax + j, min + j, max + j, row + j * block, block, blocks - j);
}

TARGET static void range_avx512(uint32_t *amax, float *min, float *max, const float *row, size_t blocks, size_t block)
{
    if (block == 32)
        range_wide(amax, min, max, row, blocks, 32);
    else if (block == 128)
        range_wide(amax, min, max, row, blocks, 128);
    else if (block % 16 == 0)
        range_wide(amax, min, max, row, blocks, block);
    else
        range_rows(amax, min, max, row, blocks, block);
}

/* -- powers of two -- */

TARGET static void power_avx512(uint8_t *code, float *by, const uint32_t *amax, size_t blocks, const td_power *p)
{
    size_t j = 0;
    for (; j + 16 <= blocks; j += 16) {
        __m512i inverse;
        const __m512i c = power_16(_mm512_loadu_si512(amax + j), p, p->rule, &inverse);
        _mm_storeu_si128((__m128i *)(void *)(code + j), _mm512_cvtepi32_epi8(c));
        _mm512_storeu_si512(by + j, inverse);
    }
    power_codes(code + j, by + j, amax + j, blocks - j, p);
}

/* What 16 blocks hold goes to their scales without a store in between. */
INLINE bool powers_wide(uint8_t *code, float *by, const float *row, size_t blocks, const size_t block,
                        const td_power *p, const td_power_rule rule)
{
    const td_power like = *p;
    const __m512i inf = _mm512_set1_epi32(INF_BITS), nan = _mm512_set1_epi32(CODE_NAN);
    unsigned odd = 0;
    size_t j = 0;
    for (; j + 16 <= blocks; j += 16) {
        __m512i v[16], inverse;
        for (size_t k = 0; k < 16; k++, row += block)
            v[k] = most_of_block(row, block);
        const __m512i most = most_of_16(v), c = power_16(most, &like, rule, &inverse);
        odd |= (unsigned)_mm512_cmpge_epu32_mask(most, inf) | (unsigned)_mm512_cmpeq_epi32_mask(c, nan);
        _mm_storeu_si128((__m128i *)(void *)(code + j), _mm512_cvtepi32_epi8(c));
        _mm512_storeu_si512(by + j, inverse);
    }
    return (j < blocks && powers_rows(code + j, by + j, row, blocks - j, block, p)) || odd != 0;
}

#define POWERS_OF(rule)                                                                                                \
    (block == 32 ? powers_wide(code, by, row, blocks, 32, p, rule) : powers_wide(code, by, row, blocks, block, p, rule))

TARGET static bool powers_avx512(uint8_t *code, float *by, const float *row, size_t blocks, size_t block,
                                 const td_power *p)
{
    if (block % 16)
        return powers_rows(code, by, row, blocks, block, p);
    return p->rule == TD_POWER_FLOOR   ? POWERS_OF(TD_POWER_FLOOR)
           : p->rule == TD_POWER_RCEIL ? POWERS_OF(TD_POWER_RCEIL)
                                       : POWERS_OF(p->rule);
}

TARGET static void half_avx512(uint16_t *code, float *by, const float *share, size_t blocks, bool exact)
{
    const __m512 zero = _mm512_setzero_ps(), inf = _mm512_set1_ps(INFINITY);
    for (size_t j = 0; j < blocks; j += 16) {
        const __mmask16 own = (__mmask16)(blocks - j < 16 ? (1U << (blocks - j)) - 1 : 0xffff);
        const __m512 in = _mm512_maskz_loadu_ps(own, share + j);
        const __m256i halves = _mm512_cvtps_ph(in, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m512 value = _mm512_cvtph_ps(halves);
        const __mmask16 none = _mm512_cmp_ps_mask(value, zero, _CMP_EQ_OQ);
        _mm256_mask_storeu_epi16(code + j, own, halves);
        _mm512_mask_storeu_ps(by + j, own, _mm512_mask_mov_ps(exact ? in : value, none, inf));
    }
}

INLINE td_block_look look_16(const uint32_t *amax, const float *by, size_t blocks, float most, const bool divides)
{
    const __m512i inf = _mm512_set1_epi32(INF_BITS);
    const __m512 bound = _mm512_set1_ps(most);
    unsigned odd = 0, nan = 0, past = 0;
    for (size_t j = 0; j < blocks; j += 16) {
        const __mmask16 own = (__mmask16)(blocks - j < 16 ? (1U << (blocks - j)) - 1 : 0xffff);
        const __m512i magnitude = _mm512_maskz_loadu_epi32(own, amax + j);
        const __m512 value = _mm512_castsi512_ps(magnitude), scale = _mm512_maskz_loadu_ps(own, by + j);
        odd |= _mm512_cmpge_epu32_mask(magnitude, inf);
        nan |= _mm512_cmp_ps_mask(scale, scale, _CMP_UNORD_Q);
        past |= divides ? _mm512_mask_cmp_ps_mask(own, value, _mm512_mul_ps(scale, bound), _CMP_NLE_UQ)
                        : _mm512_mask_cmp_ps_mask(own, _mm512_mul_ps(value, scale), bound, _CMP_NLT_UQ);
    }
    return (td_block_look){odd != 0, nan != 0, past == 0};
}

TARGET static td_block_look look_avx512(const uint32_t *amax, const float *by, size_t blocks, float most, bool divides)
{
    return divides ? look_16(amax, by, blocks, most, true) : look_16(amax, by, blocks, most, false);
}

void td_block_init_avx512(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
    kernels->amax = amax_avx512;
    kernels->most = most_avx512;
    kernels->range = range_avx512;
    kernels->power = power_avx512;
    kernels->powers = powers_avx512;
    kernels->half = half_avx512;
    kernels->look = look_avx512;
}
