/* The kernels between containers and words in plain C: the rule that the other versions follow bit for bit. */
#include "kernels/bits.h"
#include "kernels/pack_words.h"

static inline uint64_t get_chunk(const unsigned char *unit, const td_word_code *code, uint32_t chunk)
{
    uint64_t value = 0;
    const uint32_t left = code->bytes - 8 * chunk;
    memcpy(&value, unit + 8 * (size_t)chunk, left < 8 ? left : 8);
    return value;
}

static inline void put_chunk(unsigned char *unit, const td_word_code *code, uint32_t chunk, uint64_t value)
{
    const uint32_t left = code->bytes - 8 * chunk;
    if (code->keep)
        value |= get_chunk(unit, code, chunk) & code->keep[chunk];
    memcpy(unit + 8 * (size_t)chunk, &value, left < 8 ? left : 8);
}

static inline size_t container_of(const td_word_code *code, uint32_t lane)
{
    return code->reversed ? code->lanes - 1 - lane : lane;
}

/* The word of a unit of one chunk whose lanes have equal steps. */
#define EVEN(size)                                                                                                     \
    static void pack_even_x##size(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,   \
                                  const td_word_code *code)                                                            \
    {                                                                                                                  \
        const uint##size##_t mask = (uint##size##_t)td_low_bits(code->bits);                                           \
        const unsigned slot = code->slot, first = code->first_bit;                                                     \
        const size_t lanes = code->lanes;                                                                              \
        const ptrdiff_t next = code->reversed ? -(ptrdiff_t)sizeof mask : (ptrdiff_t)sizeof mask;                      \
        for (size_t u = 0; u < units; u++, memory += stride, elems += lanes * sizeof mask) {                           \
            const unsigned char *from = code->reversed ? elems + (lanes - 1) * sizeof mask : elems;                    \
            uint64_t word = 0;                                                                                         \
            unsigned shift = first;                                                                                    \
            for (size_t i = 0; i < lanes; i++, from += next, shift += slot) {                                          \
                uint##size##_t value = 0;                                                                              \
                memcpy(&value, from, sizeof value);                                                                    \
                word |= (uint64_t)(value & mask) << shift;                                                             \
            }                                                                                                          \
            put_chunk(memory, code, 0, word);                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void unpack_even_x##size(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units, \
                                    const td_word_code *code)                                                          \
    {                                                                                                                  \
        const uint##size##_t mask = (uint##size##_t)td_low_bits(code->bits),                                           \
                             top = (uint##size##_t)(code->sign ? (uint64_t)1 << (code->bits - 1) : 0);                 \
        const unsigned slot = code->slot, first = code->first_bit;                                                     \
        const size_t lanes = code->lanes;                                                                              \
        const ptrdiff_t next = code->reversed ? -(ptrdiff_t)sizeof mask : (ptrdiff_t)sizeof mask;                      \
        for (size_t u = 0; u < units; u++, memory += stride, elems += lanes * sizeof mask) {                           \
            unsigned char *to = code->reversed ? elems + (lanes - 1) * sizeof mask : elems;                            \
            const uint64_t word = get_chunk(memory, code, 0);                                                          \
            unsigned shift = first;                                                                                    \
            for (size_t i = 0; i < lanes; i++, to += next, shift += slot) {                                            \
                const uint##size##_t value = (uint##size##_t)((((uint##size##_t)(word >> shift) & mask) ^ top) - top); \
                memcpy(to, &value, sizeof value);                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define INLINE static inline __attribute__((always_inline))
#include "kernels/pack_words_single.inc"

#define X(size)                                                                                                        \
    EVEN(size)                                                                                                         \
    TD_PACK_WORDS_KERNEL(size, c)                                                                                      \
    {                                                                                                                  \
        if (pack_single_x##size(memory, stride, elems, units, code))                                                   \
            return;                                                                                                    \
        if (code->even) {                                                                                              \
            pack_even_x##size(memory, stride, elems, units, code);                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        const td_word_part *const end = code->part + code->part_count;                                                 \
        for (size_t u = 0; u < units; u++, memory += stride, elems += code->lanes * (size_t)((size) / 8)) {            \
            const td_word_part *p = code->part;                                                                        \
            for (uint32_t chunk = 0; chunk < code->chunks; chunk++) {                                                  \
                uint64_t word = 0;                                                                                     \
                for (; p < end && p->chunk == chunk; p++) {                                                            \
                    uint##size##_t value = 0;                                                                          \
                    memcpy(&value, elems + container_of(code, p->lane) * sizeof value, sizeof value);                  \
                    word |= ((uint64_t)value >> p->elem_bit & td_low_bits(p->bits)) << p->shift;                       \
                }                                                                                                      \
                put_chunk(memory, code, chunk, word);                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    TD_UNPACK_WORDS_KERNEL(size, c)                                                                                    \
    {                                                                                                                  \
        if (unpack_single_x##size(elems, memory, stride, units, code))                                                 \
            return;                                                                                                    \
        if (code->even) {                                                                                              \
            unpack_even_x##size(elems, memory, stride, units, code);                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        const td_word_part *const end = code->part + code->part_count;                                                 \
        const uint64_t top = code->sign ? (uint64_t)1 << (code->bits - 1) : 0;                                         \
        for (size_t u = 0; u < units; u++, memory += stride, elems += code->lanes * (size_t)((size) / 8)) {            \
            const td_word_part *p = code->part;                                                                        \
            for (uint32_t lane = 0; lane < code->lanes; lane++) {                                                      \
                uint64_t raw = 0;                                                                                      \
                for (; p < end && p->lane == lane; p++)                                                                \
                    raw |= (get_chunk(memory, code, p->chunk) >> p->shift & td_low_bits(p->bits)) << p->elem_bit;      \
                const uint##size##_t value = (uint##size##_t)((raw ^ top) - top);                                      \
                memcpy(elems + container_of(code, lane) * sizeof value, &value, sizeof value);                         \
            }                                                                                                          \
        }                                                                                                              \
    }
TD_PACK_WORDS_KERNELS(X)
#undef X

void td_pack_words_init(td_pack_words_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(size)                                                                                                        \
    kernels->pack_words_x##size = td_pack_words_x##size##_c;                                                           \
    kernels->unpack_words_x##size = td_unpack_words_x##size##_c;
    TD_PACK_WORDS_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_pack_words_init_##isa(kernels);
    TD_PACK_WORDS_ISAS(X)
#undef X
}
