/* Loads and dumps of a tensor in parts (parts.h): every part, memory and layout is found and checked before a word is
 * written. parts_layers.c makes and places the elements layer by layer where the layout allows it, parts_stream.c all
 * parts of masks and lists; here the tensor becomes its parts, and each is a call like any other. */
#include "backdoor/parts.h"

#include "backdoor/parts_layers.h"
#include "backdoor/parts_stream.h"
#include "base/profile.h"
#include "base/record.h"
#include "base/suggest.h"
#include "base/text.h"
#include "exec/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- which place is whose -- */

static void add_names(const td_parts *p, td_text *list, const char **known, size_t *count)
{
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (p->form[kind].name) {
            td_text_add(list, "%s%s", *count ? ", " : "", p->form[kind].name);
            known[(*count)++] = p->form[kind].name;
        }
}

static td_status fail_part(const td_parts *p, const char *part)
{
    const char *known[TD_MOST_PARTS];
    size_t count = 0;
    td_text list = {0};
    add_names(p, &list, known, &count);
    const char *near = td_suggest(part, known, count);
    const td_status status = td_fail(TD_OPTION, "\"%s\" is no part of \"%s\"; %s%s%s%s", part, p->name,
                                     near ? "did you mean \"" : "they are ", near ? near : "",
                                     near ? "\"? they are " : "", list.text ? list.text : "");
    free(list.text);
    return status;
}

static td_status find_places(const td_parts_call *c, td_placed *out)
{
    const td_parts *p = out->parts;
    for (size_t i = 0; i < c->layout->count; i++) {
        const char *part = c->layout->place[i].part;
        int kind = 0;
        while (kind < TD_MOST_PARTS && (!p->form[kind].name || (*part && strcmp(part, p->form[kind].name) != 0)))
            kind++;
        if (kind == TD_MOST_PARTS)
            return fail_part(p, part);
        if (out->part[kind].layout)
            return td_fail(TD_OPTION, "the part \"%s\" of \"%s\" has two layouts; keep one", p->form[kind].name,
                           p->name);
        out->part[kind].layout = c->layout->place[i].layout;
    }
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (p->form[kind].name && !out->part[kind].layout)
            return td_fail(TD_OPTION,
                           "the part \"%s\" of \"%s\" has no layout; say where it lies, as part %s memory "
                           "NAME pattern ...",
                           p->form[kind].name, p->name, p->form[kind].name);
    return TD_OK;
}

/* pad_scale= stands in place of the pad= of the scales' layout. */
static td_status set_pad_scale(td_placed *p)
{
    td_placed_part *part = &p->part[TD_PART_SCALES];
    const td_layout *layout = part->layout;
    td_text options = {0};
    if (p->parts->is_sparse || !*p->parts->packing.pad_scale || !layout)
        return TD_OK;
    for (const char *at = layout->options_text ? layout->options_text : ""; *(at += strspn(at, " \t"));) {
        const size_t length = strcspn(at, " \t");
        if (strncmp(at, "pad=", 4) != 0)
            td_text_add(&options, "%.*s ", (int)length, at);
        at += length;
    }
    td_text_add(&options, "pad=%s", p->parts->packing.pad_scale);
    const td_status status = options.failed
                                 ? td_fail_alloc(options.room)
                                 : td_layout_make(layout->pattern.text, options.text, layout->address_text, &part->own);
    free(options.text);
    if (!status)
        part->layout = part->own;
    return status;
}

/* -- memories by name -- */

/* "sbuf", or a bank of it, "sbuf[3]". */
static bool is_named(const td_memory *memory, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(memory->name, name, length) != 0)
        return false;
    const char *rest = memory->name + length;
    return !*rest || (*rest == '[' && rest[strlen(rest) - 1] == ']');
}

static td_status fail_memory(const td_parts_call *c, const char *part, const char *name)
{
    td_text list = {0};
    for (size_t i = 0; i < c->count && i < 8; i++)
        td_text_add(&list, "%s\"%s\"", i ? ", " : "", c->memories[i]->name);
    const td_status status =
        td_fail(TD_ARGUMENT, "no memory \"%s\" for the part \"%s\" among %s%s; pass it too, or name one of them", name,
                part, list.text ? list.text : "", c->count > 8 ? ", ..." : "");
    free(list.text);
    return status;
}

static td_status find_memories(const td_parts_call *c, td_placed_part *out, const char *part, const char *name)
{
    out->bank = malloc(c->count * sizeof(td_memory *));
    if (!out->bank)
        return td_fail_alloc(c->count * sizeof(td_memory *));
    for (size_t i = 0; i < c->count; i++)
        if (*name ? is_named(c->memories[i], name) : i == 0)
            out->bank[out->banks++] = c->memories[i];
    return out->banks ? TD_OK : fail_memory(c, part, name);
}

static const char *memory_of(const td_parts_call *c, const td_layout *layout)
{
    for (size_t i = 0; i < c->layout->count; i++)
        if (c->layout->place[i].layout == layout)
            return c->layout->place[i].memory;
    return "";
}

/* -- the checks of a call -- */

static td_status check_arguments(const td_parts_call *c)
{
    if (!c->memories || !c->count)
        return td_fail(TD_ARGUMENT, "no memory; pass those that the parts lie in");
    for (size_t i = 0; i < c->count; i++)
        if (!c->memories[i])
            return td_fail(TD_ARGUMENT, "memory %zu is NULL; create it first", i);
    if (!c->tensor || !c->layout)
        return td_fail(TD_ARGUMENT, "the %s is NULL; create it first", c->tensor ? "layout of parts" : "tensor");
    if (!c->layout->count)
        return td_fail(TD_ARGUMENT, "the layout of parts has no part; add one for each of \"%s\"", c->layout->packing);
    if (c->writes_tensor && c->tensor->read_only)
        return td_fail(TD_ARGUMENT,
                       "the tensor is mapped read-only from a file; dump into a tensor made with tensor_create");
    return td_file_check(c->tensor->origin);
}

td_call td_placed_call(const td_placed *placed, int kind, const td_tensor *tensor)
{
    const td_placed_part *p = &placed->part[kind];
    return (td_call){
        .operation = placed->operation, .bank = p->bank, .banks = p->banks, .tensor = tensor, .layout = p->layout};
}

/* The words of two parts that lie in one memory. The later one may share words with fill=keep. */
static td_status check_apart(const td_placed *p, int one, const td_span *a, size_t a_count, int other, const td_span *b,
                             size_t b_count)
{
    if (p->part[other].layout->keep)
        return TD_OK;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        const td_memory *x = p->part[one].bank[a[i].bank], *y = p->part[other].bank[b[j].bank];
        const uint64_t low = a[i].first > b[j].first ? a[i].first : b[j].first;
        if (x == y && low < a[i].first + a[i].count && low < b[j].first + b[j].count)
            return td_fail(TD_ALIAS,
                           "the parts \"%s\" and \"%s\" both lie in word 0x%" PRIx64
                           " of \"%s\"; move one of them, or pass fill=keep where they share words",
                           p->parts->form[one].name, p->parts->form[other].name, low, x->name);
        if (a[i].bank < b[j].bank || (a[i].bank == b[j].bank && a[i].first + a[i].count <= b[j].first + b[j].count))
            i++;
        else
            j++;
    }
    return TD_OK;
}

static bool share_memory(const td_placed_part *a, const td_placed_part *b)
{
    for (size_t i = 0; i < a->banks; i++)
        for (size_t j = 0; j < b->banks; j++)
            if (a->bank[i] == b->bank[j])
                return true;
    return false;
}

/* The plan and the storage, so that nothing can be refused any more once words are written. */
static td_status make_ready(td_placed *p, int kind)
{
    td_placed_part *part = &p->part[kind];
    const td_call call = td_placed_call(p, kind, &part->like);
    td_status status = td_call_check(&call);
    if (!status)
        status = td_call_check_dtype(&call, part->like.dtype);
    if (!status)
        status = td_call_plan(&call, part->like.dtype, &part->plan);
    part->data = status ? NULL : malloc(part->banks * sizeof *part->data);
    if (!status && !part->data)
        status = td_fail_alloc(part->banks * sizeof *part->data);
    for (size_t i = 0; i < part->banks && !status; i++)
        part->data[i] = part->bank[i]->data;
    return status ? td_call_fail(&call, status) : TD_OK;
}

static td_status check_plans(td_placed *p)
{
    td_span *span[TD_MOST_PARTS] = {NULL};
    size_t count[TD_MOST_PARTS] = {0};
    td_status status = TD_OK;
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++) {
        bool shared = false;
        if (!p->part[kind].layout)
            continue;
        for (int other = 0; other < TD_MOST_PARTS; other++)
            shared |= other != kind && p->part[other].layout && share_memory(&p->part[kind], &p->part[other]);
        status = make_ready(p, kind);
        if (!status && shared)
            status = td_plan_spans(p->part[kind].plan, &span[kind], &count[kind]);
        for (int before = 0; before < kind && !status; before++)
            if (span[before] && span[kind])
                status = check_apart(p, before, span[before], count[before], kind, span[kind], count[kind]);
    }
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        free(span[kind]);
    return status;
}

/* The part's dtype and shape, for a plan that needs no data yet. */
static void describe(const td_parts *p, int kind, const char *source, td_placed_part *out)
{
    td_tensor *t = &out->like;
    snprintf(out->name, sizeof out->name, "%.40s%s%s", source, *source ? "." : "", p->form[kind].name);
    *t = (td_tensor){.dtype = p->form[kind].dtype, .shape = p->form[kind].shape, .elems = 1, .name = out->name};
    td_dtype_print(t->dtype, t->dtype_name);
    for (size_t d = 0; d < t->shape.rank; d++)
        t->elems *= t->shape.dim[d]; /* not more than those of the whole tensor, which fit */
}

static td_status open_places(const td_parts_call *c, td_placed *out)
{
    td_status status = check_arguments(c);
    if (!status)
        status = td_parts_layout_axes(c->layout->packing, c->layout->place[0].layout, &out->packing);
    if (!status)
        status = td_parts_of(out->packing, &c->tensor->shape, c->from_tensor ? c->tensor : NULL, &out->parts);
    if (!status)
        status = find_places(c, out);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++) {
        td_placed_part *part = &out->part[kind];
        if (!part->layout)
            continue;
        status = find_memories(c, part, out->parts->form[kind].name, memory_of(c, part->layout));
        describe(out->parts, kind, td_tensor_name(c->tensor), part);
    }
    return status ? status : set_pad_scale(out);
}

td_status td_placed_open(const td_parts_call *c, td_placed *out)
{
    *out = (td_placed){.operation = c->operation};
    td_status status = open_places(c, out);
    if (status) {
        td_fail_prefix("%s: ", c->operation);
        return status;
    }
    return check_plans(out);
}

td_status td_placed_close(td_placed *p, td_status status)
{
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        free(p->part[kind].bank);
        free(p->part[kind].data);
        td_layout_destroy(&p->part[kind].own);
        if (p->part[kind].plan)
            td_plan_release(&p->part[kind].plan);
    }
    td_parts_destroy(&p->parts);
    free(p->packing);
    return status;
}

td_status td_parts_layout_spans(const td_parts_layout *layout, size_t number, const td_tensor *tensor, int from_values,
                                uint64_t width_bits, td_span **spans, size_t *count)
{
    td_placed placed = {.operation = "parts_layout_spans"};
    if (!layout || !tensor || !spans || !count || number >= layout->count)
        return td_fail(TD_ARGUMENT, "parts_layout_spans: %s; pass one",
                       !layout            ? "the layout of parts is NULL"
                       : !tensor          ? "the tensor is NULL"
                       : !spans || !count ? "the output is NULL"
                                          : "no part of that number in the layout");
    const td_parts_call call = {.layout = layout, .tensor = tensor, .from_tensor = from_values != 0};
    td_status status = td_parts_layout_axes(layout->packing, layout->place[0].layout, &placed.packing);
    if (!status)
        status = td_parts_of(placed.packing, &tensor->shape, call.from_tensor ? tensor : NULL, &placed.parts);
    if (!status)
        status = find_places(&call, &placed);
    int found = 0;
    while (!status && found < TD_MOST_PARTS && placed.part[found].layout != layout->place[number].layout)
        found++;
    if (!status)
        status = set_pad_scale(&placed);
    if (status)
        td_fail_prefix("parts_layout_spans: ");
    if (!status && found < TD_MOST_PARTS) {
        describe(placed.parts, found, td_tensor_name(tensor), &placed.part[found]);
        status =
            td_layout_spans(placed.part[found].layout, &placed.part[found].like, NULL, width_bits, NULL, spans, count);
    }
    return td_placed_close(&placed, status);
}

/* -- the calls -- */

bool td_placed_needs_call(const td_placed *p, int kind)
{
    for (size_t i = 0; i < p->part[kind].banks; i++)
        if (p->part[kind].bank[i]->unknown_any || p->part[kind].bank[i]->backing)
            return true;
    return false;
}

void td_placed_load(const td_placed *p, int kind, const td_tensor *tensor)
{
    const td_run run = {.plan = p->part[kind].plan, .bank = p->part[kind].data, .tensor = tensor->data};
    td_exec_load(&run);
    td_paths_count(&run, false);
}

/* Part by part, from tensors of their own. */
static td_status load_each(td_placed *p, const td_tensor *tensor)
{
    p->parts->unset = true;
    td_status status = td_parts_make_tensors(p->parts, td_tensor_name(tensor));
    if (!status)
        status = td_parts_pack_into(p->parts, tensor);
    if (status) {
        td_fail_prefix("%s: ", p->operation);
        return status;
    }
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (p->part[kind].layout && td_placed_needs_call(p, kind)) {
            const td_call call = td_placed_call(p, kind, p->parts->tensor[kind]);
            status = td_call_run(&call);
        } else if (p->part[kind].layout)
            td_placed_load(p, kind, p->parts->tensor[kind]);
    return status;
}

td_status td_placed_dump(td_placed *p)
{
    td_status status = td_parts_make_tensors(p->parts, "");
    if (status)
        td_fail_prefix("%s: ", p->operation);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (p->part[kind].layout) {
            td_call call = td_placed_call(p, kind, p->parts->tensor[kind]);
            call.writes_tensor = true;
            status = td_call_run(&call);
        }
    return status;
}

td_status td_backdoor_load_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                                 const td_parts_layout *layout)
{
    TD_OPERATION(operation, "backdoor_load_parts");
    td_placed placed;
    td_status status = td_placed_open(&(td_parts_call){.operation = "backdoor_load_parts",
                                                       .memories = memories,
                                                       .count = count,
                                                       .tensor = tensor,
                                                       .layout = layout,
                                                       .from_tensor = true},
                                      &placed);
    bool done = false;
    if (!status)
        status = td_parts_load_layers(&placed, tensor, &done);
    if (!status && !done)
        status = td_parts_load_stream(&placed, tensor, &done);
    if (!status && !done)
        status = load_each(&placed, tensor);
    return td_record_other("backdoor_load_parts", td_placed_close(&placed, status));
}

td_status td_backdoor_dump_parts(td_memory *const *memories, size_t count, td_tensor *tensor,
                                 const td_parts_layout *layout)
{
    TD_OPERATION(operation, "backdoor_dump_parts");
    td_placed placed;
    td_status status = td_placed_open(&(td_parts_call){.operation = "backdoor_dump_parts",
                                                       .memories = memories,
                                                       .count = count,
                                                       .tensor = tensor,
                                                       .layout = layout,
                                                       .writes_tensor = true},
                                      &placed);
    bool done = false;
    if (!status)
        status = td_parts_dump_layers(&placed, tensor, &done);
    if (!status && !done) {
        status = td_placed_dump(&placed);
        if (!status) {
            status = td_parts_unpack_into(placed.parts, tensor);
            if (status)
                td_fail_prefix("backdoor_dump_parts: ");
        }
    }
    return td_record_other("backdoor_dump_parts", td_placed_close(&placed, status));
}
