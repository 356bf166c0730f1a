/* collect/clock.h - what ticks are in seconds and on the wall.
 *
 * For: collect/, tests/.  Both are measured against CLOCK_MONOTONIC, so that a step of
 * the wall clock in the middle of a run bends nothing.
 */
#ifndef TIDE_COLLECT_CLOCK_H
#define TIDE_COLLECT_CLOCK_H

#include <stdint.h>

struct tide_clock {
    uint64_t start_ticks; /* all were read at the same moment */
    uint64_t start_ns;    /* CLOCK_MONOTONIC */
    uint64_t start_unix_ns;
    uint64_t start_boot_ns; /* CLOCK_BOOTTIME: what /proc counts from */
};

/* One moment on two clocks. */
struct tide_clock_point {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

/* Decide which clock ticks come from (see base/raw/ticks.h) and read it first. */
void tide_clock_start(struct tide_clock *clock);

struct tide_clock_point tide_clock_now(void);

/* Ticks per second, as well as it is known by now: the longer the run, the better. */
uint64_t tide_clock_rate(const struct tide_clock *clock);

/* When the clock was started, in seconds since boot, as /proc tells it of processes: a
 * process that was started later is not earlier than this. */
double tide_clock_began(const struct tide_clock *clock);

/* Wall clock at POINT: nanoseconds since 1970. */
uint64_t tide_clock_unix_ns(const struct tide_clock *clock,
                            const struct tide_clock_point *point);

#endif
