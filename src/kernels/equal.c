/* See equal.h. Short runs are what glibc's memcmp is slow at: a call for each. Runs of up to two vectors go through
 * registers; the longer ones are memcmp's. */
#include "equal.h"

#include "../cpu.h"

#include <string.h>

bool td_equal_c(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride, size_t high,
                size_t wide)
{
    for (size_t r = 0; r < high; r++, a += a_stride, b += b_stride)
        if (memcmp(a, b, wide) != 0)
            return false;
    return true;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/* Rows whose differences are gathered before one test. */
#define ROWS 8

AVX2 static __m256i differ_32(const unsigned char *a, const unsigned char *b)
{
    return _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)a), _mm256_loadu_si256((const __m256i *)b));
}

AVX2 static __m256i differ_16(const unsigned char *a, const unsigned char *b)
{
    return _mm256_castsi128_si256(
        _mm_xor_si128(_mm_loadu_si128((const __m128i *)a), _mm_loadu_si128((const __m128i *)b)));
}

/* Two vectors cover a run of one to two vectors: the second ends with it. */
AVX2 bool td_equal_avx2(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                        size_t high, size_t wide)
{
    if (wide < 16 || wide > 64)
        return td_equal_c(a, a_stride, b, b_stride, high, wide);
    for (size_t r = 0; r < high; r += ROWS) {
        __m256i differ = _mm256_setzero_si256();
        const size_t rows = high - r < ROWS ? high - r : ROWS;
        for (size_t k = 0; k < rows; k++, a += a_stride, b += b_stride) {
            const __m256i low = wide < 32 ? differ_16(a, b) : differ_32(a, b);
            const __m256i top =
                wide < 32 ? differ_16(a + wide - 16, b + wide - 16) : differ_32(a + wide - 32, b + wide - 32);
            differ = _mm256_or_si256(differ, _mm256_or_si256(low, top));
        }
        if (!_mm256_testz_si256(differ, differ))
            return false;
    }
    return true;
}

AVX512 bool td_equal_avx512(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                            size_t high, size_t wide)
{
    if (wide > 128)
        return td_equal_c(a, a_stride, b, b_stride, high, wide);
    const size_t second = wide > 64 ? wide - 64 : 0;
    const __mmask64 in = wide < 64 ? ((__mmask64)1 << wide) - 1 : ~(__mmask64)0,
                    more = second < 64 ? ((__mmask64)1 << second) - 1 : ~(__mmask64)0;
    for (size_t r = 0; r < high; r += ROWS) {
        __m512i differ = _mm512_setzero_si512();
        const size_t rows = high - r < ROWS ? high - r : ROWS;
        for (size_t k = 0; k < rows; k++, a += a_stride, b += b_stride) {
            differ = _mm512_ternarylogic_epi64(differ, _mm512_maskz_loadu_epi8(in, a), _mm512_maskz_loadu_epi8(in, b),
                                               0xf6); /* differ | (a ^ b) */
            if (second)
                differ = _mm512_ternarylogic_epi64(differ, _mm512_maskz_loadu_epi8(more, a + 64),
                                                   _mm512_maskz_loadu_epi8(more, b + 64), 0xf6);
        }
        if (_mm512_test_epi64_mask(differ, differ))
            return false;
    }
    return true;
}
#endif

td_equal_fn td_equal_choose(unsigned cpu_flags)
{
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX512)
        return td_equal_avx512;
    if (cpu_flags & TD_CPU_AVX2)
        return td_equal_avx2;
#endif
    (void)cpu_flags;
    return td_equal_c;
}
