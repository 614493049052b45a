/* The shuffling kernel for AVX2: vectors of 16 bytes, in which it looks bytes up. */
#include "kernels/shuffle.h"

#include "kernels/vector_avx2.inc"

INLINE __m128i sum_terms(const td_shuffle *s, const td_shuffle_output *out, const unsigned char *src)
{
    const size_t first = out->first, end = first + out->terms;
    __m128i z = _mm_shuffle_epi8(load16(src + s->from[first]), load16(s->pick[first]));
    for (size_t t = first + 1; t < end; t++)
        z = _mm_or_si128(z, _mm_shuffle_epi8(load16(src + s->from[t]), load16(s->pick[t])));
    return z;
}

INLINE void store16(unsigned char *p, __m128i z)
{
    _mm_storeu_si128((__m128i *)(void *)p, z);
}

/* The first `bytes` of a vector, fewer than 16. */
INLINE void store16_upto(unsigned char *p, __m128i z, unsigned bytes)
{
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(z);
    if (bytes & 8) {
        memcpy(p, &low, 8);
        p += 8;
        low = (uint64_t)_mm_extract_epi64(z, 1);
    }
    if (bytes & 4) {
        memcpy(p, &low, 4);
        p += 4;
        low >>= 32;
    }
    if (bytes & 2) {
        memcpy(p, &low, 2);
        p += 2;
        low >>= 16;
    }
    if (bytes & 1)
        *p = (unsigned char)low;
}

/* Eight bytes of which those in the mask change. */
INLINE void merge8(unsigned char *p, const unsigned char *from, unsigned mask)
{
    const uint64_t bits = _pdep_u64(mask & 0xff, 0x0101010101010101) * 0xff;
    uint64_t old = 0, new = 0;
    memcpy(&old, p, 8);
    memcpy(&new, from, 8);
    new = (old & ~bits) | (new &bits);
    memcpy(p, &new, 8);
}

/* Bytes in gaps are written back as they were: no other step of the move writes them (may_fill). */
static TARGET APART void store_mask(unsigned char *p, __m128i z, unsigned mask)
{
    const unsigned bytes = 32 - (unsigned)__builtin_clz(mask);
    unsigned char from[16];
    if (!(mask & (mask + 1))) {
        store16_upto(p, z, bytes);
        return;
    }
    store16(from, z);
    if (bytes < 8) {
        for (; mask; mask &= mask - 1)
            p[__builtin_ctz(mask)] = from[__builtin_ctz(mask)];
        return;
    }
    merge8(p, from, mask);
    merge8(p + bytes - 8, from + bytes - 8, mask >> (bytes - 8));
}

INLINE void run_list(const td_shuffle *s, unsigned char *dst, const unsigned char *src)
{
    for (const td_shuffle_output *out = s->output, *end = out + s->outputs; out < end; out++) {
        const __m128i z = sum_terms(s, out, src);
        if (out->mask == 0xffff)
            store16(dst + out->dst, z);
        else
            store_mask(dst + out->dst, z, (unsigned)out->mask);
    }
}

TARGET TD_SHUFFLE_KERNEL(shuffle_x128, avx2)
{
    const ptrdiff_t dst_unit = s->loop[s->unit].dst, src_unit = s->loop[s->unit].src;
    const size_t at_once = s->at_once;
    (void)stream;
    if (units < at_once) {
        td_shuffle_units(s, dst, src, units);
        return;
    }
    size_t u = 0;
    for (; u + at_once <= units; u += at_once)
        run_list(s, dst + (ptrdiff_t)u * dst_unit, src + (ptrdiff_t)u * src_unit);
    if (u < units)
        run_list(s, dst + (ptrdiff_t)(units - at_once) * dst_unit, src + (ptrdiff_t)(units - at_once) * src_unit);
}

void td_shuffle_init_avx2(td_shuffle_kernels *kernels)
{
    kernels->shuffle_x128 = td_shuffle_x128_avx2;
}
