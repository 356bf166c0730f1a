/* unit/test_session_folder.c - the folder where targets find their collector. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/session_folder.h"

#define LONG_PLACE \
    "/tmp/a-name-that-leaves-no-room-for-a-socket-behind-it-because-it-is-very-long"

static char parent[] = "/tmp/tide-folder-XXXXXX";

// NOLINTBEGIN(concurrency-mt-unsafe): one thread
static int make_parent(void **state)
{
    (void)state;
    return mkdtemp(parent) && setenv("XDG_RUNTIME_DIR", parent, 1) == 0 ? 0 : -1;
}

static int remove_parent(void **state)
{
    (void)state;
    return rmdir(parent);
}

/* A session folder NAME with a socket; its listener, or -1 when there is none. */
static int make_session(const char *name, bool listening, bool old, char path[100])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(path, 100, "%s/%s", parent, name);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/collector", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    if (listening) {
        assert_int_equal(listen(fd, 5), 0);
    } else {
        (void)close(fd);
        fd = -1;
    }
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    if (old)
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return fd;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void is_private_and_of_our_choice(void **state)
{
    (void)state;
    struct stat found;
    char *const path = tide_session_folder_make();
    assert_non_null(path);
    assert_memory_equal(path, parent, strlen(parent));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, geteuid() == 0 ? 0711 : 0700);
    tide_session_folder_remove(path);
    assert_false(exists(path));
    free(path);
}

static void falls_back_when_the_place_is_unusable(void **state)
{
    (void)state;
    static const char *const places[] = {"/no/such/place", "relative", "", LONG_PLACE};
    (void)unsetenv("TMPDIR");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)setenv("XDG_RUNTIME_DIR", places[i], 1);
        char *const path = tide_session_folder_make();
        assert_non_null(path);
        assert_memory_equal(path, "/tmp/tidemark-", 14);
        tide_session_folder_remove(path);
        free(path);
    }
    (void)setenv("XDG_RUNTIME_DIR", parent, 1);
}

/* How the names of folders begin that are made here and now. */
static void find_prefix(char prefix[40])
{
    char *const path = tide_session_folder_make();
    assert_non_null(path);
    const char *const name = strrchr(path, '/') + 1;
    (void)snprintf(prefix, 40, "%.*s", (int)(strlen(name) - strlen("XXXXXX")), name);
    tide_session_folder_remove(path);
    free(path);
}

static void sweeps_what_killed_collectors_left_and_nothing_else(void **state)
{
    (void)state;
    static const char *const ends[] = {"dead00", "fresh0", "alive0"};
    char paths[3][100], elsewhere[100], other[100], prefix[40], name[60];
    int listener = -1;
    find_prefix(prefix);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof(name), "%s%s", prefix, ends[i]);
        listener = make_session(name, i == 2, i != 1, paths[i]);
    }
    (void)make_session("tidemark-00000000-dead00", false, true, elsewhere);
    (void)make_session("another-thing0", false, true, other);
    char *const path = tide_session_folder_make();
    assert_non_null(path);
    assert_false(exists(paths[0]) || exists(paths[1]));
    assert_true(exists(elsewhere) && exists(paths[2]) && exists(other));
    (void)close(listener);
    tide_session_folder_remove(path);
    free(path);
    tide_session_folder_remove(elsewhere);
    tide_session_folder_remove(paths[2]);
    tide_session_folder_remove(other);
}

/* Its maker died before there was a socket, or is about to make one. */
static void sweeps_a_folder_without_a_socket_when_it_is_old(void **state)
{
    (void)state;
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    char prefix[40], bare[100], early[120];
    find_prefix(prefix);
    (void)snprintf(bare, sizeof(bare), "%s/%sbare00", parent, prefix);
    (void)snprintf(early, sizeof(early), "%s/%s", bare, TIDE_SOCKET_EARLY);
    assert_int_equal(mkdir(bare, 0700), 0);
    assert_int_equal(mknod(early, S_IFSOCK | 0600, 0), 0);
    for (int old = 0; old < 2; old++) {
        if (old)
            assert_int_equal(utimensat(AT_FDCWD, bare, long_ago, 0), 0);
        char *const path = tide_session_folder_make();
        assert_non_null(path);
        assert_int_equal(exists(bare), !old);
        tide_session_folder_remove(path);
        free(path);
    }
}
// NOLINTEND(concurrency-mt-unsafe)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_private_and_of_our_choice),
        cmocka_unit_test(falls_back_when_the_place_is_unusable),
        cmocka_unit_test(sweeps_what_killed_collectors_left_and_nothing_else),
        cmocka_unit_test(sweeps_a_folder_without_a_socket_when_it_is_old),
    };
    return cmocka_run_group_tests(tests, make_parent, remove_parent);
}
