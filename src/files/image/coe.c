/* .coe, the coefficient files that AMD's FPGA tools initialise memories from: a radix, then words from word 0 on, with
 * commas or blanks between them, up to a semicolon. Writes hexadecimal, and all words up to the last. */
#include "files/image/radix.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void skip_space(td_radix_text *t, bool commas)
{
    for (; t->at < t->end; t->at++) {
        if (*t->at == '\n')
            t->line++;
        else if (*t->at != ' ' && *t->at != '\t' && *t->at != '\r' && !(commas && *t->at == ','))
            return;
    }
}

/* Lines that begin with ; in front of the keys are comments. */
static void skip_comments(td_radix_text *t)
{
    for (skip_space(t, false); t->at < t->end && *t->at == ';'; skip_space(t, false)) {
        const unsigned char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
        t->at = stop ? stop : t->end;
    }
}

static td_status read_key(td_radix_text *t, const char *key)
{
    const unsigned char *word = NULL;
    skip_comments(t);
    const size_t length = td_radix_word(t, &word);
    skip_space(t, false);
    if (length != strlen(key) || strncasecmp((const char *)word, key, length) != 0 || t->at == t->end || *t->at != '=')
        return td_fail(TD_FORMAT,
                       "line %zu: no %s= where it is needed; a .coe file has memory_initialization_radix=16; and "
                       "memory_initialization_vector= WORD, WORD;",
                       t->line, key);
    t->at++;
    skip_space(t, false);
    return TD_OK;
}

static td_status read_radix(td_radix_text *t, unsigned *out)
{
    const unsigned char *word = NULL;
    const size_t length = td_radix_word(t, &word);
    *out = length == 2 && memcmp(word, "16", 2) == 0   ? 16
           : length == 2 && memcmp(word, "10", 2) == 0 ? 10
           : length == 1 && *word == '2'               ? 2
                                                       : 0;
    if (!*out)
        return td_fail(TD_FORMAT, "line %zu: the radix %.*s; write 2, 10 or 16", t->line,
                       (int)(length < 40 ? length : 40), (const char *)word);
    skip_space(t, false);
    if (t->at == t->end || *t->at != ';')
        return td_fail(TD_FORMAT, "line %zu: no ; behind the radix; write memory_initialization_radix=16;", t->line);
    t->at++;
    return TD_OK;
}

static td_status coe_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    (void)options;
    td_radix_text t = {file->bytes, file->bytes + file->size, 1};
    unsigned radix = 0;
    unsigned char *stored = malloc(image->word_bytes);
    td_status status = stored ? read_key(&t, "memory_initialization_radix") : td_fail_alloc(image->word_bytes);
    if (!status)
        status = read_radix(&t, &radix);
    if (!status)
        status = read_key(&t, "memory_initialization_vector");
    for (uint64_t address = 0; !status; address++) {
        const unsigned char *word = NULL;
        skip_space(&t, true);
        if (t.at == t.end || *t.at == ';') /* the tools take a file without the last semicolon, too */
            break;
        const size_t length = td_radix_word(&t, &word);
        if (!length)
            status = td_fail(TD_FORMAT, "line %zu: no word where one is needed; write words with commas between them",
                             t.line);
        if (!status)
            status = td_radix_number(&t, word, length, radix, image->width_bits, stored, image->word_bytes);
        if (!status)
            status = td_radix_put(&t, image, address, 1, stored, 1);
    }
    free(stored);
    return status ? status : td_image_check_words(image, "no words behind memory_initialization_vector=; write one");
}

static td_status coe_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          td_writer *writer)
{
    (void)options;
    const uint64_t words = spans[count - 1].first + spans[count - 1].count;
    td_radix_print(writer, "memory_initialization_radix=16;\nmemory_initialization_vector=\n");
    for (uint64_t w = 0; w < words; w++) {
        td_radix_put_hex(writer, memory->data + (size_t)w * memory->word_bytes, memory->width_bits);
        td_radix_print(writer, w + 1 < words ? ",\n" : ";\n");
    }
    return TD_OK;
}

const td_image_format td_format_coe = {coe_scan, coe_save};
