/* One line of a program while it is read: words, texts, numbers, and what a refusal says. parse.c, parse_values.c and
 * expr.c use it. */
#ifndef TD_PROGRAM_READ_H
#define TD_PROGRAM_READ_H

#include "program/program.h"

struct td_reader {
    td_program *program;
    const td_line *line;
    const char *at;
    td_status status;   /* of the first failure; readers return NULL or false from then on */
    unsigned operators; /* of the expression that is read */
};

/* Skips blanks; the character that follows, 0 at the end of the line and at a comment. */
int td_read_peek(td_reader *r);

/* The token of `length` characters at `at`. */
td_token td_read_token(const td_reader *r, const char *at, size_t length);

/* Takes the character or the word when it is next. */
bool td_read_char(td_reader *r, char c);
bool td_read_word(td_reader *r, const char *word);

/* A name; `what` is said where there is none: "a memory". */
bool td_read_name(td_reader *r, const char *what, td_token *out);

/* "text", with \" and \\ in it. */
bool td_read_string(td_reader *r, const char *what, td_token *out);

/* A failure with a place: here, where the next word stands, or at a token. */
bool td_read_fail(td_reader *r, td_status status, const char *fmt, ...) TD_PRINTF(3, 4);
bool td_read_fail_at(td_reader *r, const td_token *at, td_status status, const char *fmt, ...) TD_PRINTF(4, 5);

/* parse_values.c: what statements are made of. A copy in the program's arena; a form. */
void *td_read_keep(td_reader *r, const void *from, size_t bytes);
td_form *td_read_form(td_reader *r, td_form_kind kind, td_token word);

/* Characters up to a blank or a closing parenthesis; a text in quotes, or one chunk; words as they stand. */
bool td_read_chunk(td_reader *r, const char *what, td_token *out);
bool td_read_text(td_reader *r, const char *what, td_token *out);
bool td_read_words(td_reader *r, const char *what, bool needed, td_token *out);

/* A tensor: a name, a slice, or a step in parentheses, `nested` of them deep; the step itself. */
td_form *td_read_operand(td_reader *r, int nested);
void td_read_add_operand(td_reader *r, td_form *form, td_form *operand);
td_form *td_read_value(td_reader *r, int nested);

/* A layout; the clauses at the end of a line. */
enum { TD_CLAUSE_AS = 1, TD_CLAUSE_AT = 2, TD_CLAUSE_POLICY = 4, TD_CLAUSE_OVER = 8, TD_CLAUSE_FROM = 16 };
void td_read_layout(td_reader *r, td_form *form);
void td_read_clauses(td_reader *r, td_form *form, unsigned allowed);

#endif
