/* See suggest.h. Words longer than WORD_MAX letters get no suggestion, so that no table is needed on the heap. */
#include "base/suggest.h"

#include <string.h>

#define WORD_MAX 31

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Optimal string alignment over words of at most WORD_MAX letters. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t d[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= a_len; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= b_len; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        for (size_t j = 1; j <= b_len; j++) {
            size_t edits = min2(d[i - 1][j], d[i][j - 1]) + 1;
            edits = min2(edits, d[i - 1][j - 1] + (lower(a[i - 1]) != lower(b[j - 1])));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                edits = min2(edits, d[i - 2][j - 2] + 1);
            d[i][j] = edits;
        }
    }
    return d[a_len][b_len];
}

const char *td_suggest(const char *word, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t best_edits = 0;
    const size_t length = strlen(word);
    if (length > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t known_length = strlen(known[i]);
        if (known_length > WORD_MAX)
            continue;
        const size_t edits = distance(word, length, known[i], known_length);
        const size_t longer = length > known_length ? length : known_length;
        if (2 * edits <= longer && (!best || edits < best_edits)) {
            best = known[i];
            best_edits = edits;
        }
    }
    return best;
}
