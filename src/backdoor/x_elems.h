/* Elements with bits that are x or z, in memories whose words came from a design (tensordoor_bridge.h). call.c calls
 * it before and after a load, dump or comparison of memories that have such bits. */
#ifndef TD_X_ELEMS_H
#define TD_X_ELEMS_H

#include "values/dtype.h"

typedef struct td_call td_call;

typedef struct td_x_elems {
    /* Per element, in a container of the memory's dtype: its bits that are x or z; NULL: none to look at. */
    unsigned char *flags;
    unsigned bytes;       /* of a container */
    unsigned char *saved; /* x=keep: the tensor before a dump */
    bool known;           /* what a load has written is known already */
} td_x_elems;

/* Before a dump or a comparison: TD_X_STATE with the elements, when the policy of bank 0 is x=error. Nothing for a
 * load. */
td_status td_x_begin(const td_call *c, td_dtype memory_dtype, td_x_elems *out);

/* What a load has written is known: before it goes back to where it lies; td_x_end does it otherwise. */
td_status td_x_make_known(const td_call *c, td_dtype memory_dtype, td_x_elems *x);

/* After the operation: what a load has written is known, what a dump may not touch is put back. Frees. */
td_status td_x_end(const td_call *c, td_dtype memory_dtype, td_x_elems *x, td_status status);

/* The bits of an element that are x or z. */
uint64_t td_x_bits(const td_x_elems *x, uint64_t elem);

#endif
