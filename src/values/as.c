/* See as.h. It refuses words that it does not know, words that stand twice, and words that the dtype has no use for. */
#include "values/as.h"
#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_TEXT "scale=, zero=, axis=, round=, seed=, sat, inf, wrap, error, ftz"

static const char *const round_names[] = {"even", "away", "zero", "floor", "ceil", "stochastic"};
static const char *const over_names[] = {"default", "sat", "wrap", "error", "inf"};

enum { SEEN_ROUND = 1, SEEN_OVER = 2, SEEN_SEED = 4, SEEN_AXIS = 8, SEEN_SCALE = 16, SEEN_ZERO = 32, SEEN_FTZ = 64 };

typedef struct as_parser {
    const char *text; /* the whole string, for messages */
    unsigned seen;
    td_as *as;
} as_parser;

static td_status once(as_parser *p, unsigned bit, const char *word)
{
    if (p->seen & bit)
        return td_fail(TD_OPTION, "as \"%s\" says %s twice; keep one of them", p->text, word);
    p->seen |= bit;
    return TD_OK;
}

static td_status copy_name(const as_parser *p, const char *key, const char *name, char *out, size_t bytes)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= bytes)
        return td_fail(TD_OPTION,
                       "%s in as \"%s\" has a name of %zu letters, and a name has 1 to %zu; pass a shorter one", key,
                       p->text, length, bytes - 1);
    memcpy(out, name, length + 1);
    return TD_OK;
}

static td_status read_scale(const as_parser *p, const char *value)
{
    td_as *as = p->as;
    as->has_scale = true;
    if (*value == '@')
        return copy_name(p, "scale=@", value + 1, as->scale_name, sizeof as->scale_name);
    char *end = NULL;
    const double scale = td_text_real(value, &end);
    if (end == value || *end || !isfinite(scale) || scale == 0)
        return td_fail(TD_OPTION,
                       "scale=%s in as \"%s\" is not a finite number other than 0; pass one like scale=0.05, or "
                       "scale=@NAME for a tensor of scales",
                       value, p->text);
    as->scale_f64 = scale;
    as->scale_f32 = td_text_real_f32(value, NULL); /* from the text: rounded once */
    return TD_OK;
}

/* A decimal or 0x integer, whole. */
static bool read_int(const char *value, bool sign, uint64_t *out)
{
    static const td_dtype i64 = {TD_KIND_INT, 64, 0, 8, 0, 0, 0, 0};
    static const td_dtype u64 = {TD_KIND_UINT, 64, 0, 8, 0, 0, 0, 0};
    return *value && td_dtype_from_text(sign ? i64 : u64, value, out) == TD_OK;
}

static td_status read_zero(const as_parser *p, const char *value)
{
    td_as *as = p->as;
    as->has_zero = true;
    if (*value == '@')
        return copy_name(p, "zero=@", value + 1, as->zero_name, sizeof as->zero_name);
    uint64_t bits = 0;
    if (!read_int(value, true, &bits))
        return td_fail(TD_OPTION,
                       "zero=%s in as \"%s\" is not an integer of 64 bits; pass one like zero=3, or zero=@NAME", value,
                       p->text);
    as->zero = (int64_t)bits;
    return TD_OK;
}

static td_status read_round(const as_parser *p, const char *value)
{
    const size_t count = sizeof round_names / sizeof round_names[0];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, round_names[i]) == 0) {
            p->as->round = (uint8_t)i;
            return TD_OK;
        }
    }
    const char *near = td_suggest(value, round_names, count);
    return td_fail(TD_OPTION,
                   "round=%s in as \"%s\" is not a rounding; %s%s%s even, away, zero, floor, ceil or stochastic", value,
                   p->text, near ? "did you mean " : "pass", near ? near : "", near ? "? pass" : "");
}

static td_status read_pair(as_parser *p, const char *key, const char *value)
{
    td_status status = TD_OK;
    if (strcmp(key, "scale") == 0)
        return (status = once(p, SEEN_SCALE, "scale=")) ? status : read_scale(p, value);
    if (strcmp(key, "zero") == 0)
        return (status = once(p, SEEN_ZERO, "zero=")) ? status : read_zero(p, value);
    if (strcmp(key, "round") == 0)
        return (status = once(p, SEEN_ROUND, "round=")) ? status : read_round(p, value);
    if (strcmp(key, "axis") == 0)
        return (status = once(p, SEEN_AXIS, "axis=")) ? status
                                                      : copy_name(p, "axis=", value, p->as->axis, sizeof p->as->axis);
    if (strcmp(key, "seed") == 0) {
        if ((status = once(p, SEEN_SEED, "seed=")))
            return status;
        if (read_int(value, false, &p->as->seed))
            return TD_OK;
        return td_fail(TD_OPTION, "seed=%s in as \"%s\" is not an integer from 0 to 2^64 - 1; pass one like seed=1",
                       value, p->text);
    }
    static const char *const keys[] = {"scale", "zero", "axis", "round", "seed"};
    const char *near = td_suggest(key, keys, sizeof keys / sizeof keys[0]);
    return td_fail(TD_OPTION, "unknown key \"%s=\" in as \"%s\"; %s%s%s " WORDS_TEXT, key, p->text,
                   near ? "did you mean \"" : "the words are", near ? near : "", near ? "=\"? the words are" : "");
}

static td_status read_word(as_parser *p, const char *word)
{
    td_status status = TD_OK;
    for (size_t i = TD_OVER_SAT; i < sizeof over_names / sizeof over_names[0]; i++) {
        if (strcmp(word, over_names[i]) == 0) {
            if (p->seen & SEEN_OVER)
                return td_fail(TD_OPTION, "as \"%s\" says %s and %s; keep one of them", p->text,
                               over_names[p->as->over], word);
            p->seen |= SEEN_OVER;
            p->as->over = (uint8_t)i;
            return TD_OK;
        }
    }
    if (strcmp(word, "ftz") == 0) {
        if ((status = once(p, SEEN_FTZ, "ftz")))
            return status;
        p->as->ftz = true;
        return TD_OK;
    }
    for (size_t i = 0; i < sizeof round_names / sizeof round_names[0]; i++) {
        if (strcmp(word, round_names[i]) == 0)
            return td_fail(TD_OPTION, "unknown word \"%s\" in as \"%s\"; write round=%s", word, p->text, word);
    }
    static const char *const known[] = {"sat",    "inf",   "wrap",  "error",  "ftz",
                                        "scale=", "zero=", "axis=", "round=", "seed="};
    const char *near = td_suggest(word, known, sizeof known / sizeof known[0]);
    return td_fail(TD_OPTION, "unknown word \"%s\" in as \"%s\"; %s%s%s " WORDS_TEXT, word, p->text,
                   near ? "did you mean \"" : "the words are", near ? near : "", near ? "\"? the words are" : "");
}

/* Words that the dtype has no use for, and words that need each other. */
static td_status check(const as_parser *p)
{
    const td_as *as = p->as;
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(as->dtype, name);
    const bool is_float = as->dtype.kind == TD_KIND_FLOAT;
    if (as->over == TD_OVER_WRAP && is_float)
        return td_fail(TD_OPTION,
                       "wrap in as \"%s\" needs an integer or fixed point, and %s is a float; use sat, inf or error",
                       p->text, name);
    if (as->over == TD_OVER_INF && !is_float)
        return td_fail(TD_OPTION, "inf in as \"%s\" needs a float, and %s has no infinity; use sat, wrap or error",
                       p->text, name);
    if (as->has_zero && (is_float || as->dtype.fixed))
        return td_fail(TD_OPTION, "zero= in as \"%s\" needs an integer, and %s is %s; leave it out", p->text, name,
                       is_float ? "a float" : "fixed point");
    if (as->has_zero && !as->zero_name[0]) {
        const int64_t max = as->dtype.bits == 64 ? INT64_MAX : (int64_t)td_dtype_max_bits(as->dtype);
        const int64_t min = as->dtype.kind == TD_KIND_INT ? -max - 1 : 0;
        if (as->zero < min || as->zero > max)
            return td_fail(TD_OPTION,
                           "zero=%" PRId64 " in as \"%s\" is not in %s; pass a zero point from %" PRId64 " to %" PRId64,
                           as->zero, p->text, name, min, max);
    }
    if ((p->seen & SEEN_SEED) && as->round != TD_ROUND_STOCHASTIC)
        return td_fail(TD_OPTION, "seed= in as \"%s\" needs round=stochastic; add it or leave the seed out", p->text);
    if ((p->seen & SEEN_AXIS) && !as->scale_name[0] && !as->zero_name[0])
        return td_fail(TD_OPTION,
                       "axis=%s in as \"%s\" needs a tensor of scales along it; add scale=@NAME or leave the axis out",
                       as->axis, p->text);
    return TD_OK;
}

td_status td_as_parse(const char *text, td_dtype tensor, td_as *out)
{
    td_as as;
    memset(&as, 0, sizeof as);
    as.dtype = tensor;
    as.scale_f32 = 1;
    as.scale_f64 = 1;
    as_parser parser = {text, 0, &as};
    const char *at = text ? text : "";
    bool first = true;
    for (;;) {
        char word[TD_AS_NAME_BYTES + 16];
        at += strspn(at, " \t");
        const size_t length = strcspn(at, " \t");
        if (length == 0)
            break;
        if (length >= sizeof word)
            return td_fail(TD_OPTION,
                           "a word of as \"%.40s...\" has %zu letters, and a word has at most %zu; pass a shorter name",
                           text, length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = 0;
        at += length;

        td_status status = TD_OK;
        char *equals = strchr(word, '=');
        if (first && equals)
            return td_fail(TD_OPTION,
                           "as \"%s\" begins with \"%s\" and not with a dtype; write what the memory holds first, like "
                           "\"i8 %s\"",
                           text, word, word);
        if (first) {
            status = td_dtype_parse(word, &as.dtype);
        } else if (equals) {
            *equals = 0;
            status = read_pair(&parser, word, equals + 1);
        } else {
            status = read_word(&parser, word);
        }
        if (status)
            return status;
        first = false;
    }
    const td_status status = check(&parser);
    if (status)
        return status;
    *out = as;
    return TD_OK;
}
