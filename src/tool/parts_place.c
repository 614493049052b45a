/* Where the parts of a tensor lie in images: `--as` with a packing, and one --part for each part but the first, which
 * the flags of the layout and --out are about. Shared by pack, unpack and compare. Functions that return false have
 * printed one line; the caller closes the place either way. */
#include "tool/parts_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tool_take_parts(const tool_usage *usage, int *argc, char **argv, tool_part_flags *out)
{
    static const tool_repeated part = {"part", TOOL_PART_PLACEHOLDER, TOOL_MOST_PARTS - 1,
                                       "no packing has so many parts"};
    return tool_take(usage, &part, argc, argv, out->value, &out->count);
}

/* -- what a --part says -- */

enum { WIDTH, DEPTH, PATTERN, PRESET, OPTIONS, ADDRESS, CLAUSES };
static const char *const clause_name[CLAUSES] = {"width", "depth", "pattern", "preset", "options", "address"};

/* The text between blanks; cuts it out of `text`. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    for (size_t n = strlen(text); n && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--)
        text[n - 1] = '\0';
    return text;
}

static bool read_clause(const tool_parts_place *place, const char *part, char *clause, const char **text)
{
    char *rest = clause + strcspn(clause, " \t");
    if (*rest)
        *rest++ = '\0';
    for (int i = 0; i < CLAUSES; i++)
        if (strcmp(clause, clause_name[i]) == 0) {
            if (text[i])
                tool_fail(place->usage->command, "--part %s says %s twice; say it once", part, clause);
            const bool good = !text[i];
            text[i] = trim(rest);
            return good;
        }
    tool_fail(place->usage->command, "--part %s: \"%s\" is none of width, depth, pattern, preset, options and address",
              part, clause);
    return false;
}

static bool number_of(const tool_parts_place *place, const char *what, const char *text, uint64_t *value)
{
    const tool_flag flag = {.name = what, .value = text};
    return tool_number(place->usage, &flag, value);
}

/* The layout that the clauses say; with a layout file there is one already. */
static bool make_layout(const tool_parts_place *place, const char *part, const char *const *text, td_layout **out)
{
    const tool_flag flags[TOOL_LAYOUT_FLAGS] = {[TOOL_PATTERN] = {.name = "pattern", .value = text[PATTERN]},
                                                [TOOL_PRESET] = {.name = "preset", .value = text[PRESET]},
                                                [TOOL_OPTIONS] = {.name = "options", .value = text[OPTIONS]},
                                                [TOOL_ADDRESS] = {.name = "address", .value = text[ADDRESS]}};
    if (!text[PATTERN] && !text[PRESET]) {
        tool_fail(place->usage->command, "--part %s has no layout; add \"; pattern n k -> n k\" or \"; preset NAME\"",
                  part);
        return false;
    }
    return tool_layout(place->usage, flags, out);
}

/* The place in the file of that part; all of them where it has none. */
static size_t find_part(const td_parts_layout *file, const char *name)
{
    size_t i = 1;
    while (i < td_parts_layout_count(file) && strcmp(td_parts_layout_part(file, i), name) != 0)
        i++;
    return i;
}

static bool add(tool_parts_place *place, const char *part, const char *name, const td_layout *layout)
{
    if (td_parts_layout_add(place->layout, part, name, layout) == TD_OK)
        return true;
    tool_fail_library(place->usage->command);
    return false;
}

/* "scales=s.hex; width 32; preset scale_128x4" */
static bool read_part(tool_parts_place *place, const char *value, const td_parts_layout *file)
{
    const char *text[CLAUSES] = {NULL};
    char *rest = place->text[place->count] = strdup(value), *name = NULL, *image = NULL;
    td_layout *made = NULL;
    if (!rest) {
        tool_fail(place->usage->command, "no memory");
        return false;
    }
    name = trim(strsep(&rest, ";"));
    image = strchr(name, '=');
    if (!image || image == name || !image[1]) {
        tool_fail(place->usage->command, "--part is \"%s\"; it needs NAME=IMAGE, as in %s", value,
                  TOOL_PART_PLACEHOLDER);
        return false;
    }
    *image++ = '\0';
    while (rest) {
        char *clause = trim(strsep(&rest, ";"));
        if (*clause && !read_clause(place, name, clause, text))
            return false;
    }
    const size_t number = place->count++;
    place->name[number] = name;
    place->image[number] = image;
    place->width_bits[number] = place->width_bits[0];
    if ((text[WIDTH] && !number_of(place, "width", text[WIDTH], &place->width_bits[number])) ||
        (text[DEPTH] && !number_of(place, "depth", text[DEPTH], &place->depth_words[number])))
        return false;
    place->fixed_depth[number] = text[DEPTH] != NULL;
    if (!file)
        return make_layout(place, name, text, &made) && (place->made[number] = made, add(place, name, name, made));
    const size_t at = find_part(file, name);
    if (at == td_parts_layout_count(file)) {
        tool_fail(place->usage->command, "--part %s is no part of the layout in the file", name);
        return false;
    }
    if (text[PATTERN] || text[PRESET] || text[OPTIONS] || text[ADDRESS]) {
        tool_fail(place->usage->command, "--layout and a layout in --part %s; the layout file says it, so drop one",
                  name);
        return false;
    }
    return add(place, name, name, td_parts_layout_layout(file, at));
}

static bool open_file(const tool_usage *usage, const char *value, td_parts_layout **file)
{
    char *path = NULL;
    const char *name = NULL;
    if (!tool_layout_name(usage, value, &path, &name))
        return false;
    const bool good = td_parts_layout_open(path, name, file) == TD_OK;
    if (!good)
        tool_fail_library(usage->command);
    free(path);
    return good;
}

static bool read_all(tool_parts_place *place, const tool_flag *flags, const tool_part_flags *parts,
                     const td_parts_layout *file)
{
    td_layout *made = NULL;
    if (!file && !tool_layout(place->usage, flags, &made))
        return false;
    place->made[0] = made;
    if (!add(place, "", "first", file ? td_parts_layout_layout(file, 0) : made))
        return false;
    for (size_t i = 0; i < parts->count; i++)
        if (!read_part(place, parts->value[i], file))
            return false;
    return true;
}

bool tool_parts_open(const tool_usage *usage, const tool_flag *flags, const tool_part_flags *parts, const char *image,
                     tool_parts_place *place)
{
    td_parts_layout *file = NULL;
    const char *packing = flags[TOOL_AS].value;
    *place = (tool_parts_place){.usage = usage, .count = 1, .image = {image}};
    place->fixed_depth[0] = flags[TOOL_DEPTH].value != NULL;
    if (flags[TOOL_BANKS].value) {
        tool_fail(usage->command, "--banks and --part; parts lie in one image each, so drop --banks");
        return false;
    }
    if (!tool_number(usage, &flags[TOOL_WIDTH], &place->width_bits[0]) ||
        (place->fixed_depth[0] && !tool_number(usage, &flags[TOOL_DEPTH], &place->depth_words[0])) ||
        (flags[TOOL_LAYOUT].value && !open_file(usage, flags[TOOL_LAYOUT].value, &file)))
        return false;
    if (file && !packing)
        packing = td_parts_layout_packing(file);
    bool good = packing != NULL;
    if (!good)
        tool_fail(usage->command, "--part without a packing; pass --as, as \"mxfp4 rule=rceil\"");
    if (good && td_parts_layout_create(packing, &place->layout) != TD_OK) {
        tool_fail_library(usage->command);
        good = false;
    }
    good = good && read_all(place, flags, parts, file);
    td_parts_layout_destroy(&file);
    return good;
}

bool tool_parts_find(tool_parts_place *place, const td_tensor *tensor, bool from_values)
{
    for (size_t i = 0; i < place->count; i++)
        if (td_parts_layout_spans(place->layout, i, tensor, from_values, place->width_bits[i], &place->spans[i],
                                  &place->span_count[i]) != TD_OK) {
            tool_fail_library(place->usage->command);
            return false;
        }
    return true;
}

static bool create(tool_parts_place *place, size_t i)
{
    if (td_memory_create(i ? place->name[i] : "first", place->width_bits[i], place->depth_words[i],
                         &place->memory[i]) == TD_OK)
        return true;
    tool_fail_library(place->usage->command);
    return false;
}

bool tool_parts_create(tool_parts_place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        for (size_t s = 0; s < place->span_count[i] && !place->fixed_depth[i]; s++)
            if (place->spans[i][s].first + place->spans[i][s].count > place->depth_words[i])
                place->depth_words[i] = place->spans[i][s].first + place->spans[i][s].count;
        if (!create(place, i))
            return false;
    }
    return true;
}

bool tool_parts_save(const tool_parts_place *place)
{
    for (size_t i = 0; i < place->count; i++)
        if (td_memory_save_file(place->memory[i], place->image[i], place->spans[i], place->span_count[i]) != TD_OK) {
            tool_fail_library(place->usage->command);
            while (i-- > 0)
                tool_remove(place->image[i]);
            return false;
        }
    return true;
}

bool tool_parts_load(tool_parts_place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        char *path = strdup(place->image[i]);
        const tool_banks one = {.usage = place->usage, .count = 1, .path = &path};
        const bool good =
            path && (place->fixed_depth[i] || tool_banks_depth(&one, place->width_bits[i], place->spans[i],
                                                               place->span_count[i], &place->depth_words[i]));
        free(path);
        if (!good || !create(place, i) || !tool_load_image(place->usage->command, place->memory[i], place->image[i]))
            return false;
    }
    return true;
}

void tool_parts_close(tool_parts_place *place)
{
    for (size_t i = 0; i < TOOL_MOST_PARTS; i++) {
        td_memory_destroy(&place->memory[i]);
        td_layout_destroy(&place->made[i]);
        td_free(place->spans[i]);
        free(place->text[i]);
    }
    td_parts_layout_destroy(&place->layout);
    *place = (tool_parts_place){0};
}
