/* Tensors from a distribution, said in words: uniform, normal, sparse, corners (td_tensor_fill). Testbenches call it
 * for stimulus with a seed. The same words give the same tensor on every machine: random numbers are integers up to the
 * last step, which is one product and one sum in double. It refuses tensors that are mapped read-only, ranges that the
 * dtype does not hold, and words that the distribution has no use for. */
#include "base/fp_mode.h"
#include "base/random.h"
#include "base/record.h"
#include "base/suggest.h"
#include "base/text.h"
#include "tensor/tensor.h"
#include "values/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

typedef enum shape_of { UNIFORM, NORMAL, SPARSE, CORNERS, RANDOM, RAMP, COORDINATES, SHAPES } shape_of;

static const char *const shape_names[SHAPES] = {"uniform", "normal", "sparse",     "corners",
                                                "random",  "ramp",   "coordinates"};

enum { MIN, MAX, MEAN, SIGMA, ZEROS, SEED, START, STEP, FINITE, WORDS };
static const char *const word_names[WORDS] = {
    "min=", "max=", "mean=", "sigma=", "zeros=", "seed=", "start=", "step=", "finite"};

#define BIT(word) (1u << (word))
static const unsigned words_of[SHAPES] = {
    [UNIFORM] = BIT(MIN) | BIT(MAX) | BIT(ZEROS) | BIT(SEED),
    [NORMAL] = BIT(MEAN) | BIT(SIGMA) | BIT(ZEROS) | BIT(SEED),
    [SPARSE] = BIT(MIN) | BIT(MAX) | BIT(ZEROS) | BIT(SEED),
    [CORNERS] = BIT(SEED) | BIT(FINITE),
    [RANDOM] = BIT(SEED),
    [RAMP] = BIT(START) | BIT(STEP),
    [COORDINATES] = 0,
};

#define MAX_CORNERS 20

typedef struct distribution {
    const char *text; /* for messages */
    shape_of shape;
    unsigned seen;      /* bits of words */
    double real[WORDS]; /* what the words say */
    uint64_t bits[2];   /* min and max as elements */
    uint64_t seed;
    td_dtype dtype;
    uint64_t corner[MAX_CORNERS];
    size_t corners;
} distribution;

/* -- the words -- */

static td_status fail_word(const distribution *d, const char *word)
{
    const char *known[WORDS];
    size_t count = 0;
    for (unsigned w = 0; w < WORDS; w++)
        if (words_of[d->shape] & BIT(w))
            known[count++] = word_names[w];
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(word, "=") + 1, word);
    const char *near = td_suggest(key, known, count);
    td_fail(TD_OPTION, "unknown word \"%s\" in \"%s\"; %s%s%s%s has %s", word, d->text, near ? "did you mean \"" : "",
            near ? near : "", near ? "\"? " : "", shape_names[d->shape], count ? "" : "no words");
    for (size_t i = 0; i < count; i++)
        td_fail_append("%s%s", i ? ", " : "", known[i]);
    return TD_OPTION;
}

static td_status read_value(distribution *d, unsigned word, const char *value)
{
    char *end = NULL;
    const char *at = value;
    if (word == SEED) {
        static const td_dtype u64 = {TD_KIND_UINT, 64, 0, 8, 0, 0, 0, 0};
        return *at && td_dtype_from_text(u64, at, &d->seed) == TD_OK
                   ? TD_OK
                   : td_fail(TD_OPTION, "seed=%s in \"%s\" is not an integer from 0 to 2^64 - 1; pass one like seed=1",
                             value, d->text);
    }
    d->real[word] = td_text_real(value, &end);
    if (end == value || *end || !isfinite(d->real[word]))
        return td_fail(TD_OPTION, "%s%s in \"%s\" is not a finite number; pass one like %s0.5", word_names[word], value,
                       d->text, word_names[word]);
    if (word == ZEROS && (d->real[ZEROS] < 0 || d->real[ZEROS] > 1))
        return td_fail(TD_OPTION, "zeros=%s in \"%s\" is no share; pass a number from 0 to 1", value, d->text);
    if (word == SIGMA && d->real[SIGMA] < 0)
        return td_fail(TD_OPTION, "sigma=%s in \"%s\" is negative; pass a number of at least 0", value, d->text);
    if (word != MIN && word != MAX)
        return TD_OK;
    const td_status status = td_dtype_from_text(d->dtype, value, &d->bits[word == MAX]);
    if (status != TD_OK)
        td_fail_prefix("%s%s in \"%s\": ", word_names[word], value, d->text);
    return status;
}

static td_status read_word(distribution *d, char *word)
{
    char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals + 1 - word) : strlen(word);
    for (unsigned w = 0; w < WORDS; w++) {
        if (!(words_of[d->shape] & BIT(w)) || strlen(word_names[w]) != length ||
            memcmp(word, word_names[w], length) != 0)
            continue;
        if (d->seen & BIT(w))
            return td_fail(TD_OPTION, "\"%s\" says %s twice; keep one of them", d->text, word_names[w]);
        d->seen |= BIT(w);
        return equals ? read_value(d, w, equals + 1) : TD_OK;
    }
    return fail_word(d, word);
}

static td_status read_shape(distribution *d, const char *word)
{
    for (unsigned s = 0; s < SHAPES; s++)
        if (strcmp(word, shape_names[s]) == 0) {
            d->shape = (shape_of)s;
            return TD_OK;
        }
    const char *near = td_suggest(word, shape_names, SHAPES);
    return td_fail(TD_OPTION,
                   "unknown filling \"%s\"; %s%s%s uniform, normal, sparse, corners, random, ramp or coordinates", word,
                   near ? "did you mean \"" : "pass", near ? near : "", near ? "\"? pass" : "");
}

/* What is not said. Integers and fixed point take the whole type, floats -1 to 1; e8m0 holds positive powers of two. */
static void set_defaults(distribution *d)
{
    const td_dtype t = d->dtype;
    const bool scale = t.flavor == TD_FLAVOR_SCALE && t.kind == TD_KIND_FLOAT;
    if (!(d->seen & BIT(MIN))) {
        const double low = scale ? 0.5 : -1;
        if (t.kind == TD_KIND_FLOAT)
            (void)td_dtype_from_real(t, low, &d->bits[0]);
        else
            d->bits[0] = t.kind == TD_KIND_INT ? td_dtype_max_bits(t) + 1 : 0;
        d->real[MIN] = td_dtype_to_real(t, d->bits[0]);
    }
    if (!(d->seen & BIT(MAX))) {
        if (t.kind == TD_KIND_FLOAT)
            (void)td_dtype_from_real(t, scale ? 2 : 1, &d->bits[1]);
        else
            d->bits[1] = td_dtype_max_bits(t);
        d->real[MAX] = td_dtype_to_real(t, d->bits[1]);
    }
    if (!(d->seen & BIT(SIGMA)))
        d->real[SIGMA] = 1;
    if (!(d->seen & BIT(ZEROS)))
        d->real[ZEROS] = d->shape == SPARSE ? 0.9 : 0;
    if (!(d->seen & BIT(STEP)))
        d->real[STEP] = 1;
}

/* An integer's bits so that they compare as the integers do. */
static uint64_t ordered(td_dtype dtype, uint64_t bits)
{
    return dtype.kind == TD_KIND_INT ? bits ^ (uint64_t)1 << (dtype.bits - 1) : bits;
}

static td_status check(const distribution *d)
{
    const bool is_float = d->dtype.kind == TD_KIND_FLOAT;
    const bool crossed =
        is_float ? d->real[MIN] > d->real[MAX] : ordered(d->dtype, d->bits[0]) > ordered(d->dtype, d->bits[1]);
    if ((d->shape == UNIFORM || d->shape == SPARSE) && crossed)
        return td_fail(TD_OPTION,
                       "the range of \"%s\" goes from %.9g to %.9g; pass a min= that is not above max=", d->text,
                       d->real[MIN], d->real[MAX]);
    if (is_float && d->dtype.flavor == TD_FLAVOR_SCALE && d->real[ZEROS] > 0)
        return td_fail(TD_OPTION, "\"%s\" writes zeros, and e8m0 has none; pass zeros=0", d->text);
    return TD_OK;
}

static td_status parse(const char *text, td_dtype dtype, distribution *d)
{
    const char *at = text;
    bool first = true;
    td_status status = TD_OK;
    *d = (distribution){.text = text, .dtype = dtype};
    while (status == TD_OK && *(at += strspn(at, " \t,"))) {
        char word[64];
        const size_t length = strcspn(at, " \t,");
        if (length >= sizeof word)
            return td_fail(TD_OPTION, "a word of \"%.40s...\" has %zu letters, and a word has at most %zu", text,
                           length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = '\0';
        at += length;
        status = first ? read_shape(d, word) : read_word(d, word);
        first = false;
    }
    if (status == TD_OK && first)
        status = td_fail(TD_OPTION, "the filling is empty; pass one like \"uniform min=-1 max=1 seed=7\"");
    if (status != TD_OK)
        return status;
    set_defaults(d);
    return check(d);
}

/* -- corners -- */

static void add_corner(distribution *d, uint64_t bits)
{
    bits &= td_dtype_mask(d->dtype);
    for (size_t i = 0; i < d->corners; i++)
        if (d->corner[i] == bits)
            return;
    d->corner[d->corners++] = bits;
}

/* Each bit pattern once: zeros, ones, the ends of the range and what lies beside them. */
static void list_corners(distribution *d)
{
    const td_dtype t = d->dtype;
    const uint64_t max = td_dtype_max_bits(t);
    if (t.kind != TD_KIND_FLOAT) {
        const uint64_t one = (uint64_t)1 << (t.frac_bits < t.bits ? t.frac_bits : 0);
        const uint64_t all[] = {0,       1,       ~(uint64_t)0, one,     ~one + 1,           max,
                                max - 1, max + 1, max + 2,      max / 2, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            add_corner(d, all[i]);
        return;
    }
    const bool scale = t.flavor == TD_FLAVOR_SCALE;
    const uint64_t sign = scale ? 0 : (uint64_t)1 << (t.bits - 1);
    const uint64_t normal = (uint64_t)1 << t.man_bits; /* the smallest one; below it lie the subnormals */
    uint64_t one = 0;
    (void)td_dtype_from_real(t, 1, &one);
    const uint64_t all[] = {0, 1, normal - 1, normal, one, one + 1, max - 1, max};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] > max)
            continue;
        add_corner(d, all[i]);
        add_corner(d, all[i] | sign);
    }
    if (d->seen & BIT(FINITE))
        return;
    if (td_dtype_has_inf(t)) {
        add_corner(d, td_dtype_inf_bits(t));
        add_corner(d, td_dtype_inf_bits(t) | sign);
    }
    if (td_dtype_has_nan(t))
        add_corner(d, td_dtype_nan_bits(t));
}

/* -- numbers -- */

/* The integer square root. */
static uint64_t root_of(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

/* -log2(x / 2^64) in units of 2^-40, bit by bit: squaring doubles the logarithm. */
static uint64_t minus_log2(uint64_t x)
{
    const int lead = __builtin_clzll(x);
    uint64_t m = x << lead; /* 1 to below 2, in units of 2^-63 */
    uint64_t fraction = 0;
    for (int i = 0; i < 40; i++) {
        const u128 square = (u128)m * m >> 63;
        const bool carry = square >> 64 != 0;
        fraction = fraction << 1 | carry;
        m = (uint64_t)(carry ? square >> 1 : square);
    }
    return ((uint64_t)(lead + 1) << 40) - fraction;
}

/* sin(pi/2 * x) for x from 0 to 1, both in units of 2^-60, from the Taylor series. */
static int64_t sine_of_quarter(uint64_t x)
{
    const i128 y = (i128)x * 1811004864519280711 >> 60; /* pi/2 in units of 2^-60 */
    const i128 square = y * y >> 60;
    i128 sum = (i128)1 << 60;
    for (int k = 19; k > 1; k -= 2)
        sum = ((i128)1 << 60) - (square * sum >> 60) / (k * (k - 1));
    return (int64_t)(y * sum >> 60);
}

/* A number of the normal distribution from two random words (Box and Muller 1958), without floating point: libraries of
 * mathematics differ in the last bit. In units of 2^-52. */
static int64_t normal_of(uint64_t a, uint64_t b)
{
    const u128 two_ln2 = 6393154322601327830;                                       /* 2 ln 2 in units of 2^-62 */
    const uint64_t radius = root_of((uint64_t)(minus_log2(a | 1) * two_ln2 >> 46)); /* in units of 2^-28 */
    const uint64_t quarter = (uint64_t)1 << 60;
    const uint64_t x = (b << 2) >> 4;
    const int64_t sine = sine_of_quarter(b >> 62 & 1 ? quarter - x : x);
    const int64_t size = (int64_t)((i128)radius * sine >> 36);
    return b >> 63 ? -size : size;
}

static uint64_t bits_of_real(const distribution *d, double value)
{
    static const td_rounding nearest = {TD_ROUND_EVEN, TD_OVER_SAT, false, 0, 0};
    const td_num num = td_num_from_real(value);
    return td_num_to_bits(&num, d->dtype, &nearest, NULL);
}

/* volatile: a fused multiply-add would give other bits on machines that have one. */
static uint64_t draw_uniform(const distribution *d, uint64_t random)
{
    if (d->dtype.kind == TD_KIND_FLOAT) {
        const double u = (double)(random >> 11) * 0x1p-53;
        volatile double low = (1 - u) * d->real[MIN];
        volatile double high = u * d->real[MAX];
        const double value = low + high;
        return bits_of_real(d, value);
    }
    const uint64_t low = ordered(d->dtype, d->bits[0]), steps = ordered(d->dtype, d->bits[1]) - low;
    const uint64_t mask = steps ? UINT64_MAX >> __builtin_clzll(steps) : 0;
    while ((random & mask) > steps)
        random = td_random_mix(random + TD_RANDOM_STEP);
    return ordered(d->dtype, low + (random & mask));
}

static uint64_t draw(const distribution *d, uint64_t seed, uint64_t i)
{
    const uint64_t random = td_random_at(seed, i);
    if (d->shape == CORNERS) /* every corner once in so many elements, in a random turn */
        return d->corner[(i + td_random_at(seed, i / d->corners) % d->corners) % d->corners];
    if (d->shape != NORMAL)
        return draw_uniform(d, random);
    volatile double product = d->real[SIGMA] * ((double)normal_of(random, td_random_mix(random + 1)) * 0x1p-52);
    return bits_of_real(d, d->real[MEAN] + product);
}

/* With zeros=, elements are zero by that share alone: the others are drawn again until they are not, a few times. */
static uint64_t draw_sparse(const distribution *d, uint64_t i)
{
    const uint64_t choice = td_random_at(d->seed ^ 0x7a65726f73, i) >> 11;
    if (d->real[ZEROS] > 0 && (double)choice * 0x1p-53 < d->real[ZEROS])
        return 0;
    uint64_t bits = draw(d, d->seed, i);
    for (uint64_t again = 1; d->real[ZEROS] > 0 && bits == 0 && again < 64; again++)
        bits = draw(d, d->seed + again * 0x100000001b3, i);
    return bits;
}

static td_status fill(td_tensor *tensor, distribution *d)
{
    const td_dtype dtype = tensor->dtype;
    if (d->shape == RANDOM)
        return td_tensor_fill_random(tensor, d->seed);
    if (d->shape == RAMP)
        return td_tensor_fill_ramp(tensor, d->real[START], d->real[STEP]);
    if (d->shape == COORDINATES)
        return td_tensor_fill_coordinates(tensor);
    if (d->shape == CORNERS)
        list_corners(d);
    for (uint64_t i = 0; i < tensor->elems; i++) {
        const uint64_t bits = td_dtype_extend(dtype, draw_sparse(d, i));
        memcpy(tensor->data + (size_t)i * dtype.bytes, &bits, dtype.bytes);
    }
    return TD_OK;
}

td_status td_tensor_fill(td_tensor *tensor, const char *what)
{
    distribution d;
    td_status status = td_tensor_check_writable("tensor_fill", tensor);
    if (status != TD_OK)
        return status;
    if (!what)
        return td_fail(TD_ARGUMENT, "tensor_fill: what is NULL; pass a text like \"uniform min=-1 max=1 seed=7\"");
    const unsigned mode = td_mode_enter();
    status = parse(what, tensor->dtype, &d);
    td_record_pause(); /* some are calls that are told themselves */
    if (status != TD_OK)
        td_fail_prefix("tensor_fill: ");
    else
        status = fill(tensor, &d);
    td_record_resume();
    td_mode_leave(mode);
    if (!status)
        td_tensor_fill_tell(tensor, what);
    return status;
}
