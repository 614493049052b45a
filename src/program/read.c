/* Words of a line, and messages with the line and a caret (read.h). Called by parse.c and expr.c; every room of a
 * program uses the two functions of places at the end. */
#include "program/read.h"

#include <stdio.h>
#include <string.h>

int td_read_peek(td_reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
    return *r->at == '#' ? '\0' : *r->at;
}

td_token td_read_token(const td_reader *r, const char *at, size_t length)
{
    return (td_token){.line = r->line, .column = (uint32_t)(at - r->line->text), .length = (uint32_t)length};
}

bool td_read_char(td_reader *r, char c)
{
    if (r->status || td_read_peek(r) != c)
        return false;
    r->at++;
    return true;
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    if (td_is_name_start(*at))
        while (td_is_name_char(at[n]))
            n++;
    return n;
}

bool td_read_word(td_reader *r, const char *word)
{
    const size_t length = strlen(word);
    if (r->status || td_read_peek(r) == 0 || name_length(r->at) != length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* The next characters up to a blank, for messages. */
static td_token next_chunk(td_reader *r)
{
    size_t length = 0;
    if (td_read_peek(r))
        while (r->at[length] && !strchr(" \t", r->at[length]))
            length++;
    return td_read_token(r, r->at, length);
}

static bool fail_expected(td_reader *r, const char *what)
{
    if (r->status)
        return false;
    const td_token found = next_chunk(r);
    if (!found.length)
        return td_read_fail(r, TD_FORMAT, "the line ends where %s is expected", what);
    return td_read_fail(r, TD_FORMAT, "\"%.*s\" where %s is expected", (int)found.length, r->at, what);
}

bool td_read_name(td_reader *r, const char *what, td_token *out)
{
    const size_t length = r->status || !td_read_peek(r) ? 0 : name_length(r->at);
    if (!length)
        return fail_expected(r, what);
    *out = td_read_token(r, r->at, length);
    out->text = td_arena_copy(&r->program->arena, r->at, length);
    if (!out->text)
        r->status = TD_NO_MEMORY;
    r->at += length;
    return out->text != NULL;
}

bool td_read_string(td_reader *r, const char *what, td_token *out)
{
    if (r->status || td_read_peek(r) != '"')
        return fail_expected(r, what);
    const char *const begin = r->at, *end = begin + 1;
    size_t used = 0;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    *out = td_read_token(r, begin, (size_t)(end - begin) + (*end == '"'));
    out->quoted = true;
    if (!*end)
        return td_read_fail_at(r, out, TD_FORMAT, "a text without its second quote; end it with \"");
    char *text = td_arena_get(&r->program->arena, (size_t)(end - begin));
    if (!text) {
        r->status = TD_NO_MEMORY;
        return false;
    }
    for (const char *c = begin + 1; c < end; c++) {
        c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
        text[used++] = *c;
    }
    out->text = text;
    r->at = end + 1;
    return true;
}

/* -- places -------------------------------------------------------------------------------------------------------- */

td_status td_program_place(const td_program *p, const td_token *at, td_status status)
{
    if (!at || !at->line)
        return status;
    char caret[160];
    const size_t most = sizeof caret - 1, length = at->length ? at->length : 1;
    memset(caret, '~', most);
    caret[length < most ? length : most] = 0;
    caret[0] = '^';
    if (p->path)
        td_fail_prefix("%s:%u: ", p->path, at->line->number);
    else
        td_fail_prefix("line %u: ", at->line->number);
    td_fail_append("\n    %s\n    %*s%s", at->line->text, (int)at->column, "", caret);
    return status;
}

static void write_message(char *text, size_t bytes, const char *fmt, va_list args)
{
    td_text_vprint(text, bytes, fmt, args);
}

td_status td_program_fail(const td_program *p, const td_token *at, td_status status, const char *fmt, ...)
{
    char text[TD_MESSAGE_BYTES / 2];
    va_list args;
    va_start(args, fmt);
    write_message(text, sizeof text, fmt, args);
    va_end(args);
    td_fail(status, "%s", text);
    return td_program_place(p, at, status);
}

bool td_read_fail(td_reader *r, td_status status, const char *fmt, ...)
{
    char text[TD_MESSAGE_BYTES / 2];
    va_list args;
    if (r->status)
        return false;
    va_start(args, fmt);
    write_message(text, sizeof text, fmt, args);
    va_end(args);
    const td_token here = next_chunk(r);
    r->status = status;
    td_program_fail(r->program, &here, status, "%s", text);
    return false;
}

bool td_read_fail_at(td_reader *r, const td_token *at, td_status status, const char *fmt, ...)
{
    char text[TD_MESSAGE_BYTES / 2];
    va_list args;
    if (r->status)
        return false;
    va_start(args, fmt);
    write_message(text, sizeof text, fmt, args);
    va_end(args);
    r->status = status;
    td_program_fail(r->program, at, status, "%s", text);
    return false;
}
