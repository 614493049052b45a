/* The oracle's reading of strings of a layout: patterns, options, dtypes and padding values. See oracle.h. */
#include "oracle.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool oracle_refuse(oracle *o, const char *why, const char *what)
{
    snprintf(o->why, sizeof o->why, "%s: %.200s", why, what);
    return false;
}

const char *oracle_skip_spaces(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

size_t oracle_word_length(const char *p)
{
    size_t n = 0;
    if (isalpha((unsigned char)p[0]) || p[0] == '_')
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
    return n;
}

oracle_axis *oracle_find_axis(oracle *o, const char *name, size_t length)
{
    for (size_t i = 0; i < o->axis_count; i++)
        if (strlen(o->axes[i].name) == length && memcmp(o->axes[i].name, name, length) == 0)
            return &o->axes[i];
    return NULL;
}

static oracle_axis *add_axis(oracle *o, const char *name, size_t length)
{
    if (o->axis_count == ORACLE_AXES || length >= ORACLE_NAME)
        return NULL;
    oracle_axis *axis = &o->axes[o->axis_count++];
    memset(axis, 0, sizeof *axis);
    memcpy(axis->name, name, length);
    return axis;
}

/* One axis by name into a group of one side; each axis stands at most once on a side. */
static bool put_axis(oracle *o, oracle_group *group, bool left, const char *name, size_t length)
{
    oracle_axis *axis = oracle_find_axis(o, name, length);
    if (!axis)
        axis = add_axis(o, name, length);
    if (!axis)
        return oracle_refuse(o, "too many axes", name);
    bool *side = left ? &axis->on_left : &axis->on_right;
    if (*side)
        return oracle_refuse(o, "axis twice on one side", name);
    *side = true;
    group->axis[group->count++] = (size_t)(axis - o->axes);
    return true;
}

/* The `extra` dimensions of `...` are axes named ...0, ...1 and so on, which no user can write. */
static bool put_ellipsis(oracle *o, oracle_group *group, bool left, size_t number)
{
    char name[ORACLE_NAME];
    int length = snprintf(name, sizeof name, "...%zu", number);
    return put_axis(o, group, left, name, (size_t)length);
}

/* Counts the groups of a side, or -1 when it is malformed; *ellipsis tells whether `...` stands outside parentheses. */
static int count_groups(const char *p, const char *end, bool *ellipsis)
{
    int count = 0;
    *ellipsis = false;
    for (p = oracle_skip_spaces(p); p < end; p = oracle_skip_spaces(p)) {
        if (*p == '(') {
            while (p < end && *p != ')')
                p++;
            if (p >= end)
                return -1;
            p++;
        } else if (strncmp(p, "...", 3) == 0) {
            if (*ellipsis)
                return -1;
            *ellipsis = true;
            p += 3;
        } else if (*p == '1' && !isalnum((unsigned char)p[1])) {
            p++;
        } else {
            size_t n = oracle_word_length(p);
            if (n == 0)
                return -1;
            p += n;
        }
        count++;
    }
    return count;
}

/* The `+` and `STEP*` of a sliding group; the step belongs to the axis that comes next. */
static bool read_step(const char **p, oracle_group *group)
{
    char *end = NULL;
    if (**p == '+') {
        group->sliding = true;
        ++*p;
        return true;
    }
    if (!isdigit((unsigned char)**p))
        return false;
    uint64_t step = strtoull(*p, &end, 10);
    end += strspn(end, " ");
    if (*end != '*')
        return false;
    group->sliding = true;
    group->step[group->count] = step;
    *p = end + 1;
    return true;
}

/* Reads one side into groups. On the left `...` stands for `extra` groups of one axis each, on the right for one group,
 * or for axes within one. */
static bool parse_side(oracle *o, const char *p, const char *end, bool left, size_t extra, oracle_group **groups)
{
    size_t g = 0;
    for (p = oracle_skip_spaces(p); p < end; p = oracle_skip_spaces(p)) {
        bool inside = *p == '(';
        bool dots = left && *p == '.';
        if (inside)
            p = oracle_skip_spaces(p + 1);
        while (p < end) {
            if (inside && *p == ')') {
                p++;
                break;
            }
            size_t n = oracle_word_length(p);
            if (left && inside && read_step(&p, groups[g])) {
                p = oracle_skip_spaces(p);
                continue;
            }
            if (strncmp(p, "...", 3) == 0) {
                if (left && inside)
                    return oracle_refuse(o, "... inside a group on the left", p);
                for (size_t k = 0; k < extra; k++)
                    if (!put_ellipsis(o, groups[left ? g + k : g], left, k))
                        return false;
                p += 3;
            } else if (*p == '1' && !isalnum((unsigned char)p[1])) {
                p++;
            } else if (n == 0 || !put_axis(o, groups[g], left, p, n)) {
                return o->why[0] ? false : oracle_refuse(o, "not an axis", p);
            } else {
                p += n;
            }
            p = oracle_skip_spaces(p);
            if (!inside)
                break;
        }
        g += dots ? extra : 1;
    }
    return true;
}

bool oracle_parse_pattern(oracle *o)
{
    const char *text = o->in.pattern;
    const char *arrow = strstr(text, "->");
    if (!arrow)
        return oracle_refuse(o, "no arrow", text);
    const char *end = text + strlen(text);

    bool left_dots = false, right_dots = false;
    int left = count_groups(text, arrow, &left_dots);
    int right = count_groups(arrow + 2, end, &right_dots);
    if (left < 0 || right < 1 || right > 3)
        return oracle_refuse(o, "groups", text);

    size_t named = (size_t)left - (left_dots ? 1 : 0);
    if (left_dots ? o->in.rank < named : o->in.rank != named)
        return oracle_refuse(o, "groups do not match the rank", text);
    size_t extra = o->in.rank - named;

    oracle_group *lefts[ORACLE_DIMS + 1];
    for (size_t i = 0; i < ORACLE_DIMS; i++)
        lefts[i] = &o->left[i];
    lefts[ORACLE_DIMS] = NULL;
    o->left_count = o->in.rank;
    o->has_bank_group = right == 3;
    o->flat = right == 1;
    oracle_group *rights[3] = {&o->bank, &o->word, &o->lane};
    if (!parse_side(o, text, arrow, true, extra, lefts) ||
        !parse_side(o, arrow + 2, end, false, extra, rights + 3 - right))
        return false;

    for (size_t i = 0; i < o->axis_count; i++)
        if (!o->axes[i].on_right)
            return oracle_refuse(o, "axis only on the left", o->axes[i].name);
    return true;
}

static bool parse_number(const char *text, uint64_t *value)
{
    char *end = NULL;
    *value = strtoull(text, &end, 0);
    return isdigit((unsigned char)text[0]) && *end == '\0';
}

static bool is_one_of(const char *value, const char *a, const char *b, bool *second)
{
    *second = strcmp(value, b) == 0;
    return *second || strcmp(value, a) == 0;
}

static bool parse_option(oracle *o, const char *key, const char *value)
{
    bool second = false;
    o->words_given = o->words_given || strcmp(key, "beats") == 0 || strcmp(key, "lanes") == 0 ||
                     strcmp(key, "alias") == 0 || (strcmp(key, "fill") == 0 && strcmp(value, "zero") == 0);
    oracle_axis *axis = oracle_find_axis(o, key, strlen(key));
    if (axis)
        return (parse_number(value, &axis->size) && axis->size > 0) || oracle_refuse(o, "size", value);
    if (strcmp(key, "pad") == 0) {
        o->pad = true;
        snprintf(o->pad_text, sizeof o->pad_text, "%s", value);
    } else if (strcmp(key, "pad_at") == 0) {
        if (!is_one_of(value, "end", "begin", &o->pad_begin))
            return oracle_refuse(o, "pad_at", value);
    } else if (strcmp(key, "tail") == 0) {
        if (strcmp(value, "clip") != 0)
            return oracle_refuse(o, "tail", value);
        o->clip = true;
    } else if (strcmp(key, "slot") == 0) {
        return (parse_number(value, &o->slot) && o->slot > 0) || oracle_refuse(o, "slot", value);
    } else if (strcmp(key, "lsb") == 0) {
        return parse_number(value, &o->lsb) || oracle_refuse(o, "lsb", value);
    } else if (strcmp(key, "beats") == 0) {
        return (parse_number(value, &o->beats) && o->beats > 0) || oracle_refuse(o, "beats", value);
    } else if (strcmp(key, "lanes") == 0) {
        if (!is_one_of(value, "lsb", "msb", &o->msb))
            return oracle_refuse(o, "lanes", value);
    } else if (strcmp(key, "fill") == 0) {
        if (!is_one_of(value, "zero", "keep", &o->keep))
            return oracle_refuse(o, "fill", value);
    } else if (strcmp(key, "alias") == 0) {
        if (!is_one_of(value, "error", "last", &second))
            return oracle_refuse(o, "alias", value);
        o->alias_last = second;
    } else if (strcmp(key, "addr_unit") == 0) {
        if (!is_one_of(value, "word", "byte", &o->byte_addresses))
            return oracle_refuse(o, "addr_unit", value);
    } else if (strcmp(key, "dtype") == 0) {
        if (strcmp(value, o->in.dtype) != 0)
            return oracle_refuse(o, "dtype", value);
    } else {
        return oracle_refuse(o, "unknown option", key);
    }
    return true;
}

bool oracle_parse_options(oracle *o)
{
    o->beats = 1;
    char text[1024];
    snprintf(text, sizeof text, "%s", o->in.options ? o->in.options : "");
    char *rest = NULL;
    for (char *token = strtok_r(text, " \t\n", &rest); token; token = strtok_r(NULL, " \t\n", &rest)) {
        char *equals = strchr(token, '=');
        if (!equals)
            return oracle_refuse(o, "not key=value", token);
        *equals = '\0';
        if (!parse_option(o, token, equals + 1))
            return false;
    }
    return true;
}

/* Only values that the type holds exactly are asked for, so rounding never enters. */
static uint64_t float_bits(const char *dtype, double value)
{
    float single = (float)value;
    uint32_t bits32 = 0;
    uint64_t bits64 = 0;
    memcpy(&bits32, &single, sizeof bits32);
    memcpy(&bits64, &value, sizeof bits64);
    if (strcmp(dtype, "f64") == 0)
        return bits64;
    if (strcmp(dtype, "f32") == 0)
        return bits32;
    if (strcmp(dtype, "bf16") == 0)
        return bits32 >> 16;
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    if (value == 0)
        return sign;
    int exponent = 0;
    double mantissa = frexp(fabs(value), &exponent); /* 0.5 <= mantissa < 1 */
    return sign | (uint64_t)(exponent + 14) << 10 | (uint64_t)((mantissa * 2 - 1) * 1024);
}

bool oracle_parse_dtype(oracle *o)
{
    const char *name = o->in.dtype;
    bool is_float = name[0] == 'f' || name[0] == 'b';
    o->elem_bits = (unsigned)strtoul(name + (name[0] == 'b' ? 2 : 1), NULL, 10);
    o->elem_signed = name[0] == 'i';
    o->elem_bytes = o->elem_bits <= 8 ? 1 : o->elem_bits <= 16 ? 2 : o->elem_bits <= 32 ? 4 : 8;
    if (!o->pad)
        return true;

    char *end = NULL;
    if (is_float) {
        o->pad_bits = float_bits(name, strtod(o->pad_text, &end));
        return *end == '\0' || oracle_refuse(o, "pad value", o->pad_text);
    }
    unsigned bits = o->elem_bits;
    bool negative = o->pad_text[0] == '-';
    uint64_t magnitude = strtoull(o->pad_text + negative, &end, 0);
    uint64_t half = (uint64_t)1 << (bits - 1);
    uint64_t mask = half | (half - 1);
    uint64_t most = o->elem_signed ? (negative ? half : half - 1) : (negative ? 0 : mask);
    o->pad_bits = (negative ? 0 - magnitude : magnitude) & mask;
    return (*end == '\0' && magnitude <= most) || oracle_refuse(o, "pad value", o->pad_text);
}
