/* See names.h. */
#include "files/parts/names.h"

#include "base/record.h"
#include "base/suggest.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static size_t word_length(const char *at)
{
    return strcspn(at, " \t");
}

td_status td_part_names_split(const char *path, const char *how, td_part_names *out)
{
    *out = (td_part_names){.path = path, .how = strdup(how)};
    if (!out->how)
        return td_fail_alloc(strlen(how) + 1);
    for (const char *at = skip_blanks(how); *at; at = skip_blanks(at + word_length(at)))
        if (word_length(at) == 4 && memcmp(at, "from", 4) == 0) {
            out->how[at - how] = '\0';
            out->list = at + 4;
            break;
        }
    for (size_t end = strlen(out->how); end && (out->how[end - 1] == ' ' || out->how[end - 1] == '\t'); end--)
        out->how[end - 1] = '\0';
    return TD_OK;
}

void td_part_names_free(td_part_names *names)
{
    free(names->how);
    *names = (td_part_names){0};
}

const char *td_part_names_find(const td_part_names *names, const char *role, size_t *length)
{
    const size_t key = strlen(role);
    for (const char *at = names->list ? skip_blanks(names->list) : ""; *at; at = skip_blanks(at + word_length(at)))
        if (strncmp(at, role, key) == 0 && at[key] == '=') {
            *length = word_length(at) - key - 1;
            return at + key + 1;
        }
    return NULL;
}

/* "qweight=, qzeros=, scales= and g_idx=" */
static void add_roles(td_text *out, const char *const *roles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        td_text_add(out, "%s%s=", i == 0 ? "" : i + 1 == count ? " and " : ", ", roles[i]);
}

static td_status fail_word(const td_part_names *names, const char *word, const char *const *roles, size_t count)
{
    td_text text = {0};
    char *found = strndup(word, word_length(word));
    if (!found)
        return td_fail_alloc(word_length(word) + 1);
    found[strcspn(found, "=")] = '\0';
    const char *near = td_suggest(found, roles, count);
    add_roles(&text, roles, count);
    const td_status status = td_fail(TD_OPTION, "\"%.*s\" behind from names no tensor of \"%s\"; %s%s%s%s",
                                     (int)word_length(word), word, names->how, near ? "did you mean " : "they are ",
                                     near ? near : "", near ? "=? they are " : "", text.text ? text.text : "");
    free(found);
    free(text.text);
    return status;
}

td_status td_part_names_check(const td_part_names *names, const char *const *roles, size_t count)
{
    unsigned seen = 0;
    for (const char *at = names->list ? skip_blanks(names->list) : ""; *at; at = skip_blanks(at + word_length(at))) {
        const size_t key = strcspn(at, "= \t");
        size_t role = 0;
        while (role < count && (strlen(roles[role]) != key || memcmp(roles[role], at, key) != 0))
            role++;
        if (role == count || at[key] != '=' || word_length(at) == key + 1)
            return fail_word(names, at, roles, count);
        if (seen >> role & 1)
            return td_fail(TD_OPTION, "%s= stands twice behind from; keep one of them", roles[role]);
        seen |= 1U << role;
    }
    return TD_OK;
}

td_status td_part_names_need(const td_part_names *names, const char *role)
{
    size_t length = 0;
    if (!names->list || td_part_names_find(names, role, &length))
        return TD_OK;
    return td_fail(TD_OPTION, "no %s= behind from in \"%s from%s\"; name the tensor that it is", role, names->how,
                   names->list);
}

td_status td_part_names_open(const td_part_names *names, const char *role, const char *suffix, const char *dtype,
                             td_tensor **out)
{
    td_text path = {0};
    size_t length = 0;
    const char *name = td_part_names_find(names, role, &length);
    td_status status = td_part_names_need(names, role);
    if (status)
        return status;
    if (name)
        td_text_add(&path, "%s:%.*s", names->path, (int)length, name);
    else
        td_text_add(&path, "%s%s", names->path, suffix);
    td_record_pause(); /* a part is no tensor of its own in a program */
    status = path.failed ? td_fail_alloc(path.room) : td_tensor_open(path.text, dtype, out);
    td_record_resume();
    free(path.text);
    return status;
}
