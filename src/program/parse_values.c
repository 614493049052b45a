/* Tensors of a program's text, and what stands behind them on a line: names, slices, steps in parentheses, layouts and
 * clauses, into forms. The table of values is the grammar of steps that make tensors; section 16 of the public header
 * describes it. Called by parse.c. It knows words and their order, not what a name stands for. */
#include "program/read.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 64
#define MOST_INDICES TD_MAX_RANK
#define MOST_NESTED 32

/* Elements of an array that is read into, copied into the arena. */
void *td_read_keep(td_reader *r, const void *from, size_t bytes)
{
    void *copy = r->status ? NULL : td_arena_get(&r->program->arena, bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    else if (!copy && !r->status)
        r->status = TD_NO_MEMORY;
    return copy;
}

td_form *td_read_form(td_reader *r, td_form_kind kind, td_token word)
{
    const td_form form = {.kind = kind, .word = word};
    return td_read_keep(r, &form, sizeof form);
}

/* Characters up to a blank or a closing parenthesis: a dtype, a shape, a number. */
bool td_read_chunk(td_reader *r, const char *what, td_token *out)
{
    size_t length = 0;
    if (r->status || !td_read_peek(r) || *r->at == ')' || *r->at == '"')
        return td_read_name(r, what, out); /* says what is wrong */
    while (r->at[length] && !strchr(" \t)#,", r->at[length]))
        length++;
    if (!length)
        return td_read_name(r, what, out);
    *out = td_read_token(r, r->at, length);
    out->text = td_arena_copy(&r->program->arena, r->at, length);
    if (!out->text)
        r->status = TD_NO_MEMORY;
    r->at += length;
    return out->text != NULL;
}

/* A text in quotes, or one chunk: an argument by its name, a file. */
bool td_read_text(td_reader *r, const char *what, td_token *out)
{
    return td_read_peek(r) == '"' ? td_read_string(r, what, out) : td_read_name(r, what, out);
}

static bool is_stop(const char *at, size_t length)
{
    static const char *const stops[] = {"from", "count", "as", "at", "axis", "over", "policy"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (strlen(stops[i]) == length && memcmp(at, stops[i], length) == 0)
            return true;
    return false;
}

/* Words as they stand, up to the end of the line, a parenthesis or a word of the grammar; or a text in quotes. */
bool td_read_words(td_reader *r, const char *what, bool needed, td_token *out)
{
    if (r->status)
        return false;
    if (td_read_peek(r) == '"')
        return td_read_string(r, what, out);
    const char *const begin = r->at, *end = begin;
    while (td_read_peek(r) && *r->at != ')') {
        size_t length = 0;
        while (r->at[length] && !strchr(" \t)#", r->at[length]))
            length++;
        if (is_stop(r->at, length))
            break;
        r->at += length;
        end = r->at;
    }
    if (end == begin)
        return needed ? td_read_name(r, what, out) : true;
    *out = td_read_token(r, begin, (size_t)(end - begin));
    out->text = td_arena_copy(&r->program->arena, begin, (size_t)(end - begin));
    if (!out->text)
        r->status = TD_NO_MEMORY;
    return out->text != NULL;
}

/* -- clauses at the end of a line ---------------------------------------------------------------------------------- */

static bool read_clause(td_reader *r, td_form *form, unsigned allowed)
{
    if ((allowed & TD_CLAUSE_AS) && !form->as.text && td_read_word(r, "as"))
        return td_read_string(r, "a text, as \"i8 scale=0.05\",", &form->as);
    if ((allowed & TD_CLAUSE_POLICY) && !form->policy.text && td_read_word(r, "policy"))
        return td_read_string(r, "a text, as \"ulp=1\",", &form->policy);
    if ((allowed & TD_CLAUSE_AT) && !form->at && td_read_word(r, "at"))
        return (form->at = td_ex_read(r)) != NULL;
    if ((allowed & TD_CLAUSE_FROM) && !form->first && td_read_word(r, "from"))
        return (form->first = td_ex_read(r)) != NULL;
    if ((allowed & TD_CLAUSE_FROM) && !form->count && td_read_word(r, "count"))
        return (form->count = td_ex_read(r)) != NULL;
    if ((allowed & TD_CLAUSE_OVER) && !form->over && td_read_word(r, "over"))
        return form->over = true;
    return false;
}

void td_read_clauses(td_reader *r, td_form *form, unsigned allowed)
{
    while (td_read_peek(r) && *r->at != ')' && read_clause(r, form, allowed))
        continue;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static bool read_index(td_reader *r, td_index *out)
{
    *out = (td_index){0};
    if (td_read_peek(r) == '.' && strncmp(r->at, "...", 3) == 0) {
        r->at += 3;
        return out->dots = true;
    }
    if (td_read_peek(r) != ':' && !(out->first = td_ex_read(r)))
        return false;
    if (!td_read_char(r, ':'))
        return true;
    out->range = true;
    const int c = td_read_peek(r);
    if (c != ':' && c != ',' && c != ']' && !(out->last = td_ex_read(r)))
        return false;
    if (td_read_char(r, ':') && !(out->step = td_ex_read(r)))
        return false;
    return true;
}

/* x, or x[..] behind it. */
static td_form *read_slice(td_reader *r, td_form *of)
{
    td_index index[MOST_INDICES];
    size_t count = 0;
    if (!of || *r->at != '[')
        return r->status ? NULL : of;
    td_form *form = td_read_form(r, TD_FORM_SLICE, of->word);
    const char *const begin = r->at++;
    do {
        if (count == MOST_INDICES) {
            td_read_fail(r, TD_SHAPE, "more than %d places in brackets; a tensor has at most so many", MOST_INDICES);
            return NULL;
        }
        if (!read_index(r, &index[count++]))
            return NULL;
    } while (td_read_char(r, ','));
    if (!td_read_char(r, ']'))
        td_read_fail(r, TD_FORMAT, "a bracket that is not closed; end it with ]");
    if (r->status || !form)
        return NULL;
    form->text = td_read_token(r, begin, (size_t)(r->at - begin));
    form->index = td_read_keep(r, index, count * sizeof *index);
    form->indices = count;
    form->value = td_read_keep(r, (const void *)&of, sizeof(void *));
    form->values = 1;
    return r->status ? NULL : form;
}

/* A tensor where a step takes one: a name, a slice of one, or a step in parentheses. */
td_form *td_read_operand(td_reader *r, int nested)
{
    td_form *form = NULL;
    td_token name;
    if (nested > MOST_NESTED) {
        td_read_fail(r, TD_FORMAT, "steps in more than %d parentheses; give one of them a name", MOST_NESTED);
        return NULL;
    }
    if (td_read_char(r, '(')) {
        form = td_read_value(r, nested + 1);
        if (form && !td_read_char(r, ')'))
            td_read_fail(r, TD_FORMAT, "a parenthesis that is not closed; end it with )");
    } else if (td_read_name(r, "a tensor", &name)) {
        form = td_read_form(r, TD_FORM_NAME, name);
        if (form)
            form->name = name;
    }
    return r->status ? NULL : read_slice(r, form);
}

void td_read_add_operand(td_reader *r, td_form *form, td_form *operand)
{
    td_form *all[MOST_OPERANDS];
    if (!operand || r->status)
        return;
    if (form->values == MOST_OPERANDS) {
        td_read_fail(r, TD_FORMAT, "more than %d tensors; join them in two steps", MOST_OPERANDS);
        return;
    }
    if (form->values)
        memcpy((void *)all, (const void *)form->value, form->values * sizeof(void *));
    all[form->values++] = operand;
    form->value = td_read_keep(r, (const void *)all, form->values * sizeof(void *));
}

void td_read_layout(td_reader *r, td_form *form)
{
    td_read_text(r, "a layout", &form->layout);
}

static void read_open(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    td_read_text(r, "the name of a file, in quotes,", &form->text);
    if (!r->status && td_read_peek(r) && *r->at != ')')
        td_read_chunk(r, "a dtype", &form->dtype);
}

static void read_convert(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_string(r, "a text, as \"i8 scale=0.05\",", &form->text);
}

static void read_scale(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_chunk(r, "a number", &form->number[0]);
    td_read_words(r, "a word", false, &form->text);
}

static void read_pair(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_words(r, "a word", false, &form->text);
}

static void read_clamp(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_chunk(r, "a number", &form->number[0]);
    td_read_chunk(r, "a second number", &form->number[1]);
}

static void read_slice_step(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    td_read_string(r, "a text, as \"0:16, :\",", &form->text);
}

static void read_concat(td_reader *r, td_form *form, int nested)
{
    while (!r->status && td_read_peek(r) && *r->at != ')' && !td_read_word(r, "axis"))
        td_read_add_operand(r, form, td_read_operand(r, nested));
    if (!r->status && strncmp(r->at - 4, "axis", 4) != 0)
        td_read_fail(r, TD_FORMAT, "no axis; end the step with axis 0, or another dimension");
    if (!r->status && *r->at == '=') /* as options of add and mul write it */
        r->at++;
    td_read_chunk(r, "a dimension", &form->number[0]);
    if (!r->status && form->values == 0)
        td_read_fail_at(r, &form->word, TD_FORMAT, "concat of no tensor; name at least one");
}

static void read_transpose(td_reader *r, td_form *form, int nested)
{
    td_read_add_operand(r, form, td_read_operand(r, nested));
    if (!r->status && td_read_peek(r) == '"')
        td_read_string(r, "a text, as \"0 2 1\",", &form->text);
}

/* DTYPE 3x8x8, or "DTYPE 3 8 8". */
static void read_kind(td_reader *r, td_form *form)
{
    if (td_read_peek(r) == '"') {
        td_read_string(r, "a dtype and a shape", &form->dtype);
        return;
    }
    td_read_chunk(r, "a dtype", &form->dtype);
    td_read_chunk(r, "a shape, as 3x8x8,", &form->shape);
}

static void read_make(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    read_kind(r, form);
    td_read_words(r, "a filling, as ramp or random seed=7,", true, &form->text);
}

static void read_take(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    td_read_name(r, "a memory", &form->memory);
    read_kind(r, form);
    td_read_layout(r, form);
    td_read_clauses(r, form, TD_CLAUSE_AS | TD_CLAUSE_AT);
}

static void read_read(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    td_read_name(r, "a memory", &form->memory);
    form->first = td_ex_read(r);
    form->count = td_ex_read(r);
}

static const struct {
    const char *word;
    td_form_kind kind;
    void (*read)(td_reader *, td_form *, int nested);
} values[] = {
    {"open", TD_FORM_OPEN, read_open},
    {"convert", TD_FORM_CONVERT, read_convert},
    {"scale", TD_FORM_SCALE, read_scale},
    {"add", TD_FORM_ADD, read_pair},
    {"mul", TD_FORM_MUL, read_pair},
    {"clamp", TD_FORM_CLAMP, read_clamp},
    {"slice", TD_FORM_SLICE, read_slice_step},
    {"concat", TD_FORM_CONCAT, read_concat},
    {"transpose", TD_FORM_TRANSPOSE, read_transpose},
    {"fill", TD_FORM_MAKE, read_make},
    {"dump", TD_FORM_TAKE, read_take},
    {"read", TD_FORM_READ, read_read},
};
#define VALUES (sizeof values / sizeof *values)

td_form *td_read_value(td_reader *r, int nested)
{
    const char *known[VALUES];
    td_token word;
    if (td_read_peek(r) == '(')
        return td_read_operand(r, nested);
    if (!td_read_name(r, "a step, as open or convert,", &word))
        return NULL;
    for (size_t i = 0; i < VALUES; i++) {
        known[i] = values[i].word;
        if (strcmp(word.text, values[i].word) == 0) {
            td_form *form = td_read_form(r, values[i].kind, word);
            if (form)
                values[i].read(r, form, nested);
            return r->status ? NULL : form;
        }
    }
    if (*r->at == '[') { /* tensor y = x[3] */
        td_form *name = td_read_form(r, TD_FORM_NAME, word);
        if (name)
            name->name = word;
        return read_slice(r, name);
    }
    const char *near = td_suggest(word.text, known, VALUES);
    if (near)
        td_read_fail_at(r, &word, TD_FORMAT, "no step \"%s\"; did you mean \"%s\"?", word.text, near);
    else
        td_read_fail_at(
            r, &word, TD_FORMAT,
            "no step \"%s\"; use open, convert, scale, add, mul, clamp, slice, concat, transpose, fill, dump "
            "or read",
            word.text);
    return NULL;
}
