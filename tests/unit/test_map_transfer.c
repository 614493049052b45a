/* Maps over arrays that lie elsewhere, as in a design. The same calls go to a map that has its arrays itself; what the
 * design changes meanwhile is written into both. After every call the arrays are equal, and no other word has crossed.
 */
#include "support.h"

#include <tensordoor_bridge.h>

#define ARRAYS 5
#define DEPTH 16

static const char chip[] =
    "boot: words 16 x 32; base 0x100\n"
    "wbuf: words 32 x 8; base 0x200; code hsiao; organisation (t r p) k -> t r (k p);\n"
    "      options t=2 p=2; arrays 8 x 26 macro[0..1]\n"
    "c0: words 16 x 12; endian big\n"
    "c1: words 16 x 12; endian big; base 0x400\n"
    "own: words 16 x 32; base 0x140\n"
    "iram: base 0x300; memories c{0..1}; unit 4; interleave (row ch) -> (row ch); options ch=2;\n"
    "      address bank = ch ^ (row & 1); addr = row\n";

static const struct {
    const char *name;
    uint64_t width, depth;
} array[ARRAYS] = {{"boot", 32, 16}, {"macro[0]", 26, 8}, {"macro[1]", 26, 8}, {"c0", 12, 16}, {"c1", 12, 16}};

/* Words are up to 32 bits wide. */
typedef struct fixture {
    td_memory *copy[ARRAYS], *owned[ARRAYS];
    td_map *map, *reference;
    uint32_t elsewhere[ARRAYS][DEPTH];
    size_t crossed;
} fixture;

static void visit(fixture *f, size_t a, uint32_t *chunk, size_t runs, int write)
{
    for (; runs; runs--) {
        uint32_t at = chunk[0], count = chunk[1], step = chunk[2];
        f->crossed += count;
        for (chunk += TD_TRANSFER_HEAD; count; count--, at += step, chunk++) {
            if (step == 0)
                at = *chunk++;
            assert_true(at < array[a].depth);
            if (write)
                f->elsewhere[a][at] = *chunk;
            *chunk = f->elsewhere[a][at];
        }
    }
}

static void cross(fixture *f, int write)
{
    uint32_t chunk[16];
    size_t runs = 0;
    int unknown = 0;
    for (size_t a = 0; a < ARRAYS; a++)
        while (
            (runs = write ? td_transfer_out(f->copy[a], chunk, 16, &unknown) : td_transfer_in(f->copy[a], chunk, 16)))
            visit(f, a, chunk, runs, write);
}

static void equal(const fixture *f)
{
    for (size_t a = 0; a < ARRAYS; a++)
        for (uint64_t w = 0; w < array[a].depth; w++) {
            uint32_t word = 0;
            ASSERT_OK(td_backdoor_read(f->owned[a], &w, 1, &word));
            assert_int_equal(f->elsewhere[a][w], word);
        }
}

static void set_up(fixture *f)
{
    *f = (fixture){0};
    for (size_t a = 0; a < ARRAYS; a++) {
        ASSERT_OK(td_memory_create(array[a].name, array[a].width, array[a].depth, &f->copy[a]));
        ASSERT_OK(td_memory_create(array[a].name, array[a].width, array[a].depth, &f->owned[a]));
    }
    ASSERT_OK(td_map_create(chip, f->copy, ARRAYS, &f->map));
    ASSERT_OK(td_map_create(chip, f->owned, ARRAYS, &f->reference));
}

static void tear_down(fixture *f)
{
    td_map_destroy(&f->map);
    td_map_destroy(&f->reference);
    for (size_t a = 0; a < ARRAYS; a++) {
        td_memory_destroy(&f->copy[a]);
        td_memory_destroy(&f->owned[a]);
    }
}

/* The design changes a word that has no code. */
static void poke(fixture *f, size_t a, uint64_t word, uint32_t value)
{
    value &= array[a].width == 32 ? 0xffffffff : (1u << array[a].width) - 1;
    f->elsewhere[a][word] = value;
    ASSERT_OK(td_backdoor_write(f->owned[a], &word, 1, &value, NULL));
}

static void write_both(fixture *f, uint64_t address, const unsigned char *bytes, size_t count, size_t crossed)
{
    int partial = 0;
    f->crossed = 0;
    ASSERT_OK(td_transfer_map_bytes(f->map, address, count, &partial));
    if (partial)
        cross(f, 0);
    const td_status status = td_map_write(f->map, address, bytes, count);
    assert_int_equal(td_map_write(f->reference, address, bytes, count), status);
    if (!status)
        cross(f, 1);
    assert_int_equal(f->crossed, crossed);
    equal(f);
}

static void test_bytes(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    unsigned char bytes[64], got[64], expected[64];
    int partial = 0;
    memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 2 ? 37 * i : i % 16);
    poke(&f, 0, 3, 0x11223344);
    write_both(&f, 0x100, bytes, 8, 2);   /* two whole words out */
    write_both(&f, 0x10d, bytes, 2, 2);   /* a part of one, in and out */
    write_both(&f, 0x13e, bytes, 4, 2);   /* and of one that is the map's own */
    write_both(&f, 0x200, bytes, 32, 16); /* all rows of both macros, none before */
    write_both(&f, 0x20d, bytes, 3, 4);   /* two rows, which hold other words too */
    write_both(&f, 0x300, bytes, 64, 32); /* both channels */
    poke(&f, 4, 1, 0xabc);
    write_both(&f, 0x303, &(unsigned char){0x5a}, 1, 2); /* a part of a word */
    write_both(&f, 0x402, bytes, 4, 2);                  /* one of them by its own address */
    write_both(&f, 0x1fe, bytes, 4, 0);                  /* begins in a hole: refused */
    poke(&f, 3, 2, 0x7f1);
    f.crossed = 0;
    ASSERT_OK(td_transfer_map_bytes(f.map, 0x300, 64, &partial));
    cross(&f, 0);
    assert_int_equal(f.crossed, 32);
    ASSERT_OK(td_map_read(f.map, 0x300, got, 64));
    ASSERT_OK(td_map_read(f.reference, 0x300, expected, 64));
    assert_memory_equal(got, expected, 64);
    ASSERT_OK(td_transfer_map_bytes(f.map, 0, 0x50, &partial)); /* nothing of the map */
    f.crossed = 0;
    cross(&f, 1);
    assert_int_equal(f.crossed, 0);
    tear_down(&f);
}

static void test_files(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    FILE *file = fopen("x.srec", "w");
    assert_non_null(file);
    fputs("S1070104A1A2A3A469\nS10602051122338C\nS10803051D0E2F014054\nS9030000FC\n", file);
    fclose(file);
    ASSERT_OK(td_map_load_file(f.reference, "x.srec", NULL));
    ASSERT_OK(td_transfer_map_file(f.map, "x.srec"));
    cross(&f, 0);
    ASSERT_OK(td_map_load_file(f.map, "x.srec", NULL));
    cross(&f, 1);
    equal(&f);
    ASSERT_OK(td_transfer_map_file(f.map, "none.srec")); /* the call says that there is none */
    f.crossed = 0;
    cross(&f, 1);
    assert_int_equal(f.crossed, 0);
    tear_down(&f);
}

static void test_tensors(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    td_tensor *t = NULL, *got = NULL, *expected = NULL;
    td_layout *rows = NULL;
    int partial = 0;
    ASSERT_OK(td_tensor_create("u4", TD_SHAPE(3, 3), &t));
    ASSERT_OK(td_tensor_create("u4", TD_SHAPE(3, 3), &got));
    ASSERT_OK(td_tensor_create("u4", TD_SHAPE(3, 3), &expected));
    ASSERT_OK(td_tensor_fill_ramp(t, 1, 1));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, "1 + 3*r", &rows));
    for (int turn = 0; turn < 2; turn++) {
        const uint64_t address = turn ? 0x304 : 0x404; /* words 3, 6 and 9 of c1, or 3, 6 and 9 of both */
        f.crossed = 0;
        ASSERT_OK(td_transfer_map_tensor(f.map, address, t, rows, NULL, &partial));
        if (partial)
            cross(&f, 0);
        ASSERT_OK(td_map_load_tensor(f.map, address, t, rows, NULL));
        cross(&f, 1);
        assert_int_equal(f.crossed, 3);
        ASSERT_OK(td_map_load_tensor(f.reference, address, t, rows, NULL));
        equal(&f);
        poke(&f, 4, 3, 0x123);
        ASSERT_OK(td_transfer_map_tensor(f.map, address, got, rows, NULL, &partial));
        cross(&f, 0);
        ASSERT_OK(td_map_dump_tensor(f.map, address, got, rows, NULL));
        ASSERT_OK(td_map_dump_tensor(f.reference, address, expected, rows, NULL));
        assert_memory_equal(td_tensor_data_const(got), td_tensor_data_const(expected), 9);
    }
    ASSERT_OK(td_transfer_map_tensor(f.map, 0x50, t, rows, NULL, &partial)); /* a hole: the call says so */
    f.crossed = 0;
    cross(&f, 1);
    assert_int_equal(f.crossed, 0);
    td_layout_destroy(&rows);
    td_tensor_destroy(&t);
    td_tensor_destroy(&got);
    td_tensor_destroy(&expected);
    tear_down(&f);
}

static void test_refusals(void **state)
{
    (void)state;
    fixture f;
    td_map_entry e;
    int partial = 0;
    set_up(&f);
    ASSERT_REFUSED(td_transfer_map_bytes(NULL, 0, 1, &partial), TD_ARGUMENT,
                   "transfer_map_bytes: the map is NULL; pass one");
    ASSERT_REFUSED(td_transfer_map_bytes(f.map, 0, 1, NULL), TD_ARGUMENT,
                   "transfer_map_bytes: the output is NULL; pass one");
    ASSERT_REFUSED(td_transfer_map_file(f.map, NULL), TD_ARGUMENT, "transfer_map_file: the path is NULL; pass one");
    ASSERT_REFUSED(td_transfer_map_tensor(NULL, 0, NULL, NULL, NULL, &partial), TD_ARGUMENT,
                   "transfer_map_tensor: the map is NULL; pass one");
    ASSERT_OK(td_map_find(f.map, "wbuf", &e));
    assert_int_equal(td_transfer_reaches(e.memory, f.copy[1]), 1);
    assert_int_equal(td_transfer_reaches(e.memory, f.copy[3]), 0);
    assert_int_equal(td_transfer_reaches(f.copy[3], f.copy[3]), 1);
    assert_int_equal(td_transfer_reaches(NULL, NULL), 0);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test_setup_teardown(test_files, enter_folder, leave_folder),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
