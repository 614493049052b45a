/* See parts_layers.h. The other parts, a scale for every block or the places of a group's values, are tensors of their
 * own as ever: they are small. The elements of a layer lie in a scratch between the packing and their plan; threads
 * share the layers in pieces, and each takes a scratch for a piece and gives it back. */
#include "backdoor/parts_layers.h"

#include "base/pool.h"
#include "exec/paths.h"
#include "parts/blocks.h"
#include "plan/layers.h"

#include <stdlib.h>
#include <string.h>

#define LAYER_BYTES                                                                                                    \
    ((uint64_t)64 << 10)  /* of elements in their containers: they and their values fit in the second
                                          * cache */
#define MOST_SCRATCHES 16 /* as many threads as the pool has, the caller among them */

/* What threads share. */
typedef struct layers {
    const td_placed *placed;
    const td_tensor *tensor;
    bool dump;
    td_layers cut;
    uint64_t row_values;     /* elements of the tensor in a row of the first dimension */
    uint64_t row_elems;      /* those of the part: as many, or of a sparse tensor fewer */
    uint64_t row_scales;     /* of a row of blocks; of sparse tensors words of meta */
    td_block_common *common; /* block-scaled */
    unsigned pieces;
    unsigned scratches;
    unsigned taken; /* scratches, a bit each */
    unsigned char *scratch;
    size_t scratch_bytes;
    unsigned char **bank[MOST_SCRATCHES]; /* the storage of the elements' memories, moved to the layer */
} layers;

/* `rows` rows of a tensor from row `first` on; the data is not copied. */
static td_tensor rows_of(const td_tensor *t, uint64_t first, uint64_t rows, uint64_t row_elems)
{
    td_tensor part = *t;
    part.shape.dim[0] = rows;
    part.elems = rows * row_elems;
    part.data = t->data + first * row_elems * t->dtype.bytes;
    return part;
}

/* The rows of a layer into their part of the elements, which `codes` holds, and into the other parts; or back. */
static void make_layer(const layers *l, uint64_t number, uint64_t rows, td_tensor *codes)
{
    const td_parts *p = l->placed->parts;
    const uint64_t first = number * l->cut.rows, block = p->block.dim[0];
    td_tensor values = rows_of(l->tensor, first, rows, l->row_values), scales, zeros;
    td_block_parts parts = {.elems = codes};
    scales = rows_of(p->tensor[TD_PART_SCALES], first / block, (rows - 1) / block + 1, l->row_scales);
    parts.scales = &scales;
    if (p->tensor[TD_PART_ZEROS]) {
        zeros = rows_of(p->tensor[TD_PART_ZEROS], first / block, (rows - 1) / block + 1, l->row_scales);
        parts.zeros = &zeros;
    }
    if (p->tensor[TD_PART_GLOBAL] && (l->dump || number == 0))
        parts.global = p->tensor[TD_PART_GLOBAL];
    td_shape layer_block = p->block;
    layer_block.dim[0] = block < rows ? block : rows;
    if (l->dump)
        td_blocks_unpack_piece(l->common, &layer_block, &parts, &values);
    else
        td_blocks_pack_piece(l->common, &layer_block, &values, &parts);
}

/* The same of a sparse tensor, whose values td_sparse_check has seen. */
static void make_sparse_layer(const layers *l, uint64_t number, uint64_t rows, td_tensor *kept)
{
    const td_parts *p = l->placed->parts;
    const uint64_t first = number * l->cut.rows;
    const td_tensor values = rows_of(l->tensor, first, rows, l->row_values);
    td_tensor meta = rows_of(p->tensor[TD_PART_SCALES], first, rows, l->row_scales);
    td_tensor *const parts[TD_MOST_PARTS] = {kept, &meta};
    if (!td_sparse_writes_part(&p->sparse, TD_PART_ELEMS))
        memset(kept->data, 0, (size_t)kept->elems * kept->dtype.bytes);
    (void)td_sparse_pack(&p->sparse, &values, parts);
}

static void run_layer(const layers *l, uint64_t number, unsigned char *scratch, unsigned char **bank)
{
    const td_placed_part *elems = &l->placed->part[TD_PART_ELEMS];
    const bool is_last = number + 1 == l->cut.count;
    const uint64_t rows = is_last ? l->cut.last_rows : l->cut.rows;
    td_tensor codes = rows_of(&elems->like, 0, rows, l->row_elems);
    codes.data = scratch;
    for (size_t i = 0; i < elems->banks; i++)
        bank[i] = elems->bank[i]->data + (int64_t)number * l->cut.step_bytes;
    const td_run run = {.plan = is_last ? l->cut.last : l->cut.plan, .bank = bank, .tensor = scratch};
    if (l->dump)
        td_exec_dump(&run);
    if (l->placed->parts->is_sparse)
        make_sparse_layer(l, number, rows, &codes);
    else
        make_layer(l, number, rows, &codes);
    if (!l->dump)
        td_exec_load(&run);
}

/* A scratch that no other thread has: there are as many as threads. */
static unsigned take_scratch(layers *l)
{
    unsigned known = __atomic_load_n(&l->taken, __ATOMIC_RELAXED), number = 0;
    do {
        number = (unsigned)__builtin_ctz(~known);
    } while (!__atomic_compare_exchange_n(&l->taken, &known, known | 1U << number, true, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED));
    return number;
}

static void run_layers(void *context, unsigned begin, unsigned end)
{
    layers *l = context;
    const unsigned number = take_scratch(l);
    for (uint64_t i = l->cut.count * begin / l->pieces; i < l->cut.count * end / l->pieces; i++)
        run_layer(l, i, l->scratch + number * l->scratch_bytes, l->bank[number]);
    (void)__atomic_and_fetch(&l->taken, ~(1U << number), __ATOMIC_RELEASE);
}

/* False where the elements do not go by layers. */
static bool find_layers(const td_placed *p, layers *l)
{
    const td_placed_part *elems = &p->part[TD_PART_ELEMS];
    const bool is_sparse = p->parts->is_sparse;
    if (is_sparse ? l->dump || !td_sparse_goes_by_rows(&p->parts->sparse, &p->parts->shape)
                  : p->parts->packing.supers || p->parts->shape.rank == 0)
        return false;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (p->part[kind].layout && td_placed_needs_call(p, kind))
            return false;
    /* What the whole load reads and writes, as a move counts it: a layer by itself would stay in the caches. */
    const uint64_t bytes =
        (l->tensor->elems * l->tensor->dtype.bytes + elems->like.elems * elems->like.dtype.bytes) / 2;
    const td_plan_request request = {.layout = elems->layout,
                                     .shape = &elems->like.shape,
                                     .tensor_dtype = elems->like.dtype,
                                     .memory_dtype = elems->like.dtype,
                                     .geometry = {.width_bits = elems->bank[0]->width_bits,
                                                  .depth_words = elems->bank[0]->depth_words,
                                                  .banks = elems->banks,
                                                  .word_bytes = elems->bank[0]->word_bytes},
                                     .load_of_bytes = l->dump ? 0 : bytes};
    if (!td_layers_find_padded(&request, is_sparse ? 1 : p->parts->block.dim[0], LAYER_BYTES, &l->cut))
        return false;
    if (l->dump && (l->cut.plan->copies || l->cut.plan->slides || l->cut.plan->repeats)) {
        td_layers_free(&l->cut);
        return false;
    }
    l->row_values = l->tensor->elems / l->tensor->shape.dim[0];
    l->row_elems = elems->like.elems / elems->like.shape.dim[0];
    l->row_scales = p->part[TD_PART_SCALES].like.elems / p->part[TD_PART_SCALES].like.shape.dim[0];
    return true;
}

/* Tensors of all parts but the elements, and the scratch. */
static td_status make_room(td_placed *p, layers *l)
{
    td_parts *parts = p->parts;
    const char *const elems = parts->form[TD_PART_ELEMS].name;
    parts->form[TD_PART_ELEMS].name = NULL;
    td_status status = td_parts_make_tensors(parts, "");
    parts->form[TD_PART_ELEMS].name = elems;
    if (status)
        return status;
    const size_t banks = p->part[TD_PART_ELEMS].banks, bank_bytes = banks * sizeof(unsigned char *);
    l->pieces = td_pool_parts(l->tensor->elems * l->tensor->dtype.bytes, l->cut.count);
    l->scratches = l->pieces < MOST_SCRATCHES ? l->pieces : MOST_SCRATCHES;
    l->scratch_bytes = ((size_t)(l->cut.rows * l->row_elems) * p->part[TD_PART_ELEMS].like.dtype.bytes + 63) / 64 * 64;
    l->scratch = aligned_alloc(64, l->scratches * l->scratch_bytes);
    l->bank[0] = malloc(l->scratches * bank_bytes);
    if (!l->scratch || !l->bank[0])
        return td_fail_alloc(l->scratches * (l->scratch_bytes + bank_bytes));
    for (unsigned i = 1; i < l->scratches; i++)
        l->bank[i] = l->bank[0] + i * banks;
    return TD_OK;
}

/* The parts but the elements, out of their memories. */
static td_status dump_others(const td_placed *p)
{
    td_status status = TD_OK;
    for (int kind = TD_PART_ELEMS + 1; kind < TD_MOST_PARTS && !status; kind++)
        if (p->part[kind].layout) {
            td_call call = td_placed_call(p, kind, p->parts->tensor[kind]);
            call.writes_tensor = true;
            status = td_call_run(&call);
        }
    return status;
}

static void load_others(const td_placed *p)
{
    for (int kind = TD_PART_ELEMS + 1; kind < TD_MOST_PARTS; kind++)
        if (p->part[kind].layout)
            td_placed_load(p, kind, p->parts->tensor[kind]);
}

/* What layers of blocks have in common, once the parts that they need are there. */
static td_status make_common(const td_placed *p, layers *l)
{
    const td_packing *packing = &p->parts->packing;
    const td_block_parts parts = {.global = p->parts->tensor[TD_PART_GLOBAL]};
    if (p->parts->is_sparse)
        return TD_OK;
    const bool finds = !l->dump && packing->global == TD_GLOBAL_AMAX;
    const td_status status =
        l->dump ? td_blocks_make_unpack(packing, l->tensor, &parts, &l->common)
                : td_blocks_make_pack(packing, l->tensor, finds ? td_blocks_amax(l->tensor) : 0, &l->common);
    if (status)
        td_fail_prefix("%s: ", p->operation);
    return status;
}

static td_status run_all(td_placed *p, layers *l)
{
    td_status status = p->parts->is_sparse ? td_sparse_check(&p->parts->sparse, l->tensor, 0) : TD_OK;
    if (!status)
        status = make_room(p, l);
    if (status)
        td_fail_prefix("%s: ", p->operation);
    if (!status && l->dump)
        status = dump_others(p);
    if (!status)
        status = make_common(p, l);
    if (!status) {
        const td_run whole = {.plan = p->part[TD_PART_ELEMS].plan};
        td_pool_run(l->pieces, run_layers, l);
        td_paths_count(&whole, l->dump);
        if (!l->dump)
            load_others(p);
    }
    free(l->common);
    free(l->scratch);
    free(l->bank[0]);
    td_layers_free(&l->cut);
    return status;
}

td_status td_parts_load_layers(td_placed *placed, const td_tensor *tensor, bool *done)
{
    layers l = {.placed = placed, .tensor = tensor};
    *done = find_layers(placed, &l);
    return *done ? run_all(placed, &l) : TD_OK;
}

td_status td_parts_dump_layers(td_placed *placed, td_tensor *tensor, bool *done)
{
    layers l = {.placed = placed, .tensor = tensor, .dump = true};
    *done = find_layers(placed, &l);
    return *done ? run_all(placed, &l) : TD_OK;
}
