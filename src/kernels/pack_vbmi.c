/* The packing kernels for AVX-512 VBMI: a vector of containers at a time, whatever the width of the elements.
 *
 * The containers of eight bytes are `group` elements, which are packed into `run` bits. To unpack, the bytes that hold
 * such a run are gathered into eight bytes, and a shift of its own brings each byte of a container to its place. To
 * pack, containers are merged in pairs, then pairs of those, and the runs are shifted to their first bit; a byte that
 * two neighbours share is the sum of both. What does not fit (a run that begins within a byte and ends in a ninth) goes
 * by pext and pdep. */
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/pack_bmi2.inc"

#define RUNS 8 /* of a vector */
#define VECTOR 64

/* Fewer elements are done before the indices are made. */
#define SHORT_ROW 32

static bool fits(unsigned at, unsigned run)
{
    bool all = run >= 8; /* no byte holds parts of three runs */
    for (unsigned k = 0; k < RUNS && run > 57; k++)
        all = all && (at + k * run) % 8 + run <= 64;
    return all;
}

INLINE __mmask64 first_bytes(size_t bytes)
{
    return _bzhi_u64(~(uint64_t)0, (unsigned)bytes);
}

/* The first bit of every run, in eight bytes each. */
INLINE __m512i starts(unsigned at, unsigned run)
{
    const __m512i k = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_add_epi64(_mm512_mul_epu32(k, _mm512_set1_epi64(run)), _mm512_set1_epi64(at));
}

/* In each eight bytes the lowest of them, eight times. */
INLINE __m512i repeat_low(__m512i z)
{
    return _mm512_shuffle_epi8(z, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
}

/* The bit of a run at which each byte of its containers begins. */
INLINE uint64_t bits_of_bytes(unsigned bits, const unsigned size)
{
    return size == 1   ? bits * 0x0706050403020100u
           : size == 2 ? bits * 0x0303020201010000u + 0x0800080008000800u
           : size == 4 ? bits * 0x0101010100000000u + 0x1810080018100800u
                       : 0x3830282018100800u;
}

INLINE __m512i subtract(__m512i a, __m512i b, const unsigned size)
{
    return size == 1   ? _mm512_sub_epi8(a, b)
           : size == 2 ? _mm512_sub_epi16(a, b)
           : size == 4 ? _mm512_sub_epi32(a, b)
                       : _mm512_sub_epi64(a, b);
}

/* Eight runs to their containers; `top` is the sign of every container, or 0. */
INLINE __m512i expand(__m512i z, __m512i from, __m512i shift, __m512i low, __m512i top, const unsigned size)
{
    z = _mm512_multishift_epi64_epi8(shift, _mm512_permutexvar_epi8(from, z));
    return subtract(_mm512_ternarylogic_epi64(z, low, top, 0x6a), top, size); /* ((z & low) ^ top) - top */
}

INLINE void unpack_rows(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits,
                        bool sign, const unsigned size)
{
    const unsigned group = 8 / size, run = group * bits;
    if (n < SHORT_ROW || !fits(at, run) || bits == 8 * size) {
        unpack(elems, memory, at, n, bits, sign, size);
        return;
    }
    const size_t lanes = VECTOR / size, step = run; /* bytes of a vector's elements: eight runs */
    const __m512i start = starts(at, run);
    const __m512i from =
        _mm512_add_epi8(repeat_low(_mm512_srli_epi64(start, 3)), _mm512_set1_epi64(0x0706050403020100));
    const __m512i shift = _mm512_add_epi8(repeat_low(_mm512_and_si512(start, _mm512_set1_epi64(7))),
                                          _mm512_set1_epi64((long long)bits_of_bytes(bits, size)));
    const __m512i low = _mm512_set1_epi64((long long)every(td_low_bits(bits), size));
    const __m512i top = _mm512_set1_epi64(sign ? (long long)every((uint64_t)1 << (bits - 1), size) : 0);
    const __mmask64 read = first_bytes(step + (at != 0));
    for (; n >= lanes; n -= lanes, elems += VECTOR, memory += step)
        _mm512_storeu_si512(elems, expand(_mm512_maskz_loadu_epi8(read, memory), from, shift, low, top, size));
    if (n)
        _mm512_mask_storeu_epi8(
            elems, first_bytes(n * size),
            expand(_mm512_maskz_loadu_epi8(first_bytes((at + n * bits + 7) / 8), memory), from, shift, low, top, size));
}

/* How the containers of eight bytes become a run: neighbours are added, the upper one times a power of two, as far as
 * there are products for that; the two halves of what is left are shifted together. */
typedef struct merge {
    __m512i low, bytes, words, half;
    __m128i down;
    bool multiplies; /* containers of 16 bits: the power has a sign of its own at 15 */
} merge;

INLINE merge make_merge(unsigned bits, const unsigned size)
{
    const unsigned half = bits * 4 / size; /* the lower half of a run */
    return (merge){
        .low = _mm512_set1_epi64((long long)every(td_low_bits(bits), size)),
        .bytes = _mm512_set1_epi16((short)(1 | 1 << (bits + 8) % 16)),
        .words = _mm512_set1_epi32((int)(1 | 1u << (16 + bits * (size == 1 ? 2 : 1)) % 32)),
        .half = _mm512_set1_epi64((long long)td_low_bits(half)),
        .down = _mm_cvtsi32_si128((int)(32 - half)),
        .multiplies = bits < 15,
    };
}

INLINE __m512i halves(__m512i z, __m512i low, __m128i down)
{
    return _mm512_ternarylogic_epi64(low, z, _mm512_srl_epi64(z, down), 0xca); /* low ? z : z >> down */
}

/* What is above a run means nothing. */
INLINE __m512i merge_elems(__m512i z, const merge *m, const unsigned size)
{
    z = _mm512_and_si512(z, m->low);
    if (size == 8)
        return z;
    if (size == 1)
        z = _mm512_maddubs_epi16(m->bytes, z);
    if (size == 1 || (size == 2 && m->multiplies))
        z = _mm512_madd_epi16(z, m->words);
    else if (size == 2)
        z = _mm512_or_si512(_mm512_and_si512(z, _mm512_set1_epi32(0xffff)),
                            _mm512_slli_epi32(_mm512_srli_epi32(z, 16), 15));
    return halves(z, m->half, m->down);
}

/* The bytes of the output that every other run has, by their numbers in a vector of runs. Where no two share one, the
 * first list has all of them. */
typedef struct bytes_of_runs {
    __mmask64 mask[2];
    __m512i from[2];
} bytes_of_runs;

INLINE bytes_of_runs find_bytes(unsigned at, unsigned run)
{
    bytes_of_runs b = {{0, 0}, {_mm512_setzero_si512(), _mm512_setzero_si512()}};
    unsigned char from[2][VECTOR + 8];
    memset(from, 0, sizeof from);
    for (unsigned k = 0; k < RUNS; k++) {
        const unsigned first = (at + k * run) / 8, end = (at + k * run + run + 7) / 8;
        const uint64_t bytes = 0x0706050403020100u + k * 0x0808080808080808u;
        memcpy(from[k % 2] + first, &bytes, 8);
        b.mask[k % 2] |= first_bytes(end) & ~first_bytes(first);
    }
    b.from[1] = _mm512_loadu_si512(from[1]);
    b.from[0] = _mm512_mask_mov_epi8(_mm512_loadu_si512(from[0]), b.mask[1] & ~b.mask[0], b.from[1]);
    return b;
}

/* The last byte is shared with what follows it. */
INLINE void store_end(unsigned char *memory, __m512i z, size_t bits_in_all)
{
    const size_t bytes = bits_in_all / 8;
    const unsigned rest = bits_in_all % 8;
    unsigned char last[VECTOR];
    _mm512_mask_storeu_epi8(memory, first_bytes(bytes), z);
    if (!rest)
        return;
    const unsigned char low = (unsigned char)td_low_bits(rest);
    _mm512_storeu_si512(last, z);
    memory[bytes] = (unsigned char)((memory[bytes] & ~low) | (last[bytes] & low));
}

/* What the loop of a row needs; `whole`: no two runs share a byte, `carries`: no two vectors do. */
typedef struct row {
    merge merge;
    bytes_of_runs bytes;
    __m512i all, up, last;
} row;

INLINE __m512i pack_vector(const row *r, __m512i z, __m512i carry, const unsigned size, const bool whole,
                           const bool carries)
{
    z = merge_elems(z, &r->merge, size);
    if (whole)
        return _mm512_permutexvar_epi8(r->bytes.from[0], z);
    z = _mm512_sllv_epi64(_mm512_and_si512(z, r->all), r->up);
    const __m512i even = _mm512_maskz_permutexvar_epi8(r->bytes.mask[0], r->bytes.from[0], z),
                  odd = _mm512_maskz_permutexvar_epi8(r->bytes.mask[1], r->bytes.from[1], z);
    return carries ? _mm512_ternarylogic_epi64(even, odd, carry, 0xfe) : _mm512_or_si512(even, odd);
}

INLINE void pack_row(const row *r, unsigned char *memory, unsigned at, const unsigned char *elems, size_t n,
                     unsigned bits, const unsigned size, const bool whole, const bool carries)
{
    const size_t lanes = VECTOR / size, step = bits * (8 / size); /* bytes of a vector's elements */
    const __mmask64 write = first_bytes(step);
    __m512i carry = _mm512_zextsi128_si512(_mm_cvtsi32_si128(carries ? *memory & (int)td_low_bits(at) : 0));
    for (; n > lanes; n -= lanes, elems += VECTOR, memory += step) {
        const __m512i z = pack_vector(r, _mm512_loadu_si512(elems), carry, size, whole, carries);
        _mm512_mask_storeu_epi8(memory, write, z);
        if (carries)
            carry = _mm512_maskz_permutexvar_epi8(1, r->last, z);
    }
    const __m512i z = _mm512_maskz_loadu_epi8(first_bytes(n * size), elems);
    store_end(memory, pack_vector(r, z, carry, size, whole, carries), at + n * bits);
}

INLINE void pack_rows(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits,
                      const unsigned size)
{
    const unsigned group = 8 / size, run = group * bits;
    if (n < SHORT_ROW || !fits(at, run) || bits == 8 * size) {
        pack(memory, at, elems, n, bits, size);
        return;
    }
    const row r = {.merge = make_merge(bits, size),
                   .bytes = find_bytes(at, run),
                   .all = _mm512_set1_epi64((long long)td_low_bits(run)),
                   .up = _mm512_and_si512(starts(at, run), _mm512_set1_epi64(7)),
                   .last = _mm512_set1_epi8((char)run)};
    if (at)
        pack_row(&r, memory, at, elems, n, bits, size, false, true);
    else if (run % 8)
        pack_row(&r, memory, 0, elems, n, bits, size, false, false);
    else
        pack_row(&r, memory, 0, elems, n, bits, size, true, false);
}

/* Widths that AVX-512 has vectors for without the bytes of VBMI. */
static bool is_power(unsigned at, unsigned bits)
{
    return at == 0 && (bits == 1 || bits == 4);
}

TARGET TD_PACK_KERNEL(8, vbmi)
{
    if (is_power(at, bits) || (at == 0 && bits == 2))
        td_pack_x8_avx512(memory, at, elems, n, bits);
    else
        pack_rows(memory, at, elems, n, bits, 1);
}

TARGET TD_UNPACK_KERNEL(8, vbmi)
{
    if (is_power(at, bits))
        td_unpack_x8_avx512(elems, memory, at, n, bits, sign);
    else
        unpack_rows(elems, memory, at, n, bits, sign, 1);
}

#define X(container)                                                                                                   \
    TARGET TD_PACK_KERNEL(container, vbmi)                                                                             \
    {                                                                                                                  \
        pack_rows(memory, at, elems, n, bits, (container) / 8);                                                        \
    }                                                                                                                  \
    TARGET TD_UNPACK_KERNEL(container, vbmi)                                                                           \
    {                                                                                                                  \
        unpack_rows(elems, memory, at, n, bits, sign, (container) / 8);                                                \
    }
X(16)
X(32)
X(64)
#undef X

void td_pack_init_vbmi(td_pack_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_x##size = td_pack_x##size##_vbmi;                                                                    \
    kernels->unpack_x##size = td_unpack_x##size##_vbmi;
    TD_PACK_KERNELS(X)
#undef X
}
