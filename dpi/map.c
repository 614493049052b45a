/* Maps for SystemVerilog. The classes make the memories of a map themselves, over arrays of the design too; here is
 * what the file says of each, and what an address means. The map of the library behind it holds no words of theirs. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

TD_API int td_dpi_map_open(const char *path, td_dpi_u64 *handle, int *count, const char **message)
{
    td_map *map = NULL;
    *handle = 0;
    *count = 0;
    td_status status = td_map_open(path, NULL, 0, &map);
    td_dpi_done(status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_MAP, map, handle, message);
    if (status)
        td_map_destroy(&map);
    *count = (int)td_map_count(map);
    return (int)status;
}

TD_API int td_dpi_map_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    const td_status status = td_dpi_handle_take("map_destroy", TD_DPI_MAP, handle, &object, message);
    if (status)
        return (int)status;
    td_map *map = object;
    td_map_destroy(&map);
    return td_dpi_done(TD_OK, message);
}

/* Seven lines of text; NULL without memory. */
static char *print_recipe(const td_map_recipe *r)
{
    char *text = NULL;
    const td_layout *o = r->organisation;
    return asprintf(&text, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", r->name, r->below, td_layout_pattern(o),
                    td_layout_options(o), td_layout_address(o), r->code, r->codec) < 0
               ? NULL
               : text;
}

TD_API int td_dpi_map_recipe(td_dpi_u64 handle, int number, const char **texts, td_dpi_u64 *depth, td_dpi_u64 *width,
                             td_dpi_u64 *stored, td_dpi_u64 *array_depth, td_dpi_u64 *array_width, int *unchecked,
                             const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_map_recipe r = {0};
    *texts = "";
    *depth = *width = *stored = *array_depth = *array_width = 0;
    *unchecked = 0;
    td_status status = td_dpi_claim_one("map_open", &claim, message);
    if (status)
        return (int)status;
    status = td_map_recipe_at(claim.object, (size_t)number, &r);
    int given = td_dpi_done(status, message);
    if (!given) {
        char *text = print_recipe(&r);
        given = text ? (int)td_dpi_keep(&kept, text, texts, message)
                     : td_dpi_fail(TD_NO_MEMORY, message, "map_open: no memory for the names of %s", r.name);
        free(text);
        *depth = r.depth_words;
        *width = r.width_bits;
        *stored = r.stored_bits;
        *array_depth = r.array_depth;
        *array_width = r.array_width;
        *unchecked = r.unchecked;
    }
    td_dpi_release(&claim, 1);
    return given;
}

/* Which entry this is. */
static int number_of(const td_map *map, const td_map_entry *entry)
{
    td_map_entry other;
    for (size_t i = 0; td_map_at(map, i, &other) == TD_OK; i++)
        if (other.name == entry->name)
            return (int)i;
    return -1;
}

TD_API int td_dpi_map_place(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 layout, int *number, td_dpi_u64 *moved,
                            const char **message)
{
    td_dpi_claim claims[] = {{.handle = handle, .kind = TD_DPI_MAP}, {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_map_entry entry;
    td_layout *made = NULL;
    *number = -1;
    *moved = 0;
    td_status status = td_dpi_claim_all("map_place", claims, 2, message);
    if (status)
        return (int)status;
    status = td_map_place(claims[0].object, address, claims[1].object, &entry, &made);
    if (!status)
        *number = number_of(claims[0].object, &entry);
    td_dpi_end(claims, 2, status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_LAYOUT, made, moved, message);
    if (status)
        td_layout_destroy(&made);
    return (int)status;
}

TD_API int td_dpi_map_locate(const char *call, td_dpi_u64 handle, td_dpi_u64 address, int *number, td_dpi_u64 *word,
                             int *lane, int *lanes, int *big_endian, td_dpi_u64 *left, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_map_entry entry;
    uint64_t at = 0, lsb = 0;
    *number = -1;
    *word = *left = 0;
    *lane = *lanes = *big_endian = 0;
    td_status status = td_dpi_claim_one(call, &claim, message);
    if (status)
        return (int)status;
    status = td_map_locate(claim.object, address, &entry, &at, &lsb);
    if (!status) {
        *number = number_of(claim.object, &entry);
        *word = at;
        *lane = (int)((address - entry.base) % entry.bytes_per_word);
        *lanes = (int)entry.bytes_per_word;
        *big_endian = entry.big_endian;
        *left = entry.base + entry.bytes - address;
    }
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_map_file_part(td_dpi_u64 handle, int number, const char *path, const char **part,
                                const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    char *name = NULL;
    *part = "";
    td_status status = td_dpi_claim_one("map_load_file", &claim, message);
    if (status)
        return (int)status;
    status = td_map_file_part(claim.object, (size_t)number, path, &name);
    int given = td_dpi_done(status, message);
    if (!given)
        given = (int)td_dpi_keep(&kept, name, part, message);
    td_free(name);
    td_dpi_release(&claim, 1);
    return given;
}
