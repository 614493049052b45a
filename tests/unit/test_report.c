/* Reports: the line, the text, the JSON and the page of known mistakes, and the guess for each kind of mistake beside
 * cases where nothing should be guessed. */
#include "support.h"

#include "base/divisor.h"

typedef struct scene {
    td_tensor *golden;
    td_layout *layout;
    td_memory *memory;
} scene;

static scene open_scene(const char *dtype, td_shape shape, const char *pattern, const char *options, uint64_t width,
                        uint64_t depth)
{
    scene s = {0};
    ASSERT_OK(td_tensor_create(dtype, shape, &s.golden));
    ASSERT_OK(td_tensor_fill_random(s.golden, 77));
    ASSERT_OK(td_layout_create(pattern, options, NULL, &s.layout));
    ASSERT_OK(td_memory_create("obuf", width, depth, &s.memory));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.golden, s.layout, NULL));
    return s;
}

static void close_scene(scene *s)
{
    td_tensor_destroy(&s->golden);
    td_layout_destroy(&s->layout);
    td_memory_destroy(&s->memory);
}

static td_report *compare(const scene *s, const char *policy)
{
    td_report *report = NULL;
    ASSERT_OK(td_backdoor_compare_tensor(s->memory, s->golden, s->layout, policy, NULL, &report));
    return report;
}

static uint64_t *words64(const scene *s)
{
    return td_memory_data(s->memory);
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

static void a_stuck_lane_in_words(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(1, 3, 8), "b w (ct cs) -> (b w ct) cs", "cs=4", 64, 8);
    for (int w = 0; w < 6; w++)
        words64(&s)[w] &= ~((uint64_t)0xffff << 32);
    ASSERT_OK(td_tensor_set_bits(s.golden, 2, 0xfffe));
    td_report *r = compare(&s, "max=2");
    assert_string_equal(
        td_report_line(r),
        "compare \"obuf\" with golden i16 (1, 3, 8), policy max=2: 6 of 24 elements differ, worst 24062 "
        "steps, 24062 in value; first at (0, 0, 2): expected -2 (0xfffe), got 0 (0x0000) at address "
        "0x0 bits 47:32; all mismatches in lane 2");
    char *text = NULL;
    ASSERT_OK(td_report_text(r, &text));
    assert_string_equal(text, "compare \"obuf\" with golden i16 (1, 3, 8), policy max=2: 6 of 24 elements differ\n"
                              "  worst: 24062 steps, 24062 in value\n"
                              "  all mismatches in lane 2\n"
                              "  all mismatches at cs = 2\n"
                              "  every wrong element is 0: stuck, or never written\n"
                              "  the first 2:\n"
                              "    at         expected        actual      ulp    address  bank  lane  bits\n"
                              "    (0, 0, 2)  -2 (0xfffe)     0 (0x0000)  2      0x0      0     2     47:32\n"
                              "    (0, 0, 6)  12116 (0x2f54)  0 (0x0000)  12116  0x1      0     2     47:32\n"
                              "  mismatches per step:\n"
                              "    w            3 of 3: 2 each\n"
                              "    ct           2 of 2: 3 each\n"
                              "    cs           1 of 4: [2]=6\n"
                              "    lane         1 of 4: [2]=6\n");
    td_free(text);
    assert_int_equal(td_report_group_count(r), 5);
    assert_string_equal(td_report_group_name(r, 4), "lane");
    assert_int_equal(td_report_group_size(r, 4), 4);
    assert_int_equal(td_report_group_mismatches(r, 4, 2), 6);
    assert_int_equal(td_report_group_mismatches(r, 4, 4), 0);
    assert_null(td_report_group_name(r, 5));
    assert_null(td_report_guess(r, 3));
    td_report_destroy(&r);
    close_scene(&s);
}

static void a_float_and_a_nan(void **state)
{
    (void)state;
    scene s = open_scene("f32", TD_SHAPE(2, 2), "r c -> r c", NULL, 64, 2);
    ASSERT_OK(td_tensor_set_bits(s.golden, 0, 0x3dcccccd));
    ASSERT_OK(td_tensor_set_bits(s.golden, 3, 0x40490fdb));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.golden, s.layout, NULL));
    words64(&s)[0] += 2;
    words64(&s)[1] = (words64(&s)[1] & 0xffffffff) | (uint64_t)0x7fc00000 << 32;
    td_report *r = compare(&s, "ulp=1");
    char *text = NULL;
    ASSERT_OK(td_report_text(r, &text));
    assert_string_equal(text,
                        "compare \"obuf\" with golden f32 (2, 2), policy ulp=1: 2 of 4 elements differ\n"
                        "  worst: 2 ulp, 1.49012e-08 in value; 1 with a nan\n"
                        "  the first 2:\n"
                        "    at      expected                actual                   ulp  address  bank  lane  bits\n"
                        "    (0, 0)  0.1 (0x3dcccccd)        0.10000002 (0x3dcccccf)  2    0x0      0     0     31:0\n"
                        "    (1, 1)  3.1415927 (0x40490fdb)  nan (0x7fc00000)         -    0x1      0     1     63:32\n"
                        "  mismatches per step:\n"
                        "    r            2 of 2: 1 each\n"
                        "    c            2 of 2: 1 each\n"
                        "    lane         2 of 2: 1 each\n");
    td_free(text);
    td_report_destroy(&r);
    close_scene(&s);
}

static void tensors_without_a_memory(void **state)
{
    (void)state;
    td_tensor *a = NULL, *b = NULL;
    td_report *r = NULL;
    char *text = NULL;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(3), &a));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(3), &b));
    ASSERT_OK(td_tensor_compare(a, b, NULL, &r));
    assert_string_equal(td_report_line(r), "compare a tensor with golden u8 (3), policy exact: all 3 elements match");
    ASSERT_OK(td_report_text(r, &text));
    assert_string_equal(text, "compare a tensor with golden u8 (3), policy exact: all 3 elements match\n");
    td_free(text);
    td_report_destroy(&r);
    ASSERT_OK(td_tensor_set_name(b, "run/b.npy"));
    ASSERT_OK(td_tensor_compare(a, b, NULL, &r));
    assert_string_equal(td_report_line(r),
                        "compare tensor \"run/b.npy\" with golden u8 (3), policy exact: all 3 elements match");
    td_report_destroy(&r);
    ASSERT_OK(td_tensor_set_name(b, NULL));
    ASSERT_OK(td_tensor_set_bits(b, 1, 200));
    ASSERT_OK(td_tensor_compare(a, b, NULL, &r));
    ASSERT_OK(td_report_text(r, &text));
    assert_string_equal(text, "compare a tensor with golden u8 (3), policy exact: 1 of 3 elements differs\n"
                              "  worst: 200 steps, 200 in value\n"
                              "  the first 1:\n"
                              "    at   expected  actual      ulp\n"
                              "    (1)  0 (0x00)  200 (0xc8)  200\n"
                              "  mismatches per step:\n"
                              "    axis 0       1 of 3: [1]=1\n");
    td_free(text);
    td_report_destroy(&r);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

static void json_has_what_it_says(void **state)
{
    (void)state;
    scene s = open_scene("f32", TD_SHAPE(2, 2), "r c -> r c", NULL, 64, 4);
    ASSERT_OK(td_tensor_set_bits(s.golden, 0, 0x3f800000));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.golden, s.layout, NULL));
    words64(&s)[0] = (words64(&s)[0] & ~(uint64_t)0xffffffff) | 0x7f800000;
    td_memory_destroy(&s.memory);
    ASSERT_OK(td_memory_create("a \"quoted\\\n</script>\" name", 64, 4, &s.memory));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.golden, s.layout, NULL));
    words64(&s)[0] = (words64(&s)[0] & ~(uint64_t)0xffffffff) | 0xff800000;
    td_report *r = compare(&s, NULL);
    char *json = NULL;
    ASSERT_OK(td_report_json(r, &json));
    assert_string_equal(json,
                        "{\"passed\": false, \"compared\": 4, \"mismatches\": 1, \"masked\": 0, \"nan\": 0,\n"
                        " \"memory\": \"a \\\"quoted\\\\\\u000a\\u003c/script>\\\" name\", \"policy\": \"exact\", "
                        "\"dtype\": \"f32\", \"shape\": [2, 2], "
                        "\"stored\": \"f32\", \"width\": 64, \"depth\": 4, \"banks\": 1,\n"
                        " \"layout\": {\"pattern\": \"r c -> r c\", \"options\": \"\", \"address\": \"\"},\n"
                        " \"worst\": {\"ulp\": 3204448256, \"error\": \"inf\"},\n"
                        " \"padding\": {\"compared\": 0, \"mismatches\": 0},\n"
                        " \"guesses\": [],\n"
                        " \"first\": [\n"
                        "  {\"at\": [0, 0], \"expected\": 1, \"actual\": \"-inf\", \"expected_bits\": \"0x3f800000\", "
                        "\"actual_bits\": \"0xff800000\", "
                        "\"ulp\": 3204448256, \"address\": 0, \"bank\": 0, \"lane\": 0, \"msb\": 31, \"lsb\": 0}],\n"
                        " \"groups\": [\n"
                        "  {\"name\": \"r\", \"size\": 2, \"bucket\": 1, \"mismatches\": [1, 0]},\n"
                        "  {\"name\": \"c\", \"size\": 2, \"bucket\": 1, \"mismatches\": [1, 0]},\n"
                        "  {\"name\": \"lane\", \"size\": 2, \"bucket\": 1, \"mismatches\": [1, 0]}]}\n");
    td_free(json);
    td_report_destroy(&r);
    close_scene(&s);
}

static void pages_are_written_or_not_at_all(void **state)
{
    (void)state;
    scene s = open_scene("i8", TD_SHAPE(4, 8), "r c -> r c", NULL, 64, 4);
    words64(&s)[2] ^= 0xff00;
    td_report *r = compare(&s, NULL);
    size_t bytes = 0;
    ASSERT_OK(td_report_html(r, "report.html"));
    char *page = read_whole_file("report.html", &bytes);
    assert_non_null(strstr(page, "<!doctype html>"));
    assert_non_null(strstr(
        page,
        "\"grid\": {\"axes\": [{\"name\": \"r\", \"size\": 4, \"bucket\": 1, \"count\": 4, \"dim\": 0, \"stride\": 1, "
        "\"offset\": 0}, "));
    assert_non_null(strstr(page, "\"cells\": [[17,1,")); /* row 2, column 1 */
    assert_null(strstr(page, "http"));                   /* it stands alone */
    assert_null(strstr(page, "@REPORT@"));
    free(page);
    ASSERT_REFUSED(td_report_html(r, "nowhere/report.html"), TD_FILE,
                   "report_html \"nowhere/report.html\": cannot create the file: No such file or directory; check the "
                   "folder and its "
                   "permissions");
    ASSERT_OK(td_report_set_time(r, "1250 ns"));
    ASSERT_OK(td_report_set_time(r, "1300 ns"));
    char *timed = NULL;
    ASSERT_OK(td_report_json(r, &timed));
    assert_non_null(strstr(timed, "\n \"time\": \"1300 ns\""));
    assert_null(strstr(timed, "1250"));
    td_free(timed);
    ASSERT_REFUSED(td_report_set_time(r, NULL), TD_ARGUMENT, "report_set_time: the time is NULL; pass one");
    ASSERT_REFUSED(td_report_set_time(NULL, "1 ns"), TD_ARGUMENT, "report_set_time: the report is NULL; pass one");
    ASSERT_REFUSED(td_report_html(r, NULL), TD_ARGUMENT, "report_html: the path is NULL; pass one");
    ASSERT_REFUSED(td_report_html(NULL, "x"), TD_ARGUMENT, "report_html: the report is NULL; pass one");
    char *text = NULL;
    ASSERT_REFUSED(td_report_text(NULL, &text), TD_ARGUMENT, "report_text: the report is NULL; pass one");
    ASSERT_REFUSED(td_report_text(r, NULL), TD_ARGUMENT, "report_text: the output is NULL; pass one");
    ASSERT_REFUSED(td_report_json(NULL, &text), TD_ARGUMENT, "report_json: the report is NULL; pass one");
    ASSERT_REFUSED(td_report_json(r, NULL), TD_ARGUMENT, "report_json: the output is NULL; pass one");
    assert_int_equal(folder_files(0), 1);
    td_report_destroy(&r);
    close_scene(&s);
}

/* -- guesses ------------------------------------------------------------------------------------------------------- */

/* What another layout would have put there. */
static void put_through(const scene *s, const char *pattern, const char *options, const char *address)
{
    td_layout *layout = NULL;
    ASSERT_OK(td_layout_create(pattern, options, address, &layout));
    ASSERT_OK(td_backdoor_load_tensor(s->memory, s->golden, layout, NULL));
    td_layout_destroy(&layout);
}

static void assert_guess(const scene *s, const char *guess)
{
    td_report *r = compare(s, NULL);
    assert_false(td_report_passed(r));
    if (guess && !td_report_guess(r, 0))
        fail_msg("no guess, and not \"%s\"", guess);
    if (guess)
        assert_string_equal(td_report_guess(r, 0), guess);
    else
        assert_null(td_report_guess(r, 0));
    td_report_destroy(&r);
}

static void transposed(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(3, 5, 6, 4), "n h w c -> (n h w) c", NULL, 64, 100);
    put_through(&s, "n h w c -> (n w h) c", NULL, NULL);
    assert_guess(&s, "looks transposed: actual matches golden with axes h and w swapped");
    put_through(&s, "n h w c -> (h n w) c", NULL, NULL);
    assert_guess(&s, "looks transposed: actual matches golden with axes n and h swapped");
    close_scene(&s);
    s = open_scene("u8", TD_SHAPE(8, 64), "r (ct cs) -> (r ct) cs", "cs=8", 64, 64);
    put_through(&s, "r (cs ct) -> (r ct) cs", "cs=8", NULL);
    assert_guess(&s, "looks transposed: actual matches golden with axes ct and cs swapped");
    close_scene(&s);
}

static void transposed_tensors(void **state)
{
    (void)state;
    td_tensor *a = NULL, *b = NULL;
    td_report *r = NULL;
    ASSERT_OK(td_tensor_create("i32", TD_SHAPE(7, 5), &a));
    ASSERT_OK(td_tensor_create("i32", TD_SHAPE(7, 5), &b));
    ASSERT_OK(td_tensor_fill_random(a, 1));
    for (uint64_t i = 0; i < 35; i++) { /* the bytes of the 5 x 7 transpose */
        uint64_t bits = 0;
        ASSERT_OK(td_tensor_get_bits(a, i % 7 * 5 + i / 7, &bits));
        ASSERT_OK(td_tensor_set_bits(b, i, bits));
    }
    ASSERT_OK(td_tensor_compare(a, b, NULL, &r));
    assert_string_equal(td_report_guess(r, 0), "looks transposed: actual matches golden with axes 0 and 1 swapped");
    td_report_destroy(&r);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

static void shifted(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    put_through(&s, "r c -> r c", NULL, "1 + index");
    assert_guess(&s, "off by one along r: each element holds the value of the previous one");
    close_scene(&s);
    s = open_scene("i16", TD_SHAPE(5, 7, 4), "a r c -> (a r) c", NULL, 64, 64);
    memmove(words64(&s) + 1, words64(&s), 8 * 50);
    assert_guess(&s, "off by one word: what is expected lies one address higher");
    close_scene(&s);
    s = open_scene("i16", TD_SHAPE(5, 7, 4), "a r c -> (a r) c", NULL, 64, 64);
    memmove(words64(&s), words64(&s) + 5, 8 * 40);
    assert_guess(&s, "off by 5 words: what is expected lies 5 addresses lower");
    close_scene(&s);
}

static void reversed(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    put_through(&s, "r c -> r c", "lanes=msb", NULL);
    assert_guess(&s, "c runs backwards: actual matches golden with c reversed");
    put_through(&s, "r c -> r c", NULL, "19 - r");
    assert_guess(&s, "r runs backwards: actual matches golden with r reversed");
    close_scene(&s);
    s = open_scene("i16", TD_SHAPE(9, 2, 2), "r a b -> r (a b)", NULL, 64, 64);
    put_through(&s, "r a b -> r (a b)", "lanes=msb", NULL);
    assert_guess(&s, "the lanes of each word are in reverse order; see lanes=msb");
    close_scene(&s);
    s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    for (int w = 0; w < 20; w++)
        words64(&s)[w] = (words64(&s)[w] & 0x00ff00ff00ff00ff) << 8 | (words64(&s)[w] >> 8 & 0x00ff00ff00ff00ff);
    assert_guess(&s, "the bytes of each element are in reverse order");
    close_scene(&s);
}

static void in_one_place(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    words64(&s)[7] = ~words64(&s)[7];
    assert_guess(&s, "all mismatches at r = 7");
    close_scene(&s);
    s = open_scene("u8", TD_SHAPE(20, 8), "r c -> r c", NULL, 64, 64);
    for (int w = 0; w < 20; w++)
        words64(&s)[w] ^= 0x2020202020202020;
    assert_guess(&s, "only bit 5 of the elements differs");
    memset(words64(&s), 0, 8 * 64);
    assert_guess(&s, "every wrong element is 0: stuck, or never written");
    close_scene(&s);
    s = open_scene("u8", TD_SHAPE(5000, 8), "r c -> r c", NULL, 64, 5000);
    for (int w = 1001; w < 1004; w++)
        words64(&s)[w] = ~words64(&s)[w];
    assert_guess(&s, "all mismatches in r 1000 to 1004");
    close_scene(&s);
}

static void in_one_bank(void **state)
{
    (void)state;
    td_tensor *golden = NULL;
    td_layout *layout = NULL;
    td_memory *bank[8];
    td_report *r = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(16, 16, 8), &golden));
    ASSERT_OK(td_tensor_fill_random(golden, 5));
    ASSERT_OK(td_layout_create("h w c -> (h w) c", NULL, "bank = (h ^ w) & 7; addr = 2*h + w/8", &layout));
    char *text = NULL;
    for (int i = 0; i < 8; i++) {
        char name[] = "act[0]";
        name[4] = (char)('0' + i);
        ASSERT_OK(td_memory_create(name, 64, 64, &bank[i]));
    }
    ASSERT_OK(td_backdoor_load_tensor_banks(bank, 8, golden, layout, NULL));
    for (int w = 0; w < 32; w++)
        ((uint64_t *)td_memory_data(bank[3]))[w] ^= (uint64_t)0x9d3b << w % 48;
    ASSERT_OK(td_backdoor_compare_tensor_banks(bank, 8, golden, layout, NULL, NULL, &r));
    assert_string_equal(td_report_guess(r, 0), "all mismatches in bank 3 \"act[3]\"");
    assert_memory_equal(td_report_line(r), "compare \"act[0]\" and 7 more banks with golden i8 (16, 16, 8), ", 62);
    assert_non_null(strstr(td_report_line(r), " of bank 3 \"act[3]\"; all mismatches in bank 3 \"act[3]\""));
    ASSERT_OK(td_report_text(r, &text));
    assert_non_null(strstr(text, " 3 act[3]  "));
    td_free(text);
    ASSERT_OK(td_report_json(r, &text));
    assert_non_null(strstr(text, "\"bank_names\": [\"act[0]\", \"act[1]\","));
    td_free(text);
    td_report_destroy(&r);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    for (int i = 0; i < 8; i++)
        td_memory_destroy(&bank[i]);
}

static void no_guess_without_a_pattern(void **state)
{
    (void)state;
    scene s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    for (int w = 0; w < 20; w += 2)
        words64(&s)[w] ^= (uint64_t)0x5a3 << w;
    words64(&s)[5] ^= (uint64_t)0x7001 << 48;
    assert_guess(&s, NULL);
    close_scene(&s);
    s = open_scene("i16", TD_SHAPE(20, 4), "r c -> r c", NULL, 64, 64);
    words64(&s)[3] ^= 0x77; /* a single one says nothing about its place */
    assert_guess(&s, NULL);
    close_scene(&s);
}

/* -- divisions ----------------------------------------------------------------------------------------------------- */

static void divisions_by_multiplying_are_exact(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t by = (random >> (1 + random % 63)) | 1u << random % 4;
        const td_divisor d = td_divisor_of(by);
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t some[] = {
            0,          by - 1, by,          2 * by - 1, UINT32_MAX, UINT32_MAX / by * by, UINT32_MAX / by * by - 1,
            UINT64_MAX, random, random >> 32};
        for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
            assert_int_equal(td_quotient(some[k], &d), some[k] / by);
            assert_int_equal(td_remainder(some[k], &d), some[k] % by);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stuck_lane_in_words),
        cmocka_unit_test(a_float_and_a_nan),
        cmocka_unit_test(tensors_without_a_memory),
        cmocka_unit_test(json_has_what_it_says),
        cmocka_unit_test_setup_teardown(pages_are_written_or_not_at_all, enter_folder, leave_folder),
        cmocka_unit_test(transposed),
        cmocka_unit_test(transposed_tensors),
        cmocka_unit_test(shifted),
        cmocka_unit_test(reversed),
        cmocka_unit_test(in_one_place),
        cmocka_unit_test(in_one_bank),
        cmocka_unit_test(no_guess_without_a_pattern),
        cmocka_unit_test(divisions_by_multiplying_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
