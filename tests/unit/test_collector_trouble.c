/* unit/test_collector_trouble.c - limits, sudden ends and hostile targets. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collector_bench.h"
#include "trace/row.h"

/* --- Memory ------------------------------------------------------------------------------- */

static int growing_target(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake))
        return 1;
    for (uint32_t i = 0; i < TIDE_CHECK_LANES; i++) {
        struct tide_fake_lane lane;
        if (!tide_fake_claim(&fake, &lane, TIDE_LANE_EVENTS, i) ||
            !tide_fake_move(&lane, TIDE_RING_LARGE) || !tide_fake_record(&lane, 100))
            return 2;
    }
    if (tide_fake_take(&fake, 9ull << 30) != 0 || !atomic_load(&fake.segment->refused))
        return 3;
    return fake.page->depth_limit == 77 && fake.page->unwind == TIDE_UNWIND_FP ? 0 : 4;
}

static void a_segment_grows_until_it_would_be_too_much(void **state)
{
    (void)state;
    tide_bench_start();
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(growing_target)), 0);
    tide_bench_serve_for(20);
    tide_bench_finish();
    for (int i = 0; i < TIDE_CHECK_LANES; i++)
        assert_int_equal(tide_bench.check.lanes[0][i].records, 1);
}

/* --- Time --------------------------------------------------------------------------------- */

static int logging_target(void)
{
    struct tide_fake fake;
    struct tide_fake_lane lane;
    if (!tide_bench_connect(&fake) ||
        !tide_fake_claim(&fake, &lane, TIDE_LANE_EVENTS, 0))
        return 1;
    for (uint64_t i = 0; i < 4096; i++) {
        if (!tide_fake_record(&lane, 8 + tide_bench_any(60)))
            return 2;
        atomic_store(&tide_bench.board->log[i].records, lane.counter);
        atomic_store(&tide_bench.board->log[i].ns, tide_ticks_monotonic());
        atomic_store(&tide_bench.board->logged, i + 1);
        (void)usleep(i % 100 == 0 ? 300 * 1000 : 1000); /* in bursts */
    }
    return 0;
}

/* The collector is a process of its own here, to be killed. */
static int collecting_process(void)
{
    if (tide_collector_start(tide_bench.collector))
        return 1;
    for (;;)
        (void)tide_collector_turn(tide_bench.collector, 10);
}

static void what_is_a_second_old_survives_the_collector(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        const pid_t collector = tide_bench_spawn(collecting_process),
                    target = tide_bench_spawn(logging_target);
        (void)usleep((useconds_t)(1300 + 130 * round) * 1000);
        (void)kill(collector, SIGKILL);
        (void)kill(target, SIGKILL);
        const uint64_t now = tide_ticks_monotonic();
        (void)waitpid(collector, NULL, 0);
        (void)waitpid(target, NULL, 0);
        uint64_t old = 0;
        for (uint64_t i = 0; i < atomic_load(&tide_bench.board->logged); i++) {
            if (now - atomic_load(&tide_bench.board->log[i].ns) >= 1000000000u)
                old = atomic_load(&tide_bench.board->log[i].records);
        }
        tide_check_file(tide_bench.path, true, &tide_bench.check);
        assert_false(tide_bench.check.complete);
        assert_true(old > 0);
        assert_true(tide_bench.check.lanes[0][0].records >= old);
        /* Resets were asked for: each chunk can be decoded alone, but for one or two that
         * a record slipped in before. */
        assert_true(tide_bench.check.lanes[0][0].chunks >= 2);
        assert_true(tide_bench.check.lanes[0][0].resets + 2 >=
                    tide_bench.check.lanes[0][0].chunks);
        (void)tide_bench_tear_down(state);
        assert_int_equal(tide_bench_set_up(state), 0);
    }
}

/* --- Trouble ------------------------------------------------------------------------------ */

static int unstoppable_target(void)
{
    struct tide_fake fake;
    struct tide_fake_lane lane;
    if (!tide_bench_connect(&fake) ||
        !tide_fake_claim(&fake, &lane, TIDE_LANE_EVENTS, 0))
        return 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t row[41] = {TIDE_ROW_HEAD(TIDE_OP_EXTRA, 40, TIDE_FAKE_EXTRA)};
        for (int k = 1; k < 41; k++)
            row[k] = tide_bench_any(UINT64_MAX);
        if (!tide_fake_put(&lane, row, sizeof(row)))
            return 2; /* the collector must go on emptying the ring */
    }
    return atomic_load(&fake.page->stopped) ? 0 : 3;
}

/* In a process of its own, because of the limit. */
static int limited_collector(void)
{
    const struct rlimit limit = {12000000, 12000000};
    (void)signal(SIGXFSZ, SIG_IGN);
    const pid_t pid = tide_bench_spawn(unstoppable_target);
    if (setrlimit(RLIMIT_FSIZE, &limit) || tide_collector_start(tide_bench.collector))
        return 1;
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0)
        (void)tide_collector_turn(tide_bench.collector, 1);
    tide_collector_stop(tide_bench.collector);
    tide_collector_finish(tide_bench.collector, NULL, NULL);
    return WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 2;
}

static void a_full_disk_stops_recording_and_harms_nobody(void **state)
{
    (void)state;
    const pid_t pid = tide_bench_spawn(limited_collector);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 10);
    struct stat found;
    assert_int_equal(stat(tide_bench.path, &found), 0);
    assert_in_range(found.st_size, 10000, 12000000);
    FILE *const file = fopen(tide_bench.path, "rb");
    assert_non_null(file);
    struct tide_format_chunk head = {0};
    long at = 64;
    uint16_t kind = 0;
    while (at < found.st_size) { /* whole chunks, to the last byte */
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fread(&head, sizeof(head), 1, file), 1);
        assert_int_equal(head.magic, TIDE_CHUNK_MAGIC);
        at += (long)(sizeof(head) + head.stored_bytes);
        kind = head.kind;
    }
    (void)fclose(file);
    assert_int_equal(at, found.st_size);
    assert_int_equal(kind, TIDE_CHUNK_RUN); /* says why; and no END */
}

static int hostile_target(void)
{
    struct tide_fake fake;
    struct tide_fake_lane lane;
    if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 0, 50))
        return 1;
    if (!tide_fake_claim(&fake, &lane, TIDE_LANE_EVENTS, 1) ||
        !tide_fake_record(&lane, 9))
        return 2;
    (void)usleep(50 * 1000);
    atomic_store(&lane.shared->head, 1ull << 50);
    struct tide_segment *const segment = fake.segment;
    static const uint64_t places[] = {1, 63, 64, 4096, UINT64_MAX, 1ull << 40};
    const uint32_t first = atomic_load(&segment->lanes);
    for (uint32_t i = 0; i < 6; i++)
        atomic_store(&segment->directory[first + i], places[i]);
    atomic_store(&segment->lanes, UINT32_MAX);
    atomic_store(&segment->taken, UINT64_MAX);
    segment->magic = 0;
    (void)usleep(50 * 1000);
    return 0;
}

static int good_target(void)
{
    struct tide_fake fake;
    return tide_bench_connect(&fake) && tide_bench_write(&fake, 0, 100000) ? 0 : 1;
}

static int two_lanes_one_number(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 7, 50))
        return 1;
    (void)usleep(50 * 1000);
    return tide_bench_write(&fake, 7, 50) ? 0 : 2;
}

static void a_hostile_target_spoils_its_own_lane_only(void **state)
{
    (void)state;
    tide_bench_start();
    const pid_t bad = tide_bench_spawn(hostile_target),
                good = tide_bench_spawn(good_target);
    assert_int_equal(tide_bench_serve_until_end(bad), 0);
    assert_int_equal(tide_bench_serve_until_end(good), 0);
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(two_lanes_one_number)),
                     0);
    tide_bench_serve_for(50);
    tide_bench_finish();
    assert_true(tide_bench.check.complete);
    assert_int_equal(tide_bench.check.process_count, 3);
    assert_int_equal(tide_bench.check.troubles, 2);
    assert_non_null(strstr(tide_bench.check.trouble, "its number is another's"));
    for (uint32_t p = 0; p < 3; p++) {
        assert_true(tide_bench.check.processes[p].ended);
        const struct tide_check_lane *const lanes = tide_bench.check.lanes[p];
        if (tide_bench.check.processes[p].pid == (uint64_t)bad) {
            assert_int_equal(lanes[0].records, 50);
            assert_int_equal(lanes[1].records, 1);
        } else if (tide_bench.check.processes[p].pid == (uint64_t)good) {
            assert_int_equal(lanes[0].records, 100000);
        } else {
            assert_int_equal(lanes[7].records, 50);
        }
    }
}

/* As one that is killed before it took a lane. */
static int early_ending_target(void)
{
    struct tide_fake fake;
    return tide_bench_connect(&fake) ? 0 : 1;
}

static int failing_target(void)
{
    const struct tide_hello hello = {TIDE_SEGMENT_MAGIC, TIDE_RING_VERSION,
                                     (uint32_t)getpid(), 1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char answer[64];
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/collector",
                   tide_bench.collector->directory);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                   send(fd, &hello, sizeof(hello), 0) == (ssize_t)sizeof(hello) &&
                   recv(fd, answer, sizeof(answer), 0) == 0
               ? 0
               : 1;
}

static void who_could_not_begin_says_so(void **state)
{
    (void)state;
    tide_bench_start();
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(early_ending_target)),
                     0);
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(failing_target)), 0);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.process_count, 0);
    assert_int_equal(tide_bench.check.troubles, 1);
    assert_non_null(
        strstr(tide_bench.check.trouble, "could not take its shared memory"));
    assert_true(tide_bench.check.complete);
}

static int strange_target(void)
{
    static const struct tide_hello bad[] = {
        {0, TIDE_RING_VERSION, 1, 0},
        {TIDE_SEGMENT_MAGIC, TIDE_RING_VERSION + 1, 1, 0}};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/collector",
                   tide_bench.collector->directory);
    for (size_t i = 0; i < 3; i++) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        char answer[64];
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
            return 1;
        const size_t length = i == 2 ? 3 : sizeof(bad[0]);
        if (send(fd, &bad[i % 2], length, 0) != (ssize_t)length ||
            recv(fd, answer, sizeof(answer), 0) != 0)
            return 2;
        (void)close(fd);
    }
    const int mute = socket(AF_UNIX, SOCK_SEQPACKET, 0); /* says nothing at all */
    struct tide_fake fake;
    return connect(mute, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                   tide_bench_connect(&fake)
               ? 0
               : 3;
}

static void who_does_not_say_hello_gets_nothing(void **state)
{
    (void)state;
    tide_bench_start();
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(strange_target)), 0);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.process_count, 0);
    assert_true(tide_bench.check.complete);
}

static void the_session_is_private_and_goes_away(void **state)
{
    (void)state;
    struct stat found;
    char directory[128];
    (void)snprintf(directory, sizeof(directory), "%s", tide_bench.collector->directory);
    assert_int_equal(stat(directory, &found), 0);
    assert_int_equal(found.st_mode & 07777, geteuid() == 0 ? 0711 : 0700);
    tide_bench_start();
    tide_bench_finish();
    assert_int_equal(stat(directory, &found), -1);
}

#define WITH_SESSION(test) \
    cmocka_unit_test_setup_teardown(test, tide_bench_set_up, tide_bench_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SESSION(a_segment_grows_until_it_would_be_too_much),
        WITH_SESSION(what_is_a_second_old_survives_the_collector),
        WITH_SESSION(a_full_disk_stops_recording_and_harms_nobody),
        WITH_SESSION(a_hostile_target_spoils_its_own_lane_only),
        WITH_SESSION(who_could_not_begin_says_so),
        WITH_SESSION(who_does_not_say_hello_gets_nothing),
        WITH_SESSION(the_session_is_private_and_goes_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
