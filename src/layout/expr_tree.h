/* The tree of an address expression, as expr.c builds it and expr_eval.c reads it: a flat array of nodes, children
 * before parents, the last node the root. Nobody else includes this. */
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

#endif
