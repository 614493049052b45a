/* The handles of dpi/ from C: one thread without locks, another that comes meanwhile, many at once. What simulations
 * cannot do at will, as most of them call from one thread. */
#include "../../dpi/handles.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int td_dpi_memory_create(const char *name, td_dpi_u64 width, td_dpi_u64 depth, td_dpi_u64 *memory,
                         const char **message);
int td_dpi_memory_destroy(td_dpi_u64 memory, const char **message);

static td_dpi_u64 make_memory(const char *name)
{
    td_dpi_u64 handle = 0;
    const char *message = "";
    assert_int_equal(td_dpi_memory_create(name, 8, 16, &handle, &message), TD_OK);
    return handle;
}

static void free_memory(td_dpi_u64 handle)
{
    const char *message = "";
    assert_int_equal(td_dpi_memory_destroy(handle, &message), TD_OK);
}

static td_status claim(td_dpi_u64 handle, td_dpi_claim *c)
{
    const char *message = "";
    *c = (td_dpi_claim){.handle = handle, .kind = TD_DPI_MEMORY};
    return td_dpi_claim_one("test", c, &message);
}

static void biased_nothing_is_locked(void **state)
{
    (void)state;
    const td_dpi_u64 a = make_memory("a"), b = make_memory("b");
    td_dpi_claim outer, inner, twice[2] = {{.handle = a, .kind = TD_DPI_MEMORY}, {.handle = a, .kind = TD_DPI_MEMORY}};
    const char *message = "";
    assert_int_equal(claim(a, &outer), TD_OK);
    assert_int_equal(claim(b, &inner), TD_OK); /* calls may nest, as when a comparison makes its report */
    assert_string_equal(td_memory_name(inner.object), "b");
    td_dpi_release(&inner, 1);
    assert_int_equal(claim(a + 1000, &inner), TD_HANDLE);
    td_dpi_release(&outer, 1);
    assert_int_equal(td_dpi_claim_all("test", twice, 2, &message), TD_OK);
    assert_ptr_equal(twice[0].object, twice[1].object);
    td_dpi_release(twice, 2);
    free_memory(a);
    assert_int_equal(claim(a, &outer), TD_HANDLE);
    free_memory(b);
}

int td_dpi_layout_create(const char *pattern, const char *options, const char *address, td_dpi_u64 *handle,
                         const char **message);
int td_dpi_layout_info(td_dpi_u64 handle, const char **pattern, const char **options, const char **address,
                       const char **as, const char **message);
int td_dpi_layout_destroy(td_dpi_u64 handle, const char **message);
int td_dpi_memory_get_bits(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 *bits, const char **message);

/* Strings of any length come back whole: those of a layout, and a shim's own message with a long name in it. */
static void long_strings_are_whole(void **state)
{
    (void)state;
    static char long_pattern[64 * 2 * 60 + 8], name[3001];
    size_t used = 0;
    for (int side = 0; side < 2; side++) { /* 60 axes with names of 50 letters */
        used += (size_t)sprintf(long_pattern + used, side ? " -> (" : "(");
        for (int i = 0; i < 60; i++)
            used += (size_t)sprintf(long_pattern + used, "%s%050d", i ? " a" : "a", i);
        used += (size_t)sprintf(long_pattern + used, side ? ") 1" : ")");
    }
    memset(name, 'n', sizeof name - 1);
    td_dpi_u64 layout = 0, memory = 0, bits = 0;
    const char *pattern, *options, *address, *as, *message = "";
    assert_int_equal(td_dpi_layout_create(long_pattern, "", "", &layout, &message), TD_OK);
    assert_int_equal(td_dpi_layout_info(layout, &pattern, &options, &address, &as, &message), TD_OK);
    assert_string_equal(pattern, long_pattern);
    assert_int_equal(td_dpi_layout_destroy(layout, &message), TD_OK);
    assert_int_equal(td_dpi_memory_create(name, 65, 16, &memory, &message), TD_OK);
    assert_int_equal(td_dpi_memory_get_bits(memory, 0, &bits, &message), TD_ARGUMENT);
    assert_non_null(strstr(message, "nnn\": words of 65 bits do not fit in 64; use backdoor_read and backdoor_write"));
    free_memory(memory);
}

typedef struct guest {
    td_dpi_u64 handle;
    atomic_int *stage;
    int seen; /* the stage when it got the object */
} guest;

static void *come(void *argument)
{
    guest *g = argument;
    td_dpi_claim c;
    atomic_store(g->stage, 1);
    if (claim(g->handle, &c) == TD_OK) {
        g->seen = atomic_load(g->stage);
        td_dpi_release(&c, 1);
    }
    return NULL;
}

/* The first thread is in a call; another one comes, and waits for its end. */
static void another_waits(void **state)
{
    (void)state;
    atomic_int stage = 0;
    guest g = {.handle = make_memory("a"), .stage = &stage};
    pthread_t thread;
    td_dpi_claim mine;
    assert_int_equal(claim(g.handle, &mine), TD_OK);
    assert_int_equal(pthread_create(&thread, NULL, come, &g), 0);
    while (atomic_load(&stage) == 0)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    atomic_store(&stage, 2);
    td_dpi_release(&mine, 1);
    pthread_join(thread, NULL);
    assert_int_equal(g.seen, 2);
    free_memory(g.handle);
}

#define TURNS 20000

typedef struct counter {
    td_dpi_u64 a, b;
    bool reversed;
    uint64_t *count; /* guarded by both handles */
} counter;

static void *count(void *argument)
{
    const counter *c = argument;
    const char *message = "";
    for (int i = 0; i < TURNS; i++) {
        td_dpi_claim claims[] = {{.handle = c->reversed ? c->b : c->a, .kind = TD_DPI_MEMORY},
                                 {.handle = c->reversed ? c->a : c->b, .kind = TD_DPI_MEMORY}};
        if (td_dpi_claim_all("test", claims, 2, &message))
            continue;
        ++*c->count;
        td_dpi_release(claims, 2);
    }
    return NULL;
}

static void many_take_turns(void **state)
{
    (void)state;
    uint64_t total = 0;
    const td_dpi_u64 a = make_memory("a"), b = make_memory("b");
    counter c[3] = {{a, b, false, &total}, {a, b, true, &total}, {a, b, false, &total}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count, &c[i]), 0);
    count(&c[2]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(total, 3 * TURNS);
    free_memory(a);
    free_memory(b);
}

/* -- memories that lie over others --------------------------------------------------------------------------------- */

static td_dpi_u64 lay_over(td_dpi_u64 a, td_dpi_u64 b)
{
    td_dpi_claim claims[] = {{.handle = a, .kind = TD_DPI_MEMORY}, {.handle = b, .kind = TD_DPI_MEMORY}};
    td_layout *tiles = NULL;
    td_memory *made = NULL;
    td_dpi_u64 handle = 0;
    const char *message = "";
    ASSERT_OK(td_layout_create("(t r) k -> t r k", "t=2", NULL, &tiles));
    assert_int_equal(td_dpi_claim_below("test", claims, 2, &message), TD_OK);
    ASSERT_OK(td_memory_over("over", 8, 32, tiles, (td_memory *[]){claims[0].object, claims[1].object}, 2, &made));
    assert_int_equal(td_dpi_handle_create_over(TD_DPI_MEMORY, made, claims, 2, &handle, &message), TD_OK);
    td_dpi_release(claims, 2);
    td_layout_destroy(&tiles);
    return handle;
}

/* A memory that a map owns: the handle ends when the map says so, and never before something that uses it. */
static void what_is_lent_is_not_destroyed(void **state)
{
    (void)state;
    const char *message = "";
    td_memory *owned = NULL;
    td_dpi_u64 lent = 0;
    void *object = NULL;
    td_dpi_claim c;
    ASSERT_OK(td_memory_create("lent", 8, 16, &owned));
    assert_int_equal(td_dpi_handle_lend(owned, &lent, &message), TD_OK);
    assert_int_equal(td_dpi_handle_take("memory_destroy", TD_DPI_MEMORY, lent, &object, &message), TD_ARGUMENT);
    assert_string_equal(message, "memory_destroy \"lent\": a map has made it; destroy the map");
    const td_dpi_u64 b = make_memory("b"), over = lay_over(lent, b);
    assert_int_equal(td_dpi_handle_unused("map_destroy", lent, &message), TD_ARGUMENT);
    assert_string_equal(message,
                        "map_destroy \"lent\": 1 memory lies over it; destroy what lies above a memory before it");
    assert_int_equal(td_dpi_handle_end_lent("map_destroy", lent, &message), TD_ARGUMENT);
    free_memory(over);
    free_memory(b);
    assert_int_equal(td_dpi_handle_unused("map_destroy", lent, &message), TD_OK);
    assert_int_equal(td_dpi_handle_end_lent("map_destroy", lent, &message), TD_OK);
    assert_int_equal(claim(lent, &c), TD_HANDLE);
    td_memory_destroy(&owned);
}

/* The words of `over` and of `a` are the same ones, so that a word is counted up in turns. */
typedef struct walker {
    td_dpi_u64 memory;
    int failed;
} walker;

static void *count_words(void *argument)
{
    walker *w = argument;
    const uint64_t address = 3;
    for (int i = 0; i < 2000; i++) {
        td_dpi_claim c;
        unsigned char word = 0;
        if (claim(w->memory, &c)) {
            w->failed++;
            continue;
        }
        w->failed += td_backdoor_read(c.object, &address, 1, &word) != TD_OK;
        word++;
        w->failed += td_backdoor_write(c.object, &address, 1, &word, NULL) != TD_OK;
        td_dpi_release(&c, 1);
    }
    return NULL;
}

static void what_lies_below_is_kept(void **state)
{
    (void)state;
    const char *message = "";
    const td_dpi_u64 a = make_memory("a"), b = make_memory("b"), over = lay_over(a, b), more = lay_over(b, a);
    assert_int_equal(td_dpi_memory_destroy(a, &message), TD_ARGUMENT);
    assert_string_equal(message,
                        "memory_destroy \"a\": 2 memories lie over it; destroy what lies above a memory before it");
    free_memory(over);
    assert_int_equal(td_dpi_memory_destroy(b, &message), TD_ARGUMENT);
    assert_string_equal(message,
                        "memory_destroy \"b\": 1 memory lies over it; destroy what lies above a memory before it");
    free_memory(more);
    free_memory(a);
    free_memory(b);
}

/* A call with a memory waits for those with what it lies over, and they for it. */
static void layers_take_turns(void **state)
{
    (void)state;
    const td_dpi_u64 a = make_memory("a"), b = make_memory("b"), over = lay_over(a, b);
    walker w[3] = {{.memory = over}, {.memory = a}, {.memory = over}};
    pthread_t thread[2];
    td_dpi_claim c;
    unsigned char word = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count_words, &w[i]), 0);
    count_words(&w[2]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(w[i].failed, 0);
    assert_int_equal(claim(a, &c), TD_OK);
    ASSERT_OK(td_backdoor_read(c.object, &(uint64_t){3}, 1, &word));
    td_dpi_release(&c, 1);
    assert_int_equal(word, 6000 % 256);
    free_memory(over);
    free_memory(a);
    free_memory(b);
}

/* In this order: the bias of the first thread ends when another one comes, and does not come back. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(biased_nothing_is_locked), cmocka_unit_test(long_strings_are_whole),
        cmocka_unit_test(what_lies_below_is_kept),  cmocka_unit_test(another_waits),
        cmocka_unit_test(many_take_turns),          cmocka_unit_test(what_lies_below_is_kept),
        cmocka_unit_test(layers_take_turns),        cmocka_unit_test(what_is_lent_is_not_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
