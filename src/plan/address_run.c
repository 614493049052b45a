/* The places of words in the order of their numbers, many at a time: what the address and bank expressions say, and the
 * table of a plan that has to keep them. Called by addresses.c, address_digits.c and check_table.c. Refuses what the
 * expressions refuse; check_table.c refuses places. */
#include "base/pool.h"
#include "plan/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- one run ------------------------------------------------------------------------------------------------------- */

/* An axis that the expressions name: its values over the numbers of words. */
typedef struct leaf {
    int pattern_axis;
    uint64_t stride, size;
} leaf;

struct td_places {
    const td_bound *bound;
    const td_words *words;
    td_expr_code *address, *bank; /* NULL: the default */
    bool index;                   /* they name it */
    int leaves;
    size_t run; /* points that fit in the scratch of a run */
    leaf leaf[TD_MAX_AXES];
};

#define SCRATCH_POINTS 8192

td_status td_places_create(const td_bound *bound, const td_words *words, td_places **out)
{
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    const uint64_t indices = bound->count[TD_ROLE_WORD];
    td_places *p = calloc(1, sizeof *p);
    if (!p)
        return td_fail_alloc(sizeof *p);
    p->bound = bound;
    p->words = words;
    td_status status = TD_OK;
    if (layout->address)
        status = td_expr_prepare(layout->address, &scope, indices, &p->address);
    if (!status && layout->bank)
        status = td_expr_prepare(layout->bank, &scope, indices, &p->bank);
    const uint64_t named = td_expr_axes(layout->address) | td_expr_axes(layout->bank);
    p->index = !layout->address || td_expr_names_index(layout->address) || td_expr_names_index(layout->bank);
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (axis->placed && axis->pattern_axis >= 0 && named >> axis->pattern_axis & 1)
            p->leaf[p->leaves++] = (leaf){axis->pattern_axis, words->number_stride[a], axis->size};
    }
    p->run = SCRATCH_POINTS / (size_t)(p->leaves + 1);
    p->run = p->run > TD_EXPR_RUN ? TD_EXPR_RUN : p->run;
    if (status)
        td_places_destroy(&p);
    *out = p;
    return status;
}

void td_places_destroy(td_places **places)
{
    if (*places) {
        td_expr_code_free(&(*places)->address);
        td_expr_code_free(&(*places)->bank);
    }
    free(*places);
    *places = NULL;
}

size_t td_places_most(const td_places *places)
{
    return places->run;
}

/* number / stride % size over a run of numbers. */
void td_fill_digit(uint64_t number, uint64_t stride, uint64_t size, size_t count, int64_t *restrict out)
{
    uint64_t value = number / stride % size, same = stride - number % stride;
    for (size_t i = 0; i < count;) {
        size_t end = count;
        if (stride == 1) {
            end = size - value < count - i ? i + (size_t)(size - value) : count;
            for (size_t k = i; k < end; k++)
                out[k] = (int64_t)(value + (k - i));
            value = 0;
        } else {
            end = same < count - i ? i + (size_t)same : count;
            for (size_t k = i; k < end; k++)
                out[k] = (int64_t)value;
            value = value + 1 == size ? 0 : value + 1;
            same = stride;
        }
        i = end;
    }
}

static bool in_words(int64_t unit, bool may_lie_inside, size_t count, int64_t *address)
{
    for (size_t i = 0; i < count; i++) {
        if (address[i] % unit && !may_lie_inside)
            return false;
        address[i] /= unit;
    }
    return true;
}

/* The expressions at points whose axes are in `scratch`: the index first, then every leaf, each `run` points apart. */
static bool eval_points(const td_places *p, const int64_t *scratch, size_t count, int64_t *address, int64_t *bank)
{
    const td_layout *layout = p->bound->layout;
    td_expr_points points;
    points.index = scratch;
    points.count = count;
    for (int i = 0; i < p->leaves; i++)
        points.axis[p->leaf[i].pattern_axis] = scratch + (size_t)(i + 1) * p->run;
    if (p->address) {
        if (!td_expr_run(p->address, &points, address) ||
            (p->words->unit > 1 && !in_words(p->words->unit, layout->flat, count, address)))
            return false;
    } else
        for (size_t i = 0; i < count; i++)
            if (__builtin_mul_overflow((int64_t)layout->beats, points.index[i], &address[i]))
                address[i] = INT64_MAX; /* past every memory, as the true one */
    return !p->bank || td_expr_run(p->bank, &points, bank);
}

bool td_places_run(const td_places *p, uint64_t number, size_t count, int64_t *address, int64_t *bank)
{
    int64_t scratch[SCRATCH_POINTS];
    const uint64_t words = p->bound->count[TD_ROLE_WORD];
    if (p->index)
        td_fill_digit(number, 1, words, count, scratch);
    for (int i = 0; i < p->leaves; i++)
        td_fill_digit(number, p->leaf[i].stride, p->leaf[i].size, count, scratch + (size_t)(i + 1) * p->run);
    if (!p->bank)
        td_fill_digit(number, words, p->bound->count[TD_ROLE_BANK], count, bank);
    return eval_points(p, scratch, count, address, bank);
}

bool td_places_points(const td_places *p, const uint64_t *number, size_t count, int64_t *address, int64_t *bank)
{
    int64_t scratch[SCRATCH_POINTS];
    const uint64_t words = p->bound->count[TD_ROLE_WORD];
    for (size_t i = 0; i < count; i++)
        scratch[i] = (int64_t)(number[i] % words);
    for (int k = 0; k < p->leaves; k++)
        for (size_t i = 0; i < count; i++)
            scratch[(size_t)(k + 1) * p->run + i] = (int64_t)(number[i] / p->leaf[k].stride % p->leaf[k].size);
    for (size_t i = 0; i < count && !p->bank; i++)
        bank[i] = (int64_t)(number[i] / words % p->bound->count[TD_ROLE_BANK]);
    return eval_points(p, scratch, count, address, bank);
}

/* -- all of them --------------------------------------------------------------------------------------------------- */

typedef struct all_words {
    const td_places *places;
    td_places_sink *sink;
    void *context;
    unsigned parts;
    td_places_part part[TD_POOL_PARTS];
} all_words;

static void widen(const int64_t *value, size_t count, int64_t *least, int64_t *greatest)
{
    int64_t low = value[0], high = value[0];
    for (size_t i = 1; i < count; i++) {
        low = value[i] < low ? value[i] : low;
        high = value[i] > high ? value[i] : high;
    }
    *least = low < *least ? low : *least;
    *greatest = high > *greatest ? high : *greatest;
}

static void run_part(const all_words *all, td_places_part *part, uint64_t number, uint64_t end)
{
    const size_t most = all->places->run;
    const bool one_bank = !all->places->bank && all->places->bound->count[TD_ROLE_BANK] == 1;
    int64_t address[TD_EXPR_RUN], bank[TD_EXPR_RUN];
    *part = (td_places_part){.low = INT64_MAX, .high = INT64_MIN, .low_bank = INT64_MAX, .high_bank = INT64_MIN};
    for (; number < end && !part->stopped; number += most) {
        const size_t count = end - number < most ? (size_t)(end - number) : most;
        part->stopped = part->failed = !td_places_run(all->places, number, count, address, bank);
        if (!part->failed) {
            widen(address, count, &part->low, &part->high);
            widen(bank, one_bank ? 1 : count, &part->low_bank, &part->high_bank);
            part->stopped = !all->sink(all->context, number, count, address, bank);
        }
        if (part->stopped)
            part->at = number;
    }
}

static void run_parts(void *context, unsigned begin, unsigned end)
{
    all_words *all = context;
    const uint64_t count = all->places->words->count;
    for (unsigned i = begin; i < end; i++) /* whole lines of a table belong to one part */
        run_part(all, &all->part[i], count / 64 * i / all->parts * 64,
                 i + 1 == all->parts ? count : count / 64 * (i + 1) / all->parts * 64);
}

/* What a word costs beside a copy of its entry, as td_pool_parts counts. */
#define WORK_BYTES 32

td_status td_places_all(const td_places *places, td_places_sink *sink, void *context, td_places_part *out)
{
    all_words all = {.places = places, .sink = sink, .context = context, .parts = 1};
    const uint64_t words = places->words->count;
    all.parts = words > UINT64_MAX / WORK_BYTES ? 1 : td_pool_parts(words * WORK_BYTES, words / 4096);
    if (all.parts > 1)
        td_pool_run(all.parts, run_parts, &all);
    else
        run_parts(&all, 0, 1);
    *out = all.part[0];
    for (unsigned i = 1; i < all.parts && !out->stopped; i++) {
        const td_places_part *part = &all.part[i];
        const int64_t low[2] = {part->low, out->low}, high[2] = {part->high, out->high};
        const int64_t low_bank[2] = {part->low_bank, out->low_bank}, high_bank[2] = {part->high_bank, out->high_bank};
        *out = *part;
        out->low = low[0] < low[1] ? low[0] : low[1];
        out->high = high[0] > high[1] ? high[0] : high[1];
        out->low_bank = low_bank[0] < low_bank[1] ? low_bank[0] : low_bank[1];
        out->high_bank = high_bank[0] > high_bank[1] ? high_bank[0] : high_bank[1];
    }
    return out->failed ? td_words_fail(places->bound, places->words, out->at) : TD_OK;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t most)
{
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

td_status td_table_create(const td_geometry *g, uint64_t count, td_table *out)
{
    const unsigned word = bits_of(g->depth_words ? g->depth_words - 1 : 0), bank = bits_of(g->banks - 1);
    uint64_t bytes = 0;
    *out = (td_table){.count = count,
                      .bank_shift = (uint8_t)word,
                      .entry_bytes = word + bank <= 16   ? 2
                                     : word + bank <= 32 ? 4
                                                         : 8};
    if (!td_mul_fits(count, (uint64_t)out->entry_bytes, &bytes) || !(out->entry = malloc(bytes)))
        return td_fail(TD_NO_MEMORY,
                       "the address table of %" PRIu64 " words does not fit in memory; use an address that is a sum of "
                       "constant * axis, or move the tensor in parts",
                       count);
    return TD_OK;
}

/* A place outside of the memory gives an entry that means nothing: check_table.c refuses it before it is used. */
void td_table_put(const td_table *table, uint64_t first, size_t count, const int64_t *address, const int64_t *bank)
{
    uint16_t *const two = (uint16_t *)table->entry + first;
    uint32_t *const four = (uint32_t *)table->entry + first;
    uint64_t *const eight = (uint64_t *)table->entry + first;
    const unsigned shift = table->bank_shift;
#define PUT(to, type)                                                                                                  \
    for (size_t i = 0; i < count; i++)                                                                                 \
    (to)[i] = (type)((uint64_t)bank[i] << shift | ((uint64_t)address[i] & ~(~(uint64_t)0 << shift)))
    if (table->entry_bytes == 2)
        PUT(two, uint16_t);
    else if (table->entry_bytes == 4)
        PUT(four, uint32_t);
    else
        PUT(eight, uint64_t);
#undef PUT
}

static bool put_entries(void *context, uint64_t number, size_t count, const int64_t *address, const int64_t *bank)
{
    const td_table *table = context;
    td_table_put(table, number, count, address, bank);
    return true;
}

bool td_places_inside(const td_places_part *all, const td_plan *plan)
{
    const td_geometry *g = &plan->geometry;
    return all->low >= 0 && all->low_bank >= 0 && (uint64_t)all->high_bank < g->banks &&
           plan->beats <= g->depth_words && (uint64_t)all->high <= g->depth_words - plan->beats;
}

td_status td_places_table(const td_places *places, td_words *words, td_plan *plan)
{
    td_places_part all = {0};
    td_status status = td_table_create(&plan->geometry, words->count, &plan->table);
    if (!status)
        status = td_places_all(places, put_entries, &plan->table, &all);
    if (!status) {
        words->inside = td_places_inside(&all, plan);
        words->low = all.low;
        words->high = all.high;
        words->high_bank = all.high_bank;
    }
    return status;
}
