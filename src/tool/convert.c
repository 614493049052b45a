/* `tensordoor convert`: a tensor file into another format, all tensors of a file of several unless one is named; or a
 * memory image into another format, with its gaps. Values are not touched unless --as says what they become. A tensor
 * becomes an image through a layout only: that is pack. */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DTYPE, AS, WIDTH, FLAGS };

static const tool_usage usage = {
    .command = "convert",
    .file = "A",
    .file_required = true,
    .second_file = "B",
    .about = "Writes A in the format of B, each [FORMAT[,KEY=VALUE...]:]PATH[:MEMBER]. Tensors: npy, npz, safetensors, "
             "raw.\n"
             "Memory images: readmemh, readmemb, raw, ihex, srec, and elf to read; they need --width.",
};

/* The tensor of a file, in the type that --as says. */
static td_status open_tensor(const char *path, const tool_flag *flags, td_tensor **out)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_open(path, flags[DTYPE].value, &tensor);
    if (status != TD_OK || !flags[AS].value) {
        *out = tensor;
        return status;
    }
    status = td_tensor_convert(tensor, flags[AS].value, out);
    td_tensor_destroy(&tensor);
    return status;
}

static int convert_tensor(const char *a, const char *b, const tool_flag *flags)
{
    td_tensor *tensor = NULL;
    td_status status = open_tensor(a, flags, &tensor);
    if (status == TD_OK)
        status = td_tensor_save(tensor, b);
    td_tensor_destroy(&tensor);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

static td_status open_all(const char *a, char **names, size_t count, const tool_flag *flags, td_tensor **tensors)
{
    size_t room = strlen(a) + 2;
    for (size_t i = 0; i < count; i++)
        room = strlen(a) + strlen(names[i]) + 2 > room ? strlen(a) + strlen(names[i]) + 2 : room;
    char *path = malloc(room);
    td_status status = path ? TD_OK : TD_NO_MEMORY;
    for (size_t i = 0; i < count && status == TD_OK; i++) {
        snprintf(path, room, "%s:%s", a, names[i]);
        status = open_tensor(path, flags, &tensors[i]);
    }
    free(path);
    return status;
}

static int convert_all(const char *a, const char *b, char **names, size_t count, const tool_flag *flags)
{
    td_tensor **tensors = calloc(count, sizeof(td_tensor *));
    if (!tensors)
        return tool_fail(usage.command, "the system refused memory");
    td_status status = open_all(a, names, count, flags, tensors);
    if (status == TD_OK)
        status = td_tensor_save_all((const char *const *)names, (const td_tensor *const *)tensors, count, b);
    for (size_t i = 0; i < count; i++)
        td_tensor_destroy(&tensors[i]);
    free(tensors);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

/* Where both files can hold several tensors and no name is given, all go over under their names. */
static int convert_tensors(const char *a, const char *b, const tool_flag *flags)
{
    char **names = NULL;
    size_t count = 0;
    if (!(td_file_kind(a) & TD_USE_MEMBERS) || !(td_file_kind(b) & TD_USE_MEMBERS))
        return convert_tensor(a, b, flags);
    if (td_tensor_members(a, &names, &count) != TD_OK)
        return tool_fail_library(usage.command);
    int code = count > 0 ? convert_all(a, b, names, count, flags) : convert_tensor(a, b, flags);
    td_free(names);
    return code;
}

static int convert_image(const char *a, const char *b, const tool_flag *width)
{
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t width_bits = 0;
    if (!width->value)
        return tool_fail(usage.command, "a memory image does not say how wide its words are; pass --width W");
    if (!tool_number(&usage, width, &width_bits))
        return TOOL_FAILED;
    int code = TOOL_OK;
    if (td_image_spans(a, width_bits, &spans, &count) != TD_OK ||
        td_memory_create(a, width_bits, spans[count - 1].first + spans[count - 1].count, &memory) != TD_OK)
        code = tool_fail_library(usage.command);
    else if (!tool_load_image(usage.command, memory, a))
        code = TOOL_FAILED;
    else if (td_memory_save_file(memory, b, spans, count) != TD_OK)
        code = tool_fail_library(usage.command);
    td_memory_destroy(&memory);
    td_free(spans);
    return code;
}

int tool_convert(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of A mean, as bf16 for a V2 file", NULL},
        [AS] = {"as", 0, false, "T", "what the values become, as \"i8 scale=0.05\"; default: the same bits", NULL},
        [WIDTH] = {"width", 'w', false, "W", "bits of a word, for memory images", NULL},
    };
    const char *files[2] = {NULL, NULL};
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    unsigned a = td_file_kind(files[0]);
    unsigned b = td_file_kind(files[1]);
    bool images = a & TD_USE_IMAGE && b & TD_USE_IMAGE;
    bool tensors = a & TD_USE_TENSOR && b & TD_USE_TENSOR;
    if (images && (!tensors || flags[WIDTH].value))
        return convert_image(files[0], files[1], &flags[WIDTH]);
    if (tensors || !a || !b)
        return convert_tensors(files[0], files[1], flags);
    return tool_fail(usage.command,
                     a & TD_USE_TENSOR
                         ? "\"%s\" is a tensor and \"%s\" a memory image; a layout lies between them, so use "
                           "tensordoor pack"
                         : "\"%s\" is a memory image and \"%s\" a tensor; a layout lies between them, so use "
                           "tensordoor unpack",
                     files[0], files[1]);
}
