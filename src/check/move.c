/* Every moving kernel of every instruction set of this machine against the rule, on edges: one element to two tiles and
 * one more, strides that are no multiple of anything, bases off their alignment, and guard bytes around and between the
 * rows. The table of kernels/move.h makes the list. */
#include "kernels/move.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define GUARD 0xA5

typedef enum rule { RULE_transpose, RULE_odd, RULE_interleave, RULE_deinterleave, RULE_copy } rule;

typedef struct kernel {
    const char *name, *isa;
    size_t size;
    rule rule;
    td_move_fn fn;
} kernel;

static unsigned char *src, *dst, *expected;

/* The rule, one element at a time. */
static void move_by_rule(const kernel *k, unsigned char *out, ptrdiff_t dst_stride, const unsigned char *in,
                         ptrdiff_t src_stride, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            if (k->rule == RULE_copy)
                out[(ptrdiff_t)r * dst_stride + (ptrdiff_t)c] = in[(ptrdiff_t)r * src_stride + (ptrdiff_t)c];
            else
                memcpy(out + (ptrdiff_t)c * dst_stride + (ptrdiff_t)(r * k->size),
                       in + (ptrdiff_t)r * src_stride + (ptrdiff_t)(c * k->size), k->size);
        }
}

static void check_way(const kernel *k, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t rows, size_t cols,
                      size_t shift, bool stream, bool back_dst, bool back_src)
{
    const size_t out_rows = k->rule == RULE_copy ? rows : cols, in_high = rows * (size_t)src_stride,
                 out_high = out_rows * (size_t)dst_stride;
    const size_t used = (in_high > out_high ? in_high : out_high) + 256;
    const ptrdiff_t to = 64 + (ptrdiff_t)shift + (back_dst ? (ptrdiff_t)(out_rows - 1) * dst_stride : 0),
                    from = 64 + 2 * (ptrdiff_t)shift + (back_src ? (ptrdiff_t)(rows - 1) * src_stride : 0);
    assert_true(used + 512 < BUFFER_BYTES);
    memset(dst, GUARD, used);
    memset(expected, GUARD, used);
    dst_stride = back_dst ? -dst_stride : dst_stride;
    src_stride = back_src ? -src_stride : src_stride;
    move_by_rule(k, expected + to, dst_stride, src + from, src_stride, rows, cols);
    k->fn(dst + to, dst_stride, src + from, src_stride, rows, cols, stream);
    td_move_fence();
    if (memcmp(dst, expected, used) != 0)
        fail_msg("%s_%s: %zu rows, %zu columns, strides %td to %td, base + %zu%s", k->name, k->isa, rows, cols,
                 src_stride, dst_stride, shift, stream ? ", streamed" : "");
}

/* Rows forward and backward, but for those that have to follow one another. */
static void check(const kernel *k, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t rows, size_t cols, size_t shift,
                  bool stream)
{
    for (int way = 0; way < 4; way++)
        if (!(way & 1 && k->rule == RULE_interleave) && !(way & 2 && k->rule == RULE_deinterleave))
            check_way(k, dst_stride, src_stride, rows, cols, shift, stream, way & 1, way & 2);
}

static void check_transposes(const kernel *k)
{
    const size_t tile = k->size < 64 ? 64 / k->size : 1, wide = k->size < 16 ? 16 / k->size : 1;
    for (size_t rows = 1; rows <= 2 * tile + 1; rows += rows < 5 ? 1 : rows % 7 + 1)
        for (size_t cols = 1; cols <= 2 * wide + 1; cols++)
            check(k, (ptrdiff_t)(rows * k->size + cols % 3 * 5), (ptrdiff_t)(cols * k->size + rows % 4 * 3), rows, cols,
                  rows % 5, false);
    for (size_t cols = 64; cols <= 67; cols++) /* rows that fall on one set of the cache */
        check(k, (ptrdiff_t)(40 * k->size + 3), 4096, 40, cols, cols % 3, false);
    for (size_t rows = 127; rows <= 130;
         rows++) /* and more of them than the caches take, close to such a distance too */
        for (ptrdiff_t near = -20; near <= 20; near += 5) {
            const size_t cols = (1024 - 20) / k->size - rows % 3;
            check(k, (ptrdiff_t)(rows * k->size + rows % 4), 1024 + near, rows, cols, rows % 5, false);
        }
    check(k, (ptrdiff_t)(2 * tile * k->size), (ptrdiff_t)(3 * wide * k->size + 1), 2 * tile, 3 * wide, 0, true);
    check(k, (ptrdiff_t)(128), 4096, 128 / k->size, 64 / k->size + wide, 0, true);
    for (size_t rows = 1; rows <= 3 * tile; rows += rows % 5 + 1) /* streamed from any place */
        check(k, (ptrdiff_t)(rows * k->size + 3), 1024, rows, 64 / k->size + 3, rows % 9, true);
}

static void check_shorts(const kernel *k)
{
    static const size_t lanes[] = {1, 2, 3, 4, 5, 7, 8, 16, 32};
    const bool in = k->rule == RULE_interleave;
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
        for (size_t n = 1; n <= 2 * 64 / k->size + 1; n++) {
            const ptrdiff_t dense = (ptrdiff_t)(lanes[i] * k->size), apart = (ptrdiff_t)(n * k->size + n % 3 * 7);
            if (in)
                check(k, dense, apart, lanes[i], n, n % 4, false);
            else
                check(k, apart, dense, n, lanes[i], n % 4, false);
        }
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        const ptrdiff_t dense = (ptrdiff_t)(lanes[i] * k->size);
        if (in)
            check(k, dense, (ptrdiff_t)(256 * k->size), lanes[i], 256, 0, true);
        else
            check(k, (ptrdiff_t)(256 * k->size), dense, 256, lanes[i], 0, true);
    }
}

static void check_copies(const kernel *k)
{
    for (size_t cols = 1; cols <= 300; cols++)
        check(k, (ptrdiff_t)(cols + cols % 5), (ptrdiff_t)(cols + cols % 3), 1 + cols % 4, cols, cols % 7, false);
    for (size_t cols = 1; cols <= 4; cols *= 2) /* cells on either side */
        for (size_t stride = cols; stride <= 12; stride += cols)
            for (size_t rows = 1; rows <= 130; rows += rows < 20 ? 1 : rows % 7 + 5) {
                check(k, (ptrdiff_t)cols, (ptrdiff_t)stride, rows, cols, rows % 7, false);
                check(k, (ptrdiff_t)stride, (ptrdiff_t)cols, rows, cols, rows % 7, false);
            }
    for (size_t cols = 1; cols <= 700; cols += 9)
        check(k, (ptrdiff_t)(cols + 64 - cols % 64), (ptrdiff_t)cols, 3, cols, cols % 7, true);
    /* Runs of several pages are streamed four at a time: a byte less, lines and bytes behind them, heads before. */
    static const size_t large[] = {16383, 16384, 16385, 16447, 16448, 17000, 32767, 32768, 33061};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        for (size_t shift = 0; shift < 64; shift += 21)
            check(k, (ptrdiff_t)large[i] + 64, (ptrdiff_t)large[i], 2, large[i], shift, true);
}

static void check_kernel(const kernel *k)
{
    switch (k->rule) {
    case RULE_transpose:
    case RULE_odd:
        check_transposes(k);
        break;
    case RULE_interleave:
    case RULE_deinterleave:
        check_shorts(k);
        break;
    case RULE_copy:
        check_copies(k);
    }
}

#define X(name, size, rule)                                                                                            \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        CHECK_VERSIONS(move, check_kernel, name, size, RULE_##rule);                                                   \
    }
TD_MOVE_KERNELS(X)
#undef X

static int make_buffers(void **state)
{
    (void)state;
    src = aligned_alloc(64, BUFFER_BYTES);
    dst = aligned_alloc(64, BUFFER_BYTES);
    expected = aligned_alloc(64, BUFFER_BYTES);
    if (!src || !dst || !expected)
        return -1;
    for (size_t i = 0; i < BUFFER_BYTES; i++)
        src[i] = (unsigned char)((i * 2654435761u >> 13) ^ (td_check_salt() * i >> 7));
    return 0;
}

static int free_buffers(void **state)
{
    (void)state;
    free(src);
    free(dst);
    free(expected);
    return 0;
}

/* -- with --bench: the same table, timed on a block that the second-level cache holds, in turns with memcpy of the same
 * bytes; the fastest of the rounds counts */

#define BENCH_BYTES ((size_t)128 << 10)

/* Rows and columns of about BENCH_BYTES: square, or with 4 on the short side. */
static void bench_run(const kernel *k)
{
    const size_t elems = BENCH_BYTES / k->size;
    size_t edge = 8;
    while (edge * edge * 4 <= elems)
        edge *= 2;
    switch (k->rule) {
    case RULE_transpose:
    case RULE_odd:
        k->fn(dst, (ptrdiff_t)(edge * k->size), src, (ptrdiff_t)(elems / edge * k->size), edge, elems / edge, false);
        break;
    case RULE_interleave:
        k->fn(dst, (ptrdiff_t)(4 * k->size), src, (ptrdiff_t)(elems / 4 * k->size), 4, elems / 4, false);
        break;
    case RULE_deinterleave:
        k->fn(dst, (ptrdiff_t)(elems / 4 * k->size), src, (ptrdiff_t)(4 * k->size), elems / 4, 4, false);
        break;
    case RULE_copy:
        k->fn(dst, 64, src, 64, BENCH_BYTES / 64, 64, false);
    }
}

static void bench_kernel(const kernel *k)
{
    BENCH(bench_run, k, dst, src, BENCH_BYTES);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (make_buffers(NULL))
        return 1;
    printf("kernel: memcpy's time by its own, %zu KiB\n", BENCH_BYTES >> 10);
#define X(name, size, rule) CHECK_VERSIONS(move, bench_kernel, name, size, RULE_##rule);
    TD_MOVE_KERNELS(X)
#undef X
    return free_buffers(NULL);
}

static const td_check checks[] = {
#define X(name, size, rule) TD_CHECK(test_##name),
    TD_MOVE_KERNELS(X)
#undef X
};

TD_CHECK_FAMILY(move, checks, make_buffers, free_buffers, bench);
