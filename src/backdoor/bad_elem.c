/* Names an element of the tensor that lies in bits which a call was refused for, as those of a word that its code
 * cannot correct. Called by call.c after such a refusal. */
#include "backdoor/call.h"
#include "plan/locate.h"

static bool take(void *context, const td_located *place)
{
    *(uint64_t *)context = place->elem;
    return false;
}

void td_call_name_element(const td_call *c, const td_plan *plan, uint64_t bank, const td_word_bits *bits)
{
    uint64_t elem = UINT64_MAX;
    char text[TD_SHAPE_TEXT_BYTES];
    td_shape at;
    for (uint64_t i = 0; i < bits->bits && elem == UINT64_MAX; i++)
        td_plan_elems(plan, bank, bits->word, bits->bit + i, take, &elem);
    if (elem == UINT64_MAX)
        return;
    td_shape_at(&c->tensor->shape, elem, &at);
    td_fail_prefix("element %s: ", td_shape_print(&at, text));
}
