/* Stages against the plain walker, at sizes of several batches: chunks that do not divide, two nodes cut at once,
 * padding, kept bits, tables, banks, beats that cut elements, copies, and conversions that look at the element's
 * number. The properties (tests/prop) draw layouts at random, but rarely more than one batch of them. Each case must
 * really be staged, on every instruction set of this machine, with and without threads. */
#include "support.h"

#include "base/cpu.h"
#include "exec/plain.h"
#include "memory/memory.h"
#include "plan/stage.h"
#include "values/as.h"

typedef struct staged_case {
    const char *pattern, *options, *address, *shape, *dtype, *as;
    uint64_t width_bits, banks;
} staged_case;

static const staged_case cases[] = {
    /* narrow words, whole and in chunks that do not divide */
    {"a b -> a b", "", "", "8192 4", "u3", "", 12, 1},
    {"a b -> a b", "", "", "9973 8", "i5", "", 40, 1},
    {"a b -> a b", "", "", "9973 10", "u3", "", 30, 1},
    {"a b -> a b", "slot=9", "", "5003 7", "i8", "", 64, 1},
    {"a b -> a b", "slot=5 lsb=2", "", "5003 11", "i4", "", 64, 1},
    {"a b -> a b", "lsb=3", "", "5003 5", "i12", "", 64, 1},
    {"a b -> a b", "", "", "5003 10", "i12", "", 128, 1},
    {"a b -> a b", "", "", "5003 5", "u24", "", 128, 1},
    {"a b -> a b", "", "", "5003 3", "i40", "", 128, 1},
    {"a b -> a b", "fill=keep", "", "5003 8", "i4", "", 40, 1},
    {"a b -> a b", "", "3*a + 1", "5003 5", "u3", "", 20, 1},
    /* lanes from the top */
    {"a b -> a b", "lanes=msb", "", "5003 16", "i4", "", 64, 1},
    {"a b -> a b", "lanes=msb slot=5", "", "5003 13", "i4", "", 72, 1},
    {"a b c -> a (c b)", "lanes=msb", "", "5003 3 5", "u2", "", 32, 1},
    /* the tensor's rows are apart: two nodes are cut */
    {"(ct cs) h w -> (ct h w) cs", "cs=8", "", "24 37 41", "i4", "", 32, 1},
    {"(ct cs) h w -> (ct w h) cs", "cs=5", "", "35 131 139", "i6", "", 30, 1},
    {"(ct cs) h w -> (h ct w) cs", "cs=3", "", "27 61 67", "u10", "", 32, 1},
    {"a b c -> (c a) b", "", "", "211 7 113", "i3", "", 24, 1},
    /* vectors in pieces */
    {"a b -> a b", "beats=3", "", "5003 8", "i12", "", 32, 1},
    {"a b -> a b", "beats=2 lanes=msb", "", "5003 3", "i12", "", 18, 1},
    {"a b -> a b", "beats=4 slot=8", "", "5003 2", "u2", "", 4, 1},
    {"a b -> a b", "beats=2 fill=keep", "", "5003 3", "i14", "", 23, 1},
    {"a b -> b a", "beats=5", "", "7 5003", "i5", "", 8, 1},
    {"... -> (...)", "", "7", "40009", "i5", "", 12, 1},
    {"... -> (...)", "lsb=5", "7", "40009", "i5", "", 12, 1},
    {"... -> (...)", "slot=9", "7", "40009", "i8", "", 64, 1},
    {"... -> (...)", "slot=5 lsb=4", "7", "40009", "i4", "", 32, 1},
    {"... -> (...)", "slot=13", "7", "40009", "f32", "i12 scale=0.1 sat", 8, 1},
    /* padding */
    {"a (b c) -> (a b) c", "c=32 pad=3", "", "3001 50", "i4", "", 128, 1},
    {"a (b c) -> (a b) c", "c=10 pad=1", "", "3001 13", "u3", "", 32, 1},
    {"(a c) b -> (a b) c", "c=6 pad=1 pad_at=begin", "", "27 3001", "u5", "", 32, 1},
    {"a (b c) -> (a b) c", "c=10 tail=clip", "", "3001 13", "u3", "", 32, 1},
    {"(a c) b -> (a b) c", "c=8 pad=1 beats=3", "", "11 3001", "i12", "", 32, 1},
    /* padding that is zero is written with the words that have some data */
    {"a (b c) -> (a b) c", "c=32 pad=0", "", "3001 50", "i4", "", 128, 1},
    {"a (b c) -> (a b) c", "c=4 pad=0", "", "16 6", "i4", "", 16, 1},
    {"(a c) b -> (a b) c", "c=6 pad=0 pad_at=begin", "", "27 3001", "u5", "", 32, 1},
    {"a (b c) -> (a b) c", "c=10 pad=0 slot=6", "", "3001 13", "u3", "", 64, 1},
    {"a (b c) -> (a b) c", "c=10 pad=0 fill=keep slot=6", "", "3001 13", "u3", "", 64, 1},
    {"(a c) b -> (a b) c", "c=8 pad=0 beats=3", "", "11 3001", "i12", "", 32, 1},
    {"a (b c) -> (a b) c", "c=10 pad=0", "", "3001 13", "f16", "i3 scale=0.1 sat", 32, 1},
    {"(h c) (k d) -> (h k) (c d)", "c=2 d=6 pad=0", "", "201 403", "i4", "", 48, 1},
    {"(a c) b -> (a b) c", "c=10 pad=0", "512*a + (b ^ 5*a)", "15 512", "u3", "", 32, 1},
    /* tables and banks */
    {"h w c -> (h w) c", "", "128*h + (w ^ (h & 127))", "64 128 16", "i4", "", 64, 1},
    {"h w c -> (h w) c", "", "128*h + (w ^ (h & 127))", "64 128 10", "u3", "", 32, 1},
    {"h w c -> (h w) c", "fill=keep", "128*h + (w ^ (h & 127))", "64 128 5", "u3", "", 32, 1},
    {"h w c -> (h w) c", "beats=2", "2*(128*h + (w ^ (h & 127)))", "64 128 8", "i4", "", 17, 1},
    {"h w c -> (h w) c", "beats=3", "3*(128*h + (w ^ (h & 127)))", "64 128 8", "i12", "", 32, 1},
    {"a b -> a b", "", "bank = a % 8; addr = a / 8", "8192 9", "i4", "", 40, 8},
    {"(h g) c -> g h c", "g=4", "", "8192 9", "i4", "", 40, 4},
    {"(h g) (k c) -> g (h k) c", "g=4 c=5 pad=1", "", "8192 9", "i4", "", 20, 4},
    /* copies: a load writes all, a dump reads the first */
    {"a b -> (a r) b", "r=3", "", "5003 5", "u3", "", 16, 1},
    {"a b -> (r a) b", "r=2", "", "5003 5", "u3", "", 16, 1},
    {"a b -> a (b r)", "r=2", "", "5003 5", "u3", "", 32, 1},
    {"a b -> (r a) b", "r=2 beats=5", "", "5003 8", "u5", "", 8, 1},
    /* conversions, and those that look at the element's number */
    {"a b -> a b", "", "", "5003 6", "f32", "i5 scale=0.1 sat", 32, 1},
    {"(ct cs) h w -> (ct h w) cs", "cs=8", "", "24 37 41", "f32", "i4 scale=0.1 sat", 32, 1},
    {"(ct cs) h w -> (ct w h) cs", "cs=5", "", "35 61 67", "f32", "i6 scale=0.1 sat round=stochastic seed=3", 30, 1},
    {"a b -> a b", "lanes=msb", "", "5003 5", "f64", "i12 scale=0.1 sat round=stochastic", 64, 1},
    {"a b -> a b", "beats=3", "", "5003 8", "f32", "i12 scale=0.1 sat round=stochastic", 32, 1},
    {"a (b c) -> (a b) c", "c=10 pad=1", "", "3001 13", "f16", "i3 scale=0.1 sat", 32, 1},
    /* conversions between bytes of which few lie side by side: units are copied, or are parts of their words */
    {"a b -> a b", "", "3*a + 1", "5003 5", "f32", "bf16", 80, 1},
    {"a b -> (a b) ()", "", "", "86 756", "i32", "i16", 48, 1},
    {"a b -> (a b) ()", "lsb=16 fill=keep", "", "86 756", "i8", "i32", 48, 1},
    {"a b -> a b", "lsb=3", "", "5003 5", "f32", "i8 scale=0.1 sat", 64, 1},
    {"a b -> a b", "lanes=msb slot=24", "", "5003 3", "f32", "f16", 80, 1},
    {"(a a1 a2) (b b1 b2) -> (a a2 b1 b b2) a1", "a1=4 a2=8 b1=32 b2=2 pad=0 pad_at=begin", "", "98 1986", "f32",
     "i8 scale=0.1 sat round=stochastic", 32, 1},
    {"a (b c) -> (a b) c", "c=16 pad=1", "", "3001 26", "f32", "i8 scale=0.1 sat", 128, 1},
    {"a (b c) -> (a b) c", "c=6 tail=clip", "", "3001 27", "f32", "i16 scale=0.1 sat", 128, 1},
    {"a b -> a b", "beats=2", "", "5003 6", "f64", "i8 scale=0.1 sat", 24, 1},
    {"h w c -> (h w) c", "", "128*h + (w ^ (h & 127))", "64 128 16", "f32", "i8 scale=0.1 sat", 128, 1},
    {"h w c -> (h w) c", "fill=keep lsb=8", "128*h + (w ^ (h & 127))", "64 128 3", "f32", "i8 scale=0.1 sat", 40, 1},
    {"a b -> a b", "", "bank = a % 8; addr = a / 8", "8192 9", "f32", "i8 scale=0.1 sat", 72, 8},
    {"a b -> (a r) b", "r=3", "", "5003 5", "f32", "i8 scale=0.1 sat", 48, 1},
    /* elements in bytes of their own that lie apart */
    {"a b -> (b a) ()", "", "", "7 5003", "u14", "", 17, 1},
    {"a b -> (a b) ()", "", "128*a + (b ^ (a & 127))", "64 128", "i4", "", 4, 1},
};
#define CASES (sizeof cases / sizeof cases[0])
#define MOST_BANKS 8

/* One case: a plan, a tensor, and two sets of memories. */
typedef struct sides {
    td_layout *layout;
    td_plan *plan;
    td_convert to_memory, to_tensor;
    bool converts;
    td_tensor *tensor;
    size_t tensor_bytes, bank_bytes;
    unsigned char *bank[2][MOST_BANKS], *dumped[2];
} sides;

/* Garbage, in which the bits above the width are 0 as in every memory. */
static void fill_words(unsigned char *bank, const td_geometry *g)
{
    for (uint64_t w = 0; w < g->depth_words; w++)
        for (uint64_t i = 0; i < g->word_bytes; i++) {
            const uint64_t left = g->width_bits > 8 * i ? g->width_bits - 8 * i : 0;
            bank[w * g->word_bytes + i] =
                (unsigned char)((w * 151 + w / 251 + 37 * i) & (left < 8 ? ((uint64_t)1 << left) - 1 : 255));
        }
}

static void open_sides(const staged_case *c, sides *s)
{
    td_shape shape;
    td_as as;
    memset(s, 0, sizeof *s);
    ASSERT_OK(td_shape_parse(c->shape, &shape));
    ASSERT_OK(td_layout_create(c->pattern, c->options, c->address, &s->layout));
    ASSERT_OK(td_tensor_create(c->dtype, shape, &s->tensor));
    td_plan_request request = {.layout = s->layout, .shape = &shape};
    ASSERT_OK(td_dtype_parse(c->dtype, &request.tensor_dtype));
    ASSERT_OK(td_as_parse(c->as, request.tensor_dtype, &as));
    request.memory_dtype = as.dtype;
    request.geometry = (td_geometry){.width_bits = c->width_bits,
                                     .depth_words = (uint64_t)1 << 18,
                                     .banks = c->banks,
                                     .word_bytes = td_word_bytes(c->width_bits)};
    ASSERT_OK(td_plan_create(&request, &s->plan));
    s->converts = c->as[0] != '\0';
    if (s->converts) {
        ASSERT_OK(td_convert_bind(&as, request.tensor_dtype, TD_TO_MEMORY, NULL, &s->to_memory));
        ASSERT_OK(td_convert_bind(&as, request.tensor_dtype, TD_TO_TENSOR, NULL, &s->to_tensor));
        ASSERT_OK(td_tensor_fill(s->tensor, "uniform min=-2 max=2 seed=5"));
    } else
        ASSERT_OK(td_tensor_fill(s->tensor, "random seed=5"));
    s->tensor_bytes = (size_t)td_tensor_elems(s->tensor) * td_tensor_elem_bytes(s->tensor);
    s->bank_bytes = (size_t)request.geometry.depth_words * request.geometry.word_bytes;
    for (int who = 0; who < 2; who++) {
        s->dumped[who] = malloc(s->tensor_bytes);
        assert_non_null(s->dumped[who]);
        memset(s->dumped[who], 0x5a, s->tensor_bytes);
        for (uint64_t b = 0; b < c->banks; b++) {
            s->bank[who][b] = malloc(s->bank_bytes);
            assert_non_null(s->bank[who][b]);
            fill_words(s->bank[who][b], &request.geometry);
        }
    }
}

static void close_sides(sides *s)
{
    for (int who = 0; who < 2; who++) {
        free(s->dumped[who]);
        for (size_t b = 0; b < MOST_BANKS; b++)
            free(s->bank[who][b]);
    }
    td_convert_free(&s->to_memory);
    td_convert_free(&s->to_tensor);
    td_tensor_destroy(&s->tensor);
    td_plan_release(&s->plan);
    td_layout_destroy(&s->layout);
}

static td_run run_of(sides *s, int who, bool dump)
{
    return (td_run){.plan = s->plan,
                    .bank = s->bank[who],
                    .tensor = dump ? s->dumped[who] : td_tensor_data(s->tensor),
                    .convert = !s->converts ? NULL
                               : dump       ? &s->to_tensor
                                            : &s->to_memory};
}

/* What exec does, element by element. */
static void walk(sides *s, bool dump)
{
    const td_run run = run_of(s, 1, dump);
    const td_plan *plan = s->plan;
    if (!dump) {
        if (plan->lane_mask)
            td_plain_run(&run, plan->words, plan->words_count, td_clear_row);
        td_plain_run(&run, plan->pads, plan->pads_count, td_pad_row);
    }
    td_plain_run(&run, plan->data, plan->data_count, dump ? td_dump_row : td_load_row);
}

static void check_case(const staged_case *c, const char *how)
{
    sides s;
    open_sides(c, &s);
    bool staged = s.plan->stage != NULL;
    for (size_t b = 0; staged && b < s.plan->data_count; b++)
        staged = (s.plan->stage[2 * b] && s.plan->stage[2 * b + 1]) || s.plan->data_count > 1; /* corners are small */
    if (!staged)
        fail_msg("\"%s\" %s of %s in words of %d bits is not staged (%s)", c->pattern, c->options, c->dtype,
                 (int)c->width_bits, how);
    const td_run load = run_of(&s, 0, false), dump = run_of(&s, 0, true);
    td_exec_load(&load);
    walk(&s, false);
    for (uint64_t b = 0; b < c->banks; b++)
        if (memcmp(s.bank[0][b], s.bank[1][b], s.bank_bytes) != 0)
            fail_msg("a load of \"%s\" %s of %s in words of %d bits differs (%s)", c->pattern, c->options, c->dtype,
                     (int)c->width_bits, how);
    td_exec_dump(&dump);
    walk(&s, true);
    if (memcmp(s.dumped[0], s.dumped[1], s.tensor_bytes) != 0)
        fail_msg("a dump of \"%s\" %s of %s in words of %d bits differs (%s)", c->pattern, c->options, c->dtype,
                 (int)c->width_bits, how);
    if (!s.converts && memcmp(s.dumped[0], td_tensor_data(s.tensor), s.tensor_bytes) != 0)
        fail_msg("a dump of \"%s\" %s does not give the tensor back (%s)", c->pattern, c->options, how);
    close_sides(&s);
}

static void check_all(const char *how)
{
    for (size_t i = 0; i < CASES; i++)
        check_case(&cases[i], how);
}

static void stages_do_what_the_walker_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned flags;
    } isas[] = {{"c", TD_CPU_C},
                {"avx2", TD_CPU_AVX2},
                {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512},
                {"vbmi", TD_CPU_AVX2 | TD_CPU_AVX512 | TD_CPU_VBMI}};
    td_cpu_mask(TD_CPU_ALL);
    const unsigned machine = td_cpu_flags();
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++)
        if ((machine & isas[i].flags) == isas[i].flags) {
            td_cpu_mask(isas[i].flags);
            check_all(isas[i].name);
        }
    td_cpu_mask(TD_CPU_ALL);
}

/* The environment of the tests (TD_PARALLEL_BYTES) has all parts shared, however short they are. */
static void stages_are_shared_by_threads(void **state)
{
    (void)state;
    td_speed_threads(3);
    check_all("3 threads");
    td_speed_threads(0);
}

/* The cases are large enough: several batches, and some whose last chunk is shorter on two nodes. */
static void cases_have_batches_and_rests(void **state)
{
    (void)state;
    size_t many = 0, cut_once = 0, cut_twice = 0, kept = 0, reversed = 0, copied = 0, tight = 0, cleared = 0;
    for (size_t i = 0; i < CASES; i++) {
        sides s;
        open_sides(&cases[i], &s);
        for (size_t f = 0; f < s.plan->fill_count; f++)
            cleared += s.plan->fill[f].staged;
        for (size_t b = 0; b < s.plan->data_count; b++) {
            const td_stage *stage = s.plan->stage ? s.plan->stage[2 * b] : NULL;
            uint64_t batches = 1;
            for (size_t n = 0; stage && n < stage->unit_count; n++)
                batches *= (stage->unit[n].extent + stage->chunk[n] - 1) / stage->chunk[n];
            many += batches > 2;
            cut_once += stage && stage->cuts == 1;
            cut_twice += stage && stage->cuts == 2;
            kept += stage && !stage->whole;
            reversed += stage && stage->code.reversed;
            copied += stage && stage->bytes;
            tight += stage && s.plan->stage[2 * b + 1] != stage;
        }
        close_sides(&s);
    }
    assert_true(many >= 20);
    assert_true(cut_once >= 5);
    assert_true(cut_twice >= 1);
    assert_true(kept >= 5);
    assert_true(reversed >= 3);
    assert_true(copied >= 8);
    assert_true(tight >= 1);
    assert_true(cleared >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_do_what_the_walker_does),
        cmocka_unit_test(stages_are_shared_by_threads),
        cmocka_unit_test(cases_have_batches_and_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
