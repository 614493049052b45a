/* Poison in the padding. Which bits are padding is found without the library's word for it: the same tensor is loaded
 * with two pad values, and the bits that differ are padding. Poison may change those bits and no others. */
#include "support.h"

#include <stdbool.h>

enum { DEPTH = 512, BANKS = 2 };

/* `full` has all bits that the other pad value does not have. */
static const struct row {
    const char *dtype, *shape, *pattern, *options, *none, *full, *as;
    unsigned width;
    size_t banks;
} rows[] = {
    {"e8m0", "130 9", "preset:scale_128x4", "", "2", "1", NULL, 128, 1}, /* 0x80 and 0x7f */
    {"e8m0", "9 5", "preset:scale_8x4", "beats=2", "2", "1", NULL, 128, 1},
    {"u4", "5 21", "r (c k) -> (r c) k", "k=16", "0", "15", NULL, 64, 1},
    {"u3", "5 21", "r (c k) -> (c r) k", "k=5 lsb=2", "0", "7", NULL, 20, 1},
    {"i8", "3 7", "(r s) c -> (r c) s", "s=4 fill=keep lsb=8", "0", "-1", NULL, 48, 1},
    {"f32", "3 10", "r (c k) -> (r c) k", "k=4", "0", "-1", "i8", 32, 1},
    {"u16", "6 10", "(rt b) (c k) -> b (rt c) k", "k=4 b=2", "0", "65535", NULL, 64, BANKS},
    {"u12", "7 3", "r (c k) -> (r c) k", "k=2 beats=2", "0", "4095", NULL, 12, 1},
};

typedef struct bench {
    td_memory *bank[BANKS];
    td_layout *layout;
} bench;

static void open_bench(const struct row *row, const char *pad, bench *b)
{
    char options[64];
    snprintf(options, sizeof options, "%s pad=%s", row->options, pad);
    ASSERT_OK(td_layout_create(row->pattern, options, NULL, &b->layout));
    for (size_t i = 0; i < row->banks; i++) {
        ASSERT_OK(td_memory_create("m", row->width, DEPTH, &b->bank[i]));
        ASSERT_OK(td_memory_fill(b->bank[i], "random seed=5", 0, DEPTH));
    }
}

static void close_bench(const struct row *row, bench *b)
{
    for (size_t i = 0; i < row->banks; i++)
        td_memory_destroy(&b->bank[i]);
    td_layout_destroy(&b->layout);
}

/* Half of a word of up to 128 bits. */
static uint64_t half_of(const bench *b, size_t bank, uint64_t address, size_t half)
{
    uint64_t word[2] = {0};
    ASSERT_OK(td_backdoor_read(b->bank[bank], &address, 1, word));
    return word[half];
}

static void check_row(const struct row *row, uint64_t seed)
{
    td_tensor *t = NULL;
    td_shape shape;
    td_report *report = NULL;
    bench none, full;
    uint64_t count = 0, changed = 0;
    ASSERT_OK(td_shape_parse(row->shape, &shape));
    ASSERT_OK(td_tensor_create(row->dtype, shape, &t));
    ASSERT_OK(td_tensor_fill(t, row->as ? "ramp start=1 step=1" : "random seed=9"));
    open_bench(row, row->none, &none);
    open_bench(row, row->full, &full);
    ASSERT_OK(td_backdoor_load_tensor_banks(none.bank, row->banks, t, none.layout, row->as));
    ASSERT_OK(td_backdoor_load_tensor_banks(full.bank, row->banks, t, full.layout, row->as));
    bench before = none;
    for (size_t i = 0; i < row->banks; i++)
        ASSERT_OK(td_memory_snapshot(none.bank[i], &before.bank[i]));
    ASSERT_OK(td_backdoor_dirty_padding_banks(none.bank, row->banks, t, none.layout, row->as, seed, &count));
    for (size_t i = 0; i < row->banks; i++)
        for (uint64_t a = 0; a < 2 * DEPTH; a++) {
            const uint64_t old = half_of(&before, i, a / 2, a % 2), new = half_of(&none, i, a / 2, a % 2),
                           pads = old ^ half_of(&full, i, a / 2, a % 2);
            changed += old != new;
            if ((old ^ new) & ~pads)
                fail_msg("%s %s: word %u changed outside of its padding", row->pattern, row->options, (unsigned)a / 2);
        }
    assert_true(count > 0 && changed > 0);
    ASSERT_OK(td_backdoor_compare_tensor_banks(none.bank, row->banks, t, none.layout, "check_pad", row->as, &report));
    assert_int_equal(td_report_mismatches(report), 0);
    assert_int_equal(td_report_pad_mismatches(report), count); /* every one, since none is the pad value */
    td_report_destroy(&report);
    for (size_t i = 0; i < row->banks; i++)
        td_memory_destroy(&before.bank[i]);
    close_bench(row, &none);
    close_bench(row, &full);
    td_tensor_destroy(&t);
}

static void poison_is_in_the_padding_alone(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (uint64_t seed = 0; seed < 3; seed++)
            check_row(&rows[r], seed);
}

static void seeds_say_what_the_poison_is(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    td_memory *m = NULL;
    td_layout *layout = NULL;
    uint64_t first = 0, again = 0, count = 0;
    const uint64_t address = 0;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(1, 5), &t));
    ASSERT_OK(td_memory_create("m", 64, 4, &m));
    ASSERT_OK(td_layout_create("r (ct c) -> (r ct) c", "c=8 pad=0", NULL, &layout));
    ASSERT_OK(td_backdoor_load_tensor(m, t, layout, NULL));
    ASSERT_OK(td_backdoor_dirty_padding(m, t, layout, NULL, 0, &count));
    assert_int_equal(count, 3);
    ASSERT_OK(td_backdoor_read(m, &address, 1, &first));
    assert_int_equal(first, 0xffffff0000000000u);
    ASSERT_OK(td_backdoor_dirty_padding(m, t, layout, NULL, 7, NULL));
    ASSERT_OK(td_backdoor_read(m, &address, 1, &first));
    ASSERT_OK(td_backdoor_load_tensor(m, t, layout, NULL));
    ASSERT_OK(td_backdoor_dirty_padding(m, t, layout, NULL, 7, NULL));
    ASSERT_OK(td_backdoor_read(m, &address, 1, &again));
    assert_int_equal(first, again); /* a seed is the same poison every time */
    ASSERT_OK(td_backdoor_dirty_padding(m, t, layout, NULL, 8, NULL));
    ASSERT_OK(td_backdoor_read(m, &address, 1, &again));
    assert_int_not_equal(first, again);
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &layout)); /* no padding: nothing to do */
    ASSERT_OK(td_backdoor_dirty_padding(m, t, layout, NULL, 0, &count));
    assert_int_equal(count, 0);
    td_layout_destroy(&layout);
    td_memory_destroy(&m);
    td_tensor_destroy(&t);
}

/* -- parts -- */

enum { PART_DEPTH = 64 };

/* 5 x 40 elements in blocks of 32, rows in words of 32 elements, scales by 8x4: both have padding. */
typedef struct packed {
    td_tensor *w;
    td_memory *list[2];
    td_layout *elems, *scales;
    td_parts_layout *where;
} packed;

static void open_packed(packed *p, const char *elems, const char *scales)
{
    *p = (packed){0};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(5, 40), &p->w));
    ASSERT_OK(td_tensor_fill(p->w, "normal seed=4"));
    ASSERT_OK(td_memory_create("wbuf", 128, PART_DEPTH, &p->list[0]));
    ASSERT_OK(td_memory_create("sbuf", 256, PART_DEPTH, &p->list[1]));
    for (int i = 0; i < 2; i++)
        ASSERT_OK(td_memory_fill(p->list[i], "random seed=6", 0, PART_DEPTH));
    ASSERT_OK(td_layout_create("n (kt ks) -> (n kt) ks", elems, "3 + index", &p->elems));
    ASSERT_OK(td_layout_create("preset:scale_8x4", scales, "1 + index", &p->scales));
    ASSERT_OK(td_parts_layout_create("mxfp4", &p->where));
    ASSERT_OK(td_parts_layout_add(p->where, "elems", "wbuf", p->elems));
    ASSERT_OK(td_parts_layout_add(p->where, "scales", "sbuf", p->scales));
}

static void close_packed(packed *p)
{
    td_tensor_destroy(&p->w);
    for (int i = 0; i < 2; i++)
        td_memory_destroy(&p->list[i]);
    td_layout_destroy(&p->elems);
    td_layout_destroy(&p->scales);
    td_parts_layout_destroy(&p->where);
}

static size_t memory_bytes(td_memory *m)
{
    return (size_t)(td_memory_depth_words(m) * td_memory_word_bytes(m));
}

static void all_parts_are_poisoned_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        packed none, full, before;
        td_report *report = NULL;
        uint64_t count = 0;
        size_t changed[2] = {0};
        open_packed(&none, "ks=32 pad=0.5", "pad=2"); /* 1 and 0x80 */
        open_packed(&full, "ks=32 pad=-4", "pad=1");  /* 0xe and 0x7f */
        open_packed(&before, "ks=32 pad=0.5", "pad=2");
        ASSERT_OK(td_backdoor_load_parts(none.list, 2, none.w, none.where));
        ASSERT_OK(td_backdoor_load_parts(full.list, 2, full.w, full.where));
        ASSERT_OK(td_backdoor_load_parts(before.list, 2, before.w, before.where));
        ASSERT_OK(td_backdoor_dirty_parts(none.list, 2, none.w, none.where, seed, &count));
        assert_int_equal(count, (5 * 64 - 5 * 40) + (8 * 4 - 5 * 2));
        for (int m = 0; m < 2; m++) {
            const unsigned char *now = td_memory_data(none.list[m]), *was = td_memory_data(before.list[m]),
                                *other = td_memory_data(full.list[m]);
            for (size_t i = 0; i < memory_bytes(none.list[m]); i++) {
                assert_int_equal((now[i] ^ was[i]) & ~(was[i] ^ other[i]), 0); /* padding alone */
                changed[m] += now[i] != was[i];
            }
        }
        assert_int_equal(changed[0], 5 * 24 / 2);
        assert_int_equal(changed[1], 8 * 4 - 5 * 2);
        ASSERT_OK(td_backdoor_compare_parts(none.list, 2, none.w, none.where, "exact", &report));
        assert_int_equal(td_report_mismatches(report), 0);
        td_report_destroy(&report);
        close_packed(&none);
        close_packed(&full);
        close_packed(&before);
    }
}

/* 4 rows of 24 elements in words of 32, and each row's scale in two of the eight padding lanes: six stay padding. */
static void parts_in_the_padding_of_others_stay(void **state)
{
    (void)state;
    td_tensor *w = NULL;
    td_memory *m = NULL;
    td_layout *elems = NULL, *scales = NULL;
    td_parts_layout *where = NULL;
    td_report *report = NULL;
    uint64_t count = 0, word[2] = {0}, scale_before[4];
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 24), &w));
    ASSERT_OK(td_tensor_fill(w, "normal seed=4"));
    ASSERT_OK(td_memory_create("m", 128, 4, &m));
    ASSERT_OK(td_layout_create("n (kt ks) -> (n kt) ks", "ks=32 pad=0", NULL, &elems));
    ASSERT_OK(td_layout_create("n k -> n k", "lsb=100 fill=keep", NULL, &scales));
    ASSERT_OK(td_parts_layout_create("mxfp4", &where));
    ASSERT_OK(td_parts_layout_add(where, "elems", "m", elems));
    ASSERT_OK(td_parts_layout_add(where, "scales", "m", scales));
    ASSERT_OK(td_backdoor_load_parts(&m, 1, w, where));
    for (uint64_t a = 0; a < 4; a++) {
        ASSERT_OK(td_backdoor_read(m, &a, 1, word));
        scale_before[a] = word[1] >> 36 & 0xff;
    }
    ASSERT_OK(td_backdoor_dirty_parts(&m, 1, w, where, 0, &count));
    assert_int_equal(count, 4 * 6);
    for (uint64_t a = 0; a < 4; a++) {
        ASSERT_OK(td_backdoor_read(m, &a, 1, word));
        assert_int_equal(word[1] >> 32, 0xfffff00f | scale_before[a] << 4);
    }
    ASSERT_OK(td_backdoor_compare_parts(&m, 1, w, where, "exact", &report));
    assert_int_equal(td_report_mismatches(report), 0);
    td_report_destroy(&report);
    td_parts_layout_destroy(&where);
    td_layout_destroy(&elems);
    td_layout_destroy(&scales);
    td_memory_destroy(&m);
    td_tensor_destroy(&w);
}

/* pad_scale= of the packing stands in place of pad= of the scales' layout: 0x7f, the neutral scale. */
static void the_packing_says_what_pads_scales(void **state)
{
    (void)state;
    packed p;
    td_parts_layout *where = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    open_packed(&p, "ks=32 pad=0", "pad=2");
    ASSERT_OK(td_parts_layout_create("mxfp4 pad_scale=1", &where));
    ASSERT_OK(td_parts_layout_add(where, "elems", "wbuf", p.elems));
    ASSERT_OK(td_parts_layout_add(where, "scales", "sbuf", p.scales));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_backdoor_load_parts(p.list, 2, p.w, i ? where : p.where));
        const unsigned char *word = (const unsigned char *)td_memory_data(p.list[1]) + 32; /* word 1, 8 x 4 scales */
        for (size_t row = 0; row < 8; row++)
            for (size_t column = 0; column < 4; column++)
                if (row >= 5 || column >= 2)
                    assert_int_equal(word[row * 4 + column], i ? 0x7f : 0x80);
    }
    ASSERT_OK(td_parts_layout_spans(where, 1, p.w, 1, 256, &spans, &count));
    assert_int_equal(count, 1);
    assert_int_equal(spans[0].count, 1);
    td_free(spans);
    td_parts_layout_destroy(&where);
    ASSERT_OK(td_parts_layout_create("mxfp4 pad_scale=one", &where));
    ASSERT_OK(td_parts_layout_add(where, "elems", "wbuf", p.elems));
    ASSERT_OK(td_parts_layout_add(where, "scales", "sbuf", p.scales));
    ASSERT_REFUSED(td_backdoor_load_parts(p.list, 2, p.w, where), TD_OPTION,
                   "backdoor_load_parts: option pad=one: pass a number in the memory's dtype, as in pad=0, pad=-1 or "
                   "pad=0.5");
    td_parts_layout_destroy(&where);
    close_packed(&p);
}

static void refusals_of_parts_say_what_to_do(void **state)
{
    (void)state;
    packed p;
    uint64_t count = 7;
    open_packed(&p, "ks=32 pad=0", "pad=1 alias=last");
    ASSERT_OK(td_backdoor_load_parts(p.list, 2, p.w, p.where));
    ASSERT_REFUSED(td_backdoor_dirty_parts(p.list, 2, p.w, p.where, 0, &count), TD_OPTION,
                   "backdoor_dirty_parts: alias=last of the part \"scales\" lets elements lie over padding, and they "
                   "would be overwritten; use a layout without it");
    ASSERT_REFUSED(td_backdoor_dirty_parts(p.list, 2, NULL, p.where, 0, &count), TD_ARGUMENT,
                   "backdoor_dirty_parts: the tensor is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_dirty_parts(p.list, 1, p.w, p.where, 0, &count), TD_ARGUMENT,
                   "backdoor_dirty_parts: no memory \"sbuf\" for the part \"scales\" among \"wbuf\"; pass it too, or "
                   "name one of them");
    assert_int_equal(count, 7);
    close_packed(&p);
}

static void refusals_say_what_to_do(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    td_memory *m = NULL;
    td_layout *layout = NULL, *last = NULL;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(1, 5), &t));
    ASSERT_OK(td_memory_create("m", 64, 4, &m));
    ASSERT_OK(td_layout_create("r (ct c) -> (r ct) c", "c=8 pad=0", NULL, &layout));
    ASSERT_OK(td_layout_create("r (ct c) -> (r ct) c", "c=8 pad=0 alias=last", NULL, &last));
    ASSERT_REFUSED(td_backdoor_dirty_padding(m, t, last, NULL, 0, NULL), TD_OPTION,
                   "backdoor_dirty_padding \"m\": alias=last lets elements lie over padding, and they would be "
                   "overwritten; use a layout without it");
    ASSERT_REFUSED(td_backdoor_dirty_padding(NULL, t, layout, NULL, 0, NULL), TD_ARGUMENT,
                   "backdoor_dirty_padding: the memory is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_dirty_padding_banks(NULL, 2, t, layout, NULL, 0, NULL), TD_ARGUMENT,
                   "backdoor_dirty_padding: no memory; pass at least one");
    ASSERT_REFUSED(td_backdoor_dirty_padding(m, NULL, layout, NULL, 0, NULL), TD_ARGUMENT,
                   "backdoor_dirty_padding \"m\": the tensor is NULL; create it first");
    td_layout_destroy(&layout);
    td_layout_destroy(&last);
    td_memory_destroy(&m);
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poison_is_in_the_padding_alone),
        cmocka_unit_test(seeds_say_what_the_poison_is),
        cmocka_unit_test(refusals_say_what_to_do),
        cmocka_unit_test(all_parts_are_poisoned_at_once),
        cmocka_unit_test(parts_in_the_padding_of_others_stay),
        cmocka_unit_test(refusals_of_parts_say_what_to_do),
        cmocka_unit_test(the_packing_says_what_pads_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
