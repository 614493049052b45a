/* Programs that run: the bytes in memory against the same calls one by one, labels and arguments, refusals that change
 * nothing, the words that a run touches. */
#include "support.h"

#include "tensordoor_bridge.h"

static td_memory *memory(const char *name, uint64_t width, uint64_t depth)
{
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create(name, width, depth, &m));
    return m;
}

static td_tensor *tensor(const char *dtype, td_shape shape, const char *what)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    ASSERT_OK(td_tensor_fill(t, what));
    return t;
}

static td_layout *layout(const char *pattern, const char *options, const char *address)
{
    td_layout *l = NULL;
    ASSERT_OK(td_layout_create(pattern, options, address, &l));
    return l;
}

static void assert_same(td_memory *a, td_memory *b)
{
    assert_memory_equal(td_memory_data(a), td_memory_data(b), td_memory_depth_words(a) * td_memory_word_bytes(a));
}

/* -- a whole test -------------------------------------------------------------------------------------------------- */

static const char infer[] = "# what the testbench does around one layer\n"
                            "arg seed = 7\n"
                            "use \"chip.layouts\"\n"
                            "layout rows = \"r c -> r c\"\n"
                            "tensor w = open \"w.npy\"\n"
                            "tensor x = fill i8 16x4x4 uniform seed={seed}\n"
                            "label load:\n"
                            "  load wbuf w tiles as \"i8 scale=0.5\"\n"
                            "  for t in 0..16:\n"
                            "    load abuf (clamp x[t] -3 5) rows at 4*t\n"
                            "  fill obuf zero\n"
                            "label check:\n"
                            "  tensor got = dump abuf i8 64x4 rows\n"
                            "  for t in 0..2:\n"
                            "    checkpoint \"layer{t}\" wbuf w tiles policy \"atol=0.25\" as \"i8 scale=0.5\"\n";

static void test_infer(void **state)
{
    (void)state;
    td_memory *wbuf = memory("wbuf", 32, 64), *abuf = memory("abuf", 32, 64), *obuf = memory("obuf", 8, 8);
    td_memory *wide = memory("wbuf", 32, 64), *narrow = memory("abuf", 32, 64);
    td_tensor *w = tensor("f32", TD_SHAPE(8, 8), "uniform min=-20 max=20 seed=3"),
              *x = tensor("i8", TD_SHAPE(16, 4, 4), "uniform seed=9");
    td_layout *tiles = layout("(rt rs) (ct cs) -> (rt ct rs) cs", "rs=4 cs=4", "3 + index"),
              *rows = layout("t r c -> (t r) c", NULL, NULL);
    td_program *p = NULL;
    td_checkpoints *out = NULL;
    const td_tensor *got = NULL;
    td_tensor *clamped = NULL;
    static const char file[] =
        "tiles: pattern (rt rs) (ct cs) -> (rt ct rs) cs; options rs=4 cs=4; address 3 + index\n";
    write_file("chip.layouts", file, sizeof file - 1);
    write_file("infer.td", infer, sizeof infer - 1);
    ASSERT_OK(td_tensor_save(w, "w.npy"));
    ASSERT_OK(td_program_open("infer.td", &p));
    assert_string_equal(td_program_name(p), "infer");
    assert_string_equal(td_program_memory(p, 0), "wbuf");
    assert_string_equal(td_program_memory(p, 1), "abuf");
    assert_string_equal(td_program_memory(p, 2), "obuf");
    assert_null(td_program_memory(p, 3));
    assert_string_equal(td_program_label(p, 0), "load");
    assert_string_equal(td_program_label(p, 1), "check");
    assert_null(td_program_label(p, 2));
    ASSERT_OK(td_program_bind_memory(p, "wbuf", wbuf));
    ASSERT_OK(td_program_bind_memory(p, "abuf", abuf));
    ASSERT_OK(td_program_bind_memory(p, "obuf", obuf));
    ASSERT_OK(td_memory_fill(obuf, "one", 0, 8));

    for (int run = 0; run < 2; run++) { /* the second time from what the first has kept */
        ASSERT_OK(td_program_run(p, "load", "seed=9", NULL));
        ASSERT_OK(td_backdoor_load_tensor(wide, w, tiles, "i8 scale=0.5"));
        td_tensor_destroy(&clamped);
        ASSERT_OK(td_tensor_clamp(x, -3, 5, &clamped));
        ASSERT_OK(td_backdoor_load_tensor(narrow, clamped, rows, NULL));
        assert_same(wbuf, wide);
        assert_same(abuf, narrow);
        for (int i = 0; i < 8; i++)
            assert_int_equal(((unsigned char *)td_memory_data(obuf))[i], 0);
    }
    ASSERT_REFUSED(td_program_run(p, "check", "seed=9", NULL), TD_ARGUMENT,
                   "program_run: the output is NULL, and the program has checkpoints; pass one");
    ASSERT_OK(td_program_run(p, "check", "seed=9", &out));
    assert_int_equal(td_checkpoints_count(out), 2);
    assert_string_equal(td_checkpoints_name(out, 1), "layer1");
    assert_int_equal(td_checkpoints_passed(out), 1);
    td_checkpoints_destroy(&out);
    ASSERT_OK(td_program_tensor(p, "got", &got));
    assert_memory_equal(td_tensor_data_const(got), td_tensor_data(clamped), 256);
    ASSERT_OK(td_program_tensor(p, "x", &got));
    assert_memory_equal(td_tensor_data_const(got), td_tensor_data(x), 256);
    ASSERT_REFUSED(td_program_tensor(p, "gto", &got), TD_ARGUMENT,
                   "program_tensor: no tensor \"gto\"; did you mean \"got\"?");
    ((unsigned char *)td_memory_data(wbuf))[12] ^= 0x40;
    ASSERT_OK(td_program_run(p, "check", "seed=9", &out));
    assert_int_equal(td_checkpoints_passed(out), 0);
    assert_int_equal(td_report_mismatches(td_checkpoints_report(out, 0)), 1);
    td_checkpoints_destroy(&out);

    td_tensor_destroy(&w);
    td_tensor_destroy(&x);
    td_tensor_destroy(&clamped);
    td_layout_destroy(&tiles);
    td_layout_destroy(&rows);
    td_program_destroy(&p);
    td_memory_destroy(&wbuf);
    td_memory_destroy(&abuf);
    td_memory_destroy(&obuf);
    td_memory_destroy(&wide);
    td_memory_destroy(&narrow);
}

/* Every step that makes a tensor, against its call. */
static void test_steps(void **state)
{
    (void)state;
    static const char text[] = "tensor a = scale x 2 sat\n"
                               "tensor b = add a x wrap\n"
                               "tensor c = mul b (clamp x -1 1)\n"
                               "tensor d = transpose c\n"
                               "tensor e = concat d d[1:3] axis 0\n"
                               "tensor g = slice e \"::2\"\n"
                               "tensor h = convert g \"i16 scale=0.5\"\n"
                               "tensor i = fill \"i16 3 4\" constant=-3\n"
                               "tensor j = add h i[0:3, 0:4]\n"
                               "load m j \"... -> (...); ; 4\"\n"
                               "write m 0 0x2345_6789_0123_4567 2 3\n"
                               "tensor r = read m 0 4\n"
                               "tensor s = read n 0 2\n"
                               "load n j matrix at 2\n"
                               "dump n into matrix at 2\n"
                               "save j \"j.npy\"\n";
    td_memory *m = memory("m", 64, 16), *n = memory("n", 100, 8), *one = memory("m", 64, 16);
    td_tensor *x = tensor("i8", TD_SHAPE(4, 3), "uniform seed=5"), *into = tensor("i16", TD_SHAPE(3, 4), "ramp");
    td_tensor *a = NULL, *b = NULL, *k = NULL, *c = NULL, *d = NULL, *part = NULL, *e = NULL, *g = NULL, *h = NULL,
              *j = NULL, *saved = NULL;
    td_tensor *i = tensor("i16", TD_SHAPE(3, 4), "ramp start=-3 step=0");
    const td_tensor *both[2];
    td_layout *flat = layout("... -> (...)", NULL, "4");
    td_program *p = NULL;
    const td_tensor *got = NULL;
    ASSERT_OK(td_tensor_scale(x, 2, "sat", &a));
    ASSERT_OK(td_tensor_add(a, x, "wrap", &b));
    ASSERT_OK(td_tensor_clamp(x, -1, 1, &k));
    ASSERT_OK(td_tensor_mul(b, k, "sat", &c));
    td_tensor_destroy(&c);
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_bind_memory(p, "n", n));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_tensor(p, "into", into));
    if (td_tensor_mul(b, k, NULL, &c)) { /* -128 * -1 */
        for (uint64_t q = 0; q < td_tensor_elems(x); q++)
            ASSERT_OK(td_tensor_set_bits(x, q, q));
        td_tensor_destroy(&a);
        td_tensor_destroy(&b);
        td_tensor_destroy(&k);
        ASSERT_OK(td_tensor_scale(x, 2, "sat", &a));
        ASSERT_OK(td_tensor_add(a, x, "wrap", &b));
        ASSERT_OK(td_tensor_clamp(x, -1, 1, &k));
        ASSERT_OK(td_tensor_mul(b, k, NULL, &c));
    }
    ASSERT_OK(td_tensor_transpose(c, NULL, &d));
    ASSERT_OK(td_tensor_slice(d, "1:3", &part));
    both[0] = d;
    both[1] = part;
    ASSERT_OK(td_tensor_concat(both, 2, 0, &e));
    ASSERT_OK(td_tensor_slice(e, "::2", &g));
    ASSERT_OK(td_tensor_convert(g, "i16 scale=0.5", &h));
    ASSERT_OK(td_tensor_add(h, i, NULL, &j));
    ASSERT_OK(td_backdoor_load_tensor(one, j, flat, NULL));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    assert_memory_equal((char *)td_memory_data(m) + 32, (char *)td_memory_data(one) + 32, 96);
    static const uint64_t written[] = {0x2345678901234567u, 2, 3, 0};
    assert_memory_equal(td_memory_data(m), written, 32);
    ASSERT_OK(td_program_tensor(p, "r", &got));
    assert_string_equal(td_tensor_dtype(got), "u64");
    assert_memory_equal(td_tensor_data_const(got), td_memory_data(m), 32);
    ASSERT_OK(td_program_tensor(p, "s", &got));
    assert_string_equal(td_tensor_dtype(got), "u32");
    assert_int_equal(td_tensor_shape(got).dim[1], 4);
    assert_memory_equal(td_tensor_data(into), td_tensor_data(j), 24);
    ASSERT_OK(td_tensor_open("j.npy", NULL, &saved));
    assert_memory_equal(td_tensor_data_const(saved), td_tensor_data(j), 24);
    ASSERT_OK(td_program_tensor(p, "e", &got));
    assert_memory_equal(td_tensor_data_const(got), td_tensor_data(e), 20);
    td_program_destroy(&p);
    td_tensor *all[] = {x, into, a, b, k, c, d, part, e, g, h, i, j, saved};
    for (size_t q = 0; q < sizeof all / sizeof *all; q++)
        td_tensor_destroy(&all[q]);
    td_layout_destroy(&flat);
    td_memory_destroy(&m);
    td_memory_destroy(&n);
    td_memory_destroy(&one);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

/* A run that is refused at its last step has changed nothing: no word, no bit that is x, no tensor. */
static void test_refused_run(void **state)
{
    (void)state;
    static const char text[] = "load m x rows\n"
                               "fill m one from 8 count 2\n"
                               "write m 12 0xff\n"
                               "dump m into rows\n"
                               "tensor w = dump m i8 4x4 rows\n"
                               "load m (add w w error) rows over\n";
    td_memory *m = memory("m", 32, 16);
    td_tensor *x = tensor("i8", TD_SHAPE(4, 4), "ramp start=50 step=1"), *into = tensor("i8", TD_SHAPE(4, 4), "ramp"),
              *was = tensor("i8", TD_SHAPE(4, 4), "ramp");
    td_layout *rows = layout("r c -> r c", NULL, NULL);
    td_program *p = NULL;
    unsigned char before[64];
    ASSERT_OK(td_memory_fill(m, "random seed=4", 0, 16));
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_tensor(p, "into", into));
    ASSERT_OK(td_program_bind_layout(p, "rows", rows));
    ASSERT_OK(td_program_compile(p, NULL));
    memcpy(before, td_memory_data(m), 64);
    assert_int_equal(td_program_run(p, NULL, NULL, NULL), TD_RANGE);
    assert_non_null(strstr(td_last_error(), "program_run: line 6: "));
    assert_non_null(strstr(td_last_error(), "\n    load m (add w w error) rows over\n    ^~~~"));
    assert_memory_equal(td_memory_data(m), before, 64);
    assert_memory_equal(td_tensor_data(into), td_tensor_data(was), 16);
    ASSERT_OK(td_tensor_fill_ramp(x, 1, 1)); /* sums that fit */
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    assert_int_equal(((unsigned char *)td_memory_data(m))[15], 32);
    assert_int_equal(((signed char *)td_tensor_data(into))[15], 16);
    td_program_destroy(&p);
    td_layout_destroy(&rows);
    td_tensor_destroy(&x);
    td_tensor_destroy(&into);
    td_tensor_destroy(&was);
    td_memory_destroy(&m);
}

/* Over arrays with a code, and with bits that are x: the same. */
static void test_refused_layers(void **state)
{
    (void)state;
    td_memory *raw = memory("raw", 39, 16), *m = NULL, *n = memory("n", 32, 4);
    td_tensor *x = tensor("i8", TD_SHAPE(4, 4), "ramp");
    td_layout *rows = layout("r c -> r c", NULL, NULL);
    td_code *code = NULL;
    td_program *p = NULL;
    unsigned char before[128];
    const td_tensor *got = NULL;
    ASSERT_OK(td_code_create("inv_39_32", 32, &code));
    ASSERT_OK(td_memory_coded("m", code, raw, NULL, &m));
    ASSERT_OK(td_memory_fill(m, "zero", 0, 16));
    ASSERT_OK(td_memory_invalidate(n, 0, 4));
    memcpy(before, td_memory_data(raw), 128);
    ASSERT_OK(td_program_create("load m x rows at 5\nload n x[0:2] rows\ntensor d = dump n i8 4x4 rows\n", &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_bind_memory(p, "n", n));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_layout(p, "rows", rows));
    assert_int_equal(td_program_run(p, NULL, NULL, NULL), TD_X_STATE);
    assert_non_null(strstr(td_last_error(), "program_run: line 3: "));
    assert_memory_equal(td_memory_data(raw), before, 128);
    ASSERT_REFUSED(td_program_tensor(p, "d", &got), TD_ARGUMENT,
                   "program_tensor: line 3: no run has made this tensor; run its label first\n"
                   "    tensor d = dump n i8 4x4 rows\n    ^~~~~~");
    ASSERT_OK(td_memory_set_x(n, "zero"));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    ASSERT_OK(td_program_tensor(p, "d", &got));
    assert_memory_equal(td_tensor_data_const(got), td_tensor_data(x), 8);
    td_tensor *back = NULL;
    td_layout *moved = layout("r c -> r c", NULL, "5 + r");
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &back));
    ASSERT_OK(td_backdoor_dump_tensor(m, back, moved, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(x), 16);
    td_program_destroy(&p);
    td_layout_destroy(&rows);
    td_layout_destroy(&moved);
    td_tensor_destroy(&x);
    td_tensor_destroy(&back);
    td_memory_destroy(&m);
    td_memory_destroy(&raw);
    td_memory_destroy(&n);
    td_code_destroy(&code);
}

/* -- the words of a run -------------------------------------------------------------------------------------------- */

static void assert_spans(td_program *p, const char *label, const td_memory *m, int effects, const char *expected)
{
    td_span *spans = NULL;
    size_t count = 0, used = 0;
    char text[256] = "";
    ASSERT_OK(td_program_spans(p, label, NULL, m, effects, &spans, &count));
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%llu+%llu ", (unsigned long long)spans[i].first,
                                 (unsigned long long)spans[i].count);
    assert_string_equal(text, expected);
    td_free(spans);
}

static void test_spans(void **state)
{
    (void)state;
    static const char text[] = "label load:\n"
                               "  for t in 0..4:\n"
                               "    load a x rows at 8*t\n"
                               "  load a x keep at 32\n"
                               "  write b 3 1 2\n"
                               "label check:\n"
                               "  checkpoint c a x rows at 8\n"
                               "  tensor d = dump a i8 4x4 rows at 10\n"
                               "  tensor e = read b 0 2\n";
    td_memory *a = memory("a", 32, 64), *b = memory("b", 8, 8);
    td_tensor *x = tensor("i8", TD_SHAPE(4, 4), "ramp");
    td_layout *rows = layout("r c -> r c", NULL, NULL), *keep = layout("r c -> r c", "fill=keep", "2*r");
    td_program *p = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "a", a));
    ASSERT_OK(td_program_bind_memory(p, "b", b));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_layout(p, "rows", rows));
    ASSERT_OK(td_program_bind_layout(p, "keep", keep));
    assert_spans(p, "load", a, TD_PROGRAM_WRITES, "0+4 8+4 16+4 24+4 32+1 34+1 36+1 38+1 ");
    assert_spans(p, "load", a, TD_PROGRAM_PARTLY, "32+1 34+1 36+1 38+1 ");
    assert_spans(p, "load", a, TD_PROGRAM_READS, "");
    assert_spans(p, "check", a, TD_PROGRAM_READS, "8+6 ");
    assert_spans(p, "check", a, TD_PROGRAM_WRITES, "");
    assert_spans(p, NULL, b, TD_PROGRAM_READS | TD_PROGRAM_WRITES, "0+2 3+2 ");
    ASSERT_REFUSED(td_program_spans(p, NULL, NULL, NULL, 1, &spans, &count), TD_ARGUMENT,
                   "program_spans: the memory is NULL; pass one");
    ASSERT_REFUSED(td_program_spans(p, NULL, NULL, a, 8, &spans, &count), TD_ARGUMENT,
                   "program_spans: effects 8; pass TD_PROGRAM_READS, _WRITES, _PARTLY or a sum of them");
    td_program_destroy(&p);
    td_layout_destroy(&rows);
    td_layout_destroy(&keep);
    td_tensor_destroy(&x);
    td_memory_destroy(&a);
    td_memory_destroy(&b);
}

/* -- memories elsewhere -------------------------------------------------------------------------------------------- */

static uint32_t elsewhere[64];
static unsigned crossed[64];

/* The words of the array that cross, in one direction. */
static void cross(td_memory *copy, int out)
{
    uint32_t chunk[24];
    size_t runs = 0;
    int unknown = 0;
    while ((runs = out ? td_transfer_out(copy, chunk, 24, &unknown) : td_transfer_in(copy, chunk, 24)) > 0) {
        uint32_t *at = chunk;
        for (; runs; runs--) {
            uint32_t address = at[0], count = at[1], step = at[2];
            for (at += TD_TRANSFER_HEAD; count; count--, address += step, at++) {
                if (step == 0)
                    address = *at++;
                crossed[address]++;
                if (out)
                    elsewhere[address] = *at;
                else
                    *at = elsewhere[address];
            }
        }
    }
}

static void test_transfer(void **state)
{
    (void)state;
    static const char text[] = "fill a zero from 4 count 8\n" /* and loads over it: each word crosses once */
                               "load a x rows at 4\n"
                               "load a x keep at 20\n"
                               "tensor d = dump a i8 4x4 rows at 30\n"
                               "checkpoint c a d rows at 32\n";
    td_memory *copy = memory("a", 32, 64);
    td_tensor *x = tensor("i8", TD_SHAPE(4, 4), "ramp start=1"), *half = tensor("i8", TD_SHAPE(4, 2), "ramp start=64");
    td_layout *rows = layout("r c -> r c", NULL, NULL), *keep = layout("r c -> r c", "fill=keep", NULL);
    td_program *p = NULL;
    td_checkpoints *out = NULL;
    uint64_t words = 0;
    for (uint32_t i = 0; i < 64; i++)
        elsewhere[i] = 0xa0b0c000 + i;
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_add(p, "load a half keep at 40"));
    ASSERT_OK(td_program_bind_memory(p, "a", copy));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_tensor(p, "half", half));
    ASSERT_OK(td_program_bind_layout(p, "rows", rows));
    ASSERT_OK(td_program_bind_layout(p, "keep", keep));
    ASSERT_OK(td_transfer_program(p, NULL, NULL, &copy, 1, TD_PROGRAM_READS, &words));
    assert_int_equal(words, 4 + 6 + 4);
    cross(copy, 0);
    ASSERT_OK(td_program_run(p, NULL, NULL, &out));
    td_checkpoints_destroy(&out);
    ASSERT_OK(td_transfer_program(p, NULL, NULL, &copy, 1, TD_PROGRAM_WRITES, &words));
    assert_int_equal(words, 8 + 4 + 4);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(crossed[i], (i >= 20 && i < 24) || (i >= 30 && i < 36) || (i >= 40 && i < 44));
        crossed[i] = 0;
    }
    cross(copy, 1);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(crossed[i], (i >= 4 && i < 12) || (i >= 20 && i < 24) || (i >= 40 && i < 44));
        if (!crossed[i])
            assert_int_equal(elsewhere[i], 0xa0b0c000 + (uint32_t)i);
    }
    assert_int_equal(elsewhere[4], 0x04030201);
    assert_int_equal(elsewhere[8], 0);
    assert_int_equal(elsewhere[40], 0xa0b04140);
    td_memory *const none = NULL;
    ASSERT_REFUSED(td_transfer_program(p, NULL, NULL, NULL, 1, TD_PROGRAM_READS, &words), TD_ARGUMENT,
                   "transfer_program: the memories are NULL; pass one for each memory");
    ASSERT_REFUSED(td_transfer_program(p, NULL, NULL, &copy, 1, TD_PROGRAM_READS, NULL), TD_ARGUMENT,
                   "transfer_program: the output is NULL; pass one for each memory");
    ASSERT_REFUSED(td_transfer_program(p, NULL, NULL, &none, 1, TD_PROGRAM_READS, &words), TD_ARGUMENT,
                   "transfer_program: memory 0 is NULL; pass one");
    ASSERT_REFUSED(td_transfer_program(p, NULL, NULL, &copy, 1, TD_PROGRAM_PARTLY, &words), TD_ARGUMENT,
                   "transfer_program: effect 4; pass TD_PROGRAM_READS or TD_PROGRAM_WRITES");
    ASSERT_REFUSED(td_transfer_program(p, "none", NULL, &copy, 1, TD_PROGRAM_READS, &words), TD_ARGUMENT,
                   "program_run: no label \"none\"; write label none: in the program");
    td_program_destroy(&p);
    td_layout_destroy(&rows);
    td_layout_destroy(&keep);
    td_tensor_destroy(&x);
    td_tensor_destroy(&half);
    td_memory_destroy(&copy);
}

/* -- the object ---------------------------------------------------------------------------------------------------- */

static void test_builder(void **state)
{
    (void)state;
    td_memory *a = memory("a", 8, 16), *b = memory("a", 8, 16);
    td_program *p = NULL, *q = NULL;
    char *text = NULL;
    ASSERT_OK(td_program_create(NULL, &p));
    assert_string_equal(td_program_name(p), "program");
    ASSERT_OK(td_program_add(p, "arg n = 3 # of words"));
    ASSERT_OK(td_program_add(p, "for t in 0..n:"));
    ASSERT_OK(td_program_add(p, "  write a t {t}"));
    ASSERT_REFUSED(td_program_add(p, "write a 9 1\nwriet a 1 1"), TD_FORMAT, /* neither line is added */
                   "program_add: line 5: no step \"wriet\"; did you mean \"write\"?\n    wriet a 1 1\n    ^~~~~");
    ASSERT_OK(td_program_add(p, "write a 10 0xaa\n"));
    ASSERT_OK(td_program_text(p, &text));
    assert_string_equal(text, "arg n = 3 # of words\nfor t in 0..n:\n  write a t {t}\nwrite a 10 0xaa\n");
    ASSERT_OK(td_program_create(text, &q));
    ASSERT_OK(td_program_bind_memory(p, "a", a));
    ASSERT_OK(td_program_bind_memory(q, "a", b));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    ASSERT_OK(td_program_run(q, NULL, "n=5", NULL));
    assert_int_equal(((unsigned char *)td_memory_data(a))[2], 2);
    assert_int_equal(((unsigned char *)td_memory_data(a))[4], 0);
    assert_int_equal(((unsigned char *)td_memory_data(b))[4], 4);
    assert_int_equal(((unsigned char *)td_memory_data(b))[10], 0xaa);
    td_free(text);
    td_program_destroy(&p);
    td_program_destroy(&q);
    td_program_destroy(&q);
    td_program_destroy(NULL);
    td_memory_destroy(&a);
    td_memory_destroy(&b);
}

/* Every checkpoint of a loop has a name of its own: its text, or the variables of its loops behind it. */
static void test_checkpoint_names(void **state)
{
    (void)state;
    static const char *const expected[] = {"alone",    "tile t=0", "t0 again",    "deep t=0 u=5",
                                           "tile t=1", "t1 again", "deep t=1 u=5"};
    td_memory *a = memory("a", 8, 4);
    td_program *p = NULL;
    td_checkpoints *out = NULL;
    ASSERT_OK(td_program_create("tensor z = fill u8 4 zero\n"
                                "checkpoint alone a z \"r -> r ()\"\n"
                                "for t in 0..2:\n"
                                "  checkpoint tile a z \"r -> r ()\"\n"
                                "  checkpoint \"t{t} again\" a z \"r -> r ()\"\n"
                                "  for u in 5..6:\n"
                                "    checkpoint deep a z \"r -> r ()\"\n",
                                &p));
    ASSERT_OK(td_program_bind_memory(p, "a", a));
    ASSERT_OK(td_program_run(p, NULL, NULL, &out));
    assert_int_equal(td_checkpoints_count(out), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(td_checkpoints_name(out, i), expected[i]);
    td_checkpoints_destroy(&out);
    td_program_destroy(&p);
    td_memory_destroy(&a);
}

/* A tensor of the caller may change its values and its shape; what is bound may be bound anew. */
static void test_bound(void **state)
{
    (void)state;
    td_memory *a = memory("a", 8, 16), *b = memory("b", 8, 16);
    td_tensor *x = tensor("u8", TD_SHAPE(4), "ramp start=1"), *y = tensor("u8", TD_SHAPE(2), "ramp start=70");
    td_program *p = NULL;
    ASSERT_OK(td_program_create("load a x \"c -> c 1\"", &p));
    ASSERT_OK(td_program_bind_memory(p, "a", a));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    assert_memory_equal(td_memory_data(a), "\1\2\3\4", 4);
    ASSERT_OK(td_tensor_fill_ramp(x, 5, 1));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    assert_memory_equal(td_memory_data(a), "\5\6\7\10", 4);
    ASSERT_OK(td_program_bind_tensor(p, "x", y));
    ASSERT_OK(td_program_bind_memory(p, "a", b));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    assert_memory_equal(td_memory_data(b), "FG\0", 3);
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    ASSERT_OK(td_tensor_reshape(x, TD_SHAPE(2, 2)));
    assert_int_equal(td_program_run(p, NULL, NULL, NULL), TD_SHAPE);
    td_program_destroy(&p);
    td_tensor_destroy(&x);
    td_tensor_destroy(&y);
    td_memory_destroy(&a);
    td_memory_destroy(&b);
}

/* Two memories of the program lie over one copy: a word of it crosses once, for both. */
static void test_transfer_shared(void **state)
{
    (void)state;
    static const char text[] = "write low 1 0x1234\nwrite high 1 0x5678\nwrite high 3 0x9abc\n";
    td_memory *copy = memory("a", 32, 64), *low = NULL, *high = NULL;
    td_layout *under = layout("w k -> 1 w k", "lsb=0 fill=keep", NULL),
              *above = layout("w k -> 1 w k", "lsb=16 fill=keep", NULL);
    td_program *p = NULL;
    uint64_t words[2] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        elsewhere[i] = 0xa0b0c000 + i;
        crossed[i] = 0;
    }
    ASSERT_OK(td_memory_over("low", 16, 64, under, &copy, 1, &low));
    ASSERT_OK(td_memory_over("high", 16, 64, above, &copy, 1, &high));
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "low", low));
    ASSERT_OK(td_program_bind_memory(p, "high", high));
    td_memory *const both[] = {low, high};
    ASSERT_OK(td_transfer_program(p, NULL, NULL, both, 2, TD_PROGRAM_READS, words));
    assert_int_equal(words[0], 1); /* the other half of the words has to stay */
    assert_int_equal(words[1], 2);
    cross(copy, 0);
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    ASSERT_OK(td_transfer_program(p, NULL, NULL, both, 2, TD_PROGRAM_WRITES, words));
    cross(copy, 1);
    for (int i = 0; i < 64; i++)
        assert_int_equal(crossed[i], i == 1 || i == 3 ? 2 : 0);
    assert_int_equal(elsewhere[1], 0x56781234);
    assert_int_equal(elsewhere[3], 0x9abcc003);
    td_program_destroy(&p);
    td_layout_destroy(&under);
    td_layout_destroy(&above);
    td_memory_destroy(&low);
    td_memory_destroy(&high);
    td_memory_destroy(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_infer, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_steps, enter_folder, leave_folder),
        cmocka_unit_test(test_refused_run),
        cmocka_unit_test(test_refused_layers),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_transfer_shared),
        cmocka_unit_test(test_builder),
        cmocka_unit_test(test_checkpoint_names),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
