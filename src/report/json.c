/* Prints the report as JSON, behind td_report_json: what `tensordoor compare --json` prints and what the page reads.
 * 64-bit patterns are hex strings, because readers keep numbers in doubles; values that are no numbers are strings
 * too. */
#include "report/macros.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void td_report_json_string(td_text *out, const char *text)
{
    td_text_add(out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            td_text_add(out, "\\%c", *p);
        else if (*p < 0x20 || *p == '<') /* "</script>" must not end the page that holds this */
            td_text_add(out, "\\u%04x", *p);
        else
            td_text_add(out, "%c", *p);
    }
    td_text_add(out, "\"");
}

static void add_real(td_text *out, double value)
{
    if (isfinite(value))
        td_text_add(out, "%.17g", value);
    else
        td_text_add(out, "\"%s\"", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

static void add_bits(const td_report *r, td_text *out, uint64_t bits)
{
    td_text_add(out, "\"0x%0*" PRIx64 "\"", (r->dtype.bits + 3) / 4, bits);
}

static void add_value(const td_report *r, td_text *out, uint64_t bits)
{
    char text[TD_VALUE_BYTES];
    td_report_value(r, bits, text);
    if (isfinite(td_judge_value(&r->judge, bits)))
        td_text_add(out, "%s", text);
    else
        td_text_add(out, "\"%s\"", text);
}

/* Wrong bits in macros, column by column. */
static void add_wrong(const td_report *r, td_text *out, size_t number)
{
    size_t count = 0;
    const td_wrong_run *run = td_macros_runs(r, number, &count);
    td_text_add(out, ", \"wrong\": [");
    for (size_t i = 0; i < count; i++) {
        td_text_add(out, "%s{\"macro\": %zu, \"row\": %" PRIu64 ", \"columns\": [", i ? ", " : "", run[i].macro,
                    run[i].row);
        for (uint64_t k = 0; k < run[i].bits; k++)
            td_text_add(out, "%s%" PRIu64, k ? ", " : "", run[i].column + k * (uint64_t)run[i].step);
        td_text_add(out, "]}");
    }
    td_text_add(out, "]");
}

static void add_entry(const td_report *r, td_text *out, size_t number)
{
    const td_entry *e = &r->first[number];
    td_shape at;
    td_shape_at(&r->shape, e->elem, &at);
    td_text_add(out, "{\"at\": [");
    for (size_t d = 0; d < at.rank; d++)
        td_text_add(out, "%s%" PRIu64, d ? ", " : "", at.dim[d]);
    td_text_add(out, "], \"expected\": ");
    add_value(r, out, e->expected);
    td_text_add(out, ", \"actual\": ");
    if (e->verdict.unknown)
        td_text_add(out, "\"x\"");
    else
        add_value(r, out, e->actual);
    td_text_add(out, ", \"expected_bits\": ");
    add_bits(r, out, e->expected);
    td_text_add(out, ", \"actual_bits\": ");
    add_bits(r, out, e->actual);
    if (e->verdict.apart)
        td_text_add(out, ", \"ulp\": null");
    else
        td_text_add(out, ", \"ulp\": %" PRIu64, e->verdict.ulp);
    if (r->memory)
        td_text_add(out,
                    ", \"address\": %" PRIu64 ", \"bank\": %" PRIu64 ", \"lane\": %" PRIu64 ", \"msb\": %" PRIu64
                    ", \"lsb\": %" PRIu64,
                    e->place.address, e->place.bank, e->lane, e->place.msb, e->place.lsb);
    if (r->macros)
        add_wrong(r, out, number);
    td_text_add(out, "}");
}

/* Where something differs: the names of all banks, in order. */
static void add_bank_names(const td_report *r, td_text *out)
{
    td_text_add(out, ",\n \"bank_names\": [");
    for (uint64_t i = 0; i < r->geometry.banks; i++) {
        td_text_add(out, "%s", i ? ", " : "");
        td_report_json_string(out, td_report_bank_name(r, i));
    }
    td_text_add(out, "]");
}

static void add_macro_names(const td_report *r, td_text *out)
{
    td_text_add(out, ",\n \"macros\": [");
    for (size_t i = 0; i < td_macros_total(r); i++) {
        td_text_add(out, "%s", i ? ", " : "");
        td_report_json_string(out, td_macros_name(r, i));
    }
    td_text_add(out, "]");
}

static void add_tally(td_text *out, const td_tally *t)
{
    td_text_add(out, "{\"name\": ");
    td_report_json_string(out, t->name);
    if (t->dim <= TD_TALLY_MACRO)
        td_text_add(out, ", \"counts\": \"wrong bits\"");
    td_text_add(out, ", \"size\": %" PRIu64 ", \"bucket\": %" PRIu64 ", \"mismatches\": [", t->size, t->bucket);
    for (size_t i = 0; i < t->count; i++)
        td_text_add(out, "%s%" PRIu64, i ? ", " : "", t->mismatches[i]);
    td_text_add(out, "]}");
}

static void add_head(const td_report *r, td_text *out)
{
    char dtype[TD_DTYPE_NAME_BYTES];
    td_text_add(out, "{\"passed\": %s", td_report_passed(r) ? "true" : "false");
    td_text_add(out,
                ", \"compared\": %" PRIu64 ", \"mismatches\": %" PRIu64 ", \"masked\": %" PRIu64 ", \"nan\": %" PRIu64,
                r->compared, r->mismatches, r->masked, r->nans);
    td_text_add(out, ",\n \"memory\": ");
    if (r->memory)
        td_report_json_string(out, r->memory);
    else
        td_text_add(out, "null");
    td_text_add(out, ", \"policy\": ");
    td_report_json_string(out, r->judge.policy.text);
    td_dtype_print(r->dtype, dtype);
    td_text_add(out, ", \"dtype\": \"%s\", \"shape\": [", dtype);
    for (size_t d = 0; d < r->shape.rank; d++)
        td_text_add(out, "%s%" PRIu64, d ? ", " : "", r->shape.dim[d]);
    td_text_add(out, "]");
    td_dtype_print(r->stored, dtype);
    if (r->memory)
        td_text_add(out, ", \"stored\": \"%s\", \"width\": %" PRIu64 ", \"depth\": %" PRIu64 ", \"banks\": %" PRIu64,
                    dtype, r->geometry.width_bits, r->geometry.depth_words, r->geometry.banks);
    if (r->pattern) {
        td_text_add(out, ",\n \"layout\": {\"pattern\": ");
        td_report_json_string(out, r->pattern);
        td_text_add(out, ", \"options\": ");
        td_report_json_string(out, r->options);
        td_text_add(out, ", \"address\": ");
        td_report_json_string(out, r->address);
        td_text_add(out, "}");
    }
    if (r->golden) {
        td_text_add(out, ",\n \"golden\": ");
        td_report_json_string(out, r->golden);
    }
    if (r->time) {
        td_text_add(out, ",\n \"time\": ");
        td_report_json_string(out, r->time);
    }
    td_text_add(out, ",\n \"worst\": {\"ulp\": %" PRIu64 ", \"error\": ", r->worst_ulp);
    add_real(out, r->worst_error);
    if (r->judge.policy.stats) {
        td_text_add(out, "},\n \"statistics\": {\"mean_relative_error\": ");
        add_real(out, r->statistics.mean_relative_error);
        td_text_add(out, ", \"mse\": ");
        add_real(out, r->statistics.mse);
        td_text_add(out, ", \"cosine\": ");
        add_real(out, r->statistics.cosine);
    }
    td_text_add(out, "},\n \"padding\": {\"compared\": %" PRIu64 ", \"mismatches\": %" PRIu64 "}", r->pads,
                r->pad_mismatches);
    if (r->bank_name)
        add_bank_names(r, out);
    if (r->macros)
        add_macro_names(r, out);
    if (r->has_snapshot) {
        td_text_add(out, ",\n \"outside\": {\"bits\": %" PRIu64 ", \"words\": %" PRIu64 ", \"first\": [",
                    r->outside_bits, r->outside_words);
        for (size_t i = 0; i < TD_REPORT_OUTSIDE && i < r->outside_words; i++)
            td_text_add(out,
                        "%s{\"address\": %" PRIu64 ", \"bank\": %" PRIu64 ", \"bits\": %" PRIu64 ", \"msb\": %" PRIu64
                        ", \"lsb\": %" PRIu64 "}",
                        i ? ", " : "", r->outside[i].address, r->outside[i].bank, r->outside[i].bits, r->outside[i].msb,
                        r->outside[i].lsb);
        td_text_add(out, "]}");
    }
}

static void add_codes(td_text *out, const char *name, const uint64_t *code, const td_note_place *place)
{
    td_text_add(out, ", \"%s\": {\"expected\": \"0x%" PRIx64 "\", \"actual\": \"0x%" PRIx64 "\"", name, code[0],
                code[1]);
    if (place) {
        td_text_add(out, ", \"memory\": ");
        td_report_json_string(out, place->memory);
        td_text_add(out, ", \"address\": %" PRIu64 ", \"bank\": %" PRIu64 ", \"msb\": %" PRIu64 ", \"lsb\": %" PRIu64,
                    place->at.address, place->at.bank, place->at.msb, place->at.lsb);
    }
    td_text_add(out, "}");
}

static void add_note(td_text *out, const struct td_report_parts *p, const td_part_note *n)
{
    td_text_add(out, "{\"block\": [");
    for (size_t d = 0; d < n->block.rank; d++)
        td_text_add(out, "%s%" PRIu64, d ? ", " : "", n->block.dim[d]);
    td_text_add(out, "]");
    add_codes(out, "element", n->code, NULL);
    add_codes(out, "scale", n->scale, &n->scale_at);
    if (p->zeros)
        add_codes(out, "zero", n->zero, &n->zero_at);
    td_text_add(out, "}");
}

/* Of a comparison of parts: counts, and what `first` does not say, in its order. */
static void add_parts(td_text *out, const struct td_report_parts *p)
{
    td_text_add(out, ",\n \"parts\": {\"packing\": ");
    td_report_json_string(out, p->packing);
    td_text_add(out, ", \"counts\": [");
    for (size_t i = 0; i < p->count; i++) {
        td_text_add(out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"memory\": ", i ? ", " : "", p->part[i].name,
                    p->part[i].dtype);
        td_report_json_string(out, p->part[i].memory);
        td_text_add(out, ", \"compared\": %" PRIu64 ", \"mismatches\": %" PRIu64 "}", p->part[i].compared,
                    p->part[i].mismatches);
    }
    td_text_add(out, "], \"first\": [");
    for (size_t i = 0; i < p->notes; i++) {
        td_text_add(out, "%s", i ? ",\n  " : "\n  ");
        add_note(out, p, &p->note[i]);
    }
    td_text_add(out, "]}");
}

td_status td_report_json(const td_report *r, char **json)
{
    td_text out = {0};
    if (!r || !json)
        return td_fail(TD_ARGUMENT, "report_json: the %s is NULL; pass one", r ? "output" : "report");
    add_head(r, &out);
    if (r->parts)
        add_parts(&out, r->parts);
    td_text_add(&out, ",\n \"guesses\": [");
    for (size_t i = 0; i < r->guess_count; i++) {
        td_text_add(&out, "%s", i ? ", " : "");
        td_report_json_string(&out, r->guess[i]);
    }
    td_text_add(&out, "],\n \"first\": [");
    for (size_t i = 0; i < r->first_count; i++) {
        td_text_add(&out, "%s", i ? ",\n  " : "\n  ");
        add_entry(r, &out, i);
    }
    td_text_add(&out, "],\n \"groups\": [");
    for (size_t i = 0; i < r->tally_count; i++) {
        td_text_add(&out, "%s", i ? ",\n  " : "\n  ");
        add_tally(&out, &r->tally[i]);
    }
    td_text_add(&out, "]}\n");
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *json = out.text;
    return TD_OK;
}
