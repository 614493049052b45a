/* Kernels for codes of words: every bit of a word that comes out is the exclusive or of some bits of the word that
 * goes in, of bits of its address, and of a constant. codes/words.c makes the two maps of a code with codes/map.c:
 * data to coded words, and coded words to data with their syndromes. The kernels refuse nothing.
 *
 *   code_map   for w < count: the word at dst + w * dst_bytes from the one at src + w * src_bytes and from the number
 *              first + w. Ends before a word whose syndrome is not 0, or before the block of at most TD_CODE_BLOCK
 *              words in which it stands, and returns how many words it has mapped; those behind are not written. dst
 *              may be NULL: then only syndromes are looked at
 *
 * Words are those of memories: 1, 2, 4 or 8 bytes, or more in whole 32-bit words. */
#ifndef TD_KERNELS_CODE_H
#define TD_KERNELS_CODE_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_CODE_KERNELS(X) X(code_map)

#define TD_CODE_BLOCK 64  /* words that a kernel takes at once, at most */
#define TD_CODE_DWORDS 64 /* of 32 bits in a word: wider ones go through plain C */
#define TD_CODE_MIDDLE 32 /* and of what is made on the way */
#define TD_CODE_SYNDROME (~(uint32_t)0)

/* What one byte of the source adds to a row: 8 bits that each are the parity of some of its bits. */
typedef struct td_code_term {
    uint32_t src;             /* the byte of the source word; from td_code_map.address on: of the address, 8 bytes;
                               * behind those: of what is made on the way */
    uint32_t identity;        /* 1: the byte itself */
    uint64_t affine;          /* as gf2p8affineqb takes it: byte 7 - i is the mask of bit i */
    unsigned char low[16];    /* for the low four bits of the byte */
    unsigned char high[16];   /* and for the high four: the two are added */
    unsigned char table[256]; /* for the whole byte */
} td_code_term;

/* One byte of the destination word, or eight bits of a syndrome. */
typedef struct td_code_row {
    uint32_t dst; /* the byte, or TD_CODE_SYNDROME */
    uint32_t first_term, terms;
    unsigned char constant;
} td_code_row;

/* 32 bits that are put together from bits of other 32-bit words: each of them is shifted by `left`, or by -left to the
 * right, and gives the bits of its mask. Of words of several subwords these are far cheaper than terms. */
typedef struct td_code_field {
    uint32_t src; /* the 32-bit word, numbered as the bytes of terms are */
    int32_t left;
    uint32_t mask;
} td_code_field;

typedef struct td_code_join {
    uint32_t dst; /* the 32-bit word */
    uint32_t first_field, fields;
    uint32_t constant; /* is added */
} td_code_join;

/* Four bytes that are the same in both words. Numbers of 32-bit words. */
typedef struct td_code_copy {
    uint32_t dst, src;
} td_code_copy;

/* Four bytes of which some are constant; rows write the others. */
typedef struct td_code_fill {
    uint32_t dst, value;
} td_code_fill;

/* Lane i is byte at[i] of the vector whose mask has bit i: of the source, or, the last mask, of the sums. */
#define TD_CODE_STEP_VECTORS 3 /* of 64 bytes, at most, of the source and of the destination */
typedef struct td_code_pick {
    unsigned char at[64];
    uint64_t of[TD_CODE_STEP_VECTORS + 1];
} td_code_pick;

/* A part of all sums of a step: bytes of the source, and the matrix of every eight of them. */
#define TD_CODE_STEP_TERMS 8
typedef struct td_code_step_term {
    td_code_pick pick;
    uint64_t affine[8];
} td_code_step_term;

/* Some words at once that stay in vectors of 64 bytes, where all fields are whole bytes or rows are few. A row that is
 * not one byte of the source as it is becomes a sum: sum r of word w is lane r * words + w of a vector. Where the sums
 * fill a half, a quarter or an eighth of the lanes, 2, 4 or 8 of their terms stand side by side in one vector, and
 * `folds` times its upper half is added to its lower one. */
typedef struct td_code_step {
    uint32_t words, src_vectors, dst_vectors, terms, folds;
    uint32_t cost;    /* of TD_CODE_BLOCK words, in about instructions */
    bool writes_sums; /* else they are syndromes alone */
    uint64_t last;    /* lanes of the last vector of the destination */
    unsigned char constant[64];
    unsigned char syndrome[64]; /* 0xff: the lane must be zero */
    td_code_step_term term[TD_CODE_STEP_TERMS];
    td_code_pick out[TD_CODE_STEP_VECTORS];
} td_code_step;

/* In order: the early joins, from the source to words of the middle; the rows and syndromes; the late joins, from
 * source and middle to the destination. Rows are bytes of the destination, or of the middle: then their numbers are
 * those that terms have. Copies are of the source or of the middle. */
typedef struct td_code_map {
    size_t src_bytes, dst_bytes; /* of a stored word */
    uint32_t address;            /* the number of the first byte of the address: src_bytes, rounded up to 4 */
    uint32_t row_count, copy_count, syndrome_count, plane_count, fill_count, busy_count;
    bool rows_in_middle;
    uint32_t early_count, late_count, middle_count; /* middle: 32-bit words, behind the address */
    td_code_join *early, *late;
    td_code_field *field;
    td_code_row *row; /* by the byte of the destination; the syndromes behind */
    td_code_fill *fill;
    td_code_row *busy; /* plain C: the rows that the fills leave */
    td_code_copy *copy;
    uint32_t *plane; /* the 32-bit words of source and address whose bytes stand in terms */
    td_code_term *term;
    td_code_step *step; /* NULL: the map has no such form */
} td_code_map;

/* The number of the first 32-bit word of the middle. */
static inline uint32_t td_code_middle(const td_code_map *map)
{
    return map->address / 4 + 2;
}

typedef size_t (*td_code_fn)(const td_code_map *map, unsigned char *dst, const unsigned char *src, uint64_t first,
                             size_t count);

#define TD_CODE_KERNEL(name, isa)                                                                                      \
    size_t td_##name##_##isa(const td_code_map *map, unsigned char *dst, const unsigned char *src, uint64_t first,     \
                             size_t count)

typedef struct td_code_kernels {
#define X(name) td_code_fn name;
    TD_CODE_KERNELS(X)
#undef X
} td_code_kernels;

#define X(name) TD_PROTOTYPES(TD_CODE_KERNEL, name)
TD_CODE_KERNELS(X)
#undef X

/* A way of its own for words that are one subword, which kernels of several instruction sets share: maps words up to a
 * number of them, which it returns, 0 for other maps; *ended where it found a syndrome that is not zero. */
#define TD_CODE_SINGLE(isa)                                                                                            \
    size_t td_code_single_##isa(const td_code_map *map, unsigned char *dst, const unsigned char *src, size_t count,    \
                                bool *ended)
TD_ON_X86_64(TD_CODE_SINGLE(avx2);)

/* code_step.c: the cheapest step of a map. False where it has none; a map with fields has none. */
bool td_code_step_make(const td_code_map *map, td_code_step *out);

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_code_init(td_code_kernels *kernels, unsigned cpu_flags);

#define TD_CODE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_GFNI(X)
#define X(isa, flag) void td_code_init_##isa(td_code_kernels *kernels);
TD_CODE_ISAS(X)
#undef X

#endif
