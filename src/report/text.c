/* Prints the report in words: td_report_line in one line, td_report_text for a log. It changes nothing. */
#include "report/macros.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_STEPS 16

const char *td_report_value(const td_report *r, uint64_t bits, char *text)
{
    const td_dtype d = r->dtype;
    if (d.kind == TD_KIND_INT && !d.frac_bits)
        snprintf(text, TD_VALUE_BYTES, "%" PRId64, (int64_t)td_dtype_extend(d, bits));
    else if (d.kind == TD_KIND_UINT && !d.frac_bits)
        snprintf(text, TD_VALUE_BYTES, "%" PRIu64, bits);
    else {
        /* The fewest digits that give the value back. */
        const double value = td_judge_value(&r->judge, bits);
        for (int digits = 1; digits <= 17; digits++) {
            td_text_print(text, TD_VALUE_BYTES, "%.*g", digits, value);
            uint64_t again = 0;
            if (!isfinite(value) || td_text_real(text, NULL) == value ||
                (d.kind == TD_KIND_FLOAT && !td_dtype_from_real(d, td_text_real(text, NULL), &again) && again == bits))
                break;
        }
        if (isnan(value))
            snprintf(text, TD_VALUE_BYTES, "nan");
    }
    return text;
}

static const char *with_hex(const td_report *r, uint64_t bits, char *text)
{
    char value[TD_VALUE_BYTES];
    snprintf(text, 2 * TD_VALUE_BYTES, "%s (0x%0*" PRIx64 ")", td_report_value(r, bits, value), (r->dtype.bits + 3) / 4,
             bits);
    return text;
}

static const char *actual_text(const td_report *r, const td_entry *e, char *text)
{
    if (!e->verdict.unknown)
        return with_hex(r, e->actual, text);
    return memcpy(text, "x", 2);
}

static void add_bank(const td_report *r, uint64_t bank, td_text *out)
{
    const char *name = td_report_bank_name(r, bank);
    td_text_add(out, " of bank %" PRIu64, bank);
    if (*name)
        td_text_add(out, " \"%s\"", name);
}

static void add_place(const td_report *r, const td_place *p, td_text *out)
{
    td_text_add(out, "address 0x%" PRIx64 " bits %" PRIu64 ":%" PRIu64, p->address, p->msb, p->lsb);
    if (r->geometry.banks > 1)
        add_bank(r, p->bank, out);
}

static void add_pad(const td_report *r, td_text *out)
{
    const td_entry *e = &r->first_pad;
    td_text_add(out, "expected 0x%" PRIx64 ", got ", e->expected);
    if (e->verdict.unknown)
        td_text_add(out, "x at ");
    else
        td_text_add(out, "0x%" PRIx64 " at ", e->actual);
    add_place(r, &e->place, out);
    td_text_add(out, "%s", r->pad_place ? r->pad_place : "");
}

static void add_ulp(const td_report *r, uint64_t ulp, td_text *out)
{
    td_text_add(out, "%" PRIu64 " %s", ulp, r->dtype.kind == TD_KIND_FLOAT ? "ulp" : ulp == 1 ? "step" : "steps");
}

/* What was compared and how much of it differs. */
static void add_head(const td_report *r, td_text *out)
{
    char shape[TD_SHAPE_TEXT_BYTES], dtype[TD_DTYPE_NAME_BYTES];
    td_dtype_print(r->dtype, dtype);
    if (r->memory && r->geometry.banks > 1)
        td_text_add(out, "compare \"%s\" and %" PRIu64 " more bank%s with", r->memory, r->geometry.banks - 1,
                    td_text_s(r->geometry.banks - 1));
    else if (r->memory)
        td_text_add(out, "compare \"%s\" with", r->memory);
    else if (r->actual)
        td_text_add(out, "compare tensor \"%s\" with", r->actual);
    else
        td_text_add(out, "compare a tensor with");
    td_text_add(out, " golden %s %s", dtype, td_shape_print(&r->shape, shape));
    td_report_parts_head(r, out);
    td_text_add(out, ", policy %s: ", r->judge.policy.text);
    if (r->mismatches)
        td_text_add(out, "%" PRIu64 " of %" PRIu64 " element%s differ%s", r->mismatches, r->compared,
                    td_text_s(r->compared), r->mismatches == 1 ? "s" : "");
    else if (r->compared == 1)
        td_text_add(out, "the only element matches");
    else
        td_text_add(out, "all %" PRIu64 " elements match", r->compared);
    if (r->masked)
        td_text_add(out, " (%" PRIu64 " masked)", r->masked);
    if (r->pad_mismatches)
        td_text_add(out, ", %" PRIu64 " of %" PRIu64 " padding element%s changed", r->pad_mismatches, r->pads,
                    td_text_s(r->pads));
    if (r->outside_bits)
        td_text_add(out, ", %" PRIu64 " bit%s in %" PRIu64 " word%s outside the layout changed", r->outside_bits,
                    td_text_s(r->outside_bits), r->outside_words, td_text_s(r->outside_words));
}

static void add_worst(const td_report *r, td_text *out)
{
    add_ulp(r, r->worst_ulp, out);
    td_text_add(out, ", %.6g in value", r->worst_error);
    if (r->nans)
        td_text_add(out, "; %" PRIu64 " with a nan", r->nans);
}

char *td_report_make_line(const td_report *r)
{
    td_text out = {0};
    char expected[2 * TD_VALUE_BYTES], actual[2 * TD_VALUE_BYTES], at[TD_SHAPE_TEXT_BYTES];
    add_head(r, &out);
    if (r->mismatches) {
        td_text_add(&out, ", worst ");
        add_worst(r, &out);
    }
    if (r->first_count) {
        const td_entry *e = &r->first[0];
        td_shape where;
        td_shape_at(&r->shape, e->elem, &where);
        td_text_add(&out, "; first at %s: expected %s, got %s", td_shape_print(&where, at),
                    with_hex(r, e->expected, expected), actual_text(r, e, actual));
        if (r->memory) {
            td_text_add(&out, " at ");
            add_place(r, &e->place, &out);
        }
        if (r->macros) {
            td_text_add(&out, ", wrong in ");
            td_macros_text(r, 0, &out);
        }
    } else if (r->pad_mismatches && !r->mismatches) {
        td_text_add(&out, "; first: ");
        add_pad(r, &out);
    } else if (r->outside_words && !r->mismatches) {
        td_text_add(&out, "; first at address 0x%" PRIx64 " bits %" PRIu64 ":%" PRIu64, r->outside[0].address,
                    r->outside[0].msb, r->outside[0].lsb);
        add_bank(r, r->outside[0].bank, &out);
    }
    if (r->guess_count)
        td_text_add(&out, "; %s", r->guess[0]);
    if (out.failed)
        free(out.text);
    return out.failed ? NULL : out.text;
}

/* -- the log ------------------------------------------------------------------------------------------------------- */

enum { AT, EXPECTED, ACTUAL, ULP, ADDRESS, BANK, LANE, BITS, COLUMNS };

static void fill_row(const td_report *r, const td_entry *e, char (*cell)[TD_SHAPE_TEXT_BYTES])
{
    td_shape at;
    td_shape_at(&r->shape, e->elem, &at);
    td_shape_print(&at, cell[AT]);
    with_hex(r, e->expected, cell[EXPECTED]);
    actual_text(r, e, cell[ACTUAL]);
    if (e->verdict.apart)
        snprintf(cell[ULP], sizeof *cell, "-");
    else
        snprintf(cell[ULP], sizeof *cell, "%" PRIu64, e->verdict.ulp);
    snprintf(cell[ADDRESS], sizeof *cell, "0x%" PRIx64, e->place.address);
    const char *name = td_report_bank_name(r, e->place.bank);
    snprintf(cell[BANK], sizeof *cell, "%" PRIu64 "%s%s", e->place.bank, *name ? " " : "", name);
    snprintf(cell[LANE], sizeof *cell, "%" PRIu64, e->lane);
    snprintf(cell[BITS], sizeof *cell, "%" PRIu64 ":%" PRIu64, e->place.msb, e->place.lsb);
}

static void add_table(const td_report *r, td_text *out)
{
    static const char *const head[COLUMNS] = {"at", "expected", "actual", "ulp", "address", "bank", "lane", "bits"};
    char cell[COLUMNS][TD_SHAPE_TEXT_BYTES];
    size_t width[COLUMNS];
    const int columns = r->memory ? COLUMNS : ADDRESS;
    for (int c = 0; c < columns; c++)
        width[c] = strlen(head[c]);
    for (size_t i = 0; i < r->first_count; i++) {
        fill_row(r, &r->first[i], cell);
        for (int c = 0; c < columns; c++)
            width[c] = strlen(cell[c]) > width[c] ? strlen(cell[c]) : width[c];
    }
    td_text_add(out, "  the first %zu:\n   ", r->first_count);
    for (int c = 0; c < columns; c++)
        td_text_add(out, " %-*s", (int)(c + 1 < columns ? width[c] + 1 : 0), head[c]);
    for (size_t i = 0; i < r->first_count; i++) {
        fill_row(r, &r->first[i], cell);
        td_text_add(out, "\n   ");
        for (int c = 0; c < columns; c++)
            td_text_add(out, " %-*s", (int)(c + 1 < columns ? width[c] + 1 : 0), cell[c]);
    }
    td_text_add(out, "\n");
    if (r->macros)
        td_text_add(out, "  wrong bits of these:\n");
    for (size_t i = 0; i < r->first_count && r->macros; i++) {
        td_shape at;
        td_shape_at(&r->shape, r->first[i].elem, &at);
        td_shape_print(&at, cell[AT]);
        td_text_add(out, "    %-*s", (int)width[AT] + 2, cell[AT]);
        td_macros_text(r, i, out);
        td_text_add(out, "\n");
    }
}

static void add_counts(const td_tally *t, td_text *out)
{
    size_t used = 0, listed = 0;
    bool same = true;
    for (size_t i = 0; i < t->count; i++) {
        used += t->mismatches[i] != 0;
        same &= t->mismatches[i] == t->mismatches[0];
    }
    td_text_add(out, "    %-12s %zu of %zu:", t->name, used, t->count);
    if (same) {
        td_text_add(out, " %" PRIu64 " each\n", t->mismatches[0]);
        return;
    }
    for (size_t i = 0; i < t->count && listed < LISTED_STEPS; i++) {
        if (!t->mismatches[i])
            continue;
        if (t->bucket > 1)
            td_text_add(out, " [%" PRIu64 "..]=%" PRIu64, i * t->bucket, t->mismatches[i]);
        else
            td_text_add(out, " [%zu]=%" PRIu64, i, t->mismatches[i]);
        listed++;
    }
    td_text_add(out, "%s\n", used > listed ? " ..." : "");
}

td_status td_report_text(const td_report *r, char **text)
{
    td_text out = {0};
    if (!r || !text)
        return td_fail(TD_ARGUMENT, "report_text: the %s is NULL; pass one", r ? "output" : "report");
    add_head(r, &out);
    td_text_add(&out, "\n");
    if (r->worst_ulp || r->nans || r->mismatches) {
        td_text_add(&out, "  worst: ");
        add_worst(r, &out);
        td_text_add(&out, "\n");
    }
    if (r->judge.policy.stats)
        td_text_add(&out, "  mean relative error %.6g, mean square error %.6g, cosine %.9g\n",
                    r->statistics.mean_relative_error, r->statistics.mse, r->statistics.cosine);
    for (size_t i = 0; i < r->guess_count; i++)
        td_text_add(&out, "  %s\n", r->guess[i]);
    if (r->first_count)
        add_table(r, &out);
    td_report_parts_text(r, &out);
    if (r->tally_count)
        td_text_add(&out, "  mismatches per step:\n");
    for (size_t i = 0; i < r->tally_count; i++) {
        if (r->tally[i].dim == TD_TALLY_MACRO)
            td_text_add(&out, "  wrong bits per place:\n");
        if (r->tally[i].size > 1)
            add_counts(&r->tally[i], &out);
    }
    if (r->pad_mismatches) {
        td_text_add(&out, "  padding: ");
        add_pad(r, &out);
        td_text_add(&out, "\n");
    }
    for (size_t i = 0; i < TD_REPORT_OUTSIDE && i < r->outside_words; i++) {
        td_text_add(&out, "  outside: %" PRIu64 " bit%s changed at address 0x%" PRIx64 " bits %" PRIu64 ":%" PRIu64,
                    r->outside[i].bits, td_text_s(r->outside[i].bits), r->outside[i].address, r->outside[i].msb,
                    r->outside[i].lsb);
        add_bank(r, r->outside[i].bank, &out);
        td_text_add(&out, "\n");
    }
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *text = out.text;
    return TD_OK;
}
