/* `tensordoor run`: a program (section 16 of the manual) on memory images, for golden models and for checks without a
 * simulator. Memories come from images or begin as zeros; those that the program writes are written to a folder when it
 * is given. Exit code 0, 1 when a checkpoint differs, 2 when the program is refused; then no image is written. */
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LABEL, ARGUMENTS, OUT, CHECK, EXPLAIN, JSON, JUNIT, HTML, MEMORY, FLAGS };

#define MOST_MEMORIES 256
#define MEMORY_FORM "wbuf=wbuf.hex:128"

static const tool_usage usage = {
    .command = "run",
    .file = "PROGRAM.td",
    .file_required = true,
    .about =
        "Runs a program of loads, dumps, fills and checkpoints on memory images, and prints a line for every\n"
        "checkpoint with the report of the first that differs. --memory NAME=IMAGE:WIDTH gives a memory of the\n"
        "program the words of an image, NAME=IMAGE:WIDTHxDEPTH also a depth, NAME=:WIDTHxDEPTH begins with zeros.\n"
        "With -o DIR the memories that the program writes become DIR/NAME.hex. Exit code 0: all checkpoints\n"
        "match; 1: one does not; 2: the program was refused, and nothing was written.",
};

typedef struct job {
    td_program *program;
    td_checkpoints *found;
    size_t count;
    td_memory *memory[MOST_MEMORIES];
} job;

/* The whole message: its lines show the line of the program and a caret under the word. */
static int fail_program(void)
{
    return tool_fail(usage.command, "%s", td_last_error());
}

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

/* The memory itself, with the words of its image; an image of "" is none. */
static bool make_memory(job *j, const char *name, const char *image, uint64_t width_bits, uint64_t depth_words)
{
    td_memory **memory = &j->memory[j->count];
    if (!*image && !depth_words) {
        tool_fail(usage.command, "--memory \"%s=:%" PRIu64 "\" has no image and no depth; pass %s=:%" PRIu64 "x1024",
                  name, width_bits, name, width_bits);
        return false;
    }
    if ((!depth_words && td_image_depth(image, width_bits, &depth_words) != TD_OK) ||
        td_memory_create(name, width_bits, depth_words, memory) != TD_OK) {
        tool_fail_library(usage.command);
        return false;
    }
    j->count++;
    if (*image && !tool_load_image(usage.command, *memory, image))
        return false;
    if (td_program_bind_memory(j->program, name, *memory) == TD_OK)
        return true;
    tool_fail_library(usage.command);
    return false;
}

/* NAME=IMAGE:WIDTH */
static bool add_memory(job *j, const char *value)
{
    const char *image = strchr(value, '='), *size = image ? strrchr(image, ':') : NULL;
    uint64_t width = 0, depth = 0;
    if (!size || image == value || !read_size(size + 1, &width, &depth)) {
        tool_fail(usage.command, "--memory is \"%s\"; it needs NAME=IMAGE:WIDTH, as %s", value, MEMORY_FORM);
        return false;
    }
    char *name = strndup(value, (size_t)(image - value)), *path = strndup(image + 1, (size_t)(size - image - 1));
    bool good = name && path;
    if (!good)
        tool_fail(usage.command, "no memory");
    good = good && make_memory(j, name, path, width, depth);
    free(name);
    free(path);
    return good;
}

/* The path of a memory's image; to be freed. */
static char *image_path(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.hex", folder, name) >= 0)
        return path;
    tool_fail(usage.command, "no memory");
    return NULL;
}

/* 1 when it was saved, 0 when the program does not write it, -1 when it could not be saved. */
static int save_memory(const job *j, size_t i, const tool_flag *flags)
{
    const td_span whole = {0, 0, td_memory_depth_words(j->memory[i])};
    td_span *spans = NULL;
    size_t count = 0;
    if (td_program_spans(j->program, flags[LABEL].value, flags[ARGUMENTS].value, j->memory[i], TD_PROGRAM_WRITES,
                         &spans, &count) != TD_OK)
        return fail_program(), -1;
    td_free(spans);
    if (!count)
        return 0;
    char *path = image_path(flags[OUT].value, td_memory_name(j->memory[i]));
    const bool saved = path && td_memory_save_file(j->memory[i], path, &whole, 1) == TD_OK;
    if (path && !saved)
        tool_fail_library(usage.command);
    free(path);
    return saved ? 1 : -1;
}

static bool save_memories(const job *j, const tool_flag *flags)
{
    const char *folder = flags[OUT].value;
    bool saved[MOST_MEMORIES] = {false}, good = true;
    const bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST) {
        tool_fail(usage.command, "cannot create the folder \"%s\": %s; check the path and its permissions", folder,
                  strerror(errno));
        return false;
    }
    for (size_t i = 0; i < j->count && good; i++) {
        const int result = save_memory(j, i, flags);
        saved[i] = result > 0;
        good = result >= 0;
    }
    for (size_t i = 0; i < j->count && !good; i++) {
        char *path = saved[i] ? image_path(folder, td_memory_name(j->memory[i])) : NULL;
        if (path)
            tool_remove(path);
        free(path);
    }
    if (made && !good)
        (void)rmdir(folder);
    return good;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) == 0 && written)
        return true;
    tool_fail(usage.command, "cannot write \"%s\": %s; check the folder and its permissions", path, strerror(errno));
    return false;
}

/* Prints what the checkpoints found, and returns the exit code. */
static int report(const td_checkpoints *found, const tool_flag *flags)
{
    char *text = NULL, *xml = NULL;
    int code = td_checkpoints_passed(found) ? TOOL_OK : TOOL_DIFFERS;
    if ((flags[JSON].value ? td_checkpoints_json(found, &text) : td_checkpoints_text(found, &text)) != TD_OK ||
        td_checkpoints_junit(found, &xml) != TD_OK ||
        (flags[HTML].value && td_checkpoints_html(found, flags[HTML].value) != TD_OK))
        code = tool_fail_library(usage.command);
    else if (flags[JUNIT].value && !write_text(flags[JUNIT].value, xml))
        code = TOOL_FAILED;
    else if (td_checkpoints_count(found) || flags[JSON].value)
        fputs(text, stdout);
    td_free(text);
    td_free(xml);
    return code;
}

static int explain(const job *j, const tool_flag *flags)
{
    char *text = NULL;
    if (td_program_explain(j->program, flags[LABEL].value, flags[ARGUMENTS].value, &text) != TD_OK)
        return fail_program();
    fputs(text, stdout);
    td_free(text);
    return TOOL_OK;
}

static int run_job(job *j, const char *path, const tool_flag *flags, const char *const *memory, size_t memories)
{
    if (td_program_open(path, &j->program) != TD_OK)
        return fail_program();
    for (size_t i = 0; i < memories; i++)
        if (!add_memory(j, memory[i]))
            return TOOL_FAILED;
    if (td_program_compile(j->program, flags[ARGUMENTS].value) != TD_OK)
        return fail_program();
    if (flags[EXPLAIN].value)
        return explain(j, flags);
    if (flags[CHECK].value)
        return TOOL_OK;
    if (td_program_run(j->program, flags[LABEL].value, flags[ARGUMENTS].value, &j->found) != TD_OK)
        return fail_program();
    if (flags[OUT].value && !save_memories(j, flags))
        return TOOL_FAILED;
    return report(j->found, flags);
}

int tool_run(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [LABEL] = {"label", 0, false, "NAME", "runs that part of the program alone; default: all of it", NULL},
        [ARGUMENTS] = {"args", 0, false, "A", "arguments of the program, as \"seed=7 file=in.npy\"", NULL},
        [OUT] = {"output", 'o', false, "DIR", "writes the memories that the program writes as DIR/NAME.hex", NULL},
        [CHECK] = {"check", 0, false, NULL, "only compiles the program", NULL},
        [EXPLAIN] = {"explain", 0, false, NULL, "shows what the program becomes, pass by pass, and runs nothing", NULL},
        [JSON] = {"json", 0, false, NULL, "the checkpoints as JSON", NULL},
        [JUNIT] = {"junit", 0, false, "FILE", "also writes them as JUnit XML, for CI", NULL},
        [HTML] = {"html", 0, false, "FILE", "also writes them as a page", NULL},
        [MEMORY] = {"memory", 'm', false, MEMORY_FORM, "a memory of the program and its image; once for each", NULL},
    };
    static const tool_repeated repeated = {"memory", MEMORY_FORM, MOST_MEMORIES, "bind fewer"};
    const char *memory[MOST_MEMORIES], *path = NULL;
    size_t memories = 0;
    if (!tool_take(&usage, &repeated, &argc, argv, memory, &memories))
        return TOOL_FAILED;
    const tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &path);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    job j = {0};
    const int code = run_job(&j, path, flags, memory, memories);
    td_program_destroy(&j.program);
    td_checkpoints_destroy(&j.found);
    for (size_t i = 0; i < j.count; i++)
        td_memory_destroy(&j.memory[i]);
    return code;
}
