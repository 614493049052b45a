/* Intel hex (.ihex, .ihx): records 00 to 05, both kinds of extended addresses, every sum checked. Addresses are of
 * bytes, at most 32 bits. Refuses a file without its end record, and anything after it: a file that is cut short never
 * loads. */
#include "files/image/records.h"

#include <inttypes.h>

enum { DATA, END, SEGMENT, START_SEGMENT, LINEAR, START_LINEAR };

typedef struct reader {
    td_record_reader base;
    uint64_t upper; /* what extended address records add */
    bool segmented; /* the offset wraps inside 64 KiB */
} reader;

static td_status put_data(reader *r, unsigned offset, const unsigned char *bytes, unsigned count)
{
    unsigned first = r->segmented && offset + count > 0x10000 ? 0x10000 - offset : count;
    td_status status = td_image_put_bytes(r->base.image, r->base.options, r->upper + offset, bytes, first);
    if (status == TD_OK)
        status = td_image_put_bytes(r->base.image, r->base.options, r->upper, bytes + first, count - first);
    return status;
}

static td_status take_record(td_record_reader *base, const unsigned char *text, size_t length)
{
    reader *r = (reader *)base;
    static const unsigned char needed[] = {
        [END] = 0, [SEGMENT] = 2, [START_SEGMENT] = 4, [LINEAR] = 2, [START_LINEAR] = 4};
    unsigned char b[TD_RECORD_BYTES + 8];
    size_t count = 0;
    if (text[0] != ':')
        return td_fail(TD_FORMAT, "a record begins with ':', this line with 0x%02x; the file is not Intel hex",
                       text[0]);
    td_status status = td_record_bytes(text + 1, length - 1, b, &count);
    if (status != TD_OK)
        return status;
    if (count < 5 || count != (size_t)b[0] + 5)
        return td_fail(TD_FORMAT, "a record of %zu bytes, its count says %u; the line is cut short or damaged", count,
                       count ? b[0] + 5u : 5u);
    if (td_record_sum(b, count) != 0)
        return td_fail(TD_FORMAT, "the sum is 0x%02x, the record needs 0x%02x; the line is damaged", b[count - 1],
                       (unsigned)(unsigned char)-td_record_sum(b, count - 1));
    unsigned type = b[3];
    if (type > START_LINEAR)
        return td_fail(TD_FORMAT, "record type 0x%02x; 00 to 05 are known", type);
    if (type != DATA && b[0] != needed[type])
        return td_fail(TD_FORMAT, "a record of type %02u with %u bytes; it has %u", type, b[0], needed[type]);
    switch (type) {
    case DATA:
        return put_data(r, (unsigned)b[1] << 8 | b[2], b + 4, b[0]);
    case END:
        r->base.ended = true;
        break;
    case SEGMENT:
    case LINEAR:
        r->segmented = type == SEGMENT;
        r->upper = (uint64_t)((unsigned)b[4] << 8 | b[5]) << (r->segmented ? 4 : 16);
        break;
    default:
        break; /* where a processor starts is no part of a memory */
    }
    return TD_OK;
}

static td_status ihex_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    reader r = {.base = {.options = options, .image = image}};
    return td_record_scan(file, &r.base, take_record, ":00000001FF");
}

static void put_record(td_writer *writer, unsigned type, unsigned offset, const unsigned char *bytes, size_t count)
{
    unsigned char b[32] = {(unsigned char)count, (unsigned char)(offset >> 8), (unsigned char)(offset & 0xff),
                           (unsigned char)type};
    for (size_t i = 0; i < count; i++)
        b[4 + i] = bytes[i];
    b[4 + count] = (unsigned char)-td_record_sum(b, 4 + count);
    *td_writer_reserve(writer, 1) = ':';
    td_record_put_hex(writer, b, 5 + count);
    *td_writer_reserve(writer, 1) = '\n';
}

static void put_bytes(td_writer *writer, void *context, uint64_t address, const unsigned char *bytes, size_t count)
{
    uint64_t *upper = context;
    if (address >> 16 != *upper) {
        *upper = address >> 16;
        const unsigned char high[2] = {(unsigned char)(*upper >> 8), (unsigned char)(*upper & 0xff)};
        put_record(writer, LINEAR, 0, high, 2);
    }
    put_record(writer, DATA, (unsigned)(address & 0xffff), bytes, count);
}

static td_status ihex_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer)
{
    uint64_t upper = 0;
    td_status status = td_record_write(memory, options, spans, count, UINT32_MAX, writer, put_bytes, &upper);
    if (status == TD_OK)
        put_record(writer, END, 0, NULL, 0);
    return status;
}

const td_image_format td_format_ihex = {ihex_scan, ihex_save};
