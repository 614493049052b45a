/* Element types: their names, their widths, and single values in and out of their bits. A td_dtype is a small value, passed
 * by copy. Whole arrays are converted elsewhere; this room knows one element at a time. */
#ifndef TD_DTYPE_H
#define TD_DTYPE_H

#include "status.h"

typedef enum td_kind { TD_KIND_UINT, TD_KIND_INT, TD_KIND_FLOAT } td_kind;

#define TD_DTYPE_NAME_BYTES 16

typedef struct td_dtype {
    uint8_t kind;     /* td_kind */
    uint8_t bits;     /* of one element: 1 .. 64 */
    uint8_t exp_bits; /* floats: exponent bits; the mantissa has bits - 1 - exp_bits */
    uint8_t bytes;    /* the element's place in a tensor: 1, 2, 4 or 8 */
} td_dtype;

/* TD_DTYPE with the nearest known name as a suggestion. */
td_status td_dtype_parse(const char *name, td_dtype *out);

/* The canonical name; `name` holds TD_DTYPE_NAME_BYTES. */
void td_dtype_print(td_dtype dtype, char *name);

bool td_dtype_equal(td_dtype a, td_dtype b);

/* The element's own bits set in a 64-bit word. */
uint64_t td_dtype_mask(td_dtype dtype);

/* The bits as they lie in a tensor: sign-extended for signed integers, zero-extended for the others. */
uint64_t td_dtype_extend(td_dtype dtype, uint64_t bits);

/* A value to bits: integers take whole numbers in range (TD_RANGE otherwise), floats round to nearest even and overflow to
 * infinity. */
td_status td_dtype_from_real(td_dtype dtype, double value, uint64_t *bits);

/* A literal ("-1", "0x7f", "0.5", "nan") to bits, with the same rules and 64-bit integers exact. */
td_status td_dtype_from_text(td_dtype dtype, const char *text, uint64_t *bits);

/* Bits to the nearest double. */
double td_dtype_to_real(td_dtype dtype, uint64_t bits);

#endif
