/* Recording: the calls of a thread as the lines of a program. Memories become names, layouts texts; a tensor is what a
 * recorded step has made, or else a copy of the elements that the call saw, which the program keeps: so a program that
 * was recorded moves the same bytes, whatever has become of the caller's tensors. A call that no line can say is
 * refused by td_program_stop, and the program does not run then: it is not what the caller did. */
#include "base/record.h"

#include "base/grow.h"
#include "program/program.h"
#include "tensordoor_bridge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A tensor of the caller, and the name that it has in the program as long as its elements are these. */
typedef struct seen {
    const td_tensor *tensor;
    char name[48];
    uint64_t sum;
    td_shape shape;
    td_dtype dtype;
} seen;

struct td_recording {
    td_program *program;
    seen *seen;
    size_t count, room;
    unsigned names; /* given so far */
    unsigned checks;
    bool all;         /* the calls of every thread */
    td_status status; /* of the first call that could not be recorded, */
    char *message;    /* and why */
};

static void refuse(struct td_recording *r, td_status status)
{
    if (r->status)
        return;
    r->status = status;
    r->message = strdup(td_last_error());
}

static uint64_t sum_of(const td_tensor *t)
{
    const size_t bytes = (size_t)t->elems * t->dtype.bytes;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ t->data[i]) * 0x100000001b3u;
    return sum;
}

static void forget(struct td_recording *r, const td_tensor *t)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->seen[i].tensor == t)
            r->seen[i--] = r->seen[--r->count];
}

static void remember(struct td_recording *r, const td_tensor *t, const char *name)
{
    forget(r, t);
    seen *const list = td_grow(r->seen, r->count, &r->room, sizeof *list, 16);
    if (!list) {
        refuse(r, TD_NO_MEMORY);
        return;
    }
    r->seen = list;
    seen *s = &r->seen[r->count++];
    *s = (seen){.tensor = t, .sum = sum_of(t), .shape = t->shape, .dtype = t->dtype};
    td_text_print(s->name, sizeof s->name, "%s", name);
}

/* Letters, digits and _ of a name; "m" where there are none. */
static void clean_name(const char *from, const char *otherwise, char *out, size_t bytes)
{
    size_t used = 0;
    for (; *from && used + 1 < bytes; from++)
        if (td_is_name_char(*from) && (used || td_is_name_start(*from)))
            out[used++] = *from;
        else if (used && out[used - 1] != '_')
            out[used++] = '_';
    while (used && out[used - 1] == '_')
        used--;
    out[used] = 0;
    if (!used)
        td_text_print(out, bytes, "%s", otherwise);
}

/* A copy of the tensor as it is, bound by a new name. */
static void keep_copy(struct td_recording *r, const td_tensor *t, char *name, size_t bytes)
{
    td_tensor *copy = NULL;
    td_status status = td_tensor_create_unset(t->dtype_name, t->shape, &copy);
    td_text_print(name, bytes, "t%u", r->names++);
    if (!status) {
        memcpy(copy->data, t->data, (size_t)t->elems * t->dtype.bytes);
        status = td_program_own_tensor(r->program, name, copy);
    }
    if (status)
        refuse(r, status);
}

static void name_tensor(struct td_recording *r, const td_tensor *t, char *name, size_t bytes)
{
    for (size_t i = 0; i < r->count; i++) {
        const seen *s = &r->seen[i];
        if (s->tensor == t && td_dtype_equal(s->dtype, t->dtype) && s->shape.rank == t->shape.rank &&
            memcmp(s->shape.dim, t->shape.dim, t->shape.rank * sizeof *t->shape.dim) == 0 && s->sum == sum_of(t)) {
            td_text_print(name, bytes, "%s", s->name);
            return;
        }
    }
    keep_copy(r, t, name, bytes);
    remember(r, t, name);
}

/* The name of these banks; bound when they are new. */
static void name_memory(struct td_recording *r, td_memory *const *banks, size_t count, char *name, size_t bytes)
{
    const td_program *p = r->program;
    char clean[40];
    for (size_t i = 0; i < p->bindings; i++) {
        const td_binding *b = p->binding[i];
        if (b->kind == TD_NAME_MEMORY && b->banks == count &&
            memcmp((const void *)b->bank, (const void *)banks, count * sizeof(void *)) == 0) {
            td_text_print(name, bytes, "%s", b->name);
            return;
        }
    }
    clean_name(banks[0]->name, "m", clean, sizeof clean);
    td_text_print(name, bytes, "%s", clean);
    for (unsigned i = 2; td_program_find(p, name, TD_NAME_MEMORY); i++)
        td_text_print(name, bytes, "%s_%u", clean, i);
    const td_status status = td_program_bind_banks(r->program, name, banks, count);
    if (status)
        refuse(r, status);
}

/* In quotes; braces stand for names in a program. */
static void add_quoted(td_text *out, const char *text)
{
    td_text_add(out, "\"");
    for (; *text; text++)
        td_text_add(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : *text == '{' ? "{" : "", *text);
    td_text_add(out, "\"");
}

static void add_layout(td_text *out, const td_layout *layout, const char *as)
{
    td_text text = {0};
    td_text_add(&text, "%s; %s; %s", td_layout_pattern(layout), td_layout_options(layout), td_layout_address(layout));
    out->failed |= text.failed;
    td_text_add(out, " ");
    add_quoted(out, text.text ? text.text : "");
    free(text.text);
    as = td_layout_choose_as(layout, as);
    if (*as) {
        td_text_add(out, " as ");
        add_quoted(out, as);
    }
}

static void add_line(struct td_recording *r, const td_text *line)
{
    const td_status status = line->failed ? td_fail_alloc(line->used) : td_program_add(r->program, line->text);
    if (status)
        refuse(r, status);
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static void hear_move(struct td_recording *r, const td_recorded *c, td_text *line)
{
    char memory[64], tensor[64];
    const bool loads = c->kind == TD_RECORDED_LOAD || c->kind == TD_RECORDED_LOAD_MATRIX;
    name_memory(r, c->banks, c->bank_count, memory, sizeof memory);
    if (loads)
        name_tensor(r, c->tensor, tensor, sizeof tensor);
    else {
        keep_copy(r, c->tensor, tensor, sizeof tensor);
        remember(r, c->tensor, tensor);
    }
    td_text_add(line, "%s %s %s", loads ? "load" : "dump", memory, tensor);
    if (c->layout)
        add_layout(line, c->layout, c->as);
    else
        td_text_add(line, " matrix at %" PRIu64, c->first);
    if (loads)
        td_text_add(line, " over");
}

static void hear_write(struct td_recording *r, const td_recorded *c, td_text *line)
{
    const td_memory *m = c->banks[0];
    char memory[64];
    if (c->mask) {
        refuse(r, td_fail(TD_ARGUMENT, "a write with a mask cannot be recorded; write whole words"));
        return;
    }
    name_memory(r, c->banks, 1, memory, sizeof memory);
    for (size_t i = 0; i < c->count; i++) {
        const unsigned char *word = (const unsigned char *)c->words + i * m->word_bytes;
        td_text_add(line, "%swrite %s %" PRIu64 " 0x", i ? "\n" : "", memory, c->addresses[i]);
        for (size_t b = m->word_bytes; b-- > 0;)
            td_text_add(line, "%02x", word[b]);
    }
}

static void hear_compare(struct td_recording *r, const td_recorded *c, td_text *line)
{
    const td_comparison *what = c->comparison;
    char memory[64], golden[64];
    if (what->mask || what->snapshot) {
        refuse(r, td_fail(TD_ARGUMENT, "a comparison with a %s cannot be recorded; compare without",
                          what->mask ? "mask" : "snapshot"));
        return;
    }
    if (what->actual)
        name_tensor(r, what->actual, memory, sizeof memory);
    else
        name_memory(r, what->banks, what->bank_count, memory, sizeof memory);
    name_tensor(r, what->golden, golden, sizeof golden);
    td_text_add(line, "checkpoint c%u %s %s", r->checks++, memory, golden);
    if (!what->actual)
        add_layout(line, what->layout, what->as);
    if (what->policy && *what->policy) {
        td_text_add(line, " policy ");
        add_quoted(line, what->policy);
    }
}

static void hear_step(struct td_recording *r, const td_recorded *c, td_text *line)
{
    char name[64], operand[64];
    td_text steps = {0};
    for (size_t i = 0; i < c->operands; i++) {
        name_tensor(r, c->operand[i], operand, sizeof operand);
        td_text_add(&steps, " %s", operand);
    }
    td_text_print(name, sizeof name, "t%u", r->names++);
    td_text_add(line, "tensor %s = %s%s", name, c->text, steps.text ? steps.text : "");
    if (c->as) {
        td_text_add(line, " ");
        add_quoted(line, c->as);
    }
    if (c->behind && *c->behind)
        td_text_add(line, " %s", c->behind);
    line->failed |= steps.failed;
    free(steps.text);
    remember(r, c->out, name);
}

/* A line with a memory that is no more could not run. */
static void hear_destroy(struct td_recording *r, const td_recorded *c)
{
    const td_program *p = r->program;
    if (c->tensor)
        forget(r, c->tensor);
    for (size_t i = 0; i < p->bindings && c->bank_count; i++)
        for (size_t k = 0; k < p->binding[i]->banks; k++)
            if (p->binding[i]->bank[k] == c->banks[0]) {
                refuse(r, td_fail(TD_ARGUMENT, "memory \"%s\" was destroyed before; destroy it after program_stop",
                                  c->banks[0]->name));
                return;
            }
}

static void hear(void *context, const td_recorded *c)
{
    struct td_recording *r = context;
    td_text line = {0};
    char memory[64];
    if (r->status)
        return;
    switch (c->kind) {
    case TD_RECORDED_DESTROY:
        hear_destroy(r, c);
        return;
    case TD_RECORDED_OTHER:
        refuse(r, td_fail(TD_ARGUMENT, "%s cannot be recorded; call it before program_record or after program_stop",
                          c->text));
        return;
    case TD_RECORDED_FILL:
        name_memory(r, c->banks, 1, memory, sizeof memory);
        td_text_add(&line, "fill %s ", memory);
        add_quoted(&line, c->text);
        td_text_add(&line, " from %" PRIu64 " count %" PRIu64, c->first, c->count);
        break;
    case TD_RECORDED_WRITE:
        hear_write(r, c, &line);
        break;
    case TD_RECORDED_COMPARE:
        hear_compare(r, c, &line);
        break;
    case TD_RECORDED_TENSOR:
        hear_step(r, c, &line);
        break;
    default:
        hear_move(r, c, &line);
    }
    if (!r->status)
        add_line(r, &line);
    free(line.text);
}

/* -- begin and end ------------------------------------------------------------------------------------------------- */

static td_status record(bool all, td_program **out)
{
    td_program *p = NULL;
    if (!out)
        return td_fail(TD_ARGUMENT, "program_record: the output is NULL; pass one");
    if (td_record_listener())
        return td_fail(TD_ARGUMENT, "program_record: a program is being recorded; stop that one first");
    td_status status = td_program_create(NULL, &p);
    if (!status) {
        p->recording = calloc(1, sizeof *p->recording);
        status = p->recording ? TD_OK : td_fail_alloc(sizeof *p->recording);
    }
    if (status) {
        td_program_destroy(&p);
        return status;
    }
    p->recording->program = p;
    p->recording->all = all;
    td_record_listen(&(td_listener){.hear = hear, .context = p->recording}, all);
    *out = p;
    return TD_OK;
}

td_status td_program_record(td_program **out)
{
    return record(false, out);
}

td_status td_program_record_all(td_program **out)
{
    return record(true, out);
}

void td_record_hold(int hold)
{
    if (hold)
        td_record_pause();
    else
        td_record_resume();
}

td_memory *const *td_program_banks(const td_program *program, const char *name, size_t *count)
{
    const td_binding *b = program && name ? td_program_find(program, name, TD_NAME_MEMORY) : NULL;
    if (count)
        *count = b ? b->banks : 0;
    return b ? b->bank : NULL;
}

void td_program_stop_listening(td_program *p)
{
    const td_listener *l = td_record_listener();
    if (!p->recording)
        return;
    if (l && l->context == p->recording)
        td_record_listen(NULL, p->recording->all);
    free(p->recording->seen);
    free(p->recording->message);
    free(p->recording);
    p->recording = NULL;
}

td_status td_program_stop(td_program *program)
{
    const td_listener *l = td_record_listener();
    if (!program || !program->recording)
        return td_fail(TD_ARGUMENT, "program_stop: the program is %s; pass one of program_record",
                       program ? "not recorded" : "NULL");
    if (!l || l->context != program->recording)
        return td_fail(TD_ARGUMENT, "program_stop: another thread records the program; stop it there");
    const td_status status = program->recording->status;
    const char *message = program->recording->message ? program->recording->message : "no memory";
    if (status) {
        program->unrecorded = td_arena_copy(&program->arena, message, strlen(message));
        if (!program->unrecorded)
            program->unrecorded = "no memory";
        td_fail(status, "program_stop: %s", message);
    }
    td_program_stop_listening(program);
    return status;
}
