/* How fast codes are: words to coded words and back, on one thread, with every instruction set of this machine, beside
 * memcpy of the same data in the same run. codes [TEXT] takes the codes whose name has TEXT in it; --quick only sees
 * that it runs. GB/s are of data. */
#include "base/clock.h"
#include "base/cpu.h"
#include "codes/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned flags;
} isas[] = {{"c", TD_CPU_C}, {"avx2", TD_CPU_AVX2}, {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512}, {"gfni", TD_CPU_ALL}};

static const struct {
    const char *text;
    uint64_t bits;
} cases[] = {{"72_64", 64},
             {"39_32", 32},
             {"inv_39_32", 32},
             {"22_16", 16},
             {"hamming_76_68", 68},
             {"parity odd width=8", 32},
             {"72_64", 128},
             {"39_32", 128},
             {"39_32 place=above", 128},
             {"hsiao address=16", 64},
             {"hsiao", 256}};

typedef struct job {
    td_code *code;
    unsigned char *data, *coded, *copy;
    size_t words, data_bytes;
    td_code_result result;
} job;

static void encode(job *j)
{
    td_code_encode_words(j->code, j->coded, j->data, 0, j->words);
}

static void check(job *j)
{
    memset(&j->result, 0, sizeof j->result);
    td_code_check_words(j->code, j->copy, j->coded, 0, j->words, &j->result, NULL, NULL);
}

static void copy(job *j)
{
    memcpy(j->copy, j->data, j->data_bytes);
}

static double rate(job *j, void (*run)(job *), int rounds)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        const uint64_t start = td_now_ns();
        run(j);
        const uint64_t took = td_now_ns() - start;
        best = took < best ? took : best;
    }
    return (double)j->data_bytes / (double)best;
}

/* False when a word came back wrong. */
static int bench(const char *text, uint64_t bits, size_t bytes, int rounds)
{
    job j = {0};
    if (td_code_create(text, bits, &j.code)) {
        fprintf(stderr, "%s\n", td_last_error());
        return 0;
    }
    const size_t word = td_word_bytes(bits), coded = td_word_bytes(td_code_coded_bits(j.code));
    int right = 1;
    j.words = bytes / word;
    j.data_bytes = j.words * word;
    j.data = calloc(j.words, word);
    j.coded = calloc(j.words, coded);
    j.copy = calloc(j.words, word);
    for (size_t w = 0; j.data && w < j.words; w++)
        for (size_t b = 0; b < bits / 8; b++)
            j.data[w * word + b] = (unsigned char)(w * 37 + b * 101 + (w >> 7));
    for (size_t i = 0; j.data && j.coded && j.copy && i < sizeof isas / sizeof *isas; i++) {
        td_cpu_mask(isas[i].flags);
        const double e = rate(&j, encode, rounds), c = rate(&j, check, rounds), m = rate(&j, copy, rounds);
        printf("%-20s %4u bits %6zu KiB %-7s encode %6.2f GB/s  check %6.2f GB/s  memcpy %6.2f GB/s\n", text,
               (unsigned)bits, bytes >> 10, isas[i].name, e, c, m);
        check(&j);
        right &= j.result.corrected + j.result.uncorrectable == 0 && memcmp(j.copy, j.data, j.data_bytes) == 0;
    }
    td_cpu_mask(TD_CPU_ALL);
    free(j.data);
    free(j.coded);
    free(j.copy);
    td_code_destroy(&j.code);
    return right;
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const char *wanted = argc > 1 && !quick ? argv[1] : "";
    int right = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strstr(cases[i].text, wanted)) {
            right &= bench(cases[i].text, cases[i].bits, (size_t)1 << 16, quick ? 1 : 200);
            right &= quick || bench(cases[i].text, cases[i].bits, (size_t)1 << 24, 8);
        }
    return right ? 0 : 1;
}
