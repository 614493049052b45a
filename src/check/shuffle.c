/* Every shuffling kernel of every instruction set of this machine against the rule: loops of many shapes, forward and
 * backward, elements of 1 to 12 bytes, with and without gaps on both sides, for one unit to three lists and one more,
 * bases off their alignment, and guard bytes around and between what is written. The table of kernels/shuffle.h makes
 * the list. */
#include "kernels/shuffle.h"
#include "check/check.h"
#include "check/versions.h"
#include "kernels/move.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 16)
#define GUARD 0xA5
#define MIDDLE (BUFFER_BYTES / 2)

typedef struct kernel {
    const char *name, *isa;
    unsigned vector;
    td_shuffle_fn fn;
} kernel;

static _Alignas(64) unsigned char src[BUFFER_BYTES], dst[BUFFER_BYTES], expected[BUFFER_BYTES];

/* Size of an element, the loop of the units, the loops: steps, bytes in the destination, bytes in the source. */
static const struct shape {
    uint8_t size, unit, loops;
    td_shuffle_loop loop[4];
} shape[] = {
    {1, 1, 2, {{16, 1, -1}, {90, 16, 16}}},                         /* lanes from the top */
    {1, 1, 2, {{3, 1, -1}, {200, 4, 3}}},                           /* in words of 24 bits */
    {1, 1, 2, {{3, 1, 700}, {500, 4, 1}}},                          /* three planes to such words */
    {1, 1, 2, {{5, 1, 521}, {500, 5, 1}}},                          /* five lanes that become one run */
    {1, 0, 2, {{300, 1, 5}, {5, 333, 1}}},                          /* and taken apart again */
    {2, 1, 2, {{6, 2, 402}, {200, 12, 2}}},                         /* longer elements */
    {4, 1, 2, {{7, 4, 404}, {100, 28, 4}}},                         /* */
    {1, 0, 1, {{700, 2, 1}}},                                       /* slots */
    {1, 0, 1, {{700, 1, 2}}},                                       /* and back */
    {2, 0, 1, {{300, 3, 2}}},                                       /* */
    {3, 1, 2, {{3, 3, 250}, {80, 9, 3}}},                           /* tiles of 3 x 3 */
    {12, 0, 1, {{60, 16, 12}}},                                     /* long elements */
    {1, 2, 3, {{3, 1, 5}, {5, 3, 1}, {100, 15, 15}}},               /* short axes that change places */
    {1, 3, 4, {{7, 1, 5}, {2, 7, 105}, {3, 14, 35}, {9, 42, 210}}}, /* */
    {1, 1, 2, {{4, 1, 1}, {400, 4, -4}}},                           /* units backward in the source */
    {1, 1, 2, {{2, 1, 0}, {300, 2, 1}}},                            /* copies */
    {1, 1, 2, {{12, 1, -1}, {90, 12, 12}}},                         /* vectors that the next one continues */
    {1, 1, 2, {{13, 1, -1}, {90, 13, 14}}},                         /* */
    {1, 1, 2, {{3, 1, -1}, {90, 16, 3}}},                           /* three lanes of sixteen */
    {2, 1, 2, {{5, 2, 200}, {90, 32, 2}}},                          /* as many terms as lanes */
    {2, 1, 2, {{3, 2, 202}, {90, 8, 2}}},                           /* */
    {4, 1, 2, {{4, 4, 404}, {90, 20, 4}}},                          /* */
};
#define SHAPES (sizeof shape / sizeof shape[0])

static void make(size_t i, td_shuffle *s)
{
    memset(s, 0, sizeof *s);
    s->size = shape[i].size;
    s->unit = shape[i].unit;
    s->loops = shape[i].loops;
    s->may_fill = true;
    s->dst_first = (ptrdiff_t)i % 3;
    memcpy(s->loop, shape[i].loop, sizeof shape[i].loop);
}

/* The rule, step by step. */
static void move_by_rule(const td_shuffle *s, size_t level, unsigned char *out, const unsigned char *in, size_t units)
{
    if (level == 0) {
        memcpy(out + s->dst_first, in + s->src_first, s->size);
        return;
    }
    const td_shuffle_loop *loop = &s->loop[level - 1];
    const size_t steps = level - 1 == s->unit ? units : (size_t)loop->extent;
    for (size_t i = 0; i < steps; i++)
        move_by_rule(s, level - 1, out + (ptrdiff_t)i * loop->dst, in + (ptrdiff_t)i * loop->src, units);
}

static void check(const kernel *k, const td_shuffle *s, size_t i, size_t units, size_t shift, bool stream)
{
    memset(dst, GUARD, sizeof dst);
    memset(expected, GUARD, sizeof expected);
    move_by_rule(s, s->loops, expected + MIDDLE + shift, src + MIDDLE + 2 * shift, units);
    k->fn(s, dst + MIDDLE + shift, src + MIDDLE + 2 * shift, units, stream);
    td_move_fence();
    if (memcmp(dst, expected, sizeof dst) != 0)
        fail_msg("%s_%s: shape %zu, %zu units, %u at once, base + %zu", k->name, k->isa, i, units, s->at_once, shift);
}

static void check_kernel(const kernel *k)
{
    size_t taken = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        td_shuffle s;
        make(i, &s);
        assert_true(td_shuffle_list_unit(&s));
        const bool listed = td_shuffle_list(&s, k->vector);
        if (!listed && strcmp(k->isa, "c") != 0)
            continue;
        taken++;
        const size_t most = shape[i].loop[s.unit].extent;
        for (size_t units = 1; units <= 3u * s.at_once + 1 && units <= most; units += units % 7 + 1)
            check(k, &s, i, units, units % 5, false);
        for (size_t units = 4u * s.at_once; units <= most; units += s.at_once + units % 3)
            check(k, &s, i, units, units % 5, false);
        s.may_fill = false;
        if (td_shuffle_list(&s, k->vector) || strcmp(k->isa, "c") == 0)
            check(k, &s, i, most, 1, false);
        check(k, &s, i, most, 0, true);
    }
    assert_true(taken >= 10);
}

#define X(name, vector)                                                                                                \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        CHECK_VERSIONS(shuffle, check_kernel, name, vector);                                                           \
    }
TD_SHUFFLE_KERNELS(X)
#undef X

/* Every shape by a list of places, for one unit to some more than are done at once. */
static void places_follow_the_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        td_shuffle s;
        make(i, &s);
        assert_true(td_shuffle_by_places(&s));
        const kernel k = {"shuffle_places", "c", 0, s.fn};
        for (size_t units = 1; units <= shape[i].loop[s.unit].extent; units += units % 7 + 1)
            check(&k, &s, i, units, units % 5, false);
    }
}

/* What prepare chooses follows the rule, whatever it chooses. */
static void what_is_prepared_follows_the_rule(void **state)
{
    (void)state;
    for (const version *v = all_versions(); v->isa; v++)
        for (size_t i = 0; i < SHAPES; i++) {
            td_shuffle s;
            make(i, &s);
            if (td_shuffle_prepare(&s, v->flags) && v->flags == TD_CPU_C)
                fail_msg("plain C is not worth it");
            const kernel k = {"prepared", v->isa, 0, s.fn};
            check(&k, &s, i, shape[i].loop[s.unit].extent, 3, false);
            td_shuffle_drop(&s);
        }
}

/* Few bytes out of long stretches: in two steps where there are wide vectors, for one unit to some more than the
 * scratch holds. */
static void two_steps_follow_the_rule(void **state)
{
    static const struct shape sparse[] = {
        {1, 0, 2, {{1400, 1, 16}, {3, 1500, 1}}}, /* three channels of sixteen to their planes */
        {1, 0, 2, {{1500, 1, 16}, {5, 1600, 1}}},
        {2, 0, 2, {{700, 2, 32}, {3, 1500, 2}}},
        {1, 0, 3, {{900, 2, 24}, {2, 2000, 4}, {3, 4100, 1}}}, /* with gaps on the other side, too */
    };
    bool taken = false;
    (void)state;
    for (const version *v = all_versions(); v->isa; v++)
        for (size_t i = 0; i < sizeof sparse / sizeof sparse[0]; i++) {
            td_shuffle s = {
                .size = sparse[i].size, .unit = sparse[i].unit, .loops = sparse[i].loops, .transposes = true};
            memcpy(s.loop, sparse[i].loop, sizeof sparse[i].loop);
            if (!td_shuffle_prepare(&s, v->flags) || !s.dense) {
                td_shuffle_drop(&s);
                continue;
            }
            taken = true;
            const kernel k = {"two steps", v->isa, 0, s.fn};
            for (size_t units = 1; units <= sparse[i].loop[s.unit].extent; units += units % 29 + 1)
                check(&k, &s, i, units, units % 5, units % 3 == 0);
            td_shuffle_drop(&s);
        }
    td_shuffle_kernels best;
    td_shuffle_init(&best, td_cpu_flags());
    assert_true(taken == (best.shuffle_x512 != td_shuffle_x512_c));
}

/* Gaps that other steps write must not be written back. */
static void gaps_are_left_alone_where_others_write(void **state)
{
    (void)state;
    td_shuffle s;
    make(1, &s);
    s.may_fill = false;
    assert_true(td_shuffle_list_unit(&s));
    assert_false(td_shuffle_list(&s, 16));
    assert_true(td_shuffle_list(&s, 64));
}

/* -- with --bench: lanes from the top, in turns with memcpy of the same bytes; the fastest of the rounds counts */

static td_shuffle bench_list;

static void bench_run(const kernel *k)
{
    k->fn(&bench_list, dst, src, 2048, false);
}

static void bench_kernel(const kernel *k)
{
    make(0, &bench_list);
    bench_list.dst_first = 0;
    bench_list.src_first = 15;
    bench_list.loop[1].extent = 2048;
    if (td_shuffle_list_unit(&bench_list) && td_shuffle_list(&bench_list, k->vector))
        BENCH(bench_run, k, dst, src, (size_t)2048 * 16);
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
    printf("kernel: memcpy's time by its own, 32 KiB\n");
#define X(name, vector) CHECK_VERSIONS(shuffle, bench_kernel, name, vector);
    TD_SHUFFLE_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {
#define X(name, vector) TD_CHECK(test_##name),
    TD_SHUFFLE_KERNELS(X)
#undef X
        TD_CHECK(places_follow_the_rule),
    TD_CHECK(what_is_prepared_follows_the_rule),
    TD_CHECK(two_steps_follow_the_rule),
    TD_CHECK(gaps_are_left_alone_where_others_write),
};

TD_CHECK_FAMILY(shuffle, checks, fill_source, NULL, bench);
