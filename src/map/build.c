/* From the clauses of a map file to memories: the arrays, those of the caller or new ones, the memory over them, and
 * the regions over memories. Called by map.c, which destroys what was made when it fails. Refuses names that are not
 * there and geometries that do not fit. */
#include "map/map.h"

#include "base/record.h"
#include "base/suggest.h"
#include "base/text.h"
#include "layout/layout.h"
#include "tensordoor_bridge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is read, and what it is made into. */
typedef struct builder {
    td_map *map;
    td_map_file *file;
    td_memory *const *given; /* the arrays of the caller */
    size_t given_count;
    const td_map_source *entry;
    td_map_node *node;
} builder;

static void at_clause(const builder *b, td_map_clause clause)
{
    const size_t line = b->entry->clause_line[clause];
    b->file->clauses.line = line ? line : b->entry->line;
}

/* -- names -- */

static td_map_node *find_node(const td_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->node[i].memory && strcmp(map->node[i].name, name) == 0)
            return &map->node[i];
    return NULL;
}

static void fail_above(const builder *b, const char *name)
{
    const td_map *map = b->map;
    const char **known = malloc((map->count + 1) * sizeof *known);
    for (size_t i = 0; known && i < map->count; i++)
        known[i] = map->node[i].name;
    const char *nearest = known ? td_suggest(name, known, map->count) : NULL;
    td_fail(TD_FORMAT, "%s lies over %s, and no memory above has that name; ", b->entry->name, name);
    if (nearest)
        td_fail_append("did you mean %s?", nearest);
    else
        td_fail_append("write %s before it%s", name,
                       b->entry->text[TD_MAP_ARRAYS] ? ", or WORDS x BITS before the names of arrays" : "");
    free(known);
}

static td_status add_array(builder *b, const char *name, uint64_t depth, uint64_t width, td_memory **out)
{
    td_map *map = b->map;
    for (size_t i = 0; i < map->array_count; i++)
        if (strcmp(map->array[i].name, name) == 0)
            return td_fail(
                TD_FORMAT,
                "array %s of %s is already one of %s; an array belongs to one memory, so name another, or make "
                "a memory of it and lay both over that",
                name, b->entry->name,
                map->array[i].node == map->count ? "this memory" : map->node[map->array[i].node].name);
    const td_map_node *other = find_node(map, name);
    if (other)
        return td_fail(TD_FORMAT,
                       "array %s of %s has the name of a memory; leave out WORDS x BITS to lie over it, or "
                       "rename the array",
                       name, b->entry->name);
    td_map_array *grown = realloc(map->array, (map->array_count + 1) * sizeof *grown);
    if (!grown) {
        td_fail_alloc((map->array_count + 1) * sizeof *grown);
        return TD_NO_MEMORY;
    }
    map->array = grown;
    td_map_array *a = &map->array[map->array_count];
    *a = (td_map_array){.name = strdup(name), .node = map->count};
    if (!a->name) {
        td_fail_alloc(strlen(name) + 1);
        return TD_NO_MEMORY;
    }
    map->array_count++;
    for (size_t i = 0; i < b->given_count && !a->memory; i++)
        if (strcmp(b->given[i]->name, name) == 0)
            a->memory = b->given[i];
    if (a->memory && (a->memory->width_bits != width || a->memory->depth_words != depth))
        return td_fail(TD_ARGUMENT,
                       "array \"%s\" is %" PRIu64 " words of %" PRIu64 " bits, the map says %" PRIu64 " x %" PRIu64
                       "; correct the map, or pass another array",
                       name, a->memory->depth_words, a->memory->width_bits, depth, width);
    td_status status = TD_OK;
    if (!a->memory) {
        status = td_memory_create(name, width, depth, &a->memory);
        a->owned = !status;
    }
    *out = a->memory;
    return status;
}

/* -- the layers of a node -- */

static td_status add_layer(builder *b, td_memory *memory)
{
    b->node->layer[b->node->layer_count++] = memory;
    b->node->memory = memory;
    return TD_OK;
}

/* The memories that a list of names stands for: nodes above where `depth` is 0, otherwise arrays of that geometry. */
static td_status find_memories(builder *b, char **names, size_t count, uint64_t depth, uint64_t width,
                               td_memory ***memories)
{
    td_memory **list = calloc(count, sizeof(td_memory *));
    if (!list) {
        td_fail_alloc(count * sizeof(td_memory *));
        return TD_NO_MEMORY;
    }
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const td_map_node *under = depth ? NULL : find_node(b->map, names[i]);
        if (depth)
            status = add_array(b, names[i], depth, width, &list[i]);
        else if (under)
            list[i] = under->memory;
        else {
            fail_above(b, names[i]);
            status = TD_FORMAT;
        }
    }
    if (!status && !list[0]) /* never so; clang's analyzer does not see that a failure is one */
        status = TD_NO_MEMORY;
    if (status)
        free(list);
    else
        *memories = list;
    return status;
}

static td_status organise(builder *b, uint64_t depth, uint64_t width, td_memory *const *under, size_t count)
{
    const td_map_source *e = b->entry;
    const char *options = e->text[TD_MAP_OPTIONS], *address = e->text[TD_MAP_ADDRESS];
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_status status =
        td_layout_make(e->text[TD_MAP_ORGANISATION], options ? options : "", address ? address : "", &layout);
    at_clause(b, status == TD_OPTION ? TD_MAP_OPTIONS : status == TD_ADDRESS ? TD_MAP_ADDRESS : TD_MAP_ORGANISATION);
    if (!status && layout->alias_last)
        status = td_fail(TD_OPTION,
                         "alias=last beside the organisation of %s; leave it out: every bit has a place of its own",
                         e->name);
    if (!status)
        status = td_memory_over(e->name, width, depth, layout, under, count, &memory);
    td_layout_destroy(&layout);
    return status ? status : add_layer(b, memory);
}

/* Without an organisation a memory is its one array. */
static td_status take_array(builder *b, uint64_t depth, uint64_t width, td_memory *const *under, size_t count)
{
    const td_memory *array = under[0];
    if (count != 1)
        return td_fail(TD_FORMAT, "%s has %zu arrays and no organisation; write one, as organisation (t r) k -> t r k",
                       b->entry->name, count);
    if (array->depth_words != depth || array->width_bits != width)
        return td_fail(TD_FORMAT,
                       "%s is %" PRIu64 " words of %" PRIu64 " bits%s, its array %s is %" PRIu64 " of %" PRIu64
                       "; make them equal, or write an organisation",
                       b->entry->name, depth, width, b->entry->text[TD_MAP_CODE] ? " with its check bits" : "",
                       array->name, array->depth_words, array->width_bits);
    b->node->memory = under[0];
    return TD_OK;
}

/* The names that follow are those of arrays; without a geometry they are memories. */
static bool is_geometry(const char *text)
{
    return *text >= '0' && *text <= '9';
}

/* Nobody else has written the arrays of this node. */
static bool all_owned(const builder *b)
{
    bool owned = true;
    for (size_t i = 0; i < b->map->array_count; i++)
        owned &= b->map->array[i].node != b->map->count || b->map->array[i].owned;
    return owned && (!b->entry->text[TD_MAP_ARRAYS] || is_geometry(b->entry->text[TD_MAP_ARRAYS]));
}

static td_status build_memory(builder *b)
{
    const td_map_source *e = b->entry;
    uint64_t depth = 0, width = 0, array_depth = 0, array_width = 0;
    char *own[] = {b->node->name}, **names = NULL;
    size_t count = 0;
    td_memory **under = NULL;
    td_map_layers layers = {0};
    td_map_clause failed = TD_MAP_WORDS;
    td_map_reader r = td_map_read_clause(e, TD_MAP_WORDS);
    at_clause(b, TD_MAP_WORDS);
    td_status status = td_map_read_geometry(&r, &depth, &width);
    if (!status)
        status = td_map_read_end(&r, "the bits of a word");
    if (!status && !e->text[TD_MAP_ARRAYS] && e->text[TD_MAP_ORGANISATION])
        return td_fail(TD_FORMAT, "%s has an organisation and no arrays; write arrays WORDS x BITS NAME ...", e->name);
    if (!status) {
        status = td_map_read_layers(e, width, &layers, &failed);
        at_clause(b, failed);
    }
    if (!status && e->text[TD_MAP_ARRAYS]) {
        r = td_map_read_clause(e, TD_MAP_ARRAYS);
        at_clause(b, TD_MAP_ARRAYS);
        if (is_geometry(r.at))
            status = td_map_read_geometry(&r, &array_depth, &array_width);
        if (!status)
            status = td_map_read_names(&r, &names, &count);
    }
    if (!status && count)
        status = find_memories(b, names, count, array_depth, array_width, &under);
    else if (!status)
        status = find_memories(b, own, count = 1, depth, layers.stored_bits, &under);
    if (!status)
        status = e->text[TD_MAP_ORGANISATION] ? organise(b, depth, layers.stored_bits, under, count)
                                              : take_array(b, depth, layers.stored_bits, under, count);
    if (!status) {
        status = td_map_add_layers(b->node, &layers, &failed);
        if (status)
            at_clause(b, failed);
    }
    if (!status && !layers.zero_is_zero && all_owned(b)) {
        td_record_pause(); /* a new memory is no step of a program */
        status = td_memory_clear(b->node->memory);
        td_record_resume();
    }
    td_code_destroy(&layers.code);
    free(names);
    free(under);
    return status;
}

/* -- regions -- */

static td_status check_under(builder *b, char **names, size_t count, td_memory *const *under)
{
    const td_map_node *first = find_node(b->map, names[0]);
    for (size_t i = 1; i < count; i++) {
        const td_map_node *n = find_node(b->map, names[i]);
        if (under[i]->width_bits != under[0]->width_bits || under[i]->depth_words != under[0]->depth_words)
            return td_fail(TD_FORMAT,
                           "%s lies over %s of %" PRIu64 " x %" PRIu64 " and %s of %" PRIu64 " x %" PRIu64
                           "; use memories of one geometry, and another region for the others",
                           b->entry->name, names[0], under[0]->depth_words, under[0]->width_bits, names[i],
                           under[i]->depth_words, under[i]->width_bits);
        if (n->big_endian != first->big_endian && !b->entry->text[TD_MAP_ENDIAN])
            return td_fail(TD_FORMAT, "%s lies over %s and %s, of which one is big endian; write endian for the region",
                           b->entry->name, names[0], names[i]);
    }
    b->node->big_endian = first->big_endian;
    return TD_OK;
}

/* A number of bytes that is whole words. */
static td_status read_bytes(builder *b, td_map_clause clause, uint64_t word_bytes, uint64_t *words)
{
    uint64_t bytes = 0;
    td_map_reader r = td_map_read_clause(b->entry, clause);
    at_clause(b, clause);
    td_status status = td_map_read_number(&r, "number of bytes", &bytes);
    if (!status)
        status = td_map_read_end(&r, "the number of bytes");
    if (!status && (bytes == 0 || bytes % word_bytes))
        status =
            td_fail(TD_FORMAT, "%s %" PRIu64 " of %s; write a multiple of %" PRIu64 " bytes, a word of its memories",
                    td_map_clause_word[clause], bytes, b->entry->name, word_bytes);
    if (!status)
        *words = bytes / word_bytes;
    return status;
}

static td_status build_region(builder *b)
{
    const td_map_source *e = b->entry;
    char **names = NULL;
    td_map_under under = {.unit_words = 1};
    td_memory **memories = NULL, *memory = NULL;
    td_layout *layout = NULL;
    td_map_reader r = td_map_read_clause(e, TD_MAP_MEMORIES);
    at_clause(b, TD_MAP_MEMORIES);
    td_status status = td_map_read_names(&r, &names, &under.count);
    if (!status)
        status = find_memories(b, names, under.count, 0, 0, &memories);
    if (!status)
        status = check_under(b, names, under.count, memories);
    if (status)
        goto done;
    under.depth_words = memories[0]->depth_words;
    under.width_bits = memories[0]->width_bits;
    const uint64_t word_bytes = (under.width_bits + 7) / 8;
    uint64_t depth = 0;
    if (!td_mul_fits(under.depth_words, under.count, &depth) || depth > TD_MAX_DEPTH_WORDS) {
        status = td_fail(TD_FORMAT, "%s has more than %" PRIu64 " words; give it fewer memories", e->name,
                         TD_MAX_DEPTH_WORDS);
        goto done;
    }
    if (e->text[TD_MAP_UNIT])
        status = read_bytes(b, TD_MAP_UNIT, word_bytes, &under.unit_words);
    if (!status && e->text[TD_MAP_SIZE])
        status = read_bytes(b, TD_MAP_SIZE, word_bytes, &depth);
    if (!status && depth % under.unit_words)
        status =
            td_fail(TD_FORMAT, "%s has %" PRIu64 " bytes, which are no whole units of %" PRIu64 "; change size or unit",
                    e->name, depth * word_bytes, under.unit_words * word_bytes);
    if (status)
        goto done;
    status = td_map_interleave(e, &under, depth, &layout);
    at_clause(b, status == TD_OPTION ? TD_MAP_OPTIONS : status == TD_ADDRESS ? TD_MAP_ADDRESS : TD_MAP_INTERLEAVE);
    if (!status)
        status = td_memory_over(e->name, under.width_bits, depth, layout, memories, under.count, &memory);
    if (!status)
        status = add_layer(b, memory);
    b->node->raw = b->node->memory;

done:
    td_layout_destroy(&layout);
    free(names);
    free(memories);
    return status;
}

/* -- addresses -- */

static td_status read_endian(builder *b)
{
    const char *text = b->entry->text[TD_MAP_ENDIAN];
    if (!text)
        return TD_OK;
    at_clause(b, TD_MAP_ENDIAN);
    b->node->big_endian = strcmp(text, "big") == 0;
    if (!b->node->big_endian && strcmp(text, "little") != 0)
        return td_fail(TD_FORMAT, "\"endian %s\" of %s; write little or big", text, b->entry->name);
    return TD_OK;
}

static td_status read_base(builder *b)
{
    td_map_node *n = b->node;
    n->word_bytes = (size_t)(n->memory->width_bits + 7) / 8;
    n->bytes = n->memory->depth_words * n->word_bytes; /* at most 2^40 words of 2^21 bytes */
    if (!b->entry->text[TD_MAP_BASE])
        return TD_OK;
    td_map_reader r = td_map_read_clause(b->entry, TD_MAP_BASE);
    at_clause(b, TD_MAP_BASE);
    td_status status = td_map_read_number(&r, "address", &n->base);
    if (!status)
        status = td_map_read_end(&r, "the address");
    if (!status && n->bytes > (uint64_t)INT64_MAX - n->base)
        status = td_fail(TD_FORMAT, "%s of %" PRIu64 " bytes from 0x%" PRIx64 " passes 2^63; use a lower base", n->name,
                         n->bytes, n->base);
    n->addressed = !status;
    return status;
}

/* The arrays at the bottom, in the order of the layers' lists. */
static void collect_arrays(td_map_node *n, td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        collect_arrays(n, below[i]);
    if (!below)
        n->array[n->array_count++] = memory;
}

static td_status find_arrays(td_map_node *n)
{
    n->array = calloc(td_memory_macros(n->memory) + 1, sizeof(td_memory *));
    if (!n->array)
        return td_fail_alloc(td_memory_macros(n->memory) * sizeof(td_memory *));
    collect_arrays(n, n->memory);
    return TD_OK;
}

static td_status build_node(builder *b)
{
    td_status status = b->entry->text[TD_MAP_MEMORIES] ? build_region(b) : build_memory(b);
    if (!status)
        status = find_arrays(b->node);
    if (!status)
        status = read_endian(b);
    if (!status)
        status = read_base(b);
    return status;
}

/* Which nodes lie in arrays of the caller. */
static void mark_given(const builder *b)
{
    for (size_t n = 0; n < b->map->count; n++)
        for (size_t i = 0; i < b->given_count && !b->map->node[n].given; i++)
            b->map->node[n].given = td_transfer_reaches(b->map->node[n].memory, b->given[i]);
}

/* Every array of the caller has found its place. */
static td_status check_given(builder *b)
{
    const td_map *map = b->map;
    b->file->clauses.line = 0;
    for (size_t i = 0; i < b->given_count; i++) {
        bool found = false;
        for (size_t k = 0; k < map->array_count && !found; k++)
            found = map->array[k].memory == b->given[i];
        if (found)
            continue;
        const char **known = malloc((map->array_count + 1) * sizeof *known);
        if (!known)
            return td_fail_alloc(map->array_count * sizeof *known);
        for (size_t k = 0; k < map->array_count; k++)
            known[k] = map->array[k].name;
        const char *nearest = td_suggest(b->given[i]->name, known, map->array_count);
        td_fail(TD_ARGUMENT, "the map has no array \"%s\"; ", b->given[i]->name);
        if (nearest)
            td_fail_append("did you mean %s?", nearest);
        else
            td_fail_append("the first of its %zu is %s", map->array_count, known[0]);
        free(known);
        return TD_ARGUMENT;
    }
    return TD_OK;
}

td_status td_map_build(td_map *map, td_map_file *file, td_memory *const *arrays, size_t count)
{
    builder b = {.map = map, .file = file, .given = arrays, .given_count = count};
    map->node = calloc(file->count, sizeof *map->node);
    td_status status = map->node ? TD_OK : td_fail_alloc(file->count * sizeof *map->node);
    for (size_t i = 0; i < file->count && !status; i++) {
        b.entry = &file->source[i];
        b.node = &map->node[i];
        *b.node = (td_map_node){.name = strdup(b.entry->name), .line = b.entry->line};
        file->clauses.line = b.entry->line;
        status = b.node->name ? build_node(&b) : td_fail_alloc(strlen(b.entry->name) + 1);
        map->count++;
    }
    if (!status)
        status = td_map_order(map, &file->clauses.line);
    if (!status)
        mark_given(&b);
    return status ? status : check_given(&b);
}
