/* `tensordoor pack`: a tensor file through a layout into a memory image. Writes the words that the layout writes, and
 * only these; the memory is as deep as they need unless --depth says how deep it is. */
#include "tool/tool.h"

#include <stddef.h>

enum { OUT = TOOL_PLACE_FLAGS, DTYPE, FLAGS };

static const tool_usage usage = {
    .command = "pack",
    .file = "IN.npy",
    .file_required = true,
    .about =
        "Loads a tensor into a memory through a layout, and writes the words that it fills. OUT.hex, .mem and .vmem "
        "are\n"
        "$readmemh text with an @address after each gap; OUT.bin is raw words, little endian. With --banks N there is\n"
        "one image per bank, and OUT has %d in place of the bank's number.",
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
    else if (tool_banks_save(&place.banks, place.spans, place.span_count))
        code = TOOL_OK;

done:
    tool_place_close(&place);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_pack(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        TOOL_PLACE_FLAG_TABLE("what the layout needs"),
        [OUT] = {"out", 'o', true, "OUT.hex", "the image to write: .hex .mem .vmem or .bin", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the file's bytes mean, as bf16 for a V2 file", NULL},
    };
    const char *in = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return pack(in, flags);
}
