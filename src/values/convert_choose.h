/* What the files of the conversion share: convert.c (binding and running), convert_choose.c (which way),
 * convert_choose_cast.c (the steps through lanes), convert_cast.c (their run) and convert_exact.c (the rule). */
#ifndef TD_CONVERT_PATH_H
#define TD_CONVERT_PATH_H

#include "values/convert.h"

/* An element's coordinate on the axis of the scales, and the scale and zero point of a coordinate; 0 without an axis.
 */
uint64_t td_convert_index(const td_convert *c, uint64_t elem);
double td_convert_scale_at(const td_convert *c, uint64_t k);
int64_t td_convert_zero_at(const td_convert *c, uint64_t k);

/* No scale of the axis, or the one there is, has a magnitude below low or above high, or is NaN. */
bool td_convert_scales_within(const td_convert *c, double low, double high);

/* Fills the pointers and the parameters of a td_convert that says what is wanted. */
void td_convert_choose(td_convert *c);

/* The scale of one stretch of elements into the parameters; false when this scale needs the exact path. */
bool td_convert_aim(const td_convert *c, double scale, int64_t zero, td_convert_params *decode,
                    td_convert_params *encode);

/* No scale but that of fixed point. */
void td_convert_aim_one(const td_convert *c, td_convert_params *decode, td_convert_params *encode);

/* Every value of one type is one of the other. */
bool td_convert_holds(td_dtype from, td_dtype to);

/* Drops a rounding that cannot matter, and a look at values that all fit. */
void td_convert_simplify(td_convert *c);

/* Gives c->safe, and c->check where that may refuse; after the paths are chosen, which do not depend on it. */
void td_convert_find_safe(td_convert *c, bool refuses);

/* The steps through lanes; `widen` is the kernel from the source to f32, whose parameters are c->widening, or NULL. */
void td_convert_choose_cast(td_convert *c, td_convert_fn widen);

/* Rows of a conversion that is a single step for every element alike; false where it is not. */
bool td_convert_cast_rows(const td_convert *c, const td_convert_block *b);

/* The scale and the zero point of one stretch of elements. */
void td_convert_cast_scale(const td_convert *c, td_cast_params *p, double scale);
void td_convert_cast_zero(const td_convert *c, td_cast_params *p, int64_t zero);

void td_convert_cast_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step);

/* False when some element does not fit, or when only the exact path can tell. */
bool td_convert_cast_fits(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step);

/* The scales of n elements along the axis. */
void td_convert_scales_f32(const td_convert *c, uint64_t first, int64_t step, size_t n, float *out);

#endif
