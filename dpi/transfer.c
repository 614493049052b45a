/* The bridge of tensordoor_bridge.h for SystemVerilog: td_design_memory.svh makes these calls around every operation on
 * a memory that lies in the design. No strings cross with the chunks; a negative number is a status. */
#include "chunk.h"
#include "shim.h"

#include <svdpi.h>

/* Claims the three objects of a plan. Where a handle is refused no word will cross, and the operation says why. */
static bool claim_plan(td_dpi_claim *claims, const char **message, td_status *status)
{
    *status = TD_OK;
    if (!td_dpi_claim_all("", claims, 3, message))
        return true;
    if (!td_dpi_claim_one("", &claims[0], message)) {
        *status = td_transfer_span(claims[0].object, 0, 0);
        td_dpi_release(claims, 1);
    }
    return false;
}

TD_API int td_dpi_transfer_layout(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, int *partial,
                                  const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_status status;
    *partial = 0;
    if (!claim_plan(claims, message, &status))
        return td_dpi_done(status, message);
    td_memory *const bank = claims[0].object;
    status = td_transfer_layout(&bank, 1, claims[1].object, claims[2].object, as, partial);
    return td_dpi_end(claims, 3, status, message);
}

TD_API int td_dpi_transfer_tensor(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, int use,
                                  int *partial, int *borrowed, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_status status;
    *partial = *borrowed = 0;
    if (!claim_plan(claims, message, &status))
        return td_dpi_done(status, message);
    status = td_transfer_tensor(claims[0].object, claims[1].object, claims[2].object, as, (td_transfer_use)use, partial,
                                borrowed);
    return td_dpi_end(claims, 3, status, message);
}

TD_DPI_LAYOUT_SHIM(td_dpi_transfer_load, td_transfer_load, "backdoor_load_tensor")
TD_DPI_LAYOUT_SHIM(td_dpi_transfer_dump, td_transfer_dump, "backdoor_dump_tensor")

TD_API int td_dpi_transfer_span(td_dpi_u64 memory, td_dpi_u64 first, td_dpi_u64 count, const char **message)
{
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    if (td_dpi_claim_one("", &claim, message))
        return td_dpi_done(TD_OK, message);
    td_status status = td_transfer_span(claim.object, first, count);
    return td_dpi_end(&claim, 1, status, message);
}

/* `addresses` is a list of them, or 0. */
TD_API int td_dpi_transfer_words(td_dpi_u64 memory, td_dpi_u64 addresses, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = addresses, .kind = TD_DPI_TENSOR, .optional = true}};
    if (td_dpi_claim_all("", claims, 2, message))
        return td_dpi_done(TD_OK, message);
    const bool list = claims[1].object && td_tensor_elem_bytes(claims[1].object) == 8;
    td_status status = td_transfer_words(claims[0].object, list ? td_tensor_data_const(claims[1].object) : NULL,
                                         list ? td_tensor_elems(claims[1].object) : 0);
    return td_dpi_end(claims, 2, status, message);
}

TD_API int td_dpi_transfer_file(td_dpi_u64 memory, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    if (td_dpi_claim_one("", &claim, message))
        return td_dpi_done(TD_OK, message);
    td_status status = td_transfer_file(claim.object, path);
    return td_dpi_end(&claim, 1, status, message);
}

/* What a chunk is for, as td_dpi_pkg::transfer_e says it. */
enum { TAKE_OUT, BRING_IN, UNKNOWN_OUT, UNKNOWN_IN };

/* One import for every direction, because simulators generate code for each element of each `inout`. `borrowed` is the
 * tensor whose own words they are, or 0: it is claimed too, so that it cannot be destroyed meanwhile. Gives the number
 * of runs, plus TD_CHUNK_UNKNOWN when bits of theirs are to stay x or z; or a negative status. */
TD_API int td_dpi_transfer_chunk(td_dpi_u64 memory, td_dpi_u64 borrowed, int direction, svBitVecVal *chunk)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = borrowed, .kind = TD_DPI_TENSOR, .optional = true}};
    const char *message;
    int result = 0, unknown = 0;
    td_status status = td_dpi_claim_all("", claims, 2, &message);
    if (status)
        return -(int)status;
    td_memory *copy = claims[0].object;
    if (direction == TAKE_OUT)
        result = (int)td_transfer_out(copy, chunk, TD_CHUNK_WORDS, &unknown);
    else if (direction == BRING_IN)
        result = (int)td_transfer_in(copy, chunk, TD_CHUNK_WORDS);
    else if (direction == UNKNOWN_OUT)
        td_transfer_unknown_out(copy, chunk, TD_CHUNK_WORDS);
    else
        result = -(int)td_transfer_unknown_in(copy, chunk, TD_CHUNK_WORDS);
    td_dpi_release(claims, 2);
    return unknown ? result + TD_CHUNK_UNKNOWN : result;
}
