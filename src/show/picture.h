/* What picture.c has laid out and svg.c writes: rows of words, a scale, colours. */
#ifndef TD_PICTURE_H
#define TD_PICTURE_H

#include "base/text.h"
#include "show/view.h"

/* Cells narrower than this are drawn as columns of this width. */
#define TD_COLUMN_PX 2.0

/* One word that is drawn. */
typedef struct td_drawn_word {
    uint64_t address, bank, number, beat;
} td_drawn_word;

typedef struct td_picture {
    const td_view *view;
    td_drawn_word *word; /* sorted by address, then bank */
    size_t word_count;
    uint64_t *row; /* the addresses drawn, ascending */
    size_t row_count;
    size_t cut_after;    /* rows drawn before those that are left out; row_count: none is */
    uint64_t cut_words;  /* words left out there */
    uint64_t bank_count; /* drawn */
    int colour_axis;     /* bound axis, or -1 */
    double bit_px, word_px, cell_px;
    bool cell_text, titles;
    bool has_pad, has_clipped, has_unused;
} td_picture;

/* Writes the whole document. */
void td_picture_draw(const td_picture *picture, td_text *out);

#endif
