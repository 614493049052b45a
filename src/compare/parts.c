/* Compares the parts in memories with a golden tensor: td_backdoor_compare_parts. The parts are dumped, and every
 * element is judged at its place: by codes, or by values in steps of the element at its block's scale. What is found
 * goes into a report of the elements, which also says block and scale of the first mismatches, and which packing would
 * have made what the memories hold. */
#include "backdoor/parts.h"
#include "base/fp_mode.h"
#include "base/profile.h"
#include "base/record.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    td_placed *placed; /* its tensors are what the memories hold */
    const td_tensor *golden;
    td_parts *expected; /* the golden tensor's parts */
    td_tensor *made;    /* the values of these, in the golden tensor's dtype */
    td_tensor *found;   /* the values of the memories, likewise */
    td_report *report;
    td_judge judge; /* of values: steps of the golden tensor's dtype do not count */
    bool by_codes;
    double ulp; /* steps that are accepted; negative: none */
    td_report_source source;
} comparison;

/* -- one element -- */

static uint64_t code_at(const td_tensor *t, uint64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, t->data + i * t->dtype.bytes, t->dtype.bytes);
    return bits & td_dtype_mask(t->dtype);
}

/* The number of an element's block among the scales, and its coordinates. */
static uint64_t block_of(const td_parts *p, uint64_t elem, td_shape *at)
{
    const td_shape *count = &p->form[TD_PART_SCALES].shape;
    uint64_t number = 0;
    td_shape_at(&p->shape, elem, at);
    for (size_t d = 0; d < at->rank; d++) {
        at->dim[d] /= p->block.dim[d];
        number = number * count->dim[d] + at->dim[d];
    }
    return number;
}

/* The distance from a code to the next one away from zero, or below it where it is the last. */
static double step_of(td_dtype t, uint64_t code)
{
    if (t.kind != TD_KIND_FLOAT)
        return ldexp(1, -(int)t.frac_bits);
    const uint64_t magnitude = code & (((uint64_t)1 << (t.bits - 1)) - 1), most = td_dtype_max_bits(t);
    const uint64_t low = magnitude < most ? magnitude : most - 1;
    return td_dtype_to_real(t, low + 1) - td_dtype_to_real(t, low);
}

/* What one step of an element is worth: its scale in memory, times the tensor's. */
static double unit_of(const td_parts *p, uint64_t block)
{
    const uint64_t code = code_at(p->tensor[TD_PART_SCALES], block);
    if (p->packing.rule == TD_RULE_SHARED)
        return ldexp(1, (int)code - 125 - (int)p->packing.elem.bits);
    double unit = td_dtype_to_real(p->packing.scale, code);
    if (p->tensor[TD_PART_GLOBAL])
        unit *= td_dtype_to_real(p->form[TD_PART_GLOBAL].dtype, code_at(p->tensor[TD_PART_GLOBAL], 0));
    return fabs(unit);
}

static bool same_codes(const comparison *c, uint64_t elem, uint64_t block)
{
    const td_parts *a = c->expected, *b = c->placed->parts;
    const uint64_t at[TD_MOST_PARTS] = {
        [TD_PART_ELEMS] = elem, [TD_PART_SCALES] = block, [TD_PART_ZEROS] = block, [TD_PART_GLOBAL] = 0};
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (b->tensor[kind] && code_at(a->tensor[kind], at[kind]) != code_at(b->tensor[kind], at[kind]))
            return false;
    return true;
}

static td_verdict judge_blocks(const comparison *c, uint64_t elem, uint64_t expected, uint64_t actual)
{
    const td_parts *p = c->placed->parts;
    td_shape at;
    const uint64_t block = block_of(p, elem, &at), code = code_at(p->tensor[TD_PART_ELEMS], elem);
    const uint64_t bare = p->packing.rule == TD_RULE_SHARED ? 0 : code;
    td_verdict v = td_judge_pair(&c->judge, expected, actual);
    const double step = (p->packing.rule == TD_RULE_SHARED ? 1 : step_of(p->packing.elem, bare)) * unit_of(p, block);
    const double steps = v.error == 0 ? 0 : v.error / step;
    v.ulp = !(steps < 0x1p63) ? UINT64_MAX : (uint64_t)ceil(steps);
    if (c->by_codes)
        v.equal = same_codes(c, elem, block);
    else if (!v.equal && !v.apart && isfinite(v.error))
        v.equal = v.error <= c->ulp * step;
    return v;
}

static void look_at(comparison *c, uint64_t elem, const td_place *place)
{
    const td_tensor *expected = c->by_codes ? c->made : c->golden;
    const uint64_t e = code_at(expected, elem), a = code_at(c->found, elem);
    const td_verdict v = c->placed->parts->is_sparse ? td_judge_pair(&c->judge, e, a) : judge_blocks(c, elem, e, a);
    td_report_worst(c->report, v);
    c->report->compared++;
    if (!v.equal)
        td_report_mismatch(c->report, &c->source, elem, e, a, v, place);
}

/* -- all of them, where they lie -- */

typedef void visit_fn(void *context, uint64_t elem, const td_place *place);

/* Every element of a plan with its place; of one in several pieces, that of its lowest bits. */
static void visit_all(const td_plan *plan, visit_fn *visit, void *context)
{
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_box *box = &plan->data[b];
        const td_piece whole = {.bits = (uint8_t)plan->memory_dtype.bits},
                       *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
        td_walk w;
        for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more; td_walk_next(&w))
            for (size_t i = 0; i < (box->piece_count ? box->piece_count : 1); i++) {
                const td_at at = {w.at.tensor + piece[i].tensor, w.at.memory + piece[i].memory, w.at.select};
                const td_place place = td_place_of(plan, at, piece[i].bits);
                if (piece[i].elem_bit == 0)
                    visit(context, (uint64_t)at.tensor, &place);
            }
    }
}

static void visit_element(void *context, uint64_t elem, const td_place *place)
{
    look_at(context, elem, place);
}

/* The places of the wanted codes of a part that has one for every block. */
typedef struct wanted {
    const td_placed_part *part;
    struct td_report_parts *out;
    const uint64_t *block; /* of each note */
    bool zeros;
} wanted;

static void visit_block(void *context, uint64_t elem, const td_place *place)
{
    const wanted *w = context;
    for (size_t i = 0; i < w->out->notes; i++)
        if (w->block[i] == elem) {
            td_note_place *to = w->zeros ? &w->out->note[i].zero_at : &w->out->note[i].scale_at;
            to->at = *place;
            snprintf(to->memory, sizeof to->memory, "%.63s", w->part->bank[place->bank]->name);
        }
}

/* -- what the report says about parts -- */

static void add_counts(const comparison *c, struct td_report_parts *out)
{
    const td_parts *a = c->expected, *b = c->placed->parts;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        if (!b->tensor[kind])
            continue;
        td_part_count *n = &out->part[out->count++];
        snprintf(n->name, sizeof n->name, "%s", b->form[kind].name);
        snprintf(n->memory, sizeof n->memory, "%.63s", c->placed->part[kind].bank[0]->name);
        td_dtype_print(b->form[kind].dtype, n->dtype);
        n->compared = b->tensor[kind]->elems;
        for (uint64_t i = 0; i < n->compared; i++)
            n->mismatches += code_at(a->tensor[kind], i) != code_at(b->tensor[kind], i);
    }
}

static td_status add_notes(const comparison *c, struct td_report_parts *out)
{
    const td_parts *a = c->expected, *b = c->placed->parts;
    const td_report *r = c->report;
    if (b->is_sparse || !r->first_count)
        return TD_OK;
    out->note = calloc(r->first_count, sizeof *out->note);
    uint64_t *block = calloc(r->first_count, sizeof *block);
    if (!out->note || !block) {
        free(block);
        return td_fail_alloc(r->first_count * sizeof *out->note);
    }
    out->notes = r->first_count;
    out->zeros = b->tensor[TD_PART_ZEROS] != NULL;
    out->elem = b->packing.elem;
    out->scale = b->packing.scale;
    out->zero = b->form[TD_PART_ZEROS].dtype;
    for (size_t i = 0; i < out->notes; i++) {
        td_part_note *n = &out->note[i];
        block[i] = block_of(b, r->first[i].elem, &n->block);
        for (int side = 0; side < 2; side++) {
            const td_parts *p = side ? b : a;
            n->code[side] = code_at(p->tensor[TD_PART_ELEMS], r->first[i].elem);
            n->scale[side] = code_at(p->tensor[TD_PART_SCALES], block[i]);
            n->zero[side] = out->zeros ? code_at(p->tensor[TD_PART_ZEROS], block[i]) : 0;
        }
    }
    for (int zeros = 0; zeros <= (int)out->zeros; zeros++) {
        const td_placed_part *part = &c->placed->part[zeros ? TD_PART_ZEROS : TD_PART_SCALES];
        visit_all(part->plan, visit_block, &(wanted){.part = part, .out = out, .block = block, .zeros = zeros != 0});
    }
    free(block);
    return TD_OK;
}

/* Which packing made what the memories hold, as the surest of the guesses. */
static td_status add_fit(const comparison *c, const struct td_report_parts *parts)
{
    char *text = NULL;
    uint64_t differ = 0;
    for (size_t i = 0; i < parts->count; i++)
        differ += parts->part[i].mismatches;
    if (!differ)
        return TD_OK;
    const td_status status = td_parts_fit(c->placed->parts, c->golden, &text);
    if (!status && (!strstr(text, "are those of the packing") || strchr(text, ';')))
        td_report_say(c->report, "%s", text);
    td_free(text);
    return status;
}

static td_status describe(comparison *c)
{
    td_report *r = c->report;
    struct td_report_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return td_fail_alloc(sizeof *parts);
    r->parts = parts;
    snprintf(parts->packing, sizeof parts->packing, "%.255s", c->placed->packing);
    add_counts(c, parts);
    td_report_sort(r);
    td_status status = add_notes(c, parts);
    if (!status && r->mismatches)
        status = add_fit(c, parts);
    if (!status && r->mismatches)
        td_report_guess_all(r, c->by_codes ? c->made : c->golden, NULL, NULL);
    return status;
}

/* -- the call -- */

static td_status make_tensor(const comparison *c, const td_parts *parts, td_tensor **out)
{
    td_status status = td_tensor_create(c->golden->dtype_name, c->golden->shape, out);
    return status ? status : td_parts_unpack_into(parts, *out);
}

/* Sparse parts that name places which the tensor does not have: another packing may have made them, and its name goes
 * behind the message. */
static td_status fail_places(const comparison *c, td_status status)
{
    char *message = strdup(td_last_error()), *text = NULL;
    if (message && td_parts_fit(c->placed->parts, c->golden, &text) == TD_OK)
        td_fail(status, "%s\n    %s", message, text);
    else if (message)
        td_fail(status, "%s", message);
    free(message);
    td_free(text);
    return status;
}

static td_status make_values(comparison *c)
{
    td_status status = td_parts_of(c->placed->packing, &c->golden->shape, c->golden, &c->expected);
    if (!status)
        status = td_parts_make_tensors(c->expected, "");
    if (!status)
        status = td_parts_pack_into(c->expected, c->golden);
    if (!status)
        status = make_tensor(c, c->expected, &c->made);
    if (status)
        return status;
    status = make_tensor(c, c->placed->parts, &c->found);
    return status == TD_RANGE ? fail_places(c, status) : status;
}

static td_status open_report(comparison *c, const td_policy *policy)
{
    const td_placed_part *elems = &c->placed->part[TD_PART_ELEMS];
    const td_layout *layout = elems->layout;
    td_policy values = *policy;
    const bool sparse = c->placed->parts->is_sparse; /* its values are not where its elements were: no places */
    td_report *r = td_report_new(sparse ? NULL : elems->bank[0]->name, sparse ? NULL : layout, c->golden, NULL);
    if (!r)
        return td_fail_alloc(sizeof *r);
    r->dtype = c->golden->dtype;
    r->stored = elems->like.dtype;
    r->shape = c->golden->shape;
    r->geometry = elems->plan->geometry;
    r->slot_bits = layout->slot_bits ? layout->slot_bits : r->stored.bits;
    r->lsb_bits = layout->flat ? 0 : layout->lsb_bits;
    r->lanes_msb = layout->lanes_msb;
    td_judge_init(policy, r->dtype, &r->judge);
    values.has_real = true; /* with atol=0 alone: equal values */
    values.has_ulp = sparse && policy->has_ulp;
    td_judge_init(&values, r->dtype, &c->judge);
    c->by_codes = !policy->tolerant;
    c->ulp = policy->has_ulp ? (double)policy->ulp : -1;
    c->source.layout = sparse ? NULL : layout;
    c->source.bank = sparse ? NULL : elems->bank;
    c->source.banks = elems->banks;
    c->source.plan = elems->plan;
    c->report = r;
    return TD_OK;
}

static td_status compare(comparison *c, const td_policy *policy)
{
    td_status status = td_placed_dump(c->placed);
    if (status)
        return status;
    status = make_values(c);
    if (!status)
        status = open_report(c, policy);
    if (!status) {
        const td_placed_part *elems = &c->placed->part[TD_PART_ELEMS];
        if (c->placed->parts->is_sparse)
            for (uint64_t i = 0; i < c->golden->elems; i++)
                look_at(c, i, NULL);
        else
            visit_all(elems->plan, visit_element, c);
        if (!c->placed->parts->is_sparse)
            td_report_name_banks(c->report, elems->bank, elems->banks);
        status = c->report->failed ? TD_OK : describe(c);
    }
    if (!status && c->report->failed)
        status = td_fail_alloc(TD_REPORT_CELLS * sizeof(td_grid_cell));
    if (status)
        td_fail_prefix("%s: ", c->placed->operation);
    return status;
}

static td_status check_policy(const char *text, td_policy *policy)
{
    td_status status = td_policy_parse(text, policy);
    if (!status && policy->check_pad)
        status = td_fail(TD_OPTION, "check_pad in a comparison of parts; compare the part whose padding it is alone");
    if (status)
        td_fail_prefix("backdoor_compare_parts: ");
    return status;
}

td_status td_backdoor_compare_parts(td_memory *const *memories, size_t count, const td_tensor *golden,
                                    const td_parts_layout *layout, const char *policy, td_report **out)
{
    TD_OPERATION(operation, "backdoor_compare_parts");
    td_policy parsed;
    td_placed placed = {0};
    if (!out)
        return td_fail(TD_ARGUMENT, "backdoor_compare_parts: the output is NULL; pass one");
    td_status status = check_policy(policy, &parsed);
    if (status)
        return status;
    const unsigned mode = td_mode_enter();
    comparison c = {.placed = &placed, .golden = golden};
    status = td_placed_open(&(td_parts_call){.operation = "backdoor_compare_parts",
                                             .memories = memories,
                                             .count = count,
                                             .tensor = golden,
                                             .layout = layout,
                                             .from_tensor = true},
                            &placed);
    if (!status)
        status = compare(&c, &parsed);
    if (status)
        td_report_destroy(&c.report);
    else
        *out = c.report;
    td_parts_destroy(&c.expected);
    td_tensor_destroy(&c.made);
    td_tensor_destroy(&c.found);
    td_mode_leave(mode);
    return td_record_other("backdoor_compare_parts", td_placed_close(&placed, status));
}
