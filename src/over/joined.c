/* Joins two plans (joined.h). A box of the organisation is a system of digits: the number of a bit of the memory, minus
 * where the box begins, is the sum of digits times the strides of its loops, and the place of the bit is linear in the
 * digits. A loop of the tensor's box adds the same to the digits at every step, as long as no digit overflows. So each
 * loop is cut where one would: into a loop up to there and one over the rest where that goes up, and into two boxes
 * where it does not. What is left is linear from the tensor to the arrays, and a box like any other. */
#include "over/joined.h"

#include "base/pool.h"
#include "exec/exec.h"
#include "kernels/move.h"
#include "plan/move.h"
#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BOXES 64
#define LEAST_ROWS 32 /* of slices: fewer go faster in blocks */
#define LEAST_SELECT                                                                                                   \
    ((int64_t)4 * 512) /* bits of the tensor from array to array: fewer share lines, and are read often */

td_join_when td_join_plans = TD_JOIN_FAST;

/* A loop of the organisation. */
typedef struct digit {
    uint64_t extent;
    int64_t unit; /* bits of the memory */
    int64_t memory, select;
} digit;

typedef struct joiner {
    digit digit[TD_WALK_NODES]; /* the largest first */
    size_t digits;
    int64_t first;               /* the bit of the memory whose digits are all 0, */
    td_at at;                    /* and its place */
    td_node copy[TD_WALK_NODES]; /* loops over copies */
    size_t copies, boxes;
    td_bit_box_fn *fn;
    void *to;
} joiner;

/* -- digits -------------------------------------------------------------------------------------------------------- */

/* Loops that go forward, and one inside the step of the next. */
static bool find_digits(joiner *j, const td_plan *organisation, const td_box *box)
{
    uint64_t span = 1;
    j->at = td_box_at(box);
    j->digits = j->copies = 0;
    for (size_t i = 0; i < box->node_count; i++) {
        td_node node = organisation->node[box->first_node + i];
        if (node.tensor < 0) {
            j->at = td_at_step(j->at, &node, node.extent - 1);
            node.tensor = -node.tensor;
            node.memory = -node.memory;
            node.select = -node.select;
        }
        if (!node.tensor) {
            j->copy[j->copies++] = node;
            continue;
        }
        size_t at = j->digits++;
        for (; at > 0 && j->digit[at - 1].unit < node.tensor; at--)
            j->digit[at] = j->digit[at - 1];
        j->digit[at] = (digit){node.extent, node.tensor, node.memory, node.select};
    }
    j->first = j->at.tensor;
    for (size_t d = j->digits; d-- > 0;) {
        if ((uint64_t)j->digit[d].unit < span)
            return false;
        span += (j->digit[d].extent - 1) * (uint64_t)j->digit[d].unit;
    }
    return true;
}

/* A number of bits in digits, which may be too large; false where some bits are left. */
static bool to_digits(const joiner *j, int64_t bits, uint64_t *out)
{
    if (bits < 0)
        return false;
    for (size_t d = 0; d < j->digits; d++) {
        out[d] = (uint64_t)(bits / j->digit[d].unit);
        bits %= j->digit[d].unit;
    }
    return bits == 0;
}

static bool fits(const joiner *j, const uint64_t *value)
{
    for (size_t d = 0; d < j->digits; d++)
        if (value[d] >= j->digit[d].extent)
            return false;
    return true;
}

static td_at place_of(const joiner *j, const uint64_t *value)
{
    td_at at = {0};
    for (size_t d = 0; d < j->digits; d++) {
        at.memory += (int64_t)value[d] * j->digit[d].memory;
        at.select += (int64_t)value[d] * j->digit[d].select;
    }
    return at;
}

/* How many steps no digit overflows, and which one would next. */
static uint64_t steps_of(const joiner *j, const uint64_t *used, const uint64_t *step, size_t *tight)
{
    uint64_t least = UINT64_MAX;
    for (size_t d = 0; d < j->digits; d++) {
        const uint64_t steps = step[d] ? (j->digit[d].extent - 1 - used[d]) / step[d] + 1 : UINT64_MAX;
        if (steps < least) {
            least = steps;
            *tight = d;
        }
    }
    return least;
}

/* -- boxes --------------------------------------------------------------------------------------------------------- */

/* A box of the tensor in bits, the smallest stride first. */
typedef struct source {
    td_node node[TD_WALK_NODES + 1];
    size_t count;
    td_at at;
} source;

typedef struct target {
    td_node node[2 * TD_WALK_NODES];
    size_t count;
    uint64_t first[TD_WALK_NODES], used[TD_WALK_NODES]; /* digits of the first bit, and of the last so far */
} target;

static bool join_box(joiner *j, const source *s);

/* The first `steps` of a loop, and the rest of them. */
static bool join_cut(joiner *j, const source *s, size_t loop, uint64_t steps)
{
    source head = *s, tail = *s;
    if (++j->boxes > MOST_BOXES)
        return false;
    head.node[loop].extent = steps;
    tail.node[loop].extent -= steps;
    tail.at = td_at_step(s->at, &s->node[loop], steps);
    return join_box(j, &head) && join_box(j, &tail);
}

/* Adds a loop of the tensor to the target. *cut: the steps after which the box has to be cut, or 0. */
static bool add_loop(const joiner *j, td_node node, target *t, uint64_t *cut)
{
    uint64_t step[TD_WALK_NODES], factor = 1;
    *cut = 0;
    while (node.extent > 1) {
        size_t tight = 0;
        if (t->count == 2 * TD_WALK_NODES - j->copies || !to_digits(j, node.memory, step))
            return false;
        const uint64_t most = steps_of(j, t->used, step, &tight), all = node.extent;
        const bool goes_up = most > 1 && t->first[tight] == 0 && most < all;
        if (goes_up ? all % most != 0 : most < all) {
            *cut = (goes_up ? all / most * most : most) * factor;
            return true;
        }
        const td_at place = place_of(j, step);
        td_node *out = &t->node[t->count++];
        *out = (td_node){
            .extent = goes_up ? most : all, .tensor = node.tensor, .memory = place.memory, .select = place.select};
        for (size_t d = 0; d < j->digits; d++)
            t->used[d] += (out->extent - 1) * step[d];
        factor *= out->extent;
        node.extent = all / out->extent;
        node.tensor *= (int64_t)out->extent;
        node.memory *= (int64_t)out->extent;
    }
    return true;
}

static bool join_box(joiner *j, const source *s)
{
    target t = {.count = 0};
    if (!to_digits(j, s->at.memory - j->first, t.first) || !fits(j, t.first))
        return false;
    memcpy(t.used, t.first, sizeof t.used);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t cut = 0;
        if (!add_loop(j, s->node[i], &t, &cut))
            return false;
        if (cut)
            return join_cut(j, s, i, cut);
    }
    memcpy(t.node + t.count, j->copy, j->copies * sizeof *j->copy);
    const td_at place = place_of(j, t.first);
    td_box box = {.node_count = t.count + j->copies,
                  .tensor = s->at.tensor,
                  .memory = j->at.memory + place.memory,
                  .select = j->at.select + place.select};
    if (box.node_count > TD_WALK_NODES)
        return false;
    td_box_fold(t.node, &box, false);
    j->fn(j->to, t.node, &box);
    return true;
}

static bool read_box(const td_plan *plan, const td_box *box, source *s)
{
    const int64_t elem_bits = (int64_t)plan->tensor_dtype.bits;
    s->count = 1;
    s->node[0] = (td_node){.extent = (uint64_t)elem_bits, .tensor = 1, .memory = 1};
    s->at = (td_at){.tensor = box->tensor * elem_bits, .memory = box->memory};
    if (box->selectors || box->piece_count || box->node_count > TD_WALK_NODES)
        return false;
    for (size_t i = box->node_count; i-- > 0;) {
        const td_node *node = &plan->node[box->first_node + i];
        td_node *last = &s->node[s->count - 1];
        const int64_t tensor = node->tensor * elem_bits, steps = (int64_t)last->extent;
        if (node->memory <= 0)
            return false;
        if (tensor == last->tensor * steps && node->memory == last->memory * steps)
            last->extent *= node->extent;
        else
            s->node[s->count++] = (td_node){.extent = node->extent, .tensor = tensor, .memory = node->memory};
    }
    return true;
}

/* -- both plans ---------------------------------------------------------------------------------------------------- */

struct td_joined {
    const td_plan *organisation;
    td_bit_part *part;
    bool back, failed;
    const td_plan *plan; /* while it is made */
};

/* Every box of the tensor lies in one box of the organisation. */
static void find_boxes(void *context, td_bit_box_fn *fn, void *to)
{
    td_joined *joined = context;
    joiner j = {.fn = fn, .to = to};
    source s;
    for (size_t b = 0; b < joined->plan->data_count && !joined->failed; b++) {
        bool found = false;
        if (!read_box(joined->plan, &joined->plan->data[b], &s)) {
            joined->failed = true;
            return;
        }
        for (size_t o = 0; o < joined->organisation->data_count && !found; o++)
            found = find_digits(&j, joined->organisation, &joined->organisation->data[o]) &&
                    (!j.copies || !joined->back) && join_box(&j, &s);
        joined->failed = !found;
    }
}

/* A box of slices has rows enough. */
static bool slices_are_long(const td_plan *plan, const td_box *box)
{
    uint64_t most = 0;
    const td_node *node = plan->node + box->first_node;
    for (size_t i = 0; i < box->node_count; i++)
        most = !node[i].select && node[i].extent > most && node[i].tensor != 1 ? node[i].extent : most;
    return td_bits_slices(plan, node, box) && most >= LEAST_ROWS;
}

/* A box of bytes goes from array to array in long steps, and has a move of its own. */
static bool bytes_are_fast(const td_plan *plan, size_t b, bool back)
{
    const td_box *box = &plan->data[b];
    for (size_t i = 0; i < box->node_count; i++) {
        const td_node *node = &plan->node[box->first_node + i];
        const int64_t step = node->tensor < 0 ? -node->tensor : node->tensor;
        if (node->select && (node->memory || 8 * step < LEAST_SELECT))
            return false;
    }
    return plan->move[2 * b + (back ? 1 : 0)].kind != TD_MOVE_NONE;
}

static bool is_fast(const td_joined *joined)
{
    const td_bit_part *part = joined->part;
    bool fast = true;
    for (size_t b = 0; b < part->bits.data_count && fast; b++)
        fast = slices_are_long(&part->bits, &part->bits.data[b]);
    for (size_t b = 0; b < part->bytes.data_count && fast; b++)
        fast = bytes_are_fast(&part->bytes, b, joined->back);
    return fast;
}

td_joined *td_joined_create(const td_plan *plan, const td_plan *organisation, bool back)
{
    td_joined *joined = calloc(1, sizeof *joined);
    if (!joined)
        return NULL;
    joined->organisation = organisation;
    joined->plan = plan;
    joined->back = back;
    const td_bit_source boxes = {find_boxes, joined};
    if (td_join_plans == TD_JOIN_NEVER ||
        td_bit_part_make(organisation, &boxes, plan->elems * plan->tensor_dtype.bytes, &joined->part) ||
        joined->failed || !(td_join_plans == TD_JOIN_ALWAYS || is_fast(joined)))
        td_joined_destroy(&joined);
    return joined;
}

void td_joined_destroy(td_joined **joined)
{
    if (!*joined)
        return;
    td_bit_part_destroy(&(*joined)->part);
    free(*joined);
    *joined = NULL;
}

/* -- running it ---------------------------------------------------------------------------------------------------- */

/* A box of bits that threads share: each has some steps of the longest loop. */
typedef struct job {
    const td_joined *joined;
    const td_box *box;
    const td_bits_sides *sides;
    size_t loop;
    unsigned pieces;
} job;

static void run_pieces(void *context, unsigned begin, unsigned end)
{
    const job *j = context;
    const td_plan *plan = &j->joined->part->bits;
    td_node node[TD_WALK_NODES];
    td_box box = *j->box;
    memcpy(node, plan->node + box.first_node, box.node_count * sizeof *node);
    const uint64_t all = node[j->loop].extent, first = all * begin / j->pieces, last = all * end / j->pieces;
    const td_at at = td_at_step(td_box_at(&box), &node[j->loop], first);
    box.tensor = at.tensor;
    box.memory = at.memory;
    node[j->loop].extent = last - first;
    td_bits_move(j->joined->organisation, node, &box, j->sides);
}

static void run_bits(const td_joined *joined, const td_box *box, const td_bits_sides *sides)
{
    const td_node *node = joined->part->bits.node + box->first_node;
    job j = {joined, box, sides, 0, 1};
    uint64_t bits = 1;
    for (size_t i = 0; i < box->node_count; i++) {
        bits *= node[i].extent;
        if (!node[i].select && (node[j.loop].select || node[i].extent > node[j.loop].extent))
            j.loop = i;
    }
    if (node[j.loop].tensor % 8 == 0 && node[j.loop].memory % 8 == 0)
        j.pieces = td_pool_parts(bits / 8, node[j.loop].extent / LEAST_ROWS + 1);
    td_pool_run(j.pieces, run_pieces, &j);
}

void td_joined_run(const td_joined *joined, unsigned char *tensor, unsigned char *const *array, bool stream)
{
    const td_bit_part *part = joined->part;
    const td_run bytes = {.plan = &part->bytes, .bank = array, .tensor = tensor, .inner = true};
    if (part->bytes.data_count && joined->back)
        td_exec_dump(&bytes);
    else if (part->bytes.data_count)
        td_exec_load(&bytes);
    for (size_t b = 0; b < part->bits.data_count; b++)
        run_bits(joined, &part->bits.data[b], &(td_bits_sides){tensor, array, joined->back, stream});
    if (stream)
        td_move_fence();
}
