/* The arrays of a memory of a map as images: one file for each in a folder, of whole arrays, as a programmer or a
 * simulator wants them. Behind --map of pack, unpack and compare. Functions that return false have printed one line.
 * Writes all images or none. */
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_flags(const tool_place *place)
{
    static const int foreign[] = {TOOL_WIDTH, TOOL_DEPTH, TOOL_BANKS};
    const tool_flag *flags = place->flags;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (flags[foreign[i]].value) {
            tool_fail(place->usage->command, "--%s beside --map, which says it; leave it out", flags[foreign[i]].name);
            return false;
        }
    if (!flags[TOOL_MEMORY].value == !flags[TOOL_AT].value) {
        tool_fail(place->usage->command,
                  "%s --memory %s --at; pass one of them, the name of a memory or a system address",
                  flags[TOOL_AT].value ? "both" : "neither", flags[TOOL_AT].value ? "and" : "nor");
        return false;
    }
    return true;
}

/* Names the memory, and moves the layout to where it begins. */
static bool find_memory(tool_place *place)
{
    const tool_flag *at = &place->flags[TOOL_AT];
    td_layout *moved = NULL;
    uint64_t address = 0;
    if (!at->value) {
        if (td_map_find(place->map, place->flags[TOOL_MEMORY].value, &place->entry) == TD_OK)
            return true;
        tool_fail_library(place->usage->command);
        return false;
    }
    if (strcmp(at->value, "0") != 0 && !tool_number(place->usage, at, &address))
        return false;
    if (td_map_place(place->map, address, place->layout, &place->entry, &moved) != TD_OK) {
        tool_fail_library(place->usage->command);
        return false;
    }
    td_layout_destroy(&place->layout);
    place->layout = moved;
    return true;
}

bool tool_macros_open(tool_place *place, const char *folder)
{
    place->folder = folder;
    if (!check_flags(place))
        return false;
    if (td_map_open(place->flags[TOOL_MAP].value, NULL, 0, &place->map) != TD_OK) {
        tool_fail_library(place->usage->command);
        return false;
    }
    if (!find_memory(place))
        return false;
    place->banks.usage = place->usage;
    place->banks.count = 1;
    place->banks.memory = calloc(1, sizeof(td_memory *));
    place->banks.path = calloc(1, sizeof *place->banks.path);
    if (!place->banks.memory || !place->banks.path) {
        tool_fail(place->usage->command, "no memory");
        return false;
    }
    place->banks.memory[0] = place->entry.memory;
    place->width_bits = td_memory_width_bits(place->entry.memory);
    place->depth_words = td_memory_depth_words(place->entry.memory);
    return true;
}

/* FOLDER/NAME.FORMAT, a / in the name as _; to be freed, or NULL with a line printed. */
static char *image_path(const tool_place *place, size_t array)
{
    const char *format = place->flags[TOOL_FORMAT].value ? place->flags[TOOL_FORMAT].value : "hex";
    const char *name = td_memory_name(place->entry.arrays[array]);
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%s", place->folder, name, format) < 0) {
        tool_fail(place->usage->command, "no memory");
        return NULL;
    }
    for (char *c = path + strlen(place->folder) + 1; *c; c++)
        if (*c == '/')
            *c = '_';
    return path;
}

bool tool_macros_load(const tool_place *place)
{
    bool good = true;
    for (size_t i = 0; i < place->entry.array_count && good; i++) {
        char *path = image_path(place, i);
        good = path && tool_load_image(place->usage->command, place->entry.arrays[i], path);
        free(path);
    }
    return good;
}

static bool save_array(const tool_place *place, size_t array)
{
    const td_memory *memory = place->entry.arrays[array];
    const td_span whole = {0, 0, td_memory_depth_words(memory)};
    char *path = image_path(place, array);
    const bool good = path && td_memory_save_file(memory, path, &whole, 1) == TD_OK;
    if (path && !good)
        tool_fail_library(place->usage->command);
    free(path);
    return good;
}

bool tool_macros_save(const tool_place *place)
{
    const bool made = mkdir(place->folder, 0777) == 0;
    if (!made && errno != EEXIST) {
        tool_fail(place->usage->command, "cannot create the folder \"%s\": %s; check the path and its permissions",
                  place->folder, strerror(errno));
        return false;
    }
    size_t saved = 0;
    while (saved < place->entry.array_count && save_array(place, saved))
        saved++;
    if (saved == place->entry.array_count)
        return true;
    while (saved-- > 0) {
        char *path = image_path(place, saved);
        if (path)
            tool_remove(path);
        free(path);
    }
    if (made)
        (void)rmdir(place->folder);
    return false;
}
