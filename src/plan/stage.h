/* Stages: data boxes whose elements lie at odd bits, ready to run in batches that stay in the first-level cache. A
 * batch is a few units, a unit one word, or the words of a vector whose elements continue from one to the next:
 *
 *   1. the tensor's elements of the batch are moved into a dense scratch of containers, in the order in which the lanes
 *      lie in memory (`permute`, with the kernels of plan/choose.c);
 *   2. they are converted there, if they have to be;
 *   3. they are packed into units (`code`, kernels/pack_words.h), with the bits that are kept;
 *   4. the units go to their places, by strides, by table or by bank.
 *
 * A dump runs backwards. compile.c has stages made where neither a move nor a bit row serves a box well; exec runs them
 * (exec/run_staged.c). Nothing here fails at run time. Not to be confused with staging, which is about words on their
 * way to a design (design/staging.c). */
#ifndef TD_STAGE_H
#define TD_STAGE_H

#include "kernels/gather.h"
#include "kernels/pack.h"
#include "kernels/pack_words.h"
#include "plan/walk.h"

/* Of each scratch: what a batch takes, and the most that it takes where a single unit or a line of the tensor needs
 * more. */
#define TD_STAGE_BYTES 16384
#define TD_STAGE_MOST 24576

#define TD_STAGE_CUTS 2

typedef struct td_stage {
    td_word_code code;
    td_pack_words_fn pack;
    td_unpack_words_fn unpack;
    bool dense;          /* no unit has a bit but those of its elements, which are in the order of their containers */
    bool bytes;          /* and they fill their containers, so that containers are units */
    td_pack_fn pack_row; /* for units that follow one another, where they are dense */
    td_unpack_fn unpack_row;
    bool row; /* a unit is one long row of elements without gaps, from bit `row_bits` on: each goes by those too */
    uint64_t row_bits;
    td_gather_fn scatter, gather; /* of units by table */
    bool far;                     /* their places are not in the caches */
    bool whole;                   /* the words have no bits but those of the code: what else they hold is cleared */
    bool overlaps;                /* neighbouring units share bytes, so that they go one by one */

    uint64_t align_bits; /* units begin at multiples of this many bits above the ground */
    uint64_t phase;      /* the place of the box is this many bits above the first unit */
    uint64_t memory;     /* that place, as the box was compiled for: spares a division */
    int64_t tensor;      /* elements from the box's place to the first container of its first unit */

    size_t unit_count, run; /* run: the innermost node of which a batch has more than one step */
    td_node unit[TD_WALK_NODES];
    uint64_t chunk[TD_WALK_NODES]; /* so many steps of each node are a batch; the last batch may be shorter */

    /* The nodes whose last chunk is shorter. Data box v of `permute` moves the batches in which those in the set v of
     * them are at their last chunk; its memory is the scratch. */
    size_t cuts;
    size_t cut[TD_STAGE_CUTS];
    td_plan permute;
    bool direct[1 << TD_STAGE_CUTS]; /* the containers are dense in the tensor already */
} td_stage;

/* What is known of a box on its way to a stage. */
typedef struct td_stage_draft {
    const td_plan *plan;
    const td_box *box;
    td_node lane[TD_WALK_NODES]; /* outermost first; tensor and memory as in the box */
    size_t lane_count;
    td_piece *place; /* of the elements of a unit, by their place in memory */
    size_t place_count, lanes;
    bool tight;  /* a unit may be the bytes of its elements alone: the rest of its word is not read, and is kept */
    bool clears; /* what no element has of the words of a unit is zero */
    td_stage *stage;
} td_stage_draft;

/* How far a step goes, either way. */
static inline uint64_t td_stage_step(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

static inline uint64_t td_stage_elems(const td_plan *plan, const td_box *box)
{
    uint64_t elems = box->piece_count ? box->piece_count : 1;
    for (size_t i = 0; i < box->node_count; i++)
        elems *= plan->node[box->first_node + i].extent;
    return elems;
}

void td_stage_free(td_stage *stage);

/* Divides a box into units: gives the draft's lanes and places, and of its stage the units, the phase, the bytes of a
 * unit and the order of its containers. *found is false where a box has none. Fails only with TD_NO_MEMORY. */
td_status td_stage_units(td_stage_draft *draft, bool *found);

/* Compiles the places of one unit. `place` has `count` elements by their place in memory, in pieces that are each at
 * bit `memory` of the unit; one with elem_bit 0 begins the next lane. `full` has the bits that a word or a unit has at
 * all, `full_bytes` of them, over and over; NULL where those of no element are cleared. Fails only with
 * TD_NO_MEMORY. */
td_status td_word_code_make(const td_piece *place, size_t count, const unsigned char *full, size_t full_bytes,
                            td_word_code *code);
void td_word_code_free(td_word_code *code);

/* No pass: gives code->packs and code->unpacks to a code that has its parts, where lists are faster than its steps.
 * Fails only with TD_NO_MEMORY. */
td_status td_word_lists_make(td_word_code *code);

/* Elements of a box from which on its units have lists: fewer are moved step by step before a list is made. Tests make
 * it small, so that small boxes have them. */
#define TD_LISTED_ELEMS 16384
extern uint64_t td_listed_elems;

void td_stages_free(td_plan *plan);

/* The stage of data box `b` in one direction, or NULL. The box may lie elsewhere than where it was compiled for, as
 * those of slabs do, so that its stage does not fit any more. */
static inline const td_stage *td_stage_of(const td_plan *plan, size_t b, bool dump)
{
    const td_stage *s = plan->stage ? plan->stage[2 * b + dump] : NULL;
    const uint64_t memory = s ? (uint64_t)plan->data[b].memory : 0;
    return s && (memory == s->memory || memory % s->align_bits == s->phase) ? s : NULL;
}

#endif
