/* See json.h. Escapes other than \" and \\ do not occur in the data and are refused. */
#include "json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_value(const char **p, json *out);

static void skip(const char **p)
{
    while (isspace((unsigned char)**p))
        ++*p;
}

static bool take(const char **p, char c)
{
    skip(p);
    if (**p != c)
        return false;
    ++*p;
    return true;
}

static char *parse_string(const char **p)
{
    if (!take(p, '"'))
        return NULL;
    char *text = malloc(strlen(*p) + 1);
    size_t n = 0;
    for (; **p && **p != '"'; ++*p) {
        if (**p == '\\' && *++*p != '"' && **p != '\\')
            break;
        text[n++] = **p;
    }
    text[n] = '\0';
    if (take(p, '"'))
        return text;
    free(text);
    return NULL;
}

static bool parse_items(const char **p, json *out, char close)
{
    if (take(p, close))
        return true;
    do {
        out->item = realloc(out->item, (out->count + 1) * sizeof *out->item);
        json *item = &out->item[out->count++];
        memset(item, 0, sizeof *item);
        if (close == '}' && (!(item->key = parse_string(p)) || !take(p, ':')))
            return false;
        if (!parse_value(p, item))
            return false;
    } while (take(p, ','));
    return take(p, close);
}

static bool parse_value(const char **p, json *out)
{
    skip(p);
    if (**p == '"') {
        out->kind = JSON_STRING;
        return (out->text = parse_string(p)) != NULL;
    }
    if (take(p, '[')) {
        out->kind = JSON_ARRAY;
        return parse_items(p, out, ']');
    }
    if (take(p, '{')) {
        out->kind = JSON_OBJECT;
        return parse_items(p, out, '}');
    }
    size_t n = strspn(*p, "+-0123456789.eE");
    out->kind = JSON_NUMBER;
    out->text = strndup(*p, n);
    *p += n;
    return n > 0;
}

static void free_items(json *value)
{
    for (size_t i = 0; i < value->count; i++)
        free_items(&value->item[i]);
    free(value->item);
    free(value->text);
    free(value->key);
}

void json_close(json *root)
{
    if (root)
        free_items(root);
    free(root);
}

json *json_open(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);
    fclose(file);
    json *root = calloc(1, sizeof *root);
    const char *p = text;
    bool good = length > 0 && parse_value(&p, root);
    if (good)
        skip(&p);
    good = good && *p == '\0';
    free(text);
    if (good)
        return root;
    json_close(root);
    return NULL;
}

const json *json_get(const json *object, const char *key)
{
    for (size_t i = 0; object && i < object->count; i++)
        if (object->item[i].key && strcmp(object->item[i].key, key) == 0)
            return &object->item[i];
    return NULL;
}

const char *json_text(const json *object, const char *key, const char *otherwise)
{
    const json *value = json_get(object, key);
    return value ? value->text : otherwise;
}

long long json_whole(const json *object, const char *key, long long otherwise)
{
    const json *value = json_get(object, key);
    return value ? strtoll(value->text, NULL, 10) : otherwise;
}
