/* td_map: the facade of maps, and what is in them by name, by number and by address. It owns the memories that build.c
 * makes. Refuses names and addresses that the map does not have, with the nearest ones. */
#include "map/map.h"

#include "base/pages.h"
#include "base/profile.h"
#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void td_map_destroy(td_map **map)
{
    if (!map || !*map)
        return;
    td_map *m = *map;
    for (size_t i = m->count; i-- > 0;) {
        td_map_node *n = &m->node[i];
        while (n->layer_count > 0)
            td_memory_destroy(&n->layer[--n->layer_count]);
        free(n->array);
        free(n->name);
    }
    for (size_t i = 0; i < m->array_count; i++) {
        if (m->array[i].owned)
            td_memory_destroy(&m->array[i].memory);
        free(m->array[i].name);
    }
    free(m->array);
    free(m->order);
    free(m->node);
    free(m);
    *map = NULL;
}

static td_status check_arrays(td_memory *const *arrays, size_t count)
{
    if (count && !arrays)
        return td_fail(TD_ARGUMENT, "the arrays are NULL; pass %zu, or a count of 0", count);
    for (size_t i = 0; i < count; i++) {
        if (!arrays[i])
            return td_fail(TD_ARGUMENT, "array %zu is NULL; create it first", i);
        for (size_t k = 0; k < i; k++)
            if (strcmp(arrays[k]->name, arrays[i]->name) == 0)
                return td_fail(TD_ARGUMENT,
                               "arrays %zu and %zu are both called \"%s\"; give every array a name of its own", k, i,
                               arrays[i]->name);
    }
    return TD_OK;
}

static td_status make(const unsigned char *text, size_t size, td_memory *const *arrays, size_t count, size_t *line,
                      td_map **out)
{
    td_map_file file = {0};
    td_map *map = calloc(1, sizeof *map);
    td_status status = map ? check_arrays(arrays, count) : td_fail_alloc(sizeof *map);
    if (!status)
        status = td_map_file_read(text, size, &file);
    if (!status)
        status = td_map_build(map, &file, arrays, count);
    *line = file.clauses.line;
    td_map_file_free(&file);
    if (status)
        td_map_destroy(&map);
    else
        *out = map;
    return status;
}

td_status td_map_open(const char *path, td_memory *const *arrays, size_t count, td_map **out)
{
    TD_OPERATION(operation, "map_open");
    size_t line = 0;
    td_file_map file;
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "map_open: the %s is NULL; pass one", path ? "output" : "path");
    td_status status = td_file_copy_open(path, &file);
    if (!status) {
        status = make(file.bytes, file.size, arrays, count, &line, out);
        td_file_unmap(&file);
    }
    if (status && line)
        td_fail_prefix("map_open \"%s\", line %zu: ", path, line);
    else if (status)
        td_fail_prefix("map_open \"%s\": ", path);
    return status;
}

td_status td_map_create(const char *text, td_memory *const *arrays, size_t count, td_map **out)
{
    TD_OPERATION(operation, "map_create");
    size_t line = 0;
    if (!text || !out)
        return td_fail(TD_ARGUMENT, "map_create: the %s is NULL; pass one", text ? "output" : "text");
    const td_status status = make((const unsigned char *)text, strlen(text), arrays, count, &line, out);
    if (status && line)
        td_fail_prefix("map_create, line %zu: ", line);
    else if (status)
        td_fail_prefix("map_create: ");
    return status;
}

/* -- what is in it -- */

td_map_entry td_map_entry_of(const td_map_node *n)
{
    return (td_map_entry){.name = n->name,
                          .memory = n->memory,
                          .raw = n->raw,
                          .addressed = n->addressed,
                          .base = n->base,
                          .bytes = n->bytes,
                          .bytes_per_word = n->word_bytes,
                          .big_endian = n->big_endian,
                          .arrays = n->array,
                          .array_count = n->array_count};
}

size_t td_map_count(const td_map *map)
{
    return map ? map->count : 0;
}

td_status td_map_at(const td_map *map, size_t number, td_map_entry *out)
{
    if (!map || !out)
        return td_fail(TD_ARGUMENT, "map_at: the %s is NULL; pass one", map ? "output" : "map");
    if (number >= map->count)
        return td_fail(TD_RANGE, "map_at: memory %zu of a map of %zu; the last is %zu", number, map->count,
                       map->count - 1);
    *out = td_map_entry_of(&map->node[number]);
    return TD_OK;
}

td_status td_map_find(const td_map *map, const char *name, td_map_entry *out)
{
    if (!map || !name || !out)
        return td_fail(TD_ARGUMENT, "map_find: the %s is NULL; pass one", !map ? "map" : !name ? "name" : "output");
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->node[i].name, name) == 0) {
            *out = td_map_entry_of(&map->node[i]);
            return TD_OK;
        }
    const char **known = malloc((map->count + 1) * sizeof *known);
    if (!known)
        return td_fail_alloc(map->count * sizeof *known);
    for (size_t i = 0; i < map->count; i++)
        known[i] = map->node[i].name;
    const char *nearest = td_suggest(name, known, map->count);
    if (nearest)
        td_fail(TD_ARGUMENT, "map_find: the map has no memory \"%s\"; did you mean %s?", name, nearest);
    else
        td_fail(TD_ARGUMENT, "map_find: the map has no memory \"%s\"; the first of its %zu is %s", name, map->count,
                known[0]);
    free(known);
    return TD_ARGUMENT;
}

/* -- addresses -- */

const td_map_node *td_map_node_at(const td_map *map, uint64_t address)
{
    size_t low = 0, high = map->order_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const td_map_node *n = &map->node[map->order[middle]];
        if (address < n->base)
            high = middle;
        else if (address - n->base < n->bytes)
            return n;
        else
            low = middle + 1;
    }
    return NULL;
}

td_status td_map_fail_hole(const td_map *map, uint64_t address)
{
    const td_map_node *before = NULL, *behind = NULL;
    for (size_t i = 0; i < map->order_count && !behind; i++) {
        const td_map_node *n = &map->node[map->order[i]];
        if (n->base > address)
            behind = n;
        else
            before = n;
    }
    if (before && behind)
        return td_fail(TD_RANGE,
                       "address 0x%" PRIx64 " lies in the hole 0x%" PRIx64 " .. 0x%" PRIx64
                       " between %s and %s; use an address of a memory, or add one to the map",
                       address, before->base + before->bytes, behind->base - 1, before->name, behind->name);
    if (before)
        return td_fail(TD_RANGE,
                       "address 0x%" PRIx64 " lies past the last memory, %s, which ends at 0x%" PRIx64
                       "; use an address of a memory, or add one to the map",
                       address, before->name, before->base + before->bytes - 1);
    if (behind)
        return td_fail(TD_RANGE,
                       "address 0x%" PRIx64 " lies in front of the first memory, %s, which begins at 0x%" PRIx64
                       "; use an address of a memory, or add one to the map",
                       address, behind->name, behind->base);
    return td_fail(TD_RANGE, "address 0x%" PRIx64 " in a map without addresses; write base ADDRESS for a memory",
                   address);
}

td_status td_map_locate(const td_map *map, uint64_t address, td_map_entry *out, uint64_t *word, uint64_t *lsb)
{
    if (!map || !out || !word || !lsb)
        return td_fail(TD_ARGUMENT, "map_locate: the %s is NULL; pass one", map ? "output" : "map");
    const td_map_node *n = td_map_node_at(map, address);
    if (!n) {
        const td_status status = td_map_fail_hole(map, address);
        td_fail_prefix("map_locate: ");
        return status;
    }
    const uint64_t offset = address - n->base, lane = offset % n->word_bytes;
    *out = td_map_entry_of(n);
    *word = offset / n->word_bytes;
    *lsb = 8 * (n->big_endian ? n->word_bytes - 1 - lane : lane);
    return TD_OK;
}

/* -- as text -- */

static void add_node(const td_map_node *n, td_text *out)
{
    const td_memory *m = n->memory;
    td_text_add(out, "%-16s %" PRIu64 " x %" PRIu64 "%s", n->name, m->depth_words, m->width_bits,
                n->big_endian ? ", big endian" : "");
    if (n->array_count > 1)
        td_text_add(out, ", %zu arrays from %s on", n->array_count, n->array[0]->name);
    else if (strcmp(n->array[0]->name, n->name) != 0)
        td_text_add(out, ", array %s", n->array[0]->name);
    td_text_add(out, "\n");
}

td_status td_map_text(const td_map *map, char **text)
{
    if (!map || !text)
        return td_fail(TD_ARGUMENT, "map_text: the %s is NULL; pass one", map ? "output" : "map");
    td_text out = {0};
    uint64_t next = 0;
    for (size_t i = 0; i < map->order_count; i++) {
        const td_map_node *n = &map->node[map->order[i]];
        if (i && n->base > next)
            td_text_add(&out, "0x%010" PRIx64 " .. 0x%010" PRIx64 "  (a hole of 0x%" PRIx64 " bytes)\n", next,
                        n->base - 1, n->base - next);
        next = n->base + n->bytes;
        td_text_add(&out, "0x%010" PRIx64 " .. 0x%010" PRIx64 "  ", n->base, next - 1);
        add_node(n, &out);
    }
    for (size_t i = 0; i < map->count; i++)
        if (!map->node[i].addressed) {
            td_text_add(&out, "%-28s  ", "(no address)");
            add_node(&map->node[i], &out);
        }
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *text = out.text;
    return TD_OK;
}
