/* A program as text: its lines as they were written, added or recorded, which parse to the same program. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

td_status td_program_text(const td_program *program, char **text)
{
    if (!program || !text)
        return td_fail(TD_ARGUMENT, "program_text: the %s is NULL; pass one", program ? "output" : "program");
    const char *from = program->source.text ? program->source.text : "";
    char *copy = malloc(program->source.used + 1);
    if (!copy)
        return td_fail_alloc(program->source.used + 1);
    memcpy(copy, from, program->source.used + 1);
    *text = copy;
    return TD_OK;
}
