/* Compares a memory through a layout, or a tensor, with a golden tensor: the facade of section 10 of the public
 * header. One pass over the plan in slabs (slab.h), without a copy of the tensor: accept.c settles the slabs that
 * the policy accepts whole, and the pairs of the others are judged here, in order and on one thread. What is found
 * goes into a report; a comparison that finds mismatches has succeeded. padding.c checks the padding and what lies
 * outside the layout. */
#include "backdoor/call.h"
#include "base/fp_mode.h"
#include "base/profile.h"
#include "base/record.h"
#include "compare/accept.h"
#include "compare/padding.h"
#include "compare/statistics.h"
#include "compare/whole.h"
#include "kernels/bits.h"
#include "plan/copies.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements that are converted, gathered and judged together. */
#define BATCH_ELEMS TD_TOLERANCE_ELEMS

/* Buffers for the slabs that are left; allocated for the first of them. */
typedef struct scratch {
    _Alignas(64) unsigned char slab[TD_SLAB_BYTES], actual[BATCH_ELEMS * 8], golden[BATCH_ELEMS * 8];
    td_tolerance_scratch tolerance;
} scratch;

typedef struct comparison {
    const td_comparison *what;
    td_report *report;
    td_report_source source;
    const td_run *run; /* NULL between two tensors */
    const td_slab *slab;
    const td_x_elems *unknown; /* elements that are x or z and count as mismatches; NULL: none */
    uint64_t done, total;
    td_accept accept;
    bool left[TD_ACCEPT_SLABS];
    bool all; /* were accepted */
    scratch *scratch;
} comparison;

/* `count` elements: `step` tensor elements apart from `elem` on, `place` in their slab. */
typedef struct batch {
    uint64_t elem, place, count;
    int64_t step;
    const unsigned char *expected, *actual;
} batch;

/* -- pairs --------------------------------------------------------------------------------------------------------- */

static void look_at(comparison *c, const batch *k, uint64_t i, uint64_t expected, uint64_t actual)
{
    const td_judge *judge = &c->report->judge;
    const uint64_t elem = k->elem + (uint64_t)((int64_t)i * k->step);
    expected &= judge->mask;
    actual &= judge->mask;
    const bool unknown = c->unknown && td_x_bits(c->unknown, elem);
    if ((expected == actual && judge->bits_decide && !unknown) || td_is_masked(c->what->mask, elem))
        return;
    td_verdict verdict = td_judge_pair(judge, expected, actual);
    verdict.equal = verdict.equal && !unknown;
    verdict.unknown = unknown;
    td_report_worst(c->report, verdict);
    if (verdict.equal)
        return;
    if (c->run) {
        const td_place place = td_slab_place(c->slab, k->place + i);
        td_report_mismatch(c->report, &c->source, elem, expected, actual, verdict, &place);
    } else
        td_report_mismatch(c->report, &c->source, elem, expected, actual, verdict, NULL);
}

#define LOOK_AT_ALL(type)                                                                                              \
    for (uint64_t i = 0; i < k->count; i++) {                                                                          \
        type e, a;                                                                                                     \
        memcpy(&e, k->expected + i * sizeof e, sizeof e);                                                              \
        memcpy(&a, k->actual + i * sizeof a, sizeof a);                                                                \
        if (e != a || always)                                                                                          \
            look_at(c, k, i, e, a);                                                                                    \
    }                                                                                                                  \
    break

static void look_at_batch(comparison *c, const batch *k)
{
    const bool always = !c->report->judge.bits_decide || c->unknown;
    switch (c->report->dtype.bytes) {
    case 1:
        LOOK_AT_ALL(uint8_t);
    case 2:
        LOOK_AT_ALL(uint16_t);
    case 4:
        LOOK_AT_ALL(uint32_t);
    default:
        LOOK_AT_ALL(uint64_t);
    }
}

/* True when the policy accepts the whole batch. */
static bool is_close(comparison *c, const batch *k)
{
    td_report *r = c->report;
    td_worst worst = {.error = r->worst_error, .ulp = r->worst_ulp};
    const td_tolerance_rows row = {.expected = k->expected, .actual = k->actual, .rows = 1, .count = k->count};
    if (c->unknown || c->what->mask ||
        !td_tolerance_accepts(&c->accept.tolerance, &c->scratch->tolerance, &row, &worst))
        return false;
    r->worst_error = worst.error;
    r->worst_ulp = worst.ulp;
    return true;
}

/* -- batches ------------------------------------------------------------------------------------------------------- */

static uint64_t count_masked(const comparison *c, const batch *k)
{
    uint64_t masked = 0;
    for (uint64_t i = 0; i < k->count && c->what->mask; i++)
        masked += td_is_masked(c->what->mask, k->elem + (uint64_t)((int64_t)i * k->step));
    return masked;
}

static void compare_batch(comparison *c, const batch *k)
{
    c->report->masked += count_masked(c, k);
    if (c->report->judge.bits_decide && !c->unknown &&
        memcmp(k->expected, k->actual, k->count * c->report->dtype.bytes) == 0)
        return;
    if (!is_close(c, k))
        look_at_batch(c, k);
}

/* `count` stored elements, from `place` in their slab on, whose tensor elements are `step` apart. */
static void compare_row(comparison *c, const unsigned char *stored, unsigned stored_bytes, uint64_t place,
                        uint64_t elem, int64_t step, uint64_t count)
{
    const td_tensor *golden = c->what->golden;
    const unsigned bytes = golden->dtype.bytes;
    for (uint64_t done = 0; done < count; done += BATCH_ELEMS) {
        const uint64_t left = count - done;
        batch k = {.elem = elem + (uint64_t)((int64_t)done * step),
                   .place = place + done,
                   .count = left < BATCH_ELEMS ? left : BATCH_ELEMS,
                   .step = step,
                   .actual = stored + done * stored_bytes};
        k.expected = golden->data + k.elem * bytes;
        if (c->accept.convert) {
            td_convert_run(c->accept.convert, c->scratch->actual, k.actual, k.count, k.elem, step);
            k.actual = c->scratch->actual;
        }
        if (step != 1) {
            for (uint64_t i = 0; i < k.count; i++)
                memcpy(c->scratch->golden + i * bytes, k.expected + (int64_t)i * step * bytes, bytes);
            k.expected = c->scratch->golden;
        }
        compare_batch(c, &k);
    }
}

/* Judges a slab that was not accepted whole. Elements along its last node are stored contiguously. */
static void compare_slab(comparison *c, const td_slab *slab)
{
    const td_slabs *of = slab->of;
    const unsigned bytes = of->plan ? of->plan->memory_dtype.bytes : c->what->golden->dtype.bytes;
    uint64_t row = of->row_elems;
    int64_t step = 1;
    c->slab = slab;
    if (of->row_nodes == 0 && of->node_count && !of->piece) {
        row = of->extent[of->node_count - 1];
        step = of->node[of->node_count - 1].tensor;
    }
    for (uint64_t n = 0; n < of->elems; n += row)
        compare_row(c, td_slab_stored(slab, n), bytes, n, td_slab_elem(slab, n), step, row);
}

static void compare_left(comparison *c, td_slabs *slabs, uint64_t first, size_t count)
{
    td_slab_taker taker;
    bool ready = false;
    for (size_t i = 0; i < count && !c->report->failed; i++) {
        if (!c->left[i])
            continue;
        if (!ready) {
            c->scratch = c->scratch ? c->scratch : aligned_alloc(64, sizeof *c->scratch);
            c->report->failed = !c->scratch || (slabs->way != TD_SLAB_ROWS && td_slabs_take_out(slabs) != TD_OK);
            if (c->report->failed)
                return;
            td_slab_taker_init(slabs, &taker);
            c->scratch->tolerance.skips = 0;
            ready = true;
        }
        td_slab slab;
        td_slab_find(slabs, first + i, &slab);
        td_slab_take(&taker, c->scratch->slab, &slab);
        compare_slab(c, &slab);
    }
}

/* A first look at the next slabs; returns how many. */
static size_t accept_some(comparison *c, const td_slabs *slabs, uint64_t first)
{
    td_report *r = c->report;
    const uint64_t behind = slabs->count - first;
    const size_t count = (size_t)(behind < TD_ACCEPT_SLABS ? behind : TD_ACCEPT_SLABS);
    td_worst worst = {.error = r->worst_error, .ulp = r->worst_ulp};
    td_accept_slabs(&c->accept, slabs, first, count, c->left, &r->masked, &worst);
    r->worst_error = worst.error;
    r->worst_ulp = worst.ulp;
    return count;
}

static bool compare_slabs(void *context, td_slabs *slabs)
{
    comparison *c = context;
    td_report *r = c->report;
    if (slabs->way == TD_SLAB_TRANSPOSED && c->accept.by_value)
        r->failed |= td_slabs_take_out(slabs) != TD_OK;
    for (uint64_t first = 0; first < slabs->count && !r->failed; first += TD_ACCEPT_SLABS) {
        const size_t count = accept_some(c, slabs, first);
        compare_left(c, slabs, first, count);
        c->done += count * slabs->elems;
        if (c->what->progress)
            c->what->progress(c->what->context, c->done < c->total ? c->done : c->total, c->total);
    }
    return !r->failed;
}

/* -- a first look -------------------------------------------------------------------------------------------------- */

/* Goes on as long as slabs are accepted whole. */
static bool accept_all(void *context, td_slabs *slabs)
{
    comparison *c = context;
    td_report *r = c->report;
    bool all = true;
    if (slabs->way == TD_SLAB_TRANSPOSED && c->accept.by_value)
        r->failed |= td_slabs_take_out(slabs) != TD_OK;
    for (uint64_t first = 0; first < slabs->count && all && !r->failed; first += TD_ACCEPT_SLABS) {
        const size_t count = accept_some(c, slabs, first);
        all = !memchr(c->left, 1, count);
    }
    c->all = all;
    return all && !r->failed;
}

/* Elements of which all copies hold the same bits are compared once, and those of plans that slabs are slow on by a
 * dump. *accepted is false when some are not accepted, or copies differ: then every place is taken by itself, as the
 * report needs it. */
static td_status accept_first(comparison *c, const td_run *run, bool *accepted)
{
    td_run once = *run;
    const td_plan *plan = run->plan;
    *accepted = false;
    if (c->unknown || c->what->mask)
        return TD_OK;
    if (plan->copies && td_exec_copies_same(run)) {
        once.plan = &plan->copies->once;
        c->all = true;
        const td_status status = td_slabs_walk(&once, &c->accept.wish, accept_all, c);
        if (status || !c->all || c->report->failed)
            return status;
    } else if (!c->report->judge.bits_decide || c->accept.only_finite || !td_whole_equal(run, c->what->golden))
        return TD_OK;
    *accepted = true;
    c->done = td_plan_count(plan);
    if (c->what->progress)
        c->what->progress(c->what->context, c->total, c->total);
    return TD_OK;
}

/* -- what a guess looks at ----------------------------------------------------------------------------------------- */

static bool read_beside(void *context, const td_entry *entry, int64_t words, bool mirrored, uint64_t *bits)
{
    const comparison *c = context;
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
                             const td_convert *convert, comparison *c)
{
    td_report *r = td_report_new(memory, memory ? what->layout : NULL, what->golden);
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
static td_status close_report(comparison *c, td_status status, td_report **out)
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
static td_status sum_up(comparison *c)
{
    td_report *r = c->report;
    r->statistics.cosine = 1;
    if (!r->judge.policy.stats || r->failed || !(r->mismatches || r->worst_ulp || r->worst_error > 0))
        return TD_OK;
    return td_statistics_sum(
        &(td_statistics_of){.accept = &c->accept, .unknown = c->unknown, .run = c->run, .actual = c->what->actual}, r);
}

static td_status compare_elems(comparison *c, const td_run *run)
{
    TD_LIGHT_STEP(step, "compare");
    bool accepted = false;
    td_profile_step_bytes(step, c->what->golden->elems * c->what->golden->dtype.bytes);
    const td_status status = accept_first(c, run, &accepted);
    return status || accepted ? status : td_slabs_walk(run, &c->accept.wish, compare_slabs, c);
}

/* The elements, then the padding and what lies outside. */
static td_status compare_run(const td_call *call, const td_call_state *state, const td_comparison *what,
                             const td_policy *policy, td_report **out)
{
    const td_run *run = &state->run;
    comparison c;
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
    status = compare_elems(&c, run);
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
    comparison c;
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
    TD_LIGHT_STEP(step, "compare");
    td_profile_step_bytes(step, golden->elems * golden->dtype.bytes);
    unsigned char *const data = actual->data;
    td_slabs_of_tensor(&data, actual->dtype.bytes, golden->elems, compare_slabs, &c);
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

td_status td_compare(const td_comparison *what, td_report **out)
{
    td_policy policy;
    if (!what || !out)
        return td_fail(TD_ARGUMENT, "compare: the %s is NULL; pass one", what ? "output" : "comparison");
    const td_call call = {.operation = what->actual || !what->layout ? "tensor_compare" : "backdoor_compare_tensor",
                          .bank = (const td_memory *const *)what->banks,
                          .banks = what->bank_count,
                          .tensor = what->golden,
                          .layout = what->layout,
                          .as = what->as,
                          .compares = true};
    TD_OPERATION(operation, call.operation);
    const unsigned mode = td_mode_enter();
    td_status status = read_policy(what->policy, &policy);
    if (!status && what->banks && what->actual)
        status = td_fail(TD_ARGUMENT, "a comparison with memories and with an actual tensor; pass one of them");
    if (status)
        td_call_fail(&call, status);
    else
        status = what->banks ? compare_memory(&call, what, &policy, out) : compare_tensors(&call, what, &policy, out);
    td_mode_leave(mode);
    if (!status) {
        td_profile_step_bytes(operation, what->golden->elems * what->golden->dtype.bytes);
        td_record(&(td_recorded){.kind = TD_RECORDED_COMPARE, .comparison = what});
    }
    return status;
}
