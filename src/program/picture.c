/* What a program becomes, as a picture: the graphs that explain.c prints, below each other, each under the name of its
 * pass. A pass that changes nothing has its name alone. */
#include "program/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BOX_HEIGHT 26
#define BOX_WIDTH 900
#define BOX_LEFT 120
#define TITLE_HEIGHT 34

struct td_picture {
    td_text body;
    size_t height;
    char *last; /* the steps of the graph before, as text */
    bool failed;
};

static void add_escaped(td_text *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            td_text_add(out, "&#%d;", *text);
        else
            td_text_add(out, "%c", *text);
}

/* A step as a box, and for every tensor that it takes a line on the left, from where it is made. */
static void draw_op(td_picture *p, const td_graph *g, size_t number, size_t row, const size_t *place)
{
    const td_op *op = &g->op[number];
    td_text *out = &p->body, line = {0};
    const size_t top = p->height + row * BOX_HEIGHT;
    td_op_print(g, number, &line);
    out->failed |= line.failed;
    td_text_add(out,
                "<rect x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\"/>\n<text x=\"%d\" "
                "y=\"%zu\">",
                BOX_LEFT, top, BOX_WIDTH, BOX_HEIGHT - 6, op->is_value ? "#e6eef8" : "#f8ead8", BOX_LEFT + 6, top + 14);
    add_escaped(out, line.text ? line.text : "");
    td_text_add(out, "</text>\n");
    free(line.text);
    for (uint32_t a = 0; a < op->args; a++) {
        const size_t from = p->height + place[op->arg[a]] * BOX_HEIGHT + 10, to = top + 10;
        const size_t bend = BOX_LEFT - 10 - (row - place[op->arg[a]]) * 6 % 100;
        td_text_add(out, "<path d=\"M%d %zu C%zu %zu %zu %zu %d %zu\" fill=\"none\" stroke=\"#557\"/>\n", BOX_LEFT,
                    from, bend, from, bend, to, BOX_LEFT, to);
    }
}

static void draw_steps(td_picture *p, const td_graph *g, size_t shown)
{
    size_t row = 0;
    size_t *place = calloc(g->count + 1, sizeof *place);
    if (!place) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < g->count; i++)
        if (td_op_is_shown(&g->op[i])) {
            place[i] = row;
            draw_op(p, g, i, row++, place);
        }
    p->height += shown * BOX_HEIGHT;
    free(place);
}

void td_picture_graph(td_picture *p, const td_graph *g, const char *title)
{
    td_text steps = {0};
    size_t shown = 0;
    for (size_t i = 0; i < g->count; i++)
        if (td_op_is_shown(&g->op[i])) {
            td_op_print(g, i, &steps);
            td_text_add(&steps, "\n");
            shown++;
        }
    const char *const now = steps.text ? steps.text : "";
    const bool same = p->last && strcmp(p->last, now) == 0;
    p->failed |= steps.failed;
    td_text_add(&p->body, "<text x=\"10\" y=\"%zu\" font-weight=\"bold\">%s: ", p->height + 22, title);
    if (same)
        td_text_add(&p->body, "nothing changes</text>\n");
    else
        td_text_add(&p->body, "%zu step%s</text>\n", shown, td_text_s(shown));
    p->height += TITLE_HEIGHT;
    if (!same)
        draw_steps(p, g, shown);
    free(p->last);
    p->last = strdup(now);
    p->failed |= !p->last;
    free(steps.text);
}

td_status td_program_svg(td_program *program, const char *label, const char *arguments, char **svg)
{
    td_text out = {0};
    td_picture picture = {0};
    td_explain all = {.picture = &picture};
    td_schedule *s = NULL;
    td_status status =
        svg ? td_program_recompile(program, arguments, &all) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
    if (!status)
        status = td_program_prepare(program, label, arguments, &s);
    if (!status) {
        td_text_add(&out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"monospace\" "
                    "font-size=\"12\">\n%s</svg>\n",
                    BOX_LEFT + BOX_WIDTH + 20, picture.height + 10, picture.body.text ? picture.body.text : "");
        status = out.failed || picture.failed || picture.body.failed ? td_fail_alloc(picture.body.used + out.used + 1)
                                                                     : TD_OK;
    }
    free(picture.body.text);
    free(picture.last);
    if (status) {
        free(out.text);
        td_fail_prefix("program_svg: ");
        return status;
    }
    *svg = out.text;
    return TD_OK;
}
