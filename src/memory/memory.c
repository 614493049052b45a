/* Owned memories: geometry, and storage in the form that Verilator gives the same array. Every backdoor operation and
 * the front door of td_ram work on the bytes made here. It moves nothing itself, and refuses widths and depths outside
 * the limits of the public header. */
#include "memory/memory.h"
#include "base/pages.h"
#include "base/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words and elements are stored little endian: build on a little-endian machine"
#endif

size_t td_word_bytes(uint64_t width_bits)
{
    if (width_bits <= 8)
        return 1;
    if (width_bits <= 16)
        return 2;
    if (width_bits <= 32)
        return 4;
    if (width_bits <= 64)
        return 8;
    return (size_t)((width_bits + 31) / 32 * 4);
}

td_status td_memory_check_geometry(uint64_t width_bits, uint64_t depth_words)
{
    if (width_bits < 1 || width_bits > TD_MAX_WIDTH_BITS)
        return td_fail(TD_ARGUMENT, "a width of %" PRIu64 " bits; a width is 1 to %" PRIu64 " bits", width_bits,
                       TD_MAX_WIDTH_BITS);
    if (depth_words < 1 || depth_words > TD_MAX_DEPTH_WORDS)
        return td_fail(TD_ARGUMENT, "a depth of %" PRIu64 " words; a depth is 1 to %" PRIu64 " words", depth_words,
                       TD_MAX_DEPTH_WORDS);
    return TD_OK;
}

td_status td_memory_create(const char *name, uint64_t width_bits, uint64_t depth_words, td_memory **out)
{
    if (!name || name[0] == '\0')
        name = "memory";
    if (!out)
        return td_fail(TD_ARGUMENT, "memory_create \"%s\": out is NULL; pass the address of a td_memory pointer", name);
    td_status status = td_memory_check_geometry(width_bits, depth_words);
    if (status) {
        td_fail_prefix("memory_create \"%s\": ", name);
        return status;
    }

    td_memory *m = calloc(1, sizeof *m);
    if (!m)
        return td_fail_alloc(sizeof *m);
    m->width_bits = width_bits;
    m->depth_words = depth_words;
    m->word_bytes = td_word_bytes(width_bits);
    m->map_bytes = (size_t)depth_words * m->word_bytes; /* at most 2^40 * 2^21 */
    m->name = strdup(name);
    if (!m->name) {
        status = td_fail_alloc(strlen(name) + 1);
        goto fail;
    }
    m->data = td_pages_map(&m->map_bytes, false);
    if (!m->data) {
        status = td_fail(TD_NO_MEMORY,
                         "memory_create \"%s\": no address space for %" PRIu64 " words of %" PRIu64
                         " bits (%zu bytes); use a smaller depth",
                         name, depth_words, width_bits, m->map_bytes);
        goto fail;
    }
    *out = m;
    return TD_OK;

fail:
    td_memory_destroy(&m);
    return status;
}

void td_memory_destroy(td_memory **memory)
{
    if (!memory || !*memory)
        return;
    td_record(&(td_recorded){.kind = TD_RECORDED_DESTROY, .banks = memory, .bank_count = 1});
    if ((*memory)->backing)
        (*memory)->backing->destroy((*memory)->backing);
    td_pages_unmap((*memory)->data, (*memory)->map_bytes);
    td_memory_destroy(&(*memory)->unknown);
    if ((*memory)->transfer)
        (*memory)->transfer_free((*memory)->transfer);
    free((*memory)->name);
    free(*memory);
    *memory = NULL;
}

const char *td_memory_name(const td_memory *memory)
{
    return memory ? memory->name : "";
}

uint64_t td_memory_width_bits(const td_memory *memory)
{
    return memory ? memory->width_bits : 0;
}

uint64_t td_memory_depth_words(const td_memory *memory)
{
    return memory ? memory->depth_words : 0;
}

size_t td_memory_word_bytes(const td_memory *memory)
{
    return memory ? memory->word_bytes : 0;
}

void *td_memory_data(td_memory *memory)
{
    if (!memory || memory->backing)
        return NULL;
    memory->lent = true;
    if (!memory->transfer)
        memory->unknown_any = false;
    return memory->data;
}

td_status td_memory_clear(td_memory *memory)
{
    if (!memory)
        return td_fail(TD_ARGUMENT, "memory_clear: memory is NULL; pass one from td_memory_create");
    td_status status = td_memory_bring_for_write(memory, false, 0, memory->depth_words);
    if (!status) {
        td_pages_clear(memory->data, memory->map_bytes);
        if (memory->unknown_any)
            td_pages_clear(memory->unknown->data, memory->unknown->map_bytes);
        memory->unknown_any &= memory->backing != NULL; /* what lies below still has to know */
        status = td_memory_finish_write(memory, 0, memory->depth_words);
    }
    if (status)
        td_fail_prefix("memory_clear \"%s\": ", memory->name);
    else
        td_record(&(td_recorded){
            .kind = TD_RECORDED_FILL, .banks = &memory, .bank_count = 1, .text = "zero", .count = memory->depth_words});
    return status;
}
