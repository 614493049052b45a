/* "Did you mean": the known word nearest to one that was not known, for messages. Parsers of names, keys and options
 * call it; it owns no list of its own. */
#ifndef TD_SUGGEST_H
#define TD_SUGGEST_H

#include <stddef.h>

/* The nearest of `count` words by edit distance, the first on a tie. A swap of neighbours is one edit, upper for lower
 * case is none. NULL when none is near: when more than half of the longer word would have to change. */
const char *td_suggest(const char *word, const char *const *known, size_t count);

#endif
