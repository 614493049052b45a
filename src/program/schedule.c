/* Which ops a run of a label needs, and in which order: first everything that only makes tensors, so that what can be
 * refused is refused before a word is written; then the effects, with the tensors that depend on memories, in the order
 * of the text. What a run needs of its simplest steps is found here too; batches.c finds those that share nothing. Made
 * once for each label when a program is compiled. */
#include "program/journal.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

td_status td_graph_name(td_graph *g, const char *name, uint32_t op)
{
    td_graph_tensor *grown = realloc(g->name, (g->names + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((g->names + 1) * sizeof *grown);
    g->name = grown;
    grown[g->names++] = (td_graph_tensor){.text = name, .op = op};
    return TD_OK;
}

/* A dump or read that the text gives a name: it belongs to its place as an effect does. */
bool td_op_is_root(const td_op *op)
{
    if (!op->is_value)
        return true;
    return (op->kind == TD_OP_TAKE || op->kind == TD_OP_READ) && op->statement->kind == TD_FORM_TENSOR &&
           op->form == op->statement->value[0];
}

enum { NEEDED = 1, ROOT = 2, MOVES = 4 };

/* A load or dump of the tensor as it lies, which nothing can refuse while the words of its memory are plain. */
static bool is_quick(const td_op *op)
{
    return (op->kind == TD_OP_LOAD || op->kind == TD_OP_DUMP) && !op->fused && !td_program_move_refuses(op->move);
}

/* The tensor that views are of. */
static uint32_t root_of(const td_graph *g, uint32_t op, uint64_t *first)
{
    for (*first = 0; g->op[op].is_view; op = g->op[op].arg[0])
        *first += g->op[op].first;
    return op;
}

/* Ops come after those that they take, so one pass from the end marks all that are needed. A quick load reads where the
 * view would point: the view itself is not needed. */
static void mark(const td_graph *g, uint32_t label, unsigned char *flag)
{
    uint64_t first = 0;
    for (size_t i = g->count; i-- > 0;) {
        const td_op *op = &g->op[i];
        if (!op->dead && td_op_is_root(op) && (label == TD_NO_OP || op->label == label))
            flag[i] |= NEEDED | ROOT;
        if (flag[i] & NEEDED)
            for (uint32_t a = 0; a < op->args; a++)
                flag[is_quick(op) ? root_of(g, op->arg[a], &first) : op->arg[a]] |= NEEDED;
    }
    /* MOVES: it depends on what memories hold, or on a tensor that a dump writes */
    for (size_t i = 0; i < g->count; i++)
        if (g->op[i].kind == TD_OP_DUMP)
            flag[g->op[i].arg[0]] |= MOVES;
    for (size_t i = 0; i < g->count; i++) {
        const td_op *op = &g->op[i];
        if (!op->is_value || op->kind == TD_OP_TAKE || op->kind == TD_OP_READ)
            flag[i] |= MOVES;
        for (uint32_t a = 0; a < op->args && op->kind != TD_OP_BOUND; a++)
            flag[i] |= flag[op->arg[a]] & MOVES;
    }
}

static bool writes(const td_op *op)
{
    return op->kind == TD_OP_LOAD || op->kind == TD_OP_FILL || op->kind == TD_OP_WRITE || op->kind == TD_OP_DUMP;
}

/* A view keeps the tensor that it is of. */
static void keep_until(const td_graph *g, const td_schedule *s, uint32_t op, uint32_t place)
{
    for (;; op = g->op[op].arg[0]) {
        if (s->last_use[op] != TD_NO_OP)
            s->last_use[op] = place;
        if (!g->op[op].is_view)
            return;
    }
}

/* -- quick moves --------------------------------------------------------------------------------------------------- */

static void add_quick(const td_graph *g, td_schedule *s, size_t place)
{
    const td_op *op = &g->op[s->op[place]];
    uint64_t first = 0;
    if (!is_quick(op))
        return;
    const uint32_t root = root_of(g, op->arg[0], &first);
    const td_op *of = &g->op[root];
    s->quick[place] = (td_quick){.plan = op->move->plan,
                                 .bank = op->bank,
                                 .convert = op->move->convert,
                                 .tensor = &of->value,
                                 .offset_bytes = first * of->like.dtype.bytes,
                                 .memory = op->memory,
                                 .dumps = op->kind == TD_OP_DUMP,
                                 .drops = s->last_use[root] == place && !of->constant && !of->written &&
                                          of->kind != TD_OP_BOUND && of->kind != TD_OP_OPEN};
}

/* -- the whole ----------------------------------------------------------------------------------------------------- */

static void add_memory(td_schedule *s, const td_binding *memory)
{
    for (size_t i = s->memories; i-- > 0;)
        if (s->memory[i] == memory)
            return;
    s->memory[s->memories++] = memory;
}

/* Tensors that depend on each other in nothing come next to each other, so that threads can make them side by side:
 * those of a window are sorted by how many steps of it they wait for. A window ends before it holds many tensors that
 * the order of the text would have given up sooner. */
#define WINDOW_OPS TD_POOL_PARTS
#define WINDOW_BYTES ((uint64_t)64 << 20)

static void sort_window(const td_graph *g, uint32_t *op, size_t count)
{
    unsigned char level[WINDOW_OPS] = {0};
    for (size_t i = 0; i < count; i++)
        for (uint32_t a = 0; a < g->op[op[i]].args; a++)
            for (size_t k = 0; k < i; k++)
                if (op[k] == g->op[op[i]].arg[a] && level[k] >= level[i])
                    level[i] = (unsigned char)(level[k] + 1);
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && level[k - 1] > level[k]; k--) {
            const uint32_t later = op[k - 1];
            const unsigned char its = level[k - 1];
            op[k - 1] = op[k];
            level[k - 1] = level[k];
            op[k] = later;
            level[k] = its;
        }
}

static void sort_windows(const td_graph *g, td_schedule *s)
{
    for (size_t first = 0, end = 0; first < s->pure; first = end) {
        uint64_t bytes = 0;
        for (; end < s->pure && end - first < WINDOW_OPS && (end == first || bytes <= WINDOW_BYTES); end++) {
            const td_op *op = &g->op[s->op[end]];
            bytes += op->is_view || op->kind == TD_OP_OPEN || op->kind == TD_OP_BOUND
                         ? 0
                         : op->like.elems * op->like.dtype.bytes;
        }
        sort_window(g, &s->op[first], end - first);
    }
}

static void list_ops(const td_graph *g, td_schedule *s, const unsigned char *flag)
{
    bool wrote = false;
    for (size_t i = 0; i < g->count; i++)
        if ((flag[i] & NEEDED) && !(flag[i] & MOVES))
            s->op[s->count++] = (uint32_t)i;
    s->pure = s->count;
    sort_windows(g, s);
    for (size_t i = 0; i < g->count; i++)
        if ((flag[i] & NEEDED) && (flag[i] & MOVES)) {
            const td_op *op = &g->op[i];
            s->op[s->count++] = (uint32_t)i;
            s->journal |= wrote && (op->refuses || (op->is_value && op->kind != TD_OP_BOUND));
            s->checkpoints |= op->kind == TD_OP_CHECKPOINT;
            wrote |= writes(op);
            if (op->memory)
                add_memory(s, op->memory);
        }
    for (size_t i = 0; i < s->count; i++)
        if (g->op[s->op[i]].kind == TD_OP_OPEN || g->op[s->op[i]].kind == TD_OP_BOUND)
            s->source[s->sources++] = s->op[i];
}

td_status td_schedule_make(td_graph *g, uint32_t label, td_schedule *out)
{
    const size_t room = g->count + 1;
    unsigned char *flag = calloc(room, 1);
    *out = (td_schedule){.label = label,
                         .op = calloc(room, sizeof *out->op),
                         .quick = calloc(room, sizeof *out->quick),
                         .last_use = malloc(room * sizeof *out->last_use),
                         .source = calloc(room, sizeof *out->source),
                         .memory = calloc(room, sizeof(void *)),
                         .batch = calloc(room, sizeof *out->batch)};
    if (!flag || !out->op || !out->quick || !out->last_use || !out->source || !out->memory || !out->batch) {
        free(flag);
        return td_fail_alloc(room * sizeof *out->quick);
    }
    mark(g, label, flag);
    list_ops(g, out, flag);
    for (size_t i = 0; i < g->count; i++)
        out->last_use[i] = flag[i] & ROOT ? TD_NO_OP : 0;
    for (size_t i = 0; i < out->count; i++)
        for (uint32_t a = 0; a < g->op[out->op[i]].args; a++)
            keep_until(g, out, g->op[out->op[i]].arg[a], (uint32_t)i);
    for (size_t i = out->pure; i < out->count; i++)
        add_quick(g, out, i);
    td_schedule_find_batches(g, out);
    free(flag);
    return TD_OK;
}

void td_schedule_free(td_schedule *s)
{
    free(s->op);
    free(s->quick);
    free(s->last_use);
    free(s->source);
    free((void *)s->memory);
    free(s->batch);
    td_journal_destroy(&s->kept);
}
