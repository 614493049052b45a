/* The header of an .npy file: magic, version, and the one Python dict that numpy writes, read strictly. npy.c calls it
 * and nobody else. It trusts no length it reads: every step is bounded by the bytes that are there. It refuses what is
 * not numbers (objects, records, strings, dates) and complex numbers, each with its own words. */
#include "files/tensor/formats.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC_BYTES 6

/* The text between the version bytes and the data. */
typedef struct cursor {
    const char *at;
    const char *begin;
    const char *end;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static td_status fail_needed(const cursor *c, const char *what)
{
    return td_fail(TD_FORMAT, "the header needs %s at column %zu; write the file again with numpy.save", what,
                   (size_t)(c->at - c->begin) + 1);
}

static bool take_char(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A quoted string without escapes; *text and *length are a view of it. */
static bool take_string(cursor *c, const char **text, size_t *length)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at - 1));
    if (!close)
        return false;
    *text = c->at + 1;
    *length = (size_t)(close - *text);
    c->at = close + 1;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* -- the three values -- */

static td_status check_kind(const td_npy_header *h, const char *size_text)
{
    static const struct {
        char kind;
        const char *what;
    } refused[] = {
        {'O', "Python objects, which are no numbers; save an array of numbers"},
        {'c', "complex numbers; save the real and the imaginary part apart"},
        {'S', "byte strings; save an array of numbers"},
        {'a', "byte strings; save an array of numbers"},
        {'U', "strings; save an array of numbers"},
        {'M', "dates; save an array of numbers"},
        {'m', "time differences; save an array of numbers"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (h->kind == refused[i].kind)
            return td_fail(TD_DTYPE, "the array ('%s') holds %s", h->descr, refused[i].what);

    static const struct {
        char kind;
        const char *sizes;
    } known[] = {{'b', "1"}, {'i', "1248"}, {'u', "1248"}, {'f', "248"}, {'V', "1248"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (h->kind == known[i].kind && size_text[0] && size_text[1] == '\0' && strchr(known[i].sizes, size_text[0]))
            return TD_OK;
    return td_fail(TD_DTYPE, "the array's type '%s' is not known; save it as b1, i1-i8, u1-u8, f2, f4, f8 or V1-V8",
                   h->descr);
}

static td_status take_descr(cursor *c, td_npy_header *h)
{
    skip_blanks(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '('))
        return td_fail(TD_DTYPE, "the array holds records of several fields; save each field as an array of its own");
    const char *text = NULL;
    size_t length = 0;
    if (!take_string(c, &text, &length))
        return fail_needed(c, "a quoted type");
    if (length >= sizeof h->descr)
        return td_fail(TD_DTYPE, "the array's type has a name of %zu characters; save it as a plain number type",
                       length);
    memcpy(h->descr, text, length);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f)
            h->descr[i] = '.'; /* it goes into messages: one printable line */
    h->descr[length] = '\0';
    const char *order = length > 0 ? strchr("<>=|", h->descr[0]) : NULL;
    if (!order || length < 2)
        return td_fail(TD_DTYPE, "the array's type '%s' has no byte order in front; save the file with numpy.save",
                       h->descr);
    h->order = h->descr[0];
    h->kind = h->descr[1];
    td_status status = check_kind(h, h->descr + 2);
    if (status == TD_OK)
        h->elem_bytes = (uint8_t)(h->descr[2] - '0');
    return status;
}

static td_status take_shape(cursor *c, td_shape *shape)
{
    if (!take_char(c, '('))
        return fail_needed(c, "'(' of the shape");
    while (!take_char(c, ')')) {
        if (shape->rank == TD_MAX_RANK)
            return td_fail(TD_SHAPE, "the array has more than %d dimensions; reshape it", TD_MAX_RANK);
        skip_blanks(c);
        if (c->at < c->end && *c->at == '-')
            return td_fail(TD_SHAPE, "dimension %zu of the array is negative; write the file again", shape->rank);
        if (c->at == c->end || *c->at < '0' || *c->at > '9')
            return fail_needed(c, "a number or ')' of the shape");
        uint64_t extent = 0;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (!td_mul_fits(extent, 10, &extent) || !td_add_fits(extent, (uint64_t)(*c->at - '0'), &extent))
                return td_fail(TD_OVERFLOW, "dimension %zu of the array passes 2^63 - 1; use smaller extents",
                               shape->rank);
        if (c->at < c->end && *c->at == 'L')
            c->at++; /* as Python 2 wrote long integers */
        shape->dim[shape->rank++] = extent;
        if (take_char(c, ','))
            continue;
        if (!take_char(c, ')'))
            return fail_needed(c, "',' or ')' of the shape");
        break;
    }
    return TD_OK;
}

static td_status take_order(cursor *c, bool *fortran_order)
{
    if (take_word(c, "True"))
        *fortran_order = true;
    else if (take_word(c, "False"))
        *fortran_order = false;
    else
        return fail_needed(c, "True or False");
    return TD_OK;
}

/* -- the dict -- */

static td_status parse_dict(cursor *c, td_npy_header *h)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    if (!take_char(c, '{'))
        return fail_needed(c, "'{'");
    while (!take_char(c, '}')) {
        const char *key = NULL;
        size_t length = 0;
        if (!take_string(c, &key, &length))
            return fail_needed(c, "a quoted key or '}'");
        size_t k = 0;
        while (k < 3 && !(strlen(keys[k]) == length && memcmp(keys[k], key, length) == 0))
            k++;
        if (k == 3 || seen[k])
            return td_fail(TD_FORMAT,
                           "the header has %s at column %zu; it needs descr, fortran_order and shape, each once",
                           k == 3 ? "an unknown key" : "a key twice", (size_t)(key - c->begin) + 1);
        seen[k] = true;
        if (!take_char(c, ':'))
            return fail_needed(c, "':'");
        td_status status = k == 0   ? take_descr(c, h)
                           : k == 1 ? take_order(c, &h->fortran_order)
                                    : take_shape(c, &h->shape);
        if (status != TD_OK)
            return status;
        if (take_char(c, ','))
            continue;
        if (!take_char(c, '}'))
            return fail_needed(c, "',' or '}'");
        break;
    }
    for (size_t k = 0; k < 3; k++)
        if (!seen[k])
            return td_fail(TD_FORMAT, "the header has no %s; write the file again with numpy.save", keys[k]);
    skip_blanks(c);
    return c->at == c->end ? TD_OK : fail_needed(c, "nothing more");
}

td_status td_npy_parse(const unsigned char *bytes, size_t size, td_npy_header *out)
{
    static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (size < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return td_fail(TD_FORMAT, "not an .npy file: it does not begin with \\x93NUMPY; save it with numpy.save");
    if (size < MAGIC_BYTES + 2)
        return td_fail(TD_FORMAT, "the file ends inside its header, at byte %zu; write it again", size);
    unsigned version = bytes[MAGIC_BYTES];
    if (version < 1 || version > 3 || bytes[MAGIC_BYTES + 1] != 0)
        return td_fail(TD_FORMAT, "version %u.%u of the .npy format; 1.0, 2.0 and 3.0 are known", version,
                       (unsigned)bytes[MAGIC_BYTES + 1]);
    size_t length_bytes = version == 1 ? 2 : 4;
    size_t begin = MAGIC_BYTES + 2 + length_bytes;
    if (size < begin)
        return td_fail(TD_FORMAT, "the file ends inside its header, at byte %zu; write it again", size);
    size_t length = 0;
    for (size_t i = 0; i < length_bytes; i++)
        length |= (size_t)bytes[MAGIC_BYTES + 2 + i] << (8 * i);
    if (length > size - begin)
        return td_fail(TD_FORMAT,
                       "the file ends inside its header: it has %zu bytes, the header ends at %zu; write it again",
                       size, begin + length);

    td_npy_header h = {.data_offset = begin + length};
    cursor c = {(const char *)bytes + begin, (const char *)bytes + begin, (const char *)bytes + begin + length};
    td_status status = parse_dict(&c, &h);
    if (status == TD_OK)
        *out = h;
    return status;
}
