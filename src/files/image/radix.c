/* See radix.h. Called by mif.c and coe.c; refuses digits that the radix does not have and words that are too wide. */
#include "files/image/radix.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t td_radix_word(td_radix_text *text, const unsigned char **word)
{
    *word = text->at;
    while (text->at < text->end && is_word(*text->at))
        text->at++;
    return (size_t)(text->at - *word);
}

static unsigned digit_of(unsigned char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 255u;
}

static td_status fail_wide(const td_radix_text *text, const unsigned char *word, size_t length, uint64_t width_bits)
{
    return td_fail(TD_FORMAT,
                   "line %zu: the word %.*s does not fit in a width of %" PRIu64
                   " bits; widen the memory or correct the word",
                   text->line, (int)(length < 40 ? length : 40), (const char *)word, width_bits);
}

static td_status read_decimal(const td_radix_text *text, const unsigned char *word, size_t length, uint64_t width_bits,
                              uint64_t *value)
{
    uint64_t number = 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, digit_of(word[i]), &number))
            return fail_wide(text, word, length, width_bits < 64 ? width_bits : 64);
    if (width_bits < 64 && number >> width_bits)
        return fail_wide(text, word, length, width_bits);
    *value = number;
    return TD_OK;
}

td_status td_radix_number(const td_radix_text *text, const unsigned char *word, size_t length, unsigned radix,
                          uint64_t width_bits, unsigned char *out, size_t bytes)
{
    memset(out, 0, bytes);
    for (size_t i = 0; i < length; i++)
        if (digit_of(word[i]) >= radix)
            return td_fail(TD_FORMAT, "line %zu: '%c' in the word %.*s is no digit of radix %u; correct the word",
                           text->line, word[i], (int)(length < 40 ? length : 40), (const char *)word, radix);
    if (radix == 10) {
        uint64_t value = 0;
        const td_status status = read_decimal(text, word, length, width_bits, &value);
        for (size_t b = 0; b < bytes && b < 8; b++)
            out[b] = (unsigned char)(value >> 8 * b);
        return status;
    }
    const unsigned step = radix == 16 ? 4 : radix == 8 ? 3 : 1;
    uint64_t bit = 0;
    for (size_t i = length; i-- > 0; bit += step)
        for (unsigned k = 0; k < step; k++) {
            if (!(digit_of(word[i]) >> k & 1))
                continue;
            if (bit + k >= width_bits)
                return fail_wide(text, word, length, width_bits);
            out[(bit + k) / 8] |= (unsigned char)(1u << (bit + k) % 8);
        }
    return TD_OK;
}

td_status td_radix_put(const td_radix_text *text, td_image *image, uint64_t address, uint64_t count,
                       const unsigned char *stored, size_t words)
{
    const size_t bytes = image->word_bytes;
    if (address >= image->depth_words || count > image->depth_words - address)
        return td_fail(TD_RANGE,
                       "line %zu: address 0x%" PRIx64 " is past the memory of %" PRIu64
                       " words; the last address is 0x%" PRIx64,
                       text->line, address >= image->depth_words ? address : image->depth_words, image->depth_words,
                       image->depth_words - 1);
    td_image_note(image, address, count);
    for (uint64_t i = 0; image->data && i < count; i++)
        memcpy(image->data + (size_t)(address + i) * bytes, stored + i % words * bytes, bytes);
    return TD_OK;
}

void td_radix_put_hex(td_writer *writer, const unsigned char *word, uint64_t width_bits)
{
    for (uint64_t digit = (width_bits + 3) / 4; digit-- > 0;)
        *td_writer_reserve(writer, 1) = (unsigned char)"0123456789ABCDEF"[word[digit / 2] >> digit % 2 * 4 & 15];
}

void td_radix_print(td_writer *writer, const char *fmt, ...)
{
    char line[200];
    va_list args;
    va_start(args, fmt);
    const int length = td_text_vprint(line, sizeof line, fmt, args);
    va_end(args);
    td_writer_put(writer, line, (size_t)length);
}
