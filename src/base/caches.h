/* The sizes of this machine's caches, asked once. Called by whoever cuts work to fit them or has to know when it does
 * not. The C library's own idea of the last level may be that of the whole host. */
#ifndef TD_CACHES_H
#define TD_CACHES_H

#include <stdint.h>

typedef struct td_caches {
    uint64_t first_bytes, second_bytes, last_bytes; /* data; the last as the core sees it, at least the second */
} td_caches;

td_caches td_caches_find(void);

#endif
