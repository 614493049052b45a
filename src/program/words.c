/* Which words the ops of a program read and write, bank by bank: for the bridge (td_program_spans), for the journal of
 * run.c, and for the check that no two steps write one place unnoticed. */
#include "program/program.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What an op does with its words. */
static int effects_of(const td_op *op)
{
    switch (op->kind) {
    case TD_OP_LOAD:
        return TD_PROGRAM_WRITES | (op->move->partial ? TD_PARTLY : 0);
    case TD_OP_FILL:
    case TD_OP_WRITE:
        return TD_PROGRAM_WRITES;
    case TD_OP_TAKE:
    case TD_OP_READ:
    case TD_OP_DUMP:
    case TD_OP_CHECKPOINT:
        return TD_PROGRAM_READS;
    default:
        return 0;
    }
}

td_status td_op_words(const td_op *op, td_op_words_fn *fn, void *context)
{
    const int effects = op->memory ? effects_of(op) : 0;
    td_status status = TD_OK;
    if (!effects)
        return TD_OK;
    if (!op->move)
        return fn(context, op->memory->bank[0], op->first, op->count, effects);
    for (size_t i = 0; i < op->move->span_count && !status; i++) {
        const td_span *s = &op->move->spans[i];
        status = fn(context, op->memory->bank[s->bank], s->first + op->at, s->count, effects);
    }
    return status;
}

/* -- unions -------------------------------------------------------------------------------------------------------- */

typedef struct collector {
    const td_memory *memory;
    int effects;
    td_span *span;
    size_t count, room;
} collector;

static td_status collect(void *context, const td_memory *memory, uint64_t first, uint64_t count, int effects)
{
    collector *c = context;
    if (memory != c->memory || !(effects & c->effects))
        return TD_OK;
    if (c->count && c->span[c->count - 1].first + c->span[c->count - 1].count == first) {
        c->span[c->count - 1].count += count;
        return TD_OK;
    }
    td_span *const spans = td_grow(c->span, c->count, &c->room, sizeof *spans, 64);
    if (!spans)
        return TD_NO_MEMORY;
    c->span = spans;
    c->span[c->count++] = (td_span){.first = first, .count = count};
    return TD_OK;
}

static int by_first(const void *a, const void *b)
{
    const td_span *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

td_status td_schedule_spans(const td_graph *g, const td_schedule *s, const td_memory *memory, int effects,
                            td_span **spans, size_t *count)
{
    collector c = {.memory = memory, .effects = effects};
    td_status status = TD_OK;
    for (size_t i = 0; i < s->count && !status; i++)
        status = td_op_words(&g->op[s->op[i]], collect, &c);
    if (status) {
        free(c.span);
        return status;
    }
    size_t used = 0;
    if (c.count)
        qsort(c.span, c.count, sizeof *c.span, by_first);
    for (size_t i = 0; i < c.count; i++) {
        td_span *last = used ? &c.span[used - 1] : NULL;
        const uint64_t end = c.span[i].first + c.span[i].count;
        if (last && c.span[i].first <= last->first + last->count) {
            if (end > last->first + last->count)
                last->count = end - last->first;
        } else
            c.span[used++] = c.span[i];
    }
    *spans = c.span;
    *count = used;
    return TD_OK;
}

td_status td_program_spans(td_program *program, const char *label, const char *arguments, const td_memory *memory,
                           int effects, td_span **spans, size_t *count)
{
    td_schedule *schedule = NULL;
    td_status status = TD_OK;
    if (!memory || !spans || !count)
        status = td_fail(TD_ARGUMENT, "the %s is NULL; pass one", memory ? "output" : "memory");
    else if (!effects || effects & ~(TD_PROGRAM_READS | TD_PROGRAM_WRITES | TD_PROGRAM_PARTLY))
        status = td_fail(TD_ARGUMENT, "effects %d; pass TD_PROGRAM_READS, _WRITES, _PARTLY or a sum of them", effects);
    if (!status)
        status = td_program_prepare(program, label, arguments, &schedule);
    if (!status)
        status = td_schedule_spans(program->graph, schedule, memory, effects, spans, count);
    if (status)
        td_fail_prefix("program_spans: ");
    return status;
}

/* -- overlaps ------------------------------------------------------------------------------------------------------ */

/* Words of one op in one memory. */
typedef struct touch {
    const td_memory *memory;
    uint64_t first, end;
    uint32_t op;
    int effects;
} touch;

typedef struct touches {
    touch *touch;
    size_t count, room;
    uint32_t op;
} touches;

static td_status add_touch(void *context, const td_memory *memory, uint64_t first, uint64_t count, int effects)
{
    touches *t = context;
    touch *const list = td_grow(t->touch, t->count, &t->room, sizeof *list, 256);
    if (!list)
        return TD_NO_MEMORY;
    t->touch = list;
    t->touch[t->count++] = (touch){memory, first, first + count, t->op, effects};
    return TD_OK;
}

static int by_place(const void *a, const void *b)
{
    const touch *x = a, *y = b;
    if (x->memory != y->memory)
        return (uintptr_t)x->memory < (uintptr_t)y->memory ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* A later write that says that it goes over others: `over`, or a layout that keeps what it does not write. */
static bool says_so(const td_op *op)
{
    return op->kind != TD_OP_LOAD || op->form->over || op->move->partial;
}

/* Something reads these words between the two. */
static bool read_between(const touches *t, size_t from, const touch *a, const touch *b)
{
    const uint64_t first = a->first > b->first ? a->first : b->first, end = a->end < b->end ? a->end : b->end;
    const uint32_t low = a->op < b->op ? a->op : b->op, high = a->op < b->op ? b->op : a->op;
    for (size_t i = from; i < t->count && t->touch[i].memory == a->memory && t->touch[i].first < end; i++)
        if ((t->touch[i].effects & TD_PROGRAM_READS) && t->touch[i].end > first && t->touch[i].op > low &&
            t->touch[i].op < high)
            return true;
    return false;
}

static td_status check_pair(const td_program *p, const td_graph *g, const touches *t, size_t from, const touch *a,
                            const touch *b)
{
    const td_op *early = &g->op[a->op < b->op ? a->op : b->op], *late = &g->op[a->op < b->op ? b->op : a->op];
    if (a->op == b->op || early->kind != TD_OP_LOAD || early->label != late->label || says_so(late) ||
        read_between(t, from, a, b))
        return TD_OK;
    td_fail(TD_ALIAS,
            "word %" PRIu64 " of \"%s\" is written%s%s by the load in line %u%s%s already, and nothing has read it; "
            "move one of them, or end this one with `over`",
            a->first > b->first ? a->first : b->first, late->memory->name, *late->loop ? " with " : "", late->loop,
            early->statement->word.line->number, *early->loop ? " with " : "", early->loop);
    return td_program_place(p, &late->statement->word, TD_ALIAS);
}

static td_status check_sorted(const td_program *p, const td_graph *g, const touches *t)
{
    size_t from = 0; /* the first touch that may reach the next one */
    td_status status = TD_OK;
    for (size_t i = 0; i < t->count && !status; i++) {
        const touch *b = &t->touch[i];
        while (from < i && (t->touch[from].memory != b->memory || t->touch[from].end <= b->first))
            from++;
        for (size_t k = from; k < i && !status; k++)
            if (t->touch[k].end > b->first && (t->touch[k].effects & b->effects & TD_PROGRAM_WRITES))
                status = check_pair(p, g, t, from, &t->touch[k], b);
    }
    return status;
}

td_status td_graph_check_overlaps(const td_program *p, const td_graph *g)
{
    touches t = {0};
    td_status status = TD_OK;
    for (size_t i = 0; i < g->count && !status; i++) {
        t.op = (uint32_t)i;
        status = td_op_words(&g->op[i], add_touch, &t);
    }
    if (!status && t.count) {
        qsort(t.touch, t.count, sizeof *t.touch, by_place);
        status = check_sorted(p, g, &t);
    }
    free(t.touch);
    return status;
}
