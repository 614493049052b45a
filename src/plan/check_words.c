/* The checks on words before anything is written: each inside its memory, no two in one place. Called by compile.c
 * with the regions of words that a load writes. Words that lie by strides are checked without visiting them; words
 * from a table are visited once, with a bit per place. */
#include "plan/passes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Appends the coordinates of a word to the message, by axis name: "b=0 w=1". */
static void append_word(const td_bound *bound, const uint64_t *at)
{
    bool any = false;
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (!axis->placed || axis->size == 1)
            continue;
        const char *name = axis->pattern_axis >= 0 ? bound->layout->pattern.axis[axis->pattern_axis].name : "...";
        td_fail_append("%s%s=%" PRIu64, any ? " " : "", name, at[a]);
        any = true;
    }
    if (!any)
        td_fail_append("the only word");
}

static void coordinates(const td_bound *bound, const td_words *words, uint64_t number, uint64_t *at)
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

static td_status fail_address(const td_bound *bound, const td_plan *plan, const uint64_t *at, int64_t address,
                              uint64_t beats)
{
    const uint64_t last = beats - 1, depth = plan->geometry.depth_words;
    const char *sign = address < 0 ? "-" : "";
    td_fail(TD_RANGE, "address %s%" PRIu64 " of word ", sign,
            address < 0 ? 0 - (uint64_t)address : (uint64_t)address + last);
    append_word(bound, at);
    if (address < 0)
        td_fail_append(" of \"%s\" is below 0; add %" PRIu64 " to the address", bound->layout->pattern.text,
                       0 - (uint64_t)address);
    else
        td_fail_append(" of \"%s\" is past the memory of %" PRIu64
                       " words; use smaller addresses, or a depth of at least %" PRIu64 "%s",
                       bound->layout->pattern.text, depth, (uint64_t)address + last + 1,
                       bytes_hint(bound, &plan->geometry, (uint64_t)address + last));
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

static td_status fail_bank(const td_bound *bound, const td_plan *plan, const uint64_t *at, int64_t bank)
{
    td_fail(TD_RANGE, "bank %" PRId64 " of word ", bank);
    append_word(bound, at);
    td_fail_append(" of \"%s\" is not one of the %" PRIu64 " memories; pass %s%" PRIu64 " or change the bank",
                   bound->layout->pattern.text, plan->geometry.banks, bank < 0 ? "a bank from 0 to " : "at least ",
                   bank < 0 ? plan->geometry.banks - 1 : (uint64_t)bank + 1);
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

static td_status fail_alias(const td_bound *bound, const uint64_t *a, const uint64_t *b, uint64_t address,
                            uint64_t bank)
{
    td_fail(TD_ALIAS, "words ");
    append_word(bound, a);
    td_fail_append(" and ");
    append_word(bound, b);
    td_fail_append(" of \"%s\" both lie at address %" PRIu64, bound->layout->pattern.text, address);
    if (bound->role_count[TD_ROLE_BANK] || bound->layout->bank)
        td_fail_append(" of bank %" PRIu64, bank);
    td_fail_append("; use an address that keeps them apart, or alias=last");
    td_bind_describe(bound->layout, &bound->shape);
    return TD_ALIAS;
}

/* -- by strides -- */

/* The least or greatest value of start + sum of stride * step over a region, and where it is taken. */
static bool extreme(const td_bound *bound, const td_region *region, int64_t start, const int64_t *stride, bool greatest,
                    uint64_t *at, int64_t *out)
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

static td_status range_by_strides(const td_bound *bound, const td_words *words, const td_plan *plan,
                                  const td_region *region)
{
    const td_geometry *g = &plan->geometry;
    uint64_t at[TD_MAX_BOUND];
    for (int greatest = 0; greatest < 2; greatest++) {
        int64_t address = 0, bank = 0, end = 0;
        if (!extreme(bound, region, words->address, words->address_stride, greatest, at, &address) ||
            __builtin_add_overflow(address, (int64_t)region->beats, &end))
            return td_fail(TD_OVERFLOW, "the addresses of \"%s\" do not fit in 63 bits; use smaller factors",
                           bound->layout->pattern.text);
        if (address < 0 || (uint64_t)end > g->depth_words)
            return fail_address(bound, plan, at, address, region->beats);
        if (!extreme(bound, region, words->bank, words->bank_stride, greatest, at, &bank))
            return td_fail(TD_OVERFLOW, "the banks of \"%s\" do not fit in 63 bits; use smaller factors",
                           bound->layout->pattern.text);
        if (bank < 0 || (uint64_t)bank >= g->banks)
            return fail_bank(bound, plan, at, bank);
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

typedef enum verdict { APART, TOGETHER, UNDECIDED } verdict;

static verdict look(search *s, int i, int64_t sum, bool moved)
{
    if (i == s->count)
        return moved && sum <= s->near && sum >= -s->near ? TOGETHER : APART;
    if (--s->budget < 0)
        return UNDECIDED;
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
        verdict v = look(s, i + 1, next, moved || d);
        if (v != APART)
            return v;
    }
    return APART;
}

static void sort_axes(search *s)
{
    for (int i = 1; i < s->count; i++)
        for (int j = i; j > 0 && s->stride[j] > s->stride[j - 1]; j--) {
            const int64_t stride = s->stride[j], most = s->most[j];
            const int axis = s->axis[j];
            s->stride[j] = s->stride[j - 1], s->most[j] = s->most[j - 1], s->axis[j] = s->axis[j - 1];
            s->stride[j - 1] = stride, s->most[j - 1] = most, s->axis[j - 1] = axis;
        }
    s->reach[s->count] = 0;
    for (int i = s->count - 1; i >= 0; i--)
        s->reach[i] = s->reach[i + 1] + s->stride[i] * s->most[i];
}

/* The region lies inside the memory, so every product below fits: depth < 2^41, banks < 2^16. */
static verdict apart_by_strides(const td_bound *bound, const td_words *words, const td_plan *plan,
                                const td_region *region, uint64_t *first, uint64_t *second)
{
    search s = {.near = (int64_t)plan->beats - 1, .budget = 2000000};
    const int64_t bank_worth = (int64_t)(plan->geometry.depth_words + plan->beats);
    bool backward[TD_MAX_BOUND] = {false};
    for (int a = 0; a < bound->axis_count; a++) {
        first[a] = second[a] = region->start[a];
        if (bound->axis[a].role == TD_ROLE_LANE || region->extent[a] == 1)
            continue;
        const int64_t stride = words->address_stride[a] + words->bank_stride[a] * bank_worth;
        backward[a] = stride < 0;
        s.axis[s.count] = a;
        s.stride[s.count] = stride < 0 ? -stride : stride;
        s.most[s.count++] = (int64_t)region->extent[a] - 1;
    }
    sort_axes(&s);
    verdict v = look(&s, 0, 0, false);
    for (int i = 0; i < s.count && v == TOGETHER; i++) {
        const int64_t d = backward[s.axis[i]] ? -s.found[i] : s.found[i];
        if (d > 0)
            first[s.axis[i]] += (uint64_t)d;
        else
            second[s.axis[i]] += (uint64_t)-d;
    }
    return v;
}

/* -- by table -- */

/* The beats that the word at these coordinates writes into, 0 for a word of no region. */
static uint64_t beats_written(const td_bound *bound, const td_region *regions, size_t count, const uint64_t *at)
{
    uint64_t beats = 0;
    for (size_t r = 0; r < count; r++) {
        bool in = regions[r].beats > beats;
        for (int a = 0; a < bound->axis_count && in; a++)
            in = !bound->axis[a].placed ||
                 (at[a] >= regions[r].start[a] && at[a] < regions[r].start[a] + regions[r].extent[a]);
        if (in)
            beats = regions[r].beats;
    }
    return beats;
}

static void drop_unused(const td_bound *bound, const td_words *words, td_plan *plan, const td_region *regions,
                        size_t count)
{
    uint64_t at[TD_MAX_BOUND];
    for (uint64_t number = 0; number < plan->table_count; number++) {
        coordinates(bound, words, number, at);
        if (!beats_written(bound, regions, count, at))
            plan->table[number] = TD_NO_WORD;
    }
}

static td_status range_by_table(const td_bound *bound, const td_words *words, const td_plan *plan,
                                const td_region *regions, size_t count)
{
    const td_geometry *g = &plan->geometry;
    for (uint64_t number = 0; number < plan->table_count; number++) {
        const uint64_t entry = plan->table[number];
        const bool known_bank = TD_TABLE_BANK(entry) < g->banks;
        if (entry == TD_NO_WORD || (TD_TABLE_WORD(entry) + plan->beats <= g->depth_words && known_bank))
            continue;
        uint64_t at[TD_MAX_BOUND];
        int64_t address = 0, bank = 0;
        coordinates(bound, words, number, at);
        const uint64_t beats = beats_written(bound, regions, count, at);
        if (TD_TABLE_WORD(entry) + beats <= g->depth_words && known_bank)
            continue;
        td_status status = td_words_at(bound, words, number, &address, &bank);
        if (status)
            return status;
        return bank < 0 || (uint64_t)bank >= g->banks ? fail_bank(bound, plan, at, bank)
                                                      : fail_address(bound, plan, at, address, beats);
    }
    return TD_OK;
}

/* Words that must have different places: a table, or the part of it that belongs to one lane. */
typedef struct slice {
    const uint64_t *table;
    uint64_t first, count; /* of the words' numbers */
    uint64_t beats;
} slice;

/* Names the two words, given that number `second` has the place of an earlier one. */
static td_status fail_alias_at(const td_bound *bound, const td_words *words, const slice *s, uint64_t second)
{
    const uint64_t entry = s->table[second];
    uint64_t first = 0;
    while (first < second) {
        const uint64_t other = s->table[first];
        const uint64_t low = other < entry ? other : entry, high = other < entry ? entry : other;
        if (other != TD_NO_WORD && high - low < s->beats)
            break;
        first++;
    }
    uint64_t a[TD_MAX_BOUND], b[TD_MAX_BOUND];
    coordinates(bound, words, s->first + first, a);
    coordinates(bound, words, s->first + second, b);
    const uint64_t word = TD_TABLE_WORD(entry), other = TD_TABLE_WORD(s->table[first]);
    return fail_alias(bound, a, b, word > other ? word : other, TD_TABLE_BANK(entry));
}

static int compare_entries(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Where a bit per place would take too much memory: sorts, then compares neighbours. */
static td_status apart_by_sorting(const td_bound *bound, const td_words *words, const slice *s)
{
    uint64_t *sorted = s->count ? malloc(s->count * sizeof *sorted) : NULL;
    if (!sorted)
        return td_fail_alloc(s->count * sizeof *sorted);
    memcpy(sorted, s->table, s->count * sizeof *sorted);
    qsort(sorted, s->count, sizeof *sorted, compare_entries);
    uint64_t clash = TD_NO_WORD;
    for (uint64_t i = 1; i < s->count && sorted[i] != TD_NO_WORD && clash == TD_NO_WORD; i++)
        if (sorted[i] - sorted[i - 1] < s->beats)
            clash = sorted[i];
    free(sorted);
    if (clash == TD_NO_WORD)
        return TD_OK;
    uint64_t last = s->count - 1;
    while (s->table[last] - clash >= s->beats && clash - s->table[last] >= s->beats)
        last--;
    return fail_alias_at(bound, words, s, last);
}

static td_status apart_in_slice(const td_bound *bound, const td_words *words, const slice *s)
{
    uint64_t low = UINT64_MAX, high = 0, top_bank = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t entry = s->table[i];
        if (entry == TD_NO_WORD)
            continue;
        const uint64_t word = TD_TABLE_WORD(entry);
        low = word < low ? word : low;
        high = word > high ? word : high;
        top_bank = TD_TABLE_BANK(entry) > top_bank ? TD_TABLE_BANK(entry) : top_bank;
    }
    const uint64_t span = high - low + s->beats;
    uint64_t places = 0;
    if (!td_mul_fits(span, top_bank + 1, &places) || places / 64 > s->count + 4096)
        return apart_by_sorting(bound, words, s);
    uint64_t *taken = calloc(places / 64 + 1, sizeof *taken);
    if (!taken)
        return apart_by_sorting(bound, words, s);
    td_status status = TD_OK;
    for (uint64_t i = 0; i < s->count && !status; i++) {
        const uint64_t entry = s->table[i];
        if (entry == TD_NO_WORD)
            continue;
        for (uint64_t beat = 0; beat < s->beats && !status; beat++) {
            const uint64_t place = TD_TABLE_BANK(entry) * span + TD_TABLE_WORD(entry) - low + beat,
                           bit = (uint64_t)1 << (place % 64);
            if (taken[place / 64] & bit)
                status = fail_alias_at(bound, words, s, i);
            taken[place / 64] |= bit;
        }
    }
    free(taken);
    return status;
}

/* Words of different lanes may share a place, where each lane has its own address; those of one lane may not. */
static td_status apart_by_table(const td_bound *bound, const td_words *words, const td_plan *plan)
{
    td_status status = TD_OK;
    for (uint64_t first = 0; first < plan->table_count && !status; first += words->lane_words) {
        const slice s = {
            .table = plan->table + first, .first = first, .count = words->lane_words, .beats = plan->beats};
        status = apart_in_slice(bound, words, &s);
    }
    return status;
}

/* Where the search by strides gives up, the addresses are listed in a table. */
static td_status apart_by_listing(const td_bound *bound, const td_words *words, const td_plan *plan,
                                  const td_region *regions, size_t count)
{
    td_plan listed = {.geometry = plan->geometry, .beats = plan->beats};
    td_status status = td_words_table(bound, words, &listed);
    if (!status) {
        drop_unused(bound, words, &listed, regions, count);
        status = apart_by_table(bound, words, &listed);
    }
    free(listed.table);
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
    return words->bank == 0 && extreme(bound, whole, words->address, words->address_stride, false, at, &low) &&
           extreme(bound, whole, words->address, words->address_stride, true, at, &high) && low > -far && high < far;
}

static td_status check_flat(const td_bound *bound, const td_words *words, const td_plan *plan,
                            const td_regions *regions)
{
    const td_geometry *g = &plan->geometry;
    uint64_t end = 0;
    for (size_t r = 0; r < regions->count; r++)
        end = regions->region[r].beats > end ? regions->region[r].beats : end;
    if (words->bank < 0 || (uint64_t)words->bank >= g->banks) {
        const uint64_t at[TD_MAX_BOUND] = {0};
        return fail_bank(bound, plan, at, words->bank);
    }
    if (words->address >= 0 && (uint64_t)words->address <= g->depth_words &&
        end <= g->depth_words - (uint64_t)words->address)
        return TD_OK;
    if (words->address < 0)
        td_fail(TD_RANGE, "address %" PRId64 " of the flat pattern \"%s\" is below 0; pass 0 or more", words->address,
                bound->layout->pattern.text);
    else
        td_fail(TD_RANGE,
                "flat pattern \"%s\" at address %" PRId64 " ends in word %" PRIu64 ", past the memory of %" PRIu64
                " words; use a smaller address, or a depth of at least %" PRIu64 "%s",
                bound->layout->pattern.text, words->address, (uint64_t)words->address + end - 1, g->depth_words,
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
    if (!words->by_strides) {
        if (bound->clip && bound->ragged)
            drop_unused(bound, words, plan, regions, count);
        status = range_by_table(bound, words, plan, regions, count);
        if (!status && !bound->layout->alias_last)
            status = apart_by_table(bound, words, plan);
        return status;
    }
    td_region whole;
    for (size_t r = 0; r < count && !status; r++)
        status = range_by_strides(bound, words, plan, &regions[r]);
    if (status)
        return status;
    uint64_t first[TD_MAX_BOUND], second[TD_MAX_BOUND];
    verdict v = UNDECIDED;
    if (count == 1)
        v = apart_by_strides(bound, words, plan, &regions[0], first, second);
    else if (whole_fits(bound, words, &whole))
        v = apart_by_strides(bound, words, plan, &whole, first, second);
    if (v == UNDECIDED || (v == TOGETHER && count > 1)) /* perhaps only in words that no load writes */
        return apart_by_listing(bound, words, plan, regions, count);
    if (v == APART)
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
    return one < two ? fail_alias(bound, first, second, meet, (uint64_t)bank)
                     : fail_alias(bound, second, first, meet, (uint64_t)bank);
}
