/* The packing kernels for AVX-512 where whole vectors pay: one, two and four bits from bytes, and back; cells. Other
 * widths are in pack_vbmi.c; without VBMI they stay with AVX2. */
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
        td_pack_x8_avx2(memory + i / 8 * bits, at, elems + i, n - i, bits);
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
        td_unpack_x8_avx2(elems + i, memory + i / 8 * bits, at, n - i, bits, sign);
}

/* -- cells: side by side, or as far apart as a longer integer is wide -- */

#define VECTOR 64

INLINE __mmask64 first_bytes(size_t bytes)
{
    return _bzhi_u64(~(uint64_t)0, (unsigned)bytes);
}

/* The low `size` of every `wide` bytes. */
INLINE uint64_t cell_mask(const unsigned size, const unsigned wide)
{
    const uint64_t one = size == 8 ? 0xff : td_low_bits(size);
    return wide == 1   ? ~(uint64_t)0
           : wide == 2 ? one * 0x5555555555555555u
           : wide == 4 ? one * 0x1111111111111111u
                       : one * 0x0101010101010101u;
}

INLINE __m512i widen(__m512i z, const unsigned size, const unsigned wide)
{
    const __m256i y = _mm512_castsi512_si256(z);
    const __m128i x = _mm512_castsi512_si128(z);
    return size == wide ? z
           : size == 1  ? wide == 2   ? _mm512_cvtepu8_epi16(y)
                          : wide == 4 ? _mm512_cvtepu8_epi32(x)
                                      : _mm512_cvtepu8_epi64(x)
            : size == 2 ? wide == 4 ? _mm512_cvtepu16_epi32(y) : _mm512_cvtepu16_epi64(x)
                        : _mm512_cvtepu32_epi64(y);
}

INLINE __m512i narrow(__m512i z, const unsigned size, const unsigned wide)
{
    return size == wide ? z
           : size == 1  ? wide == 2   ? _mm512_castsi256_si512(_mm512_cvtepi16_epi8(z))
                          : wide == 4 ? _mm512_castsi128_si512(_mm512_cvtepi32_epi8(z))
                                      : _mm512_castsi128_si512(_mm512_cvtepi64_epi8(z))
            : size == 2 ? wide == 4 ? _mm512_castsi256_si512(_mm512_cvtepi32_epi16(z))
                                    : _mm512_castsi128_si512(_mm512_cvtepi64_epi16(z))
                        : _mm512_castsi256_si512(_mm512_cvtepi64_epi32(z));
}

INLINE __m512i subtract(__m512i a, __m512i b, const unsigned size)
{
    return size == 1   ? _mm512_sub_epi8(a, b)
           : size == 2 ? _mm512_sub_epi16(a, b)
           : size == 4 ? _mm512_sub_epi32(a, b)
                       : _mm512_sub_epi64(a, b);
}

INLINE void put_wide(unsigned char *memory, const unsigned char *elems, size_t n, unsigned bits, const unsigned size,
                     const unsigned wide)
{
    const size_t lanes = VECTOR / wide;
    const __m512i low = _mm512_set1_epi64((long long)every(td_low_bits(bits), size));
    const uint64_t cells = cell_mask(size, wide);
    const __mmask64 read = first_bytes(lanes * size);
    for (; n >= lanes; n -= lanes, elems += lanes * size, memory += VECTOR)
        _mm512_mask_storeu_epi8(memory, cells,
                                widen(_mm512_and_si512(_mm512_maskz_loadu_epi8(read, elems), low), size, wide));
    if (n)
        _mm512_mask_storeu_epi8(
            memory, cells & first_bytes(n * wide),
            widen(_mm512_and_si512(_mm512_maskz_loadu_epi8(first_bytes(n * size), elems), low), size, wide));
}

INLINE void get_wide(unsigned char *elems, const unsigned char *memory, size_t n, unsigned bits, bool sign,
                     const unsigned size, const unsigned wide)
{
    const size_t lanes = VECTOR / wide;
    const __m512i low = _mm512_set1_epi64((long long)every(td_low_bits(bits), size));
    const __m512i top = _mm512_set1_epi64(sign ? (long long)every((uint64_t)1 << (bits - 1), size) : 0);
    const uint64_t cells = cell_mask(size, wide);
    while (n) {
        const size_t count = n < lanes ? n : lanes;
        const __m512i z = narrow(_mm512_maskz_loadu_epi8(cells & first_bytes(count * wide), memory), size, wide);
        _mm512_mask_storeu_epi8(elems, first_bytes(count * size),
                                subtract(_mm512_ternarylogic_epi64(z, low, top, 0x6a), top, size));
        n -= count;
        elems += lanes * size;
        memory += VECTOR;
    }
}

#define CELLS(size)                                                                                                    \
    TARGET TD_PUT_KERNEL(size, avx512)                                                                                 \
    {                                                                                                                  \
        if (stride == (size) / 8)                                                                                      \
            put_wide(memory, elems, n, bits, (size) / 8, (size) / 8);                                                  \
        else if ((size) <= 8 && stride == 2)                                                                           \
            put_wide(memory, elems, n, bits, 1, 2);                                                                    \
        else if ((size) <= 16 && stride == 4)                                                                          \
            put_wide(memory, elems, n, bits, (size) < 32 ? (size) / 8 : 1, 4);                                         \
        else if ((size) <= 32 && stride == 8)                                                                          \
            put_wide(memory, elems, n, bits, (size) < 64 ? (size) / 8 : 1, 8);                                         \
        else                                                                                                           \
            td_put_x##size##_c(memory, stride, elems, n, bits);                                                        \
    }                                                                                                                  \
    TARGET TD_GET_KERNEL(size, avx512)                                                                                 \
    {                                                                                                                  \
        if (stride == (size) / 8)                                                                                      \
            get_wide(elems, memory, n, bits, sign, (size) / 8, (size) / 8);                                            \
        else if ((size) <= 8 && stride == 2)                                                                           \
            get_wide(elems, memory, n, bits, sign, 1, 2);                                                              \
        else if ((size) <= 16 && stride == 4)                                                                          \
            get_wide(elems, memory, n, bits, sign, (size) < 32 ? (size) / 8 : 1, 4);                                   \
        else if ((size) <= 32 && stride == 8)                                                                          \
            get_wide(elems, memory, n, bits, sign, (size) < 64 ? (size) / 8 : 1, 8);                                   \
        else                                                                                                           \
            td_get_x##size##_c(elems, memory, stride, n, bits, sign);                                                  \
    }
CELLS(8)
CELLS(16)
CELLS(32)
CELLS(64)

void td_pack_init_avx512(td_pack_kernels *kernels)
{
    kernels->pack_x8 = td_pack_x8_avx512;
    kernels->unpack_x8 = td_unpack_x8_avx512;
#define X(size)                                                                                                        \
    kernels->put_x##size = td_put_x##size##_avx512;                                                                    \
    kernels->get_x##size = td_get_x##size##_avx512;
    TD_PACK_KERNELS(X)
#undef X
}
