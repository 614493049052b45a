/* See stream.h. Some machines write to memory faster than to a large last level, others write to that level twice as
 * fast as past it. So the first large move times both on two buffers of twice the second-level cache, which takes a few
 * milliseconds. On a machine of the second kind two more questions are open: whether transposes evict the lines that
 * they come back to, and whether copies that nearly fill the last level still fit. Each is timed, there and back, when
 * the first move of that size asks: what is stored past the caches has to be read from memory later. The process keeps
 * the answers. A neighbour that fills the caches in these milliseconds makes stores into them look slow, so the first
 * answer against them is asked twice more, later. A machine without the pages is taken to store into its caches. */
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
#define ROW_BYTES 4096                  /* of the transpose that is timed */
#define BAND 128
#define STREAMED_BAND 32
#define WIDE_ELEM 8 /* of a transpose: a row of them fills a line before it is evicted */
#define MOST_TIMED ((uint64_t)16 << 20)
#define MOST_LAST ((uint64_t)128 << 20) /* a last level that claims more is shared by a whole host */

td_stream_when td_stream_cuts_when = TD_STREAM_BY_MACHINE;

typedef enum answer { PAST_CACHES, INTO_CACHES } answer;

#define TIMES 3       /* that PAST_CACHES has to come out before it is kept */
#define LATER_NS 30e6 /* longer than the system lets a neighbour run in one go */

/* The move of a question, from one half of the pages to the other. */
typedef void (*trial)(const td_move_kernels *kernels, unsigned char *dst, const unsigned char *src, size_t bytes,
                      bool stream);

static void try_copy(const td_move_kernels *kernels, unsigned char *dst, const unsigned char *src, size_t bytes,
                     bool stream)
{
    kernels->copy(dst, (ptrdiff_t)bytes, src, (ptrdiff_t)bytes, 1, bytes, stream);
}

/* Rows of 4 KiB, in bands as exec cuts them: for lines that are stored past the caches, and for rows as far apart. */
static void try_transpose(const td_move_kernels *kernels, unsigned char *dst, const unsigned char *src, size_t bytes,
                          bool stream)
{
    const size_t rows = bytes / ROW_BYTES, elem = sizeof(uint32_t), most = stream ? STREAMED_BAND : BAND;
    for (size_t r = 0; r < rows; r += most)
        kernels->transpose_x32(dst + r * elem, (ptrdiff_t)(rows * elem), src + r * ROW_BYTES, ROW_BYTES,
                               rows - r < most ? rows - r : most, ROW_BYTES / elem, stream);
}

typedef struct question {
    trial run;
    bool back; /* the time of the way back counts too; or else that of the second of two turns */
    int least_rounds, most_rounds;
    unsigned noise; /* the eighths by which ordinary stores have to win */
    int times;      /* that they have to lose */
} question;

static const question small_copies = {try_copy, false, LEAST_ROUNDS, ROUNDS, 1, TIMES};
static const question transposes = {try_transpose, true, LEAST_ROUNDS / 2, ROUNDS / 2, 0, 1};
static const question large_copies = {try_copy, true, LEAST_ROUNDS / 2, LEAST_ROUNDS, 0, 1};

/* Streamed lines leave the caches, so the first ordinary copy after them brings all of them back from memory, which is
 * not what a caller who writes the same buffer again sees: each move runs twice. */
static uint64_t time_moves(const question *q, const td_move_kernels *kernels, unsigned char *pages, size_t bytes,
                           bool stream)
{
    uint64_t start = td_now_ns();
    for (int turn = 0; turn < 2; turn++) {
        const bool back = q->back && turn;
        if (!q->back)
            start = td_now_ns();
        q->run(kernels, pages + (back ? bytes : 0), pages + (back ? 0 : bytes), bytes, stream);
        td_move_fence();
    }
    return td_now_ns() - start;
}

/* The fastest of a few rounds, in turns. */
static answer ask_machine(const question *q, const td_move_kernels *kernels, uint64_t bytes)
{
    TD_STEP(step, "measure stores");
    size_t mapped = (size_t)(2 * bytes);
    unsigned char *pages = td_pages_map(&mapped, false);
    uint64_t past = UINT64_MAX, into = UINT64_MAX;
    if (!pages)
        return INTO_CACHES;
    memset(pages, 1, (size_t)(2 * bytes));
    for (int i = 0; i < q->most_rounds && (i < q->least_rounds || past < into + into / 8 * q->noise); i++) {
        const uint64_t ordinary = time_moves(q, kernels, pages, (size_t)bytes, false);
        const uint64_t streamed = time_moves(q, kernels, pages, (size_t)bytes, true);
        into = ordinary < into ? ordinary : into;
        past = streamed < past ? streamed : past;
    }
    td_pages_unmap(pages, mapped);
    return past < into + into / 8 * q->noise ? PAST_CACHES : INTO_CACHES;
}

/* What is known: INTO_CACHES, or how often it was PAST_CACHES, and when that was asked. */
typedef struct known_answer {
    atomic_bool into;
    atomic_int past;
    _Atomic uint64_t asked_ns;
} known_answer;

/* Two threads may both ask. */
static bool goes_past(const question *q, known_answer *known, uint64_t bytes)
{
    if (atomic_load_explicit(&known->into, memory_order_relaxed))
        return false;
    const int past = atomic_load_explicit(&known->past, memory_order_relaxed);
    if (past >= q->times)
        return true;
    const uint64_t asked_ns = atomic_load_explicit(&known->asked_ns, memory_order_relaxed);
    if (past && (double)(td_now_ns() - asked_ns) < LATER_NS)
        return true;
    td_move_kernels kernels;
    td_move_init(&kernels, td_cpu_flags());
    const bool is_past = ask_machine(q, &kernels, bytes) == PAST_CACHES;
    atomic_store_explicit(&known->asked_ns, td_now_ns(), memory_order_relaxed);
    if (is_past)
        atomic_fetch_add_explicit(&known->past, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&known->into, true, memory_order_relaxed);
    return is_past;
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

static bool small_copies_go_past(uint64_t second)
{
    static known_answer known;
    return goes_past(&small_copies, &known, 2 * second);
}

/* Copies of this size, and all that are read for them, nearly fill the last level. */
static uint64_t near_last_bytes(const td_caches *caches)
{
    return caches->last_bytes / 8 * 3;
}

static bool large_copies_go_past(void)
{
    static known_answer known;
    const td_caches caches = find_caches();
    const uint64_t near_last = near_last_bytes(&caches);
    return small_copies_go_past(caches.second_bytes) ||
           goes_past(&large_copies, &known, near_last < MOST_TIMED ? near_last : MOST_TIMED);
}

static bool pays_by_rule(td_stream_class kind, unsigned transposed_bytes, uint64_t bytes)
{
    static known_answer known;
    const td_caches caches = find_caches();
    const uint64_t second = caches.second_bytes, near_last = near_last_bytes(&caches);
    /* Ordinary stores of a transpose come back to lines that were evicted meanwhile, the more often the narrower its
     * elements are. */
    const uint64_t evicted = 4 * second * transposed_bytes;
    /* Ordinary stores of narrow elements into lines that rows share miss well before the second level is full. */
    const bool narrow = kind == TD_STREAM_ROWS && transposed_bytes && transposed_bytes < WIDE_ELEM;
    if (bytes < (narrow ? large_bytes(second) / 4 * 3 : large_bytes(second)))
        return false;
    /* Rows of a transpose that share lines are put together in a buffer first, which pays later where ordinary stores
     * do well too. */
    if (small_copies_go_past(second))
        return kind != TD_STREAM_ROWS || transposed_bytes < WIDE_ELEM || bytes >= 4 * second;
    switch (kind) {
    case TD_STREAM_ROWS: /* lines that are not whole are never worth it */
        return false;
    case TD_STREAM_TRANSPOSE:
        return bytes >= 4 * second &&
               (bytes >= (evicted < near_last ? evicted : near_last) || goes_past(&transposes, &known, 4 * second));
    case TD_STREAM_COPY:
        return bytes >= near_last && (bytes >= caches.last_bytes || large_copies_go_past());
    case TD_STREAM_CUT: /* several arrays at once fall out of the last level before one does */
        return bytes >= caches.last_bytes / 4;
    default:
        return bytes >= near_last;
    }
}

bool td_stream_pays(td_stream_class kind, unsigned transposed_bytes, uint64_t bytes)
{
    static const td_threshold_id from[] = {[TD_STREAM_COPY] = TD_THRESHOLD_STREAM_COPY,
                                           [TD_STREAM_ROWS] = TD_THRESHOLD_STREAM_ROWS,
                                           [TD_STREAM_TRANSPOSE] = TD_THRESHOLD_STREAM_TRANSPOSE,
                                           [TD_STREAM_CONVERT] = TD_THRESHOLD_STREAM_CONVERT,
                                           [TD_STREAM_CUT] = TD_THRESHOLD_STREAM_COPY};
    const uint64_t tuned = td_threshold(from[kind]);
    if (kind == TD_STREAM_CUT) /* it pays to do something about them, whatever that is */
        return td_stream_cuts_when != TD_STREAM_BY_MACHINE || (tuned && bytes >= tuned) ||
               pays_by_rule(kind, transposed_bytes, bytes);
    return tuned ? bytes >= tuned : pays_by_rule(kind, transposed_bytes, bytes);
}

bool td_stream_cuts_go_past(void)
{
    if (td_stream_cuts_when != TD_STREAM_BY_MACHINE)
        return td_stream_cuts_when == TD_STREAM_PAST;
    const uint64_t tuned = td_threshold(TD_THRESHOLD_STREAM_COPY);
    const td_caches caches = find_caches();
    return tuned ? tuned <= near_last_bytes(&caches) : large_copies_go_past();
}
