/* The conversion kernels for NEON: bf16, f16 and integers, in blocks of 16 elements. The last block of a run overlaps
 * the one before, and a run of less than a block goes through a buffer on the stack, so that nothing past the ends is
 * touched. A scale that is no power of two is divided by. The other kernels stay with plain C, which compilers
 * vectorise. */
#include "kernels/convert.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define BLOCK 16

typedef void (*block_fn)(char *dst, const char *src, const td_convert_params *p);

/* `block` is a constant where this is inlined, and so are the sizes. */
INLINE void run_row(block_fn block, size_t src_bytes, size_t dst_bytes, char *out, const char *in, size_t n,
                    const td_convert_params *p)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        block(out + i * dst_bytes, in + i * src_bytes, p);
    if (i == n)
        return;
    if (n > BLOCK) { /* once more, some of it for the second time */
        block(out + (n - BLOCK) * dst_bytes, in + (n - BLOCK) * src_bytes, p);
        return;
    }
    char last_in[BLOCK * 4] = {0};
    char last_out[BLOCK * 4];
    memcpy(last_in, in, n * src_bytes);
    block(last_out, last_in, p);
    memcpy(out, last_out, n * dst_bytes);
}

INLINE void run(block_fn block, size_t src_bytes, size_t dst_bytes, char *dst, ptrdiff_t dst_stride, const char *src,
                ptrdiff_t src_stride, size_t rows, size_t n, const td_convert_params *params)
{
    /* A store through dst might change what params points at; a copy stays in registers. */
    const td_convert_params copy = *params;
    for (; rows; rows--, dst += dst_stride, src += src_stride)
        run_row(block, src_bytes, dst_bytes, dst, src, n, &copy);
}

INLINE uint8x16_t bytes_at(const char *p)
{
    return vld1q_u8((const uint8_t *)p);
}

INLINE void put_bytes(char *p, uint8x16_t v)
{
    vst1q_u8((uint8_t *)p, v);
}

INLINE float32x4_t load(const char *src, int k)
{
    return vreinterpretq_f32_u8(bytes_at(src + 16 * k));
}

INLINE void store(char *dst, int k, float32x4_t v)
{
    put_bytes(dst + 16 * k, vreinterpretq_u8_f32(v));
}

INLINE float32x4_t divided(float32x4_t x, const td_convert_params *p)
{
    if (p->divide == TD_DIVIDE_NONE)
        return x;
    if (p->divide == TD_DIVIDE_MUL)
        return vmulq_n_f32(x, p->inverse);
    return vdivq_f32(x, vdupq_n_f32(p->scale));
}

INLINE uint32x4_t number(float32x4_t x)
{
    return vceqq_f32(x, x);
}

/* -- f32 to floats */

INLINE uint32x4_t code_bf16(float32x4_t x)
{
    const uint32x4_t u = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(vaddq_u32(u, vdupq_n_u32(0x7fff)), odd);
    return vbslq_u32(number(x), rounded, vorrq_u32(u, vdupq_n_u32(0x400000)));
}

INLINE void block_bf16(char *dst, const char *src, const td_convert_params *p)
{
    for (int k = 0; k < 2; k++) {
        const uint16x4_t a = vshrn_n_u32(code_bf16(divided(load(src, 2 * k), p)), 16);
        const uint16x4_t b = vshrn_n_u32(code_bf16(divided(load(src, 2 * k + 1), p)), 16);
        put_bytes(dst + 16 * k, vreinterpretq_u8_u16(vcombine_u16(a, b)));
    }
}

INLINE void block_f16(char *dst, const char *src, const td_convert_params *p)
{
    for (int k = 0; k < 2; k++) {
        const float16x4_t a = vcvt_f16_f32(divided(load(src, 2 * k), p));
        const float16x4_t b = vcvt_f16_f32(divided(load(src, 2 * k + 1), p));
        put_bytes(dst + 16 * k, vreinterpretq_u8_f16(vcombine_f16(a, b)));
    }
}

/* -- f32 to integers */

/* Within low .. high; beyond 2^20 every target is full, with any zero point. The conversion makes NaN 0. */
INLINE uint16x4_t code_int(float32x4_t x, const td_convert_params *p)
{
    const float32x4_t q = vminq_f32(vmaxq_f32(divided(x, p), vdupq_n_f32(-0x1p20F)), vdupq_n_f32(0x1p20F));
    const int32x4_t value = vaddq_s32(vcvtnq_s32_f32(q), vdupq_n_s32(p->zero));
    const int32x4_t held = vmaxq_s32(vminq_s32(value, vdupq_n_s32(p->high)), vdupq_n_s32(p->low));
    return vmovn_u32(vreinterpretq_u32_s32(held));
}

INLINE uint16x8_t codes_int(const char *src, int k, const td_convert_params *p)
{
    return vcombine_u16(code_int(load(src, k), p), code_int(load(src, k + 1), p));
}

INLINE void block_int8(char *dst, const char *src, const td_convert_params *p)
{
    put_bytes(dst, vcombine_u8(vmovn_u16(codes_int(src, 0, p)), vmovn_u16(codes_int(src, 2, p))));
}

INLINE void block_int16(char *dst, const char *src, const td_convert_params *p)
{
    put_bytes(dst, vreinterpretq_u8_u16(codes_int(src, 0, p)));
    put_bytes(dst + 16, vreinterpretq_u8_u16(codes_int(src, 2, p)));
}

/* -- to f32 */

INLINE float32x4_t scaled(float32x4_t x, const td_convert_params *p)
{
    return p->quotient ? divided(x, p) : vmulq_n_f32(x, p->scale);
}

INLINE float32x4_t multiplied(float32x4_t x, const td_convert_params *p)
{
    const uint32x4_t u = vreinterpretq_u32_f32(x);
    if (p->divide != TD_DIVIDE_NONE)
        return scaled(x, p);
    return vreinterpretq_f32_u32(vbslq_u32(number(x), u, vorrq_u32(u, vdupq_n_u32(0x400000))));
}

INLINE float32x4_t from_int(int32x4_t x, const td_convert_params *p)
{
    return scaled(vcvtq_f32_s32(vsubq_s32(x, vdupq_n_s32(p->zero))), p);
}

INLINE float32x4_t from_signed(uint16x4_t x, const td_convert_params *p)
{
    const int32x4_t up = vdupq_n_s32((int32_t)p->own_shift), down = vnegq_s32(up);
    return from_int(vshlq_s32(vshlq_s32(vreinterpretq_s32_u32(vmovl_u16(x)), up), down), p);
}

INLINE float32x4_t from_unsigned(uint16x4_t x, const td_convert_params *p)
{
    return from_int(vreinterpretq_s32_u32(vandq_u32(vmovl_u16(x), vdupq_n_u32(p->own_mask))), p);
}

INLINE uint16x4_t load_x16(const char *src, int k)
{
    return vreinterpret_u16_u8(vld1_u8((const uint8_t *)src + 8 * k));
}

/* Four of 16 bytes, widened. */
INLINE uint16x4_t load_x8(const char *src, int k)
{
    const uint16x8_t half = vmovl_u8(vld1_u8((const uint8_t *)src + 8 * (k / 2)));
    return k % 2 ? vget_high_u16(half) : vget_low_u16(half);
}

#define DECODE_BLOCK(name, expression)                                                                                 \
    INLINE void name(char *dst, const char *src, const td_convert_params *p)                                           \
    {                                                                                                                  \
        for (int k = 0; k < 4; k++)                                                                                    \
            store(dst, k, expression);                                                                                 \
    }

DECODE_BLOCK(from_bf16, multiplied(vreinterpretq_f32_u32(vshll_n_u16(load_x16(src, k), 16)), p))
DECODE_BLOCK(from_f16, multiplied(vcvt_f32_f16(vreinterpret_f16_u16(load_x16(src, k))), p))
DECODE_BLOCK(from_s8, from_signed(load_x8(src, k), p))
DECODE_BLOCK(from_u8, from_unsigned(load_x8(src, k), p))
DECODE_BLOCK(from_s16, from_signed(load_x16(src, k), p))
DECODE_BLOCK(from_u16, from_unsigned(load_x16(src, k), p))

#define NEON_KERNELS(X)                                                                                                \
    X(f32_bf16, block_bf16, 4, 2)                                                                                      \
    X(f32_f16, block_f16, 4, 2)                                                                                        \
    X(f32_s8, block_int8, 4, 1)                                                                                        \
    X(f32_u8, block_int8, 4, 1)                                                                                        \
    X(f32_s16, block_int16, 4, 2)                                                                                      \
    X(f32_u16, block_int16, 4, 2)                                                                                      \
    X(bf16_f32, from_bf16, 2, 4)                                                                                       \
    X(f16_f32, from_f16, 2, 4)                                                                                         \
    X(s8_f32, from_s8, 1, 4)                                                                                           \
    X(u8_f32, from_u8, 1, 4)                                                                                           \
    X(s16_f32, from_s16, 2, 4)                                                                                         \
    X(u16_f32, from_u16, 2, 4)

#define X(name, block, src_bytes, dst_bytes)                                                                           \
    TD_CONVERT_KERNEL(name, neon)                                                                                      \
    {                                                                                                                  \
        if (p->scales) /* those are seldom enough for plain C */                                                       \
            td_convert_##name##_c(dst, dst_stride, src, src_stride, rows, n, p);                                       \
        else                                                                                                           \
            run(block, src_bytes, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                            \
    }
NEON_KERNELS(X)
#undef X

void td_convert_init_neon(td_convert_kernels *kernels)
{
#define X(name, block, src_bytes, dst_bytes) kernels->name = td_convert_##name##_neon;
    NEON_KERNELS(X)
#undef X
}
