/* The walker over boxes: it answers which elements, which words and which runs a plan has. It reads a plan and nothing
 * else, so exec, backdoor, compare, design and show all use it. A walk is a loop in the caller, not a callback:
 *
 *     td_walk w;
 *     for (td_walk_rows(&w, plan, box); w.more; td_walk_next(&w))
 *         ... w.at, w.row ...
 *
 * The body of that loop should serve a whole row, not one element. Kernels have loops of their own (move.h), so a plan
 * with one box and a move never comes here. */
#ifndef TD_WALK_H
#define TD_WALK_H

#include "plan/plan.h"

#define TD_WALK_NODES (TD_MAX_AXES + TD_MAX_RANK + 1) /* no box has more */

/* A place on the way through a box, as in plan.h: the element, the bit above the ground, and what selects the ground.
 */
typedef struct td_at {
    int64_t tensor, memory, select;
} td_at;

typedef struct td_walk {
    td_at at;  /* this step */
    bool more; /* false after the last step */
    size_t count;
    const td_node *node;
    const td_node *row; /* td_walk_rows: the innermost node, which the caller's loop runs along */
    uint64_t done[TD_WALK_NODES];
} td_walk;

/* Every step of `count` nodes, the last the fastest, from `at` on; one step where there are no nodes. */
static inline void td_walk_begin(td_walk *w, const td_node *node, size_t count, td_at at)
{
    w->at = at;
    w->more = true;
    w->count = count;
    w->node = node;
    for (size_t i = 0; i < count; i++)
        w->done[i] = 0;
}

static inline void td_walk_next(td_walk *w)
{
    for (size_t i = w->count; i-- > 0;) {
        const td_node *node = &w->node[i];
        if (++w->done[i] < node->extent) {
            w->at.tensor += node->tensor;
            w->at.memory += node->memory;
            w->at.select += node->select;
            return;
        }
        const int64_t back = (int64_t)node->extent - 1;
        w->done[i] = 0;
        w->at.tensor -= node->tensor * back;
        w->at.memory -= node->memory * back;
        w->at.select -= node->select * back;
    }
    w->more = false;
}

/* Step `i` of one node away. */
static inline td_at td_at_step(td_at at, const td_node *node, uint64_t i)
{
    at.tensor += node->tensor * (int64_t)i;
    at.memory += node->memory * (int64_t)i;
    at.select += node->select * (int64_t)i;
    return at;
}

static inline td_at td_box_at(const td_box *box)
{
    return (td_at){.tensor = box->tensor, .memory = box->memory, .select = box->select};
}

/* The grounds of a box: every step of its selectors. The caller walks the nodes inside them. */
void td_walk_grounds(td_walk *w, const td_plan *plan, const td_box *box);

/* The rows of a box: every step of all its nodes but the innermost, which is w->row (one step where the box has
 * none). */
void td_walk_rows(td_walk *w, const td_plan *plan, const td_box *box);

/* The rows of one ground, which `at` has selected. */
void td_walk_ground_rows(td_walk *w, const td_plan *plan, const td_box *box, td_at at);

/* The ground that the bits of a place count from: the first bit of a word named by a table entry, or word 0 of a
 * bank. */
typedef struct td_ground {
    uint64_t bank, word;
} td_ground;

static inline td_ground td_ground_of(const td_plan *plan, int64_t select)
{
    if (!plan->table.entry)
        return (td_ground){.bank = (uint64_t)select};
    const uint64_t entry = td_table_get(&plan->table, (uint64_t)select);
    return (td_ground){.bank = entry >> plan->table.bank_shift, .word = td_table_word(&plan->table, entry)};
}

/* Its first byte, in the storage of the banks. */
static inline unsigned char *td_ground_at(const td_plan *plan, unsigned char *const *bank, int64_t select)
{
    const td_ground ground = td_ground_of(plan, select);
    return bank[ground.bank] + ground.word * plan->geometry.word_bytes;
}

/* A place in memory: the bits [lsb, msb] of a word; of an element that continues in the next word, its lowest bits. */
typedef struct td_place {
    uint64_t bank, address, lsb, msb;
} td_place;

/* The elements of the data boxes, copies counted. */
uint64_t td_plan_count(const td_plan *plan);

td_place td_place_of(const td_plan *plan, td_at at, unsigned bits);

/* The words that a load writes, in the order of the boxes, as runs: words first, first + step, ..., `count` of them.
 * A word that is written twice appears twice, except for steps of an innermost node that does not move. */
typedef struct td_word_walk {
    uint64_t bank, first, count;
    int64_t step; /* never 0 */
    bool more;
    const td_plan *plan;
    size_t box;
    td_walk walk;
} td_word_walk;

void td_walk_words(td_word_walk *w, const td_plan *plan);
void td_walk_next_words(td_word_walk *w);

/* The same words ascending and merged, each once; free *out. Fails only with TD_NO_MEMORY. */
td_status td_plan_spans(const td_plan *plan, td_span **out, size_t *count);

#endif
