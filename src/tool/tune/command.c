/* `tensordoor tune`: measures the thresholds of this machine, says what changed and what it gained, and keeps them for
 * every later process of this user. */
#include "base/clock.h"
#include "tool/tool.h"
#include "tool/tune/tune.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS, MOST, OUTPUT, DRY, SHOW, FLAGS };

static const tool_usage usage = {
    .command = "tune",
    .file_required = false,
    .about =
        "Measures at which sizes threads, stores past the caches, tiles and slabs pay on this machine, and keeps\n"
        "that in the user's cache folder, where every later call of the library finds it (TD_TUNE=off ignores it).\n"
        "Shows what each case gained: the time with the values found by that with the defaults, taken in turns.",
};

static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void print_value(char *out, size_t bytes, const td_threshold_info *t, uint64_t value)
{
    const bool size = strstr(t->name, "_bytes") != NULL;
    if (value == 0 && t->least == 0)
        snprintf(out, bytes, "automatic");
    else if (value == t->most && t->least == 0)
        snprintf(out, bytes, "never");
    else if (size && value >= 10 << 20)
        snprintf(out, bytes, "%.0f MiB", (double)value / (1 << 20));
    else if (size && value >= 1 << 20)
        snprintf(out, bytes, "%.1f MiB", (double)value / (1 << 20));
    else if (size && value >= 1 << 10)
        snprintf(out, bytes, "%.0f KiB", (double)value / (1 << 10));
    else if (size)
        snprintf(out, bytes, "%" PRIu64 " B", value);
    else
        snprintf(out, bytes, "%.1f us", (double)value / 1e3);
}

static void print_thresholds(void)
{
    printf("%-24s %10s %10s\n", "threshold", "default", "now");
    for (size_t i = 0; i < td_tune_count(); i++) {
        const td_threshold_info t = td_tune_threshold(i);
        char standard[32], now[32];
        print_value(standard, sizeof standard, &t, t.standard);
        print_value(now, sizeof now, &t, t.value);
        printf("%-24s %10s %10s  %s\n", t.name, standard, now, t.meaning);
    }
}

static const char *verdict(const tune_line *line)
{
    if (!line->changed)
        return "the default";
    if (line->dropped)
        return "back to the default";
    if (line->pair.ratio < .97 && line->pair.high < 1)
        return "faster";
    return line->pair.ratio > 1.03 && line->pair.low > 1 ? "slower" : "";
}

static void print_gains(const tune_search *s)
{
    printf("\n%-40s %12s %12s %8s  %s\n", "case", "before, us", "after, us", "ratio", "half of the rounds");
    for (size_t i = 0; i < s->lines; i++) {
        const tune_pair *p = &s->line[i].pair;
        printf("%-40s %12.1f %12.1f %8.3f  %.3f .. %.3f  %s\n", s->line[i].name, p->before_ns / 1e3, p->after_ns / 1e3,
               p->ratio, p->low, p->high, verdict(&s->line[i]));
    }
}

static int show(void)
{
    char *note = NULL;
    if (td_tune_note(&note) != TD_OK)
        return tool_fail_library(usage.command);
    printf("thresholds: %s\n", note);
    td_free(note);
    print_thresholds();
    return TOOL_OK;
}

/* Where values go, before a minute is spent on them. */
static int find_file(const char *output, char **path)
{
    if (output) {
        *path = strdup(output);
        return *path ? TOOL_OK : tool_fail(usage.command, "out of memory");
    }
    return td_tune_file(path) == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

static int tune(tune_search *s, const char *output, bool dry)
{
    char *path = NULL;
    if (!dry && find_file(output, &path) != TOOL_OK)
        return TOOL_FAILED;
    int code = TOOL_OK;
    if (!tune_search_run(s) || !tune_apply(&s->chosen))
        code = tool_fail_library(usage.command);
    else {
        print_thresholds();
        print_gains(s);
        tune_say_fitness(s, stdout);
        if (!dry && td_tune_save(output) != TD_OK)
            code = tool_fail_library(usage.command);
        else
            printf("\nmeasured in %.0f s; %s%s\n", (double)(td_now_ns() - s->start_ns) / 1e9,
                   dry ? "nothing was kept" : "kept in ", dry ? "" : path);
    }
    free(path);
    return code;
}

int tool_tune(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [SECONDS] = {"seconds", 0, false, "S", "for all measurements, 1 to 600; default 45", NULL},
        [MOST] = {"most", 0, false, "BYTES", "of a tensor, at least 65536; default 64 MiB", NULL},
        [OUTPUT] = {"output", 'o', false, "FILE", "keeps them there instead; TD_TUNE=FILE reads them", NULL},
        [DRY] = {"dry-run", 0, false, NULL, "measures and keeps nothing", NULL},
        [SHOW] = {"show", 0, false, NULL, "only shows the thresholds in use, and where they come from", NULL},
    };
    const char *file = NULL;
    uint64_t seconds = 45, most = (uint64_t)64 << 20;
    const tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &file);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if ((flags[SECONDS].value && !tool_number(&usage, &flags[SECONDS], &seconds)) ||
        (flags[MOST].value && !tool_number(&usage, &flags[MOST], &most)))
        return TOOL_FAILED;
    if (seconds > 600)
        return tool_fail(usage.command, "--seconds is %" PRIu64 "; pass 1 to 600", seconds);
    if (most < 65536)
        return tool_fail(usage.command, "--most is %" PRIu64 "; pass at least 65536", most);
    if (flags[SHOW].value)
        return show();
    static tune_search search;
    search = (tune_search){
        .seconds = (double)seconds, .most_bytes = most, .progress = isatty(2) != 0, .threads = processors()};
    return tune(&search, flags[OUTPUT].value, flags[DRY].value != NULL);
}
