/* The versions of kernels/weave.h with the bit deposit and extract of BMI2, which every processor with AVX2 has. A
 * window of up to 64 spread bits is put together in a register and stored once. */
#include "kernels/bits.h"
#include "kernels/weave.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#define FOR_BMI2 __attribute__((target("bmi2")))
#define FIELD_BITS 56 /* that eight bytes hold at any bit of the first */

#define INLINE static inline __attribute__((always_inline))
#define INLINE_BMI2 INLINE FOR_BMI2

/* One side of a call: eight bytes may be touched where they all lie before `end`, or where the rows are known to be
 * `safe`. */
typedef struct side {
    const unsigned char *end;
    bool safe;
} side;

static inline side side_of(const unsigned char *base, int64_t first_bit, int64_t last_bit)
{
    return (side){base + ((first_bit + last_bit) >> 3) + 1, false};
}

INLINE uint64_t get(side s, const unsigned char *base, int64_t bit, unsigned bits)
{
    const unsigned char *p = base + (bit >> 3);
    if (!s.safe && p + 8 > s.end)
        return td_get_bits(base, bit, bits);
    uint64_t word = 0;
    memcpy(&word, p, 8);
    return word >> (bit & 7) & td_low_bits(bits);
}

/* The bits of `mask` from `bit` on become those of `value`, which has no others; shifted, `bits` fit in eight bytes. */
INLINE void put(side s, unsigned char *base, int64_t bit, unsigned bits, uint64_t mask, uint64_t value)
{
    unsigned char *p = base + (bit >> 3);
    const unsigned shift = (unsigned)(bit & 7);
    uint64_t word = 0;
    if (!s.safe && p + 8 > s.end) {
        td_put_bits(base, bit, bits, (td_get_bits(base, bit, bits) & ~mask) | value);
        return;
    }
    if (mask != UINT64_MAX)
        memcpy(&word, p, 8);
    word = (word & ~(mask << shift)) | value << shift;
    memcpy(p, &word, 8);
}

/* Rows from the first on whose bytes, and the eight from the last of them on, all lie before the end of the side.
 * `row_end` is the last bit of row 0. */
static uint64_t safe_rows(side s, const unsigned char *base, int64_t row_end, int64_t row, uint64_t rows)
{
    while (rows && base + ((row_end + row * (int64_t)(rows - 1)) >> 3) + 8 > s.end)
        rows = row ? rows - 1 : 0;
    return rows;
}

/* -- runs of bits at whole bytes from row to row ------------------------------------------------------------------- */

/* The bits of `mask` of every row, at a shift in a window of 4 or 8 bytes of the source (`window`) and of 1 to 8 of the
 * destination (`type`), of which the bits in `kept` stay. */
#define FIELD_ROWS(type, window)                                                                                       \
    INLINE void field_rows_##type##_##window(unsigned char *dst, int64_t dst_row, unsigned dst_shift,                  \
                                             const unsigned char *src, int64_t src_row, unsigned src_shift,            \
                                             window mask, uint64_t rows)                                               \
    {                                                                                                                  \
        const type kept = (type) ~((type)mask << dst_shift);                                                           \
        window word;                                                                                                   \
        type old;                                                                                                      \
        if (kept)                                                                                                      \
            for (uint64_t r = 0; r < rows; r++, dst += dst_row, src += src_row) {                                      \
                memcpy(&word, src, sizeof word);                                                                       \
                memcpy(&old, dst, sizeof old);                                                                         \
                old = (type)((old & kept) | (type)((type)(word >> src_shift & mask) << dst_shift));                    \
                memcpy(dst, &old, sizeof old);                                                                         \
            }                                                                                                          \
        else                                                                                                           \
            for (uint64_t r = 0; r < rows; r++, dst += dst_row, src += src_row) {                                      \
                memcpy(&word, src, sizeof word);                                                                       \
                old = (type)(word >> src_shift);                                                                       \
                memcpy(dst, &old, sizeof old);                                                                         \
            }                                                                                                          \
    }
FIELD_ROWS(uint8_t, uint32_t)
FIELD_ROWS(uint16_t, uint32_t)
FIELD_ROWS(uint32_t, uint32_t)
FIELD_ROWS(uint64_t, uint32_t)
FIELD_ROWS(uint8_t, uint64_t)
FIELD_ROWS(uint16_t, uint64_t)
FIELD_ROWS(uint32_t, uint64_t)
FIELD_ROWS(uint64_t, uint64_t)

static void copy_fields(unsigned char *dst, int64_t dst_bit, int64_t dst_row, const unsigned char *src, int64_t src_bit,
                        int64_t src_row, uint64_t bits, uint64_t rows)
{
    for (uint64_t at = 0, n; at < bits; at += n) {
        const int64_t to = dst_bit + (int64_t)at, from = src_bit + (int64_t)at;
        const unsigned to_shift = (unsigned)(to & 7), from_shift = (unsigned)(from & 7);
        const unsigned most = 64 - (to_shift > from_shift ? to_shift : from_shift);
        n = bits - at < most ? bits - at : most;
        const uint64_t mask = td_low_bits((unsigned)n);
        const unsigned bytes = (to_shift + (unsigned)n + 7) / 8;
#define ROWS(type)                                                                                                     \
    if (from_shift + n <= 32)                                                                                          \
        field_rows_##type##_uint32_t(dst + (to >> 3), dst_row / 8, to_shift, src + (from >> 3), src_row / 8,           \
                                     from_shift, (uint32_t)mask, rows);                                                \
    else                                                                                                               \
        field_rows_##type##_uint64_t(dst + (to >> 3), dst_row / 8, to_shift, src + (from >> 3), src_row / 8,           \
                                     from_shift, mask, rows)
        if (bytes == 1) {
            ROWS(uint8_t);
        } else if (bytes == 2) {
            ROWS(uint16_t);
        } else if (bytes <= 4) {
            ROWS(uint32_t);
        } else {
            ROWS(uint64_t);
        }
#undef ROWS
    }
}

/* -- any bits ------------------------------------------------------------------------------------------------------ */

/* Ones so many bits apart, from bit 0 on: by the stride. */
static const uint64_t combs[TD_WEAVE_STRIDE + 1] = {
    0x0,
    0xffffffffffffffff,
    0x5555555555555555,
    0x9249249249249249,
    0x1111111111111111,
    0x1084210842108421,
    0x1041041041041041,
    0x8102040810204081,
    0x101010101010101,
    0x8040201008040201,
    0x1004010040100401,
    0x80100200400801,
    0x1001001001001001,
    0x10008004002001,
    0x100040010004001,
    0x1000200040008001,
    0x1000100010001,
    0x8000400020001,
    0x40001000040001,
    0x200004000080001,
    0x1000010000100001,
    0x8000040000200001,
    0x100000400001,
    0x400000800001,
    0x1000001000001,
    0x4000002000001,
    0x10000004000001,
    0x40000008000001,
    0x100000010000001,
    0x400000020000001,
    0x1000000040000001,
    0x4000000080000001,
    0x100000001,
};

/* The first `count` of them, which 64 bits hold. */
static inline uint64_t comb(unsigned stride, unsigned count)
{
    return count ? combs[stride] & td_low_bits((count - 1) * stride + 1) : 0;
}

/* How many steps of the spread side a window has: all 64 bits where windows begin at whole bytes. */
static inline unsigned window_steps(const td_weave *t, int64_t spread_bit)
{
    const unsigned all = 64 / t->stride;
    const int aligned = spread_bit % 8 == 0 && t->spread_row % 8 == 0 && all * t->stride == 64;
    return t->stride == 1 ? FIELD_BITS : aligned ? all : FIELD_BITS / t->stride;
}

/* Inlined for the usual strides, where all ways are there. */
INLINE_BMI2 void weave_rows(const td_weave *job, unsigned stride, unsigned ways, side out, unsigned char *dst,
                            int64_t dst_bit, side in, const unsigned char *src, int64_t src_bit, uint64_t rows)
{
    const td_weave own = *job, *const t = &own; /* stores of bytes may be to *job */
    const unsigned most = window_steps(t, dst_bit);
    const uint64_t ones = comb(t->stride, most), owned = ones * td_low_bits(ways);
    for (uint64_t r = 0; r < rows; r++, dst_bit += t->spread_row, src_bit += t->flat_row)
        for (uint64_t i = 0; i < t->bits; i += most) {
            const unsigned n = (unsigned)(t->bits - i < most ? t->bits - i : most);
            uint64_t value = 0;
            for (unsigned j = 0; j < ways; j++)
                value |= _pdep_u64(get(in, src, src_bit + j * t->way + (int64_t)i, n), ones) << j;
            put(out, dst, dst_bit + (int64_t)(i * stride), (n - 1) * stride + ways, owned & td_low_bits(n * stride),
                value);
        }
}

INLINE_BMI2 void unweave_rows(const td_weave *job, unsigned stride, unsigned ways, side out, unsigned char *dst,
                              int64_t dst_bit, side in, const unsigned char *src, int64_t src_bit, uint64_t rows)
{
    const td_weave own = *job, *const t = &own;
    const unsigned most = window_steps(t, src_bit), field = FIELD_BITS; /* so many steps are whole bytes */
    const uint64_t ones = comb(t->stride, most);
    for (uint64_t r = 0; r < rows; r++, dst_bit += t->flat_row, src_bit += t->spread_row)
        for (uint64_t at = 0; at < t->bits; at += field) {
            const unsigned bits = (unsigned)(t->bits - at < field ? t->bits - at : field);
            for (unsigned j = 0; j < ways; j++) {
                uint64_t value = 0;
                for (unsigned i = 0; i < bits; i += most) {
                    const unsigned n = bits - i < most ? bits - i : most;
                    const int64_t bit = src_bit + (int64_t)((at + i) * stride + j);
                    value |= _pext_u64(get(in, src, bit, (n - 1) * stride + 1), ones) << i;
                }
                put(out, dst, dst_bit + j * t->way + (int64_t)at, bits, td_low_bits(bits), value);
            }
        }
}

#include "kernels/weave_windows.inc"

/* -- two, four or eight ways at whole bytes ------------------------------------------------------------------------ */

/* Windows of 64 spread bits, which are whole bytes of every way: 4, 2 or 1 of them. Nothing else is touched. */
#define WHOLE_WINDOWS(ways_, type)                                                                                     \
    FOR_BMI2 static void weave_whole_##ways_(const td_weave *t, unsigned char *dst, const unsigned char *src,          \
                                             uint64_t windows)                                                         \
    {                                                                                                                  \
        const uint64_t ones = UINT64_MAX / ((1u << (ways_)) - 1), rows = t->rows;                                      \
        const int64_t way = t->way / 8, spread_row = t->spread_row / 8, flat_row = t->flat_row / 8;                    \
        for (uint64_t r = 0; r < rows; r++, dst += spread_row, src += flat_row)                                        \
            for (uint64_t i = 0; i < windows; i++) {                                                                   \
                uint64_t value = 0;                                                                                    \
                for (unsigned j = 0; j < (ways_); j++) {                                                               \
                    type part;                                                                                         \
                    memcpy(&part, src + (int64_t)j * way + i * sizeof part, sizeof part);                              \
                    value |= _pdep_u64(part, ones) << j;                                                               \
                }                                                                                                      \
                memcpy(dst + 8 * i, &value, 8);                                                                        \
            }                                                                                                          \
    }                                                                                                                  \
    FOR_BMI2 static void unweave_whole_##ways_(const td_weave *t, unsigned char *dst, const unsigned char *src,        \
                                               uint64_t windows)                                                       \
    {                                                                                                                  \
        const uint64_t ones = UINT64_MAX / ((1u << (ways_)) - 1), rows = t->rows;                                      \
        const int64_t way = t->way / 8, spread_row = t->spread_row / 8, flat_row = t->flat_row / 8;                    \
        for (uint64_t r = 0; r < rows; r++, dst += flat_row, src += spread_row)                                        \
            for (uint64_t i = 0; i < windows; i++) {                                                                   \
                uint64_t value;                                                                                        \
                memcpy(&value, src + 8 * i, 8);                                                                        \
                for (unsigned j = 0; j < (ways_); j++) {                                                               \
                    const type part = (type)_pext_u64(value >> j, ones);                                               \
                    memcpy(dst + (int64_t)j * way + i * sizeof part, &part, sizeof part);                              \
                }                                                                                                      \
            }                                                                                                          \
    }
WHOLE_WINDOWS(2, uint32_t)
WHOLE_WINDOWS(4, uint16_t)
WHOLE_WINDOWS(8, uint8_t)

#include "kernels/weave_vectors.inc"

/* The steps of 16 bytes of all rows but the last of an odd number; they write what the windows below would. */
static void move_steps(const td_weave *t, bool weaves, unsigned char *dst, const unsigned char *src, uint64_t steps)
{
    if (t->ways == 2)
        (weaves ? weave_steps_2 : unweave_steps_2)(t, dst, src, steps);
    else if (t->ways == 4)
        (weaves ? weave_steps_4 : unweave_steps_4)(t, dst, src, steps);
    else
        (weaves ? weave_steps_8 : unweave_steps_8)(t, dst, src, steps);
}

static void move_windows(const td_weave *t, bool weaves, unsigned char *dst, const unsigned char *src, uint64_t windows)
{
    if (t->ways == 2)
        (weaves ? weave_whole_2 : unweave_whole_2)(t, dst, src, windows);
    else if (t->ways == 4)
        (weaves ? weave_whole_4 : unweave_whole_4)(t, dst, src, windows);
    else
        (weaves ? weave_whole_8 : unweave_whole_8)(t, dst, src, windows);
}

/* Moves the windows of every row that are whole, where the job has such, and returns how many bits of each way that
 * is. */
static uint64_t move_whole(const td_weave *t, bool weaves, unsigned char *dst, int64_t dst_bit,
                           const unsigned char *src, int64_t src_bit)
{
    const unsigned ways = t->ways;
    if (ways != t->stride || (ways != 2 && ways != 4 && ways != 8) ||
        (dst_bit | src_bit | t->way | t->flat_row | t->spread_row) % 8)
        return 0;
    const uint64_t windows = t->bits / (64 / ways), steps = t->bits / (8 * STEP_BYTES),
                   paired = steps ? t->rows / 2 * 2 : 0;
    dst += dst_bit / 8;
    src += src_bit / 8;
    if (steps)
        move_steps(t, weaves, dst, src, steps);
    const int64_t done_bytes = (int64_t)(steps * STEP_BYTES), flat_rows = (int64_t)paired * (t->flat_row / 8),
                  spread_rows = (int64_t)paired * (t->spread_row / 8);
    td_weave some = *t; /* what is left behind the steps, and then the last row */
    some.rows = paired;
    move_windows(&some, weaves, dst + done_bytes * (weaves ? ways : 1), src + done_bytes * (weaves ? 1 : ways),
                 windows - steps * 2 * ways);
    some.rows = t->rows - paired;
    move_windows(&some, weaves, dst + (weaves ? spread_rows : flat_rows), src + (weaves ? flat_rows : spread_rows),
                 windows);
    return windows * (64 / ways);
}

/* -- all of it ----------------------------------------------------------------------------------------------------- */

#define CHOOSE(rows_fn, out, in, count)                                                                                \
    do {                                                                                                               \
        if (t->stride == 2 && t->ways == 2)                                                                            \
            rows_fn(t, 2, 2, out, dst, dst_bit, in, src, src_bit, count);                                              \
        else if (t->stride == 4 && t->ways == 4)                                                                       \
            rows_fn(t, 4, 4, out, dst, dst_bit, in, src, src_bit, count);                                              \
        else                                                                                                           \
            rows_fn(t, t->stride, t->ways, out, dst, dst_bit, in, src, src_bit, count);                                \
    } while (0)

/* False where there is none for these ways. */
static bool weave_bytes(const td_weave *t, unsigned char *dst, int64_t dst_bit, const unsigned char *src,
                        int64_t src_bit, uint64_t rows)
{
    if (t->ways != t->stride || (t->ways != 2 && t->ways != 4))
        return false;
    (t->ways == 2 ? weave_bytes_2 : weave_bytes_4)(t, dst, dst_bit, src, src_bit, rows);
    return true;
}

/* Rows that are safe on both sides are moved without looking at the ends, the last few with it. */
#define MOVE_ROWS(rows_fn, bytes_fn, dst_end, dst_row, src_end, src_row, dst_last, src_last)                           \
    const side in = side_of(src, src_bit, src_last), out = side_of(dst, dst_bit, dst_last), none = {NULL, true};       \
    uint64_t safe = safe_rows(in, src, src_bit + (src_end), src_row, t->rows);                                         \
    safe = safe_rows(out, dst, dst_bit + (dst_end), dst_row, safe);                                                    \
    if (t->stride == 1 && t->ways == 1 && (dst_row) % 8 == 0 && (src_row) % 8 == 0)                                    \
        copy_fields(dst, dst_bit, dst_row, src, src_bit, src_row, t->bits, safe);                                      \
    else if (t->stride > 1 && (dst_row) % 8 == 0 && (src_row) % 8 == 0 &&                                              \
             bytes_fn(t, dst, dst_bit, src, src_bit, safe))                                                            \
        ;                                                                                                              \
    else if (safe)                                                                                                     \
        CHOOSE(rows_fn, none, none, safe);                                                                             \
    dst_bit += (dst_row) * (int64_t)safe;                                                                              \
    src_bit += (src_row) * (int64_t)safe;                                                                              \
    rows_fn(t, t->stride, t->ways, out, dst, dst_bit, in, src, src_bit, t->rows - safe)

/* The last bit of row 0. */
static inline int64_t flat_row_end(const td_weave *t)
{
    return (int64_t)(t->ways - 1) * t->way + (int64_t)t->bits - 1;
}

static inline int64_t spread_row_end(const td_weave *t)
{
    return (int64_t)(t->bits - 1) * t->stride + (int64_t)t->ways - 1;
}

FOR_BMI2 static void weave_any(const td_weave *t, unsigned char *dst, int64_t dst_bit, const unsigned char *src,
                               int64_t src_bit)
{
    MOVE_ROWS(weave_rows, weave_bytes, spread_row_end(t), t->spread_row, flat_row_end(t), t->flat_row,
              td_weave_spread_end(t), td_weave_flat_end(t));
}

FOR_BMI2 static void unweave_any(const td_weave *t, unsigned char *dst, int64_t dst_bit, const unsigned char *src,
                                 int64_t src_bit)
{
    MOVE_ROWS(unweave_rows, unweave_bytes, flat_row_end(t), t->flat_row, spread_row_end(t), t->spread_row,
              td_weave_flat_end(t), td_weave_spread_end(t));
}

TD_WEAVE_KERNEL(weave, avx2)
{
    const uint64_t done = move_whole(t, true, dst, dst_bit, src, src_bit);
    td_weave rest = *t;
    rest.bits -= done;
    if (rest.bits)
        weave_any(&rest, dst, dst_bit + (int64_t)(done * t->stride), src, src_bit + (int64_t)done);
}

TD_WEAVE_KERNEL(unweave, avx2)
{
    const uint64_t done = move_whole(t, false, dst, dst_bit, src, src_bit);
    td_weave rest = *t;
    rest.bits -= done;
    if (rest.bits)
        unweave_any(&rest, dst, dst_bit + (int64_t)done, src, src_bit + (int64_t)(done * t->stride));
}

void td_weave_init_avx2(td_weave_kernels *kernels)
{
#define X(name, spreads) kernels->name = td_##name##_avx2;
    TD_WEAVE_KERNELS(X)
#undef X
}

#endif
