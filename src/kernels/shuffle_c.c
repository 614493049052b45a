/* The shuffling kernels in plain C, element by element, and the lists of terms that the other versions go by. */
#include "kernels/shuffle.h"

#include <stdlib.h>
#include <string.h>

static inline __attribute__((always_inline)) void move_units(const td_shuffle *s, unsigned char *dst,
                                                             const unsigned char *src, size_t units, const size_t size)
{
    const ptrdiff_t dst_unit = s->loop[s->unit].dst, src_unit = s->loop[s->unit].src;
    const size_t elems = s->elems;
    for (size_t u = 0; u < units; u++, dst += dst_unit, src += src_unit)
        for (size_t e = 0; e < elems; e++)
            memcpy(dst + s->dst_at[e], src + s->src_at[e], size);
}

void td_shuffle_units(const td_shuffle *s, unsigned char *dst, const unsigned char *src, size_t units)
{
    switch (s->size) {
    case 1:
        move_units(s, dst, src, units, 1);
        break;
    case 2:
        move_units(s, dst, src, units, 2);
        break;
    case 4:
        move_units(s, dst, src, units, 4);
        break;
    default:
        move_units(s, dst, src, units, s->size);
    }
}

#define X(name, vector)                                                                                                \
    TD_SHUFFLE_KERNEL(name, c)                                                                                         \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        td_shuffle_units(s, dst, src, units);                                                                          \
    }
TD_SHUFFLE_KERNELS(X)
#undef X

/* -- lists -- */

/* Elements in the order of the destination, from the loop `level` inwards; the units are `units` steps. */
typedef struct places {
    size_t count, room;
    ptrdiff_t *dst, *src;
} places;

static bool add_places(const td_shuffle *s, size_t level, size_t units, ptrdiff_t dst, ptrdiff_t src, places *out)
{
    if (level == 0) {
        if (out->count == out->room)
            return false;
        out->dst[out->count] = dst;
        out->src[out->count++] = src;
        return true;
    }
    const td_shuffle_loop *loop = &s->loop[level - 1];
    const size_t steps = level - 1 == s->unit ? units : (size_t)loop->extent;
    for (size_t i = 0; i < steps; i++, dst += loop->dst, src += loop->src)
        if (!add_places(s, level - 1, units, dst, src, out))
            return false;
    return true;
}

bool td_shuffle_list_unit(td_shuffle *s)
{
    places unit = {.room = TD_SHUFFLE_ELEMS, .dst = s->dst_at, .src = s->src_at};
    if (!add_places(s, s->loops, 1, s->dst_first, s->src_first, &unit))
        return false;
    s->elems = (uint16_t)unit.count;
    return true;
}

static uint64_t common_factor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#define LIST_BYTES 512 /* longer lists gain nothing and take longer to make */

/* So many units that their output is whole vectors, or nearly one, and the next list reads from a line on. */
static size_t units_at_once(const td_shuffle *s, unsigned vector)
{
    const td_shuffle_loop *unit = &s->loop[s->unit];
    const uint64_t step = (uint64_t)unit->dst, back = unit->src < 0 ? -(uint64_t)unit->src : (uint64_t)unit->src;
    const uint64_t bytes = (uint64_t)s->elems * s->size; /* of a unit */
    const uint64_t fill = bytes && LIST_BYTES / bytes > 1 ? LIST_BYTES / bytes : 1;
    const uint64_t most = fill < unit->extent ? fill : unit->extent;
    const uint64_t fit = vector / step, whole = vector / common_factor(step, vector);
    const uint64_t lined = back ? vector / common_factor(back, vector) : 1;
    uint64_t units = lined > whole ? lined : whole; /* both are powers of two */
    if (fit && 4 * fit * step >= 3 * vector && (back == step || units > most))
        units = fit;
    else if (units > most)
        units = whole <= most ? whole : most;
    return (size_t)units;
}

/* The bytes of one list, in the order of the destination; in the source from `src_begin` on. */
typedef struct bytes {
    size_t count;
    ptrdiff_t dst[TD_SHUFFLE_BYTES], src_begin;
    int32_t src[TD_SHUFFLE_BYTES], src_end;
} bytes;

#define FAR_BYTES ((ptrdiff_t)1 << 30)

/* False where there are too many, or they are too far apart to count from the first. */
static bool list_bytes(const td_shuffle *s, size_t units, bytes *b)
{
    ptrdiff_t dst[TD_SHUFFLE_BYTES], src[TD_SHUFFLE_BYTES], begin = PTRDIFF_MAX, end = PTRDIFF_MIN;
    places all = {.room = TD_SHUFFLE_BYTES / s->size, .dst = dst, .src = src};
    if (!add_places(s, s->loops, units, s->dst_first, s->src_first, &all))
        return false;
    for (size_t e = 0; e < all.count; e++) {
        begin = src[e] < begin ? src[e] : begin;
        end = src[e] + s->size > end ? src[e] + s->size : end;
    }
    if (end - begin > FAR_BYTES)
        return false;
    b->count = 0;
    for (size_t e = 0; e < all.count; e++)
        for (ptrdiff_t i = 0; i < s->size; i++, b->count++) {
            b->dst[b->count] = dst[e] + i;
            b->src[b->count] = (int32_t)(src[e] + i - begin);
        }
    b->src_begin = begin;
    b->src_end = (int32_t)(end - begin);
    return true;
}

/* Bytes of one output that no term has yet. */
typedef struct missing {
    size_t count;
    int32_t src[64];
    uint8_t at[64];
} missing;

static size_t count_in(const missing *m, int32_t from, int32_t vector)
{
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++)
        count += m->src[i] >= from && m->src[i] < from + vector;
    return count;
}

/* A window begins at the lowest byte that is still missing, or on the line before it where that holds as many. */
static int32_t find_window(const missing *m, const bytes *b, int32_t vector)
{
    int32_t from = b->src_end - vector;
    for (size_t i = 0; i < m->count; i++)
        from = m->src[i] < from ? m->src[i] : from;
    const int32_t past = (int32_t)((b->src_begin % vector + from + vector) % vector);
    return past && past <= from && count_in(m, from - past, vector) == count_in(m, from, vector) ? from - past : from;
}

/* The terms of bytes [first, end), which lie in one vector of the output; up to `most` in all. */
static bool list_terms(td_shuffle *s, const bytes *b, size_t first, size_t end, int32_t vector, size_t most)
{
    td_shuffle_output *out = &s->output[s->outputs++];
    const uint8_t mark = vector == 64 ? 0x80 : 0;
    missing m = {.count = end - first};
    *out = (td_shuffle_output){.dst = b->dst[first], .first = s->terms};
    for (size_t i = 0; i < m.count; i++) {
        m.src[i] = b->src[first + i];
        m.at[i] = (uint8_t)(b->dst[first + i] - out->dst);
        out->mask |= (uint64_t)1 << m.at[i];
    }
    for (; m.count; out->terms++) {
        if (s->terms == most)
            return false;
        const int32_t from = find_window(&m, b, vector);
        uint8_t *pick = s->pick[s->terms];
        size_t left = 0;
        memset(pick, vector == 64 ? 0 : 0x80, sizeof s->pick[0]);
        s->from[s->terms++] = b->src_begin + from;
        for (size_t i = 0; i < m.count; i++) {
            const int32_t at = m.src[i] - from;
            if (at < vector)
                pick[m.at[i]] = (uint8_t)at | mark;
            else {
                m.src[left] = m.src[i];
                m.at[left++] = m.at[i];
            }
        }
        m.count = left;
    }
    return true;
}

/* The units of a list, more of them where their bytes do not fill a window. */
static bool list_units(td_shuffle *s, bytes *b, unsigned vector)
{
    for (size_t units = units_at_once(s, vector); units && units <= s->loop[s->unit].extent; units *= 2) {
        if (!list_bytes(s, units, b))
            return false;
        s->at_once = (uint16_t)units;
        if (b->src_end >= (int32_t)vector)
            return true;
    }
    return false;
}

/* Against moving the elements one by one, in units of such a move: stores with gaps are slow, and so are elements that
 * no single instruction moves. Against a transpose, in bytes of the output per term. */
#define GAPS_COST(vector) ((vector) < 64 ? 5u : 4u)
#define ODD_COST 3
#define TERMS_PER_VECTOR 8

static size_t cost_of_elems(const td_shuffle *s, const bytes *b)
{
    const size_t one = s->size <= 16 && (s->size & (s->size - 1)) == 0 ? 1 : ODD_COST;
    return 3 * one * b->count / s->size / 4;
}

static size_t most_terms(const td_shuffle *s, const bytes *b, unsigned vector)
{
    const size_t by_elems = cost_of_elems(s, b),
                 by_bytes = s->transposes ? TERMS_PER_VECTOR * b->count / vector : TD_SHUFFLE_TERMS;
    const size_t least = by_elems < by_bytes ? by_elems : by_bytes;
    return least < TD_SHUFFLE_TERMS ? least : TD_SHUFFLE_TERMS;
}

/* Where there is no masked store, a run of some bytes is an output of its own. */
#define RUN_BYTES 4

static size_t end_of_output(const bytes *b, size_t first, unsigned vector)
{
    size_t end = first + 1;
    while (end < b->count && b->dst[end] - b->dst[first] < (ptrdiff_t)vector) {
        const bool gap = b->dst[end] != b->dst[end - 1] + 1;
        if (gap && vector < 64 && b->dst[end - 1] - b->dst[first] + 1 >= RUN_BYTES &&
            b->dst[end - 1] - b->dst[first] == (ptrdiff_t)(end - 1 - first))
            break;
        end++;
    }
    return end;
}

bool td_shuffle_list(td_shuffle *s, unsigned vector)
{
    const uint64_t every = vector == 64 ? ~(uint64_t)0 : ((uint64_t)1 << vector) - 1;
    bytes b;
    s->outputs = s->terms = 0;
    if (!list_units(s, &b, vector))
        return false;
    const size_t most = most_terms(s, &b, vector);
    for (size_t first = 0, end = 0; first < b.count; first = end) {
        end = end_of_output(&b, first, vector);
        if (s->outputs == TD_SHUFFLE_OUTPUTS || !list_terms(s, &b, first, end, (int32_t)vector, most))
            return false;
    }
    size_t gaps = 0;
    s->whole = true;
    s->lines = vector == 64 && s->loop[s->unit].dst * s->at_once % 64 == 0;
    for (size_t i = 0; i < s->outputs; i++) {
        s->whole = s->whole && s->output[i].mask == every;
        s->lines = s->lines && s->whole && s->output[i].dst % 64 == 0;
        gaps += (s->output[i].mask & (s->output[i].mask + 1)) != 0;
    }
    if (gaps && vector < 64 && !s->may_fill)
        return false;
    return s->terms + s->outputs + GAPS_COST(vector) * gaps <= cost_of_elems(s, &b);
}

void td_shuffle_init(td_shuffle_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, vector) kernels->name = td_##name##_c;
    TD_SHUFFLE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_shuffle_init_##isa(kernels);
    TD_SHUFFLE_ISAS(X)
#undef X
}

bool td_shuffle_prepare(td_shuffle *s, unsigned cpu_flags)
{
    td_shuffle_kernels k;
    td_shuffle_init(&k, cpu_flags);
    s->fn = td_shuffle_x128_c;
    if (!td_shuffle_list_unit(s))
        return false;
    const bool wide = k.shuffle_x512 != td_shuffle_x512_c;
    if (wide && td_shuffle_list(s, 64)) {
        s->fn = k.shuffle_x512;
        return true;
    }
    if (wide && s->transposes) /* with wide vectors too */
        return false;
    if (k.shuffle_x128 == td_shuffle_x128_c || !td_shuffle_list(s, 16))
        return false;
    s->fn = k.shuffle_x128;
    return true;
}

td_shuffle *td_shuffle_copy(const td_shuffle *s)
{
    td_shuffle *copy = aligned_alloc(64, sizeof *copy);
    if (copy)
        *copy = *s;
    return copy;
}

void td_shuffle_free(td_shuffle *s)
{
    free(s);
}
