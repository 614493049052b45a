/* readmem text on its way out: one number per line, lower case, with every digit that its width has, and @address where
 * a span does not begin at the word after the last. The reader is readmem.c; what is written here reads back there with
 * the same options. */
#include "files/image/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_hex(td_writer *writer, const unsigned char *word, uint64_t width_bits, const char (*pairs)[2])
{
    size_t left = (size_t)(width_bits + 7) / 8;
    bool half = (width_bits - 1) % 8 < 4; /* the top byte has one digit */
    if (half)
        *td_writer_reserve(writer, 1) = (unsigned char)pairs[word[--left]][1];
    while (left > 0) {
        size_t part = left < TD_WRITER_RESERVE_BYTES / 2 ? left : TD_WRITER_RESERVE_BYTES / 2;
        unsigned char *text = td_writer_reserve(writer, 2 * part);
        for (size_t i = 0; i < part; i++)
            memcpy(text + 2 * i, pairs[word[left - 1 - i]], 2);
        left -= part;
    }
    *td_writer_reserve(writer, 1) = '\n';
}

static void put_binary(td_writer *writer, const unsigned char *word, uint64_t width_bits)
{
    while (width_bits > 0) {
        size_t part = width_bits < TD_WRITER_RESERVE_BYTES ? (size_t)width_bits : TD_WRITER_RESERVE_BYTES;
        unsigned char *text = td_writer_reserve(writer, part);
        for (size_t i = 0; i < part; i++) {
            width_bits--;
            text[i] = (unsigned char)('0' + (word[width_bits / 8] >> (width_bits % 8) & 1));
        }
    }
    *td_writer_reserve(writer, 1) = '\n';
}

static void put_address(td_writer *writer, uint64_t address)
{
    char mark[24];
    int length = snprintf(mark, sizeof mark, "@%" PRIx64 "\n", address);
    td_writer_put(writer, mark, (size_t)length);
}

static td_status save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                      td_writer *writer, bool binary)
{
    char pairs[256][2];
    for (unsigned i = 0; i < 256; i++) {
        pairs[i][0] = "0123456789abcdef"[i >> 4];
        pairs[i][1] = "0123456789abcdef"[i & 15];
    }
    size_t file_bytes = (size_t)(memory->width_bits + 7) / 8;
    uint64_t step = options->byte_units || options->byte_addresses ? file_bytes : 1;
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].first != next || (i == 0 && options->base))
            put_address(writer, options->base + spans[i].first * step);
        next = spans[i].first + spans[i].count;
        for (uint64_t w = spans[i].first; w < next; w++) {
            const unsigned char *word = memory->data + (size_t)w * memory->word_bytes;
            size_t numbers = options->byte_units ? file_bytes : 1;
            for (size_t n = 0; n < numbers; n++) {
                unsigned char lane = td_image_lane(word, file_bytes, options->big_endian, n);
                const unsigned char *number = options->byte_units ? &lane : word;
                uint64_t bits = options->byte_units ? 8 : memory->width_bits;
                if (binary)
                    put_binary(writer, number, bits);
                else
                    put_hex(writer, number, bits, (const char(*)[2])pairs);
            }
        }
    }
    return TD_OK;
}

td_status td_readmemh_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer)
{
    return save(memory, options, spans, count, writer, false);
}

td_status td_readmemb_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer)
{
    return save(memory, options, spans, count, writer, true);
}
