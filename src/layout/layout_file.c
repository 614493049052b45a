/* Layout files: named layouts in one text file, so that testbench and golden model share one specification. Behind
 * td_layout_open, td_parts_layout_open and td_layout_names; the grammar is in tensordoor.h. The whole file must follow
 * the grammar before any layout is made; the clauses themselves are checked only for the layout that is opened. */
#include "layout/layout_file.h"

#include "base/pages.h"
#include "base/profile.h"
#include "base/suggest.h"
#include "base/text.h"
#include "layout/clauses.h"
#include "layout/parts_layout.h"
#include "tensor/tensor.h"
#include "values/as.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES TD_PLACE_NAME_BYTES

_Static_assert(WORD_BYTES >= TD_CLAUSE_NAME_BYTES, "the name of an entry fits");

/* `part` begins the clauses of a part, so that a section has none of its own. */
typedef enum clause { PATTERN, OPTIONS, ADDRESS, AS, PRESET, MEMORY, SHAPE, TENSORS, PART, CLAUSES } clause;

static const char *const clause_name[CLAUSES + 1] = {"pattern", "options", "address", "as",   "preset",
                                                     "memory",  "shape",   "tensors", "part", NULL};
static const char *const no_name[] = {"preset", NULL};

/* The clauses of one layout. */
typedef struct section {
    char part[WORD_BYTES]; /* "" in the first */
    size_t line;
    char *text[CLAUSES]; /* NULL: not there */
    size_t clause_line[CLAUSES];
} section;

typedef struct entry {
    char name[WORD_BYTES];
    size_t line;
    size_t sections; /* with more than one it is a layout of parts */
    section section[TD_MOST_PLACES];
} entry;

typedef struct reader {
    td_clause_file file;
    entry *entry; /* as many as the file has */
    size_t entry_count;
    int last; /* the clause before */
} reader;

/* The name that begins a clause, into `name`; gives the offset behind it. */
static td_status read_name(reader *r, const char *what, size_t first, size_t end, char *name, size_t *behind)
{
    size_t length = 0;
    while (first + length < end && r->file.text[first + length] != ' ')
        length++;
    if (!length)
        return td_fail(TD_FORMAT, "%s without a name; write %s NAME", what, what);
    if (length >= WORD_BYTES)
        return td_fail(TD_FORMAT, "the name \"%.40s...\" is longer than %d characters; shorten it",
                       r->file.text + first, WORD_BYTES - 1);
    memcpy(name, r->file.text + first, length);
    name[length] = '\0';
    *behind = first + length;
    return TD_OK;
}

/* An entry of tensors is no layout: it has a file and what they are, and nothing else. */
static td_status end_tensors(const entry *e, const section *s)
{
    if (e->sections > 1)
        return td_fail(TD_FORMAT, "tensors in part %s; an entry of tensors has no parts, so give it a name of its own",
                       s->part);
    for (int i = 0; i < CLAUSES; i++)
        if (s->text[i] && i != TENSORS && i != AS)
            return td_fail(TD_FORMAT, "%s beside tensors in %s; an entry of tensors is no layout, so make it two",
                           clause_name[i], e->name);
    if (!s->text[AS])
        return td_fail(TD_FORMAT, "%s says of which file its tensors are, and not what; write as gptq from qweight=...",
                       e->name);
    return TD_OK;
}

static td_status fail_tensors(const entry *e)
{
    return td_fail(TD_FORMAT, "%s is no layout, it names tensors; open it with parts_open \"layout:FILE:%s\"", e->name,
                   e->name);
}

/* What the layouts of parts have to have: `last` is the last section. */
static td_status end_section(reader *r, const entry *e)
{
    const section *s = &e->section[e->sections - 1];
    const char *what = *s->part ? "part" : "layout", *name = *s->part ? s->part : e->name;
    r->file.line = s->line;
    if (s->text[TENSORS])
        return end_tensors(e, s);
    if (!s->text[PATTERN] && !s->text[PRESET])
        return td_fail(TD_FORMAT, "%s %s has no pattern; write pattern ...; or preset ...;", what, name);
    if (s->text[PATTERN] && s->text[PRESET])
        return td_fail(TD_FORMAT, "%s %s has a pattern and a preset; keep one", what, name);
    return TD_OK;
}

static td_status begin_part(reader *r, entry *e, size_t first, size_t end, size_t *behind)
{
    char name[WORD_BYTES];
    const size_t line = r->file.line;
    td_status status = read_name(r, "part", first, end, name, behind);
    if (!status)
        status = end_section(r, e);
    if (status)
        return status;
    r->file.line = line;
    for (size_t i = 1; i < e->sections; i++)
        if (strcmp(e->section[i].part, name) == 0)
            return td_fail(TD_FORMAT, "part %s stands twice in layout %s; give it once", name, e->name);
    if (e->sections == TD_MOST_PLACES)
        return td_fail(TD_FORMAT, "layout %s has more than %d parts, and no packing does", e->name, TD_MOST_PLACES);
    section *s = &e->section[e->sections++];
    s->line = line;
    memcpy(s->part, name, sizeof name);
    return TD_OK;
}

/* One segment between semicolons. The second half of an address ("; addr = ...") is no clause of its own and
 * continues the first. Behind `part NAME` and `memory NAME` another clause may stand without a semicolon. */
static td_status read_segment(td_clause_file *file, size_t first, size_t end)
{
    reader *r = file->context;
    entry *e = &r->entry[r->entry_count - 1];
    size_t word = 0;
    const int which = td_clauses_find(file, first, end, &word);
    section *s = &e->section[e->sections - 1];
    if (which < 0 && r->last == ADDRESS)
        return td_clauses_add(file, first, end, &s->text[ADDRESS]);
    if (which < 0)
        return td_clauses_fail(file, first, end);
    if (s->text[which])
        return td_fail(TD_FORMAT, "%s stands twice in %s %s; give it once", clause_name[which],
                       *s->part ? "part" : "layout", *s->part ? s->part : e->name);
    if (which == AS && *s->part)
        return td_fail(TD_FORMAT, "as in part %s; the packing stands in front of the parts, and says their dtypes",
                       s->part);
    if (which == SHAPE && *s->part)
        return td_fail(TD_FORMAT, "shape in part %s; it stands in front of the parts", s->part);
    r->last = which;
    first += word;
    while (first < end && file->text[first] == ' ')
        first++;
    size_t behind = end;
    char name[WORD_BYTES];
    td_status status = TD_OK;
    if (which == PART)
        status = begin_part(r, e, first, end, &behind);
    else if (which == MEMORY)
        status = read_name(r, "memory", first, end, name, &behind);
    if (!status && which != PART) {
        s->clause_line[which] = r->file.line;
        status = td_clauses_add(file, first, behind, &s->text[which]);
    }
    while (behind < end && file->text[behind] == ' ')
        behind++;
    return status || behind == end ? status : read_segment(file, behind, end);
}

static td_status end_entry(td_clause_file *file)
{
    reader *r = file->context;
    const entry *e = &r->entry[r->entry_count - 1];
    td_status status = end_section(r, e);
    if (!status && e->sections > 1 && !e->section[0].text[AS]) {
        file->line = e->line;
        status = td_fail(TD_FORMAT, "layout %s has parts and no packing; write as mxfp4 ...;", e->name);
    }
    return status;
}

static td_status begin_entry(td_clause_file *file)
{
    reader *r = file->context;
    const td_clause_entry *head = &file->entry[file->entry_count - 1];
    entry *grown = realloc(r->entry, (r->entry_count + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((r->entry_count + 1) * sizeof *grown);
    r->entry = grown;
    entry *e = &r->entry[r->entry_count++];
    *e = (entry){.line = head->line, .sections = 1};
    e->section[0].line = head->line;
    memcpy(e->name, head->name, sizeof head->name);
    r->last = -1;
    return TD_OK;
}

static const td_clause_grammar grammar = {
    .file = "layout",
    .noun = "layout",
    .example = "weights: pattern r c -> r c",
    .shortest = "pattern ...;",
    .clause_list = "pattern, options, address, as, preset, memory, shape, tensors or part",
    .clause = clause_name,
    .no_name = no_name,
    .begin = begin_entry,
    .segment = read_segment,
    .end = end_entry,
};

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
    r->file.line = 0;
    td_status status = TD_OK;
    if (!*out && nearest)
        status = td_fail(TD_FORMAT, "no layout %s; did you mean %s?", name, nearest);
    else if (!*out)
        status =
            td_fail(TD_FORMAT, "no layout %s among its %zu; the first is %s", name, r->entry_count, r->entry[0].name);
    free(known);
    return status;
}

/* The layout of a section, without its `as`. */
static td_status make_section(reader *r, section *s, td_layout **out)
{
    char *pattern = s->text[PATTERN];
    if (!pattern) {
        td_text preset = {0};
        td_text_add(&preset, "preset:%s", s->text[PRESET]);
        if (preset.failed)
            return td_fail_alloc(strlen(s->text[PRESET]) + 8);
        free(s->text[PRESET]);
        pattern = s->text[PRESET] = preset.text;
    }
    const clause faulty[] = {
        [TD_PATTERN] = s->text[PATTERN] ? PATTERN : PRESET, [TD_OPTION] = OPTIONS, [TD_ADDRESS] = ADDRESS};
    const td_status status = td_layout_make(pattern, s->text[OPTIONS] ? s->text[OPTIONS] : "",
                                            s->text[ADDRESS] ? s->text[ADDRESS] : "", out);
    r->file.line = s->line;
    if (status == TD_PATTERN || status == TD_OPTION || status == TD_ADDRESS)
        r->file.line = s->clause_line[faulty[status]] ? s->clause_line[faulty[status]] : s->line;
    return status;
}

/* "i8 64 32 3 3": a dtype and a shape, which may be that of a scalar. */
static td_status check_shape(const char *text)
{
    char dtype[WORD_BYTES] = "";
    const size_t length = strcspn(text, " ");
    td_dtype parsed;
    td_shape shape;
    uint64_t elems = 0, bytes = 0;
    memcpy(dtype, text, length < sizeof dtype ? length : sizeof dtype - 1);
    td_status status = td_dtype_parse(dtype, &parsed);
    if (!status)
        status = td_shape_parse(text + length, &shape);
    return status ? status : td_shape_check(&shape, parsed, &elems, &bytes);
}

/* The layout takes over the clauses that say where it lies, and what. */
static td_status take_where(reader *r, section *s, td_layout *layout)
{
    layout->memory_text = s->text[MEMORY];
    layout->tensor_text = s->text[SHAPE];
    s->text[MEMORY] = s->text[SHAPE] = NULL;
    r->file.line = s->clause_line[SHAPE];
    return layout->tensor_text ? check_shape(layout->tensor_text) : TD_OK;
}

static td_status make(reader *r, entry *e, td_layout **out)
{
    section *s = &e->section[0];
    td_layout *layout = NULL;
    r->file.line = e->line;
    if (s->text[TENSORS])
        return fail_tensors(e);
    if (e->sections > 1)
        return td_fail(
            TD_FORMAT,
            "layout %s is one of parts (as %s); open it with parts_layout_open, or take the layout of a part "
            "from that",
            e->name, s->text[AS]);
    td_status status = make_section(r, s, &layout);
    if (!status && s->text[AS] && *s->text[AS]) {
        /* Parsed here so that a mistake is reported with its line; what depends on the tensor is checked when the
         * layout is used. */
        td_as as;
        td_dtype any = {0};
        r->file.line = s->clause_line[AS];
        status = td_dtype_parse("f32", &any);
        if (!status)
            status = td_as_parse(s->text[AS], any, &as);
        layout->as_text = s->text[AS];
        s->text[AS] = NULL;
    }
    if (!status)
        status = take_where(r, s, layout);
    if (status)
        td_layout_destroy(&layout);
    else
        *out = layout;
    return status;
}

static td_status make_parts(reader *r, entry *e, td_parts_layout **out)
{
    td_parts_layout *made = NULL;
    r->file.line = e->line;
    if (e->section[0].text[TENSORS])
        return fail_tensors(e);
    if (e->sections == 1)
        return td_fail(TD_FORMAT, "layout %s has no parts; write part NAME ...; for each, or open it with layout_open",
                       e->name);
    td_status status = td_parts_layout_create(e->section[0].text[AS], &made);
    for (size_t i = 0; i < e->sections && !status; i++) {
        section *s = &e->section[i];
        td_layout *layout = NULL;
        status = make_section(r, s, &layout);
        if (!status)
            status = td_parts_layout_put(made, s->part, s->text[MEMORY] ? s->text[MEMORY] : "", layout);
        if (status)
            td_layout_destroy(&layout);
    }
    if (status)
        td_parts_layout_destroy(&made);
    else
        *out = made;
    return status;
}

static td_status read_file(const char *path, reader *r)
{
    td_file_map file;
    td_status status = td_file_copy_open(path, &file);
    if (status)
        return status;
    status = td_clauses_read(&grammar, r, file.bytes, file.size, &r->file);
    td_file_unmap(&file);
    return status;
}

static void free_reader(reader *r)
{
    for (size_t i = 0; i < r->entry_count; i++)
        for (size_t n = 0; n < r->entry[i].sections; n++)
            for (int c = 0; c < CLAUSES; c++)
                free(r->entry[i].section[n].text[c]);
    free(r->entry);
    td_clauses_free(&r->file);
}

static td_status finish(const char *call, const char *path, reader *r, td_status status)
{
    if (status && r->file.line)
        td_fail_prefix("%s \"%s\", line %zu: ", call, path, r->file.line);
    else if (status)
        td_fail_prefix("%s \"%s\": ", call, path);
    free_reader(r);
    return status;
}

/* A layout, or one of parts: the output that is not NULL. */
static td_status open_entry(const char *call, const char *path, const char *name, td_layout **layout,
                            td_parts_layout **parts)
{
    reader r = {0};
    entry *e = NULL;
    if (!path || !name || (!layout && !parts))
        return td_fail(TD_ARGUMENT, "%s: the %s is NULL; pass one", call, !path ? "path" : !name ? "name" : "output");
    td_status status = read_file(path, &r);
    if (!status)
        status = find_entry(&r, name, &e);
    if (!status)
        status = layout ? make(&r, e, layout) : make_parts(&r, e, parts);
    return finish(call, path, &r, status);
}

td_status td_layout_open(const char *path, const char *name, td_layout **out)
{
    TD_OPERATION(operation, "layout_open");
    return open_entry("layout_open", path, name, out, NULL);
}

td_status td_parts_layout_open(const char *path, const char *name, td_parts_layout **out)
{
    TD_OPERATION(operation, "parts_layout_open");
    return open_entry("parts_layout_open", path, name, NULL, out);
}

td_status td_layout_file_tensors(const char *path, const char *name, char **file, char **how)
{
    reader r = {0};
    entry *e = NULL;
    td_status status = read_file(path, &r);
    if (!status)
        status = find_entry(&r, name, &e);
    if (!status && !e->section[0].text[TENSORS]) {
        r.file.line = e->line;
        status = td_fail(TD_FORMAT, "%s is a layout and names no tensors; write %s: tensors FILE; as gptq from ...",
                         name, name);
    }
    if (!status) {
        *file = e->section[0].text[TENSORS];
        *how = e->section[0].text[AS];
        e->section[0].text[TENSORS] = e->section[0].text[AS] = NULL;
    }
    return finish("layout_file", path, &r, status);
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
