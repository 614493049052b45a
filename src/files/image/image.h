/* Where the readers of memory images put what they find: words or bytes that are checked against a geometry, then
 * written, or only noted as spans. A reader runs over its file twice, first without `data`, so that a file that is
 * wrong anywhere changes nothing. */
#ifndef TD_IMAGE_H
#define TD_IMAGE_H

#include "files/file_name.h"
#include "memory/memory.h"

/* Takes bytes by the addresses of the file; `bytes` NULL is zeros. */
typedef td_status td_image_sink(void *context, uint64_t address, const unsigned char *bytes, uint64_t count);

typedef struct td_image {
    uint64_t width_bits;
    uint64_t depth_words;
    size_t word_bytes;   /* as memories store them */
    size_t file_bytes;   /* of one word in files that count bytes: (width + 7) / 8 */
    unsigned char *data; /* NULL: check only */
    uint64_t top_words;  /* highest address + 1; 0 while there is no word */
    td_image_outside outside;
    bool want_spans;
    bool out_of_memory;
    td_span *spans;
    size_t span_count;
    size_t span_room;
    td_image_sink *sink; /* where bytes go in place of words; NULL: there is none */
    void *context;       /* of the sink */
} td_image;

/* `data` NULL and TD_MAX_DEPTH_WORDS where there is no memory. */
td_image td_image_make(uint64_t width_bits, uint64_t depth_words, unsigned char *data);

/* Words [first, first + count) are there. */
void td_image_note(td_image *image, uint64_t first, uint64_t count);

/* `count` bytes of a file that counts bytes, from `address` on; `bytes` NULL is zeros. Byte a - base lies in word
 * (a - base) / file_bytes. TD_RANGE for an address in front of the base or past the memory, unless the options skip and
 * count it; TD_FORMAT for bits above the width. */
td_status td_image_put_bytes(td_image *image, const td_file_options *options, uint64_t address,
                             const unsigned char *bytes, uint64_t count);

/* All bytes of a file that counts bytes, `passes` times over, `pass` the number of each. Stops at the first failure.
 * The caller knows what the addresses mean: base= and endian= are TD_OPTION, other formats TD_ARGUMENT. `skip` becomes
 * whether the name says outside=skip. */
td_status td_image_visit(const char *path, unsigned passes, unsigned *pass, bool *skip, td_image_sink *sink,
                         void *context);

/* TD_FORMAT when the file has put no word into the memory: it holds none (`why` says so), or all lie outside. */
td_status td_image_check_words(const td_image *image, const char *why);

/* The spans that were noted, ascending and merged, for td_free. */
td_status td_image_take_spans(td_image *image, td_span **spans, size_t *count);

/* The other way: byte `lane` of a stored word, in file order. */
static inline unsigned char td_image_lane(const unsigned char *word, size_t file_bytes, bool big_endian, size_t lane)
{
    return word[big_endian ? file_bytes - 1 - lane : lane];
}

#endif
