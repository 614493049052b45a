/* Chooses the data boxes that are staged, and compiles their stages (stage.h): what a unit is, which units are a batch,
 * and the moves between the tensor and a batch. Called by compile.c after moves and bit rows are chosen, for boxes that
 * neither serves well. Refuses nothing: a box that has no units stays as it is. */
#include "plan/stage.h"

#include "base/cpu.h"
#include "kernels/bits.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
#define FAR_BYTES ((uint64_t)1 << 20) /* of words by table: more than the second-level cache keeps beside the rest */
#define FROM_ELEMS 32                 /* fewer are done before a stage has begun */
#define SHORT_ROW 64                  /* elements that bit rows pack slower than a stage does */
#define ENOUGH_CELLS 16               /* of a row: loads have vectors for them, dumps have none */
#define SHORT_RUN 32                  /* elements that are converted faster in a scratch than between their places */
#define SMALL_BOX 1024                /* elements of one block that is converted before a stage has begun */
#define SHORT_BLOCK 256               /* the same, of a transpose that is one of many */
#define LONG_ROW 512                  /* bits that are packed faster as a row than as parts of a unit */
#define LISTED_ROW 4096               /* the same where the unit has a list of shuffles */
#define FEW_BYTES 16                  /* of a run by table: a scratch of whole words is as fast */

uint64_t td_listed_elems = TD_LISTED_ELEMS;

/* -- batches ------------------------------------------------------------------------------------------------------- */

/* About `room` steps of `extent`, if possible so that all chunks are equal. */
static uint64_t fit(uint64_t extent, uint64_t room)
{
    if (extent <= room)
        return extent;
    const uint64_t parts = (extent + room - 1) / room;
    for (uint64_t p = parts; p < parts + 16; p++)
        if (extent % p == 0)
            return extent / p;
    return (extent + parts - 1) / parts;
}

static uint64_t magnitude(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

/* The node over units that continues the runs of the lanes in the tensor, where those are shorter than a line; or
 * unit_count. */
static size_t find_line(const td_stage_draft *d, uint64_t *steps)
{
    const td_stage *s = d->stage;
    const uint64_t bytes = d->plan->tensor_dtype.bytes;
    uint64_t run = 1;
    for (size_t i = d->lane_count; i-- > 0;)
        if (d->lane[i].tensor == (int64_t)run) {
            run *= d->lane[i].extent;
            i = d->lane_count;
        }
    size_t best = s->unit_count;
    for (size_t i = 0; i < s->unit_count; i++) {
        const uint64_t step = magnitude(s->unit[i].tensor);
        if (step && step * bytes < LINE && run * bytes < LINE &&
            (best == s->unit_count || step < magnitude(s->unit[best].tensor)))
            best = i;
    }
    if (best < s->unit_count)
        *steps = 2 * LINE / (magnitude(s->unit[best].tensor) * bytes);
    return best;
}

/* False where not even one unit fits. */
static bool choose_batch(td_stage_draft *d)
{
    td_stage *s = d->stage;
    const unsigned bytes = d->plan->tensor_dtype.bytes > d->plan->memory_dtype.bytes ? d->plan->tensor_dtype.bytes
                                                                                     : d->plan->memory_dtype.bytes;
    const uint64_t unit = d->lanes * bytes > s->code.bytes ? d->lanes * bytes : s->code.bytes;
    uint64_t room = TD_STAGE_BYTES / unit, most = TD_STAGE_MOST / unit, steps = 1;
    if (most == 0)
        return false;
    for (size_t i = 0; i < s->unit_count; i++)
        s->chunk[i] = 1;
    const size_t line = find_line(d, &steps);
    if (line < s->unit_count) {
        s->chunk[line] = fit(s->unit[line].extent, steps < most ? steps : most);
        room = room > s->chunk[line] ? room / s->chunk[line] : 1;
    }
    for (size_t i = s->unit_count; i-- > 0 && room > 1;) {
        if (s->unit[i].tensor == 0) /* copies: a dump leaves them out */
            continue;
        const uint64_t left = s->unit[i].extent / s->chunk[i];
        const uint64_t chunk = i == line ? fit(s->unit[i].extent, s->chunk[i] * room) : fit(left, room);
        room /= i == line ? (chunk + s->chunk[i] - 1) / s->chunk[i] : chunk;
        s->chunk[i] = chunk;
        if (chunk < s->unit[i].extent)
            break;
    }
    for (size_t i = 0; i < s->unit_count; i++) {
        if (s->chunk[i] > 1)
            s->run = i;
        if (s->unit[i].extent % s->chunk[i])
            s->cut[s->cuts++] = i;
    }
    return true;
}

/* -- the order of the nodes over units ----------------------------------------------------------------------------- */

#define LOOKED_AT 8 /* steps of a table */

/* Neighbours in a table that take the banks in turn, as hashes of the low bits of an index do: every bank goes forward,
 * and in their order long parts of the table are one run. Not where words have strides inside of one bank. */
static bool turns_banks(const td_plan *plan, const td_box *box, const td_node *node)
{
    for (size_t i = 0; i < box->node_count; i++) {
        const td_node *n = &plan->node[box->first_node + i];
        if (!n->select && magnitude(n->memory) <= 8 * plan->geometry.word_bytes)
            return false;
    }
    return magnitude(node->select) <= plan->geometry.banks;
}

/* How far apart in memory two steps of a node are, in bits, as a measure for sorting. Banks are farthest: what lies in
 * one is done before the next. A table is asked for some of its words. */
static uint64_t distance(const td_plan *plan, const td_box *box, const td_node *node)
{
    const uint64_t apart = magnitude(node->memory);
    if (node->select && !plan->table.entry)
        return UINT64_MAX;
    if (!node->select || node->extent < 2)
        return apart;
    const uint64_t steps = node->extent - 1 < LOOKED_AT ? node->extent - 1 : LOOKED_AT;
    uint64_t sum = 0;
    int64_t at = box->select;
    for (uint64_t i = 0; i < steps; i++, at += node->select) {
        const uint64_t a = td_table_word(&plan->table, td_table_get(&plan->table, (uint64_t)at)),
                       b = td_table_word(&plan->table, td_table_get(&plan->table, (uint64_t)(at + node->select)));
        sum += a < b ? b - a : a - b;
    }
    if (sum == 0) /* a step is the same word of another bank */
        return turns_banks(plan, box, node) ? 8 * plan->geometry.word_bytes : UINT64_MAX;
    return apart + sum * 8 * plan->geometry.word_bytes / steps;
}

/* Words that are neighbours in memory are innermost, so that a batch has them together, whatever makes their addresses:
 * boxes have the steps of a table outside of all others. */
static void sort_units(td_stage_draft *d)
{
    td_stage *s = d->stage;
    uint64_t key[TD_WALK_NODES];
    for (size_t i = 0; i < s->unit_count; i++) {
        const td_node node = s->unit[i];
        const uint64_t apart = distance(d->plan, d->box, &node);
        size_t at = i;
        for (; at > 0 && key[at - 1] < apart; at--) {
            key[at] = key[at - 1];
            s->unit[at] = s->unit[at - 1];
        }
        key[at] = apart;
        s->unit[at] = node;
    }
}

/* -- the moves between the tensor and the containers --------------------------------------------------------------- */

static td_dtype container_of(td_dtype dtype)
{
    return (td_dtype){.kind = TD_KIND_UINT, .bits = (uint8_t)(8 * dtype.bytes), .bytes = dtype.bytes};
}

static td_status make_permute(td_stage_draft *d)
{
    td_stage *s = d->stage;
    td_plan *p = &s->permute;
    const size_t boxes = (size_t)1 << s->cuts, most = s->unit_count + d->lane_count;
    const td_dtype container = container_of(d->plan->tensor_dtype);
    *p = (td_plan){.geometry = {.width_bits = container.bits, .banks = 1, .word_bytes = container.bytes},
                   .tensor_dtype = container,
                   .memory_dtype = container,
                   .beats = 1,
                   .permutes = true,
                   .cell_bits = container.bits};
    p->node = calloc(boxes * most + 1, sizeof *p->node);
    p->data = calloc(boxes, sizeof *p->data);
    if (!p->node || !p->data)
        return td_fail_alloc(boxes * (most * sizeof *p->node + sizeof *p->data));
    for (size_t v = 0; v < boxes; v++) {
        td_box *box = &p->data[p->data_count++];
        *box = (td_box){.first_node = v * most};
        td_node *node = p->node + box->first_node + most;
        int64_t dense = container.bits;
        for (size_t i = d->lane_count; i-- > 0; dense *= (int64_t)node->extent)
            *--node = (td_node){.extent = d->lane[i].extent, .tensor = d->lane[i].tensor, .memory = dense};
        for (size_t i = s->unit_count; i-- > 0; dense *= (int64_t)node->extent) {
            uint64_t extent = s->chunk[i];
            for (size_t c = 0; c < s->cuts; c++)
                if (s->cut[c] == i && v >> c & 1)
                    extent = s->unit[i].extent % s->chunk[i];
            *--node = (td_node){.extent = extent, .tensor = s->unit[i].tensor, .memory = dense};
        }
        box->node_count = most;
        td_box_fold(p->node, box, false);
        node = p->node + box->first_node;
        s->direct[v] =
            box->node_count == 0 || (box->node_count == 1 && node->tensor == 1 && node->memory == container.bits);
    }
    p->node_count = boxes * most;
    return td_moves_create(p);
}

/* False where a box has more loops than moves take. */
static bool is_moved(const td_plan *permute)
{
    bool moved = true;
    for (size_t i = 0; i < 2 * permute->data_count; i++)
        moved &= permute->move[i].kind != TD_MOVE_NONE;
    return moved;
}

/* -- a stage ------------------------------------------------------------------------------------------------------- */

static void free_stage(td_stage *s)
{
    if (!s)
        return;
    td_word_code_free(&s->code);
    td_moves_free(&s->permute);
    free(s->permute.node);
    free(s->permute.data);
    free(s);
}

static void choose_kernels(const td_kernels *k, td_stage *s)
{
    s->scatter = k->gather.scatter;
    s->gather = k->gather.gather;
    switch (s->code.size) {
#define X(container)                                                                                                   \
    case (container) / 8:                                                                                              \
        s->pack = k->pack_words.pack_words_x##container;                                                               \
        s->unpack = k->pack_words.unpack_words_x##container;                                                           \
        s->pack_row = k->pack.pack_x##container;                                                                       \
        s->unpack_row = k->pack.unpack_x##container;                                                                   \
        break;
        TD_PACK_WORDS_KERNELS(X)
#undef X
    default:
        break;
    }
}

static uint64_t box_elems(const td_plan *plan, const td_box *box)
{
    uint64_t elems = box->piece_count ? box->piece_count : 1;
    for (size_t i = 0; i < box->node_count; i++)
        elems *= plan->node[box->first_node + i].extent;
    return elems;
}

/* The bits that a word has at all, or those of its lanes where a load clears the others. */
static td_status make_code(td_stage_draft *d)
{
    const td_geometry *g = &d->plan->geometry;
    td_stage *s = d->stage;
    unsigned char *full = NULL;
    size_t full_bytes = g->word_bytes * d->plan->beats;
    if (!d->plan->lane_mask && !d->clears) {
        full_bytes = g->word_bytes;
        full = calloc(1, full_bytes);
        if (!full)
            return td_fail_alloc(full_bytes);
        for (uint64_t bit = 0; bit < g->width_bits; bit += 8)
            full[bit / 8] =
                (unsigned char)(g->width_bits - bit < 8 ? td_low_bits((unsigned)(g->width_bits - bit)) : 255);
    }
    const unsigned char *may = d->clears ? NULL : full ? full : d->plan->lane_mask;
    const td_status status = td_word_code_make(d->place, d->place_count, may, full_bytes, &s->code);
    s->whole = !s->code.keep;
    free(full);
    return status || box_elems(d->plan, d->box) < td_listed_elems ? status : td_word_lists_make(&s->code);
}

/* Long units of elements without gaps that have other bits at their ends. */
static void find_row(const td_stage_draft *d)
{
    td_stage *s = d->stage;
    const int64_t first = d->place[0].memory;
    int64_t end = first;
    for (size_t i = 0; i < d->place_count; i++) {
        if (d->place[i].memory != end)
            return;
        end += d->place[i].bits;
    }
    const uint64_t bits = (uint64_t)(end - first);
    s->row_bits = (uint64_t)first;
    s->row = !s->dense && !s->code.reversed && bits == (uint64_t)s->code.lanes * s->code.bits &&
             bits >= (s->code.packs || s->code.vectors ? LISTED_ROW : LONG_ROW);
}

/* Neighbouring units that share bytes are written one by one, with all that the others have kept. */
static bool units_overlap(const td_stage *s)
{
    for (size_t i = 0; i < s->unit_count; i++)
        if (s->unit[i].memory && magnitude(s->unit[i].memory) < 8 * (uint64_t)s->code.bytes)
            return true;
    return false;
}

/* *out is NULL where the box has no units. */
static td_status make_stage(const td_plan *plan, const td_box *box, const td_kernels *k, bool tight, bool clears,
                            td_stage **out)
{
    td_stage *s = calloc(1, sizeof *s);
    td_stage_draft d = {.plan = plan, .box = box, .tight = tight, .clears = clears, .stage = s};
    td_status status = TD_OK;
    bool found = false;
    *out = NULL;
    if (!s)
        return td_fail_alloc(sizeof *s);
    status = td_stage_units(&d, &found);
    if (status || !found || d.lane_count + s->unit_count > TD_WALK_NODES || d.lane_count > TD_MOVE_LOOPS - 4 ||
        (sort_units(&d), !choose_batch(&d)))
        goto done;
    s->code.size = plan->memory_dtype.bytes;
    s->code.bits = plan->memory_dtype.bits;
    s->code.sign = plan->memory_dtype.kind == TD_KIND_INT;
    status = make_code(&d);
    if (status)
        goto done;
    s->dense = !s->code.reversed && (uint64_t)s->code.lanes * s->code.bits == 8 * (uint64_t)s->code.bytes;
    s->bytes = s->dense && s->code.bits == 8 * s->code.size;
    find_row(&d);
    s->overlaps = units_overlap(s);
    if (s->overlaps && s->whole)
        goto done;
    choose_kernels(k, s);
    s->far = plan->table.count * plan->geometry.word_bytes >= FAR_BYTES;
    status = make_permute(&d);
    if (status || !is_moved(&s->permute))
        goto done;
    s->memory = (uint64_t)box->memory;
    *out = s;
    s = NULL;
done:
    free(d.place);
    free_stage(s);
    return status;
}

/* A move that would convert a few values per call of a kernel. */
static bool converts_few(const td_plan *plan, const td_box *box, const td_move *m)
{
    const uint64_t narrow =
        plan->memory_dtype.bytes < plan->tensor_dtype.bytes ? plan->memory_dtype.bytes : plan->tensor_dtype.bytes;
    const uint64_t wide = (m->kind == TD_MOVE_PICKS ? m->picks->bytes : m->wide * m->elem_bytes) / narrow;
    const uint64_t block = m->high * wide;
    if (td_dtype_equal(plan->tensor_dtype, plan->memory_dtype))
        return false;
    if (m->loops == 0 && !box->selectors && box_elems(plan, box) < SMALL_BOX)
        return false;
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
        parts |= g->loop[i].select == 0 && magnitude(g->loop[i].memory) < (uint64_t)word_bits;
        near |= g->loop[i].tensor && magnitude(g->loop[i].tensor) * bytes < LINE;
    }
    return parts || (near && magnitude(g->row.tensor) * bytes >= LINE);
}

/* Banks that take turns within half a line of the tensor: bank by bank, it would be read as often as they share it. */
static bool shares_lines(const td_plan *plan, const td_box *box)
{
    const uint64_t bytes = plan->tensor_dtype.bytes;
    if (plan->table.entry || box_elems(plan, box) * bytes <= TD_STAGE_BYTES)
        return false;
    for (size_t i = 0; i < box->selectors; i++) {
        const td_node *n = &plan->node[box->first_node + i];
        if (n->select && n->extent > 1 && n->tensor && magnitude(n->tensor) * bytes < LINE / 2)
            return true;
    }
    return false;
}

/* Elements of whole bytes by table or bank that would go a few bytes at a time, or few of them in one call. */
static bool gathers_few(const td_plan *plan, size_t b, bool dump)
{
    const td_box *box = &plan->data[b];
    const td_move *m = &plan->move[2 * b + dump];
    if (!box->selectors || plan->skewed || m->dst_scale != m->src_scale)
        return false;
    const td_words_move *g = &plan->gather[2 * b + dump];
    if (g->bytes)
        return g->bytes < FEW_BYTES && (scatters(plan, g) || (g->loops && g->row.extent < SHORT_RUN));
    if (plan->table.entry && m->bytes >= SMALL_BOX)
        return false;
    if (shares_lines(plan, box))
        return true;
    return m->kind == TD_MOVE_RUNS ? m->wide < FEW_BYTES : m->high * m->wide * m->elem_bytes < SHORT_BLOCK;
}

/* A load by table of runs that are most of their words and leave the rest to a fill, which would go by the table too: a
 * stage writes the words whole. */
static bool fills_apart(const td_plan *plan, size_t b)
{
    const uint64_t bytes = plan->beats * plan->geometry.word_bytes;
    const td_words_move *g = plan->gather ? &plan->gather[2 * b] : NULL;
    return g && g->bytes < bytes && 2 * g->bytes > bytes && bytes <= LINE && plan->covered && plan->lane_mask &&
           !plan->skewed && box_elems(plan, &plan->data[b]) >= SMALL_BOX && td_cpu_flags() & TD_CPU_VBMI;
}

/* True where neither a move nor a bit row is as good. */
static bool wants_stage(const td_plan *plan, size_t b, bool dump)
{
    const td_box *box = &plan->data[b];
    const td_rows *r = &plan->rows[b];
    if (box_elems(plan, box) < FROM_ELEMS || plan->in_order || plan->permutes)
        return false;
    if (plan->move[2 * b + dump].kind != TD_MOVE_NONE)
        return converts_few(plan, box, &plan->move[2 * b + dump]) || gathers_few(plan, b, dump) ||
               (!dump && fills_apart(plan, b));
    if (plan->skewed) /* a word has elements of several steps, and only those that are whole bytes stand alone */
        return false;
    if (box->piece_count || r->way == TD_ROWS_NONE || r->way == TD_ROWS_LOOSE)
        return true;
    /* Long rows are fast, however few grounds share them; short ones whose elements are in lines of their own are not,
     * as the other grounds come back to those lines. */
    if (r->way == TD_ROWS_CELLS && box->selectors)
        return r->row.extent * r->across.extent < SHORT_ROW ||
               (r->row.extent < SHORT_ROW && magnitude(r->row.memory) >= 8 * LINE);
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
    td_status status = fill ? make_stage(plan, &plan->data[b], k, false, true, out) : TD_OK;
    if (!fill || !*out)
        return status;
    fill->staged = (*out)->code.bytes % (plan->beats * plan->geometry.word_bytes) == 0;
    if (!fill->staged) {
        free_stage(*out);
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
        status = make_stage(plan, &plan->data[b], k, tight, false, &stage[0]);
    if (status || !wants_stage(plan, b, true))
        return status;
    if (stage[0] && ((tight && !clears) || !has_edges(stage[0])))
        stage[1] = stage[0];
    else
        status = make_stage(plan, &plan->data[b], k, true, false, &stage[1]);
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

void td_stages_free(td_plan *plan)
{
    for (size_t b = 0; plan->stage && b < plan->data_count; b++) {
        td_stage **stage = &plan->stage[2 * b];
        if (stage[1] != stage[0])
            free_stage(stage[1]);
        free_stage(stage[0]);
    }
    free(plan->stage);
    plan->stage = NULL;
}
