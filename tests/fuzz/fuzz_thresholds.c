/* Any bytes are a file of thresholds or are refused with a sentence; values out of one are within their bounds and
 * print a file that is read again. The bytes are tried as they are, and as lines between an origin and a sum that are
 * right. */
#include "base/thresholds.h"
#include "fuzz.h"

static void try_file(const char *text, size_t size)
{
    char problem[TD_THRESHOLD_NOTE_BYTES] = "", again[TD_THRESHOLD_FILE_BYTES];
    uint64_t values[TD_THRESHOLDS];
    if (!td_thresholds_parse(text, size, values, problem)) {
        REQUIRE(*problem && !strpbrk(problem, "\n\033"));
        return;
    }
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        REQUIRE(values[i] >= td_threshold_lines[i].least && values[i] <= td_threshold_lines[i].most);
    const size_t bytes = td_thresholds_print(values, again); /* a number may have had zeros before it */
    REQUIRE(bytes <= size && td_thresholds_parse(again, bytes, values, problem));
}

static size_t origin(char *text)
{
    uint64_t values[TD_THRESHOLDS];
    td_thresholds_standard(values);
    td_thresholds_print(values, text);
    return (size_t)(strstr(text, td_threshold_lines[0].name) - text);
}

static uint64_t sum_of(const char *text, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char first[TD_THRESHOLD_FILE_BYTES];
    const size_t begin = origin(first);
    char *text = malloc(begin + size + 32);
    REQUIRE(text);
    memcpy(text, first, begin);
    if (size)
        memcpy(text + begin, data, size);
    try_file(text + begin, size);
    size_t bytes = begin + size;
    bytes += (size_t)sprintf(text + bytes, "sum %016llx\n", (unsigned long long)sum_of(text, bytes));
    try_file(text, bytes);
    free(text);
    return 0;
}
