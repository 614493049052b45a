/* The facade of matrices and tensors: td_call_begin checks and finds the plan, the plan runs, and td_call_end puts
 * the operation and the memory's name in front of a failure. Called by users, dpi/ and design/staging.c.
 * memory/words.c has the word operations. */
#include "backdoor/call.h"
#include "base/profile.h"
#include "base/record.h"
#include "exec/paths.h"
#include "plan/cache.h"
#include "plan/copies.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_status fail_clash(const td_call *c, const td_clash *clash)
{
    char at[TD_SHAPE_TEXT_BYTES];
    td_shape coordinate;
    td_shape_at(&c->tensor->shape, clash->elem, &coordinate);
    return td_fail(TD_DISAGREE,
                   "the copies of element %s differ: 0x%" PRIx64 " in one, 0x%" PRIx64 " at bank %" PRIu64
                   ", address %" PRIu64 ", bit %" PRIu64
                   "; load the copies together, or dump with a layout that has no repeats",
                   td_shape_print(&coordinate, at), clash->expected, clash->found, clash->place.bank,
                   clash->place.address, clash->place.lsb);
}

/* Overlapping elements are dumped into a buffer first, so that copies that disagree leave the tensor as it was. */
static td_status dump_sliding(const td_call *c, const td_run *run)
{
    const size_t bytes = (size_t)c->tensor->elems * c->tensor->dtype.bytes;
    td_run aside = *run;
    aside.tensor = malloc(bytes);
    if (!aside.tensor)
        return td_fail_alloc(bytes);
    td_clash clash;
    memcpy(aside.tensor, run->tensor, bytes); /* elements between the steps are not in memory and keep their values */
    if (run->plan->copies)
        aside.plan = &run->plan->copies->once;
    td_exec_dump(&aside);
    aside.plan = run->plan;
    td_status status = td_exec_equals(&aside, &clash) ? TD_OK : fail_clash(c, &clash);
    if (!status)
        memcpy(run->tensor, aside.tensor, bytes);
    free(aside.tensor);
    return status;
}

static td_status load(const td_call *c, td_call_state *s)
{
    const td_run *run = &s->run;
    size_t bad = 0;
    if (run->convert && run->convert->check) {
        TD_STEP(step, "check values");
        td_status status = td_convert_check(run->convert, run->tensor, c->tensor->elems, 0, 1, &bad);
        if (status)
            return status;
    }
    if (s->blocks.found) {
        td_blocks_run(c, s);
        return TD_OK;
    }
    td_exec_load(run);
    return td_call_put_back(c, s);
}

/* Copies are held against each other first; then each element is dumped from one of its places. */
static td_status dump_copied(const td_call *c, const td_run *run)
{
    td_clash clash;
    if (!td_exec_copies_same(run)) {
        if (run->plan->windows)
            return dump_sliding(c, run);
        if (!td_exec_copies_agree(run, &clash))
            return fail_clash(c, &clash);
    }
    td_run once = *run;
    once.plan = &run->plan->copies->once;
    td_exec_dump(&once);
    return TD_OK;
}

static td_status check_values(const td_run *run)
{
    if (!run->convert || !run->convert->check)
        return TD_OK;
    TD_STEP(step, "check values");
    return td_exec_check(run);
}

static td_status dump(const td_call *c, const td_call_state *s)
{
    const td_run *run = &s->run;
    if (s->blocks.found) {
        td_blocks_run(c, s);
        return TD_OK;
    }
    td_status status = check_values(run);
    if (status)
        return status;
    if (run->plan->slides)
        return dump_sliding(c, run);
    if (run->plan->copies)
        return dump_copied(c, run);
    td_exec_dump(run);
    return TD_OK;
}

td_status td_call_run(const td_call *c)
{
    td_call_state s;
    TD_OPERATION(operation, c->operation);
    td_status status = td_call_begin_blocks(c, &s);
    if (!status && s.run.plan->dense_words != c->staged_words)
        status =
            td_fail(TD_ARGUMENT, "%" PRIu64 " words for a transfer of %" PRIu64 "; pass what td_transfer_tensor got",
                    s.run.plan->dense_words, c->staged_words);
    if (!status)
        status = c->writes_tensor ? dump(c, &s) : load(c, &s);
    if (!status)
        td_paths_count(&s.run, c->writes_tensor);
    if (!status)
        td_profile_step_bytes(operation, c->tensor->elems * c->tensor->dtype.bytes);
    return td_call_end(c, &s, status);
}

/* Runs the call, and tells who records. */
static td_status run_recorded(const td_call *c)
{
    const td_status status = td_call_run(c);
    if (!status && td_record_heard())
        td_record(&(td_recorded){.kind = c->writes_tensor ? TD_RECORDED_DUMP : TD_RECORDED_LOAD,
                                 .banks = (td_memory *const *)c->bank,
                                 .bank_count = c->banks,
                                 .tensor = c->tensor,
                                 .layout = c->layout,
                                 .as = c->as});
    return status;
}

td_status td_backdoor_load_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as)
{
    const td_memory *const bank = memory;
    return run_recorded(&(td_call){
        .operation = "backdoor_load_tensor", .bank = &bank, .banks = 1, .tensor = tensor, .layout = layout, .as = as});
}

td_status td_backdoor_dump_tensor(const td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as)
{
    return run_recorded(&(td_call){.operation = "backdoor_dump_tensor",
                                   .bank = &memory,
                                   .banks = 1,
                                   .tensor = tensor,
                                   .layout = layout,
                                   .as = as,
                                   .writes_tensor = true});
}

td_status td_backdoor_load_tensor_banks(td_memory *const *banks, size_t count, const td_tensor *tensor,
                                        const td_layout *layout, const char *as)
{
    return run_recorded(&(td_call){.operation = "backdoor_load_tensor",
                                   .bank = (const td_memory *const *)banks,
                                   .banks = count,
                                   .tensor = tensor,
                                   .layout = layout,
                                   .as = as});
}

td_status td_backdoor_dump_tensor_banks(td_memory *const *banks, size_t count, td_tensor *tensor,
                                        const td_layout *layout, const char *as)
{
    return run_recorded(&(td_call){.operation = "backdoor_dump_tensor",
                                   .bank = (const td_memory *const *)banks,
                                   .banks = count,
                                   .tensor = tensor,
                                   .layout = layout,
                                   .as = as,
                                   .writes_tensor = true});
}

/* -- matrices ------------------------------------------------------------------------------------------------------ */

static td_status check_rows(const td_call *c, uint64_t first, uint64_t last)
{
    td_status status = td_call_check_banks(c);
    if (status)
        return status;
    if (!c->tensor)
        return td_fail(TD_ARGUMENT, "the tensor is NULL; create it first");
    const td_shape *shape = &c->tensor->shape;
    if (shape->rank != 1 && shape->rank != 2)
        return td_fail(
            TD_SHAPE,
            "the tensor has %zu dimensions, a matrix has 2 (or 1: one row); use backdoor_%s_tensor with a layout",
            shape->rank, c->writes_tensor ? "dump" : "load");
    const uint64_t rows = shape->rank == 2 ? shape->dim[0] : 1;
    if (last < first || last - first != rows)
        return td_fail(TD_SHAPE,
                       "words [%" PRIu64 ", %" PRIu64 ") are not the %" PRIu64
                       " rows of the matrix; pass last = %" PRIu64,
                       first, last, rows, first + rows);
    if (last > c->bank[0]->depth_words)
        return td_fail(TD_RANGE,
                       "word %" PRIu64 " is past the memory of %" PRIu64 " words; use rows that end at %" PRIu64
                       " or before",
                       last - 1, c->bank[0]->depth_words, c->bank[0]->depth_words);
    return TD_OK;
}

/* The two layouts of matrices, made at the first use and kept. */
static td_layout *matrix_layout[2];

static void make_matrix_layouts(void)
{
    td_layout_create("c -> 1 c", NULL, NULL, &matrix_layout[0]);
    td_layout_create("r c -> r c", NULL, NULL, &matrix_layout[1]);
}

/* With the library they go too. */
__attribute__((destructor)) static void free_matrix_layouts(void)
{
    td_layout_destroy(&matrix_layout[0]);
    td_layout_destroy(&matrix_layout[1]);
}

/* In a memory that lies over others, whose words have to be called by their own addresses. */
static td_status run_matrix_at(const td_call *c, uint64_t first)
{
    char address[32];
    td_layout *layout = NULL;
    snprintf(address, sizeof address, c->tensor->shape.rank == 2 ? "%" PRIu64 " + r" : "%" PRIu64, first);
    td_status status = td_layout_create(c->tensor->shape.rank == 2 ? "r c -> r c" : "c -> 1 c", NULL, address, &layout);
    if (status)
        return td_call_fail(c, status);
    td_call rows = *c;
    rows.layout = layout;
    rows.truncate = true;
    status = td_call_run(&rows);
    td_layout_destroy(&layout);
    return status;
}

/* A matrix is a layout like any other, except that rows may be longer than the word. It moves through a view of the
 * memory that begins at `first`, so that one plan serves every address. */
static td_status run_matrix(const td_call *c, uint64_t first, uint64_t last)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_status status = check_rows(c, first, last);
    if (status)
        return td_call_fail(c, status);
    if (c->bank[0]->backing)
        return run_matrix_at(c, first);
    pthread_once(&once, make_matrix_layouts);
    td_memory view = *c->bank[0];
    view.data += first * view.word_bytes;
    view.depth_words = last - first;
    td_memory plane;
    if (view.unknown) {
        plane = *view.unknown;
        plane.data += first * plane.word_bytes;
        plane.depth_words = last - first;
        view.unknown = &plane;
    }
    const td_memory *const only = &view;
    td_call rows = *c;
    rows.bank = &only;
    rows.layout = matrix_layout[c->tensor->shape.rank - 1];
    rows.truncate = true;
    return rows.layout ? td_call_run(&rows) : td_call_fail(c, td_fail_alloc(sizeof(td_layout)));
}

static td_status run_recorded_matrix(const td_call *c, uint64_t first, uint64_t last)
{
    const td_status status = run_matrix(c, first, last);
    if (!status && td_record_heard())
        td_record(&(td_recorded){.kind = c->writes_tensor ? TD_RECORDED_DUMP_MATRIX : TD_RECORDED_LOAD_MATRIX,
                                 .banks = (td_memory *const *)c->bank,
                                 .bank_count = 1,
                                 .tensor = c->tensor,
                                 .first = first});
    return status;
}

td_status td_backdoor_load_matrix(td_memory *memory, const td_tensor *tensor, uint64_t first, uint64_t last)
{
    const td_memory *const bank = memory;
    return run_recorded_matrix(
        &(td_call){.operation = "backdoor_load_matrix", .bank = &bank, .banks = 1, .tensor = tensor}, first, last);
}

td_status td_backdoor_dump_matrix(const td_memory *memory, td_tensor *tensor, uint64_t first, uint64_t last)
{
    return run_recorded_matrix(
        &(td_call){
            .operation = "backdoor_dump_matrix", .bank = &memory, .banks = 1, .tensor = tensor, .writes_tensor = true},
        first, last);
}

/* -- what a layout touches ----------------------------------------------------------------------------------------- */

td_status td_layout_spans(const td_layout *layout, const td_tensor *tensor, const char *as, uint64_t width_bits,
                          const td_memory *memory, td_span **spans, size_t *count)
{
    if (!layout || !tensor || !spans || !count)
        return td_fail(TD_ARGUMENT, "layout_spans: the %s is NULL; pass one",
                       !layout   ? "layout"
                       : !tensor ? "tensor"
                                 : "output");
    if (!memory && (width_bits == 0 || width_bits > TD_MAX_WIDTH_BITS))
        return td_fail(TD_ARGUMENT, "layout_spans: a width of %llu bits; pass 1 to %llu",
                       (unsigned long long)width_bits, (unsigned long long)TD_MAX_WIDTH_BITS);
    td_as parsed = {0};
    td_status status = td_as_parse(td_layout_choose_as(layout, as), tensor->dtype, &parsed);
    const uint64_t width = memory ? memory->width_bits : width_bits;
    const td_plan_request request = {.layout = layout,
                                     .shape = &tensor->shape,
                                     .tensor_dtype = tensor->dtype,
                                     .memory_dtype = parsed.dtype,
                                     .geometry = {.width_bits = width,
                                                  .depth_words = memory ? memory->depth_words : TD_MAX_DEPTH_WORDS,
                                                  .banks = TD_MAX_BANKS,
                                                  .word_bytes = td_word_bytes(width)}};
    td_plan *plan = NULL;
    if (!status)
        status = td_cache_plan(&request, &plan);
    if (status) {
        td_fail_prefix("layout_spans: ");
        return status;
    }
    status = td_plan_spans(plan, spans, count);
    td_plan_release(&plan);
    return status;
}
