/* Codes between two memories: td_code_encode and td_code_check. Everything is checked before a word is written. */
#include "base/record.h"
#include "base/text.h"
#include "codes/code.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <string.h>

static td_status check_memory(const td_code *code, const td_memory *memory, bool coded, uint64_t first, uint64_t count)
{
    const uint64_t width = coded ? code->coded_bits : code->data_bits;
    if (memory->width_bits != width)
        return td_fail(TD_ARGUMENT,
                       "%s words of %" PRIu64 " bits in memory \"%s\", and the code \"%.60s\" has %" PRIu64
                       " bits there; pass a memory of %" PRIu64 " bits, or a code made for this one",
                       coded ? "coded" : "data", memory->width_bits, memory->name, code->text, width, width);
    if (count == 0 || first >= memory->depth_words || count > memory->depth_words - first)
        return td_fail(TD_RANGE,
                       "%" PRIu64 " word%s from 0x%" PRIx64 " in memory \"%s\" of %" PRIu64
                       " words; pass words inside it, at least one",
                       count, td_text_s(count), first, memory->name, memory->depth_words);
    return TD_OK;
}

static td_status check_known(const td_memory *memory, uint64_t first, uint64_t count)
{
    td_status status = TD_OK;
    for (uint64_t w = first; memory->unknown_any && w < first + count && !status; w++)
        status = td_x_check_words(memory, &w, 1);
    return status;
}

/* What is written is no longer x or z. */
static void make_known(td_memory *memory, uint64_t first, uint64_t count)
{
    if (memory->unknown_any)
        memset(memory->unknown->data + first * memory->word_bytes, 0, (size_t)count * memory->word_bytes);
}

static td_status refuse_null(const char *call, const td_code *code, const void *memory, const char *what)
{
    return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass one", call, !code ? "the code" : !memory ? what : "the result");
}

td_status td_code_encode(const td_code *code, const td_memory *data, uint64_t first, uint64_t count, td_memory *coded)
{
    if (!code || !data || !coded)
        return refuse_null("code_encode", code, NULL, data ? "the coded memory" : "the data memory");
    td_status status = check_memory(code, data, false, first, count);
    if (!status)
        status = check_memory(code, coded, true, first, count);
    if (!status)
        status = td_memory_bring_in(data, first, count);
    if (!status)
        status = td_memory_bring_for_write(coded, false, first, count);
    if (!status)
        status = check_known(data, first, count);
    if (status) {
        td_fail_prefix("code_encode: ");
        return status;
    }
    td_code_encode_words(code, coded->data + first * coded->word_bytes, data->data + first * data->word_bytes, first,
                         (size_t)count);
    make_known(coded, first, count);
    status = td_memory_finish_write(coded, first, count);
    if (status)
        td_fail_prefix("code_encode: ");
    return td_record_other("code_encode", status);
}

td_status td_code_check(const td_code *code, const td_memory *coded, uint64_t first, uint64_t count, td_memory *data,
                        td_code_result *result)
{
    if (!code || !coded || !result)
        return refuse_null("code_check", code, coded, "the coded memory");
    td_status status = check_memory(code, coded, true, first, count);
    if (!status && data)
        status = check_memory(code, data, false, first, count);
    if (!status)
        status = td_memory_bring_in(coded, first, count);
    if (!status && data)
        status = td_memory_bring_for_write(data, false, first, count);
    if (!status)
        status = check_known(coded, first, count);
    if (status) {
        td_fail_prefix("code_check: ");
        return status;
    }
    td_code_result found = {0};
    td_code_check_words(code, data ? data->data + first * data->word_bytes : NULL,
                        coded->data + first * coded->word_bytes, first, (size_t)count, &found, NULL, NULL);
    if (data) {
        make_known(data, first, count);
        status = td_memory_finish_write(data, first, count);
    }
    if (status)
        td_fail_prefix("code_check: ");
    else
        *result = found;
    return data ? td_record_other("code_check", status) : status;
}
