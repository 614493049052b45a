/* Runs the boxes of a plan (exec.h): each through the kernel that was chosen for it, over threads where it is large
 * enough; where no kernel fits, the plain walker (plain.h). Called by backdoor/tensors.c, backdoor/x_elems.c and
 * compare/slab.c. Nothing here fails. */
#include "exec/exec.h"

#include "base/pool.h"
#include "base/profile.h"
#include "exec/bit_rows.h"
#include "exec/fill.h"
#include "exec/gather.h"
#include "exec/plain.h"
#include "exec/run_staged.h"
#include "kernels/bits.h"
#include "kernels/gather.h"
#include "plan/move.h"
#include "plan/passes.h"

#include <string.h>

/* The part of each box that lies in word `at` (its coordinates on the selector axes), if any. */
static void run_word(const td_run *run, const td_box *boxes, size_t count, const uint64_t *at, td_row *row)
{
    for (size_t b = 0; b < count; b++) {
        const td_box *box = &boxes[b];
        const td_node *node = run->plan->node + box->first_node;
        td_at from = td_box_at(box);
        bool in = true;
        for (size_t i = 0; i < box->selectors && in; i++) {
            in = at[i] >= node[i].start && at[i] < node[i].start + node[i].extent;
            from = td_at_step(from, &node[i], at[i] - node[i].start);
        }
        td_walk w;
        if (in)
            for (td_walk_ground_rows(&w, run->plan, box, from); w.more; td_walk_next(&w))
                row(run, box, w.row, w.at);
    }
}

/* alias=last: word by word in the order of the pattern, each whole before the next, so that the later word wins. */
static void load_in_order(const td_run *run)
{
    const td_plan *plan = run->plan;
    const size_t axes = plan->words_count ? plan->words[0].selectors : 0;
    uint64_t size[TD_WALK_NODES] = {0}, at[TD_WALK_NODES] = {0};
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

/* This run takes the box's move; else its bit rows. */
static bool takes_move(const td_run *run, const td_move *move)
{
    return move->kind != TD_MOVE_NONE && (!run->convert || td_move_converts(move, run->convert));
}

/* What a box has on one ground; `one_thread` keeps it on the calling thread. */
static void move_ground(const td_run *run, size_t b, bool dump, bool one_thread, td_at at)
{
    const td_plan *plan = run->plan;
    const td_move *move = &plan->move[2 * b + dump];
    unsigned char *ground = td_ground_at(run->plan, run->bank, at.select), *place = ground + at.memory / 8,
                  *elems = run->tensor + at.tensor * plan->tensor_dtype.bytes;
    const td_move_values values = {.convert = run->convert, .tensor = run->tensor};
    if (!takes_move(run, move))
        td_rows_run(&plan->rows[b], run, dump, one_thread, ground, at.memory, at.tensor);
    else
        td_move_run(move, run->convert ? &values : NULL, one_thread, dump ? elems : place, dump ? place : elems);
}

/* Every ground that `count` selectors of a box reach from `at`. */
static void move_grounds(const td_run *run, size_t b, bool dump, bool one_thread, const td_node *node, size_t count,
                         td_at at)
{
    td_walk w;
    for (td_walk_begin(&w, node, count, at); w.more; td_walk_next(&w))
        move_ground(run, b, dump, one_thread, w.at);
}

/* Steps of the outermost selector that threads share: different words, so different bytes. */
typedef struct shared_steps {
    const td_run *run;
    size_t box;
    bool dump;
    unsigned parts;
} shared_steps;

static void run_steps(void *context, unsigned begin, unsigned end)
{
    const shared_steps *s = context;
    const td_box *box = &s->run->plan->data[s->box];
    const td_node *node = &s->run->plan->node[box->first_node];
    const uint64_t first = node->extent * begin / s->parts, last = node->extent * end / s->parts;
    td_node part = *node;
    part.extent = last - first;
    if (box->selectors == 1)
        move_grounds(s->run, s->box, s->dump, true, &part, 1, td_at_step(td_box_at(box), node, first));
    else
        for (uint64_t i = first; i < last; i++)
            move_grounds(s->run, s->box, s->dump, true, node + 1, box->selectors - 1,
                         td_at_step(td_box_at(box), node, i));
}

static void move_box(const td_run *run, size_t b, bool dump)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->data[b];
    const td_node *node = &plan->node[box->first_node];
    shared_steps s = {.run = run, .box = b, .dump = dump, .parts = 1};
    if (!box->selectors) {
        move_ground(run, b, dump, false, (td_at){box->tensor, box->memory, box->select});
        return;
    }
    if (!run->convert && plan->gather[2 * b + dump].bytes) {
        td_gather_run(run, &plan->gather[2 * b + dump], dump, td_box_at(box));
        return;
    }
    if (!plan->slides && !plan->skewed && node->tensor)
        s.parts = td_pool_parts(plan->elems * plan->tensor_dtype.bytes, node->extent);
    if (s.parts > 1)
        td_pool_run(s.parts, run_steps, &s);
    else
        move_grounds(run, b, dump, false, node, box->selectors, td_box_at(box));
}

static void move_one(const td_run *run, size_t b, bool dump)
{
    const td_plan *plan = run->plan;
    const td_stage *stage = run->loose ? NULL : td_stage_of(plan, b, dump);
    if (stage)
        td_stage_run(stage, run, &plan->data[b], dump);
    else if (plan->rows[b].way == TD_ROWS_NONE)
        td_plain_run(run, &plan->data[b], 1, dump ? td_dump_row : td_load_row);
    else
        move_box(run, b, dump);
}

/* The step of a box in the profile is called after its path. */
static void move_profiled(const td_run *run, size_t b, bool dump)
{
    static const char *const name[TD_PATHS] = {"move contiguous", "move transposed", "move interleaved",
                                               "move gathered",   "move packed",     "move converted",
                                               "move plain",      "move staged"};
    TD_LIGHT_STEP(step, name[td_path_of(run->plan, b, dump, run->convert != NULL)]);
    td_profile_step_bytes(step, td_path_bytes(run->plan, b));
    move_one(run, b, dump);
}

/* The data boxes; boxes in pieces go through the plain walker. */
static void move_all(const td_run *run, bool dump)
{
    const bool profiled = td_profile_runs() && !run->inner;
    for (size_t b = 0; b < run->plan->data_count; b++)
        if (profiled)
            move_profiled(run, b, dump);
        else
            move_one(run, b, dump);
}

/* Padding is a load of one element over and over. */
static void pad_all(const td_run *run)
{
    const td_plan *plan = run->plan;
    uint64_t value = plan->pad_bits;
    const td_run pad = {.plan = plan, .bank = run->bank, .tensor = (unsigned char *)&value};
    td_walk w;
    for (size_t b = 0; b < plan->pads_count; b++)
        if (plan->pad_rows[b].way == TD_ROWS_NONE)
            td_plain_run(run, &plan->pads[b], 1, td_pad_row);
        else
            for (td_walk_grounds(&w, plan, &plan->pads[b]); w.more; td_walk_next(&w))
                td_rows_run(&plan->pad_rows[b], &pad, false, true, td_ground_at(run->plan, run->bank, w.at.select),
                            w.at.memory, 0);
}

/* The words of a fill by table: each gets the same, so the source has a step of 0. */
static void fill_table(const td_run *run, const td_box *box)
{
    const td_plan *plan = run->plan;
    const td_node *row = &plan->node[box->first_node + box->selectors - 1];
    td_gather g = {.elems = plan->fill_value,
                   .bank = run->bank,
                   .one_bank = plan->geometry.banks == 1,
                   .entry_bytes = plan->table.entry_bytes,
                   .bank_shift = plan->table.bank_shift,
                   .entry_step = row->select,
                   .word_bytes = plan->geometry.word_bytes,
                   .offset_step = row->memory / 8,
                   .bytes = plan->beats * plan->geometry.word_bytes,
                   .count = row->extent};
    td_walk w;
    for (td_walk_begin(&w, plan->node + box->first_node, box->selectors - 1, td_box_at(box)); w.more;
         td_walk_next(&w)) {
        g.entry = (const unsigned char *)plan->table.entry + w.at.select * plan->table.entry_bytes;
        g.offset = w.at.memory / 8;
        plan->fill_scatter(&g);
    }
}

/* The words of a fill, by rows of its innermost node. */
static void fill_box(const td_run *run, const td_box *box)
{
    const td_plan *plan = run->plan;
    const size_t bytes = plan->beats * plan->geometry.word_bytes;
    td_walk w;
    if (plan->fill_scatter && box->selectors && box->selectors == box->node_count) {
        fill_table(run, box);
        return;
    }
    for (td_walk_rows(&w, plan, box); w.more; td_walk_next(&w))
        td_fill_words(td_ground_at(plan, run->bank, w.at.select) + w.at.memory / 8, w.row->memory / 8, w.row->extent,
                      plan->fill_value, plan->fill_keep, bytes);
}

/* The box that writes into these words writes what else they hold, too. */
static bool fills_itself(const td_run *run, const td_fill *fill)
{
    const td_plan *plan = run->plan;
    if (fill->staged)
        return !run->loose && td_stage_of(plan, fill->data, false);
    return fill->moved && takes_move(run, &plan->move[2 * fill->data]);
}

static void fill_all(const td_run *run)
{
    const td_plan *plan = run->plan;
    for (size_t i = 0; i < plan->fill_count; i++)
        if (!fills_itself(run, &plan->fill[i]))
            fill_box(run, &plan->fill[i].box);
}

/* Nodes over words of which one goes on within the steps of the other are one: their words are the same. Gives how many
 * are left. */
static size_t join_words(td_node *node, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            const td_node *outer = &node[k];
            if (i == k || node[i].memory <= 0 || outer->memory < node[i].memory || outer->memory % node[i].memory ||
                (uint64_t)(outer->memory / node[i].memory) > node[i].extent)
                continue;
            node[i].extent += (uint64_t)(outer->memory / node[i].memory) * (outer->extent - 1);
            memmove(&node[k], &node[k + 1], (--count - k) * sizeof *node);
            return join_words(node, count);
        }
    return count;
}

/* Clears the bits outside of lanes. Where lanes have addresses of their own, many vectors write into a word, which is
 * cleared once. */
static void clear_all(const td_run *run)
{
    const td_plan *plan = run->plan;
    static const td_node single = {.extent = 1};
    for (size_t b = 0; b < plan->words_count; b++) {
        const td_box *box = &plan->words[b];
        td_node node[TD_WALK_NODES];
        size_t count = box->node_count;
        if (!plan->skewed || box->selectors || count > TD_WALK_NODES) {
            td_plain_run(run, box, 1, td_clear_row);
            continue;
        }
        memcpy(node, plan->node + box->first_node, count * sizeof *node);
        count = join_words(node, count);
        td_walk w;
        for (td_walk_begin(&w, node, count ? count - 1 : 0, td_box_at(box)); w.more; td_walk_next(&w))
            td_clear_row(run, box, count ? &node[count - 1] : &single, w.at);
    }
}

static void fill_or_pad(const td_run *run)
{
    const td_plan *plan = run->plan;
    if (!plan->fills_pads && !plan->lane_mask && !plan->pads_count)
        return;
    TD_LIGHT_STEP(step, "fill words");
    if (plan->fills_pads) {
        fill_all(run);
        return;
    }
    if (plan->lane_mask)
        clear_all(run);
    if (plan->pads_count)
        pad_all(run);
}

void td_exec_load(const td_run *run)
{
    const td_plan *plan = run->plan;
    if (plan->last) {
        td_run last = *run;
        last.plan = plan->last;
        td_exec_load(&last);
        return;
    }
    if (plan->in_order) {
        TD_LIGHT_STEP(step, "move plain");
        td_profile_step_bytes(step, plan->elems * plan->tensor_dtype.bytes);
        load_in_order(run);
        return;
    }
    if (!plan->covered)
        fill_or_pad(run);
    move_all(run, false);
}

bool td_exec_moves_all(const td_plan *plan, const td_convert *convert)
{
    const td_run run = {.plan = plan, .convert = convert};
    bool all = !plan->last && !plan->in_order;
    for (size_t b = 0; b < plan->data_count && all; b++)
        all = takes_move(&run, &plan->move[2 * b]) && !td_stage_of(plan, b, false) && plan->rows[b].way != TD_ROWS_NONE;
    return all;
}

void td_exec_dump(const td_run *run)
{
    move_all(run, true);
}
