/* The six operations for SystemVerilog. Lists of addresses and words come as tensors (u64 and u32) that the class has
 * staged through chunks, because no array of unbounded size crosses DPI on every simulator; so a list is whole before
 * it is checked. A memory word takes ceil(width / 32) list words. */
#include "handles.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#define MOVER_CLAIMS(memory, tensor)                                                                                   \
    {                                                                                                                  \
        {.handle = (memory), .kind = TD_DPI_MEMORY}, {                                                                 \
            .handle = (tensor), .kind = TD_DPI_TENSOR                                                                  \
        }                                                                                                              \
    }

TD_API int td_dpi_backdoor_load_tensor(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                       const char **message) {
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_status status = td_dpi_claim_all("backdoor_load_tensor", claims, 3, message);
    if (status)
        return (int)status;
    status = td_backdoor_load_tensor(claims[0].object, claims[1].object, claims[2].object, as);
    td_dpi_release(claims, 3);
    return td_dpi_done(status, message);
}

TD_API int td_dpi_backdoor_dump_tensor(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                       const char **message) {
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_status status = td_dpi_claim_all("backdoor_dump_tensor", claims, 3, message);
    if (status)
        return (int)status;
    status = td_backdoor_dump_tensor(claims[0].object, claims[1].object, claims[2].object, as);
    td_dpi_release(claims, 3);
    return td_dpi_done(status, message);
}

TD_API int td_dpi_backdoor_load_matrix(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 first, td_dpi_u64 last,
                                       const char **message) {
    td_dpi_claim claims[] = MOVER_CLAIMS(memory, tensor);
    td_status status = td_dpi_claim_all("backdoor_load_matrix", claims, 2, message);
    if (status)
        return (int)status;
    status = td_backdoor_load_matrix(claims[0].object, claims[1].object, first, last);
    td_dpi_release(claims, 2);
    return td_dpi_done(status, message);
}

TD_API int td_dpi_backdoor_dump_matrix(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 first, td_dpi_u64 last,
                                       const char **message) {
    td_dpi_claim claims[] = MOVER_CLAIMS(memory, tensor);
    td_status status = td_dpi_claim_all("backdoor_dump_matrix", claims, 2, message);
    if (status)
        return (int)status;
    status = td_backdoor_dump_matrix(claims[0].object, claims[1].object, first, last);
    td_dpi_release(claims, 2);
    return td_dpi_done(status, message);
}

/* `count` items of `item_words` list words each, cut down to `item_bytes` each where the library wants less. The list
 * itself comes back when nothing is cut, else a buffer in *made, to be freed. NULL with a status when bits would be
 * lost. */
static const void *cut(const char *call, const td_memory *memory, const char *what, td_tensor *list, uint64_t count,
                       uint64_t item_words, size_t item_bytes, void **made, td_status *status, const char **message) {
    const unsigned char *src = td_tensor_data_const(list);
    *made = NULL;
    if (td_tensor_elems(list) != count * item_words) {
        *status = (td_status)td_dpi_fail(
            TD_ARGUMENT, message,
            "%s \"%s\": %llu addresses with %llu %s words; pass %llu words of 32 bits per address", call,
            td_memory_name(memory), (td_dpi_u64)count, (td_dpi_u64)td_tensor_elems(list), what, (td_dpi_u64)item_words);
        return NULL;
    }
    if (item_bytes == item_words * 4)
        return src;
    unsigned char *dst = malloc(count * item_bytes);
    if (!dst) {
        *status =
            (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s \"%s\": no memory for %llu words; pass fewer at once",
                                   call, td_memory_name(memory), (td_dpi_u64)count);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *item = src + i * item_words * 4;
        uint32_t top = 0;
        memcpy(dst + i * item_bytes, item, item_bytes);
        memcpy(&top, item + item_bytes, item_words * 4 - item_bytes);
        if (top) {
            *status = (td_status)td_dpi_fail(
                TD_RANGE, message, "%s \"%s\": %s %llu has bits above the %llu of the word; clear them", call,
                td_memory_name(memory), what, (td_dpi_u64)i, (td_dpi_u64)td_memory_width_bits(memory));
            free(dst);
            return NULL;
        }
    }
    *made = dst;
    return dst;
}

/* `words` has the right number of elements when this is called from td_memory; a stranger's tensor is refused. */
TD_API int td_dpi_backdoor_read(td_dpi_u64 memory, td_dpi_u64 addresses, td_dpi_u64 words, const char **message) {
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = addresses, .kind = TD_DPI_TENSOR},
                             {.handle = words, .kind = TD_DPI_TENSOR}};
    td_status status = td_dpi_claim_all("backdoor_read", claims, addresses ? 3 : 1, message);
    if (status)
        return (int)status;
    td_memory *mem = claims[0].object;
    uint64_t count = addresses ? td_tensor_elems(claims[1].object) : 0;
    size_t item_bytes = td_memory_word_bytes(mem);
    if (!count) {
        status = td_backdoor_read(mem, &count, 0, &count); /* for its message */
        td_dpi_done(status, message);
        td_dpi_release(claims, 1);
        return (int)status;
    }
    void *made = NULL;
    const void *checked = cut("backdoor_read", mem, "data", claims[2].object, count,
                              (td_memory_width_bits(mem) + 31) / 32, item_bytes, &made, &status, message);
    if (checked) {
        unsigned char *dst = td_tensor_data(claims[2].object);
        status = td_backdoor_read(mem, td_tensor_data_const(claims[1].object), count, made ? made : dst);
        td_dpi_done(status, message);
        for (uint64_t i = 0; i < count && made && !status; i++)
            memcpy(dst + 4 * i, (unsigned char *)made + i * item_bytes, item_bytes);
    }
    free(made);
    td_dpi_release(claims, 3);
    return (int)status;
}

/* `mask` is 0 for none, or a list like `words` with a mask of bits, or (`byte_mask`) ceil(bytes / 32) list words per
 * address with one bit per byte. */
TD_API int td_dpi_backdoor_write(td_dpi_u64 memory, td_dpi_u64 addresses, td_dpi_u64 words, td_dpi_u64 mask,
                                 int byte_mask, const char **message) {
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = addresses, .kind = TD_DPI_TENSOR},
                             {.handle = words, .kind = TD_DPI_TENSOR},
                             {.handle = mask, .kind = TD_DPI_TENSOR}};
    size_t claimed = !addresses ? 1 : mask ? 4 : 3;
    td_status status = td_dpi_claim_all("backdoor_write", claims, claimed, message);
    if (status)
        return (int)status;
    td_memory *mem = claims[0].object;
    uint64_t count = addresses ? td_tensor_elems(claims[1].object) : 0;
    uint64_t width = td_memory_width_bits(mem);
    uint64_t mask_bits = byte_mask ? (width + 7) / 8 : width;
    void *made[2] = {NULL, NULL};
    const void *data = NULL;
    const void *enable = NULL;
    if (!count) {
        status = td_backdoor_write(mem, &count, 0, &count, NULL); /* for its message */
        td_dpi_done(status, message);
        td_dpi_release(claims, 1);
        return (int)status;
    }
    data = cut("backdoor_write", mem, "data", claims[2].object, count, (width + 31) / 32, td_memory_word_bytes(mem),
               &made[0], &status, message);
    if (data && mask)
        enable = cut("backdoor_write", mem, "mask", claims[3].object, count, (mask_bits + 31) / 32,
                     byte_mask ? (mask_bits + 7) / 8 : td_memory_word_bytes(mem), &made[1], &status, message);
    if (!status) {
        const uint64_t *at = td_tensor_data_const(claims[1].object);
        status = byte_mask ? td_backdoor_write_bytes(mem, at, count, data, enable)
                           : td_backdoor_write(mem, at, count, data, enable);
        td_dpi_done(status, message);
    }
    free(made[0]);
    free(made[1]);
    td_dpi_release(claims, claimed);
    return (int)status;
}
