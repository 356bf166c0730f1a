/* collect/clock.c - what ticks are in seconds and on the wall. */
#include "collect/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/ticks.h"

enum {
    TIDE_TRIES = 5,
    TIDE_RATE_NS = 300 * 1000, /* shorter than this says nothing about a rate */
};

/* The processor may promise a good counter while the kernel has seen it misbehave (a
 * socket out of step, a broken hypervisor): then it uses another clock itself. */
static bool kernel_distrusts_counter(void)
{
    char name[32] = "";
    const int fd = open("/sys/devices/system/clocksource/clocksource0/"
                        "current_clocksource",
                        O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, name, sizeof(name) - 1);
    (void)close(fd);
    if (got <= 0)
        return false;
    return strncmp(name, "hpet", 4) == 0 || strncmp(name, "acpi_pm", 7) == 0 ||
           strncmp(name, "jiffies", 7) == 0;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Both clocks, with the least time between the two readings of several tries. */
struct tide_clock_point tide_clock_now(void)
{
    struct tide_clock_point best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIDE_TRIES; i++) {
        const uint64_t before = tide_ticks();
        const uint64_t ns = tide_ticks_monotonic();
        const uint64_t after = tide_ticks();
        if (after - before < least) {
            least = after - before;
            best.ticks = before + (after - before) / 2;
            best.ns = ns;
        }
    }
    return best;
}

void tide_clock_start(struct tide_clock *clock)
{
    tide_ticks_init(kernel_distrusts_counter() ? TIDE_TICKS_MONOTONIC
                                               : TIDE_TICKS_UNDECIDED);
    const struct tide_clock_point now = tide_clock_now();
    clock->start_ticks = now.ticks;
    clock->start_ns = now.ns;
    clock->start_unix_ns = read_clock(CLOCK_REALTIME);
    clock->start_boot_ns = read_clock(CLOCK_BOOTTIME);
}

uint64_t tide_clock_rate(const struct tide_clock *clock)
{
    if (tide_ticks_kind != TIDE_TICKS_COUNTER)
        return 1000000000u;
    struct tide_clock_point now = tide_clock_now();
    while (now.ns - clock->start_ns < TIDE_RATE_NS)
        now = tide_clock_now();
    const double ticks = (double)(now.ticks - clock->start_ticks);
    const double seconds = (double)(now.ns - clock->start_ns) / 1e9;
    return (uint64_t)(ticks / seconds + 0.5);
}

uint64_t tide_clock_unix_ns(const struct tide_clock *clock,
                            const struct tide_clock_point *point)
{
    return clock->start_unix_ns + (point->ns - clock->start_ns);
}

double tide_clock_began(const struct tide_clock *clock)
{
    return (double)clock->start_boot_ns / 1e9 - 0.02; /* counted in hundredths */
}
