/* See members.h. Lists of names, and the one message about a name that is not there. */
#include "files/tensor/members.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many names a message shows. */
#define SHOWN 6

td_status td_member_list_add(td_member_list *list, const char *name, size_t length)
{
    if (list->room - list->used < length + 1) {
        size_t room = 2 * (list->used + length + 1) + 256;
        char *grown = realloc(list->text, room);
        if (!grown)
            return td_fail_alloc(room);
        list->text = grown;
        list->room = room;
    }
    memcpy(list->text + list->used, name, length);
    list->text[list->used + length] = '\0';
    list->used += length + 1;
    list->count++;
    return TD_OK;
}

void td_member_list_free(td_member_list *list)
{
    free(list->text);
    *list = (td_member_list){0};
}

td_status td_member_list_take(td_member_list *list, char ***names, size_t *count)
{
    size_t bytes = list->count * sizeof(char *) + list->used + 1;
    char **block = malloc(bytes);
    if (!block)
        return td_fail_alloc(bytes);
    char *text = (char *)(block + list->count);
    if (list->used)
        memcpy(text, list->text, list->used);
    for (size_t i = 0; i < list->count; i++) {
        block[i] = text;
        text += strlen(text) + 1;
    }
    *names = block;
    *count = list->count;
    return TD_OK;
}

const char *td_member_shown(const char *name, char *text)
{
    size_t used = 0;
    for (; name[used] && used + 1 < TD_MEMBER_SHOWN_BYTES; used++) {
        bool control = (unsigned char)name[used] < ' ' || name[used] == 0x7f;
        text[used] = '.';
        if (!control)
            text[used] = name[used];
    }
    text[used] = '\0';
    if (name[used])
        memcpy(text + used - 3, "...", 3);
    return text;
}

static void append_names(char *const *names, size_t count)
{
    char word[TD_MEMBER_SHOWN_BYTES];
    for (size_t i = 0; i < count && i < SHOWN; i++)
        td_fail_append("%s%s", i ? ", " : "", td_member_shown(names[i], word));
    if (count > SHOWN)
        td_fail_append(", ...");
}

static td_status fail_of_list(const td_member_list *list, const char *member)
{
    char **names = NULL;
    size_t count = 0;
    td_member_list copy = *list;
    if (list->count == 0)
        return td_fail(TD_FORMAT, "the file holds no tensors; save at least one");
    td_status status = td_member_list_take(&copy, &names, &count);
    if (status != TD_OK)
        return status;
    const char *near = member ? td_suggest(member, (const char *const *)names, count) : NULL;
    char word[TD_MEMBER_SHOWN_BYTES];
    if (near) {
        td_fail(TD_ARGUMENT, "the file holds no tensor \"%s\"; did you mean \"%s\"?", member,
                td_member_shown(near, word));
    } else if (member) {
        td_fail(TD_ARGUMENT, "the file holds no tensor \"%s\"; it holds ", member);
        append_names(names, count);
    } else {
        td_fail(TD_ARGUMENT, "the file holds %zu tensors (", count);
        append_names(names, count);
        td_fail_append("); name one, as FILE:%s", td_member_shown(list->text, word));
    }
    free(names);
    return TD_ARGUMENT;
}

td_status td_member_fail_missing(const td_container_format *format, const td_file_map *file, const char *member)
{
    td_member_list list = {0};
    td_status status = format->list(file, &list);
    if (status == TD_OK)
        status = fail_of_list(&list, member);
    td_member_list_free(&list);
    return status;
}
