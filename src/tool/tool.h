/* What the subcommands of `tensordoor` share: flags from a table, and one way to fail. The command uses the public
 * header of the library and nothing else of it. */
#ifndef TENSORDOOR_TOOL_H
#define TENSORDOOR_TOOL_H

#include "tensordoor.h"

#include <stdbool.h>

/* The only two exit codes there are. */
enum { TOOL_OK = 0, TOOL_FAILED = 2 };

/* A flag with a value: `--name VALUE`, `--name=VALUE`, or `-l VALUE` when it has a letter. tool_parse sets `value`. */
typedef struct tool_flag {
    const char *name;
    char letter;
    bool required;
    const char *placeholder;
    const char *meaning; /* one line of --help */
    const char *value;
} tool_flag;

typedef struct tool_usage {
    const char *command;
    const char *file; /* the name of the argument that is no flag, as "IN.npy" */
    bool file_required;
    const char *about; /* the text of --help under the usage line */
} tool_usage;

/* What the arguments of a subcommand come to: go on, or return the exit code. */
typedef enum tool_parsed { TOOL_GO_ON, TOOL_HELP_SHOWN, TOOL_REFUSED } tool_parsed;

/* Sets the values of the flags and *file (NULL when none is given). Prints the help when it is asked for, and one line
 * to stderr when it refuses. */
tool_parsed tool_parse(const tool_usage *usage, int argc, char **argv, tool_flag *flags, size_t flag_count,
                       const char **file);

/* The value of a number flag, decimal or 0x, at least 1; prints one line and returns false when it is none. */
bool tool_number(const tool_usage *usage, const tool_flag *flag, uint64_t *value);

/* One line on stderr behind "tensordoor COMMAND: ", where command may be NULL. Returns TOOL_FAILED. */
int tool_fail(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with the first line of the library's last message. */
int tool_fail_library(const char *command);

/* The known word that `word` is most likely a slip of, or NULL. */
const char *tool_nearest(const char *word, const char *const *known, size_t count);

/* The subcommands: argv[0] is the first argument behind the subcommand's name. */
int tool_pack(int argc, char **argv);
int tool_unpack(int argc, char **argv);
int tool_info(int argc, char **argv);

#endif
