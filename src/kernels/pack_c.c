/* The packing kernels in plain C: the rule that the other versions follow bit for bit. */
#include "kernels/pack.h"
#include "kernels/pack_stream.h"

#define X(size)                                                                                                        \
    TD_PACK_KERNEL(size, c)                                                                                            \
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
    TD_UNPACK_KERNEL(size, c)                                                                                          \
    {                                                                                                                  \
        const size_t safe = bits_safe(at, n, bits);                                                                    \
        uint64_t bit = at;                                                                                             \
        for (size_t i = 0; i < n; i++, bit += bits) {                                                                  \
            const uint64_t raw = i < safe ? bits_peek(memory, bit, bits) : td_get_bits(memory, (int64_t)bit, bits);    \
            const uint##size##_t value = (uint##size##_t)bits_extend(raw, bits, sign);                                 \
            memcpy(elems + i * sizeof value, &value, sizeof value);                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    TD_PUT_KERNEL(size, c)                                                                                             \
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
    TD_GET_KERNEL(size, c)                                                                                             \
    {                                                                                                                  \
        const uint##size##_t mask = (uint##size##_t)td_low_bits(bits),                                                 \
                             top = (uint##size##_t)(sign ? (uint64_t)1 << (bits - 1) : 0);                             \
        if (stride == (ptrdiff_t)sizeof mask)                                                                          \
            for (size_t i = 0; i < n; i++) {                                                                           \
                uint##size##_t value = 0;                                                                              \
                memcpy(&value, memory + i * sizeof value, sizeof value);                                               \
                value = (uint##size##_t)(((value & mask) ^ top) - top);                                                \
                memcpy(elems + i * sizeof value, &value, sizeof value);                                                \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++, memory += stride) {                                                         \
                uint##size##_t value = 0;                                                                              \
                memcpy(&value, memory, sizeof value);                                                                  \
                value = (uint##size##_t)(((value & mask) ^ top) - top);                                                \
                memcpy(elems + i * sizeof value, &value, sizeof value);                                                \
            }                                                                                                          \
    }
TD_PACK_KERNELS(X)
#undef X

void td_pack_init(td_pack_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(size)                                                                                                        \
    kernels->pack_x##size = td_pack_x##size##_c;                                                                       \
    kernels->unpack_x##size = td_unpack_x##size##_c;                                                                   \
    kernels->put_x##size = td_put_x##size##_c;                                                                         \
    kernels->get_x##size = td_get_x##size##_c;
    TD_PACK_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_pack_init_##isa(kernels);
    TD_PACK_ISAS(X)
#undef X
}
