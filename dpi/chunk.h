/* What crosses DPI at once. SystemVerilog has the same numbers in sv/td_dpi_pkg.sv; tests/checks/constants.sh compares
 * them. */
#ifndef TD_DPI_CHUNK_H
#define TD_DPI_CHUNK_H

#include "tensordoor_bridge.h"

#define TD_CHUNK_WORDS 512             /* a chunk of a transfer, in words of 32 bits */
#define TD_CHUNK_HEAD TD_TRANSFER_HEAD /* of each of its runs */
#define TD_CHUNK_UNKNOWN 65536         /* added to the number of runs when bits of theirs stay x or z */

#define TD_LIST_WORDS 256     /* words of a tensor or a list */
#define TD_LIST_ADDRESSES 128 /* addresses of a list */

#endif
