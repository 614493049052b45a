/* Steps of a schedule that depend on each other in nothing, so that threads may run them side by side: moves between
 * tensors and plain words behind each other, and tensors that are made behind each other. schedule.c finds them when a
 * program is compiled, run.c runs them. A batch is worth threads by its bytes, as a single large move is (base/pool.h);
 * run.c takes the steps of all others one by one. */
#include "program/program.h"

#include "base/pool.h"
#include "base/thresholds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* -- finding moves ------------------------------------------------------------------------------------------------- */

/* Words of both moves. */
static bool share_words(const td_op *a, const td_op *b)
{
    const td_program_move *x = a->move, *y = b->move;
    if (a->at + x->end <= b->at || b->at + y->end <= a->at)
        return false;
    for (size_t i = 0; i < a->memory->banks; i++)
        for (size_t k = 0; k < b->memory->banks; k++)
            if (a->memory->bank[i] == b->memory->bank[k])
                for (size_t u = 0; u < x->span_count; u++)
                    for (size_t v = 0; v < y->span_count && x->spans[u].bank == i; v++)
                        if (y->spans[v].bank == k &&
                            a->at + x->spans[u].first < b->at + y->spans[v].first + y->spans[v].count &&
                            b->at + y->spans[v].first < a->at + x->spans[u].first + x->spans[u].count)
                            return true;
    return false;
}

/* Bytes of both tensors. One that a run has still to make is nobody else's. */
static bool share_elems(const td_quick *a, const td_quick *b)
{
    const td_tensor *x = *a->tensor, *y = *b->tensor;
    if (a->tensor == b->tensor || x == y)
        return true;
    return x && y && (uintptr_t)x->data < (uintptr_t)y->data + y->elems * y->dtype.bytes &&
           (uintptr_t)y->data < (uintptr_t)x->data + x->elems * x->dtype.bytes;
}

/* One of two moves writes what the other one reads or writes. */
static bool depend(const td_graph *g, const td_schedule *s, size_t a, size_t b)
{
    const td_quick *x = &s->quick[a], *y = &s->quick[b];
    if (!(x->dumps && y->dumps) && share_words(&g->op[s->op[a]], &g->op[s->op[b]]))
        return true;
    return (x->dumps || y->dumps) && share_elems(x, y);
}

#define MOST_SPANS 64

/* Whether the move at a place can join a batch: it is small enough to be left whole, and depends on none of it. */
static bool move_goes_with(const td_graph *g, const td_schedule *s, const td_batch *b, size_t place)
{
    const td_op *op = &g->op[s->op[place]];
    if (!s->quick[place].plan || s->quick[place].drops || op->move->span_count > MOST_SPANS ||
        op->move->elems * op->move->dtype.bytes > td_threshold(TD_THRESHOLD_THREAD_BYTES) || b->count == TD_POOL_PARTS)
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        if (depend(g, s, b->first + i, place))
            return false;
    return true;
}

/* -- finding tensors ----------------------------------------------------------------------------------------------- */

/* Making it is work: it is not there already, nor a part of another. */
static bool is_work(const td_op *op)
{
    return op->is_value && !op->is_view && op->kind != TD_OP_OPEN && op->kind != TD_OP_BOUND;
}

static bool value_goes_with(const td_graph *g, const td_schedule *s, const td_batch *b, size_t place)
{
    const td_op *op = &g->op[s->op[place]];
    if (!op->is_value || op->kind == TD_OP_TAKE || op->kind == TD_OP_READ || b->count == TD_POOL_PARTS)
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t a = 0; a < op->args; a++)
            if (s->op[b->first + i] == op->arg[a])
                return false;
    return true;
}

void td_schedule_find_batches(const td_graph *g, td_schedule *s)
{
    for (size_t i = 0; i < s->count;) {
        td_batch b = {.first = (uint32_t)i, .moves = s->quick[i].plan != NULL};
        uint32_t work = 0;
        while (i < s->count && (b.moves ? move_goes_with(g, s, &b, i) : value_goes_with(g, s, &b, i))) {
            const td_op *op = &g->op[s->op[i++]];
            b.bytes += b.moves ? op->move->elems * op->move->dtype.bytes : 0;
            work += b.moves || is_work(op);
            b.count++;
        }
        if (work > 1)
            s->batch[s->batches++] = b;
        i += b.count == 0;
    }
}

/* -- running moves ------------------------------------------------------------------------------------------------- */

typedef struct shared_moves {
    const td_quick *quick;
    const td_batch *batch;
    unsigned parts;
} shared_moves;

/* A move belongs to the part in which its first byte lies, when all tensors are put in a row. */
static void run_moves(void *context, unsigned begin, unsigned end)
{
    const shared_moves *w = context;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->batch->count; i++) {
        const td_quick *q = &w->quick[i];
        const uint64_t part = bytes * w->parts / w->batch->bytes;
        if (part >= begin && part < end)
            td_quick_run(q);
        bytes += q->plan->elems * q->plan->tensor_dtype.bytes;
    }
}

static bool share_moves(const td_schedule *s, const td_batch *b)
{
    shared_moves w = {.quick = &s->quick[b->first], .batch = b, .parts = td_pool_parts(b->bytes, b->count)};
    if (w.parts < 2)
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        if (!td_binding_is_plain(w.quick[i].memory))
            return false;
    td_pool_run(w.parts, run_moves, &w);
    return true;
}

/* -- running tensors ----------------------------------------------------------------------------------------------- */

typedef struct shared_values {
    const td_graph *graph;
    const uint32_t *op;
    uint32_t count;
    unsigned char part[TD_POOL_PARTS]; /* of each */
    atomic_uint_least32_t failed;      /* the first op of the text that is refused; TD_NO_OP: none */
    pthread_mutex_t lock;              /* of what follows */
    td_status status;
    char message[TD_MESSAGE_BYTES]; /* of the thread that ran it */
} shared_values;

/* A message is its thread's, and of several the first in the text counts, whichever thread comes first. */
static void note_failure(shared_values *w, uint32_t op, td_status status)
{
    pthread_mutex_lock(&w->lock);
    if (op < atomic_load(&w->failed)) {
        atomic_store(&w->failed, op);
        w->status = status;
        memcpy(w->message, td_last_error(), strlen(td_last_error()) + 1);
    }
    pthread_mutex_unlock(&w->lock);
}

/* What a run has still to make of it. */
static uint64_t bytes_to_make(const td_op *op)
{
    return !is_work(op) || (op->constant && op->value) ? 0 : op->like.elems * op->like.dtype.bytes;
}

static void run_values(void *context, unsigned begin, unsigned end)
{
    shared_values *w = context;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->part[i] >= begin && w->part[i] < end && w->op[i] < atomic_load(&w->failed)) {
            const td_status status = td_op_make(w->graph, &w->graph->op[w->op[i]]);
            if (status)
                note_failure(w, w->op[i], status);
        }
}

static bool share_values(const td_graph *g, const td_schedule *s, const td_batch *b, td_batch_failure *failure)
{
    const uint32_t *ops = &s->op[b->first];
    uint64_t bytes = 0, before = 0;
    for (uint32_t i = 0; i < b->count; i++)
        bytes += bytes_to_make(&g->op[ops[i]]);
    const unsigned parts = td_pool_parts(bytes, b->count);
    if (parts < 2)
        return false;
    shared_values w = {.graph = g, .op = ops, .count = b->count, .failed = TD_NO_OP};
    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t part = before < bytes ? before * parts / bytes : parts - 1;
        w.part[i] = (unsigned char)part;
        before += bytes_to_make(&g->op[ops[i]]);
    }
    pthread_mutex_init(&w.lock, NULL);
    td_pool_run(parts, run_values, &w);
    pthread_mutex_destroy(&w.lock);
    failure->op = atomic_load(&w.failed);
    failure->status = w.status;
    if (w.status)
        td_fail(w.status, "%s", w.message);
    return true;
}

bool td_batch_run(const td_graph *g, const td_schedule *s, const td_batch *b, td_batch_failure *failure)
{
    *failure = (td_batch_failure){.op = TD_NO_OP};
    return b->moves ? share_moves(s, b) : share_values(g, s, b, failure);
}
