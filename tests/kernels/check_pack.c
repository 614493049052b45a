/* Every packing kernel of every instruction set of this machine against one bit at a time: all widths, all places in the
 * first byte, lengths up to two vectors and one more, cells of every distance, guard bytes on both sides. The table of
 * kernels/pack.h makes the list. */
#include "base/cpu.h"
#include "kernels/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MAX_ELEMS 300
#define GUARD 32
#define ROOM (MAX_ELEMS * 16 + 2 * GUARD)

typedef struct kernel {
    unsigned size;
    td_pack_fn pack;
    td_unpack_fn unpack;
    td_put_fn put;
    td_get_fn get;
} kernel;

static unsigned char elems[ROOM], memory[ROOM], expected[ROOM];

static unsigned get_bit(const unsigned char *p, size_t bit)
{
    return p[bit / 8] >> (bit % 8) & 1;
}

static void set_bit(unsigned char *p, size_t bit, unsigned value)
{
    p[bit / 8] = (unsigned char)((p[bit / 8] & ~(1u << (bit % 8))) | value << (bit % 8));
}

static void fill(unsigned char *p, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (unsigned char)(seed >> 24);
    }
}

static void check_pack(const kernel *k, unsigned bits, unsigned at, size_t n)
{
    fill(elems, n * k->size, bits + at);
    fill(memory, ROOM, 7);
    memcpy(expected, memory, ROOM);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < bits; b++)
            set_bit(expected + GUARD, at + i * bits + b, get_bit(elems + i * k->size, b));
    k->pack(memory + GUARD, at, elems, n, bits);
    if (memcmp(memory, expected, ROOM) != 0)
        fail_msg("pack_x%u: %zu elements of %u bits from bit %u", 8 * k->size, n, bits, at);
}

static void check_unpack(const kernel *k, unsigned bits, unsigned at, size_t n, bool sign)
{
    const size_t bytes = (at + n * bits + 7) / 8;
    unsigned char *exact = malloc(bytes); /* a sanitizer sees a read past its end */
    assert_non_null(exact);
    fill(exact, bytes, bits * 3 + at);
    fill(elems, ROOM, 9);
    memcpy(expected, elems, ROOM);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * k->size, b,
                    b < bits ? get_bit(exact, at + i * bits + b)
                    : sign   ? get_bit(exact, at + i * bits + bits - 1)
                             : 0);
    k->unpack(elems + GUARD, exact, at, n, bits, sign);
    if (memcmp(elems, expected, ROOM) != 0)
        fail_msg("unpack_x%u: %zu elements of %u bits from bit %u, %ssigned", 8 * k->size, n, bits, at,
                 sign ? "" : "un");
    free(exact);
}

static void check_cells(const kernel *k, unsigned bits, size_t stride, size_t n, bool sign)
{
    fill(elems, ROOM, bits);
    fill(memory, ROOM, 5);
    memcpy(expected, memory, ROOM);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * stride, b, b < bits ? get_bit(elems + i * k->size, b) : 0);
    k->put(memory + GUARD, (ptrdiff_t)stride, elems, n, bits);
    if (memcmp(memory, expected, ROOM) != 0)
        fail_msg("put_x%u: %zu elements of %u bits, %zu bytes apart", 8 * k->size, n, bits, stride);
    fill(memory, ROOM, 6);
    fill(elems, ROOM, 8);
    memcpy(expected, elems, ROOM);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * k->size, b,
                    get_bit(memory + i * stride, b < bits ? b : bits - 1) & (b < bits || sign ? 1u : 0u));
    k->get(elems + GUARD, memory, (ptrdiff_t)stride, n, bits, sign);
    if (memcmp(elems, expected, ROOM) != 0)
        fail_msg("get_x%u: %zu elements of %u bits, %zu bytes apart, %ssigned", 8 * k->size, n, bits, stride,
                 sign ? "" : "un");
}

static void check_kernel(const kernel *k)
{
    for (unsigned bits = 1; bits <= 8 * k->size; bits++) {
        for (unsigned at = 0; at < 8; at++)
            for (size_t n = 1; n <= MAX_ELEMS; n += n < 12 ? 1 : 37) {
                check_pack(k, bits, at, n);
                check_unpack(k, bits, at, n, n % 2 == 0);
            }
        for (size_t n = 1; n <= 130; n += n < 4 ? 1 : 21)
            for (size_t stride = k->size; stride <= 2u * k->size && stride < 16; stride += 3)
                check_cells(k, bits, stride, n, n % 2 == 0);
    }
    for (size_t n = 120; n < 140; n++)
        for (unsigned bits = 1; bits <= 4; bits++) {
            check_pack(k, bits, 0, n);
            check_unpack(k, bits, 0, n, true);
            check_unpack(k, bits, 0, n, false);
        }
}

#define X(bits)                                                                                                        \
    static void test_x##bits(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        const unsigned flags[] = {TD_CPU_C, td_cpu_flags() & TD_CPU_AVX2, td_cpu_flags()};                             \
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {                                                  \
            td_pack_kernels k;                                                                                         \
            td_pack_init(&k, flags[i]);                                                                                \
            check_kernel(&(kernel){bits / 8, k.pack_x##bits, k.unpack_x##bits, k.put_x##bits, k.get_x##bits});         \
        }                                                                                                              \
    }
TD_PACK_KERNELS(X)
#undef X

/* -- with --bench: the same table, each version against memcpy of half of what it reads and writes; the fastest round counts */

#define ROUNDS 201
#define BENCH_ELEMS 8192

static unsigned char many[BENCH_ELEMS * 8], packed[BENCH_ELEMS * 8 + 16];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bench_width(const kernel *version, unsigned bits)
{
    const size_t bytes = BENCH_ELEMS * (8 * version->size + bits) / 16;
    double best[7];
    for (int who = 0; who < 7; who++)
        best[who] = 1e18;
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < 7; who++) {
            const double start = now_ns();
            if (who == 6)
                memcpy(packed, many, bytes);
            else if (who < 3)
                version[who].pack(packed, 0, many, BENCH_ELEMS, bits);
            else
                version[who - 3].unpack(many, packed, 0, BENCH_ELEMS, bits, true);
            const double ns = now_ns() - start;
            best[who] = ns < best[who] ? ns : best[who];
        }
    printf("x%u %2u bits  pack c %.2f avx2 %.2f best %.2f  unpack c %.2f avx2 %.2f best %.2f\n", 8 * version->size,
           bits, best[6] / best[0], best[6] / best[1], best[6] / best[2], best[6] / best[3], best[6] / best[4],
           best[6] / best[5]);
}

static int bench(void)
{
    td_pack_kernels k[3];
    td_pack_init(&k[0], TD_CPU_C);
    td_pack_init(&k[1], td_cpu_flags() & TD_CPU_AVX2);
    td_pack_init(&k[2], td_cpu_flags());
    fill(many, sizeof many, 3);
#define X(size)                                                                                                        \
    for (unsigned bits = size == 8 ? 1 : size / 2 + 1; bits < size; bits += size / 8)                                  \
        bench_width((kernel[]){{size / 8, k[0].pack_x##size, k[0].unpack_x##size, NULL, NULL},                         \
                               {size / 8, k[1].pack_x##size, k[1].unpack_x##size, NULL, NULL},                         \
                               {size / 8, k[2].pack_x##size, k[2].unpack_x##size, NULL, NULL}},                        \
                    bits);
    TD_PACK_KERNELS(X)
#undef X
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0)
        return bench();
    const struct CMUnitTest tests[] = {
#define X(bits) cmocka_unit_test(test_x##bits),
        TD_PACK_KERNELS(X)
#undef X
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
