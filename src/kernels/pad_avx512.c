/* The padding kernels for AVX-512: a load under a mask puts the run into the word's other bytes, so that a row is a
 * load and a store. What the mask leaves out is not read, wherever it lies. */
#include "kernels/pad.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* The run's bytes in a vector that begins `at` bytes before them. */
INLINE uint64_t run_mask(const td_pad_word *word)
{
    return (word->run < 64 ? ((uint64_t)1 << word->run) - 1 : ~(uint64_t)0) << word->at;
}

#define ROWS(store)                                                                                                    \
    for (; rows; rows--, dst += dst_stride, src += src_stride)                                                         \
        (store);

static TARGET void short_words(const td_pad_word *word, unsigned char *dst, ptrdiff_t dst_stride,
                               const unsigned char *src, ptrdiff_t src_stride, size_t rows)
{
    const __mmask16 mask = (__mmask16)run_mask(word), all = (__mmask16)((1u << word->bytes) - 1);
    const __m128i value = _mm_maskz_loadu_epi8(all, word->value);
    src -= word->at;
    switch (word->bytes) {
    case 4:
        ROWS(_mm_storeu_si32(dst, _mm_mask_loadu_epi8(value, mask, src)))
        break;
    case 8:
        ROWS(_mm_storeu_si64(dst, _mm_mask_loadu_epi8(value, mask, src)))
        break;
    case 16:
        ROWS(_mm_storeu_si128((__m128i *)(void *)dst, _mm_mask_loadu_epi8(value, mask, src)))
        break;
    default:
        ROWS(_mm_mask_storeu_epi8(dst, all, _mm_mask_loadu_epi8(value, mask, src)))
    }
}

static TARGET void half_words(const td_pad_word *word, unsigned char *dst, ptrdiff_t dst_stride,
                              const unsigned char *src, ptrdiff_t src_stride, size_t rows)
{
    const __mmask32 mask = (__mmask32)run_mask(word), all = (__mmask32)(((uint64_t)1 << word->bytes) - 1);
    const __m256i value = _mm256_maskz_loadu_epi8(all, word->value);
    src -= word->at;
    if (word->bytes == 32)
        ROWS(_mm256_storeu_si256((__m256i *)(void *)dst, _mm256_mask_loadu_epi8(value, mask, src)))
    else
        ROWS(_mm256_mask_storeu_epi8(dst, all, _mm256_mask_loadu_epi8(value, mask, src)))
}

static TARGET void line_words(const td_pad_word *word, unsigned char *dst, ptrdiff_t dst_stride,
                              const unsigned char *src, ptrdiff_t src_stride, size_t rows)
{
    const __mmask64 mask = run_mask(word), all = word->bytes < 64 ? ((uint64_t)1 << word->bytes) - 1 : ~(uint64_t)0;
    const __m512i value = _mm512_maskz_loadu_epi8(all, word->value);
    src -= word->at;
    if (word->bytes == 64)
        ROWS(_mm512_storeu_si512(dst, _mm512_mask_loadu_epi8(value, mask, src)))
    else
        ROWS(_mm512_mask_storeu_epi8(dst, all, _mm512_mask_loadu_epi8(value, mask, src)))
}

TARGET TD_PAD_KERNEL(pad_runs, avx512)
{
    if (word->bytes <= 16)
        short_words(word, dst, dst_stride, src, src_stride, rows);
    else if (word->bytes <= 32)
        half_words(word, dst, dst_stride, src, src_stride, rows);
    else
        line_words(word, dst, dst_stride, src, src_stride, rows);
}

void td_pad_init_avx512(td_pad_kernels *kernels)
{
    kernels->pad_runs = td_pad_runs_avx512;
}
