/* The kernels between f32 and codes for AVX-512 VBMI: values of up to 256 codes, by permutations of the two bytes that
 * make the upper half of an f32. Everything else is the version for AVX-512. */
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,fma")))
#include "kernels/quant.inc"

#include "kernels/quant_avx512.inc"

/* One byte of every value, in four vectors. */
typedef struct byte_table {
    __m512i part[4];
} byte_table;

INLINE byte_table load_bytes(const unsigned char *bytes)
{
    byte_table t;
    for (size_t i = 0; i < 4; i++)
        t.part[i] = _mm512_loadu_si512(bytes + 64 * i);
    return t;
}

INLINE __m512i look_up(const byte_table *t, __m512i at, __mmask64 upper)
{
    return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(t->part[0], at, t->part[1]),
                                  _mm512_permutex2var_epi8(t->part[2], at, t->part[3]));
}

/* 64 values in four vectors, in the order of the codes: unpacking goes by lanes of 16 bytes, so the codes are put
 * into the lanes that they come out of beforehand, four by four. */
INLINE void values_64(const uint8_t *codes, const byte_table *low, const byte_table *high, __m512 *out)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i at = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(codes)), none = _mm512_setzero_si512();
    const __mmask64 upper = _mm512_movepi8_mask(at);
    const __m512i a = look_up(low, at, upper), b = look_up(high, at, upper);
    const __m512i first = _mm512_unpacklo_epi8(a, b), second = _mm512_unpackhi_epi8(a, b);
    out[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(none, first));
    out[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(none, first));
    out[2] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(none, second));
    out[3] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(none, second));
}

/* Vectors of 16 elements, four at a time. Returns the blocks that are whole then; the others are the caller's. */
INLINE size_t values_256(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                         size_t block, const td_quant *q, const bool stream)
{
    const byte_table low = load_bytes(q->half[0]), high = load_bytes(q->half[1]);
    const __m512 extra = _mm512_set1_ps(q->extra);
    const size_t vectors = blocks * block / 64 * 4, per_block = block / 16;
    size_t j = 0, left = per_block;
    for (size_t v = 0; v < vectors; v += 4, codes += 64) {
        __m512 four[4];
        values_64(codes, &low, &high, four);
        for (size_t k = 0; k < 4; k++, dst += 16) {
            const __m512 value = _mm512_sub_ps(four[k], _mm512_set1_ps(zero ? zero[j] : 0));
            put_values(dst, _mm512_mul_ps(_mm512_mul_ps(value, _mm512_set1_ps(by[j])), extra), stream);
            if (--left == 0) {
                left = per_block;
                j++;
            }
        }
    }
    return vectors / per_block;
}

TARGET static void floats_vbmi(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                               const td_quant *q)
{
    floats_by_format(dst, row, by, blocks, block, q);
}

TARGET static void ints_vbmi(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                             size_t block, const td_quant *q)
{
    ints_by_size(dst, row, by, zero, blocks, block, q);
}

TARGET static void values_vbmi(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q)
{
    size_t done = 0;
    if (q->bits > 4 && block % 16 == 0 && q->stream && (uintptr_t)dst % 64 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, true);
    else if (q->bits > 4 && block % 16 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, false);
    if (done < blocks)
        values_by_size(dst + done * block, codes + done * block, by + done, zero ? zero + done : NULL, blocks - done,
                       block, q);
}

void td_quant_init_vbmi(td_quant_kernels *kernels)
{
    *kernels = (td_quant_kernels){floats_vbmi, ints_vbmi, values_vbmi};
}
