/* The kernels between containers and words for AVX-512 VBMI: containers of one byte in even units, as many units as a
 * vector of 64 bytes has room for. Lanes are joined in pairs, fours and eights by shifts; back, each byte takes the
 * eight bits from its own place on. Everything else goes to the version for BMI2. */
#include "kernels/bits.h"
#include "kernels/pack_words.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Fewer units are sooner done by themselves. */
#define FROM_VECTORS 2

static bool in_vectors(const td_word_code *code, ptrdiff_t stride, size_t units)
{
    return code->vectors && stride == (ptrdiff_t)code->bytes && units >= FROM_VECTORS * (size_t)code->vectors->units;
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

TARGET TD_PACK_WORDS_KERNEL(8, vbmi)
{
    const td_word_vectors *const v = code->vectors;
    if (!in_vectors(code, stride, units) || !v->packs) {
        td_pack_words_x8_avx2(memory, stride, elems, units, code);
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
        td_unpack_words_x8_avx2(elems, memory, stride, units, code);
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
    kernels->pack_words_x8 = td_pack_words_x8_vbmi;
    kernels->unpack_words_x8 = td_unpack_words_x8_vbmi;
}
