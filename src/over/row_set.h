/* The rows of arrays that an operation reaches: each once, in order, whatever the order in which they were found. An
 * organisation may scatter the words of a run, as a hash does, and what lies between them is none of the operation's
 * business: a row there may hold an error that nobody asked for. Its memory is taken when it is created, so that
 * nothing here fails later. */
#ifndef TD_OVER_ROW_SET_H
#define TD_OVER_ROW_SET_H

#include "base/status.h"

typedef struct td_row_set td_row_set;

/* Rows of one array that follow each other. */
typedef struct td_row_run {
    size_t array;
    uint64_t first, count;
} td_row_run;

td_status td_row_set_create(size_t arrays, uint64_t depth_words, td_row_set **out);
void td_row_set_destroy(td_row_set **rows);

void td_row_set_mark(td_row_set *rows, size_t array, uint64_t first, uint64_t count);

/* How many are marked, in all arrays. */
uint64_t td_row_set_count(const td_row_set *rows);

/* Takes the next run out; false where there is none left, and the set is empty again. */
bool td_row_set_take(td_row_set *rows, td_row_run *out);

#endif
