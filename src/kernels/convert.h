/* Conversion kernels: rows of elements in tensor containers, f32 on one side or a plain widening.
 * values/convert_choose.c chooses one to
 * decode and one to encode and fills the parameters, values/convert.c calls them; they refuse nothing and know no
 * layout. All round to nearest even and saturate or overflow to infinity as the parameters say, and every version gives
 * the bits of plain C.
 *
 * A call converts `rows` contiguous runs of n elements each, src_stride and dst_stride bytes apart, so that a short run
 * costs little more than its elements. */
#ifndef TD_KERNELS_CONVERT_H
#define TD_KERNELS_CONVERT_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name      source bytes, destination bytes */
#define TD_CONVERT_KERNELS(X)                                                                                          \
    X(div_f32, 4, 4)  /* x / scale */                                                                                  \
    X(mul_f32, 4, 4)  /* x * scale */                                                                                  \
    X(f32_bf16, 4, 2) /* encoders: x / scale, rounded to the target */                                                 \
    X(f32_f16, 4, 2)                                                                                                   \
    X(f32_x8, 4, 1) /* any float of up to 8 bits but e8m0 */                                                           \
    X(f32_s8, 4, 1) /* signed integers of up to 8 bits; zero, low, high */                                             \
    X(f32_u8, 4, 1)                                                                                                    \
    X(f32_s16, 4, 2)                                                                                                   \
    X(f32_u16, 4, 2)                                                                                                   \
    X(f32_wrap8, 4, 1) /* up to 8 bits modulo 2^bits, with a sign where low is below 0; zero, own bits */              \
    X(f32_wrap16, 4, 2)                                                                                                \
    X(f32_s32, 4, 4) /* of 32 bits, without a zero point */                                                            \
    X(f32_u32, 4, 4)                                                                                                   \
    X(bf16_f32, 2, 4) /* decoders: (stored - zero) * scale, or / scale */                                              \
    X(f16_f32, 2, 4)                                                                                                   \
    X(x8_f32, 1, 4) /* by table */                                                                                     \
    X(s8_f32, 1, 4)                                                                                                    \
    X(u8_f32, 1, 4)                                                                                                    \
    X(s16_f32, 2, 4)                                                                                                   \
    X(u16_f32, 2, 4)                                                                                                   \
    X(s32_f32, 4, 4) /* the nearest f32, times a scale that is a power of two; no zero point */                        \
    X(u32_f32, 4, 4)                                                                                                   \
    X(s32_bf16, 4, 2) /* times a power of two, rounded once to nearest even; no zero point */                          \
    X(u32_bf16, 4, 2)                                                                                                  \
    X(s32_odd, 4,                                                                                                      \
      4) /* the same towards zero, the lowest bit set where that is not exact: an encoder to 22 bits or    \
                        less then rounds as it would the integer */           \
    X(u32_odd, 4, 4)                                                                                                   \
    X(s8_s32, 1, 4) /* integers to wider ones that hold them */                                                        \
    X(u8_u32, 1, 4)                                                                                                    \
    X(s16_s32, 2, 4)                                                                                                   \
    X(u16_u32, 2, 4)                                                                                                   \
    X(s8_s16, 1, 2)                                                                                                    \
    X(u8_u16, 1, 2)

/* How encoders divide. MUL: the scale is a power of two, so x * inverse is the quotient. INVERSE, for integers: the
 * scale lies within 2^-60 .. 2^60, and a quotient that matters comes out of multiplications and one exact remainder.
 * PROVEN, for integers of up to 8 bits: as INVERSE, and no remainder is needed with this scale. DIV: a division.
 * The plain C always divides. Decoders that multiply look only whether it is NONE: then they do not. */
typedef enum td_divide { TD_DIVIDE_NONE, TD_DIVIDE_MUL, TD_DIVIDE_INVERSE, TD_DIVIDE_PROVEN, TD_DIVIDE_DIV } td_divide;

typedef struct td_convert_params {
    float scale;
    float inverse, inverse_low; /* 1 / scale in two parts */
    uint8_t divide;             /* td_divide */
    bool quotient;              /* decoders: by scale, not times */
    ptrdiff_t ahead;            /* bytes from an element to one that will be read later, and may be fetched now */
    bool stream;             /* large, and dst and its stride are on lines of 64 bytes: store past the caches. Whoever
                                     asks calls td_move_fence (move.h) after the last */
    int32_t zero, low, high; /* integers; low and high in the stored type */
    uint32_t own_shift, own_mask; /* integers: 32 - bits and 2^bits - 1; bits above are not the element's */

    /* f32_x8: the magnitude's bits u round to u >> shift at the lowest mantissa bit; what lies under the smallest
     * normal is added to `magic`, whose unit is the smallest subnormal. No code is above limit: the largest number, or
     * what stands behind it for infinity. */
    uint32_t shift, rebias, normal_bits, limit, nan_code, nan_payload, sign_bit, nan_sign;
    float magic;
    const float *table;  /* x8_f32: 256 values, of which the lower 16 bits are zero */
    const float *scales; /* decoders of up to 16 bits: NULL, or a factor of its own for every element of a row, in the
                            place of all that stands above about the scale */
} td_convert_params;

typedef void (*td_convert_fn)(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, size_t rows,
                              size_t n, const td_convert_params *p);

#define TD_CONVERT_KERNEL(name, isa)                                                                                   \
    void td_convert_##name##_##isa(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,             \
                                   size_t rows, size_t n, const td_convert_params *p)

typedef struct td_convert_kernels {
#define X(name, src_bytes, dst_bytes) td_convert_fn name;
    TD_CONVERT_KERNELS(X)
#undef X
    /* Whether INVERSE may become PROVEN for this scale: in encoders to 8 bits, because up to 255.5 no quotient rounds
     * to another integer; in decoders of 8 bits, because every quotient up to 256 is exact. NULL: no. */
    bool (*proves)(const td_convert_params *p);
    bool (*proves_small)(const td_convert_params *p);
} td_convert_kernels;

#define X(name, src_bytes, dst_bytes) TD_PROTOTYPES(TD_CONVERT_KERNEL, name)
TD_CONVERT_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_convert_init(td_convert_kernels *kernels, unsigned cpu_flags);

#define TD_CONVERT_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_NEON(X)
#define X(isa, flag) void td_convert_init_##isa(td_convert_kernels *kernels);
TD_CONVERT_ISAS(X)
#undef X

#endif
