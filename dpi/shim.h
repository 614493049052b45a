/* Shims that differ in the call they make and in nothing else: claim the handles, call, release, give the status back.
 * For backdoor.c and transfer.c. */
#ifndef TD_DPI_SHIM_H
#define TD_DPI_SHIM_H

#include "handles.h"

/* A memory and a tensor through a layout. `call` is the operation that messages name. */
#define TD_DPI_LAYOUT_SHIM(shim, function, call)                                                                       \
    TD_API int shim(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, const char **message)     \
    {                                                                                                                  \
        td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},                                            \
                                 {.handle = tensor, .kind = TD_DPI_TENSOR},                                            \
                                 {.handle = layout, .kind = TD_DPI_LAYOUT}};                                           \
        td_status status = td_dpi_claim_all(call, claims, 3, message);                                                 \
        if (status)                                                                                                    \
            return (int)status;                                                                                        \
        status = function(claims[0].object, claims[1].object, claims[2].object, as);                                   \
        return td_dpi_end(claims, 3, status, message);                                                                 \
    }

/* Rows of a matrix and the words from `first` to `last`. */
#define TD_DPI_MATRIX_SHIM(shim, function, call)                                                                       \
    TD_API int shim(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 first, td_dpi_u64 last, const char **message)     \
    {                                                                                                                  \
        td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},                                            \
                                 {.handle = tensor, .kind = TD_DPI_TENSOR}};                                           \
        td_status status = td_dpi_claim_all(call, claims, 2, message);                                                 \
        if (status)                                                                                                    \
            return (int)status;                                                                                        \
        status = function(claims[0].object, claims[1].object, first, last);                                            \
        return td_dpi_end(claims, 2, status, message);                                                                 \
    }

#endif
