/* The shuffling kernel for AVX-512 VBMI, which looks bytes up in a whole vector of the source. */
#include "kernels/shuffle.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))

#include "kernels/vector_avx512.inc"

INLINE vec look_up(vec index, const unsigned char *a, const unsigned char *b)
{
    return _mm512_permutex2var_epi8(_mm512_loadu_si512(a), index, _mm512_loadu_si512(b));
}

/* One vector of the output. The mask comes from the list itself, as moving it from memory would take the port that the
 * permutations need. */
INLINE vec sum_terms(const td_shuffle *s, const td_shuffle_output *out, const unsigned char *src)
{
    const size_t first = out->first, end = first + out->terms;
    vec z = look_up(_mm512_load_si512(s->pick[first]), src + s->from[first], src + s->second[first]);
    for (size_t t = first + 1; t < end; t++) {
        const vec index = _mm512_load_si512(s->pick[t]);
        z = _mm512_mask_mov_epi8(z, _mm512_movepi8_mask(index), look_up(index, src + s->from[t], src + s->second[t]));
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

/* -- Lists one after another: a loop for every small number of outputs and terms, which keeps in registers what there are
 * registers for. Outputs that have fewer terms than others get some that give nothing. Of longer lists every output has
 * a loop of its own, over as many lists as the first-level cache keeps. */

#define FEW_OUTPUTS 4
#define FEW_TERMS 8
#define MOST_TERMS 16 /* of a single output */
#define FROM_LISTS 4  /* fewer are done before a loop is ready */
#define NEAR_BYTES 8192

typedef struct lists {
    const td_shuffle *s;
    size_t first; /* output */
    unsigned char *dst;
    const unsigned char *src;
    ptrdiff_t dst_step, src_step;
    size_t count;
} lists;

#define ALL_TERMS (FEW_OUTPUTS * FEW_TERMS)

typedef struct few {
    vec index[ALL_TERMS];
    ptrdiff_t from[ALL_TERMS], second[ALL_TERMS], at[FEW_OUTPUTS];
    __mmask64 mask[FEW_OUTPUTS];
} few;

INLINE void take_few(const lists *l, few *f, const unsigned outputs, const unsigned terms)
{
    const td_shuffle *s = l->s;
    for (unsigned o = 0; o < outputs; o++) {
        const td_shuffle_output *out = &s->output[l->first + o];
        f->at[o] = out->dst;
        f->mask[o] = out->mask;
        for (unsigned t = 0; t < terms; t++) {
            const size_t of = t < out->terms ? out->first + t : out->first;
            f->index[o * terms + t] = t < out->terms ? _mm512_load_si512(s->pick[of]) : _mm512_setzero_si512();
            f->from[o * terms + t] = s->from[of];
            f->second[o * terms + t] = s->second[of];
        }
    }
}

INLINE void run_few(const lists *l, const unsigned outputs, const unsigned terms)
{
    few f;
    take_few(l, &f, outputs, terms);
    unsigned char *dst = l->dst;
    const unsigned char *src = l->src;
    for (size_t i = l->count; i; i--, dst += l->dst_step, src += l->src_step)
#pragma GCC unroll 4
        for (unsigned o = 0; o < outputs; o++) {
            const vec *index = &f.index[o * terms];
            const ptrdiff_t *from = &f.from[o * terms], *second = &f.second[o * terms];
            vec z = look_up(index[0], src + from[0], src + second[0]);
#pragma GCC unroll 16
            for (unsigned t = 1; t < terms; t++)
                z = _mm512_mask_mov_epi8(z, _mm512_movepi8_mask(index[t]),
                                         look_up(index[t], src + from[t], src + second[t]));
            _mm512_mask_storeu_epi8(dst + f.at[o], f.mask[o], z);
        }
}

#define FEW_TERMS_EACH(X, outputs)                                                                                     \
    X(outputs, 1) X(outputs, 2) X(outputs, 3) X(outputs, 4) X(outputs, 5) X(outputs, 6) X(outputs, 7) X(outputs, 8)
#define FEW_EACH(X) FEW_TERMS_EACH(X, 1) FEW_TERMS_EACH(X, 2) FEW_TERMS_EACH(X, 3) FEW_TERMS_EACH(X, 4)
#define MORE_EACH(X) X(1, 9) X(1, 10) X(1, 11) X(1, 12) X(1, 13) X(1, 14) X(1, 15) X(1, 16)

#define X(outputs, terms)                                                                                              \
    static TARGET APART void run_##outputs##_of_##terms(const lists *l)                                                \
    {                                                                                                                  \
        run_few(l, outputs, terms);                                                                                    \
    }
FEW_EACH(X)
MORE_EACH(X)
#undef X

typedef void (*run_fn)(const lists *l);
#define X(outputs, terms) run_##outputs##_of_##terms,
static const run_fn run_together[FEW_OUTPUTS * FEW_TERMS] = {FEW_EACH(X)};
static const run_fn run_single[MOST_TERMS] = {FEW_TERMS_EACH(X, 1) MORE_EACH(X)};
#undef X

/* Every output by itself, for some lists and then for the next. */
static void run_apart(const lists *all)
{
    const td_shuffle *s = all->s;
    const ptrdiff_t dst = all->dst_step < 0 ? -all->dst_step : all->dst_step,
                    src = all->src_step < 0 ? -all->src_step : all->src_step;
    const size_t near = NEAR_BYTES / ((size_t)(dst + src) + 1), most = near < 2 * FROM_LISTS ? 2 * FROM_LISTS : near;
    lists l = *all;
    for (size_t done = 0; done < all->count; done += l.count) {
        l.count = all->count - done < most ? all->count - done : most;
        for (l.first = 0; l.first < s->outputs; l.first++)
            run_single[s->output[l.first].terms - 1](&l);
        l.dst += (ptrdiff_t)l.count * l.dst_step;
        l.src += (ptrdiff_t)l.count * l.src_step;
    }
}

/* False where lists go one by one. */
static bool run_lists(const lists *l)
{
    const td_shuffle *s = l->s;
    unsigned terms = 1;
    if (l->count < FROM_LISTS)
        return false;
    for (unsigned o = 0; o < s->outputs; o++)
        terms = s->output[o].terms > terms ? s->output[o].terms : terms;
    if (s->outputs <= FEW_OUTPUTS && terms <= FEW_TERMS)
        run_together[(s->outputs - 1u) * FEW_TERMS + terms - 1](l);
    else if (terms <= MOST_TERMS)
        run_apart(l);
    else
        return false;
    return true;
}

TARGET TD_SHUFFLE_KERNEL(shuffle_x512, vbmi)
{
    const ptrdiff_t dst_unit = s->loop[s->unit].dst, src_unit = s->loop[s->unit].src;
    const ptrdiff_t dst_step = dst_unit * s->at_once, src_step = src_unit * s->at_once;
    const bool lines = s->lines && (uintptr_t)dst % 64 == 0;
    const size_t count = units / s->at_once, left = units % s->at_once;
    if (count == 0) {
        td_shuffle_units(s, dst, src, units);
        return;
    }
    if (lines && stream)
        for (size_t i = 0; i < count; i++)
            run_whole(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step, true);
    else if (run_lists(&(lists){s, 0, dst, src, dst_step, src_step, count}))
        ;
    else if (s->whole)
        for (size_t i = 0; i < count; i++)
            run_whole(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step, false);
    else
        for (size_t i = 0; i < count; i++)
            run_list(s, dst + (ptrdiff_t)i * dst_step, src + (ptrdiff_t)i * src_step);
    if (left)
        run_list(s, dst + (ptrdiff_t)(units - s->at_once) * dst_unit, src + (ptrdiff_t)(units - s->at_once) * src_unit);
}

void td_shuffle_init_vbmi(td_shuffle_kernels *kernels)
{
    kernels->shuffle_x512 = td_shuffle_x512_vbmi;
}
