/* Runs of words through a code, in the form that memories store them. The kernels do whole runs; a word whose syndrome
 * is not zero is looked at here, bit by bit. Nothing is refused. */
#include "codes/code.h"

#include <string.h>

/* The kernels of this processor; chosen anew for every run, so that a mask of a test is followed. */
static td_code_fn best_map(void)
{
    td_code_kernels kernels;
    td_code_init(&kernels, td_cpu_flags());
    return kernels.code_map;
}

void td_code_encode_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count)
{
    (void)best_map()(&code->encode, dst, src, first, count); /* without syndromes it never ends early */
}

void td_code_decode_words(const td_code *code, void *dst, const void *src, size_t count)
{
    td_code_map map = code->check;
    map.syndrome_count = 0;
    (void)best_map()(&map, dst, src, 0, count); /* data bits do not depend on the address */
}

size_t td_code_right_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count)
{
    return best_map()(&code->check, dst, src, first, count);
}

static uint32_t bit_of(const unsigned char *word, uint64_t bit)
{
    return (unsigned)word[bit / 8] >> bit % 8 & 1u;
}

static uint32_t syndrome_of(const td_code *code, const unsigned char *word, uint32_t subword, uint64_t address)
{
    const uint32_t k = code->subword_bits, a = code->address_bits;
    uint32_t syndrome = code->constant_check;
    for (uint32_t i = 0; i < k; i++)
        if (bit_of(word, td_code_bit_at(code, subword, i)) ^ td_code_mask_bit(&code->constant, i))
            syndrome ^= code->column[i];
    for (uint32_t i = 0; i < a; i++)
        if (address >> i & 1)
            syndrome ^= code->column[k + i];
    for (uint32_t j = 0; j < code->check_bits; j++)
        syndrome ^= bit_of(word, td_code_bit_at(code, subword, k + j)) << j;
    return syndrome;
}

typedef struct judged {
    td_code_result *result;
    td_code_error_fn each;
    void *context;
} judged;

static void tell(const judged *j, const td_code_error *error)
{
    if (error->kind == TD_CODE_CORRECTED)
        j->result->corrected++;
    else
        j->result->uncorrectable++;
    if (j->result->kept < TD_CODE_FIRST)
        j->result->error[j->result->kept++] = *error;
    if (j->each)
        j->each(j->context, error);
}

/* One word with an error somewhere: its data as they stand, then what each wrong subword's syndrome says. */
static void judge_word(const td_code *code, unsigned char *dst, const unsigned char *word, uint64_t address,
                       const judged *j)
{
    const uint32_t k = code->subword_bits;
    if (dst)
        memset(dst, 0, code->check.dst_bytes);
    for (uint32_t s = 0; s < code->subwords; s++) {
        for (uint32_t i = 0; i < k && dst; i++) {
            const uint64_t at = (uint64_t)s * k + i;
            const uint32_t bit = bit_of(word, td_code_bit_at(code, s, i)) ^ td_code_mask_bit(&code->constant, i);
            dst[at / 8] |= (unsigned char)(bit << at % 8);
        }
        const uint32_t syndrome = syndrome_of(code, word, s, address);
        if (syndrome == 0)
            continue;
        const uint32_t bit = code->corrects ? td_code_find(code, syndrome) : UINT32_MAX;
        td_code_error error = {.word = address, .subword = s, .kind = TD_CODE_UNCORRECTABLE, .syndrome = syndrome};
        if (bit < k || (bit >= k + code->address_bits && bit != UINT32_MAX)) {
            error.kind = TD_CODE_CORRECTED;
            error.bit = td_code_bit_at(code, s, bit < k ? bit : bit - code->address_bits);
            if (dst && bit < k)
                dst[((uint64_t)s * k + bit) / 8] ^= (unsigned char)(1u << ((uint64_t)s * k + bit) % 8);
        } else if (bit != UINT32_MAX) {
            error.kind = TD_CODE_WRONG_ADDRESS;
            error.bit = bit - k;
        }
        tell(j, &error);
    }
}

void td_code_check_words(const td_code *code, void *dst, const void *src, uint64_t first, size_t count,
                         td_code_result *result, td_code_error_fn each, void *context)
{
    const td_code_map *map = &code->check;
    const td_code_fn best = best_map();
    const judged j = {result, each, context};
    const unsigned char *from = src;
    unsigned char *to = dst;
    size_t plain_until = 0; /* words before it are in a block with an error: plain C finds which */
    for (size_t w = 0; w < count;) {
        const size_t end = w < plain_until && plain_until < count ? plain_until : count;
        const td_code_fn run = w < plain_until ? td_code_map_c : best;
        const size_t done =
            run(map, to ? to + w * map->dst_bytes : NULL, from + w * map->src_bytes, first + w, end - w);
        w += done;
        if (w == end)
            continue;
        if (run != td_code_map_c) {
            plain_until = w + TD_CODE_BLOCK;
            continue;
        }
        judge_word(code, to ? to + w * map->dst_bytes : NULL, from + w * map->src_bytes, first + w, &j);
        w++;
    }
    result->words += count;
}
