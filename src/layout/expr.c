/* The parser and the printer of address expressions (expr.h), for layout.c. A recursive-descent parser with C's
 * precedence builds the flat tree of expr_tree.h, which expr_eval.c evaluates. Refuses names that are no axis of the
 * pattern, with the place in the text. */
#include "layout/expr_tree.h"

#include "base/suggest.h"
#include "base/text.h"
#include "layout/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Binary operators in order of precedence, tightest first. */
static const struct {
    op op;
    int level;
    const char *text;
} operators[] = {{MUL, 5, "*"},  {DIV, 5, "/"},  {MOD, 5, "%"}, {ADD, 4, "+"}, {SUB, 4, "-"},
                 {SHL, 3, "<<"}, {SHR, 3, ">>"}, {AND, 2, "&"}, {XOR, 1, "^"}, {OR, 0, "|"}};
enum { OPERATORS = sizeof operators / sizeof operators[0], LEVEL_UNARY = 6 };

static const struct {
    op op;
    const char *name, *usage;
} functions[] = {{REV, "rev", "rev(x, bits)"},
                 {INTERLEAVE, "interleave", "interleave(x, y)"},
                 {MIN, "min", "min(x, y)"},
                 {MAX, "max", "max(x, y)"},
                 {DIM, "dim", "dim(n), the length of tensor dimension n"}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

#define MAX_DEPTH 64

typedef struct parser {
    const char *text, *at;
    const td_pattern *pattern;
    const char *elf; /* NULL: none is named */
    td_expr *expr;
    int depth;
} parser;

/* Appends the address to the message and underlines `length` characters from `at`. */
static td_status underline(const parser *p, const char *at, size_t length)
{
    td_fail_caret(p->text, (size_t)(at - p->text), length);
    return TD_ADDRESS;
}

static td_status fail_at(const parser *p, const char *at, size_t length, const char *what, const char *fix)
{
    td_fail(TD_ADDRESS, "%s in address \"%s\"; %s", what, p->text, fix);
    return underline(p, at, length);
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

/* Two constants become one, so that equal expressions print alike. They are the last two nodes. */
static bool fold(parser *p, node n, int *out)
{
    td_expr *e = p->expr;
    int64_t value = 0;
    if (n.b < 0 || e->node[n.a].op != NUMBER || e->node[n.b].op != NUMBER ||
        !td_expr_fold(n.op, e->node[n.a].value, e->node[n.b].value, &value))
        return false;
    e->count -= 2;
    *out = e->count++;
    e->node[*out] = (node){NUMBER, -1, -1, value};
    return true;
}

static td_status add_node(parser *p, node n, int *out)
{
    if (fold(p, n, out))
        return TD_OK;
    if (p->expr->count == MAX_NODES)
        return fail_at(p, p->at, 1, "too many operators", "use at most 256 terms");
    *out = p->expr->count;
    p->expr->node[p->expr->count++] = n;
    return TD_OK;
}

static td_status parse_level(parser *p, int level, int *out);

/* Appends to the message which axes an address usually names. */
static void append_axes(const td_pattern *pattern)
{
    bool any = false;
    for (int i = 0; i < pattern->axis_count; i++)
        if (!TD_IS_LANE(pattern, i)) {
            td_fail_append("%s%s", any ? " " : "", pattern->axis[i].name);
            any = true;
        }
    if (!any)
        td_fail_append("none");
}

static td_status parse_name(parser *p, int *out)
{
    const char *start = p->at;
    size_t length = 0;
    while (td_is_name_char(start[length]))
        length++;
    p->at += length;
    int axis = td_pattern_find(p->pattern, start, length);
    if (axis >= 0)
        return add_node(p, (node){AXIS, -1, -1, axis}, out);
    if (length == 5 && memcmp(start, "index", 5) == 0)
        return add_node(p, (node){INDEX, -1, -1, 0}, out);

    const char *known[TD_MAX_AXES + FUNCTIONS + 1];
    size_t known_count = 0;
    for (int i = 0; i < p->pattern->axis_count; i++)
        known[known_count++] = p->pattern->axis[i].name;
    known[known_count++] = "index";
    for (size_t i = 0; i < FUNCTIONS; i++)
        known[known_count++] = functions[i].name;
    char *word = strndup(start, length);
    if (!word)
        return td_fail_alloc(length + 1);
    const char *nearest = td_suggest(word, known, known_count);
    const bool called = start[length + strspn(start + length, " \t")] == '(';
    td_fail(TD_ADDRESS, "unknown %s %s in address \"%s\"; ", called ? "function" : "axis", word, p->text);
    free(word);
    if (called && !nearest) {
        td_fail_append("the functions are: min max rev interleave dim");
        return underline(p, start, length);
    }
    if (nearest)
        td_fail_append("did you mean %s? (word axes: ", nearest);
    else
        td_fail_append("the word axes are: ");
    append_axes(p->pattern);
    td_fail_append("%s", nearest ? ")" : "; index is the number of the word");
    return underline(p, start, length);
}

static td_status parse_function(parser *p, size_t which, int *out)
{
    const char *start = p->at;
    char fix[96];
    snprintf(fix, sizeof fix, "write %s", functions[which].usage);
    int arg[2] = {-1, -1};
    const int wanted = functions[which].op == DIM ? 1 : 2;
    p->at = strchr(p->at, '(');
    for (int i = 0; i < wanted; i++) {
        p->at++; /* past the ( or the , */
        td_status status = parse_level(p, 0, &arg[i]);
        if (status)
            return status;
        skip_space(p);
        if (*p->at != (i + 1 < wanted ? ',' : ')'))
            return fail_at(p, p->at, 1, "wrong number of arguments", fix);
    }
    p->at++;
    const node *last = &p->expr->node[arg[wanted - 1]];
    if (functions[which].op == DIM) {
        if (last->op != NUMBER || last->value >= TD_MAX_RANK)
            return fail_at(p, start, 3, "dim needs a constant dimension number", fix);
        return add_node(p, (node){DIM, -1, -1, last->value}, out);
    }
    if (functions[which].op == REV && (last->op != NUMBER || last->value < 1 || last->value > 62))
        return fail_at(p, start, 3, "rev needs a constant number of bits from 1 to 62", fix);
    return add_node(p, (node){functions[which].op, arg[0], arg[1], 0}, out);
}

/* @sym(NAME): where the linker put it, a constant. */
static td_status parse_symbol(parser *p, int *out)
{
    const char *start = p->at, *name = start + strlen("@sym("), *end = NULL;
    if (strncmp(start, "@sym(", strlen("@sym(")) != 0 || !(end = strchr(name, ')')) || end == name)
        return fail_at(p, start, 1, "@ without sym(NAME)", "write @sym(NAME), the address of a symbol");
    const size_t length = (size_t)(end - start) + 1;
    if (!p->elf)
        return fail_at(p, start, length, "@sym without an ELF file", "pass elf=FILE in the options");
    char *symbol = strndup(name, (size_t)(end - name));
    if (!symbol)
        return td_fail_alloc(length);
    uint64_t value = 0;
    td_status status = td_symbol_find(p->elf, symbol, &value);
    free(symbol);
    if (status)
        return status;
    if (value > INT64_MAX)
        return fail_at(p, start, length, "a symbol at 2^63 or above", "pass its address without the upper bits");
    p->at = end + 1;
    return add_node(p, (node){NUMBER, -1, -1, (int64_t)value}, out);
}

static td_status parse_primary(parser *p, int *out)
{
    skip_space(p);
    const char *start = p->at;
    if (++p->depth > MAX_DEPTH)
        return fail_at(p, start, 1, "nested too deep", "use at most 64 levels");
    td_status status = TD_OK;
    uint64_t number = 0;
    if (*start == '-' || *start == '+') {
        p->at++;
        int child = -1;
        status = parse_primary(p, &child);
        if (!status && *start == '-')
            status = add_node(p, (node){NEG, child, -1, 0}, out);
        else
            *out = child;
    } else if (*start == '(') {
        p->at++;
        status = parse_level(p, 0, out);
        skip_space(p);
        if (!status && *p->at != ')')
            status = fail_at(p, start, 1, "( without )", "close it");
        if (!status)
            p->at++;
    } else if (*start == '@') {
        status = parse_symbol(p, out);
    } else if (*start >= '0' && *start <= '9') {
        if (!td_text_number(&p->at, &number) || td_is_name_char(*p->at))
            status = fail_at(p, start, 1, "a number that does not read", "write decimal or 0x digits, below 2^63");
        else
            status = add_node(p, (node){NUMBER, -1, -1, (int64_t)number}, out);
    } else if (td_is_name_start(*start)) {
        size_t which = FUNCTIONS, length = 0;
        while (td_is_name_char(start[length]))
            length++;
        const char *behind = start + length + strspn(start + length, " ");
        for (size_t i = 0; i < FUNCTIONS && *behind == '('; i++)
            if (strlen(functions[i].name) == length && memcmp(functions[i].name, start, length) == 0)
                which = i;
        status = which < FUNCTIONS ? parse_function(p, which, out) : parse_name(p, out);
    } else {
        status = fail_at(p, start, 1, td_text_unexpected(*start == ';' ? "" : start, (char[TD_UNEXPECTED_BYTES]){0}),
                         "write constants, word axes, index, and + - * / % & | ^ << >> ( )");
    }
    p->depth--;
    return status;
}

static int operator_at(const parser *p, int level)
{
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].level == level && strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0)
            return i;
    return -1;
}

static td_status parse_level(parser *p, int level, int *out)
{
    if (level == LEVEL_UNARY)
        return parse_primary(p, out);
    td_status status = parse_level(p, level + 1, out);
    for (;;) {
        skip_space(p);
        int which = operator_at(p, level);
        if (status || which < 0)
            return status;
        p->at += strlen(operators[which].text);
        int right = -1;
        status = parse_level(p, level + 1, &right);
        if (!status)
            status = add_node(p, (node){operators[which].op, *out, right, 0}, out);
    }
}

td_status td_expr_parse(const char *text, const char **at, const td_pattern *pattern, const char *elf, td_expr **out)
{
    td_expr *expr = calloc(1, sizeof *expr);
    if (!expr)
        return td_fail_alloc(sizeof *expr);
    parser p = {.text = text, .at = *at, .pattern = pattern, .elf = elf, .expr = expr};
    int root = -1;
    td_status status = parse_level(&p, 0, &root);
    skip_space(&p);
    if (!status && *p.at && *p.at != ';')
        status = fail_at(&p, p.at, 1, td_text_unexpected(p.at, (char[TD_UNEXPECTED_BYTES]){0}),
                         "write constants, word axes, index, and + - * / % & | ^ << >> ( )");
    if (status) {
        free(expr);
        return status;
    }
    *at = p.at;
    *out = expr;
    return TD_OK;
}

void td_expr_free(td_expr **expr)
{
    free(*expr);
    *expr = NULL;
}

static int level_of(op which)
{
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].op == which)
            return operators[i].level;
    return LEVEL_UNARY;
}

static void print_node(const td_expr *expr, const td_pattern *pattern, int at, int level, td_text *out)
{
    const node *n = &expr->node[at];
    const int own = level_of(n->op);
    if (own < level)
        td_text_add(out, "(");
    switch (n->op) {
    case NUMBER:
        td_text_add(out, "%" PRId64, n->value);
        break;
    case AXIS:
        td_text_add(out, "%s", pattern->axis[n->value].name);
        break;
    case INDEX:
        td_text_add(out, "index");
        break;
    case DIM:
        td_text_add(out, "dim(%" PRId64 ")", n->value);
        break;
    case NEG:
        td_text_add(out, "-");
        print_node(expr, pattern, n->a, LEVEL_UNARY, out);
        break;
    case REV:
    case INTERLEAVE:
    case MIN:
    case MAX:
        for (size_t i = 0; i < FUNCTIONS; i++)
            if (functions[i].op == n->op)
                td_text_add(out, "%s(", functions[i].name);
        print_node(expr, pattern, n->a, 0, out);
        td_text_add(out, ", ");
        print_node(expr, pattern, n->b, 0, out);
        td_text_add(out, ")");
        break;
    default:
        print_node(expr, pattern, n->a, own, out);
        for (int i = 0; i < OPERATORS; i++)
            if (operators[i].op == n->op)
                td_text_add(out, own == 5 ? "%s" : " %s ", operators[i].text);
        print_node(expr, pattern, n->b, own + 1, out);
        break;
    }
    if (own < level)
        td_text_add(out, ")");
}

void td_expr_print(const td_expr *expr, const td_pattern *pattern, td_text *out)
{
    print_node(expr, pattern, expr->count - 1, 0, out);
}
