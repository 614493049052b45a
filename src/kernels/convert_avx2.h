/* What the two files of AVX2 conversion kernels share: encoders in convert_avx2.c, decoders in decode_avx2.c. */
#ifndef TD_KERNELS_CONVERT_AVX2_H
#define TD_KERNELS_CONVERT_AVX2_H

#include "kernels/convert.h"

#include <immintrin.h>
#include <string.h>

#define T256 __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) T256
#define KERNEL(name)                                                                                                   \
    T256 void td_convert_##name##_avx2(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,         \
                                       size_t rows, size_t n, const td_convert_params *p)
#define ARGUMENTS dst, dst_stride, src, src_stride, rows, n, p /* of a KERNEL, for run */
#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define BLOCK 32

/* `way`: what a kernel does with the scale, a constant where this is inlined. */
typedef void (*block_fn)(void *dst, const void *src, const td_convert_params *p, int way);

/* Hints for the elements to come: across pages and rows nothing else looks so far ahead. */
INLINE void fetch_ahead(const char *in, size_t bytes, const td_convert_params *p)
{
    for (size_t at = 0; at < bytes; at += 64)
        _mm_prefetch(in + at + p->ahead, _MM_HINT_T0);
}

/* One row. `block` is a constant too, and so are the sizes. Streamed stores are whole blocks on their lines. */
INLINE void run_row(block_fn block, size_t src_bytes, size_t dst_bytes, int way, char *out, const char *in, size_t n,
                    const td_convert_params *p, const td_convert_params *plain)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        fetch_ahead(in + i * src_bytes, BLOCK * src_bytes, p);
        block(out + i * dst_bytes, in + i * src_bytes, p, way);
    }
    if (i == n)
        return;
    if (n > BLOCK) { /* once more, some of it for the second time */
        block(out + (n - BLOCK) * dst_bytes, in + (n - BLOCK) * src_bytes, plain, way);
        return;
    }
    char last_in[BLOCK * 4] = {0};
    char last_out[BLOCK * 4];
    memcpy(last_in, in, n * src_bytes);
    block(last_out, last_in, plain, way);
    memcpy(out, last_out, n * dst_bytes);
}

INLINE void run(block_fn block, size_t src_bytes, size_t dst_bytes, int way, char *dst, ptrdiff_t dst_stride,
                const char *src, ptrdiff_t src_stride, size_t rows, size_t n, const td_convert_params *params)
{
    /* A store through dst might change what params points at; a copy stays in registers. */
    const td_convert_params copy = *params;
    td_convert_params plain = copy;
    plain.stream = false;
    for (; rows; rows--, dst += dst_stride, src += src_stride)
        run_row(block, src_bytes, dst_bytes, way, dst, src, n, &copy, &plain);
}

INLINE __m256 load(const void *src, int k)
{
    return _mm256_loadu_ps((const float *)src + 8 * k);
}

INLINE void store(void *dst, int k, __m256i v, const td_convert_params *p)
{
    if (p->stream)
        _mm256_stream_si256((__m256i *)dst + k, v);
    else
        _mm256_storeu_si256((__m256i *)dst + k, v);
}

/* A float that may be anything is divided also with INVERSE: eight at a time that is as fast as looking at it first. */
INLINE __m256 divided(__m256 x, const td_convert_params *p, int divide)
{
    if (divide == TD_DIVIDE_NONE)
        return x;
    if (divide == TD_DIVIDE_MUL)
        return _mm256_mul_ps(x, _mm256_set1_ps(p->inverse));
    return _mm256_div_ps(x, _mm256_set1_ps(p->scale));
}

/* x / scale in a few multiplications; see the AVX-512 version. */
INLINE __m256 few_products(__m256 x, const td_convert_params *p, int divide)
{
    const __m256 inverse = _mm256_set1_ps(p->inverse);
    const __m256 q = _mm256_fmadd_ps(x, inverse, _mm256_mul_ps(x, _mm256_set1_ps(p->inverse_low)));
    if (divide == TD_DIVIDE_PROVEN)
        return q;
    return _mm256_fmadd_ps(_mm256_fnmadd_ps(q, _mm256_set1_ps(p->scale), x), inverse, q);
}

#endif
