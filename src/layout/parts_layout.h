/* How a tensor in parts lies in memories: its packing, and for every part a memory by name and a layout.
 * layout_file.c makes one of an entry with `part` clauses, users make one part by part; backdoor/parts.c loads and
 * dumps by it. It knows no packing: that the parts are those of one is checked with the tensor. */
#ifndef TD_PARTS_LAYOUT_H
#define TD_PARTS_LAYOUT_H

#include "layout/layout.h"

#define TD_MOST_PLACES 8
#define TD_PLACE_NAME_BYTES 64

typedef struct td_part_place {
    char part[TD_PLACE_NAME_BYTES];   /* "": the first of the packing */
    char memory[TD_PLACE_NAME_BYTES]; /* "": the first memory of a call */
    td_layout *layout;
} td_part_place;

struct td_parts_layout {
    char *packing; /* as written: axis= may name axes of the first place's pattern */
    size_t count;
    td_part_place place[TD_MOST_PLACES];
};

/* Takes the layout over when it succeeds. TD_ARGUMENT for a name that is too long and for a part that stands twice. */
td_status td_parts_layout_put(td_parts_layout *layout, const char *part, const char *memory, td_layout *part_layout);

/* The packing with numbers in place of the axes that axis= names, which are those on the left of the pattern; free
 * *out. TD_OPTION for a name that is none. */
td_status td_parts_layout_axes(const char *packing, const td_layout *layout, char **out);

#endif
