/* unit/test_pool.c - many busy lanes, and memory for few. */
#include "busy_lanes.h"

enum {
    TIDE_LANES = 62,
    TIDE_MUCH =
        240 * 1024, /* nearly a ring: all lanes together have more than the pool */
    TIDE_BUFFER = 512 * 1024,
    TIDE_LITTLE = 6 * 1024,
    TIDE_SOME = 20,               /* lanes */
    TIDE_LATER = TIDE_LANES - 10, /* taken when the pool is full */
};

static size_t
    pool_most; /* in all buffers, the most that was seen between two columns */
static bool noted;

static uint64_t pool(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < busy.share->lane_count; i++)
        bytes += busy.share->lanes[i]->capacity;
    return bytes;
}

static void look_at_pool(void *context)
{
    (void)context;
    const uint64_t bytes = pool();
    if (bytes > pool_most)
        pool_most = bytes;
}

static int set_up(void **state)
{
    pool_most = 0;
    noted = false;
    return busy_set_up(state, TIDE_LANES);
}

static void fill_all(size_t bytes)
{
    for (uint32_t i = 0; i < busy.count; i++)
        busy_fill(&busy.lanes[i], bytes);
}

static void all_came(void)
{
    tide_bench_finish();
    for (uint32_t i = 0; i < busy.count; i++)
        assert_int_equal(tide_bench.check.lanes[0][i].records, busy.lanes[i].counter);
}

static void buffers_have_no_more_than_their_share(void **state)
{
    (void)state;
    tide_writer_set_between(tide_bench.collector->writer, look_at_pool, NULL);
    for (int i = 0; i < 4; i++) {
        fill_all(TIDE_MUCH);
        assert_true(tide_drain_pass(tide_bench.collector));
        look_at_pool(NULL);
        for (uint32_t k = 0; k < busy.count; k++)
            assert_int_equal(atomic_load(&busy.lanes[k].shared->tail),
                             atomic_load(&busy.lanes[k].shared->head));
    }
    assert_true(pool_most > TIDE_POOL_MOST / 2);
    assert_true(pool_most <= TIDE_POOL_MOST + TIDE_BUFFER);
    all_came();
}

/* The rows of those who have many become parts of chunks; the others keep theirs, but no
 * more memory than these need. */
static void lanes_with_little_keep_it(void **state)
{
    (void)state;
    fill_all(TIDE_MUCH);
    assert_true(tide_drain_pass(tide_bench.collector));
    fill_all(TIDE_LITTLE);
    for (uint32_t i = 0; i < TIDE_SOME; i++)
        busy_fill(&busy.lanes[i], TIDE_MUCH / 3);
    assert_true(tide_drain_pass(tide_bench.collector));
    uint64_t coded[TIDE_LANES];
    for (uint32_t i = 0; i < TIDE_LANES; i++)
        coded[i] = busy_copy(i)->coded;
    tide_outlet_ease(tide_bench.collector);
    for (uint32_t i = 0; i < TIDE_LANES; i++) {
        const struct tide_lane_copy *const lane = busy_copy(i);
        assert_int_equal(lane->coded, i < TIDE_SOME ? lane->end : coded[i]);
        assert_true(lane->capacity <= 2 * TIDE_LITTLE);
    }
    assert_int_equal(tide_bench.collector->pool_bytes, pool());
    all_came();
}

/* While the first lanes are written: a note, and rows of a lane that may refer to it.  From
 * here on each lane that is taken finds memory short, so that these are soon written too. */
static void write_between(void *context)
{
    (void)context;
    if (noted)
        return;
    noted = true;
    assert_null(busy_copy(TIDE_LATER)->bytes);
    assert_true(tide_fake_put(&busy.notes, "\x7e\x03xyz", 5));
    busy_fill(&busy.lanes[TIDE_LATER], TIDE_MUCH);
    tide_bench.collector->pool_bytes += 2 * TIDE_POOL_MOST;
}

static void rows_taken_after_a_note_come_after_it(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TIDE_LANES; i++) {
        if (i != TIDE_LATER)
            busy_fill(&busy.lanes[i], TIDE_MUCH);
    }
    tide_writer_set_between(tide_bench.collector->writer, write_between, NULL);
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_true(noted);
    assert_int_equal(busy_copy(TIDE_LATER)->sequence, 1); /* it left its desk */
    all_came();
    assert_true(busy_chunks_before(TIDE_CHUNK_NOTES, 0, 0) <
                busy_chunks_before(TIDE_CHUNK_EVENTS, TIDE_LATER, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(buffers_have_no_more_than_their_share, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(lanes_with_little_keep_it, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(rows_taken_after_a_note_come_after_it, set_up,
                                        busy_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
