/* Sparse packings one by one: what sparse.c and sparse_words.c ask of the files that know a kind. A pack fills parts
 * that have the forms of td_sparse_forms; an unpack fills a tensor of zeros, and refuses parts that no tensor of its
 * shape has. */
#ifndef TD_SPARSE_KINDS_H
#define TD_SPARSE_KINDS_H

#include "kernels/keep.h"
#include "parts/sparse.h"

/* "csr", or "N:M". */
const char *td_sparse_kind_name(const td_sparse *s);

/* -- sparse_ratio.c: N:M -- */

td_status td_ratio_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);
td_status td_ratio_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor);

/* TD_RANGE with the first group that has more than N values, where none is pruned. */
td_status td_ratio_check(const td_sparse *s, const td_tensor *tensor);

/* -- sparse_runs.c -- */

/* How many values there are; with parts they are filled. */
uint64_t td_runs_walk(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);
void td_runs_step(const td_sparse *s, const td_tensor *tensor, uint64_t number, td_steps *steps,
                  td_tensor *const *parts);
td_status td_runs_unpack(td_tensor *const *parts, td_tensor *tensor);

/* -- sparse_order.c: the metadata of N:M -- */

typedef struct td_meta {
    uint64_t rows, groups, words, per_word; /* groups and words of a row, groups of a word */
    unsigned bits;                          /* of a group */
    uint64_t count;                         /* words of the part */
    uint64_t tile_words, tiles;             /* order=hopper: words of a row of a tile, and tiles of all rows */
} td_meta;

td_meta td_meta_of(const td_sparse *s, const td_shape *shape);
uint64_t td_meta_place(const td_sparse *s, const td_meta *m, uint64_t row, uint64_t word);

/* That the order goes with the shape and with s->elem; tile= that was not given gets its value. */
td_status td_meta_check(td_sparse *s, const td_shape *shape);

/* -- sparse_mask.c: masks, and the surfaces of NVDLA -- */

/* How many values there are; s->pieces becomes those of the tensor. */
uint64_t td_mask_count(td_sparse *s, const td_tensor *tensor);
td_status td_mask_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);
bool td_mask_has_steps(const td_sparse *s);
void td_mask_step(const td_sparse *s, const td_tensor *tensor, uint64_t number, td_steps *steps,
                  td_tensor *const *parts);
td_status td_mask_check(const td_sparse *s, const td_tensor *tensor, uint64_t count);
td_status td_mask_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor);

/* -- sparse_lists.c: csr, csc, coo -- */

/* As td_mask_count. */
uint64_t td_lists_count(td_sparse *s, const td_tensor *tensor);
td_status td_lists_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);
void td_lists_step(const td_sparse *s, const td_tensor *tensor, uint64_t number, td_steps *steps,
                   td_tensor *const *parts);
td_status td_lists_check(const td_sparse *s, const td_tensor *tensor, uint64_t count);
td_status td_lists_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor);

#define TD_SPARSE_STRIP 2048 /* elements that masks and runs are worked on at once: whole bytes of bits */

/* Which of `n` elements from `first` on are not zero. */
void td_sparse_flags(const td_keep_kernels *k, const td_tensor *t, uint64_t first, size_t n, unsigned char *flags);

/* The same as a set of kernels/keep.h; how many elements it has. */
size_t td_sparse_bits(const td_keep_kernels *k, const td_tensor *t, uint64_t first, size_t n, unsigned char *set);

/* That numbers up to `largest` fit index=. TD_RANGE. */
td_status td_sparse_check_number(const td_sparse *s, uint64_t largest, const char *what);

#endif
