/* Small tools of the parsers: a growing string, names and numbers. */
#ifndef TD_TEXT_H
#define TD_TEXT_H

#include "base/status.h"

/* A string that grows; after a refused allocation it stays as it was and `failed` is set. Zero-initialise; free `text`. */
typedef struct td_text {
    char *text;
    size_t used;
    size_t room;
    bool failed;
} td_text;

void td_text_add(td_text *t, const char *fmt, ...) TD_PRINTF(2, 3);

/* "unexpected character '!'", "unexpected byte 0x07" or, at the end, "unexpected end". Returns text. */
#define TD_UNEXPECTED_BYTES 32
const char *td_text_unexpected(const char *at, char *text);

bool td_is_name_start(char c);
bool td_is_name_char(char c);

/* A non-negative integer, decimal or 0x, with `_` between digits; false when there is none or it passes 2^63 - 1. Moves
 * *at behind it. */
bool td_text_number(const char **at, uint64_t *value);

#endif
