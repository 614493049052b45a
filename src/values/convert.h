/* Conversion of contiguous runs of elements from one dtype to another, in tensor containers (1, 2, 4 or 8 bytes, little
 * endian). exec calls it on runs that it places; the facade binds it once per call. A td_convert is made from an `as`,
 * the tensor's dtype and a direction; after that nothing can fail, except that in `error` mode the values have to be
 * looked at first (td_convert_check), because a refused call changes nothing.
 *
 *   load:  stored = out_of_range(round(value / scale) + zero)
 *   dump:  value  = scale * (stored - zero)
 *
 * The quotient and the product are rounded once, to nearest even, in f32 (f64 for tensors whose elements take 8 bytes).
 *
 * Without a scale there is no quotient: the exact value is rounded once to the target. `round` and the out-of-range
 * word hold in both directions, for whichever type is the target; `wrap` into a float is that float's default. Equal
 * dtypes without a scale, a zero point or ftz are moved as bits. */
#ifndef TD_CONVERT_H
#define TD_CONVERT_H

#include "kernels/cast.h"
#include "kernels/convert.h"
#include "values/as.h"

typedef enum td_direction { TD_TO_MEMORY, TD_TO_TENSOR } td_direction;

/* Scales along one dimension of the tensor: element e has scale[(e / inner) % extent]. The arrays are borrowed. */
typedef struct td_scale_axis {
    const double *scale; /* NULL: the scale of the `as` */
    const int64_t *zero; /* NULL: the zero point of the `as` */
    uint64_t inner;      /* elements from one coordinate to the next: the product of the later dimensions */
    uint64_t extent;
} td_scale_axis;

struct td_convert_block;

typedef struct td_convert {
    td_dtype src, dst;
    uint8_t direction; /* td_direction */
    uint8_t work_bits; /* 32 or 64 */
    bool copy;         /* bits move unchanged */
    bool scaled;
    bool check; /* td_convert_check may refuse: what does not fit the target (in_target), or what a scale takes past */
    bool in_target;
    bool numbers; /* an element's number matters: it gives its scale or its random bits */
    bool ftz;
    td_rounding rounding; /* of the target; the zero point here is 0 on the way back */
    uint64_t seed;
    double scale; /* a float when work_bits is 32 */
    int64_t zero;
    uint64_t safe; /* with check: no magnitude up to this one is scaled past the work precision; UINT64_MAX: none */
    td_scale_axis axis; /* extent 0: one scale for all */
    void *owned[2];     /* arrays of the axis that td_convert_free frees; td_scales_give puts them here */
    char as_text[48];   /* of `error`: the memory's dtype and its words in short, for messages */

    /* The fast path: decode to f32, encode from f32; one is NULL where its side is f32 already, both on other paths. */
    td_convert_fn decode, encode;
    td_convert_params decode_params, encode_params;

    /* The other: steps in this order, those that are not NULL, run by convert_cast.c; the look of `error` too. */
    td_convert_fn widen;     /* the source to f32 */
    td_cast_fn scale_narrow; /* in f32 */
    td_cast_fn take;         /* into lanes of 64 bits */
    td_cast_fn scale_wide;   /* there */
    td_cast_fn odd;          /* from lanes of 64 bits to f32, for a target that is much shorter */
    td_cast_fn put;          /* out of lanes */
    td_cast_fn within;       /* f32 and f64, to look whether all are between two */
    td_cast_fn scale_each;   /* f32 by scales of their own, on the fast path */
    uint8_t lane_bytes;      /* of put: 4 or 8; 0: from container to container at once */
    bool back_to_f32;        /* scale_wide gives f32 */
    bool lanes_are_bits;     /* what put would read is what it would write: only a look needs it */
    bool hands_back;         /* integers past 2^52 go the exact way */

    /* In the place of all of them: steps of a program that are part of a load (program/chain.c). */
    void (*chain)(const struct td_convert *c, const struct td_convert_block *block);
    const void *chain_of;

    float table[256];           /* every value of an 8-bit source float */
    td_convert_params widening; /* of widen */
    td_cast_params cast;
} td_convert;

/* Not to be copied: it points into itself. TD_OPTION when the scale is 0 or infinite in the work precision, or a
 * zero point of the axis is not in the memory's dtype. `axis` is NULL, or is copied (its arrays are not). */
td_status td_convert_bind(const td_as *as, td_dtype tensor, td_direction direction, const td_scale_axis *axis,
                          td_convert *out);

/* Frees what td_scales_give gave; a copy never has any. */
void td_convert_free(td_convert *c);

/* `rows` runs of n elements each, the strides in bytes. Element i of run r is element first + r * row_step + i * step
 * of the tensor, which is looked at only for c->numbers. */
typedef struct td_convert_block {
    void *dst;
    const void *src;
    ptrdiff_t dst_stride, src_stride;
    size_t rows, n;
    uint64_t first;
    int64_t row_step, step;
    bool stream; /* the destination is part of something large: store past the caches where that can be done. The
                    caller calls td_move_fence after the last block */
    bool far;    /* the source is part of something large: fetch ahead */
} td_convert_block;

/* The two sides do not overlap; every run of dst is written whole. */
void td_convert_rows(const td_convert *c, const td_convert_block *block);

/* One run, streamed when it is long. */
void td_convert_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step);

/* For c->check: TD_RANGE with a message that names the first element of the run that does not fit; *bad is its
 * place. */
td_status td_convert_check(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step, size_t *bad);

/* One element's bits (own bits in, container bits out), by the exact path alone: the reference of the tests. */
uint64_t td_convert_one(const td_convert *c, uint64_t bits, uint64_t elem, bool *in_range);

#endif
