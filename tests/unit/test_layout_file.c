/* Layout files and mappings: other ways to say a layout. What comes out must print as the layout that the strings say;
 * what is wrong is refused with its line. */
#include "support.h"

static const char good[] = "# what testbench and golden model share\n"
                           "\n"
                           "weights:     pattern (ot os) (it is) kh kw -> (ot it kh kw) (os is);   # tiles\n"
                           "             options os=4 is=4; address 0x40 + index; as i8 scale=0.05\n"
                           "activations: preset nc1hwc0 c0=32\n"
                           "skewed:\n"
                           "    address bank = (h + w) % 4; addr = 8*h + w; # before the pattern\n"
                           "    pattern h w\n"
                           "        c -> (h w) c;\n"
                           "one_line: pattern preset:vnni; options dtype=bf16 ;; as bf16\r\n"
                           "  last :pattern r c -> r c";

static const struct {
    const char *name, *pattern, *options, *address, *as;
} entries[] = {
    {"weights", "(ot os) (it is) kh kw -> (ot it kh kw) (os is)", "os=4 is=4", "64 + index", "i8 scale=0.05"},
    {"activations", "n (c1 c0) h w -> (n c1 h w) c0", "c0=32 pad=0", "", ""},
    {"skewed", "h w c -> (h w) c", "", "bank = (h + w)%4; addr = 8*h + w", ""},
    {"one_line", "(k1 k0) n -> (k1 n) k0", "k0=2 pad=0 dtype=bf16", "", "bf16"},
    {"last", "r c -> r c", "", "", ""},
};

static void test_entries(void **state)
{
    (void)state;
    write_file("layouts.txt", good, strlen(good));
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        td_layout *layout = NULL;
        ASSERT_OK(td_layout_open("layouts.txt", entries[i].name, &layout));
        assert_string_equal(td_layout_pattern(layout), entries[i].pattern);
        assert_string_equal(td_layout_options(layout), entries[i].options);
        assert_string_equal(td_layout_address(layout), entries[i].address);
        assert_string_equal(td_layout_as(layout), entries[i].as);
        td_layout_destroy(&layout);
    }
    char *names = NULL;
    ASSERT_OK(td_layout_names("layouts.txt", &names));
    assert_string_equal(names, "weights\nactivations\nskewed\none_line\nlast");
    td_free(names);
}

/* What the file says of the memory and of the tensor is kept with the layout, and of the latter checked. */
static void test_memory_and_shape(void **state)
{
    (void)state;
    static const char text[] = "w: pattern r c -> r c; memory wbuf; shape i8 4 2\n"
                               "n: pattern r -> r 1\n"
                               "d: pattern r -> r 1;\n   shape i99 4\n"
                               "z: pattern r -> r 1; shape i8 4 0\n"
                               "p: as mxfp4 axis=1; pattern r c -> r c; memory a; part scales shape i8 3;\n";
    td_layout *layout = NULL;
    write_file("layouts.txt", text, strlen(text));
    write_file("plain.txt", text, (size_t)(strstr(text, "p: as") - text));
    ASSERT_OK(td_layout_open("plain.txt", "w", &layout));
    assert_string_equal(td_layout_memory(layout), "wbuf");
    assert_string_equal(td_layout_tensor(layout), "i8 4 2");
    td_layout_destroy(&layout);
    ASSERT_OK(td_layout_open("plain.txt", "n", &layout));
    assert_string_equal(td_layout_memory(layout), "");
    assert_string_equal(td_layout_tensor(layout), "");
    td_layout_destroy(&layout);
    assert_string_equal(td_layout_memory(NULL), "");
    assert_string_equal(td_layout_tensor(NULL), "");
    assert_int_equal(td_layout_open("plain.txt", "d", &layout), TD_DTYPE);
    assert_non_null(strstr(td_last_error(), "layout_open \"plain.txt\", line 4: "));
    assert_int_equal(td_layout_open("plain.txt", "z", &layout), TD_SHAPE);
    assert_non_null(strstr(td_last_error(), "layout_open \"plain.txt\", line 5: "));
    ASSERT_REFUSED(td_layout_open("layouts.txt", "w", &layout), TD_FORMAT,
                   "layout_open \"layouts.txt\", line 6: shape in part scales; it stands in front of the parts");
    assert_null(layout);
}

/* The layout's own `as` is used where the call says none, and only there. */
static void test_as(void **state)
{
    (void)state;
    static const char text[] = "w: pattern r c -> r c; as i8 scale=0.5";
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    write_file("layouts.txt", text, strlen(text));
    ASSERT_OK(td_layout_open("layouts.txt", "w", &layout));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1, 4), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 1, 1));
    ASSERT_OK(td_memory_create("m", 32, 4, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    assert_int_equal(*(uint32_t *)td_memory_data(memory), 0x08060402);
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, "i8 scale=1"));
    assert_int_equal(*(uint32_t *)td_memory_data(memory), 0x04030201);
    ASSERT_OK(td_layout_spans(layout, tensor, "", 32, NULL, &spans, &count));
    assert_int_equal(count, 1);
    td_free(spans);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

static const struct {
    const char *text, *name;
    td_status status;
    const char *message;
} refused[] = {
    {"", "w", TD_FORMAT, "layout_open \"f.txt\": no layout in the file; write NAME: pattern ...;"},
    {"# only\n\n", "w", TD_FORMAT, "layout_open \"f.txt\": no layout in the file; write NAME: pattern ...;"},
    {"\n  pattern r c -> r c\n", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 2: text before the first layout; begin with NAME:, as in weights: pattern r c -> r "
     "c"},
    {"w: pattern r c -> r c\n", "x", TD_FORMAT, "layout_open \"f.txt\": no layout x among its 1; the first is w"},
    {"weights: pattern r c -> r c\n", "weigths", TD_FORMAT,
     "layout_open \"f.txt\": no layout weigths; did you mean weights?"},
    {"w: pattern r c -> r c\nv:\n\nw: pattern r c -> r c", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 2: layout v has no pattern; write pattern "
     "...; or preset ...;"},
    {"w: pattern r c -> r c\n\nw: pattern r c -> r c", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 3: layout w stands twice, first in line 1; "
     "rename one"},
    {"w: pattern r c -> r c;\n  patern r c -> r c", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 2: \"patern\" begins no clause; did you mean "
     "pattern?"},
    {"w: r c -> r c", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 1: \"r\" begins no clause; write pattern, options, address, as, preset, memory, "
     "shape, tensors or "
     "part"},
    {"w: pattern r c -> r c;\n pattern r c -> r c", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 2: pattern stands twice in layout w; give it "
     "once"},
    {"w: as mxfp4 axis=1; pattern r c -> r c;\n part scales tensors a.npy", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 2: tensors in part scales; an entry of tensors has no parts, so give it a name of "
     "its "
     "own"},
    {"w: pattern r c -> r c; preset vnni", "w", TD_FORMAT,
     "layout_open \"f.txt\", line 1: layout w has a pattern and a preset; keep one"},
    {"w:\n pattern r c -> r c;\n\n options cs=4", "w", TD_OPTION,
     "layout_open \"f.txt\", line 4: unknown option cs for pattern \"r c -> r c\"; did you mean c?"},
    {"w:\n pattern r c -> r c;\n address q + 1", "w", TD_ADDRESS,
     "layout_open \"f.txt\", line 3: unknown axis q in address \"q + 1\"; the word axes are: r; index is the number of "
     "the word\n    q + 1\n    ^"},
    {"w:\n\n pattern r c -> r", "w", TD_PATTERN,
     "layout_open \"f.txt\", line 3: axis c stands only on the left in pattern \"r c -> r\"; place c on the right, in "
     "the word group or in the lane group\n    r c -> r\n      ^"},
    {"w:\n preset nc1hwco", "w", TD_OPTION,
     "layout_open \"f.txt\", line 1: unknown preset nc1hwco; did you mean nc1hwc0?"},
};

static void test_refused(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    char *names = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        write_file("f.txt", refused[i].text, strlen(refused[i].text));
        ASSERT_REFUSED(td_layout_open("f.txt", refused[i].name, &layout), refused[i].status, refused[i].message);
        assert_null(layout);
    }
    write_file("f.txt", "w: \0", 4);
    ASSERT_REFUSED(td_layout_open("f.txt", "w", &layout), TD_FORMAT,
                   "layout_open \"f.txt\", line 1: a zero byte; layout files are text");
    ASSERT_REFUSED(td_layout_names("f.txt", &names), TD_FORMAT,
                   "layout_names \"f.txt\", line 1: a zero byte; layout files are text");
    ASSERT_REFUSED(
        td_layout_open("no.txt", "w", &layout), TD_FILE,
        "layout_open \"no.txt\": cannot open the file: No such file or directory; check the path and its permissions");
    ASSERT_REFUSED(td_layout_open(NULL, "w", &layout), TD_ARGUMENT, "layout_open: the path is NULL; pass one");
    ASSERT_REFUSED(td_layout_open("f.txt", NULL, &layout), TD_ARGUMENT, "layout_open: the name is NULL; pass one");
    ASSERT_REFUSED(td_layout_names("f.txt", NULL), TD_ARGUMENT, "layout_names: the output is NULL; pass one");
    write_file("f.txt", "w: pattern r c -> r c; as i8 scal=2", 35);
    assert_int_equal(td_layout_open("f.txt", "w", &layout), TD_OPTION);
    assert_non_null(strstr(td_last_error(), "layout_open \"f.txt\", line 1: "));
}

static const struct {
    const char *software, *hardware, *temporal, *spatial;
    uint64_t base;
    const char *strides, *options, *pattern_is, *options_are, *address_is;
} mappings[] = {
    {"b w (ct cs)", "(b w ct) cs", "b=2 w=3 ct=2", "cs=4", 0, "b=16 w=4 ct=1", NULL, "b w (ct cs) -> (b w ct) cs",
     "b=2 w=3 ct=2 cs=4", "0 + 16*b + 4*w + 1*ct"},
    {"c h w", "(w h) c", "h=2 w=3", "c=3", 4, NULL, "", "c h w -> (w h) c", "c=3 h=2 w=3", "4 + 3*h + 1*w"},
    {"c h w", "(w h) c", "h=2", "", 4, "", "pad=0", "c h w -> (w h) c", "h=2 pad=0", "4 + index"},
    {"r c", "r c", "r=4", "c=2", 9, "r=-3", NULL, "r c -> r c", "r=4 c=2", "9 - 3*r"},
    {"r c", "r c", NULL, NULL, 7, NULL, NULL, "r c -> r c", "", "7 + index"},
};

static void test_mappings(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    for (size_t i = 0; i < sizeof mappings / sizeof mappings[0]; i++) {
        ASSERT_OK(td_layout_from_mapping(mappings[i].software, mappings[i].hardware, mappings[i].temporal,
                                         mappings[i].spatial, mappings[i].base, mappings[i].strides,
                                         mappings[i].options, &layout));
        assert_string_equal(td_layout_pattern(layout), mappings[i].pattern_is);
        assert_string_equal(td_layout_options(layout), mappings[i].options_are);
        assert_string_equal(td_layout_address(layout), mappings[i].address_is);
        td_layout_destroy(&layout);
    }
    ASSERT_REFUSED(td_layout_from_mapping("r c", "r c", "row=2", "c=4", 0, "rows=2", NULL, &layout), TD_OPTION,
                   "layout_from_mapping: a stride for axis rows, which is no temporal axis; did you mean row?");
    ASSERT_REFUSED(
        td_layout_from_mapping("r c", "r c", "", "c=4", 0, "q=2", NULL, &layout), TD_OPTION,
        "layout_from_mapping: a stride for axis q, which is no temporal axis; name one in the temporal sizes");
    ASSERT_REFUSED(
        td_layout_from_mapping("r q c", "(r q) c", "r=2 q=2", "c=4", 0, "r=2", NULL, &layout), TD_OPTION,
        "layout_from_mapping: no stride for temporal axis q; pass one for each, or none for consecutive words");
    ASSERT_REFUSED(td_layout_from_mapping("r c", "r c", "r=2 r=3", "c=4", 0, NULL, NULL, &layout), TD_OPTION,
                   "layout_from_mapping: axis r stands twice in the temporal sizes; give it once");
    ASSERT_REFUSED(td_layout_from_mapping("r c", "r c", "r=2", "c:4", 0, NULL, NULL, &layout), TD_OPTION,
                   "layout_from_mapping: \"c:4\" in the spatial sizes is not AXIS=NUMBER; write it as in b=2");
    ASSERT_REFUSED(td_layout_from_mapping("r c", NULL, "r=2", "c=4", 0, NULL, NULL, &layout), TD_ARGUMENT,
                   "layout_from_mapping: the hardware pattern is NULL; pass one");
    assert_null(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entries, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_memory_and_shape, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_as, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_refused, enter_folder, leave_folder),
        cmocka_unit_test(test_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
