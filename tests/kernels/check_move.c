/* Every moving kernel of every instruction set of this machine against the rule, on edges: one element to two tiles and one
 * more, strides that are no multiple of anything, bases off their alignment, and guard bytes around and between the rows.
 * The table of kernels/move.h makes the list. */
#include "base/cpu.h"
#include "kernels/move.h"
#include "kernels/pick.h"

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

/* Elements of every size from blocks of many lengths, whose bytes lie near and far, for one row to three vectors of them. */
static void check_picks(const td_picks *like, unsigned flags, size_t rows)
{
    td_picks p = *like;
    const ptrdiff_t dst_stride = (ptrdiff_t)(rows * p.size + rows % 3 * 5), part_stride = p.cols * dst_stride + 7;
    const ptrdiff_t src_stride = p.bytes + (ptrdiff_t)rows % 4 * 3;
    const size_t used = (size_t)(p.parts * part_stride) + 256;
    (void)td_picks_prepare(&p, flags);
    memset(dst, GUARD, used);
    memset(expected, GUARD, used);
    for (size_t part = 0; part < p.parts; part++)
        for (size_t c = 0; c < p.cols; c++)
            for (size_t r = 0; r < rows; r++)
                for (size_t b = 0; b < p.size; b++)
                    expected[64 + (ptrdiff_t)part * part_stride + (ptrdiff_t)c * dst_stride +
                             (ptrdiff_t)(r * p.size + b)] =
                        src[3 + (ptrdiff_t)r * src_stride + p.index[(part * p.cols + c) * p.size + b]];
    p.fn(&p, dst + 64, dst_stride, part_stride, src + 3, src_stride, rows, rows % 2);
    td_move_fence();
    if (memcmp(dst, expected, used) != 0)
        fail_msg("pick, flags %u: %zu rows, %u parts of %u columns of %u bytes", flags, rows, p.parts, p.cols, p.size);
}

static void test_pick(void **state)
{
    (void)state;
    static const unsigned shape[][4] = {/* size, parts, columns; bytes of a column are so far apart */
                                        {4, 4, 9, 9}, {4, 1, 36, 9}, {2, 3, 5, 15}, {2, 1, 40, 40}, {8, 2, 4, 4},
                                        {8, 1, 1, 3}, {4, 1, 5, 5},  {4, 7, 3, 3},  {2, 1, 128, 1}, {8, 1, 32, 32}};
    const unsigned all = td_cpu_flags(), flags[] = {TD_CPU_C, all & TD_CPU_AVX2, all & ~(unsigned)TD_CPU_VBMI, all};
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        td_picks p = {.size = (uint8_t)shape[i][0], .parts = (uint16_t)shape[i][1], .cols = (uint16_t)shape[i][2]};
        p.bytes = (uint16_t)(p.size * p.parts * p.cols);
        for (unsigned k = 0; k < p.bytes; k++)
            p.index[k] = (uint8_t)((k / p.size + k % p.size * shape[i][3]) % p.bytes);
        for (size_t isa = 0; isa < 4; isa++)
            for (size_t rows = 1; rows <= 3 * 64u / p.size; rows += rows % 7 + 1)
                check_picks(&p, flags[isa], rows);
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
            cmocka_unit_test(test_pick),
    };
    return cmocka_run_group_tests(tests, make_room, free_room);
}
