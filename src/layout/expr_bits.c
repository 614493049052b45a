/* Which address expressions only move and XOR bits: shifts, masks, XOR, reversed and interleaved bits, and sums whose
 * sides have no bit in common. The value of such an expression is the XOR of what every single bit of its axes gives,
 * so that a few values tell all of them (plan/address_bits.c). It reads the tree and evaluates nothing but constants.
 */
#include "layout/expr_tree.h"

#define MOST_BITS 62

/* The bits that a node may have. */
typedef struct known {
    bool linear, constant;
    uint64_t bits;
} known;

static const known none = {0};

static bool is_power(uint64_t value)
{
    return value && (value & (value - 1)) == 0;
}

static known with(uint64_t bits)
{
    return (known){.linear = bits >> MOST_BITS == 0, .bits = bits};
}

static known shifted_up(known a, uint64_t by)
{
    return by < MOST_BITS && a.bits >> (MOST_BITS - by) == 0 ? with(a.bits << by) : none;
}

static known apply(op which, known a, known b)
{
    const unsigned log = is_power(b.bits) ? (unsigned)__builtin_ctzll(b.bits) : 0;
    const bool power = b.constant && is_power(b.bits);
    switch (which) {
    case XOR:
        return with(a.bits | b.bits);
    case ADD:
    case OR:
        return a.bits & b.bits ? none : with(a.bits | b.bits);
    case AND:
        return a.constant || b.constant ? with(a.bits & b.bits) : none;
    case MUL:
        if (a.constant && is_power(a.bits))
            return apply(MUL, b, a);
        return power ? shifted_up(a, log) : none;
    case SHL:
        return b.constant ? shifted_up(a, b.bits) : none;
    case SHR:
        return b.constant && b.bits < MOST_BITS ? with(a.bits >> b.bits) : none;
    case DIV:
        return power ? with(a.bits >> log) : none;
    case MOD:
        return power ? with(a.bits & (b.bits - 1)) : none;
    case REV:
        return b.constant && b.bits < MOST_BITS && a.bits >> b.bits == 0
                   ? with((uint64_t)td_reverse_bits((int64_t)a.bits, (int64_t)b.bits))
                   : none;
    case INTERLEAVE:
        return (a.bits | b.bits) >> 31 ? none : with((uint64_t)td_interleave_bits((int64_t)a.bits, (int64_t)b.bits));
    default:
        return none;
    }
}

static known number(int64_t value)
{
    known k = with(value < 0 ? UINT64_MAX : (uint64_t)value);
    k.constant = true;
    return k;
}

static known combine(op which, known a, known b)
{
    int64_t value = 0;
    if (!a.linear || !b.linear)
        return none;
    if (a.constant && b.constant)
        return td_expr_fold(which, (int64_t)a.bits, (int64_t)b.bits, &value) ? number(value) : none;
    return apply(which, a, b);
}

bool td_expr_moves_bits(const td_expr *expr, const td_expr_scope *scope, uint64_t indices)
{
    known k[MAX_NODES];
    bool linear = false; /* of the last node, which is the whole */
    for (int i = 0; i < expr->count; i++) {
        const node *n = &expr->node[i];
        if (n->op == NUMBER)
            k[i] = number(n->value);
        else if (n->op == DIM)
            k[i] = (uint64_t)n->value < scope->shape->rank ? number((int64_t)scope->shape->dim[n->value]) : none;
        else if (n->op == AXIS || n->op == INDEX) {
            const uint64_t size = n->op == AXIS ? scope->size[n->value] : indices;
            k[i] = is_power(size) ? with(size - 1) : none;
        } else
            k[i] = n->a >= 0 && n->b >= 0 ? combine(n->op, k[n->a], k[n->b]) : none;
        linear = k[i].linear;
    }
    return linear;
}
