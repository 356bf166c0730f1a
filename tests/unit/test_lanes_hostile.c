/* unit/test_lanes_hostile.c - the consumer's end of a lane whose producer keeps no rules. */
#include "lane_bench.h"

/* The lane is closed, nothing of it is believed, and its owner is not kept waiting. */
static void expect_broken(struct bench *bench)
{
    const uint64_t kept = bench->out->end;
    assert_int_equal(take(bench), 0);
    assert_non_null(bench->out->broken);
    assert_int_equal(bench->out->end, kept);
    assert_int_equal(atomic_load(&bench->in.shared->tail), head_of(bench));
    atomic_fetch_add(&bench->in.shared->head, 12345);
    atomic_store(&bench->in.shared->waiting, 1);
    assert_int_equal(take(bench), 0);
    assert_int_equal(atomic_load(&bench->in.shared->tail), head_of(bench));
    assert_int_equal(atomic_load(&bench->in.shared->waiting), 0);
    cut(bench, TIDE_CUT_ALL); /* what came before is good */
}

static void start_well(struct bench *bench)
{
    put_reset(bench);
    put_record(bench, 500);
    assert_true(take(bench) > 500);
}

static void a_head_that_runs_backwards_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    start_well(bench);
    atomic_store(&bench->in.shared->head, 10);
    expect_broken(bench);
}

static void a_head_too_far_ahead_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    start_well(bench);
    atomic_fetch_add(&bench->in.shared->head, TIDE_RING_SMALL);
    expect_broken(bench);
}

static void a_head_past_the_ring_without_a_wrap_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    start_well(bench);
    atomic_fetch_add(&bench->in.shared->head, bench->in.ring_bytes - 100);
    expect_broken(bench);
}

static void a_ring_outside_the_segment_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    static const uint64_t places[] = {0, 64, UINT64_MAX, UINT64_MAX - 4096, 1ull << 40};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        tide_lane_adopt(bench->out, bench->in.shared, NULL, 1);
        atomic_store(&bench->in.shared->ring_offset, places[i]);
        atomic_fetch_add(&bench->in.shared->ring_changes, 1);
        atomic_fetch_add(&bench->in.shared->head, 100);
        bench->heads[0] = bench->out->end;
        expect_broken(bench);
    }
}

static void a_ring_of_senseless_size_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    static const uint32_t sizes[] = {0, 1, TIDE_CHUNK_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        tide_lane_adopt(bench->out, bench->in.shared, NULL, 1);
        atomic_store(&bench->in.shared->ring_bytes, sizes[i]);
        atomic_fetch_add(&bench->in.shared->ring_changes, 1);
        atomic_fetch_add(&bench->in.shared->head, 100);
        bench->heads[0] = bench->out->end;
        expect_broken(bench);
    }
}

static void an_unknown_use_closes_the_lane(void **state)
{
    struct bench *const bench = *state;
    bench->in.shared->use = 77;
    tide_lane_adopt(bench->out, bench->in.shared, NULL, 1);
    assert_non_null(bench->out->broken);
}

/* Where positions begin anew, nothing is above them, and no chunk would ever end. */
static void a_lane_that_begins_at_the_end_of_numbers_takes_no_memory(void **state)
{
    struct bench *const bench = *state;
    struct tide_lane_copy *const lane = bench->out;
    const uint64_t begin = UINT64_MAX - 4095;
    atomic_store(&bench->in.shared->tail, begin);
    atomic_store(&bench->in.shared->head, begin);
    tide_lane_adopt(lane, bench->in.shared, NULL, 1);
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&bench->in.shared->head, TIDE_RING_SMALL / 2);
        atomic_store(&bench->in.shared->wrap, head_of(bench) - TIDE_RING_SMALL / 2);
        (void)take(bench);
        const uint64_t end = tide_lane_cut(lane, TIDE_CUT_ALL);
        if (end > lane->start)
            tide_lane_drop(lane, end);
        assert_true(lane->end - lane->start <= 2 * TIDE_ROWS_MAX);
    }
    assert_non_null(lane->broken);
}

static void senseless_resets_are_not_believed(void **state)
{
    struct bench *const bench = *state;
    struct tide_lane_shared *const shared = bench->in.shared;
    bench->seed = 13;
    for (int i = 0; i < 2000; i++) {
        if (!tide_fake_has_room(&bench->in, 100))
            (void)take(bench);
        put_record(bench, 100);
        for (int k = 0; k < TIDE_SYNC_KEPT; k++)
            atomic_store(&shared->reset_at[k], any(bench, 3)
                                                   ? bench->seed
                                                   : head_of(bench) + any(bench, 999));
        atomic_store(&shared->resets, (uint32_t)any(bench, UINT32_MAX));
        (void)take(bench);
        check_pending(bench);
        const uint64_t end =
            tide_lane_cut(bench->out, (enum tide_cut_wish)any(bench, 3));
        assert_in_range(end, bench->out->start, bench->out->end);
        assert_true(end - bench->out->start <= TIDE_CHUNK_MAX);
        if (end > bench->out->start)
            tide_lane_drop(bench->out, end);
    }
}

/* Any header at all: no crash, no read outside (the address sanitizer looks on). */
static void random_headers_do_no_harm(void **state)
{
    struct bench *const bench = *state;
    uint64_t *const words = (uint64_t *)(void *)bench->in.shared;
    bench->seed = 17;
    for (int i = 0; i < 20000; i++) {
        const uint64_t word = any(bench, sizeof(struct tide_lane_shared) / 8);
        static const unsigned shifts[] = {0, 16, 32, 40, 48, 52, 56, 60};
        words[word] = any(bench, UINT64_MAX) >> shifts[any(bench, 8)];
        if (bench->out->broken || any(bench, 50) == 0) {
            bench->out->end = bench->out->coded = bench->out->start;
            tide_lane_adopt(bench->out, bench->in.shared, NULL, 1);
        }
        (void)tide_lane_take(bench->out, bench->share, &bench->looks);
        const uint64_t end =
            tide_lane_cut(bench->out, (enum tide_cut_wish)any(bench, 3));
        if (end > bench->out->start)
            tide_lane_drop(bench->out, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(a_head_that_runs_backwards_closes_the_lane),
        WITH_BENCH(a_head_too_far_ahead_closes_the_lane),
        WITH_BENCH(a_head_past_the_ring_without_a_wrap_closes_the_lane),
        WITH_BENCH(a_ring_outside_the_segment_closes_the_lane),
        WITH_BENCH(a_ring_of_senseless_size_closes_the_lane),
        WITH_BENCH(an_unknown_use_closes_the_lane),
        WITH_BENCH(a_lane_that_begins_at_the_end_of_numbers_takes_no_memory),
        WITH_BENCH(senseless_resets_are_not_believed),
        WITH_BENCH(random_headers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
