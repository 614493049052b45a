/* The kernels of kernels/keep.h: plain C against loops written here, every version of this machine against plain C;
 * all sizes of elements, no element to a few vectors, bases off their alignment, room that ends early, and bytes behind
 * the result that stay. */
#include "kernels/keep.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 283, GUARD = 0x5a };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 1 ^ *state << 3;
}

typedef struct data {
    unsigned char src[8 * MOST + 8], flags[MOST + 4], set[MOST / 8 + 1];
    size_t n, room;
    unsigned bytes, off;
    uint64_t own;
} data;

static void draw(data *d, size_t n, unsigned bytes, uint32_t seed)
{
    uint32_t state = seed ^ td_check_salt();
    *d = (data){
        .n = n, .bytes = bytes, .off = seed % 3, .own = seed % 2 ? UINT64_MAX : UINT64_MAX >> 1 >> 8 * (8 - bytes)};
    for (size_t i = 0; i < n * bytes; i++)
        d->src[d->off + i] = (unsigned char)next(&state);
    for (size_t i = 0; i < n; i++) {
        d->flags[i] = seed % 5 == 0 ? 1 : seed % 5 == 1 ? 0 : next(&state) & 1;
        if (next(&state) % 2 == 0) /* zero but for the sign */
            memset(d->src + d->off + i * bytes, 0, bytes);
        if (next(&state) % 4 == 0)
            d->src[d->off + i * bytes + bytes - 1] |= 0x80;
        d->room += d->flags[i];
        d->set[i / 8] |= (unsigned char)(d->flags[i] << i % 8);
    }
    if (seed % 7 == 0)
        d->room -= d->room / 3;
}

static void check_flags(const td_keep_kernels *k, const data *d)
{
    unsigned char flags[MOST + 1];
    memset(flags, GUARD, sizeof flags);
    k->flags(flags, d->src + d->off, d->n, d->bytes, d->own);
    for (size_t i = 0; i < d->n; i++) {
        uint64_t elem = 0;
        memcpy(&elem, d->src + d->off + i * d->bytes, d->bytes);
        assert_int_equal(flags[i], (elem & d->own) != 0);
    }
    assert_int_equal(flags[d->n], GUARD);
    uint64_t count = 0;
    unsigned most = 0;
    for (size_t i = 0; i < d->n; i++)
        count += d->flags[i];
    assert_int_equal(k->count(d->flags, d->n), count);
    for (size_t i = 0; i + 4 <= d->n; i += 4) {
        const unsigned sum = (unsigned)(d->flags[i] + d->flags[i + 1] + d->flags[i + 2] + d->flags[i + 3]);
        most = sum > most ? sum : most;
    }
    assert_int_equal(k->most(d->flags, d->n / 4 * 4), most);
}

static void check_sets(const td_keep_kernels *k, const data *d)
{
    unsigned char flags[MOST + 1], set[MOST / 8 + 2], ones[MOST + 1];
    size_t count = 0;
    memset(set, GUARD, sizeof set);
    memset(ones, GUARD, sizeof ones);
    k->flags(flags, d->src + d->off, d->n, d->bytes, d->own);
    for (size_t i = 0; i < d->n; i++)
        count += flags[i];
    assert_int_equal(k->bits(set, d->src + d->off, d->n, d->bytes, d->own), count);
    for (size_t i = 0; i < (d->n + 7) / 8 * 8; i++)
        assert_int_equal(set[i / 8] >> i % 8 & 1, i < d->n ? flags[i] : 0);
    assert_int_equal(set[(d->n + 7) / 8], GUARD);
    count = 0;
    for (size_t i = 0; i < d->n; i++)
        count += d->flags[i];
    assert_int_equal(k->total(d->set, d->n), count);
    k->ones(ones, d->set, d->n);
    assert_memory_equal(ones, d->flags, d->n);
    assert_int_equal(ones[d->n], GUARD);
}

static void check_moves(const td_keep_kernels *k, const data *d)
{
    unsigned char got[8 * MOST + 64], want[8 * MOST + 64];
    size_t kept = 0;
    memset(got, GUARD, sizeof got);
    memset(want, GUARD, sizeof want);
    for (size_t i = 0; i < d->n && kept < d->room; i++)
        if (d->flags[i])
            memcpy(want + kept++ * d->bytes, d->src + d->off + i * d->bytes, d->bytes);
    assert_int_equal(k->keep(got, d->room, d->src + d->off, d->set, d->n, d->bytes), kept);
    assert_memory_equal(got, want, kept * d->bytes);
    assert_memory_equal(got + d->room * d->bytes, want + d->room * d->bytes, 64);
    size_t taken = 0;
    memset(got, GUARD, sizeof got);
    memset(want, 0, sizeof want);
    memset(want + d->n * d->bytes, GUARD, sizeof want - d->n * d->bytes);
    for (size_t i = 0; i < d->n && taken < d->room; i++)
        if (d->flags[i])
            memcpy(want + i * d->bytes, d->src + d->off + taken++ * d->bytes, d->bytes);
    assert_int_equal(k->spread(got, d->src + d->off, d->room, d->set, d->n, d->bytes), taken);
    assert_memory_equal(got, want, sizeof got);
}

static void every_version_keeps_the_rule(void **state)
{
    (void)state;
    static data d;
    for (const version *v = all_versions(); v->isa; v++) {
        td_keep_kernels k;
        td_keep_init(&k, v->flags);
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
            for (size_t n = 0; n < MOST; n++) {
                draw(&d, n, bytes, (uint32_t)(n * 31 + bytes));
                check_flags(&k, &d);
                check_sets(&k, &d);
                check_moves(&k, &d);
            }
    }
}

static const td_check checks[] = {TD_CHECK(every_version_keeps_the_rule)};

TD_CHECK_FAMILY(keep, checks, NULL, NULL, NULL);
