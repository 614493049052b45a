/* See journal.h. Called by run.c where a step that may be refused comes after one that writes. */
#include "program/journal.h"

#include <stdlib.h>
#include <string.h>

/* Bytes as they were. */
typedef struct saved {
    unsigned char *at, *copy;
    size_t bytes;
    td_memory *memory; /* whose bits that are x these were the plane of; NULL: no plane */
    struct saved *next;
} saved;

struct td_journal {
    saved *first;
    td_status status;
};

static void save(td_journal *j, unsigned char *at, size_t bytes, td_memory *x_of)
{
    saved *s = j->status ? NULL : malloc(sizeof *s);
    unsigned char *copy = s ? malloc(bytes ? bytes : 1) : NULL;
    if (!copy) {
        free(s);
        if (!j->status)
            j->status = td_fail_alloc(bytes);
        return;
    }
    memcpy(copy, at, bytes);
    *s = (saved){.at = at, .copy = copy, .bytes = bytes, .memory = x_of, .next = j->first};
    j->first = s;
}

static void save_words(void *context, td_memory *memory, uint64_t first, uint64_t count)
{
    td_journal *j = context;
    const size_t bytes = (size_t)count * memory->word_bytes;
    if (memory->backing) {
        memory->backing->reach(memory, first, count, save_words, j);
        return;
    }
    save(j, memory->data + first * memory->word_bytes, bytes, NULL);
    if (memory->unknown && memory->unknown_any)
        save(j, memory->unknown->data + first * memory->word_bytes, bytes, memory);
}

static td_status save_bank(const td_graph *g, const td_schedule *s, td_memory *memory, td_journal *j)
{
    td_span *spans = NULL;
    size_t count = 0;
    const td_status status = td_schedule_spans(g, s, memory, TD_PROGRAM_WRITES, &spans, &count);
    for (size_t i = 0; i < count && !status; i++)
        save_words(j, memory, spans[i].first, spans[i].count);
    free(spans);
    return status ? status : j->status;
}

td_status td_journal_create(const td_program *p, const td_graph *g, const td_schedule *s, td_journal **out)
{
    td_journal *j = calloc(1, sizeof *j);
    td_status status = j ? TD_OK : td_fail_alloc(sizeof *j);
    for (size_t b = 0; b < p->bindings && !status; b++)
        for (size_t i = 0; p->binding[b]->kind == TD_NAME_MEMORY && i < p->binding[b]->banks && !status; i++)
            status = save_bank(g, s, p->binding[b]->bank[i], j);
    for (size_t i = 0; i < s->count && !status; i++) {
        const td_op *op = &g->op[s->op[i]];
        const td_tensor *t = op->kind == TD_OP_DUMP ? g->op[op->arg[0]].value : NULL;
        if (t)
            save(j, t->data, (size_t)t->elems * t->dtype.bytes, NULL);
        status = j->status;
    }
    if (status)
        td_journal_destroy(&j);
    else
        *out = j;
    return status;
}

void td_journal_restore(td_journal *journal)
{
    for (const saved *s = journal->first; s; s = s->next) {
        memcpy(s->at, s->copy, s->bytes);
        if (s->memory)
            s->memory->unknown_any = true;
    }
}

void td_journal_destroy(td_journal **journal)
{
    if (!*journal)
        return;
    while ((*journal)->first) {
        saved *next = (*journal)->first->next;
        free((*journal)->first->copy);
        free((*journal)->first);
        (*journal)->first = next;
    }
    free(*journal);
    *journal = NULL;
}
