/* unit/collector_bench.c - a whole collector at work, for tests. */
#include "collector_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collect/notes_out.h"

struct tide_bench tide_bench;

static bool begin(struct tide_collector *collector)
{
    const struct tide_writer_start start = {.unix_ns = collector->clock.start_unix_ns,
                                            .ticks = collector->clock.start_ticks,
                                            .ticks_per_second =
                                                tide_clock_rate(&collector->clock)};
    struct tide_writer *writer;
    if (tide_writer_create(tide_bench.path, &start, &writer))
        return false;
    char *argv[] = {(char[]){"prog"}, NULL};
    const struct tide_run_facts facts = {argv, "0", ""};
    return tide_collector_begin(collector, writer, &facts) == TIDE_OK;
}

int tide_bench_set_up(void **state)
{
    (void)state;
    tide_bench.collector = NULL;
    tide_bench.seed = (uint64_t)getpid() * 7919;
    void *const board = mmap(NULL, sizeof(struct tide_board), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct tide_wishes wishes = {.unwind = TIDE_UNWIND_FP,
                                       .depth_limit = TIDE_BENCH_DEPTH};
    if (board == MAP_FAILED || tide_collector_open(&wishes, &tide_bench.collector))
        return -1;
    tide_bench.board = board;
    (void)snprintf(tide_bench.path, sizeof(tide_bench.path),
                   "/tmp/tide-collector-%d.tide", (int)getpid());
    (void)unlink(tide_bench.path);
    return begin(tide_bench.collector) ? 0 : -1;
}

int tide_bench_tear_down(void **state)
{
    (void)state;
    if (tide_bench.collector) {
        tide_collector_stop(tide_bench.collector);
        tide_collector_close(tide_bench.collector);
    }
    (void)munmap(tide_bench.board, sizeof(struct tide_board));
    (void)unlink(tide_bench.path);
    return 0;
}

void tide_bench_start(void)
{
    assert_int_equal(tide_collector_start(tide_bench.collector), TIDE_OK);
}

pid_t tide_bench_spawn(int (*target)(void))
{
    const pid_t pid = fork();
    if (pid == 0) {
        tide_bench.seed = (uint64_t)getpid() * 104729;
        _exit(target());
    }
    return pid;
}

int tide_bench_serve_until_end(pid_t pid)
{
    int status;
    for (int i = 0; i < 60000; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        (void)tide_collector_turn(tide_bench.collector, 1);
    }
    fail();
    return -1;
}

void tide_bench_serve_for(int ms)
{
    const uint64_t end = tide_ticks_monotonic() + (uint64_t)ms * 1000 * 1000;
    while (tide_ticks_monotonic() < end)
        (void)tide_collector_turn(tide_bench.collector, 1);
}

void tide_bench_finish(void)
{
    tide_collector_stop(tide_bench.collector);
    tide_collector_finish(tide_bench.collector, NULL, NULL);
    tide_collector_close(tide_bench.collector);
    tide_bench.collector = NULL;
    tide_check_file(tide_bench.path, false, &tide_bench.check);
}

uint64_t tide_bench_any(uint64_t below)
{
    tide_bench.seed ^= tide_bench.seed << 13;
    tide_bench.seed ^= tide_bench.seed >> 7;
    tide_bench.seed ^= tide_bench.seed << 17;
    return tide_bench.seed % below;
}

bool tide_bench_connect(struct tide_fake *fake)
{
    return tide_fake_connect(fake, tide_bench.collector->directory);
}

bool tide_bench_write(struct tide_fake *fake, uint32_t number, int records)
{
    struct tide_fake_lane lane;
    if (!tide_fake_claim(fake, &lane, TIDE_LANE_EVENTS, number))
        return false;
    for (int i = 0; i < records; i++) {
        if (!tide_fake_record(&lane, 16))
            return false;
    }
    return true;
}
