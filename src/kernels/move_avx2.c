/* The moving kernels for AVX2. */
#include "kernels/move.h"

#include "kernels/vector_avx2.inc"

#define KERNEL(name) TARGET TD_MOVE_KERNEL(name, avx2)

#include "kernels/transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

#include "kernels/interleave_avx2.inc"

/* Elements of a whole vector. */
KERNEL(transpose_x256)
{
    stream = stream && (uintptr_t)dst % VEC_BYTES == 0 && dst_stride % VEC_BYTES == 0;
    for (size_t c = 0; c < cols; c++, dst += dst_stride, src += 32) {
        const unsigned char *in = src;
        for (size_t r = 0; r < rows; r++, in += src_stride)
            put(dst + r * 32, _mm256_loadu_si256((const __m256i *)(const void *)in), stream);
    }
}

/* -- runs */

#include "kernels/copy_runs.inc"

KERNEL(copy)
{
    if (stream) {
        for (; rows; rows--, dst += dst_stride, src += src_stride)
            stream_run(dst, src, cols);
        return;
    }
    copy_runs(dst, dst_stride, src, src_stride, rows, cols);
}

#include "kernels/transpose_odd.inc"

#define X(name, size, rule)                                                                                            \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        odd(dst, dst_stride, src, src_stride, rows, cols, size);                                                       \
    }
TD_MOVE_ODD_KERNELS(X)
#undef X

void td_move_init_avx2(td_move_kernels *kernels)
{
#define X(name, size, rule) kernels->name = td_##name##_avx2;
    TD_MOVE_KERNELS(X)
#undef X
}
