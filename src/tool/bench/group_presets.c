/* Presets, layouts of chips and libraries by their names: loads of tensors that fill their blocks, beside a copy of the
 * bytes. */
#include "base/clock.h"
#include "tool/bench/simple.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *pattern, *dtype, *dims;
    uint64_t lanes;
} presets[] = {
    {"preset:row_major cs=16", "i8", "1024 1024", 16},
    {"preset:nvdla_feature a=32", "i8", "1 64 56 56", 32},
    {"preset:vta_weight o0=16 i0=16", "i8", "256 256 3 3", 256},
    {"preset:nhcwb16", "i8", "1 56 56 64", 16},
    {"preset:nc1hwc0 c0=16", "f16", "1 64 56 56", 16},
    {"preset:fractal_nz", "f16", "1024 1024", 16},
    {"preset:nchw16c", "f32", "1 64 56 56", 16},
    {"preset:oihw4i16o4i", "i8", "256 256 3 3", 64},
    {"preset:vnni", "i8", "1024 1024", 4},
    {"preset:amx_b", "i8", "1024 1024", 64},
    {"preset:tpu", "bf16", "1024 1024", 256},
    {"preset:tenstorrent", "bf16", "1024 1024", 16},
    {"preset:hexagon", "f16", "1 56 56 64", 64},
    {"preset:xor_swizzle b=3 m=0 s=3 cs=16", "i8", "1024 1024", 16},
    {"preset:morton", "u32", "512 512", 1},
    {"preset:rnn_gates", "f32", "1024 256", 4},
};

static const bench_simple_case cases[] = {
    {"row_major_i8_1024x1024", NULL, "", 0, 0},    {"nvdla_feature_i8_64x56x56", NULL, "", 1, 0},
    {"vta_weight_i8_256x256x3x3", NULL, "", 2, 0}, {"nhcwb16_i8_56x56x64", NULL, "", 3, 0},
    {"nc1hwc0_f16_64x56x56", NULL, "", 4, 0},      {"fractal_nz_f16_1024x1024", NULL, "", 5, 0},
    {"nchw16c_f32_64x56x56", NULL, "", 6, 0},      {"oihw4i16o4i_i8_256x256x3x3", NULL, "", 7, 0},
    {"vnni_i8_1024x1024", NULL, "", 8, 0},         {"amx_b_i8_1024x1024", NULL, "", 9, 0},
    {"tpu_bf16_1024x1024", NULL, "", 10, 0},       {"tenstorrent_bf16_1024x1024", NULL, "", 11, 0},
    {"hexagon_f16_56x56x64", NULL, "", 12, 0},     {"xor_swizzle_i8_1024x1024", NULL, "", 13, 0},
    {"morton_u32_512x512", NULL, "", 14, 0},       {"rnn_gates_f32_1024x256", NULL, "", 15, 0},
};
_Static_assert(sizeof cases / sizeof cases[0] == sizeof presets / sizeof presets[0], "a case for every preset");

static double run_load(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL));
}

/* The type of a table of cases. NOLINTNEXTLINE(readability-non-const-parameter) */
static bench_opened open_preset(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    const uint64_t number = s->of->size;
    const uint64_t lanes = presets[number].lanes;
    td_shape shape;
    (void)why;
    (void)size;
    if (td_shape_parse(presets[number].dims, &shape) || td_tensor_create(presets[number].dtype, shape, &s->tensor) ||
        td_tensor_create(presets[number].dtype, shape, &s->other) || td_tensor_fill_random(s->tensor, 9) ||
        td_layout_create(presets[number].pattern, "", "", &s->layout) ||
        td_memory_create("m", lanes * td_tensor_elem_bits(s->tensor), td_tensor_elems(s->tensor) / lanes, &s->memory))
        return BENCH_BROKEN;
    out->elems = (double)td_tensor_elems(s->tensor);
    out->bytes = out->elems * (double)td_tensor_elem_bytes(s->tensor);
    if (!bench_simple_buffers(s, (size_t)out->bytes))
        return BENCH_BROKEN;
    out->check = bench_simple_check_load;
    bench_add_runner(out, "tensordoor", run_load, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_preset};
BENCH_SIMPLE_GROUP(bench_group_presets, "presets", "layouts of chips and libraries by name", table);
