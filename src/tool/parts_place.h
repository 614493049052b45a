/* Where the parts of a tensor lie in images, for pack, unpack and compare: see parts_place.c. */
#ifndef TENSORDOOR_TOOL_PARTS_PLACE_H
#define TENSORDOOR_TOOL_PARTS_PLACE_H

#include "tool/tool.h"

#define TOOL_MOST_PARTS 8
#define TOOL_PART_PLACEHOLDER "\"scales=s.hex; width 32; preset scale_128x4\""
#define TOOL_PART_MEANING                                                                                              \
    "a part of what --as packs: its image, and width, depth, pattern, preset, options and address; once for each"

/* The values of --part, in their order. */
typedef struct tool_part_flags {
    size_t count;
    const char *value[TOOL_MOST_PARTS];
} tool_part_flags;

/* Takes every --part out of the arguments, since tool_parse takes a flag once. */
bool tool_take_parts(const tool_usage *usage, int *argc, char **argv, tool_part_flags *out);

/* Part 0 is the first of the packing, which the command's own flags are about. */
typedef struct tool_parts_place {
    const tool_usage *usage;
    td_parts_layout *layout;
    size_t count;
    const char *name[TOOL_MOST_PARTS], *image[TOOL_MOST_PARTS];
    uint64_t width_bits[TOOL_MOST_PARTS], depth_words[TOOL_MOST_PARTS];
    bool fixed_depth[TOOL_MOST_PARTS];
    td_memory *memory[TOOL_MOST_PARTS];
    td_span *spans[TOOL_MOST_PARTS];
    size_t span_count[TOOL_MOST_PARTS];
    td_layout *made[TOOL_MOST_PARTS];
    char *text[TOOL_MOST_PARTS]; /* what name and image are parts of */
} tool_parts_place;

/* In this order, as tool_place_open and the others. `from_values`: the tensor is what the parts are of. */
bool tool_parts_open(const tool_usage *usage, const tool_flag *flags, const tool_part_flags *parts, const char *image,
                     tool_parts_place *place);
bool tool_parts_find(tool_parts_place *place, const td_tensor *tensor, bool from_values);
bool tool_parts_create(tool_parts_place *place);
bool tool_parts_load(tool_parts_place *place);
bool tool_parts_save(const tool_parts_place *place);
void tool_parts_close(tool_parts_place *place);

#endif
