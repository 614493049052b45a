/* Expands presets (preset.h), for layout.c. The user's settings are collected first, the preset's own options added
 * where the user gave none, and then the holes filled. Refuses unknown presets and parameters; layout.c checks the
 * rest. */
#include "layout/preset.h"

#include "base/suggest.h"
#include "base/text.h"
#include "layout/layout.h"
#include "layout/options.h"
#include "values/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS 64
#define WORD_BYTES 64
#define MAX_NESTING 8

typedef struct setting {
    char key[WORD_BYTES], value[WORD_BYTES];
    bool given; /* by the user, not by the preset */
} setting;

typedef struct expansion {
    const td_preset *preset;
    setting setting[MAX_SETTINGS];
    size_t count;
    unsigned bits;
} expansion;

static const char *find_value(const expansion *e, const char *key)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->setting[i].key, key) == 0)
            return e->setting[i].value;
    return NULL;
}

static int find_param(const td_preset *preset, const char *name, size_t length)
{
    for (int i = 0; i < TD_PRESET_PARAMS && preset->param[i].name; i++)
        if (strlen(preset->param[i].name) == length && memcmp(preset->param[i].name, name, length) == 0)
            return i;
    return -1;
}

/* Whether `parameters` of the public entry lists the word. */
static bool is_offered(const td_preset *preset, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = preset->info.parameters; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, word, n) == 0)
            return true;
        at += n + strspn(at + n, " ");
    }
    return false;
}

/* -- settings -- */

static td_status add_setting(expansion *e, const char *key, size_t key_length, const char *value, size_t value_length,
                             bool given)
{
    if (key_length >= WORD_BYTES || value_length >= WORD_BYTES)
        return td_fail(TD_OPTION, "option \"%.40s...\" is longer than %d characters; shorten it", key, WORD_BYTES - 1);
    if (e->count == MAX_SETTINGS)
        return td_fail(TD_OPTION, "preset %s got more than %d options; pass fewer", e->preset->info.name, MAX_SETTINGS);
    setting *s = &e->setting[e->count];
    *s = (setting){.given = given};
    memcpy(s->key, key, key_length);
    memcpy(s->value, value, value_length);
    if (find_value(e, s->key)) {
        if (given)
            return td_fail(TD_OPTION, "option %s is given twice, %s and %s; give it once", s->key,
                           find_value(e, s->key), s->value);
        return TD_OK;
    }
    e->count++;
    return TD_OK;
}

static td_status add_words(expansion *e, const char *text, bool given)
{
    static const char separators[] = " \t\n,";
    for (const char *at = text + strspn(text, separators); *at; at += strspn(at, separators)) {
        const size_t length = strcspn(at, separators);
        const char *equals = memchr(at, '=', length);
        const size_t key_length = equals ? (size_t)(equals - at) : length;
        if (!equals || key_length == 0 || key_length + 1 == length)
            return td_fail(TD_OPTION, "option \"%.*s\" is not KEY=VALUE; write it without spaces, as in cs=4",
                           (int)length, at);
        td_status status = add_setting(e, at, key_length, equals + 1, length - key_length - 1, given);
        if (status)
            return status;
        at += length;
    }
    return TD_OK;
}

/* The element bits that sizes like 256/bits are counted in. */
static td_status find_bits(expansion *e)
{
    const char *name = find_value(e, "dtype");
    td_dtype dtype;
    e->bits = e->preset->bits;
    if (!name)
        return TD_OK;
    td_status status = td_dtype_parse(name, &dtype);
    if (!status)
        e->bits = dtype.bits;
    return status;
}

/* "256/bits" and "bits/4" to numbers. */
static td_status count_bits(const expansion *e, setting *s)
{
    unsigned over = 0, under = 0;
    if (sscanf(s->value, "%u/bits", &over) == 1 && strchr(s->value, '/'))
        under = e->bits;
    else if (sscanf(s->value, "bits/%u", &under) == 1)
        over = e->bits;
    else
        return TD_OK;
    if (over % under || over < under)
        return td_fail(TD_OPTION, "preset %s has no size for elements of %u bits in axis %s; pass %s=N",
                       e->preset->info.name, e->bits, s->key, s->key);
    snprintf(s->value, sizeof s->value, "%u", over / under);
    return TD_OK;
}

/* The preset's options where the user gave none; of pad and tail only one can hold. */
static td_status add_own_options(expansion *e)
{
    const size_t given = e->count;
    const bool user_pads = find_value(e, "pad") || find_value(e, "tail");
    td_status status = find_bits(e);
    if (!status)
        status = add_words(e, e->preset->options, false);
    size_t kept = given;
    for (size_t i = given; i < e->count && !status; i++) {
        setting s = e->setting[i];
        if (user_pads && (strcmp(s.key, "pad") == 0 || strcmp(s.key, "tail") == 0))
            continue;
        status = count_bits(e, &s);
        e->setting[kept++] = s;
    }
    e->count = kept;
    return status;
}

/* -- holes -- */

static td_status check_number(const char *key, const char *value)
{
    uint64_t number = 0;
    const char *at = value;
    if (!td_text_number(&at, &number) || *at)
        return td_fail(TD_OPTION, "option %s=%s: pass a whole number of at least 0", key, value);
    return TD_OK;
}

static td_status fill(const expansion *e, const char *text, int nesting, td_text *out);

static td_status fill_hole(const expansion *e, const char *name, size_t length, int nesting, td_text *out)
{
    char key[WORD_BYTES] = "";
    memcpy(key, name, length < WORD_BYTES ? length : WORD_BYTES - 1);
    const char *value = find_value(e, key);
    if (value) {
        td_status status = check_number(key, value);
        if (!status)
            td_text_add(out, "%s", value);
        return status;
    }
    const int param = find_param(e->preset, name, length);
    const char *own = param >= 0 ? e->preset->param[param].value : NULL;
    if (!own || nesting == MAX_NESTING)
        return td_fail(TD_OPTION, "preset %s has no %s; pass %s=N", e->preset->info.name, key, key);
    const bool number = own[0] >= '0' && own[0] <= '9';
    td_text_add(out, "%s", number ? "" : "(");
    td_status status = fill(e, own, nesting + 1, out);
    td_text_add(out, "%s", number ? "" : ")");
    return status;
}

static td_status fill_ground(const expansion *e, td_text *out)
{
    const char *base = find_value(e, "base"), *beats = find_value(e, "beats");
    td_status status = base ? check_number("base", base) : TD_OK;
    if (!status && beats)
        status = check_number("beats", beats);
    if (base)
        td_text_add(out, "%s + ", base);
    if (beats)
        td_text_add(out, "%s*", beats);
    return status;
}

static td_status fill(const expansion *e, const char *text, int nesting, td_text *out)
{
    td_status status = TD_OK;
    for (const char *at = text; *at && !status;) {
        if (*at == '@') {
            at++;
            status = fill_ground(e, out);
        } else if (*at == '$') {
            size_t length = 0;
            at++;
            while (td_is_name_char(at[length]))
                length++;
            status = fill_hole(e, at, length, nesting, out);
            at += length;
        } else {
            const size_t length = strcspn(at, "@$");
            td_text_add(out, "%.*s", (int)length, at);
            at += length;
        }
    }
    return status;
}

/* -- the whole -- */

static td_status fail_key(const expansion *e, const char *key)
{
    const td_preset *preset = e->preset;
    char words[256];
    const char *known[64];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", preset->info.parameters);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word && count < 32; word = strtok_r(NULL, " ", &rest))
        known[count++] = word;
    for (size_t i = 0; td_layout_option_name(i) && count < 64; i++)
        known[count++] = td_layout_option_name(i);
    const char *nearest = td_suggest(key, known, count);
    if (nearest)
        return td_fail(TD_OPTION, "preset %s has no parameter %s; did you mean %s?", preset->info.name, key, nearest);
    return td_fail(TD_OPTION, "preset %s has no parameter %s; it has %s, and the options of every layout",
                   preset->info.name, key, preset->info.parameters);
}

/* Prints the options without the parameters: sizes of axes and options of the layout. */
static td_status print_options(const expansion *e, const td_pattern *pattern, bool own_address, td_text *out)
{
    td_text_add(out, "%s", "");
    for (size_t i = 0; i < e->count; i++) {
        const setting *s = &e->setting[i];
        if (td_pattern_find(pattern, s->key, strlen(s->key)) >= 0 || td_layout_is_option(s->key)) {
            td_text_add(out, "%s%s=%s", out->used ? " " : "", s->key, s->value);
            continue;
        }
        if (!is_offered(e->preset, s->key))
            return fail_key(e, s->key);
        if (own_address && !strchr(e->preset->pattern, '$'))
            return td_fail(
                TD_OPTION,
                "preset %s got %s=%s and an address of its own; put the value into the address, or drop the address",
                e->preset->info.name, s->key, s->value);
    }
    return TD_OK;
}

static td_status expand(expansion *e, const char *words, const char *options, const char *address, td_text out[3])
{
    td_pattern *pattern = malloc(sizeof *pattern);
    if (!pattern)
        return td_fail_alloc(sizeof *pattern);
    *pattern = (td_pattern){0};
    const bool own_address = address[strspn(address, " \t\n")] != '\0';
    td_status status = add_words(e, words, true);
    if (!status)
        status = add_words(e, options, true);
    if (!status)
        status = add_own_options(e);
    if (!status)
        status = fill(e, e->preset->pattern, 0, &out[0]);
    if (!status && out[0].failed)
        status = td_fail_alloc(out[0].room * 2);
    if (!status)
        status = td_pattern_parse(out[0].text, pattern);
    if (!status)
        status = print_options(e, pattern, own_address, &out[1]);
    td_text_add(&out[2], "%s", own_address ? address : "");
    if (!status && !own_address) {
        const char *own = e->preset->address;
        if (!own && find_value(e, "base"))
            own = "@(index)";
        status = own ? fill(e, own, 0, &out[2]) : TD_OK;
    }
    td_pattern_free(pattern);
    free(pattern);
    if (!status && (out[1].failed || out[2].failed))
        status = td_fail_alloc(out[1].room + out[2].room);
    return status;
}

static td_status find_preset(const char *name, size_t length, const td_preset **out)
{
    const char *known[64];
    size_t count = 0;
    for (size_t i = 0; i < td_presets_count && count < 64; i++) {
        if (strlen(td_presets[i].info.name) == length && memcmp(td_presets[i].info.name, name, length) == 0) {
            *out = &td_presets[i];
            return TD_OK;
        }
        known[count++] = td_presets[i].info.name;
    }
    char *word = strndup(name, length);
    if (!word)
        return td_fail_alloc(length + 1);
    const char *nearest = td_suggest(word, known, count);
    if (nearest)
        td_fail(TD_OPTION, "unknown preset %s; did you mean %s?", word, nearest);
    else
        td_fail(TD_OPTION,
                "unknown preset \"%s\"; td_preset_at and the command `tensordoor presets` list the %zu that there are",
                word, td_presets_count);
    free(word);
    return TD_OPTION;
}

void td_preset_text_free(td_preset_text *text)
{
    free(text->pattern);
    free(text->options);
    free(text->address);
    *text = (td_preset_text){0};
}

td_status td_preset_expand(const char *text, const char *options, const char *address, td_preset_text *out)
{
    const char *name = text + strlen(TD_PRESET_PREFIX);
    name += strspn(name, " \t\n");
    const size_t length = strcspn(name, " \t\n,");
    expansion *e = calloc(1, sizeof *e);
    td_text made[3] = {{0}, {0}, {0}};
    if (!e)
        return td_fail_alloc(sizeof *e);
    td_status status = find_preset(name, length, &e->preset);
    if (!status)
        status = expand(e, name + length, options, address, made);
    free(e);
    td_preset_text filled = {made[0].text, made[1].text, made[2].text};
    if (status)
        td_preset_text_free(&filled);
    else
        *out = filled;
    return status;
}
