/* Runs stages (plan/stage.h): batch by batch, the elements of some units are gathered, converted, packed and placed, or
 * the reverse. Called by exec.c. The scratch is on the stack and little larger than the first-level cache, so that
 * what one step writes the next mostly finds there. */
#include "exec/run_staged.h"

#include "base/pool.h"
#include "exec/grounds.h"
#include "plan/move.h"

#include <string.h>

#define SHORT_RUN 8   /* units that are not worth a call of a kernel */
#define LISTED_RUN 48 /* units whose places are listed together with those of the runs around them */
#define LIST_MOST 1024
#define LEAST_LISTED 16 /* units: fewer are done before a list is made */

/* The places of the units that some inner nodes of a batch reach, one after another. A batch that differs from the one
 * before by a stride alone takes its list. */
typedef struct list {
    uint64_t count; /* 0: none yet */
    size_t node_count;
    td_node node[TD_WALK_NODES + 1];
    int64_t select, memory; /* of the first */
    uintptr_t at[LIST_MOST];
    int64_t entry[LIST_MOST];
} list;

typedef struct scratch {
    _Alignas(64) unsigned char tensor[TD_STAGE_MOST], memory[TD_STAGE_MOST], words[TD_STAGE_MOST];
    list list;
} scratch;

typedef struct job {
    const td_stage *stage;
    const td_run *run;
    const td_grounds *grounds;
    bool dump;
    td_at at;
    uint64_t steps[TD_WALK_NODES], batches;
    unsigned parts;
    bool only; /* one batch has all steps of every node */
} job;

/* One batch: so many steps of every node, from a place on. */
typedef struct batch {
    td_at at;
    td_node unit[TD_WALK_NODES]; /* as far as the run */
    size_t count;                /* of those before the run */
    uint64_t units;
    size_t variant;
} batch;

/* -- units and their places ---------------------------------------------------------------------------------------- */

static unsigned char *place_of(const job *j, td_at at)
{
    unsigned char *ground =
        j->grounds ? (unsigned char *)j->grounds->at[at.select] : td_ground_at(j->run->plan, j->run->bank, at.select);
    return ground + at.memory / 8;
}

/* The units of a run between a table's places and a dense scratch. */
static void copy_by_table(const job *j, const td_node *run, bool to_memory, td_at at, unsigned char *words)
{
    td_gather g = {.elem_step = (ptrdiff_t)j->stage->code.bytes,
                   .far = j->stage->far,
                   .entry_step = run->select,
                   .offset = at.memory / 8,
                   .offset_step = run->memory / 8,
                   .bytes = j->stage->code.bytes,
                   .count = run->extent};
    g.elems = words;
    td_grounds_give(j->grounds, j->run, at.select, &g);
    (to_memory ? j->stage->scatter : j->stage->gather)(&g);
}

/* Any number of bytes up to 64: two copies that overlap. */
static inline __attribute__((always_inline)) void copy_odd(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    unsigned char first[32], last[32];
#define BOTH(n)                                                                                                        \
    {                                                                                                                  \
        memcpy(first, src, n);                                                                                         \
        memcpy(last, src + bytes - (n), n);                                                                            \
        memcpy(dst, first, n);                                                                                         \
        memcpy(dst + bytes - (n), last, n);                                                                            \
        return;                                                                                                        \
    }
    if (bytes > 64)
        memcpy(dst, src, bytes);
    else if (bytes >= 32)
        BOTH(32)
    else if (bytes >= 16)
        BOTH(16)
    else if (bytes >= 8)
        BOTH(8)
    else if (bytes >= 4)
        BOTH(4)
    else if (bytes >= 2)
        BOTH(2)
    else
        *dst = *src;
#undef BOTH
}

/* The same by strides, or over banks. */
static inline __attribute__((always_inline)) void copy_run(const job *j, const td_node *of, bool to_memory, td_at at,
                                                           unsigned char *words, size_t bytes)
{
    const td_node node = *of;
    unsigned char *place = place_of(j, at);
    for (uint64_t i = 0; i < node.extent; i++, words += bytes, place += node.memory / 8) {
        if (node.select)
            place = place_of(j, td_at_step(at, &node, i));
        if (bytes & (bytes - 1))
            copy_odd(to_memory ? place : words, to_memory ? words : place, bytes);
        else
            memcpy(to_memory ? place : words, to_memory ? words : place, bytes);
    }
}

/* Two levels at once: many runs are shorter than a step of the walk around them. */
static inline __attribute__((always_inline)) void copy_runs(const job *j, const td_node *outer, const td_node *run,
                                                            bool to_memory, td_at at, unsigned char *words,
                                                            size_t bytes)
{
    for (uint64_t i = 0; i < outer->extent; i++, words += run->extent * bytes)
        copy_run(j, run, to_memory, td_at_step(at, outer, i), words, bytes);
}

/* The nodes of a batch, of which the last few are listed. */
typedef struct nest {
    td_node node[TD_WALK_NODES + 1];
    size_t count, listed;
    uint64_t units; /* of the list */
} nest;

/* As many nodes up to the run as a list takes; the next one is cut in two where equal parts of it still have room. */
static void choose_listed(const batch *b, nest *n)
{
    const size_t count = b->count + 1;
    n->units = 1;
    n->count = count;
    n->listed = 0;
    memcpy(n->node, b->unit, count * sizeof *n->node);
    while (n->listed < count && n->node[count - 1 - n->listed].extent <= LIST_MOST / n->units)
        n->units *= n->node[count - 1 - n->listed++].extent;
    if (n->listed == count)
        return;
    td_node *last = &n->node[count - 1 - n->listed];
    uint64_t part = LIST_MOST / n->units;
    while (last->extent % part)
        part--;
    if (part == 1)
        return;
    memmove(last + 1, last, (n->listed + 1) * sizeof *last);
    last[1].extent = part;
    *last = (td_node){.extent = last->extent / part,
                      .tensor = last->tensor * (int64_t)part,
                      .memory = last->memory * (int64_t)part,
                      .select = last->select * (int64_t)part};
    n->count++;
    n->listed++;
    n->units *= part;
}

static bool same_nodes(const td_node *a, const td_node *b, size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++)
        same = same && a[i].extent == b[i].extent && a[i].memory == b[i].memory && a[i].select == b[i].select;
    return same;
}

static void add_ground(uintptr_t ground, list *l)
{
    for (uint64_t u = 0; u < l->count; u++)
        l->at[u] += ground;
}

/* Inlined for each size of an entry, so that the size is a constant of the loop. */
static inline __attribute__((always_inline)) void add_entries(const job *j, const td_table *table, unsigned bytes,
                                                              int64_t offset, list *l)
{
    const td_table narrow = {.entry = table->entry, .entry_bytes = (uint8_t)bytes};
    const unsigned shift = table->bank_shift;
    const uint64_t mask = ~(~(uint64_t)0 << shift), word_bytes = j->run->plan->geometry.word_bytes;
    for (uint64_t u = 0; u < l->count; u++) {
        const uint64_t entry = td_table_get(&narrow, (uint64_t)l->entry[u]);
        l->at[u] += (uintptr_t)j->run->bank[entry >> shift] + (entry & mask) * word_bytes + (uintptr_t)offset;
    }
}

/* Every place has a ground of its own. */
static void add_grounds(const job *j, int64_t offset, list *l)
{
    const td_table *table = &j->run->plan->table;
    if (j->grounds)
        for (uint64_t u = 0; u < l->count; u++)
            l->at[u] += j->grounds->at[l->entry[u]] + (uintptr_t)offset;
    else if (!table->entry)
        for (uint64_t u = 0; u < l->count; u++)
            l->at[u] += (uintptr_t)j->run->bank[l->entry[u]] + (uintptr_t)offset;
    else if (table->entry_bytes == 2)
        add_entries(j, table, 2, offset, l);
    else if (table->entry_bytes == 4)
        add_entries(j, table, 4, offset, l);
    else
        add_entries(j, table, 8, offset, l);
}

/* Steps of one node after another: those of the nodes so far, again at each of its own. */
static void make_list(const job *j, const td_node *node, size_t count, td_at at, list *l)
{
    uint64_t n = 1;
    bool selects = false;
    l->select = at.select;
    l->memory = at.memory;
    l->at[0] = 0;
    l->entry[0] = at.select;
    for (size_t i = count; i-- > 0; n *= node[i].extent) {
        l->node[i] = node[i];
        selects |= node[i].select != 0;
        for (uint64_t k = 1; k < node[i].extent; k++) {
            const uintptr_t step = (uintptr_t)(node[i].memory / 8 * (int64_t)k);
            const int64_t entries = node[i].select * (int64_t)k;
            for (uint64_t u = 0; u < n; u++) {
                l->at[k * n + u] = l->at[u] + step;
                l->entry[k * n + u] = l->entry[u] + entries;
            }
        }
    }
    l->count = n;
    l->node_count = count;
    if (selects)
        add_grounds(j, at.memory / 8, l);
    else
        add_ground((uintptr_t)place_of(j, at), l);
}

/* The batches of a stage have the same list: what selects their grounds is all in it. */
static bool keeps_list(const td_stage *s, const nest *n)
{
    bool same = true;
    for (size_t i = 0; i < n->count - n->listed; i++)
        same = same && !n->node[i].select;
    for (size_t i = 0; i < s->unit_count; i++)
        same = same && (!s->unit[i].select || s->chunk[i] == s->unit[i].extent);
    return same;
}

/* Runs that are too short to go one by one; false where lists would be as short. */
static bool copy_by_list(const job *j, const batch *b, bool to_memory, unsigned char *words, list *l)
{
    const uint64_t run = b->unit[b->count].extent;
    const size_t bytes = j->stage->code.bytes;
    nest n;
    if (run >= LISTED_RUN || b->units == run)
        return false;
    choose_listed(b, &n);
    if (n.units < LEAST_LISTED || (run >= SHORT_RUN && !keeps_list(j->stage, &n)))
        return false;
    const td_node *node = &n.node[n.count - n.listed];
    td_gather g = {.elem_step = (ptrdiff_t)bytes,
                   .far = j->stage->far,
                   .entry_bytes = sizeof l->at[0],
                   .entry = l->at,
                   .entry_step = 1,
                   .bytes = bytes,
                   .count = n.units};
    td_walk w;
    for (td_walk_begin(&w, n.node, n.count - n.listed, b->at); w.more; td_walk_next(&w)) {
        if (!l->count || l->select != w.at.select || l->node_count != n.listed || !same_nodes(l->node, node, n.listed))
            make_list(j, node, n.listed, w.at, l);
        g.elems = words;
        g.offset = (w.at.memory - l->memory) / 8;
        (to_memory ? j->stage->scatter : j->stage->gather)(&g);
        words += n.units * bytes;
    }
    return true;
}

#define COPY(size)                                                                                                     \
    case size:                                                                                                         \
        copy_runs(j, outer, run, to_memory, w.at, words, size);                                                        \
        break;

static void copy_units(const job *j, const batch *b, bool to_memory, unsigned char *words, list *l)
{
    static const td_node single = {.extent = 1};
    const size_t bytes = j->stage->code.bytes;
    const td_node *run = &b->unit[b->count];
    if (copy_by_list(j, b, to_memory, words, l))
        return;
    const bool by_table = j->run->plan->table.entry && run->select && run->extent >= SHORT_RUN;
    const bool nested = b->count && !by_table;
    const td_node *outer = nested ? run - 1 : &single;
    const size_t step = outer->extent * run->extent * bytes;
    td_walk w;
    for (td_walk_begin(&w, b->unit, b->count - nested, b->at); w.more; td_walk_next(&w), words += step)
        switch (by_table ? 0 : bytes) {
        case 0:
            copy_by_table(j, run, to_memory, w.at, words);
            break;
            COPY(1)
            COPY(2)
            COPY(3)
            COPY(4)
            COPY(5)
            COPY(6)
            COPY(7)
            COPY(8)
            COPY(9)
            COPY(10)
            COPY(12)
            COPY(14)
            COPY(16)
            COPY(20)
            COPY(24)
            COPY(32)
            COPY(64)
        default:
            copy_runs(j, outer, run, to_memory, w.at, words, bytes);
        }
}

/* Units go through a scratch where their places have no stride, or too few of them have, or where they are packed as
 * one row, or by vectors, and lie apart. */
static bool needs_words(const job *j, const batch *b)
{
    const td_node *run = &b->unit[b->count];
    if (j->stage->dense && run->extent > 1 && run->memory != 8 * (int64_t)j->stage->code.bytes)
        return true;
    if ((j->stage->code.vectors || (j->dump ? j->stage->code.unpacks : j->stage->code.packs)) &&
        (j->dump || j->stage->whole) && run->extent > 1 && !j->stage->overlaps &&
        run->memory != 8 * (int64_t)j->stage->code.bytes)
        return true;
    return (run->select && run->extent > 1) ||
           (run->extent < SHORT_RUN && b->units > run->extent && !j->stage->overlaps);
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

static void put_units(const job *j, const batch *b, unsigned char *elems, scratch *x)
{
    const td_stage *s = j->stage;
    const td_node *run = &b->unit[b->count];
    const size_t run_bytes = (size_t)run->extent * s->code.lanes * s->code.size;
    td_walk w;
    if (needs_words(j, b)) {
        if (s->bytes) {
            copy_units(j, b, true, elems, &x->list);
            return;
        }
        if (!s->whole)
            copy_units(j, b, false, x->words, &x->list);
        pack_run(s, x->words, (ptrdiff_t)s->code.bytes, elems, b->units);
        copy_units(j, b, true, x->words, &x->list);
        return;
    }
    for (td_walk_begin(&w, b->unit, b->count, b->at); w.more; td_walk_next(&w), elems += run_bytes)
        pack_run(s, place_of(j, w.at), (ptrdiff_t)(run->memory / 8), elems, run->extent);
}

static void get_units(const job *j, const batch *b, unsigned char *elems, scratch *x)
{
    const td_stage *s = j->stage;
    const td_node *run = &b->unit[b->count];
    const size_t run_bytes = (size_t)run->extent * s->code.lanes * s->code.size;
    td_walk w;
    if (needs_words(j, b)) {
        copy_units(j, b, false, s->bytes ? elems : x->words, &x->list);
        if (s->bytes)
            return;
        unpack_run(s, elems, x->words, (ptrdiff_t)s->code.bytes, b->units);
        return;
    }
    for (td_walk_begin(&w, b->unit, b->count, b->at); w.more; td_walk_next(&w), elems += run_bytes)
        unpack_run(s, elems, place_of(j, w.at), (ptrdiff_t)(run->memory / 8), run->extent);
}

/* -- batches ------------------------------------------------------------------------------------------------------- */

/* Dense containers; the first is that of element `first`. */
static void convert(const job *j, const batch *b, unsigned char *dst, const unsigned char *src, int64_t first)
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

static void load_batch(const job *j, const batch *b, scratch *x)
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

static void dump_batch(const job *j, const batch *b, scratch *x)
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
static void join_runs(batch *b)
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

static void move_batch(const job *j, const batch *b, scratch *x)
{
    if (j->dump)
        dump_batch(j, b, x);
    else
        load_batch(j, b, x);
}

/* Batch `step` of every node. */
static void run_batch(const job *j, const uint64_t *step, scratch *x)
{
    const td_stage *s = j->stage;
    batch b; /* its nodes are not cleared: that takes as long as a small batch */
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
static void run_only(const job *j, scratch *x)
{
    const td_stage *s = j->stage;
    batch b;
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
    const job *j = context;
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
    job j;
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
