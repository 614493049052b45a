/* Loads and dumps of tensors and matrices, reads and writes of words, for SystemVerilog. Lists of addresses and words
 * come as tensors (u64 and u32) that the class has filled part by part, because no array of unbounded size crosses DPI
 * on every simulator; so a list is whole before it is checked. A memory word takes ceil(width / 32) list words. */
#include "shim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

TD_DPI_LAYOUT_SHIM(td_dpi_backdoor_load_tensor, td_backdoor_load_tensor, "backdoor_load_tensor")
TD_DPI_LAYOUT_SHIM(td_dpi_backdoor_dump_tensor, td_backdoor_dump_tensor, "backdoor_dump_tensor")

TD_API int td_dpi_backdoor_dirty_padding(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                         td_dpi_u64 seed, td_dpi_u64 *count, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    uint64_t pads = 0;
    *count = 0;
    td_status status = td_dpi_claim_all("backdoor_dirty_padding", claims, 3, message);
    if (status)
        return (int)status;
    status = td_backdoor_dirty_padding(claims[0].object, claims[1].object, claims[2].object, as, seed, &pads);
    *count = pads;
    return td_dpi_end(claims, 3, status, message);
}

TD_DPI_MATRIX_SHIM(td_dpi_backdoor_load_matrix, td_backdoor_load_matrix, "backdoor_load_matrix")
TD_DPI_MATRIX_SHIM(td_dpi_backdoor_dump_matrix, td_backdoor_dump_matrix, "backdoor_dump_matrix")

/* A list as the library wants it: `count` items of `item_words` list words, each with `item_bits` bits, in `item_bytes`
 * bytes. */
typedef struct form {
    const char *call;
    const char *what;
    const td_memory *memory;
    uint64_t count;
    uint64_t item_words;
    uint64_t item_bits;
    size_t item_bytes;
} form;

/* The list itself when it has that form already, else a copy in *made, to be freed. NULL and a status when it cannot.
 */
static const void *cut(const form *f, const td_tensor *list, void **made, td_status *status, const char **message)
{
    const char *name = td_memory_name(f->memory);
    const unsigned char *src = td_tensor_data_const(list);
    if (td_tensor_elems(list) != f->count * f->item_words || td_tensor_elem_bytes(list) != 4) {
        *status = (td_status)td_dpi_fail(
            TD_ARGUMENT, message,
            "%s \"%s\": %llu addresses with a %s list of %llu; pass %llu of 32 bits for each address", f->call, name,
            (td_dpi_u64)f->count, f->what, (td_dpi_u64)td_tensor_elems(list), (td_dpi_u64)f->item_words);
        return NULL;
    }
    if (f->item_bytes == f->item_words * 4)
        return src;
    unsigned char *dst = malloc(f->count * f->item_bytes);
    if (!dst) {
        *status =
            (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s \"%s\": no memory for %llu %s words; pass fewer at once",
                                   f->call, name, (td_dpi_u64)f->count, f->what);
        return NULL;
    }
    for (uint64_t i = 0; i < f->count; i++) {
        const unsigned char *item = src + i * f->item_words * 4;
        uint32_t top = 0;
        memcpy(&top, item + (f->item_words - 1) * 4, 4);
        memcpy(dst + i * f->item_bytes, item, f->item_bytes);
        uint64_t excess = (uint64_t)top >> (f->item_bits - (f->item_words - 1) * 32);
        if (excess) {
            *status = (td_status)td_dpi_fail(
                TD_RANGE, message, "%s \"%s\": %s %llu has 0x%llx above its %llu bits; clear the bits from %llu up",
                f->call, name, f->what, (td_dpi_u64)i, (td_dpi_u64)excess, (td_dpi_u64)f->item_bits,
                (td_dpi_u64)f->item_bits);
            free(dst);
            return NULL;
        }
    }
    *made = dst;
    return dst;
}

static form word_form(const char *call, const td_memory *memory, uint64_t count)
{
    uint64_t width = td_memory_width_bits(memory);
    return (form){.call = call,
                  .what = "word",
                  .memory = memory,
                  .count = count,
                  .item_words = (width + 31) / 32,
                  .item_bits = width,
                  .item_bytes = td_memory_word_bytes(memory)};
}

static const uint64_t *address_list(const char *call, const td_memory *memory, const td_tensor *list, td_status *status,
                                    const char **message)
{
    if (td_tensor_elem_bytes(list) == 8)
        return td_tensor_data_const(list);
    *status = (td_status)td_dpi_fail(TD_DTYPE, message, "%s \"%s\": addresses in a tensor of %s; use u64", call,
                                     td_memory_name(memory), td_tensor_dtype(list));
    return NULL;
}

/* `words` takes the result; td_memory has made it as long as that. */
TD_API int td_dpi_backdoor_read(td_dpi_u64 memory, td_dpi_u64 addresses, td_dpi_u64 words, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = addresses, .kind = TD_DPI_TENSOR, .optional = true},
                             {.handle = words, .kind = TD_DPI_TENSOR, .optional = true}};
    td_status status = td_dpi_claim_all("backdoor_read", claims, 3, message);
    if (status)
        return (int)status;
    td_memory *mem = claims[0].object;
    uint64_t count = td_tensor_elems(claims[1].object);
    if (!count) {
        status = td_backdoor_read(mem, &count, 0, &count); /* for its message */
        return td_dpi_end(claims, 3, status, message);
    }
    const form words_as = word_form("backdoor_read", mem, count);
    const uint64_t *at = address_list("backdoor_read", mem, claims[1].object, &status, message);
    unsigned char *dst = td_tensor_data(claims[2].object);
    void *made = NULL;
    if (at && cut(&words_as, claims[2].object, &made, &status, message)) {
        status = td_backdoor_read(mem, at, count, made ? made : dst);
        td_dpi_done(status, message);
        for (uint64_t i = 0; i < count && made && dst && !status; i++)
            memcpy(dst + 4 * i, (unsigned char *)made + i * words_as.item_bytes, words_as.item_bytes);
    }
    free(made);
    td_dpi_release(claims, 3);
    return (int)status;
}

/* `mask_bits` is how many bits of the word one bit of the mask is for: 1 (a list like `words`), 8 (ceil(bytes / 32)
 * list words for each address), or 0 without a mask. */
TD_API int td_dpi_backdoor_write(td_dpi_u64 memory, td_dpi_u64 addresses, td_dpi_u64 words, td_dpi_u64 mask,
                                 int mask_bits, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = addresses, .kind = TD_DPI_TENSOR, .optional = true},
                             {.handle = words, .kind = TD_DPI_TENSOR, .optional = true},
                             {.handle = mask, .kind = TD_DPI_TENSOR, .optional = true}};
    td_status status = td_dpi_claim_all("backdoor_write", claims, 4, message);
    if (status)
        return (int)status;
    td_memory *mem = claims[0].object;
    uint64_t count = td_tensor_elems(claims[1].object);
    if (!count) {
        status = td_backdoor_write(mem, &count, 0, &count, NULL); /* for its message */
        return td_dpi_end(claims, 4, status, message);
    }
    const form words_as = word_form("backdoor_write", mem, count);
    form mask_as = words_as;
    mask_as.what = "mask";
    if (mask_bits == 8) {
        mask_as.item_bits = (words_as.item_bits + 7) / 8;
        mask_as.item_words = (mask_as.item_bits + 31) / 32;
        mask_as.item_bytes = (mask_as.item_bits + 7) / 8;
    }
    void *made[2] = {NULL, NULL};
    const void *enable = NULL;
    const uint64_t *at = address_list("backdoor_write", mem, claims[1].object, &status, message);
    const void *data = at ? cut(&words_as, claims[2].object, &made[0], &status, message) : NULL;
    if (data && mask_bits)
        enable = cut(&mask_as, claims[3].object, &made[1], &status, message);
    if (!status) {
        status = mask_bits == 8 ? td_backdoor_write_bytes(mem, at, count, data, enable)
                                : td_backdoor_write(mem, at, count, data, enable);
        td_dpi_done(status, message);
    }
    free(made[0]);
    free(made[1]);
    td_dpi_release(claims, 4);
    return (int)status;
}
