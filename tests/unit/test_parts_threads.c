/* Packings on threads: parts and values have the same bits on one thread, on two and on three. Every call shares its
 * work, however small it is (TD_PARALLEL_BYTES). */
#include "support.h"

enum { ROWS = 131, COLUMNS = 1024, ELEMS = ROWS * COLUMNS };

static const struct row {
    const char *dtype, *fill, *packing;
} rows[] = {
    {"f32", "normal seed=1", "mxfp8"},
    {"f32", "normal seed=2", "mxfp4 rule=rceil axis=0"},
    {"bf16", "normal seed=3", "mxfp6 block=100"},
    {"f32", "normal seed=4", "nvfp4"},
    {"f16", "normal seed=5", "nvfp4_4over6"},
    {"f32", "normal seed=6", "nvfp4_2d"},
    {"f32", "normal seed=7", "int4"},
    {"bf16", "normal seed=8", "uint4 axis=0 block=50"},
    {"f32", "normal seed=9", "bfp8"},
    {"f32", "normal seed=10", "q4_0"},
    {"f32", "normal seed=11", "q4_K"},
    {"bf16", "sparse zeros=0.5 seed=1", "2:4 prune=magnitude"},
    {"i8", "sparse zeros=0.5 seed=2", "3:8 prune=magnitude"},
    {"f32", "sparse zeros=0.5 seed=3", "mask"},
    {"bf16", "sparse zeros=0.9 seed=4", "mask word=u8"},
    {"i8", "sparse zeros=0.3 seed=5", "mask word=u8 first=msb chunk=100"},
    {"u8", "sparse zeros=0.3 seed=6", "mask chunk=333 pointers=bytes"},
    {"f64", "sparse zeros=0.5 seed=7", "mask word=u12"},
    {"i8", "sparse zeros=0.6 seed=8", "nvdla"},
    {"i16", "sparse zeros=0.6 seed=9", "nvdla reading=tool group=1000"},
    {"f32", "sparse zeros=0.7 seed=10", "csr"},
    {"f32", "sparse zeros=0.99 seed=11", "csc pad=4 zeros=row base=1"},
    {"bf16", "sparse zeros=0.7 seed=12", "coo index=u16"},
    {"i8", "sparse zeros=0.9 seed=13", "runs index=u4"},
};

/* All parts, and the values that they stand for, one behind the other. */
static unsigned char *packed(const struct row *row, const td_tensor *t, unsigned threads, size_t *bytes)
{
    td_parts *parts = NULL;
    td_tensor *each[5] = {NULL}; /* a packing has up to four parts */
    unsigned char *all = NULL;
    size_t used = 0;
    td_speed_threads(threads);
    ASSERT_OK(td_parts_pack(t, row->packing, &parts));
    const size_t count = td_parts_count(parts);
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(td_parts_part(parts, td_parts_name(parts, i), &each[i]));
    td_tensor *back = NULL;
    ASSERT_OK(td_parts_unpack(parts, NULL, &back));
    each[count] = back;
    for (size_t i = 0; i <= count; i++) {
        const size_t more = (size_t)td_tensor_elems(each[i]) * td_tensor_elem_bytes(each[i]);
        all = realloc(all, used + more);
        assert_non_null(all);
        memcpy(all + used, td_tensor_data(each[i]), more);
        used += more;
    }
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);
    *bytes = used;
    return all;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_tensor *t = NULL;
        size_t one_bytes = 0;
        ASSERT_OK(td_tensor_create(rows[i].dtype, TD_SHAPE(ROWS, COLUMNS), &t));
        ASSERT_OK(td_tensor_fill(t, rows[i].fill));
        unsigned char *one = packed(&rows[i], t, 1, &one_bytes);
        for (unsigned threads = 2; threads <= 3; threads++) {
            size_t bytes = 0;
            unsigned char *more = packed(&rows[i], t, threads, &bytes);
            assert_int_equal(bytes, one_bytes);
            if (memcmp(one, more, bytes) != 0)
                fail_msg("%s of %s: other bits on %u threads", rows[i].packing, rows[i].dtype, threads);
            free(more);
        }
        free(one);
        td_tensor_destroy(&t);
    }
    td_speed_threads(0);
}

/* The same values in a tensor of one dimension, and where a piece of the tensor keeps nothing. */
static void lone_values_are_found_on_threads(void **state)
{
    (void)state;
    static const char *const packings[] = {"mask", "mask word=u64", "runs", "csr", "coo"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        td_tensor *t = NULL;
        size_t one_bytes = 0, three_bytes = 0;
        ASSERT_OK(td_tensor_create("f32", i < 3 ? TD_SHAPE(ELEMS) : TD_SHAPE(ROWS, COLUMNS), &t));
        ASSERT_OK(td_tensor_set_real(t, 0, 1));
        ASSERT_OK(td_tensor_set_real(t, 70000, 2));
        ASSERT_OK(td_tensor_set_real(t, ELEMS - 1, 3));
        const struct row row = {"f32", "", packings[i]};
        unsigned char *one = packed(&row, t, 1, &one_bytes), *three = packed(&row, t, 3, &three_bytes);
        assert_int_equal(one_bytes, three_bytes);
        assert_memory_equal(one, three, one_bytes);
        free(one);
        free(three);
        td_tensor_destroy(&t);
    }
    td_speed_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(lone_values_are_found_on_threads),
    };
    setenv("TD_PARALLEL_BYTES", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
