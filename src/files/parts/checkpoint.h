/* Packed weights of .safetensors (and .npz) checkpoints, which lie in several tensors of a name. open.c calls it. */
#ifndef TD_CHECKPOINT_H
#define TD_CHECKPOINT_H

#include "files/parts/names.h"

/* names->how is mxfp4 (NAME_blocks, NAME_scales), gptq or awq (NAME.qweight, .qzeros, .scales, and .g_idx where it is
 * there), with bits= and version= of gptq behind it; with names, blocks= and so on. TD_OPTION for other words, TD_SHAPE
 * where the tensors do not go together. */
td_status td_checkpoint_open(const td_part_names *names, td_parts **out);

/* One of those three. */
bool td_checkpoint_knows(const char *how);

#endif
