/* See parts_layout.h, and section 11 of tensordoor.h. Made and freed here; what a packing has of parts is not known
 * here, so a wrong name is refused with the first tensor. */
#include "layout/parts_layout.h"

#include "base/suggest.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

td_status td_parts_layout_put(td_parts_layout *l, const char *part, const char *memory, td_layout *part_layout)
{
    td_part_place *p = &l->place[l->count];
    const char *const name[] = {part, memory};
    for (int i = 0; i < 2; i++)
        if (strlen(name[i]) >= TD_PLACE_NAME_BYTES)
            return td_fail(TD_ARGUMENT, "the name \"%.40s...\" is longer than %d characters; shorten it", name[i],
                           TD_PLACE_NAME_BYTES - 1);
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->place[i].part, part) == 0)
            return td_fail(TD_ARGUMENT, "the part \"%s\" has a layout already; add every part once", part);
    if (l->count == TD_MOST_PLACES)
        return td_fail(TD_ARGUMENT, "%d parts have a layout already, and no packing has more", TD_MOST_PLACES);
    memcpy(p->part, part, strlen(part) + 1);
    memcpy(p->memory, memory, strlen(memory) + 1);
    p->layout = part_layout;
    l->count++;
    return TD_OK;
}

td_status td_parts_layout_create(const char *packing, td_parts_layout **out)
{
    if (!packing || !out)
        return td_fail(TD_ARGUMENT, "parts_layout_create: %s is NULL; pass a packing such as \"mxfp4\", and an output",
                       packing ? "the output" : "the packing");
    td_parts_layout *l = calloc(1, sizeof *l);
    char *text = strdup(packing);
    if (!l || !text) {
        free(l);
        free(text);
        return td_fail_alloc(sizeof *l + strlen(packing));
    }
    l->packing = text;
    *out = l;
    return TD_OK;
}

td_status td_parts_layout_add(td_parts_layout *parts, const char *part, const char *memory, const td_layout *layout)
{
    td_layout *copy = NULL;
    if (!parts || !part || !layout)
        return td_fail(TD_ARGUMENT, "parts_layout_add: the %s is NULL; pass one",
                       !parts  ? "parts layout"
                       : !part ? "name of the part"
                               : "layout");
    td_status status = TD_OK;
    if (layout->as_text && *layout->as_text)
        status =
            td_fail(TD_OPTION,
                    "the layout of part \"%s\" says as %s, and a part has the dtype of its packing; take as out of "
                    "it",
                    part, layout->as_text);
    if (!status)
        status = td_layout_make(layout->pattern.text, layout->options_text, layout->address_text, &copy);
    if (!status)
        status = td_parts_layout_put(parts, part, memory ? memory : "", copy);
    if (status) {
        td_layout_destroy(&copy);
        td_fail_prefix("parts_layout_add: ");
    }
    return status;
}

void td_parts_layout_destroy(td_parts_layout **layout)
{
    if (!layout || !*layout)
        return;
    td_parts_layout *l = *layout;
    *layout = NULL;
    for (size_t i = 0; i < l->count; i++)
        td_layout_destroy(&l->place[i].layout);
    free(l->packing);
    free(l);
}

const char *td_parts_layout_packing(const td_parts_layout *l)
{
    return l ? l->packing : "";
}

size_t td_parts_layout_count(const td_parts_layout *l)
{
    return l ? l->count : 0;
}

const char *td_parts_layout_part(const td_parts_layout *l, size_t number)
{
    return l && number < l->count ? l->place[number].part : NULL;
}

const char *td_parts_layout_memory(const td_parts_layout *l, size_t number)
{
    return l && number < l->count ? l->place[number].memory : NULL;
}

const td_layout *td_parts_layout_layout(const td_parts_layout *l, size_t number)
{
    return l && number < l->count ? l->place[number].layout : NULL;
}

/* -- axes by name -- */

static td_status fail_axis(const char *packing, const char *name, size_t length, const td_pattern *pattern)
{
    const char *known[TD_MAX_AXES];
    size_t count = 0;
    char *word = strndup(name, length);
    if (!word)
        return td_fail_alloc(length + 1);
    for (int i = 0; i < pattern->axis_count; i++)
        if (pattern->axis[i].left_group >= 0)
            known[count++] = pattern->axis[i].name;
    const char *near = td_suggest(word, known, count);
    const td_status status = td_fail(
        TD_OPTION, "axis=%s in packing \"%s\" is no axis on the left of \"%s\"; %s%s%sthe number of a dimension", word,
        packing, pattern->text, near ? "did you mean " : "pass one of them, or ", near ? near : "",
        near ? "? or pass " : "");
    free(word);
    return status;
}

/* Dimensions behind `...` are counted from the last. */
static bool find_dim(const td_pattern *pattern, const char *name, size_t length, int *dim)
{
    const int axis = td_pattern_find(pattern, name, length), group = axis < 0 ? -1 : pattern->axis[axis].left_group;
    if (group < 0)
        return false;
    const bool behind = pattern->ellipsis_left >= 0 && group > pattern->ellipsis_left;
    *dim = behind ? group - pattern->left_count : group;
    return true;
}

td_status td_parts_layout_axes(const char *packing, const td_layout *layout, char **out)
{
    td_text text = {0};
    const char *at = packing, *word = packing;
    td_status status = TD_OK;
    while (*word && !status) {
        word += strspn(word, " \t");
        const bool axes = strncmp(word, "axis=", 5) == 0;
        const char *end = word + strcspn(word, " \t");
        for (word += axes ? 5 : 0; axes && word < end && !status;) {
            const size_t length = strcspn(word, ", \t");
            int dim = 0;
            if (td_is_name_start(word[0])) {
                td_text_add(&text, "%.*s", (int)(word - at), at);
                at = word + length;
                if (find_dim(&layout->pattern, word, length, &dim))
                    td_text_add(&text, "%d", dim);
                else
                    status = fail_axis(packing, word, length, &layout->pattern);
            }
            word += length + (word[length] == ',');
        }
        word = end;
    }
    td_text_add(&text, "%s", at);
    if (!status && text.failed)
        status = td_fail_alloc(text.used);
    if (status)
        free(text.text);
    else
        *out = text.text;
    return status;
}
