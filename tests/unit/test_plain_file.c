/* tests/unit/test_plain_file.c - what may be opened for its name alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/plain_file.h"

static char folder[] = "/tmp/test_plain_file.XXXXXX";

static int enter(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    const int fd = open("plain", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "text", 4) != 4 || close(fd))
        return -1;
    return mkfifo("pipe", 0600) || mkdir("dir", 0700) || symlink("plain", "link") ||
           symlink("pipe", "pipe-link") || symlink("nowhere", "dangling");
}

static int leave(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"plain",     "pipe",     "link",
                                        "pipe-link", "dangling", "socket"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        (void)unlink(NAMES[i]);
    return rmdir("dir") || chdir("/") || rmdir(folder);
}

/* What opening NAME fails with; 0: it was opened, and is the plain file of this test. */
static int problem_of(const char *name, int more)
{
    struct stat about;
    char text[8];
    const int fd = tide_plain_file_open(name, more, &about);
    if (fd < 0)
        return errno;
    assert_int_equal(about.st_size, 4);
    assert_int_equal(read(fd, text, sizeof(text)), 4);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    return 0;
}

static void plain_files_are_opened(void **state)
{
    (void)state;
    assert_int_equal(problem_of("plain", 0), 0);
    assert_int_equal(problem_of("link", 0), 0);
    assert_int_equal(problem_of("plain", O_NOFOLLOW), 0);
    assert_int_equal(problem_of("link", O_NOFOLLOW), TIDE_ENOTPLAIN);
    assert_int_equal(problem_of("dangling", 0), ENOENT);
    assert_int_equal(problem_of("plain/below", 0), ENOTDIR);
}

static void what_is_no_file_is_not_opened(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "pipe",
        "pipe-link",
        "dir",
        "socket",
        "/dev/zero",
        "/dev/null",
        "/proc/self/mem",
        "/proc/self/maps",
        "/proc/kmsg",

        "/sys/kernel/notes",
    };
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    struct inotify_event event;
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&name, sizeof(name)), 0);
    const int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(watcher, "pipe", IN_OPEN) >= 0);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (access(NAMES[i], F_OK)) /* not every kernel has it */
            continue;
        assert_int_equal(problem_of(NAMES[i], 0), TIDE_ENOTPLAIN);
        assert_true(tide_plain_file_barred(NAMES[i]));
    }
    assert_int_equal(read(watcher, &event, sizeof(event)), -1); /* nobody opened it */
    assert_false(tide_plain_file_barred("plain"));
    assert_false(tide_plain_file_barred("dangling"));
    close(watcher);
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_files_are_opened),
        cmocka_unit_test(what_is_no_file_is_not_opened),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
