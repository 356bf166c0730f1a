/* unit/test_relief.c - what is taken while a chunk is compressed.
 *
 * The collector in this process, with nobody to drain but us; the target is in it as well, so
 * that it can write at the very moment between two columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "busy_lanes.h"

enum {
    TIDE_CHUNK_ROWS = 1024 * 1024, /* a chunk with so many is complete */
    TIDE_STEP = 64 * 1024,
    TIDE_RELIEF = 100 * 1024, /* more than a quarter of a ring, less than half */
};

static bool wrote;        /* between two columns */
static uint32_t sequence; /* chunks of the second lane before that */

static int set_up(void **state)
{
    wrote = false;
    return busy_set_up(state, 2);
}

static uint64_t pending(uint32_t number)
{
    const struct tide_lane_copy *const lane = busy_copy(number);
    return lane->end - lane->start;
}

/* Both lanes have nearly enough for a chunk. */
static void fill_both(void)
{
    do {
        busy_fill(&busy.lanes[0], TIDE_STEP);
        busy_fill(&busy.lanes[1], TIDE_STEP);
        assert_true(tide_drain_pass(tide_bench.collector));
    } while (pending(1) + TIDE_STEP + TIDE_FAKE_RECORD_MAX < TIDE_CHUNK_ROWS);
}

/* A note, and rows that may refer to it: they fill the second lane's chunk. */
static void write_between(void *context)
{
    (void)context;
    if (wrote)
        return;
    wrote = true;
    sequence = busy_copy(1)->sequence;
    assert_true(tide_fake_put(&busy.notes, "\x7e\x03xyz", 5));
    busy_fill(&busy.lanes[1], TIDE_RELIEF);
    const uint64_t head = atomic_load(&busy.lanes[1].shared->head);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(atomic_load(&busy.lanes[1].shared->tail), head);
}

static void rows_taken_between_columns_come_after_their_notes(void **state)
{
    (void)state;
    fill_both();
    busy_fill(&busy.lanes[0], 2 * TIDE_STEP);
    tide_writer_set_between(tide_bench.collector->writer, write_between, NULL);
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_true(wrote);
    /* They went out in the same pass. */
    assert_true(busy_copy(1)->sequence > sequence);
    assert_true(busy_chunks_before(TIDE_CHUNK_NOTES, 0, 0) <
                busy_chunks_before(TIDE_CHUNK_EVENTS, 1, sequence));
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][0].records, busy.lanes[0].counter);
    assert_int_equal(tide_bench.check.lanes[0][1].records, busy.lanes[1].counter);
}

/* Relief leaves alone what can wait, and does not count as a look of its own. */
static void relief_is_part_of_the_take_before(void **state)
{
    (void)state;
    fill_both();
    struct tide_lane_copy *const lane = busy_copy(1);
    const struct tide_lane_copy before = *lane;
    busy_fill(&busy.lanes[1], TIDE_RING_LARGE / 8);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, before.end);
    busy_fill(&busy.lanes[1], TIDE_RING_LARGE / 8);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, atomic_load(&busy.lanes[1].shared->head));
    assert_int_equal(lane->fresh, before.fresh);
    assert_int_equal(lane->fresh_ticks, before.fresh_ticks);
    assert_int_equal(lane->before_ticks, before.before_ticks);
    assert_true(lane->last_ticks > before.last_ticks);
}

/* One who is believed dead when he is quiet was not, when a pass takes long. */
static void relief_shows_that_a_target_is_not_quiet(void **state)
{
    (void)state;
    fill_both();
    const struct tide_lane_copy *const lane = busy_copy(1);
    struct tide_collector *const collector = tide_bench.collector;
    lane->owner->watch = TIDE_WATCH_QUIET;
    lane->owner->busy_ns = 0;
    busy_fill(&busy.lanes[1], TIDE_RELIEF);
    tide_drain_relieve(collector);
    tide_farewell(collector);
    assert_non_null(lane->owner);
    collector->looks.now_ns = tide_ticks_monotonic() + 2ull * 1000 * 1000 * 1000;
    tide_farewell(collector);
    assert_null(lane->owner);
}

/* Where lanes wait for desks, one that has rows to be coded keeps the rest in its ring. */
static void crowded_lanes_are_relieved_once(void **state)
{
    (void)state;
    fill_both();
    struct tide_desks *const desks = &tide_bench.collector->desks;
    const struct tide_lane_copy *const lane = busy_copy(1);
    const uint32_t count = desks->count;
    assert_int_equal(lane->coded, lane->end);
    busy_fill(&busy.lanes[1], TIDE_RELIEF);
    desks->count = TIDE_DESKS;
    tide_drain_relieve(tide_bench.collector);
    const uint64_t end = atomic_load(&busy.lanes[1].shared->head);
    assert_int_equal(lane->end, end);
    busy_fill(&busy.lanes[1], TIDE_RELIEF);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, end);
    desks->count = count;
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, atomic_load(&busy.lanes[1].shared->head));
}

/* Memory is short: what is in the rings stays there. */
static void relief_ends_where_buffers_have_their_share(void **state)
{
    (void)state;
    fill_both();
    const struct tide_lane_copy *const lane = busy_copy(1);
    const uint64_t end = lane->end, had = tide_bench.collector->pool_bytes;
    busy_fill(&busy.lanes[1], TIDE_RELIEF);
    tide_bench.collector->pool_bytes = TIDE_POOL_MOST + 1;
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, end);
    tide_bench.collector->pool_bytes = had;
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, atomic_load(&busy.lanes[1].shared->head));
}

/* However long it goes on, no more is taken than goes into a chunk. */
static void relief_ends_before_a_chunk_is_too_large(void **state)
{
    (void)state;
    fill_both();
    const struct tide_lane_copy *const lane = busy_copy(1);
    uint64_t end;
    do {
        end = lane->end;
        while (tide_fake_has_room(&busy.lanes[1], 2 * TIDE_FAKE_RECORD_MAX))
            busy_fill(&busy.lanes[1], 1);
        tide_drain_relieve(tide_bench.collector);
        assert_true(lane->end - lane->start <= TIDE_ROWS_MAX);
    } while (lane->end > end);
    assert_true(end - lane->start > TIDE_ROWS_MAX / 2);
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_null(lane->broken);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][1].records, busy.lanes[1].counter);
}

/* A ring may move whenever it is empty, to a larger one than relief has seen. */
static void a_ring_that_grows_amid_relief_makes_no_chunk_too_large(void **state)
{
    (void)state;
    fill_both();
    const struct tide_lane_copy *const lane = busy_copy(1);
    atomic_store(&busy.share->shared->wanted, 16u << 20);
    assert_true(tide_share_grow(busy.share));
    assert_true(tide_fake_move(&busy.lanes[1], TIDE_ROWS_MAX));
    busy.lanes[1].sync_every = UINT64_MAX; /* nowhere else to cut */
    busy_fill(&busy.lanes[1], TIDE_ROWS_MAX - 2 * TIDE_FAKE_RECORD_MAX);
    tide_drain_relieve(tide_bench.collector);
    assert_true(lane->end - lane->start <= TIDE_ROWS_MAX);
    (void)tide_drain_pass(tide_bench.collector);
    assert_null(lane->broken);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][1].records, busy.lanes[1].counter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            rows_taken_between_columns_come_after_their_notes, set_up, busy_tear_down),
        cmocka_unit_test_setup_teardown(relief_is_part_of_the_take_before, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(relief_shows_that_a_target_is_not_quiet, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(crowded_lanes_are_relieved_once, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(relief_ends_where_buffers_have_their_share,
                                        set_up, busy_tear_down),
        cmocka_unit_test_setup_teardown(relief_ends_before_a_chunk_is_too_large, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(
            a_ring_that_grows_amid_relief_makes_no_chunk_too_large, set_up,
            busy_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
