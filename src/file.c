/* The facade of files: chooses a format by the extension of the path, maps or creates the file, and puts the call and
 * the path in front of every message. The formats themselves live in npy.c, readmem.c and raw.c. It refuses unknown
 * extensions, and spans that are not ascending words of the memory. */
#include "formats.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *extension;
    const td_image_format *format;
} image_formats[] = {
    {".hex", &td_format_readmem},
    {".mem", &td_format_readmem},
    {".vmem", &td_format_readmem},
    {".bin", &td_format_raw},
};

static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot : "";
}

static td_status check_tensor_path(const char *path)
{
    const char *extension = extension_of(path);
    if (strcasecmp(extension, ".npy") != 0)
        return td_fail(TD_ARGUMENT, "the extension \"%s\" is not that of a tensor file; use .npy", extension);
    return TD_OK;
}

static td_status find_image_format(const char *path, const td_image_format **out)
{
    const char *extension = extension_of(path);
    for (size_t i = 0; i < sizeof image_formats / sizeof image_formats[0]; i++)
        if (strcasecmp(extension, image_formats[i].extension) == 0) {
            *out = image_formats[i].format;
            return TD_OK;
        }
    return td_fail(TD_ARGUMENT, "the extension \"%s\" is not that of a memory image; use .hex, .mem, .vmem or .bin",
                   extension);
}

static td_status with_context(td_status status, const char *call, const char *path)
{
    if (status != TD_OK)
        td_fail_prefix("%s \"%s\": ", call, path);
    return status;
}

td_status td_tensor_open(const char *path, const char *dtype, td_tensor **out)
{
    static const char call[] = "tensor_open";
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a td_tensor pointer", call, path ? "out" : "path");
    td_dtype as;
    bool given = dtype && dtype[0];
    td_file_map file = {NULL, 0, NULL};
    td_status status = given ? td_dtype_parse(dtype, &as) : TD_OK;
    if (status == TD_OK)
        status = check_tensor_path(path);
    if (status == TD_OK)
        status = td_file_map_open(path, &file);
    if (status == TD_OK) {
        status = td_npy_read(&file, given ? &as : NULL, out);
        td_file_unmap(&file);
    }
    return with_context(status, call, path);
}

td_status td_tensor_save(const td_tensor *tensor, const char *path)
{
    static const char call[] = "tensor_save";
    if (!tensor || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a tensor and a path", call, tensor ? "path" : "tensor");
    td_sink sink;
    td_status status = check_tensor_path(path);
    if (status == TD_OK)
        status = td_sink_open(path, &sink);
    if (status == TD_OK) {
        td_npy_write(tensor, &sink);
        status = td_sink_close(&sink, TD_OK);
    }
    return with_context(status, call, path);
}

td_status td_memory_load_file(td_memory *memory, const char *path)
{
    static const char call[] = "memory_load_file";
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a memory and a path", call, memory ? "path" : "memory");
    const td_image_format *format = NULL;
    td_file_map file = {NULL, 0, NULL};
    td_status status = find_image_format(path, &format);
    if (status == TD_OK)
        status = td_file_map_open(path, &file);
    if (status == TD_OK) {
        status = format->load(&file, memory);
        td_file_unmap(&file);
    }
    return with_context(status, call, path);
}

td_status td_image_depth(const char *path, uint64_t width_bits, uint64_t *depth_words)
{
    static const char call[] = "image_depth";
    if (!path || !depth_words)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a uint64_t", call, path ? "depth_words" : "path");
    const td_image_format *format = NULL;
    td_file_map file = {NULL, 0, NULL};
    td_status status = TD_OK;
    if (width_bits < 1 || width_bits > TD_MAX_WIDTH_BITS)
        status = td_fail(TD_ARGUMENT, "a width of %" PRIu64 " bits; a width is 1 to %" PRIu64 " bits", width_bits,
                         TD_MAX_WIDTH_BITS);
    if (status == TD_OK)
        status = find_image_format(path, &format);
    if (status == TD_OK)
        status = td_file_map_open(path, &file);
    if (status == TD_OK) {
        status = format->depth(&file, width_bits, depth_words);
        td_file_unmap(&file);
    }
    return with_context(status, call, path);
}

static td_status check_spans(const td_memory *memory, const td_span *spans, size_t count)
{
    if (!spans || count == 0)
        return td_fail(TD_ARGUMENT, "no spans to write; pass at least one");
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].count == 0)
            return td_fail(TD_ARGUMENT, "span %zu has a count of 0 words; a span has at least one", i);
        if (spans[i].bank != spans[0].bank)
            return td_fail(TD_ARGUMENT,
                           "span %zu is of bank %" PRIu64 ", the first of bank %" PRIu64 "; save one bank at a time", i,
                           spans[i].bank, spans[0].bank);
        if (spans[i].first < next)
            return td_fail(TD_ARGUMENT,
                           "span %zu begins at word 0x%" PRIx64 ", the one before ends at 0x%" PRIx64
                           "; sort and merge the spans",
                           i, spans[i].first, next);
        if (spans[i].first >= memory->depth_words || spans[i].count > memory->depth_words - spans[i].first)
            return td_fail(TD_RANGE,
                           "span %zu has %" PRIu64 " words from 0x%" PRIx64 ", past the memory \"%s\" of %" PRIu64
                           " words; cut the span",
                           i, spans[i].count, spans[i].first, memory->name, memory->depth_words);
        next = spans[i].first + spans[i].count;
    }
    return TD_OK;
}

td_status td_memory_save_file(const td_memory *memory, const char *path, const td_span *spans, size_t count)
{
    static const char call[] = "memory_save_file";
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a memory and a path", call, memory ? "path" : "memory");
    const td_image_format *format = NULL;
    td_sink sink;
    td_status status = find_image_format(path, &format);
    if (status == TD_OK)
        status = check_spans(memory, spans, count);
    if (status == TD_OK)
        status = td_sink_open(path, &sink);
    if (status == TD_OK) {
        format->save(memory, spans, count, &sink);
        status = td_sink_close(&sink, TD_OK);
    }
    return with_context(status, call, path);
}
