/* Every moving kernel of every instruction set of this machine against the rule, on edges: one element to two tiles and one
 * more, strides that are no multiple of anything, bases off their alignment, and guard bytes around and between the rows.
 * The table of kernels/move.h makes the list. */
#include "cpu.h"
#include "kernels/move.h"
#include "kernels/shuffle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define ROOM ((size_t)1 << 20)
#define GUARD 0xA5

typedef enum shape_kind { TRANSPOSE, INTERLEAVE, DEINTERLEAVE, COPY } shape_kind;

typedef struct kernel {
    const char *name;
    size_t size;
    td_move_fn fn[3];
} kernel;

static unsigned char *src, *dst, *expected;

static shape_kind kind_of(const char *name)
{
    return name[0] == 't' ? TRANSPOSE : name[0] == 'i' ? INTERLEAVE : name[0] == 'd' ? DEINTERLEAVE : COPY;
}

/* The rule, one element at a time. */
static void move_by_rule(const kernel *k, unsigned char *out, ptrdiff_t dst_stride, const unsigned char *in,
                         ptrdiff_t src_stride, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            if (kind_of(k->name) == COPY)
                out[(ptrdiff_t)r * dst_stride + (ptrdiff_t)c] = in[(ptrdiff_t)r * src_stride + (ptrdiff_t)c];
            else
                memcpy(out + (ptrdiff_t)c * dst_stride + (ptrdiff_t)(r * k->size),
                       in + (ptrdiff_t)r * src_stride + (ptrdiff_t)(c * k->size), k->size);
        }
}

static void check(const kernel *k, int isa, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t rows, size_t cols,
                  size_t shift, bool stream)
{
    const size_t in_high = rows * (size_t)src_stride,
                 out_high = (kind_of(k->name) == COPY ? rows : cols) * (size_t)dst_stride;
    const size_t used = (in_high > out_high ? in_high : out_high) + 256;
    assert_true(used + 512 < ROOM);
    memset(dst, GUARD, used);
    memset(expected, GUARD, used);
    move_by_rule(k, expected + 64 + shift, dst_stride, src + 64 + 2 * shift, src_stride, rows, cols);
    k->fn[isa](dst + 64 + shift, dst_stride, src + 64 + 2 * shift, src_stride, rows, cols, stream);
    td_move_fence();
    if (memcmp(dst, expected, used) != 0)
        fail_msg("%s version %d: %zu rows, %zu columns, strides %td to %td, base + %zu%s", k->name, isa, rows, cols,
                 src_stride, dst_stride, shift, stream ? ", streamed" : "");
}

static void check_transposes(const kernel *k, int isa)
{
    const size_t tile = k->size < 64 ? 64 / k->size : 1, wide = k->size < 16 ? 16 / k->size : 1;
    for (size_t rows = 1; rows <= 2 * tile + 1; rows += rows < 5 ? 1 : rows % 7 + 1)
        for (size_t cols = 1; cols <= 2 * wide + 1; cols++)
            check(k, isa, (ptrdiff_t)(rows * k->size + cols % 3 * 5), (ptrdiff_t)(cols * k->size + rows % 4 * 3), rows,
                  cols, rows % 5, false);
    for (size_t cols = 64; cols <= 67; cols++) /* rows that fall on one set of the cache */
        check(k, isa, (ptrdiff_t)(40 * k->size + 3), 4096, 40, cols, cols % 3, false);
    check(k, isa, (ptrdiff_t)(2 * tile * k->size), (ptrdiff_t)(3 * wide * k->size + 1), 2 * tile, 3 * wide, 0, true);
    check(k, isa, (ptrdiff_t)(128), 4096, 128 / k->size, 64 / k->size + wide, 0, true);
    for (size_t rows = 1; rows <= 3 * tile; rows += rows % 5 + 1) /* streamed from any place */
        check(k, isa, (ptrdiff_t)(rows * k->size + 3), 1024, rows, 64 / k->size + 3, rows % 9, true);
}

static void check_shorts(const kernel *k, int isa)
{
    static const size_t lanes[] = {1, 2, 3, 4, 5, 7, 8, 16, 32};
    const bool in = kind_of(k->name) == INTERLEAVE;
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
        for (size_t n = 1; n <= 2 * 64 / k->size + 1; n++) {
            const ptrdiff_t straight = (ptrdiff_t)(lanes[i] * k->size), loose = (ptrdiff_t)(n * k->size + n % 3 * 7);
            if (in)
                check(k, isa, straight, loose, lanes[i], n, n % 4, false);
            else
                check(k, isa, loose, straight, n, lanes[i], n % 4, false);
        }
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        const ptrdiff_t straight = (ptrdiff_t)(lanes[i] * k->size);
        if (in)
            check(k, isa, straight, (ptrdiff_t)(256 * k->size), lanes[i], 256, 0, true);
        else
            check(k, isa, (ptrdiff_t)(256 * k->size), straight, 256, lanes[i], 0, true);
    }
}

static void check_copies(const kernel *k, int isa)
{
    for (size_t cols = 1; cols <= 300; cols++)
        check(k, isa, (ptrdiff_t)(cols + cols % 5), (ptrdiff_t)(cols + cols % 3), 1 + cols % 4, cols, cols % 7, false);
    for (size_t cols = 1; cols <= 700; cols += 9)
        check(k, isa, (ptrdiff_t)(cols + 64 - cols % 64), (ptrdiff_t)cols, 3, cols, cols % 7, true);
}

static void check_kernel(const kernel *k)
{
    for (int isa = 0; isa < 3; isa++)
        switch (kind_of(k->name)) {
        case TRANSPOSE:
            check_transposes(k, isa);
            break;
        case INTERLEAVE:
        case DEINTERLEAVE:
            check_shorts(k, isa);
            break;
        default:
            check_copies(k, isa);
        }
}

/* What the machine has not, is the version below it again. */
static td_move_kernels version[3];

#define X(name, size)                                                                                                  \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_kernel(&(kernel){#name, size, {version[0].name, version[1].name, version[2].name}});                     \
    }
TD_MOVE_KERNELS(X)
#undef X

/* Blocks of every length by a list that turns them round, and what lies behind the last row is not touched. */
static void test_shuffle(void **state)
{
    (void)state;
    const td_shuffle_fn fn[] = {td_shuffle_c, td_shuffle_choose(td_cpu_flags())};
    for (size_t i = 0; i < 2; i++)
        for (size_t bytes = 1; bytes <= TD_SHUFFLE_BYTES; bytes++) {
            const size_t rows = 1 + bytes % 5, pitch = TD_SHUFFLE_PITCH(bytes);
            uint8_t index[TD_SHUFFLE_BYTES];
            for (size_t b = 0; b < bytes; b++)
                index[b] = (uint8_t)((b * 7 + 3) % bytes);
            memset(dst, GUARD, rows * pitch + 64);
            fn[i](dst, src + bytes % 3, (ptrdiff_t)bytes + 5, rows, bytes, index);
            for (size_t r = 0; r < rows; r++)
                for (size_t b = 0; b < bytes; b++)
                    assert_int_equal(dst[r * pitch + b], src[bytes % 3 + r * (bytes + 5) + index[b]]);
            for (size_t b = 0; b < 64; b++)
                assert_int_equal(dst[rows * pitch + b], GUARD);
        }
}

static int make_room(void **state)
{
    (void)state;
    src = aligned_alloc(64, ROOM);
    dst = aligned_alloc(64, ROOM);
    expected = aligned_alloc(64, ROOM);
    if (!src || !dst || !expected)
        return -1;
    for (size_t i = 0; i < ROOM; i++)
        src[i] = (unsigned char)(i * 2654435761u >> 13);
    const unsigned flags = td_cpu_flags();
    td_move_init(&version[0], TD_CPU_C);
    td_move_init(&version[1], flags & TD_CPU_AVX2);
    td_move_init(&version[2], flags);
    return 0;
}

static int free_room(void **state)
{
    (void)state;
    free(src);
    free(dst);
    free(expected);
    return 0;
}

/* -- with --bench -------------------------------------------------------------------------------------------------------
 *
 * The same table, timed: a block that the second-level cache holds, each version by its time against memcpy of the same bytes,
 * in turns; the fastest of the rounds. */

#define ROUNDS 31
#define BENCH_BYTES ((size_t)128 << 10)

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Rows and columns of about BENCH_BYTES: square, or with 4 on the short side. */
static void bench_run(const kernel *k, td_move_fn fn)
{
    const size_t elems = BENCH_BYTES / k->size;
    size_t edge = 8;
    while (edge * edge * 4 <= elems)
        edge *= 2;
    switch (kind_of(k->name)) {
    case TRANSPOSE:
        fn(dst, (ptrdiff_t)(edge * k->size), src, (ptrdiff_t)(elems / edge * k->size), edge, elems / edge, false);
        break;
    case INTERLEAVE:
        fn(dst, (ptrdiff_t)(4 * k->size), src, (ptrdiff_t)(elems / 4 * k->size), 4, elems / 4, false);
        break;
    case DEINTERLEAVE:
        fn(dst, (ptrdiff_t)(elems / 4 * k->size), src, (ptrdiff_t)(4 * k->size), elems / 4, 4, false);
        break;
    default:
        fn(dst, 64, src, 64, BENCH_BYTES / 64, 64, false);
    }
}

static void bench_kernel(const kernel *k)
{
    double best[4] = {1e18, 1e18, 1e18, 1e18};
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < 4; who++) {
            const double start = now_ns();
            if (who < 3)
                bench_run(k, k->fn[who]);
            else
                memcpy(dst, src, BENCH_BYTES);
            const double ns = now_ns() - start;
            best[who] = ns < best[who] ? ns : best[who];
        }
    printf("%-18s c %.3f  avx2 %.3f  best %.3f\n", k->name, best[3] / best[0], best[3] / best[1], best[3] / best[2]);
}

static int bench(void)
{
    if (make_room(NULL))
        return 1;
    printf("kernel: memcpy's time by that of each version, %zu KiB\n", BENCH_BYTES >> 10);
#define X(name, size) bench_kernel(&(kernel){#name, size, {version[0].name, version[1].name, version[2].name}});
    TD_MOVE_KERNELS(X)
#undef X
    return free_room(NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0)
        return bench();
    const struct CMUnitTest tests[] = {
#define X(name, size) cmocka_unit_test(test_##name),
        TD_MOVE_KERNELS(X)
#undef X
            cmocka_unit_test(test_shuffle),
    };
    return cmocka_run_group_tests(tests, make_room, free_room);
}
