/* Kernels between elements in their containers (1, 2, 4 or 8 bytes, one after the other) and elements as a memory holds
 * them: packed without gaps from any bit, or each at the bottom of a cell of whole bytes. rows.c calls them; they refuse
 * nothing and know no layout.
 *
 * One line of the table makes a kernel's prototypes, its place in td_pack_kernels, its test and its bench.
 *
 *   pack    n elements of `bits` bits to bit `at` (0 .. 7) of `memory` and on; the other bits of the first and the last byte stay
 *   unpack  the other way; `sign` extends into the container
 *   put     n containers, of each only `bits` bits, to cells `stride` bytes apart; the rest of the container is cleared
 *   get     the other way */
#ifndef TD_KERNELS_PACK_H
#define TD_KERNELS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    bits of the container */
#define TD_PACK_KERNELS(X)                                                                                             \
    X(8)                                                                                                               \
    X(16)                                                                                                              \
    X(32)                                                                                                              \
    X(64)

typedef void (*td_pack_fn)(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits);
typedef void (*td_unpack_fn)(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits,
                             bool sign);
typedef void (*td_put_fn)(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t n, unsigned bits);
typedef void (*td_get_fn)(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t n, unsigned bits,
                          bool sign);

typedef struct td_pack_kernels {
#define X(size)                                                                                                        \
    td_pack_fn pack_x##size;                                                                                           \
    td_unpack_fn unpack_x##size;                                                                                       \
    td_put_fn put_x##size;                                                                                             \
    td_get_fn get_x##size;
    TD_PACK_KERNELS(X)
#undef X
} td_pack_kernels;

/* Fills every pointer with the best version that `cpu_flags` (cpu.h) allow. */
void td_pack_init(td_pack_kernels *kernels, unsigned cpu_flags);

/* The per-ISA parts of td_pack_init; they override what they have. */
void td_pack_init_avx2(td_pack_kernels *kernels);
void td_pack_init_avx512(td_pack_kernels *kernels);
void td_pack_init_neon(td_pack_kernels *kernels);

/* Plain C, for what versions leave to it. */
void td_pack_x8_c(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits);
void td_unpack_x8_c(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits, bool sign);

#endif
