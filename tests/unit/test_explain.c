/* Explanations and pictures. The texts are compared whole: every number in them can be checked by hand. Of a picture
 * the cells are counted and looked up: each element must stand in the word and at the bits where a load puts it. */
#include "support.h"

static char *explain(const char *pattern, const char *options, const char *address, const td_scene *scene)
{
    td_layout *layout = NULL;
    char *text = NULL;
    ASSERT_OK(td_layout_create(pattern, options, address, &layout));
    ASSERT_OK(td_layout_explain(layout, scene, &text));
    td_layout_destroy(&layout);
    char *plan = strstr(text, "\nplan      ");
    assert_non_null(plan); /* the plan's own words are exec's business */
    plan[1] = '\0';
    return text;
}

static void test_padding(void **state)
{
    (void)state;
    char *text = explain("b (ct cs) -> (b ct) cs", "cs=4 pad=-1 slot=12", "0x10 + 4*b + ct",
                         &(td_scene){.dtype = "i8", .shape = TD_SHAPE(2, 6), .width_bits = 64});
    assert_string_equal(text, "pattern   b (ct cs) -> (b ct) cs\n"
                              "options   cs=4 pad=-1 slot=12\n"
                              "address   16 + 4*b + ct\n"
                              "tensor    i8 (2, 6)\n"
                              "memory    i8 in words of 64 bits, addresses 0x10 to 0x15\n"
                              "\n"
                              "axis            size  a step in the tensor      a step in memory\n"
                              "b                  2  6 elements, dim 0         word: 4 words\n"
                              "ct                 2  4 elements, dim 1         word: 1 word\n"
                              "cs                 4  1 element, dim 1          lane: 12 bits\n"
                              "\n"
                              "words     tensor coordinate in each lane, lane 0 first\n"
                              "  0x0010  (0,0) (0,1) (0,2) (0,3)\n"
                              "  0x0011  (0,4) (0,5) pad pad\n"
                              "  0x0014  (1,0) (1,1) (1,2) (1,3)\n"
                              "  0x0015  (1,4) (1,5) pad pad\n"
                              "\n"
                              "use       4 words written, 12 elements\n"
                              "  data      96 bits, 37.5 %\n"
                              "  padding   32 bits, 12.5 %\n"
                              "  cleared   128 bits, 50.0 %\n"
                              "\n");
    td_free(text);
}

/* An array as C has it, and an operand whose columns come a word later each. */
static void test_flat_and_skewed(void **state)
{
    (void)state;
    char *text =
        explain("... -> (...)", "lsb=8", "16", &(td_scene){.dtype = "i8", .shape = TD_SHAPE(2, 3), .width_bits = 32});
    assert_string_equal(text, "pattern   ... -> ...\n"
                              "options   lsb=8\n"
                              "address   16\n"
                              "tensor    i8 (2, 3)\n"
                              "memory    i8 in words of 32 bits, addresses 0x10 to 0x11\n"
                              "\n"
                              "axis            size  a step in the tensor      a step in memory\n"
                              "...0               2  3 elements, dim 0         flat: 24 bits\n"
                              "...1               3  1 element, dim 1          flat: 8 bits\n"
                              "\n"
                              "words     tensor coordinate in each lane, lane 0 first\n"
                              "  0x0010..0x0011  (0,0) (0,1) (0,2) (1,0) (1,1) (1,2)\n"
                              "\n"
                              "use       2 words written, 6 elements\n"
                              "  data      48 bits, 75.0 %\n"
                              "  unused    16 bits, 25.0 %\n"
                              "\n");
    td_free(text);
    text = explain("r c -> r c", "", "r + c", &(td_scene){.dtype = "i8", .shape = TD_SHAPE(3, 2), .width_bits = 16});
    assert_string_equal(text, "pattern   r c -> r c\n"
                              "options   none\n"
                              "address   r + c\n"
                              "tensor    i8 (3, 2)\n"
                              "memory    i8 in words of 16 bits, addresses 0x0 to 0x3\n"
                              "\n"
                              "axis            size  a step in the tensor      a step in memory\n"
                              "r                  3  2 elements, dim 0         word: 1 word\n"
                              "c                  2  1 element, dim 1          lane: 8 bits and 1 word\n"
                              "\n"
                              "words     tensor coordinate in each lane, lane 0 first\n"
                              "  0x0000  (0,0)\n"
                              "  0x0001  (1,0)\n"
                              "  0x0002  (2,0)\n"
                              "  0x0001  (0,1)\n"
                              "  0x0002  (1,1)\n"
                              "  0x0003  (2,1)\n"
                              "\n"
                              "use       4 words written, 6 elements\n"
                              "  data      48 bits, 75.0 %\n"
                              "  cleared   16 bits, 25.0 %\n"
                              "\n");
    td_free(text);
}

static void test_banks(void **state)
{
    (void)state;
    char *text = explain("h w -> (h w rep) ()", "rep=2 beats=2", "bank = (h ^ w) + 2*rep; addr = 4*h + 2*w",
                         &(td_scene){.dtype = "f32", .as = "i8", .shape = TD_SHAPE(2, 2)});
    assert_string_equal(text, "pattern   h w -> (h w rep) 1\n"
                              "options   rep=2 beats=2\n"
                              "address   bank = (h ^ w) + 2*rep; addr = 4*h + 2*w\n"
                              "tensor    f32 (2, 2)\n"
                              "memory    i8 in words of 4 bits, addresses 0x0 to 0x7, 4 banks\n"
                              "\n"
                              "axis            size  a step in the tensor      a step in memory\n"
                              "h                  2  2 elements, dim 0         word: from a table\n"
                              "w                  2  1 element, dim 1          word: from a table\n"
                              "rep                2  repeat                    word: from a table\n"
                              "\n"
                              "words     tensor coordinate in each lane, lane 0 first\n"
                              "  bank 0 0x0000..0x0001  (0,0)\n"
                              "  bank 2 0x0000..0x0001  (0,0)\n"
                              "  bank 1 0x0002..0x0003  (0,1)\n"
                              "  bank 3 0x0002..0x0003  (0,1)\n"
                              "  bank 1 0x0004..0x0005  (1,0)\n"
                              "  bank 3 0x0004..0x0005  (1,0)\n"
                              "  bank 0 0x0006..0x0007  (1,1)\n"
                              "  bank 2 0x0006..0x0007  (1,1)\n"
                              "\n"
                              "use       16 words written, 8 elements with copies\n"
                              "  data      64 bits, 100.0 %\n"
                              "\n");
    td_free(text);
}

/* A tensor of 2^30 elements makes a page too, at once. */
static void test_big_and_clipped(void **state)
{
    (void)state;
    char *text = explain("r (ct cs) -> (r ct) cs", "cs=20 tail=clip", NULL,
                         &(td_scene){.dtype = "u8", .shape = TD_SHAPE(1 << 20, 1 << 10), .width_bits = 160});
    assert_non_null(strstr(text, "the first 8 and the last 2 of 54525952; 20 lanes\n"));
    assert_non_null(strstr(
        text,
        "  0x0000  (0,0) (0,1) (0,2) (0,3) (0,4) (0,5) (0,6) (0,7) (0,8) (0,9) (0,10) (0,11) ... (0,18) (0,19)\n"));
    assert_non_null(strstr(text, "  ...\n  0x33ffffe  (1048575,1000)"));
    assert_non_null(strstr(
        text, "  0x33fffff  (1048575,1020) (1048575,1021) (1048575,1022) (1048575,1023) - - - - - - - - ... - -\n"));
    assert_non_null(strstr(text, "use       54525952 words written, 1073741824 elements\n"));
    td_free(text);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static char *draw(const char *pattern, const char *options, const char *address, const td_scene *scene)
{
    td_layout *layout = NULL;
    char *svg = NULL;
    ASSERT_OK(td_layout_create(pattern, options, address, &layout));
    ASSERT_OK(td_layout_svg(layout, scene, &svg));
    td_layout_destroy(&layout);
    assert_int_equal(strncmp(svg, "<svg xmlns=", 11), 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_int_equal(count(svg, "<g>"), count(svg, "</g>"));
    assert_int_equal(count(svg, "<text"), count(svg, "</text>"));
    return svg;
}

static void test_picture(void **state)
{
    (void)state;
    char *svg = draw("b (ct cs) -> (b ct) cs", "cs=4 pad=-1 slot=12", "0x10 + 4*b + ct",
                     &(td_scene){.dtype = "i8", .shape = TD_SHAPE(2, 6), .width_bits = 64, .colour = "ct"});
    assert_int_equal(count(svg, "class=\"cell\""), 12);
    assert_int_equal(count(svg, "url(#pad)"), 4 + 1); /* four lanes and the legend */
    assert_int_equal(count(svg, "<title>word 0x"), 16);
    assert_non_null(strstr(svg, "<title>word 0x15 lane 1: b=1 ct=1 cs=1</title>"));
    assert_non_null(strstr(svg, ">1,5</text><title>word 0x15 lane 1:"));
    assert_non_null(strstr(svg, "colour: ct"));
    assert_non_null(strstr(svg, "... 2 words not touched ..."));
    assert_non_null(strstr(svg, "b (ct cs) -&gt; (b ct) cs"));
    assert_non_null(strstr(svg, "no lane: bits cleared"));
    td_free(svg);
}

static void test_pictures_stay_small(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options, *address;
        td_scene scene;
    } big[] = {
        {"r (ct cs) -> (r ct) cs", "cs=20 tail=clip", "", {.dtype = "u8", .shape = {2, {1 << 20, 1 << 10}}}},
        {"r c -> r c", "", "", {.dtype = "u1", .shape = {2, {64, 1 << 16}}}},
        {"r c -> c () r", "", "", {.dtype = "u1", .shape = {2, {64, 1 << 12}}}},
        {"r c -> r c", "beats=1024", "", {.dtype = "u8", .shape = {2, {1 << 14, 1 << 12}}}},
        {"r c -> () (r c)", "", "", {.dtype = "u1", .shape = {2, {1 << 12, 1 << 12}}}},
        {"preset:xor_swizzle b=3 s=3", "", "", {.dtype = "u8", .shape = {2, {512, 512}}}},
        {" -> 1 1", "", "", {.dtype = "u8"}},
    };
    for (size_t i = 0; i < sizeof big / sizeof big[0]; i++) {
        char *svg = draw(big[i].pattern, big[i].options, big[i].address, &big[i].scene);
        assert_in_range(strlen(svg), 1000, 4000000);
        td_free(svg);
        td_free(explain(big[i].pattern, big[i].options, big[i].address, &big[i].scene));
    }
}

static void test_refused(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    char *text = NULL;
    const td_scene scene = {.dtype = "i8", .shape = TD_SHAPE(2, 6), .width_bits = 64, .colour = "cz"};
    ASSERT_OK(td_layout_create("b (ct cs) -> (b ct) cs", "cs=3", "", &layout));
    ASSERT_REFUSED(td_layout_svg(layout, &scene, &text), TD_ARGUMENT,
                   "layout_svg: no axis cz in \"b (ct cs) -> (b ct) cs\" to colour by; did you mean cs?");
    ASSERT_REFUSED(td_layout_svg(layout, &(td_scene){.dtype = "i8", .shape = scene.shape, .colour = "frame"}, &text),
                   TD_ARGUMENT,
                   "layout_svg: no axis frame in \"b (ct cs) -> (b ct) cs\" to colour by; name one of its axes");
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){.dtype = "i8", .shape = scene.shape, .width_bits = 16}, &text),
                   TD_RANGE,
                   "layout_explain: the lanes of \"b (ct cs) -> (b ct) cs\" end at bit 24 (3 lanes of 8 bits), the "
                   "word has 16 bits; use "
                   "fewer lanes, a wider memory, or beats=2\n"
                   "    b (ct cs) -> (b ct) cs\n"
                   "                        ^~\n"
                   "    shape (2, 6), sizes cs=3");
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){.dtype = "i8", .shape = scene.shape, .depth_words = 3}, &text),
                   TD_RANGE,
                   "layout_explain: address 3 of word b=1 ct=1 of \"b (ct cs) -> (b ct) cs\" is past the memory of 3 "
                   "words; use smaller "
                   "addresses, or a depth of at least 4\n"
                   "    shape (2, 6), sizes cs=3");
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){"i8", scene.shape, .width_bits = 1 << 25}, &text), TD_ARGUMENT,
                   "layout_explain: a width of 33554432 bits; a width is 1 to 16777216 bits");
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){"i8", scene.shape, .depth_words = 1ull << 41}, &text),
                   TD_ARGUMENT, "layout_explain: a depth of 2199023255552 words; a depth is 1 to 1099511627776 words");
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){"i8", scene.shape, .banks = 1 << 16}, &text), TD_ARGUMENT,
                   "layout_explain: 65536 banks; pass at most 32768");
    ASSERT_REFUSED(td_layout_explain(NULL, &scene, &text), TD_ARGUMENT, "layout_explain: the layout is NULL; pass one");
    ASSERT_REFUSED(td_layout_svg(layout, NULL, &text), TD_ARGUMENT, "layout_svg: the scene is NULL; pass one");
    assert_int_equal(td_layout_explain(layout, &(td_scene){.shape = scene.shape}, &text), TD_DTYPE);
    assert_null(text);
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_create("b c -> b c", "dtype=i16", "", &layout));
    ASSERT_REFUSED(td_layout_explain(layout, &scene, &text), TD_DTYPE,
                   "layout_explain: the layout moves i16; pass it as the dtype, or drop dtype=i16 from the layout");
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_create("b c -> (b c)", "", "", &layout));
    ASSERT_REFUSED(td_layout_explain(layout, &(td_scene){.dtype = "i8", .shape = scene.shape}, &text), TD_ARGUMENT,
                   "layout_explain: flat pattern \"b c -> (b c)\" in words of no width; pass the width of the memory");
    assert_null(text);
    td_layout_destroy(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding),         cmocka_unit_test(test_banks),
        cmocka_unit_test(test_flat_and_skewed), cmocka_unit_test(test_big_and_clipped),
        cmocka_unit_test(test_picture),         cmocka_unit_test(test_pictures_stay_small),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
