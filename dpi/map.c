/* Maps for SystemVerilog. A map is opened over the library's copies of arrays of the design; its memories are lent to
 * the classes under handles of their own, which end with the map. Every call at an address has a transfer call beside
 * it, as every call on a memory has (dpi/transfer.c). */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

/* What a handle of a map stands for. */
typedef struct map_object {
    td_map *map;
    td_dpi_u64 *handle; /* of every memory; behind them those of the memories under codes */
    size_t count;
} map_object;

static void destroy_object(map_object *m)
{
    const char *message;
    for (size_t i = 0; i < m->count; i++) {
        const td_dpi_u64 memory = m->handle[i], raw = m->handle[m->count + i];
        if (memory)
            (void)td_dpi_handle_end_lent("map_destroy", memory, &message);
        if (raw && raw != memory)
            (void)td_dpi_handle_end_lent("map_destroy", raw, &message);
    }
    td_map_destroy(&m->map);
    free(m->handle);
    free(m);
}

static td_status lend_memories(map_object *m, const char **message)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < m->count && !status; i++) {
        td_map_entry entry;
        status = td_map_at(m->map, i, &entry);
        if (!status)
            status = td_dpi_handle_lend(entry.memory, &m->handle[i], message);
        m->handle[m->count + i] = m->handle[i];
        if (!status && entry.raw != entry.memory)
            status = td_dpi_handle_lend(entry.raw, &m->handle[m->count + i], message);
    }
    return status;
}

static td_status make_object(td_map *map, map_object **out, const char **message)
{
    map_object *m = calloc(1, sizeof *m);
    if (m)
        m->handle = calloc(2 * td_map_count(map) + 1, sizeof *m->handle);
    if (!m || !m->handle) {
        free(m);
        return (td_status)td_dpi_fail(TD_NO_MEMORY, message, "map_open: no memory for %zu handles; use fewer memories",
                                      td_map_count(map));
    }
    m->map = map;
    m->count = td_map_count(map);
    *out = m;
    return lend_memories(m, message);
}

/* `arrays` is a list of their handles, or 0; `is_text`: the map itself instead of its file's name. */
TD_API int td_dpi_map_open(const char *path, int is_text, td_dpi_u64 arrays, td_dpi_u64 *handle, int *count,
                           const char **message)
{
    td_dpi_memories given = {0};
    td_map *map = NULL;
    map_object *made = NULL;
    *handle = 0;
    *count = 0;
    td_status status = arrays ? td_dpi_claim_list("map_open", arrays, NULL, 0, &given, message) : TD_OK;
    if (!status) {
        status = is_text ? td_map_create(path, given.memory, given.count, &map)
                         : td_map_open(path, given.memory, given.count, &map);
        td_dpi_done(status, message);
        if (!status)
            status = make_object(map, &made, message);
        if (!status)
            status = td_dpi_handle_create_over(TD_DPI_MAP, made, given.claim, given.count, handle, message);
        if (given.count)
            td_dpi_release(given.claim, given.count);
    }
    if (status && made)
        destroy_object(made);
    else if (status)
        td_map_destroy(&map);
    else
        *count = (int)td_map_count(map);
    td_dpi_memories_free(&given);
    return (int)status;
}

TD_API int td_dpi_map_destroy(td_dpi_u64 handle, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    void *object = NULL;
    td_status status = td_dpi_claim_one("map_destroy", &claim, message);
    if (status)
        return (int)status;
    const map_object *m = claim.object;
    const size_t count = 2 * m->count;
    td_dpi_u64 *lent = malloc((count + 1) * sizeof *lent);
    if (lent)
        memcpy(lent, m->handle, count * sizeof *lent);
    td_dpi_release(&claim, 1);
    if (!lent)
        return td_dpi_fail(TD_NO_MEMORY, message, "map_destroy: no memory for %zu handles; free some first", count);
    for (size_t i = 0; i < count && !status; i++)
        status = td_dpi_handle_unused("map_destroy", lent[i], message);
    free(lent);
    if (!status)
        status = td_dpi_handle_take("map_destroy", TD_DPI_MAP, handle, &object, message);
    if (status)
        return (int)status;
    destroy_object(object);
    return td_dpi_done(TD_OK, message);
}

/* -- what is in it -- */

TD_API int td_dpi_map_at(td_dpi_u64 handle, int number, const char **name, td_dpi_u64 *memory, td_dpi_u64 *raw,
                         td_dpi_u64 *width_bits, td_dpi_u64 *raw_bits, td_dpi_u64 *depth_words, const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_map_entry entry;
    *name = "";
    *memory = *raw = *width_bits = *raw_bits = *depth_words = 0;
    td_status status = td_dpi_claim_one("map_at", &claim, message);
    if (status)
        return (int)status;
    const map_object *m = claim.object;
    status = td_map_at(m->map, number < 0 ? SIZE_MAX : (size_t)number, &entry);
    int given = td_dpi_done(status, message);
    if (!given)
        given = (int)td_dpi_keep(&kept, entry.name, name, message);
    if (!given) {
        *memory = m->handle[number];
        *raw = m->handle[m->count + (size_t)number];
        *width_bits = td_memory_width_bits(entry.memory);
        *raw_bits = td_memory_width_bits(entry.raw);
        *depth_words = td_memory_depth_words(entry.memory);
    }
    td_dpi_release(&claim, 1);
    return given;
}

/* The handle that the memory of an entry was lent under. */
static td_dpi_u64 handle_of(const map_object *m, const td_map_entry *entry, bool raw)
{
    td_map_entry other;
    for (size_t i = 0; i < m->count; i++)
        if (td_map_at(m->map, i, &other) == TD_OK && other.name == entry->name)
            return m->handle[raw ? m->count + i : i];
    return 0;
}

TD_API int td_dpi_map_find(td_dpi_u64 handle, const char *name, int raw, td_dpi_u64 *memory, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_map_entry entry;
    *memory = 0;
    td_status status = td_dpi_claim_one("map_find", &claim, message);
    if (status)
        return (int)status;
    const map_object *m = claim.object;
    status = td_map_find(m->map, name, &entry);
    if (!status)
        *memory = handle_of(m, &entry, raw != 0);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_map_locate(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 *memory, td_dpi_u64 *word,
                             td_dpi_u64 *lsb, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_map_entry entry;
    uint64_t at = 0, bit = 0;
    *memory = *word = *lsb = 0;
    td_status status = td_dpi_claim_one("map_locate", &claim, message);
    if (status)
        return (int)status;
    const map_object *m = claim.object;
    status = td_map_locate(m->map, address, &entry, &at, &bit);
    if (!status) {
        *memory = handle_of(m, &entry, false);
        *word = at;
        *lsb = bit;
    }
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_map_text(td_dpi_u64 handle, const char **text, const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    char *lines = NULL;
    *text = "";
    td_status status = td_dpi_claim_one("map_text", &claim, message);
    if (status)
        return (int)status;
    status = td_map_text(((const map_object *)claim.object)->map, &lines);
    int given = td_dpi_done(status, message);
    if (!given)
        given = (int)td_dpi_keep(&kept, lines, text, message);
    td_free(lines);
    td_dpi_release(&claim, 1);
    return given;
}

/* -- bytes: a list of 32-bit words holds them, the low byte of a word first -- */

typedef td_status byte_call(td_map *map, uint64_t address, void *bytes, size_t count);

static td_status read_bytes(td_map *map, uint64_t address, void *bytes, size_t count)
{
    return td_map_read(map, address, bytes, count);
}

static td_status write_bytes(td_map *map, uint64_t address, void *bytes, size_t count)
{
    return td_map_write(map, address, bytes, count);
}

static int move_bytes(const char *name, byte_call *call, td_dpi_u64 handle, td_dpi_u64 address, int count,
                      td_dpi_u64 list, const char **message)
{
    td_dpi_claim claims[] = {{.handle = handle, .kind = TD_DPI_MAP},
                             {.handle = list, .kind = TD_DPI_TENSOR, .optional = true}};
    unsigned char none;
    td_status status = td_dpi_claim_all(name, claims, 2, message);
    if (status)
        return (int)status;
    td_tensor *words = claims[1].object;
    const size_t held = words ? (size_t)td_tensor_elems(words) * td_tensor_elem_bytes(words) : 0;
    if (count < 0 || (size_t)count > held) {
        td_dpi_release(claims, 2);
        return td_dpi_fail(TD_ARGUMENT, message, "%s: %d bytes in a list of %zu; pass a longer one", name, count, held);
    }
    status = call(((const map_object *)claims[0].object)->map, address, words ? td_tensor_data(words) : &none,
                  (size_t)count);
    return td_dpi_end(claims, 2, status, message);
}

TD_API int td_dpi_map_read(td_dpi_u64 handle, td_dpi_u64 address, int count, td_dpi_u64 list, const char **message)
{
    return move_bytes("map_read", read_bytes, handle, address, count, list, message);
}

TD_API int td_dpi_map_write(td_dpi_u64 handle, td_dpi_u64 address, int count, td_dpi_u64 list, const char **message)
{
    return move_bytes("map_write", write_bytes, handle, address, count, list, message);
}

TD_API int td_dpi_map_load_file(td_dpi_u64 handle, const char *path, td_dpi_u64 *bytes, td_dpi_u64 *first,
                                td_dpi_u64 *last, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_image_outside outside = {0};
    *bytes = *first = *last = 0;
    td_status status = td_dpi_claim_one("map_load_file", &claim, message);
    if (status)
        return (int)status;
    status = td_map_load_file(((const map_object *)claim.object)->map, path, &outside);
    *bytes = outside.bytes;
    *first = outside.first;
    *last = outside.last;
    return td_dpi_end(&claim, 1, status, message);
}

/* -- tensors -- */

static td_status claim_tensor(const char *call, td_dpi_claim *claims, td_dpi_u64 handle, td_dpi_u64 tensor,
                              td_dpi_u64 layout, const char **message)
{
    claims[0] = (td_dpi_claim){.handle = handle, .kind = TD_DPI_MAP};
    claims[1] = (td_dpi_claim){.handle = tensor, .kind = TD_DPI_TENSOR};
    claims[2] = (td_dpi_claim){.handle = layout, .kind = TD_DPI_LAYOUT};
    return td_dpi_claim_all(call, claims, 3, message);
}

TD_API int td_dpi_map_load_tensor(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 tensor, td_dpi_u64 layout,
                                  const char *as, const char **message)
{
    td_dpi_claim claims[3];
    td_status status = claim_tensor("map_load_tensor", claims, handle, tensor, layout, message);
    if (status)
        return (int)status;
    status = td_map_load_tensor(((const map_object *)claims[0].object)->map, address, claims[1].object,
                                claims[2].object, as);
    return td_dpi_end(claims, 3, status, message);
}

TD_API int td_dpi_map_dump_tensor(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 tensor, td_dpi_u64 layout,
                                  const char *as, const char **message)
{
    td_dpi_claim claims[3];
    td_status status = claim_tensor("map_dump_tensor", claims, handle, tensor, layout, message);
    if (status)
        return (int)status;
    status = td_map_dump_tensor(((const map_object *)claims[0].object)->map, address, claims[1].object,
                                claims[2].object, as);
    return td_dpi_end(claims, 3, status, message);
}

TD_API int td_dpi_map_compare_tensor(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 golden, td_dpi_u64 layout,
                                     const char *policy, const char *as, td_dpi_u64 *report, const char **message)
{
    td_dpi_claim claims[3];
    td_report *made = NULL;
    *report = 0;
    td_status status = claim_tensor("map_compare_tensor", claims, handle, golden, layout, message);
    if (status)
        return (int)status;
    status = td_map_compare_tensor(((const map_object *)claims[0].object)->map, address, claims[1].object,
                                   claims[2].object, policy, as, &made);
    td_dpi_release(claims, 3);
    return status ? td_dpi_done(status, message) : td_dpi_report_give(&made, report, message);
}

/* -- transfers: where a handle is refused no word will cross, and the call says why -- */

TD_API int td_dpi_transfer_map_bytes(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 count, int *partial,
                                     const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    *partial = 0;
    td_status status = td_dpi_claim_one("", &claim, message);
    if (status)
        return td_dpi_done(TD_OK, message);
    status = td_transfer_map_bytes(((const map_object *)claim.object)->map, address, count, partial);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_transfer_map_file(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MAP};
    td_status status = td_dpi_claim_one("", &claim, message);
    if (status)
        return td_dpi_done(TD_OK, message);
    status = td_transfer_map_file(((const map_object *)claim.object)->map, path);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_transfer_map_tensor(td_dpi_u64 handle, td_dpi_u64 address, td_dpi_u64 tensor, td_dpi_u64 layout,
                                      const char *as, int *partial, const char **message)
{
    td_dpi_claim claims[3];
    *partial = 0;
    td_status status = claim_tensor("", claims, handle, tensor, layout, message);
    if (status)
        return td_dpi_done(TD_OK, message);
    status = td_transfer_map_tensor(((const map_object *)claims[0].object)->map, address, claims[1].object,
                                    claims[2].object, as, partial);
    return td_dpi_end(claims, 3, status, message);
}
