/* The grounds of a small table over banks as addresses, found once for a call that goes over them again and again: an
 * entry is then one load instead of its bank, its word and a product. For gather.c and run_staged.c. */
#ifndef TD_GROUNDS_H
#define TD_GROUNDS_H

#include "exec/exec.h"
#include "kernels/gather.h"
#include "plan/walk.h"

#define TD_GROUNDS 2048 /* entries: they stay in the first-level cache */
#define TD_GROUNDS_USES 4

typedef struct td_grounds {
    uintptr_t at[TD_GROUNDS];
} td_grounds;

/* For so many words in all; NULL where the plan has no table, or one of a single bank, or one that is too long or not
 * worth it. Entries that no box reaches may name banks that do not exist. */
static inline const td_grounds *td_grounds_find(td_grounds *grounds, const td_run *run, uint64_t words)
{
    const td_plan *plan = run->plan;
    if (!plan->table.entry || plan->geometry.banks == 1 || plan->table.count > TD_GROUNDS ||
        words < TD_GROUNDS_USES * plan->table.count)
        return NULL;
    for (uint64_t i = 0; i < plan->table.count; i++) {
        const td_ground ground = td_ground_of(plan, (int64_t)i);
        grounds->at[i] = ground.bank < plan->geometry.banks
                             ? (uintptr_t)run->bank[ground.bank] + ground.word * plan->geometry.word_bytes
                             : 0;
    }
    return grounds;
}

/* What a kernel needs to know of the table, from entry `select` on. */
static inline void td_grounds_give(const td_grounds *grounds, const td_run *run, int64_t select, td_gather *g)
{
    const td_table *table = &run->plan->table;
    g->bank = run->bank;
    g->one_bank = run->plan->geometry.banks == 1;
    g->banks = run->plan->geometry.banks <= UINT32_MAX ? (uint32_t)run->plan->geometry.banks : 0;
    g->entry_bytes = table->entry_bytes;
    g->bank_shift = table->bank_shift;
    g->entry = (const unsigned char *)table->entry + select * table->entry_bytes;
    g->word_bytes = run->plan->geometry.word_bytes;
    g->lines = table->lines;
    g->entry_at = (size_t)select;
    if (grounds && !table->lines) {
        g->bank = NULL;
        g->entry_bytes = sizeof grounds->at[0];
        g->entry = grounds->at + select;
    }
}

#endif
