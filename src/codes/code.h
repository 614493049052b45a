/* Codes of words: parity, SECDED and any masks, from a text to the two maps that kernels/code.h runs. The facade
 * (codes/memory.c) and memories that lie over others call the functions of words.c; nothing here knows of layouts.
 *
 * Every check bit is a sum of bits of the data and of the address: where masks name earlier check bits too, as those of
 * the Hamming codes do, they are put in (columns.c). So a code is a column for every bit that it covers: the set of
 * check bits which that bit changes. An error in one bit has its column as the syndrome. */
#ifndef TD_CODES_CODE_H
#define TD_CODES_CODE_H

#include "kernels/code.h"
#include "memory/memory.h"

#define TD_CODE_CHECKS 32         /* check bits of a subword, at most */
#define TD_CODE_COVERED_BITS 4096 /* data and address bits of a subword, at most */
#define TD_CODE_CODED_BITS 65536  /* of a coded word, at most */
#define TD_CODE_MASK_WORDS ((TD_CODE_COVERED_BITS + TD_CODE_CHECKS + 63) / 64)

typedef enum td_code_place { TD_PLACE_ABOVE, TD_PLACE_BELOW, TD_PLACE_INTERLEAVED } td_code_place;

/* Bits in 64-bit words, the low ones first. */
typedef struct td_code_mask {
    uint64_t bits[TD_CODE_MASK_WORDS];
} td_code_mask;

static inline bool td_code_mask_bit(const td_code_mask *mask, size_t bit)
{
    return mask->bits[bit / 64] >> bit % 64 & 1;
}

/* What a text says (text.c): a code without its maps. */
typedef struct td_code_spec {
    char name[24]; /* "39_32", "parity", "hsiao", "hamming" or "masks" */
    bool odd;      /* of parity */
    bool inverted; /* check bits 1, 3, 5, .. */
    bool detect_only;
    bool place_given, subword_given;
    td_code_place place;
    uint64_t subword_bits, address_bits;
    uint32_t mask_count; /* of named codes and of masks=; the others are constructed */
    td_code_mask *mask;  /* TD_CODE_CHECKS of them */
    bool xor_given;
    td_code_mask constant;
} td_code_spec;

/* A bit of a subword by its column, in the order of the columns. */
typedef struct td_code_column {
    uint32_t column;
    uint32_t bit; /* data from 0, then address, then check bits */
} td_code_column;

struct td_code {
    unsigned users; /* who holds it: its maker, and memories */
    char *text;
    uint64_t data_bits, coded_bits;    /* of a word */
    uint32_t subword_bits, subwords;   /* data bits of a subword, and how many a word has */
    uint32_t address_bits, check_bits; /* of a subword */
    td_code_place place;
    uint32_t distance; /* 4 stands for 4 and more */
    bool corrects;
    uint32_t constant_check; /* added to the check bits, */
    td_code_mask constant;   /* and to the data bits */
    uint32_t *column;        /* of data, address and check bits */
    td_code_column *by_column;
    td_code_map encode, check;
};

/* -- text.c -- */

/* TD_OPTION or TD_FILE. On failure too, td_code_spec_free frees it. */
td_status td_code_spec_read(const char *text, td_code_spec *out);
void td_code_spec_free(td_code_spec *spec);

/* The text with every word that matters; the caller frees it. NULL without memory. */
char *td_code_spec_print(const td_code_spec *spec, const td_code *code);

/* -- columns.c -- */

/* Fills check_bits, column, by_column, distance and corrects; subword_bits and address_bits are set. */
td_status td_code_columns(td_code *code, const td_code_spec *spec);

/* The bit that has this column, or UINT32_MAX. */
uint32_t td_code_find(const td_code *code, uint32_t column);

/* -- map.c -- */

td_status td_code_maps(td_code *code);
void td_code_map_free(td_code_map *map);

/* Where a bit of a subword (data, or check bits from subword_bits on) stands in the coded word, and the other way. */
uint64_t td_code_bit_at(const td_code *code, uint32_t subword, uint32_t bit);
uint32_t td_code_bit_of(const td_code *code, uint64_t coded_bit, uint32_t *subword);

/* -- code.c -- */

/* One more holder, who gives it back with td_code_destroy. */
td_code *td_code_hold(const td_code *code);

/* -- words.c -- */

/* `count` words of data at `src`, the first of which has the address `first`, to coded words at `dst`. */
void td_code_encode_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count);

/* Coded words back to data as they stand, whatever their check bits say. */
void td_code_decode_words(const td_code *code, void *dst, const void *src, size_t count);

/* Coded words back to data, up to one with an error, or some words before it: how many. */
size_t td_code_right_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count);

/* Coded words back to data, single errors corrected where the code can. Adds to *result, which the caller begins with
 * zeros; `each` (may be NULL) is called for every error in order. `dst` may be NULL. Words that cannot be corrected
 * come out as they stand. */
typedef void (*td_code_error_fn)(void *context, const td_code_error *error);
void td_code_check_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count,
                         td_code_result *result, td_code_error_fn each, void *context);

#endif
