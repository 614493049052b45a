/* Recording: ordinary calls become a program; printed, parsed and run on other memories it leaves the same bytes, and
 * the caller's tensors may be gone. */
#include "support.h"

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
                   "program_record: this thread records a program already; stop that one first");
    ASSERT_REFUSED(td_program_run(p, NULL, NULL, NULL), TD_ARGUMENT,
                   "program_run: this thread records a program; stop that one first");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_record, enter_folder, leave_folder),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
