/* oneDNN as a peer, where the build found it: a reorder between two strided descriptions of the same axes, on as many
 * threads as ours. It refuses what a reorder cannot say: conversions with rounding rules, words by table, bits. */
#include "tool/bench/moves.h"

#ifdef BENCH_DNNL
#include <dlfcn.h>
#include <dnnl.h>
#include <string.h>

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static dnnl_memory_t src_memory, dst_memory;
static dnnl_primitive_t reorder;

static bool find_type(const char *dtype, dnnl_data_type_t *type)
{
    static const struct {
        const char *name;
        dnnl_data_type_t type;
    } known[] = {{"u8", dnnl_u8},    {"i8", dnnl_s8},   {"bf16", dnnl_bf16},
                 {"u16", dnnl_bf16}, {"f32", dnnl_f32}, {"u32", dnnl_f32}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, dtype) == 0) {
            *type = known[i].type;
            return true;
        }
    return false;
}

static bool make_memory(const bench_job *job, const int *order, dnnl_data_type_t type, void *data, dnnl_memory_t *out)
{
    dnnl_dims_t dims, strides;
    dnnl_dim_t step = 1;
    for (int i = job->rank; i-- > 0; step *= dims[order[i]]) {
        dims[order[i]] = (dnnl_dim_t)job->dim[order[i]];
        strides[order[i]] = step;
    }
    dnnl_memory_desc_t description;
    return dnnl_memory_desc_init_by_strides(&description, job->rank, dims, type, strides) == dnnl_success &&
           dnnl_memory_create(out, &description, engine, data) == dnnl_success;
}

static bool make_reorder(void)
{
    const dnnl_memory_desc_t *src, *dst;
    dnnl_primitive_desc_t description;
    dnnl_memory_get_memory_desc(src_memory, &src);
    dnnl_memory_get_memory_desc(dst_memory, &dst);
    if (dnnl_reorder_primitive_desc_create(&description, src, engine, dst, engine, NULL) != dnnl_success)
        return false;
    const bool made = dnnl_primitive_create(&reorder, description) == dnnl_success;
    dnnl_primitive_desc_destroy(description);
    return made;
}

/* A primitive is made for the threads that OpenMP has at that time. Whose OpenMP it is, is for the library to say. */
static bool set_threads(unsigned threads)
{
    void (*set)(int) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    memcpy(&set, &symbol, sizeof set);
    if (set)
        set((int)threads);
    return set != NULL;
}

bool bench_dnnl_case(const bench_job *job, unsigned threads)
{
    int in_order[BENCH_MAX_DIMS];
    dnnl_data_type_t type;
    bench_dnnl_stop();
    if (job->of->as || job->of->address || !find_type(job->of->dtype, &type) || !set_threads(threads))
        return false;
    if (!engine && (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
                    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success))
        return false;
    for (int i = 0; i < job->rank; i++)
        in_order[i] = i;
    return make_memory(job, in_order, type, (void *)job->src, &src_memory) &&
           make_memory(job, job->perm, type, job->other, &dst_memory) && make_reorder();
}

double bench_dnnl_time(uint64_t repetitions)
{
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, src_memory}, {DNNL_ARG_TO, dst_memory}};
    const double start = bench_now_ns();
    for (uint64_t i = 0; i < repetitions; i++) {
        dnnl_primitive_execute(reorder, stream, 2, arguments);
        dnnl_stream_wait(stream);
    }
    return (bench_now_ns() - start) / (double)repetitions;
}

void bench_dnnl_stop(void)
{
    if (reorder)
        dnnl_primitive_destroy(reorder);
    if (src_memory)
        dnnl_memory_destroy(src_memory);
    if (dst_memory)
        dnnl_memory_destroy(dst_memory);
    reorder = NULL;
    src_memory = dst_memory = NULL;
}
#else
bool bench_dnnl_case(const bench_job *job, unsigned threads)
{
    (void)job;
    (void)threads;
    return false;
}

double bench_dnnl_time(uint64_t repetitions)
{
    (void)repetitions;
    return -1;
}

void bench_dnnl_stop(void) {}
#endif
