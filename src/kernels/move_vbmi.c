/* Interleaving of bytes for AVX-512 VBMI, which permutes them across a whole vector. */
#include "kernels/move.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_MOVE_KERNEL(name, vbmi)

#include "kernels/transpose_tile.inc"

#include "kernels/interleave_avx512.inc"

/* Three rows: element p of the run is column p / 3 of row p % 3; back, column c of row r is element 3 * c + r. */
static const uint8_t weave3_index_x8[192] = {
    0,  0,  0,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  5,  5,  5,  6,  6,  6,  7,  7,  7,  8,  8,  8,  9,
    9,  9,  10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16, 16, 17, 17, 17, 18, 18,
    18, 19, 19, 19, 20, 20, 20, 21, 21, 21, 22, 22, 22, 23, 23, 23, 24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27, 27,
    28, 28, 28, 29, 29, 29, 30, 30, 30, 31, 31, 31, 32, 32, 32, 33, 33, 33, 34, 34, 34, 35, 35, 35, 36, 36, 36, 37,
    37, 37, 38, 38, 38, 39, 39, 39, 40, 40, 40, 41, 41, 41, 42, 42, 42, 43, 43, 43, 44, 44, 44, 45, 45, 45, 46, 46,
    46, 47, 47, 47, 48, 48, 48, 49, 49, 49, 50, 50, 50, 51, 51, 51, 52, 52, 52, 53, 53, 53, 54, 54, 54, 55, 55, 55,
    56, 56, 56, 57, 57, 57, 58, 58, 58, 59, 59, 59, 60, 60, 60, 61, 61, 61, 62, 62, 62, 63, 63, 63};
static const uint8_t unweave3_index_x8[192] = {
    0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 2,  5,  8,  11, 14, 17,
    20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 59, 62, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 34, 37,
    40, 43, 46, 49, 52, 55, 58, 61, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 49, 52, 55, 58,
    61, 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 2,  5,  8,  11, 14,
    17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 59, 62, 2,  5,  8,  11, 14, 17, 20, 23, 26, 29, 32, 35,
    38, 41, 44, 47, 50, 53, 56, 59, 62, 1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 49, 52, 55,
    58, 61, 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63};

THREE(8, epi8, __mmask64)

INLINE void block_x8(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                     size_t rows, size_t cols)
{
    td_transpose_x8_avx512(dst, dst_stride, src, src_stride, rows, cols, false);
}

INTERLEAVE(8, 1)

void td_move_init_vbmi(td_move_kernels *kernels)
{
    kernels->interleave_x8 = td_interleave_x8_vbmi;
    kernels->deinterleave_x8 = td_deinterleave_x8_vbmi;
}
