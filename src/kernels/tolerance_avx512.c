/* The tolerance kernels for AVX-512: measures by its own vectors, pairs by the loops of plain C. */
#include "kernels/tolerance.h"

#include <float.h>
#include <math.h>

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_TOLERANCE_KERNEL(name, avx512)

#include "kernels/tolerance_pairs.inc"

typedef enum form { F32, F16, BF16, NEAR_F32, STEPS_X16 } form;

/* The largest so far, in every lane. The maximum of a NaN and a second operand is the second, so that no NaN gets into
 * the floats; the bits of the errors keep it. */
typedef struct largest {
    vec error, steps, size; /* steps and size: of lanes as wide as the elements */
    __m512 excess, unsure;
} largest;

INLINE largest nothing(void)
{
    return (largest){.error = _mm512_setzero_si512(),
                     .steps = _mm512_setzero_si512(),
                     .size = _mm512_setzero_si512(),
                     .excess = _mm512_set1_ps(-FLT_MAX),
                     .unsure = _mm512_set1_ps(-FLT_MAX)};
}

/* Lanes that are not `in` are equal zeros: they have neither errors nor steps, and are kept out of what could be
 * less. */
INLINE __m512 larger(__m512 x, __m512 kept, __mmask16 in)
{
    return in == 0xffff ? _mm512_max_ps(x, kept) : _mm512_mask_max_ps(kept, in, x, kept);
}

INLINE void measure(largest *m, __m512 e, __m512 a, __m512 rtol, const bool sure, const bool relative, __mmask16 in)
{
    const __m512 size = _mm512_abs_ps(e), error = _mm512_abs_ps(_mm512_sub_ps(a, e));
    m->error = _mm512_max_epu32(m->error, _mm512_castps_si512(error));
    if (sure)
        m->unsure = larger(_mm512_fmsub_ps(_mm512_set1_ps(2), error, size), m->unsure, in);
    if (relative)
        m->excess = larger(_mm512_sub_ps(error, _mm512_mul_ps(rtol, size)), m->excess, in);
}

/* Two magnitudes of the same sign are their difference apart, of different signs their sum. */
INLINE void count_steps_x32(largest *m, vec e, vec a)
{
    const vec keep = _mm512_set1_epi32(INT32_MAX), x = _mm512_and_si512(e, keep), y = _mm512_and_si512(a, keep);
    const __mmask16 apart = _mm512_movepi32_mask(_mm512_xor_si512(e, a));
    const vec steps = _mm512_abs_epi32(_mm512_sub_epi32(x, y));
    m->steps = _mm512_max_epu32(m->steps, _mm512_mask_add_epi32(steps, apart, x, y));
}

INLINE void count_steps_x16(largest *m, vec e, vec a, const bool sizes)
{
    const vec keep = _mm512_set1_epi16(INT16_MAX), x = _mm512_and_si512(e, keep), y = _mm512_and_si512(a, keep);
    const __mmask32 apart = _mm512_movepi16_mask(_mm512_xor_si512(e, a));
    const vec steps = _mm512_abs_epi16(_mm512_sub_epi16(x, y));
    m->steps = _mm512_max_epu16(m->steps, _mm512_mask_add_epi16(steps, apart, x, y));
    if (sizes)
        m->size = _mm512_max_epu16(m->size, _mm512_max_epu16(x, y));
}

INLINE __m512 value_of(__m256i half, const form f)
{
    return f == F16 ? _mm512_cvtph_ps(half) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* A vector of elements on either side, of which those are there that are `in`. */
INLINE void look(largest *m, vec e, vec a, __m512 rtol, const form f, const bool relative, uint32_t in)
{
    const __mmask16 low = (__mmask16)in, high = (__mmask16)(in >> 16);
    switch (f) {
    case F32:
        measure(m, _mm512_castsi512_ps(e), _mm512_castsi512_ps(a), rtol, true, relative, low);
        count_steps_x32(m, e, a);
        break;
    case NEAR_F32:
        measure(m, _mm512_castsi512_ps(e), _mm512_castsi512_ps(a), rtol, false, relative, low);
        m->steps = _mm512_max_epu32(m->steps, _mm512_abs_epi32(_mm512_sub_epi32(e, a)));
        break;
    case STEPS_X16:
        count_steps_x16(m, e, a, true);
        break;
    default:
        measure(m, value_of(_mm512_castsi512_si256(e), f), value_of(_mm512_castsi512_si256(a), f), rtol, true, relative,
                low);
        measure(m, value_of(_mm512_extracti64x4_epi64(e, 1), f), value_of(_mm512_extracti64x4_epi64(a, 1), f), rtol,
                true, relative, high);
        count_steps_x16(m, e, a, false);
    }
}

INLINE uint32_t largest_x16(vec z)
{
    const vec low = _mm512_and_si512(z, _mm512_set1_epi32(0xffff));
    return _mm512_reduce_max_epu32(_mm512_max_epu32(low, _mm512_srli_epi32(z, 16)));
}

INLINE td_tolerance_found result(const largest *m, const form f, const bool relative)
{
    td_tolerance_found found = {.error = _mm512_reduce_max_epu32(m->error),
                                .steps = f == F32 || f == NEAR_F32 ? _mm512_reduce_max_epu32(m->steps)
                                                                   : largest_x16(m->steps)};
    if (f == STEPS_X16) {
        found.largest = largest_x16(m->size);
        return found;
    }
    if (f != NEAR_F32)
        found.unsure = _mm512_reduce_max_ps(m->unsure) > 0;
    found.excess = relative ? _mm512_reduce_max_ps(m->excess)
                            : _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)found.error)));
    return found;
}

/* Rows of `wide` bytes, several of which are a vector. */
INLINE void look_at_short_rows(largest *m, const td_tolerance_rows *b, __m512 rtol, const form f, const bool relative,
                               const size_t wide)
{
    const size_t group = 64 / wide;
    const unsigned char *e = b->expected, *a = b->actual;
    for (size_t r = 0; r < b->rows; r += group) {
        look(m, load_short_rows(e, b->expected_stride, wide), load_short_rows(a, b->actual_stride, wide), rtol, f,
             relative, UINT32_MAX);
        e += (ptrdiff_t)group * b->expected_stride;
        a += (ptrdiff_t)group * b->actual_stride;
    }
}

INLINE void look_at_rows(largest *m, const td_tolerance_rows *b, __m512 rtol, const form f, const bool relative)
{
    const size_t elem = f == F32 || f == NEAR_F32 ? 4 : 2, bytes = b->count * elem, whole = bytes & ~(size_t)63;
    const __mmask64 rest = ((__mmask64)1 << (bytes & 63)) - 1;
    const unsigned char *e = b->expected, *a = b->actual;
    for (size_t r = 0; r < b->rows; r++, e += b->expected_stride, a += b->actual_stride) {
        for (size_t i = 0; i < whole; i += 64)
            look(m, _mm512_loadu_si512(e + i), _mm512_loadu_si512(a + i), rtol, f, relative, UINT32_MAX);
        if (whole < bytes)
            look(m, _mm512_maskz_loadu_epi8(rest, e + whole), _mm512_maskz_loadu_epi8(rest, a + whole), rtol, f,
                 relative, (1u << (bytes - whole) / elem) - 1);
    }
}

INLINE td_tolerance_found measure_rows(const td_tolerance_rows *b, float rtol_wanted, const form f, const bool relative)
{
    const size_t elem = f == F32 || f == NEAR_F32 ? 4 : 2;
    const __m512 rtol = _mm512_set1_ps(rtol_wanted);
    largest m = nothing();
    if (b->count * elem == 32 && b->rows % 2 == 0)
        look_at_short_rows(&m, b, rtol, f, relative, 32);
    else if (b->count * elem == 16 && b->rows % 4 == 0)
        look_at_short_rows(&m, b, rtol, f, relative, 16);
    else
        look_at_rows(&m, b, rtol, f, relative);
    return result(&m, f, relative);
}

#define MEASURE(name, form)                                                                                            \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        const float rtol = limits->rtol;                                                                               \
        return rtol != 0 ? measure_rows(b, rtol, form, true) : measure_rows(b, rtol, form, false);                     \
    }

MEASURE(measure_f32, F32)
MEASURE(measure_f16, F16)
MEASURE(measure_bf16, BF16)
MEASURE(near_f32, NEAR_F32)

KERNEL(steps_x16)
{
    return measure_rows(b, limits->rtol, STEPS_X16, false);
}

/* -- transposed blocks */

typedef struct seen {
    largest m;
    __m512 rtol;
    form f; /* both known when it is compiled */
    bool relative;
} seen;

INLINE void look_at(seen *s, vec z, const unsigned char *p)
{
    look(&s->m, _mm512_loadu_si512(p), z, s->rtol, s->f, s->relative, UINT32_MAX);
}

INLINE void look_at_upto(seen *s, vec z, const unsigned char *p, size_t bytes)
{
    const unsigned elems = (unsigned)bytes / (s->f == NEAR_F32 ? 4 : 2);
    const vec e = _mm512_maskz_loadu_epi8(bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0, p);
    look(&s->m, e, z, s->rtol, s->f, s->relative, elems < 32 ? (1u << elems) - 1 : UINT32_MAX);
}

#include "kernels/transposed_tile.inc"

INLINE td_tolerance_found measure_transposed(const td_tolerance_rows *b, float rtol, const form f, const bool relative)
{
    seen s = {.m = nothing(), .rtol = _mm512_set1_ps(rtol), .f = f, .relative = relative};
    look_at_block(&s, b->expected, b->expected_stride, b->actual, b->actual_stride, b->rows, b->count, b->ahead,
                  f == NEAR_F32 ? 4 : 2);
    return result(&s.m, f, relative);
}

KERNEL(transposed_near_f32)
{
    return limits->rtol != 0 ? measure_transposed(b, limits->rtol, NEAR_F32, true)
                             : measure_transposed(b, 0, NEAR_F32, false);
}

KERNEL(transposed_steps_x16)
{
    (void)limits;
    return measure_transposed(b, 0, STEPS_X16, false);
}

void td_tolerance_init_avx512(td_tolerance_kernels *kernels)
{
#define X(name, size, rule) kernels->name = td_tolerance_##name##_avx512;
    TD_TOLERANCE_KERNELS(X)
#undef X
}
