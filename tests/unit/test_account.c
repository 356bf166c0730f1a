/* unit/test_account.c - the rules of the books, one by one. */
#include "account_bench.h"

static void sums_up_births_and_deaths(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), alloc_event(0, 0x200, 20, 2),
          free_event(0, 0x100), alloc_event(0, 0x300, 5, 1));
    assert_int_equal(heap()->alloc_calls, 3);
    assert_int_equal(heap()->free_calls, 1);
    assert_int_equal(heap()->allocated_bytes, 35);
    assert_int_equal(heap()->live_bytes, 25);
    assert_int_equal(heap()->live_blocks, 2);
    assert_int_equal(heap()->peak_bytes, 30);
    assert_int_equal(heap()->peak_blocks, 2);
    assert_int_equal(heap()->peak_usable_bytes, 24 + 24);
    assert_int_equal(heap()->peak_uncertainty_bytes, 0);
    assert_int_equal(site_of(1)->calls, 2);
    assert_int_equal(site_of(1)->freed_calls, 1);
    assert_int_equal(site_of(1)->freed_bytes, 10);
}

static void knows_who_stood_at_the_peak(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), alloc_event(0, 0x200, 50, 2),
          free_event(0, 0x100), alloc_event(0, 0x300, 70, 3), free_event(0, 0x200));
    assert_int_equal(heap()->peak_bytes, 150);
    assert_int_equal(site_of(1)->peak_bytes, 100);
    assert_int_equal(site_of(2)->peak_bytes, 50);
    assert_int_equal(site_of(2)->peak_blocks, 1);
    assert_int_equal(site_of(3)->peak_bytes, 0);
    assert_int_equal(site_of(3)->live_bytes, 70);
}

static void says_when_the_peak_was_first_reached(void **state)
{
    (void)state;
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1), free_event(0, 0x100),
                                  alloc_event(0, 0x100, 10, 1)};
    for (size_t i = 0; i < 3; i++)
        events[i].ticks = 1000 + i;
    enter_with(&(struct tide_account_setup){0}, events, 3);
    assert_int_equal(account.water[TIDE_IN_HEAP].peak_ticks, 1000);
    assert_int_equal(site_of(1)->first_ticks, 1000);
    assert_int_equal(site_of(1)->last_ticks, 1002);
}

static void counts_blocks_of_no_bytes(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 0, 1), alloc_event(0, 0x200, 0, 1),
          free_event(0, 0x200));
    assert_int_equal(heap()->alloc_calls, 2);
    assert_int_equal(heap()->live_blocks, 1);
    assert_int_equal(heap()->peak_bytes, 0);
    assert_int_equal(heap()->temporary_calls, 1);
}

static void sums_past_four_gibibytes(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 5ull << 30, 1), alloc_event(0, 0x200, 3ull << 40, 1),
          free_event(0, 0x100));
    assert_int_equal(heap()->peak_bytes, (5ull << 30) + (3ull << 40));
    assert_int_equal(heap()->live_bytes, 3ull << 40);
}

static void ends_a_block_whose_address_is_given_again(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), alloc_event(0, 0x100, 30, 2));
    assert_int_equal(account.replaced_blocks, 1);
    assert_int_equal(heap()->free_calls, 0);
    assert_int_equal(heap()->live_bytes, 30);
    assert_int_equal(heap()->peak_bytes, 30);
    assert_int_equal(site_of(1)->live_blocks, 0);
}

static void counts_frees_of_unknown_blocks(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.forked = false}, {.forked = true}};
    struct tide_event events[] = {free_event(0, 0x100), free_event(1, 0x100),
                                  free_event(1, 0x200)};
    events[1].process = 1;
    events[2].process = 1;
    enter_with(&(struct tide_account_setup){.processes = processes, .process_count = 2},
               events, 3);
    assert_int_equal(account.unmatched_frees, 1);
    assert_int_equal(account.inherited_frees, 2);
    assert_int_equal(heap()->free_calls, 3);
    assert_int_equal(heap()->live_bytes, 0);
}

static void keeps_the_addresses_of_processes_apart(void **state)
{
    (void)state;
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1),
                                  alloc_event(1, 0x100, 20, 1), free_event(1, 0x100)};
    events[1].process = 1;
    events[2].process = 1;
    enter_with(&(struct tide_account_setup){0}, events, 3);
    assert_int_equal(account.replaced_blocks, 0);
    assert_int_equal(heap()->peak_bytes, 30);
    assert_int_equal(heap()->live_bytes, 10);
}

/* --- Temporary --- */

static void calls_a_block_temporary_when_its_thread_frees_it_at_once(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), free_event(0, 0x900), free_event(0, 0x100));
    assert_int_equal(heap()->temporary_calls, 1);
    assert_int_equal(heap()->temporary_bytes, 10);
    assert_int_equal(site_of(1)->temporary_bytes, 10);
}

static void calls_no_block_temporary_after_another_birth(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), alloc_event(0, 0x200, 10, 1),
          free_event(0, 0x100), free_event(0, 0x200));
    assert_int_equal(heap()->temporary_calls, 1);
}

static void calls_no_block_temporary_that_another_lane_frees(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), free_event(1, 0x100));
    assert_int_equal(heap()->temporary_calls, 0);
}

static void calls_no_block_temporary_across_threads_of_one_lane(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), extra_event(0, TIDE_EXTRA_THREAD_END, 0),
          extra_event(0, TIDE_EXTRA_THREAD_BEGIN, 77), free_event(0, 0x100));
    assert_int_equal(heap()->temporary_calls, 0);
    assert_int_equal(account.extra_records[TIDE_EXTRA_THREAD_BEGIN], 1);
}

static void is_not_fooled_by_another_block_at_the_same_address(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), free_event(1, 0x100),
          alloc_event(1, 0x100, 20, 2), free_event(0, 0x100));
    assert_int_equal(heap()->temporary_calls, 0);
}

static void does_not_call_a_grown_block_temporary(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 10, 1), move_begin_event(0, 0x100),
          move_end_event(0x100, alloc_event(0, 0x100, 20, 1)),
          alloc_event(0, 0x200, 1, 1), free_event(0, 0x100));
    assert_int_equal(heap()->temporary_calls, 0);
}

/* --- Processes, time --- */

static void lets_an_ended_process_stand_in_no_later_peak(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.ended = true, .end_ticks = 100}, {0}};
    struct tide_event events[] = {
        alloc_event(0, 0x100, 1000, 1), alloc_event(0, 0x200, 5, 1),
        move_begin_event(0, 0x200),     alloc_event(1, 0x100, 600, 2),
        free_event(1, 0x100),
    };
    for (size_t i = 3; i < 5; i++) {
        events[i].process = 1;
        events[i].ticks = 101;
    }
    enter_with(&(struct tide_account_setup){.processes = processes, .process_count = 2},
               events, 5);
    assert_int_equal(heap()->peak_bytes, 1005);
    assert_int_equal(heap()->live_bytes, 1005);
    assert_int_equal(heap()->live_blocks, 2);
    assert_int_equal(site_of(1)->live_bytes, 1005);
    assert_int_equal(site_of(1)->peak_bytes, 1005);
    assert_int_equal(site_of(2)->peak_bytes, 0);
}

static void stops_when_told_with_what_stands_then(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.ended = true, .end_ticks = 50}, {0}};
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1),
                                  alloc_event(1, 0x200, 20, 1),
                                  alloc_event(1, 0x300, 40, 1)};
    for (size_t i = 1; i < 3; i++) {
        events[i].process = 1;
        events[i].ticks = i * 60;
    }
    enter_with(&(struct tide_account_setup){.processes = processes,
                                            .process_count = 2,
                                            .stop_ticks = 100},
               events, 3);
    assert_true(account.stopped);
    assert_int_equal(heap()->alloc_calls, 2);
    assert_int_equal(heap()->live_bytes, 20);
}

static void knows_who_ended_before_the_stop(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.ended = true, .end_ticks = 50}, {0}};
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1),
                                  alloc_event(1, 0x200, 20, 1),
                                  alloc_event(1, 0x300, 40, 1)};
    events[1].process = 1;
    events[2].process = 1;
    events[2].ticks = 200; /* nothing happens between the end and the stop */
    enter_with(&(struct tide_account_setup){.processes = processes,
                                            .process_count = 2,
                                            .stop_ticks = 100},
               events, 3);
    assert_int_equal(heap()->live_bytes, 20);
}

static void stops_after_the_last_event_as_well(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.ended = true, .end_ticks = 50}, {0}};
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1),
                                  alloc_event(1, 0x200, 20, 1)};
    events[1].process = 1;
    enter_with(&(struct tide_account_setup){.processes = processes,
                                            .process_count = 2,
                                            .stop_ticks = 100},
               events, 2);
    assert_true(account.stopped);
    assert_int_equal(heap()->live_bytes, 20);
    assert_int_equal(heap()->live_blocks, 1);
}

static void knows_the_peak_of_a_window_that_only_falls(void **state)
{
    (void)state;
    struct tide_selection select = TIDE_SELECT_ALL;
    struct tide_event events[] = {alloc_event(0, 0x100, 100, 1),
                                  alloc_event(0, 0x200, 50, 2), free_event(0, 0x200),
                                  free_event(0, 0x100)};
    for (size_t i = 0; i < 4; i++)
        events[i].ticks = i * 10;
    select.window_from = 25;
    enter_with(&(struct tide_account_setup){.select = &select}, events, 4);
    assert_int_equal(heap()->peak_bytes, 100);
    assert_int_equal(site_of(1)->peak_bytes, 100);
    assert_int_equal(site_of(2)->peak_bytes, 0);
}

/* The window opens after the last event, or the account stops before the next one. */
static void knows_what_stood_in_a_window_without_events(void **state)
{
    (void)state;
    struct tide_selection select = TIDE_SELECT_ALL;
    struct tide_event events[] = {alloc_event(0, 0x100, 100, 1),
                                  alloc_event(0, 0x200, 50, 2), free_event(0, 0x200),
                                  alloc_event(0, 0x300, 7, 2)};
    for (size_t i = 0; i < 4; i++)
        events[i].ticks = i * 10;
    select.window_from = 22;
    const uint64_t stops[] = {28, 0};
    for (size_t i = 0; i < 2; i++) {
        const struct tide_account_setup setup = {.select = &select,
                                                 .stop_ticks = stops[i]};
        tide_account_release(&account);
        enter_with(&setup, events, stops[i] ? 4 : 3);
        assert_int_equal(heap()->peak_bytes, 100);
        assert_int_equal(heap()->peak_blocks, 1);
        assert_int_equal(site_of(1)->peak_bytes, 100);
        assert_int_equal(site_of(2)->peak_bytes, 0);
        assert_int_equal(account.water[TIDE_IN_HEAP].peak_ticks, 22);
    }
}

/* What stands when the window opens is in its peak, though it goes before any event. */
static void knows_who_ended_in_the_window(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.ended = true, .end_ticks = 50}, {0}};
    struct tide_selection select = TIDE_SELECT_ALL;
    struct tide_event events[] = {alloc_event(0, 0x100, 10, 1),
                                  alloc_event(1, 0x200, 20, 1),
                                  alloc_event(1, 0x300, 5, 1)};
    events[1].process = 1;
    events[2].process = 1;
    events[2].ticks = 200;
    select.window_from = 40;
    enter_with(&(struct tide_account_setup){.processes = processes,
                                            .process_count = 2,
                                            .select = &select},
               events, 3);
    assert_int_equal(heap()->peak_bytes, 30);
    assert_int_equal(heap()->peak_blocks, 2);
}

static void adds_up_what_was_dropped(void **state)
{
    (void)state;
    const struct tide_process processes[] = {{.dropped = 9}, {.dropped = 1}};
    struct tide_event events[] = {extra_event(0, TIDE_EXTRA_DROPPED, 5),
                                  extra_event(1, TIDE_EXTRA_DROPPED, 3),
                                  extra_event(1, TIDE_EXTRA_DROPPED, 4)};
    events[1].process = 1;
    events[2].process = 1;
    enter_with(&(struct tide_account_setup){.processes = processes, .process_count = 2},
               events, 3);
    assert_int_equal(tide_account_dropped(&account), 9 + 7);
}

static void survives_events_that_make_no_sense(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, UINT64_MAX, 1), alloc_event(0, 0x200, UINT64_MAX, 1),
          free_event(0, 0x100), move_back_event(3, 0x100), move_gone_event(3, 0x200),
          (struct tide_event){.kind = 200}, extra_event(0, 255, UINT64_MAX),
          span_event(2, UINT64_MAX, UINT64_MAX), span_event(2, 0, 1),
          (struct tide_event){.kind = TIDE_EVENT_MAP, .map_call = 99});
    assert_int_equal(heap()->alloc_calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(sums_up_births_and_deaths),
        CASE(knows_who_stood_at_the_peak),
        CASE(says_when_the_peak_was_first_reached),
        CASE(counts_blocks_of_no_bytes),
        CASE(sums_past_four_gibibytes),
        CASE(ends_a_block_whose_address_is_given_again),
        CASE(counts_frees_of_unknown_blocks),
        CASE(keeps_the_addresses_of_processes_apart),
        CASE(calls_a_block_temporary_when_its_thread_frees_it_at_once),
        CASE(calls_no_block_temporary_after_another_birth),
        CASE(calls_no_block_temporary_that_another_lane_frees),
        CASE(calls_no_block_temporary_across_threads_of_one_lane),
        CASE(is_not_fooled_by_another_block_at_the_same_address),
        CASE(does_not_call_a_grown_block_temporary),
        CASE(lets_an_ended_process_stand_in_no_later_peak),
        CASE(stops_when_told_with_what_stands_then),
        CASE(knows_who_ended_before_the_stop),
        CASE(stops_after_the_last_event_as_well),
        CASE(knows_the_peak_of_a_window_that_only_falls),
        CASE(knows_what_stood_in_a_window_without_events),
        CASE(knows_who_ended_in_the_window),
        CASE(adds_up_what_was_dropped),
        CASE(survives_events_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
