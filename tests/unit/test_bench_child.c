/* Children of the bench: two at once that end in either order, answers and ends that come late or never. */
#include "support.h"
#include "tool/bench/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_shell(void *script)
{
    execl("/bin/sh", "sh", "-c", script, (char *)NULL);
}

/* Answers every line with it; ends when there is no more. */
#define ECHO "while read line; do echo \"got $line\"; done"

static void begin(bench_child *child, char *script)
{
    assert_true(bench_child_start(child, &(bench_child_work){become_shell, script, .asked = true, .quiet = true}));
}

static void answers(bench_child *child, const char *word)
{
    char line[64], want[64];
    snprintf(want, sizeof want, "got %s", word);
    assert_true(bench_child_say(child, "%s", word));
    assert_true(bench_child_line(child, line, sizeof line));
    assert_string_equal(line, want);
}

/* A child that held the other's pipe would keep it from seeing the end, and be killed after two seconds. */
static void test_two_end_in_either_order(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        bench_child child[2];
        for (int i = 0; i < 2; i++)
            begin(&child[i], ECHO);
        answers(&child[0], "a");
        answers(&child[1], "b");
        answers(&child[0], "c");
        assert_true(bench_child_stop(&child[first]));
        answers(&child[!first], "d");
        assert_true(bench_child_stop(&child[!first]));
        assert_false(bench_child_stop(&child[first]));
    }
}

static void test_an_answer_that_never_comes(void **state)
{
    (void)state;
    char line[64];
    bench_child child;
    const double patience = bench_child_patience();
    bench_child_set_patience(0.2e9);
    begin(&child, "read line; exec sleep 1000");
    assert_true(bench_child_say(&child, "hello"));
    assert_false(bench_child_line(&child, line, sizeof line));
    assert_true(child.late);
    assert_int_equal(child.pid, 0);
    assert_false(bench_child_say(&child, "hello"));
    assert_false(bench_child_line(&child, line, sizeof line));
    begin(&child, "printf half; exec sleep 1000");
    assert_false(bench_child_line(&child, line, sizeof line));
    assert_true(child.late);
    bench_child_set_patience(patience);
}

static void test_an_end_that_never_comes(void **state)
{
    (void)state;
    char line[64];
    bench_child child;
    begin(&child, "echo here; exec sleep 1000");
    assert_true(bench_child_line(&child, line, sizeof line));
    assert_string_equal(line, "here");
    assert_false(bench_child_stop(&child));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_a_child_that_dies(void **state)
{
    (void)state;
    char line[64];
    bench_child child;
    begin(&child, "exit 3");
    assert_false(bench_child_line(&child, line, sizeof line));
    assert_false(child.late);
    assert_false(bench_child_say(&child, "hello"));
    begin(&child, "echo one; echo two; exit 3");
    assert_true(bench_child_line(&child, line, sizeof line));
    assert_string_equal(line, "one");
    assert_true(bench_child_line(&child, line, sizeof line));
    assert_string_equal(line, "two");
    assert_false(bench_child_stop(&child));
    begin(&child, "exec /nowhere");
    assert_false(bench_child_line(&child, line, sizeof line));
}

static void test_bytes_and_everything(void **state)
{
    (void)state;
    char bytes[8] = {0}, line[8];
    size_t length = 0;
    bench_child child;
    begin(&child, "echo long enough; sleep 0.1; printf 12; sleep 0.1; printf 3456789");
    assert_true(bench_child_line(&child, line, sizeof line) == false && !child.late); /* longer than there is room */
    begin(&child, "echo line; printf 12; sleep 0.1; printf 3456789");
    assert_true(bench_child_line(&child, line, sizeof line));
    assert_true(bench_child_bytes(&child, bytes, 7));
    assert_memory_equal(bytes, "1234567", 7);
    assert_false(bench_child_bytes(&child, bytes, 3));
    assert_true(bench_child_start(&child, &(bench_child_work){.run = become_shell, .context = "cat; seq 5000"}));
    char *text = bench_child_all(&child, &length);
    assert_non_null(text);
    assert_int_equal(length, 23893);
    assert_memory_equal(text, "1\n2\n", 4);
    free(text);
    assert_true(bench_child_stop(&child));
}

/* As under a daemon: pipes then get the numbers of what is closed. */
static void test_closed_streams(void **state)
{
    (void)state;
    int kept[3];
    bench_child child;
    for (int i = 0; i < 3; i++) {
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        close(i);
    }
    char line[64] = "";
    const bool started =
        bench_child_start(&child, &(bench_child_work){become_shell, ECHO, .asked = true, .quiet = true});
    const bool good = started && bench_child_say(&child, "a") && bench_child_line(&child, line, sizeof line);
    const bool ended = bench_child_stop(&child);
    for (int i = 0; i < 3; i++) {
        dup2(kept[i], i);
        close(kept[i]);
    }
    assert_true(started && good && ended);
    assert_string_equal(line, "got a");
}

/* Never started: the descriptors that a cleared one seems to have are stdin. */
static void test_none(void **state)
{
    (void)state;
    char line[8];
    bench_child none = {0};
    assert_false(bench_child_line(&none, line, sizeof line));
    assert_false(bench_child_say(&none, "x"));
    assert_false(bench_child_stop(&none));
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_end_in_either_order),
        cmocka_unit_test(test_an_answer_that_never_comes),
        cmocka_unit_test(test_an_end_that_never_comes),
        cmocka_unit_test(test_a_child_that_dies),
        cmocka_unit_test(test_bytes_and_everything),
        cmocka_unit_test(test_closed_streams),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
