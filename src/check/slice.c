/* Every slicing kernel of every instruction set of this machine against the rule, bit by bit: all lanes with fields of
 * every width, 1 to 20 slices, rows that one block, several and the plain end take, rows at odd distances, fields that
 * begin at any bit, guard bits around them, and rows and arrays that end where memory ends. The table of
 * kernels/slice.h makes the list. */
#include "kernels/slice.h"
#include "check/check.h"
#include "check/versions.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct kernel {
    const char *name, *isa;
    int writes; /* the arrays */
    td_slice_fn fn;
} kernel;

#define MOST_ROWS 530
#define MOST_SLICES 20
#define WORDS_BYTES ((size_t)MOST_ROWS * 176)
#define LANES_BYTES ((size_t)MOST_ROWS * 8)

/* The bytes after the end are not accessible. */
static unsigned char *make_side(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    unsigned char *all = mmap(NULL, (pages + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    assert_int_equal(mprotect(all, pages * page, PROT_READ | PROT_WRITE), 0);
    return all + pages * page; /* its end */
}

static unsigned char *words_end, *lanes_end[MOST_SLICES];
static unsigned char expected_words[WORDS_BYTES], expected_lanes[MOST_SLICES][LANES_BYTES + 8];

static unsigned bit_of(const unsigned char *base, uint64_t bit)
{
    return (unsigned)base[bit / 8] >> bit % 8 & 1u;
}

static void set_bit(unsigned char *base, uint64_t bit, unsigned value)
{
    base[bit / 8] = (unsigned char)((base[bit / 8] & ~(1u << bit % 8)) | value << bit % 8);
}

static void fill(unsigned char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)((i * 151 + i / 256 * 7 + seed) >> (i % 3));
}

static void check_job(const kernel *k, td_slicing *t)
{
    unsigned char *lane[MOST_SLICES] = {0};
    const size_t lane_bytes = t->rows * t->lane_bytes, guard = 8;
    const size_t bytes = (t->rows - 1) * (size_t)t->row_bytes + (t->first_bit + (size_t)t->slices * t->bits + 7) / 8;
    unsigned char *words = words_end - bytes;
    fill(words, bytes, t->bits);
    memcpy(expected_words, words, bytes);
    for (unsigned s = 0; s < t->slices; s++) {
        lane[s] = lanes_end[s] - lane_bytes;
        fill(lane[s] - guard, lane_bytes + guard, 11 * s);
        memcpy(expected_lanes[s], lane[s] - guard, lane_bytes + guard);
        for (uint64_t r = 0; r < t->rows; r++)
            for (unsigned b = 0; b < 8 * t->lane_bytes; b++) {
                const uint64_t of_lane = 8 * (guard + r * t->lane_bytes) + b,
                               of_word = 8 * r * (uint64_t)t->row_bytes + t->first_bit + (uint64_t)s * t->bits + b;
                if (k->writes)
                    set_bit(expected_lanes[s], of_lane, b < t->bits ? bit_of(words, of_word) : 0);
                else if (b < t->bits)
                    set_bit(expected_words, of_word, bit_of(lane[s] - guard, of_lane));
            }
    }
    t->lane = lane;
    k->fn(t, words);
    int same = memcmp(words, expected_words, bytes) == 0;
    for (unsigned s = 0; s < t->slices; s++)
        same &= memcmp(lane[s] - guard, expected_lanes[s], lane_bytes + guard) == 0;
    if (!same)
        fail_msg("%s_%s: %llu rows of %u slices of %u bits, lanes of %u bytes, from bit %u, rows %lld bytes apart",
                 k->name, k->isa, (unsigned long long)t->rows, t->slices, t->bits, t->lane_bytes, t->first_bit,
                 (long long)t->row_bytes);
}

static void check(const kernel *k)
{
    static const uint64_t rows[] = {1, 8, 9, 10, 16, 23, 31, 32, 43, 64, 71};
    unsigned turn = 0;
    for (unsigned lane_bytes = 1; lane_bytes <= 8; lane_bytes *= 2)
        for (unsigned bits = 1; bits <= 8 * lane_bytes; bits++)
            for (unsigned slices = 1; slices <= MOST_SLICES; slices += 1 + turn % 3, turn++) {
                td_slicing t = {.bits = bits,
                                .lane_bytes = lane_bytes,
                                .slices = slices,
                                .first_bit = turn % 3 ? turn % 8 : 0,
                                .rows = turn % 97 == 0 ? MOST_ROWS : rows[turn % 11]};
                const uint64_t row_bytes = ((uint64_t)t.first_bit + (uint64_t)slices * bits + 7) / 8;
                t.row_bytes = (int64_t)(row_bytes + (turn % 5 ? turn % 5 - 1 : 0));
                check_job(k, &t);
            }
}

static void kernels_follow_the_rule(void **state)
{
    (void)state;
    words_end = make_side(WORDS_BYTES);
    for (unsigned s = 0; s < MOST_SLICES; s++)
        lanes_end[s] = make_side(LANES_BYTES + 8);
#define X(name, writes) CHECK_VERSIONS(slice, check, name, writes);
    TD_SLICE_KERNELS(X)
#undef X
}

static const td_check checks[] = {TD_CHECK(kernels_follow_the_rule)};

TD_CHECK_FAMILY(slice, checks, NULL, NULL, NULL);
