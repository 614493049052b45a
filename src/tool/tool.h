/* What the subcommands of `tensordoor` share: flags from a table, layouts and banks from flags, and one way to fail.
 * The command uses the public header of the library, and of its insides only the suggestions of base/. */
#ifndef TENSORDOOR_TOOL_H
#define TENSORDOOR_TOOL_H

#include "tensordoor.h"

#include <stdbool.h>

/* All exit codes; only comparisons return TOOL_DIFFERS. */
enum { TOOL_OK = 0, TOOL_DIFFERS = 1, TOOL_FAILED = 2 };

/* A flag with a value: `--name VALUE`, `--name=VALUE`, or `-l VALUE` when it has a letter. tool_parse sets `value`. */
typedef struct tool_flag {
    const char *name;
    char letter;
    bool required;
    const char *placeholder; /* NULL: the flag takes no value, and `value` is "yes" */
    const char *meaning;     /* one line of --help */
    const char *value;
} tool_flag;

typedef struct tool_usage {
    const char *command;
    const char *file; /* the name of the argument that is no flag, as "IN.npy" */
    bool file_required;
    const char *second_file; /* the name of a second one, which is then required; NULL: there is none */
    const char *about;       /* the text of --help under the usage line */
} tool_usage;

/* What the arguments of a subcommand come to: go on, or return the exit code. */
typedef enum tool_parsed { TOOL_GO_ON, TOOL_HELP_SHOWN, TOOL_REFUSED } tool_parsed;

/* Sets the values of the flags and of one or two `file`s (NULL where none is given). Prints the help on --help, and one
 * line to stderr when it refuses. */
tool_parsed tool_parse(const tool_usage *usage, int argc, char **argv, tool_flag *flags, size_t flag_count,
                       const char **file);

/* A flag that may be given many times: --memory A --memory=B. */
typedef struct tool_repeated {
    const char *name, *placeholder;
    size_t most;
    const char *advice; /* behind "more than N --memory; " */
} tool_repeated;

/* Takes every such flag out of the arguments, since tool_parse takes a flag once. Prints one line and returns false
 * where a value is missing, or there are too many. */
bool tool_take(const tool_usage *usage, const tool_repeated *flag, int *argc, char **argv, const char **value,
               size_t *count);

/* The value of a number flag, decimal or 0x, at least 1; prints one line and returns false when it is none. */
bool tool_number(const tool_usage *usage, const tool_flag *flag, uint64_t *value);

/* One line on stderr, after "tensordoor COMMAND: "; the command may be NULL. Returns TOOL_FAILED. */
int tool_fail(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with the first line of the library's last message. */
int tool_fail_library(const char *command);

/* For a name that td_file_kind knows nothing about. */
int tool_fail_kind(const char *command, const char *file);

/* Removes a file that a command began and cannot finish. What is no regular file, a device or a pipe, stays. */
void tool_remove(const char *path);

/* The flags that say a layout stand first in a subcommand's table, so that their numbers are the same everywhere. */
enum { TOOL_PATTERN, TOOL_PRESET, TOOL_LAYOUT, TOOL_OPTIONS, TOOL_ADDRESS, TOOL_LAYOUT_FLAGS };

#define TOOL_LAYOUT_FLAG_TABLE                                                                                         \
    [TOOL_PATTERN] = {"pattern", 'p', false, "P", "the layout, as \"b w (ct cs) -> (b w ct) cs\"", NULL},              \
    [TOOL_PRESET] = {"preset", 0, false, "NAME", "a layout with a name, as \"nc1hwc0 c0=32\"; see tensordoor presets", \
                     NULL},                                                                                            \
    [TOOL_LAYOUT] = {"layout", 'l', false, "FILE:NAME", "a layout from a layout file", NULL},                          \
    [TOOL_OPTIONS] = {"options", 0, false, "O", "sizes and options of the layout, as \"cs=4 pad=0\"", NULL},           \
    [TOOL_ADDRESS] = {"address", 0, false, "A", "the address, as \"0x100 + 16*b + w\"; default: index", NULL}

/* The layout that these flags say. Prints one line and returns false when they say none, two or a wrong one. */
bool tool_layout(const tool_usage *usage, const tool_flag *flags, td_layout **layout);

/* The two halves of a --layout; free *path. */
bool tool_layout_name(const tool_usage *usage, const char *value, char **path, const char **name);

/* The memories of `--banks N`, one file each. Functions that return false have printed one line. */
#define TOOL_MAX_BANKS 1024

typedef struct tool_banks {
    const tool_usage *usage;
    bool many; /* --banks is given: the path holds %d */
    size_t count;
    td_memory **memory;
    char **path;
} tool_banks;

bool tool_banks_open(const tool_usage *usage, const tool_flag *count, const char *path, tool_banks *banks);
bool tool_banks_create(tool_banks *banks, uint64_t width_bits, uint64_t depth_words);
bool tool_banks_load(const tool_banks *banks);
/* One image; says on stderr what outside=skip has skipped. */
bool tool_load_image(const char *command, td_memory *memory, const char *path);
bool tool_banks_save(const tool_banks *banks, const td_span *spans, size_t count);
/* The depth of the deepest image, each of which must reach as far as the spans do. */
bool tool_banks_depth(const tool_banks *banks, uint64_t width_bits, const td_span *spans, size_t count,
                      uint64_t *depth_words);
void tool_banks_close(tool_banks *banks);

/* The flags that say how a tensor lies in images follow those of the layout, again with the same numbers everywhere. */
enum {
    TOOL_WIDTH = TOOL_LAYOUT_FLAGS,
    TOOL_DEPTH,
    TOOL_BANKS,
    TOOL_AS,
    TOOL_MAP,
    TOOL_MEMORY,
    TOOL_AT,
    TOOL_FORMAT,
    TOOL_PLACE_FLAGS
};

#define TOOL_PLACE_FLAG_TABLE(default_depth)                                                                           \
    TOOL_LAYOUT_FLAG_TABLE, [TOOL_WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},                          \
                            [TOOL_DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: " default_depth,  \
                                            NULL},                                                                     \
                            [TOOL_BANKS] = {"banks", 'n', false, "N", "how many memories there are, one image each",   \
                                            NULL},                                                                     \
                            [TOOL_AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits",     \
                                         NULL},                                                                        \
                            TOOL_MAP_FLAG_TABLE

/* In place of width, depth and banks: a memory of a map file, or a system address in it. */
#define TOOL_MAP_FLAG_TABLE                                                                                            \
    [TOOL_MAP] = {"map", 0, false, "FILE", "a map file: images are those of the arrays of one of its memories", NULL}, \
    [TOOL_MEMORY] = {"memory", 'm', false, "NAME", "with --map: the memory", NULL},                                    \
    [TOOL_AT] = {"at", 0, false, "ADDRESS", "with --map: the system address that the layout begins at", NULL},         \
    [TOOL_FORMAT] = {"format", 0, false, "F", "with --map: of the images: hex (default), memb, bin, mif or coe", NULL}

typedef struct tool_place {
    const tool_usage *usage;
    const tool_flag *flags;
    td_layout *layout;
    tool_banks banks;
    td_span *spans; /* the words that the tensor takes */
    size_t span_count;
    uint64_t width_bits, depth_words;
    td_map *map; /* NULL: without --map */
    td_map_entry entry;
    const char *folder; /* of the images of its arrays */
} tool_place;

/* In this order: what the flags say, the words of that tensor, then new memories for them or those of the images. */
bool tool_place_open(const tool_usage *usage, const tool_flag *flags, const char *path, tool_place *place);
bool tool_place_find(tool_place *place, const td_tensor *tensor);
bool tool_place_create(tool_place *place);
bool tool_place_load(tool_place *place);
bool tool_place_save(const tool_place *place);
void tool_place_close(tool_place *place);

/* With --map among the arguments, --width is not required. */
void tool_place_take_map(int argc, char **argv, tool_flag *flags);

/* The images of a memory's arrays, one file each in a folder (macros.c). */
bool tool_macros_open(tool_place *place, const char *folder);
bool tool_macros_load(const tool_place *place);
bool tool_macros_save(const tool_place *place);

/* A bar on stderr while a comparison goes on; nothing when stderr is no terminal, or when the work is short. */
typedef struct tool_progress {
    const char *command;
    double started, shown;
    bool drawn;
} tool_progress;

void tool_progress_start(tool_progress *progress, const char *command);
void tool_progress_at(void *context, uint64_t done, uint64_t total); /* as td_comparison.progress */
void tool_progress_end(tool_progress *progress);

/* Prints a report to stdout, writes its page when `html` is a path, and destroys it. Returns the exit code. */
int tool_report(const char *command, td_report **report, bool json, const char *html);

/* The subcommands: argv[0] is the first argument after the subcommand's name. */
int tool_pack(int argc, char **argv);
int tool_unpack(int argc, char **argv);
int tool_info(int argc, char **argv);
int tool_tune(int argc, char **argv);
int tool_show(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_parts(int argc, char **argv);
int tool_code(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_diff(int argc, char **argv);
int tool_explain(int argc, char **argv);
int tool_presets(int argc, char **argv);
int tool_fill(int argc, char **argv);
int tool_flags(int argc, char **argv);
int tool_where(int argc, char **argv);
int tool_run(int argc, char **argv);

#endif
