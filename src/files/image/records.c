/* See records.h. Called by ihex.c and srec.c. It knows lines, pairs of digits and sums, and no record types. */
#include "files/image/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct record_lines {
    const unsigned char *at;
    const unsigned char *end;
    size_t line; /* of the record that was taken last, from 1 */
} record_lines;

static bool next_line(record_lines *lines, const unsigned char **text, size_t *length)
{
    while (lines->at < lines->end) {
        const unsigned char *begin = lines->at;
        const unsigned char *stop = memchr(begin, '\n', (size_t)(lines->end - begin));
        lines->at = stop ? stop + 1 : lines->end;
        lines->line++;
        stop = stop ? stop : lines->end;
        while (stop > begin && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if (stop == begin)
            continue;
        *text = begin;
        *length = (size_t)(stop - begin);
        return true;
    }
    return false;
}

td_status td_record_scan(const td_file_map *file, td_record_reader *reader, td_record_take *take,
                         const char *end_record)
{
    record_lines lines = {file->bytes, file->bytes + file->size, 0};
    const unsigned char *text = NULL;
    size_t length = 0;
    while (next_line(&lines, &text, &length)) {
        td_status status = reader->ended ? td_fail(TD_FORMAT, "text behind the end record; nothing may follow it")
                                         : take(reader, text, length);
        if (status != TD_OK) {
            td_fail_prefix("line %zu: ", lines.line);
            return status;
        }
    }
    if (!reader->ended)
        return td_fail(TD_FORMAT, "the file has no end record (%s); it is cut short", end_record);
    return td_image_check_words(reader->image, "the file holds no words; an image has at least one");
}

static int digit(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

td_status td_record_bytes(const unsigned char *text, size_t length, unsigned char *bytes, size_t *count)
{
    for (size_t i = 0; i < length; i++)
        if (digit(text[i]) < 0) {
            char shown[8];
            snprintf(shown, sizeof shown, text[i] > ' ' && text[i] < 0x7f ? "'%c'" : "0x%02x", text[i]);
            return td_fail(TD_FORMAT, "unexpected character %s; a record is hex digits", shown);
        }
    if (length % 2 != 0)
        return td_fail(TD_FORMAT, "%zu hex digits; a record has an even number, so the line is cut short", length);
    if (length / 2 > TD_RECORD_BYTES + 8)
        return td_fail(TD_FORMAT, "a record of %zu bytes; its count byte cannot say so many", length / 2);
    for (size_t i = 0; i < length / 2; i++)
        bytes[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    *count = length / 2;
    return TD_OK;
}

unsigned char td_record_sum(const unsigned char *bytes, size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += bytes[i];
    return (unsigned char)(sum & 0xff);
}

void td_record_put_hex(td_writer *writer, const unsigned char *bytes, size_t count)
{
    unsigned char *text = td_writer_reserve(writer, 2 * count);
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = (unsigned char)"0123456789ABCDEF"[bytes[i] >> 4];
        text[2 * i + 1] = (unsigned char)"0123456789ABCDEF"[bytes[i] & 15];
    }
}

uint64_t td_record_end(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count)
{
    size_t file_bytes = (size_t)(memory->width_bits + 7) / 8;
    return options->base + (spans[count - 1].first + spans[count - 1].count) * file_bytes;
}

td_status td_record_write(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          uint64_t last, td_writer *writer, td_record_put *put, void *context)
{
    size_t file_bytes = (size_t)(memory->width_bits + 7) / 8;
    uint64_t end = td_record_end(memory, options, spans, count);
    if (end - 1 > last)
        return td_fail(TD_RANGE,
                       "the last byte lies at address 0x%" PRIx64 ", and the format ends at 0x%" PRIx64
                       "; save fewer words, or pass a lower base",
                       end - 1, last);
    unsigned char bytes[16];
    size_t used = 0;
    uint64_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = options->base + spans[i].first * file_bytes;
        for (uint64_t w = spans[i].first; w < spans[i].first + spans[i].count; w++)
            for (size_t lane = 0; lane < file_bytes; lane++, address++) {
                if (used && (address % 16 == 0 || address != begin + used)) {
                    put(writer, context, begin, bytes, used);
                    used = 0;
                }
                begin = used ? begin : address;
                bytes[used++] =
                    td_image_lane(memory->data + (size_t)w * memory->word_bytes, file_bytes, options->big_endian, lane);
            }
    }
    put(writer, context, begin, bytes, used);
    return TD_OK;
}
