/* See exec.h. A box goes through the kernel that was prepared for it, over threads where it is large enough; where no kernel
 * fits, through the plain walker of walk.c. */
#include "exec/exec.h"

#include "base/pool.h"
#include "exec/bit_rows.h"
#include "exec/walk.h"
#include "kernels/bits.h"
#include "plan/move.h"

/* The part of a box that lies in word `at` (its coordinates on the selector axes), if any. */
static void run_word(const td_run *run, const td_box *boxes, size_t count, const uint64_t *at, td_row *row)
{
    for (size_t b = 0; b < count; b++) {
        const td_box *box = &boxes[b];
        const td_node *node = run->plan->node + box->first_node;
        int64_t select = box->select, memory = box->memory, tensor = box->tensor;
        bool in = true;
        for (size_t i = 0; i < box->selectors && in; i++) {
            in = at[i] >= node[i].start && at[i] < node[i].start + node[i].extent;
            const int64_t step = (int64_t)(at[i] - node[i].start);
            select += node[i].select * step;
            memory += node[i].memory * step;
            tensor += node[i].tensor * step;
        }
        if (in)
            td_walk_inner(NULL, run, box, node + box->selectors, box->node_count - box->selectors,
                          td_ground_at(run, select), memory, tensor, row);
    }
}

/* alias=last: word by word in time order, each whole before the next, so that the later word wins. */
static void load_in_order(const td_run *run)
{
    const td_plan *plan = run->plan;
    const size_t axes = plan->words_count ? plan->words[0].selectors : 0;
    uint64_t size[TD_MAX_AXES + TD_MAX_RANK + 1] = {0}, at[TD_MAX_AXES + TD_MAX_RANK + 1] = {0};
    for (size_t b = 0; b < plan->words_count; b++)
        for (size_t i = 0; i < axes; i++) {
            const td_node *node = &plan->node[plan->words[b].first_node + i];
            if (node->start + node->extent > size[i])
                size[i] = node->start + node->extent;
        }
    for (bool more = true; more;) {
        if (plan->lane_mask)
            run_word(run, plan->words, plan->words_count, at, td_clear_row);
        run_word(run, plan->pads, plan->pads_count, at, td_pad_row);
        run_word(run, plan->data, plan->data_count, at, td_load_row);
        more = false;
        for (size_t i = axes; i-- > 0 && !more;) {
            more = ++at[i] < size[i];
            if (!more)
                at[i] = 0;
        }
    }
}

/* The innermost selector loop where each step is one run: words over the table, or over banks, without a call for each. What the
 * stores could change, for all that the compiler knows, is read before them. */
static inline __attribute__((always_inline)) void gather_runs(const td_run *run, const td_node *of, bool dump,
                                                              int64_t select, int64_t memory, int64_t tensor,
                                                              size_t bytes)
{
    const td_plan *plan = run->plan;
    const td_node node = *of;
    const uint64_t *const table = plan->table;
    const size_t word_bytes = plan->geometry.word_bytes;
    unsigned char *const only = plan->geometry.banks == 1 ? run->bank[0] : NULL;
    const int64_t elem = plan->tensor_dtype.bytes;
    unsigned char *elems = run->tensor + tensor * elem;
    for (uint64_t i = 0; i < node.extent; i++) {
        const uint64_t entry = table ? table[select] : (uint64_t)select << TD_TABLE_BANK_SHIFT;
        unsigned char *place =
            (only ? only : run->bank[TD_TABLE_BANK(entry)]) + TD_TABLE_WORD(entry) * word_bytes + memory / 8;
        memcpy(dump ? elems : place, dump ? place : elems, bytes);
        select += node.select;
        memory += node.memory;
        elems += node.tensor * elem;
    }
}

#define GATHER(size)                                                                                                   \
    case size:                                                                                                         \
        gather_runs(run, node, dump, select, memory, tensor, size);                                                    \
        break;

static void gather(const td_run *run, const td_node *node, const td_move *move, bool dump, int64_t select,
                   int64_t memory, int64_t tensor)
{
    switch (move->wide) {
        GATHER(1)
        GATHER(2)
        GATHER(4)
        GATHER(8)
        GATHER(16)
        GATHER(32)
        GATHER(64)
        GATHER(128)
    default:
        gather_runs(run, node, dump, select, memory, tensor, move->wide);
    }
}

/* A step of the innermost selector loop of this box is one run of bytes. */
static bool gathers(const td_run *run, size_t b, bool dump)
{
    const td_move *move = &run->plan->move[2 * b + dump];
    return move->kind == TD_MOVE_RUNS && move->loops == 0 && move->high == 1 && !run->convert;
}

/* The selector loops of a box around its move, or its rows. */
static void move_selected(const td_run *run, size_t b, bool dump, bool alone, size_t level, int64_t select,
                          int64_t memory, int64_t tensor)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->data[b];
    if (level == box->selectors) {
        const td_move *move = &plan->move[2 * b + dump];
        unsigned char *ground = td_ground_at(run, select), *place = ground + memory / 8,
                      *elems = run->tensor + tensor * plan->tensor_dtype.bytes;
        const td_move_values values = {.convert = run->convert, .tensor = run->tensor};
        if (move->kind == TD_MOVE_NONE || (run->convert && !td_move_converts(move, run->convert)))
            td_rows_run(&plan->rows[b], run, dump, alone, ground, memory, tensor);
        else
            td_move_run(move, run->convert ? &values : NULL, alone, dump ? elems : place, dump ? place : elems);
        return;
    }
    const td_node *node = &plan->node[box->first_node + level];
    if (level + 1 == box->selectors && gathers(run, b, dump)) {
        gather(run, node, &plan->move[2 * b + dump], dump, select, memory, tensor);
        return;
    }
    for (uint64_t i = 0; i < node->extent; i++) {
        move_selected(run, b, dump, alone, level + 1, select, memory, tensor);
        select += node->select;
        memory += node->memory;
        tensor += node->tensor;
    }
}

/* Steps of the outermost selector loop that threads share: different words, so different bytes. */
typedef struct shared_steps {
    const td_run *run;
    size_t box;
    bool dump;
    unsigned pieces;
} shared_steps;

static void run_steps(void *context, unsigned begin, unsigned end)
{
    const shared_steps *s = context;
    const td_plan *plan = s->run->plan;
    const td_box *box = &plan->data[s->box];
    const td_node *node = &plan->node[box->first_node];
    const uint64_t first = node->extent * begin / s->pieces, last = node->extent * end / s->pieces;
    if (box->selectors == 1 && gathers(s->run, s->box, s->dump)) {
        td_node part = *node;
        const int64_t i = (int64_t)first;
        part.extent = last - first;
        gather(s->run, &part, &plan->move[2 * s->box + s->dump], s->dump, box->select + i * node->select,
               box->memory + i * node->memory, box->tensor + i * node->tensor);
        return;
    }
    for (int64_t i = (int64_t)first; i < (int64_t)last; i++)
        move_selected(s->run, s->box, s->dump, true, 1, box->select + i * node->select, box->memory + i * node->memory,
                      box->tensor + i * node->tensor);
}

static void move_box(const td_run *run, size_t b, bool dump)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->data[b];
    shared_steps s = {.run = run, .box = b, .dump = dump, .pieces = 1};
    if (box->selectors && !plan->slides && plan->node[box->first_node].tensor)
        s.pieces = td_pool_pieces(plan->elems * plan->tensor_dtype.bytes, plan->node[box->first_node].extent);
    if (s.pieces > 1)
        td_pool_run(s.pieces, run_steps, &s);
    else
        move_selected(run, b, dump, false, 0, box->select, box->memory, box->tensor);
}

/* The data boxes; those in pieces go step by step. */
static void move_all(const td_run *run, bool dump)
{
    const td_plan *plan = run->plan;
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_box *box = &plan->data[b];
        if (plan->rows[b].way == TD_ROWS_NONE)
            td_walk_all(NULL, run, box, 1, dump ? td_dump_row : td_load_row);
        else
            move_box(run, b, dump);
    }
}

/* Padding is a load of one element, again and again. */
static void pad_selected(const td_run *run, size_t b, size_t level, int64_t select, int64_t memory)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->pads[b];
    if (level == box->selectors) {
        td_rows_run(&plan->pad_rows[b], run, false, true, td_ground_at(run, select), memory, 0);
        return;
    }
    const td_node *node = &plan->node[box->first_node + level];
    for (uint64_t i = 0; i < node->extent; i++, select += node->select, memory += node->memory)
        pad_selected(run, b, level + 1, select, memory);
}

static void pad_all(const td_run *run)
{
    const td_plan *plan = run->plan;
    uint64_t value = plan->pad_bits;
    td_run pad = {.plan = plan, .bank = run->bank, .tensor = (unsigned char *)&value};
    for (size_t b = 0; b < plan->pads_count; b++) {
        const td_box *box = &plan->pads[b];
        if (plan->pad_rows[b].way == TD_ROWS_NONE)
            td_walk_all(NULL, run, box, 1, td_pad_row);
        else
            pad_selected(&pad, b, 0, box->select, box->memory);
    }
}

void td_exec_load(const td_run *run)
{
    const td_plan *plan = run->plan;
    if (plan->in_order) {
        load_in_order(run);
        return;
    }
    if (plan->lane_mask)
        td_walk_all(NULL, run, plan->words, plan->words_count, td_clear_row);
    pad_all(run);
    move_all(run, false);
}

void td_exec_dump(const td_run *run)
{
    move_all(run, true);
}
