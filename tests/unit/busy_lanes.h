/* unit/busy_lanes.h - one target with several lanes that have large rings.
 *
 * For: test_relief.c, test_pool.c.  The collector is in this process, with nobody to drain but
 * the test; so is the target, so that it can write at any moment.
 */
#ifndef TIDE_UNIT_BUSY_LANES_H
#define TIDE_UNIT_BUSY_LANES_H

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

static struct {
    struct tide_share *share;
    struct tide_fake fake;
    struct tide_fake_lane notes, lanes[TIDE_CHECK_LANES];
    uint32_t count;
} busy;

static inline bool busy_claim(uint32_t number)
{
    struct tide_fake_lane *const lane = &busy.lanes[number];
    return tide_fake_claim(&busy.fake, lane, TIDE_LANE_EVENTS, number) &&
           tide_fake_move(lane, TIDE_RING_LARGE);
}

static inline int busy_set_up(void **state, uint32_t lanes)
{
    int peer;
    if (tide_bench_set_up(state) || tide_share_create(&busy.share, &peer))
        return -1;
    busy.share->pid = (uint32_t)getpid();
    busy.count = lanes;
    /* Nobody serves growth while the fake waits, so have it before. */
    atomic_store(&busy.share->shared->wanted,
                 (1u << 20) + lanes * (uint64_t)(TIDE_RING_SMALL + TIDE_RING_LARGE));
    if (!tide_share_grow(busy.share) || !tide_fake_map(&busy.fake, peer))
        return -1;
    (void)close(peer);
    busy.fake.pid = (uint32_t)getpid();
    busy.fake.birth = tide_ticks();
    tide_bench.collector->new_shares = busy.share;
    bool claimed = tide_fake_claim(&busy.fake, &busy.notes, TIDE_LANE_NOTES, 0);
    for (uint32_t i = 0; i < lanes && claimed; i++)
        claimed = busy_claim(i);
    return claimed ? 0 : -1;
}

static inline int busy_tear_down(void **state)
{
    (void)munmap(busy.fake.segment, TIDE_FAKE_MAPPED);
    return tide_bench_tear_down(state);
}

/* The collector's end of lane NUMBER: notes have the first entry of the directory. */
static inline struct tide_lane_copy *busy_copy(uint32_t number)
{
    return busy.share->lanes[number + 1];
}

static inline void busy_fill(struct tide_fake_lane *lane, size_t bytes)
{
    const uint64_t end = atomic_load(&lane->shared->head) + bytes;
    while (atomic_load(&lane->shared->head) < end) {
        assert_true(tide_fake_has_room(lane, 2 * TIDE_FAKE_RECORD_MAX));
        assert_true(tide_fake_record(lane, 1000));
    }
}

/* How many chunks are in the file before the first one of notes, or before chunk SEQUENCE of
 * the lane NUMBER when events are asked for. */
static inline size_t busy_chunks_before(uint32_t kind, uint32_t number,
                                        uint32_t sequence)
{
    FILE *const file = fopen(tide_bench.path, "r");
    struct tide_format_chunk chunk;
    assert_non_null(file);
    assert_int_equal(fseek(file, sizeof(struct tide_format_header), SEEK_SET), 0);
    for (size_t i = 0; fread(&chunk, sizeof(chunk), 1, file) == 1; i++) {
        if (chunk.kind == kind &&
            (kind == TIDE_CHUNK_NOTES ||
             (chunk.lane == number && chunk.sequence == sequence))) {
            (void)fclose(file);
            return i;
        }
        assert_int_equal(fseek(file, chunk.stored_bytes, SEEK_CUR), 0);
    }
    (void)fclose(file);
    fail();
    return 0;
}

#endif
