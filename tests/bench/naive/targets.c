/* The first table of the issue "no cliffs", with the target of every row: the larger of what it says that ours must
 * reach and of the best peer that it names (a dump has the former alone). Where nothing is said of a row beside one of
 * the table, its target is the floor of every layout, a tenth. A conversion mode has a time per element. */
#include "naive.h"

#define LOAD(title, ratio, ...)                                                                                        \
    {                                                                                                                  \
        .name = title, .which = TARGET_LOAD, .load = ratio, .text = { __VA_ARGS__ }                                    \
    }
#define BOTH(title, to, from, ...)                                                                                     \
    {                                                                                                                  \
        .name = title, .which = TARGET_BOTH, .load = to, .dump = from, .text = { __VA_ARGS__ }                         \
    }
#define T(dtype, bits, rows, cols, to, from)                                                                           \
    BOTH("transpose " #dtype " " #rows "x" #cols, to, from, #dtype, #rows " " #cols, "a b -> b a",                     \
         .width_bits = (bits) * (rows))
#define COPY(size, rows) BOTH("copy " size, 1.0, 1.0, "u8", #rows " 4096", "a b -> a b", .width_bits = 32768)
#define WORDS(title, to, from, dtype, words, lanes, bits, address)                                                     \
    BOTH(title, to, from, dtype, #words " " #lanes, "w l -> w l", NULL, address, .width_bits = (lanes) * (bits))

#define SWIZZLE "w ^ (w >> 4 & 7)"
#define SCATTERED(words) "w*(w + 1)/2 % " #words /* a permutation without structure, where words is a power of two */
#define RAGGED "19 70 55 57"
#define IN_RANGE "uniform min=-6 max=6 seed=3"

const target_row target_rows[] = {
    T(u8, 8, 1996, 1500, .6, .6),
    T(u16, 16, 1996, 1500, 1.11, .6),
    T(f32, 32, 1996, 1500, .6, .6),
    T(u64, 64, 1996, 1500, .68, .6),
    T(u8, 8, 1000, 1000, .6, .6),
    T(u16, 16, 1000, 1000, .6, .6),
    T(f32, 32, 1000, 1000, .73, .6),
    T(f32, 32, 1023, 1025, .6, .6),
    T(f32, 32, 64, 64, .71, .7),
    T(u16, 16, 64, 64, .6, .6),
    T(u8, 8, 64, 64, .4, .4),
    T(f32, 32, 512, 512, .55, .55),
    T(u16, 16, 512, 512, 1.36, .55),
    T(u8, 8, 512, 512, .55, .55),
    T(u64, 64, 512, 512, .55, .55),
    T(f32, 32, 1024, 1024, .37, .37),
    T(f32, 32, 2048, 2048, .76, .76),
    T(u8, 8, 1024, 1024, .41, .41),
    T(u8, 8, 2048, 2048, .26, .26),
    T(u16, 16, 2048, 2048, .43, .43),
    T(u64, 64, 2048, 2048, 1.0, 1.0),
    BOTH("NCHW -> NHWC f32 8x256x56x56", .85, .73, "f32", "8 256 3136", "n c p -> (n p) c", .width_bits = 8192),
    BOTH("NHWC -> NCHW f32 8x56x56x256", .73, .85, "f32", "8 3136 256", "n p c -> (n c) p", .width_bits = 100352),
    BOTH("permute 210", .69, .1, "f32", "384 355 384", "a b c -> (c b) a", .width_bits = 12288),
    BOTH("permute 3210", .99, .1, "f32", "96 75 75 96", "a b c d -> (d c b) a", .width_bits = 3072),
    BOTH("permute 20413", .83, .1, "f32", "28 28 48 28 48", "a b c d e -> (b d a e) c", .width_bits = 1536),
    BOTH("permute 320514", .92, .1, "f32", "15 15 32 15 15 32", "a b c d e f -> (b e a f d) c", .width_bits = 1024),
    BOTH("permute 543210", .88, .1, "f32", "32 15 15 15 15 32", "a b c d e f -> (f e d c b) a", .width_bits = 1024),
    BOTH("NCHW -> NHWC i8 1x3x224x224", .6, .6, "i8", "1 3 50176", "n c p -> (n p) c", .width_bits = 24),
    BOTH("NCHW -> NHWC i8 8x3x224x224", .6, .6, "i8", "8 3 50176", "n c p -> (n p) c", .width_bits = 24),
    BOTH("CHW -> HWC i8 3x1024x1024, rows", .6, .6, "i8", "3 1024 1024", "c h w -> h (w c)", .width_bits = 24576),
    COPY("64 KiB", 16),
    COPY("256 KiB", 64),
    COPY("1 MiB", 256),
    COPY("2 MiB", 512),
    COPY("4 MiB", 1024),
    COPY("8 MiB", 2048),
    COPY("16 MiB", 4096),
    COPY("64 MiB", 16384),
    COPY("odd 1000x4096", 1000),
    BOTH("i8 -> f32, 4 MiB written", .87, .1, "i8", "1024 1024", "a b -> a b", .as = "f32 scale=0.05",
         .width_bits = 32768),
    BOTH("i8 -> f32, 16 MiB written", .87, .1, "i8", "4096 1024", "a b -> a b", .as = "f32 scale=0.05",
         .width_bits = 32768),
    BOTH("16x16 tiles i8 2048^2", 1.0, .1, "i8", "2048 2048", "(R r) (C c) -> (R C) (r c)", "r=16 c=16",
         .width_bits = 2048),
    BOTH("16x16 tiles bf16 1024^2", 1.0, .1, "bf16", "1024 1024", "(R r) (C c) -> (R C) (r c)", "r=16 c=16",
         .width_bits = 4096),
    BOTH("ragged nc1hwc0 i8", .3, .3, "i8", RAGGED, "preset:nc1hwc0", "dtype=i8", .width_bits = 256),
    BOTH("ragged nchw16c i8", .3, .3, "i8", RAGGED, "preset:nchw16c", .width_bits = 128),
    BOTH("ragged nhcwb16 i8", .3, .3, "i8", RAGGED, "preset:nhcwb16", .width_bits = 128),
    BOTH("ragged hexagon i8", .3, .3, "i8", RAGGED, "preset:hexagon", .width_bits = 512),
    BOTH("ragged scale_128x4 i8", .3, .3, "i8", "1330 3135", "preset:scale_128x4", .width_bits = 128),
    BOTH("ragged fractal_nz f16", .3, .3, "f16", "1330 3135", "preset:fractal_nz", .width_bits = 256),
    BOTH("ragged tpu bf16", .3, .3, "bf16", "1330 3135", "preset:tpu", .width_bits = 4096),
    BOTH("whole nc1hwc0 i8", .5, .5, "i8", "16 64 56 56", "preset:nc1hwc0", "dtype=i8", .width_bits = 256),
    BOTH("whole hexagon i8", .5, .5, "i8", "16 64 56 64", "preset:hexagon", .width_bits = 512),
    BOTH("ragged nc1hwc0 i4", .2, .2, "i4", RAGGED, "preset:nc1hwc0", "dtype=i4", .width_bits = 256),
    BOTH("ragged int4_onnx i4 2048x2041", .2, .2, "i4", "2048 2041", "preset:int4_onnx", .width_bits = 8),
    BOTH("ragged int4_ggml i4 2048x2041", .2, .2, "i4", "2048 2041", "preset:int4_ggml", .width_bits = 8),
    BOTH("ragged sparse24_index u2", .2, .2, "u2", "2048 2042", "preset:sparse24_index", .width_bits = 16),
    BOTH("whole int4_onnx i4 2048^2", .5, .5, "i4", "2048 2048", "preset:int4_onnx", .width_bits = 8),
    BOTH("i4 x 16 lanes=msb", .1, .1, "i4", "262144 16", "w l -> w l", "lanes=msb", .width_bits = 64),
    BOTH("u4 x 8 slot=5", .1, .1, "u4", "262144 8", "w l -> w l", "slot=5", .width_bits = 40),
    BOTH("u4 x 8 lsb=3", .1, .1, "u4", "262144 8", "w l -> w l", "lsb=3", .width_bits = 40),
    BOTH("u6 x 4 in 24-bit words", .1, .1, "u6", "524288 4", "w l -> w l", .width_bits = 24),
    BOTH("u3 x 8 in 3 beats of 8 bits", .1, .1, "u3", "262144 8", "w l -> w l", "beats=3", .width_bits = 8),
    BOTH("i12 x 8 in 3 beats of 32 bits", .1, .1, "i12", "131072 8", "w l -> w l", "beats=3", .width_bits = 32),
    BOTH("i4 transposed, words of 60 bits", .1, .1, "i4", "15 131072", "l w -> w l", .width_bits = 60),
    WORDS("table, words of 32 bits", .3, .3, "u32", 1048576, 1, 32, SCATTERED(1048576)),
    WORDS("table, words of 128 bits", .6, .6, "u32", 262144, 4, 32, SCATTERED(262144)),
    WORDS("table, words of 1024 bits", .8, .8, "u32", 32768, 32, 32, SCATTERED(32768)),
    WORDS("XOR, words of 32 bits", .3, .3, "u32", 1048576, 1, 32, SWIZZLE),
    WORDS("XOR, words of 128 bits", .6, .6, "u32", 262144, 4, 32, SWIZZLE),
    WORDS("XOR, words of 1024 bits", .8, .8, "u32", 32768, 32, 32, SWIZZLE),
    WORDS("table, i4 x 16", .1, .1, "i4", 262144, 16, 4, SCATTERED(262144)),
    WORDS("table, u3 x 4", .1, .1, "u3", 1048576, 4, 3, SCATTERED(1048576)),
    WORDS("XOR, u1 x 32", .1, .1, "u1", 131072, 32, 1, SWIZZLE),
    WORDS("bank = index % 8, u32", .5, .5, "u32", 1048576, 1, 32, "bank = index % 8; addr = index / 8"),
    WORDS("bank = index % 8, u8 x 16", .5, .5, "u8", 262144, 16, 8, "bank = index % 8; addr = index / 8"),
    BOTH("mx_scale u8 2048^2", .1, .1, "u8", "2048 2048", "preset:mx_scale", .width_bits = 8),
    BOTH("nvfp4_scale u8 2048^2", .1, .1, "u8", "2048 2048", "preset:nvfp4_scale", .width_bits = 8),
    BOTH("sliding im2col 3x3 u8 C=16", .3, .1, "u8", "16 168 168", "preset:im2col", .width_bits = 1152),
    BOTH("sliding windows of 8 f32", .3, .1, "f32", "131079", "(h + k) -> h k", "k=8", .width_bits = 256),
    BOTH("sliding windows, apart, i8", .3, .1, "i8", "4194304", "(16*h + k) -> h k", "k=16", .width_bits = 128),
    BOTH("f32 -> i8 transposed 1024^2", .4, .4, "f32", "1024 1024", "a b -> b a", .as = "i8 scale=0.05",
         .width_bits = 8192, .fill = IN_RANGE),
    BOTH("i8 -> f32 transposed 1024^2", .4, .4, "i8", "1024 1024", "a b -> b a", .as = "f32 scale=0.05",
         .width_bits = 32768),
    BOTH("f32 -> bf16 transposed 1000x1004", .4, .4, "f32", "1000 1004", "a b -> b a", .as = "bf16",
         .width_bits = 16000, .fill = IN_RANGE),
    BOTH("f32 -> i8 ragged nc1hwc0", .4, .4, "f32", "4 70 55 57", "preset:nc1hwc0", "dtype=i8", .as = "i8 scale=0.05",
         .width_bits = 256, .fill = IN_RANGE),
    BOTH("f32 -> i4 nchw16c", .4, .4, "f32", "4 64 56 56", "preset:nchw16c", .as = "i4 scale=1", .width_bits = 64,
         .fill = IN_RANGE),
    BOTH("f32 -> e4m3, 10 k", .6, .1, "f32", "2500 4", "a b -> a b", .as = "e4m3", .width_bits = 32, .fill = IN_RANGE),
    BOTH("f32 -> e4m3, 100 k", .6, .1, "f32", "25000 4", "a b -> a b", .as = "e4m3", .width_bits = 32,
         .fill = IN_RANGE),
    BOTH("f16 -> e4m3, 100 k", .6, .1, "f16", "25000 4", "a b -> a b", .as = "e4m3", .width_bits = 32,
         .fill = IN_RANGE),
    LOAD("offset 4: transpose f32 1024^2", .37, "f32", "1024 1024", "a b -> b a", .width_bits = 32768,
         .offset_bytes = 4),
    LOAD("offset 4: transpose f32 2048^2", .76, "f32", "2048 2048", "a b -> b a", .width_bits = 65536,
         .offset_bytes = 4),
    LOAD("offset 4: transpose u8 1996x1500", .6, "u8", "1996 1500", "a b -> b a", .width_bits = 15968,
         .offset_bytes = 4),
    LOAD("offset 4: copy 4 MiB", 1.0, "u8", "1024 4096", "a b -> a b", .width_bits = 32768, .offset_bytes = 4),
    LOAD("offset 4: f32 -> i8", .37, "f32", "1024 1024", "a b -> a b", .as = "i8 scale=0.05", .width_bits = 8192,
         .fill = IN_RANGE, .offset_bytes = 4),
};
const size_t target_row_count = sizeof target_rows / sizeof target_rows[0];

#define MODE_OF(from, to, bits, most, filling)                                                                         \
    {                                                                                                                  \
        .name = "mode " from " -> " to, .which = TARGET_BOTH, .ns = true, .load = most, .dump = most, .text = {        \
            from,                                                                                                      \
            "256 1024",                                                                                                \
            "a b -> a b",                                                                                              \
            .as = to,                                                                                                  \
            .width_bits = 1024 * (bits),                                                                               \
            .fill = filling                                                                                            \
        }                                                                                                              \
    }
#define MODE(from, to, bits) MODE_OF(from, to, bits, 1, IN_RANGE)
#define WIDE(from, to, bits) MODE_OF(from, to, bits, 2, IN_RANGE)
#define WHOLE(from, to, bits) MODE_OF(from, to, bits, 1, "uniform min=-100 max=100 seed=3")
#define WIDE_WHOLE(from, to, bits) MODE_OF(from, to, bits, 2, "uniform min=-100 max=100 seed=3")

const target_row mode_rows[] = {
    MODE("f32", "i8 scale=0.05", 8),
    MODE("f32", "i8 scale=0.05 error", 8),
    MODE("f32", "i8 scale=0.05 wrap", 8),
    MODE("f32", "i8 scale=0.05 ftz", 8),
    MODE("f32", "i8 scale=0.05 round=away", 8),
    MODE("f32", "i8 scale=0.05 round=zero", 8),
    MODE("f32", "i8 scale=0.05 round=floor", 8),
    MODE("f32", "i8 scale=0.05 round=ceil", 8),
    MODE("f32", "i8 scale=0.05 round=stochastic", 8),
    MODE("f32", "i8 scale=0.05 round=stochastic error", 8),
    MODE("f32", "i8 scale=0.05 zero=3 round=away wrap", 8),
    MODE("f32", "i8", 8),
    MODE("f32", "i4 scale=1", 4),
    MODE("f32", "i4 scale=1 error", 4),
    MODE("f32", "i16 scale=0.001 error", 16),
    MODE("f32", "i32 scale=0.001", 32),
    MODE("f32", "u8 scale=0.05 zero=128", 8),
    MODE("f32", "q4.4", 8),
    MODE("f32", "q4.12 round=stochastic", 16),
    MODE("f32", "bf16", 16),
    MODE("f32", "bf16 round=zero", 16),
    MODE("f32", "bf16 round=away", 16),
    MODE("f32", "bf16 round=floor", 16),
    MODE("f32", "bf16 round=stochastic", 16),
    MODE("f32", "bf16 ftz", 16),
    MODE("f32", "bf16 sat", 16),
    MODE("f32", "bf16 error", 16),
    MODE("f32", "f16", 16),
    MODE("f32", "f16 round=zero", 16),
    MODE("f32", "f16 round=stochastic", 16),
    MODE("f32", "f16 ftz", 16),
    MODE("f32", "f16 error", 16),
    MODE("f32", "f32 scale=0.05", 32),
    MODE("f32", "f32 ftz", 32),
    MODE("f32", "e4m3", 8),
    MODE("f32", "e4m3 inf", 8),
    MODE("f32", "e4m3 error", 8),
    MODE("f32", "e4m3 round=stochastic", 8),
    MODE("f32", "e4m3 round=away", 8),
    MODE("f32", "e4m3 scale=0.05", 8),
    MODE("f32", "e5m2", 8),
    MODE("f32", "e5m2 ftz", 8),
    MODE("f32", "e3m2", 6),
    MODE("f32", "e2m3", 6),
    MODE("f32", "e2m1", 4),
    MODE("f32", "e2m1 round=stochastic", 4),
    MODE_OF("f32", "e8m0", 8, 1, "uniform min=0.5 max=6 seed=3"),
    MODE("f16", "f32", 32),
    MODE("f16", "i8 scale=0.05", 8),
    MODE("f16", "e4m3", 8),
    MODE("f16", "bf16", 16),
    MODE("bf16", "f32", 32),
    MODE("bf16", "i8 scale=0.05", 8),
    MODE("bf16", "f16", 16),
    MODE("bf16", "e4m3", 8),
    WHOLE("i8", "i32", 32),
    WHOLE("i8", "i16", 16),
    WHOLE("i8", "u8", 8),
    WHOLE("i8", "i4", 4),
    WHOLE("i8", "f32", 32),
    WHOLE("i8", "f32 scale=0.05", 32),
    WHOLE("i8", "bf16", 16),
    WHOLE("i8", "f16 scale=0.05", 16),
    WHOLE("i16", "i8", 8),
    WHOLE("i16", "i32", 32),
    WHOLE("i16", "f32", 32),
    WHOLE("i32", "i8", 8),
    WHOLE("i32", "i8 wrap", 8),
    WHOLE("i32", "i8 error", 8),
    WHOLE("i32", "i16", 16),
    WHOLE("i32", "f32", 32),
    WHOLE("i32", "bf16", 16),
    WHOLE("i32", "i8 scale=4", 8),
    WIDE("f64", "f32", 32),
    WIDE("f64", "bf16", 16),
    WIDE("f64", "f16", 16),
    WIDE("f64", "i8 scale=0.05", 8),
    WIDE("f64", "i8 scale=0.05 error", 8),
    WIDE("f64", "f32 round=stochastic", 32),
    WIDE("f64", "e4m3", 8),
    WIDE("f32", "f64", 64),
    WIDE_WHOLE("i64", "i32", 32),
    WIDE_WHOLE("i64", "i8", 8),
    WIDE_WHOLE("i64", "f32", 32),
    WIDE_WHOLE("i8", "i64", 64),
    WIDE_WHOLE("i32", "f64", 64),
};
const size_t mode_row_count = sizeof mode_rows / sizeof mode_rows[0];
