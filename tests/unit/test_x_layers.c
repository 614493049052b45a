/* Bits that are x in memories that lie over others: through the organisation bit by bit, through a code by subwords,
 * through a codec by words; what a write makes known; and td_memory_invalidate. tests/unit/test_transfer.c and
 * test_layers.c have memories of a design. */
#include "support.h"

static uint64_t word(const td_memory *memory, uint64_t address)
{
    uint64_t value[2] = {0};
    ASSERT_OK(td_backdoor_read(memory, &address, 1, value));
    return value[0];
}

static void set_word(td_memory *memory, uint64_t address, uint64_t value)
{
    ASSERT_OK(td_backdoor_write(memory, &address, 1, &value, NULL));
}

static void set_bits(td_memory *memory, uint64_t address, uint64_t value, uint64_t mask)
{
    ASSERT_OK(td_backdoor_write(memory, &address, 1, &value, &mask));
}

/* The bits of a word that are x: those that a read refuses one after the other, since a write of one makes it known. */
static uint64_t x_of(td_memory *memory, uint64_t address)
{
    uint64_t found = 0, value = 0;
    while (td_backdoor_read(memory, &address, 1, &value) != TD_OK) {
        const char *at = strstr(td_last_error(), "is x or z in bit ");
        assert_non_null(at);
        const uint64_t bit = strtoull(at + 17, NULL, 10);
        found |= (uint64_t)1 << bit;
        set_bits(memory, address, 0, (uint64_t)1 << bit);
    }
    return found;
}

static void owned_words_become_x(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    td_layout *rows = NULL;
    uint64_t address = 3, value = 7;
    ASSERT_OK(td_memory_create("m", 20, 8, &memory));
    ASSERT_OK(td_memory_fill(memory, "one", 0, 8));
    ASSERT_OK(td_memory_invalidate(memory, 2, 3));
    ASSERT_REFUSED(td_backdoor_read(memory, &address, 1, &value), TD_X_STATE,
                   "backdoor_read \"m\": the word at address 0x3 (entry 0) is x or z in bit 0; let the design drive it "
                   "first, or set the memory's policy to x=zero");
    assert_int_equal(value, 7);
    assert_int_equal(word(memory, 1), 0xfffff);
    assert_int_equal(word(memory, 5), 0xfffff);
    set_bits(memory, 3, 0x5, 0xf);
    assert_int_equal(x_of(memory, 3), 0xffff0);
    set_word(memory, 2, 0x12345);
    assert_int_equal(word(memory, 2), 0x12345);
    ASSERT_OK(td_tensor_create("u4", TD_SHAPE(8, 5), &tensor));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &rows));
    ASSERT_REFUSED(
        td_backdoor_dump_tensor(memory, tensor, rows, NULL), TD_X_STATE,
        "backdoor_dump_tensor \"m\": element (4, 0) is x or z in bits 0xf of its 4, 5 of 40 elements are; let "
        "the design drive them first, or set the memory's policy to x=zero or x=keep\nalso (4, 1), (4, 2), "
        "(4, 3), (4, 4)");
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, rows, NULL));
    assert_int_equal(word(memory, 4), 0);
    ASSERT_OK(td_memory_invalidate(memory, 0, 8));
    ASSERT_OK(td_memory_clear(memory));
    assert_int_equal(word(memory, 4), 0);
    ASSERT_OK(td_memory_set_x(memory, "zero"));
    ASSERT_OK(td_memory_invalidate(memory, 0, 8));
    assert_int_equal(word(memory, 4), 0);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&rows);
}

static void words_that_cannot_become_x(void **state)
{
    (void)state;
    td_memory *memory = NULL, *over = NULL;
    td_layout *one = NULL;
    ASSERT_OK(td_memory_create("m", 20, 8, &memory));
    ASSERT_OK(td_layout_create("w k -> 1 w k", NULL, NULL, &one));
    ASSERT_OK(td_memory_over("over", 20, 8, one, &memory, 1, &over));
    ASSERT_REFUSED(td_memory_invalidate(NULL, 0, 1), TD_ARGUMENT, "memory_invalidate: the memory is NULL; pass one");
    ASSERT_REFUSED(td_memory_invalidate(memory, 4, 5), TD_RANGE,
                   "memory_invalidate \"m\": 5 words from 0x4 in a memory of 8 words; pass words inside it, at least "
                   "one");
    ASSERT_OK(td_memory_invalidate(memory, 4, 1));
    assert_non_null(td_memory_data(memory)); /* from now on the ports of a model read and write it */
    assert_int_equal(word(memory, 4), 0);
    ASSERT_REFUSED(
        td_memory_invalidate(over, 4, 1), TD_ARGUMENT,
        "memory_invalidate \"over\": the storage of \"m\", which has two states, was given out by "
        "td_memory_data, so that what is written there could not be told from x; fill the memory with random "
        "words instead");
    td_memory_destroy(&over);
    td_memory_destroy(&memory);
    td_layout_destroy(&one);
}

/* Slices, two words in a row: an x of an array is that bit of the word. */
static void through_an_organisation(void **state)
{
    (void)state;
    td_memory *array[2] = {NULL, NULL}, *memory = NULL;
    td_layout *organisation = NULL, *rows = NULL;
    td_tensor *tensor = NULL;
    td_report *report = NULL;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(td_memory_create(i ? "a1" : "a0", 16, 4, &array[i]));
    ASSERT_OK(td_layout_create("(r p) (s k) -> s r (k p)", "p=2 s=2", NULL, &organisation));
    ASSERT_OK(td_memory_over("wbuf", 16, 8, organisation, array, 2, &memory));
    ASSERT_OK(td_memory_fill(memory, "one", 0, 8));
    ASSERT_OK(td_memory_invalidate(array[1], 2, 1)); /* words 4 and 5, the high byte of each */
    assert_int_equal(word(memory, 3), 0xffff);
    assert_int_equal(x_of(memory, 4), 0xff00); /* and makes it known */
    assert_int_equal(x_of(array[1], 2), 0xaaaa);
    ASSERT_OK(td_memory_invalidate(memory, 6, 2));
    assert_int_equal(x_of(array[0], 3), 0xffff);
    assert_int_equal(x_of(memory, 7), 0xff00);
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(8, 2), &tensor));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &rows));
    ASSERT_OK(td_memory_set_x(memory, "keep"));
    ASSERT_OK(td_backdoor_compare_tensor(memory, tensor, rows, NULL, "", &report));
    assert_int_equal(td_report_mismatches(report), 11); /* ten bytes of ones, and one of x */
    td_report_destroy(&report);
    ASSERT_OK(td_memory_set_x(memory, "error"));
    assert_int_equal(td_backdoor_dump_tensor(memory, tensor, rows, NULL), TD_X_STATE);
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, rows, NULL));
    assert_int_equal(x_of(array[1], 3), 0);
    assert_int_equal(word(memory, 6), 0);
    ASSERT_OK(td_memory_invalidate(array[0], 0, 4));
    ASSERT_OK(td_memory_clear(memory));
    assert_int_equal(word(array[0], 2), 0);
    td_memory_destroy(&memory);
    td_memory_destroy(&array[0]);
    td_memory_destroy(&array[1]);
    td_layout_destroy(&organisation);
    td_layout_destroy(&rows);
    td_tensor_destroy(&tensor);
}

static void through_copies(void **state)
{
    (void)state;
    td_memory *array[2] = {NULL, NULL}, *memory = NULL;
    td_layout *mirrored = NULL;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(td_memory_create(i ? "a1" : "a0", 16, 4, &array[i]));
    ASSERT_OK(td_layout_create("w k -> m w k", "m=2", NULL, &mirrored));
    ASSERT_OK(td_memory_over("wbuf", 16, 4, mirrored, array, 2, &memory));
    ASSERT_OK(td_memory_fill(memory, "one", 0, 4));
    ASSERT_OK(td_memory_invalidate(array[1], 2, 1));
    set_bits(array[1], 2, 0xff, 0xff); /* half of the second copy is known */
    assert_int_equal(x_of(memory, 2), 0xff00);
    assert_int_equal(word(array[0], 2), 0xff);
    td_memory_destroy(&memory);
    td_memory_destroy(&array[0]);
    td_memory_destroy(&array[1]);
    td_layout_destroy(&mirrored);
}

static void through_a_code(void **state)
{
    (void)state;
    td_memory *raw = NULL, *memory = NULL, *unchecked = NULL;
    td_code *code = NULL;
    td_code_result result;
    td_faults *faults = NULL;
    uint64_t address = 3, value = 0;
    ASSERT_OK(td_code_create("22_16", 32, &code));
    ASSERT_OK(td_memory_create("raw", 44, 8, &raw));
    ASSERT_OK(td_memory_coded("wbuf", code, raw, NULL, &memory));
    ASSERT_OK(td_memory_coded("unchecked", code, raw, "check=off", &unchecked));
    ASSERT_OK(td_memory_fill(memory, "constant=0x12345678", 0, 8));
    const uint64_t right = word(raw, 3);
    ASSERT_OK(td_memory_invalidate(raw, 3, 1));
    set_bits(raw, 3, right, ~((uint64_t)1 << 25) & 0xfffffffffff); /* bit 3 of subword 1 is x */
    ASSERT_OK(td_memory_code_result(memory, &result, 1));
    ASSERT_OK(td_memory_set_x(unchecked, "zero"));
    assert_int_equal(word(unchecked, 3), 0x12345678 & ~0x80000);
    ASSERT_REFUSED(
        td_backdoor_read(memory, &address, 1, &value), TD_X_STATE,
        "backdoor_read \"wbuf\": the word at address 0x3 (entry 0) is x or z in bit 16; let the design drive "
        "it first, or set the memory's policy to x=zero");
    ASSERT_OK(td_memory_code_result(memory, &result, 1));
    assert_int_equal(result.words, 1);
    assert_int_equal(result.corrected + result.uncorrectable, 0);
    ASSERT_OK(td_memory_set_x(memory, "zero"));
    assert_int_equal(word(memory, 3), 0x5678);
    set_bits(memory, 3, 0x1, 0xff); /* in the other subword */
    ASSERT_OK(td_memory_set_x(memory, "error"));
    assert_int_equal(td_backdoor_read(memory, &address, 1, &value), TD_X_STATE);
    set_bits(memory, 3, 0xff0000, 0xff0000); /* a part of it: its check bits are x still, so that all of it is */
    assert_int_equal(td_backdoor_read(memory, &address, 1, &value), TD_X_STATE);
    assert_int_equal(x_of(raw, 3), (uint64_t)0x3fffff << 22);
    set_word(memory, 3, 0xabcd1234);
    assert_int_equal(word(memory, 3), 0xabcd1234);
    ASSERT_OK(td_memory_invalidate(memory, 3, 1));
    set_bits(memory, 3, 0xabcd, 0xffff); /* the low subword is known, and wrong bits are seen in it */
    ASSERT_OK(td_memory_set_x(raw, "zero"));
    ASSERT_OK(td_memory_inject(memory, "word=3 bit=2", NULL, &faults));
    ASSERT_OK(td_memory_set_x(memory, "zero"));
    ASSERT_OK(td_memory_code_result(memory, &result, 1));
    assert_int_equal(word(memory, 3), 0xabcd);
    ASSERT_OK(td_memory_code_result(memory, &result, 1));
    assert_int_equal(result.corrected, 1);
    td_faults_destroy(&faults);
    td_memory_destroy(&memory);
    td_memory_destroy(&unchecked);
    td_memory_destroy(&raw);
    td_code_destroy(&code);
}

static int never_zero(void *context, const td_codec_run *run, const void *src, void *dst)
{
    (void)context;
    const uint32_t *from = src;
    uint32_t *to = dst;
    for (uint64_t i = 0; i < run->count; i++) {
        if (!from[i])
            return 1;
        to[i] = ~from[i] ? ~from[i] : 1;
    }
    return 0;
}

/* The codec refuses zeros, which is what x is stored as: it does not get to see them. */
static void through_a_codec(void **state)
{
    (void)state;
    const td_codec codec = {.version = TD_CODEC_VERSION, .encode = never_zero, .decode = never_zero};
    td_memory *below = NULL, *memory = NULL, *coded = NULL;
    td_code *code = NULL;
    uint64_t address = 2, value = 0;
    ASSERT_OK(td_memory_create("below", 32, 8, &below));
    ASSERT_OK(td_memory_through("wbuf", &codec, below, &memory));
    ASSERT_OK(td_memory_fill(memory, "constant=5", 0, 8));
    ASSERT_OK(td_memory_invalidate(memory, 2, 2));
    assert_int_equal(word(memory, 1), 5);
    assert_int_equal(td_backdoor_read(memory, &address, 1, &value), TD_X_STATE);
    set_bits(memory, 2, 9, 0xff);
    assert_int_equal(td_backdoor_read(memory, &address, 1, &value), TD_X_STATE);
    assert_int_equal(x_of(below, 2), 0xffffffff);
    set_word(memory, 3, 9);
    assert_int_equal(word(below, 3), 0xfffffff6);
    ASSERT_OK(td_code_create("parity width=15", 30, &code));
    ASSERT_OK(td_memory_coded("coded", code, memory, NULL, &coded));
    ASSERT_OK(td_memory_invalidate(coded, 0, 8));
    ASSERT_OK(td_memory_set_x(below, "zero"));
    assert_int_equal(word(below, 7), 0);
    set_word(coded, 5, 3);
    assert_int_equal(word(coded, 5), 3);
    address = 4;
    assert_int_equal(td_backdoor_read(coded, &address, 1, &value), TD_X_STATE);
    td_memory_destroy(&coded);
    td_memory_destroy(&memory);
    td_memory_destroy(&below);
    td_code_destroy(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owned_words_become_x),    cmocka_unit_test(words_that_cannot_become_x),
        cmocka_unit_test(through_an_organisation), cmocka_unit_test(through_copies),
        cmocka_unit_test(through_a_code),          cmocka_unit_test(through_a_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
