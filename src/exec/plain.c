/* The plain walker (plain.h): elements one by one between any bits and the tensor, whole or in pieces. Called by
 * exec.c, verify.c and backdoor/x_elems.c. Nothing here fails. */
#include "exec/plain.h"

#include "kernels/bits.h"

void td_plain_run(const td_run *run, const td_box *boxes, size_t count, td_row *row)
{
    td_walk w;
    for (size_t b = 0; b < count; b++)
        for (td_walk_rows(&w, run->plan, &boxes[b]); w.more; td_walk_next(&w))
            row(run, &boxes[b], w.row, w.at);
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */

#define COPY_ROW(type)                                                                                                 \
    for (uint64_t i = 0; i < count; i++) {                                                                             \
        type value;                                                                                                    \
        memcpy(&value, src, sizeof value);                                                                             \
        memcpy(dst, &value, sizeof value);                                                                             \
        src += src_stride;                                                                                             \
        dst += dst_stride;                                                                                             \
    }

/* Strides in bytes. */
static void copy_row(unsigned char *dst, int64_t dst_stride, const unsigned char *src, int64_t src_stride,
                     uint64_t count, unsigned bytes)
{
    if (dst_stride == bytes && src_stride == bytes) {
        memcpy(dst, src, count * bytes);
        return;
    }
    switch (bytes) {
    case 1:
        COPY_ROW(uint8_t);
        break;
    case 2:
        COPY_ROW(uint16_t);
        break;
    case 4:
        COPY_ROW(uint32_t);
        break;
    default:
        COPY_ROW(uint64_t);
        break;
    }
}

/* The element at a place: whole, or put together from its pieces, of which the first has bit 0. */
uint64_t td_memory_value(const td_run *run, const unsigned char *ground, int64_t memory, const td_piece *piece,
                         size_t count, size_t *used)
{
    size_t k = 0;
    uint64_t value = 0;
    if (count == 0) {
        *used = 1;
        return td_get_bits(ground, memory, run->plan->memory_dtype.bits);
    }
    do {
        if (piece[k].bits)
            value |= td_get_bits(ground, memory + piece[k].memory, piece[k].bits) << piece[k].elem_bit;
        k++;
    } while (k < count && piece[k].elem_bit);
    *used = k;
    return value;
}

/* `count` elements in containers of the memory's dtype, `stride` bytes apart, to places `step` bits apart; and back. */
static void place_row(const td_run *run, unsigned char *ground, int64_t memory, int64_t step, const unsigned char *src,
                      int64_t stride, uint64_t count)
{
    const td_dtype dtype = run->plan->memory_dtype;
    if (dtype.bits == 8 * dtype.bytes && memory % 8 == 0 && step % 8 == 0) {
        copy_row(ground + memory / 8, step / 8, src, stride, count, dtype.bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, src += stride, memory += step)
        td_put_bits(ground, memory, dtype.bits, td_get_elem(src, dtype.bytes));
}

void td_fetch_row(const td_run *run, const unsigned char *ground, int64_t memory, int64_t step, unsigned char *dst,
                  int64_t stride, uint64_t count)
{
    const td_dtype dtype = run->plan->memory_dtype;
    if (dtype.bits == 8 * dtype.bytes && memory % 8 == 0 && step % 8 == 0) {
        copy_row(dst, stride, ground + memory / 8, step / 8, count, dtype.bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, dst += stride, memory += step)
        td_put_elem(dst, dtype.bytes, td_dtype_extend(dtype, td_get_bits(ground, memory, dtype.bits)));
}

static void load_converted(const td_run *run, const td_node *node, unsigned char *ground, int64_t memory,
                           int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes, stored = run->plan->memory_dtype.bytes;
    td_convert_scratch s;
    for (uint64_t done = 0; done < node->extent; done += TD_SCRATCH_ELEMS) {
        const uint64_t count = node->extent - done < TD_SCRATCH_ELEMS ? node->extent - done : TD_SCRATCH_ELEMS;
        const int64_t first = tensor + (int64_t)done * node->tensor;
        const unsigned char *src = run->tensor + first * bytes;
        if (node->tensor != 1) {
            copy_row(s.tensor, bytes, src, node->tensor * bytes, count, bytes);
            src = s.tensor;
        }
        td_convert_run(run->convert, s.memory, src, count, (uint64_t)first, node->tensor);
        place_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
    }
}

static void dump_converted(const td_run *run, const td_node *node, unsigned char *ground, int64_t memory,
                           int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes, stored = run->plan->memory_dtype.bytes;
    td_convert_scratch s;
    for (uint64_t done = 0; done < node->extent; done += TD_SCRATCH_ELEMS) {
        const uint64_t count = node->extent - done < TD_SCRATCH_ELEMS ? node->extent - done : TD_SCRATCH_ELEMS;
        const int64_t first = tensor + (int64_t)done * node->tensor;
        unsigned char *dst = run->tensor + first * bytes;
        td_fetch_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
        td_convert_run(run->convert, node->tensor == 1 ? dst : s.tensor, s.memory, count, (uint64_t)first,
                       node->tensor);
        if (node->tensor != 1)
            copy_row(dst, node->tensor * bytes, s.tensor, bytes, count, bytes);
    }
}

/* The bits of element `elem` as the memory holds them. */
static uint64_t stored_value(const td_run *run, int64_t elem)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    uint64_t value = td_get_elem(run->tensor + elem * bytes, bytes), stored = 0;
    if (!run->convert)
        return value;
    td_convert_run(run->convert, &stored, &value, 1, (uint64_t)elem, 1);
    return stored;
}

/* The other way: element `elem` from the bits that the memory holds, in its tensor bytes. */
uint64_t td_tensor_value(const td_run *run, uint64_t bits, int64_t elem)
{
    uint64_t stored = td_dtype_extend(run->plan->memory_dtype, bits), value = 0;
    if (!run->convert)
        return stored & td_low_bits(8u * run->plan->tensor_dtype.bytes);
    td_convert_run(run->convert, &value, &stored, 1, (uint64_t)elem, 1);
    return value;
}

void td_load_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    unsigned char *const ground = td_ground_at(run->plan, run->bank, at.select);
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    if (box->piece_count) {
        const td_piece *piece = run->plan->piece + box->first_piece;
        for (uint64_t i = 0; i < row->extent; i++, at.tensor += row->tensor, at.memory += row->memory)
            for (size_t k = 0; k < box->piece_count; k++)
                if (piece[k].bits)
                    td_put_bits(ground, at.memory + piece[k].memory, piece[k].bits,
                                stored_value(run, at.tensor + piece[k].tensor) >> piece[k].elem_bit);
    } else if (run->convert)
        load_converted(run, row, ground, at.memory, at.tensor);
    else
        place_row(run, ground, at.memory, row->memory, run->tensor + at.tensor * bytes, row->tensor * bytes,
                  row->extent);
}

void td_dump_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    unsigned char *const ground = td_ground_at(run->plan, run->bank, at.select);
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    if (box->piece_count) {
        const td_piece *piece = run->plan->piece + box->first_piece;
        for (uint64_t i = 0; i < row->extent; i++, at.tensor += row->tensor, at.memory += row->memory)
            for (size_t k = 0, used = 0; k < box->piece_count; k += used) {
                const int64_t elem = at.tensor + piece[k].tensor;
                const uint64_t value = td_memory_value(run, ground, at.memory, piece + k, box->piece_count - k, &used);
                td_put_elem(run->tensor + elem * bytes, bytes, td_tensor_value(run, value, elem));
            }
    } else if (run->convert)
        dump_converted(run, row, ground, at.memory, at.tensor);
    else
        td_fetch_row(run, ground, at.memory, row->memory, run->tensor + at.tensor * bytes, row->tensor * bytes,
                     row->extent);
}

void td_pad_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    unsigned char *const ground = td_ground_at(run->plan, run->bank, at.select);
    const td_piece whole = {.bits = run->plan->memory_dtype.bits};
    const td_piece *piece = box->piece_count ? run->plan->piece + box->first_piece : &whole;
    const size_t count = box->piece_count ? box->piece_count : 1;
    for (uint64_t i = 0; i < row->extent; i++, at.memory += row->memory)
        for (size_t k = 0; k < count; k++)
            if (piece[k].bits)
                td_put_bits(ground, at.memory + piece[k].memory, piece[k].bits,
                            run->plan->pad_bits >> piece[k].elem_bit);
}

void td_clear_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    unsigned char *const ground = td_ground_at(run->plan, run->bank, at.select);
    const unsigned char *mask = run->plan->lane_mask + run->plan->geometry.word_bytes * box->beat;
    const size_t bytes = run->plan->geometry.word_bytes * box->beats;
    for (uint64_t i = 0; i < row->extent; i++, at.memory += row->memory) {
        unsigned char *word = ground + at.memory / 8;
        size_t k = 0;
        for (; k + 8 <= bytes; k += 8) {
            const uint64_t kept = td_get_elem(word + k, 8) & td_get_elem(mask + k, 8);
            memcpy(word + k, &kept, 8);
        }
        for (; k < bytes; k++)
            word[k] &= mask[k];
    }
}
