/* Layouts for SystemVerilog: life, files, their strings and what they mean. */
#include "handles.h"

#include <svdpi.h>

static int keep(td_status status, td_layout *layout, td_dpi_u64 *handle, const char **message)
{
    *handle = 0;
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_LAYOUT, layout, handle, message);
    if (status) {
        td_layout_destroy(&layout);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_layout_create(const char *pattern, const char *options, const char *address, td_dpi_u64 *handle,
                                const char **message)
{
    td_layout *layout = NULL;
    td_status status = td_layout_create(pattern, options, address, &layout);
    return keep(status, layout, handle, message);
}

TD_API int td_dpi_layout_open(const char *path, const char *name, td_dpi_u64 *handle, const char **message)
{
    td_layout *layout = NULL;
    td_status status = td_layout_open(path, name, &layout);
    return keep(status, layout, handle, message);
}

TD_API int td_dpi_layout_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("layout_destroy", TD_DPI_LAYOUT, handle, &object, message);
    if (status)
        return (int)status;
    td_layout *layout = object;
    td_layout_destroy(&layout);
    return td_dpi_done(TD_OK, message);
}

/* The canonical strings, copied while the layout is claimed. */
TD_API int td_dpi_layout_info(td_dpi_u64 handle, const char **pattern, const char **options, const char **address,
                              const char **as, const char **message)
{
    static _Thread_local char *kept[4];
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_LAYOUT};
    *pattern = *options = *address = *as = "";
    td_status status = td_dpi_claim_one("layout_info", &claim, message);
    if (status)
        return (int)status;
    const char *const text[4] = {td_layout_pattern(claim.object), td_layout_options(claim.object),
                                 td_layout_address(claim.object), td_layout_as(claim.object)};
    const char **const out[4] = {pattern, options, address, as};
    for (size_t i = 0; i < 4 && !status; i++)
        status = td_dpi_keep(&kept[i], text[i], out[i], message);
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

/* The text is kept until the next explanation on this thread: the simulator reads it after this returns. */
TD_API int td_dpi_layout_explain(td_dpi_u64 handle, const char *dtype, const char *shape, const char *as,
                                 td_dpi_u64 width_bits, td_dpi_u64 depth_words, td_dpi_u64 banks, const char **text,
                                 const char **message)
{
    static _Thread_local char *last;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_LAYOUT};
    td_scene scene = {.dtype = dtype, .as = as, .width_bits = width_bits, .depth_words = depth_words, .banks = banks};
    *text = "";
    td_status status = td_dpi_claim_one("layout_explain", &claim, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    status = td_shape_parse(shape, &scene.shape);
    if (!status)
        status = td_layout_explain(claim.object, &scene, &last);
    td_dpi_release(&claim, 1);
    if (!status)
        *text = last;
    return td_dpi_done(status, message);
}
