/* Chooses the data boxes that are staged (stage.h), in each direction, and what their stages leave to a fill. Called by
 * compile.c after moves and bit rows are chosen, for boxes that neither serves well. Refuses nothing: a box that has no
 * units stays as it is. */
#include "plan/stage.h"

#include "base/cpu.h"
#include "plan/passes.h"

#include <stdlib.h>

#define LINE 64
#define FROM_ELEMS 32   /* fewer are done before a stage has begun */
#define SHORT_ROW 64    /* elements that bit rows pack slower than a stage does */
#define ENOUGH_CELLS 16 /* of a row: loads have vectors for them, dumps have none */
#define SHORT_RUN 32    /* elements that are converted faster in a scratch than between their places */
#define SMALL_BOX 1024  /* elements of one block that is converted before a stage has begun */
#define FEW_LANES 5     /* the same, of the shorter side of one */
#define SHORT_BLOCK 256 /* the same, of a transpose that is one of many */
#define FEW_BYTES 16    /* of a run by table: a scratch of whole words is as fast */

/* A move that would convert a few values per call of a kernel. */
static bool converts_few(const td_plan *plan, const td_box *box, const td_move *m)
{
    const uint64_t narrow =
        plan->memory_dtype.bytes < plan->tensor_dtype.bytes ? plan->memory_dtype.bytes : plan->tensor_dtype.bytes;
    const uint64_t wide = (m->kind == TD_MOVE_PICKS ? m->picks->bytes : m->wide * m->elem_bytes) / narrow;
    const uint64_t block = m->high * wide;
    if (td_dtype_equal(plan->tensor_dtype, plan->memory_dtype))
        return false;
    if (m->loops == 0 && !box->selectors && td_stage_elems(plan, box) < SMALL_BOX)
        return false;
    const uint64_t lanes = m->high * m->elem_bytes / narrow < wide ? m->high * m->elem_bytes / narrow : wide;
    if (m->kind == TD_MOVE_TRANSPOSE && m->loops && lanes < FEW_LANES)
        return true;
    return (m->kind == TD_MOVE_RUNS ? wide < SHORT_RUN : block < SHORT_BLOCK) ||
           (box->selectors && block < SHORT_BLOCK);
}

/* Runs by table that are only a part of their words, or that go through the tensor line by line for a few bytes of each
 * although other steps would stay in a line. */
static bool scatters(const td_plan *plan, const td_words_move *g)
{
    const int64_t word_bits = 8 * (int64_t)plan->geometry.word_bytes;
    const uint64_t bytes = plan->tensor_dtype.bytes;
    bool parts = false, near = false;
    for (size_t i = 0; i < g->loops; i++) {
        parts |= g->loop[i].select == 0 && td_stage_step(g->loop[i].memory) < (uint64_t)word_bits;
        near |= g->loop[i].tensor && td_stage_step(g->loop[i].tensor) * bytes < LINE;
    }
    return parts || (near && td_stage_step(g->row.tensor) * bytes >= LINE);
}

/* Banks that take turns within half a line of the tensor: bank by bank, it would be read as often as they share it. */
static bool shares_lines(const td_plan *plan, const td_box *box)
{
    const uint64_t bytes = plan->tensor_dtype.bytes;
    if (plan->table.entry || td_stage_elems(plan, box) * bytes <= TD_STAGE_BYTES)
        return false;
    for (size_t i = 0; i < box->selectors; i++) {
        const td_node *n = &plan->node[box->first_node + i];
        if (n->select && n->extent > 1 && n->tensor && td_stage_step(n->tensor) * bytes < LINE / 2)
            return true;
    }
    return false;
}

/* Whole words of a table that has them in lines, whose runs are no lines of the tensor: a scratch has them so. */
static bool goes_by_lines(const td_plan *plan, const td_words_move *g)
{
    const uint64_t bytes = plan->tensor_dtype.bytes;
    return plan->table.lines && g->bytes == plan->geometry.word_bytes &&
           (g->row.select != 1 || g->row.tensor * (int64_t)bytes != (int64_t)g->bytes ||
            g->row.extent * g->bytes < 2 * LINE);
}

/* Elements of whole bytes by table or bank that would go a few bytes at a time, or few of them in one call. */
static bool gathers_few(const td_plan *plan, size_t b, bool dump)
{
    const td_box *box = &plan->data[b];
    const td_move *m = &plan->move[2 * b + dump];
    if (!box->selectors || plan->skewed || m->dst_scale != m->src_scale)
        return false;
    const td_words_move *g = &plan->gather[2 * b + dump];
    if (g->bytes && goes_by_lines(plan, g))
        return true;
    if (g->bytes)
        return g->bytes < FEW_BYTES && (scatters(plan, g) || (g->loops && g->row.extent < SHORT_RUN));
    if (plan->table.entry && m->bytes >= SMALL_BOX)
        return false;
    if (shares_lines(plan, box))
        return true;
    const uint64_t each = m->kind == TD_MOVE_FOLD ? m->fold->rows * m->fold->cols * m->fold->elem : m->elem_bytes;
    return m->kind == TD_MOVE_RUNS ? m->wide < FEW_BYTES : m->high * m->wide * each < SHORT_BLOCK;
}

/* A load by table of runs that are most of their words and leave the rest to a fill, which would go by the table too: a
 * stage writes the words whole. */
static bool fills_apart(const td_plan *plan, size_t b)
{
    const uint64_t bytes = plan->beats * plan->geometry.word_bytes;
    const td_words_move *g = plan->gather ? &plan->gather[2 * b] : NULL;
    return g && g->bytes < bytes && 2 * g->bytes > bytes && bytes <= LINE && plan->covered && plan->lane_mask &&
           !plan->skewed && td_stage_elems(plan, &plan->data[b]) >= SMALL_BOX && td_cpu_flags() & TD_CPU_VBMI;
}

/* True where neither a move nor a bit row is as good. */
static bool wants_stage(const td_plan *plan, size_t b, bool dump)
{
    const td_box *box = &plan->data[b];
    const td_rows *r = &plan->rows[b];
    if (td_stage_elems(plan, box) < FROM_ELEMS || plan->in_order || plan->permutes)
        return false;
    if (plan->move[2 * b + dump].kind != TD_MOVE_NONE)
        return converts_few(plan, box, &plan->move[2 * b + dump]) || gathers_few(plan, b, dump) ||
               (!dump && fills_apart(plan, b));
    if (plan->skewed) /* a word has elements of several steps, and only those that are whole bytes stand alone */
        return false;
    if (box->piece_count || r->way == TD_ROWS_NONE || r->way == TD_ROWS_LOOSE || (plan->table.lines && box->selectors))
        return true;
    /* Long rows are fast, however few grounds share them; short ones whose elements are in lines of their own are not,
     * as the other grounds come back to those lines. */
    if (r->way == TD_ROWS_CELLS && box->selectors)
        return r->row.extent * r->across.extent < SHORT_ROW ||
               (r->row.extent < SHORT_ROW && td_stage_step(r->row.memory) >= 8 * LINE);
    const uint64_t enough = r->way == TD_ROWS_CELLS && !dump ? ENOUGH_CELLS : SHORT_ROW;
    return (box->node_count > 1 || box->selectors) && (r->row.extent < enough || (r->gathers && r->across.extent == 1));
}

/* The move of a box that is staged does not come to fill its words. */
static void leave_fill(td_plan *plan, size_t b)
{
    free(plan->move[2 * b].fill);
    plan->move[2 * b].fill = NULL;
    for (size_t i = 0; i < plan->fill_count; i++)
        plan->fill[i].moved &= plan->fill[i].data != b;
}

/* A vector in pieces may end before its last beat, in bits that no element has. */
static bool covers_beats(const td_plan *plan, const td_box *box, const td_stage *s)
{
    return box->piece_count == 0 || s->code.bytes == plan->beats * plan->geometry.word_bytes;
}

/* A tight stage would be smaller. */
static bool has_edges(const td_stage *s)
{
    return s->code.bits == 8 * s->code.size && s->code.bytes > s->code.lanes * s->code.size;
}

/* The fill of words that this box alone writes into, where it is all zero; or NULL. */
static td_fill *zero_fill(td_plan *plan, size_t b)
{
    td_fill *found = NULL;
    const size_t bytes = plan->beats * plan->geometry.word_bytes;
    for (size_t i = 0; plan->fills_pads && !plan->fill_keep && i < plan->fill_count && !found; i++)
        if (plan->fill[i].data == b && plan->fill[i].apart && plan->fill[i].alone)
            found = &plan->fill[i];
    for (size_t i = 0; found && i < bytes; i++)
        if (plan->fill_value[i])
            found = NULL;
    return found;
}

/* A stage that writes whole vectors leaves nothing to fill; *out is NULL where there is none. Elements of whole bytes
 * are sooner copied beside a fill. */
static td_status make_clearing(td_plan *plan, size_t b, const td_kernels *k, td_stage **out)
{
    td_fill *fill = plan->memory_dtype.bits != 8 * plan->memory_dtype.bytes ? zero_fill(plan, b) : NULL;
    td_status status = fill ? td_stage_make(plan, &plan->data[b], k, false, true, out) : TD_OK;
    if (!fill || !*out)
        return status;
    fill->staged = (*out)->code.bytes % (plan->beats * plan->geometry.word_bytes) == 0;
    if (!fill->staged) {
        td_stage_free(*out);
        *out = NULL;
    }
    return status;
}

/* The stages of a box in both directions; often they are one. */
static td_status choose_box(td_plan *plan, size_t b, const td_kernels *k)
{
    td_stage **stage = &plan->stage[2 * b];
    const bool tight = !plan->lane_mask || !plan->covered, load = wants_stage(plan, b, false);
    td_status status = load && tight ? make_clearing(plan, b, k, &stage[0]) : TD_OK;
    const bool clears = stage[0] != NULL;
    if (load && !clears && !status)
        status = td_stage_make(plan, &plan->data[b], k, tight, false, &stage[0]);
    if (status || !wants_stage(plan, b, true))
        return status;
    if (stage[0] && ((tight && !clears) || !has_edges(stage[0])))
        stage[1] = stage[0];
    else
        status = td_stage_make(plan, &plan->data[b], k, true, false, &stage[1]);
    return status;
}

td_status td_stages_choose(td_plan *plan, const td_kernels *k)
{
    bool any = false;
    plan->covered = plan->pads_count == 0 && !plan->skewed;
    for (size_t i = 0; i < plan->fill_count; i++)
        plan->covered &= !plan->fill[i].pads;
    for (size_t b = 0; b < plan->data_count; b++)
        any |= wants_stage(plan, b, false) || wants_stage(plan, b, true);
    if (!any) {
        plan->covered &= plan->data_count == 0;
        return TD_OK;
    }
    plan->stage = calloc(2 * plan->data_count, sizeof(td_stage *));
    if (!plan->stage)
        return td_fail_alloc(2 * plan->data_count * sizeof(td_stage *));
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_status status = choose_box(plan, b, k);
        if (status)
            return status;
        const td_stage *stage = plan->stage[2 * b];
        if (stage)
            leave_fill(plan, b);
        plan->covered &= stage && stage->whole && covers_beats(plan, &plan->data[b], stage);
    }
    bool staged = plan->fills_pads;
    for (size_t i = 0; i < plan->fill_count; i++)
        staged &= plan->fill[i].staged;
    plan->covered |= staged;
    return TD_OK;
}
