/* Motorola S-records (.srec, .s19, .s28, .s37, .mot): S0 to S3 and S5 to S9, every sum and count checked. Addresses are
 * of bytes, at most 32 bits; a file is written with the shortest that hold its last one. Refuses a file without its end
 * record, and anything after it. */
#include "files/image/records.h"

#include <inttypes.h>

typedef struct reader {
    td_record_reader base;
    uint64_t data_records;
} reader;

static td_status take_count(const reader *r, uint64_t said)
{
    if (said != r->data_records)
        return td_fail(TD_FORMAT,
                       "the count record says %" PRIu64 " data records, the file has %" PRIu64 "; it is damaged", said,
                       r->data_records);
    return TD_OK;
}

static td_status take_record(td_record_reader *base, const unsigned char *text, size_t length)
{
    reader *r = (reader *)base;
    /* bytes of the address by type; 0: no such record */
    static const unsigned char address_bytes[10] = {2, 2, 3, 4, 0, 2, 3, 4, 3, 2};
    unsigned char b[TD_RECORD_BYTES + 8];
    size_t count = 0;
    if (text[0] != 'S' || length < 2 || text[1] < '0' || text[1] > '9' || address_bytes[text[1] - '0'] == 0)
        return td_fail(TD_FORMAT, "a record begins with S0 to S3 or S5 to S9; the line is damaged, or the file is not "
                                  "of S-records");
    unsigned type = (unsigned)(text[1] - '0');
    td_status status = td_record_bytes(text + 2, length - 2, b, &count);
    if (status != TD_OK)
        return status;
    size_t head = 1 + (size_t)address_bytes[type];
    if (count < head + 1 || count != (size_t)b[0] + 1)
        return td_fail(TD_FORMAT, "a record of %zu bytes, its count says %u; the line is cut short or damaged", count,
                       count ? b[0] + 1u : 1u);
    if (td_record_sum(b, count) != 0xff)
        return td_fail(TD_FORMAT, "the sum is 0x%02x, the record needs 0x%02x; the line is damaged", b[count - 1],
                       0xffu - td_record_sum(b, count - 1));
    uint64_t address = 0;
    for (size_t i = 1; i < head; i++)
        address = address << 8 | b[i];
    switch (type) {
    case 1:
    case 2:
    case 3:
        r->data_records++;
        return td_image_put_bytes(r->base.image, r->base.options, address, b + head, count - head - 1);
    case 5:
    case 6:
        return take_count(r, address);
    case 0:
        return TD_OK; /* a name, for people */
    default:
        r->base.ended = true;
        return TD_OK;
    }
}

static td_status srec_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    reader r = {.base = {.options = options, .image = image}};
    return td_record_scan(file, &r.base, take_record, "S7, S8 or S9");
}

static void put_record(td_writer *writer, unsigned type, unsigned address_bytes, uint64_t address,
                       const unsigned char *bytes, size_t count)
{
    unsigned char b[32];
    size_t used = 1;
    for (unsigned i = address_bytes; i > 0; i--)
        b[used++] = (unsigned char)(address >> (8 * (i - 1)) & 0xff);
    for (size_t i = 0; i < count; i++)
        b[used++] = bytes[i];
    b[0] = (unsigned char)used;
    b[used] = (unsigned char)(0xff - td_record_sum(b, used));
    unsigned char *head = td_writer_reserve(writer, 2);
    head[0] = 'S';
    head[1] = (unsigned char)('0' + type);
    td_record_put_hex(writer, b, used + 1);
    *td_writer_reserve(writer, 1) = '\n';
}

static void put_bytes(td_writer *writer, void *context, uint64_t address, const unsigned char *bytes, size_t count)
{
    const unsigned *address_bytes = context;
    put_record(writer, *address_bytes - 1, *address_bytes, address, bytes, count);
}

static td_status srec_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer)
{
    uint64_t end = td_record_end(memory, options, spans, count);
    unsigned address_bytes = end <= 0x10000 ? 2 : end <= 0x1000000 ? 3 : 4;
    put_record(writer, 0, 2, 0, (const unsigned char *)"tensordoor", 10);
    td_status status = td_record_write(memory, options, spans, count, UINT32_MAX, writer, put_bytes, &address_bytes);
    if (status == TD_OK)
        put_record(writer, 11 - address_bytes, address_bytes, 0, NULL, 0);
    return status;
}

const td_image_format td_format_srec = {srec_scan, srec_save};
