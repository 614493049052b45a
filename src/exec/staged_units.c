/* Copies the units of a batch of a stage between their places and a scratch (staged_units.h): by strides, over
 * banks, by table, or by a list of addresses where runs are short. Called by run_staged.c. */
#include "exec/staged_units.h"

#include <string.h>

#define LISTED_RUN 48 /* units whose places are listed together with those of the runs around them */
#define LINE 64
#define LEAST_LISTED 16 /* units: fewer are done before a list is made */

/* The units of some runs between a table's places and a dense scratch. */
static void copy_by_table(const td_stage_job *j, const td_node *outer, const td_node *run, bool to_memory, td_at at,
                          unsigned char *words)
{
    const td_gather_fn fn = to_memory ? j->stage->scatter : j->stage->gather;
    td_gather g = {.elem_step = (ptrdiff_t)j->stage->code.bytes,
                   .far = j->stage->far,
                   .entry_step = run->select,
                   .offset = at.memory / 8,
                   .offset_step = run->memory / 8,
                   .bytes = j->stage->code.bytes,
                   .count = run->extent};
    g.elems = words;
    td_grounds_give(j->grounds, j->run, at.select, &g);
    const ptrdiff_t step = outer->select * g.entry_bytes;
    for (uint64_t i = outer->extent; i; i--) {
        fn(&g);
        g.elems += run->extent * g.bytes;
        g.entry = (const unsigned char *)g.entry + step;
        g.entry_at += (size_t)outer->select;
        g.offset += outer->memory / 8;
    }
}

/* Any number of bytes up to 64: two copies that overlap. */
static inline __attribute__((always_inline)) void copy_odd(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    unsigned char first[32], last[32];
#define BOTH(n)                                                                                                        \
    {                                                                                                                  \
        memcpy(first, src, n);                                                                                         \
        memcpy(last, src + bytes - (n), n);                                                                            \
        memcpy(dst, first, n);                                                                                         \
        memcpy(dst + bytes - (n), last, n);                                                                            \
        return;                                                                                                        \
    }
    if (bytes > 64)
        memcpy(dst, src, bytes);
    else if (bytes >= 32)
        BOTH(32)
    else if (bytes >= 16)
        BOTH(16)
    else if (bytes >= 8)
        BOTH(8)
    else if (bytes >= 4)
        BOTH(4)
    else if (bytes >= 2)
        BOTH(2)
    else
        *dst = *src;
#undef BOTH
}

static inline __attribute__((always_inline)) void copy_unit(unsigned char *place, unsigned char *words, bool to_memory,
                                                            size_t bytes)
{
    if (bytes & (bytes - 1))
        copy_odd(to_memory ? place : words, to_memory ? words : place, bytes);
    else
        memcpy(to_memory ? place : words, to_memory ? words : place, bytes);
}

/* The same by strides, or over banks. */
static inline __attribute__((always_inline)) void copy_run(const td_stage_job *j, const td_node *of, bool to_memory,
                                                           td_at at, unsigned char *words, size_t bytes)
{
    const td_node node = *of;
    unsigned char *place = td_stage_place(j, at);
    if (!node.select && node.extent >= TD_STAGE_SHORT_RUN && node.memory == 8 * (int64_t)bytes) {
        memcpy(to_memory ? place : words, to_memory ? words : place, node.extent * bytes);
        return;
    }
    const ptrdiff_t step = node.memory / 8;
    if (!node.select) { /* a loop of its own, in which nothing is asked */
        for (uint64_t i = node.extent; i; i--, words += bytes, place += step)
            copy_unit(place, words, to_memory, bytes);
        return;
    }
    for (uint64_t i = 0; i < node.extent; i++, words += bytes)
        copy_unit(td_stage_place(j, td_at_step(at, &node, i)), words, to_memory, bytes);
}

/* Two levels at once: many runs are shorter than a step of the walk around them. */
static inline __attribute__((always_inline)) void copy_runs(const td_stage_job *j, const td_node *outer,
                                                            const td_node *run, bool to_memory, td_at at,
                                                            unsigned char *words, size_t bytes)
{
    for (uint64_t i = 0; i < outer->extent; i++, words += run->extent * bytes)
        copy_run(j, run, to_memory, td_at_step(at, outer, i), words, bytes);
}

/* The nodes of a batch, of which the last few are listed. */
typedef struct nest {
    td_node node[TD_WALK_NODES + 1];
    size_t count, listed;
    uint64_t units; /* of the td_stage_list */
} nest;

/* As many nodes up to the run as a list takes; the next one is cut in two where equal parts of it still have room. */
static void choose_listed(const td_stage_batch *b, nest *n)
{
    const size_t count = b->count + 1;
    n->units = 1;
    n->count = count;
    n->listed = 0;
    memcpy(n->node, b->unit, count * sizeof *n->node);
    while (n->listed < count && n->node[count - 1 - n->listed].extent <= TD_STAGE_LISTED / n->units)
        n->units *= n->node[count - 1 - n->listed++].extent;
    if (n->listed == count)
        return;
    td_node *last = &n->node[count - 1 - n->listed];
    uint64_t part = TD_STAGE_LISTED / n->units;
    while (last->extent % part)
        part--;
    if (part == 1)
        return;
    memmove(last + 1, last, (n->listed + 1) * sizeof *last);
    last[1].extent = part;
    *last = (td_node){.extent = last->extent / part,
                      .tensor = last->tensor * (int64_t)part,
                      .memory = last->memory * (int64_t)part,
                      .select = last->select * (int64_t)part};
    n->count++;
    n->listed++;
    n->units *= part;
}

static bool same_nodes(const td_node *a, const td_node *b, size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++)
        same = same && a[i].extent == b[i].extent && a[i].memory == b[i].memory && a[i].select == b[i].select;
    return same;
}

static void add_ground(uintptr_t ground, td_stage_list *l)
{
    for (uint64_t u = 0; u < l->count; u++)
        l->at[u] += ground;
}

/* Inlined for each size of an entry, so that the size is a constant of the loop. */
static inline __attribute__((always_inline)) void add_entries(const td_stage_job *j, const td_table *table,
                                                              unsigned bytes, int64_t offset, td_stage_list *l)
{
    const td_table narrow = {.entry = table->entry, .entry_bytes = (uint8_t)bytes};
    const unsigned shift = table->bank_shift;
    const uint64_t mask = ~(~(uint64_t)0 << shift), word_bytes = j->run->plan->geometry.word_bytes;
    for (uint64_t u = 0; u < l->count; u++) {
        const uint64_t entry = td_table_get(&narrow, (uint64_t)l->entry[u]);
        l->at[u] += (uintptr_t)j->run->bank[entry >> shift] + (entry & mask) * word_bytes + (uintptr_t)offset;
    }
}

/* Every place has a ground of its own. */
static void add_grounds(const td_stage_job *j, int64_t offset, td_stage_list *l)
{
    const td_table *table = &j->run->plan->table;
    if (j->grounds)
        for (uint64_t u = 0; u < l->count; u++)
            l->at[u] += j->grounds->at[l->entry[u]] + (uintptr_t)offset;
    else if (!table->entry)
        for (uint64_t u = 0; u < l->count; u++)
            l->at[u] += (uintptr_t)j->run->bank[l->entry[u]] + (uintptr_t)offset;
    else if (table->entry_bytes == 2)
        add_entries(j, table, 2, offset, l);
    else if (table->entry_bytes == 4)
        add_entries(j, table, 4, offset, l);
    else
        add_entries(j, table, 8, offset, l);
}

/* Steps of one node after another: those of the nodes so far, again at each of its own. */
static void make_list(const td_stage_job *j, const td_node *node, size_t count, td_at at, td_stage_list *l)
{
    uint64_t n = 1;
    bool selects = false;
    l->select = at.select;
    l->memory = at.memory;
    l->at[0] = 0;
    l->entry[0] = at.select;
    for (size_t i = count; i-- > 0; n *= node[i].extent) {
        l->node[i] = node[i];
        selects |= node[i].select != 0;
        for (uint64_t k = 1; k < node[i].extent; k++) {
            const uintptr_t step = (uintptr_t)(node[i].memory / 8 * (int64_t)k);
            const int64_t entries = node[i].select * (int64_t)k;
            for (uint64_t u = 0; u < n; u++) {
                l->at[k * n + u] = l->at[u] + step;
                l->entry[k * n + u] = l->entry[u] + entries;
            }
        }
    }
    l->count = n;
    l->node_count = count;
    if (selects)
        add_grounds(j, at.memory / 8, l);
    else
        add_ground((uintptr_t)td_stage_place(j, at), l);
}

/* The batches of a stage have the same list: what selects their grounds is all in it. */
static bool keeps_list(const td_stage *s, const nest *n)
{
    bool same = true;
    for (size_t i = 0; i < n->count - n->listed; i++)
        same = same && !n->node[i].select;
    for (size_t i = 0; i < s->unit_count; i++)
        same = same && (!s->unit[i].select || s->chunk[i] == s->unit[i].extent);
    return same;
}

/* Runs that are too short to go one by one; false where lists would be as short. */
static bool copy_by_list(const td_stage_job *j, const td_stage_batch *b, bool to_memory, unsigned char *words,
                         td_stage_list *l)
{
    const td_node *inner = &b->unit[b->count];
    const uint64_t run = inner->extent;
    const size_t bytes = j->stage->code.bytes;
    const bool is_copy = !inner->select && inner->memory == 8 * (int64_t)bytes && run * bytes >= 2 * LINE;
    nest n;
    if (run >= LISTED_RUN || b->units == run || is_copy)
        return false;
    choose_listed(b, &n);
    if (n.units < LEAST_LISTED || (run >= TD_STAGE_SHORT_RUN && !keeps_list(j->stage, &n)))
        return false;
    const td_node *node = &n.node[n.count - n.listed];
    td_gather g = {.elem_step = (ptrdiff_t)bytes,
                   .far = j->stage->far,
                   .entry_bytes = sizeof l->at[0],
                   .entry = l->at,
                   .entry_step = 1,
                   .bytes = bytes,
                   .count = n.units};
    td_walk w;
    for (td_walk_begin(&w, n.node, n.count - n.listed, b->at); w.more; td_walk_next(&w)) {
        if (!l->count || l->select != w.at.select || l->node_count != n.listed || !same_nodes(l->node, node, n.listed))
            make_list(j, node, n.listed, w.at, l);
        g.elems = words;
        g.offset = (w.at.memory - l->memory) / 8;
        (to_memory ? j->stage->scatter : j->stage->gather)(&g);
        words += n.units * bytes;
    }
    return true;
}

#define COPY(size)                                                                                                     \
    case size:                                                                                                         \
        copy_runs(j, outer, run, to_memory, w.at, words, size);                                                        \
        break;

void td_stage_copy_units(const td_stage_job *j, const td_stage_batch *b, bool to_memory, unsigned char *words,
                         td_stage_list *l)
{
    static const td_node single = {.extent = 1};
    const size_t bytes = j->stage->code.bytes;
    const td_node *run = &b->unit[b->count];
    if (copy_by_list(j, b, to_memory, words, l))
        return;
    const bool by_table = j->run->plan->table.entry && run->select && run->extent >= TD_STAGE_SHORT_RUN;
    const bool nested = b->count != 0;
    const td_node *outer = nested ? run - 1 : &single;
    const size_t step = outer->extent * run->extent * bytes;
    td_walk w;
    for (td_walk_begin(&w, b->unit, b->count - nested, b->at); w.more; td_walk_next(&w), words += step)
        switch (by_table ? 0 : bytes) {
        case 0:
            copy_by_table(j, outer, run, to_memory, w.at, words);
            break;
            COPY(1)
            COPY(2)
            COPY(3)
            COPY(4)
            COPY(5)
            COPY(6)
            COPY(7)
            COPY(8)
            COPY(9)
            COPY(10)
            COPY(12)
            COPY(14)
            COPY(16)
            COPY(20)
            COPY(24)
            COPY(32)
            COPY(64)
        default:
            copy_runs(j, outer, run, to_memory, w.at, words, bytes);
        }
}
