/* Writes the SVG of a picture (picture.h), for picture.c. Words go down; bits go across with the most significant on
 * the left, as in a hex dump; banks stand side by side with equal addresses on one line. */
#include "show/picture.h"

#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MARGIN 28.0
#define LABEL_PX 84.0 /* addresses, left of the words */
#define NOTE_PX 250.0 /* coordinates of a word, right of them */
#define ROW_PX 26.0
#define BREAK_PX 24.0
#define BANK_GAP_PX 40.0
#define HEAD_PX 176.0 /* above the first row; more with the names of banks */
#define BANK_NAME_PX 22.0

/* Light enough for dark text, and distinct for most colour-blind readers. */
static const char *const palette[] = {"#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99",
                                      "#8dd3c7", "#e5c494", "#bcbddc", "#fccde5", "#c7e9c0", "#d9d9f3"};
enum { PALETTE = sizeof palette / sizeof palette[0] };

static void add_escaped(td_text *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            td_text_add(out, "&amp;");
            break;
        case '<':
            td_text_add(out, "&lt;");
            break;
        case '>':
            td_text_add(out, "&gt;");
            break;
        case '"':
            td_text_add(out, "&quot;");
            break;
        default:
            td_text_add(out, "%c", *text);
        }
}

/* A few steps have a colour each; many run from blue over green to yellow. */
static void add_colour(td_text *out, uint64_t value, uint64_t size)
{
    static const int stop[5][3] = {{158, 173, 222}, {143, 199, 216}, {158, 216, 180}, {210, 228, 150}, {253, 231, 150}};
    if (size <= PALETTE) {
        td_text_add(out, "%s", palette[value % PALETTE]);
        return;
    }
    const double at = 4.0 * (double)value / (double)(size - 1);
    const int from = at >= 4 ? 3 : (int)at;
    td_text_add(out, "#");
    for (int c = 0; c < 3; c++)
        td_text_add(out, "%02x", (unsigned)(stop[from][c] + (stop[from + 1][c] - stop[from][c]) * (at - from)));
}

static double rows_y(const td_picture *p)
{
    return p->view->bank_count > 1 ? HEAD_PX + BANK_NAME_PX : HEAD_PX;
}

static double bank_x(const td_picture *p, uint64_t bank)
{
    return MARGIN + LABEL_PX + (double)bank * (p->word_px + BANK_GAP_PX);
}

/* -- above the words -- */

static void add_heading(const td_picture *p, td_text *out)
{
    const td_view *s = p->view;
    const td_layout *layout = s->request.layout;
    char shape[TD_SHAPE_TEXT_BYTES];
    td_text_add(out, "<text class=\"code\" x=\"%.1f\" y=\"42\" font-size=\"17\" font-weight=\"bold\">", MARGIN);
    add_escaped(out, td_layout_pattern(layout));
    td_text_add(out, "</text>\n<text class=\"code soft\" x=\"%.1f\" y=\"64\" font-size=\"13\">", MARGIN);
    add_escaped(out, *td_layout_options(layout) ? td_layout_options(layout) : "no options");
    td_text_add(out, " &#183; address: ");
    if (!*td_layout_address(layout) && layout->beats > 1)
        td_text_add(out, "%" PRIu64 "*", layout->beats);
    add_escaped(out, *td_layout_address(layout) ? td_layout_address(layout) : layout->flat ? "0" : "index");
    td_text_add(out, "</text>\n<text class=\"soft\" x=\"%.1f\" y=\"86\" font-size=\"13\">", MARGIN);
    td_text_add(out, "tensor %s %s in words of %" PRIu64 " bits (%s): %" PRIu64 " words", s->dtype_name[0],
                td_shape_print(&s->shape, shape), s->request.geometry.width_bits, s->dtype_name[1], s->word_count);
    if (s->bank_count > 1)
        td_text_add(out, " in %" PRIu64 " banks", s->bank_count);
    if (s->bank_count > p->bank_count)
        td_text_add(out, ", of which the first %" PRIu64 " are drawn", p->bank_count);
    td_text_add(out, "</text>\n");
}

static double add_swatch(td_text *out, double x, double y, const char *fill, const char *label)
{
    td_text_add(
        out,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"16\" rx=\"2\" stroke=\"#8a94a3\" stroke-width=\"0.6\" %s/>",
        x, y, fill);
    td_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">%s</text>\n", x + 21, y + 12.5, label);
    return x + 21 + 6.6 * (double)strlen(label) + 14;
}

static void add_legend(const td_picture *p, td_text *out)
{
    const td_view *s = p->view;
    const double y = 102;
    double x = MARGIN;
    char text[TD_AXIS_NAME_BYTES], label[24];
    if (p->colour_axis >= 0) {
        const uint64_t size = s->bound.axis[p->colour_axis].size;
        const char *name = td_view_axis_name(s, p->colour_axis, text);
        td_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\" font-weight=\"bold\">colour: %s</text>\n", x,
                    y + 12.5, name);
        x += 7.2 * (double)(strlen("colour: ") + strlen(name)) + 12;
        const uint64_t shown = size <= PALETTE ? size : 5;
        for (uint64_t i = 0; i < shown; i++) {
            const uint64_t value = size <= PALETTE ? i : i * (size - 1) / 4;
            td_text fill = {0};
            td_text_add(&fill, "fill=\"");
            add_colour(&fill, value, size);
            td_text_add(&fill, "\"");
            snprintf(label, sizeof label, "%" PRIu64, value);
            x = add_swatch(out, x, y, fill.failed ? "" : fill.text, label);
            td_free(fill.text);
        }
        x += 10;
    }
    if (p->has_pad) {
        td_text padding = {0};
        td_text_add(&padding, "padding (pad=%s)", s->request.layout->pad);
        out->failed |= padding.failed;
        x = add_swatch(out, x, y, "fill=\"url(#pad)\"", padding.failed ? "" : padding.text);
        td_free(padding.text);
    }
    if (p->has_clipped)
        x = add_swatch(out, x, y, "fill=\"#ffffff\" stroke-dasharray=\"3 2\"", "past the end, not written");
    if (p->has_unused)
        add_swatch(out, x, y, "fill=\"#d3d7de\"",
                   s->request.layout->keep ? "no lane: bits kept" : "no lane: bits cleared");
    td_text_add(out, "<text class=\"soft\" x=\"%.1f\" y=\"138\" font-size=\"12\">", MARGIN);
    td_text_add(out, p->cell_text ? "a cell holds the tensor coordinate of its element, "
                                  : "a cell is an element of the tensor, ");
    td_text_add(out, "a row is a word; bit 0 is on the right</text>\n");
}

/* The bit ruler and, where every word has the same lanes, their numbers. */
static void add_ruler(const td_picture *p, uint64_t bank, td_text *out)
{
    const td_view *s = p->view;
    const double x = bank_x(p, bank), y = rows_y(p) - 8;
    const uint64_t width = s->request.geometry.width_bits, lanes = s->bound.count[TD_ROLE_LANE];
    if (s->bank_count > 1)
        td_text_add(
            out,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"13\" font-weight=\"bold\" text-anchor=\"middle\">bank %" PRIu64
            "</text>\n",
            x + p->word_px / 2, y - 18, bank);
    if (s->beats > 1 || p->cell_px < 20) {
        td_text_add(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\">bit %" PRIu64 "</text>", x, y,
                    width - 1);
        td_text_add(out,
                    "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"end\">bit 0</text>\n",
                    x + p->word_px, y);
        return;
    }
    for (uint64_t lane = 0; lane < lanes; lane++) {
        td_piece piece[64];
        if (!td_lanes_pieces(&s->cut, &s->request, &s->lanes, lane, piece))
            continue;
        const double middle = x + ((double)width - (double)piece[0].memory - (double)piece[0].bits / 2) * p->bit_px;
        td_text_add(out,
                    "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"middle\">%" PRIu64
                    "</text>",
                    middle, y, lane);
    }
    if (bank == 0)
        td_text_add(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"end\">lane</text>",
                    MARGIN + LABEL_PX - 12, y);
    td_text_add(out, "\n");
}

/* -- words -- */

static void add_title(const td_picture *p, const td_drawn_word *w, uint64_t lane, const uint64_t *at, td_text *out)
{
    const td_view *s = p->view;
    char name[TD_AXIS_NAME_BYTES];
    td_text_add(out, "<title>word 0x%" PRIx64 " lane %" PRIu64 ":", w->address, lane);
    for (int role = 0; role < TD_ROLES; role++)
        for (int i = 0; i < s->bound.role_count[role]; i++) {
            const int a = s->bound.role_axis[role][i];
            if (s->bound.axis[a].size > 1)
                td_text_add(out, " %s=%" PRIu64, td_view_axis_name(s, a, name), at[a]);
        }
    td_text_add(out, "</title>");
}

static void add_piece(const td_picture *p, double x, double y, double wide, td_cell kind, uint64_t value, td_text *out)
{
    const double line = p->cell_px >= 6 ? 1.0 : p->cell_px >= 3 ? 0.4 : 0.0;
    td_text_add(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ", x, y, wide, ROW_PX - 2);
    if (kind == TD_CELL_PAD)
        td_text_add(out, "fill=\"url(#pad)\" stroke=\"#ffffff\" stroke-width=\"%.1f\"/>", line);
    else if (kind == TD_CELL_CLIPPED)
        td_text_add(out, "fill=\"#ffffff\" stroke=\"#aab2bd\" stroke-width=\"0.8\" stroke-dasharray=\"3 2\"/>");
    else {
        td_text_add(out, "fill=\"");
        add_colour(out, value, p->colour_axis >= 0 ? p->view->bound.axis[p->colour_axis].size : 1);
        td_text_add(out, "\" stroke=\"#ffffff\" stroke-width=\"%.1f\"/>", line);
    }
}

/* The parts of one lane that lie in this word. */
static void add_lane(const td_picture *p, const td_drawn_word *w, double x, double y, uint64_t lane, td_text *out)
{
    const td_view *s = p->view;
    const int64_t word_bits = (int64_t)s->request.geometry.word_bytes * 8;
    const uint64_t width = s->request.geometry.width_bits;
    const uint64_t skipped = s->request.layout->flat ? s->lanes.first_bit / width : 0;
    td_piece piece[64];
    const size_t count = td_lanes_pieces(&s->cut, &s->request, &s->lanes, lane, piece);
    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)(piece[i].memory / word_bits) - skipped != w->beat)
            continue;
        uint64_t at[TD_MAX_BOUND];
        td_shape coordinate;
        const td_cell kind = td_view_lane(s, w->number, lane, at, &coordinate);
        if (kind == TD_CELL_ELSEWHERE)
            return;
        const uint64_t top = (uint64_t)(piece[i].memory % word_bits) + piece[i].bits;
        const double left = x + (double)(width - top) * p->bit_px, wide = (double)piece[i].bits * p->bit_px;
        if (p->titles)
            td_text_add(out, "<g>");
        add_piece(p, left, y, wide, kind, p->colour_axis >= 0 ? at[p->colour_axis] : 0, out);
        if (kind == TD_CELL_DATA && p->cell_text && wide >= p->cell_px * 0.6) {
            td_text_add(out, "<text class=\"cell\" x=\"%.1f\" y=\"%.1f\">", left + wide / 2, y + ROW_PX / 2 + 3);
            for (size_t d = 0; d < coordinate.rank; d++)
                td_text_add(out, "%s%" PRIu64, d ? "," : "", coordinate.dim[d]);
            td_text_add(out, "</text>");
        }
        if (p->titles) {
            add_title(p, w, lane, at, out);
            td_text_add(out, "</g>");
        }
    }
}

/* Where lane 0 begins in a vector's bits: the stream of a flat layout begins inside its first word. */
static uint64_t first_bit(const td_view *s)
{
    return s->request.layout->flat ? s->lanes.first_bit % s->lanes.part_bits : 0;
}

/* The lanes that can reach into a beat, as a range. */
static void lanes_of_beat(const td_view *s, uint64_t beat, uint64_t *first, uint64_t *end)
{
    const uint64_t lanes = s->bound.count[TD_ROLE_LANE], slot = s->lanes.slot_bits;
    const uint64_t before = first_bit(s), start = beat * s->lanes.part_bits;
    uint64_t low = start > before ? (start - before) / slot : 0,
             high = (start + s->lanes.part_bits - before) / slot + 1;
    high = high > lanes ? lanes : high;
    *first = s->request.layout->lanes_msb ? lanes - high : low;
    *end = s->request.layout->lanes_msb ? lanes - low : high;
}

/* The lane that owns a bit of a word, or false. */
static bool lane_at(const td_view *s, uint64_t beat, uint64_t bit, uint64_t *lane)
{
    const td_layout *layout = s->request.layout;
    const uint64_t lsb = layout->flat ? 0 : layout->lsb_bits, from = beat * s->lanes.part_bits + bit;
    if (bit < lsb || bit - lsb >= s->lanes.part_bits || from - lsb < first_bit(s))
        return false;
    const uint64_t in_vector = from - lsb - first_bit(s), place = in_vector / s->lanes.slot_bits;
    if (place >= s->bound.count[TD_ROLE_LANE])
        return false;
    *lane = layout->lanes_msb ? s->bound.count[TD_ROLE_LANE] - 1 - place : place;
    return in_vector % s->lanes.slot_bits < s->request.memory_dtype.bits;
}

/* Words with more lanes than pixels: the lane under every second pixel, with equal neighbours drawn as one. */
static void add_columns(const td_picture *p, const td_drawn_word *w, double x, double y, td_text *out)
{
    const td_view *s = p->view;
    const uint64_t width = s->request.geometry.width_bits;
    const int columns = (int)(p->word_px / TD_COLUMN_PX);
    int from = 0, last_kind = -1;
    uint64_t last_value = 0;
    for (int c = 0; c <= columns; c++) {
        uint64_t lane = 0, value = 0, at[TD_MAX_BOUND];
        td_shape coordinate;
        int kind = -1;
        const uint64_t from_left = (uint64_t)((c + 0.5) * TD_COLUMN_PX / p->bit_px);
        if (c < columns && from_left < width && lane_at(s, w->beat, width - 1 - from_left, &lane)) {
            kind = (int)td_view_lane(s, w->number, lane, at, &coordinate);
            kind = kind == TD_CELL_ELSEWHERE ? -1 : kind;
            value = p->colour_axis >= 0 ? at[p->colour_axis] : 0;
        }
        if (c < columns && c && kind == last_kind && value == last_value)
            continue;
        if (last_kind >= 0)
            add_piece(p, x + from * TD_COLUMN_PX, y, (c - from) * TD_COLUMN_PX, (td_cell)last_kind, last_value, out);
        from = c;
        last_kind = kind;
        last_value = value;
    }
}

static void add_word(const td_picture *p, const td_drawn_word *w, double y, td_text *out)
{
    const double x = bank_x(p, w->bank);
    uint64_t first = 0, end = 0;
    td_text_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#d3d7de\"/>\n", x, y,
                p->word_px, ROW_PX - 2);
    if (p->cell_px < TD_COLUMN_PX)
        add_columns(p, w, x, y, out);
    else {
        lanes_of_beat(p->view, w->beat, &first, &end);
        for (uint64_t lane = first; lane < end; lane++)
            add_lane(p, w, x, y, lane, out);
    }
    td_text_add(out, "\n");
}

/* Right of the word, where there is one bank: its steps on the word axes. */
static void add_note(const td_picture *p, const td_drawn_word *w, double y, td_text *out)
{
    const td_view *s = p->view;
    uint64_t at[TD_MAX_BOUND];
    td_shape coordinate;
    char name[TD_AXIS_NAME_BYTES];
    (void)td_view_lane(s, w->number, 0, at, &coordinate);
    td_text_add(out, "<text class=\"code soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\">",
                bank_x(p, p->bank_count - 1) + p->word_px + 14, y + ROW_PX / 2 + 3);
    for (int i = 0; i < s->bound.role_count[TD_ROLE_WORD]; i++) {
        const int a = s->bound.role_axis[TD_ROLE_WORD][i];
        if (s->bound.axis[a].size > 1)
            td_text_add(out, "%s=%" PRIu64 " ", td_view_axis_name(s, a, name), at[a]);
    }
    if (s->request.layout->beats > 1)
        td_text_add(out, "beat %" PRIu64, w->beat);
    td_text_add(out, "</text>\n");
}

static void add_break(const td_picture *p, double y, const char *text, td_text *out)
{
    td_text_add(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\" font-style=\"italic\">%s</text>\n",
                bank_x(p, 0) + 6, y + BREAK_PX / 2 + 3, text);
}

/* All rows; returns where the last one ends. */
static double add_rows(const td_picture *p, td_text *out)
{
    double y = rows_y(p);
    size_t w = 0;
    char text[96];
    for (size_t r = 0; r < p->row_count; r++) {
        const uint64_t skipped = r ? p->row[r] - p->row[r - 1] - 1 : 0;
        if (r && r == p->cut_after)
            snprintf(text, sizeof text, "... %" PRIu64 " more word%s ...", p->cut_words, td_text_s(p->cut_words));
        else
            snprintf(text, sizeof text, "... %" PRIu64 " word%s not touched ...", skipped, skipped == 1 ? "" : "s");
        if (skipped || (r && r == p->cut_after)) {
            add_break(p, y, text, out);
            y += BREAK_PX;
        }
        td_text_add(out,
                    "<text class=\"code\" x=\"%.1f\" y=\"%.1f\" font-size=\"12\" text-anchor=\"end\">0x%" PRIx64
                    "</text>\n",
                    MARGIN + LABEL_PX - 12, y + ROW_PX / 2 + 3, p->row[r]);
        while (w < p->word_count && p->word[w].address < p->row[r])
            w++;
        for (uint64_t bank = 0; bank < p->bank_count; bank++) {
            const size_t first = w;
            for (; w < p->word_count && p->word[w].address == p->row[r] && p->word[w].bank == bank; w++)
                add_word(p, &p->word[w], y, out);
            if (w > first && p->bank_count == 1 && !p->view->request.layout->skews)
                add_note(p, &p->word[first], y, out);
            if (w == first)
                td_text_add(
                    out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#e3e6ea\"/>\n",
                    bank_x(p, bank), y, p->word_px, ROW_PX - 2);
        }
        y += ROW_PX;
    }
    return y;
}

void td_picture_draw(const td_picture *p, td_text *out)
{
    td_text body = {0};
    add_heading(p, &body);
    add_legend(p, &body);
    for (uint64_t bank = 0; bank < p->bank_count; bank++)
        add_ruler(p, bank, &body);
    const double height = add_rows(p, &body) + MARGIN;
    double width = bank_x(p, p->bank_count - 1) + p->word_px + (p->bank_count == 1 ? NOTE_PX : MARGIN);
    const double heading = 2 * MARGIN + 10.3 * (double)strlen(td_layout_pattern(p->view->request.layout));
    width = width > heading ? width : heading;
    width = width > 780 ? width : 780;
    td_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                "font-family=\"Helvetica, Arial, sans-serif\" fill=\"#1f2733\">\n",
                width, height, width, height);
    td_text_add(
        out,
        "<style>.code{font-family:Menlo,Consolas,'DejaVu Sans Mono',monospace}.soft{fill:#5b6675}"
        ".cell{font-family:Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:10px;text-anchor:middle}</style>\n"
        "<defs><pattern id=\"pad\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\">"
        "<rect width=\"6\" height=\"6\" fill=\"#f4f5f7\"/><rect width=\"2\" height=\"6\" "
        "fill=\"#b4bbc6\"/></pattern></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
    td_text_add(out, "%s</svg>\n", body.failed ? "" : body.text);
    out->failed |= body.failed;
    td_free(body.text);
}
