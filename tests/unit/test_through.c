/* Memories whose words go through a user's codec: what is stored, that a codec which refuses has changed nothing in any
 * layer, orders of words, codecs in libraries, and the text of every refusal. */
#include "support.h"

#include <stdbool.h>

#define REFUSED 0xbadu /* no word that is stored has this in its low bits */

/* A scrambler of words of up to 64 bits: adds the address, and keeps spare bits of the word below set. */
typedef struct key {
    uint64_t value;
    bool refuses_decode, spills;
} key;

static int encode(void *context, const td_codec_run *run, const void *words, void *stored)
{
    const key *k = context;
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t value = 0;
        memcpy(&value, (const unsigned char *)words + i * run->word_bytes, run->word_bytes);
        if ((value & 0xfff) == REFUSED)
            return 7;
        value ^= k->value ^ (run->first + i);
        const uint64_t word = run->word_bits < 64 ? ((uint64_t)1 << run->word_bits) - 1 : ~(uint64_t)0;
        const uint64_t all = run->stored_bits < 64 ? ((uint64_t)1 << run->stored_bits) - 1 : ~(uint64_t)0;
        value = (value & word) | (all & ~word);
        if (k->spills)
            value |= (uint64_t)1 << run->stored_bits;
        memcpy((unsigned char *)stored + i * run->stored_bytes, &value, run->stored_bytes);
    }
    return 0;
}

static int decode(void *context, const td_codec_run *run, const void *stored, void *words)
{
    const key *k = context;
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t value = 0;
        memcpy(&value, (const unsigned char *)stored + i * run->stored_bytes, run->stored_bytes);
        value ^= k->value ^ (run->first + i);
        if (run->word_bits < 64)
            value &= ((uint64_t)1 << run->word_bits) - 1;
        memcpy((unsigned char *)words + i * run->word_bytes, &value, run->word_bytes);
    }
    return k->refuses_decode ? -3 : 0;
}

static uint64_t mixed(void *context, uint64_t word, uint64_t depth)
{
    (void)context;
    return (word * 5 + 3) % depth;
}

static key secret = {.value = 0x5a5a5a5a5a5a5a5a};

static td_codec scrambler(void)
{
    secret.refuses_decode = secret.spills = false;
    return (td_codec){
        .version = TD_CODEC_VERSION, .name = "prince", .encode = encode, .decode = decode, .context = &secret};
}

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

static void words_are_stored_as_the_codec_says(void **state)
{
    (void)state;
    td_memory *below = NULL, *memory = NULL;
    td_codec codec = scrambler();
    codec.word_bits = 32;
    ASSERT_OK(td_memory_create("below", 36, 16, &below)); /* four spare bits */
    ASSERT_OK(td_memory_through("wbuf", &codec, below, &memory));
    assert_int_equal(td_memory_width_bits(memory), 32);
    assert_null(td_memory_data(memory));
    set_word(memory, 3, 0x11223344);
    assert_true(word(below, 3) == (0xf00000000u | (0x11223344 ^ 0x5a5a5a5a ^ 3)));
    assert_int_equal(word(memory, 3), 0x11223344);
    const uint64_t address = 3;
    const uint32_t value = 0xffffffff, mask = 0x0000ff00;
    ASSERT_OK(td_backdoor_write(memory, &address, 1, &value, &mask));
    assert_int_equal(word(memory, 3), 0x1122ff44);
    ASSERT_OK(td_memory_fill(memory, "address", 0, 16));
    for (uint64_t w = 0; w < 16; w++)
        assert_int_equal(word(below, w) & 0xffffffff, 0x5a5a5a5a);
    td_memory_destroy(&memory);
    codec.place = mixed;
    ASSERT_OK(td_memory_through("wbuf", &codec, below, &memory));
    for (uint64_t w = 0; w < 16; w++)
        set_word(memory, w, 100 + w);
    for (uint64_t w = 0; w < 16; w++) {
        assert_int_equal(word(memory, w), 100 + w);
        assert_int_equal(word(below, (5 * w + 3) % 16) & 0xffffffff, (100 + w) ^ w ^ 0x5a5a5a5a);
    }
    td_memory_destroy(&memory);
    td_memory_destroy(&below);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

typedef struct layers {
    td_memory *bottom[2], *through[2], *top, *plain;
    td_code *code;
    td_layout *slices, *rows;
    td_tensor *good, *bad;
} layers;

/* A code over slices, of which one goes through a codec and the other is a memory of the library; beside it a bank
 * that is one, too. */
static void make(layers *l)
{
    td_codec codec = scrambler();
    td_memory *sliced = NULL;
    *l = (layers){0};
    ASSERT_OK(td_memory_create("b0", 20, 8, &l->bottom[0]));
    ASSERT_OK(td_memory_create("b1", 20, 8, &l->bottom[1]));
    ASSERT_OK(td_memory_through("t0", &codec, l->bottom[0], &l->through[0]));
    ASSERT_OK(td_layout_create("w (s k) -> s w k", "s=2", NULL, &l->slices));
    td_memory *const arrays[2] = {l->through[0], l->bottom[1]};
    ASSERT_OK(td_memory_over("sliced", 40, 8, l->slices, arrays, 2, &sliced));
    l->through[1] = sliced;
    ASSERT_OK(td_code_create("parity width=4 place=above", 32, &l->code));
    ASSERT_OK(td_memory_coded("top", l->code, sliced, NULL, &l->top));
    ASSERT_OK(td_memory_create("plain", 32, 8, &l->plain));
    ASSERT_OK(td_memory_fill(l->top, "address", 0, 8));
    ASSERT_OK(td_memory_fill(l->plain, "one", 0, 8));
    ASSERT_OK(td_layout_create("b w -> b w 1", NULL, NULL, &l->rows));
    ASSERT_OK(td_tensor_create("u32", TD_SHAPE(2, 8), &l->good));
    ASSERT_OK(td_tensor_create("u32", TD_SHAPE(2, 8), &l->bad));
    ASSERT_OK(td_tensor_fill_ramp(l->good, 1000, 1));
    ASSERT_OK(td_tensor_fill_ramp(l->bad, 1000, 1));
    ((uint32_t *)td_tensor_data(l->bad))[13] = REFUSED;
}

static void unmake(layers *l)
{
    td_memory_destroy(&l->top);
    td_memory_destroy(&l->through[1]);
    td_memory_destroy(&l->through[0]);
    td_memory_destroy(&l->bottom[0]);
    td_memory_destroy(&l->bottom[1]);
    td_memory_destroy(&l->plain);
    td_code_destroy(&l->code);
    td_layout_destroy(&l->slices);
    td_layout_destroy(&l->rows);
    td_tensor_destroy(&l->good);
    td_tensor_destroy(&l->bad);
}

static void check_untouched(layers *l)
{
    for (uint64_t w = 0; w < 8; w++) {
        assert_int_equal(word(l->top, w), w);
        assert_int_equal(word(l->plain, w), 0xffffffff);
        assert_int_equal(word(l->bottom[0], w), 0xa5a5a);
    }
}

static void a_refusal_changes_no_layer(void **state)
{
    (void)state;
    layers l;
    make(&l);
    const uint64_t addresses[4] = {0, 1, 5, 6};
    const uint32_t words[4] = {9, 9, REFUSED, 9}, mask[4] = {0xfff, 0xfff, 0xfff, 0xfff};
    const unsigned char bytes[4] = {3, 3, 3, 3};
    ASSERT_REFUSED(
        td_backdoor_write(l.top, addresses, 4, words, NULL), TD_ARGUMENT,
        "backdoor_write \"top\": the codec \"prince\" of \"t0\" returned 7 when it was to encode words 0x5 to "
        "0x6; pass words that it takes, or change the codec");
    check_untouched(&l);
    assert_int_equal(td_backdoor_write(l.top, addresses, 4, words, mask), TD_ARGUMENT);
    check_untouched(&l);
    ASSERT_REFUSED(
        td_backdoor_write_bytes(l.top, addresses, 4, words, bytes), TD_ARGUMENT,
        "backdoor_write_bytes \"top\": the codec \"prince\" of \"t0\" returned 7 when it was to encode words "
        "0x5 to 0x6; pass words that it takes, or change the codec");
    check_untouched(&l);
    ASSERT_REFUSED(td_memory_fill(l.top, "constant=0xbad", 2, 3), TD_ARGUMENT,
                   "memory_fill \"top\": the codec \"prince\" of \"t0\" returned 7 when it was to encode words 0x2 to "
                   "0x4; pass words that it takes, or change the codec");
    check_untouched(&l);
    write_file("bad.hex", "@2 7 @4 bad\n", 12);
    ASSERT_REFUSED(
        td_memory_load_file(l.top, "bad.hex"), TD_ARGUMENT,
        "memory_load_file \"bad.hex\": the codec \"prince\" of \"t0\" returned 7 when it was to encode words "
        "0x4 to 0x4; pass words that it takes, or change the codec");
    check_untouched(&l);
    td_memory *const banks[2] = {l.plain, l.top};
    ASSERT_REFUSED(
        td_backdoor_load_tensor_banks(banks, 2, l.bad, l.rows, NULL), TD_ARGUMENT,
        "backdoor_load_tensor \"plain\": the codec \"prince\" of \"t0\" returned 7 when it was to encode words "
        "0x0 to 0x7; pass words that it takes, or change the codec");
    check_untouched(&l);
    ASSERT_OK(td_backdoor_load_tensor_banks(banks, 2, l.good, l.rows, NULL));
    assert_int_equal(word(l.top, 5), 1013);
    assert_int_equal(word(l.plain, 5), 1005);
    unmake(&l);
}

static void other_calls_that_are_refused(void **state)
{
    (void)state;
    td_memory *below = NULL, *memory = NULL, *data = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    td_code_result result = {.words = 99};
    td_codec codec = scrambler();
    ASSERT_OK(td_memory_create("below", 39, 4, &below));
    ASSERT_OK(td_memory_create("data", 32, 4, &data));
    ASSERT_OK(td_memory_through("wbuf", &codec, below, &memory));
    ASSERT_OK(td_memory_clear(memory));
    ASSERT_OK(td_code_create("39_32", 32, &code));
    set_word(data, 2, REFUSED);
    ASSERT_REFUSED(
        td_code_encode(code, data, 0, 4, memory), TD_ARGUMENT,
        "code_encode: the codec \"prince\" of \"wbuf\" returned 7 when it was to encode words 0x0 to 0x3; pass "
        "words that it takes, or change the codec");
    assert_int_equal(word(memory, 2), 0);
    set_word(memory, 1, REFUSED ^ 1);
    ASSERT_REFUSED(
        td_memory_inject(memory, "word=1 bit=0", NULL, &faults), TD_ARGUMENT,
        "memory_inject \"wbuf\": the codec \"prince\" of \"wbuf\" returned 7 when it was to encode words 0x1 to "
        "0x1; pass words that it takes, or change the codec");
    assert_null(faults);
    assert_int_equal(word(memory, 1), REFUSED ^ 1);
    ASSERT_OK(td_memory_inject(memory, "word=1 bit=1", NULL, &faults));
    ASSERT_OK(td_memory_undo(memory, &faults, NULL));
    assert_int_equal(word(memory, 1), REFUSED ^ 1);

    secret.spills = true;
    uint64_t address = 2, value = 5;
    ASSERT_REFUSED(
        td_backdoor_write(memory, &address, 1, &value, NULL), TD_RANGE,
        "backdoor_write \"wbuf\": the codec \"prince\" of \"wbuf\" gave word 0x2 with 0x1 above the width of 39 "
        "bits; let it clear the bits from 39 up");
    secret.spills = false;
    secret.refuses_decode = true;
    ASSERT_REFUSED(
        td_backdoor_read(memory, &address, 1, &value), TD_ARGUMENT,
        "backdoor_read \"wbuf\": the codec \"prince\" of \"wbuf\" returned -3 when it was to decode words 0x2 to "
        "0x2; pass words that it takes, or change the codec");
    ASSERT_REFUSED(
        td_code_check(code, memory, 0, 4, NULL, &result), TD_ARGUMENT,
        "code_check: the codec \"prince\" of \"wbuf\" returned -3 when it was to decode words 0x0 to 0x3; pass "
        "words that it takes, or change the codec");
    assert_int_equal(result.words, 99);
    ASSERT_OK(td_memory_fill(memory, "zero", 0, 4)); /* whole words need no decoding */
    td_memory_destroy(&memory);
    td_memory_destroy(&below);
    td_memory_destroy(&data);
    td_code_destroy(&code);
}

static uint64_t outside(void *context, uint64_t word_at, uint64_t depth)
{
    (void)context;
    return word_at == 2 ? depth : word_at;
}

static uint64_t taken(void *context, uint64_t word_at, uint64_t depth)
{
    (void)context;
    (void)depth;
    return word_at / 2;
}

static void codecs_that_are_refused(void **state)
{
    (void)state;
    td_memory *below = NULL, *huge = NULL, *out = NULL;
    td_codec codec = scrambler();
    ASSERT_OK(td_memory_create("below", 39, 4, &below));
    ASSERT_OK(td_memory_create("huge", 8, (uint64_t)1 << 33, &huge));
    ASSERT_REFUSED(td_memory_through("wbuf", NULL, below, &out), TD_ARGUMENT,
                   "memory_through \"wbuf\": the codec is NULL; pass one");
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, NULL, &out), TD_ARGUMENT,
                   "memory_through \"wbuf\": the memory below is NULL; pass one");
    ASSERT_REFUSED(td_memory_through("", &codec, below, NULL), TD_ARGUMENT,
                   "memory_through \"memory\": the output is NULL; pass one");
    codec.version = 9;
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, below, &out), TD_ARGUMENT,
                   "memory_through \"wbuf\": a codec of version 9, and the library has version 1; set .version = "
                   "TD_CODEC_VERSION and build it with this library's header");
    codec = scrambler();
    codec.decode = NULL;
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, below, &out), TD_ARGUMENT,
                   "memory_through \"wbuf\": the codec \"prince\" has no decode; set both functions");
    codec.encode = NULL;
    codec.name = NULL;
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, below, &out), TD_ARGUMENT,
                   "memory_through \"wbuf\": the codec \"codec\" has no encode; set both functions");
    codec = scrambler();
    codec.place = outside;
    ASSERT_REFUSED(
        td_memory_through("wbuf", &codec, below, &out), TD_RANGE,
        "memory_through \"wbuf\": the codec \"prince\" puts word 0x2 at 0x4, past the memory of 4 words; let "
        "it stay below its third argument");
    codec.place = taken;
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, below, &out), TD_ALIAS,
                   "memory_through \"wbuf\": the codec \"prince\" puts word 0x1 at 0x0, where word 0x0 is; let it "
                   "give every word a place of its own");
    ASSERT_REFUSED(td_memory_through("wbuf", &codec, huge, &out), TD_RANGE,
                   "memory_through \"wbuf\": a memory of 8589934592 words, and the codec \"prince\" has an order of "
                   "words; such a memory has up to 4294967296 words");
    codec.place = NULL;
    codec.word_bits = (uint64_t)1 << 40;
    assert_int_equal(td_memory_through("wbuf", &codec, below, &out), TD_ARGUMENT);
    assert_null(out);
    td_memory_destroy(&below);
    td_memory_destroy(&huge);
}

static void codecs_of_libraries(void **state)
{
    (void)state;
    char path[600], want[1400];
    const char *module = getenv("TD_TEST_CODECS");
    const td_codec *codec = NULL;
    td_memory *below = NULL, *memory = NULL;
    assert_non_null(module);
    snprintf(path, sizeof path, "%s:flipped", module);
    ASSERT_OK(td_codec_open(path, &codec));
    ASSERT_OK(td_memory_create("below", 32, 4, &below));
    ASSERT_OK(td_memory_through("wbuf", codec, below, &memory));
    set_word(memory, 2, 0x12345678);
    assert_int_equal(word(below, 2), (uint32_t)~0x12345678 ^ 2);
    td_memory_destroy(&memory);
    td_memory_destroy(&below);
    codec = NULL;
    snprintf(path, sizeof path, "%s:scrambled", module);
    snprintf(
        want, sizeof want,
        "codec_open \"%s\": the library has no symbol \"scrambled\"; define \"const td_codec scrambled = {..}\" in "
        "it, in C++ as extern \"C\"",
        path);
    ASSERT_REFUSED(td_codec_open(path, &codec), TD_FILE, want);
    snprintf(path, sizeof path, "%s:outdated", module);
    snprintf(want, sizeof want,
             "codec_open \"%s\": \"outdated\" is no codec of version 1: its first number is 77; set .version = "
             "TD_CODEC_VERSION in a td_codec, and build it with this library's header",
             path);
    ASSERT_REFUSED(td_codec_open(path, &codec), TD_FORMAT, want);
    ASSERT_REFUSED(
        td_codec_open("./nowhere.so:flipped", &codec), TD_FILE,
        "codec_open \"./nowhere.so:flipped\": the library cannot be loaded: ./nowhere.so: cannot open shared "
        "object file: No such file or directory; pass the path of a shared library, with a / in it");
    ASSERT_REFUSED(td_codec_open("./codecs.so", &codec), TD_ARGUMENT,
                   "codec_open \"./codecs.so\": no file and symbol; pass FILE:SYMBOL, as ./scrambler.so:prince");
    ASSERT_REFUSED(td_codec_open("./codecs.so:", &codec), TD_ARGUMENT,
                   "codec_open \"./codecs.so:\": no file and symbol; pass FILE:SYMBOL, as ./scrambler.so:prince");
    ASSERT_REFUSED(td_codec_open(NULL, &codec), TD_ARGUMENT, "codec_open: the path is NULL; pass one");
    ASSERT_REFUSED(td_codec_open("a:b", NULL), TD_ARGUMENT, "codec_open: the output is NULL; pass one");
    assert_null(codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_stored_as_the_codec_says),
        cmocka_unit_test_setup_teardown(a_refusal_changes_no_layer, enter_folder, leave_folder),
        cmocka_unit_test(other_calls_that_are_refused),
        cmocka_unit_test(codecs_that_are_refused),
        cmocka_unit_test(codecs_of_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
