/* Closeness of whole blocks: whether a tolerant policy accepts every pair of one, many pairs at a time. What it does not accept
 * is for td_judge_pair to say, so it may be careful, but it never accepts what the judge would not. Called by scan.c and
 * compare.c for floats, and for integers of up to 32 bits.
 *
 * Floats are looked at in f32 with a margin: most blocks by their largest error and distance alone (kernels/close.h), the
 * others pair by pair; and where that does not settle it in f64, where the judge itself calculates. Integers are looked
 * at in whole steps. */
#ifndef TD_CLOSE_H
#define TD_CLOSE_H

#include "compare/policy.h"
#include "kernels/tolerance.h"
#include "values/convert.h"

#define TD_CLOSE_ELEMS 2048

/* The largest of what was accepted. */
typedef struct td_worst {
    double error;
    uint64_t ulp;
} td_worst;

typedef struct td_close td_close;

/* Where values are near 0 or the worst grows from block to block, the quick way settles nothing: then so many blocks go without
 * it. */
#define TD_CLOSE_SKIPS 8

/* What a thread needs for it. */
typedef struct td_close_room {
    unsigned skips;                                         /* that are left; 0 to begin with */
    float expected[TD_CLOSE_ELEMS], actual[TD_CLOSE_ELEMS]; /* the values of a block that is neither f32 nor f64 */
} td_close_room;

typedef bool td_close_look(const td_close *c, td_close_room *room, const td_close_rows *b, td_worst *worst);

struct td_close {
    td_close_look *look;             /* NULL: not for this dtype and policy */
    td_close_fn measure;             /* of f32, f16 and bf16; NULL for others */
    td_close_fn quick;               /* what may settle it before: near_f32 or steps_x16 */
    td_close_turned_fn quick_turned; /* the same; NULL where it would not be quick */
    unsigned exp_bits;
    uint32_t first_inf; /* magnitudes from here on are infinite or NaN */
    float atol, rtol;   /* a little less than the policy's */
    uint32_t ulp;       /* 0 without ulp=: equal values are near */
    int32_t same_bits;  /* -1: equal bits are near whatever they are; 0: they are not */
    double exact_atol, exact_rtol;
    uint64_t long_ulp;
    double step;         /* of an integer */
    uint32_t mask, sign; /* of an element's bits */
    td_convert decode;   /* of a float to f32 */
};

void td_close_init(const td_judge *judge, td_close *c);

/* Up to TD_CLOSE_ELEMS pairs in tensor bytes. True when the policy accepts all of them; then *worst has grown to include
 * them. */
bool td_close_accepts(const td_close *c, td_close_room *room, const td_close_rows *b, td_worst *worst);

/* The same of a block that is turned (kernels/close.h), of any size, by the quick way alone: c->quick_turned is there. */
bool td_close_accepts_turned(const td_close *c, const td_close_rows *b, td_ahead ahead, td_worst *worst);

#endif
