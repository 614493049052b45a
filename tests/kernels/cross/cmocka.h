/* As much of cmocka as the checks of the kernels use, for processors that this machine has a compiler and an emulator
 * for, but no cmocka. neon.sh puts it first in the path of headers. A failure ends the program. */
#ifndef TD_CROSS_CMOCKA_H
#define TD_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};

#define cmocka_unit_test(f)                                                                                            \
    {                                                                                                                  \
#f, f                                                                                                          \
    }

#define fail_msg(...) (printf("# " __VA_ARGS__), printf("\nnot ok\n"), exit(1))
#define assert_true(c) ((c) ? (void)0 : fail_msg("%s:%d: %s", __FILE__, __LINE__, #c))
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_memory_equal(a, b, bytes) assert_true(memcmp((a), (b), (bytes)) == 0)
#define assert_in_range(value, low, high) assert_true((value) >= (low) && (value) <= (high))

static inline int cross_run(const struct CMUnitTest *tests, size_t count, int (*begin)(void **), int (*end)(void **))
{
    void *state = NULL;
    if (begin && begin(&state))
        return 1;
    for (size_t i = 0; i < count; i++) {
        tests[i].test(&state);
        printf("ok - %s\n", tests[i].name);
    }
    return end ? end(&state) : 0;
}

#define cmocka_run_group_tests(tests, begin, end) cross_run(tests, sizeof(tests) / sizeof(tests)[0], begin, end)

#endif
