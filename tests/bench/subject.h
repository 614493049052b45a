/* What the benches of this folder time: a layout with a tensor and memories made ready, the calls on them as runners of
 * one signature, and the clock that lets runners take turns. naive/ and search/ are made of it. It measures;
 * what a figure must be is for its callers to say. */
#ifndef TD_BENCH_SUBJECT_H
#define TD_BENCH_SUBJECT_H

#include "tensordoor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings that are NULL are "". */
typedef struct subject_text {
    const char *dtype, *shape, *pattern, *options, *address, *as;
    uint64_t width_bits;
    const char *fill;    /* of the tensor, as in td_tensor_fill; NULL: random bits */
    size_t offset_bytes; /* the tensor is mapped from a file, so many bytes behind a page; 0: one of the library's */
} subject_text;

typedef struct subject {
    subject_text text;
    td_tensor *tensor; /* what is loaded */
    td_tensor *dumped; /* what a dump writes */
    td_memory **memory;
    size_t banks;
    uint64_t depth_words;
    td_layout *layout;
    size_t tensor_bytes, word_bytes, memory_bytes; /* memory_bytes: of one bank */
    size_t touched_bytes;                          /* of the words that a load writes, in all banks */
    unsigned char *from, *to;                      /* what memcpy reads and writes: huge pages, touched */
    char *plan_load, *plan_dump;                   /* the plan's line, cut after the ways of a load and of a dump */
    td_status failed;                              /* the first status of a call that was not TD_OK */
} subject;

/* False with the reason in td_last_error or errno. */
bool subject_open(const subject_text *text, subject *s);
void subject_close(subject *s);

/* The words of every bank to random bits. */
void subject_stir(subject *s);

/* Runners. memcpy moves half of what a call reads and writes: the bytes themselves where both sides are as long. */
void subject_load(void *s);
void subject_dump(void *s);
void subject_compare(void *s);
void subject_memcpy(void *s);
size_t subject_bytes(const subject *s);

typedef struct runner {
    void (*run)(void *context);
    void *context;
    double ns;     /* the median of one call */
    double spread; /* from the 10th to the 90th percentile, by the median */
} runner;

/* The runners take turns, each once before its clock starts; samples are about `sample_ns` long. A runner that takes
 * longer than 20 ms a call gets a ninth of the rounds and no call before. With a sample_ns of 0 a sample is one cold
 * call. */
void measure(runner *runners, size_t count, unsigned rounds, double sample_ns);

/* The clock is the time that this thread had a processor, so that a busy machine slows nothing down. For calls over
 * several threads it has to be the clock on the wall. */
void measure_by_wall(bool wall);

/* For one ratio: runner 0's time by runner 1's, the median of the rounds' own ratios. */
double measure_ratio(runner *pair, unsigned rounds, double sample_ns);

#endif
