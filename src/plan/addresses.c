/* Finds where the words lie: the address and bank expressions as strides over the axes, or, where they are not
 * affine, as a table with one entry per word. Called by compile.c, check_words.c and show/view.c. Refuses what the
 * expressions refuse; check_words.c refuses places. */
#include "plan/passes.h"

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

/* Spreads an affine form over the bound axes; false when a factor does not fit. */
static bool spread(const td_bound *bound, const td_affine *affine, int64_t *stride)
{
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        int64_t by_index = 0;
        stride[a] = 0;
        if (!axis->placed)
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
        if (bound->axis[a].size > 1 && words->address_stride[a] % words->unit)
            return fail_inside(layout, words->address + words->address_stride[a], words->unit);
        words->address_stride[a] /= words->unit;
    }
    words->address = words->address < 0 ? -1 : words->address / words->unit;
    return TD_OK;
}

td_status td_words_find(const td_bound *bound, uint64_t width_bits, td_words *out)
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
                      !layout->alias_last;
    if (!out->by_strides)
        return TD_OK;
    out->address = address.constant;
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
        plan->place_table_count = plan->table_count;
        plan->table = NULL;
        plan->table_count = 0;
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

typedef struct table_walk {
    const td_bound *bound;
    int64_t unit;                                  /* as in td_words */
    int64_t value[TD_MAX_AXES], step[TD_MAX_AXES]; /* per pattern axis */
    uint64_t at[TD_MAX_BOUND];                     /* per bound axis */
} table_walk;

/* The coordinates of word `number`. */
static void seek(table_walk *w, const td_words *words, uint64_t number)
{
    for (int a = 0; a < w->bound->axis_count; a++) {
        const td_bound_axis *axis = &w->bound->axis[a];
        if (!axis->placed)
            continue;
        w->at[a] = number / words->number_stride[a] % axis->size;
        if (axis->pattern_axis >= 0)
            w->value[axis->pattern_axis] = (int64_t)w->at[a];
    }
}

/* Evaluates one run of words along the fastest axis. */
static td_status eval_run(const table_walk *w, uint64_t number, size_t count, int64_t *address, int64_t *bank)
{
    const td_layout *layout = w->bound->layout;
    const td_expr_scope scope = {.size = w->bound->size, .shape = &w->bound->shape};
    const uint64_t words = w->bound->count[TD_ROLE_WORD];
    const uint64_t in_lane = number % (words * w->bound->count[TD_ROLE_BANK]);
    const int64_t index = (int64_t)(number % words);
    const int64_t grow = w->bound->role_count[TD_ROLE_WORD] ? 1 : 0;
    td_status status = TD_OK;
    if (layout->address)
        status = td_expr_eval(layout->address, &scope, w->value, w->step, index, grow, count, address);
    else
        for (size_t i = 0; i < count; i++)
            address[i] = (int64_t)layout->beats * (index + grow * (int64_t)i);
    for (size_t i = 0; i < count && !status && layout->address && w->unit > 1; i++) {
        if (address[i] % w->unit && !layout->flat)
            return fail_inside(layout, address[i], w->unit);
        address[i] /= w->unit;
    }
    if (!status && layout->bank)
        status = td_expr_eval(layout->bank, &scope, w->value, w->step, index, grow, count, bank);
    else
        for (size_t i = 0; i < count && !status; i++)
            bank[i] = (int64_t)((in_lane + i) / words);
    if (status)
        td_fail_prefix("address \"%s\" ", layout->address_text);
    return status;
}

td_status td_words_at(const td_bound *bound, const td_words *words, uint64_t number, int64_t *address, int64_t *bank)
{
    table_walk w = {.bound = bound, .unit = words->unit};
    seek(&w, words, number);
    return eval_run(&w, number, 1, address, bank);
}

/* An address or bank that does not fit in an entry is outside every memory, and check_words.c refuses it as such. */
static uint64_t pack(int64_t address, int64_t bank)
{
    const uint64_t far = ((uint64_t)1 << TD_TABLE_BANK_SHIFT) - 1;
    const uint64_t word = address < 0 || (uint64_t)address >= far ? far : (uint64_t)address;
    const uint64_t in = bank < 0 || (uint64_t)bank >= TD_MAX_BANKS ? TD_MAX_BANKS : (uint64_t)bank;
    return in << TD_TABLE_BANK_SHIFT | word;
}

td_status td_words_table(const td_bound *bound, const td_words *words, td_plan *plan)
{
    const td_layout *layout = bound->layout;
    const td_geometry *g = &plan->geometry;
    uint64_t bytes = 0, room = 0;
    /* More words than the memories hold cannot all have a place. Many are refused here, before the table is made;
     * with few, check_words.c names the word at fault. */
    if (words->lane_words > MANY_WORDS && !layout->alias_last && !(bound->clip && bound->ragged) &&
        td_mul_fits(g->banks, g->depth_words, &room) && words->lane_words > room)
        return td_fail(
            TD_RANGE, "\"%s\" has %" PRIu64 " words, the memory has %" PRIu64 "; use smaller sizes, or a deeper memory",
            layout->pattern.text, words->lane_words, room);
    if (!td_mul_fits(words->count, sizeof *plan->table, &bytes) || !(plan->table = malloc(bytes)))
        return td_fail(TD_NO_MEMORY,
                       "the address table of %" PRIu64 " words does not fit in memory; use an address that is a sum of "
                       "constant * axis, or move the tensor in parts",
                       words->count);
    plan->table_count = words->count;

    table_walk w = {.bound = bound, .unit = words->unit};
    uint64_t run = words->lane_words; /* the words for which only the fastest axis moves */
    for (int role = TD_ROLE_WORD; role >= TD_ROLE_BANK; role--) {
        const int n = bound->role_count[role];
        if (n) {
            const td_bound_axis *fastest = &bound->axis[bound->role_axis[role][n - 1]];
            run = fastest->size;
            if (fastest->pattern_axis >= 0)
                w.step[fastest->pattern_axis] = 1;
            break;
        }
    }
    for (uint64_t number = 0; number < words->count;) {
        int64_t address[TD_EXPR_RUN], bank[TD_EXPR_RUN];
        uint64_t count = run - number % run;
        if (count > TD_EXPR_RUN)
            count = TD_EXPR_RUN;
        seek(&w, words, number);
        td_status status = eval_run(&w, number, (size_t)count, address, bank);
        if (status)
            return status;
        for (uint64_t i = 0; i < count; i++)
            plan->table[number + i] = pack(address[i], bank[i]);
        number += count;
    }
    return TD_OK;
}
