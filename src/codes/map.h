/* Between map.c, which makes the terms of a map of words, and fields.c, which has what moves as fields. */
#ifndef TD_CODES_MAP_H
#define TD_CODES_MAP_H

#include "codes/code.h"

/* One bit of the source that is added to one bit of a row. */
typedef struct td_code_link {
    uint32_t row_bit, src_bit;
} td_code_link;

/* A map while it is made. The first rows are bytes of a word, from number `first_row` on, the others syndromes. */
typedef struct td_code_builder {
    td_code_map *map;
    uint32_t word_rows, first_row;
    bool fields; /* what is copied is known: the rows are all made of terms */
    td_code_link *links;
    size_t count, room;
    bool failed;
} td_code_builder;

void td_code_add_link(td_code_builder *b, uint64_t row_bit, uint64_t src_bit);
void td_code_set_bit(unsigned char *bytes, uint64_t bit, uint32_t value);

/* Makes the rows and terms of the map; `constant` has a byte for every row. */
td_status td_code_build(td_code_builder *b, const unsigned char *constant, size_t row_count);

/* fields.c: whether words of the code can go as fields, and the two maps that do. What fails leaves a map that
 * td_code_map_free takes. */
bool td_code_has_fields(const td_code *code);
td_status td_code_encode_fields(const td_code *code, td_code_map *map);
td_status td_code_check_fields(const td_code *code, td_code_map *map);

#endif
