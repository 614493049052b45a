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

/* -- one output of many lists -- */

/* Lists that follow one another: how far apart they are. */
typedef struct td_lists {
    ptrdiff_t dst_step, src_step;
    size_t count;
} td_lists;

/* 0xff for every byte in the mask. */
INLINE __m128i spread_mask(unsigned mask)
{
    const __m128i bit = _mm_set1_epi64x((long long)0x8040201008040201u);
    const __m128i which =
        _mm_shuffle_epi8(_mm_set1_epi16((short)mask), _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
    return _mm_cmpeq_epi8(_mm_and_si128(which, bit), bit);
}

INLINE __m128i look_up(const unsigned char *src, __m128i pick)
{
    return _mm_shuffle_epi8(load16(src), pick);
}

/* With few terms their picks stay in registers. */
INLINE void run_column(const td_shuffle *s, const td_shuffle_output *out, const td_lists *l, unsigned char *dst,
                       const unsigned char *src, const size_t terms, const bool keep)
{
    const size_t first = out->first;
    const ptrdiff_t *from = s->from + first;
    const __m128i mask = spread_mask((unsigned)out->mask), p0 = load16(s->pick[first]),
                  p1 = load16(s->pick[first + (terms > 1)]), p2 = load16(s->pick[first + (terms > 2 ? 2 : 0)]),
                  p3 = load16(s->pick[first + (terms > 3 ? 3 : 0)]);
    const unsigned char *const s0 = src + from[0], *const s1 = src + from[terms > 1],
                               *const s2 = src + from[terms > 2 ? 2 : 0], *const s3 = src + from[terms > 3 ? 3 : 0];
    const ptrdiff_t dst_step = l->dst_step, src_step = l->src_step;
    ptrdiff_t at = 0;
    dst += out->dst;
    for (size_t i = l->count; i; i--, dst += dst_step, at += src_step) {
        __m128i z = look_up(s0 + at, p0);
        if (terms > 1)
            z = _mm_or_si128(z, look_up(s1 + at, p1));
        if (terms > 2)
            z = _mm_or_si128(z, look_up(s2 + at, p2));
        if (terms > 3)
            z = _mm_or_si128(z, look_up(s3 + at, p3));
        for (size_t t = 4; t < terms; t++)
            z = _mm_or_si128(z, look_up(src + from[t] + at, load16(s->pick[first + t])));
        store16(dst, keep ? _mm_blendv_epi8(load16(dst), z, mask) : z);
    }
}

INLINE void run_output(const td_shuffle *s, const td_shuffle_output *out, const td_lists *l, unsigned char *dst,
                       const unsigned char *src, const bool keep)
{
    switch (out->terms) {
    case 1:
        run_column(s, out, l, dst, src, 1, keep);
        break;
    case 2:
        run_column(s, out, l, dst, src, 2, keep);
        break;
    case 3:
        run_column(s, out, l, dst, src, 3, keep);
        break;
    case 4:
        run_column(s, out, l, dst, src, 4, keep);
        break;
    default:
        run_column(s, out, l, dst, src, out->terms, keep);
    }
}

static TARGET APART void run_whole_output(const td_shuffle *s, const td_shuffle_output *out, const td_lists *l,
                                          unsigned char *dst, const unsigned char *src)
{
    run_output(s, out, l, dst, src, false);
}

static TARGET APART void run_kept_output(const td_shuffle *s, const td_shuffle_output *out, const td_lists *l,
                                         unsigned char *dst, const unsigned char *src)
{
    run_output(s, out, l, dst, src, true);
}

/* A single output whose bytes the next list continues: the vector may write over what that list writes again. */
INLINE bool is_continued(const td_shuffle *s, ptrdiff_t dst_step)
{
    return s->outputs == 1 && dst_step >= 8 && dst_step < 16 && s->output[0].mask == (1u << dst_step) - 1;
}

#define BLOCK_BYTES 4096 /* of the destination: what one output has touched, the next finds in the first-level cache */
#define MANY_LISTS 4

/* Runs lists that another follows, or that are whole vectors, output by output, and returns how many: none where that
 * would write into gaps that are not the list's (may_fill), or load what the list before has just stored. */
INLINE size_t run_blocks(const td_shuffle *s, unsigned char *dst, const unsigned char *src, ptrdiff_t dst_step,
                         ptrdiff_t src_step, size_t lists)
{
    const bool continued = is_continued(s, dst_step);
    if (lists < MANY_LISTS || !(s->whole || continued || (s->may_fill && dst_step >= 16)))
        return 0;
    const size_t bytes = (size_t)s->elems * s->size * s->at_once;
    const size_t most = BLOCK_BYTES / bytes > MANY_LISTS ? BLOCK_BYTES / bytes : MANY_LISTS;
    td_lists l = {.dst_step = dst_step, .src_step = src_step};
    for (size_t done = 0; done < lists; done += l.count) {
        l.count = lists - done < most ? lists - done : most;
        for (const td_shuffle_output *out = s->output, *end = out + s->outputs; out < end; out++) {
            if (out->mask == 0xffff || continued)
                run_whole_output(s, out, &l, dst, src);
            else
                run_kept_output(s, out, &l, dst, src);
        }
        dst += (ptrdiff_t)l.count * dst_step;
        src += (ptrdiff_t)l.count * src_step;
    }
    return lists;
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
    const size_t lists = units / at_once;
    const ptrdiff_t dst_step = dst_unit * (ptrdiff_t)at_once, src_step = src_unit * (ptrdiff_t)at_once;
    size_t i = run_blocks(s, dst, src, dst_step, src_step, s->whole ? lists : lists - 1);
    for (; i < lists; i++)
        run_list(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step);
    if (units % at_once)
        run_list(s, dst + (ptrdiff_t)(units - at_once) * dst_unit, src + (ptrdiff_t)(units - at_once) * src_unit);
}

void td_shuffle_init_avx2(td_shuffle_kernels *kernels)
{
    kernels->shuffle_x128 = td_shuffle_x128_avx2;
}
