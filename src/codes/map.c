/* The maps of a code for kernels/code.h: which bytes of the one word make each byte of the other. Behind
 * td_code_create. Bits are gathered one by one, sorted by the bytes that they stand in, and every pair of bytes
 * becomes a term. Where subwords lie at odd bits, nearly every byte would be made of terms: then data and check bits
 * move as fields of 32-bit words, and only the check bits of whole bytes are terms (fields.c). */
#include "codes/map.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* -- where bits stand -- */

uint64_t td_code_bit_at(const td_code *code, uint32_t subword, uint32_t bit)
{
    const uint64_t k = code->subword_bits, r = code->check_bits, n = code->subwords;
    const bool check = bit >= k;
    switch (code->place) {
    case TD_PLACE_ABOVE:
        return check ? n * k + subword * r + bit - k : subword * k + bit;
    case TD_PLACE_BELOW:
        return check ? subword * r + bit - k : n * r + subword * k + bit;
    default:
        return subword * (k + r) + bit;
    }
}

uint32_t td_code_bit_of(const td_code *code, uint64_t coded_bit, uint32_t *subword)
{
    const uint64_t k = code->subword_bits, r = code->check_bits, n = code->subwords;
    uint64_t at = coded_bit;
    if (code->place == TD_PLACE_INTERLEAVED) {
        *subword = (uint32_t)(at / (k + r));
        return (uint32_t)(at % (k + r));
    }
    const uint64_t low = code->place == TD_PLACE_ABOVE ? n * k : n * r;
    const bool check = (at >= low) == (code->place == TD_PLACE_ABOVE);
    at -= at >= low ? low : 0;
    *subword = (uint32_t)(at / (check ? r : k));
    return (uint32_t)(check ? k + at % r : at % k);
}

/* -- links to terms -- */

void td_code_add_link(td_code_builder *b, uint64_t row_bit, uint64_t src_bit)
{
    td_code_link *const links = td_grow(b->links, b->count, &b->room, sizeof *links, 1024);
    if (!links) {
        b->failed = true;
        return;
    }
    b->links = links;
    b->links[b->count++] = (td_code_link){(uint32_t)row_bit, (uint32_t)src_bit};
}

static int compare_links(const void *a, const void *b)
{
    const td_code_link *x = a, *y = b;
    const uint32_t row_x = x->row_bit / 8, row_y = y->row_bit / 8, src_x = x->src_bit / 8, src_y = y->src_bit / 8;
    if (row_x != row_y)
        return row_x < row_y ? -1 : 1;
    return src_x < src_y ? -1 : src_x > src_y;
}

/* The tables of a term, from the mask of the source's bits that each of its eight bits adds. */
static void finish_term(td_code_term *term, const unsigned char *mask)
{
    for (unsigned value = 0; value < 256; value++) {
        unsigned sum = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            sum |= (unsigned)(__builtin_popcount(mask[bit] & value) & 1) << bit;
        term->table[value] = (unsigned char)sum;
    }
    for (unsigned nibble = 0; nibble < 16; nibble++) {
        term->low[nibble] = term->table[nibble];
        term->high[nibble] = term->table[nibble << 4];
    }
    term->identity = 1;
    for (unsigned bit = 0; bit < 8; bit++) {
        term->affine |= (uint64_t)mask[bit] << (56 - 8 * bit);
        term->identity &= mask[bit] == 1u << bit;
    }
}

static void make_terms(td_code_builder *b, td_code_row *rows, size_t row_count)
{
    td_code_map *map = b->map;
    uint32_t terms = 0;
    size_t at = 0;
    for (size_t r = 0; r < row_count; r++) {
        rows[r].dst = r < b->word_rows ? b->first_row + (uint32_t)r : TD_CODE_SYNDROME;
        rows[r].first_term = terms;
        while (at < b->count && b->links[at].row_bit / 8 == r) {
            const uint32_t src = b->links[at].src_bit / 8;
            unsigned char mask[8] = {0};
            for (; at < b->count && b->links[at].row_bit / 8 == r && b->links[at].src_bit / 8 == src; at++)
                mask[b->links[at].row_bit % 8] ^= (unsigned char)(1u << b->links[at].src_bit % 8);
            map->term[terms].src = src;
            finish_term(&map->term[terms++], mask);
        }
        rows[r].terms = terms - rows[r].first_term;
    }
}

/* Whether four rows are four bytes of the source as they are; then which 32-bit word of it. */
static bool is_copy(const td_code_map *map, const td_code_row *rows, size_t dword, uint32_t *src)
{
    if (4 * dword + 4 > map->dst_bytes || map->src_bytes < 4)
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        const td_code_row *row = &rows[4 * dword + i];
        const td_code_term *term = &map->term[row->first_term];
        if (row->terms != 1 || row->constant || !term->identity || term->src >= map->address ||
            term->src != (term - i)->src + i || term->src % 4 != i)
            return false;
    }
    *src = map->term[rows[4 * dword].first_term].src / 4;
    return true;
}

static void make_copies(const td_code_builder *b, const td_code_row *rows, size_t row_count)
{
    td_code_map *map = b->map;
    for (size_t r = 0; r < b->word_rows;) {
        uint32_t src = 0;
        if (!b->fields && r % 4 == 0 && is_copy(map, rows, r / 4, &src)) {
            map->copy[map->copy_count++] = (td_code_copy){(uint32_t)(r / 4), src};
            r += 4;
        } else
            map->row[map->row_count++] = rows[r++];
    }
    for (size_t r = b->word_rows; r < row_count; r++)
        map->row[map->row_count + map->syndrome_count++] = rows[r];
}

/* Rows without a term are constants: plain C writes them four at a time, before the others. */
static void make_fills(const td_code_builder *b)
{
    td_code_map *map = b->map;
    const bool fills = map->dst_bytes >= 4 && !b->fields;
    for (uint32_t r = 0; r < map->row_count; r++) {
        const td_code_row *row = &map->row[r];
        if (row->terms || !fills)
            map->busy[map->busy_count++] = *row;
        if (!fills || row->dst % 4)
            continue;
        td_code_fill fill = {row->dst / 4, 0};
        bool needed = false;
        for (uint32_t i = 0; i < 4; i++) {
            fill.value |= (uint32_t)row[i].constant << 8 * i;
            needed |= row[i].terms == 0;
        }
        if (needed)
            map->fill[map->fill_count++] = fill;
    }
}

static void make_planes(td_code_map *map)
{
    const uint32_t all = map->row_count + map->syndrome_count, dwords = td_code_middle(map) + map->middle_count;
    for (uint32_t r = 0; r < all; r++)
        for (uint32_t t = 0; t < map->row[r].terms; t++)
            map->plane[map->term[map->row[r].first_term + t].src / 4] = 1;
    for (uint32_t dword = 0; dword < dwords; dword++)
        if (map->plane[dword])
            map->plane[map->plane_count++] = dword;
}

static size_t count_pairs(const td_code_builder *b)
{
    size_t pairs = 0;
    for (size_t i = 0; i < b->count; i++)
        pairs += i == 0 || compare_links(&b->links[i - 1], &b->links[i]) != 0;
    return pairs;
}

td_status td_code_build(td_code_builder *b, const unsigned char *constant, size_t row_count)
{
    td_code_map *map = b->map;
    if (b->failed || !b->links) {
        free(b->links);
        return td_fail_alloc((2 * b->room + 1) * sizeof *b->links);
    }
    qsort(b->links, b->count, sizeof *b->links, compare_links);
    const size_t pairs = count_pairs(b);
    td_code_row *rows = calloc(row_count, sizeof *rows);
    map->term = calloc(pairs, sizeof *map->term);
    map->row = calloc(row_count, sizeof *map->row);
    map->busy = calloc(row_count, sizeof *map->busy);
    if (!map->copy)
        map->copy = calloc(row_count / 4 + 1, sizeof *map->copy);
    map->fill = calloc(row_count / 4 + 1, sizeof *map->fill);
    map->plane = calloc(td_code_middle(map) + map->middle_count, sizeof *map->plane);
    td_status status = TD_OK;
    if (!rows || !map->term || !map->row || !map->busy || !map->copy || !map->fill || !map->plane)
        status = td_fail_alloc(pairs * sizeof *map->term);
    else {
        for (size_t r = 0; r < row_count; r++)
            rows[r].constant = constant[r];
        make_terms(b, rows, row_count);
        make_copies(b, rows, row_count);
        make_fills(b);
        make_planes(map);
    }
    free(rows);
    free(b->links);
    return status;
}

/* -- the two maps -- */

void td_code_set_bit(unsigned char *bytes, uint64_t bit, uint32_t value)
{
    bytes[bit / 8] |= (unsigned char)((value & 1) << bit % 8);
}

static td_status encode_map(const td_code *code, td_code_map *map)
{
    map->src_bytes = td_word_bytes(code->data_bits);
    map->dst_bytes = td_word_bytes(code->coded_bits);
    map->address = (uint32_t)((map->src_bytes + 3) / 4 * 4);
    td_code_builder b = {.map = map, .word_rows = (uint32_t)map->dst_bytes};
    unsigned char *constant = calloc(1, map->dst_bytes);
    if (!constant)
        return td_fail_alloc(map->dst_bytes);
    for (uint32_t s = 0; s < code->subwords; s++) {
        for (uint32_t i = 0; i < code->subword_bits + code->address_bits; i++) {
            const bool data = i < code->subword_bits;
            const uint64_t src =
                data ? (uint64_t)s * code->subword_bits + i : map->address * 8 + i - code->subword_bits;
            if (data)
                td_code_add_link(&b, td_code_bit_at(code, s, i), src);
            for (uint32_t j = 0; j < code->check_bits; j++)
                if (code->column[i] >> j & 1)
                    td_code_add_link(&b, td_code_bit_at(code, s, code->subword_bits + j), src);
        }
        for (uint32_t i = 0; i < code->subword_bits; i++)
            td_code_set_bit(constant, td_code_bit_at(code, s, i), td_code_mask_bit(&code->constant, i));
        for (uint32_t j = 0; j < code->check_bits; j++)
            td_code_set_bit(constant, td_code_bit_at(code, s, code->subword_bits + j), code->constant_check >> j);
    }
    const td_status status = td_code_build(&b, constant, map->dst_bytes);
    free(constant);
    return status;
}

/* The data, then the syndromes of the subwords one after another. The constant that was added to the data changes the
 * syndrome of what is read, so that it stands in the constants of both. */
static td_status check_map(const td_code *code, td_code_map *map)
{
    map->src_bytes = td_word_bytes(code->coded_bits);
    map->dst_bytes = td_word_bytes(code->data_bits);
    map->address = (uint32_t)((map->src_bytes + 3) / 4 * 4);
    const size_t row_count = map->dst_bytes + ((size_t)code->subwords * code->check_bits + 7) / 8;
    td_code_builder b = {.map = map, .word_rows = (uint32_t)map->dst_bytes};
    unsigned char *constant = calloc(1, row_count);
    if (!constant)
        return td_fail_alloc(row_count);
    for (uint32_t s = 0; s < code->subwords; s++) {
        const uint64_t syndrome = map->dst_bytes * 8 + (uint64_t)s * code->check_bits;
        uint32_t added = code->constant_check;
        for (uint32_t i = 0; i < code->subword_bits + code->address_bits; i++) {
            const bool data = i < code->subword_bits, inverted = data && td_code_mask_bit(&code->constant, i);
            const uint64_t src = data ? td_code_bit_at(code, s, i) : map->address * 8 + i - code->subword_bits;
            if (data) {
                td_code_add_link(&b, (uint64_t)s * code->subword_bits + i, src);
                td_code_set_bit(constant, (uint64_t)s * code->subword_bits + i, inverted);
            }
            added ^= inverted ? code->column[i] : 0;
            for (uint32_t j = 0; j < code->check_bits; j++)
                if (code->column[i] >> j & 1)
                    td_code_add_link(&b, syndrome + j, src);
        }
        for (uint32_t j = 0; j < code->check_bits; j++) {
            td_code_add_link(&b, syndrome + j, td_code_bit_at(code, s, code->subword_bits + j));
            td_code_set_bit(constant, syndrome + j, added >> j);
        }
    }
    const td_status status = td_code_build(&b, constant, row_count);
    free(constant);
    return status;
}

/* What a block costs with vectors, in about their instructions. */
static uint64_t cost_of(const td_code_map *map)
{
    uint64_t cost = 24 * (uint64_t)map->plane_count + 20 * (uint64_t)((map->row_count + 3) / 4);
    for (uint32_t r = 0; r < map->row_count + map->syndrome_count; r++)
        for (uint32_t t = 0; t < map->row[r].terms; t++)
            cost += map->term[map->row[r].first_term + t].identity ? 2 : 10;
    for (uint32_t i = 0; i < map->early_count; i++)
        cost += 8 + 16 * (uint64_t)map->early[i].fields;
    for (uint32_t i = 0; i < map->late_count; i++)
        cost += 8 + 16 * (uint64_t)map->late[i].fields;
    return cost;
}

/* The cheaper of the two, and beside it the step that bytes have, where that is cheaper still. */
static td_status choose(const td_code *code, td_status (*by_bytes)(const td_code *, td_code_map *),
                        td_status (*by_fields)(const td_code *, td_code_map *), td_code_map *out)
{
    td_code_map other = {0};
    td_code_step step;
    td_status status = by_bytes(code, out);
    const bool has_step = !status && td_code_step_make(out, &step);
    if (!status && td_code_has_fields(code)) {
        status = by_fields(code, &other);
        if (!status && cost_of(&other) < cost_of(out)) {
            td_code_map_free(out);
            *out = other;
        } else
            td_code_map_free(&other);
    }
    if (!status && has_step && step.cost < cost_of(out)) {
        out->step = malloc(sizeof step);
        if (!out->step)
            return td_fail_alloc(sizeof step);
        *out->step = step;
    }
    return status;
}

td_status td_code_maps(td_code *code)
{
    const td_status status = choose(code, encode_map, td_code_encode_fields, &code->encode);
    return status ? status : choose(code, check_map, td_code_check_fields, &code->check);
}

void td_code_map_free(td_code_map *map)
{
    free(map->early);
    free(map->late);
    free(map->field);
    free(map->row);
    free(map->busy);
    free(map->copy);
    free(map->fill);
    free(map->plane);
    free(map->term);
    free(map->step);
}
