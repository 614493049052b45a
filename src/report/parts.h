/* What a report of parts says beside the elements: the packing, how many codes of every part differ, and for each of
 * the first mismatches its block, scale and zero point, and where these lie. compare/parts.c fills it; report/parts.c
 * prints it. */
#ifndef TD_REPORT_PARTS_H
#define TD_REPORT_PARTS_H

#include "parts/form.h"
#include "report/report.h"

/* Where the scale or the zero point of a block lies. */
typedef struct td_note_place {
    td_place at;
    char memory[64];
} td_note_place;

/* One of the first mismatches; codes are those of the golden tensor's parts and of the memories. */
typedef struct td_part_note {
    td_shape block;                      /* its coordinates among the scales */
    uint64_t code[2], scale[2], zero[2]; /* expected, found */
    td_note_place scale_at, zero_at;
} td_part_note;

typedef struct td_part_count {
    char name[32], dtype[TD_DTYPE_NAME_BYTES], memory[64];
    uint64_t compared, mismatches;
} td_part_count;

struct td_report_parts {
    char packing[256];
    bool blocks, zeros; /* there are notes; with zero points */
    td_dtype elem, scale, zero;
    size_t count;
    td_part_count part[TD_MOST_PARTS];
    size_t notes; /* as many as first mismatches, in their order */
    td_part_note *note;
};

#endif
