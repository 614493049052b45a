/* The probe. Six chains that do not wait for each other keep every unit for whole numbers busy in every cycle, so that
 * a neighbour on the other half of the core is seen at once. How fast the clock is at the moment, a single chain says:
 * it waits for its own results, leaves room for both, and takes the same number of clocks whether somebody else is
 * there or not. The one by the other is what sharing costs, at any clock. */
#include "tool/bench/calm.h"

#include "base/clock.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#define STEPS 3000 /* about 4 us: short beside a sample, long beside reading the clock */
#define CHAIN_STEPS 1500
#define CHAIN_CLOCKS 4 /* of one step, a multiplication and an addition; steps of one clock would feel the neighbour */

static double time_chain(void)
{
    uint64_t x = 1;
    const uint64_t start_ns = td_now_ns();
    for (int step = 0; step < CHAIN_STEPS; step++) {
        x = x * 0x9e3779b97f4a7c15u + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return (double)(td_now_ns() - start_ns);
}

static double time_units(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    const uint64_t start_ns = td_now_ns();
    for (uint64_t i = 0; i < STEPS; i++) {
        a += b ^ i;
        b = b * 3 + 1;
        c += d ^ i;
        d = (d << 3) - d;
        e ^= f + i;
        f = (f >> 1) + e;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    return (double)(td_now_ns() - start_ns);
}

static long times_taken(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? use.ru_nivcsw : 0;
}

/* An interrupt inside a chain would make the clock look slow and the core calm: of one before and one behind, the
 * faster counts. */
bench_probed bench_calm_probe(void *unused)
{
    (void)unused;
    const double before_ns = time_chain(), units_ns = time_units(), after_ns = time_chain();
    const double chain_ns = before_ns < after_ns ? before_ns : after_ns;
    return (bench_probed){.clocks = chain_ns > 0 ? units_ns / chain_ns * CHAIN_STEPS * CHAIN_CLOCKS : units_ns,
                          .took_ns = before_ns + units_ns + after_ns,
                          .taken = times_taken()};
}

static size_t bin_of(double clocks)
{
    const double bin = log(clocks < 1 ? 1 : clocks) / log(1 + BENCH_CALM_BIN);
    return bin < BENCH_CALM_BINS - 1 ? (size_t)bin : BENCH_CALM_BINS - 1;
}

/* The least that was seen more than by chance, in two bins side by side as an edge may lie in the middle of them. */
static double find_floor(const bench_calm *calm)
{
    const size_t enough = calm->probes / 1000 > 2 ? calm->probes / 1000 : 2;
    size_t first = 0;
    while (first + 1 < BENCH_CALM_BINS && calm->count[first] == 0)
        first++;
    for (size_t bin = first; bin + 1 < BENCH_CALM_BINS; bin++)
        if (calm->count[bin] && calm->count[bin] + calm->count[bin + 1] >= enough)
            return calm->least[bin];
    return calm->least[first];
}

static void count_probe(bench_calm *calm, double clocks)
{
    const size_t bin = bin_of(clocks);
    if (clocks <= 0)
        return;
    if (!calm->count[bin] || clocks < calm->least[bin])
        calm->least[bin] = clocks;
    calm->count[bin]++;
    calm->probes++;
    const double found = find_floor(calm);
    calm->floor = calm->known > 0 && calm->known < found ? calm->known : found;
}

void bench_calm_know(bench_calm *calm, double floor)
{
    if (floor <= 0)
        return;
    calm->known = calm->known > 0 && calm->known < floor ? calm->known : floor;
    calm->floor = calm->floor > 0 && calm->floor < floor ? calm->floor : floor;
}

static double look(bench_calm *calm, double *took_ns)
{
    const bench_probed probed = calm->probe(calm->state);
    count_probe(calm, probed.clocks);
    calm->taken = probed.taken;
    *took_ns += probed.took_ns;
    return probed.clocks;
}

double bench_calm_look(bench_calm *calm)
{
    double took_ns = 0;
    return look(calm, &took_ns);
}

double bench_calm_limit(const bench_calm *calm)
{
    return calm ? BENCH_CALM_LIMIT * calm->floor : 0;
}

double bench_calm_borrow(bench_calm *calm)
{
    const double most = calm->share_ns + calm->patience_ns / 2,
                 lent = most < calm->patience_ns ? most : calm->patience_ns;
    calm->patience_ns -= lent;
    return lent;
}

void bench_calm_return(bench_calm *calm, double left_ns)
{
    calm->patience_ns += left_ns > 0 ? left_ns : 0;
}

double bench_calm_wait(bench_calm *calm, double *patience_ns)
{
    double took_ns = 0, clocks = look(calm, &took_ns);
    while (clocks > bench_calm_limit(calm) && *patience_ns > 0) {
        took_ns = 0;
        clocks = look(calm, &took_ns);
        *patience_ns -= took_ns;
    }
    return clocks;
}

double bench_calm_share(bench_calm *calm, double for_ns)
{
    enum { MOST = 4096 };
    double probe[MOST], spent_ns = 0;
    size_t count = 0, still = 0;
    while (count < MOST && spent_ns < for_ns) {
        (void)look(calm, &spent_ns); /* the first of two pays for what the clock's reading left behind */
        probe[count++] = look(calm, &spent_ns);
    }
    for (size_t i = 0; i < count; i++)
        still += probe[i] <= bench_calm_limit(calm);
    return count ? (double)still / (double)count : 0;
}
