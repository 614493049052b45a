/* `tensordoor show`: what a file holds. A tensor: dtype, shape, range and its elements, shortened as NumPy shortens
 * them. A file of several tensors: a line for each. A memory image with --width: the words that it names. It reads and
 * never writes. */
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DTYPE, WIDTH, FLAGS };

/* How many spans of an image are listed. */
#define SPANS_SHOWN 16

static const tool_usage usage = {
    .command = "show",
    .file = "FILE",
    .file_required = true,
    .about =
        "Of a tensor ([FORMAT[,KEY=VALUE...]:]PATH[:MEMBER]), prints dtype, shape, range and elements, with long\n"
        "dimensions shortened; of a file of several tensors, a line for each; of a memory image (with --width), the\n"
        "words that it gives.",
};

static void print_shape(const td_shape *shape)
{
    putchar('(');
    for (size_t d = 0; d < shape->rank; d++)
        printf("%s%" PRIu64, d ? ", " : "", shape->dim[d]);
    putchar(')');
}

static bool is_integer(const td_tensor *tensor)
{
    const char *dtype = td_tensor_dtype(tensor);
    return dtype[0] == 'i' || (dtype[0] == 'u' && dtype[1] != 'q');
}

/* An integer's bits so that unsigned numbers compare as the integers do. */
static uint64_t ordered_bits(const td_tensor *tensor, uint64_t elem)
{
    uint64_t bits = 0;
    (void)td_tensor_get_bits(tensor, elem, &bits);
    return td_tensor_dtype(tensor)[0] == 'i' ? bits ^ (uint64_t)1 << (td_tensor_elem_bits(tensor) - 1) : bits;
}

static void print_element(const td_tensor *tensor, uint64_t elem)
{
    double value = 0;
    uint64_t bits = 0;
    unsigned unused = 64 - td_tensor_elem_bits(tensor);
    (void)td_tensor_get_real(tensor, elem, &value);
    (void)td_tensor_get_bits(tensor, elem, &bits);
    if (!is_integer(tensor))
        printf("%.*g", unused < 32 ? 17 : 9, value);
    else if (td_tensor_dtype(tensor)[0] == 'i')
        printf("%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        printf("%" PRIu64, bits);
}

typedef struct range {
    uint64_t low; /* elements; UINT64_MAX while there is none */
    uint64_t high;
    uint64_t nans;
    uint64_t infinities;
} range;

static range integer_range(const td_tensor *tensor)
{
    range r = {0, 0, 0, 0};
    uint64_t lowest = ordered_bits(tensor, 0);
    uint64_t highest = lowest;
    for (uint64_t i = 1; i < td_tensor_elems(tensor); i++) {
        uint64_t bits = ordered_bits(tensor, i);
        r.low = bits < lowest ? i : r.low;
        r.high = bits > highest ? i : r.high;
        lowest = bits < lowest ? bits : lowest;
        highest = bits > highest ? bits : highest;
    }
    return r;
}

static range real_range(const td_tensor *tensor)
{
    range r = {UINT64_MAX, UINT64_MAX, 0, 0};
    double lowest = INFINITY;
    double highest = -INFINITY;
    for (uint64_t i = 0; i < td_tensor_elems(tensor); i++) {
        double value = 0;
        (void)td_tensor_get_real(tensor, i, &value);
        if (!isfinite(value)) {
            r.nans += isnan(value) ? 1 : 0;
            r.infinities += isnan(value) ? 0 : 1;
            continue;
        }
        r.low = value < lowest ? i : r.low;
        r.high = value > highest ? i : r.high;
        lowest = value < lowest ? value : lowest;
        highest = value > highest ? value : highest;
    }
    return r;
}

/* The smallest and the largest finite element, and how many are not finite. */
static void print_range(const td_tensor *tensor)
{
    range r = is_integer(tensor) ? integer_range(tensor) : real_range(tensor);
    printf("range     ");
    if (r.low == UINT64_MAX) {
        printf("no finite element");
    } else {
        print_element(tensor, r.low);
        printf(" .. ");
        print_element(tensor, r.high);
    }
    if (r.nans || r.infinities)
        printf(", %" PRIu64 " nan, %" PRIu64 " inf", r.nans, r.infinities);
    putchar('\n');
}

static int show_tensor(const char *path, const char *dtype)
{
    td_tensor *tensor = NULL;
    char *text = NULL;
    if (td_tensor_open(path, dtype, &tensor) != TD_OK)
        return tool_fail_library(usage.command);
    if (td_tensor_text(tensor, &text) != TD_OK) {
        td_tensor_destroy(&tensor);
        return tool_fail_library(usage.command);
    }
    const td_shape shape = td_tensor_shape(tensor);
    printf("dtype     %s\nshape     ", td_tensor_dtype(tensor));
    print_shape(&shape);
    printf("\nelements  %" PRIu64 "\nbytes     %" PRIu64 "\n", td_tensor_elems(tensor),
           td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    print_range(tensor);
    const char *values = strchr(text, '\n'); /* dtype and shape stand above already */
    printf("%s\n", values ? values + 1 : text);
    td_free(text);
    td_tensor_destroy(&tensor);
    return TOOL_OK;
}

/* One line that holds names from a file: what a terminal could take for a command is shown as a dot. */
static void print_line(const char *text, int width)
{
    int used = 0;
    for (; *text && *text != '\n'; text++, used++)
        putchar((unsigned char)*text >= ' ' && *text != 0x7f ? *text : '.');
    printf("%*s", width > used ? width - used : 0, "");
}

static int show_members(const char *path, char **names, size_t count)
{
    int width = 0;
    for (size_t i = 0; i < count; i++)
        width = (int)strlen(names[i]) > width ? (int)strlen(names[i]) : width;
    for (size_t i = 0; i < count; i++) {
        size_t room = strlen(path) + strlen(names[i]) + 2;
        char *one = malloc(room);
        td_tensor *tensor = NULL;
        if (!one)
            return tool_fail(usage.command, "the system refused memory");
        snprintf(one, room, "%s:%s", path, names[i]);
        const char *packing = NULL;
        td_shape shape;
        td_status status = td_tensor_open(one, NULL, &tensor);
        const bool has_parts = status != TD_OK && td_parts_kind(one, &packing, &shape) == TD_OK;
        if (status != TD_OK && !has_parts)
            (void)td_tensor_open(one, NULL, &tensor); /* for its message */
        free(one);
        print_line(names[i], width);
        if (status == TD_OK) {
            shape = td_tensor_shape(tensor);
            printf("  %-5s ", td_tensor_dtype(tensor));
            print_shape(&shape);
            putchar('\n');
        } else if (has_parts) {
            printf("  %-5s ", packing);
            print_shape(&shape);
            putchar('\n');
        } else { /* one that has no dtype here does not hide the others */
            printf("  ");
            print_line(td_last_error(), 0);
            putchar('\n');
        }
        td_tensor_destroy(&tensor);
    }
    return TOOL_OK;
}

static int show_image(const char *path, const tool_flag *width)
{
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t width_bits = 0;
    if (!width->value)
        return tool_fail(usage.command, "a memory image does not say how wide its words are; pass --width W");
    if (!tool_number(&usage, width, &width_bits))
        return TOOL_FAILED;
    if (td_image_spans(path, width_bits, &spans, &count) != TD_OK)
        return tool_fail_library(usage.command);
    uint64_t words = 0;
    for (size_t i = 0; i < count; i++)
        words += spans[i].count;
    printf("width     %" PRIu64 "\ndepth     %" PRIu64 "\nwords     %" PRIu64 " in %zu span%s\n", width_bits,
           spans[count - 1].first + spans[count - 1].count, words, count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < SPANS_SHOWN; i++)
        printf("          0x%" PRIx64 " .. 0x%" PRIx64 "\n", spans[i].first, spans[i].first + spans[i].count - 1);
    if (count > SPANS_SHOWN)
        printf("          ... 0x%" PRIx64 "\n", spans[count - 1].first + spans[count - 1].count - 1);
    td_free(spans);
    return TOOL_OK;
}

int tool_show(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of a tensor file mean", NULL},
        [WIDTH] = {"width", 'w', false, "W", "bits of a word, for a memory image", NULL},
    };
    const char *file = NULL;
    char **names = NULL;
    size_t count = 0;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &file);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    unsigned kind = td_file_kind(file);
    if (!kind)
        return tool_fail_kind(usage.command, file);
    if (kind & TD_USE_IMAGE && (!(kind & TD_USE_TENSOR) || flags[WIDTH].value))
        return show_image(file, &flags[WIDTH]);
    if (!(kind & TD_USE_MEMBERS))
        return show_tensor(file, flags[DTYPE].value);
    if (td_tensor_members(file, &names, &count) != TD_OK)
        return tool_fail_library(usage.command);
    int code = count == 1 ? show_tensor(file, flags[DTYPE].value) : show_members(file, names, count);
    td_free(names);
    return code;
}
