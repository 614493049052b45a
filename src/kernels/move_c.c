/* The moving kernels in plain C: the rule that the other versions follow byte for byte. Elements are read and written with
 * memcpy of a constant size, so nothing has to be aligned. */
#include "base/cpu.h"
#include "kernels/move.h"

#include <string.h>

#define BLOCK 16 /* elements on an edge of what is moved at once: both sides stay in the first cache */

static inline __attribute__((always_inline)) void transpose(unsigned char *dst, ptrdiff_t dst_stride,
                                                            const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                                                            size_t cols, size_t size)
{
    for (size_t c0 = 0; c0 < cols; c0 += BLOCK) {
        const size_t c1 = cols - c0 < BLOCK ? cols : c0 + BLOCK;
        for (size_t r0 = 0; r0 < rows; r0 += BLOCK) {
            const size_t r1 = rows - r0 < BLOCK ? rows : r0 + BLOCK;
            for (size_t c = c0; c < c1; c++) {
                unsigned char *out = dst + (ptrdiff_t)c * dst_stride + r0 * size;
                const unsigned char *in = src + (ptrdiff_t)r0 * src_stride + c * size;
                for (size_t r = r0; r < r1; r++, out += size, in += src_stride)
                    memcpy(out, in, size);
            }
        }
    }
}

#define TRANSPOSE(name, size)                                                                                          \
    static void name(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,         \
                     size_t rows, size_t cols, bool stream)                                                            \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        transpose(dst, dst_stride, src, src_stride, rows, cols, size);                                                 \
    }

TRANSPOSE(transpose_x8, 1)
TRANSPOSE(transpose_x16, 2)
TRANSPOSE(transpose_x32, 4)
TRANSPOSE(transpose_x64, 8)
TRANSPOSE(transpose_x128, 16)
TRANSPOSE(transpose_x256, 32)

/* Few rows or few columns: the same rule, the short loop inside. */
static inline __attribute__((always_inline)) void
interleave(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t cols, size_t size)
{
    for (size_t c = 0; c < cols; c++)
        for (size_t r = 0; r < rows; r++, dst += size)
            memcpy(dst, src + (ptrdiff_t)r * src_stride + c * size, size);
}

static inline __attribute__((always_inline)) void
deinterleave(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, size_t rows, size_t cols, size_t size)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++, src += size)
            memcpy(dst + (ptrdiff_t)c * dst_stride + r * size, src, size);
}

#define SHORT(bits, size)                                                                                              \
    static void interleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,                 \
                                   ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                        \
    {                                                                                                                  \
        (void)dst_stride, (void)stream;                                                                                \
        interleave(dst, src, src_stride, rows, cols, size);                                                            \
    }                                                                                                                  \
    static void deinterleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,               \
                                     ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                      \
    {                                                                                                                  \
        (void)src_stride, (void)stream;                                                                                \
        deinterleave(dst, dst_stride, src, rows, cols, size);                                                          \
    }

SHORT(8, 1)
SHORT(16, 2)
SHORT(32, 4)
SHORT(64, 8)

#define INLINE static inline

#include "kernels/copy_runs.inc"

static void copy(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                 size_t cols, bool stream)
{
    (void)stream;
    copy_runs(dst, dst_stride, src, src_stride, rows, cols);
}

void td_move_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

void td_move_init(td_move_kernels *kernels, unsigned cpu_flags)
{
#define X(name, size) kernels->name = name;
    TD_MOVE_KERNELS(X)
#undef X
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX2)
        td_move_init_avx2(kernels);
    if (cpu_flags & TD_CPU_AVX512)
        td_move_init_avx512(kernels, (cpu_flags & TD_CPU_VBMI) != 0);
#elif defined(__aarch64__)
    if (cpu_flags & TD_CPU_NEON)
        td_move_init_neon(kernels);
#else
    (void)cpu_flags;
#endif
}
