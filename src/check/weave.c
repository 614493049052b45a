/* Every interleaving kernel of every instruction set of this machine against the rule, bit by bit: all strides and
 * ways, runs of 1 to two windows and one bit more, rows at odd distances, sides that begin at any bit, guard bits
 * around and between, and sides that end where memory ends. The table of kernels/weave.h makes the list. */
#include "kernels/weave.h"
#include "check/check.h"
#include "check/versions.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct kernel {
    const char *name, *isa;
    int spreads;
    td_weave_fn fn;
} kernel;

#define SIDE_BYTES 4096

typedef struct guarded {
    unsigned char *all, *page; /* the bytes before and after the page are not accessible */
} guarded;

static guarded dst, src;
static unsigned char expected[SIDE_BYTES];

static guarded make_guarded(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded g = {.all = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
    assert_true(g.all != MAP_FAILED && page >= SIDE_BYTES);
    g.page = g.all + page;
    assert_int_equal(mprotect(g.page, page, PROT_READ | PROT_WRITE), 0);
    g.page += page - SIDE_BYTES; /* the end of the page is that of the side */
    return g;
}

static unsigned bit_of(const unsigned char *base, int64_t bit)
{
    return (unsigned)base[bit / 8] >> bit % 8 & 1u;
}

static void check_job(const kernel *k, const td_weave *t, unsigned dst_off, unsigned src_off, int at_end)
{
    const int64_t spread = td_weave_spread_end(t), flat = td_weave_flat_end(t);
    const int64_t dst_last = k->spreads ? spread : flat, src_last = k->spreads ? flat : spread;
    /* at the end: the last bit of the job lies in the last byte before memory that cannot be touched */
    int64_t dst_bit = dst_off, src_bit = src_off;
    if (at_end) {
        dst_bit += (SIDE_BYTES - 1 - (dst_bit + dst_last) / 8) * 8;
        src_bit += (SIDE_BYTES - 1 - (src_bit + src_last) / 8) * 8;
    }
    for (size_t i = 0; i < SIDE_BYTES; i++)
        dst.page[i] = expected[i] = (unsigned char)(i * 73 + 5);
    for (uint64_t r = 0; r < t->rows; r++)
        for (unsigned j = 0; j < t->ways; j++)
            for (uint64_t i = 0; i < t->bits; i++) {
                const int64_t s = (int64_t)r * t->spread_row + (int64_t)(i * t->stride + j);
                const int64_t f = (int64_t)r * t->flat_row + (int64_t)j * t->way + (int64_t)i;
                const int64_t to = dst_bit + (k->spreads ? s : f), from = src_bit + (k->spreads ? f : s);
                expected[to / 8] =
                    (unsigned char)((expected[to / 8] & ~(1u << to % 8)) | bit_of(src.page, from) << to % 8);
            }
    k->fn(t, dst.page, dst_bit, src.page, src_bit);
    if (memcmp(dst.page, expected, SIDE_BYTES) != 0)
        fail_msg("%s_%s: %llu rows of %llu bits, stride %u, %u ways, from bits %lld and %lld", k->name, k->isa,
                 (unsigned long long)t->rows, (unsigned long long)t->bits, t->stride, t->ways, (long long)dst_bit,
                 (long long)src_bit);
}

static void check(const kernel *k)
{
    unsigned turn = 0;
    for (unsigned stride = 1; stride <= TD_WEAVE_STRIDE; stride++)
        for (unsigned ways = 1; ways <= stride; ways += 1 + (stride > 9) * (ways % 5))
            for (uint64_t bits = 1; bits * stride <= 2 * 64 + stride + 8; bits++, turn++) {
                const uint64_t rows = 1 + turn % 3;
                td_weave t = {.bits = bits,
                              .stride = stride,
                              .ways = ways,
                              .rows = rows,
                              .way = (int64_t)bits + turn % 7,
                              .flat_row = (int64_t)(ways * (bits + 7)) + turn % 5,
                              .spread_row = (int64_t)(bits * stride) + turn % 11};
                if (turn % 4 == 0) /* rows of whole bytes have windows of 64 bits */
                    t.spread_row = (t.spread_row + 7) / 8 * 8;
                check_job(k, &t, turn % 4 == 0 ? 0 : turn % 8, turn % 5, turn & 1);
                check_job(k, &t, turn % 3, turn % 4 == 0 ? 0 : turn % 8, !(turn & 1));
            }
}

/* Two, four and eight ways at whole bytes, which go in steps of 16 bytes of each, two rows at a time. */
static void check_whole(const kernel *k)
{
    unsigned turn = 0;
    for (unsigned ways = 2; ways <= 8; ways *= 2)
        for (uint64_t bits = 8; bits <= 2 * 128 + 40; bits += turn % 3 ? 8 : 5, turn++) {
            td_weave t = {.bits = bits, .stride = ways, .ways = ways, .rows = 1 + turn % 5};
            t.way = (int64_t)(bits + 7) / 8 * 8 + turn % 2 * 8;
            t.flat_row = ways * t.way + turn % 3 * 8;
            t.spread_row = (int64_t)(bits * ways + 7) / 8 * 8 + turn % 4 * 8;
            check_job(k, &t, 0, 0, turn & 1);
            check_job(k, &t, 8, 16, !(turn & 1));
        }
}

/* Two ways in many rows of whole bytes, which vectors take eight rows of at a time. */
static void check_rows(const kernel *k)
{
    unsigned turn = 0;
    for (uint64_t bits = 1; bits <= 72; bits++)
        for (unsigned more = 0; more < 3; more++, turn++) {
            td_weave t = {.bits = bits, .stride = 2, .ways = 2, .rows = 30 + turn % 19};
            t.way = (int64_t)bits + turn % 4;
            t.flat_row = (2 * t.way + 7) / 8 * 8 + turn % 2 * 8;
            t.spread_row = (int64_t)(2 * bits + 7) / 8 * 8 + more * 8;
            const unsigned flat_off = turn % 11;
            check_job(k, &t, k->spreads ? 8 : flat_off, k->spreads ? flat_off : 8, 0);
            check_job(k, &t, k->spreads ? 0 : flat_off, k->spreads ? flat_off : 0, 1);
        }
}

static void kernels_follow_the_rule(void **state)
{
    (void)state;
    dst = make_guarded();
    src = make_guarded();
    for (size_t i = 0; i < SIDE_BYTES; i++)
        src.page[i] = (unsigned char)(i * 151 + i / 256 + 31);
#define X(name, spreads)                                                                                               \
    CHECK_VERSIONS(weave, check, name, spreads);                                                                       \
    CHECK_VERSIONS(weave, check_whole, name, spreads);                                                                 \
    CHECK_VERSIONS(weave, check_rows, name, spreads);
    TD_WEAVE_KERNELS(X)
#undef X
}

static const td_check checks[] = {TD_CHECK(kernels_follow_the_rule)};

TD_CHECK_FAMILY(weave, checks, NULL, NULL, NULL);
