/* The table of targets, and how a record meets them. A target whose case was not measured is not met. */
#include "tool/bench/targets.h"

#include "tool/bench/curve.h"

#include <string.h>

typedef enum figure_kind { NS, RATIO, HITS, ELEMS_PER_US, PEAK, CURVE, EXTRA } figure_kind;

static const struct {
    const char *text, *group, *name;
    figure_kind kind;
    double least, most; /* the figure lies between them */
} targets[] = {
    {"a memory of 1 MiB made in under 10 us", "allocation", "memory_1MiB", NS, 0, 10e3},
    {"the processor asked for in under 100 ns", "plan", "processor_query", NS, 0, 100},
    {"all capabilities in under 10 us", "plan", "capabilities", NS, 0, 10e3},
    {"a plan made in under 50 us", "plan", "plan_create", NS, 0, 50e3},
    {"a load with a cached plan in under 100 ns", "plan", "plan_cached", NS, 0, 100},
    {"over 99 % of repeated plans found", "plan", "plan_cached", HITS, 0.99, 1},
    {"vectors at least 2 x plain C: transpose u8", "isa", "transpose_u8_512", RATIO, 2, 1e9},
    {"vectors at least 2 x plain C: transpose f32", "isa", "transpose_f32_256", RATIO, 2, 1e9},
    {"vectors at least 2 x plain C: pack i4", "isa", "pack_i4_64k", RATIO, 2, 1e9},
    {"vectors at least 2 x plain C: f32 to bf16", "isa", "convert_f32_bf16_64k", RATIO, 2, 1e9},
    {"vectors at least 2 x plain C: f32 to i8", "isa", "convert_f32_i8_64k", RATIO, 2, 1e9},
    {"moves over 80 % of memcpy: copy 1 M", "batches", "copy_f32_1M", RATIO, 0.8, 1e9},
    {"moves over 80 % of memcpy: transpose f32 2048", "transposes", "transpose_f32_2048x2048", RATIO, 0.8, 1e9},
    {"moves over 80 % of memcpy: 16x16 tiles", "tiles", "tile16_i8_2048x2048", RATIO, 0.8, 1e9},
    {"moves over 80 % of memcpy: NCHW to NHWC f32", "transposes", "nchw_nhwc_f32_8x256x56x56", RATIO, 0.8, 1e9},
    {"the crossing from a simulation in under 50 ns", "dpi", "smallest_load_dpi", EXTRA, -1e9, 50},
    {"matrix 1024x4 at 1000 x 0.97 M elements/s", "matrix", "load_1024x4", ELEMS_PER_US, 970, 1e18},
    {"tensor 3x64x64 at 1000 x 0.53 M elements/s", "tensor", "rows_of_channels_3x64x64", ELEMS_PER_US, 530, 1e18},
    {"no larger batch costs more per element: copy", "batches", "copy_f32", CURVE, 0, 0},
    {"no larger batch costs more per element: transpose", "batches", "transpose_f32", CURVE, 0, 0},
    {"no larger batch costs more per element: pack", "batches", "pack_i4", CURVE, 0, 0},
    {"a transfer needs no memory that grows: 64 MiB", "batches", "copy_f32_16M", PEAK, 0, 65536},
    {"a transfer needs no memory that grows: transpose", "batches", "transpose_f32_16M", PEAK, 0, 65536},
};
#define TARGETS (sizeof targets / sizeof targets[0])

bool bench_target_wants(const bench_group *group, const bench_spec *spec)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i].group, group->name) == 0 &&
            strcmp(targets[i].name, targets[i].kind == CURVE ? spec->series : spec->name) == 0)
            return true;
    return false;
}

static bool find_figure(const bench_figure *f, figure_kind kind, double *found)
{
    *found = kind == NS             ? f->ns.median
             : kind == RATIO        ? f->ratio.median
             : kind == HITS         ? f->hits
             : kind == ELEMS_PER_US ? f->elems / f->ns.median * 1e3
             : kind == EXTRA        ? f->extra[0].value
                                    : f->peak_bytes;
    return f->ns.samples > 0 && (*found >= 0 || kind == EXTRA);
}

/* How many sizes of the curve cost over a tenth more an element than the one before while the reference does not: a
 * cache that ends is no fault of a batch. -1 without a curve. */
static double count_cliffs(const bench_record *r, const char *group, const char *series)
{
    static bench_curve curves[64];
    const size_t all = bench_curves_of(r, curves, 64);
    for (size_t i = 0; i < all && i < 64; i++)
        if (strcmp(curves[i].group, group) == 0 && strcmp(curves[i].series, series) == 0)
            return (double)curves[i].cliffs;
    return -1;
}

size_t bench_targets_print(FILE *out, const bench_record *r)
{
    static const char *const unit[] = {"ns",    "x the reference", "of the plans",       "elements/us",
                                       "bytes", "cliffs",          "ns more than from C"};
    size_t missed = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        const bench_figure *f = bench_record_find(r, targets[i].group, targets[i].name);
        double found = -1;
        bool known = f && find_figure(f, targets[i].kind, &found);
        if (targets[i].kind == CURVE) {
            found = count_cliffs(r, targets[i].group, targets[i].name);
            known = found >= 0;
        }
        const bool met = known && found >= targets[i].least && found <= targets[i].most;
        missed += !met;
        if (known)
            fprintf(out, "%-8s %-52s %10.4g %s\n", met ? "met" : "NOT MET", targets[i].text, found,
                    unit[targets[i].kind]);
        else
            fprintf(out, "%-8s %-52s %10s not measured%s%s\n", "NOT MET", targets[i].text, "",
                    f && f->skipped[0] ? ": " : "", f ? f->skipped : "");
    }
    fprintf(out, "%zu of %zu targets met%s\n", TARGETS - missed, TARGETS,
            r->fitness.fit ? "" : ", on an UNFIT machine");
    return missed;
}
