/* Words by table for AVX-512 VBMI: where the table moves words within lines, a line is one shuffle. See gather.h. */
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/gather.h"

#include <immintrin.h>

#define FEW_WORDS 4 /* of a line: less than so much of it goes by entries */

/* Whole words, side by side in the tensor, whose entries follow one another. */
static bool has_lines(const td_gather *g)
{
    return g->lines && g->bank && g->entry_step == 1 && g->offset_step == 0 && g->bytes == g->lines->word_bytes &&
           g->word_bytes == g->bytes && g->elem_step == (ptrdiff_t)g->bytes;
}

/* Some entries by themselves. */
static void run_entries(const td_gather *g, bool dump, size_t from, size_t count)
{
    td_gather part = *g;
    part.lines = NULL;
    part.elems += from * g->bytes;
    part.entry = (const unsigned char *)g->entry + from * g->entry_bytes;
    part.count = count;
    if (dump)
        td_gather_avx512(&part);
    else
        td_scatter_avx512(&part);
}

INLINE unsigned char *place_of(const td_gather *g, uint64_t entry)
{
    const uint64_t word = entry & ~(~(uint64_t)0 << g->bank_shift);
    return g->bank[g->one_bank ? 0 : entry >> g->bank_shift] + word * g->word_bytes + g->offset;
}

INLINE void put_line(const td_gather *g, const td_line_pattern *p, const uint64_t *entry, const unsigned char *elems)
{
    const __m512i line = _mm512_permutexvar_epi8(_mm512_loadu_si512(p->put), _mm512_loadu_si512(elems));
    if (p->pieces == 1) {
        _mm512_storeu_si512(place_of(g, entry[0]), line);
        return;
    }
    for (unsigned i = 0; i < p->pieces; i++)
        _mm512_mask_storeu_epi8(place_of(g, entry[i]) - p->first[i] * g->word_bytes, p->mask[i], line);
}

INLINE void take_line(const td_gather *g, const td_line_pattern *p, const uint64_t *entry, unsigned char *elems)
{
    __m512i line;
    if (p->pieces == 1)
        line = _mm512_loadu_si512(place_of(g, entry[0]));
    else {
        line = _mm512_setzero_si512();
        for (unsigned i = 0; i < p->pieces; i++)
            line = _mm512_mask_loadu_epi8(line, p->mask[i], place_of(g, entry[i]) - p->first[i] * g->word_bytes);
    }
    _mm512_storeu_si512(elems, _mm512_permutexvar_epi8(_mm512_loadu_si512(p->take), line));
}

/* Bytes [from, end) of a line of elements alone. A piece that has none of them may be of entries that mean nothing. */
INLINE void run_part(const td_gather *g, const bool dump, size_t line, size_t from, size_t end, unsigned char *elems)
{
    const td_lines *l = g->lines;
    const td_line_pattern *p = &l->patterns[l->pattern[line]];
    const __m512i put = _mm512_loadu_si512(p->put);
    const __mmask64 of_elems = _bzhi_u64(~(uint64_t)0, (unsigned)end) & ~(uint64_t)0 << from,
                    of_pieces = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(put, _mm512_set1_epi8((char)from)),
                                                       _mm512_set1_epi8((char)(end - from)));
    __m512i words =
        dump ? _mm512_setzero_si512() : _mm512_permutexvar_epi8(put, _mm512_maskz_loadu_epi8(of_elems, elems - from));
    for (unsigned i = 0; i < p->pieces; i++) {
        const __mmask64 mask = p->mask[i] & of_pieces;
        if (!mask)
            continue;
        unsigned char *place = place_of(g, l->entry[line * l->pieces + i]) - p->first[i] * g->word_bytes;
        if (dump)
            words = _mm512_mask_loadu_epi8(words, mask, place);
        else
            _mm512_mask_storeu_epi8(place, mask, words);
    }
    if (dump)
        _mm512_mask_storeu_epi8(elems - from, of_elems, _mm512_permutexvar_epi8(_mm512_loadu_si512(p->take), words));
}

/* Words of the first line on, as far as lines go that are cut or in no order; returns how many. */
static TARGET size_t run_odd(const td_gather *g, bool dump, size_t at, size_t words)
{
    const td_lines *l = g->lines;
    const size_t line = (g->entry_at + at) / words, past = (g->entry_at + at) % words;
    size_t left = words - past < g->count - at ? words - past : g->count - at;
    if (line < l->count && l->pattern[line] != TD_NO_LINE) {
        run_part(g, dump, line, past * g->bytes, (past + left) * g->bytes, g->elems + at * g->bytes);
        return left;
    }
    for (size_t next = line + 1; at + left < g->count && (next >= l->count || l->pattern[next] == TD_NO_LINE); next++)
        left = words < g->count - at - left ? left + words : g->count - at;
    run_entries(g, dump, at, left);
    return left;
}

INLINE void run_lines(const td_gather *g, const bool dump)
{
    const td_lines *l = g->lines;
    const size_t words = TD_LINE / l->word_bytes;
    if (FEW_WORDS * g->count < words) {
        run_entries(g, dump, 0, g->count);
        return;
    }
    for (size_t at = 0; at < g->count;) {
        size_t line = (g->entry_at + at) / words;
        if ((g->entry_at + at) % words || g->count - at < words || line >= l->count || l->pattern[line] == TD_NO_LINE) {
            at += run_odd(g, dump, at, words);
            continue;
        }
        unsigned char *elems = g->elems + at * g->bytes;
        for (; g->count - at >= words && line < l->count && l->pattern[line] != TD_NO_LINE;
             at += words, line++, elems += TD_LINE) {
            const td_line_pattern *p = &l->patterns[l->pattern[line]];
            const uint64_t *entry = l->entry + line * l->pieces;
            if (dump)
                take_line(g, p, entry, elems);
            else
                put_line(g, p, entry, elems);
        }
    }
}

TARGET TD_GATHER_KERNEL(scatter, vbmi)
{
    if (has_lines(g))
        run_lines(g, false);
    else
        td_scatter_avx512(g);
}

TARGET TD_GATHER_KERNEL(gather, vbmi)
{
    if (has_lines(g))
        run_lines(g, true);
    else
        td_gather_avx512(g);
}

void td_gather_init_vbmi(td_gather_kernels *k)
{
#define X(name) k->name = td_##name##_vbmi;
    TD_GATHER_KERNELS(X)
#undef X
}
