/* Sparse packings: the elements of a tensor that are not zero, and where they were. parts/parts.c calls it. All go
 * along the rows of the last dimension, in row-major order; what a zero is, a dtype says (both zeros of a float are).
 *
 *     2:4 (and any N:M)  of every M neighbours N are kept: values, and meta, the places of a group from its lowest bit
 *                        on, groups from the lowest bit of a word on
 *     mask               values, and mask, one u1 for every element; with chunk=N also pointers, the number of values
 *                        before every N elements
 *     csr, csc           values, columns (rows), and rows (columns): where each row (column) begins, and the end
 *     coo                values, rows, columns
 *     runs               values, and runs: so many zeros before each
 * Words: index=DTYPE of meta, pointers and numbers; base=1; prune=magnitude; spare=torch, first or last; order=ampere;
 * chunk=N; and for parts of zeros elem=DTYPE and count=N of the values. */
#ifndef TD_SPARSE_H
#define TD_SPARSE_H

#include "parts/form.h"

typedef enum td_sparse_kind {
    TD_SPARSE_N_OF_M,
    TD_SPARSE_MASK,
    TD_SPARSE_CSR,
    TD_SPARSE_CSC,
    TD_SPARSE_COO,
    TD_SPARSE_RUNS
} td_sparse_kind;

/* Which places a group of N:M names beside its fewer than N values. */
typedef enum td_spare { TD_SPARE_TORCH, TD_SPARE_FIRST, TD_SPARE_LAST } td_spare;

typedef struct td_sparse {
    uint8_t kind;   /* td_sparse_kind */
    uint8_t spare;  /* td_spare */
    uint8_t n, m;   /* N:M */
    bool prune;     /* by magnitude, where a group has more than N */
    bool ampere;    /* the order of meta */
    bool has_elem;  /* elem= is given */
    bool has_count; /* count= is given */
    uint64_t base;  /* of numbers: 0 or 1 */
    uint64_t chunk; /* mask: 0 for no pointers */
    uint64_t count; /* of values */
    td_dtype index, elem;
} td_sparse;

/* N:M: the bits of a group in meta, N places of log2(M) bits. NVIDIA's 1:2 counts halves of its elements, so that it
 * has the codes of 2:4. */
unsigned td_sparse_group_bits(const td_sparse *s);

/* Whether the text begins with the name of a sparse packing. */
bool td_sparse_is(const char *text);
td_status td_sparse_parse(const char *text, td_sparse *out);
#define TD_SPARSE_TEXT_BYTES 160
void td_sparse_print(const td_sparse *s, char *text);

/* The values of a tensor. TD_RANGE with the group where N:M cannot hold it without pruning. */
td_status td_sparse_count(const td_sparse *s, const td_tensor *tensor, uint64_t *count);

/* The parts for values of this dtype and number. TD_SHAPE where the shape does not go with the packing. */
td_status td_sparse_forms(const td_sparse *s, const td_shape *shape, td_dtype elem, uint64_t count,
                          td_part_form *forms);

/* Into parts that have these forms. TD_RANGE where a number does not fit its dtype. */
td_status td_sparse_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);

/* Back into a tensor of zeros, whose dtype is that of the values. TD_RANGE for places that a tensor of this shape does
 * not have. */
td_status td_sparse_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor);

#endif
