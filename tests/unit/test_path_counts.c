/* Which way loads and dumps go: exact counts per path, for one layout of each, over threads, and what is not
 * counted. */
#include "support.h"

#include <pthread.h>

typedef struct way {
    const char *dtype, *shape, *pattern, *options, *address, *as;
    uint64_t width_bits;
    td_path load, dump;
} way;

static const way ways[] = {
    {"i8", "3 8 8", "c h w -> (c h) w", "", "", "", 64, TD_PATH_CONTIGUOUS, TD_PATH_CONTIGUOUS},
    {"i8", "3 8 8", "c h w -> (c h) w", "", "", "i8", 64, TD_PATH_CONTIGUOUS, TD_PATH_CONTIGUOUS}, /* copies bits */
    {"f32", "64 48", "r c -> c r", "", "", "", 64 * 32, TD_PATH_TRANSPOSED, TD_PATH_TRANSPOSED},
    {"i8", "2 4 300", "n c h -> (n h) c", "", "", "", 32, TD_PATH_INTERLEAVED, TD_PATH_INTERLEAVED},
    {"i8", "3 8 8", "c h w -> (c h) w", "", "index ^ 5", "", 64, TD_PATH_GATHERED, TD_PATH_GATHERED},
    {"u4", "3 8 8", "c h w -> (c h) w", "", "", "", 32, TD_PATH_PACKED, TD_PATH_PACKED},
    {"u4", "3 8 8", "c h w -> (c h) w", "", "index ^ 5", "", 32, TD_PATH_STAGED, TD_PATH_STAGED},
    {"f32", "3 8 8", "c h w -> (c h) w", "", "", "i8 scale=0.05", 64, TD_PATH_CONVERTED, TD_PATH_CONVERTED},
    {"i8", "3 8 8", "c h w -> (c h) w", "", "", "u5", 40, TD_PATH_CONVERTED, TD_PATH_CONVERTED},
    {"u12", "2 8", "r c -> r c", "beats=3", "", "", 32, TD_PATH_PLAIN, TD_PATH_PLAIN}, /* lanes straddle words */
    {"u12", "9 8", "r c -> r c", "beats=3", "", "", 32, TD_PATH_STAGED, TD_PATH_STAGED},
    {"i8", "3 8 8", "c h w -> (c h) w", "alias=last", "c + h", "", 64, TD_PATH_PLAIN, TD_PATH_PACKED},
    {"i8", "8 8", "h w -> (r h) w", "r=2", "", "", 64, TD_PATH_CONTIGUOUS, TD_PATH_CONTIGUOUS}, /* copies count once */
};

#define WAYS (sizeof ways / sizeof ways[0])

typedef struct sides {
    td_tensor *tensor;
    td_memory *memory;
    td_layout *layout;
    uint64_t bytes;
} sides;

static void make_sides(const way *w, sides *s)
{
    td_shape shape;
    ASSERT_OK(td_shape_parse(w->shape, &shape));
    ASSERT_OK(td_tensor_create(w->dtype, shape, &s->tensor));
    ASSERT_OK(td_memory_create("m", w->width_bits, 1024, &s->memory));
    ASSERT_OK(td_layout_create(w->pattern, w->options, w->address, &s->layout));
    s->bytes = td_tensor_elem_bytes(s->tensor);
    for (size_t d = 0; d < shape.rank; d++)
        s->bytes *= shape.dim[d];
}

static void free_sides(sides *s)
{
    td_tensor_destroy(&s->tensor);
    td_memory_destroy(&s->memory);
    td_layout_destroy(&s->layout);
}

/* `calls` calls of `bytes` on `path`, and nothing on the others. */
static void assert_only(td_path path, uint64_t calls, uint64_t bytes)
{
    const td_path_stats stats = td_speed_paths();
    for (int p = 0; p < TD_PATHS; p++) {
        if (stats.calls[p] != (p == (int)path ? calls : 0) || stats.bytes[p] != (p == (int)path ? calls * bytes : 0))
            fail_msg("path %s: %llu calls, %llu bytes; expected %llu of %llu on %s", td_path_name((td_path)p),
                     (unsigned long long)stats.calls[p], (unsigned long long)stats.bytes[p], (unsigned long long)calls,
                     (unsigned long long)bytes, td_path_name(path));
    }
}

static void test_each_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        const way *w = &ways[i];
        sides s;
        make_sides(w, &s);
        td_speed_paths_clear();
        for (int n = 0; n < 3; n++)
            ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, w->as));
        assert_only(w->load, 3, s.bytes);
        td_speed_paths_clear();
        ASSERT_OK(td_backdoor_dump_tensor(s.memory, s.tensor, s.layout, w->as));
        assert_only(w->dump, 1, s.bytes);
        free_sides(&s);
    }
}

static void test_several_paths(void **state)
{
    (void)state;
    const way w = {.dtype = "i8", .shape = "10", .pattern = "(a b) -> a b", .options = "b=4 pad=0", .width_bits = 32};
    sides s;
    make_sides(&w, &s);
    td_speed_paths_clear();
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, ""));
    const td_path_stats stats = td_speed_paths();
    uint64_t calls = 0, bytes = 0;
    for (int p = 0; p < TD_PATHS; p++) {
        assert_true(stats.calls[p] <= 1); /* once per path, however many boxes go that way */
        calls += stats.calls[p];
        bytes += stats.bytes[p];
    }
    assert_true(calls >= 1);
    assert_int_equal(bytes, 10); /* padding does not count */
    free_sides(&s);
}

static void test_not_counted(void **state)
{
    (void)state;
    sides s;
    td_report *report = NULL;
    make_sides(&ways[0], &s);
    ASSERT_OK(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, ""));
    td_speed_paths_clear();
    ASSERT_OK(td_backdoor_compare_tensor(s.memory, s.tensor, s.layout, "", "", &report));
    td_report_destroy(&report);
    assert_int_not_equal(td_backdoor_load_tensor(s.memory, s.tensor, s.layout, "nothing"), TD_OK);
    assert_only(TD_PATH_PLAIN, 0, 0);
    free_sides(&s);
}

static void *load_often(void *context)
{
    const sides *s = context;
    td_memory *memory = NULL;
    ASSERT_OK(td_memory_create("own", 64, 1024, &memory));
    for (int i = 0; i < 100; i++)
        ASSERT_OK(td_backdoor_load_tensor(memory, s->tensor, s->layout, ""));
    td_memory_destroy(&memory);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    sides s;
    pthread_t thread[4];
    make_sides(&ways[0], &s);
    td_speed_paths_clear();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, load_often, &s), 0);
    load_often(&s);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_only(TD_PATH_CONTIGUOUS, 500, s.bytes); /* of threads that have ended, too */
    free_sides(&s);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(td_path_name(TD_PATH_CONTIGUOUS), "contiguous");
    assert_string_equal(td_path_name(TD_PATH_PLAIN), "plain");
    assert_string_equal(td_path_name(TD_PATHS), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_path), cmocka_unit_test(test_several_paths),
                                       cmocka_unit_test(test_not_counted), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
