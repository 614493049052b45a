/* Runs stages (plan/stage.h): batch by batch, the elements of some units are gathered, converted, packed and placed, or
 * the reverse. Called by exec.c. The scratch is on the stack and little larger than the first-level cache, so that
 * what one step writes the next mostly finds there. */
#include "exec/run_staged.h"

#include "base/pool.h"
#include "exec/staged_units.h"
#include "plan/move.h"

#include <string.h>

#define VECTOR_RUN 32 /* units that are packed faster together with others, where that is by vectors */

typedef struct scratch {
    _Alignas(64) unsigned char tensor[TD_STAGE_MOST], memory[TD_STAGE_MOST], words[TD_STAGE_MOST];
    td_stage_list list;
} scratch;

/* Units go through a scratch where their places have no stride, or too few of them have, or where they are packed as
 * one row, or by vectors, and lie apart. */
static bool needs_words(const td_stage_job *j, const td_stage_batch *b)
{
    const td_node *run = &b->unit[b->count];
    const td_word_code *code = &j->stage->code;
    const bool by_vectors = (code->vectors || (j->dump ? code->unpacks : code->packs)) && (j->dump || j->stage->whole);
    if (by_vectors && run->extent < VECTOR_RUN && b->units >= 2 * run->extent && !j->stage->overlaps)
        return true;
    if (j->stage->dense && run->extent > 1 && run->memory != 8 * (int64_t)j->stage->code.bytes)
        return true;
    if (by_vectors && run->extent > 1 && !j->stage->overlaps && run->memory != 8 * (int64_t)j->stage->code.bytes)
        return true;
    return (run->select && run->extent > 1) ||
           (run->extent < TD_STAGE_SHORT_RUN && b->units > run->extent && !j->stage->overlaps);
}

/* Units without gaps, side by side, are one long row. */
static void pack_run(const td_stage *s, unsigned char *memory, ptrdiff_t stride, const unsigned char *elems,
                     uint64_t units)
{
    if (s->bytes)
        memcpy(memory, elems, (size_t)units * s->code.bytes);
    else if (s->dense && !s->code.packs)
        s->pack_row(memory, 0, elems, units * s->code.lanes, s->code.bits);
    else
        s->pack(memory, stride, elems, units, &s->code);
}

static void unpack_run(const td_stage *s, unsigned char *elems, const unsigned char *memory, ptrdiff_t stride,
                       uint64_t units)
{
    if (s->bytes)
        memcpy(elems, memory, (size_t)units * s->code.bytes);
    else if (s->dense && !s->code.unpacks)
        s->unpack_row(elems, memory, 0, units * s->code.lanes, s->code.bits, s->code.sign);
    else
        s->unpack(elems, memory, stride, units, &s->code);
}

/* The bits of a unit that no element has, in bytes [from, end): kept or cleared. */
static void keep_bits(const td_word_code *code, unsigned char *unit, uint64_t from, uint64_t end)
{
    for (uint64_t i = from; i < end; i++)
        unit[i] = (unsigned char)(code->keep ? unit[i] & code->keep[i / 8] >> (8 * (i % 8)) : 0);
}

/* Units that are each a long row. */
static void put_rows(const td_stage_job *j, const td_stage_batch *b, const unsigned char *elems)
{
    const td_stage *s = j->stage;
    const size_t lanes = s->code.lanes, bytes = lanes * s->code.size, at = s->row_bits / 8;
    const unsigned bit = s->row_bits % 8;
    const uint64_t end = s->row_bits + (uint64_t)lanes * s->code.bits;
    td_walk w;
    for (td_walk_begin(&w, b->unit, b->count + 1, b->at); w.more; td_walk_next(&w), elems += bytes) {
        unsigned char *unit = td_stage_place(j, w.at);
        keep_bits(&s->code, unit, 0, (s->row_bits + 7) / 8);
        keep_bits(&s->code, unit, end / 8, s->code.bytes);
        if (bit == 0 && s->code.bits == 8 * s->code.size)
            memcpy(unit + at, elems, bytes);
        else
            s->pack_row(unit + at, bit, elems, lanes, s->code.bits);
    }
}

static void get_rows(const td_stage_job *j, const td_stage_batch *b, unsigned char *elems)
{
    const td_stage *s = j->stage;
    const size_t lanes = s->code.lanes, bytes = lanes * s->code.size, at = s->row_bits / 8;
    const unsigned bit = s->row_bits % 8;
    td_walk w;
    for (td_walk_begin(&w, b->unit, b->count + 1, b->at); w.more; td_walk_next(&w), elems += bytes) {
        const unsigned char *unit = td_stage_place(j, w.at);
        if (bit == 0 && s->code.bits == 8 * s->code.size)
            memcpy(elems, unit + at, bytes);
        else
            s->unpack_row(elems, unit + at, bit, lanes, s->code.bits, s->code.sign);
    }
}

static void put_units(const td_stage_job *j, const td_stage_batch *b, unsigned char *elems, scratch *x)
{
    const td_stage *s = j->stage;
    const td_node *run = &b->unit[b->count];
    const size_t run_bytes = (size_t)run->extent * s->code.lanes * s->code.size;
    td_walk w;
    if (s->row) {
        put_rows(j, b, elems);
        return;
    }
    if (needs_words(j, b)) {
        if (s->bytes) {
            td_stage_copy_units(j, b, true, elems, &x->list);
            return;
        }
        if (!s->whole)
            td_stage_copy_units(j, b, false, x->words, &x->list);
        pack_run(s, x->words, (ptrdiff_t)s->code.bytes, elems, b->units);
        td_stage_copy_units(j, b, true, x->words, &x->list);
        return;
    }
    for (td_walk_begin(&w, b->unit, b->count, b->at); w.more; td_walk_next(&w), elems += run_bytes)
        pack_run(s, td_stage_place(j, w.at), (ptrdiff_t)(run->memory / 8), elems, run->extent);
}

static void get_units(const td_stage_job *j, const td_stage_batch *b, unsigned char *elems, scratch *x)
{
    const td_stage *s = j->stage;
    const td_node *run = &b->unit[b->count];
    const size_t run_bytes = (size_t)run->extent * s->code.lanes * s->code.size;
    td_walk w;
    if (s->row) {
        get_rows(j, b, elems);
        return;
    }
    if (needs_words(j, b)) {
        td_stage_copy_units(j, b, false, s->bytes ? elems : x->words, &x->list);
        if (s->bytes)
            return;
        unpack_run(s, elems, x->words, (ptrdiff_t)s->code.bytes, b->units);
        return;
    }
    for (td_walk_begin(&w, b->unit, b->count, b->at); w.more; td_walk_next(&w), elems += run_bytes)
        unpack_run(s, elems, td_stage_place(j, w.at), (ptrdiff_t)(run->memory / 8), run->extent);
}

/* -- batches ------------------------------------------------------------------------------------------------------- */

/* Dense containers; the first is that of element `first`. */
static void convert(const td_stage_job *j, const td_stage_batch *b, unsigned char *dst, const unsigned char *src,
                    int64_t first)
{
    const td_convert *c = j->run->convert;
    const td_plan *permute = &j->stage->permute;
    const td_box *box = &permute->data[b->variant];
    const td_node *node = permute->node + box->first_node;
    if (!c->numbers) {
        td_convert_run(c, dst, src, b->units * j->stage->code.lanes, 0, 1);
        return;
    }
    static const td_node single = {.extent = 1};
    const size_t count = box->node_count;
    const td_node *row = count ? &node[count - 1] : &single, *rows = count > 1 ? &node[count - 2] : &single;
    const size_t n = row->extent * rows->extent;
    td_walk w;
    for (td_walk_begin(&w, node, count > 2 ? count - 2 : 0, (td_at){.tensor = first}); w.more; td_walk_next(&w)) {
        td_convert_rows(c, &(td_convert_block){.dst = dst,
                                               .src = src,
                                               .dst_stride = (ptrdiff_t)row->extent * c->dst.bytes,
                                               .src_stride = (ptrdiff_t)row->extent * c->src.bytes,
                                               .rows = rows->extent,
                                               .n = row->extent,
                                               .first = (uint64_t)w.at.tensor,
                                               .row_step = rows->tensor,
                                               .step = row->tensor});
        dst += n * c->dst.bytes;
        src += n * c->src.bytes;
    }
}

static void load_batch(const td_stage_job *j, const td_stage_batch *b, scratch *x)
{
    const td_stage *s = j->stage;
    const int64_t first = b->at.tensor + s->tensor;
    unsigned char *elems = j->run->tensor + first * j->run->plan->tensor_dtype.bytes;
    if (!s->direct[b->variant]) {
        td_move_run(&s->permute.move[2 * b->variant], NULL, true, x->tensor, elems);
        elems = x->tensor;
    }
    if (j->run->convert) {
        convert(j, b, x->memory, elems, first);
        elems = x->memory;
    }
    put_units(j, b, elems, x);
}

static void dump_batch(const td_stage_job *j, const td_stage_batch *b, scratch *x)
{
    const td_stage *s = j->stage;
    const int64_t first = b->at.tensor + s->tensor;
    unsigned char *const elems = j->run->tensor + first * j->run->plan->tensor_dtype.bytes, *const dense =
                                                                                                s->direct[b->variant]
                                                                                                    ? elems
                                                                                                    : x->tensor;
    get_units(j, b, j->run->convert ? x->memory : dense, x);
    if (j->run->convert)
        convert(j, b, dense, x->memory, first);
    if (!s->direct[b->variant])
        td_move_run(&s->permute.move[2 * b->variant + 1], NULL, true, elems, x->tensor);
}

/* Runs that follow one another in memory are one run. */
static void join_runs(td_stage_batch *b)
{
    for (; b->count > 0; b->count--) {
        const td_node run = b->unit[b->count];
        td_node *outer = &b->unit[b->count - 1];
        const int64_t steps = (int64_t)run.extent;
        if (outer->extent > 1 && run.extent > 1 &&
            (outer->memory != run.memory * steps || outer->select != run.select * steps))
            return;
        const uint64_t extent = outer->extent * run.extent;
        if (run.extent > 1)
            *outer = run;
        outer->extent = extent;
    }
}

static void move_batch(const td_stage_job *j, const td_stage_batch *b, scratch *x)
{
    if (j->dump)
        dump_batch(j, b, x);
    else
        load_batch(j, b, x);
}

/* Batch `step` of every node. */
static void run_batch(const td_stage_job *j, const uint64_t *step, scratch *x)
{
    const td_stage *s = j->stage;
    td_stage_batch b; /* its nodes are not cleared: that takes as long as a small td_stage_batch */
    b.at = j->at;
    b.count = s->unit_count ? s->run : 0;
    b.units = 1;
    b.variant = 0;
    b.unit[0] = (td_node){.extent = 1};
    for (size_t i = 0; i < s->unit_count; i++) {
        const uint64_t done = step[i] * s->chunk[i], left = s->unit[i].extent - done;
        td_node node = s->unit[i];
        b.at = td_at_step(b.at, &node, done);
        node.extent = left < s->chunk[i] ? left : s->chunk[i];
        b.units *= node.extent;
        if (i <= s->run)
            b.unit[i] = node;
    }
    join_runs(&b);
    for (size_t c = 0; c < s->cuts && c < TD_STAGE_CUTS; c++) /* the bound for the compiler */
        b.variant |= (size_t)(step[s->cut[c]] + 1 == j->steps[s->cut[c]]) << c;
    move_batch(j, &b, x);
}

/* The only batch: small tensors spend more on steps and parts than on their elements. */
static void run_only(const td_stage_job *j, scratch *x)
{
    const td_stage *s = j->stage;
    td_stage_batch b;
    b.at = j->at;
    b.count = s->unit_count ? s->unit_count - 1 : 0;
    b.units = 1;
    b.variant = 0;
    b.unit[0] = (td_node){.extent = 1};
    for (size_t i = 0; i < s->unit_count; i++) {
        b.unit[i] = s->unit[i];
        b.units *= s->unit[i].extent;
    }
    join_runs(&b);
    move_batch(j, &b, x);
}

static void run_parts(void *context, unsigned begin, unsigned end)
{
    const td_stage_job *j = context;
    uint64_t first = 0, last = j->batches;
    uint64_t step[TD_WALK_NODES];
    scratch x;
    x.list.count = 0;
    if (j->only) {
        run_only(j, &x);
        return;
    }
    if (j->parts > 1) {
        first = j->batches * begin / j->parts;
        last = j->batches * end / j->parts;
    }
    uint64_t rest = first;
    for (size_t i = j->stage->unit_count; i-- > 0; rest /= j->steps[i])
        step[i] = rest % j->steps[i];
    for (uint64_t n = first; n < last; n++) {
        run_batch(j, step, &x);
        for (size_t i = j->stage->unit_count; i-- > 0;) {
            if (++step[i] < j->steps[i])
                break;
            step[i] = 0;
        }
    }
}

void td_stage_run(const td_stage *s, const td_run *run, const td_box *box, bool dump)
{
    const td_plan *plan = run->plan;
    td_stage_job j;
    j.stage = s;
    j.run = run;
    j.dump = dump;
    j.at = td_box_at(box);
    j.batches = 1;
    j.parts = 1;
    j.only = true;
    uint64_t bytes = plan->tensor_dtype.bytes * (uint64_t)s->code.lanes;
    uint64_t units = 1;
    td_grounds grounds;
    j.at.memory -= (int64_t)s->phase;
    for (size_t i = 0; i < s->unit_count; i++) {
        /* A dump reads one copy of each element. */
        const bool whole = s->unit[i].extent == s->chunk[i], copies = dump && s->unit[i].tensor == 0;
        j.steps[i] = whole || copies ? 1 : (s->unit[i].extent + s->chunk[i] - 1) / s->chunk[i];
        j.only &= whole;
        j.batches *= j.steps[i];
        bytes *= s->unit[i].extent;
        units *= s->unit[i].extent;
    }
    j.grounds = td_grounds_find(&grounds, run, units);
    if (!j.only && !plan->slides && !plan->skewed && !s->overlaps)
        j.parts = td_pool_parts(bytes, j.batches);
    if (j.parts > 1)
        td_pool_run(j.parts, run_parts, &j);
    else
        run_parts(&j, 0, 1);
}
