/* The versions of kernels/slice.h with the bit deposit and extract of BMI2, which every processor with AVX2 has. The
 * slices that have their lanes in 64 bits are a group. Eight rows of a group are taken at a time: the bits of each are
 * spread over the lanes of a register of 64, or are those lanes where they fill them; and the eight are transposed, so
 * that a vector has the lanes of one slice. Back it is the same in the other order; the bits of a row are collected in
 * all groups and stored in pieces of 64. The last rows, which a load of 64 bits would leave, go through plain C. Slices
 * that are whole lanes, and as many as 16 bytes have, go another way (slice_whole.inc). */
#include "kernels/bits.h"
#include "kernels/slice.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define ROWS 8

/* The slices of a group, and what the lanes of a row hold of them. */
typedef struct group {
    unsigned slices, bits; /* of all of them */
    int64_t bit;           /* where they begin in a row */
    uint64_t mask;         /* their bits in the lanes */
    unsigned char *lane[8];
} group;

INLINE group group_at(const td_slicing *t, unsigned first)
{
    const unsigned most = 8 / t->lane_bytes, left = t->slices - first;
    group g = {.slices = left < most ? left : most, .bit = t->first_bit + (int64_t)first * t->bits};
    g.bits = g.slices * t->bits;
    for (unsigned s = 0; s < most; s++) /* every slice has its lane. NOLINTNEXTLINE(clang-analyzer-core.*) */
        g.lane[s] = t->lane[first + (s < g.slices ? s : 0)];
    for (unsigned s = 0; s < g.slices; s++)
        g.mask |= td_low_bits(t->bits) << 8 * s * t->lane_bytes;
    return g;
}

INLINE uint64_t load_64(const unsigned char *p)
{
    uint64_t value;
    memcpy(&value, p, 8);
    return value;
}

INLINE __m128i from_64(uint64_t value)
{
    return _mm_cvtsi64_si128((long long)value);
}

#include "kernels/slice_lanes.inc"

/* -- rows ---------------------------------------------------------------------------------------------------------- */

/* Rows of which all bytes that are touched lie before the end of the last field of the last row: nine from every group
 * on, where they are cut; pieces of eight where they are put together. */
static uint64_t safe_rows(const td_slicing *t)
{
    const unsigned most = 8 / t->lane_bytes, last = (t->slices - 1) / most * most;
    const int64_t first = t->first_bit / 8, bits = t->first_bit % 8 + (int64_t)t->slices * t->bits;
    const int64_t end = first + (bits + 7) / 8, pieces = first + (bits + 63) / 64 * 8,
                  nine = ((int64_t)t->first_bit + (int64_t)last * t->bits) / 8 + 9,
                  touched = nine > pieces ? nine : pieces;
    if (touched <= end)
        return t->rows;
    const uint64_t unsafe = t->row_bytes > 0 ? (uint64_t)((touched - end - 1) / t->row_bytes + 1) : t->rows;
    return unsafe < t->rows ? t->rows - unsafe : 0;
}

/* How the bits of a group lie in its rows: they are the lanes; in eight bytes; in nine. */
typedef enum fit { FIT_LANES, FIT_8, FIT_9 } fit;

INLINE fit fit_of(const group *g)
{
    const unsigned shift = (unsigned)(g->bit % 8);
    return g->mask == UINT64_MAX && !shift ? FIT_LANES : shift + g->bits <= 64 ? FIT_8 : FIT_9;
}

INLINE uint64_t spread(const unsigned char *p, unsigned shift, uint64_t mask, fit fits)
{
    const uint64_t value = load_64(p);
    return fits == FIT_LANES ? value
           : fits == FIT_8   ? _pdep_u64(value >> shift, mask)
                             : _pdep_u64(value >> shift | (uint64_t)p[8] << (64 - shift), mask);
}

INLINE void slice_rows(const group *group_, unsigned lane_bytes, unsigned slices, const unsigned char *words,
                       int64_t step, uint64_t rows, fit fits)
{
    const group g = *group_;
    const unsigned shift = (unsigned)(g.bit % 8);
    words += g.bit / 8;
    for (uint64_t r = 0; r < rows; r += ROWS, words += ROWS * step) {
        __m128i row[ROWS];
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < ROWS; i++) row[i] =
            from_64(spread(words + (int64_t)i * step, shift, g.mask, fits));
        store_lanes(g.lane, lane_bytes, slices, r, row);
    }
}

/* So many rows at a time go through all groups, so that their words are still in the first-level cache. */
#define BLOCK_ROWS 512

INLINE void slice_lanes(const td_slicing *t, unsigned lane_bytes, const unsigned char *words, uint64_t rows)
{
    const unsigned most = 8 / lane_bytes;
    for (uint64_t r = 0; r < rows; r += BLOCK_ROWS) {
        const uint64_t some = rows - r < BLOCK_ROWS ? rows - r : BLOCK_ROWS;
        const unsigned char *from = words + (int64_t)r * t->row_bytes;
        for (unsigned first = 0; first < t->slices; first += most) {
            group g = group_at(t, first);
            const fit fits = fit_of(&g);
            for (unsigned s = 0; s < most; s++)
                g.lane[s] += r * lane_bytes;
            if (g.slices < most && fits == FIT_8)
                slice_rows(&g, lane_bytes, g.slices, from, t->row_bytes, some, FIT_8);
            else if (g.slices < most)
                slice_rows(&g, lane_bytes, g.slices, from, t->row_bytes, some, FIT_9);
            else if (fits == FIT_LANES)
                slice_rows(&g, lane_bytes, most, from, t->row_bytes, some, FIT_LANES);
            else if (fits == FIT_8)
                slice_rows(&g, lane_bytes, most, from, t->row_bytes, some, FIT_8);
            else
                slice_rows(&g, lane_bytes, most, from, t->row_bytes, some, FIT_9);
        }
    }
}

/* Eight rows while their bits are collected. */
typedef struct collected {
    uint64_t bits[ROWS];
    unsigned fill; /* so many of each */
    int64_t at;    /* the byte that they belong to */
} collected;

INLINE void collect(collected *c, const group *g, const uint64_t *lanes, unsigned char *words, int64_t step)
{
    const unsigned fill = c->fill, bits = g->bits;
    const uint64_t mask = g->mask;
    unsigned char *p = words + c->at;
    if (fill + bits < 64) {
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < ROWS; i++) c->bits[i] |= _pext_u64(lanes[i], mask) << fill;
        c->fill += bits;
        return;
    }
    _Pragma("GCC unroll 8") for (unsigned i = 0; i < ROWS; i++)
    {
        const uint64_t value = _pext_u64(lanes[i], mask), sum = c->bits[i] | value << fill;
        memcpy(p + (int64_t)i * step, &sum, 8);
        c->bits[i] = value >> 1 >> (63 - fill); /* nothing where fill is 0 */
    }
    c->fill = fill + bits - 64;
    c->at += 8;
}

/* What is left of a row: the bits above stay. No more bytes are looked at than have to be, as those behind may be the
 * next row's, which was stored a moment ago. */
#define FINISH(type)                                                                                                   \
    INLINE void finish_##type(const collected *c, unsigned char *p, int64_t step)                                      \
    {                                                                                                                  \
        const type kept = (type)~td_low_bits(c->fill);                                                                 \
        type old = 0;                                                                                                  \
        for (unsigned i = 0; i < ROWS; i++, p += step) {                                                               \
            if (kept)                                                                                                  \
                memcpy(&old, p, sizeof old);                                                                           \
            old = (type)((old & kept) | (type)c->bits[i]);                                                             \
            memcpy(p, &old, sizeof old);                                                                               \
        }                                                                                                              \
    }
FINISH(uint8_t)
FINISH(uint16_t)
FINISH(uint32_t)
FINISH(uint64_t)

INLINE void finish(const collected *c, unsigned char *words, int64_t step)
{
    unsigned char *p = words + c->at;
    if (c->fill > 32)
        finish_uint64_t(c, p, step);
    else if (c->fill > 16)
        finish_uint32_t(c, p, step);
    else if (c->fill > 8)
        finish_uint16_t(c, p, step);
    else if (c->fill)
        finish_uint8_t(c, p, step);
}

/* Rows whose fields are lanes, group by group. */
INLINE void join_rows(const group *group_, unsigned lane_bytes, unsigned char *words, int64_t step, uint64_t rows)
{
    const group g = *group_;
    words += g.bit / 8;
    for (uint64_t r = 0; r < rows; r += ROWS, words += ROWS * step) {
        __m128i two[ROWS / 2];
        load_lanes(g.lane, lane_bytes, r, two);
        _Pragma("GCC unroll 4") for (unsigned k = 0; k < ROWS / 2; k++)
        {
            _mm_storel_epi64((__m128i *)(void *)(words + (int64_t)(2 * k) * step), two[k]);
            store_high_8(words + (int64_t)(2 * k + 1) * step, two[k]);
        }
    }
}

INLINE void collect_rows(const td_slicing *t, unsigned lane_bytes, const group *g, unsigned groups,
                         unsigned char *words, uint64_t rows)
{
    const int64_t step = t->row_bytes;
    const unsigned before = t->first_bit % 8;
    for (uint64_t r = 0; r < rows; r += ROWS, words += ROWS * step) {
        collected c = {.fill = before, .at = t->first_bit / 8};
        for (unsigned i = 0; i < ROWS && before; i++)
            c.bits[i] = words[(int64_t)i * step + c.at] & td_low_bits(before);
        for (unsigned i = 0; i < groups; i++) {
            uint64_t lanes[ROWS];
            __m128i two[ROWS / 2];
            load_lanes(g[i].lane, lane_bytes, r, two);
            _Pragma("GCC unroll 4") for (unsigned k = 0; k < ROWS / 2; k++)
            {
                lanes[2 * k] = (uint64_t)_mm_cvtsi128_si64(two[k]);
                lanes[2 * k + 1] = (uint64_t)_mm_extract_epi64(two[k], 1);
            }
            collect(&c, &g[i], lanes, words, step);
        }
        finish(&c, words, step);
    }
}

/* -- the same with the rows in vectors, two in each ---------------------------------------------------------------- */

/* Lanes become neighbours in steps: two of them are one of twice the size, by a multiplication where they have no more
 * bits than that takes. */
INLINE bool joins_lanes(unsigned lane_bytes, unsigned bits)
{
    return lane_bytes >= 4 || bits == 8 * lane_bytes || bits <= (lane_bytes == 2 ? 14u : 6u);
}

/* What joins them, for one number of bits. */
typedef struct joiner {
    __m128i mask, low, high;   /* of the lanes; of a lane of 32 bits, and of where the next one goes */
    __m128i by_1, by_2, shift; /* factors of neighbours of one and of two bytes; from 32 bits up to there */
    bool whole;                /* the lanes are full */
} joiner;

INLINE joiner joiner_of(const group *g, unsigned lane_bytes, unsigned bits)
{
    const unsigned of_2 = lane_bytes == 1 ? 2 * bits : bits, of_4 = lane_bytes == 4 ? bits : 2 * of_2;
    joiner j = {.whole = bits == 8 * lane_bytes};
    j.mask = _mm_set1_epi64x((long long)g->mask);
    if (j.whole || lane_bytes == 8)
        return j;
    j.by_1 = _mm_set1_epi16((short)(1u << bits % 8 << 8 | 1));
    j.by_2 = _mm_set1_epi32((int)(1u << of_2 % 16 << 16 | 1));
    const uint64_t low = td_low_bits(of_4), high = low << of_4;
    j.low = _mm_set1_epi64x((long long)low);
    j.high = _mm_set1_epi64x((long long)high);
    j.shift = _mm_cvtsi32_si128((int)(32 - of_4));
    return j;
}

INLINE __m128i join_lanes(const joiner *j, unsigned lane_bytes, __m128i two)
{
    two = _mm_and_si128(two, j->mask);
    if (j->whole)
        return two;
    if (lane_bytes == 1)
        two = _mm_maddubs_epi16(two, j->by_1);
    if (lane_bytes <= 2)
        two = _mm_madd_epi16(two, j->by_2);
    if (lane_bytes <= 4)
        two = _mm_or_si128(_mm_and_si128(two, j->low), _mm_and_si128(_mm_srl_epi64(two, j->shift), j->high));
    return two;
}

INLINE void collect_vectors(const td_slicing *t, unsigned lane_bytes, const group *g, unsigned groups,
                            unsigned char *words, uint64_t rows)
{
    const int64_t step = t->row_bytes;
    const unsigned before = t->first_bit % 8;
    joiner joiners[2] = {joiner_of(&g[0], lane_bytes, t->bits), joiner_of(&g[groups - 1], lane_bytes, t->bits)};
    for (uint64_t r = 0; r < rows; r += ROWS, words += ROWS * step) {
        collected c = {.fill = before, .at = t->first_bit / 8};
        __m128i sum[ROWS / 2];
        for (unsigned i = 0; i < ROWS && before; i++)
            c.bits[i] = words[(int64_t)i * step + c.at] & td_low_bits(before);
        _Pragma("GCC unroll 4") for (unsigned k = 0; k < ROWS / 2; k++) sum[k] =
            before ? load_16((const unsigned char *)&c.bits[2 * k]) : _mm_setzero_si128();
        for (unsigned i = 0; i < groups; i++) {
            const joiner *j = &joiners[i + 1 == groups];
            const __m128i fill = _mm_cvtsi32_si128((int)c.fill), rest = _mm_cvtsi32_si128((int)(64 - c.fill));
            __m128i two[ROWS / 2];
            load_lanes(g[i].lane, lane_bytes, r, two);
            _Pragma("GCC unroll 4") for (unsigned k = 0; k < ROWS / 2; k++)
            {
                two[k] = join_lanes(j, lane_bytes, two[k]);
                sum[k] = _mm_or_si128(sum[k], _mm_sll_epi64(two[k], fill));
            }
            c.fill += g[i].bits;
            if (c.fill < 64)
                continue;
            c.fill -= 64;
            unsigned char *p = words + c.at;
            _Pragma("GCC unroll 4") for (unsigned k = 0; k < ROWS / 2; k++)
            {
                _mm_storel_epi64((__m128i *)(void *)(p + (int64_t)(2 * k) * step), sum[k]);
                store_high_8(p + (int64_t)(2 * k + 1) * step, sum[k]);
                sum[k] = _mm_srl_epi64(two[k], rest); /* nothing where there was no fill */
            }
            c.at += 8;
        }
        if (!c.fill)
            continue;
        for (unsigned k = 0; k < ROWS / 2; k++)
            store_16((unsigned char *)&c.bits[2 * k], sum[k]);
        finish(&c, words, step);
    }
}

INLINE void unslice_lanes(const td_slicing *t, unsigned lane_bytes, unsigned char *words, uint64_t rows)
{
    group g[TD_SLICE_MOST];
    unsigned groups = 0;
    bool lanes = true;
    for (unsigned first = 0; first < t->slices; first += 8 / lane_bytes, groups++) {
        g[groups] = group_at(t, first);
        lanes = lanes && fit_of(&g[groups]) == FIT_LANES;
    }
    if (!lanes && joins_lanes(lane_bytes, t->bits)) {
        collect_vectors(t, lane_bytes, g, groups, words, rows);
        return;
    }
    if (!lanes) {
        collect_rows(t, lane_bytes, g, groups, words, rows);
        return;
    }
    for (uint64_t r = 0; r < rows; r += BLOCK_ROWS)
        for (unsigned i = 0; i < groups; i++) {
            join_rows(&g[i], lane_bytes, words + (int64_t)r * t->row_bytes, t->row_bytes,
                      rows - r < BLOCK_ROWS ? rows - r : BLOCK_ROWS);
            for (unsigned s = 0; s < 8 / lane_bytes; s++)
                g[i].lane[s] += (uint64_t)BLOCK_ROWS * lane_bytes;
        }
}

/* The rows that are left after `done`. */
static td_slicing rest_of(const td_slicing *t, uint64_t done, unsigned char **lane)
{
    td_slicing rest = *t;
    rest.rows -= done;
    for (unsigned s = 0; s < t->slices; s++)
        lane[s] = t->lane[s] + done * t->lane_bytes;
    rest.lane = lane;
    return rest;
}

#define MOVE_ROWS(lanes_fn, t, words, rows)                                                                            \
    do {                                                                                                               \
        if ((t)->lane_bytes == 1)                                                                                      \
            lanes_fn(t, 1, words, rows);                                                                               \
        else if ((t)->lane_bytes == 2)                                                                                 \
            lanes_fn(t, 2, words, rows);                                                                               \
        else if ((t)->lane_bytes == 4)                                                                                 \
            lanes_fn(t, 4, words, rows);                                                                               \
        else                                                                                                           \
            lanes_fn(t, 8, words, rows);                                                                               \
    } while (0)

#define ASIDE_BYTES 1024
#define ASIDE_ROOM 128 /* behind them, for loads and stores that go too far */

/* Bytes of eight rows from the first on, of which none behind them is touched; 0: too many to be moved aside. */
static size_t aside_bytes(const td_slicing *t)
{
    const uint64_t row = (t->first_bit + (uint64_t)t->slices * t->bits + 7) / 8,
                   bytes = (ROWS - 1) * (uint64_t)t->row_bytes + row;
    return t->rows >= ROWS && bytes <= ASIDE_BYTES && row <= (uint64_t)t->row_bytes ? (size_t)bytes : 0;
}

TARGET static void slice_any(const td_slicing *t, unsigned char *words)
{
    unsigned char *lane[TD_SLICE_MOST], aside[ASIDE_BYTES + ASIDE_ROOM];
    const uint64_t done = safe_rows(t) / ROWS * ROWS;
    MOVE_ROWS(slice_lanes, t, words, done);
    td_slicing rest = rest_of(t, done, lane);
    words += (int64_t)done * t->row_bytes;
    const size_t bytes = aside_bytes(&rest);
    if (bytes) {
        memcpy(aside, words, bytes);
        MOVE_ROWS(slice_lanes, &rest, aside, ROWS);
        rest = rest_of(&rest, ROWS, lane);
        words += ROWS * t->row_bytes;
    }
    td_slice_c(&rest, words);
}

TARGET static void unslice_any(const td_slicing *t, unsigned char *words)
{
    unsigned char *lane[TD_SLICE_MOST], aside[ASIDE_BYTES + ASIDE_ROOM];
    const uint64_t done = safe_rows(t) / ROWS * ROWS;
    MOVE_ROWS(unslice_lanes, t, words, done);
    td_slicing rest = rest_of(t, done, lane);
    words += (int64_t)done * t->row_bytes;
    const size_t bytes = aside_bytes(&rest);
    if (bytes) {
        memcpy(aside, words, bytes);
        MOVE_ROWS(unslice_lanes, &rest, aside, ROWS);
        memcpy(words, aside, bytes);
        rest = rest_of(&rest, ROWS, lane);
        words += ROWS * t->row_bytes;
    }
    td_unslice_c(&rest, words);
}

#include "kernels/slice_whole.inc"

TARGET TD_SLICE_KERNEL(slice, avx2)
{
    move_whole(t, words, false, slice_any);
}

TARGET TD_SLICE_KERNEL(unslice, avx2)
{
    move_whole(t, words, true, unslice_any);
}

void td_slice_init_avx2(td_slice_kernels *kernels)
{
#define X(name, writes) kernels->name = td_##name##_avx2;
    TD_SLICE_KERNELS(X)
#undef X
}

#endif
