/* The one mechanism of the kernels. A family (arith, chain, move, pick, shuffle, pack, equal, agree, tolerance,
 * convert, cast, code, block, keep, pairs, quant, slice, weave) is
 *
 *   a table in its header, TD_MOVE_KERNELS(X): one line per kernel, from which the prototypes, the struct of function
 *   pointers (td_move_kernels), the tests and the benches are made;
 *   td_move_init, which fills the struct with plain C first (move_c.c) and then calls the part of every instruction set
 *   that the flags of base/cpu.h allow, the best last (td_move_init_avx2 in move_avx2.c): a part overrides what it has;
 *   one file per instruction set, of which src/meson.build compiles those of the host's processor.
 *
 * A kernel is named td_<op>_<elements>_<isa>, as td_transpose_x32_avx512. */
#ifndef TD_KERNELS_ISA_H
#define TD_KERNELS_ISA_H

#include "base/cpu.h"

/* What stands for one processor alone. */
#if defined(__x86_64__)
#define TD_ON_X86_64(...) __VA_ARGS__
#else
#define TD_ON_X86_64(...)
#endif
#if defined(__aarch64__)
#define TD_ON_AARCH64(...) __VA_ARGS__
#else
#define TD_ON_AARCH64(...)
#endif

/* The instruction sets beside plain C, by the flag that each needs. A family lists those that it has parts for. */
#define TD_ISA_AVX2(X) TD_ON_X86_64(X(avx2, TD_CPU_AVX2))
#define TD_ISA_AVX512(X) TD_ON_X86_64(X(avx512, TD_CPU_AVX512))
#define TD_ISA_VBMI(X) TD_ON_X86_64(X(vbmi, TD_CPU_VBMI))
#define TD_ISA_GFNI(X) TD_ON_X86_64(X(gfni, TD_CPU_GFNI))
#define TD_ISA_NEON(X) TD_ON_AARCH64(X(neon, TD_CPU_NEON))
#define TD_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X) TD_ISA_GFNI(X) TD_ISA_NEON(X)

/* The prototypes of one kernel; `head` is the family's, as TD_MOVE_KERNEL. A file defines those that it has. */
#define TD_PROTOTYPES(head, name)                                                                                      \
    head(name, c);                                                                                                     \
    TD_ON_X86_64(head(name, avx2); head(name, avx512); head(name, vbmi); head(name, gfni);)                            \
    TD_ON_AARCH64(head(name, neon);)

#endif
