/* Which thresholds `tensordoor tune` keeps, on tables of gains that are made up: nothing is timed here. */
#include "support.h"

#include "base/thresholds.h"
#include "tool/tune/tune.h"

#define STORES TD_THRESHOLD_STREAM_TRANSPOSE
#define FAR 4096 /* another value than the default */

/* The value that is kept after a search that found FAR, where the cases that speak for the threshold have these ratios,
 * as far as there are any, and all others have 1. Half of the rounds lie within 1 % around them. */
static uint64_t kept(const double *ratio, size_t count, tune_search *s)
{
    *s = (tune_search){0};
    for (size_t i = 0; i < td_tune_count(); i++)
        s->chosen.value[i] = s->standard.value[i] = td_tune_threshold(i).standard;
    s->chosen.value[STORES] = FAR;
    for (size_t final = 0; final < 20; final++) {
        tune_line *line = &s->line[s->lines++];
        const bool speaks = tune_speaks_for(final, STORES) && count > 0;
        const double r = speaks ? *ratio : 1;
        *line = (tune_line){.final = final, .pair = {.ratio = r, .low = r * 0.99, .high = r * 1.01}};
        ratio += speaks;
        count -= speaks;
    }
    assert_int_equal(count, 0);
    tune_keep_gains(s);
    return s->chosen.value[STORES];
}

static void gains_are_kept(void **state)
{
    (void)state;
    static tune_search s;
    const uint64_t standard = td_tune_threshold(STORES).standard;
    assert_string_equal(td_tune_threshold(STORES).name, "stream_transpose_bytes");
    assert_int_equal(kept((double[]){0.7}, 1, &s), FAR);
    assert_int_equal(kept((double[]){0.96}, 1, &s), FAR);
    /* A little in one case against much in another. */
    assert_int_equal(kept((double[]){0.7, 1.06}, 2, &s), FAR);
    /* Nothing, or less than the noise. */
    assert_int_equal(kept(NULL, 0, &s), standard);
    assert_int_equal(kept((double[]){0.98}, 1, &s), standard);
    /* As much lost as gained, and too much in one case. */
    assert_int_equal(kept((double[]){0.94, 1.06}, 2, &s), standard);
    assert_int_equal(kept((double[]){0.7, 0.7, 1.12}, 3, &s), standard);
}

static void the_table_says_what_was_dropped(void **state)
{
    (void)state;
    static tune_search s;
    (void)kept((double[]){0.7, 0.7, 1.12}, 3, &s);
    for (size_t i = 0; i < s.lines; i++) {
        assert_int_equal(s.line[i].changed, tune_speaks_for(i, STORES));
        assert_int_equal(s.line[i].dropped, tune_speaks_for(i, STORES));
    }
    (void)kept((double[]){0.7}, 1, &s);
    for (size_t i = 0; i < s.lines; i++) {
        assert_int_equal(s.line[i].changed, tune_speaks_for(i, STORES));
        assert_false(s.line[i].dropped);
    }
}

static char *fitness(unsigned threads, double had, size_t looked)
{
    static tune_search s;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    s = (tune_search){.threads = threads, .had = had, .looked = looked};
    tune_say_fitness(&s, out);
    fclose(out);
    return text;
}

static void a_busy_machine_is_said(void **state)
{
    (void)state;
    char *text = fitness(2, 60, 100);
    assert_string_equal(text,
                        "\nother programs had the processor for 40 % of the time: the thresholds of threads stay as "
                        "they are, and\nthe others may be off; tune again when the machine is quiet\n");
    free(text);
    text = fitness(2, 99, 100);
    assert_string_equal(text, "");
    free(text);
    text = fitness(1, 99, 100);
    assert_string_equal(text, "\none processor: the thresholds of threads were not measured\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_kept),
        cmocka_unit_test(the_table_says_what_was_dropped),
        cmocka_unit_test(a_busy_machine_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
