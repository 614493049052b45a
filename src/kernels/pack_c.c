/* The packing kernels in plain C: the rule that the other versions follow bit for bit. */
#include "base/cpu.h"
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#define X(size)                                                                                                        \
    static void pack_x##size(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits)  \
    {                                                                                                                  \
        const uint64_t mask = td_low_bits(bits);                                                                       \
        bit_writer w = bits_begin(memory, at);                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            uint##size##_t value = 0;                                                                                  \
            memcpy(&value, elems + i * sizeof value, sizeof value);                                                    \
            bits_push(&w, value &mask, bits);                                                                          \
        }                                                                                                              \
        bits_end(&w);                                                                                                  \
    }                                                                                                                  \
    static void unpack_x##size(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n,               \
                               unsigned bits, bool sign)                                                               \
    {                                                                                                                  \
        const size_t safe = bits_safe(at, n, bits);                                                                    \
        uint64_t bit = at;                                                                                             \
        for (size_t i = 0; i < n; i++, bit += bits) {                                                                  \
            const uint64_t raw = i < safe ? bits_peek(memory, bit, bits) : td_get_bits(memory, (int64_t)bit, bits);    \
            const uint##size##_t value = (uint##size##_t)bits_extend(raw, bits, sign);                                 \
            memcpy(elems + i * sizeof value, &value, sizeof value);                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void put_x##size(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t n,             \
                            unsigned bits)                                                                             \
    {                                                                                                                  \
        const uint##size##_t mask = (uint##size##_t)td_low_bits(bits);                                                 \
        if (stride == (ptrdiff_t)sizeof mask)                                                                          \
            for (size_t i = 0; i < n; i++) {                                                                           \
                uint##size##_t value = 0;                                                                              \
                memcpy(&value, elems + i * sizeof value, sizeof value);                                                \
                value &= mask;                                                                                         \
                memcpy(memory + i * sizeof value, &value, sizeof value);                                               \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++, memory += stride) {                                                         \
                uint##size##_t value = 0;                                                                              \
                memcpy(&value, elems + i * sizeof value, sizeof value);                                                \
                value &= mask;                                                                                         \
                memcpy(memory, &value, sizeof value);                                                                  \
            }                                                                                                          \
    }                                                                                                                  \
    static void get_x##size(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t n,             \
                            unsigned bits, bool sign)                                                                  \
    {                                                                                                                  \
        const uint##size##_t mask = (uint##size##_t)td_low_bits(bits),                                                 \
                             top = (uint##size##_t)(sign ? (uint64_t)1 << (bits - 1) : 0);                             \
        for (size_t i = 0; i < n; i++, memory += stride) {                                                             \
            uint##size##_t value = 0;                                                                                  \
            memcpy(&value, memory, sizeof value);                                                                      \
            value = (uint##size##_t)(((value & mask) ^ top) - top);                                                    \
            memcpy(elems + i * sizeof value, &value, sizeof value);                                                    \
        }                                                                                                              \
    }
TD_PACK_KERNELS(X)
#undef X

void td_pack_x8_c(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits)
{
    pack_x8(memory, at, elems, n, bits);
}

void td_unpack_x8_c(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits, bool sign)
{
    unpack_x8(elems, memory, at, n, bits, sign);
}

void td_pack_init(td_pack_kernels *kernels, unsigned cpu_flags)
{
#define X(size)                                                                                                        \
    kernels->pack_x##size = pack_x##size;                                                                              \
    kernels->unpack_x##size = unpack_x##size;                                                                          \
    kernels->put_x##size = put_x##size;                                                                                \
    kernels->get_x##size = get_x##size;
    TD_PACK_KERNELS(X)
#undef X
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX2)
        td_pack_init_avx2(kernels);
    if (cpu_flags & TD_CPU_AVX512)
        td_pack_init_avx512(kernels);
#elif defined(__aarch64__)
    if (cpu_flags & TD_CPU_NEON)
        td_pack_init_neon(kernels);
#else
    (void)cpu_flags;
#endif
}
