/* `tensordoor fill`: a new tensor file from a distribution and a seed. It reads no file. */
#include "tool/tool.h"

#include <stddef.h>

enum { OUT, SHAPE, DTYPE, FLAGS };

static const tool_usage usage = {
    .command = "fill",
    .file = "WORDS",
    .file_required = true,
    .about = "Makes a tensor, the same on every machine. WORDS say how: \"uniform min=-1 max=1 seed=7\",\n"
             "\"normal mean=0 sigma=1 seed=7\", \"sparse zeros=0.9 seed=7\", \"corners seed=7\", \"random seed=7\",\n"
             "\"ramp start=0 step=1\" or \"coordinates\".",
};

int tool_fill(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [OUT] = {"out", 'o', true, "OUT.npy", "the tensor to write", NULL},
        [SHAPE] = {"shape", 's', true, "\"2 3 4\"", "the shape of the tensor", NULL},
        [DTYPE] = {"dtype", 0, true, "T", "the dtype of the tensor, as i16", NULL},
    };
    const char *what = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &what);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    td_shape shape;
    td_tensor *tensor = NULL;
    int code = TOOL_OK;
    if (td_shape_parse(flags[SHAPE].value, &shape) != TD_OK ||
        td_tensor_create(flags[DTYPE].value, shape, &tensor) != TD_OK || td_tensor_fill(tensor, what) != TD_OK ||
        td_tensor_save(tensor, flags[OUT].value) != TD_OK)
        code = tool_fail_library(usage.command);
    td_tensor_destroy(&tensor);
    return code;
}
