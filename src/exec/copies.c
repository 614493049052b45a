/* Holds the copies of elements against each other (exec.h) before a dump: the links of a plan (plan/copies.h), over
 * threads where there is much to read. It compares bits in memory, whatever they stand for, and knows no element: where
 * copies differ, verify.c says which. Called by backdoor/tensors.c. */
#include "plan/copies.h"

#include "base/cpu.h"
#include "base/pool.h"
#include "exec/exec.h"
#include "kernels/agree.h"
#include "kernels/equal.h"

#include <string.h>

typedef struct kernels {
    unsigned cpu_flags;
    td_agree_kernels agree;
    td_equal_kernels equal;
} kernels;

/* A thread fills the tables again only when the instruction sets have changed. */
static const kernels *find_kernels(void)
{
    static _Thread_local kernels last;
    const unsigned flags = td_cpu_flags();
    if (!last.equal.rows || last.cpu_flags != flags) {
        td_agree_init(&last.agree, flags);
        td_equal_init(&last.equal, flags);
        last.cpu_flags = flags;
    }
    return &last;
}

/* One step of a link's loops. */
static bool rows_agree(const kernels *k, const td_run *run, const td_link *link, td_at at)
{
    const unsigned char *a = td_ground_at(run->plan, run->bank, at.select),
                        *b = td_ground_at(run->plan, run->bank, at.select + link->delta_select);
    const int64_t other = at.memory + link->delta_memory;
    a += at.memory >> 3;
    b += other >> 3;
    if (!link->mask)
        return k->equal.rows(a, link->stride, b, link->stride, link->rows, link->bytes, (td_ahead){0, 0});
    const td_agree_rows rows = {.a = a,
                                .b = b,
                                .mask = link->mask,
                                .stride = link->stride,
                                .rows = link->rows,
                                .bytes = link->bytes,
                                .a_shift = (unsigned)(at.memory & 7),
                                .b_shift = (unsigned)(other & 7)};
    return link->shifts ? k->agree.bits(&rows) : k->agree.bytes(&rows);
}

static uint64_t count_steps(const td_link *link)
{
    uint64_t steps = 1;
    for (size_t i = 0; i < link->node_count; i++)
        steps *= link->node[i].extent;
    return steps;
}

/* A walk that begins at step `first`. */
static void begin_at(td_walk *w, const td_link *link, uint64_t first)
{
    td_walk_begin(w, link->node, link->node_count, (td_at){.memory = link->memory, .select = link->select});
    for (size_t i = link->node_count; i-- > 0;) {
        w->done[i] = first % link->node[i].extent;
        first /= link->node[i].extent;
        w->at = td_at_step(w->at, &link->node[i], w->done[i]);
    }
}

typedef struct shared {
    const td_run *run;
    const kernels *kernels;
    const td_link *link;
    uint64_t steps;
    unsigned parts;
    bool differs[TD_POOL_PARTS];
} shared;

/* Words that a table or banks place come one by one, in windows of a few bytes: these are compared here, a loop in
 * one go, as a walk and a call of a kernel for each would take several times as long. */
#define SHORT_WINDOW 8

static bool is_short(const td_link *link)
{
    return link->rows == 1 && link->bytes <= SHORT_WINDOW && !link->shifts && link->node_count > 0 &&
           link->node_count <= TD_WALK_NODES;
}

/* Inlined for each size of a window, so that the size is a constant of the loop. */
static inline __attribute__((always_inline)) bool
steps_agree(const td_run *run, const td_link *link, const td_node *node, td_at at, uint64_t count, const size_t bytes)
{
    uint64_t mask = UINT64_MAX, differ = 0;
    if (link->mask)
        memcpy(&mask, link->mask, bytes);
    for (uint64_t i = 0; i < count; i++, at.select += node->select, at.memory += node->memory) {
        const unsigned char *a = td_ground_at(run->plan, run->bank, at.select),
                            *b = td_ground_at(run->plan, run->bank, at.select + link->delta_select);
        uint64_t x = 0, y = 0;
        memcpy(&x, a + (at.memory >> 3), bytes);
        memcpy(&y, b + ((at.memory + link->delta_memory) >> 3), bytes);
        differ |= (x ^ y) & mask;
    }
    return differ == 0;
}

static bool short_steps_agree(const td_run *run, const td_link *link, const td_node *node, td_at at, uint64_t count)
{
    switch (link->bytes) {
    case 1:
        return steps_agree(run, link, node, at, count, 1);
    case 2:
        return steps_agree(run, link, node, at, count, 2);
    case 4:
        return steps_agree(run, link, node, at, count, 4);
    case 8:
        return steps_agree(run, link, node, at, count, 8);
    default:
        return steps_agree(run, link, node, at, count, link->bytes);
    }
}

/* Of the loops that are long enough to be worth it the one whose words are closest, or else the longest. */
#define ENOUGH_STEPS 8

static uint64_t distance(const td_node *node)
{
    const int64_t step = node->select ? node->select : node->memory;
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

static size_t choose_inner(const td_link *link)
{
    size_t best = 0;
    for (size_t i = 1; i < link->node_count; i++) {
        const td_node *a = &link->node[i], *b = &link->node[best];
        const bool enough = a->extent >= ENOUGH_STEPS && b->extent >= ENOUGH_STEPS;
        best = (enough ? distance(a) < distance(b) : a->extent > b->extent) ? i : best;
    }
    return best;
}

static bool compare_short(const shared *s, uint64_t first, uint64_t past)
{
    td_node node[TD_WALK_NODES];
    td_link outer = *s->link;
    const size_t chosen = choose_inner(&outer);
    const td_node inner = outer.node[chosen];
    memcpy(node, outer.node, chosen * sizeof *node);
    memcpy(node + chosen, outer.node + chosen + 1, (outer.node_count - chosen - 1) * sizeof *node);
    outer.node = node;
    outer.node_count--;
    bool same = true;
    td_walk w;
    begin_at(&w, &outer, first / inner.extent);
    for (uint64_t i = first, count; i < past && same; i += count, td_walk_next(&w)) {
        const uint64_t from = i % inner.extent, left = inner.extent - from;
        count = left < past - i ? left : past - i;
        same = short_steps_agree(s->run, s->link, &inner, td_at_step(w.at, &inner, from), count);
    }
    return same;
}

static void compare_parts(void *context, unsigned begin, unsigned end)
{
    shared *s = context;
    const uint64_t first = s->steps * begin / s->parts, past = s->steps * end / s->parts;
    td_walk w;
    if (is_short(s->link)) {
        s->differs[begin] = !compare_short(s, first, past);
        return;
    }
    begin_at(&w, s->link, first);
    for (uint64_t i = first; i < past && !s->differs[begin]; i++, td_walk_next(&w))
        s->differs[begin] = !rows_agree(s->kernels, s->run, s->link, w.at);
}

bool td_exec_copies_same(const td_run *run)
{
    const td_copies *copies = run->plan->copies;
    bool same = true;
    for (size_t i = 0; i < copies->link_count && same; i++) {
        const td_link *link = &copies->link[i];
        shared s = {.run = run, .kernels = find_kernels(), .link = link, .steps = count_steps(link)};
        s.parts = td_pool_parts(s.steps * link->rows * link->bytes, s.steps);
        td_pool_run(s.parts, compare_parts, &s);
        for (unsigned p = 0; p < s.parts; p++)
            same = same && !s.differs[p];
    }
    return same;
}
