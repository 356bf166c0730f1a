/* unit/test_envelope.c - the envelope of all lanes, against a table of all moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/envelope.h"

enum { TIDE_TEST_LANES = 7, TIDE_TEST_SPANS = 6000 };

/* What is known of the stretch that each lane is in at each moment. */
struct table {
    int64_t highest[TIDE_TEST_SPANS][TIDE_TEST_LANES];
    int64_t most[TIDE_TEST_SPANS][TIDE_TEST_LANES];
};

struct run {
    struct tide_stretch lane[TIDE_TEST_LANES];
    size_t opened[TIDE_TEST_LANES]; /* moment at which its stretch began, + 1 */
    struct tide_envelope envelope;
    struct table *table;
    uint64_t random;
};

static struct tide_stretches stretches(struct run *run)
{
    return (struct tide_stretches){run->lane, sizeof(run->lane[0])};
}

/* The lane's stretch is over at MOMENT: fill it in for all moments it was there. */
static void write_down(struct run *run, uint32_t lane, size_t moment)
{
    if (!run->opened[lane])
        return;
    for (size_t i = run->opened[lane] - 1; i < moment; i++) {
        run->table->highest[i][lane] = run->lane[lane].highest;
        run->table->most[i][lane] = run->lane[lane].most;
    }
}

/* LANE goes into a stretch at MOMENT and does a few things in it. */
static void go_into_stretch(struct run *run, uint32_t lane, size_t moment)
{
    struct tide_stretch *stretch = &run->lane[lane];
    uint64_t sizes[8], promised = 0;
    const size_t count = any_below(&run->random, 8);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = any_below(&run->random, 100);
        promised += sizes[i];
    }
    write_down(run, lane, moment);
    tide_envelope_close(&run->envelope, stretches(run), lane);
    tide_stretch_next(stretch, (struct tide_span){moment + 1, UINT64_MAX, promised});
    tide_envelope_open(&run->envelope, stretches(run), lane);
    run->opened[lane] = moment + 1;
    for (size_t i = 0; i < count; i++) {
        tide_stretch_rise(stretch, sizes[i]);
        if (any_below(&run->random, 2))
            tide_stretch_fall(stretch, any_below(&run->random, 200));
    }
}

/* The largest of the sums over lanes. */
static int64_t highest_sum(int64_t (*rows)[TIDE_TEST_LANES])
{
    int64_t highest = 0;
    for (size_t i = 0; i < TIDE_TEST_SPANS; i++) {
        int64_t sum = 0;
        for (size_t lane = 0; lane < TIDE_TEST_LANES; lane++)
            sum += rows[i][lane];
        highest = sum > highest ? sum : highest;
    }
    return highest;
}

/* IDLE lanes go into a new stretch once in two thousand times only. */
static struct run *make_run(uint64_t seed, uint32_t idle)
{
    const struct tide_watermark water = {0};
    struct run *run = calloc(1, sizeof(*run));
    run->table = calloc(1, sizeof(*run->table));
    run->random = seed;
    assert_int_equal(tide_envelope_init(&run->envelope), TIDE_OK);
    for (size_t i = 0; i < TIDE_TEST_LANES; i++)
        tide_stretch_begin(&run->lane[i], &water);
    for (size_t moment = 0; moment < TIDE_TEST_SPANS; moment++) {
        const bool wake =
            moment < TIDE_TEST_LANES || any_below(&run->random, 2000) == 0;
        const uint32_t lane =
            (uint32_t)(wake ? moment % TIDE_TEST_LANES
                            : idle + any_below(&run->random, TIDE_TEST_LANES - idle));
        go_into_stretch(run, lane, moment);
    }
    for (uint32_t lane = 0; lane < TIDE_TEST_LANES; lane++)
        write_down(run, lane, TIDE_TEST_SPANS);
    return run;
}

static void free_run(struct run *run)
{
    tide_envelope_release(&run->envelope);
    free(run->table);
    free(run);
}

static void is_exact_when_no_lane_is_idle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run *run = make_run(seed, 0);
        assert_int_equal(tide_envelope_finish(&run->envelope, stretches(run)),
                         highest_sum(run->table->highest));
        free_run(run);
    }
}

static void errs_upwards_when_lanes_are_idle(void **state)
{
    (void)state;
    uint64_t met = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run *run = make_run(seed, 5);
        const int64_t found =
            (int64_t)tide_envelope_finish(&run->envelope, stretches(run));
        assert_true(found >= highest_sum(run->table->highest));
        assert_true(found <= highest_sum(run->table->most));
        met += found > highest_sum(run->table->highest);
        free_run(run);
    }
    assert_true(met > 0);
}

static void lets_ended_lanes_fall_to_nothing(void **state)
{
    (void)state;
    const struct tide_watermark water = {0};
    struct tide_stretch lane[2];
    const struct tide_stretches all = {lane, sizeof(lane[0])};
    struct tide_envelope envelope;
    assert_int_equal(tide_envelope_init(&envelope), TIDE_OK);
    for (uint32_t i = 0; i < 2; i++) {
        tide_stretch_begin(&lane[i], &water);
        tide_envelope_close(&envelope, all, i);
        tide_stretch_next(&lane[i], (struct tide_span){10 + i * 10, UINT64_MAX, 100});
        tide_envelope_open(&envelope, all, i);
        tide_stretch_rise(&lane[i], 100);
        if (i == 0) {
            tide_envelope_close(&envelope, all, 0);
            tide_stretch_empty(&lane[0], 15, true);
            tide_envelope_drop(&envelope, all, tide_envelope_leave(all, 0), 15);
        }
    }
    assert_int_equal(tide_envelope_finish(&envelope, all), 100);
    tide_envelope_release(&envelope);
}

/* One lane makes, the other frees: never more than 100 stand, also where both end. */
static void lanes_of_a_process_go_at_once(void **state)
{
    (void)state;
    const struct tide_watermark water = {0};
    struct tide_stretch lane[2];
    const struct tide_stretches all = {lane, sizeof(lane[0])};
    struct tide_envelope envelope;
    int64_t height = 0;
    assert_int_equal(tide_envelope_init(&envelope), TIDE_OK);
    tide_stretch_begin(&lane[0], &water);
    tide_stretch_begin(&lane[1], &water);
    for (uint64_t ticks = 10; ticks < 30; ticks++) {
        const uint32_t at = ticks % 2;
        tide_envelope_close(&envelope, all, at);
        tide_stretch_next(&lane[at], (struct tide_span){ticks, ticks + 2, 100});
        tide_envelope_open(&envelope, all, at);
        if (at == 0)
            tide_stretch_rise(&lane[0], 100);
        else
            tide_stretch_fall(&lane[1], 100);
    }
    for (uint32_t i = 0; i < 2; i++) {
        tide_envelope_close(&envelope, all, i);
        tide_stretch_empty(&lane[i], 40, true);
        height += tide_envelope_leave(all, i);
    }
    tide_envelope_drop(&envelope, all, height, 40);
    assert_in_range(tide_envelope_finish(&envelope, all), 100, 300);
    tide_envelope_release(&envelope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_of_a_process_go_at_once),
        cmocka_unit_test(is_exact_when_no_lane_is_idle),
        cmocka_unit_test(errs_upwards_when_lanes_are_idle),
        cmocka_unit_test(lets_ended_lanes_fall_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
