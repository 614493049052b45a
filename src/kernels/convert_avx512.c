/* The conversion kernels for AVX-512 F, BW, DQ and VL. Whole output lines of 64 bytes in the main loops, masked steps
 * of 16 elements at the end. AVX512-BF16 has an instruction for f32 -> bf16, which takes denormals for zeros: that is
 * not the rule of the plain C, so the rounding is done in integers here on every machine. */
#if defined(__x86_64__)
#include "convert.h"

#include <immintrin.h>

#define T512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) T512
#define KERNEL(name)                                                                                                   \
    T512 void td_convert_##name##_avx512(void *dst, const void *src, size_t n, const td_convert_params *p)
#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

INLINE __mmask16 mask_of(size_t n) {
    return (__mmask16)(n < 16 ? (1U << n) - 1 : 0xffffU);
}

INLINE void put(void *dst, __m512i line, bool stream) {
    if (stream)
        _mm512_stream_si512((__m512i *)dst, line);
    else
        _mm512_storeu_si512(dst, line);
}

/* Streamed lines have to be in memory before another thread is told of them. */
INLINE void finish(const td_convert_params *p) {
    if (p->stream)
        _mm_sfence();
}

/* -- f32 to f32 */

INLINE __m512 divided(__m512 x, const td_convert_params *p) {
    if (p->divide == TD_DIVIDE_NONE)
        return x;
    if (p->divide == TD_DIVIDE_MUL)
        return _mm512_mul_ps(x, _mm512_set1_ps(p->inverse));
    return _mm512_div_ps(x, _mm512_set1_ps(p->scale));
}

/* By 1 too: the quotient of a signalling NaN is quiet. */
INLINE __m512 quotient(__m512 x, const td_convert_params *p) {
    return p->divide == TD_DIVIDE_NONE ? _mm512_mul_ps(x, _mm512_set1_ps(p->scale)) : divided(x, p);
}

KERNEL(div_f32) {
    const float *in = src;
    float *out = dst;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        put(out + i, _mm512_castps_si512(quotient(_mm512_loadu_ps(in + i), p)), p->stream);
    if (i < n)
        _mm512_mask_storeu_ps(out + i, mask_of(n - i), quotient(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p));
    finish(p);
}

KERNEL(mul_f32) {
    const float *in = src;
    float *out = dst;
    const __m512 scale = _mm512_set1_ps(p->scale);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        put(out + i, _mm512_castps_si512(_mm512_mul_ps(_mm512_loadu_ps(in + i), scale)), p->stream);
    if (i < n)
        _mm512_mask_storeu_ps(out + i, mask_of(n - i),
                              _mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), scale));
    finish(p);
}

/* -- Narrowing 32-bit codes. The packs work within 128-bit lanes; one permutation puts the pieces in order. */

INLINE __m512i order_x8(__m512i packed) {
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), packed);
}

INLINE __m512i order_x16(__m512i packed) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
}

INLINE void tail_x8(unsigned char *out, __m512i codes, size_t n) {
    _mm_mask_storeu_epi8(out, mask_of(n), _mm512_cvtepi32_epi8(codes));
}

INLINE void tail_x16(uint16_t *out, __m512i codes, size_t n) {
    _mm256_mask_storeu_epi16(out, mask_of(n), _mm512_cvtepi32_epi16(codes));
}

/* -- f32 to floats */

INLINE __m512i code_bf16(__m512 x) {
    const __m512i u = _mm512_castps_si512(x);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i r = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
    r = _mm512_mask_or_epi32(r, nan, u, _mm512_set1_epi32(0x400000));
    return _mm512_srli_epi32(r, 16);
}

KERNEL(f32_bf16) {
    const float *in = src;
    uint16_t *out = dst;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i a = code_bf16(divided(_mm512_loadu_ps(in + i), p));
        const __m512i b = code_bf16(divided(_mm512_loadu_ps(in + i + 16), p));
        put(out + i, order_x16(_mm512_packus_epi32(a, b)), p->stream);
    }
    for (; i < n; i += 16)
        tail_x16(out + i, code_bf16(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p)), n - i);
    finish(p);
}

KERNEL(f32_f16) {
    const float *in = src;
    uint16_t *out = dst;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i a = _mm512_cvtps_ph(divided(_mm512_loadu_ps(in + i), p), NEAREST);
        const __m256i b = _mm512_cvtps_ph(divided(_mm512_loadu_ps(in + i + 16), p), NEAREST);
        if (p->stream) {
            _mm512_stream_si512((__m512i *)(void *)(out + i), _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1));
        } else {
            _mm256_storeu_si256((__m256i *)(void *)(out + i), a);
            _mm256_storeu_si256((__m256i *)(void *)(out + i + 16), b);
        }
    }
    for (; i < n; i += 16)
        _mm256_mask_storeu_epi16(out + i, mask_of(n - i),
                                 _mm512_cvtps_ph(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p), NEAREST));
    finish(p);
}

INLINE __m512i code_x8(__m512 x, const td_convert_params *p) {
    const __m128i shift = _mm_cvtsi32_si128((int)p->shift);
    const __m512i u = _mm512_castps_si512(x);
    const __m512i a = _mm512_and_si512(u, _mm512_set1_epi32(0x7fffffff));
    const __m512 magic = _mm512_set1_ps(p->magic);
    const __m512i down = _mm512_srl_epi32(a, shift);
    const __m512i round = _mm512_add_epi32(_mm512_and_si512(down, _mm512_set1_epi32(1)),
                                           _mm512_set1_epi32((int)((1U << (p->shift - 1)) - 1)));
    __m512i code =
        _mm512_sub_epi32(_mm512_srl_epi32(_mm512_add_epi32(a, round), shift), _mm512_set1_epi32((int)p->rebias));
    const __mmask16 small = _mm512_cmplt_epi32_mask(a, _mm512_set1_epi32((int)p->normal_bits));
    code = _mm512_mask_sub_epi32(code, small, _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), magic)),
                                 _mm512_castps_si512(magic));
    const __mmask16 over = _mm512_cmpgt_epi32_mask(code, _mm512_set1_epi32((int)p->max_code));
    code = _mm512_mask_mov_epi32(code, over, _mm512_set1_epi32((int)p->over_code));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __mmask16 minus = _mm512_movepi32_mask(u);
    const __m512i payload = _mm512_and_si512(down, _mm512_set1_epi32((int)p->nan_payload));
    code = _mm512_mask_or_epi32(code, nan, payload, _mm512_set1_epi32((int)p->nan_code));
    code = _mm512_mask_or_epi32(code, (__mmask16)(minus & ~nan), code, _mm512_set1_epi32((int)p->sign_bit));
    return _mm512_mask_or_epi32(code, minus & nan, code, _mm512_set1_epi32((int)p->nan_sign));
}

KERNEL(f32_x8) {
    const float *in = src;
    unsigned char *out = dst;
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i a = code_x8(divided(_mm512_loadu_ps(in + i), p), p);
        const __m512i b = code_x8(divided(_mm512_loadu_ps(in + i + 16), p), p);
        const __m512i c = code_x8(divided(_mm512_loadu_ps(in + i + 32), p), p);
        const __m512i d = code_x8(divided(_mm512_loadu_ps(in + i + 48), p), p);
        put(out + i, order_x8(_mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d))), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, code_x8(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p), p), n - i);
    finish(p);
}

/* -- f32 to integers */

/* round(x / scale) as 32-bit integers, NaN as 0, out of the way beyond 2^20. With INVERSE the first quotient is within
 * one unit in the last place, its remainder is exact, and the corrected quotient is the one a division rounds to
 * (Markstein's theorem); where the remainder would underflow, the quotient is far below a half and any is right. */
INLINE __m512i whole(__m512 x, const td_convert_params *p, int divide) {
    const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    const __m512 scale = _mm512_set1_ps(p->scale);
    const __m512 inverse = _mm512_set1_ps(p->inverse);
    __m512 bound = _mm512_set1_ps(0x1p20F);
    __m512 q = x;
    if (divide == TD_DIVIDE_INVERSE) {
        bound = _mm512_abs_ps(_mm512_mul_ps(bound, scale));
        x = _mm512_min_ps(_mm512_max_ps(x, _mm512_sub_ps(_mm512_setzero_ps(), bound)), bound);
        q = _mm512_fmadd_ps(x, inverse, _mm512_mul_ps(x, _mm512_set1_ps(p->inverse_low)));
        q = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, scale, x), inverse, q);
    } else {
        if (divide == TD_DIVIDE_MUL)
            q = _mm512_mul_ps(x, inverse);
        if (divide == TD_DIVIDE_DIV)
            q = _mm512_div_ps(x, scale);
        q = _mm512_min_ps(_mm512_max_ps(q, _mm512_sub_ps(_mm512_setzero_ps(), bound)), bound);
    }
    return _mm512_maskz_cvt_roundps_epi32(number, q, NEAREST);
}

INLINE __m512i tail_int(const float *in, size_t n, const td_convert_params *p, int divide) {
    const __m512i v =
        _mm512_add_epi32(whole(_mm512_maskz_loadu_ps(mask_of(n), in), p, divide), _mm512_set1_epi32(p->zero));
    return _mm512_min_epi32(_mm512_max_epi32(v, _mm512_set1_epi32(p->low)), _mm512_set1_epi32(p->high));
}

INLINE void ints_x8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide, bool sign) {
    const __m512i zero = _mm512_set1_epi16((short)p->zero);
    const __m512i low = _mm512_set1_epi8((char)p->low);
    const __m512i high = _mm512_set1_epi8((char)p->high);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i a = whole(_mm512_loadu_ps(in + i), p, divide);
        const __m512i b = whole(_mm512_loadu_ps(in + i + 16), p, divide);
        const __m512i c = whole(_mm512_loadu_ps(in + i + 32), p, divide);
        const __m512i d = whole(_mm512_loadu_ps(in + i + 48), p, divide);
        const __m512i ab = _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero);
        const __m512i cd = _mm512_adds_epi16(_mm512_packs_epi32(c, d), zero);
        __m512i v = sign ? _mm512_packs_epi16(ab, cd) : _mm512_packus_epi16(ab, cd);
        v = sign ? _mm512_max_epi8(_mm512_min_epi8(v, high), low) : _mm512_min_epu8(v, high);
        put(out + i, order_x8(v), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, tail_int(in + i, n - i, p, divide), n - i);
    finish(p);
}

INLINE void ints_x16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide, bool sign) {
    const __m512i zero = _mm512_set1_epi32(p->zero);
    const __m512i low = _mm512_set1_epi16((short)p->low);
    const __m512i high = _mm512_set1_epi16((short)p->high);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i a = _mm512_add_epi32(whole(_mm512_loadu_ps(in + i), p, divide), zero);
        const __m512i b = _mm512_add_epi32(whole(_mm512_loadu_ps(in + i + 16), p, divide), zero);
        __m512i v = sign ? _mm512_packs_epi32(a, b) : _mm512_packus_epi32(a, b);
        v = sign ? _mm512_max_epi16(_mm512_min_epi16(v, high), low) : _mm512_min_epu16(v, high);
        put(out + i, order_x16(v), p->stream);
    }
    for (; i < n; i += 16)
        tail_x16(out + i, tail_int(in + i, n - i, p, divide), n - i);
    finish(p);
}

/* One loop per way to divide, so that nothing is asked inside. */
#define BY_DIVIDE(loop, out, in, n, p, sign)                                                                           \
    switch ((p)->divide) {                                                                                             \
    case TD_DIVIDE_NONE:                                                                                               \
        loop(out, in, n, p, TD_DIVIDE_NONE, sign);                                                                     \
        break;                                                                                                         \
    case TD_DIVIDE_MUL:                                                                                                \
        loop(out, in, n, p, TD_DIVIDE_MUL, sign);                                                                      \
        break;                                                                                                         \
    case TD_DIVIDE_INVERSE:                                                                                            \
        loop(out, in, n, p, TD_DIVIDE_INVERSE, sign);                                                                  \
        break;                                                                                                         \
    default:                                                                                                           \
        loop(out, in, n, p, TD_DIVIDE_DIV, sign);                                                                      \
    }

KERNEL(f32_s8){BY_DIVIDE(ints_x8, dst, src, n, p, true)}

KERNEL(f32_u8){BY_DIVIDE(ints_x8, dst, src, n, p, false)}

KERNEL(f32_s16){BY_DIVIDE(ints_x16, dst, src, n, p, true)}

KERNEL(f32_u16){BY_DIVIDE(ints_x16, dst, src, n, p, false)}

/* -- To f32 */

INLINE __m512 multiplied(__m512 x, const td_convert_params *p) {
    if (p->divide != TD_DIVIDE_NONE)
        return _mm512_mul_ps(x, _mm512_set1_ps(p->scale));
    const __m512i u = _mm512_castps_si512(x);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_castsi512_ps(_mm512_mask_or_epi32(u, nan, u, _mm512_set1_epi32(0x400000)));
}

INLINE __m512 from_bf16(__m256i x, const td_convert_params *p) {
    return multiplied(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)), p);
}

INLINE __m512 from_f16(__m256i x, const td_convert_params *p) {
    return multiplied(_mm512_cvtph_ps(x), p);
}

INLINE __m512 from_int(__m512i x, const td_convert_params *p) {
    const __m512 v = _mm512_cvtepi32_ps(_mm512_sub_epi32(x, _mm512_set1_epi32(p->zero)));
    return _mm512_mul_ps(v, _mm512_set1_ps(p->scale));
}

INLINE __m512 from_signed(__m512i x, const td_convert_params *p) {
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift);
    return from_int(_mm512_sra_epi32(_mm512_sll_epi32(x, shift), shift), p);
}

INLINE __m512 from_unsigned(__m512i x, const td_convert_params *p) {
    return from_int(_mm512_and_si512(x, _mm512_set1_epi32((int)p->own_mask)), p);
}

INLINE __m512 from_s16(__m256i x, const td_convert_params *p) {
    return from_signed(_mm512_cvtepu16_epi32(x), p);
}

INLINE __m512 from_u16(__m256i x, const td_convert_params *p) {
    return from_unsigned(_mm512_cvtepu16_epi32(x), p);
}

INLINE __m512 from_s8(__m128i x, const td_convert_params *p) {
    return from_signed(_mm512_cvtepu8_epi32(x), p);
}

INLINE __m512 from_u8(__m128i x, const td_convert_params *p) {
    return from_unsigned(_mm512_cvtepu8_epi32(x), p);
}

INLINE __m512 from_x8(__m128i x, const td_convert_params *p) {
    return multiplied(_mm512_i32gather_ps(_mm512_cvtepu8_epi32(x), p->table, 4), p);
}

#define DECODER(name, elem_t, load, load_mask, from)                                                                   \
    KERNEL(name) {                                                                                                     \
        const elem_t *in = src;                                                                                        \
        float *out = dst;                                                                                              \
        size_t i = 0;                                                                                                  \
        for (; i + 16 <= n; i += 16)                                                                                   \
            put(out + i, _mm512_castps_si512(from(load((const void *)(in + i)), p)), p->stream);                       \
        if (i < n)                                                                                                     \
            _mm512_mask_storeu_ps(out + i, mask_of(n - i), from(load_mask(mask_of(n - i), in + i), p));                \
        finish(p);                                                                                                     \
    }

DECODER(bf16_f32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, from_bf16)
DECODER(f16_f32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, from_f16)
DECODER(s16_f32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, from_s16)
DECODER(u16_f32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, from_u16)
DECODER(x8_f32, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8, from_x8)
DECODER(s8_f32, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8, from_s8)
DECODER(u8_f32, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8, from_u8)

void td_convert_init_avx512(td_convert_kernels *kernels) {
#define X(name, src_bytes, dst_bytes) kernels->name = td_convert_##name##_avx512;
    TD_CONVERT_KERNELS(X)
#undef X
}
#else
typedef int td_convert_avx512_unused;
#endif
