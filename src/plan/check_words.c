/* The checks on words before anything is written: each inside its memory, no two in one place. Called by compile.c
 * with the regions of words that a load writes. Words that lie by strides are checked without visiting them, words of
 * a table by check_table.c. */
#include "plan/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Appends the coordinates of a word to the message, by axis name after the noun: "word b=0 w=1". */
static void append_word(const td_bound *bound, const uint64_t *at, const char *noun)
{
    bool any = false;
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (!axis->placed || axis->size == 1)
            continue;
        const char *name = axis->pattern_axis >= 0 ? bound->layout->pattern.axis[axis->pattern_axis].name : "...";
        td_fail_append("%s%s=%" PRIu64, any ? " " : noun, name, at[a]);
        any = true;
    }
    if (!any)
        td_fail_append("the only word");
}

void td_word_coordinates(const td_bound *bound, const td_words *words, uint64_t number, uint64_t *at)
{
    for (int a = 0; a < bound->axis_count; a++)
        at[a] = !bound->axis[a].placed ? 0 : number / words->number_stride[a] % bound->axis[a].size;
}

/* The usual mistake: an address that counts bytes. As such it would lie inside the memory, and it is a sum of whole
 * words of them, or, of a flat layout, past the memory from its first word on. */
static const char *bytes_hint(const td_bound *bound, const td_geometry *g, uint64_t address)
{
    static const char hint[] = "; if it counts bytes, pass addr_unit=byte";
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    const int64_t bytes = (int64_t)(g->width_bits / 8);
    td_affine sum;
    if (!layout->address || layout->byte_addresses || g->width_bits % 8 || bytes == 1 ||
        address / (uint64_t)bytes >= g->depth_words || !td_expr_affine(layout->address, &scope, &sum))
        return "";
    if (layout->flat)
        return (uint64_t)sum.constant >= g->depth_words ? hint : "";
    bool whole = sum.constant % bytes == 0 && sum.index_factor % bytes == 0;
    for (int i = 0; i < layout->pattern.axis_count; i++)
        whole = whole && sum.factor[i] % bytes == 0;
    return whole ? hint : "";
}

/* An address in words as the layout counts it, which may be in bytes. */
static uint64_t as_said(const td_words *words, uint64_t address, const char **unit)
{
    uint64_t bytes = 0;
    const bool said = words->unit > 1 && td_mul_fits(address, (uint64_t)words->unit, &bytes);
    *unit = said ? "byte " : "";
    return said ? bytes : address;
}

td_status td_word_fail_address(const td_bound *bound, const td_words *words, const td_plan *plan, const uint64_t *at,
                               int64_t address, uint64_t beats)
{
    const uint64_t last = beats - 1, depth = plan->geometry.depth_words;
    const char *unit = "";
    const uint64_t said = as_said(words, address < 0 ? 0 - (uint64_t)address : (uint64_t)address + last, &unit);
    td_fail(TD_RANGE, "%saddress %s%" PRIu64 " of ", unit, address < 0 ? "-" : "", said);
    append_word(bound, at, "word ");
    if (address < 0)
        td_fail_append(" of \"%s\" is below 0; add %" PRIu64 " to the address", bound->layout->pattern.text, said);
    else
        td_fail_append(" of \"%s\" is past the memory of %" PRIu64
                       " words; use smaller addresses, or a depth of at least %" PRIu64 "%s",
                       bound->layout->pattern.text, depth, (uint64_t)address + last + 1,
                       bytes_hint(bound, &plan->geometry, (uint64_t)address + last));
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

td_status td_word_fail_bank(const td_bound *bound, const td_plan *plan, const uint64_t *at, int64_t bank)
{
    td_fail(TD_RANGE, "bank %" PRId64 " of ", bank);
    append_word(bound, at, "word ");
    td_fail_append(" of \"%s\" is not one of the %" PRIu64 " memories; pass %s%" PRIu64 " or change the bank",
                   bound->layout->pattern.text, plan->geometry.banks, bank < 0 ? "a bank from 0 to " : "at least ",
                   bank < 0 ? plan->geometry.banks - 1 : (uint64_t)bank + 1);
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

td_status td_word_fail_alias(const td_bound *bound, const uint64_t *a, const uint64_t *b, uint64_t address,
                             uint64_t bank)
{
    td_fail(TD_ALIAS, "words ");
    append_word(bound, a, "");
    td_fail_append(" and ");
    append_word(bound, b, "");
    td_fail_append(" of \"%s\" both lie at address %" PRIu64, bound->layout->pattern.text, address);
    if (bound->role_count[TD_ROLE_BANK] || bound->layout->bank)
        td_fail_append(" of bank %" PRIu64, bank);
    td_fail_append("; use an address that keeps them apart, or alias=last");
    td_bind_describe(bound->layout, &bound->shape);
    return TD_ALIAS;
}

/* -- by strides -- */

/* The least or greatest value of start + sum of stride * step over a region, and where it is taken. */
bool td_words_extreme(const td_bound *bound, const td_region *region, int64_t start, const int64_t *stride,
                      bool greatest, uint64_t *at, int64_t *out)
{
    int64_t sum = start;
    for (int a = 0; a < bound->axis_count; a++) {
        int64_t term = 0;
        at[a] = region->start[a] + ((stride[a] > 0) == greatest ? region->extent[a] - 1 : 0);
        if (__builtin_mul_overflow(stride[a], (int64_t)at[a], &term) || __builtin_add_overflow(sum, term, &sum))
            return false;
    }
    *out = sum;
    return true;
}

td_status td_words_range(const td_bound *bound, const td_words *words, const td_plan *plan, const td_region *region)
{
    const td_geometry *g = &plan->geometry;
    uint64_t at[TD_MAX_BOUND];
    for (int greatest = 0; greatest < 2; greatest++) {
        int64_t address = 0, bank = 0, end = 0;
        if (!td_words_extreme(bound, region, words->address, words->address_stride, greatest, at, &address) ||
            __builtin_add_overflow(address, (int64_t)region->beats, &end))
            return td_fail(TD_OVERFLOW, "the addresses of \"%s\" do not fit in 63 bits; use smaller factors",
                           bound->layout->pattern.text);
        if (address < 0 || (uint64_t)end > g->depth_words)
            return td_word_fail_address(bound, words, plan, at, address, region->beats);
        if (!td_words_extreme(bound, region, words->bank, words->bank_stride, greatest, at, &bank))
            return td_fail(TD_OVERFLOW, "the banks of \"%s\" do not fit in 63 bits; use smaller factors",
                           bound->layout->pattern.text);
        if (bank < 0 || (uint64_t)bank >= g->banks)
            return td_word_fail_bank(bound, plan, at, bank);
    }
    return TD_OK;
}

/* The search for two words in one place: a difference d of steps, not all zero, with |sum of stride * d| < beats. Axes
 * come with the longest stride first; what the later ones can reach bounds the choice at each, so that for the usual
 * nested strides only 0 is ever tried. */
typedef struct search {
    int count;
    int axis[TD_MAX_BOUND];
    int64_t stride[TD_MAX_BOUND], most[TD_MAX_BOUND], reach[TD_MAX_BOUND + 1], found[TD_MAX_BOUND];
    int64_t near; /* beats - 1 */
    long budget;
} search;

static td_apart look(search *s, int i, int64_t sum, bool moved)
{
    if (i == s->count)
        return moved && sum <= s->near && sum >= -s->near ? TD_TOGETHER : TD_APART;
    if (--s->budget < 0)
        return TD_UNDECIDED;
    /* |sum + stride * d| must not pass what is left to reach; before the first move only one sign is worth trying. */
    const int64_t room = s->reach[i + 1] + s->near, stride = s->stride[i];
    int64_t low = moved ? -s->most[i] : 0, high = s->most[i];
    if (stride > 0) {
        const int64_t least = (-room - sum) / stride - 1, greatest = (room - sum) / stride + 1;
        low = least > low ? least : low;
        high = greatest < high ? greatest : high;
    }
    for (int64_t d = low; d <= high; d++) {
        const int64_t next = sum + stride * d;
        if (next > room || next < -room)
            continue;
        s->found[i] = d;
        td_apart v = look(s, i + 1, next, moved || d);
        if (v != TD_APART)
            return v;
    }
    return TD_APART;
}

/* Longest stride first, with what each can reach; false where the search's sums might not fit. */
static bool sort_axes(search *s)
{
    for (int i = 1; i < s->count; i++)
        for (int j = i; j > 0 && s->stride[j] > s->stride[j - 1]; j--) {
            const int64_t stride = s->stride[j], most = s->most[j];
            const int axis = s->axis[j];
            s->stride[j] = s->stride[j - 1], s->most[j] = s->most[j - 1], s->axis[j] = s->axis[j - 1];
            s->stride[j - 1] = stride, s->most[j - 1] = most, s->axis[j - 1] = axis;
        }
    int64_t sum = s->near;
    s->reach[s->count] = 0;
    for (int i = s->count - 1; i >= 0; i--) {
        int64_t own = 0;
        if (__builtin_mul_overflow(s->stride[i], s->most[i], &own) || __builtin_add_overflow(sum, own, &sum))
            return false;
        s->reach[i] = sum - s->near;
    }
    return sum < INT64_MAX / 4;
}

/* TD_UNDECIDED where the numbers are too large, which regions inside a memory are not: depth < 2^41, banks < 2^16. */
td_apart td_words_apart(const td_bound *bound, const td_words *words, const td_plan *plan, const td_region *region,
                        uint64_t *first, uint64_t *second)
{
    search s = {.near = (int64_t)plan->beats - 1, .budget = 2000000};
    const int64_t bank_worth = (int64_t)(plan->geometry.depth_words + plan->beats);
    bool backward[TD_MAX_BOUND] = {false};
    for (int a = 0; a < bound->axis_count; a++) {
        first[a] = second[a] = region->start[a];
        if (bound->axis[a].role == TD_ROLE_LANE || region->extent[a] == 1)
            continue;
        int64_t stride = 0;
        if (__builtin_mul_overflow(words->bank_stride[a], bank_worth, &stride) ||
            __builtin_add_overflow(stride, words->address_stride[a], &stride) || stride == INT64_MIN)
            return TD_UNDECIDED;
        backward[a] = stride < 0;
        s.axis[s.count] = a;
        s.stride[s.count] = stride < 0 ? -stride : stride;
        s.most[s.count++] = (int64_t)region->extent[a] - 1;
    }
    if (!sort_axes(&s))
        return TD_UNDECIDED;
    td_apart v = look(&s, 0, 0, false);
    for (int i = 0; i < s.count && v == TD_TOGETHER; i++) {
        const int64_t d = backward[s.axis[i]] ? -s.found[i] : s.found[i];
        if (d > 0)
            first[s.axis[i]] += (uint64_t)d;
        else
            second[s.axis[i]] += (uint64_t)-d;
    }
    return v;
}

/* Words by digits lie apart when those of the table do, and no step of the strides is short enough to bring two of its
 * words together. Where that is not so, all words are listed. */
static td_apart apart_by_digits(const td_bound *bound, const td_words *words, const td_plan *plan)
{
    search s = {.near = (int64_t)plan->beats - 1, .budget = 200000};
    const int64_t bank_worth = (int64_t)(plan->geometry.depth_words + plan->beats);
    int64_t low = INT64_MAX, high = 0;
    for (uint64_t i = 0; i < plan->table.count; i++) {
        const int64_t word = (int64_t)td_table_word(&plan->table, td_table_get(&plan->table, i));
        low = word < low ? word : low;
        high = word > high ? word : high;
    }
    s.near += plan->table.count ? high - low : 0;
    for (int a = 0; a < bound->axis_count; a++)
        for (int i = 0; i < words->digits[a]; i++) {
            const td_digit *d = &words->digit[words->first_digit[a] + i];
            int64_t stride = 0;
            if (d->entry || d->size == 1)
                continue;
            if (s.count == TD_MAX_BOUND || __builtin_mul_overflow(d->bank, bank_worth, &stride) ||
                __builtin_add_overflow(stride, d->address, &stride) || stride == INT64_MIN)
                return TD_UNDECIDED;
            s.stride[s.count] = stride < 0 ? -stride : stride;
            s.most[s.count++] = (int64_t)d->size - 1;
        }
    return sort_axes(&s) && td_table_is_apart(plan) ? look(&s, 0, 0, false) : TD_UNDECIDED;
}

#define BANK_BIT 44 /* above every address: depth < 2^41 */

/* What the digit's value adds, bit by bit of the value; false where one of these has bits that are taken, or none. */
static bool take_digit_bits(const td_digit *d, uint64_t *taken)
{
    if (d->address < 0 || d->bank < 0)
        return false;
    uint64_t step = (uint64_t)d->bank << BANK_BIT | (uint64_t)d->address;
    for (uint64_t most = d->size - 1; most; most >>= 1, step <<= 1) {
        if (!step || step & *taken)
            return false;
        *taken |= step;
    }
    return true;
}

/* Where neither two digits nor a digit and an entry have a bit of a place in common, as after moves and XORs of bits,
 * every digit can be read off the place, and only entries could meet. Bits that count beats are taken from the start.
 */
static bool apart_by_bits(const td_bound *bound, const td_words *words, const td_plan *plan)
{
    uint64_t taken = 0;
    while (taken < plan->beats - 1)
        taken = 2 * taken + 1;
    for (int a = 0; a < bound->axis_count; a++)
        for (int i = 0; i < words->digits[a]; i++) {
            const td_digit *d = &words->digit[words->first_digit[a] + i];
            if (!d->entry && !take_digit_bits(d, &taken))
                return false;
        }
    for (uint64_t i = 0; i < plan->table.count; i++) {
        const uint64_t entry = td_table_get(&plan->table, i);
        if (((entry >> plan->table.bank_shift) << BANK_BIT | td_table_word(&plan->table, entry)) & taken)
            return false;
    }
    return td_table_is_apart(plan);
}

/* Where the search by strides gives up, the addresses are listed in a table. */
static td_status apart_by_listing(const td_bound *bound, const td_words *words, const td_plan *plan,
                                  const td_regions *written)
{
    td_words all = *words;
    all.by_digits = false;
    all.piece = NULL;
    all.piece_count = 0;
    td_plan listed = {.geometry = plan->geometry, .beats = plan->beats};
    td_status status = td_words_table(bound, false, &all, &listed);
    if (!status)
        status = td_table_check_apart(bound, &all, &listed, written);
    free(listed.table.entry);
    return status;
}

/* Several regions are first tried as the whole they are cut from; its far corner may lie outside the memory, but must
 * be small enough for the search's products. */
static bool whole_fits(const td_bound *bound, const td_words *words, td_region *whole)
{
    uint64_t at[TD_MAX_BOUND];
    int64_t low = 0, high = 0;
    const int64_t far = (int64_t)1 << 44;
    for (int a = 0; a < bound->axis_count; a++) {
        whole->start[a] = 0;
        whole->extent[a] = bound->axis[a].size;
    }
    return words->bank == 0 && td_words_extreme(bound, whole, words->address, words->address_stride, false, at, &low) &&
           td_words_extreme(bound, whole, words->address, words->address_stride, true, at, &high) && low > -far &&
           high < far;
}

static td_status check_flat(const td_bound *bound, const td_words *words, const td_plan *plan,
                            const td_regions *regions)
{
    const td_geometry *g = &plan->geometry;
    const char *unit = words->unit > 1 ? "byte " : "";
    uint64_t end = 0;
    for (size_t r = 0; r < regions->count; r++)
        end = regions->region[r].beats > end ? regions->region[r].beats : end;
    if (words->bank < 0 || (uint64_t)words->bank >= g->banks) {
        const uint64_t at[TD_MAX_BOUND] = {0};
        return td_word_fail_bank(bound, plan, at, words->bank);
    }
    if (words->address >= 0 && (uint64_t)words->address <= g->depth_words &&
        end <= g->depth_words - (uint64_t)words->address)
        return TD_OK;
    if (words->address < 0)
        td_fail(TD_RANGE, "%saddress %" PRId64 " of the flat pattern \"%s\" is below 0; pass 0 or more", unit,
                words->said, bound->layout->pattern.text);
    else
        td_fail(TD_RANGE,
                "flat pattern \"%s\" at %saddress %" PRId64 " ends in word %" PRIu64 ", past the memory of %" PRIu64
                " words; use a smaller address, or a depth of at least %" PRIu64 "%s",
                bound->layout->pattern.text, unit, words->said, (uint64_t)words->address + end - 1, g->depth_words,
                (uint64_t)words->address + end, bytes_hint(bound, g, (uint64_t)words->address));
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

td_status td_words_check(const td_bound *bound, const td_words *words, td_plan *plan, const td_regions *written)
{
    const td_region *regions = written->region;
    const size_t count = written->count;
    td_status status = TD_OK;
    if (bound->layout->flat)
        return check_flat(bound, words, plan, written);
    if (words->by_digits) {
        status = td_table_check_range(bound, words, plan, written);
        if (status || bound->layout->alias_last || (words->inside && apart_by_bits(bound, words, plan)) ||
            apart_by_digits(bound, words, plan) == TD_APART)
            return status;
        return apart_by_listing(bound, words, plan, written);
    }
    if (words->piece) {
        status = words->inside ? TD_OK : td_pieces_check_range(bound, words, plan, written);
        if (status || bound->layout->alias_last || td_pieces_apart(bound, words, plan, written) == TD_APART)
            return status;
        return apart_by_listing(bound, words, plan, written);
    }
    if (!words->by_strides) {
        status = td_table_check_range(bound, words, plan, written);
        if (!status && !bound->layout->alias_last)
            status = td_table_check_apart(bound, words, plan, written);
        return status;
    }
    td_region whole;
    for (size_t r = 0; r < count && !status; r++)
        status = td_words_range(bound, words, plan, &regions[r]);
    if (status)
        return status;
    if (plan->last)
        return TD_OK; /* its words are apart */
    uint64_t first[TD_MAX_BOUND], second[TD_MAX_BOUND];
    td_apart v = TD_UNDECIDED;
    if (count == 1)
        v = td_words_apart(bound, words, plan, &regions[0], first, second);
    else if (whole_fits(bound, words, &whole))
        v = td_words_apart(bound, words, plan, &whole, first, second);
    if (v == TD_UNDECIDED || (v == TD_TOGETHER && count > 1)) /* perhaps only in words that no load writes */
        return apart_by_listing(bound, words, plan, written);
    if (v == TD_APART)
        return TD_OK;
    int64_t address = 0, bank = 0, other = 0;
    uint64_t one = 0, two = 0;
    for (int a = 0; a < bound->axis_count; a++) {
        one += first[a] * words->number_stride[a];
        two += second[a] * words->number_stride[a];
    }
    status = td_words_at(bound, words, one, &other, &bank);
    if (!status)
        status = td_words_at(bound, words, two, &address, &bank);
    if (status)
        return status;
    const uint64_t meet = (uint64_t)(address > other ? address : other);
    return one < two ? td_word_fail_alias(bound, first, second, meet, (uint64_t)bank)
                     : td_word_fail_alias(bound, second, first, meet, (uint64_t)bank);
}
