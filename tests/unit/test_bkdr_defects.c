/* What OpenTitan's mem_bkdr_util gets wrong, each defect as a test of what is right (the table of its methods is in
 * examples/guide/mem_bkdr_util.md). Check bits are calculated here from the masks of the codes, or seen by flipping
 * bits. */
#include "support.h"

static uint64_t word(const td_memory *memory, uint64_t address)
{
    uint64_t value = 0;
    ASSERT_OK(td_backdoor_read(memory, &address, 1, &value));
    return value;
}

static void set_word(td_memory *memory, uint64_t address, uint64_t value)
{
    ASSERT_OK(td_backdoor_write(memory, &address, 1, &value, NULL));
}

typedef struct coded {
    td_code *code;
    td_memory *raw, *data;
} coded;

static void make(coded *c, const char *text, uint64_t data_bits, uint64_t depth)
{
    *c = (coded){0};
    ASSERT_OK(td_code_create(text, data_bits, &c->code));
    ASSERT_OK(td_memory_create("raw", td_code_coded_bits(c->code), depth, &c->raw));
    ASSERT_OK(td_memory_coded("data", c->code, c->raw, NULL, &c->data));
}

static void unmake(coded *c)
{
    td_memory_destroy(&c->data);
    td_memory_destroy(&c->raw);
    td_code_destroy(&c->code);
}

/* randomize_mem takes one random bit for a whole byte when parity is on. */
static void random_bytes_with_parity_are_whole_bytes(void **state)
{
    (void)state;
    coded c;
    unsigned char seen[256] = {0};
    size_t values = 0;
    make(&c, "parity odd width=8", 32, 256);
    ASSERT_OK(td_memory_fill(c.data, "random seed=1", 0, 256));
    for (uint64_t w = 0; w < 256; w++) {
        const uint64_t raw = word(c.raw, w);
        for (int b = 0; b < 4; b++) { /* each byte is 9 bits, the parity above it, the ones odd */
            values += !seen[raw >> (9 * b) & 255]++;
            assert_int_equal(__builtin_popcountll(raw >> (9 * b) & 511) % 2, 1);
        }
    }
    assert_true(values > 200); /* of 1024 random bytes nearly all of the 256 */
    unmake(&c);
}

/* recompute_ecc after load_mem_from_file covers depth / bytes_per_word rows only (opentitan#31324). */
static void every_row_of_a_file_has_its_check_bits(void **state)
{
    (void)state;
    static const uint32_t mask[7] = {0x2606bd25, 0xdeba8050, 0x413d89aa, 0x31234ed1,
                                     0xc2c1323b, 0x2dcc624c, 0x98505586}; /* 39_32 */
    coded c;
    char text[64 * 9 + 1];
    size_t used = 0;
    for (unsigned w = 0; w < 64; w++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%08x\n", 0x9e3779b9u * (w + 1));
    write_file("image.hex", text, used);
    make(&c, "39_32", 32, 64);
    ASSERT_OK(td_memory_load_file(c.data, "image.hex"));
    for (unsigned w = 0; w < 64; w++) {
        const uint64_t data = 0x9e3779b9u * (w + 1);
        uint64_t check = 0;
        for (unsigned j = 0; j < 7; j++)
            check |= (uint64_t)(__builtin_popcountll(data & mask[j]) & 1) << j;
        assert_int_equal(word(c.raw, w), check << 32 | data);
    }
    unmake(&c);
}

/* write8 and get_ecc_computed_data know one subword in a row: the others are lost. */
static void a_byte_of_one_subword_leaves_the_others(void **state)
{
    (void)state;
    coded c;
    td_code_result result;
    make(&c, "inv_39_32", 128, 4);
    const uint64_t address = 2;
    const uint32_t before[4] = {0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00};
    uint32_t after[4] = {0}, bytes[4] = {0, 0, 0x0000ee00, 0};
    const unsigned char mask[2] = {0, 1u << 1}; /* byte 9 */
    ASSERT_OK(td_backdoor_write(c.data, &address, 1, before, NULL));
    ASSERT_OK(td_backdoor_write_bytes(c.data, &address, 1, bytes, mask));
    ASSERT_OK(td_backdoor_read(c.data, &address, 1, after));
    assert_int_equal(after[0], before[0]);
    assert_int_equal(after[1], before[1]);
    assert_int_equal(after[2], 0x99aaeecc);
    assert_int_equal(after[3], before[3]);
    ASSERT_OK(td_code_check(c.code, c.raw, 2, 1, NULL, &result));
    assert_int_equal(result.corrected + result.uncorrectable, 0);
    unmake(&c);
}

/* What read39integ forgets: that write39integ goes through the row adapter. Here a codec, which stores every word
 * turned around and at another address. */
static int turn(void *context, const td_codec_run *run, const void *from, void *to)
{
    (void)context;
    for (uint64_t i = 0; i < run->count; i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i] ^ 0x55aa55aa55u;
    return 0;
}

static uint64_t from_the_end(void *context, uint64_t address, uint64_t depth)
{
    (void)context;
    return depth - 1 - address;
}

static void reads_and_writes_go_through_the_same_layers(void **state)
{
    (void)state;
    const td_codec codec = {
        .version = TD_CODEC_VERSION, .name = "turn", .encode = turn, .decode = turn, .place = from_the_end};
    td_memory *macro = NULL, *integ = NULL, *data = NULL;
    td_code *code = NULL;
    ASSERT_OK(td_code_create("inv_39_32", 32, &code));
    ASSERT_OK(td_memory_create("macro", 39, 16, &macro));
    ASSERT_OK(td_memory_through("integ", &codec, macro, &integ));
    ASSERT_OK(td_memory_coded("data", code, integ, NULL, &data));
    set_word(integ, 3, 0x5ecafef00d); /* 39 bits, as inv_39_32 codes 0xcafef00d */
    assert_int_equal(word(integ, 3), 0x5ecafef00d);
    assert_int_equal(word(data, 3), 0xcafef00d);
    assert_int_equal(word(macro, 12), 0x5ecafef00d ^ 0x55aa55aa55);
    set_word(data, 3, 1);
    assert_int_equal(word(integ, 3), 0x3300000001);
    td_memory_destroy(&data);
    td_memory_destroy(&integ);
    td_memory_destroy(&macro);
    td_code_destroy(&code);
}

/* 28_22, 64_57 and their inverses have no encoder there. Each of the 18: what is written comes back, with one wrong bit
 * too, and two are seen. */
static void all_codes_have_an_encoder(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned bits;
    } codes[] = {{"22_16", 16},         {"28_22", 22},         {"39_32", 32},
                 {"64_57", 57},         {"72_64", 64},         {"hamming_22_16", 16},
                 {"hamming_39_32", 32}, {"hamming_72_64", 64}, {"hamming_76_68", 68}};
    for (size_t i = 0; i < 18; i++) {
        coded c;
        char name[40];
        const uint64_t address = 1;
        unsigned char given[12] = {0}, got[12] = {0}, raw[12] = {0};
        const unsigned bits = codes[i / 2].bits;
        snprintf(name, sizeof name, "%s%s", i % 2 ? "inv_" : "", codes[i / 2].name);
        make(&c, name, bits, 4);
        for (unsigned b = 0; b < bits; b++)
            given[b / 8] |= (unsigned char)((b * b / 3 & 1) << b % 8);
        ASSERT_OK(td_backdoor_write(c.data, &address, 1, given, NULL));
        for (uint64_t b = 0; b < td_code_coded_bits(c.code); b++) {
            ASSERT_OK(td_backdoor_read(c.raw, &address, 1, raw));
            raw[b / 8] ^= (unsigned char)(1u << b % 8);
            ASSERT_OK(td_backdoor_write(c.raw, &address, 1, raw, NULL));
            ASSERT_OK(td_backdoor_read(c.data, &address, 1, got));
            assert_memory_equal(got, given, (bits + 7) / 8);
            raw[(b ? 0 : 1) / 8] ^= (unsigned char)(1u << (b ? 0 : 1)); /* and a second one */
            ASSERT_OK(td_backdoor_write(c.raw, &address, 1, raw, NULL));
            assert_int_equal(td_backdoor_read(c.data, &address, 1, got), TD_UNCORRECTABLE);
            ASSERT_OK(td_backdoor_write(c.data, &address, 1, given, NULL));
        }
        unmake(&c);
    }
}

/* Rows over 1024 bits and words over 64 bytes are refused there. */
static void wide_rows_and_words_are_no_special_case(void **state)
{
    (void)state;
    enum { BITS = 8192 };
    td_memory *macro = NULL, *memory = NULL;
    td_layout *columns = NULL;
    unsigned char given[BITS / 8 / 4], got[sizeof given], row[BITS / 8];
    for (size_t i = 0; i < sizeof given; i++)
        given[i] = (unsigned char)(i * 7 + 1);
    ASSERT_OK(td_memory_create("macro", BITS, 4, &macro));
    ASSERT_OK(td_layout_create("(r p) k -> 1 r (k p)", "p=4", NULL, &columns));
    ASSERT_OK(td_memory_over("wide", BITS / 4, 16, columns, &macro, 1, &memory));
    const uint64_t address = 6, at = 1; /* column 2 of row 1 */
    ASSERT_OK(td_backdoor_write(memory, &address, 1, given, NULL));
    ASSERT_OK(td_backdoor_read(memory, &address, 1, got));
    assert_memory_equal(got, given, sizeof given);
    ASSERT_OK(td_backdoor_read(macro, &at, 1, row));
    for (size_t b = 0; b < BITS; b++)
        assert_int_equal(row[b / 8] >> b % 8 & 1, b % 4 == 2 ? given[b / 4 / 8] >> b / 4 % 8 & 1 : 0);
    td_memory_destroy(&memory);
    td_memory_destroy(&macro);
    td_layout_destroy(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes_with_parity_are_whole_bytes),
        cmocka_unit_test_setup_teardown(every_row_of_a_file_has_its_check_bits, enter_folder, leave_folder),
        cmocka_unit_test(a_byte_of_one_subword_leaves_the_others),
        cmocka_unit_test(reads_and_writes_go_through_the_same_layers),
        cmocka_unit_test(all_codes_have_an_encoder),
        cmocka_unit_test(wide_rows_and_words_are_no_special_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
