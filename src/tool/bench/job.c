/* A case made ready, and the three ways to run it that need no other process: this library, memcpy, plain loops. */
#include "tool/bench/bench.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

double bench_now_ns(void)
{
    return (double)td_now_ns();
}

static void parse_case(const bench_case *c, bench_job *job)
{
    td_shape shape;
    if (td_shape_parse(c->dims, &shape) || shape.rank > BENCH_MAX_DIMS)
        return;
    job->rank = (int)shape.rank;
    for (int i = 0; i < job->rank; i++) {
        job->dim[i] = shape.dim[i];
        job->perm[i] = c->perm[i] - '0';
    }
}

/* "a b c -> (c a) b": the last `lanes` output axes in the second group. */
static void write_pattern(const bench_job *job, char *text)
{
    const int split = job->rank - (int)job->of->lanes;
    char *p = text;
    for (int i = 0; i < job->rank; i++)
        p += sprintf(p, "%c ", 'a' + i);
    p += sprintf(p, "-> (");
    for (int i = 0; i < split; i++)
        p += sprintf(p, "%s%c", i ? " " : "", 'a' + job->perm[i]);
    p += sprintf(p, ") (");
    for (int i = split; i < job->rank; i++)
        p += sprintf(p, "%s%c", i > split ? " " : "", 'a' + job->perm[i]);
    sprintf(p, ")");
}

static unsigned memory_bits(const bench_case *c, const bench_job *job)
{
    char name[16] = {0};
    td_tensor *one = NULL;
    if (!c->as)
        return td_tensor_elem_bits(job->tensor);
    sscanf(c->as, "%15s", name);
    if (td_tensor_create(name, TD_SHAPE(1), &one))
        return 0;
    const unsigned bits = td_tensor_elem_bits(one);
    td_tensor_destroy(&one);
    return bits;
}

static int fail(const bench_case *c)
{
    fprintf(stderr, "td-bench: %s: %s\n", c->name, td_last_error());
    return 1;
}

/* Values to be converted lie in the range of the target, as those of a network do. */
static td_status fill(const bench_case *c, td_tensor *tensor)
{
    if (c->as && c->dtype[0] == 'f')
        return td_tensor_fill_ramp(tensor, -6, 12 / (double)td_tensor_elems(tensor));
    return td_tensor_fill_random(tensor, 1);
}

int bench_job_create(const bench_case *c, const char *options, bench_job *job)
{
    *job = (bench_job){.of = c};
    parse_case(c, job);
    char pattern[64];
    write_pattern(job, pattern);
    td_shape shape = {.rank = (size_t)job->rank};
    uint64_t words = 1, lanes = 1;
    for (int i = 0; i < job->rank; i++) {
        shape.dim[i] = job->dim[i];
        *(i < job->rank - c->lanes ? &words : &lanes) *= job->dim[job->perm[i]];
    }
    if (td_tensor_create(c->dtype, shape, &job->tensor) || fill(c, job->tensor) ||
        td_layout_create(pattern, options, c->address, &job->layout))
        return fail(c);
    job->elem_bytes = td_tensor_elem_bytes(job->tensor);
    job->src_bytes = td_tensor_elems(job->tensor) * job->elem_bytes;
    if (td_memory_create(c->name, lanes * memory_bits(c, job), words, &job->memory))
        return fail(c);
    job->dst_bytes = td_memory_word_bytes(job->memory) * words;
    if (td_backdoor_load_tensor(job->memory, job->tensor, job->layout, c->as))
        return fail(c);

    const size_t huge = (size_t)2 << 20, larger = job->src_bytes > job->dst_bytes ? job->src_bytes : job->dst_bytes;
    const size_t room = (larger + 4096 + huge - 1) / huge * huge;
    job->other = aligned_alloc(huge, room);
    if (!job->other)
        return 1;
    madvise(job->other, room, MADV_HUGEPAGE);
    memset(job->other, 1, room);
    return 0;
}

void bench_job_destroy(bench_job *job)
{
    td_tensor_destroy(&job->tensor);
    td_memory_destroy(&job->memory);
    td_layout_destroy(&job->layout);
    free(job->other);
    *job = (bench_job){0};
}

double bench_time_ours(bench_job *job, uint64_t repetitions)
{
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++)
        if (td_backdoor_load_tensor(job->memory, job->tensor, job->layout, job->of->as))
            return -1;
    return (bench_now_ns() - start) / (double)repetitions;
}

/* Half of what is read and written: the bytes themselves where both sides are as long. */
double bench_time_memcpy(bench_job *job, uint64_t repetitions)
{
    const size_t bytes = (job->src_bytes + job->dst_bytes) / 2;
    const unsigned char *src = td_tensor_data_const(job->tensor);
    unsigned char *dst = td_memory_data(job->memory);
    if (bytes > job->src_bytes) /* the longer side holds both */
        src = job->other;
    if (bytes > job->dst_bytes)
        dst = job->other;
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++) {
        memcpy(dst, src, bytes);
        __asm__ volatile("" ::"r"(dst), "r"(src) : "memory");
    }
    return (bench_now_ns() - start) / (double)repetitions;
}

/* A type cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define LOOPS(type)                                                                                                    \
    static type *loops_##type(const bench_job *job, const uint64_t *stride, int level, type *dst, const type *src)     \
    {                                                                                                                  \
        const uint64_t n = job->dim[job->perm[level]], s = stride[job->perm[level]];                                   \
        if (level == job->rank - 1) {                                                                                  \
            for (uint64_t i = 0; i < n; i++)                                                                           \
                dst[i] = src[i * s];                                                                                   \
            return dst + n;                                                                                            \
        }                                                                                                              \
        for (uint64_t i = 0; i < n; i++)                                                                               \
            dst = loops_##type(job, stride, level + 1, dst, src + i * s);                                              \
        return dst;                                                                                                    \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
LOOPS(uint8_t)
LOOPS(uint16_t)
LOOPS(uint32_t)
LOOPS(uint64_t)

static void pack_loop(const bench_job *job, unsigned bits)
{
    const unsigned char *src = td_tensor_data_const(job->tensor);
    const uint64_t n = td_tensor_elems(job->tensor);
    memset(job->other, 0, (n * bits + 7) / 8);
    for (uint64_t i = 0; i < n; i++)
        for (unsigned b = 0; b < bits; b++)
            job->other[(i * bits + b) / 8] |=
                (unsigned char)((src[i * job->elem_bytes + b / 8] >> b % 8 & 1) << (i * bits + b) % 8);
}

/* Nested loops in the order of the destination; a packed case goes bit by bit. */
static void run_loops(const bench_job *job)
{
    uint64_t stride[BENCH_MAX_DIMS], step = 1;
    for (int i = job->rank; i-- > 0; step *= job->dim[i])
        stride[i] = step;
    void *dst = job->other;
    const void *src = td_tensor_data_const(job->tensor);
    if (td_tensor_elem_bits(job->tensor) != 8 * job->elem_bytes)
        pack_loop(job, td_tensor_elem_bits(job->tensor));
    else if (job->elem_bytes == 1)
        loops_uint8_t(job, stride, 0, dst, src);
    else if (job->elem_bytes == 2)
        loops_uint16_t(job, stride, 0, dst, src);
    else if (job->elem_bytes == 4)
        loops_uint32_t(job, stride, 0, dst, src);
    else
        loops_uint64_t(job, stride, 0, dst, src);
}

double bench_time_loops(bench_job *job, uint64_t repetitions)
{
    if (job->of->as)
        return -1;
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++) {
        run_loops(job);
        __asm__ volatile("" ::"r"(job->other) : "memory");
    }
    return (bench_now_ns() - start) / (double)repetitions;
}
