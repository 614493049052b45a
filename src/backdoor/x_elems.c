/* Elements with bits that are x or z (x_elems.h). Those bits lie in a second memory of the same geometry, the plane,
 * so a plan that moves elements moves their unknown bits too: a dump of the plane tells which elements have some,
 * and a load of zeros clears those that a load has written. Called by call.c; refuses with TD_X_STATE where the
 * policy is x=error. */
#include "backdoor/x_elems.h"

#include "backdoor/call.h"
#include "exec/plain.h"
#include "kernels/bits.h"
#include "plan/copies.h"
#include "plan/move.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 8 /* elements that a message names */

/* A call on the planes with a tensor of the memory's own dtype, which moves bits as they are. */
typedef struct planes {
    td_call call;
    char dtype[TD_DTYPE_NAME_BYTES];
    td_tensor *tensor; /* zeros */
    td_memory *none;   /* for banks that have no plane */
    const td_memory **bank;
    unsigned char **data;
    td_plan *plan;
} planes;

static void close_planes(planes *p)
{
    td_plan_release(&p->plan);
    td_tensor_destroy(&p->tensor);
    td_memory_destroy(&p->none);
    free(p->data);
    free(p->bank);
}

static td_status open_planes(const td_call *c, td_dtype memory_dtype, planes *p)
{
    *p = (planes){.call = *c};
    td_dtype_print(memory_dtype, p->dtype);
    p->bank = calloc(c->banks, sizeof(void *));
    p->data = calloc(c->banks, sizeof *p->data);
    td_status status = p->bank && p->data ? td_tensor_create(p->dtype, c->tensor->shape, &p->tensor)
                                          : td_fail_alloc(c->banks * 2 * sizeof(void *));
    if (!status)
        status = td_memory_create("none", c->bank[0]->width_bits, c->bank[0]->depth_words, &p->none);
    for (size_t i = 0; i < c->banks && !status; i++) {
        p->bank[i] = c->bank[i]->unknown_any ? c->bank[i]->unknown : p->none;
        p->data[i] = p->bank[i]->data;
    }
    p->call.bank = p->bank;
    p->call.tensor = p->tensor;
    p->call.as = p->dtype;
    if (!status)
        status = td_call_plan(&p->call, memory_dtype, &p->plan);
    if (status)
        close_planes(p);
    return status;
}

uint64_t td_x_bits(const td_x_elems *x, uint64_t elem)
{
    uint64_t bits = 0;
    memcpy(&bits, x->flags + elem * x->bytes, x->bytes);
    return bits;
}

static td_status refuse(const td_call *c, const td_x_elems *x, td_dtype memory_dtype)
{
    const td_tensor *tensor = c->tensor;
    const uint64_t mask = td_dtype_mask(memory_dtype);
    uint64_t count = 0, first = 0;
    for (uint64_t i = tensor->elems; i-- > 0;)
        if (td_x_bits(x, i)) {
            count++;
            first = i;
        }
    td_shape at;
    td_shape_at(&tensor->shape, first, &at);
    char text[TD_SHAPE_TEXT_BYTES];
    td_fail(TD_X_STATE,
            "element %s is x or z in bits 0x%" PRIx64 " of its %u, %" PRIu64 " of %" PRIu64
            " elements are; let the design drive them first, or set the memory's policy to x=zero or x=keep",
            td_shape_print(&at, text), td_x_bits(x, first) & mask, memory_dtype.bits, count, tensor->elems);
    for (uint64_t i = first + 1, listed = 1; i < tensor->elems && listed < LISTED; i++) {
        if (!td_x_bits(x, i))
            continue;
        td_shape_at(&tensor->shape, i, &at);
        td_fail_append("%s%s", listed == 1 ? "\nalso " : ", ", td_shape_print(&at, text));
        listed++;
    }
    return TD_X_STATE;
}

/* Whether a bit is set: it is not where the first byte is 0 and every byte equals the one before it. */
static bool any_bit(const unsigned char *data, size_t bytes)
{
    return bytes && (data[0] || memcmp(data, data + 1, bytes - 1) != 0);
}

/* A row whose elements lie close together and have no such bit, nor has what lies between them. */
static bool is_known(const td_run *run, const td_box *box, const td_node *row, const unsigned char *ground, td_at at)
{
    const int64_t span = row->memory * (int64_t)(row->extent - 1) + run->plan->memory_dtype.bits;
    if (box->piece_count || row->memory < 0 || row->memory > 16 * 8)
        return false;
    const int64_t first = at.memory >> 3, last = (at.memory + span - 1) >> 3;
    return !any_bit(ground + first, (size_t)(last - first + 1));
}

/* Every copy of an element adds its bits: unknown in one is enough. */
static void or_row(const td_run *run, const td_box *box, const td_node *row, td_at at)
{
    static const td_piece whole = {0};
    const unsigned char *ground = td_ground_at(run->plan, run->bank, at.select);
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    const td_piece *piece = box->piece_count ? run->plan->piece + box->first_piece : &whole;
    const size_t lanes = box->piece_count ? box->piece_count : 1;
    if (is_known(run, box, row, ground, at))
        return;
    for (uint64_t i = 0; i < row->extent; i++, at = td_at_step(at, row, 1))
        for (size_t k = 0, used = 0; k < lanes; k += used) {
            unsigned char *elem = run->tensor + (at.tensor + piece[k].tensor) * bytes;
            const size_t left = box->piece_count ? box->piece_count - k : 0;
            const uint64_t bits = td_memory_value(run, ground, at.memory, piece + k, left, &used);
            td_put_elem(elem, bytes, td_get_elem(elem, bytes) | bits);
        }
}

/* The bits of each element, or-ed over its copies: those of one copy where all have the same. */
static void dump_planes(const td_run *run)
{
    const td_plan *plan = run->plan;
    td_run once = *run;
    if (plan->slides || (plan->copies && !td_exec_copies_same(run)))
        td_plain_run(run, plan->data, plan->data_count, or_row);
    else {
        once.plan = plan->copies ? &plan->copies->once : plan;
        td_exec_dump(&once);
    }
}

td_status td_x_begin(const td_call *c, td_dtype memory_dtype, td_x_elems *out)
{
    const td_x_policy policy = c->bank[0]->x;
    *out = (td_x_elems){.bytes = memory_dtype.bytes};
    if ((!c->writes_tensor && !c->compares) || policy == TD_X_ZERO)
        return TD_OK;
    planes p;
    td_status status = open_planes(c, memory_dtype, &p);
    if (status)
        return status;
    const td_run run = {.plan = p.plan, .bank = p.data, .tensor = p.tensor->data};
    dump_planes(&run);
    if (any_bit(p.tensor->data, (size_t)p.tensor->elems * memory_dtype.bytes)) {
        out->flags = malloc(p.tensor->elems * memory_dtype.bytes);
        const size_t bytes = (size_t)c->tensor->elems * c->tensor->dtype.bytes;
        out->saved = c->writes_tensor ? malloc(bytes) : NULL;
        if (!out->flags || (c->writes_tensor && !out->saved))
            status = td_fail_alloc(p.tensor->elems * memory_dtype.bytes + bytes);
        else {
            memcpy(out->flags, p.tensor->data, p.tensor->elems * memory_dtype.bytes);
            if (out->saved)
                memcpy(out->saved, c->tensor->data, bytes);
            if (policy == TD_X_ERROR)
                status = refuse(c, out, memory_dtype);
        }
    }
    close_planes(&p);
    if (status) {
        free(out->flags);
        free(out->saved);
        *out = (td_x_elems){0};
    }
    return status;
}

/* Zeros go where the load went, its padding too. */
static td_status make_known(const td_call *c, td_dtype memory_dtype)
{
    planes p;
    td_status status = open_planes(c, memory_dtype, &p);
    if (status)
        return status;
    td_plan zeros = *p.plan;
    zeros.pad_bits = 0;
    if (zeros.fill_count) { /* the words are filled with the padding of the layout: write it lane by lane instead */
        const size_t bytes = 2 * zeros.data_count * sizeof *zeros.move;
        zeros.fills_pads = false;
        zeros.move = malloc(bytes);
        if (zeros.move)
            memcpy(zeros.move, p.plan->move, bytes);
        else
            status = td_fail_alloc(bytes);
        for (size_t i = 0; i < 2 * zeros.data_count && !status; i++)
            zeros.move[i].fill = NULL;
    }
    if (!status)
        td_exec_load(&(td_run){.plan = &zeros, .bank = p.data, .tensor = p.tensor->data});
    if (zeros.move != p.plan->move)
        free(zeros.move);
    close_planes(&p);
    return status;
}

/* Elements that are x or z keep the value that they had. Blocks without any are passed over. */
#define BLOCK_ELEMS 64

static void restore(const td_tensor *tensor, const td_x_elems *x, unsigned bytes)
{
    for (uint64_t first = 0; first < tensor->elems; first += BLOCK_ELEMS) {
        const uint64_t left = tensor->elems - first, count = left < BLOCK_ELEMS ? left : BLOCK_ELEMS;
        if (!any_bit(x->flags + first * x->bytes, (size_t)count * x->bytes))
            continue;
        for (uint64_t i = first; i < first + count; i++)
            if (td_x_bits(x, i))
                memcpy(tensor->data + i * bytes, x->saved + i * bytes, bytes);
    }
}

td_status td_x_make_known(const td_call *c, td_dtype memory_dtype, td_x_elems *x)
{
    x->known = true;
    return make_known(c, memory_dtype);
}

td_status td_x_end(const td_call *c, td_dtype memory_dtype, td_x_elems *x, td_status status)
{
    const unsigned bytes = c->tensor->dtype.bytes;
    if (!status && !c->writes_tensor && !c->compares && !x->known)
        status = make_known(c, memory_dtype);
    if (x->flags && x->saved && !status)
        restore(c->tensor, x, bytes);
    free(x->flags);
    free(x->saved);
    *x = (td_x_elems){0};
    return status;
}
