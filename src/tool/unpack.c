/* `tensordoor unpack`: a memory image through a layout into a tensor file. The image must reach as far as the layout
 * reads: words that are missing at its end are an error, unless --depth says that the memory is that deep and they are
 * zero. */
#include "tool.h"

#include <inttypes.h>
#include <stddef.h>

enum { OUT, WIDTH, DEPTH, PATTERN, SHAPE, DTYPE, OPTIONS, ADDRESS, AS, FLAGS };

static const tool_usage usage = {
    .command = "unpack",
    .file = "IN.hex",
    .file_required = true,
    .about = "Takes a tensor out of a memory image as the layout says. IN.hex, .mem and .vmem are $readmemh text; "
             "IN.bin is\n"
             "raw words, little endian. Words that the image does not name are zero.",
};

static int unpack(const char *in, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_shape shape;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t width_bits = 0;
    uint64_t depth_words = 0;
    const char *as = flags[AS].value;

    if (!tool_number(&usage, &flags[WIDTH], &width_bits) ||
        (flags[DEPTH].value && !tool_number(&usage, &flags[DEPTH], &depth_words)))
        return TOOL_FAILED;
    if (td_shape_parse(flags[SHAPE].value, &shape) != TD_OK ||
        td_tensor_create(flags[DTYPE].value, shape, &tensor) != TD_OK ||
        td_layout_create(flags[PATTERN].value, flags[OPTIONS].value, flags[ADDRESS].value, &layout) != TD_OK ||
        td_layout_spans(layout, tensor, as, width_bits, NULL, &spans, &count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (depth_words == 0) {
        uint64_t needed_words = spans[count - 1].first + spans[count - 1].count;
        if (td_image_depth(in, width_bits, &depth_words) != TD_OK) {
            tool_fail_library(usage.command);
            goto done;
        }
        if (needed_words > depth_words) {
            tool_fail(usage.command,
                      "\"%s\" ends at word 0x%" PRIx64 ", the layout reads up to 0x%" PRIx64
                      "; if the words behind the end are zero, pass --depth %" PRIu64,
                      in, depth_words - 1, needed_words - 1, needed_words);
            goto done;
        }
    }
    if (td_memory_create(in, width_bits, depth_words, &memory) != TD_OK || td_memory_load_file(memory, in) != TD_OK ||
        td_backdoor_dump_tensor(memory, tensor, layout, as) != TD_OK ||
        td_tensor_save(tensor, flags[OUT].value) != TD_OK) {
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

int tool_unpack(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [OUT] = {"out", 'o', true, "OUT.npy", "the tensor to write", NULL},
        [WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: those of the image", NULL},
        [PATTERN] = {"pattern", 'p', true, "P", "the layout, as \"b w (ct cs) -> (b w ct) cs\"", NULL},
        [SHAPE] = {"shape", 's', true, "\"2 3 4\"", "the shape of the tensor", NULL},
        [DTYPE] = {"dtype", 0, true, "T", "the dtype of the tensor, as i16", NULL},
        [OPTIONS] = {"options", 0, false, "O", "sizes and options of the layout, as \"cs=4 pad=0\"", NULL},
        [ADDRESS] = {"address", 0, false, "A", "the address, as \"0x100 + 16*b + w\"; default: index", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
    };
    const char *in = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &in);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return unpack(in, flags);
}
