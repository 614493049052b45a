/* The moving kernels for AVX-512 F, BW, DQ and VL; interleaving of bytes is in move_vbmi.c. */
#include "kernels/move.h"
#include "kernels/pack.h"

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_MOVE_KERNEL(name, avx512)

#include "kernels/transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

/* Elements of half a vector: two rows are one. */
KERNEL(transpose_x256)
{
    stream = stream && (uintptr_t)dst % VEC_BYTES == 0 && dst_stride % VEC_BYTES == 0;
    for (size_t c = 0; c < cols; c++, dst += dst_stride, src += 32) {
        const unsigned char *in = src;
        size_t r = 0;
        for (; r + 2 <= rows; r += 2, in += 2 * src_stride) {
            const vec z = load_halves(in, src_stride);
            if (stream)
                stream_store(dst + r * 32, z);
            else
                store(dst + r * 32, z);
        }
        if (r < rows)
            memcpy(dst + r * 32, in, 32);
    }
}

#include "kernels/interleave_avx512.inc"

/* Three rows: element p of the run is column p / 3 of row p % 3; back, column c of row r is element 3 * c + r. */
static const uint16_t weave3_index_x16[96] = {
    0,  0,  0,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  5,  5,  5,  6,  6,  6,  7,  7,  7,
    8,  8,  8,  9,  9,  9,  10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15,
    16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20, 20, 21, 21, 21, 22, 22, 22, 23, 23, 23,
    24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27, 27, 28, 28, 28, 29, 29, 29, 30, 30, 30, 31, 31, 31};
static const uint16_t unweave3_index_x16[96] = {
    0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 2,  5,
    8,  11, 14, 17, 20, 23, 26, 29, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 2,  5,  8,  11, 14,
    17, 20, 23, 26, 29, 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 2,  5,  8,  11, 14, 17, 20, 23,
    26, 29, 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31};
static const uint32_t weave3_index_x32[48] = {0,  0,  0,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  5,
                                              5,  5,  6,  6,  6,  7,  7,  7,  8,  8,  8,  9,  9,  9,  10, 10,
                                              10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15};
static const uint32_t unweave3_index_x32[48] = {0, 3, 6, 9,  12, 15, 2, 5, 8,  11, 14, 1, 4, 7, 10, 13,
                                                1, 4, 7, 10, 13, 0,  3, 6, 9,  12, 15, 2, 5, 8, 11, 14,
                                                2, 5, 8, 11, 14, 1,  4, 7, 10, 13, 0,  3, 6, 9, 12, 15};
static const uint64_t weave3_index_x64[24] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7};
static const uint64_t unweave3_index_x64[24] = {0, 3, 6, 1, 4, 7, 2, 5, 1, 4, 7, 2, 5, 0, 3, 6, 2, 5, 0, 3, 6, 1, 4, 7};

THREE(16, epi16, __mmask32)
THREE(32, epi32, __mmask16)
THREE(64, epi64, __mmask8)

INTERLEAVE(16, 2)
INTERLEAVE(32, 4)
INTERLEAVE(64, 8)

/* -- runs */

INLINE void copy_lines(unsigned char *dst, const unsigned char *src, const size_t bytes)
{
    vec z[8];
    _Pragma("GCC unroll 8") for (size_t i = 0; i < bytes / 64; i++) z[i] = _mm512_loadu_si512(src + 64 * i);
    _Pragma("GCC unroll 8") for (size_t i = 0; i < bytes / 64; i++) store(dst + 64 * i, z[i]);
}

#define RUNS(size)                                                                                                     \
    case size:                                                                                                         \
        for (; rows; rows--, dst += dst_stride, src += src_stride)                                                     \
            memcpy(dst, src, size);                                                                                    \
        break;

/* Short runs that follow one another on one side are cells on the other (kernels/pack.h). */
#define ELEMS(size, bits)                                                                                              \
    case size:                                                                                                         \
        if (dst_stride == (size) && is_cells(src_stride, rows))                                                        \
            td_get_x##bits##_avx512(dst, src, src_stride, rows, bits, false);                                          \
        else if (src_stride == (size) && is_cells(dst_stride, rows))                                                   \
            td_put_x##bits##_avx512(dst, dst_stride, src, rows, bits);                                                 \
        else                                                                                                           \
            for (; rows; rows--, dst += dst_stride, src += src_stride)                                                 \
                memcpy(dst, src, size);                                                                                \
        break;

static bool is_cells(ptrdiff_t stride, size_t rows)
{
    return rows >= 16 && (stride == 2 || stride == 4 || stride == 8);
}

/* Lines that are written a few runs later are prefetched: the processor sees reads coming, not writes. */
#define RUNS_AHEAD 4

#define LINES(size)                                                                                                    \
    case size:                                                                                                         \
        for (; rows; rows--, dst += dst_stride, src += src_stride) {                                                   \
            for (ptrdiff_t at = 0; at < (size); at += 64)                                                              \
                __builtin_prefetch(dst + RUNS_AHEAD * dst_stride + at, 1);                                             \
            copy_lines(dst, src, size);                                                                                \
        }                                                                                                              \
        break;

KERNEL(copy)
{
    if (stream) {
        for (; rows; rows--, dst += dst_stride, src += src_stride)
            stream_run(dst, src, cols);
        return;
    }
    switch (cols) {
        ELEMS(1, 8)
        ELEMS(2, 16)
        ELEMS(4, 32)
        RUNS(8)
        RUNS(16)
        RUNS(32)
        LINES(64)
        LINES(128)
        LINES(256)
    default:
        if (cols < 64) {
            const __mmask64 mask = ((__mmask64)1 << cols) - 1;
            for (; rows; rows--, dst += dst_stride, src += src_stride)
                _mm512_mask_storeu_epi8(dst, mask, _mm512_maskz_loadu_epi8(mask, src));
        } else
            for (; rows; rows--, dst += dst_stride, src += src_stride)
                memcpy(dst, src, cols);
    }
}

void td_move_init_avx512(td_move_kernels *kernels)
{
    kernels->transpose_x8 = td_transpose_x8_avx512;
    kernels->transpose_x16 = td_transpose_x16_avx512;
    kernels->transpose_x32 = td_transpose_x32_avx512;
    kernels->transpose_x64 = td_transpose_x64_avx512;
    kernels->transpose_x128 = td_transpose_x128_avx512;
    kernels->transpose_x256 = td_transpose_x256_avx512;
    kernels->interleave_x16 = td_interleave_x16_avx512;
    kernels->interleave_x32 = td_interleave_x32_avx512;
    kernels->interleave_x64 = td_interleave_x64_avx512;
    kernels->deinterleave_x16 = td_deinterleave_x16_avx512;
    kernels->deinterleave_x32 = td_deinterleave_x32_avx512;
    kernels->deinterleave_x64 = td_deinterleave_x64_avx512;
    kernels->copy = td_copy_avx512;
}
