/* Comparisons of parts with a golden tensor: by codes, in steps of the element at its block's scale, by values; the
 * report with block, scale and place, what fits, text, JSON and page; every message. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

typedef struct world {
    td_tensor *w;
    td_memory *wbuf, *sbuf, *list[2];
    td_layout *tiles, *rows;
    td_parts_layout *parts;
} world;

static void open_world(world *w, const char *packing)
{
    *w = (world){0};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 64), &w->w));
    ASSERT_OK(td_tensor_fill(w->w, "normal seed=5"));
    ASSERT_OK(td_memory_create("wbuf", 128, 16, &w->wbuf));
    ASSERT_OK(td_memory_create("sbuf", 32, 16, &w->sbuf));
    ASSERT_OK(td_layout_create("n (kt ks) -> (n kt) ks", "ks=16", "", &w->tiles));
    ASSERT_OK(td_layout_create("n k -> n k", "", "0x8 + index", &w->rows));
    ASSERT_OK(td_parts_layout_create(packing, &w->parts));
    ASSERT_OK(td_parts_layout_add(w->parts, "elems", "wbuf", w->tiles));
    ASSERT_OK(td_parts_layout_add(w->parts, "scales", "sbuf", w->rows));
    w->list[0] = w->wbuf;
    w->list[1] = w->sbuf;
}

static void close_world(world *w)
{
    td_tensor_destroy(&w->w);
    td_memory_destroy(&w->wbuf);
    td_memory_destroy(&w->sbuf);
    td_layout_destroy(&w->tiles);
    td_layout_destroy(&w->rows);
    td_parts_layout_destroy(&w->parts);
}

static td_report *compare(world *w, const char *policy)
{
    td_report *report = NULL;
    ASSERT_OK(td_backdoor_compare_parts(w->list, 2, w->w, w->parts, policy, &report));
    assert_non_null(report);
    return report;
}

static bool passes(world *w, const char *policy)
{
    td_report *report = compare(w, policy);
    const bool passed = td_report_passed(report);
    td_report_destroy(&report);
    return passed;
}

static unsigned char *elem_byte(world *w, uint64_t row, uint64_t column)
{
    return (unsigned char *)td_memory_data(w->wbuf) + (row * 4 + column / 16) * 16 + column % 16 / 2;
}

static void what_was_loaded_matches(void **state)
{
    (void)state;
    static const char *const packings[] = {"mxfp4", "mxfp4 rule=rceil", "mxfp4 elem=i4 rule=rceil",
                                           "mxfp4 round=floor"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        world w;
        open_world(&w, packings[i]);
        ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));
        td_report *report = compare(&w, "");
        assert_true(td_report_passed(report));
        assert_int_equal(td_report_compared(report), 256);
        td_report_destroy(&report);
        assert_true(passes(&w, "ulp=1"));
        assert_true(passes(&w, "atol=2"));
        assert_false(passes(&w, "ulp=0"));
        assert_false(passes(&w, "atol=1e-9"));
        close_world(&w);
    }
}

/* Element (1, 18) of scale 2^0: codes are 0 .5 1 1.5 2 3 4 6. */
static void steps_are_those_of_the_block(void **state)
{
    (void)state;
    world w;
    td_mismatch m;
    open_world(&w, "mxfp4");
    for (uint64_t i = 0; i < 256; i++)
        ASSERT_OK(td_tensor_set_real(w.w, i, i % 32 == 0 ? 6 : 1));
    for (uint64_t i = 32; i < 64; i++) /* the second block of row 0 is 8 times as large */
        ASSERT_OK(td_tensor_set_real(w.w, i, i == 32 ? 48 : 8));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));
    assert_true(passes(&w, ""));
    *elem_byte(&w, 1, 18) = 0x24; /* 2 instead of 1: two steps of .5 below it, one of 1 at it */
    *elem_byte(&w, 0, 34) = 0x23; /* 12 instead of 8, a step of 4 */
    td_report *report = compare(&w, "");
    assert_int_equal(td_report_mismatches(report), 2);
    ASSERT_OK(td_report_first(report, 0, &m));
    assert_int_equal(m.elem, 34);
    assert_int_equal(m.ulp, 1);
    assert_true(m.expected_value == 8 && m.actual_value == 12 && m.error == 4);
    assert_int_equal(m.address, 2);
    assert_int_equal(m.lsb, 8);
    assert_int_equal(m.msb, 11);
    ASSERT_OK(td_report_first(report, 1, &m));
    assert_int_equal(m.elem, 64 + 18);
    assert_int_equal(m.ulp, 1);
    td_report_destroy(&report);
    assert_true(passes(&w, "ulp=1"));
    assert_false(passes(&w, "atol=1"));
    assert_true(passes(&w, "atol=4"));
    assert_true(passes(&w, "rtol=1"));
    *elem_byte(&w, 0, 34) = 0x27; /* 48 instead of 8: steps of 16 there */
    report = compare(&w, "ulp=2");
    assert_int_equal(td_report_mismatches(report), 1);
    assert_int_equal(td_report_worst_ulp(report), 3);
    td_report_destroy(&report);
    close_world(&w);
}

static void a_report_says_block_scale_and_place(void **state)
{
    (void)state;
    world w;
    char *text = NULL, *json = NULL;
    open_world(&w, "mxfp4");
    for (uint64_t i = 0; i < 256; i++)
        ASSERT_OK(td_tensor_set_real(w.w, i, i % 32 == 0 ? 6 : 1));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));
    *elem_byte(&w, 1, 18) = 0x24;
    td_report *report = compare(&w, "max=2");
    ASSERT_OK(td_report_text(report, &text));
    assert_string_equal(text,
                        "compare \"wbuf\" with golden f32 (4, 64) as mxfp4, policy max=2: 1 of 256 elements differs\n"
                        "  worst: 1 ulp, 1 in value\n"
                        "  the first 1:\n"
                        "    at       expected        actual          ulp  address  bank  lane  bits\n"
                        "    (1, 18)  1 (0x3f800000)  2 (0x40000000)  1    0x5      0     2     11:8\n"
                        "  part elems (e2m1 in \"wbuf\"): 1 of 256 codes differ\n"
                        "  part scales (e8m0 in \"sbuf\"): 0 of 8 codes differ\n"
                        "  their blocks:\n"
                        "    (1, 18): element 2 (0x4) instead of 1 (0x2); block (1, 0), scale 1 (0x7f) in \"sbuf\" at "
                        "address 0x9 bits 7:0\n"
                        "  mismatches per step:\n"
                        "    n            1 of 4: [1]=1\n"
                        "    kt           1 of 4: [1]=1\n"
                        "    ks           1 of 16: [2]=1\n"
                        "    lane         1 of 16: [2]=1\n");
    td_free(text);
    ASSERT_OK(td_report_json(report, &json));
    assert_non_null(strstr(json,
                           "\"parts\": {\"packing\": \"mxfp4\", \"counts\": [{\"name\": \"elems\", \"dtype\": "
                           "\"e2m1\", \"memory\": \"wbuf\", \"compared\": 256, \"mismatches\": 1}, {\"name\": "
                           "\"scales\", \"dtype\": \"e8m0\", \"memory\": \"sbuf\", \"compared\": 8, \"mismatches\": "
                           "0}], \"first\": [\n  {\"block\": [1, 0], \"element\": {\"expected\": \"0x2\", "
                           "\"actual\": \"0x4\"}, \"scale\": {\"expected\": \"0x7f\", \"actual\": \"0x7f\", "
                           "\"memory\": \"sbuf\", \"address\": 9, \"bank\": 0, \"msb\": 7, \"lsb\": 0}}]}"));
    td_free(json);
    ASSERT_OK(td_report_html(report, "page.html"));
    size_t bytes = 0;
    char *page = read_whole_file("page.html", &bytes);
    assert_non_null(strstr(page, "\"scale\": {\"expected\": \"0x7f\""));
    free(page);
    td_report_destroy(&report);
    /* A scale that is wrong makes all of its block differ, and a NaN differs in every value. */
    ((unsigned char *)td_memory_data(w.sbuf))[(size_t)8 * 4] = 0xff;
    report = compare(&w, "max=1");
    assert_int_equal(td_report_mismatches(report), 33);
    ASSERT_OK(td_report_text(report, &text));
    assert_non_null(strstr(text, "    (0, 0): element 6 (0x7); block (0, 0), scale nan (0xff) instead of 1 (0x7f) in "
                                 "\"sbuf\" at address 0x8 bits 7:0\n"));
    td_free(text);
    td_report_destroy(&report);
    close_world(&w);
}

static void the_rule_that_fits_is_said(void **state)
{
    (void)state;
    world w;
    td_parts_layout *floor = NULL;
    open_world(&w, "mxfp4 rule=rceil");
    ASSERT_OK(td_parts_layout_create("mxfp4 rule=floor", &floor));
    ASSERT_OK(td_parts_layout_add(floor, "elems", "wbuf", w.tiles));
    ASSERT_OK(td_parts_layout_add(floor, "scales", "sbuf", w.rows));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, floor));
    td_report *report = compare(&w, "");
    assert_false(td_report_passed(report));
    const char *guess = td_report_guess(report, 0);
    assert_non_null(guess);
    assert_string_equal(guess, "8 of 8 scales and 256 of 256 elements are those of rule=floor; the packing says "
                               "rule=rceil");
    assert_non_null(strstr(td_report_line(report), guess));
    td_report_destroy(&report);
    td_parts_layout_destroy(&floor);
    close_world(&w);
}

/* A memory of words of 32 bits for each part, all flat. */
typedef struct flat_world {
    td_tensor *w;
    td_memory *memory[4];
    size_t count;
    td_parts_layout *where;
} flat_world;

static void open_flat(flat_world *f, const char *dtype, td_shape shape, const char *fill, const char *packing)
{
    td_parts *like = NULL;
    td_layout *flat = NULL;
    *f = (flat_world){0};
    ASSERT_OK(td_tensor_create(dtype, shape, &f->w));
    ASSERT_OK(td_tensor_fill(f->w, fill));
    ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
    ASSERT_OK(td_parts_layout_create(packing, &f->where));
    ASSERT_OK(td_parts_pack(f->w, packing, &like));
    f->count = td_parts_count(like);
    for (size_t p = 0; p < f->count; p++) {
        ASSERT_OK(td_memory_create(td_parts_name(like, p), 32, 4096, &f->memory[p]));
        ASSERT_OK(td_parts_layout_add(f->where, td_parts_name(like, p), td_parts_name(like, p), flat));
    }
    td_layout_destroy(&flat);
    td_parts_destroy(&like);
}

static void close_flat(flat_world *f)
{
    for (size_t p = 0; p < f->count; p++)
        td_memory_destroy(&f->memory[p]);
    td_tensor_destroy(&f->w);
    td_parts_layout_destroy(&f->where);
}

static void subtract_one_from_zeros(flat_world *f)
{
    unsigned char *zeros = td_memory_data(f->memory[2]);
    for (size_t i = 0; i < 8; i++) /* 16 nibbles */
        zeros[i] = (unsigned char)(((zeros[i] - 1) & 15) | ((zeros[i] - 16) & 0xf0));
}

static void order_as_ggml(flat_world *f)
{
    unsigned char *elems = td_memory_data(f->memory[0]);
    for (size_t block = 0; block < 64; block++) {
        unsigned char code[32], *at = elems + 16 * block;
        for (size_t i = 0; i < 32; i++)
            code[i] = (unsigned char)(at[i / 2] >> (4 * (i % 2)) & 15);
        for (size_t i = 0; i < 16; i++)
            at[i] = (unsigned char)(code[i] | code[i + 16] << 4);
    }
}

/* Each way in which a design is known to differ, in the words of the first guess of one comparison. */
static void what_a_design_did_instead_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *fill, *asked, *followed;
        void (*change)(flat_world *f);
        const char *guess;
    } rows[] = {
        {"f32", "normal seed=3", "mxfp4 rule=rceil", "mxfp4 rule=floor", NULL,
         "256 of 256 scales and 8192 of 8192 elements are those of rule=floor; the packing says rule=rceil"},
        {"f32", "normal seed=3", "uint4 block=512", "uint4 block=512", subtract_one_from_zeros,
         "16 of 16 scales and 8192 of 8192 elements are those of the packing; zero points are one less: GPTQ v1 stores "
         "them so"},
        {"f32", "normal seed=3", "mxfp4 axis=0 block=64", "mxfp4 axis=0 block=64", NULL, NULL},
        {"f32", "normal seed=3", "mxfp4", "mxfp4", order_as_ggml,
         "elements are in ggml order: the first half of a "
         "block in low nibbles, the second in high ones"},
        {"bf16", "sparse zeros=0.5 seed=3", "2:4 prune=magnitude order=ampere", "2:4 prune=magnitude order=hopper",
         NULL, "4096 of 4096 values, 512 of 512 meta are those of order=hopper; the packing says order=ampere"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        flat_world asked, followed;
        td_report *report = NULL;
        const td_shape shape = rows[i].change == order_as_ggml ? TD_SHAPE(16, 128)
                               : rows[i].change                ? TD_SHAPE(16, 512)
                                                               : TD_SHAPE(64, 128);
        open_flat(&asked, rows[i].dtype, shape, rows[i].fill, rows[i].asked);
        open_flat(&followed, rows[i].dtype, shape, rows[i].fill, rows[i].followed);
        ASSERT_OK(td_backdoor_load_parts(followed.memory, followed.count, followed.w, followed.where));
        if (rows[i].change)
            rows[i].change(&followed);
        ASSERT_OK(td_backdoor_compare_parts(followed.memory, followed.count, asked.w, asked.where, "max=1", &report));
        assert_int_equal(td_report_passed(report), !rows[i].guess);
        if (rows[i].guess && !strstr(td_report_guess(report, 0), rows[i].guess))
            fail_msg("%s: %s", rows[i].asked, td_report_guess(report, 0));
        td_report_destroy(&report);
        close_flat(&asked);
        close_flat(&followed);
    }
}

/* Of zero points and of scales in banks, too, the report says where they lie. */
static void every_place_of_a_block_is_said(void **state)
{
    (void)state;
    td_tensor *w = NULL;
    td_memory *list[4] = {NULL};
    td_layout *rows = NULL, *banked = NULL;
    td_parts_layout *where = NULL;
    td_report *report = NULL;
    char *text = NULL, *json = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 16), &w));
    for (uint64_t i = 0; i < 64; i++)
        ASSERT_OK(td_tensor_set_real(w, i, (double)(i % 16)));
    ASSERT_OK(td_layout_create("n k -> n k", "", "", &rows));
    ASSERT_OK(td_layout_create("(n b) k -> b n k", "b=2", "3 + index", &banked));
    ASSERT_OK(td_parts_layout_create("uint4 block=16", &where));
    ASSERT_OK(td_parts_layout_add(where, "elems", "wbuf", rows));
    ASSERT_OK(td_parts_layout_add(where, "scales", "sbuf", banked));
    ASSERT_OK(td_parts_layout_add(where, "zeros", "zbuf", rows));
    ASSERT_OK(td_memory_create("wbuf", 64, 8, &list[0]));
    ASSERT_OK(td_memory_create("sbuf[0]", 16, 8, &list[1]));
    ASSERT_OK(td_memory_create("sbuf[1]", 16, 8, &list[2]));
    ASSERT_OK(td_memory_create("zbuf", 8, 8, &list[3]));
    ASSERT_OK(td_backdoor_load_parts(list, 4, w, where));
    ((unsigned char *)td_memory_data(list[3]))[3] = 2;
    ASSERT_OK(td_backdoor_compare_parts(list, 4, w, where, "max=1", &report));
    assert_int_equal(td_report_mismatches(report), 16);
    ASSERT_OK(td_report_text(report, &text));
    if (!strstr(text, "    (3, 0): element 0 (0x0); block (3, 0), scale 1 (0x3c00) in \"sbuf[1]\" at address 0x4 bits "
                      "15:0, zero point 2 (0x2) instead of 0 (0x0) in \"zbuf\" at address 0x3 bits 3:0\n"))
        fail_msg("%s", text);
    td_free(text);
    ASSERT_OK(td_report_json(report, &json));
    if (!strstr(json, "\"scale\": {\"expected\": \"0x3c00\", \"actual\": \"0x3c00\", \"memory\": \"sbuf[1]\", "
                      "\"address\": 4, \"bank\": 1, \"msb\": 15, \"lsb\": 0}, \"zero\": {\"expected\": \"0x0\", "
                      "\"actual\": \"0x2\", \"memory\": \"zbuf\", \"address\": 3, \"bank\": 0, \"msb\": 3, \"lsb\": "
                      "0}}"))
        fail_msg("%s", json);
    td_free(json);
    td_report_destroy(&report);
    for (int i = 0; i < 4; i++)
        td_memory_destroy(&list[i]);
    td_tensor_destroy(&w);
    td_layout_destroy(&rows);
    td_layout_destroy(&banked);
    td_parts_layout_destroy(&where);
}

static void other_packings(void **state)
{
    (void)state;
    static const char *const packings[] = {"bfp8 block=32", "uint4 block=32 scale=f16", "nvfp4 block=32", "mxint8",
                                           "int4 block=32"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        td_parts_layout *layout = NULL;
        td_layout *flat = NULL, *scalar = NULL;
        td_memory *memory[4] = {NULL};
        td_report *report = NULL;
        td_parts *like = NULL;
        td_tensor *w = NULL;
        ASSERT_OK(td_tensor_create("bf16", TD_SHAPE(4, 64), &w));
        ASSERT_OK(td_tensor_fill(w, "normal seed=2"));
        ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
        ASSERT_OK(td_layout_create(" -> 1 1", "", "", &scalar));
        ASSERT_OK(td_parts_layout_create(packings[i], &layout));
        ASSERT_OK(td_parts_create(packings[i], TD_SHAPE(4, 64), &like));
        const size_t count = td_parts_count(like);
        for (size_t p = 0; p < count; p++) {
            const char *name = td_parts_name(like, p);
            ASSERT_OK(td_memory_create(name, 32, 256, &memory[p]));
            ASSERT_OK(td_parts_layout_add(layout, name, name, strcmp(name, "global") == 0 ? scalar : flat));
        }
        ASSERT_OK(td_backdoor_load_parts(memory, count, w, layout));
        ASSERT_OK(td_backdoor_compare_parts(memory, count, w, layout, NULL, &report));
        assert_true(td_report_passed(report));
        td_report_destroy(&report);
        ASSERT_OK(td_backdoor_compare_parts(memory, count, w, layout, "ulp=1", &report));
        if (!td_report_passed(report))
            fail_msg("%s: %s", packings[i], td_report_line(report));
        td_report_destroy(&report);
        ((unsigned char *)td_memory_data(memory[0]))[5] ^= 0x10;
        ASSERT_OK(td_backdoor_compare_parts(memory, count, w, layout, NULL, &report));
        assert_int_equal(td_report_mismatches(report), 1);
        td_report_destroy(&report);
        for (size_t p = 0; p < count; p++)
            td_memory_destroy(&memory[p]);
        td_parts_destroy(&like);
        td_tensor_destroy(&w);
        td_layout_destroy(&flat);
        td_layout_destroy(&scalar);
        td_parts_layout_destroy(&layout);
    }
}

static void sparse_ones_are_compared_dense(void **state)
{
    (void)state;
    td_parts_layout *layout = NULL;
    td_layout *flat = NULL;
    td_memory *memory[2] = {NULL};
    td_report *report = NULL;
    td_tensor *w = NULL;
    char *text = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2, 8), &w));
    ASSERT_OK(td_tensor_set_bits(w, 3, 5));
    ASSERT_OK(td_tensor_set_bits(w, 9, 7));
    ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
    ASSERT_OK(td_parts_layout_create("2:4", &layout));
    ASSERT_OK(td_parts_layout_add(layout, "values", "v", flat));
    ASSERT_OK(td_parts_layout_add(layout, "meta", "m", flat));
    ASSERT_OK(td_memory_create("v", 8, 64, &memory[0]));
    ASSERT_OK(td_memory_create("m", 16, 64, &memory[1]));
    ASSERT_OK(td_backdoor_load_parts(memory, 2, w, layout));
    ASSERT_OK(td_backdoor_compare_parts(memory, 2, w, layout, NULL, &report));
    assert_true(td_report_passed(report));
    td_report_destroy(&report);
    unsigned char *values = td_memory_data(memory[0]);
    for (size_t i = 0; i < 8; i++)
        values[i] = values[i] == 7 ? 6 : values[i];
    ASSERT_OK(td_backdoor_compare_parts(memory, 2, w, layout, NULL, &report));
    ASSERT_OK(td_report_text(report, &text));
    assert_memory_equal(text, "compare a tensor with golden i8 (2, 8) as 2:4, policy exact: 1 of 16 elements differs\n",
                        84);
    assert_non_null(strstr(text, "  part values (i8 in \"v\"): 1 of 8 codes differ\n"));
    td_free(text);
    td_report_destroy(&report);
    ASSERT_OK(td_backdoor_compare_parts(memory, 2, w, layout, "ulp=1", &report));
    assert_true(td_report_passed(report));
    td_report_destroy(&report);
    td_memory_destroy(&memory[0]);
    td_memory_destroy(&memory[1]);
    td_tensor_destroy(&w);
    td_layout_destroy(&flat);
    td_parts_layout_destroy(&layout);
}

/* A mask from the other bit on has the same places in another order, and the report says which. */
static void the_sparse_order_that_fits_is_said(void **state)
{
    (void)state;
    td_parts_layout *msb = NULL, *lsb = NULL;
    td_layout *flat = NULL;
    td_memory *memory[2] = {NULL};
    td_report *report = NULL;
    td_tensor *w = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 32), &w));
    ASSERT_OK(td_tensor_fill(w, "sparse zeros=0.6 seed=8"));
    ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
    ASSERT_OK(td_parts_layout_create("mask word=u8 first=msb", &msb));
    ASSERT_OK(td_parts_layout_create("mask word=u8", &lsb));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_parts_layout_add(i ? lsb : msb, "values", "v", flat));
        ASSERT_OK(td_parts_layout_add(i ? lsb : msb, "mask", "m", flat));
    }
    ASSERT_OK(td_memory_create("v", 8, 256, &memory[0]));
    ASSERT_OK(td_memory_create("m", 8, 256, &memory[1]));
    ASSERT_OK(td_backdoor_load_parts(memory, 2, w, msb));
    ASSERT_OK(td_backdoor_compare_parts(memory, 2, w, msb, NULL, &report));
    assert_true(td_report_passed(report));
    td_report_destroy(&report);
    ASSERT_OK(td_backdoor_compare_parts(memory, 2, w, lsb, NULL, &report));
    assert_false(td_report_passed(report));
    assert_non_null(td_report_guess(report, 0));
    assert_non_null(strstr(td_report_guess(report, 0), " are those of first=msb; the packing says first=lsb"));
    td_report_destroy(&report);
    memset(td_memory_data(memory[1]), 0xff, 16); /* more places than there are values */
    assert_int_equal(td_backdoor_compare_parts(memory, 2, w, lsb, NULL, &report), TD_RANGE);
    assert_memory_equal(td_last_error(), "backdoor_compare_parts: ", 24);
    assert_non_null(strstr(td_last_error(), " values, "));
    td_memory_destroy(&memory[0]);
    td_memory_destroy(&memory[1]);
    td_tensor_destroy(&w);
    td_layout_destroy(&flat);
    td_parts_layout_destroy(&msb);
    td_parts_layout_destroy(&lsb);
}

static void refusals(void **state)
{
    (void)state;
    world w;
    td_report *report = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    open_world(&w, "mxfp4");
    ASSERT_REFUSED(td_backdoor_compare_parts(w.list, 2, w.w, w.parts, "check_pad", &report), TD_OPTION,
                   "backdoor_compare_parts: check_pad in a comparison of parts; compare the part whose padding it is "
                   "alone");
    ASSERT_REFUSED(td_backdoor_compare_parts(w.list, 2, w.w, w.parts, NULL, NULL), TD_ARGUMENT,
                   "backdoor_compare_parts: the output is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_compare_parts(w.list, 1, w.w, w.parts, NULL, &report), TD_ARGUMENT,
                   "backdoor_compare_parts: no memory \"sbuf\" for the part \"scales\" among \"wbuf\"; pass it too, or "
                   "name one of them");
    assert_int_equal(td_backdoor_compare_parts(w.list, 2, w.w, w.parts, "ulps=1", &report), TD_OPTION);
    assert_memory_equal(td_last_error(), "backdoor_compare_parts: ", 24);
    assert_null(report);
    ASSERT_REFUSED(td_parts_layout_spans(w.parts, 2, w.w, 1, 32, &spans, &count), TD_ARGUMENT,
                   "parts_layout_spans: no part of that number in the layout; pass one");
    ASSERT_REFUSED(td_parts_layout_spans(w.parts, 0, NULL, 1, 32, &spans, &count), TD_ARGUMENT,
                   "parts_layout_spans: the tensor is NULL; pass one");
    ASSERT_OK(td_parts_layout_spans(w.parts, 1, w.w, 1, 32, &spans, &count));
    assert_int_equal(count, 1);
    assert_int_equal(spans[0].first, 8);
    assert_int_equal(spans[0].count, 4);
    td_free(spans);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_loaded_matches),
        cmocka_unit_test(steps_are_those_of_the_block),
        cmocka_unit_test(a_report_says_block_scale_and_place),
        cmocka_unit_test(the_rule_that_fits_is_said),
        cmocka_unit_test(what_a_design_did_instead_is_said),
        cmocka_unit_test(every_place_of_a_block_is_said),
        cmocka_unit_test(other_packings),
        cmocka_unit_test(sparse_ones_are_compared_dense),
        cmocka_unit_test(the_sparse_order_that_fits_is_said),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
