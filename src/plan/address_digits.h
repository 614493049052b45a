/* The digits of the axes while address_digits.c looks for them, and what address_table.c makes of those that have no
 * strides. */
#ifndef TD_ADDRESS_DIGITS_H
#define TD_ADDRESS_DIGITS_H

#include "plan/places.h"

typedef struct td_found_digit {
    int axis;
    td_digit d;
    uint64_t step; /* in numbers of words */
    bool tabled;
    bool in_line; /* and its steps stay in a line of memory, which the entries have together */
} td_found_digit;

typedef struct td_digit_search {
    const td_places *places;
    const td_bound *bound;
    td_words *words;
    uint64_t random;
    bool in_lines;       /* words that kernels may move by lines */
    uint64_t line_words; /* of a line of memory */
    bool by_memory;      /* the entries of the table are in the order of their places */
    bool failed;
    int count;
    td_found_digit digit[TD_MAX_DIGITS];
} td_digit_search;

/* Says which digits the table has, where some have no stride or many short ones are better off in it. */
void td_digits_choose_table(td_digit_search *s);

/* Entries of that table; UINT64_MAX: too many to count. */
uint64_t td_digits_entries(const td_digit_search *s);

/* Gives every digit of the table its step over entries. */
void td_digits_number(td_digit_search *s);

/* How far strides lead below the words of the table: entries are the lowest places, so that no word lies below its
 * own. False where that does not fit. */
bool td_digits_find_lowest(const td_digit_search *s, int64_t *below);

/* The words whose digits outside of the table are 0, counted from `below` on. False where a place has no entry. */
bool td_digits_fill(const td_digit_search *s, int64_t below, td_table *table);

#endif
