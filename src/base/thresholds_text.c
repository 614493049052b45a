/* The file of thresholds (thresholds.h), printed and read:
 *
 *     tensordoor thresholds 1
 *     version 0.1.0
 *     processor AuthenticAMD 25.1.1 "AMD EPYC" flags 1 caches 32768 524288 33554432
 *     thread_bytes 262144
 *     ...                                  every line of the table, in its order
 *     sum 0123456789abcdef                 of all bytes before it
 *
 * The sum is looked at first, so that half a file is damaged and never of another processor. */
#include "base/caches.h"
#include "base/cpu.h"
#include "base/thresholds.h"
#include "tensordoor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LINE "tensordoor thresholds 1"
#define SUM_BYTES 21 /* "sum ", 16 digits, the end of the line */
#define PROCESSOR_BYTES 256

static void print_processor(char text[PROCESSOR_BYTES])
{
    char name[TD_CPU_NAME_BYTES];
    const td_caches caches = td_caches_find();
    td_cpu_name(name);
    snprintf(text, PROCESSOR_BYTES, "%s flags %u caches %" PRIu64 " %" PRIu64 " %" PRIu64, name, td_cpu_hardware(),
             caches.first_bytes, caches.second_bytes, caches.last_bytes);
}

/* FNV-1a */
static uint64_t sum_of(const char *text, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}

size_t td_thresholds_print(const uint64_t *values, char text[TD_THRESHOLD_FILE_BYTES])
{
    char processor[PROCESSOR_BYTES];
    print_processor(processor);
    size_t at = (size_t)snprintf(text, TD_THRESHOLD_FILE_BYTES, FIRST_LINE "\nversion %s\nprocessor %s\n", td_version(),
                                 processor);
    for (size_t i = 0; i < TD_THRESHOLDS; i++) /* far from the end: the table is short */
        at += (size_t)snprintf(text + at, TD_THRESHOLD_FILE_BYTES - at, "%s %" PRIu64 "\n", td_threshold_lines[i].name,
                               values[i]);
    at += (size_t)snprintf(text + at, TD_THRESHOLD_FILE_BYTES - at, "sum %016" PRIx64 "\n", sum_of(text, at));
    return at;
}

typedef struct reader {
    const char *at, *end;
    char *problem;
} reader;

__attribute__((format(printf, 2, 3))) static bool fail(const reader *r, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(r->problem, TD_THRESHOLD_NOTE_BYTES, fmt, arguments);
    va_end(arguments);
    return false;
}

static bool check_sum(reader *r)
{
    char sum[SUM_BYTES + 1];
    const size_t bytes = (size_t)(r->end - r->at);
    if (bytes < SUM_BYTES)
        return fail(r, "it is damaged: it has %zu bytes", bytes);
    snprintf(sum, sizeof sum, "sum %016" PRIx64 "\n", sum_of(r->at, bytes - SUM_BYTES));
    if (memcmp(r->end - SUM_BYTES, sum, SUM_BYTES) != 0)
        return fail(r, "it is damaged: its sum is wrong");
    r->end -= SUM_BYTES;
    return true;
}

/* The rest of the next line behind `word` and a space; false where it begins otherwise. */
static bool take_line(reader *r, const char *word, const char **rest, size_t *length)
{
    const size_t word_length = strlen(word);
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!end || (size_t)(end - r->at) <= word_length || memcmp(r->at, word, word_length) != 0 ||
        r->at[word_length] != ' ')
        return false;
    *rest = r->at + word_length + 1;
    *length = (size_t)(end - *rest);
    r->at = end + 1;
    return true;
}

static bool is_text(const char *rest, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(rest, text, length) == 0;
}

/* What a stranger's file says of itself goes into a message: a part of it, letters only. */
static int shown(const char *rest, size_t length, char out[PROCESSOR_BYTES])
{
    const size_t most = length < PROCESSOR_BYTES - 1 ? length : PROCESSOR_BYTES - 1;
    for (size_t i = 0; i < most; i++)
        out[i] = (char)(rest[i] >= ' ' && rest[i] <= '~' ? rest[i] : '?');
    return (int)most;
}

static bool check_origin(reader *r)
{
    char processor[PROCESSOR_BYTES], theirs[PROCESSOR_BYTES];
    const char *rest = NULL;
    size_t length = 0;
    if (!take_line(r, "tensordoor thresholds", &rest, &length))
        return fail(r, "it is no file of thresholds");
    if (!is_text(rest, length, "1") || !take_line(r, "version", &rest, &length) ||
        !is_text(rest, length, td_version())) {
        const int most = shown(rest, length, theirs);
        return fail(r, "it is of version %.*s, and this is %s", most, theirs, td_version());
    }
    if (!take_line(r, "processor", &rest, &length))
        return fail(r, "it is damaged: its third line names no processor");
    print_processor(processor);
    if (!is_text(rest, length, processor)) {
        const int most = shown(rest, length, theirs);
        return fail(r, "it is of another processor, %.*s, and this is %s", most, theirs, processor);
    }
    return true;
}

/* Digits alone, and no more than a number has. */
static bool take_number(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    if (!length || length > 19)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = 10 * *value + (uint64_t)(text[i] - '0');
    }
    return true;
}

bool td_thresholds_parse(const char *text, size_t bytes, uint64_t *values, char problem[TD_THRESHOLD_NOTE_BYTES])
{
    reader r = {.at = text, .end = text + bytes};
    uint64_t read[TD_THRESHOLDS];
    r.problem = problem;
    if (!check_sum(&r) || !check_origin(&r))
        return false;
    for (size_t i = 0; i < TD_THRESHOLDS; i++) {
        const td_threshold_line *line = &td_threshold_lines[i];
        const char *rest = NULL;
        size_t length = 0;
        if (!take_line(&r, line->name, &rest, &length) || !take_number(rest, length, &read[i]))
            return fail(&r, "it is damaged: its line %zu is not %s and a number", 4 + i, line->name);
        if (read[i] < line->least || read[i] > line->most)
            return fail(&r, "it is damaged: %s is %" PRIu64 ", and %" PRIu64 " to %" PRIu64 " are its bounds",
                        line->name, read[i], line->least, line->most);
    }
    if (r.at != r.end)
        return fail(&r, "it is damaged: there is more behind its line %d", 3 + TD_THRESHOLDS);
    memcpy(values, read, sizeof read);
    return true;
}
