/* See record.h. The calls that put parts into records and take them out again. Records are independent of each other,
 * so threads share them. */
#include "parts/record.h"

#include "base/pool.h"

#include <inttypes.h>
#include <string.h>

typedef struct work {
    const td_record *record;
    td_tensor *const *part;
    td_shape shapes[TD_MOST_PARTS]; /* a part may have been reshaped since it was made */
    unsigned char *bytes;           /* of the records */
    uint64_t records;
    unsigned pieces;
    bool back;
} work;

static uint64_t records_of(const td_record *record)
{
    uint64_t records = 1;
    for (size_t d = 0; d < record->grid.rank; d++)
        records *= record->grid.dim[d];
    return records;
}

/* The first element of every part in record `number`. */
static void find_bases(const td_record *record, td_tensor *const *part, const td_shape *shapes, uint64_t number,
                       uint64_t *base)
{
    uint64_t at[TD_MAX_RANK] = {0};
    for (size_t d = record->grid.rank; d-- > 0; number /= record->grid.dim[d])
        at[d] = number % record->grid.dim[d];
    for (int p = 0; p < TD_MOST_PARTS; p++) {
        uint64_t stride = 1;
        base[p] = 0;
        for (size_t d = part[p] ? shapes[p].rank : 0; d-- > 0; stride *= shapes[p].dim[d])
            base[p] += at[d] * record->step[p].dim[d] * stride;
    }
}

static uint64_t get_code(const td_tensor *t, uint64_t elem)
{
    uint64_t bits = 0;
    memcpy(&bits, t->data + elem * t->dtype.bytes, t->dtype.bytes);
    return bits;
}

static void put_record(const work *w, const uint64_t *base, unsigned char *dst)
{
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < w->record->count; i++) {
        const td_record_field *f = &w->record->fields[i];
        const uint64_t own = ((uint64_t)1 << f->bits) - 1;
        if (f->part < TD_MOST_PARTS)
            held |= ((get_code(w->part[f->part], base[f->part] + f->offset) >> f->low & own) ^ f->invert) << bits;
        for (bits += f->bits; bits >= 8; bits -= 8, held >>= 8)
            *dst++ = (unsigned char)held;
    }
}

static void take_record(const work *w, const uint64_t *base, const unsigned char *src)
{
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < w->record->count; i++) {
        const td_record_field *f = &w->record->fields[i];
        const uint64_t own = ((uint64_t)1 << f->bits) - 1;
        for (; bits < f->bits; bits += 8)
            held |= (uint64_t)*src++ << bits;
        if (f->part < TD_MOST_PARTS) {
            td_tensor *t = w->part[f->part];
            const uint64_t elem = base[f->part] + f->offset,
                           code = (get_code(t, elem) & ~(own << f->low)) | ((held & own) ^ f->invert) << f->low,
                           extended = td_dtype_extend(t->dtype, code & td_dtype_mask(t->dtype));
            memcpy(t->data + elem * t->dtype.bytes, &extended, t->dtype.bytes);
        }
        held >>= f->bits;
        bits -= f->bits;
    }
}

static void run_records(void *context, unsigned begin, unsigned end)
{
    const work *w = context;
    const uint64_t bytes = w->record->bits / 8;
    for (uint64_t i = w->records * begin / w->pieces; i < w->records * end / w->pieces; i++) {
        uint64_t base[TD_MOST_PARTS];
        find_bases(w->record, w->part, w->shapes, i, base);
        if (w->back)
            take_record(w, base, w->bytes + i * bytes);
        else
            put_record(w, base, w->bytes + i * bytes);
    }
}

static void run(const td_parts *parts, const td_record *record, const td_tensor *words, bool back)
{
    work w = {
        .record = record, .part = parts->tensor, .bytes = words->data, .records = records_of(record), .back = back};
    for (int p = 0; p < TD_MOST_PARTS; p++)
        w.shapes[p] = parts->form[p].shape;
    w.pieces = td_pool_parts(w.records * (record->bits / 8), w.records);
    td_pool_run(w.pieces, run_records, &w);
}

/* -- the calls -- */

/* The parts that the record names are there and, on the way back, can be written. */
static td_status check_parts(const td_parts *parts, const td_record *record, bool back)
{
    td_status status = TD_OK;
    for (int p = 0; p < TD_MOST_PARTS && !status; p++) {
        if (!record->used[p])
            continue;
        if (!parts->tensor[p])
            status = td_fail(TD_ARGUMENT, "the part \"%s\" of \"%s\" was taken; join the parts again",
                             parts->form[p].name, parts->name);
        else if (back)
            status = td_tensor_check_writable("parts_set_record", parts->tensor[p]);
        else
            status = td_file_check(parts->tensor[p]->origin);
    }
    return status;
}

static td_status read_record(const td_parts *parts, const char *text, td_record *out)
{
    if (parts->is_sparse)
        return td_fail(TD_ARGUMENT,
                       "\"%s\" is sparse, and its parts have no blocks to put into records; load each part",
                       parts->name);
    return td_record_parse(parts, text, out);
}

td_status td_parts_record(const td_parts *parts, const char *record, td_tensor **out)
{
    static const char call[] = "parts_record: ";
    if (!parts || !out)
        return td_fail(TD_ARGUMENT, "%s%s is NULL; pass parts, and a td_tensor", call, parts ? "out" : "parts");
    td_record r = {0};
    char word[TD_DTYPE_NAME_BYTES];
    td_tensor *tensor = NULL;
    td_status status = read_record(parts, record, &r);
    if (!status)
        status = check_parts(parts, &r, false);
    td_shape shape = r.grid;
    const uint64_t words = status ? 0 : r.bits / r.word.bits;
    if (words > 1 && shape.rank == TD_MAX_RANK)
        status =
            td_fail(TD_SHAPE, "a tensor of %d dimensions has no room for that of its records; reshape it", TD_MAX_RANK);
    else if (words > 1)
        shape.dim[shape.rank++] = words;
    if (!status) {
        td_dtype_print(r.word, word);
        status = td_tensor_create(word, shape, &tensor);
    }
    if (status)
        td_fail_prefix("%s", call);
    else {
        run(parts, &r, tensor, false);
        *out = tensor;
    }
    td_record_free(&r);
    return status;
}

td_status td_parts_set_record(td_parts *parts, const char *record, const td_tensor *words)
{
    static const char call[] = "parts_set_record: ";
    if (!parts || !words)
        return td_fail(TD_ARGUMENT, "%s%s is NULL; pass parts, and a tensor of records", call,
                       parts ? "the tensor" : "parts");
    td_record r = {0};
    char found[TD_SHAPE_TEXT_BYTES];
    td_status status = td_file_check(words->origin);
    if (!status)
        status = read_record(parts, record, &r);
    if (!status)
        status = check_parts(parts, &r, true);
    const uint64_t needed = status ? 0 : records_of(&r) * (r.bits / 8);
    if (!status && (words->dtype.bits != 8U * words->dtype.bytes || words->elems * words->dtype.bytes != needed))
        status = td_fail(TD_SHAPE,
                         "a tensor of %s, shape %s, for %" PRIu64 " records of %" PRIu64 " bytes; pass %" PRIu64
                         " bytes, as u8 or wider integers",
                         words->dtype_name, td_shape_print(&words->shape, found), records_of(&r), r.bits / 8, needed);
    if (status)
        td_fail_prefix("%s", call);
    else
        run(parts, &r, words, true);
    td_record_free(&r);
    return status;
}
