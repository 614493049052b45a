/* Kernels between elements in their containers (1, 2, 4 or 8 bytes, one after the other) and whole words in which each
 * element has a place of its own: slots with gaps, words narrower than their storage, elements cut in two by the end of
 * a beat. plan/stage_code.c compiles the places of one unit (a word, or the words of a vector) into a td_word_code; the
 * kernels run it over many units. exec/run_staged.c calls them; they refuse nothing and know no layout. Nothing outside
 * the units and the containers is read or written.
 *
 *   pack_words    `units` times code->lanes containers to units `stride` bytes apart, in this order. The bits that no
 *                 element has are taken from code->keep: kept where it is set, else 0
 *   unpack_words  the other way; code->sign extends into the container. Bits that no part has are 0 */
#ifndef TD_KERNELS_PACK_WORDS_H
#define TD_KERNELS_PACK_WORDS_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of one element that lie in one chunk: eight bytes of the unit. */
typedef struct td_word_part {
    uint32_t lane; /* in the order of the memory */
    uint32_t chunk;
    uint8_t shift; /* the lowest bit in the chunk */
    uint8_t elem_bit, bits;
} td_word_part;

/* The same for eight bytes of containers at once (a group): the bits `take` of the group are the bits `put` of the
 * chunk. Every group and every chunk has a step, if one without bits. */
typedef struct td_word_step {
    uint32_t group, chunk;
    uint64_t take, put;
    uint32_t elem_at; /* bytes from the unit's first container to the eight of the group */
    uint32_t
        load_at;   /* bytes from the unit's first to the eight that hold the chunk; 0 for a unit of less than eight */
    uint64_t pull; /* put, as those eight bytes have it */
    uint8_t elem_shift; /* reversed: bits of the eight that are no containers of the group */
} td_word_step;

/* For vectors of 16 bytes, of which 0x80 is no byte: the same, and back by sixteen bits for every container, which are
 * the two bytes that hold it and a factor that moves it up to the higher. */
typedef struct td_word_halves {
    uint8_t units; /* 0: a unit is too long */
    uint8_t elem_of[16], room_of_word[16];
    uint8_t bytes_of[2][16];
    uint16_t factor[2][8];
} td_word_halves;

/* For vectors of 64 bytes: even units of containers of one byte. A unit has `room` bytes of a vector, one for each
 * lane, and `units` of them are in a vector. */
typedef struct td_word_vectors {
    uint8_t room; /* 1, 2, 4 .. 64 */
    uint8_t units;
    uint8_t levels;                        /* pairs, fours and eights of lanes that are joined */
    uint64_t lane_mask, word_mask;         /* bytes of a vector that hold a lane, and a byte of the unit's word */
    uint8_t elem_of[64], room_of_elem[64]; /* the container of a byte, and the byte of a container */
    uint8_t word_of[64], room_of_word[64]; /* the byte of the words at a byte, and the reverse */
    uint8_t bit_of[64];                    /* the lowest bit of a lane in its eight bytes of words */
    uint64_t shift[8];                     /* of the lanes that are joined in eight bytes */
    uint64_t kept[8];                      /* td_word_code.keep for the bytes of words */
    bool packs;                            /* slots of more than 8 bits are only unpacked */
    td_word_halves half;
} td_word_vectors;

/* For vectors of 64 bytes and any unit: bytes that are each put together from a few bits, from anywhere in the 128
 * bytes that an output reads. A term gives every eight bytes of the output any eight bytes of the source, and every
 * byte of them the eight bits from bit `bit` on, of which it adds those of `mask`. */
typedef struct td_word_term {
    uint8_t from[64], bit[64], mask[64];
} td_word_term;

typedef struct td_word_output {
    uint32_t src, dst; /* bytes from the first of the units */
    uint8_t bytes;     /* that it writes */
    bool wide;         /* it reads more than 64 */
    uint32_t terms;
    uint8_t kept[64]; /* td_word_code.keep for its bytes */
} td_word_output;

typedef struct td_word_list {
    uint32_t units; /* that are done at once */
    uint32_t outputs;
    td_word_output *output;
    td_word_term *term; /* of one output after another */
} td_word_list;

typedef struct td_word_code {
    uint8_t size;        /* bytes of a container */
    uint8_t bits;        /* of an element */
    bool sign, reversed; /* reversed: the containers of a unit are in the opposite order, the highest lane first */
    bool even;           /* one chunk, all elements whole, lane i from bit first_bit + i * slot on */
    uint8_t first_bit, slot;
    uint32_t lanes, bytes, chunks; /* of a unit */
    uint32_t part_count, step_count;
    td_word_part *part;            /* by lane, and by place */
    td_word_step *step;            /* by group, and by chunk */
    uint64_t *keep;                /* per chunk; NULL: nothing is kept */
    td_word_vectors *vectors;      /* NULL: none */
    td_word_list *packs, *unpacks; /* NULL: none, or steps are faster */
} td_word_code;

/* One line makes the two kernels of a container: its bits. */
#define TD_PACK_WORDS_KERNELS(X)                                                                                       \
    X(8)                                                                                                               \
    X(16)                                                                                                              \
    X(32)                                                                                                              \
    X(64)

typedef void (*td_pack_words_fn)(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,
                                 const td_word_code *code);
typedef void (*td_unpack_words_fn)(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                                   const td_word_code *code);

#define TD_PACK_WORDS_KERNEL(container, isa)                                                                           \
    void td_pack_words_x##container##_##isa(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems,       \
                                            size_t units, const td_word_code *code)
#define TD_UNPACK_WORDS_KERNEL(container, isa)                                                                         \
    void td_unpack_words_x##container##_##isa(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride,     \
                                              size_t units, const td_word_code *code)

typedef struct td_pack_words_kernels {
#define X(size)                                                                                                        \
    td_pack_words_fn pack_words_x##size;                                                                               \
    td_unpack_words_fn unpack_words_x##size;
    TD_PACK_WORDS_KERNELS(X)
#undef X
} td_pack_words_kernels;

#define X(size)                                                                                                        \
    TD_PROTOTYPES(TD_PACK_WORDS_KERNEL, size)                                                                          \
    TD_PROTOTYPES(TD_UNPACK_WORDS_KERNEL, size)
TD_PACK_WORDS_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_pack_words_init(td_pack_words_kernels *kernels, unsigned cpu_flags);

#define TD_PACK_WORDS_ISAS(X) TD_ISA_AVX2(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_pack_words_init_##isa(td_pack_words_kernels *kernels);
TD_PACK_WORDS_ISAS(X)
#undef X

#endif
