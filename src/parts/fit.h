/* What fit.c and fit_sparse.c share: packings that differ in one word. */
#ifndef TD_FIT_H
#define TD_FIT_H

#include "parts/object.h"

/* The word of a packing that has the key of this one ("rule=floor"); NULL where it has none. */
const char *td_fit_find_word(const char *packing, const char *word);

/* The packing with one word replaced or, where it has it already, as it is; `out` holds TD_PACKING_TEXT_BYTES. */
void td_fit_replace_word(const char *packing, const char *word, char *out);

/* td_parts_fit of sparse parts that are whole. */
td_status td_fit_sparse(const td_parts *found, const td_tensor *golden, char **text);

#endif
