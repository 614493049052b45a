/* The packing kernels for AVX-512 where whole vectors pay: one, two and four bits from bytes, and back; cells side by
 * side. Everything else stays with BMI2. */
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/pack_bmi2.inc"

static TARGET size_t pack_x1(unsigned char *memory, const unsigned char *elems, size_t n)
{
    const __m512i one = _mm512_set1_epi8(1);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const uint64_t line = _mm512_test_epi8_mask(_mm512_loadu_si512(elems + i), one);
        memcpy(memory + i / 8, &line, 8);
    }
    return i;
}

static TARGET size_t pack_x2(unsigned char *memory, const unsigned char *elems, size_t n)
{
    const __m512i low = _mm512_set1_epi8(3), pairs = _mm512_set1_epi16(0x0401), fours = _mm512_set1_epi32(0x00100001);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i a = _mm512_maddubs_epi16(_mm512_and_si512(_mm512_loadu_si512(elems + i), low), pairs);
        _mm_storeu_si128((__m128i *)(void *)(memory + i / 4), _mm512_cvtepi32_epi8(_mm512_madd_epi16(a, fours)));
    }
    return i;
}

static TARGET size_t pack_x4(unsigned char *memory, const unsigned char *elems, size_t n)
{
    const __m512i low = _mm512_set1_epi8(15), weight = _mm512_set1_epi16(0x1001);
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    size_t i = 0;
    for (; i + 128 <= n; i += 128) {
        const __m512i a = _mm512_maddubs_epi16(_mm512_and_si512(_mm512_loadu_si512(elems + i), low), weight);
        const __m512i b = _mm512_maddubs_epi16(_mm512_and_si512(_mm512_loadu_si512(elems + i + 64), low), weight);
        _mm512_storeu_si512(memory + i / 2, _mm512_permutexvar_epi64(order, _mm512_packus_epi16(a, b)));
    }
    return i;
}

TARGET TD_PACK_KERNEL(8, avx512)
{
    size_t i = 0;
    if (at == 0)
        i = bits == 4   ? pack_x4(memory, elems, n)
            : bits == 1 ? pack_x1(memory, elems, n)
            : bits == 2 ? pack_x2(memory, elems, n)
                        : 0;
    if (i < n)
        pack(memory + i * bits / 8, at, elems + i, n - i, bits, 1);
}

static TARGET size_t unpack_x1(unsigned char *elems, const unsigned char *memory, size_t n, bool sign)
{
    const __m512i one = _mm512_set1_epi8(sign ? -1 : 1);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t line = 0;
        memcpy(&line, memory + i / 8, 8);
        _mm512_storeu_si512(elems + i, _mm512_maskz_mov_epi8(line, one));
    }
    return i;
}

static TARGET size_t unpack_x4(unsigned char *elems, const unsigned char *memory, size_t n, bool sign)
{
    const __m512i low = _mm512_set1_epi8(15), top = _mm512_set1_epi8(sign ? 8 : 0);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i wide = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(memory + i / 2)));
        const __m512i z = _mm512_and_si512(_mm512_or_si512(wide, _mm512_slli_epi16(wide, 4)), low);
        _mm512_storeu_si512(elems + i, _mm512_sub_epi8(_mm512_xor_si512(z, top), top));
    }
    return i;
}

TARGET TD_UNPACK_KERNEL(8, avx512)
{
    size_t i = 0;
    if (at == 0)
        i = bits == 4 ? unpack_x4(elems, memory, n, sign) : bits == 1 ? unpack_x1(elems, memory, n, sign) : 0;
    if (i < n)
        unpack(elems + i, memory + i * bits / 8, at, n - i, bits, sign, 1);
}

/* Cells side by side are containers with a mask. */
static TARGET void put_cells(unsigned char *memory, const unsigned char *elems, size_t bytes, __m512i mask)
{
    size_t i = 0;
    for (; i + 64 <= bytes; i += 64)
        _mm512_storeu_si512(memory + i, _mm512_and_si512(_mm512_loadu_si512(elems + i), mask));
    if (i < bytes) {
        const __mmask64 part = ((__mmask64)1 << (bytes - i)) - 1;
        _mm512_mask_storeu_epi8(memory + i, part, _mm512_and_si512(_mm512_maskz_loadu_epi8(part, elems + i), mask));
    }
}

#define PUT(size, set)                                                                                                 \
    TARGET TD_PUT_KERNEL(size, avx512)                                                                                 \
    {                                                                                                                  \
        if (stride == (size) / 8)                                                                                      \
            put_cells(memory, elems, n *((size) / 8), set);                                                            \
        else                                                                                                           \
            for (; n; n--, memory += stride, elems += (size) / 8)                                                      \
                td_put_elem(memory, (size) / 8, td_get_elem(elems, (size) / 8) & td_low_bits(bits));                   \
    }
PUT(8, _mm512_set1_epi8((char)td_low_bits(bits)))
PUT(16, _mm512_set1_epi16((short)td_low_bits(bits)))
PUT(32, _mm512_set1_epi32((int)td_low_bits(bits)))
PUT(64, _mm512_set1_epi64((long long)td_low_bits(bits)))

void td_pack_init_avx512(td_pack_kernels *kernels)
{
    kernels->pack_x8 = td_pack_x8_avx512;
    kernels->unpack_x8 = td_unpack_x8_avx512;
    kernels->put_x8 = td_put_x8_avx512;
    kernels->put_x16 = td_put_x16_avx512;
    kernels->put_x32 = td_put_x32_avx512;
    kernels->put_x64 = td_put_x64_avx512;
}
