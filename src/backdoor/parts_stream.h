/* One-call loads of masks and lists (sparse.h) without whole parts: parts/sparse.c makes the next elements of every
 * part, and each part goes into its memory layer by layer. backdoor/parts.c calls it after all checks but those of
 * values. */
#ifndef TD_PARTS_STREAM_H
#define TD_PARTS_STREAM_H

#include "backdoor/parts.h"

/* `done` is false where the packing has no steps, or no part lies in layers that are alike; then nothing has happened.
 * A part whose layers are not is made whole. Refuses what td_sparse_check refuses, before a word is written. */
td_status td_parts_load_stream(td_placed *placed, const td_tensor *tensor, bool *done);

#endif
