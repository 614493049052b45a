/* Runs plans: load, dump, and the checks of memory before a dump. backdoor/ and compare/ call it. A plan was checked
 * when it was made, so only values and copies in memory can be refused here, and those before anything is written. */
#ifndef TD_EXEC_H
#define TD_EXEC_H

#include "plan/walk.h"
#include "values/convert.h"

/* A plan with its two sides: the storage of each bank, and the tensor's data. */
typedef struct td_run {
    const td_plan *plan;
    unsigned char *const *bank;
    unsigned char *tensor;     /* only read by a load and a comparison */
    const td_convert *convert; /* on the way of this run; NULL: bits move unchanged */
    /* Per element, in a container of the memory's dtype: not 0 where copies may differ; or NULL. */
    const unsigned char *loose;
    bool inner; /* a small part of something larger, as a slab: no step of its own in the profile */
} td_run;

void td_exec_load(const td_run *run);

/* Whether a load with this conversion converts every element inside of a move. */
bool td_exec_moves_all(const td_plan *plan, const td_convert *convert);

void td_exec_dump(const td_run *run);

/* Before a dump whose conversion may refuse (convert->check): TD_RANGE when a value in memory has no place in the
 * tensor's dtype, with the element in the message. */
td_status td_exec_check(const td_run *run);

/* Before a dump of a plan that has `copies`: true when the bits of every copy are the same. Where they are not, the two
 * below say whether that matters (bits that are x or z do not, nor bits that a conversion drops) and where it does. */
bool td_exec_copies_same(const td_run *run);

/* Where a copy in memory differs. */
typedef struct td_clash {
    uint64_t elem; /* row-major number in the tensor */
    td_place place;
    uint64_t expected, found; /* element bits */
} td_clash;

/* The copies of a repeat axis: true when each equals the first, else the first clash. */
bool td_exec_copies_agree(const td_run *run, td_clash *clash);

/* The memory against the tensor's bits. */
bool td_exec_equals(const td_run *run, td_clash *clash);

#endif
