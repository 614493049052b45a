/* See clauses.h. Comments and line ends become blanks, then entries are found by their heads and cut at semicolons. It
 * refuses text that is no clause. */
#include "layout/clauses.h"

#include "base/suggest.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 24)

static size_t line_at(const td_clause_file *r, size_t offset)
{
    size_t low = 0, high = r->line_count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (r->line_start[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies the bytes, finds the lines, blanks the comments. */
static td_status take_text(td_clause_file *r, const unsigned char *bytes, size_t size)
{
    const char *kind = r->grammar->file;
    if (size > MAX_FILE_BYTES)
        return td_fail(TD_FORMAT, "a %s file of %zu bytes; keep it below %zu", kind, size, MAX_FILE_BYTES);
    r->size = size;
    r->text = malloc(size + 1);
    r->line_start = malloc((size + 2) * sizeof *r->line_start);
    if (!r->text || !r->line_start)
        return td_fail_alloc(size * (1 + sizeof *r->line_start));
    bool comment = false;
    r->line_start[r->line_count++] = 0;
    for (size_t i = 0; i < size; i++) {
        const char c = (char)bytes[i];
        if (c == '\0') {
            r->line = r->line_count;
            return td_fail(TD_FORMAT, "a zero byte; %s files are text", kind);
        }
        comment = c != '\n' && (comment || c == '#');
        r->text[i] = c;
        if (comment || is_blank(c))
            r->text[i] = ' ';
        if (c == '\n')
            r->line_start[r->line_count++] = i + 1;
    }
    r->text[size] = '\0';
    return TD_OK;
}

/* Which of the words this is, or -1. */
static int find_word(const char *const *words, const char *word, size_t length)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return i;
    return -1;
}

/* "name:" at the start of a line begins an entry. Returns the offset behind the colon, or 0. */
static size_t head_at(const td_clause_file *r, size_t at, size_t end, size_t *name, size_t *length)
{
    while (at < end && r->text[at] == ' ')
        at++;
    *name = at;
    while (at < end && td_is_name_char(r->text[at]))
        at++;
    *length = at - *name;
    while (at < end && r->text[at] == ' ')
        at++;
    const bool reserved = find_word(r->grammar->no_name, r->text + *name, *length) >= 0;
    return *length && at < end && r->text[at] == ':' && !reserved ? at + 1 : 0;
}

td_status td_clauses_fail(const td_clause_file *file, size_t first, size_t end)
{
    const td_clause_grammar *grammar = file->grammar;
    const char *segment = file->text + first;
    const size_t length = end - first;
    const char *space = memchr(segment, ' ', length);
    size_t count = 0;
    while (grammar->clause[count])
        count++;
    char *word = strndup(segment, space ? (size_t)(space - segment) : length);
    if (!word)
        return td_fail_alloc(length + 1);
    const char *nearest = td_suggest(word, grammar->clause, count);
    if (nearest)
        td_fail(TD_FORMAT, "\"%s\" begins no clause; did you mean %s?", word, nearest);
    else
        td_fail(TD_FORMAT, "\"%s\" begins no clause; write %s", word, grammar->clause_list);
    free(word);
    return TD_FORMAT;
}

td_status td_clauses_add(const td_clause_file *file, size_t first, size_t end, char **text)
{
    const size_t had = *text ? strlen(*text) : 0, length = end - first;
    char *grown = realloc(*text, had + length + 3);
    if (!grown)
        return td_fail_alloc(had + length + 3);
    if (had)
        memcpy(grown + had, "; ", 2);
    memcpy(grown + had + (had ? 2 : 0), file->text + first, length);
    grown[had + (had ? 2 : 0) + length] = '\0';
    *text = grown;
    return TD_OK;
}

int td_clauses_find(td_clause_file *file, size_t first, size_t end, size_t *length)
{
    size_t word = 0;
    while (first + word < end && td_is_name_char(file->text[first + word]))
        word++;
    file->line = line_at(file, first);
    *length = word;
    const bool separate = first + word == end || file->text[first + word] == ' ';
    return separate ? find_word(file->grammar->clause, file->text + first, word) : -1;
}

/* The segments between semicolons. */
static td_status read_entry(td_clause_file *r, size_t first, size_t end)
{
    for (size_t at = first; at <= end;) {
        size_t stop = at, behind = 0;
        while (stop < end && r->text[stop] != ';')
            stop++;
        behind = stop + 1;
        while (at < stop && r->text[at] == ' ')
            at++;
        while (stop > at && r->text[stop - 1] == ' ')
            stop--;
        const td_status status = at < stop ? r->grammar->segment(r, at, stop) : TD_OK;
        if (status)
            return status;
        at = behind;
    }
    return r->grammar->end(r);
}

static td_status add_entry(td_clause_file *r, size_t name, size_t length)
{
    td_clause_entry *grown = realloc(r->entry, (r->entry_count + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((r->entry_count + 1) * sizeof *grown);
    r->entry = grown;
    td_clause_entry *e = &r->entry[r->entry_count];
    *e = (td_clause_entry){.line = line_at(r, name)};
    r->line = e->line;
    if (length >= TD_CLAUSE_NAME_BYTES)
        return td_fail(TD_FORMAT, "the name \"%.40s...\" is longer than %d characters; shorten it", r->text + name,
                       TD_CLAUSE_NAME_BYTES - 1);
    memcpy(e->name, r->text + name, length);
    for (size_t i = 0; i < r->entry_count; i++)
        if (strcmp(r->entry[i].name, e->name) == 0)
            return td_fail(TD_FORMAT, "%s %s stands twice, first in line %zu; rename one", r->grammar->noun, e->name,
                           r->entry[i].line);
    r->entry_count++;
    return r->grammar->begin(r);
}

static td_status read_entries(td_clause_file *r)
{
    const td_clause_grammar *grammar = r->grammar;
    size_t body = 0; /* of the entry being read; 0: none yet */
    for (size_t l = 0; l < r->line_count; l++) {
        size_t name = 0, length = 0;
        const size_t start = r->line_start[l], end = l + 1 < r->line_count ? r->line_start[l + 1] : r->size;
        const size_t behind = head_at(r, start, end, &name, &length);
        td_status status = TD_OK;
        if (!behind) {
            if (!body && name < end) {
                r->line = l + 1;
                return td_fail(TD_FORMAT, "text before the first %s; begin with NAME:, as in %s", grammar->noun,
                               grammar->example);
            }
            continue;
        }
        if (body)
            status = read_entry(r, body, start);
        if (!status)
            status = add_entry(r, name, length);
        if (status)
            return status;
        body = behind;
    }
    if (!body) {
        r->line = 0;
        return td_fail(TD_FORMAT, "no %s in the file; write NAME: %s", grammar->noun, grammar->shortest);
    }
    return read_entry(r, body, r->size);
}

td_status td_clauses_read(const td_clause_grammar *grammar, void *context, const unsigned char *bytes, size_t size,
                          td_clause_file *out)
{
    *out = (td_clause_file){.grammar = grammar, .context = context};
    const td_status status = take_text(out, bytes, size);
    return status ? status : read_entries(out);
}

void td_clauses_free(td_clause_file *file)
{
    free(file->entry);
    free(file->line_start);
    free(file->text);
    *file = (td_clause_file){0};
}
