/* The tree of an address expression, as expr.c builds it and expr_eval.c and expr_run.c read it: a flat array of nodes,
 * children before parents, the last node the root. Nobody else includes this. */
#ifndef TD_EXPR_TREE_H
#define TD_EXPR_TREE_H

#include "layout/expr.h"

typedef enum op {
    NUMBER,
    AXIS,
    INDEX,
    DIM,
    NEG,
    MUL,
    DIV,
    MOD,
    ADD,
    SUB,
    SHL,
    SHR,
    AND,
    XOR,
    OR,
    REV,
    INTERLEAVE,
    MIN,
    MAX
} op;

#define MAX_NODES 256

typedef struct node {
    op op;
    int a, b;      /* children, or -1 */
    int64_t value; /* NUMBER; AXIS: the axis; DIM: the dimension */
} node;

struct td_expr {
    int count; /* the last node is the root */
    node node[MAX_NODES];
};

/* expr_eval.c: the operator applied to two constants; false when the result is no non-negative number. */
bool td_expr_fold(op which, int64_t a, int64_t b, int64_t *out);

/* expr_eval.c: the operator applied to two values. */
typedef enum td_expr_fault { FINE, OVERFLOWS, DIVIDES_BY_ZERO, BAD_SHIFT, BAD_REV, BAD_INTERLEAVE } td_expr_fault;
td_expr_fault td_expr_apply(op which, int64_t a, int64_t b, int64_t *out);

/* The lowest `bits` bits, of at most 62, in reverse. */
static inline int64_t td_reverse_bits(int64_t value, int64_t bits)
{
    uint64_t v = (uint64_t)value;
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    v = __builtin_bswap64(v);
    return bits > 0 ? (int64_t)(v >> (64 - bits)) : 0;
}

/* Bit i of 31 goes to bit 2 * i. */
static inline uint64_t td_spread_bits(uint64_t v)
{
    v &= 0x7fffffff;
    v = (v | v << 16) & 0x0000ffff0000ffff;
    v = (v | v << 8) & 0x00ff00ff00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
    v = (v | v << 2) & 0x3333333333333333;
    return (v | v << 1) & 0x5555555555555555;
}

/* Bits of a at even places, of b at odd ones: Morton order. */
static inline int64_t td_interleave_bits(int64_t a, int64_t b)
{
    return (int64_t)(td_spread_bits((uint64_t)a) | td_spread_bits((uint64_t)b) << 1);
}

#endif
