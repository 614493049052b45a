/* Elements of the tensors of sparse packings, as bits: reading and writing one, and what a zero is. Included by the
 * files of sparse packings alone. */
#ifndef TD_SPARSE_ELEMS_H
#define TD_SPARSE_ELEMS_H

#include "parts/sparse.h"

#include <string.h>

static inline uint64_t td_elem_get(const td_tensor *t, uint64_t elem)
{
    uint64_t bits = 0;
    memcpy(&bits, t->data + elem * t->dtype.bytes, t->dtype.bytes);
    return bits & td_dtype_mask(t->dtype);
}

static inline void td_elem_put(td_tensor *t, uint64_t elem, uint64_t bits)
{
    bits = td_dtype_extend(t->dtype, bits);
    memcpy(t->data + elem * t->dtype.bytes, &bits, t->dtype.bytes);
}

/* 0 for a zero, more for more: the bits of a float without its sign, which put NaN on top; an integer's absolute. */
static inline uint64_t td_elem_magnitude(td_dtype t, uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << (t.bits - 1);
    if (t.kind == TD_KIND_FLOAT)
        return t.flavor == TD_FLAVOR_SCALE ? bits + 1 : bits & (sign - 1);
    return t.kind == TD_KIND_INT && bits & sign ? (~bits + 1) & td_dtype_mask(t) : bits;
}

/* The bits that make an element more than zero. */
static inline uint64_t td_elem_own_bits(td_dtype t)
{
    return td_dtype_mask(t) >> (t.kind == TD_KIND_FLOAT ? 1 : 0); /* without the sign */
}

static inline bool td_elem_has_no_zero(td_dtype t)
{
    return t.kind == TD_KIND_FLOAT && t.flavor == TD_FLAVOR_SCALE;
}

static inline bool td_elem_is_kept(const td_tensor *t, uint64_t elem)
{
    return td_elem_magnitude(t->dtype, td_elem_get(t, elem)) != 0;
}

#endif
