/* Compares a memory through a layout, or a tensor, with a golden tensor: the facade of section 10 of the public
 * header, and of compare.h. One pass over the plan in slabs (slab.h), without a copy of the tensor: judging.c has the
 * pairs, padding.c checks the padding and what lies outside the layout. What is found goes into a report; a comparison
 * that finds mismatches has succeeded. */
#include "compare/compare.h"

#include "backdoor/call.h"
#include "base/fp_mode.h"
#include "base/profile.h"
#include "base/record.h"
#include "compare/judging.h"
#include "compare/padding.h"
#include "compare/statistics.h"
#include "kernels/bits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- what a guess looks at ----------------------------------------------------------------------------------------- */

static bool read_beside(void *context, const td_entry *entry, int64_t words, bool mirrored, uint64_t *bits)
{
    const td_judging *c = context;
    const td_report *r = c->report;
    const td_plan *plan = c->run->plan;
    const unsigned stored_bits = plan->memory_dtype.bits;
    const uint64_t address = entry->place.address + (uint64_t)words;
    uint64_t lsb = entry->place.lsb, value = 0;
    if (entry->place.msb - lsb + 1 != stored_bits || address >= plan->geometry.depth_words)
        return false;
    if (mirrored) {
        const uint64_t slot = (lsb - r->lsb_bits) / r->slot_bits;
        if (slot >= r->lanes)
            return false;
        lsb += (r->lanes - 1 - slot) * r->slot_bits - slot * r->slot_bits;
    }
    const unsigned char *word = c->run->bank[entry->place.bank] + address * plan->geometry.word_bytes;
    const uint64_t stored = td_dtype_extend(plan->memory_dtype, td_get_bits(word, (int64_t)lsb, stored_bits));
    value = stored;
    if (c->accept.convert)
        td_convert_run(c->accept.convert, &value, &stored, 1, entry->elem, 1);
    *bits = value & r->judge.mask;
    return true;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static td_status check_mask(const td_comparison *what)
{
    char golden[TD_SHAPE_TEXT_BYTES], mask[TD_SHAPE_TEXT_BYTES];
    const td_shape *a = &what->golden->shape;
    if (!what->mask ||
        (what->mask->shape.rank == a->rank && memcmp(what->mask->shape.dim, a->dim, a->rank * sizeof *a->dim) == 0))
        return what->mask ? td_file_check(what->mask->origin) : TD_OK;
    return td_fail(TD_SHAPE, "the mask has shape %s, the golden tensor %s; pass a mask of that shape",
                   td_shape_print(&what->mask->shape, mask), td_shape_print(a, golden));
}

static td_status check_snapshot(const td_comparison *what)
{
    for (size_t i = 0; what->snapshot && i < what->bank_count; i++) {
        const td_memory *before = what->snapshot[i], *after = what->banks[i];
        if (!before)
            return td_fail(TD_ARGUMENT, "snapshot %zu is NULL; take one of each memory with memory_snapshot", i);
        if (before->width_bits != after->width_bits || before->depth_words != after->depth_words)
            return td_fail(TD_ARGUMENT,
                           "snapshot %zu is %" PRIu64 " words of %" PRIu64 " bits, its memory is %" PRIu64
                           " of %" PRIu64 "; pass a snapshot of that memory",
                           i, before->depth_words, before->width_bits, after->depth_words, after->width_bits);
    }
    return TD_OK;
}

static td_status open_report(const td_comparison *what, const td_policy *policy, const char *memory,
                             const td_convert *convert, td_judging *c)
{
    td_report *r = td_report_new(memory, memory ? what->layout : NULL, what->golden, memory ? NULL : what->actual);
    if (!r)
        return td_fail_alloc(sizeof *r);
    r->dtype = r->stored = what->golden->dtype;
    r->shape = what->golden->shape;
    td_judge_init(policy, r->dtype, &r->judge);
    c->what = what;
    c->report = r;
    c->source = (td_report_source){.layout = what->layout};
    c->run = NULL;
    c->slab = NULL;
    c->unknown = NULL;
    td_accept_init(&r->judge, what->golden, what->mask, convert, &c->accept);
    c->done = 0;
    c->total = what->golden->elems;
    c->scratch = NULL;
    return TD_OK;
}

/* The end of both kinds of comparison: sorts, guesses, and hands the report out or frees it. */
static td_status close_report(td_judging *c, td_status status, td_report **out)
{
    TD_LIGHT_STEP(step, "report");
    td_report *r = c->report;
    r->compared = c->done - r->masked;
    if (!status && !r->failed && !r->compared)
        status =
            td_fail(TD_ARGUMENT,
                    "the mask leaves none of %" PRIu64 " elements to compare; pass a mask with elements other than 0",
                    c->what->golden->elems);
    if (!status && !r->failed) {
        td_report_sort(r);
        if (r->mismatches)
            td_report_guess_all(r, c->what->golden, c->run ? read_beside : NULL, c);
    }
    if (!status && r->failed)
        status = td_fail_alloc(TD_REPORT_CELLS * sizeof(td_grid_cell));
    free(c->scratch);
    if (status)
        td_report_destroy(&r);
    else
        *out = r;
    return status;
}

/* Where the policy asks for them. Values that are all equal need no sums. */
static td_status sum_up(td_judging *c)
{
    td_report *r = c->report;
    r->statistics.cosine = 1;
    if (!r->judge.policy.stats || r->failed || !(r->mismatches || r->worst_ulp || r->worst_error > 0))
        return TD_OK;
    return td_statistics_sum(
        &(td_statistics_of){.accept = &c->accept, .unknown = c->unknown, .run = c->run, .actual = c->what->actual}, r);
}

/* The elements, then the padding and what lies outside. */
static td_status compare_run(const td_call *call, const td_call_state *state, const td_comparison *what,
                             const td_policy *policy, td_report **out)
{
    const td_run *run = &state->run;
    td_judging c;
    td_status status = run->convert && run->convert->check ? td_exec_check(run) : TD_OK;
    if (!status)
        status = open_report(what, policy, call->bank[0]->name, run->convert, &c);
    if (status)
        return status;
    td_report *r = c.report;
    r->stored = state->memory_dtype;
    r->geometry = run->plan->geometry;
    r->slot_bits = what->layout->slot_bits ? what->layout->slot_bits : state->memory_dtype.bits;
    r->lsb_bits = what->layout->flat ? 0 : what->layout->lsb_bits;
    r->lanes_msb = what->layout->lanes_msb;
    c.source.bank = call->bank;
    c.source.banks = call->banks;
    c.source.plan = run->plan;
    c.source.direct = !run->convert;
    c.run = run;
    c.unknown = state->has_x && state->x.flags ? &state->x : NULL;
    c.accept.never = c.unknown != NULL;
    status = td_judge_memory(&c, run);
    if (!status)
        status = sum_up(&c);
    if (!status && policy->check_pad)
        td_compare_padding(run, call->bank, r);
    for (size_t i = 0; what->snapshot && i < call->banks && !status; i++)
        status = td_memory_bring_in(call->bank[i], 0, call->bank[i]->depth_words);
    if (!status && what->snapshot)
        status = td_compare_outside(run, (const td_memory *const *)what->snapshot, r);
    td_report_name_banks(r, call->bank, call->banks);
    return close_report(&c, status, out);
}

static td_status compare_memory(const td_call *call, const td_comparison *what, const td_policy *policy,
                                td_report **out)
{
    td_call_state state;
    td_status status = td_call_check(call);
    if (!status)
        status = check_mask(what);
    if (!status)
        status = check_snapshot(what);
    if (status)
        return td_call_fail(call, status);
    status = td_call_begin(call, &state);
    if (!status)
        status = compare_run(call, &state, what, policy, out);
    return td_call_end(call, &state, status);
}

static td_status compare_actual(const td_comparison *what, const td_policy *policy, td_report **out)
{
    const td_tensor *golden = what->golden, *actual = what->actual;
    char one[TD_SHAPE_TEXT_BYTES], other[TD_SHAPE_TEXT_BYTES];
    td_judging c;
    if (!golden || !actual)
        return td_fail(TD_ARGUMENT, "the %s tensor is NULL; create it first", golden ? "actual" : "expected");
    if (!td_dtype_equal(golden->dtype, actual->dtype))
        return td_fail(TD_DTYPE, "the expected tensor is %s, the actual one %s; convert one of them first",
                       golden->dtype_name, actual->dtype_name);
    if (golden->shape.rank != actual->shape.rank ||
        memcmp(golden->shape.dim, actual->shape.dim, golden->shape.rank * sizeof *golden->shape.dim) != 0)
        return td_fail(TD_SHAPE, "the expected tensor has shape %s, the actual one %s; compare tensors of one shape",
                       td_shape_print(&golden->shape, one), td_shape_print(&actual->shape, other));
    td_status status = check_mask(what);
    if (!status)
        status = td_file_check(golden->origin);
    if (!status)
        status = td_file_check(actual->origin);
    if (!status)
        status = open_report(what, policy, NULL, NULL, &c);
    if (status)
        return status;
    td_judge_tensor(&c);
    return close_report(&c, sum_up(&c), out);
}

static td_status compare_tensors(const td_call *call, const td_comparison *what, const td_policy *policy,
                                 td_report **out)
{
    const td_status status = compare_actual(what, policy, out);
    return status ? td_call_fail(call, status) : TD_OK;
}

static td_status read_policy(const char *text, td_policy *out)
{
    TD_LIGHT_STEP(step, "parse");
    return td_policy_parse(text, out);
}

/* `policy` and `ready` may be NULL: read, and looked up. */
static td_status compare(const td_comparison *what, const td_policy *policy, const td_call_ready *ready,
                         td_report **out)
{
    td_policy parsed;
    const td_call call = {.operation = what->actual || !what->layout ? "tensor_compare" : "backdoor_compare_tensor",
                          .bank = (const td_memory *const *)what->banks,
                          .banks = what->bank_count,
                          .tensor = what->golden,
                          .layout = what->layout,
                          .as = what->as,
                          .compares = true,
                          .ready = ready};
    TD_OPERATION(operation, call.operation);
    const unsigned mode = td_mode_enter();
    td_status status = policy ? TD_OK : read_policy(what->policy, &parsed);
    if (!policy)
        policy = &parsed;
    if (!status && what->banks && what->actual)
        status = td_fail(TD_ARGUMENT, "a comparison with memories and with an actual tensor; pass one of them");
    if (status)
        td_call_fail(&call, status);
    else
        status = what->banks ? compare_memory(&call, what, policy, out) : compare_tensors(&call, what, policy, out);
    td_mode_leave(mode);
    if (!status) {
        td_profile_step_bytes(operation, what->golden->elems * what->golden->dtype.bytes);
        td_record(&(td_recorded){.kind = TD_RECORDED_COMPARE, .comparison = what});
    }
    return status;
}

td_status td_compare(const td_comparison *what, td_report **out)
{
    if (!what || !out)
        return td_fail(TD_ARGUMENT, "compare: the %s is NULL; pass one", what ? "output" : "comparison");
    return compare(what, NULL, NULL, out);
}

td_status td_compare_ready(const td_comparison *what, const td_policy *policy, const td_call_ready *ready,
                           td_report **out)
{
    return compare(what, policy, ready, out);
}
