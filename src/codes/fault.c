/* Wrong bits on purpose, in any memory: td_memory_inject, and td_memory_undo, which takes them back. A text says how
 * many and where (fault_text.c); everything is chosen and checked before a bit is flipped. */
#include "codes/fault.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STAYS ((uint64_t)1 << 63)

/* Where a bit is flipped: in the memory itself (NULL), or below the codes that lie under it, which would compute their
 * check bits anew for it otherwise. */
typedef struct spot {
    td_memory *memory;
    uint64_t word, bit;
} spot;

/* The record of an injection: what was flipped, and each of its words as it was left. */
struct td_faults {
    td_fault *fault;
    spot *spot; /* of every fault */
    size_t count;
    uint64_t width_bits, depth_words;
    size_t after_bytes;
    unsigned char *after; /* so many for every fault: its word */
};

/* -- which bits -- */

void td_fault_pick(uint64_t *bits, size_t count, size_t wanted, uint64_t seed, uint64_t n)
{
    for (size_t i = 0; i < wanted && i < count; i++) {
        const size_t other = i + (size_t)(td_random_at(td_random_at(seed, n), i) % (count - i));
        const uint64_t bit = bits[i];
        bits[i] = bits[other];
        bits[other] = bit;
    }
}

/* Different random words, ascending: for every number from the last `wanted` on, a smaller one or, where that is taken,
 * the number itself (Floyd's method). */
static void pick_words(const td_fault_spec *spec, uint64_t first, uint64_t count, uint64_t *word)
{
    size_t used = 0;
    for (uint64_t top = count - spec->words; top < count; top++) {
        uint64_t next = td_random_at(~spec->seed, top) % (top + 1);
        size_t low = 0;
        for (int again = 0; again < 2; again++) {
            size_t high = used;
            for (low = 0; low < high;) {
                const size_t middle = (low + high) / 2;
                if (word[middle] < first + next)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low == used || word[low] != first + next)
                break;
            next = top;
        }
        memmove(word + low + 1, word + low, (used - low) * sizeof *word);
        word[low] = first + next;
        used++;
    }
}

/* The bits of a word that may be flipped, with those of word number n; returns how many there are. */
static size_t candidates(const td_memory *memory, const td_code *code, const td_fault_spec *spec, uint64_t n,
                         uint64_t *bits)
{
    size_t count = 0;
    if (!code) {
        for (uint64_t b = 0; b < memory->width_bits; b++)
            bits[count++] = b;
        return count;
    }
    const uint64_t subword =
        spec->subword != UINT64_MAX ? spec->subword : td_random_at(spec->seed ^ TD_RANDOM_STEP, n) % code->subwords;
    for (uint32_t s = 0; s < code->subwords; s++)
        for (uint32_t b = 0; (spec->spread || s == subword) && b < code->subword_bits + code->check_bits; b++) {
            const bool check = b >= code->subword_bits;
            if (spec->in == TD_FAULT_ANY || (spec->in == TD_FAULT_CHECK) == check)
                bits[count++] = td_code_bit_at(code, s, b);
        }
    return count;
}

static td_status check_spec(const td_memory *memory, const td_code *code, td_fault_spec *spec)
{
    if (spec->word != UINT64_MAX) {
        spec->first = spec->word;
        spec->count = 1;
    }
    if (spec->first >= memory->depth_words || (spec->count && spec->count > memory->depth_words - spec->first))
        return td_fail(TD_RANGE,
                       "%" PRIu64 " word%s from 0x%" PRIx64 " in a memory of %" PRIu64 " words; pass words inside it",
                       spec->count, td_text_s(spec->count), spec->first, memory->depth_words);
    if (!spec->count)
        spec->count = memory->depth_words - spec->first;
    if (spec->words > spec->count)
        return td_fail(TD_RANGE, "words=%" PRIu64 " of %" PRIu64 " words; pass at most so many", spec->words,
                       spec->count);
    for (size_t i = 0; i < spec->bit_count; i++)
        if (spec->bit[i] >= memory->width_bits)
            return td_fail(TD_RANGE, "bit %" PRIu64 " of words of %" PRIu64 " bits; pass 0 to %" PRIu64, spec->bit[i],
                           memory->width_bits, memory->width_bits - 1);
    if (!code && spec->seen & (TD_FAULT_CODED | TD_FAULT_SUBWORD))
        return td_fail(TD_OPTION, "%s needs a code, and there is none; pass the memory's code, or leave it out",
                       spec->seen & TD_FAULT_CODED ? "in=" : "subword=");
    if (code && code->coded_bits != memory->width_bits)
        return td_fail(TD_ARGUMENT,
                       "words of %" PRIu64 " bits, and the code \"%.60s\" has %" PRIu64
                       "; pass the coded memory, or a code made for this one",
                       memory->width_bits, code->text, code->coded_bits);
    if (code && spec->subword != UINT64_MAX && spec->subword >= code->subwords)
        return td_fail(TD_RANGE, "subword=%" PRIu64 " of %" PRIu32 "; the first is 0", spec->subword, code->subwords);
    return TD_OK;
}

static td_status choose(const td_memory *memory, const td_code *code, const td_fault_spec *spec, td_fault **list,
                        size_t *count)
{
    uint64_t *bits = malloc((size_t)memory->width_bits * sizeof *bits);
    uint64_t *word = malloc((size_t)spec->words * sizeof *word);
    if (!bits || !word) {
        free(bits);
        free(word);
        return td_fail_alloc((size_t)(memory->width_bits + spec->words) * sizeof *bits);
    }
    const size_t room = spec->bit_count ? 0 : candidates(memory, code, spec, 0, bits);
    const size_t each = spec->bit_count ? spec->bit_count : (size_t)spec->bits;
    td_status status = TD_OK;
    if (!spec->bit_count && spec->bits > room)
        status =
            td_fail(TD_RANGE, "bits=%" PRIu64 ", and %zu bits may be flipped; pass at most so many", spec->bits, room);
    *list = status ? NULL : malloc(((size_t)spec->words * each + 1) * sizeof **list);
    if (!status && !*list)
        status = td_fail_alloc((size_t)spec->words * each * sizeof **list);
    *count = 0;
    if (!status)
        pick_words(spec, spec->first, spec->count, word);
    for (uint64_t n = 0; n < spec->words && !status; n++) {
        if (!spec->bit_count)
            td_fault_pick(bits, candidates(memory, code, spec, n, bits), each, spec->seed, n);
        for (size_t i = 0; i < each; i++)
            (*list)[(*count)++] = (td_fault){word[n], spec->bit_count ? spec->bit[i] : bits[i]};
    }
    free(bits);
    free(word);
    return status;
}

/* -- flipping -- */

static td_memory *memory_of(td_memory *memory, const spot *at)
{
    return at->memory ? at->memory : memory;
}

static bool has_code(const td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    bool found = memory->backing && memory->backing->code;
    for (size_t i = 0; i < count && !found; i++)
        found = has_code(below[i]);
    return found;
}

typedef struct down {
    bool any;
    size_t below;
    uint64_t word, bit;
} down;

static void take_down(void *context, uint64_t number, size_t below, const td_word_bits *at)
{
    (void)number;
    *(down *)context = (down){true, below, at->word, at->bit};
}

static spot find_spot(td_memory *memory, const td_fault *fault)
{
    spot at = {NULL, fault->word, fault->bit};
    for (td_memory *m = memory; has_code(m); m = at.memory) {
        size_t count = 0;
        td_memory *const *below = m->backing->below(m, &count);
        down d = {0};
        m->backing->find_down(m, &(td_word_bits){at.word, at.bit, 1}, 0, take_down, &d);
        if (!d.any) /* a bit that the layer has no place for, as above the words of a codec */
            break;
        at = (spot){below[d.below], d.word, d.bit};
    }
    return at;
}

/* The words of a list are fetched before they are looked at, and put back. */
static bool is_repeated(const spot *at, size_t i)
{
    return i > 0 && at[i].memory == at[i - 1].memory && at[i].word == at[i - 1].word;
}

static td_status bring_in(td_memory *memory, const spot *at, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (!is_repeated(at, i))
            status = td_memory_bring_in(memory_of(memory, &at[i]), at[i].word, 1);
    return status;
}

static td_status put_back(td_memory *memory, const spot *at, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (!is_repeated(at, i))
            status = td_memory_seal(memory_of(memory, &at[i]), at[i].word, 1);
    for (size_t i = 0; i < count && !status; i++)
        if (!is_repeated(at, i))
            td_memory_put_back(memory_of(memory, &at[i]), at[i].word, 1);
    return status;
}

static unsigned char *word_of(td_memory *memory, const spot *at)
{
    const td_memory *in = memory_of(memory, at);
    return in->data + (size_t)at->word * in->word_bytes;
}

static void flip(td_memory *memory, const spot *at)
{
    const td_memory *in = memory_of(memory, at);
    const unsigned char bit = (unsigned char)(1u << at->bit % 8);
    word_of(memory, at)[at->bit / 8] ^= bit;
    if (in->unknown_any) /* a bit that was x or z is a known 1 now */
        in->unknown->data[(size_t)at->word * in->word_bytes + (size_t)at->bit / 8] &= (unsigned char)~bit;
}

/* The record without its words; takes the list. */
static td_status make_record(td_memory *memory, td_fault *list, size_t count, td_faults **out)
{
    td_faults *f = calloc(1, sizeof *f);
    spot *at = malloc((count + 1) * sizeof *at);
    size_t bytes = memory->word_bytes;
    for (size_t i = 0; i < count && at; i++) {
        at[i] = find_spot(memory, &list[i]);
        const size_t own = memory_of(memory, &at[i])->word_bytes;
        bytes = own > bytes ? own : bytes;
    }
    unsigned char *after = f && at ? malloc(count * bytes + 1) : NULL;
    if (!after) {
        free(f);
        free(at);
        free(list);
        return td_fail_alloc(count * (bytes + sizeof *at));
    }
    *f = (td_faults){list, at, count, memory->width_bits, memory->depth_words, bytes, after};
    *out = f;
    return TD_OK;
}

td_status td_faults_apply(td_memory *memory, td_fault *list, size_t count, td_faults **out)
{
    td_faults *f = NULL;
    td_status status = make_record(memory, list, count, &f);
    if (!status)
        status = bring_in(memory, f->spot, count);
    for (size_t i = 0; i < count && !status; i++)
        status = td_x_check_words(memory_of(memory, &f->spot[i]), &f->spot[i].word, 1);
    for (size_t i = 0; i < count && !status; i++)
        flip(memory, &f->spot[i]);
    for (size_t i = 0; i < count && !status; i++)
        memcpy(f->after + i * f->after_bytes, word_of(memory, &f->spot[i]), memory_of(memory, &f->spot[i])->word_bytes);
    if (!status)
        status = put_back(memory, f->spot, count);
    if (status)
        td_faults_destroy(&f);
    else
        *out = f;
    return status;
}

td_status td_fault_target(td_memory **memory, const td_code **code)
{
    const td_backing *backing = (*memory)->backing;
    if (!backing || !backing->code)
        return TD_OK;
    if (*code && *code != backing->code)
        return td_fail(TD_ARGUMENT,
                       "the code \"%.60s\" for a memory that has its own, \"%.60s\"; pass no code, or the memory of "
                       "the coded words",
                       (*code)->text, backing->code->text);
    *code = backing->code;
    *memory = backing->coded;
    return TD_OK;
}

td_status td_memory_inject(td_memory *memory, const char *what, const td_code *code, td_faults **out)
{
    if (!memory || !what || !out)
        return td_fail(TD_ARGUMENT, "memory_inject: %s is NULL; pass one",
                       !memory ? "the memory"
                       : !what ? "the text"
                               : "out");
    const char *name = memory->name;
    td_fault_spec spec;
    td_fault *list = NULL;
    size_t count = 0;
    td_status status = td_fault_target(&memory, &code);
    if (!status)
        status = td_fault_spec_read(what, &spec);
    if (!status)
        status = check_spec(memory, code, &spec);
    if (!status)
        status = choose(memory, code, &spec, &list, &count);
    if (!status)
        status = td_faults_apply(memory, list, count, out);
    if (status)
        td_fail_prefix("memory_inject \"%s\": ", name);
    return td_record_other("memory_inject", status);
}

/* The word of a fault is as the injection left it. */
static bool is_untouched(td_memory *memory, const td_faults *f, size_t i)
{
    return memcmp(word_of(memory, &f->spot[i]), f->after + i * f->after_bytes,
                  memory_of(memory, &f->spot[i])->word_bytes) == 0;
}

/* A word with several faults is looked at once: all of them follow, or stay, with it. Marks those that stay by a bit
 * that no word has, and returns the number of such words. */
static uint64_t mark_changed(td_memory *memory, td_faults *f)
{
    uint64_t changed = 0;
    for (size_t i = 0, end; i < f->count; i = end) {
        bool untouched = true;
        for (end = i; end < f->count && f->fault[end].word == f->fault[i].word; end++)
            untouched &= is_untouched(memory, f, end);
        for (size_t k = i; k < end && !untouched; k++)
            f->spot[k].bit |= STAYS;
        changed += !untouched;
    }
    return changed;
}

td_status td_memory_undo(td_memory *memory, td_faults **faults, uint64_t *left)
{
    if (!memory || !faults || !*faults)
        return td_fail(TD_ARGUMENT, "memory_undo: the %s is NULL; pass one", memory ? "faults" : "memory");
    td_faults *f = *faults;
    uint64_t changed = 0;
    if (memory->backing && memory->backing->code)
        memory = memory->backing->coded;
    if (f->width_bits != memory->width_bits || f->depth_words != memory->depth_words)
        return td_fail(TD_ARGUMENT,
                       "memory_undo \"%s\": faults of a memory of %" PRIu64 " words of %" PRIu64
                       " bits in one of %" PRIu64 " words of %" PRIu64 "; pass the memory that they were injected into",
                       memory->name, f->depth_words, f->width_bits, memory->depth_words, memory->width_bits);
    td_status status = bring_in(memory, f->spot, f->count);
    if (!status)
        changed = mark_changed(memory, f);
    for (size_t i = 0; i < f->count && !status; i++)
        if (!(f->spot[i].bit & STAYS))
            flip(memory, &f->spot[i]);
    for (size_t i = 0; i < f->count; i++)
        f->spot[i].bit &= ~STAYS;
    if (!status)
        status = put_back(memory, f->spot, f->count);
    if (status) {
        td_fail_prefix("memory_undo \"%s\": ", memory->name);
        return status;
    }
    if (left)
        *left = changed;
    td_faults_destroy(faults);
    return td_record_other("memory_undo", TD_OK);
}

size_t td_faults_count(const td_faults *faults)
{
    return faults ? faults->count : 0;
}

td_fault td_faults_at(const td_faults *faults, size_t number)
{
    return faults && number < faults->count ? faults->fault[number] : (td_fault){0};
}

void td_faults_destroy(td_faults **faults)
{
    if (!faults || !*faults)
        return;
    free((*faults)->fault);
    free((*faults)->spot);
    free((*faults)->after);
    free(*faults);
    *faults = NULL;
}
