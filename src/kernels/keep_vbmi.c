/* The kernels of sparse tensors for AVX-512 VBMI, whose masks close up and spread out lanes of any size. Where fewer
 * elements are left than a vector holds, or fewer have room, masks on loads and stores keep within them. */
#include "kernels/keep.h"
#include "kernels/prefetch.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#include "kernels/lanes_vbmi.inc"

/* Of the set, the bits of the elements from a byte on: of a whole vector, or of fewer. */
INLINE uint64_t set_of(const unsigned char *set, size_t n)
{
    uint64_t some = 0;
    memcpy(&some, set, (n + 7) / 8);
    return some;
}

#define LANES(size) ((size_t)512 / (size))

#define BITS(size)                                                                                                     \
    TARGET static size_t bits_##size(unsigned char *set, const unsigned char *src, size_t n, uint64_t own)             \
    {                                                                                                                  \
        const __m512i mask = spread_own(own, (size) / 8);                                                              \
        size_t count = 0;                                                                                              \
        for (; n >= 64; n -= 64, set += 8) {                                                                           \
            uint64_t some = 0;                                                                                         \
            for (size_t i = 0; i < 64; i += LANES(size), src += 64)                                                    \
                some |= (uint64_t)TEST(size, _mm512_loadu_si512(src), mask) << i;                                      \
            memcpy(set, &some, sizeof some);                                                                           \
            count += (size_t)__builtin_popcountll(some);                                                               \
        }                                                                                                              \
        for (size_t here; n; n -= here, set += LANES(size) / 8, src += 64) {                                           \
            here = n < LANES(size) ? n : LANES(size);                                                                  \
            const uint64_t some = TEST(size, LOAD(size, low_bits(here), src), mask);                                   \
            memcpy(set, &some, (here + 7) / 8);                                                                        \
            count += (size_t)__builtin_popcountll(some);                                                               \
        }                                                                                                              \
        return count;                                                                                                  \
    }

#define KEEP(size)                                                                                                     \
    TARGET static size_t keep_##size(unsigned char *dst, size_t room, const unsigned char *src,                        \
                                     const unsigned char *set, size_t n)                                               \
    {                                                                                                                  \
        size_t left = room;                                                                                            \
        for (; n >= LANES(size) && left >= LANES(size); n -= LANES(size), set += LANES(size) / 8, src += 64) {         \
            const uint64_t some = set_of(set, LANES(size));                                                            \
            const size_t kept = (size_t)__builtin_popcountll(some);                                                    \
            _mm512_storeu_si512(dst, CLOSE(size, some, _mm512_loadu_si512(src)));                                      \
            dst += kept * ((size) / 8);                                                                                \
            left -= kept;                                                                                              \
        }                                                                                                              \
        for (size_t here; n && left; n -= here, set += LANES(size) / 8, src += 64) {                                   \
            here = n < LANES(size) ? n : LANES(size);                                                                  \
            const uint64_t some = set_of(set, here);                                                                   \
            const size_t all = (size_t)__builtin_popcountll(some), kept = all < left ? all : left;                     \
            STORE(size, dst, low_bits(kept), CLOSE(size, some, LOAD(size, low_bits(here), src)));                      \
            dst += kept * ((size) / 8);                                                                                \
            left -= kept;                                                                                              \
        }                                                                                                              \
        return room - left;                                                                                            \
    }

/* What is read goes on by uneven steps across lines, which the processor's own prefetching does not follow. */
#define SPREAD(size)                                                                                                   \
    TARGET static size_t spread_##size(unsigned char *dst, const unsigned char *src, size_t room,                      \
                                       const unsigned char *set, size_t n)                                             \
    {                                                                                                                  \
        size_t left = room;                                                                                            \
        for (; n >= LANES(size) && left >= LANES(size); n -= LANES(size), set += LANES(size) / 8, dst += 64) {         \
            const uint64_t some = set_of(set, LANES(size));                                                            \
            const size_t taken = (size_t)__builtin_popcountll(some);                                                   \
            __builtin_prefetch(src + TD_PREFETCH_BYTES, 0, 3);                                                         \
            _mm512_storeu_si512(dst, OPEN(size, some, _mm512_loadu_si512(src)));                                       \
            src += taken * ((size) / 8);                                                                               \
            left -= taken;                                                                                             \
        }                                                                                                              \
        for (size_t here; n; n -= here, set += LANES(size) / 8, dst += 64) {                                           \
            here = n < LANES(size) ? n : LANES(size);                                                                  \
            const uint64_t some = set_of(set, here);                                                                   \
            const size_t all = (size_t)__builtin_popcountll(some), taken = all < left ? all : left;                    \
            STORE(size, dst, low_bits(here), OPEN(size, some, LOAD(size, low_bits(taken), src)));                      \
            src += taken * ((size) / 8);                                                                               \
            left -= taken;                                                                                             \
        }                                                                                                              \
        return room - left;                                                                                            \
    }

#define ALL_OF(size) BITS(size) KEEP(size) SPREAD(size)
ALL_OF(8)
ALL_OF(16)
ALL_OF(32)
ALL_OF(64)

#define CALL_BITS(size, ...) bits_##size(__VA_ARGS__)
#define CALL_KEEP(size, ...) keep_##size(__VA_ARGS__)
#define CALL_SPREAD(size, ...) spread_##size(__VA_ARGS__)

TARGET static size_t bits_vbmi(unsigned char *set, const void *src, size_t n, unsigned bytes,
                               uint64_t own){SIZES(CALL_BITS, return, set, src, n, own)}

TARGET static size_t keep_vbmi(void *dst, size_t room, const void *src, const unsigned char *set, size_t n,
                               unsigned bytes){SIZES(CALL_KEEP, return, dst, room, src, set, n)}

TARGET static size_t
    spread_vbmi(void *dst, const void *src, size_t room, const unsigned char *set, size_t n, unsigned bytes)
{
    SIZES(CALL_SPREAD, return, dst, src, room, set, n)
}

void td_keep_init_vbmi(td_keep_kernels *kernels)
{
    kernels->bits = bits_vbmi;
    kernels->keep = keep_vbmi;
    kernels->spread = spread_vbmi;
}
