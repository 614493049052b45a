/* Words by table that go line by line (plan/table_lines.c): rows that begin anywhere in banks whose depth is a power of
 * two or not, so that lines are cut by the end of a bank, and rotations inside of one memory. Every word is read by
 * itself and held against the tensor, and a dump gives the tensor back. */
#include "support.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define BANKS 4
#define ROWS 200
#define MARK 0x5A

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* The place of a row: its bank, and the word in it. */
typedef struct place_rule {
    const char *address; /* with the first row, and the depth */
    uint64_t (*bank)(uint64_t row, uint64_t first, uint64_t depth);
    uint64_t (*word)(uint64_t row, uint64_t first, uint64_t depth);
} place_rule;

static uint64_t after_each_other(uint64_t row, uint64_t first, uint64_t depth)
{
    return (row + first) / depth;
}

static uint64_t word_of_bank(uint64_t row, uint64_t first, uint64_t depth)
{
    return (row + first) % depth;
}

static uint64_t swizzled_word(uint64_t row, uint64_t first, uint64_t depth)
{
    return (row + first) % depth ^ 1;
}

static uint64_t one_bank(uint64_t row, uint64_t first, uint64_t depth)
{
    return 0 * (row + first + depth);
}

static uint64_t rotated(uint64_t row, uint64_t first, uint64_t depth)
{
    return (row + first + 0 * depth) % ROWS;
}

static const place_rule rules[] = {
    {"bank = (r + %1$u) / %2$u; addr = (r + %1$u) %% %2$u", after_each_other, word_of_bank},
    {"bank = (r + %1$u) / %2$u; addr = (r + %1$u) %% %2$u ^ 1", after_each_other, swizzled_word},
    {"(r + %1$u) %% 200", one_bank, rotated},
};

static void check_rows(const place_rule *rule, unsigned lane_bits, unsigned first, unsigned depth)
{
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *layout = NULL;
    td_memory *memory[BANKS] = {NULL};
    char dtype[8], address[128];
    snprintf(dtype, sizeof dtype, "u%u", lane_bits);
    snprintf(address, sizeof address, rule->address, first, depth);
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(ROWS, 2), &tensor));
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(ROWS, 2), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, first + depth));
    ASSERT_OK(td_layout_create("r c -> r c", "", address, &layout));
    const size_t banks = rule->bank == one_bank ? 1 : BANKS;
    for (size_t i = 0; i < banks; i++) {
        ASSERT_OK(td_memory_create("m", 2 * lane_bits, banks == 1 ? ROWS : depth, &memory[i]));
        ASSERT_OK(td_memory_fill(memory[i], "constant=0x5a", 0, banks == 1 ? ROWS : depth));
    }
    ASSERT_OK(td_backdoor_load_tensor_banks(memory, banks, tensor, layout, NULL));
    bool written[BANKS][ROWS] = {{false}};
    for (uint64_t row = 0; row < ROWS; row++) {
        const uint64_t bank = rule->bank(row, first, depth), at = rule->word(row, first, depth);
        uint64_t low = 0, high = 0, word = 0;
        ASSERT_OK(td_tensor_get_bits(tensor, 2 * row, &low));
        ASSERT_OK(td_tensor_get_bits(tensor, 2 * row + 1, &high));
        ASSERT_OK(td_backdoor_read(memory[bank], &at, 1, &word));
        if (word != (high << lane_bits | low))
            fail_msg("%s, lanes of %u bits: row %" PRIu64 " is %" PRIx64, address, lane_bits, row, word);
        written[bank][at] = true;
    }
    for (size_t bank = 0; bank < banks; bank++)
        for (uint64_t at = 0; at < (banks == 1 ? ROWS : depth); at++) {
            uint64_t word = 0;
            ASSERT_OK(td_backdoor_read(memory[bank], &at, 1, &word));
            if (!written[bank][at] && word != low_bits(MARK, 2 * lane_bits))
                fail_msg("%s, lanes of %u bits: word %" PRIu64 " of bank %zu was written", address, lane_bits, at,
                         bank);
        }
    ASSERT_OK(td_backdoor_dump_tensor_banks(memory, banks, back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor),
                        td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    for (size_t i = 0; i < banks; i++)
        td_memory_destroy(&memory[i]);
    td_layout_destroy(&layout);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static void lines_end_with_their_bank(void **state)
{
    (void)state;
    static const unsigned lanes[] = {4, 8, 12, 16, 20, 32}, firsts[] = {0, 1, 3, 5, 50, 55},
                          depths[] = {64, 66, 96, 128};
    for (size_t rule = 0; rule < sizeof rules / sizeof rules[0]; rule++)
        for (size_t l = 0; l < sizeof lanes / sizeof lanes[0]; l++)
            for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++)
                for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++)
                    check_rows(&rules[rule], lanes[l], firsts[f], depths[d]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_their_bank),
    };
    return cmocka_run_group_tests_name("table_lines", tests, NULL, NULL);
}
