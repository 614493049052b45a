/* The names that the caller has bound: memories, banks of them, layouts and tensors. Part of the facade of section 16
 * of the public header; a name that is bound anew makes the program compile anew. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

void td_binding_free(td_binding *b)
{
    free(b->name);
    free(b->bank);
    if (b->owned)
        td_tensor_destroy(&b->tensor);
    td_layout_destroy(&b->layout);
    free(b);
}

const td_binding *td_program_find(const td_program *p, const char *name, td_name_kind kind)
{
    for (size_t i = 0; i < p->bindings; i++)
        if (p->binding[i]->kind == kind && strcmp(p->binding[i]->name, name) == 0)
            return p->binding[i];
    return NULL;
}

bool td_binding_is_plain(const td_binding *memory)
{
    for (size_t i = 0; i < memory->banks; i++)
        if (memory->bank[i]->backing || memory->bank[i]->unknown_any)
            return false;
    return true;
}

static td_status check_name(const td_program *p, const char *name, const void *object, const char *noun)
{
    if (!p || !name || !object)
        return td_fail(TD_ARGUMENT, "the %s is NULL; pass one", !p ? "program" : !name ? "name" : noun);
    bool good = td_is_name_start(*name);
    for (const char *c = name; *c && good; c++)
        good = td_is_name_char(*c);
    if (!good)
        return td_fail(TD_ARGUMENT, "the name \"%s\"; use letters, digits and _, a letter first", name);
    return TD_OK;
}

/* Takes over `b`, in the place of what has the name. */
static td_status bind(td_program *p, td_binding *b)
{
    for (size_t i = 0; i < p->bindings; i++)
        if (p->binding[i]->kind == b->kind && strcmp(p->binding[i]->name, b->name) == 0) {
            td_program_forget(p);
            td_binding_free(p->binding[i]);
            p->binding[i] = b;
            return TD_OK;
        }
    td_binding **grown = realloc((void *)p->binding, (p->bindings + 1) * sizeof(void *));
    if (!grown) {
        td_binding_free(b);
        return td_fail_alloc((p->bindings + 1) * sizeof(void *));
    }
    td_program_forget(p);
    p->binding = grown;
    grown[p->bindings++] = b;
    return TD_OK;
}

static td_binding *make_binding(const char *name, td_name_kind kind)
{
    td_binding *b = calloc(1, sizeof *b);
    if (b)
        b->name = strdup(name);
    if (b && b->name) {
        b->kind = kind;
        return b;
    }
    free(b);
    td_fail_alloc(sizeof *b);
    return NULL;
}

/* Memories that are all there, at least one. */
static td_status bind_banks(td_program *p, const char *name, td_memory *const *banks, size_t count)
{
    td_binding *b = make_binding(name, TD_NAME_MEMORY);
    if (!b)
        return TD_NO_MEMORY;
    b->bank = malloc(count * sizeof(void *));
    b->banks = count;
    if (!b->bank) {
        td_binding_free(b);
        return td_fail_alloc(count * sizeof(void *));
    }
    for (size_t i = 0; i < count; i++)
        b->bank[i] = banks[i];
    return bind(p, b);
}

td_status td_program_bind_banks(td_program *program, const char *name, td_memory *const *banks, size_t count)
{
    td_status status = check_name(program, name, banks, "memory");
    if (!status && !count)
        status = td_fail(TD_ARGUMENT, "no memory; pass at least one");
    for (size_t i = 0; banks && i < count && !status; i++)
        if (!banks[i])
            status = td_fail(TD_ARGUMENT, "the memory is NULL; create it first");
    if (!status && banks)
        status = bind_banks(program, name, banks, count);
    if (status)
        td_fail_prefix("program_bind_memory: ");
    return status;
}

td_status td_program_bind_memory(td_program *program, const char *name, td_memory *memory)
{
    return td_program_bind_banks(program, name, memory ? &memory : NULL, 1);
}

td_status td_program_bind_layout(td_program *program, const char *name, const td_layout *layout)
{
    td_status status = check_name(program, name, layout, "layout");
    td_binding *b = status ? NULL : make_binding(name, TD_NAME_LAYOUT);
    if (!status && !b)
        status = TD_NO_MEMORY;
    if (!status) {
        status = td_layout_make(layout->pattern.text, layout->options_text, layout->address_text, &b->layout);
        if (!status && layout->as_text) {
            b->layout->as_text = strdup(layout->as_text);
            status = b->layout->as_text ? TD_OK : td_fail_alloc(strlen(layout->as_text) + 1);
        }
        if (status)
            td_binding_free(b);
        else
            status = bind(program, b);
    }
    if (status)
        td_fail_prefix("program_bind_layout: ");
    return status;
}

td_status td_program_bind_tensor(td_program *program, const char *name, td_tensor *tensor)
{
    td_status status = check_name(program, name, tensor, "tensor");
    td_binding *b = status ? NULL : make_binding(name, TD_NAME_TENSOR);
    if (!status && !b)
        status = TD_NO_MEMORY;
    if (!status) {
        b->tensor = tensor;
        status = bind(program, b);
    }
    if (status)
        td_fail_prefix("program_bind_tensor: ");
    return status;
}

td_status td_program_own_tensor(td_program *p, const char *name, td_tensor *tensor)
{
    td_binding *b = make_binding(name, TD_NAME_TENSOR);
    if (!b) {
        td_tensor_destroy(&tensor);
        return TD_NO_MEMORY;
    }
    b->tensor = tensor;
    b->owned = true;
    return bind(p, b);
}
