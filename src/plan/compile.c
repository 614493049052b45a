/* Makes a plan, from binding to the choice of the kernel: run_passes lists every pass in order, passes.h says what
 * each takes and gives. cache.c calls td_plan_create for a plan that it does not have yet. Every refusal of a layout
 * for a shape and a memory comes from these passes. */
#include "base/cpu.h"
#include "base/profile.h"
#include "plan/copies.h"
#include "plan/passes.h"
#include "plan/stage.h"

#include <stdlib.h>
#include <string.h>

/* What passes hand to each other and a plan does not keep. */
typedef struct work {
    td_bound bound;
    td_lanes lanes;
    td_words words;  /* where they belong */
    td_words placed; /* where the boxes put them: the same, or dense */
    td_regions written;
} work;

static td_status read_pad(const td_plan_request *request, td_plan *plan)
{
    const char *pad = request->layout->pad;
    const td_status status = pad ? td_dtype_from_text(request->memory_dtype, pad, &plan->pad_bits) : TD_OK;
    if (status)
        td_fail_prefix("option pad=%s: ", pad);
    return status;
}

/* Facts about the plan from what the passes before found. */
static void take_facts(const td_plan_request *request, const work *w, td_plan *plan)
{
    const td_bound *bound = &w->bound;
    plan->cell_bits = w->lanes.cell_bits;
    plan->repeats = bound->repeats;
    plan->windows = bound->slides;
    plan->skewed = bound->layout->skews != 0;
    plan->truncates = request->truncate && !w->lanes.by_strides;
    plan->elems = 1;
    for (size_t d = 0; d < bound->rank; d++)
        plan->elems *= bound->dim[d].length;
    plan->part_of_bytes = request->part_of_bytes;
    plan->load_of_bytes = request->load_of_bytes;
    if (request->pitch)
        plan->elems = bound->dim[0].length * request->pitch;
}

/* The tables of kernels, which a thread fills again only when the instruction sets have changed. */
static const td_kernels *find_kernels(void)
{
    static _Thread_local td_kernels kernels;
    const unsigned flags = td_cpu_flags();
    if (!kernels.move.copy || kernels.cpu_flags != flags) {
        kernels.cpu_flags = flags;
        td_move_init(&kernels.move, flags);
        td_pack_init(&kernels.pack, flags);
        td_pad_init(&kernels.pad, flags);
        td_gather_init(&kernels.gather, flags);
        td_pack_words_init(&kernels.pack_words, flags);
    }
    return &kernels;
}

static td_status run_passes(const td_plan_request *request, work *w, td_plan *plan);

/* A dump of elements that have copies runs a plan of its own, in which each has one place. */
static td_status finish_copies(td_plan *plan)
{
    td_plan *once = &plan->copies->once;
    const td_status status = run_passes(NULL, NULL, once);
    if (status)
        return status;
    memcpy(plan->path_use[1], once->path_use[1], sizeof plan->path_use[1]);
    return TD_OK;
}

/* alias=last: words share a place because some axis does not move, so that dropping its other steps is all there is to
 * do. */
static bool can_drop(const td_bound *bound, const td_words *words)
{
    return words->by_strides && !bound->layout->flat && !bound->layout->skews && !bound->repeats && !bound->slides;
}

/* Without a request the plan has its boxes already, and the passes that make them are left out. */
static td_status run_passes(const td_plan_request *request, work *w, td_plan *plan)
{
    td_status status = TD_OK;
    if (request) {
        status = td_bind(request->layout, request->shape, &w->bound);
        if (!status && request->pitch)
            td_bind_pitch(&w->bound, request->pitch);
        status = status ? status : read_pad(request, plan);
        status = status ? status : td_lanes_place(&w->bound, request, &w->lanes);
        status = status ? status : td_words_find(&w->bound, request->geometry.width_bits, !plan->in_order, &w->words);
        if (!status && request->last && !can_drop(&w->bound, &w->words))
            return td_fail(TD_ALIAS, "\"%s\" has no words to drop", request->layout->pattern.text);
        status = status || w->words.by_strides
                     ? status
                     : td_words_table(&w->bound, !request->dense && !plan->in_order, &w->words, plan);
        w->placed = request->dense && !status ? td_words_dense(&w->bound, &w->words) : w->words;
        status = status ? status : td_boxes_make(&w->bound, request, &w->lanes, &w->placed, plan, &w->written);
        status = status ? status : td_words_check(&w->bound, &w->words, plan, &w->written);
        status = status || request->dense || plan->in_order ? status : td_table_find_lines(plan);
        status = status || !request->dense ? status : td_words_keep(&w->bound, &w->words, plan);
        status = status ? status : td_lanes_mask(&w->bound, request, &w->lanes, plan);
        status = status || !plan->fills_pads ? status : td_fills_find(&w->bound, request, &w->lanes, plan);
        if (status)
            return status;
        take_facts(request, w, plan);
        status = request->last ? TD_OK : td_copies_find(&w->bound, &w->lanes, &w->placed, plan);
        if (status)
            return status;
        td_boxes_fold(plan);
    }
    const td_kernels *kernels = find_kernels();
    status = td_moves_choose(plan, kernels);
    if (status)
        return status;
    td_loops_order(plan);
    if (plan->tune)
        td_loops_tune(plan);
    td_moves_finish(plan);
    status = td_gathers_choose(plan, kernels);
    status = status ? status : td_fills_attach(plan, kernels);
    status = status ? status : td_rows_choose(plan, kernels);
    status = status ? status : td_stages_choose(plan, kernels);
    if (status)
        return status;
    td_fills_join(plan);
    td_path_find(plan);
    if (plan->last)
        memcpy(plan->path_use[0], plan->last->path_use[0], sizeof plan->path_use[0]);
    return plan->copies ? finish_copies(plan) : TD_OK;
}

static td_status create(const td_plan_request *request, td_plan *last, td_plan **out)
{
    work *w = calloc(1, sizeof *w);
    td_plan *plan = calloc(1, sizeof *plan);
    td_status status = TD_OK;
    if (!w || !plan) {
        status = td_fail_alloc(sizeof *w + sizeof *plan);
        goto done;
    }
    *plan = (td_plan){.geometry = request->geometry,
                      .tensor_dtype = request->tensor_dtype,
                      .memory_dtype = request->memory_dtype,
                      .beats = request->layout->beats,
                      .in_order = request->layout->alias_last && !request->last && !last,
                      .last = last,
                      .tune = request->layout->tune};
    atomic_init(&plan->users, 1);
    status = run_passes(request, w, plan);
    free(w->written.region);
    free(w->words.piece);
done:
    free(w);
    if (status && plan)
        plan->last = NULL; /* still the caller's */
    if (status)
        td_plan_release(&plan);
    else
        *out = plan;
    return status;
}

td_status td_plan_create(const td_plan_request *request, td_plan **out)
{
    TD_STEP(step, "plan");
    td_plan *last = NULL;
    if (!request->layout->alias_last || request->dense)
        return create(request, NULL, out);
    td_plan_request only = *request;
    only.last = true;
    if (create(&only, NULL, &last) == TD_OK && create(request, last, out) == TD_OK)
        return TD_OK;
    td_plan_release(&last); /* word by word, then; what is refused is refused there */
    return create(request, NULL, out);
}

td_status td_moves_create(td_plan *plan)
{
    return run_passes(NULL, NULL, plan);
}

void td_moves_free(td_plan *plan)
{
    for (size_t i = 0; plan->move && i < 2 * plan->data_count; i++) {
        free(plan->move[i].picks);
        td_shuffle_free(plan->move[i].shuffle);
        free(plan->move[i].fold);
        free(plan->move[i].fill);
    }
    td_stages_free(plan);
    free(plan->move);
    free(plan->gather);
    free(plan->rows);
    free(plan->pad_rows);
    plan->move = NULL;
    plan->gather = NULL;
    plan->rows = NULL;
    plan->pad_rows = NULL;
}
