/* The profile of section 17 of tensordoor.h, for SystemVerilog. Texts live until the next call of their kind on this
 * thread. */
#include "handles.h"

#include <svdpi.h>

TD_API int td_dpi_profile_start(const char *mode, const char **message)
{
    return td_dpi_done(td_profile_start(mode), message);
}

TD_API void td_dpi_profile_stop(void)
{
    td_profile_stop();
}

TD_API void td_dpi_profile_reset(void)
{
    td_profile_reset();
}

/* 0: is it on; 1: does TD_PROFILE=1 want the table at the end. */
TD_API int td_dpi_profile_is(int wanted)
{
    return wanted ? td_profile_wanted() : td_profile_running();
}

/* 0: the table; 1: JSON; 2: the trace. */
TD_API int td_dpi_profile_text(int form, const char **text, const char **message)
{
    static _Thread_local char *last;
    char *made = NULL;
    *text = "";
    const td_status status = form == 0   ? td_profile_text(&made)
                             : form == 1 ? td_profile_json(&made)
                                         : td_profile_trace(&made);
    if (status)
        return td_dpi_done(status, message);
    const td_status kept = td_dpi_keep(&last, made, text, message);
    td_free(made);
    return kept ? (int)kept : td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_profile_count(const char *path, td_dpi_u64 *calls, td_dpi_u64 *bytes, double *total_ns,
                                double *self_ns, const char **message)
{
    td_profile_counts found = {0};
    const td_status status = td_profile_count(path, &found);
    *calls = found.calls;
    *bytes = found.bytes;
    *total_ns = found.total_ns;
    *self_ns = found.self_ns;
    return td_dpi_done(status, message);
}

TD_API int td_dpi_profile_save(const char *file, const char **message)
{
    return td_dpi_done(td_profile_save(file), message);
}
