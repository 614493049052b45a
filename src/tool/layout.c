/* The flags that say a layout, the same in every subcommand that has one: a pattern with its options and address, a
 * preset by name, or an entry of a layout file. It refuses none of them, and two. */
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FILE:NAME at the last colon, so that a path may hold colons. */
bool tool_layout_name(const tool_usage *usage, const char *value, char **path, const char **name)
{
    const char *colon = strrchr(value, ':');
    if (!colon || colon == value || !colon[1]) {
        tool_fail(usage->command, "--layout is \"%s\"; it needs FILE:NAME, as in layouts.txt:weights", value);
        return false;
    }
    *path = strndup(value, (size_t)(colon - value));
    *name = colon + 1;
    if (!*path)
        tool_fail(usage->command, "no memory");
    return *path != NULL;
}

static bool open_from_file(const tool_usage *usage, const char *value, td_layout **layout)
{
    char *path = NULL;
    const char *name = NULL;
    if (!tool_layout_name(usage, value, &path, &name))
        return false;
    const bool good = td_layout_open(path, name, layout) == TD_OK;
    if (!good)
        tool_fail_library(usage->command);
    free(path);
    return good;
}

static bool create_preset(const tool_usage *usage, const tool_flag *flag, td_layout **layout)
{
    const char *name = flag[TOOL_PRESET].value;
    char *pattern = NULL;
    if (asprintf(&pattern, "preset:%s", name) < 0) {
        tool_fail(usage->command, "no memory");
        return false;
    }
    const bool good = td_layout_create(pattern, flag[TOOL_OPTIONS].value, flag[TOOL_ADDRESS].value, layout) == TD_OK;
    if (!good)
        tool_fail_library(usage->command);
    free(pattern);
    return good;
}

bool tool_layout(const tool_usage *usage, const tool_flag *flag, td_layout **layout)
{
    const int ways =
        (flag[TOOL_PATTERN].value != NULL) + (flag[TOOL_PRESET].value != NULL) + (flag[TOOL_LAYOUT].value != NULL);
    if (ways == 0) {
        tool_fail(usage->command, "no --pattern; pass --pattern %s, %s; or --preset or --layout",
                  flag[TOOL_PATTERN].placeholder, flag[TOOL_PATTERN].meaning);
        return false;
    }
    if (ways > 1) {
        tool_fail(usage->command, "two of --pattern, --preset and --layout; pass one");
        return false;
    }
    if (flag[TOOL_LAYOUT].value && (flag[TOOL_OPTIONS].value || flag[TOOL_ADDRESS].value)) {
        tool_fail(usage->command, "--layout and --%s; the layout file says it, so drop one",
                  flag[TOOL_OPTIONS].value ? "options" : "address");
        return false;
    }
    if (flag[TOOL_LAYOUT].value)
        return open_from_file(usage, flag[TOOL_LAYOUT].value, layout);
    if (flag[TOOL_PRESET].value)
        return create_preset(usage, flag, layout);
    if (td_layout_create(flag[TOOL_PATTERN].value, flag[TOOL_OPTIONS].value, flag[TOOL_ADDRESS].value, layout) !=
        TD_OK) {
        tool_fail_library(usage->command);
        return false;
    }
    return true;
}
