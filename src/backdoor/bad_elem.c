/* Names an element of the tensor that lies in bits which a call was refused for, as those of a word that its code
 * cannot correct. Called by call.c after such a refusal; it looks at the boxes of the plan one element after another,
 * which takes long only where something is wrong anyway. */
#include "backdoor/call.h"
#include "plan/walk.h"

/* Bits of the storage, counted from the first word of the bank. */
typedef struct range {
    uint64_t bank, low, high;
} range;

static bool meets(const td_plan *plan, td_at at, unsigned bits, const range *bad)
{
    const td_ground ground = td_ground_of(plan, at.select);
    const uint64_t low = ground.word * plan->geometry.word_bytes * 8 + (uint64_t)at.memory;
    return ground.bank == bad->bank && low < bad->high && low + bits > bad->low;
}

/* The element of a step that lies in the range; or -1. */
static int64_t look_at(const td_plan *plan, const td_box *box, td_at at, const range *bad)
{
    const td_piece *piece = plan->piece + box->first_piece;
    if (!box->piece_count)
        return meets(plan, at, plan->memory_dtype.bits, bad) ? at.tensor : -1;
    for (size_t i = 0; i < box->piece_count; i++)
        if (meets(plan, (td_at){0, at.memory + piece[i].memory, at.select}, piece[i].bits, bad))
            return at.tensor + piece[i].tensor;
    return -1;
}

void td_call_name_element(const td_call *c, const td_plan *plan, uint64_t bank, const td_word_bits *bits)
{
    const uint64_t low = bits->word * plan->geometry.word_bytes * 8 + bits->bit;
    const range bad = {bank, low, low + bits->bits};
    for (size_t b = 0; b < plan->data_count && bits->bits; b++) {
        const td_box *box = &plan->data[b];
        td_walk w;
        for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more;
             td_walk_next(&w)) {
            const int64_t elem = look_at(plan, box, w.at, &bad);
            if (elem < 0)
                continue;
            char text[TD_SHAPE_TEXT_BYTES];
            td_shape at;
            td_shape_at(&c->tensor->shape, (uint64_t)elem, &at);
            td_fail_prefix("element %s: ", td_shape_print(&at, text));
            return;
        }
    }
}
