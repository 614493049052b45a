/* The conversion kernels in plain C: the rule that the other versions follow bit for bit. IEEE arithmetic in round to
 * nearest even is all they ask of the machine; elements are read with memcpy, so nothing has to be aligned. */
#include "kernels/convert.h"

#include <math.h>
#include <string.h>

#define KERNEL(name)                                                                                                   \
    static void name(void *dst, const void *src, size_t n, const td_convert_params *p);                                \
    TD_CONVERT_KERNEL(name, c)                                                                                         \
    {                                                                                                                  \
        char *out = dst;                                                                                               \
        const char *in = src;                                                                                          \
        for (; rows; rows--, out += dst_stride, in += src_stride)                                                      \
            name(out, in, n, p);                                                                                       \
    }                                                                                                                  \
    static void name(void *dst, const void *src, size_t n, const td_convert_params *p)

static float float_of(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float load_f32(const void *src, size_t i)
{
    float value = 0;
    memcpy(&value, (const char *)src + 4 * i, sizeof value);
    return value;
}

static void store_f32(void *dst, size_t i, float value)
{
    memcpy((char *)dst + 4 * i, &value, sizeof value);
}

static uint16_t load_u16(const void *src, size_t i)
{
    uint16_t value = 0;
    memcpy(&value, (const char *)src + 2 * i, sizeof value);
    return value;
}

static void store_u16(void *dst, size_t i, uint16_t value)
{
    memcpy((char *)dst + 2 * i, &value, sizeof value);
}

static uint32_t own_signed(uint32_t container, const td_convert_params *p)
{
    return (uint32_t)((int32_t)(container << p->own_shift) >> p->own_shift);
}

static float divided(float x, const td_convert_params *p)
{
    return p->divide == TD_DIVIDE_NONE ? x : x / p->scale;
}

KERNEL(div_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, load_f32(src, i) / p->scale);
}

KERNEL(mul_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, load_f32(src, i) * p->scale);
}

static uint16_t bf16_of(float x)
{
    const uint32_t u = bits_of(x);
    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

KERNEL(f32_bf16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, bf16_of(divided(load_f32(src, i), p)));
}

KERNEL(f32_f16)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = bits_of(divided(load_f32(src, i), p));
        const uint32_t sign = u >> 16 & 0x8000;
        const uint32_t a = u & 0x7fffffff;
        uint32_t code = 0;
        if (a > 0x7f800000)
            code = 0x7e00 | (a >> 13 & 0x3ff);
        else if (a >= 0x477ff000) /* 65520 and above round past the largest number */
            code = 0x7c00;
        else if (a < 0x38800000) /* subnormal: the sum with 0.5 has the smallest subnormal as its unit */
            code = bits_of(float_of(a) + 0.5F) - 0x3f000000;
        else
            code = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
        store_u16(dst, i, (uint16_t)(sign | code));
    }
}

KERNEL(f32_x8)
{
    unsigned char *out = dst;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = bits_of(divided(load_f32(src, i), p));
        const uint32_t a = u & 0x7fffffff;
        uint32_t sign = u >> 31 ? p->sign_bit : 0;
        uint32_t code = 0;
        if (a > 0x7f800000) {
            code = p->nan_code | ((a >> p->shift) & p->nan_payload);
            sign = u >> 31 ? p->nan_sign : 0;
        } else {
            if (a < p->normal_bits)
                code = bits_of(float_of(a) + p->magic) - bits_of(p->magic);
            else
                code = ((a + ((1U << (p->shift - 1)) - 1) + (a >> p->shift & 1)) >> p->shift) - p->rebias;
            code = code < p->limit ? code : p->limit;
        }
        out[i] = (unsigned char)(sign | code);
    }
}

/* round(x / scale) + zero within low .. high; NaN is 0 / scale. Beyond 2^20 every 16-bit target is full, with any zero
 * point, and the sum with 3 * 2^22 drops the fraction to nearest even. */
static int32_t quantised(float x, const td_convert_params *p)
{
    float q = divided(x, p);
    q = q == q ? q : 0;
    q = q < 0x1p20F ? q : 0x1p20F;
    q = q > -0x1p20F ? q : -0x1p20F;
    const int32_t whole = (int32_t)(bits_of(q + 0x1.8p23F) - 0x4b400000);
    const int32_t value = whole + p->zero;
    return value < p->low ? p->low : value > p->high ? p->high : value;
}

KERNEL(f32_s8)
{
    signed char *out = dst;
    for (size_t i = 0; i < n; i++)
        out[i] = (signed char)quantised(load_f32(src, i), p);
}

KERNEL(f32_u8)
{
    unsigned char *out = dst;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)quantised(load_f32(src, i), p);
}

KERNEL(f32_s16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, (uint16_t)quantised(load_f32(src, i), p));
}

KERNEL(f32_u16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, (uint16_t)quantised(load_f32(src, i), p));
}

/* round(x / scale) + zero modulo 2^bits, in 32 bits; of what is no number the quotient is 0. */
static uint32_t wrapped(float x, const td_convert_params *p)
{
    const float q = divided(x, p);
    int32_t whole = 0;
    if (fabsf(q) < 0x1p31F)
        whole = (int32_t)lrintf(q);
    else if (isfinite(q)) /* whole already */
        whole = (int32_t)fmodf(q, 0x1p16F);
    const uint32_t value = (uint32_t)whole + (uint32_t)p->zero;
    return p->low < 0 ? own_signed(value, p) : value & p->own_mask;
}

KERNEL(f32_wrap8)
{
    unsigned char *out = dst;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)wrapped(load_f32(src, i), p);
}

KERNEL(f32_wrap16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, (uint16_t)wrapped(load_f32(src, i), p));
}

KERNEL(f32_s32)
{
    for (size_t i = 0; i < n; i++) {
        const float q = divided(load_f32(src, i), p);
        const int32_t code = q >= 0x1p31F ? INT32_MAX : q < -0x1p31F ? INT32_MIN : q == q ? (int32_t)lrintf(q) : 0;
        memcpy((char *)dst + 4 * i, &code, sizeof code);
    }
}

KERNEL(f32_u32)
{
    for (size_t i = 0; i < n; i++) {
        const float q = divided(load_f32(src, i), p);
        const uint32_t code = q >= 0x1p32F ? UINT32_MAX : q > 0 ? (uint32_t)llrintf(q) : 0;
        memcpy((char *)dst + 4 * i, &code, sizeof code);
    }
}

/* Without a scale nothing is multiplied: a denormal operand costs more than all the rest. */
static float multiplied(float x, const td_convert_params *p, size_t i)
{
    const uint32_t u = bits_of(x);
    if (p->scales)
        return x * p->scales[i];
    if (p->divide != TD_DIVIDE_NONE)
        return p->quotient ? x / p->scale : x * p->scale;
    return (u & 0x7fffffff) > 0x7f800000 ? float_of(u | 0x400000) : x;
}

KERNEL(bf16_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, multiplied(float_of((uint32_t)load_u16(src, i) << 16), p, i));
}

static float float_of_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t a = h & 0x7fff;
    if (a >= 0x7c00)
        return float_of(sign | 0x7f800000 | (a & 0x3ff) << 13);
    if (a < 0x400)
        return float_of(sign | bits_of((float)a * 0x1p-24F));
    return float_of(sign | ((a << 13) + 0x38000000));
}

KERNEL(f16_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, multiplied(float_of_f16(load_u16(src, i)), p, i));
}

KERNEL(x8_f32)
{
    const unsigned char *in = src;
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, multiplied(p->table[in[i]], p, i));
}

static float from_int(int32_t value, const td_convert_params *p, size_t i)
{
    const float x = (float)(value - p->zero);
    if (p->scales)
        return x * p->scales[i];
    return p->quotient ? x / p->scale : x * p->scale;
}

static float from_signed(uint32_t container, const td_convert_params *p, size_t i)
{
    return from_int((int32_t)own_signed(container, p), p, i);
}

static float from_unsigned(uint32_t container, const td_convert_params *p, size_t i)
{
    return from_int((int32_t)(container & p->own_mask), p, i);
}

KERNEL(s8_f32)
{
    const unsigned char *in = src;
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, from_signed(in[i], p, i));
}

KERNEL(u8_f32)
{
    const unsigned char *in = src;
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, from_unsigned(in[i], p, i));
}

KERNEL(s16_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, from_signed(load_u16(src, i), p, i));
}

KERNEL(u16_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, from_unsigned(load_u16(src, i), p, i));
}

static uint32_t load_u32(const void *src, size_t i)
{
    uint32_t value = 0;
    memcpy(&value, (const char *)src + 4 * i, sizeof value);
    return value;
}

static void store_u32(void *dst, size_t i, uint32_t value)
{
    memcpy((char *)dst + 4 * i, &value, sizeof value);
}

static float unit_of(float x, const td_convert_params *p)
{
    return p->divide == TD_DIVIDE_NONE ? x : x * p->scale;
}

KERNEL(s32_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, unit_of((float)(int32_t)own_signed(load_u32(src, i), p), p));
}

KERNEL(u32_f32)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, unit_of((float)(load_u32(src, i) & p->own_mask), p));
}

/* What rounding towards zero lost is kept as a lowest bit that is set. */
static float odd_of(int64_t value)
{
    float x = (float)value;
    const int64_t back = (int64_t)x;
    const bool further = value < 0 ? back < value : back > value;
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits - further) | (back != value);
    memcpy(&x, &bits, sizeof x);
    return x;
}

KERNEL(s32_odd)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, unit_of(odd_of((int32_t)own_signed(load_u32(src, i), p)), p));
}

KERNEL(u32_odd)
{
    for (size_t i = 0; i < n; i++)
        store_f32(dst, i, unit_of(odd_of((int64_t)(load_u32(src, i) & p->own_mask)), p));
}

KERNEL(s32_bf16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, bf16_of(unit_of(odd_of((int32_t)own_signed(load_u32(src, i), p)), p)));
}

KERNEL(u32_bf16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, bf16_of(unit_of(odd_of((int64_t)(load_u32(src, i) & p->own_mask)), p)));
}

KERNEL(s8_s32)
{
    for (size_t i = 0; i < n; i++)
        store_u32(dst, i, own_signed(((const unsigned char *)src)[i], p));
}

KERNEL(u8_u32)
{
    for (size_t i = 0; i < n; i++)
        store_u32(dst, i, ((const unsigned char *)src)[i] & p->own_mask);
}

KERNEL(s16_s32)
{
    for (size_t i = 0; i < n; i++)
        store_u32(dst, i, own_signed(load_u16(src, i), p));
}

KERNEL(u16_u32)
{
    for (size_t i = 0; i < n; i++)
        store_u32(dst, i, load_u16(src, i) & p->own_mask);
}

KERNEL(s8_s16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, (uint16_t)own_signed(((const unsigned char *)src)[i], p));
}

KERNEL(u8_u16)
{
    for (size_t i = 0; i < n; i++)
        store_u16(dst, i, (uint16_t)(((const unsigned char *)src)[i] & p->own_mask));
}

void td_convert_init(td_convert_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, src_bytes, dst_bytes) kernels->name = td_convert_##name##_c;
    TD_CONVERT_KERNELS(X)
#undef X
    kernels->proves = NULL;
    kernels->proves_small = NULL;
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_convert_init_##isa(kernels);
    TD_CONVERT_ISAS(X)
#undef X
}
