/* The organisation of a memory (organisation.h): compiles the layout into a plan of single bits, cuts runs of words out
 * of it (parts.c), keeps the last of them, and moves them. Called by over.c. */
#include "over/organisation.h"

#include "exec/exec.h"
#include "kernels/move.h"
#include "over/joined.h"
#include "over/parts.h"
#include "plan/locate.h"
#include "plan/walk.h"

#include <stdlib.h>

#define KEPT 8                          /* parts: a testbench moves the same words again */
#define PASS_BOXES 16                   /* more take longer to look through than a block takes to move */
#define DIRECT_BITS ((uint64_t)1 << 16) /* runs of so many move in less time than a part takes to make */

struct td_organisation {
    td_plan *plan;
    uint64_t width; /* bits of a word of the memory */
    uint64_t pitch; /* bits from word to word, as it stores them */
    uint64_t copies;
    td_bit_part *part[KEPT];
    unsigned oldest;
};

static uint64_t count_copies(const td_plan *plan)
{
    uint64_t most = 1;
    for (size_t b = 0; b < plan->data_count; b++) {
        uint64_t copies = 1;
        for (size_t i = 0; i < plan->data[b].node_count; i++) {
            const td_node *node = &plan->node[plan->data[b].first_node + i];
            copies *= node->tensor ? 1 : node->extent;
        }
        most = copies > most ? copies : most;
    }
    return most;
}

/* Every bit has a place of its own, or copies that are a loop of their own: all below relies on it. */
static td_status check_places(const td_plan *plan, const td_layout *layout)
{
    if (plan->windows)
        return td_fail(
            TD_PATTERN,
            "the organisation \"%s\" has windows, which put bits in several places or in none; write copies as "
            "an axis of their own, as m in \"w k -> m w k\" with m=2",
            layout->pattern.text);
    return TD_OK;
}

td_status td_organisation_create(const td_layout *layout, uint64_t width_bits, uint64_t depth_words,
                                 const td_geometry *arrays, td_organisation **out)
{
    if (layout->alias_last)
        return td_fail(TD_OPTION, "alias=last in the organisation; leave it out: every bit has a place of its own");
    td_organisation *o = calloc(1, sizeof *o);
    if (!o)
        return td_fail_alloc(sizeof *o);
    const td_shape shape = {2, {depth_words, width_bits}};
    td_plan_request request = {.layout = layout, .shape = &shape, .geometry = *arrays};
    o->width = width_bits;
    o->pitch = 8 * td_word_bytes(width_bits);
    request.pitch = o->pitch;
    td_status status = td_dtype_parse("u1", &request.tensor_dtype);
    request.memory_dtype = request.tensor_dtype;
    if (!status)
        status = td_plan_create(&request, &o->plan);
    if (!status)
        status = check_places(o->plan, layout);
    if (status) {
        td_organisation_destroy(&o);
        return status;
    }
    o->copies = count_copies(o->plan);
    *out = o;
    return TD_OK;
}

void td_organisation_destroy(td_organisation **organisation)
{
    td_organisation *o = *organisation;
    if (!o)
        return;
    for (int i = 0; i < KEPT; i++)
        td_bit_part_destroy(&o->part[i]);
    td_plan_release(&o->plan);
    free(o);
    *organisation = NULL;
}

uint64_t td_organisation_copies(const td_organisation *organisation)
{
    return organisation->copies;
}

static td_bit_part *find_part(td_organisation *o, uint64_t first, uint64_t count, uint64_t copy)
{
    for (int i = 0; i < KEPT; i++) {
        td_bit_part *part = o->part[i];
        if (part && part->first == first && part->count == count && part->copy == copy)
            return part;
    }
    td_bit_part *made = NULL;
    if (td_bit_part_create(o->plan, o->width, o->pitch, first, count, copy, &made))
        return NULL;
    td_bit_part_destroy(&o->part[o->oldest]);
    o->part[o->oldest] = made;
    o->oldest = (o->oldest + 1) % KEPT;
    return made;
}

/* A run that moves without a part, box by box. */
typedef struct direct {
    const td_plan *plan;
    const td_organisation *organisation;
    const td_organisation_run *run;
    bool back;
} direct;

static void move_box(void *context, td_node *node, const td_box *box)
{
    const direct *d = context;
    td_box wide = *box;
    td_bit_widen(d->plan, d->organisation->width, d->organisation->pitch, node, &wide);
    td_bits_move(d->plan, node, &wide, &(td_bits_sides){d->run->words, d->run->array, d->back, d->run->stream});
}

static void move_boxes(const td_organisation *o, const td_organisation_run *run, uint64_t copy, bool back)
{
    direct d = {o->plan, o, run, back};
    td_bit_boxes(o->plan, o->pitch, run->first, run->count, copy, move_box, &d);
}

bool td_organisation_passes(const td_organisation *o, bool reads)
{
    return o->plan->data_count <= PASS_BOXES && (o->copies == 1 || !reads);
}

void td_organisation_pass(const td_organisation *o, const td_organisation_run *run, bool back)
{
    move_boxes(o, run, TD_ALL_COPIES, back);
    if (run->stream)
        td_move_fence();
}

typedef struct contiguous {
    const td_organisation *organisation;
    unsigned char *const *array;
    unsigned char *place;
    uint64_t words;
} contiguous;

static void take_contiguous(void *context, td_node *node, const td_box *box)
{
    contiguous *c = context;
    const td_organisation *o = c->organisation;
    td_box wide = *box;
    if (box->tensor || box->memory % 8) /* it begins with a later word, or inside of a byte */
        return;
    td_bit_widen(o->plan, o->width, o->pitch, node, &wide);
    for (size_t i = 0; i < wide.node_count; i++)
        if (node[i].tensor == 1 && node[i].memory == 1 && node[i].extent % o->pitch == 0) {
            c->place = td_ground_at(o->plan, c->array, wide.select) + wide.memory / 8;
            c->words = node[i].extent / o->pitch;
        }
}

unsigned char *td_organisation_find_words(const td_organisation *o, unsigned char *const *array, uint64_t first,
                                          uint64_t *count)
{
    contiguous c = {o, array, NULL, 0};
    if (o->copies == 1)
        td_bit_boxes(o->plan, o->pitch, first, *count, TD_ALL_COPIES, take_contiguous, &c);
    if (c.place)
        *count = c.words;
    return c.place;
}

td_joined *td_organisation_join(const td_organisation *o, const td_plan *plan, bool back)
{
    return td_joined_create(plan, o->plan, back);
}

static void move(td_organisation *o, const td_organisation_run *run, uint64_t copy, bool back)
{
    td_bit_part *part = run->count * o->pitch > DIRECT_BITS ? find_part(o, run->first, run->count, copy) : NULL;
    if (!part) { /* few words, or no memory for a part */
        move_boxes(o, run, copy, back);
        return;
    }
    const td_run bytes = {.plan = &part->bytes, .bank = run->array, .tensor = run->words, .inner = true};
    if (part->bytes.data_count && back)
        td_exec_dump(&bytes);
    else if (part->bytes.data_count)
        td_exec_load(&bytes);
    for (size_t b = 0; b < part->bits.data_count; b++)
        td_bits_move(o->plan, part->bits.node + part->bits.data[b].first_node, &part->bits.data[b],
                     &(td_bits_sides){run->words, run->array, back, false});
}

void td_organisation_write(td_organisation *o, const td_organisation_run *run)
{
    move(o, run, TD_ALL_COPIES, false);
}

void td_organisation_read(td_organisation *o, const td_organisation_run *run, uint64_t copy)
{
    move(o, run, o->copies == 1 ? TD_ALL_COPIES : copy, true);
}

/* -- which words of the arrays ------------------------------------------------------------------------------------- */

typedef struct reaching {
    const td_plan *plan;
    td_row_set *rows;
    uint64_t bits; /* of the boxes */
} reaching;

/* How many of the loops inside a ground, the outermost first, leave whole rows out between their steps; those behind
 * them touch every row of `span` bits and one. They go forward, the longest stride first. */
static size_t count_gaps(const td_node *node, size_t count, uint64_t row_bits, uint64_t *span)
{
    *span = 0;
    while (count && (uint64_t)node[count - 1].memory <= *span + row_bits) {
        count--;
        *span += (node[count].extent - 1) * (uint64_t)node[count].memory;
    }
    return count;
}

static void reach_box(void *context, td_node *node, const td_box *box)
{
    reaching *r = context;
    const uint64_t row_bits = 8 * r->plan->geometry.word_bytes;
    uint64_t span = 0, bits = 1;
    td_walk w;
    for (size_t i = 0; i < box->node_count; i++)
        bits *= node[i].extent;
    r->bits += bits;
    const size_t gaps = count_gaps(node + box->selectors, box->node_count - box->selectors, row_bits, &span);
    for (td_walk_begin(&w, node, box->selectors + gaps, td_box_at(box)); w.more; td_walk_next(&w)) {
        const td_ground ground = td_ground_of(r->plan, w.at.select);
        const uint64_t low = (uint64_t)w.at.memory / row_bits, high = ((uint64_t)w.at.memory + span) / row_bits;
        td_row_set_mark(r->rows, ground.bank, ground.word + low, high - low + 1);
    }
}

bool td_organisation_reach(const td_organisation *o, uint64_t first, uint64_t count, td_row_set *rows)
{
    reaching r = {o->plan, rows, 0};
    td_bit_boxes(o->plan, o->pitch, first, count, TD_ALL_COPIES, reach_box, &r);
    return td_row_set_count(rows) * o->plan->geometry.width_bits == r.bits;
}

/* -- single bits --------------------------------------------------------------------------------------------------- */

typedef struct finding {
    const td_plan *plan;
    td_down_fn *fn;
    void *context;
} finding;

static void find_in_box(void *context, td_node *node, const td_box *box)
{
    const finding *f = context;
    const uint64_t word_bits = 8 * f->plan->geometry.word_bytes;
    size_t loops = box->node_count;
    uint64_t run = 1; /* bits that follow each other, maybe through several words of the array */
    td_walk w;
    if (loops && node[loops - 1].tensor == 1 && node[loops - 1].memory == 1)
        run = node[--loops].extent;
    for (td_walk_begin(&w, node, loops, td_box_at(box)); w.more; td_walk_next(&w)) {
        const td_ground ground = td_ground_of(f->plan, w.at.select);
        td_word_bits at;
        for (uint64_t done = 0; done < run; done += at.bits) {
            const uint64_t bit = (uint64_t)w.at.memory + done, left = word_bits - bit % word_bits;
            at = (td_word_bits){ground.word + bit / word_bits, bit % word_bits, run - done < left ? run - done : left};
            f->fn(f->context, (uint64_t)w.at.tensor + done, ground.bank, &at);
        }
    }
}

void td_organisation_find_down(const td_organisation *o, const td_word_bits *bits, uint64_t copy, td_down_fn *fn,
                               void *context)
{
    finding f = {o->plan, fn, context};
    td_bit_boxes(o->plan, 1, bits->word * o->pitch + bits->bit, bits->bits, copy, find_in_box, &f);
}

static bool take_bit(void *context, const td_located *place)
{
    *(uint64_t *)context = place->elem;
    return false;
}

bool td_organisation_find_up(const td_organisation *o, size_t array, uint64_t word, uint64_t bit, td_word_bits *out)
{
    uint64_t elem = UINT64_MAX;
    td_plan_elems(o->plan, array, word, bit, take_bit, &elem);
    if (elem == UINT64_MAX)
        return false;
    *out = (td_word_bits){elem / o->pitch, elem % o->pitch, 1};
    return true;
}
