/* unit/test_feed.c - model/feed.c: with a thread and without, what the replay gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/feed.h"
#include "order_model.h"
#include "trace/format.h"
#include "trace_walk.h"

/* A trace as it is, and a feed of it. */
struct fixture {
    struct tide_walked walked;
    struct tide_replay *replay;
    struct tide_feed *feed;
};

static void open_feed(struct fixture *f, struct tide_builder *builder, bool ahead,
                      uint64_t rest_at)
{
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &f->walked), TIDE_OK);
    /* Of its own: the tree grows again while the events are read. */
    struct tide_stacks *const stacks = &f->walked.stacks;
    tide_stacks_release(stacks);
    assert_int_equal(tide_stacks_init(stacks), TIDE_OK);
    assert_int_equal(tide_replay_open(f->walked.trace, stacks, &f->replay), TIDE_OK);
    const struct tide_feed_setup setup = {
        .replay = f->replay, .stacks = stacks, .ahead = ahead, .rest_at = rest_at};
    assert_int_equal(tide_feed_open(&setup, &f->feed), TIDE_OK);
}

static void close_feed(struct fixture *f)
{
    tide_feed_close(f->feed);
    tide_replay_close(f->replay);
    tide_walk_release(&f->walked);
}

static void expect_run(const struct fixture *f, const struct tide_run *run, size_t at)
{
    assert_true(at + run->count <= f->walked.count);
    for (size_t i = 0; i < run->count; i++) {
        const struct tide_event *const expected = &f->walked.events[at + i];
        assert_int_equal(run->events[i].lane, run->events[0].lane);
        if (!tide_walk_same(&run->events[i], expected))
            fail_msg("event %zu differs", at + i);
    }
}

static void expect_end(const struct fixture *f, size_t at)
{
    struct tide_run run;
    const struct tide_replay_counts *const counts = tide_feed_counts(f->feed);
    assert_int_equal(at, f->walked.count);
    assert_int_equal(tide_feed_next(f->feed, &run), TIDE_OK);
    assert_int_equal(run.count, 0);
    assert_memory_equal(counts, &f->walked.counts, sizeof(*counts));
}

/* Read all; what was counted is always of what was given. */
static void read_all(const struct fixture *f)
{
    struct tide_run run = {.count = 1};
    uint64_t events = 0;
    size_t at = 0;
    while (run.count) {
        assert_int_equal(tide_feed_next(f->feed, &run), TIDE_OK);
        expect_run(f, &run, at);
        assert_false(run.rests);
        for (size_t i = 0; i < run.count; i++)
            events += run.events[i].kind <= TIDE_EVENT_MAP;
        assert_int_equal(tide_feed_counts(f->feed)->events, events);
        at += run.count;
    }
    expect_end(f, at);
}

static struct tide_program_options some_program(uint32_t seed)
{
    return (struct tide_program_options){.seed = seed,
                                         .threads = 1 + seed % 7,
                                         .turns = seed % 3 ? 300 : 30000,
                                         .addresses = 4 + seed % 20,
                                         .kill = seed % 5 == 0};
}

static void gives_all_that_the_replay_gives(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        const struct tide_program_options options = some_program(seed);
        struct tide_history history;
        struct fixture f;
        tide_history_run(&options, &history);
        open_feed(&f, history.builder, seed % 2, 0);
        read_all(&f);
        close_feed(&f);
        tide_history_release(&history);
    }
}

/* While it rests the replay stands exactly behind what was given. */
static void rests_where_it_is_told_to(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        const struct tide_program_options options = some_program(seed * 3);
        struct tide_history history;
        struct fixture f;
        tide_history_run(&options, &history);
        const uint64_t every = history.builder->file.length / 9 + 1;
        open_feed(&f, history.builder, seed % 2, every);
        struct tide_run run = {.count = 1};
        size_t at = 0, rests = 0;
        while (run.count) {
            assert_int_equal(tide_feed_next(f.feed, &run), TIDE_OK);
            expect_run(&f, &run, at);
            at += run.count;
            if (!run.rests)
                continue;
            const struct tide_replay_counts *const now = tide_replay_counts(f.replay);
            assert_memory_equal(now, tide_feed_counts(f.feed), sizeof(*now));
            tide_feed_go_on(f.feed, now->bytes_read + every);
            rests++;
        }
        expect_end(&f, at);
        assert_true(rests >= 3);
        close_feed(&f);
        tide_history_release(&history);
    }
}

/* Closed after any number of runs, at rest and not. */
static void can_be_closed_at_any_time(void **state)
{
    (void)state;
    const struct tide_program_options options = some_program(9);
    struct tide_history history;
    tide_history_run(&options, &history);
    for (uint32_t i = 0; i < 60; i++) {
        struct fixture f;
        struct tide_run run = {0};
        open_feed(&f, history.builder, true, i % 3 ? 0 : 2000);
        for (uint32_t runs = 0; runs < i * 5 && !run.rests; runs++)
            assert_int_equal(tide_feed_next(f.feed, &run), TIDE_OK);
        close_feed(&f);
    }
    tide_history_release(&history);
}

/* mmap by the program, by its C library, and by nobody known. */
static void says_whose_mappings_do_not_count(void **state)
{
    (void)state;
    static const uint64_t CALL[] = {0x10000, 4096, 3, 0x22};
    static const uint64_t WHERE[] = {0x401010, 0x7f0000001010, 0x123};
    for (int ahead = 0; ahead < 2; ahead++) {
        struct tide_builder *const builder = tide_builder_new();
        tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS,
                          (const uint64_t[]){77, 1, 5, 0, 0}, 5, NULL);
        tide_builder_module(builder, 0,
                            (const uint64_t[]){1, 0, 0x400000, 0x500000, 0x400000},
                            "/nowhere/prog");
        tide_builder_module(
            builder, 0,
            (const uint64_t[]){2, 0, 0x7f0000000000, 0x7f0000100000, 0x7f0000000000},
            "/lib/libc.so.6");
        struct tide_lane_out *const lane = tide_builder_lane(builder, 0, 0);
        tide_out_sync(lane, 10, 0);
        for (size_t i = 0; i < 3; i++)
            tide_out_map(lane, TIDE_MAP_MMAP, CALL,
                         (struct tide_out_stack){.words = &WHERE[i], .depth = 1});
        tide_builder_finish(builder);
        struct fixture f;
        open_feed(&f, builder, ahead, 0);
        struct tide_run run;
        size_t seen = 0;
        do {
            assert_int_equal(tide_feed_next(f.feed, &run), TIDE_OK);
            for (size_t i = 0; i < run.count; i++)
                if (run.events[i].kind == TIDE_EVENT_MAP)
                    assert_int_equal(run.events[i].quiet, seen++ == 1);
        } while (run.count);
        assert_int_equal(seen, 3);
        close_feed(&f);
        tide_builder_free(builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_all_that_the_replay_gives),
        cmocka_unit_test(rests_where_it_is_told_to),
        cmocka_unit_test(can_be_closed_at_any_time),
        cmocka_unit_test(says_whose_mappings_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
