/* `tensordoor code`: a memory image of data into one of coded words, or coded words back, with what was wrong in them.
 * Gaps of the image stay gaps. */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>

enum { CODE, WIDTH, CHECK, FLAGS };

static const tool_usage usage = {
    .command = "code",
    .file = "A",
    .file_required = true,
    .second_file = "B",
    .about = "Writes the words of the image A with their check bits to the image B. With --check A has coded words: B "
             "gets their\n"
             "data, corrected where they can be, and the errors are said; the exit code is 1 when some cannot.",
};

static void print_result(const td_code_result *result)
{
    printf("%" PRIu64 " word%s, %" PRIu64 " error%s corrected, %" PRIu64 " not correctable\n", result->words,
           result->words == 1 ? "" : "s", result->corrected, result->corrected == 1 ? "" : "s", result->uncorrectable);
    for (size_t i = 0; i < result->kept; i++) {
        const td_code_error *e = &result->error[i];
        printf("word 0x%" PRIx64 " subword %" PRIu64 ": ", e->word, e->subword);
        if (e->kind == TD_CODE_CORRECTED)
            printf("bit %" PRIu64 " corrected\n", e->bit);
        else if (e->kind == TD_CODE_WRONG_ADDRESS)
            printf("bit %" PRIu64 " of the address is wrong\n", e->bit);
        else
            printf("not correctable, syndrome 0x%" PRIx64 "\n", e->syndrome);
    }
    if (result->corrected + result->uncorrectable > result->kept)
        printf("and %" PRIu64 " more\n", result->corrected + result->uncorrectable - result->kept);
}

/* Every span of the image in turn; results are added up. */
static td_status run_spans(const td_code *code, bool check, td_memory *from, td_memory *to, const td_span *spans,
                           size_t count, td_code_result *sum)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        td_code_result part = {0};
        status = check ? td_code_check(code, from, spans[i].first, spans[i].count, to, &part)
                       : td_code_encode(code, from, spans[i].first, spans[i].count, to);
        sum->words += part.words;
        sum->corrected += part.corrected;
        sum->uncorrectable += part.uncorrectable;
        for (size_t k = 0; k < part.kept && sum->kept < TD_CODE_FIRST; k++)
            sum->error[sum->kept++] = part.error[k];
    }
    return status;
}

static int run_code(const td_code *code, const char *a, const char *b, bool check)
{
    const uint64_t data_bits = td_code_data_bits(code), coded_bits = td_code_coded_bits(code);
    const uint64_t from_bits = check ? coded_bits : data_bits;
    td_memory *from = NULL, *to = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    td_code_result sum = {0};
    int exit_code = TOOL_OK;
    if (td_image_spans(a, from_bits, &spans, &count) != TD_OK ||
        td_memory_create(a, from_bits, spans[count - 1].first + spans[count - 1].count, &from) != TD_OK ||
        td_memory_create(b, check ? data_bits : coded_bits, td_memory_depth_words(from), &to) != TD_OK)
        exit_code = tool_fail_library(usage.command);
    else if (!tool_load_image(usage.command, from, a))
        exit_code = TOOL_FAILED;
    else if (run_spans(code, check, from, to, spans, count, &sum) != TD_OK ||
             td_memory_save_file(to, b, spans, count) != TD_OK)
        exit_code = tool_fail_library(usage.command);
    else if (check) {
        print_result(&sum);
        exit_code = sum.uncorrectable ? TOOL_DIFFERS : TOOL_OK;
    }
    td_memory_destroy(&from);
    td_memory_destroy(&to);
    td_free(spans);
    return exit_code;
}

int tool_code(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [CODE] = {"code", 'c', true, "C", "which code, as \"39_32\" or \"parity odd width=8\"", NULL},
        [WIDTH] = {"width", 'w', true, "W", "bits of a word of data", NULL},
        [CHECK] = {"check", 0, false, NULL, "the other way: A has coded words, B gets their data", NULL},
    };
    const char *files[2] = {NULL, NULL};
    uint64_t width_bits = 0;
    td_code *code = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, files);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (!tool_number(&usage, &flags[WIDTH], &width_bits))
        return TOOL_FAILED;
    if (td_code_create(flags[CODE].value, width_bits, &code) != TD_OK)
        return tool_fail_library(usage.command);
    const int exit_code = run_code(code, files[0], files[1], flags[CHECK].value != NULL);
    td_code_destroy(&code);
    return exit_code;
}
