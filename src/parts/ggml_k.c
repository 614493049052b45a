/* See ggml_k.h. */
#include "parts/ggml_k.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_BLOCK TD_STRIP
#define NOTHING 1e-15F /* smaller magnitudes are taken for zeros */

/* To the nearest whole number, halves to even; far numbers to +-2^22, a NaN to 0. */
static int32_t nearest(float x)
{
    const float magic = 0x1.8p23F, most = 0x1p22F;
    const float in = !(x > -most) ? isnan(x) ? 0 : -most : x < most ? x : most;
    return (int32_t)((in + magic) - magic);
}

static int32_t within(int32_t code, int32_t low, int32_t high)
{
    return code < low ? low : code > high ? high : code;
}

/* A block while it is searched. Codes of signed elements are from -half to half - 1, others from 0 to top. */
typedef struct search {
    const float *x;
    size_t n;
    int32_t *code;
    int32_t half, top;
} search;

/* -- signed elements: a scale alone -- */

/* How well codes fit values, each with its square for a weight: the scale that fits best is along / of_codes, and what
 * it explains grows with along^2 / of_codes. */
typedef struct fit {
    float along, of_codes;
} fit;

static void add_code(fit *f, float x, int32_t code, float sign)
{
    const float weight = x * x, c = (float)code;
    f->along += sign * (weight * x * c);
    f->of_codes += sign * (weight * c * c);
}

static fit fit_codes(const search *s, float by)
{
    fit f = {0, 0};
    for (size_t i = 0; i < s->n; i++)
        add_code(&f, s->x[i], within(nearest(by * s->x[i]), -s->half, s->half - 1), 1);
    return f;
}

static void keep_codes(search *s, float by)
{
    for (size_t i = 0; i < s->n; i++)
        s->code[i] = within(nearest(by * s->x[i]), -s->half, s->half - 1);
}

/* The first value of the largest magnitude. */
static float peak_of(const search *s)
{
    float peak = 0;
    for (size_t i = 0; i < s->n; i++)
        if (fabsf(s->x[i]) > fabsf(peak))
            peak = s->x[i];
    return peak;
}

/* Scales around the one that makes the peak the lowest code. */
static float search_scales(search *s, float peak)
{
    fit f = fit_codes(s, -(float)s->half / peak);
    float scale = f.of_codes != 0 ? f.along / f.of_codes : 0, best = scale * f.along;
    keep_codes(s, -(float)s->half / peak);
    for (int tenth = -9; tenth <= 9; tenth++) {
        const float by = -((float)s->half + 0.1F * (float)tenth) / peak;
        if (tenth == 0)
            continue;
        f = fit_codes(s, by);
        if (!(f.of_codes > 0 && f.along * f.along > best * f.of_codes))
            continue;
        keep_codes(s, by);
        scale = f.along / f.of_codes;
        best = scale * f.along;
    }
    return scale;
}

/* Moves one code to where it fits best beside the others, if that is better; whether it was. */
static bool move_code(search *s, fit *f, size_t i)
{
    fit others = *f;
    add_code(&others, s->x[i], s->code[i], -1);
    if (!(others.along > 0))
        return false;
    const int32_t code = within(nearest(s->x[i] * others.of_codes / others.along), -s->half, s->half - 1);
    if (code == s->code[i])
        return false;
    add_code(&others, s->x[i], code, 1);
    if (!(others.of_codes > 0 && others.along * others.along * f->of_codes > f->along * f->along * others.of_codes))
        return false;
    s->code[i] = code;
    *f = others;
    return true;
}

static float refine_codes(search *s, float peak)
{
    fit f = fit_codes(s, -(float)s->half / peak);
    keep_codes(s, -(float)s->half / peak);
    for (int turn = 0, moved = 1; turn < 5 && moved; turn++) {
        moved = 0;
        for (size_t i = 0; i < s->n; i++)
            moved += move_code(s, &f, i);
    }
    return f.of_codes > 0 ? f.along / f.of_codes : 0;
}

/* A block of zeros has the lowest code everywhere, and a scale of 0. */
static float signed_scale(search *s, unsigned bits)
{
    const float peak = peak_of(s);
    if (!(fabsf(peak) < NOTHING))
        return bits == 3 ? refine_codes(s, peak) : search_scales(s, peak);
    for (size_t i = 0; i < s->n; i++)
        s->code[i] = -s->half;
    return 0;
}

/* -- unsigned elements: a scale and a minimum -- */

typedef struct line {
    float scale, least;
} line;

/* Sums over a block, each value with its weight. */
typedef struct moments {
    float weight, x, code, code2, x_code;
} moments;

/* Values far from the middle count more. */
static void weigh(const search *s, unsigned bits, float *weight)
{
    float squares = 0;
    for (size_t i = 0; i < s->n; i++)
        squares += s->x[i] * s->x[i];
    const float usual = bits == 2 ? 0 : sqrtf(squares / (float)s->n);
    for (size_t i = 0; i < s->n; i++)
        weight[i] = usual + fabsf(s->x[i]);
}

static float error_of(const search *s, const float *weight, const int32_t *code, line l, bool squared)
{
    float sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        const float off = l.scale * (float)code[i] + l.least - s->x[i];
        sum += weight[i] * (squared ? off * off : fabsf(off));
    }
    return sum;
}

static void round_codes(const search *s, float by, float least, int32_t *code)
{
    for (size_t i = 0; i < s->n; i++)
        code[i] = within(nearest(by * (s->x[i] - least)), 0, s->top);
}

/* The line through codes and values that leaves the least squares; one that would begin above 0 begins there. False
 * where the codes are all one. */
static bool fit_line(const search *s, const float *weight, const int32_t *code, moments m, line *out)
{
    m.code = m.code2 = m.x_code = 0;
    for (size_t i = 0; i < s->n; i++) {
        const float c = (float)code[i];
        m.code += weight[i] * c;
        m.code2 += weight[i] * c * c;
        m.x_code += weight[i] * c * s->x[i];
    }
    const float spread = m.weight * m.code2 - m.code * m.code;
    if (!(spread > 0))
        return false;
    out->scale = (m.weight * m.x_code - m.x * m.code) / spread;
    out->least = (m.code2 * m.x - m.code * m.x_code) / spread;
    if (out->least > 0) {
        out->least = 0;
        out->scale = m.x_code / m.code2;
    }
    return true;
}

static line unsigned_line(search *s, unsigned bits)
{
    const bool squared = bits != 2;
    const float first = bits == 4 ? -1.0F : -0.5F;
    const int steps = bits == 4 ? 20 : 15;
    float weight[MOST_BLOCK], low = s->x[0], high = s->x[0];
    int32_t tried[MOST_BLOCK];
    weight[0] = 0; /* a block has an element */
    weigh(s, bits, weight);
    moments m = {.weight = weight[0], .x = weight[0] * s->x[0]};
    for (size_t i = 1; i < s->n; i++) {
        low = s->x[i] < low ? s->x[i] : low;
        high = s->x[i] > high ? s->x[i] : high;
        m.weight += weight[i];
        m.x += weight[i] * s->x[i];
    }
    line best = {.least = low > 0 ? 0 : low};
    memset(s->code, 0, s->n * sizeof *s->code);
    if (high == best.least)
        return best;
    const float by = (float)s->top / (high - best.least);
    best.scale = 1 / by;
    round_codes(s, by, best.least, s->code);
    float least_error = error_of(s, weight, s->code, best, squared);
    for (int step = 0; step <= steps; step++) {
        line l = {0, 0};
        /* The range is that of the block less the minimum found so far. */
        round_codes(s, (first + 0.1F * (float)step + (float)s->top) / (high - best.least), best.least, tried);
        if (!fit_line(s, weight, tried, m, &l))
            continue;
        const float error = error_of(s, weight, tried, l, squared);
        if (!(error < least_error))
            continue;
        memcpy(s->code, tried, s->n * sizeof *s->code);
        least_error = error;
        best = l;
    }
    return best;
}

/* -- a super block -- */

/* A number in the dtype of supers: its bits, and what they are worth. */
static float store(const td_scaler *s, float value, uint32_t *bits)
{
    unsigned char bytes[4] = {0};
    float stored = 0;
    td_convert_run(&s->encode_super, bytes, &value, 1, 0, 1);
    td_convert_run(&s->decode_super, &stored, bytes, 1, 0, 1);
    *bits = 0;
    memcpy(bits, bytes, s->packing->super.bytes);
    return stored;
}

static bool are_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Integers for the scales of a super block, under one number. */
static void encode_signed(const td_scaler *s, const float *x, size_t blocks, size_t block, td_k_codes *out)
{
    const td_packing *k = s->packing;
    const int32_t half = 1 << (k->elem.bits - 1), scale_half = 1 << (k->scale.bits - 1);
    int32_t code[MOST_BLOCK];
    float scale[MOST_BLOCK], largest = 0;
    for (size_t j = 0; j < blocks; j++) {
        search one = {.x = x + j * block, .n = block, .code = code + j * block, .half = half};
        scale[j] = signed_scale(&one, k->elem.bits);
        largest = fabsf(scale[j]) > fabsf(largest) ? scale[j] : largest;
    }
    const bool is_void = k->elem.bits == 3 ? largest == 0 : fabsf(largest) < NOTHING;
    const float by = -(float)scale_half / largest;
    const float number = store(s, is_void ? 0 : 1 / by, &out->numbers[0]);
    for (size_t j = 0; j < blocks; j++) {
        const int32_t none = k->elem.bits == 3 ? -scale_half : 0;
        const int32_t stored = is_void ? none : within(nearest(by * scale[j]), -scale_half, scale_half - 1);
        const float d = number * (float)stored;
        out->scales[j] = (uint32_t)stored;
        for (size_t i = j * block; i < (j + 1) * block; i++) {
            if (is_void && k->elem.bits != 3)
                code[i] = -half;
            else if (d != 0)
                code[i] = within(nearest(x[i] / d), -half, half - 1);
            out->elems[i] = (uint32_t)code[i];
        }
    }
}

/* The number under which the largest of some gets the highest code; codes of all. */
static float share_number(const td_scaler *s, const float *value, size_t n, int32_t top, uint32_t *codes,
                          uint32_t *number)
{
    float largest = 0;
    for (size_t j = 0; j < n; j++)
        largest = value[j] > largest ? value[j] : largest;
    const float by = largest > 0 ? (float)top / largest : 0;
    for (size_t j = 0; j < n; j++)
        codes[j] = (uint32_t)within(nearest(by * value[j]), 0, top);
    return store(s, largest / (float)top, number);
}

static void encode_unsigned(const td_scaler *s, const float *x, size_t blocks, size_t block, td_k_codes *out)
{
    const td_packing *k = s->packing;
    const int32_t top = (1 << k->elem.bits) - 1;
    int32_t code[MOST_BLOCK];
    float scale[MOST_BLOCK], min[MOST_BLOCK];
    scale[0] = min[0] = 0; /* a super block has a block */
    for (size_t j = 0; j < blocks; j++) {
        search one = {.x = x + j * block, .n = block, .code = code + j * block, .top = top};
        const line l = unsigned_line(&one, k->elem.bits);
        scale[j] = l.scale;
        min[j] = -l.least;
    }
    const float number = share_number(s, scale, blocks, (1 << k->scale.bits) - 1, out->scales, &out->numbers[0]),
                least = share_number(s, min, blocks, (1 << k->min.bits) - 1, out->mins, &out->numbers[1]);
    for (size_t j = 0; j < blocks; j++) {
        const float d = number * (float)out->scales[j], below = least * (float)out->mins[j];
        for (size_t i = j * block; i < (j + 1) * block; i++)
            out->elems[i] = (uint32_t)(d != 0 ? within(nearest((x[i] + below) / d), 0, top) : code[i]);
    }
}

static bool is_plain(td_dtype t, td_kind kind)
{
    return t.kind == kind && !t.fixed;
}

bool td_ggml_k_can(const td_packing *k)
{
    if (k->super_block > TD_STRIP)
        return false;
    return k->mins ? is_plain(k->scale, TD_KIND_UINT) && is_plain(k->min, TD_KIND_UINT)
                   : is_plain(k->scale, TD_KIND_INT);
}

void td_ggml_k_encode(const td_scaler *s, const float *x, td_k_codes *out)
{
    const td_packing *k = s->packing;
    const size_t n = (size_t)k->super_block, block = (size_t)k->block[0], blocks = n / block;
    if (!are_finite(x, n)) {
        memset(out->elems, 0, n * sizeof *out->elems);
        memset(out->scales, 0, blocks * sizeof *out->scales);
        memset(out->mins, 0, blocks * sizeof *out->mins);
        (void)store(s, NAN, &out->numbers[0]);
        (void)store(s, NAN, &out->numbers[1]);
    } else if (k->mins)
        encode_unsigned(s, x, blocks, block, out);
    else
        encode_signed(s, x, blocks, block, out);
}
