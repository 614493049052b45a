/* `tensordoor parts`: a tensor file into a file with the parts of a block-scaled format, such parts back into a tensor,
 * or the packing that made them. Each part is a tensor of its own in the file, which pack takes as FILE:scales. */
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 4

enum { PACKING, UNPACK, FIT, OPEN, SHAPE, DTYPE, FLAGS };

static const tool_usage usage = {
    .command = "parts",
    .file = "A",
    .file_required = true,
    .second_file = "B",
    .about =
        "Writes the parts of the tensor A (elems, scales, zeros, global) to B, a file of several tensors: npz or "
        "safetensors.\n"
        "With --unpack A has the parts, and B becomes the tensor that they stand for; with --fit B is the tensor "
        "that they\n"
        "were made of, and the packing that fits is said. Of sparse parts the file says elem= and count=, where the\n"
        "packing does not. With --open A is a tensor of a .gguf, or a weight of a\n"
        "checkpoint (--packing mxfp4, awq or \"gptq version=2\"): B gets its parts, with --unpack its values. Where\n"
        "names follow no convention, A is the file, and --packing \"gptq from qweight=NAME qzeros=NAME scales=NAME\";\n"
        "or A is layout:FILE:NAME, an entry of a layout file that says it.",
};

static td_status save_parts(td_parts *parts, const char *path)
{
    td_tensor *part[MOST_PARTS] = {NULL};
    const char *name[MOST_PARTS] = {NULL};
    const size_t count = td_parts_count(parts);
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        name[i] = td_parts_name(parts, i);
        status = td_parts_part(parts, name[i], &part[i]);
    }
    return status ? status : td_tensor_save_all(name, (const td_tensor *const *)part, count, path);
}

static int pack_parts(const char *a, const char *b, const tool_flag *flags)
{
    td_tensor *tensor = NULL;
    td_parts *parts = NULL;
    td_status status = td_tensor_open(a, flags[DTYPE].value, &tensor);
    if (!status)
        status = td_parts_pack(tensor, flags[PACKING].value, &parts);
    if (!status)
        status = save_parts(parts, b);
    td_parts_destroy(&parts);
    td_tensor_destroy(&tensor);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

static int open_file(const char *a, const char *b, const tool_flag *flags)
{
    td_tensor *tensor = NULL;
    td_parts *parts = NULL;
    td_status status = td_parts_open(a, flags[PACKING].value, &parts);
    if (!status && flags[UNPACK].value)
        status = td_parts_unpack(parts, flags[DTYPE].value, &tensor);
    if (!status)
        status = tensor ? td_tensor_save(tensor, b) : save_parts(parts, b);
    td_parts_destroy(&parts);
    td_tensor_destroy(&tensor);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

/* The tensor of one member, whose bytes mean what the packing says. */
static td_status open_member(const char *path, const char *name, const char *dtype, td_tensor **out)
{
    const size_t room = strlen(path) + strlen(name) + 2;
    char *whole = malloc(room);
    if (!whole)
        return TD_NO_MEMORY;
    snprintf(whole, room, "%s:%s", path, name);
    const td_status status = td_tensor_open(whole, dtype, out);
    free(whole);
    return status;
}

/* The parts of a file; `empty` are parts of this packing and shape, which say their names and dtypes. */
static td_status open_parts(const char *path, const char *packing, td_parts *empty, td_tensor **tensors,
                            td_parts **parts)
{
    const size_t count = td_parts_count(empty);
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const char *name = td_parts_name(empty, i);
        td_tensor *like = NULL;
        status = td_parts_part(empty, name, &like);
        if (!status)
            status = open_member(path, name, td_tensor_dtype(like), &tensors[i]);
    }
    return status ? status : td_parts_join(packing, td_parts_shape(empty), tensors, count, parts);
}

/* A packing with what the file's values say of a sparse one: their dtype, and how many they are; NULL without them. Of
 * N:M the shape says how many. The caller frees it. */
static char *complete(const char *path, const char *packing, bool counted)
{
    td_tensor *values = NULL;
    char *text = NULL;
    if (open_member(path, "values", NULL, &values) == TD_OK) {
        const size_t room = strlen(packing) + 64;
        text = malloc(room);
        if (text)
            snprintf(text, room, "%s elem=%s", packing, td_tensor_dtype(values));
        if (text && counted)
            snprintf(text + strlen(text), room - strlen(text), " count=%llu",
                     (unsigned long long)td_tensor_elems(values));
    }
    td_tensor_destroy(&values);
    return text;
}

/* Parts of a packing without their content, and the packing itself, which the caller frees. What it says counts; where
 * it leaves something open, the file says it. */
static td_status create_empty(const char *path, const char *packing, td_shape shape, td_parts **empty, char **whole)
{
    td_status status = td_parts_create(packing, shape, empty);
    *whole = NULL;
    for (int counted = 0; counted < 2 && status; counted++) {
        free(*whole);
        *whole = complete(path, packing, counted);
        if (*whole && td_parts_create(*whole, shape, empty) == TD_OK)
            return TD_OK;
    }
    return status ? td_parts_create(packing, shape, empty) : TD_OK; /* its own message, not that of what was tried */
}

/* What is done with the parts of a file of this shape: a tensor, or a line. */
static td_status take_parts(const char *a, const char *b, const tool_flag *flags, td_shape shape,
                            const td_tensor *golden)
{
    td_tensor *tensors[MOST_PARTS] = {NULL}, *unpacked = NULL;
    td_parts *empty = NULL, *parts = NULL;
    char *text = NULL, *packing = NULL;
    td_status status = create_empty(a, flags[PACKING].value, shape, &empty, &packing);
    if (!status)
        status = open_parts(a, packing ? packing : flags[PACKING].value, empty, tensors, &parts);
    if (!status && golden)
        status = td_parts_fit(parts, golden, &text);
    if (!status && !golden)
        status = td_parts_unpack(parts, flags[DTYPE].value, &unpacked);
    if (unpacked)
        status = td_tensor_save(unpacked, b);
    if (text)
        printf("%s\n", text);
    td_free(text);
    free(packing);
    td_tensor_destroy(&unpacked);
    td_parts_destroy(&parts);
    td_parts_destroy(&empty);
    for (size_t i = 0; i < MOST_PARTS; i++)
        td_tensor_destroy(&tensors[i]);
    return status;
}

static int unpack_parts(const char *a, const char *b, const tool_flag *flags)
{
    td_shape shape;
    if (!flags[SHAPE].value)
        return tool_fail(usage.command, "--unpack needs the shape of the tensor; pass --shape, as \"64 128\"");
    td_status status = td_shape_parse(flags[SHAPE].value, &shape);
    if (!status)
        status = take_parts(a, b, flags, shape, NULL);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

static int fit_parts(const char *a, const char *b, const tool_flag *flags)
{
    td_tensor *golden = NULL;
    td_status status = td_tensor_open(b, flags[DTYPE].value, &golden);
    if (!status)
        status = take_parts(a, b, flags, td_tensor_shape(golden), golden);
    td_tensor_destroy(&golden);
    return status == TD_OK ? TOOL_OK : tool_fail_library(usage.command);
}

int tool_parts(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [PACKING] = {"packing", 'k', false, "P", "how, as \"mxfp4 rule=rceil axis=1\"", NULL},
        [UNPACK] = {"unpack", 'u', false, NULL, "the other way: A has the parts, B becomes the tensor", NULL},
        [FIT] = {"fit", 'f', false, NULL, "say which packing made the parts A of the tensor B", NULL},
        [OPEN] = {"open", 'o', false, NULL, "A is packed already: FILE.gguf:NAME, or FILE.safetensors:NAME", NULL},
        [SHAPE] = {"shape", 's', false, "S", "of the tensor, with --unpack, as \"64 128\"", NULL},
        [DTYPE] = {"dtype", 0, false, "T",
                   "what the bytes of the tensor mean; with --unpack what it becomes, default f32", NULL},
    };
    const char *files[2] = {NULL, NULL};
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (flags[UNPACK].value && flags[FIT].value)
        return tool_fail(usage.command, "--unpack and --fit are two things; pass one of them");
    if (flags[OPEN].value && flags[FIT].value)
        return tool_fail(usage.command, "--open and --fit are two things; pass one of them");
    if (flags[OPEN].value)
        return open_file(files[0], files[1], flags);
    if (!flags[PACKING].value)
        return tool_fail(usage.command, "no --packing; see tensordoor parts --help");
    if (flags[FIT].value)
        return fit_parts(files[0], files[1], flags);
    return flags[UNPACK].value ? unpack_parts(files[0], files[1], flags) : pack_parts(files[0], files[1], flags);
}
