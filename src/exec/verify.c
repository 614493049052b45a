/* Looking at a memory before anything is written: values that cannot be converted, copies that differ. Called by backdoor.c;
 * see exec.h. */
#include "exec/walk.h"
#include "kernels/bits.h"

/* Memory values that a dump could not convert, in `error` mode. */
static bool check_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                      int64_t memory, int64_t tensor)
{
    td_status *status = context;
    const td_piece *piece = run->plan->piece + box->first_piece;
    const unsigned stored = run->plan->memory_dtype.bytes;
    td_stage s;
    size_t bad = 0;
    for (uint64_t done = 0; done < node->extent && !*status && !box->piece_count; done += TD_STAGE_ELEMS) {
        const uint64_t count = node->extent - done < TD_STAGE_ELEMS ? node->extent - done : TD_STAGE_ELEMS;
        td_fetch_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
        *status = td_convert_check(run->convert, s.memory, count, (uint64_t)(tensor + (int64_t)done * node->tensor),
                                   node->tensor, &bad);
    }
    for (uint64_t i = 0; i < node->extent && !*status; i++, memory += node->memory, tensor += node->tensor)
        for (size_t k = 0, used = 0; k < box->piece_count && !*status; k += used) {
            const uint64_t bits = td_memory_value(run, ground, memory, piece + k, box->piece_count - k, &used);
            const uint64_t value = td_dtype_extend(run->plan->memory_dtype, bits);
            *status = td_convert_check(run->convert, &value, 1, (uint64_t)(tensor + piece[k].tensor), 1, &bad);
        }
    return !*status;
}

td_status td_exec_check(const td_run *run)
{
    td_status status = TD_OK;
    td_walk_all(&status, run, run->plan->data, run->plan->data_count, check_row);
    return status;
}

static void note_place(const td_run *run, const unsigned char *ground, int64_t memory, td_clash *clash)
{
    const td_geometry *g = &run->plan->geometry;
    for (uint64_t bank = 0; bank < g->banks; bank++) {
        const unsigned char *first = run->bank[bank], *p = ground + memory / 8;
        if (p >= first && p < first + g->depth_words * g->word_bytes) {
            const uint64_t bit = (uint64_t)(ground - first) * 8 + (uint64_t)memory;
            clash->bank = bank;
            clash->word = bit / (g->word_bytes * 8);
            clash->bit = bit % (g->word_bytes * 8);
        }
    }
}

/* An element with an unknown copy is not held against the others. */
static bool is_loose(const td_run *run, int64_t elem)
{
    const unsigned bytes = run->plan->memory_dtype.bytes;
    return run->loose && td_get_elem(run->loose + elem * bytes, bytes);
}

/* The tensor, against each place of each element. */
static bool equal_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                      int64_t memory, int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    const td_piece *piece = run->plan->piece + box->first_piece;
    for (uint64_t i = 0; i < node->extent; i++, memory += node->memory, tensor += node->tensor) {
        const size_t lanes = box->piece_count ? box->piece_count : 1;
        for (size_t k = 0, used = 0; k < lanes; k += used) {
            const int64_t elem = tensor + (box->piece_count ? piece[k].tensor : 0);
            const size_t left = box->piece_count ? box->piece_count - k : 0;
            const uint64_t found =
                td_tensor_value(run, td_memory_value(run, ground, memory, piece + k, left, &used), elem);
            const uint64_t expected = td_get_elem(run->tensor + elem * bytes, bytes);
            if (found == expected || is_loose(run, elem))
                continue;
            td_clash *clash = context;
            *clash = (td_clash){.elem = (uint64_t)elem, .expected = expected, .found = found};
            note_place(run, ground, memory + (box->piece_count ? piece[k].memory : 0), clash);
            return false;
        }
    }
    return true;
}

bool td_exec_equals(const td_run *run, td_clash *clash)
{
    return td_walk_all(clash, run, run->plan->data, run->plan->data_count, equal_row);
}

/* Copies: a box without its repeat nodes is the first copy; each other combination of their steps is one more, compared
 * with the first place by place. */
typedef struct copies {
    td_clash *clash;
    int64_t select, memory; /* from the first copy to this one */
    const td_box *box;      /* the box without its repeats */
    const td_node *node;
} copies;

static bool copies_row(const copies *c, const td_run *run, int64_t select, int64_t memory, int64_t tensor)
{
    const unsigned char *first = td_ground_at(run, select), *other = td_ground_at(run, select + c->select);
    const td_piece *piece = run->plan->piece + c->box->first_piece;
    const size_t lanes = c->box->piece_count ? c->box->piece_count : 1;
    for (size_t k = 0, used = 0; k < lanes; k += used) {
        const size_t left = c->box->piece_count ? c->box->piece_count - k : 0;
        const uint64_t expected = td_memory_value(run, first, memory, piece + k, left, &used);
        const uint64_t found = td_memory_value(run, other, memory + c->memory, piece + k, left, &used);
        const int64_t elem = tensor + (left ? piece[k].tensor : 0);
        if (expected == found || is_loose(run, elem))
            continue;
        *c->clash = (td_clash){.elem = (uint64_t)elem, .expected = expected, .found = found};
        note_place(run, other, memory + c->memory + (left ? piece[k].memory : 0), c->clash);
        return false;
    }
    return true;
}

static bool walk_copies(const copies *c, const td_run *run, size_t level, int64_t select, int64_t memory,
                        int64_t tensor)
{
    if (level == c->box->node_count)
        return copies_row(c, run, select, memory, tensor);
    const td_node *node = &c->node[level];
    const uint64_t extent = node->tensor ? node->extent : 1;
    for (uint64_t i = 0; i < extent; i++) {
        if (!walk_copies(c, run, level + 1, select, memory, tensor))
            return false;
        select += node->select;
        memory += node->memory;
        tensor += node->tensor;
    }
    return true;
}

static bool each_copy(copies *c, const td_run *run, size_t level, int64_t select, int64_t memory)
{
    if (level == c->box->node_count) {
        c->select = select;
        c->memory = memory;
        return (select == 0 && memory == 0) || walk_copies(c, run, 0, c->box->select, c->box->memory, c->box->tensor);
    }
    const td_node *node = &c->node[level];
    const uint64_t extent = node->tensor ? 1 : node->extent;
    for (uint64_t i = 0; i < extent; i++) {
        if (!each_copy(c, run, level + 1, select, memory))
            return false;
        select += node->select;
        memory += node->memory;
    }
    return true;
}

bool td_exec_copies_agree(const td_run *run, td_clash *clash)
{
    for (size_t b = 0; b < run->plan->data_count; b++) {
        copies c = {
            .clash = clash, .box = &run->plan->data[b], .node = run->plan->node + run->plan->data[b].first_node};
        if (!each_copy(&c, run, 0, 0, 0))
            return false;
    }
    return true;
}
