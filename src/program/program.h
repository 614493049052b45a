/* A program as the library sees it, from its text to the steps that run. parse.c reads lines into forms; elaborate.c
 * unrolls forms into ops, each with its dtype and shape, or with the words that it touches; passes.c improves them;
 * run.c runs them. The rooms above have only the public header. */
#ifndef TD_PROGRAM_H
#define TD_PROGRAM_H

#include "base/text.h"
#include "layout/layout.h"
#include "memory/memory.h"
#include "plan/layers.h"
#include "plan/plan.h"
#include "tensor/operand.h"
#include "tensor/steps.h"
#include "tensor/tensor.h"
#include "values/convert.h"
#include "values/policy.h"

/* -- the text ------------------------------------------------------------------------------------------------------ */

/* One line of the text. It lives in the program's arena, as everything that parse.c makes. */
typedef struct td_line {
    const char *text; /* without its end */
    unsigned number;  /* from 1 */
} td_line;

/* A word of a line: where it stands, for messages, and its text without quotes; NULL where a form has none. */
typedef struct td_token {
    const char *text;
    const td_line *line;
    uint32_t column, length;
    bool quoted;
} td_token;

typedef enum td_ex_kind {
    TD_EX_NUMBER,
    TD_EX_NAME,
    TD_EX_NEGATE,
    TD_EX_OR,
    TD_EX_XOR,
    TD_EX_AND,
    TD_EX_LEFT,
    TD_EX_RIGHT,
    TD_EX_ADD,
    TD_EX_SUB,
    TD_EX_MUL,
    TD_EX_DIV,
    TD_EX_MOD
} td_ex_kind;

/* A whole number, calculated when the program is compiled. */
typedef struct td_ex {
    td_ex_kind kind;
    int64_t value;
    td_token name; /* of a name; of an operator, where it stands */
    const struct td_ex *a, *b;
} td_ex;

/* One place between the brackets of x[..]: an index, or first:last:step; `dots` is "...". */
typedef struct td_index {
    const td_ex *first, *last, *step;
    bool range, dots;
} td_index;

typedef enum td_form_kind {
    /* values */
    TD_FORM_NAME, /* a tensor by its name */
    TD_FORM_OPEN,
    TD_FORM_CONVERT,
    TD_FORM_SCALE,
    TD_FORM_ADD,
    TD_FORM_MUL,
    TD_FORM_CLAMP,
    TD_FORM_SLICE,
    TD_FORM_CONCAT,
    TD_FORM_TRANSPOSE,
    TD_FORM_MAKE, /* fill, as a tensor */
    TD_FORM_TAKE, /* dump, as a tensor */
    TD_FORM_READ,
    /* statements */
    TD_FORM_TENSOR,
    TD_FORM_LOAD,
    TD_FORM_DUMP,
    TD_FORM_FILL,
    TD_FORM_WRITE,
    TD_FORM_SAVE,
    TD_FORM_CHECKPOINT,
    TD_FORM_FOR,
    TD_FORM_LABEL,
    TD_FORM_ARG,
    TD_FORM_USE,
    TD_FORM_LAYOUT,
    TD_FORM_KINDS
} td_form_kind;

/* A statement, or a value inside one. Members that a kind has no use for are zero. */
typedef struct td_form {
    td_form_kind kind;
    unsigned depth;         /* statements: how many blocks it stands in */
    td_token word;          /* that begins it */
    td_token name;          /* tensor, checkpoint, label, loop variable, argument, layout; the name of a value */
    td_token memory;        /* of load, dump, fill, write, read; of a checkpoint: or the tensor that is compared */
    struct td_form **value; /* operands */
    size_t values;
    td_token layout, as, policy;
    td_token text;         /* path, `as` of convert, options of a step, order, what of a fill */
    td_token dtype, shape; /* of fill and dump as tensors; dtype of open */
    td_token number[2];    /* factor; low and high; axis of concat */
    const td_ex *at, *first, *count;
    td_index *index;
    size_t indices;
    td_token *word_value; /* of write */
    size_t word_values;
    bool over;
    struct td_form *next;                    /* statement */
    const struct td_program_move *last_move; /* of the last elaboration, so that the steps of a loop share it */
    uint32_t last_op;                        /* passes.c: of this form */
} td_form;

/* -- names --------------------------------------------------------------------------------------------------------- */

typedef enum td_name_kind { TD_NAME_MEMORY, TD_NAME_TENSOR, TD_NAME_LAYOUT } td_name_kind;

/* A name that the caller has bound. */
typedef struct td_binding {
    char *name;
    td_name_kind kind;
    td_memory **bank;
    size_t banks;
    td_tensor *tensor;
    bool owned;        /* the tensor is the program's: recorded, and destroyed since */
    td_layout *layout; /* the program's own copy */
} td_binding;

/* An argument and what it stands for: a number, or text. */
typedef struct td_argument {
    const char *name;
    const char *value, *given; /* the default, of the text; of the run, or NULL */
} td_argument;

/* A layout that the text writes out, made once. */
typedef struct td_made_layout {
    char *text; /* "PATTERN; OPTIONS; ADDRESS", or the name in a file that `use` names */
    td_layout *layout;
    struct td_made_layout *next;
} td_made_layout;

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* How a tensor of one shape and dtype goes between a memory and a tensor: shared by the steps of a loop. */
typedef struct td_program_move {
    const td_binding *memory;
    const td_layout *layout;
    const char *as;
    td_dtype dtype, memory_dtype; /* of the tensor and of the memory */
    td_shape shape;
    uint64_t elems;
    bool to_tensor, compares, truncate;
    td_plan *plan;
    td_convert *convert; /* NULL: bits move unchanged */
    bool partial;        /* a load leaves bits of its words as they were */
    td_span *spans;      /* words of the plan, at 0 */
    size_t span_count;
    uint64_t end; /* one past the highest word */
    struct td_program_move *next;
} td_program_move;

typedef enum td_op_kind {
    TD_OP_OPEN,
    TD_OP_BOUND, /* a tensor of the caller */
    TD_OP_MAKE,
    TD_OP_CONVERT,
    TD_OP_STEP, /* add, mul, scale, clamp */
    TD_OP_SLICE,
    TD_OP_CONCAT,
    TD_OP_TRANSPOSE,
    TD_OP_TAKE,
    TD_OP_READ,
    TD_OP_LOAD,
    TD_OP_DUMP,
    TD_OP_FILL,
    TD_OP_WRITE,
    TD_OP_SAVE,
    TD_OP_CHECKPOINT,
    TD_OP_KINDS
} td_op_kind;

#define TD_NO_OP UINT32_MAX

/* A step of an unrolled program: a tensor with its dtype and shape, or an effect with its words. */
typedef struct td_op {
    td_op_kind kind;
    const td_form *form;      /* where it stands in the text */
    const td_form *statement; /* the line that it is part of */
    uint32_t label;           /* number of the label, or TD_NO_OP: outside of all */
    uint32_t *arg;            /* ops whose tensors it takes */
    uint32_t args;
    bool is_value;
    bool constant;                /* the same in every run */
    bool refuses;                 /* may be refused while it runs */
    bool written;                 /* a tensor that a dump of the program writes, or one made of it */
    bool is_view;                 /* of a slice: elements [first, ..) of its tensor, not copied */
    bool used;                    /* passes.c */
    bool fused_into, joined_into; /* a load has taken it in */
    bool shared;                  /* an open that several lines take */
    const char *loop;             /* "t=3" or "", for messages */

    /* values */
    td_tensor like;   /* dtype and shape; no data */
    td_tensor *value; /* NULL: not there (yet) */
    uint64_t run;     /* td_graph.run when it was made */
    bool owned;
    bool keeps;       /* its storage stays for the next run, as `spare`, */
    td_tensor *spare; /* which is given back just before the tensor is made again: then its pages are there */
    const char *text; /* path, as, options, order, slice, what: with arguments filled in */
    td_step *step;
    td_step_op step_op;
    double number[2];
    size_t axis;

    /* effects */
    const td_binding *memory;
    const td_program_move *move;
    uint64_t at, first, count; /* words */
    td_layout *moved;          /* the layout with `at` added, where a call needs it */
    td_plan *moved_plan;       /* of a checkpoint: its plan */
    unsigned char **bank;      /* storage of the banks, from word `at` on */
    unsigned char *words;      /* of write */
    const td_policy *policy;   /* of a checkpoint */
    const char *name;          /* of a checkpoint */
    struct td_fused *fused;    /* of a load: the chain that is part of it; or NULL */
    uint32_t joined;           /* loads that this one stands for, beside itself */
    bool dead;                 /* no part of any run: fused, joined or never used */
    const char *why;           /* not fused: the reason, for explain; or NULL */
} td_op;

/* A load or dump that goes to exec at once where the words of its memory are plain: all that a run has to know of it,
 * in one line of the cache. */
typedef struct td_quick {
    const td_plan *plan; /* NULL: the step is none of them */
    unsigned char *const *bank;
    const td_convert *convert;
    td_tensor *const *tensor; /* where the tensor is found, which is not a view, */
    uint64_t offset_bytes;    /* and where in it the elements begin */
    const td_binding *memory;
    bool dumps;
    bool drops; /* a tensor is not needed any more behind it */
} td_quick;

/* Steps behind each other that threads may run side by side: quick moves of which none writes what another one reads or
 * writes, or tensors of which none is made of another one. */
typedef struct td_batch {
    uint32_t first, count; /* places in the schedule */
    bool moves;
    uint64_t bytes; /* of all tensors of moves */
} td_batch;

/* The first step of the text that was refused in a batch, with this thread's message; TD_OK: none. */
typedef struct td_batch_failure {
    uint32_t op;
    td_status status;
} td_batch_failure;

/* The ops of one label, in the order in which they run. */
typedef struct td_schedule {
    uint32_t label; /* TD_NO_OP: everything */
    uint32_t *op;
    td_quick *quick;    /* by place */
    uint32_t *last_use; /* by op: the place of the last step that takes its tensor */
    size_t count;
    size_t pure;  /* so many at the front only make tensors, before any effect */
    bool journal; /* an effect comes before a step that may be refused: words are saved first */
    bool checkpoints;
    uint32_t *source; /* ops whose tensors come from files and from the caller */
    size_t sources;
    const td_binding **memory; /* each once */
    size_t memories;
    td_batch *batch;
    size_t batches;
    struct td_journal *kept; /* made by the first run that needs one */
} td_schedule;

/* Memory of many small things that are freed together. */
typedef struct td_arena {
    struct td_arena_block *block;
    size_t used;
} td_arena;

void *td_arena_get(td_arena *arena, size_t bytes); /* zeros; NULL when the system refuses */
char *td_arena_copy(td_arena *arena, const char *text, size_t length);
void td_arena_free(td_arena *arena);

typedef struct td_graph_tensor {
    const char *text;
    uint32_t op;
} td_graph_tensor;

/* The unrolled program for one set of arguments. */
typedef struct td_graph {
    td_arena arena;
    td_op *op;
    size_t count, room;
    td_program_move *moves;
    unsigned rearmed;      /* rearm.c: how often it got other arguments */
    uint64_t run;          /* counts runs: what is not constant is of one run alone */
    uint64_t kept_bytes;   /* of the ops that keep their storage */
    td_schedule *schedule; /* one for each label, then one for everything */
    size_t schedules;
    td_graph_tensor *name; /* the tensors that the text names */
    size_t names;
} td_graph;

#define TD_MOST_DEPTH 16

struct td_program {
    char *name;
    const char *path; /* of the file, for messages; NULL: text */
    td_arena arena;   /* the text and its forms */
    td_form *first, *last;
    size_t forms;
    td_text source;                 /* every line as it stands */
    unsigned lines;                 /* of the text so far */
    unsigned indent[TD_MOST_DEPTH]; /* of each block that is open */
    unsigned depth;
    bool opens; /* the last statement opens a block */

    td_binding **binding;
    size_t bindings;
    td_argument *argument;
    size_t arguments;
    const char **label;
    size_t labels;
    const char **memory; /* names of memories, in the order of the text */
    size_t memories;
    const char **file; /* layout files */
    size_t files;
    td_made_layout *layouts;

    struct td_recording *recording; /* NULL: it is not being recorded */
    const char *unrecorded;         /* why a recording was refused, so that the program does not run; or NULL */
    td_graph *graph;                /* NULL: to be compiled */
    char *compiled_with;            /* the arguments of the graph, */
    char **given;                   /* and their values, which td_argument.given points to */
    size_t given_count;
    unsigned passes; /* which run; for the tests: td_program_set_passes */
};

/* -- functions across files ---------------------------------------------------------------------------------------- */

/* TD_FAIL with a place: "infer.td:5: what\n    the line\n    ^^^^". */
td_status td_program_fail(const td_program *p, const td_token *at, td_status status, const char *fmt, ...)
    TD_PRINTF(4, 5);

/* Puts the place in front of a message that is there. */
td_status td_program_place(const td_program *p, const td_token *at, td_status status);

/* parse.c: lines at the end of the program. On failure the program is as it was. */
td_status td_program_parse(td_program *p, const char *text);

/* expr.c */
typedef struct td_reader td_reader;
const td_ex *td_ex_read(td_reader *r);

/* Loop variables around a form. */
typedef struct td_scope {
    const char *name;
    int64_t value;
    const struct td_scope *up;
} td_scope;

td_status td_ex_value(const td_program *p, const td_scope *scope, const td_ex *ex, int64_t *out);

/* {name} in the text of a token becomes the argument or the loop variable. */
td_status td_token_fill(const td_program *p, const td_scope *scope, const td_token *token, td_arena *arena,
                        const char **out);
td_status td_token_real(const td_program *p, const td_scope *scope, const td_token *token, double *out);
void td_ex_print(const td_ex *ex, td_text *out);

/* bindings.c */
void td_binding_free(td_binding *b);
const td_binding *td_program_find(const td_program *p, const char *name, td_name_kind kind);
/* The words are in the storage of the library and all of their bits are known: a plan reaches them without a call. */
bool td_binding_is_plain(const td_binding *memory);

/* layouts.c: by the word of the text: a name or a text of its own. */
td_status td_program_layout(td_program *p, const td_token *token, const char *text, const td_layout **out);
/* The layout with so many words added to its address. */
td_status td_layout_shift(const td_layout *layout, uint64_t words, uint64_t width_bits, td_layout **out);
/* A layout with one dimension more in front, whose steps lie as the layout puts them, `step_words` apart; the layout
 * numbers `part_words` words. It has two or three right groups. The program keeps it. */
td_status td_program_layout_of_loop(td_program *p, const td_layout *layout, uint64_t part_words, uint64_t step_words,
                                    uint64_t width_bits, const td_layout **out);

/* explain.c, picture.c: what a compilation shows of the graph, as written and after each pass; either may be NULL. */
typedef struct td_picture td_picture;
typedef struct td_explain {
    td_text *text;
    size_t last, last_bytes; /* the steps that the text shows last */
    td_picture *picture;
} td_explain;
void td_explain_graph(td_explain *e, const td_graph *g, const char *title);
void td_picture_graph(td_picture *p, const td_graph *g, const char *title);
void td_op_print(const td_graph *g, size_t number, td_text *out);
bool td_op_is_shown(const td_op *op);

/* graph.c: the graph with the arguments that are set; `explain` may be NULL. */
td_status td_graph_create(td_program *p, td_explain *explain, td_graph **out);
void td_graph_destroy(td_graph **graph);
td_status td_graph_name(td_graph *g, const char *name, uint32_t op);

/* moves.c */
td_status td_program_move_find(td_graph *g, const td_program_move *like, td_form *form, const td_program_move **out);
void td_program_move_free(td_program_move *m);
/* Whether a load or dump of plain words may be refused while it runs: for a value, or for copies that disagree. */
bool td_program_move_refuses(const td_program_move *m);

/* words.c: two steps that write one place without saying so. */
td_status td_graph_check_overlaps(const td_program *p, const td_graph *g);

/* passes.c */
td_status td_graph_run_passes(td_program *p, td_graph *g, td_explain *explain);
bool td_op_is_root(const td_op *op); /* an effect, or a dump or read with a name */

/* schedule.c */
td_status td_schedule_make(td_graph *g, uint32_t label, td_schedule *out);
void td_schedule_free(td_schedule *s);

/* batches.c: the batches of a schedule whose other members are there; and runs one where it is worth threads, which
 * gives true. */
void td_schedule_find_batches(const td_graph *g, td_schedule *s);
bool td_batch_run(const td_graph *g, const td_schedule *s, const td_batch *b, td_batch_failure *failure);

/* words.c: the words of one memory that the ops of a schedule read, write, or write in part. */
#define TD_PARTLY TD_PROGRAM_PARTLY
td_status td_schedule_spans(const td_graph *g, const td_schedule *s, const td_memory *memory, int effects,
                            td_span **spans, size_t *count);
/* Calls fn for every run of words of an op in a bank. */
typedef td_status td_op_words_fn(void *context, const td_memory *memory, uint64_t first, uint64_t count, int effects);
td_status td_op_words(const td_op *op, td_op_words_fn *fn, void *context);

/* arguments.c: compiled with these arguments, and the schedule of the label. */
td_status td_program_prepare(td_program *p, const char *label, const char *arguments, td_schedule **out);

/* rearm.c: whether an argument stands only in what tensors and memories are filled with and in paths of files; and a
 * graph with others of these. On failure the graph is none any more. */
#define TD_MOST_REARMED 10000
bool td_argument_fills(const td_program *p, const char *name);
td_status td_graph_rearm(const td_program *p, td_graph *g, const char *const *changed, size_t count);

/* Compiles anew, and shows the graph after each pass. */
td_status td_program_recompile(td_program *p, const char *arguments, td_explain *explain);

/* Binds a tensor that the program owns from here on, also when it fails. */
td_status td_program_own_tensor(td_program *p, const char *name, td_tensor *tensor);

/* record.c: ends a recording, if there is one. */
void td_program_stop_listening(td_program *p);

/* The graph goes; the next call compiles anew. */
void td_program_forget(td_program *p);

/* TD_ARGUMENT: the text has no such tensor. */
td_status td_program_fail_tensor(const td_program *p, const char *name);

/* evaluate.c: the layout at the op's address, for the calls that take one; what a dump puts into a tensor; and the
 * tensor of an op, out of those of its arguments. */
td_status td_op_move_layout(td_op *op);
td_status td_op_dump(td_op *op, td_tensor *into);
td_status td_op_evaluate(const td_graph *g, td_op *op);
td_status td_op_make(const td_graph *g, td_op *op); /* the same, unless a run before has made it for good */

/* run.c */
void td_quick_run(const td_quick *quick);

#endif
