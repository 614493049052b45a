/* How much memory loads and dumps of parts take while they run: the other parts as they are, and for the elements no
 * more for a large tensor than for a small one, since they are made and placed layer by layer; of masks and lists no
 * part is whole. And how much programs take. The linker leads the allocations of the library here (--wrap), too. */
#include "../unit/support.h"

#include <malloc.h>
#include <stdbool.h>
#include <sys/mman.h>

/* -- counting ------------------------------------------------------------------------------------------------------ */

static size_t now_bytes, most_bytes;

static void add(size_t bytes)
{
    now_bytes += bytes;
    most_bytes = now_bytes > most_bytes ? now_bytes : most_bytes;
}

static void *taken(void *p)
{
    add(p ? malloc_usable_size(p) : 0);
    return p;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *p);
void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t bytes);
void *__real_td_pages_reuse(size_t *bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *p);
void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t bytes);
void *__wrap_td_pages_reuse(size_t *bytes);

void *__wrap_malloc(size_t bytes)
{
    return taken(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return taken(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
    const size_t before = p ? malloc_usable_size(p) : 0;
    void *now = __real_realloc(p, bytes);
    if (now)
        now_bytes -= before;
    return taken(now);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return taken(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *p)
{
    now_bytes -= p ? malloc_usable_size(p) : 0;
    __real_free(p);
}

void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    add(bytes);
    return __real_mmap64(at, bytes, protection, flags, file, offset);
}

int __wrap_munmap(void *at, size_t bytes)
{
    now_bytes -= bytes;
    return __real_munmap(at, bytes);
}

/* Pages that the library kept of tensors before count as new ones. */
void *__wrap_td_pages_reuse(size_t *bytes)
{
    void *pages = __real_td_pages_reuse(bytes);
    add(*bytes);
    return pages;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 512, FEW = 512, MANY = 2048, MOST_PARTS = 3, SLACK = 64 << 10 };

static const struct row {
    const char *dtype, *fill, *packing, *part[MOST_PARTS];
    unsigned bits;
    bool dumps; /* by layers too */
} rows[] = {
    {"f32", "normal seed=3", "mxfp8 rule=floor", {"elems", "scales"}, 8, true},
    {"f32", "normal seed=3", "mxfp4 rule=rceil", {"elems", "scales"}, 4, true},
    {"f32", "normal seed=3", "nvfp4", {"elems", "scales", "global"}, 4, true},
    {"bf16", "normal seed=3", "uint4 block=64", {"elems", "scales", "zeros"}, 4, true},
    {"bf16", "normal seed=3", "2:4 prune=magnitude", {"values", "meta"}, 16, false},
    {"i8", "random seed=3", "3:8 prune=magnitude", {"values", "meta"}, 8, false},
};

typedef struct world {
    td_tensor *tensor;
    td_memory *memory[MOST_PARTS];
    size_t memories, others; /* bytes of the parts but the elements */
    td_parts *parts;
    td_parts_layout *layout;
} world;

static void open_world(world *w, const struct row *row, uint64_t side)
{
    *w = (world){.others = 0};
    ASSERT_OK(td_tensor_create(row->dtype, TD_SHAPE(side, COLUMNS), &w->tensor));
    ASSERT_OK(td_tensor_fill(w->tensor, row->fill));
    ASSERT_OK(td_parts_pack(w->tensor, row->packing, &w->parts));
    ASSERT_OK(td_parts_layout_create(row->packing, &w->layout));
    for (size_t i = 0; i < MOST_PARTS && row->part[i]; i++) {
        td_tensor *part = NULL;
        td_layout *layout = NULL;
        ASSERT_OK(td_parts_part(w->parts, row->part[i], &part));
        const uint64_t elems = td_tensor_elems(part);
        ASSERT_OK(td_layout_create(i == 0                            ? "(rt rs) (ct cs) -> (rt ct) (rs cs)"
                                   : td_tensor_shape(part).rank == 2 ? "r c -> (r c) 1"
                                                                     : "-> 1 1",
                                   i == 0 ? "rs=8 cs=8 pad=0" : "", NULL, &layout));
        ASSERT_OK(td_memory_create(row->part[i], i ? 32 : 64 * row->bits, i ? elems : (elems + 7 * COLUMNS) / 64,
                                   &w->memory[i]));
        ASSERT_OK(td_parts_layout_add(w->layout, row->part[i], row->part[i], layout));
        td_layout_destroy(&layout);
        w->others += i ? (size_t)elems * td_tensor_elem_bytes(part) : 0;
        w->memories++;
    }
}

static void close_world(world *w)
{
    td_tensor_destroy(&w->tensor);
    td_parts_destroy(&w->parts);
    for (size_t i = 0; i < w->memories; i++)
        td_memory_destroy(&w->memory[i]);
    td_parts_layout_destroy(&w->layout);
}

/* The most that a call has at once, less the parts but the elements. The first one also makes plans and tries them. */
static long peak_of(world *w, bool dump)
{
    size_t before = 0;
    for (int turn = 0; turn < 2; turn++) {
        before = most_bytes = now_bytes;
        ASSERT_OK(dump ? td_backdoor_dump_parts(w->memory, w->memories, w->tensor, w->layout)
                       : td_backdoor_load_parts(w->memory, w->memories, w->tensor, w->layout));
    }
    return (long)(most_bytes - before) - (long)w->others;
}

/* Rows that fill their tiles, and 3 more, which end with padding. */
static void calls_take_no_tensor_of_elements(void **state)
{
    (void)state;
    td_speed_threads(1);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i / 2];
        world few, many;
        open_world(&few, row, FEW + i % 2 * 3);
        open_world(&many, row, MANY + i % 2 * 3);
        for (int dump = 0; dump <= row->dumps; dump++) {
            const long least = peak_of(&few, dump), most = peak_of(&many, dump);
            if (most > least + SLACK)
                fail_msg("%s, %s: %ld bytes with %d rows, %ld with %d", row->packing, dump ? "dump" : "load", least,
                         FEW, most, MANY);
        }
        close_world(&few);
        close_world(&many);
    }
}

static void open_lists(world *w, const struct row *row, uint64_t side)
{
    *w = (world){.others = 0};
    ASSERT_OK(td_tensor_create(row->dtype, TD_SHAPE(side, COLUMNS), &w->tensor));
    ASSERT_OK(td_tensor_fill(w->tensor, row->fill));
    ASSERT_OK(td_parts_pack(w->tensor, row->packing, &w->parts));
    ASSERT_OK(td_parts_layout_create(row->packing, &w->layout));
    for (size_t i = 0; i < MOST_PARTS && row->part[i]; i++) {
        td_tensor *part = NULL;
        td_layout *layout = NULL;
        ASSERT_OK(td_parts_part(w->parts, row->part[i], &part));
        const bool matrix = td_tensor_shape(part).rank == 2;
        ASSERT_OK(td_layout_create(matrix ? "r (ct cs) -> (r ct) cs" : "(a l) -> a l", matrix ? "cs=8" : "l=8 pad=0",
                                   "", &layout));
        ASSERT_OK(td_memory_create(row->part[i], 8 * td_tensor_elem_bits(part), td_tensor_elems(part) / 8 + 1,
                                   &w->memory[i]));
        ASSERT_OK(td_parts_layout_add(w->layout, row->part[i], row->part[i], layout));
        td_layout_destroy(&layout);
        w->memories++;
    }
}

static void masks_and_lists_have_no_whole_part(void **state)
{
    (void)state;
    static const struct row lists[] = {
        {"f32", "sparse zeros=0.5 seed=3", "mask", {"values", "mask"}, 0, false},
        {"bf16", "sparse zeros=0.5 seed=3", "mask word=u8", {"values", "mask"}, 0, false},
        {"i8", "sparse zeros=0.5 seed=3", "mask chunk=64", {"values", "mask", "pointers"}, 0, false},
        {"f32", "sparse zeros=0.5 seed=3", "csr", {"values", "columns", "rows"}, 0, false},
        {"bf16", "sparse zeros=0.5 seed=3", "coo", {"values", "rows", "columns"}, 0, false},
        {"i8", "sparse zeros=0.5 seed=3", "runs", {"values", "runs"}, 0, false},
    };
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        world few, many;
        open_lists(&few, &lists[i], FEW);
        open_lists(&many, &lists[i], MANY);
        const long least = peak_of(&few, false), most = peak_of(&many, false);
        if (most > least + SLACK)
            fail_msg("%s: %ld bytes with %d rows, %ld with %d", lists[i].packing, least, FEW, most, MANY);
        close_world(&few);
        close_world(&many);
    }
}

/* Eight steps one after another that are not fused, since they may refuse a value, have two tensors at a time; those
 * that are part of the load have none. */
static void programs_give_tensors_up(void **state)
{
    (void)state;
    static const char steps[] = "tensor a = add x y error\ntensor b = add a y error\ntensor c = add b y error\n"
                                "tensor d = add c y error\ntensor e = add d y error\ntensor f = add e y error\n"
                                "tensor g = add f y error\ntensor h = add g y error\n"
                                "load m h \"r c -> r c\"\n",
                      chain[] = "load m (clamp (add (scale x 0.5) y) -1 1) \"r c -> r c\" as \"i8\"\n";
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("m", 8 * 512, 512, &m));
    for (int k = 0; k < 2; k++) {
        const size_t tensor = (size_t)512 * 512 * (k ? 4 : 1);
        td_tensor *x = NULL, *y = NULL;
        td_program *p = NULL;
        size_t before = 0;
        ASSERT_OK(td_tensor_create(k ? "f32" : "i8", TD_SHAPE(512, 512), &x));
        ASSERT_OK(td_tensor_create(k ? "f32" : "i8", TD_SHAPE(512), &y));
        ASSERT_OK(td_program_create(k ? chain : steps, &p));
        ASSERT_OK(td_program_bind_memory(p, "m", m));
        ASSERT_OK(td_program_bind_tensor(p, "x", x));
        ASSERT_OK(td_program_bind_tensor(p, "y", y));
        for (int turn = 0; turn < 2; turn++) {
            before = most_bytes = now_bytes;
            ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
        }
        const size_t most = (k ? 0 : 2 * tensor) + SLACK;
        if (most_bytes - before > most)
            fail_msg("%s: %zu bytes at once, more than %zu", k ? "chain" : "steps", most_bytes - before, most);
        td_program_destroy(&p);
        td_tensor_destroy(&x);
        td_tensor_destroy(&y);
    }
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_take_no_tensor_of_elements),
                                       cmocka_unit_test(masks_and_lists_have_no_whole_part),
                                       cmocka_unit_test(programs_give_tensors_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
