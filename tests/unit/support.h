/* What the unit tests share: one macro for refusals, which asserts code and text, and a folder of its own for tests
 * that write files, so that messages hold plain names and nothing is left behind. */
#ifndef TD_TEST_SUPPORT_H
#define TD_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensordoor.h"

/* The end of the messages about an extension. */
#define TENSOR_FILES "use .npy, .npz, .safetensors or .raw (.gguf to read), or put the format in front, as npy:FILE"
#define IMAGE_FILES                                                                                                    \
    "use .hex, .mem, .vmem, .memb, .bin, .mif, .coe, .ihex or .srec (.elf to read), or put the format in front, as "   \
    "readmemh:FILE"

#define ASSERT_OK(call)                                                                                                \
    do {                                                                                                               \
        td_status got_ = (call);                                                                                       \
        if (got_ != TD_OK)                                                                                             \
            fail_msg("%s: %s: %s", #call, td_status_name(got_), td_last_error());                                      \
    } while (0)

#define ASSERT_REFUSED(call, status, text)                                                                             \
    do {                                                                                                               \
        td_status got_ = (call);                                                                                       \
        assert_string_equal(td_status_name(got_), td_status_name(status));                                             \
        assert_string_equal(td_last_error(), text);                                                                    \
    } while (0)

static char support_folder[] = "/tmp/tensordoor-test-XXXXXX";

static inline int enter_folder(void **state)
{
    (void)state;
    memcpy(support_folder + sizeof support_folder - 7, "XXXXXX", 6);
    return mkdtemp(support_folder) && chdir(support_folder) == 0 ? 0 : -1;
}

/* The files of the folder, which are all removed when `remove_them` is set. */
static inline size_t folder_files(int remove_them)
{
    size_t count = 0;
    DIR *dir = opendir(".");
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove_them)
            (void)remove(entry->d_name);
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

static inline int leave_folder(void **state)
{
    (void)state;
    folder_files(1);
    return chdir("/") == 0 && rmdir(support_folder) == 0 ? 0 : -1;
}

static inline void write_file(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* The whole file with a zero byte behind it; the caller frees it. */
static inline char *read_whole_file(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    assert_int_equal(fclose(file), 0);
    *bytes = (size_t)size;
    return text;
}

/* The file of tests/data/files of this name, copied to where the test stands. */
static inline void fetch_data(const char *name)
{
    char path[512];
    size_t bytes = 0;
    const char *root = getenv("TD_SOURCE_ROOT");
    assert_non_null(root);
    snprintf(path, sizeof path, "%s/tests/data/files/%s", root, name);
    char *data = read_whole_file(path, &bytes);
    write_file(name, data, bytes);
    free(data);
}

#endif
