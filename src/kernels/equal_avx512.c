/* The comparing kernels for AVX-512. */
#include "kernels/equal.h"

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_EQUAL_KERNEL(name, avx512)

INLINE vec no_bits(void)
{
    return _mm512_setzero_si512();
}

INLINE vec or_differing(vec d, vec x, vec y)
{
    return _mm512_ternarylogic_epi64(d, x, y, 0xf6); /* d | (x ^ y) */
}

INLINE vec differ(vec d, vec z, const unsigned char *p)
{
    return or_differing(d, z, _mm512_loadu_si512(p));
}

INLINE vec differ_upto(vec d, vec z, const unsigned char *p, size_t bytes)
{
    const __mmask64 in = bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0;
    return or_differing(d, _mm512_maskz_mov_epi8(in, z), _mm512_maskz_loadu_epi8(in, p));
}

INLINE bool is_equal(vec d)
{
    return _mm512_test_epi64_mask(d, d) == 0;
}

#include "kernels/equal_transposed.inc"

/* -- rows */

/* Vectors whose differences are or-ed together before one test. */
#define TOGETHER 16
/* The C library is as fast on longer rows, and leaves them at their first difference. */
#define LONG_BYTES 65536

INLINE bool short_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                       size_t high, const size_t wide)
{
    const size_t group = 64 / wide;
    for (size_t r = 0; r < high;) {
        vec d = no_bits();
        for (size_t n = 0; n < TOGETHER && r < high; n++, r += group) {
            d = or_differing(d, load_short_rows(a, a_stride, wide), load_short_rows(b, b_stride, wide));
            a += (ptrdiff_t)group * a_stride;
            b += (ptrdiff_t)group * b_stride;
        }
        if (!is_equal(d))
            return false;
    }
    return true;
}

INLINE bool any_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                     size_t high, size_t wide)
{
    const size_t lines = (wide - 1) / 64, left = wide - 64 * lines;
    const __mmask64 in = ~(__mmask64)0 >> (64 - left);
    vec d = no_bits();
    for (size_t r = 0, held = 0; r < high; r++, a += a_stride, b += b_stride) {
        const unsigned char *x = a, *y = b;
        for (size_t i = 0; i < lines; i++, x += 64, y += 64)
            d = differ(d, _mm512_loadu_si512(y), x);
        d = or_differing(d, _mm512_maskz_loadu_epi8(in, x), _mm512_maskz_loadu_epi8(in, y));
        held += lines + 1;
        if (held >= TOGETHER) {
            if (!is_equal(d))
                return false;
            held = 0;
        }
    }
    return is_equal(d);
}

static TARGET APART bool near_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b,
                                   ptrdiff_t b_stride, size_t high, size_t wide)
{
    if (wide >= LONG_BYTES)
        return td_equal_rows_c(a, a_stride, b, b_stride, high, wide, (td_ahead){0, 0});
    if (wide == 16 && high % 4 == 0)
        return short_rows(a, a_stride, b, b_stride, high, 16);
    if (wide == 32 && high % 2 == 0)
        return short_rows(a, a_stride, b, b_stride, high, 32);
    return any_rows(a, a_stride, b, b_stride, high, wide);
}

KERNEL(rows)
{
    return td_equal_rows_ahead(near_rows, a, a_stride, b, b_stride, rows, cols, ahead);
}

void td_equal_init_avx512(td_equal_kernels *kernels)
{
#define X(name, size, rule) kernels->name = td_equal_##name##_avx512;
    TD_EQUAL_KERNELS(X)
#undef X
}
