/* unit/test_order.c - the order across lanes, on thousands of random programs.
 *
 * Set TIDE_ORDER_SEED to run one seed, TIDE_ORDER_RUNS to run more of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "order_model.h"

static uint32_t setting(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name); /* NOLINT(concurrency-mt-unsafe): one thread */
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static struct tide_program_options options_for(uint32_t seed)
{
    return (struct tide_program_options){
        .seed = seed,
        .threads = 1 + seed % 8,
        .turns = 200 + seed % 300,
        .addresses = 4 + seed % 40,
        .skew = seed % 3 ? 0 : 2000,
        .nap = seed % 5 ? 0 : 2000000, /* longer than the reader's patience */
    };
}

static bool is_clean(const struct tide_verdict *verdict)
{
    return !verdict->wrong_pairs && !verdict->wrong_lane && !verdict->wrong_slot &&
           !verdict->wrong_gate && !verdict->missing && !verdict->reordered &&
           !verdict->lost;
}

static void fail_for(const struct tide_program_options *options,
                     const struct tide_verdict *verdict)
{
    fail_msg(
        "seed %u, %u threads: %zu wrong pairs, %zu out of lane, %zu out of slot, %zu "
        "before the gate, %zu missing, %llu reordered, %llu lost",
        options->seed, options->threads, verdict->wrong_pairs, verdict->wrong_lane,
        verdict->wrong_slot, verdict->wrong_gate, verdict->missing,
        (unsigned long long)verdict->reordered, (unsigned long long)verdict->lost);
}

static struct tide_verdict run(const struct tide_program_options *options)
{
    struct tide_history history;
    struct tide_verdict verdict;
    tide_history_run(options, &history);
    tide_history_judge(&history, &verdict);
    tide_history_release(&history);
    return verdict;
}

static void every_free_meets_its_own_block(void **state)
{
    (void)state;
    const uint32_t first = setting("TIDE_ORDER_SEED", 1);
    const uint32_t runs = setting("TIDE_ORDER_RUNS", first > 1 ? 1 : 3000);
    for (uint32_t seed = first; seed < first + runs; seed++) {
        const struct tide_program_options options = options_for(seed);
        const struct tide_verdict verdict = run(&options);
        if (!is_clean(&verdict))
            fail_for(&options, &verdict);
    }
}

/* The programs do what they are made for: they use everything that can go wrong. */
static void the_random_programs_are_rich(void **state)
{
    (void)state;
    size_t events = 0, nested = 0, moves = 0, reused = 0, gates = 0;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        const struct tide_program_options options = options_for(seed);
        struct tide_history history;
        tide_history_run(&options, &history);
        events += history.events;
        nested += history.nested;
        moves += history.moves;
        reused += history.reused_lanes;
        gates += history.gate;
        tide_history_release(&history);
    }
    assert_true(events > 10000 && nested > 500 && moves > 500 && reused > 20);
    assert_true(gates > 70 && gates < 100); /* some have one thread only */
}

static void without_numbers_frees_are_mispaired(void **state)
{
    (void)state;
    size_t wrong = 0, programs = 0;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct tide_program_options options = options_for(seed);
        options.strip_numbers = true;
        const struct tide_verdict verdict = run(&options);
        assert_int_equal(verdict.wrong_lane, 0);
        wrong += verdict.wrong_pairs;
        programs += verdict.wrong_pairs > 0;
    }
    assert_true(programs > 100 && wrong > 1000);
}

static void more_threads_than_can_own_slots(void **state)
{
    (void)state;
    const struct tide_program_options options = {.seed = 7,
                                                 .threads = 4300,
                                                 .turns = 60000,
                                                 .addresses = TIDE_MODEL_ADDRESSES,
                                                 .crowd = true};
    const struct tide_verdict verdict = run(&options);
    if (!is_clean(&verdict))
        fail_for(&options, &verdict);
}

/* A record that was never published leaves a hole in its slot's history: everything else
 * still comes, in the order of its lane, and what was taken out of turn is counted. */
static void a_torn_record_is_survived_and_said(void **state)
{
    (void)state;
    size_t holes = 0;
    for (uint32_t seed = 1; seed <= 1000; seed++) {
        struct tide_program_options options = options_for(seed);
        options.kill = true;
        options.threads += 1;
        const struct tide_verdict verdict = run(&options);
        if (verdict.wrong_lane || verdict.missing || verdict.wrong_gate ||
            (!verdict.reordered && verdict.wrong_slot) || verdict.reordered > 25)
            fail_for(&options, &verdict);
        holes += verdict.reordered > 0;
    }
    assert_true(holes > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_random_programs_are_rich),
        cmocka_unit_test(every_free_meets_its_own_block),
        cmocka_unit_test(without_numbers_frees_are_mispaired),
        cmocka_unit_test(more_threads_than_can_own_slots),
        cmocka_unit_test(a_torn_record_is_survived_and_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
