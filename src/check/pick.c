/* Every picking kernel of every instruction set of this machine against the rule: elements of every size from blocks of
 * many lengths, whose bytes lie near and far, for one row to three vectors of them, odd strides, a base off its
 * alignment, and guard bytes around and between the rows. The table of kernels/pick.h makes the list. */
#include "kernels/pick.h"
#include "check/check.h"
#include "check/versions.h"
#include "kernels/move.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define GUARD 0xA5

typedef struct kernel {
    const char *name, *isa;
    unsigned size, window;
    td_pick_fn fn;
} kernel;

static _Alignas(64) unsigned char src[BUFFER_BYTES], dst[BUFFER_BYTES], expected[BUFFER_BYTES];

static void check(const kernel *k, const td_picks *p, size_t rows)
{
    const ptrdiff_t dst_stride = (ptrdiff_t)(rows * p->size + rows % 3 * 5), part_stride = p->cols * dst_stride + 7;
    const ptrdiff_t src_stride = p->bytes + (ptrdiff_t)rows % 4 * 3;
    const size_t used = (size_t)(p->parts * part_stride) + 256;
    memset(dst, GUARD, used);
    memset(expected, GUARD, used);
    for (size_t part = 0; part < p->parts; part++)
        for (size_t c = 0; c < p->cols; c++)
            for (size_t r = 0; r < rows; r++)
                for (size_t b = 0; b < p->size; b++)
                    expected[64 + (ptrdiff_t)part * part_stride + (ptrdiff_t)c * dst_stride +
                             (ptrdiff_t)(r * p->size + b)] =
                        src[3 + (ptrdiff_t)r * src_stride + p->index[(part * p->cols + c) * p->size + b]];
    k->fn(p, dst + 64, dst_stride, part_stride, src + 3, src_stride, rows, rows % 2);
    td_move_fence();
    if (memcmp(dst, expected, used) != 0)
        fail_msg("%s_%s: %zu rows, %u parts of %u columns of %u bytes", k->name, k->isa, rows, p->parts, p->cols,
                 p->size);
}

/* Parts, columns; bytes of a column are so many elements apart. */
static const unsigned shape[][3] = {{4, 9, 9}, {1, 36, 9}, {3, 5, 15}, {1, 40, 40}, {2, 4, 4}, {1, 1, 3},
                                    {1, 5, 5}, {7, 3, 3},  {1, 60, 1}, {1, 32, 32}, {1, 8, 3}, {2, 16, 2}};

#define SHAPES (sizeof shape / sizeof shape[0])

/* The picks of one shape; false where this size has no such block, or the kernel does not take it. */
static bool make_picks(const kernel *k, size_t i, td_picks *p)
{
    const unsigned bytes = k->size * shape[i][0] * shape[i][1];
    *p = (td_picks){.size = (uint8_t)k->size, .parts = (uint16_t)shape[i][0], .cols = (uint16_t)shape[i][1]};
    if (bytes > TD_PICK_BYTES)
        return false;
    p->bytes = (uint16_t)bytes;
    for (unsigned b = 0; b < bytes; b++)
        p->index[b] = (uint8_t)((b / k->size + b % k->size * shape[i][2]) % bytes);
    return td_picks_list(p, k->window) || strcmp(k->isa, "c") == 0;
}

static void check_kernel(const kernel *k)
{
    size_t taken = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        td_picks p;
        if (!make_picks(k, i, &p))
            continue;
        taken++;
        for (size_t rows = 1; rows <= 3 * 64u / k->size; rows += rows % 7 + 1)
            check(k, &p, rows);
    }
    assert_true(taken >= 3);
}

#define X(name, size, window)                                                                                          \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        CHECK_VERSIONS(pick, check_kernel, name, size, window);                                                        \
    }
TD_PICK_KERNELS(X)
#undef X

/* What prepare chooses works too, whether it is worth it or not. */
static void what_is_prepared_follows_the_rule(void **state)
{
    (void)state;
    for (const version *v = all_versions(); v->isa; v++)
        for (unsigned size = 2; size <= 8; size *= 2)
            for (size_t i = 0; i < SHAPES; i++) {
                td_picks p;
                kernel k = {"prepared", "c", size, 16, NULL};
                (void)make_picks(&k, i, &p);
                if (!p.bytes)
                    continue;
                if (td_picks_prepare(&p, v->flags) && v->flags == TD_CPU_C)
                    fail_msg("plain C is not worth it");
                k.isa = v->isa;
                k.fn = p.fn;
                check(&k, &p, 37);
            }
}

/* -- with --bench: four input channels of 3 x 3 weights to one word, in turns with memcpy of the same bytes; the
 * fastest of the rounds counts */

#define BENCH_ROWS 2048

static td_picks bench_picks;

static void bench_run(const kernel *k)
{
    k->fn(&bench_picks, dst, (ptrdiff_t)(BENCH_ROWS * k->size), 0, src, bench_picks.bytes, BENCH_ROWS, false);
}

static void bench_kernel(const kernel *k)
{
    td_picks *p = &bench_picks;
    *p = (td_picks){.size = (uint8_t)k->size, .parts = 1, .cols = (uint16_t)(48 / k->size), .bytes = 48};
    for (unsigned b = 0; b < p->bytes; b++)
        p->index[b] = (uint8_t)((b / k->size + b % k->size * 3) % p->bytes);
    if (td_picks_list(p, k->window) || strcmp(k->isa, "c") == 0)
        BENCH(bench_run, k, dst, src, (size_t)BENCH_ROWS * p->bytes);
}

static int fill_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < BUFFER_BYTES; i++)
        src[i] = (unsigned char)((i * 2654435761u >> 13) ^ (td_check_salt() * i >> 7));
    return 0;
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)fill_source(NULL);
    printf("kernel: memcpy's time by its own, 96 KiB\n");
#define X(name, size, window) CHECK_VERSIONS(pick, bench_kernel, name, size, window);
    TD_PICK_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {
#define X(name, size, window) TD_CHECK(test_##name),
    TD_PICK_KERNELS(X)
#undef X
        TD_CHECK(what_is_prepared_follows_the_rule),
};

TD_CHECK_FAMILY(pick, checks, fill_source, NULL, bench);
