/* `tensordoor where`: what lies at a system address of the chip that a map describes, from the memory down to the macro
 * and up to the elements of tensors; or where an element lies. It reads a map and a layout file, and no image. Nothing
 * is printed before all of the answer is known. */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP, LAYOUTS, MEMORY, SHAPE, FLAGS };

#define ABOUT                                                                                                          \
    "Says which memory has the byte at a system address, where its bits lie in the macros, and which elements of "     \
    "tensors lie\n"                                                                                                    \
    "there; or, with a layout of the file and a coordinate, as weights 0,3,1,2, where that element lies, all "         \
    "copies.\n"                                                                                                        \
    "Layouts say what they are for: weights: pattern ...; memory wbuf; shape i8 64 32 3 3"

static const tool_usage usage_address = {
    .command = "where", .file = "ADDRESS|LAYOUT", .file_required = true, .about = ABOUT};
static const tool_usage usage_element = {
    .command = "where", .file = "ADDRESS|LAYOUT", .file_required = true, .second_file = "COORDINATE", .about = ABOUT};
static const char *const command = "where";

typedef struct question {
    const tool_flag *flags;
    td_map *map;
    FILE *out; /* in memory */
} question;

/* A layout with its tensor and its memory. */
typedef struct subject {
    const char *name;
    td_layout *layout;
    td_tensor *tensor; /* NULL: the file and the flags do not say both */
    td_map_entry in;
} subject;

static bool fail_library(void)
{
    tool_fail_library(command);
    return false;
}

static bool fail_layout(const char *name)
{
    const char *message = td_last_error();
    tool_fail(command, "layout %s: %.*s", name, (int)strcspn(message, "\n"), message);
    return false;
}

/* -- layouts ------------------------------------------------------------------------------------------------------- */

static void close_subject(subject *s)
{
    td_tensor_destroy(&s->tensor);
    td_layout_destroy(&s->layout);
}

static td_status make_tensor(const char *text, td_tensor **out)
{
    char dtype[40] = "";
    const size_t length = strcspn(text, " ");
    td_shape shape;
    memcpy(dtype, text, length < sizeof dtype ? length : sizeof dtype - 1);
    const td_status status = td_shape_parse(text + length, &shape);
    return status ? status : td_tensor_create(dtype, shape, out);
}

/* The caller closes it, whatever is returned. */
static bool open_subject(const question *q, const char *name, subject *s)
{
    *s = (subject){.name = name};
    if (td_layout_open(q->flags[LAYOUTS].value, name, &s->layout) != TD_OK)
        return fail_library();
    const char *memory = *td_layout_memory(s->layout) ? td_layout_memory(s->layout) : q->flags[MEMORY].value;
    const char *tensor = *td_layout_tensor(s->layout) ? td_layout_tensor(s->layout) : q->flags[SHAPE].value;
    if (!memory || !tensor)
        return true;
    if (td_map_find(q->map, memory, &s->in) != TD_OK || make_tensor(tensor, &s->tensor) != TD_OK)
        return fail_layout(name);
    return true;
}

/* -- answers ------------------------------------------------------------------------------------------------------- */

/* Calls `print` for every run, with its line. */
typedef void print_fn(const question *q, const char *name, const td_where_run *run, const char *line, int length);

static bool answer(const question *q, const td_where_question *asked, const char *name, print_fn *print)
{
    td_where *where = NULL;
    char *text = NULL;
    const bool good = td_where_find(asked, &where) == TD_OK && td_where_text(where, &text) == TD_OK;
    const char *line = text;
    for (size_t i = 0; good && i < td_where_count(where); i++) {
        td_where_run run;
        const int length = (int)strcspn(line, "\n");
        if (td_where_at(where, i, &run) == TD_OK)
            print(q, name, &run, line, length);
        line += length + 1;
    }
    td_free(text);
    td_where_destroy(&where);
    return good || fail_layout(name);
}

/* The number of a macro among those of a memory; false where it has none of its bits there. */
static bool find_macro(const td_memory *memory, const td_memory *macro, size_t *number)
{
    const size_t count = td_memory_macros(memory);
    for (*number = 0; *number < count; (*number)++)
        if (td_memory_macro(memory, *number) == macro)
            return true;
    return false;
}

/* The addresses that show the first bit of a run, through every memory and every region with a base. */
static void print_place(const question *q, const char *name, const td_where_run *run, const char *line, int length)
{
    bool any = false;
    (void)name;
    for (size_t i = 0; i < td_map_count(q->map); i++) {
        td_map_entry e;
        td_where_question asked = {.bank_count = 1, .in_macro = 1, .word = run->row, .lsb = run->column, .bits = 1};
        td_where *where = NULL;
        td_where_run up;
        if (td_map_at(q->map, i, &e) != TD_OK || !e.addressed || !find_macro(e.memory, run->macro, &asked.macro))
            continue;
        asked.banks = &e.memory;
        if (td_where_find(&asked, &where) == TD_OK && td_where_at(where, 0, &up) == TD_OK && up.kind == TD_WHERE_DATA) {
            const uint64_t byte = e.big_endian ? e.bytes_per_word - 1 - up.bit / 8 : up.bit / 8;
            fprintf(q->out, "%s0x%" PRIx64, any ? ", " : "", e.base + up.word * e.bytes_per_word + byte);
            any = true;
        }
        td_where_destroy(&where);
    }
    fprintf(q->out, "%s%.*s\n", any ? ": " : "", length, line);
}

static void print_bits(const question *q, const char *name, const td_where_run *run, const char *line, int length)
{
    (void)name;
    (void)run;
    fprintf(q->out, "%.*s\n", length, line);
}

static void print_elements(const question *q, const char *name, const td_where_run *run, const char *line, int length)
{
    if (run->has_elem)
        fprintf(q->out, "%s: %.*s\n", name, length, line);
}

/* -- an address ---------------------------------------------------------------------------------------------------- */

/* The elements of a layout of another memory that has the same macros: bit by bit, from below. */
static bool answer_below(const question *q, const td_where_question *bits, const subject *s)
{
    td_where *where = NULL;
    bool good = td_where_find(bits, &where) == TD_OK || fail_library();
    for (size_t i = 0; good && i < td_where_count(where); i++) {
        td_where_run run;
        td_where_question asked = {
            .banks = &s->in.memory, .bank_count = 1, .tensor = s->tensor, .layout = s->layout, .in_macro = 1};
        if (td_where_at(where, i, &run) != TD_OK || !find_macro(s->in.memory, run.macro, &asked.macro))
            continue;
        asked.word = run.row;
        asked.bits = run.step == 1 ? run.bits : 1;
        for (uint64_t b = 0; good && b < run.bits; b += asked.bits) {
            asked.lsb = run.column + b * (uint64_t)run.step;
            good = answer(q, &asked, s->name, print_elements);
        }
    }
    td_where_destroy(&where);
    return good;
}

static bool answer_layout(const question *q, const td_where_question *bits, const char *name)
{
    subject s;
    td_layout *layout = NULL;
    if (td_layout_open(q->flags[LAYOUTS].value, name, &layout) != TD_OK) { /* as one of parts */
        fprintf(q->out, "%s: not asked; %.*s\n", name, (int)strcspn(td_last_error(), "\n"), td_last_error());
        return true;
    }
    td_layout_destroy(&layout);
    bool good = open_subject(q, name, &s);
    if (good && !s.tensor)
        fprintf(q->out, "%s: not asked; add memory NAME; shape DTYPE SIZES to it, or pass --memory and --shape\n",
                name);
    else if (good && s.in.memory == bits->banks[0]) {
        td_where_question asked = *bits;
        asked.tensor = s.tensor;
        asked.layout = s.layout;
        good = answer(q, &asked, name, print_elements);
    } else if (good)
        good = answer_below(q, bits, &s);
    close_subject(&s);
    return good;
}

static bool answer_layouts(const question *q, const td_where_question *bits)
{
    char *names = NULL, *rest = NULL;
    if (td_layout_names(q->flags[LAYOUTS].value, &names) != TD_OK)
        return fail_library();
    bool good = true;
    for (char *name = strtok_r(names, "\n", &rest); name && good; name = strtok_r(NULL, "\n", &rest))
        good = answer_layout(q, bits, name);
    td_free(names);
    return good;
}

/* Decimal or 0x, with _ between digits as in maps. */
static bool read_address(const char *text, uint64_t *address)
{
    char digits[32];
    size_t used = 0;
    char *end = NULL;
    for (const char *at = text; *at && used + 1 < sizeof digits; at++)
        if (*at != '_')
            digits[used++] = *at;
    digits[used] = '\0';
    const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    *address = strtoull(digits, &end, hex ? 16 : 10);
    if (used && !*end && used <= (hex ? 18u : 19u))
        return true;
    tool_fail(command, "\"%s\" is no address; pass a number, decimal or 0x, as 0x8000_1234", text);
    return false;
}

static bool ask_address(const question *q, const char *text)
{
    uint64_t address = 0, word = 0, lsb = 0;
    td_map_entry e;
    if (!read_address(text, &address))
        return false;
    if (td_map_locate(q->map, address, &e, &word, &lsb) != TD_OK)
        return fail_library();
    const uint64_t width = td_memory_width_bits(e.memory);
    const td_where_question bits = {
        .banks = &e.memory, .bank_count = 1, .word = word, .lsb = lsb, .bits = width - lsb < 8 ? width - lsb : 8};
    fprintf(q->out, "0x%" PRIx64 ": byte 0x%" PRIx64 " of \"%s\", which begins at 0x%" PRIx64 "\n", address,
            address - e.base, e.name, e.base);
    return answer(q, &bits, e.name, print_bits) && (!q->flags[LAYOUTS].value || answer_layouts(q, &bits));
}

/* -- an element ---------------------------------------------------------------------------------------------------- */

/* Numbers with commas or blanks between them, `rank` of them. */
static bool read_coordinate(const char *text, const td_tensor *tensor, uint64_t *at)
{
    const size_t rank = td_tensor_shape(tensor).rank;
    size_t used = 0;
    const char *p = text;
    bool good = true;
    while (good && *p) {
        char *end = NULL;
        good = *p >= '0' && *p <= '9' && used < rank;
        if (good)
            at[used++] = strtoull(p, &end, 10);
        p = good ? end : p;
        p += strspn(p, ", ");
    }
    if (good && used == rank)
        return true;
    tool_fail(command, "coordinate \"%s\" of a tensor of %zu dimensions; pass a number for each, as 0,3,1", text, rank);
    return false;
}

static bool ask_element(const question *q, const char *name, const char *coordinate)
{
    uint64_t at[TD_MAX_RANK] = {0};
    subject s;
    if (!q->flags[LAYOUTS].value) {
        tool_fail(command, "no --layouts; pass --layouts FILE, the layout file that has %s", name);
        return false;
    }
    bool good = open_subject(q, name, &s);
    if (good && !s.tensor) {
        good = false;
        tool_fail(command,
                  "layout %s says no memory or no shape; add memory NAME; shape DTYPE SIZES to it, or pass --memory "
                  "and --shape",
                  name);
    }
    good = good && read_coordinate(coordinate, s.tensor, at);
    if (good) {
        const td_where_question asked = {
            .banks = &s.in.memory, .bank_count = 1, .tensor = s.tensor, .layout = s.layout, .coordinate = at};
        good = answer(q, &asked, name, print_place);
    }
    close_subject(&s);
    return good;
}

/* -- the command --------------------------------------------------------------------------------------------------- */

/* The first argument that is neither a flag nor the value of one begins with a digit. */
static bool asks_for_address(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-')
            return argv[i][0] >= '0' && argv[i][0] <= '9';
        i += !strchr(argv[i], '=');
    }
    return true;
}

int tool_where(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [MAP] = {"map", 'm', true, "FILE", "the memories of the chip, a map file", NULL},
        [LAYOUTS] = {"layouts", 'l', false, "FILE", "how tensors lie in them, a layout file", NULL},
        [MEMORY] = {"memory", 0, false, "NAME", "the memory of layouts that say none", NULL},
        [SHAPE] = {"shape", 0, false, "\"T 2 3\"", "dtype and shape of the tensor of layouts that say none", NULL},
    };
    const bool by_address = asks_for_address(argc, argv);
    const char *file[2] = {NULL, NULL};
    const tool_parsed parsed = tool_parse(by_address ? &usage_address : &usage_element, argc, argv, flags, FLAGS, file);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    char *text = NULL;
    size_t bytes = 0;
    question q = {.flags = flags, .out = open_memstream(&text, &bytes)};
    bool good = q.out != NULL;
    if (!good)
        tool_fail(command, "no memory for the answer; free some");
    else
        good = td_map_open(flags[MAP].value, NULL, 0, &q.map) == TD_OK || fail_library();
    if (good)
        good = by_address ? ask_address(&q, file[0]) : ask_element(&q, file[0], file[1]);
    td_map_destroy(&q.map);
    if (q.out)
        good = fclose(q.out) == 0 && good;
    if (good)
        fputs(text, stdout);
    free(text);
    return good ? TOOL_OK : TOOL_FAILED;
}
