/* `tensordoor run`: a program (section 16 of the manual) on memory images, for golden models and for checks without a
 * simulator. run_memories.c has the memories and their images. Exit code 0, 1 when a checkpoint differs, 2 when the
 * program is refused; then no image is written. */
#include "tool/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LABEL, ARGUMENTS, OUT, CHECK, EXPLAIN, SVG, JSON, JUNIT, HTML, MEMORY, BANKS, FLAGS };

static const tool_usage usage = {
    .command = "run",
    .file = "PROGRAM.td",
    .file_required = true,
    .about =
        "Runs a program of loads, dumps, fills and checkpoints on memory images, and prints a line for every\n"
        "checkpoint with the report of the first that differs. --memory NAME=IMAGE:WIDTH gives a memory of the\n"
        "program the words of an image, NAME=IMAGE:WIDTHxDEPTH also a depth, NAME=:WIDTHxDEPTH begins with zeros.\n"
        "--banks NAME=N makes it N memories, one image each, and IMAGE has %d in place of the bank's number.\n"
        "With -o DIR the memories that the program writes become DIR/NAME.hex (of banks DIR/NAME.0.hex, ..).\n"
        "Exit code 0: all checkpoints\n"
        "match; 1: one does not; 2: the program was refused, and nothing was written.",
};

typedef struct job {
    td_program *program;
    td_checkpoints *found;
    tool_memories memories;
} job;

/* The whole message: its lines show the line of the program and a caret under the word. */
static int fail_program(void)
{
    return tool_fail(usage.command, "%s", td_last_error());
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
    char *text = NULL, *svg = NULL;
    int code = TOOL_OK;
    if ((flags[EXPLAIN].value &&
         td_program_explain(j->program, flags[LABEL].value, flags[ARGUMENTS].value, &text) != TD_OK) ||
        (flags[SVG].value && td_program_svg(j->program, flags[LABEL].value, flags[ARGUMENTS].value, &svg) != TD_OK))
        code = fail_program();
    else if (svg && !write_text(flags[SVG].value, svg))
        code = TOOL_FAILED;
    else if (text)
        fputs(text, stdout);
    td_free(text);
    td_free(svg);
    return code;
}

/* Repeated flags. */
typedef struct many {
    const char *value[TOOL_MOST_MEMORIES];
    size_t count;
} many;

/* Memories come by --memory here, so that the library's "bind one of this name" would be no advice. */
static bool all_given(const job *j)
{
    const char *name = NULL;
    for (size_t n = 0; (name = td_program_memory(j->program, n)) != NULL; n++) {
        size_t m = 0;
        while (m < j->memories.count && strcmp(j->memories.memory[m].name, name) != 0)
            m++;
        if (m == j->memories.count) {
            tool_fail(usage.command, "the program uses memory \"%s\"; pass --memory %s=IMAGE:WIDTH", name, name);
            return false;
        }
    }
    return true;
}

static int run_job(job *j, const char *path, const tool_flag *flags, const many *memory, const many *banks)
{
    if (td_program_open(path, &j->program) != TD_OK)
        return fail_program();
    if (!tool_memories_open(&usage, j->program, memory->value, memory->count, banks->value, banks->count,
                            &j->memories) ||
        !all_given(j))
        return TOOL_FAILED;
    if (td_program_compile(j->program, flags[ARGUMENTS].value) != TD_OK)
        return fail_program();
    if (flags[EXPLAIN].value || flags[SVG].value)
        return explain(j, flags);
    if (flags[CHECK].value)
        return TOOL_OK;
    if (td_program_run(j->program, flags[LABEL].value, flags[ARGUMENTS].value, &j->found) != TD_OK)
        return fail_program();
    if (flags[OUT].value && !tool_memories_save(&usage, j->program, flags[LABEL].value, flags[ARGUMENTS].value,
                                                flags[OUT].value, &j->memories))
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
        [SVG] = {"svg", 0, false, "FILE", "draws what the program becomes, pass by pass, and runs nothing", NULL},
        [JSON] = {"json", 0, false, NULL, "the checkpoints as JSON", NULL},
        [JUNIT] = {"junit", 0, false, "FILE", "also writes them as JUnit XML, for CI", NULL},
        [HTML] = {"html", 0, false, "FILE", "also writes them as a page", NULL},
        [MEMORY] = {"memory", 'm', false, MEMORY_FORM, "a memory of the program and its image; once for each", NULL},
        [BANKS] = {"banks", 'n', false, BANKS_FORM, "how many banks that memory has, one image each", NULL},
    };
    static const tool_repeated repeated[] = {{"memory", MEMORY_FORM, TOOL_MOST_MEMORIES, "bind fewer"},
                                             {"banks", BANKS_FORM, TOOL_MOST_MEMORIES, "bind fewer"}};
    static many memory, banks;
    const char *path = NULL;
    if (!tool_take(&usage, &repeated[0], &argc, argv, memory.value, &memory.count) ||
        !tool_take(&usage, &repeated[1], &argc, argv, banks.value, &banks.count))
        return TOOL_FAILED;
    const tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &path);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    job j = {0};
    const int code = run_job(&j, path, flags, &memory, &banks);
    td_program_destroy(&j.program);
    td_checkpoints_destroy(&j.found);
    tool_memories_close(&j.memories);
    return code;
}
