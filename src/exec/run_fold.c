/* Runs folds (plan/fold.h): short runs into a scratch, one transpose, short runs out of a scratch. Called by run_move.c
 * inside its loops. Nothing here fails. */
#include "plan/fold.h"

#include <string.h>

#define LINE 64

typedef struct step {
    uint64_t extent;
    int64_t dst, src;
} step;

/* Runs of up to 64 bytes whose length the compiler does not know: by two moves that overlap. */
static inline void copy_run(unsigned char *dst, const unsigned char *src, size_t bytes)
{
#define TWICE(size)                                                                                                    \
    do {                                                                                                               \
        unsigned char first[size], last[size];                                                                         \
        memcpy(first, src, size);                                                                                      \
        memcpy(last, src + bytes - (size), size);                                                                      \
        memcpy(dst, first, size);                                                                                      \
        memcpy(dst + bytes - (size), last, size);                                                                      \
    } while (0)
    if (bytes > 64)
        memcpy(dst, src, bytes);
    else if (bytes >= 32)
        TWICE(32);
    else if (bytes >= 16)
        TWICE(16);
    else if (bytes >= 8)
        TWICE(8);
    else if (bytes >= 4)
        TWICE(4);
    else if (bytes >= 2)
        TWICE(2);
    else if (bytes)
        *dst = *src;
#undef TWICE
}

/* The two innermost loops, in a function of its own for each length of a run. */
static inline __attribute__((always_inline)) void copy_grid(unsigned char *dst, const unsigned char *src,
                                                            const step *outer, const step *inner, const size_t run)
{
    const int64_t dst_step = inner->dst, src_step = inner->src;
    for (uint64_t i = outer->extent; i; i--, dst += outer->dst, src += outer->src) {
        unsigned char *to = dst;
        const unsigned char *from = src;
        for (uint64_t k = inner->extent; k; k--, to += dst_step, from += src_step)
            __builtin_constant_p(run) ? (void)memcpy(to, from, run) : copy_run(to, from, run);
    }
}

#define GRID(size)                                                                                                     \
    case size:                                                                                                         \
        copy_grid(dst, src, outer, inner, size);                                                                       \
        break;

static void copy_runs(unsigned char *dst, const unsigned char *src, const step *outer, const step *inner, size_t run)
{
    switch (run) {
        TD_FOLD_RUNS(GRID)
    default:
        copy_grid(dst, src, outer, inner, run);
    }
}

void td_short_rows(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                   uint64_t rows, size_t bytes)
{
    copy_runs(dst, src, &(step){.extent = 1}, &(step){rows, dst_stride, src_stride}, bytes);
}

static void copy_nest(unsigned char *dst, const unsigned char *src, const step *loop, size_t loops, size_t run)
{
    static const step single = {.extent = 1};
    if (loops <= 2) {
        copy_runs(dst, src, loops > 1 ? loop : &single, loops ? &loop[loops - 1] : &single, run);
        return;
    }
    for (uint64_t i = 0; i < loop->extent; i++, dst += loop->dst, src += loop->src)
        copy_nest(dst, src, loop + 1, loops - 1, run);
}

/* Between a scratch whose rows are `pitch` bytes long and the other side; gives the bytes of a run. */
static size_t find_steps(const td_fold_copy *c, uint64_t units, uint64_t pitch, bool in, step *out)
{
    for (size_t i = 0; i < c->loops; i++) {
        const td_fold_loop *l = &c->loop[i];
        const int64_t near = (int64_t)(l->row ? l->near * pitch : l->near);
        out[i] = (step){.extent = l->unit ? units : l->extent, .dst = in ? near : l->far, .src = in ? l->far : near};
    }
    return c->run * (c->units_run ? units : 1);
}

void td_fold_run(const td_fold *f, unsigned char *dst, const unsigned char *src, uint64_t units)
{
    _Alignas(LINE) unsigned char first[TD_FOLD_BYTES], second[TD_FOLD_BYTES];
    step loop[TD_FOLD_LOOPS];
    const uint64_t rows = f->rows * (f->unit_rows ? units : 1), cols = f->cols * (f->unit_rows ? 1 : units);
    const unsigned char *from = src;
    unsigned char *to = dst;
    ptrdiff_t from_stride = f->src_stride, to_stride = f->dst_stride;
    if (f->in.needed) {
        const size_t run = find_steps(&f->in, units, cols * f->elem, true, loop);
        copy_nest(first, src, loop, f->in.loops, run);
        from = first;
        from_stride = (ptrdiff_t)(cols * f->elem);
    }
    if (f->out.needed) {
        to = second;
        to_stride = (ptrdiff_t)(rows * f->elem);
    }
    f->transpose(to, to_stride, from, from_stride, rows, cols, false);
    if (f->out.needed) {
        const size_t run = find_steps(&f->out, units, rows * f->elem, false, loop);
        copy_nest(dst, second, loop, f->out.loops, run);
    }
}
