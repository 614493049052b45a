/* Where words lie that have no strides: their places by the expressions, many at a time (address_run.c), and what is
 * regular about them (address_digits.c). Shared by the passes on addresses alone. */
#ifndef TD_PLACES_H
#define TD_PLACES_H

#include "plan/passes.h"

/* The expressions of a layout, made ready. Fails only with TD_NO_MEMORY. */
typedef struct td_places td_places;
td_status td_places_create(const td_bound *bound, const td_words *words, td_places **out);
void td_places_destroy(td_places **places);

/* The addresses and banks of words `number` and on, at most td_places_most of them; false where one has none. */
size_t td_places_most(const td_places *places);
bool td_places_run(const td_places *places, uint64_t number, size_t count, int64_t *address, int64_t *bank);

/* The same at numbers in any order. */
bool td_places_points(const td_places *places, const uint64_t *number, size_t count, int64_t *address, int64_t *bank);

/* number / stride % size over a run of numbers. */
void td_fill_digit(uint64_t number, uint64_t stride, uint64_t size, size_t count, int64_t *restrict out);

/* address_digits.c: finds what is regular about the places of all words: digits of the axes with strides, and a small
 * table of the others. Gives words->by_digits, the digits and, where it needs one, plan->table; or leaves both alone.
 * Every word was held against them. Refuses what the expressions refuse. */
td_status td_places_digits(const td_places *places, const td_bound *bound, td_words *words, td_plan *plan);

/* address_pieces.c: finds few rectangles in which words have strides; gives words->piece, or leaves it alone. Every
 * word was held against them. Refuses what the expressions refuse. */
td_status td_places_pieces(const td_places *places, const td_bound *bound, td_words *words, const td_plan *plan);

/* address_bits.c: whether places are the XOR of what the bits of a word's number give; then, whether digits with
 * strides, and a table over all others, are right for every word. The range of all places is in *all. */
typedef struct td_place_pair {
    int64_t address, bank;
} td_place_pair;
typedef struct td_proved_digit {
    uint64_t step, size; /* in numbers of words */
    int64_t address, bank;
} td_proved_digit;
struct td_places_part;
bool td_places_move_bits(const td_bound *bound, const td_words *words);
bool td_places_prove(const td_places *places, const td_proved_digit *digit, int count, const td_table *table,
                     struct td_places_part *all);

/* addresses.c: the reason why a word from `number` on has no place. */
td_status td_words_fail(const td_bound *bound, const td_words *words, uint64_t number);

/* Every word in runs, over threads where there are many. The sink may stop it. */
typedef bool td_places_sink(void *context, uint64_t number, size_t count, const int64_t *address, const int64_t *bank);

typedef struct td_places_part {
    bool stopped, failed; /* by the sink, or because a word has no place; at word `at` or soon after it */
    uint64_t at;
    int64_t low, high, low_bank, high_bank;
} td_places_part;

td_status td_places_all(const td_places *places, td_places_sink *sink, void *context, td_places_part *out);

/* All of them inside the memories, with the beats of whole vectors. */
bool td_places_inside(const td_places_part *all, const td_plan *plan);

/* Gives plan->table with an entry for every word, and what is known of their range. */
td_status td_places_table(const td_places *places, td_words *words, td_plan *plan);

/* Room for entries of these memories. Fails only with TD_NO_MEMORY. */
td_status td_table_create(const td_geometry *g, uint64_t count, td_table *out);
void td_table_put(const td_table *table, uint64_t first, size_t count, const int64_t *address, const int64_t *bank);

/* check_table.c: the words of plan->table, as td_words_check says. */
td_status td_table_check_range(const td_bound *bound, const td_words *words, const td_plan *plan,
                               const td_regions *written);
td_status td_table_check_apart(const td_bound *bound, const td_words *words, const td_plan *plan,
                               const td_regions *written);

/* No two entries name one place, whatever words they are of. */
bool td_table_is_apart(const td_plan *plan);

/* check_pieces.c: the words of words->piece. The range is asked for where some words that no load writes lie outside;
 * UNDECIDED may be either. */
typedef enum td_apart { TD_APART, TD_TOGETHER, TD_UNDECIDED } td_apart;
td_status td_pieces_check_range(const td_bound *bound, const td_words *words, const td_plan *plan,
                                const td_regions *written);
td_apart td_pieces_apart(const td_bound *bound, const td_words *words, const td_plan *plan, const td_regions *written);

/* check_words.c: of words that have strides in a region. Two of them that are together are given by their steps. */
bool td_words_extreme(const td_bound *bound, const td_region *region, int64_t start, const int64_t *stride,
                      bool greatest, uint64_t *at, int64_t *out);
td_status td_words_range(const td_bound *bound, const td_words *words, const td_plan *plan, const td_region *region);
td_apart td_words_apart(const td_bound *bound, const td_words *words, const td_plan *plan, const td_region *region,
                        uint64_t *first, uint64_t *second);

/* check_words.c: the steps of a word on every axis, and the three refusals. */
void td_word_coordinates(const td_bound *bound, const td_words *words, uint64_t number, uint64_t *at);
td_status td_word_fail_address(const td_bound *bound, const td_words *words, const td_plan *plan, const uint64_t *at,
                               int64_t address, uint64_t beats);
td_status td_word_fail_bank(const td_bound *bound, const td_plan *plan, const uint64_t *at, int64_t bank);
td_status td_word_fail_alias(const td_bound *bound, const uint64_t *a, const uint64_t *b, uint64_t address,
                             uint64_t bank);

#endif
