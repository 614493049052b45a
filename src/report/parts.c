/* Prints what a report says about parts (parts.h), for text.c; json.c has its own way. */
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void td_report_parts_free(struct td_report_parts *p)
{
    if (p)
        free(p->note);
    free(p);
}

void td_report_parts_head(const td_report *r, td_text *out)
{
    const struct td_report_parts *p = r->parts;
    if (p)
        td_text_add(out, " as %s", p->packing);
}

/* A code with its value: "0.25 (0x7d)". */
static void add_code(td_text *out, td_dtype dtype, uint64_t code)
{
    const double value = td_dtype_to_real(dtype, code);
    if (isnan(value))
        td_text_add(out, "nan (0x%" PRIx64 ")", code);
    else
        td_text_add(out, "%.9g (0x%" PRIx64 ")", value, code);
}

/* What was found, and what should have been where that differs. */
static void add_pair(td_text *out, const char *name, td_dtype dtype, const uint64_t *code)
{
    td_text_add(out, " %s ", name);
    add_code(out, dtype, code[1]);
    if (code[0] != code[1]) {
        td_text_add(out, " instead of ");
        add_code(out, dtype, code[0]);
    }
}

static void add_place(td_text *out, const td_note_place *p)
{
    td_text_add(out, " in \"%s\" at address 0x%" PRIx64 " bits %" PRIu64 ":%" PRIu64, p->memory, p->at.address,
                p->at.msb, p->at.lsb);
}

void td_report_parts_text(const td_report *r, td_text *out)
{
    const struct td_report_parts *p = r->parts;
    char at[TD_SHAPE_TEXT_BYTES];
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        td_text_add(out, "  part %s (%s in \"%s\"): %" PRIu64 " of %" PRIu64 " codes differ\n", p->part[i].name,
                    p->part[i].dtype, p->part[i].memory, p->part[i].mismatches, p->part[i].compared);
    if (p->notes)
        td_text_add(out, "  their blocks:\n");
    for (size_t i = 0; i < p->notes; i++) {
        const td_part_note *n = &p->note[i];
        td_shape where;
        td_shape_at(&r->shape, r->first[i].elem, &where);
        td_text_add(out, "    %s:", td_shape_print(&where, at));
        add_pair(out, "element", p->elem, n->code);
        td_text_add(out, "; block %s,", td_shape_print(&n->block, at));
        add_pair(out, "scale", p->scale, n->scale);
        add_place(out, &n->scale_at);
        if (p->zeros) {
            td_text_add(out, ",");
            add_pair(out, "zero point", p->zero, n->zero);
            add_place(out, &n->zero_at);
        }
        td_text_add(out, "\n");
    }
}
