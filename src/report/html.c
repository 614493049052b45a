/* Writes a report, or a list of checkpoints, as one HTML page without outside references, behind td_report_html and
 * td_checkpoints_html: page/report.html, built into the library, with the JSON of every report, its grid and its
 * histogram inside. Written like every file of the library:
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

/* "name": ..., "report": ..., "grid": ..., "bins": ... */
static td_status add_report(const td_report *r, const char *name, td_text *out)
{
    char *json = NULL;
    const td_status status = td_report_json(r, &json);
    if (status)
        return status;
    if (name) {
        td_text_add(out, "\"name\": ");
        td_report_json_string(out, name);
        td_text_add(out, ", ");
    }
    td_text_add(out, "\"report\": %s,\n", json);
    add_grid(r, out);
    td_free(json);
    return TD_OK;
}

/* Takes the data over. */
static td_status write_page(td_text *data, td_status status, const char *path)
{
    td_writer writer;
    const char *place = strstr(td_report_page, PLACE);
    if (!status && data->failed)
        status = td_fail_alloc(data->used);
    if (!status)
        status = td_writer_open(path, &writer);
    if (!status) {
        td_writer_put(&writer, td_report_page, (size_t)(place - td_report_page));
        td_writer_put(&writer, data->text, data->used);
        td_writer_put(&writer, place + strlen(PLACE), strlen(place + strlen(PLACE)));
        status = td_writer_close(&writer, TD_OK);
    }
    free(data->text);
    return status;
}

td_status td_report_html(const td_report *r, const char *path)
{
    td_text data = {0};
    if (!r || !path)
        return td_fail(TD_ARGUMENT, "report_html: the %s is NULL; pass one", r ? "path" : "report");
    td_text_add(&data, "{\"version\": \"%s\",\n", td_version());
    td_status status = add_report(r, NULL, &data);
    td_text_add(&data, "}");
    status = write_page(&data, status, path);
    if (status)
        td_fail_prefix("report_html \"%s\": ", path);
    return status;
}

td_status td_checkpoints_html(const td_checkpoints *c, const char *path)
{
    td_text data = {0};
    if (!c || !path)
        return td_fail(TD_ARGUMENT, "checkpoints_html: the %s is NULL; pass one", c ? "path" : "list");
    td_text_add(&data, "{\"version\": \"%s\", \"name\": ", td_version());
    td_report_json_string(&data, td_checkpoints_title(c));
    td_text_add(&data, ", \"failed\": %zu, \"first\": %zu,\n\"checkpoints\": [", td_checkpoints_failed(c),
                td_checkpoints_first(c));
    td_status status = TD_OK;
    for (size_t i = 0; i < td_checkpoints_count(c) && !status; i++) {
        td_text_add(&data, "%s\n{", i ? "," : "");
        status = add_report(td_checkpoints_report(c, i), td_checkpoints_name(c, i), &data);
        td_text_add(&data, "}");
    }
    td_text_add(&data, "]}");
    status = write_page(&data, status, path);
    if (status)
        td_fail_prefix("checkpoints_html \"%s\": ", path);
    return status;
}
