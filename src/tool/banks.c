/* Images of several banks: `--banks N` and a path with %d for the bank's number. Without --banks there is one memory,
 * and the path is taken as it is. Writes all images or none. */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fill_path(tool_banks *banks, const char *path, size_t bank)
{
    const char *hole = banks->many ? strstr(path, "%d") : NULL;
    if (!hole)
        return (banks->path[bank] = strdup(path)) != NULL;
    return asprintf(&banks->path[bank], "%.*s%zu%s", (int)(hole - path), path, bank, hole + 2) >= 0;
}

bool tool_banks_open(const tool_usage *usage, const tool_flag *count, const char *path, tool_banks *banks)
{
    uint64_t number = 1;
    *banks = (tool_banks){.usage = usage, .many = count->value != NULL};
    if (count->value && !tool_number(usage, count, &number))
        return false;
    if (number > TOOL_MAX_BANKS) {
        tool_fail(usage->command, "--banks is %" PRIu64 "; it needs at most %d", number, TOOL_MAX_BANKS);
        return false;
    }
    if (banks->many && !strstr(path, "%d")) {
        tool_fail(usage->command,
                  "\"%s\" is one file for the banks; write %%d where the bank's number belongs, as in OUT.%%d.hex",
                  path);
        return false;
    }
    banks->count = (size_t)number;
    banks->memory = calloc(banks->count, sizeof(td_memory *));
    banks->path = calloc(banks->count, sizeof *banks->path);
    bool good = banks->memory && banks->path;
    for (size_t i = 0; i < banks->count && good; i++)
        good = fill_path(banks, path, i);
    if (!good)
        tool_fail(usage->command, "no memory");
    return good;
}

bool tool_banks_create(tool_banks *banks, uint64_t width_bits, uint64_t depth_words)
{
    for (size_t i = 0; i < banks->count; i++)
        if (td_memory_create(banks->path[i], width_bits, depth_words, &banks->memory[i]) != TD_OK) {
            tool_fail_library(banks->usage->command);
            return false;
        }
    return true;
}

/* The path without a format and its options in front. */
static const char *plain_path(const char *name)
{
    const char *colon = strchr(name, ':');
    char word[16];
    const int length = (int)strcspn(name, ":,./");
    if (!colon || length > 12 || (name[length] != ':' && name[length] != ','))
        return name;
    snprintf(word, sizeof word, "%.*s:x", length, name);
    return td_file_kind(word) & TD_USE_IMAGE ? colon + 1 : name;
}

/* A bank that the layout leaves empty has an image without words: whoever reads one file per bank finds it. */
static bool save_empty(const tool_banks *banks, size_t bank)
{
    FILE *file = fopen(plain_path(banks->path[bank]), "wb");
    if (file && fclose(file) == 0)
        return true;
    tool_fail(banks->usage->command, "cannot create \"%s\"; check the folder and its permissions", banks->path[bank]);
    return false;
}

bool tool_banks_save(const tool_banks *banks, const td_span *spans, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < banks->count; i++) {
        const size_t first = at;
        while (at < count && spans[at].bank == i)
            at++;
        bool good = true;
        if (at == first)
            good = save_empty(banks, i);
        else if (td_memory_save_file(banks->memory[i], banks->path[i], spans + first, at - first) != TD_OK) {
            tool_fail_library(banks->usage->command);
            good = false;
        }
        if (!good) {
            while (i-- > 0)
                tool_remove(plain_path(banks->path[i]));
            return false;
        }
    }
    return true;
}

bool tool_load_image(const char *command, td_memory *memory, const char *path)
{
    td_image_outside outside;
    if (td_memory_load_file_part(memory, path, &outside) != TD_OK) {
        tool_fail_library(command);
        return false;
    }
    if (outside.bytes)
        fprintf(stderr,
                "tensordoor %s: \"%s\": skipped %" PRIu64 " bytes outside the memory, at 0x%" PRIx64 " to 0x%" PRIx64
                "\n",
                command, path, outside.bytes, outside.first, outside.last);
    return true;
}

bool tool_banks_load(const tool_banks *banks)
{
    bool good = true;
    for (size_t i = 0; i < banks->count && good; i++)
        good = tool_load_image(banks->usage->command, banks->memory[i], banks->path[i]);
    return good;
}

bool tool_banks_depth(const tool_banks *banks, uint64_t width_bits, const td_span *spans, size_t count,
                      uint64_t *depth_words)
{
    *depth_words = 1;
    for (size_t i = 0; i < banks->count; i++) {
        uint64_t depth = 0, needed = 0;
        for (size_t s = 0; s < count; s++)
            if (spans[s].bank == i && spans[s].first + spans[s].count > needed)
                needed = spans[s].first + spans[s].count;
        if (td_image_depth(banks->path[i], width_bits, &depth) != TD_OK) {
            tool_fail_library(banks->usage->command);
            return false;
        }
        if (needed > depth) {
            tool_fail(banks->usage->command,
                      "\"%s\" ends at word 0x%" PRIx64 ", the layout reads up to 0x%" PRIx64
                      "; if the words behind the end are zero, pass --depth %" PRIu64,
                      banks->path[i], depth ? depth - 1 : 0, needed - 1, needed);
            return false;
        }
        *depth_words = depth > *depth_words ? depth : *depth_words;
    }
    return true;
}

void tool_banks_close(tool_banks *banks)
{
    for (size_t i = 0; i < banks->count && banks->memory && banks->path; i++) {
        td_memory_destroy(&banks->memory[i]);
        free(banks->path[i]);
    }
    free(banks->memory);
    free(banks->path);
    *banks = (tool_banks){0};
}
