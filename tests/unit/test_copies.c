/* Copies that are longer than the masks and blocks that a plan compares them by: one bit changed anywhere is noticed,
 * the tensor stays as it was, and bits that belong to no element do not matter. tests/prop has the small ones. */
#include "tensordoor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct copies_case {
    const char *pattern, *options;
    uint64_t dim[3];
    const char *dtype;
    uint64_t width, depth;
    size_t banks;
    unsigned bits, slot; /* of an element, from bit 0 of its word on in steps of slot */
    uint64_t lanes;
} copies_case;

static const copies_case cases[] = {
    {"r c -> (k r) c", "k=3", {37, 1000}, "i8", 8000, 111, 1, 8, 8, 1000},
    {"r c -> (k r) c", "k=4", {50, 1024}, "i8", 8192, 200, 1, 8, 8, 1024},
    {"r c -> (k r) c", "k=3 slot=16", {50, 1000}, "i8", 16000, 150, 1, 8, 16, 1000},
    {"r c -> (k r) c", "k=3", {111, 999}, "u5", 4995, 333, 1, 5, 5, 999},
    {"r c -> (r k) c", "k=3", {3, 50000}, "u8", 400000, 9, 1, 8, 8, 50000},
    {"r c -> k r c", "k=3", {33, 2000}, "u12", 24000, 33, 3, 12, 12, 2000},
    {"r c -> r (c k)", "k=3", {33, 2000}, "u3", 18000, 33, 1, 3, 3, 6000},
    {"r c -> k r c", "k=3", {3, 50000}, "u16", 800000, 3, 3, 16, 16, 50000},
};

typedef struct scene {
    td_tensor *tensor;
    td_layout *layout;
    td_memory *bank[4];
    size_t bytes;
} scene;

static void open_scene(const copies_case *c, scene *s)
{
    const td_shape shape = {.rank = 2, .dim = {c->dim[0], c->dim[1]}};
    assert_int_equal(td_tensor_create(c->dtype, shape, &s->tensor), TD_OK);
    assert_int_equal(td_layout_create(c->pattern, c->options, NULL, &s->layout), TD_OK);
    for (size_t i = 0; i < c->banks; i++)
        assert_int_equal(td_memory_create("m", c->width, c->depth, &s->bank[i]), TD_OK);
    s->bytes = (size_t)td_tensor_elems(s->tensor) * td_tensor_elem_bytes(s->tensor);
    td_tensor_fill_random(s->tensor, 7);
    assert_int_equal(td_backdoor_load_tensor_banks(s->bank, c->banks, s->tensor, s->layout, NULL), TD_OK);
}

static void close_scene(const copies_case *c, scene *s)
{
    for (size_t i = 0; i < c->banks; i++)
        td_memory_destroy(&s->bank[i]);
    td_layout_destroy(&s->layout);
    td_tensor_destroy(&s->tensor);
}

/* One bit of a word changed, and back. */
static void check_bit(const copies_case *c, scene *s, td_tensor *out, size_t bank, uint64_t word, uint64_t bit)
{
    const bool owned = bit / c->slot < c->lanes && bit % c->slot < c->bits;
    unsigned char *byte =
        (unsigned char *)td_memory_data(s->bank[bank]) + word * td_memory_word_bytes(s->bank[bank]) + bit / 8;
    memset(td_tensor_data(out), 0x5a, s->bytes);
    *byte ^= (unsigned char)(1u << bit % 8);
    const td_status status = td_backdoor_dump_tensor_banks(s->bank, c->banks, out, s->layout, NULL);
    *byte ^= (unsigned char)(1u << bit % 8);
    if (status != (owned ? TD_DISAGREE : TD_OK))
        fail_msg("\"%s\" %s: bank %zu, word %llu, bit %llu: status %d", c->pattern, c->dtype, bank,
                 (unsigned long long)word, (unsigned long long)bit, (int)status);
    const unsigned char *data = td_tensor_data(out);
    for (size_t i = 0; owned && i < s->bytes; i++)
        assert_int_equal(data[i], 0x5a);
    if (!owned)
        assert_memory_equal(data, td_tensor_data(s->tensor), s->bytes);
}

static void every_copy_counts(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const copies_case *c = &cases[i];
        scene s = {0};
        td_tensor *out = NULL;
        open_scene(c, &s);
        assert_int_equal(td_tensor_create(c->dtype, td_tensor_shape(s.tensor), &out), TD_OK);
        assert_int_equal(td_backdoor_dump_tensor_banks(s.bank, c->banks, out, s.layout, NULL), TD_OK);
        assert_memory_equal(td_tensor_data(out), td_tensor_data(s.tensor), s.bytes);
        for (size_t b = 0; b < c->banks; b++)
            for (int n = 0; n < 24; n++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                const uint64_t edge[] = {0, c->width - 1, (random >> 20) % c->width};
                check_bit(c, &s, out, b, n < 3 ? 0 : n < 6 ? c->depth - 1 : (random >> 40) % c->depth, edge[n % 3]);
            }
        td_tensor_destroy(&out);
        close_scene(c, &s);
    }
}

/* Lanes that lie in words of their own by a table: every place of every element, and no bit beside them. */
static void skewed_copies_count(void **state)
{
    (void)state;
    static const char *const addresses[] = {"0x2f ^ b", "4 + (b + 1) % 4", "b * b"};
    static const uint64_t words[][4] = {{0x2f, 0x2e, 0x2d, 0x2c}, {5, 6, 7, 4}, {0, 1, 4, 9}};
    for (size_t a = 0; a < sizeof addresses / sizeof addresses[0]; a++) {
        const copies_case c = {"b c -> 1 (c k b)", "k=2", {4, 2}, "i2", 32, 48, 1, 0, 0, 0};
        scene s = {0};
        td_tensor *out = NULL;
        assert_int_equal(td_tensor_create(c.dtype, TD_SHAPE(c.dim[0], c.dim[1]), &s.tensor), TD_OK);
        assert_int_equal(td_tensor_create(c.dtype, TD_SHAPE(c.dim[0], c.dim[1]), &out), TD_OK);
        assert_int_equal(td_tensor_fill_random(s.tensor, 7), TD_OK);
        assert_int_equal(td_layout_create(c.pattern, c.options, addresses[a], &s.layout), TD_OK);
        assert_int_equal(td_memory_create("m", c.width, c.depth, &s.bank[0]), TD_OK);
        assert_int_equal(td_backdoor_load_tensor(s.bank[0], s.tensor, s.layout, NULL), TD_OK);
        unsigned char *data = td_memory_data(s.bank[0]);
        for (uint64_t word = 0; word < c.depth; word++)
            for (uint64_t bit = 0; bit < c.width; bit++) {
                const bool owned = words[a][bit / 2 % 4] == word;
                data[word * 4 + bit / 8] ^= (unsigned char)(1u << bit % 8);
                const td_status status = td_backdoor_dump_tensor(s.bank[0], out, s.layout, NULL);
                data[word * 4 + bit / 8] ^= (unsigned char)(1u << bit % 8);
                if (status != (owned ? TD_DISAGREE : TD_OK))
                    fail_msg("{%s}: word %d, bit %d: status %d", addresses[a], (int)word, (int)bit, (int)status);
            }
        td_tensor_destroy(&out);
        close_scene(&c, &s);
    }
}

/* The walk that names a clash passes over rows that are the same. */
static void the_message_names_the_element(void **state)
{
    (void)state;
    const copies_case *c = &cases[0];
    scene s = {0};
    open_scene(c, &s);
    unsigned char *data = td_memory_data(s.bank[0]);
    const size_t at = (size_t)(2 * 37 + 20) * td_memory_word_bytes(s.bank[0]) + 333;
    const unsigned before = data[at];
    data[at] ^= 0x10;
    char text[256];
    assert_int_equal(td_backdoor_dump_tensor(s.bank[0], s.tensor, s.layout, NULL), TD_DISAGREE);
    snprintf(
        text, sizeof text,
        "backdoor_dump_tensor \"m\": the copies of element (20, 333) differ: 0x%x in one, 0x%x at bank 0, address 94, "
        "bit 2664; load the copies together, or dump with a layout that has no repeats",
        before, before ^ 0x10);
    assert_string_equal(td_last_error(), text);
    close_scene(c, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_copy_counts),
        cmocka_unit_test(skewed_copies_count),
        cmocka_unit_test(the_message_names_the_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
