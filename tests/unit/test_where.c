/* Where elements and bits lie: the answer in runs and in text, and the text of every refusal. tests/prop/prop_where.c
 * and prop_over.c have the random layouts and organisations. */
#include "support.h"

#define MACROS 8

typedef struct sram {
    td_memory *macro[MACROS], *memory;
    td_layout *layout;
    td_tensor *tensor;
} sram;

static void make(sram *s, size_t count, uint64_t macro_width, uint64_t macro_depth, uint64_t width, uint64_t depth,
                 const char *pattern, const char *options)
{
    td_layout *organisation = NULL;
    *s = (sram){0};
    for (size_t i = 0; i < count; i++) {
        const char name[] = {'m', (char)('0' + i), 0};
        ASSERT_OK(td_memory_create(name, macro_width, macro_depth, &s->macro[i]));
    }
    ASSERT_OK(td_layout_create(pattern, options, NULL, &organisation));
    ASSERT_OK(td_memory_over("wbuf", width, depth, organisation, s->macro, count, &s->memory));
    td_layout_destroy(&organisation);
}

static void unmake(sram *s)
{
    td_memory_destroy(&s->memory);
    for (size_t i = 0; i < MACROS; i++)
        td_memory_destroy(&s->macro[i]);
    td_layout_destroy(&s->layout);
    td_tensor_destroy(&s->tensor);
}

static td_where_question about(sram *s)
{
    return (td_where_question){.banks = &s->memory, .bank_count = 1, .tensor = s->tensor, .layout = s->layout};
}

static void assert_where(const td_where_question *q, const char *wanted)
{
    td_where *where = NULL;
    char *text = NULL;
    ASSERT_OK(td_where_find(q, &where));
    ASSERT_OK(td_where_text(where, &text));
    assert_string_equal(text, wanted);
    td_free(text);
    td_where_destroy(&where);
}

/* 2 tiles x 2 slices, each with 4 words in a row, 8 words of 16 bits: tile t, row r, column 4 * k + p. */
static void make_chip(sram *s)
{
    make(s, 4, 32, 4, 16, 32, "(t r p) (s k) -> (t s) r (k p)", "t=2 s=2 p=4");
    ASSERT_OK(td_layout_create("r c -> r c", NULL, "8 + r", &s->layout));
    ASSERT_OK(td_tensor_create("i12", TD_SHAPE(16, 1), &s->tensor));
}

static void a_bit_is_followed_to_its_macro(void **state)
{
    (void)state;
    sram s;
    td_macro_bit at;
    make_chip(&s);
    assert_int_equal(td_memory_macros(s.memory), 4);
    assert_int_equal(td_memory_copies(s.memory), 1);
    assert_ptr_equal(td_memory_macro(s.memory, 2), s.macro[2]);
    assert_null(td_memory_macro(s.memory, 4));
    ASSERT_OK(td_memory_macro_bit(s.memory, 22, 11, 0, &at)); /* tile 1, row 1, column 2; slice 1, bit 3 */
    assert_ptr_equal(at.macro, s.macro[3]);
    assert_int_equal(at.number, 3);
    assert_int_equal(at.row, 1);
    assert_int_equal(at.column, 14);
    assert_int_equal(at.mixed, 0);

    ASSERT_OK(td_memory_macro_bit(s.macro[1], 3, 5, 0, &at)); /* a memory over nothing */
    assert_ptr_equal(at.macro, s.macro[1]);
    assert_int_equal(at.number, 0);
    assert_int_equal(at.row, 3);
    assert_int_equal(at.column, 5);
    assert_int_equal(td_memory_macros(s.macro[1]), 1);
    assert_int_equal(td_memory_copies(s.macro[1]), 1);
    assert_ptr_equal(td_memory_macro(s.macro[1], 0), s.macro[1]);
    assert_int_equal(td_memory_macros(NULL), 0);
    assert_int_equal(td_memory_copies(NULL), 0);
    assert_null(td_memory_macro(NULL, 0));

    ASSERT_REFUSED(td_memory_macro_bit(NULL, 0, 0, 0, &at), TD_ARGUMENT,
                   "memory_macro_bit: the memory is NULL; pass one");
    ASSERT_REFUSED(td_memory_macro_bit(s.memory, 0, 0, 0, NULL), TD_ARGUMENT,
                   "memory_macro_bit \"wbuf\": the output is NULL; pass one");
    ASSERT_REFUSED(td_memory_macro_bit(s.memory, 32, 3, 0, &at), TD_RANGE,
                   "memory_macro_bit \"wbuf\": bit 3 of word 0x20, and there are 0x20 words of 16 bits; pass a bit of "
                   "one of them");
    ASSERT_REFUSED(td_memory_macro_bit(s.memory, 0, 16, 0, &at), TD_RANGE,
                   "memory_macro_bit \"wbuf\": bit 16 of word 0x0, and there are 0x20 words of 16 bits; pass a bit of "
                   "one of them");
    ASSERT_REFUSED(td_memory_macro_bit(s.memory, 0x11, 2, 1, &at), TD_RANGE,
                   "memory_macro_bit \"wbuf\": copy 1 of bit 2 of word 0x11, which has fewer; pass copies from 0 on "
                   "until there are no more");
    unmake(&s);
}

static void an_element_is_found_in_all_layers(void **state)
{
    (void)state;
    sram s;
    make_chip(&s);
    td_where_question q = about(&s);
    const uint64_t at[] = {14, 0};
    q.coordinate = at;
    assert_where(&q, "element (14, 0) bits 7:0, \"wbuf\" word 0x16 bits 7:0, macro 2 \"m2\" row 1 bits 30:2 step 4\n"
                     "element (14, 0) bits 11:8, \"wbuf\" word 0x16 bits 11:8, macro 3 \"m3\" row 1 bits 14:2 step "
                     "4\n");
    td_where *where = NULL;
    td_where_run run;
    ASSERT_OK(td_where_find(&q, &where));
    assert_int_equal(td_where_count(where), 2);
    ASSERT_OK(td_where_at(where, 1, &run));
    assert_int_equal(run.kind, TD_WHERE_DATA);
    assert_int_equal(run.bits, 4);
    assert_int_equal(run.bank, 0);
    assert_ptr_equal(run.memory, s.memory);
    assert_int_equal(run.word, 0x16);
    assert_int_equal(run.bit, 8);
    assert_true(run.has_elem);
    assert_int_equal(run.elem, 14);
    assert_int_equal(run.at.rank, 2);
    assert_int_equal(run.at.dim[0], 14);
    assert_int_equal(run.elem_bit, 8);
    assert_int_equal(run.copy, 0);
    assert_ptr_equal(run.macro, s.macro[3]);
    assert_int_equal(run.number, 3);
    assert_int_equal(run.row, 1);
    assert_int_equal(run.column, 2);
    assert_int_equal(run.step, 4);
    ASSERT_REFUSED(td_where_at(where, 2, &run), TD_RANGE, "where_at: run 2 of 2; pass 0 to 1");
    ASSERT_REFUSED(td_where_at(where, 0, NULL), TD_ARGUMENT, "where_at: the output is NULL; pass one");
    ASSERT_REFUSED(td_where_at(NULL, 0, &run), TD_ARGUMENT, "where_at: the answer is NULL; pass one");
    ASSERT_REFUSED(td_where_text(where, NULL), TD_ARGUMENT, "where_text: the output is NULL; pass one");
    char *text = NULL;
    ASSERT_REFUSED(td_where_text(NULL, &text), TD_ARGUMENT, "where_text: the answer is NULL; pass one");
    td_where_destroy(&where);
    assert_int_equal(td_where_count(NULL), 0);
    td_where_destroy(&where);
    td_where_destroy(NULL);
    unmake(&s);
}

static void words_and_rows_say_what_they_hold(void **state)
{
    (void)state;
    sram s;
    make_chip(&s);
    td_where_question q = about(&s);
    q.word = 0x16;
    q.lsb = 10;
    assert_where(&q, "element (14, 0) bits 11:10, \"wbuf\" word 0x16 bits 11:10, macro 3 \"m3\" row 1 bits 14:10 step "
                     "4\n"
                     "no element, \"wbuf\" word 0x16 bits 15:12, macro 3 \"m3\" row 1 bits 30:18 step 4\n");
    q.bits = 1;
    assert_where(&q, "element (14, 0) bit 10, \"wbuf\" word 0x16 bit 10, macro 3 \"m3\" row 1 bit 10\n");
    q.tensor = NULL;
    q.layout = NULL;
    assert_where(&q, "\"wbuf\" word 0x16 bit 10, macro 3 \"m3\" row 1 bit 10\n");

    q = about(&s); /* the same from below */
    q.in_macro = 1;
    q.macro = 3;
    q.word = 1;
    q.lsb = 10;
    q.bits = 2;
    assert_where(&q, "element (14, 0) bit 10, \"wbuf\" word 0x16 bit 10, macro 3 \"m3\" row 1 bit 10\n"
                     "element (15, 0) bit 10, \"wbuf\" word 0x17 bit 10, macro 3 \"m3\" row 1 bit 11\n");

    td_where_question plain = {.banks = &s.macro[0], .bank_count = 1, .word = 2, .lsb = 3, .bits = 4};
    assert_where(&plain, "\"m0\" word 0x2 bits 6:3\n");
    unmake(&s);
}

static void spare_columns_hold_nothing(void **state)
{
    (void)state;
    sram s;
    make(&s, 2, 12, 4, 16, 4, "w (s k) -> s w k", "s=2 lsb=1 lanes=msb");
    td_where_question q = about(&s);
    q.in_macro = 1;
    q.macro = 1;
    q.word = 2;
    assert_where(&q, "nothing of \"wbuf\", macro 1 \"m1\" row 2 bit 0\n"
                     "\"wbuf\" word 0x2 bit 15, macro 1 \"m1\" row 2 bit 1\n"
                     "\"wbuf\" word 0x2 bit 14, macro 1 \"m1\" row 2 bit 2\n"
                     "\"wbuf\" word 0x2 bit 13, macro 1 \"m1\" row 2 bit 3\n"
                     "\"wbuf\" word 0x2 bit 12, macro 1 \"m1\" row 2 bit 4\n"
                     "\"wbuf\" word 0x2 bit 11, macro 1 \"m1\" row 2 bit 5\n"
                     "\"wbuf\" word 0x2 bit 10, macro 1 \"m1\" row 2 bit 6\n"
                     "\"wbuf\" word 0x2 bit 9, macro 1 \"m1\" row 2 bit 7\n"
                     "\"wbuf\" word 0x2 bit 8, macro 1 \"m1\" row 2 bit 8\n"
                     "nothing of \"wbuf\", macro 1 \"m1\" row 2 bits 11:9\n");
    q.in_macro = 0;
    assert_where(&q, "\"wbuf\" word 0x2 bits 7:0, macro 0 \"m0\" row 2 bits 1:8 step -1\n"
                     "\"wbuf\" word 0x2 bits 15:8, macro 1 \"m1\" row 2 bits 1:8 step -1\n");
    unmake(&s);
}

/* Copies of the organisation, copies of the layout, and arrays that lie over others. */
static void copies_and_layers_are_all_named(void **state)
{
    (void)state;
    sram s, inner[2] = {{{0}, 0, 0, 0}, {{0}, 0, 0, 0}};
    td_layout *mirror = NULL;
    td_memory *top = NULL, *arrays[2];
    make(&inner[0], 2, 8, 4, 8, 8, "(t r) k -> t r k", "t=2");
    make(&inner[1], 2, 8, 4, 8, 8, "(t r) k -> t r k", "t=2");
    arrays[0] = inner[0].memory;
    arrays[1] = inner[1].memory;
    ASSERT_OK(td_layout_create("w k -> m w k", "m=2", NULL, &mirror));
    ASSERT_OK(td_memory_over("safe", 8, 8, mirror, arrays, 2, &top));
    assert_int_equal(td_memory_macros(top), 4);
    assert_int_equal(td_memory_copies(top), 2);
    assert_ptr_equal(td_memory_macro(top, 3), inner[1].macro[1]);
    td_where_question q = {.banks = &top, .bank_count = 1, .word = 5};
    assert_where(&q, "\"safe\" word 0x5 bits 7:0, macro 1 \"m1\" row 1 bits 7:0\n"
                     "\"safe\" word 0x5 bits 7:0, macro 3 \"m1\" row 1 bits 7:0\n");
    q.in_macro = 1;
    q.macro = 3;
    q.word = 1;
    q.bits = 4;
    assert_where(&q, "\"safe\" word 0x5 bits 3:0, macro 3 \"m1\" row 1 bits 3:0\n");
    td_memory_destroy(&top);
    td_layout_destroy(&mirror);
    unmake(&inner[0]);
    unmake(&inner[1]);

    make(&s, 1, 16, 8, 16, 8, "w k -> 1 w k", "");
    ASSERT_OK(td_layout_create("r c -> (r again) c", "again=2", NULL, &s.layout));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(4, 2), &s.tensor));
    const uint64_t at[] = {1, 1};
    td_where_question twice = about(&s);
    twice.coordinate = at;
    assert_where(&twice, "element (1, 1) bits 7:0, \"wbuf\" word 0x2 bits 15:8, macro 0 \"m0\" row 2 bits 15:8\n"
                         "element (1, 1) bits 7:0, \"wbuf\" word 0x3 bits 15:8, macro 0 \"m0\" row 3 bits 15:8\n");
    unmake(&s);
}

/* A code between the words and their macros: check bits are named as such. */
static void coded_words_have_check_bits(void **state)
{
    (void)state;
    sram s;
    td_code *code = NULL;
    td_memory *data = NULL;
    make(&s, 2, 11, 4, 22, 4, "w (s k) -> s w k", "s=2");
    ASSERT_OK(td_code_create("22_16", 16, &code));
    ASSERT_OK(td_memory_coded("safe", code, s.memory, NULL, &data));
    td_where_question q = {.banks = &data, .bank_count = 1, .word = 2, .lsb = 8};
    assert_int_equal(td_memory_macros(data), 2);
    assert_ptr_equal(td_memory_macro(data, 1), s.macro[1]);
    assert_where(&q, "\"safe\" word 0x2 bits 10:8, macro 0 \"m0\" row 2 bits 10:8\n"
                     "\"safe\" word 0x2 bits 15:11, macro 1 \"m1\" row 2 bits 4:0\n");
    q.in_macro = 1;
    q.macro = 1;
    q.lsb = 3;
    assert_where(&q, "\"safe\" word 0x2 bits 15:14, macro 1 \"m1\" row 2 bits 4:3\n"
                     "check of \"safe\" word 0x2 coded bits 21:16, macro 1 \"m1\" row 2 bits 10:5\n");
    td_memory_destroy(&data);
    td_code_destroy(&code);
    unmake(&s);
}

static void banks_and_flat_elements(void **state)
{
    (void)state;
    td_memory *bank[2] = {NULL, NULL};
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    const uint64_t at[] = {3, 1};
    ASSERT_OK(td_memory_create("even", 16, 4, &bank[0]));
    ASSERT_OK(td_memory_create("odd", 16, 4, &bank[1]));
    ASSERT_OK(td_layout_create("(r b) c -> b r c", "b=2", NULL, &layout));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(8, 2), &tensor));
    td_where_question q = {
        .banks = bank, .bank_count = 2, .tensor = tensor, .layout = layout, .as = "i8 scale=0.5", .coordinate = at};
    assert_where(&q, "element (3, 1) bits 7:0, \"odd\" word 0x1 bits 15:8\n");
    q.coordinate = NULL;
    q.bank = 1;
    q.word = 1;
    assert_where(&q, "element (3, 0) bits 7:0, \"odd\" word 0x1 bits 7:0\n"
                     "element (3, 1) bits 7:0, \"odd\" word 0x1 bits 15:8\n");
    q.bank = 2;
    td_where *where = NULL;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE, "where \"even\": bank 2 of 2; pass 0 to 1");
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);

    ASSERT_OK(td_layout_create("... -> (...)", "lsb=4", "1", &layout));
    ASSERT_OK(td_tensor_create("u12", TD_SHAPE(3), &tensor));
    q = (td_where_question){.banks = bank, .bank_count = 1, .tensor = tensor, .layout = layout, .word = 2};
    assert_where(&q, "element (1) bits 11:0, \"even\" word 0x2 bits 11:0\n"
                     "element (2) bits 3:0, \"even\" word 0x2 bits 15:12\n");
    q.coordinate = (const uint64_t[]){2};
    assert_where(&q, "element (2) bits 3:0, \"even\" word 0x2 bits 15:12\n"
                     "element (2) bits 11:4, \"even\" word 0x3 bits 7:0\n");
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&bank[0]);
    td_memory_destroy(&bank[1]);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    sram s;
    td_where *where = NULL;
    make_chip(&s);
    const td_where_question good = about(&s);
    td_where_question q = good;
    ASSERT_REFUSED(td_where_find(NULL, &where), TD_ARGUMENT, "where: the question is NULL; pass one");
    ASSERT_REFUSED(td_where_find(&q, NULL), TD_ARGUMENT, "where: the output is NULL; pass one");
    q.banks = NULL;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_ARGUMENT, "where: no memory; pass at least one");
    q = good;
    q.word = 0x20;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE,
                   "where \"wbuf\": word 0x20 of 0x20 in \"wbuf\"; pass 0 to 0x1f");
    q.word = 0;
    q.lsb = 12;
    q.bits = 8;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE,
                   "where \"wbuf\": 8 bits from bit 12 on, of words of 16 bits in \"wbuf\"; pass bits below 16");
    q.lsb = 16;
    q.bits = 0;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE,
                   "where \"wbuf\": 1 bit from bit 16 on, of words of 16 bits in \"wbuf\"; pass bits below 16");
    q.in_macro = 1;
    q.macro = 4;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE, "where \"wbuf\": macro 4 of 4; pass 0 to 3");
    q.macro = 1;
    q.word = 9;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE, "where \"wbuf\": row 9 of 4 in \"m1\"; pass 0 to 3");
    q = good;
    q.tensor = NULL;
    q.coordinate = (const uint64_t[]){0, 0};
    ASSERT_REFUSED(td_where_find(&q, &where), TD_ARGUMENT,
                   "where \"wbuf\": a coordinate of no tensor; pass the tensor and its layout");
    q = good;
    q.layout = NULL;
    ASSERT_REFUSED(td_where_find(&q, &where), TD_ARGUMENT,
                   "where \"wbuf\": a tensor without a layout; pass the layout that it lies by");
    q = good;
    q.coordinate = (const uint64_t[]){16, 0};
    ASSERT_REFUSED(td_where_find(&q, &where), TD_RANGE,
                   "where \"wbuf\": coordinate 16 in dimension 0, which has a length of 16; pass 0 to 15");
    q = good;
    q.as = "i7";
    q.coordinate = (const uint64_t[]){0, 0};
    ASSERT_OK(td_where_find(&q, &where));
    td_where_destroy(&where);
    q.as = "i99";
    assert_int_equal(td_where_find(&q, &where), TD_DTYPE);
    assert_null(where);

    td_layout *windows = NULL, *typed = NULL;
    td_tensor *long_one = NULL;
    ASSERT_OK(td_layout_create("(3*h + k) -> h k", "k=1 h=2 tail=clip", NULL, &windows));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(6), &long_one));
    q = (td_where_question){.banks = &s.memory, .bank_count = 1, .tensor = long_one, .layout = windows};
    q.coordinate = (const uint64_t[]){1};
    ASSERT_REFUSED(
        td_where_find(&q, &where), TD_RANGE,
        "where \"wbuf\": the layout puts this element into no word; pass the coordinate of one that it moves");
    ASSERT_OK(td_layout_create("h -> h 1", "dtype=i8", NULL, &typed));
    q.layout = typed;
    ASSERT_REFUSED(
        td_where_find(&q, &where), TD_DTYPE,
        "where \"wbuf\": the memory would hold u8, the layout moves i8; pass as=\"i8\", or drop dtype=i8 from the "
        "layout");
    assert_null(where);
    td_layout_destroy(&windows);
    td_layout_destroy(&typed);
    td_tensor_destroy(&long_one);
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_is_followed_to_its_macro),    cmocka_unit_test(an_element_is_found_in_all_layers),
        cmocka_unit_test(words_and_rows_say_what_they_hold), cmocka_unit_test(spare_columns_hold_nothing),
        cmocka_unit_test(copies_and_layers_are_all_named),   cmocka_unit_test(coded_words_have_check_bits),
        cmocka_unit_test(banks_and_flat_elements),           cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
