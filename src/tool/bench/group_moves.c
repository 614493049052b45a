/* Groups of moves: a case of cases.c as a subject. Its result is held against plain loops and, where values are
 * converted, against the library's own plain C; the error that a conversion makes is measured against f64. */
#include "base/cpu.h"
#include "tool/bench/eigen_peer.h"
#include "tool/bench/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct move_state {
    bench_job job;
    unsigned threads;
} move_state;

static double run_ours(void *state, uint64_t repetitions)
{
    return bench_time_ours(&((move_state *)state)->job, repetitions);
}

static double run_memcpy(void *state, uint64_t repetitions)
{
    return bench_time_memcpy(&((move_state *)state)->job, repetitions);
}

static double run_loops(void *state, uint64_t repetitions)
{
    return bench_time_loops(&((move_state *)state)->job, repetitions);
}

static double run_numpy(void *state, uint64_t repetitions)
{
    (void)state;
    return bench_numpy_time(repetitions);
}

static double run_dnnl(void *state, uint64_t repetitions)
{
    (void)state;
    return bench_dnnl_time(repetitions);
}

static double run_eigen(void *state, uint64_t repetitions)
{
    (void)state;
    return bench_eigen_time(repetitions);
}

/* On one thread, as Eigen shuffles. */
static bool eigen_takes(const move_state *s)
{
    const bench_job *job = &s->job;
    bench_eigen_move move = {job->rank, {0}, {0}, job->elem_bytes, job->src, job->other};
    if (s->threads > 1 || job->of->as || job->of->address || td_tensor_elem_bits(job->tensor) != 8 * job->elem_bytes)
        return false;
    memcpy(move.dim, job->dim, sizeof move.dim);
    memcpy(move.perm, job->perm, sizeof move.perm);
    return bench_eigen_set(&move);
}

size_t bench_moves_count(const bench_group *group)
{
    const bench_moves *moves = group->of;
    size_t count = 0;
    for (size_t i = 0; i < moves->count; i++)
        count += moves->cases[i].numbers ? 2 : 1;
    return count;
}

static const bench_case *find_case(const bench_group *group, size_t number, unsigned *threads)
{
    const bench_moves *moves = group->of;
    for (size_t i = 0; i < moves->count; i++) {
        const size_t specs = moves->cases[i].numbers ? 2 : 1;
        if (number < specs) {
            *threads = (unsigned)number + 1;
            return &moves->cases[i];
        }
        number -= specs;
    }
    return NULL;
}

/* "transpose_f32_512x512" is a point of the curve "transpose_f32": the size stands behind the last line. */
void bench_moves_spec(const bench_group *group, size_t number, bench_spec *out)
{
    const bench_case *c = find_case(group, number, &out->threads);
    const char *several = out->threads > 1 ? "_2threads" : "";
    const char *size = strrchr(c->name, '_');
    snprintf(out->name, sizeof out->name, "%s%s", c->name, several);
    out->series[0] = '\0';
    if (size && size[1] >= '0' && size[1] <= '9' && !strstr(c->name, "permute_"))
        snprintf(out->series, sizeof out->series, "%.*s%s", (int)(size - c->name), c->name, several);
}

/* Ours with plain C alone, then as it will be timed. */
bool bench_job_same_as_plain_c(bench_job *job)
{
    unsigned char *plain = malloc(job->dst_bytes ? job->dst_bytes : 1);
    const unsigned all = td_cpu_flags();
    td_cpu_mask(TD_CPU_C);
    td_plan_cache_clear();
    bool same = plain && bench_job_call(job) == TD_OK;
    if (same)
        memcpy(plain, job->dst, job->dst_bytes);
    td_cpu_mask(all);
    td_plan_cache_clear();
    same = same && bench_job_call(job) == TD_OK && memcmp(plain, job->dst, job->dst_bytes) == 0;
    free(plain);
    return same;
}

static bool check_move(void *state, char *why, size_t size)
{
    move_state *s = state;
    if (bench_job_call(&s->job) != TD_OK) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        return false;
    }
    if (!bench_job_agrees(&s->job)) {
        snprintf(why, size, "wrong result, so no time: plain loops give other bytes");
        return false;
    }
    if (s->job.of->as && !bench_job_same_as_plain_c(&s->job)) {
        snprintf(why, size, "wrong result, so no time: plain C gives other bytes");
        return false;
    }
    return true;
}

/* The ends of what the memory's type holds, by two values that are far outside of it. */
static bool find_limits(const char *dtype, const char *as, double *least, double *most)
{
    td_tensor *far = NULL, *held = NULL;
    const bool good = !td_tensor_create(dtype, TD_SHAPE(2), &far) && !td_tensor_set_real(far, 0, -1e30) &&
                      !td_tensor_set_real(far, 1, 1e30) && !td_tensor_convert(far, as, &held) &&
                      !td_tensor_get_real(held, 0, least) && !td_tensor_get_real(held, 1, most);
    td_tensor_destroy(&far);
    td_tensor_destroy(&held);
    return good;
}

/* What is in the memory, as the values that it stands for: back into f64, and the difference from what went in. */
static void finish_conversion(void *state, bench_figure *figure)
{
    bench_job *job = &((move_state *)state)->job;
    double worst = 0, squares = 0, least = 0, most = 0, scale = 1;
    uint64_t saturated = 0, n = td_tensor_elems(job->tensor);
    td_tensor *back = NULL;
    const char *word = strstr(job->of->as, "scale=");
    if (word)
        scale = strtod(word + 6, NULL);
    if (job->of->dump || td_tensor_create("f64", td_tensor_shape(job->tensor), &back) ||
        td_backdoor_dump_tensor(job->memory, back, job->layout, job->of->as) ||
        !find_limits(job->of->dtype, job->of->as, &least, &most)) {
        td_tensor_destroy(&back);
        return;
    }
    const double *value = td_tensor_data_const(back);
    for (uint64_t i = 0; i < n; i++) {
        double was = 0;
        td_tensor_get_real(job->tensor, i, &was);
        const double error = fabs(value[i] - was);
        worst = error > worst ? error : worst;
        squares += error * error;
        saturated += was > most * scale || was < least * scale;
    }
    bench_figure_extra(figure, "max_error", worst);
    bench_figure_extra(figure, "rms_error", sqrt(squares / (double)n));
    bench_figure_extra(figure, "saturated", (double)saturated);
    td_tensor_destroy(&back);
}

static void close_move(void *state)
{
    move_state *s = state;
    bench_dnnl_stop();
    bench_job_destroy(&s->job);
    free(s);
}

bench_opened bench_moves_open(const bench_group *group, size_t number, const bench_settings *settings,
                              bench_subject *out, char *why, size_t size)
{
    move_state *s = calloc(1, sizeof *s);
    if (!s)
        return BENCH_BROKEN;
    const bench_case *c = find_case(group, number, &s->threads);
    out->state = s;
    out->close = close_move;
    if (bench_job_create(c, settings->tune ? "tune=on" : NULL, &s->job)) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        return BENCH_BROKEN;
    }
    out->bytes = (double)(s->job.src_bytes + s->job.dst_bytes) / 2;
    out->elems = (double)td_tensor_elems(s->job.tensor);
    out->check = check_move;
    out->finish = c->as ? finish_conversion : NULL;
    bench_add_runner(out, "tensordoor", run_ours, s);
    bench_add_runner(out, "memcpy", run_memcpy, s);
    if (settings->no_peers)
        return BENCH_OPENED;
    bench_add_runner(out, "loops", run_loops, s);
    if (bench_numpy_case(&s->job))
        bench_add_runner(out, "numpy", run_numpy, s);
    if (bench_dnnl_case(&s->job, s->threads))
        bench_add_runner(out, "onednn", run_dnnl, s);
    if (eigen_takes(s))
        bench_add_runner(out, "eigen", run_eigen, s);
    return BENCH_OPENED;
}
