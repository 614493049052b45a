/* The orders of the metadata of N:M: where the word of a row lies in memory (sparse.h). The formulas are those of
 * NVIDIA's public sources; each is named by what reads it. Shapes that an order does not have are refused here. */
#include "parts/sparse_kinds.h"

#include <inttypes.h>

/* CUTLASS's order for the tensor cores of Ampere: rows interleaved within a tile. */
static uint64_t ampere_row(uint64_t row, unsigned bits)
{
    return bits == 16 ? row / 32 * 32 + row % 8 * 4 + row % 32 / 8 : row / 16 * 16 + row % 8 * 2 + row % 16 / 8;
}

/* That of the kernel Marlin: tiles of 64 rows, whose rows 2 and 3 of every four are in the other half. */
static uint64_t marlin_row(uint64_t row)
{
    return row / 64 * 64 + row % 64 / 8 * 4 + row % 4 / 2 * 32 + row % 2 * 2 + row % 8 / 4;
}

/* Words swapped in squares of two, then two columns side by side. */
static uint64_t interleaved(uint64_t r, uint64_t c, uint64_t rows)
{
    if (r % 2 == 0 && c % 2 == 1) {
        r++;
        c--;
    } else if (r % 2 == 1 && c % 2 == 0) {
        r--;
        c++;
    }
    return c / 2 * rows * 2 + r * 2 + c % 2;
}

/* CUTLASS's order for Hopper: tiles of 64 rows, all rows of tiles first, then the next columns. Inside one, elements of
 * 8 bits go row by row. For larger ones a word is followed by that 8 rows below, then by those two columns on, then
 * come the 8 rows, the column beside, and 16 rows below. */
static uint64_t hopper_place(const td_sparse *s, const td_meta *m, uint64_t row, uint64_t word)
{
    const uint64_t tile = word / m->tile_words * m->tiles + row / 64, r = row % 64, c = word % m->tile_words,
                   pairs = m->tile_words / 2, first = tile * 64 * m->tile_words;
    if (s->elem.bits == 8)
        return first + r * m->tile_words + c;
    return first + ((r / 16 * 2 + c % 2) * 8 + r % 8) * pairs * 2 + c / 2 * 2 + r % 16 / 8;
}

uint64_t td_meta_place(const td_sparse *s, const td_meta *m, uint64_t row, uint64_t word)
{
    switch (s->order) {
    case TD_META_AMPERE:
        return interleaved(ampere_row(row, s->index.bits), word, m->rows);
    case TD_META_MARLIN:
        return interleaved(marlin_row(row), word, m->rows);
    case TD_META_HOPPER:
        return hopper_place(s, m, row, word);
    default:
        return row * m->words + word;
    }
}

td_meta td_meta_of(const td_sparse *s, const td_shape *shape)
{
    td_meta m = {.rows = 1, .bits = td_sparse_group_bits(s)};
    for (size_t d = 0; d + 1 < shape->rank; d++)
        m.rows *= shape->dim[d];
    m.groups = shape->dim[shape->rank - 1] / s->m;
    m.per_word = s->index.bits / m.bits;
    m.words = (m.groups + m.per_word - 1) / m.per_word;
    m.count = m.rows * m.words;
    if (s->order == TD_META_HOPPER) {
        m.tile_words = s->tile / s->m / m.per_word;
        m.tiles = (m.rows + 63) / 64;
        m.count = m.tiles * 64 * ((m.words + m.tile_words - 1) / m.tile_words * m.tile_words);
    }
    return m;
}

/* Of the elements that a tile has along a row. */
static td_status check_hopper(const td_sparse *s)
{
    char elem[TD_DTYPE_NAME_BYTES];
    const uint64_t block = s->elem.bits ? 512U / s->elem.bits : 0;
    td_dtype_print(s->elem, elem);
    if ((s->elem.bits != 8 && s->elem.bits != 16 && s->elem.bits != 32) || (s->elem.bits == 32) != (s->m == 2))
        return td_fail(TD_OPTION,
                       "order=hopper of %u:%u and values of %s; it is known for 2:4 of 8 or 16 bits and for 1:2 of 32",
                       s->n, s->m, elem);
    if (s->tile % block || s->tile > 4 * block)
        return td_fail(TD_OPTION,
                       "tile=%" PRIu64 " with order=hopper and values of %s; pass a multiple of %" PRIu64
                       " up to %" PRIu64,
                       s->tile, elem, block, 4 * block);
    return TD_OK;
}

td_status td_meta_check(td_sparse *s, const td_shape *shape)
{
    char text[TD_SHAPE_TEXT_BYTES];
    static const char *const names[] = {"plain", "ampere", "marlin", "hopper"};
    if (s->order == TD_META_HOPPER) {
        if (s->tile == 0)
            s->tile = s->elem.bits == 32 ? 64 : 128;
        return check_hopper(s);
    }
    const td_meta m = td_meta_of(s, shape);
    const uint64_t tile = s->order == TD_META_MARLIN ? 64 : s->index.bits == 16 ? 32 : 16;
    if (s->order != TD_META_PLAIN && (m.rows % tile || m.words % 2))
        return td_fail(TD_SHAPE,
                       "order=%s of shape %s: %" PRIu64 " rows of %" PRIu64 " words of meta; rows come in %" PRIu64
                       " and words in pairs, so pad the tensor",
                       names[s->order], td_shape_print(shape, text), m.rows, m.words, tile);
    return TD_OK;
}
