/* One case of the search: the strings of a layout, and its plain loops. search.py writes tables of them, runner.c runs
 * them. */
#ifndef TD_BENCH_CASE_H
#define TD_BENCH_CASE_H

#include <stdint.h>

typedef struct search_case {
    const char *id, *dtype, *shape, *pattern, *options, *address, *as, *fill;
    uint64_t width_bits;
    void (*load)(unsigned char *const *m, const void *t);
    int (*dump)(void *t, unsigned char *const *m, void *scratch); /* 1: copies differ */
    void (*extent)(long *depth, long *banks);
} search_case;

#endif
