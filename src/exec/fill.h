/* Fills words with a pattern: what a load writes into words of which some bits are padding or belong to no lane, before
 * their data. exec.c and run_move.c call it. Nothing here fails. */
#ifndef TD_EXEC_FILL_H
#define TD_EXEC_FILL_H

#include <stddef.h>
#include <stdint.h>

/* `count` times the `bytes` bytes of `value`, `stride` bytes apart. With `keep` (NULL: nothing) its bits stay as they
 * are; `value` has none of them. */
void td_fill_words(unsigned char *dst, ptrdiff_t stride, uint64_t count, const unsigned char *value,
                   const unsigned char *keep, size_t bytes);

#endif
