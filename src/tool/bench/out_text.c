/* Tables in text: for a terminal, and as Markdown and CSV for what comes after. */
#include "tool/bench/out.h"

#include <string.h>

void bench_text_ns(double ns, char *text, size_t size)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int u = 0;
    for (; u < 3 && ns >= 999.5; u++)
        ns /= 1e3;
    snprintf(text, size, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, unit[u]);
}

void bench_text_rate(double bytes_per_ns, char *text, size_t size)
{
    if (bytes_per_ns >= 0.1)
        snprintf(text, size, "%.3g GB/s", bytes_per_ns);
    else
        snprintf(text, size, "%.3g MB/s", 1e3 * bytes_per_ns);
}

void bench_out_machine(FILE *out, const bench_record *r)
{
    const bench_fitness *f = &r->fitness;
    fprintf(out, "%u x %s, %s, %s; tensordoor %s, commit %s\n", r->cores, r->processor, r->isa, r->system, r->library,
            r->commit);
    fprintf(out,
            "load %.2f, stolen %.1f %%, governor %s, a loop of fixed work spreads by %.1f %%, its clock by %.1f %%, "
            "the core is ours for %.0f %% of the time: ",
            f->load, f->steal < 0 ? 0 : 100 * f->steal, f->governor[0] ? f->governor : "unknown", 100 * f->calibration,
            100 * f->clock, 100 * f->calm);
    if (f->fit)
        fprintf(out, "fit to measure on\n");
    else
        fprintf(out, "UNFIT to measure on: %s\n", f->why);
}

void bench_out_head(FILE *out)
{
    fprintf(out, "%-44s %10s %21s %10s %7s %15s %6s %4s %6s %9s  %s\n", "case", "time", "99 % interval", "rate",
            "ratio", "99 % interval", "spread", "outl", "allocs", "peak B", "peers, as ratios");
}

static const bench_stat *reference_of(const bench_figure *f)
{
    return f->reference[0] && f->peer_count ? &f->peer[0].ns : NULL;
}

static void print_extras(FILE *out, const bench_figure *f)
{
    for (size_t i = 0; i < f->extra_count; i++)
        fprintf(out, "  %s %.4g", f->extra[i].name, f->extra[i].value);
}

void bench_out_line(FILE *out, const bench_figure *f, const bench_judgement *j)
{
    char name[112], time[16], low[16], high[16], rate[20], interval[40], ratio[40] = "";
    snprintf(name, sizeof name, "%s/%s", f->group, f->name);
    if (f->skipped[0]) {
        fprintf(out, "%-44s skipped: %s\n", name, f->skipped);
        return;
    }
    bench_text_ns(f->ns.median, time, sizeof time);
    bench_text_ns(f->ns.low, low, sizeof low);
    bench_text_ns(f->ns.high, high, sizeof high);
    bench_text_rate(f->ns.median > 0 ? f->bytes / f->ns.median : 0, rate, sizeof rate);
    snprintf(interval, sizeof interval, "%s..%s", low, high);
    fprintf(out, "%-44s %10s %21s %10s", name, time, interval, f->bytes > 0 ? rate : "");
    if (f->reference[0]) {
        snprintf(ratio, sizeof ratio, "%.3f..%.3f", f->ratio.low, f->ratio.high);
        fprintf(out, " %7.3f %15s", f->ratio.median, ratio);
    } else {
        fprintf(out, " %7s %15s", "", "");
    }
    fprintf(out, " %6.3f %4u", f->ns.spread, f->ns.outliers);
    if (f->allocations >= 0)
        fprintf(out, " %6.3g %9.0f ", f->allocations, f->peak_bytes);
    else
        fprintf(out, " %6s %9s ", "", "");
    const bench_stat *reference = reference_of(f);
    for (size_t i = 0; reference && i < f->peer_count; i++)
        if (i)
            fprintf(out, " %s %.3f", f->peer[i].name, reference->median / f->peer[i].ns.median);
        else if (strcmp(f->peer[i].name, "memcpy") != 0)
            fprintf(out, " against %s", f->peer[i].name);
    print_extras(out, f);
    if (j && j->verdict != BENCH_EQUAL && j->verdict != BENCH_NEW)
        fprintf(out, "  %s: %s", bench_verdict_name(j->verdict), j->text);
    fprintf(out, "\n");
    fflush(out);
}

bench_verdict bench_worst(const bench_out *what)
{
    bench_verdict worst = BENCH_EQUAL;
    for (size_t i = 0; what->judgement && i < what->now->count; i++) {
        const bench_verdict v = what->judgement[i].verdict;
        if (v > worst && v != BENCH_NEW)
            worst = v;
    }
    return worst;
}

static size_t count_verdict(const bench_out *what, bench_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < what->now->count; i++)
        count += what->judgement[i].verdict == verdict && !what->now->figure[i].skipped[0];
    return count;
}

void bench_out_verdict(FILE *out, const bench_out *what)
{
    if (!what->then && bench_worst(what) != BENCH_FAILS)
        return;
    for (size_t i = 0; i < what->now->count; i++)
        if (what->judgement[i].verdict >= BENCH_UNDECIDED)
            fprintf(out, "%s: %s/%s %s\n", bench_verdict_name(what->judgement[i].verdict), what->now->figure[i].group,
                    what->now->figure[i].name, what->judgement[i].text);
    fprintf(out, "%s%s%s: %zu equal, %zu faster, %zu slower, %zu more spread, %zu failed, %zu undecided, %zu new%s\n",
            what->then ? "against " : "without a baseline", what->then ? what->baseline : "",
            what->then ? (strcmp(what->then->processor, what->now->processor) != 0 ? " (of ANOTHER PROCESSOR)" : "")
                       : "",
            count_verdict(what, BENCH_EQUAL), count_verdict(what, BENCH_FASTER), count_verdict(what, BENCH_SLOWER),
            count_verdict(what, BENCH_SPREADS), count_verdict(what, BENCH_FAILS), count_verdict(what, BENCH_UNDECIDED),
            count_verdict(what, BENCH_NEW), what->now->fitness.fit ? "" : "; on an UNFIT machine");
}

void bench_out_markdown(FILE *out, const bench_out *what)
{
    const bench_record *r = what->now;
    bench_out_machine(out, r);
    fprintf(out, "\n| case | time | rate | ratio | interval | spread | allocations | peers, as ratios |%s\n",
            what->then ? " verdict |" : "");
    fprintf(out, "|---|---|---|---|---|---|---|---|%s\n", what->then ? "---|" : "");
    for (size_t i = 0; i < r->count; i++) {
        const bench_figure *f = &r->figure[i];
        char time[16], rate[20];
        bench_text_ns(f->ns.median, time, sizeof time);
        bench_text_rate(f->ns.median > 0 ? f->bytes / f->ns.median : 0, rate, sizeof rate);
        if (f->skipped[0]) {
            fprintf(out, "| %s/%s | skipped: %s | | | | | | |%s\n", f->group, f->name, f->skipped,
                    what->then ? " |" : "");
            continue;
        }
        fprintf(out, "| %s/%s | %s | %s | ", f->group, f->name, time, f->bytes > 0 ? rate : "");
        if (f->reference[0])
            fprintf(out, "%.3f | %.3f to %.3f", f->ratio.median, f->ratio.low, f->ratio.high);
        else
            fprintf(out, " | ");
        fprintf(out, " | %.3f | ", f->ns.spread);
        if (f->allocations >= 0)
            fprintf(out, "%.3g", f->allocations);
        fprintf(out, " |");
        for (size_t p = 1; f->reference[0] && p < f->peer_count; p++)
            fprintf(out, "%s %s %.3f", p > 1 ? "," : "", f->peer[p].name, f->peer[0].ns.median / f->peer[p].ns.median);
        fprintf(out, " |");
        if (what->then)
            fprintf(out, " %s%s%s |", bench_verdict_name(what->judgement[i].verdict),
                    what->judgement[i].text[0] ? ": " : "", what->judgement[i].text);
        fprintf(out, "\n");
    }
}

void bench_out_csv(FILE *out, const bench_out *what)
{
    const bench_record *r = what->now;
    fprintf(out, "group,case,elems,bytes,threads,ns,ns_low,ns_high,spread,samples,outliers,calm,disturbed,reference,"
                 "reference_ns,ratio,"
                 "ratio_low,ratio_high,allocations,peak_bytes,verdict,change,fit,commit\n");
    for (size_t i = 0; i < r->count; i++) {
        const bench_figure *f = &r->figure[i];
        if (f->skipped[0])
            continue;
        fprintf(out, "%s,%s,%.0f,%.0f,%u,%.7g,%.7g,%.7g,%.4g,%u,%u,%s,%u,%s,", f->group, f->name, f->elems, f->bytes,
                f->threads, f->ns.median, f->ns.low, f->ns.high, f->ns.spread, f->ns.samples, f->ns.outliers,
                f->calm ? "yes" : "no", f->disturbed, f->reference);
        if (f->reference[0])
            fprintf(out, "%.7g,%.7g,%.7g,%.7g,", f->peer[0].ns.median, f->ratio.median, f->ratio.low, f->ratio.high);
        else
            fprintf(out, ",,,,");
        if (f->allocations >= 0)
            fprintf(out, "%.4g,%.0f,", f->allocations, f->peak_bytes);
        else
            fprintf(out, ",,");
        fprintf(out, "%s,%.4g,%s,%s\n", what->then ? bench_verdict_name(what->judgement[i].verdict) : "",
                what->judgement[i].change, r->fitness.fit ? "yes" : "no", r->commit);
    }
}
