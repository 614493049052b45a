/* The conversion kernels for AVX2 with FMA and F16C. Every kernel is a block of fixed size. The last block of a run
 * overlaps the one before, and a run of less than a block goes through a buffer on the stack: nothing is touched past
 * the ends. */
#if defined(__x86_64__)
#include "convert.h"

#include <immintrin.h>
#include <string.h>

#define T256 __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) T256
#define KERNEL(name)                                                                                                   \
    T256 void td_convert_##name##_avx2(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,         \
                                       size_t rows, size_t n, const td_convert_params *p)
#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define BLOCK 32

typedef void (*block_fn)(void *dst, const void *src, const td_convert_params *p);

/* One row. `block` is a constant where this is inlined, and so are the sizes. */
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

INLINE __m256 load(const void *src, int k)
{
    return _mm256_loadu_ps((const float *)src + 8 * k);
}

INLINE void store(void *dst, int k, __m256i v)
{
    _mm256_storeu_si256((__m256i *)dst + k, v);
}

INLINE __m256 divided(__m256 x, const td_convert_params *p)
{
    if (p->divide == TD_DIVIDE_NONE)
        return x;
    if (p->divide == TD_DIVIDE_MUL)
        return _mm256_mul_ps(x, _mm256_set1_ps(p->inverse));
    return _mm256_div_ps(x, _mm256_set1_ps(p->scale));
}

/* -- f32 to f32 */

/* By 1 too: the quotient of a signalling NaN is quiet. */
INLINE __m256 quotient(__m256 x, const td_convert_params *p)
{
    return p->divide == TD_DIVIDE_NONE ? _mm256_mul_ps(x, _mm256_set1_ps(p->scale)) : divided(x, p);
}

INLINE void block_div(void *dst, const void *src, const td_convert_params *p)
{
    for (int k = 0; k < 4; k++)
        store(dst, k, _mm256_castps_si256(quotient(load(src, k), p)));
}

INLINE void block_mul(void *dst, const void *src, const td_convert_params *p)
{
    for (int k = 0; k < 4; k++)
        store(dst, k, _mm256_castps_si256(_mm256_mul_ps(load(src, k), _mm256_set1_ps(p->scale))));
}

/* -- Narrowing 32-bit codes. The packs work within 128-bit lanes; one permutation puts the pieces in order. */

INLINE __m256i order_x8(__m256i packed)
{
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE __m256i order_x16(__m256i packed)
{
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

INLINE __m256i choose(__m256i otherwise, __m256i mask, __m256i then)
{
    return _mm256_blendv_epi8(otherwise, then, mask);
}

/* -- f32 to floats */

INLINE __m256i nan_of(__m256 x)
{
    return _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

INLINE __m256i code_bf16(__m256 x)
{
    const __m256i u = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i r = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd);
    return _mm256_srli_epi32(choose(r, nan_of(x), _mm256_or_si256(u, _mm256_set1_epi32(0x400000))), 16);
}

INLINE void block_bf16(void *dst, const void *src, const td_convert_params *p)
{
    for (int k = 0; k < 2; k++) {
        const __m256i a = code_bf16(divided(load(src, 2 * k), p));
        const __m256i b = code_bf16(divided(load(src, 2 * k + 1), p));
        store(dst, k, order_x16(_mm256_packus_epi32(a, b)));
    }
}

INLINE void block_f16(void *dst, const void *src, const td_convert_params *p)
{
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i *)dst + k, _mm256_cvtps_ph(divided(load(src, k), p), NEAREST));
}

INLINE __m256i code_x8(__m256 x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->shift);
    const __m256i u = _mm256_castps_si256(x);
    const __m256i a = _mm256_and_si256(u, _mm256_set1_epi32(0x7fffffff));
    const __m256 magic = _mm256_set1_ps(p->magic);
    const __m256i down = _mm256_srl_epi32(a, shift);
    const __m256i round = _mm256_add_epi32(_mm256_and_si256(down, _mm256_set1_epi32(1)),
                                           _mm256_set1_epi32((int)((1U << (p->shift - 1)) - 1)));
    const __m256i normal =
        _mm256_sub_epi32(_mm256_srl_epi32(_mm256_add_epi32(a, round), shift), _mm256_set1_epi32((int)p->rebias));
    const __m256i under =
        _mm256_sub_epi32(_mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), magic)), _mm256_castps_si256(magic));
    __m256i code = choose(normal, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)p->normal_bits), a), under);
    code = _mm256_min_epi32(code, _mm256_set1_epi32((int)p->limit));
    const __m256i nan = nan_of(x);
    const __m256i payload = _mm256_and_si256(down, _mm256_set1_epi32((int)p->nan_payload));
    code = choose(code, nan, _mm256_or_si256(payload, _mm256_set1_epi32((int)p->nan_code)));
    const __m256i sign = choose(_mm256_set1_epi32((int)p->sign_bit), nan, _mm256_set1_epi32((int)p->nan_sign));
    return _mm256_or_si256(code, _mm256_and_si256(sign, _mm256_srai_epi32(u, 31)));
}

INLINE void block_x8(void *dst, const void *src, const td_convert_params *p)
{
    __m256i v[4];
    for (int k = 0; k < 4; k++)
        v[k] = code_x8(divided(load(src, k), p), p);
    store(dst, 0, order_x8(_mm256_packus_epi16(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3]))));
}

/* -- f32 to integers; see the AVX-512 version for why INVERSE gives the quotient of a division */

INLINE __m256i whole(__m256 x, const td_convert_params *p, int divide)
{
    const __m256i number = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_ORD_Q));
    const __m256 scale = _mm256_set1_ps(p->scale);
    const __m256 inverse = _mm256_set1_ps(p->inverse);
    __m256 bound = _mm256_set1_ps(0x1p20F);
    __m256 q = x;
    if (divide == TD_DIVIDE_INVERSE) {
        bound = _mm256_mul_ps(bound, scale);
        x = _mm256_min_ps(_mm256_max_ps(x, _mm256_sub_ps(_mm256_setzero_ps(), bound)), bound);
        q = _mm256_fmadd_ps(x, inverse, _mm256_mul_ps(x, _mm256_set1_ps(p->inverse_low)));
        q = _mm256_fmadd_ps(_mm256_fnmadd_ps(q, scale, x), inverse, q);
    } else {
        if (divide == TD_DIVIDE_MUL)
            q = _mm256_mul_ps(x, inverse);
        if (divide == TD_DIVIDE_DIV)
            q = _mm256_div_ps(x, scale);
        q = _mm256_min_ps(_mm256_max_ps(q, _mm256_sub_ps(_mm256_setzero_ps(), bound)), bound);
    }
    return _mm256_and_si256(number, _mm256_cvtps_epi32(_mm256_round_ps(q, NEAREST)));
}

INLINE void ints_x8(void *dst, const void *src, const td_convert_params *p, int divide, bool sign)
{
    const __m256i zero = _mm256_set1_epi16((short)p->zero);
    const __m256i low = _mm256_set1_epi8((char)p->low);
    const __m256i high = _mm256_set1_epi8((char)p->high);
    __m256i v[4];
    for (int k = 0; k < 4; k++)
        v[k] = whole(load(src, k), p, divide);
    const __m256i ab = _mm256_adds_epi16(_mm256_packs_epi32(v[0], v[1]), zero);
    const __m256i cd = _mm256_adds_epi16(_mm256_packs_epi32(v[2], v[3]), zero);
    __m256i code = sign ? _mm256_packs_epi16(ab, cd) : _mm256_packus_epi16(ab, cd);
    code = sign ? _mm256_max_epi8(_mm256_min_epi8(code, high), low) : _mm256_min_epu8(code, high);
    store(dst, 0, order_x8(code));
}

INLINE void ints_x16(void *dst, const void *src, const td_convert_params *p, int divide, bool sign)
{
    const __m256i zero = _mm256_set1_epi32(p->zero);
    const __m256i low = _mm256_set1_epi16((short)p->low);
    const __m256i high = _mm256_set1_epi16((short)p->high);
    for (int k = 0; k < 2; k++) {
        const __m256i a = _mm256_add_epi32(whole(load(src, 2 * k), p, divide), zero);
        const __m256i b = _mm256_add_epi32(whole(load(src, 2 * k + 1), p, divide), zero);
        __m256i code = sign ? _mm256_packs_epi32(a, b) : _mm256_packus_epi32(a, b);
        code = sign ? _mm256_max_epi16(_mm256_min_epi16(code, high), low) : _mm256_min_epu16(code, high);
        store(dst, k, order_x16(code));
    }
}

/* One block per way to divide, so that nothing is asked inside. */
#define INT_KERNEL(name, ints, dst_bytes, sign)                                                                        \
    INLINE void name##_none(void *dst, const void *src, const td_convert_params *p)                                    \
    {                                                                                                                  \
        ints(dst, src, p, TD_DIVIDE_NONE, sign);                                                                       \
    }                                                                                                                  \
    INLINE void name##_mul(void *dst, const void *src, const td_convert_params *p)                                     \
    {                                                                                                                  \
        ints(dst, src, p, TD_DIVIDE_MUL, sign);                                                                        \
    }                                                                                                                  \
    INLINE void name##_inverse(void *dst, const void *src, const td_convert_params *p)                                 \
    {                                                                                                                  \
        ints(dst, src, p, TD_DIVIDE_INVERSE, sign);                                                                    \
    }                                                                                                                  \
    INLINE void name##_div(void *dst, const void *src, const td_convert_params *p)                                     \
    {                                                                                                                  \
        ints(dst, src, p, TD_DIVIDE_DIV, sign);                                                                        \
    }                                                                                                                  \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            run(name##_none, 4, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                              \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            run(name##_mul, 4, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                               \
        else if (p->divide == TD_DIVIDE_INVERSE || p->divide == TD_DIVIDE_PROVEN)                                      \
            run(name##_inverse, 4, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                           \
        else                                                                                                           \
            run(name##_div, 4, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                               \
    }

INT_KERNEL(f32_s8, ints_x8, 1, true)
INT_KERNEL(f32_u8, ints_x8, 1, false)
INT_KERNEL(f32_s16, ints_x16, 2, true)
INT_KERNEL(f32_u16, ints_x16, 2, false)

/* -- To f32 */

INLINE __m256i multiplied(__m256 x, const td_convert_params *p)
{
    const __m256i u = _mm256_castps_si256(x);
    if (p->divide != TD_DIVIDE_NONE)
        return _mm256_castps_si256(p->quotient ? divided(x, p) : _mm256_mul_ps(x, _mm256_set1_ps(p->scale)));
    return _mm256_or_si256(u, _mm256_and_si256(nan_of(x), _mm256_set1_epi32(0x400000)));
}

INLINE __m256i from_int(__m256i x, const td_convert_params *p)
{
    const __m256 v = _mm256_cvtepi32_ps(_mm256_sub_epi32(x, _mm256_set1_epi32(p->zero)));
    return _mm256_castps_si256(p->quotient ? divided(v, p) : _mm256_mul_ps(v, _mm256_set1_ps(p->scale)));
}

INLINE __m256i from_signed(__m256i x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift);
    return from_int(_mm256_sra_epi32(_mm256_sll_epi32(x, shift), shift), p);
}

INLINE __m256i from_unsigned(__m256i x, const td_convert_params *p)
{
    return from_int(_mm256_and_si256(x, _mm256_set1_epi32((int)p->own_mask)), p);
}

INLINE __m128i load_x16(const void *src, int k)
{
    return _mm_loadu_si128((const __m128i *)src + k);
}

INLINE __m128i load_x8(const void *src, int k)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)((const char *)src + 8 * k));
}

#define DECODE_BLOCK(name, expression)                                                                                 \
    INLINE void name(void *dst, const void *src, const td_convert_params *p)                                           \
    {                                                                                                                  \
        for (int k = 0; k < 4; k++)                                                                                    \
            store(dst, k, expression);                                                                                 \
    }

DECODE_BLOCK(from_bf16,
             multiplied(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_x16(src, k)), 16)), p))
DECODE_BLOCK(from_f16, multiplied(_mm256_cvtph_ps(load_x16(src, k)), p))
DECODE_BLOCK(from_x8, multiplied(_mm256_i32gather_ps(p->table, _mm256_cvtepu8_epi32(load_x8(src, k)), 4), p))
DECODE_BLOCK(from_s8, from_signed(_mm256_cvtepu8_epi32(load_x8(src, k)), p))
DECODE_BLOCK(from_u8, from_unsigned(_mm256_cvtepu8_epi32(load_x8(src, k)), p))
DECODE_BLOCK(from_s16, from_signed(_mm256_cvtepu16_epi32(load_x16(src, k)), p))
DECODE_BLOCK(from_u16, from_unsigned(_mm256_cvtepu16_epi32(load_x16(src, k)), p))

#define BLOCK_KERNEL(name, block, src_bytes, dst_bytes)                                                                \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        run(block, src_bytes, dst_bytes, dst, dst_stride, src, src_stride, rows, n, p);                                \
    }

BLOCK_KERNEL(div_f32, block_div, 4, 4)
BLOCK_KERNEL(mul_f32, block_mul, 4, 4)
BLOCK_KERNEL(f32_bf16, block_bf16, 4, 2)
BLOCK_KERNEL(f32_f16, block_f16, 4, 2)
BLOCK_KERNEL(f32_x8, block_x8, 4, 1)
BLOCK_KERNEL(bf16_f32, from_bf16, 2, 4)
BLOCK_KERNEL(f16_f32, from_f16, 2, 4)
BLOCK_KERNEL(x8_f32, from_x8, 1, 4)
BLOCK_KERNEL(s8_f32, from_s8, 1, 4)
BLOCK_KERNEL(u8_f32, from_u8, 1, 4)
BLOCK_KERNEL(s16_f32, from_s16, 2, 4)
BLOCK_KERNEL(u16_f32, from_u16, 2, 4)

void td_convert_init_avx2(td_convert_kernels *kernels)
{
#define X(name, src_bytes, dst_bytes) kernels->name = td_convert_##name##_avx2;
    TD_CONVERT_KERNELS(X)
#undef X
}
#else
typedef int td_convert_avx2_unused;
#endif
