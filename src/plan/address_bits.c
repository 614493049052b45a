/* The proof of digits without a look at every word (address_digits.c): where the expressions only move and XOR bits
 * (layout/expr_bits.c) and all axes are powers of two, the place of a word is the XOR of what the bits of its number
 * give. The digits are right, then, where every bit outside of the table has its stride, those strides have no bit in
 * common with each other nor with any entry of the table, so that sums are XORs, and the entries are places themselves.
 * A region of 2^27 words with a hash is known from a few thousand of them. */
#include "plan/places.h"

static bool is_power(uint64_t value)
{
    return value && (value & (value - 1)) == 0;
}

bool td_places_move_bits(const td_bound *bound, const td_words *words)
{
    const td_layout *layout = bound->layout;
    const td_expr_scope scope = {.size = bound->size, .shape = &bound->shape};
    const uint64_t indices = bound->count[TD_ROLE_WORD];
    if (words->unit != 1 || !layout->address || !is_power(words->count))
        return false;
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].placed &&
            (!is_power(bound->axis[a].size) || (bound->axis[a].size > 1 && !is_power(words->number_stride[a]))))
            return false;
    return td_expr_moves_bits(layout->address, &scope, indices) &&
           (!layout->bank || td_expr_moves_bits(layout->bank, &scope, indices));
}

/* What the bits outside of the table give. */
typedef struct strides {
    uint64_t address, bank;
} strides;

/* A bit of the number, which moves the place by these, and has to by a digit's stride. */
static bool take_bit(strides *s, const td_place_pair *zero, const td_place_pair *at, int64_t address, int64_t bank)
{
    const uint64_t a = (uint64_t)at->address ^ (uint64_t)zero->address, b = (uint64_t)at->bank ^ (uint64_t)zero->bank;
    if (address < 0 || bank < 0 || a != (uint64_t)address || b != (uint64_t)bank || a & s->address || b & s->bank)
        return false;
    s->address |= a;
    s->bank |= b;
    return true;
}

static bool take_digit(const td_places *places, const td_proved_digit *d, const td_place_pair *zero, strides *s)
{
    if (!is_power(d->step) || !is_power(d->size))
        return false;
    for (uint64_t i = 1; i < d->size; i *= 2) {
        const uint64_t number = d->step * i;
        td_place_pair at = {0, 0};
        if (!td_places_points(places, &number, 1, &at.address, &at.bank) ||
            !take_bit(s, zero, &at, d->address * (int64_t)i, d->bank * (int64_t)i))
            return false;
    }
    return true;
}

static void take_range(td_places_part *all, int64_t address, int64_t bank, bool first)
{
    all->low = first || address < all->low ? address : all->low;
    all->high = first || address > all->high ? address : all->high;
    all->low_bank = first || bank < all->low_bank ? bank : all->low_bank;
    all->high_bank = first || bank > all->high_bank ? bank : all->high_bank;
}

bool td_places_prove(const td_places *places, const td_proved_digit *digit, int count, const td_table *table,
                     td_places_part *all)
{
    const uint64_t first = 0;
    td_place_pair zero = {0, 0};
    strides s = {0, 0};
    *all = (td_places_part){0};
    if (!td_places_points(places, &first, 1, &zero.address, &zero.bank))
        return false;
    for (int i = 0; i < count; i++)
        if (!take_digit(places, &digit[i], &zero, &s))
            return false;
    for (uint64_t e = 0; e < (table->entry ? table->count : 1); e++) {
        const uint64_t entry = table->entry ? td_table_get(table, e) : 0;
        const int64_t address = table->entry ? (int64_t)td_table_word(table, entry) : zero.address,
                      bank = table->entry ? (int64_t)(entry >> table->bank_shift) : zero.bank;
        if (address < 0 || bank < 0 || (uint64_t)address & s.address || (uint64_t)bank & s.bank)
            return false;
        take_range(all, address, bank, e == 0);
    }
    all->high += (int64_t)s.address;
    all->high_bank += (int64_t)s.bank;
    return true;
}
