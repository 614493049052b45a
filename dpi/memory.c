/* Memories for SystemVerilog: life, image files, and single words of up to 64 bits. Whole lists of words are in
 * backdoor.c. */
#include "handles.h"

#include <stdint.h>
#include <string.h>
#include <svdpi.h>

TD_API int td_dpi_memory_create(const char *name, td_dpi_u64 width_bits, td_dpi_u64 depth_words, td_dpi_u64 *handle,
                                const char **message)
{
    td_memory *memory = NULL;
    *handle = 0;
    td_status status = td_memory_create(name, width_bits, depth_words, &memory);
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_MEMORY, memory, handle, message);
    if (status) {
        td_memory_destroy(&memory);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

/* A copy as the memory is now, a memory of its own. */
TD_API int td_dpi_memory_snapshot(td_dpi_u64 handle, td_dpi_u64 *snapshot, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_memory *copy = NULL;
    *snapshot = 0;
    td_status status = td_dpi_claim_one("memory_snapshot", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_snapshot(claim.object, &copy);
    td_dpi_release(&claim, 1);
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_MEMORY, copy, snapshot, message);
    if (status) {
        td_memory_destroy(&copy);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_memory_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("memory_destroy", TD_DPI_MEMORY, handle, &object, message);
    if (status)
        return (int)status;
    td_memory *memory = object;
    td_memory_destroy(&memory);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_memory_clear(td_dpi_u64 handle, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_clear", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_clear(claim.object);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_fill(td_dpi_u64 handle, const char *what, td_dpi_u64 first, td_dpi_u64 count,
                              const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_fill", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_fill(claim.object, what, first, count);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_set_x(td_dpi_u64 handle, const char *policy, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_set_x", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_set_x(claim.object, policy);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_load_file(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_load_file", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_load_file(claim.object, path);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_load_file_part(td_dpi_u64 handle, const char *path, td_dpi_u64 *bytes, td_dpi_u64 *first,
                                        td_dpi_u64 *last, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_image_outside outside = {0};
    *bytes = *first = *last = 0;
    td_status status = td_dpi_claim_one("memory_load_file", &claim, message);
    if (status)
        return (int)status;
    status = td_memory_load_file_part(claim.object, path, &outside);
    if (!status) {
        *bytes = outside.bytes;
        *first = outside.first;
        *last = outside.last;
    }
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_memory_save_file(td_dpi_u64 handle, const char *path, td_dpi_u64 first, td_dpi_u64 count,
                                   const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_save_file", &claim, message);
    if (status)
        return (int)status;
    td_span span = {.first = first, .count = count};
    status = td_memory_save_file(claim.object, path, &span, 1);
    return td_dpi_end(&claim, 1, status, message);
}

static td_status check_width(const char *call, const td_memory *memory, const char **message)
{
    td_dpi_u64 width = td_memory_width_bits(memory);
    if (width > 64)
        td_dpi_fail(TD_ARGUMENT, message,
                    "%s \"%s\": words of %llu bits do not fit in 64; use backdoor_read and backdoor_write", call,
                    td_memory_name(memory), width);
    return width > 64 ? TD_ARGUMENT : TD_OK;
}

TD_API int td_dpi_memory_get_bits(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 *bits, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    *bits = 0;
    td_status status = td_dpi_claim_one("memory_get_bits", &claim, message);
    if (status)
        return (int)status;
    status = check_width("get_bits", claim.object, message);
    if (!status) {
        uint64_t at = address;
        status = td_backdoor_read(claim.object, &at, 1, bits); /* little endian: a narrow word is the low bytes */
        td_dpi_done(status, message);
    }
    td_dpi_release(&claim, 1);
    return (int)status;
}

TD_API int td_dpi_memory_set_bits(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 bits, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("memory_set_bits", &claim, message);
    if (status)
        return (int)status;
    status = check_width("set_bits", claim.object, message);
    td_dpi_u64 width = td_memory_width_bits(claim.object);
    if (!status && width < 64 && bits >> width) {
        td_dpi_fail(TD_RANGE, message, "set_bits \"%s\": 0x%llx for a word of %llu bits; clear the bits above",
                    td_memory_name(claim.object), bits, width);
        status = TD_RANGE;
    } else if (!status) {
        uint64_t at = address;
        status = td_backdoor_write(claim.object, &at, 1, &bits, NULL);
        td_dpi_done(status, message);
    }
    td_dpi_release(&claim, 1);
    return (int)status;
}
