/* The versions of kernels/slice.h with the bit deposit and extract of BMI2, which every processor with AVX2 has. The
 * slices that have their lanes in 64 bits are a group. Eight rows of a group are taken at a time: the bits of each are
 * spread over the lanes of a register of 64, or are those lanes where they fill them; and the eight are transposed, so
 * that a vector has the lanes of one slice. Back it is the same in the other order; the bits of a row are collected in
 * all groups and stored in pieces of 64. The last rows, which a load of 64 bits would leave, go through plain C. */
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
    for (unsigned s = 0; s < most; s++)
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

/* -- lanes of eight rows, as registers, to vectors of slices and back ---------------------------------------------- */

/* Lanes of one byte: slices 2 * i and 2 * i + 1 in vector i. */
INLINE void to_slices_1(const __m128i *row, __m128i *out)
{
    const __m128i a = _mm_unpacklo_epi8(row[0], row[1]), b = _mm_unpacklo_epi8(row[2], row[3]),
                  c = _mm_unpacklo_epi8(row[4], row[5]), d = _mm_unpacklo_epi8(row[6], row[7]);
    const __m128i ab = _mm_unpacklo_epi16(a, b), ab_high = _mm_unpackhi_epi16(a, b), cd = _mm_unpacklo_epi16(c, d),
                  cd_high = _mm_unpackhi_epi16(c, d);
    out[0] = _mm_unpacklo_epi32(ab, cd);
    out[1] = _mm_unpackhi_epi32(ab, cd);
    out[2] = _mm_unpacklo_epi32(ab_high, cd_high);
    out[3] = _mm_unpackhi_epi32(ab_high, cd_high);
}

/* Two rows in each vector that comes out. */
INLINE void to_rows_1(const __m128i *in, __m128i *out)
{
    const __m128i order = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m128i a = _mm_shuffle_epi8(in[0], order), b = _mm_shuffle_epi8(in[1], order),
                  c = _mm_shuffle_epi8(in[2], order), d = _mm_shuffle_epi8(in[3], order);
    const __m128i ab = _mm_unpacklo_epi16(a, b), ab_high = _mm_unpackhi_epi16(a, b), cd = _mm_unpacklo_epi16(c, d),
                  cd_high = _mm_unpackhi_epi16(c, d);
    out[0] = _mm_unpacklo_epi32(ab, cd);
    out[1] = _mm_unpackhi_epi32(ab, cd);
    out[2] = _mm_unpacklo_epi32(ab_high, cd_high);
    out[3] = _mm_unpackhi_epi32(ab_high, cd_high);
}

/* Lanes of two bytes: slice i in vector i. */
INLINE void to_slices_2(const __m128i *row, __m128i *out)
{
    const __m128i a = _mm_unpacklo_epi16(row[0], row[1]), b = _mm_unpacklo_epi16(row[2], row[3]),
                  c = _mm_unpacklo_epi16(row[4], row[5]), d = _mm_unpacklo_epi16(row[6], row[7]);
    const __m128i ab = _mm_unpacklo_epi32(a, b), ab_high = _mm_unpackhi_epi32(a, b), cd = _mm_unpacklo_epi32(c, d),
                  cd_high = _mm_unpackhi_epi32(c, d);
    out[0] = _mm_unpacklo_epi64(ab, cd);
    out[1] = _mm_unpackhi_epi64(ab, cd);
    out[2] = _mm_unpacklo_epi64(ab_high, cd_high);
    out[3] = _mm_unpackhi_epi64(ab_high, cd_high);
}

INLINE void to_rows_2(const __m128i *in, __m128i *out)
{
    const __m128i a = _mm_unpacklo_epi16(in[0], in[1]), a_high = _mm_unpackhi_epi16(in[0], in[1]),
                  b = _mm_unpacklo_epi16(in[2], in[3]), b_high = _mm_unpackhi_epi16(in[2], in[3]);
    out[0] = _mm_unpacklo_epi32(a, b);
    out[1] = _mm_unpackhi_epi32(a, b);
    out[2] = _mm_unpacklo_epi32(a_high, b_high);
    out[3] = _mm_unpackhi_epi32(a_high, b_high);
}

/* Lanes of four bytes: rows 0 to 3 of the two slices, then rows 4 to 7. */
INLINE void to_slices_4(const __m128i *row, __m128i *out)
{
    for (unsigned i = 0; i < 2; i++) {
        const __m128i a = _mm_unpacklo_epi32(row[4 * i], row[4 * i + 1]),
                      b = _mm_unpacklo_epi32(row[4 * i + 2], row[4 * i + 3]);
        out[2 * i] = _mm_unpacklo_epi64(a, b);
        out[2 * i + 1] = _mm_unpackhi_epi64(a, b);
    }
}

INLINE void to_rows_4(const __m128i *in, __m128i *out)
{
    for (unsigned i = 0; i < 4; i += 2) {
        out[i] = _mm_unpacklo_epi32(in[i], in[i + 1]);
        out[i + 1] = _mm_unpackhi_epi32(in[i], in[i + 1]);
    }
}

INLINE void store_16(unsigned char *p, __m128i value)
{
    _mm_storeu_si128((__m128i *)(void *)p, value);
}

INLINE void store_high_8(unsigned char *p, __m128i value)
{
    _mm_storel_epi64((__m128i *)(void *)p, _mm_unpackhi_epi64(value, value));
}

INLINE __m128i load_16(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Rows r to r + 7 of the first `slices` of a group, from `row` on, which has their lanes. */
INLINE void store_lanes(unsigned char *const *lane, unsigned lane_bytes, unsigned slices, uint64_t r,
                        const __m128i *row)
{
    __m128i out[4];
    if (lane_bytes == 1) {
        to_slices_1(row, out);
        _Pragma("GCC unroll 8") for (unsigned s = 0; s < 8; s++)
        {
            const __m128i two = out[s / 2];
            if (s < slices)
                _mm_storel_epi64((__m128i *)(void *)(lane[s] + r), s % 2 ? _mm_unpackhi_epi64(two, two) : two);
        }
    } else if (lane_bytes == 2) {
        to_slices_2(row, out);
        _Pragma("GCC unroll 4") for (unsigned s = 0; s < 4; s++) if (s < slices) store_16(lane[s] + 2 * r, out[s]);
    } else if (lane_bytes == 4) {
        to_slices_4(row, out);
        _Pragma("GCC unroll 2") for (unsigned s = 0; s < 2; s++) if (s < slices)
        {
            store_16(lane[s] + 4 * r, out[s]);
            store_16(lane[s] + 4 * r + 16, out[2 + s]);
        }
    } else {
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < ROWS; i++)
            _mm_storel_epi64((__m128i *)(void *)(lane[0] + 8 * (r + i)), row[i]);
    }
}

/* The lanes of two rows in each vector. A group of fewer slices than it has lanes has some of them twice. */
INLINE void load_lanes(unsigned char *const *lane, unsigned lane_bytes, uint64_t r, __m128i *out)
{
    __m128i in[4];
    if (lane_bytes == 1) {
        _Pragma("GCC unroll 4") for (unsigned i = 0; i < 4; i++) in[i] =
            _mm_unpacklo_epi64(from_64(load_64(lane[2 * i] + r)), from_64(load_64(lane[2 * i + 1] + r)));
        to_rows_1(in, out);
    } else if (lane_bytes == 2) {
        _Pragma("GCC unroll 4") for (unsigned s = 0; s < 4; s++) in[s] = load_16(lane[s] + 2 * r);
        to_rows_2(in, out);
    } else if (lane_bytes == 4) {
        _Pragma("GCC unroll 2") for (unsigned s = 0; s < 2; s++)
        {
            in[s] = load_16(lane[s] + 4 * r);
            in[2 + s] = load_16(lane[s] + 4 * r + 16);
        }
        to_rows_4(in, out);
    } else {
        _Pragma("GCC unroll 4") for (unsigned i = 0; i < 4; i++) out[i] = load_16(lane[0] + 8 * (r + 2 * i));
    }
}

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

INLINE void unslice_lanes(const td_slicing *t, unsigned lane_bytes, unsigned char *words, uint64_t rows)
{
    group g[TD_SLICE_MOST];
    unsigned groups = 0;
    bool lanes = true;
    for (unsigned first = 0; first < t->slices; first += 8 / lane_bytes, groups++) {
        g[groups] = group_at(t, first);
        lanes = lanes && fit_of(&g[groups]) == FIT_LANES;
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

#define MOVE_ROWS(lanes_fn, plain_fn)                                                                                  \
    unsigned char *lane[TD_SLICE_MOST];                                                                                \
    const uint64_t done = safe_rows(t) / ROWS * ROWS;                                                                  \
    if (t->lane_bytes == 1)                                                                                            \
        lanes_fn(t, 1, words, done);                                                                                   \
    else if (t->lane_bytes == 2)                                                                                       \
        lanes_fn(t, 2, words, done);                                                                                   \
    else if (t->lane_bytes == 4)                                                                                       \
        lanes_fn(t, 4, words, done);                                                                                   \
    else                                                                                                               \
        lanes_fn(t, 8, words, done);                                                                                   \
    const td_slicing rest = rest_of(t, done, lane);                                                                    \
    plain_fn(&rest, words + (int64_t)done * t->row_bytes)

TARGET TD_SLICE_KERNEL(slice, avx2)
{
    MOVE_ROWS(slice_lanes, td_slice_c);
}

TARGET TD_SLICE_KERNEL(unslice, avx2)
{
    MOVE_ROWS(unslice_lanes, td_unslice_c);
}

void td_slice_init_avx2(td_slice_kernels *kernels)
{
#define X(name, writes) kernels->name = td_##name##_avx2;
    TD_SLICE_KERNELS(X)
#undef X
}

#endif
