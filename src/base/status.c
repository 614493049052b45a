/* See status.h. The message lives in thread-local storage. The DPI layer copies it out before its call returns, because
 * a simulator may make the next call from another thread. */
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[TD_MESSAGE_BYTES];

/* What does not fit is cut, and shows it. */
static void end_cut(char *text, size_t bytes, int needed)
{
    if (needed < 0 || (size_t)needed >= bytes)
        memcpy(text + bytes - 4, "...", 4);
}

td_status(td_fail)(td_status status, const char *fmt, ...)
{
    char text[TD_MESSAGE_BYTES]; /* the arguments may point into the old message */
    va_list args;
    va_start(args, fmt);
    end_cut(text, sizeof text, td_text_vprint(text, sizeof text, fmt, args));
    va_end(args);
    memcpy(message, text, strlen(text) + 1);
    return status;
}

void td_fail_prefix(const char *fmt, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    /* at most half for the context, so that what it is the context of always shows */
    end_cut(text, sizeof text / 2, td_text_vprint(text, sizeof text / 2, fmt, args));
    va_end(args);
    const size_t used = strlen(text), left = sizeof text - used;
    end_cut(text + used, left, snprintf(text + used, left, "%s", message));
    memcpy(message, text, strlen(text) + 1);
}

void td_fail_append(const char *fmt, ...)
{
    size_t used = strlen(message);
    va_list args;
    va_start(args, fmt);
    if (used < sizeof message - 4)
        end_cut(message + used, sizeof message - used,
                td_text_vprint(message + used, sizeof message - used, fmt, args));
    va_end(args);
}

void td_fail_caret(const char *text, size_t at, size_t length)
{
    size_t first = at;
    while (first > 0 && text[first - 1] != '\n')
        first--;
    const size_t line = strcspn(text + first, "\n");
    td_fail_append("\n    %.*s\n    ", (int)line, text + first);
    for (size_t i = first; i < at; i++)
        td_fail_append("%c", text[i] == '\t' ? '\t' : ' ');
    td_fail_append("^");
    for (size_t i = 1; i < length && at + i < first + line; i++)
        td_fail_append("~");
}

td_status(td_fail_alloc)(size_t bytes)
{
    return td_fail(TD_NO_MEMORY, "the system refused %zu bytes; free memory or move a smaller tensor", bytes);
}

const char *td_last_error(void)
{
    return message;
}

const char *td_status_name(td_status status)
{
    static const char *const names[] = {"OK",      "ARGUMENT", "HANDLE",    "DTYPE",   "PATTERN",      "OPTION",
                                        "ADDRESS", "SHAPE",    "RANGE",     "ALIAS",   "OVERFLOW",     "DISAGREE",
                                        "FILE",    "FORMAT",   "NO_MEMORY", "X_STATE", "UNCORRECTABLE"};
    size_t n = (size_t)status;
    return n < sizeof names / sizeof names[0] ? names[n] : "UNKNOWN";
}

const char *td_version(void)
{
    return TD_VERSION;
}

void td_free(void *p)
{
    free(p);
}
