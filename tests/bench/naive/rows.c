/* The second table of the issue "no cliffs", and the neighbours of every row of it: layouts of about 4 MiB beside the
 * loop in loops_*.c that does the same. */
#include "loops.h"

#define IN_RANGE "uniform min=-6 max=6 seed=3"
#define WHOLE "uniform min=-1000000 max=1000000 seed=3"

#define ROW(title, loop, ...)                                                                                          \
    {                                                                                                                  \
        .name = title, .text = {__VA_ARGS__}, .load = loop##_load, .dump = loop##_dump                                 \
    }

#define CONVERT(title, loop, from, conversion, bits, filling)                                                          \
    ROW(title, loop, .dtype = from, .shape = "1024 1024", .pattern = "r c -> r c", .as = conversion,                   \
        .width_bits = 1024 * (bits), .fill = filling)

const naive_row naive_rows[] = {
    ROW("mx_scale u8 2048^2", mx_scale, "u8", "2048 2048", "preset:mx_scale", .width_bits = 8),
    ROW("mx_scale k0=4 u8 2048^2", mx_scale_k4, "u8", "2048 2048", "preset:mx_scale k0=4", .width_bits = 32),
    ROW("mx_scale u8 2048x2040", mx_scale_ragged, "u8", "2048 2040", "preset:mx_scale", .width_bits = 8),
    ROW("nvfp4_scale u8 2048^2", nvfp4_scale, "u8", "2048 2048", "preset:nvfp4_scale", .width_bits = 8),
    ROW("r c -> (r k) c u8", repeat_inner_word, "u8", "1024 1024", "r c -> (r k) c", "k=4", .width_bits = 8192),
    ROW("r c -> (k r) c u8", repeat_outer_word, "u8", "1024 1024", "r c -> (k r) c", "k=4", .width_bits = 8192),
    ROW("r c -> r (c k) u8", repeat_lane, "u8", "1024 1024", "r c -> r (c k)", "k=4", .width_bits = 32768),
    ROW("r c -> (r k) c f32", repeat_f32, "f32", "512 512", "r c -> (r k) c", "k=4", .width_bits = 16384),
    ROW("u3 x 4 in 12-bit words", u3x4, "u3", "262144 4", "w l -> w l", .width_bits = 12),
    ROW("u3 x 5 in 15-bit words", u3x5, "u3", "262144 5", "w l -> w l", .width_bits = 15),
    ROW("i5 x 8 in 40-bit words", i5x8, "i5", "262144 8", "w l -> w l", .width_bits = 40),
    ROW("i6 x 5 in 30-bit words", i6x5, "i6", "262144 5", "w l -> w l", .width_bits = 30),
    ROW("u12 x 4 in 48-bit words", u12x4, "u12", "262144 4", "w l -> w l", .width_bits = 48),
    ROW("u1 x 8 in 8-bit words", u1x8, "u1", "262144 8", "w l -> w l", .width_bits = 8),
    ROW("int4_ggml i4 2048^2", ggml, "i4", "2048 2048", "preset:int4_ggml", .width_bits = 8),
    ROW("int4_ggml i4 2048x2040", ggml_ragged, "i4", "2048 2040", "preset:int4_ggml", .width_bits = 8),
    ROW("int4_onnx i4 2048^2", onnx, "i4", "2048 2048", "preset:int4_onnx", .width_bits = 8),
    CONVERT("i8 -> i32, 1 M", i8_i32, "i8", "i32", 32, NULL),
    CONVERT("u8 -> u16, 1 M", u8_u16, "u8", "u16", 16, NULL),
    CONVERT("i16 -> i32, 1 M", i16_i32, "i16", "i32", 32, NULL),
    CONVERT("i32 -> i8, 1 M", i32_i8, "i32", "i8", 8, "uniform min=-200 max=200 seed=3"),
    CONVERT("i32 -> bf16, 1 M", i32_bf16, "i32", "bf16", 16, WHOLE),
    CONVERT("f64 -> f32, 1 M", f64_f32, "f64", "f32", 32, IN_RANGE),
    CONVERT("i8 -> f32 scale, 1 M", i8_f32, "i8", "f32 scale=0.05", 32, NULL),
    CONVERT("f32 -> i8 error", f32_i8_error, "f32", "i8 scale=0.05 error", 8, IN_RANGE),
    CONVERT("f32 -> i16 error", f32_i16_error, "f32", "i16 scale=0.05 error", 16, IN_RANGE),
    CONVERT("f32 -> i8 sat", f32_i8_sat, "f32", "i8 scale=0.05", 8, IN_RANGE),
    CONVERT("f32 -> i8 wrap", f32_i8_wrap, "f32", "i8 scale=0.05 wrap", 8, "uniform min=-12 max=12 seed=3"),
    CONVERT("f32 -> i8 round=zero", f32_i8_zero, "f32", "i8 scale=0.05 round=zero", 8, IN_RANGE),
    CONVERT("f32 -> i8 round=floor", f32_i8_floor, "f32", "i8 scale=0.05 round=floor", 8, IN_RANGE),
    CONVERT("f32 -> i8 round=away", f32_i8_away, "f32", "i8 scale=0.05 round=away", 8, IN_RANGE),
    CONVERT("f32 -> i8 scale=@S axis=c", f32_i8_columns, "f32", "i8 scale=@naive_columns axis=c", 8, IN_RANGE),
    CONVERT("f32 -> i8 scale=@S axis=r", f32_i8_rows, "f32", "i8 scale=@naive_rows axis=r", 8, IN_RANGE),
    ROW("NHWC C=3 into c0=16 u8", nhwc3_16, "u8", "1 512 512 3", "preset:nhcwb16", .width_bits = 128),
    ROW("NCHW C=3 into c0=16 u8", nchw3_16, "u8", "1 3 512 512", "preset:nc1hwc0 c0=16", .width_bits = 128),
    ROW("NHWC C=3 into c0=4 u8", nhwc3_4, "u8", "1 1024 1024 3", "preset:nhcwb16 c0=4", .width_bits = 32),
    ROW("NHWC C=3 into c0=16 i16", nhwc3_16_i16, "i16", "1 256 512 3", "preset:nhcwb16", .width_bits = 256),
    ROW("NCHW C=5 into c0=16 u8", nchw5_16, "u8", "1 5 512 512", "preset:nc1hwc0 c0=16", .width_bits = 128),
    ROW("2x2 blocks i8", blocks2, "i8", "2048 2048", "(R r) (C c) -> (R C) (r c)", "r=2 c=2", .width_bits = 32),
    ROW("2x2 blocks i16", blocks2_i16, "i16", "2048 1024", "(R r) (C c) -> (R C) (r c)", "r=2 c=2", .width_bits = 64),
    ROW("4x4 blocks i8", blocks4, "i8", "2048 2048", "(R r) (C c) -> (R C) (r c)", "r=4 c=4", .width_bits = 128),
    ROW("lanes=msb i8 x 16", msb16, "i8", "262144 16", "w l -> w l", "lanes=msb", .width_bits = 128),
    ROW("lanes=msb i16 x 8", msb8_i16, "i16", "262144 8", "w l -> w l", "lanes=msb", .width_bits = 128),
    ROW("CHW3 -> 24-bit words", chw3, "u8", "3 1024 1024", "c h w -> (h w) c", .width_bits = 24),
    ROW("HWC3 -> 24-bit words", hwc3, "u8", "1024 1024 3", "h w c -> (h w) c", .width_bits = 24),
    ROW("im2col 3x3 C=16 u8", im2col16, "u8", "16 168 168", "preset:im2col", .width_bits = 1152),
    ROW("im2col 3x3 C=3 u8", im2col3, "u8", "3 386 386", "preset:im2col", .width_bits = 216),
    ROW("slot=9 i8 x 16", slot9, "u8", "262144 16", "w l -> w l", "slot=9", .width_bits = 144),
    ROW("slot=12 i8 x 8", slot12, "u8", "524288 8", "w l -> w l", "slot=12", .width_bits = 96),
    ROW("XOR i4 x 16", xor_i4, "i4", "262144 16", "w l -> w l", NULL, "w ^ (w >> 4 & 7)", .width_bits = 64),
    ROW("XOR u32, 64 Ki words", xor_u32, "u32", "65536 1", "w l -> w l", NULL, "w ^ (w >> 4 & 7)", .width_bits = 32),
    ROW("XOR i8 x 16", xor_i8, "i8", "262144 16", "w l -> w l", NULL, "w ^ (w >> 4 & 7)", .width_bits = 128),
    ROW("bank = index % 8 u32", modulo8, "u32", "1048576 1", "w l -> w l", NULL, "bank = index % 8; addr = index / 8",
        .width_bits = 32),
    ROW("fft_bitrev f32, 64 Ki", bitrev, "f32", "65536", "preset:fft_bitrev bits=16", .width_bits = 32),
};

const size_t naive_row_count = sizeof naive_rows / sizeof naive_rows[0];
