/* See scale.h. The five rules that make powers of two are a kernel. The others divide in f32, in the order of
 * operations of the library that they are named after, because the order decides about the last bit; then their
 * quotients are converted to the dtype of scales, and back for the elements. */
#include "parts/scale.h"

#include "base/cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INF_BITS 0x7f800000U
#define MAX_BITS 0x7f7fffffU
#define MAN_BITS 23

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

static float from_bits(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A conversion without a scale, which cannot be refused. */
static void bind(td_dtype scale, td_direction direction, td_convert *out)
{
    const td_as as = {.dtype = scale, .scale_f32 = 1, .scale_f64 = 1};
    (void)td_convert_bind(&as, dtype_f32, direction, NULL, out);
}

/* -- the quotients, before they are rounded to the dtype of scales -- */

/* NaN where the block has one, or an infinity that is not taken for the largest number. */
static float amax_of(const td_scaler *s, uint32_t bits)
{
    if (bits == INF_BITS && s->packing->inf_is_max)
        bits = MAX_BITS;
    return bits >= INF_BITS ? NAN : from_bits(bits);
}

static void find_quotients(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    const float te = s->tensor_inverse * s->inverse;
    float *out = b->exact;
    for (size_t j = 0; j < blocks; j++) {
        const float amax = amax_of(s, b->amax[j]);
        float low = b->min[j], high = b->max[j];
        switch (s->packing->rule) {
        case TD_RULE_TE:
            out[j] = amax * te;
            break;
        case TD_RULE_TORCHAO:
            out[j] = amax / s->largest / s->tensor_scale;
            out[j] = out[j] < s->scale_min ? s->scale_min : out[j];
            break;
        case TD_RULE_GPTQ:
            low = low < 0 ? low : 0;
            high = high > 0 ? high : 0;
            out[j] = isnan(amax) ? amax : low == 0 && high == 0 ? 2 / s->codes : (high - low) / s->codes;
            break;
        case TD_RULE_AWQ:
            out[j] = isnan(amax) ? amax : (high - low > 1e-5F ? high - low : 1e-5F) / s->codes;
            break;
        default:
            out[j] = amax / s->largest;
        }
        if (s->packing->rule <= TD_RULE_TORCHAO && out[j] > s->scale_max)
            out[j] = s->scale_max;
    }
}

/* -- what elements are multiplied or divided by -- */

static float by_of(const td_scaler *s, float exact, float stored)
{
    switch (s->packing->rule) {
    case TD_RULE_TE: {
        const float by = 1 / (stored * s->tensor_scale);
        return by > FLT_MAX ? FLT_MAX : by;
    }
    case TD_RULE_TORCHAO:
        return 1 / s->tensor_scale / stored;
    default: /* where every element comes back as 0, so are the codes */
        return stored == 0 ? INFINITY : s->packing->exact_codes ? exact : stored;
    }
}

/* From 0 to the highest code; a NaN is 0. */
static float zero_point(const td_scaler *s, float value)
{
    return value > 0 ? value < s->codes ? value : s->codes : 0;
}

static void find_zeros(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    for (size_t j = 0; j < blocks; j++) {
        float low = b->min[j];
        if (s->packing->rule == TD_RULE_GPTQ)
            low = b->min[j] < 0 ? b->min[j] : b->max[j] > 0 ? 0 : -1;
        b->zero[j] = zero_point(s, -rintf(low / b->by[j]));
    }
}

/* -- any -- */

bool td_scaler_divides(const td_packing *packing)
{
    return packing->rule >= TD_RULE_ABSMAX && packing->rule != TD_RULE_SHARED;
}

static float largest_of(td_dtype t)
{
    return (float)td_dtype_to_real(t, td_dtype_max_bits(t));
}

static void find_tensor_scale(const td_packing *packing, uint32_t amax_bits, td_scaler *s)
{
    const float amax = amax_bits >= INF_BITS ? FLT_MAX : from_bits(amax_bits), most = s->scale_max * s->largest;
    if (packing->global == TD_GLOBAL_GIVEN) {
        s->tensor_scale = packing->global_scale;
        s->tensor_inverse = 1 / packing->global_scale;
    } else if (packing->global == TD_GLOBAL_AMAX && amax != 0 && packing->rule == TD_RULE_TE) {
        const float inverse = most / amax;
        s->tensor_inverse = inverse > FLT_MAX ? FLT_MAX : inverse == 0 ? 1 : inverse;
        s->tensor_scale = 1 / s->tensor_inverse;
    } else if (packing->global == TD_GLOBAL_AMAX && amax != 0) {
        s->tensor_scale = amax / most;
        s->tensor_inverse = 1 / s->tensor_scale;
    }
}

void td_scaler_make(const td_packing *packing, uint32_t amax_bits, td_scaler *s)
{
    const td_dtype t = packing->elem;
    s->packing = packing;
    td_block_init(&s->kernels, td_cpu_flags());
    s->largest = largest_of(t);
    s->inverse = 1 / s->largest;
    s->codes = ldexpf(1, t.bits) - 1;
    s->tensor_scale = s->tensor_inverse = 1;
    s->scale_max = largest_of(packing->scale);
    s->scale_min = (float)td_dtype_to_real(packing->scale, (uint64_t)1 << packing->scale.man_bits);
    s->power = (td_power){.rule = (td_power_rule)packing->rule,
                          .man_bits = t.kind == TD_KIND_FLOAT ? t.man_bits : t.frac_bits,
                          .inverse = s->inverse,
                          .inf_is_max = packing->inf_is_max};
    frexpf(s->largest, &s->power.emax);
    s->power.emax--;
    find_tensor_scale(packing, amax_bits, s);
    bind(packing->scale, TD_TO_MEMORY, &s->encode);
    bind(packing->scale, TD_TO_TENSOR, &s->decode);
}

/* Codes in containers of `bytes` into numbers. */
static void widen(uint32_t *dst, const unsigned char *src, size_t bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dst[i] = 0;
        memcpy(&dst[i], src + i * bytes, bytes);
    }
}

void td_scaler_find(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    unsigned char codes[4 * TD_STRIP];
    if (s->packing->rule == TD_RULE_SHARED) {
        for (size_t j = 0; j < blocks; j++)
            b->code[j] = b->amax[j] >> MAN_BITS;
        return;
    }
    if (s->packing->rule <= TD_RULE_NEAREST) {
        s->kernels.power(codes, b->by, b->amax, blocks, &s->power);
        widen(b->code, codes, 1, blocks);
        return;
    }
    find_quotients(s, b, blocks);
    td_convert_run(&s->encode, codes, b->exact, blocks, 0, 1);
    td_convert_run(&s->decode, b->stored, codes, blocks, 0, 1);
    widen(b->code, codes, s->packing->scale.bytes, blocks);
    for (size_t j = 0; j < blocks; j++)
        b->by[j] = by_of(s, b->exact[j], b->stored[j]);
    if (s->packing->zeros)
        find_zeros(s, b, blocks);
}
