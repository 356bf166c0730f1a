/* unit/test_relief.c - what is taken while a chunk is compressed.
 *
 * The collector in this process, with nobody to drain but us; the target is in it as well, so
 * that it can write at the very moment between two columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collector_bench.h"

enum {
    TIDE_CHUNK_ROWS = 1024 * 1024, /* a chunk with so many is complete */
    TIDE_STEP = 64 * 1024,
    TIDE_RELIEF = 100 * 1024, /* more than a quarter of a ring, less than half */
    TIDE_FIRST = 1,           /* entries of the directory: notes are 0 */
    TIDE_SECOND = 2,
};

static struct {
    struct tide_share *share;
    struct tide_fake fake;
    struct tide_fake_lane notes, first, second;
    bool wrote;        /* between two columns */
    uint32_t sequence; /* chunks of the second lane before that */
} scene;

static void fill(struct tide_fake_lane *lane, size_t bytes)
{
    const uint64_t end = atomic_load(&lane->shared->head) + bytes;
    while (atomic_load(&lane->shared->head) < end) {
        assert_true(tide_fake_has_room(lane, 2 * TIDE_FAKE_RECORD_MAX));
        assert_true(tide_fake_record(lane, 1000));
    }
}

static int set_up(void **state)
{
    int peer;
    if (tide_bench_set_up(state) || tide_share_create(&scene.share, &peer))
        return -1;
    scene.share->pid = (uint32_t)getpid();
    atomic_store(&scene.share->shared->wanted, 4u << 20);
    if (!tide_share_grow(scene.share) || !tide_fake_map(&scene.fake, peer))
        return -1;
    (void)close(peer);
    scene.fake.pid = (uint32_t)getpid();
    scene.fake.birth = tide_ticks();
    scene.wrote = false;
    tide_bench.collector->new_shares = scene.share;
    return tide_fake_claim(&scene.fake, &scene.notes, TIDE_LANE_NOTES, 0) &&
                   tide_fake_claim(&scene.fake, &scene.first, TIDE_LANE_EVENTS, 0) &&
                   tide_fake_claim(&scene.fake, &scene.second, TIDE_LANE_EVENTS, 1) &&
                   tide_fake_move(&scene.first, TIDE_RING_LARGE) &&
                   tide_fake_move(&scene.second, TIDE_RING_LARGE)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)munmap(scene.fake.segment, TIDE_FAKE_MAPPED);
    return tide_bench_tear_down(state);
}

static uint64_t pending(uint32_t entry)
{
    const struct tide_lane_copy *const lane = scene.share->lanes[entry];
    return lane->end - lane->start;
}

/* Both lanes have nearly enough for a chunk. */
static void fill_both(void)
{
    do {
        fill(&scene.first, TIDE_STEP);
        fill(&scene.second, TIDE_STEP);
        assert_true(tide_drain_pass(tide_bench.collector));
    } while (pending(TIDE_SECOND) + TIDE_STEP + TIDE_FAKE_RECORD_MAX < TIDE_CHUNK_ROWS);
}

/* A note, and rows that may refer to it: they fill the second lane's chunk. */
static void write_between(void *context)
{
    (void)context;
    if (scene.wrote)
        return;
    scene.wrote = true;
    scene.sequence = scene.share->lanes[TIDE_SECOND]->sequence;
    assert_true(tide_fake_put(&scene.notes, "\x7e\x03xyz", 5));
    fill(&scene.second, TIDE_RELIEF);
    const uint64_t head = atomic_load(&scene.second.shared->head);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(atomic_load(&scene.second.shared->tail), head);
}

/* How many chunks are in the file before the one of notes, or before chunk SEQUENCE of the
 * second lane when that is asked for. */
static size_t chunks_before(uint32_t kind, uint32_t sequence)
{
    FILE *const file = fopen(tide_bench.path, "r");
    struct tide_format_chunk chunk;
    assert_non_null(file);
    assert_int_equal(fseek(file, sizeof(struct tide_format_header), SEEK_SET), 0);
    for (size_t i = 0; fread(&chunk, sizeof(chunk), 1, file) == 1; i++) {
        if (chunk.kind == kind && (kind == TIDE_CHUNK_NOTES ||
                                   (chunk.lane == 1 && chunk.sequence == sequence))) {
            (void)fclose(file);
            return i;
        }
        assert_int_equal(fseek(file, chunk.stored_bytes, SEEK_CUR), 0);
    }
    (void)fclose(file);
    fail();
    return 0;
}

static void rows_taken_between_columns_come_after_their_notes(void **state)
{
    (void)state;
    fill_both();
    fill(&scene.first, 2 * TIDE_STEP);
    tide_writer_set_between(tide_bench.collector->writer, write_between, NULL);
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_true(scene.wrote);
    /* They went out in the same pass. */
    assert_true(scene.share->lanes[TIDE_SECOND]->sequence > scene.sequence);
    assert_true(chunks_before(TIDE_CHUNK_NOTES, 0) <
                chunks_before(TIDE_CHUNK_EVENTS, scene.sequence));
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][0].records, scene.first.counter);
    assert_int_equal(tide_bench.check.lanes[0][1].records, scene.second.counter);
}

/* Relief leaves alone what can wait, and does not count as a look of its own. */
static void relief_is_part_of_the_take_before(void **state)
{
    (void)state;
    fill_both();
    struct tide_lane_copy *const lane = scene.share->lanes[TIDE_SECOND];
    const struct tide_lane_copy before = *lane;
    fill(&scene.second, TIDE_RING_LARGE / 8);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, before.end);
    fill(&scene.second, TIDE_RING_LARGE / 8);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, atomic_load(&scene.second.shared->head));
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
    const struct tide_lane_copy *const lane = scene.share->lanes[TIDE_SECOND];
    struct tide_collector *const collector = tide_bench.collector;
    lane->owner->watch = TIDE_WATCH_QUIET;
    lane->owner->busy_ns = 0;
    fill(&scene.second, TIDE_RELIEF);
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
    const struct tide_lane_copy *const lane = scene.share->lanes[TIDE_SECOND];
    const uint32_t count = desks->count;
    assert_int_equal(lane->coded, lane->end);
    fill(&scene.second, TIDE_RELIEF);
    desks->count = TIDE_DESKS;
    tide_drain_relieve(tide_bench.collector);
    const uint64_t end = atomic_load(&scene.second.shared->head);
    assert_int_equal(lane->end, end);
    fill(&scene.second, TIDE_RELIEF);
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, end);
    desks->count = count;
    tide_drain_relieve(tide_bench.collector);
    assert_int_equal(lane->end, atomic_load(&scene.second.shared->head));
}

/* However long it goes on, no more is taken than goes into a chunk. */
static void relief_ends_before_a_chunk_is_too_large(void **state)
{
    (void)state;
    fill_both();
    const struct tide_lane_copy *const lane = scene.share->lanes[TIDE_SECOND];
    uint64_t end;
    do {
        end = lane->end;
        while (tide_fake_has_room(&scene.second, 2 * TIDE_FAKE_RECORD_MAX))
            fill(&scene.second, 1);
        tide_drain_relieve(tide_bench.collector);
        assert_true(lane->end - lane->start <= TIDE_ROWS_MAX);
    } while (lane->end > end);
    assert_true(end - lane->start > TIDE_ROWS_MAX / 2);
    assert_true(tide_drain_pass(tide_bench.collector));
    assert_null(lane->broken);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][1].records, scene.second.counter);
}

/* A ring may move whenever it is empty, to a larger one than relief has seen. */
static void a_ring_that_grows_amid_relief_makes_no_chunk_too_large(void **state)
{
    (void)state;
    const struct tide_lane_copy *lane;
    fill_both();
    lane = scene.share->lanes[TIDE_SECOND];
    atomic_store(&scene.share->shared->wanted, 16u << 20);
    assert_true(tide_share_grow(scene.share));
    assert_true(tide_fake_move(&scene.second, TIDE_ROWS_MAX));
    scene.second.sync_every = UINT64_MAX; /* nowhere else to cut */
    fill(&scene.second, TIDE_ROWS_MAX - 2 * TIDE_FAKE_RECORD_MAX);
    tide_drain_relieve(tide_bench.collector);
    assert_true(lane->end - lane->start <= TIDE_ROWS_MAX);
    (void)tide_drain_pass(tide_bench.collector);
    assert_null(lane->broken);
    tide_bench_finish();
    assert_int_equal(tide_bench.check.lanes[0][1].records, scene.second.counter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            rows_taken_between_columns_come_after_their_notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(relief_is_part_of_the_take_before, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(relief_shows_that_a_target_is_not_quiet, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(crowded_lanes_are_relieved_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(relief_ends_before_a_chunk_is_too_large, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_ring_that_grows_amid_relief_makes_no_chunk_too_large, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
