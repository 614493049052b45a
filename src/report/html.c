/* Writes the report as one HTML page without outside references, behind td_report_html: page/report.html, built into
 * the library, with the report's JSON, its grid and its histogram inside. Written like every file of the library:
 * beside its place, then renamed. */
#include "files/writer.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char td_report_page[]; /* made from page/report.html */

#define PLACE "@REPORT@"

static void add_grid(const td_report *r, td_text *out)
{
    bool more = false;
    td_text_add(out, "\"grid\": {\"axes\": [");
    for (size_t i = 0; i < r->tally_count; i++) {
        const td_tally *t = &r->tally[i];
        if (!t->grid_bucket)
            continue;
        td_text_add(out, "%s{\"name\": \"%s\", \"size\": %" PRIu64 ", \"bucket\": %" PRIu64 ", \"count\": %zu",
                    more ? ", " : "", t->name, t->size, t->grid_bucket, t->grid_count);
        td_text_add(out, ", \"dim\": %d, \"stride\": %" PRIu64 ", \"offset\": %" PRIu64 "}", t->dim, t->stride,
                    t->offset);
        more = true;
    }
    td_text_add(out, "], \"cells\": [");
    more = false;
    for (size_t i = 0; i < r->grid_cells; i++) {
        const td_grid_cell *c = &r->grid[i];
        if (!c->mismatches)
            continue;
        td_text_add(out, "%s[%zu,%" PRIu32 ",", more ? "," : "", i, c->mismatches);
        if (isfinite(c->error))
            td_text_add(out, "%.6g]", (double)c->error);
        else
            td_text_add(out, "\"inf\"]");
        more = true;
    }
    td_text_add(out, "]}, \"bins\": [");
    for (size_t i = 0; i < TD_REPORT_BINS; i++)
        td_text_add(out, "%s%" PRIu64, i ? "," : "", r->bins[i]);
    td_text_add(out, "]");
}

static td_status write_page(const td_report *r, const char *path)
{
    td_writer writer;
    td_text out = {0};
    char *json = NULL;
    const char *place = strstr(td_report_page, PLACE);
    td_status status = td_report_json(r, &json);
    if (status)
        return status;
    td_text_add(&out, "{\"version\": \"%s\",\n\"report\": ", td_version());
    td_text_add(&out, "%s,\n", json);
    add_grid(r, &out);
    td_text_add(&out, "}");
    td_free(json);
    if (out.failed)
        status = td_fail_alloc(out.used);
    if (!status)
        status = td_writer_open(path, &writer);
    if (!status) {
        td_writer_put(&writer, td_report_page, (size_t)(place - td_report_page));
        td_writer_put(&writer, out.text, out.used);
        td_writer_put(&writer, place + strlen(PLACE), strlen(place + strlen(PLACE)));
        status = td_writer_close(&writer, TD_OK);
    }
    free(out.text);
    return status;
}

td_status td_report_html(const td_report *r, const char *path)
{
    if (!r || !path)
        return td_fail(TD_ARGUMENT, "report_html: the %s is NULL; pass one", r ? "path" : "report");
    const td_status status = write_page(r, path);
    if (status)
        td_fail_prefix("report_html \"%s\": ", path);
    return status;
}
