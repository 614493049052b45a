/* Guesses what the mismatches of a report have in common, for compare.c. Counts answer the easy questions (one bank,
 * one lane, one step of an axis, one bit). The others are hypotheses about which element, or which place, holds the
 * value that was found; each is tried on a sample of the mismatches, so the time does not grow with the tensor. A
 * guess is reported only when the whole sample agrees and the sample is not all one value. */
#include "report/macros.h"

#include "kernels/bits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer mismatches than this are coincidence. */
#define LEAST_SAMPLES 4
#define FAR_WORDS 16

void td_report_say(td_report *r, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    if (r->guess_count == TD_REPORT_GUESSES)
        return;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) >= 0)
        r->guess[r->guess_count++] = text;
    va_end(args);
}

/* -- counts -------------------------------------------------------------------------------------------------------- */

/* True when all mismatches are in one bucket of several; *where is that bucket. */
static bool is_in_one(const td_tally *t, size_t *where)
{
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->mismatches[i]) {
            *where = i;
            used++;
        }
    return used == 1 && t->count > 1;
}

/* All in one step of an axis, one lane, or one bank, which has a name too. */
static void say_place(td_report *r, const td_tally *t, size_t where)
{
    const char *bank = t->dim == -1 ? td_report_bank_name(r, where) : "";
    if (*bank)
        td_report_say(r, "all mismatches in %s %zu \"%s\"", t->name, where, bank);
    else
        td_report_say(r, t->dim < 0 ? "all mismatches in %s %zu" : "all mismatches at %s = %zu", t->name, where);
}

static void guess_places(td_report *r)
{
    size_t where = 0;
    for (size_t i = r->tally_count; i-- > 0;) { /* lanes and banks are last in the list and come first in the guesses */
        const td_tally *t = &r->tally[i];
        if (t->dim < -2 || !is_in_one(t, &where) || r->mismatches < 2)
            continue;
        if (t->bucket > 1)
            td_report_say(r, "all mismatches in %s %" PRIu64 " to %" PRIu64, t->name, where * t->bucket,
                          (where + 1) * t->bucket - 1);
        else
            say_place(r, t, where);
    }
}

static void guess_values(td_report *r)
{
    char text[TD_VALUE_BYTES];
    if (r->mismatches < LEAST_SAMPLES)
        return;
    if (r->same_actual)
        td_report_say(r, "every wrong element is %s: stuck, or never written",
                      td_report_value(r, r->sample[0].actual, text));
    if (r->changed && (r->changed & (r->changed - 1)) == 0)
        td_report_say(r, "only bit %d of the elements differs", __builtin_ctzll(r->changed));
}

/* -- hypotheses ---------------------------------------------------------------------------------------------------- */

/* A sample whose values are all equal would agree with any hypothesis. */
static bool is_telling(const td_report *r)
{
    bool same = true;
    for (size_t i = 1; i < r->sample_count; i++)
        same &= r->sample[i].actual == r->sample[0].actual;
    return r->sample_count >= LEAST_SAMPLES && !same;
}

typedef bool expect_fn(const td_report *r, const td_tensor *golden, const td_entry *e, const int64_t *arg,
                       uint64_t *elem);

static uint64_t golden_bits(const td_tensor *golden, uint64_t elem)
{
    return td_get_elem(golden->data + elem * golden->dtype.bytes, golden->dtype.bytes) & td_dtype_mask(golden->dtype);
}

/* Whether every sample holds the golden value of another element. */
static bool all_come_from(const td_report *r, const td_tensor *golden, expect_fn *from, const int64_t *arg)
{
    for (size_t i = 0; i < r->sample_count; i++) {
        uint64_t elem = 0;
        if (!from(r, golden, &r->sample[i], arg, &elem) || elem >= golden->elems ||
            golden_bits(golden, elem) != r->sample[i].actual)
            return false;
    }
    return true;
}

/* The element at other steps of two axes; false where that is padding. */
static bool move_to(const td_report *r, uint64_t elem, const td_tally *a, uint64_t step_a, const td_tally *b,
                    uint64_t step_b, uint64_t *out)
{
    td_shape at;
    td_shape_at(&r->shape, elem, &at);
    const td_tally *axis[2] = {a, b};
    const uint64_t to[2] = {step_a, step_b};
    for (int i = 0; i < 2; i++) {
        uint64_t *c = &at.dim[axis[i]->dim];
        const uint64_t padded = *c + axis[i]->offset, from = padded / axis[i]->stride % axis[i]->size;
        *c = padded - from * axis[i]->stride + to[i] * axis[i]->stride - axis[i]->offset;
        if (*c >= r->shape.dim[axis[i]->dim])
            return false;
    }
    *out = 0;
    for (size_t d = 0; d < at.rank; d++)
        *out = *out * r->shape.dim[d] + at.dim[d];
    return true;
}

/* Axes of sizes M and N written in the other order: place p of the M x N steps holds what belongs at step p % M, p / M.
 */
static bool from_swapped(const td_report *r, const td_tensor *golden, const td_entry *e, const int64_t *arg,
                         uint64_t *elem)
{
    (void)golden;
    const td_tally *a = &r->tally[arg[0]], *b = &r->tally[arg[1]];
    const uint64_t p = td_report_step(r, a, e->elem) * b->size + td_report_step(r, b, e->elem);
    return move_to(r, e->elem, a, p % a->size, b, p / a->size, elem);
}

static bool from_mirrored(const td_report *r, const td_tensor *golden, const td_entry *e, const int64_t *arg,
                          uint64_t *elem)
{
    (void)golden;
    const td_tally *a = &r->tally[arg[0]];
    const uint64_t step = a->size - 1 - td_report_step(r, a, e->elem);
    return move_to(r, e->elem, a, step, a, step, elem);
}

static bool from_neighbour(const td_report *r, const td_tensor *golden, const td_entry *e, const int64_t *arg,
                           uint64_t *elem)
{
    (void)golden;
    const td_tally *a = &r->tally[arg[0]];
    const uint64_t size = a->size, step = (td_report_step(r, a, e->elem) + size + (uint64_t)arg[1]) % size;
    return move_to(r, e->elem, a, step, a, step, elem);
}

static bool is_axis(const td_tally *t)
{
    return t->dim >= 0 && t->size > 1;
}

/* Dimensions without a name are "axis 0"; in "axes 0 and 1" the word is already there. */
static const char *bare(const td_tally *t)
{
    return strncmp(t->name, "axis ", 5) == 0 ? t->name + 5 : t->name;
}

static bool guess_axes(td_report *r, const td_tensor *golden)
{
    const int64_t count = (int64_t)r->tally_count;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = i + 1; k < count; k++)
            if (is_axis(&r->tally[i]) && is_axis(&r->tally[k]) &&
                all_come_from(r, golden, from_swapped, (int64_t[]){i, k})) {
                td_report_say(r, "looks transposed: actual matches golden with axes %s and %s swapped",
                              bare(&r->tally[i]), bare(&r->tally[k]));
                return true;
            }
    for (int64_t i = 0; i < count; i++) {
        const td_tally *t = &r->tally[i];
        if (!is_axis(t))
            continue;
        if (all_come_from(r, golden, from_mirrored, &i)) {
            td_report_say(r, "%s runs backwards: actual matches golden with %s reversed", t->name, t->name);
            return true;
        }
        for (int64_t by = -1; by <= 1; by += 2)
            if (all_come_from(r, golden, from_neighbour, (int64_t[]){i, by})) {
                td_report_say(r, "off by one along %s: each element holds the value of the %s one", t->name,
                              by < 0 ? "previous" : "next");
                return true;
            }
    }
    return false;
}

static bool all_lie_beside(const td_report *r, td_guess_read *read, void *context, int64_t words, bool mirrored)
{
    size_t found = 0;
    for (size_t i = 0; i < r->sample_count; i++) {
        uint64_t bits = 0;
        if (!read(context, &r->sample[i], words, mirrored, &bits))
            continue; /* past the memory's end: the shift lost it */
        if (bits != r->sample[i].expected)
            return false;
        found++;
    }
    return found >= LEAST_SAMPLES && 2 * found > r->sample_count;
}

/* Expected values that lie at another place. */
static bool guess_shift(td_report *r, td_guess_read *read, void *context)
{
    for (int64_t words = 1; words <= FAR_WORDS; words++)
        for (int64_t sign = 1; sign >= -1; sign -= 2) {
            if (!all_lie_beside(r, read, context, sign * words, false))
                continue;
            const char *way = sign > 0 ? "higher" : "lower";
            if (words == 1)
                td_report_say(r, "off by one word: what is expected lies one address %s", way);
            else
                td_report_say(r, "off by %" PRId64 " words: what is expected lies %" PRId64 " addresses %s", words,
                              words, way);
            return true;
        }
    if (r->lanes > 1 && all_lie_beside(r, read, context, 0, true)) {
        td_report_say(r, "the lanes of each word are in reverse order; see lanes=%s", r->lanes_msb ? "lsb" : "msb");
        return true;
    }
    return false;
}

/* Values that are right but for the order of their bytes. */
static void guess_bytes(td_report *r)
{
    const unsigned bits = r->dtype.bits;
    if (bits != 16 && bits != 32 && bits != 64)
        return;
    for (size_t i = 0; i < r->sample_count; i++)
        if (__builtin_bswap64(r->sample[i].expected) >> (64 - bits) != r->sample[i].actual)
            return;
    td_report_say(r, "the bytes of each element are in reverse order");
}

void td_report_guess_all(td_report *r, const td_tensor *golden, td_guess_read *read, void *context)
{
    td_macros_guess(r);
    guess_places(r);
    guess_values(r);
    if (!is_telling(r))
        return;
    guess_bytes(r);
    if (!guess_axes(r, golden) && read)
        guess_shift(r, read, context);
}
