/* unit/test_survivors.c - when what was never freed was born, and what it speaks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/holdings.h"
#include "model/leak.h"
#include "model/survivors.h"
#include "trace/format.h"

static struct tide_survivors *survivors;

static int enter(void **state)
{
    (void)state;
    survivors = calloc(1, sizeof(*survivors));
    return survivors ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    tide_survivors_release(survivors);
    free(survivors);
    return 0;
}

/* --- The diary ----------------------------------------------------------------------- */

static void knows_when_a_birth_was(void **state)
{
    (void)state;
    assert_int_equal(tide_survivors_when(survivors, 5), 0);
    tide_survivors_note(survivors, 0, 1000);
    tide_survivors_note(survivors, 100, 2000);
    tide_survivors_note(survivors, 200, 2000);
    tide_survivors_note(survivors, 300, 5000);
    assert_int_equal(tide_survivors_when(survivors, 0), 1000);
    assert_int_equal(tide_survivors_when(survivors, 50), 1500);
    assert_int_equal(tide_survivors_when(survivors, 100), 2000);
    assert_int_equal(tide_survivors_when(survivors, 150), 2000);
    assert_int_equal(tide_survivors_when(survivors, 250), 3500);
    assert_int_equal(tide_survivors_when(survivors, 999), 5000);
}

static void takes_time_for_standing_still_when_it_steps_back(void **state)
{
    (void)state;
    tide_survivors_note(survivors, 10, 2000);
    tide_survivors_note(survivors, 20, 1500);
    assert_int_equal(tide_survivors_when(survivors, 20), 2000);
}

/* However many births there are, they are found within one in some thousand. */
static void keeps_a_diary_of_bounded_length(void **state)
{
    (void)state;
    enum { TIDE_BIRTHS_MADE = 3000000 };
    for (uint64_t i = 0; i <= TIDE_BIRTHS_MADE; i += 7)
        tide_survivors_note(survivors, i, i * 3);
    assert_true(survivors->lines <= TIDE_DIARY_LINES);
    assert_true(survivors->lines > TIDE_DIARY_LINES / 4);
    for (uint64_t i = 0; i < TIDE_BIRTHS_MADE - 2000; i += 12345) {
        const int64_t error =
            (int64_t)tide_survivors_when(survivors, i) - (int64_t)(i * 3);
        assert_true(error >= -3 && error <= 3); /* it is even between two lines */
    }
}

/* --- Blocks -------------------------------------------------------------------------- */

/* A life of a thousand births in ten thousand ticks, the first of which is 5000. */
static const struct tide_life_span LIFE = {.births = {1000, 2000},
                                           .ticks = {5000, 15000}};

static void add(uint32_t key, uint64_t born, uint64_t size)
{
    const struct tide_block block = {.born = born, .size = size, .key = key + 1};
    assert_int_equal(tide_survivors_add(survivors, &block, key, &LIFE), TIDE_OK);
}

static void says_which_part_of_a_life_blocks_come_from(void **state)
{
    (void)state;
    tide_survivors_note(survivors, 1000, 5000);
    tide_survivors_note(survivors, 1500, 14000);
    tide_survivors_note(survivors, 2000, 15000);
    add(2, 1000, 10);
    add(2, 1500, 30);
    add(2, 2000, 60);
    const struct tide_survival *const survival = &survivors->list[2];
    assert_int_equal(survivors->list[0].blocks, 0);
    assert_int_equal(survival->blocks, 3);
    assert_int_equal(survival->bytes, 100);
    assert_int_equal(survival->first_ticks, 5000);
    assert_int_equal(survival->last_ticks, 15000);
    assert_int_equal(survival->slices[TIDE_LIFE_BIRTHS], 1u | 1u << 16 | 1u << 31);
    assert_int_equal(survival->slices[TIDE_LIFE_TIME], 1u | 1u << 28 | 1u << 31);
    assert_true(survival->weight[TIDE_LIFE_BIRTHS] > 74.9 &&
                survival->weight[TIDE_LIFE_BIRTHS] < 75.1);
}

/* Blocks are looked up beside the last one; wherever that was, it is the same moment. */
static void finds_births_in_any_order(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (uint64_t i = 1; i <= 100; i++)
        tide_survivors_note(survivors, i * 10, 5000 + i * i);
    for (uint32_t key = 0; key < 2000; key++) {
        const uint64_t born = any_below(&random, 1030);
        add(key, born, 1);
        assert_int_equal(survivors->list[key].first_ticks,
                         tide_survivors_when(survivors, born));
    }
}

static void does_not_mind_a_life_of_no_length(void **state)
{
    (void)state;
    const struct tide_block block = {.born = 7, .size = 1, .key = 1};
    const struct tide_life_span none = {.births = {7, 7}, .ticks = {9, 3}};
    assert_int_equal(tide_survivors_add(survivors, &block, 0, &none), TIDE_OK);
    assert_int_equal(survivors->list[0].slices[0], 1);
}

/* --- What they speak for ------------------------------------------------------------- */

static struct tide_trace trace = {.ticks_per_second = 1000};
static struct tide_model model = {.trace = &trace, .duration_s = 10};

/* BLOCKS of 10 bytes from part FIRST to part LAST of both axes, every STEPth. */
static struct tide_survival spread(uint64_t blocks, unsigned first, unsigned last,
                                   unsigned step)
{
    struct tide_survival survival = {
        .blocks = blocks,
        .bytes = blocks * 10,
        .first_ticks = 1000,
        .last_ticks = 3000,
        .threads = 1,
        .processes = 1,
    };
    for (unsigned i = first; i <= last; i += step)
        survival.slices[0] |= 1u << i;
    survival.slices[1] = survival.slices[0];
    survival.weight[0] = (double)survival.bytes * (first + last + 1) / 64;
    survival.weight[1] = survival.weight[0];
    return survival;
}

static void judged(struct tide_survival survival, enum tide_leak_kind kind)
{
    assert_string_equal(tide_leak_word(tide_leak_judge(&model, &survival).kind),
                        tide_leak_word(kind));
}

static void tells_what_grows(void **state)
{
    (void)state;
    judged(spread(100, 0, 31, 1), TIDE_LEAK_GROWING);
    judged(spread(100, 22, 29, 1), TIDE_LEAK_GROWING); /* only in its last quarter */
    judged(spread(100, 0, 31, 8), TIDE_LEAK_SOME);     /* too seldom */
    judged(spread(100, 0, 27, 1), TIDE_LEAK_SOME);     /* it has stopped */
    judged(spread(100, 26, 31, 1), TIDE_LEAK_SOME);    /* not for long enough */
    judged(spread(7, 0, 31, 1), TIDE_LEAK_SOME);       /* too few to say */
    judged(spread(8, 0, 28, 4), TIDE_LEAK_GROWING);    /* few, but for seconds */
    model.duration_s = 0.9;
    judged(spread(31, 0, 28, 4), TIDE_LEAK_SOME); /* in a short run they are too few */
    judged(spread(32, 0, 28, 4), TIDE_LEAK_GROWING);
    model.duration_s = 10;
}

static void is_not_deceived_by_one_large_block(void **state)
{
    (void)state;
    struct tide_survival survival = spread(100, 0, 31, 1);
    survival.weight[0] = (double)survival.bytes * 0.1;
    survival.weight[1] = survival.weight[0];
    judged(survival, TIDE_LEAK_SOME);
}

static void tells_what_was_once(void **state)
{
    (void)state;
    judged(spread(1, 5, 5, 1), TIDE_LEAK_ONCE);
    judged(spread(500, 5, 6, 1), TIDE_LEAK_ONCE);
    judged(spread(500, 5, 7, 1), TIDE_LEAK_SOME);
    struct tide_survival survival = spread(3, 5, 20, 5); /* once in each process */
    survival.processes = 3;
    survival.threads = 3;
    judged(survival, TIDE_LEAK_ONCE);
}

static void tells_what_each_thread_keeps(void **state)
{
    (void)state;
    struct tide_survival survival = spread(12, 0, 31, 1);
    survival.threads = 3;
    judged(survival, TIDE_LEAK_PER_THREAD);
    survival.blocks = 13;
    judged(survival, TIDE_LEAK_GROWING);
    survival.blocks = 8;
    survival.threads = 2;
    judged(survival, TIDE_LEAK_GROWING);
}

static void says_nothing_without_evidence(void **state)
{
    (void)state;
    judged((struct tide_survival){.blocks = 5, .bytes = 5}, TIDE_LEAK_SOME);
}

static void says_how_fast(void **state)
{
    (void)state;
    const struct tide_survival survival = spread(100, 0, 31, 1);
    model.extra_records[TIDE_EXTRA_EVENT] = 10;
    const struct tide_leak leak = tide_leak_judge(&model, &survival);
    model.extra_records[TIDE_EXTRA_EVENT] = 0;
    assert_true(leak.first_s == 1.0 && leak.last_s == 3.0);
    assert_true(leak.bytes_per_second == 500.0);
    assert_int_equal(leak.bytes_per_event, 100);
}

/* --- History ------------------------------------------------------------------------- */

static void writes_down_what_is_heavy(void **state)
{
    (void)state;
    struct tide_key list[] = {
        {.stack = 1,
         .bytes = 200000,
         .freed_bytes = 100000,
         .calls = 4,
         .freed_calls = 2},
        {.stack = 2, .bytes = 1000, .calls = 1},
        {.stack = 3, .bytes = 9000000, .calls = 1, .space = TIDE_IN_MMAP},
    };
    const struct tide_keys keys = {.list = list, .count = 3};
    const struct tide_watermark water = {.bytes = 101000};
    struct tide_holdings holdings = {0};
    assert_int_equal(tide_holdings_pass(&holdings, &keys, &water, 7), TIDE_OK);
    assert_int_equal(holdings.count, 0); /* no moment yet */
    assert_int_equal(tide_holdings_pass(&holdings, &keys, &water, 8), TIDE_OK);
    assert_int_equal(tide_holdings_pass(&holdings, &keys, &water, 9), TIDE_OK);
    assert_int_equal(holdings.count, 1);
    list[0].calls = 5;
    list[0].bytes = 300000;
    assert_int_equal(tide_holdings_pass(&holdings, &keys, &water, 33), TIDE_OK);
    assert_int_equal(holdings.count, 4); /* moments 2 to 4 have passed at once */
    assert_int_equal(holdings.list[0].moment, 1);
    assert_int_equal(holdings.list[0].bytes, 100000);
    assert_int_equal(holdings.list[0].freed_calls, 2);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(holdings.list[i].moment, i + 1);
        assert_int_equal(holdings.list[i].bytes, 200000);
        assert_int_equal(holdings.list[i].calls, 5);
    }
    tide_holdings_release(&holdings);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        CASE(knows_when_a_birth_was),
        CASE(takes_time_for_standing_still_when_it_steps_back),
        CASE(keeps_a_diary_of_bounded_length),
        CASE(says_which_part_of_a_life_blocks_come_from),
        CASE(finds_births_in_any_order),
        CASE(does_not_mind_a_life_of_no_length),
        CASE(tells_what_grows),
        CASE(is_not_deceived_by_one_large_block),
        CASE(tells_what_was_once),
        CASE(tells_what_each_thread_keeps),
        CASE(says_nothing_without_evidence),
        CASE(says_how_fast),
        CASE(writes_down_what_is_heavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
