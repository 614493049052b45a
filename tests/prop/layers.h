/* A memory in layers and its model, for prop_layers.c: the bits of the macros, and words that are gathered from them by
 * the definitions of the organisation (layers_model.c), of the code (code_oracle.h) and of the codec. */
#ifndef TD_TEST_LAYERS_H
#define TD_TEST_LAYERS_H

#include "../unit/code_oracle.h"
#include "random.h"
#include "tensordoor.h"

#define MOST_BYTES 64 /* of a word */
#define MOST_WORDS 96
#define MOST_MACROS 8

/* (t r p) (s k) -> (t s) r (k p), rows perhaps from the last on, spare columns and rows around it. */
typedef struct organisation {
    uint64_t t, r, p, s, k, lsb, base, columns, rows;
    bool reversed;
} organisation;

typedef struct world {
    organisation o;
    bool in_macros;        /* every macro has a code of its own; otherwise one lies over all */
    bool codec, ordered;   /* and between the code and the macros a codec, perhaps with an order of words */
    bool check;            /* check=on */
    uint64_t width, depth; /* of the memory on top */
    uint64_t below_width;  /* of what the organisation places: coded words, or words of data */
    uint64_t stored_width; /* of a macro's words */
    oracle *code;
    char text[64];
    td_code *made;
    td_memory *array[MOST_MACROS], *macro[MOST_MACROS], *organised, *through, *top;
    bool is_far;                      /* the macros lie elsewhere: `array` are copies of `far` */
    unsigned char *far[MOST_MACROS];  /* their words */
    size_t chunk_words;               /* in which they cross */
    uint64_t spoiled;                 /* how often the copies were filled with random bits */
    unsigned char *bits[MOST_MACROS]; /* the model: a byte for every bit of a macro */
    td_code_result counted;
    char what[200];
} world;

typedef enum layers_found { GOOD, CORRECTED, BAD } layers_found;

/* layers_make.c: draws a case, false where it has grown too large; makes its memories, and words that are right. */
bool layers_draw(world *w, random_state *r);
bool layers_make(world *w, random_state *r);
void layers_free(world *w);

/* layers_model.c. The codec is the user's own. */
int layers_codec(void *context, const td_codec_run *run, const void *src, void *dst);
uint64_t layers_order(void *context, uint64_t word, uint64_t depth);

/* The coded word, under a code that lies above the macros. */
void layers_get_coded(const world *w, uint64_t word, unsigned char *coded);
void layers_put_coded(world *w, uint64_t word, const unsigned char *coded);

/* A word of the memory on top, with how many of its subwords were corrected; and a row of a macro with its own code. */
layers_found layers_get_word(const world *w, uint64_t word, unsigned char *data, unsigned *mended);
void layers_put_word(world *w, uint64_t word, const unsigned char *data);
void layers_encode_row(world *w, uint64_t macro, uint64_t row, const unsigned char *data);

/* Flips a bit of the memory on top below the codes of the macros. */
void layers_flip(world *w, uint64_t word, uint64_t bit);

/* Whether the words of a run are all that their rows hold, so that a write of all of them needs no old bit. */
bool layers_rows_whole(const world *w, uint64_t first, uint64_t count);

/* Every bit of every macro is that of the model. */
bool layers_check_macros(const world *w);

/* layers_bridge.c: calls on the memory on top, through a bridge where the macros lie elsewhere. layers_go_far gives the
 * words that the arrays have to the far side. Faults are injected between the two that follow the calls. */
bool layers_go_far(world *w, random_state *r);
td_status layers_read(world *w, const uint64_t *address, size_t count, void *words);
td_status layers_write(world *w, const uint64_t *address, size_t count, const void *words, const void *masks);
td_status layers_load(world *w, const td_tensor *tensor, const td_layout *layout);
td_status layers_dump(world *w, td_tensor *tensor, const td_layout *layout);
td_status layers_compare(world *w, const td_tensor *golden, const td_layout *layout, td_report **report);
bool layers_begin_change(world *w);
void layers_end_change(world *w);

/* The word that is stored in a row of a macro, wherever it lies; and a bit of one that lies elsewhere turned over. */
const unsigned char *layers_row(const world *w, uint64_t macro, uint64_t row);
void layers_flip_stored(world *w, uint64_t macro, uint64_t row, uint64_t bit);

void layers_draw_bits(random_state *r, uint64_t width, unsigned char *word);
bool layers_complain(const world *w, const char *why); /* prints the case; false */

#endif
