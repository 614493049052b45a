/* The object: made of a text, a file or lines one by one. The facade of section 16 of the public header, but for names
 * (bindings.c), arguments and compiling (arguments.c), running (run.c), printing (text.c, explain.c, picture.c) and
 * recording (record.c). */
#include "program/program.h"

#include "base/profile.h"
#include "base/record.h"
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

void td_program_destroy(td_program **program)
{
    if (!program || !*program)
        return;
    td_program *p = *program;
    td_program_stop_listening(p);
    td_program_forget(p);
    for (size_t i = 0; i < p->bindings; i++)
        td_binding_free(p->binding[i]);
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
