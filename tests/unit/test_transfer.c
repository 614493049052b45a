/* Memories that lie elsewhere. The stand-in of a simulator's array has four states, in aval and bval as svdpi.h stores
 * them (0 is 0 0, 1 is 1 0, z is 0 1, x is 1 1), because the simulator at hand has two. */
#include "support.h"

#include <tensordoor_bridge.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 1024
#define CHUNK 32

typedef struct design {
    size_t per; /* 32-bit words of a word */
    uint32_t aval[DEPTH][4], bval[DEPTH][4];
    size_t runs, words, chunks; /* that crossed */
} design;

/* Everything x, as a simulation begins. */
static void power_up(design *d, uint64_t width)
{
    *d = (design){.per = (size_t)(width + 31) / 32};
    for (size_t a = 0; a < DEPTH; a++)
        for (size_t k = 0; k < d->per; k++)
            d->aval[a][k] = d->bval[a][k] = k == d->per - 1 && width % 32 ? (1u << width % 32) - 1 : 0xffffffffu;
}

/* What the loops of sv/td_macros.svh do. */
static void collect(design *d, td_memory *copy)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    size_t runs = 0;
    while ((runs = td_transfer_in(copy, chunk, CHUNK))) {
        int unknown = 0;
        memset(mask, 0, sizeof mask);
        for (size_t r = 0, c = 0; r < runs; r++) {
            uint32_t at = chunk[c], count = chunk[c + 1], step = chunk[c + 2];
            d->runs++;
            d->words += count;
            c += TD_TRANSFER_HEAD;
            for (; count; count--, at += step) {
                if (!step)
                    at = chunk[c++];
                for (size_t k = 0; k < d->per; k++, c++) {
                    chunk[c] = d->aval[at][k] & ~d->bval[at][k];
                    mask[c] = d->bval[at][k];
                    unknown |= mask[c] != 0;
                }
            }
        }
        d->chunks++;
        if (unknown)
            assert_int_equal(td_transfer_unknown_in(copy, mask, CHUNK), TD_OK);
    }
}

static void deposit(design *d, td_memory *copy)
{
    uint32_t chunk[CHUNK], mask[CHUNK];
    int unknown = 0;
    size_t runs = 0;
    while ((runs = td_transfer_out(copy, chunk, CHUNK, &unknown))) {
        memset(mask, 0, sizeof mask);
        if (unknown)
            td_transfer_unknown_out(copy, mask, CHUNK);
        for (size_t r = 0, c = 0; r < runs; r++) {
            uint32_t at = chunk[c], count = chunk[c + 1], step = chunk[c + 2];
            d->runs++;
            d->words += count;
            c += TD_TRANSFER_HEAD;
            for (; count; count--, at += step) {
                if (!step)
                    at = chunk[c++];
                for (size_t k = 0; k < d->per; k++, c++) {
                    d->aval[at][k] = (d->aval[at][k] & mask[c]) | (chunk[c] & ~mask[c]);
                    d->bval[at][k] &= mask[c];
                }
            }
        }
        d->chunks++;
    }
}

typedef struct scene {
    design d;
    td_memory *m;
    td_tensor *t;
    td_layout *l;
    int partial, borrowed;
} scene;

static void open_scene(scene *s, uint64_t width, const char *dtype, td_shape shape, const char *pattern,
                       const char *options, const char *address)
{
    memset(s, 0, sizeof *s);
    power_up(&s->d, width);
    assert_int_equal(td_memory_create("ram", width, DEPTH, &s->m), TD_OK);
    assert_int_equal(td_tensor_create(dtype, shape, &s->t), TD_OK);
    assert_int_equal(td_tensor_fill_ramp(s->t, 1, 1), TD_OK);
    assert_int_equal(td_layout_create(pattern, options, address, &s->l), TD_OK);
}

static void close_scene(scene *s)
{
    td_layout_destroy(&s->l);
    td_tensor_destroy(&s->t);
    td_memory_destroy(&s->m);
}

static void plan(scene *s)
{
    assert_int_equal(td_transfer_layout(&s->m, 1, s->t, s->l, NULL, &s->partial), TD_OK);
    s->d.runs = s->d.words = s->d.chunks = 0;
}

static void load(scene *s)
{
    plan(s);
    if (s->partial)
        collect(&s->d, s->m);
    assert_int_equal(td_backdoor_load_tensor(s->m, s->t, s->l, NULL), TD_OK);
    s->d.runs = s->d.words = s->d.chunks = 0;
    deposit(&s->d, s->m);
}

static td_status dump(scene *s)
{
    plan(s);
    collect(&s->d, s->m);
    return td_backdoor_dump_tensor(s->m, s->t, s->l, NULL);
}

/* -- runs -- */

static void test_runs(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool list;
        uint32_t first, step;
    } rows[] = {
        {"7 + r", false, 7, 1}, {"1 + 8*r", false, 1, 8}, {"60 - 9*r", false, 60, (uint32_t)-9}, {"r ^ 1", true, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene s;
        uint32_t chunk[CHUNK];
        int unknown = 0;
        open_scene(&s, 64, "i32", TD_SHAPE(7, 2), "r c -> r c", NULL, rows[i].address);
        load(&s);
        assert_int_equal(s.d.words, 7);
        assert_int_equal(s.d.runs, 1);
        assert_int_equal(td_transfer_out(s.m, chunk, CHUNK, &unknown), 1);
        if (!rows[i].list) { /* a plan may walk it from either end */
            const uint32_t last = rows[i].first + 6 * rows[i].step;
            assert_true(chunk[0] == rows[i].first || chunk[0] == last);
            assert_true(chunk[2] == rows[i].step || chunk[2] == 0 - rows[i].step);
        }
        if (rows[i].list) { /* every word behind its address */
            assert_int_equal(chunk[1], 7);
            assert_int_equal(chunk[2], 0);
            for (uint32_t r = 0; r < 7; r++)
                assert_int_equal(chunk[TD_TRANSFER_HEAD + 3 * r + 1], 2 * (chunk[TD_TRANSFER_HEAD + 3 * r] ^ 1) + 1);
        }
        for (uint32_t r = 0; r < 7; r++) {
            const uint32_t at = rows[i].list ? r ^ 1 : rows[i].first + r * rows[i].step;
            assert_int_equal(s.d.aval[at][0], 2 * r + 1);
            assert_int_equal(s.d.aval[at][1], 2 * r + 2);
            assert_int_equal(s.d.bval[at][0] | s.d.bval[at][1], 0);
        }
        size_t touched = 0;
        for (size_t a = 0; a < DEPTH; a++)
            touched += s.d.bval[a][0] == 0;
        assert_int_equal(touched, 7); /* all others are as they were: x */
        close_scene(&s);
    }
}

static void test_chunks(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 100, "u25", TD_SHAPE(40, 4), "r c -> r c", NULL, "r + 3");
    load(&s);
    assert_int_equal(s.d.words, 40);
    assert_int_equal(s.d.chunks, 6); /* seven words of four in 32 */
    td_tensor_fill_ramp(s.t, 0, 0);
    s.d.aval[5][1] ^= 1u << 18; /* bit 50 of the word: bit 0 of element (2, 2) */
    assert_int_equal(dump(&s), TD_OK);
    uint64_t bits = 0;
    assert_int_equal(td_tensor_get_bits(s.t, 10, &bits), TD_OK);
    assert_int_equal(bits, 11 ^ 1);
    assert_int_equal(td_tensor_get_bits(s.t, 159, &bits), TD_OK);
    assert_int_equal(bits, 160);
    close_scene(&s);
}

static void test_narrow_words(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 5, "u5", TD_SHAPE(9), "r -> r 1", NULL, "2*r");
    load(&s);
    for (uint32_t r = 0; r < 9; r++)
        assert_int_equal(s.d.aval[2 * r][0], r + 1);
    assert_int_equal(s.d.bval[1][0], 0x1f);
    assert_int_equal(dump(&s), TD_OK);
    close_scene(&s);
}

static void test_refused_moves_nothing(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 64, "i32", TD_SHAPE(7, 2), "r c -> r c", NULL, "1020 + r");
    plan(&s);
    collect(&s.d, s.m);
    deposit(&s.d, s.m);
    assert_int_equal(s.d.words, 0);
    assert_int_equal(td_transfer_span(s.m, 1020, 5), TD_OK);
    collect(&s.d, s.m);
    int partial = 7;
    ASSERT_REFUSED(td_transfer_parts(NULL, 0, s.t, NULL, TD_TRANSFER_LOAD, &partial), TD_ARGUMENT,
                   "transfer_parts: no memory; pass one");
    ASSERT_REFUSED(td_transfer_parts(&s.m, 1, s.t, NULL, TD_TRANSFER_LOAD, NULL), TD_ARGUMENT,
                   "transfer_parts: no place for `partial`; pass one");
    assert_int_equal(partial, 7);
    const uint64_t at[] = {1024, 3};
    assert_int_equal(td_transfer_words(s.m, at, 2), TD_OK);
    deposit(&s.d, s.m);
    assert_int_equal(s.d.words, 1);
    close_scene(&s);
}

/* -- scattered words, which are staged -- */

static void load_fast(scene *s)
{
    assert_int_equal(td_transfer_tensor(s->m, s->t, s->l, NULL, TD_TRANSFER_LOAD, &s->partial, &s->borrowed), TD_OK);
    if (s->partial)
        collect(&s->d, s->m);
    assert_int_equal(td_transfer_load(s->m, s->t, s->l, NULL), TD_OK);
    s->d.runs = s->d.words = 0;
    deposit(&s->d, s->m);
}

static td_status dump_as(scene *s, td_transfer_use use)
{
    assert_int_equal(td_transfer_tensor(s->m, s->t, s->l, NULL, use, &s->partial, &s->borrowed), TD_OK);
    collect(&s->d, s->m);
    return td_transfer_dump(s->m, s->t, s->l, NULL);
}

static td_status dump_fast(scene *s)
{
    return dump_as(s, TD_TRANSFER_DUMP);
}

/* The fast way and the copy leave the same array behind, and dump the same tensor. */
static void test_staged(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options, *address;
    } rows[] = {
        {"r w c -> (r w) c", NULL, "1000 - 4*(10*w + r)"},
        {"r w c -> (w r) c", NULL, "3 + 100*r + 5*w"},
        {"r w c -> (r w) c", NULL, "(10*w + r) ^ 3"},
        {"r w c -> (r w) c", "slot=20 fill=keep", "4*index + 1"},
        {"r w c -> r (w c)", "beats=20", "40*r"},
        {"r w c -> r (w c)", "beats=20", "64*(r ^ 2)"},
        {"r (wt ws) c -> (r wt) (ws c)", "ws=2 slot=8 dtype=u8 pad=7", "7*index"},
        {"r w c -> (r k w) c", "k=2", "index + 500*k"},
        {"r w c -> (r w) c", NULL, "index"},
        {"... -> (...)", NULL, "17"},
        {"r w c -> (r w) c", NULL, "40*r + w + c"},
        {"r w c -> (r w) c", "fill=keep", "(20*r + w) ^ c"},
        {"... -> (...)", "lsb=24", "17"},
        {"... -> (...)", "lsb=16 slot=20", NULL},
        {"r w c -> (w c r)", "lsb=48", "3"},
        {"(rt rs) w c -> (rt rs w c)", "rs=4 pad=3 lsb=16", "9"},
        {"(rt rs) w c -> (rt w c rs)", "rs=4 tail=clip lsb=16", "9"},
        {"r w c -> (r w k c)", "k=3 lsb=16", "9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene one, other;
        uint64_t a = 0, b = 0;
        const char *dtype = rows[i].options && strstr(rows[i].options, "dtype") ? "u8" : "u16";
        open_scene(&one, 64, dtype, TD_SHAPE(10, 20, 2), rows[i].pattern, rows[i].options, rows[i].address);
        open_scene(&other, 64, dtype, TD_SHAPE(10, 20, 2), rows[i].pattern, rows[i].options, rows[i].address);
        load(&one);
        load_fast(&other);
        assert_int_equal(one.d.words, other.d.words);
        assert_memory_equal(one.d.aval, other.d.aval, sizeof one.d.aval);
        assert_memory_equal(one.d.bval, other.d.bval, sizeof one.d.bval);
        td_tensor_fill_ramp(other.t, 0, 0);
        assert_int_equal(dump_fast(&other), TD_OK);
        for (uint64_t e = 0; e < 400; e++) {
            assert_int_equal(td_tensor_get_bits(one.t, e, &a), TD_OK);
            assert_int_equal(td_tensor_get_bits(other.t, e, &b), TD_OK);
            assert_int_equal(a, b);
        }
        close_scene(&one);
        close_scene(&other);
    }
}

/* An array as C has it, between two neighbours: its words go out, of which only the first and the last come in. The
 * words between them are the tensor's own bytes, and never in the copy. */
static void test_flat(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        size_t first_byte;
        uint64_t in, out;
    } rows[] = {{"", 16, 1, 27}, {"lsb=8", 17, 2, 27}, {"lsb=24", 19, 1, 27}, {"lsb=48", 22, 2, 27}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene s;
        open_scene(&s, 32, "i8", TD_SHAPE(3, 5, 7), "... -> (...)", rows[i].options, "4");
        for (size_t w = 0; w < DEPTH; w++) {
            s.d.aval[w][0] = 0xdeadbeef;
            s.d.bval[w][0] = 0;
        }
        uint32_t expected[DEPTH];
        for (size_t w = 0; w < DEPTH; w++)
            expected[w] = 0xdeadbeef;
        memcpy((unsigned char *)expected + rows[i].first_byte, td_tensor_data_const(s.t), 105);
        assert_int_equal(td_transfer_tensor(s.m, s.t, s.l, NULL, TD_TRANSFER_LOAD, &s.partial, &s.borrowed), TD_OK);
        assert_int_equal(s.partial, 1);
        s.d.words = 0;
        collect(&s.d, s.m);
        assert_int_equal(s.d.words, rows[i].in);
        assert_int_equal(td_transfer_load(s.m, s.t, s.l, NULL), TD_OK);
        s.d.words = 0;
        deposit(&s.d, s.m);
        assert_int_equal(s.d.words, rows[i].out);
        for (size_t w = 0; w < DEPTH; w++)
            assert_int_equal(s.d.aval[w][0], expected[w]);
        assert_int_equal(s.borrowed, 1);
        assert_int_equal(((const uint32_t *)td_memory_data(s.m))[6], 0);

        td_tensor *before = NULL;
        ASSERT_OK(td_tensor_convert(s.t, "i8", &before));
        ASSERT_OK(td_tensor_fill_ramp(s.t, 0, 0));
        ASSERT_OK(td_transfer_tensor(s.m, s.t, s.l, NULL, TD_TRANSFER_DUMP_KNOWN, &s.partial, &s.borrowed));
        s.d.words = 0;
        collect(&s.d, s.m);
        assert_int_equal(s.d.words, rows[i].out);
        ASSERT_OK(td_transfer_dump(s.m, s.t, s.l, NULL));
        assert_memory_equal(td_tensor_data_const(s.t), td_tensor_data_const(before), 105);
        assert_int_equal(((const uint32_t *)td_memory_data(s.m))[6], 0);
        td_tensor_destroy(&before);
        close_scene(&s);
    }
}

/* Where the words are the tensor's own bytes they cross without a detour, and the array and the tensor are the same in
 * the end. */
static void test_borrowed(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options, *address;
        int borrowed;
    } rows[] = {
        {"r w c -> (r w) c", NULL, NULL, 1},
        {"r w c -> (r w) c", NULL, "5 + index", 1},
        {"r w c -> (r w) c", NULL, "1 + 4*index", 1},
        {"r w c -> (r w) c", NULL, "1000 - 4*index", 1},
        {"r w c -> (r w) c", NULL, "100*r + 3*w", 1},
        {"r w c -> (r w) c", NULL, "(20*r + w) ^ 3", 1},
        {"r w c -> (r w) c", NULL, "5*r + 50*w", 1},
        {"r w c -> r (w c)", "beats=20", "64*(r ^ 2)", 1},
        {"r w c -> (w r) c", NULL, "2*index", 0},
        {"r w c -> (r w) c", "lanes=msb", "2*index", 0},
        {"r w c -> (r w) c", "fill=keep", "2*index", 0},
        {"r w c -> (r w) c", "dtype=u16", "2*index", 0},
        {"r w c -> (r k w) c", "k=2", "index + 500*k", 0},
        {"r w (ct cs) -> (r w ct) cs", "cs=1", "2*index", 0},
        {"(rt rs) w c -> (rt rs w) c", "rs=4 pad=3", "2*index", 0},
        {"(rt rs) w c -> (rt rs w) c", "rs=4 tail=clip", "2*index", 0},
        {"... -> (...)", NULL, NULL, 1},
        {"... -> (...)", NULL, "7", 1},
        {"... -> (...)", "lsb=64", "7", 1},
        {"... -> (...)", "lsb=16", "7", 1},
        {"... -> (...)", "lsb=8", "7", 1},
        {"... -> (...)", "addr_unit=byte", "31", 1},
        {"... -> (...)", "lsb=4", "7", 0},
        {"... -> (...)", "slot=24", "7", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene one, other;
        open_scene(&one, 32, "u16", TD_SHAPE(10, 20, 2), rows[i].pattern, rows[i].options, rows[i].address);
        open_scene(&other, 32, "u16", TD_SHAPE(10, 20, 2), rows[i].pattern, rows[i].options, rows[i].address);
        load(&one);
        load_fast(&other);
        assert_int_equal(other.borrowed, rows[i].borrowed);
        assert_int_equal(one.d.words, other.d.words);
        assert_memory_equal(one.d.aval, other.d.aval, sizeof one.d.aval);
        assert_memory_equal(one.d.bval, other.d.bval, sizeof one.d.bval);
        static const td_transfer_use uses[] = {TD_TRANSFER_DUMP, TD_TRANSFER_DUMP_KNOWN};
        for (size_t u = 0; u < 2; u++) {
            td_tensor_fill_ramp(other.t, 0, 0);
            assert_int_equal(dump_as(&other, uses[u]), TD_OK);
            assert_int_equal(other.borrowed, u ? rows[i].borrowed : 0);
            assert_memory_equal(td_tensor_data_const(one.t), td_tensor_data_const(other.t), 800);
        }
        close_scene(&one);
        close_scene(&other);
    }
}

static void test_borrowed_not(void **state)
{
    (void)state;
    const char *path = "test_transfer.npy";
    scene s;
    int partial = 0, borrowed = 0;
    open_scene(&s, 32, "u16", TD_SHAPE(10, 20, 2), "r w c -> (r w) c", NULL, "2*index");
    assert_int_equal(td_transfer_tensor(s.m, s.t, s.l, "u8", TD_TRANSFER_LOAD, &partial, &borrowed), TD_OK);
    assert_int_equal(borrowed, 0); /* what is converted */
    assert_int_equal(td_tensor_save(s.t, path), TD_OK);
    td_tensor_destroy(&s.t);
    assert_int_equal(td_tensor_open(path, NULL, &s.t), TD_OK);
    load_fast(&s);
    assert_int_equal(s.borrowed, 1);
    assert_int_equal(dump_as(&s, TD_TRANSFER_DUMP_KNOWN), TD_ARGUMENT); /* a file is read only */
    assert_int_equal(s.borrowed, 0);
    const char *said =
        "backdoor_dump_tensor \"ram\": the tensor is mapped read-only from a file; dump into a tensor made "
        "with tensor_create\n    tensor \"";
    assert_memory_equal(td_last_error(), said, strlen(said));
    close_scene(&s);
    remove(path);
    assert_int_equal(td_transfer_tensor(NULL, NULL, NULL, NULL, TD_TRANSFER_LOAD, &partial, &borrowed), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_tensor: no memory; pass one");
    td_memory *memory = NULL;
    assert_int_equal(td_memory_create("ram", 32, 8, &memory), TD_OK);
    assert_int_equal(td_transfer_tensor(memory, NULL, NULL, NULL, TD_TRANSFER_LOAD, &partial, NULL), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_tensor: no place for an output; pass one");
    td_memory_destroy(&memory);
}

/* The list of runs is kept for the same plan; what crosses between two loads, and a refused one, must not show. */
static void test_staged_again(void **state)
{
    (void)state;
    scene s;
    td_layout *past = NULL;
    open_scene(&s, 64, "u16", TD_SHAPE(150, 4), "r c -> r c", "lanes=msb", "5*r");
    load_fast(&s);
    load_fast(&s);
    assert_int_equal(s.d.words, 150);
    assert_int_equal(td_transfer_span(s.m, 3, 2), TD_OK);
    s.d.words = 0;
    collect(&s.d, s.m);
    assert_int_equal(s.d.words, 2);
    assert_int_equal(td_tensor_fill_ramp(s.t, 7, 1), TD_OK);
    load_fast(&s);
    assert_int_equal(s.d.words, 150);
    assert_int_equal(s.d.aval[5 * 149][1] >> 16, 7 + 4 * 149);
    assert_int_equal(td_layout_create("r c -> r c", NULL, "7*r", &past), TD_OK);
    assert_int_equal(td_transfer_tensor(s.m, s.t, past, NULL, TD_TRANSFER_LOAD, &s.partial, &s.borrowed), TD_OK);
    s.d.words = 0;
    deposit(&s.d, s.m);
    assert_int_equal(s.d.words, 0);
    assert_int_equal(td_transfer_load(s.m, s.t, past, NULL), TD_RANGE);
    td_layout_destroy(&past);
    close_scene(&s);
}

/* A staging buffer is as long as its transfer: a load of something else would write past it. */
static void test_staged_other(void **state)
{
    (void)state;
    scene s;
    td_tensor *longer = NULL;
    open_scene(&s, 64, "u16", TD_SHAPE(150, 4), "r c -> r c", "lanes=msb", "2*r");
    assert_int_equal(td_tensor_create("u16", TD_SHAPE(200, 4), &longer), TD_OK);
    assert_int_equal(td_transfer_tensor(s.m, s.t, s.l, NULL, TD_TRANSFER_LOAD, &s.partial, &s.borrowed), TD_OK);
    assert_int_equal(td_transfer_load(s.m, longer, s.l, NULL), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "backdoor_load_tensor \"ram\": 200 words for a transfer of 150; pass what "
                                         "td_transfer_tensor got");
    assert_int_equal(td_transfer_load(s.m, s.t, s.l, NULL), TD_OK);
    td_tensor_destroy(&longer);
    close_scene(&s);
}

static void test_staged_unknown(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 64, "u16", TD_SHAPE(150, 4), "r c -> r c", NULL, "5*r");
    load_fast(&s);
    assert_int_equal(s.d.runs, 11); /* 150 words in chunks of 14 at most, each with a head */
    s.d.bval[5 * 77][0] = 0x10000;
    assert_int_equal(dump_fast(&s), TD_X_STATE);
    assert_non_null(
        strstr(td_last_error(), "backdoor_dump_tensor \"ram\": element (77, 1) is x or z in bits 0x1 of its 16"));
    s.d.bval[5 * 77][0] = 0;
    s.d.aval[5 * 77][1] = 0x00020001;
    assert_int_equal(dump_fast(&s), TD_OK);
    uint64_t bits = 0;
    assert_int_equal(td_tensor_get_bits(s.t, 77 * 4 + 3, &bits), TD_OK);
    assert_int_equal(bits, 2);
    assert_int_equal(td_tensor_get_bits(s.t, 78 * 4, &bits), TD_OK);
    assert_int_equal(bits, 78 * 4 + 1);
    close_scene(&s);
}

/* -- x and z -- */

static void test_partial_load_keeps_x(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 2), "r c -> r c", "slot=12 lsb=2 fill=keep", "4 + r");
    s.d.aval[5][0] = 0x80000001u; /* known but for bit 1, which is z, and bit 2, which the load writes */
    s.d.bval[5][0] = 0x00000006u;
    s.d.aval[5][0] |= 0x4u;
    load(&s);
    const uint32_t lanes = 0xffu << 2 | 0xffu << 14;
    assert_int_equal(s.d.bval[4][0], ~lanes);
    assert_int_equal(s.d.aval[4][0] & lanes, 1u << 2 | 2u << 14);
    assert_int_equal(s.d.aval[4][0] | lanes, 0xffffffffu); /* still x, not z */
    assert_int_equal(s.d.bval[5][0], 0x2);
    assert_int_equal(s.d.aval[5][0], 0x80000001u | 3u << 2 | 4u << 14);
    assert_int_equal(s.d.bval[7][0], 0xffffffffu);
    close_scene(&s);
}

static void test_listed_x(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(9, 2), "r c -> r c", "slot=12 lsb=2 fill=keep", "r ^ 1");
    load(&s);
    assert_int_equal(s.d.words, 9);
    assert_int_equal(s.d.runs, 1);
    const uint32_t lanes = 0xffu << 2 | 0xffu << 14;
    for (uint32_t a = 0; a < 10; a++) {
        const uint32_t r = a ^ 1;
        assert_int_equal(s.d.bval[a][0], r == 9 ? 0xffffffffu : ~lanes);
        if (r != 9)
            assert_int_equal(s.d.aval[a][0] & lanes, (2 * r + 1) << 2 | (2 * r + 2) << 14);
    }
    assert_int_equal(dump(&s), TD_OK);
    s.d.bval[6][0] |= 0x40000;
    assert_int_equal(dump(&s), TD_X_STATE);
    assert_non_null(strstr(td_last_error(), "element (7, 1) is x or z in bits 0x10 of its 8, 1 of 18 elements are"));
    close_scene(&s);
}

static void test_clipped_load_keeps_x(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(6), "(r c) -> r c", "c=4 tail=clip", "10 + r");
    load(&s);
    assert_int_equal(s.d.bval[10][0], 0);
    assert_int_equal(s.d.bval[11][0], 0xffff0000u);
    assert_int_equal(s.d.aval[11][0], 0xffff0605u);
    close_scene(&s);
}

static void test_padded_load_is_known(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(6), "(r c) -> r c", "c=4 pad=0xff fill=keep", "10 + r");
    load(&s);
    assert_int_equal(s.d.bval[11][0], 0);
    assert_int_equal(s.d.aval[11][0], 0xffff0605u);
    close_scene(&s);
}

static void test_dump_error(void **state)
{
    (void)state;
    scene s;
    uint64_t bits = 0;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 4), "r c -> r c", NULL, "r");
    load(&s);
    s.d.bval[1][0] = 0x000f0000u;
    s.d.bval[2][0] = 0x80000080u;
    td_tensor_fill_ramp(s.t, 100, 0);
    assert_int_equal(dump(&s), TD_X_STATE);
    assert_string_equal(
        td_last_error(),
        "backdoor_dump_tensor \"ram\": element (1, 2) is x or z in bits 0xf of its 8, 3 of 12 elements are; let the "
        "design drive them first, or set the memory's policy to x=zero or x=keep\nalso (2, 0), (2, 3)");
    for (uint64_t i = 0; i < 12; i++) {
        assert_int_equal(td_tensor_get_bits(s.t, i, &bits), TD_OK);
        assert_int_equal(bits, 100);
    }
    s.d.bval[1][0] = s.d.bval[2][0] = 0; /* driven by now */
    assert_int_equal(dump(&s), TD_OK);
    close_scene(&s);
}

static void test_dump_zero_and_keep(void **state)
{
    (void)state;
    scene s;
    uint64_t bits = 0;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 4), "r c -> r c", NULL, "r");
    load(&s);
    s.d.bval[1][0] = 0x00060000u; /* element (1, 2) is 7 */
    s.d.aval[1][0] |= 0x00060000u;
    assert_int_equal(td_memory_set_x(s.m, "zero"), TD_OK);
    assert_int_equal(dump(&s), TD_OK);
    assert_int_equal(td_tensor_get_bits(s.t, 6, &bits), TD_OK);
    assert_int_equal(bits, 1);
    td_tensor_fill_ramp(s.t, 100, 0);
    assert_int_equal(td_memory_set_x(s.m, "keep"), TD_OK);
    assert_int_equal(dump(&s), TD_OK);
    assert_int_equal(td_tensor_get_bits(s.t, 6, &bits), TD_OK);
    assert_int_equal(bits, 100);
    assert_int_equal(td_tensor_get_bits(s.t, 7, &bits), TD_OK);
    assert_int_equal(bits, 8);
    assert_int_equal(td_memory_set_x(s.m, "ignore"), TD_OPTION);
    assert_string_equal(td_last_error(), "memory_set_x \"ram\": a policy \"ignore\"; pass error, zero or keep");
    assert_int_equal(td_memory_set_x(NULL, "zero"), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "memory_set_x: the memory is NULL; pass one");
    close_scene(&s);
}

static void test_dump_converted_and_repeated(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "f32", TD_SHAPE(2, 2), "r c -> (r k) c", "k=2", NULL);
    assert_int_equal(td_transfer_layout(&s.m, 1, s.t, s.l, "i8", &s.partial), TD_OK);
    assert_int_equal(td_backdoor_load_tensor(s.m, s.t, s.l, "i8"), TD_OK);
    deposit(&s.d, s.m);
    s.d.bval[3][0] = 0x00000100u; /* one of two copies of (1, 1) */
    assert_int_equal(td_transfer_layout(&s.m, 1, s.t, s.l, "i8", &s.partial), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_dump_tensor(s.m, s.t, s.l, "i8"), TD_X_STATE);
    assert_non_null(strstr(td_last_error(), "element (1, 1) is x or z"));
    close_scene(&s);
}

/* Copies: an element of which any copy is unknown is unknown, not the first of these alone. */
static void test_copies_unknown(void **state)
{
    (void)state;
    scene s;
    uint64_t bits = 0;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 4), "r c -> (k r) c", "k=3", NULL);
    load(&s);
    s.d.bval[3][0] = 0x00008080u; /* bits that are 0: (0, 0) and (0, 1) in the second copy, (2, 3) in the third */
    s.d.bval[8][0] = 0x80000000u;
    assert_int_equal(dump(&s), TD_X_STATE);
    assert_string_equal(
        td_last_error(),
        "backdoor_dump_tensor \"ram\": element (0, 0) is x or z in bits 0x80 of its 8, 3 of 12 elements are; let the "
        "design drive them first, or set the memory's policy to x=zero or x=keep\nalso (0, 1), (2, 3)");
    td_tensor_fill_ramp(s.t, 100, 0);
    assert_int_equal(td_memory_set_x(s.m, "keep"), TD_OK);
    assert_int_equal(dump(&s), TD_OK);
    for (uint64_t i = 0; i < 12; i++) {
        assert_int_equal(td_tensor_get_bits(s.t, i, &bits), TD_OK);
        assert_int_equal(bits, i == 0 || i == 1 || i == 11 ? 100 : i + 1);
    }
    s.d.bval[3][0] = 0x00000002u; /* a bit that is 1: it reads as another value than the other copies hold */
    td_tensor_fill_ramp(s.t, 1, 1);
    s.d.aval[4][0] ^= 0x00000200u; /* and known copies must agree all the same */
    assert_int_equal(td_memory_set_x(s.m, "keep"), TD_OK);
    assert_int_equal(dump(&s), TD_DISAGREE);
    s.d.aval[4][0] ^= 0x00000200u;
    td_tensor_fill_ramp(s.t, 100, 0);
    assert_int_equal(dump(&s), TD_OK);
    assert_int_equal(td_tensor_get_bits(s.t, 0, &bits), TD_OK);
    assert_int_equal(bits, 100);
    close_scene(&s);
}

static void test_padding_unknown(void **state)
{
    (void)state;
    scene s;
    td_report *report = NULL;
    open_scene(&s, 32, "u8", TD_SHAPE(6), "(r c) -> r c", "c=4 pad=0", "10 + r");
    load(&s);
    s.d.bval[11][0] = 0x00010000u;
    static const struct {
        const char *x;
        uint64_t wrong;
    } policies[] = {{"error", 1}, {"keep", 1}, {"zero", 0}};
    for (size_t i = 0; i < 3; i++) {
        plan(&s);
        collect(&s.d, s.m);
        assert_int_equal(td_memory_set_x(s.m, policies[i].x), TD_OK);
        assert_int_equal(td_backdoor_compare_tensor(s.m, s.t, s.l, "check_pad", NULL, &report), TD_OK);
        assert_int_equal(td_report_pad_mismatches(report), policies[i].wrong);
        if (policies[i].wrong)
            assert_non_null(strstr(td_report_line(report), "first: expected 0x0, got x at address 0xb bits 23:16"));
        td_report_destroy(&report);
    }
    close_scene(&s);
}

static void test_matrix(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 4), "r c -> r c", NULL, NULL);
    assert_int_equal(td_transfer_span(s.m, 5, 3), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_dump_matrix(s.m, s.t, 5, 8), TD_X_STATE);
    assert_non_null(strstr(td_last_error(), "element (0, 0) is x or z in bits 0xff of its 8, 12 of 12 elements are"));
    assert_int_equal(td_transfer_span(s.m, 5, 3), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_load_matrix(s.m, s.t, 5, 8), TD_OK);
    deposit(&s.d, s.m);
    assert_int_equal(s.d.bval[7][0], 0);
    assert_int_equal(s.d.aval[7][0], 0x0c0b0a09u);
    assert_int_equal(s.d.bval[8][0], 0xffffffffu);
    close_scene(&s);
}

static void test_compare(void **state)
{
    (void)state;
    scene s;
    td_report *report = NULL;
    open_scene(&s, 32, "u8", TD_SHAPE(3, 4), "r c -> r c", NULL, "r");
    load(&s);
    s.d.bval[1][0] = 0x00010000u;
    s.d.bval[2][0] = 0x00000008u; /* a bit that is 0 besides: the bits that are left are equal */
    s.d.aval[1][0] &= ~s.d.bval[1][0];
    plan(&s);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_compare_tensor(s.m, s.t, s.l, NULL, NULL, &report), TD_X_STATE);
    assert_null(report);
    assert_non_null(
        strstr(td_last_error(), "backdoor_compare_tensor \"ram\": element (1, 2) is x or z in bits 0x1 of its 8"));
    static const char *const policies[] = {NULL, "atol=5"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(td_memory_set_x(s.m, "keep"), TD_OK);
        assert_int_equal(td_backdoor_compare_tensor(s.m, s.t, s.l, policies[i], NULL, &report), TD_OK);
        assert_int_equal(td_report_compared(report), 12);
        assert_int_equal(td_report_mismatches(report), 2);
        assert_non_null(strstr(td_report_line(report), "; first at (1, 2): expected 7 (0x07), got x at address 0x1"));
        char *json = NULL;
        assert_int_equal(td_report_json(report, &json), TD_OK);
        assert_non_null(strstr(json, "\"at\": [2, 0], \"expected\": 9, \"actual\": \"x\""));
        td_free(json);
        td_report_destroy(&report);
    }
    assert_int_equal(td_memory_set_x(s.m, "zero"), TD_OK);
    assert_int_equal(td_backdoor_compare_tensor(s.m, s.t, s.l, "atol=1", NULL, &report), TD_OK);
    assert_int_equal(td_report_mismatches(report), 1); /* 9 with bit 3 x reads as 1 */
    td_report_destroy(&report);
    close_scene(&s);
}

static void test_words(void **state)
{
    (void)state;
    scene s;
    uint32_t words[2] = {0}, mask[2] = {0x0000ffffu, 0};
    const unsigned char bytes[2] = {0x8, 0x0};
    const uint64_t at[2] = {9, 3};
    open_scene(&s, 32, "u8", TD_SHAPE(1), "r -> r 1", NULL, NULL);
    assert_int_equal(td_transfer_words(s.m, at, 2), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_read(s.m, at, 2, words), TD_X_STATE);
    assert_string_equal(
        td_last_error(),
        "backdoor_read \"ram\": the word at address 0x9 (entry 0) is x or z in bit 0; let the design drive it "
        "first, or set the memory's policy to x=zero");
    words[0] = words[1] = 0x12345678;
    assert_int_equal(td_backdoor_write(s.m, at, 2, words, mask), TD_OK);
    deposit(&s.d, s.m);
    assert_int_equal(s.d.bval[9][0], 0xffff0000u);
    assert_int_equal(s.d.aval[9][0], 0xffff5678u);
    assert_int_equal(s.d.bval[3][0], 0xffffffffu);
    assert_int_equal(td_transfer_words(s.m, at, 2), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_write_bytes(s.m, at, 2, words, bytes), TD_OK);
    deposit(&s.d, s.m);
    assert_int_equal(s.d.bval[9][0], 0x00ff0000u);
    assert_int_equal(s.d.aval[9][0], 0x12ff5678u);
    assert_int_equal(td_memory_set_x(s.m, "zero"), TD_OK);
    assert_int_equal(td_transfer_words(s.m, at, 2), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_backdoor_read(s.m, at, 2, words), TD_OK);
    assert_int_equal(words[0], 0x12005678);
    assert_int_equal(words[1], 0);
    close_scene(&s);
}

static void test_files(void **state)
{
    (void)state;
    scene s;
    const char *path = "test_transfer.hex";
    open_scene(&s, 32, "u8", TD_SHAPE(2, 4), "r c -> r c", NULL, "20 + r");
    const td_span span = {.first = 20, .count = 3};
    load(&s);
    assert_int_equal(td_transfer_span(s.m, 20, 3), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_memory_save_file(s.m, path, &span, 1), TD_X_STATE);
    assert_string_equal(
        td_last_error(),
        "memory_save_file \"test_transfer.hex\": word 0x16 of \"ram\" has bits that are x or z; save it when the "
        "design has driven them, or set the memory's policy to x=zero");
    assert_int_equal(td_memory_set_x(s.m, "zero"), TD_OK);
    assert_int_equal(td_memory_save_file(s.m, path, &span, 1), TD_OK);
    power_up(&s.d, 32);
    assert_int_equal(td_transfer_file(s.m, path), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_memory_load_file(s.m, path), TD_OK);
    s.d.words = 0;
    deposit(&s.d, s.m);
    assert_int_equal(s.d.words, 3);
    assert_int_equal(s.d.aval[21][0], 0x08070605u);
    assert_int_equal(s.d.bval[20][0] | s.d.bval[22][0], 0);
    assert_int_equal(s.d.bval[19][0], 0xffffffffu);
    remove(path);
    close_scene(&s);
}

static void test_banks(void **state)
{
    (void)state;
    scene s;
    design other;
    td_memory *banks[2] = {NULL, NULL};
    open_scene(&s, 32, "u8", TD_SHAPE(6, 4), "r c -> r c", NULL, "bank = r & 1; addr = r / 2");
    power_up(&other, 32);
    banks[0] = s.m;
    assert_int_equal(td_memory_create("other", 32, DEPTH, &banks[1]), TD_OK);
    assert_int_equal(td_transfer_layout(banks, 2, s.t, s.l, NULL, &s.partial), TD_OK);
    assert_int_equal(td_backdoor_load_tensor_banks(banks, 2, s.t, s.l, NULL), TD_OK);
    deposit(&s.d, banks[0]);
    deposit(&other, banks[1]);
    assert_int_equal(s.d.words + other.words, 6);
    assert_int_equal(other.aval[2][0], 0x18171615u);
    other.bval[1][0] = 1;
    assert_int_equal(td_transfer_layout(banks, 2, s.t, s.l, NULL, &s.partial), TD_OK);
    collect(&s.d, banks[0]);
    collect(&other, banks[1]);
    assert_int_equal(td_backdoor_dump_tensor_banks(banks, 2, s.t, s.l, NULL), TD_X_STATE);
    assert_non_null(strstr(td_last_error(), "element (3, 0) is x or z in bits 0x1 of its 8, 1 of 24 elements are"));
    td_memory_destroy(&banks[1]);
    close_scene(&s);
}

static void test_clear(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 32, "u8", TD_SHAPE(1), "r -> r 1", NULL, NULL);
    assert_int_equal(td_transfer_span(s.m, 0, DEPTH), TD_OK);
    collect(&s.d, s.m);
    assert_int_equal(td_memory_clear(s.m), TD_OK);
    deposit(&s.d, s.m);
    for (size_t a = 0; a < DEPTH; a++)
        assert_int_equal(s.d.aval[a][0] | s.d.bval[a][0], 0);
    close_scene(&s);
}

static void test_too_deep(void **state)
{
    (void)state;
    td_memory *m = NULL;
    assert_int_equal(td_memory_create("far", 8, ((uint64_t)1 << 32) + 1, &m), TD_OK);
    assert_int_equal(td_transfer_span(m, (uint64_t)1 << 32, 1), TD_ARGUMENT); /* would cross as address 0 */
    assert_string_equal(td_last_error(), "transfer \"far\": 4294967297 words; a memory that lies elsewhere has at most "
                                         "4294967296");
    td_memory_destroy(&m);
}

static void test_null(void **state)
{
    (void)state;
    int partial = 0;
    uint32_t chunk[CHUNK] = {0};
    assert_int_equal(td_transfer_layout(NULL, 0, NULL, NULL, NULL, &partial), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_layout: no memory; pass one");
    assert_int_equal(td_transfer_span(NULL, 0, 1), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_span: the memory is NULL; create it first");
    assert_int_equal(td_transfer_words(NULL, NULL, 0), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_words: the memory is NULL; pass one");
    assert_int_equal(td_transfer_file(NULL, "x.hex"), TD_ARGUMENT);
    assert_string_equal(td_last_error(), "transfer_file: the memory is NULL; pass one");
    assert_int_equal(td_transfer_unknown_in(NULL, chunk, CHUNK), TD_ARGUMENT);
    assert_string_equal(td_last_error(),
                        "transfer_unknown_in: no words are expected; call it between two of td_transfer_in");
    assert_int_equal(td_transfer_in(NULL, chunk, CHUNK), 0);
    assert_int_equal(td_transfer_out(NULL, chunk, CHUNK, &partial), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_narrow_words),
        cmocka_unit_test(test_refused_moves_nothing),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_borrowed_not),
        cmocka_unit_test(test_staged_again),
        cmocka_unit_test(test_staged_other),
        cmocka_unit_test(test_staged_unknown),
        cmocka_unit_test(test_partial_load_keeps_x),
        cmocka_unit_test(test_listed_x),
        cmocka_unit_test(test_clipped_load_keeps_x),
        cmocka_unit_test(test_padded_load_is_known),
        cmocka_unit_test(test_dump_error),
        cmocka_unit_test(test_dump_zero_and_keep),
        cmocka_unit_test(test_dump_converted_and_repeated),
        cmocka_unit_test(test_copies_unknown),
        cmocka_unit_test(test_padding_unknown),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
