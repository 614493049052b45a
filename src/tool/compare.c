/* `tensordoor compare`: a memory image through a layout against a golden tensor. Nothing is written but the page that
 * --html asks for. Exit code 0 when they match, 1 when they do not, 2 when they could not be compared. */
#include "tool.h"

#include <stddef.h>

enum { WIDTH = TOOL_LAYOUT_FLAGS, DEPTH, BANKS, DTYPE, AS, POLICY, MASK, SNAPSHOT, JSON, HTML, FLAGS };

static const tool_usage usage = {
    .command = "compare",
    .file = "IMAGE",
    .file_required = true,
    .second_file = "GOLDEN",
    .about = "Holds every element of the golden tensor against the memory image, and says how many differ, which, and\n"
             "what they have in common. Exit code 0: they match; 1: they do not; 2: they could not be compared. With\n"
             "--banks N there is one image per bank, and IMAGE holds %d for its number.",
};

static bool open_banks(const tool_flag *flags, const char *path, uint64_t width_bits, uint64_t depth_words,
                       tool_banks *banks)
{
    return tool_banks_open(&usage, &flags[BANKS], path, banks) && tool_banks_create(banks, width_bits, depth_words) &&
           tool_banks_load(banks);
}

static int compare(const char *image, const char *golden_path, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_tensor *golden = NULL;
    td_tensor *mask = NULL;
    td_layout *layout = NULL;
    td_report *report = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    tool_banks banks = {0};
    tool_banks before = {0};
    uint64_t width_bits = 0;
    uint64_t depth_words = 0;
    tool_progress progress;

    if (!tool_number(&usage, &flags[WIDTH], &width_bits) ||
        (flags[DEPTH].value && !tool_number(&usage, &flags[DEPTH], &depth_words)) ||
        !tool_banks_open(&usage, &flags[BANKS], image, &banks))
        goto done;
    if (td_tensor_open(golden_path, flags[DTYPE].value, &golden) != TD_OK ||
        (flags[MASK].value && td_tensor_open(flags[MASK].value, NULL, &mask) != TD_OK)) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_layout(&usage, flags, &layout))
        goto done;
    if (td_layout_spans(layout, golden, flags[AS].value, width_bits, NULL, &spans, &count) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!flags[DEPTH].value && !tool_banks_depth(&banks, width_bits, spans, count, &depth_words))
        goto done;
    if (!tool_banks_create(&banks, width_bits, depth_words) || !tool_banks_load(&banks) ||
        (flags[SNAPSHOT].value && !open_banks(flags, flags[SNAPSHOT].value, width_bits, depth_words, &before)))
        goto done;
    tool_progress_start(&progress, usage.command);
    const td_comparison what = {.banks = banks.memory,
                                .bank_count = banks.count,
                                .golden = golden,
                                .layout = layout,
                                .policy = flags[POLICY].value,
                                .as = flags[AS].value,
                                .mask = mask,
                                .snapshot = before.memory,
                                .progress = tool_progress_at,
                                .context = &progress};
    const td_status status = td_compare(&what, &report);
    tool_progress_end(&progress);
    code = status == TD_OK ? tool_report(usage.command, &report, flags[JSON].value, flags[HTML].value)
                           : tool_fail_library(usage.command);

done:
    td_free(spans);
    tool_banks_close(&banks);
    tool_banks_close(&before);
    td_layout_destroy(&layout);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&mask);
    return code;
}

int tool_compare(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        TOOL_LAYOUT_FLAG_TABLE,
        [WIDTH] = {"width", 'w', true, "W", "bits of a word", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: those of the image", NULL},
        [BANKS] = {"banks", 'n', false, "N", "how many memories there are, one image each", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of the golden tensor mean", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
        [POLICY] = {"policy", 0, false, "P",
                    "what counts as equal, as \"ulp=1\" or \"atol=0.1 max=50\"; default: exact", NULL},
        [MASK] = {"mask", 0, false, "MASK.npy", "elements where this tensor is 0 are not compared", NULL},
        [SNAPSHOT] = {"snapshot", 0, false, "IMAGE", "bits outside the layout must be as in this image", NULL},
        [JSON] = {"json", 0, false, NULL, "the report as JSON", NULL},
        [HTML] = {"html", 0, false, "FILE", "also write the report as a page", NULL},
    };
    const char *files[2] = {NULL, NULL};
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return compare(files[0], files[1], flags);
}
