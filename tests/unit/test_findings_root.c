/* unit/test_findings_root.c - what has one root is one finding, and bytes are told once. */
#include "findings_bench.h"

#define BELOW_PARSE(leaf) \
    STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, leaf})
#define BELOW_ROWS(leaf) \
    STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x700}, {TIDE_HAND_APP, leaf})

/* CALLS blocks of BYTES in all, gone before the peak. */
static void work(uint32_t stack, uint64_t bytes, uint64_t calls)
{
    hand_site(&hand, (struct tide_site){.stack = stack,
                                        .calls = calls,
                                        .bytes = bytes,
                                        .freed_calls = calls,
                                        .freed_bytes = bytes});
}

static void hold(uint32_t stack, uint64_t bytes)
{
    hand_site(&hand, (struct tide_site){.stack = stack,
                                        .calls = 2,
                                        .bytes = bytes,
                                        .peak_bytes = (int64_t)bytes,
                                        .peak_blocks = 2,
                                        .most_bytes = bytes,
                                        .first_ticks = 1000,
                                        .last_ticks = 2000});
}

static void two_owners_below_one_function_are_one_finding(void **state)
{
    (void)state;
    begin();
    hold(BELOW_PARSE(0xa00), 30 * TIDE_MIB);
    hold(BELOW_PARSE(0xb00), 20 * TIDE_MIB);
    hold(MAIN, 1 * TIDE_MIB);
    work(MAIN, 90 * TIDE_MIB, 100);
    build();
    found(
        "peak_owner",
        "parse (parse.c:5), with what it calls, holds 50.0 MiB in 4 blocks at the peak, "
        "98 % of it, made from 1.0 s to 2.0 s and never freed. Most in it: app+0xa00 "
        "with 30.0 MiB, app+0xb00 with 20.0 MiB. Not running it saves up to 50.0 MiB.");
    assert_int_equal(findings.list[0].gain_bytes, 50 * TIDE_MIB);
}

/* Of a function that does most of the run it is no use to say that all is below it. */
static void what_does_most_of_the_work_is_no_root(void **state)
{
    (void)state;
    begin();
    hold(BELOW_PARSE(0xa00), 30 * TIDE_MIB);
    hold(BELOW_PARSE(0xb00), 20 * TIDE_MIB);
    work(MAIN, 49 * TIDE_MIB, 100);
    build();
    assert_int_equal(findings.count, 2);
    assert_non_null(
        strstr(findings.list[0].text, "Beside it: app+0xb00 with 20.0 MiB."));
    assert_int_equal(findings.list[1].bytes, 20 * TIDE_MIB);
}

/* What another caller has the same functions hold at another time would be the next peak. */
static void a_root_has_what_its_owners_hold_at_other_times(void **state)
{
    (void)state;
    begin();
    hold(BELOW_PARSE(0xa00), 30 * TIDE_MIB);
    hold(BELOW_PARSE(0xb00), 20 * TIDE_MIB);
    work(MAIN, 300 * TIDE_MIB, 100);
    hand_site(&hand, (struct tide_site){.stack = BELOW_ROWS(0xa00),
                                        .calls = 2,
                                        .bytes = 30 * TIDE_MIB,
                                        .freed_calls = 2,
                                        .freed_bytes = 30 * TIDE_MIB,
                                        .most_bytes = 30 * TIDE_MIB});
    build();
    assert_int_equal(findings.count, 2);
}

/* Nor does its neighbour's finding give another number of it. */
static void what_leaks_is_not_said_to_stand_beside(void **state)
{
    (void)state;
    begin();
    hold(BELOW_PARSE(0xa00), 30 * TIDE_MIB);
    leak(BELOW_ROWS(0xb00), 20 * TIDE_MIB, 100, WHOLE_LIFE);
    hand.model->sites[1].peak_bytes = 10 * TIDE_MIB;
    build();
    assert_int_equal(findings.count, 2);
    assert_int_equal(count_kind("leak_growing"), 1);
    assert_int_equal(count_kind("peak_owner"), 1);
    for (size_t i = 0; i < 2; i++)
        assert_null(strstr(findings.list[i].text, "Beside it"));
}

/* A function that has a finding of its own is told in it, and not again in its caller's. */
static void bytes_are_told_once(void **state)
{
    (void)state;
    static const uint64_t MAKERS[] = {0xb00, 0xc00, 0xd00, 0xe00};
    begin();
    hold(BELOW_PARSE(0xa00), 40 * TIDE_MIB);
    for (size_t i = 0; i < 4; i++)
        hold(BELOW_ROWS(MAKERS[i]), 5 * TIDE_MIB);
    for (size_t i = 0; i < 4; i++)
        hold(BELOW_PARSE(MAKERS[i]), 4 * TIDE_MIB);
    hold(BELOW_ROWS(0xa00), 10 * TIDE_MIB);
    build();
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.list[0].text, "app+0xa00 holds 50.0 MiB"));
}

static void says_on_whose_behalf_in_shares(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < 8; i++)
        hold(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, i < 4 ? 0x200 : 0x700},
                   {TIDE_HAND_APP, 0xb00 + i}, {TIDE_HAND_APP, 0xa00}),
             2 * TIDE_MIB);
    for (uint64_t i = 0; i < 2; i++)
        hold(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0xc00 + i},
                   {TIDE_HAND_APP, 0xa00}),
             2 * TIDE_MIB);
    build();
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.list[0].text,
                           " Of its 10 call paths, those below parse have 40 %, below "
                           "allocate_rows 40 %."));
}

/* What churns may be told of a function and of its caller: then that is said. */
static void says_which_findings_another_one_includes(void **state)
{
    (void)state;
    begin();
    hold(MAIN, 10 * TIDE_MIB);
    work(BELOW_PARSE(0xa00), 200 * TIDE_MIB, 1000);
    for (uint64_t i = 0; i < 5; i++) {
        work(BELOW_PARSE(0xb00 + i), 40 * TIDE_MIB, 1000);
        work(BELOW_ROWS(0xc00 + i), 60 * TIDE_MIB, 1000);
    }
    build();
    bool leaf = false, caller = false;
    for (size_t i = 0; i < findings.count; i++) {
        const char *const text = findings.list[i].text;
        leaf |= strncmp(text, "app+0xa00 makes", 15) == 0;
        if (strncmp(text, "parse (parse.c:5), with what it calls, makes", 44) != 0) {
            assert_null(strstr(text, "includes"));
            continue;
        }
        caller = true;
        assert_non_null(strstr(text, " It includes most of what app+0xa00 makes."));
    }
    assert_true(leaf && caller);
}

/* 50 callers of a function, each for one slab of BYTES. */
static void slabs(int64_t bytes)
{
    begin();
    for (uint64_t i = 0; i < 50; i++)
        hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x100},
                                                           {TIDE_HAND_APP, 0xb00 + i},
                                                           {TIDE_HAND_APP, 0xa00}),
                                            .calls = 1,
                                            .bytes = (uint64_t)bytes,
                                            .peak_bytes = bytes,
                                            .peak_blocks = 1});
    build();
    assert_int_equal(findings.count, 1);
}

static void calls_slabs_by_their_name(void **state)
{
    (void)state;
    slabs(256 * TIDE_KIB);
    assert_non_null(strstr(findings.list[0].text, " Probably slabs, which an "));
    leave(NULL);
    slabs(257 * TIDE_KIB - 1);
    assert_null(strstr(findings.list[0].text, "slabs"));
}

/* Many functions of a library, none of which has much, called from many places. */
static void sums_up_by_library_where_no_function_explains(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < 12; i++)
        hold(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0xb00 + i},
                   {TIDE_HAND_APP, 0xa00 + 16 * i}),
             2 * TIDE_MIB);
    hand.process.exe = "/bin/app";
    build(); /* that is the program */
    assert_int_equal(findings.count, 0);
    hand.process.exe = "";
    build(); /* nobody knows what is */
    assert_int_equal(findings.count, 0);
    hand.process.exe = "/bin/other";
    build();
    found(
        "peak_owner",
        "app, with all its functions, holds 24.0 MiB in 24 blocks at the peak, 100 % of "
        "it, made from 1.0 s to 2.0 s and never freed. Less of it, or freed earlier, "
        "saves up to 24.0 MiB. None of its functions stands out: this is probably how "
        "the library works.");
    hand.model->sites[0].peak_bytes = 30 * TIDE_MIB; /* one does */
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 52 * TIDE_MIB;
    build();
    assert_int_equal(findings.count, 1);
    assert_null(strstr(findings.list[0].text, "library"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(two_owners_below_one_function_are_one_finding),
        CASE(what_does_most_of_the_work_is_no_root),
        CASE(a_root_has_what_its_owners_hold_at_other_times),
        CASE(what_leaks_is_not_said_to_stand_beside),
        CASE(bytes_are_told_once),
        CASE(says_which_findings_another_one_includes),
        CASE(calls_slabs_by_their_name),
        CASE(sums_up_by_library_where_no_function_explains),
        CASE(says_on_whose_behalf_in_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
