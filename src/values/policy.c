/* See policy.h. */
#include "values/policy.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_TEXT "exact, atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, max=N, check_pad and stats"

enum { EXACT, ATOL, RTOL, ULP, NAN_RULE, INF_RULE, ZERO_RULE, FTZ, MAX, CHECK_PAD, STATS, WORDS };

static const char *const words[WORDS] = {
    "exact", "atol=", "rtol=", "ulp=", "nan=", "inf=", "zero=", "ftz", "max=", "check_pad", "stats"};

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
    case STATS:
        policy->stats = true;
        return TD_OK;
    default:
        return TD_OK;
    }
}

/* A testbench repeats itself, and reading a policy takes as long as comparing a hundred elements: each thread keeps its
 * last one, by the text that it holds. */
static _Thread_local td_policy last;

td_status td_policy_parse(const char *text, td_policy *out)
{
    td_policy policy = {.max = 16};
    policy_parser parser = {text, &policy, 0};
    const char *at = text ? text : "";
    if (text && text[0] && strcmp(text, last.text) == 0) {
        *out = last;
        return TD_OK;
    }
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
    *out = last = policy;
    return TD_OK;
}
