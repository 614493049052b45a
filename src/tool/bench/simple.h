/* Groups whose cases are a few lines each: a table of cases, each with a function that makes its state. What they have
 * in common is here; the files group_*.c have the tables. */
#ifndef TD_BENCH_SIMPLE_H
#define TD_BENCH_SIMPLE_H

#include "tensordoor.h"
#include "tool/bench/bench.h"

typedef struct bench_simple_case {
    const char *name, *series; /* series NULL: of no curve */
    const char *text;          /* what the group's functions make of it */
    uint64_t size;
    unsigned threads; /* 0: one */
} bench_simple_case;

/* What a simple case works on. Everything is destroyed or freed at the end. */
typedef struct bench_simple {
    const bench_simple_case *of;
    td_tensor *tensor, *other;
    td_memory *memory;
    td_layout *layout;
    td_parts *parts;
    uint64_t *addresses;
    unsigned char *src, *dst; /* for memcpy: `bytes` each */
    unsigned char *room;      /* that dst lies in */
    size_t bytes;
    double number[4]; /* the group's own */
} bench_simple;

typedef struct bench_simple_table {
    const bench_simple_case *cases;
    size_t count;
    /* Fills the state and adds runners; false with td_last_error. `why` of a case that is skipped. */
    bench_opened (*open)(bench_simple *s, bench_subject *out, char *why, size_t size);
} bench_simple_table;

size_t bench_simple_count(const bench_group *group);
void bench_simple_spec(const bench_group *group, size_t number, bench_spec *out);
bench_opened bench_simple_open(const bench_group *group, size_t number, const bench_settings *settings,
                               bench_subject *out, char *why, size_t size);

/* memcpy of `bytes`; the two buffers are made for it, touched, on huge pages. */
bool bench_simple_buffers(bench_simple *s, size_t bytes);
double bench_simple_memcpy(void *state, uint64_t repetitions);

/* A check: `tensor` loaded by `layout`, dumped into `other`, and the same again; and plain C leaves the same words. */
bool bench_simple_check_load(void *state, char *why, size_t size);

/* The time of a statement that is repeated; returns -1 from the function around it where it does not succeed. */
#define BENCH_REPEAT(repetitions, call)                                                                                \
    do {                                                                                                               \
        const uint64_t start_ns = td_now_ns();                                                                         \
        for (uint64_t repeat = 0; repeat < (repetitions); repeat++)                                                    \
            if (call)                                                                                                  \
                return -1;                                                                                             \
        return (double)(td_now_ns() - start_ns) / (double)(repetitions);                                               \
    } while (0)

#define BENCH_SIMPLE_GROUP(symbol, name, about, table)                                                                 \
    const bench_group symbol = {                                                                                       \
        name, about, false, &(table), bench_simple_count, bench_simple_spec, bench_simple_open,                        \
    }

#endif
