/* Creates layouts from three strings: the two halves of the address are parsed here, patterns in pattern.c, options in
 * options.c, expressions in expr.c, and names of presets are expanded by preset.c. Behind td_layout_create;
 * layout_file.c and torchbit.c call it too. It knows no shape, so it refuses only what is wrong for every shape. */
#include "layout/layout.h"

#include "base/profile.h"
#include "base/text.h"
#include "layout/options.h"
#include "layout/preset.h"

#include <stdlib.h>
#include <string.h>

/* Refuses an axis named like an option or like `index`, because the text could mean either. */
static td_status check_names(const td_pattern *pattern)
{
    for (int i = 0; i < pattern->axis_count; i++) {
        const char *name = pattern->axis[i].name;
        if (td_layout_is_option(name) || strcmp(name, "index") == 0)
            return td_fail(TD_PATTERN, "axis %s has the name of %s in pattern \"%s\"; rename the axis", name,
                           td_layout_is_option(name) ? "an option" : "the word number", pattern->text);
    }
    return TD_OK;
}

static td_status parse_address(td_layout *layout, const char *text)
{
    const char *at = text + strspn(text, " \t\n");
    while (*at) {
        td_expr **target = &layout->address;
        const char *name = "addr";
        size_t length = 0;
        while (td_is_name_char(at[length]))
            length++;
        const char *behind = at + length + strspn(at + length, " \t\n");
        if (length && *behind == '=') {
            if (length == 4 && memcmp(at, "bank", 4) == 0) {
                target = &layout->bank;
                name = "bank";
            } else if (length != 4 || memcmp(at, "addr", 4) != 0)
                return td_fail(TD_ADDRESS, "\"%.*s =\" in address \"%s\"; assign to bank or addr", (int)length, at,
                               text);
            at = behind + 1;
        }
        if (*target)
            return td_fail(TD_ADDRESS, "%s is given twice in address \"%s\"; give it once", name, text);
        td_status status = td_expr_parse(text, &at, &layout->pattern, layout->elf, target);
        if (status)
            return status;
        at += *at == ';';
        at += strspn(at, " \t\n");
    }
    if (layout->flat && layout->address && !td_expr_is_constant(layout->address))
        return td_fail(TD_ADDRESS,
                       "address \"%s\" of the flat pattern \"%s\" is no constant; pass the address of its first word",
                       text, layout->pattern.text);
    const uint64_t named = td_expr_axes(layout->address) | td_expr_axes(layout->bank);
    for (int i = 0; i < layout->pattern.axis_count; i++)
        if (named >> i & 1 && TD_IS_LANE(&layout->pattern, i))
            layout->skews |= (uint64_t)1 << i;
    if (layout->skews && (layout->beats > 1 || layout->alias_last))
        return td_fail(
            TD_ADDRESS, "address \"%s\" names lane axis %s, so that its lanes lie in words of their own; drop %s", text,
            layout->pattern.axis[__builtin_ctzll(layout->skews)].name, layout->beats > 1 ? "beats=" : "alias=last");
    if (layout->bank && layout->pattern.right_count == TD_ROLES)
        return td_fail(TD_ADDRESS,
                       "\"bank =\" in address \"%s\" of a pattern with a bank group; drop one: the bank group already "
                       "chooses the bank",
                       text);
    return TD_OK;
}

static td_status print(td_layout *layout)
{
    td_text opts = {0}, address = {0};
    td_text_add(&opts, "%s", "");
    td_text_add(&address, "%s", "");
    td_options_print(layout, &opts);
    if (layout->bank) {
        td_text_add(&address, "bank = ");
        td_expr_print(layout->bank, &layout->pattern, &address);
    }
    if (layout->address) {
        if (layout->bank)
            td_text_add(&address, "; addr = ");
        td_expr_print(layout->address, &layout->pattern, &address);
    }
    layout->options_text = opts.text;
    layout->address_text = address.text;
    if (opts.failed || address.failed)
        return td_fail_alloc(opts.used + address.used);
    if (opts.used)
        memmove(opts.text, opts.text + 1, opts.used); /* the leading space */
    return TD_OK;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    return (hash ^ 0xff) * 0x100000001b3ULL;
}

void td_layout_destroy(td_layout **layout)
{
    if (!layout || !*layout)
        return;
    td_layout *l = *layout;
    td_pattern_free(&l->pattern);
    td_expr_free(&l->bank);
    td_expr_free(&l->address);
    free(l->pad);
    free(l->elf);
    free(l->dtype_text);
    free(l->options_text);
    free(l->address_text);
    free(l->as_text);
    free(l->memory_text);
    free(l->tensor_text);
    free(l);
    *layout = NULL;
}

const char *td_layout_pattern(const td_layout *layout)
{
    return layout ? layout->pattern.text : "";
}

const char *td_layout_options(const td_layout *layout)
{
    return layout ? layout->options_text : "";
}

const char *td_layout_address(const td_layout *layout)
{
    return layout ? layout->address_text : "";
}

const char *td_layout_as(const td_layout *layout)
{
    return layout && layout->as_text ? layout->as_text : "";
}

const char *td_layout_memory(const td_layout *layout)
{
    return layout && layout->memory_text ? layout->memory_text : "";
}

const char *td_layout_tensor(const td_layout *layout)
{
    return layout && layout->tensor_text ? layout->tensor_text : "";
}

static td_status create(const char *pattern, const char *option_text, const char *address, td_layout **out)
{
    td_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return td_fail_alloc(sizeof *layout);
    layout->beats = 1;
    td_status status = td_pattern_parse(pattern, &layout->pattern);
    layout->flat = layout->pattern.right_count == 1;
    if (!status)
        status = check_names(&layout->pattern);
    if (!status)
        status = td_options_parse(layout, option_text);
    if (!status)
        status = parse_address(layout, address);
    if (!status)
        status = print(layout);
    if (status) {
        td_layout_destroy(&layout);
        return status;
    }
    layout->hash = hash_text(hash_text(hash_text(0xcbf29ce484222325ULL, layout->pattern.text), layout->options_text),
                             layout->address_text);
    *out = layout;
    return TD_OK;
}

td_status td_layout_make(const char *pattern, const char *option_text, const char *address, td_layout **out)
{
    TD_STEP(step, "parse");
    const char *start = pattern + strspn(pattern, " \t\n");
    if (strncmp(start, TD_PRESET_PREFIX, strlen(TD_PRESET_PREFIX)) != 0)
        return create(pattern, option_text, address, out);
    td_preset_text text = {0};
    td_status status = td_preset_expand(start, option_text, address, &text);
    if (!status)
        status = create(text.pattern, text.options, text.address, out);
    td_preset_text_free(&text);
    return status;
}

td_status td_layout_create(const char *pattern, const char *option_text, const char *address, td_layout **out)
{
    TD_OPERATION(operation, "layout_create");
    if (!pattern || !out)
        return td_fail(TD_ARGUMENT, "layout_create: %s is NULL; pass one", pattern ? "out" : "the pattern");
    td_status status = td_layout_make(pattern, option_text ? option_text : "", address ? address : "", out);
    if (status)
        td_fail_prefix("layout_create: ");
    return status;
}
