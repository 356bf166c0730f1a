/* unit/test_growth.c - memory that grows is told from memory that a program builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/growth.h"

/* A model of 240 points over DURATION seconds, each as HEIGHT says of its place, 0 to 1. */
static struct tide_growth judge(double (*height)(double), double duration)
{
    static struct tide_model model;
    model = (struct tide_model){.duration_s = duration,
                                .timeline_count = TIDE_TIMELINE_POINTS};
    for (uint32_t i = 0; i < TIDE_TIMELINE_POINTS; i++)
        model.timeline[i] = (uint64_t)(height(i / (TIDE_TIMELINE_POINTS - 1.0)) * 1e6);
    return tide_growth_of(&model);
}

static double ramp(double at)
{
    return at;
}

/* It stands at its highest for most of the run. */
static double built(double at)
{
    return at < 0.2 ? at * 5 : 1;
}

static double steps(double at)
{
    return at < 0.45 ? 0.3 : at < 0.8 ? 0.6 : 1;
}

/* Up and down, with nothing kept. */
static double waves(double at)
{
    return (int)(at * 12) % 2 ? 1 : 0.2;
}

/* The same on ground that rises. */
static double rising_waves(double at)
{
    return at + ((int)(at * 24) % 2 ? 0.15 : 0);
}

static double ramp_and_fall(double at)
{
    return at < 0.9 ? at : 0.01;
}

static double slight(double at)
{
    return 1 + at / 10;
}

static void what_rises_all_the_time_grows(void **state)
{
    (void)state;
    const struct tide_growth growth = judge(ramp, 8);
    assert_true(growth.grows);
    assert_in_range(growth.from_bytes, 100000, 150000); /* an eighth of the run */
    assert_int_equal(growth.to_bytes, 1000000);
}

static void its_rate_needs_a_second(void **state)
{
    (void)state;
    const struct tide_growth growth = judge(ramp, 8);
    assert_in_range((uint64_t)growth.bytes_per_second, 120000,
                    130000); /* 1 MB in 8 s */
    assert_true(judge(ramp, 0.5).grows);
    assert_true(judge(ramp, 0.5).bytes_per_second <= 0);
}

static void waves_on_ground_that_rises_grow(void **state)
{
    (void)state;
    assert_true(judge(rising_waves, 8).grows);
}

static void what_is_freed_at_the_end_grew_until_then(void **state)
{
    (void)state;
    const struct tide_growth growth = judge(ramp_and_fall, 10);
    assert_true(growth.grows);
    assert_true(growth.to_s > 8.7 && growth.to_s < 9.1);
}

static void what_a_program_builds_does_not_grow(void **state)
{
    (void)state;
    assert_false(judge(built, 8).grows);
    assert_false(judge(steps, 8).grows);
    assert_false(judge(waves, 8).grows);
    assert_false(judge(slight, 8).grows);
}

static void a_curve_along_something_else_says_nothing(void **state)
{
    (void)state;
    static struct tide_model model;
    assert_false(tide_growth_of(&model).grows); /* no timeline */
    model.timeline_count = TIDE_TIMELINE_POINTS;
    model.duration_s = 8;
    for (uint32_t i = 0; i < TIDE_TIMELINE_POINTS; i++)
        model.timeline[i] = i;
    assert_true(tide_growth_of(&model).grows);
    model.axis = TIDE_AXIS_EVENTS;
    assert_false(tide_growth_of(&model).grows);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rises_all_the_time_grows),
        cmocka_unit_test(its_rate_needs_a_second),
        cmocka_unit_test(waves_on_ground_that_rises_grow),
        cmocka_unit_test(what_is_freed_at_the_end_grew_until_then),
        cmocka_unit_test(what_a_program_builds_does_not_grow),
        cmocka_unit_test(a_curve_along_something_else_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
