/* `tensordoor`: the same nouns and strings as the library, as flags. This file owns the table of subcommands; each
 * lives in a file of its own. Exit code 0, or 2 with one line on stderr and no output file;
 * comparisons that find a difference have 1. */
#include "base/suggest.h"
#include "tool/bench/bench.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"pack", tool_pack, "writes a tensor through a layout into a memory image"},
    {"unpack", tool_unpack, "reads a tensor through a layout out of a memory image"},
    {"compare", tool_compare, "compares a memory image through a layout with a golden tensor"},
    {"diff", tool_diff, "compares two tensor files"},
    {"explain", tool_explain, "shows what a layout does to a tensor, in text and as a picture"},
    {"where", tool_where, "says what lies at an address of a chip, or where an element of a tensor lies"},
    {"run", tool_run, "runs a program of loads and checkpoints on memory images"},
    {"presets", tool_presets, "lists the layouts that are built in"},
    {"convert", tool_convert, "converts a tensor file or a memory image to another format"},
    {"parts", tool_parts, "a tensor into the parts of a block-scaled format, and back"},
    {"code", tool_code, "writes a memory image with check bits, or checks one and takes them off"},
    {"fill", tool_fill, "makes a tensor of random values, from a distribution and a seed"},
    {"show", tool_show, "shows what a tensor file holds: shape, dtype, range and elements"},
    {"flags", tool_flags, "prints the command lines for a simulator and this installation"},
    {"info", tool_info, "describes this build, or what a file holds"},
    {"tune", tool_tune, "measures the thresholds of this machine and keeps them for the library"},
    {"bench", bench_main, "measures loads on this machine beside memcpy, plain loops and NumPy"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(void)
{
    printf("usage: tensordoor COMMAND [ARGUMENTS]\n\n"
           "Moves whole tensors in and out of memory images, with the layouts of the library.\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-10s%s\n", commands[i].name, commands[i].summary);
    printf("\nA file that is called - is standard input or output. tensordoor COMMAND --help shows its flags.\n");
}

static int fail_unknown(const char *word)
{
    const char *known[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        known[i] = commands[i].name;
    const char *near = td_suggest(word, known, COMMANDS);
    if (near)
        return tool_fail(NULL, "unknown command \"%s\"; did you mean %s?", word, near);
    return tool_fail(NULL, "unknown command \"%s\"; see tensordoor --help", word);
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return tool_fail(NULL, "no command; see tensordoor --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return TOOL_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tensordoor %s\n", td_version());
        return TOOL_OK;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    return fail_unknown(argv[1]);
}

/* With TD_PROFILE=1; behind the output, and on stderr, so that a pipe gets what it would get without. */
static void print_profile(void)
{
    char *text = NULL;
    if (td_profile_wanted() && td_profile_text(&text) == TD_OK)
        fputs(text, stderr);
    td_free(text);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);
    print_profile();
    if (fflush(stdout) != 0 && code == TOOL_OK)
        return tool_fail(NULL, "cannot write to stdout");
    return code;
}
