/* Fills words of a memory with a pattern that tells which word it is, or that nobody mistakes for data. Behind
 * td_memory_fill, which dpi/memory.c calls too. The text is parsed whole before a word is written. */
#include "base/profile.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"
#include "memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { ZERO, ONE, CONSTANT, ADDRESS, RANDOM } kind;

typedef struct filling {
    kind kind;
    uint64_t seed;
    unsigned char *constant; /* a word */
} filling;

static td_status refuse(const td_memory *memory, const char *what)
{
    return td_fail(TD_OPTION,
                   "memory_fill \"%s\": \"%s\" is no filling; pass zero, one, constant=VALUE, address or random seed=N",
                   memory->name, what);
}

/* Any number of hex digits into a word that is zero. */
static td_status read_hex(const td_memory *memory, const char *digits, unsigned char *word)
{
    const size_t length = strlen(digits);
    uint64_t bit = 0;
    for (size_t i = length; i-- > 0; bit += 4) {
        const char c = digits[i];
        const unsigned value = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                      : 16;
        if (value > 15)
            return td_fail(TD_OPTION, "memory_fill \"%s\": constant=0x%s is no number; pass hex or decimal digits",
                           memory->name, digits);
        if (value &&
            (bit >= memory->width_bits || value >> (memory->width_bits - bit < 4 ? memory->width_bits - bit : 4)))
            return td_fail(TD_RANGE, "memory_fill \"%s\": constant=0x%s in words of %" PRIu64 " bits; pass fewer bits",
                           memory->name, digits, memory->width_bits);
        if (value)
            word[bit / 8] |= (unsigned char)(value << bit % 8);
    }
    return length ? TD_OK : refuse(memory, "constant=0x");
}

static td_status read_constant(const td_memory *memory, const char *text, unsigned char *word)
{
    char *end = NULL;
    char digits[17];
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return read_hex(memory, text + 2, word);
    const uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        return td_fail(TD_OPTION, "memory_fill \"%s\": constant=%s is no number; pass hex or decimal digits",
                       memory->name, text);
    snprintf(digits, sizeof digits, "%" PRIx64, value);
    return read_hex(memory, digits, word);
}

static td_status read_filling(const td_memory *memory, const char *what, filling *out)
{
    static const char constant[] = "constant=", random_seed[] = "random seed=";
    char *end = NULL;
    *out = (filling){.kind = ZERO};
    if (strcmp(what, "zero") == 0)
        return TD_OK;
    if (strcmp(what, "one") == 0)
        out->kind = ONE;
    else if (strcmp(what, "address") == 0)
        out->kind = ADDRESS;
    else if (strcmp(what, "random") == 0)
        out->kind = RANDOM;
    else if (strncmp(what, random_seed, sizeof random_seed - 1) == 0) {
        const char *digits = what + sizeof random_seed - 1;
        out->kind = RANDOM;
        out->seed = strtoull(digits, &end, 0);
        return *digits >= '0' && *digits <= '9' && !*end ? TD_OK : refuse(memory, what);
    } else if (strncmp(what, constant, sizeof constant - 1) == 0) {
        out->kind = CONSTANT;
        out->constant = calloc(1, memory->word_bytes);
        if (!out->constant)
            return td_fail_alloc(memory->word_bytes);
        return read_constant(memory, what + sizeof constant - 1, out->constant);
    } else
        return refuse(memory, what);
    return TD_OK;
}

static void clear_excess(const td_memory *memory, unsigned char *word)
{
    for (size_t b = (size_t)(memory->width_bits / 8); b < memory->word_bytes; b++)
        word[b] &= (unsigned char)(b == memory->width_bits / 8 ? (1u << memory->width_bits % 8) - 1 : 0);
}

static void fill_word(const td_memory *memory, const filling *f, uint64_t address, unsigned char *word)
{
    const size_t bytes = memory->word_bytes;
    switch (f->kind) {
    case CONSTANT:
        memcpy(word, f->constant, bytes);
        return;
    case ADDRESS:
        memset(word, 0, bytes);
        memcpy(word, &address, bytes < sizeof address ? bytes : sizeof address);
        break;
    case RANDOM:
        for (size_t b = 0; b < bytes; b += 8) {
            const uint64_t bits = td_random_mix(td_random_at(f->seed, address) + (b / 8) * TD_RANDOM_STEP);
            memcpy(word + b, &bits, bytes - b < 8 ? bytes - b : 8);
        }
        break;
    default:
        memset(word, f->kind == ONE ? 0xff : 0, bytes);
    }
    clear_excess(memory, word);
}

td_status td_memory_fill(td_memory *memory, const char *what, uint64_t first, uint64_t count)
{
    TD_OPERATION(operation, "memory_fill");
    if (!memory || !what)
        return td_fail(TD_ARGUMENT, "memory_fill: the %s is NULL; pass one", memory ? "filling" : "memory");
    if (count == 0 || first >= memory->depth_words || count > memory->depth_words - first)
        return td_fail(TD_RANGE,
                       "memory_fill \"%s\": %" PRIu64 " word%s from 0x%" PRIx64 " in a memory of %" PRIu64
                       " words; pass words inside it, at least one",
                       memory->name, count, td_text_s(count), first, memory->depth_words);
    filling f;
    td_status status = read_filling(memory, what, &f);
    if (status) {
        free(f.constant);
        return status;
    }
    status = td_memory_bring_for_write(memory, false, first, count);
    for (uint64_t w = first; w < first + count && !status; w++) {
        fill_word(memory, &f, w, memory->data + w * memory->word_bytes);
        if (memory->unknown_any)
            memset(memory->unknown->data + w * memory->word_bytes, 0, memory->word_bytes);
    }
    free(f.constant);
    td_profile_step_bytes(operation, count * memory->word_bytes);
    if (!status)
        status = td_memory_finish_write(memory, first, count);
    if (status)
        td_fail_prefix("memory_fill \"%s\": ", memory->name);
    else
        td_record(&(td_recorded){
            .kind = TD_RECORDED_FILL, .banks = &memory, .bank_count = 1, .text = what, .first = first, .count = count});
    return status;
}
