/* What a comparison found. compare/ fills it pair by pair, guess.c looks for a pattern in it, and text.c, json.c and
 * html.c print it. Its size is bounded whatever the size of the tensor: counts per coordinate, per bank and per lane
 * (in buckets where an axis is long), a coarse grid of the tensor, the first mismatches and a sample of all.
 * Everything but the counters is made at the first mismatch, so a comparison that passes allocates none of it. */
#ifndef TD_REPORT_H
#define TD_REPORT_H

#include "base/divisor.h"
#include "base/text.h"
#include "layout/layout.h"
#include "memory/memory.h"
#include "plan/walk.h"
#include "tensor/tensor.h"
#include "values/judge.h"

#include <stdatomic.h>

#define TD_REPORT_BUCKETS 1024 /* per axis, at most */
#define TD_REPORT_CELLS 32768  /* of the grid, at most */
#define TD_REPORT_SAMPLES 1024
#define TD_REPORT_GUESSES 8
#define TD_REPORT_OUTSIDE 16 /* words outside the layout that are kept */
#define TD_REPORT_BINS 66    /* of the histogram: 0, then 2^(i-1) .. 2^i - 1 steps, the last for NaN */

/* Counts along one axis of the pattern, or of the tensor, or over banks or lanes. */
typedef struct td_tally {
    char *name;
    int dim;         /* the tensor's dimension; -1: banks, -2: lanes; below: wrong bits in macros (macros.h) */
    uint64_t offset; /* padding before the first element */
    uint64_t stride; /* what a step is worth in the dimension */
    uint64_t size;
    uint64_t bucket; /* steps that share a count */
    size_t count;
    uint64_t *mismatches;
    uint64_t grid_bucket; /* steps that share a cell; 0: not in the grid */
    size_t grid_count, grid_stride;
    td_divisor by_stride, by_size, by_bucket, by_grid_bucket;
} td_tally;

typedef struct td_entry {
    uint64_t elem, expected, actual;
    td_verdict verdict;
    td_place place;
    uint64_t lane;
} td_entry;

typedef struct td_grid_cell {
    uint32_t mismatches;
    float error; /* the largest; infinite where there was no number */
} td_grid_cell;

typedef struct td_outside {
    uint64_t bank, address, bits; /* how many bits of the word changed */
    uint64_t lsb, msb;            /* the lowest and the highest of them */
} td_outside;

struct td_report_parts; /* parts.h */

typedef struct td_macros td_macros;

struct td_report {
    const char *memory;                      /* NULL: two tensors. This and the five below lie behind the report */
    const char *pattern, *options, *address; /* of the layout; NULL: two tensors */
    const char *golden;            /* the name of the golden tensor, which is its file where it has one; or NULL */
    const char *actual;            /* that of the other, where two tensors are compared; or NULL */
    struct td_report_parts *parts; /* of a comparison of parts; or NULL */
    char *time;                    /* of the simulation, where somebody said it; or NULL */
    char **bank_name;              /* of each bank, where there are several and something differs; or NULL */
    td_dtype dtype, stored;        /* of the tensor, of the memory */
    td_shape shape;
    td_judge judge;
    td_geometry geometry;
    uint64_t slot_bits, lsb_bits, lanes;
    bool lanes_msb;

    td_statistics statistics; /* where the policy asks; zero errors and cosine 1 where nothing differs */
    uint64_t compared, masked, mismatches, nans; /* nans: mismatches with a NaN on either side */
    uint64_t worst_ulp;
    double worst_error;
    uint64_t pads, pad_mismatches;
    td_entry first_pad;
    char *pad_place; /* in the macros, behind a comma; NULL: the memory lies over no others */
    bool has_snapshot;
    uint64_t outside_bits, outside_words;

    bool ready, failed; /* what follows has been made; an allocation was refused */
    uint64_t last_elem; /* the last mismatch; its coordinates are last_at */
    td_entry *first;
    size_t first_count;
    td_tally *tally;
    size_t tally_count;
    td_grid_cell *grid;
    size_t grid_cells;
    uint64_t bins[TD_REPORT_BINS];
    td_entry *sample;
    size_t sample_count;
    uint64_t sample_every;
    uint64_t changed;  /* bits in which any mismatch differs */
    bool same_actual;  /* every wrong value is that of sample 0 */
    td_macros *macros; /* of memories that lie over others (macros.c); or NULL */
    char *guess[TD_REPORT_GUESSES];
    size_t guess_count;
    _Atomic(char *) line; /* made by the first td_report_line */

    /* td_report_new does not clear what follows: a third of the report, which most never need. */
    td_shape last_at;                      /* the next mismatch is often its neighbour; cleared with `ready` */
    td_outside outside[TD_REPORT_OUTSIDE]; /* as many as outside_words says */
};

/* Where the axes come from: a layout with its tensor, or (layout NULL) the tensor's dimensions. And the memories, for
 * those that lie over others (macros.c), whose mismatches are counted in the macros, too. */
typedef struct td_report_source {
    const td_layout *layout;
    const td_memory *const *bank; /* NULL: the macros do not matter */
    size_t banks;
    const td_plan *plan;
    bool direct; /* the values are the memory's bits: wrong bits are those that differ */
} td_report_source;

/* A report with nothing counted yet: `memory` and `layout` are NULL between two tensors, `actual` elsewhere. NULL
 * without memory. */
td_report *td_report_new(const char *memory, const td_layout *layout, const td_tensor *golden, const td_tensor *actual);

/* One pair that the policy does not accept. `place` is NULL between two tensors. */
void td_report_mismatch(td_report *report, const td_report_source *source, uint64_t elem, uint64_t expected,
                        uint64_t actual, td_verdict verdict, const td_place *place);

/* Takes a pair whose bits differ, accepted or not, into the worst of all. */
static inline void td_report_worst(td_report *r, td_verdict v)
{
    if (v.apart)
        return;
    r->worst_ulp = v.ulp > r->worst_ulp ? v.ulp : r->worst_ulp;
    r->worst_error = v.error > r->worst_error ? v.error : r->worst_error;
}

/* Keeps the names of several banks where something differs, so that the report can say them after the memories' end;
 * and the name of one, or "". */
void td_report_name_banks(td_report *r, const td_memory *const *bank, size_t banks);
const char *td_report_bank_name(const td_report *r, uint64_t bank);

/* Adds a group, before the first pair is counted. */
void td_report_add_tally(td_report *report, const char *name, int dim, uint64_t size);

/* After the last pair, while the memories are there: sorts the first mismatches. */
void td_report_sort(td_report *report);

uint64_t td_report_step(const td_report *report, const td_tally *tally, uint64_t elem);

/* guess.c: words for what the mismatches have in common. `read` gives the element that lies `words` words and
 * `lanes` lanes from a place, and false where there is none; NULL between two tensors. */
typedef bool td_guess_read(void *context, const td_entry *entry, int64_t words, bool mirrored, uint64_t *bits);
void td_report_guess_all(td_report *report, const td_tensor *golden, td_guess_read *read, void *context);
void td_report_say(td_report *report, const char *fmt, ...) TD_PRINTF(2, 3);

/* text.c: a value as people write it: integers whole, floats short and exact. */
#define TD_VALUE_BYTES 40
const char *td_report_value(const td_report *report, uint64_t bits, char *text);
char *td_report_make_line(const td_report *report); /* NULL without memory */

/* json.c: a text in quotes. */
void td_report_json_string(td_text *out, const char *text);

/* parts.c: what a report of parts has beside; nothing where it is none. */
void td_report_parts_head(const td_report *report, td_text *out);
void td_report_parts_text(const td_report *report, td_text *out);
void td_report_parts_free(struct td_report_parts *parts);

#endif
