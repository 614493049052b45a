/* Thresholds: their table, the file that keeps them, and what is said of a file that is ignored. The first call of a
 * process reads the file once, so every such case is a child of its own. */
#include "support.h"

#include "base/thresholds.h"
#include "kernels/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

static size_t print_file(char text[TD_THRESHOLD_FILE_BYTES + 1])
{
    uint64_t values[TD_THRESHOLDS];
    td_thresholds_standard(values);
    values[TD_THRESHOLD_SLAB_BYTES] = 8192;
    const size_t bytes = td_thresholds_print(values, text);
    text[bytes] = 0;
    return bytes;
}

/* A file with one word exchanged, and a sum that is right again unless `text` keeps its own. */
static size_t change(char text[TD_THRESHOLD_FILE_BYTES + 1], const char *word, const char *with)
{
    char rest[TD_THRESHOLD_FILE_BYTES + 1];
    print_file(text);
    char *at = strstr(text, word), *sum = strstr(text, "sum ");
    assert_non_null(at);
    assert_non_null(sum);
    *sum = 0;
    snprintf(rest, sizeof rest, "%s", at + strlen(word));
    snprintf(at, (size_t)(text + TD_THRESHOLD_FILE_BYTES - at), "%s%s", with, rest);
    uint64_t hash = 0xcbf29ce484222325u;
    const size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return bytes + (size_t)sprintf(text + bytes, "sum %016llx\n", (unsigned long long)hash);
}

static void refuses(const char *word, const char *with, const char *said)
{
    char text[TD_THRESHOLD_FILE_BYTES + 1], problem[TD_THRESHOLD_NOTE_BYTES];
    uint64_t values[TD_THRESHOLDS] = {77};
    const size_t bytes = change(text, word, with);
    assert_false(td_thresholds_parse(text, bytes, values, problem));
    if (strncmp(problem, said, strlen(said)) != 0)
        fail_msg("\"%s\" instead of \"%s\"", problem, said);
    assert_int_equal(values[0], 77);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    assert_int_equal(td_tune_count(), TD_THRESHOLDS);
    for (size_t i = 0; i < td_tune_count(); i++) {
        const td_threshold_info t = td_tune_threshold(i);
        assert_true(t.least <= t.standard && t.standard <= t.most && t.most < TD_THRESHOLD_UNREAD);
        assert_true(*t.name && *t.meaning && t.value == t.standard);
    }
    assert_string_equal(td_tune_threshold(td_tune_count()).name, "");
}

static void a_file_comes_back(void **state)
{
    (void)state;
    char text[TD_THRESHOLD_FILE_BYTES + 1], problem[TD_THRESHOLD_NOTE_BYTES];
    uint64_t values[TD_THRESHOLDS];
    const size_t bytes = print_file(text);
    assert_true(bytes < TD_THRESHOLD_FILE_BYTES / 2);
    assert_true(td_thresholds_parse(text, bytes, values, problem));
    assert_int_equal(values[TD_THRESHOLD_SLAB_BYTES], 8192);
    assert_int_equal(values[TD_THRESHOLD_THREAD_BYTES], 262144);
}

static void every_prefix_and_every_flipped_bit_is_damaged(void **state)
{
    (void)state;
    char text[TD_THRESHOLD_FILE_BYTES + 1], problem[TD_THRESHOLD_NOTE_BYTES];
    uint64_t values[TD_THRESHOLDS];
    const size_t bytes = print_file(text);
    for (size_t i = 0; i < bytes; i++) {
        char *exact = malloc(i ? i : 1); /* so that a sanitizer sees one byte too many */
        memcpy(exact, text, i);
        assert_false(td_thresholds_parse(exact, i, values, problem));
        assert_memory_equal(problem, "it is damaged: ", 15);
        free(exact);
    }
    for (size_t i = 0; i < 8 * bytes; i++) {
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        assert_false(td_thresholds_parse(text, bytes, values, problem));
        assert_memory_equal(problem, "it is damaged: ", 15);
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
    }
}

static void what_a_file_may_say(void **state)
{
    (void)state;
    refuses("thresholds 1", "thresholds 2", "it is of version 2, and this is ");
    refuses("version ", "version 9", "it is of version 9");
    refuses("processor ", "processor Other", "it is of another processor, Other");
    refuses("processor ", "processor \033\n", "it is of another processor, ?, and this is ");
    refuses("processor ", "prozessor ", "it is damaged: its third line names no processor");
    refuses("tensordoor thresholds", "tensordoor threshold", "it is no file of thresholds");
    refuses("thread_bytes 262144", "thread_bytes 4095",
            "it is damaged: thread_bytes is 4095, and 4096 to 1073741824 are its bounds");
    refuses("slab_bytes 8192", "slab_bytes 32769",
            "it is damaged: slab_bytes is 32769, and 2048 to 32768 are its bounds");
    refuses("slab_bytes 8192", "slab_bytes 18446744073709551616",
            "it is damaged: its line 13 is not slab_bytes and a number");
    refuses("slab_bytes 8192", "slab_bytes -1", "it is damaged: its line 13 is not slab_bytes and a number");
    refuses("slab_bytes 8192", "slab_bytes ", "it is damaged: its line 13 is not slab_bytes and a number");
    refuses("slab_bytes 8192", "slab_bytes 8192 ", "it is damaged: its line 13 is not slab_bytes and a number");
    refuses("slab_bytes 8192\n", "", "it is damaged: its line 13 is not slab_bytes and a number");
    refuses("slab_contiguous_bytes 131072\n", "slab_contiguous_bytes 131072\nmore 1\n",
            "it is damaged: there is more behind its line 14");
}

/* -- the first call of a process ----------------------------------------------------------------------------------- */

/* In a child: what td_tune_note says and how large slabs are, with this environment. */
static void says(const char *name, const char *value, const char *note, uint64_t slab)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char *text = NULL;
        unsetenv("TD_TUNE");
        unsetenv("XDG_CACHE_HOME");
        unsetenv("HOME");
        if (name)
            setenv(name, value, 1);
        const uint64_t found = td_threshold(TD_THRESHOLD_SLAB_BYTES);
        const bool good = td_tune_note(&text) == TD_OK && strncmp(text, note, strlen(note)) == 0 && found == slab;
        if (!good)
            fprintf(stderr, "# \"%s\", slab_bytes %llu\n", text, (unsigned long long)found);
        _exit(!good);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define ADVICE "; run `tensordoor tune` to measure this machine"

static void the_first_call_reads_the_users_file(void **state)
{
    (void)state;
    char text[TD_THRESHOLD_FILE_BYTES + 1], folder[256], note[600];
    assert_non_null(getcwd(folder, sizeof folder));
    const size_t bytes = print_file(text);
    says(NULL, NULL, "the defaults" ADVICE, 16384);
    says("HOME", folder, "the defaults" ADVICE, 16384);
    assert_int_equal(mkdir("tensordoor", 0700) | mkdir(".cache", 0700) | mkdir(".cache/tensordoor", 0700), 0);
    write_file("tensordoor/tune", text, bytes);
    write_file(".cache/tensordoor/tune", text, bytes);
    snprintf(note, sizeof note, "from %s/tensordoor/tune", folder);
    says("XDG_CACHE_HOME", folder, note, 8192);
    says("XDG_CACHE_HOME", ".", "the defaults" ADVICE, 16384); /* not from the root: as if it were not set */
    snprintf(note, sizeof note, "from %s/.cache/tensordoor/tune", folder);
    says("HOME", folder, note, 8192);
    says("TD_TUNE", "tensordoor/tune", "from tensordoor/tune", 8192);
    says("TD_TUNE", "off", "the defaults, as TD_TUNE is off", 16384);
    assert_int_equal(remove("tensordoor/tune") | remove("tensordoor"), 0);
    assert_int_equal(remove(".cache/tensordoor/tune") | remove(".cache/tensordoor") | remove(".cache"), 0);
}

static void what_is_wrong_is_said_once(void **state)
{
    (void)state;
    char text[2 * TD_THRESHOLD_FILE_BYTES] = "";
    size_t bytes = print_file(text);
    write_file("short", text, bytes - 1);
    says("TD_TUNE", "short", "the defaults; short is ignored: it is damaged: its sum is wrong" ADVICE, 16384);
    write_file("empty", text, 0);
    says("TD_TUNE", "empty", "the defaults; empty is ignored: it is damaged: it has 0 bytes" ADVICE, 16384);
    memset(text, '\n', sizeof text);
    write_file("huge", text, TD_THRESHOLD_FILE_BYTES + 1);
    says("TD_TUNE", "huge", "the defaults; huge is ignored: it is damaged: it has more than 4096 bytes" ADVICE, 16384);
    assert_int_equal(truncate("huge", (off_t)1 << 40), 0);
    says("TD_TUNE", "huge", "the defaults; huge is ignored: it is damaged: it has more than 4096 bytes" ADVICE, 16384);
    bytes = change(text, "version ", "version 9");
    write_file("version", text, bytes);
    says("TD_TUNE", "version", "the defaults; version is ignored: it is of version 9", 16384);
    bytes = change(text, "flags ", "flags 9");
    write_file("processor", text, bytes);
    says("TD_TUNE", "processor", "the defaults; processor is ignored: it is of another processor, ", 16384);
    says("TD_TUNE", "none", "the defaults" ADVICE, 16384);
}

static void only_plain_files_are_read(void **state)
{
    (void)state;
    char text[TD_THRESHOLD_FILE_BYTES + 1];
    write_file("plain", text, print_file(text));
    assert_int_equal(mkfifo("pipe", 0600) | mkdir("folder", 0700) | symlink("plain", "link") | symlink("a", "a"), 0);
    says("TD_TUNE", "pipe", "the defaults; pipe is ignored: it is no plain file" ADVICE, 16384); /* and nothing hangs */
    says("TD_TUNE", "folder", "the defaults; folder is ignored: it is no plain file" ADVICE, 16384);
    says("TD_TUNE", "/dev/zero", "the defaults; /dev/zero is ignored: it is no plain file" ADVICE, 16384);
    says("TD_TUNE", "link", "from link", 8192);
    says("TD_TUNE", "a", "the defaults; a is ignored: it cannot be read: Too many levels of symbolic links" ADVICE,
         16384);
    assert_int_equal(remove("folder"), 0);
}

/* Many threads ask for the first time together, a child asks again, and errno stays. */
static void *ask(void *out)
{
    errno = 4242;
    *(uint64_t *)out = td_threshold(TD_THRESHOLD_SLAB_BYTES) + (uint64_t)(errno != 4242);
    return NULL;
}

static void threads_and_forks(void **state)
{
    (void)state;
    char text[TD_THRESHOLD_FILE_BYTES + 1];
    write_file("file", text, print_file(text));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread[8];
        uint64_t seen[9];
        setenv("TD_TUNE", "file", 1);
        for (size_t i = 0; i < 8; i++)
            if (pthread_create(&thread[i], NULL, ask, &seen[i]))
                _exit(2);
        const pid_t grandchild = fork();
        ask(&seen[8]);
        if (grandchild == 0)
            _exit(seen[8] != 8192);
        bool good = grandchild > 0;
        for (size_t i = 0; i < 8; i++)
            pthread_join(thread[i], NULL);
        for (size_t i = 0; i < 9; i++)
            good &= seen[i] == 8192;
        int status = 1;
        waitpid(grandchild, &status, 0);
        _exit(!good || status);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static void values_are_set_saved_and_loaded(void **state)
{
    (void)state;
    char *text = NULL;
    ASSERT_OK(td_tune_set("tile_bytes", 1024));
    ASSERT_OK(td_tune_note(&text));
    assert_string_equal(text, "set by this program");
    td_free(text);
    ASSERT_OK(td_tune_save("kept"));
    td_tune_reset();
    assert_int_equal(td_tune_threshold(TD_THRESHOLD_TILE_BYTES).value, 256);
    ASSERT_OK(td_tune_load("kept"));
    assert_int_equal(td_tune_threshold(TD_THRESHOLD_TILE_BYTES).value, 1024);
    td_tune_reset();
    assert_int_equal(truncate("kept", 40), 0);
    ASSERT_REFUSED(td_tune_load("kept"), TD_FILE, "tune_load \"kept\": it is damaged: its sum is wrong" ADVICE);
    ASSERT_REFUSED(td_tune_load("none"), TD_FILE,
                   "tune_load \"none\": it cannot be read: No such file or directory" ADVICE);
    ASSERT_REFUSED(td_tune_set("tile_byte", 64), TD_ARGUMENT,
                   "tune_set: there is no threshold \"tile_byte\"; did you mean \"tile_bytes\"?");
    ASSERT_REFUSED(td_tune_set("xyzzyxyzzy", 64), TD_ARGUMENT,
                   "tune_set: there is no threshold \"xyzzyxyzzy\"; td_tune_threshold names them all");
    ASSERT_REFUSED(td_tune_set("tile_bytes", 63), TD_ARGUMENT, "tune_set: tile_bytes is 63; pass 64 to 4096");
    ASSERT_REFUSED(td_tune_set(NULL, 63), TD_ARGUMENT, "tune_set: the name is NULL; pass one");
    ASSERT_REFUSED(td_tune_note(NULL), TD_ARGUMENT, "tune_note: the output is NULL; pass one");
    ASSERT_REFUSED(td_tune_file(NULL), TD_ARGUMENT, "tune_file: the output is NULL; pass one");
    setenv("TD_TUNE", "off", 1);
    ASSERT_REFUSED(td_tune_save(NULL), TD_FILE,
                   "tune_save: tune_file: there is no file for thresholds: TD_TUNE is off; unset it");
    unsetenv("TD_TUNE");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "", 1);
    ASSERT_REFUSED(td_tune_file(&text), TD_FILE,
                   "tune_file: there is no file for thresholds: neither XDG_CACHE_HOME nor HOME is a folder from the "
                   "root; set one, or TD_TUNE to a path");
    setenv("TD_TUNE", "off", 1);
}

static void the_users_folder_is_made(void **state)
{
    (void)state;
    char folder[256], *path = NULL;
    char made[300];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(made, sizeof made, "%s/new/cache", folder);
    unsetenv("TD_TUNE");
    setenv("XDG_CACHE_HOME", made, 1);
    ASSERT_OK(td_tune_save(NULL));
    ASSERT_OK(td_tune_file(&path));
    ASSERT_OK(td_tune_load(NULL));
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(remove(path) | remove("new/cache/tensordoor") | remove("new/cache") | remove("new"), 0);
    td_free(path);
    setenv("TD_TUNE", "off", 1);
    td_tune_reset();
}

/* Every threshold at both of its bounds: the bytes are the same, only the way there differs. */
static void results_do_not_depend_on_them(void **state)
{
    (void)state;
    enum { ROWS = 1031, COLS = 1024 };
    static const char *const patterns[] = {"a b -> b a", "a b -> a b", "(a k) b -> (b a) k"};
    td_tensor *tensor = NULL, *back = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(ROWS, COLS), &tensor));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(ROWS, COLS), &back));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 0, 1));
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < 2 * td_tune_count(); i++) {
            const td_threshold_info t = td_tune_threshold(i / 2);
            td_memory *memory = NULL;
            td_layout *layout = NULL;
            td_report *report = NULL;
            const uint64_t lanes = p == 0 ? ROWS : p == 1 ? COLS : 1;
            ASSERT_OK(td_tune_set(t.name, i % 2 ? t.most : t.least ? t.least : 1));
            ASSERT_OK(td_layout_create(patterns[p], p == 2 ? "k=1" : "", NULL, &layout));
            ASSERT_OK(td_memory_create("m", 32 * lanes, (uint64_t)ROWS * COLS / lanes, &memory));
            ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
            ASSERT_OK(td_tensor_fill_ramp(back, 0, 0));
            ASSERT_OK(td_backdoor_dump_tensor(memory, back, layout, NULL));
            assert_memory_equal(td_tensor_data(tensor), td_tensor_data(back), sizeof(float) * ROWS * COLS);
            ASSERT_OK(td_backdoor_compare_tensor(memory, tensor, layout, NULL, NULL, &report));
            assert_int_equal(td_report_mismatches(report), 0);
            td_report_destroy(&report);
            td_memory_destroy(&memory);
            td_layout_destroy(&layout);
            td_tune_reset();
        }
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
}

/* Of words that are cut over arrays: a threshold of copies says whether they go past the caches, and they are looked
 * after from the size on at which the caches are too small, however far the threshold is. */
static void cuts_follow_copies(void **state)
{
    (void)state;
    ASSERT_OK(td_tune_set("stream_copy_bytes", UINT64_C(1) << 40));
    assert_true(td_stream_pays(TD_STREAM_CUT, 0, UINT64_C(1) << 39));
    assert_false(td_stream_pays(TD_STREAM_COPY, 0, UINT64_C(1) << 39));
    assert_false(td_stream_cuts_go_past());
    ASSERT_OK(td_tune_set("stream_copy_bytes", 4096));
    assert_true(td_stream_pays(TD_STREAM_CUT, 0, 4096));
    assert_false(td_stream_pays(TD_STREAM_CUT, 0, 4095));
    assert_true(td_stream_cuts_go_past());
    td_tune_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: after them this process has read its thresholds, and its children would not any more. */
        cmocka_unit_test_setup_teardown(the_first_call_reads_the_users_file, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(only_plain_files_are_read, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(threads_and_forks, enter_folder, leave_folder),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(a_file_comes_back),
        cmocka_unit_test(every_prefix_and_every_flipped_bit_is_damaged),
        cmocka_unit_test(what_a_file_may_say),
        cmocka_unit_test_setup_teardown(values_are_set_saved_and_loaded, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_users_folder_is_made, enter_folder, leave_folder),
        cmocka_unit_test(cuts_follow_copies),
        cmocka_unit_test(results_do_not_depend_on_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
