/* What only large tensors and repeated calls reach: streamed moves, threads, the plan cache. Every byte is compared
 * with nested loops; nothing is timed. */
#include "support.h"

#include <pthread.h>
#include <sys/wait.h>

typedef struct permute {
    const char *dtype, *pattern, *options, *address;
    int rank;
    uint64_t dim[6];
    int perm[6]; /* memory axis i is tensor axis perm[i] */
    uint64_t lanes;
} permute;

static const permute permutes[] = {
    {"f32", "r c -> c r", NULL, NULL, 2, {1100, 1000}, {1, 0}, 1100}, /* rows off the lines */
    {"f32", "r c -> c r", NULL, NULL, 2, {1024, 512}, {1, 0}, 1024},  /* whole lines */
    {"u8", "r c -> c r", NULL, NULL, 2, {2048, 1040}, {1, 0}, 2048},
    {"u16", "r c -> c r", NULL, NULL, 2, {1028, 1100}, {1, 0}, 1028},
    {"u64", "r c -> c r", NULL, NULL, 2, {515, 300}, {1, 0}, 515},
    {"i8", "n b c h -> (n b h) c", NULL, NULL, 4, {2, 5, 16, 15000}, {0, 1, 3, 2}, 16}, /* interleaved, a lane */
    {"i8", "n b c h -> (n b h) c", NULL, NULL, 4, {2, 3, 32, 12000}, {0, 1, 3, 2}, 32}, /* two lanes */
    {"i8", "n c h -> (n h) c", NULL, NULL, 3, {2, 4, 300000}, {0, 2, 1}, 4},
    {"f32", "n h c -> (n c) h", NULL, NULL, 3, {3, 50000, 3}, {0, 2, 1}, 50000}, /* three apart again */
    {"i8", "a b c i j h -> (a b h i) (c j)", NULL, NULL, 6, {5, 16, 16, 4, 4, 9}, {0, 1, 5, 3, 2, 4}, 64}, /* picks */
    {"bf16", "b h s d -> (b s h) d", NULL, NULL, 4, {2, 16, 300, 64}, {0, 2, 1, 3}, 64},  /* runs of whole lines */
    {"i8", "r a c b -> (r c) (a b)", NULL, NULL, 4, {70, 16, 70, 16}, {0, 2, 1, 3}, 256}, /* tiles */
    {"u32", "a b -> a b", NULL, NULL, 2, {300000, 4}, {0, 1}, 4},                         /* one run */
    {"u32", "a b -> a b", NULL, "a ^ 5", 2, {65536, 4}, {0, 1}, 4},                       /* a table */
};

#define PERMUTES (sizeof permutes / sizeof permutes[0])

typedef struct sides {
    td_tensor *tensor, *back;
    td_memory *memory;
    td_layout *layout;
} sides;

static void make_sides(const permute *p, sides *s)
{
    td_shape shape = {.rank = (size_t)p->rank};
    uint64_t elems = 1;
    for (int i = 0; i < p->rank; i++)
        elems *= shape.dim[i] = p->dim[i];
    ASSERT_OK(td_tensor_create(p->dtype, shape, &s->tensor));
    ASSERT_OK(td_tensor_create(p->dtype, shape, &s->back));
    ASSERT_OK(td_tensor_fill_random(s->tensor, 7));
    ASSERT_OK(td_memory_create("m", p->lanes * td_tensor_elem_bits(s->tensor), elems / p->lanes, &s->memory));
    ASSERT_OK(td_layout_create(p->pattern, p->options, p->address, &s->layout));
}

static void free_sides(sides *s)
{
    td_tensor_destroy(&s->tensor);
    td_tensor_destroy(&s->back);
    td_memory_destroy(&s->memory);
    td_layout_destroy(&s->layout);
}

/* Walks the memory in order and the tensor by strides. */
static size_t count_wrong(const permute *p, const sides *s)
{
    uint64_t stride[6], step = 1, at[6] = {0};
    size_t wrong = 0;
    const size_t bytes = td_tensor_elem_bytes(s->tensor);
    const unsigned char *tensor = td_tensor_data_const(s->tensor), *memory = td_memory_data(s->memory);
    for (int i = p->rank; i-- > 0; step *= p->dim[i])
        stride[i] = step;
    for (uint64_t n = 0; n < step; n++) {
        uint64_t elem = 0;
        for (int i = 0; i < p->rank; i++)
            elem += at[i] * stride[p->perm[i]];
        const uint64_t place = p->address ? (n / p->lanes ^ 5) * p->lanes + n % p->lanes : n;
        wrong += memcmp(memory + place * bytes, tensor + elem * bytes, bytes) != 0;
        for (int i = p->rank; i-- > 0;) {
            if (++at[i] < p->dim[p->perm[i]])
                break;
            at[i] = 0;
        }
    }
    return wrong;
}

static void check_permute(const permute *p)
{
    sides s;
    make_sides(p, &s);
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, NULL));
    if (count_wrong(p, &s))
        fail_msg("load of %s through \"%s\": %zu elements wrong", p->dtype, p->pattern, count_wrong(p, &s));
    ASSERT_OK(td_backdoor_dump_tensor(s.memory, s.back, s.layout, NULL));
    assert_memory_equal(td_tensor_data(s.back), td_tensor_data(s.tensor),
                        td_tensor_elems(s.tensor) * td_tensor_elem_bytes(s.tensor));
    free_sides(&s);
}

static void large_moves(void **state)
{
    (void)state;
    td_speed_threads(1);
    for (size_t i = 0; i < PERMUTES; i++)
        check_permute(&permutes[i]);
}

/* The same bytes, and the plan says so. */
static void tuned_moves(void **state)
{
    (void)state;
    td_speed_threads(1);
    for (size_t i = 0; i < PERMUTES; i++) {
        permute tuned = permutes[i];
        tuned.options = "tune=on";
        check_permute(&tuned);
    }
    const permute cut = {"f32", "a b c -> c (b a)", "tune=on", NULL, 3, {40, 130, 70}, {2, 1, 0}, 5200};
    check_permute(&cut);

    td_layout *layout = NULL;
    char *text = NULL;
    ASSERT_OK(td_layout_create(cut.pattern, cut.options, NULL, &layout));
    ASSERT_OK(td_layout_explain(layout, &(td_scene){.dtype = "f32", .shape = TD_SHAPE(40, 130, 70)}, &text));
    assert_non_null(strstr(text, " tuned"));
    td_free(text);
    td_layout_destroy(&layout);
}

static void large_moves_with_threads(void **state)
{
    (void)state;
    td_speed_threads(4);
    for (size_t i = 0; i < PERMUTES; i++)
        check_permute(&permutes[i]);
}

/* Packed and converted rows: the same memory from one thread and from four. */
static void rows_with_threads(void **state)
{
    static const struct {
        const char *dtype, *pattern, *options, *as;
        td_shape shape;
        uint64_t width, depth;
    } rows[] = {
        {"i4", "a b -> a b", NULL, NULL, {2, {60000, 5}}, 20, 60000},
        {"i4", "a b -> b a", NULL, NULL, {2, {64, 6000}}, 256, 6000},
        {"u13", "a b c -> (a c) b", NULL, NULL, {3, {30, 7, 900}}, 91, 27000},
        {"u33", "a -> a 1", NULL, NULL, {1, {90000}}, 33, 90000},
        {"i12", "(a b) -> a b", "b=7 pad=-1", NULL, {1, {100003}}, 128, 14287},
        {"u5", "a b -> a b", "slot=7 lsb=1", NULL, {2, {20000, 9}}, 70, 20000},
        {"f32", "a b -> b a", NULL, "i8 scale=0.5", {2, {300, 500}}, 2400, 500},
        {"f32", "a b -> a b", NULL, "bf16", {2, {3000, 50}}, 800, 3000},
        {"i4", "a b -> a b", NULL, NULL, {2, {4096, 64}}, 256, 4096},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sides s = {0};
        td_memory *other = NULL;
        ASSERT_OK(td_tensor_create(rows[i].dtype, rows[i].shape, &s.tensor));
        ASSERT_OK(td_tensor_create(rows[i].dtype, rows[i].shape, &s.back));
        ASSERT_OK(td_tensor_fill_random(s.tensor, i));
        ASSERT_OK(td_memory_create("one", rows[i].width, rows[i].depth, &s.memory));
        ASSERT_OK(td_memory_create("four", rows[i].width, rows[i].depth, &other));
        ASSERT_OK(td_layout_create(rows[i].pattern, rows[i].options, NULL, &s.layout));
        td_speed_threads(1);
        ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, rows[i].as));
        td_speed_threads(4);
        ASSERT_OK(td_backdoor_load_tensor(other, s.tensor, s.layout, rows[i].as));
        assert_memory_equal(td_memory_data(other), td_memory_data(s.memory),
                            rows[i].depth * td_memory_word_bytes(other));
        ASSERT_OK(td_backdoor_dump_tensor(other, s.back, s.layout, rows[i].as));
        if (!rows[i].as)
            assert_memory_equal(td_tensor_data(s.back), td_tensor_data(s.tensor),
                                td_tensor_elems(s.tensor) * td_tensor_elem_bytes(s.tensor));
        td_memory_destroy(&other);
        free_sides(&s);
    }
}

static void *run_some(void *failed)
{
    sides s;
    make_sides(&permutes[1], &s);
    for (int i = 0; i < 8; i++)
        if (td_backdoor_load_tensor(s.memory, s.tensor, s.layout, NULL))
            *(int *)failed = 1;
    if (count_wrong(&permutes[1], &s))
        *(int *)failed = 1;
    free_sides(&s);
    return NULL;
}

static void callers_at_once(void **state)
{
    (void)state;
    pthread_t thread[3];
    int failed[3] = {0};
    td_speed_threads(3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_some, &failed[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(failed[i], 0);
    }
}

static void a_fork_has_its_own_threads(void **state)
{
    (void)state;
    int failed = 0;
    td_speed_threads(3);
    run_some(&failed);
    const pid_t child = fork();
    if (child == 0) {
        run_some(&failed);
        _exit(failed);
    }
    int result = -1;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    run_some(&failed);
    assert_int_equal(failed, 0);
}

static void plans_are_counted(void **state)
{
    (void)state;
    sides s;
    make_sides(&permutes[1], &s);
    td_plan_cache_clear();
    for (int i = 0; i < 5; i++)
        ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, NULL));
    td_plan_stats stats = td_plan_cache_stats();
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.hits, 4);
    assert_int_equal(stats.plans, 1);

    td_layout *again = NULL; /* the same strings */
    ASSERT_OK(td_layout_create("r  c -> c r", NULL, NULL, &again));
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, again, NULL));
    stats = td_plan_cache_stats();
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.hits, 5);

    for (uint64_t n = 1; n <= 100; n++) {
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(n, 2), &t));
        ASSERT_OK(td_backdoor_load_tensor(s.memory, t, s.layout, NULL));
        td_tensor_destroy(&t);
    }
    stats = td_plan_cache_stats();
    assert_int_equal(stats.misses, 101);
    assert_int_equal(stats.plans, 64);
    td_layout_destroy(&again);
    free_sides(&s);
}

static void the_isa_has_a_name(void **state)
{
    (void)state;
    const char *isa = td_speed_isa();
    assert_true(strcmp(isa, "c") == 0 || strcmp(isa, "avx2") == 0 || strcmp(isa, "avx512") == 0 ||
                strcmp(isa, "neon") == 0);
}

int main(void)
{
    setenv("TD_PARALLEL_BYTES", "1", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_moves),
        cmocka_unit_test(tuned_moves),
        cmocka_unit_test(large_moves_with_threads),
        cmocka_unit_test(rows_with_threads),
        cmocka_unit_test(callers_at_once),
        cmocka_unit_test(a_fork_has_its_own_threads),
        cmocka_unit_test(plans_are_counted),
        cmocka_unit_test(the_isa_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
