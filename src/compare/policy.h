/* When two elements count as equal: the policy string of a comparison, and the verdict over one pair of bits. compare.c
 * calls it for pairs whose bits differ, and for all pairs where equal bits do not settle it. It knows no tensor.
 *
 * Words, separated by spaces or commas, each at most once:
 *     exact               equal bits; the default
 *     atol=X rtol=X       |actual - expected| <= atol + rtol * |expected|, in double (64-bit integers: exactly)
 *     ulp=N               at most N steps of the tensor's own dtype apart. With atol= or rtol= too, either one accepts
 *     nan=bits            a NaN equals the same bits (default of exact); nan=equal: any NaN (default of the others);
 *                         nan=differ: nothing, not even itself
 *     inf=equal           an infinity equals only itself (default); inf=differ: nothing
 *     zero=differ         0 and -0 differ (default of exact); zero=equal: they are equal (default of the others)
 *     ftz                 subnormal numbers are zeros of their sign
 *     max=N               mismatches kept with their place; 16 without it
 *     check_pad           the padding must hold its value too */
#ifndef TD_POLICY_H
#define TD_POLICY_H

#include "values/dtype.h"

typedef enum td_nan_rule { TD_NAN_BITS, TD_NAN_EQUAL, TD_NAN_DIFFER } td_nan_rule;

#define TD_POLICY_TEXT_BYTES 128
#define TD_POLICY_MAX_FIRST 65536

typedef struct td_policy {
    bool tolerant; /* atol, rtol or ulp is given */
    bool has_ulp, has_real;
    double atol, rtol;
    uint64_t ulp;
    uint8_t nan; /* td_nan_rule */
    bool inf_differ, zero_differ, ftz, check_pad;
    uint64_t max;
    char text[TD_POLICY_TEXT_BYTES]; /* as it was given, or "exact" */
} td_policy;

/* NULL or "" is exact. TD_OPTION with the nearest known word. */
td_status td_policy_parse(const char *text, td_policy *out);

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
