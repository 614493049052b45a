/* The text of a map file as clauses of memories and regions. map.c reads it, build.c makes the memories. Refuses
 * clauses that do not go together; what they say is read later, in words.c. */
#include "map/map.h"

#include <stdlib.h>
#include <string.h>

const char *const td_map_clause_word[TD_MAP_CLAUSES + 1] = {
    [TD_MAP_WORDS] = "words",       [TD_MAP_BASE] = "base",       [TD_MAP_SIZE] = "size",
    [TD_MAP_ENDIAN] = "endian",     [TD_MAP_CODE] = "code",       [TD_MAP_CHECK] = "check",
    [TD_MAP_CODEC] = "codec",       [TD_MAP_STORED] = "stored",   [TD_MAP_ORGANISATION] = "organisation",
    [TD_MAP_OPTIONS] = "options",   [TD_MAP_ADDRESS] = "address", [TD_MAP_ARRAYS] = "arrays",
    [TD_MAP_MEMORIES] = "memories", [TD_MAP_UNIT] = "unit",       [TD_MAP_INTERLEAVE] = "interleave"};
static const char *const no_name[] = {"preset", "dram", NULL};

/* A memory has words, a region memories; clauses of the one are none of the other. */
static td_status check_entry(const td_map_source *e)
{
    static const td_map_clause memory[] = {TD_MAP_ORGANISATION, TD_MAP_ARRAYS, TD_MAP_CODE,
                                           TD_MAP_CHECK,        TD_MAP_CODEC,  TD_MAP_STORED},
                               region[] = {TD_MAP_SIZE, TD_MAP_UNIT, TD_MAP_INTERLEAVE};
    const bool is_region = e->text[TD_MAP_MEMORIES] != NULL;
    if (is_region == (e->text[TD_MAP_WORDS] != NULL))
        return td_fail(TD_FORMAT,
                       "%s has %s; write words 4096 x 32 for a memory, memories NAME ... for a region over some",
                       e->name, is_region ? "words and memories" : "neither words nor memories");
    for (size_t i = 0; i < (is_region ? sizeof memory : sizeof region) / sizeof *region; i++) {
        const td_map_clause foreign = is_region ? memory[i] : region[i];
        if (e->text[foreign])
            return td_fail(TD_FORMAT, "%s is a %s and has %s; that is for a %s: drop it, or write %s in place of %s",
                           e->name, is_region ? "region" : "memory", td_map_clause_word[foreign],
                           is_region ? "memory" : "region", is_region ? "words" : "memories",
                           is_region ? "memories" : "words");
    }
    if (e->text[TD_MAP_CHECK] && !e->text[TD_MAP_CODE])
        return td_fail(TD_FORMAT, "%s has check and no code that it belongs to; write one, as code 39_32", e->name);
    if (e->text[TD_MAP_STORED] && !e->text[TD_MAP_CODEC])
        return td_fail(TD_FORMAT, "%s has stored and no codec that it belongs to; write one, as codec ./file.so:symbol",
                       e->name);
    const td_map_clause holder = is_region ? TD_MAP_INTERLEAVE : TD_MAP_ORGANISATION;
    if ((e->text[TD_MAP_OPTIONS] || e->text[TD_MAP_ADDRESS]) && !e->text[holder])
        return td_fail(TD_FORMAT, "%s has %s and no %s that it belongs to; write one", e->name,
                       e->text[TD_MAP_OPTIONS] ? "options" : "an address", td_map_clause_word[holder]);
    return TD_OK;
}

/* The second half of an address ("; addr = ...") is no clause of its own and continues the first. */
static td_status read_segment(td_clause_file *clauses, size_t first, size_t end)
{
    td_map_file *file = clauses->context;
    td_map_source *s = &file->source[file->count - 1];
    size_t word = 0;
    const int which = td_clauses_find(clauses, first, end, &word);
    if (which < 0 && file->last == TD_MAP_ADDRESS)
        return td_clauses_add(clauses, first, end, &s->text[TD_MAP_ADDRESS]);
    if (which < 0)
        return td_clauses_fail(clauses, first, end);
    if (s->text[which])
        return td_fail(TD_FORMAT, "%s stands twice in memory %s; give it once", td_map_clause_word[which], s->name);
    s->clause_line[which] = clauses->line;
    file->last = which;
    first += word;
    while (first < end && clauses->text[first] == ' ')
        first++;
    return td_clauses_add(clauses, first, end, &s->text[which]);
}

static td_status end_entry(td_clause_file *clauses)
{
    const td_map_file *file = clauses->context;
    const td_map_source *s = &file->source[file->count - 1];
    clauses->line = s->line;
    return check_entry(s);
}

static td_status begin_entry(td_clause_file *clauses)
{
    td_map_file *file = clauses->context;
    const td_clause_entry *head = &clauses->entry[clauses->entry_count - 1];
    td_map_source *grown = realloc(file->source, (file->count + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((file->count + 1) * sizeof *grown);
    file->source = grown;
    td_map_source *s = &file->source[file->count++];
    *s = (td_map_source){.line = head->line};
    memcpy(s->name, head->name, sizeof head->name);
    file->last = -1;
    return TD_OK;
}

static const td_clause_grammar grammar = {
    .file = "map",
    .noun = "memory",
    .example = "wbuf: words 4096 x 32",
    .shortest = "words 4096 x 32;",
    .clause_list = "words, base, size, endian, code, check, codec, stored, organisation, options, address, arrays, "
                   "memories, unit or interleave",
    .clause = td_map_clause_word,
    .no_name = no_name,
    .begin = begin_entry,
    .segment = read_segment,
    .end = end_entry,
};

td_status td_map_file_read(const unsigned char *text, size_t size, td_map_file *out)
{
    *out = (td_map_file){0};
    return td_clauses_read(&grammar, out, text, size, &out->clauses);
}

void td_map_file_free(td_map_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        for (int c = 0; c < TD_MAP_CLAUSES; c++)
            free(file->source[i].text[c]);
    free(file->source);
    td_clauses_free(&file->clauses);
}
