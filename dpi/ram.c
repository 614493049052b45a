/* The front door of td_ram: one call per active port and cycle, so no strings cross here; td_dpi_ram_explain makes the
 * text when one of these has failed. A word crosses in parts of 64 bits, 4 words or 16 words of 32 bits; part p of a
 * wide word begins at its 32-bit word p * 4 or p * 16. Mask bit k enables byte k of the part. */
#include "handles.h"

#include <stdint.h>
#include <string.h>
#include <svdpi.h>

/* Bytes [offset, offset + limit) of a word, as far as the word goes; NULL past the memory. */
static unsigned char *part_of(td_memory *memory, td_dpi_u64 address, size_t offset, size_t limit, size_t *bytes)
{
    size_t word_bytes = td_memory_word_bytes(memory);
    if (address >= td_memory_depth_words(memory) || offset >= word_bytes)
        return NULL;
    *bytes = word_bytes - offset < limit ? word_bytes - offset : limit;
    return (unsigned char *)td_memory_data(memory) + address * word_bytes + offset;
}

/* The usual sizes as single moves: a library call costs more than they do. */
static void copy(void *dst, const void *src, size_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(dst, src, 1);
        break;
    case 2:
        memcpy(dst, src, 2);
        break;
    case 4:
        memcpy(dst, src, 4);
        break;
    case 8:
        memcpy(dst, src, 8);
        break;
    case 16:
        memcpy(dst, src, 16);
        break;
    default:
        memcpy(dst, src, bytes);
    }
}

static int read_part(td_dpi_u64 handle, td_dpi_u64 address, size_t offset, void *dst, size_t limit)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    const char *message;
    size_t bytes = 0;
    td_status status = td_dpi_claim_one("", &claim, &message);
    if (status)
        return (int)status;
    const unsigned char *src = part_of(claim.object, address, offset, limit, &bytes);
    if (src)
        copy(dst, src, bytes);
    td_dpi_release(&claim, 1);
    return src ? TD_OK : TD_RANGE;
}

static int write_part(td_dpi_u64 handle, td_dpi_u64 address, size_t offset, const void *src, size_t limit,
                      td_dpi_u64 mask)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    const char *message;
    size_t bytes = 0;
    td_status status = td_dpi_claim_one("", &claim, &message);
    if (status)
        return (int)status;
    unsigned char *dst = part_of(claim.object, address, offset, limit, &bytes);
    if (dst && (~mask & ~0ULL >> (64 - bytes)) == 0)
        copy(dst, src, bytes);
    else if (dst)
        for (size_t i = 0; i < bytes; i++)
            dst[i] = mask >> i & 1 ? ((const unsigned char *)src)[i] : dst[i];
    td_dpi_release(&claim, 1);
    return dst ? TD_OK : TD_RANGE;
}

TD_API int td_dpi_ram_read64(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 *data)
{
    *data = 0;
    return read_part(handle, address, 0, data, sizeof *data);
}

TD_API int td_dpi_ram_write64(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 data, td_dpi_u64 mask)
{
    return write_part(handle, address, 0, &data, sizeof data, mask);
}

TD_API int td_dpi_ram_read128(td_dpi_u64 handle, td_dpi_u64 address, svBitVecVal *data)
{
    return read_part(handle, address, 0, data, 16);
}

TD_API int td_dpi_ram_write128(td_dpi_u64 handle, td_dpi_u64 address, const svBitVecVal *data, td_dpi_u64 mask)
{
    return write_part(handle, address, 0, data, 16, mask);
}

TD_API int td_dpi_ram_read512(td_dpi_u64 handle, td_dpi_u64 address, int part, svBitVecVal *data)
{
    return read_part(handle, address, (size_t)part * 64, data, 64);
}

TD_API int td_dpi_ram_write512(td_dpi_u64 handle, td_dpi_u64 address, int part, const svBitVecVal *data,
                               td_dpi_u64 mask)
{
    return write_part(handle, address, (size_t)part * 64, data, 64, mask);
}

/* The message for a port call ("read" or "write") that failed; "" when it would not fail now. */
TD_API int td_dpi_ram_explain(td_dpi_u64 handle, const char *port, td_dpi_u64 address, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one("td_ram", &claim, message);
    if (status)
        return (int)status;
    td_dpi_u64 depth = td_memory_depth_words(claim.object);
    *message = "";
    if (address >= depth)
        status = (td_status)td_dpi_fail(
            TD_RANGE, message,
            "td_ram \"%s\": %s address 0x%llx is past the memory of %llu words; the last address is 0x%llx",
            td_memory_name(claim.object), port, address, depth, depth - 1);
    td_dpi_release(&claim, 1);
    return (int)status;
}
