/* A program as SystemVerilog has it: the object behind its handle, which program.c makes and program_run.c runs. It
 * knows the handles that are bound to its names, and every call with it claims them all, so that one that was destroyed
 * is a status. */
#ifndef TD_DPI_PROGRAM_H
#define TD_DPI_PROGRAM_H

#include "handles.h"
#include "tensordoor_bridge.h"

/* What stands for a name: memories, one or several, or a tensor. Layouts are copied by the program. */
typedef struct td_dpi_binding {
    char *name;
    td_dpi_kind kind;
    td_dpi_u64 *handle;
    size_t count;
} td_dpi_binding;

/* A memory with words in the design. One that is bound no more is not listed. */
typedef struct td_dpi_door {
    td_dpi_u64 handle;
    bool listed;
} td_dpi_door;

typedef struct td_dpi_program {
    td_program *program;
    td_dpi_binding *bound;
    size_t count;
    td_dpi_door *door;
    size_t doors;
    td_memory **listed; /* of the doors, for one transfer, */
    uint64_t *words;    /* and how many words of each */
} td_dpi_program;

/* A program and everything that is bound to it, claimed. */
typedef struct td_dpi_program_claims {
    td_dpi_claim program;
    td_dpi_program *object;
    td_dpi_claim *claim;
    size_t count;
} td_dpi_program_claims;

/* Claims, and gives back with the status and message of the call in between. */
td_status td_dpi_program_begin(const char *call, td_dpi_u64 handle, td_dpi_program_claims *use, const char **message);
int td_dpi_program_end(td_dpi_program_claims *use, td_status status, const char **message);

#endif
