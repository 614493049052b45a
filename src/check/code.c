/* Every kernel of codes of every instruction set of this machine against the rule: random maps over words of every
 * stored size, with copies, constants, addresses and syndromes, runs of every length around a block, guard bytes behind
 * what is written, and source words that end where readable memory ends. Maps that have a step go with it and without.
 * The table of kernels/code.h makes the list. */
#include "kernels/code.h"
#include "check/check.h"
#include "check/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD 0xA5
#define MOST_WORDS 150
#define MOST_BYTES 264
#define MOST_ROWS (MOST_BYTES + 4)
#define MOST_TERMS 6
#define MOST_FIELDS 5

typedef struct kernel {
    const char *name, *isa;
    int none;
    td_code_fn fn;
} kernel;

static const size_t sizes[] = {1, 2, 4, 8, 12, 16, 20, 64, 256, 260};
static td_code_row rows[MOST_ROWS];
static td_code_row busy[MOST_ROWS];
static td_code_copy copies[MOST_BYTES / 4];
static td_code_fill fills[MOST_BYTES / 4];
static td_code_join joins[MOST_BYTES / 4 + TD_CODE_MIDDLE];
static td_code_field fields[(MOST_BYTES / 4 + TD_CODE_MIDDLE) * MOST_FIELDS];
static uint32_t planes[MOST_BYTES / 4 + 2 + TD_CODE_MIDDLE];
static td_code_term terms[MOST_ROWS * MOST_TERMS];
static unsigned char masks[MOST_ROWS * MOST_TERMS][8]; /* of each term: the source's bits that each bit adds */
static unsigned char expected[MOST_WORDS * MOST_BYTES + 64], dst[MOST_WORDS * MOST_BYTES + 64];
static unsigned char *page; /* readable; what follows it is not */
static size_t page_bytes;
static uint64_t seed = 7;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static unsigned char image(const unsigned char *mask, unsigned char value)
{
    unsigned char sum = 0;
    for (unsigned bit = 0; bit < 8; bit++)
        sum |= (unsigned char)((__builtin_popcount(mask[bit] & value) & 1) << bit);
    return sum;
}

static void set_term(size_t t, uint32_t src, const unsigned char *mask)
{
    td_code_term *term = &terms[t];
    memcpy(masks[t], mask, 8);
    term->src = src;
    term->identity = 1;
    term->affine = 0;
    for (unsigned bit = 0; bit < 8; bit++) {
        term->identity &= mask[bit] == 1u << bit;
        term->affine |= (uint64_t)mask[bit] << (56 - 8 * bit);
    }
    for (unsigned value = 0; value < 256; value++)
        term->table[value] = image(masks[t], (unsigned char)value);
    for (unsigned nibble = 0; nibble < 16; nibble++) {
        term->low[nibble] = term->table[nibble];
        term->high[nibble] = term->table[nibble << 4];
    }
}

static void make_term(size_t t, uint32_t src, bool identity)
{
    unsigned char mask[8];
    for (unsigned bit = 0; bit < 8; bit++)
        mask[bit] = (unsigned char)(identity ? 1u << bit : (unsigned)draw(256));
    set_term(t, src, mask);
}

static void add_row(td_code_map *map, uint32_t to, uint32_t *term_count, unsigned count, bool with_address)
{
    td_code_row *row = &rows[map->row_count + map->syndrome_count];
    *row = (td_code_row){to, *term_count, count, to == TD_CODE_SYNDROME ? 0 : (unsigned char)draw(256)};
    for (unsigned i = 0; i < count; i++) {
        const bool address = with_address && draw(3) == 0, middle = map->early_count && draw(2);
        make_term((*term_count)++,
                  address  ? map->address + draw(8)
                  : middle ? 4 * td_code_middle(map) + draw(4 * map->early_count)
                           : draw((unsigned)map->src_bytes),
                  draw(3) == 0);
    }
    if (to == TD_CODE_SYNDROME)
        map->syndrome_count++;
    else
        map->row_count++;
}

/* The byte of the source that syndromes are made of. */
static uint32_t checked_byte;

/* The syndromes are sums of one byte of the source alone, which the test keeps at zero but for one word. */
static void finish_map(td_code_map *map, uint32_t *term_count, uint32_t byte, unsigned syndromes)
{
    checked_byte = byte;
    for (unsigned s = 0; s < syndromes; s++) {
        add_row(map, TD_CODE_SYNDROME, term_count, 1, false);
        make_term(*term_count - 1, byte, s == 0);
    }
    for (uint32_t d = 0; d < td_code_middle(map) + map->middle_count; d++) {
        bool used = false;
        for (uint32_t t = 0; t < *term_count; t++)
            used |= terms[t].src / 4 == d;
        if (used)
            planes[map->plane_count++] = d;
    }
}

static void make_map(td_code_map *map, size_t src_bytes, size_t dst_bytes, bool with_address, unsigned syndromes)
{
    uint32_t term_count = 0;
    *map = (td_code_map){.src_bytes = src_bytes,
                         .dst_bytes = dst_bytes,
                         .address = (uint32_t)((src_bytes + 3) / 4 * 4),
                         .row = rows,
                         .busy = busy,
                         .fill = fills,
                         .copy = copies,
                         .plane = planes,
                         .term = terms};
    for (uint32_t byte = 0; byte < dst_bytes;) {
        if (dst_bytes >= 4 && src_bytes >= 4 && byte % 4 == 0 && draw(2)) {
            copies[map->copy_count++] = (td_code_copy){byte / 4, draw((unsigned)src_bytes / 4)};
            byte += 4;
            continue;
        }
        const uint32_t first = map->row_count, end = byte + (dst_bytes < 4 ? 1 : 4);
        bool constant = false;
        for (; byte < end; byte++) {
            add_row(map, byte, &term_count, draw(MOST_TERMS), with_address);
            constant |= rows[map->row_count - 1].terms == 0;
            if (dst_bytes < 4 || rows[map->row_count - 1].terms)
                busy[map->busy_count++] = rows[map->row_count - 1];
        }
        if (dst_bytes >= 4 && constant) {
            fills[map->fill_count].dst = (end - 4) / 4;
            fills[map->fill_count].value = 0;
            for (uint32_t i = 0; i < 4; i++)
                fills[map->fill_count].value |= (uint32_t)rows[first + i].constant << 8 * i;
            map->fill_count++;
        }
    }
    finish_map(map, &term_count, (uint32_t)src_bytes - 1, syndromes);
}

/* Data as they are with one byte of check bits in 32 bits above them, or such words to their data: what a kernel may
 * have its own way for. */
static void make_single_map(td_code_map *map, uint32_t dwords, bool checks, bool with_address)
{
    uint32_t term_count = 0;
    const size_t data = (size_t)4 * dwords, coded = data + 4;
    *map = (td_code_map){.src_bytes = checks ? coded : data,
                         .dst_bytes = checks ? data : coded,
                         .address = (uint32_t)(checks ? coded : data),
                         .row = rows,
                         .busy = busy,
                         .fill = fills,
                         .copy = copies,
                         .plane = planes,
                         .term = terms};
    for (; map->copy_count < dwords; map->copy_count++)
        copies[map->copy_count] = (td_code_copy){map->copy_count, map->copy_count};
    for (uint32_t i = 0; i < 4 && !checks; i++)
        add_row(map, (uint32_t)data + i, &term_count, i ? 0 : 1 + draw(MOST_TERMS - 1), with_address);
    if (!checks) {
        busy[map->busy_count++] = rows[0];
        fills[map->fill_count] = (td_code_fill){dwords, 0};
        for (uint32_t i = 0; i < 4; i++)
            fills[0].value |= (uint32_t)rows[i].constant << 8 * i;
        map->fill_count++;
    }
    finish_map(map, &term_count, checks ? (uint32_t)data : 0, checks ? 1 : 0);
}

/* A 32-bit word from some fields of the source, and of the first words of the middle. */
static td_code_join make_join(const td_code_map *map, uint32_t to, uint32_t *field_count, uint32_t middle_words)
{
    const td_code_join join = {to, *field_count, draw(MOST_FIELDS + 1), draw(2) ? 0 : draw(1u << 31)};
    for (uint32_t i = 0; i < join.fields; i++)
        fields[(*field_count)++] = (td_code_field){middle_words && draw(2) ? td_code_middle(map) + draw(middle_words)
                                                                           : draw((unsigned)map->src_bytes / 4),
                                                   (int32_t)draw(63) - 31, draw(1u << 31) << draw(2)};
    return join;
}

/* Words that are put together: some of the middle before the rows, which are in the middle too, and all that is no copy
 * behind them. */
static void make_joined_map(td_code_map *map, size_t src_bytes, size_t dst_bytes, bool with_address, unsigned syndromes)
{
    uint32_t term_count = 0, field_count = 0;
    const uint32_t made = draw(4);
    *map = (td_code_map){.src_bytes = src_bytes,
                         .dst_bytes = dst_bytes,
                         .address = (uint32_t)src_bytes,
                         .rows_in_middle = true,
                         .early_count = draw(4),
                         .row = rows,
                         .busy = busy,
                         .copy = copies,
                         .plane = planes,
                         .term = terms,
                         .field = fields,
                         .early = joins};
    map->late = joins + map->early_count;
    map->middle_count = map->early_count + made;
    for (uint32_t i = 0; i < map->early_count; i++)
        joins[i] = make_join(map, td_code_middle(map) + i, &field_count, 0);
    for (uint32_t byte = 0; byte < 4 * made; byte++) {
        add_row(map, 4 * (td_code_middle(map) + map->early_count) + byte, &term_count, draw(MOST_TERMS), with_address);
        busy[map->busy_count++] = rows[map->row_count - 1];
    }
    for (uint32_t d = 0; d < dst_bytes / 4; d++)
        if (draw(3) == 0)
            copies[map->copy_count++] =
                (td_code_copy){d, map->middle_count && draw(2) ? td_code_middle(map) + draw(map->middle_count)
                                                               : draw((unsigned)src_bytes / 4)};
        else
            joins[map->early_count + map->late_count++] = make_join(map, d, &field_count, map->middle_count);
    finish_map(map, &term_count, (uint32_t)src_bytes - 1, syndromes);
}

/* The word, its address and its middle as terms count them. */
static unsigned char whole[MOST_BYTES + 8 + 4 * TD_CODE_MIDDLE];

static void expect_join(const td_code_join *join, unsigned char *out)
{
    uint32_t sum = join->constant;
    for (uint32_t i = 0; i < join->fields; i++) {
        const td_code_field *field = &fields[join->first_field + i];
        for (int bit = 0; bit < 32; bit++) {
            const int from = bit - field->left;
            if (from >= 0 && from < 32 && field->mask >> bit & 1)
                sum ^= (uint32_t)(whole[4 * field->src + (unsigned)from / 8] >> from % 8 & 1) << bit;
        }
    }
    memcpy(out, &sum, 4);
}

static void expect(const td_code_map *map, const unsigned char *src, uint64_t first, size_t count)
{
    memset(expected, GUARD, sizeof expected);
    for (size_t w = 0; w < count; w++) {
        unsigned char *out = expected + w * map->dst_bytes;
        const uint64_t address = first + w;
        memcpy(whole, src + w * map->src_bytes, map->src_bytes);
        memcpy(whole + map->address, &address, 8);
        for (uint32_t i = 0; i < map->early_count; i++)
            expect_join(&map->early[i], whole + 4 * map->early[i].dst);
        for (uint32_t r = 0; r < map->row_count; r++) {
            unsigned char sum = rows[r].constant;
            for (uint32_t t = rows[r].first_term; t < rows[r].first_term + rows[r].terms; t++)
                sum ^= image(masks[t], whole[terms[t].src]);
            (map->rows_in_middle ? whole : out)[rows[r].dst] = sum;
        }
        for (uint32_t i = 0; i < map->copy_count; i++)
            memcpy(out + 4 * copies[i].dst, whole + 4 * copies[i].src, 4);
        for (uint32_t i = 0; i < map->late_count; i++)
            expect_join(&map->late[i], out + 4 * map->late[i].dst);
    }
}

static void check_run(const kernel *k, const td_code_map *map, size_t count)
{
    unsigned char *src = page + page_bytes - count * map->src_bytes;
    const uint64_t first = draw(2) ? draw(1000) : 0xfffffff0u - draw(100);
    const size_t wrong = map->syndrome_count && count && draw(2) ? draw((unsigned)count) : count;
    for (size_t i = 0; i < count * map->src_bytes; i++)
        src[i] = (unsigned char)(map->syndrome_count && i % map->src_bytes == checked_byte ? 0 : draw(256));
    if (wrong < count)
        src[wrong * map->src_bytes + checked_byte] = (unsigned char)(1 + draw(255));
    memset(dst, GUARD, sizeof dst);
    const size_t done = k->fn(map, dst, src, first, count);
    expect(map, src, first, done);
    if (done > wrong || (wrong == count && done != count) || done + TD_CODE_BLOCK <= wrong ||
        memcmp(dst, expected, sizeof dst) != 0)
        fail_msg("%s_%s: %zu words of %zu to %zu bytes, an error in word %zu, ended at %zu", k->name, k->isa, count,
                 map->src_bytes, map->dst_bytes, wrong, done);
    assert_int_equal(k->fn(map, NULL, src, first, count), done);
}

static void check_counts(const kernel *k, td_code_map *map)
{
    td_code_step step;
    for (size_t count = 0; count < MOST_WORDS; count += 1 + draw(31))
        check_run(k, map, count);
    check_run(k, map, 32);
    check_run(k, map, 64);
    check_run(k, map, 128);
    if (map->step || !td_code_step_make(map, &step))
        return;
    map->step = &step;
    check_counts(k, map);
    map->step = NULL;
}

/* -- codes of whole bytes, all of which have a step -- */

/* Subwords of some bytes of data, each with a byte of check bits, of which some count. */
typedef struct byte_code {
    uint32_t subwords, bytes, check_bits;
    bool above; /* the check bits of all subwords stand above their data, else above those of each */
    unsigned char constant;
    unsigned char mask[9][8]; /* of each byte of the data, and of the check bits */
} byte_code;

static uint32_t stored_bytes(uint32_t bytes)
{
    return bytes <= 2 ? bytes : bytes <= 4 ? 4 : bytes <= 8 ? 8 : (bytes + 3) / 4 * 4;
}

static uint32_t coded_byte(const byte_code *c, uint32_t subword, uint32_t byte)
{
    if (!c->above)
        return subword * (c->bytes + 1) + byte;
    return byte < c->bytes ? subword * c->bytes + byte : c->subwords * c->bytes + subword;
}

/* Every bit of the data changes some check bit, so that all single errors are seen. */
static byte_code draw_code(uint32_t subwords, uint32_t bytes)
{
    byte_code c = {subwords, bytes, 5 + draw(4), draw(2), (unsigned char)draw(32), {{0}}};
    for (uint32_t bit = 0; bit < c.check_bits; bit++) {
        for (uint32_t i = 0; i < bytes; i++)
            c.mask[i][bit] = (unsigned char)(draw(256) | 1u << bit | (bit < 3 ? 32u << bit : 0));
        c.mask[bytes][bit] = (unsigned char)(1u << bit);
    }
    return c;
}

static td_code_row *put_row(td_code_map *map, uint32_t to, unsigned char constant, uint32_t term_count)
{
    td_code_row *row = &rows[map->row_count + map->syndrome_count];
    *row = (td_code_row){to, term_count, 0, constant};
    if (to == TD_CODE_SYNDROME)
        map->syndrome_count++;
    else
        map->row_count++;
    return row;
}

/* Words to coded words, or, `checks`, back. Bytes are rows, even where four of them could be copied at once. */
static void make_byte_map(td_code_map *map, const byte_code *c, bool checks)
{
    static const unsigned char same[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint32_t data = stored_bytes(c->subwords * c->bytes), coded = stored_bytes(c->subwords * (c->bytes + 1));
    uint32_t term_count = 0;
    *map = (td_code_map){.src_bytes = checks ? coded : data,
                         .dst_bytes = checks ? data : coded,
                         .address = ((checks ? coded : data) + 3) / 4 * 4,
                         .row = rows,
                         .busy = busy,
                         .copy = copies,
                         .plane = planes,
                         .term = terms};
    for (uint32_t to = 0; to < map->dst_bytes; to++) {
        td_code_row *row = put_row(map, to, 0, term_count);
        for (uint32_t s = 0; s < c->subwords; s++)
            for (uint32_t i = 0; i <= c->bytes; i++) {
                const uint32_t plain = s * c->bytes + i, at = coded_byte(c, s, i);
                if (i < c->bytes && to == (checks ? plain : at))
                    set_term(row->first_term + row->terms++, checks ? at : plain, same);
                if (i < c->bytes || checks || to != at)
                    continue;
                row->constant = c->constant;
                for (uint32_t k = 0; k < c->bytes; k++)
                    set_term(row->first_term + row->terms++, s * c->bytes + k, c->mask[k]);
            }
        term_count += row->terms;
        busy[map->busy_count++] = *row;
    }
    for (uint32_t s = 0; s < c->subwords && checks; s++) {
        td_code_row *row = put_row(map, TD_CODE_SYNDROME, c->constant, term_count);
        for (uint32_t i = 0; i <= c->bytes; i++)
            set_term(row->first_term + row->terms++, coded_byte(c, s, i), c->mask[i]);
        term_count += row->terms;
    }
    finish_map(map, &term_count, 0, 0);
}

/* One bit of one word is wrong, or none: then word `wrong` is behind the last. */
static void check_error(const kernel *k, const td_code_map *map, unsigned char *src, size_t count, size_t wrong,
                        uint32_t bit)
{
    unsigned char *at = src + wrong * map->src_bytes + bit / 8;
    if (wrong < count)
        *at ^= (unsigned char)(1u << bit % 8);
    memset(dst, GUARD, sizeof dst);
    const size_t done = k->fn(map, dst, src, 0, count);
    expect(map, src, 0, done);
    if (done > wrong || (wrong == count && done != count) || done + TD_CODE_BLOCK <= wrong ||
        memcmp(dst, expected, sizeof dst) != 0)
        fail_msg("%s_%s: %zu words of %zu to %zu bytes, bit %u of word %zu wrong, ended at %zu", k->name, k->isa, count,
                 map->src_bytes, map->dst_bytes, bit, wrong, done);
    assert_int_equal(k->fn(map, NULL, src, 0, count), done);
    if (wrong < count)
        *at ^= (unsigned char)(1u << bit % 8);
}

static uint32_t draw_bit(const byte_code *c)
{
    const uint32_t byte = draw(c->bytes + 1);
    return 8 * coded_byte(c, draw(c->subwords), byte) + draw(byte < c->bytes ? 8 : c->check_bits);
}

/* Runs of all lengths are encoded; what comes out is checked, as it is and with an error in every word and bit. */
static void check_byte_code(const kernel *k, const byte_code *c)
{
    td_code_map map;
    td_code_step step;
    make_byte_map(&map, c, false);
    assert_true(td_code_step_make(&map, &step));
    map.step = &step;
    for (size_t count = 0; count <= 2 * (size_t)step.words + 1; count++)
        check_run(k, &map, count);
    const size_t count = 2 * (size_t)step.words + 5 + draw(3), bytes = count * map.dst_bytes;
    unsigned char *src = page + page_bytes - bytes - draw(2) * 13;
    check_run(k, &map, count);
    memcpy(src, dst, bytes);
    for (size_t w = 0; w < count; w++) /* bits that are no check bits do not matter */
        src[w * map.dst_bytes + coded_byte(c, draw(c->subwords), c->bytes)] |=
            (unsigned char)(draw(256) << c->check_bits);
    make_byte_map(&map, c, true);
    assert_true(td_code_step_make(&map, &step));
    map.step = &step;
    for (size_t part = 0; part <= count; part++)
        check_error(k, &map, src, part, part, 0);
    for (size_t wrong = 0; wrong < count; wrong++)
        check_error(k, &map, src, count, wrong, draw_bit(c));
    for (uint32_t s = 0; s < c->subwords; s++)
        for (uint32_t bit = 0; bit < 8 * c->bytes + c->check_bits; bit++)
            check_error(k, &map, src, count, draw((unsigned)count), 8 * coded_byte(c, s, bit / 8) + bit % 8);
    map.syndrome_count = 0; /* data as they stand */
    src[draw((unsigned)bytes)] ^= 0x10;
    check_error(k, &map, src, count, count, 0);
}

static void check(const kernel *k)
{
    for (unsigned round = 0; round < 48; round++) {
        td_code_map map = {0};
        make_single_map(&map, 1 + round % 3, round / 3 % 2, round / 6 % 2);
        check_counts(k, &map);
    }
    for (uint32_t bytes = 1; bytes <= 8; bytes++)
        for (uint32_t subwords = 1; subwords <= 4; subwords++) {
            const byte_code c = draw_code(subwords, bytes);
            check_byte_code(k, &c);
        }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t d = 0; d < sizeof sizes / sizeof *sizes; d++)
            for (unsigned round = 0; round < 12; round++) {
                td_code_map map = {0};
                if (round >= 6 && (sizes[s] < 4 || sizes[d] < 4))
                    continue;
                (round < 6 ? make_map : make_joined_map)(&map, sizes[s], sizes[d], round % 2, round % 3);
                check_counts(k, &map);
            }
}

static void kernels_follow_the_rule(void **state)
{
    (void)state;
    const size_t system_page = (size_t)sysconf(_SC_PAGESIZE);
    page_bytes = (MOST_WORDS * (size_t)MOST_BYTES / system_page + 1) * system_page;
    page = mmap(NULL, page_bytes + system_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    assert_int_equal(mprotect(page + page_bytes, system_page, PROT_NONE), 0);
#define X(name) CHECK_VERSIONS(code, check, name, 0);
    TD_CODE_KERNELS(X)
#undef X
    munmap(page, page_bytes + system_page);
}

static const td_check checks[] = {TD_CHECK(kernels_follow_the_rule)};

TD_CHECK_FAMILY(code, checks, NULL, NULL, NULL);
