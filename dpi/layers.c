/* Memories that lie over others, for SystemVerilog, and what a transfer of one needs beside dpi/transfer.c. The arrays
 * come as a list of their handles, as the banks of a set do. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdlib.h>
#include <svdpi.h>

void td_dpi_memories_free(td_dpi_memories *memories)
{
    free(memories->claim);
    free(memories->memory);
}

td_status td_dpi_claim_list(const char *call, td_dpi_u64 list, const td_dpi_claim *more, size_t more_count,
                            td_dpi_memories *out, const char **message)
{
    uint64_t *handles = NULL;
    *out = (td_dpi_memories){.more = more_count};
    td_status status = td_dpi_list_read(call, list, &handles, &out->count, message);
    if (status)
        goto done;
    if (!out->count && !more_count) {
        status = (td_status)td_dpi_fail(TD_ARGUMENT, message, "%s: no memory; pass one", call);
        goto done;
    }
    out->claim = calloc(out->count + more_count, sizeof *out->claim);
    out->memory = calloc(out->count + 1, sizeof(td_memory *));
    if (!out->claim || !out->memory) {
        status = (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s: no memory for %llu arrays; use fewer", call,
                                        (td_dpi_u64)out->count);
        goto done;
    }
    for (size_t i = 0; i < out->count; i++)
        out->claim[i] = (td_dpi_claim){.handle = handles[i], .kind = TD_DPI_MEMORY};
    for (size_t i = 0; i < more_count; i++)
        out->claim[out->count + i] = more[i];
    status = td_dpi_claim_below(call, out->claim, out->count + more_count, message);
    for (size_t i = 0; i < out->count && !status; i++)
        out->memory[i] = out->claim[i].object;

done:
    free(handles);
    return status;
}

/* The new memory's handle, over what is claimed, which is then released. */
static int give(td_status status, td_memory *made, const td_dpi_claim *claims, size_t below, size_t count,
                td_dpi_u64 *handle, const char **message)
{
    td_dpi_done(status, message);
    if (!status)
        status = td_dpi_handle_create_over(TD_DPI_MEMORY, made, claims, below, handle, message);
    if (status)
        td_memory_destroy(&made);
    td_dpi_release(claims, count);
    return (int)status;
}

TD_API int td_dpi_memory_over(const char *name, td_dpi_u64 width_bits, td_dpi_u64 depth_words, td_dpi_u64 organisation,
                              td_dpi_u64 arrays, td_dpi_u64 *handle, const char **message)
{
    const td_dpi_claim layout = {.handle = organisation, .kind = TD_DPI_LAYOUT};
    td_dpi_memories c;
    td_memory *made = NULL;
    *handle = 0;
    td_status status = td_dpi_claim_list("memory_over", arrays, &layout, 1, &c, message);
    if (status) {
        td_dpi_memories_free(&c);
        return (int)status;
    }
    status = td_memory_over(name, width_bits, depth_words, c.claim[c.count].object, c.memory, c.count, &made);
    const int given = give(status, made, c.claim, c.count, c.count + 1, handle, message);
    td_dpi_memories_free(&c);
    return given;
}

TD_API int td_dpi_memory_coded(const char *name, td_dpi_u64 code, td_dpi_u64 raw, const char *options,
                               td_dpi_u64 *handle, td_dpi_u64 *width_bits, td_dpi_u64 *depth_words,
                               const char **message)
{
    td_dpi_claim claims[] = {{.handle = raw, .kind = TD_DPI_MEMORY}, {.handle = code, .kind = TD_DPI_CODE}};
    td_memory *made = NULL;
    *handle = *width_bits = *depth_words = 0;
    td_status status = td_dpi_claim_below("memory_coded", claims, 2, message);
    if (status)
        return (int)status;
    status = td_memory_coded(name, claims[1].object, claims[0].object, options, &made);
    *width_bits = td_memory_width_bits(made);
    *depth_words = td_memory_depth_words(made);
    return give(status, made, claims, 1, 2, handle, message);
}

/* `codec` is FILE:SYMBOL. */
TD_API int td_dpi_memory_through(const char *name, const char *codec, td_dpi_u64 below, td_dpi_u64 *handle,
                                 td_dpi_u64 *width_bits, td_dpi_u64 *depth_words, const char **message)
{
    td_dpi_claim claim = {.handle = below, .kind = TD_DPI_MEMORY};
    const td_codec *found = NULL;
    td_memory *made = NULL;
    *handle = *width_bits = *depth_words = 0;
    td_status status = td_dpi_claim_below("memory_through", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_codec_open(codec, &found);
    if (!status)
        status = td_memory_through(name, found, claim.object, &made);
    *width_bits = td_memory_width_bits(made);
    *depth_words = td_memory_depth_words(made);
    return give(status, made, &claim, 1, 1, handle, message);
}

/* What reads have found; errors as lines of text. */
TD_API int td_dpi_memory_code_result(td_dpi_u64 memory, int reset, td_dpi_u64 *corrected, td_dpi_u64 *uncorrectable,
                                     const char **errors, const char **message)
{
    static _Thread_local char text[TD_DPI_ERRORS_BYTES];
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    td_code_result result = {0};
    *corrected = *uncorrectable = 0;
    *errors = "";
    td_status status = td_dpi_claim_one("memory_code_result", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_code_result(claim.object, &result, reset);
    if (!status) {
        *corrected = result.corrected;
        *uncorrectable = result.uncorrectable;
        td_dpi_print_errors(&result, text);
        *errors = text;
    }
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_invalidate(td_dpi_u64 memory, td_dpi_u64 first, td_dpi_u64 count, const char **message)
{
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_invalidate", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_invalidate(claim.object, first, count);
    return td_dpi_end(&claim, 1, status, message);
}

/* For memories that lie in the design, or over such: every word of every bank. */
TD_API int td_dpi_transfer_all(td_dpi_u64 banks, const char **message)
{
    td_dpi_memories c;
    td_status status = td_dpi_claim_list("transfer_all", banks, NULL, 0, &c, message);
    if (!status) {
        status = td_transfer_all(c.memory, c.count);
        td_dpi_done(status, message);
        td_dpi_release(c.claim, c.count);
    }
    td_dpi_memories_free(&c);
    return (int)status;
}

/* 1 where the words below hold other bits too, and have to come in before any write. */
TD_API int td_dpi_transfer_shared(td_dpi_u64 memory)
{
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    const char *message;
    if (td_dpi_claim_one("", &claim, &message))
        return 0;
    const int shared = td_transfer_shared(claim.object);
    td_dpi_release(&claim, 1);
    return shared;
}

TD_API int td_dpi_transfer_reaches(td_dpi_u64 memory, td_dpi_u64 array)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY}, {.handle = array, .kind = TD_DPI_MEMORY}};
    const char *message;
    if (td_dpi_claim_all("", claims, 2, &message))
        return 0;
    const int reaches = td_transfer_reaches(claims[0].object, claims[1].object);
    td_dpi_release(claims, 2);
    return reaches;
}
