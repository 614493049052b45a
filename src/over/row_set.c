/* A bit for every row of every array, and the first and the last that is set (row_set.h). The bits are pages that the
 * system gives on first use, so that a deep array costs what is reached of it. Called by organisation.c, which marks,
 * and over.c, which takes out. */
#include "over/row_set.h"

#include "memory/memory.h"

#include <stdlib.h>

/* The marked rows of one array lie in [low, high]; low > high where there are none. */
typedef struct bounds {
    uint64_t low, high;
} bounds;

struct td_row_set {
    td_memory *bits;
    uint64_t words_each; /* of 64 bits, for each array */
    size_t arrays, at;   /* all in front of `at` are empty */
    bounds bounds[];
};

static const bounds none = {UINT64_MAX, 0};

td_status td_row_set_create(size_t arrays, uint64_t depth_words, td_row_set **out)
{
    td_row_set *rows = calloc(1, sizeof *rows + arrays * sizeof(bounds));
    if (!rows)
        return td_fail_alloc(sizeof *rows + arrays * sizeof(bounds));
    rows->arrays = arrays;
    rows->words_each = (depth_words + 63) / 64;
    for (size_t i = 0; i < arrays; i++)
        rows->bounds[i] = none;
    const td_status status = td_memory_create("rows", 64, rows->words_each * arrays, &rows->bits);
    if (status)
        td_row_set_destroy(&rows);
    else
        *out = rows;
    return status;
}

void td_row_set_destroy(td_row_set **rows)
{
    if (!*rows)
        return;
    td_memory_destroy(&(*rows)->bits);
    free(*rows);
    *rows = NULL;
}

static uint64_t *bits_of(const td_row_set *rows, size_t array)
{
    return (uint64_t *)(void *)rows->bits->data + array * rows->words_each;
}

/* Bits [from, to] of 64. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return UINT64_MAX >> (63 - to) & UINT64_MAX << from;
}

/* The part of rows [first, last] that lies in 64-bit word `word`. */
static uint64_t part(uint64_t word, uint64_t first, uint64_t last)
{
    return between(word == first / 64 ? first % 64 : 0, word == last / 64 ? last % 64 : 63);
}

void td_row_set_mark(td_row_set *rows, size_t array, uint64_t first, uint64_t count)
{
    uint64_t *bits = bits_of(rows, array);
    bounds *b = &rows->bounds[array];
    const uint64_t last = first + count - 1;
    for (uint64_t word = first / 64; word <= last / 64; word++)
        bits[word] |= part(word, first, last);
    b->low = first < b->low ? first : b->low;
    b->high = last > b->high ? last : b->high;
    rows->at = 0;
}

/* Nearly all words are full or empty, and without its own instruction counting takes a call. */
static uint64_t count_bits(uint64_t word)
{
    return word == UINT64_MAX ? 64 : word ? (uint64_t)__builtin_popcountll(word) : 0;
}

uint64_t td_row_set_count(const td_row_set *rows)
{
    uint64_t count = 0;
    for (size_t i = 0; i < rows->arrays; i++) {
        const bounds *b = &rows->bounds[i];
        for (uint64_t word = b->low / 64; b->low <= b->high && word <= b->high / 64; word++)
            count += count_bits(bits_of(rows, i)[word]);
    }
    return count;
}

/* The first row from `from` to `to` that is marked, or is not; to + 1 where none is. */
static uint64_t find(const uint64_t *bits, uint64_t from, uint64_t to, bool marked)
{
    for (uint64_t word = from / 64; word <= to / 64; word++) {
        const uint64_t found = (marked ? bits[word] : ~bits[word]) & part(word, from, to);
        if (found)
            return 64 * word + (uint64_t)__builtin_ctzll(found);
    }
    return to + 1;
}

bool td_row_set_take(td_row_set *rows, td_row_run *out)
{
    for (; rows->at < rows->arrays; rows->at++) {
        bounds *b = &rows->bounds[rows->at];
        if (b->low > b->high)
            continue;
        uint64_t *bits = bits_of(rows, rows->at);
        const uint64_t first = find(bits, b->low, b->high, true), end = find(bits, first, b->high, false);
        for (uint64_t word = first / 64; word <= (end - 1) / 64; word++)
            bits[word] &= ~part(word, first, end - 1);
        *out = (td_row_run){rows->at, first, end - first};
        b->low = end; /* the row at `high` is marked: where that was the last run, low > high */
        if (b->low > b->high)
            *b = none;
        return true;
    }
    rows->at = 0;
    return false;
}
