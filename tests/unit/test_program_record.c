/* Recording: ordinary calls become a program; printed, parsed and run on other memories it leaves the same bytes, and
 * the caller's tensors may be gone. */
#include "support.h"
#include "tensordoor_bridge.h"

#include <pthread.h>

enum { DEPTH = 256 };

/* Everything that can be recorded, on these memories. */
static void make_calls(td_memory *a, td_memory *const *banks)
{
    td_tensor *x = NULL, *y = NULL, *z = NULL, *slice = NULL, *swapped = NULL, *both = NULL, *sum = NULL,
              *product = NULL, *clamped = NULL, *opened = NULL, *converted = NULL, *dumped = NULL;
    td_layout *rows = NULL, *spread = NULL;
    td_report *report = NULL;
    const uint64_t addresses[] = {200, 7};
    const uint32_t words[] = {0xdeadbeef, 0x01020304};
    ASSERT_OK(td_layout_create("r c -> r c", NULL, "16 + r", &rows));
    ASSERT_OK(td_layout_create("b r c -> b r c", NULL, NULL, &spread));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &x));
    for (uint64_t i = 0; i < 16; i++) /* by hand: no call says it */
        ASSERT_OK(td_tensor_set_bits(x, i, 3 * i));
    ASSERT_OK(td_backdoor_load_tensor(a, x, rows, "u8 scale=2"));
    ASSERT_OK(td_tensor_set_bits(x, 5, 99));
    ASSERT_OK(td_backdoor_load_matrix(a, x, 30, 34));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2, 4, 4), &y));
    ASSERT_OK(td_tensor_fill(y, "uniform min=-20 max=20 seed=4"));
    ASSERT_OK(td_backdoor_load_tensor_banks(banks, 2, y, spread, NULL));
    ASSERT_OK(td_tensor_slice(y, "1", &slice));
    ASSERT_OK(td_tensor_transpose(slice, NULL, &swapped));
    const td_tensor *const pair[] = {swapped, slice};
    ASSERT_OK(td_tensor_concat(pair, 2, 0, &both));
    ASSERT_OK(td_tensor_add(both, both, "sat", &sum));
    ASSERT_OK(td_tensor_mul(sum, sum, "wrap", &product));
    ASSERT_OK(td_tensor_scale(product, 0.5, "sat", &z));
    ASSERT_OK(td_tensor_clamp(z, -9, 11, &clamped));
    ASSERT_OK(td_backdoor_load_tensor(a, clamped, rows, NULL));
    ASSERT_OK(td_tensor_convert(clamped, "i16 scale=0.5", &converted));
    ASSERT_OK(td_tensor_save(converted, "c.npy"));
    ASSERT_OK(td_tensor_open("c.npy", NULL, &opened));
    ASSERT_OK(td_backdoor_load_matrix(a, opened, 40, 48));
    ASSERT_OK(td_memory_fill(a, "random seed=8", 60, 9));
    ASSERT_OK(td_backdoor_write(a, addresses, 2, words, NULL));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(8, 4), &dumped));
    ASSERT_OK(td_backdoor_dump_tensor(a, dumped, rows, NULL));
    ASSERT_OK(td_backdoor_load_matrix(a, dumped, 80, 88));
    ASSERT_OK(td_backdoor_dump_matrix(a, dumped, 60, 68));
    ASSERT_OK(td_backdoor_load_matrix(a, dumped, 100, 108));
    ASSERT_OK(td_backdoor_compare_tensor(a, clamped, rows, "ulp=1", NULL, &report));
    assert_int_equal(td_report_mismatches(report), 0);
    td_tensor *all[] = {x, y, z, slice, swapped, both, sum, product, clamped, opened, converted, dumped};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        td_tensor_destroy(&all[i]);
    td_layout_destroy(&rows);
    td_layout_destroy(&spread);
    td_report_destroy(&report);
}

static void test_record(void **state)
{
    (void)state;
    td_memory *a = NULL, *b = NULL, *bank[2] = {0}, *other[2] = {0};
    td_program *p = NULL, *q = NULL;
    td_checkpoints *out = NULL;
    char *text = NULL;
    ASSERT_OK(td_memory_create("a.mem", 32, DEPTH, &a));
    ASSERT_OK(td_memory_create("b", 32, DEPTH, &b));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_memory_create(i ? "bank[1]" : "bank[0]", 32, 8, &bank[i]));
        ASSERT_OK(td_memory_create("o", 32, 8, &other[i]));
    }
    ASSERT_OK(td_program_record(&p));
    ASSERT_REFUSED(td_program_record(&q), TD_ARGUMENT,
                   "program_record: a program is being recorded; stop that one first");
    ASSERT_REFUSED(td_program_run(p, NULL, NULL, NULL), TD_ARGUMENT,
                   "program_run: a program is being recorded; stop it first");
    make_calls(a, bank);
    ASSERT_OK(td_program_stop(p));
    ASSERT_REFUSED(td_program_stop(p), TD_ARGUMENT,
                   "program_stop: the program is not recorded; pass one of program_record");
    ASSERT_REFUSED(td_program_stop(NULL), TD_ARGUMENT, "program_stop: the program is NULL; pass one of program_record");
    ASSERT_OK(td_program_text(p, &text));
    assert_string_equal(text, "load a_mem t0 \"r c -> r c; ; 16 + r\" as \"u8 scale=2\" over\n"
                              "load a_mem t1 matrix at 30 over\n"
                              "tensor t2 = fill \"i8 2 4 4\" uniform min=-20 max=20 seed=4\n"
                              "load bank_0 t2 \"b r c -> b r c; ; \" over\n"
                              "tensor t3 = slice t2 \"1\"\n"
                              "tensor t4 = transpose t3\n"
                              "tensor t5 = concat t4 t3 axis 0\n"
                              "tensor t6 = add t5 t5 sat\n"
                              "tensor t7 = mul t6 t6 wrap\n"
                              "tensor t8 = scale t7 0.5 sat\n"
                              "tensor t9 = clamp t8 -9 11\n"
                              "load a_mem t9 \"r c -> r c; ; 16 + r\" over\n"
                              "tensor t10 = convert t9 \"i16 scale=0.5\"\n"
                              "tensor t11 = open \"c.npy\"\n"
                              "load a_mem t11 matrix at 40 over\n"
                              "fill a_mem \"random seed=8\" from 60 count 9\n"
                              "write a_mem 200 0xdeadbeef\n"
                              "write a_mem 7 0x01020304\n"
                              "dump a_mem t12 \"r c -> r c; ; 16 + r\"\n"
                              "load a_mem t12 matrix at 80 over\n"
                              "dump a_mem t13 matrix at 60\n"
                              "load a_mem t13 matrix at 100 over\n"
                              "checkpoint c0 a_mem t9 \"r c -> r c; ; 16 + r\" policy \"ulp=1\"\n");

    /* the recorded program, on the memories with something else in them */
    td_memory *before = NULL;
    ASSERT_OK(td_memory_snapshot(a, &before));
    ASSERT_OK(td_memory_clear(a));
    ASSERT_OK(td_memory_clear(bank[1]));
    ASSERT_OK(td_program_run(p, NULL, NULL, &out));
    assert_int_equal(td_checkpoints_passed(out), 1);
    td_checkpoints_destroy(&out);
    assert_memory_equal(td_memory_data(a), td_memory_data(before), DEPTH * 4);

    /* its text, on others; the tensors that no line makes are bound again */
    ASSERT_OK(td_program_create(text, &q));
    ASSERT_OK(td_program_bind_memory(q, "a_mem", b));
    ASSERT_OK(td_program_bind_banks(q, "bank_0", other, 2));
    td_tensor *t[4] = {0};
    static const char *const names[] = {"t0", "t1", "t12", "t13"};
    for (int i = 0; i < 4; i++) {
        if (i < 2)
            ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &t[i]));
        else
            ASSERT_OK(td_tensor_create("i8", TD_SHAPE(8, 4), &t[i]));
        for (uint64_t k = 0; k < 16 && i < 2; k++)
            ASSERT_OK(td_tensor_set_bits(t[i], k, i == 1 && k == 5 ? 99 : 3 * k));
        ASSERT_OK(td_program_bind_tensor(q, names[i], t[i]));
    }
    ASSERT_OK(td_program_run(q, NULL, NULL, &out));
    assert_memory_equal(td_memory_data(b), td_memory_data(before), DEPTH * 4);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(td_memory_data(other[i]), td_memory_data(bank[i]), 32);
    td_checkpoints_destroy(&out);
    td_free(text);
    td_program_destroy(&p);
    td_program_destroy(&q);
    td_memory_destroy(&a);
    td_memory_destroy(&b);
    td_memory_destroy(&before);
    for (int i = 0; i < 4; i++)
        td_tensor_destroy(&t[i]);
    for (int i = 0; i < 2; i++) {
        td_memory_destroy(&bank[i]);
        td_memory_destroy(&other[i]);
    }
}

/* What no line can say is refused at the end; a program that is destroyed while it is recorded hears nothing more. */
static void test_refused(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_tensor *t = NULL, *mask = NULL;
    td_report *report = NULL;
    td_program *p = NULL;
    const uint64_t address = 1;
    const uint32_t word = 3, bits = 1;
    ASSERT_OK(td_memory_create("m", 32, 8, &m));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4), &t));
    ASSERT_OK(td_tensor_create("u1", TD_SHAPE(4), &mask));
    ASSERT_OK(td_tensor_fill_ramp(mask, 1, 0));
    ASSERT_REFUSED(td_program_record(NULL), TD_ARGUMENT, "program_record: the output is NULL; pass one");
    ASSERT_OK(td_program_record(&p));
    ASSERT_OK(td_backdoor_write(m, &address, 1, &word, &bits));
    ASSERT_OK(td_backdoor_write(m, &address, 1, &word, NULL));
    ASSERT_REFUSED(td_program_stop(p), TD_ARGUMENT,
                   "program_stop: a write with a mask cannot be recorded; write whole words");
    td_program_destroy(&p);
    ASSERT_OK(td_program_record(&p));
    ASSERT_OK(td_compare(&(td_comparison){.actual = t, .golden = t, .mask = mask}, &report));
    ASSERT_REFUSED(td_program_stop(p), TD_ARGUMENT,
                   "program_stop: a comparison with a mask cannot be recorded; compare without");
    td_program_destroy(&p);
    ASSERT_OK(td_program_record(&p));
    td_program_destroy(&p);
    ASSERT_OK(td_memory_fill(m, "zero", 0, 8));
    td_report_destroy(&report);
    td_tensor_destroy(&t);
    td_tensor_destroy(&mask);
    td_memory_destroy(&m);
}

/* Ends a recording that `call` has spoilt, and begins another. */
static void assert_unrecorded(td_program **p, const char *call)
{
    char stop[160], run[200];
    snprintf(stop, sizeof stop,
             "program_stop: %s cannot be recorded; call it before program_record or after program_stop", call);
    snprintf(run, sizeof run, "program_run: the program was not recorded whole: %s", stop + strlen("program_stop: "));
    ASSERT_REFUSED(td_program_stop(*p), TD_ARGUMENT, stop);
    ASSERT_REFUSED(td_program_run(*p, NULL, NULL, NULL), TD_ARGUMENT, run);
    td_program_destroy(p);
    ASSERT_OK(td_program_record(p));
}

/* Calls that change a memory, or compare, and that no line can say. */
static void test_other(void **state)
{
    (void)state;
    td_memory *m = NULL, *coded = NULL, *parts[2] = {0};
    td_tensor *t = NULL, *w = NULL;
    td_layout *pads = NULL, *elems = NULL;
    td_code *code = NULL;
    td_faults *faults = NULL;
    td_code_result result;
    td_map *map = NULL;
    td_parts_layout *where = NULL;
    td_report *report = NULL;
    td_program *p = NULL;
    const unsigned char byte = 3;
    const uint64_t zero = 0;
    ASSERT_OK(td_memory_create("m", 32, 8, &m));
    ASSERT_OK(td_memory_create("coded", 39, 8, &coded));
    ASSERT_OK(td_memory_create("elems", 128, 8, &parts[0]));
    ASSERT_OK(td_memory_create("scales", 8, 8, &parts[1]));
    ASSERT_OK(td_memory_save_file(m, "m.hex", &(td_span){.count = 8}, 1));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3), &t));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1, 32), &w));
    ASSERT_OK(td_layout_create("(a b) -> a b", "b=4 pad=0", NULL, &pads));
    ASSERT_OK(td_layout_create("a b -> a b", NULL, NULL, &elems));
    ASSERT_OK(td_code_create("39_32", 32, &code));
    ASSERT_OK(td_map_create("ram: words 8 x 32; base 0x1000\n", NULL, 0, &map));
    ASSERT_OK(td_parts_layout_create("mxfp4", &where));
    ASSERT_OK(td_parts_layout_add(where, "elems", "elems", elems));
    ASSERT_OK(td_parts_layout_add(where, "scales", "scales", elems));
    ASSERT_OK(td_program_record(&p));
    ASSERT_OK(td_memory_load_file(m, "m.hex"));
    assert_unrecorded(&p, "memory_load_file");
    ASSERT_OK(td_memory_invalidate(m, 7, 1));
    assert_unrecorded(&p, "memory_invalidate");
    ASSERT_OK(td_backdoor_dirty_padding(m, t, pads, NULL, 1, NULL));
    assert_unrecorded(&p, "backdoor_dirty_padding");
    ASSERT_OK(td_memory_inject(m, "word=1 bit=2", NULL, &faults));
    assert_unrecorded(&p, "memory_inject");
    ASSERT_OK(td_memory_undo(m, &faults, NULL));
    assert_unrecorded(&p, "memory_undo");
    ASSERT_OK(td_backdoor_inject(m, t, pads, NULL, &zero, "bit=1", NULL, &faults));
    assert_unrecorded(&p, "backdoor_inject");
    ASSERT_OK(td_memory_fill(m, "zero", 0, 8));
    ASSERT_OK(td_code_encode(code, m, 0, 8, coded));
    assert_unrecorded(&p, "code_encode");
    ASSERT_OK(td_code_check(code, coded, 0, 8, NULL, &result)); /* changes nothing */
    ASSERT_OK(td_code_check(code, coded, 0, 8, m, &result));
    assert_unrecorded(&p, "code_check");
    ASSERT_OK(td_map_write(map, 0x1001, &byte, 1));
    assert_unrecorded(&p, "map_write");
    ASSERT_OK(td_backdoor_load_parts(parts, 2, w, where));
    assert_unrecorded(&p, "backdoor_load_parts");
    ASSERT_OK(td_backdoor_dump_parts(parts, 2, w, where));
    assert_unrecorded(&p, "backdoor_dump_parts");
    ASSERT_OK(td_backdoor_dirty_parts(parts, 2, w, where, 0, NULL));
    assert_unrecorded(&p, "backdoor_dirty_parts");
    ASSERT_OK(td_backdoor_compare_parts(parts, 2, w, where, NULL, &report));
    assert_unrecorded(&p, "backdoor_compare_parts");
    ASSERT_OK(td_memory_fill(m, "one", 0, 8));
    td_memory_destroy(&m);
    ASSERT_REFUSED(td_program_stop(p), TD_ARGUMENT,
                   "program_stop: memory \"m\" was destroyed before; destroy it after program_stop");
    td_program_destroy(&p);
    td_report_destroy(&report);
    td_faults_destroy(&faults);
    td_parts_layout_destroy(&where);
    td_map_destroy(&map);
    td_code_destroy(&code);
    td_layout_destroy(&pads);
    td_layout_destroy(&elems);
    td_tensor_destroy(&t);
    td_tensor_destroy(&w);
    td_memory_destroy(&coded);
    for (int i = 0; i < 2; i++)
        td_memory_destroy(&parts[i]);
}

static void *fill_there(void *memory)
{
    return td_memory_fill(memory, "one", 2, 3) ? memory : NULL;
}

/* A simulator makes its calls on any thread; what a bridge does on its own behalf is no line. */
static void test_all_threads(void **state)
{
    (void)state;
    td_memory *m = NULL, *own = NULL;
    td_map *map = NULL;
    td_program *p = NULL;
    char *text = NULL;
    size_t count = 0;
    pthread_t other;
    void *failed = NULL;
    ASSERT_OK(td_memory_create("m", 32, 8, &m));
    ASSERT_OK(td_program_record_all(&p));
    assert_int_equal(pthread_create(&other, NULL, fill_there, m), 0);
    assert_int_equal(pthread_join(other, &failed), 0);
    assert_null(failed);
    td_record_hold(1);
    ASSERT_OK(td_memory_create("own", 32, 8, &own));
    ASSERT_OK(td_memory_fill(own, "one", 0, 8));
    td_memory_destroy(&own);
    td_record_hold(0);
    ASSERT_OK(td_map_create("ram: words 8 x 32; base 0x1000; code 39_32\n", NULL, 0, &map)); /* which clears it */
    ASSERT_OK(td_memory_clear(m));
    ASSERT_OK(td_program_stop(p));
    ASSERT_OK(td_memory_fill(m, "one", 0, 8));
    ASSERT_OK(td_program_text(p, &text));
    assert_string_equal(text, "fill m \"one\" from 2 count 3\nfill m \"zero\" from 0 count 8\n");
    assert_ptr_equal(td_program_banks(p, "m", &count)[0], m);
    assert_int_equal(count, 1);
    assert_null(td_program_banks(p, "n", &count));
    assert_int_equal(count, 0);
    td_free(text);
    td_program_destroy(&p);
    td_map_destroy(&map);
    td_memory_destroy(&m);
}

static void *stop_there(void *program)
{
    return td_program_stop(program) == TD_ARGUMENT ? strdup(td_last_error()) : NULL;
}

/* A recording of one thread is stopped where it began, and goes on when another thread tries. */
static void test_stopped_elsewhere(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_program *p = NULL;
    char *text = NULL;
    pthread_t other;
    void *refused = NULL;
    ASSERT_OK(td_memory_create("m", 32, 8, &m));
    ASSERT_OK(td_program_record(&p));
    assert_int_equal(pthread_create(&other, NULL, stop_there, p), 0);
    assert_int_equal(pthread_join(other, &refused), 0);
    assert_string_equal((char *)refused, "program_stop: another thread records the program; stop it there");
    free(refused);
    ASSERT_OK(td_memory_fill(m, "one", 0, 8));
    ASSERT_OK(td_program_stop(p));
    ASSERT_OK(td_program_text(p, &text));
    assert_string_equal(text, "fill m \"one\" from 0 count 8\n");
    td_free(text);
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_record, enter_folder, leave_folder),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_other, enter_folder, leave_folder),
        cmocka_unit_test(test_all_threads),
        cmocka_unit_test(test_stopped_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
