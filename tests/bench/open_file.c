/* Opening and loading a tensor of 1 GiB from a .safetensors file against `cat FILE > /dev/null` of the same file in the
 * page cache, in turns in one run, as a ratio of medians. A new memory also costs the system's zeroing of its pages, so
 * memcpy of the mapped file into new pages stands beside it. The folder that is its argument needs 1 GiB of room.
 *
 *     open_file FOLDER
 */
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, ROWS = 16384, LANES = 16 };

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(td_status status)
{
    if (status != TD_OK) {
        fprintf(stderr, "%s\n", td_last_error());
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds)
{
    qsort(seconds, ROUNDS, sizeof *seconds, by_value);
    return seconds[ROUNDS / 2];
}

static double copy_to_new_pages(const td_tensor *tensor)
{
    size_t bytes = (size_t)(td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    double begin = now();
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        exit(1);
    (void)madvise(pages, bytes, MADV_HUGEPAGE);
    memcpy(pages, td_tensor_data_const(tensor), bytes);
    double seconds = now() - begin;
    (void)munmap(pages, bytes);
    return seconds;
}

int main(int argc, char **argv)
{
    char path[4096];
    char cat[4200];
    double cat_s[ROUNDS];
    double open_s[ROUNDS];
    double fresh_s[ROUNDS];
    double again_s[ROUNDS];
    double copy_s[ROUNDS];
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    snprintf(path, sizeof path, "%s/bench.safetensors", argv[1]);
    snprintf(cat, sizeof cat, "cat '%s' > /dev/null", path);
    check(td_tensor_create("f32", TD_SHAPE(ROWS, ROWS), &tensor));
    check(td_tensor_fill_ramp(tensor, 0, 1));
    check(td_tensor_save(tensor, path));
    td_tensor_destroy(&tensor);
    check(td_layout_create("r (ct cs) -> (r ct) cs", "cs=16", NULL, &layout));
    for (size_t i = 0; i < ROUNDS; i++) {
        td_memory *memory = NULL;
        double t0 = now();
        if (system(cat) != 0)
            return 1;
        double t1 = now();
        check(td_tensor_open(path, NULL, &tensor));
        double t2 = now();
        check(td_memory_create("m", 32 * LANES, (uint64_t)ROWS * ROWS / LANES, &memory));
        check(td_backdoor_load_tensor(memory, tensor, layout, NULL));
        double t3 = now();
        td_tensor_destroy(&tensor);
        double t4 = now();
        check(td_tensor_open(path, NULL, &tensor));
        check(td_backdoor_load_tensor(memory, tensor, layout, NULL));
        double t5 = now();
        td_tensor_destroy(&tensor);
        td_memory_destroy(&memory);
        check(td_tensor_open(path, NULL, &tensor));
        copy_s[i] = copy_to_new_pages(tensor);
        td_tensor_destroy(&tensor);
        cat_s[i] = t1 - t0;
        open_s[i] = t2 - t1;
        fresh_s[i] = t3 - t1;
        again_s[i] = t5 - t4;
    }
    td_layout_destroy(&layout);
    (void)unlink(path);
    double base = median(cat_s);
    printf("1 GiB of f32 in .safetensors, in the page cache, medians of %d\n", ROUNDS);
    printf("cat > /dev/null                    %8.1f ms\n", 1e3 * base);
    printf("open                               %8.3f ms\n", 1e3 * median(open_s));
    printf("open and load, a new memory        %8.1f ms  %.2f x cat\n", 1e3 * median(fresh_s), median(fresh_s) / base);
    printf("open and load, a memory in use     %8.1f ms  %.2f x cat\n", 1e3 * median(again_s), median(again_s) / base);
    printf("memcpy of the mapping to new pages %8.1f ms  %.2f x cat\n", 1e3 * median(copy_s), median(copy_s) / base);
    return 0;
}
