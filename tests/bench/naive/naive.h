/* The rows of the two tables: layouts beside the loop that their user would have written (rows.c), and layouts beside a
 * share of memcpy's speed or a time per element (targets.c). main.c times both. */
#ifndef TD_BENCH_NAIVE_H
#define TD_BENCH_NAIVE_H

#include "../subject.h"

/* `m` has the words of every bank, `t` the elements. A loop does the same work as the call: the same bytes, padding
 * and refusals included. */
typedef void (*naive_load)(unsigned char *const *m, const void *t);
typedef void (*naive_dump)(void *t, unsigned char *const *m);

typedef struct naive_row {
    const char *name;
    subject_text text;
    naive_load load; /* NULL: not in the table */
    naive_dump dump;
} naive_row;

extern const naive_row naive_rows[];
extern const size_t naive_row_count;

/* The tensors that scale=@NAME in the rows mean. */
#define NAIVE_COLUMNS 1024
#define NAIVE_ROWS 1024
extern float naive_column_scale[NAIVE_COLUMNS], naive_row_scale[NAIVE_ROWS];

enum { TARGET_LOAD = 1, TARGET_DUMP = 2, TARGET_BOTH = 3 };

typedef struct target_row {
    const char *name;
    subject_text text;
    int which;
    double load, dump; /* the ratio to memcpy that it must reach, or with `ns` the time that it must stay under */
    bool ns;           /* per element */
} target_row;

extern const target_row target_rows[];
extern const size_t target_row_count;
extern const target_row mode_rows[]; /* every mode of a conversion, in ns per element */
extern const size_t mode_row_count;

/* Small calls, plans: figures of their own. Each prints its lines where the name holds the filter. */
int naive_small_calls(const char *filter, bool quick);
int naive_plans(const char *filter, bool quick);

#endif
