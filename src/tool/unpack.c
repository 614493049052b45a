/* `tensordoor unpack`: a memory image through a layout into a tensor file. The image must reach as far as the layout
 * reads: words that are missing at its end are an error, unless --depth says that the memory is that deep and they are
 * zero. */
#include "tool/parts_place.h"

#include <stddef.h>

enum { OUT = TOOL_PLACE_FLAGS, SHAPE, DTYPE, PART, FLAGS };

static const tool_usage usage = {
    .command = "unpack",
    .file = "IN.hex",
    .file_required = true,
    .about =
        "Dumps a tensor out of a memory image through a layout. IN.hex, .mem and .vmem are $readmemh text; IN.bin is\n"
        "raw words, little endian. Words that the image does not give are zero. With --banks N there is one image per\n"
        "bank, and IN has %d in place of the bank's number. With a packing in --as, IN and the layout are those of\n"
        "its first part, --part says where each of the others lies, and the tensor gets the values of all. With --map\n"
        "and --memory or --at, IN is a folder with an image of every array.",
};

static int unpack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_shape shape;
    td_tensor *tensor = NULL;
    tool_place place;

    if (!tool_place_open(&usage, flags, in, &place))
        goto done;
    if (td_shape_parse(flags[SHAPE].value, &shape) != TD_OK ||
        td_tensor_create(flags[DTYPE].value, shape, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_place_find(&place, tensor) || !tool_place_load(&place))
        goto done;
    if (td_backdoor_dump_tensor_banks(place.banks.memory, place.banks.count, tensor, place.layout,
                                      flags[TOOL_AS].value) != TD_OK ||
        td_tensor_save(tensor, flags[OUT].value) != TD_OK)
        tool_fail_library(usage.command);
    else
        code = TOOL_OK;

done:
    tool_place_close(&place);
    td_tensor_destroy(&tensor);
    return code;
}

static int unpack_parts(const char *in, const tool_flag *flags, const tool_part_flags *parts)
{
    int code = TOOL_FAILED;
    td_shape shape;
    td_tensor *tensor = NULL;
    tool_parts_place place;

    if (!tool_parts_open(&usage, flags, parts, in, &place))
        goto done;
    if (td_shape_parse(flags[SHAPE].value, &shape) != TD_OK ||
        td_tensor_create(flags[DTYPE].value, shape, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_parts_find(&place, tensor, false) || !tool_parts_load(&place))
        goto done;
    if (td_backdoor_dump_parts(place.memory, place.count, tensor, place.layout) != TD_OK ||
        td_tensor_save(tensor, flags[OUT].value) != TD_OK)
        tool_fail_library(usage.command);
    else
        code = TOOL_OK;

done:
    tool_parts_close(&place);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_unpack(int argc, char **argv)
{
    tool_part_flags parts;
    tool_flag flags[FLAGS] = {
        TOOL_PLACE_FLAG_TABLE("those of the image"),
        [OUT] = {"out", 'o', true, "OUT.npy", "the tensor to write", NULL},
        [SHAPE] = {"shape", 's', true, "\"2 3 4\"", "the shape of the tensor", NULL},
        [DTYPE] = {"dtype", 0, true, "T", "the dtype of the tensor, as i16", NULL},
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
    return parts.count ? unpack_parts(in, flags, &parts) : unpack(in, flags);
}
