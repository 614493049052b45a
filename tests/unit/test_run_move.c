/* Moves as exec runs them, on both sides of every line: large ones whose destination begins anywhere between two lines,
 * on one thread and on several, streamed or not, against the loops of the plan taken element by element; and the pages
 * under large mappings. */
#include "support.h"

#include "base/pages.h"
#include "memory/memory.h"
#include "plan/move.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct move_case {
    const char *pattern, *options, *dtype;
    td_shape shape;
    uint64_t width_bits;
} move_case;

#define SHAPE(...)                                                                                                     \
    {                                                                                                                  \
        sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                                                          \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const move_case cases[] = {
    {"r c -> c r", "", "f32", SHAPE(768, 1024), 24576},
    {"r c -> c r", "", "u8", SHAPE(1536, 2048), 12288},
    {"r c -> c r", "", "u16", SHAPE(1024, 1088), 16384},
    {"r c -> c r", "", "u64", SHAPE(512, 640), 32768},
    {"r c -> (c r)", "", "f32", SHAPE(801, 777), 32},
    {"a b -> a b", "", "i8", SHAPE(1100, 2048), 16384},
    {"c x -> (x c)", "", "u8", SHAPE(5, 600001), 8},
    {"a b -> a b", "lanes=msb", "i8", SHAPE(131075, 16), 128},
    {"n c x -> (n x) c", "", "f32", SHAPE(3, 64, 4096), 2048},
    {"c x -> x c", "", "u8", SHAPE(3, 800000), 24},
    /* folds: rows, columns or both are copied, units are cut, loops go backward */
    {"(a a1) b c -> (a c) (b a1)", "a1=2 lanes=msb", "u8", SHAPE(32, 50, 1283), 800},
    {"(a a1) (b b1) (c c1) -> (b1 b c a) (c1 a1)", "a1=8 b1=7 c1=2", "u8", SHAPE(40, 49, 260), 128},
    {"a b c d -> (d b) (c a)", "", "u16", SHAPE(3, 64, 5, 1021), 240},
    {"a b c d -> (b d) (c a)", "", "f32", SHAPE(2, 33, 6, 407), 384},
    {"a b c d -> (d b c a)", "", "u8", SHAPE(3, 2, 5, 30011), 8},
    {"a b c d e -> (d b e c a)", "", "u64", SHAPE(2, 3, 2, 33, 17), 64},
};
#define CASES (sizeof cases / sizeof cases[0])

static td_plan *make_plan(const move_case *c)
{
    td_layout *layout = NULL;
    td_plan *plan = NULL;
    td_plan_request request = {.shape = &c->shape};
    ASSERT_OK(td_layout_create(c->pattern, c->options, "", &layout));
    ASSERT_OK(td_dtype_parse(c->dtype, &request.tensor_dtype));
    request.layout = layout;
    request.memory_dtype = request.tensor_dtype;
    request.geometry = (td_geometry){.width_bits = c->width_bits,
                                     .depth_words = (uint64_t)1 << 24,
                                     .banks = 1,
                                     .word_bytes = td_word_bytes(c->width_bits)};
    ASSERT_OK(td_plan_create(&request, &plan));
    td_layout_destroy(&layout);
    return plan;
}

/* The nodes of the only box, innermost last. */
static void move_by_nodes(const td_plan *plan, size_t level, bool dump, unsigned char *tensor, unsigned char *memory)
{
    const td_box *box = &plan->data[0];
    if (level == box->node_count) {
        memcpy(dump ? tensor : memory, dump ? memory : tensor, plan->tensor_dtype.bytes);
        return;
    }
    const td_node *node = &plan->node[box->first_node + level];
    for (uint64_t i = 0; i < node->extent; i++)
        move_by_nodes(plan, level + 1, dump, tensor + (int64_t)i * node->tensor * plan->tensor_dtype.bytes,
                      memory + (int64_t)i * node->memory / 8);
}

#define ROOM ((size_t)8 << 20)
#define GUARD 0xA5

static void destinations_begin_anywhere(void **state)
{
    (void)state;
    static const size_t offsets[] = {0, 4, 8, 60, 3};
    unsigned char *src = aligned_alloc(64, ROOM), *dst = aligned_alloc(64, ROOM), *expected = aligned_alloc(64, ROOM);
    assert_true(src && dst && expected);
    for (size_t i = 0; i < ROOM; i++)
        src[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t i = 0; i < CASES; i++) {
        td_plan *plan = make_plan(&cases[i]);
        assert_int_equal(plan->data_count, 1);
        const ptrdiff_t elem = plan->tensor_dtype.bytes;
        for (int dump = 0; dump < 2; dump++)
            for (size_t k = 0; k < 2 * sizeof offsets / sizeof offsets[0]; k++) {
                const size_t offset = offsets[k / 2];
                td_move move = plan->move[dump];
                move.stream |= k % 4 == 1 && move.lines && move.kind != TD_MOVE_SHUFFLE;
                const ptrdiff_t tensor = plan->data[0].tensor * elem, memory = plan->data[0].memory / 8;
                memset(dst, GUARD, ROOM);
                memset(expected, GUARD, ROOM);
                unsigned char *to = dst + 64 + offset, *want = expected + 64 + offset, *from = src + 64;
                move_by_nodes(plan, 0, dump, (dump ? want : from) + tensor, (dump ? from : want) + memory);
                td_move_run(&move, NULL, k % 2, to + (dump ? tensor : memory), from + (dump ? memory : tensor));
                if (memcmp(dst, expected, ROOM) != 0)
                    fail_msg("%s of %s by \"%s\" to offset %zu", dump ? "dump" : "load", cases[i].dtype,
                             cases[i].pattern, offset);
            }
        td_plan_release(&plan);
    }
    free(src);
    free(dst);
    free(expected);
}

/* True when the system was told to use huge pages under this address. */
static bool is_told(FILE *maps, const void *pages)
{
    char line[512];
    bool here = false, told = false;
    rewind(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long long begin = 0, end = 0;
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
            here = (uintptr_t)pages >= begin && (uintptr_t)pages < end;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            told = strstr(line, " hg") != NULL;
    }
    return told;
}

static void large_mappings_get_huge_pages(void **state)
{
    (void)state;
    FILE *maps = fopen("/proc/self/smaps", "re");
    if (!maps)
        return; /* as in a chroot without /proc, where nobody can tell */
    size_t few = (size_t)4 << 20, many = ((size_t)1 << 30) + 4096, sparse = (size_t)1 << 44;
    void *small = td_pages_map(&few, false), *large = td_pages_map(&many, true), *space = td_pages_map(&sparse, false);
    assert_non_null(small);
    const bool tells = is_told(maps, small); /* a system without huge pages refuses the advice */
    if (large)
        assert_int_equal(is_told(maps, large), tells);
    if (space)
        assert_false(is_told(maps, space));
    td_pages_unmap(small, few);
    td_pages_unmap(large, many);
    td_pages_unmap(space, sparse);
    fclose(maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(destinations_begin_anywhere),
                                       cmocka_unit_test(large_mappings_get_huge_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
