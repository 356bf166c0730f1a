/* unit/test_lanes.c - the consumer's end of a lane, against a producer of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collect/lanes.h"
#include "collect/segment.h"
#include "fake_producer.h"
#include "trace/row.h"

enum {
    TIDE_TRUTH_BYTES = 24 * 1024 * 1024,
    TIDE_CHUNK_ROWS = 1024 * 1024, /* a chunk with so many is complete */
};

/* A segment with one lane, its two ends, and everything that ever went in. */
struct bench {
    struct tide_share *share;
    struct tide_fake fake;
    struct tide_fake_lane in;
    struct tide_lane_copy *out;
    uint8_t *truth;
    uint64_t resets[4096]; /* positions */
    size_t reset_count;
    uint64_t heads[8]; /* the newest that a take has seen */
    struct tide_looks looks;
    uint64_t seed;
};

static uint64_t any(struct bench *bench, uint64_t below)
{
    bench->seed ^= bench->seed << 13;
    bench->seed ^= bench->seed >> 7;
    bench->seed ^= bench->seed << 17;
    return bench->seed % below;
}

static int set_up(void **state)
{
    struct bench *const bench = calloc(1, sizeof(*bench));
    int peer;
    tide_ticks_init(TIDE_TICKS_UNDECIDED);
    if (!bench || tide_share_create(&bench->share, &peer))
        return -1;
    bench->truth = malloc(TIDE_TRUTH_BYTES);
    /* Nobody serves growth while the fake waits, so have it before. */
    atomic_store(&bench->share->shared->wanted, 8u << 20);
    if (!bench->truth || !tide_share_grow(bench->share) ||
        !tide_fake_map(&bench->fake, peer))
        return -1;
    (void)close(peer);
    bench->fake.pid = 1;
    if (!tide_fake_claim(&bench->fake, &bench->in, TIDE_LANE_EVENTS, 0))
        return -1;
    const uint64_t offset = atomic_load(&bench->share->shared->directory[0]);
    bench->out = tide_lane_new(offset);
    tide_lane_adopt(bench->out, bench->in.shared, NULL, tide_ticks());
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *const bench = *state;
    tide_lane_free(bench->out);
    (void)munmap(bench->fake.segment, TIDE_FAKE_MAPPED);
    tide_share_free(bench->share);
    free(bench->truth);
    free(bench);
    return 0;
}

static uint64_t head_of(const struct bench *bench)
{
    return atomic_load(&bench->in.shared->head);
}

static size_t take(struct bench *bench)
{
    bench->looks.last_ticks = bench->looks.now_ticks;
    bench->looks.now_ticks = tide_ticks();
    const size_t taken = tide_lane_take(bench->out, bench->share, &bench->looks);
    memmove(bench->heads + 1, bench->heads, 7 * sizeof(bench->heads[0]));
    bench->heads[0] = bench->out->end;
    return taken;
}

/* What was written since position BEFORE is in the ring, in one piece. */
static void remember(struct bench *bench, uint64_t before)
{
    const uint64_t length = head_of(bench) - before;
    assert_true(before + length <= TIDE_TRUTH_BYTES);
    memcpy(bench->truth + before, bench->in.ring + bench->in.pos - length, length);
}

static void put_record(struct bench *bench, size_t length)
{
    uint64_t record[TIDE_FAKE_RECORD_MAX / 8];
    const uint64_t before = head_of(bench);
    const size_t words = (length + 7) / 8;
    length = words * 8;
    record[0] = TIDE_ROW_HEAD(TIDE_OP_EXTRA, words - 1, 0);
    for (size_t i = 1; i < words && i < TIDE_FAKE_RECORD_MAX / 8; i++)
        record[i] = any(bench, 1u << 30);
    assert_true(tide_fake_has_room(&bench->in, length));
    assert_true(tide_fake_put(&bench->in, record, length));
    remember(bench, before);
}

static void put_reset(struct bench *bench)
{
    const uint64_t before = head_of(bench);
    assert_true(tide_fake_reset(&bench->in));
    bench->resets[bench->reset_count++ % 4096] = before;
    remember(bench, before);
}

static void check_bytes(const struct bench *bench)
{
    const struct tide_lane_copy *const lane = bench->out;
    assert_true(lane->start <= lane->coded && lane->coded <= lane->end);
    if (lane->end > lane->coded)
        assert_memory_equal(lane->bytes, bench->truth + lane->coded,
                            lane->end - lane->coded);
}

static void check_pending(const struct bench *bench)
{
    assert_null(bench->out->broken);
    check_bytes(bench);
}

static bool is_reset(const struct bench *bench, uint64_t position)
{
    for (size_t i = 0; i < bench->reset_count && i < 4096; i++) {
        if (bench->resets[i] == position)
            return true;
    }
    return false;
}

static bool was_head(const struct bench *bench, uint64_t position)
{
    for (size_t i = 0; i < 8; i++) {
        if (bench->heads[i] == position)
            return true;
    }
    return false;
}

/* Cut as WISH says; every chunk must be legal. */
static void cut(struct bench *bench, enum tide_cut_wish wish)
{
    struct tide_lane_copy *const lane = bench->out;
    uint64_t end;
    while ((end = tide_lane_cut(lane, wish)) > lane->start) {
        uint64_t ticks;
        assert_true(end >= lane->coded && end <= lane->end);
        assert_true(end - lane->start <= TIDE_CHUNK_MAX);
        assert_true(is_reset(bench, end) || was_head(bench, end));
        assert_int_equal(tide_lane_at_reset(lane, &ticks),
                         lane->coded < lane->end && is_reset(bench, lane->coded));
        const uint32_t sequence = lane->sequence;
        tide_lane_drop(lane, end);
        assert_int_equal(lane->start, end);
        assert_int_equal(lane->sequence, sequence + 1);
        check_bytes(bench);
    }
    assert_true(lane->end - lane->start <= TIDE_CHUNK_MAX);
    if (wish == TIDE_CUT_ALL)
        assert_int_equal(lane->start, lane->end);
}

/* What was taken becomes part of a chunk that will be cut later. */
static void code(struct bench *bench)
{
    struct tide_lane_copy *const lane = bench->out;
    if (lane->end - lane->start > TIDE_ROWS_MAX)
        return;
    tide_lane_code(lane, lane->end);
    check_bytes(bench);
}

/* --- A sound producer ----------------------------------------------------------------- */

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

static void step(struct bench *bench)
{
    produce(bench);
    if (any(bench, 4))
        (void)take(bench);
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

/* --- A hostile one -------------------------------------------------------------------- */

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

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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
        WITH_BENCH(a_head_that_runs_backwards_closes_the_lane),
        WITH_BENCH(a_head_too_far_ahead_closes_the_lane),
        WITH_BENCH(a_head_past_the_ring_without_a_wrap_closes_the_lane),
        WITH_BENCH(a_ring_outside_the_segment_closes_the_lane),
        WITH_BENCH(a_ring_of_senseless_size_closes_the_lane),
        WITH_BENCH(an_unknown_use_closes_the_lane),
        WITH_BENCH(senseless_resets_are_not_believed),
        WITH_BENCH(random_headers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
