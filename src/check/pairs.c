/* The kernels of kernels/pairs.h, every version of this machine against loops written here: all sizes of elements, no
 * group to more than what the widest version takes at once, bases off their alignment, equal magnitudes, all tables of
 * codes, and bytes behind the result that stay. */
#include "kernels/pairs.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 1100, GUARD = 0x5a };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 1 ^ *state << 3;
}

typedef struct data {
    unsigned char src[8 * MOST + 8], bits[MOST / 8 + 1];
    size_t n;
    unsigned bytes, off;
    uint64_t own;
    td_pairs_table table;
} data;

static uint64_t elem_of(const unsigned char *at, size_t i, unsigned bytes)
{
    uint64_t elem = 0;
    memcpy(&elem, at + i * bytes, bytes);
    return elem;
}

static int bit_of(const unsigned char *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static unsigned code_of(const unsigned char *codes, size_t g)
{
    return (unsigned)codes[g / 2] >> g % 2 * 4 & 15U;
}

/* Elements of few values, so that many are equal or zero; and codes of any two places that ascend. */
static void draw(data *d, size_t n, unsigned bytes, uint32_t seed)
{
    static const unsigned char legal[] = {4, 8, 9, 12, 13, 14};
    uint32_t state = seed ^ td_check_salt();
    memset(d, 0, sizeof *d);
    d->n = n;
    d->bytes = bytes;
    d->off = seed % 3;
    d->own = (UINT64_MAX >> 8 * (8 - bytes)) >> (seed % 2);
    for (size_t i = 0; i < n; i++) {
        uint64_t elem = next(&state) % 3 ? (uint64_t)next(&state) << 32 | next(&state) : next(&state) % 3;
        if (next(&state) % 4 == 0)
            elem = next(&state) % 2 ? (uint64_t)1 << (8 * bytes - 1) : 0; /* nothing but a sign, or nothing */
        memcpy(d->src + d->off + i * bytes, &elem, bytes);
        if (next(&state) % 2)
            d->bits[i / 8] |= (unsigned char)(1 << i % 8);
    }
    for (size_t f = 0; f < 16; f++)
        d->table.code[f] = legal[next(&state) % sizeof legal];
    td_pairs_table_make(&d->table);
}

static void check_sets(const td_pairs_kernels *k, const data *d)
{
    unsigned char flags[MOST / 8 + 2], largest[MOST / 8 + 2];
    const unsigned char *src = d->src + d->off;
    const size_t used = (d->n + 7) / 8;
    int crowded = 0;
    memset(flags, GUARD, sizeof flags);
    memset(largest, GUARD, sizeof largest);
    k->flags(flags, src, d->n, d->bytes, d->own);
    k->largest(largest, src, d->n, d->bytes, d->own);
    for (size_t i = 0; i < d->n; i++) {
        const uint64_t mine = elem_of(src, i, d->bytes) & d->own;
        unsigned before = 0; /* elements of the group that are kept sooner */
        for (size_t j = i / 4 * 4; j < i / 4 * 4 + 4; j++) {
            const uint64_t other = elem_of(src, j, d->bytes) & d->own;
            before += other > mine || (other == mine && j < i);
        }
        assert_int_equal(bit_of(flags, i), mine != 0);
        assert_int_equal(bit_of(largest, i), mine != 0 && before < 2);
    }
    for (size_t i = d->n; i < 8 * used; i++) {
        assert_int_equal(bit_of(flags, i), 0);
        assert_int_equal(bit_of(largest, i), 0);
    }
    assert_int_equal(flags[used], GUARD);
    assert_int_equal(largest[used], GUARD);
    assert_false(k->crowded(largest, d->n));
    for (size_t g = 0; g < d->n / 4; g++)
        crowded |= __builtin_popcount(code_of(d->bits, g)) > 2;
    assert_int_equal(k->crowded(d->bits, d->n), crowded);
}

static void check_moves(const td_pairs_kernels *k, const data *d)
{
    static unsigned char got[4 * MOST + 64], back[8 * MOST + 64];
    unsigned char codes[MOST / 8 + 2];
    const unsigned char *src = d->src + d->off;
    const size_t groups = d->n / 4, used = (d->n + 7) / 8;
    memset(got, GUARD, sizeof got);
    memset(codes, GUARD, sizeof codes);
    memset(back, GUARD, sizeof back);
    k->close(got + d->off, codes, src, d->bits, &d->table, d->n, d->bytes);
    assert_true(k->open(back + d->off, got + d->off, codes, d->n, d->bytes));
    for (size_t g = 0; g < groups; g++) {
        const unsigned code = d->table.code[code_of(d->bits, g)], place[2] = {code & 3, code >> 2};
        assert_int_equal(code_of(codes, g), code);
        for (unsigned i = 0; i < 4; i++) {
            const bool is_kept = (i == place[0] || i == place[1]) && bit_of(d->bits, 4 * g + i);
            assert_int_equal(elem_of(back + d->off, 4 * g + i, d->bytes),
                             is_kept ? elem_of(src, 4 * g + i, d->bytes) : 0);
        }
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(elem_of(got + d->off, 2 * g + i, d->bytes),
                             bit_of(d->bits, 4 * g + place[i]) ? elem_of(src, 4 * g + place[i], d->bytes) : 0);
    }
    if (groups % 2)
        assert_int_equal(codes[groups / 2] >> 4, 0);
    assert_int_equal(codes[used], GUARD);
    for (unsigned i = 0; i < d->off; i++)
        assert_int_equal(got[i], GUARD);
    assert_int_equal(got[d->off + 2 * groups * d->bytes], GUARD);
    assert_int_equal(back[d->off + d->n * d->bytes], GUARD);
}

/* Every code whose places do not ascend, alone among good ones. */
static void check_refusal(const td_pairs_kernels *k, size_t groups, size_t at)
{
    static unsigned char values[MOST], out[2 * MOST];
    unsigned char codes[MOST / 8 + 1];
    for (unsigned code = 0; code < 16; code++) {
        memset(codes, 0x44, sizeof codes);
        codes[at / 2] = (unsigned char)(at % 2 ? 4U | code << 4 : 0x40U | code);
        assert_int_equal(k->open(out, values, codes, 4 * groups, 1), (code & 3) < code >> 2);
    }
}

static void every_version_keeps_the_rule(void **state)
{
    (void)state;
    static data d;
    for (const version *v = all_versions(); v->isa; v++) {
        td_pairs_kernels k;
        td_pairs_init(&k, v->flags);
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
            for (size_t n = 0; n <= MOST - 4; n += n < 200 ? 4 : 52) {
                draw(&d, n, bytes, (uint32_t)(n * 31 + bytes));
                check_sets(&k, &d);
                check_moves(&k, &d);
            }
        for (size_t groups = 1; groups < 40; groups++)
            for (size_t at = 0; at < groups; at++)
                check_refusal(&k, groups, at);
    }
}

static const td_check checks[] = {TD_CHECK(every_version_keeps_the_rule)};

TD_CHECK_FAMILY(pairs, checks, NULL, NULL, NULL);
