/* Evaluates address expressions: the values over a run of words, or the strides where the expression is affine.
 * Called by plan/addresses.c; expr.c parses. Refuses a division by 0 and what does not fit in 64 bits. */
#include "layout/expr_tree.h"

#include <inttypes.h>

/* -- values -- */

static int64_t reverse_bits(int64_t value, int64_t bits)
{
    uint64_t out = 0;
    for (int64_t i = 0; i < bits; i++)
        out |= (((uint64_t)value >> i) & 1) << (bits - 1 - i);
    return (int64_t)out;
}

/* Bits of a at even places, of b at odd ones: Morton order. */
static int64_t interleave_bits(int64_t a, int64_t b)
{
    uint64_t out = 0;
    for (int i = 0; i < 31; i++)
        out |= (((uint64_t)a >> i) & 1) << (2 * i) | (((uint64_t)b >> i) & 1) << (2 * i + 1);
    return (int64_t)out;
}

typedef enum fault { FINE, OVERFLOWS, DIVIDES_BY_ZERO, BAD_SHIFT, BAD_REV, BAD_INTERLEAVE } fault;

static fault apply(op which, int64_t a, int64_t b, int64_t *out)
{
    switch (which) {
    case NEG:
        return __builtin_sub_overflow((int64_t)0, a, out) ? OVERFLOWS : FINE;
    case ADD:
        return __builtin_add_overflow(a, b, out) ? OVERFLOWS : FINE;
    case SUB:
        return __builtin_sub_overflow(a, b, out) ? OVERFLOWS : FINE;
    case MUL:
        return __builtin_mul_overflow(a, b, out) ? OVERFLOWS : FINE;
    case DIV:
    case MOD:
        if (b == 0)
            return DIVIDES_BY_ZERO;
        if (a == INT64_MIN && b == -1)
            return OVERFLOWS;
        *out = which == DIV ? a / b : a % b;
        return FINE;
    case SHL:
        if (b < 0 || b > 62)
            return BAD_SHIFT;
        return __builtin_mul_overflow(a, (int64_t)1 << b, out) ? OVERFLOWS : FINE;
    case SHR:
        if (b < 0 || b > 62)
            return BAD_SHIFT;
        *out = a >> b;
        return FINE;
    case AND:
        *out = a & b;
        return FINE;
    case XOR:
        *out = a ^ b;
        return FINE;
    case OR:
        *out = a | b;
        return FINE;
    case REV:
        if (a < 0 || a >> b)
            return BAD_REV;
        *out = reverse_bits(a, b);
        return FINE;
    case INTERLEAVE:
        if (a < 0 || b < 0 || a >> 31 || b >> 31)
            return BAD_INTERLEAVE;
        *out = interleave_bits(a, b);
        return FINE;
    case MIN:
        *out = a < b ? a : b;
        return FINE;
    case MAX:
        *out = a > b ? a : b;
        return FINE;
    default:
        return FINE;
    }
}

bool td_expr_fold(op which, int64_t a, int64_t b, int64_t *out)
{
    int64_t value = 0;
    if (apply(which, a, b, &value) != FINE || value < 0)
        return false;
    *out = value;
    return true;
}

static td_status fail_value(fault what, int64_t a, int64_t b)
{
    switch (what) {
    case DIVIDES_BY_ZERO:
        return td_fail(TD_ADDRESS, "divides %" PRId64 " by zero; use a divisor that is never 0", a);
    case BAD_SHIFT:
        return td_fail(TD_ADDRESS, "shifts by %" PRId64 "; shift by 0 to 62", b);
    case BAD_REV:
        return td_fail(TD_ADDRESS,
                       "reverses %" PRId64 " in %" PRId64 " bits, where it does not fit; give rev more bits", a, b);
    case BAD_INTERLEAVE:
        return td_fail(TD_ADDRESS, "interleaves %" PRId64 " and %" PRId64 "; both must lie in 0 .. 2^31-1", a, b);
    default:
        return td_fail(TD_OVERFLOW, "does not fit in 64 bits at %" PRId64 " and %" PRId64 "; use smaller factors", a,
                       b);
    }
}

static td_status dim_length(const td_expr_scope *scope, int64_t dim, int64_t *out)
{
    if ((uint64_t)dim >= scope->shape->rank)
        return td_fail(TD_ADDRESS, "asks for dim(%" PRId64 ") of a tensor of rank %zu; use 0 to rank - 1", dim,
                       scope->shape->rank);
    *out = (int64_t)scope->shape->dim[dim];
    return TD_OK;
}

static td_status eval_node(const td_expr *expr, int at, const td_expr_scope *scope, const int64_t *value,
                           const int64_t *step, int64_t index, int64_t index_step, size_t count, int64_t *out)
{
    const node *n = &expr->node[at];
    int64_t start = n->value, grow = 0;
    td_status status = TD_OK;
    switch (n->op) {
    case AXIS:
        start = value[n->value];
        grow = step[n->value];
        break;
    case INDEX:
        start = index;
        grow = index_step;
        break;
    case DIM:
        status = dim_length(scope, n->value, &start);
        break;
    default:
        break;
    }
    if (status)
        return status;
    if (n->a < 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = start + grow * (int64_t)i;
        return TD_OK;
    }
    int64_t right[TD_EXPR_RUN];
    status = eval_node(expr, n->a, scope, value, step, index, index_step, count, out);
    if (!status && n->b >= 0)
        status = eval_node(expr, n->b, scope, value, step, index, index_step, count, right);
    if (status)
        return status;
    switch (n->b >= 0 ? n->op : NEG) { /* operators that cannot fail run without a test per value */
    case AND:
        for (size_t i = 0; i < count; i++)
            out[i] &= right[i];
        return TD_OK;
    case XOR:
        for (size_t i = 0; i < count; i++)
            out[i] ^= right[i];
        return TD_OK;
    case OR:
        for (size_t i = 0; i < count; i++)
            out[i] |= right[i];
        return TD_OK;
    default:
        break;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t a = out[i], b = n->b >= 0 ? right[i] : 0;
        fault what = apply(n->op, a, b, &out[i]);
        if (what)
            return fail_value(what, a, b);
    }
    return TD_OK;
}

td_status td_expr_eval(const td_expr *expr, const td_expr_scope *scope, const int64_t *value, const int64_t *step,
                       int64_t index, int64_t index_step, size_t count, int64_t *out)
{
    return eval_node(expr, expr->count - 1, scope, value, step, index, index_step, count, out);
}

uint64_t td_expr_axes(const td_expr *expr)
{
    uint64_t axes = 0;
    for (int i = 0; expr && i < expr->count; i++)
        if (expr->node[i].op == AXIS)
            axes |= (uint64_t)1 << expr->node[i].value;
    return axes;
}

bool td_expr_is_constant(const td_expr *expr)
{
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == AXIS || expr->node[i].op == INDEX)
            return false;
    return true;
}

/* -- strides -- */

static bool is_constant(const td_affine *a)
{
    if (a->index_factor)
        return false;
    for (int i = 0; i < TD_MAX_AXES; i++)
        if (a->factor[i])
            return false;
    return true;
}

/* out = a * left + b * right, factor by factor. */
static bool combine(const td_affine *left, int64_t a, const td_affine *right, int64_t b, td_affine *out)
{
    bool bad = false;
    int64_t x = 0, y = 0;
#define COMBINE(field)                                                                                                 \
    bad |= __builtin_mul_overflow(left->field, a, &x);                                                                 \
    bad |= __builtin_mul_overflow(right->field, b, &y);                                                                \
    bad |= __builtin_add_overflow(x, y, &out->field)
    COMBINE(constant);
    COMBINE(index_factor);
    for (int i = 0; i < TD_MAX_AXES; i++) {
        COMBINE(factor[i]);
    }
#undef COMBINE
    return !bad;
}

static bool affine_node(const td_expr *expr, int at, const td_expr_scope *scope, td_affine *out)
{
    const node *n = &expr->node[at];
    *out = (td_affine){0};
    td_affine left, right = {0};
    switch (n->op) {
    case NUMBER:
        out->constant = n->value;
        return true;
    case AXIS:
        out->factor[n->value] = scope->size[n->value] > 1;
        return true;
    case INDEX:
        out->index_factor = 1;
        return true;
    case DIM:
        return (uint64_t)n->value < scope->shape->rank && (out->constant = (int64_t)scope->shape->dim[n->value]);
    default:
        break;
    }
    if (!affine_node(expr, n->a, scope, &left) || (n->b >= 0 && !affine_node(expr, n->b, scope, &right)))
        return false;
    if (n->op == ADD || n->op == SUB)
        return combine(&left, 1, &right, n->op == ADD ? 1 : -1, out);
    if (n->op == NEG)
        return combine(&left, -1, &right, 0, out);
    if (n->op == MUL && is_constant(&right))
        return combine(&left, right.constant, &left, 0, out);
    if (n->op == MUL && is_constant(&left))
        return combine(&right, left.constant, &right, 0, out);
    if (n->op == SHL && is_constant(&right) && right.constant >= 0 && right.constant < 62)
        return combine(&left, (int64_t)1 << right.constant, &left, 0, out);
    return is_constant(&left) && is_constant(&right) &&
           apply(n->op, left.constant, right.constant, &out->constant) == FINE;
}

bool td_expr_affine(const td_expr *expr, const td_expr_scope *scope, td_affine *out)
{
    return affine_node(expr, expr->count - 1, scope, out);
}
