/* Files that change after a tensor was opened from them: cut short, emptied, replaced, removed. A call on the tensor
 * gives its values or a status with a message, and never SIGBUS. Images, layout files and ELF files change while a call
 * reads them: the linker leads the library's reads here (--wrap). */
#include "../unit/support.h"
#include "tensordoor_bridge.h"

#include <stdbool.h>
#include <sys/stat.h>

#define ROWS 1024
#define COLUMNS 2048 /* 2 MiB: mapped. One row alone is copied. */

typedef struct world {
    td_tensor *tensor;
    td_memory *memory;
    td_layout *layout;
} world;

static td_tensor *make_tensor(uint64_t rows)
{
    td_tensor *tensor = NULL;
    ASSERT_OK(td_tensor_create("u8", (td_shape){2, {rows, COLUMNS}}, &tensor));
    ASSERT_OK(td_tensor_fill_random(tensor, 5));
    return tensor;
}

static void save(const char *path, uint64_t rows)
{
    td_tensor *tensor = make_tensor(rows);
    ASSERT_OK(td_tensor_save(tensor, path));
    td_tensor_destroy(&tensor);
}

static void open_world(const char *path, uint64_t rows, world *w)
{
    ASSERT_OK(td_tensor_open(path, NULL, &w->tensor));
    ASSERT_OK(td_memory_create("m", 8 * COLUMNS, rows, &w->memory));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &w->layout));
}

static void close_world(world *w)
{
    td_tensor_destroy(&w->tensor);
    td_memory_destroy(&w->memory);
    td_layout_destroy(&w->layout);
}

/* The calls that read a tensor as a whole. */
static td_status load(world *w)
{
    return td_backdoor_load_tensor(w->memory, w->tensor, w->layout, NULL);
}

static td_status load_matrix(world *w)
{
    return td_backdoor_load_matrix(w->memory, w->tensor, 0, td_memory_depth_words(w->memory));
}

static td_status load_converted(world *w)
{
    return td_backdoor_load_tensor(w->memory, w->tensor, w->layout, "i8");
}

static td_status compare(world *w)
{
    td_report *report = NULL;
    td_status status = td_backdoor_compare_tensor(w->memory, w->tensor, w->layout, NULL, NULL, &report);
    td_report_destroy(&report);
    return status;
}

static td_status compare_tensors(world *w)
{
    td_report *report = NULL;
    td_tensor *other = make_tensor(td_tensor_shape(w->tensor).dim[0]);
    td_status status = td_tensor_compare(other, w->tensor, NULL, &report);
    td_report_destroy(&report);
    td_tensor_destroy(&other);
    return status;
}

static td_status compare_masked(world *w)
{
    td_report *report = NULL;
    td_tensor *golden = make_tensor(td_tensor_shape(w->tensor).dim[0]);
    td_status status = td_compare(
        &(td_comparison){
            .banks = &w->memory, .bank_count = 1, .golden = golden, .layout = w->layout, .mask = w->tensor},
        &report);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    return status;
}

static td_status convert(world *w)
{
    td_tensor *made = NULL;
    td_status status = td_tensor_convert(w->tensor, "u16", &made);
    td_tensor_destroy(&made);
    return status;
}

static td_status text(world *w)
{
    char *shown = NULL;
    td_status status = td_tensor_text(w->tensor, &shown);
    td_free(shown);
    return status;
}

static td_status save_again(world *w)
{
    return td_tensor_save(w->tensor, "again.npy");
}

static const struct {
    td_status (*call)(world *w);
    const char *start;
} calls[] = {
    {load, "backdoor_load_tensor \"m\": "},
    {load_matrix, "backdoor_load_matrix \"m\": "},
    {load_converted, "backdoor_load_tensor \"m\": "},
    {compare, "backdoor_compare_tensor \"m\": "},
    {compare_tensors, "tensor_compare: "},
    {compare_masked, "backdoor_compare_tensor \"m\": "},
    {convert, "tensor_convert: "},
    {text, "tensor_text: "},
    {save_again, "tensor_save \"again.npy\": "},
};

/* To half, by a page, by a byte, to nothing: all but the last two would end the program. */
static void cut_short(const char *file, const char *name)
{
    struct stat info;
    save(name, ROWS);
    assert_int_equal(stat(file, &info), 0);
    const off_t sizes[] = {info.st_size / 2, info.st_size - 4096, info.st_size - 1, 0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        world w;
        save(name, ROWS);
        open_world(name, ROWS, &w);
        ASSERT_OK(load(&w));
        memset(td_memory_data(w.memory), 0x55, (size_t)ROWS * COLUMNS);
        assert_int_equal(truncate(file, sizes[s]), 0);
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
            char want[1024];
            snprintf(
                want, sizeof want,
                "%sthe file %s/%s had %lld bytes when it was opened and has %lld now; open it again, and replace files "
                "by renaming new ones",
                calls[c].start, support_folder, file, (long long)info.st_size, (long long)sizes[s]);
            assert_int_equal(calls[c].call(&w), TD_FILE);
            assert_memory_equal(td_last_error(), want, strlen(want)); /* the tensor's name may follow */
        }
        const unsigned char *words = td_memory_data(w.memory);
        for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
            assert_int_equal(words[i], 0x55); /* a refused call changes nothing */
        assert_int_not_equal(access("again.npy", F_OK), 0);
        close_world(&w);
    }
}

static void large_files_cut_short(void **state)
{
    (void)state;
    cut_short("a.npy", "a.npy");

#if defined(TD_HAVE_ZLIB)
    cut_short("a.npz", "a.npz:w");
#endif
#if defined(TD_HAVE_JANSSON)
    cut_short("a.safetensors", "a.safetensors:w");
#endif
}

/* The memory of a design: its transfer may use the tensor's own words. */
static void large_files_cut_short_in_a_transfer(void **state)
{
    (void)state;
    world w;
    int partial = 0, borrowed = 0;
    save("a.npy", ROWS);
    open_world("a.npy", ROWS, &w);
    assert_int_equal(truncate("a.npy", 4096), 0);
    (void)td_transfer_tensor(w.memory, w.tensor, w.layout, NULL, TD_TRANSFER_LOAD, &partial, &borrowed);
    assert_int_equal(td_transfer_load(w.memory, w.tensor, w.layout, NULL), TD_FILE);
    assert_non_null(strstr(td_last_error(), "a.npy had 2097280 bytes when it was opened and has 4096 now"));
    close_world(&w);
}

static void assert_good(world *w, uint64_t rows)
{
    td_tensor *tensor = make_tensor(rows);
    ASSERT_OK(load(w));
    assert_memory_equal(td_memory_data(w->memory), td_tensor_data(tensor), rows * COLUMNS);
    td_tensor_destroy(&tensor);
}

static void small_files_are_kept(void **state)
{
    (void)state;
    world w;
    save("a.npy", 1);
    open_world("a.npy", 1, &w);
    assert_null(td_tensor_data(w.tensor)); /* read-only all the same */
    assert_int_equal(truncate("a.npy", 0), 0);
    assert_good(&w, 1);
    close_world(&w);
#if defined(TD_HAVE_JANSSON)
    /* a small tensor of a large file */
    td_tensor *small = make_tensor(1), *large = make_tensor(ROWS);
    const char *const names[] = {"large", "small"};
    const td_tensor *const tensors[] = {large, small};
    ASSERT_OK(td_tensor_save_all(names, tensors, 2, "two.safetensors"));
    open_world("two.safetensors:small", 1, &w);
    assert_null(td_tensor_data(w.tensor));
    assert_int_equal(truncate("two.safetensors", 0), 0);
    assert_good(&w, 1);
    close_world(&w);
    td_tensor_destroy(&small);
    td_tensor_destroy(&large);
#endif
}

/* What our own saves do, and every careful program: the old file stays as long as it is mapped. */
static void replaced_removed_and_grown(void **state)
{
    (void)state;
    world w;
    save("a.npy", ROWS);
    open_world("a.npy", ROWS, &w);
    save("b.npy", 1);
    assert_int_equal(rename("b.npy", "a.npy"), 0);
    assert_good(&w, ROWS);
    close_world(&w);

    save("a.npy", ROWS);
    open_world("a.npy", ROWS, &w);
    assert_int_equal(unlink("a.npy"), 0);
    assert_good(&w, ROWS);
    close_world(&w);

    save("a.npy", ROWS);
    open_world("a.npy", ROWS, &w);
    assert_int_equal(truncate("a.npy", 3000000), 0);
    assert_good(&w, ROWS);
    close_world(&w);
}

/* -- in the middle of a read -- */

static const char *cut_file; /* NULL: reads are left alone */
static off_t cut_to;

ssize_t __real_read(int fd, void *bytes, size_t count);
ssize_t __wrap_read(int fd, void *bytes, size_t count);

/* The first read gives half of what was asked for, then the file is cut. */
ssize_t __wrap_read(int fd, void *bytes, size_t count)
{
    const char *file = cut_file;
    const ssize_t got = __real_read(fd, bytes, file ? count / 2 : count);
    cut_file = NULL;
    if (file)
        assert_int_equal(truncate(file, cut_to), 0);
    return got;
}

#define IMAGE_BYTES ((size_t)3 << 20)

static void write_bytes(const char *path, size_t bytes)
{
    unsigned char *text = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        text[i] = i % 3 == 2 ? '\n' : 'a'; /* readmemh: a word of 8 bits per line */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    free(text);
}

static void images_cut_while_they_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"a.hex", "raw:a.hex"};
    static const off_t sizes[] = {0, 4096, IMAGE_BYTES / 2, IMAGE_BYTES - 1};
    td_memory *memory = NULL;
    ASSERT_OK(td_memory_create("m", 8, IMAGE_BYTES, &memory));
    unsigned char *data = td_memory_data(memory);
    for (size_t n = 0; n < 2; n++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char want[512];
            td_span *spans = NULL;
            size_t count = 0;
            for (int call = 0; call < 2; call++) {
                write_bytes("a.hex", IMAGE_BYTES);
                memset(data, 0x55, IMAGE_BYTES);
                cut_file = "a.hex";
                cut_to = sizes[s];
                const td_status status =
                    call ? td_image_spans(names[n], 8, &spans, &count) : td_memory_load_file(memory, names[n]);
                snprintf(want, sizeof want,
                         "%s \"%s\": the file had %zu bytes when it was opened and has %lld now; wait until it is "
                         "written, and replace files by renaming new ones",
                         call ? "image_spans" : "memory_load_file", names[n], IMAGE_BYTES, (long long)sizes[s]);
                assert_string_equal(td_last_error(), want);
                assert_int_equal(status, TD_FILE);
                for (size_t i = 0; i < IMAGE_BYTES; i++)
                    assert_int_equal(data[i], 0x55);
            }
        }
    write_bytes("a.hex", IMAGE_BYTES);
    ASSERT_OK(td_memory_load_file(memory, "a.hex"));
    assert_int_equal(data[IMAGE_BYTES / 3 - 1], 0xaa);
    assert_int_equal(data[IMAGE_BYTES / 3], 0x55);
    td_memory_destroy(&memory);
}

static void layout_files_cut_while_they_are_read(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    write_bytes("a.layouts", IMAGE_BYTES);
    cut_file = "a.layouts";
    cut_to = 100;
    ASSERT_REFUSED(
        td_layout_open("a.layouts", "w", &layout), TD_FILE,
        "layout_open \"a.layouts\": the file had 3145728 bytes when it was opened and has 100 now; wait until "
        "it is written, and replace files by renaming new ones");
#if defined(TD_HAVE_ELF)
    write_bytes("fw.elf", IMAGE_BYTES);
    cut_file = "fw.elf";
    ASSERT_REFUSED(td_layout_create("r c -> r c", "elf=fw.elf", "@sym(x)", &layout), TD_FILE,
                   "layout_create: option elf=fw.elf: the file had 3145728 bytes when it was opened and has 100 now; "
                   "wait until it is written, and replace files by renaming new ones");
#endif
}

/* The name was relative, and the program goes elsewhere. */
static void after_a_change_of_folder(void **state)
{
    (void)state;
    world w;
    save("a.npy", ROWS);
    open_world("a.npy", ROWS, &w);
    assert_int_equal(truncate("a.npy", 4096), 0);
    assert_int_equal(chdir("/"), 0);
    const td_status status = load(&w);
    assert_int_equal(chdir(support_folder), 0);
    assert_int_equal(status, TD_FILE);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(large_files_cut_short, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(large_files_cut_short_in_a_transfer, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(small_files_are_kept, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(replaced_removed_and_grown, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(after_a_change_of_folder, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(images_cut_while_they_are_read, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(layout_files_cut_while_they_are_read, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
