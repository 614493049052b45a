/* See exec.h. One walker carries every operation over a box; what differs is the row, the innermost loop. */
#include "exec.h"

#include "kernels/bits.h"
#include "move.h"
#include "pool.h"
#include "rows.h"

/* One innermost loop: node->extent steps from `memory` bits above `ground` and element `tensor`. Returns false to stop. */
typedef bool row_fn(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                    int64_t memory, int64_t tensor);

static const td_node single = {.extent = 1};

static unsigned char *ground_at(const td_run *run, int64_t select)
{
    const td_plan *plan = run->plan;
    if (!plan->table)
        return run->bank[select];
    const uint64_t entry = plan->table[select];
    return run->bank[TD_TABLE_BANK(entry)] + TD_TABLE_WORD(entry) * plan->geometry.word_bytes;
}

static bool walk_inner(void *context, const td_run *run, const td_box *box, const td_node *node, size_t count,
                       unsigned char *ground, int64_t memory, int64_t tensor, row_fn *row)
{
    if (count <= 1)
        return row(context, run, box, count ? node : &single, ground, memory, tensor);
    for (uint64_t i = 0; i < node->extent; i++) {
        if (!walk_inner(context, run, box, node + 1, count - 1, ground, memory, tensor, row))
            return false;
        memory += node->memory;
        tensor += node->tensor;
    }
    return true;
}

static bool walk_selectors(void *context, const td_run *run, const td_box *box, size_t level, int64_t select, int64_t memory,
                           int64_t tensor, row_fn *row)
{
    const td_node *node = &run->plan->node[box->first_node + level];
    if (level == box->selectors)
        return walk_inner(context, run, box, node, box->node_count - level, ground_at(run, select), memory, tensor, row);
    for (uint64_t i = 0; i < node->extent; i++) {
        if (!walk_selectors(context, run, box, level + 1, select, memory, tensor, row))
            return false;
        select += node->select;
        memory += node->memory;
        tensor += node->tensor;
    }
    return true;
}

static bool walk(void *context, const td_run *run, const td_box *box, row_fn *row)
{
    return walk_selectors(context, run, box, 0, box->select, box->memory, box->tensor, row);
}

static bool walk_all(void *context, const td_run *run, const td_box *boxes, size_t count, row_fn *row)
{
    for (size_t b = 0; b < count; b++)
        if (!walk(context, run, &boxes[b], row))
            return false;
    return true;
}

/* -- rows -------------------------------------------------------------------------------------------------------------- */

#define COPY_ROW(type)                                                                                                  \
    for (uint64_t i = 0; i < count; i++) {                                                                              \
        type value;                                                                                                     \
        memcpy(&value, src, sizeof value);                                                                              \
        memcpy(dst, &value, sizeof value);                                                                              \
        src += src_stride;                                                                                              \
        dst += dst_stride;                                                                                              \
    }

/* Strides in bytes. */
static void copy_row(unsigned char *dst, int64_t dst_stride, const unsigned char *src, int64_t src_stride, uint64_t count,
                     unsigned bytes)
{
    if (dst_stride == bytes && src_stride == bytes) {
        memcpy(dst, src, count * bytes);
        return;
    }
    switch (bytes) {
    case 1:
        COPY_ROW(uint8_t);
        break;
    case 2:
        COPY_ROW(uint16_t);
        break;
    case 4:
        COPY_ROW(uint32_t);
        break;
    default:
        COPY_ROW(uint64_t);
        break;
    }
}

/* The element at a place: whole, or put together from its pieces, of which the first has bit 0. */
static uint64_t memory_value(const td_run *run, const unsigned char *ground, int64_t memory, const td_piece *piece, size_t count,
                             size_t *used)
{
    size_t k = 0;
    uint64_t value = 0;
    if (count == 0) {
        *used = 1;
        return td_get_bits(ground, memory, run->plan->memory_dtype.bits);
    }
    do {
        if (piece[k].bits)
            value |= td_get_bits(ground, memory + piece[k].memory, piece[k].bits) << piece[k].elem_bit;
        k++;
    } while (k < count && piece[k].elem_bit);
    *used = k;
    return value;
}

/* `count` elements in containers of the memory's dtype, `stride` bytes apart, to places `step` bits apart; and back. */
static void place_row(const td_run *run, unsigned char *ground, int64_t memory, int64_t step, const unsigned char *src, int64_t stride,
                      uint64_t count)
{
    const td_dtype dtype = run->plan->memory_dtype;
    if (dtype.bits == 8 * dtype.bytes && memory % 8 == 0 && step % 8 == 0) {
        copy_row(ground + memory / 8, step / 8, src, stride, count, dtype.bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, src += stride, memory += step)
        td_put_bits(ground, memory, dtype.bits, td_get_elem(src, dtype.bytes));
}

static void fetch_row(const td_run *run, const unsigned char *ground, int64_t memory, int64_t step, unsigned char *dst, int64_t stride,
                      uint64_t count)
{
    const td_dtype dtype = run->plan->memory_dtype;
    if (dtype.bits == 8 * dtype.bytes && memory % 8 == 0 && step % 8 == 0) {
        copy_row(dst, stride, ground + memory / 8, step / 8, count, dtype.bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, dst += stride, memory += step)
        td_put_elem(dst, dtype.bytes, td_dtype_extend(dtype, td_get_bits(ground, memory, dtype.bits)));
}

/* Converted rows pass through two small buffers that stay in the first cache. */
#define STAGE_ELEMS 512

typedef struct stage {
    _Alignas(64) unsigned char tensor[STAGE_ELEMS * 8], memory[STAGE_ELEMS * 8];
} stage;

static void load_converted(const td_run *run, const td_node *node, unsigned char *ground, int64_t memory, int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes, stored = run->plan->memory_dtype.bytes;
    stage s;
    for (uint64_t done = 0; done < node->extent; done += STAGE_ELEMS) {
        const uint64_t count = node->extent - done < STAGE_ELEMS ? node->extent - done : STAGE_ELEMS;
        const int64_t first = tensor + (int64_t)done * node->tensor;
        const unsigned char *src = run->tensor + first * bytes;
        if (node->tensor != 1) {
            copy_row(s.tensor, bytes, src, node->tensor * bytes, count, bytes);
            src = s.tensor;
        }
        td_convert_run(run->convert, s.memory, src, count, (uint64_t)first, node->tensor);
        place_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
    }
}

static void dump_converted(const td_run *run, const td_node *node, unsigned char *ground, int64_t memory, int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes, stored = run->plan->memory_dtype.bytes;
    stage s;
    for (uint64_t done = 0; done < node->extent; done += STAGE_ELEMS) {
        const uint64_t count = node->extent - done < STAGE_ELEMS ? node->extent - done : STAGE_ELEMS;
        const int64_t first = tensor + (int64_t)done * node->tensor;
        unsigned char *dst = run->tensor + first * bytes;
        fetch_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
        td_convert_run(run->convert, node->tensor == 1 ? dst : s.tensor, s.memory, count, (uint64_t)first, node->tensor);
        if (node->tensor != 1)
            copy_row(dst, node->tensor * bytes, s.tensor, bytes, count, bytes);
    }
}

/* The bits of element `elem` as the memory holds them. */
static uint64_t stored_value(const td_run *run, int64_t elem)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    uint64_t value = td_get_elem(run->tensor + elem * bytes, bytes), stored = 0;
    if (!run->convert)
        return value;
    td_convert_run(run->convert, &stored, &value, 1, (uint64_t)elem, 1);
    return stored;
}

/* The other way: element `elem` from the bits that the memory holds, in its tensor bytes. */
static uint64_t tensor_value(const td_run *run, uint64_t bits, int64_t elem)
{
    uint64_t stored = td_dtype_extend(run->plan->memory_dtype, bits), value = 0;
    if (!run->convert)
        return stored & td_low_bits(8u * run->plan->tensor_dtype.bytes);
    td_convert_run(run->convert, &value, &stored, 1, (uint64_t)elem, 1);
    return value;
}

static bool load_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                     int64_t memory, int64_t tensor)
{
    (void)context;
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    if (box->piece_count) {
        const td_piece *piece = run->plan->piece + box->first_piece;
        for (uint64_t i = 0; i < node->extent; i++, tensor += node->tensor, memory += node->memory)
            for (size_t k = 0; k < box->piece_count; k++)
                if (piece[k].bits)
                    td_put_bits(ground, memory + piece[k].memory, piece[k].bits,
                                stored_value(run, tensor + piece[k].tensor) >> piece[k].elem_bit);
    } else if (run->convert)
        load_converted(run, node, ground, memory, tensor);
    else
        place_row(run, ground, memory, node->memory, run->tensor + tensor * bytes, node->tensor * bytes, node->extent);
    return true;
}

static bool dump_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                     int64_t memory, int64_t tensor)
{
    (void)context;
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    if (box->piece_count) {
        const td_piece *piece = run->plan->piece + box->first_piece;
        for (uint64_t i = 0; i < node->extent; i++, tensor += node->tensor, memory += node->memory)
            for (size_t k = 0, used = 0; k < box->piece_count; k += used) {
                const int64_t elem = tensor + piece[k].tensor;
                const uint64_t value = memory_value(run, ground, memory, piece + k, box->piece_count - k, &used);
                td_put_elem(run->tensor + elem * bytes, bytes, tensor_value(run, value, elem));
            }
    } else if (run->convert)
        dump_converted(run, node, ground, memory, tensor);
    else
        fetch_row(run, ground, memory, node->memory, run->tensor + tensor * bytes, node->tensor * bytes, node->extent);
    return true;
}

static bool pad_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                    int64_t memory, int64_t tensor)
{
    (void)context, (void)tensor;
    const td_piece whole = {.bits = run->plan->memory_dtype.bits};
    const td_piece *piece = box->piece_count ? run->plan->piece + box->first_piece : &whole;
    const size_t count = box->piece_count ? box->piece_count : 1;
    for (uint64_t i = 0; i < node->extent; i++, memory += node->memory)
        for (size_t k = 0; k < count; k++)
            if (piece[k].bits)
                td_put_bits(ground, memory + piece[k].memory, piece[k].bits, run->plan->pad_bits >> piece[k].elem_bit);
    return true;
}

static bool clear_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                      int64_t memory, int64_t tensor)
{
    (void)context, (void)tensor;
    const unsigned char *mask = run->plan->lane_mask + run->plan->geometry.word_bytes * box->beat;
    const size_t bytes = run->plan->geometry.word_bytes * box->beats;
    for (uint64_t i = 0; i < node->extent; i++, memory += node->memory) {
        unsigned char *word = ground + memory / 8;
        size_t k = 0;
        for (; k + 8 <= bytes; k += 8) {
            const uint64_t kept = td_get_elem(word + k, 8) & td_get_elem(mask + k, 8);
            memcpy(word + k, &kept, 8);
        }
        for (; k < bytes; k++)
            word[k] &= mask[k];
    }
    return true;
}

/* -- load and dump ----------------------------------------------------------------------------------------------------- */

/* The part of a box that lies in word `at` (its coordinates on the selector axes), if any. */
static void run_word(const td_run *run, const td_box *boxes, size_t count, const uint64_t *at, row_fn *row)
{
    for (size_t b = 0; b < count; b++) {
        const td_box *box = &boxes[b];
        const td_node *node = run->plan->node + box->first_node;
        int64_t select = box->select, memory = box->memory, tensor = box->tensor;
        bool in = true;
        for (size_t i = 0; i < box->selectors && in; i++) {
            in = at[i] >= node[i].start && at[i] < node[i].start + node[i].extent;
            const int64_t step = (int64_t)(at[i] - node[i].start);
            select += node[i].select * step;
            memory += node[i].memory * step;
            tensor += node[i].tensor * step;
        }
        if (in)
            walk_inner(NULL, run, box, node + box->selectors, box->node_count - box->selectors, ground_at(run, select), memory, tensor,
                       row);
    }
}

/* alias=last: word by word in time order, each whole before the next, so that the later word wins. */
static void load_in_order(const td_run *run)
{
    const td_plan *plan = run->plan;
    const size_t axes = plan->words_count ? plan->words[0].selectors : 0;
    uint64_t size[TD_MAX_AXES + TD_MAX_RANK + 1] = {0}, at[TD_MAX_AXES + TD_MAX_RANK + 1] = {0};
    for (size_t b = 0; b < plan->words_count; b++)
        for (size_t i = 0; i < axes; i++) {
            const td_node *node = &plan->node[plan->words[b].first_node + i];
            if (node->start + node->extent > size[i])
                size[i] = node->start + node->extent;
        }
    for (bool more = true; more;) {
        if (plan->lane_mask)
            run_word(run, plan->words, plan->words_count, at, clear_row);
        run_word(run, plan->pads, plan->pads_count, at, pad_row);
        run_word(run, plan->data, plan->data_count, at, load_row);
        more = false;
        for (size_t i = axes; i-- > 0 && !more;) {
            more = ++at[i] < size[i];
            if (!more)
                at[i] = 0;
        }
    }
}

/* The innermost selector loop where each step is one run: words over the table, or over banks, without a call for each. */
static inline __attribute__((always_inline)) void gather_runs(const td_run *run, const td_node *node, bool dump, int64_t select,
                                                              int64_t memory, int64_t tensor, size_t bytes)
{
    const int64_t elem = run->plan->tensor_dtype.bytes;
    unsigned char *elems = run->tensor + tensor * elem;
    for (uint64_t i = 0; i < node->extent; i++) {
        unsigned char *place = ground_at(run, select) + memory / 8;
        memcpy(dump ? elems : place, dump ? place : elems, bytes);
        select += node->select;
        memory += node->memory;
        elems += node->tensor * elem;
    }
}

#define GATHER(size)                                                                                                    \
    case size:                                                                                                          \
        gather_runs(run, node, dump, select, memory, tensor, size);                                                     \
        break;

static void gather(const td_run *run, const td_node *node, const td_move *move, bool dump, int64_t select, int64_t memory, int64_t tensor)
{
    switch (move->wide) {
        GATHER(1)
        GATHER(2)
        GATHER(4)
        GATHER(8)
        GATHER(16)
        GATHER(32)
        GATHER(64)
        GATHER(128)
    default:
        gather_runs(run, node, dump, select, memory, tensor, move->wide);
    }
}

/* The selector loops of a box around its move, or its rows. */
static void move_selected(const td_run *run, size_t b, bool dump, bool alone, size_t level, int64_t select, int64_t memory, int64_t tensor)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->data[b];
    if (level == box->selectors) {
        const td_move *move = &plan->move[2 * b + dump];
        unsigned char *ground = ground_at(run, select), *place = ground + memory / 8, *elems = run->tensor + tensor * plan->tensor_dtype.bytes;
        if (move->kind == TD_MOVE_NONE || run->convert)
            td_rows_run(&plan->rows[b], run, dump, alone, ground, memory, tensor);
        else
            td_move_run(move, alone, dump ? elems : place, dump ? place : elems);
        return;
    }
    const td_node *node = &plan->node[box->first_node + level];
    const td_move *run_of = &plan->move[2 * b + dump];
    if (level + 1 == box->selectors && run_of->kind == TD_MOVE_RUNS && run_of->loops == 0 && run_of->high == 1 && !run->convert) {
        gather(run, node, run_of, dump, select, memory, tensor);
        return;
    }
    for (uint64_t i = 0; i < node->extent; i++) {
        move_selected(run, b, dump, alone, level + 1, select, memory, tensor);
        select += node->select;
        memory += node->memory;
        tensor += node->tensor;
    }
}

/* Steps of the outermost selector loop that threads share: different words, so different bytes. */
typedef struct shared_steps {
    const td_run *run;
    size_t box;
    bool dump;
    unsigned pieces;
} shared_steps;

static void run_steps(void *context, unsigned piece)
{
    const shared_steps *s = context;
    const td_plan *plan = s->run->plan;
    const td_box *box = &plan->data[s->box];
    const td_node *node = &plan->node[box->first_node];
    const uint64_t begin = node->extent * piece / s->pieces, end = node->extent * (piece + 1) / s->pieces;
    for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
        move_selected(s->run, s->box, s->dump, true, 1, box->select + i * node->select, box->memory + i * node->memory,
                      box->tensor + i * node->tensor);
}

static void move_box(const td_run *run, size_t b, bool dump)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->data[b];
    shared_steps s = {.run = run, .box = b, .dump = dump, .pieces = 1};
    if (box->selectors && !plan->slides && plan->node[box->first_node].tensor)
        s.pieces = td_pool_pieces(plan->elems * plan->tensor_dtype.bytes, plan->node[box->first_node].extent);
    if (s.pieces > 1)
        td_pool_run(s.pieces, run_steps, &s);
    else
        move_selected(run, b, dump, false, 0, box->select, box->memory, box->tensor);
}

/* The data boxes; those in pieces go step by step. */
static void move_all(const td_run *run, bool dump)
{
    const td_plan *plan = run->plan;
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_box *box = &plan->data[b];
        if (plan->rows[b].way == TD_ROWS_NONE)
            walk(NULL, run, box, dump ? dump_row : load_row);
        else
            move_box(run, b, dump);
    }
}

/* Padding is a load of one element, again and again. */
static void pad_selected(const td_run *run, size_t b, size_t level, int64_t select, int64_t memory)
{
    const td_plan *plan = run->plan;
    const td_box *box = &plan->pads[b];
    if (level == box->selectors) {
        td_rows_run(&plan->pad_rows[b], run, false, true, ground_at(run, select), memory, 0);
        return;
    }
    const td_node *node = &plan->node[box->first_node + level];
    for (uint64_t i = 0; i < node->extent; i++, select += node->select, memory += node->memory)
        pad_selected(run, b, level + 1, select, memory);
}

static void pad_all(const td_run *run)
{
    const td_plan *plan = run->plan;
    uint64_t value = plan->pad_bits;
    td_run pad = {.plan = plan, .bank = run->bank, .tensor = (unsigned char *)&value};
    for (size_t b = 0; b < plan->pads_count; b++) {
        const td_box *box = &plan->pads[b];
        if (plan->pad_rows[b].way == TD_ROWS_NONE)
            walk(NULL, run, box, pad_row);
        else
            pad_selected(&pad, b, 0, box->select, box->memory);
    }
}

void td_exec_load(const td_run *run)
{
    const td_plan *plan = run->plan;
    if (plan->in_order) {
        load_in_order(run);
        return;
    }
    if (plan->lane_mask)
        walk_all(NULL, run, plan->words, plan->words_count, clear_row);
    pad_all(run);
    move_all(run, false);
}

void td_exec_dump(const td_run *run)
{
    move_all(run, true);
}

/* Memory values that a dump could not convert, in `error` mode. */
static bool check_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                      int64_t memory, int64_t tensor)
{
    td_status *status = context;
    const td_piece *piece = run->plan->piece + box->first_piece;
    const unsigned stored = run->plan->memory_dtype.bytes;
    stage s;
    size_t bad = 0;
    for (uint64_t done = 0; done < node->extent && !*status && !box->piece_count; done += STAGE_ELEMS) {
        const uint64_t count = node->extent - done < STAGE_ELEMS ? node->extent - done : STAGE_ELEMS;
        fetch_row(run, ground, memory + (int64_t)done * node->memory, node->memory, s.memory, stored, count);
        *status = td_convert_check(run->convert, s.memory, count, (uint64_t)(tensor + (int64_t)done * node->tensor), node->tensor, &bad);
    }
    for (uint64_t i = 0; i < node->extent && !*status; i++, memory += node->memory, tensor += node->tensor)
        for (size_t k = 0, used = 0; k < box->piece_count && !*status; k += used) {
            const uint64_t bits = memory_value(run, ground, memory, piece + k, box->piece_count - k, &used);
            const uint64_t value = td_dtype_extend(run->plan->memory_dtype, bits);
            *status = td_convert_check(run->convert, &value, 1, (uint64_t)(tensor + piece[k].tensor), 1, &bad);
        }
    return !*status;
}

td_status td_exec_check(const td_run *run)
{
    td_status status = TD_OK;
    walk_all(&status, run, run->plan->data, run->plan->data_count, check_row);
    return status;
}

/* -- comparisons ------------------------------------------------------------------------------------------------------- */

static void note_place(const td_run *run, const unsigned char *ground, int64_t memory, td_clash *clash)
{
    const td_geometry *g = &run->plan->geometry;
    for (uint64_t bank = 0; bank < g->banks; bank++) {
        const unsigned char *first = run->bank[bank], *p = ground + memory / 8;
        if (p >= first && p < first + g->depth_words * g->word_bytes) {
            const uint64_t bit = (uint64_t)(ground - first) * 8 + (uint64_t)memory;
            clash->bank = bank;
            clash->word = bit / (g->word_bytes * 8);
            clash->bit = bit % (g->word_bytes * 8);
        }
    }
}

/* The tensor, against each place of each element. */
static bool equal_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                      int64_t memory, int64_t tensor)
{
    const unsigned bytes = run->plan->tensor_dtype.bytes;
    const td_piece *piece = run->plan->piece + box->first_piece;
    for (uint64_t i = 0; i < node->extent; i++, memory += node->memory, tensor += node->tensor) {
        const size_t lanes = box->piece_count ? box->piece_count : 1;
        for (size_t k = 0, used = 0; k < lanes; k += used) {
            const int64_t elem = tensor + (box->piece_count ? piece[k].tensor : 0);
            const size_t left = box->piece_count ? box->piece_count - k : 0;
            const uint64_t found = tensor_value(run, memory_value(run, ground, memory, piece + k, left, &used), elem);
            const uint64_t expected = td_get_elem(run->tensor + elem * bytes, bytes);
            if (found == expected)
                continue;
            td_clash *clash = context;
            *clash = (td_clash){.elem = (uint64_t)elem, .expected = expected, .found = found};
            note_place(run, ground, memory + (box->piece_count ? piece[k].memory : 0), clash);
            return false;
        }
    }
    return true;
}

bool td_exec_equals(const td_run *run, td_clash *clash)
{
    return walk_all(clash, run, run->plan->data, run->plan->data_count, equal_row);
}

/* Copies: a box without its repeat nodes is the first copy; each other combination of their steps is one more, compared
 * with the first place by place. */
typedef struct copies {
    td_clash *clash;
    int64_t select, memory;       /* from the first copy to this one */
    const td_box *box;            /* the box without its repeats */
    const td_node *node;
} copies;

static bool copies_row(const copies *c, const td_run *run, int64_t select, int64_t memory, int64_t tensor)
{
    const unsigned char *first = ground_at(run, select), *other = ground_at(run, select + c->select);
    const td_piece *piece = run->plan->piece + c->box->first_piece;
    const size_t lanes = c->box->piece_count ? c->box->piece_count : 1;
    for (size_t k = 0, used = 0; k < lanes; k += used) {
        const size_t left = c->box->piece_count ? c->box->piece_count - k : 0;
        const uint64_t expected = memory_value(run, first, memory, piece + k, left, &used);
        const uint64_t found = memory_value(run, other, memory + c->memory, piece + k, left, &used);
        if (expected == found)
            continue;
        *c->clash = (td_clash){.elem = (uint64_t)(tensor + (left ? piece[k].tensor : 0)), .expected = expected, .found = found};
        note_place(run, other, memory + c->memory + (left ? piece[k].memory : 0), c->clash);
        return false;
    }
    return true;
}

static bool walk_copies(const copies *c, const td_run *run, size_t level, int64_t select, int64_t memory, int64_t tensor)
{
    if (level == c->box->node_count)
        return copies_row(c, run, select, memory, tensor);
    const td_node *node = &c->node[level];
    const uint64_t extent = node->tensor ? node->extent : 1;
    for (uint64_t i = 0; i < extent; i++) {
        if (!walk_copies(c, run, level + 1, select, memory, tensor))
            return false;
        select += node->select;
        memory += node->memory;
        tensor += node->tensor;
    }
    return true;
}

static bool each_copy(copies *c, const td_run *run, size_t level, int64_t select, int64_t memory)
{
    if (level == c->box->node_count) {
        c->select = select;
        c->memory = memory;
        return (select == 0 && memory == 0) || walk_copies(c, run, 0, c->box->select, c->box->memory, c->box->tensor);
    }
    const td_node *node = &c->node[level];
    const uint64_t extent = node->tensor ? 1 : node->extent;
    for (uint64_t i = 0; i < extent; i++) {
        if (!each_copy(c, run, level + 1, select, memory))
            return false;
        select += node->select;
        memory += node->memory;
    }
    return true;
}

bool td_exec_copies_agree(const td_run *run, td_clash *clash)
{
    for (size_t b = 0; b < run->plan->data_count; b++) {
        copies c = {.clash = clash, .box = &run->plan->data[b], .node = run->plan->node + run->plan->data[b].first_node};
        if (!each_copy(&c, run, 0, 0, 0))
            return false;
    }
    return true;
}

/* -- words ------------------------------------------------------------------------------------------------------------- */

typedef struct word_walk {
    td_word_visit *visit;
    void *context;
} word_walk;

static void visit_inner(const word_walk *w, const td_plan *plan, uint64_t beats, const td_node *node, size_t count, uint64_t bank,
                        int64_t memory)
{
    const int64_t word_bits = (int64_t)plan->geometry.word_bytes * 8;
    if (count == 0) {
        w->visit(w->context, bank, (uint64_t)(memory / word_bits), beats);
        return;
    }
    if (count == 1 && node->memory == word_bits * (int64_t)beats) {
        w->visit(w->context, bank, (uint64_t)(memory / word_bits), node->extent * beats);
        return;
    }
    for (uint64_t i = 0; i < node->extent; i++)
        visit_inner(w, plan, beats, node + 1, count - 1, bank, memory + node->memory * (int64_t)i);
}

static void visit_selectors(const word_walk *w, const td_plan *plan, const td_box *box, size_t level, int64_t select, int64_t memory)
{
    const td_node *node = &plan->node[box->first_node + level];
    if (level < box->selectors) {
        for (uint64_t i = 0; i < node->extent; i++)
            visit_selectors(w, plan, box, level + 1, select + node->select * (int64_t)i, memory + node->memory * (int64_t)i);
        return;
    }
    uint64_t bank = (uint64_t)select;
    if (plan->table) {
        const uint64_t entry = plan->table[select];
        bank = TD_TABLE_BANK(entry);
        memory += (int64_t)(TD_TABLE_WORD(entry) * plan->geometry.word_bytes * 8);
    }
    visit_inner(w, plan, box->beats, node, box->node_count - level, bank, memory);
}

void td_exec_words(const td_plan *plan, td_word_visit *visit, void *context)
{
    const word_walk w = {visit, context};
    for (size_t b = 0; b < plan->words_count; b++)
        visit_selectors(&w, plan, &plan->words[b], 0, plan->words[b].select, plan->words[b].memory);
}
