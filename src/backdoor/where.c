/* td_where: where elements and bits lie, from the tensor down to the macros and back. It asks the plan (plan/locate.h)
 * for elements and the layers of the memory (memory/place.h) for runs of bits in macros, and puts neighbours together.
 * It looks at no word of a memory. */
#include "backdoor/where.h"

#include "base/grow.h"
#include "base/text.h"
#include "memory/place.h"
#include "plan/locate.h"
#include "values/as.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct td_where {
    td_where_run *run;
    size_t count, room;
    bool asked_elem; /* a tensor was given */
};

typedef struct work {
    const td_where_question *question;
    const td_plan *plan; /* NULL: no tensor */
    td_where *where;
    td_located elem; /* the last that was found; bits 0: none */
    bool failed;     /* an allocation */
} work;

/* -- runs ---------------------------------------------------------------------------------------------------------- */

/* `next` goes on where a run ends. */
static bool follows(const td_where_run *run, const td_where_run *next)
{
    if (run->kind != next->kind || run->bank != next->bank || run->memory != next->memory || run->word != next->word ||
        run->copy != next->copy || run->macro != next->macro || run->number != next->number || run->row != next->row ||
        run->mixed != next->mixed)
        return false;
    if (run->kind != TD_WHERE_NOTHING && next->bit != run->bit + run->bits)
        return false;
    if (run->has_elem != next->has_elem ||
        (run->has_elem && (run->elem != next->elem || next->elem_bit != run->elem_bit + run->bits)))
        return false;
    const int64_t apart = (int64_t)(next->column - run->column);
    return run->bits == 1 ? apart != 0 : apart == (int64_t)run->bits * run->step;
}

static void add(work *w, const td_where_run *bit)
{
    td_where *where = w->where;
    td_where_run *last = where->count ? &where->run[where->count - 1] : NULL;
    if (last && follows(last, bit)) {
        if (last->bits++ == 1)
            last->step = (int64_t)(bit->column - last->column);
        return;
    }
    td_where_run *const runs = td_grow(where->run, where->count, &where->room, sizeof *runs, 8);
    w->failed |= !runs;
    if (!runs)
        return;
    where->run = runs;
    last = &where->run[where->count++];
    *last = *bit;
    last->step = 1;
    if (bit->has_elem)
        td_shape_at(&w->question->tensor->shape, bit->elem, &last->at);
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

/* Its coordinate comes with the first bit of a run. */
static void set_elem(uint64_t elem, uint64_t elem_bit, td_where_run *run)
{
    run->has_elem = 1;
    run->elem = elem;
    run->elem_bit = elem_bit;
}

static bool take_elem(void *context, const td_located *place)
{
    ((work *)context)->elem = *place;
    return true; /* of alias=last without a plan of its own: the last one */
}

/* The element that has this bit, which is often that of the bit before. */
static void find_elem(work *w, td_where_run *run)
{
    const td_located *e = &w->elem;
    if (!w->plan)
        return;
    if (!e->bits || e->bank != run->bank || e->word != run->word || run->bit < e->bit || run->bit >= e->bit + e->bits) {
        w->elem.bits = 0;
        td_plan_elems(w->plan->last ? w->plan->last : w->plan, run->bank, run->word, run->bit, take_elem, w);
    }
    if (e->bits)
        set_elem(e->elem, e->elem_bit + run->bit - e->bit, run);
}

/* -- the three questions ------------------------------------------------------------------------------------------- */

/* Bits of a word, in one copy after the other. */
static void add_bits(work *w, const td_where_run *first, uint64_t bits)
{
    const td_memory *memory = first->memory;
    const uint64_t copies = td_memory_copies(memory);
    td_macro_bit *place = malloc(bits * sizeof *place);
    w->failed |= !place;
    for (uint64_t copy = 0; copy < copies && !w->failed; copy++) {
        td_macro_bits(memory, &(td_word_bits){first->word, first->bit, bits}, copy, place);
        for (uint64_t i = 0; i < bits && !w->failed; i++) {
            td_where_run run = *first;
            if (!place[i].macro)
                continue;
            run.bits = 1;
            run.bit += i;
            run.copy = copy;
            run.macro = place[i].macro;
            run.number = place[i].number;
            run.row = place[i].row;
            run.column = place[i].column;
            run.mixed = place[i].mixed;
            if (run.has_elem)
                run.elem_bit += i;
            else
                find_elem(w, &run);
            add(w, &run);
        }
    }
    free(place);
}

static void add_word(work *w)
{
    const td_where_question *q = w->question;
    const td_memory *memory = q->banks[q->bank];
    const td_where_run first = {.bank = q->bank, .memory = memory, .word = q->word, .bit = q->lsb};
    add_bits(w, &first, q->bits ? q->bits : memory->width_bits - q->lsb);
}

static bool mixes(const td_memory *memory)
{
    size_t count = 0;
    if (!memory->backing || memory->backing->mixes)
        return memory->backing != NULL;
    td_memory *const *below = memory->backing->below(memory, &count);
    bool some = false;
    for (size_t i = 0; i < count && !some; i++)
        some = mixes(below[i]);
    return some;
}

/* A row of a macro, bit by bit from below. */
static void add_row(work *w)
{
    static const td_where_kind kind[] = {
        [TD_UP_NOTHING] = TD_WHERE_NOTHING, [TD_UP_BIT] = TD_WHERE_DATA, [TD_UP_CHECK] = TD_WHERE_CHECK};
    const td_where_question *q = w->question;
    const td_memory *memory = q->banks[q->bank], *macro = td_memory_macro(memory, q->macro);
    const uint64_t end = q->bits ? q->lsb + q->bits : macro->width_bits;
    const bool mixed = mixes(memory);
    for (uint64_t column = q->lsb; column < end && !w->failed; column++) {
        td_where_run run = {.bits = 1,
                            .bank = q->bank,
                            .macro = macro,
                            .number = q->macro,
                            .row = q->word,
                            .column = column,
                            .mixed = mixed};
        td_word_bits up = {0};
        run.kind = kind[td_macro_bit_up(memory, q->macro, q->word, column, &run.memory, &up)];
        if (run.kind != TD_WHERE_NOTHING) {
            run.word = up.word;
            run.bit = up.bit;
        }
        if (run.kind == TD_WHERE_DATA)
            find_elem(w, &run);
        add(w, &run);
    }
}

static bool add_place(void *context, const td_located *place)
{
    work *w = context;
    td_where_run first = {
        .bank = place->bank, .memory = w->question->banks[place->bank], .word = place->word, .bit = place->bit};
    set_elem(place->elem, place->elem_bit, &first);
    add_bits(w, &first, place->bits);
    return !w->failed;
}

static td_status add_elem(work *w)
{
    const td_shape *shape = &w->question->tensor->shape;
    uint64_t elem = 0;
    for (size_t d = 0; d < shape->rank; d++)
        elem = elem * shape->dim[d] + w->question->coordinate[d];
    td_plan_places(w->plan, elem, add_place, w);
    if (!w->where->count && !w->failed)
        return td_fail(TD_RANGE, "the layout puts this element into no word; pass the coordinate of one that it moves");
    return TD_OK;
}

/* -- what is refused ----------------------------------------------------------------------------------------------- */

td_status td_check_coordinate(const td_shape *shape, const uint64_t *coordinate)
{
    for (size_t d = 0; d < shape->rank; d++)
        if (coordinate[d] >= shape->dim[d])
            return td_fail(TD_RANGE,
                           "coordinate %" PRIu64 " in dimension %zu, which has a length of %" PRIu64
                           "; pass 0 to %" PRIu64,
                           coordinate[d], d, shape->dim[d], shape->dim[d] - 1);
    return TD_OK;
}

static td_status check_bits(const td_where_question *q)
{
    const td_memory *memory = q->bank < q->bank_count ? q->banks[q->bank] : NULL;
    const char *const rows = q->in_macro ? "row" : "word";
    if (!memory)
        return td_fail(TD_RANGE, "bank %" PRIu64 " of %zu; pass 0 to %zu", q->bank, q->bank_count, q->bank_count - 1);
    if (q->in_macro && q->macro >= td_memory_macros(memory))
        return td_fail(TD_RANGE, "macro %zu of %zu; pass 0 to %zu", q->macro, td_memory_macros(memory),
                       td_memory_macros(memory) - 1);
    if (q->in_macro)
        memory = td_memory_macro(memory, q->macro);
    if (q->in_macro && q->word >= memory->depth_words)
        return td_fail(TD_RANGE, "row %" PRIu64 " of %" PRIu64 " in \"%s\"; pass 0 to %" PRIu64, q->word,
                       memory->depth_words, memory->name, memory->depth_words - 1);
    if (q->word >= memory->depth_words)
        return td_fail(TD_RANGE, "word 0x%" PRIx64 " of 0x%" PRIx64 " in \"%s\"; pass 0 to 0x%" PRIx64, q->word,
                       memory->depth_words, memory->name, memory->depth_words - 1);
    if (q->lsb >= memory->width_bits || q->bits > memory->width_bits - q->lsb)
        return td_fail(TD_RANGE,
                       "%" PRIu64 " bit%s from bit %" PRIu64 " on, of %ss of %" PRIu64
                       " bits in \"%s\"; pass bits below %" PRIu64,
                       q->bits ? q->bits : 1, td_text_s(q->bits ? q->bits : 1), q->lsb, rows, memory->width_bits,
                       memory->name, memory->width_bits);
    return TD_OK;
}

static td_status check(const td_where_question *q, const td_call *call)
{
    td_status status = td_call_check_banks(call);
    if (status)
        return status;
    if (q->coordinate && !q->tensor)
        return td_fail(TD_ARGUMENT, "a coordinate of no tensor; pass the tensor and its layout");
    if (q->tensor && !q->layout)
        return td_fail(TD_ARGUMENT, "a tensor without a layout; pass the layout that it lies by");
    return q->coordinate ? td_check_coordinate(&q->tensor->shape, q->coordinate) : check_bits(q);
}

static td_status find_plan(const td_call *call, td_plan **plan)
{
    td_as as;
    td_status status = td_as_parse(td_layout_choose_as(call->layout, call->as), call->tensor->dtype, &as);
    if (!status)
        status = td_call_check_dtype(call, as.dtype);
    return status ? status : td_call_plan(call, as.dtype, plan);
}

td_status td_where_find(const td_where_question *question, td_where **out)
{
    if (!question || !out)
        return td_fail(TD_ARGUMENT, "where: the %s is NULL; pass one", question ? "output" : "question");
    const td_call call = {.operation = "where",
                          .bank = (const td_memory *const *)question->banks,
                          .banks = question->bank_count,
                          .tensor = question->tensor,
                          .layout = question->layout,
                          .as = question->as};
    work w = {.question = question};
    td_plan *plan = NULL;
    td_status status = check(question, &call);
    if (!status && question->tensor)
        status = find_plan(&call, &plan);
    w.plan = plan;
    if (!status && !(w.where = calloc(1, sizeof *w.where)))
        status = td_fail_alloc(sizeof *w.where);
    if (!status) {
        w.where->asked_elem = plan != NULL;
        if (question->coordinate)
            status = add_elem(&w);
        else if (question->in_macro)
            add_row(&w);
        else
            add_word(&w);
    }
    if (!status && w.failed)
        status = td_fail_alloc(w.where->room * sizeof *w.where->run);
    td_plan_release(&plan);
    if (status) {
        td_where_destroy(&w.where);
        return td_call_fail(&call, status);
    }
    *out = w.where;
    return TD_OK;
}

/* -- answers ------------------------------------------------------------------------------------------------------- */

void td_where_destroy(td_where **where)
{
    if (!where || !*where)
        return;
    free((*where)->run);
    free(*where);
    *where = NULL;
}

size_t td_where_count(const td_where *where)
{
    return where ? where->count : 0;
}

td_status td_where_at(const td_where *where, size_t number, td_where_run *out)
{
    if (!where || !out)
        return td_fail(TD_ARGUMENT, "where_at: the %s is NULL; pass one", where ? "output" : "answer");
    if (number >= where->count)
        return td_fail(TD_RANGE, "where_at: run %zu of %zu; pass 0 to %zu", number, where->count, where->count - 1);
    *out = where->run[number];
    return TD_OK;
}

static void add_run(const td_where *where, const td_where_run *run, td_text *out)
{
    char at[TD_SHAPE_TEXT_BYTES];
    if (run->has_elem) {
        td_text_add(out, "element %s ", td_shape_print(&run->at, at));
        td_text_bits(out, run->elem_bit, run->bits, 1);
        td_text_add(out, ", ");
    } else if (where->asked_elem && run->kind == TD_WHERE_DATA)
        td_text_add(out, "no element, ");
    if (run->kind == TD_WHERE_NOTHING)
        td_text_add(out, "nothing of \"%s\", ", run->memory->name);
    else {
        td_text_add(out, "%s\"%s\" word 0x%" PRIx64 " %s", run->kind == TD_WHERE_CHECK ? "check of " : "",
                    run->memory->name, run->word, run->kind == TD_WHERE_CHECK ? "coded " : "");
        td_text_bits(out, run->bit, run->bits, 1);
    }
    if (run->macro != run->memory) {
        td_text_add(out, "%smacro %zu \"%s\" row %" PRIu64 " ", run->kind == TD_WHERE_NOTHING ? "" : ", ", run->number,
                    run->macro->name, run->row);
        td_text_bits(out, run->column, run->bits, run->step);
    }
    td_text_add(out, "%s\n", run->mixed ? ", its bits mixed by a codec" : "");
}

td_status td_where_text(const td_where *where, char **text)
{
    td_text out = {0};
    if (!where || !text)
        return td_fail(TD_ARGUMENT, "where_text: the %s is NULL; pass one", where ? "output" : "answer");
    for (size_t i = 0; i < where->count; i++)
        add_run(where, &where->run[i], &out);
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *text = out.text;
    return TD_OK;
}
