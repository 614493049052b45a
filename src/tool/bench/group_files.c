/* Files, beside write and read of the same bytes. */
#include "base/clock.h"
#include "tool/bench/simple.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const bench_simple_case cases[] = {
    {"save_npy_64KiB", "save_npy", "save npy", 65536, 0},    {"save_npy_1MiB", "save_npy", "save npy", 1048576, 0},
    {"save_npy_16MiB", "save_npy", "save npy", 16777216, 0}, {"open_npy_64KiB", "open_npy", "open npy", 65536, 0},
    {"open_npy_1MiB", "open_npy", "open npy", 1048576, 0},   {"open_npy_16MiB", "open_npy", "open npy", 16777216, 0},
    {"save_hex_64KiB", "save_hex", "save hex", 65536, 0},    {"save_hex_1MiB", "save_hex", "save hex", 1048576, 0},
    {"load_hex_64KiB", "load_hex", "load hex", 65536, 0},    {"load_hex_1MiB", "load_hex", "load hex", 1048576, 0},
};

#define FOLDER "/tmp/td-bench-files-XXXXXX"
static char folder[] = FOLDER;
static char path[64], plain[64];

static double run_save_npy(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_tensor_save(s->tensor, path));
}

/* Opening maps the file; one element of every page is looked at, so that it is read too. */
static bool open_and_look(void)
{
    td_tensor *tensor = NULL;
    unsigned sum = 0;
    if (td_tensor_open(path, NULL, &tensor))
        return true;
    const unsigned char *data = td_tensor_data_const(tensor);
    for (uint64_t i = 0; i < td_tensor_elems(tensor); i += 4096)
        sum += data[i];
    __asm__ volatile("" ::"r"(sum));
    td_tensor_destroy(&tensor);
    return false;
}

static double run_open_npy(void *state, uint64_t repetitions)
{
    (void)state;
    BENCH_REPEAT(repetitions, open_and_look());
}

static td_status save_hex(const bench_simple *s)
{
    const td_span whole = {0, 0, s->of->size / 8};
    return td_memory_save_file(s->memory, path, &whole, 1);
}

static double run_save_hex(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, save_hex(state));
}

static double run_load_hex(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_memory_load_file(s->memory, path));
}

static bool write_plain(const bench_simple *s)
{
    const int file = open(plain, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool bad = file < 0 || write(file, s->src, s->bytes) != (ssize_t)s->bytes;
    return (file >= 0 && close(file)) || bad;
}

static double run_write(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, write_plain(state));
}

static bool read_plain(bench_simple *s)
{
    const int file = open(plain, O_RDONLY | O_CLOEXEC);
    const bool bad = file < 0 || read(file, s->dst, s->bytes) != (ssize_t)s->bytes;
    if (file >= 0)
        close(file);
    return bad;
}

static double run_read(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, read_plain(state));
}

static void remove_files(void *state, bench_figure *figure)
{
    (void)state;
    (void)figure;
    (void)unlink(path);
    (void)unlink(plain);
    (void)rmdir(folder);
    memcpy(folder, FOLDER, sizeof folder);
}

/* What was saved is what is opened or loaded again. */
static bool check_file(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    td_tensor *back = NULL;
    bool good = false;
    if (strstr(s->of->text, "npy")) {
        good = !td_tensor_save(s->tensor, path) && !td_tensor_open(path, NULL, &back) &&
               memcmp(td_tensor_data_const(back), td_tensor_data(s->tensor), s->of->size) == 0;
        td_tensor_destroy(&back);
    } else if (!save_hex(s)) {
        memcpy(s->dst, td_memory_data(s->memory), s->of->size);
        memset(td_memory_data(s->memory), 0, s->of->size);
        good = !td_memory_load_file(s->memory, path) && memcmp(s->dst, td_memory_data(s->memory), s->of->size) == 0;
    }
    if (!good)
        snprintf(why, size, "wrong result, so no time: the file does not come back as it was saved");
    return good;
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    const bool npy = strstr(s->of->text, "npy") != NULL, save = strncmp(s->of->text, "save", 4) == 0;
    if (!mkdtemp(folder)) {
        snprintf(why, size, "cannot make a folder in /tmp");
        return BENCH_SKIPPED;
    }
    snprintf(path, sizeof path, "%s/t.%s", folder, npy ? "npy" : "hex");
    snprintf(plain, sizeof plain, "%s/plain", folder);
    if (td_tensor_create("u8", TD_SHAPE(s->of->size), &s->tensor) || td_tensor_fill_random(s->tensor, 1) ||
        td_memory_create("m", 64, s->of->size / 8, &s->memory) ||
        td_memory_fill(s->memory, "random seed=1", 0, s->of->size / 8) || !bench_simple_buffers(s, s->of->size) ||
        write_plain(s) || (npy ? td_tensor_save(s->tensor, path) : save_hex(s))) {
        remove_files(s, NULL);
        return BENCH_BROKEN;
    }
    out->elems = out->bytes = (double)s->of->size;
    out->check = check_file;
    out->finish = remove_files;
    bench_add_runner(out, "tensordoor",
                     npy    ? (save ? run_save_npy : run_open_npy)
                     : save ? run_save_hex
                            : run_load_hex,
                     s);
    bench_add_runner(out, save ? "write" : "read", save ? run_write : run_read, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_case};
BENCH_SIMPLE_GROUP(bench_group_files, "files", "tensors and images to files and back, beside write and read", table);
