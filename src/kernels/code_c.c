/* The kernels of codes in plain C: a table of 256 bytes per term. The rule that the other versions follow. A block of
 * words goes through one row after another, so that the tables of a row stay in registers and caches. */
#include "kernels/code.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Words of a block: those of the source, and what is made of them on the way. */
typedef struct block {
    const unsigned char *src;
    size_t count, src_bytes, middle_bytes;
    uint64_t first;
    _Alignas(8) unsigned char middle[TD_CODE_BLOCK * TD_CODE_MIDDLE * 4];
} block;

/* Where a 32-bit word, or a byte of one, stands in the first word of the block, and how far it is to that of the next.
 */
static const unsigned char *find(const td_code_map *map, const block *b, uint32_t byte, size_t *step)
{
    const uint32_t middle = 4 * td_code_middle(map);
    *step = byte >= middle ? b->middle_bytes : b->src_bytes;
    return byte >= middle ? b->middle + byte - middle : b->src + byte;
}

static uint32_t field_of(const unsigned char *from, const td_code_field *field)
{
    uint32_t value;
    memcpy(&value, from, 4);
    return (field->left < 0 ? value >> -field->left : value << field->left) & field->mask;
}

/* Two fields of every word are added to what stands there. */
INLINE void add_fields(const td_code_map *map, const block *b, const td_code_field *field, unsigned fields,
                       unsigned char *out, size_t step, uint32_t constant, bool fresh)
{
    size_t step0, step1;
    const td_code_field f0 = field[0], f1 = field[fields - 1];
    const unsigned char *from0 = find(map, b, 4 * f0.src, &step0), *from1 = find(map, b, 4 * f1.src, &step1);
    const size_t count = b->count;
    for (size_t w = 0; w < count; w++, out += step, from0 += step0, from1 += step1) {
        uint32_t sum = constant, old = 0;
        if (!fresh)
            memcpy(&old, out, 4);
        sum ^= old ^ field_of(from0, &f0) ^ (fields == 2 ? field_of(from1, &f1) : 0);
        memcpy(out, &sum, 4);
    }
}

static void run_join(const td_code_map *map, const block *b, const td_code_join *join, unsigned char *out, size_t step)
{
    const td_code_field *field = map->field + join->first_field;
    if (!join->fields)
        for (size_t w = 0; w < b->count; w++)
            memcpy(out + w * step, &join->constant, 4);
    for (uint32_t i = 0; i < join->fields; i += 2)
        if (join->fields - i == 1)
            add_fields(map, b, field + i, 1, out, step, i ? 0 : join->constant, i == 0);
        else
            add_fields(map, b, field + i, 2, out, step, i ? 0 : join->constant, i == 0);
}

/* What four terms add, for every word of a block; byte `from` is the first of `src`. */
INLINE void add_four(const td_code_term *term, unsigned char *out, size_t step, const unsigned char *src, uint32_t from,
                     size_t bytes, size_t count)
{
    const unsigned char *s0 = src + (term[0].src - from), *s1 = src + (term[1].src - from),
                        *s2 = src + (term[2].src - from), *s3 = src + (term[3].src - from);
    const unsigned char *t0 = term[0].table, *t1 = term[1].table, *t2 = term[2].table, *t3 = term[3].table;
    for (size_t w = 0, at = 0; w < count; w++, at += bytes)
        out[w * step] ^= (unsigned char)(t0[s0[at]] ^ t1[s1[at]] ^ t2[s2[at]] ^ t3[s3[at]]);
}

INLINE void add_one(const td_code_term *term, unsigned char *out, size_t step, const unsigned char *src, size_t bytes,
                    size_t count)
{
    for (size_t w = 0; w < count; w++)
        out[w * step] ^= term->table[src[w * bytes]];
}

INLINE void add_address(const td_code_term *term, unsigned byte, unsigned char *out, size_t step, uint64_t first,
                        size_t count)
{
    for (size_t w = 0; w < count; w++)
        out[w * step] ^= term->table[(first + w) >> 8 * byte & 0xff];
}

/* Four terms of bytes from `low` to below `high`. */
static bool all_in(const td_code_term *term, uint32_t low, uint32_t high)
{
    bool in = true;
    for (int i = 0; i < 4; i++)
        in = in && term[i].src >= low && term[i].src < high;
    return in;
}

/* One row of every word of a block, `step` bytes apart. */
static void run_row(const td_code_map *map, const block *b, const td_code_row *row, unsigned char *out, size_t step)
{
    const td_code_term *term = map->term + row->first_term, *end = term + row->terms;
    const uint32_t middle = 4 * td_code_middle(map);
    const size_t count = b->count;
    for (size_t w = 0; w < count; w++)
        out[w * step] = row->constant;
    for (; end - term >= 4 && all_in(term, 0, map->address); term += 4)
        add_four(term, out, step, b->src, 0, b->src_bytes, count);
    for (; end - term >= 4 && all_in(term, middle, UINT32_MAX); term += 4)
        add_four(term, out, step, b->middle, middle, b->middle_bytes, count);
    for (; term < end; term++)
        if (term->src < map->address)
            add_one(term, out, step, b->src + term->src, b->src_bytes, count);
        else if (term->src >= middle)
            add_one(term, out, step, b->middle + (term->src - middle), b->middle_bytes, count);
        else
            add_address(term, term->src - map->address, out, step, b->first, count);
}

/* The words of a block before the first whose syndrome is not zero. */
static size_t good_words(const td_code_map *map, const block *b)
{
    unsigned char syndrome[TD_CODE_BLOCK], bad[TD_CODE_BLOCK] = {0};
    size_t good = 0;
    for (uint32_t i = 0; i < map->syndrome_count; i++) {
        run_row(map, b, &map->row[map->row_count + i], syndrome, 1);
        for (size_t w = 0; w < b->count; w++)
            bad[w] |= syndrome[w];
    }
    while (good < b->count && !bad[good])
        good++;
    return good;
}

static void map_block(const td_code_map *map, block *b, unsigned char *dst)
{
    const size_t dst_bytes = map->dst_bytes;
    for (uint32_t i = 0; i < map->fill_count; i++) {
        const td_code_fill fill = map->fill[i];
        for (size_t w = 0; w < b->count; w++)
            memcpy(dst + w * dst_bytes + 4 * (size_t)fill.dst, &fill.value, 4);
    }
    for (uint32_t i = 0; i < map->busy_count; i++)
        if (map->rows_in_middle)
            run_row(map, b, &map->busy[i], b->middle + map->busy[i].dst - 4 * td_code_middle(map), b->middle_bytes);
        else
            run_row(map, b, &map->busy[i], dst + map->busy[i].dst, dst_bytes);
    for (uint32_t i = 0; i < map->copy_count; i++) {
        size_t step;
        unsigned char *to = dst + 4 * (size_t)map->copy[i].dst;
        const unsigned char *from = find(map, b, 4 * map->copy[i].src, &step);
        for (size_t w = 0; w < b->count; w++)
            memcpy(to + w * dst_bytes, from + w * step, 4);
    }
    for (uint32_t i = 0; i < map->late_count; i++)
        run_join(map, b, &map->late[i], dst + 4 * (size_t)map->late[i].dst, dst_bytes);
}

TD_CODE_KERNEL(code_map, c)
{
    block b;
    b.src_bytes = map->src_bytes;
    b.middle_bytes = (size_t)4 * map->middle_count;
    for (size_t w = 0; w < count;) {
        const size_t left = count - w < TD_CODE_BLOCK ? count - w : TD_CODE_BLOCK;
        b.src = src + w * map->src_bytes;
        b.first = first + w;
        b.count = left;
        for (uint32_t i = 0; i < map->early_count; i++)
            run_join(map, &b, &map->early[i], b.middle + 4 * (size_t)(map->early[i].dst - td_code_middle(map)),
                     b.middle_bytes);
        if (map->syndrome_count)
            b.count = good_words(map, &b);
        if (dst)
            map_block(map, &b, dst + w * map->dst_bytes);
        w += b.count;
        if (b.count < left)
            return w;
    }
    return count;
}

void td_code_init(td_code_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name) kernels->name = td_##name##_c;
    TD_CODE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_code_init_##isa(kernels);
    TD_CODE_ISAS(X)
#undef X
}
