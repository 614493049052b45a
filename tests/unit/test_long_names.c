/* Long names stand whole wherever they are said: an axis of 60 letters, a word, a tensor or a section longer than any
 * buffer was. Where there is a limit, a refusal says it. */
#include "../../dpi/handles.h"
#include "support.h"

#define A "axis_with_a_name_of_sixty_letters_that_nobody_wants_to_read_"
#define B "the_other_axis_of_sixty_letters_which_ends_in_another_letter"
#define LONG "a_name_of_hundred_and_twenty_letters_" A "_and_twenty_three_more"

int td_dpi_tensor_create(const char *dtype, const char *shape, td_dpi_u64 *tensor, const char **message);
int td_dpi_tensor_destroy(td_dpi_u64 tensor, const char **message);
int td_dpi_tensor_info(td_dpi_u64 handle, const char **dtype, const char **shape, td_dpi_u64 *elems,
                       int *words_per_elem, const char **message);
int td_dpi_tensor_fill_ramp(td_dpi_u64 handle, double start, double step, const char **message);
int td_dpi_tensor_compare(td_dpi_u64 expected, td_dpi_u64 actual, const char *policy, td_dpi_u64 *report,
                          const char **message);
int td_dpi_report_first(td_dpi_u64 handle, int number, const char **at, td_dpi_u64 *expected, td_dpi_u64 *actual,
                        td_dpi_u64 *bank, td_dpi_u64 *address, int *msb, int *lsb, const char **message);
int td_dpi_report_destroy(td_dpi_u64 report, const char **message);

static void assert_begins(const char *text, const char *begin)
{
    if (strncmp(text, begin, strlen(begin)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", text, begin);
}

static void layouts_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options, *address, *message;
    } cases[] = {
        {A " " A " -> " A " ()", "", "",
         "layout_create: axis " A " twice on the left in pattern \"" A " " A " -> " A " ()\"; give each"},
        {A " c -> c", "", "",
         "layout_create: axis " A " stands only on the left in pattern \"" A " c -> c\"; place " A " on the right"},
        {A " " B " -> " A " " B, "", "4*" A " + " LONG,
         "layout_create: unknown axis " LONG " in address \"4*" A " + " LONG "\"; the word axes are: " A "; index"},
        {A " " B " c -> (" A " " B ") c", "", "q",
         "layout_create: unknown axis q in address \"q\"; the word axes are: " A " " B "; index"},
        {"preset:" LONG, "", "", "layout_create: unknown preset \"" LONG "\"; td_preset_at"},
        {"r c -> r c", LONG "=4", "",
         "layout_create: option \"a_name_of_hundred_and_twenty_letters_axi...\" is longer than 63 characters; shorten"},
        {"preset:nc1hwc0 " LONG "=4", "", "",
         "layout_create: option \"a_name_of_hundred_and_twenty_letters_axi...\" is longer than 63 characters; shorten"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_layout *layout = NULL;
        assert_int_not_equal(td_layout_create(cases[i].pattern, cases[i].options, cases[i].address, &layout), TD_OK);
        assert_begins(td_last_error(), cases[i].message);
    }
}

static void mappings_and_files_that_are_refused(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    ASSERT_REFUSED(td_layout_from_mapping("a c", "a c", LONG "=4", "", 0, "", "", &layout), TD_OPTION,
                   "layout_from_mapping: axis " LONG " in the temporal sizes is longer than 63 characters; shorten it");
    FILE *file = fopen("f.txt", "w");
    assert_non_null(file);
    fprintf(file, "w: " LONG " r c -> r c\n");
    fclose(file);
    file = fopen("g.txt", "w");
    assert_non_null(file);
    fprintf(file, LONG ": pattern r c -> r c\n");
    fclose(file);
    ASSERT_REFUSED(td_layout_open("g.txt", "w", &layout), TD_FORMAT,
                   "layout_open \"g.txt\", line 1: the name \"a_name_of_hundred_and_twenty_letters_axi...\" is longer "
                   "than 63 characters; shorten it");
    ASSERT_REFUSED(td_layout_open("f.txt", "w", &layout), TD_FORMAT,
                   "layout_open \"f.txt\", line 1: \"" LONG
                   "\" begins no clause; write pattern, options, address, as, preset, memory, shape, tensors or part");
    td_tensor *scales = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(2), &scales));
    ASSERT_REFUSED(td_scales_set(A " and a space", scales), TD_ARGUMENT,
                   "scales_set: the name \"" A
                   " and a space\" has spaces or more than 255 letters; pass a shorter word");
    td_tensor_destroy(&scales);
}

static void load(const char *pattern, const char *address, td_status status, const char *message)
{
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    ASSERT_OK(td_layout_create(pattern, "", address, &layout));
    ASSERT_OK(td_memory_create("m", 32, 8, &memory));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2, 2, 2, 2, 4), &tensor));
    assert_int_equal(td_backdoor_load_tensor(memory, tensor, layout, NULL), status);
    if (!strstr(td_last_error(), message))
        fail_msg("\"%s\" does not hold \"%s\"", td_last_error(), message);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
}

#define FIVE A "_1 " A "_2 " A "_3 " A "_4 c -> (" A "_1 " A "_2 " A "_3 " A "_4) c"
#define AT(a, b, c, d) A "_1=" #a " " A "_2=" #b " " A "_3=" #c " " A "_4=" #d

static void words_that_lie_wrong(void **state)
{
    (void)state;
    load(FIVE, "index", TD_RANGE,
         "address 15 of word " AT(1, 1, 1, 1) " of \"" FIVE "\" is past the memory of 8 words");
    load(FIVE, "index - 1", TD_RANGE, "address -1 of word " AT(0, 0, 0, 0) " of \"" FIVE "\" is below 0; add 1 to");
    load(FIVE, "bank = " A "_4; addr = 0", TD_RANGE,
         "bank 1 of word " AT(0, 0, 0, 1) " of \"" FIVE "\" is not one of the 1 memories; pass at least 2");
    load(FIVE, A "_1 + " A "_2 + " A "_3 + 2*" A "_4", TD_ALIAS,
         "words " AT(0, 0, 1, 0) " and " AT(0, 1, 0, 0) " of \"" FIVE "\" both lie at address 1; use");
}

static void pictures_and_explanations(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    char *text = NULL;
    const td_scene scene = {.dtype = "f32", .shape = TD_SHAPE(2, 3), .width_bits = 64, .colour = A};
    static const char pad[] = "0.10000000000000000000000000000000000000000000000000001";
    char options[128];
    snprintf(options, sizeof options, "c=2 pad=%s", pad);
    ASSERT_OK(td_layout_create(A " (" B " c) -> (" A " " B ") c", options, "", &layout));
    ASSERT_OK(td_layout_explain(layout, &scene, &text));
    assert_non_null(strstr(text, "\n" A " "));
    td_free(text);
    ASSERT_OK(td_layout_svg(layout, &scene, &text));
    assert_non_null(strstr(text, ">colour: " A "</text>"));
    char legend[128];
    snprintf(legend, sizeof legend, ">padding (pad=%s)</text>", pad);
    assert_non_null(strstr(text, legend));
    assert_non_null(strstr(text, ">" A "=1 "));
    td_free(text);
    td_layout_destroy(&layout);
}

static void reports(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_tensor *golden = NULL;
    td_report *report = NULL;
    ASSERT_OK(td_layout_create(A " c -> " A " c", "", "", &layout));
    ASSERT_OK(td_memory_create("m", 32, 8, &memory));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(8, 4), &golden));
    ASSERT_OK(td_tensor_fill_ramp(golden, 1, 1));
    ASSERT_OK(td_backdoor_compare_tensor(memory, golden, layout, NULL, NULL, &report));
    assert_string_equal(td_report_group_name(report, 0), A);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
}

static void tensors_in_files(void **state)
{
    (void)state;
    td_tensor *tensor = NULL, *found = NULL;
    char name[601], message[700];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2), &tensor));
    ASSERT_OK(td_tensor_save(tensor, "a.safetensors:" LONG));
    ASSERT_REFUSED(td_tensor_open("a.safetensors:q", NULL, &found), TD_ARGUMENT,
                   "tensor_open \"a.safetensors:q\": the file holds no tensor \"q\"; it holds " LONG);
    td_tensor_destroy(&tensor);
    ASSERT_OK(td_tensor_create("e2m1", TD_SHAPE(3), &tensor));
    const char *const names[] = {name};
    const td_tensor *const tensors[] = {tensor};
    snprintf(message, sizeof message,
             "tensor_save_all \"b.safetensors\": 3 elements of e2m1 fill no whole bytes, as .safetensors packs them; "
             "save as .npy, or pad \"%.508s...\"",
             name);
    ASSERT_REFUSED(td_tensor_save_all(names, tensors, 1, "b.safetensors"), TD_SHAPE, message);
    td_tensor_destroy(&tensor);
}

#define ONES "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
#define ZEROS "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "

/* The greatest rank there is, as the shims print it for SystemVerilog. */
static void shapes_through_dpi(void **state)
{
    (void)state;
    const char *message = "", *dtype = "", *shape = "", *at = "";
    td_dpi_u64 a = 0, b = 0, report = 0, elems = 0, expected = 0, actual = 0, bank = 0, address = 0;
    int words = 0, msb = 0, lsb = 0;
    assert_int_equal(td_dpi_tensor_create("i32", ONES "100000", &a, &message), TD_OK);
    assert_int_equal(td_dpi_tensor_create("i32", ONES "100000", &b, &message), TD_OK);
    assert_int_equal(td_dpi_tensor_info(a, &dtype, &shape, &elems, &words, &message), TD_OK);
    assert_string_equal(dtype, "i32");
    assert_string_equal(shape, ONES "100000");
    assert_int_equal(td_dpi_tensor_fill_ramp(b, 0, 1, &message), TD_OK);
    assert_int_equal(td_dpi_tensor_compare(a, b, "exact", &report, &message), TD_OK);
    assert_int_equal(td_dpi_report_first(report, 0, &at, &expected, &actual, &bank, &address, &msb, &lsb, &message),
                     TD_OK);
    assert_string_equal(at, ZEROS "1");
    assert_int_equal(td_dpi_report_destroy(report, &message), TD_OK);
    assert_int_equal(td_dpi_tensor_destroy(a, &message), TD_OK);
    assert_int_equal(td_dpi_tensor_destroy(b, &message), TD_OK);
}

/* Between the two halves of rank 32 there are 31 line ends. */
static void text_of_the_greatest_rank(void **state)
{
    (void)state;
    td_tensor *tensor = NULL;
    char *text = NULL;
    td_shape shape = {.rank = TD_MAX_RANK, .dim = {2}};
    for (size_t d = 1; d < shape.rank; d++)
        shape.dim[d] = 1;
    ASSERT_OK(td_tensor_create("u8", shape, &tensor));
    ASSERT_OK(td_tensor_text(tensor, &text));
    const char *gap = strstr(text, "0]");
    assert_non_null(gap);
    gap = strchr(gap, '\n');
    assert_non_null(gap);
    assert_int_equal(strspn(gap, "\n"), TD_MAX_RANK - 1);
    td_free(text);
    td_tensor_destroy(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_that_are_refused),
        cmocka_unit_test_setup_teardown(mappings_and_files_that_are_refused, enter_folder, leave_folder),
        cmocka_unit_test(words_that_lie_wrong),
        cmocka_unit_test(pictures_and_explanations),
        cmocka_unit_test(reports),
        cmocka_unit_test_setup_teardown(tensors_in_files, enter_folder, leave_folder),
        cmocka_unit_test(shapes_through_dpi),
        cmocka_unit_test(text_of_the_greatest_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
