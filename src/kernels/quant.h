/* Kernels between f32 and codes of one byte, block by block: what parts/blocks.c does with elements once their scales
 * are known. They refuse nothing. Every version gives the bits of plain C.
 *
 * Rows of `blocks` blocks of `block` elements, j < blocks, i < block:
 *   floats   dst[j * block + i] = the code of row[j * block + i] * by[j], or / by[j] where q->divides, in a float of
 *            q->bits: to nearest even, magnitudes past the largest to the largest, and a NaN too; with the sign
 *   ints     the same in integers: the quotient by by[j], rounded to f32, then to nearest even, + zero[j], at least
 *            q->low and at most q->high; zero, NULL for none, is one of them. A NaN gives any
 * `bounded` promises, for floats, that every product is less than twice the largest element, and for ints that every
 * quotient is at most 40; then there are no infinities and no NaN either. With q->stream codes go past the caches where
 * dst is aligned, and the caller calls td_move_fence; up to q->end what comes behind the row is prefetched.
 *   both     scales and codes in one step, of 16 blocks after another, from the first on: floats and ints with what
 *            kernels/block.h makes of the row, by rule->power what `powers` does, by rule->chain what `amax` and
 *            `chain` do, by rule->ratio what `amax`, `ratio` and `half` do; scales have the size of that. Returns how
 *            many blocks are done, a multiple of 16; it ends before 32 of which one holds an infinity or a NaN, has a
 *            scale that is one, or is not bounded, and before fewer than 32; scales of all blocks may be written. dst
 *            streams, the row is prefetched as above. has_both: whether there is such a step; without one none is done
 *   values   dst[j * block + i] = (q->table[codes[j * block + i]] - zero[j]) * by[j] * q->extra, each rounded to f32.
 *            zero is NULL for none; q->stream as above */
#ifndef TD_KERNELS_QUANT_H
#define TD_KERNELS_QUANT_H

#include "kernels/block.h"
#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* values: how a code is its value, beside the table. */
typedef enum td_quant_form {
    TD_QUANT_TABLE, /* the table says it */
    TD_QUANT_FLOAT, /* magnitudes up to `finite` are fields of a float with man_bits and least_bits, under a sign */
    TD_QUANT_INT    /* a whole number of `unit`, with a sign where low < 0 */
} td_quant_form;

typedef struct td_quant {
    bool divides;        /* floats */
    bool powers;         /* floats: every by is a power of two */
    bool stream;         /* past the caches */
    unsigned bits;       /* of a code */
    unsigned man_bits;   /* floats: of a mantissa, 3 at most */
    uint32_t least_bits; /* floats: the smallest normal number and the largest, as the bits of an f32 */
    uint32_t most_bits;
    int32_t low, high; /* ints: from -128 to 255 */
    const float *end;  /* floats, ints: of a large tensor, of which the row is a part; else NULL */
    size_t ahead;      /* with an end: of td_prefetch_pages */
    td_quant_form form;
    uint32_t finite; /* values: as form says */
    float unit;
    float extra;
    float table[256];           /* values: of all bytes; the upper half of an f32 holds each */
    unsigned char half[2][256]; /* values: bytes 2 and 3 of the table */
} td_quant;

/* How scales come from a row: by one of these, the others are NULL. */
typedef struct td_quant_rule {
    const td_power *power; /* floats, q->powers */
    const td_chain *chain; /* floats */
    const td_ratio *ratio; /* ints that have no zero points */
    bool exact;            /* of half, behind a ratio */
} td_quant_rule;

typedef struct td_quant_kernels {
    void (*floats)(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block, const td_quant *q,
                   bool bounded);
    void (*ints)(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks, size_t block,
                 const td_quant *q, bool bounded);
    void (*values)(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks, size_t block,
                   const td_quant *q);
    bool (*has_both)(size_t block, const td_quant_rule *rule, const td_quant *q);
    size_t (*both)(uint8_t *dst, void *scales, const float *row, size_t blocks, size_t block, const td_quant_rule *rule,
                   const td_quant *q);
} td_quant_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_quant_init(td_quant_kernels *kernels, unsigned cpu_flags);

#define TD_QUANT_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_quant_init_##isa(td_quant_kernels *kernels);
TD_QUANT_ISAS(X)
#undef X

#endif
