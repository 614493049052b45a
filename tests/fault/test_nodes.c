/* Files that are no plain files: links, pipes, devices, sockets, folders, and files without permission. Saving leaves
 * every one of them what it was, and reading refuses what is no file; nothing hangs, and no signal ends the program. */
#include "../unit/support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define TENSOR_BYTES (128 + 6)

static td_tensor *make_tensor(double first)
{
    td_tensor *tensor = NULL;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(2, 3), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, first, 1));
    return tensor;
}

static td_status save(const char *path, double first)
{
    td_tensor *tensor = make_tensor(first);
    td_status status = td_tensor_save(tensor, path);
    td_tensor_destroy(&tensor);
    return status;
}

static td_status open_only(const char *path)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_open(path, NULL, &tensor);
    td_tensor_destroy(&tensor);
    return status;
}

static void assert_holds(const char *path, double first)
{
    td_tensor *tensor = NULL;
    double value = -1;
    ASSERT_OK(td_tensor_open(path, NULL, &tensor));
    ASSERT_OK(td_tensor_get_real(tensor, 0, &value));
    assert_true(value == first);
    td_tensor_destroy(&tensor);
}

static mode_t kind_of(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 ? info.st_mode & S_IFMT : 0;
}

/* Everything in the folder and below it, for tests that make folders. */
static int leave_all(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", support_folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* -- links -- */

static void links_stay_links(void **state)
{
    (void)state;
    struct stat before, after;
    assert_int_equal(mkdir("far", 0700), 0);
    ASSERT_OK(save("far/target.npy", 1));
    assert_int_equal(chmod("far/target.npy", 0640), 0);
    assert_int_equal(stat("far/target.npy", &before), 0);
    assert_int_equal(symlink("target.npy", "far/second.npy"), 0); /* relative to its own folder */
    assert_int_equal(symlink("far/second.npy", "first.npy"), 0);

    ASSERT_OK(save("first.npy", 2));
    assert_int_equal(kind_of("first.npy"), S_IFLNK);
    assert_int_equal(kind_of("far/second.npy"), S_IFLNK);
    assert_int_equal(kind_of("far/target.npy"), S_IFREG);
    assert_holds("far/target.npy", 2);
    assert_int_equal(stat("far/target.npy", &after), 0);
    assert_int_equal(after.st_mode & 0777, 0640);
    assert_true(after.st_ino != before.st_ino); /* replaced in one step, not written over */
    assert_int_equal(folder_files(0), 2);       /* no temporary file is left */
}

static void links_to_nothing_make_their_file(void **state)
{
    (void)state;
    assert_int_equal(symlink("new.npy", "link.npy"), 0);
    ASSERT_OK(save("link.npy", 3));
    assert_int_equal(kind_of("link.npy"), S_IFLNK);
    assert_int_equal(kind_of("new.npy"), S_IFREG);
    assert_holds("new.npy", 3);
    assert_int_equal(symlink("nowhere/new.npy", "lost.npy"), 0);
    ASSERT_REFUSED(save("lost.npy", 3), TD_FILE,
                   "tensor_save \"lost.npy\": cannot create the file: No such file or directory; check the folder and "
                   "its permissions");
    assert_int_equal(kind_of("lost.npy"), S_IFLNK);
    ASSERT_REFUSED(open_only("lost.npy"), TD_FILE,
                   "tensor_open \"lost.npy\": cannot open the file: No such file or directory; check the path and its "
                   "permissions");
}

static void links_in_a_circle(void **state)
{
    (void)state;
    assert_int_equal(symlink("b.npy", "a.npy"), 0);
    assert_int_equal(symlink("a.npy", "b.npy"), 0);
    ASSERT_REFUSED(save("a.npy", 1), TD_FILE,
                   "tensor_save \"a.npy\": more than 40 symbolic links lead to each other; name the file");
    ASSERT_REFUSED(open_only("a.npy"), TD_FILE,
                   "tensor_open \"a.npy\": cannot open the file: Too many levels of symbolic links; check the path and "
                   "its permissions");
    assert_int_equal(kind_of("a.npy"), S_IFLNK);
    assert_int_equal(kind_of("b.npy"), S_IFLNK);
}

/* A file that is open and has no name any more: the links of /proc lead to it, and to no path. */
static void a_file_without_a_name(void **state)
{
    (void)state;
    char path[64];
    struct stat info;
    const int fd = open("gone.npy", O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(unlink("gone.npy"), 0);
    snprintf(path, sizeof path, "npy:/proc/self/fd/%d", fd);
    ASSERT_OK(save(path, 4));
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, TENSOR_BYTES);
    assert_int_equal(folder_files(0), 0);
    (void)close(fd);
}

/* -- pipes -- */

typedef struct reader {
    const char *path;
    size_t upto; /* bytes; it closes the pipe then */
    size_t bytes;
} reader;

static void *read_pipe(void *context)
{
    reader *r = context;
    unsigned char part[4096];
    const int fd = open(r->path, O_RDONLY);
    ssize_t got = 1;
    while (fd >= 0 && got > 0 && r->bytes < r->upto) {
        got = read(fd, part, sizeof part);
        r->bytes += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    return NULL;
}

static void pipes_are_written(void **state)
{
    (void)state;
    pthread_t thread;
    reader r = {"pipe.npy", SIZE_MAX, 0};
    assert_int_equal(mkfifo("pipe.npy", 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &r), 0);
    ASSERT_OK(save("pipe.npy", 1));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r.bytes, TENSOR_BYTES);
    assert_int_equal(kind_of("pipe.npy"), S_IFIFO);

    /* through a link, an image */
    td_memory *memory = NULL;
    const td_span span = {0, 0, 10};
    r = (reader){"pipe.npy", SIZE_MAX, 0};
    ASSERT_OK(td_memory_create("m", 16, 10, &memory));
    assert_int_equal(symlink("pipe.npy", "link"), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &r), 0);
    ASSERT_OK(td_memory_save_file(memory, "raw:link", &span, 1));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r.bytes, 20);
    assert_int_equal(kind_of("link"), S_IFLNK);
    assert_int_equal(kind_of("pipe.npy"), S_IFIFO);
    td_memory_destroy(&memory);
    ASSERT_REFUSED(open_only("pipe.npy"), TD_FILE,
                   "tensor_open \"pipe.npy\": not a regular file but a pipe or device; pass a file");
}

/* A reader that goes away: no SIGPIPE, which would end a simulation, but a status. */
static void pipes_whose_reader_leaves(void **state)
{
    (void)state;
    pthread_t thread;
    td_tensor *tensor = NULL;
    reader r = {"pipe.npy", 1, 0};
    assert_int_equal(mkfifo("pipe.npy", 0600), 0);
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(1 << 22), &tensor));
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &r), 0);
    ASSERT_REFUSED(td_tensor_save(tensor, "pipe.npy"), TD_FILE,
                   "tensor_save \"pipe.npy\": cannot write the file: Broken pipe; a part of it may have been written");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(kind_of("pipe.npy"), S_IFIFO);
    sigset_t pending;
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    td_tensor_destroy(&tensor);
}

/* -- devices, sockets, folders -- */

static void devices_stay_devices(void **state)
{
    (void)state;
    struct stat info;
    int fd = -1;
    if (mknod("null.npy", S_IFCHR | 0600, makedev(1, 3)) != 0 || (fd = open("null.npy", O_WRONLY)) < 0) {
        printf("# no devices here: they take root, and a file system that allows them\n"); /* skip() is a failure */
        return;
    }
    (void)close(fd);
    ASSERT_OK(save("null.npy", 1));
    assert_int_equal(lstat("null.npy", &info), 0);
    assert_true(S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
    assert_int_equal(symlink("null.npy", "link.npy"), 0);
    ASSERT_OK(save("link.npy", 1));
    assert_int_equal(kind_of("link.npy"), S_IFLNK);
    assert_int_equal(kind_of("null.npy"), S_IFCHR);
    ASSERT_REFUSED(open_only("null.npy"), TD_FILE,
                   "tensor_open \"null.npy\": not a regular file but a pipe or device; pass a file");

    assert_int_equal(mknod("full.npy", S_IFCHR | 0600, makedev(1, 7)), 0);
    ASSERT_REFUSED(
        save("full.npy", 1), TD_FILE,
        "tensor_save \"full.npy\": cannot write the file: No space left on device; a part of it may have been "
        "written");
    assert_int_equal(kind_of("full.npy"), S_IFCHR);
    assert_int_equal(folder_files(0), 3);
}

static void sockets_and_folders_are_refused(void **state)
{
    (void)state;
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket.npy"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    ASSERT_REFUSED(save("socket.npy", 1), TD_FILE,
                   "tensor_save \"socket.npy\": a socket cannot be written as a file; pass a file, a pipe or a device");
    ASSERT_REFUSED(
        open_only("socket.npy"), TD_FILE,
        "tensor_open \"socket.npy\": cannot open the file: No such device or address; check the path and its "
        "permissions");
    assert_int_equal(kind_of("socket.npy"), S_IFSOCK);
    (void)close(fd);

    assert_int_equal(mkdir("folder.npy", 0700), 0);
    ASSERT_REFUSED(save("folder.npy", 1), TD_FILE,
                   "tensor_save \"folder.npy\": cannot put the file in place: Is a directory; choose another name");
    ASSERT_REFUSED(open_only("folder.npy"), TD_FILE,
                   "tensor_open \"folder.npy\": not a regular file but a directory; pass a file");
    assert_int_equal(kind_of("folder.npy"), S_IFDIR);
    assert_int_equal(folder_files(0), 2);
}

/* Root may do everything, so the calls are made as nobody. */
static void without_permission(void **state)
{
    (void)state;
    ASSERT_OK(save("secret.npy", 1));
    assert_int_equal(chmod("secret.npy", 0), 0);
    assert_int_equal(chmod(".", 0555), 0);
    const bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    const td_status read = open_only("secret.npy");
    char read_text[256], write_text[256];
    snprintf(read_text, sizeof read_text, "%s", td_last_error());
    const td_status written = save("secret.npy", 2);
    snprintf(write_text, sizeof write_text, "%s", td_last_error());
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(".", 0700), 0);
    assert_int_equal(chmod("secret.npy", 0600), 0);
    assert_int_equal(read, TD_FILE);
    assert_string_equal(read_text,
                        "tensor_open \"secret.npy\": cannot open the file: Permission denied; check the path "
                        "and its permissions");
    assert_int_equal(written, TD_FILE);
    assert_string_equal(write_text, "tensor_save \"secret.npy\": cannot create the file: Permission denied; check the "
                                    "folder and its permissions");
    assert_holds("secret.npy", 1);
}

/* -- every call that reads or writes a file -- */

typedef struct file_call {
    const char *prefix;
    td_status (*run)(const char *name);
} file_call;

static td_status run_open(const char *name)
{
    return open_only(name);
}

static td_status run_load(const char *name)
{
    td_memory *memory = NULL;
    ASSERT_OK(td_memory_create("m", 8, 64, &memory));
    td_status status = td_memory_load_file(memory, name);
    td_memory_destroy(&memory);
    return status;
}

static td_status run_depth(const char *name)
{
    uint64_t depth = 0;
    return td_image_depth(name, 8, &depth);
}

static td_status run_layout(const char *name)
{
    td_layout *layout = NULL;
    return td_layout_open(name, "x", &layout);
}

static td_status run_layout_names(const char *name)
{
    char *names = NULL;
    return td_layout_names(name, &names);
}

#ifdef TD_HAVE_ELF
static td_status run_symbol(const char *name)
{
    td_layout *layout = NULL;
    char option[64];
    snprintf(option, sizeof option, "elf=%s", name);
    return td_layout_create("... -> (...)", option, "@sym(x)", &layout);
}
#endif

static const file_call readers[] = {
    {"npy:", run_open},         {"raw,dtype=u8:", run_open},
    {"readmemh:", run_load},    {"readmemb:", run_load},
    {"ihex:", run_load},        {"srec:", run_load},
    {"raw:", run_load},         {"readmemh:", run_depth},
    {"ihex:", run_depth},       {"", run_layout},
    {"", run_layout_names},
#ifdef TD_HAVE_ZLIB
    {"npz:", run_open},
#endif
#ifdef TD_HAVE_JANSSON
    {"safetensors:", run_open},
#endif
#ifdef TD_HAVE_ELF
    {"elf:", run_load},         {"", run_symbol},
#endif
};

static void no_reader_takes_or_waits_for(const char *node, const char *kind)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        char name[64], needed[96];
        snprintf(name, sizeof name, "%s%s", readers[i].prefix, node);
        snprintf(needed, sizeof needed, "not a regular file but a %s; pass a file", kind);
        const td_status status = readers[i].run(name);
        if (status != TD_FILE || !strstr(td_last_error(), needed))
            fail_msg("reader %zu, %s: %s, \"%s\"", i, name, td_status_name(status), td_last_error());
    }
}

static void every_reader_refuses_what_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0); /* nobody ever writes to it */
    no_reader_takes_or_waits_for("pipe", "pipe or device");
    assert_int_equal(symlink("pipe", "link"), 0);
    no_reader_takes_or_waits_for("link", "pipe or device");
    assert_int_equal(mkdir("folder", 0700), 0);
    no_reader_takes_or_waits_for("folder", "directory");
    if (kind_of("/dev/zero") == S_IFCHR)
        no_reader_takes_or_waits_for("/dev/zero", "pipe or device"); /* which never ends */
    assert_int_equal(folder_files(0), 3);
}

static td_status run_save(const char *name)
{
    return save(name, 1);
}

static td_status run_save_image(const char *name)
{
    td_memory *memory = NULL;
    const td_span all = {0, 0, 64};
    ASSERT_OK(td_memory_create("m", 8, 64, &memory));
    td_status status = td_memory_save_file(memory, name, &all, 1);
    td_memory_destroy(&memory);
    return status;
}

static td_status run_page(const char *name)
{
    td_tensor *tensor = make_tensor(1);
    td_report *report = NULL;
    ASSERT_OK(td_tensor_compare(tensor, tensor, NULL, &report));
    td_status status = td_report_html(report, name);
    td_report_destroy(&report);
    td_tensor_destroy(&tensor);
    return status;
}

static const file_call writers[] = {
    {"npy:", run_save},         {"raw:", run_save},        {"readmemh:", run_save_image}, {"readmemb:", run_save_image},
    {"ihex:", run_save_image},  {"srec:", run_save_image}, {"raw:", run_save_image},      {"", run_page},
#ifdef TD_HAVE_ZLIB
    {"npz:", run_save},
#endif
#ifdef TD_HAVE_JANSSON
    {"safetensors:", run_save},
#endif
};

static void every_writer_leaves_a_node_what_it_is(void **state)
{
    (void)state;
    struct sockaddr_un socket_name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&socket_name, sizeof socket_name), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(symlink("/dev/null", "null"), 0); /* every host has it */
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        static const struct {
            const char *node;
            td_status status;
            mode_t kind;
        } nodes[] = {{"link", TD_OK, S_IFLNK},
                     {"null", TD_OK, S_IFLNK},
                     {"socket", TD_FILE, S_IFSOCK},
                     {"folder", TD_FILE, S_IFDIR}};
        for (size_t n = 0; n < sizeof nodes / sizeof nodes[0]; n++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", writers[i].prefix, nodes[n].node);
            const td_status status = writers[i].run(name);
            if (status != nodes[n].status || kind_of(nodes[n].node) != nodes[n].kind)
                fail_msg("writer %zu, %s: %s, \"%s\"", i, name, td_status_name(status), status ? td_last_error() : "");
        }
        assert_int_equal(kind_of("target"), S_IFREG);
        assert_int_equal(kind_of("/dev/null"), S_IFCHR);
        assert_int_equal(unlink("target"), 0);
    }
    assert_int_equal(folder_files(0), 4);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_stay_links, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(links_to_nothing_make_their_file, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(links_in_a_circle, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(a_file_without_a_name, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(pipes_are_written, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(pipes_whose_reader_leaves, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(devices_stay_devices, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(sockets_and_folders_are_refused, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(without_permission, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(every_reader_refuses_what_is_no_file, enter_folder, leave_all),
        cmocka_unit_test_setup_teardown(every_writer_leaves_a_node_what_it_is, enter_folder, leave_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
