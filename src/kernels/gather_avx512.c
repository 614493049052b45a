/* Words by table, with the registers of AVX512. See gather.h. */
/* clang has no word for the width that it should prefer. */
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,prefer-vector-width=512")))
#endif

#include "kernels/gather.h"

#include <immintrin.h>
#include <string.h>

#define HAS_PLACES
#define INLINE static inline __attribute__((always_inline)) TARGET

/* As many banks as two registers hold, and entries side by side. */
INLINE bool has_places(const td_gather *g, unsigned entry_bytes)
{
    return g->banks && g->banks <= 16 && entry_bytes <= 4 && g->entry_step == 1 && g->offset_step == 0 &&
           g->word_bytes <= UINT32_MAX;
}

/* The places of eight entries at a time, from entry i on; returns how many of n there are. */
INLINE size_t find_places(const td_gather *g, unsigned entry_bytes, size_t i, size_t n, unsigned char **place)
{
    const __m128i shift = _mm_cvtsi32_si128(g->bank_shift);
    const __m512i mask = _mm512_set1_epi64((long long)(((uint64_t)1 << g->bank_shift) - 1)),
                  word_bytes = _mm512_set1_epi64((long long)g->word_bytes), offset = _mm512_set1_epi64(g->offset);
    const __mmask8 high = (__mmask8)(g->banks > 8 ? 255u >> (16 - g->banks) : 0);
    const __m512i low_banks =
                      _mm512_maskz_loadu_epi64((__mmask8)(g->banks < 8 ? 255u >> (8 - g->banks) : 255), g->bank),
                  high_banks = _mm512_maskz_loadu_epi64(high, (const void *)(g->bank + (high ? 8 : 0)));
    const unsigned char *entry = (const unsigned char *)g->entry + i * entry_bytes;
    size_t k = 0;
    for (; k + 8 <= n; k += 8, entry += 8 * (size_t)entry_bytes) {
        const __m512i e = entry_bytes == 2 ? _mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)entry))
                                           : _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)entry));
        const __m512i bank = _mm512_permutex2var_epi64(low_banks, _mm512_srl_epi64(e, shift), high_banks);
        const __m512i byte = _mm512_add_epi64(_mm512_mul_epu32(_mm512_and_si512(e, mask), word_bytes), offset);
        _mm512_storeu_si512(place + k, _mm512_add_epi64(bank, byte));
    }
    return k;
}

#include "kernels/gather_loops.h"

GATHER_FAMILY(avx512)

void td_gather_init_avx512(td_gather_kernels *k)
{
#define X(name) k->name = td_##name##_avx512;
    TD_GATHER_KERNELS(X)
#undef X
}
