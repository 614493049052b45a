/* See whole.h. Called by judging.c. One buffer of a few MiB is kept between calls, as fresh pages would cost as much as
 * the dump; it is freed with the library. */
#include "compare/whole.h"

#include "plan/move.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES ((size_t)8 << 20)
#define MOST_BYTES ((uint64_t)64 << 20) /* larger tensors are compared in slabs, without a copy */
/* Boxes smaller than this on average take longer to prepare than to compare. */
#define SMALL_BOX_BYTES ((uint64_t)32 << 10)
/* A row in one bank, or in one entry of a table, is long enough for slabs from here on. */
#define GROUND_BYTES 2048
#define SHORT_RUN_BYTES 64

static _Atomic(unsigned char *) kept;

/* The kept buffer, a new one of its size, or one for this call alone. */
static unsigned char *take_buffer(size_t bytes)
{
    if (bytes > KEPT_BYTES)
        return malloc(bytes);
    unsigned char *buffer = atomic_exchange(&kept, NULL);
    return buffer ? buffer : malloc(KEPT_BYTES);
}

static void give_back(unsigned char *buffer, size_t bytes)
{
    free(bytes > KEPT_BYTES ? buffer : atomic_exchange(&kept, buffer));
}

__attribute__((destructor)) static void free_kept(void)
{
    free(atomic_exchange(&kept, NULL));
}

/* Words that a selector scatters, but for long rows that are contiguous on both sides. */
static bool is_scattered(const td_plan *plan, const td_box *box)
{
    if (!box->selectors || box->node_count == box->selectors)
        return box->selectors;
    const td_node *last = &plan->node[box->first_node + box->node_count - 1];
    return last->tensor != 1 || last->memory != plan->memory_dtype.bits ||
           last->extent * plan->memory_dtype.bytes < GROUND_BYTES;
}

/* Neighbours that stay together, a few bytes of them: too short for rows, too long for single elements. */
static bool has_short_runs(const td_plan *plan, const td_move *m)
{
    const uint64_t elem = plan->memory_dtype.bytes;
    return (m->kind == TD_MOVE_TRANSPOSE && m->elem_bytes > elem) ||
           (m->kind == TD_MOVE_RUNS && m->wide > elem && m->wide < SHORT_RUN_BYTES);
}

static bool is_slow_in_slabs(const td_plan *plan, uint64_t bytes)
{
    if (plan->in_order || (plan->data_count > 2 && bytes / plan->data_count < SMALL_BOX_BYTES))
        return true;
    for (size_t b = 0; b < plan->data_count; b++)
        if ((plan->stage && plan->stage[b]) || is_scattered(plan, &plan->data[b]) ||
            (bytes <= KEPT_BYTES && plan->move && has_short_runs(plan, &plan->move[2 * b + 1])))
            return true;
    return false;
}

bool td_whole_equal(const td_run *run, const td_tensor *golden)
{
    const td_plan *plan = run->plan;
    const uint64_t bytes = golden->elems * golden->dtype.bytes;
    if (plan->repeats || plan->slides || plan->copies || plan->truncates || bytes > MOST_BYTES ||
        !is_slow_in_slabs(plan, bytes))
        return false;
    unsigned char *buffer = take_buffer((size_t)bytes);
    if (!buffer)
        return false;
    if (plan->windows) /* they may leave elements out, which are not compared */
        memcpy(buffer, golden->data, (size_t)bytes);
    td_run dump = *run;
    dump.tensor = buffer;
    td_exec_dump(&dump);
    const bool equal = memcmp(buffer, golden->data, (size_t)bytes) == 0;
    give_back(buffer, (size_t)bytes);
    return equal;
}
