/* What the initialisation files of FPGA tools share (.mif, .coe): words in a radix that the file says, read and
 * written. */
#ifndef TD_RADIX_H
#define TD_RADIX_H

#include "files/image/formats.h"

/* A place in a text, which is not terminated, with its line for messages. */
typedef struct td_radix_text {
    const unsigned char *at, *end;
    size_t line;
} td_radix_text;

/* The next word of letters, digits and _ in *word; its length, 0 where another character stands there. */
size_t td_radix_word(td_radix_text *text, const unsigned char **word);

/* The digits of a word in radix 2, 8, 10 or 16 as a number of at most `width_bits` bits, little endian in `bytes`
 * bytes, which are cleared first. Decimal numbers have at most 64 bits. TD_FORMAT with the line. */
td_status td_radix_number(const td_radix_text *text, const unsigned char *word, size_t length, unsigned radix,
                          uint64_t width_bits, unsigned char *out, size_t bytes);

/* Puts `words` words, over and over, at `count` addresses. TD_RANGE past the memory. */
td_status td_radix_put(const td_radix_text *text, td_image *image, uint64_t address, uint64_t count,
                       const unsigned char *stored, size_t words);

/* All hex digits that the width has, upper case, the highest first. */
void td_radix_put_hex(td_writer *writer, const unsigned char *word, uint64_t width_bits);

void td_radix_print(td_writer *writer, const char *fmt, ...) TD_PRINTF(2, 3);

#endif
