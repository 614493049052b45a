/* Arguments from run to run: those that stand only in fillings and paths of files need no new compilation, and leave
 * the bytes that a program compiled with them leaves; others compile it anew. */
#include "program/program.h"
#include "support.h"

static const char text[] = "arg seed = 1\n"
                           "arg file = first.npy\n"
                           "arg at = 20\n"
                           "layout rows = \"r c -> r c\"\n"
                           "tensor a = fill i8 4x4 random seed={seed}\n"
                           "tensor f = open \"{file}\"\n"
                           "tensor b = add a f[0:4] wrap\n"
                           "load m a rows\n"
                           "load m b[1:3] rows at 4\n"
                           "load m f[2:4] rows at 8\n"
                           "fill m random seed={seed} from 12 count 3\n"
                           "for t in 0..2:\n"
                           "  load m (fill i8 1x4 random seed={seed}{t}) rows at 16 + t\n"
                           "load m (clamp a 0 5) rows at at\n";

static td_program *make(td_memory *m)
{
    td_program *p = NULL;
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    return p;
}

/* What a program leaves that is compiled with these arguments. */
static void assert_as_compiled(td_memory *got, const char *arguments)
{
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("m", 32, 64, &m));
    td_program *p = make(m);
    ASSERT_OK(td_program_run(p, NULL, arguments, NULL));
    assert_memory_equal(td_memory_data(got), td_memory_data(m), 64 * 4);
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

static void test_without_compiling(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &t));
    ASSERT_OK(td_tensor_fill(t, "ramp"));
    ASSERT_OK(td_tensor_save(t, "first.npy"));
    ASSERT_OK(td_tensor_fill(t, "ramp start=100 step=-3"));
    ASSERT_OK(td_tensor_save(t, "second.npy"));
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(5, 4), &t));
    ASSERT_OK(td_tensor_save(t, "longer.npy"));
    td_tensor_destroy(&t);
    ASSERT_OK(td_memory_create("m", 32, 64, &m));
    td_program *p = make(m);
    static const char *const sets[] = {"seed=7", "seed=7 file=second.npy", "", "seed=9,file=first.npy", "at=20 seed=2"};
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    const td_graph *graph = p->graph;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        ASSERT_OK(td_program_run(p, NULL, sets[i], NULL));
        assert_as_compiled(m, sets[i]);
        assert_ptr_equal(p->graph, graph);
        assert_int_equal(graph->rearmed, i + 1);
    }
    /* of another shape, or where it says more than what is filled */
    ASSERT_OK(td_program_run(p, NULL, "file=longer.npy seed=4", NULL));
    assert_int_equal(p->graph->rearmed, 0);
    assert_as_compiled(m, "file=longer.npy seed=4");
    ASSERT_OK(td_program_run(p, NULL, "at=30", NULL));
    assert_int_equal(p->graph->rearmed, 0);
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

static void test_refused(void **state)
{
    (void)state;
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("m", 32, 64, &m));
    td_program *p = make(m);
    ASSERT_OK(td_program_run(p, NULL, "seed=3", NULL));
    ASSERT_REFUSED(td_program_run(p, NULL, "seed=x", NULL), TD_OPTION,
                   "program_run: line 5: tensor_fill: seed=x in \"random seed=x\" is not an integer from 0 to 2^64 - "
                   "1; pass one like seed=1\n"
                   "    tensor a = fill i8 4x4 random seed={seed}\n"
                   "                           ^~~~~~~~~~~~~~~~~~");
    ASSERT_OK(td_program_run(p, NULL, "seed=5", NULL));
    assert_as_compiled(m, "seed=5");
    assert_int_equal(td_program_run(p, NULL, "file=none.npy", NULL), TD_FILE);
    ASSERT_OK(td_program_run(p, NULL, "seed=6", NULL));
    assert_as_compiled(m, "seed=6");
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_compiling), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
