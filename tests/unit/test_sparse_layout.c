/* Sparse tensors in memories, all parts in one call: what a load writes comes back into a tensor that holds something
 * else, a dump that is refused leaves that tensor as it was, and loads layer by layer write what single loads do. */
#include "sparse.h"

#include <stdbool.h>

enum { ROWS = 6, COLUMNS = 32, ELEMS = ROWS * COLUMNS, MOST = 3 };

/* A packing, what a dump has to know besides, and its parts. */
static const struct packing {
    const char *text, *dump, *part[MOST];
} packings[] = {
    {"2:4", "elem=i8", {"values", "meta"}},
    {"1:4", "elem=i8", {"values", "meta"}},
    {"2:4 index=u4", "elem=i8", {"values", "meta"}},
    {"2:8", "elem=i8", {"values", "meta"}},
    {"4:16", "elem=i8", {"values", "meta"}},
    {"5:16", "elem=i8", {"values", "meta"}},
    {"mask", "elem=i8 count=32", {"values", "mask"}},
    {"mask word=u8 chunk=20 index=u16", "elem=i8 count=32", {"values", "mask", "pointers"}},
    {"csr index=u16", "elem=i8 count=32", {"values", "columns", "rows"}},
    {"csc index=u16", "elem=i8 count=32", {"values", "rows", "columns"}},
    {"coo index=u16", "elem=i8 count=32", {"values", "rows", "columns"}},
    {"runs index=u8", "elem=i8 count=33", {"values", "runs"}},
};
enum { PACKINGS = sizeof packings / sizeof packings[0] };

typedef struct world {
    td_memory *memory[MOST];
    size_t memories;
    td_parts_layout *load, *dump;
} world;

/* A value in every fifth place, but none in row 2. */
static td_tensor *make_tensor(void)
{
    int8_t values[ELEMS] = {0};
    for (int i = 0; i < ELEMS; i += 5)
        values[i] = (int8_t)(i / COLUMNS == 2 ? 0 : i % 120 + 1);
    values[1] = 0;
    return i8_tensor(TD_SHAPE(ROWS, COLUMNS), values);
}

static void add_part(world *w, td_parts *parts, const char *name)
{
    td_tensor *part = NULL;
    td_layout *layout = NULL;
    ASSERT_OK(td_parts_part(parts, name, &part));
    ASSERT_OK(
        td_layout_create(td_tensor_shape(part).rank == 2 ? "a b -> (a b) 1" : "a -> a 1", "", "5 + index", &layout));
    ASSERT_OK(td_memory_create(name, 24, 400, &w->memory[w->memories++]));
    ASSERT_OK(td_parts_layout_add(w->load, name, name, layout));
    ASSERT_OK(td_parts_layout_add(w->dump, name, name, layout));
    td_layout_destroy(&layout);
}

static void open_world(world *w, const struct packing *p, const td_tensor *tensor)
{
    td_parts *parts = NULL;
    char dump[100];
    *w = (world){.memories = 0};
    snprintf(dump, sizeof dump, "%s %s", p->text, p->dump);
    ASSERT_OK(td_parts_pack(tensor, p->text, &parts));
    ASSERT_OK(td_parts_layout_create(p->text, &w->load));
    ASSERT_OK(td_parts_layout_create(dump, &w->dump));
    for (int i = 0; i < MOST && p->part[i]; i++)
        add_part(w, parts, p->part[i]);
    td_parts_destroy(&parts);
}

static void close_world(world *w)
{
    for (size_t i = 0; i < w->memories; i++)
        td_memory_destroy(&w->memory[i]);
    td_parts_layout_destroy(&w->load);
    td_parts_layout_destroy(&w->dump);
}

static void dumps_write_every_element(void **state)
{
    (void)state;
    for (int i = 0; i < PACKINGS; i++) {
        world w;
        td_tensor *tensor = make_tensor(), *back = make_tensor();
        open_world(&w, &packings[i], tensor);
        ASSERT_OK(td_backdoor_load_parts(w.memory, w.memories, tensor, w.load));
        memset(td_tensor_data(back), 7, ELEMS);
        ASSERT_OK(td_backdoor_dump_parts(w.memory, w.memories, back, w.dump));
        if (memcmp(td_tensor_data(back), td_tensor_data(tensor), ELEMS) != 0)
            fail_msg("%s: another tensor came back", packings[i].text);
        close_world(&w);
        td_tensor_destroy(&tensor);
        td_tensor_destroy(&back);
    }
}

/* Metadata, columns and masks that no tensor has, in the word of the part's element 1. */
static void refused_dumps_change_nothing(void **state)
{
    (void)state;
    static const struct {
        int packing;
        uint32_t word;
        const char *message;
    } wrong[] = {{0, 0,
                  "backdoor_dump_parts: meta 1 has 0 for a group of 2:4, whose places do not ascend; it is no metadata "
                  "of this order"},
                 {6, 1, "backdoor_dump_parts: the mask has 33 bits that are 1, and there are 32 values"},
                 {8, 99, "backdoor_dump_parts: column 1 is 99, and it is 0 to 31; another base=?"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        world w;
        td_tensor *tensor = make_tensor(), *back = make_tensor();
        const uint64_t address = 6;
        open_world(&w, &packings[wrong[i].packing], tensor);
        ASSERT_OK(td_backdoor_load_parts(w.memory, w.memories, tensor, w.load));
        ASSERT_OK(td_backdoor_write(w.memory[1], &address, 1, &wrong[i].word, NULL));
        memset(td_tensor_data(back), 7, ELEMS);
        ASSERT_REFUSED(td_backdoor_dump_parts(w.memory, w.memories, back, w.dump), TD_RANGE, wrong[i].message);
        for (int k = 0; k < ELEMS; k++)
            assert_int_equal(((const int8_t *)td_tensor_data(back))[k], 7);
        close_world(&w);
        td_tensor_destroy(&tensor);
        td_tensor_destroy(&back);
    }
}

/* -- layer by layer -- */

enum { MANY = 1000, WIDE = 512 };

/* A tensor large enough for layers: what one call writes is what single loads of its parts write, on one thread and on
 * two. */
static void layers_are_the_whole(void **state)
{
    (void)state;
    static const char *const texts[] = {"2:4 prune=magnitude", "2:4 prune=torch", "1:4 prune=magnitude",
                                        "3:8 prune=magnitude spare=first"};
    static const char *const names[] = {"values", "meta"};
    for (unsigned i = 0; i < 2 * sizeof texts / sizeof texts[0]; i++) {
        td_tensor *tensor = NULL;
        td_parts *parts = NULL;
        td_parts_layout *layout = NULL;
        td_memory *memory[2] = {NULL}, *apart[2] = {NULL};
        td_layout *rows = NULL;
        td_speed_threads(1 + i % 2);
        ASSERT_OK(td_tensor_create("i16", TD_SHAPE(MANY, WIDE), &tensor));
        ASSERT_OK(td_tensor_fill(tensor, "sparse zeros=0.4 seed=9"));
        ASSERT_OK(td_parts_pack(tensor, texts[i / 2], &parts));
        ASSERT_OK(td_parts_layout_create(texts[i / 2], &layout));
        ASSERT_OK(td_layout_create("(rt rs) c -> rt (rs c)", "rs=2", "", &rows));
        for (int k = 0; k < 2; k++) {
            td_tensor *part = NULL;
            ASSERT_OK(td_parts_part(parts, names[k], &part));
            const uint64_t bits = td_tensor_shape(part).dim[1] * 2 * 16;
            ASSERT_OK(td_memory_create(names[k], bits, MANY / 2, &memory[k]));
            ASSERT_OK(td_memory_create(names[k], bits, MANY / 2, &apart[k]));
            ASSERT_OK(td_parts_layout_add(layout, names[k], names[k], rows));
            ASSERT_OK(td_backdoor_load_tensor(apart[k], part, rows, NULL));
        }
        ASSERT_OK(td_backdoor_load_parts(memory, 2, tensor, layout));
        for (int k = 0; k < 2; k++) {
            assert_memory_equal(td_memory_data(memory[k]), td_memory_data(apart[k]),
                                (size_t)td_memory_depth_words(apart[k]) * td_memory_word_bytes(apart[k]));
            td_memory_destroy(&memory[k]);
            td_memory_destroy(&apart[k]);
        }
        td_layout_destroy(&rows);
        td_parts_layout_destroy(&layout);
        td_parts_destroy(&parts);
        td_tensor_destroy(&tensor);
    }
    td_speed_threads(0);
}

/* Masks and lists, whose parts go into their memories while they are made: one call writes what single loads write, be
 * the layouts such that every part goes by layers, or only some, or none. */
static const struct streamed {
    const char *dtype, *packing, *part[MOST];
    unsigned zeros; /* of ten */
} streamed[] = {
    {"f32", "mask", {"values", "mask"}, 5},
    {"i16", "mask word=u8", {"values", "mask"}, 9},
    {"i8", "mask word=u32 first=msb", {"values", "mask"}, 1},
    {"i8", "mask chunk=100 pointers=bytes", {"values", "mask", "pointers"}, 5},
    {"i8", "mask word=u8 chunk=24", {"values", "mask", "pointers"}, 5}, /* words with bits of two strips: whole */
    {"f64", "mask word=u64", {"values", "mask"}, 3},
    {"f32", "csr", {"values", "columns", "rows"}, 7},
    {"bf16", "csr pad=8 zeros=row base=1 pointers=bytes", {"values", "columns", "rows"}, 9},
    {"i8", "csc index=u24", {"values", "rows", "columns"}, 7},
    {"i16", "coo index=u16", {"values", "rows", "columns"}, 6},
    {"i8", "runs index=u3", {"values", "runs"}, 9},
    {"f32", "runs", {"values", "runs"}, 4},
};

static void check_stream(const struct streamed *p, const td_tensor *tensor, const char *list, const char *options,
                         uint64_t lanes, uint64_t banks)
{
    td_parts *parts = NULL;
    td_parts_layout *layout = NULL;
    td_memory *memory[2 * MOST] = {NULL}, *apart[2 * MOST] = {NULL};
    size_t memories = 0;
    ASSERT_OK(td_parts_pack(tensor, p->packing, &parts));
    ASSERT_OK(td_parts_layout_create(p->packing, &layout));
    for (size_t k = 0; k < MOST && p->part[k]; k++) {
        td_tensor *part = NULL;
        td_layout *where = NULL;
        ASSERT_OK(td_parts_part(parts, p->part[k], &part));
        const bool flat = td_tensor_shape(part).rank == 1;
        const uint64_t own_banks = flat ? banks : 1, own_lanes = flat ? lanes : 8;
        ASSERT_OK(td_layout_create(flat ? list : "(rt rs) (ct cs) -> (rt ct) (rs cs)", flat ? options : "rs=1 cs=8",
                                   flat ? strchr(list, '.') ? "3" : "3 + index" : "", &where));
        for (uint64_t b = 0; b < own_banks; b++) {
            char name[32];
            snprintf(name, sizeof name, own_banks > 1 ? "%s[%u]" : "%s", p->part[k], (unsigned)b);
            const uint64_t bits = own_lanes * td_tensor_elem_bits(part),
                           words = td_tensor_elems(part) / own_lanes / own_banks + 8;
            ASSERT_OK(td_memory_create(name, bits, words, &memory[memories + b]));
            ASSERT_OK(td_memory_create(name, bits, words, &apart[memories + b]));
            ASSERT_OK(td_memory_fill(memory[memories + b], "one", 0, words));
            ASSERT_OK(td_memory_fill(apart[memories + b], "one", 0, words));
        }
        ASSERT_OK(td_parts_layout_add(layout, p->part[k], p->part[k], where));
        if (own_banks > 1)
            ASSERT_OK(td_backdoor_load_tensor_banks(apart + memories, own_banks, part, where, NULL));
        else
            ASSERT_OK(td_backdoor_load_tensor(apart[memories], part, where, NULL));
        memories += own_banks;
        td_layout_destroy(&where);
    }
    ASSERT_OK(td_backdoor_load_parts(memory, memories, tensor, layout));
    for (size_t k = 0; k < memories; k++) {
        if (memcmp(td_memory_data(memory[k]), td_memory_data(apart[k]),
                   (size_t)td_memory_depth_words(apart[k]) * td_memory_word_bytes(apart[k])) != 0)
            fail_msg("%s by \"%s\": other words in memory %zu", p->packing, list, k);
        td_memory_destroy(&memory[k]);
        td_memory_destroy(&apart[k]);
    }
    td_parts_layout_destroy(&layout);
    td_parts_destroy(&parts);
}

static void streams_are_the_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof streamed / sizeof streamed[0]; i++) {
        td_tensor *tensor = NULL;
        char fill[64];
        snprintf(fill, sizeof fill, "sparse zeros=0.%u seed=%u", streamed[i].zeros, (unsigned)i);
        ASSERT_OK(td_tensor_create(streamed[i].dtype, TD_SHAPE(251, 1032), &tensor));
        ASSERT_OK(td_tensor_fill(tensor, fill));
        check_stream(&streamed[i], tensor, "(w l) -> w l", "l=16 pad=0", 16, 1);
        check_stream(&streamed[i], tensor, "(w l) -> w l", "l=16 tail=clip", 16, 1);
        check_stream(&streamed[i], tensor, "(w l) -> w l", "l=5 pad=1 pad_at=begin", 5, 1);
        check_stream(&streamed[i], tensor, "a -> a 1", "", 1, 1);
        check_stream(&streamed[i], tensor, "... -> (...)", "", 7, 1);
        check_stream(&streamed[i], tensor, "(w b l) -> b w l", "b=2 l=4 pad=0", 4, 2);
        td_tensor_destroy(&tensor);
    }
}

/* Numbers that do not fit: no word is written. */
static void refused_streams_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *packing, *part[MOST], *message;
    } rows[] = {
        {"csr index=u16",
         {"values", "columns", "rows"},
         "backdoor_load_parts: numbers up to 171520 do not fit index=u16; pass a wider one"},
        {"mask chunk=64 index=u16",
         {"values", "mask", "pointers"},
         "backdoor_load_parts: pointers up to 171520 do not fit index=u16; pass a wider one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_tensor *tensor = NULL;
        td_parts_layout *layout = NULL;
        td_memory *memory[MOST] = {NULL};
        ASSERT_OK(td_tensor_create("i8", TD_SHAPE(335, 512), &tensor));
        memset(td_tensor_data(tensor), 1, 335 * 512);
        ASSERT_OK(td_parts_layout_create(rows[i].packing, &layout));
        for (size_t k = 0; k < MOST; k++) {
            td_layout *list = NULL;
            ASSERT_OK(td_layout_create(i == 1 && k == 1 ? "r c -> (r c) 1" : "a -> a 1", "", "", &list));
            ASSERT_OK(td_memory_create(rows[i].part[k], 16, 335 * 512 + 1, &memory[k]));
            ASSERT_OK(td_parts_layout_add(layout, rows[i].part[k], rows[i].part[k], list));
            td_layout_destroy(&list);
        }
        ASSERT_REFUSED(td_backdoor_load_parts(memory, MOST, tensor, layout), TD_RANGE, rows[i].message);
        for (size_t k = 0; k < MOST; k++) {
            for (size_t b = 0; b < 1000; b++)
                assert_int_equal(((const unsigned char *)td_memory_data(memory[k]))[b], 0);
            td_memory_destroy(&memory[k]);
        }
        td_parts_layout_destroy(&layout);
        td_tensor_destroy(&tensor);
    }
}

/* A group with three values in the last layer: no word of the first is written. */
static void refused_layers_change_nothing(void **state)
{
    (void)state;
    td_tensor *tensor = NULL;
    td_parts_layout *layout = NULL;
    td_memory *memory[2] = {NULL};
    td_layout *rows = NULL;
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(MANY, WIDE), &tensor));
    int16_t *values = td_tensor_data(tensor);
    for (size_t i = 0; i < MANY * WIDE; i += 4)
        values[i] = 5;
    for (size_t i = MANY * WIDE - 4; i < MANY * WIDE - 1; i++)
        values[i] = 6;
    ASSERT_OK(td_parts_layout_create("2:4", &layout));
    ASSERT_OK(td_layout_create("r c -> r c", "", "", &rows));
    ASSERT_OK(td_memory_create("values", WIDE / 2 * 16, MANY, &memory[0]));
    ASSERT_OK(td_memory_create("meta", WIDE, MANY, &memory[1]));
    ASSERT_OK(td_parts_layout_add(layout, "values", "values", rows));
    ASSERT_OK(td_parts_layout_add(layout, "meta", "meta", rows));
    ASSERT_REFUSED(td_backdoor_load_parts(memory, 2, tensor, layout), TD_RANGE,
                   "backdoor_load_parts: elements 511996 to 511999 have 3 values that are not zero, and 2:4 keeps 2; "
                   "pass prune=magnitude");
    const unsigned char *data = td_memory_data(memory[0]);
    for (size_t i = 0; i < td_memory_word_bytes(memory[0]); i++)
        assert_int_equal(data[i], 0);
    for (int k = 0; k < 2; k++)
        td_memory_destroy(&memory[k]);
    td_layout_destroy(&rows);
    td_parts_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_write_every_element), cmocka_unit_test(refused_dumps_change_nothing),
        cmocka_unit_test(layers_are_the_whole),      cmocka_unit_test(refused_layers_change_nothing),
        cmocka_unit_test(streams_are_the_whole),     cmocka_unit_test(refused_streams_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
