/* The verdict over one pair of elements, under a policy. compare/ asks for pairs whose bits differ, and for all pairs
 * where equal bits do not settle it; report/ shows the values. It knows no tensor and cannot fail. */
#ifndef TD_JUDGE_H
#define TD_JUDGE_H

#include "values/policy.h"

/* A policy for one dtype, made once per comparison. */
typedef struct td_judge {
    td_policy policy;
    td_dtype dtype;
    uint64_t mask, magnitude; /* the element's bits; without the sign */
    uint64_t first_inf;       /* magnitudes from here are infinite or NaN; past all of them where there are none */
    uint64_t first_nan;
    uint64_t first_normal;
    double step;      /* of the lowest bit of an integer or fixed point */
    bool fast_decode; /* small IEEE-like floats: built in place */
    bool bits_decide; /* equal bits are equal, whatever they are */
} td_judge;

void td_judge_init(const td_policy *policy, td_dtype dtype, td_judge *out);

typedef struct td_verdict {
    bool equal;
    bool unknown; /* the memory held x or z: never equal */
    bool apart;   /* at least one is a NaN: ulp and error say nothing */
    uint64_t ulp; /* steps between the two */
    double error; /* |actual - expected|; infinite where one of them is */
} td_verdict;

/* Own bits, nothing above. */
td_verdict td_judge_pair(const td_judge *j, uint64_t expected, uint64_t actual);

bool td_judge_is_nan(const td_judge *j, uint64_t bits);

/* Steps of the dtype between two values that are no NaN. With ftz subnormals and zero are one step. */
uint64_t td_ulp_distance(const td_judge *j, uint64_t a, uint64_t b);

/* The value as a double; exact but for integers of more than 53 bits. */
double td_judge_value(const td_judge *j, uint64_t bits);

#endif
