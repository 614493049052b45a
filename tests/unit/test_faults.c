/* Wrong bits on purpose: which bits a text flips, what a code sees of them, that they are taken back, and that a
 * coordinate hits its own element and nothing else. */
#include "support.h"

#include <stdbool.h>

static size_t count_ones(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    size_t ones = 0;
    for (size_t i = 0; i < bytes; i++)
        ones += (size_t)__builtin_popcount((unsigned)(a[i] ^ b[i]));
    return ones;
}

/* The record says exactly what differs from `before`. */
static void check_record(td_memory *memory, const td_faults *faults, const unsigned char *before)
{
    const size_t bytes = td_memory_word_bytes(memory), all = (size_t)td_memory_depth_words(memory) * bytes;
    const unsigned char *data = td_memory_data(memory);
    assert_int_equal(count_ones(data, before, all), td_faults_count(faults));
    for (size_t i = 0; i < td_faults_count(faults); i++) {
        const td_fault fault = td_faults_at(faults, i);
        const size_t at = (size_t)fault.word * bytes + (size_t)fault.bit / 8;
        assert_true(fault.bit < td_memory_width_bits(memory));
        assert_int_equal((data[at] ^ before[at]) >> fault.bit % 8 & 1, 1);
        assert_true(i == 0 || td_faults_at(faults, i - 1).word <= fault.word);
    }
}

static void given_bits_flip_and_come_back(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_faults *faults = NULL;
    uint64_t left = 9;
    ASSERT_OK(td_memory_create("m", 70, 10, &memory));
    ASSERT_OK(td_memory_inject(memory, "word=3 bit=69,0", NULL, &faults));
    const unsigned char *data = td_memory_data(memory);
    assert_int_equal(data[3 * 12], 1);
    assert_int_equal(data[3 * 12 + 8], 0x20);
    assert_int_equal(td_faults_count(faults), 2);
    assert_int_equal(td_faults_at(faults, 0).bit, 69);
    assert_int_equal(td_faults_at(faults, 1).bit, 0);
    assert_int_equal(td_faults_at(faults, 2).word, 0);
    ASSERT_OK(td_memory_undo(memory, &faults, &left));
    assert_null(faults);
    assert_int_equal(left, 0);
    for (size_t i = 0; i < 120; i++)
        assert_int_equal(data[i], 0);
    td_memory_destroy(&memory);
}

static void written_words_are_left(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_faults *faults = NULL;
    uint64_t left = 0;
    ASSERT_OK(td_memory_create("m", 32, 100, &memory));
    ASSERT_OK(td_memory_fill(memory, "address", 0, 100));
    ASSERT_OK(td_memory_inject(memory, "words=100 bits=3", NULL, &faults));
    ASSERT_OK(td_memory_fill(memory, "constant=0x12345678", 40, 2)); /* the design writes */
    ASSERT_OK(td_memory_undo(memory, &faults, &left));
    assert_int_equal(left, 2);
    const uint32_t *data = td_memory_data(memory);
    for (uint32_t w = 0; w < 100; w++)
        assert_int_equal(data[w], w == 40 || w == 41 ? 0x12345678 : w);
    td_memory_destroy(&memory);
}

static void random_bits_follow_the_text(void **state)
{
    (void)state;
    static unsigned char before[1000 * 12];
    td_memory *memory = NULL;
    td_faults *first = NULL, *second = NULL;
    ASSERT_OK(td_memory_create("m", 72, 1000, &memory));
    ASSERT_OK(td_memory_fill(memory, "random", 0, 1000));
    memcpy(before, td_memory_data(memory), sizeof before);
    for (unsigned seed = 0; seed < 20; seed++) {
        char text[80];
        snprintf(text, sizeof text, "words=%u bits=%u first=100 count=300 seed=%u", 1 + seed * 15, 1 + seed % 5, seed);
        ASSERT_OK(td_memory_inject(memory, text, NULL, &first));
        assert_int_equal(td_faults_count(first), (size_t)(1 + seed * 15) * (1 + seed % 5));
        check_record(memory, first, before);
        for (size_t i = 0; i < td_faults_count(first); i++) {
            const td_fault fault = td_faults_at(first, i);
            assert_true(fault.word >= 100 && fault.word < 400);
            if (i % (1 + seed % 5))
                assert_int_equal(fault.word, td_faults_at(first, i - 1).word);
            else if (i)
                assert_true(fault.word > td_faults_at(first, i - 1).word);
        }
        ASSERT_OK(td_memory_inject(memory, text, NULL, &second)); /* the same again: all of it flips back */
        assert_memory_equal(td_memory_data(memory), before, sizeof before);
        td_faults_destroy(&first);
        td_faults_destroy(&second);
    }
    ASSERT_OK(td_memory_inject(memory, "words=300 first=700", NULL, &first)); /* every one of them */
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(td_faults_at(first, i).word, 700 + i);
    td_faults_destroy(&first);
    td_memory_destroy(&memory);
}

static void codes_see_what_was_injected(void **state)
{
    (void)state;
    td_memory *data = NULL, *coded = NULL, *back = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    td_code_result result;
    ASSERT_OK(td_code_create("39_32", 128, &code));
    ASSERT_OK(td_memory_create("data", 128, 500, &data));
    ASSERT_OK(td_memory_create("back", 128, 500, &back));
    ASSERT_OK(td_memory_create("coded", 156, 500, &coded));
    ASSERT_OK(td_memory_fill(data, "random", 0, 500));
    ASSERT_OK(td_code_encode(code, data, 0, 500, coded));
    static const struct {
        const char *text;
        unsigned corrected, uncorrectable;
        int check; /* all bits are check bits, or none; -1: either */
    } cases[] = {
        {"words=50 bits=1 seed=1", 50, 0, -1},         {"words=50 bits=2 seed=2", 0, 50, -1},
        {"words=50 in=check seed=3", 50, 0, 1},        {"words=50 in=data seed=4", 50, 0, 0},
        {"words=50 bits=2 in=check seed=5", 0, 50, 1}, {"words=9 subword=3 seed=6", 9, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_OK(td_memory_inject(coded, cases[i].text, code, &faults));
        ASSERT_OK(td_code_check(code, coded, 0, 500, back, &result));
        assert_int_equal(result.corrected, cases[i].corrected);
        assert_int_equal(result.uncorrectable, cases[i].uncorrectable);
        if (!cases[i].uncorrectable)
            assert_memory_equal(td_memory_data(back), td_memory_data(data), 500 * 16);
        for (size_t f = 0; f < td_faults_count(faults); f++) {
            const td_code_bit bit = td_code_locate(code, td_faults_at(faults, f).bit);
            assert_true(cases[i].check < 0 || bit.is_check == cases[i].check);
            assert_true(i != 5 || bit.subword == 3);
        }
        ASSERT_OK(td_memory_undo(coded, &faults, NULL));
    }
    ASSERT_OK(td_memory_inject(coded, "word=7 bits=100 subword=any", code, &faults));
    assert_int_equal(td_faults_count(faults), 100);
    ASSERT_OK(td_memory_undo(coded, &faults, NULL));
    ASSERT_OK(td_code_check(code, coded, 0, 500, NULL, &result));
    assert_int_equal(result.kept, 0);
    td_code_destroy(&code);
    td_memory_destroy(&data);
    td_memory_destroy(&back);
    td_memory_destroy(&coded);
}

/* A coded memory that lies over four macros: two tiles by depth, two slices of 39 bits. */
static void macros_are_reached(void **state)
{
    (void)state;
    td_memory *macro[4] = {NULL}, *data = NULL, *back = NULL, *coded = NULL;
    td_layout *organisation = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    td_code_result result;
    for (int i = 0; i < 4; i++)
        ASSERT_OK(td_memory_create("macro", 39, 50, &macro[i]));
    ASSERT_OK(td_layout_create("(t r) (s k) -> (t s) r k", "t=2 s=2", "", &organisation));
    ASSERT_OK(td_memory_over("coded", 78, 100, organisation, macro, 4, &coded));
    ASSERT_OK(td_memory_create("data", 64, 100, &data));
    ASSERT_OK(td_memory_create("back", 64, 100, &back));
    ASSERT_OK(td_memory_fill(data, "random seed=2", 0, 100));
    ASSERT_OK(td_code_create("39_32", 64, &code));
    ASSERT_OK(td_code_encode(code, data, 0, 100, coded));
    uint64_t word = 0;
    memcpy(&word, (const unsigned char *)td_memory_data(macro[3]) + 8 * 7, 8); /* subword 1 of word 57 */
    ASSERT_OK(td_memory_inject(coded, "word=57 bit=40", code, &faults));
    const uint64_t *macro_words = td_memory_data(macro[3]);
    assert_int_equal(macro_words[7] ^ word, 2);
    ASSERT_OK(td_code_check(code, coded, 0, 100, back, &result));
    assert_int_equal(result.corrected, 1);
    assert_int_equal(result.error[0].bit, 40);
    assert_memory_equal(td_memory_data(back), td_memory_data(data), 800);
    ASSERT_OK(td_memory_undo(coded, &faults, NULL));
    assert_int_equal(macro_words[7] ^ word, 0);
    td_code_destroy(&code);
    td_memory_destroy(&coded);
    for (int i = 0; i < 4; i++)
        td_memory_destroy(&macro[i]);
    td_memory_destroy(&data);
    td_memory_destroy(&back);
    td_layout_destroy(&organisation);
}

/* -- coordinates -- */

typedef struct place {
    const char *pattern, *options, *address, *dtype, *as;
    unsigned width, depth;
} place;

static const place places[] = {
    {"a b c -> (a b) c", "", "", "i8", NULL, 40, 64},
    {"a b c -> (c b) a", "lanes=msb", "3 + 2*index", "i12", NULL, 60, 200},
    {"a (b2 b) c -> (a c) (b2 b)", "b=2 pad=0 slot=9 lsb=3", "", "u8", NULL, 64, 64},
    {"a b c -> (b c) a", "beats=3", "", "f32", NULL, 32, 200},
    {"... -> (...)", "", "2", "i5", NULL, 32, 64},
    {"a b c -> (a b) c", "", "((a ^ b) & 3) + 8*a + 4*b", "i16", NULL, 80, 64},
    {"a b c -> (a b r) c", "r=2", "", "i8", NULL, 40, 64},
    {"a b c -> (a b) c", "", "", "f32", "i8 scale=0.5", 40, 64},
};

/* An element with wrong bits: a dump shows them in it and nowhere else. */
static void check_element(const place *p, uint64_t elem, const char *text, unsigned bits)
{
    td_tensor *tensor = NULL, *before = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    td_faults *faults = NULL;
    const char *dtype = p->as ? "i8" : p->dtype; /* what lies in memory */
    const uint64_t coordinate[3] = {elem / 15, elem / 5 % 3, elem % 5};
    const bool copies = strchr(p->pattern, 'r') != NULL;
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(3, 3, 5), &tensor));
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(3, 3, 5), &before));
    ASSERT_OK(td_tensor_fill(before, "random seed=5"));
    ASSERT_OK(td_memory_create("m", p->width, p->depth, &memory));
    ASSERT_OK(td_layout_create(p->pattern, p->options, p->address, &layout));
    ASSERT_OK(td_backdoor_load_tensor(memory, before, layout, NULL));
    td_tensor *given = before;
    if (p->as)
        ASSERT_OK(td_tensor_create(p->dtype, TD_SHAPE(3, 3, 5), &given));
    ASSERT_OK(td_backdoor_inject(memory, given, layout, p->as, coordinate, text, NULL, &faults));
    assert_int_equal(td_faults_count(faults), bits);
    if (copies) /* one copy of two is wrong */
        assert_int_equal(td_backdoor_dump_tensor(memory, tensor, layout, NULL), TD_DISAGREE);
    else {
        const size_t bytes = td_tensor_elem_bytes(tensor);
        ASSERT_OK(td_backdoor_dump_tensor(memory, tensor, layout, NULL));
        const unsigned char *a = td_tensor_data(tensor), *b = td_tensor_data(before);
        const uint64_t wide = dtype[0] == 'i' ? (uint64_t)strtoul(dtype + 1, NULL, 10) : bytes * 8;
        uint64_t x = 0, y = 0;
        memcpy(&x, a + elem * bytes, bytes);
        memcpy(&y, b + elem * bytes, bytes);
        const uint64_t own = wide < 64 ? ((uint64_t)1 << wide) - 1 : ~(uint64_t)0; /* the sign stands above as well */
        assert_int_equal(__builtin_popcountll((x ^ y) & own), bits);
        assert_memory_equal(a, b, elem * bytes);
        assert_memory_equal(a + (elem + 1) * bytes, b + (elem + 1) * bytes, (44 - elem) * bytes);
    }
    ASSERT_OK(td_memory_undo(memory, &faults, NULL));
    ASSERT_OK(td_backdoor_dump_tensor(memory, tensor, layout, NULL));
    assert_memory_equal(td_tensor_data(tensor), td_tensor_data(before), 45 * td_tensor_elem_bytes(tensor));
    if (p->as)
        td_tensor_destroy(&given);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&before);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
}

static void coordinates_hit_their_element(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (uint64_t elem = 0; elem < 45; elem++) {
            char text[40];
            snprintf(text, sizeof text, "bits=%u seed=%u", 1 + (unsigned)elem % 4, (unsigned)elem);
            check_element(&places[i], elem, text, 1 + (unsigned)elem % 4);
            check_element(&places[i], elem, "bit=4,0", 2);
        }
}

/* Data words of 64 bits with two subwords, in a coded memory. */
static void coordinates_of_coded_words(void **state)
{
    (void)state;
    td_tensor *tensor = NULL, *dumped = NULL;
    td_memory *data = NULL, *coded = NULL;
    td_layout *layout = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    td_code_result result;
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(20, 4), &tensor));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(20, 4), &dumped));
    ASSERT_OK(td_tensor_fill(tensor, "random seed=1"));
    ASSERT_OK(td_layout_create("a b -> a b", "", "", &layout));
    ASSERT_OK(td_code_create("inv_39_32 place=below", 64, &code));
    ASSERT_OK(td_memory_create("data", 64, 20, &data));
    ASSERT_OK(td_memory_create("coded", 78, 20, &coded));
    ASSERT_OK(td_backdoor_load_tensor(data, tensor, layout, NULL));
    ASSERT_OK(td_code_encode(code, data, 0, 20, coded));
    static const char *const texts[] = {"bits=2", "bits=1 in=data", "in=check", "bits=2 in=any seed=3",
                                        "bits=2 in=check"};
    for (size_t i = 0; i < 5; i++)
        for (uint64_t elem = 0; elem < 80; elem++) {
            const uint64_t coordinate[2] = {elem / 4, elem % 4};
            ASSERT_OK(td_backdoor_inject(coded, tensor, layout, NULL, coordinate, texts[i], code, &faults));
            for (size_t f = 0; f < td_faults_count(faults); f++) {
                const td_fault fault = td_faults_at(faults, f);
                const td_code_bit bit = td_code_locate(code, fault.bit);
                assert_int_equal(fault.word, elem / 4);
                assert_int_equal(bit.subword, elem % 4 / 2);
                assert_true(bit.is_check ? i >= 2 : i != 2 && i != 4 && bit.bit / 16 == elem % 4);
            }
            ASSERT_OK(td_code_check(code, coded, 0, 20, data, &result));
            assert_int_equal(result.corrected, td_faults_count(faults) == 1);
            assert_int_equal(result.uncorrectable, td_faults_count(faults) == 2);
            ASSERT_OK(td_memory_undo(coded, &faults, NULL));
        }
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&dumped);
    td_memory_destroy(&data);
    td_memory_destroy(&coded);
    td_layout_destroy(&layout);
    td_code_destroy(&code);
}

/* -- refusals -- */

#define WORDS "the words are bits=, bit=, word=, words=, first=, count=, in=, subword=, seed="
#define REFUSED(text, status, message)                                                                                 \
    ASSERT_REFUSED(td_memory_inject(memory, text, code, &faults), status, "memory_inject \"m\": " message)

static void texts_are_refused(void **state)
{
    (void)state;
    td_memory *memory = NULL, *other = NULL;
    td_code *code = NULL, *made = NULL;
    td_faults *faults = NULL;
    ASSERT_OK(td_memory_create("m", 39, 10, &memory));
    ASSERT_OK(td_memory_create("other", 39, 11, &other));
    ASSERT_REFUSED(td_memory_inject(NULL, "", NULL, &faults), TD_ARGUMENT,
                   "memory_inject: the memory is NULL; pass one");
    ASSERT_REFUSED(td_memory_inject(memory, NULL, NULL, &faults), TD_ARGUMENT,
                   "memory_inject: the text is NULL; pass one");
    ASSERT_REFUSED(td_memory_inject(memory, "", NULL, NULL), TD_ARGUMENT, "memory_inject: out is NULL; pass one");
    REFUSED("bts=1", TD_OPTION, "unknown word \"bts=1\"; did you mean \"bits=\"? " WORDS);
    REFUSED("many", TD_OPTION, "unknown word \"many\"; " WORDS);
    REFUSED("bits=1 bits=2", TD_OPTION, "bits= stands twice; keep one of them");
    REFUSED("bits=x", TD_OPTION, "bits=x is no number; pass one, decimal or 0x");
    REFUSED("bits=0", TD_OPTION, "bits=0; pass at least 1");
    REFUSED("words=65537", TD_OPTION, "words=65537; pass up to 65536 words at once");
    REFUSED("bit=1,,2", TD_OPTION, "bit=1,,2 is no list of bits; pass numbers like bit=3 or bit=0,17");
    char many[300] = "bit=0";
    for (unsigned bit = 1; bit <= 64; bit++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",%u", bit);
    REFUSED(many, TD_OPTION, "bit= has more than 64 bits; pass fewer, or bits=N");
    REFUSED("bit=1,1", TD_OPTION, "bit 1 stands twice in bit=1,1; keep one of them");
    char long_word[601];
    memset(long_word, 'b', 600);
    long_word[600] = 0;
    REFUSED(long_word, TD_OPTION, "a word of 600 letters; a word has at most 511");
    REFUSED("in=parity", TD_OPTION, "in=parity; pass in=any, in=data or in=check");
    REFUSED("bit=1 bits=2", TD_OPTION, "bit= and bits= do not go together; leave one of them out");
    REFUSED("word=1 words=2", TD_OPTION, "word= and words= do not go together; leave one of them out");
    REFUSED("word=10", TD_RANGE, "1 word from 0xa in a memory of 10 words; pass words inside it");
    REFUSED("first=9 count=2", TD_RANGE, "2 words from 0x9 in a memory of 10 words; pass words inside it");
    REFUSED("words=11", TD_RANGE, "words=11 of 10 words; pass at most so many");
    REFUSED("bit=39", TD_RANGE, "bit 39 of words of 39 bits; pass 0 to 38");
    REFUSED("bits=40", TD_RANGE, "bits=40, and 39 bits may be flipped; pass at most so many");
    REFUSED("in=data", TD_OPTION, "in= needs a code, and there is none; pass the memory's code, or leave it out");
    REFUSED("subword=0", TD_OPTION,
            "subword= needs a code, and there is none; pass the memory's code, or leave it out");
    ASSERT_OK(td_code_create("39_32", 32, &made));
    code = made;
    REFUSED("bits=8 in=check", TD_RANGE, "bits=8, and 7 bits may be flipped; pass at most so many");
    REFUSED("subword=1", TD_RANGE, "subword=1 of 1; the first is 0");
    td_code_destroy(&made);
    ASSERT_OK(td_code_create("22_16", 16, &made));
    code = made;
    REFUSED(
        "", TD_ARGUMENT,
        "words of 39 bits, and the code \"22_16 subword=16 place=above\" has 22; pass the coded memory, or a code made "
        "for this one");
    assert_null(faults);
    ASSERT_OK(td_memory_inject(memory, "", NULL, &faults));
    ASSERT_REFUSED(
        td_memory_undo(other, &faults, NULL), TD_ARGUMENT,
        "memory_undo \"other\": faults of a memory of 10 words of 39 bits in one of 11 words of 39; pass the "
        "memory that they were injected into");
    ASSERT_REFUSED(td_memory_undo(NULL, &faults, NULL), TD_ARGUMENT, "memory_undo: the memory is NULL; pass one");
    ASSERT_OK(td_memory_undo(memory, &faults, NULL));
    ASSERT_REFUSED(td_memory_undo(memory, &faults, NULL), TD_ARGUMENT, "memory_undo: the faults is NULL; pass one");
    td_code_destroy(&made);
    td_memory_destroy(&memory);
    td_memory_destroy(&other);
}

#undef REFUSED
#define REFUSED(text, code, status, message)                                                                           \
    ASSERT_REFUSED(td_backdoor_inject(memory, tensor, layout, NULL, at, text, code, &faults), status,                  \
                   "backdoor_inject \"m\": " message)

static void coordinates_are_refused(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    uint64_t at[2] = {1, 4};
    ASSERT_OK(td_memory_create("m", 64, 10, &memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(5, 4), &tensor));
    ASSERT_OK(td_layout_create("a b -> a b", "", "", &layout));
    ASSERT_REFUSED(td_backdoor_inject(NULL, tensor, layout, NULL, at, "", NULL, &faults), TD_ARGUMENT,
                   "backdoor_inject: the memory is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_inject(memory, tensor, layout, NULL, NULL, "", NULL, &faults), TD_ARGUMENT,
                   "backdoor_inject \"m\": the coordinate is NULL; pass one");
    REFUSED("", NULL, TD_RANGE, "coordinate 4 in dimension 1, which has a length of 4; pass 0 to 3");
    at[1] = 3;
    REFUSED("word=1", NULL, TD_OPTION,
            "\"word=1\" says which words, and the coordinate says it too; pass bits=, bit=, in= and seed= alone");
    REFUSED("in=data", NULL, TD_OPTION,
            "\"in=data\" needs a code, and there is none; pass the memory's code, or leave in= out");
    REFUSED("bit=16", NULL, TD_RANGE, "bit 16 of an element of 16 bits; pass 0 to 15");
    REFUSED("bits=17", NULL, TD_RANGE, "bits=17, and 16 bits may be flipped; pass at most so many");
    ASSERT_OK(td_code_create("72_64", 64, &code));
    REFUSED(
        "", code, TD_ARGUMENT,
        "words of 64 bits, and the code \"72_64 subword=64 place=above\" has 72; pass the coded memory, or a code made "
        "for this one");
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_create("(2*a + k) b -> (a k) b", "a=1 k=2 tail=clip", "", &layout));
    at[0] = 4;
    REFUSED("", NULL, TD_RANGE, "the layout puts this element into no word; pass the coordinate of one that it moves");
    assert_null(faults);
    td_code_destroy(&code);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_bits_flip_and_come_back),
        cmocka_unit_test(written_words_are_left),
        cmocka_unit_test(random_bits_follow_the_text),
        cmocka_unit_test(codes_see_what_was_injected),
        cmocka_unit_test(coordinates_hit_their_element),
        cmocka_unit_test(coordinates_of_coded_words),
        cmocka_unit_test(macros_are_reached),
        cmocka_unit_test(texts_are_refused),
        cmocka_unit_test(coordinates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
