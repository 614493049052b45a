/* The picking kernels in plain C, which go by the index alone, and the lists of terms that the other versions go by. */
#include "kernels/pick.h"

#include <string.h>

static inline __attribute__((always_inline)) void pick(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride,
                                                       ptrdiff_t part_stride, const unsigned char *src,
                                                       ptrdiff_t src_stride, size_t rows, const size_t size)
{
    const uint8_t *index = p->index;
    for (size_t part = 0; part < p->parts; part++)
        for (size_t c = 0; c < p->cols; c++, index += size) {
            unsigned char *out = dst + (ptrdiff_t)part * part_stride + (ptrdiff_t)c * dst_stride;
            for (size_t r = 0; r < rows; r++, out += size)
                for (size_t b = 0; b < size; b++)
                    out[b] = src[(ptrdiff_t)r * src_stride + index[b]];
        }
}

#define X(name, size, window)                                                                                          \
    TD_PICK_KERNEL(name, c)                                                                                            \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        pick(p, dst, dst_stride, part_stride, src, src_stride, rows, size);                                            \
    }
TD_PICK_KERNELS(X)
#undef X

/* Each term begins at the lowest byte that is still missing. Returns their number; more than TD_PICK_TERMS: no use. */
static unsigned list_terms(const td_picks *p, td_pick_chunk *chunk, unsigned window)
{
    const uint8_t *index = p->index + ((size_t)chunk->part * p->cols + chunk->col) * p->size;
    const unsigned bytes = (unsigned)chunk->cols * p->size;
    uint32_t missing = (1u << bytes) - 1;
    unsigned terms = 0;
    memset(chunk->pick, 0x80, sizeof chunk->pick);
    for (; missing && terms < TD_PICK_TERMS; terms++) {
        unsigned from = p->bytes - window;
        for (unsigned i = 0; i < bytes; i++)
            if (missing >> i & 1 && index[i] < from)
                from = index[i];
        chunk->from[terms] = (uint8_t)from;
        for (unsigned i = 0; i < bytes; i++)
            if (missing >> i & 1 && index[i] < from + window) {
                chunk->pick[terms][i] = (uint8_t)(index[i] - from);
                missing &= ~(1u << i);
            }
    }
    return missing ? TD_PICK_TERMS + 1 : terms;
}

/* Columns in chunks of 16 bytes; the last of a part again covers some of the one before. */
bool td_picks_list(td_picks *p, unsigned window)
{
    const unsigned wide = 16u / p->size, cols = p->cols < wide ? p->cols : wide;
    p->chunks = p->terms = 0;
    if (p->bytes < window)
        return false;
    for (unsigned part = 0; part < p->parts; part++)
        for (unsigned c = 0; c < p->cols; c += wide) {
            if (p->chunks == TD_PICK_CHUNKS)
                return false;
            td_pick_chunk *chunk = &p->chunk[p->chunks++];
            *chunk = (td_pick_chunk){.part = (uint16_t)part,
                                     .col = (uint16_t)(c + cols > p->cols ? p->cols - cols : c),
                                     .cols = (uint8_t)cols};
            const unsigned terms = list_terms(p, chunk, window);
            if (terms > TD_PICK_TERMS)
                return false;
            p->terms = (uint8_t)(terms > p->terms ? terms : p->terms);
        }
    p->terms = p->terms == 3 ? 4 : p->terms;
    return window == 16 || p->terms == 1;
}

void td_pick_init(td_pick_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, size, window) kernels->name = td_##name##_c;
    TD_PICK_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_pick_init_##isa(kernels);
    TD_PICK_ISAS(X)
#undef X
}

bool td_picks_prepare(td_picks *p, unsigned cpu_flags)
{
    td_pick_kernels k, plain;
    td_pick_init(&k, cpu_flags);
    td_pick_init(&plain, TD_CPU_C);
#define CHOOSE(of, op) (p->size == 2 ? (of).op##_x16 : p->size == 4 ? (of).op##_x32 : (of).op##_x64)
    const td_pick_fn wide = CHOOSE(k, pick_wide), narrow = CHOOSE(k, pick);
    if (wide != CHOOSE(plain, pick_wide) && td_picks_list(p, 32)) {
        p->fn = wide;
        return true;
    }
    p->fn = CHOOSE(plain, pick);
    if (narrow == p->fn || !td_picks_list(p, 16))
        return false;
    p->fn = narrow;
    return true;
#undef CHOOSE
}
