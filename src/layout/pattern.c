/* The parser of patterns, for layout.c: pattern.h has the tree, tensordoor.h the language. One pass over the text,
 * one function per level (side, group, term), then the checks that need both sides, then the canonical text.
 * Refusals underline the place in the pattern. */
#include "layout/pattern.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *text; /* whole, for messages */
    const char *at;
    td_pattern *pattern;
} parser;

/* Appends the pattern to the message and underlines `length` characters from `at`. */
static td_status underline(const parser *p, const char *at, int length)
{
    td_fail_caret(p->text, (size_t)(at - p->text), (size_t)length);
    return TD_PATTERN;
}

static td_status fail_at(const parser *p, const char *at, int length, const char *what, const char *fix)
{
    td_fail(TD_PATTERN, "%s in pattern \"%s\"; %s", what, p->text, fix);
    return underline(p, at, length);
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool at_arrow(const parser *p)
{
    return p->at[0] == '-' && p->at[1] == '>';
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (td_is_name_char(at[n]))
        n++;
    return n;
}

int td_pattern_find(const td_pattern *pattern, const char *name, size_t length)
{
    for (int i = 0; i < pattern->axis_count; i++)
        if (strlen(pattern->axis[i].name) == length && memcmp(pattern->axis[i].name, name, length) == 0)
            return i;
    return -1;
}

static td_status add_term(parser *p, int axis, uint64_t step)
{
    td_pattern *pattern = p->pattern;
    if (pattern->term_count == TD_MAX_TERMS)
        return fail_at(p, p->at, 1, "too many terms", "use at most 160");
    pattern->term[pattern->term_count++] = (td_term){.axis = axis, .step = step};
    return TD_OK;
}

static td_status fail_twice(const parser *p, size_t length, bool left)
{
    td_fail(TD_PATTERN, "axis %.*s twice on the %s in pattern \"%s\"; give each axis one place on each side",
            (int)length, p->at, left ? "left" : "right", p->text);
    return underline(p, p->at, (int)length);
}

/* An axis name at p->at. On the left it is new; on the right it may be new too, and is then a repeat. */
static td_status parse_axis(parser *p, bool left, int group, uint64_t step)
{
    td_pattern *pattern = p->pattern;
    size_t length = name_length(p->at);
    int axis = td_pattern_find(pattern, p->at, length);
    if (axis >= 0 && (left || pattern->axis[axis].right_group >= 0))
        return fail_twice(p, length, left);
    if (axis < 0) {
        if (pattern->axis_count == TD_MAX_AXES)
            return fail_at(p, p->at, (int)length, "too many axes", "use at most 64");
        char *name = strndup(p->at, length);
        if (!name)
            return td_fail_alloc(length + 1);
        axis = pattern->axis_count++;
        pattern->axis[axis] = (td_axis){.name = name, .left_group = -1, .right_group = -1};
    }
    if (left)
        pattern->axis[axis].left_group = group;
    else
        pattern->axis[axis].right_group = group;
    p->at += length;
    return add_term(p, axis, step);
}

static td_status parse_ellipsis(parser *p, bool left, int group)
{
    int *place = left ? &p->pattern->ellipsis_left : &p->pattern->ellipsis_right;
    if (*place >= 0)
        return fail_at(p, p->at, 3, "`...` twice on one side", "use it once");
    *place = group;
    p->at += 3;
    return add_term(p, TD_ELLIPSIS, 0);
}

/* One term inside or outside parentheses: an axis, `1`, `...`, or in a sliding group STEP*axis. */
static td_status parse_term(parser *p, bool left, int group, bool inside)
{
    if (strncmp(p->at, "...", 3) == 0) {
        if (left && inside)
            return fail_at(p, p->at, 3, "`...` inside parentheses on the left",
                           "write it outside: it stands for whole dimensions");
        return parse_ellipsis(p, left, group);
    }
    if (p->at[0] == '1' && !td_is_name_char(p->at[1]) && p->at[1] != '*') {
        p->at++;
        return TD_OK;
    }
    uint64_t step = 0;
    const char *start = p->at;
    if (inside && left && td_text_number(&p->at, &step)) {
        skip_space(p);
        if (*p->at != '*' || step == 0)
            return fail_at(p, start, 1, "a number in a group",
                           "write STEP*AXIS with a step of at least 1, as in (2*h + kh), or 1");
        p->at++;
        skip_space(p);
    }
    if (!td_is_name_start(*p->at))
        return fail_at(p, p->at, 1, td_text_unexpected(p->at, (char[TD_UNEXPECTED_BYTES]){0}),
                       "write axes, `1`, `...`, groups in ( ), and one ->");
    return parse_axis(p, left, group, step);
}

/* "(a b c)" or the sliding "(2*h + kh)", where all terms are joined by `+`. */
static td_status parse_parentheses(parser *p, bool left, int group, td_group *out)
{
    const char *open = p->at++;
    int joins = 0, terms = 0;
    bool steps = false;
    for (;;) {
        skip_space(p);
        if (*p->at == '\0' || at_arrow(p))
            return fail_at(p, open, 1, "( without )", "close the group");
        if (*p->at == '(')
            return fail_at(p, p->at, 1, "( inside ( )", "groups have one level: write the axes side by side");
        if (*p->at == ')')
            break;
        if (*p->at == '+' && left && terms > joins) {
            joins++;
            p->at++;
            continue;
        }
        if (joins && terms > joins)
            return fail_at(p, p->at, 1, "a sliding group needs + between all its axes", "write (2*h + kh)");
        int before = p->pattern->term_count;
        td_status status = parse_term(p, left, group, true);
        if (status)
            return status;
        terms++;
        if (p->pattern->term_count > before && p->pattern->term[before].step)
            steps = true;
    }
    p->at++;
    if (joins + 1 != terms && (joins || steps) && !(steps && terms == 1 && !joins))
        return fail_at(p, open, 1, "a sliding group needs + between all its axes", "write (2*h + kh)");
    out->sliding = joins > 0 || steps;
    for (int i = out->first; out->sliding && i < p->pattern->term_count; i++)
        if (!p->pattern->term[i].step)
            p->pattern->term[i].step = 1;
    return TD_OK;
}

static td_status parse_side(parser *p, bool left)
{
    td_pattern *pattern = p->pattern;
    int *count = left ? &pattern->left_count : &pattern->right_count;
    td_group *groups = left ? pattern->left : pattern->right;
    const int most = left ? TD_MAX_GROUPS : TD_ROLES;
    for (skip_space(p); *p->at && !at_arrow(p); skip_space(p)) {
        if (*count == most)
            return left ? fail_at(p, p->at, 1, "too many groups on the left", "use at most 32")
                        : fail_at(p, p->at, 1, "four groups on the right",
                                  "write two, (word axes) (lane axes), or three, (bank axes) (word axes) (lane axes)");
        if (*p->at == ')')
            return fail_at(p, p->at, 1, ") without (", "remove it or open the group");
        td_group *group = &groups[*count];
        *group = (td_group){.first = pattern->term_count};
        td_status status =
            *p->at == '(' ? parse_parentheses(p, left, *count, group) : parse_term(p, left, *count, false);
        if (status)
            return status;
        group->count = pattern->term_count - group->first;
        ++*count;
    }
    return TD_OK;
}

/* The first occurrence of a name, which is known to be in the text. */
static const char *find_word(const char *text, const char *name)
{
    const size_t length = strlen(name);
    const char *at = strstr(text, name);
    while (at && ((at > text && td_is_name_char(at[-1])) || td_is_name_char(at[length])))
        at = strstr(at + 1, name);
    return at ? at : text;
}

/* The checks that need both sides. */
static td_status check_sides(const parser *p)
{
    const td_pattern *pattern = p->pattern;
    if (pattern->right_count == 0)
        return fail_at(p, p->at, 1, "nothing on the right",
                       "write two groups, (word axes) (lane axes), or one, (axes), for elements one after another");
    if (pattern->ellipsis_left >= 0 && pattern->ellipsis_right < 0)
        return fail_at(p, p->at, 1, "`...` only on the left", "place it on the right too, as in b ... c -> (b ...) c");
    if (pattern->ellipsis_left < 0 && pattern->ellipsis_right >= 0)
        return fail_at(p, p->at, 1, "`...` only on the right", "place it on the left too, as in b ... c -> (b ...) c");
    for (int i = 0; i < pattern->axis_count; i++) {
        if (pattern->axis[i].right_group >= 0)
            continue;
        const char *name = pattern->axis[i].name;
        td_fail(TD_PATTERN,
                "axis %s stands only on the left in pattern \"%s\"; place %s on the right, in the word group or in the "
                "lane group",
                name, p->text, name);
        return underline(p, find_word(p->text, name), (int)strlen(name));
    }
    return TD_OK;
}

static void print_group(td_text *out, const td_pattern *pattern, td_group *group)
{
    group->at = out->used;
    if (group->count == 0)
        td_text_add(out, "1");
    const bool parentheses = group->count > 1 || group->sliding;
    if (parentheses)
        td_text_add(out, "(");
    for (int i = 0; i < group->count; i++) {
        const td_term *term = &pattern->term[group->first + i];
        if (i)
            td_text_add(out, group->sliding ? " + " : " ");
        if (group->sliding && (term->step > 1 || group->count == 1))
            td_text_add(out, "%llu*", (unsigned long long)term->step);
        td_text_add(out, "%s", term->axis == TD_ELLIPSIS ? "..." : pattern->axis[term->axis].name);
    }
    if (parentheses)
        td_text_add(out, ")");
    group->length = out->used - group->at;
}

static td_status print(td_pattern *pattern)
{
    td_text out = {0};
    for (int i = 0; i < pattern->left_count; i++, td_text_add(&out, " "))
        print_group(&out, pattern, &pattern->left[i]);
    td_text_add(&out, "->");
    for (int i = 0; i < pattern->right_count; i++) {
        td_text_add(&out, " ");
        print_group(&out, pattern, &pattern->right[i]);
    }
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    pattern->text = out.text;
    return TD_OK;
}

void td_pattern_caret(const td_pattern *pattern, const td_group *group)
{
    td_fail_caret(pattern->text, group->at, group->length);
}

void td_pattern_free(td_pattern *pattern)
{
    for (int i = 0; i < pattern->axis_count; i++)
        free(pattern->axis[i].name);
    free(pattern->text);
    *pattern = (td_pattern){0};
}

td_status td_pattern_parse(const char *text, td_pattern *out)
{
    *out = (td_pattern){.ellipsis_left = -1, .ellipsis_right = -1};
    parser p = {.text = text, .at = text, .pattern = out};
    td_status status = parse_side(&p, true);
    if (!status && !at_arrow(&p))
        status = fail_at(&p, p.at, 1, "no ->", "write TENSOR AXES -> (WORD AXES) (LANE AXES), as in r c -> r c");
    if (!status) {
        p.at += 2;
        status = parse_side(&p, false);
    }
    if (!status && *p.at)
        status = fail_at(&p, p.at, 2, "a second ->", "write one arrow");
    if (!status)
        status = check_sides(&p);
    for (int g = 0; g < out->right_count; g++)
        out->right[g].role = (td_role)(g + TD_ROLES - out->right_count);
    if (!status)
        status = print(out);
    if (status)
        td_pattern_free(out);
    return status;
}
