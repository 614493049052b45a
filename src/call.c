/* See call.h. */
#include "call.h"

#include "cache.h"
#include "scales.h"

#include <inttypes.h>
#include <stdlib.h>

td_status td_call_fail(const td_call *c, td_status status)
{
    if (c->bank && c->banks && c->bank[0])
        td_fail_prefix("%s \"%s\": ", c->operation, c->bank[0]->name);
    else
        td_fail_prefix("%s: ", c->operation);
    return status;
}

td_status td_call_check_banks(const td_call *c)
{
    if (!c->bank || !c->banks)
        return td_fail(TD_ARGUMENT, "no memory; pass at least one");
    if (c->banks > TD_MAX_BANKS)
        return td_fail(TD_ARGUMENT, "%zu memories; pass at most %" PRIu64, c->banks, TD_MAX_BANKS);
    for (size_t i = 0; i < c->banks; i++) {
        const td_memory *first = c->bank[0], *memory = c->bank[i];
        if (!memory)
            return td_fail(TD_ARGUMENT, "the memory is NULL; create it first");
        if (memory->width_bits != first->width_bits || memory->depth_words != first->depth_words)
            return td_fail(TD_ARGUMENT,
                           "bank %zu is %" PRIu64 " words of %" PRIu64 " bits, bank 0 is %" PRIu64 " of %" PRIu64
                           "; use banks of one geometry",
                           i, memory->depth_words, memory->width_bits, first->depth_words, first->width_bits);
    }
    return TD_OK;
}

td_status td_call_check(const td_call *c)
{
    td_status status = td_call_check_banks(c);
    if (status)
        return status;
    if (!c->tensor || !c->layout)
        return td_fail(TD_ARGUMENT, "the %s is NULL; create it first", c->tensor ? "layout" : "tensor");
    if (c->writes_tensor && c->tensor->read_only)
        return td_fail(TD_ARGUMENT,
                       "the tensor is mapped read-only from a file; dump into a tensor made with tensor_create");
    return TD_OK;
}

static td_status bind_scaled(const td_call *c, td_as *as, td_convert *convert)
{
    td_scales scales = {0};
    const td_direction direction = c->writes_tensor || c->compares ? TD_TO_TENSOR : TD_TO_MEMORY;
    td_status status = td_scales_find(as, c->layout, &c->tensor->shape, &scales);
    if (!status)
        status = td_convert_bind(as, c->tensor->dtype, direction, &scales.axis, convert);
    if (status)
        td_scales_free(&scales);
    else
        td_scales_give(&scales, convert);
    return status;
}

td_status td_call_convert(const td_call *c, td_as *as, td_convert *convert)
{
    const char *text = c->as && *c->as ? c->as : td_layout_as(c->layout);
    td_status status = TD_OK;
    if (!*text) { /* bits as they are: most calls, and the small ones count in nanoseconds */
        as->dtype = c->tensor->dtype;
        convert->copy = true;
    } else
        status = td_as_parse(text, c->tensor->dtype, as);
    if (!status && *text)
        status = bind_scaled(c, as, convert);
    if (!status && c->layout->dtype_text && !td_dtype_equal(as->dtype, c->layout->dtype)) {
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(as->dtype, name);
        status = td_fail(
            TD_DTYPE, "the memory would hold %s, the layout moves %s; pass as=\"%s\", or drop dtype=%s from the layout",
            name, c->layout->dtype_text, c->layout->dtype_text, c->layout->dtype_text);
    }
    return status;
}

static td_plan_request request_of(const td_call *c, td_dtype memory_dtype)
{
    return (td_plan_request){.layout = c->layout,
                             .shape = &c->tensor->shape,
                             .tensor_dtype = c->tensor->dtype,
                             .memory_dtype = memory_dtype,
                             .geometry = {.width_bits = c->bank[0]->width_bits,
                                          .depth_words = c->bank[0]->depth_words,
                                          .banks = c->banks,
                                          .word_bytes = c->bank[0]->word_bytes},
                             .truncate = c->truncate};
}

td_status td_call_plan(const td_call *c, td_dtype memory_dtype, td_plan **out)
{
    const td_plan_request request = request_of(c, memory_dtype);
    return td_cache_plan(&request, out);
}

td_status td_call_borrow_plan(const td_call *c, td_dtype memory_dtype, const td_plan **out)
{
    const td_plan_request request = request_of(c, memory_dtype);
    return td_cache_borrow(&request, out);
}

unsigned char **td_call_data(const td_call *c, unsigned char **few)
{
    unsigned char **data = c->banks <= TD_CALL_FEW_BANKS ? few : malloc(c->banks * sizeof *data);
    for (size_t i = 0; data && i < c->banks; i++)
        data[i] = c->bank[i]->data;
    return data;
}
