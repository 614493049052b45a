/* Finds the wrong bits of mismatches in the macros of their memories (macros.h). Bits that only move are wrong where
 * the two values differ; of values that were converted, and of x, every bit of the element counts. Of bits that lie in
 * several copies the first one is meant, which is the one that was read. */
#include "report/macros.h"

#include "memory/place.h"
#include "plan/locate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BITS 64 /* of an element */
#define LISTED_RUNS 3
#define LEAST_COLUMNS 3 /* fewer are no pattern */
#define LEAST_MISMATCHES 4

enum { MACRO, ROW, COLUMN, SIDES };

struct td_macros {
    td_report_source source; /* its memories until td_macros_close */
    size_t *first;           /* of each bank: its first macro */
    size_t count;
    char **name;
    size_t tally; /* of macros; those of rows and columns follow */
    bool counted; /* what follows has been set */
    bool mixed;   /* a codec on the way: columns mean nothing */
    uint64_t low[SIDES], high[SIDES];
    uint64_t column; /* the first one that was counted, */
    uint64_t apart;  /* and what the distances of all others from it are multiples of; 0: there are none */
    td_wrong_run *run;
    size_t runs, room;
    size_t *end; /* of each of the first mismatches: where its runs end */
};

/* -- the wrong bits of one mismatch -------------------------------------------------------------------------------- */

typedef struct wrong {
    const td_macros *macros;
    const td_entry *entry;
    uint64_t mask;        /* of the element */
    unsigned bits;        /* of the element, in memory */
    unsigned found, next; /* places so far, and the element's bit that comes next */
    bool in_turn;         /* inside the copy that the mismatch is about */
    td_macro_bit place[MOST_BITS];
} wrong;

/* A part of the element that lies in one word. */
static void add_part(wrong *w, const td_located *part)
{
    const td_memory *memory = w->macros->source.bank[part->bank];
    td_macro_bit place[MOST_BITS];
    const uint64_t own = part->bits < 64 ? ((uint64_t)1 << part->bits) - 1 : ~(uint64_t)0;
    const uint64_t mask = w->mask >> part->elem_bit & own;
    if (!mask)
        return;
    const unsigned low = (unsigned)__builtin_ctzll(mask), high = 63 - (unsigned)__builtin_clzll(mask);
    td_macro_bits(memory, &(td_word_bits){part->word, part->bit + low, high - low + 1}, 0, place);
    for (unsigned i = low; i <= high; i++)
        if (mask >> i & 1 && place[i - low].macro) {
            w->place[w->found] = place[i - low];
            w->place[w->found++].number += w->macros->first[part->bank];
        }
}

/* Parts come copy after copy, and each from its lowest bits on. */
static bool take_part(void *context, const td_located *part)
{
    wrong *w = context;
    const td_place *at = &w->entry->place;
    if (part->elem_bit == 0)
        w->in_turn = part->bank == at->bank && part->word == at->address && part->bit == at->lsb;
    if (!w->in_turn)
        return true;
    add_part(w, part);
    w->next = part->elem_bit + part->bits;
    return w->next < w->bits;
}

static void find_wrong(const td_macros *m, const td_entry *e, wrong *w)
{
    const uint64_t differ = m->source.direct && !e->verdict.unknown ? e->expected ^ e->actual : 0;
    *w = (wrong){.macros = m, .entry = e, .mask = differ ? differ : ~(uint64_t)0};
    w->bits = m->source.plan->memory_dtype.bits;
    if (e->place.msb - e->place.lsb + 1 >= w->bits)
        add_part(w,
                 &(td_located){.bank = e->place.bank, .word = e->place.address, .bit = e->place.lsb, .bits = w->bits});
    else
        td_plan_places(m->source.plan, e->elem, take_part, w);
}

/* -- counting ------------------------------------------------------------------------------------------------------ */

static bool has_layers(const td_report_source *source)
{
    bool some = false;
    for (size_t i = 0; i < source->banks && !some; i++)
        some = source->bank[i]->backing != NULL;
    return some;
}

void td_macros_open(td_report *r, const td_report_source *source)
{
    uint64_t rows = 1, columns = 1;
    if (!source->bank || !source->plan || !has_layers(source))
        return;
    td_macros *m = calloc(1, sizeof *m);
    size_t *first = m ? malloc(source->banks * sizeof *first) : NULL;
    r->macros = m;
    r->failed |= !first;
    if (!first)
        return;
    m->source = *source;
    m->first = first;
    for (size_t i = 0; i < source->banks; i++) {
        first[i] = m->count;
        m->count += td_memory_macros(source->bank[i]);
        for (size_t k = 0; k < td_memory_macros(source->bank[i]); k++) {
            const td_memory *macro = td_memory_macro(source->bank[i], k);
            rows = macro->depth_words > rows ? macro->depth_words : rows;
            columns = macro->width_bits > columns ? macro->width_bits : columns;
        }
    }
    m->tally = r->tally_count;
    td_report_add_tally(r, "macro", TD_TALLY_MACRO, m->count);
    td_report_add_tally(r, "row", TD_TALLY_ROW, rows);
    td_report_add_tally(r, "column", TD_TALLY_COLUMN, columns);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void count_bit(td_report *r, const td_macro_bit *bit)
{
    td_macros *m = r->macros;
    const uint64_t at[SIDES] = {bit->number, bit->row, bit->column};
    m->mixed |= bit->mixed;
    for (int s = 0; s < SIDES; s++) {
        td_tally *t = &r->tally[m->tally + (size_t)s];
        t->mismatches[td_quotient(at[s], &t->by_bucket)]++;
        if (!m->counted)
            m->low[s] = m->high[s] = at[s];
        m->low[s] = at[s] < m->low[s] ? at[s] : m->low[s];
        m->high[s] = at[s] > m->high[s] ? at[s] : m->high[s];
    }
    if (!m->counted)
        m->column = bit->column;
    m->counted = true;
    if (m->apart != 1)
        m->apart =
            common_divisor(bit->column > m->column ? bit->column - m->column : m->column - bit->column, m->apart);
}

void td_macros_count(td_report *r, const td_entry *e)
{
    wrong w;
    if (!r->macros)
        return;
    find_wrong(r->macros, e, &w);
    for (unsigned i = 0; i < w.found; i++)
        count_bit(r, &w.place[i]);
}

/* -- the first mismatches ------------------------------------------------------------------------------------------ */

static bool follows(const td_wrong_run *run, const td_macro_bit *bit)
{
    const int64_t apart = (int64_t)(bit->column - run->column);
    return run->macro == bit->number && run->row == bit->row &&
           (run->bits == 1 ? apart != 0 : apart == (int64_t)run->bits * run->step);
}

/* Bits that follow each other in a row are a run; at most as many runs as bits. */
static size_t make_runs(const td_macro_bit *bit, size_t bits, td_wrong_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < bits; i++) {
        td_wrong_run *last = count ? &run[count - 1] : NULL;
        if (!last || !follows(last, &bit[i]))
            run[count++] = (td_wrong_run){bit[i].number, bit[i].row, bit[i].column, 1, 1};
        else if (last->bits++ == 1)
            last->step = (int64_t)(bit[i].column - last->column);
    }
    return count;
}

static void add_runs(td_report *r, const wrong *w)
{
    td_macros *m = r->macros;
    if (m->room - m->runs < MOST_BITS) {
        const size_t room = 2 * m->room + MOST_BITS;
        td_wrong_run *grown = realloc(m->run, room * sizeof *grown);
        r->failed |= !grown;
        if (!grown)
            return;
        m->run = grown;
        m->room = room;
    }
    m->runs += make_runs(w->place, w->found, m->run + m->runs);
}

static void keep_names(td_report *r)
{
    td_macros *m = r->macros;
    size_t bytes = m->count * sizeof *m->name, macro = 0;
    for (size_t b = 0; b < m->source.banks; b++)
        for (size_t k = 0; k < td_memory_macros(m->source.bank[b]); k++)
            bytes += strlen(td_memory_macro(m->source.bank[b], k)->name) + 1;
    m->name = malloc(bytes);
    r->failed |= !m->name;
    char *next = (char *)(m->name + m->count);
    for (size_t b = 0; b < m->source.banks && m->name; b++)
        for (size_t k = 0; k < td_memory_macros(m->source.bank[b]); k++) {
            const char *name = td_memory_macro(m->source.bank[b], k)->name;
            m->name[macro++] = memcpy(next, name, strlen(name) + 1);
            next += strlen(name) + 1;
        }
}

void td_macros_close(td_report *r)
{
    td_macros *m = r->macros;
    if (!m || r->failed)
        return;
    keep_names(r);
    m->end = calloc(r->first_count + 1, sizeof *m->end);
    r->failed |= !m->end;
    for (size_t i = 0; i < r->first_count && !r->failed; i++) {
        wrong w;
        find_wrong(m, &r->first[i], &w);
        add_runs(r, &w);
        m->end[i] = m->runs;
    }
    m->source = (td_report_source){0};
}

void td_macros_free(td_report *r)
{
    td_macros *m = r->macros;
    if (!m)
        return;
    free(m->first);
    free(m->name);
    free(m->run);
    free(m->end);
    free(m);
    r->macros = NULL;
}

const td_wrong_run *td_macros_runs(const td_report *r, size_t number, size_t *count)
{
    const td_macros *m = r->macros;
    *count = 0;
    if (!m || !m->end || number >= r->first_count)
        return NULL;
    const size_t from = number ? m->end[number - 1] : 0;
    *count = m->end[number] - from;
    return m->run + from;
}

size_t td_macros_total(const td_report *r)
{
    return r->macros ? r->macros->count : 0;
}

const char *td_macros_name(const td_report *r, size_t macro)
{
    return r->macros && r->macros->name && macro < r->macros->count ? r->macros->name[macro] : "";
}

/* `macro 3 "m3" row 4 bits 30:2 step 4` */
static void add_run_text(const td_wrong_run *run, const char *name, td_text *out)
{
    td_text_add(out, "macro %zu \"%s\" row %" PRIu64 " ", run->macro, name, run->row);
    td_text_bits(out, run->column, run->bits, run->step);
}

void td_macros_text(const td_report *r, size_t number, td_text *out)
{
    size_t count = 0;
    const td_wrong_run *run = td_macros_runs(r, number, &count);
    for (size_t i = 0; i < count && i < LISTED_RUNS; i++) {
        td_text_add(out, "%s", i ? ", " : "");
        add_run_text(&run[i], td_macros_name(r, run[i].macro), out);
    }
    if (count > LISTED_RUNS)
        td_text_add(out, ", ...");
}

void td_macros_pad(td_report *r, const td_memory *const *bank, const td_entry *e)
{
    const td_memory *memory = bank[e->place.bank];
    const uint64_t bits = e->place.msb - e->place.lsb + 1, differ = e->expected ^ e->actual;
    const uint64_t mask = e->verdict.unknown ? ~(uint64_t)0 : differ;
    td_macro_bit place[MOST_BITS];
    td_wrong_run run[MOST_BITS];
    size_t found = 0, first = 0;
    if (!memory->backing || bits > MOST_BITS)
        return;
    for (size_t i = 0; i < e->place.bank; i++)
        first += td_memory_macros(bank[i]);
    td_macro_bits(memory, &(td_word_bits){e->place.address, e->place.lsb, bits}, 0, place);
    for (size_t i = 0; i < bits; i++)
        if (mask >> i & 1 && place[i].macro)
            place[found++] = place[i];
    td_text text = {0};
    const size_t count = make_runs(place, found, run);
    for (size_t i = 0; i < count && i < LISTED_RUNS; i++) {
        const char *name = td_memory_macro(memory, run[i].macro)->name;
        run[i].macro += first;
        td_text_add(&text, ", ");
        add_run_text(&run[i], name, &text);
    }
    if (count > LISTED_RUNS)
        td_text_add(&text, ", ...");
    r->failed |= text.failed;
    r->pad_place = text.text;
}

/* -- guesses ------------------------------------------------------------------------------------------------------- */

static size_t count_used(const td_tally *t)
{
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++)
        used += t->mismatches[i] != 0;
    return used;
}

static void say_side(td_report *r, const char *side, const char *question)
{
    const td_macros *m = r->macros;
    if (m->low[MACRO] == m->high[MACRO])
        td_report_say(r, "all wrong bits in %s of macro %" PRIu64 " \"%s\": %s?", side, m->low[MACRO],
                      td_macros_name(r, (size_t)m->low[MACRO]), question);
    else
        td_report_say(r, "all wrong bits in %s of their macros: %s?", side, question);
}

void td_macros_guess(td_report *r)
{
    const td_macros *m = r->macros;
    char side[48];
    if (!m || !m->counted || r->mismatches < 2)
        return;
    const td_tally *t = &r->tally[m->tally];
    const bool one_row = m->low[ROW] == m->high[ROW] && t[ROW].size > 1;
    const bool one_column = m->low[COLUMN] == m->high[COLUMN] && t[COLUMN].size > 1 && !m->mixed;
    if (one_column) {
        td_text_print(side, sizeof side, "column %" PRIu64, m->low[COLUMN]);
        say_side(r, side, one_row ? "the same cell" : "a bit line");
    } else if (one_row) {
        td_text_print(side, sizeof side, "row %" PRIu64, m->low[ROW]);
        say_side(r, side, "a decoder");
    } else if (m->low[MACRO] == m->high[MACRO] && m->count > 1)
        td_report_say(r, "all wrong bits in macro %" PRIu64 " \"%s\"", m->low[MACRO],
                      td_macros_name(r, (size_t)m->low[MACRO]));
    if (!one_column && !one_row && !m->mixed && m->apart > 1 && r->mismatches >= LEAST_MISMATCHES &&
        r->mismatches < r->compared && count_used(&t[COLUMN]) >= LEAST_COLUMNS)
        td_report_say(r, "all wrong bits in columns %" PRIu64 " apart, from column %" PRIu64 " on: a multiplexer?",
                      m->apart, m->low[COLUMN]);
}

/* -- the public questions ------------------------------------------------------------------------------------------ */

size_t td_report_place_count(const td_report *r, size_t number)
{
    size_t count = 0;
    if (r)
        (void)td_macros_runs(r, number, &count);
    return count;
}

td_status td_report_place(const td_report *r, size_t number, size_t place, td_report_bits *out)
{
    size_t count = 0;
    if (!r || !out)
        return td_fail(TD_ARGUMENT, "report_place: the %s is NULL; pass one", r ? "output" : "report");
    const td_wrong_run *run = td_macros_runs(r, number, &count);
    if (place >= count)
        return td_fail(TD_RANGE,
                       "report_place: place %zu of mismatch %zu, which has %zu; pass less than report_place_count",
                       place, number, count);
    *out = (td_report_bits){.macro = run[place].macro,
                            .name = td_macros_name(r, run[place].macro),
                            .row = run[place].row,
                            .column = run[place].column,
                            .bits = run[place].bits,
                            .step = run[place].step};
    return TD_OK;
}
