/* See caches.h. Reads what Linux says of the first CPU; where it says nothing, sizes that most machines have. */
#include "base/caches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_caches found = {.first_bytes = 32 << 10, .second_bytes = 1 << 20, .last_bytes = 16 << 20};

/* One line of a file below /sys; false where there is none. */
static int read_line(unsigned index, const char *name, char *text, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    const int read = fgets(text, (int)size, file) != NULL;
    fclose(file);
    return read;
}

/* "2048K", "32M" */
static uint64_t size_of(const char *text)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    const unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return number < (1ull << 30) ? (uint64_t)number << shift : 0;
}

static void find(void)
{
    char level[16], type[32], size[32];
    td_caches sizes = {0};
    for (unsigned i = 0; i < 8 && read_line(i, "level", level, sizeof level); i++) {
        if (!read_line(i, "type", type, sizeof type) || !read_line(i, "size", size, sizeof size) ||
            strncmp(type, "Instruction", 11) == 0)
            continue;
        const uint64_t bytes = size_of(size);
        if (level[0] == '1')
            sizes.first_bytes = bytes;
        else if (level[0] == '2')
            sizes.second_bytes = bytes;
        sizes.last_bytes = bytes > sizes.last_bytes ? bytes : sizes.last_bytes;
    }
    if (sizes.first_bytes && sizes.second_bytes)
        found = sizes;
}

td_caches td_caches_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find);
    return found;
}
