/* Layers: so many steps of a tensor's first dimension at a time. Where a layout puts every layer as it puts the first,
 * only so many words further on, the plan of one layer serves them all, and a tensor can be made and placed layer by
 * layer without ever being whole. backdoor/parts_layers.c and parts_stream.c do that. */
#ifndef TD_LAYERS_H
#define TD_LAYERS_H

#include "plan/plan.h"

typedef struct td_layers {
    uint64_t rows;      /* of the first dimension, in a layer; the last one may have fewer */
    uint64_t count;     /* of layers, the last one included */
    uint64_t last_rows; /* of the last layer */
    int64_t step_bytes; /* from layer to layer in memory */
    td_plan *plan;      /* of a layer */
    td_plan *last;      /* of the last one */
} td_layers;

/* Layers of a multiple of `multiple` rows, and about `wanted_bytes` of the tensor. False where the layout does not put
 * layers alike, or one layer would be all of the tensor; the request itself is one that td_cache_plan accepts. */
bool td_layers_find(const td_plan_request *request, uint64_t multiple, uint64_t wanted_bytes, td_layers *out);

/* The same also where the last layer ends with padding, or is clipped, since the first dimension does not fill its
 * last step. */
bool td_layers_find_padded(const td_plan_request *request, uint64_t multiple, uint64_t wanted_bytes, td_layers *out);
void td_layers_free(td_layers *layers);

#endif
