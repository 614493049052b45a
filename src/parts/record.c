/* See record.h. Reads a record's words against the parts that they name, and lists its fields. It refuses what the
 * parts do not have: codes, bits, orders that do not count every code once, and bits that stand in two fields. */
#include "parts/record.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST_TILE 65536 /* elements of a tile */
#define MOST_ITEMS 8    /* between braces */
#define MOST_AXES 8

#define K_SCALES "{scales.0-5[0-3] scales.4-5[4-7]} {mins.0-5[0-3] mins.4-5[4-7]} {scales.0-3[4-7] mins.0-3[4-7]} "

/* Of packings, and under names of their own. */
static const struct {
    const char *name, *text;
} named[] = {
    {"q4_0", "tile=32 scales elems^8(h2 i16>i h)"},
    {"q4_1", "tile=32 scales mins elems(h2 i16>i h)"},
    {"q5_0", "tile=32 scales elems.4^1 elems.0-3(h2 i16>i h)"},
    {"q5_1", "tile=32 scales mins elems.4 elems.0-3(h2 i16>i h)"},
    {"q8_0", "tile=32 scales elems"},
    {"q2_K", "tile=256 {scales mins} elems(n2 j4 l32>n l j) supers"},
    {"q3_K", "tile=256 elems.2^1(j8 l32>l j) elems.0-1(n2 j4 l32>n l j) {scales.0-3[0-7] scales.0-3[8-15]} "
             "scales.4-5^2(a4 b4>b a) supers"},
    {"q4_K", "tile=256 supers " K_SCALES "elems(n4 h2 l32>n l h)"},
    {"q5_K", "tile=256 supers " K_SCALES "elems.4(n4 h2 l32>l n h) elems.0-3(n4 h2 l32>n l h)"},
    {"q6_K", "tile=256 elems.0-3(n2 h2 l64>n l h) elems.4-5^2(n2 j4 l32>n l j) scales supers"},
    {"ggml_mxfp4", "tile=32 scales elems(h2 i16>i h)"},
    {"ggml_nvfp4", "tile=64 scales elems(s4 h2 i8>s i h)"},
    {"bfp8", "tile=32x32 scales(f2 r16 g2>f g r) align=16 elems(f2 r16 g2 c16>f g r c) align=16"},
    {"bfp4", "tile=32x32 scales(f2 r16 g2>f g r) align=16 elems(f2 r16 g2 c16>f g r c) align=16"},
    {"mxfp4", "tile=32 elems"},
    {"gptq", "tile=8x1 elems word=u32"},
    {"awq", "tile=1x8 elems(p4 q2>q p) word=u32"},
    {"awq_gemv", "tile=8 elems word=u32"},
    {"awq_gemv_fast", "tile=4x64 elems(n4 s2 a4 b4 c2>n s b c a) word=u16"},
};

typedef struct reader {
    const td_parts *parts;
    const char *text, *at;         /* the whole, for messages, and what is not read yet */
    td_shape tile;                 /* along every dimension; rank 0 while it is not known */
    uint64_t codes[TD_MOST_PARTS]; /* of each part in a tile */
    uint64_t *seen[TD_MOST_PARTS]; /* bits that a field has, by code */
    td_record *out;
} reader;

/* The codes of one part in their order. */
typedef struct item {
    int part;
    uint64_t first, count; /* codes */
    uint32_t invert;
    uint8_t low, bits;
    size_t axes;
    uint64_t size[MOST_AXES];
    size_t order[MOST_AXES]; /* the axis at each place */
} item;

static td_status fail_at(const reader *r, const char *what)
{
    char found[TD_UNEXPECTED_BYTES];
    return td_fail(TD_OPTION, "%s in record \"%s\" at \"%.24s\": %s", td_text_unexpected(r->at, found), r->text, r->at,
                   what);
}

static void skip(reader *r)
{
    r->at += strspn(r->at, " \t");
}

static bool take(reader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static td_status read_number(reader *r, const char *what, uint64_t *out)
{
    return td_text_number(&r->at, out) ? TD_OK : fail_at(r, what);
}

/* N or N-N. */
static td_status read_range(reader *r, const char *what, uint64_t *first, uint64_t *last)
{
    td_status status = read_number(r, what, first);
    *last = *first;
    if (!status && take(r, '-'))
        status = read_number(r, what, last);
    return status;
}

/* -- the tile -- */

/* Elements of the tensor that share a code of the part along dimension d. */
static uint64_t share_of(const td_parts *p, int part, size_t d)
{
    return (p->shape.dim[d] - 1) / p->form[part].shape.dim[d] + 1;
}

/* Where the records of each part begin; a part that a tile does not hold whole codes of has none. */
static void find_steps(reader *r)
{
    const td_parts *p = r->parts;
    for (int part = 0; part < TD_MOST_PARTS; part++) {
        const td_shape *shape = &p->form[part].shape;
        if (!p->form[part].name || shape->rank < p->shape.rank || p->form[part].dtype.bits > 32)
            continue;
        r->out->step[part].rank = shape->rank;
        r->codes[part] = 1;
        for (size_t d = 0; d < shape->rank; d++) {
            const bool own = d >= p->shape.rank; /* a dimension behind those of the tensor */
            const uint64_t share = own ? 1 : share_of(p, part, d), tile = own ? shape->dim[d] : r->tile.dim[d];
            r->out->step[part].dim[d] = tile / share;
            r->codes[part] *= tile % share ? 0 : tile / share;
        }
    }
}

static td_status read_tile(reader *r)
{
    uint64_t size[TD_MAX_RANK], elems = 1;
    char shape[TD_SHAPE_TEXT_BYTES];
    const td_parts *p = r->parts;
    size_t count = 0;
    td_status status = TD_OK;
    do {
        if (count == p->shape.rank)
            return td_fail(TD_OPTION, "tile= in record \"%s\" has more dimensions than shape %s; leave some out",
                           r->text, td_shape_print(&p->shape, shape));
        status = read_number(r, "tile= needs sizes like tile=32 or tile=32x32", &size[count]);
        if (!status && (size[count] == 0 || size[count] > MOST_TILE || (elems *= size[count]) > MOST_TILE))
            status = td_fail(TD_OPTION, "tile= in record \"%s\" has %s elements; pass 1 to %d", r->text,
                             size[count] ? "too many" : "no", MOST_TILE);
        count++;
    } while (!status && take(r, 'x'));
    if (status)
        return status;
    r->tile.rank = r->out->grid.rank = p->shape.rank;
    for (size_t d = 0; d < p->shape.rank; d++) {
        r->tile.dim[d] = d + count < p->shape.rank ? 1 : size[d + count - p->shape.rank];
        if (p->shape.dim[d] % r->tile.dim[d])
            return td_fail(TD_SHAPE,
                           "dimension %zu of shape %s does not fill records of %" PRIu64 " (record \"%s\"); pad the "
                           "tensor",
                           d, td_shape_print(&p->shape, shape), r->tile.dim[d], r->text);
        r->out->grid.dim[d] = p->shape.dim[d] / r->tile.dim[d];
    }
    find_steps(r);
    return TD_OK;
}

/* -- items -- */

static td_status find_part(reader *r, const char *name, item *out)
{
    const char *known[TD_MOST_PARTS];
    size_t count = 0;
    td_text list = {0};
    for (int part = 0; part < TD_MOST_PARTS; part++) {
        if (!r->parts->form[part].name)
            continue;
        if (strcmp(r->parts->form[part].name, name) == 0) {
            out->part = part;
            free(list.text);
            return TD_OK;
        }
        td_text_add(&list, "%s%s", count ? ", " : "", r->parts->form[part].name);
        known[count++] = r->parts->form[part].name;
    }
    const char *near = td_suggest(name, known, count);
    const td_status status = td_fail(TD_OPTION, "\"%s\" in record \"%s\" is no part of \"%s\"; %s%s%s%s", name, r->text,
                                     r->parts->name, near ? "did you mean \"" : "they are ", near ? near : "",
                                     near ? "\"? they are " : "", list.text ? list.text : "");
    free(list.text);
    return status;
}

static size_t read_name(reader *r, char *name, size_t room)
{
    size_t used = 0;
    while (td_is_name_char(*r->at) && (used || td_is_name_start(*r->at)) && used + 1 < room)
        name[used++] = *r->at++;
    name[used] = 0;
    return used;
}

/* "h2 i16>i h": a letter and a size for each axis, slowest first, then the letters as they are stored. */
static td_status read_order(reader *r, item *out)
{
    char letter[MOST_AXES] = {0};
    uint64_t product = 1;
    size_t stored = 0;
    unsigned seen = 0;
    td_status status = TD_OK;
    for (skip(r); !status && !take(r, '>'); skip(r)) {
        if (out->axes == MOST_AXES || !td_is_name_start(*r->at))
            return fail_at(r, "an order has axes of one letter and a size, then > and the letters, like (h2 i16>i h)");
        letter[out->axes] = *r->at++;
        status = read_number(r, "an axis has a size behind its letter, like h2", &out->size[out->axes]);
        if (!status && (out->size[out->axes] == 0 || out->size[out->axes] > MOST_TILE))
            return fail_at(r, "the size before it is not 1 to 65536");
        product *= status ? 1 : out->size[out->axes++];
    }
    for (skip(r); !status && !take(r, ')'); skip(r)) {
        size_t axis = 0;
        while (axis < out->axes && letter[axis] != *r->at)
            axis++;
        if (axis == out->axes || seen >> axis & 1)
            return fail_at(r, "behind > every axis stands once");
        seen |= 1U << axis;
        out->order[stored++] = axis;
        r->at++;
    }
    if (!status && (stored != out->axes || product != out->count))
        status = td_fail(TD_OPTION,
                         "the order of \"%s\" in record \"%s\" has %" PRIu64 " codes%s, and the tile has %" PRIu64
                         "; the sizes multiply to that",
                         r->parts->form[out->part].name, r->text, product,
                         stored != out->axes ? ", not all stored" : "", out->count);
    return status;
}

static td_status read_item(reader *r, item *out)
{
    char name[32];
    uint64_t low = 0, high = 0, invert = 0;
    *out = (item){0};
    if (!read_name(r, name, sizeof name))
        return fail_at(r, "a part is named here, like scales or elems, or tile=, align=, word=");
    td_status status = find_part(r, name, out);
    if (status)
        return status;
    const td_dtype t = r->parts->form[out->part].dtype;
    out->count = r->codes[out->part];
    out->bits = t.bits;
    if (out->count == 0)
        return td_fail(TD_OPTION,
                       "a tile of record \"%s\" holds no whole code of \"%s\"; pass a larger tile=, or leave "
                       "the part out",
                       r->text, name);
    if (take(r, '.')) {
        status = read_range(r, "bits are numbers like .4 or .0-3", &low, &high);
        if (!status && (low > high || high >= t.bits))
            status = td_fail(TD_OPTION,
                             "bits %" PRIu64 "-%" PRIu64 " of \"%s\" in record \"%s\"; its codes have bits "
                             "0-%u",
                             low, high, name, r->text, t.bits - 1U);
        out->low = (uint8_t)low;
        out->bits = (uint8_t)(high - low + 1);
    }
    if (!status && take(r, '[')) {
        status = read_range(r, "codes are numbers like [0-7]", &low, &high);
        if (!status && !take(r, ']'))
            status = fail_at(r, "] ends the codes");
        if (!status && (low > high || high >= out->count))
            status = td_fail(TD_OPTION,
                             "codes %" PRIu64 "-%" PRIu64 " of \"%s\" in record \"%s\"; a tile has codes "
                             "0-%" PRIu64,
                             low, high, name, r->text, out->count - 1);
        out->first = low;
        out->count = high - low + 1;
    }
    if (!status && take(r, '^')) {
        status = read_number(r, "bits to invert are a number like ^8", &invert);
        if (!status && invert >> out->bits)
            status = td_fail(TD_OPTION, "^%" PRIu64 " of \"%s\" in record \"%s\" has more than its %u bits", invert,
                             name, r->text, out->bits);
        out->invert = (uint32_t)invert;
    }
    return !status && take(r, '(') ? read_order(r, out) : status;
}

/* The code at place n of the item. */
static uint64_t code_at(const item *it, uint64_t n)
{
    uint64_t index[MOST_AXES] = {0}, code = 0;
    for (size_t place = it->axes; place-- > 0; n /= it->size[it->order[place]])
        index[it->order[place]] = n % it->size[it->order[place]];
    for (size_t axis = 0; axis < it->axes; axis++)
        code = code * it->size[axis] + index[axis];
    return it->first + (it->axes ? code : n);
}

/* The element of the part that a code of the first tile is. */
static uint64_t offset_of(const reader *r, int part, uint64_t code)
{
    const td_shape *shape = &r->parts->form[part].shape, *step = &r->out->step[part];
    uint64_t offset = 0, stride = 1;
    for (size_t d = shape->rank; d-- > 0; stride *= shape->dim[d]) {
        offset += code % step->dim[d] * stride;
        code /= step->dim[d];
    }
    return offset;
}

static td_status add_field(td_record *out, td_record_field field)
{
    if (out->count == out->room) {
        const size_t room = 2 * out->room + 64;
        td_record_field *grown = realloc(out->fields, room * sizeof *grown);
        if (!grown)
            return td_fail_alloc(room * sizeof *grown);
        out->fields = grown;
        out->room = room;
    }
    out->fields[out->count++] = field;
    out->bits += field.bits;
    return TD_OK;
}

static td_status add_code(reader *r, const item *it, uint64_t n)
{
    const uint64_t code = code_at(it, n), own = (((uint64_t)1 << it->bits) - 1) << it->low;
    uint64_t **seen = &r->seen[it->part];
    if (!*seen)
        *seen = calloc(r->codes[it->part], sizeof **seen);
    if (!*seen)
        return td_fail_alloc(r->codes[it->part] * sizeof **seen);
    if ((*seen)[code] & own)
        return td_fail(TD_OPTION, "record \"%s\" has bits of \"%s\" twice (code %" PRIu64 "); every bit has one place",
                       r->text, r->parts->form[it->part].name, code);
    (*seen)[code] |= own;
    r->out->used[it->part] = true;
    return add_field(r->out,
                     (td_record_field){offset_of(r, it->part, code), it->invert, (uint8_t)it->part, it->low, it->bits});
}

/* One item, or several in turn. */
static td_status read_items(reader *r)
{
    item items[MOST_ITEMS];
    size_t count = 0;
    td_status status = TD_OK;
    const bool several = take(r, '{');
    do {
        skip(r);
        if (count == MOST_ITEMS)
            return fail_at(r, "at most 8 parts take turns");
        status = read_item(r, &items[count]);
        if (!status && items[count].count != items[0].count)
            status = td_fail(TD_OPTION,
                             "between braces of record \"%s\" \"%s\" has %" PRIu64 " codes and \"%s\" %" PRIu64
                             "; those that take turns have as many",
                             r->text, r->parts->form[items[0].part].name, items[0].count,
                             r->parts->form[items[count].part].name, items[count].count);
        count++;
        skip(r);
    } while (!status && several && !take(r, '}'));
    for (uint64_t n = 0; !status && n < items[0].count; n++)
        for (size_t i = 0; !status && i < count; i++)
            status = add_code(r, &items[i], n);
    return status;
}

/* -- other words -- */

static td_status read_align(reader *r)
{
    uint64_t bytes = 0;
    td_status status = read_number(r, "align= needs a number of bytes", &bytes);
    if (!status && (bytes == 0 || bytes > 4096))
        status = td_fail(TD_OPTION, "align=%" PRIu64 " in record \"%s\"; pass 1 to 4096 bytes", bytes, r->text);
    while (!status && r->out->bits % (8 * bytes)) {
        const uint64_t left = 8 * bytes - r->out->bits % (8 * bytes);
        status = add_field(r->out, (td_record_field){.part = TD_MOST_PARTS, .bits = (uint8_t)(left < 32 ? left : 32)});
    }
    return status;
}

static td_status read_word(reader *r)
{
    char name[TD_DTYPE_NAME_BYTES] = "";
    read_name(r, name, sizeof name);
    const td_status status = td_dtype_parse(name, &r->out->word);
    if (!status && (r->out->word.kind == TD_KIND_FLOAT || r->out->word.bits != 8U * r->out->word.bytes))
        return td_fail(TD_OPTION, "word=%s in record \"%s\"; pass an integer of 8, 16, 32 or 64 bits, like word=u32",
                       name, r->text);
    return status;
}

static bool take_key(reader *r, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(r->at, key, length) != 0)
        return false;
    r->at += length;
    return true;
}

static td_status read_words(reader *r)
{
    td_status status = TD_OK;
    for (skip(r); !status && *r->at; skip(r)) {
        if (take_key(r, "word="))
            status = read_word(r);
        else if (take_key(r, "tile=")) {
            if (r->tile.rank)
                return fail_at(r, "tile= stands twice; keep one of them");
            status = read_tile(r);
        } else if (!r->tile.rank)
            return fail_at(r, "a record begins with its tile=, like tile=32");
        else
            status = take_key(r, "align=") ? read_align(r) : read_items(r);
    }
    if (!status && r->out->count == 0)
        status =
            td_fail(TD_OPTION, "record \"%s\" names no part; write something like \"tile=32 scales elems\"", r->text);
    if (!status && r->out->bits % r->out->word.bits)
        status = td_fail(TD_OPTION,
                         "record \"%s\" has %" PRIu64 " bits, which fill no words of %u; add align=%u at its "
                         "end",
                         r->text, r->out->bits, r->out->word.bits, r->out->word.bytes);
    return status;
}

static const char *text_of(const char *name)
{
    for (size_t i = 0; i < COUNT(named); i++)
        if (strcmp(named[i].name, name) == 0)
            return named[i].text;
    return NULL;
}

/* The text of a name; one that has none is itself. MX and NVFP4 have records of ggml beside others. */
static td_status find_text(const td_parts *parts, const char *text, const char **out)
{
    const bool ggml = text && strcmp(text, "ggml") == 0,
               own = !text || !*text || ggml || strcmp(text, "tenstorrent") == 0;
    char name[TD_PACKING_NAME_BYTES + 8];
    snprintf(name, sizeof name, "ggml_%s", parts->name);
    *out = ggml ? text_of(name) : NULL;
    if (!*out)
        *out = text_of(own ? parts->name : text);
    if (!*out && own)
        return td_fail(TD_OPTION, "packing \"%s\" has no record of its own; pass one, like \"tile=32 scales elems\"",
                       parts->name);
    *out = *out ? *out : text;
    return TD_OK;
}

td_status td_record_parse(const td_parts *parts, const char *text, td_record *out)
{
    td_record record = {.word = {TD_KIND_UINT, 8, 0, 1, 0, 0, 0, 0}};
    reader r = {.parts = parts, .out = &record};
    td_status status = find_text(parts, text, &r.text);
    r.at = r.text;
    if (!status)
        status = read_words(&r);
    for (int part = 0; part < TD_MOST_PARTS; part++)
        free(r.seen[part]);
    if (status)
        td_record_free(&record);
    else
        *out = record;
    return status;
}

void td_record_free(td_record *record)
{
    free(record->fields);
    *record = (td_record){0};
}
