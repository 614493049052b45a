/* Programs for SystemVerilog: made of text or of recorded calls, with what is bound to their names. program_run.c runs
 * them, checkpoints.c has what a run finds. */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

static void destroy_object(td_dpi_program *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->bound[i].name);
        free(o->bound[i].handle);
    }
    free(o->bound);
    free(o->door);
    free((void *)o->listed);
    free(o->words);
    td_program_destroy(&o->program);
    free(o);
}

td_status td_dpi_program_begin(const char *call, td_dpi_u64 handle, td_dpi_program_claims *u, const char **message)
{
    *u = (td_dpi_program_claims){.program = {.handle = handle, .kind = TD_DPI_PROGRAM}};
    td_status status = td_dpi_claim_one(call, &u->program, message);
    if (status)
        return status;
    u->object = u->program.object;
    for (size_t i = 0; i < u->object->count; i++)
        u->count += u->object->bound[i].count;
    if (!u->count)
        return TD_OK;
    u->claim = calloc(u->count, sizeof *u->claim);
    size_t at = 0;
    for (size_t i = 0; u->claim && i < u->object->count; i++)
        for (size_t k = 0; k < u->object->bound[i].count; k++)
            u->claim[at++] = (td_dpi_claim){.handle = u->object->bound[i].handle[k], .kind = u->object->bound[i].kind};
    if (u->claim)
        status = td_dpi_claim_all(call, u->claim, u->count, message);
    else
        status =
            (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s: no memory for %zu handles; bind fewer", call, u->count);
    if (status) {
        free(u->claim);
        td_dpi_release(&u->program, 1);
    }
    return status;
}

int td_dpi_program_end(td_dpi_program_claims *u, td_status status, const char **message)
{
    td_dpi_done(status, message);
    if (u->count)
        td_dpi_release(u->claim, u->count);
    free(u->claim);
    td_dpi_release(&u->program, 1);
    return (int)status;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_program_create(const char *text, int is_file, td_dpi_u64 *handle, const char **message)
{
    td_dpi_program *o = calloc(1, sizeof *o);
    *handle = 0;
    if (!o)
        return td_dpi_fail(TD_NO_MEMORY, message, "program_create: no memory for a program; free some");
    td_status status = is_file ? td_program_open(text, &o->program) : td_program_create(text, &o->program);
    td_dpi_done(status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_PROGRAM, o, handle, message);
    if (status)
        destroy_object(o);
    return (int)status;
}

TD_API int td_dpi_program_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    const td_status status = td_dpi_handle_take("program_destroy", TD_DPI_PROGRAM, handle, &object, message);
    if (status)
        return (int)status;
    destroy_object(object);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_program_add(td_dpi_u64 handle, const char *text, const char **message)
{
    td_dpi_program_claims u;
    const td_status status = td_dpi_program_begin("program_add", handle, &u, message);
    return status ? (int)status : td_dpi_program_end(&u, td_program_add(u.object->program, text), message);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* Keeps the handles for a name, in the place of those that it had. `made` is the caller's on failure. */
static bool keep(td_dpi_program *o, const char *name, td_dpi_kind kind, td_dpi_u64 *made, size_t count)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->bound[i].kind == kind && strcmp(o->bound[i].name, name) == 0) {
            free(o->bound[i].handle);
            o->bound[i].handle = made;
            o->bound[i].count = count;
            return true;
        }
    char *copy = strdup(name);
    td_dpi_binding *grown = copy ? realloc(o->bound, (o->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return false;
    }
    o->bound = grown;
    o->bound[o->count++] = (td_dpi_binding){copy, kind, made, count};
    return true;
}

/* `kind` is that of the handle: a tensor, a memory or a layout. */
TD_API int td_dpi_program_bind(td_dpi_u64 handle, const char *name, int kind, td_dpi_u64 thing, const char **message)
{
    td_dpi_program_claims u;
    td_dpi_claim claim = {.handle = thing, .kind = (td_dpi_kind)kind};
    td_dpi_u64 *kept = malloc(sizeof *kept);
    if (!kept)
        return td_dpi_fail(TD_NO_MEMORY, message, "program_bind: no memory for a handle; free some");
    *kept = thing;
    td_status status = td_dpi_program_begin("program_bind", handle, &u, message);
    if (status) {
        free(kept);
        return (int)status;
    }
    status = td_dpi_claim_one("program_bind", &claim, message);
    if (status) {
        const char *ignored = NULL;
        td_dpi_program_end(&u, TD_OK, &ignored);
        free(kept);
        return (int)status;
    }
    td_program *p = u.object->program;
    status = kind == TD_DPI_LAYOUT   ? td_program_bind_layout(p, name, claim.object)
             : kind == TD_DPI_TENSOR ? td_program_bind_tensor(p, name, claim.object)
                                     : td_program_bind_memory(p, name, claim.object);
    td_dpi_release(&claim, 1);
    int result = td_dpi_program_end(&u, status, message);
    if (status || kind == TD_DPI_LAYOUT || !keep(u.object, name, (td_dpi_kind)kind, kept, 1)) {
        if (!status && kind != TD_DPI_LAYOUT)
            result = td_dpi_fail(TD_NO_MEMORY, message, "program_bind: no memory for the name \"%s\"; free some", name);
        free(kept);
    }
    return result;
}

/* The memories of a list, as the banks of one name. */
TD_API int td_dpi_program_bind_banks(td_dpi_u64 handle, const char *name, td_dpi_u64 list, const char **message)
{
    td_dpi_program_claims u;
    td_dpi_memories banks = {0};
    td_dpi_u64 *kept = NULL;
    td_status status = td_dpi_program_begin("program_bind_banks", handle, &u, message);
    if (status)
        return (int)status;
    status = td_dpi_claim_list("program_bind_banks", list, NULL, 0, &banks, message);
    if (status) {
        const char *ignored = NULL;
        td_dpi_program_end(&u, TD_OK, &ignored);
        td_dpi_memories_free(&banks);
        return (int)status;
    }
    kept = malloc((banks.count + 1) * sizeof *kept);
    for (size_t i = 0; kept && i < banks.count; i++)
        kept[i] = banks.claim[i].handle;
    if (kept) {
        status = td_program_bind_banks(u.object->program, name, banks.memory, banks.count);
        td_dpi_done(status, message);
        if (!status && !keep(u.object, name, TD_DPI_MEMORY, kept, banks.count))
            status = TD_NO_MEMORY;
    } else {
        status = TD_NO_MEMORY;
    }
    if (status == TD_NO_MEMORY)
        td_dpi_fail(TD_NO_MEMORY, message, "program_bind_banks: no memory for the name \"%s\"; free some", name);
    if (status)
        free(kept);
    td_dpi_release(banks.claim, banks.count);
    td_dpi_memories_free(&banks);
    const char *ignored = NULL;
    td_dpi_program_end(&u, TD_OK, &ignored);
    return (int)status;
}

TD_API int td_dpi_program_use(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_program_claims u;
    const td_status status = td_dpi_program_begin("program_use", handle, &u, message);
    return status ? (int)status : td_dpi_program_end(&u, td_program_use(u.object->program, path), message);
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_program_record(td_dpi_u64 *handle, const char **message)
{
    td_dpi_program *o = calloc(1, sizeof *o);
    *handle = 0;
    if (!o)
        return td_dpi_fail(TD_NO_MEMORY, message, "program_record: no memory for a program; free some");
    td_status status = td_program_record_all(&o->program);
    td_dpi_done(status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_PROGRAM, o, handle, message);
    if (status)
        destroy_object(o);
    return (int)status;
}

/* The handles of the memories that were recorded. One without a handle is not SystemVerilog's to destroy. */
static bool keep_recorded(td_dpi_program *o)
{
    const char *name;
    for (size_t i = 0; (name = td_program_memory(o->program, i)) != NULL; i++) {
        size_t count = 0, found = 0;
        td_memory *const *banks = td_program_banks(o->program, name, &count);
        td_dpi_u64 *kept = malloc((count + 1) * sizeof *kept);
        for (size_t k = 0; kept && k < count; k++)
            if ((kept[found] = td_dpi_handle_find(TD_DPI_MEMORY, banks[k])) != 0)
                found++;
        if (!kept || !keep(o, name, TD_DPI_MEMORY, kept, found)) {
            free(kept);
            return false;
        }
    }
    return true;
}

TD_API int td_dpi_program_stop(td_dpi_u64 handle, const char **message)
{
    td_dpi_program_claims u;
    td_status status = td_dpi_program_begin("program_stop", handle, &u, message);
    if (status)
        return (int)status;
    status = (td_status)td_dpi_program_end(&u, td_program_stop(u.object->program), message);
    if (!status && !keep_recorded(u.object))
        status = (td_status)td_dpi_fail(TD_NO_MEMORY, message, "program_stop: no memory for handles; free some");
    return (int)status;
}

/* The handle of a memory that is bound to the program, or 0 past the last. */
TD_API int td_dpi_program_memory(td_dpi_u64 handle, int number, td_dpi_u64 *memory, const char **message)
{
    td_dpi_program_claims u;
    size_t at = 0;
    *memory = 0;
    const td_status status = td_dpi_program_begin("program_memory", handle, &u, message);
    if (status)
        return (int)status;
    for (size_t i = 0; i < u.count; i++)
        if (u.claim[i].kind == TD_DPI_MEMORY && at++ == (size_t)number)
            *memory = u.claim[i].handle;
    return td_dpi_program_end(&u, TD_OK, message);
}

/* A memory that the text names, by number, and whether something is bound to the name; "" past the last. */
TD_API int td_dpi_program_memory_name(td_dpi_u64 handle, int number, const char **name, int *bound,
                                      const char **message)
{
    static _Thread_local char *kept;
    td_dpi_program_claims u;
    size_t count = 0;
    *name = "";
    *bound = 0;
    td_status status = td_dpi_program_begin("program_memory", handle, &u, message);
    if (status)
        return (int)status;
    const char *found = number < 0 ? NULL : td_program_memory(u.object->program, (size_t)number);
    *bound = found && td_program_banks(u.object->program, found, &count);
    td_dpi_program_end(&u, TD_OK, message);
    if (found)
        status = td_dpi_keep(&kept, found, name, message);
    return (int)status;
}

/* Keeps calls that a class makes on its own behalf out of a program that is recorded. */
TD_API void td_dpi_record_hold(int hold)
{
    td_record_hold(hold);
}
