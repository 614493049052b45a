/* See whole.h. Called by judging.c. One buffer of a few MiB is kept between calls, as fresh pages would cost as much as
 * the dump; it is freed with the library. */
#include "compare/whole.h"

#include "base/pages.h"
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
/* What is in the second-level cache once it is dumped is compared in a fraction of the time; and its slabs are so few
 * that the plans which take them out, made for each comparison, would cost more than they. */
#define NEAR_BYTES ((uint64_t)1 << 20)
#define LONG_RUN_BYTES 1024

/* Pages, which begin lines and may be huge: kernels are slower where lines are cut. */
typedef struct buffer {
    unsigned char *pages;
    size_t bytes;
} buffer;

static _Atomic(buffer *) kept;

static void destroy_buffer(buffer *b)
{
    if (b)
        td_pages_unmap(b->pages, b->bytes);
    free(b);
}

static buffer *make_buffer(size_t bytes)
{
    buffer *b = malloc(sizeof *b);
    if (!b)
        return NULL;
    b->bytes = bytes;
    b->pages = td_pages_map(&b->bytes, true);
    if (b->pages)
        return b;
    free(b);
    return NULL;
}

/* The kept buffer, a new one of its size, or one for this call alone. */
static buffer *take_buffer(size_t bytes)
{
    if (bytes > KEPT_BYTES)
        return make_buffer(bytes);
    buffer *b = atomic_exchange(&kept, NULL);
    return b ? b : make_buffer(KEPT_BYTES);
}

static void give_back(buffer *b, size_t bytes)
{
    destroy_buffer(bytes > KEPT_BYTES ? b : atomic_exchange(&kept, b));
}

__attribute__((destructor)) static void free_kept(void)
{
    destroy_buffer(atomic_exchange(&kept, NULL));
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

/* Rows that slabs compare where they lie. */
static bool has_long_runs(const td_plan *plan, const td_move *m)
{
    const td_dtype t = plan->memory_dtype;
    return m->kind == TD_MOVE_RUNS && m->wide >= LONG_RUN_BYTES && t.bits == 8 * t.bytes;
}

static uint64_t count_elems(const td_plan *plan, const td_box *box)
{
    uint64_t elems = 1;
    for (size_t i = 0; i < box->node_count; i++)
        elems *= plan->node[box->first_node + i].extent;
    return elems * (box->piece_count ? box->piece_count : 1);
}

static bool is_slow_in_slabs(const td_plan *plan, uint64_t elems, uint64_t bytes)
{
    uint64_t shorts = 0, apart = 0; /* elements in short runs, and all that are not compared where they lie */
    if (plan->in_order || (plan->data_count > 2 && bytes / plan->data_count < SMALL_BOX_BYTES))
        return true;
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_move *m = plan->move ? &plan->move[2 * b + 1] : NULL;
        const uint64_t count = count_elems(plan, &plan->data[b]);
        if ((plan->stage && plan->stage[b]) || is_scattered(plan, &plan->data[b]))
            return true;
        shorts += m && has_short_runs(plan, m) ? count : 0;
        apart += m && has_long_runs(plan, m) ? 0 : count;
    }
    return (bytes <= KEPT_BYTES && shorts > elems / 8) || (bytes <= NEAR_BYTES && apart > elems / 8);
}

bool td_whole_equal(const td_run *run, const td_tensor *golden)
{
    const td_plan *plan = run->plan;
    const uint64_t bytes = golden->elems * golden->dtype.bytes;
    if (plan->repeats || plan->slides || plan->copies || plan->truncates || bytes > MOST_BYTES ||
        !is_slow_in_slabs(plan, golden->elems, bytes))
        return false;
    buffer *b = take_buffer((size_t)bytes);
    if (!b)
        return false;
    if (plan->windows) /* they may leave elements out, which are not compared */
        memcpy(b->pages, golden->data, (size_t)bytes);
    td_run dump = *run;
    dump.tensor = b->pages;
    td_exec_dump(&dump);
    const bool equal = memcmp(b->pages, golden->data, (size_t)bytes) == 0;
    give_back(b, (size_t)bytes);
    return equal;
}
