/* One line of a program while it is read: words, texts, numbers, and what a refusal says. parse.c and expr.c use it. */
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
char td_read_peek(td_reader *r);

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

#endif
