/* The layouts of test_preset.c as arithmetic: what hardware manuals and libraries publish, written out in plain C.
 * Tensor coordinate in, element offset out; nothing here knows the layout language. */
#ifndef TD_TEST_PRESET_FORMULAS_H
#define TD_TEST_PRESET_FORMULAS_H

#include <stdint.h>

typedef uint64_t u64;

static inline u64 up(u64 a, u64 b)
{
    return (a + b - 1) / b;
}

/* Offsets count elements from the start of a bank; x is the coordinate, d the shape. */
typedef u64 formula(const u64 *x, const u64 *d, u64 *bank);

static inline u64 row_major(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return (x[0] * d[1] + x[1]) * (up(d[2], 4) * 4) + x[2];
}

/* NVDLA hardware manual, "feature data": address = n*batch + s*surface + h*line + w*atom + c. */
static inline u64 nvdla_feature(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 atom = 32, line = d[3] * atom, surface = line * d[2], batch = surface * up(d[1], atom);
    return x[0] * batch + x[1] / atom * surface + x[2] * line + x[3] * atom + x[1] % atom;
}

static inline u64 nvdla_small_strided(const u64 *x, const u64 *d, u64 *bank)
{
    (void)d;
    (void)bank;
    const u64 atom = 8, line = 16 * atom, surface = 100 * atom, batch = 400 * atom;
    return 0x20 * atom + x[0] * batch + x[1] / atom * surface + x[2] * line + x[3] * atom + x[1] % atom;
}

/* Counted by walking the weights in the order that the manual gives, short groups and chunks included. */
static inline u64 nvdla_weight_walk(const u64 *x, const u64 *d, u64 group, u64 chunk)
{
    u64 offset = 0;
    for (u64 g = 0; g < d[0]; g += group)
        for (u64 c1 = 0; c1 < d[1]; c1 += chunk)
            for (u64 h = 0; h < d[2]; h++)
                for (u64 w = 0; w < d[3]; w++)
                    for (u64 k = g; k < d[0] && k < g + group; k++)
                        for (u64 c = c1; c < d[1] && c < c1 + chunk; c++, offset++)
                            if (k == x[0] && c == x[1] && h == x[2] && w == x[3])
                                return offset;
    return UINT64_MAX;
}

static inline u64 nvdla_weight(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return nvdla_weight_walk(x, d, 32, 64);
}

static inline u64 nvdla_weight_16(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return nvdla_weight_walk(x, d, 16, 64) + 7;
}

static inline u64 nvdla_weight_tiny(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return nvdla_weight_walk(x, d, 4, 3);
}

static inline u64 vta_activation(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 n0 = 2, c0 = 16, tile = (x[0] / n0 * up(d[1], c0) + x[1] / c0) * d[2] * d[3] + x[2] * d[3] + x[3];
    return tile * n0 * c0 + x[0] % n0 * c0 + x[1] % c0;
}

static inline u64 vta_weight(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = (x[0] / 16 * up(d[1], 16) + x[1] / 16) * d[2] * d[3] + x[2] * d[3] + x[3];
    return tile * 256 + x[0] % 16 * 16 + x[1] % 16;
}

/* Ethos-U: ((y * depth_blocks + z / 16) * width + x) * 16 + z % 16. */
static inline u64 nhcwb16(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return (((x[0] * d[1] + x[1]) * up(d[3], 16) + x[3] / 16) * d[2] + x[2]) * 16 + x[3] % 16;
}

static inline u64 blocked_channels(const u64 *x, const u64 *d, u64 c0)
{
    return (((x[0] * up(d[1], c0) + x[1] / c0) * d[2] + x[2]) * d[3] + x[3]) * c0 + x[1] % c0;
}

static inline u64 nc1hwc0(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return blocked_channels(x, d, 16);
}

static inline u64 nc1hwc0_i8(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return blocked_channels(x, d, 32);
}

static inline u64 nchw8c(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return blocked_channels(x, d, 8);
}

static inline u64 fractal_nz(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 m1 = up(d[1], 16), n1 = up(d[2], 16);
    return (((x[0] * n1 + x[2] / 16) * m1 + x[1] / 16) * 16 + x[1] % 16) * 16 + x[2] % 16;
}

static inline u64 fractal_z(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 n1 = up(d[0], 16), c1 = up(d[1], 16);
    const u64 row = (((x[2] * c1 + x[1] / 16) * d[3] + x[3]) * d[4] + x[4]) * n1 * 16 + x[0];
    return row * 16 + x[1] % 16;
}

/* oneDNN's offset of OIhw4i16o4i inside a block of 16 by 16: (i / 4) * 64 + o * 4 + i % 4. */
static inline u64 oihw4i16o4i(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 block = ((x[0] / 16 * up(d[1], 16) + x[1] / 16) * d[2] + x[2]) * d[3] + x[3], i = x[1] % 16;
    return block * 256 + i / 4 * 64 + x[0] % 16 * 4 + i % 4;
}

static inline u64 vnni_i8(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return x[0] / 4 * d[1] * 4 + x[1] * 4 + x[0] % 4;
}

static inline u64 vnni_bf16(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return x[0] / 2 * d[1] * 2 + x[1] * 2 + x[0] % 2;
}

/* A tile is 1 KiB: byte r * 64 + n * 4 + k % 4 of it, with r = k / 4. */
static inline u64 amx_b(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = x[0] / 64 * up(d[1], 16) + x[1] / 16, k = x[0] % 64;
    return tile * 1024 + k / 4 * 64 + x[1] % 16 * 4 + k % 4;
}

/* XLA's T(8,128)(2,1): tile, then sublane of 128 pairs, then the row inside the pair. */
static inline u64 tpu_bf16(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = x[0] / 8 * up(d[1], 128) + x[1] / 128, r = x[0] % 8;
    return tile * 1024 + r / 2 * 256 + x[1] % 128 * 2 + r % 2;
}

static inline u64 tpu_f32(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return (x[0] / 8 * up(d[1], 128) + x[1] / 128) * 1024 + x[0] % 8 * 128 + x[1] % 128;
}

static inline u64 tenstorrent(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = x[0] / 32 * up(d[1], 32) + x[1] / 32, r = x[0] % 32, c = x[1] % 32;
    const u64 face = r / 16 * 2 + c / 16;
    return tile * 1024 + face * 256 + r % 16 * 16 + c % 16;
}

/* Hexagon's crouton of 8 x 4 x 32: h * 128 + (w / 2) * 64 + c * 2 + w % 2. */
static inline u64 hexagon(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = ((x[0] * up(d[1], 8) + x[1] / 8) * up(d[2], 4) + x[2] / 4) * up(d[3], 32) + x[3] / 32;
    return tile * 1024 + x[1] % 8 * 128 + x[2] % 4 / 2 * 64 + x[3] % 32 * 2 + x[2] % 2;
}

static inline u64 identity(const u64 *x, const u64 *d, u64 *bank)
{
    (void)d;
    (void)bank;
    return x[0];
}

/* ggml's q4_0: byte j of a block holds element j in its low nibble and element j + 16 in its high one. */
static inline u64 int4_ggml(const u64 *x, const u64 *d, u64 *bank)
{
    (void)d;
    (void)bank;
    const u64 block = x[0] / 32, in = x[0] % 32;
    return block * 32 + in % 16 * 2 + in / 16;
}

/* cuBLAS: within a tile of 128 rows by 4, (m % 32) * 16 + (m / 32) * 4 + k. */
static inline u64 scale_128x4(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 tile = x[0] / 128 * up(d[1], 4) + x[1] / 4, m = x[0] % 128;
    return tile * 512 + m % 32 * 16 + m / 32 * 4 + x[1] % 4;
}

/* FlashInfer's layout_8x4. */
static inline u64 scale_8x4(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return (x[0] / 8 * up(d[1], 4) + x[1] / 4) * 32 + x[0] % 8 * 4 + x[1] % 4;
}

/* AMD's e8m0_shuffle: padded to 256 x 8, seen as (R / 32, 2, 16, C / 8, 2, 4), permuted (0, 3, 5, 2, 4, 1). */
static inline u64 scale_32x8(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 r = x[0], c = x[1], tile = (r / 32 * up(d[1], 8) + c / 8) * 4 + c % 4;
    return (tile * 16 + r % 16) * 4 + c / 4 % 2 * 2 + r / 16 % 2;
}

static inline u64 sparse_rows(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return x[0] * (up(d[1], 8) * 8) + x[1];
}

/* CUTLASS Swizzle<3, 3, 3> of the element offset; words of 8 elements make it <3, 0, 3> of the word number. */
static inline u64 swizzle(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 y = x[0] * d[1] + x[1], mask = (u64)7 << (3 + 3);
    return y ^ ((y & mask) >> 3);
}

static inline u64 three_banks(const u64 *x, const u64 *d, u64 *bank)
{
    const u64 word = (x[0] * d[1] + x[1]) / 4;
    *bank = word % 3;
    return (5 + word / 3) * 4 + x[1] % 4;
}

static inline u64 six_rows(const u64 *x, const u64 *d, u64 *bank)
{
    (void)d;
    *bank = x[0] / 8 % 6;
    return x[0] / 48 * 8 + x[0] % 8;
}

static inline u64 bit_reversed(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    u64 place = 0;
    for (u64 bit = 1; bit < d[0]; bit *= 2)
        place = place * 2 + (x[0] / bit & 1);
    return place * d[1] + x[1];
}

static inline u64 morton(const u64 *x, const u64 *d, u64 *bank)
{
    (void)d;
    (void)bank;
    u64 place = 0;
    for (int i = 0; i < 4; i++)
        place |= (x[1] >> i & 1) << (2 * i) | (x[0] >> i & 1) << (2 * i + 1);
    return place;
}

/* Rows of W are gate * hidden + unit. */
static inline u64 rnn_gates(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    const u64 hidden = d[0] / 4;
    return (x[0] % hidden * d[1] + x[1]) * 4 + x[0] / hidden;
}

static inline u64 beats_and_base(const u64 *x, const u64 *d, u64 *bank)
{
    (void)bank;
    return 0x10 * 8 + blocked_channels(x, d, 16);
}

#endif
