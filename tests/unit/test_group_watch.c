/* unit/test_group_watch.c - the process that tells whether a signal was the group's. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/group_watch.h"

/* A process that is no child of ours.  It has the other end of the pipe READER open. */
static pid_t start_stranger(int *reader)
{
    int ends[2];
    pid_t stranger = -1;
    assert_int_equal(pipe(ends), 0);
    const pid_t between = fork();
    if (between == 0) {
        stranger = fork();
        if (stranger == 0) {
            for (;;)
                (void)pause();
        }
        _exit(write(ends[1], &stranger, sizeof(stranger)) < 0);
    }
    assert_int_equal(waitpid(between, NULL, 0), between);
    assert_int_equal(read(ends[0], &stranger, sizeof(stranger)), sizeof(stranger));
    (void)close(ends[1]);
    *reader = ends[0];
    return stranger;
}

static void it_ends_none_but_its_own(void **state)
{
    (void)state;
    int reader;
    struct tide_group_watch watch = {.pid = start_stranger(&reader)};
    const pid_t stranger = watch.pid;
    tide_group_watch_end(&watch);
    struct pollfd end = {.fd = reader, .events = POLLIN};
    assert_int_equal(poll(&end, 1, 200), 0); /* it still has the pipe open */
    assert_int_equal(kill(stranger, SIGKILL), 0);
    assert_int_equal(poll(&end, 1, -1), 1);
    (void)close(reader);
}

static void it_is_gone_at_the_end(void **state)
{
    (void)state;
    struct tide_group_watch watch = {0};
    tide_group_watch_begin(&watch);
    const pid_t pid = watch.pid;
    assert_true(pid > 0);
    tide_group_watch_end(&watch);
    assert_int_equal(watch.pid, 0);
    assert_int_equal(kill(pid, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_none_but_its_own),
        cmocka_unit_test(it_is_gone_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
