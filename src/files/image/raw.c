/* Raw binary, without a header. Memory images (.bin, .raw): every word in (width + 7) / 8 bytes from word 0 on, little
 * endian unless endian=big. Refuses files that are not whole words, words with bits above the width, and more words
 * than the memory has. Raw tensors are in files/tensor/raw.c. */
#include "files/image/formats.h"

#include <inttypes.h>
#include <string.h>

static td_status check_top_bits(const td_file_map *file, const td_file_options *options, const td_image *image,
                                uint64_t words)
{
    unsigned used = (unsigned)(image->width_bits % 8);
    if (used == 0)
        return TD_OK;
    const unsigned char *top = file->bytes + (options->big_endian ? 0 : image->file_bytes - 1);
    for (uint64_t w = 0; w < words; w++, top += image->file_bytes)
        if (*top >> used)
            return td_fail(TD_FORMAT,
                           "word %" PRIu64 " has 0x%x above the width of %" PRIu64
                           " bits; the file is of another width",
                           w, (unsigned)*top >> used, image->width_bits);
    return TD_OK;
}

static td_status raw_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    size_t bytes = image->file_bytes;
    if (file->size == 0)
        return td_fail(TD_FORMAT, "the file is empty; an image holds at least one word of %zu bytes", bytes);
    if (file->size % bytes != 0)
        return td_fail(TD_FORMAT,
                       "%zu bytes are not whole words of %zu bytes (%" PRIu64
                       " bits); the file is cut short, or of another width",
                       file->size, bytes, image->width_bits);
    uint64_t words = file->size / bytes;
    if (words > image->depth_words)
        return td_fail(TD_RANGE, "the file holds %" PRIu64 " words, the memory %" PRIu64 "; make it at least that deep",
                       words, image->depth_words);
    td_status status = check_top_bits(file, options, image, words);
    if (status == TD_OK)
        status = td_image_put_bytes(image, options, 0, file->bytes, file->size);
    return status;
}

static td_status raw_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                          td_writer *writer)
{
    uint64_t words = spans[count - 1].first + spans[count - 1].count;
    size_t bytes = (size_t)(memory->width_bits + 7) / 8;
    const unsigned char *src = memory->data;
    if (bytes == memory->word_bytes && !options->big_endian)
        td_writer_put(writer, src, (size_t)words * bytes);
    else if (!options->big_endian)
        for (uint64_t w = 0; w < words; w++, src += memory->word_bytes)
            td_writer_put(writer, src, bytes);
    else
        for (uint64_t w = 0; w < words; w++, src += memory->word_bytes)
            for (size_t b = bytes; b > 0; b--)
                td_writer_put(writer, src + b - 1, 1);
    return TD_OK;
}

const td_image_format td_format_raw = {raw_scan, raw_save};
