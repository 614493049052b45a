/* Runs boxes over a table or over banks whose steps are single runs of bytes (plan/move.h: td_words_move), over threads
 * where that pays. exec.c calls it; choose_gather.c has chosen the boxes. Nothing here fails. */
#include "exec/gather.h"

#include "base/pool.h"
#include "exec/grounds.h"

#include <string.h>

/* Runs over banks, without a table. */
static void run_banks(const td_run *run, const td_words_move *m, bool dump, uint64_t count, td_at at)
{
    const int64_t elem = run->plan->tensor_dtype.bytes;
    unsigned char *elems = run->tensor + at.tensor * elem;
    for (uint64_t i = 0; i < count; i++, elems += m->row.tensor * elem) {
        unsigned char *place = run->bank[at.select] + at.memory / 8;
        memcpy(dump ? elems : place, dump ? place : elems, m->bytes);
        at.select += m->row.select;
        at.memory += m->row.memory;
    }
}

static void run_row(const td_run *run, const td_words_move *m, const td_grounds *grounds, bool dump, uint64_t count,
                    td_at at)
{
    const td_plan *plan = run->plan;
    if (!m->fn) {
        run_banks(run, m, dump, count, at);
        return;
    }
    const int64_t elem = plan->tensor_dtype.bytes;
    td_gather g = {.elem_step = m->row.tensor * elem,
                   .far = m->far,
                   .entry_step = m->row.select,
                   .offset = at.memory / 8,
                   .offset_step = m->row.memory / 8,
                   .bytes = m->bytes,
                   .count = count};
    g.elems = run->tensor + at.tensor * elem;
    td_grounds_give(grounds, run, at.select, &g);
    m->fn(&g);
}

/* A part of the outermost loop, or of the row where there is none. */
typedef struct shared_gather {
    const td_run *run;
    const td_words_move *move;
    const td_grounds *grounds;
    td_at at;
    bool dump;
    unsigned parts;
} shared_gather;

static void run_parts(void *context, unsigned begin, unsigned end)
{
    const shared_gather *s = context;
    const td_words_move *m = s->move;
    const td_node *outer = m->loops ? &m->loop[0] : &m->row;
    const uint64_t first = outer->extent * begin / s->parts, count = outer->extent * end / s->parts - first;
    const td_at at = td_at_step(s->at, outer, first);
    if (!m->loops) {
        run_row(s->run, m, s->grounds, s->dump, count, at);
        return;
    }
    td_node loop[TD_GATHER_LOOPS];
    memcpy(loop, m->loop, m->loops * sizeof *loop);
    loop[0].extent = count;
    td_walk w;
    for (td_walk_begin(&w, loop, m->loops, at); w.more; td_walk_next(&w))
        run_row(s->run, m, s->grounds, s->dump, m->row.extent, w.at);
}

void td_gather_run(const td_run *run, const td_words_move *move, bool dump, td_at at)
{
    td_grounds grounds;
    uint64_t words = move->row.extent;
    for (size_t i = 0; i < move->loops; i++)
        words *= move->loop[i].extent;
    shared_gather s = {
        .run = run, .move = move, .grounds = td_grounds_find(&grounds, run, words), .at = at, .dump = dump, .parts = 1};
    if (move->splits)
        s.parts = td_pool_parts(run->plan->elems * run->plan->tensor_dtype.bytes,
                                move->loops ? move->loop[0].extent : move->row.extent);
    if (s.parts > 1)
        td_pool_run(s.parts, run_parts, &s);
    else
        run_parts(&s, 0, 1);
}
