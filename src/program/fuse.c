/* The pass `fuse`: a chain of elementwise steps and conversions that ends in a load becomes part of the load. Steps on
 * f32 go inside of its move (chain.c). Otherwise, where the layout puts every layer of the first dimension alike
 * (plan/layers.h), a slab of the tensor goes through all steps in a scratch and from there to its words, so that the
 * memory is passed over once and no tensor is made. Where it does not, the chain still makes one tensor instead of one
 * for each step. What is not fused, and why, is in td_op.why. */
#include "program/passes.h"

#include "backdoor/scales.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES ((uint64_t)64 << 10)

static void count_uses(const td_graph *g, uint32_t *uses)
{
    memset(uses, 0, g->count * sizeof *uses);
    for (size_t i = 0; i < g->count; i++)
        for (uint32_t a = 0; a < g->op[i].args && !g->op[i].dead; a++)
            uses[g->op[i].arg[a]]++;
}

/* The conversion of a step `convert`; *why says what stands in the way. NULL with a status where one is refused. */
static td_status make_convert(const td_graph *g, const td_op *op, td_convert **out, const char **why)
{
    td_as as;
    td_scales scales = {0};
    const td_tensor *from = &g->op[op->arg[0]].like;
    td_convert *convert = malloc(sizeof *convert);
    td_status status = convert ? td_as_parse(op->text, from->dtype, &as) : td_fail_alloc(sizeof *convert);
    if (!status)
        status = td_scales_find(&as, NULL, &from->shape, &scales);
    if (!status)
        status = td_convert_bind(&as, from->dtype, TD_TO_MEMORY, &scales.axis, convert);
    if (status) {
        td_scales_free(&scales);
        free(convert);
        return status;
    }
    td_scales_give(&scales, convert);
    if (convert->check)
        *why = "a conversion that may refuse values";
    if (*why) {
        td_convert_free(convert);
        free(convert);
        return TD_OK;
    }
    *out = convert;
    return TD_OK;
}

/* Whether this op can be a stage; its reason otherwise. */
static bool is_stage(const td_graph *g, const td_op *op, const char **why)
{
    if (op->kind != TD_OP_STEP && op->kind != TD_OP_CONVERT)
        return false;
    for (uint32_t a = 0; a < op->args; a++)
        if (g->op[op->arg[a]].written) {
            *why = "a dump writes a tensor of the chain";
            return false;
        }
    if (op->kind == TD_OP_STEP && op->refuses) {
        *why = "a step that may refuse values (say sat or wrap)";
        return false;
    }
    return true;
}

/* The chain that ends in `last`, from its first step on. */
static td_status find_chain(const td_graph *g, uint32_t last, const uint32_t *uses, td_fused *f, const char **why)
{
    uint32_t chain[TD_FUSED_STAGES] = {0};
    size_t count = 0;
    uint32_t at = last;
    td_status status = TD_OK;
    while (count < TD_FUSED_STAGES && is_stage(g, &g->op[at], why)) {
        if (uses[at] > 1) {
            *why = "another step takes the tensor, too";
            break;
        }
        chain[count++] = at;
        at = g->op[at].arg[0];
    }
    f->source = at;
    f->source_bytes = g->op[at].like.dtype.bytes;
    for (size_t i = count; i-- > 0 && !status;) {
        const td_op *op = &g->op[chain[i]];
        td_fused_stage stage = {.op = chain[i],
                                .step = op->step,
                                .operand = op->args > 1 ? op->arg[1] : TD_NO_OP,
                                .bytes = op->like.dtype.bytes};
        const char *refuses = NULL;
        if (op->kind == TD_OP_CONVERT)
            status = make_convert(g, op, &stage.convert, &refuses);
        if (refuses) { /* the chain begins behind it */
            *why = refuses;
            for (size_t k = 0; k < f->stages; k++)
                if (f->stage[k].convert) {
                    td_convert_free(f->stage[k].convert);
                    free(f->stage[k].convert);
                }
            f->stages = 0;
            f->source = chain[i];
            f->source_bytes = op->like.dtype.bytes;
            continue;
        }
        if (!status)
            f->stage[f->stages++] = stage;
    }
    return status;
}

/* Whether the load can take layers; otherwise why not. */
static bool find_layers(const td_op *op, td_fused *f, const char **why)
{
    const td_program_move *m = op->move;
    const td_plan_request request = {.layout = m->layout,
                                     .shape = &m->shape,
                                     .tensor_dtype = m->dtype,
                                     .memory_dtype = m->memory_dtype,
                                     .geometry = {.width_bits = op->memory->bank[0]->width_bits,
                                                  .depth_words = op->memory->bank[0]->depth_words,
                                                  .banks = op->memory->banks,
                                                  .word_bytes = op->memory->bank[0]->word_bytes},
                                     .truncate = m->truncate,
                                     .load_of_bytes = f->elems * f->result_bytes};
    if (op->refuses)
        *why = "into one tensor first: the load may be refused";
    else if (m->convert && m->convert->numbers)
        *why = "into one tensor first: the load's conversion goes by the number of the element";
    else if (f->elems * f->result_bytes <= SLAB_BYTES)
        *why = "into one tensor first, which stays in the cache";
    else if (!td_layers_find(&request, 1, SLAB_BYTES, &f->cut))
        *why = "into one tensor first: the layout does not put the steps of the first dimension alike";
    else
        return true;
    return false;
}

static td_status make_room(const td_op *op, td_fused *f)
{
    const size_t banks = op->memory->banks;
    const uint64_t steps = f->by_layers ? f->cut.count : (f->elems - 1) / TD_FUSED_ELEMS + 1;
    const unsigned pieces = td_pool_parts(f->elems * f->source_bytes, steps);
    f->pieces = pieces < TD_FUSED_PIECES ? pieces : TD_FUSED_PIECES;
    /* three runs of elements that go from stage to stage, and the slab */
    f->scratch_bytes = (size_t)3 * TD_FUSED_ELEMS * 8;
    if (f->by_layers)
        f->scratch_bytes += ((size_t)(f->cut.rows * f->row_elems) * f->result_bytes + 63) / 64 * 64;
    f->scratch = aligned_alloc(64, f->pieces * f->scratch_bytes);
    f->bank[0] = malloc(f->pieces * banks * sizeof **f->bank);
    if (!f->scratch || !f->bank[0])
        return td_fail_alloc(f->pieces * f->scratch_bytes);
    for (unsigned i = 1; i < f->pieces; i++)
        f->bank[i] = f->bank[0] + i * banks;
    return TD_OK;
}

/* The load takes what the chain took. */
static td_status take_over(td_graph *g, td_op *op, td_fused *f)
{
    uint32_t *arg = td_arena_get(&g->arena, (f->stages + 1) * sizeof *arg);
    if (!arg)
        return TD_NO_MEMORY;
    op->arg = arg;
    op->args = 0;
    arg[op->args++] = f->source;
    for (size_t i = 0; i < f->stages; i++) {
        if (f->stage[i].operand != TD_NO_OP)
            arg[op->args++] = f->stage[i].operand;
        g->op[f->stage[i].op].fused_into = true;
    }
    op->fused = f;
    op->refuses |= !f->inside && !f->by_layers; /* a tensor has to be made */
    return TD_OK;
}

static td_status fuse(td_graph *g, td_op *op, const uint32_t *uses)
{
    td_fused *f = calloc(1, sizeof *f);
    const td_tensor *result = &g->op[op->arg[0]].like;
    if (!f)
        return td_fail_alloc(sizeof *f);
    td_status status = find_chain(g, op->arg[0], uses, f, &op->why);
    f->elems = result->elems;
    f->row_elems = result->shape.rank ? result->elems / result->shape.dim[0] : 1;
    f->result_bytes = result->dtype.bytes;
    if (status || f->stages == 0) {
        td_fused_free(f);
        return status;
    }
    f->inside = td_chain_find(op, f, &op->why);
    f->by_layers = !f->inside && find_layers(op, f, &op->why);
    status = make_room(op, f);
    if (!status)
        status = take_over(g, op, f);
    if (status)
        td_fused_free(f);
    return status;
}

td_status td_pass_fuse(td_program *p, td_graph *g)
{
    (void)p;
    td_status status = TD_OK;
    uint32_t *uses = malloc((g->count + 1) * sizeof *uses);
    if (!uses)
        return td_fail_alloc((g->count + 1) * sizeof *uses);
    count_uses(g, uses);
    for (size_t i = 0; i < g->count && !status; i++)
        if (g->op[i].kind == TD_OP_LOAD && !g->op[i].dead)
            status = fuse(g, &g->op[i], uses);
    free(uses);
    return status;
}

void td_fused_free(td_fused *f)
{
    for (size_t i = 0; i < f->stages; i++)
        if (f->stage[i].convert) {
            td_convert_free(f->stage[i].convert);
            free(f->stage[i].convert);
        }
    td_layers_free(&f->cut);
    free(f->scratch);
    free(f->bank[0]);
    free(f);
}
