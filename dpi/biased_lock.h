/* A biased lock with an asymmetric barrier. Most simulators make all their calls from one thread, and these calls need
 * no locks: the first thread that calls owns the bias. When another thread comes, it waits until the owner's call has
 * ended, and from then on every call locks. handles.c asks here before it locks anything. */
#ifndef TD_DPI_BIASED_LOCK_H
#define TD_DPI_BIASED_LOCK_H

#include <stdbool.h>

/* True: nobody else is in a call until td_dpi_leave_biased, which is then due. False: lock. Calls may nest. */
bool td_dpi_enter_biased(void);
void td_dpi_leave_biased(void);

#endif
