/* unit/test_budget.c - limits, and what people call a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/budget.h"
#include "model/pattern.h"

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "ns::f(int)", "app.c", 20},
    {TIDE_HAND_APP, 0x300, "ns::f(char)", "app.c", 30},
    {0, 0, NULL, NULL, 0},
};

static const struct tide_budget NO_LIMITS = {
    .max_peak = TIDE_NO_LIMIT,
    .max_leak = TIDE_NO_LIMIT,
    .max_total = TIDE_NO_LIMIT,
    .max_calls = TIDE_NO_LIMIT,
    .max_growth = -1,
    .max_new_leaks = TIDE_NO_LIMIT,
};

static void patterns_mean_what_people_call_a_function(void **state)
{
    (void)state;
    assert_true(tide_pattern_means_function("x|S::go", "ns::S<double>::go(int)"));
    assert_true(tide_pattern_means_function("ouble", "ns::S<double>::go(int)"));
    assert_false(tide_pattern_means_function("x|S::stay", "ns::S<double>::go(int)"));
    assert_false(tide_pattern_means("S::go", "/lib/S<double>::go"));
}

static void a_function_is_known_by_its_name(void **state)
{
    (void)state;
    assert_true(tide_function_is("solve", "solve"));
    assert_true(tide_function_is("solve(int, char)", "solve"));
    assert_true(tide_function_is("ns::Solver::solve(int)", "solve"));
    assert_true(tide_function_is("ns::Solver::solve(int)", "Solver::solve"));
    assert_true(tide_function_is("ns::Solver::solve(int)", "ns::Solver::solve(int)"));
    assert_true(tide_function_is("void ns::solve<int, std::less<int>>(int)", "solve"));
    assert_true(tide_function_is("(anonymous namespace)::solve()", "solve"));
    assert_true(tide_function_is("solve [clone .isra.0]", "solve"));
    assert_true(tide_function_is("ns::S<double>::go(int)", "S::go"));
    assert_true(tide_function_is("ns::S<double>::go(int)", "ns::S::go"));
    assert_true(tide_function_is("ns::S<double>::go(int)", "S<double>::go"));
    assert_true(tide_function_is("void S<A<int> >::go<int>()", "S<A<int>>::go"));
    assert_true(tide_function_is("S<std::__cxx11::basic_string<char, "
                                 "std::char_traits<char>, std::allocator<char> > >::go",
                                 "S<std::string>::go"));
    assert_false(tide_function_is("ns::S<double>::go(int)", "S<int>::go"));
    assert_false(tide_function_is("ns::S<double>::go(int)", "S"));
    assert_true(tide_function_is("ns::operator<(ns::A, ns::A)", "operator<"));
    assert_false(tide_function_is("resolve", "solve"));
    assert_false(tide_function_is("solver", "solve"));
    assert_false(tide_function_is("solve::inner()", "solve"));
    assert_false(tide_function_is("std::vector<int>::push_back(int&&)", "vector"));
    assert_false(tide_function_is("solve<int", "solve")); /* cut off */
    assert_false(tide_function_is("solve", ""));
    assert_false(tide_function_is("", "solve"));
}

static void assert_short(const char *name, const char *expected)
{
    struct tide_text text = {0};
    tide_function_short(name, &text);
    assert_string_equal(text.bytes, expected);
    tide_text_release(&text);
}

static void a_name_is_shortened_to_what_people_call_it(void **state)
{
    (void)state;
    assert_short("solve", "solve");
    assert_short("solve [clone .isra.0]", "solve");
    assert_short("void ns::S<A<int> >::go<int>(int, char)", "ns::S::go");
    assert_short("(anonymous namespace)::solve()", "(anonymous namespace)::solve");
    assert_short("ns::operator<(ns::A, ns::A)", "ns::operator<");
    assert_short("S::operator()(int) const", "S::operator()");
    assert_short("solve<int", "solve<int"); /* cut off */
    assert_short("", "");
}

/* A site of 10 calls whose stack is main and, if it is not 0, VALUE. */
static void add_site(struct hand_model *hand, uint64_t value)
{
    const struct hand_frame frames[] = {{TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, value}};
    hand_site(hand, (struct tide_site){.stack = hand_stack(hand, frames, value ? 2 : 1),
                                       .bytes = 100,
                                       .calls = 10});
}

/* Near what was given, with as many classes as it has. */
static void names_of_functions_are_proposed_as_they_were_given(void **state)
{
    (void)state;
    static const struct hand_symbol near[] = {
        {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
        {TIDE_HAND_APP, 0x200, "ns::Solver::step(int)", "app.c", 20},
        {TIDE_HAND_APP, 0x300, "ns::Solver::stop<int>(int)", "app.c", 30},
        {0, 0, NULL, NULL, 0},
    };
    static const char *const cases[][2] = {
        {"stp", "; did you mean step or stop?"},
        {"Solver::stepp", "; did you mean Solver::step or Solver::stop?"},
        {"xylophone", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand_model hand;
        struct tide_verdicts verdicts;
        const struct tide_call_limit limit = {cases[i][0], 100};
        struct tide_budget budget = NO_LIMITS;
        budget.calls_in = &limit;
        budget.calls_in_count = 1;
        hand_model_init(&hand, near);
        add_site(&hand, 0x200);
        add_site(&hand, 0x300);
        assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
        assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts),
                         TIDE_OK);
        assert_int_equal(verdicts.failed, 1);
        assert_string_equal(verdicts.list[1].note +
                                strlen("no function of that name allocates"),
                            cases[i][1]);
        tide_verdicts_release(&verdicts);
        hand_model_release(&hand);
    }
}

/* Of what was not recorded nothing can be over a limit. */
static void a_heap_that_was_not_recorded_keeps_no_limit(void **state)
{
    (void)state;
    struct hand_model hand;
    struct tide_verdicts verdicts;
    struct tide_budget budget = NO_LIMITS;
    budget.max_peak = 1000;
    hand_model_init(&hand, symbols);
    hand.trace.complete = hand.model->honesty.complete = true;
    hand.trace.options = "unwind=cfi depth=256 spaces=mmap";
    assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts), TIDE_OK);
    assert_int_equal(verdicts.failed, 1);
    assert_string_equal(verdicts.list[0].note,
                        "the heap was not recorded, as run --spaces asks");
    tide_verdicts_release(&verdicts);
    budget.allow_incomplete = true;
    assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts), TIDE_OK);
    assert_int_equal(verdicts.failed, 0);
    tide_verdicts_release(&verdicts);
    hand_model_release(&hand);
}

static void calls_in_all_functions_of_a_name_count_once(void **state)
{
    (void)state;
    struct hand_model hand;
    struct tide_verdicts verdicts;
    const struct tide_call_limit limits[] = {{"f", 19}, {"main", 30}};
    struct tide_budget budget = NO_LIMITS;
    budget.calls_in = limits;
    budget.calls_in_count = 2;
    hand_model_init(&hand, symbols);
    add_site(&hand, 0x200);
    add_site(&hand, 0x300);
    add_site(&hand, 0);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts), TIDE_OK);
    assert_int_equal(verdicts.count, 3); /* with "complete" */
    assert_int_equal(verdicts.failed, 1);
    assert_int_equal(verdicts.list[1].measured, 20);
    assert_false(verdicts.list[1].passed);
    assert_int_equal(verdicts.list[2].measured, 30);
    assert_true(verdicts.list[2].passed);
    tide_verdicts_release(&verdicts);
    hand_model_release(&hand);
}

static void growth_of_the_largest_numbers_has_a_limit(void **state)
{
    (void)state;
    struct hand_model now, before;
    struct tide_verdicts verdicts;
    struct tide_budget budget = NO_LIMITS;
    budget.max_growth = 1e9;
    hand_model_init(&now, symbols);
    hand_model_init(&before, symbols);
    before.model->summary[TIDE_IN_HEAP].peak_bytes = UINT64_MAX - 1;
    now.model->summary[TIDE_IN_HEAP].peak_bytes = UINT64_MAX - 1;
    now.model->summary[TIDE_IN_HEAP].alloc_calls = 1;
    assert_int_equal(tide_budget_check(&budget, now.model, before.model, &verdicts),
                     TIDE_OK);
    assert_int_equal(verdicts.count, 6); /* two are complete, four may grow */
    assert_int_equal(verdicts.list[2].limit, UINT64_MAX - 1);
    assert_true(verdicts.list[2].passed);
    assert_false(verdicts.list[5].passed); /* calls, from nothing */
    assert_int_equal(verdicts.failed, 1);
    tide_verdicts_release(&verdicts);
    hand_model_release(&now);
    hand_model_release(&before);
}

static void what_was_lost_fails_unless_it_is_allowed(void **state)
{
    (void)state;
    struct hand_model hand;
    struct tide_verdicts verdicts;
    struct tide_budget budget = NO_LIMITS;
    hand_model_init(&hand, symbols);
    hand.model->honesty.dropped = 3;
    for (int allowed = 0; allowed < 2; allowed++) {
        budget.allow_incomplete = allowed;
        assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts),
                         TIDE_OK);
        assert_int_equal(verdicts.count, 1);
        assert_int_equal(verdicts.list[0].measured, 3);
        assert_int_equal(verdicts.failed, allowed ? 0 : 1);
        assert_non_null(verdicts.list[0].note);
        tide_verdicts_release(&verdicts);
    }
    hand_model_release(&hand);
}

/* Whatever the collector had to say of what is not in the trace. */
static void troubles_are_losses(void **state)
{
    (void)state;
    static const char *troubles[] = {"a process was not recorded", NULL};
    struct hand_model hand;
    struct tide_verdicts verdicts;
    hand_model_init(&hand, symbols);
    hand.trace.troubles = troubles;
    assert_int_equal(tide_budget_check(&NO_LIMITS, hand.model, NULL, &verdicts),
                     TIDE_OK);
    assert_int_equal(verdicts.failed, 1);
    assert_non_null(strstr(verdicts.list[0].note, "not everything was recorded"));
    tide_verdicts_release(&verdicts);
    hand_model_release(&hand);
}

static void what_a_killed_program_held_is_said_to_be_that(void **state)
{
    (void)state;
    struct hand_model hand;
    struct tide_verdicts verdicts;
    struct tide_budget budget = NO_LIMITS;
    budget.max_leak = 0;
    hand_model_init(&hand, symbols);
    hand.model->summary[TIDE_IN_HEAP].live_bytes = 1;
    for (int status = 0; status <= 9; status += 9) {
        hand.process.status = status;
        hand.process.status_known = true;
        assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts),
                         TIDE_OK);
        assert_false(verdicts.list[1].passed);
        assert_int_equal(verdicts.list[1].note != NULL, status != 0);
        tide_verdicts_release(&verdicts);
    }
    hand_model_release(&hand);
}

/* Of two processes none, one and both ended without a word. */
static void what_was_held_by_one_not_seen_to_exit_is_said_to_be_that(void **state)
{
    (void)state;
    static const char *const notes[] = {
        "",
        "in part still held by a process not seen to exit",
        "still held by a process not seen to exit",
    };
    struct tide_context contexts[] = {{.thread = 0}, {.thread = 1}};
    struct tide_key_thread threads[] = {{.process = 0}, {.process = 1}};
    struct tide_key keys[] = {{.bytes = 10}, {.context = 1, .bytes = 20}};
    struct tide_process processes[] = {{.ended = true}, {.ended = true}};
    struct tide_trace trace = {.processes = processes, .process_count = 2};
    struct tide_model model = {.trace = &trace,
                               .keys = keys,
                               .key_count = 2,
                               .contexts = contexts,
                               .key_threads = threads,
                               .honesty.complete = true};
    struct tide_budget budget = NO_LIMITS;
    budget.max_leak = 0;
    model.summary[TIDE_IN_HEAP].live_bytes = 30;
    for (size_t i = 0; i < 3; i++) {
        struct tide_verdicts verdicts;
        processes[0].silent = i > 1;
        processes[1].silent = i > 0;
        assert_int_equal(tide_budget_check(&budget, &model, NULL, &verdicts), TIDE_OK);
        const char *const note = verdicts.list[1].note;
        assert_string_equal(note ? note : "", notes[i]);
        tide_verdicts_release(&verdicts);
    }
}

static void a_limit_within_the_margin_is_unsure(void **state)
{
    (void)state;
    static const struct {
        uint64_t limit;
        bool passed, may_exceed;
    } cases[] = {{99, false, false},
                 {100, false, true},
                 {149, false, true},
                 {150, true, false},
                 {UINT64_MAX - 1, true, false}};
    struct hand_model hand;
    struct tide_verdicts verdicts;
    struct tide_budget budget = NO_LIMITS;
    hand_model_init(&hand, symbols);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 100;
    hand.model->summary[TIDE_IN_HEAP].peak_uncertainty_bytes = 50;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        budget.max_peak = cases[i].limit;
        budget.allow_margin = false;
        assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts),
                         TIDE_OK);
        assert_int_equal(verdicts.list[1].passed, cases[i].passed);
        assert_int_equal(verdicts.list[1].may_exceed, cases[i].may_exceed);
        tide_verdicts_release(&verdicts);
        budget.allow_margin = true;
        assert_int_equal(tide_budget_check(&budget, hand.model, NULL, &verdicts),
                         TIDE_OK);
        assert_int_equal(verdicts.failed, cases[i].limit < 100);
        tide_verdicts_release(&verdicts);
    }
    hand_model_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_known_by_its_name),
        cmocka_unit_test(patterns_mean_what_people_call_a_function),
        cmocka_unit_test(a_name_is_shortened_to_what_people_call_it),
        cmocka_unit_test(names_of_functions_are_proposed_as_they_were_given),
        cmocka_unit_test(a_heap_that_was_not_recorded_keeps_no_limit),
        cmocka_unit_test(calls_in_all_functions_of_a_name_count_once),
        cmocka_unit_test(growth_of_the_largest_numbers_has_a_limit),
        cmocka_unit_test(what_was_lost_fails_unless_it_is_allowed),
        cmocka_unit_test(troubles_are_losses),
        cmocka_unit_test(what_a_killed_program_held_is_said_to_be_that),
        cmocka_unit_test(what_was_held_by_one_not_seen_to_exit_is_said_to_be_that),
        cmocka_unit_test(a_limit_within_the_margin_is_unsure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
