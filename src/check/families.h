/* The table of families. neon.sh builds a part of them for another processor and defines the list itself. */
#ifndef TD_CHECK_FAMILIES_H
#define TD_CHECK_FAMILIES_H

#include "check/check.h"

#ifndef TD_CHECK_FAMILIES
#define TD_CHECK_FAMILIES(X)                                                                                           \
    X(agree)                                                                                                           \
    X(arith)                                                                                                           \
    X(block)                                                                                                           \
    X(cast)                                                                                                            \
    X(chain)                                                                                                           \
    X(code)                                                                                                            \
    X(convert)                                                                                                         \
    X(equal)                                                                                                           \
    X(gather)                                                                                                          \
    X(keep)                                                                                                            \
    X(move)                                                                                                            \
    X(pack)                                                                                                            \
    X(pack_words)                                                                                                      \
    X(pad)                                                                                                             \
    X(pairs)                                                                                                           \
    X(pick)                                                                                                            \
    X(quant)                                                                                                           \
    X(shuffle)                                                                                                         \
    X(slice)                                                                                                           \
    X(tolerance)                                                                                                       \
    X(weave)
#endif

#define X(family) extern const td_check_family td_check_##family;
TD_CHECK_FAMILIES(X)
#undef X

extern const td_check_family *const td_check_families[];
extern const size_t td_check_family_count;

#endif
