/* The calls that `tensordoor tune` times (tune.h), each through the public facade as a user's would be. */
#include "base/clock.h"
#include "tool/tune/tune.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 41
#define LEAST_ROUNDS 3
#define SAMPLE_NS 400000 /* calls are repeated for this long in each turn */

typedef struct work {
    const char *name, *dtype, *pattern, *options, *as;
    unsigned elem_bytes, memory_bits;
    unsigned lanes; /* of a word; 0: a row, or a column where it is transposed */
    bool transposed, odd, compare;
} work;

static const work works[TUNE_WORKS] = {
    [TUNE_COPY] = {"copy u8", "u8", "a b -> a b", "", NULL, 1, 8, 0, false, false, false},
    [TUNE_TRANSPOSE_U8] = {"transpose u8", "u8", "a b -> b a", "", NULL, 1, 8, 0, true, false, false},
    [TUNE_TRANSPOSE_F32] = {"transpose f32", "f32", "a b -> b a", "", NULL, 4, 32, 0, true, false, false},
    [TUNE_TRANSPOSE_U64] = {"transpose u64", "u64", "a b -> b a", "", NULL, 8, 64, 0, true, false, false},
    [TUNE_ODD_U8] = {"transpose u8, odd rows", "u8", "a b -> b a", "", NULL, 1, 8, 0, true, true, false},
    [TUNE_ODD_F32] = {"transpose f32, odd rows", "f32", "a b -> b a", "", NULL, 4, 32, 0, true, true, false},
    [TUNE_NARROW] = {"convert f32 to i8", "f32", "a b -> a b", "", "i8 scale=0.05", 4, 8, 0, false, false, false},
    [TUNE_WIDEN] = {"convert i8 to f32", "i8", "a b -> a b", "", "f32", 1, 32, 0, false, false, false},
    [TUNE_PACK] = {"pack i4", "i4", "a (b l) -> (a b) l", "l=16", NULL, 1, 4, 16, false, false, false},
    [TUNE_COMPARE] = {"compare u8", "u8", "a b -> a b", "", NULL, 1, 8, 0, false, false, true},
    [TUNE_COMPARE_TILES] = {"compare i8 tiles", "i8", "(a k) (b l) -> (a b) (k l)", "k=4 l=4", NULL, 1, 8, 16, false,
                            false, true},
    [TUNE_COMPARE_TRANSPOSED] = {"compare f32 transposed", "f32", "a b -> b a", "", NULL, 4, 32, 0, true, false, true},
};

/* Rows and columns, as square as powers of two are; odd ones are a little less. */
static td_shape shape_of(const work *w, uint64_t bytes)
{
    const uint64_t elems = bytes / w->elem_bytes;
    uint64_t cols = 16;
    while (cols * cols < elems)
        cols *= 2;
    const uint64_t rows = elems / cols ? elems / cols : 1, less = w->odd && rows > 8 ? 3 : 0;
    return (td_shape){2, {rows - less, cols - less}};
}

static td_status run(const tune_case *c)
{
    const work *w = &works[c->work];
    td_report *report = NULL;
    if (!w->compare)
        return td_backdoor_load_tensor(c->memory, c->tensor, c->layout, w->as);
    const td_status status = td_backdoor_compare_tensor(c->memory, c->tensor, c->layout, NULL, w->as, &report);
    td_report_destroy(&report);
    return status;
}

bool tune_case_open(tune_work_id id, uint64_t bytes, tune_case *out)
{
    const work *w = &works[id];
    const td_shape shape = shape_of(w, bytes);
    const uint64_t elems = shape.dim[0] * shape.dim[1], lanes = w->lanes ? w->lanes : shape.dim[w->transposed ? 0 : 1];
    *out = (tune_case){.work = id, .bytes = bytes};
    out->moved_bytes = elems * (8 * w->elem_bytes + w->memory_bits) / 16;
    return td_tensor_create(w->dtype, shape, &out->tensor) == TD_OK &&
           td_tensor_fill_ramp(out->tensor, 0, w->elem_bytes == 4 ? 1e-9 : 1) == TD_OK &&
           td_layout_create(w->pattern, w->options, NULL, &out->layout) == TD_OK &&
           td_memory_create("tune", lanes * w->memory_bits, elems / lanes, &out->memory) == TD_OK &&
           td_backdoor_load_tensor(out->memory, out->tensor, out->layout, w->as) == TD_OK;
}

void tune_case_close(tune_case *c)
{
    td_tensor_destroy(&c->tensor);
    td_memory_destroy(&c->memory);
    td_layout_destroy(&c->layout);
}

void tune_case_name(const tune_case *c, char *out, size_t bytes)
{
    const bool mib = c->bytes >= 1 << 20;
    snprintf(out, bytes, "%s, %llu %s", works[c->work].name, (unsigned long long)(c->bytes >> (mib ? 20 : 10)),
             mib ? "MiB" : "KiB");
}

/* -- pairs --------------------------------------------------------------------------------------------------------- */

bool tune_apply(const tune_values *values)
{
    for (size_t i = 0; i < td_tune_count(); i++) {
        const td_threshold_info now = td_tune_threshold(i);
        if (now.value != values->value[i] && td_tune_set(now.name, values->value[i]) != TD_OK)
            return false;
    }
    return true;
}

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Per call, in time of the clock and of the processor. */
typedef struct sample {
    double wall, processor;
} sample;

/* Two calls first: the first makes the plan, the second finds its lines where a call before it left them. */
static sample time_setting(const tune_case *c, tune_setting s, unsigned calls)
{
    tune_apply(s.values);
    td_speed_threads(s.threads);
    run(c);
    run(c);
    const uint64_t start = td_now_ns(), had = processor_ns();
    for (unsigned i = 0; i < calls; i++)
        run(c);
    return (sample){(double)(td_now_ns() - start) / calls, (double)(processor_ns() - had) / calls};
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One thread against one is told by processor time, which other programs change less. */
tune_pair tune_measure(const tune_case *c, tune_setting before, tune_setting after, double seconds)
{
    double first[MOST_ROUNDS], second[MOST_ROUNDS], ratio[MOST_ROUNDS], wall = 0, had = 0;
    const bool alone = before.threads == 1 && after.threads == 1;
    const uint64_t end = td_now_ns() + (uint64_t)(seconds * 1e9);
    const double once = time_setting(c, before, 1).wall;
    const unsigned calls = once < SAMPLE_NS ? (unsigned)(SAMPLE_NS / (once + 1)) + 1 : 1;
    size_t rounds = 0;
    while (rounds < MOST_ROUNDS && (rounds < LEAST_ROUNDS || td_now_ns() < end)) {
        const bool turn = rounds % 2; /* who is first changes from round to round */
        sample s[2];
        s[turn] = time_setting(c, turn ? after : before, calls);
        s[!turn] = time_setting(c, turn ? before : after, calls);
        first[rounds] = alone ? s[0].processor : s[0].wall;
        second[rounds] = alone ? s[1].processor : s[1].wall;
        ratio[rounds] = second[rounds] / first[rounds];
        wall += s[0].wall;
        had += s[0].processor;
        rounds++;
    }
    td_speed_threads(0);
    qsort(first, rounds, sizeof first[0], by_size);
    qsort(second, rounds, sizeof second[0], by_size);
    qsort(ratio, rounds, sizeof ratio[0], by_size);
    return (tune_pair){.before_ns = first[rounds / 2],
                       .after_ns = second[rounds / 2],
                       .ratio = ratio[rounds / 2],
                       .low = ratio[rounds / 4],
                       .high = ratio[rounds - 1 - rounds / 4],
                       .had = before.threads == 1 ? had / wall : 1};
}
