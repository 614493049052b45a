/* Memories that lie over others: where words go, every call, and the text of every refusal. tests/prop/prop_over.c has
 * the random organisations. */
#include "backdoor/call.h"
#include "kernels/stream.h"
#include "over/joined.h"
#include "support.h"

#define ARRAYS 4

typedef struct sram {
    td_memory *array[ARRAYS], *memory;
} sram;

static void make(sram *s, size_t count, uint64_t array_width, uint64_t array_depth, uint64_t width, uint64_t depth,
                 const char *pattern, const char *options)
{
    td_layout *organisation = NULL;
    *s = (sram){0};
    for (size_t i = 0; i < count; i++) {
        const char name[] = {'m', (char)('0' + i), 0};
        ASSERT_OK(td_memory_create(name, array_width, array_depth, &s->array[i]));
    }
    ASSERT_OK(td_layout_create(pattern, options, NULL, &organisation));
    ASSERT_OK(td_memory_over("wbuf", width, depth, organisation, s->array, count, &s->memory));
    td_layout_destroy(&organisation);
}

static void unmake(sram *s)
{
    td_memory_destroy(&s->memory);
    for (size_t i = 0; i < ARRAYS; i++)
        td_memory_destroy(&s->array[i]);
}

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

static void words_go_where_the_organisation_says(void **state)
{
    (void)state;
    sram s;
    make(&s, 2, 16, 8, 16, 16, "(t r) k -> t r k", "t=2");
    set_word(s.memory, 3, 0x1234);
    set_word(s.memory, 11, 0x5678);
    assert_int_equal(word(s.array[0], 3), 0x1234);
    assert_int_equal(word(s.array[1], 3), 0x5678);
    set_word(s.array[1], 7, 0xbeef); /* the design writes */
    assert_int_equal(word(s.memory, 15), 0xbeef);
    assert_null(td_memory_data(s.memory));
    unmake(&s);

    make(&s, 4, 8, 4, 32, 4, "w (s k) -> s w k", "s=4");
    set_word(s.memory, 2, 0xa1b2c3d4);
    assert_int_equal(word(s.array[0], 2), 0xd4);
    assert_int_equal(word(s.array[3], 2), 0xa1);
    unmake(&s);

    make(&s, 1, 32, 2, 8, 8, "(r p) k -> 1 r (k p)", "p=4");
    set_word(s.memory, 1, 0x81); /* bit k of word 1 is bit 4 * k + 1 of row 0 */
    assert_int_equal(word(s.array[0], 0), 0x20000002);
    set_word(s.memory, 6, 0xff);
    assert_int_equal(word(s.array[0], 1), 0x44444444);
    unmake(&s);
}

static void a_matrix_begins_at_any_word(void **state)
{
    (void)state;
    sram s;
    td_tensor *matrix = NULL, *back = NULL, *row = NULL;
    make(&s, 2, 16, 8, 16, 16, "(t r) k -> t r k", "t=2");
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(5, 2), &matrix));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(5, 2), &back));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(2), &row));
    ASSERT_OK(td_tensor_fill_ramp(matrix, 1, 1));
    ASSERT_OK(td_tensor_fill_ramp(row, 0x77, 1));
    ASSERT_OK(td_backdoor_load_matrix(s.memory, matrix, 6, 11));
    assert_int_equal(word(s.array[0], 5), 0);
    assert_int_equal(word(s.array[0], 6), 0x0201);
    assert_int_equal(word(s.array[1], 2), 0x0a09);
    assert_int_equal(word(s.array[1], 3), 0);
    ASSERT_OK(td_backdoor_dump_matrix(s.memory, back, 6, 11));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(matrix), 10);
    ASSERT_OK(td_backdoor_load_matrix(s.memory, row, 15, 16));
    assert_int_equal(word(s.array[1], 7), 0x7877);
    td_tensor_destroy(&matrix);
    td_tensor_destroy(&back);
    td_tensor_destroy(&row);
    unmake(&s);
}

static void every_call_reaches_the_arrays(void **state)
{
    (void)state;
    sram s;
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *rows = NULL;
    td_report *report = NULL;
    td_memory *before = NULL;
    make(&s, 4, 32, 8, 32, 32, "(t r p) (s k) -> (t s) r (k p)", "t=2 s=2 p=2");
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(16, 4), &tensor));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(16, 4), &back));
    ASSERT_OK(td_tensor_fill_ramp(tensor, -30, 1));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, "8 + r", &rows));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, tensor, rows, NULL));
    ASSERT_OK(td_memory_snapshot(s.memory, &before));
    assert_int_equal(word(before, 8), 0xe5e4e3e2);
    ASSERT_OK(td_backdoor_dump_tensor(s.memory, back, rows, NULL));
    assert_memory_equal(td_tensor_data(tensor), td_tensor_data(back), 64);
    set_word(s.array[2], 0, 0); /* words 16 and 17, the low half of each */
    td_comparison what = {.banks = &s.memory, .bank_count = 1, .golden = tensor, .layout = rows, .snapshot = &before};
    ASSERT_OK(td_compare(&what, &report));
    assert_int_equal(td_report_mismatches(report), 4);
    assert_int_equal(td_report_outside_bits(report), 0);
    td_report_destroy(&report);
    set_word(s.array[0], 0, 3); /* words 0 and 1, outside of the layout */
    ASSERT_OK(td_compare(&what, &report));
    assert_int_equal(td_report_outside_bits(report), 2);
    td_report_destroy(&report);

    ASSERT_OK(td_memory_fill(s.memory, "constant=0x89abcdef", 0, 32));
    const td_span all = {0, 0, 32};
    ASSERT_OK(td_memory_save_file(s.memory, "over.hex", &all, 1));
    ASSERT_OK(td_memory_clear(s.memory));
    for (int i = 0; i < 4; i++)
        assert_int_equal(word(s.array[i], 5), 0);
    ASSERT_OK(td_memory_load_file(s.memory, "over.hex"));
    assert_int_equal(word(s.memory, 31), 0x89abcdef);
    const uint64_t address = 31;
    const uint32_t value = 0x11223344, mask = 0x00ff00ff;
    ASSERT_OK(td_backdoor_write(s.memory, &address, 1, &value, &mask));
    assert_int_equal(word(s.memory, 31), 0x8922cd44);
    const unsigned char bytes = 8;
    ASSERT_OK(td_backdoor_write_bytes(s.memory, &address, 1, &value, &bytes));
    assert_int_equal(word(s.memory, 31), 0x1122cd44);
    remove("over.hex");
    td_memory_destroy(&before);
    td_layout_destroy(&rows);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
    unmake(&s);
}

/* -- large calls --------------------------------------------------------------------------------------------------- */

typedef enum way { RUNS, JOINED, BLOCKS } way;

/* Tensors of 1 MiB, and the way that they go. */
typedef struct large {
    const char *organisation, *options, *address, *layout, *layout_options, *dtype;
    uint64_t arrays, array_width, width, depth, rows, lanes;
    way way;
} large;

static const large larges[] = {
    {"(t r) k -> t r k", "t=4", NULL, "r c -> r c", "", "u8", 4, 128, 128, 65536, 65536, 16, RUNS},
    {"(t r) k -> t r k", "t=4", NULL, "c r -> r c", "", "u8", 4, 128, 128, 65536, 16, 65536, JOINED},
    {"(t r) k -> t r k", "t=4", "16383 - r", "(a al) (b bl) -> (a b) (al bl)", "al=2 bl=2", "u32", 4, 128, 128, 65536,
     4096, 64, JOINED},
    {"w (s k) -> s w k", "s=8", NULL, "c r -> r c", "", "u8", 8, 16, 128, 65536, 16, 65536, JOINED},
    {"w (s k) -> s w k", "s=8", NULL, "r c -> r c", "", "u8", 8, 9, 72, 116512, 116512, 9, JOINED},
    {"w (s k) -> s w k", "s=4", NULL, "c r -> r c", "", "u32", 4, 32, 128, 65536, 4, 65536, JOINED},
    {"(r p) k -> 1 r (k p)", "p=4", NULL, "r (c d) -> r (d c)", "d=2", "u16", 1, 512, 128, 65536, 65536, 8, BLOCKS},
    {"(t r) k -> t r k", "t=4", NULL, "r c -> r c", "", "u8", 4, 72, 72, 116512, 116512, 9, JOINED},
};

static void check_way(const large *l, const td_memory *memory, const td_tensor *tensor, const td_layout *layout,
                      bool dump)
{
    const td_call call = {
        .operation = "call", .bank = &memory, .banks = 1, .tensor = tensor, .layout = layout, .writes_tensor = dump};
    td_call_state state;
    ASSERT_OK(td_call_begin_blocks(&call, &state));
    assert_true(state.blocks.found);
    assert_int_equal(state.blocks.runs.words ? RUNS : state.blocks.joined ? JOINED : BLOCKS, l->way);
    ASSERT_OK(td_call_end(&call, &state, TD_OK));
}

static void check_large(const large *l, td_stream_when when)
{
    td_memory *array[2][8] = {{0}}, *memory[2] = {0};
    td_layout *organisation = NULL, *layout = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    const uint64_t depth = l->depth * l->width / l->array_width / l->arrays, usual = td_blocks_bytes;
    ASSERT_OK(td_layout_create(l->organisation, l->options, l->address, &organisation));
    ASSERT_OK(td_layout_create(l->layout, l->layout_options, NULL, &layout));
    ASSERT_OK(td_tensor_create(l->dtype, TD_SHAPE(l->rows, l->lanes), &tensor));
    ASSERT_OK(td_tensor_create(l->dtype, TD_SHAPE(l->rows, l->lanes), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 3));
    for (int i = 0; i < 2; i++) { /* once as large calls go, once as small ones do */
        for (uint64_t a = 0; a < l->arrays; a++)
            ASSERT_OK(td_memory_create("array", l->array_width, depth, &array[i][a]));
        ASSERT_OK(td_memory_over("memory", l->width, l->depth, organisation, array[i], (size_t)l->arrays, &memory[i]));
        td_blocks_bytes = i ? (uint64_t)1 << 40 : usual;
        td_stream_cuts_when = when;
        ASSERT_OK(td_backdoor_load_tensor(memory[i], tensor, layout, NULL));
    }
    td_blocks_bytes = usual;
    for (uint64_t a = 0; a < l->arrays; a++)
        assert_memory_equal(array[0][a]->data, array[1][a]->data, (size_t)(depth * array[0][a]->word_bytes));
    ASSERT_OK(td_backdoor_dump_tensor(memory[0], back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor), (size_t)(tensor->elems * tensor->dtype.bytes));
    td_stream_cuts_when = TD_STREAM_BY_MACHINE;
    check_way(l, memory[0], tensor, layout, false);
    check_way(l, memory[0], back, layout, true);
    for (int i = 0; i < 2; i++) {
        td_memory_destroy(&memory[i]);
        for (uint64_t a = 0; a < l->arrays; a++)
            td_memory_destroy(&array[i][a]);
    }
    td_layout_destroy(&organisation);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
}

static void large_calls_go_as_small_ones_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof larges / sizeof *larges; i++)
        for (int when = TD_STREAM_BY_MACHINE; when <= TD_STREAM_INTO; when++)
            check_large(&larges[i], (td_stream_when)when);
}

/* Bytes of rows that a table names, in an order in which neighbours are written at once: the parts of a word that begin
 * inside of a row reach to its end and no further. */
static void joined_parts_end_with_their_rows(void **state)
{
    const uint64_t usual = td_blocks_bytes;
    const td_join_when when = td_join_plans;
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *organisation = NULL, *layout = NULL;
    td_memory *array = NULL, *memory = NULL;
    (void)state;
    ASSERT_OK(td_memory_create("array", 864, 21, &array));
    ASSERT_OK(td_layout_create("(t r) (s k) -> 1 (t s) (r k)", "t=3 r=36 s=4 k=24 fill=keep",
                               "2 + (index ^ (index >> 1))", &organisation));
    ASSERT_OK(td_memory_over("memory", 96, 108, organisation, &array, 1, &memory));
    ASSERT_OK(td_layout_create("c r -> r c", NULL, NULL, &layout));
    ASSERT_OK(td_tensor_create("u32", TD_SHAPE(3, 108), &tensor));
    ASSERT_OK(td_tensor_create("u32", TD_SHAPE(3, 108), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 3));
    td_blocks_bytes = 32;
    td_join_plans = TD_JOIN_ALWAYS;
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    td_blocks_bytes = usual;
    td_join_plans = when;
    ASSERT_OK(td_backdoor_dump_tensor(memory, back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor), 3 * 108 * 4);
    td_memory_destroy(&memory);
    td_memory_destroy(&array);
    td_layout_destroy(&organisation);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
}

/* Words that lie in an array just as the memory stores them, which a code then makes there. */
static void words_are_found_where_they_lie_as_they_stand(void **state)
{
    static const struct {
        const char *pattern, *options;
        uint64_t arrays, array_width, array_depth, width;
        uint64_t words, array, byte; /* how many from word 5 on lie where; 0: none */
    } cases[] = {
        {"(t r) k -> t r k", "t=2", 2, 16, 8, 16, 3, 0, 10},          /* to the end of a tile */
        {"(t r) k -> t r k", "t=4", 4, 16, 4, 16, 3, 1, 2},           /* from inside the second */
        {"(t r) k -> t r k", "t=2", 2, 20, 8, 20, 3, 0, 20},          /* stored as 32 bits on both sides */
        {"(r t) k -> t r k", "t=2", 2, 16, 8, 16, 1, 1, 4},           /* every second word */
        {"(r p) k -> 1 r (p k)", "p=4", 1, 64, 4, 16, 11, 0, 10},     /* four words in a row, one after another */
        {"w k -> 1 w k", "lsb=8 fill=keep", 1, 32, 16, 16, 1, 0, 21}, /* a part of each array's word */
        {"w k -> 1 w k", "lsb=4 fill=keep", 1, 32, 16, 16, 0, 0, 0},  /* not at a byte */
        {"w k -> 1 w k", "", 1, 24, 16, 20, 0, 0, 0},                 /* other bits lie above them */
        {"w (s k) -> s w k", "s=2", 2, 8, 16, 16, 0, 0, 0},           /* slices */
        {"(r p) k -> 1 r (k p)", "p=2", 1, 32, 8, 16, 0, 0, 0},       /* columns */
        {"w k -> c w k", "c=2", 2, 16, 16, 16, 0, 0, 0},              /* two copies */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sram s;
        make(&s, cases[i].arrays, cases[i].array_width, cases[i].array_depth, cases[i].width, 16, cases[i].pattern,
             cases[i].options);
        uint64_t count = 11;
        const unsigned char *found = s.memory->backing->find_words(s.memory, 5, &count);
        const unsigned char *place = s.array[cases[i].array]->data + cases[i].byte;
        if (cases[i].words ? found != place || count != cases[i].words : found || count != 11)
            fail_msg("%s, %s: %d words", cases[i].pattern, cases[i].options, found ? (int)count : 0);
        unmake(&s);
    }
}

/* Threads may write the halves of a memory where each has a run of rows for itself. Rows of the halves that lie between
 * each other are not enough: a kernel that spreads bits over rows writes the bytes between them again. */
static void halves_are_shared_where_their_rows_are_apart(void **state)
{
    static const struct {
        const char *pattern, *options;
        uint64_t array_width, array_depth;
        bool alone;
    } cases[] = {
        {"(t r) k -> t r k", "t=2", 16, 8, true},      /* tiles */
        {"w (s k) -> s w k", "s=2", 8, 16, true},      /* slices */
        {"(r p) k -> 1 r (k p)", "p=2", 32, 8, true},  /* columns */
        {"w (s k) -> 1 (w s) k", "s=2", 8, 32, true},  /* two rows a word */
        {"w (s k) -> 1 (s w) k", "s=2", 8, 32, false}, /* the second rows behind all first ones */
        {"w k -> 1 (k w) ()", "", 1, 256, false},      /* a row a bit */
        {"(p r) k -> 1 r (k p)", "p=2", 32, 8, false}, /* halves share rows */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool two = strstr(cases[i].pattern, " 1 ") == NULL;
        sram s;
        make(&s, two ? 2 : 1, cases[i].array_width, cases[i].array_depth, 16, 16, cases[i].pattern, cases[i].options);
        for (uint64_t half = 0; half < 2; half++)
            if (td_words_alone(s.memory, half * 8, 8) != cases[i].alone)
                fail_msg("%s: half %d", cases[i].pattern, (int)half);
        unmake(&s);
    }
}

static void copies_must_agree(void **state)
{
    (void)state;
    sram s;
    make(&s, 2, 16, 8, 16, 8, "w k -> m w k", "m=2");
    set_word(s.memory, 3, 0x1234);
    assert_int_equal(word(s.array[0], 3), 0x1234);
    assert_int_equal(word(s.array[1], 3), 0x1234);
    assert_int_equal(word(s.memory, 3), 0x1234);
    set_word(s.array[1], 3, 0x1235);
    uint64_t address = 3, value = 0;
    ASSERT_REFUSED(td_backdoor_read(s.memory, &address, 1, &value), TD_DISAGREE,
                   "backdoor_read \"wbuf\": word 0x3 of \"wbuf\" lies in several places, and copy 1 differs from the "
                   "first; write the word, or look at the arrays themselves");
    set_word(s.memory, 3, 7); /* a whole word mends it */
    assert_int_equal(word(s.memory, 3), 7);
    unmake(&s);
}

static void memories_that_are_refused(void **state)
{
    (void)state;
    td_memory *array[2] = {NULL, NULL}, *deep = NULL, *out = NULL;
    td_layout *tiles = NULL, *slices = NULL;
    ASSERT_OK(td_memory_create("m0", 16, 8, &array[0]));
    ASSERT_OK(td_memory_create("m1", 16, 8, &array[1]));
    ASSERT_OK(td_memory_create("deep", 16, 9, &deep));
    ASSERT_OK(td_layout_create("(t r) k -> t r k", "t=2", NULL, &tiles));
    ASSERT_OK(td_layout_create("w (s k) -> s w k", "s=2", NULL, &slices));
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, array, 2, NULL), TD_ARGUMENT,
                   "memory_over \"wbuf\": the output is NULL; pass one");
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, NULL, array, 2, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": the organisation is NULL; pass one");
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, array, 0, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": no arrays; pass the memories that its bits lie in, at least one");
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, array, 40000, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": 40000 arrays; pass at most 32768");
    td_memory *const hole[2] = {array[0], NULL}, *const uneven[2] = {array[0], deep}, *const twice[2] = {deep, deep};
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, hole, 2, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": array 1 is NULL; create it first");
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, uneven, 2, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": array 1 is 9 words of 16 bits, array 0 is 8 of 16; use arrays of one "
                   "geometry, and lay those of another over each other first");
    ASSERT_REFUSED(td_memory_over("wbuf", 16, 16, tiles, twice, 2, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": array \"deep\" stands in the list twice; pass every array once");
    ASSERT_REFUSED(td_memory_over("wbuf", 0, 16, tiles, array, 2, &out), TD_ARGUMENT,
                   "memory_over \"wbuf\": a width of 0 bits; a width is 1 to 16777216 bits");
    td_layout *aliased = NULL, *windows = NULL;
    ASSERT_OK(td_layout_create("(t r) k -> 1 (t r) k", "t=2 alias=last", "r", &aliased));
    ASSERT_REFUSED(
        td_memory_over("wbuf", 16, 16, aliased, array, 1, &out), TD_OPTION,
        "memory_over \"wbuf\": alias=last in the organisation; leave it out: every bit has a place of its own");
    ASSERT_OK(td_layout_create("(a + b) k -> 1 (a b) k", "b=2", NULL, &windows));
    ASSERT_REFUSED(
        td_memory_over("wbuf", 16, 5, windows, array, 1, &out), TD_PATTERN,
        "memory_over \"wbuf\": the organisation \"(a + b) k -> 1 (a b) k\" has windows, which put bits in "
        "several places or in none; write copies as an axis of their own, as m in \"w k -> m w k\" with m=2");
    td_layout_destroy(&aliased);
    td_layout_destroy(&windows);
    assert_int_equal(td_memory_over("wbuf", 16, 20, tiles, array, 2, &out), TD_RANGE);
    assert_non_null(strstr(td_last_error(), "memory_over \"wbuf\": "));
    assert_int_equal(td_memory_over("wbuf", 33, 8, slices, array, 2, &out), TD_SHAPE);
    assert_null(out);
    td_layout_destroy(&tiles);
    td_layout_destroy(&slices);
    td_memory_destroy(&array[0]);
    td_memory_destroy(&array[1]);
    td_memory_destroy(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_go_where_the_organisation_says),
        cmocka_unit_test(every_call_reaches_the_arrays),
        cmocka_unit_test(a_matrix_begins_at_any_word),
        cmocka_unit_test(large_calls_go_as_small_ones_do),
        cmocka_unit_test(joined_parts_end_with_their_rows),
        cmocka_unit_test(words_are_found_where_they_lie_as_they_stand),
        cmocka_unit_test(halves_are_shared_where_their_rows_are_apart),
        cmocka_unit_test(copies_must_agree),
        cmocka_unit_test(memories_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
