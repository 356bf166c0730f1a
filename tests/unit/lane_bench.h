/* unit/lane_bench.h - the two ends of one lane, and everything that ever went in.
 *
 * For: test_lanes.c, test_lanes_hostile.c.
 */
#ifndef TIDE_UNIT_LANE_BENCH_H
#define TIDE_UNIT_LANE_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

static inline uint64_t any(struct bench *bench, uint64_t below)
{
    bench->seed ^= bench->seed << 13;
    bench->seed ^= bench->seed >> 7;
    bench->seed ^= bench->seed << 17;
    return bench->seed % below;
}

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
    struct bench *const bench = *state;
    tide_lane_free(bench->out);
    (void)munmap(bench->fake.segment, TIDE_FAKE_MAPPED);
    tide_share_free(bench->share);
    free(bench->truth);
    free(bench);
    return 0;
}

static inline uint64_t head_of(const struct bench *bench)
{
    return atomic_load(&bench->in.shared->head);
}

static inline size_t take(struct bench *bench)
{
    bench->looks.last_ticks = bench->looks.now_ticks;
    bench->looks.now_ticks = tide_ticks();
    bench->share->by_file = any(bench, 2);
    const size_t taken = tide_lane_take(bench->out, bench->share, &bench->looks);
    memmove(bench->heads + 1, bench->heads, 7 * sizeof(bench->heads[0]));
    bench->heads[0] = bench->out->end;
    return taken;
}

/* What was written since position BEFORE is in the ring, in one piece. */
static inline void remember(struct bench *bench, uint64_t before)
{
    const uint64_t length = head_of(bench) - before;
    assert_true(before + length <= TIDE_TRUTH_BYTES);
    memcpy(bench->truth + before, bench->in.ring + bench->in.pos - length, length);
}

static inline void put_record(struct bench *bench, size_t length)
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

static inline void put_reset(struct bench *bench)
{
    const uint64_t before = head_of(bench);
    assert_true(tide_fake_reset(&bench->in));
    bench->resets[bench->reset_count++ % 4096] = before;
    remember(bench, before);
}

static inline void check_bytes(const struct bench *bench)
{
    const struct tide_lane_copy *const lane = bench->out;
    assert_true(lane->start <= lane->coded && lane->coded <= lane->end);
    if (lane->end > lane->coded)
        assert_memory_equal(lane->bytes, bench->truth + lane->coded,
                            lane->end - lane->coded);
}

static inline void check_pending(const struct bench *bench)
{
    assert_null(bench->out->broken);
    check_bytes(bench);
}

static inline bool is_reset(const struct bench *bench, uint64_t position)
{
    for (size_t i = 0; i < bench->reset_count && i < 4096; i++) {
        if (bench->resets[i] == position)
            return true;
    }
    return false;
}

static inline bool was_head(const struct bench *bench, uint64_t position)
{
    for (size_t i = 0; i < 8; i++) {
        if (bench->heads[i] == position)
            return true;
    }
    return false;
}

/* Cut as WISH says; every chunk must be legal. */
static inline void cut(struct bench *bench, enum tide_cut_wish wish)
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
static inline void code(struct bench *bench)
{
    struct tide_lane_copy *const lane = bench->out;
    if (lane->end - lane->start > TIDE_ROWS_MAX)
        return;
    tide_lane_code(lane, lane->end);
    check_bytes(bench);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
