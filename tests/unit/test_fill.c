/* Fillings of memories, and tensors of coordinates. */
#include "support.h"

static td_memory *make(uint64_t width)
{
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("ram", width, 16, &m));
    memset(td_memory_data(m), 0x11 & (int)((1u << (width < 8 ? width : 8)) - 1), 16 * td_memory_word_bytes(m));
    return m;
}

static uint64_t low(td_memory *m, uint64_t address)
{
    uint64_t word = 0;
    const size_t bytes = td_memory_word_bytes(m);
    memcpy(&word, (unsigned char *)td_memory_data(m) + address * bytes, bytes < 8 ? bytes : 8);
    return word;
}

static void test_patterns(void **state)
{
    (void)state;
    static const uint64_t widths[] = {1, 5, 8, 12, 32, 33, 64, 100};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const uint64_t width = widths[i], mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
        td_memory *m = make(width);
        const uint64_t before = low(m, 2);
        ASSERT_OK(td_memory_fill(m, "one", 3, 5));
        assert_int_equal(low(m, 2), before);
        assert_int_equal(low(m, 8), before);
        assert_int_equal(low(m, 3), mask);
        assert_int_equal(low(m, 7), mask);
        ASSERT_OK(td_memory_fill(m, "address", 0, 16));
        assert_int_equal(low(m, 13), 13 & mask);
        ASSERT_OK(td_memory_fill(m, "constant=1", 4, 1));
        assert_int_equal(low(m, 4), 1);
        ASSERT_OK(td_memory_fill(m, "random seed=7", 0, 16));
        uint64_t seen = 0;
        for (uint64_t a = 0; a < 16; a++) {
            assert_int_equal(low(m, a) & ~mask, 0);
            seen |= low(m, a);
        }
        assert_int_equal(seen & 1, 1);
        const uint64_t at_9 = low(m, 9);
        ASSERT_OK(td_memory_fill(m, "zero", 0, 16));
        assert_int_equal(low(m, 9), 0);
        ASSERT_OK(td_memory_fill(m, "random seed=7", 9, 1));
        assert_int_equal(low(m, 9), at_9);
        ASSERT_OK(td_memory_fill(m, "random", 9, 1));
        td_memory_destroy(&m);
    }
}

static void test_wide_constant(void **state)
{
    (void)state;
    td_memory *m = make(100);
    ASSERT_OK(td_memory_fill(m, "constant=0xf00000000000000000000000a", 5, 1));
    const unsigned char *word = (unsigned char *)td_memory_data(m) + 5 * 16;
    assert_int_equal(word[0], 0x0a);
    assert_int_equal(word[12], 0x0f);
    assert_int_equal(word[13], 0);
    td_memory_destroy(&m);
}

static void test_refusals(void **state)
{
    (void)state;
    td_memory *m = make(12);
    ASSERT_REFUSED(td_memory_fill(m, "constant=0x1000", 0, 1), TD_RANGE,
                   "memory_fill \"ram\": constant=0x1000 in words of 12 bits; pass fewer bits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=4096", 0, 1), TD_RANGE,
                   "memory_fill \"ram\": constant=0x1000 in words of 12 bits; pass fewer bits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=0xg", 0, 1), TD_OPTION,
                   "memory_fill \"ram\": constant=0xg is no number; pass hex or decimal digits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=ten", 0, 1), TD_OPTION,
                   "memory_fill \"ram\": constant=ten is no number; pass hex or decimal digits");
    ASSERT_REFUSED(
        td_memory_fill(m, "random seed=x", 0, 1), TD_OPTION,
        "memory_fill \"ram\": \"random seed=x\" is no filling; pass zero, one, constant=VALUE, address or random "
        "seed=N");
    ASSERT_REFUSED(td_memory_fill(m, "zero", 15, 2), TD_RANGE,
                   "memory_fill \"ram\": 2 words from 0xf in a memory of 16 words; pass words inside it, at least one");
    ASSERT_REFUSED(td_memory_fill(NULL, "zero", 0, 1), TD_ARGUMENT, "memory_fill: the memory is NULL; pass one");
    ASSERT_OK(td_memory_fill(m, "constant=0xfff", 0, 1));
    td_memory_destroy(&m);
}

static void test_coordinates(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 5, 8), &t));
    ASSERT_OK(td_tensor_fill_coordinates(t));
    ASSERT_OK(td_tensor_get_bits(t, (2 * 5 + 4) * 8 + 7, &bits));
    assert_int_equal(bits, 2 << 6 | 4 << 3 | 7);
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("u7", TD_SHAPE(3, 5, 8), &t));
    ASSERT_REFUSED(td_tensor_fill_coordinates(t), TD_RANGE,
                   "tensor_fill_coordinates: the coordinates take 8 bits, an element of u7 has 7; use a wider dtype");
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_wide_constant),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
