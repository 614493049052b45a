/* Finds where the words lie: the address and bank expressions as strides over the axes, or, where they are not
 * affine, as a table with one entry per word. Called by compile.c, check_words.c and show/view.c. Refuses what the
 * expressions refuse; check_words.c refuses places. */
#include "plan/places.h"

#include "base/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#define MANY_WORDS ((uint64_t)1 << 20)

/* Numbers the words over the bank and word axes, slowest first; `index` is the part of the word axes. Lane axes with
 * addresses of their own come before both, so that the words of one such lane have consecutive numbers. */
static void number_words(const td_bound *bound, td_words *out)
{
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (axis->role == TD_ROLE_WORD)
            out->number_stride[a] = axis->role_stride;
        if (axis->role == TD_ROLE_BANK)
            out->number_stride[a] = axis->role_stride * bound->count[TD_ROLE_WORD];
    }
    out->lane_words = bound->count[TD_ROLE_BANK] * bound->count[TD_ROLE_WORD]; /* bind checked the product */
    out->count = out->lane_words;
    for (int i = bound->role_count[TD_ROLE_LANE] - 1; i >= 0; i--) {
        const int a = bound->role_axis[TD_ROLE_LANE][i];
        if (bound->axis[a].placed) {
            out->number_stride[a] = out->count;
            out->count *= bound->axis[a].size;
        }
    }
}

/* Spreads an affine form over the bound axes; false when a factor does not fit. An axis of one step has no stride,
 * whatever its factor. */
static bool spread(const td_bound *bound, const td_affine *affine, int64_t *stride)
{
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        int64_t by_index = 0;
        stride[a] = 0;
        if (!axis->placed || axis->size == 1)
            continue;
        if (axis->role == TD_ROLE_WORD &&
            __builtin_mul_overflow(affine->index_factor, (int64_t)axis->role_stride, &by_index))
            return false;
        const int64_t own = axis->pattern_axis >= 0 ? affine->factor[axis->pattern_axis] : 0;
        int64_t reach = 0;
        if (__builtin_add_overflow(by_index, own, &stride[a]) ||
            __builtin_mul_overflow(stride[a], (int64_t)axis->size, &reach))
            return false;
    }
    return true;
}

static bool affine_or_default(const td_expr *expr, const td_expr_scope *scope, int64_t index_factor, td_affine *out)
{
    if (expr)
        return td_expr_affine(expr, scope, out);
    *out = (td_affine){.index_factor = index_factor};
    return true;
}

/* A flat layout has the address of its first word, and the others follow it. */
static bool affine_address(const td_layout *layout, const td_expr_scope *scope, td_affine *out)
{
    const bool affine = affine_or_default(layout->address, scope, (int64_t)layout->beats, out);
    if (affine && layout->flat)
        out->index_factor = 1;
    return affine;
}

/* What the address counts, in bytes of a word of this width; 1 where it counts words. */
static td_status find_unit(const td_layout *layout, uint64_t width_bits, int64_t *out)
{
    *out = 1;
    if (!layout->byte_addresses)
        return TD_OK;
    if (width_bits % 8)
        return td_fail(TD_OPTION,
                       "addr_unit=byte in words of %" PRIu64
                       " bits; byte addresses need words of whole bytes, so count words",
                       width_bits);
    *out = (int64_t)(width_bits / 8);
    return TD_OK;
}

static td_status fail_inside(const td_layout *layout, int64_t address, int64_t unit)
{
    return td_fail(TD_ADDRESS,
                   "byte address %" PRId64 " of \"%s\" lies inside a word of %" PRId64
                   " bytes; pass multiples of %" PRId64 ", as in %" PRId64
                   "*index, or the flat pattern \"... -> (...)\"",
                   address, layout->pattern.text, unit, unit, unit);
}

td_status td_flat_first_bit(const td_bound *bound, uint64_t width_bits, uint64_t *out)
{
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    td_affine address;
    int64_t unit = 1;
    td_status status = find_unit(layout, width_bits, &unit);
    *out = layout->lsb_bits;
    if (!status && affine_address(layout, &scope, &address) && address.constant > 0)
        *out += 8 * (uint64_t)(address.constant % unit);
    return status;
}

/* The address in words, where it counts bytes. */
static td_status divide_strides(const td_bound *bound, td_words *words)
{
    const td_layout *layout = bound->layout;
    if (words->unit == 1 || !layout->address)
        return TD_OK;
    if (words->address % words->unit && !layout->flat)
        return fail_inside(layout, words->address, words->unit);
    for (int a = 0; a < bound->axis_count && !layout->flat; a++) {
        int64_t second = 0;
        if (words->address_stride[a] % words->unit) {
            if (__builtin_add_overflow(words->address, words->address_stride[a], &second))
                second = words->address_stride[a];
            return fail_inside(layout, second, words->unit);
        }
        words->address_stride[a] /= words->unit;
    }
    words->address = layout->flat && words->address < 0 ? -1 : words->address / words->unit;
    return TD_OK;
}

td_status td_words_find(const td_bound *bound, uint64_t width_bits, bool any_order, td_words *out)
{
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    td_affine address, bank;
    *out = (td_words){0};
    td_status status = find_unit(layout, width_bits, &out->unit);
    if (status)
        return status;
    number_words(bound, out);
    if (layout->beats > INT64_MAX / 2)
        return td_fail(TD_OVERFLOW, "beats=%" PRIu64 " is too large; pass fewer", layout->beats);
    out->by_strides = affine_address(layout, &scope, &address) && affine_or_default(layout->bank, &scope, 0, &bank) &&
                      spread(bound, &address, out->address_stride) && spread(bound, &bank, out->bank_stride) &&
                      any_order;
    if (!out->by_strides)
        return TD_OK;
    out->address = out->said = address.constant;
    out->bank = bank.constant;
    for (int i = 0; i < bound->role_count[TD_ROLE_BANK]; i++) {
        const int axis = bound->role_axis[TD_ROLE_BANK][i];
        out->bank_stride[axis] = (int64_t)bound->axis[axis].role_stride;
    }
    return divide_strides(bound, out);
}

td_words td_words_dense(const td_bound *bound, const td_words *words)
{
    td_words dense = *words;
    dense.by_strides = true;
    dense.address = dense.bank = 0;
    for (int a = 0; a < bound->axis_count; a++) {
        dense.address_stride[a] = (int64_t)(words->number_stride[a] * bound->layout->beats);
        dense.bank_stride[a] = 0;
    }
    return dense;
}

td_status td_words_keep(const td_bound *bound, const td_words *words, td_plan *plan)
{
    plan->dense_words = words->count * plan->beats;
    if (!words->by_strides) {
        plan->place_table = plan->table;
        plan->table = (td_table){0};
        return TD_OK;
    }
    const int axes = bound->role_count[TD_ROLE_WORD];
    plan->place = calloc((size_t)axes + 1, sizeof *plan->place);
    if (!plan->place)
        return td_fail_alloc(((size_t)axes + 1) * sizeof *plan->place);
    plan->first_place = (uint64_t)words->address;
    for (int i = 0; i < axes; i++) {
        const int a = bound->role_axis[TD_ROLE_WORD][i];
        plan->place[i].extent = bound->axis[a].size;
        plan->place[i].memory = words->address_stride[a] * (int64_t)plan->geometry.word_bytes * 8;
    }
    plan->place_count = td_nodes_fold(plan->place, (size_t)axes);
    return TD_OK;
}

/* Of one word, or of several along the fastest axis; `values` has room for count points of every pattern axis and of
 * the index. */
static td_status eval_run(const td_bound *bound, const td_words *words, uint64_t number, size_t count, int64_t *values,
                          int64_t *address, int64_t *bank)
{
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    const uint64_t of_bank = bound->count[TD_ROLE_WORD],
                   named = td_expr_axes(layout->address) | td_expr_axes(layout->bank);
    td_expr_points points = {.count = count};
    td_status status = TD_OK;
    int64_t *next = values;
    for (size_t i = 0; i < count; i++)
        next[i] = (int64_t)((number + i) % of_bank);
    points.index = next;
    for (int p = 0; p < layout->pattern.axis_count; p++)
        if (named >> p & 1)
            points.axis[p] = next += count;
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (!axis->placed || axis->pattern_axis < 0 || !(named >> axis->pattern_axis & 1))
            continue;
        int64_t *of_axis = values + (points.axis[axis->pattern_axis] - values);
        for (size_t i = 0; i < count; i++)
            of_axis[i] = (int64_t)((number + i) / words->number_stride[a] % axis->size);
    }
    if (layout->address)
        status = td_expr_eval(layout->address, &scope, &points, address);
    for (size_t i = 0; i < count && !layout->address; i++)
        if (__builtin_mul_overflow((int64_t)layout->beats, points.index[i], &address[i]))
            address[i] = INT64_MAX; /* past every memory, as the true one */
    for (size_t i = 0; i < count && !status && layout->address && words->unit > 1; i++) {
        if (address[i] % words->unit && !layout->flat)
            return fail_inside(layout, address[i], words->unit);
        address[i] /= words->unit;
    }
    if (!status && layout->bank)
        status = td_expr_eval(layout->bank, &scope, &points, bank);
    for (size_t i = 0; i < count && !layout->bank; i++)
        bank[i] = (int64_t)((number + i) / of_bank % bound->count[TD_ROLE_BANK]);
    if (status)
        td_fail_prefix("address \"%s\" ", layout->address_text);
    return status;
}

td_status td_words_at(const td_bound *bound, const td_words *words, uint64_t number, int64_t *address, int64_t *bank)
{
    int64_t values[TD_MAX_AXES + 1] = {0};
    return eval_run(bound, words, number, 1, values, address, bank);
}

td_status td_words_fail(const td_bound *bound, const td_words *words, uint64_t number)
{
    int64_t address[TD_EXPR_RUN], bank[TD_EXPR_RUN], values[(TD_MAX_AXES + 1) * TD_EXPR_RUN] = {0};
    const uint64_t most = TD_EXPR_RUN;
    uint64_t run = words->lane_words; /* the words for which only the fastest axis moves */
    for (int role = TD_ROLE_WORD; role >= TD_ROLE_BANK; role--)
        if (bound->role_count[role]) {
            run = bound->axis[bound->role_axis[role][bound->role_count[role] - 1]].size;
            break;
        }
    number -= number % run % most;
    td_status status = TD_OK;
    while (!status && number < words->count) {
        uint64_t count = run - number % run;
        count = count < most ? count : most;
        status = eval_run(bound, words, number, (size_t)count, values, address, bank);
        number += count;
    }
    return status;
}

td_status td_words_table(const td_bound *bound, bool digits, td_words *words, td_plan *plan)
{
    TD_STEP(step, "address table");
    const td_layout *layout = bound->layout;
    const td_geometry *g = &plan->geometry;
    uint64_t room = 0;
    /* More words than the memories hold cannot all have a place. Many are refused here, before the table is made;
     * with few, check_words.c names the word at fault. */
    if (words->lane_words > MANY_WORDS && !layout->alias_last && !(bound->clip && bound->ragged) &&
        td_mul_fits(g->banks, g->depth_words, &room) && words->lane_words > room)
        return td_fail(
            TD_RANGE, "\"%s\" has %" PRIu64 " words, the memory has %" PRIu64 "; use smaller sizes, or a deeper memory",
            layout->pattern.text, words->lane_words, room);
    td_places *places = NULL;
    td_status status = td_places_create(bound, words, &places);
    if (!status && digits)
        status = td_places_digits(places, bound, words, plan);
    if (!status && !words->by_digits && !words->piece)
        status = td_places_table(places, words, plan);
    td_places_destroy(&places);
    return status;
}
