/* The arguments of a run, and the graph that is compiled with them: kept until other arguments, names or lines come.
 * The facades of section 16 of the public header that need a graph call td_program_prepare. */
#include "program/program.h"

#include "base/profile.h"
#include "base/record.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_status fail_argument(const td_program *p, const char *name)
{
    const char *known[64];
    size_t count = 0;
    for (; count < p->arguments && count < 64; count++)
        known[count] = p->argument[count].name;
    const char *near = td_suggest(name, known, count);
    if (near)
        return td_fail(TD_ARGUMENT, "no argument \"%s\"; did you mean \"%s\"?", name, near);
    return td_fail(TD_ARGUMENT, "no argument \"%s\"; declare it in the program: arg %s = 0", name, name);
}

/* One NAME=VALUE or NAME="VALUE"; `value` has room for all of it. */
static td_status read_argument(const td_program *p, const char **at, size_t *number, char *value)
{
    char name[64];
    size_t length = 0, used = 0;
    const char *c = *at;
    while (td_is_name_char(c[length]))
        length++;
    if (!length || length >= sizeof name || c[length] != '=')
        return td_fail(TD_ARGUMENT, "\"%s\" is no argument; pass NAME=VALUE, separated by blanks", *at);
    snprintf(name, sizeof name, "%.*s", (int)length, c);
    c += length + 1;
    if (*c == '"') {
        for (c++; *c && *c != '"'; c++) {
            c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
            value[used++] = *c;
        }
        if (*c != '"')
            return td_fail(TD_ARGUMENT, "the value of %s has no second quote; end it with \"", name);
        c++;
    } else
        while (*c && !strchr(" \t\n,", *c))
            value[used++] = *c++;
    value[used] = 0;
    *at = c;
    for (*number = 0; *number < p->arguments; ++*number)
        if (strcmp(p->argument[*number].name, name) == 0)
            return TD_OK;
    return fail_argument(p, name);
}

/* The values of a run into a list by the number of the argument; NULL: its default. */
static td_status read_arguments(const td_program *p, const char *text, char **given)
{
    td_status status = TD_OK;
    for (text += strspn(text, " \t\n,"); *text && !status; text += strspn(text, " \t\n,")) {
        size_t number = 0;
        char *value = malloc(strlen(text) + 1);
        if (!value)
            return td_fail_alloc(strlen(text) + 1);
        status = read_argument(p, &text, &number, value);
        if (status) {
            free(value);
            return status;
        }
        free(given[number]);
        given[number] = value;
    }
    return status;
}

static void set_given(td_program *p, char **given)
{
    for (size_t i = 0; i < p->given_count; i++)
        free(p->given[i]);
    free(p->given);
    p->given = given;
    p->given_count = p->arguments;
    for (size_t i = 0; i < p->arguments; i++)
        p->argument[i].given = given[i];
}

static td_status compile(td_program *p, const char *arguments, td_explain *explain)
{
    char **given = calloc(p->arguments + 1, sizeof *given), *with = strdup(arguments);
    td_graph *graph = NULL;
    if (!given || !with) {
        free(given);
        free(with);
        return td_fail_alloc((p->arguments + 1) * sizeof *given);
    }
    td_status status = TD_OK;
    if (p->unrecorded)
        status = td_fail(TD_ARGUMENT, "the program was not recorded whole: %s", p->unrecorded);
    else if (p->opens)
        status = td_program_fail(p, &p->last->word, TD_FORMAT, "a block without steps; write them below, indented");
    if (!status)
        status = read_arguments(p, arguments, given);
    if (!status) {
        td_program_forget(p); /* its ops point into the values that go now */
        set_given(p, given);
        given = NULL;
        td_record_pause(); /* what compiling calls is no step of a program that is recorded meanwhile */
        status = td_graph_create(p, explain, &graph);
        td_record_resume();
    }
    if (status) {
        for (size_t i = 0; given && i < p->arguments; i++)
            free(given[i]);
        free(given);
        free(with);
        return status;
    }
    p->graph = graph;
    p->compiled_with = with;
    return TD_OK;
}

static bool same_value(const td_argument *a, const char *given)
{
    return strcmp(a->given ? a->given : a->value, given ? given : a->value) == 0;
}

/* Other arguments for the graph that is there; *done where that was possible. Values that stay are kept as they are,
 * since ops point to them. */
static td_status rearm(td_program *p, const char *arguments, bool *done)
{
    char **given = calloc(p->arguments + 1, sizeof *given), *with = strdup(arguments);
    const char **changed = calloc(p->arguments + 1, sizeof *changed);
    size_t count = 0;
    td_status status = given && with && changed ? TD_OK : td_fail_alloc((p->arguments + 1) * sizeof *given);
    if (!status)
        status = read_arguments(p, arguments, given);
    bool fills = !status && !p->unrecorded && !p->opens && p->given_count == p->arguments;
    for (size_t i = 0; i < p->arguments && fills; i++)
        if (!same_value(&p->argument[i], given[i])) {
            changed[count++] = p->argument[i].name;
            fills = td_argument_fills(p, p->argument[i].name);
        }
    if (fills) {
        for (size_t i = 0; i < p->arguments; i++) {
            char *const before = p->given[i];
            if (same_value(&p->argument[i], given[i])) {
                free(given[i]);
                given[i] = before;
            } else {
                p->argument[i].given = given[i];
                p->given[i] = given[i];
                given[i] = before;
            }
        }
        for (size_t i = 0; i < p->arguments; i++) /* what was given before goes when no op points to it any more */
            given[i] = given[i] == p->given[i] ? NULL : given[i];
        td_record_pause();
        *done = td_graph_rearm(p, p->graph, changed, count) == TD_OK;
        td_record_resume();
        if (*done) {
            free(p->compiled_with);
            p->compiled_with = with;
            with = NULL;
        } else
            td_program_forget(p);
    }
    for (size_t i = 0; given && i < p->arguments; i++)
        free(given[i]);
    free(given);
    free(changed);
    free(with);
    return status;
}

td_status td_program_recompile(td_program *p, const char *arguments, td_explain *explain)
{
    return p ? compile(p, arguments ? arguments : "", explain) : td_fail(TD_ARGUMENT, "the program is NULL; pass one");
}

static td_status fail_label(const td_program *p, const char *label)
{
    const char *near = td_suggest(label, p->label, p->labels);
    if (near)
        return td_fail(TD_ARGUMENT, "no label \"%s\"; did you mean \"%s\"?", label, near);
    return td_fail(TD_ARGUMENT, "no label \"%s\"; write label %s: in the program", label, label);
}

td_status td_program_prepare(td_program *p, const char *label, const char *arguments, td_schedule **out)
{
    size_t number = 0;
    if (!p)
        return td_fail(TD_ARGUMENT, "the program is NULL; pass one");
    if (!arguments)
        arguments = "";
    bool ready = p->graph && p->compiled_with && strcmp(p->compiled_with, arguments) == 0;
    td_status status = p->graph && p->compiled_with && !ready ? rearm(p, arguments, &ready) : TD_OK;
    if (!status && !ready)
        status = compile(p, arguments, NULL);
    if (status)
        return status;
    if (label && *label) {
        while (number < p->labels && strcmp(p->label[number], label) != 0)
            number++;
        if (number == p->labels)
            return fail_label(p, label);
    } else
        number = p->labels;
    *out = &p->graph->schedule[number];
    return TD_OK;
}

td_status td_program_compile(td_program *program, const char *arguments)
{
    TD_OPERATION(operation, "program_compile");
    td_schedule *schedule = NULL;
    if (program)
        td_program_forget(program);
    const td_status status = td_program_prepare(program, NULL, arguments, &schedule);
    if (status)
        td_fail_prefix("program_compile: ");
    return status;
}
