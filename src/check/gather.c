/* Every kernel of the gather family of every instruction set of this machine against the rule: runs of every size from
 * one byte past two lines, tables of 2, 4 and 8 bytes, one bank and several, or addresses, steps of one and
 * more, forward and backward, near and far, bases off their alignment, for no word to some more than are prefetched;
 * lines of words in one piece to eight, over several banks, from any word on to any other, among lines in no order;
 * guard bytes around every run. The table of kernels/gather.h makes the list. */
#include "kernels/gather.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANKS 11
#define WORDS 128 /* of a bank */
#define MOST_BYTES 131
#define GUARD 0xA5

typedef struct kernel {
    const char *name, *isa;
    bool dump;
    td_gather_fn fn;
} kernel;

static unsigned char bank[BANKS][WORDS * (MOST_BYTES + 8) + 64], expected_bank[BANKS][sizeof bank[0]];
static unsigned char elems[4 * WORDS * MOST_BYTES + 64], expected_elems[sizeof elems];
static unsigned char entries[8 * (4 * WORDS + 4)];

static void put_entry(size_t i, unsigned bytes, uint64_t value)
{
    memcpy(entries + i * bytes, &value, bytes); /* little endian, as every host that has these kernels */
}

static void fill(unsigned char *to, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(seed += (unsigned)i * 7 + 3);
}

typedef struct trial {
    size_t bytes, count;
    unsigned entry_bytes, banks;
    int step; /* of the table and of the elements */
    bool far, addresses;
} trial;

static void check(const kernel *k, const trial *t)
{
    const size_t word_bytes = t->bytes + t->bytes % 5, words = WORDS / t->banks, first = t->step < 0 ? t->count : 0;
    unsigned char *base[BANKS];
    for (size_t b = 0; b < BANKS; b++)
        base[b] = bank[b] + 3 * b % 7;
    const size_t used = words * word_bytes + 64;
    const ptrdiff_t elem_step = t->step * (ptrdiff_t)t->bytes, offset_step = t->step > 1 ? 1 : 0;
    for (size_t b = 0; b < t->banks; b++) {
        fill(bank[b], used, (unsigned)b);
        memcpy(expected_bank[b], bank[b], used);
    }
    fill(elems, sizeof elems, 17);
    unsigned char *const start = elems + 5 + first * t->bytes;
    for (size_t i = 0; i < 4 * WORDS; i++) { /* 37 is prime to every number of words, so places differ */
        const uint64_t word = i * 37 % words, in = i % t->banks;
        put_entry(i, t->entry_bytes, t->addresses ? (uintptr_t)(base[in] + word * word_bytes) : in << 7 | word);
    }
    memcpy(expected_elems, elems, sizeof elems);
    for (size_t i = 0; i < t->count; i++) {
        const size_t at = (size_t)((ptrdiff_t)first + (ptrdiff_t)i * t->step);
        unsigned char *place = expected_bank[at % t->banks] + (base[at % t->banks] - bank[at % t->banks]) +
                               at * 37 % words * word_bytes + 2 + (ptrdiff_t)i * offset_step;
        unsigned char *elem = expected_elems + (start - elems) + (ptrdiff_t)i * elem_step;
        memcpy(k->dump ? elem : place, k->dump ? place : elem, t->bytes);
    }
    k->fn(&(td_gather){.elems = start,
                       .elem_step = elem_step,
                       .bank = t->addresses ? NULL : base,
                       .one_bank = t->banks == 1,
                       .banks = t->far ? 0 : t->banks, /* 0: not known */
                       .far = t->far,
                       .entry_bytes = (uint8_t)t->entry_bytes,
                       .bank_shift = 7,
                       .entry = entries + first * t->entry_bytes,
                       .entry_step = t->step,
                       .word_bytes = word_bytes,
                       .offset = 2,
                       .offset_step = offset_step,
                       .bytes = t->bytes,
                       .count = t->count});
    bool same = memcmp(elems, expected_elems, sizeof elems) == 0;
    for (size_t b = 0; b < t->banks; b++)
        same = same && memcmp(bank[b], expected_bank[b], used) == 0;
    if (!same)
        fail_msg("%s_%s: %zu runs of %zu bytes, entries of %u%s, %u banks, steps of %d%s", k->name, k->isa, t->count,
                 t->bytes, t->entry_bytes, t->addresses ? " (addresses)" : "", t->banks, t->step,
                 t->far ? ", far" : "");
}

static void check_kernel(const kernel *k)
{
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 36, 37, 41, 64, 65, 97};
    trial t;
    for (t.bytes = 1; t.bytes <= MOST_BYTES; t.bytes += t.bytes < 17 ? 1 : t.bytes % 16 == 0 ? 1 : 15)
        for (t.entry_bytes = 2; t.entry_bytes <= 8; t.entry_bytes *= 2)
            for (t.banks = 1; t.banks <= BANKS; t.banks += t.banks == 3 ? BANKS - 3 : 2)
                for (t.step = -1; t.step <= 3; t.step += 2)
                    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                        t.count = counts[i];
                        for (unsigned way = 0; way < 4 && t.count <= WORDS / t.banks; way++) {
                            t.far = way % 2;
                            t.addresses = way / 2 && t.entry_bytes == 8;
                            check(k, &t);
                        }
                    }
}

static void test_kernels(void **state)
{
    (void)state;
#define X(name) CHECK_VERSIONS(gather, check_kernel, name, strcmp(#name, "gather") == 0);
    TD_GATHER_KERNELS(X)
#undef X
}

/* -- lines -- */

#define LINES 5
#define LINE_BANKS 3
#define LINE_BANK_BYTES 1024

static unsigned char lined[LINE_BANKS][LINE_BANK_BYTES], expected_lined[LINE_BANKS][LINE_BANK_BYTES];
static unsigned char line_elems[(LINES + 1) * TD_LINE + 64], expected_line_elems[sizeof line_elems];
static uint32_t line_entries[(LINES + 1) * TD_LINE];
static uint8_t line_pattern[LINES];
static uint64_t line_first[LINES * TD_LINE_PIECES];
static td_line_pattern line_patterns[LINES];
static uint64_t next_random;

static uint64_t below(uint64_t n)
{
    next_random = next_random * 6364136223846793005u + 1442695040888963407u;
    return (next_random >> 33) % n;
}

/* A line of words in a random order, cut into pieces that lie apart, in any bank. `free_word` is the first word of each
 * bank that nobody has. */
static void make_line(size_t line, size_t words, size_t bytes, size_t *free_word, size_t bank_words)
{
    td_line_pattern *p = &line_patterns[line];
    uint8_t order[TD_LINE] = {0};
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < words; i++) {
        const size_t other = below(i + 1);
        order[i] = order[other];
        order[other] = (uint8_t)i;
    }
    const size_t most = words < TD_LINE_PIECES ? words : TD_LINE_PIECES;
    const size_t pieces = 1 + below(most);
    for (size_t k = 0, at = 0; k < pieces; k++) {
        const size_t left = pieces - 1 - k, n = left ? 1 + below(words - at - left) : words - at;
        size_t in = below(LINE_BANKS);
        while (free_word[in] + n > bank_words)
            in = (in + 1) % LINE_BANKS;
        p->first[k] = (uint8_t)at;
        line_first[line * TD_LINE_PIECES + k] = in << 16 | free_word[in];
        for (size_t i = 0; i < n; i++, at++) {
            line_entries[line * words + order[at]] = (uint32_t)(in << 16 | (free_word[in] + i));
            for (size_t b = 0; b < bytes; b++) {
                p->put[at * bytes + b] = (uint8_t)(order[at] * bytes + b);
                p->take[order[at] * bytes + b] = (uint8_t)(at * bytes + b);
                p->mask[k] |= (uint64_t)1 << (at * bytes + b);
            }
        }
        free_word[in] += n + below(2);
    }
    p->pieces = (uint8_t)pieces;
    line_pattern[line] = below(4) ? (uint8_t)line : TD_NO_LINE;
}

static void check_lines(const kernel *k, size_t bytes, size_t from, size_t count)
{
    const size_t words = TD_LINE / bytes, bank_words = (LINE_BANK_BYTES - 64) / bytes;
    size_t free_word[LINE_BANKS] = {0};
    unsigned char *base[LINE_BANKS];
    for (size_t line = 0; line < LINES; line++)
        make_line(line, words, bytes, free_word, bank_words);
    for (size_t i = 0; i < words; i++) { /* past the last line */
        size_t in = below(LINE_BANKS);
        while (free_word[in] == bank_words)
            in = (in + 1) % LINE_BANKS;
        line_entries[LINES * words + i] = (uint32_t)(in << 16 | free_word[in]++);
    }
    for (size_t i = 0; i < (LINES + 1) * words; i++) /* entries that no box reaches may be anything */
        if (i < from || i >= from + count)
            line_entries[i] = UINT32_MAX;
    for (size_t line = 0; line < LINES; line++) /* and so may the pieces that have no others */
        for (size_t p = 0; p < line_patterns[line].pieces; p++) {
            bool reached = false;
            for (size_t i = from; i < from + count && !reached; i++)
                reached =
                    i / words == line && line_patterns[line].mask[p] >> line_patterns[line].take[i % words * bytes] & 1;
            if (!reached)
                line_first[line * TD_LINE_PIECES + p] = UINT64_MAX;
        }
    for (size_t b = 0; b < LINE_BANKS; b++) {
        base[b] = lined[b] + 1 + 2 * b;
        fill(lined[b], LINE_BANK_BYTES, (unsigned)(b + bytes));
        memcpy(expected_lined[b], lined[b], LINE_BANK_BYTES);
    }
    fill(line_elems, sizeof line_elems, 29);
    memcpy(expected_line_elems, line_elems, sizeof line_elems);
    for (size_t i = 0; i < count; i++) {
        const uint32_t e = line_entries[from + i];
        unsigned char *place = expected_lined[e >> 16] + (base[e >> 16] - lined[e >> 16]) + (e & 0xFFFF) * bytes + 2,
                      *elem = expected_line_elems + 7 + i * bytes;
        memcpy(k->dump ? elem : place, k->dump ? place : elem, bytes);
    }
    const td_lines lines = {.word_bytes = bytes,
                            .count = LINES,
                            .pieces = TD_LINE_PIECES,
                            .pattern = line_pattern,
                            .entry = line_first,
                            .patterns = line_patterns};
    k->fn(&(td_gather){.elems = line_elems + 7,
                       .elem_step = (ptrdiff_t)bytes,
                       .bank = base,
                       .banks = LINE_BANKS,
                       .entry_bytes = 4,
                       .bank_shift = 16,
                       .entry = line_entries + from,
                       .entry_step = 1,
                       .word_bytes = bytes,
                       .offset = 2,
                       .bytes = bytes,
                       .count = count,
                       .lines = &lines,
                       .entry_at = from});
    if (memcmp(line_elems, expected_line_elems, sizeof line_elems) || memcmp(lined, expected_lined, sizeof lined))
        fail_msg("%s_%s: lines of %zu bytes, words %zu to %zu", k->name, k->isa, bytes, from, from + count);
}

static void check_lines_of(const kernel *k)
{
    next_random = 1;
    for (size_t bytes = 1; bytes <= 16; bytes *= 2) {
        const size_t words = TD_LINE / bytes, all = (LINES + 1) * words;
        for (size_t from = 0; from <= words + 1; from++)
            for (size_t count = 0; from + count <= all; count += count < 2 * words ? 1 : 1 + below(words))
                check_lines(k, bytes, from, count);
    }
}

static void test_lines(void **state)
{
    (void)state;
#define X(name) CHECK_VERSIONS(gather, check_lines_of, name, strcmp(#name, "gather") == 0);
    TD_GATHER_KERNELS(X)
#undef X
}

/* -- bench -- */

#define BENCH_BYTES ((size_t)1 << 20)

static unsigned char *far_words, *far_elems, *copy;
static uint32_t *far_entries;
static size_t bench_bytes;

static void run(const kernel *k)
{
    k->fn(&(td_gather){.elems = far_elems,
                       .elem_step = (ptrdiff_t)bench_bytes,
                       .bank = &far_words,
                       .one_bank = true,
                       .entry_bytes = 4,
                       .bank_shift = 31,
                       .entry = far_entries,
                       .entry_step = 1,
                       .word_bytes = bench_bytes,
                       .bytes = bench_bytes,
                       .count = BENCH_BYTES / bench_bytes});
}

static void bench_kernel(const kernel *k)
{
    for (bench_bytes = 4; bench_bytes <= 128; bench_bytes *= 2) {
        const uint32_t count = (uint32_t)(BENCH_BYTES / bench_bytes);
        for (uint32_t i = 0; i < count; i++)
            far_entries[i] = (i ^ (i >> 5 & 31)) % count;
        printf("%3zu bytes: ", bench_bytes);
        BENCH(run, k, copy, far_elems, BENCH_BYTES);
    }
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    far_words = calloc(2, BENCH_BYTES);
    far_elems = calloc(1, BENCH_BYTES);
    copy = calloc(1, BENCH_BYTES);
    far_entries = calloc(BENCH_BYTES / 4, sizeof *far_entries);
    if (!far_words || !far_elems || !copy || !far_entries)
        return 1;
#define X(name) CHECK_VERSIONS(gather, bench_kernel, name, strcmp(#name, "gather") == 0);
    TD_GATHER_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {TD_CHECK(test_kernels), TD_CHECK(test_lines)};

TD_CHECK_FAMILY(gather, checks, NULL, NULL, bench);
