/* See image.h. The readers of memory images call it; the facade in file.c owns it. Bytes become words here and nowhere
 * else, so that Intel hex, S-records, ELF and byte-wise readmem text agree on where a byte lies. */
#include "files/image/image.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

td_image td_image_make(uint64_t width_bits, uint64_t depth_words, unsigned char *data)
{
    return (td_image){.width_bits = width_bits,
                      .depth_words = depth_words,
                      .word_bytes = td_word_bytes(width_bits),
                      .file_bytes = (size_t)(width_bits + 7) / 8,
                      .data = data};
}

void td_image_note(td_image *image, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;
    image->top_words = end > image->top_words ? end : image->top_words;
    if (!image->want_spans || image->out_of_memory)
        return;
    td_span *last = image->span_count ? &image->spans[image->span_count - 1] : NULL;
    if (last && first >= last->first && first <= last->first + last->count) {
        uint64_t reach = end - last->first;
        last->count = reach > last->count ? reach : last->count;
        return;
    }
    td_span *const spans = td_grow(image->spans, image->span_count, &image->span_room, sizeof *spans, 16);
    if (!spans) {
        image->out_of_memory = true;
        return;
    }
    image->spans = spans;
    image->spans[image->span_count++] = (td_span){0, first, count};
}

static int by_first(const void *a, const void *b)
{
    uint64_t x = ((const td_span *)a)->first;
    uint64_t y = ((const td_span *)b)->first;
    return (x > y) - (x < y);
}

td_status td_image_take_spans(td_image *image, td_span **spans, size_t *count)
{
    if (image->out_of_memory || image->span_count == 0) {
        size_t bytes = 2 * image->span_room * sizeof *image->spans;
        free(image->spans);
        image->spans = NULL;
        return td_fail_alloc(bytes);
    }
    qsort(image->spans, image->span_count, sizeof *image->spans, by_first);
    size_t kept = 0;
    for (size_t i = 1; i < image->span_count; i++) {
        td_span *last = &image->spans[kept];
        td_span next = image->spans[i];
        uint64_t last_end = last->first + last->count;
        uint64_t next_end = next.first + next.count;
        if (next.first > last_end)
            image->spans[++kept] = next;
        else if (next_end > last_end)
            last->count = next_end - last->first;
    }
    *spans = image->spans;
    *count = kept + 1;
    image->spans = NULL;
    return TD_OK;
}

/* -- bytes -- */

/* The byte of a word that the width does not fill, where there is one. */
static td_status check_top_bits(const td_image *image, const td_file_options *options, uint64_t at, uint64_t address,
                                const unsigned char *bytes, uint64_t count)
{
    unsigned used = (unsigned)(image->width_bits % 8);
    if (used == 0 || !bytes)
        return TD_OK;
    uint64_t top_lane = options->big_endian ? 0 : image->file_bytes - 1;
    uint64_t i = (top_lane + image->file_bytes - at % image->file_bytes) % image->file_bytes;
    for (; i < count; i += image->file_bytes)
        if (bytes[i] >> used)
            return td_fail(TD_FORMAT,
                           "the byte 0x%02x at address 0x%" PRIx64 " has bits above the width of %" PRIu64
                           "; the file is of another width",
                           bytes[i], address + i, image->width_bits);
    return TD_OK;
}

static void store(const td_image *image, const td_file_options *options, uint64_t at, const unsigned char *bytes,
                  uint64_t count)
{
    size_t lanes = image->file_bytes;
    if (image->word_bytes == lanes && !options->big_endian) {
        if (bytes)
            memcpy(image->data + at, bytes, (size_t)count);
        else
            memset(image->data + at, 0, (size_t)count);
        return;
    }
    unsigned char *word = image->data + (size_t)(at / lanes) * image->word_bytes;
    size_t lane = (size_t)(at % lanes);
    for (uint64_t i = 0; i < count; i++) {
        word[options->big_endian ? lanes - 1 - lane : lane] = bytes ? bytes[i] : 0;
        if (++lane == lanes) {
            lane = 0;
            word += image->word_bytes;
        }
    }
}

static void skip(td_image *image, uint64_t address, uint64_t count)
{
    td_image_outside *o = &image->outside;
    if (count == 0)
        return;
    o->first = o->bytes == 0 || address < o->first ? address : o->first;
    o->last = o->bytes == 0 || address + count - 1 > o->last ? address + count - 1 : o->last;
    o->bytes += count;
}

/* Cuts off and counts what lies in front of the base and past the memory; the rest may be nothing. */
static void skip_outside(td_image *image, uint64_t base, uint64_t all, uint64_t *address, const unsigned char **bytes,
                         uint64_t *count)
{
    const uint64_t before = *address >= base ? 0 : base - *address < *count ? base - *address : *count;
    skip(image, *address, before);
    *address += before;
    *bytes = *bytes ? *bytes + before : NULL;
    *count -= before;
    const uint64_t left = *address < base || *address - base >= all ? 0 : all - (*address - base);
    const uint64_t after = *count > left ? *count - left : 0;
    skip(image, *address + *count - after, after);
    *count -= after;
}

td_status td_image_check_words(const td_image *image, const char *why)
{
    if (image->top_words)
        return TD_OK;
    if (!image->outside.bytes)
        return td_fail(TD_FORMAT, "%s", why);
    return td_fail(TD_RANGE,
                   "nothing of the file lies in the memory: its %" PRIu64 " bytes are at 0x%" PRIx64 " to 0x%" PRIx64
                   "; pass base=ADDRESS, the file's address of word 0",
                   image->outside.bytes, image->outside.first, image->outside.last);
}

td_status td_image_put_bytes(td_image *image, const td_file_options *options, uint64_t address,
                             const unsigned char *bytes, uint64_t count)
{
    if (image->sink) {
        image->top_words = 1;
        return count ? image->sink(image->context, address, bytes, count) : TD_OK;
    }
    /* depth is at most 2^40 words of at most 2^21 bytes */
    const uint64_t all = image->depth_words * image->file_bytes;
    if (options->skip_outside)
        skip_outside(image, options->base, all, &address, &bytes, &count);
    if (count == 0)
        return TD_OK;
    if (address < options->base)
        return td_fail(TD_RANGE, "address 0x%" PRIx64 " is in front of the base 0x%" PRIx64 "; pass a lower base",
                       address, options->base);
    uint64_t at = address - options->base;
    if (at >= all || count > all - at)
        return td_fail(TD_RANGE,
                       "address 0x%" PRIx64 " is past the memory of %" PRIu64
                       " words of %zu bytes; the last address is 0x%" PRIx64 "%s",
                       at >= all ? address : options->base + all, image->depth_words, image->file_bytes,
                       options->base + all - 1,
                       options->base ? "" : ", or pass base=ADDRESS if word 0 lies higher in the file");
    td_status status = check_top_bits(image, options, at, address, bytes, count);
    if (status != TD_OK)
        return status;
    uint64_t first = at / image->file_bytes;
    td_image_note(image, first, (at + count - 1) / image->file_bytes - first + 1);
    if (image->data)
        store(image, options, at, bytes, count);
    return TD_OK;
}
