/* Evaluates address expressions: the values at words one by one, with the reason where there is none, or the strides
 * where the expression is affine. Called by plan/addresses.c; expr.c parses, expr_run.c has the values of many words.
 * Refuses a division by 0 and what does not fit in 64 bits. */
#include "layout/expr_tree.h"

#include <inttypes.h>
#include <string.h>

/* -- values -- */

td_expr_fault td_expr_apply(op which, int64_t a, int64_t b, int64_t *out)
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
        *out = td_reverse_bits(a, b);
        return FINE;
    case INTERLEAVE:
        if (a < 0 || b < 0 || a >> 31 || b >> 31)
            return BAD_INTERLEAVE;
        *out = td_interleave_bits(a, b);
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
    if (td_expr_apply(which, a, b, &value) != FINE || value < 0)
        return false;
    *out = value;
    return true;
}

static td_status fail_value(td_expr_fault what, int64_t a, int64_t b)
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

/* Operator by operator over the whole run: what fails first is the first operator, not the first point. */
static td_status eval_node(const td_expr *expr, int at, const td_expr_scope *scope, const td_expr_points *points,
                           int64_t *out)
{
    const node *n = &expr->node[at];
    const int64_t *from = n->op == AXIS ? points->axis[n->value] : n->op == INDEX ? points->index : NULL;
    int64_t constant = n->value;
    td_status status = n->op == DIM ? dim_length(scope, n->value, &constant) : TD_OK;
    for (size_t i = 0; i < points->count && n->a < 0; i++)
        out[i] = from ? from[i] : constant;
    if (status || n->a < 0)
        return status;
    int64_t right[TD_EXPR_RUN];
    memset(right, 0, points->count * sizeof *right); /* of an operator with one side */
    status = eval_node(expr, n->a, scope, points, out);
    if (!status && n->b >= 0)
        status = eval_node(expr, n->b, scope, points, right);
    for (size_t i = 0; i < points->count && !status; i++) {
        const int64_t a = out[i], b = right[i];
        const td_expr_fault what = td_expr_apply(n->op, a, b, &out[i]);
        if (what)
            status = fail_value(what, a, b);
    }
    return status;
}

td_status td_expr_eval(const td_expr *expr, const td_expr_scope *scope, const td_expr_points *points, int64_t *out)
{
    return eval_node(expr, expr->count - 1, scope, points, out);
}

uint64_t td_expr_axes(const td_expr *expr)
{
    uint64_t axes = 0;
    for (int i = 0; expr && i < expr->count; i++)
        if (expr->node[i].op == AXIS)
            axes |= (uint64_t)1 << expr->node[i].value;
    return axes;
}

bool td_expr_names_index(const td_expr *expr)
{
    bool named = false;
    for (int i = 0; expr && i < expr->count; i++)
        named |= expr->node[i].op == INDEX;
    return named;
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

typedef struct range {
    int64_t low, high;
} range;

/* Adds what a factor gives over an axis, whose steps are `first` to `last`. */
static bool extend(range *r, int64_t factor, uint64_t first, uint64_t last)
{
    int64_t one = 0, other = 0;
    if (last > INT64_MAX || __builtin_mul_overflow(factor, (int64_t)first, &one) ||
        __builtin_mul_overflow(factor, (int64_t)last, &other))
        return false;
    return !__builtin_add_overflow(r->low, factor < 0 ? other : one, &r->low) &&
           !__builtin_add_overflow(r->high, factor < 0 ? one : other, &r->high);
}

/* False where it is not known, as it may be of `index`, and of what does not fit. */
static bool find_range(const td_affine *a, const td_expr_scope *scope, range *out)
{
    *out = (range){a->constant, a->constant};
    bool known = !a->index_factor || (scope->index && extend(out, a->index_factor, scope->index[0], scope->index[1]));
    for (int i = 0; i < TD_MAX_AXES && known; i++) {
        const uint64_t first = a->factor[i] && scope->start ? scope->start[i] : 0;
        known = !a->factor[i] || extend(out, a->factor[i], first, first + scope->size[i] - 1);
    }
    return known;
}

/* A shift to the right, and a mask of low bits, of what is not negative, are a division and its remainder. */
static op divide(op which, range *r)
{
    if (r->low != r->high)
        return which;
    if (which == SHR && r->low >= 0 && r->low <= 62) {
        r->low = r->high = (int64_t)1 << r->low;
        return DIV;
    }
    if (which == AND && r->low >= 0 && r->low < INT64_MAX && (r->low & (r->low + 1)) == 0) {
        r->low = ++r->high;
        return MOD;
    }
    return which;
}

/* Operators that do nothing, or always the same, over the ranges of their sides: min(32, dim(0) - 32*k) where
 * dim(0) is a multiple of 32; (index + 100) % 4096 from index 3996 to the end. */
static bool settle(op which, const td_affine *left, const td_affine *right, const td_expr_scope *scope, td_affine *out)
{
    range l, r;
    if (!find_range(left, scope, &l) || !find_range(right, scope, &r))
        return false;
    const bool left_low = l.high <= r.low, right_low = r.high <= l.low;
    if ((which == MIN || which == MAX) && (left_low || right_low)) {
        *out = left_low == (which == MIN) ? *left : *right;
        return true;
    }
    which = divide(which, &r);
    if ((which != DIV && which != MOD) || l.low < 0 || r.low <= 0)
        return false;
    const int64_t quotient = l.high < r.low ? 0 : l.low / r.low;
    if (l.high >= r.low && (r.low != r.high || l.high / r.low != quotient))
        return false;
    *out = which == MOD ? *left : (td_affine){.constant = quotient};
    return which == DIV || !__builtin_sub_overflow(left->constant, quotient * r.low, &out->constant);
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
        if (scope->size[n->value] == 1 && scope->start)
            out->constant = (int64_t)scope->start[n->value];
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
    if (is_constant(&left) && is_constant(&right))
        return td_expr_apply(n->op, left.constant, right.constant, &out->constant) == FINE;
    return settle(n->op, &left, &right, scope, out);
}

bool td_expr_affine(const td_expr *expr, const td_expr_scope *scope, td_affine *out)
{
    return affine_node(expr, expr->count - 1, scope, out);
}
