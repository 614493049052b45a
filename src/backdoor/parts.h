/* A tensor's parts with the memories and layouts of each: what load, dump and comparison of parts work on. parts.c
 * finds them; compare/parts.c and design/parts.c look at them. */
#ifndef TD_BACKDOOR_PARTS_H
#define TD_BACKDOOR_PARTS_H

#include "backdoor/call.h"
#include "layout/parts_layout.h"
#include "parts/object.h"

typedef struct td_placed_part {
    const td_layout *layout;
    td_layout *own; /* the same, where it was made for this call; or NULL */
    const td_memory **bank;
    size_t banks;
    td_tensor like; /* the part's dtype, shape and name, without data */
    td_plan *plan;
    unsigned char **data; /* the storage of each bank */
    char name[TD_PLACE_NAME_BYTES];
} td_placed_part;

/* By the numbers of parts.form; layout is NULL where the packing has no such part. */
typedef struct td_placed {
    const char *operation;
    char *packing; /* with numbers for axes */
    td_parts *parts;
    td_placed_part part[TD_MOST_PARTS];
} td_placed;

/* What a call is about. */
typedef struct td_parts_call {
    const char *operation;
    td_memory *const *memories;
    size_t count;
    const td_tensor *tensor;
    const td_parts_layout *layout;
    bool from_tensor;   /* sparse packings: the parts are those of this tensor; else of what the packing says */
    bool writes_tensor; /* the tensor is written, and the memories are only read */
} td_parts_call;

/* Checks the whole call: the packing, a place for every part, its memory and its layout, and that no two parts lie in
 * one word. Nothing is written. Ends with td_placed_close, which puts the operation in front of a failure. */
td_status td_placed_open(const td_parts_call *call, td_placed *out);
td_status td_placed_close(td_placed *placed, td_status status);

/* The call of one part with this tensor, which has its dtype and shape. */
td_call td_placed_call(const td_placed *placed, int kind, const td_tensor *tensor);

/* Some of its memories have bits that are x or z, or lie over others: only td_call_run serves them. */
bool td_placed_needs_call(const td_placed *placed, int kind);

/* Loads one part whose memories are their own storage. Cannot fail. */
void td_placed_load(const td_placed *placed, int kind, const td_tensor *tensor);

/* Tensors of the parts, with what the memories hold. */
td_status td_placed_dump(td_placed *placed);

#endif
