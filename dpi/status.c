/* What belongs to no handle, for SystemVerilog: names of statuses, against which the enum there is checked, the
 * library's version, and the counts of paths. */
#include "handles.h"

#include <svdpi.h>

TD_API void td_dpi_status_name(int status, const char **name)
{
    *name = td_status_name((td_status)status);
}

TD_API void td_dpi_version(const char **version)
{
    *version = td_version();
}

/* What loads and dumps that went this way have done; 0 when there is no path of this number. */
TD_API int td_dpi_speed_path(int number, const char **name, td_dpi_u64 *calls, td_dpi_u64 *bytes)
{
    *name = "";
    *calls = *bytes = 0;
    if (number < 0 || number >= TD_PATHS)
        return 0;
    const td_path_stats stats = td_speed_paths();
    *name = td_path_name((td_path)number);
    *calls = stats.calls[number];
    *bytes = stats.bytes[number];
    return 1;
}

TD_API void td_dpi_speed_paths_clear(void)
{
    td_speed_paths_clear();
}
