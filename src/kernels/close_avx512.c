/* See close.h. */
#if defined(__x86_64__)
#include "close.h"

#include <float.h>
#include <immintrin.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) KERNEL

/* Two streams from memory: a loop with this much to do for each line does not run far enough ahead by itself. Measured. */
#define AHEAD_BYTES 2048

typedef enum form { F32, F16, BF16 } form;

/* Sixteen elements: their values, and their bits from the lowest bit on. */
typedef struct sixteen {
    __m512 value;
    __m512i bits;
} sixteen;

INLINE sixteen load(const unsigned char *elems, size_t i, __mmask16 in, const form f)
{
    sixteen s;
    if (f == F32) {
        s.bits = _mm512_maskz_loadu_epi32(in, elems + 4 * i);
        s.value = _mm512_castsi512_ps(s.bits);
        return s;
    }
    const __m256i half = _mm256_maskz_loadu_epi16(in, elems + 2 * i);
    s.bits = _mm512_cvtepu16_epi32(half);
    s.value = f == F16 ? _mm512_cvtph_ps(half) : _mm512_castsi512_ps(_mm512_slli_epi32(s.bits, 16));
    return s;
}

/* Places in the order of the values; -0 and 0 are one place. */
INLINE __m512i rank_of(__m512i bits, const form f)
{
    const __m512i sign = _mm512_set1_epi32(f == F32 ? INT32_MIN : 0x8000);
    return _mm512_mask_sub_epi32(bits, _mm512_test_epi32_mask(bits, sign), sign, bits);
}

typedef struct state {
    __mmask16 far;
    __m512 error, unsure;
    __m512i steps;
} state;

/* Masks narrow each other from comparison to comparison, as every logic between them costs as much as one. Where an operand
 * of a maximum is a NaN the second one stays: a NaN never gets in. */
INLINE void look(state *s, sixteen e, sixteen a, __m512 atol, __m512 rtol, __m512i ulp, const form f)
{
    const __m512 error = _mm512_abs_ps(_mm512_sub_ps(a.value, e.value)), size = _mm512_abs_ps(e.value);
    const __m512i r = rank_of(e.bits, f), t = rank_of(a.bits, f);
    const __m512i steps = f == F32 ? _mm512_sub_epi32(_mm512_max_epi32(r, t), _mm512_min_epi32(r, t))
                                   : _mm512_abs_epi32(_mm512_sub_epi32(r, t));
    const __mmask16 beyond = _mm512_cmp_ps_mask(error, _mm512_fmadd_ps(rtol, size, atol), _CMP_NLE_UQ);
    const __mmask16 apart = _mm512_mask_cmpgt_epu32_mask(beyond, steps, ulp);
    const __mmask16 infinite = _mm512_cmp_ps_mask(error, _mm512_set1_ps(FLT_MAX), _CMP_NLE_UQ);
    const __mmask16 unsure = _mm512_cmp_ps_mask(_mm512_add_ps(error, error), size, _CMP_NLE_UQ);
    s->far = _mm512_kor(s->far, _mm512_mask_cmpneq_epi32_mask(_mm512_kor(apart, infinite), e.bits, a.bits));
    s->error = _mm512_max_ps(error, s->error);
    s->unsure = _mm512_mask_max_ps(s->unsure, unsure, error, s->unsure);
    s->steps = _mm512_max_epu32(s->steps, steps);
}

/* What is left behind the last sixteen is loaded as equal zeros. */
INLINE td_close_found first_pass(const td_close_limits *l, const unsigned char *expected, const unsigned char *actual,
                                 size_t count, const form f)
{
    const __m512 atol = _mm512_set1_ps(l->atol), rtol = _mm512_set1_ps(l->rtol);
    const __m512i ulp = _mm512_set1_epi32((int)l->ulp);
    state s = {.error = _mm512_setzero_ps(), .unsure = _mm512_setzero_ps(), .steps = _mm512_setzero_si512()};
    const size_t bytes = f == F32 ? 4 : 2;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        _mm_prefetch((const char *)expected + i * bytes + AHEAD_BYTES, _MM_HINT_T0);
        _mm_prefetch((const char *)actual + i * bytes + AHEAD_BYTES, _MM_HINT_T0);
        look(&s, load(expected, i, 0xffff, f), load(actual, i, 0xffff, f), atol, rtol, ulp, f);
    }
    if (i < count) {
        const __mmask16 in = (__mmask16)((1u << (count - i)) - 1);
        look(&s, load(expected, i, in, f), load(actual, i, in, f), atol, rtol, ulp, f);
    }
    const int32_t error = _mm512_reduce_max_epi32(_mm512_castps_si512(s.error)),
                  unsure = _mm512_reduce_max_epi32(_mm512_castps_si512(s.unsure));
    return (td_close_found){.near = s.far ? 0 : -1,
                            .sure = error > unsure ? error : 0,
                            .unsure = unsure,
                            .steps = _mm512_reduce_max_epu32(s.steps)};
}

KERNEL td_close_found td_close_f32_avx512(const td_close_limits *limits, const unsigned char *expected,
                                          const unsigned char *actual, size_t count)
{
    return first_pass(limits, expected, actual, count, F32);
}

KERNEL td_close_found td_close_f16_avx512(const td_close_limits *limits, const unsigned char *expected,
                                          const unsigned char *actual, size_t count)
{
    return first_pass(limits, expected, actual, count, F16);
}

KERNEL td_close_found td_close_bf16_avx512(const td_close_limits *limits, const unsigned char *expected,
                                           const unsigned char *actual, size_t count)
{
    return first_pass(limits, expected, actual, count, BF16);
}
#else
typedef int td_close_avx512_unused;
#endif
