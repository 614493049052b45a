/* A plan in one line, for td_layout_explain and for the tests that hold layouts to their kernels: boxes, loops and
 * the path that each box takes. It says what exec does with a plan, and changes nothing. */
#include "base/cpu.h"
#include "base/text.h"
#include "plan/copies.h"
#include "plan/move.h"
#include "plan/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- kernels by name -- */

/* A kernel belongs to the first of these whose table has it. */
static const struct {
    const char *name;
    unsigned flags;
} isas[] = {
    {"c", TD_CPU_C},
    {"avx2", TD_CPU_AVX2},
    {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512},
    {"vbmi", TD_CPU_AVX2 | TD_CPU_AVX512 | TD_CPU_VBMI},
    {"neon", TD_CPU_NEON},
};
#define ISAS (sizeof isas / sizeof isas[0])

static void add_move_kernel(const char *name, unsigned bits, td_move_fn fn, td_text *out)
{
    char text[32] = "copy";
    if (bits)
        snprintf(text, sizeof text, "%s_x%u", name, bits);
    for (size_t i = 0; i < ISAS; i++) {
        td_move_kernels k;
        td_move_init(&k, isas[i].flags);
#define X(kernel, size, rule)                                                                                          \
    if (fn == k.kernel && strcmp(text, #kernel) == 0) {                                                                \
        td_text_add(out, "%s_%s", text, isas[i].name);                                                                 \
        return;                                                                                                        \
    }
        TD_MOVE_KERNELS(X)
#undef X
    }
}

static void add_pack_kernel(const td_rows *of, bool cells, bool dump, td_text *out)
{
    for (size_t i = 0; i < ISAS; i++) {
        td_pack_kernels k;
        td_pack_init(&k, isas[i].flags);
#define X(size)                                                                                                        \
    if (cells ? (dump ? of->get == k.get_x##size : of->put == k.put_x##size)                                           \
              : (dump ? of->unpack == k.unpack_x##size : of->pack == k.pack_x##size)) {                                \
        td_text_add(out, "%s_x%d_%s", cells ? (dump ? "get" : "put") : (dump ? "unpack" : "pack"), size,               \
                    isas[i].name);                                                                                     \
        return;                                                                                                        \
    }
        TD_PACK_KERNELS(X)
#undef X
    }
}

static void add_pack_words_kernel(const td_stage *s, bool dump, td_text *out)
{
    for (size_t i = 0; i < ISAS; i++) {
        td_pack_words_kernels k;
        td_pack_words_init(&k, isas[i].flags);
#define X(size)                                                                                                        \
    if (dump ? s->unpack == k.unpack_words_x##size : s->pack == k.pack_words_x##size) {                                \
        td_text_add(out, "%s_x%d_%s", dump ? "unpack_words" : "pack_words", size, isas[i].name);                       \
        return;                                                                                                        \
    }
        TD_PACK_WORDS_KERNELS(X)
#undef X
    }
}

static void add_pick_kernel(const td_picks *picks, td_text *out)
{
    for (size_t i = 0; i < ISAS; i++) {
        td_picks p = *picks;
        if (!td_picks_prepare(&p, isas[i].flags) || p.fn != picks->fn)
            continue;
        td_text_add(out, "pick_x%d_%s", 8 * picks->size, isas[i].name);
        return;
    }
}

static void add_shuffle_kernel(const td_shuffle *shuffle, td_text *out)
{
    if (shuffle->fn == td_shuffle_places_c)
        td_text_add(out, "places of %d byte%s", shuffle->size, shuffle->size == 1 ? "" : "s");
    const td_shuffle_fn fn = shuffle->dense ? shuffle->dense->fn : shuffle->fn;
    if (shuffle->dense)
        td_text_add(out, "two steps of ");
    for (size_t i = 0; i < ISAS; i++) {
        td_shuffle_kernels k;
        td_shuffle_init(&k, isas[i].flags);
#define X(kernel, vector)                                                                                              \
    if (fn == k.kernel) {                                                                                              \
        td_text_add(out, "%s_%s", #kernel, isas[i].name);                                                              \
        return;                                                                                                        \
    }
        TD_SHUFFLE_KERNELS(X)
#undef X
    }
}

static void add_pad_kernel(const td_move_fill *f, td_text *out)
{
    for (size_t i = 0; i < ISAS; i++) {
        td_pad_kernels k;
        td_pad_init(&k, isas[i].flags);
#define X(kernel)                                                                                                      \
    if (f->kernel == k.kernel) {                                                                                       \
        td_text_add(out, "%s_%s of %zu byte%s", #kernel, isas[i].name, f->word.run, f->word.run == 1 ? "" : "s");      \
        return;                                                                                                        \
    }
        TD_PAD_KERNELS(X)
#undef X
    }
}

/* -- paths -- */

/* A move that fills its words in one step with their data: "pad_runs_avx512 of 3 bytes", or the kernel that transposes
 * padding and data. False: it takes two. */
static bool add_padded(const td_move *m, td_text *out)
{
    if (m->fill->pad_runs)
        add_pad_kernel(m->fill, out);
    else if (m->fill->rows_fn) {
        add_move_kernel("transpose", 8u * m->elem_bytes, m->fill->rows_fn, out);
        add_move_kernel("interleave", 8u * m->elem_bytes, m->fill->rows_fn, out);
    } else
        return false;
    return true;
}

/* "contiguous copy_avx2 of 64 bytes", "transpose_x8_avx512", "pick_x32_vbmi" */
static void add_move(const td_move *m, bool converted, td_text *out)
{
    static const char *const name[] = {[TD_MOVE_TRANSPOSE] = "transpose",
                                       [TD_MOVE_INTERLEAVE] = "interleave",
                                       [TD_MOVE_DEINTERLEAVE] = "deinterleave"};
    if (m->fill && !converted && add_padded(m, out))
        return;
    if (m->kind == TD_MOVE_PICKS)
        add_pick_kernel(m->picks, out);
    else if (m->kind == TD_MOVE_SHUFFLE)
        add_shuffle_kernel(m->shuffle, out);
    else if (m->kind == TD_MOVE_FOLD) {
        td_text_add(out, "folded ");
        add_move_kernel("transpose", 8u * m->fold->elem, m->fold->transpose, out);
        add_move_kernel("interleave", 8u * m->fold->elem, m->fold->transpose, out);
    } else if (m->kind != TD_MOVE_RUNS)
        add_move_kernel(name[m->kind], 8u * m->elem_bytes, m->fn, out);
    else {
        td_text_add(out, "contiguous ");
        if (!converted) /* a conversion copies on its way */
            add_move_kernel("copy", 0, m->fn, out);
        td_text_add(out, "%sof %" PRIu64 " byte%s", converted ? "" : " ", m->wide, m->wide == 1 ? "" : "s");
    }
}

/* "packed 4-bit pack_x8_avx512", "cells 12-bit put_x16_avx512", "loose 12-bit"; in front, how the tensor has them. */
static void add_rows(const td_plan *plan, const td_rows *r, bool dump, td_text *out)
{
    static const char *const way[] = {
        [TD_ROWS_PACKED] = "packed", [TD_ROWS_CELLS] = "cells", [TD_ROWS_LOOSE] = "loose"};
    if (r->gathers && (r->row.extent > 1 || r->across.extent > 1))
        td_text_add(out, r->row.tensor == 0 ? "repeated " : r->across.extent > 1 ? "transposed " : "strided ");
    td_text_add(out, "%s %d-bit", way[r->way], plan->memory_dtype.bits);
    if (r->way != TD_ROWS_LOOSE) {
        td_text_add(out, " ");
        add_pack_kernel(r, r->way == TD_ROWS_CELLS, dump, out);
    }
}

/* "staged 3-bit pack_words_x8_avx2", "staged 4-bit pack_x8_avx512", "staged 16-bit copied" */
static void add_stage(const td_plan *plan, const td_stage *s, bool dump, td_text *out)
{
    td_text_add(out, "staged %d-bit ", plan->memory_dtype.bits);
    if (s->bytes)
        td_text_add(out, "copied");
    else if (s->dense)
        add_pack_kernel(&(td_rows){.pack = s->pack_row, .unpack = s->unpack_row}, false, dump, out);
    else
        add_pack_words_kernel(s, dump, out);
}

/* What exec does with data box `b`. */
static void add_path(const td_plan *plan, size_t b, bool dump, td_text *out)
{
    const td_box *box = &plan->data[b];
    const td_move *m = &plan->move[2 * b + dump];
    const bool converted = !td_dtype_equal(plan->tensor_dtype, plan->memory_dtype);
    if (converted)
        td_text_add(out, "converted ");
    if (m->fill)
        td_text_add(out, "padded ");
    if (plan->stage && plan->stage[2 * b + dump])
        add_stage(plan, plan->stage[2 * b + dump], dump, out);
    else if (plan->rows[b].way == TD_ROWS_NONE || (plan->in_order && !dump))
        td_text_add(out, "walk");
    else if (m->kind == TD_MOVE_NONE)
        add_rows(plan, &plan->rows[b], dump, out);
    else if (box->selectors && !converted && plan->gather[2 * b + dump].bytes)
        td_text_add(out, "gather of %zu byte%s", plan->gather[2 * b + dump].bytes,
                    plan->gather[2 * b + dump].bytes == 1 ? "" : "s");
    else
        add_move(m, converted, out);
    if (box->selectors)
        td_text_add(out, plan->table.entry ? " by table" : " by bank");
}

/* " (32x2048 streamed around 64 8)" */
static void add_loops(const td_move *m, td_text *out)
{
    if (m->kind == TD_MOVE_NONE)
        return;
    td_text_add(out, " (%" PRIu64 "x%" PRIu64 "%s%s", m->high, m->wide, m->stream ? " streamed" : "",
                m->tuned ? " tuned" : "");
    for (size_t i = 0; i < m->loops; i++)
        td_text_add(out, "%s%" PRIu64 "%s", i ? " " : " around ", m->loop[i].extent,
                    m->loop[i].of == TD_LOOP_HIGH   ? "h"
                    : m->loop[i].of == TD_LOOP_WIDE ? "w"
                                                    : "");
    td_text_add(out, ")");
}

typedef struct path {
    char *text;
    size_t first, count; /* boxes */
} path;

/* Every path that a box takes, in the order of the boxes, with the number of boxes; the loops are those of the
 * first. */
static void add_paths(const td_plan *plan, bool dump, bool loops, td_text *out)
{
    path *paths = NULL;
    size_t count = 0;
    for (size_t b = 0; b < plan->data_count && !out->failed; b++) {
        td_text text = {0};
        size_t at = 0;
        add_path(plan, b, dump, &text);
        while (at < count && !text.failed && strcmp(paths[at].text, text.text) != 0)
            at++;
        path *grown = at < count ? paths : realloc(paths, (count + 1) * sizeof *paths);
        out->failed = text.failed || !grown;
        if (grown && at == count && !text.failed) {
            grown[count++] = (path){.text = text.text, .first = b};
            text.text = NULL;
        }
        paths = grown ? grown : paths;
        free(text.text);
        if (!out->failed)
            paths[at].count++;
    }
    for (size_t i = 0; i < count; i++) {
        td_text_add(out, "%s", i ? " + " : "");
        if (paths[i].count > 1)
            td_text_add(out, "%zu x ", paths[i].count);
        td_text_add(out, "%s", paths[i].text);
        if (loops)
            add_loops(&plan->move[2 * paths[i].first + dump], out);
        free(paths[i].text);
    }
    free(paths);
}

/* -- boxes -- */

static void add_boxes(const td_plan *plan, const char *name, const td_box *box, size_t count, td_text *out)
{
    if (!count)
        return;
    td_text_add(out, "%s%s", out->used ? "; " : "", name);
    for (size_t b = 0; b < count && b < 4; b++) {
        td_text_add(out, "%s", b ? " + " : " ");
        for (size_t i = 0; i < box[b].node_count; i++) {
            const td_node *n = &plan->node[box[b].first_node + i];
            const bool selects = i < box[b].selectors;
            td_text_add(out, "%s[%" PRIu64 ":%" PRId64 ":%" PRId64 "]",
                        !selects            ? ""
                        : plan->table.entry ? "@"
                                            : "#",
                        n->extent, n->tensor, selects ? n->select : n->memory);
        }
        if (!box[b].node_count)
            td_text_add(out, "[1]");
        if (box[b].piece_count)
            td_text_add(out, "{%zu pieces}", box[b].piece_count);
    }
    if (count > 4)
        td_text_add(out, " + %zu more", count - 4);
}

static td_status finish(td_text *out, char **text)
{
    if (out->failed) {
        free(out->text);
        return td_fail_alloc(out->used);
    }
    *text = out->text;
    return TD_OK;
}

/* A dump of elements that have copies reads each in one place. */
static const td_plan *plan_of(const td_plan *plan, bool dump)
{
    return dump && plan->copies ? &plan->copies->once : !dump && plan->last ? plan->last : plan;
}

td_status td_plan_paths(const td_plan *plan, bool dump, char **text)
{
    td_text out = {0};
    add_paths(plan_of(plan, dump), dump, false, &out);
    return finish(&out, text);
}

td_status td_plan_describe(const td_plan *plan, char **text)
{
    td_text out = {0};
    add_boxes(plan, "move", plan->data, plan->data_count, &out);
    add_boxes(plan, "pad", plan->pads, plan->pads_count, &out);
    if (plan->lane_mask)
        add_boxes(plan, "clear", plan->words, plan->words_count, &out);
    if (plan->table.entry)
        td_text_add(&out, "; table of %" PRIu64 " words%s", plan->table.count,
                    plan->in_order      ? ", in order"
                    : plan->table.lines ? ", in lines"
                                        : "");
    td_text_add(&out, "; load ");
    add_paths(plan_of(plan, false), false, true, &out);
    td_text_add(&out, "; dump ");
    add_paths(plan_of(plan, true), true, true, &out);
    return finish(&out, text);
}
