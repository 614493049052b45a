/* Packed weights of .safetensors (and .npz) checkpoints, which lie in several tensors of a name. open.c calls it. */
#ifndef TD_CHECKPOINT_H
#define TD_CHECKPOINT_H

#include "parts/object.h"

/* `path` is FILE:NAME, `how` mxfp4 (NAME_blocks, NAME_scales), gptq or awq (NAME.qweight, .qzeros, .scales, and .g_idx
 * where it is there), with bits= and version= of gptq behind it. TD_OPTION for other words, TD_SHAPE where the tensors
 * do not go together. */
td_status td_checkpoint_open(const char *path, const char *how, td_parts **out);

#endif
