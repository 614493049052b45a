/* The front door of td_ram: one call per cycle serves both ports, and no strings cross here; td_dpi_ram_explain makes
 * the text for a port that has failed. A word crosses in 64, 128 or 512 bits; above that in parts of 512, each in a
 * call of its own. Mask bit k enables byte k of the part. */
#include "handles.h"

#include <stdint.h>
#include <string.h>
#include <svdpi.h>

enum { READS = 1, WRITES = 2 }; /* the ports of a call, and in what it returns those that failed */

/* Bytes [offset, offset + limit) of a word, as far as the word goes. */
typedef struct part {
    size_t offset, limit;
} part;

typedef struct cycle {
    td_dpi_u64 handle;
    int ports;
    td_dpi_u64 rd_address, wr_address;
    td_dpi_u64 mask;
    const void *wr_data;
    void *rd_data;
} cycle;

/* The usual sizes as single moves: a library call costs more than they do. */
static inline void copy(void *dst, const void *src, size_t bytes)
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
    case 64:
        memcpy(dst, src, 64);
        break;
    default:
        memcpy(dst, src, bytes);
    }
}

static void write_masked(unsigned char *dst, const unsigned char *src, size_t bytes, td_dpi_u64 mask)
{
    for (size_t i = 0; i < bytes; i++)
        dst[i] = mask >> i & 1 ? src[i] : dst[i];
}

/* The read comes first: it gets the old word. */
static inline int run(const cycle *c, part p)
{
    td_dpi_claim claim = {.handle = c->handle, .kind = TD_DPI_MEMORY};
    const char *message;
    if (td_dpi_claim_one("", &claim, &message))
        return c->ports;
    int failed = 0;
    const size_t word_bytes = td_memory_word_bytes(claim.object);
    const size_t left = word_bytes - p.offset, bytes = left < p.limit ? left : p.limit;
    const td_dpi_u64 depth = p.offset < word_bytes ? td_memory_depth_words(claim.object) : 0;
    unsigned char *words = (unsigned char *)td_memory_data(claim.object) + p.offset;
    if (c->ports & READS) {
        if (c->rd_address < depth)
            copy(c->rd_data, words + c->rd_address * word_bytes, bytes);
        else
            failed |= READS;
    }
    if (c->ports & WRITES) {
        unsigned char *word = words + c->wr_address * word_bytes;
        if (c->wr_address >= depth)
            failed |= WRITES;
        else if ((~c->mask & ~0ULL >> (64 - bytes)) == 0)
            copy(word, c->wr_data, bytes);
        else
            write_masked(word, c->wr_data, bytes, c->mask);
    }
    td_dpi_release(&claim, 1);
    return failed;
}

TD_API int td_dpi_ram_cycle64(td_dpi_u64 handle, int ports, td_dpi_u64 rd_address, td_dpi_u64 wr_address,
                              td_dpi_u64 wr_data, td_dpi_u64 mask, td_dpi_u64 *rd_data)
{
    *rd_data = 0;
    return run(&(cycle){handle, ports, rd_address, wr_address, mask, &wr_data, rd_data}, (part){0, 8});
}

TD_API int td_dpi_ram_cycle128(td_dpi_u64 handle, int ports, td_dpi_u64 rd_address, td_dpi_u64 wr_address,
                               const svBitVecVal *wr_data, td_dpi_u64 mask, svBitVecVal *rd_data)
{
    return run(&(cycle){handle, ports, rd_address, wr_address, mask, wr_data, rd_data}, (part){0, 16});
}

TD_API int td_dpi_ram_cycle512(td_dpi_u64 handle, int ports, td_dpi_u64 rd_address, td_dpi_u64 wr_address, int number,
                               const svBitVecVal *wr_data, td_dpi_u64 mask, svBitVecVal *rd_data)
{
    return run(&(cycle){handle, ports, rd_address, wr_address, mask, wr_data, rd_data},
               (part){(size_t)number * 64, 64});
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
