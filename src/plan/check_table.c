/* The checks on words that a table has: each inside its memory, no two in one place. Called by check_words.c. The usual
 * answer is found by setting a bit per place and counting the bits; only where the count is short are the words visited
 * one by one, for the message. */
#include "plan/places.h"

#include <stdlib.h>
#include <string.h>

/* -- which words are written --------------------------------------------------------------------------------------- */

static bool holds(const td_bound *bound, const td_region *region, const uint64_t *at)
{
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].placed && (at[a] < region->start[a] || at[a] - region->start[a] >= region->extent[a]))
            return false;
    return true;
}

/* The beats that the word at these coordinates writes into, 0 for a word of no region. */
static uint64_t beats_written(const td_bound *bound, const td_regions *written, const uint64_t *at)
{
    uint64_t beats = 0;
    for (size_t r = 0; r < written->count; r++)
        if (written->region[r].beats > beats && holds(bound, &written->region[r], at))
            beats = written->region[r].beats;
    return beats;
}

/* -- range --------------------------------------------------------------------------------------------------------- */

static td_status check_range_of(const td_bound *bound, const td_words *words, const td_plan *plan,
                                const td_regions *written, uint64_t number)
{
    const td_geometry *g = &plan->geometry;
    uint64_t at[TD_MAX_BOUND];
    int64_t address = 0, bank = 0;
    td_word_coordinates(bound, words, number, at);
    const uint64_t beats = beats_written(bound, written, at);
    td_status status = td_words_at(bound, words, number, &address, &bank);
    if (status || !beats)
        return status;
    if (bank < 0 || (uint64_t)bank >= g->banks)
        return td_word_fail_bank(bound, plan, at, bank);
    if (address < 0 || (uint64_t)address >= g->depth_words || beats > g->depth_words - (uint64_t)address)
        return td_word_fail_address(bound, words, plan, at, address, beats);
    return TD_OK;
}

td_status td_table_check_range(const td_bound *bound, const td_words *words, const td_plan *plan,
                               const td_regions *written)
{
    const td_geometry *g = &plan->geometry;
    td_places *places = NULL;
    if (words->inside)
        return TD_OK;
    td_status status = td_places_create(bound, words, &places);
    const size_t most = status ? 1 : td_places_most(places);
    for (uint64_t number = 0; number < words->count && !status; number += most) {
        int64_t address[TD_EXPR_RUN] = {0}, bank[TD_EXPR_RUN] = {0};
        const size_t count = words->count - number < most ? (size_t)(words->count - number) : most;
        (void)td_places_run(places, number, count, address, bank); /* as when the table was made */
        for (size_t i = 0; i < count && !status; i++)
            if (address[i] < 0 || (uint64_t)address[i] >= g->depth_words ||
                plan->beats > g->depth_words - (uint64_t)address[i] || bank[i] < 0 || (uint64_t)bank[i] >= g->banks)
                status = check_range_of(bound, words, plan, written, number + i);
    }
    td_places_destroy(&places);
    return status;
}

/* -- two words in one place ---------------------------------------------------------------------------------------- */

/* Words that must have different places: a table, or the part of it that belongs to one lane. */
typedef struct slice {
    const td_bound *bound;
    const td_words *words;
    const td_table *table;
    const td_regions *written; /* NULL: every word is */
    uint64_t first, count;     /* of the words' numbers */
    uint64_t beats, banks;
    uint64_t low, span, places; /* place of a word: its bank * span + its address - low */
} slice;

static uint64_t entry_at(const slice *s, uint64_t number)
{
    return td_table_get(s->table, s->first + number);
}

static bool is_written(const slice *s, uint64_t number)
{
    uint64_t at[TD_MAX_BOUND];
    if (!s->written)
        return true;
    td_word_coordinates(s->bound, s->words, s->first + number, at);
    return beats_written(s->bound, s->written, at) != 0;
}

static uint64_t place_of(const slice *s, uint64_t number)
{
    const uint64_t entry = entry_at(s, number);
    return (entry >> s->table->bank_shift) * s->span + td_table_word(s->table, entry) - s->low;
}

/* Names the two words, given that number `second` has the place of an earlier one. */
static td_status fail_alias_at(const slice *s, uint64_t second)
{
    const uint64_t entry = entry_at(s, second);
    uint64_t first = 0, other = 0;
    for (; first < second; first++) {
        other = entry_at(s, first);
        const uint64_t low = other < entry ? other : entry, high = other < entry ? entry : other;
        if (high - low < s->beats && low >> s->table->bank_shift == high >> s->table->bank_shift &&
            is_written(s, first))
            break;
    }
    uint64_t a[TD_MAX_BOUND], b[TD_MAX_BOUND];
    td_word_coordinates(s->bound, s->words, s->first + first, a);
    td_word_coordinates(s->bound, s->words, s->first + second, b);
    const uint64_t one = td_table_word(s->table, other), two = td_table_word(s->table, entry);
    return td_word_fail_alias(s->bound, a, b, one > two ? one : two, entry >> s->table->bank_shift);
}

static int compare_entries(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Where a bit per place would take too much memory: sorts, then compares neighbours. */
static td_status apart_by_sorting(const slice *s)
{
    uint64_t *sorted = s->count ? malloc(s->count * sizeof *sorted) : NULL;
    if (!sorted)
        return td_fail_alloc(s->count * sizeof *sorted);
    uint64_t count = 0, clash = UINT64_MAX;
    for (uint64_t i = 0; i < s->count; i++)
        if (is_written(s, i))
            sorted[count++] = entry_at(s, i);
    qsort(sorted, count, sizeof *sorted, compare_entries);
    for (uint64_t i = 1; i < count && clash == UINT64_MAX; i++)
        if (sorted[i] - sorted[i - 1] < s->beats &&
            sorted[i] >> s->table->bank_shift == sorted[i - 1] >> s->table->bank_shift)
            clash = sorted[i];
    free(sorted);
    if (clash == UINT64_MAX)
        return TD_OK;
    uint64_t last = s->count - 1;
    while ((entry_at(s, last) - clash >= s->beats && clash - entry_at(s, last) >= s->beats) || !is_written(s, last))
        last--;
    return fail_alias_at(s, last);
}

static td_status apart_one_by_one(const slice *s, uint64_t *taken)
{
    td_status status = TD_OK;
    memset(taken, 0, (s->places / 64 + 1) * sizeof *taken);
    for (uint64_t i = 0; i < s->count && !status; i++)
        for (uint64_t beat = 0; beat < s->beats && !status && is_written(s, i); beat++) {
            const uint64_t place = place_of(s, i) + beat, bit = (uint64_t)1 << (place % 64);
            if (taken[place / 64] & bit)
                status = fail_alias_at(s, i);
            taken[place / 64] |= bit;
        }
    return status;
}

/* The bits of words [from, from + count). One bank and entries of 4 bytes are usual, so they are spared the rest. */
static void take_run(const slice *s, uint64_t from, uint64_t count, uint64_t *taken)
{
    const bool plain = s->words->high_bank == 0 && s->beats == 1;
#define TAKE(type)                                                                                                     \
    for (uint64_t i = 0; i < count; i++) {                                                                             \
        const uint64_t place = ((const type *)s->table->entry)[s->first + from + i] - s->low;                          \
        taken[place / 64] |= (uint64_t)1 << (place % 64);                                                              \
    }
    if (plain && s->table->entry_bytes == 2) {
        TAKE(uint16_t)
    } else if (plain && s->table->entry_bytes == 4) {
        TAKE(uint32_t)
    } else
        for (uint64_t i = 0; i < count; i++)
            for (uint64_t place = place_of(s, from + i), end = place + s->beats; place < end; place++)
                taken[place / 64] |= (uint64_t)1 << (place % 64);
#undef TAKE
}

/* The words of a region in rows along the fastest axis; returns how many. */
static uint64_t take_region(const slice *s, const td_region *region, uint64_t *taken)
{
    uint64_t step[TD_MAX_BOUND] = {0}, row = 1, total = 0;
    int fastest = -1;
    for (int a = 0; a < s->bound->axis_count; a++)
        if (s->bound->axis[a].placed && s->words->number_stride[a] == 1 && s->bound->axis[a].size > 1)
            fastest = a;
    if (fastest >= 0)
        row = region->extent[fastest];
    for (bool more = true; more;) {
        uint64_t number = 0;
        for (int a = 0; a < s->bound->axis_count; a++)
            if (s->bound->axis[a].placed)
                number += (region->start[a] + step[a]) * s->words->number_stride[a];
        take_run(s, number, row, taken);
        total += row;
        more = false;
        for (int a = 0; a < s->bound->axis_count && !more; a++) {
            if (!s->bound->axis[a].placed || a == fastest)
                continue;
            more = ++step[a] < region->extent[a];
            if (!more)
                step[a] = 0;
        }
    }
    return total;
}

/* Everything that the region writes is written by another. */
static bool is_covered(const slice *s, size_t r)
{
    for (size_t i = 0; i < s->written->count; i++) {
        const td_region *in = &s->written->region[r], *of = &s->written->region[i];
        bool covered = i != r, less = i < r; /* of two that are equal, the later */
        for (int a = 0; a < s->bound->axis_count && covered; a++) {
            if (!s->bound->axis[a].placed)
                continue;
            covered = in->start[a] >= of->start[a] && in->start[a] + in->extent[a] <= of->start[a] + of->extent[a];
            less |= in->extent[a] < of->extent[a];
        }
        if (covered && less)
            return true;
    }
    return false;
}

static uint64_t count_bits(const uint64_t *taken, uint64_t words)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < words; i++)
        bits += (uint64_t)__builtin_popcountll(taken[i]);
    return bits;
}

/* A bit per place, where that is at most 8 bytes per word, or 64 MiB. */
#define MOST_PLACES ((uint64_t)1 << 29)

static td_status apart_in_slice(slice *s)
{
    uint64_t total = 0;
    s->low = (uint64_t)s->words->low;
    s->span = (uint64_t)(s->words->high - s->words->low) + s->beats;
    if (!s->words->inside) { /* those that are written are inside all the same */
        s->low = 0;
        s->span = ((uint64_t)1 << s->table->bank_shift) + s->beats;
    }
    if (!td_mul_fits(s->span, s->banks, &s->places) || (s->places / 64 > s->count + 4096 && s->places > MOST_PLACES))
        return apart_by_sorting(s);
    uint64_t *taken = calloc(s->places / 64 + 1, sizeof *taken);
    if (!taken)
        return apart_by_sorting(s);
    if (!s->written) {
        take_run(s, 0, s->count, taken);
        total = s->count;
    } else if (s->count == s->words->count) /* no lane has an address of its own */
        for (size_t r = 0; r < s->written->count; r++)
            total += is_covered(s, r) ? 0 : take_region(s, &s->written->region[r], taken);
    td_status status = TD_OK;
    if (!total || count_bits(taken, s->places / 64 + 1) != total * s->beats)
        status = apart_one_by_one(s, taken);
    free(taken);
    return status;
}

bool td_table_is_apart(const td_plan *plan)
{
    const td_table *table = &plan->table;
    const uint64_t beats = plan->beats;
    uint64_t low = UINT64_MAX, high = 0, high_bank = 0, places = 0, total = 0;
    for (uint64_t i = 0; i < table->count; i++) {
        const uint64_t entry = td_table_get(table, i), word = td_table_word(table, entry);
        low = word < low ? word : low;
        high = word > high ? word : high;
        high_bank = entry >> table->bank_shift > high_bank ? entry >> table->bank_shift : high_bank;
    }
    const uint64_t span = high - low + beats;
    if (!table->count)
        return true;
    if (!td_mul_fits(span, high_bank + 1, &places) || places > MOST_PLACES)
        return false;
    uint64_t *taken = calloc(places / 64 + 1, sizeof *taken);
    for (uint64_t i = 0; taken && i < table->count; i++) {
        const uint64_t entry = td_table_get(table, i);
        const uint64_t first = (entry >> table->bank_shift) * span + td_table_word(table, entry) - low;
        for (uint64_t place = first; place < first + beats; place++) {
            total += ~taken[place / 64] >> place % 64 & 1;
            taken[place / 64] |= (uint64_t)1 << (place % 64);
        }
    }
    const bool apart = taken && total == table->count * beats;
    free(taken);
    return apart;
}

/* Words of different lanes may share a place, where each lane has its own address; those of one lane may not. */
td_status td_table_check_apart(const td_bound *bound, const td_words *words, const td_plan *plan,
                               const td_regions *written)
{
    td_status status = TD_OK;
    for (uint64_t first = 0; first < words->count && !status; first += words->lane_words) {
        slice s = {.bound = bound,
                   .words = words,
                   .table = &plan->table,
                   .first = first,
                   .count = words->lane_words,
                   .beats = plan->beats,
                   .banks = words->inside ? (uint64_t)words->high_bank + 1 : plan->geometry.banks};
        s.written = bound->clip && bound->ragged ? written : NULL;
        status = apart_in_slice(&s);
    }
    return status;
}
