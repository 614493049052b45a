/* See judging.h. */
#include "compare/judging.h"

#include "base/profile.h"
#include "compare/whole.h"
#include "plan/copies.h"

#include <stdlib.h>
#include <string.h>

/* Elements that are converted, gathered and judged together. */
#define BATCH_ELEMS TD_TOLERANCE_ELEMS

/* Buffers for the slabs that are left; allocated for the first of them. */
typedef struct td_judging_scratch {
    _Alignas(64) unsigned char slab[TD_SLAB_BYTES], actual[BATCH_ELEMS * 8], golden[BATCH_ELEMS * 8];
    td_tolerance_scratch tolerance;
} scratch;

/* `count` elements: `step` tensor elements apart from `elem` on, `place` in their slab. */
typedef struct batch {
    uint64_t elem, place, count;
    int64_t step;
    const unsigned char *expected, *actual;
} batch;

/* -- pairs --------------------------------------------------------------------------------------------------------- */

static void look_at(td_judging *c, const batch *k, uint64_t i, uint64_t expected, uint64_t actual)
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

static void look_at_batch(td_judging *c, const batch *k)
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
static bool is_close(td_judging *c, const batch *k)
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

static uint64_t count_masked(const td_judging *c, const batch *k)
{
    uint64_t masked = 0;
    for (uint64_t i = 0; i < k->count && c->what->mask; i++)
        masked += td_is_masked(c->what->mask, k->elem + (uint64_t)((int64_t)i * k->step));
    return masked;
}

static void compare_batch(td_judging *c, const batch *k)
{
    c->report->masked += count_masked(c, k);
    if (c->report->judge.bits_decide && !c->unknown &&
        memcmp(k->expected, k->actual, k->count * c->report->dtype.bytes) == 0)
        return;
    if (!is_close(c, k))
        look_at_batch(c, k);
}

/* `count` stored elements, from `place` in their slab on, whose tensor elements are `step` apart. */
static void compare_row(td_judging *c, const unsigned char *stored, unsigned stored_bytes, uint64_t place,
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
static void compare_slab(td_judging *c, const td_slab *slab)
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

static void compare_left(td_judging *c, td_slabs *slabs, uint64_t first, size_t count)
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
static size_t accept_some(td_judging *c, const td_slabs *slabs, uint64_t first)
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
    td_judging *c = context;
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
    td_judging *c = context;
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
static td_status accept_first(td_judging *c, const td_run *run, bool *accepted)
{
    td_run once = *run;
    const td_plan *plan = run->plan;
    *accepted = false;
    if (c->unknown || c->what->mask)
        return TD_OK;
    const bool same = plan->copies && td_exec_copies_same(run);
    const bool by_bits = c->report->judge.bits_decide && !c->accept.only_finite;
    if (same)
        once.plan = &plan->copies->once;
    if (!by_bits || !td_whole_equal(&once, c->what->golden)) {
        c->all = same;
        const td_status status = same ? td_slabs_walk(&once, &c->accept.wish, accept_all, c) : TD_OK;
        if (status || !c->all || c->report->failed)
            return status;
    }
    *accepted = true;
    c->done = td_plan_count(plan);
    if (c->what->progress)
        c->what->progress(c->what->context, c->total, c->total);
    return TD_OK;
}

/* -- all of them --------------------------------------------------------------------------------------------------- */

td_status td_judge_memory(td_judging *c, const td_run *run)
{
    TD_LIGHT_STEP(step, "compare");
    bool accepted = false;
    td_profile_step_bytes(step, c->what->golden->elems * c->what->golden->dtype.bytes);
    const td_status status = accept_first(c, run, &accepted);
    return status || accepted ? status : td_slabs_walk(run, &c->accept.wish, compare_slabs, c);
}

void td_judge_tensor(td_judging *c)
{
    TD_LIGHT_STEP(step, "compare");
    const td_tensor *golden = c->what->golden, *actual = c->what->actual;
    td_profile_step_bytes(step, golden->elems * golden->dtype.bytes);
    unsigned char *const data = actual->data;
    td_slabs_of_tensor(&data, actual->dtype.bytes, golden->elems, compare_slabs, c);
}
