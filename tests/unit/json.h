/* A strict reader of the JSON that tests/data holds. Numbers stay text, so that 64-bit integers keep every digit. */
#ifndef TD_TEST_JSON_H
#define TD_TEST_JSON_H

#include <stddef.h>

typedef struct json {
    enum { JSON_NULL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } kind;
    char *text; /* of a number or a string */
    char *key;  /* within an object */
    size_t count;
    struct json *item; /* of an array or an object, in the file's order */
} json;

/* NULL when the file cannot be read or is not JSON. */
json *json_open(const char *path);
void json_close(json *root);

/* The member of that name, or NULL. */
const json *json_get(const json *object, const char *key);
const char *json_text(const json *object, const char *key, const char *otherwise);
long long json_whole(const json *object, const char *key, long long otherwise);

#endif
