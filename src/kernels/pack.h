/* Kernels between elements in their containers (1, 2, 4 or 8 bytes, one after the other) and elements as a memory holds
 * them: packed without gaps from any bit, or each at the bottom of a cell of whole bytes. exec/bit_rows.c calls them;
 * they refuse nothing and know no layout.
 *
 *   pack    n elements of `bits` bits to bit `at` (0 .. 7) of `memory` and on; other bits of those bytes stay
 *   unpack  the other way; `sign` extends into the container
 *   put     n containers, of each only `bits` bits, to cells `stride` bytes apart; the rest of the container is cleared
 *   get     the other way */
#ifndef TD_KERNELS_PACK_H
#define TD_KERNELS_PACK_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line makes the four kernels of a container: its bits. */
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

#define TD_PACK_KERNEL(container, isa)                                                                                 \
    void td_pack_x##container##_##isa(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n,        \
                                      unsigned bits)
#define TD_UNPACK_KERNEL(container, isa)                                                                               \
    void td_unpack_x##container##_##isa(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n,      \
                                        unsigned bits, bool sign)
#define TD_PUT_KERNEL(container, isa)                                                                                  \
    void td_put_x##container##_##isa(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t n,    \
                                     unsigned bits)
#define TD_GET_KERNEL(container, isa)                                                                                  \
    void td_get_x##container##_##isa(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t n,    \
                                     unsigned bits, bool sign)

typedef struct td_pack_kernels {
#define X(size)                                                                                                        \
    td_pack_fn pack_x##size;                                                                                           \
    td_unpack_fn unpack_x##size;                                                                                       \
    td_put_fn put_x##size;                                                                                             \
    td_get_fn get_x##size;
    TD_PACK_KERNELS(X)
#undef X
} td_pack_kernels;

#define X(size)                                                                                                        \
    TD_PROTOTYPES(TD_PACK_KERNEL, size)                                                                                \
    TD_PROTOTYPES(TD_UNPACK_KERNEL, size)                                                                              \
    TD_PROTOTYPES(TD_PUT_KERNEL, size)                                                                                 \
    TD_PROTOTYPES(TD_GET_KERNEL, size)
TD_PACK_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_pack_init(td_pack_kernels *kernels, unsigned cpu_flags);

#define TD_PACK_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X) TD_ISA_NEON(X)
#define X(isa, flag) void td_pack_init_##isa(td_pack_kernels *kernels);
TD_PACK_ISAS(X)
#undef X

#endif
