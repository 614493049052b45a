/* The library loaded, used and closed again and again, as simulators do with the libraries of a test: no crash
 * afterwards, no more threads than after the first time and, under the address sanitizer, nothing left on the heap.
 * The library's path is the first argument. */
#include "tensordoor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t threads(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        count += entry->d_name[0] != '.';
    if (dir)
        (void)closedir(dir);
    return count;
}

#define GET(name)                                                                                                      \
    __typeof__(&name) call_##name;                                                                                     \
    *(void **)&call_##name = dlsym(library, #name);                                                                    \
    if (!call_##name)                                                                                                  \
        return false;

static bool use(void *library)
{
    GET(td_tensor_create)
    GET(td_tensor_destroy)
    GET(td_tensor_fill_ramp)
    GET(td_memory_create)
    GET(td_memory_destroy)
    GET(td_layout_create)
    GET(td_layout_destroy)
    GET(td_backdoor_load_tensor)
    GET(td_backdoor_load_matrix)
    GET(td_speed_threads)
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    call_td_speed_threads(4);
    const bool good = !call_td_tensor_create("f32", TD_SHAPE(512, 512), &tensor) &&
                      !call_td_tensor_fill_ramp(tensor, 0, 1) && !call_td_memory_create("m", 16384, 512, &memory) &&
                      !call_td_layout_create("r c -> c r", NULL, NULL, &layout) &&
                      !call_td_backdoor_load_tensor(memory, tensor, layout, NULL) &&
                      !call_td_backdoor_load_matrix(memory, tensor, 0, 512);
    call_td_layout_destroy(&layout);
    call_td_memory_destroy(&memory);
    call_td_tensor_destroy(&tensor);
    return good;
}

int main(int argc, char **argv)
{
    setenv("TD_PARALLEL_BYTES", "1", 1);
    printf("1..2\n");
    size_t first = 0, last = 0;
    bool good = argc > 1;
    for (int round = 0; good && round < 20; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        good = library && use(library);
        if (!good)
            fprintf(stderr, "round %d: %s\n", round, library ? "a call failed" : dlerror());
        good = good && dlclose(library) == 0;
        last = threads();
        first = first ? first : last;
    }
    usleep(20000); /* threads whose code is gone would end the program now */
    printf("%sok 1 - loaded, used and closed twenty times\n", good ? "" : "not ");
    const bool kept = last <= first;
    printf("%sok 2 - no more threads than after the first time%s", kept ? "" : "not ", "\n");
    if (!kept)
        printf("# %zu threads after the first time, %zu after the last\n", first, last);
    return good && kept ? 0 : 1;
}
