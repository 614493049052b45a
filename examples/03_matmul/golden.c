/* The golden model: the product of two .npy files, in C through the same library, and a clock for the figures. */
#include <stdint.h>
#include <stdio.h>
#include <tensordoor.h>
#include <time.h>

/* Verilator compiles this as C++. */
#ifdef __cplusplus
extern "C" {
#endif
int golden_matmul(const char *a_path, const char *b_path, const char *c_path);
double golden_seconds(void);
#ifdef __cplusplus
}
#endif

static void multiply(const int8_t *a, const int8_t *b, int32_t *c, const uint64_t m, const uint64_t k, const uint64_t n)
{
    for (uint64_t i = 0; i < m; i++)
        for (uint64_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (uint64_t x = 0; x < k; x++)
                sum += a[i * k + x] * b[x * n + j];
            c[i * n + j] = sum;
        }
}

int golden_matmul(const char *a_path, const char *b_path, const char *c_path)
{
    td_tensor *a = NULL, *b = NULL, *c = NULL;
    int bad = td_tensor_open(a_path, NULL, &a) || td_tensor_open(b_path, NULL, &b);
    if (!bad) {
        const td_shape rows = td_tensor_shape(a), columns = td_tensor_shape(b);
        td_shape shape = rows;
        shape.dim[1] = columns.dim[1];
        bad = td_tensor_create("i32", shape, &c) != TD_OK;
        if (!bad)
            multiply((const int8_t *)td_tensor_data_const(a), (const int8_t *)td_tensor_data_const(b),
                     (int32_t *)td_tensor_data(c), rows.dim[0], rows.dim[1], columns.dim[1]);
        bad = bad || td_tensor_save(c, c_path);
    }
    if (bad)
        fprintf(stderr, "golden_matmul: %s\n", td_last_error());
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&c);
    return bad;
}

double golden_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
