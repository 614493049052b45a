/* The addresses of a map in order: which node comes after which, that no two overlap, and who shares an array with
 * another. Called by build.c when all nodes are made. */
#include "map/map.h"

#include <inttypes.h>
#include <stdlib.h>

static td_status check_overlap(const td_map_node *low, const td_map_node *high, size_t *line)
{
    if (low->base + low->bytes <= high->base)
        return TD_OK;
    const td_map_node *last = low->line < high->line ? high : low, *first = low->line < high->line ? low : high;
    const uint64_t low_end = low->base + low->bytes - 1, high_end = high->base + high->bytes - 1;
    *line = last->line;
    return td_fail(TD_FORMAT,
                   "%s at 0x%" PRIx64 " .. 0x%" PRIx64 " overlaps %s of line %zu at 0x%" PRIx64 " .. 0x%" PRIx64
                   ": both have 0x%" PRIx64 " .. 0x%" PRIx64 "; move one of them",
                   last->name, last->base, last->base + last->bytes - 1, first->name, first->line, first->base,
                   first->base + first->bytes - 1, high->base, low_end < high_end ? low_end : high_end);
}

static bool have_common(const td_map_node *a, const td_map_node *b)
{
    for (size_t i = 0; i < a->array_count; i++)
        for (size_t k = 0; k < b->array_count; k++)
            if (a->array[i] == b->array[k])
                return true;
    return false;
}

static void find_shared(td_map *map)
{
    for (size_t i = 0; i < map->order_count; i++)
        for (size_t k = 0; k < i; k++) {
            td_map_node *x = &map->node[map->order[i]], *y = &map->node[map->order[k]];
            if (have_common(x, y))
                x->shared = y->shared = true;
        }
}

/* The nodes in the order of their addresses, which must not overlap. */
td_status td_map_order(td_map *map, size_t *line)
{
    map->order = calloc(map->count + 1, sizeof *map->order);
    if (!map->order)
        return td_fail_alloc((map->count + 1) * sizeof *map->order);
    for (size_t i = 0; i < map->count; i++) {
        size_t at = map->order_count;
        if (!map->node[i].addressed)
            continue;
        for (; at > 0 && map->node[map->order[at - 1]].base > map->node[i].base; at--)
            map->order[at] = map->order[at - 1];
        map->order[at] = i;
        map->order_count++;
    }
    td_status status = TD_OK;
    for (size_t i = 1; i < map->order_count && !status; i++)
        status = check_overlap(&map->node[map->order[i - 1]], &map->node[map->order[i]], line);
    if (!status)
        find_shared(map);
    return status;
}
