/* See policy.h. */
#include "compare/policy.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_TEXT "exact, atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, max=N and check_pad"

enum { EXACT, ATOL, RTOL, ULP, NAN_RULE, INF_RULE, ZERO_RULE, FTZ, MAX, CHECK_PAD, WORDS };

static const char *const words[WORDS] = {
    "exact", "atol=", "rtol=", "ulp=", "nan=", "inf=", "zero=", "ftz", "max=", "check_pad"};

typedef struct policy_parser {
    const char *text;
    td_policy *policy;
    unsigned seen;
} policy_parser;

static td_status fail_unknown(const policy_parser *p, const char *word)
{
    const char *near = td_suggest(word, words, WORDS);
    char key[40]; /* "atoll=1e-3" is a slip of "atol=": compare what is before the value */
    const size_t length = strcspn(word, "=");
    if (!near && word[length] == '=' && length + 2 < sizeof key) {
        memcpy(key, word, length + 1);
        key[length + 1] = 0;
        near = td_suggest(key, words, WORDS);
    }
    return td_fail(TD_OPTION, "unknown word \"%s\" in policy \"%s\"; %s%s%s " WORDS_TEXT, word, p->text,
                   near ? "did you mean \"" : "the words are", near ? near : "", near ? "\"? the words are" : "");
}

static td_status read_real(const policy_parser *p, int word, const char *value, double *out)
{
    char *end = NULL;
    const double real = td_text_real(value, &end);
    if (end == value || *end || !(real >= 0) || isinf(real))
        return td_fail(TD_OPTION, "%s%s in policy \"%s\" is not a number of at least 0; pass one like %s1e-3",
                       words[word], value, p->text, words[word]);
    *out = real;
    return TD_OK;
}

static td_status read_whole(const policy_parser *p, int word, const char *value, uint64_t least, uint64_t most,
                            uint64_t *out)
{
    uint64_t number = 0;
    const char *at = value;
    bool fits = true;
    for (; *at >= '0' && *at <= '9'; at++)
        fits = fits && !__builtin_mul_overflow(number, 10u, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(*at - '0'), &number);
    if (at == value || *at || !fits || number < least || number > most)
        return td_fail(TD_OPTION,
                       "%s%s in policy \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64
                       "; pass one like %s%d",
                       words[word], value, p->text, least, most, words[word], word == MAX ? 100 : 1);
    *out = number;
    return TD_OK;
}

static td_status read_rule(const policy_parser *p, int word, const char *value, const char *const *names, uint8_t *out)
{
    for (uint8_t i = 0; i < 3 && names[i]; i++)
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return TD_OK;
        }
    return td_fail(TD_OPTION, "%s%s in policy \"%s\"; pass %s%s%s%s%s%s%s", words[word], value, p->text, words[word],
                   names[0], names[2] ? ", " : " or ", words[word], names[1], names[2] ? " or nan=" : "",
                   names[2] ? names[2] : "");
}

static td_status read_word(policy_parser *p, const char *word)
{
    static const char *const nan_names[] = {"bits", "equal", "differ"};
    static const char *const pair_names[] = {"equal", "differ", NULL};
    int which = WORDS;
    for (int i = 0; i < WORDS; i++) {
        const size_t length = strlen(words[i]);
        if (words[i][length - 1] == '=' ? strncmp(word, words[i], length) == 0 : strcmp(word, words[i]) == 0)
            which = i;
    }
    if (which == WORDS)
        return fail_unknown(p, word);
    if (p->seen & 1u << which)
        return td_fail(TD_OPTION, "%s stands twice in policy \"%s\"; keep one of them", words[which], p->text);
    p->seen |= 1u << which;
    td_policy *policy = p->policy;
    const char *value = word + strlen(words[which]);
    uint8_t rule = 0;
    td_status status = TD_OK;
    switch (which) {
    case ATOL:
        return read_real(p, which, value, &policy->atol);
    case RTOL:
        return read_real(p, which, value, &policy->rtol);
    case ULP:
        return read_whole(p, which, value, 0, UINT64_MAX - 1, &policy->ulp);
    case NAN_RULE:
        return read_rule(p, which, value, nan_names, &policy->nan);
    case INF_RULE:
        status = read_rule(p, which, value, pair_names, &rule);
        policy->inf_differ = rule;
        return status;
    case ZERO_RULE:
        status = read_rule(p, which, value, pair_names, &rule);
        policy->zero_differ = rule;
        return status;
    case FTZ:
        policy->ftz = true;
        return TD_OK;
    case MAX:
        return read_whole(p, which, value, 0, TD_POLICY_MAX_FIRST, &policy->max);
    case CHECK_PAD:
        policy->check_pad = true;
        return TD_OK;
    default:
        return TD_OK;
    }
}

td_status td_policy_parse(const char *text, td_policy *out)
{
    td_policy policy = {.max = 16};
    policy_parser parser = {text, &policy, 0};
    const char *at = text ? text : "";
    for (;;) {
        char word[48];
        at += strspn(at, " \t,");
        const size_t length = strcspn(at, " \t,");
        if (length == 0)
            break;
        if (length >= sizeof word)
            return td_fail(
                TD_OPTION,
                "a word of policy \"%.40s...\" has %zu letters, and the longest has %zu; the words are " WORDS_TEXT,
                text, length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = 0;
        at += length;
        const td_status status = read_word(&parser, word);
        if (status)
            return status;
    }
    const unsigned tolerances = 1u << ATOL | 1u << RTOL | 1u << ULP;
    if (parser.seen & 1u << EXACT && parser.seen & tolerances)
        return td_fail(TD_OPTION, "policy \"%s\" says exact and a tolerance; keep one of them", text);
    policy.tolerant = parser.seen & tolerances;
    policy.has_real = parser.seen & (1u << ATOL | 1u << RTOL);
    policy.has_ulp = parser.seen & 1u << ULP;
    if (!(parser.seen & 1u << NAN_RULE))
        policy.nan = policy.tolerant ? TD_NAN_EQUAL : TD_NAN_BITS;
    if (!(parser.seen & 1u << ZERO_RULE))
        policy.zero_differ = !policy.tolerant;
    const char *shown = text && text[strspn(text, " \t,")] ? text : "exact";
    const size_t length = strlen(shown);
    if (length >= sizeof policy.text)
        return td_fail(TD_OPTION,
                       "policy \"%.40s...\" has %zu letters, and a policy has at most %zu; leave out the spaces", shown,
                       length, sizeof policy.text - 1);
    memcpy(policy.text, shown, length + 1);
    *out = policy;
    return TD_OK;
}

/* -- verdicts ------------------------------------------------------------------------------------------------------ */

void td_judge_init(const td_policy *policy, td_dtype dtype, td_judge *out)
{
    td_judge j = {.policy = *policy, .dtype = dtype, .mask = td_dtype_mask(dtype)};
    const bool is_float = dtype.kind == TD_KIND_FLOAT, has_sign = is_float && dtype.flavor != TD_FLAVOR_SCALE;
    j.magnitude = has_sign ? j.mask >> 1 : j.mask;
    j.first_inf = j.first_nan = UINT64_MAX;
    if (is_float && td_dtype_has_nan(dtype)) {
        j.first_inf = td_dtype_max_bits(dtype) + 1;
        j.first_nan = j.first_inf + (td_dtype_has_inf(dtype) ? 1 : 0);
    }
    j.first_normal = has_sign ? (uint64_t)1 << dtype.man_bits : 0;
    j.step = ldexp(1, -(int)dtype.frac_bits);
    j.fast_decode = has_sign && dtype.exp_bits <= 8 && dtype.bits <= 32;
    j.bits_decide = !is_float || (policy->nan != TD_NAN_DIFFER && !policy->inf_differ);
    *out = j;
}

bool td_judge_is_nan(const td_judge *j, uint64_t bits)
{
    return (bits & j->magnitude) >= j->first_nan;
}

double td_judge_value(const td_judge *j, uint64_t bits)
{
    const td_dtype d = j->dtype;
    double value = 0;
    if (d.kind != TD_KIND_FLOAT) {
        const uint64_t wide = td_dtype_extend(d, bits);
        return (d.kind == TD_KIND_INT ? (double)(int64_t)wide : (double)wide) * j->step;
    }
    const uint64_t magnitude = bits & j->magnitude;
    if (!j->fast_decode || magnitude >= j->first_inf)
        return td_dtype_to_real(d, bits);
    const int bias = (1 << (d.exp_bits - 1)) - 1;
    if (magnitude < j->first_normal)
        value = ldexp((double)magnitude, 1 - bias - d.man_bits);
    else {
        /* Every such exponent is a normal one of double: the fields are moved over and the bias is exchanged. */
        const uint64_t image = (magnitude << (52 - d.man_bits)) + ((uint64_t)(1023 - bias) << 52);
        memcpy(&value, &image, sizeof value);
    }
    return (bits & ~j->magnitude & j->mask) != 0 ? -value : value;
}

/* Floats on one line of whole numbers, zero in the middle. */
static int64_t rank_of(const td_judge *j, uint64_t bits)
{
    uint64_t magnitude = bits & j->magnitude;
    if (j->policy.ftz && j->first_normal)
        magnitude = magnitude < j->first_normal ? 0 : magnitude - j->first_normal + 1;
    return (bits & ~j->magnitude & j->mask) != 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

uint64_t td_ulp_distance(const td_judge *j, uint64_t a, uint64_t b)
{
    if (j->dtype.kind == TD_KIND_UINT)
        return a > b ? a - b : b - a;
    int64_t x = 0, y = 0;
    if (j->dtype.kind == TD_KIND_INT) {
        x = (int64_t)td_dtype_extend(j->dtype, a);
        y = (int64_t)td_dtype_extend(j->dtype, b);
    } else {
        x = rank_of(j, a);
        y = rank_of(j, b);
    }
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static uint64_t flushed(const td_judge *j, uint64_t bits)
{
    return (bits & j->magnitude) < j->first_normal ? bits & ~j->magnitude : bits;
}

td_verdict td_judge_pair(const td_judge *j, uint64_t expected, uint64_t actual)
{
    const td_policy *p = &j->policy;
    td_verdict v = {0};
    if (j->dtype.kind != TD_KIND_FLOAT) {
        v.ulp = td_ulp_distance(j, expected, actual);
        v.error = (double)v.ulp * j->step;
        v.equal = v.ulp == 0 || (p->has_ulp && v.ulp <= p->ulp);
        if (!v.equal && p->has_real)
            v.equal = (long double)v.ulp * (long double)j->step <=
                      (long double)p->atol + (long double)p->rtol * fabsl((long double)td_judge_value(j, expected));
        return v;
    }
    const bool expected_nan = td_judge_is_nan(j, expected), actual_nan = td_judge_is_nan(j, actual);
    if (expected_nan || actual_nan) {
        v.apart = true;
        v.equal =
            (p->nan == TD_NAN_BITS && expected == actual) || (p->nan == TD_NAN_EQUAL && expected_nan && actual_nan);
        return v;
    }
    if (p->ftz) {
        expected = flushed(j, expected);
        actual = flushed(j, actual);
    }
    v.ulp = td_ulp_distance(j, expected, actual);
    const bool infinite = (expected & j->magnitude) >= j->first_inf || (actual & j->magnitude) >= j->first_inf;
    if (infinite) {
        v.error = expected == actual ? 0 : INFINITY;
        v.equal = expected == actual && !p->inf_differ;
        return v;
    }
    const double e = td_judge_value(j, expected), a = td_judge_value(j, actual);
    v.error = fabs(a - e);
    if (v.ulp == 0) {
        v.equal = expected == actual || !p->zero_differ;
        return v;
    }
    v.equal = (p->has_ulp && v.ulp <= p->ulp) || (p->has_real && v.error <= p->atol + p->rtol * fabs(e));
    return v;
}
