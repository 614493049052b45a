/* `tensordoor compare`: a memory image through a layout against a golden tensor. It writes nothing but the page
 * that --html names. Exit code 0 when they match, 1 when they do not, 2 when they could not be compared. */
#include "tool/parts_place.h"

#include <stddef.h>

enum { DTYPE = TOOL_PLACE_FLAGS, POLICY, MASK, SNAPSHOT, JSON, HTML, PART, FLAGS };

static const tool_usage usage = {
    .command = "compare",
    .file = "IMAGE",
    .file_required = true,
    .second_file = "GOLDEN",
    .about = "Compares every element of the golden tensor with the memory image, and prints how many differ, which\n"
             "ones, and what they have in common. Exit code 0: they match; 1: they do not; 2: they could not be\n"
             "compared. With --banks N there is one image per bank, and IMAGE has %d in place of the bank's number.\n"
             "With a packing in --as, IMAGE and the layout are those of its first part, and --part says where each of\n"
             "the others lies. With --map and --memory or --at, IMAGE is a folder with an image of every array.",
};

/* The image of before has the depth of the one that is compared. */
static bool load_snapshot(const tool_place *place, const char *path, tool_place *before)
{
    if (place->map)
        return tool_place_open(&usage, place->flags, path, before) && tool_place_load(before);
    return tool_banks_open(&usage, &place->flags[TOOL_BANKS], path, &before->banks) &&
           tool_banks_create(&before->banks, place->width_bits, place->depth_words) && tool_banks_load(&before->banks);
}

static int compare(const char *image, const char *golden_path, const tool_flag *flags)
{
    int code = TOOL_FAILED;
    td_tensor *golden = NULL;
    td_tensor *mask = NULL;
    td_report *report = NULL;
    tool_place place;
    tool_place before = {0};
    tool_progress progress;

    if (!tool_place_open(&usage, flags, image, &place))
        goto done;
    if (td_tensor_open(golden_path, flags[DTYPE].value, &golden) != TD_OK ||
        (flags[MASK].value && td_tensor_open(flags[MASK].value, NULL, &mask) != TD_OK)) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_place_find(&place, golden) || !tool_place_load(&place) ||
        (flags[SNAPSHOT].value && !load_snapshot(&place, flags[SNAPSHOT].value, &before)))
        goto done;
    tool_progress_start(&progress, usage.command);
    const td_comparison what = {.banks = place.banks.memory,
                                .bank_count = place.banks.count,
                                .golden = golden,
                                .layout = place.layout,
                                .policy = flags[POLICY].value,
                                .as = flags[TOOL_AS].value,
                                .mask = mask,
                                .snapshot = before.banks.memory,
                                .progress = tool_progress_at,
                                .context = &progress};
    const td_status status = td_compare(&what, &report);
    tool_progress_end(&progress);
    code = status == TD_OK ? tool_report(usage.command, &report, flags[JSON].value, flags[HTML].value)
                           : tool_fail_library(usage.command);

done:
    tool_place_close(&place);
    tool_place_close(&before);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&mask);
    return code;
}

static int compare_parts(const char *image, const char *golden_path, const tool_flag *flags,
                         const tool_part_flags *parts)
{
    int code = TOOL_FAILED;
    td_tensor *golden = NULL;
    td_report *report = NULL;
    tool_parts_place place;

    if (!tool_parts_open(&usage, flags, parts, image, &place))
        goto done;
    if (flags[MASK].value || flags[SNAPSHOT].value) {
        tool_fail(usage.command, "--%s and --part; a comparison of parts has none, so drop it",
                  flags[MASK].value ? "mask" : "snapshot");
        goto done;
    }
    if (td_tensor_open(golden_path, flags[DTYPE].value, &golden) != TD_OK) {
        tool_fail_library(usage.command);
        goto done;
    }
    if (!tool_parts_find(&place, golden, true) || !tool_parts_load(&place))
        goto done;
    code = td_backdoor_compare_parts(place.memory, place.count, golden, place.layout, flags[POLICY].value, &report) ==
                   TD_OK
               ? tool_report(usage.command, &report, flags[JSON].value, flags[HTML].value)
               : tool_fail_library(usage.command);

done:
    tool_parts_close(&place);
    td_tensor_destroy(&golden);
    return code;
}

int tool_compare(int argc, char **argv)
{
    tool_part_flags parts;
    tool_flag flags[FLAGS] = {
        TOOL_PLACE_FLAG_TABLE("those of the image"),
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of the golden tensor mean", NULL},
        [POLICY] = {"policy", 0, false, "P",
                    "what counts as equal, as \"ulp=1\" or \"atol=0.1 max=50\"; default: exact", NULL},
        [MASK] = {"mask", 0, false, "MASK.npy", "elements where this tensor is 0 are not compared", NULL},
        [SNAPSHOT] = {"snapshot", 0, false, "IMAGE", "bits outside the layout must be as in this image", NULL},
        [JSON] = {"json", 0, false, NULL, "the report as JSON", NULL},
        [HTML] = {"html", 0, false, "FILE", "also write the report as a page", NULL},
        [PART] = {"part", 0, false, TOOL_PART_PLACEHOLDER, TOOL_PART_MEANING, NULL},
    };
    const char *files[2] = {NULL, NULL};
    if (!tool_take_parts(&usage, &argc, argv, &parts))
        return TOOL_FAILED;
    tool_place_take_map(argc, argv, flags);
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (parts.count && flags[TOOL_MAP].value)
        return tool_fail(usage.command, "--part beside --map; give every part a call of its own");
    return parts.count ? compare_parts(files[0], files[1], flags, &parts) : compare(files[0], files[1], flags);
}
