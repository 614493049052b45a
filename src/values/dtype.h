/* Element types: their names, their widths, and single values in and out of their bits. A td_dtype is a small value,
 * passed by copy. Whole arrays are converted by convert.h; this room knows one element at a time, and a value on the
 * way between two types is a td_num, which holds every value of every type exactly.
 *
 * Floats. f16, f32, f64, bf16, e5m2 and every other e<X>m<Y> follow IEEE 754: one sign bit, X exponent bits with bias
 * 2^(X-1) - 1, Y mantissa bits, subnormals, infinities and NaNs in the highest exponent. The exceptions:
 *     e4m3              the highest exponent holds numbers too; only S.1111.111 is NaN, there is no infinity (OCP OFP8)
 *     e3m2 e2m3 e2m1    every pattern is a number (OCP MX); so it is with Y = 0 or X = 1, where no NaN would have room
 *     e8m0              the scale of OCP MX: no sign, no zero, bits b are 2^(b-127), 0xff is NaN
 * Fixed point. q<m>.<n> is a signed and uq<m>.<n> an unsigned integer of m + n bits that counts steps of 2^-n. The sign
 * bit is one of the m (as in ARM's notation, ap_fixed and sc_fixed): q1.15 has 16 bits and goes from -1 to 1 - 2^-15.
 */
#ifndef TD_DTYPE_H
#define TD_DTYPE_H

#include "base/status.h"

typedef enum td_kind { TD_KIND_UINT, TD_KIND_INT, TD_KIND_FLOAT } td_kind;

/* What the patterns of the highest exponent mean. */
typedef enum td_flavor { TD_FLAVOR_IEEE, TD_FLAVOR_FN, TD_FLAVOR_FINITE, TD_FLAVOR_SCALE } td_flavor;

#define TD_DTYPE_NAME_BYTES 16

typedef struct td_dtype {
    uint8_t kind;      /* td_kind; fixed point is an integer with frac_bits */
    uint8_t bits;      /* of one element: 1 .. 64 */
    uint8_t exp_bits;  /* floats: exponent bits */
    uint8_t bytes;     /* the element's place in a tensor: 1, 2, 4 or 8 */
    uint8_t man_bits;  /* floats: stored mantissa bits */
    uint8_t flavor;    /* floats: td_flavor */
    uint8_t fixed;     /* 1 for q and uq, also with 0 fraction bits */
    uint8_t frac_bits; /* fixed point: the lowest bit is worth 2^-frac_bits */
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

/* The patterns of the largest finite magnitude, of infinity and of the NaN that conversions write (positive); where a
 * type has no infinity it gives the NaN, and where it has no NaN the largest magnitude. */
uint64_t td_dtype_max_bits(td_dtype dtype);
uint64_t td_dtype_inf_bits(td_dtype dtype);
uint64_t td_dtype_nan_bits(td_dtype dtype);
bool td_dtype_has_inf(td_dtype dtype);
bool td_dtype_has_nan(td_dtype dtype);

/* A value to bits: integers take whole numbers in range (TD_RANGE otherwise), fixed point rounds to nearest even in
 * range (TD_RANGE otherwise), floats round to nearest even and overflow to infinity, or what stands for it in the type.
 */
td_status td_dtype_from_real(td_dtype dtype, double value, uint64_t *bits);

/* A literal ("-1", "0x7f", "0.5", "nan") to bits, with the same rules and 64-bit integers exact. */
td_status td_dtype_from_text(td_dtype dtype, const char *text, uint64_t *bits);

/* Bits to the nearest double. */
double td_dtype_to_real(td_dtype dtype, uint64_t bits);

#endif
