/* See scale.h. The five rules that make powers of two are a kernel. The others divide in f32, in the order of
 * operations of the library that they are named after, because the order decides about the last bit; then their
 * quotients are converted to the dtype of scales, and back for the elements. */
#include "parts/scale.h"

#include "base/cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INF_BITS 0x7f800000U
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

static td_span_rule span_rule(const td_scaler *s)
{
    const bool gptq = s->packing->rule == TD_RULE_GPTQ;
    return (td_span_rule){
        .codes = s->codes, .least = gptq ? -INFINITY : 1e-5F, .holds_zero = gptq, .inf_is_max = s->packing->inf_is_max};
}

/* As TransformerEngine does where it tries two maps: by 6 first, then by the tensor's scale, then by `more`. */
static void find_mapped(const td_scaler *s, td_block_scales *b, size_t blocks, float more)
{
    td_ratio r = {.times = 1,
                  .over = s->largest,
                  .again = 1,
                  .least = -INFINITY,
                  .most = INFINITY,
                  .inf_is_max = s->packing->inf_is_max};
    s->kernels.ratio(b->exact, b->amax, blocks, &r);
    for (size_t j = 0; j < blocks; j++) {
        const float quotient = b->exact[j] * s->tensor_inverse * more;
        b->exact[j] = quotient > s->scale_max ? s->scale_max : quotient;
    }
}

static td_ratio ratio_rule(const td_scaler *s)
{
    td_ratio r = {.times = 1,
                  .over = s->largest,
                  .again = 1,
                  .least = -INFINITY,
                  .most = INFINITY,
                  .inf_is_max = s->packing->inf_is_max};
    if (s->packing->rule == TD_RULE_TE) {
        r.times = s->tensor_inverse * s->inverse;
        r.over = 1;
        r.most = s->scale_max;
    } else if (s->packing->rule == TD_RULE_TORCHAO) {
        r.again = s->tensor_scale;
        r.least = s->scale_min;
        r.most = s->scale_max;
    }
    return r;
}

static void find_quotients(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    const td_span_rule spans = span_rule(s);
    const td_ratio ratio = ratio_rule(s);
    if (s->packing->map)
        find_mapped(s, b, blocks, 1);
    else if (s->packing->rule == TD_RULE_GPTQ || s->packing->rule == TD_RULE_AWQ)
        s->kernels.span(b->exact, b->amax, b->min, b->max, blocks, &spans);
    else
        s->kernels.ratio(b->exact, b->amax, blocks, &ratio);
}

/* -- what elements are multiplied or divided by -- */

/* The rules that multiply by an inverse of the scale and of that of the tensor: td_block_kernels' inverse. */
static td_chain chain_rule(const td_scaler *s)
{
    const bool te = s->packing->rule == TD_RULE_TE;
    return (td_chain){.ratio = ratio_rule(s),
                      .one = te ? 1 : 1 / s->tensor_scale,
                      .times = te ? s->tensor_scale : 1,
                      .most = te ? FLT_MAX : INFINITY};
}

/* Where scales are floats of 8 bits, such as e4m3. */
static void find_chain(td_scaler *s)
{
    const td_packing *k = s->packing;
    const td_dtype t = k->scale;
    s->chained = !k->map && (k->rule == TD_RULE_TE || k->rule == TD_RULE_TORCHAO) && t.kind == TD_KIND_FLOAT &&
                 t.bits == 8 && t.man_bits >= 2 && t.man_bits <= 3 && t.exp_bits + t.man_bits == 7;
    if (!s->chained)
        return;
    s->chain = chain_rule(s);
    s->chain.man_bits = t.man_bits;
    s->chain.nan = (uint8_t)td_dtype_nan_bits(t);
    memcpy(&s->chain.least_bits, &s->scale_min, sizeof s->scale_min);
}

static void find_by(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    if (s->packing->rule == TD_RULE_TE || s->packing->rule == TD_RULE_TORCHAO) {
        const td_chain c = chain_rule(s);
        s->kernels.inverse(b->by, b->stored, blocks, c.one, c.times, c.most);
        return;
    }
    for (size_t j = 0; j < blocks; j++) { /* where every element comes back as 0, so are the codes */
        const float by = s->packing->exact_codes ? b->exact[j] : b->stored[j];
        b->by[j] = b->stored[j] == 0 ? INFINITY : by;
    }
}

static void find_zeros(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    const td_span_rule spans = span_rule(s);
    s->kernels.zero(b->zero, b->min, b->max, b->by, blocks, &spans);
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
    const float amax = amax_bits >= INF_BITS ? FLT_MAX : from_bits(amax_bits),
                most = (packing->scale_max != 0 ? packing->scale_max : s->scale_max) * s->largest;
    s->amax = amax;
    s->most = most;
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

/* But for conversions, which take longer to make than a small tensor to pack. */
static void make(const td_packing *packing, td_scaler *s)
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
}

void td_scaler_make(const td_packing *packing, uint32_t amax_bits, td_scaler *s)
{
    make(packing, s);
    find_tensor_scale(packing, amax_bits, s);
    find_chain(s);
    s->halves = td_scaler_divides(packing) && packing->rule != TD_RULE_GGML && packing->scale.kind == TD_KIND_FLOAT &&
                packing->scale.bits == 16 && packing->scale.man_bits == 10;
    if (!s->chained && packing->rule > TD_RULE_NEAREST && packing->rule != TD_RULE_SHARED) {
        bind(packing->scale, TD_TO_MEMORY, &s->encode);
        bind(packing->scale, TD_TO_TENSOR, &s->decode);
    }
    if (packing->supers) {
        bind(packing->super, TD_TO_MEMORY, &s->encode_super);
        bind(packing->super, TD_TO_TENSOR, &s->decode_super);
    }
}

void td_scaler_make_back(const td_packing *packing, td_scaler *s)
{
    make(packing, s);
    bind(packing->scale, TD_TO_TENSOR, &s->decode);
}

bool td_scaler_rule(const td_scaler *s, td_ratio *ratio, td_quant_rule *out)
{
    const td_packing *k = s->packing;
    if (k->rule <= TD_RULE_NEAREST && !k->empty_is_normal)
        *out = (td_quant_rule){.power = &s->power};
    else if (s->chained)
        *out = (td_quant_rule){.chain = &s->chain};
    else if (s->halves && !k->zeros && !k->map && k->rule == TD_RULE_ABSMAX) {
        *ratio = ratio_rule(s);
        *out = (td_quant_rule){.ratio = ratio, .exact = k->exact_codes};
    } else
        return false;
    return true;
}

/* Rounded to the dtype of scales, and what elements are multiplied by then. */
static void store(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    td_convert_run(&s->encode, b->packed, b->exact, blocks, 0, 1);
    td_convert_run(&s->decode, b->stored, b->packed, blocks, 0, 1);
    find_by(s, b, blocks);
}

void td_scaler_find(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    if (s->packing->rule == TD_RULE_SHARED) {
        for (size_t j = 0; j < blocks; j++)
            b->code[j] = b->amax[j] >> MAN_BITS;
        return;
    }
    for (size_t j = 0; j < blocks && s->packing->empty_is_normal; j++)
        b->amax[j] = b->amax[j] ? b->amax[j] : 1U << MAN_BITS;
    if (s->packing->rule <= TD_RULE_NEAREST) {
        s->kernels.power(b->packed, b->by, b->amax, blocks, &s->power);
        return;
    }
    if (s->chained) {
        s->kernels.chain(b->packed, b->by, b->amax, blocks, &s->chain);
        return;
    }
    find_quotients(s, b, blocks);
    if (s->halves)
        s->kernels.half((uint16_t *)(void *)b->packed, b->by, b->exact, blocks, s->packing->exact_codes);
    else
        store(s, b, blocks);
    if (s->packing->zeros)
        find_zeros(s, b, blocks);
}

void td_scaler_find_four(const td_scaler *s, td_block_scales *b, size_t blocks)
{
    find_mapped(s, b, blocks, s->largest / 4);
    store(s, b, blocks);
}
