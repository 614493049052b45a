/* A layout as a picture, behind td_layout_svg: this file chooses what is drawn (which words, at what scale, coloured
 * by which axis), and svg.c writes it. Long layouts are cut in the middle, so that each makes one page. */
#include "show/picture.h"

#include "base/fp_mode.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_VECTORS = 1 << 15, /* looked at, before rows are chosen */
    LAST_VECTORS = 64,
    MAX_ROWS = 48,
    LAST_ROWS = 6,
    LEAST_ROWS = 12,
    MAX_CELLS = 12000,
    MAX_TITLES = 3000,
    MAX_BANKS = 8
};

#define CHAR_PX 6.1
#define CELL_MARGIN_PX 8.0
#define CELL_LEAST_PX 22.0
#define PAGE_PX 1500.0

/* -- words and rows -- */

static int compare_words(const void *a, const void *b)
{
    const td_drawn_word *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->bank != y->bank)
        return x->bank < y->bank ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Every word of the layout, or of its first and last vectors. Where two share a place the later one is kept. */
static td_status collect_words(td_picture *p)
{
    const td_view *s = p->view;
    const uint64_t beats = s->beats;
    const uint64_t most = beats > MAX_ROWS ? 2 : MAX_VECTORS / beats, last = most > LAST_VECTORS ? LAST_VECTORS : 1;
    const uint64_t shown = s->vectors < most ? s->vectors : most,
                   shown_beats = beats < MAX_VECTORS ? beats : MAX_VECTORS;
    p->word = malloc((size_t)(shown * shown_beats) * sizeof *p->word);
    if (!p->word)
        return td_fail_alloc((size_t)(shown * shown_beats) * sizeof *p->word);
    for (uint64_t i = 0; i < shown; i++) {
        const uint64_t number = i < shown - last || shown == s->vectors ? i : s->vectors - (shown - i);
        uint64_t bank = 0, address = 0;
        if (!td_view_is_written(s, number))
            continue;
        td_status status = td_view_place(s, number, &bank, &address);
        if (status)
            return status;
        for (uint64_t beat = 0; beat < shown_beats && bank < MAX_BANKS; beat++)
            p->word[p->word_count++] = (td_drawn_word){address + beat, bank, number, beat};
    }
    qsort(p->word, p->word_count, sizeof *p->word, compare_words);
    size_t kept = 0;
    for (size_t i = 0; i < p->word_count; i++) {
        if (kept && !s->request.layout->skews && p->word[kept - 1].address == p->word[i].address &&
            p->word[kept - 1].bank == p->word[i].bank)
            kept--;
        p->word[kept++] = p->word[i];
    }
    p->word_count = kept;
    return TD_OK;
}

static td_status choose_rows(td_picture *p)
{
    const td_view *s = p->view;
    const uint64_t lanes = s->bound.count[TD_ROLE_LANE] / s->beats + 1, columns = (uint64_t)(PAGE_PX / TD_COLUMN_PX);
    const uint64_t per_row = p->bank_count * lanes < columns ? p->bank_count * lanes : columns;
    size_t most = per_row * MAX_ROWS > MAX_CELLS ? (size_t)(MAX_CELLS / per_row) : MAX_ROWS;
    most = most < LEAST_ROWS ? LEAST_ROWS : most;
    p->row = calloc(p->word_count + 1, sizeof *p->row);
    if (!p->row)
        return td_fail_alloc((p->word_count + 1) * sizeof *p->row);
    for (size_t i = 0; i < p->word_count; i++)
        if (!p->row_count || p->row[p->row_count - 1] != p->word[i].address)
            p->row[p->row_count++] = p->word[i].address;
    p->cut_after = p->row_count;
    if (p->row_count > most) {
        p->cut_after = most - LAST_ROWS;
        memmove(p->row + p->cut_after, p->row + p->row_count - LAST_ROWS, LAST_ROWS * sizeof *p->row);
        p->row_count = most;
    }
    uint64_t drawn = 0;
    size_t r = 0;
    for (size_t i = 0; i < p->word_count; i++) {
        while (r < p->row_count && p->row[r] < p->word[i].address)
            r++;
        drawn += r < p->row_count && p->row[r] == p->word[i].address;
    }
    p->cut_words = s->word_count > drawn ? s->word_count - drawn : 0;
    return TD_OK;
}

/* -- scale and colour -- */

static int digits(uint64_t value)
{
    int n = 1;
    while (value >= 10) {
        value /= 10;
        n++;
    }
    return n;
}

static void choose_scale(td_picture *p)
{
    const td_view *s = p->view;
    int chars = (int)s->bound.rank - 1;
    for (size_t d = 0; d < s->bound.rank; d++)
        chars += digits(s->bound.dim[d].length - 1);
    const double text_px = chars * CHAR_PX + CELL_MARGIN_PX, elem_bits = s->request.memory_dtype.bits;
    const double wanted = text_px > CELL_LEAST_PX ? text_px : CELL_LEAST_PX;
    const double room = PAGE_PX / (double)p->bank_count, width = (double)s->request.geometry.width_bits;
    p->bit_px = wanted / elem_bits;
    if (p->bit_px * width > room)
        p->bit_px = room / width;
    if (p->bit_px * width < 60)
        p->bit_px = 60 / width;
    p->word_px = p->bit_px * width;
    p->cell_px = p->bit_px * elem_bits;
    p->cell_text = p->cell_px >= text_px - 2;
    p->titles = (double)p->row_count * width / elem_bits * (double)p->bank_count <= MAX_TITLES;
}

/* The slowest word axis that has few steps, so that colours make bands; else any axis of more than one step. */
static int default_axis(const td_bound *b)
{
    int any = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int role = TD_ROLE_WORD; role <= TD_ROLE_LANE; role++)
            for (int i = 0; i < b->role_count[role]; i++) {
                const int a = b->role_axis[role][i];
                if (b->axis[a].size > 1 && (pass || b->axis[a].size <= 12))
                    return a;
            }
    for (int i = 0; i < b->role_count[TD_ROLE_BANK]; i++)
        any = b->role_axis[TD_ROLE_BANK][i];
    return any;
}

static td_status choose_colour(td_picture *p, const char *name)
{
    const td_view *s = p->view;
    const td_bound *b = &s->bound;
    char text[TD_MAX_BOUND][TD_AXIS_NAME_BYTES];
    const char *known[TD_MAX_BOUND];
    p->colour_axis = default_axis(b);
    if (!name || !*name)
        return TD_OK;
    for (int a = 0; a < b->axis_count; a++) {
        known[a] = td_view_axis_name(s, a, text[a]);
        if (strcmp(known[a], name) == 0) {
            p->colour_axis = a;
            return TD_OK;
        }
    }
    const char *nearest = td_suggest(name, known, (size_t)b->axis_count);
    if (nearest)
        return td_fail(TD_ARGUMENT, "no axis %s in \"%s\" to colour by; did you mean %s?", name,
                       b->layout->pattern.text, nearest);
    return td_fail(TD_ARGUMENT, "no axis %s in \"%s\" to colour by; name one of its axes", name,
                   b->layout->pattern.text);
}

/* Which kinds of cells the legend explains. */
static void look_for_kinds(td_picture *p)
{
    const td_view *s = p->view;
    const td_bound *b = &s->bound;
    p->has_pad = b->ragged && b->layout->pad;
    p->has_clipped = false;
    for (size_t d = 0; d < b->rank && b->layout->clip; d++)
        for (int a = 0; a < b->axis_count; a++)
            if (b->axis[a].dim == (int)d && b->axis[a].role == TD_ROLE_LANE && b->dim[d].padded != b->dim[d].length)
                p->has_clipped = true;
    p->has_unused = b->count[TD_ROLE_LANE] * s->request.memory_dtype.bits < s->request.geometry.width_bits * s->beats;
}

static td_status make(td_picture *p, const td_scene *scene, td_text *out)
{
    const td_view *s = p->view;
    p->bank_count = s->bank_count < MAX_BANKS ? s->bank_count : MAX_BANKS;
    td_status status = choose_colour(p, scene->colour);
    if (!status)
        status = collect_words(p);
    if (!status)
        status = choose_rows(p);
    if (status)
        return status;
    choose_scale(p);
    look_for_kinds(p);
    td_picture_draw(p, out);
    return out->failed ? td_fail_alloc(out->used) : TD_OK;
}

td_status td_layout_svg(const td_layout *layout, const td_scene *scene, char **svg)
{
    if (!layout || !scene || !svg)
        return td_fail(TD_ARGUMENT, "layout_svg: the %s is NULL; pass one",
                       !layout  ? "layout"
                       : !scene ? "scene"
                                : "output");
    td_view *s = NULL;
    td_text out = {0};
    td_picture p = {0};
    td_status status = td_view_open(layout, scene, &s);
    if (!status) {
        const unsigned mode = td_mode_enter();
        p.view = s;
        status = make(&p, scene, &out);
        td_mode_leave(mode);
    }
    free(p.word);
    free(p.row);
    td_view_close(&s);
    if (status) {
        free(out.text);
        td_fail_prefix("layout_svg: ");
        return status;
    }
    *svg = out.text;
    return TD_OK;
}
