/* Where the bits of a memory lie at the bottom, through all layers, and back. A layer knows only the one below it
 * (td_backing); here they are followed one after the other, for reports and for td_where. Nothing here looks at words,
 * and nothing fails. */
#ifndef TD_MEMORY_PLACE_H
#define TD_MEMORY_PLACE_H

#include "memory/memory.h"

/* Fills bits->bits places; those of bits that have no such copy have no macro. */
void td_macro_bits(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_macro_bit *out);

/* What lies at a bit of a macro: a bit of the memory, of a count of 1. Otherwise *at is the layer in which the search
 * ended: the one that has nothing there, or whose word has a check bit there; out->bit is then that of the coded word
 * below it. */
td_up td_macro_bit_up(const td_memory *memory, size_t macro, uint64_t row, uint64_t column, const td_memory **at,
                      td_word_bits *out);

/* After TD_UNCORRECTABLE of memory number `below` under this one: a bit of this memory that lies there, for its own
 * td_backing.bad. */
td_word_bits td_bad_above(const td_memory *memory, size_t below);

#endif
