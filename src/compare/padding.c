/* Checks padding and untouched bits (padding.h): walks the pieces of all elements against the pad value, and a map
 * of what the layout owns against the snapshots. Called by compare.c. */
#include "compare/padding.h"

#include "kernels/bits.h"

#include <stdlib.h>
#include <string.h>

/* The piece of an element that lies in one word. */
typedef struct piece {
    td_place place;
    unsigned elem_bit, bits;
} piece;

typedef void piece_fn(void *context, const piece *p);

/* Calls fn for every piece of every element, copies too. */
static void walk_pieces(const td_plan *plan, const td_box *boxes, size_t count, piece_fn *fn, void *context)
{
    const td_piece whole = {.bits = plan->memory_dtype.bits};
    td_walk w;
    for (size_t b = 0; b < count; b++) {
        const td_box *box = &boxes[b];
        const td_piece *of = box->piece_count ? plan->piece + box->first_piece : &whole;
        for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more; td_walk_next(&w))
            for (size_t k = 0; k < (box->piece_count ? box->piece_count : 1); k++) {
                const td_at at = {w.at.tensor, w.at.memory + of[k].memory, w.at.select};
                if (of[k].bits)
                    fn(context, &(piece){td_place_of(plan, at, of[k].bits), of[k].elem_bit, of[k].bits});
            }
    }
}

/* -- padding ------------------------------------------------------------------------------------------------------- */

typedef struct padding {
    const td_run *run;
    const td_memory *const *bank;
    td_report *report;
    bool counted; /* an earlier piece of the same element was wrong */
} padding;

static bool is_unknown(const td_memory *memory, const piece *p)
{
    return memory->unknown_any && memory->x != TD_X_ZERO &&
           td_get_bits(memory->unknown->data + p->place.address * memory->word_bytes, (int64_t)p->place.lsb, p->bits);
}

static void look_at_pad(void *context, const piece *p)
{
    padding *pad = context;
    const td_plan *plan = pad->run->plan;
    td_report *r = pad->report;
    const unsigned char *word = pad->run->bank[p->place.bank] + p->place.address * plan->geometry.word_bytes;
    const uint64_t actual = td_get_bits(word, (int64_t)p->place.lsb, p->bits);
    const uint64_t expected = plan->pad_bits >> p->elem_bit & td_low_bits(p->bits);
    const bool unknown = is_unknown(pad->bank[p->place.bank], p);
    r->pads += p->elem_bit == 0;
    pad->counted &= p->elem_bit != 0;
    if ((actual == expected && !unknown) || pad->counted)
        return;
    pad->counted = true;
    if (!r->pad_mismatches++)
        r->first_pad =
            (td_entry){.expected = expected, .actual = actual, .verdict = {.unknown = unknown}, .place = p->place};
}

void td_compare_padding(const td_run *run, const td_memory *const *bank, td_report *report)
{
    padding pad = {run, bank, report, false};
    walk_pieces(run->plan, run->plan->pads, run->plan->pads_count, look_at_pad, &pad);
}

/* -- outside ------------------------------------------------------------------------------------------------------- */

typedef struct marks {
    td_memory **bank; /* 1 where the layout has an element or padding; pages exist only where it has any */
    size_t word_bytes;
} marks;

static void mark(void *context, const piece *p)
{
    const marks *m = context;
    td_put_bits(m->bank[p->place.bank]->data + p->place.address * m->word_bytes, (int64_t)p->place.lsb, p->bits,
                UINT64_MAX);
}

static void note_word(td_report *r, uint64_t bank, uint64_t address, const unsigned char *now,
                      const unsigned char *before, const unsigned char *owned)
{
    td_outside word = {.bank = bank, .address = address};
    for (size_t k = 0; k < r->geometry.word_bytes; k++) {
        const unsigned changed = (unsigned)(now[k] ^ before[k]) & ~(unsigned)owned[k];
        for (unsigned bit = 0; bit < 8; bit++)
            if (changed >> bit & 1) {
                word.lsb = word.bits ? word.lsb : 8 * k + bit;
                word.msb = 8 * k + bit;
                word.bits++;
            }
    }
    if (!word.bits)
        return;
    if (r->outside_words < TD_REPORT_OUTSIDE)
        r->outside[r->outside_words] = word;
    r->outside_words++;
    r->outside_bits += word.bits;
}

static void scan_bank(td_report *r, uint64_t bank, const unsigned char *now, const unsigned char *before,
                      const unsigned char *owned)
{
    const size_t word_bytes = r->geometry.word_bytes;
    const uint64_t block = word_bytes < 4096 ? 4096 / word_bytes : 1;
    for (uint64_t first = 0; first < r->geometry.depth_words; first += block) {
        const uint64_t left = r->geometry.depth_words - first, count = left < block ? left : block;
        if (memcmp(now + first * word_bytes, before + first * word_bytes, count * word_bytes) == 0)
            continue;
        for (uint64_t w = first; w < first + count; w++)
            note_word(r, bank, w, now + w * word_bytes, before + w * word_bytes, owned + w * word_bytes);
    }
}

td_status td_compare_outside(const td_run *run, const td_memory *const *snapshot, td_report *report)
{
    const td_plan *plan = run->plan;
    const size_t banks = plan->geometry.banks;
    marks m = {.bank = calloc(banks, sizeof(td_memory *)), .word_bytes = plan->geometry.word_bytes};
    td_status status = m.bank ? TD_OK : td_fail_alloc(banks * sizeof(td_memory *));
    for (size_t i = 0; i < banks && !status; i++)
        status = td_memory_create("marks", plan->geometry.width_bits, plan->geometry.depth_words, &m.bank[i]);
    if (!status) {
        walk_pieces(plan, plan->data, plan->data_count, mark, &m);
        walk_pieces(plan, plan->pads, plan->pads_count, mark, &m);
        report->has_snapshot = true;
        for (size_t i = 0; i < banks; i++)
            scan_bank(report, i, run->bank[i], snapshot[i]->data, m.bank[i]->data);
    }
    for (size_t i = 0; i < banks && m.bank; i++)
        td_memory_destroy(&m.bank[i]);
    free(m.bank);
    return status;
}

td_status td_memory_snapshot(const td_memory *memory, td_memory **out)
{
    td_memory *copy = NULL;
    if (!memory || !out)
        return td_fail(TD_ARGUMENT, "memory_snapshot: the %s is NULL; pass one", memory ? "output" : "memory");
    td_status status = td_memory_create(memory->name, memory->width_bits, memory->depth_words, &copy);
    if (status) {
        td_fail_prefix("memory_snapshot \"%s\": ", memory->name);
        return status;
    }
    /* Blocks of zeros are not written, so that the copy takes no more memory than the original. */
    static const unsigned char zeros[4096];
    const size_t bytes = (size_t)memory->depth_words * memory->word_bytes;
    for (size_t at = 0; at < bytes; at += sizeof zeros) {
        const size_t count = bytes - at < sizeof zeros ? bytes - at : sizeof zeros;
        if (memcmp(memory->data + at, zeros, count) != 0)
            memcpy(copy->data + at, memory->data + at, count);
    }
    *out = copy;
    return TD_OK;
}
