/* A case of moves made ready, and the three ways to run it that need no other process: this library, memcpy, plain
 * loops. */
#include "tool/bench/moves.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Values to be converted lie in the range of the target, as those of a network do. */
static td_status fill(const bench_case *c, td_tensor *tensor)
{
    if (c->as && c->dtype[0] == 'f')
        return td_tensor_fill_ramp(tensor, -6, 12 / (double)td_tensor_elems(tensor));
    return td_tensor_fill_random(tensor, 1);
}

/* The same elements in a tensor that begins `offset` bytes behind a page, as one in a file does. */
static bool map_tensor(const bench_case *c, td_tensor **tensor)
{
    char path[] = "/tmp/td-bench-XXXXXX", name[256], *p = name;
    const int file = mkstemp(path);
    const td_shape shape = td_tensor_shape(*tensor);
    const size_t bytes = (size_t)td_tensor_elems(*tensor) * td_tensor_elem_bytes(*tensor);
    bool good = file >= 0 && lseek(file, (off_t)c->offset_bytes, SEEK_SET) >= 0;
    for (size_t at = 0; good && at < bytes;) {
        const ssize_t written = write(file, (const char *)td_tensor_data_const(*tensor) + at, bytes - at);
        good = written > 0;
        at += good ? (size_t)written : 0;
    }
    if (file >= 0)
        close(file);
    p += sprintf(p, "raw,dtype=%s,offset=%zu,shape=", c->dtype, c->offset_bytes);
    for (size_t i = 0; i < shape.rank; i++)
        p += sprintf(p, "%s%llu", i ? "x" : "", (unsigned long long)shape.dim[i]);
    sprintf(p, ":%s", path);
    td_tensor_destroy(tensor);
    good = good && !td_tensor_open(name, NULL, tensor);
    if (file >= 0)
        unlink(path);
    return good;
}

/* To the peers a dump is the move that reads the words: the axes as they come out, and the order that takes them
 * back. */
static void exchange_sides(bench_job *job)
{
    uint64_t dim[BENCH_MAX_DIMS] = {0};
    int perm[BENCH_MAX_DIMS] = {0};
    for (int i = 0; i < job->rank; i++) {
        dim[i] = job->dim[job->perm[i]];
        perm[job->perm[i]] = i;
    }
    memcpy(job->dim, dim, sizeof dim);
    memcpy(job->perm, perm, sizeof perm);
    const size_t bytes = job->src_bytes;
    job->src_bytes = job->dst_bytes;
    job->dst_bytes = bytes;
    job->src = td_memory_data(job->memory);
    job->dst = td_tensor_data(job->tensor);
}

bool bench_job_agrees(bench_job *job)
{
    return bench_time_loops(job, 1) < 0 || memcmp(job->other, job->dst, job->dst_bytes) == 0;
}

int bench_job_create(const bench_case *c, const char *options, bench_job *job)
{
    *job = (bench_job){.of = c};
    parse_case(c, job);
    char pattern[64];
    write_pattern(job, pattern);
    td_shape shape = {.rank = (size_t)job->rank};
    uint64_t words = 1;
    job->lanes = 1;
    for (int i = 0; i < job->rank; i++) {
        shape.dim[i] = job->dim[i];
        *(i < job->rank - c->lanes ? &words : &job->lanes) *= job->dim[job->perm[i]];
    }
    if (td_tensor_create(c->dtype, shape, &job->tensor) || fill(c, job->tensor) ||
        td_layout_create(pattern, options, c->address, &job->layout) ||
        (c->offset_bytes && !map_tensor(c, &job->tensor)))
        return 1;
    job->elem_bytes = td_tensor_elem_bytes(job->tensor);
    job->src_bytes = td_tensor_elems(job->tensor) * job->elem_bytes;
    if (td_memory_create(c->name, job->lanes * memory_bits(c, job), words, &job->memory))
        return 1;
    job->dst_bytes = td_memory_word_bytes(job->memory) * words;
    job->src = td_tensor_data_const(job->tensor);
    job->dst = td_memory_data(job->memory);
    if (td_backdoor_load_tensor(job->memory, job->tensor, job->layout, c->as))
        return 1;
    if (c->dump)
        exchange_sides(job);
    job->table = c->place ? malloc(words * sizeof *job->table) : NULL;
    for (uint64_t w = 0; job->table && w < words; w++)
        job->table[w] = (uint32_t)c->place(w);

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
    free(job->table);
    free(job->other);
    *job = (bench_job){0};
}

td_status bench_job_call(bench_job *job)
{
    return job->of->dump ? td_backdoor_dump_tensor(job->memory, job->tensor, job->layout, job->of->as)
                         : td_backdoor_load_tensor(job->memory, job->tensor, job->layout, job->of->as);
}

double bench_time_ours(bench_job *job, uint64_t repetitions)
{
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++)
        if (bench_job_call(job))
            return -1;
    return (bench_now_ns() - start) / (double)repetitions;
}

/* Half of what is read and written: the bytes themselves where both sides are as long. */
double bench_time_memcpy(bench_job *job, uint64_t repetitions)
{
    const size_t bytes = (job->src_bytes + job->dst_bytes) / 2;
    const void *src = bytes > job->src_bytes ? job->other : job->src; /* the longer side holds both */
    void *dst = bytes > job->dst_bytes ? job->other : job->dst;
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

/* Elements side by side in their words, through an integer that is stored whenever it has 32 bits. */
static void pack_loop(const bench_job *job, unsigned bits, size_t word_bytes)
{
    const unsigned char *src = job->src;
    const uint64_t words = td_tensor_elems(job->tensor) / job->lanes, mask = ~(uint64_t)0 >> (64 - bits);
    for (uint64_t w = 0; w < words; w++) {
        unsigned char *dst = job->other + w * word_bytes, *end = dst + word_bytes;
        uint64_t held = 0;
        unsigned count = 0;
        for (uint64_t l = 0; l < job->lanes; l++, src += job->elem_bytes) {
            uint64_t x = 0;
            memcpy(&x, src, job->elem_bytes);
            held |= (x & mask) << count; /* no more than 31 bits and an element of 33 */
            count += bits;
            for (; count >= 32; count -= 32, dst += 4, held >>= 32)
                memcpy(dst, &held, 4);
        }
        for (; dst < end; dst++, held >>= 8)
            *dst = (unsigned char)held;
    }
}

static void unpack_loop(const bench_job *job, unsigned bits, size_t word_bytes)
{
    const uint64_t words = td_tensor_elems(job->tensor) / job->lanes, sign = (uint64_t)1 << (bits - 1);
    const bool extend = job->of->dtype[0] == 'i';
    unsigned char *dst = job->other;
    for (uint64_t w = 0; w < words; w++) {
        const unsigned char *src = (const unsigned char *)job->src + w * word_bytes;
        uint64_t held = 0;
        unsigned count = 0;
        for (uint64_t l = 0; l < job->lanes; l++, dst += job->elem_bytes) {
            for (; count < bits; count += 8)
                held |= (uint64_t)*src++ << count;
            uint64_t x = held & (2 * sign - 1);
            x = extend ? (x ^ sign) - sign : x;
            memcpy(dst, &x, job->elem_bytes);
            held >>= bits;
            count -= bits;
        }
    }
}

/* Words to where the table says, as ours have one; `bytes` is a constant in each call. */
static inline void place_words(const bench_job *job, uint64_t words, size_t bytes)
{
    const unsigned char *src = job->src;
    for (uint64_t w = 0; w < words; w++)
        if (job->of->dump)
            memcpy(job->other + w * bytes, src + job->table[w] * bytes, bytes);
        else
            memcpy(job->other + job->table[w] * bytes, src + w * bytes, bytes);
}

static void place_loop(const bench_job *job)
{
    const size_t bytes = job->lanes * job->elem_bytes;
    const uint64_t words = td_tensor_elems(job->tensor) / job->lanes;
    if (bytes == 4)
        place_words(job, words, 4);
    else if (bytes == 16)
        place_words(job, words, 16);
    else if (bytes == 128)
        place_words(job, words, 128);
    else
        place_words(job, words, bytes);
}

/* Nested loops in the order of the destination; what has an address goes word by word, what is packed lane by lane. */
static void run_loops(const bench_job *job)
{
    uint64_t stride[BENCH_MAX_DIMS], step = 1;
    for (int i = job->rank; i-- > 0; step *= job->dim[i])
        stride[i] = step;
    void *dst = job->other;
    const unsigned bits = td_tensor_elem_bits(job->tensor);
    const size_t word_bytes = td_memory_word_bytes(job->memory);
    if (job->table)
        place_loop(job);
    else if (bits != 8 * job->elem_bytes)
        (job->of->dump ? unpack_loop : pack_loop)(job, bits, word_bytes);
    else if (job->elem_bytes == 1)
        loops_uint8_t(job, stride, 0, dst, job->src);
    else if (job->elem_bytes == 2)
        loops_uint16_t(job, stride, 0, dst, job->src);
    else if (job->elem_bytes == 4)
        loops_uint32_t(job, stride, 0, dst, job->src);
    else
        loops_uint64_t(job, stride, 0, dst, job->src);
}

double bench_time_loops(bench_job *job, uint64_t repetitions)
{
    if (job->of->as || (job->of->address && !job->table))
        return -1;
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++) {
        run_loops(job);
        __asm__ volatile("" ::"r"(job->other) : "memory");
    }
    return (bench_now_ns() - start) / (double)repetitions;
}
