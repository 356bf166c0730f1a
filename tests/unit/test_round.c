/* unit/test_round.c - several lanes are coded and written at the same time. */
#include <signal.h>
#include <sys/resource.h>

#include "busy_lanes.h"
#include "collect/desks.h"
#include "collect/hands.h"

enum {
    TIDE_LANES = 20, /* more than there are desks */
    TIDE_MUCH = 200 * 1024,
    TIDE_PASSES = 40,
    TIDE_BAD = 3, /* a lane */
};

static int set_up(void **state)
{
    if (busy_set_up(state, TIDE_LANES))
        return -1;
    tide_bench.collector->hands = tide_hands_new(TIDE_HANDS_MOST);
    return tide_bench.collector->hands ? 0 : -1;
}

static int set_up_few(void **state)
{
    if (busy_set_up(state, TIDE_DESKS))
        return -1;
    tide_bench.collector->hands = tide_hands_new(1);
    return tide_bench.collector->hands ? 0 : -1;
}

static void all_came_but(uint32_t but)
{
    tide_bench_finish();
    for (uint32_t i = 0; i < busy.count; i++) {
        if (i != but)
            assert_int_equal(tide_bench.check.lanes[0][i].records,
                             busy.lanes[i].counter);
    }
}

static void lanes_of_any_fill_come_whole(void **state)
{
    (void)state;
    for (int pass = 0; pass < TIDE_PASSES; pass++) {
        for (uint32_t i = 0; i < busy.count; i++)
            busy_fill(&busy.lanes[i], tide_bench_any(TIDE_MUCH));
        assert_true(tide_drain_pass(tide_bench.collector));
        for (uint32_t i = 0; i < busy.count; i++)
            assert_false(busy_copy(i)->in_round);
    }
    all_came_but(UINT32_MAX);
}

/* Where there is a desk for each, all that was taken is coded in the pass. */
static void what_is_ready_is_done(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < busy.count; i++)
        busy_fill(&busy.lanes[i], TIDE_MUCH);
    assert_true(tide_drain_pass(tide_bench.collector));
    for (uint32_t i = 0; i < busy.count; i++)
        assert_int_equal(busy_copy(i)->coded, atomic_load(&busy.lanes[i].shared->head));
    all_came_but(UINT32_MAX);
}

static void notes_stand_before_events(void **state)
{
    (void)state;
    assert_true(tide_fake_put(&busy.notes, "\x7e\x03xyz", 5));
    for (int pass = 0; pass < TIDE_PASSES; pass++) {
        for (uint32_t i = 0; i < busy.count; i++)
            busy_fill(&busy.lanes[i], TIDE_MUCH);
        assert_true(tide_drain_pass(tide_bench.collector));
    }
    all_came_but(UINT32_MAX);
    for (uint32_t i = 0; i < busy.count; i++)
        assert_true(busy_chunks_before(TIDE_CHUNK_NOTES, 0, 0) <
                    busy_chunks_before(TIDE_CHUNK_EVENTS, i, 0));
}

static void one_who_writes_nonsense_harms_nobody_else(void **state)
{
    (void)state;
    static const uint64_t nonsense[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    uint64_t sound = 0;
    for (uint32_t i = 0; i < busy.count; i++) {
        busy_fill(&busy.lanes[i], TIDE_MUCH / 2);
        if (i == TIDE_BAD) {
            sound = busy.lanes[i].counter;
            assert_true(tide_fake_put(&busy.lanes[i], nonsense, sizeof(nonsense)));
        }
        busy_fill(&busy.lanes[i], TIDE_MUCH / 4);
    }
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_non_null(busy_copy(TIDE_BAD)->broken);
    all_came_but(TIDE_BAD);
    assert_int_equal(tide_bench.check.troubles, 1);
    /* What came before it is there. */
    assert_int_equal(tide_bench.check.lanes[0][TIDE_BAD].records, sound);
}

/* Rows of a lane that is a hand's are not added to. */
static bool looked;
static void look_between(void *context)
{
    (void)context;
    uint32_t in_round = 0;
    for (uint32_t i = 0; i < busy.count; i++) {
        if (!busy_copy(i)->in_round)
            continue;
        const uint64_t end = busy_copy(i)->end;
        in_round++;
        busy_fill(&busy.lanes[i], TIDE_RING_LARGE / 3);
        tide_drain_relieve(tide_bench.collector);
        assert_int_equal(busy_copy(i)->end, end);
        assert_int_equal(atomic_load(&busy.lanes[i].shared->tail), end);
    }
    looked |= in_round > 1;
    tide_writer_set_between(tide_bench.collector->writer, NULL, NULL);
}

static void what_a_hand_has_is_left_alone(void **state)
{
    (void)state;
    looked = false;
    for (int pass = 0; pass < TIDE_PASSES && !looked; pass++) {
        for (uint32_t i = 0; i < busy.count; i++)
            busy_fill(&busy.lanes[i], TIDE_RING_LARGE / 2);
        tide_writer_set_between(tide_bench.collector->writer, look_between, NULL);
        assert_true(tide_drain_pass(tide_bench.collector));
    }
    assert_true(looked);
    (void)tide_drain_pass(tide_bench.collector); /* what they got amid the last round */
    all_came_but(UINT32_MAX);
}

/* Where all was coded and the next row is a reset, a chunk ends, as it does without hands. */
static void a_reset_at_the_end_of_what_was_coded_is_a_cut(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < busy.count; i++) {
        busy.lanes[i].sync_every = UINT64_MAX;
        busy_fill(&busy.lanes[i], TIDE_MUCH);
    }
    assert_true(tide_drain_pass(tide_bench.collector));
    for (uint32_t i = 0; i < busy.count; i++) {
        assert_int_equal(busy_copy(i)->coded, atomic_load(&busy.lanes[i].shared->head));
        assert_true(tide_fake_reset(&busy.lanes[i]));
        busy_fill(&busy.lanes[i], TIDE_MUCH / 4);
    }
    assert_true(tide_drain_pass(tide_bench.collector));
    for (uint32_t i = 0; i < busy.count; i++) {
        assert_int_equal(busy_copy(i)->start, busy.lanes[i].reset_at);
        assert_true(busy_copy(i)->from_reset);
    }
    all_came_but(UINT32_MAX);
}

/* While the drain thread compresses, the ring of a lane that no hand has fills up. */
static bool relieved;
static void fill_between(void *context)
{
    struct tide_fake_lane *const lane = &busy.lanes[0];
    (void)context;
    if (relieved)
        return;
    busy_fill(lane, TIDE_RING_LARGE / 3);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(atomic_load(&lane->shared->tail),
                     atomic_load(&lane->shared->head));
    relieved = true;
}

static void relieved_amid_chunks_of(uint32_t lanes)
{
    relieved = false;
    for (int pass = 0; pass < TIDE_PASSES && !relieved; pass++) {
        for (uint32_t i = 0; i < lanes; i++)
            busy_fill(&busy.lanes[i], TIDE_RING_LARGE / 3);
        tide_writer_set_between(tide_bench.collector->writer, fill_between, NULL);
        assert_true(tide_drain_pass(tide_bench.collector));
    }
    assert_true(relieved);
    (void)tide_drain_pass(tide_bench.collector);
    all_came_but(UINT32_MAX);
}

static void one_lane_alone_is_relieved(void **state)
{
    (void)state;
    relieved_amid_chunks_of(1);
}

static int set_up_without(void **state)
{
    if (busy_set_up(state, 2))
        return -1;
    tide_bench.collector->hands = tide_hands_new(0);
    return tide_bench.collector->hands ? 0 : -1;
}

static void where_no_thread_can_be_had_lanes_are_relieved(void **state)
{
    (void)state;
    relieved_amid_chunks_of(2);
}

static void a_full_disk_stops_it(void **state)
{
    (void)state;
    struct rlimit before, tight = {.rlim_cur = 64 * 1024};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int pass = 0; pass < TIDE_PASSES; pass++) {
        for (uint32_t i = 0; i < busy.count; i++)
            busy_fill(&busy.lanes[i], TIDE_MUCH);
        assert_true(tide_drain_pass(tide_bench.collector));
        /* Nobody has to wait for it. */
        for (uint32_t i = 0; i < busy.count; i++)
            assert_int_equal(atomic_load(&busy.lanes[i].shared->tail),
                             atomic_load(&busy.lanes[i].shared->head));
    }
    assert_true(tide_bench.collector->stopped);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    tide_bench_finish(); /* every chunk in it is whole */
    assert_true(tide_bench.check.chunks > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lanes_of_any_fill_come_whole, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(what_is_ready_is_done, set_up_few,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(notes_stand_before_events, set_up,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(one_who_writes_nonsense_harms_nobody_else,
                                        set_up, busy_tear_down),
        cmocka_unit_test_setup_teardown(what_a_hand_has_is_left_alone, set_up_few,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(a_reset_at_the_end_of_what_was_coded_is_a_cut,
                                        set_up_few, busy_tear_down),
        cmocka_unit_test_setup_teardown(one_lane_alone_is_relieved, set_up_few,
                                        busy_tear_down),
        cmocka_unit_test_setup_teardown(where_no_thread_can_be_had_lanes_are_relieved,
                                        set_up_without, busy_tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_stops_it, set_up, busy_tear_down),
    };
    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
