/* The cases that move a tensor through a layout, one line each, and the groups that they form. Names are those that
 * engineers know the shapes by. An axis that a format splits is split in `dims` already: the bytes are the same. The
 * names of permutes are column-major (axis 0 is the fastest), as in the literature on tensor transposition. */
#include "tool/bench/moves.h"

#define TRANSPOSE(dtype, rows, cols)                                                                                   \
    {                                                                                                                  \
        "transpose_" #dtype "_" #rows "x" #cols, #dtype, #rows " " #cols, "10", 1, NULL, 0, NULL, NULL, 0, 0           \
    }

#define SQUARES(dtype)                                                                                                 \
    TRANSPOSE(dtype, 64, 64), TRANSPOSE(dtype, 512, 512), TRANSPOSE(dtype, 1024, 1024), TRANSPOSE(dtype, 2048, 2048)

#define NCHW(name, dtype, perm, small, large)                                                                          \
    {name "_" #dtype "_1x64x56x56", #dtype, small, perm, 1, NULL, 0, NULL, NULL, 0, 0},                                \
    {                                                                                                                  \
        name "_" #dtype "_8x256x56x56", #dtype, large, perm, 1, NULL, 0, NULL, NULL, 0, 0                              \
    }

#define TILE(edge, dtype, rows)                                                                                        \
    {                                                                                                                  \
        "tile" #edge "_" #dtype "_2048x2048", #dtype, #rows " " #edge " " #rows " " #edge, "0213", 2, NULL, 0, NULL,   \
            NULL, 0, 0                                                                                                 \
    }

/* Four levels: the words of the tensor in the order a b c d, those of the memory in the order c a d b. */
#define SCATTER(bits, lanes, size, a, b, c, d)                                                                         \
    {                                                                                                                  \
        "scatter_w" #bits "_" size, "u32", #a " " #b " " #c " " #d " " #lanes, "20314", 1, NULL, 0, NULL, NULL, 0, 0   \
    }

#define CONVERT(name, dtype, as, size, dims)                                                                           \
    {                                                                                                                  \
        "convert_" name "_" size, dtype, dims, "01", 1, as, 1, NULL, NULL, 0, 0                                        \
    }

#define CONVERTS(name, dtype, as)                                                                                      \
    CONVERT(name, dtype, as, "100", "25 4"), CONVERT(name, dtype, as, "1k", "250 4"),                                  \
        CONVERT(name, dtype, as, "10k", "2500 4"), CONVERT(name, dtype, as, "100k", "25000 4"),                        \
        CONVERT(name, dtype, as, "1M", "250000 4"), CONVERT(name, dtype, as, "512x512", "512 512"),                    \
        CONVERT(name, dtype, as, "1024x1024", "1024 1024"), CONVERT(name, dtype, as, "2048x2048", "2048 2048")

#define FUSED(size)                                                                                                    \
    {                                                                                                                  \
        "convert_transpose_f32_i8_" #size "x" #size, "f32", #size " " #size, "10", 1, "i8 scale=0.05", 0, NULL, NULL,  \
            0, 0                                                                                                       \
    }

#define FUSED_TILE(size, rows)                                                                                         \
    {                                                                                                                  \
        "convert_tile16_f32_i8_" #size "x" #size, "f32", #rows " 16 " #rows " 16", "0213", 2, "i8 scale=0.05", 0,      \
            NULL, NULL, 0, 0                                                                                           \
    }

#define TABLE(bits, lanes)                                                                                             \
    {"table_w" #bits "_64k", "u32", "65536 " #lanes, "01", 1, NULL, 0, "a ^ 21", swizzled, 0, 0},                      \
    {                                                                                                                  \
        "dump_table_w" #bits "_64k", "u32", "65536 " #lanes, "01", 1, NULL, 0, "a ^ 21", swizzled, 1, 0                \
    }

#define DUMP(name, dtype, dims, perm, lanes, as)                                                                       \
    {                                                                                                                  \
        "dump_" name, dtype, dims, perm, lanes, as, 0, NULL, NULL, 1, 0                                                \
    }

/* The tensor begins 4 bytes behind a line. */
#define OFFSET(name, dtype, dims, perm, lanes, as)                                                                     \
    {                                                                                                                  \
        "offset4_" name, dtype, dims, perm, lanes, as, 0, NULL, NULL, 0, 4                                             \
    }

static uint64_t swizzled(uint64_t word)
{
    return word ^ 21;
}

static const bench_case transposes[] = {
    SQUARES(u8),
    TRANSPOSE(u8, 4096, 1024),
    SQUARES(u16),
    TRANSPOSE(u16, 4096, 1024),
    SQUARES(f32),
    TRANSPOSE(f32, 4096, 1024),
    SQUARES(u64),
    NCHW("nchw_nhwc", f32, "021", "1 64 3136", "8 256 3136"),
    NCHW("nchw_nhwc", i8, "021", "1 64 3136", "8 256 3136"),
    NCHW("nchw_nchw16c", i8, "0132", "1 4 16 3136", "8 16 16 3136"),
    NCHW("nchw_nchw32c", i8, "0132", "1 2 32 3136", "8 8 32 3136"),
    NCHW("nhwc_nchw", i8, "021", "1 3136 64", "8 3136 256"),
    NCHW("nchw16c_nchw", i8, "0132", "1 4 3136 16", "8 16 3136 16"),
    {"oihw_oihw4i16o4i_i8_256x256x3x3", "i8", "16 16 16 4 4 9", "025314", 3, NULL, 0, NULL, NULL, 0, 0},
    {"bhsd_bshd_bf16_8x16x512x64", "bf16", "8 16 512 64", "0213", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_210", "f32", "384 355 384", "210", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_3210", "f32", "96 75 75 96", "3210", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_04213", "f32", "48 28 28 48 32", "13204", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_20413", "f32", "28 28 48 28 48", "13042", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_43210", "f32", "48 28 28 28 48", "43210", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_032541", "f32", "15 15 32 15 32 16", "410325", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_320514", "f32", "15 15 32 15 15 32", "140532", 1, NULL, 0, NULL, NULL, 0, 0},
    {"permute_543210", "f32", "32 15 15 15 15 32", "543210", 1, NULL, 0, NULL, NULL, 0, 0},
    {"small_chw_hwc_f32_3x8x8", "f32", "3 64", "10", 1, NULL, 0, NULL, NULL, 0, 0},
    {"small_rows_f32_1024x4", "f32", "1024 4", "01", 1, NULL, 0, NULL, NULL, 0, 0},
};

static const bench_case tiles[] = {
    TILE(16, i8, 128),
    TILE(32, i8, 64),
    TILE(16, bf16, 128),
    TILE(32, bf16, 64),
};

static const bench_case placed[] = {
    SCATTER(128, 4, "256K", 8, 16, 8, 16),
    SCATTER(128, 4, "1M", 16, 16, 16, 16),
    SCATTER(128, 4, "16M", 32, 32, 32, 32),
    SCATTER(512, 16, "256K", 8, 8, 8, 8),
    SCATTER(512, 16, "1M", 8, 16, 8, 16),
    SCATTER(512, 16, "16M", 16, 32, 16, 32),
    SCATTER(1024, 32, "256K", 8, 8, 4, 8),
    SCATTER(1024, 32, "1M", 8, 16, 8, 8),
    SCATTER(1024, 32, "16M", 16, 32, 16, 16),
    TABLE(32, 1),
    TABLE(128, 4),
    TABLE(1024, 32),
};

static const bench_case batches[] = {
    {"copy_f32_100", "f32", "25 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"copy_f32_1k", "f32", "250 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"copy_f32_10k", "f32", "2500 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"copy_f32_100k", "f32", "25000 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"copy_f32_1M", "f32", "250000 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"copy_f32_16M", "f32", "4194304 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_100", "f32", "10 10", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_1k", "f32", "25 40", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_10k", "f32", "100 100", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_100k", "f32", "250 400", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_1M", "f32", "1000 1000", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"transpose_f32_16M", "f32", "4096 4096", "10", 1, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_100", "i8", "5 4 1 5", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_1k", "i8", "10 5 5 4", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_10k", "i8", "10 10 10 10", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_100k", "i8", "20 16 20 16", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_1M", "i8", "64 16 64 16", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"tiles_i8_16M", "i8", "256 16 256 16", "0213", 2, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_100", "i4", "25 4", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_1k", "i4", "125 8", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_10k", "i4", "1250 8", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_100k", "i4", "12500 8", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_1M", "i4", "125000 8", "01", 1, NULL, 1, NULL, NULL, 0, 0},
    {"pack_i4_16M", "i4", "2097152 8", "01", 1, NULL, 1, NULL, NULL, 0, 0},
};

static const bench_case packing[] = {
    {"pack_u1_1M", "u1", "31250 32", "01", 1, NULL, 0, NULL, NULL, 0, 0},
    {"pack_i12_1M", "i12", "62500 16", "01", 1, NULL, 0, NULL, NULL, 0, 0},
    {"pack_u33_100k", "u33", "100000", "0", 0, NULL, 0, NULL, NULL, 0, 0},
};

static const bench_case convert[] = {
    CONVERTS("f32_bf16", "f32", "bf16"),
    CONVERTS("f32_f16", "f32", "f16"),
    CONVERTS("f32_i8", "f32", "i8 scale=0.05 round=even sat"),
    CONVERTS("f32_e4m3", "f32", "e4m3"),
    CONVERTS("i8_f32", "i8", "f32 scale=0.05"),
    CONVERTS("f32_scaled", "f32", "f32 scale=0.37"),
    FUSED(512),
    FUSED(1024),
    FUSED(2048),
    FUSED_TILE(512, 32),
    FUSED_TILE(1024, 64),
    FUSED_TILE(2048, 128),
};

static const bench_case dumps[] = {
    DUMP("transpose_u8_2048x2048", "u8", "2048 2048", "10", 1, NULL),
    DUMP("transpose_f32_512x512", "f32", "512 512", "10", 1, NULL),
    DUMP("transpose_f32_1000x1000", "f32", "1000 1000", "10", 1, NULL),
    DUMP("transpose_f32_2048x2048", "f32", "2048 2048", "10", 1, NULL),
    DUMP("nchw_nhwc_f32_8x256x56x56", "f32", "8 256 3136", "021", 1, NULL),
    DUMP("nchw_nchw16c_i8_8x256x56x56", "i8", "8 16 16 3136", "0132", 1, NULL),
    DUMP("oihw_oihw4i16o4i_i8_256x256x3x3", "i8", "16 16 16 4 4 9", "025314", 3, NULL),
    DUMP("tile16_i8_2048x2048", "i8", "128 16 128 16", "0213", 2, NULL),
    DUMP("permute_3210", "f32", "96 75 75 96", "3210", 1, NULL),
    DUMP("copy_f32_1M", "f32", "250000 4", "01", 1, NULL),
    DUMP("pack_i4_1M", "i4", "125000 8", "01", 1, NULL),
    DUMP("pack_i12_1M", "i12", "62500 16", "01", 1, NULL),
    DUMP("pack_u33_100k", "u33", "100000", "0", 0, NULL),
    DUMP("convert_f32_i8_1024x1024", "f32", "1024 1024", "01", 1, "i8 scale=0.05"),
    DUMP("convert_transpose_f32_i8_1024x1024", "f32", "1024 1024", "10", 1, "i8 scale=0.05"),
};

static const bench_case offsets[] = {
    OFFSET("copy_f32_1M", "f32", "250000 4", "01", 1, NULL),
    OFFSET("transpose_f32_1024x1024", "f32", "1024 1024", "10", 1, NULL),
    OFFSET("transpose_f32_2048x2048", "f32", "2048 2048", "10", 1, NULL),
    OFFSET("transpose_u8_2048x2048", "u8", "2048 2048", "10", 1, NULL),
    OFFSET("nchw_nhwc_f32_8x256x56x56", "f32", "8 256 3136", "021", 1, NULL),
    OFFSET("pack_i4_4M", "i4", "524288 8", "01", 1, NULL),
    OFFSET("convert_f32_i8_1024x1024", "f32", "1024 1024", "01", 1, "i8 scale=0.05"),
};

/* A group of moves: the table, and the functions that all of them share. The name of an array stands without
 * parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define MOVES(name, about)                                                                                             \
    static const bench_moves name##_moves = {name, sizeof name / sizeof name[0]};                                      \
    const bench_group bench_group_##name = {                                                                           \
        #name, about, false, &name##_moves, bench_moves_count, bench_moves_spec, bench_moves_open,                     \
    };
/* NOLINTEND(bugprone-macro-parentheses) */

MOVES(transposes, "transposes and permutes beside oneDNN, NumPy and plain loops")
MOVES(tiles, "square tiles of matrices, one tile a word or a row of words")
MOVES(placed, "words scattered by nested loops and by address expressions")
MOVES(batches, "100 to 16 M elements: copies, transposes, tiles and packed bits, with one thread and with two")
MOVES(packing, "elements that are no whole bytes")
MOVES(convert, "conversion and quantisation: speed, and the error against f64 beside it")
MOVES(dumps, "the same moves the other way, from the memory into a tensor")
MOVES(offsets, "tensors that begin 4 bytes behind a line, as mapped files do")
