/* Cases that move a tensor through a layout, and the peers that can do the same. A case is a tensor of `dims` whose
 * axes come out in the order `perm`, the last `lanes` of them in one word. The layout, the plain loops, oneDNN's
 * reorder and NumPy's call are all made from that one line, and all do its whole work: a peer that cannot is left out
 * of the case. */
#ifndef TD_BENCH_MOVES_H
#define TD_BENCH_MOVES_H

#include "tensordoor.h"
#include "tool/bench/bench.h"

#define BENCH_MAX_DIMS 8

typedef struct bench_case {
    const char *name;
    const char *dtype;
    const char *dims;                 /* "8 256 3136" */
    const char *perm;                 /* "021": output axis i is axis perm[i] */
    long lanes;                       /* trailing output axes that form a word */
    const char *as;                   /* NULL: bits move unchanged */
    long numbers;                     /* also with two threads */
    const char *address;              /* NULL: words in order */
    uint64_t (*place)(uint64_t word); /* the same for the plain loops */
    long dump;                        /* the other way: from the memory into a tensor */
    size_t offset_bytes;              /* the tensor is mapped from a file, so many bytes behind a page */
} bench_case;

/* The table of a group of moves (`of` of a bench_group). */
typedef struct bench_moves {
    const bench_case *cases;
    size_t count;
} bench_moves;

/* A group of moves calls these (group_moves.c). A case with `numbers` is two specs. */
size_t bench_moves_count(const bench_group *group);
void bench_moves_spec(const bench_group *group, size_t number, bench_spec *out);
bench_opened bench_moves_open(const bench_group *group, size_t number, const bench_settings *settings,
                              bench_subject *out, char *why, size_t size);

/* One case made ready: both sides, and what the peers need. A dump is for them a move from `src` to `other` like any
 * other: `dim` and `perm` are those of the side that is read. */
typedef struct bench_job {
    const bench_case *of;
    int rank, perm[BENCH_MAX_DIMS];
    uint64_t dim[BENCH_MAX_DIMS];
    td_tensor *tensor;
    td_memory *memory;
    td_layout *layout;
    const void *src; /* the elements of the tensor, or the words of the memory in a dump */
    void *dst;       /* the other of the two */
    size_t src_bytes, dst_bytes, elem_bytes;
    uint64_t lanes;       /* elements in a word */
    uint32_t *table;      /* where the words of a case with an address lie, for the loops; NULL: in order */
    unsigned char *other; /* the destination of the peers: as big as the larger side */
} bench_job;

/* 0, or td_last_error has the reason. `options` are those of the layout. */
int bench_job_create(const bench_case *c, const char *options, bench_job *job);
void bench_job_destroy(bench_job *job);

/* One call of ours. */
td_status bench_job_call(bench_job *job);
/* The plain loops' bytes are ours; true too where they cannot do the case. */
bool bench_job_agrees(bench_job *job);

/* Plain C alone leaves the bytes that all instructions leave. */
bool bench_job_same_as_plain_c(bench_job *job);

/* Times of one repetition, in ns; negative where it cannot do the case. */
double bench_time_loops(bench_job *job, uint64_t repetitions);
double bench_time_memcpy(bench_job *job, uint64_t repetitions);
double bench_time_ours(bench_job *job, uint64_t repetitions);

/* NumPy in a process of its own, asked through pipes; false where there is none. It starts with the first case. */
bool bench_numpy_case(const bench_job *job);
double bench_numpy_time(uint64_t repetitions);
void bench_numpy_stop(void);

/* oneDNN, where it was there at build time, on as many threads as ours. */
bool bench_dnnl_case(const bench_job *job, unsigned threads);
double bench_dnnl_time(uint64_t repetitions);
void bench_dnnl_stop(void);

double bench_now_ns(void);

#endif
