/* Compiles the stage of a data box (stage.h): what a unit is, which units are a batch, and the moves between the tensor
 * and a batch. Called by choose_stage.c. Refuses nothing: a box that has no units gets no stage. */
#include "plan/stage.h"

#include "base/cpu.h"
#include "kernels/bits.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
#define FAR_BYTES ((uint64_t)1 << 20) /* of words by table: more than the second-level cache keeps beside the rest */
#define LONG_ROW 512                  /* bits that are packed faster as a row than as parts of a unit */
#define LISTED_ROW 4096               /* the same where the unit has a list of shuffles */

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
        const uint64_t step = td_stage_step(s->unit[i].tensor);
        if (step && step * bytes < LINE && run * bytes < LINE &&
            (best == s->unit_count || step < td_stage_step(s->unit[best].tensor)))
            best = i;
    }
    if (best < s->unit_count)
        *steps = 2 * LINE / (td_stage_step(s->unit[best].tensor) * bytes);
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

#define LOOKED_AT 8                      /* steps of a table */
#define BEHIND_TABLE ((uint64_t)1 << 62) /* further than any entry */

/* Neighbours in a table that take the banks in turn, as hashes of the low bits of an index do: every bank goes forward,
 * and in their order long parts of the table are one run. Not where words have strides inside of one bank. */
static bool turns_banks(const td_plan *plan, const td_box *box, const td_node *node)
{
    for (size_t i = 0; i < box->node_count; i++) {
        const td_node *n = &plan->node[box->first_node + i];
        if (!n->select && td_stage_step(n->memory) <= 8 * plan->geometry.word_bytes)
            return false;
    }
    return td_stage_step(node->select) <= plan->geometry.banks;
}

/* How far apart in memory two steps of a node are, in bits, as a measure for sorting. Banks are farthest: what lies in
 * one is done before the next. A table is asked for some of its words. */
static uint64_t distance(const td_plan *plan, const td_box *box, const td_node *node)
{
    const uint64_t apart = td_stage_step(node->memory);
    if (node->select && !plan->table.entry)
        return UINT64_MAX;
    if (plan->table.lines) /* its runs are long when all its nodes are together */
        return node->select ? td_stage_step(node->select) : BEHIND_TABLE + apart;
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

void td_stage_free(td_stage *s)
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
    return status || td_stage_elems(d->plan, d->box) < td_listed_elems ? status : td_word_lists_make(&s->code);
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
        if (s->unit[i].memory && td_stage_step(s->unit[i].memory) < 8 * (uint64_t)s->code.bytes)
            return true;
    return false;
}

td_status td_stage_make(const td_plan *plan, const td_box *box, const td_kernels *k, bool tight, bool clears,
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
    td_stage_free(s);
    return status;
}

void td_stages_free(td_plan *plan)
{
    for (size_t b = 0; plan->stage && b < plan->data_count; b++) {
        td_stage **stage = &plan->stage[2 * b];
        if (stage[1] != stage[0])
            td_stage_free(stage[1]);
        td_stage_free(stage[0]);
    }
    free(plan->stage);
    plan->stage = NULL;
}
