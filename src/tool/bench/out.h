/* The forms that a run is printed in. Each takes a record, and the verdicts where there is a baseline. */
#ifndef TD_BENCH_OUT_H
#define TD_BENCH_OUT_H

#include "tool/bench/verdict.h"

#include <stdio.h>

typedef struct bench_out {
    const bench_record *now, *then;   /* `then` is the baseline; NULL without */
    const bench_judgement *judgement; /* one for each figure of `now` */
    const char *baseline;             /* its name */
} bench_out;

/* A table for people, line by line as the run goes on. */
void bench_out_machine(FILE *out, const bench_record *record);
void bench_out_head(FILE *out);
void bench_out_line(FILE *out, const bench_figure *figure, const bench_judgement *judgement);
/* What the verdicts come to, in a few lines; nothing without a baseline. */
void bench_out_verdict(FILE *out, const bench_out *what);

void bench_out_markdown(FILE *out, const bench_out *what);
void bench_out_csv(FILE *out, const bench_out *what);

/* "1.24 us", "3.1 GB/s": three digits. */
void bench_text_ns(double ns, char *text, size_t size);
void bench_text_rate(double bytes_per_ns, char *text, size_t size);

/* The worst of all verdicts. */
bench_verdict bench_worst(const bench_out *what);

#endif
