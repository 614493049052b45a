/* `tensordoor pack`: a tensor file through a layout into a memory image. Writes the words that the layout writes, and
 * only these; the memory is as deep as they need unless --depth says how deep it is. */
#include "tool.h"

#include <stddef.h>

enum { OUT, WIDTH, DEPTH, PATTERN, OPTIONS, ADDRESS, DTYPE, AS, FLAGS };

static const tool_usage usage = {
    .command = "pack",
    .file = "IN.npy",
    .file_required = true,
    .about =
        "Puts a tensor into a memory as the layout says, and writes the words it fills. OUT.hex, .mem and .vmem are\n"
        "$readmemh text with @address where a gap is; OUT.bin is raw words, little endian.",
};

static int pack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t width_bits = 0;
    uint64_t depth_words = 0;
    const char *out = flags[OUT].value;
    const char *as = flags[AS].value;

    if (!tool_number(&usage, &flags[WIDTH], &width_bits) ||
        (flags[DEPTH].value && !tool_number(&usage, &flags[DEPTH], &depth_words)))
        return TOOL_FAILED;
    if (td_tensor_open(in, flags[DTYPE].value, &tensor) != TD_OK ||
        td_layout_create(flags[PATTERN].value, flags[OPTIONS].value, flags[ADDRESS].value, &layout) != TD_OK ||
        td_layout_spans(layout, tensor, as, width_bits, NULL, &spans, &count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (depth_words == 0)
        depth_words = spans[count - 1].first + spans[count - 1].count;
    if (td_memory_create(out, width_bits, depth_words, &memory) != TD_OK ||
        td_backdoor_load_tensor(memory, tensor, layout, as) != TD_OK ||
        td_memory_save_file(memory, out, spans, count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    code = TOOL_OK;

done:
    td_free(spans);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    return code;
}

int tool_pack(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [OUT] = {"out", 'o', true, "OUT.hex", "the image to write: .hex .mem .vmem or .bin", NULL},
        [WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: what the layout needs", NULL},
        [PATTERN] = {"pattern", 'p', true, "P", "the layout, as \"b w (ct cs) -> (b w ct) cs\"", NULL},
        [OPTIONS] = {"options", 0, false, "O", "sizes and options of the layout, as \"cs=4 pad=0\"", NULL},
        [ADDRESS] = {"address", 0, false, "A", "the address, as \"0x100 + 16*b + w\"; default: index", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the file's bytes mean, as bf16 for a V2 file", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
    };
    const char *in = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return pack(in, flags);
}
