/* Memories with a code: what lies below after every kind of write, what reads correct, count and refuse, wrong bits
 * through the layers, and the text of every refusal. tests/prop/prop_layers.c has the random ones. */
#include "support.h"

typedef struct sram {
    td_code *code;
    td_memory *raw, *memory, *array[4];
} sram;

static void make(sram *s, const char *text, uint64_t bits, uint64_t depth, const char *options)
{
    *s = (sram){0};
    ASSERT_OK(td_code_create(text, bits, &s->code));
    ASSERT_OK(td_memory_create("raw", td_code_coded_bits(s->code), depth, &s->raw));
    ASSERT_OK(td_memory_coded("wbuf", s->code, s->raw, options, &s->memory));
}

static void unmake(sram *s)
{
    td_memory_destroy(&s->memory);
    td_memory_destroy(&s->raw);
    for (int i = 0; i < 4; i++)
        td_memory_destroy(&s->array[i]);
    td_code_destroy(&s->code);
}

static uint64_t word(const td_memory *memory, uint64_t address)
{
    uint64_t value[2] = {0};
    ASSERT_OK(td_backdoor_read(memory, &address, 1, value));
    return value[0];
}

static void set_word(td_memory *memory, uint64_t address, uint64_t value)
{
    const uint64_t words[2] = {value, 0};
    ASSERT_OK(td_backdoor_write(memory, &address, 1, words, NULL));
}

static td_code_result result_of(td_memory *memory)
{
    td_code_result result;
    ASSERT_OK(td_memory_code_result(memory, &result, 1));
    return result;
}

static void writes_compute_the_code(void **state)
{
    (void)state;
    sram s;
    make(&s, "39_32", 32, 16, NULL);
    assert_int_equal(td_memory_width_bits(s.memory), 32);
    assert_int_equal(td_memory_depth_words(s.memory), 16);
    assert_null(td_memory_data(s.memory));
    set_word(s.memory, 3, 0xcafef00d);
    assert_true(word(s.raw, 3) == 0x74cafef00d); /* the sample words of OpenTitan's code */
    td_code_destroy(&s.code);                    /* the memory holds it */
    const uint64_t address = 3;
    const uint32_t value = 1, mask = 0xffff0fff;
    set_word(s.memory, 3, 0xcafef00d & ~mask);
    ASSERT_OK(td_backdoor_write(s.memory, &address, 1, &value, &mask));
    assert_int_equal(word(s.memory, 3), 0xf001 & 0xf001);
    const unsigned char bytes = 0xe;
    const uint32_t none = 0;
    ASSERT_OK(td_backdoor_write_bytes(s.memory, &address, 1, &none, &bytes));
    assert_true(word(s.raw, 3) == 0x1900000001);
    ASSERT_OK(td_memory_fill(s.memory, "constant=0xcafef00d", 2, 2));
    assert_true(word(s.raw, 2) == 0x74cafef00d);
    ASSERT_OK(td_memory_clear(s.memory));
    assert_int_equal(word(s.raw, 2), 0);
    assert_int_equal(result_of(s.memory).corrected, 0);
    unmake(&s);
    make(&s, "inv_39_32", 32, 16, "check=on");
    ASSERT_OK(td_memory_clear(s.memory));
    assert_true(word(s.raw, 9) == 0x2a00000000);
    unmake(&s);
}

static void reads_correct_and_count(void **state)
{
    (void)state;
    sram s;
    uint64_t left = 9;
    td_faults *faults = NULL;
    make(&s, "39_32", 32, 16, "  check=on ");
    ASSERT_OK(td_memory_fill(s.memory, "address", 0, 16));
    for (unsigned bit = 0; bit < 39; bit++) {
        char text[40];
        snprintf(text, sizeof text, "word=5 bit=%u", bit);
        ASSERT_OK(td_memory_inject(s.memory, text, NULL, &faults));
        const uint64_t stored = word(s.raw, 5);
        assert_int_equal(word(s.memory, 5), 5);
        assert_true(word(s.raw, 5) == stored); /* a read changes nothing */
        td_code_result result = result_of(s.memory);
        assert_int_equal(result.words, 1);
        assert_int_equal(result.corrected, 1);
        assert_int_equal(result.uncorrectable, 0);
        assert_int_equal(result.error[0].word, 5);
        assert_int_equal(result.error[0].bit, bit);
        ASSERT_OK(td_memory_undo(s.memory, &faults, &left));
        assert_int_equal(left, 0);
        assert_int_equal(word(s.memory, 5), 5);
        assert_int_equal(result_of(s.memory).corrected, 0);
    }
    ASSERT_OK(td_memory_inject(s.memory, "word=5 in=data", NULL, &faults));
    const uint64_t address = 5;
    const uint32_t value = 0, none = 0;
    ASSERT_OK(td_backdoor_write(s.memory, &address, 1, &value, &none)); /* a write of no bits at all mends the word */
    assert_int_equal(word(s.raw, 5) & 0xffffffff, 5);
    ASSERT_OK(td_memory_undo(s.memory, &faults, &left));
    assert_int_equal(left, 1);
    unmake(&s);
}

/* All of one word: single errors are corrected, double ones refused, whatever bits they are of. */
static void all_single_and_double_errors(void **state)
{
    (void)state;
    static const char *const codes[] = {"22_16",         "inv_28_22", "inv_39_32",
                                        "hamming_39_32", "64_57",     "inv_hamming_22_16"};
    static const uint64_t data[] = {16, 22, 32, 32, 57, 16};
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        sram s;
        uint64_t address = 3, value = 0;
        make(&s, codes[c], data[c], 8, NULL);
        const uint64_t bits = td_memory_width_bits(s.raw);
        ASSERT_OK(td_memory_fill(s.memory, "random seed=4", 0, 8));
        const uint64_t right = word(s.memory, 3), stored = word(s.raw, 3);
        for (uint64_t a = 0; a < bits; a++) {
            set_word(s.raw, 3, stored ^ (uint64_t)1 << a);
            assert_true(word(s.memory, 3) == right);
            for (uint64_t b = a + 1; b < bits; b++) {
                set_word(s.raw, 3, stored ^ (uint64_t)1 << a ^ (uint64_t)1 << b);
                assert_int_equal(td_backdoor_read(s.memory, &address, 1, &value), TD_UNCORRECTABLE);
            }
        }
        const td_code_result result = result_of(s.memory);
        assert_int_equal(result.corrected, bits);
        assert_int_equal(result.uncorrectable, bits * (bits - 1) / 2);
        unmake(&s);
    }
}

static void what_cannot_be_corrected_is_refused(void **state)
{
    (void)state;
    sram s;
    td_faults *faults = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *rows = NULL;
    td_report *report = NULL;
    td_memory *before = NULL;
    uint32_t two[4] = {7, 7, 7, 7};
    make(&s, "39_32", 64, 16, NULL);
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(4, 8), &tensor));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(4, 8), &back));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 1, 1));
    ASSERT_OK(td_layout_create("r c -> r c", "fill=keep", "4 + r", &rows));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL));
    ASSERT_OK(td_memory_inject(s.memory, "word=6 bit=41,43", NULL, &faults)); /* bits 2 and 4 of subword 1 */
    const uint64_t stored = word(s.raw, 6);
    const uint64_t addresses[2] = {5, 6};
    ASSERT_REFUSED(
        td_backdoor_read(s.memory, addresses, 2, two), TD_UNCORRECTABLE,
        "backdoor_read \"wbuf\": word 0x6 of \"wbuf\", subword 1: the syndrome 0x7b is none that the code "
        "\"39_32 subword=32 place=interleaved\" corrects; write the word anew, or read it as it stands with check=off");
    assert_int_equal(two[0], 7);
    ASSERT_REFUSED(td_backdoor_dump_tensor(s.memory, back, rows, NULL), TD_UNCORRECTABLE,
                   "backdoor_dump_tensor \"wbuf\": element (2, 4): word 0x6 of \"wbuf\", subword 1: the syndrome 0x7b "
                   "is none that the code \"39_32 subword=32 place=interleaved\" corrects; write the word anew, or "
                   "read it as it stands with "
                   "check=off");
    assert_int_equal(((unsigned char *)td_tensor_data(back))[0], 0);
    assert_int_equal(td_backdoor_compare_tensor(s.memory, tensor, rows, NULL, NULL, &report), TD_UNCORRECTABLE);
    assert_null(report);
    assert_int_equal(td_backdoor_load_tensor(s.memory, back, rows, NULL), TD_UNCORRECTABLE); /* of parts of words */
    assert_int_equal(td_backdoor_write(s.memory, addresses, 2, two, two), TD_UNCORRECTABLE);
    assert_int_equal(td_memory_snapshot(s.memory, &before), TD_UNCORRECTABLE);
    assert_true(word(s.raw, 6) == stored);
    const td_code_result result = result_of(s.memory);
    assert_int_equal(result.uncorrectable, 6);
    assert_int_equal(result.error[0].subword, 1);
    set_word(s.memory, 6, 99); /* a whole word mends it */
    assert_int_equal(word(s.memory, 6), 99);
    td_faults_destroy(&faults);
    td_layout_destroy(&rows);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
    unmake(&s);
}

static void codes_of_other_kinds_refuse(void **state)
{
    (void)state;
    sram s;
    td_faults *faults = NULL;
    uint64_t address = 3, value = 0;
    make(&s, "parity odd width=8", 16, 8, NULL);
    ASSERT_OK(td_memory_clear(s.memory));
    ASSERT_OK(td_memory_inject(s.memory, "word=3 bit=9", NULL, &faults));
    ASSERT_REFUSED(td_backdoor_read(s.memory, &address, 1, &value), TD_UNCORRECTABLE,
                   "backdoor_read \"wbuf\": word 0x3 of \"wbuf\", subword 1: the syndrome 0x1 is none that the code "
                   "\"parity odd width=8 place=interleaved\" corrects; write the word anew, or read it as it stands "
                   "with check=off");
    td_faults_destroy(&faults);
    unmake(&s);
    make(&s, "hsiao address=4", 16, 16, NULL);
    set_word(s.memory, 2, 0xbeef);
    set_word(s.raw, 3, word(s.raw, 2)); /* a row decoder that picks the wrong row */
    address = 3;
    const td_status status = td_backdoor_read(s.memory, &address, 1, &value);
    assert_int_equal(status, TD_UNCORRECTABLE);
    assert_string_equal(td_last_error(),
                        "backdoor_read \"wbuf\": word 0x3 of \"wbuf\", subword 0: the syndrome 0x1a is that of address "
                        "bit 0, so that the word was coded for another address; write the word anew, or read it as it "
                        "stands with check=off");
    unmake(&s);
}

static void words_as_they_stand(void **state)
{
    (void)state;
    sram s;
    td_faults *faults = NULL;
    make(&s, "inv_22_16 place=below", 32, 16, "check=off");
    ASSERT_OK(td_memory_fill(s.memory, "constant=0x12345678", 0, 16));
    ASSERT_OK(td_memory_inject(s.memory, "word=4 bit=12,14,29", NULL, &faults)); /* data from bit 12 on */
    assert_int_equal(word(s.memory, 4), 0x12345678 ^ 1 ^ 4 ^ 0x20000);
    assert_int_equal(result_of(s.memory).words, 0);
    td_memory *checked = NULL;
    ASSERT_OK(td_memory_coded("checked", s.code, s.raw, NULL, &checked)); /* two views of one memory */
    uint64_t address = 4, value = 0;
    assert_int_equal(td_backdoor_read(checked, &address, 1, &value), TD_UNCORRECTABLE);
    assert_int_equal(word(checked, 5), 0x12345678);
    td_memory_destroy(&checked);
    td_faults_destroy(&faults);
    unmake(&s);
}

/* Macros under the code: two tiles, two words in a row. */
static void a_code_over_macros(void **state)
{
    (void)state;
    sram s = {0};
    td_layout *organisation = NULL, *rows = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_faults *faults = NULL;
    ASSERT_OK(td_code_create("39_32", 32, &s.code));
    ASSERT_OK(td_layout_create("(t r p) k -> t r (k p)", "t=2 p=2", NULL, &organisation));
    for (int i = 0; i < 2; i++)
        ASSERT_OK(td_memory_create("macro", 78, 8, &s.array[i]));
    ASSERT_OK(td_memory_over("raw", 39, 32, organisation, s.array, 2, &s.raw));
    ASSERT_OK(td_memory_coded("wbuf", s.code, s.raw, NULL, &s.memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(32, 2), &tensor));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(32, 2), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 1));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &rows));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL));
    const uint64_t coordinate[2] = {20, 1};
    ASSERT_OK(td_backdoor_inject(s.memory, tensor, rows, NULL, coordinate, "bit=3", NULL, &faults));
    assert_int_equal(td_faults_count(faults), 1);
    assert_int_equal(td_faults_at(faults, 0).word, 20);
    assert_int_equal(td_faults_at(faults, 0).bit, 19);
    td_faults_destroy(&faults);
    ASSERT_OK(td_memory_inject(s.array[1], "word=5 bit=0", NULL, &faults)); /* word 16 + 2 * 5, bit 0 */
    ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, rows, NULL));
    assert_memory_equal(td_tensor_data(tensor), td_tensor_data(back), 128);
    const td_code_result result = result_of(s.memory);
    assert_int_equal(result.words, 32);
    assert_int_equal(result.corrected, 2);
    assert_int_equal(result.error[0].word, 20);
    assert_int_equal(result.error[1].word, 26);
    ASSERT_OK(td_memory_undo(s.array[1], &faults, NULL));
    td_layout_destroy(&organisation);
    td_layout_destroy(&rows);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
    unmake(&s);
}

/* Every macro has a code of its own, and the memory lies over the macros. */
static void macros_with_codes(void **state)
{
    (void)state;
    sram s = {0};
    td_memory *macro[2] = {NULL, NULL};
    td_layout *slices = NULL, *rows = NULL;
    td_tensor *tensor = NULL;
    td_faults *faults = NULL;
    ASSERT_OK(td_code_create("22_16", 16, &s.code));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_memory_create("array", 22, 8, &s.array[i]));
        ASSERT_OK(td_memory_coded(i ? "macro1" : "macro0", s.code, s.array[i], NULL, &macro[i]));
    }
    ASSERT_OK(td_layout_create("w (s k) -> s w k", "s=2", NULL, &slices));
    ASSERT_OK(td_memory_over("wbuf", 32, 8, slices, macro, 2, &s.memory));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(8, 4), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 1, 1));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &rows));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL));
    assert_int_equal(word(s.array[1], 0) & 0xffff, 0x0403);
    ASSERT_OK(td_memory_inject(macro[1], "word=3 bit=0,1", NULL, &faults));
    ASSERT_REFUSED(td_backdoor_dump_tensor(s.memory, tensor, rows, NULL), TD_UNCORRECTABLE,
                   "backdoor_dump_tensor \"wbuf\": element (3, 2): word 0x3 of \"macro1\", subword 0: the syndrome "
                   "0x11 is none that the code \"22_16 subword=16 place=above\" corrects; write the word anew, or read "
                   "it as it stands with "
                   "check=off");
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL)); /* whole rows of the macros */
    assert_int_equal(word(s.memory, 3), 0x100f0e0d);
    td_faults_destroy(&faults);

    /* Faults of the memory on top go below the codes of the macros. */
    const uint64_t coordinate[2] = {5, 2}, before = word(s.array[1], 5);
    ASSERT_OK(td_backdoor_inject(s.memory, tensor, rows, NULL, coordinate, "bit=7", NULL, &faults));
    assert_int_equal(td_faults_at(faults, 0).word, 5);
    assert_int_equal(td_faults_at(faults, 0).bit, 23);
    assert_int_equal(word(s.array[1], 5), before ^ 0x80);
    ASSERT_OK(td_memory_code_result(macro[1], NULL, 1));
    assert_int_equal(word(s.memory, 5), 0x18171615);
    assert_int_equal(result_of(macro[1]).corrected, 1);
    ASSERT_OK(td_memory_undo(s.memory, &faults, NULL));
    assert_int_equal(word(s.array[1], 5), before);
    uint64_t left = 9;
    ASSERT_OK(td_memory_inject(s.memory, "word=2 bit=0,1,16,17", NULL, &faults)); /* two of each macro */
    uint64_t address = 2, value = 0;
    assert_int_equal(td_backdoor_read(s.memory, &address, 1, &value), TD_UNCORRECTABLE);
    ASSERT_OK(td_memory_undo(s.memory, &faults, &left));
    assert_int_equal(left, 0);
    assert_int_equal(word(s.memory, 2), 0x0c0b0a09);
    ASSERT_OK(td_memory_inject(s.memory, "words=2 first=2 count=2 bits=3 seed=1", NULL, &faults));
    set_word(s.memory, 2, 7); /* one of the two is written since */
    ASSERT_OK(td_memory_undo(s.memory, &faults, &left));
    assert_int_equal(left, 1);
    assert_int_equal(word(s.memory, 2), 7);
    assert_int_equal(word(s.memory, 3), 0x100f0e0d);
    td_layout_destroy(&slices);
    td_layout_destroy(&rows);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&s.memory);
    td_memory_destroy(&macro[0]);
    td_memory_destroy(&macro[1]);
    unmake(&s);
}

/* An order of rows in which words that follow each other do not: words 0 and 1, or two pairs of them, lie in rows
 * `used`, and `bad` is a row between those. */
typedef struct order {
    const char *pattern, *options, *address;
    uint64_t width, used[2], bad;
} order;

static const order orders[] = {
    {"(q r) k -> 1 (q r) k", "q=4", "4*r + q", 32, {0, 4}, 2},
    {"(q r) k -> 1 (q r) k", "q=4", "(4*r + q) ^ (r >> 1)", 32, {0, 4}, 3},
    {"(q r p) k -> 1 (q r) (p k)", "q=4 p=2", "4*r + q", 16, {0, 4}, 2},
    {"(q r) k -> 1 (q r) k", "q=4", "15 - 4*r - q", 32, {15, 11}, 13},
    {"(q r) (h k) -> 1 (q r h) k", "q=2 h=2", "8*h + 2*r + q", 64, {0, 8}, 5}, /* a word in two rows */
};

/* Over a macro that has a code, an error in a row between those of a call is nobody's business: a read is not refused
 * and counts nothing, and a write leaves the row as it is. */
static void rows_between_are_not_looked_at(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const order *o = &orders[i];
        const uint64_t words = o->width == 16 ? 4 : o->width == 32 ? 2 : 1, bits = 0x30;
        const size_t bytes = (size_t)(words * o->width / 8);
        sram s = {0};
        td_memory *macro = NULL;
        td_layout *layout = NULL;
        td_tensor *tensor = NULL, *back = NULL;
        ASSERT_OK(td_code_create("39_32", 32, &s.code));
        ASSERT_OK(td_memory_create("array", 39, 16, &s.array[0]));
        ASSERT_OK(td_memory_coded("macro", s.code, s.array[0], NULL, &macro));
        ASSERT_OK(td_layout_create(o->pattern, o->options, o->address, &layout));
        ASSERT_OK(td_memory_over("wbuf", o->width, 512 / o->width, layout, &macro, 1, &s.memory));
        ASSERT_OK(td_memory_fill(s.memory, "random seed=5", 0, td_memory_depth_words(s.memory)));
        const uint64_t stored = word(s.array[0], o->bad) ^ bits;
        set_word(s.array[0], o->bad, stored);
        set_word(s.array[0], o->used[1], word(s.array[0], o->used[1]) ^ 1);
        (void)result_of(macro);

        td_layout_destroy(&layout);
        ASSERT_OK(td_layout_create("w c -> w c", NULL, NULL, &layout));
        ASSERT_OK(td_tensor_create("u8", TD_SHAPE(words, o->width / 8), &tensor));
        ASSERT_OK(td_tensor_create("u8", TD_SHAPE(words, o->width / 8), &back));
        ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, layout, NULL));
        assert_int_equal(result_of(macro).words, 2);
        assert_int_equal(result_of(macro).words, 0);
        ASSERT_OK(td_tensor_fill_random(tensor, i));
        ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, layout, NULL)); /* whole rows */
        assert_int_equal(result_of(macro).words, 0);
        ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, layout, NULL));
        assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor), bytes);

        td_layout_destroy(&layout); /* a part of every row */
        ASSERT_OK(td_layout_create("w c -> w c", "fill=keep slot=4 lsb=2", NULL, &layout));
        ASSERT_OK(td_tensor_fill_ramp(tensor, 9, 0));
        ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, layout, "u4"));
        ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, layout, "u4"));
        assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor), bytes);
        assert_int_equal(result_of(macro).uncorrectable, 0);
        assert_true(word(s.array[0], o->bad) == stored);
        uint64_t value = 0;
        assert_int_equal(td_backdoor_read(macro, &o->bad, 1, &value), TD_UNCORRECTABLE);
        td_layout_destroy(&layout);
        td_tensor_destroy(&tensor);
        td_tensor_destroy(&back);
        td_memory_destroy(&s.memory);
        td_memory_destroy(&macro);
        unmake(&s);
    }
}

#define LARGE_WORDS 20016 /* 313 KiB of data, and no whole number of blocks */

/* A large call moves the words in blocks: every one of them gets there and back, the errors of all are counted, and a
 * word of the last block that cannot be corrected leaves the tensor as it was. */
static void large_calls(void **state)
{
    (void)state;
    sram s = {0};
    td_memory *macro[8];
    td_layout *organisation = NULL, *rows = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_faults *faults = NULL;
    ASSERT_OK(td_code_create("39_32", 128, &s.code));
    for (int i = 0; i < 8; i++)
        ASSERT_OK(td_memory_create("macro", 78, LARGE_WORDS / 4, &macro[i]));
    ASSERT_OK(td_layout_create("(t r p) (s k) -> (t s) r (k p)", "t=2 s=4 p=2", NULL, &organisation));
    ASSERT_OK(td_memory_over("raw", 156, LARGE_WORDS, organisation, macro, 8, &s.raw));
    ASSERT_OK(td_memory_coded("wbuf", s.code, s.raw, NULL, &s.memory));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &rows));
    ASSERT_OK(td_tensor_create("u64", TD_SHAPE(LARGE_WORDS, 2), &tensor));
    ASSERT_OK(td_tensor_create("u64", TD_SHAPE(LARGE_WORDS, 2), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 5));
    const uint64_t *data = td_tensor_data(tensor);
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL));
    for (uint64_t i = 0; i < LARGE_WORDS; i += 37)
        assert_true(word(s.memory, i) == data[2 * i]);
    (void)result_of(s.memory);
    ASSERT_OK(td_memory_inject(s.memory, "word=9 bit=40", NULL, &faults));
    td_faults_destroy(&faults);
    ASSERT_OK(td_memory_inject(s.memory, "word=20001 bit=3", NULL, &faults));
    td_faults_destroy(&faults);
    ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, rows, NULL));
    assert_memory_equal(td_tensor_data(back), data, (size_t)LARGE_WORDS * 16);
    const td_code_result result = result_of(s.memory);
    assert_int_equal(result.words, LARGE_WORDS);
    assert_int_equal(result.corrected, 2);
    assert_int_equal(result.error[0].word, 9);
    assert_int_equal(result.error[1].word, 20001);
    ASSERT_OK(td_memory_inject(s.memory, "word=20001 bit=7", NULL, &faults));
    td_faults_destroy(&faults);
    ASSERT_OK(td_tensor_fill_random(back, 6));
    ASSERT_OK(td_tensor_fill_random(tensor, 6));
    assert_int_equal(td_backdoor_dump_tensor(s.memory, back, rows, NULL), TD_UNCORRECTABLE);
    assert_non_null(strstr(td_last_error(), "element (20001, 0): word 0x4e21 of \"wbuf\", subword 0"));
    assert_memory_equal(td_tensor_data(back), data, (size_t)LARGE_WORDS * 16);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
    td_layout_destroy(&rows);
    td_layout_destroy(&organisation);
    unmake(&s);
    for (int i = 0; i < 8; i++)
        td_memory_destroy(&macro[i]);
}

static void calls_that_are_refused(void **state)
{
    (void)state;
    sram s;
    td_memory *out = NULL;
    td_code *other = NULL;
    td_code_result result;
    td_faults *faults = NULL;
    make(&s, "39_32", 32, 16, NULL);
    ASSERT_OK(td_code_create("22_16", 32, &other));
    ASSERT_REFUSED(td_memory_coded("wbuf", NULL, s.raw, NULL, &out), TD_ARGUMENT,
                   "memory_coded \"wbuf\": the code is NULL; pass one");
    ASSERT_REFUSED(td_memory_coded("wbuf", s.code, NULL, NULL, &out), TD_ARGUMENT,
                   "memory_coded \"wbuf\": the memory of the coded words is NULL; pass one");
    ASSERT_REFUSED(td_memory_coded(NULL, s.code, s.raw, NULL, NULL), TD_ARGUMENT,
                   "memory_coded \"memory\": the output is NULL; pass one");
    ASSERT_REFUSED(td_memory_coded("wbuf", other, s.raw, NULL, &out), TD_ARGUMENT,
                   "memory_coded \"wbuf\": memory \"raw\" has words of 39 bits, and the code \"22_16 subword=16 "
                   "place=interleaved\" makes 44 bits "
                   "of 32; pass a memory of 44 bits, or a code made for this one");
    ASSERT_REFUSED(td_memory_coded("wbuf", s.code, s.raw, "check=offf", &out), TD_OPTION,
                   "memory_coded \"wbuf\": unknown word \"check=offf\"; did you mean \"check=off\"? the words are "
                   "check=on and check=off");
    ASSERT_REFUSED(td_memory_coded("wbuf", s.code, s.raw, "raw", &out), TD_OPTION,
                   "memory_coded \"wbuf\": unknown word \"raw\"; the words are check=on and check=off");
    assert_null(out);
    ASSERT_REFUSED(td_memory_code_result(NULL, &result, 0), TD_ARGUMENT,
                   "memory_code_result: the memory is NULL; pass one");
    ASSERT_REFUSED(td_memory_code_result(s.memory, NULL, 0), TD_ARGUMENT,
                   "memory_code_result: the result is NULL; pass one");
    ASSERT_OK(td_memory_code_result(s.memory, NULL, 1));
    ASSERT_REFUSED(td_memory_code_result(s.raw, &result, 0), TD_ARGUMENT,
                   "memory_code_result \"raw\": the memory has no code; pass one of memory_coded");
    ASSERT_REFUSED(td_memory_inject(s.memory, "word=1", other, &faults), TD_ARGUMENT,
                   "memory_inject \"wbuf\": the code \"22_16 subword=16 place=interleaved\" for a memory that has its "
                   "own, \"39_32 subword=32 place=above\"; pass no code, or the memory of the coded words");
    ASSERT_OK(td_memory_inject(s.memory, "word=1", s.code, &faults));
    td_faults_destroy(&faults);
    td_code_destroy(&other);
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_compute_the_code),
        cmocka_unit_test(reads_correct_and_count),
        cmocka_unit_test(all_single_and_double_errors),
        cmocka_unit_test(what_cannot_be_corrected_is_refused),
        cmocka_unit_test(codes_of_other_kinds_refuse),
        cmocka_unit_test(words_as_they_stand),
        cmocka_unit_test(a_code_over_macros),
        cmocka_unit_test(macros_with_codes),
        cmocka_unit_test(rows_between_are_not_looked_at),
        cmocka_unit_test(large_calls),
        cmocka_unit_test(calls_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
