/* Names of statuses and the library's version for SystemVerilog; the status enum there is checked against these names.
 */
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
