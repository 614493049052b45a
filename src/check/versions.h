/* The versions that this machine can run: plain C, and every instruction set of kernels/isa.h with those below it. The
 * checks walk them for every line of their family's table, so that no kernel exists untested; with --bench they time
 * them in the same way. */
#ifndef TD_CHECK_VERSIONS_H
#define TD_CHECK_VERSIONS_H

#include "base/clock.h"
#include "kernels/isa.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct version {
    const char *isa; /* NULL ends the list */
    unsigned flags;
} version;

static inline const version *all_versions(void)
{
    static version list[7];
    size_t count = 0;
    unsigned flags = TD_CPU_C;
    list[count++] = (version){"c", flags};
#define X(isa, flag)                                                                                                   \
    flags |= (flag);                                                                                                   \
    if ((td_cpu_flags() & flags) == flags)                                                                             \
        list[count++] = (version){#isa, flags};
    TD_ISAS(X)
#undef X
    list[count] = (version){NULL, 0};
    return list;
}

/* Calls check(&(kernel){name, isa, ..., function}) for every version of one kernel that is not the one before again. */
#define CHECK_VERSIONS(family, check, member, ...)                                                                     \
    do {                                                                                                               \
        td_##family##_kernels k_;                                                                                      \
        td_##family##_init(&k_, TD_CPU_C);                                                                             \
        check(&(kernel){#member, "c", __VA_ARGS__, k_.member});                                                        \
        for (const version *v_ = all_versions() + 1; v_->isa; v_++) {                                                  \
            const kernel before_ = {#member, "", __VA_ARGS__, k_.member};                                              \
            td_##family##_init(&k_, v_->flags);                                                                        \
            if (k_.member != before_.fn)                                                                               \
                check(&(kernel){#member, v_->isa, __VA_ARGS__, k_.member});                                            \
        }                                                                                                              \
    } while (0)

/* Prints the time of memcpy of so many bytes by that of run(k), in turns; the fastest of the rounds counts. */
#define BENCH(run, k, dst, src, bytes)                                                                                 \
    do {                                                                                                               \
        uint64_t best_ = UINT64_MAX, best_copy_ = UINT64_MAX;                                                          \
        for (int round_ = 0; round_ < 31; round_++) {                                                                  \
            const uint64_t start_ = td_now_ns();                                                                       \
            run(k);                                                                                                    \
            const uint64_t middle_ = td_now_ns();                                                                      \
            memcpy(dst, src, bytes);                                                                                   \
            const uint64_t end_ = td_now_ns();                                                                         \
            best_ = middle_ - start_ < best_ ? middle_ - start_ : best_;                                               \
            best_copy_ = end_ - middle_ < best_copy_ ? end_ - middle_ : best_copy_;                                    \
        }                                                                                                              \
        printf("%s_%s %.3f\n", (k)->name, (k)->isa, (double)best_copy_ / (double)best_);                               \
    } while (0)

#endif
