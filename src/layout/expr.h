/* Address expressions: integers over the axes of a pattern. Each is parsed once into a flat tree; addresses.c then
 * takes its strides where it is affine, and its values over a run of words where it is not. Arithmetic is 64-bit and
 * checked; `/` and `%` truncate as in C and SystemVerilog. */
#ifndef TD_EXPR_H
#define TD_EXPR_H

#include "base/text.h"
#include "layout/pattern.h"

typedef struct td_expr td_expr;

/* Parses one expression out of `text`, up to its end or a `;`, and moves *at there. `text` is the whole address, for
 * the caret. `elf` is the file of @sym(NAME), or NULL. TD_ADDRESS, with the place. */
td_status td_expr_parse(const char *text, const char **at, const td_pattern *pattern, const char *elf, td_expr **out);
void td_expr_free(td_expr **expr);

/* Appends the canonical form to a growing text (text.h). */
void td_expr_print(const td_expr *expr, const td_pattern *pattern, td_text *out);

/* No axis and no `index` in it. */
bool td_expr_is_constant(const td_expr *expr);

/* Whether it names `index`; not where there is no expression. */
bool td_expr_names_index(const td_expr *expr);

/* The pattern axes that it names, a bit for each; none where there is no expression. */
uint64_t td_expr_axes(const td_expr *expr);

/* What the expression is evaluated against. Axes are pattern axes; `index` has a factor for every bound axis, those of
 * `...` included, so it is passed ready-made. */
typedef struct td_expr_scope {
    const uint64_t *size; /* per pattern axis */
    const td_shape *shape;
    /* For td_expr_affine alone, of a rectangle of the axes: */
    const uint64_t *start; /* where each begins; NULL: at 0 */
    const uint64_t *index; /* the least and the greatest; NULL: not known */
} td_expr_scope;

/* constant + sum of factor[axis] * axis + index_factor * index */
typedef struct td_affine {
    int64_t constant;
    int64_t index_factor;
    int64_t factor[TD_MAX_AXES];
} td_affine;

/* True when the expression is affine over axes of more than one element; its strides are then in *out. Minima, maxima,
 * quotients and remainders are, where one side, or one quotient, holds for all elements. */
bool td_expr_affine(const td_expr *expr, const td_expr_scope *scope, td_affine *out);

/* True when it only moves and XORs bits of axes and of `index`, whose sizes are powers of two, and no value fails: the
 * value is the XOR of its constant and of what each bit adds (expr_bits.c). */
bool td_expr_moves_bits(const td_expr *expr, const td_expr_scope *scope, uint64_t indices);

/* Points that an expression is evaluated at, count <= TD_EXPR_RUN: axis a of the pattern is axis[a][i] at point i. */
#define TD_EXPR_RUN 256
typedef struct td_expr_points {
    const int64_t *axis[TD_MAX_AXES]; /* of the axes that the expression names */
    const int64_t *index;
    size_t count;
} td_expr_points;

/* The values at these points. TD_ADDRESS on division by zero, TD_OVERFLOW past 64 bits. */
td_status td_expr_eval(const td_expr *expr, const td_expr_scope *scope, const td_expr_points *points, int64_t *out);

/* Made ready for many points (expr_run.c): where no value of the axes can make an operator fail, it is not tested. */
typedef struct td_expr_code td_expr_code;
td_status td_expr_prepare(const td_expr *expr, const td_expr_scope *scope, uint64_t indices, td_expr_code **out);
void td_expr_code_free(td_expr_code **code);

/* The same values; false where one of the points has none, and td_expr_eval has the reason. */
bool td_expr_run(const td_expr_code *code, const td_expr_points *points, int64_t *out);

#endif
