/* The loop of the bench (tensordoor bench, td-bench): times every case whose name holds a text. Our call, memcpy and
 * the peers take turns in one run, so that a noisy neighbour hits them all. Figures are medians; the spread goes from
 * the 10th to the 90th percentile. It measures and prints; it judges nothing. */
#include "tool/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 31
#define SLOW_ROUNDS 5
#define SAMPLE_NS 400e3

enum { OURS, MEMCPY, LOOPS, NUMPY, DNNL, RUNNERS };
static const char *const peer_name[RUNNERS] = {[LOOPS] = "loops", [NUMPY] = "numpy", [DNNL] = "onednn"};

typedef struct options {
    bool json, no_peers, list, tune;
    const char *filter;
} options;

static double time_runner(int who, bench_job *job, uint64_t repetitions)
{
    switch (who) {
    case OURS:
        return bench_time_ours(job, repetitions);
    case MEMCPY:
        return bench_time_memcpy(job, repetitions);
    case LOOPS:
        return bench_time_loops(job, repetitions);
    case NUMPY:
        return bench_numpy_time(repetitions);
    default:
        return bench_dnnl_time(repetitions);
    }
}

/* Once before the clock starts: what the runner before left in the caches is not this one's doing. */
static double time_one(int who, bench_job *job, uint64_t repetitions)
{
    const double warm = time_runner(who, job, 1);
    return warm < 0 ? warm : time_runner(who, job, repetitions);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct result {
    double median[RUNNERS], spread;
} result;

static void measure(bench_job *job, const bool *runs, result *out)
{
    double sample[RUNNERS][ROUNDS];
    uint64_t repetitions[RUNNERS];
    int rounds[RUNNERS];
    for (int who = 0; who < RUNNERS; who++) {
        rounds[who] = 0;
        if (!runs[who])
            continue;
        uint64_t n = 1;
        double ns = time_one(who, job, n);
        while (ns >= 0 && ns * (double)n < SAMPLE_NS / 4 && n < 1u << 20) {
            n *= 4;
            ns = time_one(who, job, n);
        }
        if (ns < 0)
            continue;
        repetitions[who] = (uint64_t)(SAMPLE_NS / (ns + 1)) + 1;
        rounds[who] = who > MEMCPY && ns > 2e6 ? SLOW_ROUNDS : ROUNDS;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < RUNNERS; who++)
            if (round < rounds[who])
                sample[who][round] = time_one(who, job, repetitions[who]);
    for (int who = 0; who < RUNNERS; who++) {
        const int n = rounds[who];
        out->median[who] = -1;
        if (!n)
            continue;
        qsort(sample[who], (size_t)n, sizeof(double), compare);
        out->median[who] = sample[who][n / 2];
        if (who == OURS)
            out->spread = (sample[who][n * 9 / 10] - sample[who][n / 10]) / sample[who][n / 2];
    }
}

static void print_result(const options *o, const bench_job *job, unsigned threads, const result *r)
{
    const size_t bytes = (job->src_bytes + job->dst_bytes) / 2;
    const double ratio = r->median[MEMCPY] / r->median[OURS];
    if (o->json) {
        printf("{\"case\": \"%s\", \"bytes\": %zu, \"threads\": %u, \"isa\": \"%s\", \"tune\": %s, \"ours_ns\": %.1f, "
               "\"memcpy_ns\": %.1f, "
               "\"ratio\": %.3f, \"spread\": %.3f, \"peers\": {",
               job->of->name, bytes, threads, td_speed_isa(), o->tune ? "true" : "false", r->median[OURS],
               r->median[MEMCPY], ratio, r->spread);
        const char *comma = "";
        for (int who = LOOPS; who < RUNNERS; who++)
            if (r->median[who] >= 0) {
                printf("%s\"%s\": %.1f", comma, peer_name[who], r->median[who]);
                comma = ", ";
            }
        printf("}}\n");
    } else {
        printf("%-38s %9zu %2u %12.1f %12.1f %6.3f %6.3f ", job->of->name, bytes, threads, r->median[OURS],
               r->median[MEMCPY], ratio, r->spread);
        for (int who = LOOPS; who < RUNNERS; who++)
            if (r->median[who] >= 0)
                printf(" %s %.3f", peer_name[who], r->median[MEMCPY] / r->median[who]);
        printf("\n");
    }
    fflush(stdout);
}

static int run_case(const options *o, const bench_case *c)
{
    bench_job job;
    int code = bench_job_create(c, o->tune ? "tune=on" : NULL, &job);
    if (!code) {
        bool runs[RUNNERS] = {[OURS] = true, [MEMCPY] = true, [LOOPS] = !o->no_peers};
        runs[NUMPY] = !o->no_peers && bench_numpy_case(&job);
        for (unsigned threads = 1; threads <= (c->numbers ? 2u : 1u); threads++) {
            result r = {0};
            td_speed_threads(threads);
            runs[DNNL] = !o->no_peers && bench_dnnl_case(&job, threads);
            measure(&job, runs, &r);
            print_result(o, &job, threads, &r);
        }
        bench_dnnl_stop();
    }
    bench_job_destroy(&job);
    return code;
}

static int show_usage(void)
{
    printf("usage: tensordoor bench [--json] [--no-peers] [--tune] [--list] [TEXT]\n\n"
           "Times every case whose name contains TEXT: a load (or, in cases that begin with dump_, a dump) through a "
           "layout,\n"
           "memcpy of the same bytes, plain loops in C, and NumPy and oneDNN where they are installed. `ratio` is "
           "memcpy's\n"
           "time divided by ours; `spread` is the distance from the 10th to the 90th percentile, divided by the "
           "median.\n"
           "TD_CPU=c or avx2 in the environment limits the instructions, TD_THREADS and TD_PARALLEL_BYTES control the\n"
           "threads.\n\n"
           "  --json      print one line of JSON per case\n"
           "  --no-peers  time only our calls and memcpy\n"
           "  --tune      use layouts with tune=on, which time the possible orders of their loops first\n"
           "  --list      print the names of the cases\n");
    return 0;
}

static int refuse(const char *word)
{
    fprintf(stderr, "td-bench: \"%s\" is one argument too many, or no flag; see --help\n", word);
    return 2;
}

static int run_cases(const options *o)
{
    int code = 0;
    bool any = false;
    for (size_t i = 0; i < bench_case_count; i++) {
        if (o->filter && !strstr(bench_cases[i].name, o->filter))
            continue;
        any = true;
        if (o->list)
            printf("%s\n", bench_cases[i].name);
        else
            code |= run_case(o, &bench_cases[i]);
    }
    if (any)
        return code;
    fprintf(stderr, "td-bench: no case has \"%s\" in its name; --list shows them\n", o->filter);
    return 2;
}

int bench_main(int argc, char **argv)
{
    options o = {0};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return show_usage();
        if (strcmp(argv[i], "--json") == 0)
            o.json = true;
        else if (strcmp(argv[i], "--no-peers") == 0)
            o.no_peers = true;
        else if (strcmp(argv[i], "--tune") == 0)
            o.tune = true;
        else if (strcmp(argv[i], "--list") == 0)
            o.list = true;
        else if (argv[i][0] == '-' || o.filter)
            return refuse(argv[i]);
        else
            o.filter = argv[i];
    }
    if (!o.no_peers && !o.list)
        bench_numpy_start();
    if (!o.json && !o.list)
        printf("%-38s %9s %2s %12s %12s %6s %6s  peers, as ratios\n", "case", "bytes", "th", "ours ns", "memcpy ns",
               "ratio", "spread");
    const int code = run_cases(&o);
    bench_numpy_stop();
    return code;
}
