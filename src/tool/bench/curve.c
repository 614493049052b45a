/* Curves out of the figures of a run; `--curves` and the page print them. */
#include "tool/bench/curve.h"

#include "tool/bench/out.h"

#include <math.h>
#include <string.h>

static double per_elem(const bench_figure *f)
{
    return f->ns.median / f->elems;
}

/* Into its place by size. Of two figures of one size the first stays. */
static void insert(bench_curve *c, const bench_figure *f)
{
    size_t at = 0;
    while (at < c->count && c->point[at]->elems < f->elems)
        at++;
    if (c->count == BENCH_CURVE_POINTS || (at < c->count && c->point[at]->elems == f->elems))
        return;
    for (size_t i = c->count++; i > at; i--)
        c->point[i] = c->point[i - 1];
    c->point[at] = f;
}

/* Where the rate passes half of the ceiling, on the line between the two points in logarithms. */
static double find_knee(const bench_curve *c)
{
    const double half = c->ceiling / 2;
    if (1 / per_elem(c->point[0]) >= half)
        return 0;
    for (size_t i = 1; i < c->count; i++) {
        const double before = 1 / per_elem(c->point[i - 1]), after = 1 / per_elem(c->point[i]);
        if (after < half)
            continue;
        const double share = log(half / before) / log(after / before);
        return c->point[i - 1]->elems * pow(c->point[i]->elems / c->point[i - 1]->elems, share);
    }
    return c->point[c->count - 1]->elems;
}

/* Least squares of log time over log size, from the knee on, where at least two points are left. */
static double find_exponent(const bench_curve *c)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    size_t first = 0;
    while (first + 2 < c->count && c->point[first]->elems < c->knee_elems)
        first++;
    for (size_t i = first; i < c->count; i++) {
        const double lx = log(c->point[i]->elems), ly = log(c->point[i]->ns.median);
        n++;
        x += lx;
        y += ly;
        xx += lx * lx;
        xy += lx * ly;
    }
    const double spread = n * xx - x * x;
    return spread > 0 ? (n * xy - x * y) / spread : 0;
}

/* The ratio to the reference fell too, by as much as counts: what both do is the machine's. */
static bool is_ours(const bench_figure *now, const bench_figure *before)
{
    return !now->reference[0] || !before->reference[0] || strcmp(now->reference, before->reference) != 0 ||
           now->ratio.median * (1 + BENCH_CURVE_RISE) < before->ratio.median;
}

static void describe(bench_curve *c)
{
    c->floor_ns = c->point[0]->ns.median;
    for (size_t i = 0; i < c->count; i++)
        c->ceiling = 1 / per_elem(c->point[i]) > c->ceiling ? 1 / per_elem(c->point[i]) : c->ceiling;
    c->knee_elems = find_knee(c);
    c->exponent = find_exponent(c);
    for (size_t i = 1; i < c->count; i++)
        if (per_elem(c->point[i]) > (1 + BENCH_CURVE_RISE) * per_elem(c->point[i - 1]) &&
            c->point[i]->ns.low / c->point[i]->elems > c->point[i - 1]->ns.high / c->point[i - 1]->elems) {
            c->ours[c->rises] = is_ours(c->point[i], c->point[i - 1]);
            c->cliffs += c->ours[c->rises];
            c->rise[c->rises++] = i;
        }
}

static bool is_first(const bench_record *r, size_t number)
{
    const bench_figure *f = &r->figure[number];
    for (size_t i = 0; i < number; i++)
        if (strcmp(r->figure[i].series, f->series) == 0 && strcmp(r->figure[i].group, f->group) == 0)
            return false;
    return f->series[0] != '\0';
}

size_t bench_curves_of(const bench_record *r, bench_curve *out, size_t most)
{
    size_t found = 0;
    for (size_t i = 0; i < r->count; i++) {
        bench_curve c = {0};
        if (!is_first(r, i))
            continue;
        snprintf(c.group, sizeof c.group, "%s", r->figure[i].group);
        snprintf(c.series, sizeof c.series, "%s", r->figure[i].series);
        for (size_t k = i; k < r->count; k++)
            if (strcmp(r->figure[k].series, c.series) == 0 && strcmp(r->figure[k].group, c.group) == 0 &&
                r->figure[k].elems > 0 && r->figure[k].ns.median > 0)
                insert(&c, &r->figure[k]);
        if (c.count < 3)
            continue;
        describe(&c);
        if (found < most)
            out[found] = c;
        found++;
    }
    return found;
}

void bench_curve_print(FILE *out, const bench_curve *c)
{
    char name[112], least[16], time[16];
    snprintf(name, sizeof name, "%s/%s", c->group, c->series);
    bench_text_ns(c->floor_ns, least, sizeof least);
    fprintf(out, "%-44s floor %9s  ceiling %8.3g elements/ns  knee %9.3g elements  grows by size^%.2f\n", name, least,
            c->ceiling, c->knee_elems, c->exponent);
    for (size_t i = 0; i < c->rises; i++) {
        const bench_figure *now = c->point[c->rise[i]], *before = c->point[c->rise[i] - 1];
        bench_text_ns(now->ns.median, time, sizeof time);
        fprintf(out, "    %.0f elements cost %.0f %% more each than %.0f (%s): ", now->elems,
                100 * (per_elem(now) / per_elem(before) - 1), before->elems, time);
        if (!c->ours[i])
            fprintf(out, "a cache ends, as %s shows too\n", now->reference);
        else if (now->reference[0])
            fprintf(out, "a cliff of ours, which %s does not have\n", now->reference);
        else
            fprintf(out, "a cache ends, or a threshold is wrong\n");
    }
}
