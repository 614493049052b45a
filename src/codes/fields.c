/* Maps of words whose data and check bits move as fields of 32-bit words (map.h). On the way a word has a form in which
 * the check bits of every subword begin at a byte of their own, in the middle: a byte of check bits is then a sum over
 * the data of its subword alone. Encoding makes that middle and puts the coded word together; checking takes both apart
 * first. Called by map.c, which knows whether this is cheaper. */
#include "codes/map.h"

#include <stdlib.h>

/* Fields while they are gathered, with the 32-bit word that each belongs to. */
typedef struct gathered {
    td_code_field *field;
    uint32_t *dst;
    uint32_t count, room;
} gathered;

static uint32_t dwords_of(uint64_t bytes)
{
    return (uint32_t)(bytes / 4);
}

/* Bytes of the middle for the check bits of one subword. */
static uint32_t check_bytes(const td_code *code)
{
    return (code->check_bits + 7) / 8;
}

static uint32_t check_dwords(const td_code *code)
{
    return (code->subwords * check_bytes(code) + 3) / 4;
}

bool td_code_has_fields(const td_code *code)
{
    const uint64_t data = td_word_bytes(code->data_bits), coded = td_word_bytes(code->coded_bits);
    return data >= 4 && dwords_of(data) + check_dwords(code) <= TD_CODE_MIDDLE && dwords_of(coded) <= TD_CODE_DWORDS;
}

/* Fields of one word into the same one are one field where they are shifted alike. */
static void add_field(gathered *g, uint32_t dst, td_code_field field)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->dst[i] == dst && g->field[i].src == field.src && g->field[i].left == field.left) {
            g->field[i].mask |= field.mask;
            return;
        }
    g->dst[g->count] = dst;
    g->field[g->count++] = field;
}

/* `bits` bits from bit `src` on become those from bit `dst` on, both counted over 32-bit words. */
static void add_run(gathered *g, uint64_t dst, uint64_t src, uint64_t bits)
{
    while (bits) {
        const uint32_t to = (uint32_t)(dst % 32), from = (uint32_t)(src % 32), room = 32 - (to > from ? to : from),
                       n = bits < room ? (uint32_t)bits : room;
        const uint32_t mask = (n == 32 ? UINT32_MAX : (1u << n) - 1) << to;
        add_field(g, (uint32_t)(dst / 32), (td_code_field){(uint32_t)(src / 32), (int32_t)to - (int32_t)from, mask});
        dst += n;
        src += n;
        bits -= n;
    }
}

/* Every run is cut at most so often. */
static bool gather(gathered *g, const td_code *code)
{
    g->room = 2 * code->subwords * (code->subword_bits / 16 + code->check_bits / 16 + 4);
    g->field = calloc(g->room, sizeof *g->field);
    g->dst = calloc(g->room, sizeof *g->dst);
    return g->field && g->dst;
}

static void let_go(gathered *g)
{
    free(g->field);
    free(g->dst);
}

/* The fields of 32-bit word number `from` as a join that makes `dst`; false where it is one word as it is, *src. */
static bool add_join(td_code_map *map, const gathered *g, uint32_t from, td_code_join *join, uint32_t *fields,
                     uint32_t *src)
{
    join->first_field = *fields;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->dst[i] == from)
            map->field[(*fields)++] = g->field[i];
    join->fields = *fields - join->first_field;
    const td_code_field *only = &map->field[join->first_field];
    if (join->fields != 1 || only->left || only->mask != UINT32_MAX || join->constant)
        return true;
    *fields = join->first_field;
    *src = only->src;
    return false;
}

static td_status fail_memory(const gathered *g)
{
    return td_fail_alloc((g->room + 1) * (sizeof *g->field + sizeof *g->dst));
}

static void begin(td_code_map *map, uint64_t src_bits, uint64_t dst_bits)
{
    map->src_bytes = td_word_bytes(src_bits);
    map->dst_bytes = td_word_bytes(dst_bits);
    map->address = (uint32_t)((map->src_bytes + 3) / 4 * 4);
}

/* The check bits of every subword as sums: of the bits of its data, which `data` has from bit `first` on, of the
 * address, and of the constant. Row `row` is the first. */
static void add_sums(const td_code *code, td_code_builder *b, unsigned char *constant, uint32_t s,
                     const uint32_t *column_at)
{
    const uint64_t row = (uint64_t)s * check_bytes(code) * 8, address = (uint64_t)b->map->address * 8;
    for (uint32_t i = 0; i < code->subword_bits + code->address_bits; i++) {
        const uint64_t at = (uint64_t)s * code->subword_bits + i;
        const uint64_t src =
            i < code->subword_bits ? (uint64_t)column_at[at / 32] * 32 + at % 32 : address + i - code->subword_bits;
        for (uint32_t j = 0; j < code->check_bits; j++)
            if (code->column[i] >> j & 1)
                td_code_add_link(b, row + j, src);
    }
    for (uint32_t j = 0; j < code->check_bits; j++)
        td_code_set_bit(constant, row + j, code->constant_check >> j);
}

/* The constant of the data, in a word that holds them from bit `at` on. */
static uint32_t constant_of(const td_code *code, uint32_t dword, bool coded)
{
    uint32_t sum = 0;
    for (uint32_t s = 0; s < code->subwords; s++)
        for (uint32_t i = 0; i < code->subword_bits; i++) {
            const uint64_t at = coded ? td_code_bit_at(code, s, i) : (uint64_t)s * code->subword_bits + i;
            if (at / 32 == dword && td_code_mask_bit(&code->constant, i))
                sum |= 1u << at % 32;
        }
    return sum;
}

td_status td_code_encode_fields(const td_code *code, td_code_map *map)
{
    gathered g = {0};
    begin(map, code->data_bits, code->coded_bits);
    const uint32_t dwords = dwords_of(map->dst_bytes), data = dwords_of(map->src_bytes), middle = td_code_middle(map);
    const uint32_t rows = code->subwords * check_bytes(code);
    uint32_t column_at[TD_CODE_MIDDLE], fields = 0;
    map->middle_count = check_dwords(code);
    map->rows_in_middle = true;
    const bool gathers = gather(&g, code);
    map->field = calloc(g.room, sizeof *map->field);
    map->late = calloc(dwords, sizeof *map->late);
    map->copy = calloc(dwords, sizeof *map->copy);
    unsigned char *constant = calloc(1, rows);
    td_status status = gathers && map->field && map->late && map->copy && constant ? TD_OK : fail_memory(&g);
    td_code_builder b = {.map = map, .word_rows = rows, .first_row = 4 * middle, .fields = true};
    for (uint32_t d = 0; d < data; d++)
        column_at[d] = d;
    for (uint32_t s = 0; s < code->subwords && !status; s++) {
        add_run(&g, td_code_bit_at(code, s, 0), (uint64_t)s * code->subword_bits, code->subword_bits);
        add_run(&g, td_code_bit_at(code, s, code->subword_bits),
                32 * (uint64_t)middle + (uint64_t)s * check_bytes(code) * 8, code->check_bits);
        add_sums(code, &b, constant, s, column_at);
    }
    for (uint32_t d = 0; d < dwords && !status; d++) {
        td_code_join join = {.dst = d, .constant = constant_of(code, d, true)};
        uint32_t src = 0;
        if (add_join(map, &g, d, &join, &fields, &src))
            map->late[map->late_count++] = join;
        else
            map->copy[map->copy_count++] = (td_code_copy){d, src};
    }
    let_go(&g);
    if (status)
        free(b.links);
    else
        status = td_code_build(&b, constant, rows);
    free(constant);
    return status;
}

td_status td_code_check_fields(const td_code *code, td_code_map *map)
{
    gathered g = {0};
    begin(map, code->coded_bits, code->data_bits);
    const uint32_t dwords = dwords_of(map->dst_bytes), checks = check_dwords(code), middle = td_code_middle(map);
    const uint32_t rows = code->subwords * check_bytes(code);
    uint32_t column_at[TD_CODE_MIDDLE], fields = 0;
    const bool gathers = gather(&g, code);
    map->field = calloc(g.room, sizeof *map->field);
    map->early = calloc(dwords + checks, sizeof *map->early);
    map->copy = calloc(dwords, sizeof *map->copy);
    unsigned char *constant = calloc(1, rows);
    td_status status = gathers && map->field && map->early && map->copy && constant ? TD_OK : fail_memory(&g);
    td_code_builder b = {.map = map, .fields = true};
    for (uint32_t s = 0; s < code->subwords && !status; s++) {
        add_run(&g, (uint64_t)s * code->subword_bits, td_code_bit_at(code, s, 0), code->subword_bits);
        add_run(&g, 32 * (uint64_t)dwords + (uint64_t)s * check_bytes(code) * 8,
                td_code_bit_at(code, s, code->subword_bits), code->check_bits);
    }
    for (uint32_t d = 0; d < dwords + checks && !status; d++) {
        td_code_join join = {.dst = middle + map->early_count,
                             .constant = d < dwords ? constant_of(code, d, false) : 0};
        uint32_t src = join.dst;
        if (add_join(map, &g, d, &join, &fields, &src))
            map->early[map->early_count++] = join;
        column_at[d] = src;
        if (d < dwords)
            map->copy[map->copy_count++] = (td_code_copy){d, src};
    }
    map->middle_count = map->early_count;
    for (uint32_t s = 0; s < code->subwords && !status; s++) {
        add_sums(code, &b, constant, s, column_at);
        for (uint32_t j = 0; j < code->check_bits; j++) {
            const uint64_t bit = (uint64_t)s * check_bytes(code) * 8 + j;
            td_code_add_link(&b, bit, (uint64_t)column_at[dwords + bit / 32] * 32 + bit % 32);
        }
    }
    let_go(&g);
    if (status)
        free(b.links);
    else
        status = td_code_build(&b, constant, rows);
    free(constant);
    return status;
}
