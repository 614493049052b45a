/* Runs a load with the chain of steps that fuse.c has made part of it. Inside of the move exec does it (chain.c).
 * Otherwise elements go through all steps in short runs that stay in the first-level cache; layers of the tensor go to
 * their words from a scratch; threads share the layers. Called by run.c. */
#include "program/passes.h"

#include "base/pool.h"
#include "exec/exec.h"

#include <string.h>

/* What threads share. */
typedef struct work {
    const td_fused *fused;
    const td_op *op;
    const unsigned char *source;
    unsigned char *result; /* the tensor of a chain that does not go by layers */
} work;

/* One stage on n elements from number `first` on. A step that might refuse one is in no chain. */
static void run_stage(const work *w, size_t number, unsigned char *dst, const unsigned char *src, unsigned char *beside,
                      uint64_t first, size_t n)
{
    const td_fused_stage *stage = &w->fused->stage[number];
    bool one = false;
    if (stage->convert) {
        td_convert_run(stage->convert, dst, src, n, first, 1);
        return;
    }
    if (stage->operand == TD_NO_OP) {
        td_step_run(stage->step, dst, src, NULL, false, n);
        return;
    }
    for (size_t done = 0; done < n;) {
        const size_t run = td_operand_run(&w->fused->operand[number], first + done, n - done);
        const void *b = td_operand_at(&w->fused->operand[number], first + done, run, beside, &one);
        td_step_run(stage->step, dst + done * stage->bytes, src + done * stage->bytes, b, one, run);
        done += run;
    }
}

/* Elements [first, first + count) of the chain's result into dst. */
static void run_chain(const work *w, unsigned char *dst, uint64_t first, uint64_t count, unsigned char *scratch)
{
    const td_fused *f = w->fused;
    unsigned char *const run[2] = {scratch, scratch + TD_FUSED_ELEMS * 8}, *const beside = run[1] + TD_FUSED_ELEMS * 8;
    for (uint64_t done = 0; done < count; done += TD_FUSED_ELEMS) {
        const size_t n = count - done < TD_FUSED_ELEMS ? (size_t)(count - done) : TD_FUSED_ELEMS;
        const unsigned char *at = w->source + (first + done) * f->source_bytes;
        for (size_t i = 0; i < f->stages; i++) {
            unsigned char *to = i + 1 == f->stages ? dst + done * f->result_bytes : run[i & 1];
            run_stage(w, i, to, at, beside, first + done, n);
            at = to;
        }
    }
}

static void run_layer(work *w, uint64_t number, unsigned piece)
{
    const td_fused *f = w->fused;
    const td_op *op = w->op;
    unsigned char *const scratch = f->scratch + piece * f->scratch_bytes, *const slab =
                                                                              scratch + (size_t)3 * TD_FUSED_ELEMS * 8;
    const bool is_last = number + 1 == f->cut.count;
    const uint64_t rows = is_last ? f->cut.last_rows : f->cut.rows;
    run_chain(w, slab, number * f->cut.rows * f->row_elems, rows * f->row_elems, scratch);
    for (size_t i = 0; i < op->memory->banks; i++)
        f->bank[piece][i] = op->bank[i] + (int64_t)number * f->cut.step_bytes;
    const td_run run = {.plan = is_last ? f->cut.last : f->cut.plan,
                        .bank = f->bank[piece],
                        .tensor = slab,
                        .convert = op->move->convert};
    td_exec_load(&run);
}

static void run_layers(void *context, unsigned begin, unsigned end)
{
    work *w = context;
    const td_fused *f = w->fused;
    for (unsigned piece = begin; piece < end; piece++)
        for (uint64_t i = f->cut.count * piece / f->pieces; i < f->cut.count * (piece + 1) / f->pieces; i++)
            run_layer(w, i, piece);
}

static void run_runs(void *context, unsigned begin, unsigned end)
{
    work *w = context;
    const td_fused *f = w->fused;
    const uint64_t runs = (f->elems - 1) / TD_FUSED_ELEMS + 1;
    for (unsigned piece = begin; piece < end; piece++) {
        const uint64_t first = runs * piece / f->pieces * TD_FUSED_ELEMS,
                       last = runs * (piece + 1) / f->pieces * TD_FUSED_ELEMS, stop = last < f->elems ? last : f->elems;
        if (stop > first)
            run_chain(w, w->result + first * f->result_bytes, first, stop - first,
                      f->scratch + piece * f->scratch_bytes);
    }
}

/* Into one tensor, which is loaded as any other. */
static td_status run_whole(work *w, td_tensor **out)
{
    const td_fused *f = w->fused;
    const td_program_move *m = w->op->move;
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(m->dtype, name);
    const td_status status = td_tensor_create_unset(name, m->shape, out);
    if (status)
        return status;
    w->result = (*out)->data;
    td_pool_run(f->pieces, run_runs, w);
    return TD_OK;
}

td_status td_fused_run(const td_graph *g, const td_op *op, bool plain, td_tensor **out, bool *done)
{
    td_fused *f = op->fused;
    work w = {.fused = f, .op = op, .source = g->op[f->source].value->data};
    td_status status = TD_OK;
    for (size_t i = 0; i < f->stages && !status; i++) {
        const td_fused_stage *stage = &f->stage[i];
        const td_op *step = &g->op[stage->op];
        if (stage->operand != TD_NO_OP)
            status = td_operand_bind(&step->like.shape, step->like.dtype, g->op[stage->operand].value, step->text,
                                     &f->operand[i]);
        f->run[i] =
            td_divisor_of(f->operand[i].count ? f->operand[i].node[f->operand[i].count - 1].extent : UINT64_MAX);
    }
    if (status)
        return status;
    *done = (f->inside || f->by_layers) && plain;
    if (!*done)
        return run_whole(&w, out);
    if (f->inside) {
        const td_run run = {.plan = op->move->plan,
                            .bank = op->bank,
                            .tensor = g->op[f->source].value->data,
                            .convert = &f->as_convert};
        td_exec_load(&run);
        return TD_OK;
    }
    td_pool_run(f->pieces, run_layers, &w);
    return TD_OK;
}
