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
INLINE __m512i join(__m512i x, const unsigned bits, __m128i by)
{
    const __m512i even = bits == 8    ? _mm512_set1_epi16(0x00ff)
                         : bits == 16 ? _mm512_set1_epi32(0x0000ffff)
                                      : _mm512_set1_epi64(0x00000000ffffffff);
    const __m512i odd = _mm512_andnot_si512(even, x);
    const __m512i down = bits == 8    ? _mm512_srl_epi16(odd, by)
                         : bits == 16 ? _mm512_srl_epi32(odd, by)
                                      : _mm512_srl_epi64(odd, by);
    return _mm512_ternarylogic_epi64(x, even, down, 0xea); /* (x & even) | down */
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

/* -- lists -- */

/* What a term adds to x, of the 64 bytes of a, or with `wide` of those of a and b. */
INLINE __m512i add_term(__m512i x, const td_word_term *term, __m512i a, __m512i b, const bool wide)
{
    const __m512i from = _mm512_loadu_si512(term->from);
    const __m512i y = wide ? _mm512_permutex2var_epi8(a, from, b) : _mm512_permutexvar_epi8(from, a);
    return _mm512_ternarylogic_epi64(x, _mm512_multishift_epi64_epi8(_mm512_loadu_si512(term->bit), y),
                                     _mm512_loadu_si512(term->mask), 0xf8); /* x | (y & mask) */
}

/* One output. */
INLINE __m512i run_terms(const td_word_term *term, uint32_t terms, __m512i a, __m512i b, const bool wide)
{
    __m512i x = _mm512_setzero_si512();
    for (uint32_t t = 0; t < terms; t++)
        x = add_term(x, &term[t], a, b, wide);
    return x;
}

/* One output from the `left` bytes of the source that lie from `src` on. */
INLINE __m512i run_output(const td_word_output *o, const td_word_term *term, const unsigned char *src, size_t left)
{
    if (left >= 128)
        return o->wide ? run_terms(term, o->terms, _mm512_loadu_si512(src), _mm512_loadu_si512(src + 64), true)
                       : run_terms(term, o->terms, _mm512_loadu_si512(src), _mm512_setzero_si512(), false);
    const __m512i a = _mm512_maskz_loadu_epi8(low_bytes(left), src);
    if (!o->wide)
        return run_terms(term, o->terms, a, a, false);
    return run_terms(term, o->terms, a, _mm512_maskz_loadu_epi8(low_bytes(left > 64 ? left - 64 : 0), src + 64), true);
}

/* -- lists of a single output of a few terms, which all stay in registers -- */

#define FEW_TERMS 4

typedef struct few {
    __m512i from[FEW_TERMS], bit[FEW_TERMS], mask[FEW_TERMS];
} few;

INLINE __m512i run_few(const few *f, __m512i a, __m512i b, const unsigned terms, const bool wide)
{
    __m512i x = _mm512_setzero_si512();
    for (unsigned t = 0; t < terms; t++) {
        const __m512i y = wide ? _mm512_permutex2var_epi8(a, f->from[t], b) : _mm512_permutexvar_epi8(f->from[t], a);
        x = _mm512_ternarylogic_epi64(x, _mm512_multishift_epi64_epi8(f->bit[t], y), f->mask[t], 0xf8);
    }
    return x;
}

INLINE few take_few(const td_word_list *l, const unsigned terms)
{
    few f;
    for (unsigned t = 0; t < FEW_TERMS; t++) {
        f.from[t] = t < terms ? _mm512_loadu_si512(l->term[t].from) : _mm512_setzero_si512();
        f.bit[t] = t < terms ? _mm512_loadu_si512(l->term[t].bit) : _mm512_setzero_si512();
        f.mask[t] = t < terms ? _mm512_loadu_si512(l->term[t].mask) : _mm512_setzero_si512();
    }
    return f;
}

static bool has_few(const td_word_list *l)
{
    return l->outputs == 1 && l->output[0].src == 0 && l->output[0].dst == 0 && l->output[0].terms >= 1 &&
           l->output[0].terms <= FEW_TERMS;
}

/* Lists that follow one another. */
typedef struct single {
    __m512i top, kept; /* the signs of containers; as in an output */
    unsigned char *dst;
    const unsigned char *src;
    size_t lists, from, to;
    __mmask64 out;
    unsigned size; /* of a container that is extended */
} single;

/* What one of them writes. */
INLINE void put_single(const few *f, const single *s, unsigned char *dst, __m512i a, __m512i b, const unsigned terms,
                       const bool wide, const bool keeps, const unsigned size)
{
    __m512i x = run_few(f, a, b, terms, wide);
    if (size)
        x = extend(x, s->top, size);
    if (keeps)
        x = _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi8(s->out, dst), s->kept, 0xf8);
    _mm512_mask_storeu_epi8(dst, s->out, x);
}

/* The last of them read less than a whole window. */
INLINE void run_single(const td_word_list *l, const single *lists, const unsigned terms, const bool wide,
                       const bool keeps, const unsigned size)
{
    const few f = take_few(l, terms);
    const single s = *lists;
    const size_t window = wide ? 128 : 64;
    const unsigned char *src = s.src;
    unsigned char *dst = s.dst;
    size_t left = s.lists * s.from;
    for (; left >= window; left -= s.from, src += s.from, dst += s.to) {
        const __m512i a = _mm512_loadu_si512(src), b = wide ? _mm512_loadu_si512(src + 64) : a;
        put_single(&f, &s, dst, a, b, terms, wide, keeps, size);
    }
    for (; left; left -= s.from, src += s.from, dst += s.to) {
        const __m512i a = _mm512_maskz_loadu_epi8(low_bytes(left), src);
        const __m512i b = wide ? _mm512_maskz_loadu_epi8(low_bytes(left > 64 ? left - 64 : 0), src + 64) : a;
        put_single(&f, &s, dst, a, b, terms, wide, keeps, size);
    }
}

INLINE void run_wide(const td_word_list *l, const single *s, const unsigned terms, const bool keeps,
                     const unsigned size)
{
    if (l->output[0].wide)
        run_single(l, s, terms, true, keeps, size);
    else
        run_single(l, s, terms, false, keeps, size);
}

INLINE void run_few_terms(const td_word_list *l, const single *s, const bool keeps, const unsigned size)
{
    switch (l->output[0].terms) {
    case 1:
        run_wide(l, s, 1, keeps, size);
        break;
    case 2:
        run_wide(l, s, 2, keeps, size);
        break;
    case 3:
        run_wide(l, s, 3, keeps, size);
        break;
    default:
        run_wide(l, s, 4, keeps, size);
    }
}

TARGET static void pack_singles(const td_word_list *l, const single *s, bool keeps)
{
    if (keeps)
        run_few_terms(l, s, true, 0);
    else
        run_few_terms(l, s, false, 0);
}

/* Of the last units a list does as many as there are, if they are not so few that steps are faster. */
#define LEAST_UNITS 3

INLINE void pack_listed(unsigned char *memory, ptrdiff_t stride, const unsigned char *elems, size_t units,
                        const td_word_code *code, td_pack_words_fn rest)
{
    const td_word_list *const l = code->packs;
    if (l && stride == (ptrdiff_t)code->bytes) {
        const size_t unit_from = (size_t)code->lanes * code->size, unit_to = code->bytes;
        const size_t from = unit_from * l->units, to = unit_to * l->units;
        const bool keeps = code->keep != NULL;
        if (has_few(l)) {
            const single s = {.dst = memory,
                              .src = elems,
                              .lists = units / l->units,
                              .from = from,
                              .to = to,
                              .kept = _mm512_loadu_si512(l->output[0].kept),
                              .out = low_bytes(l->output[0].bytes)};
            pack_singles(l, &s, keeps);
            units -= s.lists * l->units;
            memory += s.lists * to;
            elems += s.lists * from;
        }
        for (size_t left = units * unit_from; units >= LEAST_UNITS; left -= from) {
            const td_word_term *term = l->term;
            const size_t count = units < l->units ? units : l->units, end = count * unit_to;
            for (uint32_t i = 0; i < l->outputs && l->output[i].dst < end; term += l->output[i++].terms) {
                const td_word_output *o = &l->output[i];
                const __mmask64 out = low_bytes(end - o->dst < o->bytes ? end - o->dst : o->bytes);
                __m512i x = run_output(o, term, elems + o->src, left > o->src ? left - o->src : 0);
                if (keeps)
                    x = _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi8(out, memory + o->dst),
                                                  _mm512_loadu_si512(o->kept), 0xf8);
                _mm512_mask_storeu_epi8(memory + o->dst, out, x);
            }
            units -= count;
            if (!units)
                return;
            memory += to;
            elems += from;
        }
    }
    if (units)
        rest(memory, stride, elems, units, code);
}

TARGET static void unpack_singles(const td_word_list *l, const single *s)
{
    switch (s->size) {
    case 1:
        run_few_terms(l, s, false, 1);
        break;
    case 2:
        run_few_terms(l, s, false, 2);
        break;
    case 4:
        run_few_terms(l, s, false, 4);
        break;
    default:
        run_few_terms(l, s, false, 8);
    }
}

INLINE void unpack_listed(unsigned char *elems, const unsigned char *memory, ptrdiff_t stride, size_t units,
                          const td_word_code *code, td_unpack_words_fn rest)
{
    const td_word_list *const l = code->unpacks;
    if (l && stride == (ptrdiff_t)code->bytes) {
        const size_t unit_from = code->bytes, unit_to = (size_t)code->lanes * code->size;
        const size_t from = unit_from * l->units, to = unit_to * l->units;
        const __m512i top = top_of(code);
        const unsigned size = code->size;
        if (has_few(l)) {
            const single s = {.dst = elems,
                              .src = memory,
                              .lists = units / l->units,
                              .from = from,
                              .to = to,
                              .top = top,
                              .size = size,
                              .out = low_bytes(l->output[0].bytes)};
            unpack_singles(l, &s);
            units -= s.lists * l->units;
            memory += s.lists * from;
            elems += s.lists * to;
        }
        for (size_t left = units * unit_from; units >= LEAST_UNITS; left -= from) {
            const td_word_term *term = l->term;
            const size_t count = units < l->units ? units : l->units, end = count * unit_to;
            for (uint32_t i = 0; i < l->outputs && l->output[i].dst < end; term += l->output[i++].terms) {
                const td_word_output *o = &l->output[i];
                const __m512i x = run_output(o, term, memory + o->src, left > o->src ? left - o->src : 0);
                _mm512_mask_storeu_epi8(elems + o->dst, low_bytes(end - o->dst < o->bytes ? end - o->dst : o->bytes),
                                        extend(x, top, size));
            }
            units -= count;
            if (!units)
                return;
            memory += from;
            elems += to;
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

/* What the loops over vectors need: a store through bytes could change the code, so that it would be read again and
 * again. */
typedef struct packing {
    __m512i elem_of, room_of_word, shift, kept, low, pairs, fours;
    __m128i by[3];
    __mmask64 lanes;
    size_t units, lane_bytes, word_bytes; /* of a vector */
    unsigned levels, room;
    bool apart; /* lanes do not fill the room of a unit */
    bool up;    /* they do not begin at bit 0 */
    bool sums;  /* slots so short that pairs and fours are sums of products */
} packing;

/* `plain`: whole rooms of short slots from bit 0 on, in eight bytes at most, so that `levels` joins are all. */
INLINE __m512i pack_vector(__m512i x, const packing *p, const unsigned levels, const bool plain)
{
    if (!plain && p->apart)
        x = _mm512_maskz_permutexvar_epi8(p->lanes, p->elem_of, x);
    x = _mm512_and_si512(x, p->low);
    const unsigned joined = plain ? levels : p->levels;
    if (plain || p->sums) {
        if (joined > 0)
            x = _mm512_maddubs_epi16(x, p->pairs);
        if (joined > 1)
            x = _mm512_madd_epi16(x, p->fours);
    } else {
        if (joined > 0)
            x = join(x, 8, p->by[0]);
        if (joined > 1)
            x = join(x, 16, p->by[1]);
    }
    if (joined > 2)
        x = join(x, 32, p->by[2]);
    if (!plain && p->up)
        x = _mm512_sllv_epi64(x, p->shift);
    if (!plain && p->room > 8)
        x = _mm512_or_si512(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC));
    if (!plain && p->room > 16)
        x = _mm512_or_si512(x, _mm512_shuffle_i64x2(x, x, 0xb1));
    if (!plain && p->room > 32)
        x = _mm512_or_si512(x, _mm512_shuffle_i64x2(x, x, 0x4e));
    return _mm512_permutexvar_epi8(p->room_of_word, x);
}

INLINE void pack_vectors(const packing *p, unsigned char *memory, const unsigned char *elems, size_t units,
                         const unsigned levels, const bool plain, const bool keeps)
{
    const packing q = *p;
    const __mmask64 in = low_bytes(q.units * q.lane_bytes), out = low_bytes(q.units * q.word_bytes);
    for (; units >= q.units; units -= q.units) {
        __m512i x =
            pack_vector(plain ? _mm512_loadu_si512(elems) : _mm512_maskz_loadu_epi8(in, elems), &q, levels, plain);
        if (keeps)
            x = _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi8(out, memory), q.kept, 0xf8);
        _mm512_mask_storeu_epi8(memory, out, x);
        memory += q.units * q.word_bytes;
        elems += q.units * q.lane_bytes;
    }
    if (units) {
        const __mmask64 end = low_bytes(units * q.word_bytes);
        __m512i x = pack_vector(_mm512_maskz_loadu_epi8(low_bytes(units * q.lane_bytes), elems), &q, levels, plain);
        if (keeps)
            x = _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi8(end, memory), q.kept, 0xf8);
        _mm512_mask_storeu_epi8(memory, end, x);
    }
}

/* Single elements at the bottom of bytes of their own. */
INLINE void pack_bytes(unsigned char *memory, const unsigned char *elems, size_t units, unsigned bits)
{
    const __m512i low = _mm512_set1_epi8((char)td_low_bits(bits));
    for (; units >= 64; units -= 64, memory += 64, elems += 64)
        _mm512_storeu_si512(memory, _mm512_and_si512(_mm512_loadu_si512(elems), low));
    _mm512_mask_storeu_epi8(memory, low_bytes(units),
                            _mm512_and_si512(_mm512_maskz_loadu_epi8(low_bytes(units), elems), low));
}

#define SUMMED_SLOT 6 /* 1 << slot is a factor of maddubs */

TARGET TD_PACK_WORDS_KERNEL(8, vbmi)
{
    const td_word_vectors *const v = code->vectors;
    if (!in_vectors(code, stride, units) || !v->packs) {
        pack_listed(memory, stride, elems, units, code, td_pack_words_x8_avx2);
        return;
    }
    const unsigned slot = code->slot, levels = v->levels;
    const bool keeps = code->keep != NULL;
    if (code->lanes == 1 && code->bytes == 1 && code->first_bit == 0 && !keeps) {
        pack_bytes(memory, elems, units, code->bits);
        return;
    }
    const packing p = {.elem_of = _mm512_loadu_si512(v->elem_of),
                       .room_of_word = _mm512_loadu_si512(v->room_of_word),
                       .shift = _mm512_loadu_si512(v->shift),
                       .kept = _mm512_loadu_si512(v->kept),
                       .low = _mm512_set1_epi8((char)td_low_bits(code->bits)),
                       .pairs = _mm512_set1_epi16((short)(1 | 256 << slot)),
                       .fours = _mm512_set1_epi32((int)(1 | 65536u << 2 * slot)),
                       .by = {_mm_cvtsi32_si128((int)(8 - slot)), _mm_cvtsi32_si128((int)(16 - 2 * slot)),
                              _mm_cvtsi32_si128((int)(32 - 4 * slot))},
                       .lanes = v->lane_mask,
                       .units = v->units,
                       .lane_bytes = code->lanes,
                       .word_bytes = code->bytes,
                       .levels = levels,
                       .room = v->room,
                       .apart = code->lanes != v->room || code->reversed,
                       .up = code->first_bit || v->room > 8,
                       .sums = slot <= SUMMED_SLOT};
    if (p.apart || p.up || !p.sums || levels == 0 || keeps) {
        if (keeps)
            pack_vectors(&p, memory, elems, units, 0, false, true);
        else
            pack_vectors(&p, memory, elems, units, 0, false, false);
    } else if (levels == 1) {
        pack_vectors(&p, memory, elems, units, 1, true, false);
    } else if (levels == 2) {
        pack_vectors(&p, memory, elems, units, 2, true, false);
    } else {
        pack_vectors(&p, memory, elems, units, 3, true, false);
    }
}

/* The same for the way back. */
typedef struct unpacking {
    __m512i word_of, room_of_elem, bit_of, low, top;
    __mmask64 words;
    size_t units, lane_bytes, word_bytes;
} unpacking;

/* `plain`: every byte of a vector is an element. */
INLINE __m512i unpack_vector(__m512i x, const unpacking *u, const bool plain)
{
    x = _mm512_maskz_permutexvar_epi8(u->words, u->word_of, x);
    x = _mm512_multishift_epi64_epi8(u->bit_of, x);
    x = _mm512_sub_epi8(_mm512_ternarylogic_epi64(x, u->low, u->top, 0x6a), u->top); /* ((x & low) ^ top) - top */
    return plain ? x : _mm512_permutexvar_epi8(u->room_of_elem, x);
}

INLINE void unpack_vectors(const unpacking *of, unsigned char *elems, const unsigned char *memory, size_t units,
                           const bool plain)
{
    const unpacking u = *of;
    const __mmask64 in = low_bytes(u.units * u.word_bytes), out = low_bytes(u.units * u.lane_bytes);
    for (; units >= u.units; units -= u.units) {
        const __m512i x = unpack_vector(_mm512_maskz_loadu_epi8(in, memory), &u, plain);
        if (plain)
            _mm512_storeu_si512(elems, x);
        else
            _mm512_mask_storeu_epi8(elems, out, x);
        memory += u.units * u.word_bytes;
        elems += u.units * u.lane_bytes;
    }
    if (units)
        _mm512_mask_storeu_epi8(
            elems, low_bytes(units * u.lane_bytes),
            unpack_vector(_mm512_maskz_loadu_epi8(low_bytes(units * u.word_bytes), memory), &u, plain));
}

TARGET TD_UNPACK_WORDS_KERNEL(8, vbmi)
{
    const td_word_vectors *const v = code->vectors;
    if (!in_vectors(code, stride, units)) {
        unpack_listed(elems, memory, stride, units, code, td_unpack_words_x8_avx2);
        return;
    }
    const unpacking u = {.word_of = _mm512_loadu_si512(v->word_of),
                         .room_of_elem = _mm512_loadu_si512(v->room_of_elem),
                         .bit_of = _mm512_loadu_si512(v->bit_of),
                         .low = _mm512_set1_epi8((char)td_low_bits(code->bits)),
                         .top = _mm512_set1_epi8((char)(code->sign ? 1u << (code->bits - 1) : 0)),
                         .words = v->word_mask,
                         .units = v->units,
                         .lane_bytes = code->lanes,
                         .word_bytes = code->bytes};
    if (code->lanes == v->room && !code->reversed)
        unpack_vectors(&u, elems, memory, units, true);
    else
        unpack_vectors(&u, elems, memory, units, false);
}

void td_pack_words_init_vbmi(td_pack_words_kernels *kernels)
{
#define X(size)                                                                                                        \
    kernels->pack_words_x##size = td_pack_words_x##size##_vbmi;                                                        \
    kernels->unpack_words_x##size = td_unpack_words_x##size##_vbmi;
    TD_PACK_WORDS_KERNELS(X)
#undef X
}
