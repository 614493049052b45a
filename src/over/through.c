/* td_memory_through: a memory whose words go through a user's codec on their way to the memory below, as scrambling
 * does. Its backing (memory/memory.h) decodes words that come in. What is written is encoded when it is sealed, before
 * any layer puts anything back, so that a codec that refuses has changed nothing. */
#include "memory/place.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLACES ((uint64_t)1 << 32) /* of a codec that has an order of its own */

typedef struct through {
    td_backing backing;
    td_codec codec;
    td_memory *memory, *below;
    uint64_t *place;   /* of every word in the memory below; NULL: its own address */
    uint64_t *word_at; /* and the other way */
    td_memory *sealed; /* words that are encoded and not yet put back; NULL where those of `below` are copies */
} through;

/* Words that follow each other in both memories. */
typedef struct run {
    uint64_t word, below, count;
    bool x; /* all of them have bits that are x, which no codec takes: they are x as a whole */
} run;

/* Where an x counts: in the words that come in, or in those that go out. */
typedef enum side { NEITHER, BELOW, ABOVE } side;

static bool is_x(const through *t, side x, uint64_t word, uint64_t below_it)
{
    if (x == NEITHER || !t->memory->unknown_any)
        return false;
    return x == ABOVE ? td_x_has(t->memory, word) : td_x_has(t->below, below_it);
}

/* The first of those from `first` on; moves *first behind it, up to `end`. */
static run next_run(const through *t, side x, uint64_t *first, uint64_t end)
{
    run r = {*first, t->place ? t->place[*first] : *first, end - *first, false};
    r.x = is_x(t, x, r.word, r.below);
    for (uint64_t i = 1; (t->place || t->memory->unknown_any) && i < r.count; i++)
        if ((t->place && t->place[r.word + i] != r.below + i) || is_x(t, x, r.word + i, r.below + i) != r.x)
            r.count = i;
    *first += r.count;
    return r;
}

static td_memory *encoded(const through *t)
{
    return t->sealed ? t->sealed : t->below;
}

/* -- the codec ----------------------------------------------------------------------------------------------------- */

static td_status refuse(const through *t, const run *r, bool encodes, int result)
{
    return td_fail(TD_ARGUMENT,
                   "the codec \"%s\" of \"%s\" returned %d when it was to %s words 0x%" PRIx64 " to 0x%" PRIx64
                   "; pass words that it takes, or change the codec",
                   t->codec.name, t->memory->name, result, encodes ? "encode" : "decode", r->word,
                   r->word + r->count - 1);
}

/* What a codec gave has no bits above the width of a word. */
static td_status check_width(const through *t, const td_memory *in, uint64_t first, const run *r)
{
    for (uint64_t i = 0; in->width_bits < 8 * in->word_bytes && i < r->count; i++) {
        const uint64_t excess = td_word_excess(in->data + (first + i) * in->word_bytes, in->word_bytes, in->width_bits);
        if (excess)
            return td_fail(TD_RANGE,
                           "the codec \"%s\" of \"%s\" gave word 0x%" PRIx64 " with 0x%" PRIx64
                           " above the width of %" PRIu64 " bits; let it clear the bits from %" PRIu64 " up",
                           t->codec.name, t->memory->name, r->word + i, excess, in->width_bits, in->width_bits);
    }
    return TD_OK;
}

static td_status run_codec(const through *t, const run *r, bool encodes)
{
    const td_memory *above = t->memory, *below = encodes ? encoded(t) : t->below;
    const td_codec_run words = {.first = r->word,
                                .count = r->count,
                                .word_bits = above->width_bits,
                                .word_bytes = above->word_bytes,
                                .stored_bits = below->width_bits,
                                .stored_bytes = below->word_bytes};
    unsigned char *word = above->data + r->word * above->word_bytes;
    unsigned char *stored = below->data + r->below * below->word_bytes;
    if (r->x) {
        memset(encodes ? stored : word, 0, (size_t)r->count * (encodes ? below->word_bytes : above->word_bytes));
        return TD_OK;
    }
    const int result = encodes ? t->codec.encode(t->codec.context, &words, word, stored)
                               : t->codec.decode(t->codec.context, &words, stored, word);
    if (result)
        return refuse(t, r, encodes, result);
    return encodes ? check_width(t, below, r->below, r) : check_width(t, above, r->word, r);
}

/* -- the words, in and out ----------------------------------------------------------------------------------------- */

static td_status bring_in(const td_memory *memory, uint64_t first, uint64_t count)
{
    through *t = (through *)memory->backing;
    td_status status = TD_OK;
    t->backing.bad.bits = 0;
    for (uint64_t at = first; at < first + count && !status;) {
        const run r = next_run(t, NEITHER, &at, first + count);
        status = td_memory_bring_in(t->below, r.below, r.count);
        if (status == TD_UNCORRECTABLE)
            t->backing.bad = td_bad_above(memory, 0);
    }
    if (!status)
        status = td_x_follow(t->memory, t->below->unknown_any);
    for (uint64_t at = first; at < first + count && !status;) {
        const run r = next_run(t, BELOW, &at, first + count);
        status = run_codec(t, &r, false);
        if (t->memory->unknown_any)
            td_x_set_words(t->memory, r.word, r.count, r.x);
    }
    return status;
}

static td_status prepare(const td_memory *memory, uint64_t first, uint64_t count)
{
    const through *t = (const through *)memory->backing;
    td_status status = TD_OK;
    for (uint64_t at = first; at < first + count && !status;) {
        const run r = next_run(t, NEITHER, &at, first + count);
        status = td_memory_bring_for_write(t->below, false, r.below, r.count);
    }
    return status ? status : td_x_follow(t->memory, t->below->unknown_any);
}

static td_status seal(const td_memory *memory, uint64_t first, uint64_t count)
{
    const through *t = (const through *)memory->backing;
    td_status status = TD_OK;
    for (uint64_t at = first; at < first + count && !status;) {
        const run r = next_run(t, ABOVE, &at, first + count);
        status = run_codec(t, &r, true);
        if (t->memory->unknown_any && !t->sealed)
            td_x_set_words(t->below, r.below, r.count, r.x);
        if (!status)
            status = td_memory_seal(t->below, r.below, r.count);
    }
    return status;
}

static void put_back(const td_memory *memory, uint64_t first, uint64_t count)
{
    const through *t = (const through *)memory->backing;
    const size_t bytes = t->below->word_bytes;
    for (uint64_t at = first; at < first + count;) {
        const run r = next_run(t, ABOVE, &at, first + count);
        if (t->sealed)
            memcpy(t->below->data + r.below * bytes, t->sealed->data + r.below * bytes, (size_t)r.count * bytes);
        if (t->memory->unknown_any)
            td_x_set_words(t->below, r.below, r.count, r.x);
        td_memory_put_back(t->below, r.below, r.count);
    }
}

static td_memory *const *below(const td_memory *memory, size_t *count)
{
    *count = 1;
    return &((const through *)memory->backing)->below;
}

static bool reach(const td_memory *memory, uint64_t first, uint64_t count, td_reach_fn *fn, void *context)
{
    const through *t = (const through *)memory->backing;
    for (uint64_t at = first; at < first + count;) {
        const run r = next_run(t, NEITHER, &at, first + count);
        fn(context, t->below, r.below, r.count);
    }
    return true;
}

/* -- single bits: a bit stands for its word, which the codec mixes ------------------------------------------------- */

static void find_down(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_down_fn *fn, void *context)
{
    const through *t = (const through *)memory->backing;
    const uint64_t width = t->below->width_bits;
    td_word_bits at = {t->place ? t->place[bits->word] : bits->word, bits->bit, bits->bits};
    if (copy || at.bit >= width)
        return;
    at.bits = at.bits < width - at.bit ? at.bits : width - at.bit;
    fn(context, 0, 0, &at);
}

static td_up find_up(const td_memory *memory, size_t number, uint64_t word, uint64_t bit, td_word_bits *out)
{
    const through *t = (const through *)memory->backing;
    (void)number;
    *out = (td_word_bits){t->word_at ? t->word_at[word] : word, bit, 1};
    return bit < memory->width_bits ? TD_UP_BIT : TD_UP_NOTHING;
}

static void destroy(td_backing *backing)
{
    through *t = (through *)backing;
    td_memory_destroy(&t->sealed);
    free(t->place);
    free(t->word_at);
    free(t);
}

/* -- making it ----------------------------------------------------------------------------------------------------- */

static td_status check_arguments(const td_codec *codec, const td_memory *below, td_memory *const *out)
{
    if (!codec || !below || !out)
        return td_fail(TD_ARGUMENT, "the %s is NULL; pass one", !codec ? "codec" : !below ? "memory below" : "output");
    if (codec->version != TD_CODEC_VERSION)
        return td_fail(TD_ARGUMENT,
                       "a codec of version %u, and the library has version %u; set .version = TD_CODEC_VERSION and "
                       "build it with this library's header",
                       codec->version, TD_CODEC_VERSION);
    if (!codec->encode || !codec->decode)
        return td_fail(TD_ARGUMENT, "the codec \"%s\" has no %s; set both functions",
                       codec->name ? codec->name : "codec", codec->encode ? "decode" : "encode");
    return TD_OK;
}

/* Asks for the place of every word, and sees that each has one of its own. */
static td_status find_places(through *t, uint64_t depth)
{
    if (depth > MOST_PLACES)
        return td_fail(TD_RANGE,
                       "a memory of %" PRIu64
                       " words, and the codec \"%s\" has an order of words; such a memory has up "
                       "to %" PRIu64 " words",
                       depth, t->codec.name, MOST_PLACES);
    td_status status = TD_OK;
    t->place = malloc((size_t)depth * sizeof *t->place);
    t->word_at = malloc((size_t)depth * sizeof *t->word_at);
    if (!t->place || !t->word_at)
        status = td_fail_alloc((size_t)depth * 2 * sizeof *t->place);
    for (uint64_t w = 0; w < depth && !status; w++)
        t->word_at[w] = UINT64_MAX;
    for (uint64_t w = 0; w < depth && !status; w++) {
        const uint64_t at = t->codec.place(t->codec.context, w, depth);
        if (at >= depth)
            status = td_fail(TD_RANGE,
                             "the codec \"%s\" puts word 0x%" PRIx64 " at 0x%" PRIx64 ", past the memory of %" PRIu64
                             " words; let it stay below its third argument",
                             t->codec.name, w, at, depth);
        else if (t->word_at[at] != UINT64_MAX)
            status = td_fail(TD_ALIAS,
                             "the codec \"%s\" puts word 0x%" PRIx64 " at 0x%" PRIx64 ", where word 0x%" PRIx64
                             " is; let it give every word a place of its own",
                             t->codec.name, w, at, t->word_at[at]);
        else {
            t->place[w] = at;
            t->word_at[at] = w;
        }
    }
    return status;
}

static td_status fill(through *t, const td_codec *codec, td_memory *below_it, const char *name)
{
    const uint64_t width = codec->word_bits ? codec->word_bits : below_it->width_bits;
    t->codec = *codec;
    if (!t->codec.name)
        t->codec.name = "codec";
    t->below = below_it;
    t->backing = (td_backing){.bring_in = bring_in,
                              .prepare = prepare,
                              .seal = seal,
                              .refuses = true,
                              .put_back = put_back,
                              .destroy = destroy,
                              .below = below,
                              .reach = reach,
                              .mixes = true,
                              .find_down = find_down,
                              .find_up = find_up};
    td_status status = codec->place ? find_places(t, below_it->depth_words) : TD_OK;
    if (!status && !below_it->backing)
        status = td_memory_create(name, below_it->width_bits, below_it->depth_words, &t->sealed);
    return status ? status : td_memory_create(name, width, below_it->depth_words, &t->memory);
}

td_status td_memory_through(const char *name, const td_codec *codec, td_memory *below_it, td_memory **out)
{
    if (!name || !*name)
        name = "memory";
    td_status status = check_arguments(codec, below_it, out);
    through *t = status ? NULL : calloc(1, sizeof *t);
    if (!status)
        status = t ? fill(t, codec, below_it, name) : td_fail_alloc(sizeof *t);
    if (status) {
        if (t)
            destroy(&t->backing);
        td_fail_prefix("memory_through \"%s\": ", name);
        return status;
    }
    t->memory->backing = &t->backing;
    t->backing.memory = t->memory;
    *out = t->memory;
    return TD_OK;
}
