/* Many elements at once. SystemVerilog's data crosses in fixed chunks of 32-bit words: one word per element, two (low
 * first) for elements of more than 32 bits, signed elements sign-extended. A dynamic array crosses chunk by chunk into
 * a list, which is a tensor of u32 (or of u64, for addresses), and is then checked and moved as a whole. */
#include "chunk.h"
#include "handles.h"

#include <stdint.h>
#include <string.h>
#include <svdpi.h>

static size_t words_per_elem(const td_tensor *tensor)
{
    return td_tensor_elem_bytes(tensor) == 8 ? 2 : 1;
}

static bool is_signed(const td_tensor *tensor)
{
    return td_tensor_dtype(tensor)[0] == 'i';
}

static td_status check_chunk(const char *call, const td_tensor *tensor, td_dpi_u64 first, int count, int most,
                             const char **message)
{
    td_dpi_u64 elems = td_tensor_elems(tensor);
    if (count < 1 || count > most)
        return (td_status)td_dpi_fail(TD_ARGUMENT, message, "%s: a chunk of %d elements of %s; pass 1 to %d", call,
                                      count, td_tensor_dtype(tensor), most);
    if (first > elems || (td_dpi_u64)count > elems - first)
        return (td_status)td_dpi_fail(TD_RANGE, message,
                                      "%s: elements %llu to %llu of a tensor of %llu elements; end at %llu", call,
                                      first, first + (td_dpi_u64)count - 1, elems, elems - 1);
    return TD_OK;
}

/* Element i of the words, extended to 64 bits. */
static uint64_t value_at(const uint32_t *words, size_t i, size_t per_elem, bool sign)
{
    if (per_elem == 2)
        return (uint64_t)words[2 * i + 1] << 32 | words[2 * i];
    return sign ? (uint64_t)(int64_t)(int32_t)words[i] : words[i];
}

/* Elements [first, first + count) from words, all of them or none. */
static int set_elems(const char *call, td_tensor *tensor, uint64_t first, size_t count, const uint32_t *words,
                     const char **message)
{
    unsigned bits = td_tensor_elem_bits(tensor);
    uint64_t mask = UINT64_MAX >> (64 - bits);
    uint64_t top = is_signed(tensor) ? (uint64_t)1 << (bits - 1) : 0;
    size_t per_elem = words_per_elem(tensor);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = value_at(words, i, per_elem, top != 0);
        /* Own bits with zeros above, or a negative number sign-extended. */
        if (value > mask && (!(value & top) || (value | mask) != UINT64_MAX))
            return td_dpi_fail(TD_RANGE, message,
                               "%s: element %llu is 0x%llx, more than the %u bits of %s; clear the bits above", call,
                               (td_dpi_u64)first + i, (td_dpi_u64)value, bits, td_tensor_dtype(tensor));
    }
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_tensor_set_bits(tensor, first + i, value_at(words, i, per_elem, false) & mask);
    return td_dpi_done(status, message);
}

static void get_elems(const td_tensor *tensor, uint64_t first, size_t count, uint32_t *words)
{
    size_t bytes = td_tensor_elem_bytes(tensor);
    size_t per_elem = words_per_elem(tensor);
    bool sign = is_signed(tensor);
    const unsigned char *data = (const unsigned char *)td_tensor_data_const(tensor) + first * bytes;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        memcpy(&value, data + i * bytes, bytes);
        if (bytes == 1 && sign)
            value = (uint64_t)(int8_t)value;
        if (bytes == 2 && sign)
            value = (uint64_t)(int16_t)value;
        memcpy(words + i * per_elem, &value, per_elem * sizeof *words);
    }
}

/* -- chunks of any tensor -- */

TD_API int td_dpi_tensor_set_chunk(td_dpi_u64 handle, td_dpi_u64 first, int count, const svBitVecVal *chunk,
                                   const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    int status = (int)td_dpi_claim_one("tensor_set_chunk", &claim, message);
    if (status)
        return status;
    int most = TD_LIST_WORDS / (int)words_per_elem(claim.object);
    status = (int)check_chunk("tensor_set_chunk", claim.object, first, count, most, message);
    if (!status)
        status = set_elems("tensor_set_chunk", claim.object, first, (size_t)count, chunk, message);
    td_dpi_release(&claim, 1);
    return status;
}

/* Words past the count stay. */
TD_API int td_dpi_tensor_get_chunk(td_dpi_u64 handle, td_dpi_u64 first, int count, svBitVecVal *chunk,
                                   const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_get_chunk", &claim, message);
    if (status)
        return (int)status;
    int most = TD_LIST_WORDS / (int)words_per_elem(claim.object);
    status = check_chunk("tensor_get_chunk", claim.object, first, count, most, message);
    if (!status) {
        get_elems(claim.object, first, (size_t)count, chunk);
        *message = "";
    }
    td_dpi_release(&claim, 1);
    return (int)status;
}

/* -- lists -- */

/* A list of zeros: words of 32 bits, or addresses of 64. */
TD_API int td_dpi_list_create(int count, int elem_bits, td_dpi_u64 *list, const char **message)
{
    td_tensor *tensor = NULL;
    td_shape shape = {.rank = 1, .dim = {(uint64_t)count}};
    *list = 0;
    td_status status = td_tensor_create(elem_bits == 64 ? "u64" : "u32", shape, &tensor);
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_TENSOR, tensor, list, message);
    if (status) {
        td_tensor_destroy(&tensor);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

/* Copies a chunk into a list (`put`) or out of it. */
static int move_chunk(td_dpi_u64 list, int first, int count, void *chunk, size_t elem_bytes, bool put,
                      const char **message)
{
    const char *call = put ? "list_put" : "list_get";
    td_dpi_claim claim = {.handle = list, .kind = TD_DPI_TENSOR};
    int status = (int)td_dpi_claim_one(call, &claim, message);
    if (status)
        return status;
    unsigned char *data = td_tensor_data(claim.object);
    *message = "";
    if (!data || td_tensor_elem_bytes(claim.object) != elem_bytes || first < 0) {
        status = td_dpi_fail(TD_DTYPE, message, "%s: a tensor of %s is no list; use u%zu from tensor_create", call,
                             td_tensor_dtype(claim.object), 8 * elem_bytes);
    } else {
        int most = elem_bytes == 8 ? TD_LIST_ADDRESSES : TD_LIST_WORDS;
        unsigned char *at = data + (size_t)first * elem_bytes;
        status = (int)check_chunk(call, claim.object, (td_dpi_u64)first, count, most, message);
        if (!status)
            memcpy(put ? at : chunk, put ? chunk : at, (size_t)count * elem_bytes);
    }
    td_dpi_release(&claim, 1);
    return status;
}

TD_API int td_dpi_list_put(td_dpi_u64 list, int first, int count, const svBitVecVal *chunk, const char **message)
{
    return move_chunk(list, first, count, (void *)(uintptr_t)chunk, 4, true, message);
}

TD_API int td_dpi_list_put_addresses(td_dpi_u64 list, int first, int count, const td_dpi_u64 *chunk,
                                     const char **message)
{
    return move_chunk(list, first, count, (void *)(uintptr_t)chunk, 8, true, message);
}

TD_API int td_dpi_list_get(td_dpi_u64 list, int first, int count, svBitVecVal *chunk, const char **message)
{
    return move_chunk(list, first, count, chunk, 4, false, message);
}

static int claim_list(const char *call, td_dpi_claim *claims, const char **message)
{
    int status = (int)td_dpi_claim_all(call, claims, 2, message);
    if (status)
        return status;
    td_dpi_u64 needed = td_tensor_elems(claims[0].object) * words_per_elem(claims[0].object);
    td_dpi_u64 found = td_tensor_elems(claims[1].object);
    if (found == needed && td_tensor_elem_bytes(claims[1].object) == 4)
        return (int)TD_OK;
    status = td_dpi_fail(TD_SHAPE, message, "%s: %llu words for %llu elements of %s; pass %llu of 32 bits", call, found,
                         (td_dpi_u64)td_tensor_elems(claims[0].object), td_tensor_dtype(claims[0].object), needed);
    td_dpi_release(claims, 2);
    return status;
}

TD_API int td_dpi_tensor_from_list(td_dpi_u64 tensor, td_dpi_u64 list, const char **message)
{
    td_dpi_claim claims[] = {{.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = list, .kind = TD_DPI_TENSOR, .optional = true}};
    int status = claim_list("tensor_from_words", claims, message);
    if (status)
        return status;
    status = set_elems("tensor_from_words", claims[0].object, 0, td_tensor_elems(claims[0].object),
                       td_tensor_data_const(claims[1].object), message);
    td_dpi_release(claims, 2);
    return status;
}

TD_API int td_dpi_tensor_to_list(td_dpi_u64 tensor, td_dpi_u64 list, const char **message)
{
    td_dpi_claim claims[] = {{.handle = tensor, .kind = TD_DPI_TENSOR}, {.handle = list, .kind = TD_DPI_TENSOR}};
    int status = claim_list("tensor_to_words", claims, message);
    if (status)
        return status;
    uint32_t *words = td_tensor_data(claims[1].object);
    *message = "";
    if (words)
        get_elems(claims[0].object, 0, td_tensor_elems(claims[0].object), words);
    else
        status =
            td_dpi_fail(TD_ARGUMENT, message, "tensor_to_words: the list is read-only; use one from tensor_create");
    td_dpi_release(claims, 2);
    return status;
}
