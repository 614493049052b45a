/* How a region lies over several memories. The clauses of the file speak of units of some bytes: which memory has unit
 * u, and where. The organisation of a memory (over/) speaks of the bits of words, so a unit gets an axis for its words
 * and a word one for its bits. Refuses patterns that are no order of units; whether every unit has a place of its own
 * is checked when the region is made. */
#include "map/map.h"

#include "base/text.h"
#include "layout/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORD_AXIS "word_in_unit"
#define BIT_AXIS "bit_in_word"

/* The axes of a group, without parentheses. */
static void add_axes(const td_pattern *pattern, const td_group *group, td_text *out)
{
    for (int i = 0; i < group->count; i++)
        td_text_add(out, "%s ", pattern->axis[pattern->term[group->first + i].axis].name);
}

static bool is_plain(const td_pattern *pattern)
{
    bool plain = pattern->ellipsis_left < 0 && pattern->ellipsis_right < 0;
    for (int g = 0; g < pattern->left_count; g++)
        plain &= !pattern->left[g].sliding;
    return plain;
}

/* The pattern of units with the axes of words and bits. The last group on its right is the lane group, which is 1. */
static void add_pattern(const td_pattern *p, bool words, td_text *out)
{
    const char *word = words ? WORD_AXIS " " : "";
    td_text_add(out, "(");
    add_axes(p, &p->left[0], out);
    td_text_add(out, "%s) " BIT_AXIS " -> ", word);
    if (p->right_count == TD_ROLES) {
        td_text_add(out, "(");
        add_axes(p, &p->right[0], out);
        td_text_add(out, ") ");
    }
    td_text_add(out, "(");
    add_axes(p, &p->right[p->right_count - 2], out);
    td_text_add(out, "%s) " BIT_AXIS, word);
}

/* An expression that counts units, printed so that it counts words: `index` is the number of a word there. */
static void add_scaled(const td_expr *expr, const td_pattern *pattern, uint64_t factor, td_text *out)
{
    td_text plain = {0};
    td_expr_print(expr, pattern, &plain);
    for (const char *at = plain.text; at && *at;) {
        size_t length = 0;
        while (td_is_name_char(at[length]))
            length++;
        if (factor > 1 && length == 5 && memcmp(at, "index", 5) == 0)
            td_text_add(out, "(index / %" PRIu64 ")", factor);
        else
            td_text_add(out, "%.*s", (int)(length ? length : 1), at);
        at += length ? length : 1;
    }
    out->failed |= plain.failed;
    free(plain.text);
}

static void add_address(const td_layout *units, uint64_t factor, td_text *out)
{
    td_text_add(out, "%s", "");
    if (units->bank) {
        td_text_add(out, "bank = ");
        add_scaled(units->bank, &units->pattern, factor, out);
        td_text_add(out, "; addr = ");
    }
    if (!units->address)
        td_text_add(out, units->bank ? "index" : "");
    else if (factor == 1)
        add_scaled(units->address, &units->pattern, factor, out);
    else {
        td_text_add(out, "(");
        add_scaled(units->address, &units->pattern, factor, out);
        td_text_add(out, ") * %" PRIu64 " + " WORD_AXIS, factor);
    }
}

/* The layout of units, read as the user wrote it, so that messages show that. A unit has one lane. */
static td_status read_units(const char *pattern, const char *options, const char *address, td_layout **out)
{
    td_text text = {0};
    td_text_add(&text, "%s 1", pattern);
    if (text.failed)
        return td_fail_alloc(text.used);
    td_layout *layout = NULL;
    td_status status = td_layout_make(text.text, options, address, &layout);
    free(text.text);
    if (status)
        return status;
    if (layout->pattern.left_count != 1 || layout->pattern.right_count < 2 || !is_plain(&layout->pattern)) {
        status = td_fail(TD_PATTERN,
                         "interleave \"%s\" is no order of units; write one group on the left, as (row ch) -> ch row, "
                         "or (row ch) -> (row ch) with an address",
                         pattern);
        td_layout_destroy(&layout);
    }
    if (!status && layout->alias_last) {
        status = td_fail(
            TD_OPTION, "alias=last beside interleave \"%s\"; leave it out: every unit has a place of its own", pattern);
        td_layout_destroy(&layout);
    }
    *out = layout;
    return status;
}

static td_status widen(const td_layout *units, const char *options, const td_map_under *under, td_layout **out)
{
    const bool words = under->unit_words > 1;
    td_text pattern = {0}, sizes = {0}, address = {0};
    add_pattern(&units->pattern, words, &pattern);
    add_address(units, under->unit_words, &address);
    td_text_add(&sizes, "%s", options);
    const td_pattern *p = &units->pattern;
    const int bank = p->right_count == TD_ROLES && p->right[0].count == 1 ? p->term[p->right[0].first].axis : -1;
    if (bank >= 0 && !units->size[bank]) /* one axis chooses the memory: there are as many */
        td_text_add(&sizes, " %s=%zu", p->axis[bank].name, under->count);
    if (words)
        td_text_add(&sizes, " " WORD_AXIS "=%" PRIu64, under->unit_words);
    td_status status = pattern.failed || sizes.failed || address.failed
                           ? td_fail_alloc(pattern.used + sizes.used + address.used)
                           : td_layout_make(pattern.text, sizes.text, address.text, out);
    free(pattern.text);
    free(sizes.text);
    free(address.text);
    return status;
}

/* Without the clause: one memory after the other. */
static td_status in_order(const td_map_under *under, td_layout **out)
{
    td_text sizes = {0};
    td_text_add(&sizes, "memory=%zu", under->count);
    if (sizes.failed)
        return td_fail_alloc(sizes.used);
    const td_status status = under->count == 1 ? td_layout_make("w k -> w k", "", "", out)
                                               : td_layout_make("(memory w) k -> memory w k", sizes.text, "", out);
    free(sizes.text);
    return status;
}

td_status td_map_interleave(const td_map_source *entry, const td_map_under *under, uint64_t depth_words,
                            td_layout **out)
{
    const char *text = entry->text[TD_MAP_INTERLEAVE];
    const char *options = entry->text[TD_MAP_OPTIONS] ? entry->text[TD_MAP_OPTIONS] : "";
    const char *address = entry->text[TD_MAP_ADDRESS] ? entry->text[TD_MAP_ADDRESS] : "";
    td_dram_text dram = {0};
    td_layout *units = NULL;
    td_status status = TD_OK;
    if (!text)
        return in_order(under, out);
    if (strncmp(text, TD_DRAM_PREFIX, strlen(TD_DRAM_PREFIX)) == 0) {
        if (*options || *address)
            return td_fail(TD_FORMAT,
                           "\"%s\" of %s is a preset and stands beside %s; write its sizes behind it, as ch=4", text,
                           entry->name, *options ? "options" : "an address");
        status = td_dram_expand(text, under->count, depth_words / under->unit_words, &dram);
        if (status)
            return status;
        text = dram.pattern;
        options = dram.options;
        address = dram.address;
    }
    status = read_units(text, options, address, &units);
    if (!status)
        status = widen(units, options, under, out);
    td_layout_destroy(&units);
    td_dram_text_free(&dram);
    return status;
}
