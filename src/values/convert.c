/* See convert.h. Three paths give the same bits: the exact one of convert_exact.c, for everything; a decoder and an
 * encoder through f32, where every value of the source is an f32, only nearest even is wanted, and the work
 * precision is f32; and the lanes of convert_cast.c for the rest. */
#include "values/convert_choose.h"

#include "base/fp_mode.h"
#include "kernels/bits.h"
#include "kernels/move.h"
#include "kernels/stream.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_ELEMS 1024
#define MANY_ELEMS 65536 /* fewer are never stored past the caches */
#define LINE 64
#define FEW_ELEMS 3        /* fewer are not worth the steps through lanes */
#define LONG_ROW_BYTES 512 /* off the lines, but worth streaming between its ends */

static td_status check_axis(const td_as *as, const td_convert *c)
{
    char name[TD_DTYPE_NAME_BYTES];
    const int64_t max = as->dtype.bits == 64 ? INT64_MAX : (int64_t)td_dtype_max_bits(as->dtype);
    const int64_t min = as->dtype.kind == TD_KIND_INT ? -max - 1 : 0;
    const bool one_zero = !c->axis.zero && td_convert_zero_at(c, 0) >= min && td_convert_zero_at(c, 0) <= max;
    if (one_zero && td_convert_scales_within(c, DBL_TRUE_MIN, DBL_MAX))
        return TD_OK;
    for (uint64_t k = 0; k < c->axis.extent; k++) {
        if (!isfinite(td_convert_scale_at(c, k)) || td_convert_scale_at(c, k) == 0)
            return td_fail(TD_OPTION,
                           "scale %" PRIu64
                           " of @%s is %.9g, and a scale is finite and not 0; correct the tensor of scales",
                           k, as->scale_name, td_convert_scale_at(c, k));
        if (td_convert_zero_at(c, k) < min || td_convert_zero_at(c, k) > max) {
            td_dtype_print(as->dtype, name);
            return td_fail(TD_OPTION,
                           "zero point %" PRIu64 " of @%s is %" PRId64
                           ", which is not in %s; correct the tensor of zero points",
                           k, as->zero_name, td_convert_zero_at(c, k), name);
        }
    }
    return TD_OK;
}

static td_status check_scale(const td_as *as, const td_convert *c)
{
    if (c->axis.extent)
        return check_axis(as, c);
    if (isfinite(c->scale) && c->scale != 0)
        return TD_OK;
    return td_fail(
        TD_OPTION,
        "scale=%.17g is %s in f32, the precision of a tensor of %u-byte elements; pass a scale between 1e-38 and "
        "1e38 or an f64 tensor",
        as->scale_f64, c->scale == 0 ? "0" : "infinite", c->direction == TD_TO_MEMORY ? c->src.bytes : c->dst.bytes);
}

td_status td_convert_bind(const td_as *as, td_dtype tensor, td_direction direction, const td_scale_axis *axis,
                          td_convert *out)
{
    td_convert *c = out;
    char name[TD_DTYPE_NAME_BYTES];
    memset(c, 0, offsetof(td_convert, table)); /* the table is filled where it is used */
    c->src = direction == TD_TO_MEMORY ? tensor : as->dtype;
    c->dst = direction == TD_TO_MEMORY ? as->dtype : tensor;
    c->direction = (uint8_t)direction;
    c->work_bits = tensor.bytes == 8 ? 64 : 32;
    c->scaled = as->has_scale;
    c->scale = c->work_bits == 64 ? as->scale_f64 : (double)as->scale_f32;
    c->zero = as->zero;
    c->ftz = as->ftz;
    c->seed = as->seed;
    c->rounding.round = as->round;
    c->rounding.ftz = as->ftz;
    /* The word was chosen for the memory's type; into a tensor of another kind it means that type's own. */
    const bool meant = !(as->over == TD_OVER_WRAP && c->dst.kind == TD_KIND_FLOAT) &&
                       !(as->over == TD_OVER_INF && c->dst.kind != TD_KIND_FLOAT);
    c->rounding.over = meant ? as->over : TD_OVER_DEFAULT;
    if (axis && axis->extent)
        c->axis = *axis;
    c->copy = td_dtype_equal(c->src, c->dst) && !c->scaled && !as->has_zero && !c->ftz && !c->axis.extent;
    c->check = !c->copy && as->over == TD_OVER_ERROR;
    c->numbers = c->axis.extent || as->round == TD_ROUND_STOCHASTIC;
    if (as->over == TD_OVER_ERROR) { /* no other is ever refused */
        td_dtype_print(as->dtype, name);
        snprintf(c->as_text, sizeof c->as_text, "%s error", name);
    }
    const td_status status = check_scale(as, c);
    if (status)
        return status;
    const unsigned mode = td_mode_enter();
    td_convert_choose(c);
    td_convert_find_safe(c, as->over == TD_OVER_ERROR);
    td_mode_leave(mode);
    return TD_OK;
}

void td_convert_free(td_convert *c)
{
    if (c->copy)
        return;
    free(c->owned[0]);
    free(c->owned[1]);
    c->owned[0] = NULL;
    c->owned[1] = NULL;
}

/* -- Running */

static void run_exact(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t elem = first + (uint64_t)step * i;
        td_put_elem(
            (unsigned char *)dst + i * c->dst.bytes, c->dst.bytes,
            td_convert_one(c, td_get_elem((const unsigned char *)src + i * c->src.bytes, c->src.bytes), elem, NULL));
    }
}

/* How far ahead of the element that is read another one is prefetched; measured. Short rows are followed from row to
 * row. */
#define AHEAD_BYTES 4096
#define AHEAD_ROW_BYTES 2048

static ptrdiff_t ahead_of(const td_convert *c, const td_convert_block *b)
{
    const ptrdiff_t row_bytes = (ptrdiff_t)(b->n * c->src.bytes);
    if (b->rows == 1 || row_bytes == b->src_stride)
        return AHEAD_BYTES;
    return b->src_stride * (row_bytes < AHEAD_ROW_BYTES ? AHEAD_ROW_BYTES / row_bytes : 1);
}

/* One kernel. Whole aligned lines are streamed; a long row that begins within a line is streamed from the next line
 * on. */
static void run_one(const td_convert *c, td_convert_fn fn, const td_convert_params *params, const td_convert_block *b)
{
    if (!b->stream && !b->far) {
        fn(b->dst, b->dst_stride, b->src, b->src_stride, b->rows, b->n, params);
        return;
    }
    const size_t bytes = c->dst.bytes;
    const uintptr_t off = (uintptr_t)b->dst | (b->rows > 1 ? (uintptr_t)b->dst_stride : 0);
    td_convert_params p = *params;
    p.ahead = b->far ? ahead_of(c, b) : 0;
    p.stream = b->stream && off % LINE == 0;
    if (p.stream || !b->stream || b->n * bytes < LONG_ROW_BYTES || off % bytes) {
        fn(b->dst, b->dst_stride, b->src, b->src_stride, b->rows, b->n, &p);
        return;
    }
    char *dst = b->dst;
    const char *src = b->src;
    for (size_t r = 0; r < b->rows; r++, dst += b->dst_stride, src += b->src_stride) {
        const size_t head = ((uintptr_t)0 - (uintptr_t)dst) % LINE / bytes;
        p.stream = false;
        fn(dst, 0, src, 0, 1, head, &p);
        p.stream = true;
        fn(dst + head * bytes, 0, src + head * c->src.bytes, 0, 1, b->n - head, &p);
    }
}

static void run_fast(const td_convert *c, const td_convert_block *b, const td_convert_params *decode,
                     const td_convert_params *encode)
{
    if (!c->decode || !c->encode) {
        run_one(c, c->decode ? c->decode : c->encode, c->decode ? decode : encode, b);
        return;
    }
    _Alignas(LINE) float scratch[SCRATCH_ELEMS];
    td_convert_params from = *decode, to = *encode;
    const uintptr_t off = (uintptr_t)b->dst | (b->rows > 1 ? (uintptr_t)b->dst_stride : 0);
    from.ahead = b->far ? ahead_of(c, b) : 0;
    to.stream = b->stream && off % LINE == 0;
    /* Short rows go together, of long ones a part. */
    const size_t wide = b->n < SCRATCH_ELEMS ? b->n : SCRATCH_ELEMS, high = wide ? SCRATCH_ELEMS / wide : 1;
    const ptrdiff_t stride = (ptrdiff_t)(wide * sizeof *scratch);
    for (size_t r = 0; r < b->rows; r += high) {
        const size_t rows = b->rows - r < high ? b->rows - r : high;
        char *dst = (char *)b->dst + (ptrdiff_t)r * b->dst_stride;
        const char *src = (const char *)b->src + (ptrdiff_t)r * b->src_stride;
        for (size_t i = 0; i < b->n; i += SCRATCH_ELEMS) {
            const size_t part = b->n - i < SCRATCH_ELEMS ? b->n - i : SCRATCH_ELEMS;
            c->decode(scratch, stride, src + i * c->src.bytes, b->src_stride, rows, part, &from);
            c->encode(dst + i * c->dst.bytes, b->dst_stride, scratch, stride, rows, part, &to);
        }
    }
}

/* Elements from `first` on that share its coordinate on the axis, at most n. */
static size_t same_coordinate(const td_convert *c, uint64_t first, int64_t step, size_t n)
{
    const uint64_t within = first % c->axis.inner;
    if (step == 0)
        return n;
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    const uint64_t room = step > 0 ? c->axis.inner - 1 - within : within;
    const uint64_t count = room / stride + 1;
    return count < n ? (size_t)count : n;
}

/* Coordinates that change every few elements: every element has its scale beside it. */
static void run_each(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    const bool forward = c->direction == TD_TO_MEMORY;
    /* Between f32 and f32 there is only the scale. */
    const bool decodes = c->decode && (c->src.bytes < 4 || c->src.kind != TD_KIND_FLOAT);
    const bool encodes = c->encode && (c->dst.bytes < 4 || c->dst.kind != TD_KIND_FLOAT);
    td_convert_params decode = c->decode_params;
    td_convert_params encode = c->encode_params;
    td_convert_aim_one(c, &decode, &encode);
    /* A decoder multiplies by them itself, unless it has another factor. */
    const bool at_once = decodes && !forward && decode.divide == TD_DIVIDE_NONE;
    const bool whole = at_once && !encodes; /* the only step: rounds are its rows */
    float scratch[SCRATCH_ELEMS], scale[SCRATCH_ELEMS];
    td_cast_params by = {.scale_way = forward ? TD_CAST_DIVIDE : TD_CAST_MULTIPLY, .scales32 = scale};
    /* Scales that come round soon are the same for every part of whole rounds. */
    const uint64_t round = c->axis.inner * c->axis.extent;
    const bool again = step == 1 && round <= SCRATCH_ELEMS;
    const size_t most = again ? SCRATCH_ELEMS / round * round : SCRATCH_ELEMS;
    decode.scales = at_once ? scale : NULL;
    for (bool filled = false; n; filled = again) {
        const size_t part = n < most ? n : most, rows = whole && again ? n / part : 1, done = rows * part;
        if (!filled)
            td_convert_scales_f32(c, first, step, part, scale);
        if (decodes)
            c->decode(whole ? dst : scratch, (ptrdiff_t)(part * c->dst.bytes), src, (ptrdiff_t)(part * c->src.bytes),
                      rows, part, &decode);
        if (!at_once)
            c->scale_each(encodes ? scratch : dst, decodes ? scratch : src, part, &by);
        if (encodes)
            c->encode(dst, 0, scratch, 0, 1, part, &encode);
        dst = (char *)dst + done * c->dst.bytes;
        src = (const char *)src + done * c->src.bytes;
        first += (uint64_t)step * done;
        n -= done;
    }
}

#define SHORT_STRETCH 16

static void run_axis(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step,
                     const td_convert_block *b)
{
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    if (c->axis.scale && !c->axis.zero && c->axis.inner < stride * SHORT_STRETCH) {
        run_each(c, dst, src, n, first, step);
        return;
    }
    td_convert_params decode = c->decode_params;
    td_convert_params encode = c->encode_params;
    uint64_t k = td_convert_index(c, first);
    size_t stretch = same_coordinate(c, first, step, n);
    while (n) {
        const size_t part = stretch < n ? stretch : n;
        if (td_convert_aim(c, td_convert_scale_at(c, k), td_convert_zero_at(c, k), &decode, &encode))
            run_fast(
                c,
                &(td_convert_block){.dst = dst, .src = src, .rows = 1, .n = part, .stream = b->stream, .far = b->far},
                &decode, &encode);
        else
            run_exact(c, dst, src, part, first, step);
        dst = (char *)dst + part * c->dst.bytes;
        src = (const char *)src + part * c->src.bytes;
        first += (uint64_t)step * part;
        n -= part;
        if (step == 1) { /* whole stretches follow each other: nothing has to be divided */
            k = k + 1 == c->axis.extent ? 0 : k + 1;
            stretch = c->axis.inner;
        } else if (n) {
            k = td_convert_index(c, first);
            stretch = same_coordinate(c, first, step, n);
        }
    }
}

/* Row r of a block. */
static void run_row(const td_convert *c, const td_convert_block *b, size_t r)
{
    void *dst = (char *)b->dst + (ptrdiff_t)r * b->dst_stride;
    const void *src = (const char *)b->src + (ptrdiff_t)r * b->src_stride;
    const size_t n = b->n;
    const uint64_t first = b->first + (uint64_t)b->row_step * r;
    const int64_t step = b->step;
    if (c->decode || c->encode)
        run_axis(c, dst, src, n, first, step, b);
    else if (n >= FEW_ELEMS || !c->lane_bytes)
        td_convert_cast_run(c, dst, src, n, first, step);
    else
        run_exact(c, dst, src, n, first, step);
}

static void run_rows(const td_convert *c, const td_convert_block *b)
{
    if ((c->decode || c->encode) && !c->axis.extent)
        run_fast(c, b, &c->decode_params, &c->encode_params);
    else if (c->decode || c->encode || (b->n < FEW_ELEMS && c->lane_bytes) || !td_convert_cast_rows(c, b))
        for (size_t r = 0; r < b->rows; r++)
            run_row(c, b, r);
}

/* The block is copied only where rows become one: a copy of what was just written waits for the stores. */
void td_convert_rows(const td_convert *c, const td_convert_block *block)
{
    const unsigned mode = td_mode_enter();
    if (c->chain) {
        c->chain(c, block);
    } else if (block->rows > 1 && !c->numbers && block->src_stride == (ptrdiff_t)(block->n * c->src.bytes) &&
               block->dst_stride == (ptrdiff_t)(block->n * c->dst.bytes)) {
        td_convert_block b = *block;
        b.n *= b.rows;
        b.rows = 1;
        run_rows(c, &b);
    } else {
        run_rows(c, block);
    }
    td_mode_leave(mode);
}

void td_convert_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    if (c->copy) {
        memcpy(dst, src, n * c->dst.bytes);
        return;
    }
    const bool stream =
        n >= MANY_ELEMS && td_stream_pays(TD_STREAM_CONVERT, 0, n * (c->src.bytes + (size_t)c->dst.bytes) / 2);
    td_convert_rows(
        c,
        &(td_convert_block){
            .dst = dst, .src = src, .rows = 1, .n = n, .first = first, .step = step, .stream = stream, .far = stream});
    if (stream)
        td_move_fence();
}
