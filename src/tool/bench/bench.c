/* `tensordoor bench`: the flags, and what is done with a run: printed, stored, held against a baseline. Exit code 0; 1
 * when --check finds what fails or a target that is missed, or a case is broken; 2 for a command line or a file that is
 * refused. */
#include "base/clock.h"
#include "check/families.h"
#include "tool/bench/again.h"
#include "tool/bench/baseline.h"
#include "tool/bench/child.h"
#include "tool/bench/curve.h"
#include "tool/bench/moves.h"
#include "tool/bench/page.h"
#include "tool/bench/run.h"
#include "tool/bench/targets.h"
#include "tool/bench/validate.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LIST,
    JSON,
    CSV,
    MARKDOWN,
    NO_PEERS,
    TUNE,
    SAMPLE_SIZE,
    MEASUREMENT,
    WARM_UP,
    SAVE,
    BASELINE,
    HISTORY,
    COMMIT,
    CHECK,
    TARGETS,
    CURVES,
    HTML,
    VALIDATE,
    SEED,
    FLAGS
};

static const tool_usage usage = {
    .command = "bench",
    .file = "TEXT",
    .about =
        "Times every case whose group/name contains TEXT, or one of several as tiles,convert (a $ ends a name, as in\n"
        "'plan/capabilities$'): our call, the same work\n"
        "by memcpy, plain loops in C, and NumPy where it is installed, in turns. `ratio` is the\n"
        "reference's time divided by ours, taken round by round; more is faster. Every figure is a median with its\n"
        "interval; `spread` goes from the 10th to the 90th percentile. A case whose result is wrong gets no time.\n"
        "TD_CPU=c or avx2 in the environment limits the instructions, TD_THREADS and TD_PARALLEL_BYTES control the\n"
        "threads, TD_BENCH_DIR is where baselines lie.",
};

static int list_cases(const char *text)
{
    const bench_group *shown = NULL;
    for (size_t g = 0; g < bench_group_count; g++) {
        const bench_group *group = bench_groups[g];
        for (size_t i = 0; i < group->count(group); i++) {
            bench_spec spec = {.threads = 1};
            char whole[112];
            group->spec(group, i, &spec);
            snprintf(whole, sizeof whole, "%s/%s", group->name, spec.name);
            if (text && !bench_chosen(group, &spec, text))
                continue;
            if (shown != group)
                printf("# %s: %s%s\n", group->name, group->about, group->on_request ? " (only when named)" : "");
            shown = group;
            printf("%s\n", whole);
        }
    }
    return shown ? TOOL_OK : tool_fail(usage.command, "no case has \"%s\" in its name; --list shows them", text);
}

/* A time in seconds, as "0.5". */
static bool read_seconds(const tool_flag *flag, double *ns)
{
    char *end = NULL;
    if (!flag->value)
        return true;
    const double seconds = strtod(flag->value, &end);
    if (end == flag->value || *end || !(seconds > 0 && seconds <= 3600)) {
        tool_fail(usage.command, "--%s is \"%s\"; it needs seconds above 0, as 0.5", flag->name, flag->value);
        return false;
    }
    *ns = seconds * 1e9;
    return true;
}

static bool read_method(const tool_flag *flags, bench_method *method)
{
    uint64_t samples = method->samples;
    if (flags[SAMPLE_SIZE].value && !tool_number(&usage, &flags[SAMPLE_SIZE], &samples))
        return false;
    if (samples < 5 || samples > BENCH_MAX_SAMPLES) {
        tool_fail(usage.command, "--sample-size is \"%s\"; it needs 5 to %d, as intervals are made from them",
                  flags[SAMPLE_SIZE].value, BENCH_MAX_SAMPLES);
        return false;
    }
    method->samples = (unsigned)samples;
    return read_seconds(&flags[MEASUREMENT], &method->measurement_ns) &&
           read_seconds(&flags[WARM_UP], &method->warm_up_ns);
}

static int store(const tool_flag *flags, const bench_record *now)
{
    char message[1500];
    if (flags[SAVE].value && !bench_baseline_save(flags[SAVE].value, now, message, sizeof message))
        return tool_fail(usage.command, "%s", message);
    if (flags[HISTORY].value && !bench_history_add(flags[HISTORY].value, now, message, sizeof message))
        return tool_fail(usage.command, "%s", message);
    return TOOL_OK;
}

static void print_curves(FILE *out, const bench_record *now)
{
    static bench_curve curves[128];
    const size_t all = bench_curves_of(now, curves, 128);
    for (size_t i = 0; i < all && i < 128; i++)
        bench_curve_print(out, &curves[i]);
}

/* Returns how many targets are missed, of those that were asked for. */
static size_t print_run(const tool_flag *flags, const bench_out *what)
{
    if (flags[JSON].value) {
        bench_record_write(stdout, what->now);
        printf("\n");
    } else if (flags[CSV].value) {
        bench_out_csv(stdout, what);
    } else if (flags[MARKDOWN].value) {
        bench_out_markdown(stdout, what);
    }
    FILE *words = flags[JSON].value || flags[CSV].value ? stderr : stdout;
    bench_out_verdict(words, what);
    if (flags[CURVES].value)
        print_curves(words, what->now);
    return flags[TARGETS].value ? bench_targets_print(words, what->now) : 0;
}

/* The host may have taken the processors away in the middle of the run. */
static void look_again(bench_record *now, double total, double stolen)
{
    double total_after = 0, stolen_after = 0;
    if (!bench_fitness_ticks(&total_after, &stolen_after) || total_after <= total)
        return;
    bench_fitness_steal(&now->fitness, total_after - total, stolen_after - stolen);
    bench_fitness_judge(&now->fitness, now->cores);
}

/* The library times stores past the caches and the waking of threads once in a process, and large moves go one way or
 * the other from then on. It is to do so in calm moments, or two runs of one build would differ by that. An answer that
 * noise may have made it asks again, later, when another plan is made. */
static void let_library_ask(bench_calm *calm, double patience_ns)
{
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    td_speed_threads(0);
    for (uint64_t plan = 0; plan < 3; plan++) {
        const struct timespec later = {0, plan ? 35000000 : 0};
        nanosleep(&later, NULL);
        for (int in_a_row = 0; in_a_row < 50 && patience_ns > 0; in_a_row++)
            if (bench_calm_wait(calm, &patience_ns) > bench_calm_limit(calm) || patience_ns < 0)
                in_a_row = 0;
        const uint64_t words = (1 << 20) - plan;
        if (!td_memory_create("m", 64, words, &memory) && !td_tensor_create("u64", TD_SHAPE(words), &tensor) &&
            !td_layout_create("a -> a", NULL, NULL, &layout))
            (void)td_backdoor_load_tensor(memory, tensor, layout, NULL);
        td_layout_destroy(&layout);
        td_tensor_destroy(&tensor);
        td_memory_destroy(&memory);
    }
}

static int run(const tool_flag *flags, const char *text, const bench_method *method, const bench_record *then)
{
    const bool table = !flags[JSON].value && !flags[CSV].value && !flags[MARKDOWN].value;
    bench_calm calm = {.probe = bench_calm_probe};
    bench_run_request request = {
        .settings = {*method, flags[NO_PEERS].value != NULL, flags[TUNE].value != NULL, &calm},
        .text = text,
        .then = then,
        .passes = flags[SAVE].value ? BENCH_BASELINE_PASSES : 1,
        .table = table,
        .wanted = flags[TARGETS].value ? bench_target_wants : NULL,
    };
    bench_record now = {.method = *method};
    bench_judgement *judgements = NULL;
    char commit[64];
    double total = 0, stolen = 0;
    if (!bench_run_count(&request))
        return tool_fail(usage.command, "no case has \"%s\" in its name; --list shows them", text ? text : "");
    if (flags[COMMIT].value)
        snprintf(commit, sizeof commit, "%s", flags[COMMIT].value);
    else
        bench_commit(commit, sizeof commit);
    bench_record_describe(&now, commit);
    bench_fitness_look(&calm, &now.fitness);
    if (then && strcmp(then->processor, now.processor) == 0)
        bench_calm_know(&calm, then->fitness.probe_clocks); /* it may never be calm today */
    bench_again_inherit(&calm);
    bench_out_machine(table ? stdout : stderr, &now);
    if (table)
        bench_out_head(stdout);
    (void)bench_fitness_ticks(&total, &stolen);
    let_library_ask(&calm, 100 * method->measurement_ns);
    const size_t broken = bench_run_cases(&request, &now, &judgements);
    look_again(&now, total, stolen);
    now.fitness.probe_clocks = calm.floor;
    bench_numpy_stop();
    const bench_out what = {&now, then, judgements, flags[BASELINE].value};
    const size_t missed = print_run(flags, &what);
    int code = store(flags, &now);
    if (!code && flags[HTML].value && !bench_page_write(flags[HTML].value, &what))
        code = tool_fail(usage.command, "cannot write %s: %s", flags[HTML].value, strerror(errno));
    if (!code && (broken || (flags[CHECK].value && (missed || bench_worst(&what) == BENCH_FAILS))))
        code = TOOL_DIFFERS;
    free(judgements);
    bench_record_clear(&now);
    return code;
}

static bool wants_family(const char *name, const char *text)
{
    return bench_wants(name, NULL, text);
}

static int validate(const tool_flag *flags, const char *text, const bench_method *method)
{
    const bench_settings settings = {*method, true, flags[TUNE].value != NULL, NULL};
    uint64_t seed = td_now_ns() % 1000000;
    if (flags[SEED].value && !tool_number(&usage, &flags[SEED], &seed))
        return TOOL_FAILED;
    size_t families = 0, cases = 0;
    const size_t wrong =
        td_check_validate(stdout, td_check_families, td_check_family_count, wants_family, text, seed, &families) +
        bench_validate_cases(stdout, &settings, text, &cases);
    if (!families && !cases)
        return tool_fail(usage.command, "no case has \"%s\" in its name; --list shows them", text ? text : "");
    return wrong ? TOOL_DIFFERS : TOOL_OK;
}

int bench_main(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [LIST] = {"list", 0, false, NULL, "print the groups and the names of the cases", NULL},
        [JSON] = {"json", 0, false, NULL, "print the run as one line of JSON, as a baseline and a history have it",
                  NULL},
        [CSV] = {"csv", 0, false, NULL, "print the run as CSV", NULL},
        [MARKDOWN] = {"markdown", 0, false, NULL, "print the run as a table of Markdown", NULL},
        [NO_PEERS] = {"no-peers", 0, false, NULL, "time only our calls and the reference", NULL},
        [TUNE] = {"tune", 0, false, NULL, "layouts with tune=on, which time the orders of their loops first", NULL},
        [SAMPLE_SIZE] = {"sample-size", 0, false, "N", "samples of every case; default 31", NULL},
        [MEASUREMENT] = {"measurement-time", 0, false, "S", "seconds for our samples of a case; default 0.015", NULL},
        [WARM_UP] = {"warm-up", 0, false, "S", "seconds before the first sample; default 0.002", NULL},
        [SAVE] = {"save-baseline", 0, false, "NAME", "keep this run, of five passes, under a name or in a file", NULL},
        [BASELINE] = {"baseline", 0, false, "NAME", "hold this run against the one that was kept", NULL},
        [HISTORY] = {"history", 0, false, "FILE", "add this run to a file, one line of JSON a run", NULL},
        [COMMIT] = {"commit", 0, false, "ID", "of what is measured; default: what the CI or git says", NULL},
        [CHECK] = {"check", 0, false, NULL,
                   "exit with 1 when a case fails (over 10 % slower, 20 % more memory), or a target is missed", NULL},
        [TARGETS] = {"targets", 0, false, NULL, "measure the targets on record, and say which are met", NULL},
        [CURVES] = {"curves", 0, false, NULL, "say the shape of every curve of sizes, and where an element costs more",
                    NULL},
        [HTML] = {"html", 0, false, "FILE", "write the run as a page that stands alone", NULL},
        [VALIDATE] = {"validate", 0, false, NULL,
                      "check every kernel and case with every instruction set, and time nothing", NULL},
        [SEED] = {"seed", 0, false, "N", "of the random data of --validate; default: another one every time", NULL},
    };
    if (bench_again_is_cold())
        return bench_start_cold();
    bench_again_from(argv);
    bench_method method = BENCH_DEFAULT_METHOD;
    bench_record then = {0};
    char message[1500];
    const char *text = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &text);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (!read_method(flags, &method))
        return TOOL_FAILED;
    bench_child_set_patience(BENCH_ANSWER_TIMES * method.measurement_ns);
    if (flags[LIST].value)
        return list_cases(text);
    if (flags[VALIDATE].value)
        return validate(flags, text, &method);
    /* What cannot be read or written is refused before minutes are spent. */
    if ((flags[HISTORY].value && !bench_history_ready(flags[HISTORY].value, message, sizeof message)) ||
        (flags[SAVE].value && !bench_baseline_ready(flags[SAVE].value, message, sizeof message)))
        return tool_fail(usage.command, "%s", message);
    if (flags[HTML].value && !bench_can_write(flags[HTML].value))
        return tool_fail(usage.command, "cannot write %s: %s", flags[HTML].value, strerror(errno));
    if (flags[BASELINE].value && !bench_baseline_open(flags[BASELINE].value, &then, message, sizeof message))
        return tool_fail(usage.command, "%s", message);
    const int code = run(flags, text, &method, flags[BASELINE].value ? &then : NULL);
    bench_record_clear(&then);
    return code;
}
