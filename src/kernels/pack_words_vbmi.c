/* The kernels between containers and words for AVX-512 VBMI: containers of one byte in even units, as many units as a
 * vector of 64 bytes has room for. Lanes are joined in pairs, fours and eights by shifts; back, each byte takes the
 * eight bits from its own place on. Other units go by lists of shuffles, and what has none, or lies apart, to the
 * version for BMI2. */
#include "kernels/bits.h"
#include "kernels/pack_words.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Elements: fewer are sooner done unit by unit. The last vector may be short. */
#define FROM_ELEMS 32

static bool in_vectors(const td_word_code *code, ptrdiff_t stride, size_t units)
{
    return code->vectors && stride == (ptrdiff_t)code->bytes && units * code->lanes >= FROM_ELEMS;
}

/* The low `bytes` of a vector. */
INLINE __mmask64 low_bytes(size_t bytes)
{
    return bytes >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << bytes) - 1;
}

/* Every odd field of `bits` moves down until it begins `at` bits above the even one before it. */
INLINE __m512i join(__m512i x, const unsigned bits, unsigned at)
{
    const __m512i even = bits == 8    ? _mm512_set1_epi16(0x00ff)
                         : bits == 16 ? _mm512_set1_epi32(0x0000ffff)
                                      : _mm512_set1_epi64(0x00000000ffffffff);
    const __m128i by = _mm_cvtsi32_si128((int)(bits - at));
    const __m512i odd = _mm512_andnot_si512(even, x);
    const __m512i down = bits == 8    ? _mm512_srl_epi16(odd, by)
                         : bits == 16 ? _mm512_srl_epi32(odd, by)
                                      : _mm512_srl_epi64(odd, by);
    return _mm512_or_si512(_mm512_and_si512(x, even), down);
}

INLINE __m512i pack_vector(__m512i x, const td_word_code *code, const td_word_vectors *v, __m512i shift)
{
    if (v->levels > 0)
        x = join(x, 8, code->slot);
    if (v->levels > 1)
        x = join(x, 16, 2u * code->slot);
    if (v->levels > 2)
        x = join(x, 32, 4u * code->slot);
    x = _mm512_sllv_epi64(x, shift);
    if (v->room > 8)
        x = _mm512_or_si512(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC));
    if (v->room > 16)
        x = _mm512_or_si512(x, _mm512_shuffle_i64x2(x, x, 0xb1));
    if (v->room > 32)
        x = _mm512_or_si512(x, _mm512_shuffle_i64x2(x, x, 0x4e));
    return x;
}

/* -- lists -- */

/* One output from the `left` bytes of the source that lie from `src` on. */
INLINE __m512i run_output(const td_word_output *o, const td_word_term *term, const unsigned char *src, size_t left)
{
    const __m512i a = _mm512_maskz_loadu_epi8(low_bytes(left), src);
    __m512i x = _mm512_setzero_si512();
    if (!o->wide) {
        for (uint32_t t = 0; t < o->terms; t++) {
            const __m512i y = _mm512_permutexvar_epi8(_mm512_loadu_si512(term[t].from), a);
            x = _mm512_ternarylogic_epi64(x, _mm512_multishift_epi64_epi8(_mm512_loadu_si512(term[t].bit), y),
                                          _mm512_loadu_si512(term[t].mask), 0xf8); /* x | (y & mask) */
        }
        return x;
    }
    const __m512i b = _mm512_maskz_loadu_epi8(low_bytes(left > 64 ? left - 64 : 0), src + 64);
    for (uint32_t t = 0; t < o->terms; t++) {
        const __m512i y = _mm512_permutex2var_epi8(a, _mm512_loadu_si512(term[t].from), b);
        x = _mm512_ternarylogic_epi64(x, _mm512_multishift_epi64_epi8(_mm512_loadu_si512(term[t].bit), y),
                                      _mm512_loadu_si512(term[t].mask), 0xf8);
    }
    return x;
}

INLINE void pack_listed(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,
                        const td_word_code *code, td_pack_words_fn rest)
{
    const td_word_list *const l = code->packs;
    if (l && stride == (ptrdiff_t)code->bytes) {
        const size_t from = (size_t)code->lanes * code->size * l->units, to = (size_t)code->bytes * l->units;
        for (; units >= l->units; units -= l->units, memory += to, elems += from) {
            const td_word_term *term = l->term;
            for (uint32_t i = 0; i < l->outputs; term += l->output[i++].terms) {
                const td_word_output *o = &l->output[i];
                const __mmask64 out = low_bytes(o->bytes);
                __m512i x = run_output(o, term, elems + o->src, from - o->src);
                if (code->keep)
                    x = _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi8(out, memory + o->dst),
                                                  _mm512_loadu_si512(o->kept), 0xf8);
                _mm512_mask_storeu_epi8(memory + o->dst, out, x);
            }
        }
    }
    if (units)
        rest(memory, stride, elems, units, code);
}

/* (x ^ top) - top in every container. */
INLINE __m512i extend(__m512i x, __m512i top, unsigned size)
{
    x = _mm512_xor_si512(x, top);
    return size == 1   ? _mm512_sub_epi8(x, top)
           : size == 2 ? _mm512_sub_epi16(x, top)
           : size == 4 ? _mm512_sub_epi32(x, top)
                       : _mm512_sub_epi64(x, top);
}

INLINE __m512i top_of(const td_word_code *code)
{
    const uint64_t top = code->sign ? (uint64_t)1 << (code->bits - 1) : 0;
    return code->size == 1   ? _mm512_set1_epi8((char)top)
           : code->size == 2 ? _mm512_set1_epi16((short)top)
           : code->size == 4 ? _mm512_set1_epi32((int)top)
                             : _mm512_set1_epi64((long long)top);
}

INLINE void unpack_listed(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                          const td_word_code *code, td_unpack_words_fn rest)
{
    const td_word_list *const l = code->unpacks;
    if (l && stride == (ptrdiff_t)code->bytes) {
        const size_t to = (size_t)code->lanes * code->size * l->units, from = (size_t)code->bytes * l->units;
        const __m512i top = top_of(code);
        for (; units >= l->units; units -= l->units, memory += from, elems += to) {
            const td_word_term *term = l->term;
            for (uint32_t i = 0; i < l->outputs; term += l->output[i++].terms) {
                const td_word_output *o = &l->output[i];
                const __m512i x = run_output(o, term, memory + o->src, from - o->src);
                _mm512_mask_storeu_epi8(elems + o->dst, low_bytes(o->bytes), extend(x, top, code->size));
            }
        }
    }
    if (units)
        rest(elems, memory, stride, units, code);
}

#define LISTED(container)                                                                                              \
    TARGET TD_PACK_WORDS_KERNEL(container, vbmi)                                                                       \
    {                                                                                                                  \
        pack_listed(memory, stride, elems, units, code, td_pack_words_x##container##_avx2);                            \
    }                                                                                                                  \
    TARGET TD_UNPACK_WORDS_KERNEL(container, vbmi)                                                                     \
    {                                                                                                                  \
        unpack_listed(elems, memory, stride, units, code, td_unpack_words_x##container##_avx2);                        \
    }
LISTED(16)
LISTED(32)
LISTED(64)

/* -- even units of bytes -- */

TARGET TD_PACK_WORDS_KERNEL(8, vbmi)
{
    const td_word_vectors *const v = code->vectors;
    if (!in_vectors(code, stride, units) || !v->packs) {
        pack_listed(memory, stride, elems, units, code, td_pack_words_x8_avx2);
        return;
    }
    const __m512i elem_of = _mm512_loadu_si512(v->elem_of), room_of_word = _mm512_loadu_si512(v->room_of_word),
                  shift = _mm512_loadu_si512(v->shift), kept = _mm512_loadu_si512(v->kept),
                  low = _mm512_set1_epi8((char)td_low_bits(code->bits));
    const bool keeps = code->keep != NULL;
    for (size_t done = 0; done < units; done += v->units) {
        const size_t count = units - done < v->units ? units - done : v->units;
        const __mmask64 in = low_bytes(count * code->lanes), out = low_bytes(count * code->bytes);
        __m512i x = _mm512_maskz_permutexvar_epi8(v->lane_mask, elem_of, _mm512_maskz_loadu_epi8(in, elems));
        x = pack_vector(_mm512_and_si512(x, low), code, v, shift);
        x = _mm512_permutexvar_epi8(room_of_word, x);
        if (keeps)
            x = _mm512_or_si512(x, _mm512_and_si512(_mm512_maskz_loadu_epi8(out, memory), kept));
        _mm512_mask_storeu_epi8(memory, out, x);
        memory += count * code->bytes;
        elems += count * code->lanes;
    }
}

TARGET TD_UNPACK_WORDS_KERNEL(8, vbmi)
{
    const td_word_vectors *const v = code->vectors;
    if (!in_vectors(code, stride, units)) {
        unpack_listed(elems, memory, stride, units, code, td_unpack_words_x8_avx2);
        return;
    }
    const __m512i word_of = _mm512_loadu_si512(v->word_of), room_of_elem = _mm512_loadu_si512(v->room_of_elem),
                  bit_of = _mm512_loadu_si512(v->bit_of), low = _mm512_set1_epi8((char)td_low_bits(code->bits)),
                  top = _mm512_set1_epi8((char)(code->sign ? 1u << (code->bits - 1) : 0));
    for (size_t done = 0; done < units; done += v->units) {
        const size_t count = units - done < v->units ? units - done : v->units;
        const __mmask64 in = low_bytes(count * code->bytes), out = low_bytes(count * code->lanes);
        __m512i x = _mm512_maskz_permutexvar_epi8(v->word_mask, word_of, _mm512_maskz_loadu_epi8(in, memory));
        x = _mm512_and_si512(_mm512_multishift_epi64_epi8(bit_of, x), low);
        x = _mm512_sub_epi8(_mm512_xor_si512(x, top), top);
        _mm512_mask_storeu_epi8(elems, out, _mm512_permutexvar_epi8(room_of_elem, x));
        memory += count * code->bytes;
        elems += count * code->lanes;
    }
}

void td_pack_words_init_vbmi(td_pack_words_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_words_x##size = td_pack_words_x##size##_vbmi;                                                        \
    kernels->unpack_words_x##size = td_unpack_words_x##size##_vbmi;
    TD_PACK_WORDS_KERNELS(X)
#undef X
}
