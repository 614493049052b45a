/* A reader of JSON for what the bench itself writes: baselines and histories. It takes all of JSON but escapes other
 * than \" \\ \/ \b \f \n \r \t and \u below 128, and no more than BENCH_JSON_DEPTH levels. */
#ifndef TD_BENCH_JSON_READ_H
#define TD_BENCH_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_JSON_DEPTH 16

typedef enum bench_json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } bench_json_kind;

typedef struct bench_json {
    bench_json_kind kind;
    double number; /* 0 or 1 of a bool */
    char *text;
    char *name; /* as a member of an object */
    struct bench_json *first, *next;
} bench_json;

/* NULL where the text is no JSON or there is no memory: *where is then how many bytes were understood. */
bench_json *bench_json_read(const char *text, size_t length, size_t *where);
void bench_json_free(bench_json *value);

/* The member of that name; NULL where `object` is NULL, none, or has it not. */
const bench_json *bench_json_get(const bench_json *object, const char *name);

#endif
