/* Moves boxes of single bits (parts.h) with the kernels of kernels/weave.h. One loop of a box is the run of bits that
 * follow each other on one side; where they lie apart on the other, the loop that fills the gaps between them is woven
 * in, as words that share a row. The longest loop that is left runs inside the kernel, the others around it. */
#include "over/parts.h"

#include "kernels/weave.h"
#include "plan/walk.h"

#define BLOCK_BITS ((uint64_t)16 << 13) /* 16 KiB */
#define LEAST_ROWS 64

/* A box while its loops are given to the kernel. */
typedef struct job {
    td_weave weave;
    bool spread_words; /* the bits lie apart in the words, not in the arrays */
    td_node node[TD_WALK_NODES];
    size_t count;
} job;

static void drop(job *j, size_t at)
{
    j->count--;
    for (size_t i = at; i < j->count; i++)
        j->node[i] = j->node[i + 1];
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

void td_bits_move(const td_plan *plan, const td_node *node, const td_box *box, unsigned char *words,
                  unsigned char *const *array, bool back)
{
    td_weave_kernels kernels;
    td_walk w;
    job j;
    td_weave_init(&kernels, td_cpu_flags());
    plan_job(node, box->node_count, &j);
    const td_weave_fn move = j.spread_words == back ? kernels.weave : kernels.unweave;
    const uint64_t rows = j.weave.rows, block = rows_at_once(&j);
    for (uint64_t first = 0; first < rows; first += block) {
        const int64_t flat = (int64_t)first * j.weave.flat_row, spread = (int64_t)first * j.weave.spread_row;
        j.weave.rows = rows - first < block ? rows - first : block;
        for (td_walk_begin(&w, j.node, j.count, td_box_at(box)); w.more; td_walk_next(&w)) {
            unsigned char *ground = td_ground_at(plan, array, w.at.select);
            const int64_t word = w.at.tensor + (j.spread_words ? spread : flat);
            const int64_t place = w.at.memory + (j.spread_words ? flat : spread);
            if (back)
                move(&j.weave, words, word, ground, place);
            else
                move(&j.weave, ground, place, words, word);
        }
    }
}
