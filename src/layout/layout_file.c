/* Layout files: named layouts in one text file, so that testbench and golden model share one specification. Behind
 * td_layout_open and td_layout_names; the grammar is in tensordoor.h. The whole file must follow the grammar before
 * any layout is made; the clauses themselves are checked only for the layout that is opened. */
#include "base/pages.h"
#include "base/suggest.h"
#include "base/text.h"
#include "layout/layout.h"
#include "values/as.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 24)
#define WORD_BYTES 64

typedef enum clause { PATTERN, OPTIONS, ADDRESS, AS, PRESET, CLAUSES } clause;

static const char *const clause_name[CLAUSES] = {"pattern", "options", "address", "as", "preset"};

typedef struct entry {
    char name[WORD_BYTES];
    size_t line;
    char *text[CLAUSES]; /* NULL: not there */
    size_t clause_line[CLAUSES];
} entry;

typedef struct reader {
    char *text; /* the file, comments and line ends made blank, zero at the end */
    size_t size;
    size_t *line_start; /* offsets, and one past the end */
    size_t line_count;
    entry *entry;
    size_t entry_count;
    size_t line; /* of the last failure; 0: the file as a whole */
} reader;

static size_t line_at(const reader *r, size_t offset)
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

/* Reads the bytes, finds the lines, blanks the comments. */
static td_status take_text(reader *r, const td_file_map *file)
{
    if (file->size > MAX_FILE_BYTES)
        return td_fail(TD_FORMAT, "a layout file of %zu bytes; keep it below %zu", file->size, MAX_FILE_BYTES);
    r->size = file->size;
    r->text = malloc(file->size + 1);
    r->line_start = malloc((file->size + 2) * sizeof *r->line_start);
    if (!r->text || !r->line_start)
        return td_fail_alloc(file->size * (1 + sizeof *r->line_start));
    bool comment = false;
    r->line_start[r->line_count++] = 0;
    for (size_t i = 0; i < file->size; i++) {
        const char c = (char)file->bytes[i];
        if (c == '\0') {
            r->line = r->line_count;
            return td_fail(TD_FORMAT, "a zero byte; layout files are text");
        }
        comment = c != '\n' && (comment || c == '#');
        r->text[i] = c;
        if (comment || is_blank(c))
            r->text[i] = ' ';
        if (c == '\n')
            r->line_start[r->line_count++] = i + 1;
    }
    r->text[file->size] = '\0';
    return TD_OK;
}

/* "name:" at the start of a line begins an entry. Returns the offset behind the colon, or 0. */
static size_t head_at(const reader *r, size_t at, size_t end, size_t *name, size_t *length)
{
    while (at < end && r->text[at] == ' ')
        at++;
    *name = at;
    while (at < end && td_is_name_char(r->text[at]))
        at++;
    *length = at - *name;
    while (at < end && r->text[at] == ' ')
        at++;
    const bool preset = *length == 6 && memcmp(r->text + *name, "preset", 6) == 0;
    return *length && at < end && r->text[at] == ':' && !preset ? at + 1 : 0;
}

static int find_clause(const char *word, size_t length)
{
    for (int i = 0; i < CLAUSES; i++)
        if (strlen(clause_name[i]) == length && memcmp(clause_name[i], word, length) == 0)
            return i;
    return -1;
}

static td_status fail_clause(const char *segment, size_t length)
{
    const char *space = memchr(segment, ' ', length);
    char *word = strndup(segment, space ? (size_t)(space - segment) : length);
    if (!word)
        return td_fail_alloc(length + 1);
    const char *nearest = td_suggest(word, clause_name, CLAUSES);
    if (nearest)
        td_fail(TD_FORMAT, "\"%s\" begins no clause; did you mean %s?", word, nearest);
    else
        td_fail(TD_FORMAT, "\"%s\" begins no clause; write pattern, options, address, as or preset", word);
    free(word);
    return TD_FORMAT;
}

static td_status add_text(char **text, const char *part, size_t length)
{
    const size_t had = *text ? strlen(*text) : 0;
    char *grown = realloc(*text, had + length + 3);
    if (!grown)
        return td_fail_alloc(had + length + 3);
    if (had)
        memcpy(grown + had, "; ", 2);
    memcpy(grown + had + (had ? 2 : 0), part, length);
    grown[had + (had ? 2 : 0) + length] = '\0';
    *text = grown;
    return TD_OK;
}

/* One segment between semicolons. The second half of an address ("; addr = ...") is no clause of its own and
 * continues the first. */
static td_status read_segment(reader *r, entry *e, size_t first, size_t end, int *last)
{
    while (first < end && r->text[first] == ' ')
        first++;
    while (end > first && r->text[end - 1] == ' ')
        end--;
    if (first == end)
        return TD_OK;
    size_t word = 0;
    while (first + word < end && td_is_name_char(r->text[first + word]))
        word++;
    r->line = line_at(r, first);
    const bool separate = first + word == end || r->text[first + word] == ' ';
    const int which = separate ? find_clause(r->text + first, word) : -1;
    if (which < 0 && *last == ADDRESS)
        return add_text(&e->text[ADDRESS], r->text + first, end - first);
    if (which < 0)
        return fail_clause(r->text + first, end - first);
    if (e->text[which])
        return td_fail(TD_FORMAT, "%s stands twice in layout %s; give it once", clause_name[which], e->name);
    e->clause_line[which] = r->line;
    *last = which;
    first += word;
    while (first < end && r->text[first] == ' ')
        first++;
    return add_text(&e->text[which], r->text + first, end - first);
}

static td_status read_entry(reader *r, entry *e, size_t first, size_t end)
{
    int last = -1;
    for (size_t at = first; at <= end;) {
        size_t stop = at;
        while (stop < end && r->text[stop] != ';')
            stop++;
        td_status status = read_segment(r, e, at, stop, &last);
        if (status)
            return status;
        at = stop + 1;
    }
    r->line = e->line;
    if (!e->text[PATTERN] && !e->text[PRESET])
        return td_fail(TD_FORMAT, "layout %s has no pattern; write pattern ...; or preset ...;", e->name);
    if (e->text[PATTERN] && e->text[PRESET])
        return td_fail(TD_FORMAT, "layout %s has a pattern and a preset; keep one", e->name);
    return TD_OK;
}

static td_status add_entry(reader *r, size_t name, size_t length)
{
    entry *grown = realloc(r->entry, (r->entry_count + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((r->entry_count + 1) * sizeof *grown);
    r->entry = grown;
    entry *e = &r->entry[r->entry_count];
    *e = (entry){.line = line_at(r, name)};
    r->line = e->line;
    if (length >= WORD_BYTES)
        return td_fail(TD_FORMAT, "the name \"%.40s...\" is longer than %d characters; shorten it", r->text + name,
                       WORD_BYTES - 1);
    memcpy(e->name, r->text + name, length);
    for (size_t i = 0; i < r->entry_count; i++)
        if (strcmp(r->entry[i].name, e->name) == 0)
            return td_fail(TD_FORMAT, "layout %s stands twice, first in line %zu; rename one", e->name,
                           r->entry[i].line);
    r->entry_count++;
    return TD_OK;
}

static td_status read_entries(reader *r)
{
    size_t body = 0; /* of the entry being read; 0: none yet */
    for (size_t l = 0; l < r->line_count; l++) {
        size_t name = 0, length = 0;
        const size_t start = r->line_start[l], end = l + 1 < r->line_count ? r->line_start[l + 1] : r->size;
        const size_t behind = head_at(r, start, end, &name, &length);
        td_status status = TD_OK;
        if (!behind) {
            if (!body && name < end) {
                r->line = l + 1;
                return td_fail(TD_FORMAT,
                               "text before the first layout; begin with NAME:, as in weights: pattern r c -> r c");
            }
            continue;
        }
        if (body)
            status = read_entry(r, &r->entry[r->entry_count - 1], body, start);
        if (!status)
            status = add_entry(r, name, length);
        if (status)
            return status;
        body = behind;
    }
    if (!body) {
        r->line = 0;
        return td_fail(TD_FORMAT, "no layout in the file; write NAME: pattern ...;");
    }
    return read_entry(r, &r->entry[r->entry_count - 1], body, r->size);
}

/* -- from an entry to a layout -- */

static td_status find_entry(reader *r, const char *name, entry **out)
{
    const char **known = malloc(r->entry_count * sizeof *known);
    if (!known)
        return td_fail_alloc(r->entry_count * sizeof *known);
    *out = NULL;
    for (size_t i = 0; i < r->entry_count; i++) {
        known[i] = r->entry[i].name;
        if (strcmp(known[i], name) == 0)
            *out = &r->entry[i];
    }
    const char *nearest = td_suggest(name, known, r->entry_count);
    r->line = 0;
    td_status status = TD_OK;
    if (!*out && nearest)
        status = td_fail(TD_FORMAT, "no layout %s; did you mean %s?", name, nearest);
    else if (!*out)
        status =
            td_fail(TD_FORMAT, "no layout %s among its %zu; the first is %s", name, r->entry_count, r->entry[0].name);
    free(known);
    return status;
}

static td_status make(reader *r, entry *e, td_layout **out)
{
    char *pattern = e->text[PATTERN];
    td_status status = TD_OK;
    if (!pattern) {
        td_text preset = {0};
        td_text_add(&preset, "preset:%s", e->text[PRESET]);
        if (preset.failed)
            return td_fail_alloc(strlen(e->text[PRESET]) + 8);
        free(e->text[PRESET]);
        pattern = e->text[PRESET] = preset.text;
    }
    td_layout *layout = NULL;
    const clause faulty[] = {
        [TD_PATTERN] = e->text[PATTERN] ? PATTERN : PRESET, [TD_OPTION] = OPTIONS, [TD_ADDRESS] = ADDRESS};
    status = td_layout_make(pattern, e->text[OPTIONS] ? e->text[OPTIONS] : "", e->text[ADDRESS] ? e->text[ADDRESS] : "",
                            &layout);
    r->line = e->line;
    if (status == TD_PATTERN || status == TD_OPTION || status == TD_ADDRESS)
        r->line = e->clause_line[faulty[status]] ? e->clause_line[faulty[status]] : e->line;
    if (!status && e->text[AS] && *e->text[AS]) {
        /* Parsed here so that a mistake is reported with its line; what depends on the tensor is checked when the
         * layout is used. */
        td_as as;
        td_dtype any = {0};
        r->line = e->clause_line[AS];
        status = td_dtype_parse("f32", &any);
        if (!status)
            status = td_as_parse(e->text[AS], any, &as);
        layout->as_text = e->text[AS];
        e->text[AS] = NULL;
    }
    if (status)
        td_layout_destroy(&layout);
    else
        *out = layout;
    return status;
}

static td_status read_file(const char *path, reader *r)
{
    td_file_map file;
    td_status status = td_file_copy_open(path, &file);
    if (status)
        return status;
    status = take_text(r, &file);
    td_file_unmap(&file);
    return status ? status : read_entries(r);
}

static void free_reader(reader *r)
{
    for (size_t i = 0; i < r->entry_count; i++)
        for (int c = 0; c < CLAUSES; c++)
            free(r->entry[i].text[c]);
    free(r->entry);
    free(r->line_start);
    free(r->text);
}

static td_status finish(const char *call, const char *path, reader *r, td_status status)
{
    if (status && r->line)
        td_fail_prefix("%s \"%s\", line %zu: ", call, path, r->line);
    else if (status)
        td_fail_prefix("%s \"%s\": ", call, path);
    free_reader(r);
    return status;
}

td_status td_layout_open(const char *path, const char *name, td_layout **out)
{
    if (!path || !name || !out)
        return td_fail(TD_ARGUMENT, "layout_open: the %s is NULL; pass one",
                       !path   ? "path"
                       : !name ? "name"
                               : "output");
    reader r = {0};
    entry *e = NULL;
    td_status status = read_file(path, &r);
    if (!status)
        status = find_entry(&r, name, &e);
    if (!status)
        status = make(&r, e, out);
    return finish("layout_open", path, &r, status);
}

td_status td_layout_names(const char *path, char **names)
{
    if (!path || !names)
        return td_fail(TD_ARGUMENT, "layout_names: the %s is NULL; pass one", !path ? "path" : "output");
    reader r = {0};
    td_text text = {0};
    td_status status = read_file(path, &r);
    for (size_t i = 0; i < r.entry_count && !status; i++)
        td_text_add(&text, "%s%s", i ? "\n" : "", r.entry[i].name);
    if (!status && text.failed)
        status = td_fail_alloc(text.used);
    if (status)
        free(text.text);
    else
        *names = text.text;
    return finish("layout_names", path, &r, status);
}
