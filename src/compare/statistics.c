/* See statistics.h. One pass over the slabs, on one thread and in one order, so that the same comparison gives the same
 * digits: values go to f64 by the conversions, a batch at a time, and are summed there. Pairs with a NaN, an infinity,
 * or bits that are x are left out, and so is what the mask leaves out. */
#include "compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ELEMS 1024
#define LANES 8 /* sums side by side, which the compiler keeps in vectors */

typedef struct sums {
    double expected[LANES], actual[LANES], both[LANES], error[LANES], relative[LANES], ratios[LANES], pairs[LANES];
} sums;

typedef struct summing {
    const td_statistics_of *of;
    const td_tensor *golden;
    td_convert to_f64;
    bool as_is; /* the golden tensor is f64 */
    bool failed;
    sums sums;
    _Alignas(64) unsigned char slab[TD_SLAB_BYTES], values[BATCH_ELEMS * 8], gathered[BATCH_ELEMS * 8];
    _Alignas(64) double expected[BATCH_ELEMS], actual[BATCH_ELEMS];
} summing;

/* n is a multiple of LANES; pairs that are left out are NaN. */
static void sum_batch(sums *s, const double *expected, const double *actual, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double x = expected[i + l], y = actual[i + l];
            const bool counts = fabs(x) < (double)INFINITY && fabs(y) < (double)INFINITY;
            const double e = counts ? x : 0, a = counts ? y : 0, off = a - e;
            const bool has_ratio = e < 0 || e > 0;
            s->expected[l] += e * e;
            s->actual[l] += a * a;
            s->both[l] += e * a;
            s->error[l] += off * off;
            s->relative[l] += has_ratio ? fabs(off) / fabs(e) : 0;
            s->ratios[l] += has_ratio;
            s->pairs[l] += counts;
        }
}

static void to_doubles(const summing *s, double *out, const unsigned char *values, size_t n)
{
    if (s->as_is)
        memcpy(out, values, n * sizeof *out);
    else
        td_convert_run(&s->to_f64, out, values, n, 0, 1);
}

/* Up to BATCH_ELEMS values in the golden tensor's dtype, `step` elements apart. */
static void add_batch(summing *s, const unsigned char *actual, uint64_t elem, int64_t step, size_t n)
{
    const unsigned bytes = s->golden->dtype.bytes;
    const unsigned char *expected = s->golden->data + elem * bytes;
    if (step != 1) {
        for (size_t i = 0; i < n; i++)
            memcpy(s->gathered + i * bytes, expected + (int64_t)i * step * bytes, bytes);
        expected = s->gathered;
    }
    to_doubles(s, s->expected, expected, n);
    to_doubles(s, s->actual, actual, n);
    const td_tensor *mask = s->of->accept->mask;
    for (size_t i = 0; i < n && (mask || s->of->unknown); i++) {
        const uint64_t at = elem + (uint64_t)((int64_t)i * step);
        if (td_is_masked(mask, at) || (s->of->unknown && td_x_bits(s->of->unknown, at)))
            s->expected[i] = (double)NAN;
    }
    while (n % LANES)
        s->expected[n++] = (double)NAN;
    sum_batch(&s->sums, s->expected, s->actual, n);
}

static void add_row(summing *s, const unsigned char *stored, unsigned stored_bytes, uint64_t elem, int64_t step,
                    uint64_t count)
{
    const td_convert *convert = s->of->accept->convert;
    for (uint64_t done = 0; done < count; done += BATCH_ELEMS) {
        const size_t n = (size_t)(count - done < BATCH_ELEMS ? count - done : BATCH_ELEMS);
        const uint64_t first = elem + (uint64_t)((int64_t)done * step);
        const unsigned char *actual = stored + done * stored_bytes;
        if (convert) {
            td_convert_run(convert, s->values, actual, n, first, step);
            actual = s->values;
        }
        add_batch(s, actual, first, step, n);
    }
}

/* Elements along the last node are stored contiguously. */
static void add_slab(summing *s, const td_slab *slab)
{
    const td_slabs *of = slab->of;
    const unsigned bytes = of->plan ? of->plan->memory_dtype.bytes : s->golden->dtype.bytes;
    uint64_t row = of->row_elems;
    int64_t step = 1;
    if (of->row_nodes == 0 && of->node_count && !of->piece) {
        row = of->extent[of->node_count - 1];
        step = of->node[of->node_count - 1].tensor;
    }
    for (uint64_t n = 0; n < of->elems; n += row)
        add_row(s, td_slab_stored(slab, n), bytes, td_slab_elem(slab, n), step, row);
}

static bool add_slabs(void *context, td_slabs *slabs)
{
    summing *s = context;
    td_slab_taker taker;
    s->failed = slabs->way != TD_SLAB_ROWS && td_slabs_take_out(slabs) != TD_OK;
    if (s->failed)
        return false;
    td_slab_taker_init(slabs, &taker);
    for (uint64_t i = 0; i < slabs->count; i++) {
        td_slab slab;
        td_slab_find(slabs, i, &slab);
        td_slab_take(&taker, s->slab, &slab);
        add_slab(s, &slab);
    }
    return true;
}

static double total(const double *lane)
{
    double sum = 0;
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static td_statistics conclude(const sums *s)
{
    const double expected = total(s->expected), actual = total(s->actual), pairs = total(s->pairs),
                 ratios = total(s->ratios);
    td_statistics out = {.cosine = expected > 0 || actual > 0 ? 0 : 1};
    if (ratios > 0)
        out.mean_relative_error = total(s->relative) / ratios;
    if (pairs > 0)
        out.mse = total(s->error) / pairs;
    if (expected > 0 && actual > 0)
        out.cosine = total(s->both) / (sqrt(expected) * sqrt(actual));
    return out;
}

static td_status bind(summing *s, const td_statistics_of *of)
{
    td_as as = {.scale_f32 = 1, .scale_f64 = 1};
    s->of = of;
    s->golden = of->accept->golden;
    s->failed = false;
    memset(&s->sums, 0, sizeof s->sums);
    td_status status = td_dtype_parse("f64", &as.dtype);
    s->as_is = !status && td_dtype_equal(as.dtype, s->golden->dtype);
    if (!status && !s->as_is)
        status = td_convert_bind(&as, s->golden->dtype, TD_TO_MEMORY, NULL, &s->to_f64);
    return status;
}

td_status td_statistics_sum(const td_statistics_of *of, td_report *report)
{
    summing *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (!s)
        return td_fail_alloc(sizeof *s);
    td_status status = bind(s, of);
    if (!status && of->run)
        status = td_slabs_walk(of->run, &of->accept->wish, add_slabs, s);
    else if (!status)
        td_slabs_of_tensor(&(unsigned char *){of->actual->data}, of->actual->dtype.bytes, s->golden->elems, add_slabs,
                           s);
    if (!status && s->failed)
        status = td_fail_alloc(TD_SLAB_BYTES);
    if (!status)
        report->statistics = conclude(&s->sums);
    free(s);
    return status;
}
