/* The kernels of kernels/agree.h, every version of this machine against the bits one by one: rows of one byte to two
 * vectors and one more, every shift of either side, masks with gaps, one bit changed inside and outside of the mask,
 * and both sides in memory that ends with their last bit. The table of kernels/agree.h makes the list. */
#include "kernels/agree.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct kernel {
    const char *name, *isa;
    bool shifts;
    td_agree_fn fn;
} kernel;

static uint64_t state = 1;

static unsigned char any_byte(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(state >> 56);
}

static bool bit_of(const unsigned char *p, size_t bit)
{
    return p[bit / 8] >> bit % 8 & 1;
}

static void flip(unsigned char *p, size_t bit)
{
    p[bit / 8] ^= (unsigned char)(1 << bit % 8);
}

/* Bytes that a side of `bits` bits needs, from bit `shift` on. */
static size_t bytes_of(size_t bits, unsigned shift)
{
    return (bits + shift + 7) / 8;
}

static void check(const kernel *k, size_t rows, size_t bytes, size_t gap, unsigned a_shift, unsigned b_shift)
{
    unsigned char *mask = malloc(bytes);
    assert_non_null(mask);
    for (size_t i = 0; i < bytes; i++)
        mask[i] = i % 5 == 3 ? 0 : i % 3 ? 0xff : any_byte();
    mask[bytes - 1] = (unsigned char)(1 + any_byte() % 255);
    size_t bits = 8 * bytes;
    while (!bit_of(mask, bits - 1))
        bits--;
    const size_t stride = bytes + gap, a_bytes = (rows - 1) * stride + bytes_of(bits, a_shift),
                 b_bytes = (rows - 1) * stride + bytes_of(bits, b_shift);
    unsigned char *a = malloc(a_bytes), *b = malloc(b_bytes);
    assert_true(a && b);
    for (size_t i = 0; i < a_bytes; i++)
        a[i] = any_byte();
    for (size_t i = 0; i < b_bytes; i++)
        b[i] = any_byte();
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < bits; i++)
            if (bit_of(mask, i) && bit_of(a, 8 * r * stride + a_shift + i) != bit_of(b, 8 * r * stride + b_shift + i))
                flip(b, 8 * r * stride + b_shift + i);
    const td_agree_rows t = {a, b, mask, (ptrdiff_t)stride, rows, bytes, a_shift, b_shift};
    if (!k->fn(&t))
        fail_msg("%s_%s: %zu rows of %zu bytes agree, shifts %u and %u", k->name, k->isa, rows, bytes, a_shift,
                 b_shift);
    const size_t every = rows * bits < 200 ? 1 : rows * bits / 97;
    for (size_t n = 0; n < rows * bits; n += n + 1 < rows * bits && n + every >= rows * bits ? 1 : every) {
        const size_t r = n / bits, i = n % bits;
        flip(b, 8 * r * stride + b_shift + i);
        if (k->fn(&t) != !bit_of(mask, i))
            fail_msg("%s_%s: row %zu, bit %zu of %zu x %zu bytes, shifts %u and %u", k->name, k->isa, r, i, rows, bytes,
                     a_shift, b_shift);
        flip(b, 8 * r * stride + b_shift + i);
    }
    free(a);
    free(b);
    free(mask);
}

static void check_kernel(const kernel *k)
{
    for (size_t bytes = 1; bytes <= 130; bytes++)
        for (size_t rows = 1; rows <= 19; rows += rows < 3 ? 1 : 8)
            check(k, rows, bytes, 1 + bytes % 3 * 30, k->shifts ? bytes % 8 : 0, k->shifts ? rows * 3 % 8 : 0);
    for (unsigned s = 0; k->shifts && s < 64; s++)
        for (size_t bytes = 1; bytes <= 70; bytes += bytes < 10 ? 1 : 9)
            check(k, 2, bytes, 1, s % 8, s / 8);
    check(k, 3, 1000, 24, 0, 0);
}

#define X(name, shifts)                                                                                                \
    static void test_##name(void **unused)                                                                             \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        CHECK_VERSIONS(agree, check_kernel, name, shifts);                                                             \
    }
TD_AGREE_KERNELS(X)
#undef X

/* -- with --bench: 128 KiB on either side, every third byte left out */

#define BENCH_BYTES ((size_t)128 << 10)

static unsigned char bench_a[BENCH_BYTES + 8], bench_b[BENCH_BYTES + 8], bench_mask[512];

static void bench_run(const kernel *k)
{
    const td_agree_rows t = {.a = bench_a,
                             .b = bench_b,
                             .mask = bench_mask,
                             .stride = 512,
                             .rows = BENCH_BYTES / 512,
                             .bytes = 512,
                             .a_shift = k->shifts ? 3 : 0,
                             .b_shift = k->shifts ? 5 : 0};
    if (!k->fn(&t))
        printf("%s_%s: they differ\n", k->name, k->isa);
}

static void bench_kernel(const kernel *k)
{
    static unsigned char copy[BENCH_BYTES];
    __asm__ volatile("" : : "r"(copy) : "memory"); /* so that memcpy into it is not left out */
    BENCH(bench_run, k, copy, bench_b, BENCH_BYTES);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < sizeof bench_mask; i++)
        bench_mask[i] = i % 3 ? 0xff : 0;
    printf("kernel: memcpy's time by its own, %zu KiB on either side\n", BENCH_BYTES >> 10);
#define X(name, shifts) CHECK_VERSIONS(agree, bench_kernel, name, shifts);
    TD_AGREE_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {
#define X(name, shifts) TD_CHECK(test_##name),
    TD_AGREE_KERNELS(X)
#undef X
};

TD_CHECK_FAMILY(agree, checks, NULL, NULL, bench);
