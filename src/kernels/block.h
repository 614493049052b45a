/* Kernels of block-scaled tensors: a row of f32 in blocks of neighbours, each with one number of its own.
 * parts/blocks.c and parts/scale.c call them; they refuse nothing and know no format. Every version gives the bits of
 * plain C, for every number that f32 has: magnitudes are compared as bits, so that a NaN is above infinity.
 *
 * Rows of `blocks` blocks of `block` elements, j < blocks, i < block:
 *   amax     amax[j] = the largest of amax[j] and |row[j * block + i]|, as bits
 *   most     *most = the largest of *most and |row[i]|, i < n, as bits, of a row that may be far larger than the caches
 *   range    as amax, and min[j] and max[j] = the least and the largest of themselves and row[j * block + i]; a NaN is
 *            passed over
 *   mul      dst[j * block + i] = row[j * block + i] * by[j]
 *   div      dst[j * block + i] = row[j * block + i] / by[j]
 *   add      dst[j * block + i] = row[j * block + i], rounded to a whole number, to nearest even, + by[j]
 *   share    dst[j * block + i] = the code of row[j * block + i] at the exponent of[j]: a sign over `bits` - 1 bits of
 *            magnitude with its leading 1, rounded to nearest even, and not carried into the exponent; 0 has no sign
 * Numbers one by one, j < blocks:
 *   power    code[j] = the e8m0 scale of a block whose amax is amax[j], by a rule; by[j] = 1 / scale
 *   powers   amax, from 0 on, and power in one, of a row; whether any amax was that of an infinity or a NaN, or any
 *            scale is NaN
 *   ratio    dst[j] = amax[j] * times / over / again, each rounded to f32, at least `least` and at most `most`
 *   half     code[j] = share[j] as an f16, to nearest even, an infinity past the largest; by[j] = the value of that, or
 *            with `exact` share[j], but infinity where the value is 0
 *   inverse  dst[j] = one / (by[j] * times), at most `most`
 *   chain    both, with the quotient of ratio rounded to a float of up to 8 bits in between, to nearest even: code[j]
 *            is its code, and by[j] the inverse of its value; no quotient is past the largest such float
 *   span     dst[j] = (max[j] - min[j], at least `least`) / codes; with holds_zero of a range that is widened to hold
 *            0, and 2 / codes where that is all it holds
 *   zero     dst[j] = -min[j] / by[j], to the nearest whole number from 0 to `codes`; with holds_zero of such a range,
 *            whose minimum is taken for -1 where it holds nothing but 0
 *   look     whether any amax[j] is that of an infinity or a NaN, whether any by[j] is a NaN, and whether all
 *            blocks are bounded: amax[j] * by[j] < most, or with `divides` amax[j] <= by[j] * most
 * ratio and span give NaN where amax[j] is that of a NaN or, without inf_is_max, of an infinity. */
#ifndef TD_KERNELS_BLOCK_H
#define TD_KERNELS_BLOCK_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a power of two comes from amax; parts/packing.h says what each is, and has the same order. */
typedef enum td_power_rule {
    TD_POWER_FLOOR,
    TD_POWER_EVEN,
    TD_POWER_CEIL,
    TD_POWER_RCEIL,
    TD_POWER_NEAREST
} td_power_rule;

typedef struct td_power {
    td_power_rule rule;
    int32_t emax;      /* of the largest element: its exponent */
    unsigned man_bits; /* of an element */
    float inverse;     /* of the largest element */
    bool inf_is_max;   /* an infinity, and a scale past the largest, are the largest; else NaN */
} td_power;

typedef struct td_ratio {
    float times, over, again, least, most;
    bool inf_is_max;
} td_ratio;

typedef struct td_chain {
    td_ratio ratio;
    float one, times, most; /* of inverse */
    unsigned man_bits;      /* of the float: of its mantissa, its smallest normal number as bits, the code of a NaN */
    uint32_t least_bits;
    uint8_t nan;
} td_chain;

typedef struct td_span_rule {
    float codes; /* the highest code */
    float least;
    bool holds_zero, inf_is_max;
} td_span_rule;

typedef struct td_block_look {
    bool odd, nan, bounded;
} td_block_look;

typedef struct td_block_kernels {
    void (*amax)(uint32_t *amax, const float *row, size_t blocks, size_t block);
    void (*most)(uint32_t *most, const float *row, size_t n);
    void (*range)(uint32_t *amax, float *min, float *max, const float *row, size_t blocks, size_t block);
    void (*mul)(float *dst, const float *row, const float *by, size_t blocks, size_t block);
    void (*div)(float *dst, const float *row, const float *by, size_t blocks, size_t block);
    void (*add)(float *dst, const float *row, const float *by, size_t blocks, size_t block);
    void (*share)(uint32_t *dst, const float *row, const uint32_t *of, unsigned bits, size_t blocks, size_t block);
    void (*power)(uint8_t *code, float *by, const uint32_t *amax, size_t blocks, const td_power *p);
    bool (*powers)(uint8_t *code, float *by, const float *row, size_t blocks, size_t block, const td_power *p);
    void (*ratio)(float *dst, const uint32_t *amax, size_t blocks, const td_ratio *p);
    void (*half)(uint16_t *code, float *by, const float *share, size_t blocks, bool exact);
    void (*inverse)(float *dst, const float *by, size_t blocks, float one, float times, float most);
    void (*chain)(uint8_t *code, float *by, const uint32_t *amax, size_t blocks, const td_chain *p);
    void (*span)(float *dst, const uint32_t *amax, const float *min, const float *max, size_t blocks,
                 const td_span_rule *p);
    void (*zero)(float *dst, const float *min, const float *max, const float *by, size_t blocks, const td_span_rule *p);
    td_block_look (*look)(const uint32_t *amax, const float *by, size_t blocks, float most, bool divides);
} td_block_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_block_init(td_block_kernels *kernels, unsigned cpu_flags);

#define TD_BLOCK_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_block_init_##isa(td_block_kernels *kernels);
TD_BLOCK_ISAS(X)
#undef X

#endif
