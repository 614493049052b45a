/* Section 17 of the manual: switches the profile (base/profile.h) on and off, by calls and by TD_PROFILE of the
 * environment, and hands out what print.c makes of it. A file that TD_PROFILE names is written when the library is
 * unloaded, which is the end of the process; where that fails nobody can be told, and no file is left. */
#include "base/profile.h"

#include "files/writer.h"
#include "profile/print.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_PREFIX "trace:"

enum { OFF, STEPS, TRACE };

td_status td_profile_start(const char *mode)
{
    const bool trace = mode && strcmp(mode, "trace") == 0;
    if (mode && *mode && !trace && strcmp(mode, "steps") != 0)
        return td_fail(TD_ARGUMENT, "profile_start: unknown mode \"%s\"; pass \"steps\" or \"trace\"", mode);
    td_profile_switch(trace ? TRACE : STEPS);
    return TD_OK;
}

void td_profile_stop(void)
{
    td_profile_switch(OFF);
}

void td_profile_reset(void)
{
    td_profile_clear();
}

int td_profile_running(void)
{
    return atomic_load(&td_profile_on) != OFF;
}

typedef td_status printer(char **text);

static td_status give(const char *call, printer *print, char **text)
{
    if (!text)
        return td_fail(TD_ARGUMENT, "%s: the output is NULL; pass one", call);
    const td_status status = print(text);
    if (status)
        td_fail_prefix("%s: ", call);
    return status;
}

td_status td_profile_text(char **text)
{
    return give("profile_text", td_profile_print_table, text);
}

td_status td_profile_json(char **text)
{
    return give("profile_json", td_profile_print_json, text);
}

td_status td_profile_trace(char **text)
{
    return give("profile_trace", td_profile_print_trace, text);
}

/* The line below `parent` whose name is the first word of the path, which moves past it; 0: none. */
static size_t find_line(const td_profile_lines *lines, size_t parent, const char **path)
{
    const size_t length = strcspn(*path, "/");
    const char *name = *path;
    *path += length + (name[length] == '/');
    for (size_t i = 1; i < lines->count; i++)
        if (lines->line[i].parent == parent && strlen(lines->line[i].name) == length &&
            memcmp(lines->line[i].name, name, length) == 0)
            return i;
    return 0;
}

td_status td_profile_count(const char *path, td_profile_counts *out)
{
    td_profile_lines lines;
    size_t at = 0;
    if (!path || !*path || !out)
        return td_fail(TD_ARGUMENT, "profile_count: no %s; pass one", out ? "path" : "output");
    if (!td_profile_read(&lines)) {
        td_fail_alloc(sizeof(td_profile_line));
        td_fail_prefix("profile_count: ");
        return TD_NO_MEMORY;
    }
    do
        at = find_line(&lines, at, &path);
    while (at && *path);
    const td_profile_line *line = &lines.line[at];
    *out = at ? (td_profile_counts){line->calls, line->bytes, line->total_ns, line->self_ns} : (td_profile_counts){0};
    free(lines.line);
    return TD_OK;
}

static bool ends_in_json(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static td_status save(const char *path, printer *print)
{
    char *text = NULL;
    td_writer writer;
    td_status status = print(&text);
    if (!status)
        status = td_writer_open(path, &writer);
    if (!status) {
        td_writer_put(&writer, text, strlen(text));
        status = td_writer_close(&writer, TD_OK);
    }
    free(text);
    return status;
}

td_status td_profile_save(const char *file)
{
    if (!file || !*file)
        return td_fail(TD_ARGUMENT, "profile_save: no file; pass a path, or \"trace:\" and a path");
    const bool trace = strncmp(file, TRACE_PREFIX, strlen(TRACE_PREFIX)) == 0;
    const char *path = trace ? file + strlen(TRACE_PREFIX) : file;
    if (!*path)
        return td_fail(TD_ARGUMENT, "profile_save: \"%s\" names no file; pass \"trace:\" and a path", file);
    const td_status status = save(path, trace                ? td_profile_print_trace
                                        : ends_in_json(path) ? td_profile_print_json
                                                             : td_profile_print_table);
    if (status)
        td_fail_prefix("profile_save \"%s\": ", path);
    return status;
}

/* -- TD_PROFILE ---------------------------------------------------------------------------------------------------- */

static char *wished; /* the file to write at the end; NULL: none */

int td_profile_wanted(void)
{
    const char *wish = getenv("TD_PROFILE");
    return wish && strcmp(wish, "1") == 0;
}

/* When the library is loaded, so that no call has to ask. */
__attribute__((constructor)) static void read_environment(void)
{
    const char *wish = getenv("TD_PROFILE");
    if (!wish || !*wish || strcmp(wish, "0") == 0)
        return;
    const bool trace = strncmp(wish, TRACE_PREFIX, strlen(TRACE_PREFIX)) == 0;
    if (strcmp(wish, "1") != 0)
        wished = strdup(wish);
    td_profile_switch(trace ? TRACE : STEPS);
}

/* Before the counters are freed, which base/profile.c does at the very end. A child of a fork that ends by exit writes
 * the file too, and its parent after it. */
__attribute__((destructor)) static void write_wished(void)
{
    td_profile_switch(OFF);
    if (wished)
        (void)td_profile_save(wished);
    free(wished);
    wished = NULL;
}
