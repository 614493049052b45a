/* Bits that are x or z in a memory whose words came from elsewhere (section 11 of the public header), met by the operations on
 * tensors. backdoor.c and compare.c call it; without such bits it costs them one test. */
#ifndef TD_UNKNOWN_H
#define TD_UNKNOWN_H

#include "backdoor/call.h"

typedef struct td_unknown {
    unsigned char
        *flags; /* per element, in a container of the memory's dtype: its bits that are x or z; NULL: none to look at */
    unsigned bytes;       /* of a container */
    unsigned char *saved; /* x=keep: the tensor before a dump */
} td_unknown;

/* Some bits of these memories are x or z. */
bool td_unknown_here(const td_call *c);

/* Before a dump or a comparison: TD_X_STATE with the elements, when the policy of bank 0 is x=error. Nothing for a load. */
td_status td_unknown_begin(const td_call *c, td_dtype memory_dtype, td_unknown *out);

/* After the operation: what a load has written is known, what a dump may not touch is put back. Frees. */
td_status td_unknown_end(const td_call *c, td_dtype memory_dtype, td_unknown *unknown, td_status status);

/* The bits of an element that are x or z. */
uint64_t td_unknown_bits(const td_unknown *unknown, uint64_t elem);

/* The same for lists of words: TD_X_STATE at x=error, and what a write makes known. */
td_status td_unknown_check_words(const char *call, const td_memory *memory, const uint64_t *addresses, size_t count);

#endif
