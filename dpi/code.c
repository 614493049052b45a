/* Codes and faults for SystemVerilog. Errors of a check cross as lines of text beside their numbers. */
#include "handles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <svdpi.h>

/* -- codes -- */

TD_API int td_dpi_code_create(const char *text, td_dpi_u64 data_bits, td_dpi_u64 *handle, const char **whole,
                              td_dpi_u64 *coded_bits, td_dpi_u64 *check_bits, td_dpi_u64 *subwords, int *corrects,
                              const char **message)
{
    static _Thread_local char *kept;
    td_code *code = NULL;
    *handle = *coded_bits = *check_bits = *subwords = 0;
    *corrects = 0;
    *whole = "";
    td_status status = td_code_create(text, data_bits, &code);
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_keep(&kept, td_code_text(code), whole, message);
    if (!status) {
        *coded_bits = td_code_coded_bits(code);
        *check_bits = td_code_check_bits(code);
        *subwords = td_code_subwords(code);
        *corrects = td_code_corrects(code);
        status = td_dpi_handle_create(TD_DPI_CODE, code, handle, message);
    }
    if (status) {
        td_code_destroy(&code);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_code_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("code_destroy", TD_DPI_CODE, handle, &object, message);
    if (status)
        return (int)status;
    td_code *code = object;
    td_code_destroy(&code);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_code_encode(td_dpi_u64 code, td_dpi_u64 data, td_dpi_u64 first, td_dpi_u64 count, td_dpi_u64 coded,
                              const char **message)
{
    td_dpi_claim claims[] = {{.handle = code, .kind = TD_DPI_CODE},
                             {.handle = data, .kind = TD_DPI_MEMORY},
                             {.handle = coded, .kind = TD_DPI_MEMORY}};
    td_status status = td_dpi_claim_all("code_encode", claims, 3, message);
    if (status)
        return (int)status;
    status = td_code_encode(claims[0].object, claims[1].object, first, count, claims[2].object);
    return td_dpi_end(claims, 3, status, message);
}

/* One line for each of the first errors. */
void td_dpi_print_errors(const td_code_result *result, char *text)
{
    const size_t room = TD_DPI_ERRORS_BYTES;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < result->kept && used < room; i++) {
        const td_code_error *e = &result->error[i];
        char what[64] = "not correctable";
        if (e->kind == TD_CODE_CORRECTED)
            snprintf(what, sizeof what, "bit %" PRIu64 " corrected", e->bit);
        else if (e->kind == TD_CODE_WRONG_ADDRESS)
            snprintf(what, sizeof what, "bit %" PRIu64 " of the address is wrong", e->bit);
        used += (size_t)snprintf(text + used, room - used, "%sword 0x%" PRIx64 " subword %" PRIu64 ": %s",
                                 i ? "\n" : "", e->word, e->subword, what);
    }
}

TD_API int td_dpi_code_check(td_dpi_u64 code, td_dpi_u64 coded, td_dpi_u64 first, td_dpi_u64 count, td_dpi_u64 data,
                             td_dpi_u64 *corrected, td_dpi_u64 *uncorrectable, const char **errors,
                             const char **message)
{
    static _Thread_local char text[TD_DPI_ERRORS_BYTES];
    td_dpi_claim claims[] = {{.handle = code, .kind = TD_DPI_CODE},
                             {.handle = coded, .kind = TD_DPI_MEMORY},
                             {.handle = data, .kind = TD_DPI_MEMORY, .optional = true}};
    td_code_result result = {0};
    *corrected = *uncorrectable = 0;
    *errors = "";
    td_status status = td_dpi_claim_all("code_check", claims, 3, message);
    if (status)
        return (int)status;
    status = td_code_check(claims[0].object, claims[1].object, first, count, claims[2].object, &result);
    if (!status) {
        *corrected = result.corrected;
        *uncorrectable = result.uncorrectable;
        td_dpi_print_errors(&result, text);
        *errors = text;
    }
    return td_dpi_end(claims, 3, status, message);
}

/* -- faults -- */

static int give_faults(td_faults *faults, td_memory *memory, td_dpi_u64 *handle, td_dpi_u64 *count,
                       const char **message)
{
    *count = td_faults_count(faults);
    const td_status status = td_dpi_handle_create(TD_DPI_FAULTS, faults, handle, message);
    if (status) { /* nothing has changed when a call fails */
        (void)td_memory_undo(memory, &faults, NULL);
        *count = 0;
    }
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_memory_inject(td_dpi_u64 memory, const char *what, td_dpi_u64 code, td_dpi_u64 *faults,
                                td_dpi_u64 *count, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = code, .kind = TD_DPI_CODE, .optional = true}};
    td_faults *made = NULL;
    *faults = *count = 0;
    td_status status = td_dpi_claim_all("memory_inject", claims, 2, message);
    if (status)
        return (int)status;
    status = td_memory_inject(claims[0].object, what, claims[1].object, &made);
    const int given =
        status ? td_dpi_done(status, message) : give_faults(made, claims[0].object, faults, count, message);
    td_dpi_release(claims, 2);
    return given;
}

bool td_dpi_read_coordinate(const char *text, size_t rank, uint64_t *out)
{
    size_t used = 0;
    for (const char *at = text; *at;) {
        char *end = NULL;
        if (*at == ' ' || *at == ',') {
            at++;
            continue;
        }
        if (*at < '0' || *at > '9' || used == rank)
            return false;
        out[used++] = strtoull(at, &end, 10);
        at = end;
    }
    return used == rank;
}

TD_API int td_dpi_backdoor_inject(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                  const char *coordinate, const char *what, td_dpi_u64 code, td_dpi_u64 *faults,
                                  td_dpi_u64 *count, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR},
                             {.handle = layout, .kind = TD_DPI_LAYOUT},
                             {.handle = code, .kind = TD_DPI_CODE, .optional = true}};
    uint64_t at[TD_MAX_RANK] = {0};
    td_faults *made = NULL;
    *faults = *count = 0;
    td_status status = td_dpi_claim_all("backdoor_inject", claims, 4, message);
    if (status)
        return (int)status;
    int given = 0;
    const size_t rank = td_tensor_shape(claims[1].object).rank;
    if (!td_dpi_read_coordinate(coordinate, rank, at))
        given =
            td_dpi_fail(TD_SHAPE, message,
                        "backdoor_inject \"%s\": coordinate \"%s\" of a tensor of %zu dimensions; pass a number for "
                        "each, as \"0 3 1\"",
                        td_memory_name(claims[0].object), coordinate, rank);
    else {
        status = td_backdoor_inject(claims[0].object, claims[1].object, claims[2].object, as, at, what,
                                    claims[3].object, &made);
        given = status ? td_dpi_done(status, message) : give_faults(made, claims[0].object, faults, count, message);
    }
    td_dpi_release(claims, 4);
    return given;
}

TD_API int td_dpi_faults_at(td_dpi_u64 faults, td_dpi_u64 number, td_dpi_u64 *word, td_dpi_u64 *bit,
                            const char **message)
{
    td_dpi_claim claim = {.handle = faults, .kind = TD_DPI_FAULTS};
    *word = *bit = 0;
    td_status status = td_dpi_claim_one("faults_at", &claim, message);
    if (status)
        return (int)status;
    const td_fault fault = td_faults_at(claim.object, (size_t)number);
    *word = fault.word;
    *bit = fault.bit;
    return td_dpi_end(&claim, 1, TD_OK, message);
}

/* The record is destroyed when it was undone, and kept when the memory is refused. */
TD_API int td_dpi_memory_undo(td_dpi_u64 memory, td_dpi_u64 faults, td_dpi_u64 *left, const char **message)
{
    td_dpi_claim claim = {.handle = memory, .kind = TD_DPI_MEMORY};
    void *object = NULL;
    uint64_t changed = 0;
    *left = 0;
    td_status status = td_dpi_claim_one("memory_undo", &claim, message);
    if (status)
        return (int)status;
    status = td_dpi_handle_take("memory_undo", TD_DPI_FAULTS, faults, &object, message);
    if (status) {
        td_dpi_release(&claim, 1);
        return (int)status;
    }
    td_faults *record = object;
    status = td_memory_undo(claim.object, &record, &changed);
    *left = changed;
    td_faults_destroy(&record);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_faults_destroy(td_dpi_u64 faults, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("faults_destroy", TD_DPI_FAULTS, faults, &object, message);
    if (status)
        return (int)status;
    td_faults *record = object;
    td_faults_destroy(&record);
    return td_dpi_done(TD_OK, message);
}
