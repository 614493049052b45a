/* Address expressions over runs of words, without a call per word. Before the first run, what every node can reach is
 * known from the sizes of the axes; an operator that cannot fail there is a plain loop over the run, a division by a
 * constant a multiplication or a shift. plan/address_run.c calls it, from any thread. A run with a point that has no
 * value is only reported as such: td_expr_eval says why. */
#include "base/divisor.h"
#include "layout/expr_tree.h"

#include <stdlib.h>

__extension__ typedef __int128 wide;

/* One node with what is known about its values. */
typedef struct step {
    op op;
    bool safe;     /* no point can make it fail */
    bool sound;    /* nor anything below it */
    bool constant; /* sound, and low == high */
    int a, b;
    int axis;
    int64_t low, high;
    td_divisor by;
} step;

struct td_expr_code {
    int count;
    step step[];
};

/* -- what a node can reach -- */

static int64_t clamp(wide value, bool *safe)
{
    *safe = *safe && value >= INT64_MIN && value <= INT64_MAX;
    return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void take_corners(const wide corner[4], step *s)
{
    wide low = corner[0], high = corner[0];
    for (int i = 1; i < 4; i++) {
        low = corner[i] < low ? corner[i] : low;
        high = corner[i] > high ? corner[i] : high;
    }
    s->low = clamp(low, &s->safe);
    s->high = clamp(high, &s->safe);
}

static int64_t magnitude(const step *s)
{
    const int64_t low = s->low == INT64_MIN ? INT64_MAX : s->low < 0 ? -s->low : s->low;
    return low > s->high ? low : s->high;
}

static int64_t all_ones(int64_t most)
{
    return most > 0 ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)most)) : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void reach_quotient(const step *a, const step *b, step *s)
{
    s->safe = (b->low > 0 || b->high < 0) && !(a->low == INT64_MIN && b->high < 0);
    const int64_t most = magnitude(a);
    s->low = a->low >= 0 && b->low > 0 ? 0 : -most;
    s->high = most;
    if (b->constant && b->low > 0) {
        s->low = a->low / b->low;
        s->high = a->high / b->low;
    }
}

static void reach_remainder(const step *a, const step *b, step *s)
{
    s->safe = (b->low > 0 || b->high < 0) && !(a->low == INT64_MIN && b->high < 0);
    const int64_t most = least(greatest(magnitude(b) - 1, 0), magnitude(a));
    s->low = a->low >= 0 ? 0 : -most;
    s->high = a->high < 0 ? 0 : most;
}

static void reach_bits(const step *a, const step *b, step *s)
{
    s->safe = true;
    s->low = INT64_MIN;
    s->high = INT64_MAX;
    if (s->op == AND && (a->low >= 0 || b->low >= 0)) {
        s->low = 0;
        s->high = a->low < 0 ? b->high : b->low < 0 ? a->high : least(a->high, b->high);
    } else if (a->low >= 0 && b->low >= 0) {
        s->low = 0;
        s->high = all_ones(a->high | b->high);
    }
}

static void reach_shift(const step *a, const step *b, step *s)
{
    s->safe = b->low >= 0 && b->high <= 62;
    const int64_t few = least(greatest(b->low, 0), 62), many = least(greatest(b->high, 0), 62);
    const wide corner[4] = {s->op == SHL ? (wide)a->low * ((wide)1 << few) : a->low >> few,
                            s->op == SHL ? (wide)a->high * ((wide)1 << few) : a->high >> few,
                            s->op == SHL ? (wide)a->low * ((wide)1 << many) : a->low >> many,
                            s->op == SHL ? (wide)a->high * ((wide)1 << many) : a->high >> many};
    take_corners(corner, s);
}

static void reach(const step *a, const step *b, step *s)
{
    s->safe = true;
    switch (s->op) {
    case NEG:
        take_corners((const wide[]){-(wide)a->low, -(wide)a->high, -(wide)a->low, -(wide)a->high}, s);
        break;
    case ADD:
        s->low = clamp((wide)a->low + b->low, &s->safe);
        s->high = clamp((wide)a->high + b->high, &s->safe);
        break;
    case SUB:
        s->low = clamp((wide)a->low - b->high, &s->safe);
        s->high = clamp((wide)a->high - b->low, &s->safe);
        break;
    case MUL:
        take_corners((const wide[]){(wide)a->low * b->low, (wide)a->low * b->high, (wide)a->high * b->low,
                                    (wide)a->high * b->high},
                     s);
        break;
    case DIV:
        reach_quotient(a, b, s);
        break;
    case MOD:
        reach_remainder(a, b, s);
        break;
    case SHL:
    case SHR:
        reach_shift(a, b, s);
        break;
    case REV:
        s->safe = a->low >= 0 && a->high >> b->high == 0;
        s->low = 0;
        s->high = ((int64_t)1 << b->high) - 1;
        break;
    case INTERLEAVE:
        s->safe = a->low >= 0 && b->low >= 0 && a->high >> 31 == 0 && b->high >> 31 == 0;
        s->low = 0;
        s->high = s->safe ? td_interleave_bits(all_ones(a->high), all_ones(b->high)) : INT64_MAX;
        break;
    case MIN:
        s->low = least(a->low, b->low);
        s->high = least(a->high, b->high);
        break;
    case MAX:
        s->low = greatest(a->low, b->low);
        s->high = greatest(a->high, b->high);
        break;
    default:
        reach_bits(a, b, s);
    }
}

static int64_t last_of(uint64_t count)
{
    return count > INT64_MAX ? INT64_MAX : count ? (int64_t)count - 1 : 0;
}

static void prepare_step(const td_expr *expr, int at, const td_expr_scope *scope, uint64_t indices, td_expr_code *code)
{
    const node *n = &expr->node[at];
    step *s = &code->step[at];
    *s = (step){.op = n->op, .a = n->a, .b = n->b, .safe = true};
    switch (n->op) {
    case NUMBER:
        s->low = s->high = n->value;
        break;
    case AXIS:
        s->axis = (int)n->value;
        s->high = last_of(scope->size[n->value]);
        break;
    case INDEX:
        s->high = last_of(indices);
        break;
    case DIM: /* one that is not there is refused at its first point */
        s->safe = (uint64_t)n->value < scope->shape->rank;
        s->low = s->high = s->safe ? (int64_t)scope->shape->dim[n->value] : 0;
        break;
    default:
        reach(&code->step[n->a], n->b >= 0 ? &code->step[n->b] : &code->step[n->a], s);
    }
    s->sound = s->safe && (n->a < 0 || code->step[n->a].sound) && (n->b < 0 || code->step[n->b].sound);
    s->constant = s->sound && s->low == s->high;
    s->by = td_divisor_of(s->constant && s->low > 0 ? (uint64_t)s->low : 1);
}

td_status td_expr_prepare(const td_expr *expr, const td_expr_scope *scope, uint64_t indices, td_expr_code **out)
{
    const size_t bytes = sizeof **out + (size_t)expr->count * sizeof *(*out)->step;
    td_expr_code *code = malloc(bytes);
    if (!code)
        return td_fail_alloc(bytes);
    code->count = expr->count;
    for (int i = 0; i < expr->count; i++)
        prepare_step(expr, i, scope, indices, code);
    *out = code;
    return TD_OK;
}

void td_expr_code_free(td_expr_code **code)
{
    free(*code);
    *code = NULL;
}

/* -- values -- */

/* `out` has the left side, `right` the other; in the second form it is the same at every point. */
#define EACH(value)                                                                                                    \
    for (size_t i = 0; i < count; i++) {                                                                               \
        const int64_t a = out[i];                                                                                      \
        out[i] = (value);                                                                                              \
    }                                                                                                                  \
    return true

static bool apply_constant(const step *s, const step *left, const step *right, size_t count, int64_t *restrict out)
{
    const int64_t b = right->low;
    const td_divisor by = right->by;
    const bool whole = left->low >= 0 && left->high <= UINT32_MAX; /* dividends that td_divisor multiplies */
    const bool power = b > 0 && (b & (b - 1)) == 0 && left->low >= 0;
    const int shift = power ? __builtin_ctzll((uint64_t)b) : 0;
    switch (s->op) {
    case ADD:
        EACH(a + b);
    case SUB:
        EACH(a - b);
    case MUL:
        if (whole && b >= 0 && b <= UINT32_MAX) {
            EACH((int64_t)((uint64_t)(uint32_t)a * (uint32_t)b));
        }
        EACH(a * b);
    case DIV:
        if (power) {
            EACH(a >> shift);
        }
        if (whole && b > 0) {
            EACH((int64_t)td_quotient((uint64_t)a, &by));
        }
        EACH(a / b);
    case MOD:
        if (power) {
            EACH(a & (b - 1));
        }
        if (whole && b > 0) {
            EACH(a - (int64_t)td_quotient((uint64_t)a, &by) * b);
        }
        EACH(a % b);
    case SHL:
        EACH((int64_t)((uint64_t)a << b));
    case SHR:
        EACH(a >> b);
    case AND:
        EACH(a & b);
    case XOR:
        EACH(a ^ b);
    case OR:
        EACH(a | b);
    case REV:
        EACH(td_reverse_bits(a, b));
    case MIN:
        EACH(a < b ? a : b);
    case MAX:
        EACH(a > b ? a : b);
    default:
        EACH(td_interleave_bits(a, b));
    }
}

/* Values that a product of 32 bits by 32 has. */
static bool is_short(const step *s)
{
    return s->low >= 0 && s->high <= UINT32_MAX;
}

static bool multiply_short(size_t count, int64_t *restrict out, const int64_t *restrict right)
{
    EACH((int64_t)((uint64_t)(uint32_t)a * (uint32_t)right[i]));
}

static bool apply_safe(op which, size_t count, int64_t *restrict out, const int64_t *restrict right)
{
    switch (which) {
    case NEG:
        EACH(-a);
    case ADD:
        EACH(a + right[i]);
    case SUB:
        EACH(a - right[i]);
    case MUL:
        EACH(a * right[i]);
    case DIV:
        EACH(a / right[i]);
    case MOD:
        EACH(a % right[i]);
    case SHL:
        EACH((int64_t)((uint64_t)a << right[i]));
    case SHR:
        EACH(a >> right[i]);
    case AND:
        EACH(a & right[i]);
    case XOR:
        EACH(a ^ right[i]);
    case OR:
        EACH(a | right[i]);
    case MIN:
        EACH(a < right[i] ? a : right[i]);
    case MAX:
        EACH(a > right[i] ? a : right[i]);
    default:
        EACH(td_interleave_bits(a, right[i]));
    }
}

static bool apply_checked(op which, size_t count, int64_t *restrict out, const int64_t *restrict right)
{
    for (size_t i = 0; i < count; i++)
        if (td_expr_apply(which, out[i], right[i], &out[i]) != FINE)
            return false;
    return true;
}

static bool run_leaf(const step *s, const td_expr_points *points, int64_t *restrict out)
{
    const int64_t *from = s->op == AXIS ? points->axis[s->axis] : s->op == INDEX ? points->index : NULL;
    for (size_t i = 0; i < points->count; i++)
        out[i] = from ? from[i] : s->low;
    return s->safe;
}

static bool run_step(const td_expr_code *code, int at, const td_expr_points *points, int64_t *out)
{
    const step *s = &code->step[at];
    if (s->a < 0 || s->constant)
        return run_leaf(s, points, out);
    if (!run_step(code, s->a, points, out))
        return false;
    const step *b = s->b >= 0 ? &code->step[s->b] : NULL;
    if (b && b->constant && s->safe)
        return apply_constant(s, &code->step[s->a], b, points->count, out);
    int64_t right[TD_EXPR_RUN];
    if (b && !run_step(code, s->b, points, right))
        return false;
    if (b && s->safe && s->op == MUL && is_short(&code->step[s->a]) && is_short(b))
        return multiply_short(points->count, out, right);
    for (size_t i = 0; !b && i < points->count; i++) /* of a sign, which has no right side */
        right[i] = 0;
    return s->safe ? apply_safe(s->op, points->count, out, right) : apply_checked(s->op, points->count, out, right);
}

bool td_expr_run(const td_expr_code *code, const td_expr_points *points, int64_t *out)
{
    return run_step(code, code->count - 1, points, out);
}
