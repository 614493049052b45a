/* What Intel hex and S-records share: lines of hex pairs that end with a sum, and bytes cut into records. Both are
 * formats of byte addresses; image.c says where a byte lies. */
#ifndef TD_RECORDS_H
#define TD_RECORDS_H

#include "formats.h"

/* The most that a count byte can say. */
#define TD_RECORD_BYTES 256

typedef struct td_record_lines {
    const unsigned char *at;
    const unsigned char *end;
    size_t line; /* of the record that was taken last, from 1 */
} td_record_lines;

/* The next line that is not blank, without its end: false at the end of the file. */
bool td_record_line(td_record_lines *lines, const unsigned char **text, size_t *length);

/* The pairs of hex digits of `text`, at most TD_RECORD_BYTES. TD_FORMAT for another character, an odd digit, or more.
 */
td_status td_record_bytes(const unsigned char *text, size_t length, unsigned char *bytes, size_t *count);

unsigned char td_record_sum(const unsigned char *bytes, size_t count);

/* Calls `put` for every record of the spans: at most 16 bytes each, none across a multiple of 16 of the file's address.
 * TD_RANGE when an address passes `last`. */
typedef void td_record_put(td_sink *sink, void *context, uint64_t address, const unsigned char *bytes, size_t count);
td_status td_record_write(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          uint64_t last, td_sink *sink, td_record_put *put, void *context);

/* `count` bytes as upper-case hex pairs. */
void td_record_put_hex(td_sink *sink, const unsigned char *bytes, size_t count);

/* The file's address behind the last byte of the spans. */
uint64_t td_record_end(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count);

#endif
