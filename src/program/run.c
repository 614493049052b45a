/* Runs a compiled program, or a label of it. A load through a plan that the program holds goes to exec at once; what
 * may be refused, and memories whose words are elsewhere or are x, go through the calls of the public header. A run
 * that is refused has changed nothing: tensors are made before anything is written, and where a step that may be
 * refused comes after one that writes, journal.c keeps the words. */
#include "program/journal.h"
#include "program/passes.h"

#include "backdoor/call.h"
#include "base/profile.h"
#include "base/record.h"
#include "compare/compare.h"
#include "exec/exec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void td_quick_run(const td_quick *q)
{
    const td_run run = {
        .plan = q->plan, .bank = q->bank, .tensor = (*q->tensor)->data + q->offset_bytes, .convert = q->convert};
    if (q->dumps)
        td_exec_dump(&run);
    else
        td_exec_load(&run);
}

static td_status load_by_call(td_op *op, const td_tensor *tensor)
{
    const td_program_move *m = op->move;
    if (m->truncate)
        return td_backdoor_load_matrix(op->memory->bank[0], tensor, op->at,
                                       op->at + (tensor->shape.rank == 2 ? tensor->shape.dim[0] : 1));
    td_status status = td_op_move_layout(op);
    const td_call call = {.operation = "load",
                          .bank = (const td_memory *const *)op->memory->bank,
                          .banks = op->memory->banks,
                          .tensor = tensor,
                          .layout = op->moved ? op->moved : m->layout,
                          .as = td_layout_choose_as(m->layout, m->as)};
    return status ? status : td_call_run(&call);
}

static td_status load_tensor(td_op *op, const td_tensor *tensor, bool plain)
{
    const td_program_move *m = op->move;
    if (!plain || (m->convert && m->convert->check))
        return load_by_call(op, tensor);
    const td_run run = {.plan = m->plan, .bank = op->bank, .tensor = tensor->data, .convert = m->convert};
    td_exec_load(&run);
    return TD_OK;
}

/* A view that no step but loads takes is made here, where a load needs it as a tensor. */
static td_status make_view(const td_graph *g, uint32_t number)
{
    td_op *op = &g->op[number];
    if (!op->is_view)
        return TD_OK;
    const td_status status = make_view(g, op->arg[0]);
    return status ? status : td_op_evaluate(g, op);
}

static td_status load(const td_graph *g, td_op *op)
{
    const bool plain = td_binding_is_plain(op->memory);
    td_tensor *made = NULL;
    bool done = false;
    td_status status = TD_OK;
    if (!op->fused) {
        status = make_view(g, op->arg[0]);
        return status ? status : load_tensor(op, g->op[op->arg[0]].value, plain);
    }
    status = td_fused_run(g, op, plain, &made, &done);
    if (!status && !done)
        status = load_tensor(op, made, plain);
    td_tensor_destroy(&made);
    return status;
}

static td_status write_words(const td_op *op)
{
    const td_memory *m = op->memory->bank[0];
    td_status status = TD_OK;
    for (uint64_t i = 0; i < op->count && !status; i++) {
        const uint64_t address = op->first + i;
        status = td_backdoor_write(op->memory->bank[0], &address, 1, op->words + i * m->word_bytes, NULL);
    }
    return status;
}

/* Through the plan that the program holds; at another address than the move's that is the checkpoint's own, since a
 * report names the places. */
static td_status compare_memory(td_op *op, td_comparison *what, td_report **report)
{
    const td_program_move *m = op->move;
    td_status status = td_op_move_layout(op);
    what->banks = op->memory->bank;
    what->bank_count = op->memory->banks;
    what->layout = op->moved ? op->moved : m->layout;
    what->as = td_layout_choose_as(m->layout, m->as);
    const td_call call = {.bank = (const td_memory *const *)what->banks,
                          .banks = what->bank_count,
                          .tensor = what->golden,
                          .layout = what->layout,
                          .compares = true};
    if (!status && op->moved && !op->moved_plan)
        status = td_call_plan(&call, m->memory_dtype, &op->moved_plan);
    const td_call_ready ready = {op->moved ? op->moved_plan : m->plan, m->convert, m->memory_dtype};
    return status ? status : td_compare_ready(what, op->policy, &ready, report);
}

static td_status checkpoint(const td_graph *g, td_op *op, td_checkpoints *out)
{
    td_report *report = NULL;
    td_comparison what = {.golden = g->op[op->arg[op->args - 1]].value};
    td_status status = TD_OK;
    if (op->move && op->move->truncate) {
        /* the rows of a matrix may be longer than a word: they are dumped as a matrix */
        td_tensor *actual = NULL;
        status = td_tensor_create(what.golden->dtype_name, what.golden->shape, &actual);
        if (!status)
            status = td_op_dump(op, actual);
        what.actual = actual;
        if (!status)
            status = td_compare_ready(&what, op->policy, NULL, &report);
        td_tensor_destroy(&actual);
    } else if (op->move)
        status = compare_memory(op, &what, &report);
    else {
        what.actual = g->op[op->arg[0]].value;
        status = td_compare_ready(&what, op->policy, NULL, &report);
    }
    if (!status)
        status = td_checkpoints_add(out, op->name, &report);
    td_report_destroy(&report);
    return status;
}

static td_status run_op(const td_graph *g, td_op *op, td_checkpoints *checkpoints)
{
    switch (op->kind) {
    case TD_OP_LOAD:
        return load(g, op);
    case TD_OP_DUMP:
        return td_op_dump(op, g->op[op->arg[0]].value);
    case TD_OP_FILL:
        return td_memory_fill(op->memory->bank[0], op->text, op->first, op->count);
    case TD_OP_WRITE:
        return write_words(op);
    case TD_OP_SAVE:
        return td_tensor_save(g->op[op->arg[0]].value, op->text);
    case TD_OP_CHECKPOINT:
        return checkpoint(g, op, checkpoints);
    default:
        return td_op_make(g, op);
    }
}

static td_status fail_step(const td_program *p, const td_op *op, td_status status)
{
    if (*op->loop)
        td_fail_prefix("with %s: ", op->loop);
    return td_program_place(p, &op->statement->word, status);
}

/* A tensor that nothing takes any more. Small ones are kept, up to a few MiB in all: fresh pages in every run would
 * take longer than most steps. */
#define KEPT_TENSOR_BYTES ((uint64_t)2 << 20)
#define KEPT_BYTES ((uint64_t)16 << 20)

static void give_up(td_graph *g, td_op *op)
{
    const uint64_t bytes = op->like.elems * op->like.dtype.bytes;
    if (!op->keeps && bytes <= KEPT_TENSOR_BYTES && bytes <= KEPT_BYTES - g->kept_bytes) {
        op->keeps = true;
        g->kept_bytes += bytes;
    }
    if (op->keeps && !op->spare)
        op->spare = op->value;
    else
        td_tensor_destroy(&op->value);
    op->value = NULL;
    op->owned = false;
}

/* Tensors that nothing takes any more make room for others; those that could not be calculated again stay. */
static void drop_used(td_graph *g, const td_schedule *s, size_t place)
{
    const td_op *op = &g->op[s->op[place]];
    for (uint32_t a = 0; a < op->args; a++)
        for (uint32_t number = op->arg[a];; number = g->op[number].arg[0]) {
            td_op *of = &g->op[number];
            const bool view = of->is_view;
            if (s->last_use[number] == place && !of->constant && !of->written && of->owned)
                give_up(g, of);
            else if (s->last_use[number] == place && !of->constant && view)
                of->value = NULL;
            if (!view)
                break;
        }
}

static td_status run_step(const td_program *p, const td_schedule *s, size_t place, td_checkpoints *checkpoints)
{
    const td_quick *q = &s->quick[place];
    td_graph *g = p->graph;
    if (q->plan && td_binding_is_plain(q->memory)) {
        td_quick_run(q);
        if (!q->drops)
            return TD_OK;
    } else {
        td_op *op = &g->op[s->op[place]];
        const td_status status = run_op(g, op, checkpoints);
        if (status)
            return fail_step(p, op, status);
    }
    drop_used(g, s, place);
    return TD_OK;
}

/* -- parts of a schedule ------------------------------------------------------------------------------------------- */

/* An op was refused, and the message is this thread's. Steps that are written before it and come later in the schedule
 * could be refused, too: of all, the first in the text is told. */
static td_status fail_first(const td_program *p, const td_schedule *s, size_t next, size_t end,
                            td_batch_failure failure)
{
    td_graph *g = p->graph;
    char message[TD_MESSAGE_BYTES];
    memcpy(message, td_last_error(), strlen(td_last_error()) + 1);
    for (size_t i = next; i < end; i++) {
        const uint32_t op = s->op[i];
        const td_status status = op < failure.op ? td_op_make(g, &g->op[op]) : TD_OK;
        if (status) {
            failure = (td_batch_failure){op, status};
            memcpy(message, td_last_error(), strlen(td_last_error()) + 1);
        }
    }
    td_fail(failure.status, "%s", message);
    return fail_step(p, &g->op[failure.op], failure.status);
}

/* Tensors that need nothing of a memory: nothing is written yet. */
static td_status run_pure(const td_program *p, const td_schedule *s, const td_batch **batch)
{
    const td_batch *const last = s->batch + s->batches;
    td_graph *g = p->graph;
    for (size_t i = 0, next = 0; i < s->pure; i = next) {
        td_batch_failure failure = {.op = s->op[i]};
        while (*batch < last && (*batch)->first < i)
            ++*batch;
        if (*batch < last && (*batch)->first == i && td_batch_run(g, s, *batch, &failure))
            next = i + (*batch)->count;
        else {
            next = i + 1;
            failure.status = td_op_make(g, &g->op[s->op[i]]);
        }
        if (failure.status)
            return fail_first(p, s, next, s->pure, failure);
        for (; i < next; i++)
            drop_used(g, s, i);
    }
    return TD_OK;
}

static td_status run_effects(const td_program *p, const td_schedule *s, const td_batch *batch,
                             td_checkpoints *checkpoints)
{
    const td_batch *const last = s->batch + s->batches;
    td_status status = TD_OK;
    for (size_t i = s->pure; i < s->count && !status;) {
        td_batch_failure failure;
        while (batch < last && batch->first < i)
            batch++;
        if (batch == last || batch->first != i || !td_batch_run(p->graph, s, batch, &failure)) {
            status = run_step(p, s, i++, checkpoints);
            continue;
        }
        if (failure.status)
            return fail_step(p, &p->graph->op[failure.op], failure.status);
        for (const size_t end = i + batch->count; i < end; i++)
            if (!batch->moves)
                drop_used(p->graph, s, i);
    }
    return status;
}

static bool same_kind(const td_tensor *a, const td_tensor *b)
{
    return td_dtype_equal(a->dtype, b->dtype) && a->shape.rank == b->shape.rank &&
           memcmp(a->shape.dim, b->shape.dim, a->shape.rank * sizeof *a->shape.dim) == 0;
}

/* What may have changed since the program was compiled: files that are shorter now, and tensors of the caller that have
 * another shape. */
static td_status check_sources(const td_program *p, const td_schedule *s, bool *changed)
{
    const td_graph *g = p->graph;
    for (size_t i = 0; i < s->sources; i++) {
        const td_op *op = &g->op[s->source[i]];
        *changed |= !same_kind(op->value, &op->like);
        const td_status status = op->value->origin ? td_file_check(op->value->origin) : TD_OK;
        if (status)
            return fail_step(p, op, status);
    }
    return TD_OK;
}

/* Whether words have to be kept: calls on memories that lie elsewhere or have bits that are x may be refused, too. */
static bool needs_journal(const td_schedule *s)
{
    bool needs = s->journal;
    for (size_t i = 0; i < s->memories && !needs; i++)
        needs = !td_binding_is_plain(s->memory[i]);
    return needs;
}

static td_status run_kept(const td_program *p, td_schedule *s, const td_batch *batch, td_checkpoints *checkpoints)
{
    td_status status = s->kept ? TD_OK : td_journal_create(p, p->graph, s, &s->kept);
    if (!status)
        status = td_journal_save(s->kept, p->graph);
    if (status)
        return status;
    status = run_effects(p, s, batch, checkpoints);
    if (status)
        td_journal_restore(s->kept);
    else
        td_journal_end(s->kept);
    return status;
}

static td_status run(td_program *p, td_schedule *s, td_checkpoints *checkpoints)
{
    const td_batch *batch = s->batch;
    p->graph->run++;
    const td_status status = run_pure(p, s, &batch);
    if (status)
        return status;
    return needs_journal(s) ? run_kept(p, s, batch, checkpoints) : run_effects(p, s, batch, checkpoints);
}

td_status td_program_run(td_program *program, const char *label, const char *arguments, td_checkpoints **out)
{
    TD_OPERATION(operation, "program_run");
    td_schedule *s = NULL;
    td_checkpoints *checkpoints = NULL;
    bool changed = false;
    td_status status = td_record_listener() ? td_fail(TD_ARGUMENT, "a program is being recorded; stop it first")
                                            : td_program_prepare(program, label, arguments, &s);
    if (!status)
        status = check_sources(program, s, &changed);
    if (!status && changed) {
        td_program_forget(program);
        status = td_program_prepare(program, label, arguments, &s);
    }
    if (!status && !out && s->checkpoints)
        status = td_fail(TD_ARGUMENT, "the output is NULL, and the program has checkpoints; pass one");
    if (!status && out)
        status = td_checkpoints_create(program->name, &checkpoints);
    if (!status)
        status = run(program, s, checkpoints);
    if (status) {
        td_checkpoints_destroy(&checkpoints);
        td_fail_prefix("program_run: ");
        return status;
    }
    if (out)
        *out = checkpoints;
    return TD_OK;
}

/* -- tensors of the text ------------------------------------------------------------------------------------------- */

/* The tensor of an op that a run has left out, or given up again. A view is made anew: what it was of may be gone. */
static td_status value_of(const td_program *p, uint32_t number)
{
    td_op *op = &p->graph->op[number];
    td_status status = TD_OK;
    const bool memory = op->kind == TD_OP_TAKE || op->kind == TD_OP_READ;
    if (op->value && !op->is_view && (memory || op->constant || op->kind == TD_OP_BOUND || op->run == p->graph->run))
        return TD_OK;
    if (memory)
        return td_program_fail(p, &op->statement->word, TD_ARGUMENT,
                               "no run has made this tensor; run its label first");
    for (uint32_t a = 0; a < op->args && !status; a++)
        status = value_of(p, op->arg[a]);
    return status ? status : td_op_evaluate(p->graph, op);
}

td_status td_program_tensor(const td_program *program, const char *name, const td_tensor **out)
{
    td_status status = TD_OK;
    if (!program || !name || !out)
        status = td_fail(TD_ARGUMENT, "the %s is NULL; pass one", !program ? "program" : !name ? "name" : "output");
    else if (!program->graph)
        status = td_fail(TD_ARGUMENT, "the program is not compiled; run it first");
    const td_graph *graph = status ? NULL : program->graph;
    for (size_t i = 0; graph && i < graph->names; i++)
        if (strcmp(graph->name[i].text, name) == 0) {
            status = value_of(program, graph->name[i].op);
            if (status)
                break;
            *out = program->graph->op[program->graph->name[i].op].value;
            return TD_OK;
        }
    if (!status)
        status = td_program_fail_tensor(program, name);
    td_fail_prefix("program_tensor: ");
    return status;
}
