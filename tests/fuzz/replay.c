/* Runs a fuzz target over the files of a committed corpus, for machines without libFuzzer: every file must pass. The
 * corpus also holds what the fuzzers once found. Speaks TAP. */
#include "fuzz.h"

#include <dirent.h>

static int replay(const char *folder, const char *name, int number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    REQUIRE(fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    REQUIRE(size >= 0);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    REQUIRE(data);
    REQUIRE(fread(data, 1, (size_t)size, file) == (size_t)size);
    REQUIRE(fclose(file) == 0);
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    printf("ok %d - %s\n", number, name);
    return number;
}

int main(int argc, char **argv)
{
    int count = 0;
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.')
            count = replay(argv[1], entry->d_name, count + 1);
    REQUIRE(closedir(dir) == 0);
    printf("1..%d\n", count);
    return count ? 0 : 2;
}
