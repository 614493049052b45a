/* Every packing kernel of every instruction set of this machine against one bit at a time: all widths, all places in
 * the first byte, lengths up to two vectors and one more, cells of every distance, guard bytes on both sides. The table
 * of kernels/pack.h makes the list. */
#include "kernels/pack.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMS 300
#define GUARD 32
#define BUFFER_BYTES (MAX_ELEMS * 16 + 2 * GUARD)

typedef struct kernel {
    const char *isa;
    unsigned size;
    td_pack_fn pack;
    td_unpack_fn unpack;
    td_put_fn put;
    td_get_fn get;
} kernel;

static unsigned char elems[BUFFER_BYTES], memory[BUFFER_BYTES], expected[BUFFER_BYTES];

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
    fill(memory, BUFFER_BYTES, 7);
    memcpy(expected, memory, BUFFER_BYTES);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < bits; b++)
            set_bit(expected + GUARD, at + i * bits + b, get_bit(elems + i * k->size, b));
    k->pack(memory + GUARD, at, elems, n, bits);
    if (memcmp(memory, expected, BUFFER_BYTES) != 0)
        fail_msg("pack_x%u_%s: %zu elements of %u bits from bit %u", 8 * k->size, k->isa, n, bits, at);
}

static void check_unpack(const kernel *k, unsigned bits, unsigned at, size_t n, bool sign)
{
    const size_t bytes = (at + n * bits + 7) / 8;
    unsigned char *exact = malloc(bytes); /* a sanitizer sees a read past its end */
    assert_non_null(exact);
    fill(exact, bytes, bits * 3 + at);
    fill(elems, BUFFER_BYTES, 9);
    memcpy(expected, elems, BUFFER_BYTES);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * k->size, b,
                    b < bits ? get_bit(exact, at + i * bits + b)
                    : sign   ? get_bit(exact, at + i * bits + bits - 1)
                             : 0);
    k->unpack(elems + GUARD, exact, at, n, bits, sign);
    if (memcmp(elems, expected, BUFFER_BYTES) != 0)
        fail_msg("unpack_x%u_%s: %zu elements of %u bits from bit %u, %ssigned", 8 * k->size, k->isa, n, bits, at,
                 sign ? "" : "un");
    free(exact);
}

static void check_cells(const kernel *k, unsigned bits, size_t stride, size_t n, bool sign)
{
    fill(elems, BUFFER_BYTES, bits);
    fill(memory, BUFFER_BYTES, 5);
    memcpy(expected, memory, BUFFER_BYTES);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * stride, b, b < bits ? get_bit(elems + i * k->size, b) : 0);
    k->put(memory + GUARD, (ptrdiff_t)stride, elems, n, bits);
    if (memcmp(memory, expected, BUFFER_BYTES) != 0)
        fail_msg("put_x%u_%s: %zu elements of %u bits, %zu bytes apart", 8 * k->size, k->isa, n, bits, stride);
    fill(memory, BUFFER_BYTES, 6);
    fill(elems, BUFFER_BYTES, 8);
    memcpy(expected, elems, BUFFER_BYTES);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8 * k->size; b++)
            set_bit(expected + GUARD + i * k->size, b,
                    get_bit(memory + i * stride, b < bits ? b : bits - 1) & (b < bits || sign ? 1u : 0u));
    k->get(elems + GUARD, memory, (ptrdiff_t)stride, n, bits, sign);
    if (memcmp(elems, expected, BUFFER_BYTES) != 0)
        fail_msg("get_x%u_%s: %zu elements of %u bits, %zu bytes apart, %ssigned", 8 * k->size, k->isa, n, bits, stride,
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
            for (size_t stride = k->size; stride <= 17; stride++)
                check_cells(k, bits, stride, n, n % 2 == 0);
    }
    for (size_t n = 120; n < 140; n++)
        for (unsigned bits = 1; bits <= 4; bits++) {
            check_pack(k, bits, 0, n);
            check_unpack(k, bits, 0, n, true);
            check_unpack(k, bits, 0, n, false);
        }
}

#define VERSION(k, v, bits)                                                                                            \
    (kernel)                                                                                                           \
    {                                                                                                                  \
        (v)->isa, (bits) / 8, (k).pack_x##bits, (k).unpack_x##bits, (k).put_x##bits, (k).get_x##bits                   \
    }

#define X(bits)                                                                                                        \
    static void test_x##bits(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        for (const version *v = all_versions(); v->isa; v++) {                                                         \
            td_pack_kernels k;                                                                                         \
            td_pack_init(&k, v->flags);                                                                                \
            check_kernel(&VERSION(k, v, bits));                                                                        \
        }                                                                                                              \
    }
TD_PACK_KERNELS(X)
#undef X

/* -- with --bench: the same table, in turns with memcpy of half of what is read and written; the fastest round
 * counts */

#define ROUNDS 201
#define BENCH_ELEMS 8192

static unsigned char many[BENCH_ELEMS * 8], packed[BENCH_ELEMS * 8 + 16];

static void bench_width(const kernel *k, unsigned bits)
{
    const size_t bytes = BENCH_ELEMS * (8 * k->size + bits) / 16;
    double best[3] = {1e18, 1e18, 1e18};
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < 3; who++) {
            const uint64_t start = td_now_ns();
            if (who == 0)
                memcpy(packed, many, bytes);
            else if (who == 1)
                k->pack(packed, 0, many, BENCH_ELEMS, bits);
            else
                k->unpack(many, packed, 0, BENCH_ELEMS, bits, true);
            const double ns = (double)(td_now_ns() - start);
            best[who] = ns < best[who] ? ns : best[who];
        }
    printf("x%u_%s %2u bits  pack %.2f  unpack %.2f\n", 8 * k->size, k->isa, bits, best[0] / best[1],
           best[0] / best[2]);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fill(many, sizeof many, 3);
    for (const version *v = all_versions(); v->isa; v++) {
        td_pack_kernels k;
        td_pack_init(&k, v->flags);
#define X(size)                                                                                                        \
    for (unsigned bits = size == 8 ? 1 : size / 2 + 1; bits < size; bits += size / 8)                                  \
        bench_width(&VERSION(k, v, size), bits);
        TD_PACK_KERNELS(X)
#undef X
    }
    return 0;
}

static const td_check checks[] = {
#define X(bits) TD_CHECK(test_x##bits),
    TD_PACK_KERNELS(X)
#undef X
};

TD_CHECK_FAMILY(pack, checks, NULL, NULL, bench);
