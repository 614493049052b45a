/* Loads and dumps of memories over tiles that lie elsewhere, in transfers whose words pass by the copies
 * (design/passing.c): every call is made on a memory over arrays of the library too, and has to leave the same words,
 * tensors, counts and messages, also where words have errors or bits that are x. */
#include "support.h"

#include "design/transfer.h"

#include <tensordoor_bridge.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TILES 3
#define ROWS 40
#define WORDS (TILES * ROWS)
#define CHUNK 90

static const struct {
    const char *code; /* NULL: none */
    uint64_t data_bits;
} forms[] = {{NULL, 64},
             {NULL, 40},
             {"39_32", 32},
             {"72_64", 128},
             {"inv_39_32", 64},
             {"parity odd width=8", 40},
             {"hsiao address=7", 64},
             {"39_32 place=below", 160}};
#define FORMS (sizeof forms / sizeof *forms)

typedef struct side {
    td_memory *tile[TILES], *raw, *top;
} side;

typedef struct scene {
    td_code *code;
    side here, copy; /* arrays of the library; copies of those elsewhere */
    td_memory *far[TILES], *far_x[TILES];
    uint64_t crossed; /* words */
} scene;

static uint64_t random_state = 5;

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

static void open_side(side *s, const td_code *code, uint64_t data_bits, const char *options)
{
    td_layout *tiles = NULL;
    const uint64_t width = code ? td_code_coded_bits(code) : data_bits;
    memset(s, 0, sizeof *s);
    ASSERT_OK(td_layout_create("(t r) k -> t r k", "t=3", NULL, &tiles));
    for (size_t i = 0; i < TILES; i++)
        ASSERT_OK(td_memory_create("tile", width, ROWS, &s->tile[i]));
    ASSERT_OK(td_memory_over("top", width, WORDS, tiles, s->tile, TILES, code ? &s->raw : &s->top));
    if (code)
        ASSERT_OK(td_memory_coded("top", code, s->raw, options, &s->top));
    td_layout_destroy(&tiles);
}

static void close_side(side *s)
{
    td_memory_destroy(&s->top);
    td_memory_destroy(&s->raw);
    for (size_t i = 0; i < TILES; i++)
        td_memory_destroy(&s->tile[i]);
}

static void open_scene(scene *s, size_t form, const char *options)
{
    memset(s, 0, sizeof *s);
    if (forms[form].code)
        ASSERT_OK(td_code_create(forms[form].code, forms[form].data_bits, &s->code));
    open_side(&s->here, s->code, forms[form].data_bits, options);
    open_side(&s->copy, s->code, forms[form].data_bits, options);
    for (size_t i = 0; i < TILES; i++) {
        const uint64_t width = td_memory_width_bits(s->here.tile[i]);
        ASSERT_OK(td_memory_create("far", width, ROWS, &s->far[i]));
        ASSERT_OK(td_memory_create("x", width, ROWS, &s->far_x[i]));
    }
}

static void close_scene(scene *s)
{
    close_side(&s->copy);
    close_side(&s->here);
    for (size_t i = 0; i < TILES; i++) {
        td_memory_destroy(&s->far[i]);
        td_memory_destroy(&s->far_x[i]);
    }
    td_code_destroy(&s->code);
}

static size_t tile_bytes(const scene *s)
{
    return ROWS * td_memory_word_bytes(s->far[0]);
}

/* -- the bridge ---------------------------------------------------------------------------------------------------- */

static bool visit(scene *s, size_t tile, uint32_t *chunk, uint32_t *mask, size_t runs, bool write)
{
    bool any = false;
    const size_t bytes = td_memory_word_bytes(s->far[tile]), per = (bytes + 3) / 4;
    for (; runs; runs--) {
        uint32_t at = chunk[0], count = chunk[1], step = chunk[2];
        chunk += TD_TRANSFER_HEAD;
        mask += TD_TRANSFER_HEAD;
        for (; count; count--, at += step, chunk += per, mask += per) {
            unsigned char *word = (unsigned char *)td_memory_data(s->far[tile]) + at * bytes;
            unsigned char *x = (unsigned char *)td_memory_data(s->far_x[tile]) + at * bytes;
            assert_true(step && at < ROWS);
            for (size_t b = 0; b < bytes; b++)
                any |= !write && x[b];
            memcpy(write ? (void *)word : (void *)chunk, write ? (void *)chunk : (void *)word, bytes);
            memcpy(write ? (void *)x : (void *)mask, write ? (void *)mask : (void *)x, bytes);
            for (size_t b = 0; b < bytes && !write; b++)
                ((unsigned char *)chunk)[b] &= (unsigned char)~x[b];
            s->crossed++;
        }
    }
    return any;
}

static void bring_in(scene *s)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    size_t runs = 0;
    for (size_t i = 0; i < TILES; i++)
        while ((runs = td_transfer_in(s->copy.tile[i], chunk, CHUNK)))
            if (visit(s, i, chunk, mask, runs, false))
                ASSERT_OK(td_transfer_unknown_in(s->copy.tile[i], mask, CHUNK));
}

static void take_out(scene *s)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    size_t runs = 0;
    int unknown = 0;
    for (size_t i = 0; i < TILES; i++)
        while ((runs = td_transfer_out(s->copy.tile[i], chunk, CHUNK, &unknown))) {
            memset(mask, 0, sizeof mask);
            if (unknown)
                td_transfer_unknown_out(s->copy.tile[i], mask, CHUNK);
            visit(s, i, chunk, mask, runs, true);
        }
}

/* Every copy has crossed once, so that it is known to be one. */
static void cross_once(scene *s)
{
    td_memory *const top = s->copy.top;
    ASSERT_OK(td_transfer_all(&top, 1));
    bring_in(s);
}

static void spoil(scene *s)
{
    for (size_t i = 0; i < TILES; i++)
        fill_random(s->copy.tile[i]);
    s->crossed = 0;
}

/* The bytes of all copies, so that a test sees whether words went through them. */
static uint64_t sum_of_copies(const scene *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TILES; i++)
        for (size_t b = 0; b < tile_bytes(s); b++)
            sum = sum * 31 + ((const unsigned char *)td_memory_data(s->copy.tile[i]))[b];
    return sum;
}

static void expect_same_arrays(const scene *s)
{
    for (size_t i = 0; i < TILES; i++)
        assert_memory_equal(td_memory_data(s->far[i]), td_memory_data(s->here.tile[i]), tile_bytes(s));
}

/* -- calls, each on both sides ------------------------------------------------------------------------------------- */

typedef struct way {
    const char *options, *as;
    bool whole; /* the tensor's bytes are the words */
} way;

static const way layouts[] = {{"", "", true}, {"fill=keep", "", false}, {"", "u8", false}, {"lanes=msb", "", false}};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

typedef struct call {
    td_tensor *tensor[2], *start; /* here, and elsewhere */
    td_layout *layout;
    uint64_t first, rows;
    const way *form;
} call;

static void open_call(call *c, const scene *s)
{
    char address[32];
    const uint64_t bytes = td_memory_width_bits(s->here.top) / 8;
    memset(c, 0, sizeof *c);
    c->form = &layouts[draw(LAYOUTS)];
    c->rows = 4 + draw(WORDS - 4);
    c->first = draw(WORDS - c->rows + 1);
    const uint64_t lanes = c->form->whole || bytes < 2 ? bytes : bytes - draw(2);
    const char *dtype = *c->form->as ? "u16" : "u8";
    snprintf(address, sizeof address, "%u + r", (unsigned)c->first);
    ASSERT_OK(td_layout_create("r c -> r c", c->form->options, address, &c->layout));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(c->rows, lanes), &c->tensor[i]));
        if (*c->form->as)
            ASSERT_OK(td_tensor_fill_ramp(c->tensor[i], 1, 0));
        else
            ASSERT_OK(td_tensor_fill_random(c->tensor[i], 1 + draw(1) + c->rows));
    }
}

static void close_call(call *c)
{
    td_layout_destroy(&c->layout);
    for (int i = 0; i < 2; i++)
        td_tensor_destroy(&c->tensor[i]);
}

static void expect_same_tensors(const call *c)
{
    assert_memory_equal(td_tensor_data(c->tensor[1]), td_tensor_data(c->tensor[0]),
                        td_tensor_elems(c->tensor[0]) * td_tensor_elem_bytes(c->tensor[0]));
}

static void expect_same_counts(const scene *s)
{
    td_code_result here = {0}, elsewhere = {0};
    if (!s->code)
        return;
    ASSERT_OK(td_memory_code_result(s->here.top, &here, 0));
    ASSERT_OK(td_memory_code_result(s->copy.top, &elsewhere, 0));
    assert_int_equal(elsewhere.words, here.words);
    assert_int_equal(elsewhere.corrected, here.corrected);
    assert_int_equal(elsewhere.uncorrectable, here.uncorrectable);
    assert_int_equal(elsewhere.kept, here.kept);
    for (size_t i = 0; i < here.kept; i++) {
        assert_int_equal(elsewhere.error[i].word, here.error[i].word);
        assert_int_equal(elsewhere.error[i].syndrome, here.error[i].syndrome);
    }
}

/* The status, and the message of a failure. */
static td_status keep_message(td_status status, char *message)
{
    snprintf(message, 400, "%s", status ? td_last_error() : "");
    return status;
}

static void load_both(scene *s, call *c, bool *passed)
{
    char here[400], elsewhere[400];
    int partial = 0, borrowed = 0;
    const td_status expected =
        keep_message(td_backdoor_load_tensor(s->here.top, c->tensor[0], c->layout, c->form->as), here);
    spoil(s);
    ASSERT_OK(
        td_transfer_tensor(s->copy.top, c->tensor[1], c->layout, c->form->as, TD_TRANSFER_LOAD, &partial, &borrowed));
    *passed = td_passing_is_on(s->copy.top);
    const uint64_t before = sum_of_copies(s);
    if (partial)
        bring_in(s);
    const td_status status =
        keep_message(td_transfer_load(s->copy.top, c->tensor[1], c->layout, c->form->as), elsewhere);
    assert_int_equal(status, expected);
    assert_string_equal(elsewhere, here);
    *passed = *passed && td_passing_is_on(s->copy.top);
    if (!status)
        take_out(s);
    if (*passed)
        assert_int_equal(sum_of_copies(s), before);
    assert_true(!*passed || borrowed == (c->form->whole &&
                                         td_memory_word_bytes(s->copy.top) * 8 == td_memory_width_bits(s->copy.top)));
}

static void dump_both(scene *s, call *c, td_transfer_use use, bool *passed)
{
    char here[400], elsewhere[400];
    int partial = 0, borrowed = 0;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(td_tensor_fill_random(c->tensor[i], 99));
    const td_status expected =
        keep_message(td_backdoor_dump_tensor(s->here.top, c->tensor[0], c->layout, c->form->as), here);
    spoil(s);
    ASSERT_OK(td_transfer_tensor(s->copy.top, c->tensor[1], c->layout, c->form->as, use, &partial, &borrowed));
    const bool began = td_passing_is_on(s->copy.top);
    const uint64_t before = sum_of_copies(s);
    bring_in(s);
    *passed = began && sum_of_copies(s) == before;
    const td_status status =
        keep_message(td_transfer_dump(s->copy.top, c->tensor[1], c->layout, c->form->as), elsewhere);
    assert_int_equal(status, expected);
    assert_string_equal(elsewhere, here);
    expect_same_tensors(c);
    expect_same_counts(s);
}

/* Flips `count` bits of one word of an array here and of the one elsewhere. */
static void flip(scene *s, size_t count)
{
    const size_t tile = draw(TILES), word = draw(ROWS), bytes = td_memory_word_bytes(s->far[0]);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bit = draw(td_memory_width_bits(s->far[0]));
        td_memory *const array[] = {s->far[tile], s->here.tile[tile]};
        for (int k = 0; k < 2; k++)
            ((unsigned char *)td_memory_data(array[k]))[word * bytes + bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void run_calls(size_t form, const char *options, size_t flips)
{
    scene s;
    size_t passed_loads = 0, passed_dumps = 0;
    open_scene(&s, form, options);
    ASSERT_OK(td_memory_clear(s.here.top)); /* right words */
    for (size_t i = 0; i < TILES; i++)
        memcpy(td_memory_data(s.far[i]), td_memory_data(s.here.tile[i]), tile_bytes(&s));
    cross_once(&s);
    for (int i = 0; i < 60; i++) {
        call c;
        bool passed = false;
        open_call(&c, &s);
        load_both(&s, &c, &passed);
        passed_loads += passed;
        expect_same_arrays(&s);
        if (flips)
            flip(&s, draw(flips + 1));
        dump_both(&s, &c, draw(2) ? TD_TRANSFER_DUMP : TD_TRANSFER_DUMP_KNOWN, &passed);
        passed_dumps += passed;
        close_call(&c);
    }
    assert_true(passed_loads > 5 && passed_dumps > 5);
    if (!flips)
        assert_true(passed_loads > 40 && passed_dumps > 40);
    close_scene(&s);
}

static void words_pass_by_the_copies(void **state)
{
    (void)state;
    for (size_t form = 0; form < FORMS; form++)
        run_calls(form, NULL, 0);
}

static void errors_are_those_of_the_layers(void **state)
{
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        run_calls(form, forms[form].code ? "check=on" : NULL, 1);
        run_calls(form, forms[form].code ? "check=on" : NULL, 2);
        if (forms[form].code)
            run_calls(form, "check=off", 3);
    }
}

/* Around one memory all words cross by the copies, around the other they may pass; the arrays stay equal. */
static void x_is_that_of_the_layers(void **state)
{
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        scene s[2];
        for (int k = 0; k < 2; k++) {
            open_scene(&s[k], form, NULL);
            ASSERT_OK(td_memory_clear(s[k].here.top));
            for (size_t i = 0; i < TILES; i++)
                memcpy(td_memory_data(s[k].far[i]), td_memory_data(s[k].here.tile[i]), tile_bytes(&s[k]));
            cross_once(&s[k]);
        }
        for (int round = 0; round < 60; round++) {
            call c;
            char message[2][400];
            td_status status[2];
            const bool loads = draw(2);
            const size_t tile = draw(TILES), word = draw(ROWS), bytes = td_memory_word_bytes(s[0].far[0]);
            const uint64_t bit = draw(td_memory_width_bits(s[0].far[0]));
            open_call(&c, &s[0]);
            for (int k = 0; k < 2; k++) {
                int partial = 0, borrowed = 0;
                if (round % 3 == 0)
                    ((unsigned char *)td_memory_data(s[k].far_x[tile]))[word * bytes + bit / 8] |=
                        (unsigned char)(1u << bit % 8);
                ASSERT_OK(td_memory_set_x(s[k].copy.top, round % 2 ? "zero" : "error"));
                td_passing_least = k ? 4 : UINT64_MAX;
                spoil(&s[k]);
                ASSERT_OK(td_transfer_tensor(s[k].copy.top, c.tensor[k], c.layout, c.form->as,
                                             loads ? TD_TRANSFER_LOAD : TD_TRANSFER_DUMP, &partial, &borrowed));
                if (partial || !loads)
                    bring_in(&s[k]);
                status[k] = keep_message(loads ? td_transfer_load(s[k].copy.top, c.tensor[k], c.layout, c.form->as)
                                               : td_transfer_dump(s[k].copy.top, c.tensor[k], c.layout, c.form->as),
                                         message[k]);
                if (loads && !status[k])
                    take_out(&s[k]);
            }
            assert_int_equal(status[1], status[0]);
            assert_string_equal(message[1], message[0]);
            expect_same_tensors(&c);
            for (size_t i = 0; i < TILES; i++) {
                assert_memory_equal(td_memory_data(s[1].far[i]), td_memory_data(s[0].far[i]), tile_bytes(&s[0]));
                assert_memory_equal(td_memory_data(s[1].far_x[i]), td_memory_data(s[0].far_x[i]), tile_bytes(&s[0]));
            }
            close_call(&c);
        }
        for (int k = 0; k < 2; k++)
            close_scene(&s[k]);
    }
    td_passing_least = 4;
}

/* Step 4 is never made, and the memory on top or the arrays go first. */
static void a_transfer_that_is_left_holds_nothing(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        scene s;
        call c;
        int partial = 0, borrowed = 0;
        uint32_t chunk[CHUNK];
        open_scene(&s, 3, NULL);
        cross_once(&s);
        open_call(&c, &s);
        ASSERT_OK(
            td_transfer_tensor(s.copy.top, c.tensor[0], c.layout, c.form->as, TD_TRANSFER_LOAD, &partial, &borrowed));
        assert_true(td_passing_is_on(s.copy.top));
        if (order)
            td_memory_destroy(&s.copy.top);
        else
            for (size_t i = 0; i < TILES; i++)
                td_memory_destroy(&s.copy.tile[i]);
        for (size_t i = 0; i < TILES && order; i++)
            (void)td_transfer_in(s.copy.tile[i], chunk, CHUNK);
        close_call(&c);
        close_scene(&s);
    }
}

static int allow_short_runs(void **state)
{
    (void)state;
    td_passing_least = 4;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_pass_by_the_copies), cmocka_unit_test(errors_are_those_of_the_layers),
        cmocka_unit_test(x_is_that_of_the_layers), cmocka_unit_test(a_transfer_that_is_left_holds_nothing)};
    return cmocka_run_group_tests(tests, allow_short_runs, NULL);
}
