/* See close.h: f32, f16 and bf16 for AVX-512. */
#if defined(__x86_64__)
#include "close.h"

#include <float.h>
#include <immintrin.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) KERNEL

typedef enum form { F32, F16, BF16 } form;

/* The largest so far, in every lane. Of two floats of which one is a NaN a maximum is the second, so that no NaN gets in; the
 * bits of the errors keep it. */
typedef struct most {
    __m512i error, steps; /* steps: of lanes as wide as the elements */
    __m512 excess, unsure;
} most;

/* Lanes that are not `in` are equal zeros: they have neither errors nor steps, and are kept out of what could be less. */
INLINE __m512 larger(__m512 x, __m512 kept, __mmask16 in)
{
    return in == 0xffff ? _mm512_max_ps(x, kept) : _mm512_mask_max_ps(kept, in, x, kept);
}

INLINE void measure(most *m, __m512 e, __m512 a, __m512 rtol, const bool relative, __mmask16 in)
{
    const __m512 size = _mm512_abs_ps(e), error = _mm512_abs_ps(_mm512_sub_ps(a, e));
    m->error = _mm512_max_epu32(m->error, _mm512_castps_si512(error));
    m->unsure = larger(_mm512_fmsub_ps(_mm512_set1_ps(2), error, size), m->unsure, in);
    if (relative)
        m->excess = larger(_mm512_sub_ps(error, _mm512_mul_ps(rtol, size)), m->excess, in);
}

/* Two magnitudes of the same sign are their difference apart, of different signs their sum. */
INLINE void count_steps_x32(most *m, __m512i e, __m512i a)
{
    const __m512i keep = _mm512_set1_epi32(INT32_MAX), x = _mm512_and_si512(e, keep), y = _mm512_and_si512(a, keep);
    const __mmask16 apart = _mm512_movepi32_mask(_mm512_xor_si512(e, a));
    const __m512i steps = _mm512_abs_epi32(_mm512_sub_epi32(x, y));
    m->steps = _mm512_max_epu32(m->steps, _mm512_mask_add_epi32(steps, apart, x, y));
}

INLINE __m512i magnitudes_x16(__m512i z)
{
    return _mm512_and_si512(z, _mm512_set1_epi16(INT16_MAX));
}

INLINE __m512i count_steps_x16(__m512i kept, __m512i e, __m512i a)
{
    const __m512i x = magnitudes_x16(e), y = magnitudes_x16(a), near = _mm512_abs_epi16(_mm512_sub_epi16(x, y));
    const __mmask32 apart = _mm512_movepi16_mask(_mm512_xor_si512(e, a));
    return _mm512_max_epu16(kept, _mm512_mask_add_epi16(near, apart, x, y));
}

INLINE __m512 value_of(__m256i half, const form f)
{
    return f == F16 ? _mm512_cvtph_ps(half) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* A vector of elements on either side. */
INLINE void look(most *m, __m512i e, __m512i a, __m512 rtol, const form f, const bool relative, uint32_t in)
{
    if (f == F32) {
        measure(m, _mm512_castsi512_ps(e), _mm512_castsi512_ps(a), rtol, relative, (__mmask16)in);
        count_steps_x32(m, e, a);
        return;
    }
    measure(m, value_of(_mm512_castsi512_si256(e), f), value_of(_mm512_castsi512_si256(a), f), rtol, relative,
            (__mmask16)in);
    measure(m, value_of(_mm512_extracti64x4_epi64(e, 1), f), value_of(_mm512_extracti64x4_epi64(a, 1), f), rtol,
            relative, (__mmask16)(in >> 16));
    m->steps = count_steps_x16(m->steps, e, a);
}

INLINE uint32_t largest_x16(__m512i z)
{
    const __m512i low = _mm512_and_si512(z, _mm512_set1_epi32(0xffff));
    return _mm512_reduce_max_epu32(_mm512_max_epu32(low, _mm512_srli_epi32(z, 16)));
}

/* What is left of a row behind its whole vectors. */
INLINE __mmask64 rest_of(size_t bytes)
{
    return ((__mmask64)1 << (bytes & 63)) - 1;
}

INLINE td_close_most measure_rows(const td_close_rows *b, float rtol_wanted, const form f, const bool relative)
{
    const __m512 rtol = _mm512_set1_ps(rtol_wanted);
    const size_t elem = f == F32 ? 4 : 2, bytes = b->count * elem, whole = bytes & ~(size_t)63;
    const __mmask64 in = rest_of(bytes);
    const unsigned char *e = b->expected, *a = b->actual;
    most m = {.error = _mm512_setzero_si512(),
              .steps = _mm512_setzero_si512(),
              .excess = _mm512_set1_ps(-FLT_MAX),
              .unsure = _mm512_set1_ps(-FLT_MAX)};
    for (size_t r = 0; r < b->rows; r++, e += b->expected_stride, a += b->actual_stride) {
        for (size_t i = 0; i < whole; i += 64) {
            look(&m, _mm512_loadu_si512(e + i), _mm512_loadu_si512(a + i), rtol, f, relative, UINT32_MAX);
        }
        if (whole < bytes) {
            look(&m, _mm512_maskz_loadu_epi8(in, e + whole), _mm512_maskz_loadu_epi8(in, a + whole), rtol, f, relative,
                 (1u << ((bytes - whole) / elem)) - 1);
        }
    }
    td_close_most found = {.error = _mm512_reduce_max_epu32(m.error),
                           .steps = f == F32 ? _mm512_reduce_max_epu32(m.steps) : largest_x16(m.steps),
                           .unsure = _mm512_reduce_max_ps(m.unsure)};
    found.excess = relative ? _mm512_reduce_max_ps(m.excess)
                            : _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)found.error)));
    return found;
}

#define MEASURE(name, form)                                                                                            \
    KERNEL static td_close_most name(const td_close_rows *rows, float rtol)                                            \
    {                                                                                                                  \
        return rtol != 0 ? measure_rows(rows, rtol, form, true) : measure_rows(rows, rtol, form, false);               \
    }

KERNEL static td_close_most steps_x16(const td_close_rows *b, float rtol)
{
    const size_t bytes = 2 * b->count, whole = bytes & ~(size_t)63;
    const __mmask64 in = rest_of(bytes);
    const unsigned char *e = b->expected, *a = b->actual;
    __m512i steps = _mm512_setzero_si512(), largest = steps;
    (void)rtol;
    for (size_t r = 0; r < b->rows; r++, e += b->expected_stride, a += b->actual_stride)
        for (size_t i = 0; i < bytes; i += 64) {
            const __m512i x = i < whole ? _mm512_loadu_si512(e + i) : _mm512_maskz_loadu_epi8(in, e + i),
                          y = i < whole ? _mm512_loadu_si512(a + i) : _mm512_maskz_loadu_epi8(in, a + i);
            steps = count_steps_x16(steps, x, y);
            largest = _mm512_max_epu16(largest, _mm512_max_epu16(magnitudes_x16(x), magnitudes_x16(y)));
        }
    return (td_close_most){.steps = largest_x16(steps), .largest = largest_x16(largest)};
}

MEASURE(f32, F32)
MEASURE(f16, F16)
MEASURE(bf16, BF16)

void td_close_init_avx512(td_close_kernels *kernels)
{
    kernels->f32 = f32;
    kernels->f16 = f16;
    kernels->bf16 = bf16;
    kernels->steps_x16 = steps_x16;
}
#else
typedef int td_close_avx512_unused;
#endif
