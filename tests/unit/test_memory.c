/* Owned memories: geometry, lazy pages, clear, and the text of every refusal. */
#include "support.h"

static void words_lie_as_verilator_stores_them(void **state)
{
    (void)state;
    static const struct {
        uint64_t width_bits;
        size_t word_bytes;
    } cases[] = {{1, 1},
                 {8, 1},
                 {9, 2},
                 {16, 2},
                 {17, 4},
                 {32, 4},
                 {33, 8},
                 {64, 8},
                 {65, 12},
                 {96, 12},
                 {97, 16},
                 {128, 16},
                 {129, 20},
                 {1000, 128},
                 {1 << 16, 8192},
                 {(1 << 16) + 1, 8196},
                 {1 << 24, 1 << 21}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_memory *m = NULL;
        ASSERT_OK(td_memory_create("m", cases[i].width_bits, 3, &m));
        assert_int_equal(td_memory_width_bits(m), cases[i].width_bits);
        assert_int_equal(td_memory_depth_words(m), 3);
        assert_int_equal(td_memory_word_bytes(m), cases[i].word_bytes);
        td_memory_destroy(&m);
        assert_null(m);
    }
}

static void the_deepest_memory_costs_what_is_touched(void **state)
{
    (void)state;
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("deep", 64, TD_MAX_DEPTH_WORDS, &m));
    uint64_t *words = td_memory_data(m);
    words[0] = 1;
    words[TD_MAX_DEPTH_WORDS - 1] = 2;
    assert_int_equal(words[TD_MAX_DEPTH_WORDS / 2], 0);
    assert_int_equal(words[TD_MAX_DEPTH_WORDS - 1], 2);
    td_memory_destroy(&m);
}

static void clear_gives_zeros(void **state)
{
    (void)state;
    for (uint64_t depth = 3; depth < 4000000; depth *= 1000) {
        td_memory *m = NULL;
        ASSERT_OK(td_memory_create("m", 32, depth, &m));
        uint32_t *words = td_memory_data(m);
        words[0] = 7;
        words[depth - 1] = 9;
        ASSERT_OK(td_memory_clear(m));
        assert_int_equal(words[0], 0);
        assert_int_equal(words[depth - 1], 0);
        words[depth - 1] = 5;
        assert_int_equal(words[depth - 1], 5);
        td_memory_destroy(&m);
    }
}

static void names_are_copied(void **state)
{
    (void)state;
    char name[] = "abuf";
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create(name, 8, 1, &m));
    name[0] = 'x';
    assert_string_equal(td_memory_name(m), "abuf");
    td_memory_destroy(&m);
    ASSERT_OK(td_memory_create(NULL, 8, 1, &m));
    assert_string_equal(td_memory_name(m), "memory");
    td_memory_destroy(&m);
}

static void null_is_safe(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_memory_destroy(NULL);
    td_memory_destroy(&m);
    assert_string_equal(td_memory_name(NULL), "");
    assert_int_equal(td_memory_width_bits(NULL), 0);
    assert_int_equal(td_memory_depth_words(NULL), 0);
    assert_int_equal(td_memory_word_bytes(NULL), 0);
    assert_null(td_memory_data(NULL));
}

static void refusals(void **state)
{
    (void)state;
    td_memory *m = NULL;
    ASSERT_REFUSED(td_memory_create("abuf", 0, 16, &m), TD_ARGUMENT,
                   "memory_create \"abuf\": a width of 0 bits; a width is 1 to 16777216 bits");
    ASSERT_REFUSED(td_memory_create("abuf", 16777217, 16, &m), TD_ARGUMENT,
                   "memory_create \"abuf\": a width of 16777217 bits; a width is 1 to 16777216 bits");
    ASSERT_REFUSED(td_memory_create("abuf", 8, 0, &m), TD_ARGUMENT,
                   "memory_create \"abuf\": a depth of 0 words; a depth is 1 to 1099511627776 words");
    ASSERT_REFUSED(td_memory_create("abuf", 8, 1099511627777, &m), TD_ARGUMENT,
                   "memory_create \"abuf\": a depth of 1099511627777 words; a depth is 1 to 1099511627776 words");
    ASSERT_REFUSED(td_memory_create("abuf", 16777216, TD_MAX_DEPTH_WORDS, &m), TD_NO_MEMORY,
                   "memory_create \"abuf\": no address space for 1099511627776 words of 16777216 bits "
                   "(2305843009213693952 bytes); use a smaller depth");
    assert_null(m);
    ASSERT_REFUSED(td_memory_create("abuf", 8, 8, NULL), TD_ARGUMENT,
                   "memory_create \"abuf\": out is NULL; pass the address of a td_memory pointer");
    ASSERT_REFUSED(td_memory_clear(NULL), TD_ARGUMENT, "memory_clear: memory is NULL; pass one from td_memory_create");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_lie_as_verilator_stores_them),
        cmocka_unit_test(the_deepest_memory_costs_what_is_touched),
        cmocka_unit_test(clear_gives_zeros),
        cmocka_unit_test(names_are_copied),
        cmocka_unit_test(null_is_safe),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
