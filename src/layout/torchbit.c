/* Layouts from mappings in the manner of torchbit: a software pattern, a hardware pattern, sizes of the temporal and
 * the spatial axes, a base and a stride per temporal axis. Behind td_layout_from_mapping. It writes the three
 * strings of a layout for td_layout_make, and checks only what those strings cannot express. */
#include "base/suggest.h"
#include "base/text.h"
#include "layout/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZES 64
#define WORD_BYTES 64

typedef struct size {
    char name[WORD_BYTES];
    uint64_t value;
    bool negative; /* strides may be */
} size;

typedef struct sizes {
    size item[MAX_SIZES];
    size_t count;
} sizes;

static const size *find(const sizes *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->item[i].name, name) == 0)
            return &s->item[i];
    return NULL;
}

/* "b=2 w=3": `what` is the argument's name, for messages. */
static td_status parse_sizes(const char *what, const char *text, bool may_be_negative, sizes *out)
{
    static const char separators[] = " \t\n,";
    out->count = 0;
    for (const char *at = text + strspn(text, separators); *at; at += strspn(at, separators)) {
        const size_t length = strcspn(at, separators);
        size_t name = 0;
        if (out->count == MAX_SIZES)
            return td_fail(TD_OPTION, "more than %d %s; pass fewer", MAX_SIZES, what);
        while (td_is_name_char(at[name]))
            name++;
        const char *value = at + name + 1;
        size *s = &out->item[out->count];
        bool negative = false;
        if (name < length && may_be_negative && *value == '-') {
            negative = true;
            value++;
        }
        if (name >= WORD_BYTES)
            return td_fail(TD_OPTION, "axis %.*s in the %s is longer than %d characters; shorten it", (int)name, at,
                           what, WORD_BYTES - 1);
        if (name == 0 || at[name] != '=' || !td_text_number(&value, &s->value) || value != at + length)
            return td_fail(TD_OPTION, "\"%.*s\" in the %s is not AXIS=NUMBER; write it as in b=2", (int)length, at,
                           what);
        *s = (size){.value = s->value, .negative = negative};
        memcpy(s->name, at, name);
        if (find(out, s->name))
            return td_fail(TD_OPTION, "axis %s stands twice in the %s; give it once", s->name, what);
        out->count++;
        at += length;
    }
    return TD_OK;
}

static td_status check_strides(const sizes *temporal, const sizes *strides)
{
    const char *known[MAX_SIZES];
    for (size_t i = 0; i < temporal->count; i++)
        known[i] = temporal->item[i].name;
    for (size_t i = 0; i < strides->count; i++) {
        const char *name = strides->item[i].name;
        if (find(temporal, name))
            continue;
        const char *nearest = td_suggest(name, known, temporal->count);
        if (nearest)
            return td_fail(TD_OPTION, "a stride for axis %s, which is no temporal axis; did you mean %s?", name,
                           nearest);
        return td_fail(TD_OPTION, "a stride for axis %s, which is no temporal axis; name one in the temporal sizes",
                       name);
    }
    for (size_t i = 0; i < temporal->count; i++)
        if (strides->count && temporal->item[i].value > 1 && !find(strides, temporal->item[i].name))
            return td_fail(TD_OPTION,
                           "no stride for temporal axis %s; pass one for each, or none for consecutive words",
                           temporal->item[i].name);
    return TD_OK;
}

/* Without strides the words are consecutive, the first temporal axis the slowest. That needs the size of each; where
 * some are left to the shape, the order is that of the hardware pattern. */
static td_status find_strides(const char *pattern_text, const sizes *temporal, sizes *strides)
{
    td_pattern *pattern = malloc(sizeof *pattern);
    td_status status = pattern ? td_pattern_parse(pattern_text, pattern) : td_fail_alloc(sizeof *pattern);
    bool all = temporal->count > 0;
    for (int i = 0; !status && i < pattern->axis_count; i++)
        all = all && (TD_IS_LANE(pattern, i) || find(temporal, pattern->axis[i].name));
    all = all && !status && pattern->ellipsis_left < 0;
    uint64_t product = 1;
    for (size_t i = temporal->count; all && i-- > 0;) {
        strides->item[i] = temporal->item[i];
        strides->item[i].value = product;
        if (!td_mul_fits(product, temporal->item[i].value, &product))
            status = td_fail(TD_OVERFLOW, "the temporal sizes have a product over 2^63; pass smaller sizes");
    }
    strides->count = all ? temporal->count : 0;
    if (pattern)
        td_pattern_free(pattern);
    free(pattern);
    return status;
}

static td_status write_strings(const char *software, const char *hardware, const sizes *all, uint64_t base,
                               sizes *strides, const char *options, td_text out[3])
{
    td_text_add(&out[0], "%s -> %s", software, hardware);
    td_status status = out[0].failed ? td_fail_alloc(out[0].room) : TD_OK;
    if (!status && !strides->count)
        status = find_strides(out[0].text, &all[0], strides);
    if (status)
        return status;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < all[k].count; i++)
            td_text_add(&out[1], "%s=%" PRIu64 " ", all[k].item[i].name, all[k].item[i].value);
    td_text_add(&out[1], "%s", options);
    td_text_add(&out[2], "%" PRIu64, base);
    if (!strides->count)
        td_text_add(&out[2], " + index");
    for (size_t i = 0; i < strides->count; i++)
        td_text_add(&out[2], " %c %" PRIu64 "*%s", strides->item[i].negative ? '-' : '+', strides->item[i].value,
                    strides->item[i].name);
    for (int i = 0; i < 3; i++)
        if (out[i].failed)
            return td_fail_alloc(out[i].used);
    return TD_OK;
}

td_status td_layout_from_mapping(const char *software, const char *hardware, const char *temporal, const char *spatial,
                                 uint64_t base, const char *strides, const char *options, td_layout **out)
{
    if (!software || !hardware || !out)
        return td_fail(TD_ARGUMENT, "layout_from_mapping: the %s is NULL; pass one",
                       !software   ? "software pattern"
                       : !hardware ? "hardware pattern"
                                   : "output");
    sizes *all = calloc(3, sizeof *all);
    td_text text[3] = {{0}, {0}, {0}};
    td_status status = all ? TD_OK : td_fail_alloc(3 * sizeof *all);
    if (!status)
        status = parse_sizes("temporal sizes", temporal ? temporal : "", false, &all[0]);
    if (!status)
        status = parse_sizes("spatial sizes", spatial ? spatial : "", false, &all[1]);
    if (!status)
        status = parse_sizes("strides", strides ? strides : "", true, &all[2]);
    if (!status)
        status = check_strides(&all[0], &all[2]);
    if (!status)
        status = write_strings(software, hardware, all, base, &all[2], options ? options : "", text);
    if (!status)
        status = td_layout_make(text[0].text, text[1].text, text[2].text, out);
    for (int i = 0; i < 3; i++)
        free(text[i].text);
    free(all);
    if (status)
        td_fail_prefix("layout_from_mapping: ");
    return status;
}
