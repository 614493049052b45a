/* The C side of bench_dpi.sv: a clock, and the smallest load made in C alone, to be held against the same through
 * DPI. */
#include "tensordoor.h"

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
double bench_seconds(void);
double bench_smallest_load_ns(int calls);

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_smallest_load_ns(int calls)
{
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    td_shape shape;
    shape.rank = 1;
    shape.dim[0] = 1;
    int failed = td_tensor_create("i8", shape, &tensor) || td_memory_create("m", 8, 16, &memory) ||
                 td_layout_create("a -> 1 a", "", "", &layout);
    double start = bench_seconds();
    for (int i = 0; i < calls && !failed; i++)
        failed = td_backdoor_load_tensor(memory, tensor, layout, "");
    double ns = (bench_seconds() - start) * 1e9 / calls;
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    return failed ? -1.0 : ns;
}
#ifdef __cplusplus
}
#endif
