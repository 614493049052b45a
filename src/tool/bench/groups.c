/* The table of groups, in the order that they run and are listed in. */
#include "tool/bench/bench.h"

extern const bench_group bench_group_allocation, bench_group_words, bench_group_matrix, bench_group_tensor,
    bench_group_transposes, bench_group_tiles, bench_group_packing, bench_group_convert, bench_group_scaling,
    bench_group_batches, bench_group_placed, bench_group_dumps, bench_group_offsets, bench_group_parts,
    bench_group_compare, bench_group_files, bench_group_plan, bench_group_isa, bench_group_start, bench_group_presets,
    bench_group_threads, bench_group_profile, bench_group_dpi;

const bench_group *const bench_groups[] = {
    &bench_group_allocation, &bench_group_words,   &bench_group_matrix,  &bench_group_tensor,  &bench_group_transposes,
    &bench_group_tiles,      &bench_group_presets, &bench_group_packing, &bench_group_convert, &bench_group_scaling,
    &bench_group_batches,    &bench_group_placed,  &bench_group_dumps,   &bench_group_offsets, &bench_group_parts,
    &bench_group_compare,    &bench_group_files,   &bench_group_plan,    &bench_group_isa,     &bench_group_start,
    &bench_group_threads,    &bench_group_profile, &bench_group_dpi,
};
const size_t bench_group_count = sizeof bench_groups / sizeof bench_groups[0];
