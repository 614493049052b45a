/* The shuffling kernel for AVX-512 VBMI, which looks bytes up in a whole vector of the source. */
#include "kernels/shuffle.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))

#include "kernels/vector_avx512.inc"

/* One vector of the output. The mask comes from the list itself, as moving it from memory would take the port that the
 * permutations need. */
INLINE vec sum_terms(const td_shuffle *s, const td_shuffle_output *out, const unsigned char *src)
{
    const size_t first = out->first, end = first + out->terms;
    vec z = _mm512_permutexvar_epi8(_mm512_load_si512(s->pick[first]), _mm512_loadu_si512(src + s->from[first]));
    for (size_t t = first + 1; t < end; t++) {
        const vec index = _mm512_load_si512(s->pick[t]);
        z = _mm512_mask_permutexvar_epi8(z, _mm512_movepi8_mask(index), index, _mm512_loadu_si512(src + s->from[t]));
    }
    return z;
}

static TARGET APART void run_list(const td_shuffle *s, unsigned char *dst, const unsigned char *src)
{
    for (const td_shuffle_output *out = s->output, *end = out + s->outputs; out < end; out++)
        _mm512_mask_storeu_epi8(dst + out->dst, out->mask, sum_terms(s, out, src));
}

/* The same where every output is a whole vector. */
INLINE void run_whole(const td_shuffle *s, unsigned char *dst, const unsigned char *src, bool stream)
{
    for (const td_shuffle_output *out = s->output, *end = out + s->outputs; out < end; out++) {
        if (stream)
            stream_store(dst + out->dst, sum_terms(s, out, src));
        else
            store(dst + out->dst, sum_terms(s, out, src));
    }
}

/* A list of one vector with one term: both its index and its masks stay in registers. */
INLINE void run_single(const td_shuffle *s, unsigned char *dst, ptrdiff_t dst_step, const unsigned char *src,
                       ptrdiff_t src_step, size_t lists)
{
    const vec index = _mm512_load_si512(s->pick[0]);
    const __mmask64 mask = s->output[0].mask;
    dst += s->output[0].dst;
    src += s->from[0];
    for (; lists; lists--, dst += dst_step, src += src_step)
        _mm512_mask_storeu_epi8(dst, mask, _mm512_permutexvar_epi8(index, _mm512_loadu_si512(src)));
}

TARGET TD_SHUFFLE_KERNEL(shuffle_x512, vbmi)
{
    const ptrdiff_t dst_unit = s->loop[s->unit].dst, src_unit = s->loop[s->unit].src;
    const ptrdiff_t dst_step = dst_unit * s->at_once, src_step = src_unit * s->at_once;
    const bool lines = s->lines && (uintptr_t)dst % 64 == 0;
    const size_t lists = units / s->at_once, left = units % s->at_once;
    if (lists == 0) {
        td_shuffle_units(s, dst, src, units);
        return;
    }
    if (lines && stream)
        for (size_t i = 0; i < lists; i++)
            run_whole(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step, true);
    else if (s->outputs == 1 && s->terms == 1)
        run_single(s, dst, dst_step, src, src_step, lists);
    else if (s->whole)
        for (size_t i = 0; i < lists; i++)
            run_whole(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step, false);
    else
        for (size_t i = 0; i < lists; i++)
            run_list(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step);
    if (left)
        run_list(s, dst + (ptrdiff_t)(units - s->at_once) * dst_unit, src + (ptrdiff_t)(units - s->at_once) * src_unit);
}

void td_shuffle_init_vbmi(td_shuffle_kernels *kernels)
{
    kernels->shuffle_x512 = td_shuffle_x512_vbmi;
}
