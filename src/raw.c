/* Raw memory images (.bin): every word in (width + 7) / 8 bytes, little endian, from word 0 on, without a header.
 * Refuses files that are not whole words, words with bits above the width, and more words than the memory has. */
#include "formats.h"

#include <inttypes.h>
#include <string.h>

static size_t file_word_bytes(uint64_t width_bits)
{
    return (size_t)(width_bits + 7) / 8;
}

static td_status raw_depth(const td_file_map *file, uint64_t width_bits, uint64_t *depth_words)
{
    size_t bytes = file_word_bytes(width_bits);
    if (file->size == 0)
        return td_fail(TD_FORMAT, "the file is empty; an image holds at least one word of %zu bytes", bytes);
    if (file->size % bytes != 0)
        return td_fail(TD_FORMAT,
                       "%zu bytes are not whole words of %zu bytes (%" PRIu64
                       " bits); the file is cut short, or of another width",
                       file->size, bytes, width_bits);
    *depth_words = file->size / bytes;
    return TD_OK;
}

static td_status check_top_bits(const td_file_map *file, uint64_t width_bits, uint64_t words)
{
    unsigned used = (unsigned)(width_bits % 8);
    if (used == 0)
        return TD_OK;
    size_t bytes = file_word_bytes(width_bits);
    const unsigned char *top = file->bytes + bytes - 1;
    for (uint64_t w = 0; w < words; w++, top += bytes)
        if (*top >> used)
            return td_fail(TD_FORMAT,
                           "word %" PRIu64 " has 0x%x above the width of %" PRIu64
                           " bits; the file is of another width",
                           w, (unsigned)*top >> used, width_bits);
    return TD_OK;
}

static td_status raw_load(const td_file_map *file, td_memory *memory)
{
    uint64_t words = 0;
    td_status status = raw_depth(file, memory->width_bits, &words);
    if (status != TD_OK)
        return status;
    if (words > memory->depth_words)
        return td_fail(TD_RANGE, "the file holds %" PRIu64 " words, the memory %" PRIu64 "; make it at least that deep",
                       words, memory->depth_words);
    status = check_top_bits(file, memory->width_bits, words);
    if (status != TD_OK)
        return status;

    size_t bytes = file_word_bytes(memory->width_bits);
    if (bytes == memory->word_bytes) {
        memcpy(memory->data, file->bytes, file->size);
        return TD_OK;
    }
    const unsigned char *src = file->bytes;
    unsigned char *dst = memory->data;
    for (uint64_t w = 0; w < words; w++, src += bytes, dst += memory->word_bytes)
        memcpy(dst, src, bytes); /* the bytes above are zero in every memory */
    return TD_OK;
}

static void raw_save(const td_memory *memory, const td_span *spans, size_t count, td_sink *sink)
{
    uint64_t words = spans[count - 1].first + spans[count - 1].count;
    size_t bytes = file_word_bytes(memory->width_bits);
    if (bytes == memory->word_bytes) {
        td_sink_put(sink, memory->data, (size_t)words * bytes);
        return;
    }
    const unsigned char *src = memory->data;
    for (uint64_t w = 0; w < words; w++, src += memory->word_bytes)
        td_sink_put(sink, src, bytes);
}

const td_image_format td_format_raw = {raw_depth, raw_load, raw_save};
