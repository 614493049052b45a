/* Whether one thread alone makes the calls, as most simulators do: its calls then need no locks. handles.c asks before it locks
 * anything. The first thread to call is the one; when another comes, it waits for the call of the first to end, and from
 * then on every call locks. */
#ifndef TD_DPI_ALONE_H
#define TD_DPI_ALONE_H

#include <stdbool.h>

/* True: nobody else is in a call until td_dpi_leave_alone, which is then due. False: lock. Calls may nest. */
bool td_dpi_enter_alone(void);
void td_dpi_leave_alone(void);

#endif
