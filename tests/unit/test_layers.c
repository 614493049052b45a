/* Memories over arrays that lie elsewhere: the words that cross, in both directions. Every call is made twice: on a
 * memory over arrays of the library, and on one over copies of arrays that only this file can reach. Before each call
 * the copies hold random bits, so that a word which did not cross is wrong afterwards. */
#include "support.h"

#include <tensordoor_bridge.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS 8
#define ARRAY_WORDS 64
#define CHUNK 40

/* An organisation: `below` of it lies over the arrays first, two by two, where it is nested. */
typedef struct organisation {
    uint64_t arrays, array_width, array_depth, width, depth;
    const char *pattern, *options, *address;
    uint64_t copies; /* of every bit */
} organisation;

static const organisation organisations[] = {
    {4, 32, 16, 32, 64, "(t r) k -> t r k", "t=4", NULL, 1},
    {4, 8, 16, 32, 16, "w (s k) -> s w k", "s=4", NULL, 1},
    {1, 64, 16, 16, 64, "(r p) k -> 1 r (k p)", "p=4", NULL, 1},
    {4, 32, 16, 32, 64, "(t r p) (s k) -> (t s) r (k p)", "t=2 s=2 p=2", NULL, 1},
    {4, 20, 16, 37, 24, "(t r) (s k) -> (t s) r k", "t=2 s=2 k=19 pad=0", NULL, 1}, /* rows and columns are spare */
    {2, 24, 16, 24, 16, "w k -> m w k", "m=2", NULL, 2},
    {2, 16, 32, 16, 64, "(t r) k -> t r k", "t=2", "r ^ 5", 1},
    {1, 80, 16, 72, 16, "r k -> 1 r k", "lsb=3", NULL, 1},
    {3, 26, 16, 39, 32, "(r p) (s k) -> s r (k p)", "s=3 p=2", NULL, 1}, /* with a code, where bits are x */
};
#define CODED 8

/* The words of the arrays, as the library stores them, and which of their bits are x. */
typedef struct elsewhere {
    unsigned char word[ARRAYS][ARRAY_WORDS * 16], x[ARRAYS][ARRAY_WORDS * 16];
    size_t crossed; /* words, in both directions */
} elsewhere;

typedef struct scene {
    const organisation *form;
    td_memory *reference[ARRAYS], *copy[ARRAYS];
    td_memory *expected, *over, *coded;                  /* coded: NULL, or over `over` */
    td_memory *middle_expected[ARRAYS], *middle[ARRAYS]; /* of a nested one */
    elsewhere far;
} scene;

/* -- the bridge ---------------------------------------------------------------------------------------------------- */

/* True where some bit is x. `mask` has the form of the chunk. */
static bool visit(scene *s, size_t array, uint32_t *chunk, uint32_t *mask, size_t runs, bool write)
{
    bool any = false;
    const size_t bytes = td_memory_word_bytes(s->copy[array]), per = (bytes + 3) / 4;
    for (; runs; runs--) {
        uint32_t at = chunk[0], count = chunk[1], step = chunk[2];
        chunk += TD_TRANSFER_HEAD;
        mask += TD_TRANSFER_HEAD;
        for (; count; count--, at += step, chunk += per, mask += per) {
            mask += !step;
            at = step ? at : *chunk++;
            unsigned char *word = s->far.word[array] + at * bytes, *x = s->far.x[array] + at * bytes;
            if (!write) {
                memset(chunk, 0, 4 * per);
                memset(mask, 0, 4 * per);
            }
            for (size_t b = 0; b < bytes; b++)
                any |= !write && x[b];
            memcpy(write ? (void *)word : (void *)chunk, write ? (void *)chunk : (void *)word, bytes);
            memcpy(write ? (void *)x : (void *)mask, write ? (void *)mask : (void *)x, bytes);
            s->far.crossed++;
        }
    }
    return any;
}

static void bring_in(scene *s)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    size_t runs = 0;
    for (size_t i = 0; i < s->form->arrays; i++)
        while ((runs = td_transfer_in(s->copy[i], chunk, CHUNK)))
            if (visit(s, i, chunk, mask, runs, false))
                ASSERT_OK(td_transfer_unknown_in(s->copy[i], mask, CHUNK));
}

static void take_out(scene *s)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    size_t runs = 0;
    int unknown = 0;
    for (size_t i = 0; i < s->form->arrays; i++)
        while ((runs = td_transfer_out(s->copy[i], chunk, CHUNK, &unknown))) {
            memset(mask, 0, sizeof mask);
            if (unknown)
                td_transfer_unknown_out(s->copy[i], mask, CHUNK);
            visit(s, i, chunk, mask, runs, true);
        }
}

/* -- the scene ----------------------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void fill_random(td_memory *memory)
{
    char what[48];
    snprintf(what, sizeof what, "random seed=%u", (unsigned)draw(1u << 30));
    ASSERT_OK(td_memory_fill(memory, what, 0, td_memory_depth_words(memory)));
}

static td_memory *lay_over(const organisation *form, td_memory *const *arrays)
{
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_layout_create(form->pattern, form->options, form->address, &layout));
    ASSERT_OK(td_memory_over("top", form->width, form->depth, layout, arrays, form->arrays, &memory));
    td_layout_destroy(&layout);
    return memory;
}

/* Every array alone under a memory of half its width, two words in a row. */
static td_memory *lay_between(td_memory *array)
{
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_layout_create("(r p) k -> 1 r (k p)", "p=2", NULL, &layout));
    ASSERT_OK(td_memory_over("middle", td_memory_width_bits(array) / 2, 2 * td_memory_depth_words(array), layout,
                             &array, 1, &memory));
    td_layout_destroy(&layout);
    return memory;
}

/* `nested`: the arrays have twice the width and half the depth, and a memory lies between them and the one on top. */
static void open_scene(scene *s, const organisation *form, bool nested)
{
    memset(s, 0, sizeof *s);
    s->form = form;
    for (size_t i = 0; i < form->arrays; i++) {
        const uint64_t width = form->array_width * (nested ? 2 : 1), depth = form->array_depth / (nested ? 2 : 1);
        ASSERT_OK(td_memory_create("reference", width, depth, &s->reference[i]));
        ASSERT_OK(td_memory_create("copy", width, depth, &s->copy[i]));
        fill_random(s->reference[i]);
        if (form->copies > 1) /* which agree */
            ASSERT_OK(td_memory_clear(s->reference[i]));
        memcpy(s->far.word[i], td_memory_data(s->reference[i]), depth * td_memory_word_bytes(s->copy[i]));
        s->middle_expected[i] = nested ? lay_between(s->reference[i]) : NULL;
        s->middle[i] = nested ? lay_between(s->copy[i]) : NULL;
    }
    s->expected = lay_over(form, nested ? s->middle_expected : s->reference);
    s->over = lay_over(form, nested ? s->middle : s->copy);
}

static void close_scene(scene *s)
{
    td_memory_destroy(&s->coded);
    td_memory_destroy(&s->expected);
    td_memory_destroy(&s->over);
    for (size_t i = 0; i < ARRAYS; i++) {
        td_memory_destroy(&s->middle_expected[i]);
        td_memory_destroy(&s->middle[i]);
        td_memory_destroy(&s->reference[i]);
        td_memory_destroy(&s->copy[i]);
    }
}

static void spoil(scene *s)
{
    for (size_t i = 0; i < s->form->arrays; i++)
        fill_random(s->copy[i]);
    s->far.crossed = 0;
}

static void expect_same_arrays(const scene *s)
{
    for (size_t i = 0; i < s->form->arrays; i++)
        assert_memory_equal(s->far.word[i], td_memory_data(s->reference[i]),
                            td_memory_depth_words(s->copy[i]) * td_memory_word_bytes(s->copy[i]));
}

/* -- calls, each on both memories ---------------------------------------------------------------------------------- */

static void write_words(scene *s)
{
    uint64_t address[12];
    unsigned char word[12 * 16], mask[12 * 16];
    const size_t count = 1 + draw(12), bytes = td_memory_word_bytes(s->over);
    const bool masked = draw(2);
    td_memory *words = NULL, *masks = NULL;
    ASSERT_OK(td_memory_create("words", s->form->width, 12, &words));
    ASSERT_OK(td_memory_create("masks", s->form->width, 12, &masks));
    fill_random(words);
    fill_random(masks);
    memcpy(word, td_memory_data(words), 12 * bytes);
    memcpy(mask, td_memory_data(masks), 12 * bytes);
    for (size_t i = 0; i < count; i++)
        address[i] = draw(s->form->depth);
    ASSERT_OK(td_backdoor_write(s->expected, address, count, word, masked ? mask : NULL));
    spoil(s);
    ASSERT_OK(td_transfer_words(s->over, address, count));
    if (masked || td_transfer_shared(s->over))
        bring_in(s);
    ASSERT_OK(td_backdoor_write(s->over, address, count, word, masked ? mask : NULL));
    take_out(s);
    td_memory_destroy(&words);
    td_memory_destroy(&masks);
}

static void read_words(scene *s)
{
    uint64_t address[12];
    unsigned char expected[12 * 16], word[12 * 16];
    const size_t count = 1 + draw(12), bytes = td_memory_word_bytes(s->over);
    for (size_t i = 0; i < count; i++)
        address[i] = draw(s->form->depth);
    ASSERT_OK(td_backdoor_read(s->expected, address, count, expected));
    spoil(s);
    ASSERT_OK(td_transfer_words(s->over, address, count));
    bring_in(s);
    ASSERT_OK(td_backdoor_read(s->over, address, count, word));
    assert_memory_equal(word, expected, count * bytes);
}

static void fill_words(scene *s)
{
    const uint64_t first = draw(s->form->depth), count = 1 + draw(s->form->depth - first);
    ASSERT_OK(td_memory_fill(s->expected, "random seed=5", first, count));
    spoil(s);
    ASSERT_OK(td_transfer_span(s->over, first, count));
    if (td_transfer_shared(s->over))
        bring_in(s);
    ASSERT_OK(td_memory_fill(s->over, "random seed=5", first, count));
    take_out(s);
}

/* Bytes in every second word, two of them kept free. */
static void move_tensor(scene *s)
{
    td_tensor *tensor = NULL, *expected = NULL;
    td_layout *layout = NULL;
    const uint64_t rows = s->form->depth / 2, lanes = s->form->width / 8 - (draw(2) && s->form->width >= 16);
    const bool keep = draw(2);
    int partial = 0, borrowed = 0;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(rows, lanes), &tensor));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(rows, lanes), &expected));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 3, 7));
    ASSERT_OK(td_layout_create("r c -> r c", keep ? "fill=keep" : "", draw(2) ? "2*r" : "r", &layout));
    ASSERT_OK(td_backdoor_load_tensor(s->expected, tensor, layout, NULL));
    spoil(s);
    ASSERT_OK(td_transfer_tensor(s->over, tensor, layout, NULL, TD_TRANSFER_LOAD, &partial, &borrowed));
    assert_false(borrowed);
    assert_true(partial || !keep);
    if (partial)
        bring_in(s);
    ASSERT_OK(td_transfer_load(s->over, tensor, layout, NULL));
    take_out(s);
    expect_same_arrays(s);
    spoil(s);
    ASSERT_OK(td_transfer_tensor(s->over, expected, layout, NULL, TD_TRANSFER_DUMP_KNOWN, &partial, &borrowed));
    assert_false(borrowed);
    bring_in(s);
    ASSERT_OK(td_transfer_dump(s->over, expected, layout, NULL));
    assert_memory_equal(td_tensor_data(expected), td_tensor_data(tensor), rows * lanes);
    td_layout_destroy(&layout);
    td_tensor_destroy(&expected);
    td_tensor_destroy(&tensor);
}

static void every_call_moves_the_words_of_the_arrays(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof organisations / sizeof *organisations; o++)
        for (int nested = 0; nested < 2; nested++) {
            scene s;
            open_scene(&s, &organisations[o], nested);
            for (int i = 0; i < 200; i++) {
                static void (*const call[])(scene *) = {write_words, read_words, fill_words, move_tensor};
                call[draw(4)](&s);
                expect_same_arrays(&s);
            }
            close_scene(&s);
        }
}

/* -- bits that are x -----------------------------------------------------------------------------------------------
 *
 * The same calls on two memories over equal arrays elsewhere: around one all words cross, in both directions, around
 * the other those that the call is about. The arrays stay equal. */

typedef struct x_call {
    int kind;
    uint64_t first, count;
    unsigned char word[16], mask[16];
    uint64_t read;
} x_call;

static td_memory *top_of(const scene *s)
{
    return s->coded ? s->coded : s->over;
}

/* 0: a word, 1: bits of a word, 2: fill, 3: words that become x, 4: a tensor in some of the bits, 5: read */
static void run_x_call(scene *s, bool all, x_call *c)
{
    td_memory *top = top_of(s);
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    int partial = 0;
    ASSERT_OK(td_tensor_create("u4", TD_SHAPE(c->count, 1), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 5, 3));
    ASSERT_OK(td_layout_create("r c -> r c", "fill=keep lsb=3", c->first % 2 ? "r" : "r ^ 1", &layout));
    spoil(s);
    if (all)
        ASSERT_OK(td_transfer_all(&top, 1));
    else if (c->kind == 4)
        ASSERT_OK(td_transfer_layout(&top, 1, tensor, layout, NULL, &partial));
    else
        ASSERT_OK(td_transfer_span(top, c->first, c->kind == 2 || c->kind == 3 ? c->count : 1));
    if (all || partial || c->kind == 1 || c->kind == 5 || td_transfer_shared(top))
        bring_in(s);
    if (c->kind < 2)
        ASSERT_OK(td_backdoor_write(top, &c->first, 1, c->word, c->kind ? c->mask : NULL));
    else if (c->kind == 2)
        ASSERT_OK(td_memory_fill(top, "random seed=3", c->first, c->count));
    else if (c->kind == 3)
        ASSERT_OK(td_memory_invalidate(top, c->first, c->count));
    else if (c->kind == 4)
        ASSERT_OK(td_backdoor_load_tensor(top, tensor, layout, NULL));
    else {
        unsigned char word[16] = {0};
        ASSERT_OK(td_backdoor_read(top, &c->first, 1, word));
        memcpy(&c->read, word, 8);
    }
    if (c->kind != 5)
        take_out(s);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
}

static void draw_x_call(const scene *s, x_call *c)
{
    td_memory *words = NULL;
    const uint64_t depth = td_memory_depth_words(top_of(s)), width = td_memory_width_bits(top_of(s));
    *c = (x_call){.kind = (int)draw(6), .first = draw(depth)};
    c->count = 1 + draw(depth - c->first);
    if (c->kind == 4)
        c->count = 2 * (1 + draw(depth / 2));
    ASSERT_OK(td_memory_create("words", width, 2, &words));
    fill_random(words);
    const unsigned char *data = td_memory_data(words);
    memcpy(c->word, data, td_memory_word_bytes(words));
    memcpy(c->mask, data + td_memory_word_bytes(words), td_memory_word_bytes(words));
    td_memory_destroy(&words);
}

static void add_code(scene *s)
{
    td_code *code = NULL;
    ASSERT_OK(td_code_create("39_32", 32, &code));
    ASSERT_OK(td_memory_coded("data", code, s->over, NULL, &s->coded));
    td_code_destroy(&code);
}

static void x_stays_where_it_is(const organisation *form, bool nested, bool coded)
{
    scene some, all;
    const uint64_t seed = random_state;
    open_scene(&some, form, nested);
    random_state = seed;
    open_scene(&all, form, nested);
    if (coded) { /* a code has no word of random bits */
        add_code(&some);
        add_code(&all);
        x_call fill = {.kind = 2, .first = 0, .count = td_memory_depth_words(some.coded)};
        run_x_call(&some, true, &fill);
        run_x_call(&all, true, &fill);
    }
    ASSERT_OK(td_memory_set_x(top_of(&some), "zero"));
    ASSERT_OK(td_memory_set_x(top_of(&all), "zero"));
    for (size_t i = 0; i < form->arrays && form->copies == 1; i++)
        for (uint64_t row = 0; row < td_memory_depth_words(some.copy[i]); row += 1 + draw(4)) {
            const uint64_t bit = draw(td_memory_width_bits(some.copy[i])),
                           at = row * td_memory_word_bytes(some.copy[i]) + bit / 8;
            some.far.x[i][at] |= (unsigned char)(1u << bit % 8);
            some.far.word[i][at] &= (unsigned char)~(1u << bit % 8);
            all.far.x[i][at] = some.far.x[i][at];
            all.far.word[i][at] = some.far.word[i][at];
        }
    for (int i = 0; i < 200; i++) {
        x_call call, same;
        draw_x_call(&some, &call);
        same = call;
        run_x_call(&some, false, &call);
        run_x_call(&all, true, &same);
        assert_int_equal(call.read, same.read);
        assert_memory_equal(some.far.word, all.far.word, sizeof some.far.word);
        assert_memory_equal(some.far.x, all.far.x, sizeof some.far.x);
    }
    close_scene(&some);
    close_scene(&all);
}

static void bits_that_are_x(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof organisations / sizeof *organisations; o++)
        for (int nested = 0; nested < 2; nested++)
            x_stays_where_it_is(&organisations[o], nested, false);
    for (int nested = 0; nested < 2; nested++)
        x_stays_where_it_is(&organisations[CODED], nested, true);
}

/* -- how many cross ------------------------------------------------------------------------------------------------ */

static void only_words_that_the_call_reaches_cross(void **state)
{
    (void)state;
    scene s;
    uint64_t address[] = {5, 4, 6, 7}, word[] = {1, 2, 3, 4};
    open_scene(&s, &organisations[2], false); /* four words in a row */
    spoil(&s);
    ASSERT_OK(td_transfer_words(s.over, address, 4));
    assert_true(td_transfer_shared(s.over)); /* 5, then 4, then 6 and 7: none of these is the whole row */
    bring_in(&s);
    assert_int_equal(s.far.crossed, 1); /* all in row 1 */
    ASSERT_OK(td_transfer_span(s.over, 4, 8));
    assert_false(td_transfer_shared(s.over));
    bring_in(&s);
    assert_int_equal(s.far.crossed, 3);
    ASSERT_OK(td_transfer_span(s.over, 6, 8));
    assert_true(td_transfer_shared(s.over));
    bring_in(&s);
    assert_int_equal(s.far.crossed, 6);
    close_scene(&s);

    open_scene(&s, &organisations[2], false);
    const uint64_t twice[] = {4, 4, 5, 6, 7};
    ASSERT_OK(td_transfer_words(s.over, twice + 1, 4));
    assert_false(td_transfer_shared(s.over));
    ASSERT_OK(td_transfer_words(s.over, twice, 5));
    assert_true(td_transfer_shared(s.over)); /* the first 4 is written alone, and a code in the row is checked then */
    close_scene(&s);

    open_scene(&s, &organisations[0], false); /* tiles: a word is a word of one array */
    spoil(&s);
    ASSERT_OK(td_transfer_words(s.over, address, 4));
    assert_false(td_transfer_shared(s.over));
    ASSERT_OK(td_backdoor_write(s.over, address, 4, word, NULL));
    take_out(&s);
    assert_int_equal(s.far.crossed, 4);
    close_scene(&s);

    open_scene(&s, &organisations[7], false); /* five bits of every row belong to nobody */
    ASSERT_OK(td_transfer_span(s.over, 0, 16));
    assert_true(td_transfer_shared(s.over));
    close_scene(&s);
    assert_false(td_transfer_shared(NULL));
}

/* Two memories in different rows of one array: a call over both finds the words of both. */
static void memories_share_an_array(void **state)
{
    (void)state;
    scene s;
    td_layout *low = NULL, *high = NULL;
    td_memory *bank[2] = {NULL, NULL};
    open_scene(&s, &organisations[7], false);
    ASSERT_OK(td_layout_create("r k -> 1 r k", NULL, NULL, &low));
    ASSERT_OK(td_layout_create("r k -> 1 r k", NULL, "r + 8", &high));
    ASSERT_OK(td_memory_over("low", 80, 8, low, s.copy, 1, &bank[0]));
    ASSERT_OK(td_memory_over("high", 80, 8, high, s.copy, 1, &bank[1]));
    spoil(&s);
    ASSERT_OK(td_transfer_all(bank, 2));
    bring_in(&s);
    assert_int_equal(s.far.crossed, 16);
    assert_memory_equal(td_memory_data(s.copy[0]), s.far.word[0], 16 * td_memory_word_bytes(s.copy[0]));
    td_memory_destroy(&bank[0]);
    td_memory_destroy(&bank[1]);
    td_layout_destroy(&low);
    td_layout_destroy(&high);
    close_scene(&s);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    td_memory *none[] = {NULL};
    ASSERT_REFUSED(td_transfer_all(none, 0), TD_ARGUMENT, "transfer_all: no memory; pass one");
    ASSERT_REFUSED(td_transfer_all(none, 1), TD_ARGUMENT, "transfer_all: bank 0 is NULL; create it first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_moves_the_words_of_the_arrays),
        cmocka_unit_test(bits_that_are_x),
        cmocka_unit_test(only_words_that_the_call_reaches_cross),
        cmocka_unit_test(memories_share_an_array),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
