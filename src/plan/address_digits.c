/* Finds what is regular about words that have no strides: an axis is cut into digits, as index into index / 8 and
 * index % 8, and each digit has a stride or is one of those that only a small table describes, as the bits that an XOR
 * mixes. Nothing is read from the expression: its values show where digits begin, a few points which of them add up,
 * and then every word is held against what was found, unless the expressions only move bits (address_bits.c). Called by
 * addresses.c. Where nothing is regular, the table of all words remains. */
#include "plan/address_digits.h"
#include "base/cpu.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 12   /* of one axis */
#define SLICES 4        /* in which digits of an axis are looked for */
#define PROBES 24       /* points at which a digit's stride is tried */
#define LEAST_WORDS 256 /* fewer have a table that is small anyway */

typedef struct place {
    int64_t address, bank;
} place;

static place place_at(td_digit_search *s, uint64_t number)
{
    place p = {0, 0};
    s->failed |= !td_places_points(s->places, &number, 1, &p.address, &p.bank);
    return p;
}

static uint64_t next_random(td_digit_search *s, uint64_t below)
{
    return td_random_at(1, s->random++) % below;
}

/* -- where digits begin -- */

/* Step i of the slice lies where a constant stride would put it. */
static bool continues(td_digit_search *s, uint64_t base, uint64_t step, uint64_t i)
{
    const place zero = place_at(s, base), one = place_at(s, base + step), at = place_at(s, base + i * step);
    int64_t address = 0, bank = 0;
    const bool bad =
        __builtin_sub_overflow(one.address, zero.address, &address) ||
        __builtin_sub_overflow(one.bank, zero.bank, &bank) || __builtin_mul_overflow(address, (int64_t)i, &address) ||
        __builtin_mul_overflow(bank, (int64_t)i, &bank) || __builtin_add_overflow(address, zero.address, &address) ||
        __builtin_add_overflow(bank, zero.bank, &bank);
    return !bad && at.address == address && at.bank == bank;
}

/* The first step of the slice that breaks its stride, `steps` when none does. Steps that double are tried first: what
 * a division or a remainder breaks stays broken for as long again. */
static uint64_t first_break(td_digit_search *s, uint64_t base, uint64_t step, uint64_t steps)
{
    uint64_t good = 1, bad = steps;
    for (uint64_t i = 2; i < steps && bad == steps; i *= 2)
        if (continues(s, base, step, i))
            good = i;
        else
            bad = i;
    if (bad == steps && steps > 2 && good < steps - 1 && !continues(s, base, step, steps - 1))
        bad = steps - 1;
    while (bad < steps && bad - good > 1) {
        const uint64_t middle = good + (bad - good) / 2;
        if (continues(s, base, step, middle))
            good = middle;
        else
            bad = middle;
    }
    return bad;
}

static uint64_t common(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Adds a unit to a chain of which each divides the next: of two that do not, both their greatest common divisor and
 * their least common multiple do. */
static void add_unit(uint64_t *unit, int *count, uint64_t added, uint64_t size)
{
    int at = 0;
    while (at < *count && unit[at] < added)
        at++;
    if (added <= 1 || added >= size || *count == MOST_UNITS || (at < *count && unit[at] == added))
        return;
    for (int i = 0; i < *count; i++) {
        const uint64_t both = common(unit[i], added), other = unit[i];
        if (both == other || both == added)
            continue;
        memmove(&unit[i], &unit[i + 1], (size_t)(--*count - i) * sizeof *unit);
        add_unit(unit, count, both, size);
        add_unit(unit, count, other / both * added, size);
        return;
    }
    memmove(&unit[at + 1], &unit[at], (size_t)(*count - at) * sizeof *unit);
    unit[at] = added;
    (*count)++;
}

/* The digits of one axis, from slices along it. */
static void cut_axis(td_digit_search *s, int a)
{
    const td_bound_axis *axis = &s->bound->axis[a];
    const uint64_t stride = s->words->number_stride[a];
    uint64_t unit[MOST_UNITS + 1] = {0};
    int count = 0;
    for (int slice = 0; slice < SLICES && axis->size > 2; slice++) {
        uint64_t base = 0;
        for (int other = 0; other < s->bound->axis_count && slice; other++) {
            const td_bound_axis *o = &s->bound->axis[other];
            if (o->placed && other != a)
                base += (slice == 1 ? o->size - 1 : next_random(s, o->size)) * s->words->number_stride[other];
        }
        for (uint64_t from = 1; from < axis->size;) {
            const uint64_t steps = (axis->size - 1) / from + 1, at = first_break(s, base, stride * from, steps);
            if (at >= steps)
                break;
            from *= at;
            add_unit(unit, &count, from, axis->size);
        }
    }
    if (s->count + count + 1 > TD_MAX_DIGITS) {
        s->failed = true;
        return;
    }
    for (int i = count; i >= 0; i--) {
        const uint64_t from = i ? unit[i - 1] : 1, to = i < count ? unit[i] : axis->size;
        s->digit[s->count++] =
            (td_found_digit){.axis = a, .step = stride * from, .d = {.unit = from, .size = (to - 1) / from + 1}};
    }
}

/* -- which of them add up -- */

/* A word at which this digit is 0, and how far the digit can go from there. */
static uint64_t random_word(td_digit_search *s, const td_found_digit *of, uint64_t *most)
{
    uint64_t number = 0;
    *most = 0;
    for (int a = 0; a < s->bound->axis_count; a++) {
        const td_bound_axis *axis = &s->bound->axis[a];
        if (!axis->placed)
            continue;
        uint64_t at = next_random(s, axis->size);
        if (a == of->axis) {
            at -= at / of->d.unit % of->d.size * of->d.unit;
            *most = (axis->size - 1 - at) / of->d.unit;
            *most = *most < of->d.size - 1 ? *most : of->d.size - 1;
        }
        number += at * s->words->number_stride[a];
    }
    return number;
}

static void try_stride(td_digit_search *s, td_found_digit *f)
{
    const place zero = place_at(s, 0), one = place_at(s, f->step);
    f->tabled = __builtin_sub_overflow(one.address, zero.address, &f->d.address) ||
                __builtin_sub_overflow(one.bank, zero.bank, &f->d.bank);
    for (int i = 0; i < PROBES && !f->tabled && !s->failed; i++) {
        uint64_t most = 0;
        const uint64_t base = random_word(s, f, &most);
        if (!most)
            continue;
        const uint64_t steps = i % 2 ? most : 1 + next_random(s, most);
        const place from = place_at(s, base), to = place_at(s, base + steps * f->step);
        int64_t address = 0, bank = 0;
        f->tabled = __builtin_mul_overflow(f->d.address, (int64_t)steps, &address) ||
                    __builtin_mul_overflow(f->d.bank, (int64_t)steps, &bank) ||
                    __builtin_add_overflow(address, from.address, &address) ||
                    __builtin_add_overflow(bank, from.bank, &bank) || address != to.address || bank != to.bank;
    }
}

/* Neighbours of one axis that are one digit again. */
static void join_digits(td_digit_search *s)
{
    int kept = 0;
    for (int i = 1; i < s->count; i++) {
        td_found_digit *slow = &s->digit[kept], *fast = &s->digit[i];
        const int64_t size = (int64_t)fast->d.size;
        if (slow->axis == fast->axis && slow->tabled == fast->tabled && slow->in_line == fast->in_line &&
            (slow->tabled || (slow->d.address == fast->d.address * size && slow->d.bank == fast->d.bank * size))) {
            const uint64_t sizes = slow->d.size * fast->d.size, whole = s->bound->axis[fast->axis].size;
            *slow = *fast;
            slow->d.size = (whole - 1) / slow->d.unit + 1 < sizes ? (whole - 1) / slow->d.unit + 1 : sizes;
        } else
            s->digit[++kept] = *fast;
    }
    s->count = kept + 1;
}

/* -- every word -- */

typedef struct proof {
    const td_digit_search *s;
    const td_table *table;
    place base;
} proof;

/* What the digits say of a run of words: sums of strides, and the number of the entry. */
static void predict(const proof *p, uint64_t number, size_t count, uint64_t *address, uint64_t *bank, uint64_t *entry)
{
    int64_t value[TD_EXPR_RUN];
    memset(address, 0, count * sizeof *address);
    memset(bank, 0, count * sizeof *bank);
    memset(entry, 0, count * sizeof *entry);
    for (int k = 0; k < p->s->count; k++) {
        const td_found_digit *f = &p->s->digit[k];
        const uint64_t size = p->s->bound->axis[f->axis].size, stride = p->s->words->number_stride[f->axis];
        if (size % (f->d.unit * f->d.size) == 0 || size <= f->d.unit * f->d.size) {
            /* below a whole axis the numbers themselves have the digit */
            const bool top = size <= f->d.unit * f->d.size;
            if (top && f->d.unit == 1)
                td_fill_digit(number, stride, size, count, value);
            else if (size % f->d.unit == 0)
                td_fill_digit(number, stride * f->d.unit, top ? size / f->d.unit : f->d.size, count, value);
            else {
                td_fill_digit(number, stride, size, count, value);
                for (size_t i = 0; i < count; i++)
                    value[i] = (int64_t)((uint64_t)value[i] / f->d.unit);
            }
        } else {
            td_fill_digit(number, stride, size, count, value);
            for (size_t i = 0; i < count; i++)
                value[i] = (int64_t)((uint64_t)value[i] / f->d.unit % f->d.size);
        }
        if (f->tabled) {
            for (size_t i = 0; i < count; i++)
                entry[i] += (uint64_t)value[i] * (uint64_t)f->d.entry;
            continue;
        }
        for (size_t i = 0; i < count && f->d.address; i++)
            address[i] += (uint64_t)value[i] * (uint64_t)f->d.address;
        for (size_t i = 0; i < count && f->d.bank; i++)
            bank[i] += (uint64_t)value[i] * (uint64_t)f->d.bank;
    }
}

static bool holds(void *context, uint64_t number, size_t count, const int64_t *address, const int64_t *bank)
{
    const proof *p = context;
    uint64_t sum[TD_EXPR_RUN], in[TD_EXPR_RUN], entry[TD_EXPR_RUN];
    predict(p, number, count, sum, in, entry);
    uint64_t differs = 0;
    if (p->table->entry)
        for (size_t i = 0; i < count; i++) {
            const uint64_t e = td_table_get(p->table, entry[i]);
            differs |= ((uint64_t)p->base.address + sum[i] + td_table_word(p->table, e) - (uint64_t)address[i]) |
                       ((e >> p->table->bank_shift) - (uint64_t)bank[i]);
        }
    else
        for (size_t i = 0; i < count; i++)
            differs |= ((uint64_t)p->base.address + sum[i] - (uint64_t)address[i]) |
                       ((uint64_t)p->base.bank + in[i] - (uint64_t)bank[i]);
    return differs == 0;
}

static void keep(const td_digit_search *s, const proof *p, bool inside, td_words *words)
{
    words->by_digits = true;
    words->inside = inside;
    words->address = p->base.address;
    words->bank = p->base.bank;
    for (int i = 0; i < s->count; i++) {
        const int a = s->digit[i].axis;
        if (i == 0 || s->digit[i - 1].axis != a)
            words->first_digit[a] = (uint8_t)i;
        words->digits[a]++;
        words->digit[i] = s->digit[i].d;
    }
}

uint64_t td_digits_part(const td_words *words, int axis, uint64_t at, uint64_t count)
{
    const td_digit *digit = &words->digit[words->first_digit[axis]];
    for (int i = 0; i < words->digits[axis]; i++) {
        const td_digit *d = &digit[i];
        if (at % d->unit || count < d->unit)
            continue;
        const uint64_t steps = count / d->unit, left = d->size - at / d->unit % d->size;
        return (steps < left ? steps : left) * d->unit;
    }
    return count;
}

/* Whether the digits need no look at every word. */
static bool is_proved(const td_digit_search *s, const proof *p, td_places_part *all)
{
    td_proved_digit strided[TD_MAX_DIGITS];
    int count = 0;
    bool whole = p->base.address >= 0 && td_places_move_bits(s->bound, s->words);
    for (int i = 0; i < s->count && whole; i++) {
        const td_found_digit *f = &s->digit[i];
        whole = s->bound->axis[f->axis].size % (f->d.unit * f->d.size) == 0;
        if (!f->tabled)
            strided[count++] = (td_proved_digit){f->step, f->d.size, f->d.address, f->d.bank};
    }
    return whole && !(p->table->entry && p->base.address) && td_places_prove(s->places, strided, count, p->table, all);
}

/* All copies of an element have to be in one box (copies.c), so that the digits of a repeat must not end early. */
static bool cuts_copies(const td_digit_search *s)
{
    bool cuts = false;
    for (int i = 0; i < s->count; i++) {
        const td_found_digit *f = &s->digit[i];
        const td_bound_axis *axis = &s->bound->axis[f->axis];
        cuts |= axis->dim < 0 && axis->size % (f->d.unit * f->d.size) != 0;
    }
    return cuts;
}

/* Pieces, unless they cut a repeat. */
static td_status find_pieces(const td_digit_search *s, const td_plan *plan)
{
    td_words *words = s->words;
    const td_status status = td_places_pieces(s->places, s->bound, words, plan);
    bool cuts = false;
    for (size_t i = 0; i < words->piece_count; i++)
        for (int a = 0; a < s->bound->axis_count; a++)
            cuts |= s->bound->axis[a].dim < 0 && words->piece[i].at.extent[a] < s->bound->axis[a].size;
    if (cuts) {
        free(words->piece);
        words->piece = NULL;
        words->piece_count = 0;
    }
    return status;
}

td_status td_places_digits(const td_places *places, const td_bound *bound, td_words *words, td_plan *plan)
{
    const td_geometry *g = &plan->geometry;
    td_digit_search s = {.places = places, .bound = bound, .words = words};
    s.line_words = g->word_bytes < TD_LINE ? TD_LINE / g->word_bytes : 1;
    s.in_lines = td_cpu_flags() & TD_CPU_VBMI && g->word_bytes <= TD_LINE / 8 &&
                 (g->banks == 1 || g->banks * g->word_bytes <= TD_LINE_PIECES);
    td_table table = {0};
    td_places_part all;
    /* copies.c wants one node for every axis of windows */
    if (words->count < LEAST_WORDS || bound->layout->skews || bound->slides)
        return TD_OK;
    for (int a = 0; a < bound->axis_count && !s.failed; a++)
        if (bound->axis[a].placed && bound->axis[a].size > 1)
            cut_axis(&s, a);
    for (int i = 0; i < s.count && !s.failed; i++)
        try_stride(&s, &s.digit[i]);
    if (s.failed || !s.count)
        return TD_OK; /* the table of all words refuses what fails */
    join_digits(&s);
    td_digits_choose_table(&s);
    join_digits(&s);
    if (cuts_copies(&s))
        return TD_OK;
    td_digits_number(&s);
    const uint64_t entries = td_digits_entries(&s);
    td_status status = entries > 1 ? find_pieces(&s, plan) : TD_OK;
    if (status || words->piece || entries > words->count / 4 || bound->axis_count + s.count > TD_MAX_BOUND)
        return status;
    status = entries > 1 ? td_table_create(&plan->geometry, entries, &table) : TD_OK;
    proof p = {.s = &s, .table = &table, .base = place_at(&s, 0)};
    if (table.entry && !td_digits_find_lowest(&s, &p.base.address))
        s.failed = true;
    if (!status && !s.failed && (!table.entry || td_digits_fill(&s, p.base.address, &table)))
        status = is_proved(&s, &p, &all) ? TD_OK : td_places_all(places, holds, &p, &all);
    else
        all.stopped = true;
    if (status || all.stopped) {
        free(table.entry); /* strides that only a few words break, which no probe met, may still be those of pieces */
        return status || entries > 1 ? status : find_pieces(&s, plan);
    }
    plan->table = table;
    words->low = all.low;
    words->high = all.high;
    words->high_bank = all.high_bank;
    keep(&s, &p, td_places_inside(&all, plan), words);
    return TD_OK;
}
