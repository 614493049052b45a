/* Finds how a table moves words within lines (kernels/gather.h: td_lines): an XOR of an index, a remainder by a few
 * banks, a rotation leave the words of a line together, in one piece or a few, so that kernels move lines instead of
 * words. Nothing is asked of the expression: each line of entries is held against the patterns of those before. Called
 * by compile.c once the words are checked, for processors that have such kernels. Refuses nothing: where too few lines
 * are in order, the entries remain all there is. */
#include "base/cpu.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PATTERNS 96
#define LOOKED_AT 32 /* lines that tell whether the rest is worth a look */
#define SORTS 32     /* lines of no known pattern that are looked into, beside one in 64 */

/* What moving a line costs: itself, each of its pieces; and a word by its entry. */
#define LINE_COST 1
#define PIECE_COST 4
#define LEAST_WORDS 8 /* of a line: fewer go as fast by their entries */
#define WORD_COST 1

typedef struct search {
    const td_table *table;
    size_t words, word_bytes, pieces; /* of a line; pieces: room of each */
    size_t count, patterns, sorts;
    uint64_t cost;
    uint8_t *line;
    uint64_t *entry;
    uint8_t latest; /* the pattern of the line before */
    td_line_pattern pattern[MOST_PATTERNS];
    uint8_t piece_of[MOST_PATTERNS][TD_LINE], offset[MOST_PATTERNS][TD_LINE]; /* of each word */
    uint8_t begins[MOST_PATTERNS][TD_LINE_PIECES];                            /* the word that a piece begins with */
} search;

static void get_entries(const search *s, size_t line, uint64_t *e)
{
    for (size_t i = 0; i < s->words; i++)
        e[i] = td_table_get(s->table, line * s->words + i);
}

/* Whether these entries are those of the pattern, wherever its pieces begin. Where banks are as deep as their numbers
 * go, the entry behind the last word of a bank is the first of the next one: that is another piece. */
static bool fits(const search *s, size_t p, const uint64_t *e)
{
    uint64_t differs = 0;
    for (size_t i = 0; i < s->words; i++) {
        const uint64_t begin = e[s->begins[p][s->piece_of[p][i]]];
        differs |= (e[i] ^ (begin + s->offset[p][i])) | (e[i] ^ begin) >> s->table->bank_shift;
    }
    return differs == 0;
}

/* Entries in their order, with the numbers of their words. */
typedef struct sorted {
    uint64_t entry;
    uint8_t word;
} sorted;

static int by_entry(const void *a, const void *b)
{
    const sorted *x = a, *y = b;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Pieces in the order of their lowest words, so that a rotation has the pattern of any other with that cut. False where
 * there are too many. */
static bool make_pattern(search *s, const uint64_t *e)
{
    sorted at[TD_LINE] = {{0}};
    uint8_t start[TD_LINE_PIECES + 1], order[TD_LINE_PIECES], lowest[TD_LINE_PIECES] = {0};
    const size_t p = s->patterns;
    td_line_pattern *made = &s->pattern[p];
    size_t pieces = 0;
    for (size_t i = 0; i < s->words; i++)
        at[i] = (sorted){e[i], (uint8_t)i};
    qsort(at, s->words, sizeof *at, by_entry);
    for (size_t i = 0; i < s->words; i++) {
        const bool first = i == 0 || at[i].entry != at[i - 1].entry + 1 ||
                           at[i].entry >> s->table->bank_shift != at[i - 1].entry >> s->table->bank_shift;
        if (first && pieces == s->pieces)
            return false;
        if (first) {
            start[pieces] = (uint8_t)i;
            lowest[pieces++] = at[i].word;
        }
        lowest[pieces - 1] = at[i].word < lowest[pieces - 1] ? at[i].word : lowest[pieces - 1];
    }
    start[pieces] = (uint8_t)s->words;
    for (size_t i = 0; i < pieces; i++) {
        size_t k = i;
        for (; k > 0 && lowest[order[k - 1]] > lowest[i]; k--)
            order[k] = order[k - 1];
        order[k] = (uint8_t)i;
    }
    memset(made, 0, sizeof *made);
    made->pieces = (uint8_t)pieces;
    size_t to = 0; /* word of the pieces, one after another */
    for (size_t k = 0; k < pieces; k++) {
        const size_t begin = start[order[k]], end = start[order[k] + 1u];
        made->first[k] = (uint8_t)to;
        s->begins[p][k] = at[begin].word;
        for (size_t i = begin; i < end; i++, to++) {
            const size_t from = at[i].word;
            s->piece_of[p][from] = (uint8_t)k;
            s->offset[p][from] = (uint8_t)(i - begin);
            for (size_t b = 0; b < s->word_bytes; b++) {
                made->put[to * s->word_bytes + b] = (uint8_t)(from * s->word_bytes + b);
                made->take[from * s->word_bytes + b] = (uint8_t)(to * s->word_bytes + b);
                made->mask[k] |= (uint64_t)1 << (to * s->word_bytes + b);
            }
        }
    }
    s->patterns++;
    return true;
}

/* The pattern of a line, a new one where none fits; or TD_NO_LINE. */
static uint8_t find_pattern(search *s, const uint64_t *e)
{
    if (s->patterns && fits(s, s->latest, e))
        return s->latest;
    for (size_t p = 0; p < s->patterns; p++)
        if (fits(s, p, e))
            return (uint8_t)p;
    if (s->patterns == MOST_PATTERNS || s->sorts++ > SORTS + s->count / 64 || !make_pattern(s, e))
        return TD_NO_LINE;
    return (uint8_t)(s->patterns - 1);
}

/* Entries that no box reaches mean nothing, and a line that has one may be told to be in order: nobody goes by it, as
 * runs end before such an entry. */
static void look_at(search *s, size_t line)
{
    uint64_t e[TD_LINE];
    get_entries(s, line, e);
    const uint8_t p = find_pattern(s, e);
    s->line[line] = p;
    if (p == TD_NO_LINE) {
        s->cost += WORD_COST * s->words;
        return;
    }
    s->latest = p;
    s->cost += LINE_COST + PIECE_COST * (uint64_t)s->pattern[p].pieces;
    for (size_t k = 0; k < s->pattern[p].pieces; k++)
        s->entry[line * s->pieces + k] = e[s->begins[p][k]];
}

/* Some lines from all over the table: whether most of them are in order. */
static bool is_worth(search *s)
{
    const size_t step = s->count / LOOKED_AT + 1;
    size_t looked = 0;
    for (size_t line = 0; line < s->count; line += step, looked++)
        look_at(s, line);
    const bool worth = s->cost < 3 * WORD_COST * s->words * looked / 4;
    s->cost = 0;
    return worth;
}

/* One block, which free takes. */
static td_lines *keep(const search *s)
{
    size_t pieces = 1;
    for (size_t p = 0; p < s->patterns; p++)
        pieces = s->pattern[p].pieces > pieces ? s->pattern[p].pieces : pieces;
    const size_t entries = s->count * pieces * sizeof *s->entry, patterns = s->patterns * sizeof *s->pattern;
    td_lines *out = malloc(sizeof *out + entries + patterns + s->count);
    if (!out)
        return NULL;
    uint64_t *entry = (uint64_t *)(out + 1);
    td_line_pattern *pattern = (td_line_pattern *)(entry + s->count * pieces);
    uint8_t *line = (uint8_t *)(pattern + s->patterns);
    for (size_t line_at = 0; line_at < s->count; line_at++)
        memcpy(entry + line_at * pieces, s->entry + line_at * s->pieces, pieces * sizeof *entry);
    memcpy(pattern, s->pattern, patterns);
    memcpy(line, s->line, s->count);
    *out = (td_lines){.word_bytes = s->word_bytes,
                      .count = s->count,
                      .pieces = pieces,
                      .pattern = line,
                      .entry = entry,
                      .patterns = pattern};
    return out;
}

td_status td_table_find_lines(td_plan *plan)
{
    const size_t bytes = plan->geometry.word_bytes, words = bytes <= TD_LINE ? TD_LINE / bytes : 0;
    if (!plan->table.entry || plan->table.lines || !(td_cpu_flags() & TD_CPU_VBMI) || words < LEAST_WORDS ||
        TD_LINE % bytes || plan->table.count < words)
        return TD_OK;
    search *s = calloc(1, sizeof *s);
    if (!s)
        return td_fail_alloc(sizeof *s);
    s->table = &plan->table;
    s->words = words;
    s->word_bytes = bytes;
    s->count = plan->table.count / words;
    s->pieces = words >= 16 ? words / 8 : 1;
    s->line = malloc(s->count);
    s->entry = malloc(s->count * s->pieces * sizeof *s->entry);
    td_status status = TD_OK;
    if (!s->line || !s->entry)
        status = td_fail_alloc(s->count * (1 + s->pieces * sizeof *s->entry));
    else if (is_worth(s)) {
        for (size_t line = 0; line < s->count; line++)
            look_at(s, line);
        if (s->cost < 3 * WORD_COST * s->words * s->count / 4)
            plan->table.lines = keep(s); /* without it, the same by entries */
    }
    free(s->line);
    free(s->entry);
    free(s);
    return status;
}
