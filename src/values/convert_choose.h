/* What the files of the conversion share: convert.c (binding and running), convert_choose.c (which way),
 * convert_exact.c (the rule) and convert_double.c (doubles). */
#ifndef TD_CONVERT_PATH_H
#define TD_CONVERT_PATH_H

#include "values/convert.h"

/* An element's coordinate on the axis of the scales, and the scale and zero point of a coordinate; 0 without an axis.
 */
uint64_t td_convert_index(const td_convert *c, uint64_t elem);
double td_convert_scale_at(const td_convert *c, uint64_t k);
int64_t td_convert_zero_at(const td_convert *c, uint64_t k);

/* Fills the pointers and the parameters of a td_convert that says what is wanted. */
void td_convert_choose(td_convert *c);

/* The scale of one stretch of elements into the parameters; false when this scale needs the exact path. */
bool td_convert_aim(const td_convert *c, double scale, int64_t zero, td_convert_params *decode,
                    td_convert_params *encode);

/* No scale but that of fixed point. */
void td_convert_aim_one(const td_convert *c, td_convert_params *decode, td_convert_params *encode);

/* Whether doubles give the exact path's bits for this conversion, and the run. */
bool td_convert_double_can(const td_convert *c);
void td_convert_double_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step);

#endif
