/* Comparisons and their reports for SystemVerilog. A report is a handle like the others; td_report asks for its numbers
 * once. */
#include "handles.h"

#include <stdio.h>
#include <svdpi.h>

int td_dpi_report_give(td_report **report, td_dpi_u64 *handle, const char **message)
{
    const td_status status = td_dpi_handle_create(TD_DPI_REPORT, *report, handle, message);
    if (status) {
        td_report_destroy(report);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_backdoor_compare_tensor(td_dpi_u64 memory, td_dpi_u64 golden, td_dpi_u64 layout, const char *policy,
                                          const char *as, td_dpi_u64 *report, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = golden, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_report *made = NULL;
    *report = 0;
    td_status status = td_dpi_claim_all("backdoor_compare_tensor", claims, 3, message);
    if (status)
        return (int)status;
    status = td_backdoor_compare_tensor(claims[0].object, claims[1].object, claims[2].object, policy, as, &made);
    td_dpi_release(claims, 3);
    return status ? td_dpi_done(status, message) : td_dpi_report_give(&made, report, message);
}

TD_API int td_dpi_tensor_compare(td_dpi_u64 expected, td_dpi_u64 actual, const char *policy, td_dpi_u64 *report,
                                 const char **message)
{
    td_dpi_claim claims[] = {{.handle = expected, .kind = TD_DPI_TENSOR}, {.handle = actual, .kind = TD_DPI_TENSOR}};
    td_report *made = NULL;
    *report = 0;
    td_status status = td_dpi_claim_all("tensor_compare", claims, 2, message);
    if (status)
        return (int)status;
    status = td_tensor_compare(claims[0].object, claims[1].object, policy, &made);
    td_dpi_release(claims, 2);
    return status ? td_dpi_done(status, message) : td_dpi_report_give(&made, report, message);
}

TD_API int td_dpi_report_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("report_destroy", TD_DPI_REPORT, handle, &object, message);
    if (status)
        return (int)status;
    td_report *report = object;
    td_report_destroy(&report);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_report_info(td_dpi_u64 handle, int *passed, td_dpi_u64 *compared, td_dpi_u64 *mismatches,
                              td_dpi_u64 *pad_mismatches, td_dpi_u64 *outside_bits, td_dpi_u64 *worst_ulp,
                              double *worst_error, int *first_count, const char **line, const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_REPORT};
    *line = "";
    td_status status = td_dpi_claim_one("report_info", &claim, message);
    if (status)
        return (int)status;
    *passed = td_report_passed(claim.object);
    *compared = td_report_compared(claim.object);
    *mismatches = td_report_mismatches(claim.object);
    *pad_mismatches = td_report_pad_mismatches(claim.object);
    *outside_bits = td_report_outside_bits(claim.object);
    *worst_ulp = td_report_worst_ulp(claim.object);
    *worst_error = td_report_worst_error(claim.object);
    *first_count = (int)td_report_first_count(claim.object);
    status = td_dpi_keep(&kept, td_report_line(claim.object), line, message);
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

/* One of the first mismatches. `at` is the coordinate, as "1 0 3". */
TD_API int td_dpi_report_first(td_dpi_u64 handle, int number, const char **at, td_dpi_u64 *expected, td_dpi_u64 *actual,
                               td_dpi_u64 *bank, td_dpi_u64 *address, int *msb, int *lsb, const char **message)
{
    static _Thread_local char text[TD_MAX_RANK * 21 + 1]; /* 20 digits and a space for each */
    td_mismatch m;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_REPORT};
    *at = "";
    td_status status = td_dpi_claim_one("report_first", &claim, message);
    if (status)
        return (int)status;
    status = td_report_first(claim.object, number < 0 ? SIZE_MAX : (size_t)number, &m);
    td_dpi_release(&claim, 1);
    if (status)
        return td_dpi_done(status, message);
    size_t used = 0;
    text[0] = 0;
    for (size_t d = 0; d < m.at.rank; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", d ? " " : "", (td_dpi_u64)m.at.dim[d]);
    *at = text;
    *expected = m.expected;
    *actual = m.actual;
    *bank = m.bank;
    *address = m.address;
    *msb = (int)m.msb;
    *lsb = (int)m.lsb;
    return td_dpi_done(TD_OK, message);
}

/* A guess by its number, or "" past the last. */
TD_API int td_dpi_report_guess(td_dpi_u64 handle, int number, const char **guess, const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_REPORT};
    *guess = "";
    td_status status = td_dpi_claim_one("report_guess", &claim, message);
    if (status)
        return (int)status;
    const char *found = number < 0 ? NULL : td_report_guess(claim.object, (size_t)number);
    status = td_dpi_keep(&kept, found ? found : "", guess, message);
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

/* The text for a log lives until the next call on this thread. */
TD_API int td_dpi_report_text(td_dpi_u64 handle, const char **text, const char **message)
{
    static _Thread_local char *last;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_REPORT};
    *text = "";
    td_status status = td_dpi_claim_one("report_text", &claim, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    status = td_report_text(claim.object, &last);
    td_dpi_release(&claim, 1);
    if (!status)
        *text = last;
    return td_dpi_done(status, message);
}

TD_API int td_dpi_report_html(td_dpi_u64 handle, const char *path, const char *at_time, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_REPORT};
    td_status status = td_dpi_claim_one("report_html", &claim, message);
    if (status)
        return (int)status;
    status = td_report_set_time(claim.object, at_time);
    if (!status)
        status = td_report_html(claim.object, path);
    return td_dpi_end(&claim, 1, status, message);
}
