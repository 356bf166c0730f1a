/* unit/test_findings_leaks.c - which leaks the report points out, and which it must not. */
#include <signal.h>

#include "findings_bench.h"
#include "trace/format.h"

static void tells_a_growing_leak_from_one_that_was_once(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    build();
    found(
        "leak_growing",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made from "
        "1.0 s to 9.0 s. They grow with the run, by 8.0 KiB a second. Probably a leak: the program frees nearly all else. Freeing them saves "
        "64.0 KiB, 100 % of the peak.");
    assert_int_equal(findings.list[0].gain_bytes, 64 * TIDE_KIB);
    leave(NULL);
    begin();
    leak(PARSE, 64 * TIDE_KIB, 1, 1u << 20);
    build();
    found("leak_once",
          "64.0 KiB in 1 block from parse (parse.c:5) was never freed, made at 1.0 s, "
          "once. Freeing it saves 64.0 KiB, 100 % of the peak.");
    leave(NULL);
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, 1u << 9 | 1u << 20);
    build();
    found(
        "leak",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made "
        "from 1.0 s to 9.0 s. Freeing them saves 64.0 KiB, 100 % of the peak.");
}

static void saves_at_the_peak_only_what_stood_there(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 1, 1u << 20);
    hand.model->sites[0].peak_bytes = 0;
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 128 * TIDE_KIB;
    build();
    found("leak_once",
          "64.0 KiB in 1 block from parse (parse.c:5) was never freed, made at 1.0 s, "
          "once. Freeing it saves 64.0 KiB at the end, nothing at the peak.");
    assert_int_equal(findings.list[0].gain_bytes, 0);
    assert_true(findings.list[0].share <= 0);
    leave(NULL);
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, 1u << 9 | 1u << 20);
    hand.model->sites[0].peak_bytes = 32 * TIDE_KIB;
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 128 * TIDE_KIB;
    build();
    found(
        "leak",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made "
        "from 1.0 s to 9.0 s. Freeing them saves 64.0 KiB at the end and "
        "32.0 KiB at the peak, 25 % of it.");
    assert_int_equal(findings.list[0].gain_bytes, 32 * TIDE_KIB);
}

/* What a stack holds at the peak it may have freed, and leaked what it made later. */
static void what_a_stack_freed_is_not_taken_for_its_leak(void **state)
{
    (void)state;
    static const struct {
        double peak_s;
        const char *words;
        uint64_t gain;
    } CASES[] = {
        {0.5, " saves 64.0 KiB at the end, nothing at the peak.", 0},
        {5, " saves 64.0 KiB, up to 50 % of the peak.", 64 * TIDE_KIB},
        {9, " saves 64.0 KiB, 50 % of the peak.", 64 * TIDE_KIB},
    };
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, 1u << 9 | 1u << 20);
    hand.model->sites[0].calls++;
    hand.model->sites[0].freed_calls++;
    hand.model->sites[0].peak_bytes = 100 * TIDE_KIB;
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 128 * TIDE_KIB;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        hand.model->summary[TIDE_IN_HEAP].peak_time_s = CASES[i].peak_s;
        build();
        assert_int_equal(findings.count, 1);
        if (!strstr(findings.list[0].text, CASES[i].words))
            fail_msg("%s", findings.list[0].text);
        assert_int_equal(findings.list[0].gain_bytes, CASES[i].gain);
    }
}

static void tells_what_grew_from_what_still_grows(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->survivals[0].slices[TIDE_LIFE_TIME] = 0x00ffffff;
    build();
    found(
        "leak_growing",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made from "
        "1.0 s to 9.0 s, growing until then, by 8.0 KiB a second. Probably a leak: the program frees nearly all else. Freeing them saves "
        "64.0 KiB, 100 % of the peak.");
    hand.model->survivals[0].slices[TIDE_LIFE_TIME] = 0x01ffffff;
    build();
    assert_non_null(strstr(findings.list[0].text, " They grow with the run, "));
}

static void says_one_time_for_what_was_made_at_once(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, 1u << 20);
    hand.model->survivals[0].last_ticks = 1049;
    build();
    found(
        "leak_once",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made at 1.0 "
        "s, once. Freeing them saves 64.0 KiB, 100 % of the peak.");
    hand.model->survivals[0].last_ticks = 1051;
    build();
    assert_non_null(strstr(findings.list[0].text, ", made from 1.0 s to 1.1 s, once."));
    leave(NULL);
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->survivals[0].slices[TIDE_LIFE_TIME] = 0x00ffffff;
    hand.model->survivals[0].last_ticks = 1000;
    build();
    found(
        "leak_growing",
        "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were never freed, made at 1.0 "
        "s. Freeing them saves 64.0 KiB, 100 % of the peak.");
}

/* What still grows will be more in a longer run; what does not is what it is. */
static void what_grew_and_does_not_any_more_matters_by_its_size(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 1000 * 64 * TIDE_KIB;
    build();
    assert_int_equal(count_kind("leak_growing"), 1);
    hand.model->survivals[0].slices[TIDE_LIFE_TIME] = 0x00ffffff;
    build();
    assert_int_equal(findings.count, 0);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 20 * 64 * TIDE_KIB;
    build();
    assert_int_equal(count_kind("leak_growing"), 1);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes++;
    build();
    assert_int_equal(findings.count, 0);
}

/* Nearly all blocks of a run may be made when it starts. */
static void fifty_steps_are_a_loop_in_the_shortest_run(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 50, WHOLE_LIFE);
    hand.model->survivals[0].slices[TIDE_LIFE_BIRTHS] = 1u << 31;
    hand.model->duration_s = 0.9;
    build();
    assert_int_equal(count_kind("leak_growing"), 1);
    hand.model->survivals[0].blocks = 49;
    build();
    assert_int_equal(count_kind("leak_growing"), 0);
}

/* All that a process makes which lives for a moment is spread over its life. */
static void what_is_made_in_an_instant_does_not_grow(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 77, 0xfffffff0);
    hand.model->survivals[0].last_ticks = 1157; /* of 10 s, a 64th */
    build();
    assert_int_equal(count_kind("leak_growing"), 1);
    hand.model->survivals[0].last_ticks = 1156;
    build(); /* the one process was busy for a moment */
    assert_int_equal(count_kind("leak_growing"), 1);
    hand.model->processes = 2;
    build();
    assert_int_equal(findings.count, 1);
    assert_int_equal(count_kind("leak_once"), 1);
}

static void small_leaks_that_grow_do_not_fill_the_list(void **state)
{
    (void)state;
    static const uint64_t FUNCTIONS[] = {0x700, 0xa00, 0xb00, 0xc00, 0xd00};
    begin();
    hand.model->duration_s = 60;
    for (size_t i = 0; i < 5; i++)
        leak(STACK({TIDE_HAND_APP, FUNCTIONS[i]}), 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 100 * 64 * TIDE_KIB;
    build();
    assert_int_equal(count_kind("leak_growing"), 5);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes++;
    build();
    assert_int_equal(count_kind("leak_growing"), 3);
}

static void says_how_a_leak_grows_by_event(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->extra_records[TIDE_EXTRA_EVENT] = 64;
    build();
    assert_non_null(strstr(findings.list[0].text, ", 1.0 KiB per event. "));
    hand.model->extra_records[TIDE_EXTRA_EVENT] = 49; /* too few for a rate */
    build();
    assert_null(strstr(findings.list[0].text, " per event"));
}

static void tells_a_leak_of_each_thread(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 8, WHOLE_LIFE);
    hand.model->survivals[0].threads = 8;
    build();
    found(
        "leak_per_thread",
        "64.0 KiB in 8 blocks of 8.0 KiB each from parse (parse.c:5) were never freed, made from 1.0 s "
        "to 9.0 s, a few by each of 8 threads. Freeing them saves 64.0 KiB, 100 % of "
        "the peak.");
}

static void takes_what_a_program_makes_at_its_start_for_kept(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 1, 1);
    build();
    assert_int_equal(findings.count, 0);
}

/* Three functions keep what they made: it is how the program ends. */
static void calls_nothing_lost_that_all_keep(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    leak(MAIN, 64 * TIDE_KIB, 1, 1u << 20);
    leak(STACK({TIDE_HAND_APP, 0x700}), 64 * TIDE_KIB, 100, WHOLE_LIFE);
    build();
    assert_int_equal(findings.count, 0);
    /* Unless it frees most of what it makes, but not these ... */
    hand.model->sites[0].calls += 200;
    hand.model->sites[0].freed_calls += 200;
    build();
    assert_int_equal(findings.count, 1);
    assert_int_equal(count_kind("leak_growing"), 1);
    /* ... or the program would run for long. */
    hand.model->duration_s = 60;
    build();
    assert_int_equal(count_kind("leak_growing"), 2);
    assert_int_equal(findings.count, 2);
}

/* A database keeps what its users gave it, and grows with that. */
static void says_when_it_cannot_tell_data_from_a_leak(void **state)
{
    (void)state;
    begin();
    hand.model->duration_s = 60;
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    leak(MAIN, 64 * TIDE_KIB, 1, 1u << 20);
    leak(STACK({TIDE_HAND_APP, 0x700}), 64 * TIDE_KIB, 100, 1);
    leak(STACK({TIDE_HAND_APP, 0xa00}), 64 * TIDE_KIB, 1, 1u << 20);
    leak(STACK({TIDE_HAND_APP, 0xb00}), 64 * TIDE_KIB, 1, 1u << 20);
    build();
    found("leak_growing",
          "64.0 KiB in 100 blocks of 655 bytes on average from parse (parse.c:5) were "
          "never freed, made from 1.0 s to 9.0 s. They grow with the run, by 8.0 KiB a "
          "second. None that it makes is ever freed: data in use or a leak, tidemark "
          "cannot tell. If a leak, freeing them saves 64.0 KiB, 20 % of the peak.");
    hand.model->sites[0].calls = 400;
    hand.model->sites[0].freed_calls = 300;
    build();
    assert_non_null(strstr(findings.list[0].text, " Of those that it makes 75 % are "
                                                  "freed: data in use or a leak, "));
}

/* Some constants that are made at the start, or next to nothing, do not hide a leak. */
static void measures_what_is_left_in_bytes(void **state)
{
    (void)state;
    static const uint64_t FUNCTIONS[] = {0x700, 0xa00, 0xb00, 0xc00, 0xd00};
    begin();
    leak(PARSE, 4608 * TIDE_KIB, 1000, WHOLE_LIFE);
    for (size_t i = 0; i < 5; i++)
        leak(STACK({TIDE_HAND_APP, FUNCTIONS[i]}), 1 * TIDE_KIB, 1, 1u << 20);
    build();
    assert_int_equal(findings.count, 1);
    assert_int_equal(count_kind("leak_growing"), 1);
    for (size_t i = 1; i <= 5; i++) { /* large ones, at the start */
        hand.model->survivals[i].bytes = 500 * TIDE_KIB;
        hand.model->survivals[i].slices[TIDE_LIFE_BIRTHS] = 1;
    }
    build();
    assert_int_equal(findings.count, 1);
    for (size_t i = 1; i <= 5; i++) /* or later: they keep what they make */
        hand.model->survivals[i].slices[TIDE_LIFE_BIRTHS] = 1u << 20;
    build();
    assert_int_equal(findings.count, 0);
}

static void leaves_small_leaks_to_the_list_of_leaks(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 4 * TIDE_KIB - 1, 1, 1u << 20);
    build();
    assert_int_equal(findings.count, 0);
    leave(NULL);
    begin();
    leak(PARSE, 4 * TIDE_KIB, 1, 1u << 20);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 20 * 4 * TIDE_KIB;
    build();
    assert_int_equal(findings.count, 1);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes += 1;
    build();
    assert_int_equal(findings.count, 0);
}

static void calls_nothing_leaked_when_the_end_was_not_seen(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.model->honesty.complete = false;
    build();
    assert_int_equal(findings.count, 0);

    hand.model->honesty.complete = true;
    hand.model->stopped = true;
    build();
    assert_int_equal(findings.count, 0);

    hand.model->stopped = false;
    hand.process.status_known = true;
    hand.process.status = SIGKILL;
    build();
    assert_int_equal(findings.count, 0);

    hand.process.status = 0;
    build();
    assert_int_equal(findings.count, 1);

    hand.process.status_known = false; /* nobody waited: it may have been killed */
    hand.process.ended = hand.process.silent = true;
    build();
    assert_int_equal(findings.count, 0);

    hand.process.silent = false;
    build();
    assert_int_equal(findings.count, 1);
}

/* Where some processes broke off, what the others left is a leak. */
static void blames_those_who_left_something_behind_in_peace(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    hand.process.ended = hand.process.silent = true;
    hand.model->losses = calloc(64, sizeof(*hand.model->losses));
    assert_non_null(hand.model->losses);
    build();
    assert_int_equal(findings.count, 0);
    hand.model->losses[0] = hand.model->survivals[0];
    build();
    assert_int_equal(findings.count, 1);
}

static void calls_nothing_leaked_that_is_suppressed_or_older_than_main(void **state)
{
    (void)state;
    begin();
    leak(STACK({TIDE_HAND_LOADER, 0x1}, {TIDE_HAND_STDCXX, 0x2}), 72704, 1, 1u << 20);
    leak(PARSE, 64 * TIDE_KIB, 100, WHOLE_LIFE);
    build();
    assert_int_equal(findings.count, 1);
    build_without((const bool[]){false, true});
    assert_int_equal(findings.count, 0);
}

/* What is suppressed, and what is freed, is at no line of a leak. */
static void counts_only_lines_that_have_part_in_it(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 64 * TIDE_KIB, 10, 1u << 9 | 1u << 20);
    leak(STACK({TIDE_HAND_APP, 0x220}), 99 * TIDE_KIB, 4, 1u << 9 | 1u << 20);
    hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x240}),
                                        .calls = 1,
                                        .freed_calls = 1,
                                        .most_bytes = 99 * TIDE_KIB});
    build_without((const bool[]){false, true, false});
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.list[0].text, " from parse (parse.c:5) were "));
    assert_int_equal(findings.list[0].stack, PARSE);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(tells_a_growing_leak_from_one_that_was_once),
        CASE(saves_at_the_peak_only_what_stood_there),
        CASE(what_a_stack_freed_is_not_taken_for_its_leak),
        CASE(tells_what_grew_from_what_still_grows),
        CASE(says_one_time_for_what_was_made_at_once),
        CASE(what_grew_and_does_not_any_more_matters_by_its_size),
        CASE(fifty_steps_are_a_loop_in_the_shortest_run),
        CASE(what_is_made_in_an_instant_does_not_grow),
        CASE(small_leaks_that_grow_do_not_fill_the_list),
        CASE(says_how_a_leak_grows_by_event),
        CASE(tells_a_leak_of_each_thread),
        CASE(takes_what_a_program_makes_at_its_start_for_kept),
        CASE(calls_nothing_lost_that_all_keep),
        CASE(says_when_it_cannot_tell_data_from_a_leak),
        CASE(measures_what_is_left_in_bytes),
        CASE(leaves_small_leaks_to_the_list_of_leaks),
        CASE(calls_nothing_leaked_when_the_end_was_not_seen),
        CASE(blames_those_who_left_something_behind_in_peace),
        CASE(calls_nothing_leaked_that_is_suppressed_or_older_than_main),
        CASE(counts_only_lines_that_have_part_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
