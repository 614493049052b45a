/* .mif, the memory initialisation files of Intel's FPGA tools: WIDTH, DEPTH and the radices, then addresses with words.
 * Reads [first..last] ranges, several words behind an address, and both kinds of comments; writes hexadecimal. Refuses
 * a width that is not the memory's. */
#include "files/image/radix.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct mif {
    td_radix_text text;
    td_image *image;
    uint64_t width, depth;
    unsigned address_radix, data_radix;
    unsigned char *words; /* of one line of the contents */
    size_t count, room;
} mif;

/* Blanks, "-- to the end of the line" and "% comments %". */
static td_status skip_space(mif *m)
{
    td_radix_text *t = &m->text;
    for (; t->at < t->end; t->at++) {
        const unsigned char c = *t->at;
        if (c == '-' && t->end - t->at > 1 && t->at[1] == '-') {
            const unsigned char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
            t->at = (stop ? stop : t->end) - 1;
        } else if (c == '%') {
            const unsigned char *stop = memchr(t->at + 1, '%', (size_t)(t->end - t->at) - 1);
            if (!stop)
                return td_fail(TD_FORMAT, "line %zu: a comment %% that never ends; close it with %%", t->line);
            for (; t->at < stop; t->at++)
                t->line += *t->at == '\n';
        } else if (c == '\n') {
            t->line++;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
    return TD_OK;
}

static td_status expect(mif *m, unsigned char c, const char *where)
{
    const td_status status = skip_space(m);
    if (status)
        return status;
    if (m->text.at == m->text.end || *m->text.at != c)
        return td_fail(TD_FORMAT, "line %zu: no '%c' %s; write KEY=VALUE; in front, then CONTENT BEGIN 0 : WORD; END;",
                       m->text.line, c, where);
    m->text.at++;
    return TD_OK;
}

static td_status next_word(mif *m, const unsigned char **word, size_t *length)
{
    const td_status status = skip_space(m);
    if (status)
        return status;
    *length = td_radix_word(&m->text, word);
    if (!*length)
        return td_fail(TD_FORMAT,
                       "line %zu: no word where one is needed; write KEY=VALUE; in front, then CONTENT BEGIN "
                       "0 : WORD; END;",
                       m->text.line);
    return TD_OK;
}

static bool is(const unsigned char *word, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp((const char *)word, text, length) == 0;
}

static td_status read_number(const mif *m, const unsigned char *word, size_t length, unsigned radix, uint64_t *out)
{
    unsigned char bytes[8];
    const td_status status = td_radix_number(&m->text, word, length, radix, 63, bytes, sizeof bytes);
    if (!status)
        memcpy(out, bytes, sizeof bytes);
    return status;
}

static td_status read_radix(const mif *m, const unsigned char *word, size_t length, unsigned *out)
{
    static const struct {
        const char *name;
        unsigned radix;
    } known[] = {{"HEX", 16}, {"BIN", 2}, {"OCT", 8}, {"DEC", 10}, {"UNS", 10}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(word, length, known[i].name)) {
            *out = known[i].radix;
            return TD_OK;
        }
    return td_fail(TD_FORMAT, "line %zu: the radix %.*s; write HEX, BIN, OCT, DEC or UNS", m->text.line,
                   (int)(length < 40 ? length : 40), (const char *)word);
}

static td_status read_key(mif *m, const unsigned char *key, size_t length)
{
    const unsigned char *value = NULL;
    size_t value_length = 0;
    td_status status = expect(m, '=', "behind a key");
    if (!status)
        status = next_word(m, &value, &value_length);
    if (status)
        return status;
    if (is(key, length, "WIDTH"))
        status = read_number(m, value, value_length, 10, &m->width);
    else if (is(key, length, "DEPTH"))
        status = read_number(m, value, value_length, 10, &m->depth);
    else if (is(key, length, "ADDRESS_RADIX"))
        status = read_radix(m, value, value_length, &m->address_radix);
    else if (is(key, length, "DATA_RADIX"))
        status = read_radix(m, value, value_length, &m->data_radix);
    else
        status = td_fail(TD_FORMAT, "line %zu: the key %.*s; write WIDTH, DEPTH, ADDRESS_RADIX or DATA_RADIX",
                         m->text.line, (int)(length < 40 ? length : 40), (const char *)key);
    return status ? status : expect(m, ';', "behind a value");
}

static td_status check_head(const mif *m)
{
    if (!m->width || !m->depth)
        return td_fail(TD_FORMAT, "no %s in front of CONTENT; write %s=NUMBER;", m->width ? "DEPTH" : "WIDTH",
                       m->width ? "DEPTH" : "WIDTH");
    if (m->width != m->image->width_bits)
        return td_fail(TD_FORMAT,
                       "WIDTH is %" PRIu64 ", the memory has words of %" PRIu64 " bits; the file is of another width",
                       m->width, m->image->width_bits);
    return TD_OK;
}

/* "first" or "[first..last]" */
static td_status read_addresses(mif *m, const unsigned char *word, size_t length, uint64_t *first, uint64_t *last)
{
    td_status status = TD_OK;
    if (length) {
        status = read_number(m, word, length, m->address_radix, first);
        *last = UINT64_MAX; /* as many as there are words */
        return status;
    }
    const unsigned char *other = NULL;
    m->text.at++;
    status = next_word(m, &word, &length);
    if (!status)
        status = read_number(m, word, length, m->address_radix, first);
    for (int i = 0; i < 2 && !status; i++)
        status = expect(m, '.', "in a range of addresses");
    if (!status)
        status = next_word(m, &other, &length);
    if (!status)
        status = read_number(m, other, length, m->address_radix, last);
    if (!status && *last < *first)
        status = td_fail(TD_FORMAT, "line %zu: the range of addresses ends before it begins; exchange its ends",
                         m->text.line);
    return status ? status : expect(m, ']', "behind a range of addresses");
}

static td_status add_word(mif *m, const unsigned char *word, size_t length)
{
    const size_t bytes = m->image->word_bytes;
    unsigned char *const words = td_grow(m->words, m->count, &m->room, bytes, 16);
    if (!words)
        return TD_NO_MEMORY;
    m->words = words;
    return td_radix_number(&m->text, word, length, m->data_radix, m->width, m->words + m->count++ * bytes, bytes);
}

static td_status put_line(const mif *m, uint64_t first, uint64_t last)
{
    const uint64_t count = last == UINT64_MAX ? m->count : last - first + 1;
    if (first >= m->depth || count > m->depth - first)
        return td_fail(TD_FORMAT, "line %zu: address 0x%" PRIx64 " with a DEPTH of %" PRIu64 "; correct one of them",
                       m->text.line, first >= m->depth ? first : m->depth, m->depth);
    return td_radix_put(&m->text, m->image, first, count, m->words, m->count);
}

/* One line of the contents, up to its semicolon. `word` is its first, or has a length of 0 in front of a range. */
static td_status read_line(mif *m, const unsigned char *word, size_t length)
{
    uint64_t first = 0, last = 0;
    td_status status = read_addresses(m, word, length, &first, &last);
    if (!status)
        status = expect(m, ':', "behind an address");
    m->count = 0;
    do {
        if (!status)
            status = next_word(m, &word, &length);
        if (!status)
            status = add_word(m, word, length);
        if (!status)
            status = skip_space(m);
    } while (!status && m->text.at < m->text.end && *m->text.at != ';');
    if (!status)
        status = expect(m, ';', "behind the words of an address");
    return status ? status : put_line(m, first, last);
}

static td_status read_contents(mif *m)
{
    const unsigned char *word = NULL;
    size_t length = 0;
    td_status status = next_word(m, &word, &length);
    if (!status && !is(word, length, "BEGIN"))
        status = td_fail(TD_FORMAT, "line %zu: no BEGIN behind CONTENT; write CONTENT BEGIN", m->text.line);
    while (!status && !(status = skip_space(m))) {
        length = td_radix_word(&m->text, &word);
        if (is(word, length, "END"))
            return expect(m, ';', "behind END");
        if (!length && (m->text.at == m->text.end || *m->text.at != '['))
            return td_fail(TD_FORMAT, "line %zu: no address and no END; end the contents with END;", m->text.line);
        status = read_line(m, word, length);
    }
    return status;
}

static td_status mif_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    (void)options;
    mif m = {.text = {file->bytes, file->bytes + file->size, 1}, .image = image, .address_radix = 16, .data_radix = 16};
    const unsigned char *word = NULL;
    size_t length = 0;
    td_status status = next_word(&m, &word, &length);
    while (!status && !is(word, length, "CONTENT")) {
        status = read_key(&m, word, length);
        if (!status)
            status = next_word(&m, &word, &length);
    }
    if (!status)
        status = check_head(&m);
    if (!status)
        status = read_contents(&m);
    free(m.words);
    return status ? status : td_image_check_words(image, "no words between CONTENT BEGIN and END; write 0 : WORD;");
}

static td_status mif_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          td_writer *writer)
{
    (void)options;
    td_radix_print(writer,
                   "WIDTH=%" PRIu64 ";\nDEPTH=%" PRIu64 ";\nADDRESS_RADIX=HEX;\nDATA_RADIX=HEX;\nCONTENT BEGIN\n",
                   memory->width_bits, memory->depth_words);
    for (size_t i = 0; i < count; i++)
        for (uint64_t w = spans[i].first; w < spans[i].first + spans[i].count; w++) {
            td_radix_print(writer, "%" PRIX64 " : ", w);
            td_radix_put_hex(writer, memory->data + (size_t)w * memory->word_bytes, memory->width_bits);
            td_radix_print(writer, ";\n");
        }
    td_radix_print(writer, "END;\n");
    return TD_OK;
}

const td_image_format td_format_mif = {mif_scan, mif_save};
