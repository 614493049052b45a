/* What Intel hex and S-records share: lines of hex pairs that end with a sum, and bytes cut into records. Both are
 * formats of byte addresses; image.c says where a byte lies. */
#ifndef TD_RECORDS_H
#define TD_RECORDS_H

#include "files/image/formats.h"

/* The most that a count byte can say. */
#define TD_RECORD_BYTES 256

/* What has been read of a file of records. A format's own reader begins with it. */
typedef struct td_record_reader {
    const td_file_options *options;
    td_image *image;
    bool ended; /* the end record was taken: no other may follow */
} td_record_reader;

/* Calls `take` for every line that is not blank, without its line end, and names the line in its message. TD_FORMAT for
 * a line after the end record, for a file without one (`end_record` is how it looks), and for an image of no words. */
typedef td_status td_record_take(td_record_reader *reader, const unsigned char *text, size_t length);
td_status td_record_scan(const td_file_map *file, td_record_reader *reader, td_record_take *take,
                         const char *end_record);

/* The pairs of hex digits of `text`, at most TD_RECORD_BYTES. TD_FORMAT for another character, an odd digit, or more.
 */
td_status td_record_bytes(const unsigned char *text, size_t length, unsigned char *bytes, size_t *count);

unsigned char td_record_sum(const unsigned char *bytes, size_t count);

/* Calls `put` for every record of the spans: at most 16 bytes each, none across a multiple of 16 of the file's address.
 * TD_RANGE when an address passes `last`. */
typedef void td_record_put(td_writer *writer, void *context, uint64_t address, const unsigned char *bytes,
                           size_t count);
td_status td_record_write(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          uint64_t last, td_writer *writer, td_record_put *put, void *context);

/* `count` bytes as upper-case hex pairs. */
void td_record_put_hex(td_writer *writer, const unsigned char *bytes, size_t count);

/* The file's address after the last byte of the spans. */
uint64_t td_record_end(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count);

#endif
