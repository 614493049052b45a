/* What the system says about itself, and a loop of known work. The loop waits for its own results and touches no
 * memory, so that its time can vary only by the clock of the processor and by who else runs on it. It takes about a
 * millisecond: one that is shorter than the time between two interrupts of a timer, of the system or of its host, meets
 * one in every other loop or every third, and spreads by what that costs, 12 us of 300, on a machine that is idle. */
#include "tool/bench/fitness.h"

#include "base/clock.h"
#include "tool/bench/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOPS 61
#define WARM_LOOPS 10      /* a processor that slept raises its clock first */
#define LOOP_STEPS 1000000 /* of four clocks */
#define AROUND 4           /* loops before and behind one, which tell the clock of its moment */
#define PROBED_NS 40e6

bool bench_fitness_ticks(double *total, double *stolen)
{
    double tick[8] = {0};
    FILE *file = fopen("/proc/stat", "r");
    const int found = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &tick[0], &tick[1], &tick[2], &tick[3],
                                    &tick[4], &tick[5], &tick[6], &tick[7])
                           : 0;
    if (file)
        fclose(file);
    *total = 0;
    for (int i = 0; i < 8; i++)
        *total += tick[i];
    *stolen = tick[7];
    return found == 8;
}

/* The system counts in ticks of 10 ms, of which two processors have 24 in the time of a look: one may be the last part
 * of something that was stolen before. */
void bench_fitness_steal(bench_fitness *f, double total, double stolen)
{
    if (total > 0)
        f->steal = stolen > 1 ? (stolen - 1) / total : 0;
}

/* A clock that rises and falls within tens of milliseconds is no neighbour: it is the same for ours and the reference,
 * which alternate faster than that. So the loops around one say what it should have taken, by a quick one of them that
 * has met no interrupt; the rest of its time is what others took. */
void bench_fitness_loops(const double *loop_ns, size_t count, bench_fitness *out)
{
    double clock[BENCH_MAX_SAMPLES], rest[BENCH_MAX_SAMPLES], sorted[2 * AROUND + 1];
    bench_stat stat;
    for (size_t i = 0; i < count; i++) {
        const size_t first = i < AROUND ? 0 : i - AROUND, end = i + AROUND < count ? i + AROUND + 1 : count;
        bench_sort(loop_ns + first, end - first, sorted);
        clock[i] = bench_quantile(sorted, end - first, 0.25);
        rest[i] = loop_ns[i] / clock[i];
    }
    bench_stat_of(rest, count, &stat);
    out->calibration = stat.spread;
    bench_stat_of(clock, count, &stat);
    out->clock = stat.spread;
}

static void time_loops(bench_fitness *out)
{
    double sample[LOOPS];
    for (int i = -WARM_LOOPS; i < LOOPS; i++) {
        uint64_t x = 1;
        const uint64_t start = td_now_ns();
        for (int step = 0; step < LOOP_STEPS; step++) {
            x = x * 0x9e3779b97f4a7c15u + 1;
            __asm__ volatile("" : "+r"(x));
        }
        if (i >= 0)
            sample[i] = (double)(td_now_ns() - start);
    }
    bench_fitness_loops(sample, LOOPS, out);
}

static void read_governor(char *out, int size)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "r");
    out[0] = '\0';
    if (file && fgets(out, size, file))
        out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static void because(bench_fitness *f, const char *fmt, double value)
{
    const size_t used = strlen(f->why);
    snprintf(f->why + used, sizeof f->why - used, used ? ", " : "%s", "");
    const size_t at = strlen(f->why);
    snprintf(f->why + at, sizeof f->why - at, fmt, value);
    f->fit = false;
}

void bench_fitness_judge(bench_fitness *f, unsigned cores)
{
    f->fit = true;
    f->why[0] = '\0';
    if (f->load > 0.75 * cores)
        because(f, "load %.1f in the last minute", f->load);
    if (f->steal > 0.02)
        because(f, "%.0f %% of the time stolen by the host", 100 * f->steal);
    if (f->calibration > 0.05)
        because(f, "a loop of fixed work spreads by %.0f %%", 100 * f->calibration);
    if (f->clock > 0.2)
        because(f, "the clock moves by %.0f %%", 100 * f->clock);
    if (f->calm < 0.5)
        because(f, "the core is shared for %.0f %% of the time", 100 * (1 - f->calm));
    if (strcmp(f->governor, "powersave") == 0 || strcmp(f->governor, "conservative") == 0)
        because(f, "the processor saves power (set the governor to performance)", 0);
}

void bench_fitness_look(bench_calm *calm, bench_fitness *out)
{
    double total = 0, stolen = 0, total_after = 0, stolen_after = 0;
    *out = (bench_fitness){.load = -1, .steal = -1};
    const bool ticks = bench_fitness_ticks(&total, &stolen);
    if (getloadavg(&out->load, 1) != 1)
        out->load = -1;
    time_loops(out);
    out->calm = bench_calm_share(calm, PROBED_NS);
    out->probe_clocks = calm->floor;
    read_governor(out->governor, (int)sizeof out->governor);
    if (ticks && bench_fitness_ticks(&total_after, &stolen_after))
        bench_fitness_steal(out, total_after - total, stolen_after - stolen);
    bench_fitness_judge(out, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
}
