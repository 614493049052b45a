/* `tensordoor explain`: what a layout does to a tensor, in text on stdout and, with --svg, as a picture in a file. It
 * reads no tensor and no image: a shape and a dtype are enough. */
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SHAPE = TOOL_LAYOUT_FLAGS, DTYPE, WIDTH, DEPTH, BANKS, AS, SVG, COLOUR, FLAGS };

static const tool_usage usage = {
    .command = "explain",
    .file = NULL,
    .file_required = false,
    .about = "Shows how a tensor lies in a memory: the axes with their steps on both sides, the first and the last "
             "words with the\n"
             "coordinate in every lane, the bits used and wasted, and the plan. With --svg FILE also as a picture.",
};

static int save_picture(const td_layout *layout, const td_scene *scene, const char *path)
{
    char *svg = NULL;
    if (td_layout_svg(layout, scene, &svg) != TD_OK)
        return tool_fail_library(usage.command);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(svg, 1, strlen(svg), file) == strlen(svg);
    const int error = errno;
    good = file && fclose(file) == 0 && good;
    td_free(svg);
    if (good)
        return TOOL_OK;
    if (file)
        tool_remove(path);
    return tool_fail(usage.command, "cannot write \"%s\": %s; check the folder and its permissions", path,
                     strerror(error));
}

static int explain(const tool_flag *flags)
{
    td_scene scene = {.dtype = flags[DTYPE].value, .as = flags[AS].value, .colour = flags[COLOUR].value};
    td_layout *layout = NULL;
    char *text = NULL;
    int code = TOOL_FAILED;
    if ((flags[WIDTH].value && !tool_number(&usage, &flags[WIDTH], &scene.width_bits)) ||
        (flags[DEPTH].value && !tool_number(&usage, &flags[DEPTH], &scene.depth_words)) ||
        (flags[BANKS].value && !tool_number(&usage, &flags[BANKS], &scene.banks)) ||
        !tool_layout(&usage, flags, &layout))
        return TOOL_FAILED;
    if (td_shape_parse(flags[SHAPE].value, &scene.shape) != TD_OK || td_layout_explain(layout, &scene, &text) != TD_OK)
        tool_fail_library(usage.command);
    else
        code = flags[SVG].value ? save_picture(layout, &scene, flags[SVG].value) : TOOL_OK;
    if (code == TOOL_OK)
        fputs(text, stdout);
    td_free(text);
    td_layout_destroy(&layout);
    return code;
}

int tool_explain(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        TOOL_LAYOUT_FLAG_TABLE,
        [SHAPE] = {"shape", 's', true, "\"2 3 4\"", "the shape of the tensor", NULL},
        [DTYPE] = {"dtype", 0, true, "T", "the dtype of the tensor, as i16", NULL},
        [WIDTH] = {"width", 'w', false, "W", "bits of a word; default: what the lanes need", NULL},
        [DEPTH] = {"depth", 'd', false, "D", "words of the memory; default: any", NULL},
        [BANKS] = {"banks", 'n', false, "N", "how many memories there are; default: any", NULL},
        [AS] = {"as", 0, false, "T", "what the memory holds; default: the tensor's bits", NULL},
        [SVG] = {"svg", 0, false, "FILE", "draw the layout into this file", NULL},
        [COLOUR] = {"colour", 0, false, "AXIS", "the axis that the picture's colours follow", NULL},
    };
    const char *none = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &none);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    return explain(flags);
}
