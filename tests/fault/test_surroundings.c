/* What the calling program may have set: a locale with a decimal comma, another rounding mode, flushed subnormals; and
 * a program that forks. Text in and out, values and reports must be what they are without, the settings must be there
 * afterwards, and a child must be able to work. */
#include "../unit/support.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Everything here that has a decimal point or a rounding in it, as one text. */
static char *work(void)
{
    td_tensor *tensor = NULL, *drawn = NULL, *made = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    td_report *report = NULL;
    char *text = NULL, *json = NULL, *shown = NULL, *svg = NULL, *all = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&all, &bytes);
    assert_non_null(out);

    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(16, 16), &tensor));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(16, 16), &drawn));
    ASSERT_OK(td_tensor_fill_ramp(tensor, -6.35, 0.05));
    ASSERT_OK(td_tensor_set_real(tensor, 3, 0.1));
    ASSERT_OK(td_tensor_set_real(tensor, 4, 0x1.8p-140)); /* subnormal */
    ASSERT_OK(td_tensor_fill(drawn, "normal mean=0.25 sigma=1.5 seed=3"));
    ASSERT_OK(td_layout_create("r (ct cs) -> (r ct) cs", "cs=5 pad=0.5", NULL, &layout));
    fprintf(out, "%s\n", td_layout_options(layout));
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_create("r (ct cs) -> (r ct) cs", "cs=5 pad=1", NULL, &layout));
    ASSERT_OK(td_memory_create("m", 40, 64, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, "i8 scale=0.05 zero=3"));
    fwrite(td_memory_data(memory), 8, 64, out);
    ASSERT_OK(td_tensor_convert(tensor, "f16 scale=0.3", &made));
    fwrite(td_tensor_data(made), 2, 256, out);
    fwrite(td_tensor_data(drawn), 4, 256, out);
    td_tensor_destroy(&made);
    ASSERT_OK(td_tensor_convert(tensor, "f64 scale=0.7", &made));
    fwrite(td_tensor_data(made), 8, 256, out);
    ASSERT_OK(td_tensor_set_real(tensor, 9, 3.25));
    ASSERT_OK(
        td_backdoor_compare_tensor(memory, tensor, layout, "atol=0.0255 rtol=1e-3", "i8 scale=0.05 zero=3", &report));
    ASSERT_OK(td_report_text(report, &text));
    ASSERT_OK(td_report_json(report, &json));
    ASSERT_OK(td_tensor_text(tensor, &shown));
    const td_scene scene = {.dtype = "i8", .shape = TD_SHAPE(16, 16)};
    ASSERT_OK(td_layout_svg(layout, &scene, &svg));
    fprintf(out, "%s\n%s\n%s\n%s\n", text, json, shown, svg);
    assert_int_equal(td_tensor_convert(tensor, "i8 scale=0.0005 error", &drawn), TD_RANGE);
    fprintf(out, "%s\n", td_last_error());
    assert_int_equal(fclose(out), 0);

    assert_non_null(strstr(json, "\"policy\""));
    td_free(text);
    td_free(json);
    td_free(shown);
    td_free(svg);
    td_report_destroy(&report);
    td_tensor_destroy(&made);
    td_tensor_destroy(&drawn);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
    char *copy = calloc(1, bytes + sizeof bytes);
    assert_non_null(copy);
    memcpy(copy, &bytes, sizeof bytes);
    memcpy(copy + sizeof bytes, all, bytes);
    free(all);
    return copy;
}

/* The folder of the locale that was made lies in it. */
static int leave_all(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", support_folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void assert_same_work(const char *expected, const char *what)
{
    char *actual = work();
    size_t bytes = 0;
    memcpy(&bytes, expected, sizeof bytes);
    for (size_t i = sizeof bytes; i < sizeof bytes + bytes; i++)
        if (expected[i] != actual[i])
            fail_msg("%s: byte %zu differs: \"%.60s\" and \"%.60s\"", what, i - sizeof bytes, expected + i, actual + i);
    free(actual);
}

static void a_decimal_comma(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "made"};
    char *expected = work();
    const char *found = NULL;
    for (size_t i = 0; i < 4 && !found; i++) {
        if (i == 3 && (system("localedef -c -i de_DE -f UTF-8 ./made >/dev/null 2>&1") < 0 ||
                       setenv("LOCPATH", support_folder, 1) != 0))
            continue;
        found = setlocale(LC_ALL, names[i]);
    }
    if (!found || strcmp(localeconv()->decimal_point, ",") != 0) {
        (void)setlocale(LC_ALL, "C");
        free(expected);
        printf("# no locale here has a decimal comma, and localedef makes none\n"); /* cmocka's skip() is a failure */
        return;
    }
    assert_same_work(expected, "decimal comma");
    char point[8];
    snprintf(point, sizeof point, "%.1f", 0.5);
    assert_string_equal(point, "0,5"); /* still the program's own */
    assert_non_null(setlocale(LC_ALL, "C"));
    free(expected);
}

static void other_rounding_modes(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    char *expected = work();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fesetround(modes[i]), 0);
        assert_same_work(expected, "rounding mode");
        assert_int_equal(fegetround(), modes[i]);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
    }
    free(expected);
}

static void flushed_subnormals_and_traps(void **state)
{
    (void)state;
#if defined(__x86_64__)
    char *expected = work();
    const unsigned mode = _mm_getcsr();
    const unsigned wanted[] = {mode | 0x8040, mode & ~0x1f80u}; /* FTZ and DAZ; every exception traps */
    for (size_t i = 0; i < 2; i++) {
        _mm_setcsr(wanted[i]);
        assert_same_work(expected, i ? "traps" : "flushed subnormals");
        assert_int_equal(_mm_getcsr() & 0xffc0, wanted[i] & 0xffc0);
        _mm_setcsr(mode);
    }
    free(expected);
#else
    printf("# the modes of other processors are not set here\n"); /* cmocka's skip() is a failure */
#endif
}

/* -- fork -- */

typedef struct world {
    td_tensor *tensor, *back;
    td_memory *memory;
    td_layout *layout;
} world;

/* Large enough for every thread (TD_PARALLEL_BYTES is 1). */
static bool move(world *w)
{
    td_report *report = NULL;
    bool good = !td_backdoor_load_tensor(w->memory, w->tensor, w->layout, NULL) &&
                !td_backdoor_dump_tensor(w->memory, w->back, w->layout, NULL) &&
                !td_backdoor_compare_tensor(w->memory, w->tensor, w->layout, "atol=0.5", NULL, &report) &&
                td_report_passed(report) &&
                memcmp(td_tensor_data(w->back), td_tensor_data(w->tensor), (size_t)4 << 20) == 0;
    td_report_destroy(&report);
    return good;
}

static void a_child_goes_on(void **state)
{
    (void)state;
    world w;
    td_speed_threads(4);
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1024, 1024), &w.tensor));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1024, 1024), &w.back));
    ASSERT_OK(td_tensor_fill_ramp(w.tensor, 0, 1));
    ASSERT_OK(td_memory_create("m", 32768, 1024, &w.memory));
    ASSERT_OK(td_layout_create("r c -> c r", NULL, NULL, &w.layout));
    for (int round = 0; round < 5; round++) {
        assert_true(move(&w));
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(30); /* a child that waits for threads it does not have */
            const pid_t grandchild = move(&w) ? fork() : -1;
            if (grandchild == 0)
                _exit(move(&w) ? 0 : 1);
            int code = 1;
            _exit(grandchild > 0 && waitpid(grandchild, &code, 0) == grandchild && code == 0 && move(&w) ? 0 : 1);
        }
        assert_true(move(&w));
        int code = 1;
        assert_int_equal(waitpid(child, &code, 0), child);
        if (code != 0)
            fail_msg("the child ended with 0x%x%s", (unsigned)code, WIFSIGNALED(code) ? " (a signal)" : "");
    }
    td_speed_threads(0);
    td_tensor_destroy(&w.tensor);
    td_tensor_destroy(&w.back);
    td_memory_destroy(&w.memory);
    td_layout_destroy(&w.layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_decimal_comma, enter_folder, leave_all),
        cmocka_unit_test(other_rounding_modes),
        cmocka_unit_test(flushed_subnormals_and_traps),
        cmocka_unit_test(a_child_goes_on),
    };
    setenv("TD_PARALLEL_BYTES", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
