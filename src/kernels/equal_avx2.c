/* The comparing kernels for AVX2. */
#include "kernels/equal.h"

#include "kernels/vector_avx2.inc"

#define KERNEL(name) TARGET TD_EQUAL_KERNEL(name, avx2)

INLINE vec no_bits(void)
{
    return _mm256_setzero_si256();
}

INLINE vec load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE vec differ(vec d, vec z, const unsigned char *p)
{
    return _mm256_or_si256(d, _mm256_xor_si256(z, load(p)));
}

INLINE vec differ_upto(vec d, vec z, const unsigned char *p, size_t bytes)
{
    _Alignas(32) unsigned char part[32];
    store(part, z);
    return memcmp(part, p, bytes) == 0 ? d : _mm256_set1_epi8(-1);
}

INLINE bool is_equal(vec d)
{
    return _mm256_testz_si256(d, d);
}

#include "kernels/equal_transposed.inc"

/* -- rows */

/* Vectors whose differences are or-ed together before one test. */
#define ROWS 8
/* From here on the C library is as fast or faster. */
#define LONG_BYTES 2048

INLINE vec differ_16(const unsigned char *a, const unsigned char *b)
{
    return _mm256_castsi128_si256(_mm_xor_si128(load16(a), load16(b)));
}

/* Two halves cover a run of 16 to 32 bytes: the second ends with it. */
INLINE bool short_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                       size_t high, size_t wide)
{
    vec d = no_bits();
    for (size_t r = 0; r < high; r++, a += a_stride, b += b_stride) {
        d = _mm256_or_si256(d, _mm256_or_si256(differ_16(a, b), differ_16(a + wide - 16, b + wide - 16)));
        if (r % ROWS == ROWS - 1 && !is_equal(d))
            return false;
    }
    return is_equal(d);
}

/* Rows of 32 bytes, or two of 16. */
INLINE bool vector_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                        size_t high, const size_t wide)
{
    const size_t group = 32 / wide;
    for (size_t r = 0; r < high;) {
        vec d = no_bits();
        for (size_t n = 0; n < ROWS && r < high; n++, r += group) {
            d = _mm256_or_si256(d, wide == 32 ? _mm256_xor_si256(load(a), load(b))
                                              : _mm256_xor_si256(load_lanes(a, a_stride), load_lanes(b, b_stride)));
            a += (ptrdiff_t)group * a_stride;
            b += (ptrdiff_t)group * b_stride;
        }
        if (!is_equal(d))
            return false;
    }
    return true;
}

static TARGET bool near_rows(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                             size_t high, size_t wide)
{
    if (wide < 16 || wide >= LONG_BYTES)
        return td_equal_rows_c(a, a_stride, b, b_stride, high, wide, (td_ahead){0, 0});
    if (wide == 32)
        return vector_rows(a, a_stride, b, b_stride, high, 32);
    if (wide == 16 && high % 2 == 0)
        return vector_rows(a, a_stride, b, b_stride, high, 16);
    if (wide < 32)
        return short_rows(a, a_stride, b, b_stride, high, wide);
    vec d = no_bits();
    for (size_t r = 0; r < high; r++, a += a_stride, b += b_stride) {
        for (size_t i = 0; i + 32 <= wide; i += 32)
            d = differ(d, load(b + i), a + i);
        if (wide % 32)
            d = differ(d, load(b + wide - 32), a + wide - 32);
        if (r % ROWS == ROWS - 1 && !is_equal(d))
            return false;
    }
    return is_equal(d);
}

KERNEL(rows)
{
    return td_equal_rows_ahead(near_rows, a, a_stride, b, b_stride, rows, cols, ahead);
}

void td_equal_init_avx2(td_equal_kernels *kernels)
{
#define X(name, size, rule) kernels->name = td_equal_##name##_avx2;
    TD_EQUAL_KERNELS(X)
#undef X
}
