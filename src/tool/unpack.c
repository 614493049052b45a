/* `tensordoor unpack`: a memory image through a layout into a tensor file. The image must reach as far as the layout
 * reads: words that are missing at its end are an error, unless --depth says that the memory is that deep and they are
 * zero. */
#include "tool.h"

#include <stddef.h>

enum { OUT = TOOL_LAYOUT_FLAGS, WIDTH, DEPTH, BANKS, SHAPE, DTYPE, AS, FLAGS };

static const tool_usage usage = {
    .command = "unpack",
    .file = "IN.hex",
    .file_required = true,
    .about =
        "Takes a tensor out of a memory image as the layout says. IN.hex, .mem and .vmem are $readmemh text; "
        "IN.bin is\n"
        "raw words, little endian. Words that the image does not name are zero. With --banks N there is one image per\n"
        "bank, and IN holds %d for its number.",
};

static int unpack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_shape shape;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    tool_banks banks = {0};
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t width_bits = 0;
    uint64_t depth_words = 0;
    const char *as = flags[AS].value;

    if (!tool_number(&usage, &flags[WIDTH], &width_bits) ||
        (flags[DEPTH].value && !tool_number(&usage, &flags[DEPTH], &depth_words)) ||
        !tool_banks_open(&usage, &flags[BANKS], in, &banks))
        goto done;
    if (td_shape_parse(flags[SHAPE].value, &shape) != TD_OK ||
        td_tensor_create(flags[DTYPE].value, shape, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_layout(&usage, flags, &layout))
        goto done;
    if (td_layout_spans(layout, tensor, as, width_bits, NULL, &spans, &count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!flags[DEPTH].value && !tool_banks_depth(&banks, width_bits, spans, count, &depth_words))
        goto done;
    if (!tool_banks_create(&banks, width_bits, depth_words) || !tool_banks_load(&banks))
        goto done;
    if (td_backdoor_dump_tensor_banks(banks.memory, banks.count, tensor, layout, as) != TD_OK ||
        td_tensor_save(tensor, flags[OUT].value) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    code = TOOL_OK;

done:
    td_free(spans);
    tool_banks_close(&banks);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_unpack(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        TOOL_LAYOUT_FLAG_TABLE,
        [OUT] = {"out", 'o', true, "OUT.npy", "the tensor to write", NULL},
        [WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: those of the image", NULL},
        [BANKS] = {"banks", 'n', false, "N", "how many memories there are, one image each", NULL},
        [SHAPE] = {"shape", 's', true, "\"2 3 4\"", "the shape of the tensor", NULL},
        [DTYPE] = {"dtype", 0, true, "T", "the dtype of the tensor, as i16", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
    };
    const char *in = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return unpack(in, flags);
}
