/* Arrays of memories for SystemVerilog. The memories come as a list of their handles, a tensor of u64 that td_bank_set
 * has filled like a list of addresses; all of them are claimed together with the tensor and the layout, or none. */
#include "handles.h"
#include "tensordoor_bridge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

typedef td_status move_call(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout,
                            const char *as, void *context);

static td_status load(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout, const char *as,
                      void *context)
{
    (void)context;
    return td_backdoor_load_tensor_banks(banks, count, tensor, layout, as);
}

static td_status dump(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout, const char *as,
                      void *context)
{
    (void)context;
    return td_backdoor_dump_tensor_banks(banks, count, tensor, layout, as);
}

/* What a comparison needs beside the handles. */
typedef struct comparison {
    const char *policy;
    td_report *report;
} comparison;

static td_status compare(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout,
                         const char *as, void *context)
{
    comparison *c = context;
    return td_backdoor_compare_tensor_banks(banks, count, tensor, layout, c->policy, as, &c->report);
}

/* What poison in the padding needs, and how much padding there was. */
typedef struct dirt {
    uint64_t seed, count;
} dirt;

static td_status dirty(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout,
                       const char *as, void *context)
{
    dirt *d = context;
    return td_backdoor_dirty_padding_banks(banks, count, tensor, layout, as, d->seed, &d->count);
}

static td_status transfer(td_memory *const *banks, size_t count, td_tensor *tensor, const td_layout *layout,
                          const char *as, void *context)
{
    return td_transfer_layout(banks, count, tensor, layout, as, context);
}

/* The handles in the list, copied, so that the list can be released before the memories are claimed. */
td_status td_dpi_list_read(const char *call, td_dpi_u64 list, uint64_t **handles, size_t *count, const char **message)
{
    td_dpi_claim claim = {.handle = list, .kind = TD_DPI_TENSOR, .optional = true};
    td_status status = td_dpi_claim_all(call, &claim, 1, message);
    if (status)
        return status;
    const size_t n = claim.object ? (size_t)td_tensor_elems(claim.object) : 0;
    *handles = calloc(n + 1, sizeof **handles);
    if (!*handles || (n && td_tensor_elem_bytes(claim.object) != 8))
        status = (td_status)td_dpi_fail(TD_ARGUMENT, message, "%s: no list of handles; use td_bank_set", call);
    else if (n)
        memcpy(*handles, td_tensor_data_const(claim.object), n * sizeof **handles);
    *count = n;
    td_dpi_release(&claim, 1);
    return status;
}

/* Claims the memories of the list with the tensor and the layout, moves, releases. */
static td_status move_claimed(const char *call, move_call *mover, const uint64_t *handles, size_t count,
                              td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, void *context, const char **message)
{
    td_dpi_claim *claims = calloc(count + 2, sizeof *claims);
    td_memory **banks = calloc(count + 1, sizeof(td_memory *));
    td_status status = TD_NO_MEMORY;
    if (!claims || !banks) {
        td_dpi_fail(status, message, "%s: no memory for %llu banks; use fewer", call, (td_dpi_u64)count);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        claims[i] = (td_dpi_claim){.handle = handles[i], .kind = TD_DPI_MEMORY};
    claims[count] = (td_dpi_claim){.handle = tensor, .kind = TD_DPI_TENSOR};
    claims[count + 1] = (td_dpi_claim){.handle = layout, .kind = TD_DPI_LAYOUT};
    status = td_dpi_claim_all(call, claims, count + 2, message);
    if (status)
        goto done;
    for (size_t i = 0; i < count; i++)
        banks[i] = claims[i].object;
    status = mover(banks, count, claims[count].object, claims[count + 1].object, as, context);
    td_dpi_release(claims, count + 2);
    td_dpi_done(status, message);

done:
    free(banks);
    free(claims);
    return status;
}

static int move(const char *call, move_call *mover, td_dpi_u64 list, td_dpi_u64 tensor, td_dpi_u64 layout,
                const char *as, void *context, const char **message)
{
    uint64_t *handles = NULL;
    size_t count = 0;
    td_status status = td_dpi_list_read(call, list, &handles, &count, message);
    if (!status)
        status = move_claimed(call, mover, handles, count, tensor, layout, as, context, message);
    free(handles);
    return (int)status;
}

TD_API int td_dpi_backdoor_load_banks(td_dpi_u64 banks, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                      const char **message)
{
    return move("backdoor_load_tensor", load, banks, tensor, layout, as, NULL, message);
}

TD_API int td_dpi_backdoor_dump_banks(td_dpi_u64 banks, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                      const char **message)
{
    return move("backdoor_dump_tensor", dump, banks, tensor, layout, as, NULL, message);
}

TD_API int td_dpi_backdoor_compare_banks(td_dpi_u64 banks, td_dpi_u64 golden, td_dpi_u64 layout, const char *policy,
                                         const char *as, td_dpi_u64 *report, const char **message)
{
    comparison c = {.policy = policy};
    *report = 0;
    const int status = move("backdoor_compare_tensor", compare, banks, golden, layout, as, &c, message);
    return status ? status : td_dpi_report_give(&c.report, report, message);
}

TD_API int td_dpi_backdoor_dirty_banks(td_dpi_u64 banks, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                       td_dpi_u64 seed, td_dpi_u64 *count, const char **message)
{
    dirt d = {.seed = seed};
    const int status = move("backdoor_dirty_padding", dirty, banks, tensor, layout, as, &d, message);
    *count = d.count;
    return status;
}

/* For banks that lie in the design, before any of these. */
TD_API int td_dpi_transfer_banks(td_dpi_u64 banks, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, int *partial,
                                 const char **message)
{
    *partial = 0;
    return move("backdoor_tensor", transfer, banks, tensor, layout, as, partial, message);
}

/* All that td_comparison says: banks, a mask or 0, and a list of the banks' snapshots or 0. */
TD_API int td_dpi_compare(td_dpi_u64 banks, td_dpi_u64 golden, td_dpi_u64 layout, const char *policy, const char *as,
                          td_dpi_u64 mask, td_dpi_u64 snapshot, td_dpi_u64 *report, const char **message)
{
    static const char call[] = "backdoor_compare";
    uint64_t *handles = NULL, *before = NULL;
    size_t count = 0, taken = 0;
    td_dpi_claim *claims = NULL;
    td_memory **memories = NULL;
    td_report *made = NULL;
    *report = 0;
    td_status status = td_dpi_list_read(call, banks, &handles, &count, message);
    if (!status)
        status = td_dpi_list_read(call, snapshot, &before, &taken, message);
    if (status)
        goto done;
    if (taken && taken != count) {
        status = (td_status)td_dpi_fail(TD_ARGUMENT, message,
                                        "%s: a snapshot of %llu banks for %llu; take it of the same set", call,
                                        (td_dpi_u64)taken, (td_dpi_u64)count);
        goto done;
    }
    claims = calloc(count + taken + 3, sizeof *claims);
    memories = calloc(count + taken + 1, sizeof(td_memory *));
    if (!claims || !memories) {
        status = (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s: no memory for %llu banks; use fewer", call,
                                        (td_dpi_u64)count);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        claims[i] = (td_dpi_claim){.handle = handles[i], .kind = TD_DPI_MEMORY};
    for (size_t i = 0; i < taken; i++)
        claims[count + i] = (td_dpi_claim){.handle = before[i], .kind = TD_DPI_MEMORY};
    td_dpi_claim *rest = claims + count + taken;
    rest[0] = (td_dpi_claim){.handle = golden, .kind = TD_DPI_TENSOR};
    rest[1] = (td_dpi_claim){.handle = layout, .kind = TD_DPI_LAYOUT};
    rest[2] = (td_dpi_claim){.handle = mask, .kind = TD_DPI_TENSOR, .optional = true};
    status = td_dpi_claim_all(call, claims, count + taken + 3, message);
    if (status)
        goto done;
    for (size_t i = 0; i < count + taken; i++)
        memories[i] = claims[i].object;
    status = td_compare(&(td_comparison){.banks = memories,
                                         .bank_count = count,
                                         .golden = rest[0].object,
                                         .layout = rest[1].object,
                                         .policy = policy,
                                         .as = as,
                                         .mask = rest[2].object,
                                         .snapshot = taken ? memories + count : NULL},
                        &made);
    td_dpi_release(claims, count + taken + 3);
    td_dpi_done(status, message);
    if (!status)
        status = (td_status)td_dpi_report_give(&made, report, message);

done:
    free(memories);
    free(claims);
    free(before);
    free(handles);
    return (int)status;
}
