/* The probe. Six chains that do not wait for each other keep every unit for whole numbers busy in every cycle, so that
 * a neighbour on the other half of the core is seen at once; a single chain would leave room for both and see nobody.
 */
#include "tool/bench/calm.h"

#include "base/clock.h"

#include <stddef.h>

#define STEPS 3000 /* about 4 us: short beside a sample, long beside reading the clock */

double bench_calm_probe(void *unused)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    (void)unused;
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

double bench_calm_look(bench_calm *calm)
{
    const double ns = calm->probe(calm->state);
    if (ns > 0 && (calm->floor_ns <= 0 || ns < calm->floor_ns))
        calm->floor_ns = ns;
    return calm->floor_ns > 0 ? ns / calm->floor_ns : 1;
}

double bench_calm_wait(bench_calm *calm, double *patience_ns)
{
    double longer = bench_calm_look(calm);
    while (longer > BENCH_CALM_LIMIT && *patience_ns > 0) {
        *patience_ns -= longer * calm->floor_ns;
        longer = bench_calm_look(calm);
    }
    return longer;
}

double bench_calm_share(bench_calm *calm, double for_ns)
{
    enum { MOST = 4096 };
    double probe[MOST], spent = 0;
    size_t count = 0, still = 0;
    while (count < MOST && spent < for_ns) {
        (void)bench_calm_look(calm); /* the first of two pays for what the clock's reading left behind */
        probe[count] = bench_calm_look(calm) * calm->floor_ns;
        spent += 2 * probe[count++];
    }
    for (size_t i = 0; i < count; i++)
        still += probe[i] <= BENCH_CALM_LIMIT * calm->floor_ns;
    return count ? (double)still / (double)count : 0;
}
