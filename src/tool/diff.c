/* `tensordoor diff`: two tensor files of one dtype and shape, the first the expected one. Exit codes as those of
 * compare. */
#include "tool/tool.h"

#include <stddef.h>

enum { DTYPE, POLICY, MASK, JSON, HTML, FLAGS };

static const tool_usage usage = {
    .command = "diff",
    .file = "EXPECTED",
    .file_required = true,
    .second_file = "ACTUAL",
    .about =
        "Compares two tensor files, and prints how many elements differ, which ones, and what they have in common.\n"
        "Exit code 0: they match; 1: they do not; 2: they could not be compared.",
};

int tool_diff(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of both files mean", NULL},
        [POLICY] = {"policy", 0, false, "P",
                    "what counts as equal, as \"ulp=1\" or \"atol=0.1 max=50\"; default: exact", NULL},
        [MASK] = {"mask", 0, false, "MASK.npy", "elements where this tensor is 0 are not compared", NULL},
        [JSON] = {"json", 0, false, NULL, "the report as JSON", NULL},
        [HTML] = {"html", 0, false, "FILE", "also write the report as a page", NULL},
    };
    const char *files[2] = {NULL, NULL};
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;

    td_tensor *expected = NULL;
    td_tensor *actual = NULL;
    td_tensor *mask = NULL;
    td_report *report = NULL;
    tool_progress progress;
    tool_progress_start(&progress, usage.command);
    td_status status = td_tensor_open(files[0], flags[DTYPE].value, &expected);
    if (status == TD_OK)
        status = td_tensor_open(files[1], flags[DTYPE].value, &actual);
    if (status == TD_OK && flags[MASK].value)
        status = td_tensor_open(flags[MASK].value, NULL, &mask);
    if (status == TD_OK)
        status = td_compare(&(td_comparison){.actual = actual,
                                             .golden = expected,
                                             .policy = flags[POLICY].value,
                                             .mask = mask,
                                             .progress = tool_progress_at,
                                             .context = &progress},
                            &report);
    tool_progress_end(&progress);
    const int code = status == TD_OK ? tool_report(usage.command, &report, flags[JSON].value, flags[HTML].value)
                                     : tool_fail_library(usage.command);
    td_tensor_destroy(&expected);
    td_tensor_destroy(&actual);
    td_tensor_destroy(&mask);
    return code;
}
