/* What every shim in dpi/ shares: the handles that SystemVerilog holds instead of pointers, their locks, and the way a
 * status and a message go back. A shim claims its handles, makes one call of the public header, and releases them. No
 * state crosses calls except the table itself, because a simulator may run each call on another thread. */
#ifndef TD_DPI_HANDLES_H
#define TD_DPI_HANDLES_H

#include "tensordoor.h"

#include <stdbool.h>
#include <stdint.h>

/* `longint unsigned` as simulators spell it in C; uint64_t is another type where that is `unsigned long`. */
typedef unsigned long long td_dpi_u64;

typedef enum td_dpi_kind {
    TD_DPI_TENSOR = 1,
    TD_DPI_MEMORY = 2,
    TD_DPI_LAYOUT = 3,
    TD_DPI_REPORT = 4,
    TD_DPI_CODE = 5,
    TD_DPI_FAULTS = 6,
    TD_DPI_PARTS_LAYOUT = 7,
    TD_DPI_MAP = 8,
    TD_DPI_PROGRAM = 9,
    TD_DPI_CHECKPOINTS = 10
} td_dpi_kind;

/* One handle argument of a call; the last three members are filled by the claim. */
typedef struct td_dpi_claim {
    td_dpi_u64 handle;
    td_dpi_kind kind;
    bool optional; /* the handle may be null, and then the object is NULL */
    bool biased;   /* claimed without locks (biased_lock.h) */
    bool layers;   /* of the first claim: the lock of all memories that lie over others is held too */
    void *object;
    struct td_dpi_slot *slot;
} td_dpi_claim;

/* Finds and locks the objects of all claims, or none: TD_HANDLE with a message for `call` when a handle is null, of
 * another kind, stale or foreign. A handle may stand in several claims. td_dpi_claim_one is the short way for one
 * handle that is not optional. Every success is paired with td_dpi_release. */
td_status td_dpi_claim_all(const char *call, td_dpi_claim *claims, size_t count, const char **message);
td_status td_dpi_claim_one(const char *call, td_dpi_claim *claim, const char **message);
void td_dpi_release(const td_dpi_claim *claims, size_t count);

/* The same before td_dpi_handle_create_over, for the objects below. */
td_status td_dpi_claim_below(const char *call, td_dpi_claim *claims, size_t count, const char **message);

/* A new handle for an object, which the table then owns. TD_NO_MEMORY when there are too many; the caller then still
 * owns it. */
td_status td_dpi_handle_create(td_dpi_kind kind, void *object, td_dpi_u64 *handle, const char **message);

/* The handle of an object; 0 when it has none. It looks at all handles: for what is not done in a loop. */
td_dpi_u64 td_dpi_handle_find(td_dpi_kind kind, const void *object);

/* The same for a memory or a map that uses the objects of these claims, which td_dpi_claim_below has made and which are
 * not yet released. None of them can be destroyed before it, and no two threads are in calls with any of them at once.
 */
td_status td_dpi_handle_create_over(td_dpi_kind kind, void *object, const td_dpi_claim *below, size_t count,
                                    td_dpi_u64 *handle, const char **message);

/* A handle for a memory that another object owns, as a map: td_dpi_handle_take refuses it. Its owner asks whether
 * something uses the memory, which is TD_ARGUMENT, and makes the handle stale before it destroys the memory. */
td_status td_dpi_handle_lend(void *memory, td_dpi_u64 *handle, const char **message);
td_status td_dpi_handle_unused(const char *call, td_dpi_u64 handle, const char **message);
td_status td_dpi_handle_end_lent(const char *call, td_dpi_u64 handle, const char **message);

/* Waits for the calls that use the object, makes its handle stale, and gives the object to the caller to destroy.
 * TD_ARGUMENT when a memory uses it. */
td_status td_dpi_handle_take(const char *call, td_dpi_kind kind, td_dpi_u64 handle, void **object,
                             const char **message);

/* Both give the status as the int that crosses DPI. td_dpi_done sets the message to "" or to the library's last error;
 * td_dpi_fail sets one of the shim's own. */
int td_dpi_done(td_status status, const char **message);

/* The end of a call that claimed: td_dpi_release and td_dpi_done. */
int td_dpi_end(const td_dpi_claim *claims, size_t count, td_status status, const char **message);

int td_dpi_fail(td_status status, const char **message, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* layers.c: the memories of a list, claimed together with `more` other claims, which stand behind them. */
typedef struct td_dpi_memories {
    td_dpi_claim *claim;
    td_memory **memory;
    size_t count, more;
} td_dpi_memories;

/* Without a status, everything is claimed. td_dpi_memories_free is due in any case. */
td_status td_dpi_claim_list(const char *call, td_dpi_u64 list, const td_dpi_claim *more, size_t more_count,
                            td_dpi_memories *out, const char **message);
void td_dpi_memories_free(td_dpi_memories *memories);

/* banks.c: the handles in a list (a tensor of u64, or 0), copied into *handles, which the caller frees. */
td_status td_dpi_list_read(const char *call, td_dpi_u64 list, uint64_t **handles, size_t *count, const char **message);

/* code.c: numbers with blanks or commas between them; false when it is anything else, or they are not `rank`. */
bool td_dpi_read_coordinate(const char *text, size_t rank, uint64_t *out);

/* A copy of a text, which the simulator reads after the call has returned: *out lives until the same `kept`, which is
 * thread-local, takes the next text. TD_NO_MEMORY with a message. */
td_status td_dpi_keep(char **kept, const char *text, const char **out, const char **message);

/* code.c: the first errors of a result, a line each. */
#define TD_DPI_ERRORS_BYTES (TD_CODE_FIRST * 128)
void td_dpi_print_errors(const td_code_result *result, char *text);

/* report.c: a handle for a new report, which is destroyed when there is none. */
int td_dpi_report_give(td_report **report, td_dpi_u64 *handle, const char **message);

#endif
