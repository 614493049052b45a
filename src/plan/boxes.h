/* From a bound layout to the boxes of a plan. */
#ifndef TD_LOWER_H
#define TD_LOWER_H

#include "layout/bind.h"
#include "plan/plan.h"

/* Where a vector's lanes lie, relative to its first word. */
typedef struct td_lanes {
    uint64_t slot_bits;
    uint64_t part_bits;           /* of one beat */
    bool by_strides;              /* every lane axis has a constant stride, in stride[] */
    int64_t base;                 /* bits, of lane 0 */
    int64_t stride[TD_MAX_BOUND]; /* bits per step, per bound axis */
} td_lanes;

/* Where the words lie: by strides, or in a table that is then in the plan. */
typedef struct td_words {
    bool by_strides;
    int64_t address, bank; /* of step 0 */
    int64_t address_stride[TD_MAX_BOUND];
    int64_t bank_stride[TD_MAX_BOUND];
    uint64_t number_stride[TD_MAX_BOUND]; /* of the linear number of a word over banks and time */
    uint64_t count;
} td_words;

/* lanes.c: places the lanes, splits a lane axis where beats cut it. Refuses a lane past the word unless `truncate`. */
td_status td_lanes_place(td_bound *bound, const td_plan_request *request, td_lanes *out);
/* The bits of element lane `lane` as pieces, at most 64 of them; returns how many. `memory` is relative to the word. */
size_t td_lanes_pieces(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, uint64_t lane,
                       td_piece *out);

/* places.c: strides of the address and bank expressions, or the table of every word. */
td_status td_places_find(const td_bound *bound, td_words *out);
td_status td_places_table(const td_bound *bound, const td_words *words, td_plan *plan);
/* A dense plan: the words at beats * number; and where they belong, by the strides or the plan's table, into the plan. */
td_words td_places_dense(const td_bound *bound, const td_words *words);
td_status td_places_keep(const td_bound *bound, const td_words *words, td_plan *plan);
td_status td_places_at(const td_bound *bound, const td_words *words, uint64_t number, int64_t *address, int64_t *bank);

/* A rectangle of the bound axes: what one box covers. */
typedef struct td_region {
    uint64_t beats; /* that its vectors reach into: the last beat written, plus one */
    uint64_t start[TD_MAX_BOUND];
    uint64_t extent[TD_MAX_BOUND];
} td_region;

/* check.c: every word of the regions inside its memory, no two in one place. In a plan's table, entries outside the
 * regions become TD_NO_WORD. */
td_status td_check_words(const td_bound *bound, const td_words *words, td_plan *plan, const td_region *regions,
                         size_t count);

#endif
