/* The shuffling kernel for AVX-512 VBMI, which looks bytes up in a whole vector of the source. */
#include "kernels/shuffle.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))

#include "kernels/vector_avx512.inc"

/* A term of one or two windows. */
INLINE vec look_up(vec index, const unsigned char *a, const unsigned char *b, const bool two)
{
    const vec x = _mm512_loadu_si512(a);
    return two ? _mm512_permutex2var_epi8(x, index, _mm512_loadu_si512(b)) : _mm512_permutexvar_epi8(index, x);
}

/* The bytes that a term gives over those of the terms before it. The mask comes from the list itself, as moving it from
 * memory would take the port that the permutations need. */
INLINE vec add_term(vec z, vec index, const unsigned char *a, const unsigned char *b, const bool two)
{
    const __mmask64 mask = _mm512_movepi8_mask(index);
    return two ? _mm512_mask_mov_epi8(z, mask, look_up(index, a, b, true))
               : _mm512_mask_permutexvar_epi8(z, mask, index, _mm512_loadu_si512(a));
}

/* One vector of the output. */
INLINE vec sum_terms(const td_shuffle *s, const td_shuffle_output *out, const unsigned char *src)
{
    const size_t first = out->first, end = first + out->terms;
    const unsigned windows = out->windows;
    const vec index = _mm512_load_si512(s->pick[first]);
    if (windows == 1)
        return look_up(index, src + s->from[first], NULL, false);
    vec z = look_up(index, src + s->from[first], src + s->second[first], true);
    for (size_t t = first + 1; t < end; t++)
        z = add_term(z, _mm512_load_si512(s->pick[t]), src + s->from[t], src + s->second[t], true);
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

/* -- Lists one after another: a loop for every small number of outputs and windows, which keeps in registers what there
 * are registers for. Outputs that have fewer windows than others get terms that give nothing. Of longer lists every
 * output has a loop of its own, over as many lists as the first-level cache keeps. */

#define FEW_OUTPUTS TD_SHUFFLE_FEW
#define FEW_WINDOWS 16
#define MOST_WINDOWS 32 /* of a single output */
#define FROM_LISTS 4    /* fewer are done before a loop is ready */
#define NEAR_BYTES 8192

typedef struct lists {
    const td_shuffle *s;
    size_t first; /* output */
    unsigned char *dst;
    const unsigned char *src;
    ptrdiff_t dst_step, src_step;
    size_t count;
} lists;

#define ALL_TERMS (FEW_OUTPUTS * FEW_WINDOWS / 2)

typedef struct few {
    vec index[ALL_TERMS];
    ptrdiff_t from[ALL_TERMS], second[ALL_TERMS], at[FEW_OUTPUTS];
    __mmask64 mask[FEW_OUTPUTS];
} few;

INLINE void take_few(const lists *l, few *f, const unsigned outputs, const unsigned terms)
{
    const td_shuffle *s = l->s;
#pragma GCC unroll 4
    for (unsigned o = 0; o < outputs; o++) {
        const td_shuffle_output *out = &s->output[l->first + o];
        f->at[o] = out->dst;
        f->mask[o] = out->mask;
#pragma GCC unroll 16
        for (unsigned t = 0; t < terms; t++) {
            const size_t of = t < out->terms ? out->first + t : out->first;
            f->index[o * terms + t] = t < out->terms ? _mm512_load_si512(s->pick[of]) : _mm512_setzero_si512();
            f->from[o * terms + t] = s->from[of];
            f->second[o * terms + t] = s->second[of];
        }
    }
}

INLINE void run_few(const lists *l, const unsigned outputs, const unsigned windows)
{
    const unsigned terms = (windows + 1) / 2;
    few f;
    take_few(l, &f, outputs, terms);
    unsigned char *dst = l->dst;
    const unsigned char *src = l->src;
    const ptrdiff_t dst_step = l->dst_step, src_step = l->src_step;
    for (size_t i = l->count; i; i--, dst += dst_step, src += src_step)
#pragma GCC unroll 4
        for (unsigned o = 0; o < outputs; o++) {
            const vec *index = &f.index[o * terms];
            const ptrdiff_t *from = &f.from[o * terms], *second = &f.second[o * terms];
            vec z = look_up(index[0], src + from[0], src + second[0], windows > 1);
#pragma GCC unroll 16
            for (unsigned t = 1; t < terms; t++)
                z = add_term(z, index[t], src + from[t], src + second[t], 2 * t + 1 < windows);
            _mm512_mask_storeu_epi8(dst + f.at[o], f.mask[o], z);
        }
}

/* From eight windows on for every other number. */
#define WINDOWS_EACH(X, outputs)                                                                                       \
    X(outputs, 1)                                                                                                      \
    X(outputs, 2)                                                                                                      \
    X(outputs, 3)                                                                                                      \
    X(outputs, 4)                                                                                                      \
    X(outputs, 5) X(outputs, 6) X(outputs, 7) X(outputs, 8) X(outputs, 10) X(outputs, 12) X(outputs, 14) X(outputs, 16)
#define FEW_EACH(X) WINDOWS_EACH(X, 1) WINDOWS_EACH(X, 2) WINDOWS_EACH(X, 3) WINDOWS_EACH(X, 4)
#define MORE_EACH(X) X(1, 18) X(1, 20) X(1, 22) X(1, 24) X(1, 26) X(1, 28) X(1, 30) X(1, 32)
#define FEW_LOOPS 12

static unsigned loop_of(unsigned windows)
{
    return windows <= 8 ? windows - 1 : (windows + 1) / 2 + 3;
}

#define X(outputs, windows)                                                                                            \
    static TARGET APART void run_##outputs##_of_##windows(const lists *l)                                              \
    {                                                                                                                  \
        run_few(l, outputs, windows);                                                                                  \
    }
FEW_EACH(X)
MORE_EACH(X)
#undef X

typedef void (*run_fn)(const lists *l);
#define X(outputs, windows) run_##outputs##_of_##windows,
static const run_fn run_together[FEW_OUTPUTS * FEW_LOOPS] = {FEW_EACH(X)};
static const run_fn run_single[] = {WINDOWS_EACH(X, 1) MORE_EACH(X)};
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
            run_single[loop_of(s->output[l.first].windows)](&l);
        l.dst += (ptrdiff_t)l.count * l.dst_step;
        l.src += (ptrdiff_t)l.count * l.src_step;
    }
}

/* False where lists go one by one. */
static bool run_lists(const lists *l)
{
    const td_shuffle *s = l->s;
    unsigned windows = 1;
    for (unsigned o = 0; o < s->outputs; o++)
        windows = s->output[o].windows > windows ? s->output[o].windows : windows;
    if (s->outputs == 0)
        return true;
    if (s->outputs <= FEW_OUTPUTS && windows <= FEW_WINDOWS)
        run_together[(s->outputs - 1u) * FEW_LOOPS + loop_of(windows)](l);
    else if (windows <= MOST_WINDOWS)
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
    else if (count >= FROM_LISTS && run_lists(&(lists){s, 0, dst, src, dst_step, src_step, count}))
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
