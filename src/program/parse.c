/* The text of a program, line by line, into forms: td_program_parse. The table of statements is the grammar of lines,
 * with that of values in parse_values.c; section 16 of the public header describes it. Called by program.c for a file,
 * a text and lines that are added. It knows words and their order; whether a name stands for something is the business
 * of elaborate.c. A text that is refused leaves the program as it was. */
#include "program/read.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 1024

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
        td_read_add_operand(r, form, td_read_value(r, 0));
}

static void read_load(td_reader *r, td_form *form)
{
    td_read_name(r, "a memory", &form->memory);
    td_read_add_operand(r, form, r->status ? NULL : td_read_operand(r, 0));
    td_read_layout(r, form);
    td_read_clauses(r, form, TD_CLAUSE_AS | TD_CLAUSE_AT | (form->kind == TD_FORM_LOAD ? TD_CLAUSE_OVER : 0));
}

static void read_fill(td_reader *r, td_form *form)
{
    td_read_name(r, "a memory", &form->memory);
    td_read_words(r, "a filling, as zero or random seed=7,", true, &form->text);
    td_read_clauses(r, form, TD_CLAUSE_FROM);
}

static void read_write(td_reader *r, td_form *form)
{
    td_token word[MOST_VALUES];
    td_read_name(r, "a memory", &form->memory);
    form->at = td_ex_read(r);
    do {
        if (form->word_values == MOST_VALUES)
            td_read_fail(r, TD_FORMAT, "more than %d words; write the others on a line of their own", MOST_VALUES);
        else if (td_read_chunk(r, "a word, as 0x1f,", &word[form->word_values]))
            form->word_values++;
    } while (!r->status && td_read_peek(r));
    form->word_value = td_read_keep(r, word, form->word_values * sizeof *word);
}

static void read_save(td_reader *r, td_form *form)
{
    td_read_add_operand(r, form, td_read_operand(r, 0));
    td_read_text(r, "the name of a file, in quotes,", &form->text);
}

/* checkpoint NAME MEMORY GOLDEN LAYOUT .., or NAME TENSOR GOLDEN: which it is shows where a layout stands. */
static void read_checkpoint(td_reader *r, td_form *form)
{
    td_form *golden = NULL;
    td_read_text(r, "the name of the checkpoint", &form->name);
    const bool step = td_read_peek(r) == '(';
    const char *const begin = r->at;
    if (step)
        form->memory = td_read_token(r, begin, 1);
    else
        td_read_name(r, "a memory or a tensor", &form->memory);
    if (!r->status && (*begin == '(' || *r->at == '[')) { /* a tensor for sure */
        r->at = begin;
        td_read_add_operand(r, form, td_read_operand(r, 0));
        form->memory.text = NULL;
    }
    if (!r->status && td_read_peek(r) == '"') {
        td_token path;
        if (td_read_string(r, "a file", &path) && (golden = td_read_form(r, TD_FORM_OPEN, path)))
            golden->text = path;
    } else if (!r->status)
        golden = td_read_operand(r, 0);
    td_read_add_operand(r, form, golden);
    if (!r->status && form->memory.text && td_read_peek(r) && strncmp(r->at, "policy", 6) != 0)
        td_read_layout(r, form);
    td_read_clauses(r, form, form->layout.text ? TD_CLAUSE_AS | TD_CLAUSE_AT | TD_CLAUSE_POLICY : TD_CLAUSE_POLICY);
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
        td_read_chunk(r, "a number or a text", &form->text);
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
        td_form *form = td_read_form(r, statements[i].kind, word);
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
