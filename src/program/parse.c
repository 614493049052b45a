/* The text of a program, line by line, into forms: td_program_parse. The table of statements and the one of values are
 * the grammar; section 16 of the public header describes it. Called by program.c for a file, a text and lines that are
 * added. It knows words and their order; whether a name stands for something is the business of elaborate.c. A text
 * that is refused leaves the program as it was. */
#include "program/read.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 64
#define MOST_INDICES TD_MAX_RANK
#define MOST_VALUES 1024
#define MOST_NESTED 32

static td_form *read_value(td_reader *r, int nested);

/* Elements of an array that is read into, copied into the arena. */
static void *keep(td_reader *r, const void *from, size_t bytes)
{
    void *copy = r->status ? NULL : td_arena_get(&r->program->arena, bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    else if (!copy && !r->status)
        r->status = TD_NO_MEMORY;
    return copy;
}

static td_form *make_form(td_reader *r, td_form_kind kind, td_token word)
{
    const td_form form = {.kind = kind, .word = word};
    return keep(r, &form, sizeof form);
}

/* Characters up to a blank or a closing parenthesis: a dtype, a shape, a number. */
static bool read_chunk(td_reader *r, const char *what, td_token *out)
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
static bool read_text(td_reader *r, const char *what, td_token *out)
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
static bool read_words(td_reader *r, const char *what, bool needed, td_token *out)
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

enum { AS = 1, AT = 2, POLICY = 4, OVER = 8, FROM = 16 };

static bool read_clause(td_reader *r, td_form *form, unsigned allowed)
{
    if ((allowed & AS) && !form->as.text && td_read_word(r, "as"))
        return td_read_string(r, "a text, as \"i8 scale=0.05\",", &form->as);
    if ((allowed & POLICY) && !form->policy.text && td_read_word(r, "policy"))
        return td_read_string(r, "a text, as \"ulp=1\",", &form->policy);
    if ((allowed & AT) && !form->at && td_read_word(r, "at"))
        return (form->at = td_ex_read(r)) != NULL;
    if ((allowed & FROM) && !form->first && td_read_word(r, "from"))
        return (form->first = td_ex_read(r)) != NULL;
    if ((allowed & FROM) && !form->count && td_read_word(r, "count"))
        return (form->count = td_ex_read(r)) != NULL;
    if ((allowed & OVER) && !form->over && td_read_word(r, "over"))
        return form->over = true;
    return false;
}

static void read_clauses(td_reader *r, td_form *form, unsigned allowed)
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
    const char c = td_read_peek(r);
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
    td_form *form = make_form(r, TD_FORM_SLICE, of->word);
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
    form->index = keep(r, index, count * sizeof *index);
    form->indices = count;
    form->value = keep(r, &of, sizeof of);
    form->values = 1;
    return r->status ? NULL : form;
}

/* A tensor where a step takes one: a name, a slice of one, or a step in parentheses. */
static td_form *read_operand(td_reader *r, int nested)
{
    td_form *form = NULL;
    td_token name;
    if (nested > MOST_NESTED) {
        td_read_fail(r, TD_FORMAT, "steps in more than %d parentheses; give one of them a name", MOST_NESTED);
        return NULL;
    }
    if (td_read_char(r, '(')) {
        form = read_value(r, nested + 1);
        if (form && !td_read_char(r, ')'))
            td_read_fail(r, TD_FORMAT, "a parenthesis that is not closed; end it with )");
    } else if (td_read_name(r, "a tensor", &name)) {
        form = make_form(r, TD_FORM_NAME, name);
        if (form)
            form->name = name;
    }
    return r->status ? NULL : read_slice(r, form);
}

static void add_operand(td_reader *r, td_form *form, td_form *operand)
{
    td_form *all[MOST_OPERANDS];
    if (!operand || r->status)
        return;
    if (form->values == MOST_OPERANDS) {
        td_read_fail(r, TD_FORMAT, "more than %d tensors; join them in two steps", MOST_OPERANDS);
        return;
    }
    if (form->values)
        memcpy(all, form->value, form->values * sizeof *all);
    all[form->values++] = operand;
    form->value = keep(r, all, form->values * sizeof *all);
}

static void read_layout(td_reader *r, td_form *form)
{
    read_text(r, "a layout", &form->layout);
}

static void read_open(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    read_text(r, "the name of a file, in quotes,", &form->text);
    if (!r->status && td_read_peek(r) && *r->at != ')')
        read_chunk(r, "a dtype", &form->dtype);
}

static void read_convert(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
    td_read_string(r, "a text, as \"i8 scale=0.05\",", &form->text);
}

static void read_scale(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
    read_chunk(r, "a number", &form->number[0]);
    read_words(r, "a word", false, &form->text);
}

static void read_pair(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
    add_operand(r, form, read_operand(r, nested));
    read_words(r, "a word", false, &form->text);
}

static void read_clamp(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
    read_chunk(r, "a number", &form->number[0]);
    read_chunk(r, "a second number", &form->number[1]);
}

static void read_slice_step(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
    td_read_string(r, "a text, as \"0:16, :\",", &form->text);
}

static void read_concat(td_reader *r, td_form *form, int nested)
{
    while (!r->status && td_read_peek(r) && *r->at != ')' && !td_read_word(r, "axis"))
        add_operand(r, form, read_operand(r, nested));
    if (!r->status && strncmp(r->at - 4, "axis", 4) != 0)
        td_read_fail(r, TD_FORMAT, "no axis; end the step with axis 0, or another dimension");
    read_chunk(r, "a dimension", &form->number[0]);
    if (!r->status && form->values == 0)
        td_read_fail_at(r, &form->word, TD_FORMAT, "concat of no tensor; name at least one");
}

static void read_transpose(td_reader *r, td_form *form, int nested)
{
    add_operand(r, form, read_operand(r, nested));
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
    read_chunk(r, "a dtype", &form->dtype);
    read_chunk(r, "a shape, as 3x8x8,", &form->shape);
}

static void read_make(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    read_kind(r, form);
    read_words(r, "a filling, as ramp or random seed=7,", true, &form->text);
}

static void read_take(td_reader *r, td_form *form, int nested)
{
    (void)nested;
    td_read_name(r, "a memory", &form->memory);
    read_kind(r, form);
    read_layout(r, form);
    read_clauses(r, form, AS | AT);
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

static td_form *read_value(td_reader *r, int nested)
{
    const char *known[VALUES];
    td_token word;
    if (td_read_peek(r) == '(')
        return read_operand(r, nested);
    if (!td_read_name(r, "a step, as open or convert,", &word))
        return NULL;
    for (size_t i = 0; i < VALUES; i++) {
        known[i] = values[i].word;
        if (strcmp(word.text, values[i].word) == 0) {
            td_form *form = make_form(r, values[i].kind, word);
            if (form)
                values[i].read(r, form, nested);
            return r->status ? NULL : form;
        }
    }
    if (*r->at == '[') { /* tensor y = x[3] */
        td_form *name = make_form(r, TD_FORM_NAME, word);
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

/* -- statements ---------------------------------------------------------------------------------------------------- */

static void read_equals(td_reader *r)
{
    if (!r->status && !td_read_char(r, '='))
        td_read_fail(r, TD_FORMAT, "no = behind the name; write one");
}

static void read_colon(td_reader *r)
{
    if (!r->status && !td_read_char(r, ':'))
        td_read_fail(r, TD_FORMAT, "no : at the end; write one, and the steps on lines below, indented");
}

static void read_tensor(td_reader *r, td_form *form)
{
    td_read_name(r, "the name of a tensor", &form->name);
    read_equals(r);
    if (!r->status)
        add_operand(r, form, read_value(r, 0));
}

static void read_load(td_reader *r, td_form *form)
{
    td_read_name(r, "a memory", &form->memory);
    add_operand(r, form, r->status ? NULL : read_operand(r, 0));
    read_layout(r, form);
    read_clauses(r, form, AS | AT | (form->kind == TD_FORM_LOAD ? OVER : 0));
}

static void read_fill(td_reader *r, td_form *form)
{
    td_read_name(r, "a memory", &form->memory);
    read_words(r, "a filling, as zero or random seed=7,", true, &form->text);
    read_clauses(r, form, FROM);
}

static void read_write(td_reader *r, td_form *form)
{
    td_token word[MOST_VALUES];
    td_read_name(r, "a memory", &form->memory);
    form->at = td_ex_read(r);
    do {
        if (form->word_values == MOST_VALUES)
            td_read_fail(r, TD_FORMAT, "more than %d words; write the others on a line of their own", MOST_VALUES);
        else if (read_chunk(r, "a word, as 0x1f,", &word[form->word_values]))
            form->word_values++;
    } while (!r->status && td_read_peek(r));
    form->word_value = keep(r, word, form->word_values * sizeof *word);
}

static void read_save(td_reader *r, td_form *form)
{
    add_operand(r, form, read_operand(r, 0));
    read_text(r, "the name of a file, in quotes,", &form->text);
}

/* checkpoint NAME MEMORY GOLDEN LAYOUT .., or checkpoint NAME TENSOR GOLDEN: which it is shows where a layout stands. */
static void read_checkpoint(td_reader *r, td_form *form)
{
    td_form *golden = NULL;
    read_text(r, "the name of the checkpoint", &form->name);
    const char *const begin = td_read_peek(r) ? r->at : r->at;
    if (td_read_peek(r) == '(')
        form->memory = td_read_token(r, begin, 1);
    else
        td_read_name(r, "a memory or a tensor", &form->memory);
    if (!r->status && (*begin == '(' || *r->at == '[')) { /* a tensor for sure */
        r->at = begin;
        add_operand(r, form, read_operand(r, 0));
        form->memory.text = NULL;
    }
    if (!r->status && td_read_peek(r) == '"') {
        td_token path;
        if (td_read_string(r, "a file", &path) && (golden = make_form(r, TD_FORM_OPEN, path)))
            golden->text = path;
    } else if (!r->status)
        golden = read_operand(r, 0);
    add_operand(r, form, golden);
    if (!r->status && form->memory.text && td_read_peek(r) && strncmp(r->at, "policy", 6) != 0)
        read_layout(r, form);
    read_clauses(r, form, form->layout.text ? AS | AT | POLICY : POLICY);
}

static void read_for(td_reader *r, td_form *form)
{
    td_read_name(r, "a loop variable", &form->name);
    if (!r->status && !td_read_word(r, "in"))
        td_read_fail(r, TD_FORMAT, "no `in` behind the variable; write for %s in 0..16:", form->name.text);
    form->first = td_ex_read(r);
    if (!r->status && (td_read_peek(r) != '.' || r->at[1] != '.'))
        td_read_fail(r, TD_FORMAT, "no .. between the ends; write for %s in 0..16:", form->name.text);
    if (!r->status)
        r->at += 2;
    form->count = td_ex_read(r);
    read_colon(r);
}

static void read_label(td_reader *r, td_form *form)
{
    td_read_name(r, "the name of a label", &form->name);
    read_colon(r);
}

static void read_arg(td_reader *r, td_form *form)
{
    td_read_name(r, "the name of an argument", &form->name);
    read_equals(r);
    if (!r->status && td_read_peek(r) == '"')
        td_read_string(r, "a text", &form->text);
    else
        read_chunk(r, "a number or a text", &form->text);
}

static void read_use(td_reader *r, td_form *form)
{
    td_read_string(r, "the name of a layout file, in quotes,", &form->text);
}

static void read_layout_line(td_reader *r, td_form *form)
{
    td_read_name(r, "the name of a layout", &form->name);
    read_equals(r);
    td_read_string(r, "a text, as \"r c -> r c; c=4\",", &form->text);
}

static const struct {
    const char *word;
    td_form_kind kind;
    void (*read)(td_reader *, td_form *);
} statements[] = {
    {"tensor", TD_FORM_TENSOR, read_tensor},
    {"load", TD_FORM_LOAD, read_load},
    {"dump", TD_FORM_DUMP, read_load},
    {"fill", TD_FORM_FILL, read_fill},
    {"write", TD_FORM_WRITE, read_write},
    {"save", TD_FORM_SAVE, read_save},
    {"checkpoint", TD_FORM_CHECKPOINT, read_checkpoint},
    {"for", TD_FORM_FOR, read_for},
    {"label", TD_FORM_LABEL, read_label},
    {"arg", TD_FORM_ARG, read_arg},
    {"use", TD_FORM_USE, read_use},
    {"layout", TD_FORM_LAYOUT, read_layout_line},
};
#define STATEMENTS (sizeof statements / sizeof *statements)

/* How many blocks the line stands in, by its indentation. */
static bool find_depth(td_reader *r, unsigned *depth)
{
    td_program *p = r->program;
    const unsigned indent = (unsigned)strspn(r->line->text, " ");
    if (r->line->text[indent] == '\t')
        return td_read_fail(r, TD_FORMAT, "a tab in front of the step; indent with blanks");
    if (p->opens) {
        const unsigned above = p->indent[p->depth];
        if (indent <= above)
            return td_read_fail(r, TD_FORMAT, "the block above has no steps; indent this line by more than %u blanks",
                                above);
        if (p->depth + 1 == TD_MOST_DEPTH)
            return td_read_fail(r, TD_FORMAT, "blocks in more than %d others; write fewer", TD_MOST_DEPTH - 1);
        p->indent[++p->depth] = indent;
        p->opens = false;
    }
    while (p->depth && p->indent[p->depth] > indent)
        p->depth--;
    if (p->indent[p->depth] != indent)
        return td_read_fail(r, TD_FORMAT, "an indentation of %u blanks; use %u, as the lines above", indent,
                            p->indent[p->depth]);
    *depth = p->depth;
    return true;
}

static td_form *read_statement(td_reader *r)
{
    const char *known[STATEMENTS];
    td_token word;
    if (!td_read_name(r, "a step, as load or tensor,", &word))
        return NULL;
    for (size_t i = 0; i < STATEMENTS; i++) {
        known[i] = statements[i].word;
        if (strcmp(word.text, statements[i].word) != 0)
            continue;
        td_form *form = make_form(r, statements[i].kind, word);
        if (form)
            statements[i].read(r, form);
        if (!r->status && td_read_peek(r))
            td_read_fail(r, TD_FORMAT, "\"%s\" behind the end of the step; take it out", r->at);
        return r->status ? NULL : form;
    }
    const char *near = td_suggest(word.text, known, STATEMENTS);
    if (near)
        td_read_fail_at(r, &word, TD_FORMAT, "no step \"%s\"; did you mean \"%s\"?", word.text, near);
    else
        td_read_fail_at(
            r, &word, TD_FORMAT,
            "no step \"%s\"; use tensor, load, dump, fill, write, save, checkpoint, for, label, arg, use or "
            "layout",
            word.text);
    return NULL;
}

static td_status read_line(td_program *p, const char *text, size_t length)
{
    td_line *line = td_arena_get(&p->arena, sizeof *line);
    if (!line)
        return TD_NO_MEMORY;
    length -= length && text[length - 1] == '\r';
    line->number = ++p->lines;
    line->text = td_arena_copy(&p->arena, text, length);
    if (!line->text)
        return TD_NO_MEMORY;
    td_reader r = {.program = p, .line = line, .at = line->text};
    unsigned depth = 0;
    if (!td_read_peek(&r) || !find_depth(&r, &depth))
        return r.status;
    td_form *form = read_statement(&r);
    if (!form)
        return r.status;
    form->depth = depth;
    p->opens = form->kind == TD_FORM_FOR || form->kind == TD_FORM_LABEL;
    *(p->last ? &p->last->next : &p->first) = form;
    p->last = form;
    p->forms++;
    return TD_OK;
}

td_status td_program_parse(td_program *p, const char *text)
{
    td_form *const last = p->last;
    const td_program before = *p;
    td_status status = TD_OK;
    while (*text && !status) {
        const size_t length = strcspn(text, "\n");
        status = read_line(p, text, length);
        text += length + (text[length] == '\n');
    }
    if (!status)
        return TD_OK;
    const td_arena arena = p->arena; /* what was read stays in it until the program goes */
    *p = before;
    p->arena = arena;
    if (last)
        last->next = NULL;
    return status;
}
