/* Checks a memory before anything is written: values that the conversion refuses, copies that differ.
 * backdoor/tensors.c and compare/compare.c call it through exec.h. */
#include "exec/plain.h"
#include "kernels/bits.h"

/* -- values that cannot be converted ------------------------------------------------------------------------------- */

static td_status check_whole_row(const td_run *run, const td_node *row, td_at at)
{
    const unsigned char *ground = td_ground_at(run->plan, run->bank, at.select);
    td_convert_scratch s;
    td_status status = TD_OK;
    size_t bad = 0;
    for (uint64_t done = 0; done < row->extent && !status; done += TD_SCRATCH_ELEMS) {
        const uint64_t left = row->extent - done, count = left < TD_SCRATCH_ELEMS ? left : TD_SCRATCH_ELEMS;
        const td_at from = td_at_step(at, row, done);
        td_fetch_row(run, ground, from.memory, row->memory, s.memory, run->plan->memory_dtype.bytes, count);
        status = td_convert_check(run->convert, s.memory, count, (uint64_t)from.tensor, row->tensor, &bad);
    }
    return status;
}

static td_status check_pieces_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    const unsigned char *ground = td_ground_at(run->plan, run->bank, at.select);
    const td_piece *piece = run->plan->piece + box->first_piece;
    td_status status = TD_OK;
    size_t bad = 0;
    for (uint64_t i = 0; i < row->extent && !status; i++, at = td_at_step(at, row, 1))
        for (size_t k = 0, used = 0; k < box->piece_count && !status; k += used) {
            const uint64_t bits = td_memory_value(run, ground, at.memory, piece + k, box->piece_count - k, &used);
            const uint64_t value = td_dtype_extend(run->plan->memory_dtype, bits);
            status = td_convert_check(run->convert, &value, 1, (uint64_t)(at.tensor + piece[k].tensor), 1, &bad);
        }
    return status;
}

td_status td_exec_check(const td_run *run)
{
    td_status status = TD_OK;
    td_walk w;
    for (size_t b = 0; b < run->plan->data_count; b++) {
        const td_box *box = &run->plan->data[b];
        for (td_walk_rows(&w, run->plan, box); w.more && !status; td_walk_next(&w))
            status = box->piece_count ? check_pieces_row(run, box, w.row, w.at) : check_whole_row(run, w.row, w.at);
    }
    return status;
}

/* -- copies that differ -------------------------------------------------------------------------------------------- */

/* An element with an x or z in some copy is not compared with its other copies. */
static bool is_loose(const td_run *run, int64_t elem)
{
    const unsigned bytes = run->plan->memory_dtype.bytes;
    return run->loose && td_get_elem(run->loose + elem * bytes, bytes);
}

/* Compares the tensor with every place of every element. */
static bool equal_row(const td_run *run, const td_box *box, const td_node *row, td_at at, td_clash *clash)
{
    static const td_piece whole = {0};
    const unsigned char *ground = td_ground_at(run->plan, run->bank, at.select);
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    const td_piece *piece = box->piece_count ? run->plan->piece + box->first_piece : &whole;
    const size_t lanes = box->piece_count ? box->piece_count : 1;
    for (uint64_t i = 0; i < row->extent; i++, at = td_at_step(at, row, 1)) {
        for (size_t k = 0, used = 0; k < lanes; k += used) {
            const int64_t elem = at.tensor + piece[k].tensor;
            const size_t left = box->piece_count ? box->piece_count - k : 0;
            const uint64_t bits = td_memory_value(run, ground, at.memory, piece + k, left, &used);
            const uint64_t found = td_tensor_value(run, bits, elem);
            const uint64_t expected = td_get_elem(run->tensor + elem * bytes, bytes);
            if (found == expected || is_loose(run, elem))
                continue;
            at.memory += piece[k].memory;
            *clash = (td_clash){(uint64_t)elem, td_place_of(run->plan, at, 1), expected, found};
            return false;
        }
    }
    return true;
}

bool td_exec_equals(const td_run *run, td_clash *clash)
{
    td_walk w;
    for (size_t b = 0; b < run->plan->data_count; b++)
        for (td_walk_rows(&w, run->plan, &run->plan->data[b]); w.more; td_walk_next(&w))
            if (!equal_row(run, &run->plan->data[b], w.row, w.at, clash))
                return false;
    return true;
}

/* Compares the elements of one step at `first` with those of another copy. */
static bool copies_equal(const td_run *run, const td_box *box, td_at first, td_at other, td_clash *clash)
{
    static const td_piece whole = {0};
    const unsigned char *ground = td_ground_at(run->plan, run->bank, first.select),
                        *other_ground = td_ground_at(run->plan, run->bank, other.select);
    const td_piece *piece = box->piece_count ? run->plan->piece + box->first_piece : &whole;
    const size_t lanes = box->piece_count ? box->piece_count : 1;
    for (size_t k = 0, used = 0; k < lanes; k += used) {
        const size_t left = box->piece_count ? box->piece_count - k : 0;
        const uint64_t expected = td_memory_value(run, ground, first.memory, piece + k, left, &used);
        const uint64_t found = td_memory_value(run, other_ground, other.memory, piece + k, left, &used);
        const int64_t elem = first.tensor + piece[k].tensor;
        if (expected == found || is_loose(run, elem))
            continue;
        other.memory += piece[k].memory;
        *clash = (td_clash){(uint64_t)elem, td_place_of(run->plan, other, 1), expected, found};
        return false;
    }
    return true;
}

/* A row and its copy, with what lies between their elements, are the same bytes. Rows of far apart elements are not
 * looked at. */
static bool rows_same(const td_run *run, const td_box *box, const td_node *row, td_at first, td_at other)
{
    const int64_t span = row->memory * (int64_t)(row->extent - 1) + run->plan->memory_dtype.bits;
    if (box->piece_count || row->memory < 0 || row->memory > 16 * 8 || ((first.memory ^ other.memory) & 7))
        return false;
    const unsigned char *a = td_ground_at(run->plan, run->bank, first.select) + (first.memory >> 3),
                        *b = td_ground_at(run->plan, run->bank, other.select) + (other.memory >> 3);
    return memcmp(a, b, (size_t)(((first.memory & 7) + span + 7) >> 3)) == 0;
}

/* A box without its repeat nodes is the first copy; each other combination of their steps is one more. */
static bool box_copies_agree(const td_run *run, const td_box *box, td_clash *clash)
{
    td_node repeat[TD_WALK_NODES], node[TD_WALK_NODES];
    size_t repeats = 0, nodes = 0;
    for (size_t i = 0; i < box->node_count; i++) {
        const td_node *n = &run->plan->node[box->first_node + i];
        if (n->tensor)
            node[nodes++] = *n;
        else
            repeat[repeats++] = *n;
    }
    static const td_node single = {.extent = 1};
    const bool rows = nodes && !node[nodes - 1].select;
    const td_node *row = rows ? &node[nodes - 1] : &single;
    td_walk copy, w;
    for (td_walk_begin(&copy, repeat, repeats, (td_at){0}); copy.more; td_walk_next(&copy)) {
        if (!copy.at.select && !copy.at.memory)
            continue; /* the first itself */
        for (td_walk_begin(&w, node, nodes - rows, td_box_at(box)); w.more; td_walk_next(&w)) {
            td_at first = w.at;
            td_at other = {first.tensor, first.memory + copy.at.memory, first.select + copy.at.select};
            if (rows_same(run, box, row, first, other))
                continue;
            for (uint64_t i = 0; i < row->extent; i++) {
                if (!copies_equal(run, box, first, other, clash))
                    return false;
                first = td_at_step(first, row, 1);
                other = td_at_step(other, row, 1);
            }
        }
    }
    return true;
}

bool td_exec_copies_agree(const td_run *run, td_clash *clash)
{
    for (size_t b = 0; b < run->plan->data_count; b++)
        if (!box_copies_agree(run, &run->plan->data[b], clash))
            return false;
    return true;
}
