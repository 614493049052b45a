/* Finds the few rectangles of the axes in which words have strides, where they have none over all: a ring buffer, as
 * (index + n) % m, has two, and three or four where `index` runs over two axes. As in address_digits.c nothing is read
 * from the expression: lines along the axes show where a stride breaks, and the rectangle is cut there. In the end the
 * expressions prove to be affine in every rectangle, or else every word is held against what was found. Called by
 * address_digits.c, where digits alone would need a table. */
#include "base/random.h"
#include "plan/places.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PIECES 8 /* every one is a box or more, and all of them are tried for every row of words */
#define LINES 4       /* along each axis of a rectangle */
#define POINTS 16     /* at which the strides of a rectangle are tried together */

typedef struct search {
    const td_places *places;
    const td_bound *bound;
    const td_words *words;
    uint64_t random;
    uint64_t budget; /* of values: a search that finds nothing must not cost more than the table */
    bool failed;
    size_t count;
    td_words_piece piece[MOST_PIECES];
} search;

static td_place_pair place_at(search *s, uint64_t number)
{
    td_place_pair p = {0, 0};
    s->failed = s->failed || s->budget == 0 || !td_places_points(s->places, &number, 1, &p.address, &p.bank);
    s->budget -= s->budget != 0;
    return p;
}

static bool moves(const search *s, const td_region *in, int a)
{
    return s->bound->axis[a].placed && in->extent[a] > 1;
}

static uint64_t first_word(const search *s, const td_region *in)
{
    uint64_t number = 0;
    for (int a = 0; a < s->bound->axis_count; a++)
        if (s->bound->axis[a].placed)
            number += in->start[a] * s->words->number_stride[a];
    return number;
}

/* Step i from the word `base` on lies where the piece's stride puts it. Sums wrap: places that do not fit are refused
 * when all words are looked at. */
static bool continues(search *s, const td_words_piece *p, int a, uint64_t base, uint64_t i)
{
    const td_place_pair zero = place_at(s, base), at = place_at(s, base + i * s->words->number_stride[a]);
    return td_wrap_add(zero.address, td_wrap_mul(p->address_stride[a], (int64_t)i)) == at.address &&
           td_wrap_add(zero.bank, td_wrap_mul(p->bank_stride[a], (int64_t)i)) == at.bank;
}

/* A step of the line that breaks the stride while the one before it does not; the number of steps where none does. */
static uint64_t find_break(search *s, const td_words_piece *p, int a, uint64_t base)
{
    const uint64_t steps = p->at.extent[a];
    uint64_t good = 0, bad = steps;
    for (uint64_t i = 1; i < steps && bad == steps; i *= 2)
        if (continues(s, p, a, base, i))
            good = i;
        else
            bad = i;
    if (bad == steps && good < steps - 1 && !continues(s, p, a, base, steps - 1))
        bad = steps - 1;
    while (bad < steps && bad - good > 1 && !s->failed) {
        const uint64_t middle = good + (bad - good) / 2;
        if (continues(s, p, a, base, middle))
            good = middle;
        else
            bad = middle;
    }
    return bad;
}

/* Where line number `line` along axis `a` begins: at the first steps of the other axes, at their last, or anywhere. */
static uint64_t line_base(search *s, const td_region *in, int a, int line)
{
    uint64_t base = first_word(s, in);
    for (int o = 0; o < s->bound->axis_count && line; o++)
        if (o != a && moves(s, in, o))
            base += (line == 1 ? in->extent[o] - 1 : td_random_at(2, s->random++) % in->extent[o]) *
                    s->words->number_stride[o];
    return base;
}

/* The strides at the first word of the rectangle, and the place that they give step 0 of every axis. */
static void take_strides(search *s, td_words_piece *p)
{
    const uint64_t first = first_word(s, &p->at);
    const td_place_pair zero = place_at(s, first);
    p->address = zero.address;
    p->bank = zero.bank;
    for (int a = 0; a < s->bound->axis_count; a++) {
        p->address_stride[a] = p->bank_stride[a] = 0;
        if (!moves(s, &p->at, a))
            continue;
        const td_place_pair one = place_at(s, first + s->words->number_stride[a]);
        p->address_stride[a] = td_wrap_add(one.address, td_wrap_mul(zero.address, -1));
        p->bank_stride[a] = td_wrap_add(one.bank, td_wrap_mul(zero.bank, -1));
        const int64_t back = -(int64_t)p->at.start[a];
        p->address = td_wrap_add(p->address, td_wrap_mul(p->address_stride[a], back));
        p->bank = td_wrap_add(p->bank, td_wrap_mul(p->bank_stride[a], back));
    }
}

/* A few words anywhere in the rectangle, before all of them are looked at. */
static bool fits(search *s, const td_words_piece *p)
{
    bool fit = true;
    for (int i = 0; i < POINTS && fit; i++) {
        td_place_pair sum = {p->address, p->bank};
        uint64_t number = first_word(s, &p->at);
        for (int a = 0; a < s->bound->axis_count; a++) {
            const uint64_t extent = p->at.extent[a];
            if (extent < 2 || !s->bound->axis[a].placed)
                continue;
            const uint64_t step = td_random_at(2, s->random++) % extent, at = p->at.start[a] + step;
            number += step * s->words->number_stride[a];
            sum.address = td_wrap_add(sum.address, td_wrap_mul(p->address_stride[a], (int64_t)at));
            sum.bank = td_wrap_add(sum.bank, td_wrap_mul(p->bank_stride[a], (int64_t)at));
        }
        const td_place_pair found = place_at(s, number);
        fit = found.address == sum.address && found.bank == sum.bank;
    }
    return fit;
}

/* The slowest axes are cut first, so that rows of words stay long. */
static bool find_cut(search *s, const td_words_piece *p, int *axis, uint64_t *at)
{
    for (uint64_t below = UINT64_MAX; !s->failed;) {
        int a = -1;
        for (int o = 0; o < s->bound->axis_count; o++)
            if (moves(s, &p->at, o) && s->words->number_stride[o] < below &&
                (a < 0 || s->words->number_stride[o] > s->words->number_stride[a]))
                a = o;
        if (a < 0)
            return false;
        below = s->words->number_stride[a];
        for (int line = 0; line < LINES; line++) {
            *axis = a;
            *at = find_break(s, p, a, line_base(s, &p->at, a, line));
            if (*at < p->at.extent[a])
                return true;
        }
    }
    return false;
}

/* Cuts the rectangle until every part has strides. */
static void cut(search *s, const td_region *region)
{
    td_words_piece p = {.at = *region};
    uint64_t at = 0;
    int axis = 0;
    take_strides(s, &p);
    if (s->failed)
        return;
    if (find_cut(s, &p, &axis, &at)) {
        td_region part = *region;
        part.extent[axis] = at;
        cut(s, &part);
        part.start[axis] += at;
        part.extent[axis] = region->extent[axis] - at;
        if (!s->failed)
            cut(s, &part);
        return;
    }
    s->failed = s->failed || s->count == MOST_PIECES || !fits(s, &p);
    if (!s->failed)
        s->piece[s->count++] = p;
}

/* -- by the expressions -- */

/* The strides of an expression are those of the piece: what the piece has at its first word is right anyway. */
static bool has_strides(const search *s, const td_words_piece *p, const td_affine *of, const int64_t *stride)
{
    bool same = true;
    for (int a = 0; a < s->bound->axis_count && same; a++) {
        const td_bound_axis *axis = &s->bound->axis[a];
        if (!moves(s, &p->at, a))
            continue;
        const int64_t own = axis->pattern_axis >= 0 ? of->factor[axis->pattern_axis] : 0,
                      by_index =
                          axis->role == TD_ROLE_WORD ? td_wrap_mul(of->index_factor, (int64_t)axis->role_stride) : 0;
        same = stride[a] == td_wrap_add(own, by_index);
    }
    return same;
}

/* Without an expression banks are numbered by their axes. */
static bool has_bank_axes(const search *s, const td_words_piece *p)
{
    bool same = true;
    for (int a = 0; a < s->bound->axis_count && same; a++) {
        const td_bound_axis *axis = &s->bound->axis[a];
        if (moves(s, &p->at, a))
            same = p->bank_stride[a] == (axis->role == TD_ROLE_BANK ? (int64_t)axis->role_stride : 0);
    }
    return same;
}

/* Over the piece alone the expressions are affine, as each minimum has one side there and each quotient one value: no
 * word of it has to be looked at. */
static bool is_affine(const search *s, const td_words_piece *p)
{
    const td_layout *layout = s->bound->layout;
    uint64_t size[TD_MAX_AXES], start[TD_MAX_AXES] = {0}, index[2] = {0, 0};
    const td_expr_scope scope = {.size = size, .shape = &s->bound->shape, .start = start, .index = index};
    td_affine address = {.index_factor = (int64_t)layout->beats}, bank;
    if (s->words->unit != 1 || layout->flat)
        return false;
    memcpy(size, s->bound->size, sizeof size);
    for (int a = 0; a < s->bound->axis_count; a++) {
        const td_bound_axis *axis = &s->bound->axis[a];
        if (!axis->placed)
            continue;
        if (axis->pattern_axis >= 0) {
            size[axis->pattern_axis] = p->at.extent[a];
            start[axis->pattern_axis] = p->at.start[a];
        }
        if (axis->role == TD_ROLE_WORD) {
            index[0] += p->at.start[a] * axis->role_stride;
            index[1] += (p->at.start[a] + p->at.extent[a] - 1) * axis->role_stride;
        }
    }
    return (!layout->address || td_expr_affine(layout->address, &scope, &address)) &&
           has_strides(s, p, &address, p->address_stride) &&
           (layout->bank ? td_expr_affine(layout->bank, &scope, &bank) && has_strides(s, p, &bank, p->bank_stride)
                         : has_bank_axes(s, p));
}

/* From the first step of each axis to the last; false where that does not fit. */
static bool find_range(const search *s, const td_words_piece *p, int64_t first, const int64_t *stride, int64_t *low,
                       int64_t *high)
{
    int64_t least = first, most = first;
    bool bad = false;
    for (int a = 0; a < s->bound->axis_count; a++) {
        int64_t one = 0, other = 0;
        if (!moves(s, &p->at, a))
            continue;
        bad |= __builtin_mul_overflow(stride[a], (int64_t)p->at.start[a], &one);
        bad |= __builtin_mul_overflow(stride[a], (int64_t)(p->at.start[a] + p->at.extent[a] - 1), &other);
        bad |= __builtin_add_overflow(least, one < other ? one : other, &least);
        bad |= __builtin_add_overflow(most, one < other ? other : one, &most);
    }
    *low = least < *low ? least : *low;
    *high = most > *high ? most : *high;
    return !bad;
}

static bool is_proved(const search *s, td_places_part *all)
{
    bool proved = true;
    *all = (td_places_part){.low = INT64_MAX, .high = INT64_MIN, .low_bank = INT64_MAX, .high_bank = INT64_MIN};
    for (size_t i = 0; i < s->count && proved; i++) {
        const td_words_piece *p = &s->piece[i];
        proved = is_affine(s, p) && find_range(s, p, p->address, p->address_stride, &all->low, &all->high) &&
                 find_range(s, p, p->bank, p->bank_stride, &all->low_bank, &all->high_bank);
    }
    return proved;
}

/* -- every word -- */

static const td_words_piece *piece_of(const search *s, const uint64_t *at)
{
    for (size_t i = 0; i < s->count; i++) {
        const td_region *in = &s->piece[i].at;
        bool inside = true;
        for (int a = 0; a < s->bound->axis_count && inside; a++)
            inside = !s->bound->axis[a].placed || (at[a] >= in->start[a] && at[a] - in->start[a] < in->extent[a]);
        if (inside)
            return &s->piece[i];
    }
    return NULL; /* the parts of a rectangle are all of it */
}

/* Rows along the fastest axis, each as far as its piece goes. */
static bool holds(void *context, uint64_t number, size_t count, const int64_t *address, const int64_t *bank)
{
    const search *s = context;
    int fastest = 0;
    for (int a = 0; a < s->bound->axis_count; a++)
        if (s->bound->axis[a].placed && s->bound->axis[a].size > 1 && s->words->number_stride[a] == 1)
            fastest = a;
    uint64_t differs = 0;
    for (size_t i = 0; i < count && !differs;) {
        uint64_t at[TD_MAX_BOUND];
        td_word_coordinates(s->bound, s->words, number + i, at);
        const td_words_piece *p = piece_of(s, at);
        if (!p)
            return false;
        uint64_t word = (uint64_t)p->address, in = (uint64_t)p->bank;
        for (int a = 0; a < s->bound->axis_count; a++) {
            word += at[a] * (uint64_t)p->address_stride[a];
            in += at[a] * (uint64_t)p->bank_stride[a];
        }
        const uint64_t left = p->at.start[fastest] + p->at.extent[fastest] - at[fastest];
        const size_t end = left < count - i ? i + (size_t)left : count;
        const uint64_t word_step = (uint64_t)p->address_stride[fastest], bank_step = (uint64_t)p->bank_stride[fastest];
        for (uint64_t k = 0; i < end; i++, k++)
            differs |= (word + k * word_step - (uint64_t)address[i]) | (in + k * bank_step - (uint64_t)bank[i]);
    }
    return differs == 0;
}

/* Words past the tensor's end that no load writes may lie anywhere, as in the short last block of tail=clip. */
static td_status keep(const search *s, const td_places_part *all, bool inside, td_words *words)
{
    words->piece = calloc(s->count, sizeof *words->piece);
    if (!words->piece)
        return td_fail_alloc(s->count * sizeof *words->piece);
    for (size_t i = 0; i < s->count; i++)
        words->piece[i] = s->piece[i];
    words->piece_count = s->count;
    words->inside = inside;
    words->low = all->low;
    words->high = all->high;
    words->high_bank = all->high_bank;
    return TD_OK;
}

td_words td_words_of_piece(const td_words *words, const td_words_piece *piece)
{
    td_words own = *words;
    own.by_strides = true;
    own.address = piece->address;
    own.bank = piece->bank;
    for (int a = 0; a < TD_MAX_BOUND; a++) {
        own.address_stride[a] = piece->address_stride[a];
        own.bank_stride[a] = piece->bank_stride[a];
    }
    return own;
}

bool td_region_cut(const td_bound *bound, const td_region *piece, td_region *region)
{
    for (int a = 0; a < bound->axis_count; a++) {
        const uint64_t end = region->start[a] + region->extent[a], piece_end = piece->start[a] + piece->extent[a];
        const uint64_t start = region->start[a] > piece->start[a] ? region->start[a] : piece->start[a];
        const uint64_t last = end < piece_end ? end : piece_end;
        if (last <= start)
            return false;
        region->start[a] = start;
        region->extent[a] = last - start;
    }
    return true;
}

td_status td_places_pieces(const td_places *places, const td_bound *bound, td_words *words, const td_plan *plan)
{
    search *s = calloc(1, sizeof *s);
    td_places_part all = {0};
    td_region whole = {0};
    if (!s)
        return td_fail_alloc(sizeof *s);
    s->places = places;
    s->bound = bound;
    s->words = words;
    s->budget = 1024 + words->count / 64;
    for (int a = 0; a < bound->axis_count; a++)
        whole.extent[a] = bound->axis[a].size;
    cut(s, &whole);
    td_status status = TD_OK;
    if (!s->failed && s->count > 0) {
        status = is_proved(s, &all) ? TD_OK : td_places_all(places, holds, s, &all);
        if (!status && !all.stopped)
            status = keep(s, &all, td_places_inside(&all, plan), words);
    }
    free(s);
    return status;
}
