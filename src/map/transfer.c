/* Maps over arrays inside a design: which words of those arrays a call at system addresses is about. A bridge
 * (tensordoor_bridge.h; ours is dpi/map.c) asks before the call, then copies the words of all arrays in and out. It
 * refuses nothing: bytes that lie in no memory are left out, and the call gives the reason. */
#include "design/transfer.h"
#include "files/image/image.h"
#include "layout/layout.h"
#include "map/map.h"

#include <stdlib.h>

/* The nodes with arrays of a design, whose words are being listed. */
typedef struct listing {
    const td_map *map;
    td_memory **top; /* of the nodes that have words in the list */
    size_t count;
    bool partial; /* a word that is not written whole */
    bool skip;    /* for td_image_visit */
} listing;

/* No word of any array of the caller is listed, so that none of them crosses that the call is not about. */
static td_status begin(const td_map *map)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < map->array_count && !status; i++)
        if (!map->array[i].owned)
            status = td_transfer_begin_list(map->array[i].memory);
    return status;
}

static td_status begin_listing(const td_map *map, listing *l)
{
    *l = (listing){.map = map, .top = calloc(map->count + 1, sizeof(td_memory *))};
    td_status status = l->top ? begin(map) : td_fail_alloc((map->count + 1) * sizeof(td_memory *));
    /* all before the first word: one of them may lie over another */
    for (size_t i = 0; i < map->order_count && !status; i++) {
        const td_map_node *n = &map->node[map->order[i]];
        if (!n->given)
            continue;
        l->top[l->count++] = n->memory;
        status = td_transfer_begin_list(n->memory);
    }
    return status;
}

/* The bytes of [address, address + count) that lie in memories over arrays of the caller. */
static td_status list_bytes(void *context, uint64_t address, const unsigned char *bytes, uint64_t count)
{
    listing *l = context;
    const td_map *map = l->map;
    (void)bytes;
    for (size_t i = 0; i < map->order_count; i++) {
        const td_map_node *n = &map->node[map->order[i]];
        const uint64_t past = count > UINT64_MAX - address ? UINT64_MAX : address + count;
        const uint64_t from = address > n->base ? address : n->base;
        const uint64_t to = past < n->base + n->bytes ? past : n->base + n->bytes;
        if (!n->given || from >= to)
            continue;
        const uint64_t first = (from - n->base) / n->word_bytes, last = (to - 1 - n->base) / n->word_bytes;
        td_transfer_add_span(n->memory->transfer, first, last - first + 1);
        l->partial |= (from - n->base) % n->word_bytes || (to - n->base) % n->word_bytes;
    }
    return TD_OK;
}

static td_status end_listing(listing *l, td_status status)
{
    for (size_t i = 0; i < l->count && !status; i++)
        status = td_transfer_end_list(l->top[i]->transfer);
    if (!status && l->count)
        status = td_layers_spread(l->top, l->count);
    for (size_t i = 0; i < l->count && !status; i++) {
        l->partial |= l->top[i]->transfer->shared;
        td_transfer_merge(l->top[i]->transfer);
    }
    free(l->top);
    return status;
}

td_status td_transfer_map_bytes(td_map *map, uint64_t address, uint64_t count, int *partial)
{
    listing l;
    if (!map || !partial)
        return td_fail(TD_ARGUMENT, "transfer_map_bytes: the %s is NULL; pass one", map ? "output" : "map");
    td_status status = begin_listing(map, &l);
    if (!status)
        status = list_bytes(&l, address, NULL, count);
    status = end_listing(&l, status);
    *partial = l.partial;
    return status;
}

td_status td_transfer_map_file(td_map *map, const char *path)
{
    listing l;
    unsigned pass = 0;
    if (!map || !path)
        return td_fail(TD_ARGUMENT, "transfer_map_file: the %s is NULL; pass one", map ? "path" : "map");
    const td_status status = begin_listing(map, &l);
    if (!status)
        (void)td_image_visit(path, 1, &pass, &l.skip, list_bytes, &l); /* td_map_load_file says what is wrong with it */
    return end_listing(&l, status);
}

td_status td_transfer_map_tensor(td_map *map, uint64_t address, const td_tensor *tensor, const td_layout *layout,
                                 const char *as, int *partial)
{
    td_map_entry entry;
    td_layout *moved = NULL;
    if (!map || !partial)
        return td_fail(TD_ARGUMENT, "transfer_map_tensor: the %s is NULL; pass one", map ? "output" : "map");
    *partial = 0;
    td_status status = begin(map);
    if (status || !layout || td_map_place(map, address, layout, &entry, &moved) != TD_OK)
        return status;
    if (td_map_node_at(map, address)->given)
        status = td_transfer_layout(&entry.memory, 1, tensor, moved, td_layout_choose_as(layout, as), partial);
    td_layout_destroy(&moved);
    return status;
}
