/* td_memory_coded: a memory of data words over one of coded words. Its backing (memory/memory.h) decodes words on their
 * way in, where it counts what it corrects and refuses what it cannot, and codes them on their way back. A read changes
 * nothing below: a wrong bit stays there until its word is written. The organisation, if there is one, is the business
 * of the memory below. */
#include "base/suggest.h"
#include "base/text.h"
#include "codes/code.h"
#include "kernels/prefetch.h"
#include "kernels/stream.h"
#include "memory/place.h"
#include "memory/x_state.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct coded {
    td_backing backing;
    td_code *code;
    td_memory *raw;
    bool check;
    td_code_result result; /* of all reads so far */
} coded;

/* -- the words, in and out ----------------------------------------------------------------------------------------- */

/* The first error of a run that cannot be corrected. */
typedef struct first_bad {
    bool any;
    td_code_error error;
} first_bad;

static void keep_first(void *context, const td_code_error *error)
{
    first_bad *bad = context;
    if (bad->any || error->kind == TD_CODE_CORRECTED)
        return;
    bad->any = true;
    bad->error = *error;
}

static td_status fail_word(const td_memory *memory, coded *c, const td_code_error *error)
{
    const uint64_t k = c->code->subword_bits;
    c->backing.bad = (td_word_bits){error->word, error->subword * k, k};
    if (error->kind == TD_CODE_WRONG_ADDRESS)
        return td_fail(TD_UNCORRECTABLE,
                       "word 0x%" PRIx64 " of \"%s\", subword %" PRIu64 ": the syndrome 0x%" PRIx64
                       " is that of address bit %" PRIu64 ", so that the word was coded for another address; write "
                       "the word anew, or read it as it stands with check=off",
                       error->word, memory->name, error->subword, error->syndrome, error->bit);
    return td_fail(TD_UNCORRECTABLE,
                   "word 0x%" PRIx64 " of \"%s\", subword %" PRIu64 ": the syndrome 0x%" PRIx64
                   " is none that the code \"%.60s\" corrects; write the word anew, or read it as it stands with "
                   "check=off",
                   error->word, memory->name, error->subword, error->syndrome, c->code->text);
}

static void decode_from(const unsigned char *stored, const td_memory *memory, coded *c, uint64_t first, uint64_t count,
                        first_bad *bad)
{
    unsigned char *data = memory->data + first * memory->word_bytes;
    if (c->check)
        td_code_check_words(c->code, data, stored, first, (size_t)count, &c->result, keep_first, bad);
    else
        td_code_decode_words(c->code, data, stored, (size_t)count);
}

static void decode(const td_memory *memory, coded *c, uint64_t first, uint64_t count, first_bad *bad)
{
    decode_from(c->raw->data + first * c->raw->word_bytes, memory, c, first, count, bad);
}

/* -- words that pass ----------------------------------------------------------------------------------------------
 *
 * Coded words are only looked at between the layer below and this one. Where they lie in an array as they stand, they
 * are made there and looked at there; the others lie in a scratch, block by block. Only words that are too wide for a
 * scratch take their place in the copy of the layer below. */

typedef struct scratch {
    _Alignas(64) unsigned char bytes[TD_PASS_BYTES];
} scratch;

/* Of a block; whole blocks of the kernels. */
static uint64_t block_words(const td_memory *raw)
{
    const uint64_t words = TD_PASS_BYTES / raw->word_bytes;
    return words < TD_CODE_BLOCK ? TD_CODE_BLOCK : words / TD_CODE_BLOCK * TD_CODE_BLOCK;
}

static unsigned char *place_block(scratch *s, const td_memory *raw, uint64_t first)
{
    return TD_PASS_BYTES / raw->word_bytes < TD_CODE_BLOCK ? raw->data + first * raw->word_bytes : s->bytes;
}

/* At most `most` coded words from `first` on. */
typedef struct block {
    unsigned char *stored;
    uint64_t words;
    bool in_place; /* they lie where they belong */
} block;

static block next_block(scratch *s, const td_memory *raw, uint64_t first, uint64_t most, bool stream)
{
    uint64_t words = most;
    unsigned char *place = NULL;
    if (!raw->backing)
        place = raw->data + first * raw->word_bytes;
    else if (raw->backing->find_words && !(stream && td_stream_cuts_go_past()))
        place = raw->backing->find_words(raw, first, &words);
    if (place)
        return (block){place, words, true};
    words = block_words(raw);
    return (block){place_block(s, raw, first), most < words ? most : words, false};
}

/* The words on this side of the block that comes next: they are far behind in memory while a scratch keeps the caches
 * busy. */
static void prefetch_next(const unsigned char *words, uint64_t left, const block *b, const td_memory *memory,
                          bool written)
{
    if (!b->in_place)
        td_prefetch_block(words, (left < b->words ? left : b->words) * memory->word_bytes, written);
}

static void bring_blocks(const td_memory *memory, coded *c, uint64_t first, uint64_t count, first_bad *bad)
{
    scratch own;
    for (uint64_t at = first; at < first + count;) {
        const block b = next_block(&own, c->raw, at, first + count - at, false);
        prefetch_next(memory->data + (at + b.words) * memory->word_bytes, first + count - at - b.words, &b, memory,
                      true);
        if (!b.in_place)
            c->raw->backing->read_words(c->raw, at, b.words, b.stored, false);
        decode_from(b.stored, memory, c, at, b.words, bad);
        at += b.words;
    }
}

static void write_words(const td_memory *memory, uint64_t first, uint64_t count, const unsigned char *words,
                        bool stream)
{
    const coded *c = (const coded *)memory->backing;
    scratch own;
    for (uint64_t at = 0; at < count;) {
        const block b = next_block(&own, c->raw, first + at, count - at, stream);
        prefetch_next(words + (at + b.words) * memory->word_bytes, count - at - b.words, &b, memory, false);
        td_code_encode_words(c->code, b.stored, words + at * memory->word_bytes, first + at, (size_t)b.words);
        if (!b.in_place)
            c->raw->backing->write_words(c->raw, first + at, b.words, b.stored, stream);
        at += b.words;
    }
}

/* The data as they stand, of words that are not checked. */
static void read_words(const td_memory *memory, uint64_t first, uint64_t count, unsigned char *words, bool stream)
{
    const coded *c = (const coded *)memory->backing;
    scratch own;
    (void)stream;
    for (uint64_t at = 0; at < count;) {
        const block b = next_block(&own, c->raw, first + at, count - at, false);
        if (!b.in_place)
            c->raw->backing->read_words(c->raw, first + at, b.words, b.stored, false);
        td_code_decode_words(c->code, words + at * memory->word_bytes, b.stored, (size_t)b.words);
        at += b.words;
    }
}

static bool take_words(const td_memory *memory, uint64_t first, uint64_t count, const void *stored,
                       unsigned char *words)
{
    const coded *c = (const coded *)memory->backing;
    if (c->check)
        return td_code_right_words(c->code, words, stored, first, (size_t)count) == count;
    td_code_decode_words(c->code, words, stored, (size_t)count);
    return true;
}

static void hand_words(const td_memory *memory, uint64_t first, uint64_t count, void *stored,
                       const unsigned char *words)
{
    td_code_encode_words(memory->backing->code, stored, words, first, (size_t)count);
}

static void count_words(const td_memory *memory, uint64_t count)
{
    coded *c = (coded *)memory->backing;
    c->result.words += c->check ? count : 0;
}

/* A read with a check may be refused at any word: it decodes all of them before it goes on. */
static bool passes(const td_memory *memory, bool reads)
{
    const coded *c = (const coded *)memory->backing;
    return !(reads && c->check) && !c->raw->unknown_any && (!c->raw->backing || td_memory_passes(c->raw, reads));
}

static bool has_bit(const unsigned char *word, uint64_t bit)
{
    return word[bit / 8] >> bit % 8 & 1;
}

static void set_bit(unsigned char *word, uint64_t bit)
{
    word[bit / 8] |= (unsigned char)(1u << bit % 8);
}

/* One of the bits of a subword in the coded word. */
static bool is_x(const td_code *code, const unsigned char *plane, uint32_t subword)
{
    bool any = false;
    for (uint32_t i = 0; i < code->subword_bits + code->check_bits; i++)
        any |= has_bit(plane, td_code_bit_at(code, subword, i));
    return any;
}

/* A coded word of which some bits are x. With a check all data of such a subword are x, and its bits are judged by
 * nothing: they stand as those of `zeros`, a right word. Without one every bit is itself. */
static void bring_x(const td_memory *memory, coded *c, uint64_t word, unsigned char *zeros, first_bad *bad)
{
    const td_code *code = c->code;
    const unsigned char *plane = c->raw->unknown->data + word * c->raw->word_bytes;
    const unsigned char *stored = c->raw->data + word * c->raw->word_bytes;
    unsigned char *data = memory->data + word * memory->word_bytes;
    unsigned char *known = c->backing.memory->unknown->data + word * memory->word_bytes;
    memset(data, 0, memory->word_bytes);
    memset(known, 0, memory->word_bytes);
    td_code_encode_words(code, zeros, data, word, 1);
    for (uint32_t s = 0; s < code->subwords; s++) {
        const bool x = is_x(code, plane, s);
        for (uint32_t i = 0; i < code->subword_bits + code->check_bits; i++) {
            const uint64_t at = td_code_bit_at(code, s, i);
            if ((!x || !c->check) && has_bit(stored, at) != has_bit(zeros, at))
                zeros[at / 8] ^= (unsigned char)(1u << at % 8);
            if (i < code->subword_bits && (c->check ? x : has_bit(plane, at)))
                set_bit(known, (uint64_t)s * code->subword_bits + i);
        }
    }
    if (c->check)
        td_code_check_words(code, data, zeros, word, 1, &c->result, keep_first, bad);
    else
        td_code_decode_words(code, data, zeros, 1);
    for (size_t b = 0; b < memory->word_bytes; b++)
        data[b] &= (unsigned char)~known[b];
}

/* Words of which some have bits that are x: those one by one, the others in runs. */
static td_status bring_words(const td_memory *memory, coded *c, uint64_t first, uint64_t count, first_bad *bad)
{
    unsigned char *zeros = malloc(c->raw->word_bytes);
    if (!zeros)
        return td_fail_alloc(c->raw->word_bytes);
    for (uint64_t w = first, end; w < first + count; w = end) {
        end = w + 1;
        if (td_x_has(c->raw, w)) {
            bring_x(memory, c, w, zeros, bad);
            continue;
        }
        while (end < first + count && !td_x_has(c->raw, end))
            end++;
        decode(memory, c, w, end - w, bad);
        td_x_set_words(c->backing.memory, w, end - w, false);
    }
    free(zeros);
    return TD_OK;
}

static td_status bring_in(const td_memory *memory, uint64_t first, uint64_t count)
{
    coded *c = (coded *)memory->backing;
    first_bad bad = {0};
    const bool blocks = td_memory_passes(c->raw, true);
    c->backing.bad.bits = 0;
    td_status status = blocks ? TD_OK : td_memory_bring_in(c->raw, first, count);
    if (status == TD_UNCORRECTABLE)
        c->backing.bad = td_bad_above(memory, 0);
    if (!status)
        status = td_x_follow(c->backing.memory, c->raw->unknown_any);
    if (!status && blocks)
        bring_blocks(memory, c, first, count, &bad);
    else if (!status && c->raw->unknown_any)
        status = bring_words(memory, c, first, count, &bad);
    else if (!status)
        decode(memory, c, first, count, &bad);
    if (status)
        return status;
    return bad.any ? fail_word(memory, c, &bad.error) : TD_OK;
}

static td_status prepare(const td_memory *memory, uint64_t first, uint64_t count)
{
    const coded *c = (const coded *)memory->backing;
    td_status status = td_memory_bring_for_write(c->raw, false, first, count);
    if (!status)
        status = td_x_follow(c->backing.memory, c->raw->unknown_any);
    return status;
}

/* A subword with a bit that is x is x as a whole: its check bits are, and what they say of the others is nothing. */
static void encode_x(const td_code *code, const unsigned char *data, unsigned char *coded_word)
{
    for (uint32_t s = 0; s < code->subwords; s++) {
        bool any = false;
        for (uint32_t i = 0; i < code->subword_bits; i++)
            any |= has_bit(data, (uint64_t)s * code->subword_bits + i);
        for (uint32_t i = 0; any && i < code->subword_bits + code->check_bits; i++)
            set_bit(coded_word, td_code_bit_at(code, s, i));
    }
}

static void encode(const td_memory *memory, uint64_t first, uint64_t count)
{
    const coded *c = (const coded *)memory->backing;
    const td_memory *known = c->backing.memory;
    td_code_encode_words(c->code, c->raw->data + first * c->raw->word_bytes, memory->data + first * memory->word_bytes,
                         first, (size_t)count);
    if (!known->unknown_any)
        return;
    td_x_set_words(c->raw, first, count, false);
    for (uint64_t w = first; w < first + count; w++)
        if (td_x_has(known, w))
            encode_x(c->code, known->unknown->data + w * known->word_bytes,
                     c->raw->unknown->data + w * c->raw->word_bytes);
}

/* What is below is a copy, where something there may refuse. */
static td_status seal(const td_memory *memory, uint64_t first, uint64_t count)
{
    encode(memory, first, count);
    return td_memory_seal(memory->backing->coded, first, count);
}

static void put_back(const td_memory *memory, uint64_t first, uint64_t count)
{
    if (!memory->unknown_any && td_memory_passes(memory->backing->coded, false)) {
        write_words(memory, first, count, memory->data + first * memory->word_bytes,
                    td_stream_cuts(count * memory->word_bytes));
        return;
    }
    if (!memory->backing->refuses)
        encode(memory, first, count);
    td_memory_put_back(memory->backing->coded, first, count);
}

static td_memory *const *below(const td_memory *memory, size_t *count)
{
    *count = 1;
    return &memory->backing->coded;
}

static bool reach(const td_memory *memory, uint64_t first, uint64_t count, td_reach_fn *fn, void *context)
{
    fn(context, memory->backing->coded, first, count);
    return true;
}

/* -- single bits --------------------------------------------------------------------------------------------------- */

static void find_down(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_down_fn *fn, void *context)
{
    const td_code *code = memory->backing->code;
    td_word_bits run = {bits->word, 0, 0};
    for (uint64_t i = 0; i < bits->bits && !copy; i++) {
        const uint64_t bit = bits->bit + i, at = td_code_bit_at(code, (uint32_t)(bit / code->subword_bits),
                                                                (uint32_t)(bit % code->subword_bits));
        if (run.bits && at != run.bit + run.bits) {
            fn(context, i - run.bits, 0, &run);
            run.bits = 0;
        }
        run.bit = run.bits ? run.bit : at;
        run.bits++;
    }
    if (run.bits)
        fn(context, bits->bits - run.bits, 0, &run);
}

static td_up find_up(const td_memory *memory, size_t below_number, uint64_t word, uint64_t bit, td_word_bits *out)
{
    const td_code_bit found = td_code_locate(memory->backing->code, bit);
    (void)below_number;
    *out = (td_word_bits){word, found.is_check ? bit : found.bit, 1};
    return found.is_check ? TD_UP_CHECK : TD_UP_BIT;
}

static void destroy(td_backing *backing)
{
    coded *c = (coded *)backing;
    td_code_destroy(&c->code);
    free(c);
}

/* -- making it ----------------------------------------------------------------------------------------------------- */

static td_status read_options(const char *options, bool *check)
{
    static const char *const words[] = {"check=on", "check=off"};
    *check = true;
    for (const char *at = options ? options + strspn(options, " \t") : ""; *at; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        char word[40] = "";
        td_text_print(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        if (strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0) {
            const char *near = td_suggest(word, words, 2);
            return td_fail(TD_OPTION, "unknown word \"%s\"; %s%s%sthe words are check=on and check=off", word,
                           near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "");
        }
        *check = strcmp(word, words[0]) == 0;
        at += length;
    }
    return TD_OK;
}

static td_status check_arguments(const td_code *code, const td_memory *raw, td_memory *const *out)
{
    if (!code || !raw || !out)
        return td_fail(TD_ARGUMENT, "the %s is NULL; pass one",
                       !code  ? "code"
                       : !raw ? "memory of the coded words"
                              : "output");
    if (raw->width_bits != code->coded_bits)
        return td_fail(TD_ARGUMENT,
                       "memory \"%s\" has words of %" PRIu64 " bits, and the code \"%.60s\" makes %" PRIu64
                       " bits of %" PRIu64 "; pass a memory of %" PRIu64 " bits, or a code made for this one",
                       raw->name, raw->width_bits, code->text, code->coded_bits, code->data_bits, code->coded_bits);
    return TD_OK;
}

td_status td_memory_coded(const char *name, const td_code *code, td_memory *raw, const char *options, td_memory **out)
{
    td_memory *memory = NULL;
    bool check = true;
    if (!name || !*name)
        name = "memory";
    td_status status = check_arguments(code, raw, out);
    if (!status)
        status = read_options(options, &check);
    if (!status)
        status = td_memory_create(name, code->data_bits, raw->depth_words, &memory);
    coded *c = status ? NULL : calloc(1, sizeof *c);
    if (!status && !c)
        status = td_fail_alloc(sizeof *c);
    if (status) {
        td_memory_destroy(&memory);
        td_fail_prefix("memory_coded \"%s\": ", name);
        return status;
    }
    c->code = td_code_hold(code);
    c->raw = raw;
    c->check = check;
    c->backing = (td_backing){.memory = memory,
                              .bring_in = bring_in,
                              .prepare = prepare,
                              .seal = seal,
                              .refuses = raw->backing && raw->backing->refuses,
                              .put_back = put_back,
                              .passes = passes,
                              .read_words = read_words,
                              .write_words = write_words,
                              .take_words = take_words,
                              .hand_words = hand_words,
                              .count_words = count_words,
                              .destroy = destroy,
                              .below = below,
                              .reach = reach,
                              .find_down = find_down,
                              .find_up = find_up,
                              .coded = raw,
                              .code = c->code};
    memory->backing = &c->backing;
    *out = memory;
    return TD_OK;
}

td_status td_memory_code_result(td_memory *memory, td_code_result *result, int reset)
{
    if (!memory || (!result && !reset))
        return td_fail(TD_ARGUMENT, "memory_code_result: the %s is NULL; pass one", memory ? "result" : "memory");
    if (!memory->backing || memory->backing->bring_in != bring_in)
        return td_fail(TD_ARGUMENT, "memory_code_result \"%s\": the memory has no code; pass one of memory_coded",
                       memory->name);
    coded *c = (coded *)memory->backing;
    if (result)
        *result = c->result;
    if (reset)
        memset(&c->result, 0, sizeof c->result);
    return TD_OK;
}
