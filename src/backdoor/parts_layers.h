/* Loads and dumps of parts without a tensor of elements: they are made, or read, layer by layer (plan/layers.h), and a
 * layer stays in the caches from its values to its words. Called by parts.c once everything is checked. */
#ifndef TD_PARTS_LAYERS_H
#define TD_PARTS_LAYERS_H

#include "backdoor/parts.h"

/* *done is false, and nothing has changed, where layers do not serve: layouts whose layers do not lie alike
 * (td_layers_find), bits that are x or z, dumps of elements that have copies; and sparse packings, but for loads of N:M
 * with metadata in plain order. */
td_status td_parts_load_layers(td_placed *placed, const td_tensor *tensor, bool *done);
td_status td_parts_dump_layers(td_placed *placed, td_tensor *tensor, bool *done);

#endif
