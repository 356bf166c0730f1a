/* unit/test_segment_users.c - who maps a segment. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/segment.h"
#include "collect/segment_users.h"

static struct tide_share *share;
static int peer_fd = -1;

static int set_up(void **state)
{
    (void)state;
    if (tide_share_create(&share, &peer_fd) != TIDE_OK)
        return -1;
    share->session_began = 1e12; /* nobody who does not let us look is of the run */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (peer_fd >= 0)
        (void)close(peer_fd);
    tide_share_free(share);
    return 0;
}

static void nobody_maps_a_new_one(void **state)
{
    (void)state;
    assert_false(tide_share_is_mapped(share));
}

/* As the kernel does for a moment, when a process has ended whose memory is looked at. */
static void a_file_that_is_held_open_is_not_mapped(void **state)
{
    (void)state;
    assert_int_equal(tide_share_held(share), TIDE_HELD_YES);
    assert_false(tide_share_is_mapped(share));
}

static void a_process_that_maps_it_is_found_until_it_has_ended(void **state)
{
    (void)state;
    int ends[2], status;
    char byte = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        void *const mapped =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, peer_fd, 0);
        (void)!write(ends[1], "r", 1);
        (void)pause();
        _exit(mapped == MAP_FAILED);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_true(tide_share_is_mapped(share));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(tide_share_is_mapped(share));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_maps_a_new_one),
        cmocka_unit_test(a_file_that_is_held_open_is_not_mapped),
        cmocka_unit_test(a_process_that_maps_it_is_found_until_it_has_ended),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
