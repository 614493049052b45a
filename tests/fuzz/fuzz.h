/* What the fuzz targets share: input cut into lines, and a way to stop that libFuzzer and the replay both see. An input
 * is text, so that a person can write one and read the one that failed. */
#ifndef TD_TEST_FUZZ_H
#define TD_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { FUZZ_LINES = 6 };

typedef struct fuzz_input {
    char *text;
    const char *line[FUZZ_LINES]; /* "" past the last */
} fuzz_input;

/* `|` ends a line within a file, so that strings may hold line ends. */
static inline void fuzz_open(const uint8_t *data, size_t size, fuzz_input *in)
{
    in->text = malloc(size + 1);
    REQUIRE(in->text);
    if (size)
        memcpy(in->text, data, size);
    in->text[size] = '\0';
    size_t n = 0;
    char *at = in->text;
    for (; n < FUZZ_LINES; n++) {
        in->line[n] = at ? at : "";
        char *end = at ? strchr(at, '|') : NULL;
        if (end)
            *end = '\0';
        at = end ? end + 1 : NULL;
    }
}

static inline void fuzz_close(fuzz_input *in)
{
    free(in->text);
}

#endif
