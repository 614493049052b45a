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

/* Elements in the order of the destination; the units are `units` steps. */
typedef struct places {
    size_t count, room;
    ptrdiff_t *dst, *src;
} places;

/* Loop by loop from the innermost: every step of a loop repeats what those inside it gave, some way on. */
static bool add_places(const td_shuffle *s, size_t units, places *out)
{
    ptrdiff_t *dst = out->dst, *src = out->src;
    size_t count = 1;
    dst[0] = s->dst_first;
    src[0] = s->src_first;
    for (size_t level = 0; level < s->loops; level++) {
        const td_shuffle_loop *loop = &s->loop[level];
        const uint64_t steps = level == s->unit ? units : loop->extent;
        if (steps == 0 || steps > out->room / count)
            return false;
        const size_t all = count * (size_t)steps;
        for (size_t i = count; i < all; i++) {
            dst[i] = dst[i - count] + loop->dst;
            src[i] = src[i - count] + loop->src;
        }
        count = all;
    }
    out->count = count;
    return true;
}

bool td_shuffle_list_unit(td_shuffle *s)
{
    places unit = {.room = TD_SHUFFLE_ELEMS, .dst = s->dst_at, .src = s->src_at};
    if (!add_places(s, 1, &unit))
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

/* The bytes of one list, in the order of the destination; those of the source lie in [src_begin, src_end). */
typedef struct bytes {
    size_t count;
    ptrdiff_t dst[TD_SHUFFLE_BYTES], src[TD_SHUFFLE_BYTES], src_begin, src_end;
} bytes;

#define FAR_BYTES ((ptrdiff_t)1 << 30)

static void find_source(const td_shuffle *s, size_t units, bytes *b)
{
    b->src_begin = s->src_first;
    b->src_end = s->src_first + s->size;
    for (size_t i = 0; i < s->loops; i++) {
        const ptrdiff_t steps = (ptrdiff_t)(i == s->unit ? units : s->loop[i].extent),
                        all = (steps - 1) * s->loop[i].src;
        *(all < 0 ? &b->src_begin : &b->src_end) += all;
    }
}

/* False where there are too many. */
static bool list_bytes(const td_shuffle *s, size_t units, bytes *b)
{
    places all = {.room = TD_SHUFFLE_BYTES / s->size, .dst = b->dst, .src = b->src};
    if (!add_places(s, units, &all))
        return false;
    b->count = all.count * s->size;
    for (size_t e = all.count; s->size != 1 && e-- > 0;) /* from the last on, so that none is overwritten unread */
        for (ptrdiff_t i = s->size; i-- > 0;) {
            b->dst[e * s->size + (size_t)i] = b->dst[e] + i;
            b->src[e * s->size + (size_t)i] = b->src[e] + i;
        }
    return true;
}

/* Bytes of one output in the order of the source: where each comes from, and below that its place in the output. */
#define PLACE_BITS 8

static int32_t source_of(uint64_t byte)
{
    return (int32_t)(byte >> PLACE_BITS);
}

/* Merges runs of 1, 2, 4, ... bytes. */
static void sort_bytes(uint64_t *byte, size_t count)
{
    uint64_t other[64], *from = byte, *to = other;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t first = 0; first < count; first += 2 * run) {
            const size_t middle = first + run < count ? first + run : count;
            const size_t end = middle + run < count ? middle + run : count;
            for (size_t at = first, a = first, b = middle; at < end; at++) {
                const bool second = a == middle || (b < end && from[b] < from[a]);
                to[at] = from[second ? b : a];
                a += !second;
                b += second;
            }
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != byte)
        memcpy(byte, from, count * sizeof *byte);
}

/* The first byte of [from, count) that a window which begins at `begin` has not. */
static size_t end_of_window(const uint64_t *byte, size_t from, size_t count, int32_t begin, int32_t vector)
{
    while (from < count && source_of(byte[from]) < begin + vector)
        from++;
    return from;
}

/* The terms of bytes [first, end), which lie in one vector of the output; up to `most` in all. A window begins at the
 * lowest byte that is still missing, or on the line before it where that holds as many. */
static bool list_terms(td_shuffle *s, const bytes *b, size_t first, size_t end, int32_t vector, size_t most)
{
    td_shuffle_output *out = &s->output[s->outputs++];
    const uint8_t mark = vector == 64 ? 0x80 : 0;
    const size_t count = end - first;
    uint64_t byte[64];
    bool sorted = true;
    *out = (td_shuffle_output){.dst = b->dst[first], .first = s->terms};
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)(b->dst[first + i] - out->dst);
        byte[i] = (uint64_t)(b->src[first + i] - b->src_begin) << PLACE_BITS | at;
        sorted = sorted && (i == 0 || byte[i - 1] < byte[i]);
        out->mask |= (uint64_t)1 << at;
    }
    if (!sorted)
        sort_bytes(byte, count);
    for (size_t i = 0, next = 0; i < count; i = next, out->terms++) {
        if (s->terms == most)
            return false;
        const int32_t last = (int32_t)(b->src_end - b->src_begin) - vector, lowest = source_of(byte[i]);
        int32_t from = lowest < last ? lowest : last;
        next = end_of_window(byte, i, count, from, vector);
        const int32_t past = (int32_t)((b->src_begin % vector + from + vector) % vector);
        if (past && past <= from && end_of_window(byte, i, count, from - past, vector) == next)
            from -= past;
        uint8_t *pick = s->pick[s->terms];
        memset(pick, vector == 64 ? 0 : 0x80, sizeof s->pick[0]);
        s->from[s->terms++] = b->src_begin + from;
        for (; i < next; i++)
            pick[(uint8_t)byte[i]] = (uint8_t)(source_of(byte[i]) - from) | mark;
    }
    return true;
}

/* Two windows of an output are one term of vectors of 64 bytes. Returns how many there are less. */
static size_t join_terms(td_shuffle *s, td_shuffle_output *out)
{
    const size_t first = out->first, windows = out->terms;
    out->windows = out->terms;
    out->terms = (uint16_t)((windows + 1) / 2);
    for (size_t t = 0; t < out->terms; t++) {
        const size_t a = first + 2 * t, b = 2 * t + 1 < windows ? a + 1 : a;
        uint8_t pick[64];
        for (size_t i = 0; i < 64; i++) {
            const bool in_a = s->pick[a][i] >> 7, in_b = b > a && s->pick[b][i] >> 7;
            pick[i] = in_a ? s->pick[a][i] : in_b ? (uint8_t)(s->pick[b][i] + 64) : 0;
        }
        memcpy(s->pick[first + t], pick, sizeof pick);
        s->from[first + t] = s->from[a];
        s->second[first + t] = s->from[b];
    }
    s->terms = (uint16_t)(first + out->terms);
    return windows - out->terms;
}

/* The units of a list, more of them where their bytes do not fill a window; none that are too far apart to count from
 * the first. */
static bool list_units(td_shuffle *s, bytes *b, unsigned vector)
{
    for (size_t units = units_at_once(s, vector);
         units && units <= s->loop[s->unit].extent && units * s->elems * s->size <= TD_SHUFFLE_BYTES; units *= 2) {
        find_source(s, units, b);
        if (b->src_end - b->src_begin > FAR_BYTES)
            return false;
        s->at_once = (uint16_t)units;
        if (b->src_end - b->src_begin >= (ptrdiff_t)vector)
            return list_bytes(s, units, b);
    }
    return false;
}

/* Against moving the elements one by one, in units of such a move: stores with gaps are slow, and so are elements that
 * no single instruction moves. Against a transpose, in bytes of the output per term. */
#define GAPS_COST(vector) ((vector) < 64 ? 5u : 4u)
#define ODD_COST 3
#define TERMS_PER_VECTOR 8
#define JOINED_PER_VECTOR 16 /* windows of vectors of 64 bytes, where no more than so many are all */
#define JOINED_WINDOWS 64

static size_t cost_of_elems(const td_shuffle *s, const bytes *b)
{
    const size_t one = s->size <= 16 && (s->size & (s->size - 1)) == 0 ? 1 : ODD_COST;
    return 3 * one * b->count / s->size / 4;
}

static size_t most_terms(const td_shuffle *s, const bytes *b, unsigned vector)
{
    const size_t by_elems = cost_of_elems(s, b), joined = JOINED_PER_VECTOR * b->count / 64;
    size_t most = TD_SHUFFLE_TERMS;
    if (s->transposes)
        most = vector == 64 && joined <= JOINED_WINDOWS ? joined : TERMS_PER_VECTOR * b->count / vector;
    most = by_elems < most ? by_elems : most;
    return most < TD_SHUFFLE_TERMS ? most : TD_SHUFFLE_TERMS;
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
    size_t joined = 0; /* windows that are no terms of their own any more */
    for (size_t first = 0, end = 0; first < b.count; first = end) {
        end = end_of_output(&b, first, vector);
        if (s->outputs == TD_SHUFFLE_OUTPUTS || !list_terms(s, &b, first, end, (int32_t)vector, most - joined))
            return false;
        if (vector == 64)
            joined += join_terms(s, &s->output[s->outputs - 1]);
        /* The outputs are much alike: when an eighth of them tell that all would be too many, the rest is not made. */
        if (8 * end >= b.count && 16 * (s->terms + joined) * b.count > 17 * most * end)
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
    return s->terms + joined + s->outputs + GAPS_COST(vector) * gaps <= cost_of_elems(s, &b);
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
    s->dense = s->spread = NULL;
    if (!td_shuffle_list_unit(s))
        return false;
    const bool wide = k.shuffle_x512 != td_shuffle_x512_c;
    const bool listed = wide && td_shuffle_list(s, 64);
    if (wide && td_shuffle_in_two(s, k.shuffle_x512, listed))
        return true;
    if (listed) {
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

/* -- lists of places -- */

#define AT_ONCE 32     /* units: what they touch stays in the first-level cache until the next element needs it */
#define SET_BYTES 4096 /* lines so far apart are in one set of that cache, */
#define SET_LINES 6    /* which keeps so many of them beside others */

/* So many units, or fewer where their lines would evict each other. */
static size_t places_at_once(ptrdiff_t unit)
{
    const uint64_t step = unit < 0 ? -(uint64_t)unit : (uint64_t)unit,
                   sets = SET_BYTES / common_factor(step, SET_BYTES);
    return step >= 64 && SET_LINES * sets < AT_ONCE ? SET_LINES * (size_t)sets : AT_ONCE;
}

/* The steps of a unit are inside, because a loop of constant steps needs no list: they are the longest there is. */
static inline __attribute__((always_inline)) void move_places(const td_shuffle *s, unsigned char *dst,
                                                              const unsigned char *src, size_t units, const size_t size)
{
    const ptrdiff_t dst_unit = s->loop[s->unit].dst, src_unit = s->loop[s->unit].src;
    const size_t elems = s->elems, at_once = s->at_once;
    for (size_t u = 0; u < units; u += at_once) {
        const size_t count = units - u < at_once ? units - u : at_once;
        for (size_t e = 0; e < elems; e++) {
            unsigned char *to = dst + s->dst_at[e] + (ptrdiff_t)u * dst_unit;
            const unsigned char *from = src + s->src_at[e] + (ptrdiff_t)u * src_unit;
            size_t k = 0;
            for (; k + 4 <= count; k += 4, to += 4 * dst_unit, from += 4 * src_unit) {
                memcpy(to, from, size);
                memcpy(to + dst_unit, from + src_unit, size);
                memcpy(to + 2 * dst_unit, from + 2 * src_unit, size);
                memcpy(to + 3 * dst_unit, from + 3 * src_unit, size);
            }
            for (; k < count; k++, to += dst_unit, from += src_unit)
                memcpy(to, from, size);
        }
    }
}

#define PLACES(size)                                                                                                   \
    case size:                                                                                                         \
        move_places(s, dst, src, units, size);                                                                         \
        break;

TD_SHUFFLE_KERNEL(shuffle_places, c)
{
    (void)stream;
    switch (s->size) {
        PLACES(1)
        PLACES(2)
        PLACES(3)
        PLACES(4)
        PLACES(5)
        PLACES(6)
        PLACES(8)
        PLACES(12)
        PLACES(16)
        PLACES(20)
        PLACES(24)
    default:
        move_places(s, dst, src, units, s->size);
    }
}

bool td_shuffle_by_places(td_shuffle *s)
{
    s->fn = td_shuffle_places_c;
    s->dense = s->spread = NULL;
    s->lines = s->whole = false;
    const size_t dst = places_at_once(s->loop[s->unit].dst), src = places_at_once(s->loop[s->unit].src);
    s->at_once = (uint16_t)(dst < src ? dst : src);
    s->outputs = s->terms = 0;
    return td_shuffle_list_unit(s);
}

td_shuffle *td_shuffle_copy(const td_shuffle *s)
{
    /* As far as it is used: the terms are most of its bytes. */
    const size_t used = offsetof(td_shuffle, pick) + s->terms * sizeof s->pick[0];
    td_shuffle *copy = aligned_alloc(64, (used + 63) / 64 * 64);
    if (copy)
        memcpy(copy, s, used);
    return copy;
}

void td_shuffle_free(td_shuffle *s)
{
    if (s)
        td_shuffle_drop(s);
    free(s);
}
