/* What elaborate.c (values) and effects.c (statements) share while a graph is made. */
#ifndef TD_ELABORATE_H
#define TD_ELABORATE_H

#include "program/program.h"

/* A tensor's name in the text, and the op that it stands for now. */
typedef struct td_elab_value {
    const char *text;
    uint32_t op;
} td_elab_value;

typedef struct td_elab {
    td_program *program;
    td_graph *graph;
    const td_scope *scope;
    const char *loop; /* "t=3", or NULL */
    const td_form *statement;
    uint32_t label;
    td_elab_value *name;
    size_t names;
    size_t iterations; /* of all loops */
} td_elab;

#define TD_MOST_ITERATIONS ((size_t)1 << 18)

td_status td_elab_op(td_elab *e, td_op_kind kind, const td_form *form, uint32_t *out);
/* The tensors that an op takes; arg may be NULL where there are none. */
td_status td_elab_args(td_elab *e, uint32_t op, const uint32_t *arg, size_t count);
td_status td_elab_name(td_elab *e, const char *name, uint32_t op);
td_status td_elab_memory(const td_elab *e, const td_token *name, const td_binding **out);

/* A number of the text that must not be negative; 0 where there is none. */
td_status td_elab_number(const td_elab *e, const td_ex *ex, const td_token *at, const char *what, uint64_t *out);

/* The op of a value, made with those that it takes. */
td_status td_elab_value_of(td_elab *e, td_form *form, uint32_t *out);

/* effects.c: a line that opens no block. */
td_status td_elab_statement(td_elab *e, td_form *form);

/* effects.c: the memory, layout and `at` of an op on a tensor of this kind; the words [first, first + count). */
td_status td_elab_move(td_elab *e, td_form *form, uint32_t op, const td_tensor *like);
td_status td_elab_words(td_elab *e, td_form *form, uint32_t op, const td_binding *memory);

#endif
