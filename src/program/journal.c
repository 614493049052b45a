/* See journal.h. Called by run.c where a step that may be refused comes after one that writes. All copies of a run lie
 * in one buffer, which is kept for the next run while it is small. */
#include "program/journal.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES ((size_t)1 << 20)

/* Words that the schedule writes. */
typedef struct written {
    td_memory *memory;
    uint64_t first, count;
} written;

/* Bytes as they were, in the order of the buffer. */
typedef struct saved {
    unsigned char *at;
    size_t bytes;
    td_memory *memory; /* whose bits that are x these were the plane of; NULL: no plane */
} saved;

struct td_journal {
    written *words;
    size_t words_count;
    uint32_t *dumped; /* ops of tensors that dumps write */
    size_t dumped_count;

    saved *saved;
    size_t count, room;
    unsigned char *copy;
    size_t bytes, copy_room;
    bool failed; /* an allocation was refused */
};

/* -- what a schedule writes ---------------------------------------------------------------------------------------- */

static td_status list_words(td_journal *j, const td_graph *g, const td_schedule *s, td_memory *memory)
{
    td_span *spans = NULL;
    size_t count = 0;
    td_status status = td_schedule_spans(g, s, memory, TD_PROGRAM_WRITES, &spans, &count);
    written *grown = status || !count ? NULL : realloc(j->words, (j->words_count + count) * sizeof *grown);
    if (grown) {
        j->words = grown;
        for (size_t i = 0; i < count; i++)
            grown[j->words_count++] = (written){memory, spans[i].first, spans[i].count};
    } else if (!status && count)
        status = td_fail_alloc((j->words_count + count) * sizeof *grown);
    free(spans);
    return status;
}

static td_status list_tensors(td_journal *j, const td_graph *g, const td_schedule *s)
{
    j->dumped = malloc((s->count + 1) * sizeof *j->dumped);
    if (!j->dumped)
        return td_fail_alloc((s->count + 1) * sizeof *j->dumped);
    for (size_t i = 0; i < s->count; i++)
        if (g->op[s->op[i]].kind == TD_OP_DUMP)
            j->dumped[j->dumped_count++] = g->op[s->op[i]].arg[0];
    return TD_OK;
}

td_status td_journal_create(const td_program *p, const td_graph *g, const td_schedule *s, td_journal **out)
{
    td_journal *j = calloc(1, sizeof *j);
    if (!j)
        return td_fail_alloc(sizeof *j);
    td_status status = list_tensors(j, g, s);
    for (size_t b = 0; b < p->bindings && !status; b++)
        for (size_t i = 0; p->binding[b]->kind == TD_NAME_MEMORY && i < p->binding[b]->banks && !status; i++)
            status = list_words(j, g, s, p->binding[b]->bank[i]);
    if (status)
        td_journal_destroy(&j);
    else
        *out = j;
    return status;
}

void td_journal_destroy(td_journal **journal)
{
    td_journal *j = *journal;
    if (!j)
        return;
    free(j->words);
    free(j->dumped);
    free(j->saved);
    free(j->copy);
    free(j);
    *journal = NULL;
}

/* -- a run --------------------------------------------------------------------------------------------------------- */

/* Notes where bytes are; they are copied when all are known. */
static void note(td_journal *j, unsigned char *at, size_t bytes, td_memory *x_of)
{
    saved *const list = j->failed ? NULL : td_grow(j->saved, j->count, &j->room, sizeof *list, 32);
    j->failed = !list;
    if (!list)
        return;
    j->saved = list;
    saved *next = &j->saved[j->count++];
    next->at = at;
    next->bytes = bytes;
    next->memory = x_of;
    j->bytes += bytes;
}

static void note_words(void *context, td_memory *memory, uint64_t first, uint64_t count)
{
    td_journal *j = context;
    const size_t bytes = (size_t)count * memory->word_bytes;
    if (memory->backing) {
        memory->backing->reach(memory, first, count, note_words, j);
        return;
    }
    note(j, memory->data + first * memory->word_bytes, bytes, NULL);
    if (memory->unknown && memory->unknown_any)
        note(j, memory->unknown->data + first * memory->word_bytes, bytes, memory);
}

static bool make_room(td_journal *j)
{
    if (j->bytes <= j->copy_room)
        return true;
    free(j->copy); /* nothing of it is needed, so that realloc would copy in vain */
    j->copy = malloc(j->bytes);
    j->copy_room = j->copy ? j->bytes : 0;
    return j->copy;
}

td_status td_journal_save(td_journal *j, const td_graph *g)
{
    j->count = j->bytes = 0;
    j->failed = false;
    for (size_t i = 0; i < j->words_count; i++)
        note_words(j, j->words[i].memory, j->words[i].first, j->words[i].count);
    for (size_t i = 0; i < j->dumped_count; i++) {
        const td_tensor *t = g->op[j->dumped[i]].value;
        if (t)
            note(j, t->data, (size_t)t->elems * t->dtype.bytes, NULL);
    }
    if (j->failed || !make_room(j))
        return td_fail_alloc(j->bytes + j->count * sizeof *j->saved);
    unsigned char *copy = j->copy;
    for (size_t i = 0; i < j->count; copy += j->saved[i++].bytes)
        memcpy(copy, j->saved[i].at, j->saved[i].bytes);
    return TD_OK;
}

void td_journal_restore(td_journal *j)
{
    const unsigned char *copy = j->copy;
    for (size_t i = 0; i < j->count; copy += j->saved[i++].bytes) {
        memcpy(j->saved[i].at, copy, j->saved[i].bytes);
        if (j->saved[i].memory)
            j->saved[i].memory->unknown_any = true;
    }
    td_journal_end(j);
}

void td_journal_end(td_journal *j)
{
    if (j->copy_room <= KEPT_BYTES)
        return;
    free(j->copy);
    j->copy = NULL;
    j->copy_room = 0;
}
