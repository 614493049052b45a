/* Checks padding and untouched bits (padding.h): rows of padding against the pad value, piece by piece only where one
 * is wrong, and a map of what the layout owns against the snapshots. Called by compare.c. */
#include "compare/padding.h"

#include "kernels/bits.h"
#include "report/macros.h"

#include <stdlib.h>
#include <string.h>

/* The piece of an element that lies in one word. */
typedef struct piece {
    td_place place;
    unsigned elem_bit, bits;
} piece;

typedef void piece_fn(void *context, const piece *p);

/* Calls fn for every piece of every element. */
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

/* Padding that is as it should be, row by row: as many lanes at a time as 64 bits hold, or a whole row where lanes are
 * bytes. */
#define PATTERN_BYTES 1024

typedef struct pattern {
    const td_plan *plan;
    unsigned bits, lanes; /* of one lane; how many fit into `word` */
    uint64_t word;
    unsigned char bytes[PATTERN_BYTES];
} pattern;

static void draw_pattern(const td_plan *plan, pattern *p)
{
    *p = (pattern){.plan = plan, .bits = plan->memory_dtype.bits, .lanes = 64u / plan->memory_dtype.bits};
    for (unsigned i = 0; i < p->lanes; i++)
        p->word |= (plan->pad_bits & td_low_bits(p->bits)) << i * p->bits;
    for (size_t at = 0; p->bits % 8 == 0 && at + p->bits / 8 <= PATTERN_BYTES; at += p->bits / 8)
        td_put_bits(p->bytes, (int64_t)(8 * at), p->bits, plan->pad_bits);
}

static bool row_holds(const pattern *p, const unsigned char *ground, const td_node *row, int64_t memory)
{
    uint64_t left = row->extent;
    if (row->memory == (int64_t)p->bits && p->bits % 8 == 0 && memory % 8 == 0) {
        const unsigned char *at = ground + memory / 8;
        for (size_t bytes = (size_t)left * p->bits / 8, n; bytes; bytes -= n, at += n) {
            const size_t most = PATTERN_BYTES / (p->bits / 8) * (p->bits / 8);
            n = bytes < most ? bytes : most;
            if (memcmp(at, p->bytes, n) != 0)
                return false;
        }
        return true;
    }
    const uint64_t together = row->memory == (int64_t)p->bits ? p->lanes : 1;
    while (left) {
        const uint64_t n = left < together ? left : together;
        if (td_get_bits(ground, memory, (unsigned)n * p->bits) != (p->word & td_low_bits((unsigned)n * p->bits)))
            return false;
        memory += row->memory * (int64_t)n;
        left -= n;
    }
    return true;
}

/* True when every padding element is known and holds the pad value; counts them. */
static bool padding_holds(const td_run *run, const td_memory *const *bank, td_report *report)
{
    const td_plan *plan = run->plan;
    uint64_t pads = 0;
    pattern p;
    td_walk w;
    for (size_t i = 0; i < plan->geometry.banks; i++)
        if (bank[i]->unknown_any && bank[i]->x != TD_X_ZERO)
            return false;
    draw_pattern(plan, &p);
    for (size_t b = 0; b < plan->pads_count; b++) {
        if (plan->pads[b].piece_count)
            return false;
        for (td_walk_rows(&w, plan, &plan->pads[b]); w.more; td_walk_next(&w)) {
            if (!row_holds(&p, td_ground_at(plan, run->bank, w.at.select), w.row, w.at.memory))
                return false;
            pads += w.row->extent;
        }
    }
    report->pads += pads;
    return true;
}

void td_compare_padding(const td_run *run, const td_memory *const *bank, td_report *report)
{
    padding pad = {run, bank, report, false};
    if (padding_holds(run, bank, report))
        return;
    walk_pieces(run->plan, run->plan->pads, run->plan->pads_count, look_at_pad, &pad);
    if (report->pad_mismatches)
        td_macros_pad(report, bank, &report->first_pad);
}

/* -- outside ------------------------------------------------------------------------------------------------------- */

/* Ones wherever the layout has an element or padding: a load of ones, which keeps all other bits. The memories are
 * zero, and have pages only where something is written. Words of alias=last may overlap: those are loaded in order here
 * too, since a batch that keeps the bits between its lanes would put back what they were before it began. */
static td_status mark(const td_plan *plan, td_memory *const *marks)
{
    const size_t bytes = (size_t)plan->elems * plan->memory_dtype.bytes;
    unsigned char *ones = malloc(bytes), **data = malloc(plan->geometry.banks * sizeof *data);
    td_plan all = {.geometry = plan->geometry,
                   .tensor_dtype = plan->memory_dtype,
                   .memory_dtype = plan->memory_dtype,
                   .beats = plan->beats,
                   .in_order = plan->in_order,
                   .slides = plan->slides,
                   .skewed = plan->skewed,
                   .cell_bits = plan->cell_bits,
                   .pad_bits = UINT64_MAX,
                   .node = plan->node,
                   .node_count = plan->node_count,
                   .piece = plan->piece,
                   .piece_count = plan->piece_count,
                   .data = plan->data,
                   .data_count = plan->data_count,
                   .pads = plan->pads,
                   .pads_count = plan->pads_count,
                   .words = plan->words,
                   .words_count = plan->words_count,
                   .table = plan->table,
                   .elems = plan->elems};
    td_status status = ones && data ? td_moves_create(&all) : td_fail_alloc(bytes);
    if (!status) {
        memset(ones, 0xff, bytes);
        for (size_t i = 0; i < plan->geometry.banks; i++)
            data[i] = marks[i]->data;
        td_exec_load(&(td_run){.plan = &all, .bank = data, .tensor = ones});
    }
    td_moves_free(&all);
    free(data);
    free(ones);
    return status;
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

/* True when a bit of the block changed that is not owned. */
static bool block_changed(const unsigned char *now, const unsigned char *before, const unsigned char *owned,
                          size_t bytes)
{
    uint64_t changed = 0;
    size_t k = 0;
    for (; k + 8 <= bytes; k += 8)
        changed |= (td_get_elem(now + k, 8) ^ td_get_elem(before + k, 8)) & ~td_get_elem(owned + k, 8);
    for (; k < bytes; k++)
        changed |= (unsigned)(now[k] ^ before[k]) & ~(unsigned)owned[k];
    return changed != 0;
}

static void scan_bank(td_report *r, uint64_t bank, const unsigned char *now, const unsigned char *before,
                      const unsigned char *owned)
{
    const size_t word_bytes = r->geometry.word_bytes;
    const uint64_t block = word_bytes < 4096 ? 4096 / word_bytes : 1;
    for (uint64_t first = 0; first < r->geometry.depth_words; first += block) {
        const uint64_t left = r->geometry.depth_words - first, count = left < block ? left : block;
        if (memcmp(now + first * word_bytes, before + first * word_bytes, count * word_bytes) == 0 ||
            !block_changed(now + first * word_bytes, before + first * word_bytes, owned + first * word_bytes,
                           count * word_bytes))
            continue;
        for (uint64_t w = first; w < first + count; w++)
            note_word(r, bank, w, now + w * word_bytes, before + w * word_bytes, owned + w * word_bytes);
    }
}

td_status td_compare_outside(const td_run *run, const td_memory *const *snapshot, td_report *report)
{
    const td_plan *plan = run->plan;
    const size_t banks = plan->geometry.banks;
    td_memory **marks = calloc(banks, sizeof(td_memory *));
    td_status status = marks ? TD_OK : td_fail_alloc(banks * sizeof(td_memory *));
    for (size_t i = 0; i < banks && !status; i++)
        status = td_memory_create("marks", plan->geometry.width_bits, plan->geometry.depth_words, &marks[i]);
    if (!status)
        status = mark(plan, marks);
    if (!status) {
        report->has_snapshot = true;
        for (size_t i = 0; i < banks; i++)
            scan_bank(report, i, run->bank[i], snapshot[i]->data, marks[i]->data);
    }
    for (size_t i = 0; i < banks && marks; i++)
        td_memory_destroy(&marks[i]);
    free(marks);
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
    status = td_memory_bring_in(memory, 0, memory->depth_words);
    if (status) {
        td_memory_destroy(&copy);
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
