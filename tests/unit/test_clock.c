/* unit/test_clock.c - ticks in seconds and on the wall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collect/clock.h"

static uint64_t read_ns(clockid_t id)
{
    struct timespec now;
    assert_int_equal(clock_gettime(id, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double seconds_of(const struct tide_clock *clock, uint64_t ticks, uint64_t rate)
{
    return (double)(ticks - clock->start_ticks) / (double)rate;
}

static void the_rate_turns_ticks_into_seconds(void **state)
{
    (void)state;
    struct tide_clock clock;
    tide_clock_start(&clock);
    const uint64_t rough = tide_clock_rate(&clock); /* after a third of a millisecond */
    const uint64_t before = read_ns(CLOCK_MONOTONIC), first = tide_ticks();
    (void)usleep(100 * 1000);
    const uint64_t after = read_ns(CLOCK_MONOTONIC), last = tide_ticks();
    const uint64_t good = tide_clock_rate(&clock);
    const double truth = (double)(after - before) / 1e9;
    const double measured =
        seconds_of(&clock, last, good) - seconds_of(&clock, first, good);
    assert_true(measured > truth * 0.99 && measured < truth * 1.01);
    assert_true((double)rough > (double)good * 0.9 &&
                (double)rough < (double)good * 1.1);
}

static void points_lie_on_the_wall_clock(void **state)
{
    (void)state;
    struct tide_clock clock;
    tide_clock_start(&clock);
    const struct tide_clock_point now = tide_clock_now();
    const int64_t difference =
        (int64_t)(tide_clock_unix_ns(&clock, &now) - read_ns(CLOCK_REALTIME));
    assert_true(llabs(difference) < 100 * 1000 * 1000);
    assert_true(tide_clock_began(&clock) <= (double)read_ns(CLOCK_BOOTTIME) / 1e9);
}

static void both_kinds_of_ticks_rise(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {TIDE_TICKS_UNDECIDED, TIDE_TICKS_MONOTONIC};
    for (size_t k = 0; k < 2; k++) {
        tide_ticks_init(kinds[k]);
        assert_int_not_equal(tide_ticks_kind, TIDE_TICKS_UNDECIDED);
        uint64_t last = tide_ticks();
        for (int i = 0; i < 1000; i++) {
            const uint64_t now = tide_ticks();
            assert_true(now >= last);
            last = now;
        }
    }
    struct tide_clock clock;
    tide_ticks_init(TIDE_TICKS_MONOTONIC);
    clock.start_ticks = tide_ticks();
    assert_int_equal(tide_clock_rate(&clock), 1000000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_turns_ticks_into_seconds),
        cmocka_unit_test(points_lie_on_the_wall_clock),
        cmocka_unit_test(both_kinds_of_ticks_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
