/* The columns of a code, from masks or by construction, and what they can do: how many errors of a subword are seen,
 * and whether one can be corrected. Behind td_code_create. It refuses masks that leave a bit without a check. */
#include "base/text.h"
#include "codes/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- constructions -- */

/* Parity of the data: one column for all. */
static void parity_columns(td_code *code)
{
    code->check_bits = 1;
    for (uint32_t i = 0; i < code->subword_bits + code->address_bits; i++)
        code->column[i] = 1;
}

/* Hamming: bit i has the i-th number from 3 on that is no power of two, and check bit j is the parity of the bits whose
 * number has bit j set; the last check bit is the parity of all bits and all other check bits. With that one put in,
 * every column gets an odd weight. */
static void hamming_columns(td_code *code)
{
    const uint32_t covered = code->subword_bits + code->address_bits;
    uint32_t checks = 2, number = 3;
    while ((1u << checks) < covered + checks + 1)
        checks++;
    for (uint32_t i = 0; i < covered; i++, number++) {
        if ((number & (number - 1)) == 0)
            number++;
        const uint32_t even = (uint32_t) !(__builtin_popcount(number) & 1);
        code->column[i] = number | even << checks;
    }
    code->check_bits = checks + 1;
}

/* Of the columns of this weight that are not taken, the one whose rows have the fewest ones; of several the
 * smallest. */
static uint32_t lightest_column(uint32_t checks, uint32_t weight, const unsigned char *taken, const uint32_t *ones)
{
    uint32_t best = 0, best_sum = UINT32_MAX;
    for (uint32_t column = (1u << weight) - 1; column < 1u << checks;) {
        uint32_t sum = 0;
        for (uint32_t rest = column; rest; rest &= rest - 1)
            sum += ones[__builtin_ctz(rest)];
        if (!taken[column] && sum < best_sum) {
            best = column;
            best_sum = sum;
        }
        const uint32_t low = column & -column, carried = column + low; /* the next number of this weight */
        column = carried | ((column ^ carried) >> 2) / low;
    }
    return best;
}

/* Hsiao: columns of odd weight, those of weight 3 first, then 5, and so on. Each next one is the column of the current
 * weight whose rows have the fewest ones so far, the smallest number of several. */
static td_status hsiao_columns(td_code *code)
{
    const uint32_t covered = code->subword_bits + code->address_bits;
    uint32_t checks = 4, weight = 3, ones[TD_CODE_CHECKS] = {0};
    while ((1u << (checks - 1)) - checks < covered)
        checks++;
    unsigned char *taken = calloc((size_t)1 << checks, 1);
    if (!taken)
        return td_fail_alloc((size_t)1 << checks);
    for (uint32_t i = 0; i < covered; i++) {
        uint32_t column = lightest_column(checks, weight, taken, ones);
        if (!column) {
            weight += 2;
            column = lightest_column(checks, weight, taken, ones);
        }
        taken[column] = 1;
        code->column[i] = column;
        for (uint32_t rest = column; rest; rest &= rest - 1)
            ones[__builtin_ctz(rest)]++;
    }
    free(taken);
    code->check_bits = checks;
    return TD_OK;
}

/* -- masks -- */

/* What check bit j says of earlier check bits is what these say of the data. */
static td_status mask_columns(td_code *code, const td_code_spec *spec)
{
    const uint32_t covered = code->subword_bits + code->address_bits;
    code->check_bits = spec->mask_count;
    for (uint32_t j = 0; j < spec->mask_count; j++) {
        const td_code_mask *mask = &spec->mask[j];
        for (uint32_t bit = covered + j; bit < 64 * TD_CODE_MASK_WORDS; bit++)
            if (td_code_mask_bit(mask, bit))
                return td_fail(TD_OPTION,
                               "mask %" PRIu32 " has bit %" PRIu32 " set, and it may name %" PRIu32
                               " data bits, %" PRIu32 " address bits and the %" PRIu32
                               " check bits before it; clear the bits from %" PRIu32 " up, or pass subword=",
                               j, bit, code->subword_bits, code->address_bits, j, covered + j);
        for (uint32_t i = 0; i < covered; i++) {
            uint32_t value = td_code_mask_bit(mask, i);
            for (uint32_t earlier = 0; earlier < j; earlier++)
                value ^= td_code_mask_bit(mask, covered + earlier) & (code->column[i] >> earlier & 1);
            code->column[i] |= value << j;
        }
    }
    for (uint32_t i = 0; i < covered; i++)
        if (code->column[i] == 0)
            return td_fail(
                TD_OPTION, "%s bit %" PRIu32 " is in no mask, so that no check sees an error in it; put it into one",
                i < code->subword_bits ? "data" : "address", i < code->subword_bits ? i : i - code->subword_bits);
    return TD_OK;
}

/* -- what they can do -- */

static int compare_columns(const void *a, const void *b)
{
    const uint32_t x = ((const td_code_column *)a)->column, y = ((const td_code_column *)b)->column;
    return x < y ? -1 : x > y;
}

uint32_t td_code_find(const td_code *code, uint32_t column)
{
    const uint32_t bits = code->subword_bits + code->address_bits + code->check_bits;
    const td_code_column key = {column, 0};
    const td_code_column *found = bsearch(&key, code->by_column, bits, sizeof key, compare_columns);
    return found ? found->bit : UINT32_MAX;
}

/* No two columns are equal; whether no three add up to zero. Columns of odd weight never do. */
static bool three_depend(const td_code *code)
{
    const uint32_t bits = code->subword_bits + code->address_bits + code->check_bits;
    bool odd = true;
    for (uint32_t i = 0; i < bits && odd; i++)
        odd = __builtin_popcount(code->column[i]) & 1;
    for (uint32_t i = 0; i < bits && !odd; i++)
        for (uint32_t j = i + 1; j < bits; j++)
            if (td_code_find(code, code->column[i] ^ code->column[j]) != UINT32_MAX)
                return true;
    return false;
}

static void rate(td_code *code, const td_code_spec *spec)
{
    const uint32_t bits = code->subword_bits + code->address_bits + code->check_bits;
    bool equal = false;
    for (uint32_t i = 0; i < bits; i++)
        code->by_column[i] = (td_code_column){code->column[i], i};
    qsort(code->by_column, bits, sizeof *code->by_column, compare_columns);
    for (uint32_t i = 1; i < bits && !equal; i++)
        equal = code->by_column[i].column == code->by_column[i - 1].column;
    code->distance = equal ? 2 : three_depend(code) ? 3 : 4;
    code->corrects = code->distance >= 3 && !spec->detect_only;
}

td_status td_code_columns(td_code *code, const td_code_spec *spec)
{
    const size_t room = (size_t)code->subword_bits + code->address_bits + TD_CODE_CHECKS;
    code->column = calloc(room, sizeof *code->column);
    code->by_column = calloc(room, sizeof *code->by_column);
    if (!code->column || !code->by_column)
        return td_fail_alloc(room * sizeof *code->by_column);
    td_status status = TD_OK;
    if (spec->mask_count)
        status = mask_columns(code, spec);
    else if (strcmp(spec->name, "hsiao") == 0)
        status = hsiao_columns(code);
    else if (strcmp(spec->name, "hamming") == 0)
        hamming_columns(code);
    else
        parity_columns(code);
    if (status)
        return status;
    for (uint32_t j = 0; j < code->check_bits; j++)
        code->column[code->subword_bits + code->address_bits + j] = 1u << j;
    rate(code, spec);
    return TD_OK;
}
