/* Conversion inside moves that are large enough to be cut, staged and streamed: a load with `as` gives the memory that
 * a load of the converted tensor gives, and a dump with `as` the conversion of what a plain dump gives. Plain moves are
 * held against nested loops in test_speed.c, and single conversions against the standards in test_convert.c. */
#include "support.h"

#include "base/cpu.h"
#include "plan/cache.h"
#include "values/convert.h"

typedef struct shaped {
    const char *pattern;
    td_shape shape;
    uint64_t lanes;
    const char *options, *address;
} shaped;

static const shaped layouts[] = {
    {"r c -> c r", {2, {1024, 1024}}, 1024, NULL, NULL},                           /* transposed, whole lines */
    {"r c -> c r", {2, {531, 700}}, 531, NULL, NULL},                              /* off the lines */
    {"r c -> c r", {2, {70, 9000}}, 70, NULL, NULL},                               /* longer than the buffer */
    {"r a c b -> (r c) (a b)", {4, {64, 16, 64, 16}}, 256, NULL, NULL},            /* tiles */
    {"r a c b -> (r c) (a b)", {4, {33, 8, 41, 8}}, 64, NULL, NULL},               /* small ones */
    {"r a c b -> (r c) (a b)", {4, {20, 5, 31, 7}}, 35, NULL, NULL},               /* odd ones */
    {"n c h -> (n h) c", {3, {2, 4, 60000}}, 4, NULL, NULL},                       /* interleaved */
    {"n h c -> (n c) h", {3, {2, 60000, 3}}, 60000, NULL, NULL},                   /* and back */
    {"a b c i j h -> (a b h i) (c j)", {6, {3, 16, 16, 4, 4, 9}}, 64, NULL, NULL}, /* picks */
    {"b h s d -> (b s h) d", {4, {2, 8, 300, 64}}, 64, NULL, NULL},                /* runs */
    {"a b -> a b", {2, {300000, 4}}, 4, NULL, NULL},                               /* one run */
    {"a b -> b (a r)", {2, {4096, 4}}, 8192, "r=2", NULL},                         /* copies */
    {"a (b c) (d e f) -> (a d c) (e f b)", {3, {3, 226, 448}}, 448, "c=32 e=7 f=8 pad=0", NULL}, /* short rows, close */
    {"m (k s) -> (m k s) 1", {2, {522, 480}}, 1, "s=32 alias=last", "16*m + k"}, /* one word for many elements */
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static const struct kind {
    const char *tensor, *memory, *as;
    bool per_axis;
} kinds[] = {
    {"f32", "i8", "i8 scale=0.05 zero=3", false},
    {"f32", "bf16", "bf16", false},
    {"i8", "f32", "f32 scale=0.05", false},
    {"f32", "f32", "f32 scale=0.37", false},
    {"f16", "e4m3", "e4m3", false},
    {"f64", "i16", "i16 scale=0.001", false},
    {"f32", "i4", "i4 scale=0.7", false},
    {"f32", "i8", "i8 scale=@rows axis=0", true},
    {"i8", "f16", "f16 scale=@rows axis=0", true},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void fill(td_tensor *tensor)
{
    if (td_tensor_elem_bytes(tensor) == 1)
        ASSERT_OK(td_tensor_fill_random(tensor, 3));
    else
        ASSERT_OK(td_tensor_fill_ramp(tensor, -7, 14 / (double)td_tensor_elems(tensor)));
}

static void dump_and_compare(const struct kind *k, const shaped *l, td_memory *memory, const td_layout *layout,
                             const double *scales)
{
    static td_convert convert;
    td_tensor *found = NULL, *stored = NULL, *expected = NULL;
    td_as as;
    td_dtype tensor;
    td_scale_axis axis = {scales, NULL, 1, k->per_axis ? l->shape.dim[0] : 0};
    ASSERT_OK(td_tensor_create(k->tensor, l->shape, &found));
    ASSERT_OK(td_tensor_create(k->tensor, l->shape, &expected));
    ASSERT_OK(td_tensor_create(k->memory, l->shape, &stored));
    ASSERT_OK(td_backdoor_dump_tensor(memory, found, layout, k->as));
    ASSERT_OK(td_backdoor_dump_tensor(memory, stored, layout, NULL));
    for (size_t d = 1; d < l->shape.rank; d++)
        axis.inner *= l->shape.dim[d];
    ASSERT_OK(td_dtype_parse(k->tensor, &tensor));
    ASSERT_OK(td_as_parse(k->as, tensor, &as));
    ASSERT_OK(td_convert_bind(&as, tensor, TD_TO_TENSOR, &axis, &convert));
    td_convert_run(&convert, td_tensor_data(expected), td_tensor_data(stored), (size_t)td_tensor_elems(stored), 0, 1);
    if (memcmp(td_tensor_data(found), td_tensor_data(expected),
               (size_t)td_tensor_elems(found) * td_tensor_elem_bytes(found)) != 0)
        fail_msg("a dump of %s as \"%s\" by \"%s\" is not the conversion of a plain dump", k->tensor, k->as,
                 l->pattern);
    td_tensor_destroy(&found);
    td_tensor_destroy(&stored);
    td_tensor_destroy(&expected);
}

static void check(const struct kind *k, const shaped *l)
{
    static double values[4096];
    static float rows[4096];
    td_tensor *tensor = NULL, *converted = NULL, *scales = NULL;
    td_memory *found = NULL, *expected = NULL;
    td_layout *layout = NULL;
    for (uint64_t i = 0; k->per_axis && i < l->shape.dim[0] && i < 4096; i++)
        values[i] = rows[i] = 0.01F * (float)(i + 1);
    if (k->per_axis && l->shape.dim[0] > 4096)
        return;
    if (k->per_axis) {
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(l->shape.dim[0]), &scales));
        memcpy(td_tensor_data(scales), rows, (size_t)l->shape.dim[0] * sizeof rows[0]);
        ASSERT_OK(td_scales_set("rows", scales));
    }
    ASSERT_OK(td_tensor_create(k->tensor, l->shape, &tensor));
    fill(tensor);
    ASSERT_OK(td_tensor_convert(tensor, k->as, &converted));
    ASSERT_OK(td_layout_create(l->pattern, l->options, l->address, &layout));
    const uint64_t copies = strstr(l->pattern, "a r") ? 2 : 1;
    const uint64_t width = l->lanes * td_tensor_elem_bits(converted),
                   depth = td_tensor_elems(tensor) * copies / l->lanes * 5 / 4; /* with room for padding */
    ASSERT_OK(td_memory_create("found", width, depth, &found));
    ASSERT_OK(td_memory_create("expected", width, depth, &expected));
    ASSERT_OK(td_backdoor_load_tensor(found, tensor, layout, k->as));
    ASSERT_OK(td_backdoor_load_tensor(expected, converted, layout, NULL));
    if (memcmp(td_memory_data(found), td_memory_data(expected), td_memory_word_bytes(found) * depth) != 0)
        fail_msg("a load of %s as \"%s\" by \"%s\" is not the load of the converted tensor", k->tensor, k->as,
                 l->pattern);
    dump_and_compare(k, l, expected, layout, values);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&converted);
    td_tensor_destroy(&scales);
    ASSERT_OK(td_scales_set("rows", NULL));
    td_memory_destroy(&found);
    td_memory_destroy(&expected);
    td_layout_destroy(&layout);
}

static void check_all(unsigned flags, unsigned threads)
{
    td_cpu_mask(flags);
    td_cache_clear();
    td_speed_threads(threads);
    for (size_t l = 0; l < LAYOUTS; l++)
        for (size_t k = 0; k < KINDS; k++)
            check(&kinds[k], &layouts[l]);
    td_speed_threads(0);
    td_cpu_mask(TD_CPU_ALL);
    td_cache_clear();
}

static void with_every_instruction(void **state)
{
    (void)state;
    check_all(TD_CPU_ALL, 1);
}

static void with_avx2(void **state)
{
    (void)state;
    check_all(TD_CPU_AVX2, 1);
}

static void with_plain_c(void **state)
{
    (void)state;
    check_all(TD_CPU_C, 1);
}

static void with_threads(void **state)
{
    (void)state;
    check_all(TD_CPU_ALL, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_every_instruction),
        cmocka_unit_test(with_avx2),
        cmocka_unit_test(with_plain_c),
        cmocka_unit_test(with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
