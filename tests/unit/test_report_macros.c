/* Reports of memories that lie over others: where wrong bits lie in the macros, their counts and what is guessed from
 * them; in text, JSON and by calls. Places are calculated here from the numbers of tiles, slices and columns. */
#include "support.h"

#define MACROS 4
#define WORDS 128

/* 2 tiles of 16 rows x 2 slices of 8 bits, 4 words in a row: word w is in tile w / 64, row w / 4 % 16, and bit k of it
 * in slice k / 8, column 4 * (k % 8) + w % 4. */
typedef struct chip {
    td_memory *macro[MACROS], *memory;
    td_layout *layout;
    td_tensor *golden;
    td_report *report;
} chip;

static void make(chip *c, const char *dtype, td_shape shape, const char *pattern, const char *options)
{
    td_layout *organisation = NULL;
    *c = (chip){0};
    for (size_t i = 0; i < MACROS; i++) {
        const char name[] = {'m', (char)('0' + i), 0};
        ASSERT_OK(td_memory_create(name, 32, 16, &c->macro[i]));
    }
    ASSERT_OK(td_layout_create("(t r p) (s k) -> (t s) r (k p)", "t=2 s=2 p=4", NULL, &organisation));
    ASSERT_OK(td_memory_over("wbuf", 16, WORDS, organisation, c->macro, MACROS, &c->memory));
    td_layout_destroy(&organisation);
    ASSERT_OK(td_layout_create(pattern, options, NULL, &c->layout));
    ASSERT_OK(td_tensor_create(dtype, shape, &c->golden));
    ASSERT_OK(td_tensor_fill_random(c->golden, 5));
    ASSERT_OK(td_backdoor_load_tensor(c->memory, c->golden, c->layout, NULL));
}

static void unmake(chip *c)
{
    td_report_destroy(&c->report);
    td_memory_destroy(&c->memory);
    for (size_t i = 0; i < MACROS; i++)
        td_memory_destroy(&c->macro[i]);
    td_layout_destroy(&c->layout);
    td_tensor_destroy(&c->golden);
}

static void flip(chip *c, size_t macro, uint64_t row, uint32_t bits)
{
    uint32_t value = 0;
    ASSERT_OK(td_backdoor_read(c->macro[macro], &row, 1, &value));
    value ^= bits;
    ASSERT_OK(td_backdoor_write(c->macro[macro], &row, 1, &value, NULL));
}

static void compare(chip *c, const char *policy)
{
    td_report_destroy(&c->report);
    ASSERT_OK(td_backdoor_compare_tensor(c->memory, c->golden, c->layout, policy, NULL, &c->report));
}

static uint64_t counted(const chip *c, const char *group, uint64_t step)
{
    for (size_t i = 0; i < td_report_group_count(c->report); i++)
        if (strcmp(td_report_group_name(c->report, i), group) == 0)
            return td_report_group_mismatches(c->report, i, step);
    fail_msg("no group %s", group);
    return 0;
}

static void assert_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* Padding of row 3 is the upper half of word 7: slice 1, row 1, columns 4 * bit + 3. */
static void wrong_padding_has_its_place(void **state)
{
    (void)state;
    chip c;
    make(&c, "u8", TD_SHAPE(40, 3), "r (c l) -> (r c) l", "l=2 pad=7");
    compare(&c, "check_pad");
    assert_true(td_report_passed(c.report));
    flip(&c, 1, 1, 1u << 19 | 1u << 27);
    compare(&c, "check_pad");
    assert_int_equal(td_report_mismatches(c.report), 0);
    assert_int_equal(td_report_pad_mismatches(c.report), 1);
    assert_string_equal(td_report_line(c.report),
                        "compare \"wbuf\" with golden u8 (40, 3), policy check_pad: all 120 elements match, 1 of 40 "
                        "padding elements changed; first: expected 0x7, got 0x57 at address 0x7 bits 15:8, macro 1 "
                        "\"m1\" row 1 bits 27:19 step 8");
    unmake(&c);
}

static void a_column_is_seen_at_once(void **state)
{
    (void)state;
    chip c;
    char *text = NULL;
    td_report_bits bits;
    make(&c, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    ASSERT_OK(td_tensor_fill_ramp(c.golden, 0, 1));
    ASSERT_OK(td_backdoor_load_tensor(c.memory, c.golden, c.layout, NULL));
    flip(&c, 3, 0, 1u << 17);
    flip(&c, 3, 9, 1u << 17);
    compare(&c, NULL);
    assert_string_equal(td_report_line(c.report),
                        "compare \"wbuf\" with golden u8 (128, 2), policy exact: 2 of 256 elements differ, worst 16 "
                        "steps, 16 in value; first at (65, 1): expected 131 (0x83), got 147 (0x93) at address 0x41 "
                        "bits 15:8, wrong in macro 3 \"m3\" row 0 bit 17; all wrong bits in column 17 of macro 3 "
                        "\"m3\": a bit line?");
    ASSERT_OK(td_report_text(c.report, &text));
    assert_string_equal(text, "compare \"wbuf\" with golden u8 (128, 2), policy exact: 2 of 256 elements differ\n"
                              "  worst: 16 steps, 16 in value\n"
                              "  all wrong bits in column 17 of macro 3 \"m3\": a bit line?\n"
                              "  all mismatches in lane 1\n"
                              "  all mismatches at c = 1\n"
                              "  the first 2:\n"
                              "    at        expected    actual      ulp  address  bank  lane  bits\n"
                              "    (65, 1)   131 (0x83)  147 (0x93)  16   0x41     0     1     15:8\n"
                              "    (101, 1)  203 (0xcb)  219 (0xdb)  16   0x65     0     1     15:8\n"
                              "  wrong bits of these:\n"
                              "    (65, 1)   macro 3 \"m3\" row 0 bit 17\n"
                              "    (101, 1)  macro 3 \"m3\" row 9 bit 17\n"
                              "  mismatches per step:\n"
                              "    r            2 of 128: [65]=1 [101]=1\n"
                              "    c            1 of 2: [1]=2\n"
                              "    lane         1 of 2: [1]=2\n"
                              "  wrong bits per place:\n"
                              "    macro        1 of 4: [3]=2\n"
                              "    row          2 of 16: [0]=1 [9]=1\n"
                              "    column       1 of 32: [17]=2\n");
    td_free(text);
    ASSERT_OK(td_report_json(c.report, &text));
    assert_in(text, ",\n \"macros\": [\"m0\", \"m1\", \"m2\", \"m3\"],\n");
    assert_in(text, "\"msb\": 15, \"lsb\": 8, \"wrong\": [{\"macro\": 3, \"row\": 9, \"columns\": [17]}]}");
    assert_in(text, "{\"name\": \"macro\", \"counts\": \"wrong bits\", \"size\": 4, \"bucket\": 1, \"mismatches\": "
                    "[0, 0, 0, 2]}");
    td_free(text);
    assert_int_equal(td_report_place_count(c.report, 1), 1);
    ASSERT_OK(td_report_place(c.report, 1, 0, &bits));
    assert_int_equal(bits.macro, 3);
    assert_string_equal(bits.name, "m3");
    assert_int_equal(bits.row, 9);
    assert_int_equal(bits.column, 17);
    assert_int_equal(bits.bits, 1);
    assert_int_equal(td_report_place_count(c.report, 2), 0);
    assert_int_equal(td_report_place_count(NULL, 0), 0);
    ASSERT_REFUSED(td_report_place(c.report, 1, 1, &bits), TD_RANGE,
                   "report_place: place 1 of mismatch 1, which has 1; pass less than report_place_count");
    ASSERT_REFUSED(td_report_place(NULL, 0, 0, &bits), TD_ARGUMENT, "report_place: the report is NULL; pass one");
    ASSERT_REFUSED(td_report_place(c.report, 0, 0, NULL), TD_ARGUMENT, "report_place: the output is NULL; pass one");
    unmake(&c);
}

static void rows_macros_and_multiplexers_are_guessed(void **state)
{
    (void)state;
    chip c;
    make(&c, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    flip(&c, 2, 12, 0x0f0000f0);
    compare(&c, NULL);
    assert_string_equal(td_report_guess(c.report, 0), "all wrong bits in row 12 of macro 2 \"m2\": a decoder?");
    flip(&c, 0, 12, 1);
    compare(&c, NULL);
    assert_string_equal(td_report_guess(c.report, 0), "all wrong bits in row 12 of their macros: a decoder?");
    flip(&c, 0, 12, 1);
    flip(&c, 2, 13, 1);
    compare(&c, NULL);
    assert_string_equal(td_report_guess(c.report, 0), "all wrong bits in macro 2 \"m2\"");
    flip(&c, 2, 13, 1);
    flip(&c, 2, 12, 0x0f0000f0);
    for (size_t i = 0; i < MACROS; i++)
        flip(&c, i, i, 1u << 9);
    compare(&c, NULL);
    assert_string_equal(td_report_guess(c.report, 0), "all wrong bits in column 9 of their macros: a bit line?");
    for (size_t i = 0; i < MACROS; i++)
        flip(&c, i, i, 1u << 1 | 1u << 17);
    compare(&c, NULL);
    assert_string_equal(td_report_guess(c.report, 0),
                        "all wrong bits in columns 8 apart, from column 1 on: a multiplexer?");
    flip(&c, 1, 3, 1u << 2);
    compare(&c, NULL);
    for (size_t i = 0; td_report_guess(c.report, i); i++)
        assert_null(strstr(td_report_guess(c.report, i), "wrong bits"));
    unmake(&c);

    make(&c, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", ""); /* the bits of one element alone are no pattern */
    flip(&c, 1, 2, 0x11);
    compare(&c, NULL);
    assert_int_equal(td_report_mismatches(c.report), 1);
    assert_null(td_report_guess(c.report, 0));
    unmake(&c);
}

/* Random bits, and their counts by the formula at the head of this file. */
static void wrong_bits_are_counted_where_they_lie(void **state)
{
    (void)state;
    chip c;
    uint64_t macros[MACROS] = {0}, rows[16] = {0}, columns[32] = {0}, seed = 99;
    make(&c, "u16", TD_SHAPE(WORDS), "r -> r 1", "");
    for (int i = 0; i < 300; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t w = seed >> 33 & (WORDS - 1), k = seed >> 50 & 15, mask = 1u << k;
        const uint64_t macro = w / 64 * 2 + k / 8, row = w / 4 % 16, column = 4 * (k % 8) + w % 4;
        uint16_t now = 0, golden = ((const uint16_t *)td_tensor_data(c.golden))[w];
        ASSERT_OK(td_backdoor_read(c.memory, &w, 1, &now));
        const int was_wrong = ((now ^ golden) & mask) != 0;
        now ^= (uint16_t)mask;
        ASSERT_OK(td_backdoor_write(c.memory, &w, 1, &now, NULL));
        macros[macro] += was_wrong ? (uint64_t)-1 : 1;
        rows[row] += was_wrong ? (uint64_t)-1 : 1;
        columns[column] += was_wrong ? (uint64_t)-1 : 1;
    }
    compare(&c, "max=200");
    for (uint64_t i = 0; i < MACROS; i++)
        assert_int_equal(counted(&c, "macro", i), macros[i]);
    for (uint64_t i = 0; i < 16; i++)
        assert_int_equal(counted(&c, "row", i), rows[i]);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(counted(&c, "column", i), columns[i]);
    for (size_t i = 0; i < td_report_first_count(c.report); i++) { /* and every one of the list */
        td_mismatch e;
        uint64_t bits = 0;
        ASSERT_OK(td_report_first(c.report, i, &e));
        for (size_t p = 0; p < td_report_place_count(c.report, i); p++) {
            td_report_bits at;
            ASSERT_OK(td_report_place(c.report, i, p, &at));
            assert_int_equal(at.row, e.address / 4 % 16);
            assert_int_equal(at.macro / 2, e.address / 64);
            for (uint64_t b = 0; b < at.bits; b++) {
                const uint64_t column = at.column + b * (uint64_t)at.step;
                assert_int_equal(column % 4, e.address % 4);
                bits |= (uint64_t)1 << (at.macro % 2 * 8 + column / 4);
            }
        }
        assert_int_equal(bits, e.expected ^ e.actual);
    }
    unmake(&c);
}

static void elements_across_words_have_all_their_bits(void **state)
{
    (void)state;
    chip c;
    make(&c, "u12", TD_SHAPE(40), "... -> (...)", ""); /* element 1 is in words 0 and 1: 4 bits and 8 */
    flip(&c, 0, 0, 1u << 1 | 1u << 13);                /* word 1, bits 0 and 3: bits 4 and 7 of element 1 */
    compare(&c, NULL);
    assert_int_equal(td_report_mismatches(c.report), 1);
    assert_in(td_report_line(c.report), "at address 0x0 bits 15:12, wrong in macro 0 \"m0\" row 0 bits 13:1 step 12");
    unmake(&c);
}

static void converted_elements_have_all_their_bits(void **state)
{
    (void)state;
    chip c;
    td_tensor *real = NULL;
    make(&c, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(WORDS, 2), &real));
    ASSERT_OK(td_backdoor_load_tensor(c.memory, real, c.layout, "i8 scale=0.5"));
    flip(&c, 0, 0, 1u << 4);
    ASSERT_OK(td_backdoor_compare_tensor(c.memory, real, c.layout, NULL, "i8 scale=0.5", &c.report));
    assert_in(td_report_line(c.report), "at address 0x0 bits 7:0, wrong in macro 0 \"m0\" row 0 bits 28:0 step 4");
    td_tensor_destroy(&real);
    unmake(&c);
}

static void banks_count_their_macros_one_after_the_other(void **state)
{
    (void)state;
    chip one, two;
    td_layout *layout = NULL;
    td_tensor *golden = NULL;
    td_report *report = NULL;
    make(&one, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    make(&two, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    td_memory *banks[] = {one.memory, two.memory};
    ASSERT_OK(td_layout_create("b r c -> b r c", NULL, NULL, &layout));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(2, WORDS, 2), &golden));
    ASSERT_OK(td_backdoor_load_tensor_banks(banks, 2, golden, layout, NULL));
    flip(&two, 1, 3, 0x80);
    ASSERT_OK(td_backdoor_compare_tensor_banks(banks, 2, golden, layout, NULL, NULL, &report));
    assert_in(td_report_line(report), "of bank 1 \"wbuf\", wrong in macro 5 \"m1\" row 3 bit 7");
    td_report_destroy(&report);
    td_layout_destroy(&layout);
    td_tensor_destroy(&golden);
    unmake(&one);
    unmake(&two);
}

/* A code corrects single errors, so that double ones are what a report can show: with check=off. */
static void coded_words_have_the_places_of_their_data_bits(void **state)
{
    (void)state;
    td_memory *macro = NULL, *memory = NULL;
    td_code *code = NULL;
    td_layout *layout = NULL;
    td_tensor *golden = NULL;
    td_report *report = NULL;
    ASSERT_OK(td_memory_create("m", 22, 8, &macro));
    ASSERT_OK(td_code_create("22_16 place=below", 16, &code));
    ASSERT_OK(td_memory_coded("safe", code, macro, "check=off", &memory));
    ASSERT_OK(td_layout_create("r -> r 1", NULL, NULL, &layout));
    ASSERT_OK(td_tensor_create("u16", TD_SHAPE(8), &golden));
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    const uint64_t row = 5;
    uint32_t word = 0;
    ASSERT_OK(td_backdoor_read(macro, &row, 1, &word));
    word ^= 1u << 6 | 1u << 21 | 1u << 2; /* data bits 0 and 15, and a check bit */
    ASSERT_OK(td_backdoor_write(macro, &row, 1, &word, NULL));
    ASSERT_OK(td_backdoor_compare_tensor(memory, golden, layout, NULL, NULL, &report));
    assert_in(td_report_line(report), "at address 0x5 bits 15:0, wrong in macro 0 \"m\" row 5 bits 21:6 step 15");
    td_report_destroy(&report);
    td_memory_destroy(&memory);
    td_memory_destroy(&macro);
    td_code_destroy(&code);
    td_layout_destroy(&layout);
    td_tensor_destroy(&golden);
}

static void other_memories_have_no_macros(void **state)
{
    (void)state;
    chip c;
    char *text = NULL;
    td_memory *plain = NULL;
    make(&c, "u8", TD_SHAPE(WORDS, 2), "r c -> r c", "");
    ASSERT_OK(td_memory_create("wbuf", 16, WORDS, &plain));
    ASSERT_OK(td_backdoor_compare_tensor(plain, c.golden, c.layout, NULL, NULL, &c.report));
    assert_int_equal(td_report_place_count(c.report, 0), 0);
    assert_int_equal(td_report_group_count(c.report), 3);
    ASSERT_OK(td_report_json(c.report, &text));
    assert_null(strstr(text, "macro"));
    assert_null(strstr(text, "\"wrong\""));
    td_free(text);
    ASSERT_OK(td_report_text(c.report, &text));
    assert_null(strstr(text, "wrong bits"));
    td_free(text);
    td_memory_destroy(&plain);
    unmake(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_padding_has_its_place),
        cmocka_unit_test(a_column_is_seen_at_once),
        cmocka_unit_test(rows_macros_and_multiplexers_are_guessed),
        cmocka_unit_test(wrong_bits_are_counted_where_they_lie),
        cmocka_unit_test(elements_across_words_have_all_their_bits),
        cmocka_unit_test(converted_elements_have_all_their_bits),
        cmocka_unit_test(banks_count_their_macros_one_after_the_other),
        cmocka_unit_test(coded_words_have_the_places_of_their_data_bits),
        cmocka_unit_test(other_memories_have_no_macros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
