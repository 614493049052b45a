/* See step_options.h. */
#include "tensor/step_options.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* In the order of td_step_over, then the other words. */
static const char *const known[] = {"error", "sat", "wrap", "inf", "axis="};
enum { KNOWN = sizeof known / sizeof known[0] };

static td_status fail_word(const char *options, const char *word)
{
    const char *near = td_suggest(word, known, KNOWN);
    return td_fail(TD_OPTION, "unknown word \"%s\" in options \"%s\"; %s%s%s error, sat, wrap, inf and axis=N", word,
                   options, near ? "did you mean \"" : "the words are", near ? near : "",
                   near ? "\"? the words are" : "");
}

static td_status read_word(const char *options, const char *word, td_step_words *out)
{
    if (strncmp(word, "axis=", 5) == 0) {
        const char *at = word + 5;
        if (out->has_axis || !td_text_number(&at, &out->axis) || *at)
            return td_fail(TD_OPTION, "\"%s\" in options \"%s\" is not the number of one dimension; write axis=0", word,
                           options);
        out->has_axis = true;
        return TD_OK;
    }
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(word, known[i]) == 0) {
            if (out->over != TD_STEP_OVER_OWN)
                return td_fail(TD_OPTION, "options \"%s\" say two things for results past the range; keep one of them",
                               options);
            out->over = (td_step_over)i;
            return TD_OK;
        }
    return fail_word(options, word);
}

td_status td_step_options_read(const char *options, td_step_words *out)
{
    *out = (td_step_words){.over = TD_STEP_OVER_OWN};
    for (const char *at = options ? options : "";;) {
        char word[32];
        at += strspn(at, " \t,");
        const size_t length = strcspn(at, " \t,");
        if (length == 0)
            return TD_OK;
        const size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, at, kept);
        word[kept] = 0;
        at += length;
        const td_status status = read_word(options, word, out);
        if (status)
            return status;
    }
}

const char *td_step_over_name(td_step_over over)
{
    return over < TD_STEP_OVER_OWN ? known[over] : "";
}
