/* Whole numbers of a program, with arguments and loop variables in them, and texts with {names}. parse.c reads them,
 * elaborate.c asks for their values. Refused: names that nobody has given, divisions by 0, results past 63 bits. */
#include "program/read.h"

#include "base/suggest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The operators by precedence, the loosest first; C's. */
static const struct {
    const char *text;
    td_ex_kind kind;
    int level;
} operators[] = {
    {"|", TD_EX_OR, 0},  {"^", TD_EX_XOR, 1}, {"&", TD_EX_AND, 2}, {"<<", TD_EX_LEFT, 3}, {">>", TD_EX_RIGHT, 3},
    {"+", TD_EX_ADD, 4}, {"-", TD_EX_SUB, 4}, {"*", TD_EX_MUL, 5}, {"/", TD_EX_DIV, 5},   {"%", TD_EX_MOD, 5},
};
#define OPERATORS (sizeof operators / sizeof *operators)
#define LEVELS 6
#define MOST_NESTED 64
#define MOST_OPERATORS 256 /* a value is found by recursion */

static td_ex *make(td_reader *r, const td_ex *like)
{
    td_ex *ex = r->status ? NULL : td_arena_get(&r->program->arena, sizeof *ex);
    if (ex)
        *ex = *like;
    else if (!r->status)
        r->status = TD_NO_MEMORY;
    return ex;
}

static const td_ex *read_level(td_reader *r, int level, int nested);

static const td_ex *read_primary(td_reader *r, int nested)
{
    td_ex ex = {0};
    const int c = td_read_peek(r);
    if (nested > MOST_NESTED) {
        td_read_fail(r, TD_FORMAT, "an expression in more than %d parentheses; write it with fewer", MOST_NESTED);
        return NULL;
    }
    if (td_read_char(r, '(')) {
        const td_ex *inner = read_level(r, 0, nested + 1);
        if (inner && !td_read_char(r, ')'))
            td_read_fail(r, TD_FORMAT, "a parenthesis that is not closed; end it with )");
        return r->status ? NULL : inner;
    }
    if (td_read_char(r, '-')) {
        ex.kind = TD_EX_NEGATE;
        ex.name = td_read_token(r, r->at - 1, 1);
        ex.a = read_primary(r, nested + 1);
        return ex.a ? make(r, &ex) : NULL;
    }
    if (c >= '0' && c <= '9') {
        uint64_t value = 0;
        if (!td_text_number(&r->at, &value)) {
            td_read_fail(r, TD_FORMAT, "a number past 63 bits; write a smaller one");
            return NULL;
        }
        ex.value = (int64_t)value;
        return make(r, &ex);
    }
    ex.kind = TD_EX_NAME;
    return td_read_name(r, "a number", &ex.name) ? make(r, &ex) : NULL;
}

static const td_ex *read_level(td_reader *r, int level, int nested)
{
    if (level == LEVELS)
        return read_primary(r, nested);
    const td_ex *left = read_level(r, level + 1, nested);
    while (left) {
        size_t o = 0;
        td_read_peek(r);
        while (o < OPERATORS &&
               !(operators[o].level == level && strncmp(r->at, operators[o].text, strlen(operators[o].text)) == 0))
            o++;
        if (o == OPERATORS)
            return left;
        if (++r->operators > MOST_OPERATORS) {
            td_read_fail(r, TD_FORMAT, "an expression of more than %d operators; write it with fewer", MOST_OPERATORS);
            return NULL;
        }
        td_ex ex = {.kind = operators[o].kind, .a = left, .name = td_read_token(r, r->at, strlen(operators[o].text))};
        r->at += strlen(operators[o].text);
        ex.b = read_level(r, level + 1, nested);
        left = ex.b ? make(r, &ex) : NULL;
    }
    return NULL;
}

const td_ex *td_ex_read(td_reader *r)
{
    r->operators = 0;
    return r->status ? NULL : read_level(r, 0, 0);
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static const td_argument *find_argument(const td_program *p, const char *name, size_t length)
{
    for (size_t i = 0; i < p->arguments; i++)
        if (strlen(p->argument[i].name) == length && memcmp(p->argument[i].name, name, length) == 0)
            return &p->argument[i];
    return NULL;
}

static const td_scope *find_variable(const td_scope *scope, const char *name, size_t length)
{
    while (scope && !(strlen(scope->name) == length && memcmp(scope->name, name, length) == 0))
        scope = scope->up;
    return scope;
}

static td_status fail_unknown(const td_program *p, const td_scope *scope, const td_token *at, const char *name)
{
    const char *known[64];
    size_t count = 0;
    for (; scope && count < 64; scope = scope->up)
        known[count++] = scope->name;
    for (size_t i = 0; i < p->arguments && count < 64; i++)
        known[count++] = p->argument[i].name;
    const char *near = td_suggest(name, known, count);
    if (near)
        return td_program_fail(p, at, TD_FORMAT, "no argument and no loop variable \"%s\"; did you mean \"%s\"?", name,
                               near);
    return td_program_fail(p, at, TD_FORMAT, "no argument and no loop variable \"%s\"; declare it: arg %s = 0", name,
                           name);
}

static const char *value_of(const td_argument *argument)
{
    return argument->given ? argument->given : argument->value;
}

static td_status name_value(const td_program *p, const td_scope *scope, const td_token *name, int64_t *out)
{
    const td_scope *variable = find_variable(scope, name->text, strlen(name->text));
    const td_argument *argument = find_argument(p, name->text, strlen(name->text));
    if (variable) {
        *out = variable->value;
        return TD_OK;
    }
    if (!argument)
        return fail_unknown(p, scope, name, name->text);
    const char *text = value_of(argument), *at = text + (*text == '-');
    uint64_t value = 0;
    if (!td_text_number(&at, &value) || *at)
        return td_program_fail(p, name, TD_FORMAT, "the argument %s is \"%s\"; pass a whole number", name->text, text);
    *out = *text == '-' ? -(int64_t)value : (int64_t)value;
    return TD_OK;
}

static bool calculate(td_ex_kind kind, int64_t a, int64_t b, int64_t *out)
{
    switch (kind) {
    case TD_EX_NEGATE:
        return !__builtin_sub_overflow((int64_t)0, a, out);
    case TD_EX_OR:
        *out = a | b;
        return true;
    case TD_EX_XOR:
        *out = a ^ b;
        return true;
    case TD_EX_AND:
        *out = a & b;
        return true;
    case TD_EX_LEFT:
        return b >= 0 && b < 63 && !__builtin_mul_overflow(a, (int64_t)1 << b, out);
    case TD_EX_RIGHT:
        *out = b < 0 || b > 63 ? 0 : b > 62 ? -(a < 0) : a >> b;
        return b >= 0 && b < 64;
    case TD_EX_ADD:
        return !__builtin_add_overflow(a, b, out);
    case TD_EX_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case TD_EX_MUL:
        return !__builtin_mul_overflow(a, b, out);
    default:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = kind == TD_EX_DIV ? a / b : a % b;
        return true;
    }
}

td_status td_ex_value(const td_program *p, const td_scope *scope, const td_ex *ex, int64_t *out)
{
    int64_t a = 0, b = 0;
    if (ex->kind == TD_EX_NUMBER) {
        *out = ex->value;
        return TD_OK;
    }
    if (ex->kind == TD_EX_NAME)
        return name_value(p, scope, &ex->name, out);
    td_status status = td_ex_value(p, scope, ex->a, &a);
    if (!status && ex->b)
        status = td_ex_value(p, scope, ex->b, &b);
    if (status)
        return status;
    if (calculate(ex->kind, a, b, out))
        return TD_OK;
    if ((ex->kind == TD_EX_DIV || ex->kind == TD_EX_MOD) && b == 0)
        return td_program_fail(p, &ex->name, TD_RANGE, "%" PRId64 " divided by 0; divide by something else", a);
    return td_program_fail(p, &ex->name, TD_OVERFLOW, "%" PRId64 " and %" PRId64 " give a number past 63 bits", a, b);
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

static td_status add_value(const td_program *p, const td_scope *scope, const td_token *token, const char *name,
                           size_t length, td_text *out)
{
    const td_scope *variable = find_variable(scope, name, length);
    const td_argument *argument = find_argument(p, name, length);
    if (variable)
        td_text_add(out, "%" PRId64, variable->value);
    else if (argument)
        td_text_add(out, "%s", value_of(argument));
    else {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        return fail_unknown(p, scope, token, word);
    }
    return TD_OK;
}

td_status td_token_fill(const td_program *p, const td_scope *scope, const td_token *token, td_arena *arena,
                        const char **out)
{
    td_text text = {0};
    td_status status = TD_OK;
    const td_argument *argument =
        token->quoted || !token->text ? NULL : find_argument(p, token->text, strlen(token->text));
    *out = argument ? value_of(argument) : token->text;
    if (!token->text || argument || !strchr(token->text, '{'))
        return TD_OK;
    for (const char *at = token->text; *at && !status;) {
        const size_t plain = strcspn(at, "{");
        td_text_add(&text, "%.*s", (int)plain, at);
        at += plain;
        if (*at == 0)
            break;
        const size_t length = strcspn(at + 1, "{}");
        if (at[1] == '{') {
            td_text_add(&text, "{");
            at += 2;
        } else if (at[1 + length] != '}')
            status = td_program_fail(p, token, TD_FORMAT, "a { that is not closed; write {name}, or {{ for {");
        else {
            status = add_value(p, scope, token, at + 1, length, &text);
            at += length + 2;
        }
    }
    if (!status) {
        *out = text.failed ? NULL : td_arena_copy(arena, text.text ? text.text : "", text.used);
        status = *out ? TD_OK : td_fail_alloc(text.used);
    }
    free(text.text);
    return status;
}

td_status td_token_real(const td_program *p, const td_scope *scope, const td_token *token, double *out)
{
    const td_scope *variable = find_variable(scope, token->text, strlen(token->text));
    const td_argument *argument = find_argument(p, token->text, strlen(token->text));
    const char *text = argument ? value_of(argument) : token->text;
    char *end = NULL;
    if (variable) {
        *out = (double)variable->value;
        return TD_OK;
    }
    *out = td_text_real(text, &end);
    if (end == text || *end)
        return td_program_fail(p, token, TD_FORMAT, "\"%s\" is no number; write one, as 0.05 or -inf", text);
    if (isnan(*out))
        return td_program_fail(p, token, TD_RANGE, "nan is no number to calculate with; write another one");
    return TD_OK;
}
