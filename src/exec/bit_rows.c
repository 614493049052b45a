/* Runs bit rows (plan/move.h): gathers, converts and packs the elements of a row, or the reverse. Called by exec.c.
 * The buffers are a few KiB on the stack, so they stay in the first-level cache. */
#include "exec/bit_rows.h"

#include "base/pool.h"
#include "kernels/bits.h"

#define SCRATCH_BYTES 16384
#define SPLIT_ELEMS 4096 /* of a row that threads share: a multiple of 8 */

typedef struct scratch {
    _Alignas(64) unsigned char tensor[SCRATCH_BYTES], memory[SCRATCH_BYTES];
} scratch;

typedef struct job {
    const td_rows *rows;
    const td_run *run;
    bool dump;
    unsigned char *ground;
    uint64_t row_block, across_block;
    unsigned begin, end, parts; /* the parts of this thread, and of how many */
    scratch *scratch;
} job;

typedef struct shared_rows {
    job job;
    int64_t memory, tensor;
} shared_rows;

static void place(const job *j, int64_t memory, const unsigned char *elems, uint64_t count)
{
    const td_rows *r = j->rows;
    const td_dtype dtype = j->run->plan->memory_dtype;
    if (r->way == TD_ROWS_CELLS)
        r->put(j->ground + memory / 8, r->row.memory / 8, elems, count, dtype.bits);
    else if (r->way == TD_ROWS_PACKED)
        r->pack(j->ground + (memory >> 3), (unsigned)(memory & 7), elems, count, dtype.bits);
    else
        for (uint64_t i = 0; i < count; i++, elems += dtype.bytes, memory += r->row.memory)
            td_put_bits(j->ground, memory, dtype.bits, td_get_elem(elems, dtype.bytes));
}

static void fetch(const job *j, int64_t memory, unsigned char *elems, uint64_t count)
{
    const td_rows *r = j->rows;
    const td_dtype dtype = j->run->plan->memory_dtype;
    const bool sign = dtype.kind == TD_KIND_INT;
    if (r->way == TD_ROWS_CELLS)
        r->get(elems, j->ground + memory / 8, r->row.memory / 8, count, dtype.bits, sign);
    else if (r->way == TD_ROWS_PACKED)
        r->unpack(elems, j->ground + (memory >> 3), (unsigned)(memory & 7), count, dtype.bits, sign);
    else {
        const uint64_t top = sign ? (uint64_t)1 << (dtype.bits - 1) : 0;
        for (uint64_t i = 0; i < count; i++, elems += dtype.bytes, memory += r->row.memory)
            td_put_elem(elems, dtype.bytes, (td_get_bits(j->ground, memory, dtype.bits) ^ top) - top);
    }
}

/* True when `across` rows are packed without a gap between them: they are then one long row, which saves the cost
 * per row. */
static bool in_one(const td_rows *r, uint64_t count, uint64_t across)
{
    return r->way == TD_ROWS_PACKED && across > 1 && r->across.memory == (int64_t)count * r->row.memory;
}

/* `across` rows; the elements of each begin `next` bytes after those of the one before. */
static void place_rows(const job *j, int64_t memory, const unsigned char *elems, ptrdiff_t next, uint64_t count,
                       uint64_t across)
{
    const td_rows *r = j->rows;
    const ptrdiff_t row_bytes = (ptrdiff_t)count * j->run->plan->memory_dtype.bytes;
    if (in_one(r, count, across)) {
        if (next != row_bytes)
            r->copy(j->scratch->memory, row_bytes, elems, next, across, (size_t)row_bytes, false);
        place(j, memory, next != row_bytes ? j->scratch->memory : elems, count * across);
        return;
    }
    for (uint64_t a = 0; a < across; a++, elems += next, memory += r->across.memory)
        place(j, memory, elems, count);
}

static void fetch_rows(const job *j, int64_t memory, unsigned char *elems, ptrdiff_t next, uint64_t count,
                       uint64_t across)
{
    const td_rows *r = j->rows;
    const ptrdiff_t row_bytes = (ptrdiff_t)count * j->run->plan->memory_dtype.bytes;
    if (in_one(r, count, across)) {
        fetch(j, memory, next != row_bytes ? j->scratch->memory : elems, count * across);
        if (next != row_bytes)
            r->copy(elems, next, j->scratch->memory, row_bytes, across, (size_t)row_bytes, false);
        return;
    }
    for (uint64_t a = 0; a < across; a++, elems += next, memory += r->across.memory)
        fetch(j, memory, elems, count);
}

/* Rows of `count` elements in the two buffers, or in the tensor; the first is that of element `tensor`. */
static void convert(const job *j, unsigned char *dst, ptrdiff_t dst_next, const unsigned char *src, ptrdiff_t src_next,
                    int64_t tensor, uint64_t count, uint64_t across)
{
    td_convert_rows(j->run->convert, &(td_convert_block){.dst = dst,
                                                         .src = src,
                                                         .dst_stride = dst_next,
                                                         .src_stride = src_next,
                                                         .rows = across,
                                                         .n = count,
                                                         .first = (uint64_t)tensor,
                                                         .row_step = j->rows->across.tensor,
                                                         .step = j->rows->row.tensor});
}

/* Rows of `count` elements that begin at element `tensor` and its `across` neighbours. */
static void load_block(const job *j, int64_t memory, int64_t tensor, uint64_t count, uint64_t across)
{
    const td_rows *r = j->rows;
    const ptrdiff_t bytes = r->elem_bytes, stored = j->run->plan->memory_dtype.bytes;
    const unsigned char *elems = j->run->tensor + tensor * bytes;
    ptrdiff_t next = r->across.tensor * bytes;
    if (r->gathers) {
        next = (ptrdiff_t)count * bytes;
        if (across > 1)
            r->transpose(j->scratch->tensor, next, elems, r->row.tensor * bytes, count, across, false);
        else
            r->copy(j->scratch->tensor, bytes, elems, r->row.tensor * bytes, count, (size_t)bytes, false);
        elems = j->scratch->tensor;
    }
    if (j->run->convert) {
        convert(j, j->scratch->memory, (ptrdiff_t)count * stored, elems, next, tensor, count, across);
        elems = j->scratch->memory;
        next = (ptrdiff_t)count * stored;
    }
    place_rows(j, memory, elems, next, count, across);
}

static void dump_block(const job *j, int64_t memory, int64_t tensor, uint64_t count, uint64_t across)
{
    const td_rows *r = j->rows;
    const ptrdiff_t bytes = r->elem_bytes, stored = j->run->plan->memory_dtype.bytes;
    unsigned char *const elems = j->run->tensor + tensor * bytes;
    unsigned char *const out = r->gathers ? j->scratch->tensor : elems;
    const ptrdiff_t out_next = r->gathers ? (ptrdiff_t)count * bytes : r->across.tensor * bytes;
    unsigned char *const first = j->run->convert ? j->scratch->memory : out;
    const ptrdiff_t next = j->run->convert ? (ptrdiff_t)count * stored : out_next;
    fetch_rows(j, memory, first, next, count, across);
    if (j->run->convert)
        convert(j, out, out_next, first, next, tensor, count, across);
    if (r->gathers && across > 1)
        r->transpose(elems, r->row.tensor * bytes, j->scratch->tensor, out_next, across, count, false);
    else if (r->gathers)
        r->copy(elems, r->row.tensor * bytes, j->scratch->tensor, bytes, count, (size_t)bytes, false);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A dump reads one copy of each element. */
static uint64_t steps(const job *j, const td_node *node)
{
    return j->dump && node->tensor == 0 ? 1 : node->extent;
}

typedef struct range {
    uint64_t begin, end;
} range;

/* This thread's part of `count` steps, if they are what is split. */
static range part_of(const job *j, int what, uint64_t count, uint64_t unit)
{
    if (what != j->rows->split || j->parts == 1)
        return (range){0, count};
    const uint64_t units = (count + unit - 1) / unit, begin = units * j->begin / j->parts * unit,
                   end = units * j->end / j->parts * unit;
    return (range){begin, least(end, count)};
}

static void run_rows(const job *j, int64_t memory, int64_t tensor)
{
    const td_node *row = &j->rows->row, *across = &j->rows->across;
    const range rows = part_of(j, TD_ROWS_SPLIT_ROW, steps(j, row), SPLIT_ELEMS),
                wide = part_of(j, TD_ROWS_SPLIT_ACROSS, steps(j, across), 16);
    for (uint64_t i = rows.begin; i < rows.end; i += j->row_block)
        for (uint64_t a = wide.begin; a < wide.end; a += j->across_block) {
            const int64_t at = memory + (int64_t)i * row->memory + (int64_t)a * across->memory;
            const int64_t elem = tensor + (int64_t)i * row->tensor + (int64_t)a * across->tensor;
            const uint64_t count = least(rows.end - i, j->row_block), columns = least(wide.end - a, j->across_block);
            if (j->dump)
                dump_block(j, at, elem, count, columns);
            else
                load_block(j, at, elem, count, columns);
        }
}

static void run_loops(const job *j, size_t level, int64_t memory, int64_t tensor)
{
    if (level == j->rows->loops) {
        run_rows(j, memory, tensor);
        return;
    }
    const td_node *node = &j->rows->loop[level];
    const range r = part_of(j, (int)level, steps(j, node), 1);
    memory += (int64_t)r.begin * node->memory;
    tensor += (int64_t)r.begin * node->tensor;
    for (uint64_t i = r.begin; i < r.end; i++, memory += node->memory, tensor += node->tensor)
        run_loops(j, level + 1, memory, tensor);
}

static void run_parts(void *context, unsigned begin, unsigned end)
{
    const shared_rows *shared = context;
    scratch s;
    job j = shared->job;
    j.begin = begin;
    j.end = end;
    j.scratch = &s;
    run_loops(&j, 0, shared->memory, shared->tensor);
}

/* How many parts the box is worth. */
static unsigned parts_of(const td_rows *r)
{
    if (r->split < 0)
        return 1;
    uint64_t elems = r->row.extent * r->across.extent;
    for (size_t i = 0; i < r->loops; i++)
        elems *= r->loop[i].extent;
    const uint64_t count = r->split == TD_ROWS_SPLIT_ROW      ? (r->row.extent + SPLIT_ELEMS - 1) / SPLIT_ELEMS
                           : r->split == TD_ROWS_SPLIT_ACROSS ? (r->across.extent + 15) / 16
                                                              : r->loop[r->split].extent;
    return td_pool_parts(elems * r->elem_bytes, count);
}

void td_rows_run(const td_rows *r, const td_run *run, bool dump, bool one_thread, unsigned char *ground, int64_t memory,
                 int64_t tensor)
{
    job j = {.rows = r, .run = run, .dump = dump, .row_block = UINT64_MAX / 2, .across_block = 1, .parts = 1};
    const uint64_t stored = run->plan->memory_dtype.bytes,
                   bytes = run->convert && stored > r->elem_bytes ? stored : r->elem_bytes;
    j.ground = ground;
    if (r->gathers && r->across.extent > 1)
        j.row_block = 256 / bytes < 64 ? 64 : 256 / bytes;
    else if (r->gathers || run->convert)
        j.row_block = TD_ROWS_ELEMS;
    if (r->across.extent > 1)
        j.across_block = SCRATCH_BYTES / bytes / least(j.row_block, r->row.extent);
    if (!one_thread)
        j.parts = parts_of(r);
    shared_rows shared = {.job = j, .memory = memory, .tensor = tensor};
    if (j.parts > 1)
        td_pool_run(j.parts, run_parts, &shared);
    else
        run_parts(&shared, 0, 1);
}
