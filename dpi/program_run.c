/* Runs of a program for SystemVerilog, and what it prints. One call is one run; for memories with words in the design
 * (doors) td_dpi_program_words says before it which are to cross, and the run itself which are to cross back. */
#include "program.h"

#include <stdlib.h>
#include <svdpi.h>

/* -- runs ---------------------------------------------------------------------------------------------------------- */

TD_API int td_dpi_program_compile(td_dpi_u64 handle, const char *arguments, const char **message)
{
    td_dpi_program_claims u;
    const td_status status = td_dpi_program_begin("program_compile", handle, &u, message);
    return status ? (int)status : td_dpi_program_end(&u, td_program_compile(u.object->program, arguments), message);
}

/* A memory has words in the design. */
TD_API int td_dpi_program_door(td_dpi_u64 handle, td_dpi_u64 memory, const char **message)
{
    td_dpi_program_claims u;
    const td_status status = td_dpi_program_begin("program_bind", handle, &u, message);
    if (status)
        return (int)status;
    td_dpi_program *o = u.object;
    td_dpi_door *grown = realloc(o->door, (o->doors + 1) * sizeof *grown);
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
        o->door[o->doors++] = (td_dpi_door){.handle = memory};
    td_dpi_program_end(&u, TD_OK, message);
    return good ? TD_OK : td_dpi_fail(TD_NO_MEMORY, message, "program_bind: no memory for a handle; free some");
}

/* Lists the words of all doors, for one transfer. Bit i of *mask is set when some are of door i; the last stands for
 * all doors behind it, too. */
static td_status list_words(const td_dpi_program_claims *u, const char *label, const char *arguments,
                            td_program_effect effect, td_dpi_u64 *mask)
{
    const td_dpi_program *o = u->object;
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
    td_dpi_program_claims u;
    *mask = 0;
    td_status status = td_dpi_program_begin("program_run", handle, &u, message);
    if (status)
        return (int)status;
    if (u.object->doors)
        status = list_words(&u, label, arguments, TD_PROGRAM_READS, mask);
    return td_dpi_program_end(&u, status, message);
}

/* All that a testbench asks first comes back with the run, and which doors have words that go out. The handle is 0
 * where there were no checkpoints. */
TD_API int td_dpi_program_run(td_dpi_u64 handle, const char *label, const char *arguments, td_dpi_u64 *mask,
                              td_dpi_u64 *checkpoints, int *count, int *failed, int *first, const char **line,
                              const char **message)
{
    static _Thread_local char *kept;
    td_dpi_program_claims u;
    td_checkpoints *made = NULL;
    *checkpoints = *mask = 0;
    *count = *failed = *first = 0;
    *line = "";
    td_status status = td_dpi_program_begin("program_run", handle, &u, message);
    if (status)
        return (int)status;
    status = td_program_run(u.object->program, label, arguments, &made);
    if (!status && u.object->doors)
        status = list_words(&u, label, arguments, TD_PROGRAM_WRITES, mask);
    td_dpi_program_end(&u, status, message);
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
    td_dpi_program_claims u;
    *text = "";
    td_status status = td_dpi_program_begin("program_text", handle, &u, message);
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
    return td_dpi_program_end(&u, status, message);
}

/* A copy of one of its tensors. */
TD_API int td_dpi_program_tensor(td_dpi_u64 handle, const char *name, td_dpi_u64 *tensor, const char **message)
{
    td_dpi_program_claims u;
    const td_tensor *found = NULL;
    td_tensor *copy = NULL;
    *tensor = 0;
    td_status status = td_dpi_program_begin("program_tensor", handle, &u, message);
    if (status)
        return (int)status;
    status = td_program_tensor(u.object->program, name, &found);
    if (!status)
        status = td_tensor_slice(found, "", &copy);
    status = (td_status)td_dpi_program_end(&u, status, message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_TENSOR, copy, tensor, message);
    if (status)
        td_tensor_destroy(&copy);
    return (int)status;
}
