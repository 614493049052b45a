/* Says which path through exec each box takes, for the counters of exec/paths.c: the last pass of a compilation. It
 * decides nothing; it repeats what exec.c will do with the moves and rows that were chosen. */
#include "plan/passes.h"

#include <string.h>

td_path td_path_of(const td_plan *plan, size_t b, bool dump, bool converts)
{
    static const uint8_t of_kind[] = {[TD_MOVE_NONE] = TD_PATH_PACKED,
                                      [TD_MOVE_RUNS] = TD_PATH_CONTIGUOUS,
                                      [TD_MOVE_TRANSPOSE] = TD_PATH_TRANSPOSED,
                                      [TD_MOVE_INTERLEAVE] = TD_PATH_INTERLEAVED,
                                      [TD_MOVE_DEINTERLEAVE] = TD_PATH_INTERLEAVED,
                                      [TD_MOVE_PICKS] = TD_PATH_TRANSPOSED,
                                      [TD_MOVE_SHUFFLE] = TD_PATH_INTERLEAVED,
                                      [TD_MOVE_FOLD] = TD_PATH_TRANSPOSED};
    const unsigned kind = plan->move[2 * b + dump].kind;
    const bool staged = plan->stage && plan->stage[2 * b + dump];
    if ((plan->in_order && !dump) || (plan->rows[b].way == TD_ROWS_NONE && !staged))
        return TD_PATH_PLAIN;
    if (converts)
        return TD_PATH_CONVERTED;
    if (staged)
        return TD_PATH_STAGED;
    return plan->table.entry && kind != TD_MOVE_NONE ? TD_PATH_GATHERED : of_kind[kind];
}

/* Copies of a repeat count once. */
static uint64_t elems_of(const td_plan *plan, const td_box *box)
{
    uint64_t elems = box->piece_count ? 0 : 1;
    for (size_t k = 0; k < box->piece_count; k++)
        elems += plan->piece[box->first_piece + k].elem_bit == 0;
    for (size_t i = 0; i < box->node_count; i++)
        elems *= plan->node[box->first_node + i].tensor ? plan->node[box->first_node + i].extent : 1;
    return elems;
}

uint64_t td_path_bytes(const td_plan *plan, size_t b)
{
    return elems_of(plan, &plan->data[b]) * plan->tensor_dtype.bytes;
}

void td_path_find(td_plan *plan)
{
    memset(plan->path_use, 0, sizeof plan->path_use);
    for (size_t b = 0; b < plan->data_count; b++) {
        const uint64_t bytes = td_path_bytes(plan, b);
        for (int dump = 0; dump < 2; dump++)
            for (int converts = 0; converts < 2; converts++) {
                const td_path path = td_path_of(plan, b, dump, converts);
                plan->path_use[dump][converts].set |= 1u << path;
                plan->path_use[dump][converts].bytes[path] += bytes;
            }
    }
}
