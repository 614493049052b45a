/* The checks of kernels refuse what is wrong: families made up here, one right and one whose kernel is wrong in its
 * version for vectors. What `tensordoor bench --validate` prints is asserted. */
#include "check/check.h"
#include "check/versions.h"

/* cmocka has words of the same names, which are meant here from now on. */
#undef fail_msg
#undef assert_true
#undef assert_false
#undef assert_int_equal
#undef assert_non_null
#undef assert_memory_equal
#undef assert_in_range

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int begun, ended;

static void plain(void) {}
static void vectors(void) {}

static size_t two_kernels(unsigned flags, td_check_kernel *out)
{
    out[0] = flags == TD_CPU_C ? plain : vectors;
    out[1] = plain;
    return 2;
}

static void holds(void **state)
{
    (void)state;
}

static void does_not(void **state)
{
    (void)state;
    td_check_fail("copy_avx2: %d rows, byte 3 is 4, not 5", 2);
}

static int begin(void **state)
{
    (void)state;
    return begun++ > 10;
}

static int end(void **state)
{
    (void)state;
    ended++;
    return 0;
}

static const td_check right_checks[] = {TD_CHECK(holds), TD_CHECK(holds)};
static const td_check wrong_checks[] = {TD_CHECK(holds), TD_CHECK(does_not), TD_CHECK(holds)};
static const td_check_family right = {"copy", right_checks, 2, begin, end, NULL, two_kernels};
static const td_check_family wrong = {"paste", wrong_checks, 3, begin, end, NULL, two_kernels};

static bool is_in(const char *name, const char *text)
{
    return !text || strstr(name, text);
}

static size_t validate(const char *text, char **printed)
{
    static const td_check_family *const both[] = {&right, &wrong};
    size_t size = 0, chosen = 0;
    FILE *out = open_memstream(printed, &size);
    assert_non_null(out);
    const size_t bad = td_check_validate(out, both, 2, is_in, text, 9, &chosen);
    fclose(out);
    assert_int_equal(chosen, text ? 1 : 2);
    return bad;
}

/* How many versions of the first kernel this machine has: plain C and at most one more. */
static void says_what_it_checked(void **state)
{
    (void)state;
    char *text = NULL, expected[200];
    const version *more = all_versions() + 1;
    assert_int_equal(validate("kernels/copy", &text), 0);
    snprintf(expected, sizeof expected,
             "kernels/copy           2 in c%s%s: right\n"
             "%d kernels of 1 family checked on random data, seed 9: all right\n",
             more->isa ? "   1 in " : "", more->isa ? more->isa : "", more->isa ? 3 : 2);
    assert_string_equal(text, expected);
    assert_int_equal(begun, ended);
    free(text);
}

static void refuses_a_wrong_kernel(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(validate(NULL, &text), 1);
    assert_non_null(strstr(text, ": WRONG\n does_not: copy_avx2: 2 rows, byte 3 is 4, not 5\n"));
    assert_non_null(strstr(text, "1 check does NOT hold, so no time is worth anything\n"));
    assert_non_null(strstr(text, "kernels/copy "));
    assert_int_equal(begun, ended);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_checked),
        cmocka_unit_test(refuses_a_wrong_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
