/* The policy string of a comparison: when two elements count as equal. judge.h applies it to a pair.
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
 *     check_pad           the padding must hold its value too
 *     stats               statistics over all pairs are computed */
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
    bool inf_differ, zero_differ, ftz, check_pad, stats;
    uint64_t max;
    char text[TD_POLICY_TEXT_BYTES]; /* as it was given, or "exact" */
} td_policy;

/* NULL or "" is exact. TD_OPTION with the nearest known word. */
td_status td_policy_parse(const char *text, td_policy *out);

#endif
