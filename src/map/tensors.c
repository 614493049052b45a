/* Tensors at system addresses: the layout's address is counted from there, in the words of the memory that has it. The
 * memory's own calls do the rest. Refuses addresses inside a word, where only a flat layout can begin. */
#include "base/profile.h"
#include "layout/layout.h"
#include "map/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a call is about: the node, and the layout moved to where the address is in it. */
typedef struct place {
    const td_map_node *node;
    td_layout *layout;
} place;

static td_status fail_inside(const td_map_node *n, uint64_t address, bool flat)
{
    const uint64_t lane = (address - n->base) % n->word_bytes;
    td_fail(TD_ADDRESS, "it is byte %" PRIu64 " of a word of %s; ", lane, n->name);
    if (!flat)
        td_fail_append("begin at 0x%" PRIx64 " or 0x%" PRIx64 ", or use a flat layout, as \"... -> (...)\"",
                       address - lane, address - lane + n->word_bytes);
    else
        td_fail_append("%s, so begin at 0x%" PRIx64 " or 0x%" PRIx64,
                       n->big_endian ? "it is big endian" : "its words are no whole bytes", address - lane,
                       address - lane + n->word_bytes);
    return TD_ADDRESS;
}

/* The layout with `offset` bytes added to its address. */
static td_status move_layout(const td_map_node *n, uint64_t address, const td_layout *layout, td_layout **out)
{
    const uint64_t offset = address - n->base;
    const bool inside = offset % n->word_bytes != 0, bytes = layout->byte_addresses || inside;
    if (inside && (!layout->flat || n->big_endian || n->memory->width_bits % 8))
        return fail_inside(n, address, layout->flat);
    td_text options = {0}, text = {0};
    td_text_add(&options, "%s%s", layout->options_text, inside && !layout->byte_addresses ? " addr_unit=byte" : "");
    if (layout->bank) {
        td_text_add(&text, "bank = ");
        td_expr_print(layout->bank, &layout->pattern, &text);
        td_text_add(&text, "; addr = ");
    }
    td_text_add(&text, "%" PRIu64, bytes ? offset : offset / n->word_bytes);
    const uint64_t unit = bytes ? n->word_bytes : 1;
    if (layout->address) {
        td_text_add(&text, " + %" PRIu64 " * (", layout->byte_addresses ? 1 : unit);
        td_expr_print(layout->address, &layout->pattern, &text);
        td_text_add(&text, ")");
    } else if (!layout->flat) {
        td_text_add(&text, " + %" PRIu64 " * index", unit * layout->beats);
    }
    const td_status status = options.failed || text.failed
                                 ? td_fail_alloc(options.used + text.used)
                                 : td_layout_make(layout->pattern.text, options.text, text.text, out);
    free(options.text);
    free(text.text);
    return status;
}

static td_status find_place(const td_map *map, uint64_t address, const td_layout *layout, place *out)
{
    if (!map || !layout)
        return td_fail(TD_ARGUMENT, "the %s is NULL; pass one", map ? "layout" : "map");
    out->node = td_map_node_at(map, address);
    return out->node ? move_layout(out->node, address, layout, &out->layout) : td_map_fail_hole(map, address);
}

static td_status finish(const char *call, uint64_t address, place *p, td_status status)
{
    td_layout_destroy(&p->layout);
    if (status)
        td_fail_prefix("%s at 0x%" PRIx64 ": ", call, address);
    return status;
}

td_status td_map_load_tensor(td_map *map, uint64_t address, const td_tensor *tensor, const td_layout *layout,
                             const char *as)
{
    TD_OPERATION(operation, "map_load_tensor");
    place p = {0};
    td_status status = find_place(map, address, layout, &p);
    if (!status)
        status = td_backdoor_load_tensor(p.node->memory, tensor, p.layout, td_layout_choose_as(layout, as));
    return finish("map_load_tensor", address, &p, status);
}

td_status td_map_dump_tensor(const td_map *map, uint64_t address, td_tensor *tensor, const td_layout *layout,
                             const char *as)
{
    TD_OPERATION(operation, "map_dump_tensor");
    place p = {0};
    td_status status = find_place(map, address, layout, &p);
    if (!status)
        status = td_backdoor_dump_tensor(p.node->memory, tensor, p.layout, td_layout_choose_as(layout, as));
    return finish("map_dump_tensor", address, &p, status);
}

td_status td_map_compare_tensor(const td_map *map, uint64_t address, const td_tensor *golden, const td_layout *layout,
                                const char *policy, const char *as, td_report **out)
{
    TD_OPERATION(operation, "map_compare_tensor");
    place p = {0};
    td_status status = find_place(map, address, layout, &p);
    if (!status)
        status =
            td_backdoor_compare_tensor(p.node->memory, golden, p.layout, policy, td_layout_choose_as(layout, as), out);
    return finish("map_compare_tensor", address, &p, status);
}

td_status td_map_place(const td_map *map, uint64_t address, const td_layout *layout, td_map_entry *out,
                       td_layout **moved)
{
    place p = {0};
    td_status status =
        out && moved ? find_place(map, address, layout, &p) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
    if (!status && p.layout && layout->as_text) {
        p.layout->as_text = strdup(layout->as_text);
        if (!p.layout->as_text)
            status = td_fail_alloc(strlen(layout->as_text) + 1);
    }
    if (status)
        return finish("map_place", address, &p, status);
    *out = td_map_entry_of(p.node);
    *moved = p.layout;
    return TD_OK;
}
