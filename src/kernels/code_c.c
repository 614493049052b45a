/* The kernels of codes in plain C: a table of 256 bytes per term. The rule that the other versions follow. A block of
 * words goes through one row after another, so that the tables of a row stay in registers and caches. */
#include "kernels/code.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static bool has_address(const td_code_map *map)
{
    for (uint32_t i = 0; i < map->plane_count; i++)
        if (map->plane[i] * 4 >= map->address)
            return true;
    return false;
}

/* What four terms of the source add, for every word of a block. */
INLINE void add_four(const td_code_term *term, unsigned char *out, size_t step, const unsigned char *src, size_t bytes,
                     size_t count)
{
    const unsigned char *s0 = src + term[0].src, *s1 = src + term[1].src, *s2 = src + term[2].src,
                        *s3 = src + term[3].src;
    const unsigned char *t0 = term[0].table, *t1 = term[1].table, *t2 = term[2].table, *t3 = term[3].table;
    for (size_t w = 0, at = 0; w < count; w++, at += bytes)
        out[w * step] ^= (unsigned char)(t0[s0[at]] ^ t1[s1[at]] ^ t2[s2[at]] ^ t3[s3[at]]);
}

INLINE void add_one(const td_code_term *term, unsigned char *out, size_t step, const unsigned char *src, size_t bytes,
                    size_t count)
{
    for (size_t w = 0; w < count; w++)
        out[w * step] ^= term->table[src[w * bytes + term->src]];
}

INLINE void add_address(const td_code_term *term, unsigned byte, unsigned char *out, size_t step, uint64_t first,
                        size_t count)
{
    for (size_t w = 0; w < count; w++)
        out[w * step] ^= term->table[(first + w) >> 8 * byte & 0xff];
}

/* One row of every word of a block, `step` bytes apart. */
static void run_row(const td_code_map *map, const td_code_row *row, unsigned char *out, size_t step,
                    const unsigned char *src, uint64_t first, size_t count, bool with_address)
{
    const td_code_term *term = map->term + row->first_term, *end = term + row->terms;
    for (size_t w = 0; w < count; w++)
        out[w * step] = row->constant;
    for (; !with_address && end - term >= 4; term += 4)
        add_four(term, out, step, src, map->src_bytes, count);
    for (; term < end; term++)
        if (term->src < map->address)
            add_one(term, out, step, src, map->src_bytes, count);
        else
            add_address(term, term->src - map->address, out, step, first, count);
}

/* The words of a block before the first whose syndrome is not zero. */
static size_t good_words(const td_code_map *map, const unsigned char *src, uint64_t first, size_t count,
                         bool with_address)
{
    unsigned char syndrome[TD_CODE_BLOCK], bad[TD_CODE_BLOCK] = {0};
    size_t good = 0;
    for (uint32_t i = 0; i < map->syndrome_count; i++) {
        run_row(map, &map->row[map->row_count + i], syndrome, 1, src, first, count, with_address);
        for (size_t w = 0; w < count; w++)
            bad[w] |= syndrome[w];
    }
    while (good < count && !bad[good])
        good++;
    return good;
}

static void map_block(const td_code_map *map, unsigned char *dst, const unsigned char *src, uint64_t first,
                      size_t count, bool with_address)
{
    const size_t src_bytes = map->src_bytes, dst_bytes = map->dst_bytes;
    for (uint32_t i = 0; i < map->copy_count; i++) {
        unsigned char *to = dst + 4 * (size_t)map->copy[i].dst;
        const unsigned char *from = src + 4 * (size_t)map->copy[i].src;
        for (size_t w = 0; w < count; w++)
            memcpy(to + w * dst_bytes, from + w * src_bytes, 4);
    }
    for (uint32_t i = 0; i < map->fill_count; i++) {
        const td_code_fill fill = map->fill[i];
        for (size_t w = 0; w < count; w++)
            memcpy(dst + w * dst_bytes + 4 * (size_t)fill.dst, &fill.value, 4);
    }
    for (uint32_t i = 0; i < map->busy_count; i++)
        run_row(map, &map->busy[i], dst + map->busy[i].dst, dst_bytes, src, first, count, with_address);
}

TD_CODE_KERNEL(code_map, c)
{
    const bool with_address = has_address(map);
    for (size_t w = 0; w < count;) {
        const size_t left = count - w < TD_CODE_BLOCK ? count - w : TD_CODE_BLOCK;
        const unsigned char *from = src + w * map->src_bytes;
        const size_t good = map->syndrome_count ? good_words(map, from, first + w, left, with_address) : left;
        if (dst)
            map_block(map, dst + w * map->dst_bytes, from, first + w, good, with_address);
        w += good;
        if (good < left)
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
