/* See pick.h: the kernel in plain C, and the lists of terms that the versions in move_avx2.c and move_avx512.c go by. */
#include "kernels/pick.h"

#include "base/cpu.h"

#include <string.h>

static void pick_plain(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                       const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream)
{
    const uint8_t *index = p->index;
    (void)stream;
    for (size_t part = 0; part < p->parts; part++)
        for (size_t c = 0; c < p->cols; c++, index += p->size) {
            unsigned char *out = dst + (ptrdiff_t)part * part_stride + (ptrdiff_t)c * dst_stride;
            for (size_t r = 0; r < rows; r++, out += p->size)
                for (size_t b = 0; b < p->size; b++)
                    out[b] = src[(ptrdiff_t)r * src_stride + index[b]];
        }
}

/* Each term begins at the lowest byte that is still missing. Returns their number; more than there is room for: no use. */
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
static bool list_chunks(td_picks *p, unsigned window)
{
    const unsigned wide = 16u / p->size, cols = p->cols < wide ? p->cols : wide;
    p->chunks = p->terms = 0;
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
    return true;
}

bool td_picks_prepare(td_picks *p, unsigned cpu_flags)
{
    p->fn = pick_plain;
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_VBMI && p->bytes >= 32 && list_chunks(p, 32) && p->terms == 1) {
        p->fn = td_pick_vbmi;
        return true;
    }
    if (!(cpu_flags & (TD_CPU_AVX2 | TD_CPU_AVX512)) || p->bytes < 16 || !list_chunks(p, 16))
        return false;
    p->fn = cpu_flags & TD_CPU_AVX512 ? td_pick_avx512 : td_pick_avx2;
    return true;
#else
    (void)cpu_flags;
    (void)list_chunks;
    return false;
#endif
}
