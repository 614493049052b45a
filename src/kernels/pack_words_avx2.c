/* The kernels between containers and words for AVX2 and BMI2: containers of one byte in even units by vectors of two
 * times 16 bytes, as far as those reach; of all others eight bytes at a time go to their places by pext and pdep. */
#include "kernels/bits.h"
#include "kernels/pack_stream.h"
#include "kernels/pack_words.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/pack_bmi2.inc"
#include "kernels/pack_words_single.inc"

INLINE uint64_t load8(const unsigned char *p)
{
    uint64_t value = 0;
    memcpy(&value, p, 8);
    return value;
}

/* 1 to 8 bytes; four are common. */
INLINE uint64_t load_part(const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;
    if (bytes == 8)
        return load8(p);
    if (bytes == 4)
        memcpy(&value, p, 4);
    else if (bytes == 2)
        memcpy(&value, p, 2);
    else
        for (size_t i = 0; i < bytes; i++)
            value |= (uint64_t)p[i] << (8 * i);
    return value;
}

INLINE void store_part(unsigned char *p, uint64_t value, size_t bytes)
{
    if (bytes == 8)
        memcpy(p, &value, 8);
    else if (bytes == 4)
        memcpy(p, &value, 4);
    else if (bytes == 2)
        memcpy(p, &value, 2);
    else
        for (size_t i = 0; i < bytes; i++)
            p[i] = (unsigned char)(value >> (8 * i));
}

/* The containers of eight bytes in the opposite order. */
INLINE uint64_t reverse(uint64_t v, const unsigned size)
{
    if (size == 8)
        return v;
    if (size == 4)
        return v >> 32 | v << 32;
    v = __builtin_bswap64(v);
    if (size == 2)
        v = (v >> 8 & 0x00ff00ff00ff00ffu) | (v & 0x00ff00ff00ff00ffu) << 8;
    return v;
}

/* The containers of a step. Unless `exact`, all eight bytes may be touched: those of the next unit lie there. */
INLINE uint64_t load_group(const unsigned char *elems, const td_word_step *s, size_t total, bool reversed, bool exact,
                           const unsigned size)
{
    const size_t left = total - 8 * (size_t)s->group;
    uint64_t value = exact && left < 8 ? load_part(elems + s->elem_at, left) : load8(elems + s->elem_at);
    return reversed ? reverse(value, size) >> s->elem_shift : value;
}

INLINE void store_group(unsigned char *elems, const td_word_step *s, uint64_t value, size_t total, bool reversed,
                        bool exact, const unsigned size)
{
    const size_t left = total - 8 * (size_t)s->group;
    if (reversed)
        value = reverse(value << s->elem_shift, size);
    if (exact && left < 8)
        store_part(elems + s->elem_at, value, left);
    else
        memcpy(elems + s->elem_at, &value, 8);
}

/* How many of the last units have to be exact. */
INLINE size_t exact_units(size_t units, size_t total)
{
    const size_t last = total % 8 ? (total + 6) / total : 0;
    return last < units ? last : units;
}

INLINE uint64_t move_bits(uint64_t value, uint64_t from, uint64_t to)
{
    return _pdep_u64(_pext_u64(value, from), to);
}

/* Units of one chunk. */
INLINE void pack_short(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units, bool exact,
                       bool reversed, const td_word_code *code, const unsigned size, const size_t bytes)
{
    const size_t total = (size_t)code->lanes * size;
    const uint32_t steps = code->step_count;
    const td_word_step *const step = code->step;
    const uint64_t keep = code->keep ? code->keep[0] : 0, take = step[0].take, put = step[0].put;
    if (steps == 1 && !keep) {
        for (size_t u = 0; u < units; u++, memory += stride, elems += total)
            store_part(memory, move_bits(load_group(elems, step, total, reversed, exact, size), take, put), bytes);
        return;
    }
    for (size_t u = 0; u < units; u++, memory += stride, elems += total) {
        uint64_t word = keep ? load_part(memory, bytes) & keep : 0;
        for (uint32_t s = 0; s < steps; s++)
            word |= move_bits(load_group(elems, &step[s], total, reversed, exact, size), step[s].take, step[s].put);
        store_part(memory, word, bytes);
    }
}

/* A chunk is stored again with every step that adds to it, because branches would cost more. */
INLINE void pack_long(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units, bool exact,
                      bool reversed, const td_word_code *code, const unsigned size)
{
    const size_t total = (size_t)code->lanes * size;
    const td_word_step *const end = code->step + code->step_count;
    const uint32_t last = code->chunks - 1;
    const size_t tail = code->bytes - 8 * (size_t)last;
    const uint64_t *const keep = code->keep;
    for (size_t u = 0; u < units; u++, memory += stride, elems += total) {
        uint32_t chunk = 0;
        uint64_t word = keep ? load8(memory) & keep[0] : 0;
        const td_word_step *s = code->step;
        for (; s < end && s->chunk < last; s++) {
            const uint64_t fresh =
                keep && s->chunk != chunk ? load8(memory + 8 * (size_t)s->chunk) & keep[s->chunk] : 0;
            word = s->chunk == chunk ? word : fresh;
            chunk = s->chunk;
            word |= move_bits(load_group(elems, s, total, reversed, exact, size), s->take, s->put);
            memcpy(memory + 8 * (size_t)chunk, &word, 8);
        }
        word = keep ? load_part(memory + 8 * (size_t)last, tail) & keep[last] : 0;
        for (; s < end; s++)
            word |= move_bits(load_group(elems, s, total, reversed, exact, size), s->take, s->put);
        store_part(memory + 8 * (size_t)last, word, tail);
    }
}

INLINE void pack_units(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units, bool exact,
                       bool reversed, const td_word_code *code, const unsigned size)
{
    switch (code->bytes) {
    case 1:
        pack_short(memory, stride, elems, units, exact, reversed, code, size, 1);
        break;
    case 2:
        pack_short(memory, stride, elems, units, exact, reversed, code, size, 2);
        break;
    case 4:
        pack_short(memory, stride, elems, units, exact, reversed, code, size, 4);
        break;
    case 8:
        pack_short(memory, stride, elems, units, exact, reversed, code, size, 8);
        break;
    default:
        if (code->bytes < 8)
            pack_short(memory, stride, elems, units, exact, reversed, code, size, code->bytes);
        else
            pack_long(memory, stride, elems, units, exact, reversed, code, size);
    }
}

INLINE void pack_words(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,
                       const td_word_code *code, const unsigned size)
{
    const size_t total = (size_t)code->lanes * size, exact = exact_units(units, total), fast = units - exact;
    if (code->reversed)
        pack_units(memory, stride, elems, fast, false, true, code, size);
    else
        pack_units(memory, stride, elems, fast, false, false, code, size);
    memory += (ptrdiff_t)fast * stride;
    if (exact && code->chunks == 1)
        pack_short(memory, stride, elems + fast * total, exact, true, code->reversed, code, size, code->bytes);
    else if (exact)
        pack_long(memory, stride, elems + fast * total, exact, true, code->reversed, code, size);
}

/* What sign extension needs, for every container of a group. */
typedef struct extension {
    uint64_t top, high;
} extension;

INLINE uint64_t extend(uint64_t value, extension e)
{
    return (((value ^ e.top) | e.high) - e.top) ^ e.high; /* no borrow passes the bit that `high` set */
}

/* A group is stored again with every step that adds to it. What is stored past a short group is stored again by the
 * next one: that of the next unit, or, where containers are reversed, that before it. */
INLINE void unpack_units(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units, bool exact,
                         bool reversed, const td_word_code *code, extension e, const unsigned size, const size_t bytes)
{
    const size_t total = (size_t)code->lanes * size;
    const uint32_t steps = code->step_count;
    const td_word_step *const first = reversed ? code->step + steps - 1 : code->step;
    if (steps == 1) {
        const uint64_t take = first->take, put = first->pull;
        for (size_t u = 0; u < units; u++, memory += stride, elems += total)
            store_group(elems, first, extend(move_bits(load_part(memory, bytes), put, take), e), total, reversed, exact,
                        size);
        return;
    }
    for (size_t u = 0; u < units; u++, memory += stride, elems += total) {
        uint32_t group = UINT32_MAX;
        uint64_t value = 0;
        const td_word_step *s = first;
        for (uint32_t i = 0; i < steps; i++, s += reversed ? -1 : 1) {
            const uint64_t word = bytes < 8 ? load_part(memory, bytes) : load8(memory + s->load_at);
            value = (s->group == group ? value : 0) | move_bits(word, s->pull, s->take);
            group = s->group;
            store_group(elems, s, extend(value, e), total, reversed, exact, size);
        }
    }
}

INLINE void unpack_sized(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                         bool reversed, const td_word_code *code, extension e, const unsigned size)
{
    if (code->bytes == 1)
        unpack_units(elems, memory, stride, units, false, reversed, code, e, size, 1);
    else if (code->bytes == 2)
        unpack_units(elems, memory, stride, units, false, reversed, code, e, size, 2);
    else if (code->bytes == 4)
        unpack_units(elems, memory, stride, units, false, reversed, code, e, size, 4);
    else if (code->bytes >= 8)
        unpack_units(elems, memory, stride, units, false, reversed, code, e, size, 8);
    else
        unpack_units(elems, memory, stride, units, false, reversed, code, e, size, code->bytes);
}

INLINE void unpack_words(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                         const td_word_code *code, const unsigned size)
{
    const bool extends = code->sign && code->bits < 8 * size;
    const extension e = {.top = extends ? every((uint64_t)1 << (code->bits - 1), size) : 0,
                         .high = extends ? every((uint64_t)1 << (8 * size - 1), size) : 0};
    const size_t total = (size_t)code->lanes * size, exact = exact_units(units, total), fast = units - exact;
    if (code->reversed)
        unpack_sized(elems, memory, stride, fast, true, code, e, size);
    else
        unpack_sized(elems, memory, stride, fast, false, code, e, size);
    if (exact)
        unpack_units(elems + fast * total, memory + (ptrdiff_t)fast * stride, stride, exact, true, code->reversed, code,
                     e, size, code->bytes < 8 ? code->bytes : 8);
}

/* -- containers of one byte, by vectors -- */

#define FROM_HALVES 4 /* times the units of 16 bytes: fewer are sooner done by themselves */

INLINE const td_word_halves *find_halves(const td_word_code *code, ptrdiff_t stride, size_t units)
{
    const td_word_halves *h = code->vectors ? &code->vectors->half : NULL;
    return h && h->units && stride == (ptrdiff_t)code->bytes && units >= FROM_HALVES * (size_t)h->units ? h : NULL;
}

/* Units that may be done two times h->units at once: what 16 bytes reach past them is the call's own. */
INLINE size_t units_of_halves(const td_word_code *code, const td_word_halves *h, size_t units)
{
    const size_t least = code->lanes < code->bytes ? code->lanes : code->bytes;
    const size_t past = h->units + (16 + least - 1) / least, pair = 2 * (size_t)h->units;
    return units < past ? 0 : (units - past) / pair * pair;
}

INLINE __m256i load_halves(const unsigned char *p, size_t apart)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p),
                  high = _mm_loadu_si128((const __m128i *)(const void *)(p + apart));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

INLINE void store_halves(unsigned char *p, size_t apart, __m256i x)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(p + apart), _mm256_extracti128_si256(x, 1));
}

INLINE __m256i both(const void *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* Every odd field of `bits` moves down until it begins `at` bits above the even one before it. */
INLINE __m256i join(__m256i x, const unsigned bits, unsigned at)
{
    const __m256i even = bits == 8    ? _mm256_set1_epi16(0x00ff)
                         : bits == 16 ? _mm256_set1_epi32(0x0000ffff)
                                      : _mm256_set1_epi64x(0x00000000ffffffff);
    const __m128i by = _mm_cvtsi32_si128((int)(bits - at));
    const __m256i odd = _mm256_andnot_si256(even, x);
    const __m256i down = bits == 8    ? _mm256_srl_epi16(odd, by)
                         : bits == 16 ? _mm256_srl_epi32(odd, by)
                                      : _mm256_srl_epi64(odd, by);
    return _mm256_or_si256(_mm256_and_si256(x, even), down);
}

INLINE void pack_halves(unsigned char *memory, const unsigned char *elems, size_t units, const td_word_code *code,
                        const td_word_halves *h, const unsigned levels)
{
    const td_word_vectors *const v = code->vectors;
    const size_t elem_step = h->units * (size_t)code->lanes, word_step = h->units * (size_t)code->bytes;
    const __m256i elem_of = both(h->elem_of), room_of_word = both(h->room_of_word), shift = both(v->shift),
                  kept = both(v->kept), low = _mm256_set1_epi8((char)td_low_bits(code->bits));
    const unsigned slot = code->slot;
    const bool keeps = code->keep != NULL, folds = v->room > 8;
    for (size_t u = 0; u < units; u += 2 * (size_t)h->units, memory += 2 * word_step, elems += 2 * elem_step) {
        __m256i x = _mm256_and_si256(_mm256_shuffle_epi8(load_halves(elems, elem_step), elem_of), low);
        if (levels > 0)
            x = join(x, 8, slot);
        if (levels > 1)
            x = join(x, 16, 2 * slot);
        if (levels > 2)
            x = join(x, 32, 4 * slot);
        x = _mm256_sllv_epi64(x, shift);
        if (folds)
            x = _mm256_or_si256(x, _mm256_shuffle_epi32(x, 0x4e));
        x = _mm256_shuffle_epi8(x, room_of_word);
        if (keeps)
            x = _mm256_or_si256(x, _mm256_and_si256(load_halves(memory, word_step), kept));
        store_halves(memory, word_step, x);
    }
}

/* Bits are kept only where vectors of words do not overlap. Returns the units that are done. */
static TARGET size_t pack_vectors(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,
                                  const td_word_code *code)
{
    const td_word_halves *const h = find_halves(code, stride, units);
    if (!h || !code->vectors->packs || (code->keep && h->units * code->bytes != 16))
        return 0;
    const size_t done = units_of_halves(code, h, units);
    switch (code->vectors->levels) {
    case 0:
        pack_halves(memory, elems, done, code, h, 0);
        break;
    case 1:
        pack_halves(memory, elems, done, code, h, 1);
        break;
    case 2:
        pack_halves(memory, elems, done, code, h, 2);
        break;
    default:
        pack_halves(memory, elems, done, code, h, 3);
    }
    return done;
}

static TARGET size_t unpack_vectors(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                                    const td_word_code *code)
{
    const td_word_halves *const h = find_halves(code, stride, units);
    if (!h)
        return 0;
    const size_t done = units_of_halves(code, h, units), elem_step = h->units * (size_t)code->lanes,
                 word_step = h->units * (size_t)code->bytes;
    const __m256i first = both(h->bytes_of[0]), second = both(h->bytes_of[1]), first_factor = both(h->factor[0]),
                  second_factor = both(h->factor[1]), low = _mm256_set1_epi8((char)td_low_bits(code->bits)),
                  top = _mm256_set1_epi8((char)(code->sign ? 1u << (code->bits - 1) : 0));
    for (size_t u = 0; u < done; u += 2 * (size_t)h->units, memory += 2 * word_step, elems += 2 * elem_step) {
        const __m256i x = load_halves(memory, word_step);
        const __m256i a = _mm256_mullo_epi16(_mm256_shuffle_epi8(x, first), first_factor),
                      b = _mm256_mullo_epi16(_mm256_shuffle_epi8(x, second), second_factor);
        const __m256i y = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
        const __m256i z = _mm256_xor_si256(_mm256_and_si256(y, low), top);
        store_halves(elems, elem_step, _mm256_sub_epi8(z, top));
    }
    return done;
}

#define X(container)                                                                                                   \
    TARGET TD_PACK_WORDS_KERNEL(container, avx2)                                                                       \
    {                                                                                                                  \
        if (((container) > 8 || !find_halves(code, stride, units)) &&                                                  \
            pack_single_x##container(memory, stride, elems, units, code))                                              \
            return;                                                                                                    \
        const size_t done = (container) == 8 ? pack_vectors(memory, stride, elems, units, code) : 0;                   \
        pack_words(memory + (ptrdiff_t)done * stride, stride, elems + done * code->lanes, units - done, code,          \
                   (container) / 8);                                                                                   \
    }                                                                                                                  \
    TARGET TD_UNPACK_WORDS_KERNEL(container, avx2)                                                                     \
    {                                                                                                                  \
        if (((container) > 8 || !find_halves(code, stride, units)) &&                                                  \
            unpack_single_x##container(elems, memory, stride, units, code))                                            \
            return;                                                                                                    \
        const size_t done = (container) == 8 ? unpack_vectors(elems, memory, stride, units, code) : 0;                 \
        unpack_words(elems + done * code->lanes, memory + (ptrdiff_t)done * stride, stride, units - done, code,        \
                     (container) / 8);                                                                                 \
    }
TD_PACK_WORDS_KERNELS(X)
#undef X

void td_pack_words_init_avx2(td_pack_words_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_words_x##size = td_pack_words_x##size##_avx2;                                                        \
    kernels->unpack_words_x##size = td_unpack_words_x##size##_avx2;
    TD_PACK_WORDS_KERNELS(X)
#undef X
}
