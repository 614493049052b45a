/* Large loads and dumps of memories that lie over others, where the tensor has the words as they stand: rows of bytes
 * in consecutive words, and whatever else is runs of whole words on both sides. The layers below take them out of the
 * tensor, and put them there, without a scratch in between. Called by blocks.c, which has looked at what lies below;
 * words of which some bits are no data are none of this file's. */
#include "backdoor/call.h"
#include "base/pool.h"

#define LEAST_RUN 8  /* of a block's bytes, the part that a run must have: shorter ones are put together first */
#define RUN_BLOCKS 8 /* at once: the layers below cut them as they need */

/* A load writes nothing but data. */
static bool fills(const td_plan *plan)
{
    return plan->fills_pads ? plan->fill_count != 0 : plan->lane_mask || plan->pads_count;
}

bool td_words_plain(const td_call *c, const td_plan *plan)
{
    const td_dtype dtype = plan->tensor_dtype;
    const bool copies = plan->copies || plan->slides || plan->repeats || plan->windows;
    return !plan->in_order && dtype.bits == 8 * dtype.bytes && td_dtype_equal(dtype, plan->memory_dtype) &&
           !fills(plan) && !(copies && c->writes_tensor);
}

bool td_word_runs_find(const td_call *c, const td_plan *plan, td_word_runs *out)
{
    const td_box *box = &plan->data[0];
    if (plan->data_count != 1 || box->selectors || box->piece_count || !box->node_count ||
        c->bank[0]->width_bits != 8 * c->bank[0]->word_bytes)
        return false;
    const td_node *node = &plan->node[box->first_node], *run = &node[box->node_count - 1];
    const int64_t elem_bytes = (int64_t)plan->tensor_dtype.bytes, word_bits = (int64_t)(8 * plan->geometry.word_bytes);
    const uint64_t bytes = run->extent * plan->tensor_dtype.bytes;
    if (run->tensor != 1 || run->memory != 8 * elem_bytes || bytes % plan->geometry.word_bytes ||
        bytes < td_blocks_bytes / LEAST_RUN || box->memory % word_bits)
        return false;
    out->node_count = box->node_count - 1;
    out->at = (td_at){.tensor = box->tensor * elem_bytes, .memory = box->memory / word_bits};
    out->count = 1;
    for (size_t i = 0; i < out->node_count; i++) {
        if (node[i].memory % word_bits)
            return false;
        out->node[i] = (td_node){
            .extent = node[i].extent, .tensor = node[i].tensor * elem_bytes, .memory = node[i].memory / word_bits};
        out->count *= node[i].extent;
    }
    out->words = bytes / plan->geometry.word_bytes;
    return true;
}

/* What threads share: blocks, each some of the words of a run. */
typedef struct job {
    const td_call *call;
    const td_word_runs *runs;
    uint64_t block_words, blocks_each; /* of a run */
    unsigned pieces;
    bool stream;
} job;

static uint64_t first_block(const job *j, uint64_t piece)
{
    return j->runs->count * j->blocks_each * piece / j->pieces;
}

static td_at run_at(const td_word_runs *runs, uint64_t number)
{
    td_at at = runs->at;
    for (size_t i = runs->node_count; i-- > 0; number /= runs->node[i].extent)
        at = td_at_step(at, &runs->node[i], number % runs->node[i].extent);
    return at;
}

static void run_pieces(void *context, unsigned begin, unsigned end)
{
    const job *j = context;
    const td_memory *memory = j->call->bank[0];
    for (uint64_t b = first_block(j, begin); b < first_block(j, end); b++) {
        const td_at at = run_at(j->runs, b / j->blocks_each);
        const uint64_t from = b % j->blocks_each * j->block_words, left = j->runs->words - from,
                       count = left < j->block_words ? left : j->block_words, word = (uint64_t)at.memory + from;
        unsigned char *words = j->call->tensor->data + at.tensor + from * memory->word_bytes;
        if (j->call->writes_tensor)
            memory->backing->read_words(memory, word, count, words, j->stream);
        else
            memory->backing->write_words(memory, word, count, words, j->stream);
    }
}

/* Each piece has its words for itself, where threads write them. */
static bool may_be_shared(const job *j)
{
    bool apart = j->call->writes_tensor || !j->runs->node_count;
    for (unsigned piece = 0; piece < j->pieces && apart && !j->call->writes_tensor; piece++) {
        const uint64_t from = first_block(j, piece) * j->block_words, to = first_block(j, piece + 1) * j->block_words;
        apart = td_words_alone(j->call->bank[0], (uint64_t)j->runs->at.memory + from,
                               (to < j->runs->words ? to : j->runs->words) - from);
    }
    return apart;
}

void td_word_runs_run(const td_call *c, const td_word_runs *runs)
{
    const uint64_t bytes = c->bank[0]->word_bytes, all = runs->count * runs->words * bytes;
    job j = {.call = c, .runs = runs, .stream = td_stream_cuts(all)};
    const uint64_t fit = RUN_BLOCKS * td_blocks_bytes / bytes;
    j.block_words = fit ? fit : 1;
    j.blocks_each = (runs->words - 1) / j.block_words + 1;
    j.pieces = td_pool_parts(all, runs->count * j.blocks_each);
    if (j.pieces > 1 && !may_be_shared(&j))
        j.pieces = 1;
    td_pool_run(j.pieces, run_pieces, &j);
}
