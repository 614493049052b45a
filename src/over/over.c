/* td_memory_over: a memory whose bits lie in other memories. It has a copy of its words, as a memory of the library has
 * its storage, and a backing (memory/memory.h) that brings words in from the arrays and puts them back through the
 * organisation. Every operation works on the copy and knows nothing of the arrays. An array may lie over others
 * itself. It refuses an organisation that does not fit, before anything is made. */
#include "memory/place.h"
#include "memory/x_state.h"
#include "over/joined.h"
#include "over/organisation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct over {
    td_backing backing;
    td_organisation *organisation;
    size_t count;
    td_memory **array;
    unsigned char **data;   /* of the arrays */
    td_row_set *rows;       /* that a run of words reaches in them; empty between calls */
    bool nested;            /* some array lies over others */
    size_t *first_macro;    /* NULL unless nested */
    unsigned char **sealed; /* where some may refuse: their data, and `scratch` for arrays of the library; or NULL */
    unsigned char **sealed_plane;
    td_memory *scratch;
    unsigned char **plane; /* where some array has bits that are x: their planes, */
    td_memory *known;      /* and for those that have none, zeros; NULL until then */
} over;

/* -- copies ------------------------------------------------------------------------------------------------------- */

static td_status fail_copies(const td_memory *memory, uint64_t first, uint64_t count, const unsigned char *other,
                             uint64_t copy)
{
    const size_t bytes = memory->word_bytes;
    uint64_t w = 0;
    while (w + 1 < count && memcmp(memory->data + (first + w) * bytes, other + w * bytes, bytes) == 0)
        w++;
    return td_fail(TD_DISAGREE,
                   "word 0x%" PRIx64 " of \"%s\" lies in several places, and copy %" PRIu64
                   " differs from the first; write the word, or look at the arrays themselves",
                   first + w, memory->name, copy);
}

/* The other copies of words that have come in hold the same. */
static td_status check_copies(const td_memory *memory, const over *o, uint64_t first, uint64_t count)
{
    const uint64_t copies = td_organisation_copies(o->organisation);
    const size_t bytes = (size_t)count * memory->word_bytes;
    const td_memory *known = o->backing.memory;
    if (copies == 1)
        return TD_OK;
    unsigned char *other = calloc(1, bytes);
    td_status status = other ? TD_OK : td_fail_alloc(bytes);
    for (uint64_t copy = 1; copy < copies && !status; copy++) {
        memcpy(other, memory->data + first * memory->word_bytes, bytes); /* boxes that have fewer copies */
        td_organisation_read(o->organisation, &(td_organisation_run){first, count, other, o->data, false}, copy);
        for (size_t i = 0; i < bytes && known->unknown_any; i++) /* x is not held against anything */
            other[i] &= (unsigned char)~known->unknown->data[first * memory->word_bytes + i];
        if (memcmp(other, memory->data + first * memory->word_bytes, bytes) != 0)
            status = fail_copies(memory, first, count, other, copy);
    }
    free(other);
    return status;
}

/* -- bits that are x or z ------------------------------------------------------------------------------------------ */

static bool any_x(const over *o)
{
    bool any = false;
    for (size_t i = 0; i < o->count; i++)
        any |= o->array[i]->unknown_any;
    return any;
}

/* The plane of the memory is there where that of an array is, and `plane` has those of the arrays. */
static td_status follow_x(over *o)
{
    const bool any = any_x(o);
    td_status status = td_x_follow(o->backing.memory, any);
    if (!any || status)
        return status;
    if (!o->plane)
        o->plane = malloc(o->count * sizeof *o->plane);
    if (!o->plane)
        return td_fail_alloc(o->count * sizeof *o->plane);
    if (!o->known)
        status = td_memory_create("known", o->array[0]->width_bits, o->array[0]->depth_words, &o->known);
    for (size_t i = 0; i < o->count && !status; i++)
        o->plane[i] = o->array[i]->unknown_any ? o->array[i]->unknown->data : o->known->data;
    return status;
}

static td_organisation_run run_of_x(const over *o, uint64_t first, uint64_t count, unsigned char *const *planes)
{
    const td_memory *memory = o->backing.memory;
    return (td_organisation_run){first, count, memory->unknown->data + first * memory->word_bytes, planes, false};
}

/* A bit is x where one of its copies is. */
static td_status bring_x(over *o, uint64_t first, uint64_t count)
{
    td_status status = follow_x(o);
    if (status || !o->backing.memory->unknown_any)
        return status;
    const td_organisation_run run = run_of_x(o, first, count, o->plane);
    const size_t bytes = (size_t)count * o->backing.memory->word_bytes;
    const uint64_t copies = td_organisation_copies(o->organisation);
    unsigned char *other = copies > 1 ? malloc(bytes) : NULL;
    if (copies > 1 && !other)
        return td_fail_alloc(bytes);
    td_organisation_read(o->organisation, &run, 0);
    for (uint64_t copy = 1; copy < copies; copy++) {
        memcpy(other, run.words, bytes);
        td_organisation_read(o->organisation, &(td_organisation_run){first, count, other, o->plane, false}, copy);
        for (size_t i = 0; i < bytes; i++)
            run.words[i] |= other[i];
    }
    free(other);
    unsigned char *words = o->backing.memory->data + first * o->backing.memory->word_bytes;
    for (size_t i = 0; i < bytes; i++)
        words[i] &= (unsigned char)~run.words[i];
    return TD_OK;
}

/* -- the words, in and out ----------------------------------------------------------------------------------------- */

/* Words of arrays that lie over others come into their copies, where they are looked at, or hold bits of other words
 * too and are put back whole. */
static td_status bring_arrays(const td_memory *memory, bool looks, uint64_t first, uint64_t count)
{
    over *o = (over *)memory->backing;
    td_status status = TD_OK;
    o->backing.bad.bits = 0;
    if (!o->nested)
        return TD_OK;
    const bool whole = td_organisation_reach(o->organisation, first, count, o->rows);
    for (td_row_run run; td_row_set_take(o->rows, &run);) {
        if (status)
            continue;
        status = td_memory_bring_for_write(o->array[run.array], looks || !whole, run.first, run.count);
        if (status == TD_UNCORRECTABLE)
            o->backing.bad = td_bad_above(memory, run.array);
    }
    return status;
}

static td_status prepare(const td_memory *memory, uint64_t first, uint64_t count)
{
    const td_status status = bring_arrays(memory, false, first, count);
    return status ? status : follow_x((over *)memory->backing);
}

static td_status bring_in(const td_memory *memory, uint64_t first, uint64_t count)
{
    over *o = (over *)memory->backing;
    const td_organisation_run run = {first, count, memory->data + first * memory->word_bytes, o->data, false};
    td_status status = bring_arrays(memory, true, first, count);
    if (status)
        return status;
    td_organisation_read(o->organisation, &run, 0);
    status = bring_x(o, first, count);
    return status ? status : check_copies(memory, o, first, count);
}

/* The planes of arrays that are copies; the scratch in place of the others. */
static void seal_x(const over *o, uint64_t first, uint64_t count)
{
    for (size_t i = 0; i < o->count; i++)
        o->sealed_plane[i] = o->array[i]->backing ? o->plane[i] : o->scratch->data;
    const td_organisation_run run = run_of_x(o, first, count, o->sealed_plane);
    td_organisation_write(o->organisation, &run);
}

/* Into the copies that some arrays are, and into a scratch in place of the others. */
static td_status seal(const td_memory *memory, uint64_t first, uint64_t count)
{
    const over *o = (const over *)memory->backing;
    const td_organisation_run run = {first, count, memory->data + first * memory->word_bytes, o->sealed, false};
    td_status status = TD_OK;
    td_organisation_write(o->organisation, &run);
    if (o->backing.memory->unknown_any)
        seal_x(o, first, count);
    (void)td_organisation_reach(o->organisation, first, count, o->rows);
    for (td_row_run reached; td_row_set_take(o->rows, &reached);)
        if (!status)
            status = td_memory_seal(o->array[reached.array], reached.first, reached.count);
    return status;
}

static void put_back(const td_memory *memory, uint64_t first, uint64_t count)
{
    const over *o = (const over *)memory->backing;
    const td_organisation_run run = {first, count, memory->data + first * memory->word_bytes, o->data, false};
    td_organisation_write(o->organisation, &run);
    if (o->backing.memory->unknown_any) {
        const td_organisation_run x = run_of_x(o, first, count, o->plane);
        td_organisation_write(o->organisation, &x);
    }
    if (!o->nested)
        return;
    (void)td_organisation_reach(o->organisation, first, count, o->rows);
    for (td_row_run reached; td_row_set_take(o->rows, &reached);)
        td_memory_put_back(o->array[reached.array], reached.first, reached.count);
}

/* Arrays of the library whose bits have no copies, or are only written. */
static bool passes(const td_memory *memory, bool reads)
{
    const over *o = (const over *)memory->backing;
    return !o->nested && !any_x(o) && td_organisation_passes(o->organisation, reads);
}

static void write_words(const td_memory *memory, uint64_t first, uint64_t count, const unsigned char *words,
                        bool stream)
{
    const over *o = (const over *)memory->backing;
    const td_organisation_run run = {first, count, (unsigned char *)words, o->data, stream}; /* it is only read */
    td_organisation_pass(o->organisation, &run, false);
}

static void read_words(const td_memory *memory, uint64_t first, uint64_t count, unsigned char *words, bool stream)
{
    const over *o = (const over *)memory->backing;
    td_organisation_pass(o->organisation, &(td_organisation_run){first, count, words, o->data, stream}, true);
}

static unsigned char *find_words(const td_memory *memory, uint64_t first, uint64_t *count)
{
    const over *o = (const over *)memory->backing;
    return td_organisation_find_words(o->organisation, o->data, first, count);
}

static struct td_joined *join(const td_memory *memory, const td_plan *plan, bool back)
{
    return td_organisation_join(((const over *)memory->backing)->organisation, plan, back);
}

static void run_joined(const td_memory *memory, const struct td_joined *joined, unsigned char *tensor, bool stream)
{
    td_joined_run(joined, tensor, ((const over *)memory->backing)->data, stream);
}

/* -- where they lie ------------------------------------------------------------------------------------------------ */

static td_memory *const *below(const td_memory *memory, size_t *count)
{
    const over *o = (const over *)memory->backing;
    *count = o->count;
    return o->array;
}

static bool reach(const td_memory *memory, uint64_t first, uint64_t count, td_reach_fn *fn, void *context)
{
    const over *o = (const over *)memory->backing;
    const bool whole = td_organisation_reach(o->organisation, first, count, o->rows);
    for (td_row_run run; td_row_set_take(o->rows, &run);)
        fn(context, o->array[run.array], run.first, run.count);
    return whole;
}

/* -- single bits --------------------------------------------------------------------------------------------------- */

static void find_down(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_down_fn *fn, void *context)
{
    td_organisation_find_down(((const over *)memory->backing)->organisation, bits, copy, fn, context);
}

static td_up find_up(const td_memory *memory, size_t below, uint64_t word, uint64_t bit, td_word_bits *out)
{
    const over *o = (const over *)memory->backing;
    return td_organisation_find_up(o->organisation, below, word, bit, out) ? TD_UP_BIT : TD_UP_NOTHING;
}

/* -- making it ----------------------------------------------------------------------------------------------------- */

static void destroy(td_backing *backing)
{
    over *o = (over *)backing;
    td_organisation_destroy(&o->organisation);
    td_memory_destroy(&o->scratch);
    free(o->sealed);
    free(o->sealed_plane);
    free(o->plane);
    td_memory_destroy(&o->known);
    free(o->array);
    free(o->data);
    td_row_set_destroy(&o->rows);
    free(o->first_macro);
    free(o);
}

static td_status check_arrays(td_memory *const *arrays, size_t count)
{
    if (count > TD_MAX_BANKS)
        return td_fail(TD_ARGUMENT, "%zu arrays; pass at most %" PRIu64, count, TD_MAX_BANKS);
    for (size_t i = 0; i < count; i++) {
        if (!arrays[i])
            return td_fail(TD_ARGUMENT, "array %zu is NULL; create it first", i);
        if (arrays[i]->width_bits != arrays[0]->width_bits || arrays[i]->depth_words != arrays[0]->depth_words)
            return td_fail(TD_ARGUMENT,
                           "array %zu is %" PRIu64 " words of %" PRIu64 " bits, array 0 is %" PRIu64 " of %" PRIu64
                           "; use arrays of one geometry, and lay those of another over each other first",
                           i, arrays[i]->depth_words, arrays[i]->width_bits, arrays[0]->depth_words,
                           arrays[0]->width_bits);
    }
    return TD_OK;
}

static int by_pointer(const void *a, const void *b)
{
    const td_memory *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

/* No array stands twice in the list, which the caller sorts away from the original order. */
static td_status check_apart(td_memory **sorted, size_t count)
{
    qsort(sorted, count, sizeof(td_memory *), by_pointer);
    for (size_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return td_fail(TD_ARGUMENT, "array \"%s\" stands in the list twice; pass every array once",
                           sorted[i]->name);
    return TD_OK;
}

/* Where an array may refuse what is written, seal() has somewhere to write to that is nobody's storage. */
static td_status prepare_seal(over *o, size_t count)
{
    for (size_t i = 0; i < count; i++)
        o->backing.refuses |= o->array[i]->backing && o->array[i]->backing->refuses;
    if (!o->backing.refuses)
        return TD_OK;
    o->sealed = malloc(count * sizeof *o->sealed);
    o->sealed_plane = malloc(count * sizeof *o->sealed_plane);
    if (!o->sealed || !o->sealed_plane)
        return td_fail_alloc(count * 2 * sizeof *o->sealed);
    const td_status status =
        td_memory_create("scratch", o->array[0]->width_bits, o->array[0]->depth_words, &o->scratch);
    for (size_t i = 0; i < count && !status; i++)
        o->sealed[i] = o->array[i]->backing ? o->array[i]->data : o->scratch->data;
    return status;
}

static td_status take_arrays(over *o, td_memory *const *arrays, size_t count)
{
    if (!arrays || !count)
        return td_fail(TD_ARGUMENT, "no arrays; pass the memories that its bits lie in, at least one");
    td_status status = check_arrays(arrays, count);
    if (status)
        return status;
    o->count = count;
    for (size_t i = 0; i < count; i++)
        o->nested |= arrays[i]->backing != NULL;
    o->backing = (td_backing){.bring_in = bring_in,
                              .prepare = prepare,
                              .seal = seal,
                              .put_back = put_back,
                              .passes = passes,
                              .read_words = read_words,
                              .write_words = write_words,
                              .find_words = find_words,
                              .join = join,
                              .run_joined = run_joined,
                              .free_joined = td_joined_destroy,
                              .destroy = destroy,
                              .below = below,
                              .reach = reach,
                              .find_down = find_down,
                              .find_up = find_up};
    o->array = malloc(count * sizeof(td_memory *));
    o->data = malloc(count * sizeof *o->data);
    o->first_macro = o->nested ? malloc(count * sizeof *o->first_macro) : NULL;
    if (!o->array || !o->data || (o->nested && !o->first_macro))
        return td_fail_alloc(count * (sizeof(td_memory *) + sizeof *o->data + sizeof *o->first_macro));
    memcpy(o->array, arrays, count * sizeof(td_memory *));
    status = check_apart(o->array, count);
    memcpy(o->array, arrays, count * sizeof(td_memory *));
    o->backing.first_macro = o->first_macro;
    o->backing.macros = o->nested ? 0 : count;
    for (size_t i = 0; i < count; i++) {
        o->data[i] = arrays[i]->data;
        if (o->nested) {
            o->first_macro[i] = o->backing.macros;
            o->backing.macros += td_memory_macros(arrays[i]);
        }
    }
    if (!status)
        status = td_row_set_create(count, arrays[0]->depth_words, &o->rows);
    return status ? status : prepare_seal(o, count);
}

td_status td_memory_over(const char *name, uint64_t width_bits, uint64_t depth_words, const td_layout *organisation,
                         td_memory *const *arrays, size_t count, td_memory **out)
{
    td_memory *memory = NULL;
    over *o = NULL;
    td_status status = TD_OK;
    if (!name || !*name)
        name = "memory";
    if (!out || !organisation)
        status = td_fail(TD_ARGUMENT, "the %s is NULL; pass one", out ? "organisation" : "output");
    if (!status)
        status = td_memory_check_geometry(width_bits, depth_words);
    if (!status) {
        o = calloc(1, sizeof *o);
        status = o ? take_arrays(o, arrays, count) : td_fail_alloc(sizeof *o);
    }
    if (!status)
        status = td_memory_create(name, width_bits, depth_words, &memory);
    if (!status)
        status = td_organisation_create(organisation, width_bits, depth_words,
                                        &(td_geometry){.width_bits = arrays[0]->width_bits,
                                                       .depth_words = arrays[0]->depth_words,
                                                       .banks = count,
                                                       .word_bytes = arrays[0]->word_bytes},
                                        &o->organisation);
    if (status) {
        if (o)
            destroy(&o->backing);
        td_memory_destroy(&memory);
        td_fail_prefix("memory_over \"%s\": ", name);
        return status;
    }
    o->backing.copies = td_organisation_copies(o->organisation);
    memory->backing = &o->backing;
    o->backing.memory = memory;
    *out = memory;
    return TD_OK;
}
