/* Sparse packings: the elements of a tensor that are not zero, and where they were. parts/parts.c calls it. All go
 * along the rows of the last dimension, in row-major order; what a zero is, a dtype says (both zeros of a float are).
 *
 *     2:4 (and any N:M)  of every M neighbours N are kept: values, and meta, the places of a group from its lowest bit
 *                        on, groups from the lowest bit of a word on
 *     mask               values, and mask, one u1 for every element, or its bits in words; with chunk=N also pointers,
 *                        the number of values before every N elements
 *     nvdla              the three surfaces of NVDLA's weights: values without zeros, mask, and sizes, the bytes that
 *                        every kernel group keeps
 *     csr, csc           values, columns (rows), and rows (columns): where each row (column) begins, and the end
 *     coo                values, rows, columns
 *     runs               values, and runs: so many zeros before each
 * The words are in tensordoor.h, section 11, and in sparse_words.c. */
#ifndef TD_SPARSE_H
#define TD_SPARSE_H

#include "base/pool.h"
#include "parts/form.h"

typedef enum td_sparse_kind {
    TD_SPARSE_N_OF_M,
    TD_SPARSE_MASK,
    TD_SPARSE_CSR,
    TD_SPARSE_CSC,
    TD_SPARSE_COO,
    TD_SPARSE_RUNS,
    TD_SPARSE_NVDLA
} td_sparse_kind;

/* Which places a group of N:M names beside its fewer than N values. */
typedef enum td_spare { TD_SPARE_TORCH, TD_SPARE_FIRST, TD_SPARE_LAST } td_spare;

/* What a group of N:M with more values loses: it is refused, the least, or what torch.sparse forgets. */
typedef enum td_prune { TD_PRUNE_NONE, TD_PRUNE_MAGNITUDE, TD_PRUNE_TORCH } td_prune;

/* The order of the metadata of N:M. */
typedef enum td_meta_order { TD_META_PLAIN, TD_META_AMPERE, TD_META_MARLIN, TD_META_HOPPER } td_meta_order;

/* Which zeros the lists keep: none, those with a sign, or one in a row that has nothing else. */
typedef enum td_list_zeros { TD_ZEROS_NONE, TD_ZEROS_SIGNED, TD_ZEROS_ROW } td_list_zeros;

/* What threads share of a mask or a list: pieces of its strips or rows, and how many values lie before each. */
typedef struct td_pieces {
    unsigned count; /* 0: not known yet */
    uint64_t before[TD_POOL_PARTS];
} td_pieces;

typedef struct td_sparse {
    uint8_t kind;   /* td_sparse_kind */
    uint8_t spare;  /* td_spare */
    uint8_t order;  /* td_meta_order */
    uint8_t zeros;  /* td_list_zeros */
    uint8_t prune;  /* td_prune */
    uint8_t n, m;   /* N:M */
    bool msb_first; /* the first element of a word of the mask is its highest bit */
    bool in_bytes;  /* pointers and starts count bytes of values */
    bool tool;      /* NVDLA: as its verification tool writes the surfaces, not as its document says */
    bool has_elem;  /* elem= is given */
    bool has_count; /* count= is given */
    uint64_t base;  /* of numbers: 0 or 1 */
    uint64_t chunk; /* mask: 0 for no pointers */
    uint64_t tile;  /* order=hopper: elements of a tile along a row; 0: not given */
    uint64_t pad;   /* csr, csc: rows have a multiple of so many values */
    uint64_t group; /* NVDLA: elements of a kernel group; 0: not given */
    uint64_t align; /* NVDLA: bytes that surfaces are padded to */
    uint64_t count; /* of values */
    td_dtype index, word, elem;
    td_pieces pieces; /* of the tensor that td_sparse_count has seen */
} td_sparse;

/* N:M: the bits of a group in meta, N places of log2(M) bits. NVIDIA's 1:2 counts halves of its elements, so that it
 * has the codes of 2:4. */
unsigned td_sparse_group_bits(const td_sparse *s);

/* Whether the text begins with the name of a sparse packing. */
bool td_sparse_is(const char *text);
td_status td_sparse_parse(const char *text, td_sparse *out);
#define TD_SPARSE_TEXT_BYTES 256
void td_sparse_print(const td_sparse *s, char *text);

/* The values of a tensor, which td_sparse_pack is for then. TD_RANGE with the group where N:M, but 2:4, cannot hold it
 * without pruning. */
td_status td_sparse_count(td_sparse *s, const td_tensor *tensor, uint64_t *count);

/* The parts for values of this dtype and number; words that depend on them get their values. TD_SHAPE or TD_OPTION
 * where the shape or the dtype does not go with the packing. */
td_status td_sparse_forms(td_sparse *s, const td_shape *shape, td_dtype elem, uint64_t count, td_part_form *forms);

/* Whether some rows of the first dimension, packed alone, give those rows of every part: N:M with metadata in plain
 * order, of a tensor with rows. */
bool td_sparse_goes_by_rows(const td_sparse *s, const td_shape *shape);

/* That td_sparse_pack will not refuse the values, of which there are `count`. TD_RANGE with the group where N:M cannot
 * hold it without pruning, and for numbers that do not fit their dtype. */
td_status td_sparse_check(const td_sparse *s, const td_tensor *tensor, uint64_t count);

/* Masks and lists step by step: a step makes the next elements of every part, so that no part has to be whole. */
typedef struct td_steps {
    uint64_t count;
    uint64_t most[TD_MOST_PARTS];  /* elements that a step makes of each part; the last one may make one more */
    uint64_t made[TD_MOST_PARTS];  /* elements so far */
    uint64_t first[TD_MOST_PARTS]; /* the number of the element at index 0 of the tensor that td_sparse_step gets */
    uint64_t run;                  /* runs: zeros since the last value */
} td_steps;

/* False for packings that have no steps: N:M, NVDLA's surfaces, and masks with words that have bits of two steps. */
bool td_sparse_steps(const td_sparse *s, const td_tensor *tensor, td_steps *out);
void td_sparse_step(const td_sparse *s, const td_tensor *tensor, uint64_t number, td_steps *steps,
                    td_tensor *const *parts);

/* Into parts that have these forms. TD_RANGE where a number does not fit its dtype, and with the group where 2:4 cannot
 * hold it without pruning. */
td_status td_sparse_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts);

/* Whether packing writes every element of this part, and unpacking every one of the tensor, so that neither has to
 * begin as zeros: 2:4, and masks without surfaces, which unpack so; of packing the values, and a mask of u1. */
bool td_sparse_writes_part(const td_sparse *s, int part);
bool td_sparse_writes_tensor(const td_sparse *s);

/* Whether unpacking refuses parts before it writes anything, and then writes every element: masks, NVDLA's surfaces. */
bool td_sparse_refuses_first(const td_sparse *s);

/* Back into a tensor of zeros, unless td_sparse_writes_tensor, whose dtype is that of the values. TD_RANGE for places
 * that a tensor of this shape does not have. */
td_status td_sparse_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor);

#endif
