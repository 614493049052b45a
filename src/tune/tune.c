/* The thresholds of base/thresholds.h as the public header has them (section 12): seen, set, kept in the user's cache
 * folder. `tensordoor tune` measures them through these calls. Plans that were made with other thresholds go, since
 * most decisions are taken when a plan is made. */
#include "base/status.h"
#include "base/suggest.h"
#include "base/thresholds.h"
#include "files/writer.h"
#include "plan/cache.h"
#include "tensordoor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ADVICE "run `tensordoor tune` to measure this machine"

size_t td_tune_count(void)
{
    return TD_THRESHOLDS;
}

td_threshold_info td_tune_threshold(size_t number)
{
    if (number >= TD_THRESHOLDS)
        return (td_threshold_info){.name = "", .meaning = ""};
    const td_threshold_line *line = &td_threshold_lines[number];
    return (td_threshold_info){.name = line->name,
                               .meaning = line->meaning,
                               .value = td_threshold((td_threshold_id)number),
                               .standard = line->standard,
                               .least = line->least,
                               .most = line->most};
}

static void take_values(const uint64_t *values, td_threshold_source source)
{
    td_thresholds_put(values, source);
    td_cache_clear();
}

static td_status fail_name(const char *name)
{
    const char *known[TD_THRESHOLDS];
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        known[i] = td_threshold_lines[i].name;
    const char *near = td_suggest(name, known, TD_THRESHOLDS);
    return td_fail(TD_ARGUMENT, "tune_set: there is no threshold \"%s\"; %s%s%s", name,
                   near ? "did you mean \"" : "td_tune_threshold names them all", near ? near : "", near ? "\"?" : "");
}

td_status td_tune_set(const char *name, uint64_t value)
{
    uint64_t values[TD_THRESHOLDS];
    size_t at = 0;
    if (!name)
        return td_fail(TD_ARGUMENT, "tune_set: the name is NULL; pass one");
    while (at < TD_THRESHOLDS && strcmp(td_threshold_lines[at].name, name) != 0)
        at++;
    if (at == TD_THRESHOLDS)
        return fail_name(name);
    const td_threshold_line *line = &td_threshold_lines[at];
    if (value < line->least || value > line->most)
        return td_fail(TD_ARGUMENT, "tune_set: %s is %" PRIu64 "; pass %" PRIu64 " to %" PRIu64, name, value,
                       line->least, line->most);
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        values[i] = i == at ? value : td_threshold((td_threshold_id)i);
    take_values(values, TD_THRESHOLDS_SET);
    return TD_OK;
}

void td_tune_reset(void)
{
    uint64_t values[TD_THRESHOLDS];
    td_thresholds_standard(values);
    take_values(values, TD_THRESHOLDS_STANDARD);
}

/* -- the file ------------------------------------------------------------------------------------------------------ */

td_status td_tune_file(char **path)
{
    char text[PATH_MAX];
    const char *wish = getenv("TD_TUNE");
    if (!path)
        return td_fail(TD_ARGUMENT, "tune_file: the output is NULL; pass one");
    if (!td_thresholds_path(text, sizeof text))
        return td_fail(
            TD_FILE, "tune_file: there is no file for thresholds: %s",
            wish && *wish ? "TD_TUNE is off; unset it"
                          : "neither XDG_CACHE_HOME nor HOME is a folder from the root; set one, or TD_TUNE to a path");
    *path = strdup(text);
    return *path ? TD_OK : td_fail_alloc(strlen(text) + 1);
}

static td_status find_path(const char *call, const char *file, char **path)
{
    if (!file) {
        const td_status status = td_tune_file(path);
        if (status)
            td_fail_prefix("%s: ", call);
        return status;
    }
    *path = strdup(file);
    return *path ? TD_OK : td_fail_alloc(strlen(file) + 1);
}

/* The folders of the user's own file. One that cannot be made is found missing when the file is opened. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        (void)mkdir(path, 0700); /* as the XDG specification wants it */
        *at = '/';
    }
}

td_status td_tune_save(const char *file)
{
    char text[TD_THRESHOLD_FILE_BYTES];
    char *path = NULL;
    uint64_t values[TD_THRESHOLDS];
    td_writer writer;
    td_status status = find_path("tune_save", file, &path);
    if (status)
        return status;
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        values[i] = td_threshold((td_threshold_id)i);
    if (!file)
        make_folders(path);
    status = td_writer_open(path, &writer);
    if (!status) {
        td_writer_put(&writer, text, td_thresholds_print(values, text));
        status = td_writer_close(&writer, TD_OK);
    }
    if (status)
        td_fail_prefix("tune_save \"%s\": ", path);
    free(path);
    return status;
}

td_status td_tune_load(const char *file)
{
    char problem[TD_THRESHOLD_NOTE_BYTES];
    uint64_t values[TD_THRESHOLDS];
    char *path = NULL;
    bool missing = false;
    td_status status = find_path("tune_load", file, &path);
    if (status)
        return status;
    if (td_thresholds_read(path, values, &missing, problem))
        take_values(values, TD_THRESHOLDS_SET);
    else
        status = td_fail(TD_FILE, "tune_load \"%s\": %s; " ADVICE, path, problem);
    free(path);
    return status;
}

/* -- what is in use ------------------------------------------------------------------------------------------------ */

td_status td_tune_note(char **text)
{
    const char *before = "", *note = "", *behind = "";
    if (!text)
        return td_fail(TD_ARGUMENT, "tune_note: the output is NULL; pass one");
    switch (td_thresholds_source()) {
    case TD_THRESHOLDS_STANDARD:
        before = "the defaults; " ADVICE;
        break;
    case TD_THRESHOLDS_READ:
        before = "from ";
        note = td_thresholds_note();
        break;
    case TD_THRESHOLDS_IGNORED:
        before = "the defaults; ";
        note = td_thresholds_note();
        behind = "; " ADVICE;
        break;
    case TD_THRESHOLDS_OFF:
        before = "the defaults, as TD_TUNE is off";
        break;
    case TD_THRESHOLDS_SET:
        before = "set by this program";
        break;
    }
    const size_t bytes = strlen(before) + strlen(note) + strlen(behind) + 1;
    *text = malloc(bytes);
    if (!*text)
        return td_fail_alloc(bytes);
    snprintf(*text, bytes, "%s%s%s", before, note, behind);
    return TD_OK;
}
