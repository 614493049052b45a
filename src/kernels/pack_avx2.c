/* The packing kernels for AVX2: rows of any width in vectors, but for packing into more than 14 bits; the rest, and the
 * ends of rows, eight bytes of containers at a time by the bit extract and deposit of BMI2. */
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/pack_bmi2.inc"

/* -- elements of any width ----------------------------------------------------------------------------------------- */

/* Half a vector takes the elements of up to 16 bytes. Each is brought into a lane of its own, twice as wide as its
 * container (or as wide, where that is 64 bits), shifted to the top of it and down again, and two vectors of lanes are
 * narrowed to one of containers. Eight elements are `bits` whole bytes, after which all of it repeats. */
typedef struct lanes {
    __m256i from[2], up[2]; /* the bytes of every lane, and its shift, which is a factor in lanes of 16 bits */
    size_t byte[2][2];      /* of each half of each vector: the first that it loads */
    __m128i down;
    __m256i top; /* the sign, or 0 */
} lanes;

#define ROUND(size) ((size) == 1 ? 32u : (size) == 2 ? 16u : 8u) /* elements of two vectors */
#define LOADED 16                                                /* bytes of half a vector */

/* Of each 16 bits of a half: the number of its element, and of its bytes in the lane. */
INLINE __m256i element_numbers(const unsigned wide)
{
    const __m128i z = wide == 2   ? _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7)
                      : wide == 4 ? _mm_setr_epi16(0, 0, 1, 1, 2, 2, 3, 3)
                                  : _mm_setr_epi16(0, 0, 0, 0, 1, 1, 1, 1);
    return _mm256_broadcastsi128_si256(z);
}

INLINE __m256i byte_numbers(const unsigned wide)
{
    return _mm256_set1_epi64x(wide == 2 ? 0x0100010001000100 : wide == 4 ? 0x0302010003020100 : 0x0706050403020100);
}

INLINE lanes find_lanes(unsigned at, unsigned bits, bool sign, const unsigned size)
{
    const unsigned wide = size == 8 ? 8 : 2 * size, half = ROUND(size) / 4;
    const __m256i steps = _mm256_mullo_epi16(element_numbers(wide), _mm256_set1_epi16((short)bits));
    lanes out = {.down = _mm_cvtsi32_si128((int)(8 * wide - bits)), .top = _mm256_setzero_si256()};
    for (unsigned v = 0; v < 2; v++) {
        const unsigned low = at + 2 * v * half * bits, high = low + half * bits;
        const __m256i first = _mm256_set_m128i(_mm_set1_epi16((short)(high % 8)), _mm_set1_epi16((short)(low % 8)));
        const __m256i bit = _mm256_add_epi16(steps, first), in_byte = _mm256_and_si256(bit, _mm256_set1_epi16(7));
        const __m256i byte = _mm256_mullo_epi16(_mm256_srli_epi16(bit, 3), _mm256_set1_epi16(0x0101)),
                      from = _mm256_add_epi8(byte, byte_numbers(wide));
        out.byte[v][0] = low / 8;
        out.byte[v][1] = high / 8;
        out.from[v] = _mm256_or_si256(from, _mm256_cmpgt_epi8(from, _mm256_set1_epi8(LOADED - 1)));
        if (wide == 2) { /* 1 << 16 - bits - in_byte */
            const __m256i powers = _mm256_set1_epi64x(0x0102040810204080);
            out.up[v] =
                _mm256_sll_epi16(_mm256_and_si256(_mm256_shuffle_epi8(powers, in_byte), _mm256_set1_epi16(0xff)),
                                 _mm_cvtsi32_si128((int)(9 - bits)));
        } else
            out.up[v] = _mm256_and_si256(_mm256_sub_epi16(_mm256_set1_epi16((short)(8 * wide - bits)), in_byte),
                                         wide == 4 ? _mm256_set1_epi32(0xffff) : _mm256_set1_epi64x(0xffff));
    }
    if (sign && size >= 4)
        out.top = _mm256_set1_epi64x((long long)every((uint64_t)1 << (bits - 1), size));
    return out;
}

INLINE __m256i load_lanes(const lanes *l, const unsigned char *memory, const unsigned v)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(memory + l->byte[v][0]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(memory + l->byte[v][1]));
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), l->from[v]);
}

/* One vector of lanes, of which the upper bits are the sign where containers are narrower than 32 bits. */
INLINE __m256i fetch_lanes(const lanes *l, const unsigned char *memory, bool sign, const unsigned size,
                           const unsigned v)
{
    const __m256i z = load_lanes(l, memory, v);
    if (size == 1) {
        const __m256i y = _mm256_mullo_epi16(z, l->up[v]);
        return sign ? _mm256_sra_epi16(y, l->down) : _mm256_srl_epi16(y, l->down);
    }
    if (size == 2) {
        const __m256i y = _mm256_sllv_epi32(z, l->up[v]);
        return sign ? _mm256_sra_epi32(y, l->down) : _mm256_srl_epi32(y, l->down);
    }
    return _mm256_srl_epi64(_mm256_sllv_epi64(z, l->up[v]), l->down);
}

INLINE void store_32(unsigned char *dst, __m256i z)
{
    _mm256_storeu_si256((__m256i *)(void *)dst, z);
}

/* Two vectors of lanes to containers. */
INLINE void store_lanes(unsigned char *elems, __m256i a, __m256i b, __m256i top, bool sign, const unsigned size)
{
    if (size == 8) {
        store_32(elems, _mm256_sub_epi64(_mm256_xor_si256(a, top), top));
        store_32(elems + 32, _mm256_sub_epi64(_mm256_xor_si256(b, top), top));
        return;
    }
    const __m256i z =
        size == 1   ? sign ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b)
          : size == 2 ? sign ? _mm256_packs_epi32(a, b) : _mm256_packus_epi32(a, b)
                      : _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
    const __m256i y = _mm256_permute4x64_epi64(z, 0xd8);
    store_32(elems, size == 4 ? _mm256_sub_epi32(_mm256_xor_si256(y, top), top) : y);
}

/* As far as whole rounds go that read nothing past the last byte; gives the elements that are done. */
INLINE size_t unpack_lanes(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits,
                           bool sign, const unsigned size)
{
    const size_t round = ROUND(size), bytes = (at + n * bits + 7) / 8;
    if (n < 2 * round || bits > (size == 8 ? 57 : 8 * size - 1))
        return 0;
    const lanes l = find_lanes(at, bits, sign, size);
    size_t i = 0;
    for (; i + round <= n && i / 8 * bits + l.byte[1][1] + LOADED <= bytes; i += round, elems += round * size) {
        const unsigned char *in = memory + i / 8 * bits;
        store_lanes(elems, fetch_lanes(&l, in, sign, size, 0), fetch_lanes(&l, in, sign, size, 1), l.top, sign, size);
    }
    return i;
}

/* Bytes and containers of 16 bits from bit 0 on, the same way round as in pack_vbmi.c: neighbours are added, the upper
 * one times a power of two; the two halves of eight bytes are shifted together, and the bytes of the two runs of half a
 * vector moved side by side. A store is longer than what it brings: the next ones write the rest. */
INLINE size_t pack_lanes(unsigned char *memory, const unsigned char *elems, size_t n, unsigned bits,
                         const unsigned size)
{
    const unsigned half = 4 / size * bits, run = 2 * half, round = 32 / size; /* bits of eight bytes, and of four */
    const size_t bytes = n * bits / 8;
    if (n < 2 * round || bits >= 8 * size - size / 2 || (size == 2 && bits < 2)) /* 15 bits have no factor */
        return 0;
    /* Bytes of the lower run of a half, then of the upper; one that both have is the sum. */
    const __m128i place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i past = _mm_cmpgt_epi8(place, _mm_set1_epi8((char)((run + 7) / 8 - 1))),
                  behind = _mm_sub_epi8(place, _mm_set1_epi8((char)(run / 8))),
                  none = _mm_cmpgt_epi8(behind, _mm_set1_epi8((char)((run + run % 8 + 7) / 8 - 1)));
    const __m256i even = _mm256_broadcastsi128_si256(_mm_or_si128(place, past)),
                  odd = _mm256_broadcastsi128_si256(
                      _mm_or_si128(_mm_or_si128(behind, _mm_set1_epi8(8)), none)); /* those before it are negative */
    const __m256i low = _mm256_set1_epi64x((long long)every(td_low_bits(bits), size)),
                  by_bytes = _mm256_set1_epi16((short)(1 | 1 << (bits + 8) % 16)),
                  by_words = _mm256_set1_epi32((int)(1 | 1u << (16 + bits * (size == 1 ? 2 : 1)) % 32)),
                  lower = _mm256_set1_epi64x((long long)td_low_bits(half)),
                  up = _mm256_setr_epi64x(0, run % 8, 0, run % 8);
    const __m128i down = _mm_cvtsi32_si128((int)(32 - half));
    size_t i = 0;
    for (; i + round <= n && i / 8 * bits + run / 4 + LOADED <= bytes; i += round, elems += 32) {
        __m256i z = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)elems), low);
        if (size == 1)
            z = _mm256_maddubs_epi16(by_bytes, z);
        z = _mm256_madd_epi16(z, by_words);
        z = _mm256_or_si256(_mm256_and_si256(z, lower), _mm256_andnot_si256(lower, _mm256_srl_epi64(z, down)));
        z = _mm256_sllv_epi64(z, up);
        z = _mm256_or_si256(_mm256_shuffle_epi8(z, even), _mm256_shuffle_epi8(z, odd));
        unsigned char *out = memory + i / 8 * bits;
        _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(z));
        _mm_storeu_si128((__m128i *)(void *)(out + run / 4), _mm256_extracti128_si256(z, 1));
    }
    return i;
}

#define X(container)                                                                                                   \
    TARGET TD_PACK_KERNEL(container, avx2)                                                                             \
    {                                                                                                                  \
        const unsigned size = (container) / 8;                                                                         \
        const size_t i = size == 2 && at == 0 ? pack_lanes(memory, elems, n, bits, 2) : 0;                             \
        pack(memory + i / 8 * bits, at, elems + i * size, n - i, bits, size);                                          \
    }                                                                                                                  \
    TARGET TD_UNPACK_KERNEL(container, avx2)                                                                           \
    {                                                                                                                  \
        const unsigned size = (container) / 8;                                                                         \
        const size_t i = unpack_lanes(elems, memory, at, n, bits, sign, size);                                         \
        unpack(elems + i * size, memory + i / 8 * bits, at, n - i, bits, sign, size);                                  \
    }
X(16)
X(32)
X(64)
#undef X

/* Two nibbles to a byte, 64 at a time, and single bits by the sign of bytes. */
TARGET TD_PACK_KERNEL(8, avx2)
{
    size_t i = 0;
    if (bits == 4 && at == 0) {
        const __m256i low = _mm256_set1_epi8(15), weight = _mm256_set1_epi16(0x1001);
        for (; i + 64 <= n; i += 64) {
            const __m256i *in = (const __m256i *)(const void *)(elems + i);
            const __m256i a = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_loadu_si256(in), low), weight);
            const __m256i b = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_loadu_si256(in + 1), low), weight);
            const __m256i z = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
            _mm256_storeu_si256((__m256i *)(void *)(memory + i / 2), z);
        }
    }
    if (bits == 1 && at == 0)
        for (; i + 32 <= n; i += 32) {
            const __m256i z = _mm256_loadu_si256((const __m256i *)(const void *)(elems + i));
            const uint32_t line = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(z, 7));
            memcpy(memory + i / 8, &line, 4);
        }
    if (i == 0 && at == 0)
        i = pack_lanes(memory, elems, n, bits, 1);
    if (i < n)
        pack(memory + i / 8 * bits, at, elems + i, n - i, bits, 1);
}

TARGET TD_UNPACK_KERNEL(8, avx2)
{
    size_t i = 0;
    if (bits == 4 && at == 0) {
        const __m256i low = _mm256_set1_epi8(15), top = _mm256_set1_epi8(sign ? 8 : 0);
        for (; i + 32 <= n; i += 32) {
            const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(memory + i / 2)));
            const __m256i z = _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)), low);
            _mm256_storeu_si256((__m256i *)(void *)(elems + i), _mm256_sub_epi8(_mm256_xor_si256(z, top), top));
        }
    }
    if (i == 0)
        i = unpack_lanes(elems, memory, at, n, bits, sign, 1);
    if (i < n)
        unpack(elems + i, memory + i / 8 * bits, at, n - i, bits, sign, 1);
}

void td_pack_init_avx2(td_pack_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_x##size = td_pack_x##size##_avx2;                                                                    \
    kernels->unpack_x##size = td_unpack_x##size##_avx2;
    TD_PACK_KERNELS(X)
#undef X
}
