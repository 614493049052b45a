/* Cuts a run of words out of the boxes of an organisation (parts.h), and says which of them are moves of bytes. A box
 * is a nest of loops over bits; the run is an interval of the bit numbers of the memory. The loop of the longest stride
 * is cut into the steps that lie in the interval whole, which are one box, and the steps that it cuts, in which the
 * next loop is looked at. Called by organisation.c. */
#include "over/parts.h"

#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct cutter {
    int64_t low, high; /* bits: [low, high) */
    td_node node[TD_WALK_NODES];
    size_t count;
    uint64_t span[TD_WALK_NODES + 1]; /* what the loops from here on reach over, in bits */
    td_bit_box_fn *fn;
    void *context;
} cutter;

/* -- cutting ------------------------------------------------------------------------------------------------------- */

static int64_t round_up(int64_t value, int64_t stride)
{
    return value <= 0 ? 0 : (value + stride - 1) / stride;
}

/* A box of the loops from `level` on, of which the first makes `extent` steps from `at` on. */
static void emit_from(cutter *c, size_t level, uint64_t extent, td_at at)
{
    td_node node[TD_WALK_NODES];
    td_box box = {
        .node_count = c->count - level, .tensor = at.tensor - c->low, .memory = at.memory, .select = at.select};
    memcpy(node, c->node + level, box.node_count * sizeof *node);
    if (level < c->count)
        node[0].extent = extent;
    td_box_fold(node, &box, false);
    c->fn(c->context, node, &box);
}

/* What lies in the interval of the loops from `level` on, at `at`. */
static void cut(cutter *c, size_t level, td_at at)
{
    if (at.tensor >= c->high || at.tensor + (int64_t)c->span[level] <= c->low)
        return;
    if (at.tensor >= c->low && at.tensor + (int64_t)c->span[level] <= c->high) {
        emit_from(c, level, level < c->count ? c->node[level].extent : 1, at);
        return;
    }
    const td_node *node = &c->node[level];
    const int64_t stride = node->tensor ? node->tensor : 1; /* a loop that stays in place is inside or outside whole */
    const int64_t below = (int64_t)c->span[level + 1], last = (int64_t)node->extent - 1;
    const int64_t reached = (c->high - 1 - at.tensor) / stride;
    const int64_t from = round_up(c->low - at.tensor - below + 1, stride), to = reached < last ? reached : last;
    const int64_t whole = round_up(c->low - at.tensor, stride), room = c->high - at.tensor - below;
    const int64_t fits = room < 0 ? -1 : room / stride, end = fits < last ? fits : last;
    for (int64_t i = from; i <= to; i++) {
        const td_at step = td_at_step(at, node, (uint64_t)i);
        if (i == whole && end >= whole) {
            emit_from(c, level, (uint64_t)(end - whole + 1), step);
            i = end;
        } else
            cut(c, level + 1, step);
    }
}

/* Longest stride first, and every step forward; of copies all or one. False where the box has not so many copies. */
static bool order_nodes(cutter *c, const td_plan *plan, const td_box *box, uint64_t copy, td_at *at)
{
    *at = td_box_at(box);
    c->count = 0;
    for (size_t i = 0; i < box->node_count; i++) {
        td_node node = plan->node[box->first_node + i];
        if (node.tensor < 0) {
            *at = td_at_step(*at, &node, node.extent - 1);
            node.tensor = -node.tensor;
            node.memory = -node.memory;
            node.select = -node.select;
        }
        if (!node.tensor && copy != TD_ALL_COPIES) {
            *at = td_at_step(*at, &node, copy % node.extent);
            copy /= node.extent;
            continue;
        }
        size_t j = c->count++;
        for (; j > 0 && c->node[j - 1].tensor < node.tensor; j--)
            c->node[j] = c->node[j - 1];
        c->node[j] = node;
    }
    c->span[c->count] = 1;
    for (size_t i = c->count; i-- > 0;)
        c->span[i] = c->span[i + 1] + (c->node[i].extent - 1) * (uint64_t)c->node[i].tensor;
    return copy == TD_ALL_COPIES || copy == 0;
}

void td_bit_boxes(const td_plan *plan, uint64_t pitch, uint64_t first, uint64_t count, uint64_t copy, td_bit_box_fn *fn,
                  void *context)
{
    cutter c = {
        .low = (int64_t)(first * pitch), .high = (int64_t)((first + count) * pitch), .fn = fn, .context = context};
    td_at at;
    for (size_t b = 0; b < plan->data_count; b++)
        if (order_nodes(&c, plan, &plan->data[b], copy, &at))
            cut(&c, 0, at);
}

/* -- parts --------------------------------------------------------------------------------------------------------- */

/* Boxes and their nodes, while a plan grows. */
typedef struct growing {
    td_node *node;
    td_box *box;
    size_t nodes, node_room, boxes, box_room;
} growing;

typedef struct maker {
    growing bytes, bits;
    const td_plan *plan;
    uint64_t width, pitch;
    uint64_t field_bits; /* runs of so many go faster as fields of bits */
    bool failed;
} maker;

static bool grow(void **list, size_t *room, size_t needed, size_t bytes)
{
    if (needed <= *room)
        return true;
    const size_t wanted = needed > 2 * *room ? needed : 2 * *room;
    void *grown = realloc(*list, wanted * bytes);
    if (!grown)
        return false;
    *list = grown;
    *room = wanted;
    return true;
}

static void add_box(maker *m, growing *to, const td_node *node, const td_box *box)
{
    if (!grow((void **)&to->node, &to->node_room, to->nodes + box->node_count, sizeof *to->node) ||
        !grow((void **)&to->box, &to->box_room, to->boxes + 1, sizeof *to->box)) {
        m->failed = true;
        return;
    }
    memcpy(to->node + to->nodes, node, box->node_count * sizeof *node);
    to->box[to->boxes] = *box;
    to->box[to->boxes++].first_node = to->nodes;
    to->nodes += box->node_count;
}

#define FIELD_BITS 16 /* of a run of words */

/* The loop over bits that follow each other on both sides in whole bytes, where all the others step in bytes; or
 * -1. */
static int find_bytes(const td_node *node, const td_box *box, uint64_t field_bits)
{
    int run = -1;
    if (box->tensor % 8 || box->memory % 8)
        return -1;
    for (size_t i = 0; i < box->node_count; i++) {
        if (node[i].tensor == 1 && node[i].memory == 1 && node[i].extent % 8 == 0 && run < 0)
            run = (int)i;
        else if (node[i].tensor % 8 || node[i].memory % 8)
            return -1;
    }
    return run >= 0 && node[run].extent <= field_bits && box->node_count > 1 ? -1 : run;
}

void td_bit_widen(const td_plan *plan, uint64_t width, uint64_t pitch, td_node *node, td_box *box)
{
    const int64_t step = (int64_t)pitch;
    int run = -1;
    if (width != plan->geometry.width_bits || box->tensor % step || box->memory % step)
        return;
    for (size_t i = 0; i < box->node_count; i++) {
        if (run < 0 && node[i].tensor == 1 && node[i].memory == 1 && node[i].extent == width)
            run = (int)i;
        else if (node[i].tensor % step || node[i].memory % step)
            return;
    }
    if (run < 0)
        return;
    node[run].extent = pitch;
    td_box_fold(node, box, false);
}

static void sort_box(void *context, td_node *node, const td_box *from)
{
    maker *m = context;
    td_box bytes = *from, *box = &bytes;
    if (m->pitch)
        td_bit_widen(m->plan, m->width, m->pitch, node, box);
    const int run = td_bits_slices(m->plan, node, box) ? -1 : find_bytes(node, box, m->field_bits);
    if (run < 0) {
        add_box(m, &m->bits, node, box);
        return;
    }
    for (size_t i = 0; i < box->node_count; i++)
        if ((int)i == run) {
            node[i].extent /= 8;
            node[i].memory = 8;
        } else
            node[i].tensor /= 8;
    bytes.tensor /= 8;
    add_box(m, &m->bytes, node, &bytes);
}

/* The plan takes over what has grown. */
static void take(td_plan *plan, const td_plan *of, growing *from, const char *dtype, uint64_t elems)
{
    *plan = (td_plan){.geometry = of->geometry,
                      .beats = of->beats,
                      .node = from->node,
                      .node_count = from->nodes,
                      .data = from->box,
                      .data_count = from->boxes,
                      .table = of->table,
                      .elems = elems};
    (void)td_dtype_parse(dtype, &plan->tensor_dtype);
    plan->memory_dtype = plan->tensor_dtype;
    plan->cell_bits = plan->memory_dtype.bits;
}

void td_bit_part_destroy(td_bit_part **part)
{
    if (!*part)
        return;
    td_moves_free(&(*part)->bytes);
    free((*part)->bytes.node);
    free((*part)->bytes.data);
    free((*part)->bits.node);
    free((*part)->bits.data);
    free(*part);
    *part = NULL;
}

/* The boxes that it has sorted become the two plans. */
static td_status finish(maker *m, uint64_t bytes, td_bit_part *part)
{
    take(&part->bytes, m->plan, &m->bytes, "u8", bytes);
    take(&part->bits, m->plan, &m->bits, "u1", 8 * bytes);
    if (m->failed)
        return td_fail_alloc(2 * m->bits.node_room * sizeof(td_node));
    return part->bytes.data_count ? td_moves_create(&part->bytes) : TD_OK;
}

td_status td_bit_part_make(const td_plan *plan, const td_bit_source *boxes, uint64_t bytes, td_bit_part **out)
{
    maker m = {.plan = plan};
    td_bit_part *part = calloc(1, sizeof *part);
    if (!part)
        return td_fail_alloc(sizeof *part);
    boxes->find(boxes->context, sort_box, &m);
    const td_status status = finish(&m, bytes, part);
    if (status)
        td_bit_part_destroy(&part);
    else
        *out = part;
    return status;
}

td_status td_bit_part_create(const td_plan *plan, uint64_t width, uint64_t pitch, uint64_t first, uint64_t count,
                             uint64_t copy, td_bit_part **out)
{
    maker m = {.plan = plan, .width = width, .pitch = pitch, .field_bits = FIELD_BITS};
    td_bit_part *part = calloc(1, sizeof *part);
    if (!part)
        return td_fail_alloc(sizeof *part);
    td_bit_boxes(plan, pitch, first, count, copy, sort_box, &m);
    part->first = first;
    part->count = count;
    part->copy = copy;
    const td_status status = finish(&m, count * (pitch / 8), part);
    if (status)
        td_bit_part_destroy(&part);
    else
        *out = part;
    return status;
}
