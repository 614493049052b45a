/* The versions of kernels/weave.h for AVX-512 VBMI: two ways that fill their stride, as words of two columns share a
 * row of an SRAM, eight rows at a time. Rows step in whole bytes, and eight spread rows follow each other within two
 * vectors of 64 bytes. Everything else, and the last rows, go to the version for BMI2. */
#include "kernels/bits.h"
#include "kernels/prefetch.h"
#include "kernels/weave.h"

#include <immintrin.h>
#include <stdbool.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#define ROWS 8
#define LEAST_ROWS 32       /* fewer are sooner done one by one */
#define PREFETCH_AHEAD 6144 /* on the spread side: of the next block, where the rows of this one end sooner */
#define MOST_STEPS 56       /* of both ways: a lane of 64 bits holds so many bits at any bit of its first byte */
#define MOST_ROW_BYTES 16   /* of the spread side */

/* Some steps of all rows. */
typedef struct job {
    int64_t flat_row, spread_row; /* bytes */
    uint64_t groups;              /* of ROWS */
    int64_t from[2];              /* the byte of each way in a flat row */
    unsigned shift[2];
    unsigned steps;
    size_t bytes; /* that they fill in a spread row */
} job;

/* Rows whose windows of eight bytes end with the flat side, or before. */
static uint64_t safe_rows(const td_weave *t, int64_t flat_bit)
{
    const int64_t chunk = ((int64_t)t->bits - 1) / MOST_STEPS * MOST_STEPS,
                  end = ((flat_bit + td_weave_flat_end(t)) >> 3) + 1,
                  first = ((flat_bit + t->way + chunk) >> 3) + 8; /* of row 0 */
    if (first > end)
        return 0;
    const uint64_t rows = t->flat_row ? (uint64_t)((end - first) / (t->flat_row / 8)) + 1 : t->rows;
    return rows < t->rows ? rows : t->rows;
}

/* How many rows go in vectors. */
static uint64_t vector_rows(const td_weave *t, int64_t flat_bit, int64_t spread_bit)
{
    if (t->stride != 2 || t->ways != 2 || (t->flat_row | t->spread_row | spread_bit) % 8 || !t->bits ||
        t->flat_row < 64 || t->spread_row > 8 * MOST_ROW_BYTES || (int64_t)(2 * t->bits) > t->spread_row)
        return 0;
    const uint64_t rows = safe_rows(t, flat_bit);
    return rows < LEAST_ROWS ? 0 : rows / ROWS * ROWS;
}

static job job_of(const td_weave *t, int64_t flat_bit, uint64_t step, uint64_t rows)
{
    const uint64_t left = t->bits - step;
    job j = {.flat_row = t->flat_row / 8, .spread_row = t->spread_row / 8, .groups = rows / ROWS};
    j.steps = (unsigned)(left < MOST_STEPS ? left : MOST_STEPS);
    j.bytes = (2 * j.steps + 7) / 8;
    for (int way = 0; way < 2; way++) {
        const int64_t bit = flat_bit + way * t->way + (int64_t)step;
        j.from[way] = bit >> 3;
        j.shift[way] = (unsigned)(bit & 7);
    }
    return j;
}

/* The bytes of a group, in two vectors. */
INLINE __mmask64 group_mask(const job *j, int half)
{
    const size_t all = (size_t)j->spread_row * (ROWS - 1) + j->bytes, from = half ? 64 : 0;
    return all <= from ? 0 : all - from >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << (all - from)) - 1;
}

INLINE __m512i half_bytes(uint64_t low, uint64_t high)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)high, (long long)low));
}

/* Two rows; those of the intrinsics that take places of doubles want them aligned. */
INLINE __m128i load_two(const unsigned char *p, int64_t row)
{
    const __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low), (const __m64 *)(const void *)(p + row)));
}

INLINE __m256i load_four(const unsigned char *p, int64_t row)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(p, row)), load_two(p + 2 * row, row), 1);
}

INLINE __m512i load_rows(const unsigned char *p, int64_t row)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(load_four(p, row)), load_four(p + 4 * row, row), 1);
}

/* Byte i of every lane has four bits, from bit `first` + 4 * i on. */
INLINE __m512i nibbles(__m512i lanes, unsigned first)
{
    const __m512i from = _mm512_add_epi8(_mm512_set1_epi64(0x1c1814100c080400), _mm512_set1_epi8((char)first));
    return _mm512_and_si512(_mm512_multishift_epi64_epi8(from, lanes), _mm512_set1_epi8(15));
}

/* Where the bytes of the spread rows come from, out of the first and the second eight bytes of all of them; and which
 * of their bits are ours. */
typedef struct spread {
    unsigned char from[128], own[128];
} spread;

static void find_spread(const job *j, spread *s)
{
    memset(s, 0, sizeof *s);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t b = 0; b < j->bytes; b++) {
            const size_t at = r * (size_t)j->spread_row + b;
            s->from[at] = (unsigned char)(b < 8 ? 8 * r + b : 64 + 8 * r + b - 8);
            s->own[at] =
                (unsigned char)td_low_bits(2 * j->steps - 8 * (unsigned)b < 8 ? 2 * j->steps - 8 * (unsigned)b : 8);
        }
}

TARGET static void weave_groups(const job *job_, unsigned char *dst, const unsigned char *src)
{
    const job j = *job_;
    const __m512i even = half_bytes(0x1514111005040100, 0x5554515045444140), odd = _mm512_slli_epi16(even, 1);
    const __mmask64 low = group_mask(&j, 0), high = group_mask(&j, 1);
    const int64_t group = ROWS * j.spread_row;
    spread s;
    find_spread(&j, &s);
    const __m512i from_low = _mm512_loadu_si512(s.from), from_high = _mm512_loadu_si512(s.from + 64),
                  own_low = _mm512_loadu_si512(s.own), own_high = _mm512_loadu_si512(s.own + 64);
    __m512i old_low = _mm512_maskz_loadu_epi8(low, dst), old_high = _mm512_maskz_loadu_epi8(high, dst + 64);
    for (uint64_t g = 0; g < j.groups; g++, dst += group, src += ROWS * j.flat_row) {
        td_prefetch_block(dst + PREFETCH_AHEAD, (uint64_t)group, 1);
        const __m512i a = load_rows(src + j.from[0], j.flat_row), b = load_rows(src + j.from[1], j.flat_row);
        const __m512i first = _mm512_or_si512(_mm512_shuffle_epi8(even, nibbles(a, j.shift[0])),
                                              _mm512_shuffle_epi8(odd, nibbles(b, j.shift[1]))),
                      second = _mm512_or_si512(_mm512_shuffle_epi8(even, nibbles(a, j.shift[0] + 32)),
                                               _mm512_shuffle_epi8(odd, nibbles(b, j.shift[1] + 32)));
        /* 0xca: the second where the first has a one, or else the third */
        const __m512i new_low = _mm512_ternarylogic_epi64(own_low, _mm512_permutex2var_epi8(first, from_low, second),
                                                          old_low, 0xca),
                      new_high = _mm512_ternarylogic_epi64(own_high, _mm512_permutex2var_epi8(first, from_high, second),
                                                           old_high, 0xca);
        /* What was there is read before the group in front is stored: a load that begins in the vector of a masked
         * store waits until the first cache has it. */
        const bool more = g + 1 < j.groups;
        old_low = _mm512_maskz_loadu_epi8(more ? low : 0, dst + group);
        old_high = _mm512_maskz_loadu_epi8(more ? high : 0, dst + group + 64);
        _mm512_mask_storeu_epi8(dst, low, new_low);
        _mm512_mask_storeu_epi8(dst + 64, high, new_high);
    }
}

/* Where the first and the second eight bytes of every spread row lie in a group. */
static void find_rows(const job *j, unsigned char from[128])
{
    memset(from, 0, 128);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t b = 0; b < j->bytes; b++)
            from[(b < 8 ? 0 : 64) + 8 * r + b % 8] = (unsigned char)(r * (size_t)j->spread_row + b);
}

/* The even bits of a byte become its low half, the odd ones its high half. */
INLINE __m512i part_bits(__m512i z)
{
    const __m512i first = half_bytes(0x1312030211100100, 0x3332232231302120), second = _mm512_slli_epi16(first, 2),
                  nibble = _mm512_set1_epi8(15);
    return _mm512_or_si512(_mm512_shuffle_epi8(first, _mm512_and_si512(z, nibble)),
                           _mm512_shuffle_epi8(second, _mm512_and_si512(_mm512_srli_epi16(z, 4), nibble)));
}

/* The halves of two neighbours are put together in the lower byte of the two. */
INLINE __m512i join_low_halves(__m512i z)
{
    return _mm512_maddubs_epi16(_mm512_and_si512(z, _mm512_set1_epi8(15)), _mm512_set1_epi16(0x1001));
}

INLINE void store_two(unsigned char *p, int64_t row, __m128i two)
{
    _mm_storel_epi64((__m128i *)(void *)p, two);
    _mm_storeh_pi((__m64 *)(void *)(p + row), _mm_castsi128_ps(two));
}

/* 0xca: the second where the first has a one, or else the third. */
INLINE void put_rows(unsigned char *dst, int64_t row, __m512i mask, __m512i values)
{
    const __m512i all = _mm512_ternarylogic_epi64(mask, values, load_rows(dst, row), 0xca);
    const __m256i low = _mm512_castsi512_si256(all), high = _mm512_extracti64x4_epi64(all, 1);
    store_two(dst, row, _mm256_castsi256_si128(low));
    store_two(dst + 2 * row, row, _mm256_extracti128_si256(low, 1));
    store_two(dst + 4 * row, row, _mm256_castsi256_si128(high));
    store_two(dst + 6 * row, row, _mm256_extracti128_si256(high, 1));
}

TARGET static void unweave_groups(const job *job_, unsigned char *dst, const unsigned char *src)
{
    const job j = *job_;
    const __mmask64 low = group_mask(&j, 0), high = group_mask(&j, 1);
    const __m512i bits = _mm512_set1_epi64((long long)td_low_bits(j.steps));
    const __m128i by[2] = {_mm_cvtsi32_si128((int)j.shift[0]), _mm_cvtsi32_si128((int)j.shift[1])};
    const __m512i mask[2] = {_mm512_sll_epi64(bits, by[0]), _mm512_sll_epi64(bits, by[1])};
    /* the lower bytes of all pairs */
    const __m512i lanes = _mm512_add_epi8(
        _mm512_set1_epi64(0x4644424006040200),
        _mm512_slli_epi64(
            _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(0x0101010101010101)), 3));
    unsigned char from[128];
    find_rows(&j, from);
    const __m512i from_first = _mm512_loadu_si512(from), from_second = _mm512_loadu_si512(from + 64);
    for (uint64_t g = 0; g < j.groups; g++, dst += ROWS * j.flat_row, src += ROWS * j.spread_row) {
        td_prefetch_block(src + PREFETCH_AHEAD, (uint64_t)(ROWS * j.spread_row), 0);
        const __m512i one = _mm512_maskz_loadu_epi8(low, src), two = _mm512_maskz_loadu_epi8(high, src + 64);
        const __m512i first = part_bits(_mm512_permutex2var_epi8(one, from_first, two)),
                      second = part_bits(_mm512_permutex2var_epi8(one, from_second, two));
        const __m512i a = _mm512_permutex2var_epi8(join_low_halves(first), lanes, join_low_halves(second)),
                      b = _mm512_permutex2var_epi8(join_low_halves(_mm512_srli_epi16(first, 4)), lanes,
                                                   join_low_halves(_mm512_srli_epi16(second, 4)));
        put_rows(dst + j.from[0], j.flat_row, mask[0], _mm512_sll_epi64(a, by[0]));
        put_rows(dst + j.from[1], j.flat_row, mask[1], _mm512_sll_epi64(b, by[1]));
    }
}

TD_WEAVE_KERNEL(weave, vbmi)
{
    const uint64_t rows = vector_rows(t, src_bit, dst_bit);
    td_weave rest = *t;
    for (uint64_t step = 0; step < t->bits && rows; step += MOST_STEPS) {
        const job j = job_of(t, src_bit, step, rows);
        weave_groups(&j, dst + (dst_bit >> 3) + step / 4, src);
    }
    rest.rows -= rows;
    if (rest.rows)
        td_weave_avx2(&rest, dst, dst_bit + (int64_t)rows * t->spread_row, src, src_bit + (int64_t)rows * t->flat_row);
}

TD_WEAVE_KERNEL(unweave, vbmi)
{
    const uint64_t rows = vector_rows(t, dst_bit, src_bit);
    td_weave rest = *t;
    for (uint64_t step = 0; step < t->bits && rows; step += MOST_STEPS) {
        const job j = job_of(t, dst_bit, step, rows);
        unweave_groups(&j, dst, src + (src_bit >> 3) + step / 4);
    }
    rest.rows -= rows;
    if (rest.rows)
        td_unweave_avx2(&rest, dst, dst_bit + (int64_t)rows * t->flat_row, src,
                        src_bit + (int64_t)rows * t->spread_row);
}

void td_weave_init_vbmi(td_weave_kernels *kernels)
{
#define X(name, spreads) kernels->name = td_##name##_vbmi;
    TD_WEAVE_KERNELS(X)
#undef X
}
