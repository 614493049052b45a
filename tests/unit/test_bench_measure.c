/* One case from its group to its figure, on a group that is made up here: a result that is right is timed, one that is
 * wrong never is, and neither is what is skipped, cannot be opened or does not run. */
#include "support.h"

#include "tool/bench/bench.h"
#include "tool/bench/memory_use.h"

#include "base/clock.h"

enum { RIGHT, WRONG, SKIPPED, BROKEN, FAILS, CASES };

static int timed, closed;

/* Those of the command count every malloc of the process. */
void bench_memory_begin(void) {}

void bench_memory_end(bench_memory_use *out)
{
    *out = (bench_memory_use){.allocations = 8, .peak_bytes = 640};
}

static size_t count(const bench_group *group)
{
    (void)group;
    return CASES;
}

static void spec(const bench_group *group, size_t number, bench_spec *out)
{
    static const char *const name[CASES] = {"right", "wrong", "skipped", "broken", "fails"};
    (void)group;
    snprintf(out->name, sizeof out->name, "%s", name[number]);
}

static const size_t numbers[CASES] = {RIGHT, WRONG, SKIPPED, BROKEN, FAILS};

static double run(void *state, uint64_t repetitions)
{
    const uint64_t start_ns = td_now_ns();
    for (volatile uint64_t i = 0; i < 100 * repetitions; i++)
        continue;
    timed++;
    return *(const size_t *)state == FAILS ? -1 : (double)(td_now_ns() - start_ns) / (double)repetitions;
}

static bool holds(void *state, char *why, size_t size)
{
    if (*(const size_t *)state != WRONG)
        return true;
    snprintf(why, size, "wrong result, so no time: byte 3 is 4, not 5");
    return false;
}

static void finish(void *state, bench_figure *figure)
{
    (void)state;
    bench_figure_extra(figure, "error", 0.25);
}

static void close_subject(void *state)
{
    (void)state;
    closed++;
}

static bench_opened open_case(const bench_group *group, size_t number, const bench_settings *settings,
                              bench_subject *out, char *why, size_t size)
{
    (void)group;
    (void)settings;
    *out = (bench_subject){.state = (void *)(uintptr_t)&numbers[number],
                           .elems = 7,
                           .check = holds,
                           .finish = finish,
                           .close = close_subject};
    bench_add_runner(out, "ours", run, out->state);
    bench_add_runner(out, "reference", run, out->state);
    if (number == SKIPPED || number == BROKEN)
        snprintf(why, size, "there is no simulator");
    return number == SKIPPED ? BENCH_SKIPPED : number == BROKEN ? BENCH_BROKEN : BENCH_OPENED;
}

static const bench_group made_up = {.name = "made", .count = count, .spec = spec, .open = open_case};
static const bench_settings settings = {.method = {5, 1e5, 1e3}};

static bool measure(size_t number, bench_figure *figure, char *why)
{
    timed = closed = 0;
    why[0] = '\0';
    return bench_measure(&made_up, number, &settings, figure, why, 200);
}

static void a_right_result_is_timed(void **state)
{
    (void)state;
    bench_figure f;
    char why[200];
    assert_true(measure(RIGHT, &f, why));
    assert_true(timed > 10 && f.ns.median > 0 && f.ns.samples >= 5 && f.ratio.samples >= 5);
    assert_string_equal(f.reference, "reference");
    assert_true(f.allocations > 1.99 && f.allocations < 2.01 && f.peak_bytes > 639 && f.elems > 6.9);
    assert_string_equal(f.extra[0].name, "error");
    assert_int_equal(closed, 1);
}

static void a_wrong_one_never_is(void **state)
{
    (void)state;
    bench_figure f;
    char why[200];
    assert_false(measure(WRONG, &f, why));
    assert_string_equal(why, "wrong result, so no time: byte 3 is 4, not 5");
    assert_int_equal(timed, 0);
    assert_int_equal(f.ns.samples, 0);
    assert_int_equal(closed, 1);
}

static void others_are_said(void **state)
{
    (void)state;
    bench_figure f;
    char why[200];
    assert_true(measure(SKIPPED, &f, why));
    assert_string_equal(f.skipped, "there is no simulator");
    assert_false(measure(BROKEN, &f, why));
    assert_string_equal(why, "there is no simulator");
    assert_int_equal(timed, 0);
    assert_false(measure(FAILS, &f, why));
    assert_int_equal(f.ns.samples, 0);
    assert_int_equal(closed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_result_is_timed),
        cmocka_unit_test(a_wrong_one_never_is),
        cmocka_unit_test(others_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
