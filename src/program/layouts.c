/* The layouts of a program: by a name that the caller has bound, that a line `layout NAME = ".."` gives or that stands
 * in a layout file, or written out where it is used. Each is made once. elaborate.c asks for them. */
#include "program/program.h"

#include "base/suggest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "PATTERN; OPTIONS; ADDRESS": the address may have semicolons of its own. */
static td_status make_from_text(const char *text, td_layout **out)
{
    char *copy = malloc(strlen(text) + 1);
    if (!copy)
        return td_fail_alloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text) + 1);
    char *const options = strchr(copy, ';');
    char *const address = options ? strchr(options + 1, ';') : NULL;
    if (options)
        *options = 0;
    if (address)
        *address = 0;
    const td_status status = td_layout_create(copy, options ? options + 1 : NULL, address ? address + 1 : NULL, out);
    free(copy);
    return status;
}

static const td_form *find_line(const td_program *p, const char *name)
{
    const td_form *form = p->first;
    while (form && !(form->kind == TD_FORM_LAYOUT && strcmp(form->name.text, name) == 0))
        form = form->next;
    return form;
}

/* Every layout that has a name, for the suggestion. */
static td_status fail_unknown(const td_program *p, const td_token *token, const char *name)
{
    const char *known[256];
    size_t count = 0;
    char *names[16] = {0};
    for (size_t i = 0; i < p->bindings && count < 64; i++)
        if (p->binding[i]->kind == TD_NAME_LAYOUT)
            known[count++] = p->binding[i]->name;
    for (const td_form *f = p->first; f && count < 128; f = f->next)
        if (f->kind == TD_FORM_LAYOUT)
            known[count++] = f->name.text;
    for (size_t i = 0; i < p->files && i < 16; i++) {
        if (td_layout_names(p->file[i], &names[i]) != TD_OK)
            continue;
        for (char *at = names[i], *end; at && *at && count < 255; at = end ? end + 1 : NULL) {
            end = strchr(at, '\n');
            if (end)
                *end = 0;
            known[count++] = at;
        }
    }
    known[count++] = "matrix";
    const char *near = td_suggest(name, known, count);
    const td_status status =
        near ? td_program_fail(p, token, TD_FORMAT, "no layout \"%s\"; did you mean \"%s\"?", name, near)
             : td_program_fail(p, token, TD_FORMAT,
                               "no layout \"%s\"; bind one, or write layout %s = \"r c -> r c\" or use \"FILE\" above",
                               name, name);
    for (size_t i = 0; i < 16; i++)
        free(names[i]);
    return status;
}

static td_status find_named(const td_program *p, const td_token *token, const char *name, td_layout **out)
{
    const td_form *line = find_line(p, name);
    if (line) {
        const td_status status = make_from_text(line->text.text, out);
        return status ? td_program_place(p, &line->text, status) : TD_OK;
    }
    for (size_t i = 0; i < p->files; i++) {
        char *names = NULL;
        td_status status = td_layout_names(p->file[i], &names);
        if (status)
            return td_program_place(p, token, status);
        const size_t length = strlen(name);
        bool found = false;
        for (const char *at = names; *at && !found; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
            found = strcspn(at, "\n") == length && memcmp(at, name, length) == 0;
        td_free(names);
        if (found) {
            status = td_layout_open(p->file[i], name, out);
            return status ? td_program_place(p, token, status) : TD_OK;
        }
    }
    return fail_unknown(p, token, name);
}

td_status td_program_layout(td_program *p, const td_token *token, const char *text, const td_layout **out)
{
    const td_binding *bound = token->quoted ? NULL : td_program_find(p, text, TD_NAME_LAYOUT);
    if (bound) {
        *out = bound->layout;
        return TD_OK;
    }
    for (const td_made_layout *m = p->layouts; m; m = m->next)
        if (m->text[0] == (token->quoted ? '"' : ' ') && strcmp(m->text + 1, text) == 0) {
            *out = m->layout;
            return TD_OK;
        }
    td_layout *layout = NULL;
    td_status status = token->quoted ? make_from_text(text, &layout) : find_named(p, token, text, &layout);
    if (status)
        return token->quoted ? td_program_place(p, token, status) : status;
    td_made_layout *made = calloc(1, sizeof *made);
    char *key = malloc(strlen(text) + 2);
    if (!made || !key) {
        free(made);
        free(key);
        td_layout_destroy(&layout);
        return td_fail_alloc(sizeof *made);
    }
    key[0] = token->quoted ? '"' : ' ';
    memcpy(key + 1, text, strlen(text) + 1);
    *made = (td_made_layout){.text = key, .layout = layout, .next = p->layouts};
    p->layouts = made;
    *out = layout;
    return TD_OK;
}

td_status td_layout_shift(const td_layout *layout, uint64_t words, uint64_t width_bits, td_layout **out)
{
    const uint64_t unit = layout->byte_addresses ? (width_bits + 7) / 8 : 1;
    td_text text = {0};
    if (layout->bank) {
        td_text_add(&text, "bank = ");
        td_expr_print(layout->bank, &layout->pattern, &text);
        td_text_add(&text, "; addr = ");
    }
    td_text_add(&text, "%" PRIu64, words * unit);
    if (layout->address) {
        td_text_add(&text, " + (");
        td_expr_print(layout->address, &layout->pattern, &text);
        td_text_add(&text, ")");
    } else if (!layout->flat) {
        td_text_add(&text, " + %" PRIu64 " * index", unit * layout->beats);
    }
    const td_status status = text.failed ? td_fail_alloc(text.used)
                                         : td_layout_make(layout->pattern.text, layout->options_text, text.text, out);
    free(text.text);
    return status;
}

/* -- the layout of a loop ------------------------------------------------------------------------------------------ */

/* A name that no axis of the pattern has. */
static void name_axis(const td_pattern *pattern, char *name, size_t bytes)
{
    size_t length = 1;
    td_text_print(name, bytes, "t");
    while (td_pattern_find(pattern, name, length) >= 0 && length + 1 < bytes) {
        name[length++] = '_';
        name[length] = 0;
    }
}

/* The pattern with `axis` as the slowest dimension and the slowest word axis. */
static void add_pattern(const td_pattern *pattern, const char *axis, td_text *out)
{
    const td_group *word = &pattern->right[pattern->right_count - 2];
    const char *group = pattern->text + word->at;
    size_t length = word->length;
    if (*group == '(') {
        group++;
        length -= 2;
    }
    if (word->count == 0)
        length = 0;
    td_text_add(out, "%s %.*s(%s %.*s)%s", axis, (int)word->at, pattern->text, axis, (int)length, group,
                pattern->text + word->at + word->length);
}

/* The expression with every `index` counted inside of its part, which has `words`. */
static void add_expr(const td_expr *expr, const td_pattern *pattern, const char *axis, uint64_t words, td_text *out)
{
    td_text text = {0};
    td_expr_print(expr, pattern, &text);
    out->failed |= text.failed;
    for (const char *at = text.text ? text.text : ""; *at;) {
        size_t length = 0;
        while (td_is_name_char(at[length]))
            length++;
        if (length == 5 && memcmp(at, "index", 5) == 0)
            td_text_add(out, "(index - %" PRIu64 " * %s)", words, axis);
        else
            td_text_add(out, "%.*s", length ? (int)length : 1, at);
        at += length ? length : 1;
    }
    free(text.text);
}

td_status td_program_layout_of_loop(td_program *p, const td_layout *layout, uint64_t part_words, uint64_t step_words,
                                    uint64_t width_bits, const td_layout **out)
{
    static const td_token quoted = {.quoted = true};
    const uint64_t unit = layout->byte_addresses ? (width_bits + 7) / 8 : 1;
    char axis[TD_MAX_AXES + 2];
    td_text text = {0};
    name_axis(&layout->pattern, axis, sizeof axis);
    add_pattern(&layout->pattern, axis, &text);
    td_text_add(&text, ";%s;", layout->options_text);
    if (layout->bank) {
        td_text_add(&text, "bank = ");
        add_expr(layout->bank, &layout->pattern, axis, part_words, &text);
        td_text_add(&text, "; addr = ");
    }
    td_text_add(&text, "%" PRIu64 " * %s + ", step_words * unit, axis);
    if (layout->address) {
        td_text_add(&text, "(");
        add_expr(layout->address, &layout->pattern, axis, part_words, &text);
        td_text_add(&text, ")");
    } else
        td_text_add(&text, "%" PRIu64 " * (index - %" PRIu64 " * %s)", unit * layout->beats, part_words, axis);
    const td_status status = text.failed ? td_fail_alloc(text.used) : td_program_layout(p, &quoted, text.text, out);
    free(text.text);
    return status;
}
