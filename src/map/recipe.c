/* For bridges whose memories lie elsewhere: how each memory of a map is made, so that they make it over their own
 * arrays, and which part of a file lies in it. */
#include "files/file_name.h"
#include "files/image/image.h"
#include "map/map.h"
#include "tensordoor_bridge.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

td_status td_map_recipe_at(const td_map *map, size_t number, td_map_recipe *out)
{
    if (!map || !out)
        return td_fail(TD_ARGUMENT, "map_recipe_at: the %s is NULL; pass one", map ? "output" : "map");
    if (number >= map->count)
        return td_fail(TD_RANGE, "map_recipe_at: memory %zu of a map of %zu; the last is %zu", number, map->count,
                       map->count - 1);
    const td_map_node *n = &map->node[number];
    *out = (td_map_recipe){.name = n->name,
                           .depth_words = n->memory->depth_words,
                           .width_bits = n->memory->width_bits,
                           .stored_bits = n->made.stored_bits,
                           .organisation = n->made.organisation,
                           .below = n->made.below,
                           .array_depth = n->made.array_depth,
                           .array_width = n->made.array_width,
                           .code = n->made.code ? n->made.code : "",
                           .codec = n->made.codec ? n->made.codec : "",
                           .unchecked = n->made.unchecked};
    return TD_OK;
}

/* Counts the bytes of a file that lie in a node; others must lie in some other, or the name says outside=skip. */
typedef struct counter {
    const td_map *map;
    const td_map_node *node;
    uint64_t inside;
    bool skip;
} counter;

static td_status count_bytes(void *context, uint64_t address, const unsigned char *bytes, uint64_t count)
{
    counter *c = context;
    (void)bytes;
    while (count) {
        const td_map_node *n = td_map_node_at(c->map, address);
        uint64_t step = 1;
        if (n) {
            const uint64_t left = n->base + n->bytes - address;
            step = count < left ? count : left;
            c->inside += n == c->node ? step : 0;
        } else if (!c->skip)
            return td_map_fail_hole(c->map, address);
        address += step;
        count -= step;
    }
    return TD_OK;
}

/* The file's name with the options of one memory. */
static td_status print_part(const char *path, const td_map_node *n, td_text *out)
{
    td_file_name name = {0};
    const td_status status = td_file_name_parse(path, TD_USE_IMAGE, &name);
    if (status)
        return status;
    if (name.options.byte_units) {
        td_file_name_free(&name);
        return td_fail(TD_ARGUMENT, "readmem text cannot be cut; load an ELF file, .ihex or .srec");
    }
    const char *word = td_file_format_word(name.format), *colon = strchr(path, ':');
    const size_t length = strlen(word);
    const bool named = strncmp(path, word, length) == 0 && (path[length] == ':' || path[length] == ',') && colon;
    td_text_add(out, "%.*s,base=0x%" PRIx64 ",endian=%s", named ? (int)(colon - path) : (int)length,
                named ? path : word, n->base, n->big_endian ? "big" : "little");
    if (!name.options.skip_outside)
        td_text_add(out, ",outside=skip");
    td_text_add(out, ":%s", name.path);
    td_file_name_free(&name);
    return out->failed ? td_fail_alloc(out->used) : TD_OK;
}

td_status td_map_file_part(const td_map *map, size_t number, const char *path, char **name)
{
    td_text text = {0};
    unsigned pass = 0;
    if (!map || !path || !name)
        return td_fail(TD_ARGUMENT, "map_load_file: the %s is NULL; pass one",
                       !map    ? "map"
                       : !path ? "path"
                               : "output");
    if (number >= map->count)
        return td_fail(TD_RANGE, "map_load_file: memory %zu of a map of %zu; the last is %zu", number, map->count,
                       map->count - 1);
    counter c = {.map = map, .node = &map->node[number]};
    td_status status = td_image_visit(path, 1, &pass, &c.skip, count_bytes, &c);
    td_text_add(&text, "%s", "");
    if (!status && c.inside)
        status = print_part(path, c.node, &text);
    if (status)
        free(text.text);
    else
        *name = text.text;
    return td_file_context(status, "map_load_file", path);
}
