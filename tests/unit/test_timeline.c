/* tests/unit/test_timeline.c - the heap over time, against a heap that is replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/timeline.h"

enum { TIDE_TEST_EVENTS = 3000, TIDE_TEST_START = 1000 };

/* Event i sets the heap to levels[i]. */
static uint64_t levels[TIDE_TEST_EVENTS];
static struct tide_event events[TIDE_TEST_EVENTS];

static void enter(struct tide_watermark *water, const struct tide_event *first,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        water->bytes = levels[first - events + (ptrdiff_t)i];
        (void)tide_water_check(water, first[i].ticks);
    }
}

static uint32_t run(uint64_t end, size_t batch, uint64_t *heights)
{
    struct tide_timeline timeline;
    struct tide_watermark water = {0};
    tide_timeline_begin(&timeline, TIDE_TEST_START, end);
    for (size_t at = 0; at < TIDE_TEST_EVENTS;) {
        const size_t rest = TIDE_TEST_EVENTS - at;
        const size_t some = tide_timeline_next(&timeline, &water, events + at,
                                               rest < batch ? rest : batch);
        enter(&water, events + at, some);
        tide_timeline_note(&timeline, &water);
        at += some;
    }
    return tide_timeline_end(&timeline, &water, heights);
}

/* The highest level in [from, to), counting what stood when it began. */
static uint64_t highest(uint64_t from, uint64_t to)
{
    uint64_t best = 0;
    for (size_t i = 0; i < TIDE_TEST_EVENTS && events[i].ticks < to; i++) {
        if (events[i].ticks < from || levels[i] > best)
            best = levels[i];
    }
    return best;
}

static void every_stretch_knows_its_highest_moment(void **state)
{
    (void)state;
    static const size_t batches[] = {1, 7, 512};
    for (unsigned seed = 1; seed < 30; seed++) {
        uint64_t ticks = TIDE_TEST_START, heights[TIDE_TIMELINE_POINTS];
        uint64_t random = seed;
        for (size_t i = 0; i < TIDE_TEST_EVENTS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            ticks += (random >> 40) % (seed % 3 ? 20 : 900);
            levels[i] = (random >> 33) % 100000;
            events[i].ticks = ticks;
        }
        const uint64_t end = ticks + random % 5000 + 1;
        const uint32_t count = run(end, batches[seed % 3], heights);
        assert_int_equal(count, TIDE_TIMELINE_POINTS);
        const uint64_t step = (end - TIDE_TEST_START) / TIDE_TIMELINE_POINTS + 1;
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(heights[i], highest(TIDE_TEST_START + i * step,
                                                 TIDE_TEST_START + (i + 1) * step));
    }
}

static void a_run_without_length_has_no_timeline(void **state)
{
    (void)state;
    uint64_t heights[TIDE_TIMELINE_POINTS];
    assert_int_equal(run(TIDE_TEST_START, 512, heights), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stretch_knows_its_highest_moment),
        cmocka_unit_test(a_run_without_length_has_no_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
