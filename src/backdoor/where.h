/* What where.c and inject.c share: both are about one element by its coordinate. */
#ifndef TD_BACKDOOR_WHERE_H
#define TD_BACKDOOR_WHERE_H

#include "backdoor/call.h"

/* TD_RANGE for a coordinate outside of the shape. */
td_status td_check_coordinate(const td_shape *shape, const uint64_t *coordinate);

#endif
