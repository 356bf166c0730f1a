/* unit/test_collector.c - what targets wrote arrives, whatever becomes of them.
 *
 * Targets are forked processes that speak trace/ring.h (see unit/fake_producer.h); what
 * they wrote is compared, record by record, with what stands in the file.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collector_bench.h"

enum { TIDE_NOBODY = 4194303 }; /* the last pid there can be */

/* --- All arrives ---------------------------------------------------------------------- */

enum { TIDE_LANES_EACH = 3, TIDE_RECORDS_EACH = 30000 };

static bool write_one(struct tide_fake_lane *lane)
{
    const uint64_t more =
        tide_bench_any(100) ? tide_bench_any(40) : tide_bench_any(3000);
    if (!tide_fake_record(lane, 8 + more))
        return false;
    return lane->counter != 5000 || tide_fake_move(lane, TIDE_RING_LARGE);
}

static int busy_target(void)
{
    struct tide_fake fake;
    struct tide_fake_lane lanes[TIDE_LANES_EACH], notes;
    if (!tide_bench_connect(&fake) ||
        !tide_fake_claim(&fake, &notes, TIDE_LANE_NOTES, 0))
        return 1;
    for (uint32_t i = 0; i < TIDE_LANES_EACH; i++) {
        if (!tide_fake_claim(&fake, &lanes[i], TIDE_LANE_EVENTS, i))
            return 2;
    }
    for (int n = 0; n < TIDE_RECORDS_EACH * TIDE_LANES_EACH; n++) {
        if (!write_one(&lanes[tide_bench_any(TIDE_LANES_EACH)]))
            return 3;
        if (n % 1000 == 0 && !tide_fake_put(&notes, "\x7e\x03xyz", 5))
            return 4;
    }
    for (uint32_t i = 0; i < TIDE_LANES_EACH; i++)
        atomic_store(&lanes[i].shared->dropped, i);
    return 0;
}

static void every_record_of_many_processes_arrives(void **state)
{
    (void)state;
    pid_t pids[4];
    tide_bench_start();
    for (int i = 0; i < 4; i++)
        pids[i] = tide_bench_spawn(busy_target);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tide_bench_serve_until_end(pids[i]), 0);
    tide_bench_serve_for(100);
    tide_bench_finish();
    assert_true(tide_bench.check.complete);
    assert_int_equal(tide_bench.check.troubles, 0);
    assert_int_equal(tide_bench.check.process_count, 4);
    assert_int_equal(tide_bench.check.end_processes, 4);
    for (int p = 0; p < 4; p++) {
        uint64_t records = 0;
        for (int lane = 0; lane < TIDE_LANES_EACH; lane++)
            records += tide_bench.check.lanes[p][lane].records;
        assert_int_equal(records, TIDE_RECORDS_EACH * TIDE_LANES_EACH);
        assert_true(tide_bench.check.processes[p].ended);
        assert_int_equal(tide_bench.check.processes[p].reason, TIDE_END_EXITED);
        assert_int_equal(tide_bench.check.processes[p].status_known, 0);
        assert_int_equal(tide_bench.check.processes[p].dropped, 0 + 1 + 2);
        assert_int_equal(tide_bench.check.processes[p].note_bytes,
                         5 * (TIDE_RECORDS_EACH * TIDE_LANES_EACH / 1000));
    }
}

enum { TIDE_LANES_MANY = 2 * TIDE_DESKS + 8, TIDE_RECORDS_MANY = 300000 };

static int crowded_target(void)
{
    static struct tide_fake_lane lanes[TIDE_LANES_MANY];
    struct tide_fake fake;
    if (!tide_bench_connect(&fake))
        return 1;
    for (uint32_t i = 0; i < TIDE_LANES_MANY; i++) {
        if (!tide_fake_claim(&fake, &lanes[i], TIDE_LANE_EVENTS, i))
            return 2;
    }
    for (int n = 0; n < TIDE_RECORDS_MANY; n++) {
        if (!tide_fake_record(&lanes[tide_bench_any(TIDE_LANES_MANY)],
                              8 + tide_bench_any(80)))
            return 3;
    }
    return 0;
}

static void more_lanes_than_desks_take_turns(void **state)
{
    (void)state;
    tide_bench_start();
    const pid_t pid = tide_bench_spawn(crowded_target);
    assert_int_equal(tide_bench_serve_until_end(pid), 0);
    tide_bench_serve_for(100);
    tide_bench_finish();
    assert_true(tide_bench.check.complete);
    assert_int_equal(tide_bench.check.troubles, 0);
    uint64_t records = 0;
    for (int lane = 0; lane < TIDE_LANES_MANY; lane++)
        records += tide_bench.check.lanes[0][lane].records;
    assert_int_equal(records, TIDE_RECORDS_MANY);
}

static int counting_target(void)
{
    struct tide_fake fake;
    struct tide_fake_lane lane;
    if (!tide_bench_connect(&fake) ||
        !tide_fake_claim(&fake, &lane, TIDE_LANE_EVENTS, 0))
        return 1;
    for (;;) {
        if (!tide_fake_record(&lane, 8 + tide_bench_any(100)))
            return 2;
        atomic_store(&tide_bench.board->records, lane.counter);
        if (lane.counter == 4000 && !tide_fake_move(&lane, TIDE_RING_LARGE))
            return 3;
    }
}

static void kill_loses_nothing(void **state)
{
    (void)state;
    uint64_t written[20];
    tide_bench_start();
    for (int i = 0; i < 20; i++) {
        atomic_store(&tide_bench.board->records, 0);
        const pid_t pid = tide_bench_spawn(counting_target);
        tide_bench_serve_for(1 + (int)tide_bench_any(40));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(tide_bench_serve_until_end(pid), SIGKILL);
        written[i] = atomic_load(&tide_bench.board->records);
    }
    tide_bench_serve_for(50);
    tide_bench_finish();
    uint32_t process = 0;
    for (int i = 0; i < 20; i++) {
        if (written[i] == 0)
            continue; /* may have had no lane yet: then there is no process */
        while (tide_bench.check.lanes[process][0].records < written[i])
            assert_in_range(++process, 0, 20);
        assert_in_range(tide_bench.check.lanes[process][0].records, written[i],
                        written[i] + 1);
        process++;
    }
    assert_true(process > 10);
}

/* --- fork, exec, end -------------------------------------------------------------------- */

static int forking_target(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 0, 10))
        return 1;
    for (int i = 0; i < 30; i++) {
        const pid_t pid = fork();
        if (pid == 0) { /* the same mapping, another process */
            fake.pid = (uint32_t)getpid();
            fake.birth = tide_ticks();
            _exit(tide_bench_write(&fake, 0, 100 + i) ? 0 : 1);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return 2;
        (void)usleep(20 * 1000); /* so that the collector sees the end of each */
    }
    atomic_store(&tide_bench.board->values[0], atomic_load(&fake.segment->lanes));
    return 0;
}

static void forked_children_are_processes_and_their_lanes_are_used_again(void **state)
{
    (void)state;
    tide_bench_start();
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(forking_target)), 0);
    tide_bench_serve_for(50);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.process_count, 31);
    assert_int_equal(tide_bench.check.lanes[0][0].records, 10);
    bool seen[30] = {false}; /* two children may be met in either order */
    for (int i = 1; i <= 30; i++) {
        const uint64_t records = tide_bench.check.lanes[i][0].records;
        assert_in_range(records, 100, 129);
        assert_false(seen[records - 100]);
        seen[records - 100] = true;
        assert_true(tide_bench.check.processes[i].ended);
    }
    assert_in_range(atomic_load(&tide_bench.board->values[0]), 2, 20); /* not 31 */
}

static int image_target(void)
{
    for (uint32_t image = 0; image < 3; image++) {
        struct tide_fake fake; /* as after exec: a new hello, the old mapping is gone */
        if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 0, 10 + (int)image))
            return 1;
        (void)munmap(fake.segment, TIDE_FAKE_MAPPED);
    }
    return 3;
}

static void a_process_that_says_hello_again_was_replaced(void **state)
{
    (void)state;
    tide_bench_start();
    const pid_t pid = tide_bench_spawn(image_target);
    tide_bench.collector->main_pid = (uint32_t)pid;
    const int status = tide_bench_serve_until_end(pid);
    tide_collector_main_ended(tide_bench.collector, status, 0);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.process_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tide_bench.check.processes[i].pid, pid);
        assert_int_equal(tide_bench.check.lanes[i][0].records, 10 + i);
        assert_int_equal(tide_bench.check.processes[i].reason,
                         i < 2 ? TIDE_END_EXECED : TIDE_END_EXITED);
        assert_int_equal(tide_bench.check.processes[i].status_known, i == 2);
    }
    assert_int_equal(tide_bench.check.processes[2].status, 3 << 8);
    assert_int_equal(tide_bench.check.end_status, 3 << 8);
}

static int waiting_target(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 0, 5))
        return 1;
    const pid_t pid = fork(); /* takes no lane, but could */
    if (pid == 0) {
        while (atomic_load(&tide_bench.board->values[0]) == 0)
            (void)usleep(1000);
        (void)usleep(200 * 1000);
        atomic_store(&tide_bench.board->values[1], 1);
        _exit(0);
    }
    return pid > 0 ? 0 : 2;
}

static void a_child_that_was_never_heard_of_keeps_the_session(void **state)
{
    (void)state;
    tide_bench_start();
    assert_int_equal(tide_bench_serve_until_end(tide_bench_spawn(waiting_target)), 0);
    tide_bench_serve_for(300);
    tide_collector_stop(tide_bench.collector);
    assert_true(tide_collector_busy(tide_bench.collector));
    atomic_store(&tide_bench.board->values[0], 1);
    tide_bench_start();
    for (int i = 0; i < 2000 && tide_collector_has_targets(tide_bench.collector); i++)
        (void)tide_collector_turn(tide_bench.collector, 5);
    assert_false(tide_collector_has_targets(tide_bench.collector));
    assert_int_equal(atomic_load(&tide_bench.board->values[1]), 1);
    tide_collector_stop(tide_bench.collector);
    assert_false(tide_collector_busy(tide_bench.collector));
    tide_bench_finish();
    assert_true(tide_bench.check.complete);
}

static int staying_target(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake) || !tide_bench_write(&fake, 0, 5))
        return 1;
    atomic_store(&tide_bench.board->values[0], 1);
    (void)pause();
    return 0;
}

static void who_still_runs_at_the_end_is_lost(void **state)
{
    (void)state;
    tide_bench_start();
    const pid_t pid = tide_bench_spawn(staying_target);
    while (atomic_load(&tide_bench.board->values[0]) == 0)
        tide_bench_serve_for(10);
    tide_bench_serve_for(300);
    tide_bench_finish();
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    assert_true(tide_bench.check.complete);
    assert_int_equal(tide_bench.check.lanes[0][0].records, 5);
    assert_true(tide_bench.check.processes[0].ended);
    assert_int_equal(tide_bench.check.processes[0].reason, TIDE_END_LOST);
    assert_true(tide_bench.check.processes[0].rss_notes >= 2); /* at 10 and 110 ms */
}

/* Writes in the name of a process that has ended, one lane before and one after the
 * collector has looked for the first time. */
static int late_target(void)
{
    struct tide_fake fake;
    if (!tide_bench_connect(&fake))
        return 1;
    fake.pid = TIDE_NOBODY;
    if (!tide_bench_write(&fake, 0, 10))
        return 2;
    atomic_store(&tide_bench.board->values[0], 1);
    while (!atomic_load(&tide_bench.board->values[1]))
        (void)usleep(100);
    if (!tide_bench_write(&fake, 1, 10))
        return 3;
    return 0;
}

static void a_process_met_when_it_was_gone_is_not_two(void **state)
{
    (void)state;
    const pid_t pid = tide_bench_spawn(late_target);
    while (!atomic_load(&tide_bench.board->values[0]))
        (void)tide_collector_turn(tide_bench.collector, 1);
    (void)tide_drain_pass(tide_bench.collector);
    assert_int_equal(tide_bench.collector->process_count, 1);
    atomic_store(&tide_bench.board->values[1], 1);
    assert_int_equal(tide_bench_serve_until_end(pid), 0);
    (void)tide_drain_pass(tide_bench.collector);
    assert_int_equal(tide_bench.collector->process_count, 1);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.process_count, 1);
    assert_int_equal(tide_bench.check.lanes[0][0].records, 10);
    assert_int_equal(tide_bench.check.lanes[0][1].records, 10);
}

#define WITH_SESSION(test) \
    cmocka_unit_test_setup_teardown(test, tide_bench_set_up, tide_bench_tear_down)

/* Who ends amid a rise has been seen shortly before. */
static void memory_that_rises_is_looked_at_again_soon(void **state)
{
    (void)state;
    static const struct {
        uint64_t peak;
        bool soon;
    } looks[] = {{800, true}, {900, false}, {1012, false}, {1140, true}, {1140, false}};
    struct tide_target target = {0};
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        const struct tide_rss_facts seen = {.bytes = 7, .peak = looks[i].peak};
        const uint64_t now = 1000000000ull * (i + 1), later = now + 1000000000;
        target.next_rss_ns = later;
        tide_target_saw(&target, &seen, now);
        assert_int_equal(target.next_rss_ns < later, looks[i].soon);
        assert_true(target.next_rss_ns > now);
        assert_int_equal(target.rss, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_rises_is_looked_at_again_soon),
        WITH_SESSION(every_record_of_many_processes_arrives),
        WITH_SESSION(more_lanes_than_desks_take_turns),
        WITH_SESSION(kill_loses_nothing),
        WITH_SESSION(forked_children_are_processes_and_their_lanes_are_used_again),
        WITH_SESSION(a_process_that_says_hello_again_was_replaced),
        WITH_SESSION(a_child_that_was_never_heard_of_keeps_the_session),
        WITH_SESSION(who_still_runs_at_the_end_is_lost),
        WITH_SESSION(a_process_met_when_it_was_gone_is_not_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
