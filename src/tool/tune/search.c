/* Finds the thresholds of this machine (tune.h), one after another, each with those that were found before it:
 *
 *   threads   one thread against all of them, for works from small to large: the time from which on all gain is
 *             thread_ns; then the size of parts;
 *   stores    ordinary against streamed ones, for every class of kernels and size: where streaming begins to win;
 *   tiles, slabs    a few sizes against the default.
 *
 * A value has to win by more than the machine's noise, or the default stays. Beside other programs threads look
 * useless, so their thresholds stay too where this process did not have its processor nearly all the time. At the end
 * the defaults are timed against what was found, case by case: a threshold that gains nothing over its cases together,
 * or makes one of them much slower, stays at its default. So does what there is no time left for. */
#include "base/clock.h"
#include "tool/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define WINS .97 /* a ratio below it is a gain, if three of four rounds say so too */
#define LOSES 1.03
#define COSTS 1.1 /* no gain elsewhere makes up for a case that is slower by so much */
#define QUIET .9  /* of the time with a processor: less is a busy machine */

/* -- names --------------------------------------------------------------------------------------------------------- */

static size_t number_of(const char *name)
{
    size_t i = 0;
    while (i < td_tune_count() && strcmp(td_tune_threshold(i).name, name) != 0)
        i++;
    return i;
}

static void set(tune_values *values, const char *name, uint64_t value)
{
    values->value[number_of(name)] = value;
}

/* -- progress ------------------------------------------------------------------------------------------------------ */

#define BAR 24

static void show_progress(const tune_search *s, const char *name)
{
    if (!s->progress)
        return;
    const size_t filled = s->all ? s->done * BAR / s->all : 0;
    const double spent = (double)(td_now_ns() - s->start_ns) / 1e9;
    fprintf(stderr, "\r\033[K[");
    for (size_t i = 0; i < BAR; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %zu/%zu %s", s->done + 1, s->all, name);
    if (s->done)
        fprintf(stderr, ", %.0f s left", spent / (double)s->done * (double)(s->all - s->done));
    fflush(stderr);
}

/* The search may take this part of the time; the rest is for the table. */
#define SEARCH .7

static bool has_time(const tune_search *s, double part)
{
    return (double)(td_now_ns() - s->start_ns) / 1e9 < part * s->seconds;
}

static tune_pair measure(tune_search *s, const tune_case *c, tune_setting before, tune_setting after)
{
    char name[64];
    tune_case_name(c, name, sizeof name);
    show_progress(s, name);
    const double spent = (double)(td_now_ns() - s->start_ns) / 1e9;
    const size_t left = s->all > s->done ? s->all - s->done : 1;
    const double share = (s->seconds - spent) / (double)left;
    const tune_pair pair = tune_measure(c, before, after, share > 0 ? share : 0);
    s->done++;
    if (before.threads == 1) {
        s->had += pair.had;
        s->looked++;
    }
    return pair;
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

static const tune_work_id thread_works[] = {TUNE_COPY, TUNE_TRANSPOSE_F32, TUNE_NARROW, TUNE_PACK};
static const uint64_t thread_sizes[] = {128 * KIB, 512 * KIB, 2 * MIB, 8 * MIB, 32 * MIB};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct sharing {
    double ns; /* of one thread */
    uint64_t bytes;
    bool gains;
} sharing;

static int by_time(const void *a, const void *b)
{
    const double x = ((const sharing *)a)->ns, y = ((const sharing *)b)->ns;
    return (x > y) - (x < y);
}

double tune_share(const tune_search *s)
{
    return s->looked ? s->had / (double)s->looked : 1;
}

void tune_say_fitness(const tune_search *s, FILE *out)
{
    if (s->threads < 2)
        fprintf(out, "\none processor: the thresholds of threads were not measured\n");
    else if (tune_share(s) < QUIET)
        fprintf(
            out,
            "\nother programs had the processor for %.0f %% of the time: the thresholds of threads stay as they are, "
            "and\nthe others may be off; tune again when the machine is quiet\n",
            100 * (1 - tune_share(s)));
}

/* The shortest work from which on every longer one gains; a measurement that lost counts for all shorter ones. */
static void choose_sharing(tune_search *s, sharing *point, size_t points)
{
    size_t first = points;
    qsort(point, points, sizeof *point, by_time);
    while (first > 0 && point[first - 1].gains)
        first--;
    if (first == points || tune_share(s) < QUIET) /* each process goes on measuring for itself */
        return;
    uint64_t bytes = point[first].bytes;
    for (size_t i = first; i < points; i++)
        bytes = point[i].bytes < bytes ? point[i].bytes : bytes;
    set(&s->chosen, "thread_ns", (uint64_t)point[first].ns);
    set(&s->chosen, "thread_bytes", bytes);
}

static bool find_sharing(tune_search *s)
{
    sharing point[COUNT(thread_works) * COUNT(thread_sizes)] = {{0}};
    size_t points = 0;
    tune_values always = s->chosen;
    set(&always, "thread_ns", 1);
    set(&always, "thread_bytes", td_tune_threshold(number_of("thread_bytes")).least);
    for (size_t w = 0; w < COUNT(thread_works); w++)
        for (size_t i = 0; i < COUNT(thread_sizes) && thread_sizes[i] <= s->most_bytes; i++) {
            tune_case c;
            if (!has_time(s, SEARCH))
                return true;
            const bool open = tune_case_open(thread_works[w], thread_sizes[i], &c);
            if (open) {
                const tune_pair pair = measure(s, &c, (tune_setting){&always, 1}, (tune_setting){&always, s->threads});
                point[points++] = (sharing){pair.before_ns, c.moved_bytes, pair.ratio < WINS && pair.high < 1};
            }
            tune_case_close(&c);
            if (!open)
                return false;
        }
    choose_sharing(s, point, points);
    return true;
}

/* -- stores -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *threshold;
    tune_work_id work[2];
    size_t works;
} stores[] = {
    {"stream_copy_bytes", {TUNE_COPY, TUNE_COPY}, 1},
    {"stream_rows_bytes", {TUNE_ODD_F32, TUNE_ODD_F32}, 1},
    {"stream_transpose_bytes", {TUNE_TRANSPOSE_F32, TUNE_TRANSPOSE_U8}, 2},
    {"stream_convert_bytes", {TUNE_WIDEN, TUNE_NARROW}, 2},
};

static const uint64_t store_sizes[] = {1 * MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB};

/* The threshold stands halfway, by ratio, between the largest size that loses and the next that gains. */
static bool find_store(tune_search *s, size_t which)
{
    const char *name = stores[which].threshold;
    const uint64_t never = td_tune_threshold(number_of(name)).most;
    double loses = 0, gains = 0; /* moved bytes: the largest and the smallest above it */
    tune_values into = s->chosen, past = s->chosen;
    set(&into, name, never);
    set(&past, name, 1);
    for (size_t i = 0; i < COUNT(store_sizes) && store_sizes[i] <= s->most_bytes; i++)
        for (size_t w = 0; w < stores[which].works; w++) {
            tune_case c;
            if (!has_time(s, SEARCH))
                return true;
            const bool open = tune_case_open(stores[which].work[w], store_sizes[i], &c);
            if (open) {
                const tune_pair pair = measure(s, &c, (tune_setting){&into, 1}, (tune_setting){&past, 1});
                const double moved = (double)c.moved_bytes;
                if (!(pair.ratio < WINS && pair.high < 1)) {
                    loses = moved > loses ? moved : loses;
                    gains = gains > loses ? gains : 0;
                } else if (moved > loses && gains == 0)
                    gains = moved;
            }
            tune_case_close(&c);
            if (!open)
                return false;
        }
    set(&s->chosen, name, gains == 0 ? never : loses == 0 ? (uint64_t)gains : (uint64_t)sqrt(loses * gains));
    return true;
}

/* -- sizes --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *threshold;
    uint64_t candidate[4];
    size_t candidates;
    struct {
        tune_work_id work;
        uint64_t bytes;
    } on[3];
    bool threads; /* timed with all of them */
} sizes[] = {
    {"part_bytes",
     {16 * KIB, 64 * KIB, 128 * KIB, 512 * KIB},
     4,
     {{TUNE_COPY, 8 * MIB}, {TUNE_TRANSPOSE_F32, 8 * MIB}, {TUNE_NARROW, 8 * MIB}},
     true},
    {"tile_bytes",
     {64, 128, 512, 1024},
     4,
     {{TUNE_TRANSPOSE_U8, MIB / 4}, {TUNE_TRANSPOSE_F32, MIB / 2}, {TUNE_TRANSPOSE_U64, MIB}},
     false},
    {"tile_far_bytes",
     {128, 256, 1024, 2048},
     4,
     {{TUNE_ODD_U8, MIB / 2}, {TUNE_ODD_F32, 2 * MIB}, {TUNE_TRANSPOSE_F32, 2 * MIB}},
     false},
    {"slab_bytes",
     {4 * KIB, 8 * KIB, 32 * KIB, 0},
     3,
     {{TUNE_COMPARE_TILES, MIB}, {TUNE_COMPARE_TRANSPOSED, MIB}, {TUNE_COMPARE_TILES, 4 * MIB}},
     false},
    {"slab_contiguous_bytes",
     {32 * KIB, 64 * KIB, 512 * KIB, 0},
     3,
     {{TUNE_COMPARE, MIB / 4}, {TUNE_COMPARE, 4 * MIB}, {TUNE_COMPARE, 16 * MIB}},
     false},
};

/* The candidate whose ratios have the smallest product; none of them may lose. */
static bool find_size(tune_search *s, size_t which)
{
    double product[COUNT(sizes[0].candidate)] = {1, 1, 1, 1};
    size_t works = 0;
    for (size_t w = 0; w < COUNT(sizes[which].on); w++) {
        tune_case c;
        if (sizes[which].on[w].bytes > s->most_bytes)
            continue;
        if (!has_time(s, SEARCH))
            return true;
        const bool open = tune_case_open(sizes[which].on[w].work, sizes[which].on[w].bytes, &c);
        for (size_t i = 0; open && i < sizes[which].candidates; i++) {
            tune_values other = s->chosen;
            const unsigned threads = sizes[which].threads ? s->threads : 1;
            set(&other, sizes[which].threshold, sizes[which].candidate[i]);
            const tune_pair pair = measure(s, &c, (tune_setting){&s->chosen, threads}, (tune_setting){&other, threads});
            product[i] *= pair.ratio > LOSES ? 1e3 : pair.ratio;
        }
        tune_case_close(&c);
        if (!open)
            return false;
        works++;
    }
    size_t best = 0;
    for (size_t i = 1; i < sizes[which].candidates && i < COUNT(product); i++)
        if (product[i] < product[best])
            best = i;
    if (works && pow(product[best], 1. / (double)works) < WINS)
        set(&s->chosen, sizes[which].threshold, sizes[which].candidate[best]);
    return true;
}

/* -- what was gained ----------------------------------------------------------------------------------------------- */

/* The cases of the table, and the thresholds that they speak for. */
static const struct {
    uint64_t bytes;
    const char *threshold[2];
    tune_work_id work;
    bool threads;
} finals[] = {
    {256 * KIB, {"thread_ns", "thread_bytes"}, TUNE_COPY, true},
    {2 * MIB, {"stream_copy_bytes", NULL}, TUNE_COPY, false},
    {4 * MIB, {"stream_copy_bytes", NULL}, TUNE_COPY, false},
    {16 * MIB, {"stream_copy_bytes", NULL}, TUNE_COPY, false},
    {16 * MIB, {"thread_ns", "part_bytes"}, TUNE_COPY, true},
    {64 * MIB, {"stream_copy_bytes", NULL}, TUNE_COPY, false},
    {MIB / 4, {"tile_bytes", "tile_far_bytes"}, TUNE_TRANSPOSE_U8, false},
    {MIB / 2, {"tile_bytes", "tile_far_bytes"}, TUNE_TRANSPOSE_F32, false},
    {4 * MIB, {"stream_transpose_bytes", NULL}, TUNE_TRANSPOSE_F32, false},
    {8 * MIB, {"stream_transpose_bytes", NULL}, TUNE_TRANSPOSE_F32, false},
    {16 * MIB, {"thread_ns", "part_bytes"}, TUNE_TRANSPOSE_F32, true},
    {64 * MIB, {"stream_transpose_bytes", NULL}, TUNE_TRANSPOSE_F32, false},
    {8 * MIB, {"stream_transpose_bytes", NULL}, TUNE_TRANSPOSE_U8, false},
    {2 * MIB, {"tile_far_bytes", "stream_rows_bytes"}, TUNE_ODD_F32, false},
    {16 * MIB, {"stream_rows_bytes", NULL}, TUNE_ODD_F32, false},
    {16 * MIB, {"stream_convert_bytes", NULL}, TUNE_NARROW, false},
    {16 * MIB, {"thread_ns", "part_bytes"}, TUNE_NARROW, true},
    {4 * MIB, {"stream_convert_bytes", NULL}, TUNE_WIDEN, false},
    {16 * MIB, {"stream_convert_bytes", NULL}, TUNE_WIDEN, false},
    {8 * MIB, {"thread_ns", "thread_bytes"}, TUNE_PACK, true},
    {MIB, {"slab_bytes", "stream_transpose_bytes"}, TUNE_COMPARE_TILES, false},
    {MIB, {"slab_bytes", NULL}, TUNE_COMPARE_TRANSPOSED, false},
    {4 * MIB, {"slab_contiguous_bytes", NULL}, TUNE_COMPARE, false},
};

static bool take_final(tune_search *s, size_t which)
{
    tune_case c;
    const unsigned threads = finals[which].threads ? s->threads : 1;
    const bool open = tune_case_open(finals[which].work, finals[which].bytes, &c);
    if (open) {
        tune_line *line = &s->line[s->lines++];
        *line = (tune_line){.final = which};
        tune_case_name(&c, line->name, sizeof line->name);
        if (threads > 1)
            snprintf(line->name + strlen(line->name), sizeof line->name - strlen(line->name), ", %u threads", threads);
        line->pair = measure(s, &c, (tune_setting){&s->standard, threads}, (tune_setting){&s->chosen, threads});
    }
    tune_case_close(&c);
    return open;
}

static bool wants_final(const tune_search *s, size_t which)
{
    return finals[which].bytes <= s->most_bytes && (!finals[which].threads || s->threads > 1);
}

bool tune_speaks_for(size_t which, size_t number)
{
    return (finals[which].threshold[0] && number_of(finals[which].threshold[0]) == number) ||
           (finals[which].threshold[1] && number_of(finals[which].threshold[1]) == number);
}

/* Thresholds that gain nothing, lose in one case what they gain in the others, or cost one too much go back to their
 * defaults. Transposes of bytes and of words share a threshold, and the best for both costs one of them a little. */
void tune_keep_gains(tune_search *s)
{
    for (size_t i = 0; i < td_tune_count(); i++) {
        bool gains = false, costs = false;
        double all = 1;
        if (s->chosen.value[i] == s->standard.value[i])
            continue;
        for (size_t k = 0; k < s->lines; k++) {
            const tune_pair *pair = &s->line[k].pair;
            if (!tune_speaks_for(s->line[k].final, i))
                continue;
            const bool faster = pair->ratio < WINS && pair->high<1, slower = pair->ratio> LOSES && pair->low > 1;
            gains |= faster;
            costs |= slower && pair->ratio > COSTS;
            all *= faster || slower ? pair->ratio : 1;
            s->line[k].changed = true;
        }
        if (gains && !costs && all < WINS)
            continue;
        s->chosen.value[i] = s->standard.value[i];
        for (size_t k = 0; k < s->lines; k++)
            s->line[k].dropped |= tune_speaks_for(s->line[k].final, i);
    }
}

static bool take_finals(tune_search *s)
{
    s->lines = 0;
    for (size_t i = 0; i < COUNT(finals) && has_time(s, 1); i++)
        if (wants_final(s, i) && !take_final(s, i))
            return false;
    tune_keep_gains(s);
    return true;
}

/* -- all of it ----------------------------------------------------------------------------------------------------- */

static size_t count_upto(const uint64_t *size, size_t count, uint64_t most)
{
    size_t some = 0;
    while (some < count && size[some] <= most)
        some++;
    return some;
}

/* Pairs to measure, for the progress and the share of time of each. */
static size_t count_pairs(const tune_search *s)
{
    size_t all =
        s->threads > 1 ? COUNT(thread_works) * count_upto(thread_sizes, COUNT(thread_sizes), s->most_bytes) : 0;
    for (size_t i = 0; i < COUNT(stores); i++)
        all += stores[i].works * count_upto(store_sizes, COUNT(store_sizes), s->most_bytes);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t w = 0; w < COUNT(sizes[i].on) && (!sizes[i].threads || s->threads > 1); w++)
            all += sizes[i].on[w].bytes <= s->most_bytes ? sizes[i].candidates : 0;
    for (size_t i = 0; i < COUNT(finals); i++)
        all += (size_t)wants_final(s, i);
    return all;
}

static bool find_all(tune_search *s)
{
    if (s->threads > 1 && !find_sharing(s))
        return false;
    for (size_t i = 0; i < COUNT(stores); i++)
        if (!find_store(s, i))
            return false;
    for (size_t i = 0; i < COUNT(sizes); i++)
        if ((!sizes[i].threads || s->threads > 1) && !find_size(s, i))
            return false;
    return take_finals(s);
}

bool tune_search_run(tune_search *s)
{
    td_tune_reset();
    for (size_t i = 0; i < td_tune_count(); i++)
        s->standard.value[i] = td_tune_threshold(i).standard;
    s->chosen = s->standard;
    s->start_ns = td_now_ns();
    s->done = 0;
    s->all = count_pairs(s);
    const bool good = find_all(s);
    if (s->progress)
        fprintf(stderr, "\r\033[K");
    td_speed_threads(0);
    td_tune_reset();
    return good;
}
