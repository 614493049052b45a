/* Kernels that move words between consecutive runs of a tensor and places that a table names. exec/gather.c calls
 * them; they refuse nothing and know no layout. Nothing outside the named runs is read or written.
 *
 *   scatter    place(i)[0 .. bytes) = elems + i * elem_step      for i < count
 *   gather     the other way
 *
 * where place(i) = bank[e >> bank_shift] + (e & mask) * word_bytes + offset + i * offset_step, e = entry[i *
 * entry_step]. Entries have 2, 4 or 8 bytes. `far`: the places are not in the caches, so they are prefetched.
 *
 * Where a table moves words within lines, as an XOR of an index does, td_lines says so beside the entries: a line of
 * elements is then one shuffle of bytes and a store or two. Kernels that do not know lines go by the entries. */
#ifndef TD_KERNELS_GATHER_H
#define TD_KERNELS_GATHER_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_GATHER_KERNELS(X)                                                                                           \
    X(scatter)                                                                                                         \
    X(gather)

#define TD_LINE 64       /* bytes */
#define TD_LINE_PIECES 8 /* most of a line */
#define TD_NO_LINE 255   /* as a pattern: the entries of this line are in no order */

/* How the words of a line lie in memory: in pieces, each of which is some consecutive words. */
typedef struct td_line_pattern {
    uint8_t put[TD_LINE];          /* byte i of the pieces, one after another, is byte put[i] of the elements */
    uint8_t take[TD_LINE];         /* and the other way */
    uint64_t mask[TD_LINE_PIECES]; /* the bytes of each piece */
    uint8_t first[TD_LINE_PIECES]; /* the word at which it begins */
    uint8_t pieces;
} td_line_pattern;

/* Of every TD_LINE / word_bytes entries of a table, from its first on. */
typedef struct td_lines {
    size_t word_bytes, count, pieces; /* pieces: room of each line */
    const uint8_t *pattern;           /* of each line: its number, or TD_NO_LINE */
    const uint64_t *entry;            /* of the first word of each piece of each line */
    const td_line_pattern *patterns;
} td_lines;

typedef struct td_gather {
    unsigned char *elems;       /* a scatter only reads them */
    ptrdiff_t elem_step;        /* bytes */
    unsigned char *const *bank; /* NULL: entries are addresses, of 8 bytes */
    bool one_bank;              /* bank[0] has every place */
    uint32_t banks;             /* how many there are; 0: it is not known */
    bool far;
    uint8_t entry_bytes, bank_shift;
    const void *entry; /* of i = 0 */
    ptrdiff_t entry_step;
    size_t word_bytes;
    ptrdiff_t offset, offset_step; /* bytes */
    size_t bytes, count;
    const td_lines *lines; /* of the table, or NULL */
    size_t entry_at;       /* the number of the first entry in the table, for them */
} td_gather;

typedef void (*td_gather_fn)(const td_gather *g);

#define TD_GATHER_KERNEL(name, isa) void td_##name##_##isa(const td_gather *g)

typedef struct td_gather_kernels {
#define X(name) td_gather_fn name;
    TD_GATHER_KERNELS(X)
#undef X
} td_gather_kernels;

#define X(name) TD_PROTOTYPES(TD_GATHER_KERNEL, name)
TD_GATHER_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_gather_init(td_gather_kernels *kernels, unsigned cpu_flags);

#define TD_GATHER_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_gather_init_##isa(td_gather_kernels *kernels);
TD_GATHER_ISAS(X)
#undef X

#endif
