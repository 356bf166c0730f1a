/* unit/collector_bench.h - a whole collector at work, for tests.
 *
 * One session at a time: the collector in this process, targets forked from it.
 */
#ifndef TIDE_UNIT_COLLECTOR_BENCH_H
#define TIDE_UNIT_COLLECTOR_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/collector.h"
#include "fake_producer.h"
#include "trace_check.h"

enum { TIDE_BOARD_LOG = 4096, TIDE_BENCH_DEPTH = 77 };

/* Written by targets, read by the test: survives kill. */
struct tide_board {
    _Atomic uint64_t records;
    _Atomic uint64_t values[8];
    struct {
        _Atomic uint64_t ns, records;
    } log[TIDE_BOARD_LOG];
    _Atomic uint64_t logged;
};

struct tide_bench {
    struct tide_collector *collector; /* NULL once it has finished */
    char path[64];                    /* of the trace */
    struct tide_board *board;
    struct tide_check check; /* of the trace, when it has finished */
    uint64_t seed;
};
extern struct tide_bench tide_bench;

/* For cmocka: a session that is ready to start, and its end. */
int tide_bench_set_up(void **state);
int tide_bench_tear_down(void **state);

void tide_bench_start(void);
/* Fork a process that ends with what TARGET returns. */
pid_t tide_bench_spawn(int (*target)(void));
/* Serve until PID ends, at most a minute; its wait status. */
int tide_bench_serve_until_end(pid_t pid);
void tide_bench_serve_for(int ms);
/* Stop, finish, close, and read the trace. */
void tide_bench_finish(void);

/* A number below BELOW. */
uint64_t tide_bench_any(uint64_t below);

/* In a target: say hello. */
bool tide_bench_connect(struct tide_fake *fake);
/* Take lane NUMBER and write RECORDS to it. */
bool tide_bench_write(struct tide_fake *fake, uint32_t number, int records);

#endif
