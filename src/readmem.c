/* $readmemh text (.hex, .mem, .vmem), as IEEE 1800-2017 section 21.4 has it, of any width: words and @address in hex
 * digits with _ between them, both comment styles. One scanner serves three callers: it finds the depth an image needs,
 * checks it against a memory, and, in a second pass over the mapped file, writes the words. It refuses x and z, words
 * wider than the memory and addresses past it, each with its line. */
#include "formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGIT = 0x10, UNDERSCORE = 0x20, SPACE = 0x40, UNKNOWN = 0x80 }; /* the low four bits are the digit */

#define X(digit) (DIGIT | (digit))
static const uint8_t kind[256] = {
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
    uint64_t width_bits;
    uint64_t depth_words;
    size_t word_bytes;
    unsigned char *data; /* NULL: check only */
    uint64_t top_words;  /* highest address + 1 */
} scanner;

/* -- errors; the line is counted only when one is needed -- */

static size_t line_of(const scanner *s, const unsigned char *at)
{
    size_t line = 1;
    for (const unsigned char *p = s->begin; (p = memchr(p, '\n', (size_t)(at - p))) != NULL; p++)
        line++;
    return line;
}

static td_status fail_char(const scanner *s, const unsigned char *at)
{
    size_t line = line_of(s, at);
    if (kind[*at] == UNKNOWN)
        return td_fail(TD_FORMAT, "line %zu: the digit %c; a memory holds 0 and 1 only, so write 0-9 or a-f", line,
                       *at);
    char shown[8];
    if (*at > ' ' && *at < 0x7f)
        snprintf(shown, sizeof shown, "'%c'", *at);
    else
        snprintf(shown, sizeof shown, "0x%02x", *at);
    return td_fail(TD_FORMAT, "line %zu: unexpected character %s; words are the digits 0-9 a-f with _ between them",
                   line, shown);
}

static uint64_t bits_of(const unsigned char *token, const unsigned char *token_end)
{
    uint64_t bits = 0;
    for (; token < token_end; token++) {
        unsigned digit = kind[*token] & 15u;
        if (kind[*token] & DIGIT)
            bits = bits ? bits + 4 : digit ? 32 - (uint64_t)__builtin_clz(digit) : 0;
    }
    return bits;
}

static td_status fail_width(const scanner *s, const unsigned char *token, const unsigned char *token_end)
{
    return td_fail(TD_FORMAT,
                   "line %zu: a word of %" PRIu64 " bits for a width of %" PRIu64
                   "; widen the memory or correct the word",
                   line_of(s, token), bits_of(token, token_end), s->width_bits);
}

static td_status fail_address(const scanner *s, uint64_t address, const unsigned char *at)
{
    return td_fail(TD_RANGE,
                   "line %zu: address 0x%" PRIx64 " is past the memory of %" PRIu64
                   " words; the last address is 0x%" PRIx64,
                   line_of(s, at), address, s->depth_words, s->depth_words - 1);
}

/* -- tokens: each gets *at on its first character and leaves it behind the last -- */

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
static inline td_status take_number(const scanner *s, const unsigned char **at, uint64_t *value, uint64_t *lost)
{
    const unsigned char *p = *at;
    uint64_t bits = 0;
    uint64_t over = 0;
    bool any = false;
    for (; p < s->end; p++) {
        unsigned k = kind[*p];
        if (k & DIGIT) {
            over |= bits >> 60;
            bits = bits << 4 | (k & 15u);
            any = true;
        } else if (k != UNDERSCORE) {
            break;
        }
    }
    if (p < s->end && kind[*p] != SPACE && (*p != '/' || !any))
        return fail_char(s, p);
    if (!any)
        return td_fail(TD_FORMAT, "line %zu: a number without digits; write 0-9 or a-f", line_of(s, *at));
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
static void decode_wide(const unsigned char *token, const unsigned char *p, unsigned char *word, size_t word_bytes)
{
    for (size_t b = 0; b < word_bytes; b += 4) {
        uint32_t part = 0;
        if (p - token >= 8 && !memchr(p - 8, '_', 8)) {
            p -= 8;
            part = eight_digits(p);
        } else {
            for (unsigned shift = 0; p > token && shift < 32;)
                if (kind[*--p] & DIGIT) {
                    part |= (kind[*p] & 15u) << shift;
                    shift += 4;
                }
        }
        memcpy(word + b, &part, 4);
    }
}

static td_status take_wide(const scanner *s, const unsigned char **at, unsigned char *word)
{
    const unsigned char *p = *at;
    bool any = false;
    for (; p < s->end && kind[*p] & (DIGIT | UNDERSCORE); p++)
        any |= kind[*p] != UNDERSCORE;
    if (p < s->end && kind[*p] != SPACE && (*p != '/' || !any))
        return fail_char(s, p);
    if (!any)
        return td_fail(TD_FORMAT, "line %zu: a number without digits; write 0-9 or a-f", line_of(s, *at));
    /* The usual token is short enough to fit whatever its first digit is; only others are looked at. */
    if ((uint64_t)(p - *at) * 4 > s->width_bits && bits_of(*at, p) > s->width_bits)
        return fail_width(s, *at, p);
    if (word)
        decode_wide(*at, p, word, s->word_bytes);
    *at = p;
    return TD_OK;
}

static inline td_status take_narrow(const scanner *s, const unsigned char **at, unsigned char *word)
{
    const unsigned char *token = *at;
    uint64_t value = 0;
    uint64_t lost = 0;
    td_status status = take_number(s, at, &value, &lost);
    if (status != TD_OK)
        return status;
    if (lost || (s->width_bits < 64 && value >> s->width_bits))
        return fail_width(s, token, *at);
    if (word)
        memcpy(word, &value, s->word_bytes);
    return TD_OK;
}

static td_status scan(scanner *s)
{
    const unsigned char *p = s->begin;
    const unsigned char *mark = NULL; /* the @address that the next word follows */
    uint64_t address = 0;
    while (p < s->end) {
        td_status status = TD_OK;
        unsigned k = kind[*p];
        if (k == SPACE) {
            p++;
        } else if (k & (DIGIT | UNDERSCORE)) {
            if (address >= s->depth_words)
                return fail_address(s, address, mark ? mark : p);
            unsigned char *word = s->data ? s->data + (size_t)address * s->word_bytes : NULL;
            status = s->width_bits <= 64 ? take_narrow(s, &p, word) : take_wide(s, &p, word);
            address++;
            mark = NULL;
            s->top_words = address > s->top_words ? address : s->top_words;
        } else if (*p == '@') {
            uint64_t lost = 0;
            mark = p++;
            status = take_number(s, &p, &address, &lost);
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
    if (s->top_words == 0)
        return td_fail(TD_FORMAT, "the file holds no words; an image has at least one");
    return TD_OK;
}

static td_status readmem_depth(const td_file_map *file, uint64_t width_bits, uint64_t *depth_words)
{
    scanner s = {.begin = file->bytes,
                 .end = file->bytes + file->size,
                 .width_bits = width_bits,
                 .depth_words = TD_MAX_DEPTH_WORDS,
                 .word_bytes = td_word_bytes(width_bits)};
    td_status status = scan(&s);
    if (status == TD_OK)
        *depth_words = s.top_words;
    return status;
}

static td_status readmem_load(const td_file_map *file, td_memory *memory)
{
    scanner s = {.begin = file->bytes,
                 .end = file->bytes + file->size,
                 .width_bits = memory->width_bits,
                 .depth_words = memory->depth_words,
                 .word_bytes = memory->word_bytes};
    td_status status = scan(&s);
    if (status != TD_OK)
        return status;
    s.data = memory->data;
    return scan(&s);
}

/* -- writing -- */

static void put_word(td_sink *sink, const unsigned char *word, uint64_t width_bits, const char (*pairs)[2])
{
    size_t bytes = (size_t)(width_bits + 7) / 8;
    bool half = (width_bits - 1) % 8 < 4; /* the top byte has one digit */
    size_t left = bytes;
    if (half)
        *td_sink_room(sink, 1) = (unsigned char)pairs[word[--left]][1];
    while (left > 0) {
        size_t part = left < TD_SINK_ROOM_BYTES / 2 ? left : TD_SINK_ROOM_BYTES / 2;
        unsigned char *text = td_sink_room(sink, 2 * part);
        for (size_t i = 0; i < part; i++)
            memcpy(text + 2 * i, pairs[word[left - 1 - i]], 2);
        left -= part;
    }
    *td_sink_room(sink, 1) = '\n';
}

static void readmem_save(const td_memory *memory, const td_span *spans, size_t count, td_sink *sink)
{
    char pairs[256][2];
    for (unsigned i = 0; i < 256; i++) {
        pairs[i][0] = "0123456789abcdef"[i >> 4];
        pairs[i][1] = "0123456789abcdef"[i & 15];
    }
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].first != next) {
            char mark[24];
            int length = snprintf(mark, sizeof mark, "@%" PRIx64 "\n", spans[i].first);
            td_sink_put(sink, mark, (size_t)length);
        }
        next = spans[i].first + spans[i].count;
        for (uint64_t w = spans[i].first; w < next; w++)
            put_word(sink, memory->data + (size_t)w * memory->word_bytes, memory->width_bits, (const char(*)[2])pairs);
    }
}

const td_image_format td_format_readmem = {readmem_depth, readmem_load, readmem_save};
