/* unit/test_replay.c - the walk through all lanes: stretches, chunks, gate, slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_walk.h"

static const struct tide_out_stack NO_STACK = {0};

static void allocate(struct tide_lane_out *lane, uint64_t address, uint64_t size)
{
    tide_out_alloc(lane, (struct tide_out_birth){.address = address, .size = size},
                   NO_STACK);
}

static struct tide_walked walk(struct tide_builder *builder)
{
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 7, &walked), TIDE_OK);
    return walked;
}

/* The walk's addresses, lanes and spans as one line of text: "0:a100 1:f100 0:s". */
static const char *line_of(const struct tide_walked *walked)
{
    static char line[4096];
    size_t length = 0;
    line[0] = '\0';
    for (size_t i = 0; i < walked->count && length < sizeof(line) - 40; i++) {
        const struct tide_event *event = &walked->events[i];
        length += (size_t)snprintf(line + length, sizeof(line) - length, "%s%u:%c",
                                   i ? " " : "", event->lane, "afbekgmsx"[event->kind]);
        if (event->kind != TIDE_EVENT_SPAN && event->kind != TIDE_EVENT_EXTRA)
            length += (size_t)snprintf(line + length, sizeof(line) - length, "%llx",
                                       (unsigned long long)event->address);
    }
    return line;
}

static void an_empty_trace_has_no_events(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_int_equal(walked.count, 0);
    assert_true(walked.trace->complete);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void spans_say_what_comes(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 2000, 0);
    allocate(lane, 0x100, 10);
    tide_out_move_begin(lane, 0x100);
    tide_out_move_end(lane, (struct tide_out_birth){.address = 0x200, .size = 30},
                      NO_STACK);
    tide_out_time(lane, 2500);
    tide_out_free(lane, 0x200);
    tide_out_sync(lane, 2600, 0);
    allocate(lane, 0x300, 5);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    const struct tide_event *e = walked.events;
    assert_string_equal(line_of(&walked),
                        "0:s 0:a100 0:b100 0:e200 0:s 0:f200 0:s 0:a300");
    assert_int_equal(e[0].ticks, 2000);
    assert_int_equal(e[0].size, 40);
    assert_int_equal(e[0].usable, 2500);
    assert_int_equal(e[4].ticks, 2500);
    assert_int_equal(e[4].size, 0);
    assert_int_equal(e[4].usable, 2600);
    assert_int_equal(e[5].ticks, 2500);
    assert_int_equal(e[6].size, 5);
    assert_true(e[6].usable == UINT64_MAX);
    assert_int_equal(walked.counts.events, 5);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void a_stretch_goes_on_over_chunks(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    const uint64_t words[] = {1, 2, 3};
    tide_out_sync(lane, 2000, 0);
    for (uint32_t i = 0; i < 6; i++) {
        const struct tide_out_stack stack = {.words = words, .depth = 1 + i % 3};
        tide_out_alloc(
            lane, (struct tide_out_birth){.address = 0x100 + i * 16, .size = 1}, stack);
        tide_out_cut(lane);
    }
    tide_out_time(lane, 3000);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked),
                        "0:s 0:a100 0:a110 0:a120 0:a130 0:a140 0:a150 0:s");
    assert_int_equal(walked.events[0].size, 6);
    assert_int_equal(walked.events[0].usable, 3000);
    assert_int_equal(walked.events[3].stack, walked.events[6].stack);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void long_stretches_come_in_parts(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 2000, 0);
    for (uint64_t i = 0; i < 3000; i++)
        allocate(lane, 0x1000 + i * 16, 1);
    builder->clock = 9000;
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    uint64_t bytes = 0, ends = 0;
    for (size_t i = 0; i < walked.count; i++) {
        if (walked.events[i].kind != TIDE_EVENT_SPAN)
            continue;
        assert_int_equal(walked.events[i].ticks, 2000);
        bytes += walked.events[i].size;
        ends += walked.events[i].usable == 9000;
    }
    assert_int_equal(tide_walk_count(&walked, TIDE_EVENT_SPAN), 3);
    assert_int_equal(bytes, 3000);
    assert_int_equal(ends, 2); /* not later than the chunk; the last one has no end */
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void lanes_go_by_time(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    for (uint32_t process = 0; process < 3; process++) {
        struct tide_lane_out *lane = tide_builder_lane(builder, process, 0);
        tide_out_sync(lane, 2000 + process * 10, 0);
        allocate(lane, 0x100, 1);
        tide_out_time(lane, 2015 + process * 10);
        tide_out_free(lane, 0x100);
    }
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "0:s 0:a100 1:s 1:a100 0:s 0:f100 2:s 2:a100 "
                                          "1:s 1:f100 2:s 2:f100");
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* Two lanes hand one address to and fro; lane 0's clock is far ahead of lane 1's. */
static void numbers_beat_time(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *first = tide_builder_lane(builder, 0, 0);
    struct tide_lane_out *second = tide_builder_lane(builder, 0, 1);
    second->numbers = true;
    tide_out_sync(first, 900000, 0);
    tide_out_numbers(first);
    tide_out_sync(second, 2000, 0);
    allocate(first, 0x100, 1);
    tide_out_free(second, 0x100);
    allocate(second, 0x100, 1);
    tide_out_free(first, 0x100);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "1:s 0:s 0:x 0:a100 1:f100 1:a100 0:f100");
    assert_int_equal(walked.counts.reordered, 0);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void other_lanes_wait_for_the_gate(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *first = tide_builder_lane(builder, 0, 2);
    struct tide_lane_out *second = tide_builder_lane(builder, 0, 5);
    second->numbers = true;
    tide_out_sync(first, 2000, 0);
    allocate(first, 0x100, 1); /* takes no number: one thread */
    tide_out_sync(second, 1500, 0);
    tide_out_time(first, 2200);
    tide_out_free(first, 0x100);
    tide_out_numbers(first);
    allocate(second, 0x100, 1);
    tide_out_free(first, 0x100);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked),
                        "0:s 0:a100 0:s 0:f100 1:s 1:a100 0:x 0:f100");
    assert_int_equal(walked.counts.reordered, 0);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* The first thread writes NUMBERS with its next event, which may be long after: the other
 * lanes do not wait for that moment. */
static void the_gate_does_not_hold_up_time(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *first = tide_builder_lane(builder, 0, 0);
    struct tide_lane_out *second = tide_builder_lane(builder, 0, 1);
    struct tide_lane_out *other = tide_builder_lane(builder, 1, 0);
    second->numbers = true;
    tide_out_sync(first, 2000, 0);
    allocate(first, 0x100, 1);
    tide_out_sync(second, 2100, 0);
    allocate(second, 0x200, 1);
    tide_out_sync(other, 3000, 0);
    allocate(other, 0x300, 1);
    tide_out_time(first, 9000);
    tide_out_numbers(first);
    tide_out_free(first, 0x200);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked),
                        "0:s 0:a100 1:s 1:a200 2:s 2:a300 0:s 0:x 0:f200");
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void without_a_gate_lanes_start_when_the_first_ends(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *first = tide_builder_lane(builder, 0, 0);
    struct tide_lane_out *second = tide_builder_lane(builder, 0, 1);
    second->numbers = true;
    tide_out_sync(second, 2100, 0);
    allocate(second, 0x200, 1);
    tide_out_sync(first, 3000, 0);
    allocate(first, 0x100, 1);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "0:s 0:a100 1:s 1:a200");
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void maps_are_in_one_order(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *first = tide_builder_lane(builder, 0, 0);
    struct tide_lane_out *second = tide_builder_lane(builder, 0, 1);
    const uint64_t map[] = {0x7000, 0x2000, 3, 34}, unmap[] = {0x7000, 0x2000, 0, 0};
    second->numbers = true;
    tide_out_sync(first, 50000, 0);
    tide_out_numbers(first);
    tide_out_map(first, TIDE_MAP_MMAP, map, NO_STACK);
    tide_out_sync(second, 2000, 0);
    tide_out_map(second, TIDE_MAP_MUNMAP, unmap, NO_STACK);
    tide_out_map(first, TIDE_MAP_MMAP, map, NO_STACK);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "1:s 0:s 0:x 0:m7000 1:m7000 0:m7000");
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* Numbers are 16 bits wide: an address that is handed to and fro goes through all of
 * them, and on. */
static void numbers_go_round(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lanes[2];
    for (uint32_t i = 0; i < 2; i++) {
        lanes[i] = tide_builder_lane(builder, 0, i);
        lanes[i]->numbers = i > 0;
        tide_out_sync(lanes[i], 2000, 0);
    }
    tide_out_numbers(lanes[0]);
    for (uint64_t i = 0; i < 100000; i++) {
        allocate(lanes[i % 2], 0x100, i);
        tide_out_free(lanes[(i + 1) % 2], 0x100);
        if (i % 50 == 0)
            tide_out_time(lanes[i % 2], 2000 + i);
        if (lanes[i % 2]->records.length > 200000)
            tide_out_cut(lanes[i % 2]);
    }
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    uint64_t births = 0, deaths = 0;
    for (size_t i = 0; i < walked.count; i++) {
        const struct tide_event *event = &walked.events[i];
        if (event->kind == TIDE_EVENT_ALLOC)
            assert_int_equal(event->size, births++);
        if (event->kind == TIDE_EVENT_FREE)
            assert_int_equal(++deaths, births);
    }
    assert_int_equal(deaths, 100000);
    assert_int_equal(walked.counts.reordered, 0);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* Lane 1 was killed after its step and before its record: lane 2 waits for a number that
 * never comes up, and goes on when nothing else can. */
static void a_hole_is_jumped_and_counted(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lanes[3];
    for (uint32_t i = 0; i < 3; i++) {
        lanes[i] = tide_builder_lane(builder, 0, i);
        lanes[i]->numbers = i > 0;
        tide_out_sync(lanes[i], 2000, 0);
    }
    tide_out_numbers(lanes[0]);
    allocate(lanes[0], 0x100, 1);
    tide_out_cut(lanes[1]);
    tide_out_free(lanes[1], 0x100);
    tide_out_lose(lanes[1]);
    allocate(lanes[2], 0x100, 1);
    tide_out_free(lanes[0], 0x100);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "0:s 0:x 0:a100 1:s 2:s 2:a100 0:f100");
    assert_int_equal(walked.counts.reordered, 1);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

/* A hole in one lane does not stop it for the rest of a long run. */
static void a_hole_is_not_waited_for_longer_than_a_second(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lanes[3];
    for (uint32_t i = 0; i < 3; i++) {
        lanes[i] = tide_builder_lane(builder, 0, i);
        lanes[i]->numbers = i > 0;
        tide_out_sync(lanes[i], 2000, 0);
    }
    tide_out_numbers(lanes[0]);
    tide_out_cut(lanes[1]);
    allocate(lanes[1], 0x100, 1);
    tide_out_lose(lanes[1]);
    tide_out_free(lanes[2], 0x100);
    tide_out_time(lanes[2], 3000);
    for (uint64_t i = 1; i <= 3; i++) {
        allocate(lanes[0], 0x1000 * i, 1);
        tide_out_time(lanes[0], 600000 * i);
    }
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked),
                        "0:s 0:x 0:a1000 1:s 2:s 0:s 0:a2000 2:f100 2:s "
                        "0:s 0:a3000 0:s");
    assert_int_equal(walked.counts.reordered, 1);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void a_lost_chunk_costs_up_to_the_next_reset(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    for (uint64_t i = 0; i < 6; i++) {
        if (i % 3 == 0)
            tide_out_sync(lane, 2000 + i, 0);
        allocate(lane, 0x100 * (i + 1), 1);
        if (i == 1)
            tide_out_lose(lane);
        else
            tide_out_cut(lane);
    }
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "0:s 0:a100 0:s 0:a400 0:a500 0:a600");
    assert_int_equal(walked.counts.lost_records, 1);
    assert_int_equal(walked.trace->bad_chunks, 0);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void a_lane_that_starts_in_the_middle_is_said_to_be_lost(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 2000, 0);
    tide_out_lose(lane);
    allocate(lane, 0x100, 1);
    tide_out_cut(lane);
    tide_out_sync(lane, 2500, 0);
    allocate(lane, 0x200, 1);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_string_equal(line_of(&walked), "0:s 0:a200");
    assert_int_equal(walked.counts.lost_records, 1);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void counts_what_records_say_was_lost(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    const uint64_t first[] = {5, TIDE_DROP_NESTED}, second[] = {UINT64_MAX, 0};
    const uint64_t words[] = {TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT),
                              0x10};
    const struct tide_out_stack cut = {.words = words, .depth = 2};
    tide_out_sync(lane, 2000, 0);
    tide_out_extra(lane, TIDE_EXTRA_DROPPED, first, 2);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 8}, cut);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 16}, NO_STACK);
    tide_out_extra(lane, TIDE_EXTRA_DROPPED, second, 2);
    tide_builder_finish(builder);
    struct tide_walked walked = walk(builder);
    assert_true(walked.counts.dropped == UINT64_MAX);
    assert_int_equal(walked.counts.cut_stacks, 2);
    assert_int_equal(walked.counts.events, 2);
    assert_true(walked.counts.bytes_read > 0);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_trace_has_no_events),
        cmocka_unit_test(spans_say_what_comes),
        cmocka_unit_test(a_stretch_goes_on_over_chunks),
        cmocka_unit_test(long_stretches_come_in_parts),
        cmocka_unit_test(lanes_go_by_time),
        cmocka_unit_test(numbers_beat_time),
        cmocka_unit_test(other_lanes_wait_for_the_gate),
        cmocka_unit_test(the_gate_does_not_hold_up_time),
        cmocka_unit_test(without_a_gate_lanes_start_when_the_first_ends),
        cmocka_unit_test(maps_are_in_one_order),
        cmocka_unit_test(numbers_go_round),
        cmocka_unit_test(a_hole_is_jumped_and_counted),
        cmocka_unit_test(a_hole_is_not_waited_for_longer_than_a_second),
        cmocka_unit_test(a_lost_chunk_costs_up_to_the_next_reset),
        cmocka_unit_test(a_lane_that_starts_in_the_middle_is_said_to_be_lost),
        cmocka_unit_test(counts_what_records_say_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
