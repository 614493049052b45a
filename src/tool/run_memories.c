/* See run.h. A memory comes from an image or begins as zeros; one with banks from an image for each, whose path has %d
 * in place of the bank's number, as in the other subcommands. */
#include "tool/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- making -------------------------------------------------------------------------------------------------------- */

/* WIDTH or WIDTHxDEPTH; a depth of 0 is none. */
static bool read_size(const char *text, uint64_t *width_bits, uint64_t *depth_words)
{
    char *end = NULL;
    *depth_words = 0;
    if (*text < '0' || *text > '9')
        return false;
    *width_bits = strtoull(text, &end, 0);
    if (*end == 'x' && end[1] >= '0' && end[1] <= '9') {
        *depth_words = strtoull(end + 1, &end, 0);
        if (*depth_words == 0)
            return false;
    }
    return *end == '\0' && *width_bits > 0;
}

/* "out/wbuf.%d.hex" with the number of the bank; to be freed. */
static char *bank_path(const tool_usage *usage, const char *path, bool many, size_t bank)
{
    const char *hole = many ? strstr(path, "%d") : NULL;
    char *filled = NULL;
    if (!hole)
        filled = strdup(path);
    else if (asprintf(&filled, "%.*s%zu%s", (int)(hole - path), path, bank, hole + 2) < 0)
        filled = NULL;
    if (!filled)
        tool_fail(usage->command, "no memory");
    return filled;
}

/* The depth of the deepest image. */
static bool find_depth(const tool_usage *usage, const tool_memory *m, const char *image, uint64_t width_bits,
                       uint64_t *depth_words)
{
    for (size_t i = 0; i < m->banks; i++) {
        uint64_t depth = 0;
        char *path = bank_path(usage, image, m->many, i);
        const bool found = path && td_image_depth(path, width_bits, &depth) == TD_OK;
        if (path && !found)
            tool_fail_library(usage->command);
        free(path);
        if (!found)
            return false;
        *depth_words = depth > *depth_words ? depth : *depth_words;
    }
    return true;
}

static bool make_bank(const tool_usage *usage, const tool_memory *m, size_t bank, const char *image,
                      uint64_t width_bits, uint64_t depth_words)
{
    if (td_memory_create(m->name, width_bits, depth_words, &m->bank[bank]) != TD_OK) {
        tool_fail_library(usage->command);
        return false;
    }
    char *path = *image ? bank_path(usage, image, m->many, bank) : NULL;
    const bool good = !*image || (path && tool_load_image(usage->command, m->bank[bank], path));
    free(path);
    return good;
}

/* The memory itself, with the words of its images; an image of "" is none. */
static bool make_memory(const tool_usage *usage, td_program *program, tool_memory *m, const char *image,
                        uint64_t width_bits, uint64_t depth_words)
{
    if (!*image && !depth_words) {
        tool_fail(usage->command, "--memory \"%s=:%" PRIu64 "\" has no image and no depth; pass %s=:%" PRIu64 "x1024",
                  m->name, width_bits, m->name, width_bits);
        return false;
    }
    if (*image && m->many && !strstr(image, "%d")) {
        tool_fail(usage->command,
                  "\"%s\" is one file for the banks; write %%d where the bank's number belongs, as in OUT.%%d.hex",
                  image);
        return false;
    }
    m->bank = calloc(m->banks, sizeof(void *));
    if (!m->bank) {
        tool_fail(usage->command, "no memory");
        return false;
    }
    if (!depth_words && !find_depth(usage, m, image, width_bits, &depth_words))
        return false;
    for (size_t i = 0; i < m->banks; i++)
        if (!make_bank(usage, m, i, image, width_bits, depth_words))
            return false;
    if (td_program_bind_banks(program, m->name, m->bank, m->banks) == TD_OK)
        return true;
    tool_fail_library(usage->command);
    return false;
}

/* NAME=IMAGE:WIDTH */
static bool add_memory(const tool_usage *usage, td_program *program, const char *value, tool_memories *all)
{
    const char *image = strchr(value, '='), *size = image ? strrchr(image, ':') : NULL;
    uint64_t width = 0, depth = 0;
    if (!size || image == value || !read_size(size + 1, &width, &depth)) {
        tool_fail(usage->command, "--memory is \"%s\"; it needs NAME=IMAGE:WIDTH, as %s", value, MEMORY_FORM);
        return false;
    }
    char *name = strndup(value, (size_t)(image - value)), *path = strndup(image + 1, (size_t)(size - image - 1));
    tool_memory *m = NULL;
    for (size_t i = 0; i < all->count && name; i++)
        if (strcmp(all->memory[i].name, name) == 0)
            m = &all->memory[i];
    if (m && !m->bank) /* --banks has named it */
        free(name);
    else if (name) {
        m = all->count < TOOL_MOST_MEMORIES ? &all->memory[all->count++] : NULL;
        if (m)
            *m = (tool_memory){.name = name, .banks = 1};
        else
            free(name);
    }
    bool good = name && path && m;
    if (!name || !path)
        tool_fail(usage->command, "no memory");
    else if (!m)
        tool_fail(usage->command, "more than %d memories; bind fewer", TOOL_MOST_MEMORIES);
    good = good && make_memory(usage, program, m, path, width, depth);
    free(path);
    return good;
}

/* NAME=N */
static bool add_banks(const tool_usage *usage, const char *value, tool_memories *all)
{
    const char *number = strchr(value, '=');
    char *end = NULL;
    const unsigned long count = number && number[1] >= '0' && number[1] <= '9' ? strtoul(number + 1, &end, 0) : 0;
    if (!count || *end || number == value) {
        tool_fail(usage->command, "--banks is \"%s\"; it needs NAME=N, as %s", value, BANKS_FORM);
        return false;
    }
    if (count > TOOL_MAX_BANKS) {
        tool_fail(usage->command, "--banks is \"%s\"; it needs at most %d", value, TOOL_MAX_BANKS);
        return false;
    }
    char *name = strndup(value, (size_t)(number - value));
    if (!name) {
        tool_fail(usage->command, "no memory");
        return false;
    }
    all->memory[all->count++] = (tool_memory){.name = name, .banks = count, .many = true};
    return true;
}

bool tool_memories_open(const tool_usage *usage, td_program *program, const char *const *memory, size_t memories,
                        const char *const *banks, size_t bank_flags, tool_memories *out)
{
    for (size_t i = 0; i < bank_flags; i++)
        if (!add_banks(usage, banks[i], out))
            return false;
    for (size_t i = 0; i < memories; i++)
        if (!add_memory(usage, program, memory[i], out))
            return false;
    for (size_t i = 0; i < out->count; i++)
        if (!out->memory[i].bank) {
            tool_fail(usage->command, "--banks names \"%s\", which no --memory does; pass --memory %s=IMAGE:WIDTH too",
                      out->memory[i].name, out->memory[i].name);
            return false;
        }
    return true;
}

/* -- saving -------------------------------------------------------------------------------------------------------- */

/* The path of a bank's image; to be freed. */
static char *image_path(const tool_usage *usage, const char *folder, const tool_memory *m, size_t bank)
{
    char *path = NULL;
    const int length = m->many ? asprintf(&path, "%s/%s.%zu.hex", folder, m->name, bank)
                               : asprintf(&path, "%s/%s.hex", folder, m->name);
    if (length >= 0)
        return path;
    tool_fail(usage->command, "no memory");
    return NULL;
}

static bool save_bank(const tool_usage *usage, const char *folder, const tool_memory *m, size_t bank)
{
    const td_span whole = {0, 0, td_memory_depth_words(m->bank[bank])};
    char *path = image_path(usage, folder, m, bank);
    const bool saved = path && td_memory_save_file(m->bank[bank], path, &whole, 1) == TD_OK;
    if (path && !saved)
        tool_fail_library(usage->command);
    free(path);
    return saved;
}

/* How many banks were saved: all, or none where the program writes none of them. False where one could not be. */
static bool save_memory(const tool_usage *usage, td_program *program, const char *label, const char *arguments,
                        const char *folder, const tool_memory *m, size_t *saved)
{
    size_t written = 0;
    for (size_t i = 0; i < m->banks; i++) {
        td_span *spans = NULL;
        size_t count = 0;
        if (td_program_spans(program, label, arguments, m->bank[i], TD_PROGRAM_WRITES, &spans, &count) != TD_OK) {
            tool_fail(usage->command, "%s", td_last_error());
            return false;
        }
        td_free(spans);
        written += count;
    }
    for (size_t i = 0; i < m->banks && written; i++, ++*saved)
        if (!save_bank(usage, folder, m, i))
            return false;
    return true;
}

bool tool_memories_save(const tool_usage *usage, td_program *program, const char *label, const char *arguments,
                        const char *folder, const tool_memories *memories)
{
    size_t saved[TOOL_MOST_MEMORIES] = {0};
    bool good = true;
    const bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST) {
        tool_fail(usage->command, "cannot create the folder \"%s\": %s; check the path and its permissions", folder,
                  strerror(errno));
        return false;
    }
    for (size_t i = 0; i < memories->count && good; i++)
        good = save_memory(usage, program, label, arguments, folder, &memories->memory[i], &saved[i]);
    for (size_t i = 0; i < memories->count && !good; i++)
        for (size_t k = 0; k < saved[i]; k++) {
            char *path = image_path(usage, folder, &memories->memory[i], k);
            if (path)
                tool_remove(path);
            free(path);
        }
    if (made && !good)
        (void)rmdir(folder);
    return good;
}

void tool_memories_close(tool_memories *memories)
{
    for (size_t i = 0; i < memories->count; i++) {
        tool_memory *m = &memories->memory[i];
        for (size_t k = 0; m->bank && k < m->banks; k++)
            td_memory_destroy(&m->bank[k]);
        free(m->bank);
        free(m->name);
    }
    *memories = (tool_memories){.count = 0};
}
