/* Programs and checkpoints for SystemVerilog. A program's object knows the handles that are bound to its names, and
 * every call with it claims them all, so that one that was destroyed is a status. One call is one run; for memories
 * with words in the design (doors) td_dpi_program_words says before it which are to cross, and the run itself which are
 * to cross back. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

/* What stands for a name: memories, one or several, or a tensor. Layouts are copied by the program. */
typedef struct binding {
    char *name;
    td_dpi_kind kind;
    td_dpi_u64 *handle;
    size_t count;
} binding;

/* A memory with words in the design. One that is bound no more is not listed. */
typedef struct door {
    td_dpi_u64 handle;
    bool listed;
} door;

typedef struct program_object {
    td_program *program;
    binding *bound;
    size_t count;
    door *door;
    size_t doors;
    td_memory **listed; /* of the doors, for one transfer, */
    uint64_t *words;    /* and how many words of each */
} program_object;

static void destroy_object(program_object *o)
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

/* A program and everything that is bound to it, claimed. */
typedef struct use {
    td_dpi_claim program;
    program_object *object;
    td_dpi_claim *claim;
    size_t count;
} use;

static td_status begin(const char *call, td_dpi_u64 handle, use *u, const char **message)
{
    *u = (use){.program = {.handle = handle, .kind = TD_DPI_PROGRAM}};
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

static int end(use *u, td_status status, const char **message)
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
    program_object *o = calloc(1, sizeof *o);
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
    use u;
    const td_status status = begin("program_add", handle, &u, message);
    return status ? (int)status : end(&u, td_program_add(u.object->program, text), message);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* Keeps the handles for a name, in the place of those that it had. `made` is the caller's on failure. */
static bool keep(program_object *o, const char *name, td_dpi_kind kind, td_dpi_u64 *made, size_t count)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->bound[i].kind == kind && strcmp(o->bound[i].name, name) == 0) {
            free(o->bound[i].handle);
            o->bound[i].handle = made;
            o->bound[i].count = count;
            return true;
        }
    char *copy = strdup(name);
    binding *grown = copy ? realloc(o->bound, (o->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return false;
    }
    o->bound = grown;
    o->bound[o->count++] = (binding){copy, kind, made, count};
    return true;
}

/* `kind` is that of the handle: a tensor, a memory or a layout. */
TD_API int td_dpi_program_bind(td_dpi_u64 handle, const char *name, int kind, td_dpi_u64 thing, const char **message)
{
    use u;
    td_dpi_claim claim = {.handle = thing, .kind = (td_dpi_kind)kind};
    td_dpi_u64 *kept = malloc(sizeof *kept);
    if (!kept)
        return td_dpi_fail(TD_NO_MEMORY, message, "program_bind: no memory for a handle; free some");
    *kept = thing;
    td_status status = begin("program_bind", handle, &u, message);
    if (status) {
        free(kept);
        return (int)status;
    }
    status = td_dpi_claim_one("program_bind", &claim, message);
    if (status) {
        const char *ignored = NULL;
        end(&u, TD_OK, &ignored);
        free(kept);
        return (int)status;
    }
    td_program *p = u.object->program;
    status = kind == TD_DPI_LAYOUT   ? td_program_bind_layout(p, name, claim.object)
             : kind == TD_DPI_TENSOR ? td_program_bind_tensor(p, name, claim.object)
                                     : td_program_bind_memory(p, name, claim.object);
    td_dpi_release(&claim, 1);
    int result = end(&u, status, message);
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
    use u;
    td_dpi_memories banks = {0};
    td_dpi_u64 *kept = NULL;
    td_status status = begin("program_bind_banks", handle, &u, message);
    if (status)
        return (int)status;
    status = td_dpi_claim_list("program_bind_banks", list, NULL, 0, &banks, message);
    if (status) {
        const char *ignored = NULL;
        end(&u, TD_OK, &ignored);
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
    end(&u, TD_OK, &ignored);
    return (int)status;
}

TD_API int td_dpi_program_use(td_dpi_u64 handle, const char *path, const char **message)
{
    use u;
    const td_status status = begin("program_use", handle, &u, message);
    return status ? (int)status : end(&u, td_program_use(u.object->program, path), message);
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_program_record(td_dpi_u64 *handle, const char **message)
{
    program_object *o = calloc(1, sizeof *o);
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
static bool keep_recorded(program_object *o)
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
    use u;
    td_status status = begin("program_stop", handle, &u, message);
    if (status)
        return (int)status;
    status = (td_status)end(&u, td_program_stop(u.object->program), message);
    if (!status && !keep_recorded(u.object))
        status = (td_status)td_dpi_fail(TD_NO_MEMORY, message, "program_stop: no memory for handles; free some");
    return (int)status;
}

/* The handle of a memory that is bound to the program, or 0 past the last. */
TD_API int td_dpi_program_memory(td_dpi_u64 handle, int number, td_dpi_u64 *memory, const char **message)
{
    use u;
    size_t at = 0;
    *memory = 0;
    const td_status status = begin("program_memory", handle, &u, message);
    if (status)
        return (int)status;
    for (size_t i = 0; i < u.count; i++)
        if (u.claim[i].kind == TD_DPI_MEMORY && at++ == (size_t)number)
            *memory = u.claim[i].handle;
    return end(&u, TD_OK, message);
}

/* A memory that the text names, by number, and whether something is bound to the name; "" past the last. */
TD_API int td_dpi_program_memory_name(td_dpi_u64 handle, int number, const char **name, int *bound,
                                      const char **message)
{
    static _Thread_local char *kept;
    use u;
    size_t count = 0;
    *name = "";
    *bound = 0;
    td_status status = begin("program_memory", handle, &u, message);
    if (status)
        return (int)status;
    const char *found = number < 0 ? NULL : td_program_memory(u.object->program, (size_t)number);
    *bound = found && td_program_banks(u.object->program, found, &count);
    end(&u, TD_OK, message);
    if (found)
        status = td_dpi_keep(&kept, found, name, message);
    return (int)status;
}

/* Keeps calls that a class makes on its own behalf out of a program that is recorded. */
TD_API void td_dpi_record_hold(int hold)
{
    td_record_hold(hold);
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_program_compile(td_dpi_u64 handle, const char *arguments, const char **message)
{
    use u;
    const td_status status = begin("program_compile", handle, &u, message);
    return status ? (int)status : end(&u, td_program_compile(u.object->program, arguments), message);
}

/* A memory has words in the design. */
TD_API int td_dpi_program_door(td_dpi_u64 handle, td_dpi_u64 memory, const char **message)
{
    use u;
    const td_status status = begin("program_bind", handle, &u, message);
    if (status)
        return (int)status;
    program_object *o = u.object;
    door *grown = realloc(o->door, (o->doors + 1) * sizeof *grown);
    if (grown)
        o->door = grown;
    td_memory **found = realloc((void *)o->listed, (o->doors + 1) * sizeof(void *));
    if (found)
        o->listed = found;
    uint64_t *words = realloc(o->words, (o->doors + 1) * sizeof *words);
    if (words)
        o->words = words;
    const bool good = grown && found && words;
    if (good)
        o->door[o->doors++] = (door){.handle = memory};
    end(&u, TD_OK, message);
    return good ? TD_OK : td_dpi_fail(TD_NO_MEMORY, message, "program_bind: no memory for a handle; free some");
}

/* Lists the words of all doors, for one transfer. Bit i of *mask is set when some are of door i; the last stands for
 * all doors behind it, too. */
static td_status list_words(const use *u, const char *label, const char *arguments, td_program_effect effect,
                            td_dpi_u64 *mask)
{
    const program_object *o = u->object;
    size_t count = 0;
    for (size_t d = 0; d < o->doors; d++) {
        o->door[d].listed = false;
        for (size_t i = 0; i < u->count && !o->door[d].listed; i++)
            if (u->claim[i].handle == o->door[d].handle) {
                o->door[d].listed = true;
                o->listed[count++] = u->claim[i].object;
            }
    }
    const td_status status = td_transfer_program(o->program, label, arguments, o->listed, count, effect, o->words);
    count = 0;
    for (size_t d = 0; d < o->doors && !status; d++)
        if (o->door[d].listed && o->words[count++])
            *mask |= (td_dpi_u64)1 << (d < 63 ? d : 63);
    return status;
}

/* Before a run with doors: which of them have words that come in. */
TD_API int td_dpi_program_words(td_dpi_u64 handle, const char *label, const char *arguments, td_dpi_u64 *mask,
                                const char **message)
{
    use u;
    *mask = 0;
    td_status status = begin("program_run", handle, &u, message);
    if (status)
        return (int)status;
    if (u.object->doors)
        status = list_words(&u, label, arguments, TD_PROGRAM_READS, mask);
    return end(&u, status, message);
}

/* All that a testbench asks first comes back with the run, and which doors have words that go out. The handle is 0
 * where there were no checkpoints. */
TD_API int td_dpi_program_run(td_dpi_u64 handle, const char *label, const char *arguments, td_dpi_u64 *mask,
                              td_dpi_u64 *checkpoints, int *count, int *failed, int *first, const char **line,
                              const char **message)
{
    static _Thread_local char *kept;
    use u;
    td_checkpoints *made = NULL;
    *checkpoints = *mask = 0;
    *count = *failed = *first = 0;
    *line = "";
    td_status status = begin("program_run", handle, &u, message);
    if (status)
        return (int)status;
    status = td_program_run(u.object->program, label, arguments, &made);
    if (!status && u.object->doors)
        status = list_words(&u, label, arguments, TD_PROGRAM_WRITES, mask);
    end(&u, status, message);
    if (!status && td_checkpoints_count(made)) {
        *count = (int)td_checkpoints_count(made);
        *failed = (int)td_checkpoints_failed(made);
        *first = (int)td_checkpoints_first(made);
        status = td_dpi_keep(&kept, td_checkpoints_line(made), line, message);
        if (!status)
            status = td_dpi_handle_create(TD_DPI_CHECKPOINTS, made, checkpoints, message);
        if (!status)
            made = NULL;
    }
    td_checkpoints_destroy(&made);
    return (int)status;
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

/* `what`: 0 the lines of the program, 1 what explain says, 2 its picture. The text lives until the next call. */
TD_API int td_dpi_program_text(td_dpi_u64 handle, int what, const char *label, const char *arguments, const char **text,
                               const char **message)
{
    static _Thread_local char *last;
    use u;
    *text = "";
    td_status status = begin("program_text", handle, &u, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    td_program *p = u.object->program;
    status = what == 0   ? td_program_text(p, &last)
             : what == 1 ? td_program_explain(p, label, arguments, &last)
                         : td_program_svg(p, label, arguments, &last);
    if (!status)
        *text = last;
    return end(&u, status, message);
}

/* A copy of one of its tensors. */
TD_API int td_dpi_program_tensor(td_dpi_u64 handle, const char *name, td_dpi_u64 *tensor, const char **message)
{
    use u;
    const td_tensor *found = NULL;
    td_tensor *copy = NULL;
    *tensor = 0;
    td_status status = begin("program_tensor", handle, &u, message);
    if (status)
        return (int)status;
    status = td_program_tensor(u.object->program, name, &found);
    if (!status)
        status = td_tensor_slice(found, "", &copy);
    status = (td_status)end(&u, status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_TENSOR, copy, tensor, message);
    if (status)
        td_tensor_destroy(&copy);
    return (int)status;
}

/* -- checkpoints --------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_checkpoints_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    const td_status status = td_dpi_handle_take("checkpoints_destroy", TD_DPI_CHECKPOINTS, handle, &object, message);
    if (status)
        return (int)status;
    td_checkpoints *checkpoints = object;
    td_checkpoints_destroy(&checkpoints);
    return td_dpi_done(TD_OK, message);
}

/* One of them; TD_RANGE past the last. has_statistics is 0 where the policy did not ask for them. */
TD_API int td_dpi_checkpoints_at(td_dpi_u64 handle, int number, const char **name, int *passed, td_dpi_u64 *compared,
                                 td_dpi_u64 *mismatches, td_dpi_u64 *worst_ulp, double *worst_error,
                                 int *has_statistics, double *mean_relative_error, double *mse, double *cosine,
                                 const char **line, const char **message)
{
    static _Thread_local char *kept[2];
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    td_statistics s = {0};
    *name = *line = "";
    td_status status = td_dpi_claim_one("checkpoints_at", &claim, message);
    if (status)
        return (int)status;
    const td_report *r = number < 0 ? NULL : td_checkpoints_report(claim.object, (size_t)number);
    if (r) {
        *passed = td_report_passed(r);
        *compared = td_report_compared(r);
        *mismatches = td_report_mismatches(r);
        *worst_ulp = td_report_worst_ulp(r);
        *worst_error = td_report_worst_error(r);
        *has_statistics = td_report_statistics(r, &s);
        *mean_relative_error = s.mean_relative_error;
        *mse = s.mse;
        *cosine = s.cosine;
        status = td_dpi_keep(&kept[0], td_checkpoints_name(claim.object, (size_t)number), name, message);
        if (!status)
            status = td_dpi_keep(&kept[1], td_report_line(r), line, message);
    } else {
        status = (td_status)td_dpi_fail(TD_RANGE, message, "checkpoints_at: number %d of %zu; the first is 0", number,
                                        td_checkpoints_count(claim.object));
    }
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

/* `what`: 0 text, 1 JSON, 2 JUnit XML. The text lives until the next call. */
TD_API int td_dpi_checkpoints_text(td_dpi_u64 handle, int what, const char **text, const char **message)
{
    static _Thread_local char *last;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    *text = "";
    td_status status = td_dpi_claim_one("checkpoints_text", &claim, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    status = what == 0   ? td_checkpoints_text(claim.object, &last)
             : what == 1 ? td_checkpoints_json(claim.object, &last)
                         : td_checkpoints_junit(claim.object, &last);
    if (!status)
        *text = last;
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_checkpoints_html(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_CHECKPOINTS};
    const td_status status = td_dpi_claim_one("checkpoints_html", &claim, message);
    return status ? (int)status : td_dpi_end(&claim, 1, td_checkpoints_html(claim.object, path), message);
}
