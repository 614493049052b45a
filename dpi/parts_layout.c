/* Layouts of parts for SystemVerilog, and the calls that load, dump and compare by them. The memories come as a list of
 * their handles, as in banks.c. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

static int keep(td_status status, td_parts_layout *layout, td_dpi_u64 *handle, const char **message)
{
    *handle = 0;
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_PARTS_LAYOUT, layout, handle, message);
    if (status) {
        td_parts_layout_destroy(&layout);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_parts_layout_create(const char *packing, td_dpi_u64 *handle, const char **message)
{
    td_parts_layout *layout = NULL;
    td_status status = td_parts_layout_create(packing, &layout);
    return keep(status, layout, handle, message);
}

TD_API int td_dpi_parts_layout_open(const char *path, const char *name, td_dpi_u64 *handle, const char **packing,
                                    const char **message)
{
    static _Thread_local char *kept;
    td_parts_layout *layout = NULL;
    *packing = "";
    *handle = 0;
    td_status status = td_parts_layout_open(path, name, &layout);
    if (!status && td_dpi_keep(&kept, td_parts_layout_packing(layout), packing, message)) {
        td_parts_layout_destroy(&layout);
        return (int)TD_NO_MEMORY;
    }
    return keep(status, layout, handle, message);
}

TD_API int td_dpi_parts_layout_add(td_dpi_u64 handle, const char *part, const char *memory, td_dpi_u64 layout,
                                   const char **message)
{
    td_dpi_claim claims[] = {{.handle = handle, .kind = TD_DPI_PARTS_LAYOUT},
                             {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_status status = td_dpi_claim_all("parts_layout_add", claims, 2, message);
    if (status)
        return (int)status;
    status = td_parts_layout_add(claims[0].object, part, memory, claims[1].object);
    return td_dpi_end(claims, 2, status, message);
}

TD_API int td_dpi_parts_layout_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("parts_layout_destroy", TD_DPI_PARTS_LAYOUT, handle, &object, message);
    if (status)
        return (int)status;
    td_parts_layout *layout = object;
    td_parts_layout_destroy(&layout);
    return td_dpi_done(TD_OK, message);
}

/* -- calls -- */

typedef td_status parts_call(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                             void *context);

static td_status load(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                      void *context)
{
    (void)context;
    return td_backdoor_load_parts(memories, count, tensor, layout);
}

static td_status dump(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                      void *context)
{
    (void)context;
    return td_backdoor_dump_parts(memories, count, tensor, layout);
}

typedef struct comparison {
    const char *policy;
    td_report *report;
} comparison;

static td_status compare(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                         void *context)
{
    comparison *c = context;
    return td_backdoor_compare_parts(memories, count, tensor, layout, c->policy, &c->report);
}

typedef struct poison {
    uint64_t seed, count;
} poison;

static td_status dirty(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                       void *context)
{
    poison *p = context;
    return td_backdoor_dirty_parts(memories, count, tensor, layout, p->seed, &p->count);
}

typedef struct transfer {
    int from_tensor, *partial;
} transfer;

static td_status list_words(td_memory *const *memories, size_t count, td_tensor *tensor, const td_parts_layout *layout,
                            void *context)
{
    const transfer *t = context;
    return td_transfer_parts(memories, count, tensor, layout, t->from_tensor ? TD_TRANSFER_LOAD : TD_TRANSFER_DUMP,
                             t->partial);
}

/* Claims the list, then the memories in it with the tensor and the layout; `memories` and `claims` have room for
 * them. */
static td_status call_claimed(const char *call, parts_call *fn, td_dpi_claim *claims, td_memory **memories,
                              size_t count, void *context, const char **message)
{
    td_status status = td_dpi_claim_all(call, claims, count + 2, message);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        memories[i] = claims[i].object;
    status = fn(memories, count, claims[count].object, claims[count + 1].object, context);
    td_dpi_end(claims, count + 2, status, message);
    return status;
}

static int run(const char *call, parts_call *fn, td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout, void *context,
               const char **message)
{
    td_dpi_claim held = {.handle = list, .kind = TD_DPI_TENSOR, .optional = true};
    td_status status = td_dpi_claim_all(call, &held, 1, message);
    if (status)
        return (int)status;
    const size_t count = held.object ? (size_t)td_tensor_elems(held.object) : 0;
    td_dpi_claim *claims = calloc(count + 2, sizeof *claims);
    td_memory **memories = calloc(count + 1, sizeof(td_memory *));
    for (size_t i = 0; i < count && claims; i++) {
        uint64_t handle = 0;
        memcpy(&handle, (const char *)td_tensor_data_const(held.object) + i * sizeof handle, sizeof handle);
        claims[i] = (td_dpi_claim){.handle = handle, .kind = TD_DPI_MEMORY};
    }
    td_dpi_release(&held, 1);
    if (claims && memories) {
        claims[count] = (td_dpi_claim){.handle = tensor, .kind = TD_DPI_TENSOR};
        claims[count + 1] = (td_dpi_claim){.handle = layout, .kind = TD_DPI_PARTS_LAYOUT};
        status = call_claimed(call, fn, claims, memories, count, context, message);
    } else
        status = (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s: no memory for %llu memories; use fewer", call,
                                        (td_dpi_u64)count);
    free(memories);
    free(claims);
    return (int)status;
}

TD_API int td_dpi_backdoor_load_parts(td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout, const char **message)
{
    return run("backdoor_load_parts", load, list, tensor, layout, NULL, message);
}

TD_API int td_dpi_backdoor_dump_parts(td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout, const char **message)
{
    return run("backdoor_dump_parts", dump, list, tensor, layout, NULL, message);
}

TD_API int td_dpi_backdoor_compare_parts(td_dpi_u64 list, td_dpi_u64 golden, td_dpi_u64 layout, const char *policy,
                                         td_dpi_u64 *report, const char **message)
{
    comparison c = {.policy = policy};
    *report = 0;
    const int status = run("backdoor_compare_parts", compare, list, golden, layout, &c, message);
    return status ? status : td_dpi_report_give(&c.report, report, message);
}

TD_API int td_dpi_backdoor_dirty_parts(td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout, td_dpi_u64 seed,
                                       td_dpi_u64 *count, const char **message)
{
    poison p = {.seed = seed};
    const int status = run("backdoor_dirty_parts", dirty, list, tensor, layout, &p, message);
    *count = p.count;
    return status;
}

/* Where a handle is refused no word will cross, and the operation says why. */
TD_API int td_dpi_transfer_parts(td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout, int from_tensor, int *partial,
                                 const char **message)
{
    *partial = 0;
    const int status = run("", list_words, list, tensor, layout, &(transfer){from_tensor, partial}, message);
    return status == TD_HANDLE ? td_dpi_done(TD_OK, message) : status;
}
