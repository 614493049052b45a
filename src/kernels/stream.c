/* See stream.h. Some machines write to memory faster than to a large last level, others write to that level twice as
 * fast as past it. So the first large move times both on two buffers of twice the second-level cache, which takes a few
 * milliseconds; the process keeps the answer. A machine without the pages is taken to be of the second kind. */
#include "kernels/stream.h"

#include "base/caches.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/pages.h"
#include "base/profile.h"
#include "base/thresholds.h"
#include "kernels/move.h"

#include <stdatomic.h>
#include <string.h>

#define ROUNDS 20                       /* at most: others may be busy in the same caches */
#define LEAST_ROUNDS 6                  /* in two of them alone a neighbour may slow only the one kind */
#define LEAST_BYTES ((uint64_t)1 << 20) /* a second level smaller than this does not bring the bound down */
#define MOST_BYTES ((uint64_t)4 << 20)  /* nor a larger one the buffers up */
#define WIDE_ELEM 8                     /* of a transpose: a row of them fills a line before it is evicted */
#define MOST_LAST ((uint64_t)128 << 20) /* a last level that claims more is shared by a whole host */

typedef enum answer { UNKNOWN, PAST_CACHES, INTO_CACHES } answer;

static uint64_t time_copy(td_move_fn copy, unsigned char *dst, const unsigned char *src, size_t bytes, bool stream)
{
    const uint64_t start = td_now_ns();
    copy(dst, (ptrdiff_t)bytes, src, (ptrdiff_t)bytes, 1, bytes, stream);
    td_move_fence();
    return td_now_ns() - start;
}

/* The fastest of a few rounds, in turns; ordinary stores have to win by more than noise. Each copy runs twice and its
 * second turn counts: streamed lines leave the caches, so the first ordinary copy after them brings all of them back
 * from memory, which is not what a caller who writes the same buffer again sees. */
static answer ask_machine(td_move_fn copy, uint64_t bytes)
{
    TD_STEP(step, "measure stores");
    size_t mapped = (size_t)(2 * bytes);
    unsigned char *pages = td_pages_map(&mapped, false);
    uint64_t past = UINT64_MAX, into = UINT64_MAX;
    if (!pages)
        return INTO_CACHES;
    memset(pages, 1, (size_t)(2 * bytes));
    for (int i = 0; i < ROUNDS && (i < LEAST_ROUNDS || past < into + into / 8); i++) {
        uint64_t ordinary = 0, streamed = 0;
        for (int turn = 0; turn < 2; turn++)
            ordinary = time_copy(copy, pages, pages + bytes, (size_t)bytes, false);
        for (int turn = 0; turn < 2; turn++)
            streamed = time_copy(copy, pages, pages + bytes, (size_t)bytes, true);
        into = ordinary < into ? ordinary : into;
        past = streamed < past ? streamed : past;
    }
    td_pages_unmap(pages, mapped);
    return past < into + into / 8 ? PAST_CACHES : INTO_CACHES;
}

static answer find_answer(td_move_fn copy, uint64_t second)
{
    static atomic_int known = UNKNOWN;
    answer is = (answer)atomic_load_explicit(&known, memory_order_relaxed);
    if (is == UNKNOWN) { /* two threads may both ask */
        is = ask_machine(copy, 2 * second);
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is;
}

/* The second and the last level, as far as they count here. */
static td_caches find_caches(void)
{
    td_caches caches = td_caches_find();
    const uint64_t bounded = caches.second_bytes < MOST_BYTES ? caches.second_bytes : MOST_BYTES;
    caches.second_bytes = bounded > LEAST_BYTES ? bounded : LEAST_BYTES;
    caches.last_bytes = caches.last_bytes < MOST_LAST ? caches.last_bytes : MOST_LAST;
    return caches;
}

static uint64_t large_bytes(uint64_t second)
{
    return second > 2 * LEAST_BYTES ? second : 2 * LEAST_BYTES;
}

static bool pays_by_rule(td_stream_class kind, unsigned transposed_bytes, uint64_t bytes)
{
    const td_caches caches = find_caches();
    const uint64_t second = caches.second_bytes;
    td_move_kernels kernels;
    /* Ordinary stores of narrow elements into lines that rows share miss well before the second level is full. */
    const bool narrow = kind == TD_STREAM_ROWS && transposed_bytes && transposed_bytes < WIDE_ELEM;
    if (bytes < (narrow ? large_bytes(second) / 4 * 3 : large_bytes(second)))
        return false;
    td_move_init(&kernels, td_cpu_flags());
    /* Rows of a transpose that share lines are put together in a buffer first, which pays later where ordinary stores
     * do well too. */
    if (find_answer(kernels.copy, second) == PAST_CACHES)
        return kind != TD_STREAM_ROWS || transposed_bytes < WIDE_ELEM || bytes >= 4 * second;
    /* Ordinary stores of a transpose come back to lines that were evicted meanwhile, the more often the narrower its
     * elements are; lines that are not whole are never worth it. */
    const uint64_t most = caches.last_bytes / 8 * 3, least = 4 * second, back = least * transposed_bytes;
    if (kind != TD_STREAM_TRANSPOSE)
        return kind != TD_STREAM_ROWS && bytes >= most;
    return bytes >= least && bytes >= (back < most ? back : most);
}

bool td_stream_pays(td_stream_class kind, unsigned transposed_bytes, uint64_t bytes)
{
    static const td_threshold_id from[] = {[TD_STREAM_COPY] = TD_THRESHOLD_STREAM_COPY,
                                           [TD_STREAM_ROWS] = TD_THRESHOLD_STREAM_ROWS,
                                           [TD_STREAM_TRANSPOSE] = TD_THRESHOLD_STREAM_TRANSPOSE,
                                           [TD_STREAM_CONVERT] = TD_THRESHOLD_STREAM_CONVERT};
    const uint64_t tuned = td_threshold(from[kind]);
    return tuned ? bytes >= tuned : pays_by_rule(kind, transposed_bytes, bytes);
}
