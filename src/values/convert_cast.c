/* Conversion through lanes: runs the steps that convert_choose_cast.c chose over a scratch that stays in the
 * first-level cache, and looks with the same steps whether values fit. convert.c and convert_exact.c call it; what the
 * lanes cannot hold it leaves to the exact path. */
#include "kernels/bits.h"
#include "values/convert_choose.h"

#include <string.h>

#define SCRATCH_ELEMS 512
#define SHORT_STRETCH 16

typedef struct lanes {
    _Alignas(64) double wide[SCRATCH_ELEMS];
    _Alignas(64) double scale[SCRATCH_ELEMS];
    _Alignas(64) float narrow[SCRATCH_ELEMS];
} lanes;

/* One step of an element's number, kept as a coordinate of the axis and a place within it: no division per element. */
typedef struct along {
    uint64_t within, k, within_step, k_step;
} along;

static along along_of(const td_convert *c, uint64_t first, int64_t step)
{
    const uint64_t whole = c->axis.inner * c->axis.extent;
    const uint64_t size = (step < 0 ? (uint64_t)0 - (uint64_t)step : (uint64_t)step) % whole;
    const uint64_t forward = step < 0 && size ? whole - size : size;
    return (along){first % c->axis.inner, td_convert_index(c, first), forward % c->axis.inner, forward / c->axis.inner};
}

static void along_next(const td_convert *c, along *a)
{
    a->within += a->within_step;
    a->k += a->k_step;
    if (a->within >= c->axis.inner) {
        a->within -= c->axis.inner;
        a->k++;
    }
    a->k -= a->k >= c->axis.extent ? c->axis.extent : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void td_convert_scales_f32(const td_convert *c, uint64_t first, int64_t step, size_t n, float *out)
{
    const double *scale = c->axis.scale;
    along a = along_of(c, first, step);
    if (step != 1) {
        for (size_t i = 0; i < n; i++, along_next(c, &a))
            out[i] = (float)scale[a.k];
        return;
    }
    for (size_t i = 0; i < n;) {
        if (c->axis.inner == 1) {
            const size_t part = least(n - i, c->axis.extent - a.k);
            for (size_t j = 0; j < part; j++)
                out[i + j] = (float)scale[a.k + j];
            i += part;
            a.k = 0;
            continue;
        }
        const size_t part = least(n - i, c->axis.inner - a.within);
        for (size_t j = 0; j < part; j++)
            out[i + j] = (float)scale[a.k];
        i += part;
        a.within = 0;
        a.k = a.k + 1 == c->axis.extent ? 0 : a.k + 1;
    }
}

static void scales_f64(const td_convert *c, uint64_t first, int64_t step, size_t n, double *out)
{
    along a = along_of(c, first, step);
    for (size_t i = 0; i < n; i++, along_next(c, &a))
        out[i] = td_convert_scale_at(c, a.k);
}

/* Integers that are not doubles: each again, by the rule. In a look, which has no destination, they count as
 * not fitting. */
static bool hand_back(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    const unsigned bytes = c->src.bytes, shift = 64U - c->src.bits;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = td_get_elem((const unsigned char *)src + i * bytes, bytes) << shift;
        const int64_t value = (int64_t)bits >> shift;
        const bool small = c->src.kind == TD_KIND_INT ? value >= -((int64_t)1 << 52) && value <= (int64_t)1 << 52
                                                      : bits >> shift <= (uint64_t)1 << 52;
        if (small)
            continue;
        if (!dst)
            return true;
        td_put_elem((unsigned char *)dst + i * c->dst.bytes, c->dst.bytes,
                    td_convert_one(c, bits >> shift, first + (uint64_t)step * i, NULL));
    }
    return false;
}

/* At most a scratch of elements that share their zero point, and their scale too unless p->scales says otherwise. */
static bool run_part(const td_convert *c, const td_cast_params *p, lanes *s, void *dst, const void *src, size_t n,
                     uint64_t first, int64_t step)
{
    const void *in = src;
    /* Where the last step gives the target's bits, it writes them into their place. */
    const bool direct = c->lanes_are_bits && !p->look;
    const bool ends_narrow = direct && !c->take && !c->scale_wide;
    if (c->widen) {
        td_convert_params widening = c->widening;
        void *out = ends_narrow && !c->scale_narrow ? dst : s->narrow;
        if (c->direction == TD_TO_TENSOR)
            widening.zero = (int32_t)p->minus;
        c->widen(out, 0, in, 0, 1, n, &widening);
        in = out;
    }
    if (c->scale_narrow) {
        void *out = ends_narrow ? dst : s->narrow;
        c->scale_narrow(out, in, n, p);
        in = out;
    }
    if (c->take) {
        void *out = direct && !c->scale_wide ? dst : s->wide;
        c->take(out, in, n, p);
        in = out;
    }
    if (c->scale_wide) {
        void *out = direct ? dst : c->back_to_f32 ? (void *)s->narrow : (void *)s->wide;
        c->scale_wide(out, in, n, p);
        in = out;
    }
    if (c->odd) {
        c->odd(s->narrow, in, n, p);
        in = s->narrow;
    }
    bool bad = !direct && c->put(dst, in, n, p);
    if (c->hands_back && (!p->look || !bad))
        bad = hand_back(c, dst, src, n, first, step);
    return bad;
}

/* Elements from `first` on that share its coordinate on the axis, at most n. */
static size_t same_coordinate(const td_convert *c, uint64_t first, int64_t step, size_t n)
{
    if (step == 0)
        return n;
    const uint64_t within = first % c->axis.inner;
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    const uint64_t room = step > 0 ? c->axis.inner - 1 - within : within;
    return least(room / stride + 1, n);
}

static bool run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step, bool look)
{
    td_cast_params p = c->cast;
    p.look = look;
    p.seed = c->seed;
    p.first = first;
    p.step = (uint64_t)step;
    const bool steps = c->widen || c->scale_narrow || c->take || c->scale_wide || c->odd;
    if (!steps && !c->axis.extent) /* nothing to keep on the way */
        return c->put(dst, src, n, &p);
    lanes s;
    const uint64_t stride = step > 0 ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
    const bool each = c->axis.extent && c->axis.scale && !c->axis.zero && c->axis.inner < stride * SHORT_STRETCH;
    const uint8_t way = c->direction == TD_TO_MEMORY ? TD_CAST_DIVIDE : TD_CAST_MULTIPLY;
    char *out = dst;
    const char *in = src;
    bool bad = false;
    while (n) {
        size_t part = least(n, SCRATCH_ELEMS);
        if (each && c->scale_narrow) {
            td_convert_scales_f32(c, first, step, part, (float *)(void *)s.scale);
            p.scales32 = (const float *)(const void *)s.scale;
            p.scale_way = way;
            p.products = false;
        } else if (each) {
            scales_f64(c, first, step, part, s.scale);
            p.scales = s.scale;
            p.scale_way = way;
            p.products = false;
        } else if (c->axis.extent) {
            const uint64_t k = td_convert_index(c, first);
            part = same_coordinate(c, first, step, part);
            td_convert_cast_scale(c, &p, td_convert_scale_at(c, k));
            td_convert_cast_zero(c, &p, td_convert_zero_at(c, k));
        }
        p.first = first;
        bad |= run_part(c, &p, &s, out, in, part, first, step);
        if (out)
            out += part * c->dst.bytes;
        in += part * c->src.bytes;
        first += (uint64_t)step * part;
        n -= part;
    }
    return bad;
}

bool td_convert_cast_rows(const td_convert *c, const td_convert_block *b)
{
    const bool steps = c->widen || c->scale_narrow || c->take || c->scale_wide || c->odd || c->hands_back;
    if (steps || c->axis.extent || c->numbers)
        return false;
    td_cast_params p = c->cast;
    p.seed = c->seed;
    char *dst = b->dst;
    const char *src = b->src;
    for (size_t r = 0; r < b->rows; r++, dst += b->dst_stride, src += b->src_stride)
        (void)c->put(dst, src, b->n, &p);
    return true;
}

void td_convert_cast_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    (void)run(c, dst, src, n, first, step, false);
}

bool td_convert_cast_fits(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step)
{
    return !run(c, NULL, src, n, first, step, true);
}
