/* Which digits of the axes (address_digits.h) a small table has: those without strides, those that come between them in
 * number, and as many more as make its runs long. Called by address_digits.c. Refuses nothing but places that no entry
 * can name. */
#include "plan/address_digits.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_TABLE 4096 /* entries: stays in the first-level cache */
#define MORE_STRIDES 3   /* loops that are better than a table */
#define LONG_RUN 1024    /* entries of consecutive words: many lines, of which few are cut (table_lines.c) */
#define LEAST_LINE 32    /* words; lines of fewer are not worth more loops */
#define FEW_ENTRIES 16   /* words for each entry of a table that is made longer for that */

uint64_t td_digits_entries(const td_digit_search *s)
{
    uint64_t size = 1;
    for (int i = 0; i < s->count; i++)
        if (s->digit[i].tabled && !td_mul_fits(size, s->digit[i].d.size, &size))
            return UINT64_MAX;
    return size;
}

/* The digits of words that are close in number come with those of the table, so that its entries are for consecutive
 * words, as long as it stays small. */
static void add_faster(td_digit_search *s, uint64_t below)
{
    uint64_t size = td_digits_entries(s);
    for (int i = 0; i < s->count; i++)
        if (!s->digit[i].tabled && s->digit[i].step < below && !td_mul_fits(size, s->digit[i].d.size, &size))
            return;
    for (int i = 0; i < s->count && size <= SMALL_TABLE; i++)
        s->digit[i].tabled |= s->digit[i].step < below;
}

/* Cuts a digit in two, of which the faster one has so many steps. */
static void split_digit(td_digit_search *s, int i, uint64_t steps)
{
    memmove(&s->digit[i + 1], &s->digit[i], (size_t)(s->count++ - i) * sizeof s->digit[0]);
    td_found_digit *slow = &s->digit[i], *fast = &s->digit[i + 1];
    fast->d.size = steps;
    slow->d.size = (slow->d.size - 1) / steps + 1;
    slow->d.unit *= steps;
    slow->d.address *= (int64_t)steps;
    slow->d.bank *= (int64_t)steps;
    slow->step *= steps;
}

/* Of a digit, as many steps as are wanted or as there is room for. The slowest digit of an axis, which may end early,
 * is cut anywhere, others into equal parts; 1: there is no such part. */
static uint64_t steps_to_take(const td_digit_search *s, const td_found_digit *f, uint64_t wanted, uint64_t most)
{
    const bool slowest = s->bound->axis[f->axis].size <= f->d.unit * f->d.size;
    uint64_t best = 1;
    if (f->d.size <= most && (f->d.size <= wanted || s->count == TD_MAX_DIGITS))
        return f->d.size;
    for (uint64_t steps = 2; steps <= most && steps < f->d.size && best < wanted; steps += slowest ? steps : 1)
        if (slowest || f->d.size % steps == 0)
            best = steps;
    return s->count == TD_MAX_DIGITS ? 1 : best;
}

/* The table's runs of consecutive words grow by the digits that come next in number and in memory, so that few of their
 * lines are cut at an end. */
static void lengthen_runs(td_digit_search *s)
{
    const uint64_t room = s->words->count / FEW_ENTRIES < SMALL_TABLE ? s->words->count / FEW_ENTRIES : SMALL_TABLE;
    uint64_t run = 1;
    for (int i = 0; i < s->count && run < LONG_RUN && s->in_lines; i++) {
        td_found_digit *f = &s->digit[i];
        if (f->step != run || f->d.size < 2)
            continue;
        if (!f->tabled) {
            if (f->d.address <= 0 || (uint64_t)f->d.address > run)
                return;
            const uint64_t steps = steps_to_take(s, f, (LONG_RUN + run - 1) / run, room / td_digits_entries(s));
            if (steps == 1)
                return;
            if (steps < f->d.size)
                split_digit(s, i++, steps);
            s->digit[i].tabled = true;
        }
        run *= s->digit[i].d.size;
        i = -1; /* the next may be of any axis */
    }
}

/* How far the digits of the table lead without a gap, in words: of memory or of number. */
static uint64_t run_of(const td_digit_search *s, bool in_memory)
{
    uint64_t run = 1;
    for (int i = 0; i < s->count; i++) {
        const td_found_digit *f = &s->digit[i];
        if (!f->tabled || f->d.size < 2 || (in_memory ? (uint64_t)llabs(f->d.address) : f->step) != run)
            continue;
        run *= f->d.size;
        i = -1;
    }
    return run;
}

/* Many short loops are slower than a table: digits become one, the fastest in number and the fastest in memory in turn,
 * so that its words are close together on both sides. Words that kernels move by lines have exactly a line on the side
 * of the memory, whose digits come first in the table: the words of a line are then next to each other there. */
static void table_fastest(td_digit_search *s)
{
    s->by_memory = s->in_lines && s->line_words >= LEAST_LINE;
    for (int turn = 0;; turn++) {
        const bool has_line = s->by_memory && run_of(s, true) >= s->line_words,
                   has_words = s->by_memory && run_of(s, false) >= s->line_words,
                   in_memory = has_words || (turn % 2 && !has_line);
        td_found_digit *fastest = NULL;
        for (int i = 0; i < s->count; i++) {
            td_found_digit *f = &s->digit[i];
            if (!f->tabled &&
                (!fastest || (in_memory ? llabs(f->d.address) < llabs(fastest->d.address) : f->step < fastest->step)))
                fastest = f;
        }
        for (int i = 0; i < s->count; i++)
            s->digit[i].in_line =
                s->by_memory && s->digit[i].tabled && (uint64_t)llabs(s->digit[i].d.address) < s->line_words;
        if ((has_line && has_words) || !fastest || fastest->d.size > SMALL_TABLE / td_digits_entries(s))
            return;
        fastest->tabled = true;
    }
}

void td_digits_choose_table(td_digit_search *s)
{
    uint64_t slowest = 0;
    int strided = 0, axes = 0;
    for (int i = 0; i < s->count; i++) {
        axes += i == 0 || s->digit[i].axis != s->digit[i - 1].axis;
        strided += !s->digit[i].tabled;
    }
    if (strided == s->count && strided > axes + MORE_STRIDES) {
        table_fastest(s);
        for (int i = 0; i < s->count; i++)
            s->digit[i].tabled |= s->digit[i].d.bank != 0;
        return;
    }
    if (strided == s->count)
        return;
    for (int i = 0; i < s->count; i++) { /* the table has the bank of every word */
        s->digit[i].tabled |= s->digit[i].d.bank != 0;
        if (s->digit[i].tabled && s->digit[i].step > slowest)
            slowest = s->digit[i].step;
    }
    add_faster(s, slowest);
    lengthen_runs(s);
}

void td_digits_number(td_digit_search *s)
{
    bool numbered[TD_MAX_DIGITS] = {false};
    for (uint64_t entries = 1;;) { /* the fastest first: in the order of the words' numbers, or of their places */
        int next = -1;
        for (int i = 0; i < s->count; i++) {
            const td_found_digit *f = &s->digit[i], *best = &s->digit[next < 0 ? 0 : next];
            if (f->tabled && !numbered[i] &&
                (next < 0 || (s->by_memory ? llabs(f->d.address) < llabs(best->d.address) : f->step < best->step)))
                next = i;
        }
        if (next < 0)
            break;
        numbered[next] = true;
        s->digit[next].d.entry = (int64_t)entries;
        entries *= s->digit[next].d.size;
    }
    for (int i = 0; i < s->count; i++)
        if (s->digit[i].tabled)
            s->digit[i].d.address = s->digit[i].d.bank = 0;
}

bool td_digits_find_lowest(const td_digit_search *s, int64_t *below)
{
    *below = 0;
    for (int i = 0; i < s->count; i++) {
        int64_t most = 0;
        if (!s->digit[i].tabled && s->digit[i].d.address < 0 &&
            (__builtin_mul_overflow(s->digit[i].d.address, (int64_t)s->digit[i].d.size - 1, &most) ||
             __builtin_sub_overflow(*below, most, below)))
            return false;
    }
    return true;
}

/* The words whose digits outside of the table are 0. Where the slowest digit of an axis ends early, so do the words:
 * entries past its end are never reached. */
bool td_digits_fill(const td_digit_search *s, int64_t below, td_table *table)
{
    uint64_t number[TD_EXPR_RUN];
    int64_t address[TD_EXPR_RUN], bank[TD_EXPR_RUN];
    const uint64_t most = td_places_most(s->places);
    for (uint64_t first = 0; first < table->count; first += most) {
        const size_t count = (size_t)(table->count - first < most ? table->count - first : most);
        for (size_t i = 0; i < count; i++) {
            uint64_t at[TD_MAX_BOUND] = {0};
            number[i] = 0;
            for (int k = 0; k < s->count; k++) {
                const td_found_digit *f = &s->digit[k];
                if (!f->tabled)
                    continue;
                const uint64_t value = (first + i) / (uint64_t)f->d.entry % f->d.size;
                at[f->axis] += value * f->d.unit;
                number[i] += value * f->step;
            }
            for (int a = 0; a < s->bound->axis_count; a++)
                if (s->bound->axis[a].placed && at[a] >= s->bound->axis[a].size)
                    number[i] = 0;
        }
        if (!td_places_points(s->places, number, count, address, bank))
            return false;
        for (size_t i = 0; i < count; i++) {
            if (address[i] < below || bank[i] < 0)
                return false;
            address[i] -= below;
        }
        td_table_put(table, first, count, address, bank);
        for (size_t i = 0; i < count; i++) { /* words past the memory, which no load may write, can be too far */
            const uint64_t entry = td_table_get(table, first + i);
            if (td_table_word(table, entry) != (uint64_t)address[i] || entry >> table->bank_shift != (uint64_t)bank[i])
                return false;
        }
    }
    return true;
}
