/* Recursive descent over a text with its length; nothing is read behind its end. */
#include "tool/bench/json_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *p, *end;
} reader;

static bench_json *read_value(reader *r, int depth);

static void skip(reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool take(reader *r, char c)
{
    skip(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}

static bool read_escape(reader *r, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->p >= r->end)
        return false;
    const char *known = *r->p ? strchr(from, *r->p) : NULL;
    if (known) {
        *out = to[known - from];
        r->p++;
        return true;
    }
    char digits[5] = {0};
    if (*r->p != 'u' || r->end - r->p < 5)
        return false;
    memcpy(digits, r->p + 1, 4);
    char *stop;
    const long code = strtol(digits, &stop, 16);
    if (*stop || code <= 0 || code >= 128)
        return false;
    *out = (char)code;
    r->p += 5;
    return true;
}

/* The text behind an opening quote; NULL without a closing one. */
static char *read_text(reader *r)
{
    char *text = malloc((size_t)(r->end - r->p) + 1), *out = text;
    bool good = text != NULL;
    while (good && r->p < r->end && *r->p != '"') {
        char c = *r->p++;
        good = (unsigned char)c >= ' ' && (c != '\\' || read_escape(r, &c));
        *out++ = c;
    }
    if (!good || r->p >= r->end) {
        free(text);
        return NULL;
    }
    r->p++;
    *out = '\0';
    char *shorter = realloc(text, (size_t)(out - text) + 1);
    return shorter ? shorter : text;
}

static bool read_number(reader *r, double *out)
{
    char number[40] = {0};
    size_t n = 0;
    while (r->p + n < r->end && n + 1 < sizeof number &&
           (isdigit((unsigned char)r->p[n]) || (r->p[n] && strchr("+-.eE", r->p[n]))))
        n++;
    memcpy(number, r->p, n);
    char *stop = number;
    *out = n ? strtod(number, &stop) : 0;
    r->p += n;
    return n && *stop == '\0';
}

static bool read_members(reader *r, bench_json *value, int depth)
{
    const char close = value->kind == JSON_OBJECT ? '}' : ']';
    bench_json **last = &value->first;
    if (take(r, close))
        return true;
    do {
        char *name = NULL;
        if (value->kind == JSON_OBJECT && (!take(r, '"') || !(name = read_text(r)) || !take(r, ':'))) {
            free(name);
            return false;
        }
        *last = read_value(r, depth + 1);
        if (!*last) {
            free(name);
            return false;
        }
        (*last)->name = name;
        last = &(*last)->next;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_into(reader *r, bench_json *value, int depth)
{
    if (r->p >= r->end || depth > BENCH_JSON_DEPTH)
        return false;
    if (take(r, '{')) {
        value->kind = JSON_OBJECT;
        return read_members(r, value, depth);
    }
    if (take(r, '[')) {
        value->kind = JSON_LIST;
        return read_members(r, value, depth);
    }
    if (take(r, '"')) {
        value->kind = JSON_TEXT;
        value->text = read_text(r);
        return value->text != NULL;
    }
    if (take_word(r, "null"))
        return true;
    value->kind = JSON_BOOL;
    value->number = *r->p == 't';
    if (take_word(r, "true") || take_word(r, "false"))
        return true;
    value->kind = JSON_NUMBER;
    return read_number(r, &value->number);
}

static bench_json *read_value(reader *r, int depth)
{
    bench_json *value = calloc(1, sizeof *value);
    skip(r);
    if (value && !read_into(r, value, depth)) {
        bench_json_free(value);
        value = NULL;
    }
    return value;
}

bench_json *bench_json_read(const char *text, size_t length, size_t *where)
{
    reader r = {text, text + length};
    bench_json *value = read_value(&r, 0);
    skip(&r);
    *where = (size_t)(r.p - text);
    if (value && r.p < r.end) {
        bench_json_free(value);
        value = NULL;
    }
    return value;
}

void bench_json_free(bench_json *value)
{
    while (value) {
        bench_json *next = value->next;
        bench_json_free(value->first);
        free(value->text);
        free(value->name);
        free(value);
        value = next;
    }
}

const bench_json *bench_json_get(const bench_json *object, const char *name)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (const bench_json *m = object->first; m; m = m->next)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}
