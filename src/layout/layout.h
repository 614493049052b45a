/* The layout object: pattern, options and address, parsed and printed back in canonical form. It knows no shape;
 * bind.c joins the two. Immutable after creation, so threads share it freely. */
#ifndef TD_LAYOUT_H
#define TD_LAYOUT_H

#include "layout/expr.h"
#include "layout/pattern.h"
#include "values/dtype.h"

struct td_layout {
    td_pattern pattern;
    td_expr *bank;    /* NULL: bank 0, or with three right groups the number of the bank axes */
    td_expr *address; /* NULL: beats * index; flat: a constant, the first word */

    uint64_t skews; /* the lane axes that the address or the bank names, a bit for each: their lanes lie apart */

    uint64_t size[TD_MAX_AXES]; /* per pattern axis; 0 is not given */
    char *pad;                  /* literal, typed when the memory's dtype is known; NULL: no padding */
    bool pad_begin;
    bool flat; /* one right group: elements one after another in the bits of consecutive words */
    bool clip;
    bool lanes_msb;
    bool keep;
    bool alias_last;
    bool tune;
    uint64_t slot_bits; /* 0: the element's bits */
    uint64_t lsb_bits;
    bool byte_addresses; /* the address counts bytes */
    uint64_t beats;
    char *elf;        /* the file that @sym in the address looks into; NULL: none */
    char *dtype_text; /* NULL: any */
    td_dtype dtype;

    char *options_text; /* canonical; "" when empty */
    char *address_text; /* canonical; "" for the default */
    char *as_text;      /* from a layout file, for calls that say none; NULL: none */
    char *memory_text;  /* from a layout file: the name of a memory; NULL: none */
    char *tensor_text;  /* from a layout file: a dtype and a shape; NULL: none */
    uint64_t hash;      /* of the three canonical strings */
};

/* What td_layout_create does, for callers that put their own name in front of a failure. No string is NULL. */
td_status td_layout_make(const char *pattern, const char *option_text, const char *address, td_layout **out);

/* The `as` of a call: its own, or else the layout's; "" where neither says one. */
static inline const char *td_layout_choose_as(const td_layout *layout, const char *as)
{
    return as && *as ? as : layout->as_text ? layout->as_text : "";
}

#endif
