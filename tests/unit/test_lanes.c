/* unit/test_lanes.c - the consumer's end of a lane, against a producer of our own. */
#include "lane_bench.h"

static void produce(struct bench *bench)
{
    const size_t longest = any(bench, 8) ? 60 : TIDE_FAKE_RECORD_MAX;
    for (uint64_t n = any(bench, 3000); n > 0; n--) {
        const size_t length = 2 + (size_t)any(bench, longest - 2);
        if (!tide_fake_has_room(&bench->in, length + 64))
            return;
        const bool due = head_of(bench) - bench->in.reset_at >= TIDE_SYNC_BYTES;
        if (due || any(bench, 2000) == 0)
            put_reset(bench);
        put_record(bench, length);
    }
}

static void relieve(struct bench *bench)
{
    if (tide_lane_relieve(bench->out, bench->share, &bench->looks) > 0)
        bench->heads[0] = bench->out->end;
}

static void step(struct bench *bench)
{
    produce(bench);
    if (any(bench, 4))
        (void)take(bench);
    produce(bench);
    relieve(bench);
    check_pending(bench);
    cut(bench, any(bench, 9) ? TIDE_CUT_LARGE : (enum tide_cut_wish)any(bench, 3));
    if (any(bench, 3) == 0)
        code(bench);
    const uint64_t tail = atomic_load(&bench->in.shared->tail);
    if (tail == head_of(bench) && any(bench, 20) == 0)
        assert_true(tide_fake_move(&bench->in, 20000 + (uint32_t)any(bench, 200000)));
}

static void every_byte_comes_out_in_order_and_cuts_are_legal(void **state)
{
    struct bench *const bench = *state;
    for (uint64_t seed = 1; head_of(bench) + (1u << 20) < TIDE_TRUTH_BYTES; seed++) {
        bench->seed = seed * 2654435761u;
        step(bench);
        if (atomic_load(&bench->share->shared->taken) + (1u << 20) >
            bench->share->bytes)
            break; /* moved often enough */
    }
    (void)take(bench);
    cut(bench, TIDE_CUT_ALL);
    assert_true(bench->out->end > 1u << 20);
    assert_int_equal(bench->out->end, head_of(bench));
    assert_int_equal(atomic_load(&bench->in.shared->tail), head_of(bench));
}

static void a_whole_lap_between_two_looks_is_seen(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 7;
    put_reset(bench);
    while (bench->in.pos + 104 <= bench->in.ring_bytes)
        put_record(bench, 104);
    (void)take(bench); /* everything: the next record wraps where we stand */
    const uint64_t here = bench->out->end;
    while (tide_fake_has_room(&bench->in, 104))
        put_record(bench, 104);
    assert_int_equal(atomic_load(&bench->in.shared->wrap), here);
    (void)take(bench);
    check_pending(bench);
    assert_int_equal(bench->out->end, head_of(bench));
}

/* Take and cut when the ring is full, and code what is left, or not. */
static void fill_until(struct bench *bench, uint64_t end, bool coded)
{
    for (; head_of(bench) < end; put_record(bench, 50)) {
        if (tide_fake_has_room(&bench->in, 56))
            continue;
        (void)take(bench);
        cut(bench, TIDE_CUT_LARGE);
        assert_true(bench->out->end - bench->out->start < TIDE_CHUNK_ROWS);
        if (coded)
            code(bench);
    }
}

/* A lane that resets every TIDE_SYNC_BYTES has two or three chunks for each. */
static void a_hot_lane_is_cut_soon(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 99;
    assert_true(tide_fake_move(&bench->in, TIDE_RING_LARGE));
    for (int i = 0; i < 10; i++) {
        put_reset(bench);
        fill_until(bench, head_of(bench) + TIDE_SYNC_BYTES, i % 2);
    }
    assert_in_range(bench->out->sequence, 18, 30);
}

static void what_is_coded_is_not_cut_in_two(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 17;
    put_reset(bench);
    put_record(bench, 100);
    put_reset(bench);
    put_record(bench, 100);
    (void)take(bench);
    code(bench);
    assert_int_equal(tide_lane_cut(bench->out, TIDE_CUT_RESET), 0);
    const uint64_t here = head_of(bench);
    put_reset(bench);
    (void)take(bench);
    assert_int_equal(tide_lane_cut(bench->out, TIDE_CUT_RESET), here);
}

static void a_lane_without_resets_is_cut_at_heads(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 5;
    assert_true(tide_fake_move(&bench->in, TIDE_RING_LARGE));
    for (int i = 0; i < 80; i++) {
        while (tide_fake_has_room(&bench->in, 2000))
            put_record(bench, 2000);
        (void)take(bench);
        check_pending(bench);
        cut(bench, TIDE_CUT_LARGE);
    }
    assert_true(bench->out->sequence > 3);
}

static void a_reset_that_was_asked_for_ends_the_chunk(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 3;
    put_reset(bench);
    put_record(bench, 100);
    (void)take(bench);
    cut(bench, TIDE_CUT_LARGE);
    cut(bench, TIDE_CUT_RESET); /* there is none but the first */
    assert_int_equal(bench->out->start, 0);
    tide_lane_ask(bench->out, bench->share, TIDE_ATTENTION_SYNC);
    assert_int_equal(atomic_load(&bench->in.shared->attention), TIDE_ATTENTION_SYNC);
    const uint64_t here = head_of(bench);
    put_reset(bench);
    put_record(bench, 100);
    (void)take(bench);
    cut(bench, TIDE_CUT_RESET);
    assert_int_equal(bench->out->start, here);
}

static void more_resets_than_are_kept_do_no_harm(void **state)
{
    struct bench *const bench = *state;
    bench->seed = 11;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 30; i++) {
            put_reset(bench);
            put_record(bench, 20);
        }
        (void)take(bench);
        check_pending(bench);
        cut(bench, TIDE_CUT_RESET);
    }
    cut(bench, TIDE_CUT_ALL);
    assert_int_equal(bench->out->start, head_of(bench));
}

static void wakes_an_owner_who_waits(void **state)
{
    struct bench *const bench = *state;
    put_reset(bench);
    atomic_store(&bench->in.shared->waiting, 1);
    const uint32_t before = atomic_load(&bench->in.shared->drained);
    (void)take(bench);
    assert_int_equal(atomic_load(&bench->in.shared->waiting), 0);
    assert_int_equal(atomic_load(&bench->in.shared->drained), before + 1);
}

static void a_lane_given_back_begins_at_zero(void **state)
{
    struct bench *const bench = *state;
    put_reset(bench);
    (void)take(bench);
    cut(bench, TIDE_CUT_ALL);
    tide_lane_give_back(bench->out, bench->share);
    assert_int_equal(atomic_load(&bench->in.shared->state), TIDE_LANE_FREE);
    assert_int_equal(head_of(bench), 0);
    assert_true(tide_fake_claim(&bench->fake, &bench->in, TIDE_LANE_EVENTS, 0));
    tide_lane_adopt(bench->out, bench->in.shared, NULL, tide_ticks());
    bench->reset_count = 0;
    put_reset(bench);
    put_record(bench, 77);
    (void)take(bench);
    check_pending(bench);
    assert_int_equal(bench->out->sequence, 0);
    assert_int_equal(bench->out->end, head_of(bench));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(every_byte_comes_out_in_order_and_cuts_are_legal),
        WITH_BENCH(a_whole_lap_between_two_looks_is_seen),
        WITH_BENCH(a_hot_lane_is_cut_soon),
        WITH_BENCH(what_is_coded_is_not_cut_in_two),
        WITH_BENCH(a_lane_without_resets_is_cut_at_heads),
        WITH_BENCH(a_reset_that_was_asked_for_ends_the_chunk),
        WITH_BENCH(more_resets_than_are_kept_do_no_harm),
        WITH_BENCH(wakes_an_owner_who_waits),
        WITH_BENCH(a_lane_given_back_begins_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
