/* `tensordoor pack`: a tensor file through a layout into a memory image. Writes the words that the layout writes, and
 * only these; the memory is as deep as they need unless --depth says how deep it is. */
#include "tool/parts_place.h"

#include <stddef.h>

enum { OUT = TOOL_PLACE_FLAGS, DTYPE, PART, FLAGS };

static const tool_usage usage = {
    .command = "pack",
    .file = "IN.npy",
    .file_required = true,
    .about =
        "Loads a tensor into a memory through a layout, and writes the words that it fills. OUT.hex, .mem and .vmem "
        "are\n"
        "$readmemh text with an @address after each gap; OUT.bin is raw words, little endian. With --banks N there is\n"
        "one image per bank, and OUT has %d in place of the bank's number. With a packing in --as (see tensordoor\n"
        "parts) the layout and OUT are those of its first part, and --part says where each of the others lies.\n"
        "With --map and --memory or --at, OUT is a folder, and gets an image of every array that the memory lies in.",
};

static int pack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_tensor *tensor = NULL;
    tool_place place;

    if (!tool_place_open(&usage, flags, flags[OUT].value, &place))
        goto done;
    if (td_tensor_open(in, flags[DTYPE].value, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_place_find(&place, tensor) || !tool_place_create(&place))
        goto done;
    if (td_backdoor_load_tensor_banks(place.banks.memory, place.banks.count, tensor, place.layout,
                                      flags[TOOL_AS].value) != TD_OK)
        tool_fail_library(usage.command);
    else if (tool_place_save(&place))
        code = TOOL_OK;

done:
    tool_place_close(&place);
    td_tensor_destroy(&tensor);
    return code;
}

static int pack_parts(const char *in, const tool_flag *flags, const tool_part_flags *parts)
{
    int code = TOOL_FAILED;
    td_tensor *tensor = NULL;
    tool_parts_place place;

    if (!tool_parts_open(&usage, flags, parts, flags[OUT].value, &place))
        goto done;
    if (td_tensor_open(in, flags[DTYPE].value, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_parts_find(&place, tensor, true) || !tool_parts_create(&place))
        goto done;
    if (td_backdoor_load_parts(place.memory, place.count, tensor, place.layout) != TD_OK)
        tool_fail_library(usage.command);
    else if (tool_parts_save(&place))
        code = TOOL_OK;

done:
    tool_parts_close(&place);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_pack(int argc, char **argv)
{
    tool_part_flags parts;
    tool_flag flags[FLAGS] = {
        TOOL_PLACE_FLAG_TABLE("what the layout needs"),
        [OUT] = {"out", 'o', true, "OUT.hex", "the image to write: .hex .mem .vmem or .bin", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the file's bytes mean, as bf16 for a V2 file", NULL},
        [PART] = {"part", 0, false, TOOL_PART_PLACEHOLDER, TOOL_PART_MEANING, NULL},
    };
    const char *in = NULL;
    if (!tool_take_parts(&usage, &argc, argv, &parts))
        return TOOL_FAILED;
    tool_place_take_map(argc, argv, flags);
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (parts.count && flags[TOOL_MAP].value)
        return tool_fail(usage.command, "--part beside --map; give every part a call of its own");
    return parts.count ? pack_parts(in, flags, &parts) : pack(in, flags);
}
