/* Step 1 of a bridge for a whole program (tensordoor_bridge.h): every word that a run reads crosses once before it,
 * every word that it writes once after it, however many steps touch it. */
#include "design/transfer.h"

#include "program/program.h"

#include <stdlib.h>

#define MOST_LAYERS 4096

/* Whether bits are x, of a memory and of all that it lies over: a new step 1 would forget it. */
static void keep_x(td_memory *memory, bool *flag, size_t *count, bool restore)
{
    size_t below = 0;
    td_memory *const *under = memory->backing ? memory->backing->below(memory, &below) : NULL;
    if (*count == MOST_LAYERS)
        return;
    if (restore)
        memory->unknown_any = flag[*count];
    else
        flag[*count] = memory->unknown_any;
    ++*count;
    for (size_t i = 0; i < below; i++)
        keep_x(under[i], flag, count, restore);
}

static td_status list_words(td_program *p, const td_schedule *s, td_memory *memory, bool writes, uint64_t *words)
{
    td_span *spans = NULL;
    size_t count = 0, layers = 0;
    bool *flag = malloc(MOST_LAYERS * sizeof *flag);
    td_status status =
        flag ? td_schedule_spans(p->graph, s, memory, writes ? TD_PROGRAM_WRITES : TD_PROGRAM_READS | TD_PROGRAM_PARTLY,
                                 &spans, &count)
             : td_fail_alloc(MOST_LAYERS * sizeof *flag);
    if (!status) {
        keep_x(memory, flag, &layers, false);
        status = td_transfer_begin_list(memory);
        layers = 0;
        if (writes)
            keep_x(memory, flag, &layers, true);
    }
    *words = 0;
    for (size_t i = 0; i < count && !status; i++) {
        td_transfer_add_span(memory->transfer, spans[i].first, spans[i].count);
        *words += spans[i].count;
    }
    if (!status)
        status = td_transfer_end_list(memory->transfer);
    if (!status)
        status = td_layers_spread(&memory, 1);
    free(flag);
    free(spans);
    return status;
}

td_status td_transfer_program(td_program *program, const char *label, const char *arguments, td_memory *memory,
                              td_program_effect effect, uint64_t *words)
{
    td_schedule *s = NULL;
    td_status status = TD_OK;
    if (!memory || !words)
        status = td_fail(TD_ARGUMENT, "the %s is NULL; pass one", memory ? "output" : "memory");
    else if (effect != TD_PROGRAM_READS && effect != TD_PROGRAM_WRITES)
        status = td_fail(TD_ARGUMENT, "effect %d; pass TD_PROGRAM_READS or TD_PROGRAM_WRITES", (int)effect);
    if (!status)
        status = td_program_prepare(program, label, arguments, &s);
    if (!status)
        status = list_words(program, s, memory, effect == TD_PROGRAM_WRITES, words);
    if (status)
        td_fail_prefix("transfer_program: ");
    return status;
}
