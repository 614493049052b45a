/* readmem text, as IEEE 1800-2017 section 21.4 has it, of any width: $readmemh (.hex, .mem, .vmem, .memh) and $readmemb
 * (.memb). Words in hex or binary digits and @address in hex digits, _ between them, both comment styles. One scanner
 * serves both passes of a load, the depth and the spans of an image. With unit=byte every number is a byte, as objcopy
 * and the loaders of processors write it; with address=byte only the addresses count bytes. It refuses x and z unless
 * the options say what they are, words wider than the memory and addresses past it, each with its line. */
#include "files/image/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGIT = 0x10, UNDERSCORE = 0x20, SPACE = 0x40, UNKNOWN = 0x80 }; /* the low four bits are the digit */

#define X(digit) (DIGIT | (digit))
static const uint8_t hex_kind[256] = {
    ['0'] = X(0),    ['1'] = X(1),    ['2'] = X(2),    ['3'] = X(3),    ['4'] = X(4),       ['5'] = X(5),
    ['6'] = X(6),    ['7'] = X(7),    ['8'] = X(8),    ['9'] = X(9),    ['a'] = X(10),      ['b'] = X(11),
    ['c'] = X(12),   ['d'] = X(13),   ['e'] = X(14),   ['f'] = X(15),   ['A'] = X(10),      ['B'] = X(11),
    ['C'] = X(12),   ['D'] = X(13),   ['E'] = X(14),   ['F'] = X(15),   ['_'] = UNDERSCORE, [' '] = SPACE,
    ['\t'] = SPACE,  ['\n'] = SPACE,  ['\r'] = SPACE,  ['\v'] = SPACE,  ['\f'] = SPACE,     ['x'] = UNKNOWN,
    ['X'] = UNKNOWN, ['z'] = UNKNOWN, ['Z'] = UNKNOWN, ['?'] = UNKNOWN,
};
#undef X

typedef struct scanner {
    const unsigned char *begin;
    const unsigned char *end;
    const td_file_options *options;
    td_image *image;
    const uint8_t *kind;   /* of the characters of a word */
    unsigned digit_bits;   /* of a word: 4 or 1 */
    uint64_t number_bits;  /* what one number of the text may have: the width, or 8 */
    size_t number_bytes;   /* of it as it is stored */
    bool eight_at_once;    /* words are hex digits and nothing else */
    uint8_t own_kind[256]; /* what `kind` points to where it is not hex_kind */
} scanner;

/* -- errors; the line is counted only when one is needed -- */

static size_t line_of(const scanner *s, const unsigned char *at)
{
    size_t line = 1;
    for (const unsigned char *p = s->begin; (p = memchr(p, '\n', (size_t)(at - p))) != NULL; p++)
        line++;
    return line;
}

static const char *digits_text(const scanner *s)
{
    return s->digit_bits == 4 ? "0-9 or a-f" : "0 or 1";
}

static td_status fail_char(const scanner *s, const unsigned char *at)
{
    size_t line = line_of(s, at);
    char letter = s->digit_bits == 4 ? 'h' : 'b';
    if (hex_kind[*at] == UNKNOWN)
        return td_fail(TD_FORMAT,
                       "line %zu: the digit %c; a memory holds 0 and 1 only, so write %s, or read it as zero with "
                       "readmem%c,x=0:FILE",
                       line, *at, digits_text(s), letter);
    if (at == s->begin && (*at == ':' || *at == 'S'))
        return td_fail(TD_FORMAT, "the file begins as %s, not as readmem text; name it %s:FILE",
                       *at == ':' ? "Intel hex" : "S-records", *at == ':' ? "ihex" : "srec");
    char shown[8];
    if (*at > ' ' && *at < 0x7f)
        snprintf(shown, sizeof shown, "'%c'", *at);
    else
        snprintf(shown, sizeof shown, "0x%02x", *at);
    return td_fail(TD_FORMAT, "line %zu: unexpected character %s; words are the digits %s with _ between them", line,
                   shown, s->digit_bits == 4 ? "0-9 a-f" : "0 1");
}

static uint64_t bits_of(const scanner *s, const unsigned char *token, const unsigned char *token_end)
{
    uint64_t bits = 0;
    for (; token < token_end; token++) {
        unsigned digit = s->kind[*token] & 15u;
        if (s->kind[*token] & DIGIT)
            bits = bits ? bits + s->digit_bits : digit ? 32 - (uint64_t)__builtin_clz(digit) : 0;
    }
    return bits;
}

static td_status fail_width(const scanner *s, const unsigned char *token, const unsigned char *token_end)
{
    size_t line = line_of(s, token);
    uint64_t bits = bits_of(s, token, token_end);
    if (s->options->byte_units)
        return td_fail(TD_FORMAT, "line %zu: a number of %" PRIu64 " bits where unit=byte has 8; leave unit=byte out",
                       line, bits);
    return td_fail(TD_FORMAT,
                   "line %zu: a word of %" PRIu64 " bits for a width of %" PRIu64
                   "; widen the memory or correct the word",
                   line, bits, s->number_bits);
}

static td_status fail_address(const scanner *s, uint64_t address, const unsigned char *at)
{
    return td_fail(TD_RANGE,
                   "line %zu: address 0x%" PRIx64 " is past the memory of %" PRIu64
                   " words; the last address is 0x%" PRIx64,
                   line_of(s, at), address, s->image->depth_words, s->image->depth_words - 1);
}

/* -- tokens: each gets *at on its first character and leaves it after the last -- */

static td_status skip_comment(const scanner *s, const unsigned char **at)
{
    const unsigned char *p = *at + 1;
    if (p < s->end && *p == '/') {
        p = memchr(p, '\n', (size_t)(s->end - p));
        *at = p ? p : s->end;
        return TD_OK;
    }
    if (p == s->end || *p != '*')
        return fail_char(s, *at);
    for (p++; p < s->end && (p = memchr(p, '*', (size_t)(s->end - p))) != NULL; p++)
        if (p + 1 < s->end && p[1] == '/') {
            *at = p + 2;
            return TD_OK;
        }
    return td_fail(TD_FORMAT, "line %zu: a comment /* that never ends; close it with */", line_of(s, *at));
}

/* A number that ends with the text, a space or a comment; `lost` collects what passes 64 bits. */
static inline td_status take_number(const scanner *s, const uint8_t *kind, unsigned digit_bits,
                                    const unsigned char **at, uint64_t *value, uint64_t *lost)
{
    const unsigned char *p = *at;
    uint64_t bits = 0;
    uint64_t over = 0;
    bool any = false;
    for (; p < s->end; p++) {
        unsigned k = kind[*p];
        if (k & DIGIT) {
            over |= bits >> (64 - digit_bits);
            bits = bits << digit_bits | (k & 15u);
            any = true;
        } else if (k != UNDERSCORE) {
            break;
        }
    }
    if (p < s->end && kind[*p] != SPACE && (*p != '/' || !any))
        return fail_char(s, p);
    if (!any)
        return td_fail(TD_FORMAT, "line %zu: a number without digits; write %s", line_of(s, *at),
                       kind == hex_kind ? "0-9 or a-f" : digits_text(s));
    *at = p;
    *value = bits;
    *lost = over;
    return TD_OK;
}

/* Eight hex characters, the first the most significant, known to be digits. */
static inline uint32_t eight_digits(const unsigned char *text)
{
    uint64_t v = 0;
    memcpy(&v, text, 8);
    v = (v & 0x0f0f0f0f0f0f0f0fu) + 9 * ((v >> 6) & 0x0101010101010101u);
    v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;
    v = (v << 8 | v >> 16) & 0x0000ffff0000ffffu;
    return (uint32_t)(v << 16 | v >> 32);
}

/* Digits into a word of whole 32-bit parts, from the last digit up; what stands above fits, or is zeros. */
static void decode_wide(const scanner *s, const unsigned char *token, const unsigned char *p, unsigned char *word)
{
    for (size_t b = 0; b < s->number_bytes; b += 4) {
        uint32_t part = 0;
        if (s->eight_at_once && p - token >= 8 && !memchr(p - 8, '_', 8)) {
            p -= 8;
            part = eight_digits(p);
        } else {
            for (unsigned shift = 0; p > token && shift < 32;)
                if (s->kind[*--p] & DIGIT) {
                    part |= (s->kind[*p] & 15u) << shift;
                    shift += s->digit_bits;
                }
        }
        memcpy(word + b, &part, 4);
    }
}

static td_status take_wide(const scanner *s, const unsigned char **at, unsigned char *word)
{
    const unsigned char *p = *at;
    bool any = false;
    for (; p < s->end && s->kind[*p] & (DIGIT | UNDERSCORE); p++)
        any |= s->kind[*p] != UNDERSCORE;
    if (p < s->end && s->kind[*p] != SPACE && (*p != '/' || !any))
        return fail_char(s, p);
    if (!any)
        return td_fail(TD_FORMAT, "line %zu: a number without digits; write %s", line_of(s, *at), digits_text(s));
    /* The usual token is short enough to fit whatever its first digit is; only others are looked at. */
    if ((uint64_t)(p - *at) * s->digit_bits > s->number_bits && bits_of(s, *at, p) > s->number_bits)
        return fail_width(s, *at, p);
    if (word)
        decode_wide(s, *at, p, word);
    *at = p;
    return TD_OK;
}

static inline td_status take_narrow(const scanner *s, const unsigned char **at, unsigned char *word)
{
    const unsigned char *token = *at;
    uint64_t value = 0;
    uint64_t lost = 0;
    td_status status = take_number(s, s->kind, s->digit_bits, at, &value, &lost);
    if (status != TD_OK)
        return status;
    if (lost || (s->number_bits < 64 && value >> s->number_bits))
        return fail_width(s, token, *at);
    if (word)
        memcpy(word, &value, s->number_bytes);
    return TD_OK;
}

/* -- the two ways to place a number -- */

static td_status place_byte(scanner *s, const unsigned char **at, uint64_t address)
{
    const unsigned char *token = *at;
    unsigned char byte = 0;
    td_status status = take_narrow(s, at, &byte);
    if (status == TD_OK && (status = td_image_put_bytes(s->image, s->options, address, &byte, 1)) != TD_OK)
        td_fail_prefix("line %zu: ", line_of(s, token));
    return status;
}

/* `mark` is the @address that the word follows, or NULL. */
static td_status place_word(scanner *s, const unsigned char **at, uint64_t address, const unsigned char *mark)
{
    td_image *image = s->image;
    const unsigned char *place = mark ? mark : *at;
    if (address < s->options->base)
        return td_fail(TD_RANGE,
                       "line %zu: address 0x%" PRIx64 " is in front of the base 0x%" PRIx64 "; pass a lower base",
                       line_of(s, place), address, s->options->base);
    uint64_t first = address - s->options->base;
    if (s->options->byte_addresses) {
        if (first % image->file_bytes != 0)
            return td_fail(TD_FORMAT,
                           "line %zu: byte address 0x%" PRIx64
                           " is not that of a word of %zu bytes; the file is of another width",
                           line_of(s, place), address, image->file_bytes);
        first /= image->file_bytes;
    }
    if (first >= image->depth_words)
        return fail_address(s, address, place);
    td_image_note(image, first, 1);
    unsigned char *word = image->data ? image->data + (size_t)first * image->word_bytes : NULL;
    return image->width_bits <= 64 ? take_narrow(s, at, word) : take_wide(s, at, word);
}

static td_status scan_text(scanner *s)
{
    const unsigned char *p = s->begin;
    const unsigned char *mark = NULL;
    uint64_t address = s->options->base;
    uint64_t step = s->options->byte_addresses ? s->image->file_bytes : 1;
    while (p < s->end) {
        td_status status = TD_OK;
        unsigned k = s->kind[*p];
        if (k == SPACE) {
            p++;
        } else if (k & (DIGIT | UNDERSCORE)) {
            status = s->options->byte_units ? place_byte(s, &p, address) : place_word(s, &p, address, mark);
            address += step;
            mark = NULL;
        } else if (*p == '@') {
            uint64_t lost = 0;
            mark = p++;
            status = take_number(s, hex_kind, 4, &p, &address, &lost);
            if (lost)
                address = UINT64_MAX;
        } else if (*p == '/') {
            status = skip_comment(s, &p);
        } else {
            status = fail_char(s, p);
        }
        if (status != TD_OK)
            return status;
    }
    if (s->image->top_words == 0)
        return td_fail(TD_FORMAT, "the file holds no words; an image has at least one");
    return TD_OK;
}

static td_status scan_digits(const td_file_map *file, const td_file_options *options, td_image *image,
                             unsigned digit_bits)
{
    bool bytes = options->byte_units;
    scanner s = {.begin = file->bytes,
                 .end = file->bytes + file->size,
                 .options = options,
                 .image = image,
                 .kind = hex_kind,
                 .digit_bits = digit_bits,
                 .number_bits = bytes ? 8 : image->width_bits,
                 .number_bytes = bytes ? 1 : image->word_bytes};
    s.eight_at_once = digit_bits == 4 && options->x_digit == TD_X_DIGIT_REFUSED;
    if (!s.eight_at_once) {
        memcpy(s.own_kind, hex_kind, sizeof s.own_kind);
        for (unsigned c = 0; c < 256; c++) {
            if (s.own_kind[c] & DIGIT && (s.own_kind[c] & 15u) >> digit_bits)
                s.own_kind[c] = 0;
            if (s.own_kind[c] == UNKNOWN && options->x_digit != TD_X_DIGIT_REFUSED)
                s.own_kind[c] = (uint8_t)(DIGIT | (options->x_digit == TD_X_DIGIT_ONE ? (1u << digit_bits) - 1 : 0));
        }
        s.kind = s.own_kind;
    }
    return scan_text(&s);
}

static td_status scan_h(const td_file_map *file, const td_file_options *options, td_image *image)
{
    return scan_digits(file, options, image, 4);
}

static td_status scan_b(const td_file_map *file, const td_file_options *options, td_image *image)
{
    return scan_digits(file, options, image, 1);
}

const td_image_format td_format_readmemh = {scan_h, td_readmemh_save};
const td_image_format td_format_readmemb = {scan_b, td_readmemb_save};
