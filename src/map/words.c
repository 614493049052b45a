/* What the clauses of a map file are made of: numbers, geometries, lists of names. build.c reads clauses with it. It
 * refuses what does not read, with a caret under the place. */
#include "map/map.h"

#include "base/text.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void skip_space(td_map_reader *r)
{
    r->at += strspn(r->at, " ");
}

/* Appends the clause with a caret under the place where the reader stands. */
static td_status show(const td_map_reader *r)
{
    td_fail_append("\n    %s %s\n    %*s^", r->clause, r->text,
                   (int)(strlen(r->clause) + 1 + (size_t)(r->at - r->text)), "");
    return TD_FORMAT;
}

td_map_reader td_map_read_clause(const td_map_source *entry, td_map_clause clause)
{
    return (td_map_reader){entry->name, td_map_clause_word[clause], entry->text[clause], entry->text[clause]};
}

td_status td_map_read_number(td_map_reader *r, const char *what, uint64_t *out)
{
    skip_space(r);
    const char *start = r->at;
    uint64_t value = 0;
    if (!td_text_number(&r->at, &value) || (td_is_name_char(*r->at) && *r->at != 'x')) {
        r->at = start;
        td_fail(TD_FORMAT, "\"%s %s\" of %s has no %s; write a whole number, decimal or 0x, below 2^63", r->clause,
                r->text, r->node, what);
        return show(r);
    }
    *out = value;
    return TD_OK;
}

td_status td_map_read_geometry(td_map_reader *r, uint64_t *depth_words, uint64_t *width_bits)
{
    uint64_t depth = 0, width = 0;
    td_status status = td_map_read_number(r, "number of words", &depth);
    if (status)
        return status;
    skip_space(r);
    if (*r->at != 'x') {
        td_fail(TD_FORMAT, "\"%s %s\" of %s has no x behind the number of words; write WORDS x BITS, as 4096 x 32",
                r->clause, r->text, r->node);
        return show(r);
    }
    r->at++;
    status = td_map_read_number(r, "number of bits", &width);
    if (!status)
        status = td_memory_check_geometry(width, depth);
    if (status)
        return status;
    *depth_words = depth;
    *width_bits = width;
    return TD_OK;
}

td_status td_map_read_end(td_map_reader *r, const char *what)
{
    skip_space(r);
    if (!*r->at)
        return TD_OK;
    td_fail(TD_FORMAT, "\"%s %s\" of %s goes on behind %s; end it with a semicolon", r->clause, r->text, r->node, what);
    return show(r);
}

/* -- names -- */

/* "[A..B]" or "{A..B}" at `at`: its end, or NULL where there is none. */
static const char *range_at(const char *at, uint64_t *from, uint64_t *to)
{
    const char close = *at == '[' ? ']' : '}';
    if (*at != '[' && *at != '{')
        return NULL;
    at++;
    if (!td_text_number(&at, from) || strncmp(at, "..", 2) != 0)
        return NULL;
    at += 2;
    return td_text_number(&at, to) && *at == close ? at + 1 : NULL;
}

/* How many names the word [at, end) stands for; 0 where they are too many. */
static uint64_t name_count(const char *at, const char *end)
{
    uint64_t count = 1;
    for (uint64_t from = 0, to = 0; at < end; at++)
        if (range_at(at, &from, &to)) {
            const uint64_t steps = (from < to ? to - from : from - to);
            if (steps >= TD_MAX_BANKS || (count *= steps + 1) > TD_MAX_BANKS)
                return 0;
        }
    return count;
}

/* Name `number` of the `count` that a word stands for. */
static void add_name(td_text *out, const char *at, const char *end, uint64_t number, uint64_t count)
{
    while (at < end) {
        uint64_t from = 0, to = 0;
        const char *behind = range_at(at, &from, &to);
        if (!behind) {
            td_text_add(out, "%c", *at++);
            continue;
        }
        const uint64_t steps = (from < to ? to - from : from - to) + 1;
        count /= steps;
        const uint64_t step = number / count;
        number %= count;
        td_text_add(out, *at == '[' ? "[%" PRIu64 "]" : "%" PRIu64, from < to ? from + step : from - step);
        at = behind;
    }
}

/* The names as text with blanks between them become a list in one allocation, the strings behind the pointers. */
static td_status cut_names(const td_text *text, size_t count, char ***names)
{
    char **list = malloc(count * sizeof *list + text->used + 1);
    if (!list || text->failed) {
        free(list);
        return td_fail_alloc(count * sizeof *list + text->used + 1);
    }
    char *at = memcpy(list + count, text->text, text->used + 1);
    for (size_t i = 0; i < count; i++) {
        list[i] = at;
        at += strcspn(at, " ");
        *at++ = '\0';
    }
    *names = list;
    return TD_OK;
}

td_status td_map_read_names(td_map_reader *r, char ***names, size_t *count)
{
    td_text text = {0};
    uint64_t all = 0;
    for (skip_space(r); *r->at; skip_space(r)) {
        const char *end = r->at + strcspn(r->at, " ");
        const uint64_t here = name_count(r->at, end);
        if (here == 0 || all + here > TD_MAX_BANKS) {
            free(text.text);
            td_fail(TD_FORMAT, "\"%s\" of %s names more than %" PRIu64 " arrays; use shorter ranges", r->clause,
                    r->node, TD_MAX_BANKS);
            return show(r);
        }
        for (uint64_t i = 0; i < here; i++) {
            add_name(&text, r->at, end, i, here);
            td_text_add(&text, " ");
        }
        all += here;
        r->at = end;
    }
    td_status status = TD_OK;
    if (!all) {
        td_fail(TD_FORMAT, "\"%s %s\" of %s names nothing; write names with blanks between them, as bank[0..3]",
                r->clause, r->text, r->node);
        status = show(r);
    }
    if (!status)
        status = cut_names(&text, (size_t)all, names);
    if (!status)
        *count = (size_t)all;
    free(text.text);
    return status;
}
