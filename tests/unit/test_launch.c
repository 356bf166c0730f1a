/* unit/test_launch.c - what a program finds when it is started by us. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/launch.h"
#include "collect/preload.h"
#include "collect/procfs.h"
#include "collect/signals.h"

static char *no_environment[] = {NULL};

/* What "PROGRAM ARGUMENT" prints when we launch it. */
static void launch(const char *program, const char *argument, char *out, size_t size)
{
    int pipes[2];
    char words[2][64];
    (void)snprintf(words[0], sizeof(words[0]), "%s", program);
    (void)snprintf(words[1], sizeof(words[1]), "%s", argument);
    char *argv[] = {words[0], words[1], NULL};
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    (void)fflush(stdout);
    (void)dup2(pipes[1], STDOUT_FILENO);
    (void)close(pipes[1]);
    struct tide_signals before;
    tide_signals_take(&before);
    const struct tide_launch_plan plan = {argv, no_environment, &before, NULL};
    struct tide_launch made;
    const enum tide_status prepared = tide_launch_prepare(&plan, &made);
    const int problem = prepared ? -1 : tide_launch_go(&made);
    (void)dup2(kept, STDOUT_FILENO);
    (void)close(kept);
    assert_int_equal(problem, 0);
    const ssize_t got = read(pipes[0], out, size - 1);
    assert_true(got > 0);
    out[got] = '\0';
    (void)close(pipes[0]);
    assert_int_equal(waitpid(made.pid, NULL, 0), made.pid);
    tide_signals_restore(&before);
}

static uint64_t signal_set(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    assert_non_null(at);
    return strtoull(at + strlen(word), NULL, 16);
}

static uint64_t bit(int number)
{
    return 1ull << (number - 1);
}

static void the_program_finds_signals_as_they_were(void **state)
{
    (void)state;
    char text[3000];
    sigset_t mask, before;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGUSR2);
    (void)pthread_sigmask(SIG_SETMASK, &mask, &before);
    /* Whoever started us may ignore signals too; make(1) does. */
    launch("cat", "/proc/self/status", text, sizeof(text));
    const uint64_t ignored = signal_set(text, "\nSigIgn:");
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGCHLD, SIG_IGN);
    launch("cat", "/proc/self/status", text, sizeof(text));
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGCHLD, SIG_DFL);
    assert_int_equal(signal_set(text, "\nSigBlk:"), bit(SIGUSR2));
    assert_int_equal(signal_set(text, "\nSigIgn:"),
                     ignored | bit(SIGHUP) | bit(SIGCHLD));
    assert_int_equal(ignored & (bit(SIGHUP) | bit(SIGCHLD)), 0);

    launch("cat", "/proc/self/status", text, sizeof(text));
    assert_int_equal(signal_set(text, "\nSigIgn:"), ignored);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void the_program_inherits_what_we_did_and_nothing_of_ours(void **state)
{
    (void)state;
    char text[2000], *rest = NULL;
    const int passed_on = open("/dev/null", O_RDONLY); /* of whoever started us */
    launch("ls", "/proc/self/fd", text, sizeof(text));
    bool found[1024] = {false};
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        found[strtoul(line, NULL, 10) % 1024] = true;
    int more = 0;
    for (int fd = 0; fd < 1024; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        const bool expected = flags >= 0 && !(flags & FD_CLOEXEC);
        assert_true(found[fd] || !expected);
        more += found[fd] && !expected;
    }
    assert_true(found[passed_on]);
    assert_int_equal(more, 1); /* the folder that ls reads */
    (void)close(passed_on);
}

static void says_why_a_program_cannot_be_started(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int problem;
    } cases[] = {
        {"/no/such/program", ENOENT},
        {"no-such-program-in-path", ENOENT},
        {"/tmp", EACCES},
        {"/etc/passwd", EACCES},
    };
    struct tide_signals before;
    tide_signals_take(&before);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%s", cases[i].name);
        char *argv[] = {name, NULL};
        const struct tide_launch_plan plan = {argv, no_environment, &before, NULL};
        struct tide_launch made;
        assert_int_equal(tide_launch_prepare(&plan, &made), TIDE_OK);
        assert_int_equal(tide_launch_go(&made), cases[i].problem);
        assert_int_equal(waitpid(made.pid, NULL, 0), -1); /* already reaped */
    }
    tide_signals_restore(&before);
}

static void a_cancelled_launch_runs_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/tide-launch-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    char *argv[] = {(char[]){"rm"}, path, NULL};
    struct tide_signals before;
    tide_signals_take(&before);
    const struct tide_launch_plan plan = {argv, no_environment, &before, NULL};
    struct tide_launch made;
    assert_int_equal(tide_launch_prepare(&plan, &made), TIDE_OK);
    tide_launch_cancel(&made);
    tide_signals_restore(&before);
    assert_int_equal(unlink(path), 0);
}

static void only_two_variables_of_the_environment_change(void **state)
{
    (void)state;
    char *before[] = {(char[]){"A=1"}, (char[]){"LD_PRELOAD=/x.so:/y.so"},
                      (char[]){"LD_PRELOADED=no"}, (char[]){"odd"}, NULL};
    char **const after = tide_preload_environment(before, "/lib/t.so", "/tmp/s");
    assert_non_null(after);
    static const char *const expected[] = {"LD_PRELOAD=/lib/t.so:/x.so:/y.so",
                                           "TIDEMARK_SESSION=/tmp/s", "A=1",
                                           "LD_PRELOADED=no", "odd"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(after[i], expected[i]);
    assert_null(after[5]);
    tide_preload_free(after);

    char **const alone = tide_preload_environment(before + 2, "/lib/t.so", "/tmp/s");
    assert_non_null(alone);
    assert_string_equal(alone[0], "LD_PRELOAD=/lib/t.so");
    tide_preload_free(alone);
}

static void finds_who_has_a_variable(void **state)
{
    (void)state;
    assert_false(tide_procfs_any_with("TIDE_TEST_VARIABLE", "some value", 0, 0));
    const pid_t pid = fork();
    if (pid == 0) {
        char *const argv[] = {(char[]){"sleep"}, (char[]){"100"}, NULL};
        char *const environment[] = {(char[]){"X=1"},
                                     (char[]){"TIDE_TEST_VARIABLE=some value"}, NULL};
        (void)execve("/bin/sleep", argv, environment);
        _exit(1);
    }
    bool found = false;
    for (int i = 0; i < 1000 && !found; i++) {
        found = tide_procfs_any_with("TIDE_TEST_VARIABLE", "some value", 0, 0);
        (void)usleep(1000);
    }
    assert_true(found);
    assert_false(tide_procfs_any_with("TIDE_TEST_VARIABLE", "some", 1e12, 0));
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static void reads_program_and_memory_of_a_process(void **state)
{
    (void)state;
    struct tide_image image;
    const uint32_t self = (uint32_t)getpid();
    tide_procfs_image(self, &image);
    assert_non_null(strstr(image.exe, "test_launch"));
    assert_non_null(strstr(image.words, "test_launch"));
    assert_int_equal(image.words[image.words_bytes - 1], '\0');
    assert_true(tide_procfs_lives(self));
    tide_image_release(&image);

    uint64_t bytes, peak;
    assert_true(tide_procfs_rss(self, &bytes, &peak));
    assert_true(bytes > 100 * 1024 && peak >= bytes);

    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(tide_procfs_lives((uint32_t)pid)); /* a zombie */
    assert_false(tide_procfs_rss((uint32_t)pid, &bytes, &peak));
    (void)waitpid(pid, NULL, 0);
}

static void dies_of_a_signal_without_a_core(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGSEGV, SIGABRT, SIGKILL, SIGPIPE};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const pid_t pid = fork();
        if (pid == 0) {
            struct tide_signals before;
            tide_signals_take(&before);
            (void)signal(SIGTERM, SIG_IGN);
            tide_signal_die(numbers[i]);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        assert_false(WCOREDUMP(status));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_finds_signals_as_they_were),
        cmocka_unit_test(the_program_inherits_what_we_did_and_nothing_of_ours),
        cmocka_unit_test(says_why_a_program_cannot_be_started),
        cmocka_unit_test(a_cancelled_launch_runs_nothing),
        cmocka_unit_test(only_two_variables_of_the_environment_change),
        cmocka_unit_test(finds_who_has_a_variable),
        cmocka_unit_test(reads_program_and_memory_of_a_process),
        cmocka_unit_test(dies_of_a_signal_without_a_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
