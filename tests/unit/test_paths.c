/* Which kernel does a layout get? A table of layouts with the paths that a load and a dump must take, on every
 * instruction set of this machine. Nothing else notices when a layout falls off its fast path, as the plain walker
 * gives the same bits.
 *
 * The paths are those of td_plan_paths (plan/plan.h). `*` stands for the instruction set's own name; where the choice
 * itself depends on the instruction set, {c|avx2|avx512|vbmi} has one text for each. */
#include "support.h"

#include "base/cpu.h"
#include "memory/memory.h"
#include "plan/plan.h"
#include "values/as.h"

typedef struct path_case {
    const char *pattern, *options, *address;
    td_shape shape;
    const char *dtype, *as;
    uint64_t width_bits, banks;
    const char *load, *dump;
} path_case;

#define SHAPE(...)                                                                                                     \
    {                                                                                                                  \
        sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                                                          \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

#define SAME NULL /* as the load */

/* Plain C has no lists of shuffles; the others have them for all lengths of vectors, or for long ones alone. */
#define SHUFFLED(c) "{" c "|shuffle_x128_avx2|shuffle_x128_avx2|shuffle_x512_vbmi}"
#define SHUFFLED_WIDE(c) "{" c "|" c "|" c "|shuffle_x512_vbmi}"

/* Runs with their padding: AVX-512 has a kernel that writes both. */
#define PADDED(n)                                                                                                      \
    "padded {contiguous copy_* of " n "|contiguous copy_* of " n "|pad_runs_* of " n "|pad_runs_* of " n "}"

static const path_case cases[] = {
    /* contiguous: the words are the tensor's bytes */
    {"a b -> a b", "", "", SHAPE(64, 16), "i8", "", 128, 1, "contiguous copy_* of 1024 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 16), "f16", "", 256, 1, "contiguous copy_* of 2048 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 16), "f32", "", 512, 1, "contiguous copy_* of 4096 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 8), "f64", "", 512, 1, "contiguous copy_* of 4096 bytes", SAME},
    {"... (a b) -> (... a) b", "b=8", "", SHAPE(5, 7, 64), "i16", "", 128, 1, "contiguous copy_* of 4480 bytes", SAME},
    /* flat: an array as C has it; rows and words end where they like */
    {"... -> (...)", "", "", SHAPE(4, 3, 3, 3), "i8", "", 32, 1, "contiguous copy_* of 108 bytes", SAME},
    {"... -> (...)", "lsb=24", "9", SHAPE(5, 7), "i16", "", 64, 1, "contiguous copy_* of 70 bytes", SAME},
    {"r c -> (c r)", "", "", SHAPE(63, 95), "f32", "", 32, 1, "transpose_x32_*", SAME},
    {"... -> (...)", "slot=9", "", SHAPE(5, 64), "i8", "", 64, 1, "staged 8-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 8-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    /* skewed: lanes have addresses of their own; values are converted in batches */
    {"a (b b1) c -> (b1 b c) a", "b1=8", "index + a", SHAPE(8, 64, 12), "i8", "i16", 128, 1,
     "converted staged 16-bit copied", SAME},
    {"a (b b1) c -> (b1 b c) a", "b1=8", "index + a", SHAPE(8, 64, 12), "i8", "i12", 128, 1, "converted loose 12-bit",
     SAME},
    /* contiguous runs: whole rows change places */
    {"b h s d -> (b s h) d", "", "", SHAPE(2, 8, 30, 64), "i8", "", 512, 1, "contiguous copy_* of 64 bytes", SAME},
    {"a b c -> (b a) c", "", "", SHAPE(16, 24, 32), "f32", "", 1024, 1, "contiguous copy_* of 128 bytes", SAME},
    {"a b -> a b", "", "4*a", SHAPE(64, 16), "i8", "", 128, 1, "contiguous copy_* of 16 bytes", SAME},
    {"a b -> a b", "fill=keep lsb=8", "", SHAPE(64, 16), "i8", "", 192, 1, "contiguous copy_* of 16 bytes",
     SHUFFLED_WIDE("contiguous copy_* of 16 bytes")},
    /* transposed, every size of element; longer elements where neighbours stay together */
    {"r c -> c r", "", "", SHAPE(64, 96), "i8", "", 512, 1, "transpose_x8_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "bf16", "", 1024, 1, "transpose_x16_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "f32", "", 2048, 1, "transpose_x32_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "f64", "", 4096, 1, "transpose_x64_*", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 4), "f32", "", 8192, 1, "transpose_x128_*", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 8), "f32", "", 16384, 1, "transpose_x256_*", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 2), "u8", "", 1024, 1, "transpose_x16_*", SAME},
    {"r a c b -> (r c) (a b)", "", "", SHAPE(8, 16, 8, 16), "i8", "", 2048, 1, "transpose_x128_*", SAME},
    {"n c h w -> (n h w) c", "", "", SHAPE(2, 64, 14, 14), "i8", "", 512, 1, "transpose_x8_*", SAME},
    {"n h w c -> (n c h) w", "", "", SHAPE(2, 14, 32, 64), "f16", "", 512, 1, "transpose_x16_*", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 3), "u8", "", 1536, 1, "transpose_x24_{*|*|avx2|avx2}", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 6), "u8", "", 3072, 1, "transpose_x48_{*|*|avx2|avx2}", SAME},
    {"r c e -> c (r e)", "", "", SHAPE(64, 96, 3), "f32", "", 6144, 1, "transpose_x96_{*|*|avx2|avx2}", SAME},
    /* interleaved and deinterleaved: few lanes */
    {"c x -> x c", "", "", SHAPE(2, 600), "i8", "", 16, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "deinterleave_x8_{*|*|avx2|vbmi}"},
    {"c x -> x c", "", "", SHAPE(4, 600), "i8", "", 32, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "deinterleave_x8_{*|*|avx2|vbmi}"},
    {"c x -> x c", "", "", SHAPE(16, 600), "i8", "", 128, 1, "interleave_x8_{*|*|avx2|vbmi}", "transpose_x8_*"},
    {"c x -> x c", "", "", SHAPE(3, 600), "i8", "", 24, 1, SHUFFLED("places of 1 byte"), SAME},
    {"c x -> x c", "", "", SHAPE(4, 600), "i16", "", 64, 1, "interleave_x16_*", "deinterleave_x16_*"},
    {"c x -> x c", "", "", SHAPE(4, 600), "f32", "", 128, 1, "interleave_x32_*",
     "{transpose_x32_*|transpose_x32_*|deinterleave_x32_*|deinterleave_x32_*}"},
    {"c x -> x c", "", "", SHAPE(4, 600), "f64", "", 256, 1, "interleave_x64_*", "transpose_x64_*"},
    {"x c -> c x", "", "", SHAPE(600, 4), "i8", "", 4800, 1, "deinterleave_x8_{*|*|avx2|vbmi}",
     "interleave_x8_{*|*|avx2|vbmi}"},
    {"x c -> c x", "", "", SHAPE(600, 3), "u16", "", 9600, 1,
     "{deinterleave_x16_*|shuffle_x128_avx2|deinterleave_x16_*|deinterleave_x16_*}",
     "{interleave_x16_*|shuffle_x128_avx2|interleave_x16_*|interleave_x16_*}"},
    {"x c -> c x", "", "", SHAPE(600, 2), "f32", "", 19200, 1, "deinterleave_x32_*", "interleave_x32_*"},
    /* shuffled: short blocks, and lanes that no kernel is made for */
    {"c x -> (x c)", "", "", SHAPE(5, 600), "i8", "", 8, 1, SHUFFLED("places of 1 byte"), SAME},
    {"c x -> (x c)", "", "", SHAPE(7, 600), "u16", "", 16, 1, SHUFFLED_WIDE("transpose_x16_*"), "transpose_x16_*"},
    {"c x -> (x c)", "", "", SHAPE(11, 600), "i8", "", 8, 1, "transpose_x8_*", SAME},
    {"h w c -> (h w) c", "", "", SHAPE(30, 20, 3), "u8", "", 24, 1, SHUFFLED("contiguous copy_* of 3 bytes"), SAME},
    {"(a b) (c d) -> (a c) (b d)", "b=3 d=3", "", SHAPE(99, 300), "i8", "", 72, 1,
     "{transpose_x24_*|folded transpose_x24_*|folded transpose_x24_avx2|shuffle_x512_vbmi}",
     "{transpose_x24_*|shuffle_x128_*|shuffle_x128_avx2|shuffle_x512_vbmi}"},
    {"a b c -> (a c b)", "", "", SHAPE(500, 3, 5), "i8", "", 8, 1, SHUFFLED("places of 1 byte"), SAME},
    {"a b c -> (a c b)", "", "", SHAPE(500, 5, 7), "f32", "", 32, 1, SHUFFLED_WIDE("transpose_x32_*"), SAME},
    {"a b c d e -> (a d b e c)", "", "", SHAPE(200, 2, 3, 5, 7), "i8", "", 8, 1, SHUFFLED("places of 1 byte"), SAME},
    {"a b -> a b", "slot=24", "", SHAPE(64, 5), "i16", "", 128, 1,
     "{padded places of 2 bytes|padded places of 2 bytes|padded places of 2 bytes|padded shuffle_x512_vbmi}",
     SHUFFLED("places of 2 bytes")},
    {"a b -> a b", "lanes=msb", "", SHAPE(64, 4), "f32", "", 128, 1, SHUFFLED("places of 4 bytes"), SAME},
    /* folded: several short axes are the rows, or the columns, of one transpose */
    {"(a a1) b c -> (a c) (b a1)", "a1=2 lanes=msb", "", SHAPE(32, 50, 128), "u8", "", 800, 1,
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}", SAME},
    {"a b c d -> (d b) (c a)", "", "", SHAPE(3, 64, 5, 1021), "u16", "", 240, 1,
     "{places of 2 bytes|folded transpose_x16_*|folded transpose_x16_*|folded transpose_x16_*}", SAME},
    /* picks: four input channels of a kernel make one element */
    {"(o1 o0) (i1 i4 i0) h w -> (o1 i1 h w) (i4 o0 i0)", "o0=16 i4=4 i0=4", "", SHAPE(32, 32, 3, 3), "i8", "", 2048, 1,
     "{places of 1 byte|pick_x32_*|pick_x32_*|pick_x32_vbmi}",
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"a b c i j h -> (a b h i) (c j)", "", "", SHAPE(3, 16, 16, 4, 4, 9), "i8", "", 512, 1,
     "{places of 1 byte|pick_x32_*|pick_x32_*|pick_x32_vbmi}",
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"a b c i j h -> (a b h i) (c j)", "", "", SHAPE(3, 16, 16, 4, 2, 9), "i16", "", 512, 1,
     "{places of 2 bytes|pick_x32_*|pick_x32_*|pick_x32_vbmi}",
     "{places of 2 bytes|folded transpose_x16_*|folded transpose_x16_*|folded transpose_x16_*}"},
    /* packed bits */
    {"a b -> a b", "", "", SHAPE(64, 128), "u1", "", 128, 1, "packed 1-bit pack_x8_{*|*|*|vbmi}",
     "packed 1-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 64), "i2", "", 128, 1, "packed 2-bit pack_x8_{*|*|*|vbmi}",
     "packed 2-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 43), "u3", "", 129, 1, "staged 3-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 3-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 32), "i4", "", 128, 1, "packed 4-bit pack_x8_{*|*|*|vbmi}",
     "packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 32), "e2m1", "", 128, 1, "packed 4-bit pack_x8_{*|*|*|vbmi}",
     "packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 32), "e3m2", "", 192, 1, "packed 6-bit pack_x8_{*|*|*|vbmi}",
     "packed 6-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 10), "u12", "", 120, 1, "staged 12-bit pack_words_x16_{c|avx2|avx2|vbmi}",
     "staged 12-bit unpack_words_x16_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 10), "i24", "", 240, 1, "staged 24-bit pack_words_x32_{c|avx2|avx2|vbmi}",
     "staged 24-bit unpack_words_x32_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 10), "u48", "", 480, 1, "packed 48-bit pack_x64_{*|*|avx2|vbmi}",
     "packed 48-bit unpack_x64_{*|*|avx2|vbmi}"},
    {"a b -> b a", "", "", SHAPE(64, 32), "i4", "", 256, 1, "transposed packed 4-bit pack_x8_{*|*|*|vbmi}",
     "transposed packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b c -> (b a) c", "", "", SHAPE(16, 8, 32), "u1", "", 32, 1, "staged 1-bit pack_x8_{*|*|*|vbmi}",
     "staged 1-bit unpack_x8_{*|*|*|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 21), "i6", "", 128, 1, "staged 6-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 6-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    /* slots, bits from the top, beats */
    {"a b -> a b", "slot=8", "", SHAPE(64, 16), "i4", "", 128, 1, "cells 4-bit put_x8_{*|c|*|*}",
     "cells 4-bit get_x8_{*|c|*|*}"},
    {"a b -> a b", "slot=16", "", SHAPE(64, 8), "u12", "", 128, 1, "cells 12-bit put_x16_{*|c|*|*}",
     "cells 12-bit get_x16_{*|c|*|*}"},
    {"a b -> a b", "slot=16", "", SHAPE(64, 8), "i8", "", 128, 1, SHUFFLED_WIDE("contiguous copy_* of 1 byte"),
     SHUFFLED("contiguous copy_* of 1 byte")},
    {"a b -> a b", "slot=9", "", SHAPE(64, 8), "i8", "", 72, 1, "staged 8-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 8-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "slot=9", "", SHAPE(2, 8), "i8", "", 72, 1, "loose 8-bit", SAME},
    {"a b -> a b", "lanes=msb", "", SHAPE(64, 16), "i8", "", 128, 1, SHUFFLED("places of 1 byte"), SAME},
    {"a b -> a b", "lanes=msb", "", SHAPE(64, 32), "i4", "", 128, 1, "staged 4-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 4-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "beats=4", "", SHAPE(64, 64), "i8", "", 128, 1, "contiguous copy_* of 4096 bytes", SAME},
    {"a b -> a b", "beats=2", "", SHAPE(64, 3), "i12", "", 18, 1, "staged 12-bit pack_words_x16_{c|avx2|avx2|vbmi}",
     "staged 12-bit unpack_words_x16_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "beats=2", "", SHAPE(4, 3), "i12", "", 18, 1, "walk", SAME},
    {"a b -> a b", "beats=2", "8*a", SHAPE(64, 64), "f32", "", 1024, 1, "contiguous copy_* of 256 bytes", SAME},
    /* ragged: padded at both ends, clipped */
    {"a (b c) -> (a b) c", "c=16 pad=0", "", SHAPE(64, 50), "i8", "", 128, 1,
     "contiguous copy_* of 48 bytes + " PADDED("2 bytes"),
     "contiguous copy_* of 48 bytes + contiguous copy_* of 2 bytes"},
    {"a (b c) -> (a b) c", "c=16 pad=7 pad_at=begin", "", SHAPE(64, 50), "i8", "", 128, 1,
     "contiguous copy_* of 48 bytes + " PADDED("2 bytes"),
     "contiguous copy_* of 48 bytes + contiguous copy_* of 2 bytes"},
    {"a (b c) -> (a b) c", "c=16 tail=clip", "", SHAPE(64, 50), "i8", "", 128, 1,
     "contiguous copy_* of 48 bytes + contiguous copy_* of 2 bytes", SAME},
    {"(r s) (b c) -> (r b c) s", "s=16 c=16 pad=0", "", SHAPE(60, 50), "i8", "", 128, 1,
     "{interleave_x8_* + places of 1 byte + padded interleave_x8_* + padded places of 1 byte|interleave_x8_* + places "
     "of 1 byte + padded interleave_x8_* + padded places of 1 byte|interleave_x8_avx2 + places of 1 byte + padded "
     "interleave_x8_avx2 + padded places of 1 byte|interleave_x8_vbmi + shuffle_x512_vbmi + padded interleave_x8_vbmi "
     "+ padded places of 1 byte}",
     "{2 x transpose_x8_* + 2 x places of 1 byte|2 x transpose_x8_* + folded transpose_x8_* + places of 1 byte|2 x "
     "transpose_x8_* + folded transpose_x8_* + places of 1 byte|2 x transpose_x8_* + folded transpose_x8_* + places of "
     "1 byte}"},
    {"h w (c1 c0) -> (h w c1) c0", "c0=16 pad=0", "", SHAPE(20, 30, 3), "i8", "", 128, 1,
     "padded {contiguous copy_* of 3 bytes|shuffle_x128_avx2|pad_runs_* of 3 bytes|pad_runs_* of 3 bytes}",
     SHUFFLED("contiguous copy_* of 3 bytes")},
    {"(c1 c0) h w -> (h w c1) c0", "c0=16 pad=0", "", SHAPE(3, 20, 30), "i16", "", 256, 1, "padded places of 2 bytes",
     "{places of 2 bytes|places of 2 bytes|transpose_x16_*|two steps of shuffle_x512_vbmi}"},
    {"(c1 c0) h w -> (h w c1) c0", "c0=16 pad=0", "", SHAPE(3, 20, 30), "f32", "i8 scale=0.05", 128, 1,
     "converted padded transpose_x8_*", "converted staged 8-bit copied"},
    {"(r s) c -> (r c) s", "s=40 pad=9 fill=keep lsb=8", "", SHAPE(59, 50), "i8", "", 384, 1,
     "transpose_x8_* + padded transpose_x8_*", "2 x transpose_x8_*"},
    {"a b -> a b", "lsb=8", "", SHAPE(64, 16), "i8", "", 192, 1, PADDED("16 bytes"),
     SHUFFLED_WIDE("contiguous copy_* of 16 bytes")},
    {"(h g) (c k) -> g (h c) k", "g=4 k=16 pad=0", "", SHAPE(64, 50), "i8", "", 128, 4,
     "contiguous copy_* of 48 bytes by bank + staged 8-bit copied by bank", SAME},
    {"(a a1) (b b1 b2) -> (b a1 a b2 b1) 1", "a1=32 b1=64 b2=5 pad=0", "index ^ (index >> 5 & 1)", SHAPE(512, 640),
     "u7", "", 7, 1, "staged 7-bit pack_words_x8_{c|avx2|avx2|vbmi} by table",
     "staged 7-bit unpack_words_x8_{c|avx2|avx2|vbmi} by table"},
    {"a b -> (k a b) 1", "k=2 slot=5 fill=keep", "index ^ 5", SHAPE(56, 256), "u4", "", 5, 1,
     "staged 4-bit pack_words_x8_{c|avx2|avx2|vbmi}", "staged 4-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    {"a b -> (k a b) 1", "k=2 slot=5 fill=keep", "index ^ (index & 56) >> 3", SHAPE(56, 256), "u4", "", 5, 1,
     "staged 4-bit pack_words_x8_{c|avx2|avx2|vbmi} by table",
     "staged 4-bit unpack_words_x8_{c|avx2|avx2|vbmi} by table"},
    {"a (b c) -> (a b) c", "c=32 pad=0", "", SHAPE(64, 50), "i4", "", 128, 1,
     "staged 4-bit pack_x8_{*|*|*|vbmi} + staged 4-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 4-bit unpack_x8_{*|*|*|vbmi} + staged 4-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    /* banks and tables */
    {"c (h k) -> c h k", "k=16", "", SHAPE(4, 256), "i8", "", 128, 4, "gather of 256 bytes by bank", SAME},
    {"(h b) w -> b h w", "b=4", "", SHAPE(64, 16), "i8", "", 128, 4, "contiguous copy_* of 16 bytes by bank", SAME},
    {"(r b) c -> b c r", "b=4", "", SHAPE(256, 96), "i8", "", 512, 4, "transpose_x8_* by bank", SAME},
    {"h w c -> (h w) c", "", "bank = (h + w) % 4; addr = 16*h + w", SHAPE(16, 16, 16), "i8", "", 128, 4,
     "gather of 16 bytes by table", SAME},
    {"h w c -> (h w) c", "", "16*h + (w ^ (h & 15))", SHAPE(16, 16, 16), "i8", "", 128, 1,
     "gather of 16 bytes by table", SAME},
    {"h w c -> (h w) c", "", "16*h + (w ^ (h & 15))", SHAPE(16, 16, 64), "f32", "", 2048, 1,
     "gather of 256 bytes by table", SAME},
    {"c h w -> (h w) c", "", "16*h + (w ^ (h & 15))", SHAPE(16, 16, 16), "i8", "", 128, 1,
     "staged 8-bit copied by table", SAME},
    {"h w c -> (h w) c", "", "16*h + (w ^ (h & 15))", SHAPE(16, 16, 32), "i4", "", 128, 1,
     "staged 4-bit pack_x8_{*|*|*|vbmi} by table", "staged 4-bit unpack_x8_{*|*|*|vbmi} by table"},
    {"h w c -> (h w) c", "alias=last", "h + w", SHAPE(16, 16, 16), "i8", "", 128, 1, "walk by table",
     "cells 8-bit get_x8_{*|c|*|*} by table"},
    /* repeats and sliding windows */
    {"a b -> (a r) b", "r=3", "", SHAPE(64, 16), "i8", "", 128, 1, "transpose_x128_*",
     SHUFFLED_WIDE("contiguous copy_* of 16 bytes")},
    {"a b -> a (b r)", "r=2", "", SHAPE(64, 16), "i8", "", 256, 1, "interleave_x8_{*|*|avx2|vbmi}",
     SHUFFLED("contiguous copy_* of 1 byte")},
    {"a -> a r", "r=16", "", SHAPE(64), "i8", "", 128, 1, "interleave_x8_{*|*|avx2|vbmi}",
     SHUFFLED_WIDE("contiguous copy_* of 1 byte")},
    {"(x + k) c -> (x k) c", "k=3", "", SHAPE(34, 16), "i8", "", 128, 1, "contiguous copy_* of 48 bytes",
     "contiguous copy_* of 48 bytes + contiguous copy_* of 16 bytes"},
    {"(x + k) c -> (x k) c", "k=3", "", SHAPE(35, 16), "i8", "", 128, 1, "contiguous copy_* of 48 bytes",
     "contiguous copy_* of 48 bytes + contiguous copy_* of 32 bytes"},
    {"(3*x + k) c -> (x k) c", "k=3", "", SHAPE(36, 16), "i8", "", 128, 1, "contiguous copy_* of 576 bytes", SAME},
    {"(x + 2*k) c -> (x k) c", "k=3", "", SHAPE(36, 16), "i8", "", 128, 1, "transpose_x128_*",
     "2 x " SHUFFLED_WIDE("contiguous copy_* of 16 bytes")},
    {"c (x + k) -> x (k c)", "k=3", "", SHAPE(16, 66), "i8", "", 384, 1, "transpose_x8_*",
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    /* converted, both ways */
    {"a b -> a b", "", "", SHAPE(64, 16), "f32", "i8 scale=0.05", 128, 1, "converted contiguous of 1024 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 16), "f32", "bf16", 256, 1, "converted contiguous of 2048 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 16), "i8", "f32", 512, 1, "converted contiguous of 1024 bytes", SAME},
    {"a b -> a b", "", "", SHAPE(64, 32), "f32", "i4 scale=0.5", 128, 1, "converted packed 4-bit pack_x8_{*|*|*|vbmi}",
     "converted packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"r c -> c r", "", "", SHAPE(64, 96), "f32", "i8 scale=0.05", 512, 1, "converted transpose_x8_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "i8", "f32", 2048, 1, "converted transpose_x8_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "f16", "bf16", 1024, 1, "converted transpose_x16_*", SAME},
    {"r c -> c r", "", "", SHAPE(64, 96), "f64", "i16", 1024, 1, "converted transpose_x16_*", SAME},
    {"c x -> x c", "", "", SHAPE(4, 600), "f32", "i8 scale=0.05", 32, 1, "converted interleave_x8_{*|*|avx2|vbmi}",
     "converted deinterleave_x8_{*|*|avx2|vbmi}"},
    {"x c -> c x", "", "", SHAPE(600, 4), "f32", "f16", 9600, 1, "converted deinterleave_x16_*",
     "converted interleave_x16_*"},
    {"a b c i j h -> (a b h i) (c j)", "", "", SHAPE(3, 16, 16, 4, 4, 9), "f32", "i8 scale=0.05", 512, 1,
     "converted {staged 8-bit copied|pick_x32_*|pick_x32_*|pick_x32_vbmi}", "converted staged 8-bit copied"},
    {"r c -> c r", "", "", SHAPE(64, 96), "f32", "i4 scale=0.5", 256, 1,
     "converted transposed packed 4-bit pack_x8_{*|*|*|vbmi}",
     "converted transposed packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"h w c -> (h w) c", "", "16*h + (w ^ (h & 15))", SHAPE(16, 16, 16), "f32", "i8 scale=0.05", 128, 1,
     "converted staged 8-bit copied by table", SAME},
    /* few values side by side are converted in a scratch; a dump leaves alone what a load has to clear */
    {"a b -> (a b) ()", "", "", SHAPE(64, 32), "i32", "i16", 48, 1,
     "converted staged 16-bit pack_words_x16_{c|avx2|avx2|vbmi}", "converted staged 16-bit copied"},
    {"a b -> a b", "", "2*a", SHAPE(64, 31), "f32", "i8 scale=0.05", 248, 1, "converted staged 8-bit copied", SAME},
    {"a b -> a b", "", "2*a", SHAPE(33, 31), "f32", "i8 scale=0.05", 248, 1, "converted contiguous of 31 bytes", SAME},
    {"a b -> a b", "", "2*a", SHAPE(64, 32), "f32", "i8 scale=0.05", 256, 1, "converted contiguous of 32 bytes", SAME},
    {"a (b c) -> (a b) c", "c=16 pad=0", "", SHAPE(256, 26), "f32", "i8 scale=0.05", 128, 1,
     "2 x converted staged 8-bit copied", SAME},
    {"a b -> a b", "slot=16", "", SHAPE(64, 33), "i12", "", 528, 1, "cells 12-bit put_x16_{c|c|avx512|avx512}",
     "staged 12-bit unpack_words_x16_{c|avx2|avx2|vbmi}"},
    {"a b -> (b a) ()", "", "", SHAPE(7, 600), "u14", "", 17, 1, "staged 14-bit pack_words_x16_{c|avx2|avx2|vbmi}",
     "staged 14-bit unpack_words_x16_{c|avx2|avx2|vbmi}"},
    {"a b -> a b", "", "", SHAPE(64, 32), "f32", "e2m1", 128, 1, "converted packed 4-bit pack_x8_{*|*|*|vbmi}",
     "converted packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    /* presets */
    {"preset:row_major cs=16", "", "", SHAPE(8, 64), "i8", "", 128, 1, "contiguous copy_* of 512 bytes", SAME},
    {"preset:nvdla_feature", "", "", SHAPE(1, 64, 14, 14), "i8", "", 256, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "transpose_x8_*"},
    {"preset:nvdla_weight", "", "", SHAPE(64, 128, 3, 3), "i8", "", 8, 1,
     "{transpose_x8_*|folded transpose_x8_*|transpose_x8_*|transpose_x8_*}", SAME},
    {"preset:vta_activation", "", "", SHAPE(1, 64, 14, 14), "i8", "", 128, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "transpose_x8_*"},
    {"preset:vta_weight", "", "", SHAPE(64, 64, 3, 3), "i8", "", 2048, 1,
     "{transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*|shuffle_x512_vbmi}",
     "{transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"preset:nhcwb16", "", "", SHAPE(1, 14, 14, 64), "i8", "", 128, 1, "transpose_x128_*", SAME},
    {"preset:nc1hwc0 c0=32", "", "", SHAPE(1, 64, 14, 14), "i8", "", 256, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "transpose_x8_*"},
    {"preset:nc1hwc0 c0=16", "", "", SHAPE(1, 3, 32, 32), "u8", "", 128, 1,
     "padded {places of 1 byte|places of 1 byte|places of 1 byte|shuffle_x512_vbmi}",
     "{places of 1 byte|places of 1 byte|transpose_x8_*|two steps of shuffle_x512_vbmi}"},
    {"preset:nc1hwc0 c0=16", "", "", SHAPE(1, 3, 33, 31), "i16", "", 256, 1, "padded places of 2 bytes",
     "{places of 2 bytes|places of 2 bytes|transpose_x16_*|two steps of shuffle_x512_vbmi}"},
    {"preset:fractal_nz n0=32", "", "", SHAPE(64, 128), "i8", "", 256, 1, "transpose_x256_*", SAME},
    {"preset:fractal_z c0=32", "", "", SHAPE(64, 64, 3, 3), "i8", "", 256, 1,
     "{transpose_x8_*|folded interleave_x8_*|folded interleave_x8_avx2|folded interleave_x8_vbmi}",
     "{transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"preset:nchw16c", "", "", SHAPE(1, 64, 14, 14), "f32", "", 512, 1, "transpose_x32_*", SAME},
    {"preset:oihw4i16o4i", "", "", SHAPE(64, 64, 3, 3), "i8", "", 2048, 1,
     "{padded places of 1 byte|padded pick_x32_*|padded pick_x32_*|padded pick_x32_vbmi}",
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"preset:vnni", "", "", SHAPE(64, 64), "i8", "", 2048, 1,
     "{padded places of 1 byte|padded folded transpose_x8_*|padded folded transpose_x8_*|padded folded transpose_x8_*}",
     "{places of 1 byte|folded transpose_x8_*|folded transpose_x8_*|folded transpose_x8_*}"},
    {"preset:amx_b", "", "", SHAPE(64, 64), "i8", "", 512, 1,
     "{places of 1 byte|folded interleave_x8_*|folded interleave_x8_avx2|shuffle_x512_vbmi}",
     "{places of 1 byte|shuffle_x128_*|shuffle_x128_avx2|shuffle_x512_vbmi}"},
    {"preset:tpu", "", "", SHAPE(64, 256), "f32", "", 8192, 1, "interleave_x32_*", "deinterleave_x32_*"},
    {"preset:tenstorrent", "", "", SHAPE(64, 64), "bf16", "", 256, 1, "transpose_x256_*", SAME},
    {"preset:hexagon", "", "", SHAPE(1, 64, 64, 64), "i8", "", 1024, 1,
     "{padded places of 1 byte|padded shuffle_x128_*|padded shuffle_x128_avx2|padded shuffle_x512_vbmi}",
     SHUFFLED("places of 1 byte")},
    {"preset:int4_onnx", "", "", SHAPE(64, 64), "i4", "", 8, 1, "packed 4-bit pack_x8_{*|*|*|vbmi}",
     "packed 4-bit unpack_x8_{*|*|*|vbmi}"},
    {"preset:int4_ggml", "", "", SHAPE(64, 64), "u4", "", 128, 1, "staged 4-bit pack_words_x8_{c|avx2|avx2|vbmi}",
     "staged 4-bit unpack_words_x8_{c|avx2|avx2|vbmi}"},
    {"preset:mx_scale", "", "", SHAPE(64, 4), "e8m0", "", 8, 1,
     "{contiguous copy_* of 1 byte|shuffle_x128_avx2|shuffle_x128_avx2|shuffle_x512_vbmi}",
     "interleave_x8_{*|*|avx2|vbmi}"},
    {"preset:nvfp4_scale", "", "", SHAPE(128, 16), "e4m3", "", 8, 1,
     "{contiguous copy_* of 1 byte|contiguous copy_* of 1 byte|contiguous copy_* of 1 byte|shuffle_x512_vbmi}",
     "interleave_x8_{*|*|avx2|vbmi}"},
    {"preset:scale_128x4", "", "", SHAPE(256, 16), "e8m0", "", 128, 1,
     "{places of 4 bytes|folded interleave_x32_*|folded interleave_x32_*|shuffle_x512_vbmi}", SAME},
    {"preset:sparse24_values", "", "", SHAPE(64, 32), "f16", "", 32, 1, "contiguous copy_* of 4096 bytes", SAME},
    {"preset:sparse24_index", "", "", SHAPE(64, 32), "u2", "", 16, 1, "packed 2-bit pack_x8_{*|*|*|vbmi}",
     "packed 2-bit unpack_x8_{*|*|*|vbmi}"},
    {"preset:xor_swizzle b=3 m=3 s=3", "", "", SHAPE(64, 64), "f16", "", 128, 1, "gather of 2 bytes by table", SAME},
    /* addresses that are understood: strides of digits, and small tables */
    {"n c -> n c", "", "bank = index % 8; addr = index / 8", SHAPE(4096, 4), "f32", "", 128, 8,
     "staged 32-bit copied by bank", SAME},
    {"n c -> n c", "", "bank = index % 8; addr = index / 8", SHAPE(4096, 8), "f32", "", 256, 8,
     "contiguous copy_* of 32 bytes by bank", SAME},
    {"(a a1 a2) b -> (a1 a a2 b) ()", "a1=2 a2=5", "bank = index % 8; addr = index / 8", SHAPE(1280, 102), "f16", "",
     16, 8, "8 x staged 16-bit copied by table", SAME},
    {"n c -> n c", "", "index % 4 * 1024 + index / 4", SHAPE(4096, 4), "i8", "", 32, 1,
     "{transpose_x32_*|transpose_x32_*|deinterleave_x32_*|deinterleave_x32_*}", "interleave_x32_*"},
    /* rings: few rectangles that have strides of their own, whatever word they begin with */
    {"n c -> n c", "", "(index + 0) % 4096", SHAPE(4096, 4), "i8", "", 32, 1, "contiguous copy_* of 16384 bytes", SAME},
    {"n c -> n c", "", "(index + 1) % 4096", SHAPE(4096, 4), "i8", "", 32, 1,
     "contiguous copy_* of 16380 bytes + contiguous copy_* of 4 bytes", SAME},
    {"n c -> n c", "", "(index + 4093) % 4096", SHAPE(4096, 4), "i8", "", 32, 1,
     "contiguous copy_* of 12 bytes + contiguous copy_* of 16372 bytes", SAME},
    {"n c -> n c", "", "5 + (index + 990) % 1000", SHAPE(1000, 4), "i8", "", 32, 1,
     "contiguous copy_* of 40 bytes + contiguous copy_* of 3960 bytes", SAME},
    {"n c -> n c", "", "(index + 1100) % 1103", SHAPE(1000, 4), "i8", "", 32, 1,
     "contiguous copy_* of 12 bytes + contiguous copy_* of 3988 bytes", SAME},
    {"h w c -> (h w) c", "", "(index + 5) % 4096", SHAPE(64, 64, 4), "i8", "", 32, 1,
     "contiguous copy_* of 16128 bytes + contiguous copy_* of 236 bytes + contiguous copy_* of 20 bytes", SAME},
    {"n c -> n c", "", "index ^ 7", SHAPE(4096, 4), "i8", "", 32, 1, SHUFFLED("places of 4 bytes"), SAME},
    {"h w c -> (h w) c", "", "64*h + (w ^ (h & 63))", SHAPE(512, 64, 4), "i8", "", 32, 1, "gather of 4 bytes by table",
     SAME},
    {"n c -> n c", "", "rev(index, 12)", SHAPE(4096, 4), "i8", "", 32, 1, "gather of 4 bytes by table", SAME},
    {"n c -> n c", "", "(index & 63) | (index >> 6) << 6", SHAPE(4096, 4), "i8", "", 32, 1,
     "contiguous copy_* of 16384 bytes", SAME},
    {"preset:bank_interleave banks=8", "", "", SHAPE(256, 16), "i8", "", 128, 8,
     "{staged 8-bit pack_words_x8_* by bank|staged 8-bit pack_words_x8_* by bank|staged 8-bit pack_words_x8_avx2 by "
     "bank|staged 8-bit pack_words_x8_vbmi by bank}",
     "staged 8-bit copied by bank"},
    {"preset:bank_rows", "", "", SHAPE(4096), "i8", "", 128, 8,
     "{staged 8-bit pack_words_x8_* by bank|staged 8-bit pack_words_x8_* by bank|staged 8-bit pack_words_x8_avx2 by "
     "bank|staged 8-bit pack_words_x8_vbmi by bank}",
     "staged 8-bit copied by bank"},
    {"preset:fft_bitrev bits=8", "", "", SHAPE(256), "f32", "", 32, 1, "gather of 4 bytes by table", SAME},
    {"preset:morton", "", "", SHAPE(16, 16), "i8", "", 8, 1, "gather of 1 byte by table", SAME},
    {"preset:rnn_gates", "", "", SHAPE(256, 64), "i8", "", 32, 1, "interleave_x8_{*|*|avx2|vbmi}",
     "deinterleave_x8_{*|*|avx2|vbmi}"},
    {"preset:im2col", "", "", SHAPE(1, 16, 16, 16), "i8", "", 1152, 1,
     "{places of 3 bytes|shuffle_x128_*|shuffle_x128_avx2|shuffle_x512_vbmi}",
     "{2 x places of 3 bytes + places of 1 byte + contiguous copy_* of 1 byte|2 x shuffle_x128_* + places of 1 byte + "
     "contiguous copy_* of 1 byte|2 x shuffle_x128_avx2 + places of 1 byte + contiguous copy_* of 1 byte|2 x "
     "shuffle_x512_vbmi + places of 1 byte + contiguous copy_* of 1 byte}"},
};
#define CASES (sizeof cases / sizeof cases[0])

static const struct {
    const char *name; /* of the kernels that it has of its own, for `*` */
    unsigned flags;
} isas[] = {
    {"c", TD_CPU_C},
    {"avx2", TD_CPU_AVX2},
    {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512},
    {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512 | TD_CPU_VBMI},
};

/* The text for one instruction set. */
static const char *expand(const char *text, size_t isa)
{
    static char out[512];
    size_t used = 0, choice = 0;
    bool choosing = false;
    for (; *text; text++) {
        if (*text == '{' || *text == '}') {
            choosing = *text == '{';
            choice = 0;
        } else if (choosing && *text == '|')
            choice++;
        else if (!choosing || choice == isa)
            used += (size_t)snprintf(out + used, sizeof out - used, *text == '*' ? "%s" : "%.1s",
                                     *text == '*' ? isas[isa].name : text);
        assert_true(used < sizeof out);
    }
    out[used] = '\0';
    return out;
}

/* Prints what differs, and returns how much. */
static int check_case(const path_case *c, size_t isa)
{
    td_layout *layout = NULL;
    td_plan_request request = {.shape = &c->shape};
    td_plan *plan = NULL;
    td_as as;
    int wrong = 0;
    ASSERT_OK(td_layout_create(c->pattern, c->options, c->address, &layout));
    request.layout = layout;
    ASSERT_OK(td_dtype_parse(c->dtype, &request.tensor_dtype));
    ASSERT_OK(td_as_parse(c->as ? c->as : "", request.tensor_dtype, &as));
    request.memory_dtype = as.dtype;
    request.geometry = (td_geometry){.width_bits = c->width_bits,
                                     .depth_words = (uint64_t)1 << 24,
                                     .banks = c->banks ? c->banks : 1,
                                     .word_bytes = td_word_bytes(c->width_bits)};
    ASSERT_OK(td_plan_create(&request, &plan));
    for (int dump = 0; dump < 2; dump++) {
        char *found = NULL;
        ASSERT_OK(td_plan_paths(plan, dump, &found));
        const char *expected = expand(dump && c->dump ? c->dump : c->load, isa);
        if (strcmp(found, expected) != 0) {
            print_error("a %s of %s by \"%s\" (options \"%s\", address \"%s\") on %s takes \"%s\", not \"%s\"\n",
                        dump ? "dump" : "load", c->dtype, c->pattern, c->options, c->address, isas[isa].name, found,
                        expected);
            wrong++;
        }
        td_free(found);
    }
    td_plan_release(&plan);
    td_layout_destroy(&layout);
    return wrong;
}

static void every_layout_gets_its_kernel(void **state)
{
    (void)state;
    td_cpu_mask(TD_CPU_ALL);
    const unsigned machine = td_cpu_flags();
    int wrong = 0;
    for (size_t isa = 0; isa < sizeof isas / sizeof isas[0]; isa++) {
        if ((machine & isas[isa].flags) != isas[isa].flags)
            continue;
        td_cpu_mask(isas[isa].flags);
        for (size_t i = 0; i < CASES; i++)
            wrong += check_case(&cases[i], isa);
    }
    td_cpu_mask(TD_CPU_ALL);
    assert_int_equal(wrong, 0);
}

static void check_line(const char *pattern, const char *options, const char *address, const char *expected)
{
    td_layout *layout = NULL;
    td_plan *plan = NULL;
    char *line = NULL;
    const td_shape shape = SHAPE(6, 10);
    td_plan_request request = {.shape = &shape,
                               .geometry = {.width_bits = 64, .depth_words = 256, .banks = 1, .word_bytes = 8}};
    ASSERT_OK(td_layout_create(pattern, options, address, &layout));
    ASSERT_OK(td_dtype_parse("i8", &request.tensor_dtype));
    request.memory_dtype = request.tensor_dtype;
    request.layout = layout;
    ASSERT_OK(td_plan_create(&request, &plan));
    ASSERT_OK(td_plan_describe(plan, &line));
    assert_string_equal(line, expected);
    td_free(line);
    td_plan_release(&plan);
    td_layout_destroy(&layout);
}

/* The whole line: boxes with their loops, padding, cleared words and tables, and both paths with their loops. */
static void the_line_says_everything(void **state)
{
    (void)state;
    td_cpu_mask(TD_CPU_C);
    check_line(
        "r c -> c r", "", "",
        "move [10:1:64][6:10:8]; clear [10:0:64]; load padded places of 1 byte (1x10); dump places of 1 byte (1x10)");
    check_line("r (c d) -> (r c) d", "d=4 pad=0", "",
               "move [6:10:192][2:4:64][4:1:8] + [6:10:192][2:1:8]; pad [6:10:192][2:1:8]; clear [18:0:64]; load "
               "padded places of 4 bytes (1x6) + padded contiguous copy_c of 2 bytes (6x2); dump places of 4 bytes "
               "(1x6) + contiguous copy_c of 2 bytes (6x2)");
    check_line("r c -> (r c) 1", "", "16*r + (r ^ c)",
               "move @[60:1:1]; clear @[60:0:1]; table of 60 words; load gather of 1 byte by table (1x1); dump gather "
               "of 1 byte by table (1x1)");
    check_line(
        "r c -> (r c) 1", "alias=last", "c",
        "move [10:1:64][6:10:0]; clear [10:0:64][6:0:0]; load contiguous copy_c of 1 byte (10x1); dump places of 1 "
        "byte (1x10)");
    check_line("r c -> (r c) 1", "alias=last", "r + c",
               "move @[6:10:10]@[10:1:1]; clear @[6:0:10]@[10:0:1]; table of 60 words, in order; load walk by table; "
               "dump cells 8-bit get_x8_c by table");
    td_cpu_mask(TD_CPU_ALL);
}

/* Tables that leave the words of a line together, in one piece or a few, are moved by lines where kernels can. */
static void tables_move_lines(void **state)
{
    static const struct {
        const char *pattern, *options, *address, *dtype;
        uint64_t width_bits, banks;
        bool lines;
    } rows[] = {
        {"r c -> (r c) 1", "", "index ^ (index >> 2 & 3)", "i8", 8, 1, true},
        {"r c -> (c r) 1", "", "index ^ (index & 448) >> 3", "u5", 5, 1, true},
        {"r c -> (r c) 1", "", "index ^ (index >> 3 & 1)", "i16", 16, 1, true},
        {"r c -> (r c) 1", "", "index ^ (index >> 2 & 3)", "f32", 32, 1, true},
        {"r c -> (r c) 1", "", "index ^ (index >> 2 & 3)", "i64", 64, 1, true},
        {"r c -> (r c) 1", "", "index ^ (index >> 2 & 3)", "i64", 128, 1, false},
        {"r c -> (k r c) 1", "k=2", "index ^ (index >> 2 & 3)", "i8", 8, 1, true},
        {"r c -> (r c) 1", "", "100*r + (c + r) % 100", "i8", 8, 1, true}, /* a rotation: lines in two pieces */
        {"r c -> (r c) 1", "", "bank = (index ^ r) % 4; addr = index / 4", "i8", 8, 4, true},
        {"r c -> (r c) 1", "", "bank = (index ^ r) % 8; addr = index / 8", "i16", 16, 8, false},
        {"r c -> (r c) 1", "", "index*(index + 1)/2 % 16384", "i8", 8, 1, false},
        {"r c -> (r c) 1", "alias=last", "(index ^ (index >> 2 & 3)) & 4095", "i8", 8, 1, false},
    };
    const td_shape shape = SHAPE(128, 100), power = SHAPE(128, 128);
    (void)state;
    td_cpu_mask(TD_CPU_ALL);
    const unsigned machine = td_cpu_flags();
    for (int vbmi = 0; vbmi < 2; vbmi++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            td_layout *layout = NULL;
            td_plan *plan = NULL;
            char *line = NULL;
            const bool triangular = strstr(rows[i].address, "16384") != NULL;
            td_plan_request request = {.shape = triangular ? &power : &shape,
                                       .geometry = {.width_bits = rows[i].width_bits,
                                                    .depth_words = 1 << 16,
                                                    .banks = rows[i].banks,
                                                    .word_bytes = td_word_bytes(rows[i].width_bits)}};
            td_cpu_mask(vbmi ? TD_CPU_ALL : TD_CPU_AVX2);
            ASSERT_OK(td_layout_create(rows[i].pattern, rows[i].options, rows[i].address, &layout));
            ASSERT_OK(td_dtype_parse(rows[i].dtype, &request.tensor_dtype));
            request.memory_dtype = request.tensor_dtype;
            request.layout = layout;
            ASSERT_OK(td_plan_create(&request, &plan));
            ASSERT_OK(td_plan_describe(plan, &line));
            const bool expected = rows[i].lines && vbmi && machine & TD_CPU_VBMI;
            if ((strstr(line, ", in lines") != NULL) != expected)
                fail_msg("\"%s\" at \"%s\" of %s: %s", rows[i].pattern, rows[i].address, rows[i].dtype, line);
            td_free(line);
            td_plan_release(&plan);
            td_layout_destroy(&layout);
        }
    td_cpu_mask(TD_CPU_ALL);
}

/* Words by table that are all words from one to another are filled as one run; where one is missing, each by itself. */
static void fills_are_one_run(void **state)
{
    static const struct {
        const char *address;
        bool joined;
    } rows[] = {{"index ^ 1", true}, {"(index ^ 1) + 3", true}, {"(index ^ 1) + index / 58 * 2", false}};
    const td_shape shape = SHAPE(6, 10);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_layout *layout = NULL;
        td_plan *plan = NULL;
        td_plan_request request = {.shape = &shape,
                                   .geometry = {.width_bits = 64, .depth_words = 256, .banks = 1, .word_bytes = 8}};
        ASSERT_OK(td_layout_create("r c -> (r c) 1", "", rows[i].address, &layout));
        ASSERT_OK(td_dtype_parse("i8", &request.tensor_dtype));
        request.memory_dtype = request.tensor_dtype;
        request.layout = layout;
        ASSERT_OK(td_plan_create(&request, &plan));
        assert_int_equal(plan->fill_count, 1);
        assert_int_equal(plan->fill[0].box.selectors == 0, rows[i].joined);
        td_plan_release(&plan);
        td_layout_destroy(&layout);
    }
}

/* Words past the tensor's end, which no load writes, may lie past the memory: they cost no layout its strides. */
static void a_memory_may_end_with_the_tensor(void **state)
{
    static const char too_small[] = "address 228113 of word k0=25 kg=1 c0=52 c1=6 h=2 w=2 of \"(kg k0) (c1 c0) h w -> "
                                    "(kg c1 h w k0 c0) 1\" is past "
                                    "the memory of 228113 words; use smaller addresses, or a depth of at least 228114";
    const td_shape shape = SHAPE(58, 437, 3, 3);
    (void)state;
    td_cpu_mask(TD_CPU_C);
    for (uint64_t depth = 228113; depth <= 228114; depth++) {
        td_layout *layout = NULL;
        td_plan *plan = NULL;
        char *paths = NULL;
        td_plan_request request = {.shape = &shape,
                                   .geometry = {.width_bits = 8, .depth_words = depth, .banks = 1, .word_bytes = 1}};
        ASSERT_OK(td_layout_create("preset:nvdla_weight", "dtype=i8", "", &layout));
        ASSERT_OK(td_dtype_parse("i8", &request.tensor_dtype));
        request.memory_dtype = request.tensor_dtype;
        request.layout = layout;
        if (depth == 228113) {
            assert_int_equal(td_plan_create(&request, &plan), TD_RANGE);
            assert_memory_equal(td_last_error(), too_small, sizeof too_small - 1);
        } else {
            ASSERT_OK(td_plan_create(&request, &plan));
            ASSERT_OK(td_plan_paths(plan, false, &paths));
            assert_string_equal(paths, "4 x transpose_x8_c");
        }
        td_free(paths);
        td_plan_release(&plan);
        td_layout_destroy(&layout);
    }
    td_cpu_mask(TD_CPU_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_layout_gets_its_kernel),
                                       cmocka_unit_test(the_line_says_everything), cmocka_unit_test(tables_move_lines),
                                       cmocka_unit_test(fills_are_one_run),
                                       cmocka_unit_test(a_memory_may_end_with_the_tensor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
