/* See convert.h. Three paths give the same bits: td_convert_one by exact integer arithmetic, for everything; a decoder
 * and an encoder through f32, where every value of the source is an f32, nothing but nearest even is asked, and the
 * work precision is f32; and convert_real.c between the two. */
#include "convert.h"

#include "cpu.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define STAGE_ELEMS 1024
#define STREAM_BYTES ((size_t)5 << 19) /* read and written together: beyond a level-2 cache, measured */

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

/* A simulator that was linked for fast mathematics flushes denormals, and some tests round otherwise or trap:
 * conversions run in the mode that C starts with, and leave the caller's behind. */
static unsigned enter_mode(void)
{
#if defined(__x86_64__)
    const unsigned mode = _mm_getcsr();
    if ((mode & 0xffc0) != 0x1f80) /* all but the flags: to nearest, nothing trapped, denormals kept */
        _mm_setcsr(0x1f80);
    return mode;
#else
    return 0;
#endif
}

static void leave_mode(unsigned mode)
{
#if defined(__x86_64__)
    if ((mode & 0xffc0) != 0x1f80)
        _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

static uint64_t load_elem(const void *src, size_t i, unsigned bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)src + i * bytes, bytes);
    return bits;
}

static void store_elem(void *dst, size_t i, unsigned bytes, uint64_t bits)
{
    memcpy((char *)dst + i * bytes, &bits, bytes);
}

/* 64 bits of luck from the seed and the element's number alone (splitmix64), so that no order of work changes them. */
static uint64_t luck(uint64_t seed, uint64_t elem)
{
    uint64_t z = seed + (elem + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static uint64_t axis_index(const td_convert *c, uint64_t elem)
{
    return elem / c->axis.inner % c->axis.extent;
}

static double scale_at(const td_convert *c, uint64_t k)
{
    if (!c->axis.extent || !c->axis.scale)
        return c->scale;
    return c->work_bits == 64 ? c->axis.scale[k] : (double)(float)c->axis.scale[k];
}

static int64_t zero_at(const td_convert *c, uint64_t k)
{
    return c->axis.extent && c->axis.zero ? c->axis.zero[k] : c->zero;
}

double td_convert_scale(const td_convert *c, uint64_t elem)
{
    return scale_at(c, c->axis.extent ? axis_index(c, elem) : 0);
}

int64_t td_convert_zero(const td_convert *c, uint64_t elem)
{
    return zero_at(c, c->axis.extent ? axis_index(c, elem) : 0);
}

/* stored - zero, exactly: both have the same 64-bit type, so the difference has a 64-bit magnitude. */
static td_num minus_zero(td_num num, int64_t zero)
{
    if (zero == 0 || num.class > TD_NUM_FINITE)
        return num;
    const uint64_t other = zero < 0 ? (uint64_t)0 - (uint64_t)zero : (uint64_t)zero;
    const bool other_negative = zero > 0; /* -zero is added */
    if (num.class == TD_NUM_ZERO)
        num.sig = 0;
    if (num.class == TD_NUM_ZERO || num.negative == other_negative) {
        num.sig += other;
        num.negative = other_negative;
    } else if (num.sig >= other) {
        num.sig -= other;
    } else {
        num.sig = other - num.sig;
        num.negative = other_negative;
    }
    num.class = num.sig ? TD_NUM_FINITE : TD_NUM_ZERO;
    num.exp = 0;
    if (!num.sig)
        num.negative = false;
    return num;
}

static bool is_subnormal(td_dtype dtype, uint64_t bits)
{
    if (dtype.kind != TD_KIND_FLOAT || dtype.flavor == TD_FLAVOR_SCALE)
        return false;
    const uint64_t magnitude = bits & td_dtype_mask(dtype) >> 1;
    return magnitude && magnitude >> dtype.man_bits == 0;
}

uint64_t td_convert_one(const td_convert *c, uint64_t bits, uint64_t elem, bool *in_range)
{
    if (in_range)
        *in_range = true;
    if (c->copy)
        return td_dtype_extend(c->dst, bits);
    td_rounding rounding = c->rounding;
    const uint64_t k = c->axis.extent ? axis_index(c, elem) : 0;
    const double scale = scale_at(c, k);
    const int64_t zero = zero_at(c, k);
    if (rounding.round == TD_ROUND_STOCHASTIC)
        rounding.random = luck(c->seed, elem);

    td_num num = td_num_from_bits(c->src, bits);
    if (c->ftz && is_subnormal(c->src, bits))
        num.class = TD_NUM_ZERO;
    const td_num factor = td_num_from_real(scale);
    if (c->direction == TD_TO_MEMORY) {
        if (c->scaled)
            num = td_num_div(&num, &factor, c->work_bits);
        rounding.zero = zero;
    } else {
        num = minus_zero(num, zero);
        if (c->scaled)
            num = td_num_mul(&num, &factor, c->work_bits);
    }
    return td_dtype_extend(c->dst, td_num_to_bits(&num, c->dst, &rounding, in_range));
}

/* -- Choosing the fast path */

/* Every value of the type is an f32. */
static td_convert_fn decoder_of(const td_convert_kernels *k, td_dtype t)
{
    if (t.kind == TD_KIND_FLOAT) {
        if (t.bytes == 1)
            return k->x8_f32;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 5)
            return k->f16_f32;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 8)
            return k->bf16_f32;
        return NULL;
    }
    if (t.bytes == 1)
        return t.kind == TD_KIND_INT ? k->s8_f32 : k->u8_f32;
    if (t.bytes == 2)
        return t.kind == TD_KIND_INT ? k->s16_f32 : k->u16_f32;
    return NULL;
}

static td_convert_fn encoder_of(const td_convert_kernels *k, td_dtype t, uint8_t over)
{
    if (t.kind == TD_KIND_FLOAT) {
        const bool to_inf = over == TD_OVER_DEFAULT || over == TD_OVER_INF || over == TD_OVER_ERROR;
        if (t.bytes == 1)
            return t.flavor == TD_FLAVOR_SCALE ? NULL : k->f32_x8;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 5 && to_inf)
            return k->f32_f16;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 8 && to_inf)
            return k->f32_bf16;
        return NULL;
    }
    if (over == TD_OVER_WRAP)
        return NULL;
    if (t.bytes == 1)
        return t.kind == TD_KIND_INT ? k->f32_s8 : k->f32_u8;
    if (t.bytes == 2)
        return t.kind == TD_KIND_INT ? k->f32_s16 : k->f32_u16;
    return NULL;
}

/* The scale and the ways to divide by it. */
static void set_scale(td_convert_params *p, float scale)
{
    int exponent = 0;
    const float fraction = frexpf(scale, &exponent);
    const double inverse = 1.0 / (double)scale;
    p->scale = scale;
    p->inverse = (float)inverse;
    p->inverse_low = (float)(inverse - (double)p->inverse);
    if (scale == 1)
        p->divide = TD_DIVIDE_NONE;
    else if (fabsf(fraction) == 0.5F && exponent > -120 && exponent < 120)
        p->divide = TD_DIVIDE_MUL;
    else
        p->divide = scale > 0 && exponent > -30 && exponent < 30 ? TD_DIVIDE_INVERSE : TD_DIVIDE_DIV;
}

static void set_range(td_convert_params *p, td_dtype t)
{
    const int32_t max = (int32_t)td_dtype_max_bits(t);
    p->low = t.kind == TD_KIND_INT ? -max - 1 : 0;
    p->high = max;
}

static void set_small_float(td_convert_params *p, td_dtype t, uint8_t over)
{
    const int bias = (1 << (t.exp_bits - 1)) - 1;
    const bool to_inf = over == TD_OVER_INF || over == TD_OVER_ERROR;
    p->shift = 23U - t.man_bits;
    p->rebias = (uint32_t)(127 - bias) << t.man_bits;
    p->normal_bits = (uint32_t)(128 - bias) << 23;
    p->magic = ldexpf(1, 1 - bias - t.man_bits + 23);
    p->limit = (uint32_t)(to_inf ? td_dtype_inf_bits(t) : td_dtype_max_bits(t));
    p->nan_code = (uint32_t)td_dtype_nan_bits(t);
    p->nan_payload = t.flavor == TD_FLAVOR_IEEE ? (1U << t.man_bits) - 1 : 0;
    p->sign_bit = 1U << (t.bits - 1);
    p->nan_sign = t.flavor == TD_FLAVOR_FINITE ? 0 : p->sign_bit;
}

/* Fixed point is an integer whose scale has 2^-n in it. The quotient is rounded before that factor, which is exact
 * unless the quotient is subnormal; and then it rounds to 0 with either. */
static float with_point(float scale, td_dtype t)
{
    return scale * ldexpf(1, -(int)t.frac_bits);
}

static bool fits_f32(float scale)
{
    const float magnitude = fabsf(scale);
    return magnitude >= 0x1p-126F && magnitude <= 0x1p126F;
}

/* Integers and raw floats alike: only the element's own bits of a container count. */
static void set_own_bits(td_convert_params *p, td_dtype t)
{
    p->own_shift = 32U - t.bits;
    p->own_mask = (uint32_t)td_dtype_mask(t);
}

static void fill_table(td_convert *c)
{
    const td_dtype t = c->src;
    const int bias = (1 << (t.exp_bits - 1)) - 1;
    const uint32_t max = (uint32_t)td_dtype_max_bits(t);
    const uint32_t sign_bit = 1U << (t.bits - 1);
    for (uint32_t code = 0; code < 256; code++) {
        const uint32_t own = code & (uint32_t)td_dtype_mask(t);
        const uint32_t magnitude = t.flavor == TD_FLAVOR_SCALE ? own : own & ~sign_bit;
        const uint32_t exponent = magnitude >> t.man_bits;
        const uint32_t mantissa = magnitude & ((1U << t.man_bits) - 1);
        float value = 0;
        if (magnitude > max && !(td_dtype_has_inf(t) && mantissa == 0)) {
            const uint32_t nan = 0x7fc00000U | (t.flavor == TD_FLAVOR_IEEE ? mantissa << (23 - t.man_bits) : 0);
            memcpy(&value, &nan, sizeof value);
        } else if (magnitude > max) {
            value = INFINITY;
        } else if (t.flavor == TD_FLAVOR_SCALE) {
            value = ldexpf(1, (int)own - 127);
        } else if (exponent == 0) {
            value = ldexpf((float)mantissa, 1 - bias - t.man_bits);
        } else {
            const uint32_t bits = (exponent + 127U - (uint32_t)bias) << 23 | mantissa << (23 - t.man_bits);
            memcpy(&value, &bits, sizeof value);
        }
        c->table[code] = t.flavor != TD_FLAVOR_SCALE && (own & sign_bit) ? -value : value;
    }
    c->decode_params.table = c->table;
}

/* The scale of one stretch of elements into the parameters; false when this scale needs the exact path. */
static bool aim(const td_convert *c, double scale, int64_t zero, td_convert_params *decode, td_convert_params *encode)
{
    const bool forward = c->direction == TD_TO_MEMORY;
    const float divisor = with_point(forward && c->scaled ? (float)scale : 1, c->dst);
    const float factor = with_point(!forward && c->scaled ? (float)scale : 1, c->src);
    if (!fits_f32(divisor) || !fits_f32(factor))
        return false;
    set_scale(decode, factor);
    set_scale(encode, divisor);
    decode->zero = forward ? 0 : (int32_t)zero;
    encode->zero = forward ? (int32_t)zero : 0;
    return true;
}

/* The proof takes as long as a few hundred elements, and scales come again and again: the last verdict is kept. */
static void prove(const td_convert_kernels *kernels, td_convert_params *p)
{
    static _Thread_local float last_scale;
    static _Thread_local bool last_verdict;
    if (!kernels->proves)
        return;
    if (last_scale != p->scale) {
        last_verdict = kernels->proves(p);
        last_scale = p->scale;
    }
    if (last_verdict)
        p->divide = TD_DIVIDE_PROVEN;
}

/* Decoder and encoder through f32, where that is exact; false where it is not. */
static bool choose_fast(td_convert *c, const td_convert_kernels *kernels)
{
    const bool from_f32 = td_dtype_equal(c->src, dtype_f32);
    const bool to_f32 = td_dtype_equal(c->dst, dtype_f32);
    const uint8_t over = c->rounding.over;
    if (c->work_bits != 32 || c->ftz || c->rounding.round != TD_ROUND_EVEN)
        return false;
    td_convert_fn decode = from_f32 ? NULL : decoder_of(kernels, c->src);
    td_convert_fn encode = to_f32 ? NULL : encoder_of(kernels, c->dst, over);
    if ((!from_f32 && !decode) || (!to_f32 && !encode) || (to_f32 && over == TD_OVER_SAT))
        return false;
    if (from_f32 && to_f32) {
        decode = c->direction == TD_TO_TENSOR ? kernels->mul_f32 : NULL;
        encode = c->direction == TD_TO_MEMORY ? kernels->div_f32 : NULL;
    } else if (to_f32 && c->direction == TD_TO_MEMORY && c->scaled) {
        encode = kernels->div_f32;
    } else if (from_f32 && c->direction == TD_TO_TENSOR && c->scaled) {
        decode = kernels->mul_f32;
    }
    if (!aim(c, c->scale, c->zero, &c->decode_params, &c->encode_params))
        return false;
    c->decode = decode;
    c->encode = encode;
    if (c->dst.kind != TD_KIND_FLOAT && c->dst.bytes == 1 && c->encode_params.divide == TD_DIVIDE_INVERSE)
        prove(kernels, &c->encode_params);
    if (c->src.kind == TD_KIND_FLOAT && c->src.bytes == 1)
        fill_table(c);
    set_own_bits(&c->decode_params, c->src);
    if (c->dst.kind != TD_KIND_FLOAT)
        set_range(&c->encode_params, c->dst);
    else if (c->dst.bytes == 1)
        set_small_float(&c->encode_params, c->dst, over);
    return true;
}

static void choose_path(td_convert *c)
{
    td_convert_kernels kernels;
    if (c->copy)
        return;
    td_convert_init(&kernels, td_cpu_flags());
    if (choose_fast(c, &kernels))
        return;
    c->widen = decoder_of(&kernels, c->src);
    c->real = td_convert_real_can(c);
    c->steps = ldexp(1, c->dst.frac_bits);
    set_scale(&c->decode_params, 1);
    c->decode_params.zero = 0;
    set_own_bits(&c->decode_params, c->src);
    if (c->src.kind == TD_KIND_FLOAT && c->src.bytes == 1)
        fill_table(c);
}

static td_status check_axis(const td_as *as, const td_convert *c)
{
    char name[TD_DTYPE_NAME_BYTES];
    const int64_t max = as->dtype.bits == 64 ? INT64_MAX : (int64_t)td_dtype_max_bits(as->dtype);
    const int64_t min = as->dtype.kind == TD_KIND_INT ? -max - 1 : 0;
    for (uint64_t k = 0; k < c->axis.extent; k++) {
        if (!isfinite(scale_at(c, k)) || scale_at(c, k) == 0)
            return td_fail(TD_OPTION,
                           "scale %" PRIu64
                           " of @%s is %.9g, and a scale is finite and not 0; correct the tensor of scales",
                           k, as->scale_name, scale_at(c, k));
        if (zero_at(c, k) < min || zero_at(c, k) > max) {
            td_dtype_print(as->dtype, name);
            return td_fail(TD_OPTION,
                           "zero point %" PRIu64 " of @%s is %" PRId64
                           ", which is not in %s; correct the tensor of zero points",
                           k, as->zero_name, zero_at(c, k), name);
        }
    }
    return TD_OK;
}

static td_status check_scale(const td_as *as, const td_convert *c)
{
    if (c->axis.extent)
        return check_axis(as, c);
    if (isfinite(c->scale) && c->scale != 0)
        return TD_OK;
    return td_fail(
        TD_OPTION,
        "scale=%.17g is %s in f32, the precision of a tensor of %u-byte elements; pass a scale between 1e-38 and "
        "1e38 or an f64 tensor",
        as->scale_f64, c->scale == 0 ? "0" : "infinite", c->direction == TD_TO_MEMORY ? c->src.bytes : c->dst.bytes);
}

td_status td_convert_bind(const td_as *as, td_dtype tensor, td_direction direction, const td_scale_axis *axis,
                          td_convert *out)
{
    static const char *const over_names[] = {"", "", "", " error", ""};
    td_convert *c = out;
    char name[TD_DTYPE_NAME_BYTES];
    memset(c, 0, offsetof(td_convert, table)); /* the table is filled where it is used */
    c->src = direction == TD_TO_MEMORY ? tensor : as->dtype;
    c->dst = direction == TD_TO_MEMORY ? as->dtype : tensor;
    c->direction = (uint8_t)direction;
    c->work_bits = tensor.bytes == 8 ? 64 : 32;
    c->scaled = as->has_scale;
    c->scale = c->work_bits == 64 ? as->scale_f64 : (double)as->scale_f32;
    c->zero = as->zero;
    c->ftz = as->ftz;
    c->seed = as->seed;
    c->rounding.round = as->round;
    c->rounding.ftz = as->ftz;
    /* The word was chosen for the memory's type; into a tensor of another kind it means that type's own. */
    const bool meant = !(as->over == TD_OVER_WRAP && c->dst.kind == TD_KIND_FLOAT) &&
                       !(as->over == TD_OVER_INF && c->dst.kind != TD_KIND_FLOAT);
    c->rounding.over = meant ? as->over : TD_OVER_DEFAULT;
    if (axis && axis->extent)
        c->axis = *axis;
    c->copy = td_dtype_equal(c->src, c->dst) && !c->scaled && !as->has_zero && !c->ftz && !c->axis.extent;
    c->check = !c->copy && as->over == TD_OVER_ERROR;
    td_dtype_print(as->dtype, name);
    snprintf(c->as_text, sizeof c->as_text, "%s%s", name, over_names[as->over]);
    const td_status status = check_scale(as, c);
    if (status)
        return status;
    const unsigned mode = enter_mode();
    choose_path(c);
    leave_mode(mode);
    return TD_OK;
}

void td_convert_free(td_convert *c)
{
    if (c->copy)
        return;
    free(c->owned[0]);
    free(c->owned[1]);
    c->owned[0] = NULL;
    c->owned[1] = NULL;
}

/* -- Running */

static void run_exact(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t elem = first + (uint64_t)step * i;
        store_elem(dst, i, c->dst.bytes, td_convert_one(c, load_elem(src, i, c->src.bytes), elem, NULL));
    }
}

static void run_fast(const td_convert *c, void *dst, const void *src, size_t n, const td_convert_params *decode,
                     const td_convert_params *encode)
{
    if (!c->decode || !c->encode) {
        td_convert_params p = c->decode ? *decode : *encode;
        td_convert_fn fn = c->decode ? c->decode : c->encode;
        if (n * (c->src.bytes + (size_t)c->dst.bytes) > STREAM_BYTES) {
            /* Whole aligned lines stream; what is before the first takes the ordinary way. */
            const size_t head = (((uintptr_t)0 - (uintptr_t)dst) & 63) / c->dst.bytes;
            fn(dst, src, head, &p);
            dst = (char *)dst + head * c->dst.bytes;
            src = (const char *)src + head * c->src.bytes;
            n -= head;
            p.stream = ((uintptr_t)dst & 63) == 0;
        }
        fn(dst, src, n, &p);
        return;
    }
    float stage[STAGE_ELEMS];
    for (size_t i = 0; i < n; i += STAGE_ELEMS) {
        const size_t part = n - i < STAGE_ELEMS ? n - i : STAGE_ELEMS;
        c->decode(stage, (const char *)src + i * c->src.bytes, part, decode);
        c->encode((char *)dst + i * c->dst.bytes, stage, part, encode);
    }
}

/* Elements from `first` on that share its coordinate on the axis, at most n. */
static size_t same_coordinate(const td_convert *c, uint64_t first, int64_t step, size_t n)
{
    const uint64_t within = first % c->axis.inner;
    if (step == 0)
        return n;
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    const uint64_t room = step > 0 ? c->axis.inner - 1 - within : within;
    const uint64_t count = room / stride + 1;
    return count < n ? (size_t)count : n;
}

/* Coordinates that change every few elements: the quotients or products are made one by one and the rest in runs. */
static void run_each(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    const bool forward = c->direction == TD_TO_MEMORY;
    td_convert_params decode = c->decode_params;
    td_convert_params encode = c->encode_params;
    set_scale(&decode, with_point(1, c->src));
    set_scale(&encode, with_point(1, c->dst));
    float stage[STAGE_ELEMS];
    while (n) {
        const size_t part = n < STAGE_ELEMS ? n : STAGE_ELEMS;
        if (c->decode && c->src.bytes < 4)
            c->decode(stage, src, part, &decode);
        else
            memcpy(stage, src, part * sizeof stage[0]);
        uint64_t within = first % c->axis.inner;
        uint64_t k = axis_index(c, first);
        for (size_t i = 0; i < part; i++) {
            const float scale = (float)c->axis.scale[k];
            stage[i] = forward ? stage[i] / scale : stage[i] * scale;
            if (step != 1) {
                k = axis_index(c, first + (uint64_t)step * (i + 1));
            } else if (++within == c->axis.inner) { /* no division where elements follow each other */
                within = 0;
                k = k + 1 == c->axis.extent ? 0 : k + 1;
            }
        }
        if (c->encode && c->dst.bytes < 4)
            c->encode(dst, stage, part, &encode);
        else
            memcpy(dst, stage, part * sizeof stage[0]);
        dst = (char *)dst + part * c->dst.bytes;
        src = (const char *)src + part * c->src.bytes;
        first += (uint64_t)step * part;
        n -= part;
    }
}

#define SHORT_STRETCH 16

static void run_axis(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    if (c->axis.scale && !c->axis.zero && c->axis.inner < stride * SHORT_STRETCH) {
        run_each(c, dst, src, n, first, step);
        return;
    }
    while (n) {
        const size_t part = same_coordinate(c, first, step, n);
        const uint64_t k = axis_index(c, first);
        td_convert_params decode = c->decode_params;
        td_convert_params encode = c->encode_params;
        if (aim(c, scale_at(c, k), zero_at(c, k), &decode, &encode))
            run_fast(c, dst, src, part, &decode, &encode);
        else
            run_exact(c, dst, src, part, first, step);
        dst = (char *)dst + part * c->dst.bytes;
        src = (const char *)src + part * c->src.bytes;
        first += (uint64_t)step * part;
        n -= part;
    }
}

void td_convert_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    if (c->copy) {
        memcpy(dst, src, n * c->dst.bytes);
        return;
    }
    const unsigned mode = enter_mode();
    if (c->real)
        td_convert_real_run(c, dst, src, n, first, step);
    else if (!c->decode && !c->encode)
        run_exact(c, dst, src, n, first, step);
    else if (c->axis.extent)
        run_axis(c, dst, src, n, first, step);
    else
        run_fast(c, dst, src, n, &c->decode_params, &c->encode_params);
    leave_mode(mode);
}

td_status td_convert_check(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step, size_t *bad)
{
    if (!c->check)
        return TD_OK;
    for (size_t i = 0; i < n; i++) {
        const uint64_t elem = first + (uint64_t)step * i;
        const uint64_t bits = load_elem(src, i, c->src.bytes) & td_dtype_mask(c->src);
        bool in_range = true;
        (void)td_convert_one(c, bits, elem, &in_range);
        if (in_range)
            continue;
        char to[TD_DTYPE_NAME_BYTES];
        td_dtype_print(c->dst, to);
        *bad = i;
        return td_fail(TD_RANGE,
                       "element %" PRIu64 " is %.9g (0x%0*" PRIx64
                       "), which does not fit %s (as \"%s\"); change the scale, or "
                       "pass sat in place of error",
                       elem, td_dtype_to_real(c->src, bits), (c->src.bits + 3) / 4, bits, to, c->as_text);
    }
    return TD_OK;
}
