/* Conversions by integer arithmetic in lanes, for everything that the kernels of convert.h do not do: every rounding,
 * wrap, ftz, types of 64 bits, floats of any widths. values/convert_choose_cast.c fills the parameters,
 * values/convert_cast.c runs a conversion as steps over a scratch: into lanes (i64, f64 or f32), a scale there, out
 * of them. They refuse nothing, and give the bits of values/convert_exact.c.
 *
 * A step takes n elements of contiguous source and destination. Those out of lanes return true when p->look is set
 * and an element did not fit; then they write nothing. */
#ifndef TD_KERNELS_CAST_H
#define TD_KERNELS_CAST_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name     bytes of a source and of a destination element; 0: of the container in the parameters */
#define TD_CAST_KERNELS(X)                                                                                             \
    X(int_i64, 0, 8)     /* into lanes: integers of 1 to 64 bits, sign or zero extended, less `minus` */               \
    X(int_f64, 0, 8)     /* the nearest double, times `unit` */                                                        \
    X(int_odd_f64, 0, 8) /* the double towards zero, its lowest bit set where that is not exact */                     \
    X(float_f64, 0, 8)   /* any float but e8m0; of the smallest NaNs and zeros the sign and payload too */             \
    X(f32_f64, 4, 8)                                                                                                   \
    X(scale_f64, 8, 8) /* flush, minus, divide or multiply; rounded to f64 or f32 */                                   \
    X(scale_f64_f32, 8, 4)                                                                                             \
    X(scale_f32, 4, 4)                                                                                                 \
    X(f64_float, 8, 0) /* out of lanes: rounded to any float */                                                        \
    X(f64_int, 8, 0)                                                                                                   \
    X(f64_e8m0, 8, 0)                                                                                                  \
    X(f64_f32, 8, 4)     /* to nearest even, past the range to infinity */                                             \
    X(f64_odd_f32, 8, 4) /* towards zero, the lowest bit set where that is not exact: a second rounding sees it */     \
    X(i64_float, 8, 0)                                                                                                 \
    X(i64_int, 8, 0)                                                                                                   \
    X(f32_float, 4, 0) /* in lanes of 32 bits: floats of up to 8 exponent bits */                                      \
    X(f32_int, 4, 0)   /* integers of up to 16 bits */                                                                 \
    X(f32_e8m0, 4, 0)                                                                                                  \
    X(f32_within, 4, 0) /* no step: true where an element is not within low32_bits .. high32_bits */                   \
    X(f64_within, 8, 0) /* or low_bits .. high_bits; NaN is within nothing */                                          \
    X(i32_float, 4, 0)  /* integers of up to 32 bits, to floats that f32 has at least two bits more than */

/* TIMES: a product that is exact, or needs no care about a second rounding. */
typedef enum td_cast_scale { TD_CAST_AS_IS, TD_CAST_DIVIDE, TD_CAST_MULTIPLY, TD_CAST_TIMES } td_cast_scale;

typedef enum td_cast_round {
    TD_CAST_EVEN,
    TD_CAST_AWAY,
    TD_CAST_ZERO,
    TD_CAST_FLOOR,
    TD_CAST_CEIL,
    TD_CAST_RANDOM
} td_cast_round;

typedef struct td_cast_params {
    /* The source. What ends in _bits and says so is a double's, or a float's where its name has 32. */
    uint32_t src_bytes, src_bits;
    uint32_t src_exp_bits, src_man_bits;
    uint64_t src_nan;          /* floats: magnitudes from here on are NaN */
    uint64_t rebias;           /* floats: 1023 less the bias, in a double's exponent */
    uint64_t unit_bits;        /* integers: what one step is worth, a double's bits */
    int64_t minus;             /* i64: subtracted */
    uint32_t unit32_bits;      /* the unit as a float */
    int32_t src_frac;          /* i64: the unit as 2^-src_frac */
    bool src_signed, src_ieee; /* src_ieee: the highest exponent is infinity and NaN */
    bool lane_signed;          /* i64: not u64 */

    /* The scale. */
    bool in_f32;                    /* the result is rounded to f32, once */
    bool less;                      /* less_bits is subtracted before a multiplication */
    uint8_t scale_way;              /* td_cast_scale */
    bool dst_signed, wrap;          /* wrap: integers modulo 2^bits */
    uint64_t flush_bits, less_bits; /* doubles; magnitudes smaller than flush become zeros */
    double scale;                   /* the scale, and its bits */
    uint64_t scale_bits;
    bool products; /* DIVIDE by `scale`: it lies within 2^-30 .. 2^30, and lanes with fused products may take those.
                      The bits of 1 / scale, and of what that lacks */
    uint64_t inverse_bits, inverse_low_bits;
    uint32_t inverse32_bits, inverse32_low_bits;
    uint32_t flush32_bits, scale32_bits; /* floats */
    const double *scales;                /* one per element; NULL: `scale` */
    const float *scales32;               /* the same for scale_f32 */

    /* The target. A magnitude's dropped part, as a fraction of 2^W in lanes of W bits, is added to one of `add`; a
     * carry rounds up. `odd` is added where the kept part is odd. */
    uint64_t add_positive, add_negative; /* for W = 64; lanes of 32 bits take the upper half */
    uint8_t round;                       /* td_cast_round: the same, for lanes that round by themselves; with RANDOM
                                            the element's 64 random bits are added in their place */
    uint32_t odd;
    uint32_t dst_bytes, dst_bits;
    int32_t dst_frac;             /* integers */
    int64_t zero;                 /* integers: added after rounding */
    int64_t low, high;            /* integers: the range; of u64 the bits of its largest */
    uint64_t low_bits, high_bits; /* less the zero point, as doubles */
    uint32_t low32_bits, high32_bits;
    int32_t exp_min; /* floats: of the smallest normal number */
    uint32_t man_bits;
    uint64_t tiny;                    /* smaller codes become zeros */
    uint64_t max;                     /* the largest finite magnitude */
    uint64_t over_positive;           /* the magnitude of what is beyond */
    uint64_t over_negative, inf, nan; /* magnitudes; e8m0: over_positive and over_negative are its two ends */
    uint64_t seed, first, step;       /* RANDOM: the bits are those of element first + i * step */
    bool look;                        /* only find out whether everything fits */
    bool fits_all;                    /* integers: every value of the source is one of the target */
    bool fits_inf, fits_nan;          /* floats: the target has them */
    bool keeps_nan;                   /* its payload */
} td_cast_params;

typedef bool (*td_cast_fn)(void *dst, const void *src, size_t n, const td_cast_params *p);

#define TD_CAST_KERNEL(name, isa)                                                                                      \
    bool td_cast_##name##_##isa(void *dst, const void *src, size_t n, const td_cast_params *p)

/* Integers to integers of equal steps, without a zero point, from container to container of up to 32 bits: clamped to
 * low .. high, or wrapped. Bits of the source above its own are not looked at. */
#define TD_CAST_INTS(X)                                                                                                \
    X(s8, x8)                                                                                                          \
    X(s8, x16)                                                                                                         \
    X(s8, x32)                                                                                                         \
    X(u8, x8)                                                                                                          \
    X(u8, x16)                                                                                                         \
    X(u8, x32)                                                                                                         \
    X(s16, x8)                                                                                                         \
    X(s16, x16)                                                                                                        \
    X(s16, x32)                                                                                                        \
    X(u16, x8)                                                                                                         \
    X(u16, x16)                                                                                                        \
    X(u16, x32)                                                                                                        \
    X(s32, x8)                                                                                                         \
    X(s32, x16)                                                                                                        \
    X(s32, x32)                                                                                                        \
    X(u32, x8)                                                                                                         \
    X(u32, x16)                                                                                                        \
    X(u32, x32)

typedef struct td_cast_kernels {
#define X(name, src_bytes, dst_bytes) td_cast_fn name;
    TD_CAST_KERNELS(X)
#undef X
    td_cast_fn ints[2][3][3]; /* unsigned or signed; log2 of the bytes of the source, of the destination */
} td_cast_kernels;

#define X(name, src_bytes, dst_bytes) TD_PROTOTYPES(TD_CAST_KERNEL, name)
TD_CAST_KERNELS(X)
#undef X

#define X(src, dst) TD_PROTOTYPES(TD_CAST_KERNEL, src##_##dst)
TD_CAST_INTS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_cast_init(td_cast_kernels *kernels, unsigned cpu_flags);

#define TD_CAST_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_cast_init_##isa(td_cast_kernels *kernels);
TD_CAST_ISAS(X)
#undef X

#endif
