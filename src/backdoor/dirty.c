/* Poison in the padding: what a design must not look at. Padding is a matter of layouts, so this takes a tensor and a
 * layout as a load does, and writes into the places of padding alone. Called by users and dpi/. It refuses what a load
 * refuses, and layouts whose padding may lie under elements. Of a tensor in parts it takes all parts: one may lie in
 * the padding of another, so their elements are marked first. */
#include "backdoor/call.h"
#include "backdoor/parts.h"
#include "base/random.h"
#include "base/record.h"
#include "kernels/bits.h"
#include "layout/layout.h"
#include "plan/walk.h"

#include <stdlib.h>

typedef struct poison {
    uint64_t seed, count;    /* padding elements so far */
    td_memory *const *taken; /* for each bank a memory with ones where elements of any part lie; NULL: nowhere */
} poison;

/* Never the pad value, so that every padding element changes from what a load wrote. */
static uint64_t poison_bits(const td_plan *plan, uint64_t seed, uint64_t number)
{
    const uint64_t own = td_low_bits(plan->memory_dtype.bits),
                   bits = (seed ? td_random_at(seed, number) : UINT64_MAX) & own;
    return bits == (plan->pad_bits & own) ? ~bits & own : bits;
}

/* Bits of one element, in one word; they are known from here on. */
static void put_piece(const td_call *c, const td_run *run, td_place place, unsigned bits, uint64_t value)
{
    const td_memory *memory = c->bank[place.bank];
    td_put_bits(run->bank[place.bank] + place.address * memory->word_bytes, (int64_t)place.lsb, bits, value);
    if (memory->unknown)
        td_put_bits(memory->unknown->data + place.address * memory->word_bytes, (int64_t)place.lsb, bits, 0);
}

static bool is_taken(const poison *p, td_place place, unsigned bits)
{
    const td_memory *map = p->taken ? p->taken[place.bank] : NULL;
    return map && td_get_bits(map->data + place.address * map->word_bytes, (int64_t)place.lsb, bits);
}

static void dirty_box(const td_call *c, const td_run *run, const td_box *box, poison *p)
{
    const td_plan *plan = run->plan;
    const td_piece whole = {.bits = plan->memory_dtype.bits},
                   *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
    const size_t pieces = box->piece_count ? box->piece_count : 1;
    td_walk w;
    for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more; td_walk_next(&w)) {
        const uint64_t value = poison_bits(plan, p->seed, p->count);
        bool put = false;
        for (size_t k = 0; k < pieces; k++) {
            const td_at at = {w.at.tensor, w.at.memory + piece[k].memory, w.at.select};
            if (!piece[k].bits)
                continue;
            const td_place place = td_place_of(plan, at, piece[k].bits);
            if (is_taken(p, place, piece[k].bits))
                continue;
            put_piece(c, run, place, piece[k].bits, value >> piece[k].elem_bit);
            put = true;
        }
        p->count += put;
    }
}

/* One layout's call, begun before anything is written. It sees banks without bits that are x or z: those of elements
 * stay as they are. */
typedef struct job {
    td_call call;
    const td_memory *const *bank; /* as they are */
    td_memory *known;
    const td_memory **known_bank;
    td_call_state s;
    bool begun;
} job;

static td_status begin_job(const td_call *c, job *j)
{
    *j = (job){.call = *c, .bank = c->bank};
    td_status status = td_call_check_banks(c);
    if (status)
        return td_call_fail(c, status);
    j->known = calloc(c->banks, sizeof *j->known);
    j->known_bank = calloc(c->banks, sizeof(const td_memory *));
    if (!j->known || !j->known_bank)
        return td_call_fail(c, td_fail_alloc(c->banks * sizeof *j->known));
    for (size_t i = 0; i < c->banks; i++) {
        j->known[i] = *c->bank[i];
        j->known[i].unknown = NULL;
        j->known[i].unknown_any = false;
        j->known_bank[i] = &j->known[i];
    }
    j->call.bank = j->known_bank;
    j->call.compares = true; /* words that lie elsewhere come in whole: most of their bits stay */
    j->begun = true;
    status = td_call_begin(&j->call, &j->s);
    if (!status && c->layout->alias_last)
        status =
            td_fail(TD_OPTION, "alias=last lets elements lie over padding, and they would be overwritten; use a layout "
                               "without it");
    return status;
}

/* May be refused by a codec of a memory below. */
static td_status run_job(job *j, poison *p)
{
    td_call places = j->call;
    places.bank = j->bank;
    const td_plan *plan = j->s.run.plan;
    for (size_t b = 0; plan && b < plan->pads_count; b++)
        dirty_box(&places, &j->s.run, &plan->pads[b], p);
    return td_call_put_back(&j->call, &j->s);
}

/* `status` is that of begin_job or run_job. */
static td_status end_job(job *j, td_status status)
{
    if (j->begun)
        status = td_call_end(&j->call, &j->s, status);
    free(j->known_bank);
    free(j->known);
    return status;
}

static td_status dirty_once(const td_call *c, uint64_t seed, uint64_t *count)
{
    poison p = {.seed = seed};
    job j;
    td_status status = begin_job(c, &j);
    if (!status)
        status = run_job(&j, &p);
    status = end_job(&j, status);
    if (!status && count)
        *count = p.count;
    return td_record_other("backdoor_dirty_padding", status);
}

td_status td_backdoor_dirty_padding(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                                    uint64_t seed, uint64_t *count)
{
    const td_memory *const bank = memory;
    return dirty_once(&(td_call){.operation = "backdoor_dirty_padding",
                                 .bank = &bank,
                                 .banks = 1,
                                 .tensor = tensor,
                                 .layout = layout,
                                 .as = as},
                      seed, count);
}

td_status td_backdoor_dirty_padding_banks(td_memory *const *banks, size_t bank_count, const td_tensor *tensor,
                                          const td_layout *layout, const char *as, uint64_t seed, uint64_t *count)
{
    return dirty_once(&(td_call){.operation = "backdoor_dirty_padding",
                                 .bank = (const td_memory *const *)banks,
                                 .banks = bank_count,
                                 .tensor = tensor,
                                 .layout = layout,
                                 .as = as},
                      seed, count);
}

/* -- all parts of a tensor -- */

/* A part's elements as ones, in the maps of its banks. */
static void mark_elements(const td_placed_part *part, td_memory *const *map)
{
    const td_plan *plan = part->plan;
    const td_piece whole = {.bits = plan->memory_dtype.bits};
    td_walk w;
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_box *box = &plan->data[b];
        const td_piece *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
        for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more; td_walk_next(&w))
            for (size_t k = 0; k < (box->piece_count ? box->piece_count : 1); k++) {
                const td_at at = {w.at.tensor, w.at.memory + piece[k].memory, w.at.select};
                if (!piece[k].bits)
                    continue;
                const td_place place = td_place_of(plan, at, piece[k].bits);
                td_put_bits(map[place.bank]->data + place.address * map[place.bank]->word_bytes, (int64_t)place.lsb,
                            piece[k].bits, UINT64_MAX);
            }
    }
}

/* The map of each memory of the call in the order of a part's banks. */
static void maps_of(const td_placed_part *part, td_memory *const *memories, td_memory *const *map, size_t count,
                    td_memory **out)
{
    for (size_t i = 0; i < part->banks; i++)
        for (size_t m = 0; m < count; m++)
            if (part->bank[i] == memories[m])
                out[i] = map[m];
}

/* `map` has room for two pointers for each memory: the maps, then those of one part. */
static td_status dirty_parts(const td_placed *placed, td_memory *const *memories, size_t count, td_memory **map,
                             poison *p)
{
    td_memory **of_part = map + count;
    job jobs[TD_MOST_PARTS] = {{.begun = false}};
    td_status status = TD_OK;
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (placed->part[kind].layout && placed->part[kind].layout->alias_last)
            status = td_fail(TD_OPTION,
                             "%s: alias=last of the part \"%s\" lets elements lie over padding, and they would be "
                             "overwritten; use a layout without it",
                             placed->operation, placed->parts->form[kind].name);
    for (size_t m = 0; m < count && !status; m++)
        status = td_memory_create("", memories[m]->width_bits, memories[m]->depth_words, &map[m]);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (placed->part[kind].layout) {
            maps_of(&placed->part[kind], memories, map, count, of_part);
            mark_elements(&placed->part[kind], of_part);
        }
    p->taken = of_part;
    td_status of[TD_MOST_PARTS] = {TD_OK};
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (placed->part[kind].layout) {
            const td_call call = td_placed_call(placed, kind, &placed->part[kind].like);
            status = of[kind] = begin_job(&call, &jobs[kind]);
        }
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (placed->part[kind].layout) {
            maps_of(&placed->part[kind], memories, map, count, of_part);
            status = of[kind] = run_job(&jobs[kind], p);
        }
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        (void)end_job(&jobs[kind], of[kind]);
    for (size_t m = 0; m < count; m++)
        td_memory_destroy(&map[m]);
    return status;
}

td_status td_backdoor_dirty_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                                  const td_parts_layout *layout, uint64_t seed, uint64_t *pads)
{
    td_placed placed;
    poison p = {.seed = seed};
    td_status status = td_placed_open(&(td_parts_call){.operation = "backdoor_dirty_parts",
                                                       .memories = memories,
                                                       .count = count,
                                                       .tensor = tensor,
                                                       .layout = layout,
                                                       .from_tensor = true},
                                      &placed);
    td_memory **map = status ? NULL : calloc(2 * count, sizeof(td_memory *));
    if (!status && !map)
        status = td_fail_alloc(2 * count * sizeof(td_memory *));
    if (!status)
        status = dirty_parts(&placed, memories, count, map, &p);
    free(map);
    if (!status && pads)
        *pads = p.count;
    return td_record_other("backdoor_dirty_parts", td_placed_close(&placed, status));
}
