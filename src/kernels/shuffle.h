/* Kernels that move short blocks whose bytes change places: few lanes into words or out of them, lanes from the top,
 * slots, small tiles, axes that change places within a few bytes. plan/choose_shuffle.c describes a block by its loops,
 * td_shuffle_prepare lists the vectors of its output and from where their bytes come, exec runs the list.
 *
 *   shuffle   for u < units, for every step of the loops:
 *             `size` bytes from src + src_first + u * src_unit + (steps * src) to dst + dst_first + u * dst_unit + ...
 *
 * A vector of the output is a sum of terms: each loads a window of the source and says which of its bytes goes where.
 * Nothing outside the named bytes is written, but for gaps between them that the vector version of AVX2 writes back as
 * they were; nothing outside the span of what is named is read. Units fewer than a list takes at once, which only the
 * last call of a row has, go one by one; else the last list again covers some units of the one before.
 *
 * Where no vectors are worth it, the places of a unit's elements are a list too (td_shuffle_by_places): one load and
 * one store for each, whatever the layout is. */
#ifndef TD_KERNELS_SHUFFLE_H
#define TD_KERNELS_SHUFFLE_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name         bytes of a vector */
#define TD_SHUFFLE_KERNELS(X)                                                                                          \
    X(shuffle_x128, 16)                                                                                                \
    X(shuffle_x512, 64)

#define TD_SHUFFLE_LOOPS 8
#define TD_SHUFFLE_ELEMS 256  /* of a unit */
#define TD_SHUFFLE_BYTES 1024 /* that a list moves at most */
#define TD_SHUFFLE_OUTPUTS 64
#define TD_SHUFFLE_TERMS 128
#define TD_SHUFFLE_FEW 4 /* outputs, whose terms vectors of 64 bytes keep in registers from list to list */

typedef struct td_shuffle_loop {
    uint64_t extent;
    ptrdiff_t dst, src; /* dst ascends from one loop to the next, and is never negative */
} td_shuffle_loop;

typedef struct td_shuffle_output {
    ptrdiff_t dst;
    uint64_t mask;                  /* bytes that are written */
    uint16_t first, terms, windows; /* windows: of 64 bytes, two for each term but for the last where they are odd */
} td_shuffle_output;

typedef struct td_shuffle td_shuffle;
typedef void (*td_shuffle_fn)(const td_shuffle *s, unsigned char *dst, const unsigned char *src, size_t units,
                              bool stream);

#define TD_SHUFFLE_KERNEL(name, isa)                                                                                   \
    void td_##name##_##isa(const td_shuffle *s, unsigned char *dst, const unsigned char *src, size_t units, bool stream)

struct td_shuffle {
    td_shuffle_fn fn;
    /* What is moved. */
    uint8_t size, loops, unit; /* unit: the loop whose steps are the units, of which there are loop[unit].extent */
    bool may_fill;             /* no other step of the move writes into the gaps between what one list writes */
    bool transposes;           /* a transpose could move it as well */
    ptrdiff_t dst_first, src_first;
    td_shuffle_loop loop[TD_SHUFFLE_LOOPS];
    /* One unit, element by element. */
    uint16_t elems;
    ptrdiff_t dst_at[TD_SHUFFLE_ELEMS], src_at[TD_SHUFFLE_ELEMS];
    /* Both NULL, or in two steps: what lies far apart in the source is brought together, and taken from there. They are
     * the list's own, and a copy takes them over. */
    td_shuffle *dense, *spread;
    /* The list. */
    uint16_t at_once, outputs, terms; /* at_once: units */
    bool whole;                       /* every output is a whole vector */
    bool lines;                       /* and a whole line, where dst begins on one */
    td_shuffle_output output[TD_SHUFFLE_OUTPUTS];
    ptrdiff_t from[TD_SHUFFLE_TERMS], second[TD_SHUFFLE_TERMS];
    /* For each byte of the output the byte of the window: with vectors of 16 bytes, 0x80 where it comes from another
     * term. A term of 64 bytes has two windows, at `from` and at `second`: 64 is added for a byte of the second, and
     * 0x80 where it comes from this term at all. So instructions read it. */
    _Alignas(64) uint8_t pick[TD_SHUFFLE_TERMS][64];
};

typedef struct td_shuffle_kernels {
#define X(name, vector) td_shuffle_fn name;
    TD_SHUFFLE_KERNELS(X)
#undef X
} td_shuffle_kernels;

#define X(name, vector) TD_PROTOTYPES(TD_SHUFFLE_KERNEL, name)
TD_SHUFFLE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_shuffle_init(td_shuffle_kernels *kernels, unsigned cpu_flags);

#define TD_SHUFFLE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_shuffle_init_##isa(td_shuffle_kernels *kernels);
TD_SHUFFLE_ISAS(X)
#undef X

/* Given what is moved: lists the elements of a unit. False where there are too many. */
bool td_shuffle_list_unit(td_shuffle *s);

/* Given that: the list for vectors of so many bytes. False where it would be too long, or slower than the other ways to
 * move the same. */
bool td_shuffle_list(td_shuffle *s, unsigned vector);

/* Given what is moved, its elements, and with `listed` a list for vectors of 64 bytes: two steps by that kernel, where
 * they are less work (shuffle_steps.c). td_shuffle_drop frees them where no copy has taken them over. */
bool td_shuffle_in_two(td_shuffle *s, td_shuffle_fn fn, bool listed);
void td_shuffle_drop(td_shuffle *s);
TD_SHUFFLE_KERNEL(shuffle_in_two, c);

/* Given what is moved: both, and the best kernel that `cpu_flags` allow. False where that is plain C. */
bool td_shuffle_prepare(td_shuffle *s, unsigned cpu_flags);

/* The same without vectors: the elements of many short axes one by one, but without loops around each. The steps of
 * the units are the innermost loop, so that one should be long. False where a unit has too many elements. */
bool td_shuffle_by_places(td_shuffle *s);
TD_SHUFFLE_KERNEL(shuffle_places, c);

/* Units one by one: by places, and for what is left over. */
void td_shuffle_units(const td_shuffle *s, unsigned char *dst, const unsigned char *src, size_t units);

/* A plan keeps these in memory of their own alignment; free with td_shuffle_free. NULL: no memory. */
td_shuffle *td_shuffle_copy(const td_shuffle *s);
void td_shuffle_free(td_shuffle *s);

#endif
