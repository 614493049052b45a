/* The options of a layout: one table with a reader and a printer for each, and the sizes of axes beside them. Called by
 * layout.c, and for the names by preset.c. Refuses unknown and repeated options, and those that
 * contradict each other or a flat pattern. */
#include "layout/options.h"

#include "base/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 64
#define VALUE_BYTES 4096 /* a path */

typedef struct option {
    const char *key;
    td_status (*set)(td_layout *layout, const char *value);
    void (*print)(const td_layout *layout, td_text *out); /* nothing when the option has its default */
} option;

static td_status fail_value(const char *key, const char *value, const char *need)
{
    return td_fail(TD_OPTION, "option %s=%s: %s", key, value, need);
}

static td_status parse_count(const char *key, const char *value, uint64_t least, uint64_t *out)
{
    const char *at = value;
    uint64_t number = 0;
    if (!td_text_number(&at, &number) || *at || number < least) {
        char need[64];
        snprintf(need, sizeof need, "pass a whole number of at least %" PRIu64, least);
        return fail_value(key, value, need);
    }
    *out = number;
    return TD_OK;
}

/* One of two words. */
static td_status parse_choice(const char *key, const char *value, const char *no, const char *yes, bool *out)
{
    if (strcmp(value, yes) == 0)
        *out = true;
    else if (strcmp(value, no) == 0)
        *out = false;
    else {
        char need[64];
        snprintf(need, sizeof need, "pass %s or %s", no, yes);
        return fail_value(key, value, need);
    }
    return TD_OK;
}

static td_status set_pad(td_layout *layout, const char *value)
{
    char *end = NULL;
    (void)td_text_real(value, &end);
    if (end == value || *end)
        return fail_value("pad", value, "pass a number in the memory's dtype, as in pad=0, pad=-1 or pad=0.5");
    layout->pad = strdup(value);
    return layout->pad ? TD_OK : td_fail_alloc(strlen(value) + 1);
}

static td_status set_pad_at(td_layout *layout, const char *value)
{
    return parse_choice("pad_at", value, "end", "begin", &layout->pad_begin);
}

static td_status set_tail(td_layout *layout, const char *value)
{
    if (strcmp(value, "clip") != 0)
        return fail_value("tail", value, "pass tail=clip, or pad=VALUE to write padding");
    layout->clip = true;
    return TD_OK;
}

static td_status set_slot(td_layout *layout, const char *value)
{
    return parse_count("slot", value, 1, &layout->slot_bits);
}

static td_status set_lsb(td_layout *layout, const char *value)
{
    return parse_count("lsb", value, 0, &layout->lsb_bits);
}

static td_status set_lanes(td_layout *layout, const char *value)
{
    return parse_choice("lanes", value, "lsb", "msb", &layout->lanes_msb);
}

static td_status set_beats(td_layout *layout, const char *value)
{
    return parse_count("beats", value, 1, &layout->beats);
}

static td_status set_fill(td_layout *layout, const char *value)
{
    return parse_choice("fill", value, "zero", "keep", &layout->keep);
}

static td_status set_addr_unit(td_layout *layout, const char *value)
{
    return parse_choice("addr_unit", value, "word", "byte", &layout->byte_addresses);
}

static td_status set_alias(td_layout *layout, const char *value)
{
    return parse_choice("alias", value, "error", "last", &layout->alias_last);
}

static td_status set_elf(td_layout *layout, const char *value)
{
    layout->elf = strdup(value);
    return layout->elf ? TD_OK : td_fail_alloc(strlen(value) + 1);
}

static td_status set_tune(td_layout *layout, const char *value)
{
    return parse_choice("tune", value, "off", "on", &layout->tune);
}

static td_status set_dtype(td_layout *layout, const char *value)
{
    td_status status = td_dtype_parse(value, &layout->dtype);
    if (status)
        return status;
    layout->dtype_text = malloc(TD_DTYPE_NAME_BYTES);
    if (!layout->dtype_text)
        return td_fail_alloc(TD_DTYPE_NAME_BYTES);
    td_dtype_print(layout->dtype, layout->dtype_text);
    return TD_OK;
}

static void print_pad(const td_layout *layout, td_text *out)
{
    if (layout->pad)
        td_text_add(out, " pad=%s", layout->pad);
}

static void print_pad_at(const td_layout *layout, td_text *out)
{
    if (layout->pad_begin)
        td_text_add(out, " pad_at=begin");
}

static void print_tail(const td_layout *layout, td_text *out)
{
    if (layout->clip)
        td_text_add(out, " tail=clip");
}

static void print_slot(const td_layout *layout, td_text *out)
{
    if (layout->slot_bits)
        td_text_add(out, " slot=%" PRIu64, layout->slot_bits);
}

static void print_lsb(const td_layout *layout, td_text *out)
{
    if (layout->lsb_bits)
        td_text_add(out, " lsb=%" PRIu64, layout->lsb_bits);
}

static void print_lanes(const td_layout *layout, td_text *out)
{
    if (layout->lanes_msb)
        td_text_add(out, " lanes=msb");
}

static void print_beats(const td_layout *layout, td_text *out)
{
    if (layout->beats > 1)
        td_text_add(out, " beats=%" PRIu64, layout->beats);
}

static void print_fill(const td_layout *layout, td_text *out)
{
    if (layout->keep && !layout->flat)
        td_text_add(out, " fill=keep");
}

static void print_addr_unit(const td_layout *layout, td_text *out)
{
    if (layout->byte_addresses)
        td_text_add(out, " addr_unit=byte");
}

static void print_alias(const td_layout *layout, td_text *out)
{
    if (layout->alias_last)
        td_text_add(out, " alias=last");
}

/* An address prints its symbols as the constants that they are, so that the file is not needed again. */
static void print_elf(const td_layout *layout, td_text *out)
{
    (void)layout, (void)out;
}

static void print_tune(const td_layout *layout, td_text *out)
{
    if (layout->tune)
        td_text_add(out, " tune=on");
}

static void print_dtype(const td_layout *layout, td_text *out)
{
    if (layout->dtype_text)
        td_text_add(out, " dtype=%s", layout->dtype_text);
}

static const option options[] = {
    {"pad", set_pad, print_pad},       {"pad_at", set_pad_at, print_pad_at},
    {"tail", set_tail, print_tail},    {"slot", set_slot, print_slot},
    {"lsb", set_lsb, print_lsb},       {"lanes", set_lanes, print_lanes},
    {"beats", set_beats, print_beats}, {"fill", set_fill, print_fill},
    {"alias", set_alias, print_alias}, {"dtype", set_dtype, print_dtype},
    {"tune", set_tune, print_tune},    {"addr_unit", set_addr_unit, print_addr_unit},
    {"elf", set_elf, print_elf},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static const option *find_option(const char *key)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(options[i].key, key) == 0)
            return &options[i];
    return NULL;
}

bool td_layout_is_option(const char *key)
{
    return find_option(key) != NULL;
}

const char *td_layout_option_name(size_t number)
{
    return number < OPTIONS ? options[number].key : NULL;
}

static td_status fail_unknown(const td_layout *layout, const char *key)
{
    const char *known[TD_MAX_AXES + OPTIONS];
    size_t count = 0;
    for (int i = 0; i < layout->pattern.axis_count; i++)
        known[count++] = layout->pattern.axis[i].name;
    for (size_t i = 0; i < OPTIONS; i++)
        known[count++] = options[i].key;
    const char *nearest = td_suggest(key, known, count);
    if (nearest)
        return td_fail(TD_OPTION, "unknown option %s for pattern \"%s\"; did you mean %s?", key, layout->pattern.text,
                       nearest);
    return td_fail(
        TD_OPTION,
        "unknown option %s for pattern \"%s\"; pass a size of one of its axes, or pad pad_at tail slot lsb lanes "
        "beats fill alias dtype tune addr_unit elf",
        key, layout->pattern.text);
}

static td_status set_one(td_layout *layout, const char *key, const char *value, uint32_t *seen)
{
    int axis = td_pattern_find(&layout->pattern, key, strlen(key));
    if (axis >= 0) {
        if (layout->size[axis])
            return td_fail(TD_OPTION, "option %s is given twice, %" PRIu64 " and %s; give it once", key,
                           layout->size[axis], value);
        return parse_count(key, value, 1, &layout->size[axis]);
    }
    const option *known = find_option(key);
    if (!known)
        return fail_unknown(layout, key);
    const uint32_t bit = 1u << (known - options);
    if (*seen & bit)
        return td_fail(TD_OPTION, "option %s is given twice; give it once", key);
    *seen |= bit;
    return known->set(layout, value);
}

/* A flat layout has no vectors that could be cut or mirrored, and it shares its first and last word with its
 * neighbours. */
static td_status check_flat(td_layout *layout, uint32_t seen)
{
    static const struct {
        const char *key, *why;
    } refused[] = {{"beats", "a flat layout goes on from word to word by itself"},
                   {"lanes", "a flat layout begins at the least significant bit"},
                   {"alias", "no two elements of a flat layout lie in one place"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (seen >> (find_option(refused[i].key) - options) & 1)
            return td_fail(TD_OPTION,
                           "option %s for the flat pattern \"%s\": %s; leave %s out, or write word axes and "
                           "lane axes",
                           refused[i].key, layout->pattern.text, refused[i].why, refused[i].key);
    if (seen >> (find_option("fill") - options) & 1 && !layout->keep)
        return td_fail(TD_OPTION,
                       "fill=zero for the flat pattern \"%s\", which shares its first and last word with its "
                       "neighbours; leave fill out",
                       layout->pattern.text);
    layout->keep = true;
    return TD_OK;
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == ',';
}

td_status td_options_parse(td_layout *layout, const char *text)
{
    uint32_t seen = 0;
    for (const char *at = text; *at;) {
        if (is_separator(*at)) {
            at++;
            continue;
        }
        char key[KEY_BYTES] = "", value[VALUE_BYTES] = "";
        size_t length = 0;
        while (at[length] && !is_separator(at[length]))
            length++;
        const char *equals = memchr(at, '=', length);
        size_t key_length = equals ? (size_t)(equals - at) : length;
        size_t value_length = equals ? length - key_length - 1 : 0;
        if (!equals || key_length == 0 || value_length == 0)
            return td_fail(TD_OPTION, "option \"%.*s\" is not KEY=VALUE; write it without spaces, as in cs=4",
                           (int)length, at);
        if (key_length >= KEY_BYTES || value_length >= VALUE_BYTES)
            return td_fail(TD_OPTION, "option \"%.*s...\" is longer than %d characters; shorten it", 40, at,
                           key_length >= KEY_BYTES ? KEY_BYTES - 1 : VALUE_BYTES - 1);
        memcpy(key, at, key_length);
        memcpy(value, equals + 1, value_length);
        td_status status = set_one(layout, key, value, &seen);
        if (status)
            return status;
        at += length;
    }
    if (layout->pad && layout->clip)
        return td_fail(TD_OPTION, "pad=%s and tail=clip exclude each other; keep one", layout->pad);
    if (layout->pad_begin && layout->clip)
        return td_fail(TD_OPTION, "pad_at=begin and tail=clip exclude each other; keep one");
    return layout->flat ? check_flat(layout, seen) : TD_OK;
}

void td_options_print(const td_layout *layout, td_text *out)
{
    for (int i = 0; i < layout->pattern.axis_count; i++)
        if (layout->size[i])
            td_text_add(out, " %s=%" PRIu64, layout->pattern.axis[i].name, layout->size[i]);
    for (size_t i = 0; i < OPTIONS; i++)
        options[i].print(layout, out);
}
