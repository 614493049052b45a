/* Every kernel between containers and words, of every instruction set of this machine, against one bit at a time: units
 * of one byte to several words, lanes with and without gaps, elements in two parts, containers in both orders, bits
 * that are kept and bits that are cleared, units side by side, apart and sharing bytes, guard bytes on both sides. The
 * table of kernels/pack_words.h makes the list; plan/stage_code.c compiles the units. */
#include "kernels/pack_words.h"
#include "check/check.h"
#include "check/versions.h"
#include "plan/stage.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64
#define MOST_LANES 40
#define MOST_UNITS 140
#define MOST_BYTES 160
#define ELEM_BYTES (MOST_LANES * 8 * MOST_UNITS + 2 * GUARD)
#define WORD_BYTES ((MOST_BYTES + 8) * MOST_UNITS + 2 * GUARD)

typedef struct kernel {
    const char *isa;
    unsigned size;
    td_pack_words_fn pack;
    td_unpack_words_fn unpack;
} kernel;

/* A unit, as td_word_code_make takes it. */
typedef struct unit {
    td_piece place[2 * MOST_LANES];
    size_t places;
    unsigned char full[MOST_BYTES];
    td_word_code code;
} unit;

static unsigned char elems[ELEM_BYTES], memory[WORD_BYTES], expected[ELEM_BYTES > WORD_BYTES ? ELEM_BYTES : WORD_BYTES];
static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed >> 8) * below >> 24);
}

static void fill(unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)draw(256);
}

static unsigned get_bit(const unsigned char *p, size_t bit)
{
    return p[bit / 8] >> (bit % 8) & 1;
}

static void set_bit(unsigned char *p, size_t bit, unsigned value)
{
    p[bit / 8] = (unsigned char)((p[bit / 8] & ~(1u << (bit % 8))) | value << (bit % 8));
}

/* The rule: bit `elem_bit + i` of a lane's container is bit `memory + i` of the unit. */
static void rule_pack(const unit *u, unsigned char *words, const unsigned char *from)
{
    size_t lane = (size_t)-1;
    if (!u->code.keep)
        memset(words, 0, u->code.bytes);
    for (size_t p = 0; p < u->places; p++) {
        lane += u->place[p].elem_bit == 0;
        const size_t at = u->code.reversed ? u->code.lanes - 1 - lane : lane;
        for (unsigned b = 0; b < u->place[p].bits; b++)
            set_bit(words, (size_t)u->place[p].memory + b, get_bit(from + at * u->code.size, u->place[p].elem_bit + b));
    }
}

static void rule_unpack(const unit *u, unsigned char *to, const unsigned char *words)
{
    size_t lane = (size_t)-1;
    memset(to, 0, (size_t)u->code.lanes * u->code.size);
    for (size_t p = 0; p < u->places; p++) {
        lane += u->place[p].elem_bit == 0;
        unsigned char *elem = to + (u->code.reversed ? u->code.lanes - 1 - lane : lane) * u->code.size;
        for (unsigned b = 0; b < u->place[p].bits; b++)
            set_bit(elem, u->place[p].elem_bit + b, get_bit(words, (size_t)u->place[p].memory + b));
        for (unsigned b = u->code.bits; b < 8u * u->code.size && u->code.sign; b++)
            set_bit(elem, b, get_bit(elem, u->code.bits - 1u));
    }
}

static void complain(const kernel *k, const char *what, const unit *u, size_t units, size_t stride)
{
    fail_msg("%s_x%u_%s: %zu units of %u bytes, %zu apart, with %u lanes of %u bits%s%s", what, 8 * k->size, k->isa,
             units, u->code.bytes, stride, u->code.lanes, u->code.bits, u->code.keep ? ", kept" : "",
             u->code.reversed ? ", reversed" : "");
}

static void check_units(const kernel *k, const unit *u, size_t units, size_t stride)
{
    const size_t containers = units * u->code.lanes * u->code.size, words = (units - 1) * stride + u->code.bytes;
    unsigned char *exact = malloc(containers > words ? containers : words); /* a sanitizer sees a read past its end */
    assert_non_null(exact);

    unsigned char *from = exact + (containers > words ? 0 : words - containers);
    const size_t word_bytes = words + 2 * GUARD, elem_bytes = containers + 2 * GUARD;
    fill(from, containers);
    fill(memory, word_bytes);
    memcpy(expected, memory, word_bytes);
    for (size_t i = 0; i < units; i++)
        rule_pack(u, expected + GUARD + i * stride, from + i * u->code.lanes * u->code.size);
    k->pack(memory + GUARD, (ptrdiff_t)stride, from, units, &u->code);
    if (memcmp(memory, expected, word_bytes) != 0)
        complain(k, "pack_words", u, units, stride);

    from = exact + (containers > words ? containers - words : 0);
    fill(from, words);
    fill(elems, elem_bytes);
    memcpy(expected, elems, elem_bytes);
    for (size_t i = 0; i < units; i++)
        rule_unpack(u, expected + GUARD + i * u->code.lanes * u->code.size, from + i * stride);
    k->unpack(elems + GUARD, from, (ptrdiff_t)stride, units, &u->code);
    if (memcmp(elems, expected, elem_bytes) != 0)
        complain(k, "unpack_words", u, units, stride);
    free(exact);
}

/* Lanes in slots from a bit on; with `cut`, elements that reach over a multiple of it continue `gap` bits later. */
static void make_unit(unit *u, unsigned size, unsigned bits, unsigned slot, unsigned first, unsigned lanes,
                      unsigned cut, unsigned gap)
{
    memset(u, 0, sizeof *u);
    uint64_t end = 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned done = 0; done < bits;) {
            const uint64_t bit = first + (uint64_t)lane * slot + done, part = cut ? bit / cut : 0;
            unsigned most = cut ? (unsigned)(cut - bit % cut) : bits;
            most = most < bits - done ? most : bits - done;
            td_piece *p = &u->place[u->places++];
            *p = (td_piece){.memory = (int64_t)(bit + part * gap), .elem_bit = (uint8_t)done, .bits = (uint8_t)most};
            end = (uint64_t)p->memory + most;
            done += most;
        }
    u->code.size = (uint8_t)size;
    u->code.bits = (uint8_t)bits;
    u->code.bytes = (uint32_t)((end + 7) / 8);
}

/* The least distance of units whose elements share no bits. */
static size_t bytes_apart(const unit *u)
{
    int64_t low = INT64_MAX, high = 0;
    for (size_t p = 0; p < u->places; p++) {
        const int64_t end = u->place[p].memory + u->place[p].bits;
        low = u->place[p].bits && u->place[p].memory < low ? u->place[p].memory : low;
        high = u->place[p].bits && end > high ? end : high;
    }
    return (size_t)(high - low + 7) / 8;
}

static void check_unit(const kernel *k, unit *u, bool keep)
{
    const size_t bytes = u->code.bytes;
    memset(u->full, 255, sizeof u->full);
    if (!keep) {
        memset(u->full, 0, sizeof u->full);
        for (size_t p = 0; p < u->places; p++)
            for (unsigned b = 0; b < u->place[p].bits; b++)
                set_bit(u->full, (size_t)u->place[p].memory + b, 1);
    }
    assert_int_equal(td_word_code_make(u->place, u->places, u->full, bytes, &u->code), TD_OK);
    assert_int_equal(td_word_lists_make(&u->code), TD_OK);
    const size_t counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129};
    const size_t from = draw(8), apart = bytes_apart(u);
    for (size_t i = 0; i < 4; i++) {
        const size_t units = counts[(from + 4 * i + draw(2)) % (sizeof counts / sizeof counts[0])];
        check_units(k, u, units, bytes);
        check_units(k, u, units, bytes + 1 + draw(7));
        if (u->code.keep && apart < bytes) /* neighbours that share bytes, as elements at odd bits of words do */
            check_units(k, u, units, apart);
    }
    td_word_code_free(&u->code);
}

static void check_kernel(const kernel *k)
{
    static unit u;
    for (unsigned round = 0; round < 250; round++) {
        const unsigned most = 8 * k->size, bits = 1 + draw(most), slot = bits + (draw(2) ? 0 : draw(6)),
                       first = draw(2) ? 0 : draw(9);
        unsigned lanes = 1 + draw(draw(2) ? 9 : MOST_LANES - 1);
        while (first + lanes * slot > 4 * MOST_BYTES)
            lanes = lanes / 2 ? lanes / 2 : 1;
        const unsigned cut = draw(3) ? 0 : bits + 1 + draw(30), gap = cut ? draw(20) : 0;
        make_unit(&u, k->size, bits, slot, first, lanes, cut, gap);
        if (u.code.bytes > MOST_BYTES)
            continue;
        if (draw(3) == 0) /* as stored: with bytes that no element reaches */
            u.code.bytes = u.code.bytes > 8    ? (u.code.bytes + 3) / 4 * 4
                           : u.code.bytes > 4  ? 8
                           : u.code.bytes == 3 ? 4
                                               : u.code.bytes;
        u.code.reversed = draw(3) == 0;
        u.code.sign = draw(2) != 0;
        check_unit(k, &u, draw(2) != 0);
    }
    /* Single elements at every bit of their words, which share bytes with the next. */
    for (unsigned first = 1; first < 8; first++) {
        const unsigned bits = 8 * k->size - draw(8 * k->size);
        make_unit(&u, k->size, bits, bits, first, 1, 0, 0);
        u.code.bytes = u.code.bytes > 4 ? 8 : u.code.bytes > 2 ? 4 : u.code.bytes;
        if ((first + bits + 7) / 8 <= 8)
            check_unit(k, &u, true);
    }
    /* The last lanes of a matrix may be cut off: they have no bits, and are read as 0. */
    make_unit(&u, k->size, 3, 3, 0, 20, 0, 0);
    for (size_t p = 9; p < u.places; p++)
        u.place[p] = (td_piece){0};
    u.code.bytes = 4;
    check_unit(k, &u, true);
}

#define X(bits)                                                                                                        \
    static void test_x##bits(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        for (const version *v = all_versions(); v->isa; v++) {                                                         \
            td_pack_words_kernels k;                                                                                   \
            td_pack_words_init(&k, v->flags);                                                                          \
            seed = bits ^ td_check_salt();                                                                             \
            check_kernel(&(kernel){v->isa, (bits) / 8, k.pack_words_x##bits, k.unpack_words_x##bits});                 \
        }                                                                                                              \
    }
TD_PACK_WORDS_KERNELS(X)
#undef X

/* -- with --bench: in turns with memcpy of the containers; the fastest round counts -- */

#define ROUNDS 201
#define BENCH_UNITS 1024

static unsigned char many[BENCH_UNITS * MOST_LANES * 8], packed[BENCH_UNITS * MOST_BYTES], copied[sizeof many];

static void bench_unit(const kernel *k, unsigned bits, unsigned slot, unsigned lanes)
{
    static unit u;
    make_unit(&u, k->size, bits, slot, 0, lanes, 0, 0);
    u.code.bytes = u.code.bytes > 8   ? (u.code.bytes + 3) / 4 * 4
                   : u.code.bytes > 4 ? 8
                   : u.code.bytes > 2 ? 4
                                      : u.code.bytes;
    u.code.sign = true;
    for (size_t p = 0; p < u.places; p++)
        for (unsigned b = 0; b < u.place[p].bits; b++)
            set_bit(u.full, (size_t)u.place[p].memory + b, 1);
    if (td_word_code_make(u.place, u.places, u.full, u.code.bytes, &u.code))
        return;
    const size_t bytes = (size_t)BENCH_UNITS * lanes * k->size;
    double best[3] = {1e18, 1e18, 1e18};
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < 3; who++) {
            const uint64_t start = td_now_ns();
            if (who == 0)
                memcpy(copied, many, bytes);
            else if (who == 1)
                k->pack(packed, (ptrdiff_t)u.code.bytes, many, BENCH_UNITS, &u.code);
            else
                k->unpack(many, packed, (ptrdiff_t)u.code.bytes, BENCH_UNITS, &u.code);
            const double ns = (double)(td_now_ns() - start);
            best[who] = ns < best[who] ? ns : best[who];
        }
    printf("x%u_%s %2u lanes of %2u bits, slot %2u  pack %.2f  unpack %.2f  (%.3f and %.3f ns per element)\n",
           8 * k->size, k->isa, lanes, bits, slot, best[0] / best[1], best[0] / best[2], best[1] / BENCH_UNITS / lanes,
           best[2] / BENCH_UNITS / lanes);
    td_word_code_free(&u.code);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fill(many, sizeof many);
    for (const version *v = all_versions(); v->isa; v++) {
        td_pack_words_kernels k;
        td_pack_words_init(&k, v->flags);
#define X(size)                                                                                                        \
    for (unsigned lanes = 1; lanes <= 12 && (lanes - 1) * (size) < 8 * MOST_BYTES; lanes += lanes < 6 ? 1 : 2)         \
        for (unsigned gap = 0; gap < 2; gap++)                                                                         \
            bench_unit(&(kernel){v->isa, (size) / 8, k.pack_words_x##size, k.unpack_words_x##size},                    \
                       size == 8 ? 3 : size * 3 / 4, (size == 8 ? 3 : size * 3 / 4) + gap, lanes);
        TD_PACK_WORDS_KERNELS(X)
#undef X
    }
    return 0;
}

static const td_check checks[] = {
#define X(bits) TD_CHECK(test_x##bits),
    TD_PACK_WORDS_KERNELS(X)
#undef X
};

TD_CHECK_FAMILY(pack_words, checks, NULL, NULL, bench);
