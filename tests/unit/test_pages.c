/* Pages that are kept between calls: who gets them, who does not, and that what they hold is seen by nobody. */
#include "base/pages.h"
#include "support.h"

#include <string.h>

#define MIB ((size_t)1 << 20)

static void kept_pages_are_given_to_the_next_of_their_size(void **state)
{
    (void)state;
    size_t bytes = 64 * MIB;
    unsigned char *first = td_pages_reuse(&bytes);
    assert_non_null(first);
    memset(first, 7, bytes);
    td_pages_keep(first, bytes);
    size_t less = 8 * MIB;
    unsigned char *other = td_pages_reuse(&less); /* most of the kept ones would lie idle */
    assert_ptr_not_equal(other, first);
    size_t again = 63 * MIB;
    assert_ptr_equal(td_pages_reuse(&again), first);
    assert_int_equal(again, bytes);
    td_pages_unmap(first, bytes);
    td_pages_unmap(other, less);
}

static void more_than_a_few_are_not_kept(void **state)
{
    (void)state;
    void *pages[8];
    size_t bytes[8], again = 0;
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (40 + 8 * i) * MIB;
        pages[i] = td_pages_map(&bytes[i], true);
        assert_non_null(pages[i]);
    }
    for (size_t i = 0; i < 8; i++)
        td_pages_keep(pages[i], bytes[i]);
    again = bytes[7];
    assert_ptr_equal(td_pages_reuse(&again), pages[7]); /* the last of them */
    td_pages_unmap(pages[7], bytes[7]);
    size_t huge = 256 * MIB;
    void *large = td_pages_map(&huge, true);
    td_pages_keep(large, huge); /* unmapped at once */
}

static void dirty_pages_are_seen_by_nobody(void **state)
{
    (void)state;
    static const char *const packings[] = {"mxfp4 rule=rceil",
                                           "mxfp8",
                                           "nvfp4",
                                           "int4",
                                           "uint4",
                                           "q4_0",
                                           "q4_1",
                                           "bfp8",
                                           "mxint8",
                                           "2:4 prune=magnitude",
                                           "mask",
                                           "csr",
                                           "2:4 prune=magnitude index=u12"};
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1024, 1024), &t));
    ASSERT_OK(td_tensor_fill(t, "normal seed=3"));
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        td_parts *parts[2] = {NULL, NULL};
        td_tensor *back[2] = {NULL, NULL};
        for (int turn = 0; turn < 2; turn++) {
            td_tensor *poison[2] = {NULL, NULL};
            for (int size = 0; size < 2; size++) { /* as large as elements, and as the tensor */
                ASSERT_OK(td_tensor_create(size ? "f32" : "u8", TD_SHAPE(1024, 1024), &poison[size]));
                const size_t bytes = (size_t)(size ? 4 : 1) * MIB;
                for (size_t b = 0; b < bytes; b += 511)
                    assert_int_equal(((unsigned char *)td_tensor_data(poison[size]))[b], 0);
                memset(td_tensor_data(poison[size]), turn ? 0xff : 0x11, bytes);
            }
            td_tensor_destroy(&poison[0]);
            td_tensor_destroy(&poison[1]);
            ASSERT_OK(td_parts_pack(t, packings[i], &parts[turn]));
            ASSERT_OK(td_parts_unpack(parts[turn], NULL, &back[turn]));
        }
        assert_memory_equal(td_tensor_data(back[0]), td_tensor_data(back[1]), 4 * MIB);
        for (size_t n = 0; n < td_parts_count(parts[0]); n++) {
            td_tensor *a = NULL, *b = NULL;
            ASSERT_OK(td_parts_part(parts[0], td_parts_name(parts[0], n), &a));
            ASSERT_OK(td_parts_part(parts[1], td_parts_name(parts[1], n), &b));
            assert_memory_equal(td_tensor_data(a), td_tensor_data(b),
                                (size_t)td_tensor_elems(a) * td_tensor_elem_bytes(a));
        }
        for (int turn = 0; turn < 2; turn++) {
            td_tensor_destroy(&back[turn]);
            td_parts_destroy(&parts[turn]);
        }
    }
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_pages_are_given_to_the_next_of_their_size),
                                       cmocka_unit_test(more_than_a_few_are_not_kept),
                                       cmocka_unit_test(dirty_pages_are_seen_by_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
