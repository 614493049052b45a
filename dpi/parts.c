/* Packings for SystemVerilog. Parts need no handle of their own: they cross as tensors, in the order of td_parts_name,
 * with their names in one text; a handle of 0 stands behind the last. */
#include "handles.h"

#include <stdio.h>
#include <svdpi.h>

#define MOST_PARTS 4

/* The parts into handles. When one is refused, those before it are freed again. */
static int give(td_parts **parts, const char **packing, const char **names, td_dpi_u64 *const *handles,
                const char **message)
{
    static _Thread_local char names_text[128];
    static _Thread_local char *kept;
    td_status status = td_dpi_keep(&kept, td_parts_packing(*parts), packing, message);
    size_t count = 0, used = 0;
    for (const char *name; !status && (name = td_parts_name(*parts, 0)); count++) {
        td_tensor *part = NULL;
        used += (size_t)snprintf(names_text + used, sizeof names_text - used, "%s%s", used ? " " : "", name);
        if (td_parts_take(*parts, name, &part) == TD_OK)
            status = td_dpi_handle_create(TD_DPI_TENSOR, part, handles[count], message);
        if (status)
            td_tensor_destroy(&part);
    }
    td_parts_destroy(parts);
    for (size_t i = 0; i < count && status; i++) {
        void *object = NULL;
        const char *ignored = NULL;
        if (*handles[i] && !td_dpi_handle_take("parts", TD_DPI_TENSOR, *handles[i], &object, &ignored)) {
            td_tensor *part = object;
            td_tensor_destroy(&part);
        }
        *handles[i] = 0;
    }
    *names = status ? "" : names_text;
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_parts_pack(td_dpi_u64 tensor, const char *text, const char **packing, const char **names,
                             td_dpi_u64 *part0, td_dpi_u64 *part1, td_dpi_u64 *part2, td_dpi_u64 *part3,
                             const char **message)
{
    td_dpi_u64 *const handles[MOST_PARTS] = {part0, part1, part2, part3};
    td_dpi_claim claim = {.handle = tensor, .kind = TD_DPI_TENSOR};
    td_parts *parts = NULL;
    *packing = *names = "";
    *part0 = *part1 = *part2 = *part3 = 0;
    td_status status = td_dpi_claim_one("parts_pack", &claim, message);
    if (status)
        return (int)status;
    status = td_parts_pack(claim.object, text, &parts);
    const int ended = td_dpi_end(&claim, 1, status, message);
    return status ? ended : give(&parts, packing, names, handles, message);
}

TD_API int td_dpi_parts_create(const char *text, const char *shape, const char **packing, const char **names,
                               td_dpi_u64 *part0, td_dpi_u64 *part1, td_dpi_u64 *part2, td_dpi_u64 *part3,
                               const char **message)
{
    td_dpi_u64 *const handles[MOST_PARTS] = {part0, part1, part2, part3};
    td_parts *parts = NULL;
    td_shape parsed;
    *packing = *names = "";
    *part0 = *part1 = *part2 = *part3 = 0;
    td_status status = td_shape_parse(shape, &parsed);
    if (!status)
        status = td_parts_create(text, parsed, &parts);
    return status ? td_dpi_done(status, message) : give(&parts, packing, names, handles, message);
}

/* A shape as td_shape_parse reads it. */
static const char *shape_text(td_shape shape)
{
    static _Thread_local char text[TD_MAX_RANK * 21];
    size_t used = 0;
    text[0] = 0;
    for (size_t d = 0; d < shape.rank; d++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%llu", d ? " " : "", (unsigned long long)shape.dim[d]);
    return text;
}

TD_API int td_dpi_parts_open(const char *path, const char *text, const char **packing, const char **shape,
                             const char **names, td_dpi_u64 *part0, td_dpi_u64 *part1, td_dpi_u64 *part2,
                             td_dpi_u64 *part3, const char **message)
{
    td_dpi_u64 *const handles[MOST_PARTS] = {part0, part1, part2, part3};
    td_parts *parts = NULL;
    *packing = *names = *shape = "";
    *part0 = *part1 = *part2 = *part3 = 0;
    const td_status status = td_parts_open(path, text, &parts);
    if (status)
        return td_dpi_done(status, message);
    *shape = shape_text(td_parts_shape(parts));
    return give(&parts, packing, names, handles, message);
}

/* Parts of the library over tensors of SystemVerilog, which stay claimed until they are given back. */
typedef struct joined {
    td_dpi_claim claim[MOST_PARTS + 1];
    size_t claims;
    td_parts *parts;
} joined;

static td_status join(const char *call, const char *packing, const char *shape, int count, const td_dpi_u64 *handles,
                      td_dpi_u64 also, joined *j, const char **message)
{
    td_tensor *tensors[MOST_PARTS] = {NULL};
    td_shape parsed;
    const size_t used = count < 0 ? 0 : count > MOST_PARTS ? MOST_PARTS : (size_t)count;
    *j = (joined){.claims = used};
    for (size_t i = 0; i < used; i++)
        j->claim[i] = (td_dpi_claim){.handle = handles[i], .kind = TD_DPI_TENSOR};
    if (also)
        j->claim[j->claims++] = (td_dpi_claim){.handle = also, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all(call, j->claim, j->claims, message);
    if (status)
        return status;
    for (size_t i = 0; i < used; i++)
        tensors[i] = j->claim[i].object;
    status = td_shape_parse(shape, &parsed);
    if (!status)
        status = td_parts_join(packing, parsed, tensors, used, &j->parts);
    if (status)
        td_dpi_end(j->claim, j->claims, status, message);
    return status;
}

static int leave(joined *j, td_status status, const char **message)
{
    td_parts_destroy(&j->parts);
    return td_dpi_end(j->claim, j->claims, status, message);
}

/* The same for a call that makes a tensor. */
static int leave_with(joined *j, td_status status, td_tensor *made, td_dpi_u64 *tensor, const char **message)
{
    const int ended = leave(j, status, message);
    if (status)
        return ended;
    status = td_dpi_handle_create(TD_DPI_TENSOR, made, tensor, message);
    if (status)
        td_tensor_destroy(&made);
    return (int)status;
}

TD_API int td_dpi_parts_unpack(const char *packing, const char *shape, int count, td_dpi_u64 part0, td_dpi_u64 part1,
                               td_dpi_u64 part2, td_dpi_u64 part3, const char *dtype, td_dpi_u64 *tensor,
                               const char **message)
{
    const td_dpi_u64 handles[MOST_PARTS] = {part0, part1, part2, part3};
    td_tensor *unpacked = NULL;
    joined j;
    *tensor = 0;
    td_status status = join("parts_unpack", packing, shape, count, handles, 0, &j, message);
    if (status)
        return (int)status;
    status = td_parts_unpack(j.parts, dtype, &unpacked);
    return leave_with(&j, status, unpacked, tensor, message);
}

TD_API int td_dpi_parts_record(const char *packing, const char *shape, int count, td_dpi_u64 part0, td_dpi_u64 part1,
                               td_dpi_u64 part2, td_dpi_u64 part3, const char *record, td_dpi_u64 *tensor,
                               const char **message)
{
    const td_dpi_u64 handles[MOST_PARTS] = {part0, part1, part2, part3};
    td_tensor *records = NULL;
    joined j;
    *tensor = 0;
    td_status status = join("parts_record", packing, shape, count, handles, 0, &j, message);
    if (status)
        return (int)status;
    status = td_parts_record(j.parts, record, &records);
    return leave_with(&j, status, records, tensor, message);
}

TD_API int td_dpi_parts_set_record(const char *packing, const char *shape, int count, td_dpi_u64 part0,
                                   td_dpi_u64 part1, td_dpi_u64 part2, td_dpi_u64 part3, const char *record,
                                   td_dpi_u64 tensor, const char **message)
{
    const td_dpi_u64 handles[MOST_PARTS] = {part0, part1, part2, part3};
    joined j;
    td_status status = join("parts_set_record", packing, shape, count, handles, tensor, &j, message);
    if (status)
        return (int)status;
    status = td_parts_set_record(j.parts, record, tensor ? j.claim[j.claims - 1].object : NULL);
    return leave(&j, status, message);
}

TD_API int td_dpi_parts_fit(const char *packing, const char *shape, int count, td_dpi_u64 part0, td_dpi_u64 part1,
                            td_dpi_u64 part2, td_dpi_u64 part3, td_dpi_u64 golden, const char **text,
                            const char **message)
{
    static _Thread_local char *kept;
    const td_dpi_u64 handles[MOST_PARTS] = {part0, part1, part2, part3};
    char *found = NULL;
    joined j;
    *text = "";
    td_status status = join("parts_fit", packing, shape, count, handles, golden, &j, message);
    if (status)
        return (int)status;
    status = td_parts_fit(j.parts, j.claim[j.claims - 1].object, &found);
    const int ended = leave(&j, status, message);
    if (status)
        return ended;
    status = td_dpi_keep(&kept, found, text, message);
    td_free(found);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}
