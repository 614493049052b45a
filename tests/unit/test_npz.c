/* .npz files: what numpy writes, stored and deflated, 64-bit archives, what a hostile hand could write, every prefix,
 * and the text of every refusal. Archives by hand come from archive.h. */
#include "archive.h"
#include "support.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>

static void save(const archive *a)
{
    write_file("a.npz", a->bytes, a->used);
}

/* -- tests -- */

static void numpys_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *dtype;
        const char *text; /* shape and elements */
    } cases[] = {
        {"numpy_stored.npz:w", "f32", "3 4: -5 -4 -3 -2 -1 0 1 2 3 4 5 6"},
        {"numpy_stored.npz:w.npy", "f32", "3 4: -5 -4 -3 -2 -1 0 1 2 3 4 5 6"},
        {"numpy_stored.npz:flags", "u1", "3: 1 0 1"},
        {"numpy_stored.npz:big", "i16", "5: -2 -1 0 1 2"},
        {"numpy_stored.npz:f", "i64", "2 3: 0 1 2 3 4 5"},
#ifdef TD_HAVE_ZLIB
        {"numpy_deflated.npz:w", "f32", "3 4: -5 -4 -3 -2 -1 0 1 2 3 4 5 6"},
#endif
    };
    fetch_data("numpy_stored.npz");
    fetch_data("numpy_deflated.npz");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open(cases[i].path, NULL, &t));
        assert_string_equal(td_tensor_dtype(t), cases[i].dtype);
        td_shape shape = td_tensor_shape(t);
        char *at = (char *)(uintptr_t)cases[i].text;
        for (size_t d = 0; d < shape.rank; d++)
            assert_int_equal(strtoul(at, &at, 10), shape.dim[d]);
        assert_int_equal(*at++, ':');
        for (uint64_t e = 0; e < td_tensor_elems(t); e++) {
            uint64_t bits = 0;
            ASSERT_OK(td_tensor_get_bits(t, e, &bits));
            long want = strtol(at, &at, 10);
            if (cases[i].dtype[0] == 'f') {
                float value = (float)want;
                uint32_t word = 0;
                memcpy(&word, &value, 4);
                assert_int_equal(bits, word);
            } else {
                unsigned width = td_tensor_elem_bits(t);
                assert_int_equal(bits, (uint64_t)want & (width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1));
            }
        }
        td_tensor_destroy(&t);
    }
    char **names = NULL;
    size_t count = 0;
    ASSERT_OK(td_tensor_members("numpy_stored.npz", &names, &count));
    static const char *const want[] = {"w", "flags", "big", "f"};
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(names[i], want[i]);
    td_free(names);
#ifdef TD_HAVE_ZLIB
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_open("numpy_deflated.npz:zeros", NULL, &t));
    assert_int_equal(td_tensor_elems(t), 4096);
    td_tensor_destroy(&t);
#endif
}

static void members_are_mapped(void **state)
{
    (void)state;
    archive a;
    td_tensor *t = NULL;
    build(&a, &(member){.name = "x.npy"}, 1, false);
    save(&a);
    ASSERT_OK(td_tensor_open("a.npz", NULL, &t));
    assert_null(td_tensor_data(t));
    assert_memory_equal(td_tensor_data_const(t), "\x01\x02\x03\x04\x05", 5);
    td_tensor_destroy(&t);
    /* 64-bit fields everywhere, and a comment behind the end */
    places p = build(&a, &(member){.name = "x.npy", .large = true}, 1, true);
    a.bytes[p.end + 20] = 9;
    add_text(&a, "PK\x05\x06 note");
    save(&a);
    ASSERT_OK(td_tensor_open("npz,dtype=i8:a.npz:x", NULL, &t));
    assert_string_equal(td_tensor_dtype(t), "i8");
    assert_memory_equal(td_tensor_data_const(t), "\x01\x02\x03\x04\x05", 5);
    td_tensor_destroy(&t);
}

#define DAMAGED(what) "the zip archive is damaged: " what "; write the file again"

static void hostile_members(void **state)
{
    (void)state;
    static const struct {
        member m;
        td_status status;
        const char *message;
    } cases[] = {
        {{.name = "x.npy", .flags = 1}, TD_FORMAT, "the member is encrypted; save it without a password"},
        {{.name = "x.npy", .method = 14},
         TD_FORMAT,
         "the member is compressed with method 14; stored (0) and deflated (8) are known"},
        {{.name = "x.npy", .offset = 100}, TD_FORMAT, DAMAGED("a member is not where its directory says")},
        {{.name = "x.npy", .offset = 0xfffffffe}, TD_FORMAT, DAMAGED("a member is not where its directory says")},
        {{.name = "x.npy", .offset = UINT64_MAX, .large = true},
         TD_FORMAT,
         DAMAGED("a member is not where its directory says")},
        {{.name = "x.npy", .stored_bytes = 134, .bytes = 134},
         TD_FORMAT,
         DAMAGED("a member passes the place of its directory")},
        {{.name = "x.npy", .stored_bytes = UINT64_MAX, .bytes = UINT64_MAX, .large = true},
         TD_FORMAT,
         DAMAGED("a member passes the place of its directory")},
        {{.name = "x.npy", .bytes = 132}, TD_FORMAT, DAMAGED("a stored member has two sizes")},
        {{.name = "x.npy", .bytes = 132, .stored_bytes = 132},
         TD_FORMAT,
         "shape (5) of '|u1' needs 5 bytes of data, the file has 4; it is cut short"},
        {{.name = "x.txt"}, TD_FORMAT, "the file holds no tensors; save at least one"},
        {{.name = ".npy"}, TD_FORMAT, "the file holds no tensors; save at least one"},
#ifdef TD_HAVE_ZLIB
        {{.name = "x.npy", .method = 8}, TD_FORMAT, DAMAGED("a deflated member is not what its directory says")},
        {{.name = "x.npy", .method = 8, .bytes = (uint64_t)1 << 60, .large = true},
         TD_FORMAT,
         "the member claims 1152921504606846976 bytes from 133, which deflate cannot do; the file is damaged, or made "
         "to "
         "do harm"},
#else
        {{.name = "x.npy", .method = 8},
         TD_FILE,
         "the member is deflated and this build was made without zlib; install zlib1g-dev and build again, or save it "
         "with numpy.savez, which does not deflate"},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        archive a;
        char message[256];
        td_tensor *t = NULL;
        build(&a, &cases[i].m, 1, false);
        save(&a);
        snprintf(message, sizeof message, "tensor_open \"a.npz\": %s", cases[i].message);
        ASSERT_REFUSED(td_tensor_open("a.npz", NULL, &t), cases[i].status, message);
        assert_null(t);
    }
}

static void set64(archive *a, size_t at, uint64_t value)
{
    size_t used = a->used;
    a->used = at;
    add(a, value, 8);
    a->used = used;
}

static void hostile_directories(void **state)
{
    (void)state;
    static const struct {
        int place; /* 0: directory, 1: 64-bit end, 2: locator, 3: end */
        size_t at;
        uint64_t value;
        const char *message;
    } cases[] = {
        {0, 0, 0, DAMAGED("an entry of its directory is none")},
        {0, 28, 0xffff, DAMAGED("an entry of its directory passes its end")},
        {0, 30, 8, DAMAGED("an entry of its directory has no 64-bit sizes")},
        {1, 0, 0, DAMAGED("its 64-bit end record is not where it says")},
        {2, 8, UINT64_MAX, DAMAGED("its 64-bit end record is not where it says")},
        {2, 8, 4, DAMAGED("its 64-bit end record is not where it says")},
        {1, 32, UINT64_MAX, DAMAGED("its directory is too short for the members it counts")},
        {1, 32, 3, DAMAGED("its directory is too short for the members it counts")},
        {1, 40, UINT64_MAX, DAMAGED("its directory is not inside the file")},
        {1, 48, UINT64_MAX, DAMAGED("its directory is not inside the file")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        archive a;
        char message[256];
        td_tensor *t = NULL;
        places p = build(&a, &(member){.name = "x.npy", .large = true}, 1, true);
        const size_t where[] = {p.directory, p.end64, p.locator, p.end};
        if (cases[i].place == 0) { /* a field of two or four bytes */
            a.bytes[where[0] + cases[i].at] = (unsigned char)cases[i].value;
            a.bytes[where[0] + cases[i].at + 1] = (unsigned char)(cases[i].value >> 8);
        } else {
            set64(&a, where[cases[i].place] + cases[i].at, cases[i].value);
        }
        save(&a);
        snprintf(message, sizeof message, "tensor_open \"a.npz\": %s", cases[i].message);
        ASSERT_REFUSED(td_tensor_open("a.npz", NULL, &t), TD_FORMAT, message);
    }
    archive a;
    td_tensor *t = NULL;
    const member twice[2] = {{.name = "x.npy"}, {.name = "x.npy"}};
    build(&a, twice, 2, false);
    save(&a);
    ASSERT_REFUSED(td_tensor_open("a.npz:x", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.npz:x\": the name \"x\" stands 2 times in the file; write it again");
    write_file("a.npz", "not a zip archive, but text of some length", 42);
    ASSERT_REFUSED(td_tensor_open("a.npz", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.npz\": not a zip archive: it does not begin with PK; save it with numpy.savez");
    write_file("a.npz", "PK\x03\x04", 4);
    ASSERT_REFUSED(td_tensor_open("a.npz", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.npz\": the zip archive of 4 bytes has no end record; it is cut short");
}

static void names_that_are_not_there(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    fetch_data("numpy_stored.npz");
    ASSERT_REFUSED(
        td_tensor_open("numpy_stored.npz", NULL, &t), TD_ARGUMENT,
        "tensor_open \"numpy_stored.npz\": the file holds 4 tensors (w, flags, big, f); name one, as FILE:w");
    ASSERT_REFUSED(td_tensor_open("numpy_stored.npz:flag", NULL, &t), TD_ARGUMENT,
                   "tensor_open \"numpy_stored.npz:flag\": the file holds no tensor \"flag\"; did you mean \"flags\"?");
    ASSERT_REFUSED(
        td_tensor_open("numpy_stored.npz:kernel", NULL, &t), TD_ARGUMENT,
        "tensor_open \"numpy_stored.npz:kernel\": the file holds no tensor \"kernel\"; it holds w, flags, big, f");
}

#ifdef TD_HAVE_ZLIB
static void every_prefix_is_refused(void **state)
{
    (void)state;
    static const char *const files[] = {"numpy_stored.npz", "numpy_deflated.npz"};
    for (size_t f = 0; f < 2; f++) {
        size_t bytes = 0;
        fetch_data(files[f]);
        char *whole = read_whole_file(files[f], &bytes);
        for (size_t cut = 0; cut < bytes; cut++) {
            td_tensor *t = NULL;
            write_file("cut.npz", whole, cut);
            assert_int_equal(td_tensor_open("cut.npz:w", NULL, &t), TD_FORMAT);
            assert_null(t);
        }
        free(whole);
    }
}

/* Every byte of a deflated member changed, one at a time: the sum finds what the codes do not. */
static void damage_is_found(void **state)
{
    (void)state;
    size_t bytes = 0;
    fetch_data("numpy_deflated.npz");
    char *whole = read_whole_file("numpy_deflated.npz", &bytes);
    bool by_sum = false;
    for (size_t at = 60; at < 150; at++) {
        td_tensor *t = NULL;
        whole[at] ^= 0x10;
        write_file("bad.npz", whole, bytes);
        assert_int_equal(td_tensor_open("bad.npz:w", NULL, &t), TD_FORMAT);
        by_sum |= !strcmp(td_last_error(), "tensor_open \"bad.npz:w\": " DAMAGED("the sum of a member is another"));
        whole[at] ^= 0x10;
    }
    assert_true(by_sum);
    free(whole);
}

static void saving(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "layer.0/weight", "b:c"};
    td_tensor *t[3] = {NULL, NULL, NULL};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(3, 5), &t[0]));
    ASSERT_OK(td_tensor_create("i4", TD_SHAPE(7), &t[1]));
    ASSERT_OK(td_tensor_create("u64", (td_shape){0}, &t[2]));
    folder_files(1);
    for (size_t i = 0; i < 3; i++)
        ASSERT_OK(td_tensor_fill_random(t[i], i));
    ASSERT_OK(td_tensor_save_all(names, (const td_tensor *const *)t, 3, "all.npz"));
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        td_tensor *back = NULL;
        snprintf(path, sizeof path, "all.npz:%s", names[i]);
        ASSERT_OK(td_tensor_open(path, td_tensor_dtype(t[i]), &back));
        assert_memory_equal(td_tensor_data_const(back), td_tensor_data_const(t[i]),
                            td_tensor_elems(t[i]) * td_tensor_elem_bytes(t[i]));
        assert_int_equal((uintptr_t)td_tensor_data_const(back) % 64, 0);
        td_tensor_destroy(&back);
    }
    ASSERT_REFUSED(
        td_tensor_save(t[0], "all.npz:a"), TD_ARGUMENT,
        "tensor_save \"all.npz:a\": the file is there with 3 tensors, which saving \"a\" would drop; save all "
        "of them at once with td_tensor_save_all, or use another file");
    ASSERT_OK(td_tensor_save(t[0], "one.npz"));
    ASSERT_OK(td_tensor_save(t[0], "one.npz:arr_0"));
    ASSERT_REFUSED(
        td_tensor_save(t[0], "one.npz:w"), TD_ARGUMENT,
        "tensor_save \"one.npz:w\": the file is there with 1 tensor, which saving \"w\" would drop; save all "
        "of them at once with td_tensor_save_all, or use another file");
    char **found = NULL;
    size_t count = 0;
    ASSERT_OK(td_tensor_members("one.npz", &found, &count));
    assert_int_equal(count, 1);
    assert_string_equal(found[0], "arr_0");
    td_free(found);
    for (size_t i = 0; i < 3; i++)
        td_tensor_destroy(&t[i]);
}
/* More members than 16 bits count: the 64-bit end record, and the name of each. */
static void many_members(void **state)
{
    (void)state;
    const size_t count = 65536;
    char(*text)[8] = malloc(count * sizeof *text);
    const char **names = malloc(count * sizeof *names);
    const td_tensor **tensors = malloc(count * sizeof(void *));
    td_tensor *t = NULL;
    td_tensor *back = NULL;
    assert_true(text && names && tensors);
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(1), &t));
    ASSERT_OK(td_tensor_set_bits(t, 0, 7));
    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], "t%zu", i);
        names[i] = text[i];
        tensors[i] = t;
    }
    ASSERT_OK(td_tensor_save_all(names, tensors, count, "many.npz"));
    size_t bytes = 0;
    char *file = read_whole_file("many.npz", &bytes);
    assert_memory_equal(file + bytes - 22 - 20, "PK\x06\x07", 4);
    free(file);
    ASSERT_OK(td_tensor_open("many.npz:t65535", NULL, &back));
    assert_memory_equal(td_tensor_data_const(back), "\x07", 1);
    td_tensor_destroy(&back);
    char **found = NULL;
    size_t found_count = 0;
    ASSERT_OK(td_tensor_members("many.npz", &found, &found_count));
    assert_int_equal(found_count, count);
    td_free(found);
    td_tensor_destroy(&t);
    free(text);
    free(names);
    free(tensors);
}
#else
static void saving(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(3, 5), &t));
    folder_files(1);
    ASSERT_REFUSED(
        td_tensor_save(t, "one.npz"), TD_FILE,
        "tensor_save \"one.npz\": this build writes no .npz, it was made without zlib; install zlib1g-dev and "
        "build again, or save as .npy");
    assert_int_equal(folder_files(0), 0);
    td_tensor_destroy(&t);
}
#endif

/* A member of 5 GiB in a file that is one hole: opening it costs no memory to speak of. */
static void a_large_member_costs_nothing(void **state)
{
    (void)state;
    const uint64_t data_bytes = (uint64_t)5 << 30;
    unsigned char head[30 + 5 + 128] = "PK\x03\x04";
    td_tensor *t = NULL;
    struct rusage before;
    struct rusage after;
    head[26] = 5;
    memcpy(head + 30, "x.npy", 5);
    npy(head + 35, "5368709120", 0);
    archive a = {.used = 0};
    uint64_t directory = sizeof head + data_bytes;
    add(&a, 0x02014b50, 4);
    add(&a, 0, 16);
    add(&a, UINT32_MAX, 4);
    add(&a, UINT32_MAX, 4);
    add(&a, 5, 2);
    add(&a, 20, 2);
    add(&a, 0, 14);
    add_text(&a, "x.npy");
    add(&a, 1, 2);
    add(&a, 16, 2);
    add(&a, data_bytes + 128, 8);
    add(&a, data_bytes + 128, 8);
    size_t directory_bytes = a.used;
    add(&a, 0x06064b50, 4);
    add(&a, 44, 8);
    add(&a, 0, 12);
    add(&a, 1, 8);
    add(&a, 1, 8);
    add(&a, directory_bytes, 8);
    add(&a, directory, 8);
    add(&a, 0x07064b50, 4);
    add(&a, 0, 4);
    add(&a, directory + directory_bytes, 8);
    add(&a, 1, 4);
    add(&a, 0x06054b50, 4);
    add(&a, 0, 4);
    add(&a, UINT64_MAX, 8);
    add(&a, UINT32_MAX, 4);
    add(&a, 0, 2);
    int fd = open("large.npz", O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
    assert_int_equal(pwrite(fd, a.bytes, a.used, (off_t)directory), a.used);
    assert_int_equal(close(fd), 0);

    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    ASSERT_OK(td_tensor_open("large.npz", NULL, &t));
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_int_equal(td_tensor_elems(t), data_bytes);
    uint64_t bits = 9;
    ASSERT_OK(td_tensor_get_bits(t, data_bytes - 1, &bits));
    assert_int_equal(bits, 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 8192); /* in KiB */
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpys_files_are_read),
        cmocka_unit_test(members_are_mapped),
        cmocka_unit_test(hostile_members),
        cmocka_unit_test(hostile_directories),
        cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(saving),
        cmocka_unit_test(a_large_member_costs_nothing),
#ifdef TD_HAVE_ZLIB
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(many_members),
#endif
    };
    return cmocka_run_group_tests_name("npz", tests, enter_folder, leave_folder);
}
