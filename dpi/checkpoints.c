/* Checkpoints for SystemVerilog: the reports of a run (program_run.c), one by one, as text, JSON and JUnit XML, and as
 * a page. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <svdpi.h>

TD_API int td_dpi_checkpoints_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    const td_status status = td_dpi_handle_take("checkpoints_destroy", TD_DPI_CHECKPOINTS, handle, &object, message);
    if (status)
        return (int)status;
    td_checkpoints *checkpoints = object;
    td_checkpoints_destroy(&checkpoints);
    return td_dpi_done(TD_OK, message);
}

/* One of them; TD_RANGE past the last. has_statistics is 0 of a report that was made without them. */
TD_API int td_dpi_checkpoints_at(td_dpi_u64 handle, int number, const char **name, int *passed, td_dpi_u64 *compared,
                                 td_dpi_u64 *mismatches, td_dpi_u64 *worst_ulp, double *worst_error,
                                 int *has_statistics, double *mean_relative_error, double *mse, double *cosine,
                                 const char **line, const char **message)
{
    static _Thread_local char *kept[2];
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    td_statistics s = {0};
    *name = *line = "";
    td_status status = td_dpi_claim_one("checkpoints_at", &claim, message);
    if (status)
        return (int)status;
    const td_report *r = number < 0 ? NULL : td_checkpoints_report(claim.object, (size_t)number);
    if (r) {
        *passed = td_report_passed(r);
        *compared = td_report_compared(r);
        *mismatches = td_report_mismatches(r);
        *worst_ulp = td_report_worst_ulp(r);
        *worst_error = td_report_worst_error(r);
        *has_statistics = td_report_statistics(r, &s);
        *mean_relative_error = s.mean_relative_error;
        *mse = s.mse;
        *cosine = s.cosine;
        status = td_dpi_keep(&kept[0], td_checkpoints_name(claim.object, (size_t)number), name, message);
        if (!status)
            status = td_dpi_keep(&kept[1], td_report_line(r), line, message);
    } else {
        status = (td_status)td_dpi_fail(TD_RANGE, message, "checkpoints_at: number %d of %zu; the first is 0", number,
                                        td_checkpoints_count(claim.object));
    }
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

/* `what`: 0 text, 1 JSON, 2 JUnit XML. The text lives until the next call. */
TD_API int td_dpi_checkpoints_text(td_dpi_u64 handle, int what, const char **text, const char **message)
{
    static _Thread_local char *last;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    *text = "";
    td_status status = td_dpi_claim_one("checkpoints_text", &claim, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    status = what == 0   ? td_checkpoints_text(claim.object, &last)
             : what == 1 ? td_checkpoints_json(claim.object, &last)
                         : td_checkpoints_junit(claim.object, &last);
    if (!status)
        *text = last;
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_checkpoints_html(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    const td_status status = td_dpi_claim_one("checkpoints_html", &claim, message);
    return status ? (int)status : td_dpi_end(&claim, 1, td_checkpoints_html(claim.object, path), message);
}
