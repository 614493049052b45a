/* Checkpoints: named reports in the order of a program, in the public header (section 10). It owns the list, and prints
 * it as text, JSON and JUnit XML; the page is in html.c. Programs and testbenches fill it; it compares
 * nothing itself. */
#include "report/report.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct checkpoint {
    char *name;
    td_report *report;
} checkpoint;

struct td_checkpoints {
    char *name;
    _Atomic(char *) line; /* made by the first td_checkpoints_line after an addition */
    checkpoint *list;
    size_t count, room;
    size_t failed, first; /* how many differ; the first of them, or count */
};

/* -- the list ------------------------------------------------------------------------------------------------------ */

/* NULL without memory. */
static char *make_line(const td_checkpoints *c)
{
    td_text out = {0};
    td_text_add(&out, "%s: ", c->name);
    if (!c->count)
        td_text_add(&out, "no checkpoints");
    else if (!c->failed)
        td_text_add(&out, c->count == 1 ? "the only checkpoint matches" : "all %zu checkpoints match", c->count);
    else
        td_text_add(&out, "%zu of %zu checkpoint%s differ%s, first \"%s\": %s", c->failed, c->count,
                    td_text_s(c->count), c->failed == 1 ? "s" : "", c->list[c->first].name,
                    td_report_line(c->list[c->first].report));
    if (out.failed)
        free(out.text);
    return out.failed ? NULL : out.text;
}

td_status td_checkpoints_create(const char *name, td_checkpoints **out)
{
    if (!name || !out)
        return td_fail(TD_ARGUMENT, "checkpoints_create: the %s is NULL; pass one", name ? "output" : "name");
    td_checkpoints *made = calloc(1, sizeof *made);
    if (made)
        made->name = strdup(name);
    if (!made || !made->name) {
        td_checkpoints_destroy(&made);
        return td_fail_alloc(sizeof *made + strlen(name) + 1);
    }
    *out = made;
    return TD_OK;
}

void td_checkpoints_destroy(td_checkpoints **checkpoints)
{
    if (!checkpoints || !*checkpoints)
        return;
    td_checkpoints *c = *checkpoints;
    for (size_t i = 0; i < c->count; i++) {
        free(c->list[i].name);
        td_report_destroy(&c->list[i].report);
    }
    free(c->list);
    free(atomic_load(&c->line));
    free(c->name);
    free(c);
    *checkpoints = NULL;
}

td_status td_checkpoints_add(td_checkpoints *c, const char *name, td_report **report)
{
    if (!c || !name || !report || !*report)
        return td_fail(TD_ARGUMENT, "checkpoints_add: the %s is NULL; pass one",
                       !c      ? "list"
                       : !name ? "name"
                               : "report");
    checkpoint *const list = td_grow(c->list, c->count, &c->room, sizeof *list, 16);
    if (!list)
        return TD_NO_MEMORY;
    c->list = list;
    char *copy = strdup(name);
    if (!copy)
        return td_fail_alloc(strlen(name) + 1);
    free(atomic_exchange(&c->line, NULL));
    const bool differs = !td_report_passed(*report), new_first = c->first == c->count;
    c->list[c->count].name = copy;
    c->list[c->count++].report = *report;
    c->first = new_first && !differs ? c->count : c->first;
    c->failed += differs;
    *report = NULL;
    return TD_OK;
}

size_t td_checkpoints_count(const td_checkpoints *c)
{
    return c ? c->count : 0;
}

const char *td_checkpoints_title(const td_checkpoints *c)
{
    return c ? c->name : "";
}

const char *td_checkpoints_name(const td_checkpoints *c, size_t number)
{
    return c && number < c->count ? c->list[number].name : NULL;
}

const td_report *td_checkpoints_report(const td_checkpoints *c, size_t number)
{
    return c && number < c->count ? c->list[number].report : NULL;
}

int td_checkpoints_passed(const td_checkpoints *c)
{
    return c && c->failed == 0;
}

size_t td_checkpoints_failed(const td_checkpoints *c)
{
    return c ? c->failed : 0;
}

size_t td_checkpoints_first(const td_checkpoints *c)
{
    return c ? c->first : 0;
}

const char *td_checkpoints_line(const td_checkpoints *c)
{
    if (!c)
        return "";
    /* The first caller makes it; of two at once, one keeps its own and the other takes that. */
    td_checkpoints *const mine = (td_checkpoints *)(uintptr_t)c;
    char *line = atomic_load(&mine->line);
    if (!line) {
        char *const made = make_line(c);
        if (atomic_compare_exchange_strong(&mine->line, &line, made))
            line = made;
        else
            free(made);
    }
    return line ? line : "";
}

static td_status fail_null(const char *call, const td_checkpoints *c)
{
    return td_fail(TD_ARGUMENT, "%s: the %s is NULL; pass one", call, c ? "output" : "list");
}

static td_status hand_out(td_text *out, char **text)
{
    if (out->failed) {
        free(out->text);
        return td_fail_alloc(out->used);
    }
    *text = out->text;
    return TD_OK;
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 9, CELL_BYTES = 48 };

static void fill_row(const checkpoint *c, char (*cell)[CELL_BYTES])
{
    td_statistics s;
    const td_report *r = c->report;
    td_text_print(cell[1], CELL_BYTES, "%s", td_report_passed(r) ? "match" : "DIFFER");
    td_text_print(cell[2], CELL_BYTES, "%" PRIu64, r->compared);
    td_text_print(cell[3], CELL_BYTES, "%" PRIu64, r->mismatches);
    td_text_print(cell[4], CELL_BYTES, "%.6g", r->worst_error);
    td_text_print(cell[5], CELL_BYTES, "%" PRIu64, r->worst_ulp);
    const bool has = td_report_statistics(r, &s);
    for (int i = 6; i < COLUMNS; i++) {
        memcpy(cell[i], "-", 2);
        if (has)
            td_text_print(cell[i], CELL_BYTES, "%.6g", i == 6 ? s.mean_relative_error : i == 7 ? s.mse : s.cosine);
    }
}

static void add_table(const td_checkpoints *c, td_text *out)
{
    static const char *const head[COLUMNS] = {"checkpoint", "verdict",   "compared", "mismatches", "worst error",
                                              "worst ulp",  "mean rel.", "MSE",      "cosine"};
    int width[COLUMNS];
    char cell[COLUMNS][CELL_BYTES];
    for (int k = 0; k < COLUMNS; k++)
        width[k] = (int)strlen(head[k]);
    for (size_t i = 0; i < c->count; i++) {
        fill_row(&c->list[i], cell);
        for (int k = 0; k < COLUMNS; k++) {
            const int wide = (int)strlen(k ? cell[k] : c->list[i].name);
            width[k] = wide > width[k] ? wide : width[k];
        }
    }
    for (int k = 0; k < COLUMNS; k++)
        td_text_add(out, "  %*s", k > 1 ? width[k] : -width[k], head[k]);
    td_text_add(out, "\n");
    for (size_t i = 0; i < c->count; i++) {
        fill_row(&c->list[i], cell);
        for (int k = 0; k < COLUMNS; k++)
            td_text_add(out, "  %*s", k > 1 ? width[k] : -width[k], k ? cell[k] : c->list[i].name);
        td_text_add(out, "\n");
    }
}

td_status td_checkpoints_text(const td_checkpoints *c, char **text)
{
    td_text out = {0};
    if (!c || !text)
        return fail_null("checkpoints_text", c);
    if (c->failed) {
        char *whole = NULL;
        const td_status status = td_report_text(c->list[c->first].report, &whole);
        if (status)
            return status;
        td_text_add(&out, "%s: %zu of %zu checkpoint%s differ%s, the first is \"%s\":\n\n", c->name, c->failed,
                    c->count, td_text_s(c->count), c->failed == 1 ? "s" : "", c->list[c->first].name);
        td_text_add(&out, "%s\n", whole);
        td_free(whole);
    } else {
        td_text_add(&out, "%s\n\n", td_checkpoints_line(c));
    }
    if (c->count)
        add_table(c, &out);
    return hand_out(&out, text);
}

/* -- JSON ---------------------------------------------------------------------------------------------------------- */

td_status td_checkpoints_json(const td_checkpoints *c, char **json)
{
    td_text out = {0};
    if (!c || !json)
        return fail_null("checkpoints_json", c);
    td_text_add(&out, "{\"name\": ");
    td_report_json_string(&out, c->name);
    td_text_add(&out, ", \"passed\": %s, \"failed\": %zu, \"first\": ", c->failed ? "false" : "true", c->failed);
    if (c->failed)
        td_text_add(&out, "%zu", c->first);
    else
        td_text_add(&out, "null");
    td_text_add(&out, ",\n\"checkpoints\": [");
    for (size_t i = 0; i < c->count; i++) {
        char *report = NULL;
        const td_status status = td_report_json(c->list[i].report, &report);
        if (status) {
            free(out.text);
            return status;
        }
        td_text_add(&out, "%s\n{\"name\": ", i ? "," : "");
        td_report_json_string(&out, c->list[i].name);
        td_text_add(&out, ", \"report\": %s}", report);
        td_free(report);
    }
    td_text_add(&out, "]}\n");
    return hand_out(&out, json);
}

/* -- JUnit --------------------------------------------------------------------------------------------------------- */

/* XML has no way to write most control characters. */
static void add_xml(td_text *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        const char *name = *p == '&' ? "&amp;" : *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '"' ? "&quot;" : NULL;
        if (name)
            td_text_add(out, "%s", name);
        else
            td_text_add(out, "%c", (unsigned char)*p < 0x20 && *p != '\n' && *p != '\t' ? '?' : *p);
    }
}

static td_status add_case(td_text *out, const td_checkpoints *c, const checkpoint *k)
{
    char *whole = NULL;
    const td_status status = td_report_text(k->report, &whole);
    if (status)
        return status;
    td_text_add(out, "    <testcase classname=\"");
    add_xml(out, c->name);
    td_text_add(out, "\" name=\"");
    add_xml(out, k->name);
    if (td_report_passed(k->report)) {
        td_text_add(out, "\"/>\n");
    } else {
        td_text_add(out, "\">\n      <failure type=\"mismatch\" message=\"");
        add_xml(out, td_report_line(k->report));
        td_text_add(out, "\">");
        add_xml(out, whole);
        td_text_add(out, "</failure>\n    </testcase>\n");
    }
    td_free(whole);
    return TD_OK;
}

td_status td_checkpoints_junit(const td_checkpoints *c, char **xml)
{
    td_text out = {0};
    if (!c || !xml)
        return fail_null("checkpoints_junit", c);
    td_text_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    add_xml(&out, c->name);
    td_text_add(&out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", c->count, c->failed);
    for (size_t i = 0; i < c->count; i++) {
        const td_status status = add_case(&out, c, &c->list[i]);
        if (status) {
            free(out.text);
            return status;
        }
    }
    td_text_add(&out, "  </testsuite>\n</testsuites>\n");
    return hand_out(&out, xml);
}
