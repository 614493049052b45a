/* The kernels of codes for AVX-512: a term is two shuffles, one for each half of a byte. */
#include "kernels/code.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#include "kernels/code_vector_avx512.inc"

INLINE vec table_of(const unsigned char *table)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table));
}

INLINE vec shuffled(const td_code_term *term, vec plane)
{
    const vec nibble = _mm512_set1_epi8(15);
    const vec low = _mm512_and_si512(plane, nibble), high = _mm512_and_si512(_mm512_srli_epi16(plane, 4), nibble);
    return _mm512_xor_si512(_mm512_shuffle_epi8(table_of(term->low), low),
                            _mm512_shuffle_epi8(table_of(term->high), high));
}

#define APPLY shuffled
#include "kernels/code.inc"

CODE_MAP(avx512, td_code_single_avx2)
