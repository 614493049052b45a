/* The versions of kernels/weave.h with the bit deposit and extract of BMI2, which every processor with AVX2 has. A
 * window of up to 64 spread bits is put together in a register and stored once. */
#include "kernels/bits.h"
#include "kernels/weave.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define FOR_BMI2 __attribute__((target("bmi2")))
#define FIELD_BITS 56 /* that eight bytes hold at any bit of the first */

/* One side of a call: eight bytes may be touched where they all lie before `end`. */
typedef struct side {
    const unsigned char *end;
} side;

static inline side side_of(const unsigned char *base, int64_t first_bit, int64_t last_bit)
{
    return (side){base + ((first_bit + last_bit) >> 3) + 1};
}

static inline uint64_t get(side s, const unsigned char *base, int64_t bit, unsigned bits)
{
    const unsigned char *p = base + (bit >> 3);
    if (p + 8 > s.end)
        return td_get_bits(base, bit, bits);
    uint64_t word = 0;
    memcpy(&word, p, 8);
    return word >> (bit & 7) & td_low_bits(bits);
}

/* The bits of `mask` from `bit` on become those of `value`, which has no others; shifted, `bits` fit in eight bytes. */
static inline void put(side s, unsigned char *base, int64_t bit, unsigned bits, uint64_t mask, uint64_t value)
{
    unsigned char *p = base + (bit >> 3);
    const unsigned shift = (unsigned)(bit & 7);
    uint64_t word = 0;
    if (p + 8 > s.end) {
        td_put_bits(base, bit, bits, (td_get_bits(base, bit, bits) & ~mask) | value);
        return;
    }
    if (mask != UINT64_MAX)
        memcpy(&word, p, 8);
    word = (word & ~(mask << shift)) | value << shift;
    memcpy(p, &word, 8);
}

/* Ones `stride` apart, the first at bit 0. */
static inline uint64_t comb(unsigned stride, unsigned count)
{
    uint64_t ones = 0;
    for (unsigned i = 0; i < count; i++)
        ones |= (uint64_t)1 << i * stride;
    return ones;
}

/* How many steps of the spread side a window has: all 64 bits where windows begin at whole bytes. */
static inline unsigned window_steps(const td_weave *t, int64_t spread_bit)
{
    const unsigned all = 64 / t->stride;
    const int aligned = spread_bit % 8 == 0 && t->spread_row % 8 == 0 && all * t->stride == 64;
    return t->stride == 1 ? FIELD_BITS : aligned ? all : FIELD_BITS / t->stride;
}

FOR_BMI2 TD_WEAVE_KERNEL(weave, avx2)
{
    const side in = side_of(src, src_bit, td_weave_flat_end(t)), out = side_of(dst, dst_bit, td_weave_spread_end(t));
    const unsigned most = window_steps(t, dst_bit);
    const uint64_t ones = comb(t->stride, most), owned = ones * td_low_bits(t->ways);
    for (uint64_t r = 0; r < t->rows; r++, dst_bit += t->spread_row, src_bit += t->flat_row)
        for (uint64_t i = 0; i < t->bits; i += most) {
            const unsigned n = (unsigned)(t->bits - i < most ? t->bits - i : most);
            uint64_t value = 0;
            for (unsigned j = 0; j < t->ways; j++)
                value |= _pdep_u64(get(in, src, src_bit + j * t->way + (int64_t)i, n), ones) << j;
            put(out, dst, dst_bit + (int64_t)(i * t->stride), (n - 1) * t->stride + t->ways,
                owned & td_low_bits(n * t->stride), value);
        }
}

FOR_BMI2 TD_WEAVE_KERNEL(unweave, avx2)
{
    const side in = side_of(src, src_bit, td_weave_spread_end(t)), out = side_of(dst, dst_bit, td_weave_flat_end(t));
    const unsigned most = window_steps(t, src_bit), field = FIELD_BITS / most * most;
    const uint64_t ones = comb(t->stride, most);
    for (uint64_t r = 0; r < t->rows; r++, dst_bit += t->flat_row, src_bit += t->spread_row)
        for (uint64_t at = 0; at < t->bits; at += field) {
            const unsigned bits = (unsigned)(t->bits - at < field ? t->bits - at : field);
            for (unsigned j = 0; j < t->ways; j++) {
                uint64_t value = 0;
                for (unsigned i = 0; i < bits; i += most) {
                    const unsigned n = bits - i < most ? bits - i : most;
                    const int64_t bit = src_bit + (int64_t)((at + i) * t->stride + j);
                    value |= _pext_u64(get(in, src, bit, (n - 1) * t->stride + 1), ones) << i;
                }
                put(out, dst, dst_bit + j * t->way + (int64_t)at, bits, td_low_bits(bits), value);
            }
        }
}

void td_weave_init_avx2(td_weave_kernels *kernels)
{
#define X(name, spreads) kernels->name = td_##name##_avx2;
    TD_WEAVE_KERNELS(X)
#undef X
}

#endif
