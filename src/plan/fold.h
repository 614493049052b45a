/* Folds: transposes whose rows, or columns, are several loops. A block goes through two scratches that stay in the
 * first-level cache:
 *
 *   1. `in` copies the runs of the source into rows that follow one another, in the order in which the destination has
 *      them,
 *   2. one kernel transposes all rows at once,
 *   3. `out` copies the runs of the result to their places.
 *
 * Where the source has such rows already, or the destination takes columns at one stride, that copy is left out. So
 * axes of a few steps, which a transpose alone would move a few bytes at a time, become one long axis.
 * plan/choose_fold.c makes folds, exec/run_fold.c runs them. */
#ifndef TD_FOLD_H
#define TD_FOLD_H

#include "kernels/move.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_FOLD_BYTES 8192 /* of each scratch */
#define TD_FOLD_LOOPS 12

/* The lengths of runs, in bytes, for which the copies have a loop of their own; others take half as long again. */
#define TD_FOLD_RUNS(X) X(1) X(2) X(3) X(4) X(8) X(12) X(16) X(24) X(32) X(48) X(64)

typedef struct td_fold_loop {
    uint64_t extent;
    int64_t far;    /* bytes per step, in the source or the destination of the move */
    uint64_t near;  /* per step in the scratch: rows of it, or else bytes */
    bool row, unit; /* unit: the loop whose steps are the units, of which a call may have fewer */
} td_fold_loop;

/* From or to a scratch: every step of the loops moves `run` bytes; or so many for each unit, where `units_run`. */
typedef struct td_fold_copy {
    bool needed;
    bool units_run;
    uint8_t loops; /* the longest is the last */
    uint64_t run;
    td_fold_loop loop[TD_FOLD_LOOPS];
} td_fold_copy;

typedef struct td_fold {
    td_move_fn transpose;
    uint8_t elem;                     /* bytes */
    uint64_t rows, cols;              /* of one unit */
    bool unit_rows;                   /* units are more rows, and else more columns */
    ptrdiff_t src_stride, dst_stride; /* of the kernel, where nothing is copied */
    td_fold_copy in, out;
    /* All loops in the destination, for fills. */
    uint8_t axes;
    struct {
        uint64_t extent;
        int64_t dst;
        bool unit;
    } axis[TD_FOLD_LOOPS];
} td_fold;

/* exec/run_fold.c */
void td_fold_run(const td_fold *f, unsigned char *dst, const unsigned char *src, uint64_t units);

/* No fold: rows of a few bytes, for run_convert.c. */
void td_short_rows(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                   uint64_t rows, size_t bytes);

#endif
