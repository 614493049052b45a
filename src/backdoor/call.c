/* The prologue and the cleanup of load, dump and comparison (call.h): the conversion, the bits that are x or z, the
 * plan and the storage. Called by tensors.c, compare/compare.c and design/staging.c. It refuses a call before
 * anything has changed. */
#include "backdoor/call.h"

#include "backdoor/scales.h"
#include "base/cpu.h"
#include "base/profile.h"
#include "plan/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

td_status td_call_fail(const td_call *c, td_status status)
{
    if (c->bank && c->banks && c->bank[0])
        td_fail_prefix("%s \"%s\": ", c->operation, c->bank[0]->name);
    else
        td_fail_prefix("%s: ", c->operation);
    if (c->tensor && c->tensor->name) {
        char shape[TD_SHAPE_TEXT_BYTES];
        td_fail_append("\n    tensor \"%s\", %s %s", c->tensor->name, c->tensor->dtype_name,
                       td_shape_print(&c->tensor->shape, shape));
    }
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
    return c->tensor->origin ? td_file_check(c->tensor->origin) : TD_OK;
}

/* -- conversions ---------------------------------------------------------------------------------------------------
 *
 * A testbench repeats itself, and reading an `as` takes longer than converting a hundred elements: each thread keeps
 * its last few. Those that name a tensor or a file are made anew, since what the name stands for may change. */

#define KEPT 4
#define KEPT_TEXT_BYTES 96

typedef struct kept {
    char text[KEPT_TEXT_BYTES]; /* "": none */
    td_dtype tensor, memory;
    td_direction direction;
    unsigned cpu_flags;
    td_convert convert;
} kept;

static _Thread_local kept known[KEPT];
static _Thread_local unsigned oldest;

static td_direction direction_of(const td_call *c)
{
    return c->writes_tensor || c->compares ? TD_TO_TENSOR : TD_TO_MEMORY;
}

static const kept *find_kept(const td_call *c, const char *text)
{
    for (unsigned i = 0; i < KEPT; i++) {
        const kept *k = &known[i];
        if (k->text[0] == text[0] && strcmp(k->text, text) == 0 && td_dtype_equal(k->tensor, c->tensor->dtype) &&
            k->direction == direction_of(c) && k->cpu_flags == td_cpu_flags())
            return k;
    }
    return NULL;
}

static td_status keep(const td_call *c, const char *text, const td_as *as, const kept **out)
{
    kept *k = &known[oldest];
    k->text[0] = 0;
    td_status status = td_convert_bind(as, c->tensor->dtype, direction_of(c), NULL, &k->convert);
    if (status)
        return status;
    oldest = (oldest + 1) % KEPT;
    memcpy(k->text, text, strlen(text) + 1);
    k->tensor = c->tensor->dtype;
    k->memory = as->dtype;
    k->direction = direction_of(c);
    k->cpu_flags = td_cpu_flags();
    *out = k;
    return TD_OK;
}

static td_status make(const td_call *c, td_as *as, td_convert **out)
{
    td_scales scales = {0};
    td_convert *convert = malloc(sizeof *convert);
    if (!convert)
        return td_fail_alloc(sizeof *convert);
    td_status status = td_scales_find(as, c->layout, &c->tensor->shape, &scales);
    if (!status)
        status = td_convert_bind(as, c->tensor->dtype, direction_of(c), &scales.axis, convert);
    if (status) {
        td_scales_free(&scales);
        free(convert);
        return status;
    }
    td_scales_give(&scales, convert);
    *out = convert;
    return TD_OK;
}

static td_status find_conversion(const td_call *c, const char *text, td_call_state *out)
{
    const kept *k = find_kept(c, text);
    if (!k) {
        td_as as;
        TD_STEP(step, "parse");
        td_status status = td_as_parse(text, c->tensor->dtype, &as);
        if (status)
            return status;
        if (as.scale_name[0] || as.zero_name[0] || strlen(text) >= KEPT_TEXT_BYTES) {
            status = make(c, &as, &out->made);
            out->memory_dtype = as.dtype;
            out->run.convert = out->made;
            return status;
        }
        status = keep(c, text, &as, &k);
        if (status)
            return status;
    }
    out->memory_dtype = k->memory;
    out->run.convert = &k->convert;
    return TD_OK;
}

td_status td_call_check_dtype(const td_call *c, td_dtype memory_dtype)
{
    char name[TD_DTYPE_NAME_BYTES];
    if (!c->layout->dtype_text || td_dtype_equal(memory_dtype, c->layout->dtype))
        return TD_OK;
    td_dtype_print(memory_dtype, name);
    return td_fail(TD_DTYPE,
                   "the memory would hold %s, the layout moves %s; pass as=\"%s\", or drop dtype=%s from the layout",
                   name, c->layout->dtype_text, c->layout->dtype_text, c->layout->dtype_text);
}

/* The conversion between the tensor's and the memory's dtype, and the refusal of an `as` that is not the layout's
 * dtype. */
static td_status begin_conversion(const td_call *c, td_call_state *s)
{
    if (c->ready) {
        s->memory_dtype = c->ready->memory_dtype;
        s->run.convert = c->ready->convert;
        return TD_OK;
    }
    const char *text = td_layout_choose_as(c->layout, c->as);
    td_status status = *text ? find_conversion(c, text, s) : TD_OK;
    if (!status)
        status = td_call_check_dtype(c, s->memory_dtype);
    if (s->run.convert && s->run.convert->copy)
        s->run.convert = NULL;
    return status;
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

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
                             .truncate = c->truncate,
                             .dense = c->staged_words > 0};
}

td_status td_call_plan(const td_call *c, td_dtype memory_dtype, td_plan **out)
{
    const td_plan_request request = request_of(c, memory_dtype);
    return td_cache_plan(&request, out);
}

static td_status begin_plan(const td_call *c, td_call_state *s)
{
    if (c->ready) {
        s->run.plan = c->ready->plan;
        return TD_OK;
    }
    if (!c->compares) {
        const td_plan_request request = request_of(c, s->memory_dtype);
        return td_cache_borrow(&request, &s->run.plan);
    }
    td_status status = td_call_plan(c, s->memory_dtype, &s->held);
    s->run.plan = s->held;
    return status;
}

/* -- begin and end ------------------------------------------------------------------------------------------------- */

static td_status begin_data(const td_call *c, td_call_state *s)
{
    s->data = c->banks <= TD_CALL_FEW_BANKS ? s->few : malloc(c->banks * sizeof *s->data);
    if (!s->data)
        return td_fail_alloc(c->banks * sizeof *s->data);
    for (size_t i = 0; i < c->banks; i++)
        s->data[i] = c->bank[i]->data;
    s->run.bank = s->data;
    return TD_OK;
}

static bool has_copies(const td_call *c)
{
    for (size_t i = 0; i < c->banks; i++)
        if (c->bank[i]->backing)
            return true;
    return false;
}

/* Copies the words of the call in memories of the library to `saved`, or back. */
static size_t copy_owned(const td_call *c, const td_call_state *s, unsigned char *saved, bool back)
{
    size_t used = 0;
    for (size_t i = 0; i < s->span_count; i++) {
        const td_memory *memory = c->bank[s->spans[i].bank];
        unsigned char *words = memory->data + s->spans[i].first * memory->word_bytes;
        const size_t bytes = (size_t)s->spans[i].count * memory->word_bytes;
        if (memory->backing)
            continue;
        if (saved && back)
            memcpy(words, saved + used, bytes);
        else if (saved)
            memcpy(saved + used, words, bytes);
        used += bytes;
    }
    return used;
}

/* Where one bank may refuse what is written to it, what is written to the others can be taken back. */
static td_status save_owned(const td_call *c, td_call_state *s)
{
    bool refuses = false;
    for (size_t i = 0; i < c->banks; i++)
        refuses |= c->bank[i]->backing && c->bank[i]->backing->refuses;
    const size_t bytes = refuses && !c->writes_tensor ? copy_owned(c, s, NULL, false) : 0;
    if (!bytes)
        return TD_OK;
    s->saved = malloc(bytes);
    if (!s->saved)
        return td_fail_alloc(bytes);
    copy_owned(c, s, s->saved, false);
    return TD_OK;
}

/* Memories that lie over others: the words of the plan, where the call looks at them. The list of words is kept for
 * td_call_put_back. */
static td_status bring_spans(const td_call *c, td_call_state *s, const td_plan *plan)
{
    TD_STEP(step, "words from layers");
    const bool looks = c->writes_tensor || c->compares, partly = c->layout->keep || c->layout->clip;
    td_status status = td_plan_spans(plan, &s->spans, &s->span_count);
    for (size_t i = 0; i < s->span_count && !status; i++) {
        const td_span *span = &s->spans[i];
        status = td_memory_bring_for_write(c->bank[span->bank], looks || partly, span->first, span->count);
        if (status == TD_UNCORRECTABLE)
            td_call_name_element(c, plan, span->bank, &c->bank[span->bank]->backing->bad);
    }
    return status ? status : save_owned(c, s);
}

/* Bits that are x or z come in with the words, so that this is before anything looks for them. */
static td_status bring_in(const td_call *c, td_call_state *s, bool blocks)
{
    td_plan *plan = NULL;
    if (!has_copies(c))
        return TD_OK;
    const td_plan_request request = request_of(c, s->memory_dtype);
    td_status status = td_cache_plan(&request, &plan);
    if (!status && blocks)
        td_blocks_find(c, &request, plan, s);
    if (!status && !s->blocks.found)
        status = bring_spans(c, s, plan);
    td_plan_release(&plan);
    return status;
}

td_status td_call_put_back(const td_call *c, td_call_state *s)
{
    if (!s->span_count)
        return TD_OK;
    TD_STEP(step, "words to layers");
    td_status status = s->has_x ? td_x_make_known(c, s->memory_dtype, &s->x) : TD_OK;
    for (size_t i = 0; i < s->span_count && !status; i++)
        status = td_memory_seal(c->bank[s->spans[i].bank], s->spans[i].first, s->spans[i].count);
    for (size_t i = 0; i < s->span_count && !status; i++)
        td_memory_put_back(c->bank[s->spans[i].bank], s->spans[i].first, s->spans[i].count);
    if (status)
        copy_owned(c, s, s->saved, true);
    return status;
}

/* Some bits of these memories are x or z. */
static bool has_x(const td_call *c)
{
    for (size_t i = 0; i < c->banks; i++)
        if (c->bank[i]->unknown_any)
            return true;
    return false;
}

static td_status begin(const td_call *c, td_call_state *s, bool blocks)
{
    s->run = (td_run){0};
    s->made = NULL;
    s->held = NULL;
    s->has_x = false;
    s->data = NULL;
    s->spans = NULL;
    s->saved = NULL;
    s->span_count = 0;
    s->blocks.found = false;
    td_status status = td_call_check(c);
    if (status)
        return status;
    s->memory_dtype = c->tensor->dtype;
    s->run.tensor = c->tensor->data;
    status = begin_conversion(c, s);
    if (!status)
        status = bring_in(c, s, blocks);
    if (!status && has_x(c)) {
        TD_STEP(step, "x and z");
        s->has_x = true;
        status = td_x_begin(c, s->memory_dtype, &s->x);
        s->run.loose = s->x.flags;
    }
    if (!status)
        status = begin_plan(c, s);
    return status ? status : begin_data(c, s);
}

td_status td_call_begin(const td_call *c, td_call_state *s)
{
    return begin(c, s, false);
}

td_status td_call_begin_blocks(const td_call *c, td_call_state *s)
{
    return begin(c, s, true);
}

td_status td_call_end(const td_call *c, td_call_state *s, td_status status)
{
    if (s->data != s->few)
        free(s->data);
    if (s->spans)
        free(s->spans);
    if (s->saved)
        free(s->saved);
    if (s->blocks.found)
        td_blocks_end(c, &s->blocks);
    if (s->held)
        td_plan_release(&s->held);
    if (s->made) {
        td_convert_free(s->made);
        free(s->made);
    }
    if (s->has_x)
        status = td_x_end(c, s->memory_dtype, &s->x, status);
    return status ? td_call_fail(c, status) : TD_OK;
}
