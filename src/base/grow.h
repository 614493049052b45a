/* Lists that grow by doubling. */
#ifndef TD_GROW_H
#define TD_GROW_H

#include "base/status.h"

#include <stdlib.h>

/* A list with room for one element more than `count`: the list itself, or a larger one in its place, at first of
 * `least` elements of `size` bytes; *room says how many it has. NULL, with the message of a refused allocation, leaves
 * the list as it was. */
static inline void *td_grow(void *list, size_t count, size_t *room, size_t size, size_t least)
{
    if (list && count < *room)
        return list;
    const size_t wanted = *room ? 2 * *room : least;
    void *grown = realloc(list, wanted * size);
    if (grown)
        *room = wanted;
    else
        (void)td_fail_alloc(wanted * size);
    return grown;
}

#endif
