/* Status names, the message of the last failure and its tools, and the checked products. */
#include "base/status.h"
#include "base/suggest.h"
#include "support.h"

#include <pthread.h>

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"OK",      "ARGUMENT", "HANDLE",    "DTYPE",   "PATTERN",      "OPTION",
                                        "ADDRESS", "SHAPE",    "RANGE",     "ALIAS",   "OVERFLOW",     "DISAGREE",
                                        "FILE",    "FORMAT",   "NO_MEMORY", "X_STATE", "UNCORRECTABLE"};
    for (int i = TD_OK; i <= TD_UNCORRECTABLE; i++)
        assert_string_equal(td_status_name((td_status)i), names[i]);
    assert_string_equal(td_status_name((td_status)(TD_UNCORRECTABLE + 1)), "UNKNOWN");
    assert_string_equal(td_status_name((td_status)-1), "UNKNOWN");
}

static void test_message(void **state)
{
    (void)state;
    assert_int_equal(td_fail(TD_RANGE, "address %d; use %d", 7, 3), TD_RANGE);
    assert_string_equal(td_last_error(), "address 7; use 3");
    td_fail_prefix("load \"%s\": ", "m");
    td_fail_append("\n    shape %d", 2);
    assert_string_equal(td_last_error(), "load \"m\": address 7; use 3\n    shape 2");
    td_fail(TD_RANGE, "again: %s", td_last_error()); /* the old message may be an argument of the new one */
    assert_string_equal(td_last_error(), "again: load \"m\": address 7; use 3\n    shape 2");
    assert_int_equal(td_fail_alloc(4096), TD_NO_MEMORY);
    assert_string_equal(td_last_error(), "the system refused 4096 bytes; free memory or move a smaller tensor");
}

static void test_caret(void **state)
{
    (void)state;
    static const char text[] = "16*b +\n\t4*v + ct\n+ 1";
    td_fail(TD_ADDRESS, "no axis v");
    td_fail_caret(text, 10, 1);
    assert_string_equal(td_last_error(), "no axis v\n    \t4*v + ct\n    \t  ^");
    td_fail(TD_ADDRESS, "no");
    td_fail_caret(text, 0, 100); /* no further than the line, or the text */
    assert_string_equal(td_last_error(), "no\n    16*b +\n    ^~~~~~");
    td_fail(TD_ADDRESS, "ends early");
    td_fail_caret("16*", 3, 4);
    assert_string_equal(td_last_error(), "ends early\n    16*\n       ^");
}

/* However long the parts, the message ends within its bytes, and shows where it was cut. */
static void test_long_message(void **state)
{
    (void)state;
    char *text = malloc(3 * TD_MESSAGE_BYTES);
    memset(text, 'x', 3 * TD_MESSAGE_BYTES - 1);
    text[3 * TD_MESSAGE_BYTES - 1] = '\0';
    td_fail(TD_RANGE, "%s", text);
    assert_int_equal(strlen(td_last_error()), TD_MESSAGE_BYTES - 1);
    td_fail_append("%s", text);
    assert_int_equal(strlen(td_last_error()), TD_MESSAGE_BYTES - 1);
    td_fail_prefix("%s", text);
    assert_int_equal(strlen(td_last_error()), TD_MESSAGE_BYTES - 1);
    assert_string_equal(td_last_error() + TD_MESSAGE_BYTES - 5, "x...");
    td_fail(TD_RANGE, "what was found and the fix");
    td_fail_prefix("%s: ", text); /* a name of any length leaves room for it */
    assert_non_null(strstr(td_last_error(), "x...what was found and the fix"));
    td_fail_append("%s", text);
    assert_string_equal(td_last_error() + TD_MESSAGE_BYTES - 5, "x...");
    free(text);
}

static void *fail_elsewhere(void *seen)
{
    strcpy(seen, td_last_error());
    td_fail(TD_FILE, "elsewhere");
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    char seen[TD_MESSAGE_BYTES] = "?";
    pthread_t thread;
    td_fail(TD_FILE, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen, "");
    assert_string_equal(td_last_error(), "here");
}

static void test_products(void **state)
{
    (void)state;
    uint64_t out = 5;
    assert_true(td_mul_fits((uint64_t)1 << 31, (uint64_t)1 << 31, &out));
    assert_int_equal(out, (uint64_t)1 << 62);
    assert_false(td_mul_fits((uint64_t)1 << 32, (uint64_t)1 << 31, &out));
    assert_false(td_mul_fits(UINT64_MAX, 2, &out));
    assert_true(td_add_fits(INT64_MAX, 0, &out));
    assert_false(td_add_fits(INT64_MAX, 1, &out));
    assert_false(td_add_fits(UINT64_MAX, 1, &out));
    assert_int_equal(out, INT64_MAX);
}

static void test_suggestions(void **state)
{
    (void)state;
    static const char *const axes[] = {"cs", "ct", "index"};
    assert_string_equal(td_suggest("Ct", axes, 3), "ct"); /* case costs nothing: nearer than cs */
    assert_string_equal(td_suggest("INDXE", axes, 3), "index");
    assert_null(td_suggest("q", axes, 3));
}

/* One name for a status and for a shape: the second only with parentheses. */
static void test_shape(void **state)
{
    (void)state;
    const td_shape shape = TD_SHAPE(2, 3);
    const td_status status = TD_SHAPE;
    assert_int_equal(shape.rank, 2);
    assert_int_equal(shape.dim[1], 3);
    assert_string_equal(td_status_name(status), "SHAPE");
}

static void test_version(void **state)
{
    (void)state;
    /* the header, the library and meson's project say the same */
    const char *project = getenv("TD_PROJECT_VERSION");
    char numbers[32];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
    assert_string_equal(TD_VERSION, numbers);
    assert_string_equal(td_version(), TD_VERSION);
    if (project)
        assert_string_equal(td_version(), project);
    td_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_message), cmocka_unit_test(test_caret),
        cmocka_unit_test(test_long_message), cmocka_unit_test(test_threads), cmocka_unit_test(test_products),
        cmocka_unit_test(test_version),      cmocka_unit_test(test_shape),   cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
