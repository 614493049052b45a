/* The passes over a graph, each in a file or a function of its own; passes.c lists them in order. Every pass keeps the
 * meaning: what a run leaves in memories, tensors of the caller and reports. */
#ifndef TD_PROGRAM_PASSES_H
#define TD_PROGRAM_PASSES_H

#include "base/divisor.h"
#include "program/program.h"

/* Steps of loops that are the same every time are made once. */
td_status td_pass_hoist(td_program *p, td_graph *g);

/* Slices that are a run of their tensor's elements are no copies. */
td_status td_pass_view(td_program *p, td_graph *g);

/* Loads of neighbouring parts into neighbouring words are one. */
td_status td_pass_join(td_program *p, td_graph *g);

/* Chains of elementwise steps that end in a load, slab by slab through a scratch in the cache. */
td_status td_pass_fuse(td_program *p, td_graph *g);

/* Steps that nothing needs. */
td_status td_pass_drop(td_program *p, td_graph *g);

/* -- what fuse.c makes and fused.c runs ---------------------------------------------------------------------------- */

#define TD_FUSED_STAGES 16
#define TD_FUSED_PIECES 8
#define TD_FUSED_ELEMS 2048 /* that go through all stages together */

/* One step of a chain. */
typedef struct td_fused_stage {
    uint32_t op;         /* the step, for messages and explain */
    const td_step *step; /* or */
    td_convert *convert; /* owned by the fused load */
    uint32_t operand;    /* the second tensor, or TD_NO_OP */
    unsigned bytes;      /* of an element that it gives */
} td_fused_stage;

/* It is in one of three places: inside of the move of its load, in slabs that are loaded one after another, or in one
 * tensor that is then loaded. Where the load goes through a call, as of words that are x, it makes one tensor. */
typedef struct td_fused {
    uint32_t source; /* the tensor that the chain begins with */
    td_fused_stage stage[TD_FUSED_STAGES];
    size_t stages;
    uint64_t elems, row_elems;
    unsigned source_bytes, result_bytes;
    bool inside;
    bool by_layers;
    td_layers cut;
    unsigned pieces;
    size_t scratch_bytes; /* of a piece */
    unsigned char *scratch;
    unsigned char **bank[TD_FUSED_PIECES];
    td_operand operand[TD_FUSED_STAGES]; /* of a run */
    td_divisor run[TD_FUSED_STAGES];     /* the innermost extent of each */

    /* inside of the move */
    td_convert as_convert; /* what exec takes it for */
    td_chain_fn kernel;
    td_chain_step step[TD_FUSED_STAGES];
    const td_convert *last; /* the load's own; or NULL */
} td_fused;

/* chain.c: whether the chain goes inside of the move, made ready for it; *why where the move keeps it out. */
bool td_chain_find(const td_op *op, td_fused *f, const char **why);

void td_fused_free(td_fused *f);

/* The chain: into the words, and *done is set; or into a new tensor, which the caller loads and destroys. */
td_status td_fused_run(const td_graph *g, const td_op *op, bool plain, td_tensor **out, bool *done);

#endif
