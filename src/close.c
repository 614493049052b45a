/* See close.h. Plain loops over arrays, for the compiler to make wide: once for every machine, once for AVX2 and once
 * for AVX-512. */
#include "close.h"

#include "cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* More than every rounding on the way, and what subnormal products may lose. */
#define MARGIN 1e-6
#define TINY 1e-36

#define INLINE static inline __attribute__((always_inline))

void td_close_init(const td_judge *judge, td_close *c)
{
    const td_policy *p = &judge->policy;
    const td_dtype d = judge->dtype;
    const bool is_float = d.kind == TD_KIND_FLOAT;
    c->judge = judge;
    c->cpu = td_cpu_flags();
    c->is_f32 = is_float && d.exp_bits == 8 && d.man_bits == 23;
    c->usable = p->tolerant && !p->ftz && !p->zero_differ && judge->bits_decide && p->atol < 1e30 && p->rtol < 1e30 &&
                (c->is_f32 || d.bytes <= 2) && !(is_float && d.flavor == TD_FLAVOR_SCALE);
    if (!c->usable)
        return;
    c->atol = p->has_real ? (float)(p->atol * (1 - MARGIN) - TINY) : -1;
    c->rtol = p->has_real ? (float)(p->rtol * (1 - MARGIN)) : 0;
    c->ulp = p->has_ulp ? (uint32_t)(p->ulp < UINT32_MAX ? p->ulp : UINT32_MAX) : 0;
    if (c->is_f32)
        return;
    const td_dtype f32 = {
        .kind = TD_KIND_FLOAT, .bits = 32, .exp_bits = 8, .bytes = 4, .man_bits = 23, .flavor = TD_FLAVOR_IEEE};
    const td_as as = {.dtype = d, .scale_f32 = 1, .scale_f64 = 1};
    c->usable = !td_convert_bind(&as, f32, TD_TO_TENSOR, NULL, &c->decode);
}

/* -0 and 0 are one place. */
INLINE void rank_f32(const unsigned char *bits, int32_t *rank, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int32_t x;
        memcpy(&x, bits + 4 * i, sizeof x);
        const int32_t sign = -(int32_t)((uint32_t)x >> 31);
        rank[i] = (x ^ (int32_t)((uint32_t)sign >> 1)) - sign;
    }
}

#define RANK_SMALL(type)                                                                                               \
    for (size_t i = 0; i < count; i++) {                                                                               \
        type x;                                                                                                        \
        memcpy(&x, bits + sizeof x * i, sizeof x);                                                                     \
        const int32_t value = (int32_t)(x & mask), negative = -(value >> shift & has_sign);                            \
        rank[i] = is_float ? ((value & magnitude) ^ negative) - negative : value - (negative & top);                   \
    }

INLINE void rank_small(const td_judge *j, const unsigned char *bits, int32_t *rank, size_t count)
{
    const bool is_float = j->dtype.kind == TD_KIND_FLOAT;
    const int32_t has_sign = j->dtype.kind != TD_KIND_UINT, shift = j->dtype.bits - 1,
                  top = (int32_t)1 << j->dtype.bits;
    const uint32_t mask = (uint32_t)j->mask;
    const int32_t magnitude = (int32_t)j->magnitude;
    if (j->dtype.bytes == 1)
        RANK_SMALL(uint8_t)
    else
        RANK_SMALL(uint16_t)
}

INLINE bool close_row(td_close *c, const unsigned char *expected, const unsigned char *actual, size_t count,
                      double *error, uint32_t *ulp)
{
    const float atol = c->atol, rtol = c->rtol;
    const uint32_t most = c->ulp; /* 0 without ulp=: equal values are near */
    if (c->is_f32) {
        memcpy(c->expected, expected, count * 4);
        memcpy(c->actual, actual, count * 4);
        rank_f32(expected, c->rank[0], count);
        rank_f32(actual, c->rank[1], count);
    } else {
        td_convert_run(&c->decode, c->expected, expected, count, 0, 1);
        td_convert_run(&c->decode, c->actual, actual, count, 0, 1);
        rank_small(c->judge, expected, c->rank[0], count);
        rank_small(c->judge, actual, c->rank[1], count);
    }
    for (size_t i = 0; i < count; i++)
        c->error[i] = fabsf(c->actual[i] - c->expected[i]);
    for (size_t i = 0; i < count; i++) {
        const int32_t r = c->rank[0][i], s = c->rank[1][i];
        const uint32_t up = (uint32_t)r - (uint32_t)s, mask = (uint32_t) - (int32_t)(s > r);
        c->steps[i] = (up ^ mask) - mask;
    }
    /* A NaN or an infinity is never accepted here: comparisons with it are false. */
    int32_t near = -1;
    for (size_t i = 0; i < count; i++)
        near &= -(int32_t)(c->error[i] <= atol + rtol * fabsf(c->expected[i])) |
                (-(int32_t)(c->steps[i] <= most) & -(int32_t)(c->error[i] <= FLT_MAX));
    /* Errors are not negative, so their bits are in the order of their values. */
    int32_t worst = 0, worst_steps = INT32_MIN;
    for (size_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &c->error[i], sizeof bits);
        worst = bits > worst ? bits : worst;
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t steps = (int32_t)(c->steps[i] ^ 0x80000000u);
        worst_steps = steps > worst_steps ? steps : worst_steps;
    }
    float largest = 0;
    memcpy(&largest, &worst, sizeof largest);
    *error = (double)largest * (1 + MARGIN);
    *ulp = (uint32_t)worst_steps ^ 0x80000000u;
    return near != 0;
}

static bool close_row_c(td_close *c, const unsigned char *expected, const unsigned char *actual, size_t count,
                        double *error, uint32_t *ulp)
{
    return close_row(c, expected, actual, count, error, ulp);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool close_row_avx2(td_close *c, const unsigned char *expected,
                                                           const unsigned char *actual, size_t count, double *error,
                                                           uint32_t *ulp)
{
    return close_row(c, expected, actual, count, error, ulp);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static bool
close_row_avx512(td_close *c, const unsigned char *expected, const unsigned char *actual, size_t count, double *error,
                 uint32_t *ulp)
{
    return close_row(c, expected, actual, count, error, ulp);
}
#endif

bool td_close_row(td_close *c, const unsigned char *expected, const unsigned char *actual, size_t count, double *error,
                  uint32_t *ulp)
{
#if defined(__x86_64__)
    if (c->cpu & TD_CPU_AVX512)
        return close_row_avx512(c, expected, actual, count, error, ulp);
    if (c->cpu & TD_CPU_AVX2)
        return close_row_avx2(c, expected, actual, count, error, ulp);
#endif
    return close_row_c(c, expected, actual, count, error, ulp);
}
