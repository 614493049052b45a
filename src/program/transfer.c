/* Step 1 of a bridge for a whole program (tensordoor_bridge.h): every word that a run reads crosses once before it,
 * every word that it writes once after it, however many steps touch it. */
#include "design/transfer.h"

#include "program/program.h"

#include <stdlib.h>

/* What step 1 is about. */
typedef struct listing {
    const td_graph *graph;
    const td_schedule *schedule;
    td_memory *const *memories;
    size_t count;
    uint64_t *words;
} listing;

/* The words of one memory; those that it lies over follow in td_layers_spread. */
static td_status list_words(const listing *l, size_t number, int effects)
{
    td_memory *memory = l->memories[number];
    td_span *spans = NULL;
    size_t count = 0;
    td_status status = td_schedule_spans(l->graph, l->schedule, memory, effects, &spans, &count);
    l->words[number] = 0;
    for (size_t i = 0; i < count && !status; i++) {
        td_transfer_add_span(memory->transfer, spans[i].first, spans[i].count);
        l->words[number] += spans[i].count;
    }
    free(spans);
    return status ? status : td_transfer_end_list(memory->transfer);
}

static td_status begin_lists(const listing *l, bool again)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < l->count && !status; i++)
        status = again ? td_transfer_list_again(l->memories[i]) : td_transfer_begin_list(l->memories[i]);
    return status;
}

static td_status list_written(const listing *l)
{
    td_status status = begin_lists(l, true);
    for (size_t i = 0; i < l->count && !status; i++)
        status = list_words(l, i, TD_PROGRAM_WRITES);
    return status ? status : td_layers_spread(l->memories, l->count);
}

/* Words of a copy below a memory that it writes may hold other bits as well, and then come in too. */
static td_status list_read(const listing *l)
{
    bool *shared = calloc(l->count + 1, sizeof *shared), layers = false;
    td_status status = shared ? begin_lists(l, false) : td_fail_alloc(l->count + 1);
    for (size_t i = 0; i < l->count; i++)
        layers |= l->memories[i]->backing != NULL;
    if (!status && layers) {
        status = list_written(l);
        for (size_t i = 0; i < l->count && !status; i++)
            shared[i] = l->memories[i]->transfer->shared;
        if (!status)
            status = begin_lists(l, false);
    }
    for (size_t i = 0; i < l->count && !status; i++)
        status = list_words(l, i, TD_PROGRAM_READS | TD_PROGRAM_PARTLY | (shared[i] ? TD_PROGRAM_WRITES : 0));
    free(shared);
    return status ? status : td_layers_spread(l->memories, l->count);
}

static td_status check(td_memory *const *memories, size_t count, td_program_effect effect, const uint64_t *words)
{
    if ((!memories && count) || !words)
        return td_fail(TD_ARGUMENT, "the %s NULL; pass one for each memory", words ? "memories are" : "output is");
    for (size_t i = 0; i < count; i++)
        if (!memories[i])
            return td_fail(TD_ARGUMENT, "memory %zu is NULL; pass one", i);
    if (effect != TD_PROGRAM_READS && effect != TD_PROGRAM_WRITES)
        return td_fail(TD_ARGUMENT, "effect %d; pass TD_PROGRAM_READS or TD_PROGRAM_WRITES", (int)effect);
    return TD_OK;
}

td_status td_transfer_program(td_program *program, const char *label, const char *arguments, td_memory *const *memories,
                              size_t count, td_program_effect effect, uint64_t *words)
{
    td_schedule *s = NULL;
    td_status status = check(memories, count, effect, words);
    const bool asked_well = !status; /* what is refused then is the run that this call is a part of */
    if (!status)
        status = td_program_prepare(program, label, arguments, &s);
    if (!status) {
        const listing l = {program->graph, s, memories, count, words};
        status = effect == TD_PROGRAM_WRITES ? list_written(&l) : list_read(&l);
    }
    if (status)
        td_fail_prefix(asked_well ? "program_run: " : "transfer_program: ");
    return status;
}
