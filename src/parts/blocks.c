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

#include <string.h>

#define JOINED (16 * STRIP) /* elements of rows that are worked on as one */
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
    if (w->packing->supers && w->packing->super_block <= STRIP)
        b.unit = w->packing->super_block;
    for (size_t d = last; d-- > 0; number /= w->count.dim[d]) {
        b.start.dim[d] = number % w->count.dim[d] * w->block.dim[d];
        const uint64_t left = w->shape.dim[d] - b.start.dim[d];
        b.extent.dim[d] = left < w->block.dim[d] ? left : w->block.dim[d];
        b.rows *= b.extent.dim[d];
    }
    return b;
}

static td_columns columns_at(const td_band *b, uint64_t at)
{
    const bool large = b->block > STRIP;
    const uint64_t most = large ? b->block : STRIP / b->unit * b->unit, left = b->row_elems - at;
    td_columns c = {.at = at, .count = left < most ? left : most, .piece = STRIP};
    c.block = large ? STRIP : (size_t)b->block;
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
            const td_columns c = columns_at(&b, at);
            if (w->tensor)
                td_strip_pack(w, &s, &b, &c);
            else
                td_strip_unpack(w, &s, &b, &c);
            at += c.count;
        }
    }
    if (w->quant.stream)
        td_move_fence();
    td_mode_leave(mode);
}

/* A conversion without a scale, which cannot be refused. */
static void bind(td_dtype memory, td_dtype tensor, uint8_t round, td_direction direction, td_convert *out)
{
    const td_as as = {.dtype = memory, .round = round, .scale_f32 = 1, .scale_f64 = 1};
    (void)td_convert_bind(&as, tensor, direction, NULL, out);
}

/* Where blocks lie along the last dimension and fill it, several rows are one: a strip then is full. */
static void join_rows(td_block_work *w)
{
    const size_t rank = w->shape.rank;
    if (rank < 2 || w->shape.dim[rank - 1] % w->block.dim[rank - 1])
        return;
    uint64_t rows = 1, elems = w->shape.dim[rank - 1];
    for (size_t d = 0; d + 1 < rank; d++) {
        if (w->block.dim[d] != 1)
            return;
        rows *= w->shape.dim[d];
    }
    for (; rows % 2 == 0 && elems < JOINED; rows /= 2)
        elems *= 2;
    const uint64_t size = w->block.dim[rank - 1];
    w->shape = (td_shape){.rank = 2, .dim = {rows, elems}};
    w->block = (td_shape){.rank = 2, .dim = {1, size}};
}

static void run(td_block_work *w, const td_packing *packing, const td_shape *block, const td_tensor *whole)
{
    w->packing = packing;
    w->shape = whole->shape;
    w->block = *block;
    join_rows(w);
    w->count = td_blocks_count(&w->shape, &w->block);
    w->convert_source = !td_dtype_equal(whole->dtype, dtype_f32);
    w->bands = 1;
    for (size_t d = 0; d + 1 < w->shape.rank; d++)
        w->bands *= w->count.dim[d];
    w->pieces = td_pool_parts(whole->elems * whole->dtype.bytes, w->bands);
    td_pool_run(w->pieces, run_bands, w);
}

static void read_f32(td_block_work *w, const td_tensor *tensor)
{
    const uint64_t bytes = tensor->elems * sizeof(float);
    w->tensor = tensor;
    w->convert_source = !td_dtype_equal(tensor->dtype, dtype_f32);
    if (!w->convert_source && bytes >= LARGE)
        w->quant.end = (const float *)(const void *)(tensor->data + bytes);
    bind(dtype_f32, tensor->dtype, TD_ROUND_EVEN, TD_TO_MEMORY, &w->source);
}

uint32_t td_blocks_amax(const td_tensor *tensor)
{
    td_block_work w = {0};
    const unsigned mode = td_mode_enter();
    read_f32(&w, tensor);
    td_block_init(&w.scaler.kernels, td_cpu_flags());
    const uint32_t amax = td_strips_amax(&w);
    td_mode_leave(mode);
    return amax;
}

void td_blocks_pack(const td_packing *packing, const td_shape *block, const td_tensor *tensor,
                    const td_block_parts *out)
{
    td_block_work w = {.parts = *out};
    const unsigned mode = td_mode_enter();
    read_f32(&w, tensor);
    bind(packing->elem, dtype_f32, packing->round, TD_TO_MEMORY, &w.elems);
    w.by_kernel = td_codes_find(packing, false, &w.quant);
    if (w.by_kernel) {
        w.quant.stream = td_stream_pays(TD_STREAM_CONVERT, 0, tensor->elems); /* fewer stay in the caches */
        td_quant_init(&w.kernels, td_cpu_flags());
    }
    td_block_init(&w.scaler.kernels, td_cpu_flags());
    const bool finds = packing->global == TD_GLOBAL_AMAX && !out->amax;
    td_scaler_make(packing, out->amax ? *out->amax : finds ? td_strips_amax(&w) : 0, &w.scaler);
    if (out->global && packing->global != TD_GLOBAL_NONE)
        memcpy(out->global->data, &w.scaler.tensor_scale, sizeof w.scaler.tensor_scale);
    run(&w, packing, block, tensor);
    td_mode_leave(mode);
}

void td_blocks_unpack(const td_packing *packing, const td_shape *block, const td_block_parts *parts, td_tensor *out)
{
    td_block_work w = {.unpacked = out, .parts = *parts};
    bind(packing->elem, dtype_f32, TD_ROUND_EVEN, TD_TO_TENSOR, &w.elems);
    bind(out->dtype, dtype_f32, TD_ROUND_EVEN, TD_TO_MEMORY, &w.source);
    td_scaler_make_back(packing, &w.scaler);
    if (packing->global != TD_GLOBAL_NONE)
        memcpy(&w.scaler.tensor_scale, parts->global->data, sizeof w.scaler.tensor_scale);
    w.by_kernel = td_codes_find(packing, true, &w.quant);
    if (w.by_kernel) {
        td_quant_init(&w.kernels, td_cpu_flags());
        td_codes_values(&w.elems, &w.quant);
        w.quant.extra = packing->global != TD_GLOBAL_NONE ? w.scaler.tensor_scale : 1;
        w.quant.stream =
            !w.convert_source && td_stream_pays(TD_STREAM_CONVERT, 0, out->elems * (sizeof(float) + 1) / 2);
    }
    run(&w, packing, block, out);
}
