/* The statements of a program as ops with the words that they touch: the second half of elaborate.c. graph.c calls it.
 */
#include "program/elaborate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- words --------------------------------------------------------------------------------------------------------- */

static td_status set_memory(td_elab *e, uint32_t op, const td_binding *memory)
{
    td_op *o = &e->graph->op[op];
    o->memory = memory;
    o->bank = td_arena_get(&e->graph->arena, memory->banks * sizeof *o->bank);
    if (!o->bank)
        return TD_NO_MEMORY;
    for (size_t i = 0; i < memory->banks; i++)
        o->bank[i] = memory->bank[i]->data ? memory->bank[i]->data + o->at * memory->bank[i]->word_bytes : NULL;
    return TD_OK;
}

td_status td_elab_words(td_elab *e, td_form *form, uint32_t op, const td_binding *memory)
{
    const td_memory *m = memory->bank[0];
    uint64_t first = 0, count = m->depth_words;
    td_status status = td_elab_number(e, form->first, &form->word, "the first word", &first);
    if (!status && form->count)
        status = td_elab_number(e, form->count, &form->word, "the number of words", &count);
    else if (!status)
        count = first < m->depth_words ? m->depth_words - first : 0;
    if (status)
        return status;
    if (memory->banks > 1)
        return td_program_fail(e->program, &form->memory, TD_ARGUMENT,
                               "%s is %zu banks, and words are of one memory; bind each bank by a name of its own",
                               memory->name, memory->banks);
    if (first >= m->depth_words || count > m->depth_words - first || count == 0)
        return td_program_fail(
            e->program, &form->word, TD_RANGE,
            "words [%" PRIu64 ", %" PRIu64 ")%s%s of \"%s\", which has %" PRIu64 "; name words that are there", first,
            first + count, e->loop ? " with " : "", e->loop ? e->loop : "", memory->name, m->depth_words);
    e->graph->op[op].first = first;
    e->graph->op[op].count = count;
    return set_memory(e, op, memory);
}

/* The layout of matrices, as in td_backdoor_load_matrix. */
static td_status matrix_layout(td_elab *e, const td_form *form, const td_tensor *like, const td_layout **out)
{
    const td_token inline_text = {
        .quoted = true, .line = form->layout.line, .column = form->layout.column, .length = form->layout.length};
    if (like->shape.rank != 1 && like->shape.rank != 2)
        return td_program_fail(e->program, &form->layout, TD_SHAPE,
                               "a tensor of %zu dimensions as a matrix, which has 2 (or 1: one row); name a layout",
                               like->shape.rank);
    return td_program_layout(e->program, &inline_text, like->shape.rank == 2 ? "r c -> r c" : "c -> 1 c", out);
}

td_status td_elab_move(td_elab *e, td_form *form, uint32_t op, const td_tensor *like)
{
    td_program_move move = {.dtype = like->dtype,
                            .shape = like->shape,
                            .elems = like->elems,
                            .to_tensor = form->kind == TD_FORM_TAKE || form->kind == TD_FORM_DUMP,
                            .compares = form->kind == TD_FORM_CHECKPOINT};
    const td_program_move *found = NULL;
    uint64_t at = 0;
    const char *text = NULL;
    td_program *p = e->program;
    td_status status = td_elab_memory(e, &form->memory, &move.memory);
    if (!status)
        status = td_token_fill(p, e->scope, &form->layout, &e->graph->arena, &text);
    if (!status && !form->layout.quoted && strcmp(text, "matrix") == 0) {
        move.truncate = true;
        status = matrix_layout(e, form, like, &move.layout);
    } else if (!status)
        status = td_program_layout(p, &form->layout, text, &move.layout);
    if (!status)
        status = td_token_fill(p, e->scope, &form->as, &e->graph->arena, &move.as);
    if (!status)
        status = td_elab_number(e, form->at, &form->word, "the address behind `at`", &at);
    if (status)
        return status;
    status = td_program_move_find(e->graph, &move, form, &found);
    if (status)
        return td_program_place(p, &form->word, status);
    const uint64_t depth = move.memory->bank[0]->depth_words;
    if (at > depth || found->end > depth - at)
        return td_program_fail(p, &form->word, TD_RANGE,
                               "word %" PRIu64 "%s%s is past \"%s\" of %" PRIu64
                               " words; use an address of at most %" PRIu64,
                               found->end - 1 + at, e->loop ? " with " : "", e->loop ? e->loop : "", move.memory->name,
                               depth, depth - found->end);
    td_op *o = &e->graph->op[op];
    o->move = found;
    o->at = at;
    o->text = found->as;
    o->refuses = move.compares || td_program_move_refuses(found);
    for (size_t i = 0; i < move.memory->banks; i++)
        o->refuses |= move.memory->bank[i]->backing != NULL;
    if (at && !move.truncate && (move.compares || o->refuses))
        status = td_layout_shift(found->layout, at, move.memory->bank[0]->width_bits, &o->moved);
    if (status)
        return td_program_place(p, &form->word, status);
    return set_memory(e, op, move.memory);
}

/* -- statements ---------------------------------------------------------------------------------------------------- */

static td_status elab_load(td_elab *e, td_form *form)
{
    uint32_t value = 0, op = 0;
    td_status status = td_elab_value_of(e, form->value[0], &value);
    if (!status)
        status = td_elab_op(e, form->kind == TD_FORM_LOAD ? TD_OP_LOAD : TD_OP_DUMP, form, &op);
    if (status)
        return status;
    const td_op *of = &e->graph->op[value];
    if (form->kind == TD_FORM_DUMP && of->kind != TD_OP_BOUND)
        return td_program_fail(e->program, &form->value[0]->word, TD_ARGUMENT,
                               "\"%s\" is no tensor of the caller; bind one, or write tensor NAME = dump ..",
                               form->value[0]->word.text);
    if (form->kind == TD_FORM_DUMP && of->value->read_only)
        return td_program_fail(
            e->program, &form->value[0]->word, TD_ARGUMENT,
            "the tensor is mapped read-only from a file; dump into a tensor made with tensor_create");
    status = td_elab_args(e, op, &value, 1);
    if (!status)
        status = td_elab_move(e, form, op, &e->graph->op[value].like);
    return status;
}

static td_status elab_fill(td_elab *e, td_form *form)
{
    const td_binding *memory = NULL;
    uint32_t op = 0;
    td_status status = td_elab_memory(e, &form->memory, &memory);
    if (!status)
        status = td_elab_op(e, TD_OP_FILL, form, &op);
    if (!status)
        status = td_elab_words(e, form, op, memory);
    if (!status)
        status = td_token_fill(e->program, e->scope, &form->text, &e->graph->arena, &e->graph->op[op].text);
    if (!status)
        status = td_elab_args(e, op, NULL, 0);
    if (status)
        return status;
    td_memory *one = NULL; /* whether the words are understood: a word of this width is filled */
    status = td_memory_create(memory->name, memory->bank[0]->width_bits, 1, &one);
    if (!status)
        status = td_memory_fill(one, e->graph->op[op].text, 0, 1);
    td_memory_destroy(&one);
    e->graph->op[op].refuses = memory->bank[0]->backing != NULL;
    return status ? td_program_place(e->program, &form->text, status) : TD_OK;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One word of the text: 0x of any width, or decimal. */
static td_status read_word(const td_elab *e, const td_token *token, const char *text, const td_memory *m,
                           unsigned char *word)
{
    uint64_t bit = 0, value = 0;
    const char *at = text;
    bool good = true, fits = true;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        for (const char *c = text + strlen(text); c-- > text + 2;) {
            const int digit = *c == '_' ? 0 : digit_of(*c);
            good = good && digit >= 0;
            if (*c == '_' || !good)
                continue;
            for (int b = 0; b < 4; b++, bit++)
                if (digit >> b & 1) {
                    fits = fits && bit < m->width_bits;
                    if (fits)
                        word[bit / 8] |= (unsigned char)(1u << bit % 8);
                }
        }
        good = good && text[2];
    } else {
        good = td_text_number(&at, &value) && *at == 0;
        fits = m->width_bits >= 64 || value >> m->width_bits == 0;
        for (size_t i = 0; i < 8 && i < m->word_bytes; i++)
            word[i] = (unsigned char)(value >> 8 * i);
    }
    if (!good)
        return td_program_fail(e->program, token, TD_FORMAT, "\"%s\" is no word; write one, as 0x1f or 31", text);
    if (!fits)
        return td_program_fail(e->program, token, TD_RANGE,
                               "%s has bits above the %" PRIu64 " of a word of \"%s\"; write a smaller one", text,
                               m->width_bits, m->name);
    return TD_OK;
}

static td_status elab_write(td_elab *e, td_form *form)
{
    const td_binding *memory = NULL;
    uint32_t op = 0;
    uint64_t at = 0;
    const td_ex count = {.kind = TD_EX_NUMBER, .value = (int64_t)form->word_values};
    td_form words = *form;
    td_status status = td_elab_memory(e, &form->memory, &memory);
    if (!status)
        status = td_elab_number(e, form->at, &form->word, "the address", &at);
    if (!status)
        status = td_elab_op(e, TD_OP_WRITE, form, &op);
    const td_ex first = {.kind = TD_EX_NUMBER, .value = (int64_t)at};
    words.first = &first;
    words.count = &count;
    if (!status)
        status = td_elab_words(e, &words, op, memory);
    if (!status)
        status = td_elab_args(e, op, NULL, 0);
    if (status)
        return status;
    const td_memory *m = memory->bank[0];
    unsigned char *bytes = td_arena_get(&e->graph->arena, form->word_values * m->word_bytes);
    if (!bytes)
        return TD_NO_MEMORY;
    for (size_t i = 0; i < form->word_values && !status; i++) {
        const char *text = NULL;
        status = td_token_fill(e->program, e->scope, &form->word_value[i], &e->graph->arena, &text);
        if (!status)
            status = read_word(e, &form->word_value[i], text, m, bytes + i * m->word_bytes);
    }
    e->graph->op[op].words = bytes;
    e->graph->op[op].refuses = m->backing != NULL;
    return status;
}

static td_status elab_save(td_elab *e, td_form *form)
{
    uint32_t value = 0, op = 0;
    td_status status = td_elab_value_of(e, form->value[0], &value);
    if (!status)
        status = td_elab_op(e, TD_OP_SAVE, form, &op);
    if (!status)
        status = td_elab_args(e, op, &value, 1);
    if (!status)
        status = td_token_fill(e->program, e->scope, &form->text, &e->graph->arena, &e->graph->op[op].text);
    if (!status)
        e->graph->op[op].refuses = true;
    return status;
}

static td_status read_policy(const td_elab *e, const td_form *form, const char *text, const td_policy **out)
{
    td_policy *policy = td_arena_get(&e->graph->arena, sizeof *policy);
    if (!policy)
        return TD_NO_MEMORY;
    const td_status status = td_policy_parse(text, policy);
    policy->stats = true; /* the table shows them; they cost nothing where all values are equal */
    *out = policy;
    return status ? td_program_place(e->program, &form->policy, status) : TD_OK;
}

/* The name of a checkpoint. In a loop, one whose name is the same every time gets the loop's variables behind it
 * ("tile t=3"), so that each line of the table, and each test of JUnit, says which it is. */
static td_status checkpoint_name(td_elab *e, const td_form *form, const char **out)
{
    const td_status status = td_token_fill(e->program, e->scope, &form->name, &e->graph->arena, out);
    if (status || !e->loop || strcmp(*out, form->name.text) != 0)
        return status;
    const size_t bytes = strlen(*out) + strlen(e->loop) + 2;
    char *name = td_arena_get(&e->graph->arena, bytes);
    if (!name)
        return TD_NO_MEMORY;
    snprintf(name, bytes, "%s %s", *out, e->loop);
    *out = name;
    return TD_OK;
}

static td_status elab_checkpoint(td_elab *e, td_form *form)
{
    uint32_t arg[2] = {0}, op = 0;
    size_t args = 0;
    const char *policy_text = NULL, *name = NULL;
    const td_policy *policy = NULL;
    td_status status = TD_OK;
    if (form->memory.text && !form->layout.text) { /* a tensor by its name */
        td_form tensor = {.kind = TD_FORM_NAME, .word = form->memory, .name = form->memory};
        status = td_elab_value_of(e, &tensor, &arg[args++]);
        if (!status && e->graph->op[arg[0]].form == &tensor)
            e->graph->op[arg[0]].form = form;
    }
    for (size_t i = 0; i < form->values && !status; i++)
        status = td_elab_value_of(e, form->value[i], &arg[args++]);
    if (!status)
        status = td_token_fill(e->program, e->scope, &form->policy, &e->graph->arena, &policy_text);
    if (!status)
        status = checkpoint_name(e, form, &name);
    if (!status)
        status = td_elab_op(e, TD_OP_CHECKPOINT, form, &op);
    if (!status)
        status = td_elab_args(e, op, arg, args);
    if (!status)
        status = read_policy(e, form, policy_text, &policy);
    if (status)
        return status;
    td_op *o = &e->graph->op[op];
    o->policy = policy;
    o->name = name;
    o->refuses = true;
    if (form->layout.text)
        return td_elab_move(e, form, op, &e->graph->op[arg[0]].like);
    const td_tensor *a = &e->graph->op[arg[0]].like, *b = &e->graph->op[arg[1]].like;
    char a_text[TD_SHAPE_TEXT_BYTES], b_text[TD_SHAPE_TEXT_BYTES];
    if (!td_dtype_equal(a->dtype, b->dtype) || a->shape.rank != b->shape.rank ||
        memcmp(a->shape.dim, b->shape.dim, a->shape.rank * sizeof *a->shape.dim) != 0)
        return td_program_fail(e->program, &form->memory, TD_SHAPE,
                               "%s %s against a golden tensor that is %s %s; compare tensors of one kind",
                               a->dtype_name, td_shape_print(&a->shape, a_text), b->dtype_name,
                               td_shape_print(&b->shape, b_text));
    return TD_OK;
}

td_status td_elab_statement(td_elab *e, td_form *form)
{
    uint32_t op = 0;
    td_status status = TD_OK;
    e->statement = form;
    switch (form->kind) {
    case TD_FORM_TENSOR:
        status = td_elab_value_of(e, form->value[0], &op);
        return status ? status : td_elab_name(e, form->name.text, op);
    case TD_FORM_LOAD:
    case TD_FORM_DUMP:
        return elab_load(e, form);
    case TD_FORM_FILL:
        return elab_fill(e, form);
    case TD_FORM_WRITE:
        return elab_write(e, form);
    case TD_FORM_SAVE:
        return elab_save(e, form);
    case TD_FORM_CHECKPOINT:
        return elab_checkpoint(e, form);
    default: /* arguments, layouts and layout files are no steps */
        if (form->depth)
            return td_program_fail(e->program, &form->word, TD_FORMAT, "%s inside of a block; move it to the top",
                                   form->word.text);
        return TD_OK;
    }
}
