/* The object: made of a text, a file or lines one by one; names that the caller binds; arguments; compiled when it is
 * first needed. The facade of section 16 of the public header, but for running (run.c), printing (text.c, explain.c)
 * and recording (record.c). */
#include "program/program.h"

#include "base/profile.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void td_program_forget(td_program *p)
{
    td_graph_destroy(&p->graph);
    free(p->compiled_with);
    p->compiled_with = NULL;
}

/* -- the lists of what a text has ---------------------------------------------------------------------------------- */

static bool add_name(const char ***list, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], name) == 0)
            return true;
    const char **grown = realloc(*list, (*count + 1) * sizeof **list);
    if (!grown)
        return false;
    *list = grown;
    grown[(*count)++] = name;
    return true;
}

static bool add_memories(td_program *p, const td_form *f)
{
    const bool has = f->memory.text && (f->kind != TD_FORM_CHECKPOINT || f->layout.text);
    bool ok = !has || add_name(&p->memory, &p->memories, f->memory.text);
    for (size_t i = 0; i < f->values && ok; i++)
        ok = add_memories(p, f->value[i]);
    return ok;
}

static td_status add_argument(td_program *p, const td_form *f)
{
    for (size_t i = 0; i < p->arguments; i++)
        if (strcmp(p->argument[i].name, f->name.text) == 0)
            return td_program_fail(p, &f->name, TD_FORMAT, "argument %s stands twice; take one of them out",
                                   f->name.text);
    td_argument *grown = realloc(p->argument, (p->arguments + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc(sizeof *grown);
    p->argument = grown;
    grown[p->arguments++] = (td_argument){.name = f->name.text, .value = f->text.text};
    return TD_OK;
}

/* Lists the names of the forms from `f` on. */
static td_status list_names(td_program *p, const td_form *f)
{
    td_status status = TD_OK;
    for (; f && !status; f = f->next) {
        bool ok = add_memories(p, f);
        if (f->kind == TD_FORM_ARG)
            status = add_argument(p, f);
        else if (f->kind == TD_FORM_LABEL)
            ok = ok && add_name(&p->label, &p->labels, f->name.text);
        else if (f->kind == TD_FORM_USE)
            ok = ok && add_name(&p->file, &p->files, f->text.text);
        if (!ok && !status)
            status = td_fail_alloc(sizeof *p->memory);
    }
    return status;
}

static td_status add_text(td_program *p, const char *text)
{
    td_form *const last = p->last;
    const size_t arguments = p->arguments, labels = p->labels, files = p->files, memories = p->memories,
                 forms = p->forms;
    const unsigned lines = p->lines, depth = p->depth;
    const bool opens = p->opens;
    td_status status = td_program_parse(p, text);
    if (!status)
        status = list_names(p, last ? last->next : p->first);
    const size_t used = p->source.used, length = strlen(text);
    if (!status) {
        td_text_add(&p->source, "%s%s", text, length && text[length - 1] != '\n' ? "\n" : "");
        status = p->source.failed ? td_fail_alloc(used + length + 2) : TD_OK;
        p->source.failed = false;
    }
    if (!status) {
        td_program_forget(p);
        return TD_OK;
    }
    p->arguments = arguments;
    p->labels = labels;
    p->files = files;
    p->memories = memories;
    p->forms = forms;
    p->lines = lines;
    p->depth = depth;
    p->opens = opens;
    p->last = last;
    *(last ? &last->next : &p->first) = NULL;
    return status;
}

/* -- making -------------------------------------------------------------------------------------------------------- */

static td_status make(const char *name, const char *path, td_program **out)
{
    td_program *p = calloc(1, sizeof *p);
    if (!p)
        return td_fail_alloc(sizeof *p);
    p->name = strdup(name);
    p->path = path ? td_arena_copy(&p->arena, path, strlen(path)) : NULL;
    p->passes = UINT32_MAX;
    if (!p->name || (path && !p->path)) {
        td_program_destroy(&p);
        return td_fail_alloc(strlen(name) + 1);
    }
    *out = p;
    return TD_OK;
}

td_status td_program_create(const char *text, td_program **out)
{
    TD_OPERATION(operation, "program_create");
    td_program *p = NULL;
    td_status status = out ? make("program", NULL, &p) : td_fail(TD_ARGUMENT, "the output is NULL; pass one");
    if (!status && text)
        status = add_text(p, text);
    if (status) {
        td_program_destroy(&p);
        td_fail_prefix("program_create: ");
        return status;
    }
    *out = p;
    return TD_OK;
}

/* The file's name without folder and suffix. */
static void name_of(const char *path, char *name, size_t bytes)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    snprintf(name, bytes, "%.*s", (int)length, base);
}

td_status td_program_open(const char *path, td_program **out)
{
    TD_OPERATION(operation, "program_open");
    td_file_map file = {0};
    td_program *p = NULL;
    char *text = NULL, name[256];
    td_status status = !path || !out ? td_fail(TD_ARGUMENT, "the %s is NULL; pass one", path ? "output" : "path")
                                     : td_file_copy_open(path, &file);
    if (status && path)
        td_fail_prefix("\"%s\": ", path);
    if (!status) {
        text = malloc(file.size + 1);
        status = text ? TD_OK : td_fail_alloc(file.size + 1);
    }
    if (!status && memchr(file.bytes, 0, file.size))
        status = td_fail(TD_FORMAT, "\"%s\" has bytes that are 0; a program is text", path);
    if (!status) {
        memcpy(text, file.bytes, file.size);
        text[file.size] = 0;
        name_of(path, name, sizeof name);
        status = make(name, path, &p);
    }
    if (!status)
        status = add_text(p, text);
    free(text);
    td_file_unmap(&file);
    if (status) {
        td_program_destroy(&p);
        td_fail_prefix("program_open: ");
        return status;
    }
    *out = p;
    return TD_OK;
}

td_status td_program_add(td_program *program, const char *text)
{
    td_status status = !program || !text
                           ? td_fail(TD_ARGUMENT, "the %s is NULL; pass one", program ? "text" : "program")
                           : add_text(program, text);
    if (status)
        td_fail_prefix("program_add: ");
    return status;
}

static void free_binding(td_binding *b)
{
    free(b->name);
    free(b->bank);
    if (b->owned)
        td_tensor_destroy(&b->tensor);
    td_layout_destroy(&b->layout);
    free(b);
}

void td_program_destroy(td_program **program)
{
    if (!program || !*program)
        return;
    td_program *p = *program;
    td_program_stop_listening(p);
    td_program_forget(p);
    for (size_t i = 0; i < p->bindings; i++)
        free_binding(p->binding[i]);
    while (p->layouts) {
        td_made_layout *next = p->layouts->next;
        free(p->layouts->text);
        td_layout_destroy(&p->layouts->layout);
        free(p->layouts);
        p->layouts = next;
    }
    for (size_t i = 0; i < p->given_count; i++)
        free(p->given[i]);
    free(p->given);
    free(p->binding);
    free(p->argument);
    free(p->label);
    free(p->memory);
    free(p->file);
    free(p->name);
    free(p->source.text);
    td_arena_free(&p->arena);
    free(p);
    *program = NULL;
}

/* -- names --------------------------------------------------------------------------------------------------------- */

const td_binding *td_program_find(const td_program *p, const char *name, td_name_kind kind)
{
    for (size_t i = 0; i < p->bindings; i++)
        if (p->binding[i]->kind == kind && strcmp(p->binding[i]->name, name) == 0)
            return p->binding[i];
    return NULL;
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
            free_binding(p->binding[i]);
            p->binding[i] = b;
            return TD_OK;
        }
    td_binding **grown = realloc((void *)p->binding, (p->bindings + 1) * sizeof(void *));
    if (!grown) {
        free_binding(b);
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
        free_binding(b);
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
            free_binding(b);
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

td_status td_program_use(td_program *program, const char *path)
{
    char *names = NULL, *copy = NULL;
    td_status status = !program || !path
                           ? td_fail(TD_ARGUMENT, "the %s is NULL; pass one", program ? "path" : "program")
                           : td_layout_names(path, &names);
    td_free(names);
    if (!status) {
        copy = td_arena_copy(&program->arena, path, strlen(path));
        status = copy && add_name(&program->file, &program->files, copy) ? TD_OK : td_fail_alloc(strlen(path) + 1);
    }
    if (status)
        td_fail_prefix("program_use: ");
    else
        td_program_forget(program);
    return status;
}

const char *td_program_name(const td_program *program)
{
    return program ? program->name : "";
}

const char *td_program_memory(const td_program *program, size_t number)
{
    return program && number < program->memories ? program->memory[number] : NULL;
}

const char *td_program_label(const td_program *program, size_t number)
{
    return program && number < program->labels ? program->label[number] : NULL;
}

td_status td_program_fail_tensor(const td_program *p, const char *name)
{
    const char *known[64];
    size_t count = 0;
    for (; count < p->graph->names && count < 64; count++)
        known[count] = p->graph->name[count].text;
    const char *near = td_suggest(name, known, count);
    if (near)
        return td_fail(TD_ARGUMENT, "no tensor \"%s\"; did you mean \"%s\"?", name, near);
    return td_fail(TD_ARGUMENT, "no tensor \"%s\"; name one of the program", name);
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */

static td_status fail_argument(const td_program *p, const char *name)
{
    const char *known[64];
    size_t count = 0;
    for (; count < p->arguments && count < 64; count++)
        known[count] = p->argument[count].name;
    const char *near = td_suggest(name, known, count);
    if (near)
        return td_fail(TD_ARGUMENT, "no argument \"%s\"; did you mean \"%s\"?", name, near);
    return td_fail(TD_ARGUMENT, "no argument \"%s\"; declare it in the program: arg %s = 0", name, name);
}

/* One NAME=VALUE or NAME="VALUE"; `value` has room for all of it. */
static td_status read_argument(const td_program *p, const char **at, size_t *number, char *value)
{
    char name[64];
    size_t length = 0, used = 0;
    const char *c = *at;
    while (td_is_name_char(c[length]))
        length++;
    if (!length || length >= sizeof name || c[length] != '=')
        return td_fail(TD_ARGUMENT, "\"%s\" is no argument; pass NAME=VALUE, separated by blanks", *at);
    snprintf(name, sizeof name, "%.*s", (int)length, c);
    c += length + 1;
    if (*c == '"') {
        for (c++; *c && *c != '"'; c++) {
            c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
            value[used++] = *c;
        }
        if (*c != '"')
            return td_fail(TD_ARGUMENT, "the value of %s has no second quote; end it with \"", name);
        c++;
    } else
        while (*c && !strchr(" \t\n,", *c))
            value[used++] = *c++;
    value[used] = 0;
    *at = c;
    for (*number = 0; *number < p->arguments; ++*number)
        if (strcmp(p->argument[*number].name, name) == 0)
            return TD_OK;
    return fail_argument(p, name);
}

/* The values of a run into a list by the number of the argument; NULL: its default. */
static td_status read_arguments(const td_program *p, const char *text, char **given)
{
    td_status status = TD_OK;
    for (text += strspn(text, " \t\n,"); *text && !status; text += strspn(text, " \t\n,")) {
        size_t number = 0;
        char *value = malloc(strlen(text) + 1);
        if (!value)
            return td_fail_alloc(strlen(text) + 1);
        status = read_argument(p, &text, &number, value);
        if (status) {
            free(value);
            return status;
        }
        free(given[number]);
        given[number] = value;
    }
    return status;
}

static void set_given(td_program *p, char **given)
{
    for (size_t i = 0; i < p->given_count; i++)
        free(p->given[i]);
    free(p->given);
    p->given = given;
    p->given_count = p->arguments;
    for (size_t i = 0; i < p->arguments; i++)
        p->argument[i].given = given[i];
}

static td_status compile(td_program *p, const char *arguments, td_text *explain)
{
    char **given = calloc(p->arguments + 1, sizeof *given), *with = strdup(arguments);
    td_graph *graph = NULL;
    if (!given || !with) {
        free(given);
        free(with);
        return td_fail_alloc((p->arguments + 1) * sizeof *given);
    }
    td_status status = TD_OK;
    if (p->opens)
        status = td_program_fail(p, &p->last->word, TD_FORMAT, "a block without steps; write them below, indented");
    if (!status)
        status = read_arguments(p, arguments, given);
    if (!status) {
        td_program_forget(p); /* its ops point into the values that go now */
        set_given(p, given);
        given = NULL;
        status = td_graph_create(p, explain, &graph);
    }
    if (status) {
        for (size_t i = 0; given && i < p->arguments; i++)
            free(given[i]);
        free(given);
        free(with);
        return status;
    }
    p->graph = graph;
    p->compiled_with = with;
    return TD_OK;
}

td_status td_program_recompile(td_program *p, const char *arguments, td_text *explain)
{
    return p ? compile(p, arguments ? arguments : "", explain) : td_fail(TD_ARGUMENT, "the program is NULL; pass one");
}

static td_status fail_label(const td_program *p, const char *label)
{
    const char *near = td_suggest(label, p->label, p->labels);
    if (near)
        return td_fail(TD_ARGUMENT, "no label \"%s\"; did you mean \"%s\"?", label, near);
    return td_fail(TD_ARGUMENT, "no label \"%s\"; write label %s: in the program", label, label);
}

td_status td_program_prepare(td_program *p, const char *label, const char *arguments, td_schedule **out)
{
    size_t number = 0;
    if (!p)
        return td_fail(TD_ARGUMENT, "the program is NULL; pass one");
    if (!arguments)
        arguments = "";
    if (!p->graph || !p->compiled_with || strcmp(p->compiled_with, arguments) != 0) {
        const td_status status = compile(p, arguments, NULL);
        if (status)
            return status;
    }
    if (label && *label) {
        while (number < p->labels && strcmp(p->label[number], label) != 0)
            number++;
        if (number == p->labels)
            return fail_label(p, label);
    } else
        number = p->labels;
    *out = &p->graph->schedule[number];
    return TD_OK;
}

td_status td_program_compile(td_program *program, const char *arguments)
{
    TD_OPERATION(operation, "program_compile");
    td_schedule *schedule = NULL;
    if (program)
        td_program_forget(program);
    const td_status status = td_program_prepare(program, NULL, arguments, &schedule);
    if (status)
        td_fail_prefix("program_compile: ");
    return status;
}
