/* The memory object: a geometry, and storage whose pages are made when they are touched. The rooms above reach into
 * it; users have the functions of the public header. */
#ifndef TD_MEMORY_H
#define TD_MEMORY_H

#include "base/status.h"

/* What an operation does with bits that are x or z; the order of td_memory_set_x. */
typedef enum td_x_policy { TD_X_ERROR, TD_X_ZERO, TD_X_KEEP } td_x_policy;

struct td_memory {
    char *name;
    uint64_t width_bits;
    uint64_t depth_words;
    size_t word_bytes;
    unsigned char *data; /* depth_words * word_bytes, from mmap */
    size_t map_bytes;    /* at least those */

    struct td_transfer *transfer; /* of a copy: what design/ keeps with it; NULL at first */
    void (*transfer_free)(struct td_transfer *);
    td_memory *unknown; /* of a copy: the bits that are x or z, in the form of words; NULL until there are some */
    bool unknown_any;   /* some crossed in this transfer */
    td_x_policy x;
};

/* Bytes of one stored word: 1, 2, 4 or 8 up to 64 bits, then whole 32-bit words. */
size_t td_word_bytes(uint64_t width_bits);

/* The bits of a stored word above its width, shifted down to bit 0; 0 for a well-formed word. */
uint64_t td_word_excess(const void *word, size_t word_bytes, uint64_t width_bits);

#endif
