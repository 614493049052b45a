/* Wrong bits in one element of a tensor: td_backdoor_inject. It asks the plan for the element's bits and hands
 * them to codes/fault.c. */
#include "backdoor/where.h"
#include "base/record.h"
#include "codes/fault.h"
#include "plan/cache.h"
#include "plan/locate.h"
#include "values/as.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BITS 64 /* of an element */

/* What the plan says of one element. */
typedef struct search {
    unsigned bits;             /* of the element in memory */
    uint64_t found;            /* 1 << bit of the element */
    td_fault place[MOST_BITS]; /* of each of its bits, in the data words */
} search;

/* The first copy of a bit counts. */
static bool note(void *context, const td_located *place)
{
    search *s = context;
    for (unsigned i = 0; i < place->bits; i++) {
        const unsigned bit = place->elem_bit + i;
        if (s->found >> bit & 1)
            continue;
        s->found |= (uint64_t)1 << bit;
        s->place[bit] = (td_fault){place->word, place->bit + i};
    }
    return s->found != (s->bits < 64 ? ((uint64_t)1 << s->bits) - 1 : ~(uint64_t)0);
}

/* -- which of them -- */

static td_status check_arguments(const td_memory *memory, const td_tensor *tensor, const td_layout *layout,
                                 const uint64_t *coordinate, const char *what, const td_code *code,
                                 td_faults *const *out)
{
    const void *const argument[] = {memory, tensor, layout, coordinate, what, out};
    static const char *const name[] = {"memory", "tensor", "layout", "coordinate", "text", "pointer for the faults"};
    for (size_t i = 0; i < sizeof argument / sizeof *argument; i++)
        if (!argument[i])
            return td_fail(TD_ARGUMENT, "the %s is NULL; pass one", name[i]);
    const td_status status = td_check_coordinate(&tensor->shape, coordinate);
    if (status)
        return status;
    if (code && td_code_coded_bits(code) != memory->width_bits)
        return td_fail(TD_ARGUMENT,
                       "words of %" PRIu64 " bits, and the code \"%.60s\" has %" PRIu64
                       "; pass the coded memory, or a code made for this one",
                       memory->width_bits, code->text, code->coded_bits);
    return TD_OK;
}

static td_status find_element(const td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                              const uint64_t *coordinate, const td_code *code, search *s)
{
    const uint64_t width = code ? code->data_bits : memory->width_bits;
    td_as conversion;
    td_plan *plan = NULL;
    td_status status = td_as_parse(td_layout_choose_as(layout, as), tensor->dtype, &conversion);
    if (status)
        return status;
    const td_plan_request request = {
        .layout = layout,
        .shape = &tensor->shape,
        .tensor_dtype = tensor->dtype,
        .memory_dtype = conversion.dtype,
        .geometry = {
            .width_bits = width, .depth_words = memory->depth_words, .banks = 1, .word_bytes = td_word_bytes(width)}};
    status = td_cache_plan(&request, &plan);
    if (status)
        return status;
    *s = (search){.bits = conversion.dtype.bits};
    uint64_t elem = 0;
    for (size_t d = 0; d < tensor->shape.rank; d++)
        elem = elem * tensor->shape.dim[d] + coordinate[d];
    td_plan_places(plan, elem, note, s);
    td_plan_release(&plan);
    if (!s->found)
        return td_fail(TD_RANGE, "the layout puts this element into no word; pass the coordinate of one that it moves");
    return TD_OK;
}

/* The place of a data bit in the memory, which is coded or not. */
static td_fault in_memory(const td_code *code, td_fault data)
{
    if (code)
        data.bit =
            td_code_bit_at(code, (uint32_t)(data.bit / code->subword_bits), (uint32_t)(data.bit % code->subword_bits));
    return data;
}

/* The check bits of the subwords that the element lies in, each once. */
static size_t add_checks(const search *s, const td_code *code, td_fault *list, size_t count)
{
    uint64_t last_word = UINT64_MAX, last_subword = 0;
    for (unsigned b = 0; b < s->bits; b++) {
        const uint64_t subword = s->place[b].bit / code->subword_bits;
        if (!(s->found >> b & 1) || (s->place[b].word == last_word && subword == last_subword))
            continue;
        last_word = s->place[b].word;
        last_subword = subword;
        for (uint32_t j = 0; j < code->check_bits; j++)
            list[count++] = (td_fault){last_word, td_code_bit_at(code, (uint32_t)subword, code->subword_bits + j)};
    }
    return count;
}

static int compare_faults(const void *a, const void *b)
{
    const td_fault *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->bit > y->bit) - (x->bit < y->bit);
}

/* Fills `list`, which has room for an element and all its check bits, with what the text wants. */
static td_status choose(const search *s, const td_code *code, const td_fault_spec *spec, td_fault *list, size_t *count)
{
    uint64_t order[MOST_BITS * (TD_CODE_CHECKS + 1)];
    td_fault chosen[MOST_BITS * (TD_CODE_CHECKS + 1)];
    size_t all = 0;
    for (size_t i = 0; i < spec->bit_count; i++) {
        if (spec->bit[i] >= s->bits || !(s->found >> spec->bit[i] & 1))
            return td_fail(TD_RANGE, "bit %" PRIu64 " of an element of %u bits; pass 0 to %u", spec->bit[i], s->bits,
                           s->bits - 1);
        list[(*count)++] = in_memory(code, s->place[spec->bit[i]]);
    }
    if (spec->bit_count)
        return TD_OK;
    for (unsigned b = 0; b < s->bits && spec->in != TD_FAULT_CHECK; b++)
        if (s->found >> b & 1)
            chosen[all++] = in_memory(code, s->place[b]);
    if (code && spec->in != TD_FAULT_DATA)
        all = add_checks(s, code, chosen, all);
    if (spec->bits > all)
        return td_fail(TD_RANGE, "bits=%" PRIu64 ", and %zu bits may be flipped; pass at most so many", spec->bits,
                       all);
    for (size_t i = 0; i < all; i++)
        order[i] = i;
    td_fault_pick(order, all, (size_t)spec->bits, spec->seed, 0);
    for (size_t i = 0; i < spec->bits; i++)
        list[(*count)++] = chosen[order[i]];
    return TD_OK;
}

static td_status read_text(const char *what, const td_code *code, td_fault_spec *spec)
{
    const td_status status = td_fault_spec_read(what, spec);
    if (status)
        return status;
    if (spec->seen & TD_FAULT_WHERE)
        return td_fail(TD_OPTION,
                       "\"%.60s\" says which words, and the coordinate says it too; pass bits=, bit=, in= and "
                       "seed= alone",
                       what);
    if (!code && spec->seen & TD_FAULT_CODED)
        return td_fail(TD_OPTION, "\"%.60s\" needs a code, and there is none; pass the memory's code, or leave in= out",
                       what);
    if (!(spec->seen & TD_FAULT_CODED))
        spec->in = TD_FAULT_DATA;
    return TD_OK;
}

td_status td_backdoor_inject(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                             const uint64_t *coordinate, const char *what, const td_code *code, td_faults **out)
{
    search s;
    td_fault_spec spec;
    td_fault *list = NULL;
    size_t count = 0;
    const char *name = memory ? memory->name : NULL;
    td_status status = memory ? td_fault_target(&memory, &code) : TD_OK;
    if (!status)
        status = check_arguments(memory, tensor, layout, coordinate, what, code, out);
    if (!status)
        status = read_text(what, code, &spec);
    if (!status)
        status = find_element(memory, tensor, layout, as, coordinate, code, &s);
    if (!status && !(list = malloc(MOST_BITS * (TD_CODE_CHECKS + 1) * sizeof *list)))
        status = td_fail_alloc(MOST_BITS * (TD_CODE_CHECKS + 1) * sizeof *list);
    if (!status)
        status = choose(&s, code, &spec, list, &count);
    if (!status) {
        qsort(list, count, sizeof *list, compare_faults);
        status = td_faults_apply(memory, list, count, out);
        list = NULL;
    }
    free(list);
    if (status && name)
        td_fail_prefix("backdoor_inject \"%s\": ", name);
    else if (status)
        td_fail_prefix("backdoor_inject: ");
    return td_record_other("backdoor_inject", status);
}
