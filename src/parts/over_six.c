/* See over_six.h. Not fast: every element is made twice, and taken back. */
#include "parts/over_six.h"

#include <math.h>
#include <string.h>

void td_over_six_begin(td_over_six *o, const td_scaler *scaler, const td_convert *encode, const td_block_scales *scales,
                       size_t blocks)
{
    o->scaler = scaler;
    o->encode = encode;
    o->rows = 0;
    memcpy(o->four.amax, scales->amax, blocks * sizeof scales->amax[0]);
    memcpy(o->six.amax, scales->amax, blocks * sizeof scales->amax[0]);
    td_scaler_find_four(scaler, &o->four, blocks);
    td_scaler_find(scaler, &o->six, blocks);
    for (uint64_t code = 0; code < 16; code++)
        o->value[code] = (float)td_dtype_to_real(scaler->packing->elem, code);
    memset(o->row, 0, sizeof o->row);
}

unsigned td_over_six_row(unsigned n)
{
    return (n & 1) << 3 | (n & 2) << 1 | (n & 4) >> 1 | (n & 8) >> 3;
}

/* What the code stands for, in the order of operations that TransformerEngine has. */
static float value_of(const td_over_six *o, float elem, float scale)
{
    const td_scaler *s = o->scaler;
    if (s->packing->global != TD_GLOBAL_AMAX)
        return elem * scale * s->tensor_scale;
    return elem * scale * s->amax / s->most;
}

static float error_of(const td_over_six *o, float found, float value)
{
    const float error = found - value;
    return o->scaler->packing->map == TD_MAP_MSE ? error * error : fabsf(error);
}

static void add_block(td_over_six *o, int side, size_t j, const float *values, size_t n)
{
    const td_block_scales *b = side ? &o->six : &o->four;
    for (size_t i = 0; i < n; i++) {
        const float scaled = values[i] * b->by[j];
        unsigned char code = 0;
        td_convert_run(o->encode, &code, &scaled, 1, 0, 1);
        const float error = error_of(o, value_of(o, o->value[code & 15], b->stored[j]), values[i]);
        o->row[side][j] += error;
    }
}

void td_over_six_add(td_over_six *o, const float *values, size_t n, size_t block)
{
    for (size_t at = 0, j = 0; at < n; at += block, j++)
        for (int side = 0; side < 2; side++)
            add_block(o, side, j, values + at, n - at < block ? n - at : block);
}

/* As a counter in base 2 adds: two sums of as many rows become one. */
void td_over_six_end_row(td_over_six *o, size_t blocks)
{
    unsigned level = 0;
    for (; o->rows >> level & 1; level++)
        for (int side = 0; side < 2; side++)
            for (size_t j = 0; j < blocks; j++)
                o->row[side][j] = o->sum[side][level][j] + o->row[side][j];
    memcpy(o->sum[0][level], o->row[0], blocks * sizeof(float));
    memcpy(o->sum[1][level], o->row[1], blocks * sizeof(float));
    memset(o->row, 0, sizeof o->row);
    o->rows++;
}

/* The sums of all rows: those of 16 are one, those of fewer still several. */
static float total(const td_over_six *o, int side, size_t j)
{
    float all = o->row[side][j];
    for (unsigned level = 0; level < TD_OVER_SIX_LEVELS; level++)
        if (o->rows >> level & 1)
            all = o->sum[side][level][j] + all;
    return all;
}

void td_over_six_choose(td_over_six *o, td_block_scales *scales, size_t blocks)
{
    const size_t bytes = o->scaler->packing->scale.bytes;
    for (size_t j = 0; j < blocks; j++) {
        const td_block_scales *from = total(o, 0, j) < total(o, 1, j) ? &o->four : &o->six;
        scales->exact[j] = from->exact[j];
        scales->stored[j] = from->stored[j];
        scales->by[j] = from->by[j];
        memcpy(scales->packed + j * bytes, from->packed + j * bytes, bytes);
    }
}
