/* The checks of the kernels: every line of every family's table, in every version that this machine runs, against its
 * rule or against plain C, on edges and on random data. One file per family. tests/kernels runs them as tests, and
 * `tensordoor bench --validate` before it trusts a time. The words for what must hold are those of cmocka, as the tests
 * have them; here a check that does not hold jumps back to td_check_run, which says why. */
#ifndef TD_CHECK_CHECK_H
#define TD_CHECK_CHECK_H

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct td_check {
    const char *name;
    void (*run)(void **state);
} td_check;

typedef void (*td_check_kernel)(void); /* any kernel, to be told from another one */

typedef struct td_check_family {
    const char *name;
    const td_check *checks;
    size_t count;
    int (*begin)(void **state), (*end)(void **state); /* around all checks; may be NULL, 0 is success */
    int (*bench)(int argc, char **argv);              /* times the same table; may be NULL */
    /* Copies the kernels of these flags, in the order of the table, and returns how many there are. */
    size_t (*kernels)(unsigned flags, td_check_kernel *out);
} td_check_family;

#define TD_CHECK_MOST_KERNELS 256

#define TD_CHECK(f)                                                                                                    \
    {                                                                                                                  \
#f, f                                                                                                          \
    }

/* The end of a family's file: its struct of kernels is nothing but pointers to functions. */
#define TD_CHECK_FAMILY(family, list, begin_, end_, bench_)                                                            \
    static size_t list_kernels(unsigned flags, td_check_kernel *out)                                                   \
    {                                                                                                                  \
        td_##family##_kernels k;                                                                                       \
        td_##family##_init(&k, flags);                                                                                 \
        memcpy(out, &k, sizeof k);                                                                                     \
        return sizeof k / sizeof *out;                                                                                 \
    }                                                                                                                  \
    _Static_assert(sizeof(td_##family##_kernels) <= TD_CHECK_MOST_KERNELS * sizeof(td_check_kernel), "too many");      \
    extern const td_check_family td_check_##family;                                                                    \
    const td_check_family td_check_##family = {#family, list,        sizeof(list) / sizeof(list)[0], begin_, end_,     \
                                               bench_,  list_kernels}

/* Other random data for another seed; 0, the default, always gives the same. */
extern uint64_t td_check_seed;
extern bool td_check_thorough; /* where a check draws some of its cases it takes all */

static inline uint32_t td_check_salt(void)
{
    return td_check_seed ? (uint32_t)td_random_at(td_check_seed, 0) : 0;
}

/* Runs one check; false with the reason. */
bool td_check_run(const td_check *check, void **state, char *why, size_t size);
_Noreturn void td_check_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Every check of the families whose name, "kernels/NAME", `wants` means by `text`, on random data of that seed, with a
 * line for each family. Returns how many do not hold; *chosen is how many families there were. */
typedef bool td_check_wants(const char *name, const char *text);
size_t td_check_validate(FILE *out, const td_check_family *const *families, size_t count, td_check_wants *wants,
                         const char *text, uint64_t seed, size_t *chosen);

#define fail_msg(...) td_check_fail(__VA_ARGS__)
#define assert_true(c) ((c) ? (void)0 : td_check_fail("%s:%d: %s", __FILE__, __LINE__, #c))
#define assert_false(c) assert_true(!(c))
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_memory_equal(a, b, bytes) assert_true(memcmp((a), (b), (bytes)) == 0)
#define assert_in_range(value, low, high) assert_true((value) >= (low) && (value) <= (high))

/* Random numbers one after the other. */
typedef struct random_state {
    uint64_t seed, step;
} random_state;

static inline uint64_t random_next(random_state *r)
{
    return td_random_at(r->seed + td_check_salt(), r->step++);
}

/* 0 .. n - 1 */
static inline uint64_t random_below(random_state *r, uint64_t n)
{
    return n ? random_next(r) % n : 0;
}

static inline bool random_chance(random_state *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

#endif
