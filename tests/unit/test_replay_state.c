/* unit/test_replay_state.c - a replay goes on where another one stood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "order_model.h"
#include "trace_rich.h"
#include "trace_walk.h"

/* Read COUNT events of REPLAY and compare them with EXPECTED. */
static void expect(struct tide_replay *replay, const struct tide_event *expected,
                   size_t count)
{
    for (size_t i = 0; i < count;) {
        struct tide_event events[20];
        size_t got;
        const size_t most = count - i < 20 ? count - i : 20;
        assert_int_equal(tide_replay_next(replay, events, most, &got), TIDE_OK);
        assert_true(got > 0);
        for (size_t j = 0; j < got; j++)
            if (!tide_walk_same(&events[j], &expected[i + j]))
                fail_msg("event %zu differs", i + j);
        i += got;
    }
}

/* Stop WALKED's trace after AT events, go on in a fresh replay. */
static void check_stop(struct tide_walked *walked, size_t at)
{
    struct tide_replay *first, *second;
    struct tide_text saved = {0};
    struct tide_event one;
    size_t count;
    assert_int_equal(tide_replay_open(walked->trace, &walked->stacks, &first), TIDE_OK);
    assert_int_equal(tide_replay_open(walked->trace, &walked->stacks, &second),
                     TIDE_OK);
    expect(first, walked->events, at);
    assert_int_equal(tide_replay_save(first, &saved), TIDE_OK);
    tide_replay_close(first);
    assert_int_equal(tide_replay_restore(second, saved.bytes, saved.length), TIDE_OK);
    expect(second, walked->events + at, walked->count - at);
    assert_int_equal(tide_replay_next(second, &one, 1, &count), TIDE_OK);
    assert_int_equal(count, 0);
    const struct tide_replay_counts *counts = tide_replay_counts(second);
    assert_int_equal(counts->events, walked->counts.events);
    assert_int_equal(counts->dropped, walked->counts.dropped);
    assert_int_equal(counts->cut_stacks, walked->counts.cut_stacks);
    assert_int_equal(counts->reordered, walked->counts.reordered);
    assert_int_equal(counts->lost_records, walked->counts.lost_records);
    tide_replay_close(second);
    tide_text_release(&saved);
}

static void goes_on_from_every_event_of_a_rich_trace(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_rich_trace(false);
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    for (size_t at = 0; at <= walked.count; at++)
        check_stop(&walked, at);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void goes_on_in_the_middle_of_random_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 80; seed++) {
        const struct tide_program_options options = {.seed = seed,
                                                     .threads = 1 + seed % 7,
                                                     .turns = 300,
                                                     .addresses = 4 + seed % 20,
                                                     .skew = seed % 2 ? 0 : 3000,
                                                     .kill = seed % 5 == 0};
        struct tide_history history;
        struct tide_walked walked;
        tide_history_run(&options, &history);
        assert_int_equal(tide_walk(tide_builder_fd(history.builder), 10, &walked),
                         TIDE_OK);
        for (size_t at = seed % 13; at < walked.count; at += 13)
            check_stop(&walked, at);
        tide_walk_release(&walked);
        tide_history_release(&history);
    }
}

/* A stretch of more events than one part holds, stopped in its second part. */
static void goes_on_in_the_middle_of_a_long_stretch(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 2000, 0);
    for (uint64_t i = 0; i < 3000; i++) {
        tide_out_free(lane, 0x1000 + i * 16);
        if (i % 700 == 0)
            tide_out_cut(lane);
    }
    tide_builder_finish(builder);
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    check_stop(&walked, 1025);
    check_stop(&walked, 1026);
    check_stop(&walked, 2500);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* Bytes of a state are as hostile as any others. */
static void survives_states_that_are_none(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_rich_trace(false);
    struct tide_walked walked;
    struct tide_replay *replay;
    struct tide_text saved = {0};
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    assert_int_equal(tide_replay_open(walked.trace, &walked.stacks, &replay), TIDE_OK);
    expect(replay, walked.events, walked.count / 2);
    assert_int_equal(tide_replay_save(replay, &saved), TIDE_OK);
    tide_replay_close(replay);
    size_t refused = 0;
    for (size_t i = 0; i < saved.length * 8; i++) {
        struct tide_event events[32];
        size_t count = 1, total = 0;
        char *bytes = malloc(saved.length);
        assert_non_null(bytes);
        memcpy(bytes, saved.bytes, saved.length);
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        assert_int_equal(tide_replay_open(walked.trace, &walked.stacks, &replay),
                         TIDE_OK);
        if (tide_replay_restore(replay, bytes, saved.length) != TIDE_OK)
            count = 0;
        refused += count == 0;
        while (count && total < 10 * walked.count) {
            assert_int_equal(tide_replay_next(replay, events, 32, &count), TIDE_OK);
            total += count;
        }
        assert_true(total < 10 * walked.count);
        tide_replay_close(replay);
        assert_int_equal(tide_replay_open(walked.trace, &walked.stacks, &replay),
                         TIDE_OK);
        assert_int_equal(tide_replay_restore(replay, bytes, i / 8), TIDE_ECORRUPT);
        tide_replay_close(replay);
        free(bytes);
    }
    assert_true(refused > 10);
    tide_text_release(&saved);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_from_every_event_of_a_rich_trace),
        cmocka_unit_test(goes_on_in_the_middle_of_random_programs),
        cmocka_unit_test(goes_on_in_the_middle_of_a_long_stretch),
        cmocka_unit_test(survives_states_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
