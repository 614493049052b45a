/* `tensordoor pack`: a tensor file through a layout into a memory image. Writes the words that the layout writes, and
 * only these; the memory is as deep as they need unless --depth says how deep it is. */
#include "tool.h"

#include <stddef.h>

enum { OUT = TOOL_LAYOUT_FLAGS, WIDTH, DEPTH, BANKS, DTYPE, AS, FLAGS };

static const tool_usage usage = {
    .command = "pack",
    .file = "IN.npy",
    .file_required = true,
    .about =
        "Puts a tensor into a memory as the layout says, and writes the words it fills. OUT.hex, .mem and .vmem are\n"
        "$readmemh text with @address where a gap is; OUT.bin is raw words, little endian. With --banks N there is "
        "one\n"
        "image per bank, and OUT holds %d for its number.",
};

static int pack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
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
        !tool_banks_open(&usage, &flags[BANKS], flags[OUT].value, &banks))
        goto done;
    if (td_tensor_open(in, flags[DTYPE].value, &tensor) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_layout(&usage, flags, &layout))
        goto done;
    if (td_layout_spans(layout, tensor, as, width_bits, NULL, &spans, &count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    for (size_t i = 0; i < count && !flags[DEPTH].value; i++)
        if (spans[i].first + spans[i].count > depth_words)
            depth_words = spans[i].first + spans[i].count;
    if (!tool_banks_create(&banks, width_bits, depth_words))
        goto done;
    if (td_backdoor_load_tensor_banks(banks.memory, banks.count, tensor, layout, as) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (tool_banks_save(&banks, spans, count))
        code = TOOL_OK;

done:
    td_free(spans);
    tool_banks_close(&banks);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_pack(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        TOOL_LAYOUT_FLAG_TABLE,
        [OUT] = {"out", 'o', true, "OUT.hex", "the image to write: .hex .mem .vmem or .bin", NULL},
        [WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: what the layout needs", NULL},
        [BANKS] = {"banks", 'n', false, "N", "how many memories there are, one image each", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the file's bytes mean, as bf16 for a V2 file", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
    };
    const char *in = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return pack(in, flags);
}
