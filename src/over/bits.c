/* Moves boxes of single bits (parts.h). Runs of bytes are copied; fields of words that fill the words of arrays are cut
 * with the kernels of kernels/slice.h; everything else goes through those of kernels/weave.h: one loop of a box is the
 * run of bits that follow each other on one side; where they lie apart on the other, the loop that fills the gaps
 * between them is woven in, as words that share a row. The longest loop that is left runs inside the kernel, the others
 * around it. */
#include "over/parts.h"

#include "kernels/move.h"
#include "kernels/prefetch.h"
#include "kernels/slice.h"
#include "kernels/stream.h"
#include "kernels/weave.h"
#include "plan/walk.h"

#define BLOCK_BITS ((uint64_t)16 << 13) /* 16 KiB */
#define LEAST_ROWS 64
#define STREAM_BYTES ((size_t)4 << 10) /* of a scratch for words that are streamed */
#define STREAM_ROWS 32                 /* of the words: a scratch holds a multiple of so many, which kernels like */
#define SECTION_RUN ((size_t)256)      /* bytes of each array, whose lines are prefetched together */
#define STREAM_RUN 512                 /* bytes: shorter runs are not worth it */
#define LEAST_COPY 128                 /* bits: shorter runs go faster as fields */

static void drop_node(td_node *node, size_t *count, size_t at)
{
    --*count;
    for (size_t i = at; i < *count; i++)
        node[i] = node[i + 1];
}

/* -- slices -------------------------------------------------------------------------------------------------------- */

/* A box whose runs are fields of words, each the whole of a word of an array; the loops that the kernel does not take
 * are around it. */
typedef struct slices {
    td_slicing slice;
    td_node across; /* from field to field */
    td_node node[TD_WALK_NODES];
    size_t count;
} slices;

/* The three loops of a slice: bits, rows and fields that follow each other. */
static bool is_field(const td_plan *plan, const td_node *node)
{
    const uint64_t lane_bits = 8 * plan->geometry.word_bytes;
    return !node->select && node->tensor == 1 && node->memory == 1 && node->extent <= 64 &&
           (node->extent == plan->geometry.width_bits || node->extent == lane_bits);
}

static bool is_row(const td_plan *plan, const td_node *node)
{
    return !node->select && node->memory == (int64_t)(8 * plan->geometry.word_bytes) && node->tensor > 0 &&
           node->tensor % 8 == 0;
}

static bool plan_slices(const td_plan *plan, const td_node *node, const td_box *box, slices *s)
{
    const int64_t lane_bits = (int64_t)(8 * plan->geometry.word_bytes);
    int field = -1, rows = -1, across = -1;
    if (lane_bits > 64 || box->memory % lane_bits)
        return false;
    for (size_t i = 0; i < box->node_count; i++)
        if (field < 0 && is_field(plan, &node[i]))
            field = (int)i;
        else if (node[i].memory % lane_bits)
            return false;
    for (size_t i = 0; i < box->node_count && field >= 0; i++) {
        const td_node *n = &node[i];
        if (across < 0 && n->tensor == (int64_t)node[field].extent && n->extent <= TD_SLICE_MOST &&
            (n->select || n->memory))
            across = (int)i;
        else if (is_row(plan, n) && (rows < 0 || n->extent > node[rows].extent))
            rows = (int)i;
    }
    const bool single = rows < 0 && box->node_count == 2; /* one word: no loop goes over rows */
    if (across < 0 || (rows < 0 && !single) ||
        (rows >= 0 && node[rows].tensor < node[across].tensor * (int64_t)node[across].extent))
        return false;
    s->slice = (td_slicing){.bits = (unsigned)node[field].extent,
                            .lane_bytes = (unsigned)plan->geometry.word_bytes,
                            .slices = (unsigned)node[across].extent,
                            .rows = single ? 1 : node[rows].extent,
                            .row_bytes = single ? 0 : node[rows].tensor / 8};
    s->across = node[across];
    s->count = 0;
    for (size_t i = 0; i < box->node_count; i++)
        if ((int)i != field && (int)i != rows && (int)i != across)
            s->node[s->count++] = node[i];
    return true;
}

bool td_bits_slices(const td_plan *plan, const td_node *node, const td_box *box)
{
    slices s;
    return plan_slices(plan, node, box, &s);
}

/* The arrays' words of some rows are put together in a scratch and stored past the caches, whole lines at a time. */
static void stream_slices(const td_slicing *slice, const td_slice_kernels *kernels, td_move_fn copy,
                          unsigned char *words)
{
    _Alignas(64) unsigned char scratch[STREAM_BYTES];
    unsigned char *lane[TD_SLICE_MOST];
    const size_t lane_bytes = slice->lane_bytes, run = STREAM_BYTES / slice->slices / 64 * 64;
    td_slicing some = *slice;
    some.lane = lane;
    for (unsigned s = 0; s < slice->slices; s++)
        lane[s] = scratch + s * run;
    for (uint64_t r = 0; r < slice->rows; r += some.rows) {
        const uint64_t left = slice->rows - r, most = run / lane_bytes;
        some.rows = left < most ? left : most;
        kernels->slice(&some, words + (int64_t)r * slice->row_bytes);
        for (unsigned s = 0; s < slice->slices; s++)
            copy(slice->lane[s] + r * lane_bytes, 0, lane[s], 0, 1, some.rows * lane_bytes, true);
    }
}

/* The same for rows that follow each other without gaps. */
static void stream_rows(const td_slicing *slice, const td_slice_kernels *kernels, td_move_fn copy, unsigned char *words)
{
    _Alignas(64) unsigned char scratch[STREAM_BYTES];
    unsigned char *lane[TD_SLICE_MOST];
    const uint64_t most = STREAM_BYTES / (size_t)slice->row_bytes / STREAM_ROWS * STREAM_ROWS;
    td_slicing some = *slice;
    some.lane = lane;
    for (uint64_t r = 0; r < slice->rows; r += some.rows) {
        const uint64_t left = slice->rows - r;
        some.rows = left < most ? left : most;
        for (unsigned s = 0; s < slice->slices; s++)
            lane[s] = slice->lane[s] + r * slice->lane_bytes;
        kernels->unslice(&some, scratch);
        copy(words + (int64_t)r * slice->row_bytes, 0, scratch, 0, 1, some.rows * (size_t)slice->row_bytes, true);
    }
}

/* Rows without gaps, of which a scratch holds some. */
static bool are_dense(const td_slicing *slice)
{
    return slice->first_bit == 0 && (uint64_t)slice->row_bytes * 8 == (uint64_t)slice->slices * slice->bits &&
           slice->row_bytes * STREAM_ROWS <= (int64_t)STREAM_BYTES;
}

/* Rows in sections: while one is moved, the lines of the arrays that the next one reaches are on their way, which the
 * processor does not ask for by itself where they are written, nor as far ahead where they are read. */
static void move_sections(const td_slicing *slice, td_slice_fn move, unsigned char *words, bool back)
{
    unsigned char *lane[TD_SLICE_MOST];
    td_slicing some = *slice;
    const uint64_t most = SECTION_RUN / slice->lane_bytes;
    some.lane = lane;
    for (uint64_t r = 0; r < slice->rows; r += some.rows) {
        const uint64_t left = slice->rows - r;
        some.rows = left < most ? left : most;
        const uint64_t next = (r + some.rows) * slice->lane_bytes, after = left - some.rows,
                       end = next + (after < some.rows ? after : some.rows) * slice->lane_bytes;
        for (unsigned s = 0; s < slice->slices; s++) {
            lane[s] = slice->lane[s] + r * slice->lane_bytes;
            td_prefetch_block(slice->lane[s] + next, end - next, !back);
        }
        move(&some, words + (int64_t)r * slice->row_bytes);
    }
}

static void move_slices(const td_plan *plan, const slices *s, const td_box *box, const td_bits_sides *sides)
{
    td_slice_kernels kernels;
    td_move_kernels moves;
    unsigned char *lane[TD_SLICE_MOST];
    td_walk w;
    td_slice_init(&kernels, td_cpu_flags());
    td_move_init(&moves, td_cpu_flags());
    td_slicing slice = s->slice;
    slice.lane = lane;
    const bool large = sides->stream && slice.slices && slice.rows * slice.lane_bytes >= STREAM_RUN,
               past = large && td_stream_cuts_go_past();
    for (td_walk_begin(&w, s->node, s->count, td_box_at(box)); w.more; td_walk_next(&w)) {
        unsigned char *words = sides->words + (w.at.tensor >> 3);
        for (unsigned i = 0; i < slice.slices; i++) {
            const td_at at = td_at_step(w.at, &s->across, i);
            lane[i] = td_ground_at(plan, sides->array, at.select) + at.memory / 8;
        }
        slice.first_bit = (unsigned)(w.at.tensor & 7);
        if (past && !sides->back)
            stream_slices(&slice, &kernels, moves.copy, words);
        else if (past && are_dense(&slice))
            stream_rows(&slice, &kernels, moves.copy, words);
        else if (large)
            move_sections(&slice, sides->back ? kernels.unslice : kernels.slice, words, sides->back);
        else
            (sides->back ? kernels.unslice : kernels.slice)(&slice, words);
    }
}

/* -- weaving ------------------------------------------------------------------------------------------------------- */

/* A box while its loops are given to the kernel. */
typedef struct job {
    td_weave weave;
    bool spread_words; /* the bits lie apart in the words, not in the arrays */
    td_node node[TD_WALK_NODES];
    size_t count;
} job;

static void drop(job *j, size_t at)
{
    drop_node(j->node, &j->count, at);
}

static int64_t near(const td_node *node, bool words)
{
    return words ? node->tensor : node->memory;
}

/* The longest loop over neighbouring bits of one side that a kernel can spread on the other; or -1. */
static int find_run(const job *j, bool words)
{
    int best = -1;
    for (size_t i = 0; i < j->count; i++) {
        const td_node *node = &j->node[i];
        const int64_t far = near(node, !words);
        if (!node->select && near(node, words) == 1 && far >= 1 && far <= TD_WEAVE_STRIDE &&
            (best < 0 || node->extent > j->node[best].extent))
            best = (int)i;
    }
    return best;
}

/* The loop whose steps lie between those of the run. */
static int find_ways(const job *j, bool words)
{
    for (size_t i = 0; i < j->count; i++)
        if (!j->node[i].select && near(&j->node[i], !words) == 1 && near(&j->node[i], words) >= 0 &&
            j->node[i].extent <= j->weave.stride)
            return (int)i;
    return -1;
}

static int find_rows(const job *j)
{
    int best = -1;
    for (size_t i = 0; i < j->count; i++)
        if (!j->node[i].select && j->node[i].tensor >= 0 && j->node[i].memory >= 0 &&
            (best < 0 || j->node[i].extent > j->node[best].extent))
            best = (int)i;
    return best;
}

static void plan_job(const td_node *node, size_t count, job *j)
{
    j->weave = (td_weave){.bits = 1, .stride = 1, .ways = 1, .rows = 1};
    j->count = count;
    for (size_t i = 0; i < j->count; i++)
        j->node[i] = node[i];
    const int of_words = find_run(j, true), of_arrays = find_run(j, false);
    const bool words = of_words >= 0 && (of_arrays < 0 || j->node[of_words].extent >= j->node[of_arrays].extent);
    const int run = words ? of_words : of_arrays;
    j->spread_words = !words;
    if (run >= 0) {
        j->weave.bits = j->node[run].extent;
        j->weave.stride = (unsigned)near(&j->node[run], !words);
        drop(j, (size_t)run);
        const int ways = j->weave.stride > 1 ? find_ways(j, words) : -1;
        if (ways >= 0) {
            j->weave.ways = (unsigned)j->node[ways].extent;
            j->weave.way = near(&j->node[ways], words);
            drop(j, (size_t)ways);
        }
    }
    const int rows = find_rows(j);
    if (rows >= 0) {
        j->weave.rows = j->node[rows].extent;
        j->weave.flat_row = near(&j->node[rows], !j->spread_words);
        j->weave.spread_row = near(&j->node[rows], j->spread_words);
        drop(j, (size_t)rows);
    }
}

/* The loops around the kernel go over the same words again, as those over slices do: so many rows at a time stay in the
 * first-level cache. */
static uint64_t rows_at_once(const job *j)
{
    const int64_t flat = j->weave.flat_row, spread = j->weave.spread_row, bits = flat > spread ? flat : spread;
    const uint64_t rows = bits > 0 ? BLOCK_BITS / (uint64_t)bits : j->weave.rows;
    return j->count == 0 ? j->weave.rows : rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

static bool is_bytes(const job *j, const td_box *box)
{
    int64_t all = box->tensor | box->memory | (int64_t)j->weave.bits | j->weave.flat_row | j->weave.spread_row;
    for (size_t i = 0; i < j->count; i++)
        all |= j->node[i].tensor | j->node[i].memory;
    return j->weave.stride == 1 && j->weave.ways == 1 && j->weave.bits >= LEAST_COPY && all % 8 == 0;
}

/* Rows of whole bytes. */
static void copy_bytes(const td_plan *plan, const job *j, const td_box *box, const td_bits_sides *sides)
{
    const int64_t of_words = (j->spread_words ? j->weave.spread_row : j->weave.flat_row) / 8,
                  of_arrays = (j->spread_words ? j->weave.flat_row : j->weave.spread_row) / 8;
    const size_t bytes = (size_t)j->weave.bits / 8;
    const bool stream = sides->stream && bytes >= STREAM_RUN && td_stream_cuts_go_past();
    td_move_kernels kernels;
    td_walk w;
    td_move_init(&kernels, td_cpu_flags());
    for (td_walk_begin(&w, j->node, j->count, td_box_at(box)); w.more; td_walk_next(&w)) {
        unsigned char *place = td_ground_at(plan, sides->array, w.at.select) + w.at.memory / 8,
                      *word = sides->words + w.at.tensor / 8;
        if (sides->back)
            kernels.copy(word, of_words, place, of_arrays, j->weave.rows, bytes, stream);
        else
            kernels.copy(place, of_arrays, word, of_words, j->weave.rows, bytes, stream);
    }
}

static void move_woven(const td_plan *plan, const td_node *node, const td_box *box, const td_bits_sides *sides)
{
    td_weave_kernels kernels;
    td_walk w;
    job j;
    td_weave_init(&kernels, td_cpu_flags());
    plan_job(node, box->node_count, &j);
    if (is_bytes(&j, box)) {
        copy_bytes(plan, &j, box, sides);
        return;
    }
    const td_weave_fn move = j.spread_words == sides->back ? kernels.weave : kernels.unweave;
    const uint64_t rows = j.weave.rows, block = rows_at_once(&j);
    for (uint64_t first = 0; first < rows; first += block) {
        const int64_t flat = (int64_t)first * j.weave.flat_row, spread = (int64_t)first * j.weave.spread_row;
        j.weave.rows = rows - first < block ? rows - first : block;
        for (td_walk_begin(&w, j.node, j.count, td_box_at(box)); w.more; td_walk_next(&w)) {
            unsigned char *ground = td_ground_at(plan, sides->array, w.at.select);
            const int64_t word = w.at.tensor + (j.spread_words ? spread : flat);
            const int64_t place = w.at.memory + (j.spread_words ? flat : spread);
            if (sides->back)
                move(&j.weave, sides->words, word, ground, place);
            else
                move(&j.weave, ground, place, sides->words, word);
        }
    }
}

void td_bits_move(const td_plan *plan, const td_node *node, const td_box *box, const td_bits_sides *sides)
{
    slices s;
    if (plan_slices(plan, node, box, &s))
        move_slices(plan, &s, box, sides);
    else
        move_woven(plan, node, box, sides);
}
