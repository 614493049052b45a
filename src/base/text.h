/* What the parsers and printers share: a string that grows, the characters of names, and whole numbers. */
#ifndef TD_TEXT_H
#define TD_TEXT_H

#include "base/status.h"

/* vsnprintf, snprintf, strtod and strtof as in the C locale and rounding to nearest, whatever the caller's program has
 * set: a simulator with a decimal comma reads and writes the same text. */
int td_text_vprint(char *text, size_t bytes, const char *fmt, va_list args) TD_PRINTF(3, 0);
int td_text_print(char *text, size_t bytes, const char *fmt, ...) TD_PRINTF(3, 4);
double td_text_real(const char *text, char **end);
float td_text_real_f32(const char *text, char **end);

/* A string that grows. A refused allocation leaves it as it was and sets `failed`. Zero-initialise it; free `text`. */
typedef struct td_text {
    char *text;
    size_t used;
    size_t room;
    bool failed;
} td_text;

void td_text_add(td_text *t, const char *fmt, ...) TD_PRINTF(2, 3);

/* "bit 3", "bits 7:0", "bits 29:1 step 4": so many bits from `first` on, each `step` from the one before. */
void td_text_bits(td_text *t, uint64_t first, uint64_t bits, int64_t step);

/* "unexpected character '!'", "unexpected byte 0x07" or, at the end, "unexpected end". Returns text. */
#define TD_UNEXPECTED_BYTES 32
const char *td_text_unexpected(const char *at, char *text);

/* The end of a noun behind a count: "1 bit", "2 bits". */
static inline const char *td_text_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool td_is_name_start(char c);
bool td_is_name_char(char c);

/* A non-negative integer, decimal or 0x, with `_` between digits; false when there is none or it passes 2^63 - 1. Moves
 * *at past it. */
bool td_text_number(const char **at, uint64_t *value);

#endif
