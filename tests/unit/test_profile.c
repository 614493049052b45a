/* The profile (section 17): counts and bytes of a script of calls, times that nest, threads, and the three forms in
 * which it comes out. No test looks at how long something took, only at what adds up. */
#include "json.h"
#include "support.h"

#include "base/profile.h"

#include <math.h>
#include <pthread.h>

static json *read_json(td_status (*print)(char **))
{
    char *text = NULL;
    ASSERT_OK(print(&text));
    write_file("profile.json", text, strlen(text));
    td_free(text);
    json *root = json_open("profile.json");
    assert_non_null(root);
    return root;
}

static const json *child(const json *list, const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (strcmp(json_text(&list->item[i], "name", ""), name) == 0)
            return &list->item[i];
    return NULL;
}

/* "backdoor_load_tensor/cache/plan" */
static const json *find(const json *root, const char *path)
{
    char word[64];
    const json *list = json_get(root, "operations"), *found = NULL;
    while (*path) {
        const size_t length = strcspn(path, "/");
        snprintf(word, sizeof word, "%.*s", (int)length, path);
        found = child(list, word);
        list = found ? json_get(found, "steps") : NULL;
        path += length + (path[length] == '/');
    }
    return found;
}

static long long calls_of(const json *root, const char *path)
{
    const json *line = find(root, path);
    return line ? json_whole(line, "calls", -1) : 0;
}

static long long bytes_of(const json *root, const char *path)
{
    const json *line = find(root, path);
    return line ? json_whole(line, "bytes", -1) : 0;
}

static double real(const json *object, const char *key)
{
    return strtod(json_text(object, key, "nan"), NULL);
}

/* Printed to a tenth of a nanosecond each. */
static int near(double a, double b)
{
    return fabs(a - b) < 50;
}

/* Every total is its self and the totals inside; gives the sum of all self times. */
static double check_sums(const json *line)
{
    const json *steps = json_get(line, "steps");
    const double self = real(line, "self_ns");
    double inside = 0, sum = self;
    assert_true(self >= 0);
    for (size_t i = 0; i < steps->count; i++) {
        inside += real(&steps->item[i], "total_ns");
        sum += check_sums(&steps->item[i]);
    }
    assert_true(near(real(line, "total_ns"), self + inside));
    return sum;
}

static void check_all_sums(const json *root)
{
    const json *operations = json_get(root, "operations");
    double sum = 0, shares = 0;
    for (size_t i = 0; i < operations->count; i++) {
        const json *line = &operations->item[i];
        const double self = check_sums(line);
        if (strcmp(json_text(line, "name", ""), "thread of the pool") != 0)
            sum += self;
        shares += real(line, "share");
    }
    assert_true(near(sum, real(root, "library_ns")));
    assert_true(shares <= 1.0001);
}

typedef struct objects {
    td_memory *memory;
    td_tensor *tensor;
    td_layout *rows, *columns;
} objects;

static void make(objects *o)
{
    ASSERT_OK(td_memory_create("m", 64, 1024, &o->memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(16, 16), &o->tensor));
    ASSERT_OK(td_layout_create("r (ct cs) -> (r ct) cs", "cs=4", NULL, &o->rows));
    ASSERT_OK(td_layout_create("(rt rs) c -> (c rt) rs", "rs=4", NULL, &o->columns));
}

static void destroy(objects *o)
{
    td_layout_destroy(&o->rows);
    td_layout_destroy(&o->columns);
    td_tensor_destroy(&o->tensor);
    td_memory_destroy(&o->memory);
}

static int begin(void **state)
{
    td_plan_cache_clear();
    td_profile_stop();
    td_profile_reset();
    return enter_folder(state);
}

static int end(void **state)
{
    td_profile_stop();
    td_profile_reset();
    return leave_folder(state);
}

/* More calls than are timed one by one. */
static void counts_are_exact(void **state)
{
    (void)state;
    objects o;
    td_report *report = NULL;
    const uint64_t address[3] = {1, 2, 3};
    uint64_t words[3];
    make(&o);
    ASSERT_OK(td_profile_start(NULL));
    for (int i = 0; i < 1000; i++)
        ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
    for (int i = 0; i < 7; i++)
        ASSERT_OK(td_backdoor_dump_tensor(o.memory, o.tensor, o.columns, "i16 scale=2"));
    for (int i = 0; i < 50; i++)
        ASSERT_OK(td_backdoor_read(o.memory, address, 3, words));
    ASSERT_OK(td_backdoor_compare_tensor(o.memory, o.tensor, o.rows, "atol=1", NULL, &report));
    td_report_destroy(&report);
    ASSERT_OK(td_memory_fill(o.memory, "zero", 0, 1024));
    assert_int_equal(td_backdoor_load_tensor(o.memory, NULL, o.rows, NULL), TD_ARGUMENT);
    ASSERT_OK(td_memory_save_file(o.memory, "m.hex", &(td_span){.first = 0, .count = 16}, 1));
    ASSERT_OK(td_tensor_save(o.tensor, "t.npy"));
    td_profile_stop();
    ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL)); /* not counted */

    json *root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "backdoor_load_tensor"), 1001);
    assert_int_equal(bytes_of(root, "backdoor_load_tensor"), 1000 * 512);
    assert_int_equal(calls_of(root, "backdoor_load_tensor/cache"), 1000);
    assert_int_equal(calls_of(root, "backdoor_load_tensor/cache/plan"), 1);
    assert_int_equal(calls_of(root, "backdoor_load_tensor/move contiguous"), 1000);
    assert_int_equal(bytes_of(root, "backdoor_load_tensor/move contiguous"), 1000 * 512);
    assert_int_equal(calls_of(root, "backdoor_load_tensor/parse"), 0);
    assert_int_equal(calls_of(root, "backdoor_dump_tensor"), 7);
    assert_int_equal(calls_of(root, "backdoor_dump_tensor/parse"), 1);
    assert_int_equal(calls_of(root, "backdoor_dump_tensor/cache/plan"), 1);
    assert_int_equal(calls_of(root, "backdoor_dump_tensor/move converted"), 7);
    assert_int_equal(bytes_of(root, "backdoor_dump_tensor/move converted"), 7 * 512);
    assert_int_equal(calls_of(root, "backdoor_read"), 50);
    assert_int_equal(bytes_of(root, "backdoor_read"), 50 * 3 * 8);
    assert_int_equal(calls_of(root, "backdoor_compare_tensor"), 1);
    assert_int_equal(calls_of(root, "backdoor_compare_tensor/parse"), 1);
    assert_int_equal(calls_of(root, "backdoor_compare_tensor/cache"), 1);
    assert_int_equal(bytes_of(root, "backdoor_compare_tensor/compare"), 512);
    assert_int_equal(calls_of(root, "backdoor_compare_tensor/report"), 1);
    assert_int_equal(bytes_of(root, "memory_fill"), 1024 * 8);
    assert_int_equal(bytes_of(root, "memory_save_file/write file"), 16 * 8);
    assert_int_equal(bytes_of(root, "tensor_save/write file"), 512);
    assert_int_equal(json_whole(root, "threads", -1), 1);
    assert_int_equal(json_whole(root, "lost_steps", -1), 0);
    const long long timed = json_whole(find(root, "backdoor_load_tensor"), "timed_calls", -1);
    assert_true(timed >= 32 && timed < 1000);
    check_all_sums(root);
    json_close(root);
    destroy(&o);
}

static void steps_of_languages_and_parts(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *layout = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_profile_start("steps"));
    ASSERT_OK(td_layout_create("w c -> w c", NULL, "(w * 37 + 11 ^ w >> 3) & 255", &layout));
    ASSERT_OK(td_memory_create("m", 64, 256, &memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(8, 4), &tensor));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    td_tensor_destroy(&tensor);
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 64), &tensor));
    ASSERT_OK(td_parts_pack(tensor, "mxfp8", &parts));
    ASSERT_OK(td_parts_unpack(parts, "f32", &back));
    td_profile_stop();
    json *root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "layout_create/parse"), 1);
    assert_int_equal(calls_of(root, "backdoor_load_tensor/cache/plan/address table"), 1);
    assert_int_equal(bytes_of(root, "parts_pack/pack"), 4 * 64 * 4);
    assert_int_equal(bytes_of(root, "parts_unpack/unpack"), 4 * 64 * 4);
    check_all_sums(root);
    json_close(root);
    td_parts_destroy(&parts);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

static void reset_and_start_again(void **state)
{
    (void)state;
    objects o;
    char *text = NULL;
    make(&o);
    ASSERT_OK(td_profile_start(NULL));
    assert_int_equal(td_profile_running(), 1);
    ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
    td_profile_stop();
    assert_int_equal(td_profile_running(), 0);
    ASSERT_OK(td_profile_start("steps"));
    ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
    td_profile_counts counts;
    ASSERT_OK(td_profile_count("backdoor_load_tensor/move contiguous", &counts));
    assert_int_equal(counts.calls, 2);
    assert_int_equal(counts.bytes, 2 * 512);
    assert_true(counts.self_ns > 0 && counts.total_ns >= counts.self_ns);
    json *root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "backdoor_load_tensor"), 2);
    json_close(root);
    td_profile_reset();
    root = read_json(td_profile_json);
    assert_int_equal(json_get(root, "operations")->count, 0);
    json_close(root);
    ASSERT_OK(td_profile_text(&text));
    assert_non_null(strstr(text, "no operation was called while the profile was on\n"));
    td_free(text);
    ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
    root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "backdoor_load_tensor"), 1);
    json_close(root);
    destroy(&o);
}

/* A load of half a millisecond or more, beside small ones: its move is over 30 %, and marked. */
static void table_has_shares(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    char *text = NULL;
    ASSERT_OK(td_memory_create("m", 64, 1 << 18, &memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(1 << 18, 4), &tensor));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &layout));
    td_speed_threads(1);
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL)); /* the plan times stores, for milliseconds */
    ASSERT_OK(td_profile_start(NULL));
    for (int i = 0; i < 20; i++)
        ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    td_profile_stop();
    ASSERT_OK(td_profile_text(&text));
    assert_int_equal(strncmp(text, "tensordoor profile: ", 20), 0);
    assert_non_null(strstr(text, " inside of the library, 1 thread\n"));
    assert_non_null(strstr(text, "\nbackdoor_load_tensor                     20   40.0 MiB "));
    const char *move = strstr(text, "\n  move contiguous                        20   40.0 MiB ");
    assert_non_null(move);
    const char *mark = strstr(text, "  <== over 30 %\n");
    assert_non_null(mark);
    assert_true(mark > move && !memchr(move + 1, '\n', (size_t)(mark - move - 1)));
    assert_null(strstr(mark + 6, "<=="));
    td_free(text);
    td_speed_threads(0);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
}

/* Of a short call only the first 32 are timed; the line of one that is always timed has no mark. */
static void samples_are_marked(void **state)
{
    (void)state;
    objects o;
    char *text = NULL;
    static const char footer[] = "\n~ short calls, timed in samples that stand for all; calls and bytes are exact\n";
    make(&o);
    ASSERT_OK(td_profile_start(NULL));
    for (int calls = 0; calls < 2; calls++) {
        for (int i = 0; i < (calls ? 1000 : 20); i++)
            ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
        ASSERT_OK(td_profile_text(&text));
        const char *load = strstr(text, "\nbackdoor_load_tensor "), *move = strstr(text, "\n  move contiguous ");
        const char *plan = strstr(text, "\n    plan ");
        assert_true(load && move && plan);
        assert_int_equal(memchr(load, '~', strcspn(load + 1, "\n")) != NULL, calls);
        const char *mark = memchr(move, '~', strcspn(move + 1, "\n")); /* of its total; then of its self time */
        assert_int_equal(mark && memchr(mark + 1, '~', strcspn(mark, "\n")), calls);
        assert_null(memchr(plan, '~', strcspn(plan + 1, "\n")));
        assert_int_equal(strstr(text, footer) != NULL, calls);
        td_free(text);
    }
    td_profile_stop();
    destroy(&o);
}

static void *caller(void *argument)
{
    objects o;
    (void)argument;
    make(&o);
    for (int i = 0; i < 500; i++)
        if (td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL))
            abort();
    destroy(&o);
    return NULL;
}

typedef struct load_run {
    const objects *of;
    int count;
    pthread_barrier_t *meet; /* NULL: it ends behind them */
} load_run;

static void *run_loads(void *argument)
{
    const load_run *l = argument;
    for (int i = 0; i < l->count; i++)
        if (td_backdoor_load_tensor(l->of->memory, l->of->tensor, l->of->rows, NULL))
            abort();
    for (int i = 0; l->meet && i < 2; i++)
        pthread_barrier_wait(l->meet);
    return NULL;
}

/* Before any other thread was counted. The second one gets the memory of the first, and with it its register: taken for
 * that one, it would be in its tree, which the main thread takes as nobody's. */
static void a_thread_behind_the_first(void **state)
{
    (void)state;
    objects o;
    pthread_t thread;
    pthread_barrier_t meet;
    make(&o);
    load_run first = {&o, 100, NULL}, second = {&o, 1, &meet}, main_thread = {&o, 100, NULL};
    assert_int_equal(pthread_barrier_init(&meet, NULL, 2), 0);
    ASSERT_OK(td_profile_start(NULL));
    assert_int_equal(pthread_create(&thread, NULL, run_loads, &first), 0);
    pthread_join(thread, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run_loads, &second), 0);
    pthread_barrier_wait(&meet);
    run_loads(&main_thread);
    pthread_barrier_wait(&meet);
    pthread_join(thread, NULL);
    td_profile_stop();
    pthread_barrier_destroy(&meet);
    json *root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "backdoor_load_tensor"), 201);
    assert_int_equal(json_whole(root, "threads", -1), 2);
    check_all_sums(root);
    json_close(root);
    destroy(&o);
}

/* Twice, so that threads go on with what others left; somebody reads meanwhile. */
static void many_callers(void **state)
{
    (void)state;
    ASSERT_OK(td_profile_start(NULL));
    for (int round = 0; round < 2; round++) {
        pthread_t thread[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, caller, NULL), 0);
        json_close(read_json(td_profile_json));
        for (int i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
    }
    td_profile_stop();
    json *root = read_json(td_profile_json);
    assert_int_equal(calls_of(root, "backdoor_load_tensor"), 2 * 4 * 500);
    assert_int_equal(bytes_of(root, "backdoor_load_tensor/move contiguous"), 2 * 4 * 500 * 512);
    assert_int_equal(calls_of(root, "layout_create"), 2 * 4 * 2);
    check_all_sums(root);
    json_close(root);
}

/* By TD_PARALLEL_BYTES, which main sets, a call of this size is always shared. */
static void threads_of_the_pool(void **state)
{
    (void)state;
    td_memory *memory = NULL;
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    ASSERT_OK(td_memory_create("m", 64, 1 << 16, &memory));
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(1 << 14, 16), &tensor));
    ASSERT_OK(td_layout_create("r (ct cs) -> (ct r) cs", "cs=4", NULL, &layout));
    td_speed_threads(3);
    ASSERT_OK(td_profile_start("trace"));
    for (int i = 0; i < 50; i++)
        ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    td_profile_stop();
    json *root = read_json(td_profile_json);
    const json *load = find(root, "backdoor_load_tensor");
    const json *move = child(json_get(load, "steps"), "move transposed");
    assert_non_null(move);
    const json *threads = child(json_get(move, "steps"), "threads");
    assert_non_null(threads);
    assert_int_equal(json_whole(threads, "calls", -1), 50);
    const json *part = child(json_get(threads, "steps"), "part");
    const long long own = part ? json_whole(part, "calls", -1) : 0;
    const long long others = calls_of(root, "thread of the pool/part");
    assert_true(own + others > 0);
    assert_int_equal((own + others) % 50, 0); /* each part once, whoever ran it */
    const json *pool = find(root, "thread of the pool");
    assert_true(!pool || real(pool, "share") < 1e-9);
    check_all_sums(root);
    json_close(root);
    td_speed_threads(0);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
}

/* Every event of a thread lies inside the one before that has not ended yet, or behind it. */
static void trace_nests(void **state)
{
    (void)state;
    objects o;
    make(&o);
    ASSERT_OK(td_profile_start("trace"));
    for (int i = 0; i < 100; i++) {
        ASSERT_OK(td_backdoor_load_tensor(o.memory, o.tensor, o.rows, NULL));
        ASSERT_OK(td_backdoor_dump_tensor(o.memory, o.tensor, o.columns, "i16 scale=2"));
    }
    td_profile_stop();
    json *root = read_json(td_profile_trace);
    const json *events = json_get(root, "traceEvents");
    assert_int_equal(json_whole(json_get(root, "otherData"), "dropped", -1), 0);
    double until[16];
    size_t depth = 0, loads = 0, dumps = 0, inside = 0;
    for (size_t i = 0; i < events->count; i++) {
        const json *e = &events->item[i];
        if (strcmp(json_text(e, "ph", ""), "X") != 0)
            continue;
        const double start = real(e, "ts"), stop = start + real(e, "dur");
        while (depth && until[depth - 1] <= start + 0.0011)
            depth--;
        assert_true(depth == 0 || stop <= until[depth - 1] + 0.0021); /* printed in whole nanoseconds */
        assert_true(depth < 15);
        until[depth++] = stop;
        loads += strcmp(json_text(e, "name", ""), "backdoor_load_tensor") == 0;
        dumps += strcmp(json_text(e, "name", ""), "backdoor_dump_tensor") == 0;
        inside += depth > 1;
    }
    assert_int_equal(loads, 100);
    assert_int_equal(dumps, 100);
    assert_true(inside >= 400); /* cache and move of each */
    json_close(root);
    root = read_json(td_profile_json);
    assert_int_equal(json_whole(find(root, "backdoor_load_tensor"), "timed_calls", -1), 100);
    json_close(root);
    destroy(&o);
}

static void saves_and_refuses(void **state)
{
    (void)state;
    size_t bytes = 0;
    ASSERT_REFUSED(td_profile_start("fast"), TD_ARGUMENT,
                   "profile_start: unknown mode \"fast\"; pass \"steps\" or \"trace\"");
    assert_int_equal(td_profile_running(), 0);
    ASSERT_REFUSED(td_profile_text(NULL), TD_ARGUMENT, "profile_text: the output is NULL; pass one");
    ASSERT_REFUSED(td_profile_json(NULL), TD_ARGUMENT, "profile_json: the output is NULL; pass one");
    ASSERT_REFUSED(td_profile_trace(NULL), TD_ARGUMENT, "profile_trace: the output is NULL; pass one");
    td_profile_counts counts = {.calls = 7};
    ASSERT_REFUSED(td_profile_count("", &counts), TD_ARGUMENT, "profile_count: no path; pass one");
    ASSERT_REFUSED(td_profile_count("tensor_open", NULL), TD_ARGUMENT, "profile_count: no output; pass one");
    ASSERT_OK(td_profile_count("tensor_open/read file", &counts));
    assert_int_equal(counts.calls, 0);
    ASSERT_REFUSED(td_profile_save(NULL), TD_ARGUMENT, "profile_save: no file; pass a path, or \"trace:\" and a path");
    ASSERT_REFUSED(td_profile_save("trace:"), TD_ARGUMENT,
                   "profile_save: \"trace:\" names no file; pass \"trace:\" and a path");
    assert_int_equal(td_profile_save("none/x.json"), TD_FILE);
    assert_int_equal(strncmp(td_last_error(), "profile_save \"none/x.json\": ", 28), 0);
    ASSERT_OK(td_profile_save("p.txt"));
    ASSERT_OK(td_profile_save("p.json"));
    ASSERT_OK(td_profile_save("trace:t.json"));
    char *text = read_whole_file("p.txt", &bytes);
    assert_int_equal(strncmp(text, "tensordoor profile: ", 20), 0);
    free(text);
    json *root = json_open("p.json");
    assert_non_null(json_get(root, "operations"));
    json_close(root);
    root = json_open("t.json");
    assert_non_null(json_get(root, "traceEvents"));
    json_close(root);
}

/* A thread has place for 255 names. */
static void too_many_names_are_said(void **state)
{
    (void)state;
    static char name[300][8];
    char *text = NULL;
    ASSERT_OK(td_profile_start(NULL));
    for (int i = 0; i < 300; i++) {
        snprintf(name[i], sizeof name[i], "n%d", i);
        td_profile_outside(name[i], td_profile_ticks(), 1);
    }
    td_profile_stop();
    ASSERT_OK(td_profile_text(&text));
    assert_non_null(strstr(text, "45 steps deeper or of more names than there is place for: in those around them\n"));
    td_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thread_behind_the_first, begin, end),
        cmocka_unit_test_setup_teardown(counts_are_exact, begin, end),
        cmocka_unit_test_setup_teardown(samples_are_marked, begin, end),
        cmocka_unit_test_setup_teardown(steps_of_languages_and_parts, begin, end),
        cmocka_unit_test_setup_teardown(reset_and_start_again, begin, end),
        cmocka_unit_test_setup_teardown(table_has_shares, begin, end),
        cmocka_unit_test_setup_teardown(many_callers, begin, end),
        cmocka_unit_test_setup_teardown(threads_of_the_pool, begin, end),
        cmocka_unit_test_setup_teardown(trace_nests, begin, end),
        cmocka_unit_test_setup_teardown(saves_and_refuses, begin, end),
        cmocka_unit_test_setup_teardown(too_many_names_are_said, begin, end),
    };
    (void)setenv("TD_PARALLEL_BYTES", "65536", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
