/* Loads that fill words before or together with their data, against the plain walker, which clears, pads and loads
 * element by element: layouts whose padding lies in front, behind and between, in short and long words, over banks and
 * tables, with bits that are kept, clipped or outside of lanes, in sizes past one block of the first-level cache; on
 * every instruction set of this machine, on one thread and on two. */
#include "support.h"

#include "base/cpu.h"
#include "exec/exec.h"
#include "exec/plain.h"
#include "memory/memory.h"
#include "plan/plan.h"
#include "values/as.h"

typedef struct load_case {
    const char *pattern, *options, *address;
    td_shape shape;
    uint64_t lanes, banks; /* lanes: of a word */
    uint64_t more_bits;    /* of a word, beside its lanes */
} load_case;

#define SHAPE(...)                                                                                                     \
    {                                                                                                                  \
        sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                                                          \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const load_case cases[] = {
    {"h w (c1 c0) -> (h w c1) c0", "c0=16 pad=3", NULL, SHAPE(40, 60, 3), 16, 1, 0},
    {"h w (c1 c0) -> (h w c1) c0", "c0=16 pad=3 pad_at=begin", NULL, SHAPE(40, 60, 19), 16, 1, 0},
    {"h w (c1 c0) -> (h w c1) c0", "c0=4 pad=0", NULL, SHAPE(40, 60, 3), 4, 1, 0},
    {"(c1 c0) h w -> (h w c1) c0", "c0=16 pad=3", NULL, SHAPE(3, 40, 60), 16, 1, 0},
    {"(c1 c0) h w -> (h w c1) c0", "c0=16 pad=1 pad_at=begin", NULL, SHAPE(21, 40, 60), 16, 1, 0},
    {"(c1 c0) h w -> (h w c1) c0", "c0=5 pad=1", NULL, SHAPE(13, 40, 60), 5, 1, 0},
    {"n (c1 c0) h w -> (n c1 h w) c0", "c0=32 pad=0", NULL, SHAPE(3, 70, 11, 13), 32, 1, 0},
    {"n (c1 c0) h w -> (n c1 h w) c0", "c0=48 pad=2", "2*n + 7*c1 + 200*h + 15*w", SHAPE(2, 70, 11, 13), 48, 1, 0},
    {"n h w (c1 c0) -> (n h c1 w) c0", "c0=16 pad=1", NULL, SHAPE(3, 11, 13, 70), 16, 1, 0},
    {"n (h1 h0) (w2 w1 w0) (c1 c0) -> (n h1 w2 c1 h0 w1) (c0 w0)", "h0=8 w1=2 w0=2 c0=32 pad=1", NULL,
     SHAPE(2, 13, 15, 70), 64, 1, 0},
    {"(o1 o0) (i1 i0) h w -> (o1 i1 h w) (o0 i0)", "o0=16 i0=16 pad=2", NULL, SHAPE(30, 39, 3, 5), 256, 1, 0},
    {"(o1 o0) (i2 i1 i0) h w -> (o1 i2 h w i1) (o0 i0)", "o0=16 i1=4 i0=4 pad=2", NULL, SHAPE(30, 37, 3, 5), 64, 1, 0},
    {"(k2 k1 k0) n -> (k2 n) (k1 k0)", "k1=4 k0=4 pad=1", NULL, SHAPE(59, 70), 16, 1, 0},
    {"(a b) c -> (b c) a", "a=6 pad=1", NULL, SHAPE(59, 70), 6, 1, 0},
    {"(mo mq mr) (ko ki) -> (mo ko mr) (mq ki)", "mq=4 mr=32 ki=4 pad=0", NULL, SHAPE(300, 37), 16, 1, 0},
    {"r (c k) -> (c r) k", "k=16 tail=clip", NULL, SHAPE(300, 41), 16, 1, 0},
    {"r (c k) -> (c r) k", "k=16 tail=clip lsb=8", NULL, SHAPE(300, 41), 16, 1, 24},
    {"r (c k) -> (c r) k", "k=16 pad=1 fill=keep lsb=8", NULL, SHAPE(300, 41), 16, 1, 24},
    {"r (c k) -> (c r) k", "k=16 pad=1 lsb=8 lanes=msb", NULL, SHAPE(300, 41), 16, 1, 24},
    {"r (c k) -> (c r) k", "k=16 pad=1 beats=2", NULL, SHAPE(300, 41), 8, 1, 0},
    {"r (c k) -> (c r) k", "k=16 pad=1 beats=2", "5*c + 40*r", SHAPE(300, 41), 8, 1, 8},
    {"r c -> c r", "lsb=8", NULL, SHAPE(13, 3000), 13, 1, 16},
    {"r c -> r c", "lsb=16", NULL, SHAPE(3000, 13), 13, 1, 16},
    {"r c -> r c", "", NULL, SHAPE(3000, 3), 3, 1, 8},
    {"(h g) (c k) -> g (h c) k", "g=4 k=16 pad=1", NULL, SHAPE(129, 50), 16, 4, 0},
    {"(r g) (c k) -> g (c r) k", "g=4 k=16 pad=1", NULL, SHAPE(129, 50), 16, 4, 8},
    {"h (c k) -> (h c) k", "k=16 pad=1", "(h ^ c) + 1024*c", SHAPE(600, 50), 16, 1, 0},
    {"(c k) h -> (h c) k", "k=16 pad=1 lsb=8", "(h ^ c) + 1024*c", SHAPE(50, 600), 16, 1, 8},
    {"h (c k) -> (h c) k", "k=16 pad=1", "bank = (h + c) % 4; addr = h + 600*c", SHAPE(600, 50), 16, 4, 0},
    {"h (c k) r -> (h c r) k", "k=8 pad=1", NULL, SHAPE(60, 13, 5), 8, 1, 0},
    {"h (c k) -> (h c r) k", "k=8 r=3 pad=1", NULL, SHAPE(60, 13), 8, 1, 0},
    {"(h + j) (c k) -> (h c j) k", "j=3 k=8 pad=1", NULL, SHAPE(60, 13), 8, 1, 0},
    /* Words that the first-level cache holds few of. */
    {"r (c k) -> k (r c)", "k=2", NULL, SHAPE(150, 240), 18000, 1, 8},
    {"r (c k) -> k (r c)", "k=3 lsb=8", NULL, SHAPE(150, 240), 12000, 1, 16},
    {"r (c k) -> k (r c)", "k=8 pad=1", NULL, SHAPE(299, 236), 8970, 1, 0},
    {"(r s) (c k) -> (k s) (r c)", "k=4 s=3 pad=1", NULL, SHAPE(299, 237), 6000, 1, 8},
    {"(k r) c -> r (c k)", "k=4 lsb=16", NULL, SHAPE(8, 5000), 20000, 1, 16},
    {"c (k r) -> r (k c)", "k=3", NULL, SHAPE(5000, 6), 15000, 1, 8},
};

#define LONG_WORD 1024 /* lanes; memories of such words have few of them */

/* The dtypes of the tensor and of the memory. */
static const char *const dtypes[][2] = {{"i8", ""}, {"i16", ""},           {"f32", ""},   {"f64", ""},
                                        {"i4", ""}, {"f32", "i8 scale=2"}, {"i8", "f32"}, {"u3", ""}};

#define MAX_BANKS 4

static void plain_load(const td_run *run)
{
    const td_plan *plan = run->plan;
    if (plan->lane_mask)
        td_plain_run(run, plan->words, plan->words_count, td_clear_row);
    td_plain_run(run, plan->pads, plan->pads_count, td_pad_row);
    td_plain_run(run, plan->data, plan->data_count, td_load_row);
}

/* Returns whether some word was filled. */
static bool check_case(const load_case *c, const char *dtype, const char *as_text, const char *isa)
{
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory[MAX_BANKS] = {0};
    td_plan *plan = NULL;
    td_plan_request request = {.shape = &c->shape};
    td_as as;
    unsigned char *bank[MAX_BANKS], *expected[MAX_BANKS];
    ASSERT_OK(td_layout_create(c->pattern, c->options, c->address, &layout));
    ASSERT_OK(td_tensor_create(dtype, c->shape, &tensor));
    ASSERT_OK(td_tensor_fill(tensor, "random"));
    ASSERT_OK(td_dtype_parse(dtype, &request.tensor_dtype));
    ASSERT_OK(td_as_parse(as_text, request.tensor_dtype, &as));
    request.layout = layout;
    request.memory_dtype = as.dtype;
    const uint64_t width = c->lanes * as.dtype.bits + c->more_bits, depth = c->lanes < LONG_WORD ? 40000 : 16;
    request.geometry =
        (td_geometry){.width_bits = width, .depth_words = depth, .banks = c->banks, .word_bytes = td_word_bytes(width)};
    const size_t bytes = depth * request.geometry.word_bytes;
    for (size_t i = 0; i < c->banks; i++) {
        ASSERT_OK(td_memory_create("m", width, depth, &memory[i]));
        ASSERT_OK(td_memory_fill(memory[i], "random seed=7", 0, depth));
        bank[i] = td_memory_data(memory[i]);
        expected[i] = malloc(bytes);
        assert_non_null(expected[i]);
        memcpy(expected[i], bank[i], bytes);
    }
    ASSERT_OK(td_plan_create(&request, &plan));
    const bool fills = plan->fill_count != 0;
    td_convert convert;
    const bool converts = *as_text != '\0';
    if (converts)
        ASSERT_OK(td_convert_bind(&as, request.tensor_dtype, TD_TO_MEMORY, NULL, &convert));
    td_run run = {
        .plan = plan, .bank = expected, .tensor = td_tensor_data(tensor), .convert = converts ? &convert : NULL};
    plain_load(&run);
    run.bank = bank;
    td_exec_load(&run);
    for (size_t i = 0; i < c->banks; i++)
        if (memcmp(bank[i], expected[i], bytes) != 0)
            fail_msg("\"%s\" (options \"%s\") of %s, as \"%s\", on %s: bank %zu differs from the plain walk",
                     c->pattern, c->options, dtype, as_text, isa, i);
    td_plan_release(&plan);
    for (size_t i = 0; i < c->banks; i++) {
        td_memory_destroy(&memory[i]);
        free(expected[i]);
    }
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
    return fills;
}

static void loads_are_those_of_the_plain_walk(void **state)
{
    static const struct {
        const char *name;
        unsigned flags;
    } isas[] = {{"c", TD_CPU_C},
                {"avx2", TD_CPU_AVX2},
                {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512},
                {"vbmi", TD_CPU_AVX2 | TD_CPU_AVX512 | TD_CPU_VBMI}};
    (void)state;
    td_cpu_mask(TD_CPU_ALL);
    const unsigned machine = td_cpu_flags();
    for (size_t isa = 0; isa < sizeof isas / sizeof isas[0]; isa++) {
        if ((machine & isas[isa].flags) != isas[isa].flags)
            continue;
        td_cpu_mask(isas[isa].flags);
        td_speed_threads(1 + (unsigned)(isa & 1));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            bool fills = false;
            for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
                fills |= check_case(&cases[i], dtypes[d][0], dtypes[d][1], isas[isa].name);
            if (!fills && !strstr(cases[i].options, "tail=clip"))
                fail_msg("\"%s\" (options \"%s\") fills no word", cases[i].pattern, cases[i].options);
        }
    }
    td_cpu_mask(TD_CPU_ALL);
    td_speed_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_are_those_of_the_plain_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
