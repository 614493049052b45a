/* What a program becomes: the graph as written and after each pass, in text, with what was not fused or joined and why.
 * Compiles the program anew, so that every pass can be seen. picture.c draws the same. */
#include "program/passes.h"
#include "program/program.h"

#include "base/thresholds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[TD_OP_KINDS] = {
    [TD_OP_OPEN] = "open", [TD_OP_BOUND] = "bound", [TD_OP_MAKE] = "fill",     [TD_OP_CONVERT] = "convert",
    [TD_OP_STEP] = "step", [TD_OP_SLICE] = "slice", [TD_OP_CONCAT] = "concat", [TD_OP_TRANSPOSE] = "transpose",
    [TD_OP_TAKE] = "dump", [TD_OP_READ] = "read",   [TD_OP_LOAD] = "load",     [TD_OP_DUMP] = "dump",
    [TD_OP_FILL] = "fill", [TD_OP_WRITE] = "write", [TD_OP_SAVE] = "save",     [TD_OP_CHECKPOINT] = "checkpoint",
};
static const char *const steps[] = {
    [TD_STEP_ADD] = "add", [TD_STEP_MUL] = "mul", [TD_STEP_SCALE] = "scale", [TD_STEP_CLAMP] = "clamp"};

static const char *word_of(const td_op *op)
{
    return op->kind == TD_OP_STEP ? steps[op->step_op] : op->is_view ? "view" : kinds[op->kind];
}

/* "%3 = add %1 %2 wrap: i8 (4, 4)", or "load %3 into a, words [4, 8)". */
void td_op_print(const td_graph *g, size_t number, td_text *out)
{
    const td_op *op = &g->op[number];
    char shape[TD_SHAPE_TEXT_BYTES];
    if (op->is_value)
        td_text_add(out, "%%%zu = ", number);
    td_text_add(out, "%s", word_of(op));
    if (op->kind == TD_OP_BOUND)
        td_text_add(out, " %s", op->form->name.text ? op->form->name.text : op->form->memory.text);
    if (op->kind == TD_OP_CHECKPOINT)
        td_text_add(out, " %s", op->name);
    if (op->fused) {
        td_text_add(out, " %%%u", op->fused->source);
        for (size_t i = 0; i < op->fused->stages; i++) {
            const td_fused_stage *stage = &op->fused->stage[i];
            td_text_add(out, " | %s", word_of(&g->op[stage->op]));
            if (stage->operand != TD_NO_OP)
                td_text_add(out, " %%%u", stage->operand);
        }
    } else
        for (uint32_t a = 0; a < op->args; a++)
            td_text_add(out, " %%%u", op->arg[a]);
    if (op->kind == TD_OP_STEP && op->form->number[0].text)
        td_text_add(out, " %g", op->number[0]);
    if (op->kind == TD_OP_STEP && op->form->number[1].text)
        td_text_add(out, " %g", op->number[1]);
    if (op->text && *op->text && op->kind != TD_OP_LOAD)
        td_text_add(out, " \"%s\"", op->text);
    if (op->memory) {
        const uint64_t first = op->move ? op->at + (op->move->span_count ? op->move->spans[0].first : 0) : op->first,
                       end = op->move ? op->at + op->move->end : op->first + op->count;
        td_text_add(out, " %s %s words [%" PRIu64 ", %" PRIu64 ")",
                    op->kind == TD_OP_LOAD || op->kind == TD_OP_FILL || op->kind == TD_OP_WRITE ? "into" : "from",
                    op->memory->name, first, end);
    }
    if (op->is_value)
        td_text_add(out, ": %s %s%s", op->like.dtype_name, td_shape_print(&op->like.shape, shape),
                    op->constant ? ", once" : "");
    if (op->fused)
        td_text_add(out,
                    op->fused->inside      ? ", inside of the move"
                    : op->fused->by_layers ? ", %" PRIu64 " slabs"
                                           : ", one tensor",
                    op->fused->cut.count);
    if (op->joined)
        td_text_add(out, ", %u loads in one", op->joined + 1);
    td_text_add(out, "  # line %u%s%s", op->statement->word.line->number, *op->loop ? " " : "", op->loop);
    if (op->why)
        td_text_add(out, "; %s", op->why);
}

bool td_op_is_shown(const td_op *op)
{
    return !op->dead && !op->fused_into;
}

/* A pass that changes nothing has one line. */
static void print_graph(td_explain *e, const td_graph *g, const char *title)
{
    td_text *out = e->text;
    size_t shown = 0;
    for (size_t i = 0; i < g->count; i++)
        shown += td_op_is_shown(&g->op[i]);
    td_text_add(out, "%s%s: ", out->used ? "\n" : "", title);
    const size_t title_end = out->used;
    td_text_add(out, "%zu step%s\n", shown, td_text_s(shown));
    for (size_t i = 0; i < g->count; i++)
        if (td_op_is_shown(&g->op[i])) {
            td_text_add(out, "    ");
            td_op_print(g, i, out);
            td_text_add(out, "\n");
        }
    const size_t bytes = out->failed ? 0 : out->used - title_end;
    if (bytes && bytes == e->last_bytes && memcmp(out->text + e->last, out->text + title_end, bytes) == 0) {
        out->used = title_end;
        td_text_add(out, "nothing changes\n");
    } else {
        e->last = title_end;
        e->last_bytes = bytes;
    }
}

void td_explain_graph(td_explain *e, const td_graph *g, const char *title)
{
    if (e->text)
        print_graph(e, g, title);
    if (e->picture)
        td_picture_graph(e->picture, g, title);
}

/* Long lists are cut. */
static void print_batch(const td_graph *g, const td_schedule *s, const td_batch *b, td_text *out)
{
    enum { SHOWN = 8 };
    uint32_t shown = 0;
    td_text_add(out, "    side by side from %" PRIu64 " bytes on:", td_threshold(TD_THRESHOLD_THREAD_BYTES));
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t number = s->op[b->first + i];
        const td_op *op = &g->op[number];
        if (op->is_view || op->kind == TD_OP_OPEN || op->kind == TD_OP_BOUND || ++shown > SHOWN)
            continue;
        td_text_add(out, "%s ", shown > 1 ? "," : "");
        if (op->is_value)
            td_text_add(out, "%%%u = %s", number, word_of(op));
        else
            td_text_add(out, "%s of line %u%s%s", word_of(op), op->statement->word.line->number, *op->loop ? " " : "",
                        op->loop);
    }
    td_text_add(out, shown > SHOWN ? " and %u more\n" : "\n", shown - SHOWN);
}

static void print_schedule(const td_program *p, const td_schedule *s, td_text *out)
{
    td_text_add(out, "\nrun%s%s: %zu step%s, %zu of them before anything is written%s\n",
                s->label == TD_NO_OP ? "" : " ", s->label == TD_NO_OP ? "" : p->label[s->label], s->count,
                td_text_s(s->count), s->pure, s->journal ? "; words are kept, as a later step may be refused" : "");
    for (size_t i = 0; i < s->batches; i++)
        print_batch(p->graph, s, &s->batch[i], out);
}

td_status td_program_explain(td_program *program, const char *label, const char *arguments, char **text)
{
    td_text out = {0};
    td_explain all = {.text = &out};
    td_schedule *s = NULL;
    td_status status =
        text ? td_program_recompile(program, arguments, &all) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
    if (!status)
        status = td_program_prepare(program, label, arguments, &s);
    if (!status) {
        print_schedule(program, s, &out);
        status = out.failed ? td_fail_alloc(out.used + 1) : TD_OK;
    }
    if (status) {
        free(out.text);
        td_fail_prefix("program_explain: ");
        return status;
    }
    *text = out.text;
    return TD_OK;
}
