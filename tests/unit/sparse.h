/* What the tests of sparse packings share: tensors of i8, and the codes of parts. */
#ifndef TD_TEST_SPARSE_H
#define TD_TEST_SPARSE_H

#include "support.h"

static inline td_tensor *i8_tensor(td_shape shape, const int8_t *values)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("i8", shape, &t));
    memcpy(td_tensor_data(t), values, (size_t)td_tensor_elems(t));
    return t;
}

static inline uint64_t code_of(td_parts *parts, const char *part, uint64_t elem)
{
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_parts_part(parts, part, &t));
    ASSERT_OK(td_tensor_get_bits(t, elem, &bits));
    return bits;
}

static inline void expect(td_parts *parts, const char *part, size_t count, const uint64_t *expected)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_parts_part(parts, part, &t));
    assert_int_equal(td_tensor_elems(t), count);
    for (uint64_t i = 0; i < count; i++)
        if (code_of(parts, part, i) != expected[i])
            fail_msg("%s[%u] is %#x, not %#x", part, (unsigned)i, (unsigned)code_of(parts, part, i),
                     (unsigned)expected[i]);
}

#endif
