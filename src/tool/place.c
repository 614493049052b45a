/* Where a tensor lies in images: the layout, the words of the memory and one memory per image. The flags that say it
 * are shared by pack, unpack and compare. Functions that return false have printed one line; the caller closes the
 * place either way. */
#include "tool/tool.h"

#include <string.h>

void tool_place_take_map(int argc, char **argv, tool_flag *flags)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--map") == 0 || strncmp(argv[i], "--map=", 6) == 0)
            flags[TOOL_WIDTH].required = false;
}

bool tool_place_open(const tool_usage *usage, const tool_flag *flags, const char *path, tool_place *place)
{
    *place = (tool_place){.usage = usage, .flags = flags};
    if (flags[TOOL_MAP].value)
        return tool_layout(usage, flags, &place->layout) && tool_macros_open(place, path);
    for (int f = TOOL_MEMORY; f <= TOOL_FORMAT; f++)
        if (flags[f].value) {
            tool_fail(usage->command, "--%s without --map; pass --map FILE, a map file", flags[f].name);
            return false;
        }
    return tool_number(usage, &flags[TOOL_WIDTH], &place->width_bits) &&
           (!flags[TOOL_DEPTH].value || tool_number(usage, &flags[TOOL_DEPTH], &place->depth_words)) &&
           tool_banks_open(usage, &flags[TOOL_BANKS], path, &place->banks) && tool_layout(usage, flags, &place->layout);
}

bool tool_place_find(tool_place *place, const td_tensor *tensor)
{
    if (place->map) /* the load itself checks it */
        return true;
    if (td_layout_spans(place->layout, tensor, place->flags[TOOL_AS].value, place->width_bits, NULL, &place->spans,
                        &place->span_count) == TD_OK)
        return true;
    tool_fail_library(place->usage->command);
    return false;
}

bool tool_place_create(tool_place *place)
{
    if (place->map)
        return true;
    for (size_t i = 0; i < place->span_count && !place->flags[TOOL_DEPTH].value; i++)
        if (place->spans[i].first + place->spans[i].count > place->depth_words)
            place->depth_words = place->spans[i].first + place->spans[i].count;
    return tool_banks_create(&place->banks, place->width_bits, place->depth_words);
}

bool tool_place_load(tool_place *place)
{
    if (place->map)
        return tool_macros_load(place);
    if (!place->flags[TOOL_DEPTH].value &&
        !tool_banks_depth(&place->banks, place->width_bits, place->spans, place->span_count, &place->depth_words))
        return false;
    return tool_banks_create(&place->banks, place->width_bits, place->depth_words) && tool_banks_load(&place->banks);
}

bool tool_place_save(const tool_place *place)
{
    return place->map ? tool_macros_save(place) : tool_banks_save(&place->banks, place->spans, place->span_count);
}

void tool_place_close(tool_place *place)
{
    if (place->map && place->banks.memory)
        place->banks.memory[0] = NULL; /* the map's */
    td_map_destroy(&place->map);
    td_free(place->spans);
    tool_banks_close(&place->banks);
    td_layout_destroy(&place->layout);
    *place = (tool_place){0};
}
