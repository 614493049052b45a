/* Bytes at system addresses: runs of them are cut where a memory ends, and go to its words in the order that its endian
 * says. td_map_read, td_map_write and td_map_load_file. A write is checked whole, and all words that it changes in part
 * are brought in, before the first byte is written. */
#include "base/profile.h"
#include "base/record.h"
#include "files/file_name.h"
#include "files/image/image.h"
#include "map/map.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <string.h>

/* Bytes that lie in one memory. */
typedef struct piece {
    const td_map_node *node;
    uint64_t offset; /* of the first byte in the memory */
    uint64_t count;
} piece;

/* The part of [address, address + count) that lies in one memory with its first byte; count 0 where that has none. */
static piece piece_at(const td_map *map, uint64_t address, uint64_t count)
{
    const td_map_node *n = td_map_node_at(map, address);
    if (!n)
        return (piece){0};
    const uint64_t offset = address - n->base, left = n->bytes - offset;
    return (piece){n, offset, count < left ? count : left};
}

/* How many of the bytes lie in no memory, from the first on. */
static uint64_t hole_length(const td_map *map, uint64_t address, uint64_t count)
{
    for (size_t i = 0; i < map->order_count; i++) {
        const uint64_t base = map->node[map->order[i]].base;
        if (base > address)
            return base - address < count ? base - address : count;
    }
    return count;
}

/* -- reading -- */

static td_status check_known(const td_memory *memory, uint64_t first, uint64_t last)
{
    td_status status = TD_OK;
    for (uint64_t w = first; memory->unknown_any && w <= last && !status; w++)
        status = td_x_check_words(memory, &w, 1);
    return status;
}

static td_status bring_piece(const piece *p)
{
    const size_t lanes = p->node->word_bytes;
    const uint64_t first = p->offset / lanes, last = (p->offset + p->count - 1) / lanes;
    td_status status = td_memory_bring_in(p->node->memory, first, last - first + 1);
    return status ? status : check_known(p->node->memory, first, last);
}

static void read_piece(const piece *p, unsigned char *bytes)
{
    const td_memory *memory = p->node->memory;
    const size_t lanes = p->node->word_bytes;
    if (memory->word_bytes == lanes && !p->node->big_endian) {
        memcpy(bytes, memory->data + p->offset, (size_t)p->count);
        return;
    }
    const unsigned char *word = memory->data + (size_t)(p->offset / lanes) * memory->word_bytes;
    size_t lane = (size_t)(p->offset % lanes);
    for (uint64_t i = 0; i < p->count; i++) {
        bytes[i] = td_image_lane(word, lanes, p->node->big_endian, lane);
        if (++lane == lanes) {
            lane = 0;
            word += memory->word_bytes;
        }
    }
}

static td_status check_call(const td_map *map, const void *bytes, size_t count)
{
    if (!map || !bytes)
        return td_fail(TD_ARGUMENT, "the %s NULL; pass one", map ? "bytes are" : "map is");
    if (!count)
        return td_fail(TD_ARGUMENT, "a count of 0 bytes; pass at least one");
    return TD_OK;
}

td_status td_map_read(const td_map *map, uint64_t address, void *bytes, size_t count)
{
    TD_OPERATION(operation, "map_read");
    td_profile_step_bytes(operation, count);
    td_status status = check_call(map, bytes, count);
    piece p;
    for (uint64_t at = 0; at < count && !status; at += p.count) {
        p = piece_at(map, address + at, count - at);
        status = p.count ? bring_piece(&p) : td_map_fail_hole(map, address + at);
    }
    for (uint64_t at = 0; at < count && !status && (p = piece_at(map, address + at, count - at)).node; at += p.count)
        read_piece(&p, (unsigned char *)bytes + at);
    if (status)
        td_fail_prefix("map_read at 0x%" PRIx64 ": ", address);
    return status;
}

/* -- writing -- */

/* The byte of a word that its width does not fill, where there is one. */
static td_status check_top_bits(const piece *p, const unsigned char *bytes)
{
    const td_map_node *n = p->node;
    const unsigned used = (unsigned)(n->memory->width_bits % 8);
    if (!used || !bytes)
        return TD_OK;
    const uint64_t lanes = n->word_bytes, top = n->big_endian ? 0 : lanes - 1;
    for (uint64_t i = (top + lanes - p->offset % lanes) % lanes; i < p->count; i += lanes)
        if (bytes[i] >> used)
            return td_fail(TD_RANGE,
                           "the byte 0x%02x at 0x%" PRIx64 " is the top one of a word of %s, of which %" PRIu64
                           " bits leave %u there; clear the bits above",
                           bytes[i], n->base + p->offset + i, n->name, n->memory->width_bits, used);
    return TD_OK;
}

/* The words that bytes will go to: those at the ends keep some of their bytes, and come in; the others are prepared. */
static td_status prepare_piece(const piece *p)
{
    const td_memory *memory = p->node->memory;
    const size_t lanes = p->node->word_bytes;
    uint64_t first = p->offset / lanes, end = (p->offset + p->count + lanes - 1) / lanes;
    td_status status = TD_OK;
    if (p->offset % lanes || p->count < lanes)
        status = td_memory_bring_for_write(memory, true, first++, 1);
    if (!status && first < end && (p->offset + p->count) % lanes)
        status = td_memory_bring_for_write(memory, true, --end, 1);
    return status || first >= end ? status : td_memory_bring_for_write(memory, false, first, end - first);
}

/* The bytes into the words; NULL is zeros. The form of a file with addresses is that of the address space. */
static void write_piece(const piece *p, const unsigned char *bytes)
{
    td_memory *memory = p->node->memory;
    const td_file_options order = {.big_endian = p->node->big_endian};
    td_image words = td_image_make(memory->width_bits, memory->depth_words, memory->data);
    (void)td_image_put_bytes(&words, &order, p->offset, bytes, p->count); /* checked before */
    if (memory->unknown_any) {
        words.data = memory->unknown->data;
        (void)td_image_put_bytes(&words, &order, p->offset, NULL, p->count);
    }
}

/* A write goes over its bytes in these passes. What lies over other memories is written into its copy, and may be
 * refused there; then nothing can fail, and words are put back and memories without a layer below are written. */
typedef enum pass { CHECK, PREPARE, COPY, SEAL, FINISH, PASSES } pass;

/* The arrays may have changed through another range since the words came in: everything once more, of this piece. */
static td_status rewrite_piece(const piece *p, const unsigned char *bytes)
{
    const td_status status = prepare_piece(p);
    if (!status)
        write_piece(p, bytes);
    return status;
}

static td_status visit(const piece *p, pass what, const unsigned char *bytes)
{
    const td_memory *memory = p->node->memory;
    const size_t lanes = p->node->word_bytes;
    const uint64_t first = p->offset / lanes, count = (p->offset + p->count - 1) / lanes - first + 1;
    switch (what) {
    case CHECK:
        return check_top_bits(p, bytes);
    case PREPARE:
        return prepare_piece(p);
    case COPY:
        if (memory->backing)
            write_piece(p, bytes);
        return TD_OK;
    case SEAL:
        return td_memory_seal(memory, first, count);
    default:
        if (!memory->backing)
            write_piece(p, bytes);
        else if (p->node->shared) {
            const td_status status = rewrite_piece(p, bytes);
            return status ? status : td_memory_finish_write(memory, first, count);
        }
        td_memory_put_back(memory, first, count);
        return TD_OK;
    }
}

/* One pass over the bytes from `address` on. `outside` takes what lies in holes; NULL: they are refused. */
static td_status visit_bytes(const td_map *map, pass what, uint64_t address, const unsigned char *bytes, uint64_t count,
                             td_image_outside *outside)
{
    td_status status = TD_OK;
    for (uint64_t at = 0, step; at < count && !status; at += step) {
        const piece p = piece_at(map, address + at, count - at);
        step = p.count;
        if (p.count) {
            status = visit(&p, what, bytes ? bytes + at : NULL);
        } else if (!outside) {
            status = td_map_fail_hole(map, address + at);
        } else {
            step = hole_length(map, address + at, count - at);
            const uint64_t first = address + at, last = first + step - 1;
            outside->first = !outside->bytes || first < outside->first ? first : outside->first;
            outside->last = !outside->bytes || last > outside->last ? last : outside->last;
            outside->bytes += step;
        }
    }
    return status;
}

td_status td_map_write(td_map *map, uint64_t address, const void *bytes, size_t count)
{
    TD_OPERATION(operation, "map_write");
    td_profile_step_bytes(operation, count);
    td_status status = check_call(map, bytes, count);
    if (!status && count > UINT64_MAX - address)
        status = td_fail(TD_RANGE, "%zu bytes from there pass 2^64; pass fewer", count);
    for (pass p = CHECK; p < PASSES && !status; p++)
        status = visit_bytes(map, p, address, bytes, count, NULL);
    if (status)
        td_fail_prefix("map_write at 0x%" PRIx64 ": ", address);
    return td_record_other("map_write", status);
}

/* -- files -- */

typedef struct loader {
    const td_map *map;
    unsigned pass;
    bool skip;
    td_image_outside outside; /* of this pass */
    uint64_t inside;          /* bytes that lie in memories, of this pass */
    unsigned counted;         /* the pass that they are of */
} loader;

static td_status load_bytes(void *context, uint64_t address, const unsigned char *bytes, uint64_t count)
{
    loader *l = context;
    if (l->counted != l->pass) {
        l->outside = (td_image_outside){0};
        l->inside = 0;
        l->counted = l->pass;
    }
    const uint64_t before = l->outside.bytes;
    const td_status status = visit_bytes(l->map, (pass)l->pass, address, bytes, count, l->skip ? &l->outside : NULL);
    l->inside += count - (l->outside.bytes - before);
    return status;
}

td_status td_map_load_file(td_map *map, const char *path, td_image_outside *outside)
{
    TD_OPERATION(operation, "map_load_file");
    loader l = {.map = map};
    if (!map || !path)
        return td_fail(TD_ARGUMENT, "map_load_file: the %s is NULL; pass one", map ? "path" : "map");
    td_status status = td_image_visit(path, PASSES, &l.pass, &l.skip, load_bytes, &l);
    if (!status && !l.inside)
        status = td_fail(TD_RANGE,
                         "nothing of the file lies in a memory: its %" PRIu64 " bytes are at 0x%" PRIx64
                         " to 0x%" PRIx64 "; correct the bases of the map, or link the program elsewhere",
                         l.outside.bytes, l.outside.first, l.outside.last);
    if (!status && outside)
        *outside = l.outside;
    return td_record_other("map_load_file", td_file_context(status, "map_load_file", path));
}
