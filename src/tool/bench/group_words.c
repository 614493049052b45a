/* Words by lists of addresses, and matrices of rows: what a testbench that pokes at memories calls most. */
#include "base/clock.h"
#include "tool/bench/simple.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 4

static const bench_simple_case word_cases[] = {
    {"write_10", "write", "write", 10, 0},     {"write_100", "write", "write", 100, 0},
    {"write_1000", "write", "write", 1000, 0}, {"write_10000", "write", "write", 10000, 0},
    {"read_10", "read", "read", 10, 0},        {"read_100", "read", "read", 100, 0},
    {"read_1000", "read", "read", 1000, 0},    {"read_10000", "read", "read", 10000, 0},
    {"element_get", NULL, "get", 1, 0},        {"element_set", NULL, "set", 1, 0},
};

static double run_write(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_write(s->memory, s->addresses, s->of->size, s->src, NULL));
}

static double run_read(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_read(s->memory, s->addresses, s->of->size, s->dst));
}

static double run_get(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_tensor_get_real(s->tensor, repeat & 15, &s->number[0]));
}

static double run_set(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_tensor_set_real(s->tensor, repeat & 15, 2.5));
}

/* What was written is read back, and lies where the addresses say. */
static bool check_words(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    for (size_t i = 0; i < s->bytes; i++)
        s->src[i] = (unsigned char)(i * 7 + 3);
    bool good = !td_backdoor_write(s->memory, s->addresses, s->of->size, s->src, NULL) &&
                !td_backdoor_read(s->memory, s->addresses, s->of->size, s->dst) && !memcmp(s->src, s->dst, s->bytes);
    const unsigned char *data = td_memory_data(s->memory);
    for (uint64_t i = 0; good && i < s->of->size; i++)
        good = memcmp(data + s->addresses[i] * WORD_BYTES, s->src + i * WORD_BYTES, WORD_BYTES) == 0;
    if (!good)
        snprintf(why, size, "wrong result, so no time: words are not where they were written");
    return good;
}

static bool check_element(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    bool good = true;
    for (uint64_t i = 0; i < 16; i++)
        good = !td_tensor_set_real(s->tensor, i, (double)i - 2.5) && good;
    for (uint64_t i = 0; i < 16; i++)
        good = !td_tensor_get_real(s->tensor, i, &s->number[0]) && s->number[0] == (double)i - 2.5 && good;
    if (!good)
        snprintf(why, size, "wrong result, so no time: an element is not what it was set to");
    return good;
}

static bench_opened open_words(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    why[0] = '\0';
    (void)size;
    const uint64_t n = s->of->size;
    if (s->of->text[0] == 'g' || s->of->text[0] == 's') {
        if (td_tensor_create("f32", TD_SHAPE(16), &s->tensor) || !bench_simple_buffers(s, 64))
            return BENCH_BROKEN;
        out->check = check_element;
        bench_add_runner(out, "tensordoor", s->of->text[0] == 'g' ? run_get : run_set, s);
        bench_add_runner(out, "memcpy", bench_simple_memcpy, s); /* of the 16 elements: it always costs the same */
        out->elems = 1;
        return BENCH_OPENED;
    }
    s->addresses = malloc(n * sizeof *s->addresses);
    if (!s->addresses || !bench_simple_buffers(s, n * WORD_BYTES) ||
        td_memory_create("m", 8 * WORD_BYTES, 3 * n, &s->memory))
        return BENCH_BROKEN;
    for (uint64_t i = 0; i < n; i++)
        s->addresses[i] = 3 * i;
    out->elems = (double)n;
    out->bytes = (double)(n * WORD_BYTES);
    out->check = check_words;
    bench_add_runner(out, "tensordoor", s->of->text[0] == 'w' ? run_write : run_read, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table word_table = {word_cases, sizeof word_cases / sizeof word_cases[0], open_words};
BENCH_SIMPLE_GROUP(bench_group_words, "words", "lists of 10 to 10 000 words at every third address; single elements",
                   word_table);

static const bench_simple_case matrix_cases[] = {
    {"load_16x4", "load", "load", 16, 0},   {"load_64x4", "load", "load", 64, 0},
    {"load_256x4", "load", "load", 256, 0}, {"load_1024x4", "load", "load", 1024, 0},
    {"dump_16x4", "dump", "dump", 16, 0},   {"dump_64x4", "dump", "dump", 64, 0},
    {"dump_256x4", "dump", "dump", 256, 0}, {"dump_1024x4", "dump", "dump", 1024, 0},
};

static double run_load(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_matrix(s->memory, s->tensor, 0, s->of->size));
}

static double run_dump(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_dump_matrix(s->memory, s->tensor, 0, s->of->size));
}

/* Rows of four i16 are words of 64 bits: the bytes are the same on both sides. */
static bool check_matrix(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    const bool good = !td_tensor_fill_random(s->tensor, 5) && run_load(s, 1) >= 0 &&
                      memcmp(td_memory_data(s->memory), td_tensor_data(s->tensor), s->bytes) == 0;
    if (!good)
        snprintf(why, size, "wrong result, so no time: rows are not in their words");
    return good;
}

static bench_opened open_matrix(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    why[0] = '\0';
    (void)size;
    const uint64_t rows = s->of->size;
    if (td_tensor_create("i16", TD_SHAPE(rows, 4), &s->tensor) || td_memory_create("m", 64, rows, &s->memory) ||
        !bench_simple_buffers(s, rows * 8))
        return BENCH_BROKEN;
    out->elems = (double)rows * 4;
    out->bytes = (double)rows * 8;
    out->check = check_matrix;
    bench_add_runner(out, "tensordoor", s->of->text[0] == 'l' ? run_load : run_dump, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table matrix_table = {matrix_cases, sizeof matrix_cases / sizeof matrix_cases[0],
                                                open_matrix};
BENCH_SIMPLE_GROUP(bench_group_matrix, "matrix", "16x4 to 1024x4 elements of 16 bits, rows to words", matrix_table);
