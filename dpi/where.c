/* Where elements and bits lie, for SystemVerilog. An answer crosses as two texts, for a reader and in numbers, so that
 * nothing is left to destroy. */
#include "handles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <svdpi.h>

#define NUMBERS 13      /* of a run; td_where in sv/ counts on it */
#define NUMBER_BYTES 21 /* of 64 bits, and a blank */

/* Every run as its numbers, decimal. NULL without memory; the caller frees it. */
static char *print_numbers(const td_where *where)
{
    const size_t count = td_where_count(where), bytes = count * NUMBERS * NUMBER_BYTES + 1;
    char *text = calloc(1, bytes);
    size_t used = 0;
    for (size_t i = 0; text && i < count; i++) {
        td_where_run r;
        (void)td_where_at(where, i, &r);
        const uint64_t number[NUMBERS] = {r.kind,     r.bits, r.bank,   r.word, r.bit,    (uint64_t)r.has_elem, r.elem,
                                          r.elem_bit, r.copy, r.number, r.row,  r.column, (uint64_t)r.step};
        for (size_t n = 0; n < NUMBERS; n++)
            used += (size_t)snprintf(text + used, bytes - used, "%" PRIu64 " ", number[n]);
    }
    return text;
}

static int give(const td_where *where, const char **text, const char **numbers, const char **message)
{
    static _Thread_local char *kept_text, *kept_numbers;
    char *lines = NULL, *values = print_numbers(where);
    td_status status = td_where_text(where, &lines);
    int given = status ? td_dpi_done(status, message) : 0;
    if (!given && !values)
        given = td_dpi_fail(TD_NO_MEMORY, message, "where: no memory for %zu runs; ask for fewer bits at once",
                            td_where_count(where));
    if (!given)
        given = (int)td_dpi_keep(&kept_text, lines ? lines : "", text, message);
    if (!given)
        given = (int)td_dpi_keep(&kept_numbers, values, numbers, message);
    td_free(lines);
    free(values);
    return given ? given : td_dpi_done(TD_OK, message);
}

/* Asks, and gives the answer. `coordinate` is "" for a question about bits. */
static int ask(const td_where_question *about, const char *coordinate, const char **text, const char **numbers,
               const char **message)
{
    uint64_t at[TD_MAX_RANK] = {0};
    td_where *where = NULL;
    td_where_question question = *about;
    const size_t rank = question.tensor ? td_tensor_shape(question.tensor).rank : 0;
    question.coordinate = *coordinate ? at : NULL;
    if (*coordinate && question.tensor && !td_dpi_read_coordinate(coordinate, rank, at))
        return td_dpi_fail(TD_SHAPE, message,
                           "where \"%s\": coordinate \"%s\" of a tensor of %zu dimensions; pass a number for each, as "
                           "\"0 3 1\"",
                           td_memory_name(question.banks[0]), coordinate, rank);
    const td_status status = td_where_find(&question, &where);
    const int given = status ? td_dpi_done(status, message) : give(where, text, numbers, message);
    td_where_destroy(&where);
    return given;
}

/* in_macro says whose bits these are. */
TD_API int td_dpi_where(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, const char *coordinate,
                        int in_macro, td_dpi_u64 macro, td_dpi_u64 word, td_dpi_u64 lsb, td_dpi_u64 bits,
                        const char **text, const char **numbers, const char **message)
{
    td_dpi_claim claims[] = {{.handle = memory, .kind = TD_DPI_MEMORY},
                             {.handle = tensor, .kind = TD_DPI_TENSOR, .optional = true},
                             {.handle = layout, .kind = TD_DPI_LAYOUT, .optional = true}};
    *text = *numbers = "";
    const td_status status = td_dpi_claim_all("where", claims, 3, message);
    if (status)
        return (int)status;
    td_memory *const banks[] = {claims[0].object};
    const td_where_question question = {.banks = banks,
                                        .bank_count = 1,
                                        .tensor = claims[1].object,
                                        .layout = claims[2].object,
                                        .as = as,
                                        .in_macro = in_macro,
                                        .macro = (size_t)macro,
                                        .word = word,
                                        .lsb = lsb,
                                        .bits = bits};
    const int given = ask(&question, coordinate, text, numbers, message);
    td_dpi_release(claims, 3);
    return given;
}

/* The same of a list of banks, of which `bank` has the bits. */
TD_API int td_dpi_where_banks(td_dpi_u64 list, td_dpi_u64 bank, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                              const char *coordinate, int in_macro, td_dpi_u64 macro, td_dpi_u64 word, td_dpi_u64 lsb,
                              td_dpi_u64 bits, const char **text, const char **numbers, const char **message)
{
    const td_dpi_claim more[] = {{.handle = tensor, .kind = TD_DPI_TENSOR}, {.handle = layout, .kind = TD_DPI_LAYOUT}};
    td_dpi_memories c;
    *text = *numbers = "";
    int given = (int)td_dpi_claim_list("where", list, more, 2, &c, message);
    if (!given && !c.count) {
        td_dpi_release(c.claim, 2);
        given = td_dpi_fail(TD_ARGUMENT, message, "where: a set of no banks; add one");
    } else if (!given) {
        const td_where_question question = {.banks = c.memory,
                                            .bank_count = c.count,
                                            .tensor = c.claim[c.count].object,
                                            .layout = c.claim[c.count + 1].object,
                                            .as = as,
                                            .in_macro = in_macro,
                                            .bank = bank,
                                            .macro = (size_t)macro,
                                            .word = word,
                                            .lsb = lsb,
                                            .bits = bits};
        given = ask(&question, coordinate, text, numbers, message);
        td_dpi_release(c.claim, c.count + 2);
    }
    td_dpi_memories_free(&c);
    return given;
}
