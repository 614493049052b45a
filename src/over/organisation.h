/* Where the bits of a memory lie in the arrays that it is made of: the layout of a tensor of single bits, one row for
 * every word, compiled once for all of them. over.c asks it to move a run of words; it knows nothing of codes and of
 * the memories themselves. */
#ifndef TD_ORGANISATION_H
#define TD_ORGANISATION_H

#include "memory/memory.h"
#include "over/row_set.h"
#include "plan/plan.h"

typedef struct td_organisation td_organisation;

/* Compiles the layout for `depth_words` words of `width_bits` bits and the arrays. Every refusal of a layout is
 * possible; the caller adds the context. */
td_status td_organisation_create(const td_layout *layout, uint64_t width_bits, uint64_t depth_words,
                                 const td_geometry *arrays, td_organisation **out);
void td_organisation_destroy(td_organisation **organisation);

/* The places that every bit has: more than one where the layout repeats. */
uint64_t td_organisation_copies(const td_organisation *organisation);

/* Words of the memory, as it stores them, and where they go. */
typedef struct td_organisation_run {
    uint64_t first, count; /* of the memory's words */
    unsigned char *words;  /* the first of them */
    unsigned char *const *array;
    bool stream; /* they are part of something large: a move may store past the caches */
} td_organisation_run;

/* From the words into every copy of their bits, and from one copy into the words. Bits of a word's storage above its
 * width keep their value. */
void td_organisation_write(td_organisation *organisation, const td_organisation_run *run);
void td_organisation_read(td_organisation *organisation, const td_organisation_run *run, uint64_t copy);

/* The same for blocks of a longer run, one after another or at the same time: nothing is kept of them. Only where
 * `passes` says so: the organisation has few boxes, and a read finds one copy. */
bool td_organisation_passes(const td_organisation *organisation, bool reads);
void td_organisation_pass(const td_organisation *organisation, const td_organisation_run *run, bool back);

/* The place in its array of word `first`, where it lies there just as the memory stores it, and lowers `count` to the
 * words that follow each other from there; or NULL. */
unsigned char *td_organisation_find_words(const td_organisation *organisation, unsigned char *const *array,
                                          uint64_t first, uint64_t *count);

/* One plan of a tensor and the organisation (joined.h); or NULL. */
struct td_joined *td_organisation_join(const td_organisation *organisation, const td_plan *plan, bool back);

/* Marks the rows of every array that a run of words reaches. Returns true where all bits of all these rows are bits of
 * the run. */
bool td_organisation_reach(const td_organisation *organisation, uint64_t first, uint64_t count, td_row_set *rows);

/* Where bits of a word lie in one copy, as td_backing.find_down gives it; and which bit lies at a place. */
void td_organisation_find_down(const td_organisation *organisation, const td_word_bits *bits, uint64_t copy,
                               td_down_fn *fn, void *context);
bool td_organisation_find_up(const td_organisation *organisation, size_t array, uint64_t word, uint64_t bit,
                             td_word_bits *out);

#endif
