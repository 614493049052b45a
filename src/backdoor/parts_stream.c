/* See parts_stream.h. What a step makes lies in a scratch for each part, behind what is left of the step before; a
 * layer that is full goes through its plan, and the rest moves to the front. Steps follow each other, since only the
 * one before says where values begin: there is one thread. */
#include "backdoor/parts_stream.h"

#include "exec/paths.h"
#include "plan/layers.h"

#include <stdlib.h>
#include <string.h>

#define LAYER_BYTES                                                                                                    \
    ((uint64_t)32 << 10) /* of elements in their containers: those of all parts fit in the second cache */

/* A part on its way into its memory. */
typedef struct stream_part {
    const td_placed_part *placed;
    td_layers cut; /* no plan: the part is whole */
    uint64_t layer, layer_elems;
    td_tensor scratch;
    unsigned char **bank; /* the storage of its memories, moved to the layer */
} stream_part;

typedef struct stream {
    td_placed *placed;
    const td_tensor *tensor;
    td_steps steps;
    stream_part part[TD_MOST_PARTS];
} stream;

static bool find_layers(const td_placed_part *p, stream_part *out)
{
    const td_plan_request request = {.layout = p->layout,
                                     .shape = &p->like.shape,
                                     .tensor_dtype = p->like.dtype,
                                     .memory_dtype = p->like.dtype,
                                     .geometry = {.width_bits = p->bank[0]->width_bits,
                                                  .depth_words = p->bank[0]->depth_words,
                                                  .banks = p->banks,
                                                  .word_bytes = p->bank[0]->word_bytes}};
    if (!td_layers_find_padded(&request, 1, LAYER_BYTES, &out->cut))
        return false;
    out->layer_elems = out->cut.rows * (p->like.elems / p->like.shape.dim[0]);
    return true;
}

/* Which parts go by layers; false where none does. */
static bool find_parts(stream *s)
{
    const td_placed *p = s->placed;
    bool any = false;
    if (!p->parts->is_sparse || !td_sparse_steps(&p->parts->sparse, s->tensor, &s->steps))
        return false;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (p->part[kind].layout && td_placed_needs_call(p, kind))
            return false;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (p->part[kind].layout) {
            s->part[kind].placed = &p->part[kind];
            any |= find_layers(&p->part[kind], &s->part[kind]);
        }
    return any;
}

/* A scratch for a layer and a step, or for the whole part. */
static td_status make_room(stream *s)
{
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        stream_part *p = &s->part[kind];
        if (!p->placed)
            continue;
        const uint64_t all = p->placed->like.elems, wanted = p->layer_elems + s->steps.most[kind] + 1,
                       elems = p->cut.plan && wanted < all ? wanted : all;
        const size_t bytes = ((size_t)elems * p->placed->like.dtype.bytes + 63) / 64 * 64;
        p->scratch = p->placed->like;
        p->scratch.elems = elems;
        p->scratch.data = aligned_alloc(64, bytes);
        p->bank = malloc(p->placed->banks * sizeof *p->bank);
        if (!p->scratch.data || !p->bank)
            return td_fail_alloc(bytes);
    }
    return TD_OK;
}

/* The first elements of the scratch are a layer, which goes into its memory. */
static void load_layer(stream *s, int kind, bool is_last)
{
    stream_part *p = &s->part[kind];
    const unsigned bytes = p->scratch.dtype.bytes;
    const int64_t step = (int64_t)p->layer * p->cut.step_bytes;
    for (size_t i = 0; i < p->placed->banks; i++)
        p->bank[i] = p->placed->bank[i]->data + step;
    const td_run run = {.plan = is_last ? p->cut.last : p->cut.plan, .bank = p->bank, .tensor = p->scratch.data};
    td_exec_load(&run);
    if (is_last)
        return;
    const uint64_t left = s->steps.made[kind] - s->steps.first[kind] - p->layer_elems;
    memmove(p->scratch.data, p->scratch.data + p->layer_elems * bytes, (size_t)left * bytes);
    s->steps.first[kind] += p->layer_elems;
    p->layer++;
}

static void run_steps(stream *s)
{
    td_tensor *parts[TD_MOST_PARTS] = {NULL};
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        parts[kind] = s->part[kind].placed ? &s->part[kind].scratch : NULL;
    for (uint64_t i = 0; i < s->steps.count; i++) {
        td_sparse_step(&s->placed->parts->sparse, s->tensor, i, &s->steps, parts);
        for (int kind = 0; kind < TD_MOST_PARTS; kind++)
            while (s->part[kind].cut.plan && s->part[kind].layer + 1 < s->part[kind].cut.count &&
                   s->steps.made[kind] - s->steps.first[kind] >= s->part[kind].layer_elems)
                load_layer(s, kind, false);
    }
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        const stream_part *p = &s->part[kind];
        const td_run whole = {.plan = s->placed->part[kind].plan};
        if (p->cut.plan) {
            load_layer(s, kind, true);
            td_paths_count(&whole, false);
        } else if (p->placed)
            td_placed_load(s->placed, kind, &p->scratch);
    }
}

td_status td_parts_load_stream(td_placed *placed, const td_tensor *tensor, bool *done)
{
    stream s = {.placed = placed, .tensor = tensor};
    *done = find_parts(&s);
    if (!*done)
        return TD_OK;
    td_status status = td_sparse_check(&placed->parts->sparse, tensor, placed->part[TD_PART_ELEMS].like.elems);
    if (!status)
        status = make_room(&s);
    if (status)
        td_fail_prefix("%s: ", placed->operation);
    else
        run_steps(&s);
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        free(s.part[kind].scratch.data);
        free(s.part[kind].bank);
        td_layers_free(&s.part[kind].cut);
    }
    return status;
}
