/* See blocks.h. The tensor is cut into bands, and those into strips (block_strip.h), which block_pack.c and
 * block_unpack.c work on. Bands are independent, so threads share them. */
#include "parts/blocks.h"

#include "base/cpu.h"
#include "base/fp_mode.h"
#include "base/pool.h"
#include "kernels/move.h"
#include "kernels/prefetch.h"
#include "kernels/stream.h"
#include "parts/block_strip.h"
#include "parts/elem_codes.h"

#include <stdlib.h>
#include <string.h>

#define JOINED (16 * STRIP) /* elements of a band of rows that are worked on as one */
#define NEAR (STRIP / 2)    /* of a tensor in memory: more is prefetched, which the first cache holds beside it */
#define LARGE                                                                                                          \
    (4 * TD_PREFETCH_BYTES) /* bytes of a tensor whose next ones are prefetched: it is not in the first cache */

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

/* -- geometry -- */

static td_band band_at(const td_block_work *w, uint64_t number)
{
    const size_t last = w->shape.rank - 1;
    td_band b = {.first_scale = number * w->count.dim[last],
                 .rows = 1,
                 .row_elems = w->shape.dim[last],
                 .block = w->block.dim[last],
                 .unit = w->block.dim[last]};
    if (w->packing->supers && w->packing->super_block <= w->common->strip)
        b.unit = w->packing->super_block;
    if (w->joined) {
        b.before = number * w->joined;
        b.first_scale = b.before / b.block;
        b.row_elems = b.row_elems - b.before < w->joined ? b.row_elems - b.before : w->joined;
        return b;
    }
    for (size_t d = last; d-- > 0; number /= w->count.dim[d]) {
        b.start.dim[d] = number % w->count.dim[d] * w->block.dim[d];
        const uint64_t left = w->shape.dim[d] - b.start.dim[d];
        b.extent.dim[d] = left < w->block.dim[d] ? left : w->block.dim[d];
        b.rows *= b.extent.dim[d];
    }
    return b;
}

static td_columns columns_at(const td_band *b, uint64_t at, size_t strip)
{
    const bool large = b->block > strip;
    const uint64_t most = large ? b->block : strip / b->unit * b->unit, left = b->row_elems - at;
    td_columns c = {.at = at, .count = left < most ? left : most, .piece = strip};
    c.block = large ? strip : (size_t)b->block;
    return c;
}

/* -- the whole tensor -- */

static void run_bands(void *context, unsigned begin, unsigned end)
{
    const td_block_work *w = context;
    td_strip s;
    const unsigned mode = td_mode_enter();
    for (uint64_t i = w->bands * begin / w->pieces; i < w->bands * end / w->pieces; i++) {
        const td_band b = band_at(w, i);
        for (uint64_t at = 0; at < b.row_elems;) {
            if (w->common->in_one_step && w->tensor && b.rows == 1)
                at += td_strip_pack_both(w, &s, &b, at);
            if (at == b.row_elems)
                break;
            const td_columns c = columns_at(&b, at, w->common->strip);
            if (w->tensor)
                td_strip_pack(w, &s, &b, &c);
            else
                td_strip_unpack(w, &s, &b, &c);
            at += c.count;
        }
    }
    if (w->common->quant.stream)
        td_move_fence();
    td_mode_leave(mode);
}

/* A conversion without a scale, which cannot be refused. */
static void bind(td_dtype memory, td_dtype tensor, uint8_t round, td_direction direction, td_convert *out)
{
    const td_as as = {.dtype = memory, .round = round, .scale_f32 = 1, .scale_f64 = 1};
    (void)td_convert_bind(&as, tensor, direction, NULL, out);
}

/* Where blocks lie along the last dimension and fill it, all rows are one, which is cut into bands. */
static void join_rows(td_block_work *w)
{
    const size_t rank = w->shape.rank;
    if (rank < 2 || w->shape.dim[rank - 1] % w->block.dim[rank - 1])
        return;
    uint64_t elems = w->shape.dim[rank - 1];
    for (size_t d = 0; d + 1 < rank; d++) {
        if (w->block.dim[d] != 1)
            return;
        elems *= w->shape.dim[d];
    }
    const uint64_t block = w->block.dim[rank - 1], unit = w->packing->supers ? w->packing->super_block : block;
    w->shape = (td_shape){.rank = 1, .dim = {elems}};
    w->block = (td_shape){.rank = 1, .dim = {block}};
    w->joined = unit < JOINED ? JOINED / unit * unit : unit;
}

static void run(td_block_work *w, const td_shape *block, const td_tensor *whole)
{
    w->packing = w->common->packing;
    w->shape = whole->shape;
    w->block = *block;
    join_rows(w);
    w->count = td_blocks_count(&w->shape, &w->block);
    w->bands = 1;
    for (size_t d = 0; d + 1 < w->shape.rank; d++)
        w->bands *= w->count.dim[d];
    if (w->joined)
        w->bands = (w->shape.dim[0] - 1) / w->joined + 1;
    w->pieces = td_pool_parts(whole->elems * whole->dtype.bytes, w->bands);
    td_pool_run(w->pieces, run_bands, w);
}

static void read_f32(td_block_common *c, const td_tensor *tensor)
{
    c->convert_source = !td_dtype_equal(tensor->dtype, dtype_f32);
    bind(dtype_f32, tensor->dtype, TD_ROUND_EVEN, TD_TO_MEMORY, &c->source);
}

uint32_t td_blocks_amax(const td_tensor *tensor)
{
    td_block_common c = {0};
    const unsigned mode = td_mode_enter();
    read_f32(&c, tensor);
    td_block_init(&c.scaler.kernels, td_cpu_flags());
    const uint32_t amax = td_strips_amax(&c, tensor);
    td_mode_leave(mode);
    return amax;
}

/* -- what pieces have in common -- */

/* To pack `whole`, into codes that are stored past the caches with `stream`. */
static void make_pack(td_block_common *c, const td_packing *packing, const td_tensor *whole, uint32_t amax, bool stream)
{
    const uint64_t bytes = whole->elems * sizeof(float);
    c->packing = packing;
    const bool far = td_stream_pays(TD_STREAM_CONVERT, 0, whole->elems);
    c->strip = far && !packing->supers ? NEAR : STRIP;
    read_f32(c, whole);
    bind(packing->elem, dtype_f32, packing->round, TD_TO_MEMORY, &c->elems);
    c->by_kernel = td_codes_find(packing, false, &c->quant);
    if (c->by_kernel)
        td_quant_init(&c->kernels, td_cpu_flags());
    c->quant.stream = c->by_kernel && stream;
    if (!c->convert_source && bytes >= LARGE) {
        c->quant.end = (const float *)(const void *)(whole->data + bytes);
        c->quant.ahead = far ? 2 * TD_PREFETCH_BYTES : TD_PREFETCH_BYTES;
    }
    td_scaler_make(packing, amax, &c->scaler);
    c->last = c->quant;
    c->last.stream = false;
    c->last.end = NULL;
    c->in_one_step = c->by_kernel && td_scaler_rule(&c->scaler, &c->ratio, &c->rule);
}

/* Back into `whole`, of which no more than the dtype and the size count. */
static void make_unpack(td_block_common *c, const td_packing *packing, const td_tensor *whole,
                        const td_block_parts *parts)
{
    c->packing = packing;
    c->strip = STRIP;
    c->convert_source = !td_dtype_equal(whole->dtype, dtype_f32);
    bind(packing->elem, dtype_f32, TD_ROUND_EVEN, TD_TO_TENSOR, &c->elems);
    bind(whole->dtype, dtype_f32, TD_ROUND_EVEN, TD_TO_MEMORY, &c->source);
    td_scaler_make_back(packing, &c->scaler);
    if (packing->global != TD_GLOBAL_NONE)
        memcpy(&c->scaler.tensor_scale, parts->global->data, sizeof c->scaler.tensor_scale);
    td_quant_init(&c->kernels, td_cpu_flags());
    c->scales_by_kernel =
        packing->rule != TD_RULE_SHARED && td_codes_scales(packing->scale, &c->scaler.decode, &c->scales);
    c->by_kernel = td_codes_find(packing, true, &c->quant);
    if (c->by_kernel) {
        td_codes_values(&c->elems, &c->quant);
        c->quant.extra = packing->global != TD_GLOBAL_NONE ? c->scaler.tensor_scale : 1;
        c->quant.stream =
            !c->convert_source && td_stream_pays(TD_STREAM_CONVERT, 0, whole->elems * (sizeof(float) + 1) / 2);
    }
}

td_status td_blocks_make_pack(const td_packing *packing, const td_tensor *whole, uint32_t amax, td_block_common **out)
{
    td_block_common *c = calloc(1, sizeof *c);
    if (!c)
        return td_fail_alloc(sizeof *c);
    const unsigned mode = td_mode_enter();
    make_pack(c, packing, whole, amax, false); /* who packs piece by piece has something to do with the codes */
    td_mode_leave(mode);
    *out = c;
    return TD_OK;
}

td_status td_blocks_make_unpack(const td_packing *packing, const td_tensor *whole, const td_block_parts *parts,
                                td_block_common **out)
{
    td_block_common *c = calloc(1, sizeof *c);
    if (!c)
        return td_fail_alloc(sizeof *c);
    make_unpack(c, packing, whole, parts);
    *out = c;
    return TD_OK;
}

/* -- packing and back -- */

void td_blocks_pack_piece(const td_block_common *common, const td_shape *block, const td_tensor *piece,
                          const td_block_parts *out)
{
    td_block_work w = {.common = common, .tensor = piece, .parts = *out};
    if (out->global && common->packing->global != TD_GLOBAL_NONE)
        memcpy(out->global->data, &common->scaler.tensor_scale, sizeof common->scaler.tensor_scale);
    run(&w, block, piece);
}

void td_blocks_unpack_piece(const td_block_common *common, const td_shape *block, const td_block_parts *parts,
                            td_tensor *out)
{
    td_block_work w = {.common = common, .unpacked = out, .parts = *parts};
    run(&w, block, out);
}

void td_blocks_pack(const td_packing *packing, const td_shape *block, const td_tensor *tensor,
                    const td_block_parts *out)
{
    td_block_common c = {0};
    const unsigned mode = td_mode_enter();
    const bool finds = packing->global == TD_GLOBAL_AMAX && !out->amax;
    const uint32_t amax = out->amax ? *out->amax : finds ? td_blocks_amax(tensor) : 0;
    /* Codes that are not more than a cache holds stay there. */
    make_pack(&c, packing, tensor, amax, td_stream_pays(TD_STREAM_CONVERT, 0, tensor->elems));
    td_blocks_pack_piece(&c, block, tensor, out);
    td_mode_leave(mode);
}

void td_blocks_unpack(const td_packing *packing, const td_shape *block, const td_block_parts *parts, td_tensor *out)
{
    td_block_common c = {0};
    make_unpack(&c, packing, out, parts);
    td_blocks_unpack_piece(&c, block, parts, out);
}
