/* See packing.h. A name is a text of words that the same parser reads, so that a format is a line of the table below.
 * It refuses words that it does not know and words that stand twice; packing_check.c refuses those that do not go
 * together. */
#include "parts/packing.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct named {
    const char *name, *words;
} named;

/* With the defaults of each format's own document. */
static const named presets[] = {
    {"blocks", "elem=i8 scale=f32 block=32 rule=absmax"},
    {"mxfp8", "elem=e4m3 scale=e8m0 block=32 rule=floor"},
    {"mxfp8_e5m2", "elem=e5m2 scale=e8m0 block=32 rule=floor"},
    {"mxfp6", "elem=e3m2 scale=e8m0 block=32 rule=floor"},
    {"mxfp6_e2m3", "elem=e2m3 scale=e8m0 block=32 rule=floor"},
    {"mxfp4", "elem=e2m1 scale=e8m0 block=32 rule=floor"},
    {"mxint8", "elem=q2.6 scale=e8m0 block=32 rule=floor low=symmetric"},
    {"nvfp4", "elem=e2m1 scale=e4m3 block=16 rule=te global=amax"},
    {"nvfp4_4over6", "elem=e2m1 scale=e4m3 block=16 rule=te global=amax map=mae scale_max=256"},
    {"nvfp4_2d", "elem=e2m1 scale=e4m3 axis=-2,-1 block=16x16 rule=te global=amax"},
    {"bfp8", "elem=u8 scale=u8 block=16 rule=shared"},
    {"bfp4", "elem=u4 scale=u8 block=16 rule=shared"},
    {"int8", "elem=i8 scale=f16 block=128 rule=absmax low=symmetric"},
    {"int4", "elem=i4 scale=f16 block=128 rule=absmax low=symmetric"},
    {"int3", "elem=i3 scale=f16 block=128 rule=absmax low=symmetric"},
    {"int2", "elem=i2 scale=f16 block=128 rule=absmax low=symmetric"},
    {"uint8", "elem=u8 scale=f16 zero=u8 block=128 rule=gptq"},
    {"uint4", "elem=u4 scale=f16 zero=u4 block=128 rule=gptq"},
    {"uint3", "elem=u3 scale=f16 zero=u3 block=128 rule=gptq"},
    {"uint2", "elem=u2 scale=f16 zero=u2 block=128 rule=gptq"},
    {"q4_0", "elem=i4 scale=f16 block=32 rule=ggml tail=error"},
    {"q4_1", "elem=u4 scale=f16 min=f16 block=32 rule=ggml tail=error"},
    {"q5_0", "elem=i5 scale=f16 block=32 rule=ggml tail=error"},
    {"q5_1", "elem=u5 scale=f16 min=f16 block=32 rule=ggml tail=error"},
    {"q8_0", "elem=i8 scale=f16 block=32 rule=ggml tail=error"},
    {"q2_K", "elem=u2 scale=u4 min=u4 super=f16/256 block=16 rule=ggml tail=error"},
    {"q3_K", "elem=i3 scale=i6 super=f16/256 block=16 rule=ggml tail=error"},
    {"q4_K", "elem=u4 scale=u6 min=u6 super=f16/256 block=32 rule=ggml tail=error"},
    {"q5_K", "elem=u5 scale=u6 min=u6 super=f16/256 block=32 rule=ggml tail=error"},
    {"q6_K", "elem=i6 scale=i8 super=f16/256 block=16 rule=ggml tail=error"},
    {"ggml_mxfp4", "elem=e2m1 scale=e8m0 block=32 rule=ggml tail=error"},
    {"ggml_nvfp4", "elem=e2m1 scale=e4m3 block=16 rule=ggml tail=error"},
};

/* In the order of td_scale_rule. */
static const char *const rule_names[] = {"floor",   "even",   "ceil", "rceil", "nearest", "te",
                                         "torchao", "absmax", "gptq", "awq",   "shared",  "ggml"};
static const char *const round_names[] = {"even", "away", "zero", "floor", "ceil"}; /* td_round, but for stochastic */
static const char *const inf_names[] = {"nan", "max"}, *const low_names[] = {"full", "symmetric"},
                         *const codes_names[] = {"stored", "exact"}, *const tail_names[] = {"short", "error"},
                         *const empty_names[] = {"zero", "normal"}, *const void_names[] = {"nan", "zero"},
                         *const map_names[] = {"six", "mae", "mse"}; /* the last in the order of td_six_map */

enum {
    ELEM,
    SCALE,
    AXIS,
    BLOCK,
    RULE,
    ROUND,
    INF,
    LOW,
    ZERO,
    GLOBAL,
    CODES,
    TAIL,
    MIN,
    SUPER,
    EMPTY,
    VOID,
    MAP,
    SCALE_MAX,
    PAD_SCALE
};
static const char *const keys[] = {"elem",  "scale", "axis",   "block",     "rule",     "round", "inf",
                                   "low",   "zero",  "global", "codes",     "tail",     "min",   "super",
                                   "empty", "void",  "map",    "scale_max", "pad_scale"};
#define KEYS_TEXT                                                                                                      \
    "elem=, scale=, axis=, block=, rule=, round=, inf=, low=, zero=, global=, codes=, tail=, min=, super=, empty=, "   \
    "void=, map=, scale_max=, pad_scale="

typedef struct parser {
    const char *text; /* the whole string, for messages */
    unsigned seen;    /* 1 << key */
    td_packing *out;
} parser;

/* -- values of words -- */

static td_status read_choice(const parser *p, const char *key, const char *value, const char *const *names,
                             size_t count, uint8_t *out)
{
    td_text list = {0};
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0) {
            *out = (uint8_t)i;
            return TD_OK;
        }
    for (size_t i = 0; i < count; i++)
        td_text_add(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
    const char *near = td_suggest(value, names, count);
    const td_status status =
        td_fail(TD_OPTION, "%s=%s in packing \"%s\": %s%s%s%s", key, value, p->text, near ? "did you mean " : "pass ",
                near ? near : "", near ? "? pass " : "", list.text ? list.text : "");
    td_free(list.text);
    return status;
}

static td_status read_switch(const parser *p, const char *key, const char *value, const char *const *names, bool *out)
{
    uint8_t number = 0;
    const td_status status = read_choice(p, key, value, names, 2, &number);
    if (!status)
        *out = number == 1;
    return status;
}

static td_status read_axes(const parser *p, const char *value)
{
    td_packing *k = p->out;
    const char *at = value;
    k->axis_count = 0;
    for (;; at++) {
        const bool negative = *at == '-';
        uint64_t number = 0;
        at += negative;
        if (!td_text_number(&at, &number) || number > TD_MAX_RANK || k->axis_count == TD_MAX_RANK ||
            (*at && *at != ','))
            return td_fail(
                TD_OPTION,
                "axis=%s in packing \"%s\" is not a list of dimensions; pass numbers like axis=1, axis=-1 or "
                "axis=0,1",
                value, p->text);
        k->axis[k->axis_count++] = negative ? -(int)number : (int)number;
        if (!*at)
            return TD_OK;
    }
}

static td_status read_blocks(const parser *p, const char *value)
{
    td_packing *k = p->out;
    const char *at = value;
    for (size_t count = 0;; at++) {
        uint64_t number = TD_BLOCK_ALL;
        if (strncmp(at, "all", 3) == 0)
            at += 3;
        else if (!td_text_number(&at, &number) || number == 0)
            at = "?"; /* neither a number nor the end */
        if ((*at && *at != 'x') || count == TD_MAX_RANK)
            return td_fail(TD_OPTION,
                           "block=%s in packing \"%s\" is not a size from 1 on; pass one like block=32, block=16x16 or "
                           "block=all",
                           value, p->text);
        k->block[count++] = number;
        if (!*at) {
            for (; count < TD_MAX_RANK; count++)
                k->block[count] = UINT64_MAX; /* not given: td_packing_check */
            return TD_OK;
        }
    }
}

static td_status read_zero(const parser *p, const char *value)
{
    p->out->zeros = strcmp(value, "none") != 0;
    return p->out->zeros ? td_dtype_parse(value, &p->out->zero) : TD_OK;
}

static td_status read_min(const parser *p, const char *value)
{
    p->out->mins = strcmp(value, "none") != 0;
    return p->out->mins ? td_dtype_parse(value, &p->out->min) : TD_OK;
}

static td_status read_super(const parser *p, const char *value)
{
    td_packing *k = p->out;
    const char *slash = strchr(value, '/'), *at = slash ? slash + 1 : "";
    char name[TD_DTYPE_NAME_BYTES];
    k->supers = strcmp(value, "none") != 0;
    if (!k->supers)
        return TD_OK;
    if (!slash || (size_t)(slash - value) >= sizeof name || !td_text_number(&at, &k->super_block) || *at)
        return td_fail(TD_OPTION,
                       "super=%s in packing \"%s\" is not a dtype and the elements that share one; pass something like "
                       "super=f16/256, or none",
                       value, p->text);
    snprintf(name, sizeof name, "%.*s", (int)(slash - value), value);
    return td_dtype_parse(name, &k->super);
}

static td_status read_global(const parser *p, const char *value)
{
    td_packing *k = p->out;
    char *end = NULL;
    if (strcmp(value, "none") == 0 || strcmp(value, "amax") == 0) {
        k->global = value[0] == 'n' ? TD_GLOBAL_NONE : TD_GLOBAL_AMAX;
        return TD_OK;
    }
    k->global = TD_GLOBAL_GIVEN;
    k->global_scale = td_text_real_f32(value, &end);
    if (end != value && !*end && isfinite(k->global_scale) && k->global_scale > 0)
        return TD_OK;
    return td_fail(TD_OPTION, "global=%s in packing \"%s\" is not a scale; pass amax, none, or a number above 0", value,
                   p->text);
}

static td_status read_scale_max(const parser *p, const char *value)
{
    char *end = NULL;
    p->out->scale_max = td_text_real_f32(value, &end);
    if (end != value && !*end && isfinite(p->out->scale_max) && p->out->scale_max > 0)
        return TD_OK;
    return td_fail(TD_OPTION, "scale_max=%s in packing \"%s\" is not a scale; pass a number above 0, as scale_max=256",
                   value, p->text);
}

/* A text that layouts take behind pad=. */
static td_status read_pad_scale(const parser *p, const char *value)
{
    if (strlen(value) >= TD_PACKING_PAD_BYTES || !*value)
        return td_fail(TD_OPTION, "pad_scale=%.40s in packing \"%.40s\" is not a number; pass one, as pad_scale=1",
                       value, p->text);
    snprintf(p->out->pad_scale, sizeof p->out->pad_scale, "%s", value);
    return TD_OK;
}

static td_status read_value(const parser *p, int key, const char *value)
{
    td_packing *k = p->out;
    switch (key) {
    case ELEM:
        return td_dtype_parse(value, &k->elem);
    case SCALE:
        return td_dtype_parse(value, &k->scale);
    case AXIS:
        return read_axes(p, value);
    case BLOCK:
        return read_blocks(p, value);
    case RULE:
        return read_choice(p, keys[key], value, rule_names, COUNT(rule_names), &k->rule);
    case ROUND:
        return read_choice(p, keys[key], value, round_names, COUNT(round_names), &k->round);
    case INF:
        return read_switch(p, keys[key], value, inf_names, &k->inf_is_max);
    case LOW:
        return read_switch(p, keys[key], value, low_names, &k->symmetric);
    case ZERO:
        return read_zero(p, value);
    case GLOBAL:
        return read_global(p, value);
    case MIN:
        return read_min(p, value);
    case SUPER:
        return read_super(p, value);
    case EMPTY:
        return read_switch(p, keys[key], value, empty_names, &k->empty_is_normal);
    case VOID:
        return read_switch(p, keys[key], value, void_names, &k->void_is_zero);
    case MAP:
        return read_choice(p, keys[key], value, map_names, COUNT(map_names), &k->map);
    case SCALE_MAX:
        return read_scale_max(p, value);
    case PAD_SCALE:
        return read_pad_scale(p, value);
    case CODES:
        return read_switch(p, keys[key], value, codes_names, &k->exact_codes);
    default:
        return read_switch(p, keys[key], value, tail_names, &k->whole_blocks);
    }
}

/* -- words -- */

static td_status read_word(parser *p, char *word)
{
    char *equals = strchr(word, '=');
    int key = 0;
    if (equals)
        *equals = 0;
    while (key < (int)COUNT(keys) && strcmp(word, keys[key]) != 0)
        key++;
    for (size_t i = 0; i < COUNT(rule_names) && !equals; i++)
        if (strcmp(word, rule_names[i]) == 0)
            return td_fail(TD_OPTION, "unknown word \"%s\" in packing \"%s\"; write rule=%s", word, p->text, word);
    if (!equals || key == (int)COUNT(keys)) {
        const char *near = td_suggest(word, keys, COUNT(keys));
        return td_fail(TD_OPTION, "unknown word \"%s%s\" in packing \"%s\"; %s%s%s" KEYS_TEXT, word, equals ? "=" : "",
                       p->text, near ? "did you mean \"" : "the words are ", near ? near : "",
                       near ? "=\"? the words are " : "");
    }
    if (p->seen >> key & 1)
        return td_fail(TD_OPTION, "packing \"%s\" says %s= twice; keep one of them", p->text, word);
    p->seen |= 1U << key;
    return read_value(p, key, equals + 1);
}

static td_status read_words(parser *p, const char *at)
{
    char word[128];
    td_status status = TD_OK;
    while (!status) {
        at += strspn(at, " \t");
        const size_t length = strcspn(at, " \t");
        if (length == 0)
            break;
        if (length >= sizeof word)
            return td_fail(TD_OPTION,
                           "a word of packing \"%.40s...\" has %zu letters, and a word has at most %zu; shorten it",
                           p->text, length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = 0;
        at += length;
        status = read_word(p, word);
    }
    return status;
}

static td_status find_preset(const char *text, const char *name, const named **out)
{
    const char *known[COUNT(presets)];
    td_text list = {0};
    for (size_t i = 0; i < COUNT(presets); i++)
        if (strcmp(name, presets[i].name) == 0) {
            *out = &presets[i];
            return TD_OK;
        }
    for (size_t i = 0; i < COUNT(presets); i++) {
        known[i] = presets[i].name;
        td_text_add(&list, "%s%s", i ? ", " : "", known[i]);
    }
    const char *near = td_suggest(name, known, COUNT(known));
    const td_status status = td_fail(
        TD_OPTION,
        "packing \"%s\" begins with \"%s\", which is no packing; %s%s%s%s, 2:4, mask, csr, csc, coo, runs, nvdla", text,
        name, near ? "did you mean \"" : "they are ", near ? near : "", near ? "\"? they are " : "",
        list.text ? list.text : "");
    td_free(list.text);
    return status;
}

/* -- the whole -- */

const char *td_packing_rule(const td_packing *k)
{
    return rule_names[k->rule];
}

td_status td_packing_parse(const char *text, td_packing *out)
{
    td_packing packing = {.axis_count = 1, .axis = {-1}};
    parser p = {text, 0, &packing};
    const named *preset = NULL;
    const char *at = text + strspn(text, " \t");
    const size_t length = strcspn(at, " \t");
    char name[TD_PACKING_NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
    td_status status = find_preset(text, name, &preset);
    if (status)
        return status;
    memcpy(packing.name, name, sizeof name);
    status = read_words(&p, preset->words);
    p.seen = 0;
    if (!status)
        status = read_words(&p, at + length);
    if (!status)
        status = td_packing_check(&packing, text);
    if (!status)
        *out = packing;
    return status;
}

void td_packing_print(const td_packing *k, char *text)
{
    char elem[TD_DTYPE_NAME_BYTES], scale[TD_DTYPE_NAME_BYTES];
    size_t used = 0;
#define ADD(...) (used += (size_t)td_text_print(text + used, TD_PACKING_TEXT_BYTES - used, __VA_ARGS__))
    td_dtype_print(k->elem, elem);
    td_dtype_print(k->scale, scale);
    ADD("%s elem=%s scale=%s axis=", k->name, elem, scale);
    for (size_t i = 0; i < k->axis_count; i++)
        ADD("%s%d", i ? "," : "", k->axis[i]);
    ADD(" block=");
    for (size_t i = 0; i < k->axis_count; i++) {
        ADD("%s", i ? "x" : "");
        if (k->block[i] == TD_BLOCK_ALL)
            ADD("all");
        else
            ADD("%" PRIu64, k->block[i]);
    }
    ADD(" rule=%s", rule_names[k->rule]);
    if (k->rule < TD_RULE_SHARED)
        ADD(" round=%s inf=%s", round_names[k->round], inf_names[k->inf_is_max]);
    if (k->elem.kind == TD_KIND_INT && k->rule != TD_RULE_GGML)
        ADD(" low=%s", low_names[k->symmetric]);
    if (k->zeros) {
        char zero[TD_DTYPE_NAME_BYTES];
        td_dtype_print(k->zero, zero);
        ADD(" zero=%s", zero);
    }
    if (k->rule == TD_RULE_TE || k->rule == TD_RULE_TORCHAO) {
        if (k->global == TD_GLOBAL_GIVEN)
            ADD(" global=%.9g", (double)k->global_scale);
        else
            ADD(" global=%s", k->global == TD_GLOBAL_AMAX ? "amax" : "none");
    }
    if (k->map)
        ADD(" map=%s", map_names[k->map]);
    if (k->scale_max != 0)
        ADD(" scale_max=%.9g", (double)k->scale_max);
    if (k->empty_is_normal)
        ADD(" empty=normal");
    if (k->void_is_zero)
        ADD(" void=zero");
    if (*k->pad_scale)
        ADD(" pad_scale=%s", k->pad_scale);
    if (k->mins) {
        char min[TD_DTYPE_NAME_BYTES];
        td_dtype_print(k->min, min);
        ADD(" min=%s", min);
    }
    if (k->supers) {
        char super[TD_DTYPE_NAME_BYTES];
        td_dtype_print(k->super, super);
        ADD(" super=%s/%" PRIu64, super, k->super_block);
    }
    if (k->rule >= TD_RULE_ABSMAX && k->rule < TD_RULE_SHARED)
        ADD(" codes=%s", codes_names[k->exact_codes]);
    ADD(" tail=%s", tail_names[k->whole_blocks]);
#undef ADD
}

bool td_packing_name(const td_packing *k, char *name)
{
    char text[TD_PACKING_TEXT_BYTES], own[TD_PACKING_TEXT_BYTES];
    td_packing_print(k, own);
    for (size_t i = 0; i < COUNT(presets); i++) {
        td_packing preset;
        if (td_packing_parse(presets[i].name, &preset))
            continue;
        if (preset.axis_count == k->axis_count) { /* how many axes and how long, is part of a name; which ones is not */
            memcpy(preset.axis, k->axis, sizeof preset.axis);
            td_packing_print(&preset, text);
            if (strcmp(text + strlen(preset.name), own + strlen(k->name)) == 0) {
                memcpy(name, preset.name, sizeof preset.name);
                return true;
            }
        }
    }
    return false;
}
