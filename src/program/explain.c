/* What a program becomes: the graph as written and after each pass, in text and as a picture, with what was not fused
 * or joined and why. Compiles the program anew, so that every pass can be seen. */
#include "program/passes.h"
#include "program/program.h"

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
static void print_op(const td_graph *g, size_t number, td_text *out)
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
        td_text_add(out, op->fused->by_layers ? ", %" PRIu64 " slabs" : ", one tensor",
                    op->fused->by_layers ? op->fused->cut.count : 0);
    if (op->joined)
        td_text_add(out, ", %u loads in one", op->joined + 1);
    td_text_add(out, "  # line %u%s%s", op->statement->word.line->number, *op->loop ? " " : "", op->loop);
    if (op->why)
        td_text_add(out, "; %s", op->why);
}

static bool is_shown(const td_op *op)
{
    return !op->dead && !op->fused_into;
}

void td_graph_print(const td_program *p, const td_graph *g, const char *title, td_text *out)
{
    size_t shown = 0;
    (void)p;
    for (size_t i = 0; i < g->count; i++)
        shown += is_shown(&g->op[i]);
    td_text_add(out, "%s%s: %zu step%s\n", out->used ? "\n" : "", title, shown, td_text_s(shown));
    for (size_t i = 0; i < g->count; i++)
        if (is_shown(&g->op[i])) {
            td_text_add(out, "    ");
            print_op(g, i, out);
            td_text_add(out, "\n");
        }
}

static void print_schedule(const td_program *p, const td_schedule *s, td_text *out)
{
    td_text_add(out, "\nrun%s%s: %zu step%s, %zu of them before anything is written%s\n",
                s->label == TD_NO_OP ? "" : " ", s->label == TD_NO_OP ? "" : p->label[s->label], s->count,
                td_text_s(s->count), s->pure, s->journal ? "; words are kept, as a later step may be refused" : "");
}

td_status td_program_explain(td_program *program, const char *label, const char *arguments, char **text)
{
    td_text out = {0};
    td_schedule *s = NULL;
    td_status status =
        text ? td_program_recompile(program, arguments, &out) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
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

/* -- the picture --------------------------------------------------------------------------------------------------- */

#define BOX_HEIGHT 26
#define BOX_WIDTH 620

static void add_escaped(td_text *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            td_text_add(out, "&#%d;", *text);
        else
            td_text_add(out, "%c", *text);
}

/* The ops of a run as boxes from top to bottom, and for every tensor a line on the left from where it is made to where
 * it is taken. */
static void draw(const td_graph *g, td_text *out)
{
    size_t shown = 0, row = 0;
    size_t *place = calloc(g->count + 1, sizeof *place);
    if (!place) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < g->count; i++)
        if (is_shown(&g->op[i]))
            place[i] = shown++;
    td_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"monospace\" "
                "font-size=\"12\">\n",
                BOX_WIDTH + 140, shown * BOX_HEIGHT + 20);
    for (size_t i = 0; i < g->count; i++) {
        const td_op *op = &g->op[i];
        if (!is_shown(op))
            continue;
        td_text line = {0};
        print_op(g, i, &line);
        out->failed |= line.failed;
        td_text_add(
            out,
            "<rect x=\"120\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\"/>\n<text x=\"126\" y=\"%zu\">",
            row * BOX_HEIGHT + 10, BOX_WIDTH, BOX_HEIGHT - 6, op->is_value ? "#e6eef8" : "#f8ead8",
            row * BOX_HEIGHT + 24);
        add_escaped(out, line.text ? line.text : "");
        td_text_add(out, "</text>\n");
        free(line.text);
        for (uint32_t a = 0; a < op->args; a++) {
            const size_t from = place[op->arg[a]] * BOX_HEIGHT + 20, to = row * BOX_HEIGHT + 20;
            const size_t bend = 110 - (to - from) / BOX_HEIGHT * 6 % 100;
            td_text_add(out, "<path d=\"M120 %zu C%zu %zu %zu %zu 120 %zu\" fill=\"none\" stroke=\"#557\"/>\n", from,
                        bend, from, bend, to, to);
        }
        row++;
    }
    td_text_add(out, "</svg>\n");
    free(place);
}

td_status td_program_svg(td_program *program, const char *label, const char *arguments, char **svg)
{
    td_text out = {0};
    td_schedule *s = NULL;
    td_status status =
        svg ? td_program_prepare(program, label, arguments, &s) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
    if (!status) {
        draw(program->graph, &out);
        status = out.failed ? td_fail_alloc(out.used + 1) : TD_OK;
    }
    if (status) {
        free(out.text);
        td_fail_prefix("program_svg: ");
        return status;
    }
    *svg = out.text;
    return TD_OK;
}
