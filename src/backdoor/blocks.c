/* Large loads and dumps of memories that lie over others, in blocks (td_blocks of call.h): the words of a block are put
 * together in a scratch and go on through the layers below while the caches have them, or come from there and go on to
 * the tensor. Memory is gone over once, where a whole copy of the words would be written and read again. A block is a
 * layer of the tensor's first dimension (plan/layers.h) whose words follow each other. Words that the tensor has as
 * they stand need no scratch (word_runs.c), and where the layout and what is below are one plan (td_backing.join),
 * there are no blocks. Called by call.c and tensors.c.
 * Calls that may be refused half way, that need words as they were, or whose elements have copies are not cut. */
#include "backdoor/call.h"
#include "base/pool.h"
#include "base/profile.h"

#include <stdlib.h>

#define LEAST_BLOCKS 4 /* smaller calls stay in the caches as they are */
#define MOST_BLOCKS 16 /* of one layer: what the second-level cache may hold of it */

uint64_t td_blocks_bytes = TD_PASS_BYTES;

/* -- finding them -------------------------------------------------------------------------------------------------- */

/* The words of a layer, where they follow each other; 0: they do not. */
static uint64_t count_words(const td_plan *plan, uint64_t *first)
{
    td_span *spans = NULL;
    size_t count = 0;
    if (td_plan_spans(plan, &spans, &count) != TD_OK)
        return 0;
    const uint64_t words = count == 1 ? spans[0].count : 0;
    if (words)
        *first = spans[0].first;
    free(spans);
    return words;
}

static bool may_be_cut(const td_call *c, const td_run *run)
{
    return !run->convert || (!run->convert->numbers && !(run->convert->check && c->writes_tensor));
}

static bool may_pass(const td_call *c)
{
    return c->banks == 1 && !c->staged_words && !c->layout->keep && !c->layout->clip &&
           c->tensor->elems * c->tensor->dtype.bytes >= LEAST_BLOCKS * td_blocks_bytes &&
           td_memory_passes(c->bank[0], c->writes_tensor);
}

/* Layers of the tensor whose words follow each other. */
static bool find_layers(const td_call *c, const td_plan_request *request, td_call_state *s)
{
    const td_memory *memory = c->bank[0];
    td_blocks *b = &s->blocks;
    td_plan_request part = *request;
    if (c->writes_tensor)
        part.part_of_bytes = c->tensor->elems * c->tensor->dtype.bytes;
    if (!may_be_cut(c, &s->run) || !td_layers_find(&part, 1, td_blocks_bytes, &b->cut))
        return false;
    const td_plan *plan = b->cut.plan;
    uint64_t last_first = 0;
    b->words = count_words(plan, &b->first);
    b->last_words = b->words ? count_words(b->cut.last, &last_first) : 0;
    const bool copies = plan->copies || plan->slides || plan->repeats || plan->windows;
    if (!b->last_words || last_first != b->first || (copies && c->writes_tensor) ||
        b->words * memory->word_bytes > MOST_BLOCKS * td_blocks_bytes)
        td_layers_free(&b->cut);
    return b->cut.plan != NULL;
}

void td_blocks_find(const td_call *c, const td_plan_request *request, const td_plan *plan, td_call_state *s)
{
    td_blocks *b = &s->blocks;
    b->runs.words = 0;
    b->joined = NULL;
    b->cut = (td_layers){0};
    if (!may_pass(c))
        return;
    const bool plain = !s->run.convert && td_words_plain(c, plan);
    const td_backing *backing = c->bank[0]->backing;
    if (plain && !td_word_runs_find(c, plan, &b->runs) && backing->join)
        b->joined = backing->join(c->bank[0], plan, c->writes_tensor);
    b->found = b->runs.words || b->joined || find_layers(c, request, s);
}

void td_blocks_end(const td_call *c, td_blocks *b)
{
    if (b->joined)
        c->bank[0]->backing->free_joined(&b->joined);
    td_layers_free(&b->cut);
}

/* -- running them -------------------------------------------------------------------------------------------------- */

/* What threads share: pieces, each some of the blocks, with a scratch of its own. */
typedef struct job {
    const td_call *call;
    const td_call_state *state;
    unsigned pieces;
    bool stream;
} job;

static uint64_t first_block(const job *j, uint64_t piece)
{
    return j->state->blocks.cut.count * piece / j->pieces;
}

/* Step from block to block, in words. */
static int64_t step_words(const td_call *c, const td_blocks *b)
{
    return b->cut.step_bytes / (int64_t)c->bank[0]->word_bytes;
}

static uint64_t first_word(const td_call *c, const td_blocks *b, uint64_t block)
{
    return (uint64_t)((int64_t)b->first + (int64_t)block * step_words(c, b));
}

/* `scratch` is the place of the first block of the piece in the memory's own copy. */
static void run_block(const job *j, uint64_t block, unsigned char *scratch)
{
    const td_blocks *b = &j->state->blocks;
    const td_memory *memory = j->call->bank[0];
    const td_tensor *tensor = j->call->tensor;
    const bool is_last = block + 1 == b->cut.count;
    const uint64_t words = is_last ? b->last_words : b->words, word = first_word(j->call, b, block),
                   row_bytes = tensor->elems / tensor->shape.dim[0] * tensor->dtype.bytes;
    unsigned char *bank = scratch - b->first * memory->word_bytes;
    td_run run = j->state->run;
    run.plan = is_last ? b->cut.last : b->cut.plan;
    run.bank = &bank;
    run.tensor = tensor->data + block * b->cut.rows * row_bytes;
    if (j->call->writes_tensor) {
        memory->backing->read_words(memory, word, words, scratch, false);
        td_exec_dump(&run);
    } else {
        td_exec_load(&run);
        memory->backing->write_words(memory, word, words, scratch, j->stream);
    }
}

static void run_pieces(void *context, unsigned begin, unsigned end)
{
    const job *j = context;
    const td_memory *memory = j->call->bank[0];
    for (unsigned piece = begin; piece < end; piece++) {
        const uint64_t first = first_block(j, piece);
        unsigned char *scratch = memory->data + first_word(j->call, &j->state->blocks, first) * memory->word_bytes;
        for (uint64_t block = first; block < first_block(j, piece + 1); block++)
            run_block(j, block, scratch);
    }
}

/* What is known of the words below: `reach` names all runs of one array in a row. */
typedef struct look {
    const td_memory *last;
    bool alone;
} look;

static void look_below(void *context, td_memory *below, uint64_t first, uint64_t count)
{
    look *l = context;
    l->alone = l->alone && below != l->last && td_words_alone(below, first, count);
    l->last = below;
}

bool td_words_alone(const td_memory *memory, uint64_t first, uint64_t count)
{
    look l = {NULL, true};
    return !memory->backing || (memory->backing->reach(memory, first, count, look_below, &l) && l.alone);
}

/* Each piece has its words for itself, where threads write them. */
static bool may_be_shared(const job *j)
{
    const td_blocks *b = &j->state->blocks;
    bool apart = step_words(j->call, b) == (int64_t)b->words;
    for (unsigned piece = 0; piece < j->pieces && apart && !j->call->writes_tensor; piece++) {
        const uint64_t from = first_block(j, piece), to = first_block(j, piece + 1),
                       count = (to - from) * b->words - (to == b->cut.count ? b->words - b->last_words : 0);
        apart = td_words_alone(j->call->bank[0], first_word(j->call, b, from), count);
    }
    return apart;
}

void td_blocks_run(const td_call *c, const td_call_state *s)
{
    TD_LIGHT_STEP(step, "move blocks");
    td_profile_step_bytes(step, c->tensor->elems * c->tensor->dtype.bytes);
    const td_blocks *b = &s->blocks;
    if (b->runs.words) {
        td_word_runs_run(c, &b->runs);
        return;
    }
    if (b->joined) {
        c->bank[0]->backing->run_joined(c->bank[0], b->joined, c->tensor->data,
                                        td_stream_cuts(c->tensor->elems * c->tensor->dtype.bytes));
        return;
    }
    job j = {c, s, td_pool_parts(c->tensor->elems * c->tensor->dtype.bytes, b->cut.count),
             td_stream_cuts(b->cut.count * b->words * c->bank[0]->word_bytes)};
    if (j.pieces > 1 && !may_be_shared(&j))
        j.pieces = 1;
    td_pool_run(j.pieces, run_pieces, &j);
}
