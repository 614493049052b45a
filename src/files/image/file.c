/* The facade of memory images: reads a name, maps or creates the file, hands it to the format, and puts the call and
 * the name in front of every message. The formats live beside it; file_name.c says which there are. It refuses spans
 * that are not ascending words of the memory. */
#include "base/profile.h"
#include "base/record.h"
#include "base/text.h"
#include "files/image/formats.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <stdlib.h>

static const td_image_format *const image_formats[TD_FILE_FORMATS] = {
    [TD_FILE_RAW] = &td_format_raw,           [TD_FILE_READMEMH] = &td_format_readmemh,
    [TD_FILE_READMEMB] = &td_format_readmemb, [TD_FILE_IHEX] = &td_format_ihex,
    [TD_FILE_SREC] = &td_format_srec,         [TD_FILE_ELF] = &td_format_elf,
    [TD_FILE_MIF] = &td_format_mif,           [TD_FILE_COE] = &td_format_coe,
};

/* An image on its way in: the name is parsed and the file read, and `format` scans it. */
typedef struct source {
    td_file_name name;
    td_file_map file;
    const td_image_format *format;
} source;

static td_status open_image(const char *path, source *out)
{
    source s = {0};
    td_status status = td_file_name_parse(path, TD_USE_IMAGE, &s.name);
    if (status != TD_OK)
        return status;
    s.format = image_formats[s.name.format];
    status = td_file_copy_open(s.name.path, &s.file);
    if (status != TD_OK) {
        td_file_name_free(&s.name);
        return status;
    }
    *out = s;
    return TD_OK;
}

static void close_image(source *s)
{
    td_file_unmap(&s->file);
    td_file_name_free(&s->name);
}

static td_status bring_in(const td_memory *memory, const td_span *spans, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_memory_bring_in(memory, spans[i].first, spans[i].count);
    return status;
}

static td_status put_back(const td_memory *memory, const td_span *spans, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_memory_seal(memory, spans[i].first, spans[i].count);
    for (size_t i = 0; i < count && !status; i++)
        td_memory_put_back(memory, spans[i].first, spans[i].count);
    return status;
}

static td_status load_file(td_memory *memory, const char *path, td_image_outside *outside)
{
    static const char call[] = "memory_load_file";
    TD_OPERATION(operation, call);
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a memory and a path", call, memory ? "path" : "memory");
    source s;
    td_span *spans = NULL;
    size_t count = 0;
    td_status status = open_image(path, &s);
    if (status == TD_OK) {
        TD_STEP(step, "read file");
        td_profile_step_bytes(step, s.file.size);
        td_image check = td_image_make(memory->width_bits, memory->depth_words, NULL);
        td_image write = td_image_make(memory->width_bits, memory->depth_words, memory->data);
        check.want_spans = memory->backing != NULL; /* a file may cover words in part */
        status = s.format->scan(&s.file, &s.name.options, &check);
        if (check.want_spans)
            status = status ? status : td_image_take_spans(&check, &spans, &count);
        if (status == TD_OK)
            status = bring_in(memory, spans, count);
        if (status == TD_OK)
            status = s.format->scan(&s.file, &s.name.options, &write);
        for (size_t i = 0; i < count && status == TD_OK && memory->unknown_any; i++)
            td_x_set_words(memory, spans[i].first, spans[i].count, false);
        if (status == TD_OK)
            status = put_back(memory, spans, count);
        if (status == TD_OK)
            *outside = write.outside;
        free(spans ? spans : check.spans);
        close_image(&s);
    }
    if (status == TD_OK)
        memory->unknown_any = false;
    return td_file_context(status, call, path);
}

td_status td_memory_load_file(td_memory *memory, const char *path)
{
    td_image_outside outside;
    return td_record_other("memory_load_file", load_file(memory, path, &outside));
}

td_status td_memory_load_file_part(td_memory *memory, const char *path, td_image_outside *outside)
{
    return outside ? td_record_other("memory_load_file", load_file(memory, path, outside))
                   : td_fail(TD_ARGUMENT, "memory_load_file: outside is NULL; pass a td_image_outside");
}

static td_status scan_alone(const char *path, uint64_t width_bits, td_image *image)
{
    if (width_bits < 1 || width_bits > TD_MAX_WIDTH_BITS)
        return td_fail(TD_ARGUMENT, "a width of %" PRIu64 " bits; a width is 1 to %" PRIu64 " bits", width_bits,
                       TD_MAX_WIDTH_BITS);
    source s;
    bool want_spans = image->want_spans;
    td_status status = open_image(path, &s);
    if (status != TD_OK)
        return status;
    *image = td_image_make(width_bits, TD_MAX_DEPTH_WORDS, NULL);
    image->want_spans = want_spans;
    status = s.format->scan(&s.file, &s.name.options, image);
    close_image(&s);
    return status;
}

td_status td_image_depth(const char *path, uint64_t width_bits, uint64_t *depth_words)
{
    static const char call[] = "image_depth";
    if (!path || !depth_words)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a uint64_t", call, path ? "depth_words" : "path");
    td_image image = {0};
    td_status status = scan_alone(path, width_bits, &image);
    if (status == TD_OK)
        *depth_words = image.top_words;
    return td_file_context(status, call, path);
}

td_status td_image_spans(const char *path, uint64_t width_bits, td_span **spans, size_t *count)
{
    static const char call[] = "image_spans";
    if (!path || !spans || !count)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path, a td_span pointer and a size_t", call,
                       !path    ? "path"
                       : !spans ? "spans"
                                : "count");
    td_image image = {.want_spans = true};
    td_status status = scan_alone(path, width_bits, &image);
    if (status == TD_OK)
        status = td_image_take_spans(&image, spans, count);
    else
        free(image.spans);
    return td_file_context(status, call, path);
}

td_status td_image_visit(const char *path, unsigned passes, unsigned *pass, bool *skip, td_image_sink *sink,
                         void *context)
{
    source s;
    td_status status = open_image(path, &s);
    if (status)
        return status;
    const td_file_options *o = &s.name.options;
    const bool counts_bytes =
        s.name.format == TD_FILE_ELF || s.name.format == TD_FILE_IHEX || s.name.format == TD_FILE_SREC || o->byte_units;
    if (!counts_bytes)
        status = td_fail(TD_ARGUMENT,
                         "%s has no byte addresses; load an ELF file, .ihex, .srec, or readmem text with unit=byte",
                         td_file_format_word(s.name.format));
    else if (o->base || o->big_endian)
        status = td_fail(TD_OPTION, "%s, which the map says for every memory; leave it out",
                         o->base ? "base=" : "endian=big");
    *skip = o->skip_outside;
    for (*pass = 0; *pass < passes && !status; ++*pass) {
        td_image image = td_image_make(8, TD_MAX_DEPTH_WORDS, NULL);
        image.sink = sink;
        image.context = context;
        status = s.format->scan(&s.file, o, &image);
    }
    close_image(&s);
    return status;
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
                           "span %zu has %" PRIu64 " word%s from 0x%" PRIx64 ", past the memory \"%s\" of %" PRIu64
                           " words; cut the span",
                           i, spans[i].count, td_text_s(spans[i].count), spans[i].first, memory->name,
                           memory->depth_words);
        next = spans[i].first + spans[i].count;
    }
    return TD_OK;
}

/* No format here has a digit for x. */
static td_status check_known(const td_memory *memory, const td_span *spans, size_t count)
{
    const size_t bytes = memory->word_bytes;
    for (size_t i = 0; i < count; i++)
        for (uint64_t b = 0; b < spans[i].count * bytes; b++)
            if (memory->unknown->data[spans[i].first * bytes + b])
                return td_fail(TD_X_STATE,
                               "word 0x%" PRIx64
                               " of \"%s\" has bits that are x or z; save it when the design has driven them, or "
                               "set the memory's policy to x=zero",
                               spans[i].first + b / bytes, memory->name);
    return TD_OK;
}

td_status td_memory_save_file(const td_memory *memory, const char *path, const td_span *spans, size_t count)
{
    static const char call[] = "memory_save_file";
    TD_OPERATION(operation, call);
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a memory and a path", call, memory ? "path" : "memory");
    td_file_name name = {0};
    td_writer writer;
    td_status status = td_file_name_parse(path, TD_USE_IMAGE, &name);
    if (status == TD_OK && !image_formats[name.format]->save)
        status = td_fail(TD_ARGUMENT, "%s files are read, not written; save as .hex, .bin, .ihex or .srec",
                         td_file_format_word(name.format));
    if (status == TD_OK)
        status = check_spans(memory, spans, count);
    if (status == TD_OK)
        status = bring_in(memory, spans, count);
    if (status == TD_OK && memory->unknown_any && memory->x != TD_X_ZERO)
        status = check_known(memory, spans, count);
    if (status == TD_OK)
        status = td_writer_open(name.path, &writer);
    if (status == TD_OK) {
        TD_STEP(step, "write file");
        for (size_t i = 0; i < count; i++)
            td_profile_step_bytes(step, spans[i].count * memory->word_bytes);
        status = image_formats[name.format]->save(memory, &name.options, spans, count, &writer);
        status = td_writer_close(&writer, status);
    }
    td_file_name_free(&name);
    return td_file_context(status, call, path);
}
