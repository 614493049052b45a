/* A program as text: it is refused with a message, or its text parses to a program with the same text, and it compiles
 * and runs on two memories and two tensors, or is refused with nothing changed. Texts with files are only read; numbers
 * that would make large tensors are left out.
 *
 *     TEXT */
#include "fuzz.h"
#include "tensordoor.h"

#include <stdbool.h>

enum { MAX_NUMBER = 300, MAX_PRODUCT = 1 << 16 };

static bool is_small(const char *text)
{
    double product = 1;
    for (const char *at = text; *at; at++) {
        char *end = NULL;
        if (*at < '0' || *at > '9')
            continue;
        const unsigned long long number = strtoull(at, &end, 0);
        product *= number > 4 ? (double)number : 1;
        if (product > MAX_PRODUCT || number > MAX_NUMBER)
            return false;
        at = end > at ? end - 1 : at;
    }
    return true;
}

static bool has_files(const char *text)
{
    return strstr(text, "open") || strstr(text, "save") || strstr(text, "use") || strstr(text, "checkpoint") ||
           strchr(text, '@') || strstr(text, "elf");
}

static void compile_and_run(td_program *p)
{
    td_memory *m = NULL, *n = NULL, *before = NULL;
    td_tensor *x = NULL, *y = NULL;
    char *explained = NULL;
    REQUIRE(td_memory_create("m", 32, 256, &m) == TD_OK && td_memory_create("n", 100, 64, &n) == TD_OK);
    REQUIRE(td_tensor_create("i8", TD_SHAPE(16, 4), &x) == TD_OK &&
            td_tensor_create("f32", TD_SHAPE(4, 4), &y) == TD_OK);
    REQUIRE(td_tensor_fill_random(x, 1) == TD_OK && td_memory_fill(m, "random", 0, 256) == TD_OK);
    REQUIRE(td_program_bind_memory(p, "m", m) == TD_OK && td_program_bind_memory(p, "n", n) == TD_OK);
    REQUIRE(td_program_bind_tensor(p, "x", x) == TD_OK && td_program_bind_tensor(p, "y", y) == TD_OK);
    REQUIRE(td_memory_snapshot(m, &before) == TD_OK);
    if (td_program_explain(p, NULL, NULL, &explained) == TD_OK) {
        REQUIRE(explained && explained[0]);
        if (td_program_run(p, NULL, NULL, NULL))
            REQUIRE(td_last_error()[0] && memcmp(td_memory_data(m), td_memory_data(before), 1024) == 0);
    } else
        REQUIRE(td_last_error()[0] && memcmp(td_memory_data(m), td_memory_data(before), 1024) == 0);
    td_free(explained);
    td_memory_destroy(&m);
    td_memory_destroy(&n);
    td_memory_destroy(&before);
    td_tensor_destroy(&x);
    td_tensor_destroy(&y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *again = NULL, *twice = NULL;
    td_program *p = NULL, *q = NULL;
    REQUIRE(text);
    memcpy(text, data, size);
    text[size] = 0;
    if (td_program_create(text, &p) == TD_OK) {
        REQUIRE(td_program_text(p, &again) == TD_OK && td_program_create(again, &q) == TD_OK);
        REQUIRE(td_program_text(q, &twice) == TD_OK && strcmp(again, twice) == 0);
        if (is_small(text) && !has_files(text))
            compile_and_run(p);
    } else
        REQUIRE(td_last_error()[0] && !p);
    td_free(again);
    td_free(twice);
    td_program_destroy(&p);
    td_program_destroy(&q);
    free(text);
    return 0;
}
