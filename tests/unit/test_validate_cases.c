/* What `tensordoor bench --validate` says of cases, on a group that is made up here: one case is right, one gives
 * a wrong result, one is skipped, and one cannot be opened. */
#include "support.h"

#include "check/versions.h"
#include "tool/bench/validate.h"

enum { RIGHT, WRONG, SKIPPED, BROKEN, CASES };

static int opened, closed;

static size_t count(const bench_group *group)
{
    (void)group;
    return CASES;
}

static void spec(const bench_group *group, size_t number, bench_spec *out)
{
    static const char *const name[CASES] = {"right", "wrong", "skipped", "broken"};
    (void)group;
    snprintf(out->name, sizeof out->name, "%s", name[number]);
}

static bool holds(void *state, char *why, size_t size)
{
    snprintf(why, size, "%s", "byte 3 is 4, not 5");
    return state == NULL;
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
    assert_true(settings->no_peers);
    *out = (bench_subject){.state = number == WRONG ? &opened : NULL, .check = holds, .close = close_subject};
    opened++;
    if (number >= SKIPPED)
        snprintf(why, size, "%s", "there is no simulator");
    return number == SKIPPED ? BENCH_SKIPPED : number == BROKEN ? BENCH_BROKEN : BENCH_OPENED;
}

static const bench_group made_up = {.name = "made", .count = count, .spec = spec, .open = open_case};
const bench_group *const bench_groups[] = {&made_up};
const size_t bench_group_count = 1;

bool bench_chosen(const bench_group *group, const bench_spec *of, const char *text)
{
    (void)group;
    return !text || strcmp(of->name, text) == 0;
}

static char *validate(const char *text, size_t wrong, size_t chosen)
{
    const bench_settings settings = {.no_peers = false};
    char *printed = NULL;
    size_t size = 0, cases = 0;
    FILE *out = open_memstream(&printed, &size);
    assert_non_null(out);
    opened = closed = 0;
    assert_int_equal(bench_validate_cases(out, &settings, text, &cases), wrong);
    fclose(out);
    assert_int_equal(cases, chosen);
    assert_int_equal(opened, closed);
    return printed;
}

static size_t sets(void)
{
    size_t n = 0;
    for (const version *v = all_versions(); v->isa; v++)
        n++;
    return n;
}

static void a_wrong_case_has_a_line_for_every_instruction_set(void **state)
{
    (void)state;
    char *text = validate("wrong", sets(), 1), expected[200];
    for (const version *v = all_versions(); v->isa; v++) {
        snprintf(expected, sizeof expected, "made/wrong with %s: byte 3 is 4, not 5\n", v->isa);
        assert_non_null(strstr(text, expected));
    }
    snprintf(expected, sizeof expected,
             "1 case checked, %zu times with all instruction sets: %zu times WRONG, so there is no time of it\n",
             sets(), sets());
    assert_non_null(strstr(text, expected));
    free(text);
}

static void the_others_are_counted(void **state)
{
    (void)state;
    char expected[200], *text = validate("right", 0, 1);
    snprintf(expected, sizeof expected, "1 case checked, %zu times with all instruction sets: all right\n", sets());
    assert_string_equal(text, expected);
    free(text);
    text = validate("skipped", 0, 1);
    assert_string_equal(text, "1 case checked, 0 times with all instruction sets: all right\n");
    free(text);
    text = validate("broken", sets(), 1);
    snprintf(expected, sizeof expected, "made/broken with %s: there is no simulator\n", all_versions()->isa);
    assert_non_null(strstr(text, expected));
    free(text);
    text = validate("none of them", 0, 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_case_has_a_line_for_every_instruction_set),
        cmocka_unit_test(the_others_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
