/* The model of a memory in layers (layers.h): bits of macros, gathered and decoded one by one. It shares no code with
 * the library. */
#include "layers.h"

bool layers_complain(const world *w, const char *why)
{
    printf("%s after %s: %llu words of %llu bits, code \"%s\" %s, codec %d %d, check %d, t=%llu r=%llu p=%llu s=%llu "
           "k=%llu lsb=%llu base=%llu reversed=%d, macros of %llu x %llu; %s\n",
           why, w->what, (unsigned long long)w->depth, (unsigned long long)w->width, w->text,
           w->in_macros ? "in every macro" : "above", w->codec, w->ordered, w->check, (unsigned long long)w->o.t,
           (unsigned long long)w->o.r, (unsigned long long)w->o.p, (unsigned long long)w->o.s,
           (unsigned long long)w->o.k, (unsigned long long)w->o.lsb, (unsigned long long)w->o.base, w->o.reversed,
           (unsigned long long)w->o.rows, (unsigned long long)w->o.columns, td_last_error());
    return false;
}

/* -- the codec: the user's own functions --------------------------------------------------------------------------- */

static void scramble(uint64_t address, uint64_t width, const unsigned char *src, unsigned char *dst)
{
    for (uint64_t b = 0; b < (width + 7) / 8; b++) {
        const unsigned used = 8 * b + 8 <= width ? 255 : (1u << width % 8) - 1;
        dst[b] = (unsigned char)((src[b] ^ (address * 37 + b * 11 + 5)) & used);
    }
}

int layers_codec(void *context, const td_codec_run *run, const void *src, void *dst)
{
    (void)context;
    memset(dst, 0, (size_t)run->count * run->stored_bytes);
    for (uint64_t i = 0; i < run->count; i++)
        scramble(run->first + i, run->word_bits, (const unsigned char *)src + i * run->word_bytes,
                 (unsigned char *)dst + i * run->stored_bytes);
    return 0;
}

uint64_t layers_order(void *context, uint64_t word, uint64_t depth)
{
    (void)context;
    return word % 2 ? word / 2 : depth - 1 - word / 2;
}

/* -- the model ----------------------------------------------------------------------------------------------------- */

/* The bit of the model where bit `bit` of word `word` of what is organised lies; *macro and *row say where. */
static uint64_t find(const world *w, uint64_t word, uint64_t bit, uint64_t *macro, uint64_t *row)
{
    const organisation *o = &w->o;
    const uint64_t t = word / (o->r * o->p), r = word / o->p % o->r, p = word % o->p, s = bit / o->k, k = bit % o->k;
    *macro = t * o->s + s;
    *row = o->base + (o->reversed ? o->r - 1 - r : r);
    return o->lsb + k * o->p + p;
}

/* A coded word by the definition: what its data are, how many subwords have one wrong bit, and whether one has more. */
static layers_found decode(const world *w, const unsigned char *coded, uint64_t address, unsigned char *data,
                           unsigned *mended)
{
    const oracle *o = w->code;
    const size_t bits = (size_t)o->subwords * (o->data + o->checks);
    unsigned char again[MOST_BYTES], fixed[MOST_BYTES];
    layers_found all = GOOD;
    *mended = 0;
    memset(data, 0, MOST_BYTES);
    memcpy(fixed, coded, (bits + 7) / 8);
    for (unsigned s = 0; s < o->subwords; s++) {
        layers_found one = BAD;
        const unsigned size = o->data + o->checks;
        for (unsigned flip = 0; flip <= size && one == BAD; flip++) { /* none first, then each bit */
            if (flip && (o->checks == 1 || !w->check))
                break;
            if (flip)
                oracle_set(fixed, oracle_place(o, s, flip - 1), !oracle_bit(fixed, oracle_place(o, s, flip - 1)));
            for (unsigned i = 0; i < o->data; i++)
                oracle_set(data, (size_t)s * o->data + i, oracle_bit(fixed, oracle_place(o, s, i)) ^ o->constant[i]);
            oracle_encode(o, data, address, again);
            bool same = true;
            for (unsigned i = 0; i < size; i++)
                same &= oracle_bit(again, oracle_place(o, s, i)) == oracle_bit(fixed, oracle_place(o, s, i));
            if (same)
                one = flip ? CORRECTED : GOOD;
            else if (flip)
                oracle_set(fixed, oracle_place(o, s, flip - 1), !oracle_bit(fixed, oracle_place(o, s, flip - 1)));
        }
        if (one == BAD) /* as it stands */
            for (unsigned i = 0; i < o->data; i++)
                oracle_set(data, (size_t)s * o->data + i, oracle_bit(coded, oracle_place(o, s, i)) ^ o->constant[i]);
        *mended += one == CORRECTED;
        all = one > all ? one : all;
    }
    return w->check ? all : GOOD;
}

/* A row of a macro with a code of its own. */
static layers_found decode_row(const world *w, uint64_t macro, uint64_t row, unsigned char *data)
{
    unsigned char coded[MOST_BYTES] = {0};
    unsigned mended = 0;
    for (uint64_t i = 0; i < w->stored_width; i++)
        oracle_set(coded, i, w->bits[macro][row * w->stored_width + i]);
    return decode(w, coded, row, data, &mended);
}

void layers_encode_row(world *w, uint64_t macro, uint64_t row, const unsigned char *data)
{
    unsigned char coded[MOST_BYTES] = {0};
    oracle_encode(w->code, data, row, coded);
    for (uint64_t i = 0; i < w->stored_width; i++)
        w->bits[macro][row * w->stored_width + i] = oracle_bit(coded, i);
}

static uint64_t stored_at(const world *w, uint64_t word)
{
    return w->ordered ? layers_order(NULL, word, w->depth) : word;
}

/* The coded word, under a code that lies above the macros. */
void layers_get_coded(const world *w, uint64_t word, unsigned char *coded)
{
    unsigned char stored[MOST_BYTES] = {0};
    for (uint64_t i = 0; i < w->below_width; i++) {
        uint64_t macro = 0, row = 0;
        const uint64_t column = find(w, stored_at(w, word), i, &macro, &row);
        oracle_set(stored, i, w->bits[macro][row * w->stored_width + column]);
    }
    memset(coded, 0, MOST_BYTES);
    if (w->codec)
        scramble(word, w->below_width, stored, coded);
    else
        memcpy(coded, stored, MOST_BYTES);
}

void layers_put_coded(world *w, uint64_t word, const unsigned char *coded)
{
    unsigned char stored[MOST_BYTES] = {0};
    if (w->codec)
        scramble(word, w->below_width, coded, stored);
    else
        memcpy(stored, coded, MOST_BYTES);
    for (uint64_t i = 0; i < w->below_width; i++) {
        uint64_t macro = 0, row = 0;
        const uint64_t column = find(w, stored_at(w, word), i, &macro, &row);
        w->bits[macro][row * w->stored_width + column] = oracle_bit(stored, i);
    }
}

/* A word of the memory on top. */
layers_found layers_get_word(const world *w, uint64_t word, unsigned char *data, unsigned *mended)
{
    unsigned char coded[MOST_BYTES];
    layers_found all = GOOD;
    *mended = 0;
    if (!w->in_macros) {
        layers_get_coded(w, word, coded);
        return decode(w, coded, word, data, mended);
    }
    memset(data, 0, MOST_BYTES);
    for (uint64_t i = 0; i < w->width; i += w->o.k) { /* one slice lies in one row */
        uint64_t macro = 0, row = 0;
        (void)find(w, word, i, &macro, &row);
        const layers_found one = decode_row(w, macro, row, coded);
        all = one > all ? one : all;
        for (uint64_t k = 0; k < w->o.k; k++)
            oracle_set(data, i + k, oracle_bit(coded, find(w, word, i + k, &macro, &row)));
    }
    return all;
}

void layers_put_word(world *w, uint64_t word, const unsigned char *data)
{
    unsigned char coded[MOST_BYTES] = {0};
    if (!w->in_macros) {
        oracle_encode(w->code, data, word, coded);
        layers_put_coded(w, word, coded);
        return;
    }
    for (uint64_t i = 0; i < w->width; i += w->o.k) {
        uint64_t macro = 0, row = 0;
        (void)find(w, word, i, &macro, &row);
        (void)decode_row(w, macro, row, coded);
        for (uint64_t k = 0; k < w->o.k; k++)
            oracle_set(coded, find(w, word, i + k, &macro, &row), oracle_bit(data, i + k));
        layers_encode_row(w, macro, row, coded);
    }
}

/* Whether the words of a run are all that their rows hold, so that a write of all of them needs no old bit. */
bool layers_rows_whole(const world *w, uint64_t first, uint64_t count)
{
    if (!w->in_macros)
        return true;
    return !w->o.lsb && w->o.columns == w->o.k * w->o.p && first % w->o.p == 0 && count % w->o.p == 0;
}

bool layers_check_macros(const world *w)
{
    for (uint64_t m = 0; m < w->o.t * w->o.s; m++)
        for (uint64_t r = 0; r < w->o.rows; r++) {
            const unsigned char *row = layers_row(w, m, r);
            for (uint64_t i = 0; i < w->stored_width; i++)
                if (oracle_bit(row, i) != w->bits[m][r * w->stored_width + i])
                    return layers_complain(w, "a bit of a macro is wrong");
        }
    return true;
}

void layers_draw_bits(random_state *r, uint64_t width, unsigned char *word)
{
    for (uint64_t b = 0; b < width; b++)
        oracle_set(word, b, random_below(r, 2));
}

void layers_flip(world *w, uint64_t word, uint64_t bit)
{
    uint64_t macro = 0, row = 0;
    const uint64_t column = find(w, word, bit, &macro, &row);
    const size_t at = oracle_place(w->code, (unsigned)(column / w->code->data), (unsigned)(column % w->code->data));
    w->bits[macro][row * w->stored_width + at] ^= 1;
}
