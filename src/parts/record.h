/* Records: the parts of a block, or of a tile of blocks, interleaved in one string of bits. A record is described in
 * words; record.c reads them into a list of fields, record_run.c moves bits between parts and records.
 *
 *     tile=32 scales elems^8(h2 i16>i h)                 q4_0 of ggml
 *
 * From the lowest bit of the first byte on:
 *     tile=N, NxN    the elements that a record covers, along the last dimensions
 *     PART           all codes of that part within the tile, row-major
 *     PART.4 .0-3    of each code only these bits
 *     PART[0-7]      only these of the codes
 *     PART^8         with these bits inverted
 *     PART(h2 i16>i h)   the codes are h by i (their sizes follow the names), and are stored i by h: the last is fast
 *     {PART PART}    one code of each in turn
 *     align=N        zeros up to a multiple of N bytes
 *     word=DTYPE     of the tensor of records: u8, or integers of 16, 32 or 64 bits
 * A name (ggml, tenstorrent, gptq, awq) is such a text; the empty text is the packing's own. */
#ifndef TD_RECORD_H
#define TD_RECORD_H

#include "parts/object.h"

/* Some bits of one code. */
typedef struct td_record_field {
    uint64_t offset; /* of the element in its part, from the first of the tile on */
    uint32_t invert;
    uint8_t part, low, bits; /* part: TD_MOST_PARTS for zeros */
} td_record_field;

typedef struct td_record {
    td_record_field *fields; /* owned; in the order of their bits */
    size_t count, room;
    uint64_t bits; /* of one record, whole words */
    td_dtype word;
    td_shape grid;                /* records along every dimension */
    td_shape step[TD_MOST_PARTS]; /* elements of the part from one record to the next, along every dimension */
    bool used[TD_MOST_PARTS];
} td_record;

/* Of these parts. TD_OPTION for a text that is not understood, TD_SHAPE where tiles do not fill the tensor. */
td_status td_record_parse(const td_parts *parts, const char *text, td_record *out);
void td_record_free(td_record *record);

#endif
