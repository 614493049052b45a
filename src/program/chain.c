/* Chains of steps on f32 that go inside of the move of their load: exec takes the chain for a conversion and calls it
 * on the rows that it places, so that an element is read once, goes through all steps in a register (kernels/chain.h),
 * through the load's own conversion where there is one, and is stored in its word. fuse.c asks whether a chain can;
 * fused.c runs the load. */
#include "program/passes.h"

#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_ELEMS 256    /* of rows whose operands are put together first */
#define SCRATCH_ELEMS 2048 /* on the way to the load's own conversion */

/* Where the rows of an operand begin, if they lie as far apart as the rows of the block: in one run of the operand, or
 * each a whole number of runs behind the one before. Operands of at most one run and one loop around it. */
static bool find_rows(const td_operand *o, const td_divisor *run, const td_convert_block *b, td_chain_step *s)
{
    if (b->step != 1 || b->row_step < 0 || o->count > 2)
        return false;
    const uint64_t row_step = (uint64_t)b->row_step, number = td_quotient(b->first, run),
                   first = b->first - number * run->by;
    const uint64_t outer = o->count == 2 ? o->node[0].stride : 0, inner = o->count ? o->node[o->count - 1].stride : 0;
    uint64_t last = 0, stride = row_step * inner;
    if (b->n > run->by - first)
        return false;
    if (b->rows > 1 && (__builtin_mul_overflow(row_step, b->rows - 1, &last) || last > run->by - first - b->n)) {
        const uint64_t runs = td_quotient(row_step, run);
        if (runs * run->by != row_step)
            return false;
        stride = runs * outer;
    }
    s->b = (const float *)(const void *)(o->data + (first * inner + number * outer) * sizeof(float));
    s->one = inner == 0;
    s->b_stride = (ptrdiff_t)(stride * sizeof(float));
    return true;
}

/* Up to CHUNK_ELEMS of one row, with operands put together in `scratch` where they do not lie so. */
static void run_chunk(const td_fused *f, td_chain_step *step, const td_convert_block *b, size_t row, size_t column,
                      size_t n, void *dst, float (*scratch)[CHUNK_ELEMS])
{
    const uint64_t first = b->first + (uint64_t)b->row_step * row + (uint64_t)b->step * column;
    for (size_t i = 0; i < f->stages; i++) {
        const td_operand *o = &f->operand[i];
        bool one = false;
        if (f->stage[i].operand == TD_NO_OP)
            continue;
        if (b->step == 1 || !o->count)
            step[i].b = td_operand_at(o, first, n, scratch[i], &one);
        else {
            for (size_t e = 0; e < n; e++)
                memcpy(&scratch[i][e], td_operand_at(o, first + (uint64_t)b->step * e, 1, NULL, &one), sizeof(float));
            step[i].b = scratch[i];
            one = false;
        }
        step[i].one = one;
        step[i].b_stride = 0;
    }
    const td_chain_block block = {.dst = dst,
                                  .src = (const char *)b->src + (ptrdiff_t)row * b->src_stride + column * sizeof(float),
                                  .rows = 1,
                                  .n = n};
    f->kernel(step, f->stages, &block);
}

static void run_chunks(const td_fused *f, td_chain_step *step, const td_convert_block *b)
{
    float scratch[TD_FUSED_STAGES][CHUNK_ELEMS];
    for (size_t r = 0; r < b->rows; r++)
        for (size_t done = 0, n = 0; done < b->n; done += n) {
            n = b->n - done < CHUNK_ELEMS ? b->n - done : CHUNK_ELEMS;
            run_chunk(f, step, b, r, done, n, (char *)b->dst + (ptrdiff_t)r * b->dst_stride + done * sizeof(float),
                      scratch);
        }
}

/* The rows of a block as f32. */
static void run_block(const td_fused *f, const td_convert_block *b)
{
    td_chain_step step[TD_FUSED_STAGES];
    bool lie = true;
    memcpy(step, f->step, f->stages * sizeof *step);
    for (size_t i = 0; i < f->stages && lie; i++)
        lie = f->stage[i].operand == TD_NO_OP || find_rows(&f->operand[i], &f->run[i], b, &step[i]);
    if (!lie) {
        run_chunks(f, step, b);
        return;
    }
    const td_chain_block block = {b->dst, b->src, b->dst_stride, b->src_stride, b->rows, b->n, b->stream, b->far};
    f->kernel(step, f->stages, &block);
}

/* Through a scratch and the load's own conversion, so many rows at a time. */
static void run_converted(const td_fused *f, const td_convert_block *b)
{
    _Alignas(64) float scratch[SCRATCH_ELEMS];
    const size_t wide = b->n < SCRATCH_ELEMS ? b->n : SCRATCH_ELEMS, high = SCRATCH_ELEMS / wide;
    for (size_t r = 0; r < b->rows; r += high)
        for (size_t c = 0; c < b->n; c += wide) {
            td_convert_block part = *b;
            part.src = (const char *)b->src + (ptrdiff_t)r * b->src_stride + c * sizeof(float);
            part.rows = b->rows - r < high ? b->rows - r : high;
            part.n = b->n - c < wide ? b->n - c : wide;
            part.first = b->first + (uint64_t)b->row_step * r + (uint64_t)b->step * c;
            part.dst = scratch;
            part.dst_stride = (ptrdiff_t)(part.n * sizeof(float));
            part.stream = false;
            run_block(f, &part);
            part.src = scratch;
            part.src_stride = part.dst_stride;
            part.dst = (char *)b->dst + (ptrdiff_t)r * b->dst_stride + c * f->last->dst.bytes;
            part.dst_stride = b->dst_stride;
            part.stream = b->stream;
            part.far = false;
            td_convert_rows(f->last, &part);
        }
}

static void run_rows(const td_convert *c, const td_convert_block *b)
{
    const td_fused *f = c->chain_of;
    if (b->rows == 0 || b->n == 0)
        return;
    if (f->last)
        run_converted(f, b);
    else
        run_block(f, b);
}

bool td_chain_find(const td_op *op, td_fused *f, const char **why)
{
    const td_program_move *m = op->move;
    bool goes = !op->refuses && !(m->convert && (m->convert->numbers || m->convert->check));
    f->as_convert.numbers = false;
    for (size_t i = 0; i < f->stages && goes; i++) {
        goes = f->stage[i].step && td_step_chain(f->stage[i].step, &f->step[i]);
        f->as_convert.numbers |= f->stage[i].operand != TD_NO_OP;
    }
    if (!goes)
        return false;
    td_chain_kernels kernels;
    td_chain_init(&kernels, td_cpu_flags());
    f->kernel = kernels.chain_f32;
    f->last = m->convert;
    f->as_convert.src = m->dtype;
    f->as_convert.dst = m->memory_dtype;
    f->as_convert.chain = run_rows;
    f->as_convert.chain_of = f;
    if (td_exec_moves_all(m->plan, &f->as_convert))
        return true;
    *why = "not inside of the move, which takes the words one by one";
    return false;
}
