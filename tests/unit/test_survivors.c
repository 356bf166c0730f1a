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
    assert_int_equal(tide_survivors_add(survivors, key, born, size), TIDE_OK);
}

static void says_which_part_of_a_life_blocks_come_from(void **state)
{
    (void)state;
    tide_survivors_note(survivors, 1000, 5000);
    tide_survivors_note(survivors, 1500, 14000);
    tide_survivors_note(survivors, 2000, 15000);
    tide_survivors_begin(survivors, &LIFE);
    add(2, 1000, 10);
    add(2, 1500, 30);
    add(2, 2000, 60);
    tide_survivors_end(survivors);
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
    enum { TIDE_KEYS = 2000 };
    const struct tide_life_span span = {.births = {0, 1040}, .ticks = {5000, 15500}};
    uint64_t random = 1, born[TIDE_KEYS];
    for (uint64_t i = 1; i <= 100; i++)
        tide_survivors_note(survivors, i * 10, 5000 + i * i);
    tide_survivors_begin(survivors, &span);
    for (uint32_t key = 0; key < TIDE_KEYS; key++) {
        born[key] = 1 + any_below(&random, 1029);
        add(key, born[key], 1);
    }
    tide_survivors_end(survivors);
    for (uint32_t key = 0; key < TIDE_KEYS; key++) {
        const struct tide_survival *const one = &survivors->list[key];
        const uint64_t ticks = tide_survivors_when(survivors, born[key]);
        const double place = (double)(ticks - 5000) / 10500;
        assert_int_equal(one->first_ticks, ticks);
        assert_int_equal(one->slices[TIDE_LIFE_TIME],
                         1u << (unsigned)(place * TIDE_LIFE_SLICES));
        assert_int_equal(one->slices[TIDE_LIFE_BIRTHS],
                         1u << (born[key] * TIDE_LIFE_SLICES / 1040));
        assert_true(one->weight[TIDE_LIFE_TIME] > place - 1e-3 &&
                    one->weight[TIDE_LIFE_TIME] < place + 1e-3);
    }
}

static void does_not_mind_a_life_of_no_length(void **state)
{
    (void)state;
    const struct tide_life_span none = {.births = {7, 7}, .ticks = {9, 3}};
    tide_survivors_begin(survivors, &none);
    assert_int_equal(tide_survivors_add(survivors, 0, 7, 1), TIDE_OK);
    assert_int_equal(survivors->list[0].slices[0], 1);
}

/* --- Many blocks --------------------------------------------------------------------- */

enum { TIDE_MANY = 200000, TIDE_MANY_KEYS = 500, TIDE_LEAF = 128 };

static uint64_t randomly(void)
{
    static uint64_t last = 1;
    last = last * 6364136223846793005u + 1442695040888963407u;
    return last >> 33;
}

/* Lines of the diary that are some hundred births apart, and time that stands still, runs
 * and stands again. */
static uint64_t write_diary(void)
{
    uint64_t ticks = 1000;
    for (uint64_t births = 0; births < TIDE_MANY; births += 1 + randomly() % 700) {
        tide_survivors_note(survivors, births, ticks);
        ticks += randomly() % 3 ? randomly() % 5000 : 0;
    }
    return ticks;
}

static uint32_t bit_of_part(uint64_t value, const uint64_t *span, double *place)
{
    *place =
        value > span[0] ? (double)(value - span[0]) / (double)(span[1] - span[0]) : 0;
    *place = *place > 1 ? 1 : *place;
    const unsigned part = (unsigned)(*place * 32);
    return 1u << (part > 31 ? 31 : part);
}

/* What SUM comes to with one more block, by the rules alone. */
static void add_plainly(struct tide_survival *sum, uint64_t born, uint64_t size,
                        const struct tide_life_span *span)
{
    const uint64_t ticks = tide_survivors_when(survivors, born);
    double place[2];
    sum->slices[0] |= bit_of_part(born, span->births, &place[0]);
    sum->slices[1] |= bit_of_part(ticks, span->ticks, &place[1]);
    sum->weight[0] += place[0] * (double)size;
    sum->weight[1] += place[1] * (double)size;
    sum->first_ticks =
        sum->blocks && sum->first_ticks < ticks ? sum->first_ticks : ticks;
    sum->last_ticks = ticks > sum->last_ticks ? ticks : sum->last_ticks;
    sum->blocks++;
    sum->bytes += size;
}

static void assert_same(const struct tide_survival *one,
                        const struct tide_survival *other)
{
    assert_int_equal(one->blocks, other->blocks);
    assert_int_equal(one->bytes, other->bytes);
    assert_int_equal(one->first_ticks, other->first_ticks);
    assert_int_equal(one->last_ticks, other->last_ticks);
    for (int axis = 0; axis < 2; axis++) {
        const double apart = one->weight[axis] - other->weight[axis];
        assert_int_equal(one->slices[axis], other->slices[axis]);
        assert_true(apart < 1e-4 * (double)one->bytes &&
                    apart > -1e-4 * (double)one->bytes);
    }
}

/* Blocks as a leaf has them; some are such as no leaf can describe. */
static void add_leaf(const struct tide_life_span *span, struct tide_survival *sums)
{
    struct tide_block wide[TIDE_LEAF];
    struct tide_packed leaf[TIDE_LEAF];
    const struct tide_live_store store = {.wide = wide};
    const uint64_t count = randomly() % TIDE_LEAF;
    uint64_t born = 1 + randomly() % TIDE_MANY;
    for (uint64_t i = 0; i < count; i++, born += 1 + randomly() % 2) {
        const struct tide_block block = {
            .size = randomly() % 1000,
            .born = born,
            .key = 1 + (uint32_t)(randomly() % TIDE_MANY_KEYS),
            .slack = randomly() % 50 ? 8 : UINT16_MAX + 1,
        };
        const struct tide_block place = {.size = i, .key = TIDE_WIDE_KEY};
        wide[i] = block;
        leaf[i] = tide_packed_at(
            tide_block_pack(tide_block_packs(&block) ? &block : &place), randomly());
        add_plainly(&sums[block.key - 1], born, block.size, span);
    }
    assert_int_equal(tide_survivors_add_packed(survivors, &store, leaf, count),
                     TIDE_OK);
}

/* Blocks of several processes, each in rows of births that begin anywhere. */
static void sums_up_rows_of_births_as_if_one_by_one(void **state)
{
    (void)state;
    const uint64_t end = write_diary();
    const struct tide_life_span spans[] = {
        {.births = {0, TIDE_MANY}, .ticks = {1000, end}},
        {.births = {TIDE_MANY / 3, TIDE_MANY / 2}, .ticks = {end / 4, end / 3}},
        {.births = {0, TIDE_MANY / 64}, .ticks = {0, end * 2}},
    };
    struct tide_survival sums[TIDE_MANY_KEYS] = {0};
    for (size_t i = 0; i < 3 * 600; i++) {
        const struct tide_life_span *const span = &spans[i / 600];
        if (i % 600 == 0) {
            tide_survivors_end(survivors);
            tide_survivors_begin(survivors, span);
        }
        add_leaf(span, sums);
    }
    tide_survivors_end(survivors);
    for (uint32_t key = 0; key < TIDE_MANY_KEYS; key++)
        assert_same(&sums[key], &survivors->list[key]);
}

/* What was found out of one row must not be taken for true of a diary that has changed. */
static void forgets_a_row_when_the_diary_changes(void **state)
{
    (void)state;
    const struct tide_live_store store = {0};
    const struct tide_block block = {.size = 1, .born = 30012, .key = 1};
    const struct tide_packed packed = tide_block_pack(&block);
    const struct tide_life_span span = {.births = {0, TIDE_DIARY_LINES * 10},
                                        .ticks = {0, 64000}};
    struct tide_survival sum = {0};
    for (uint64_t line = 0; line < TIDE_DIARY_LINES; line++)
        tide_survivors_note(survivors, line * 10, line > 3000 ? 32000 : 0);
    tide_survivors_begin(survivors, &span);
    add(0, 30011, 1);
    add_plainly(&sum, 30011, 1, &span);
    tide_survivors_note(survivors, TIDE_DIARY_LINES * 10, 64000); /* half of them go */
    assert_int_equal(tide_survivors_add_packed(survivors, &store, &packed, 1), TIDE_OK);
    add_plainly(&sum, 30012, 1, &span);
    tide_survivors_end(survivors);
    assert_int_equal(survivors->list[0].slices[TIDE_LIFE_TIME], 1u << 16 | 1u << 9);
    assert_int_equal(sum.slices[TIDE_LIFE_TIME], 1u << 16 | 1u << 9);
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
    const struct tide_survival survival = {.blocks = 5, .bytes = 5};
    judged(survival, TIDE_LEAK_SOME);
    assert_int_equal(tide_leak_judge(&model, &survival).rhythm, TIDE_RHYTHM_UNKNOWN);
}

static void tells_a_stretch_from_what_is_scattered(void **state)
{
    (void)state;
    struct tide_survival survival = spread(4000, 4, 7, 1);
    assert_int_equal(tide_leak_judge(&model, &survival).rhythm, TIDE_RHYTHM_STRETCH);
    survival = spread(4, 0, 30, 10);
    assert_int_equal(tide_leak_judge(&model, &survival).rhythm, TIDE_RHYTHM_SCATTERED);
    survival.slices[TIDE_LIFE_BIRTHS] = 0xf0; /* nobody else made any meanwhile */
    assert_int_equal(tide_leak_judge(&model, &survival).rhythm, TIDE_RHYTHM_STRETCH);
}

static void says_how_fast(void **state)
{
    (void)state;
    const struct tide_survival survival = spread(100, 0, 31, 1);
    model.extra_records[TIDE_EXTRA_EVENT] = 50;
    const struct tide_leak leak = tide_leak_judge(&model, &survival);
    model.extra_records[TIDE_EXTRA_EVENT] = 0;
    assert_true(leak.first_s == 1.0 && leak.last_s == 3.0);
    assert_true(leak.bytes_per_second == 500.0);
    assert_int_equal(leak.bytes_per_event, 20);
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
        CASE(sums_up_rows_of_births_as_if_one_by_one),
        CASE(forgets_a_row_when_the_diary_changes),
        CASE(tells_what_grows),
        CASE(is_not_deceived_by_one_large_block),
        CASE(tells_what_was_once),
        CASE(tells_what_each_thread_keeps),
        CASE(says_nothing_without_evidence),
        CASE(tells_a_stretch_from_what_is_scattered),
        CASE(says_how_fast),
        CASE(writes_down_what_is_heavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
