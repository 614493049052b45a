/* Parts in memories: layouts of parts, by hand and out of a layout file, axes by name, memories by name, loads and
 * dumps in one call, every message, and which layouts go layer by layer. tests/prop/prop_parts.c holds the results
 * against single loads on random layouts. */
#include "support.h"

#include "plan/layers.h"

#include <stdbool.h>

static const char *const file_text = "# weights of two memories\n"
                                     "weights: pattern (nt ns) (kt ks) -> (nt kt) (ns ks); options ns=4 ks=16;\n"
                                     "    memory wbuf; as mxfp4 rule=rceil axis=kt;\n"
                                     "    part scales memory sbuf pattern n k -> n k; address 3 + index\n"
                                     "plain: pattern r c -> r c\n"
                                     "zeros: pattern n k -> n k; memory wbuf; as uint4 block=16;\n"
                                     "    part scales; memory sbuf\n"
                                     "      ; pattern n k -> n k\n"
                                     "    ; part zeros memory sbuf pattern n k -> n k; options fill=keep lsb=64\n";

/* -- a tensor of 8 x 64, with a memory for its elements and one for its scales -- */

typedef struct world {
    td_tensor *w, *back;
    td_memory *wbuf, *sbuf, *list[2];
    td_layout *tiles, *rows;
    td_parts_layout *parts;
} world;

static void open_world(world *w)
{
    *w = (world){0};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(8, 64), &w->w));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(8, 64), &w->back));
    ASSERT_OK(td_tensor_fill(w->w, "normal seed=5"));
    ASSERT_OK(td_memory_create("wbuf", 256, 64, &w->wbuf));
    ASSERT_OK(td_memory_create("sbuf", 128, 64, &w->sbuf));
    ASSERT_OK(td_layout_create("(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=4 ks=16", "", &w->tiles));
    ASSERT_OK(td_layout_create("n k -> n k", "", "", &w->rows));
    w->list[0] = w->sbuf;
    w->list[1] = w->wbuf;
}

static void close_world(world *w)
{
    td_tensor_destroy(&w->w);
    td_tensor_destroy(&w->back);
    td_memory_destroy(&w->wbuf);
    td_memory_destroy(&w->sbuf);
    td_layout_destroy(&w->tiles);
    td_layout_destroy(&w->rows);
    td_parts_layout_destroy(&w->parts);
}

static void make_parts(world *w, const char *packing, const char *elems, const char *scales)
{
    ASSERT_OK(td_parts_layout_create(packing, &w->parts));
    ASSERT_OK(td_parts_layout_add(w->parts, "elems", elems, w->tiles));
    ASSERT_OK(td_parts_layout_add(w->parts, "scales", scales, w->rows));
}

static bool is_zero(td_memory *m)
{
    const unsigned char *data = td_memory_data(m);
    for (size_t i = 0; i < td_memory_depth_words(m) * td_memory_word_bytes(m); i++)
        if (data[i])
            return false;
    return true;
}

/* -- right ones -- */

static void one_call_is_pack_and_two_loads(void **state)
{
    (void)state;
    world w;
    td_parts *p = NULL;
    td_tensor *part = NULL, *values = NULL;
    td_memory *wbuf = NULL, *sbuf = NULL;
    open_world(&w);
    make_parts(&w, "mxfp4 rule=rceil axis=ks", "wbuf", "sbuf");
    assert_int_equal(td_parts_layout_count(w.parts), 2);
    assert_string_equal(td_parts_layout_packing(w.parts), "mxfp4 rule=rceil axis=ks");
    assert_string_equal(td_parts_layout_part(w.parts, 1), "scales");
    assert_string_equal(td_parts_layout_memory(w.parts, 1), "sbuf");
    assert_string_equal(td_layout_pattern(td_parts_layout_layout(w.parts, 1)), "n k -> n k");
    assert_null(td_parts_layout_part(w.parts, 2));
    assert_null(td_parts_layout_memory(w.parts, 2));
    assert_null(td_parts_layout_layout(w.parts, 2));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));

    ASSERT_OK(td_memory_create("wbuf", 256, 64, &wbuf));
    ASSERT_OK(td_memory_create("sbuf", 128, 64, &sbuf));
    ASSERT_OK(td_parts_pack(w.w, "mxfp4 rule=rceil axis=1", &p));
    ASSERT_OK(td_parts_part(p, "elems", &part));
    ASSERT_OK(td_backdoor_load_tensor(wbuf, part, w.tiles, NULL));
    ASSERT_OK(td_parts_part(p, "scales", &part));
    ASSERT_OK(td_backdoor_load_tensor(sbuf, part, w.rows, NULL));
    assert_memory_equal(td_memory_data(w.wbuf), td_memory_data(wbuf), 64 * 32);
    assert_memory_equal(td_memory_data(w.sbuf), td_memory_data(sbuf), 64 * 16);

    ASSERT_OK(td_backdoor_dump_parts(w.list, 2, w.back, w.parts));
    ASSERT_OK(td_parts_unpack(p, NULL, &values));
    assert_memory_equal(td_tensor_data(w.back), td_tensor_data(values), 8 * 64 * 4);
    td_tensor_destroy(&values);
    td_parts_destroy(&p);
    td_memory_destroy(&wbuf);
    td_memory_destroy(&sbuf);
    close_world(&w);
}

static void a_file_says_the_same(void **state)
{
    (void)state;
    world w;
    td_parts_layout *zeros = NULL;
    open_world(&w);
    write_file("f.txt", file_text, strlen(file_text));
    ASSERT_OK(td_parts_layout_open("f.txt", "weights", &w.parts));
    assert_int_equal(td_parts_layout_count(w.parts), 2);
    assert_string_equal(td_parts_layout_part(w.parts, 0), "");
    assert_string_equal(td_parts_layout_memory(w.parts, 0), "wbuf");
    assert_string_equal(td_parts_layout_memory(w.parts, 1), "sbuf");
    assert_string_equal(td_layout_address(td_parts_layout_layout(w.parts, 1)), "3 + index");
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));
    assert_int_equal(((unsigned char *)td_memory_data(w.sbuf))[2 * 16], 0);
    assert_int_not_equal(((unsigned char *)td_memory_data(w.sbuf))[3 * 16], 0);
    ASSERT_OK(td_backdoor_dump_parts(w.list, 2, w.back, w.parts));
    td_report *report = NULL;
    ASSERT_OK(td_tensor_compare(w.w, w.back, "atol=1", &report));
    assert_true(td_report_passed(report));
    td_report_destroy(&report);
    /* scales and zero points share words: the later part keeps the bits of the other */
    ASSERT_OK(td_parts_layout_open("f.txt", "zeros", &zeros));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, zeros));
    ASSERT_OK(td_backdoor_dump_parts(w.list, 2, w.back, zeros));
    ASSERT_OK(td_tensor_compare(w.w, w.back, "atol=0.3", &report));
    assert_true(td_report_passed(report));
    td_report_destroy(&report);
    td_parts_layout_destroy(&zeros);
    close_world(&w);
}

/* Banks are found by the name in front of their brackets, and dumps give any dtype. */
static void banks_and_other_dtypes(void **state)
{
    (void)state;
    world w;
    td_memory *memories[4] = {NULL};
    td_layout *banked = NULL;
    td_tensor *half = NULL;
    open_world(&w);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"abuf[0]", "abuf[1]", "abuffer"};
        ASSERT_OK(td_memory_create(names[i], 256, 64, &memories[i]));
    }
    memories[3] = w.sbuf;
    ASSERT_OK(td_layout_create("(n b) k -> b n k", "b=2", "", &banked));
    ASSERT_OK(td_parts_layout_create("mxfp4", &w.parts));
    ASSERT_OK(td_parts_layout_add(w.parts, "", "abuf", banked));
    ASSERT_OK(td_parts_layout_add(w.parts, "scales", "sbuf", w.rows));
    ASSERT_OK(td_backdoor_load_parts(memories, 4, w.w, w.parts));
    assert_false(is_zero(memories[1]));
    assert_true(is_zero(memories[2]));
    ASSERT_OK(td_tensor_create("bf16", TD_SHAPE(8, 64), &half));
    ASSERT_OK(td_backdoor_dump_parts(memories, 4, half, w.parts));
    ASSERT_OK(td_backdoor_dump_parts(memories, 4, w.back, w.parts));
    for (uint64_t i = 0; i < 512; i++) { /* e2m1 times a power of two is a bf16 */
        double a = 0, b = 1;
        ASSERT_OK(td_tensor_get_real(half, i, &a));
        ASSERT_OK(td_tensor_get_real(w.back, i, &b));
        assert_true(a == b);
    }
    td_tensor_destroy(&half);
    td_layout_destroy(&banked);
    for (int i = 0; i < 3; i++)
        td_memory_destroy(&memories[i]);
    close_world(&w);
}

/* Three parts and a scalar; a sparse packing, which is made whole. */
static void other_packings(void **state)
{
    (void)state;
    world w;
    td_layout *scalar = NULL, *flat = NULL;
    td_parts_layout *sparse = NULL;
    open_world(&w);
    ASSERT_OK(td_layout_create(" -> 1 1", "", "60", &scalar));
    make_parts(&w, "nvfp4", "wbuf", "sbuf");
    ASSERT_REFUSED(td_backdoor_load_parts(w.list, 2, w.w, w.parts), TD_OPTION,
                   "backdoor_load_parts: the part \"global\" of \"nvfp4\" has no layout; say where it lies, as part "
                   "global memory NAME pattern ...");
    ASSERT_OK(td_parts_layout_add(w.parts, "global", "sbuf", scalar));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, w.w, w.parts));
    float global = 0;
    memcpy(&global, (char *)td_memory_data(w.sbuf) + (size_t)60 * 16, sizeof global);
    assert_true(global > 0 && global < 1);
    ASSERT_OK(td_backdoor_dump_parts(w.list, 2, w.back, w.parts));
    double a = 0, b = 0;
    ASSERT_OK(td_tensor_get_real(w.w, 7, &a));
    ASSERT_OK(td_tensor_get_real(w.back, 7, &b));
    assert_true(a - b < 0.3 && b - a < 0.3);

    td_tensor *few = NULL, *dense = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 16), &few));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 16), &dense));
    ASSERT_OK(td_tensor_fill(few, "sparse zeros=0.7 seed=3"));
    ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
    ASSERT_OK(td_parts_layout_create("2:4 elem=i8 prune=magnitude", &sparse));
    ASSERT_OK(td_parts_layout_add(sparse, "values", "wbuf", flat));
    ASSERT_OK(td_parts_layout_add(sparse, "meta", "sbuf", flat));
    ASSERT_OK(td_backdoor_load_parts(w.list, 2, few, sparse));
    ASSERT_OK(td_backdoor_dump_parts(w.list, 2, dense, sparse));
    size_t kept = 0;
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t x = 0, y = 0;
        ASSERT_OK(td_tensor_get_bits(few, i, &x));
        ASSERT_OK(td_tensor_get_bits(dense, i, &y));
        assert_true(y == x || y == 0);
        kept += y != 0;
    }
    assert_true(kept > 4);
    memset(td_memory_data(w.sbuf), 0, (size_t)64 * 16); /* meta that names one place twice */
    ASSERT_REFUSED(td_backdoor_dump_parts(w.list, 2, dense, sparse), TD_RANGE, td_last_error());
    assert_memory_equal(td_last_error(), "backdoor_dump_parts: ", 21);
    td_parts_layout_destroy(&sparse);
    td_tensor_destroy(&few);
    td_tensor_destroy(&dense);
    td_layout_destroy(&flat);
    td_layout_destroy(&scalar);
    close_world(&w);
}

/* -- refusals: none of them writes a word -- */

static void refused_calls_change_nothing(void **state)
{
    (void)state;
    const struct {
        const char *packing, *elems, *scales, *scales_part, *address;
        td_status status;
        const char *text;
    } rows[] = {
        {"mxfp4", "wbuf", "tbuf", "scales", "", TD_ARGUMENT,
         "backdoor_load_parts: no memory \"tbuf\" for the part \"scales\" among \"sbuf\", \"wbuf\"; pass it too, or "
         "name one of them"},
        {"mxfp4", "wbuf", "sbuf", "scale", "", TD_OPTION,
         "backdoor_load_parts: \"scale\" is no part of \"mxfp4\"; did you mean \"scales\"? they are elems, scales"},
        {"mxfp4", "wbuf", "sbuf", "", "", TD_OPTION,
         "backdoor_load_parts: the part \"elems\" of \"mxfp4\" has two layouts; keep one"},
        {"mxfp4 axis=kk", "wbuf", "sbuf", "scales", "", TD_OPTION,
         "backdoor_load_parts: axis=kk in packing \"mxfp4 axis=kk\" is no axis on the left of \"(nt ns) (kt ks) -> (nt "
         "kt) (ns ks)\"; did you mean kt? or pass the number of a dimension"},
        {"mxfp4 axis=zzzzz", "wbuf", "sbuf", "scales", "", TD_OPTION,
         "backdoor_load_parts: axis=zzzzz in packing \"mxfp4 axis=zzzzz\" is no axis on the left of \"(nt ns) (kt ks) "
         "-> (nt kt) (ns ks)\"; pass one of them, or the number of a dimension"},
        {"mxpf4", "wbuf", "sbuf", "scales", "", TD_OPTION, "backdoor_load_parts: packing \"mxpf4\" begins with "},
        {"mxfp4", "wbuf", "wbuf", "scales", "7 + index", TD_ALIAS,
         "the parts \"elems\" and \"scales\" both lie in word 0x7 of \"wbuf\"; move one of them, or pass fill=keep "
         "where they share words"},
        {"mxfp4", "wbuf", "sbuf", "scales", "60 + index", TD_RANGE, "backdoor_load_parts \"sbuf\": "},
        {"mxfp4", "sbuf", "wbuf", "scales", "", TD_RANGE, "backdoor_load_parts \"sbuf\": "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world w;
        td_layout *scales = NULL;
        open_world(&w);
        ASSERT_OK(td_tensor_set_name(w.w, "w"));
        ASSERT_OK(td_layout_create("n k -> n k", "", rows[i].address, &scales));
        ASSERT_OK(td_parts_layout_create(rows[i].packing, &w.parts));
        ASSERT_OK(td_parts_layout_add(w.parts, "elems", rows[i].elems, w.tiles));
        ASSERT_OK(td_parts_layout_add(w.parts, rows[i].scales_part, rows[i].scales, scales));
        assert_int_equal(td_backdoor_load_parts(w.list, 2, w.w, w.parts), rows[i].status);
        if (strncmp(td_last_error(), rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("%s", td_last_error());
        assert_true(is_zero(w.wbuf) && is_zero(w.sbuf));
        td_layout_destroy(&scales);
        close_world(&w);
    }
}

static void arguments_are_checked(void **state)
{
    (void)state;
    world w;
    td_parts_layout *empty = NULL;
    td_layout *as = NULL, *dtype = NULL;
    char name[80];
    memset(name, 'x', 70);
    name[70] = 0;
    open_world(&w);
    make_parts(&w, "mxfp4", "wbuf", "sbuf");
    ASSERT_REFUSED(td_backdoor_load_parts(NULL, 2, w.w, w.parts), TD_ARGUMENT,
                   "backdoor_load_parts: no memory; pass those that the parts lie in");
    td_memory *const holes[2] = {w.wbuf, NULL};
    ASSERT_REFUSED(td_backdoor_load_parts(holes, 2, w.w, w.parts), TD_ARGUMENT,
                   "backdoor_load_parts: memory 1 is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_load_parts(w.list, 2, NULL, w.parts), TD_ARGUMENT,
                   "backdoor_load_parts: the tensor is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_dump_parts(w.list, 2, w.back, NULL), TD_ARGUMENT,
                   "backdoor_dump_parts: the layout of parts is NULL; create it first");
    ASSERT_OK(td_parts_layout_create("mxfp4", &empty));
    ASSERT_REFUSED(td_backdoor_load_parts(w.list, 2, w.w, empty), TD_ARGUMENT,
                   "backdoor_load_parts: the layout of parts has no part; add one for each of \"mxfp4\"");
    ASSERT_REFUSED(td_parts_layout_create(NULL, &empty), TD_ARGUMENT,
                   "parts_layout_create: the packing is NULL; pass a packing such as \"mxfp4\", and an output");
    ASSERT_REFUSED(td_parts_layout_add(w.parts, "scales", "sbuf", w.rows), TD_ARGUMENT,
                   "parts_layout_add: the part \"scales\" has a layout already; add every part once");
    ASSERT_REFUSED(td_parts_layout_add(w.parts, "zeros", "sbuf", NULL), TD_ARGUMENT,
                   "parts_layout_add: the layout is NULL; pass one");
    ASSERT_REFUSED(td_parts_layout_add(w.parts, "zeros", name, w.rows), TD_ARGUMENT,
                   "parts_layout_add: the name \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is longer than 63 "
                   "characters; shorten it");
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "p%d", i);
        ASSERT_OK(td_parts_layout_add(empty, name, NULL, w.rows));
    }
    ASSERT_REFUSED(td_parts_layout_add(empty, "p8", NULL, w.rows), TD_ARGUMENT,
                   "parts_layout_add: 8 parts have a layout already, and no packing has more");
    write_file("as.txt", "l: pattern r c -> r c; as i8", 28);
    ASSERT_OK(td_layout_open("as.txt", "l", &as));
    ASSERT_REFUSED(
        td_parts_layout_add(w.parts, "zeros", "sbuf", as), TD_OPTION,
        "parts_layout_add: the layout of part \"zeros\" says as i8, and a part has the dtype of its packing; "
        "take as out of it");
    td_parts_layout_destroy(&w.parts);
    ASSERT_OK(td_layout_create("n k -> n k", "dtype=u8", "", &dtype));
    ASSERT_OK(td_parts_layout_create("mxfp4", &w.parts));
    ASSERT_OK(td_parts_layout_add(w.parts, "elems", "wbuf", w.tiles));
    ASSERT_OK(td_parts_layout_add(w.parts, "scales", "sbuf", dtype));
    ASSERT_REFUSED(td_backdoor_load_parts(w.list, 2, w.w, w.parts), TD_DTYPE,
                   "backdoor_load_parts \"sbuf\": the memory would hold e8m0, the layout moves u8; pass as=\"u8\", or "
                   "drop dtype=u8 from the layout\n    tensor \"scales\", e8m0 (8, 2)");
    td_layout_destroy(&as);
    td_layout_destroy(&dtype);
    td_parts_layout_destroy(&empty);
    td_parts_layout_destroy(&empty);
    assert_string_equal(td_parts_layout_packing(NULL), "");
    assert_int_equal(td_parts_layout_count(NULL), 0);
    close_world(&w);
}

static void files_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *name, *message;
    } rows[] = {
        {"w: pattern r c -> r c; as mxfp4; part; pattern r c -> r c", "w",
         "line 1: part without a name; write part NAME"},
        {"w: pattern r c -> r c; as mxfp4; memory", "w", "line 1: memory without a name; write memory NAME"},
        {"w: pattern r c -> r c; as mxfp4;\npart scales memory s", "w",
         "line 2: part scales has no pattern; write pattern ...; or preset ...;"},
        {"w: as mxfp4;\npart scales memory s pattern r c -> r c", "w",
         "line 1: layout w has no pattern; write pattern ...; or preset ...;"},
        {"w: pattern r c -> r c; as mxfp4; part scales preset scale_8x4; pattern r c -> r c", "w",
         "line 1: part scales has a pattern and a preset; keep one"},
        {"w: pattern r c -> r c; as mxfp4;\npart scales preset scale_8x4;\npart scales preset scale_8x4", "w",
         "line 3: part scales stands twice in layout w; give it once"},
        {"w: pattern r c -> r c; as mxfp4; part scales memory a; memory b; preset scale_8x4", "w",
         "line 1: memory stands twice in part scales; give it once"},
        {"w: pattern r c -> r c; as mxfp4; part scales preset scale_8x4; as i8", "w",
         "line 1: as in part scales; the packing stands in front of the parts, and says their dtypes"},
        {"w: pattern r c -> r c; part scales preset scale_8x4", "w",
         "line 1: layout w has parts and no packing; write as mxfp4 ...;"},
        {"w: pattern r c -> r c; as mxfp4; part scales memory s patern r c -> r c", "w",
         "line 1: \"patern\" begins no clause; did you mean pattern?"},
        {"w: pattern r c -> r c; as mxfp4;\npart scales pattern r c -> r d", "w", "line 2: "},
        {"w: pattern r c -> r c", "w",
         "line 1: layout w has no parts; write part NAME ...; for each, or open it with layout_open"},
        {"w: pattern a -> 1 a; as x; part b pattern a -> 1 a; part c pattern a -> 1 a; part d pattern a -> 1 a; part e "
         "pattern a -> 1 a; part f pattern a -> 1 a; part g pattern a -> 1 a; part h pattern a -> 1 a; part i pattern "
         "a -> 1 a",
         "w", "line 1: layout w has more than 8 parts, and no packing does"},
        {"w: pattern r c -> r c; as mxfp4; memory "
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "w",
         "line 1: the name \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is longer than 63 characters; shorten "
         "it"},
    };
    td_parts_layout *layout = NULL;
    td_layout *plain = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char whole[256];
        write_file("f.txt", rows[i].text, strlen(rows[i].text));
        snprintf(whole, sizeof whole, "parts_layout_open \"f.txt\", %s", rows[i].message);
        assert_int_not_equal(td_parts_layout_open("f.txt", rows[i].name, &layout), TD_OK);
        if (strncmp(td_last_error(), whole, strlen(whole)) != 0)
            fail_msg("%s\ninstead of\n%s", td_last_error(), whole);
        assert_null(layout);
    }
    ASSERT_REFUSED(td_parts_layout_open("f.txt", NULL, &layout), TD_ARGUMENT,
                   "parts_layout_open: the name is NULL; pass one");
    write_file("f.txt", file_text, strlen(file_text));
    ASSERT_REFUSED(td_layout_open("f.txt", "weights", &plain), TD_FORMAT,
                   "layout_open \"f.txt\", line 2: layout weights is one of parts (as mxfp4 rule=rceil axis=kt); open "
                   "it with parts_layout_open, or take the layout of a part from that");
    ASSERT_OK(td_layout_open("f.txt", "plain", &plain));
    td_layout_destroy(&plain);
}

/* -- which layouts go layer by layer -- */

static void layers_where_they_lie_alike(void **state)
{
    (void)state;
    const struct {
        const char *pattern, *options, *address;
        uint64_t multiple;
        bool found;
        uint64_t rows;
        int64_t step_words;
    } rows[] = {
        {"(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=16 ks=16", "", 1, true, 64, 4 * 64},
        {"(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=16 ks=16", "0x40 + 3*index", 32, true, 64, 4 * 64 * 3},
        {"n (kt ks) -> (n kt) ks", "ks=256", "", 48, true, 48, 48 * 4},
        {"(nt ns) (kt ks) -> (kt nt) (ns ks)", "ns=16 ks=16", "", 1, false, 0, 0},
        {"(nt ns) (kt ks) -> (kt nt) (ns ks)", "ns=16 ks=16", "64*nt + kt", 1, true, 64, 4 * 64},
        {"(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=16 ks=16", "index ^ 1", 1, false, 0, 0},
        {"n (kt ks) -> kt (n ks)", "ks=1", "", 1, false, 0, 0},
        {"n k -> (n k)", "", "", 1, false, 0, 0},
        {"n (kt ks) -> (n kt) ks", "ks=256", "", 1024, false, 0, 0},
        {"(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=96 ks=16 pad=0", "", 1, false, 0, 0},
        {"(nt ns) (kt ks) -> (nt kt) (ns ks)", "ns=16 ks=24 pad=0", "", 1, true, 64, 4 * 43},
    };
    const td_shape shape = TD_SHAPE(1024, 1024);
    td_dtype e2m1;
    ASSERT_OK(td_dtype_parse("e2m1", &e2m1));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_layout *layout = NULL;
        td_layers layers;
        ASSERT_OK(td_layout_create(rows[i].pattern, rows[i].options, rows[i].address, &layout));
        const td_plan_request request = {
            .layout = layout,
            .shape = &shape,
            .tensor_dtype = e2m1,
            .memory_dtype = e2m1,
            .geometry = {.width_bits = 8192, .depth_words = 1 << 20, .banks = 1, .word_bytes = 1024}};
        if (td_layers_find(&request, rows[i].multiple, 65536, &layers) != rows[i].found)
            fail_msg("%s %s %s", rows[i].pattern, rows[i].options, rows[i].address);
        if (rows[i].found) {
            assert_int_equal(layers.rows, rows[i].rows);
            assert_int_equal(layers.step_bytes, rows[i].step_words * 1024);
            assert_int_equal(layers.count, (1024 - 1) / rows[i].rows + 1);
        }
        td_layers_free(&layers);
        td_layout_destroy(&layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_call_is_pack_and_two_loads),
        cmocka_unit_test(a_file_says_the_same),
        cmocka_unit_test(banks_and_other_dtypes),
        cmocka_unit_test(other_packings),
        cmocka_unit_test(refused_calls_change_nothing),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(files_are_refused),
        cmocka_unit_test(layers_where_they_lie_alike),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
